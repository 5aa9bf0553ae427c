//! Sends the metrics to an OpenTelemetry collector.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Port of OTLP over HTTP.
const PORT: u16 = 4318;
const PATH: &str = "/v1/metrics";
/// Time for a connection, for a write, and for the answer.
const LIMIT: Duration = Duration::from_secs(5);
/// Longest head of an answer.
const HEAD_LEN_MAX: usize = 16 << 10;

/// The address of a collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectorUrl {
    /// Name or address, with the port.
    authority: String,
    path: String,
}

impl CollectorUrl {
    /// Reads `http://HOST[:PORT][/PATH]`.
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = "expected http://HOST[:PORT][/PATH], such as http://localhost:4318";
        let Some(rest) = text.strip_prefix("http://") else { return Err(expected.to_owned()) };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if host.is_empty() || host.contains('@') || !is_plain(rest) {
            return Err(expected.to_owned());
        }
        // The colons of an IPv6 address are in brackets.
        let has_port = host.rsplit(']').next().is_some_and(|end| end.contains(':'));
        let authority = if has_port { host.to_owned() } else { format!("{host}:{PORT}") };
        let path = if matches!(path, "" | "/") { PATH } else { path };
        Ok(Self { authority, path: path.to_owned() })
    }

    /// Sends a body. Fails unless the collector accepts it.
    fn post(&self, body: &str) -> Result<(), String> {
        let text = |error: std::io::Error| error.to_string();
        let addresses = self.authority.to_socket_addrs().map_err(text)?;
        let mut connection = Err("the name has no address".to_owned());
        for address in addresses {
            connection = TcpStream::connect_timeout(&address, LIMIT).map_err(text);
            if connection.is_ok() {
                break;
            }
        }
        let mut stream = connection?;
        stream.set_read_timeout(Some(LIMIT)).and_then(|()| stream.set_write_timeout(Some(LIMIT))).map_err(text)?;
        let Self { authority, path } = self;
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        )
        .map_err(text)?;
        let mut answer = Vec::new();
        let mut part = [0; 1024];
        while answer.len() < HEAD_LEN_MAX {
            let len = stream.read(&mut part).map_err(text)?;
            answer.extend_from_slice(&part[..len]);
            let mut fields = [httparse::EMPTY_HEADER; 64];
            let mut response = httparse::Response::new(&mut fields);
            let parsed = response.parse(&answer).map_err(|error| error.to_string())?;
            match response.code {
                Some(200..=299) => return Ok(()),
                Some(code) if parsed.is_complete() => return Err(format!("it answered with status {code}")),
                _ if len == 0 => break,
                _ => {}
            }
        }
        Err("it answered with no status of HTTP".to_owned())
    }
}

impl std::fmt::Display for CollectorUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}

/// A thread that sends to a collector. It ends with this value.
pub(crate) struct Exporter {
    bodies: SyncSender<String>,
    problem: Arc<Mutex<Option<String>>>,
}

impl Exporter {
    pub(crate) fn start(url: CollectorUrl) -> Self {
        let (bodies, queue) = sync_channel(1);
        let problem = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&problem);
        std::thread::spawn(move || send_all(&url, &queue, &shared));
        Self { bodies, problem }
    }

    /// Sends a body, unless the thread is still busy with earlier ones. The counts of the next body include it.
    pub(crate) fn send(&self, body: String) {
        let _ = self.bodies.try_send(body);
    }

    /// Returns why the last body did not arrive.
    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn send_all(url: &CollectorUrl, queue: &Receiver<String>, problem: &Mutex<Option<String>>) {
    for body in queue {
        let found = url.post(&body).err().map(|reason| problem_text(url, &reason));
        *problem.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }
}

fn problem_text(url: &CollectorUrl, reason: &str) -> String {
    format!(
        "the collector {url} has no metrics: {reason}; start its OTLP/HTTP receiver there, or pass another address \
         with --otlp"
    )
}

#[cfg(test)]
mod tests {
    use super::{CollectorUrl, problem_text};

    #[test]
    fn url_has_default_port_and_path() {
        let text = |url: &str| CollectorUrl::parse(url).map(|url| url.to_string());
        assert_eq!(text("http://localhost"), Ok("http://localhost:4318/v1/metrics".to_owned()));
        assert_eq!(text("http://[::1]/"), Ok("http://[::1]:4318/v1/metrics".to_owned()));
        assert_eq!(text("http://10.0.0.1:80/otlp"), Ok("http://10.0.0.1:80/otlp".to_owned()));
        for url in ["localhost:4318", "https://localhost", "http://", "http://a b", "http://user@host"] {
            assert!(text(url).unwrap_err().contains("http://HOST"), "{url}");
        }
    }

    #[test]
    fn problem_names_the_next_step() {
        let url = CollectorUrl::parse("http://localhost").unwrap();
        let text = problem_text(&url, "Connection refused");
        assert!(text.contains("Connection refused; start its OTLP/HTTP receiver there"), "{text}");
    }
}
