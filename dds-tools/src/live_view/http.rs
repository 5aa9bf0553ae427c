//! Request heads and responses of HTTP/1.1, as far as the page needs them.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Longest head of a request.
const HEAD_LEN_MAX: usize = 16 << 10;
/// Most header fields of a request.
const FIELDS_MAX: usize = 64;

/// The head of a request. Each connection has one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestHead {
    pub(crate) method: String,
    /// The path, without the query.
    pub(crate) path: String,
    query: String,
    pub(crate) host: Option<String>,
    pub(crate) origin: Option<String>,
    authorization: Option<String>,
    /// The key of a request for a WebSocket.
    pub(crate) websocket_key: Option<String>,
    /// The subprotocols that the client offers.
    pub(crate) subprotocols: Vec<String>,
}

impl RequestHead {
    /// Parses a head. Returns it with its length, or `None` if the input lacks its end.
    ///
    /// # Errors
    /// The input is no head of HTTP/1.1.
    pub(crate) fn parse(input: &[u8]) -> Result<Option<(Self, usize)>, httparse::Error> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut request = httparse::Request::new(&mut fields);
        let httparse::Status::Complete(len) = request.parse(input)? else { return Ok(None) };
        let target = request.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut head = Self {
            method: request.method.unwrap_or_default().to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            ..Self::default()
        };
        for field in request.headers.iter() {
            let value = String::from_utf8_lossy(field.value).trim().to_owned();
            match field.name.to_ascii_lowercase().as_str() {
                "host" => head.host = Some(value),
                "origin" => head.origin = Some(value),
                "authorization" => head.authorization = Some(value),
                "sec-websocket-key" => head.websocket_key = Some(value),
                "sec-websocket-protocol" => {
                    head.subprotocols.extend(value.split(',').map(|name| name.trim().to_owned()));
                }
                _ => {}
            }
        }
        Ok(Some((head, len)))
    }

    /// Reads the head of a request within `limit`. Returns it with the bytes that follow it.
    ///
    /// # Errors
    /// The connection fails or ends, or the input is no head of HTTP/1.1.
    pub(crate) fn read(stream: &mut impl Read, limit: Duration) -> std::io::Result<(Self, Vec<u8>)> {
        let start = Instant::now();
        let invalid = |reason: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, reason);
        let mut input = Vec::new();
        let mut part = [0; 2048];
        loop {
            let len = stream.read(&mut part)?;
            if len == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            input.extend_from_slice(&part[..len]);
            match Self::parse(&input) {
                Ok(Some((head, len))) => return Ok((head, input.split_off(len))),
                Ok(None) if input.len() < HEAD_LEN_MAX && start.elapsed() < limit => {}
                Ok(None) => return Err(invalid("the head of the request is too long or too slow")),
                Err(error) => return Err(invalid(&error.to_string())),
            }
        }
    }

    /// Returns a decoded value of the query.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let pair = self.query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))?;
        Some(percent_decoded(pair.1))
    }

    /// Returns the token of the query or of the field `Authorization`.
    pub(crate) fn token(&self) -> Option<String> {
        let bearer = self.authorization.as_ref().and_then(|value| value.strip_prefix("Bearer "));
        bearer.map(str::to_owned).or_else(|| self.parameter("token"))
    }
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, digits) {
            (b'%', Some(value)) => {
                decoded.push(value);
                at += 2;
            }
            (b'+', _) => decoded.push(b' '),
            (byte, _) => decoded.push(*byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// A response, after which the server closes the connection.
#[derive(Debug)]
pub(crate) struct Response<'r> {
    pub(crate) status: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) body: &'r [u8],
}

impl Response<'_> {
    pub(crate) fn write(&self, stream: &mut impl Write) -> std::io::Result<()> {
        let Self { status, content_type, body } = self;
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             frame-ancestors 'none'\r\n\r\n",
            body.len()
        )?;
        stream.write_all(body)?;
        stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::RequestHead;
    use std::io::Read;
    use std::time::Duration;

    fn read(mut input: impl Read) -> std::io::Result<(RequestHead, Vec<u8>)> {
        RequestHead::read(&mut input, Duration::from_secs(60))
    }

    #[test]
    fn head_has_query_and_subprotocols() {
        let text = "GET /api/sample?topic=rt%2Fpose+x%2&token=a HTTP/1.1\r\nHost: localhost\r\n\
                    Sec-WebSocket-Protocol: foxglove.websocket.v1, foxglove.sdk.v1\r\n\r\nrest";
        let (head, rest) = read(text.as_bytes()).unwrap();
        assert_eq!((head.path.as_str(), rest.as_slice()), ("/api/sample", &b"rest"[..]));
        assert_eq!(head.parameter("topic").as_deref(), Some("rt/pose x%2"));
        assert_eq!(head.token().as_deref(), Some("a"));
        assert_eq!(head.subprotocols, ["foxglove.websocket.v1", "foxglove.sdk.v1"]);
    }

    #[test]
    fn endless_and_wrong_heads_are_errors() {
        assert!(read(std::io::repeat(b'a')).is_err());
        let long = format!("GET / HTTP/1.1\r\nCookie: {}", "a".repeat(1 << 20));
        assert!(read(long.as_bytes()).is_err());
        assert!(read(&b"\x16\x03\x01"[..]).is_err());
        assert!(read(&b"GET / HTTP/1.1\r\n"[..]).is_err());
    }
}
