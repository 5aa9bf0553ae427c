//! The identifier of an entity in a domain (RTPS 2.5, 9.3.1).

use super::{EntityId, InstanceHandle, VendorId};
use dds_cdr::xtypes::SourceId;
use std::fmt;

/// The common twelve bytes of all entities of a participant (RTPS 2.5, 9.3.1.1). They start with the vendor id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GuidPrefix(pub [u8; 12]);

impl GuidPrefix {
    /// No participant, or "every participant" in INFO_DST.
    pub const UNKNOWN: Self = Self([0; 12]);

    /// A prefix that differs after every restart: the vendor id and ten random bytes of the caller.
    #[must_use]
    pub fn new(vendor: VendorId, random: [u8; 10]) -> Self {
        // Peers recognize the vendor by these two bytes, before any announcement (RTPS 2.5, 9.3.1.1).
        let mut bytes = [0; 12];
        bytes[..2].copy_from_slice(&vendor.0);
        bytes[2..].copy_from_slice(&random);
        Self(bytes)
    }

    /// Vendor whose implementation created the prefix. With DDS Security, a prefix does not show it.
    #[must_use]
    pub const fn vendor(self) -> VendorId {
        VendorId([self.0[0], self.0[1]])
    }
}

impl From<GuidPrefix> for SourceId {
    fn from(prefix: GuidPrefix) -> Self {
        Self(prefix.0)
    }
}

impl fmt::Debug for GuidPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.chunks_exact(4) {
            if chunk.as_ptr() != self.0.as_ptr() {
                f.write_str(":")?;
            }
            for byte in chunk {
                write!(f, "{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for GuidPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Identifies an entity in a domain (RTPS 2.5, 9.3.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guid {
    /// The prefix of the participant.
    pub prefix: GuidPrefix,
    /// The entity within the participant.
    pub entity_id: EntityId,
}

impl Guid {
    /// No entity.
    pub const UNKNOWN: Self = Self { prefix: GuidPrefix::UNKNOWN, entity_id: EntityId::UNKNOWN };

    /// Creates a GUID from its two parts.
    #[must_use]
    pub const fn new(prefix: GuidPrefix, entity_id: EntityId) -> Self {
        Self { prefix, entity_id }
    }

    /// The sixteen bytes in wire order.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..12].copy_from_slice(&self.prefix.0);
        bytes[12..].copy_from_slice(&self.entity_id.0);
        bytes
    }

    /// The inverse of [`Guid::to_bytes`].
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let [p @ .., a, b, c, d] = bytes;
        Self { prefix: GuidPrefix(p), entity_id: EntityId([a, b, c, d]) }
    }
}

impl From<Guid> for InstanceHandle {
    /// The handle of an entity: the GUID takes the place of a key hash.
    fn from(guid: Guid) -> Self {
        Self::from_key_hash(guid.to_bytes())
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.prefix, self.entity_id)
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip_and_display_groups_by_four() {
        let guid =
            Guid::new(GuidPrefix::new(VendorId([1, 2]), [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), EntityId([0, 0, 1, 2]));
        assert_eq!(Guid::from_bytes(guid.to_bytes()), guid);
        assert_eq!(guid.to_string(), "01020304:05060708:090a0b0c:00000102");
    }
}
