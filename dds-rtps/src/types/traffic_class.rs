//! How urgent a datagram is to those who carry it.

use std::fmt;

/// The differentiated services codepoint of a datagram (DSCP, RFC 2474): six bits of its IP header that switches, routers,
/// wireless access points and this host's own queues may choose by. Default: 0, the class of everybody who asks for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct TrafficClass(u8);

impl TrafficClass {
    /// What a TRANSPORT_PRIORITY asks for (DDS 1.4, 2.2.3.15): the codepoint of the same number; below 0 it is 0, above 63
    /// it is 63, for every priority is a legal one.
    ///
    /// OpenDDS maps in the same way. RTI Connext scales a mask of bits of its own choice, and by default ignores the
    /// policy, as Cyclone DDS and Fast DDS do.
    #[must_use]
    pub fn of_priority(priority: i32) -> Self {
        Self(priority.clamp(0, 63) as u8)
    }

    /// The codepoint: 0 to 63.
    #[must_use]
    pub const fn codepoint(self) -> u8 {
        self.0
    }

    /// The whole octet of the header: the type of service of IPv4, the traffic class of IPv6. Its two low bits are for the
    /// network's own use (ECN, RFC 3168), and 0.
    #[must_use]
    pub const fn octet(self) -> u8 {
        self.0 << 2
    }

    /// Whether it is the class of those who ask for nothing.
    #[must_use]
    pub const fn is_default(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for TrafficClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DSCP {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_the_codepoint_of_its_number() {
        let octet = |priority| TrafficClass::of_priority(priority).octet();
        assert_eq!((octet(0), octet(1), octet(46), octet(63)), (0, 4, 0xb8, 0xfc));
        assert_eq!((octet(-1), octet(i32::MIN), octet(64), octet(i32::MAX)), (0, 0, 0xfc, 0xfc));
        assert!(TrafficClass::of_priority(-5).is_default() && !TrafficClass::of_priority(1).is_default());
        assert_eq!(TrafficClass::of_priority(46).to_string(), "DSCP 46");
    }
}
