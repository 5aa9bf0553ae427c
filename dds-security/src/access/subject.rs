//! Names of certificate subjects, in the spelling of RFC 2253 and in that of OpenSSL.

use std::fmt;

/// Attributes that some tools write as a number, and others as a name.
const ATTRIBUTES: [(&str, &str); 14] = [
    ("2.5.4.3", "cn"),
    ("2.5.4.4", "sn"),
    ("2.5.4.5", "serialnumber"),
    ("2.5.4.6", "c"),
    ("2.5.4.7", "l"),
    ("2.5.4.8", "st"),
    ("2.5.4.9", "street"),
    ("2.5.4.10", "o"),
    ("2.5.4.11", "ou"),
    ("2.5.4.12", "title"),
    ("2.5.4.42", "gn"),
    ("0.9.2342.19200300.100.1.1", "uid"),
    ("0.9.2342.19200300.100.1.25", "dc"),
    ("1.2.840.113549.1.9.1", "emailaddress"),
];

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
        // Tools write the attributes in different orders.
        attributes.sort();
        Self { attributes }
    }

    /// Takes the name of a certificate.
    #[cfg(feature = "pki")]
    pub(crate) fn from_x509(name: &x509_cert::name::Name) -> Self {
        let mut attributes = Vec::new();
        for attribute in name.0.iter().flat_map(|part| part.0.iter()) {
            let value = value_of(&attribute.value);
            attributes.push((attribute_name(&attribute.oid.to_string()), single_spaces(&value)));
        }
        attributes.sort();
        Self { attributes }
    }

    /// Whether two names are those of one authority. The case of letters does not matter either (RFC 5280, 7.1).
    ///
    /// Subjects with rights are compared by `==`. Authorities also sign, so their names need not be unique.
    #[cfg(feature = "pki")]
    pub(crate) fn is_same_authority(&self, other: &Self) -> bool {
        self.in_lower_case() == other.in_lower_case()
    }

    #[cfg(feature = "pki")]
    fn in_lower_case(&self) -> Vec<(&str, String)> {
        let lower = self.attributes.iter().map(|(name, value)| (name.as_str(), value.to_lowercase()));
        let mut attributes: Vec<_> = lower.collect();
        attributes.sort();
        attributes
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
        debug_assert!(!parts.is_empty(), "the list begins with one part");
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
    Some((attribute_name(name.trim()), single_spaces(value)))
}

/// Returns the one spelling of an attribute's name that comparisons use.
fn attribute_name(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix("oid.").unwrap_or(&name);
    let known = match name {
        "email" | "e" => "emailaddress",
        "s" => "st",
        number => ATTRIBUTES.iter().find(|(oid, _)| *oid == number).map_or(name, |(_, short)| short),
    };
    known.to_owned()
}

fn single_spaces(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text of an attribute's value, in any of the string types of ASN.1.
#[cfg(feature = "pki")]
fn value_of(value: &der::Any) -> String {
    use der::{Tag, Tagged};
    match value.tag() {
        Tag::BmpString => {
            let units = value.value().chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
        // The characters of T.61 that occur in names are those of Latin-1.
        Tag::TeletexString => value.value().iter().map(|byte| char::from(*byte)).collect(),
        _ => String::from_utf8_lossy(value.value()).into_owned(),
    }
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
