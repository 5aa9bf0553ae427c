//! The form of requests and replies that a peer understands.

use crate::graph::{Prefix, prefix_of};
use crate::user_data;
use dds_core::Guid;
use dds_core::builtin::VendorId;
use dds_core::matching::EndpointInfo;
use std::collections::{BTreeMap, BTreeSet};

/// Where requests and replies carry the identity of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Form {
    /// In the inline QoS.
    InlineQos,
    /// In a header before the payload, as in `rmw_cyclonedds`.
    Header,
}

impl Form {
    /// Returns the form of a matched endpoint. `key` is the entry that `rmw_cyclonedds` adds: `clientid`, `serviceid`.
    ///
    /// Endpoints of the vendors in `headed` need no entry.
    fn of(endpoint: &EndpointInfo, key: &str, headed: &[VendorId]) -> Self {
        if has_header(endpoint, key) || headed.contains(&endpoint.vendor) { Self::Header } else { Self::InlineQos }
    }

    /// Returns the form of a request that names its own writer in the inline QoS.
    ///
    /// In contrast to `rmw_fastrtps`, `ros2-client` does so with `ServiceMapping::Cyclone`. Its header starts with the
    /// second half of the GUID. A request without this half has no header.
    pub(crate) fn of_own_name(writer: Guid, payload: &[u8]) -> Self {
        let has_header = payload.get(4..12).is_some_and(|half| half == &writer.to_bytes()[8..]);
        if has_header { Self::Header } else { Self::InlineQos }
    }
}

/// Whether an endpoint is of `rmw_cyclonedds`. `key` is the entry that it adds: `clientid`, `serviceid`.
pub(crate) fn has_header(endpoint: &EndpointInfo, key: &str) -> bool {
    endpoint.vendor == VendorId::CYCLONE && !is_outsider(endpoint, key)
}

/// Whether an endpoint is of a program outside of ROS 2, such as a tool that shows topics.
///
/// Endpoints of this crate and of `rmw_cyclonedds` have an entry with `key`. Those of other vendors have none.
fn is_outsider(endpoint: &EndpointInfo, key: &str) -> bool {
    let has_entry = [VendorId::OURS, VendorId::CYCLONE].contains(&endpoint.vendor);
    has_entry && user_data::value_of(endpoint.qos.user_data(), key).is_none()
}

/// Servers of both forms match.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mixed;

/// The peers as of a match, and how many matches there were.
///
/// A match may happen while a thread collects the peers, so the newer result stays.
#[derive(Debug)]
pub(crate) struct PeerCache {
    peers: Peers,
    /// The version of `peers`.
    collected: u64,
    /// Changed by each match.
    version: u64,
}

impl PeerCache {
    pub(crate) fn new() -> Self {
        Self { peers: Peers::default(), collected: 0, version: 1 }
    }

    /// Records that a match began or ended.
    pub(crate) fn rematch(&mut self) {
        self.version += 1;
    }

    /// The version to collect, or `None` if the peers are up to date.
    pub(crate) fn outdated(&self) -> Option<u64> {
        (self.collected != self.version).then_some(self.version)
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Stores peers whose collection began at `version`, unless newer ones are there.
    pub(crate) fn store(&mut self, version: u64, peers: Peers) {
        if version >= self.collected {
            self.collected = version;
            self.peers = peers;
        }
    }

    pub(crate) fn peers(&self) -> &Peers {
        &self.peers
    }
}

/// The matched endpoints of the peers of a client or a server. Bounded by the matches of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    /// Forms of the writers (of a server's clients), or of the readers (of a client's servers).
    forms: BTreeMap<Guid, Form>,
    /// Those of programs outside of ROS 2.
    outsiders: BTreeSet<Guid>,
    /// The endpoints of the other direction.
    back: Vec<Guid>,
}

impl Peers {
    /// Collects the endpoints: `there` has the requests, and `back` the replies.
    pub(crate) fn new(there: &[EndpointInfo], back: &[EndpointInfo], key: &str, headed: &[VendorId]) -> Self {
        let forms = there.iter().map(|endpoint| (endpoint.guid, Form::of(endpoint, key, headed))).collect();
        let outsiders = there.iter().filter(|endpoint| is_outsider(endpoint, key)).map(|endpoint| endpoint.guid);
        Self { forms, outsiders: outsiders.collect(), back: back.iter().map(|endpoint| endpoint.guid).collect() }
    }

    /// Peers of which only the endpoints for replies match.
    #[cfg(test)]
    pub(crate) fn with_back(back: Vec<Guid>) -> Self {
        Self { back, ..Self::default() }
    }

    pub(crate) fn form(&self, endpoint: Guid) -> Option<Form> {
        self.forms.get(&endpoint).copied()
    }

    pub(crate) fn has_back(&self, endpoint: Guid) -> bool {
        self.back.contains(&endpoint)
    }

    /// Whether an endpoint of this participant matches in the other direction.
    pub(crate) fn has_back_to(&self, participant: Prefix) -> bool {
        self.back.iter().any(|guid| prefix_of(*guid) == participant)
    }

    /// The form of all servers, also of those that match in one direction alone. `Err` if they differ.
    ///
    /// Each of them receives a request, so it must understand the request. A tool that only listens does not count.
    pub(crate) fn common_form(&self) -> Result<Option<Form>, Mixed> {
        let is_server = |guid: &Guid| !self.outsiders.contains(guid) || self.has_back_to(prefix_of(*guid));
        let mut forms = self.forms.iter().filter(|(guid, _)| is_server(guid)).map(|(_, form)| *form);
        let first = forms.next();
        if forms.all(|form| Some(form) == first) { Ok(first) } else { Err(Mixed) }
    }

    /// The participants that match in both directions.
    pub(crate) fn ready(&self) -> Vec<Prefix> {
        let mut ready: Vec<_> = self.forms.keys().map(|guid| prefix_of(*guid)).collect();
        ready.retain(|prefix| self.has_back_to(*prefix));
        ready.sort_unstable();
        ready.dedup();
        ready
    }

    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.forms.len(), self.back.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(count: u8) -> Peers {
        Peers::with_back((0..count).map(|number| Guid::from_bytes([number; 16])).collect())
    }

    #[test]
    fn server_of_another_form_mixes_before_its_replies_match() {
        let forms = BTreeMap::from([(Guid::from_bytes([1; 16]), Form::Header)]);
        let mut peers = Peers { forms, back: vec![Guid::from_bytes([1; 16])], ..Peers::default() };
        assert_eq!(peers.common_form(), Ok(Some(Form::Header)));
        peers.forms.insert(Guid::from_bytes([2; 16]), Form::InlineQos);
        assert_eq!((peers.ready().len(), peers.common_form()), (1, Err(Mixed)));
        // A tool that listens to the requests is no server.
        peers.outsiders.insert(Guid::from_bytes([2; 16]));
        assert_eq!(peers.common_form(), Ok(Some(Form::Header)));
        assert_eq!(Peers::default().common_form(), Ok(None));
    }

    #[test]
    fn header_with_the_own_guid_is_recognized() {
        let guid = Guid::from_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        let payload = [0, 1, 0, 0, 8, 9, 10, 11, 12, 13, 14, 15, 1];
        assert_eq!(Form::of_own_name(guid, &payload), Form::Header);
        assert_eq!(Form::of_own_name(guid, &payload[..11]), Form::InlineQos);
        assert_eq!(Form::of_own_name(guid, &[0; 13]), Form::InlineQos);
    }

    #[test]
    fn match_during_the_collection_leaves_the_cache_outdated() {
        let mut cache = PeerCache::new();
        let first = cache.outdated().unwrap();
        cache.rematch();
        cache.store(first, peers(1));
        assert_eq!(cache.peers().counts(), (0, 1));
        let second = cache.outdated().unwrap();
        cache.store(second, peers(2));
        assert_eq!(cache.outdated(), None);
        // A slower thread comes late with the older peers.
        cache.store(first, peers(1));
        assert_eq!((cache.peers().counts(), cache.outdated()), ((0, 2), None));
    }
}
