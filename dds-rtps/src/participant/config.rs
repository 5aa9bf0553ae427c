//! Configuration of a participant.

use crate::concurrent::AssertionClock;
use crate::discovery::data::ParticipantData;
use crate::discovery::{BuiltinEndpoints, HostAddress, PeerSecurity};
use crate::types::{Duration, GuidPrefix, Locator, PortMapping};
use crate::wire::Headroom;
use std::sync::Arc;

/// Limits of discovered entities. Participants and endpoints beyond them are ignored and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscoveryLimits {
    /// Participants known at a time, at most 4096, the limit of a builtin reader's writers. Default: 1024.
    ///
    /// This is more than any reported domain has; each takes about 1 KiB.
    pub participants_max: usize,
    /// Writers and readers of one participant. Default: 4096.
    ///
    /// Each takes about 1 KiB, or 64 KiB with all data at their bounds.
    pub endpoints_per_participant_max: usize,
    /// Writers, or readers, of all participants together. Default: 65 536.
    pub endpoints_max: u32,
}

impl Default for DiscoveryLimits {
    fn default() -> Self {
        Self { participants_max: 1_024, endpoints_per_participant_max: 4_096, endpoints_max: 65_536 }
    }
}

/// Configuration of a [`Participant`](super::Participant).
#[derive(Debug, Clone)]
pub struct ParticipantConfig {
    /// GUID prefix: bytes 0 and 1 are the vendor id, the others differ after each restart.
    pub prefix: GuidPrefix,
    /// Domain id. Only participants of the same domain are discovered.
    pub domain_id: u32,
    /// Domain tag: only participants with an equal tag are discovered. Default: empty.
    pub domain_tag: String,
    /// Name for diagnosis. Default: empty.
    pub entity_name: String,
    /// USER_DATA of the application. Default: none.
    pub user_data: Vec<u8>,
    /// Informative names and values. Default: none.
    pub properties: Vec<(String, String)>,
    /// Unicast locators of discovery.
    pub metatraffic_unicast: Vec<Locator>,
    /// Multicast locators of discovery, announced to peers. Default: none.
    pub metatraffic_multicast: Vec<Locator>,
    /// Unicast locators of endpoints without own locators.
    pub default_unicast: Vec<Locator>,
    /// Multicast locators of endpoints, announced to peers. Default: none.
    pub default_multicast: Vec<Locator>,
    /// Destinations of announcements: the domain's group, and peers known from the start. Default: the domain's
    /// group.
    ///
    /// A peer may have a well-known port or not ([`PortMapping::participants_on`]).
    pub announce_to: Vec<Locator>,
    /// Addresses of this host. They show which peers run on it, and which addresses of a peer are in its networks.
    pub host_addresses: Vec<HostAddress>,
    /// Whether samples may be sent to the groups of readers, where that saves datagrams. Default: false.
    ///
    /// Unicast to each reader also works where multicast is filtered or slow.
    pub multicast_samples: bool,
    /// Space in each datagram that a transform of messages needs. Default: none.
    ///
    /// Announcements of endpoints are cut into smaller fragments, and fewer of them share a datagram.
    pub headroom: Headroom,
    /// Silence after which peers may consider this participant gone. Default: 20 s.
    pub lease_duration: Duration,
    /// Period of announcements, plus or minus a tenth, and at least six in a lease. Default: 3 s.
    pub announcement_period: Duration,
    /// Limits of discovered entities.
    pub limits: DiscoveryLimits,
    /// Plugins of DDS Security. Default: none.
    pub security: Option<Arc<dyn PeerSecurity>>,
    /// Liveliness assertions of MANUAL_BY_PARTICIPANT writers and of the participant itself. Default: a new one.
    pub assertion_clock: Arc<AssertionClock>,
}

/// Locators of a participant and of its announcements; they change with the interfaces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParticipantLocators {
    /// As [`ParticipantConfig::metatraffic_unicast`].
    pub metatraffic_unicast: Vec<Locator>,
    /// As [`ParticipantConfig::metatraffic_multicast`].
    pub metatraffic_multicast: Vec<Locator>,
    /// As [`ParticipantConfig::default_unicast`].
    pub default_unicast: Vec<Locator>,
    /// As [`ParticipantConfig::announce_to`].
    pub announce_to: Vec<Locator>,
    /// As [`ParticipantConfig::host_addresses`].
    pub host_addresses: Vec<HostAddress>,
}

impl ParticipantConfig {
    /// Replaces the locators.
    pub fn set_locators(&mut self, locators: ParticipantLocators) {
        self.metatraffic_unicast = locators.metatraffic_unicast;
        self.metatraffic_multicast = locators.metatraffic_multicast;
        self.default_unicast = locators.default_unicast;
        self.announce_to = locators.announce_to;
        self.host_addresses = locators.host_addresses;
    }

    /// Creates the default configuration, without own locators.
    #[must_use]
    pub fn new(prefix: GuidPrefix, domain_id: u32) -> Self {
        Self {
            prefix,
            domain_id,
            domain_tag: String::new(),
            entity_name: String::new(),
            user_data: Vec::new(),
            properties: Vec::new(),
            metatraffic_unicast: Vec::new(),
            metatraffic_multicast: Vec::new(),
            default_unicast: Vec::new(),
            default_multicast: Vec::new(),
            announce_to: PortMapping::default().discovery_group(domain_id).into_iter().collect(),
            host_addresses: Vec::new(),
            multicast_samples: false,
            headroom: Headroom::default(),
            lease_duration: Duration::from_secs(20),
            announcement_period: Duration::from_secs(3),
            limits: DiscoveryLimits::default(),
            security: None,
            assertion_clock: Arc::default(),
        }
    }

    /// Returns the plain announcement of this participant.
    pub(super) fn announcement(&self) -> ParticipantData {
        let mut data = self.whole_announcement();
        if let Some(security) = &self.security {
            // Participants that have proved their identity get these by the protected builtin topic.
            if security.hides_details() {
                data.user_data.clear();
                data.entity_name.clear();
                data.properties.clear();
            }
        }
        data
    }

    /// Returns the announcement of this participant with all that it says.
    pub(super) fn whole_announcement(&self) -> ParticipantData {
        let mut data = ParticipantData {
            domain_id: Some(self.domain_id),
            domain_tag: self.domain_tag.clone(),
            metatraffic_unicast: self.metatraffic_unicast.clone(),
            metatraffic_multicast: self.metatraffic_multicast.clone(),
            default_unicast: self.default_unicast.clone(),
            default_multicast: self.default_multicast.clone(),
            lease_duration: self.lease_duration,
            builtin_endpoints: OUR_ENDPOINTS,
            user_data: self.user_data.clone(),
            entity_name: self.entity_name.clone(),
            properties: self.properties.clone(),
            ..ParticipantData::new(self.prefix)
        };
        if let Some(security) = &self.security {
            security.announce(&mut data);
        }
        data
    }
}

/// Builtin endpoints of this implementation.
const OUR_ENDPOINTS: BuiltinEndpoints = BuiltinEndpoints::PARTICIPANT_WRITER
    .union(BuiltinEndpoints::PARTICIPANT_READER)
    .union(BuiltinEndpoints::PUBLICATIONS_WRITER)
    .union(BuiltinEndpoints::PUBLICATIONS_READER)
    .union(BuiltinEndpoints::SUBSCRIPTIONS_WRITER)
    .union(BuiltinEndpoints::SUBSCRIPTIONS_READER)
    .union(BuiltinEndpoints::MESSAGE_WRITER)
    .union(BuiltinEndpoints::MESSAGE_READER)
    .union(BuiltinEndpoints::TYPE_REQUEST_WRITER)
    .union(BuiltinEndpoints::TYPE_REQUEST_READER)
    .union(BuiltinEndpoints::TYPE_REPLY_WRITER)
    .union(BuiltinEndpoints::TYPE_REPLY_READER);
