//! Names of certificate subjects, in the spelling of RFC 2253 and in that of OpenSSL.

use std::fmt;

/// Object identifier of an e-mail address, which some tools write as a number.
const EMAIL_ADDRESS: &str = "1.2.840.113549.1.9.1";

/// A subject name as a set of attributes. Order, spaces and the case of attribute names do not matter.
///
/// ```
/// use dds_security::access::SubjectName;
///
/// let comma = SubjectName::new("CN=Robot 7, O=Plant\\, North,C=DE");
/// assert_eq!(comma, SubjectName::new("/C=DE/O=Plant, North/CN=Robot 7"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectName {
    /// Attribute and value, sorted.
    attributes: Vec<(String, String)>,
}

impl SubjectName {
    /// Reads a name, in any of the two spellings.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = text.trim();
        let (separator, text) = text.strip_prefix('/').map_or((',', text), |rest| ('/', rest));
        let mut attributes: Vec<_> = split(text, separator).iter().filter_map(|part| attribute(part)).collect();
        attributes.sort();
        Self { attributes }
    }

    /// Whether the name has no attribute.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty()
    }
}

/// Splits at separators that no backslash escapes, and that begin an attribute.
fn split(text: &str, separator: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        if c == '\\' {
            if let (Some((_, escaped)), Some(part)) = (characters.next(), parts.last_mut()) {
                part.push(escaped);
            }
            continue;
        }
        // OpenSSL escapes nothing, so a `/` inside of a value is one that no `NAME=` follows.
        let begins = c == separator && (separator == ',' || begins_attribute(&text[at + c.len_utf8()..]));
        match parts.last_mut() {
            Some(part) if !begins => part.push(c),
            _ => parts.push(String::new()),
        }
    }
    parts
}

fn begins_attribute(rest: &str) -> bool {
    let name = rest.split_once('=').map(|(name, _)| name.trim());
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'))
}

fn attribute(part: &str) -> Option<(String, String)> {
    let (name, value) = part.split_once('=')?;
    let name = name.trim().to_ascii_lowercase();
    let name = match name.strip_prefix("oid.").unwrap_or(&name) {
        EMAIL_ADDRESS | "email" | "e" => "emailaddress",
        other => other,
    };
    Some((name.to_owned(), value.split_whitespace().collect::<Vec<_>>().join(" ")))
}

impl fmt::Display for SubjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.attributes.iter().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_are_equal() {
        let name = SubjectName::new("emailAddress=a@b.example,CN=robot,O=Plant,C=DE");
        for other in [
            "C=DE, O=Plant, CN=robot, emailAddress=a@b.example",
            "/C=DE/O=Plant/CN=robot/emailAddress=a@b.example",
            "1.2.840.113549.1.9.1=a@b.example,cn=robot,o=Plant,c=DE",
            " C = DE , O = Plant , CN =  robot , E = a@b.example ",
        ] {
            assert_eq!(SubjectName::new(other), name, "{other}");
        }
    }

    #[test]
    fn different_names_differ() {
        let name = SubjectName::new("CN=robot,O=Plant");
        for other in ["CN=Robot,O=Plant", "CN=robot", "CN=robot,O=Plant,C=DE", "O=robot,CN=Plant", ""] {
            assert_ne!(SubjectName::new(other), name, "{other}");
        }
        assert!(SubjectName::new("no name").is_empty());
        assert_eq!(SubjectName::new("/CN=a/b/O=c").to_string(), "cn=a/b, o=c");
    }
}
