//! What a participant is made of.

use crate::concurrent::AssertionClock;
use crate::discovery::data::ParticipantData;
use crate::discovery::{BuiltinEndpoints, HostAddress};
use crate::types::{Duration, GuidPrefix, Locator, PortMapping};
use std::sync::Arc;

/// How much a participant keeps of what others announce. Beyond it, participants and endpoints are not seen; counters tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscoveryLimits {
    /// Participants known at a time, at most 4096, for a builtin reader has no more writers. Default: 1024, more than any
    /// domain that anybody has reported; about 1 KiB each.
    pub participants_max: usize,
    /// Writers and readers of one participant. Default: 4096; about 1 KiB each, with all data at their bounds 64 KiB.
    pub endpoints_per_participant_max: usize,
    /// Writers, or readers, of all participants together. Default: 65 536.
    pub endpoints_max: u32,
}

impl Default for DiscoveryLimits {
    fn default() -> Self {
        Self { participants_max: 1_024, endpoints_per_participant_max: 4_096, endpoints_max: 65_536 }
    }
}

/// What a [`Participant`](super::Participant) is made of.
#[derive(Debug, Clone)]
pub struct ParticipantConfig {
    /// The participant's name: bytes 0 and 1 the vendor id, the others different after each restart.
    pub prefix: GuidPrefix,
    /// The domain. Only participants of the same domain are seen.
    pub domain_id: u32,
    /// A part of the domain: only participants with an equal tag are seen. Default: empty.
    pub domain_tag: String,
    /// A name for people. Default: empty.
    pub entity_name: String,
    /// Octets of the application. Default: none.
    pub user_data: Vec<u8>,
    /// Names and values that only inform. Default: none.
    pub properties: Vec<(String, String)>,
    /// Where discovery listens.
    pub metatraffic_unicast: Vec<Locator>,
    /// Which groups discovery has joined. Announced; default: none.
    pub metatraffic_multicast: Vec<Locator>,
    /// Where endpoints listen that have no locators of their own.
    pub default_unicast: Vec<Locator>,
    /// Which groups endpoints have joined. Announced; default: none.
    pub default_multicast: Vec<Locator>,
    /// Where announcements go: the domain's group, and peers that are known from the start, with or without a well-known
    /// port ([`PortMapping::participants_on`]). Default: the domain's group.
    pub announce_to: Vec<Locator>,
    /// This host's own addresses: they tell which peers run here, and which of a peer's addresses is in reach.
    pub host_addresses: Vec<HostAddress>,
    /// Whether samples may go to the groups that readers announce, where that saves datagrams. Off, they go to each reader
    /// by unicast, which works where multicast is filtered or slow. Default: off.
    pub multicast_samples: bool,
    /// After how much silence others may take this participant for gone. Default: 20 s.
    pub lease_duration: Duration,
    /// How often it is announced, give or take a tenth, but at least six times in a lease. Default: 3 s.
    pub announcement_period: Duration,
    /// How much is kept of others.
    pub limits: DiscoveryLimits,
    /// Where the signs of life are noted of writers that are manual by participant, and of the participant itself.
    /// Default: one of its own.
    pub assertion_clock: Arc<AssertionClock>,
}

/// Where a participant can be reached, and where it looks for others: what changes when an interface comes or goes.
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
    /// Takes over other locators.
    pub fn set_locators(&mut self, locators: ParticipantLocators) {
        self.metatraffic_unicast = locators.metatraffic_unicast;
        self.metatraffic_multicast = locators.metatraffic_multicast;
        self.default_unicast = locators.default_unicast;
        self.announce_to = locators.announce_to;
        self.host_addresses = locators.host_addresses;
    }

    /// The defaults, with no locators to listen at.
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
            lease_duration: Duration::from_secs(20),
            announcement_period: Duration::from_secs(3),
            limits: DiscoveryLimits::default(),
            assertion_clock: Arc::default(),
        }
    }

    /// What is announced of this participant.
    pub(super) fn announcement(&self) -> ParticipantData {
        ParticipantData {
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
        }
    }
}

/// The builtin endpoints that this implementation has, and thus announces.
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
