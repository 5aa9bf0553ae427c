//! The form of requests and replies that a peer understands.

use crate::graph::{Prefix, prefix_of};
use crate::user_data;
use dds_core::Guid;
use dds_core::builtin::VendorId;
use dds_core::matching::EndpointInfo;
use std::collections::BTreeMap;

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
    /// Without this entry, an endpoint of Cyclone DDS belongs to a program outside of ROS 2.
    fn of(endpoint: &EndpointInfo, key: &str) -> Self {
        let has_identity = user_data::value_of(endpoint.qos.user_data(), key).is_some();
        if endpoint.vendor == VendorId::CYCLONE && has_identity { Self::Header } else { Self::InlineQos }
    }
}

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
    /// The endpoints of the other direction.
    back: Vec<Guid>,
}

impl Peers {
    /// Collects the endpoints: `there` has the requests, and `back` the replies.
    pub(crate) fn new(there: &[EndpointInfo], back: &[EndpointInfo], key: &str) -> Self {
        let forms = there.iter().map(|endpoint| (endpoint.guid, Form::of(endpoint, key))).collect();
        Self { forms, back: back.iter().map(|endpoint| endpoint.guid).collect() }
    }

    /// Peers of which only the endpoints for replies match.
    #[cfg(test)]
    pub(crate) fn with_back(back: Vec<Guid>) -> Self {
        Self { forms: BTreeMap::new(), back }
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

    /// The participants that match in both directions, with their form.
    pub(crate) fn ready(&self) -> Vec<(Prefix, Form)> {
        let ready = self.forms.iter().map(|(guid, form)| (prefix_of(*guid), *form));
        let mut ready: Vec<_> = ready.filter(|(prefix, _)| self.has_back_to(*prefix)).collect();
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
