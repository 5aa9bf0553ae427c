//! Which requests the server answers: a web page of another site must not read or publish topics.

use super::http::RequestHead;
use crate::error::ToolError;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Bytes of a token that the program makes.
const TOKEN_LEN: usize = 16;

/// The rules of a server. They have no `Debug`, because a log must not show the token.
#[derive(Clone)]
pub(crate) struct AccessRules {
    /// Every request for data needs it. Without a token, only this host reaches the server.
    token: Option<String>,
    /// Origins beside the own page.
    origins: Vec<String>,
}

/// Why a request is refused, for its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessRefusal {
    Token,
    Origin,
    Host,
}

impl AccessRefusal {
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::Token => "the token is missing or wrong; `dds serve` prints the address with the token",
            Self::Origin => "this origin is not allowed; see `dds serve --allow-origin`",
            Self::Host => "this host name is not allowed; use localhost, or `dds serve --token`",
        }
    }
}

impl AccessRules {
    /// Creates the rules of a server at `address`. Other addresses than those of this host need a token.
    ///
    /// # Errors
    /// Fails if the system has no randomness for a token, or if every page would have access without a token.
    pub(crate) fn new(address: SocketAddr, token: Option<&str>, origins: &[String]) -> Result<Self, ToolError> {
        if token.is_none() && address.ip().is_loopback() && origins.iter().any(|origin| origin == "*") {
            return Err(ToolError::Value {
                path: "--allow-origin *".to_owned(),
                reason: "every page in a browser of this host could read and publish topics; add --token".to_owned(),
            });
        }
        let token = match token {
            Some(token) => Some(token.to_owned()),
            None if address.ip().is_loopback() => None,
            None => Some(random_token()?),
        };
        Ok(Self { token, origins: origins.to_vec() })
    }

    /// Returns the part of the page's address that has the token.
    pub(crate) fn query(&self) -> String {
        self.token.as_ref().map(|token| format!("?token={token}")).unwrap_or_default()
    }

    /// Checks a request for data.
    pub(crate) fn check(&self, head: &RequestHead) -> Result<(), AccessRefusal> {
        let host = head.host.as_deref().unwrap_or_default();
        if let Some(origin) = &head.origin {
            let is_own = origin.split_once("://").is_some_and(|(_, of_page)| of_page.eq_ignore_ascii_case(host));
            if !is_own && !self.origins.iter().any(|allowed| allowed == origin || allowed == "*") {
                return Err(AccessRefusal::Origin);
            }
        }
        let Some(token) = &self.token else {
            // A page of another site always sends the site's name as Host, also if the name resolves to this host.
            return if is_local_name(host) { Ok(()) } else { Err(AccessRefusal::Host) };
        };
        match head.token() {
            Some(given) if is_equal(given.as_bytes(), token.as_bytes()) => Ok(()),
            _ => Err(AccessRefusal::Token),
        }
    }
}

/// Returns whether a host, with or without a port, is this host.
fn is_local_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let in_brackets = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let address = match in_brackets {
        Some(address) => address.parse::<Ipv6Addr>().map(IpAddr::from),
        None => name.parse(),
    };
    // No site can make its name resolve to such an address and keep the address as its name.
    address.map_or_else(|_| name.eq_ignore_ascii_case("localhost"), |address| address.to_canonical().is_loopback())
}

/// Compares in a time that does not depend on the place of the first difference.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let difference = one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && difference == 0
}

fn random_token() -> Result<String, ToolError> {
    let mut bytes = [0; TOKEN_LEN];
    getrandom::fill(&mut bytes).map_err(|error| ToolError::Value {
        path: "--token".to_owned(),
        reason: format!("the system has no randomness for a token: {error}"),
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::{AccessRefusal, AccessRules};
    use crate::live_view::http::RequestHead;

    fn head(lines: &str) -> RequestHead {
        RequestHead::parse(format!("GET /api/state {lines}\r\n\r\n").as_bytes()).unwrap().unwrap().0
    }

    #[test]
    fn only_own_page_and_this_host_have_access() {
        let rules = AccessRules::new(([127, 0, 0, 1], 8765).into(), None, &["https://allowed.example".to_owned()]);
        let rules = rules.unwrap();
        let check = |lines: &str| rules.check(&head(&format!("HTTP/1.1\r\n{lines}")));
        assert_eq!(check("Host: localhost:8765"), Ok(()));
        assert_eq!(check("Host: localhost:8765\r\nOrigin: http://localhost:8765"), Ok(()));
        assert_eq!(check("Host: localhost:8765\r\nOrigin: https://allowed.example"), Ok(()));
        assert_eq!(check("Host: localhost:8765\r\nOrigin: http://evil.example"), Err(AccessRefusal::Origin));
        assert_eq!(check("Host: localhost:8765\r\nOrigin: null"), Err(AccessRefusal::Origin));
        assert_eq!(
            check("Host: rebound.example:8765\r\nOrigin: http://rebound.example:8765"),
            Err(AccessRefusal::Host)
        );
        assert_eq!(check("Accept: x"), Err(AccessRefusal::Host));
    }

    #[test]
    fn every_address_of_this_host_has_access() {
        let rules = AccessRules::new(([127, 0, 0, 2], 8765).into(), None, &[]).unwrap();
        for host in ["LOCALHOST", "127.0.0.1", "127.0.0.2", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]"] {
            for port in ["", ":80", ":8765"] {
                let fields = format!("Host: {host}{port}\r\nOrigin: http://{host}{port}");
                assert_eq!(rules.check(&head(&format!("HTTP/1.1\r\n{fields}"))), Ok(()), "{fields}");
            }
        }
        for host in ["128.0.0.1", "10.0.0.1:8765", "[::2]", "127.0.0.1.evil.example", "localhost.evil.example", "127.1"]
        {
            let head = head(&format!("HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}"));
            assert_eq!(rules.check(&head), Err(AccessRefusal::Host), "{host}");
        }
    }

    #[test]
    fn every_origin_needs_a_token() {
        let all = ["*".to_owned()];
        let address = ([127, 0, 0, 1], 8765).into();
        let error = AccessRules::new(address, None, &all).err().unwrap().to_string();
        assert!(error.starts_with("--allow-origin *: ") && error.contains("--token"), "{error}");
        let rules = AccessRules::new(address, Some("secret-of-this-test"), &all).unwrap();
        let fields = "HTTP/1.1\r\nHost: localhost\r\nOrigin: https://app.foxglove.dev";
        assert_eq!(rules.check(&head(fields)), Err(AccessRefusal::Token));
        let fields = format!("{fields}\r\nAuthorization: Bearer secret-of-this-test");
        assert_eq!(rules.check(&head(&fields)), Ok(()));
    }

    #[test]
    fn other_addresses_need_a_token() {
        let rules = AccessRules::new(([0, 0, 0, 0], 8765).into(), None, &[]).unwrap();
        let query = rules.query();
        assert_eq!(query.len(), "?token=".len() + 32);
        assert_eq!(rules.check(&head("HTTP/1.1\r\nHost: robot:8765")), Err(AccessRefusal::Token));
        let bearer = query.replace("?token=", "Authorization: Bearer ");
        assert_eq!(rules.check(&head(&format!("HTTP/1.1\r\nHost: robot:8765\r\n{bearer}"))), Ok(()));
        let line = format!("GET /{query} HTTP/1.1\r\nHost: robot\r\n\r\n");
        let (head, _) = RequestHead::parse(line.as_bytes()).unwrap().unwrap();
        assert_eq!(rules.check(&head), Ok(()));
    }
}
