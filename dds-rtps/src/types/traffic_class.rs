//! The traffic class of a datagram.

use std::fmt;

/// The differentiated services codepoint of a datagram (DSCP, RFC 2474). Default: 0, best effort.
///
/// Six bits of the IP header. Switches, routers, wireless access points and the queues of this host may use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct TrafficClass(u8);

impl TrafficClass {
    /// The codepoint for a TRANSPORT_PRIORITY (DDS 1.4, 2.2.3.15), clamped to 0 ..= 63, because every priority is
    /// legal.
    ///
    /// OpenDDS does the same. RTI Connext uses a configurable mask. By default it ignores the policy, as do Cyclone DDS
    /// and Fast DDS.
    #[must_use]
    pub fn of_priority(priority: i32) -> Self {
        Self(priority.clamp(0, 63) as u8)
    }

    /// The codepoint: 0 to 63.
    #[must_use]
    pub const fn codepoint(self) -> u8 {
        self.0
    }

    /// The byte of the IP header: the type of service of IPv4, the traffic class of IPv6.
    ///
    /// The two low bits are 0. The network uses them for ECN (RFC 3168).
    #[must_use]
    pub const fn octet(self) -> u8 {
        self.0 << 2
    }

    /// Whether this is the default class, best effort.
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
