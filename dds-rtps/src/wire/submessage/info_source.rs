//! INFO_SRC (RTPS 2.5, 8.3.8.9.4 and 9.4.5.11).
//!
//! ```text
//! 0   0c, flags, octetsToNextHeader u16     flags: E 01
//! 4   unused           u32
//! 8   protocolVersion  u8 major, u8 minor
//! 10  vendorId
//! 12  guidPrefix
//! ```

use super::id;
use crate::types::{GuidPrefix, ProtocolVersion, VendorId};
use crate::wire::cursor::Cursor;
use crate::wire::fields::Fields;
use crate::wire::{WireError, WireErrorKind};

/// Source of the following submessages, in place of the message header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InfoSource {
    /// Protocol version; `parse` has checked the major version 2.
    pub version: ProtocolVersion,
    /// Vendor.
    pub vendor: VendorId,
    /// The sending participant.
    pub prefix: GuidPrefix,
}

impl InfoSource {
    /// Bytes on the wire.
    pub const WIRE_LEN: usize = 24;

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let _unused = cursor.u32()?;
        // As in the message header: only major version 2 is known.
        let at_version = cursor.clone();
        let [major, minor] = cursor.bytes()?;
        let version = ProtocolVersion { major, minor };
        if major != ProtocolVersion::OURS.major {
            return Err(at_version.error(WireErrorKind::UnsupportedVersion(version)));
        }
        Ok(Self { version, vendor: VendorId(cursor.bytes()?), prefix: cursor.guid_prefix()? })
    }

    pub(in crate::wire) fn build(&self, buffer: &mut Vec<u8>) {
        Fields::<{ Self::WIRE_LEN }>::submessage(id::INFO_SRC, 0, 20)
            .u32(0)
            .bytes([self.version.major, self.version.minor])
            .bytes(self.vendor.0)
            .bytes(self.prefix.0)
            .append_to(buffer);
    }
}
