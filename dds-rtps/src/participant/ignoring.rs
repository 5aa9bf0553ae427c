//! Participants, endpoints and topics that the application wants to have nothing to do with (DDS 1.4, 2.2.2.2.1).

use super::Participant;
use crate::discovery::data::{EndpointData, PublicationData, SubscriptionData};
use crate::discovery::{Announced, Discovered, DiscoveredReader, DiscoveredWriter, ParticipantLoss};
use crate::types::{EntityId, Guid, GuidPrefix, Now};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// How many writers, and how many readers, are remembered as they were when they were ignored. Only diagnosis uses them.
const REMEMBERED_MAX: usize = 256;

/// What is ignored. The sets grow by the application's own calls alone.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    entities: BTreeSet<Guid>,
    /// By topic and type.
    topics: BTreeSet<(String, String)>,
    writers: VecDeque<Arc<DiscoveredWriter>>,
    readers: VecDeque<Arc<DiscoveredReader>>,
}

impl Ignored {
    pub(super) fn contains_participant(&self, prefix: GuidPrefix) -> bool {
        self.entities.contains(&Guid::new(prefix, EntityId::PARTICIPANT))
    }

    pub(super) fn contains(&self, endpoint: &EndpointData) -> bool {
        self.entities.contains(&endpoint.guid)
            || (!self.topics.is_empty() && self.topics.iter().any(|topic| is_of_topic(endpoint, topic)))
    }
}

impl Participant {
    /// Forgets a participant, now and for ever.
    pub fn ignore_participant(&mut self, now: Now, prefix: GuidPrefix) {
        for writer in self.matching.of::<PublicationData>(prefix) {
            remember(&mut self.ignored.writers, writer);
        }
        for reader in self.matching.of::<SubscriptionData>(prefix) {
            remember(&mut self.ignored.readers, reader);
        }
        self.ignored.entities.insert(Guid::new(prefix, EntityId::PARTICIPANT));
        self.lose(now, prefix, ParticipantLoss::Ignored);
    }

    /// Forgets an endpoint of another participant, now and for ever.
    pub fn ignore_endpoint(&mut self, guid: Guid) {
        if guid.prefix == self.config.prefix {
            return;
        }
        self.ignored.entities.insert(guid);
        if let Some(writer) = self.forget_endpoint::<PublicationData>(guid) {
            remember(&mut self.ignored.writers, writer);
        }
        if let Some(reader) = self.forget_endpoint::<SubscriptionData>(guid) {
            remember(&mut self.ignored.readers, reader);
        }
    }

    /// Forgets every endpoint of others that has this topic and type, now and for ever.
    pub fn ignore_topic(&mut self, name: &str, type_name: &str) {
        let topic = (name.to_owned(), type_name.to_owned());
        let writers = self.matching.writers().filter(|writer| is_of_topic(&writer.data.endpoint, &topic));
        let writers: Vec<Guid> = writers.map(|writer| writer.data.endpoint.guid).collect();
        let readers = self.matching.readers().filter(|reader| is_of_topic(&reader.data.endpoint, &topic));
        let readers: Vec<Guid> = readers.map(|reader| reader.data.endpoint.guid).collect();
        self.ignored.topics.insert(topic);
        for guid in writers {
            let writer = self.forget_endpoint::<PublicationData>(guid);
            writer.into_iter().for_each(|writer| remember(&mut self.ignored.writers, writer));
        }
        for guid in readers {
            let reader = self.forget_endpoint::<SubscriptionData>(guid);
            reader.into_iter().for_each(|reader| remember(&mut self.ignored.readers, reader));
        }
    }

    /// The writers that were ignored last, at most 256, as they were then.
    pub fn ignored_writers(&self) -> impl Iterator<Item = &Arc<DiscoveredWriter>> {
        self.ignored.writers.iter()
    }

    /// The readers that were ignored last, at most 256, as they were then.
    pub fn ignored_readers(&self) -> impl Iterator<Item = &Arc<DiscoveredReader>> {
        self.ignored.readers.iter()
    }

    /// Takes an endpoint of another participant out, if it is known.
    fn forget_endpoint<T: Announced>(&mut self, guid: Guid) -> Option<Arc<Discovered<T>>> {
        if guid.prefix == self.config.prefix {
            return None;
        }
        let known = self.matching.remove::<T>(guid, ParticipantLoss::Ignored)?;
        if let Some(peer) = self.peers.get_mut(&guid.prefix) {
            peer.endpoints = peer.endpoints.saturating_sub(1);
        }
        Some(known)
    }
}

fn is_of_topic(endpoint: &EndpointData, (name, type_name): &(String, String)) -> bool {
    endpoint.topic_name == *name && endpoint.type_name == *type_name
}

fn remember<T>(list: &mut VecDeque<T>, endpoint: T) {
    if list.len() == REMEMBERED_MAX {
        list.pop_front();
    }
    list.push_back(endpoint);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_was_ignored_the_latest_are_remembered() {
        let mut list = VecDeque::new();
        (0..REMEMBERED_MAX + 10).for_each(|number| remember(&mut list, number));
        assert_eq!((list.len(), list.front()), (REMEMBERED_MAX, Some(&10)));
    }
}
