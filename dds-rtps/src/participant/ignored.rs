//! Participants, endpoints and topics that the application ignores (DDS 1.4, 2.2.2.2.1).

use crate::discovery::data::EndpointData;
use crate::discovery::{DiscoveredReader, DiscoveredWriter};
use crate::types::{EntityId, Guid, GuidPrefix};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Most writers, and most readers, that are remembered as they were when they were ignored. They serve diagnosis only.
const REMEMBERED_MAX: usize = 256;

/// Ignored entities. The sets grow by calls of the application only.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    entities: BTreeSet<Guid>,
    /// By topic name and type name.
    topics: BTreeSet<(String, String)>,
    writers: VecDeque<Arc<DiscoveredWriter>>,
    readers: VecDeque<Arc<DiscoveredReader>>,
}

impl Ignored {
    pub(super) fn contains_participant(&self, prefix: GuidPrefix) -> bool {
        self.entities.contains(&Guid::new(prefix, EntityId::PARTICIPANT))
    }

    pub(super) fn contains(&self, endpoint: &EndpointData) -> bool {
        if self.entities.contains(&endpoint.guid) {
            return true;
        }
        self.topics.iter().any(|(name, type_name)| is_of_topic(endpoint, name, type_name))
    }

    pub(super) fn insert(&mut self, guid: Guid) {
        self.entities.insert(guid);
    }

    pub(super) fn insert_topic(&mut self, name: &str, type_name: &str) {
        self.topics.insert((name.to_owned(), type_name.to_owned()));
    }

    pub(super) fn remember_writer(&mut self, writer: Arc<DiscoveredWriter>) {
        remember(&mut self.writers, writer);
    }

    pub(super) fn remember_reader(&mut self, reader: Arc<DiscoveredReader>) {
        remember(&mut self.readers, reader);
    }

    pub(super) fn writers(&self) -> impl Iterator<Item = &Arc<DiscoveredWriter>> {
        self.writers.iter()
    }

    pub(super) fn readers(&self) -> impl Iterator<Item = &Arc<DiscoveredReader>> {
        self.readers.iter()
    }
}

pub(super) fn is_of_topic(endpoint: &EndpointData, name: &str, type_name: &str) -> bool {
    endpoint.topic_name == name && endpoint.type_name == type_name
}

/// Appends an endpoint; the oldest one makes room.
fn remember<T>(list: &mut VecDeque<T>, endpoint: T) {
    if list.len() == REMEMBERED_MAX {
        list.pop_front();
    }
    list.push_back(endpoint);
    debug_assert!(list.len() <= REMEMBERED_MAX, "the memory of ignored endpoints is bounded");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_endpoints_remember_the_latest() {
        let mut list = VecDeque::new();
        for number in 0..REMEMBERED_MAX + 10 {
            remember(&mut list, number);
        }
        assert_eq!((list.len(), list.front()), (REMEMBERED_MAX, Some(&10)));
    }
}
