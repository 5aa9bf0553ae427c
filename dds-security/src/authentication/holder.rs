//! Tokens as they are on the wire: the type DataHolder (DDS Security 1.1, 7.2.3).
//!
//! ```text
//! class id             string
//! properties           sequence of { name string, value string }
//! binary properties    sequence of { name string, value sequence of octets }
//! ```

use super::cdr::{CdrError, CdrReader, CdrWriter, TokenByteOrder};
use std::fmt;
use zeroize::Zeroizing;

/// Most bytes of a token. Certificates and permissions of one participant have a few kilobytes.
pub(super) const LEN_MAX: usize = 1 << 16;

/// Fewest bytes of a property: two lengths.
const PROPERTY_LEN_MIN: usize = 8;

/// A token. Its binary values may be secrets, so they are overwritten when it is dropped, and `Debug` has no values.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct DataHolder {
    /// Class, for example `DDS:Auth:PKI-DH:1.0+Req`.
    pub class_id: String,
    /// Names and values as text.
    pub properties: Vec<(String, String)>,
    /// Names and values as bytes.
    pub binary_properties: Vec<(String, Zeroizing<Vec<u8>>)>,
}

impl DataHolder {
    /// Creates a token without properties.
    #[must_use]
    pub fn new(class_id: impl Into<String>) -> Self {
        Self { class_id: class_id.into(), ..Self::default() }
    }

    /// Returns the value of a binary property. `None` without one, or with several.
    #[must_use]
    pub fn binary(&self, name: &str) -> Option<&[u8]> {
        let mut found = self.binary_properties.iter().filter(|(known, _)| known == name);
        let (_, value) = found.next()?;
        // Two values of one name would let each side see another one.
        if found.next().is_some() { None } else { Some(value) }
    }

    /// Returns the value of a property. `None` without one, or with several.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&str> {
        let mut found = self.properties.iter().filter(|(known, _)| known == name);
        let (_, value) = found.next()?;
        if found.next().is_some() { None } else { Some(value) }
    }

    /// Reads a token, such as the value of a parameter of discovery. Bytes behind it are padding.
    ///
    /// # Errors
    /// [`CdrError`] if the bytes break the layout, or are more than 64 KiB.
    pub fn parse(bytes: &[u8], order: TokenByteOrder) -> Result<Self, CdrError> {
        if bytes.len() > LEN_MAX {
            return Err(CdrError { at: LEN_MAX });
        }
        Self::read(&mut CdrReader::new(bytes, order))
    }

    /// Writes the token.
    #[must_use]
    pub fn to_bytes(&self, order: TokenByteOrder) -> Vec<u8> {
        let mut writer = CdrWriter::new(order);
        self.write(&mut writer);
        writer.finish()
    }

    pub(super) fn add(&mut self, name: &str, value: &[u8]) {
        self.binary_properties.push((name.to_owned(), Zeroizing::new(value.to_vec())));
    }

    pub(super) fn read(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let class_id = reader.string()?.to_owned();
        let mut properties = Vec::new();
        // The vector grows with the bytes that are there. The announced count reserves nothing.
        for _ in 0..reader.count(PROPERTY_LEN_MIN)? {
            properties.push((reader.string()?.to_owned(), reader.string()?.to_owned()));
        }
        let mut binary_properties = Vec::new();
        for _ in 0..reader.count(PROPERTY_LEN_MIN)? {
            binary_properties.push((reader.string()?.to_owned(), Zeroizing::new(reader.octets()?.to_vec())));
        }
        Ok(Self { class_id, properties, binary_properties })
    }

    pub(super) fn write(&self, writer: &mut CdrWriter) {
        writer.string(&self.class_id);
        writer.count(self.properties.len());
        for (name, value) in &self.properties {
            writer.string(name);
            writer.string(value);
        }
        writer.count(self.binary_properties.len());
        for (name, value) in &self.binary_properties {
            writer.string(name);
            writer.octets(value);
        }
    }
}

/// Returns the bytes of binary properties that hashes and signatures cover: big endian, aligned from 0.
pub(super) fn signed_bytes(properties: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = CdrWriter::new(TokenByteOrder::Big);
    writer.count(properties.len());
    for (name, value) in properties {
        writer.string(name);
        writer.octets(value);
    }
    writer.finish()
}

impl fmt::Debug for DataHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A value may be a key, so logs show its length only.
        let binary: Vec<_> = self.binary_properties.iter().map(|(name, value)| (name, value.len())).collect();
        f.debug_struct("DataHolder")
            .field("class_id", &self.class_id)
            .field("properties", &self.properties)
            .field("binary_property_lengths", &binary)
            .finish()
    }
}
