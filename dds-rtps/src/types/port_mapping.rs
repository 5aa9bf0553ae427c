//! The ports of domains and participants (RTPS 2.5, 9.6.2.3).
//!
//! These ports only serve to find peers. A known peer announces its own locators.

use super::Locator;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The parameters of the port formulas. Every peer uses the default.
///
/// ```text
/// port of a domain       = port_base + domain_gain * domain + d
/// port of a participant  = port_base + domain_gain * domain + participant_gain * index + d
/// ```
///
/// With the default, the last domain is 232, because higher ports would exceed 65535. The last participant index is
/// 119, because the next ports belong to the next domain. In the last domains some indexes have no port.
///
/// # Indexes beyond the standard
///
/// This implementation also uses the ports of distant domains. Indexes 120 to 239 of domain 0 have the ports of indexes
/// 0 to 119 of domain 58. The next ones have those of domains 116 and 174. Other domains do the same, modulo the number
/// of domains.
///
/// So a participant without multicast also has a port at which peers look for it. Participants of the other domain skip
/// occupied ports, and messages contain their domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortMapping {
    /// PB, 7400.
    pub port_base: u32,
    /// DG, 250.
    pub domain_gain: u32,
    /// PG, 2.
    pub participant_gain: u32,
    /// d0, 0: metatraffic multicast.
    pub metatraffic_multicast_offset: u32,
    /// d1, 10: metatraffic unicast.
    pub metatraffic_unicast_offset: u32,
    /// d2, 1: user data multicast.
    pub user_multicast_offset: u32,
    /// d3, 11: user data unicast.
    pub user_unicast_offset: u32,
}

impl Default for PortMapping {
    fn default() -> Self {
        Self {
            port_base: 7400,
            domain_gain: 250,
            participant_gain: 2,
            metatraffic_multicast_offset: 0,
            metatraffic_unicast_offset: 10,
            user_multicast_offset: 1,
            user_unicast_offset: 11,
        }
    }
}

/// How many domains provide ports for the participants of one: 480 participants per host.
const DOMAINS_OF_PORTS: u32 = 4;

/// The distance between these domains: a quarter of all domains.
const DOMAINS_APART: u32 = 58;

/// The unicast ports of one participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParticipantPorts {
    /// The index of the participant, from 0.
    pub index: u32,
    /// For discovery.
    pub metatraffic: u16,
    /// For user data.
    pub user: u16,
}

impl PortMapping {
    /// The multicast group of discovery, 239.255.0.1 (RTPS 2.5, 9.6.2.4.1, and every peer).
    pub const DISCOVERY_GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);

    /// The multicast groups of discovery over IPv6. RTPS defines none, so both groups of other implementations are
    /// used: ff02::ffff:efff:1 (Cyclone DDS: link-local) and ff1e::ffff:efff:1 (Fast DDS: any scope).
    pub const DISCOVERY_GROUPS_V6: [Ipv6Addr; 2] =
        [Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0xffff, 0xefff, 1), Ipv6Addr::new(0xff1e, 0, 0, 0, 0, 0xffff, 0xefff, 1)];

    /// The IPv4 multicast locator of discovery in a domain. `None` if the domain has no such port.
    #[must_use]
    pub fn discovery_group(&self, domain_id: u32) -> Option<Locator> {
        Some(Locator::udp_v4(Self::DISCOVERY_GROUP, self.metatraffic_multicast(domain_id)?))
    }

    /// Returns the discovery locators of the first `count` participants of a domain on one host.
    ///
    /// Announcements without multicast go to them.
    pub fn participants_on(&self, address: IpAddr, domain_id: u32, count: u32) -> impl Iterator<Item = Locator> {
        let participants = self.participants(domain_id).take_while(move |ports| ports.index < count);
        participants.map(move |ports| Locator::udp(address, ports.metatraffic))
    }

    /// Returns the unicast ports of the participants of a domain on one host, by index.
    ///
    /// The ports of the specification come first, then those beyond the standard.
    pub fn participants(&self, domain_id: u32) -> impl Iterator<Item = ParticipantPorts> {
        let ports = *self;
        // A configuration may set a gain to 0, which would divide by zero.
        let gain = self.participant_gain.max(1);
        let offset_max = self.metatraffic_unicast_offset.max(self.user_unicast_offset);
        let per_domain = self.domain_gain.saturating_sub(offset_max).div_ceil(gain);
        let domains = u32::from(u16::MAX).saturating_sub(self.port_base) / self.domain_gain.max(1) + 1;
        (0..DOMAINS_OF_PORTS).flat_map(move |block| {
            // The first block is the domain itself, which may not exist. The others wrap around.
            let domain = if block == 0 { domain_id } else { domain_id.wrapping_add(block * DOMAINS_APART) % domains };
            (0..per_domain).filter_map(move |index| {
                Some(ParticipantPorts {
                    index: block * per_domain + index,
                    metatraffic: ports.metatraffic_unicast(domain, index)?,
                    user: ports.user_unicast(domain, index)?,
                })
            })
        })
    }

    /// The port of multicast discovery in a domain. `None` if the domain has no such port.
    #[must_use]
    pub fn metatraffic_multicast(&self, domain_id: u32) -> Option<u16> {
        self.port(domain_id, self.metatraffic_multicast_offset)
    }

    /// The port of multicast user data in a domain. `None` if the domain has no such port.
    #[must_use]
    pub fn user_multicast(&self, domain_id: u32) -> Option<u16> {
        self.port(domain_id, self.user_multicast_offset)
    }

    /// The port of unicast discovery for a participant. `None` if there is no such port.
    #[must_use]
    pub fn metatraffic_unicast(&self, domain_id: u32, participant_index: u32) -> Option<u16> {
        self.port(domain_id, self.offset(participant_index)?.checked_add(self.metatraffic_unicast_offset)?)
    }

    /// The port of unicast user data for a participant. `None` if there is no such port.
    #[must_use]
    pub fn user_unicast(&self, domain_id: u32, participant_index: u32) -> Option<u16> {
        self.port(domain_id, self.offset(participant_index)?.checked_add(self.user_unicast_offset)?)
    }

    fn offset(&self, participant_index: u32) -> Option<u32> {
        self.participant_gain.checked_mul(participant_index)
    }

    fn port(&self, domain_id: u32, offset: u32) -> Option<u16> {
        // A larger offset would be a port of the next domain.
        if offset >= self.domain_gain {
            return None;
        }
        let domain = self.domain_gain.checked_mul(domain_id)?;
        u16::try_from(self.port_base.checked_add(domain)?.checked_add(offset)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_domain_0_are_the_well_known_ones() {
        let ports = PortMapping::default();
        assert_eq!(ports.metatraffic_multicast(0), Some(7400));
        assert_eq!(ports.user_multicast(0), Some(7401));
        assert_eq!((ports.metatraffic_unicast(0, 0), ports.user_unicast(0, 0)), (Some(7410), Some(7411)));
        assert_eq!((ports.metatraffic_unicast(0, 1), ports.user_unicast(0, 1)), (Some(7412), Some(7413)));
    }

    #[test]
    fn domains_end_at_232() {
        let ports = PortMapping::default();
        assert_eq!(ports.metatraffic_multicast(232), Some(65_400));
        assert_eq!(ports.metatraffic_multicast(233), None);
        assert_eq!(ports.metatraffic_multicast(u32::MAX), None);
        assert_eq!(ports.metatraffic_unicast(232, 119), None);
        assert_eq!(ports.user_unicast(232, 62), Some(65_535));
    }

    #[test]
    fn participant_indexes_end_at_119() {
        let ports = PortMapping::default();
        assert_eq!((ports.metatraffic_unicast(0, 119), ports.user_unicast(0, 119)), (Some(7648), Some(7649)));
        assert_eq!((ports.metatraffic_unicast(0, 120), ports.user_unicast(0, 120)), (None, None));
        assert_eq!(ports.metatraffic_multicast(1), Some(7650));
        assert_eq!(ports.user_unicast(0, u32::MAX), None);
    }

    #[test]
    fn beyond_the_standard_participants_have_the_ports_of_far_off_domains() {
        let ports = PortMapping::default();
        let mut seen = std::collections::HashSet::new();
        let all: Vec<ParticipantPorts> = ports.participants(0).collect();
        assert!(all.iter().all(|ports| seen.insert(ports.metatraffic) && seen.insert(ports.user)));
        assert!(all.iter().map(|ports| ports.index).eq(0..480));
        // Each domain has these ports, except for those that the last domains lack.
        for domain in 0..233 {
            let mut participants = ports.participants(domain);
            let first = participants.next().unwrap();
            assert_eq!(Some(first.metatraffic), ports.metatraffic_unicast(domain, 0));
            assert!(participants.count() >= 200, "{domain}");
        }
        assert_eq!(ports.participants(232).nth(63).map(|ports| ports.index), Some(120));
    }

    #[test]
    fn peers_without_multicast_are_sought_at_the_first_indexes() {
        let ports = PortMapping::default();
        let of = |count| ports.participants_on(Ipv4Addr::LOCALHOST.into(), 0, count).map(|locator| locator.port);
        assert_eq!(of(3).collect::<Vec<_>>(), [7410, 7412, 7414]);
        assert_eq!(of(120).collect::<Vec<_>>().last(), Some(&7648));
        assert_eq!(of(122).skip(120).collect::<Vec<_>>(), [7410 + 58 * 250, 7412 + 58 * 250]);
        assert_eq!(ports.discovery_group(1), Some(Locator::udp_v4([239, 255, 0, 1].into(), 7650)));
        assert_eq!(ports.discovery_group(233), None);
    }
}
