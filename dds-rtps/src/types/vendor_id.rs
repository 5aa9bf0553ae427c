//! The vendor and protocol version of a peer (RTPS 2.5, 8.3.5.2 and 8.3.5.3).

use std::fmt;

/// Identifies an implementation of DDS (RTPS 2.5, 9.3.2.4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VendorId(pub [u8; 2]);

impl VendorId {
    /// This implementation. The OMG has not assigned an id to it.
    ///
    /// The id lies outside of the assigned range, which ends at 01 23. No other place of the code contains it.
    pub const OURS: Self = Self([0x01, 0xdd]);
    /// RTI Connext.
    pub const RTI: Self = Self([0x01, 0x01]);
    /// eProsima Fast DDS.
    pub const EPROSIMA: Self = Self([0x01, 0x0f]);
    /// Eclipse Cyclone DDS.
    pub const CYCLONE: Self = Self([0x01, 0x10]);
    /// RustDDS.
    pub const RUSTDDS: Self = Self([0x01, 0x12]);
    /// Dust DDS.
    pub const DUST: Self = Self([0x01, 0x14]);
    /// Zenzen DDS.
    pub const ZENZEN: Self = Self([0x01, 0x23]);

    /// The name of the product, if it is known.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            [0x01, 0xdd] => "dds-core",
            [0x01, 0x01] => "RTI Connext",
            [0x01, 0x02] => "OpenSplice",
            [0x01, 0x03] => "OpenDDS",
            [0x01, 0x06] => "CoreDX",
            [0x01, 0x0a] => "RTI Connext Micro",
            [0x01, 0x0f] => "Fast DDS",
            [0x01, 0x10] => "Cyclone DDS",
            [0x01, 0x12] => "RustDDS",
            [0x01, 0x14] => "Dust DDS",
            [0x01, 0x23] => "Zenzen DDS",
            _ => return None,
        })
    }
}

impl fmt::Debug for VendorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}{:02x}", self.0[0], self.0[1])
    }
}

/// The version in a message header. Every minor version of major 2 is accepted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProtocolVersion {
    /// The major version, 2.
    pub major: u8,
    /// The minor version. 1 to 5 are in use.
    pub minor: u8,
}

impl ProtocolVersion {
    /// The version that this implementation sends: RTPS 2.5.
    pub const OURS: Self = Self { major: 2, minor: 5 };
}

impl fmt::Debug for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
