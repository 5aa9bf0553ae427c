//! The well-known UDP ports (RTPS 2.5, 9.6.2.3). They serve to find peers; where a known peer listens, it says itself.

use crate::types::Locator;
use std::net::Ipv4Addr;

/// The highest domain whose ports exist.
pub const DOMAIN_ID_MAX: u32 = 232;
/// The highest index of a participant on its host; what lies above belongs to the next domain.
pub const PARTICIPANT_INDEX_MAX: u32 = 119;
/// The multicast group of discovery and user data.
pub const MULTICAST_GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);

const PORT_BASE: u32 = 7_400;
const DOMAIN_GAIN: u32 = 250;
const PARTICIPANT_GAIN: u32 = 2;

/// What a well-known port is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traffic {
    /// Discovery, sent to the group.
    MulticastMetatraffic,
    /// User data, sent to the group.
    MulticastUserData,
    /// Discovery of the participant with this index on its host, from 0.
    UnicastMetatraffic(u32),
    /// User data of the participant with this index on its host, from 0.
    UnicastUserData(u32),
}

impl Traffic {
    /// The port in a domain; `None` if domain or index is too high for there to be one.
    #[must_use]
    pub fn port(self, domain_id: u32) -> Option<u16> {
        let (offset, index) = match self {
            Self::MulticastMetatraffic => (0, 0),
            Self::MulticastUserData => (1, 0),
            Self::UnicastMetatraffic(index) => (10, index),
            Self::UnicastUserData(index) => (11, index),
        };
        if domain_id > DOMAIN_ID_MAX || index > PARTICIPANT_INDEX_MAX {
            return None;
        }
        u16::try_from(PORT_BASE + DOMAIN_GAIN * domain_id + offset + PARTICIPANT_GAIN * index).ok()
    }
}

/// The group in which a domain's discovery takes place.
#[must_use]
pub fn discovery_group(domain_id: u32) -> Option<Locator> {
    Traffic::MulticastMetatraffic.port(domain_id).map(|port| Locator::udp_v4(MULTICAST_GROUP, port))
}

/// Where the first `count` participants of a domain listen on the host `address`, if they use the well-known ports: what
/// to announce oneself to where there is no multicast. At most 120.
pub fn well_known_peers(address: Ipv4Addr, domain_id: u32, count: u32) -> impl Iterator<Item = Locator> {
    let ports = (0..count.min(PARTICIPANT_INDEX_MAX + 1)).map(Traffic::UnicastMetatraffic);
    ports.filter_map(move |traffic| Some(Locator::udp_v4(address, traffic.port(domain_id)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_those_of_the_standard() {
        assert_eq!(Traffic::MulticastMetatraffic.port(0), Some(7400));
        assert_eq!(Traffic::MulticastUserData.port(1), Some(7651));
        assert_eq!(Traffic::UnicastMetatraffic(1).port(0), Some(7412));
        assert_eq!(Traffic::UnicastUserData(0).port(0), Some(7411));
    }

    #[test]
    fn what_belongs_to_another_domain_or_to_none_has_no_port() {
        assert_eq!(Traffic::UnicastMetatraffic(119).port(0), Some(7648));
        assert_eq!(Traffic::UnicastMetatraffic(120).port(0), None);
        assert_eq!(Traffic::UnicastUserData(119).port(232), None, "above 65535");
        assert_eq!(Traffic::MulticastMetatraffic.port(232), Some(65_400));
        assert_eq!(Traffic::MulticastMetatraffic.port(233), None);
        assert_eq!(discovery_group(233), None);
    }

    #[test]
    fn peers_without_multicast_are_sought_at_the_first_indexes() {
        let ports: Vec<u32> = well_known_peers(Ipv4Addr::LOCALHOST, 0, 3).map(|locator| locator.port).collect();
        assert_eq!(ports, [7410, 7412, 7414]);
        assert_eq!(well_known_peers(Ipv4Addr::LOCALHOST, 0, u32::MAX).count(), 120);
    }
}
