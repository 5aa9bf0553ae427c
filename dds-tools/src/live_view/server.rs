//! Connections of browsers and Foxglove, and their requests to the thread of the command.

use super::access::AccessRules;
use super::foxglove::{self, ClientMessage, SUBPROTOCOLS};
use super::http::{RequestHead, Response};
use super::outbox::Outbox;
use super::requests::RequestQueue;
use crate::error::ToolError;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

/// Most connections at the same time.
const CONNECTIONS_MAX: usize = 64;
/// Longest message of a client.
const MESSAGE_LEN_MAX: usize = 16 << 20;
/// Time for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// Time for one write. A client that reads nothing for so long is disconnected.
const WRITE_TIME: Duration = Duration::from_secs(10);
/// Time for the answer of the command.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// A request to the thread of the command.
pub(crate) enum ClientRequest {
    /// A WebSocket was opened.
    Connected { client: u64, peer: SocketAddr, outbox: Arc<Outbox> },
    /// A WebSocket sent a message.
    Message { client: u64, message: ClientMessage },
    /// A WebSocket was closed.
    Disconnected { client: u64 },
    /// The page or a collector of metrics wants data.
    PageQuery { query: PageQuery, answer: SyncSender<String> },
}

/// The data of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PageQuery {
    /// Everything that the page shows.
    State,
    /// The last sample of a topic.
    Sample(String),
    /// The figures as Prometheus text.
    Metrics,
}

/// A server that accepts connections until it is dropped.
pub(crate) struct LiveServer {
    address: SocketAddr,
    query: String,
    requests: RequestQueue,
    is_closed: Arc<AtomicBool>,
}

/// The facts that all connections share.
struct Connections {
    rules: AccessRules,
    accepts_samples: bool,
    session: String,
    requests: RequestQueue,
    next_client: AtomicU64,
}

impl LiveServer {
    /// Opens the port.
    ///
    /// # Errors
    /// Fails if the address belongs to another host or is in use.
    pub(crate) fn bind(
        address: SocketAddr,
        rules: AccessRules,
        accepts_samples: bool,
        session: String,
    ) -> Result<Self, ToolError> {
        let error = |source| ToolError::Io { name: address.to_string(), source };
        let listener = TcpListener::bind(address).map_err(error)?;
        let address = listener.local_addr().map_err(error)?;
        let requests = RequestQueue::default();
        let is_closed = Arc::new(AtomicBool::new(false));
        let query = rules.query();
        let next_client = AtomicU64::new(1);
        let server = Self { address, query, requests: requests.clone(), is_closed: Arc::clone(&is_closed) };
        let connections = Arc::new(Connections { rules, accepts_samples, session, requests, next_client });
        std::thread::spawn(move || accept(&listener, &connections, &is_closed));
        Ok(server)
    }

    /// Returns the address that browsers open.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/{}", self.address, self.query)
    }

    /// Returns the address that Foxglove opens.
    pub(crate) fn websocket_url(&self) -> String {
        format!("ws://{}/{}", self.address, self.query)
    }

    /// Returns the next request, if one waits.
    pub(crate) fn next_request(&self) -> Option<ClientRequest> {
        self.requests.pop()
    }
}

impl Drop for LiveServer {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.requests.close();
        // The thread waits in `accept`. One connection wakes it.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        let _ = TcpStream::connect_timeout(&address, Duration::from_secs(1));
    }
}

fn accept(listener: &TcpListener, connections: &Arc<Connections>, is_closed: &AtomicBool) {
    // Each thread of a connection holds one copy.
    let open = Arc::new(());
    for stream in listener.incoming() {
        if is_closed.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            // The process may have too many open files. Connections that end solve it.
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        if Arc::strong_count(&open) > CONNECTIONS_MAX {
            continue;
        }
        let (connections, open) = (Arc::clone(connections), Arc::clone(&open));
        std::thread::spawn(move || {
            // The failure of a connection ends the connection, and nothing else.
            let _ = connections.serve(stream);
            drop(open);
        });
    }
}

impl Connections {
    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(HEAD_TIME))?;
        stream.set_write_timeout(Some(WRITE_TIME))?;
        let (head, rest) = match RequestHead::read(&mut stream, HEAD_TIME) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                return respond(&mut stream, "400 Bad Request", &error.to_string());
            }
            Err(error) => return Err(error),
        };
        if head.method != "GET" {
            return respond(&mut stream, "405 Method Not Allowed", "the server answers GET only");
        }
        let asset = |content_type, body| Response { status: "200 OK", content_type, body };
        let asset = match head.path.as_str() {
            _ if head.websocket_key.is_some() => None,
            "/" => Some(asset("text/html; charset=utf-8", include_bytes!("page.html").as_slice())),
            "/page.js" => Some(asset("text/javascript; charset=utf-8", include_bytes!("page.js"))),
            "/page.css" => Some(asset("text/css; charset=utf-8", include_bytes!("page.css"))),
            _ => None,
        };
        // The page has no data of the domain.
        if let Some(asset) = asset {
            return asset.write(&mut stream);
        }
        if let Err(refusal) = self.rules.check(&head) {
            return respond(&mut stream, "403 Forbidden", refusal.reason());
        }
        if let Some(key) = &head.websocket_key {
            return self.serve_websocket(stream, &head, key, rest);
        }
        let (query, content_type) = match head.path.as_str() {
            "/api/state" => (PageQuery::State, "application/json"),
            "/api/sample" => (PageQuery::Sample(head.parameter("topic").unwrap_or_default()), "application/json"),
            "/metrics" => (PageQuery::Metrics, "text/plain; version=0.0.4; charset=utf-8"),
            _ => return respond(&mut stream, "404 Not Found", "there is no such page"),
        };
        let (answer, answers) = sync_channel(1);
        let body = match self.requests.push(head.path.len(), ClientRequest::PageQuery { query, answer }) {
            Ok(()) => answers.recv_timeout(ANSWER_TIME).ok(),
            Err(_) => None,
        };
        match body {
            Some(body) => Response { status: "200 OK", content_type, body: body.as_bytes() }.write(&mut stream),
            None => respond(&mut stream, "503 Service Unavailable", "`dds serve` does not answer; try again"),
        }
    }

    fn serve_websocket(
        &self,
        mut stream: TcpStream,
        head: &RequestHead,
        key: &str,
        rest: Vec<u8>,
    ) -> std::io::Result<()> {
        let Some(protocol) = SUBPROTOCOLS.into_iter().find(|name| head.subprotocols.iter().any(|given| given == name))
        else {
            let reason = format!("expected the subprotocol {}", SUBPROTOCOLS.join(" or "));
            return respond(&mut stream, "400 Bad Request", &reason);
        };
        write!(
            stream,
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Accept: {}\r\nSec-WebSocket-Protocol: {protocol}\r\n\r\n",
            derive_accept_key(key.as_bytes())
        )?;
        stream.set_read_timeout(None)?;
        let client = self.next_client.fetch_add(1, Ordering::Relaxed);
        let outbox = Arc::new(Outbox::default());
        outbox.push(foxglove::server_info(&self.session, self.accepts_samples));
        let connected = ClientRequest::Connected { client, peer: stream.peer_addr()?, outbox: Arc::clone(&outbox) };
        let config =
            WebSocketConfig::default().max_message_size(Some(MESSAGE_LEN_MAX)).max_frame_size(Some(MESSAGE_LEN_MAX));
        let input = ReadOnly(stream.try_clone()?);
        let writer = {
            let outbox = Arc::clone(&outbox);
            std::thread::spawn(move || write_messages(stream, &outbox, config))
        };
        if self.requests.push(0, connected).is_ok() {
            let mut socket = WebSocket::from_partially_read(input, rest, Role::Server, Some(config));
            self.read_messages(client, &mut socket, &outbox);
            // The command may have ended.
            let _ = self.requests.push(0, ClientRequest::Disconnected { client });
        }
        outbox.close();
        // The thread returns when the outbox is closed, or at the latest after the time for a write.
        let _ = writer.join();
        Ok(())
    }

    fn read_messages(&self, client: u64, socket: &mut WebSocket<ReadOnly>, outbox: &Outbox) {
        loop {
            let (len, parsed) = match socket.read() {
                Ok(Message::Text(text)) => (text.len(), ClientMessage::parse_text(&text)),
                Ok(Message::Binary(bytes)) => (bytes.len(), ClientMessage::parse_binary(&bytes)),
                Ok(Message::Ping(payload)) => {
                    outbox.push(Message::Pong(payload));
                    continue;
                }
                Ok(Message::Pong(_) | Message::Frame(_)) => continue,
                Ok(Message::Close(_)) | Err(_) => return,
            };
            match parsed {
                Ok(message) => {
                    if self.requests.push(len, ClientRequest::Message { client, message }).is_err() {
                        return;
                    }
                }
                Err(reason) => outbox.push(foxglove::warning(&format!("invalid message: {reason}"))),
            }
        }
    }
}

/// Sends the messages of a client until its outbox is closed or the connection fails.
fn write_messages(stream: TcpStream, outbox: &Outbox, config: WebSocketConfig) {
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, Some(config));
    while let Some(message) = outbox.pop() {
        if socket.send(message).is_err() {
            break;
        }
    }
    outbox.close();
    // The peer may have closed the connection already. The shutdown ends the thread that reads.
    let _ = socket.close(None);
    let _ = socket.flush();
    let _ = socket.get_ref().shutdown(Shutdown::Both);
}

/// The half of a WebSocket that only reads. Its thread must not write into the messages of the other half.
struct ReadOnly(TcpStream);

impl Read for ReadOnly {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for ReadOnly {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn respond(stream: &mut TcpStream, status: &'static str, reason: &str) -> std::io::Result<()> {
    Response { status, content_type: "text/plain; charset=utf-8", body: reason.as_bytes() }.write(stream)
}
