//! Matches writers and readers by topic, type, partition and QoS, if there is a route between them.
//!
//! In: endpoints of this and of other participants that appear, change and vanish. Out: [`ParticipantEvent`]s for the
//! local ones. Owned: all endpoints, an index by topic, and a match result for each pair of a writer and a reader.
//! The two have the same topic, and at least one is local.
//!
//! Bound: the caller limits the endpoints. Results are limited by the local endpoints times the other endpoints of a
//! topic. Events are limited by the results that one change can affect, because the caller polls them after each
//! change.

use super::data::{PublicationData, SubscriptionData};
use super::endpoint_announcement::EndpointAnnouncement;
use super::event::{Discovered, DiscoveredReader, DiscoveredWriter, ParticipantEvent, ParticipantLoss};
use super::known_types::KnownTypes;
use super::match_result::{Differences, MatchResult};
use super::peer_security::{MatchPermission, PeerSecurity};
use super::route::Route;
use crate::qos::PolicyId;
use crate::types::{EntityId, Guid, GuidPrefix};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// All endpoints, and the match results of their pairs.
#[derive(Debug)]
pub struct Matching {
    own: GuidPrefix,
    writers: EndpointTable<PublicationData>,
    readers: EndpointTable<SubscriptionData>,
    topics: BTreeMap<String, TopicEndpoints>,
    /// By writer and reader.
    results: BTreeMap<(Guid, Guid), MatchResult>,
    events: VecDeque<ParticipantEvent>,
    types: KnownTypes,
    /// Whether the application observes all remote endpoints, matched or not.
    is_observed: bool,
    security: Option<Arc<dyn PeerSecurity>>,
}

/// All writers, or all readers.
type EndpointTable<T> = BTreeMap<Guid, Arc<Discovered<T>>>;

/// The endpoints of one topic.
#[derive(Debug, Default)]
pub struct TopicEndpoints {
    writers: BTreeSet<Guid>,
    readers: BTreeSet<Guid>,
}

/// One side of a match: writers or readers. It is public only as a bound of
/// [`EndpointAnnouncement`](super::EndpointAnnouncement), which it seals.
pub trait MatchSide: Sized {
    /// Returns the endpoints of this side.
    fn table(matching: &Matching) -> &EndpointTable<Self>;
    /// Returns the endpoints of this side for changes.
    fn table_mut(matching: &mut Matching) -> &mut EndpointTable<Self>;
    /// Returns the endpoints of this side of a topic, and those of the other side.
    fn split(topic: &mut TopicEndpoints) -> (&mut BTreeSet<Guid>, &BTreeSet<Guid>);
    /// Returns writer and reader, given one endpoint of this side and one of the other.
    fn pair(this: Guid, other: Guid) -> (Guid, Guid);
    /// Returns the event for an endpoint of this side that has appeared or changed.
    fn announced(endpoint: Arc<Discovered<Self>>) -> ParticipantEvent;
    /// Returns the event for an endpoint of this side that has vanished.
    fn withdrawn(guid: Guid, cause: ParticipantLoss) -> ParticipantEvent;
}

impl MatchSide for PublicationData {
    fn table(matching: &Matching) -> &EndpointTable<Self> {
        &matching.writers
    }

    fn table_mut(matching: &mut Matching) -> &mut EndpointTable<Self> {
        &mut matching.writers
    }

    fn split(topic: &mut TopicEndpoints) -> (&mut BTreeSet<Guid>, &BTreeSet<Guid>) {
        (&mut topic.writers, &topic.readers)
    }

    fn pair(this: Guid, other: Guid) -> (Guid, Guid) {
        (this, other)
    }

    fn announced(writer: Arc<DiscoveredWriter>) -> ParticipantEvent {
        ParticipantEvent::WriterAnnounced { writer }
    }

    fn withdrawn(writer: Guid, cause: ParticipantLoss) -> ParticipantEvent {
        ParticipantEvent::WriterWithdrawn { writer, cause }
    }
}

impl MatchSide for SubscriptionData {
    fn table(matching: &Matching) -> &EndpointTable<Self> {
        &matching.readers
    }

    fn table_mut(matching: &mut Matching) -> &mut EndpointTable<Self> {
        &mut matching.readers
    }

    fn split(topic: &mut TopicEndpoints) -> (&mut BTreeSet<Guid>, &BTreeSet<Guid>) {
        (&mut topic.readers, &topic.writers)
    }

    fn pair(this: Guid, other: Guid) -> (Guid, Guid) {
        (other, this)
    }

    fn announced(reader: Arc<DiscoveredReader>) -> ParticipantEvent {
        ParticipantEvent::ReaderAnnounced { reader }
    }

    fn withdrawn(reader: Guid, cause: ParticipantLoss) -> ParticipantEvent {
        ParticipantEvent::ReaderWithdrawn { reader, cause }
    }
}

impl Matching {
    /// Creates an empty set. Endpoints with the prefix `own` are local.
    #[must_use]
    pub fn new(own: GuidPrefix) -> Self {
        Self {
            own,
            writers: BTreeMap::new(),
            readers: BTreeMap::new(),
            topics: BTreeMap::new(),
            results: BTreeMap::new(),
            events: VecDeque::new(),
            types: KnownTypes::default(),
            is_observed: false,
            security: None,
        }
    }

    /// From now on the plugins of DDS Security decide about remote endpoints.
    pub fn set_security(&mut self, security: Arc<dyn PeerSecurity>) {
        self.security = Some(security);
    }

    /// From now on every remote endpoint that appears, changes or vanishes causes an event.
    pub fn observe(&mut self) {
        self.is_observed = true;
    }

    /// Adds or changes an endpoint. Returns false if it is known and unchanged.
    pub fn put<T: EndpointAnnouncement>(&mut self, endpoint: Arc<Discovered<T>>) -> bool {
        let guid = endpoint.data.endpoint().guid;
        let (mut is_news, mut is_verified_only) = (true, false);
        match T::table(self).get(&guid) {
            Some(known) if *known == endpoint => return false,
            // An endpoint of another topic is a new one: its matches end.
            Some(known) if known.data.endpoint().topic_name != endpoint.data.endpoint().topic_name => {
                self.remove::<T>(guid, ParticipantLoss::Left);
            }
            // A new route is no news for the application.
            Some(known) => {
                is_news = known.data != endpoint.data;
                let is_unverified = known.route.is_unverified;
                is_verified_only = !is_news && known.route == Route { is_unverified, ..endpoint.route.clone() };
            }
            None => {}
        }
        if is_news && self.is_observed && !endpoint.is_local {
            self.events.push_back(T::announced(Arc::clone(&endpoint)));
        }
        let topic = self.topics.entry(endpoint.data.endpoint().topic_name.clone()).or_default();
        // The endpoint must be in its table before a comparison reads it.
        let (own, others) = T::split(topic);
        own.insert(guid);
        // A copy, because each comparison changes `self`.
        let others: Vec<Guid> = others.iter().copied().collect();
        T::table_mut(self).insert(guid, endpoint);
        for other in others {
            let pair = T::pair(guid, other);
            // A match whose peer has only proved its address is the same as before.
            if !is_verified_only || self.results.get(&pair) != Some(&MatchResult::Matched) {
                self.compare(pair);
            }
        }
        true
    }

    /// Removes an endpoint, and returns it if it was known.
    pub fn remove<T: EndpointAnnouncement>(
        &mut self,
        guid: Guid,
        cause: ParticipantLoss,
    ) -> Option<Arc<Discovered<T>>> {
        let endpoint = T::table_mut(self).remove(&guid)?;
        if let Some(security) = &self.security {
            security.endpoint_removed(guid);
        }
        if self.is_observed && !endpoint.is_local {
            self.events.push_back(T::withdrawn(guid, cause));
        }
        let name = &endpoint.data.endpoint().topic_name;
        let Some(topic) = self.topics.get_mut(name) else {
            debug_assert!(false, "every endpoint is in the index of its topic");
            return Some(endpoint);
        };
        let (own, others) = T::split(topic);
        own.remove(&guid);
        let others: Vec<Guid> = others.iter().copied().collect();
        // Peers choose the names of topics, so unused names must not stay.
        if own.is_empty() && others.is_empty() {
            self.topics.remove(name);
        }
        for other in others {
            self.unmatch(T::pair(guid, other), cause.may_return());
        }
        Some(endpoint)
    }

    /// Whether an endpoint is known.
    pub fn contains<T: EndpointAnnouncement>(&self, guid: Guid) -> bool {
        T::table(self).contains_key(&guid)
    }

    /// Returns an endpoint, if it is known.
    pub fn endpoint<T: EndpointAnnouncement>(&self, guid: Guid) -> Option<&Arc<Discovered<T>>> {
        T::table(self).get(&guid)
    }

    /// Returns the endpoints of one participant, in the order of their ids.
    pub fn of<T: EndpointAnnouncement>(&self, prefix: GuidPrefix) -> Vec<Arc<Discovered<T>>> {
        T::table(self).range(span(prefix)).map(|(_, endpoint)| Arc::clone(endpoint)).collect()
    }

    /// Removes all endpoints of a participant.
    pub fn remove_participant(&mut self, prefix: GuidPrefix, cause: ParticipantLoss) {
        // First the types: removed endpoints must not request them again.
        self.types.forget(prefix);
        for writer in self.of::<PublicationData>(prefix) {
            self.remove::<PublicationData>(writer.data.endpoint.guid, cause);
        }
        for reader in self.of::<SubscriptionData>(prefix) {
            self.remove::<SubscriptionData>(reader.data.endpoint.guid, cause);
        }
    }

    /// Returns all writers, in the order of their GUIDs.
    pub fn writers(&self) -> impl Iterator<Item = &Arc<DiscoveredWriter>> {
        self.writers.values()
    }

    /// Returns all readers, in the order of their GUIDs.
    pub fn readers(&self) -> impl Iterator<Item = &Arc<DiscoveredReader>> {
        self.readers.values()
    }

    /// Returns the writers of a topic, in the order of their GUIDs.
    pub fn writers_of(&self, topic: &str) -> impl Iterator<Item = &Arc<DiscoveredWriter>> {
        let guids = self.topics.get(topic).into_iter().flat_map(|topic| &topic.writers);
        guids.filter_map(|guid| self.writers.get(guid))
    }

    /// Returns the readers of a topic, in the order of their GUIDs.
    pub fn readers_of(&self, topic: &str) -> impl Iterator<Item = &Arc<DiscoveredReader>> {
        let guids = self.topics.get(topic).into_iter().flat_map(|topic| &topic.readers);
        guids.filter_map(|guid| self.readers.get(guid))
    }

    /// Returns a writer, if it is known.
    #[must_use]
    pub fn writer(&self, guid: Guid) -> Option<&Arc<DiscoveredWriter>> {
        self.writers.get(&guid)
    }

    /// Returns a reader, if it is known.
    #[must_use]
    pub fn reader(&self, guid: Guid) -> Option<&Arc<DiscoveredReader>> {
        self.readers.get(&guid)
    }

    /// Returns the match result of a pair; `None` if it has different topics or no local endpoint.
    #[must_use]
    pub fn result(&self, writer: Guid, reader: Guid) -> Option<&MatchResult> {
        self.results.get(&(writer, reader))
    }

    /// Compares a writer with a reader of the same topic, and returns all differences.
    #[must_use]
    pub fn differences(&self, writer: &DiscoveredWriter, reader: &DiscoveredReader) -> Differences {
        Differences::between(writer, reader, self.types.known(writer, reader))
    }

    /// Returns the known types.
    #[must_use]
    pub fn types(&self) -> &KnownTypes {
        &self.types
    }

    /// Returns the known types for changes. Call [`compare_pending`](Self::compare_pending) afterward.
    pub fn types_mut(&mut self) -> &mut KnownTypes {
        &mut self.types
    }

    /// Compares the pairs again that wait for type descriptions.
    pub fn compare_pending(&mut self) {
        let mut pending = Vec::new();
        for (pair, result) in &self.results {
            if *result == MatchResult::TypePending {
                pending.push(*pair);
            }
        }
        for pair in pending {
            self.compare(pair);
        }
    }

    /// Compares the pairs of an endpoint again that wait for keys or were refused.
    pub fn compare_keys_of(&mut self, endpoint: Guid) {
        let mut pending = Vec::new();
        for (pair @ (writer, reader), result) in &self.results {
            let depends_on_keys = matches!(result, MatchResult::KeysPending | MatchResult::Refused(_));
            if depends_on_keys && (*writer == endpoint || *reader == endpoint) {
                pending.push(*pair);
            }
        }
        for pair in pending {
            self.compare(pair);
        }
    }

    /// Returns all match results, as writer, reader and result.
    pub fn results(&self) -> impl Iterator<Item = (Guid, Guid, &MatchResult)> {
        self.results.iter().map(|(&(writer, reader), result)| (writer, reader, result))
    }

    /// Adds an event behind the present ones.
    pub fn push_event(&mut self, event: ParticipantEvent) {
        self.events.push_back(event);
    }

    /// Returns the oldest event that was not polled yet.
    pub fn poll_event(&mut self) -> Option<ParticipantEvent> {
        self.events.pop_front()
    }

    /// Whether there are events to poll.
    #[must_use]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Compares a writer with a reader, and adds the events that follow from a changed result.
    fn compare(&mut self, (writer, reader): (Guid, Guid)) {
        // Pairs of remote endpoints concern other participants.
        if writer.prefix != self.own && reader.prefix != self.own {
            return;
        }
        let (Some(w), Some(r)) = (self.writers.get(&writer), self.readers.get(&reader)) else {
            debug_assert!(false, "the index of topics has known endpoints only");
            return;
        };
        let types = self.types.compare(w, r);
        let mut result = Differences::between(w, r, types).result();
        // The plugins come last, because their first answer may begin an exchange of keys.
        if result == MatchResult::Matched {
            result = self.permission(w, r);
        }
        let (w, r) = (Arc::clone(w), Arc::clone(r));
        // Only a changed result causes an event: peers repeat their announcements.
        let before = self.results.insert((writer, reader), result.clone());
        if before == Some(MatchResult::Matched) && result != MatchResult::Matched {
            // Both endpoints still exist. So the match has ended for the peer as well.
            self.push_unmatched(writer, reader, false);
        }
        match result {
            // A repeated match replaces the one before: locators or QoS have changed.
            MatchResult::Matched => self.push_matched(w, r),
            result if before.as_ref() == Some(&result) => {}
            MatchResult::Incompatible(policies) => self.push_incompatible(writer, reader, policies),
            MatchResult::TypeName | MatchResult::Type(_) => self.push_inconsistent(writer, reader),
            MatchResult::Refused(_) => self.push_refused(writer, reader),
            MatchResult::Partition | MatchResult::Unreachable | MatchResult::TypePending | MatchResult::KeysPending => {
            }
        }
    }

    /// Returns why DDS Security keeps two endpoints of other participants apart, as far as this one knows.
    pub fn refusal_of_others(&self, writer: &DiscoveredWriter, reader: &DiscoveredReader) -> Option<Box<str>> {
        self.security.as_ref()?.check_others(&writer.data.endpoint, &reader.data.endpoint).err()
    }

    /// Returns what the plugins of DDS Security say about two endpoints that match otherwise.
    fn permission(&self, writer: &DiscoveredWriter, reader: &DiscoveredReader) -> MatchResult {
        match &self.security {
            Some(security) if !writer.is_local || !reader.is_local => match security.check_match(writer, reader) {
                MatchPermission::Granted => MatchResult::Matched,
                MatchPermission::KeysPending => MatchResult::KeysPending,
                MatchPermission::Refused(reason) => MatchResult::Refused(reason),
            },
            _ => MatchResult::Matched,
        }
    }

    /// Ends a pair, one of whose endpoints has vanished.
    fn unmatch(&mut self, (writer, reader): (Guid, Guid), may_return: bool) {
        if self.results.remove(&(writer, reader)) == Some(MatchResult::Matched) {
            self.push_unmatched(writer, reader, may_return);
        }
    }

    fn push_matched(&mut self, writer: Arc<DiscoveredWriter>, reader: Arc<DiscoveredReader>) {
        let (writer_id, reader_id) = (writer.data.endpoint.guid.entity_id, reader.data.endpoint.guid.entity_id);
        if writer.is_local {
            let reader = Arc::clone(&reader);
            self.events.push_back(ParticipantEvent::ReaderMatched { writer: writer_id, reader });
        }
        if reader.is_local {
            self.events.push_back(ParticipantEvent::WriterMatched { reader: reader_id, writer });
        }
    }

    fn push_unmatched(&mut self, writer: Guid, reader: Guid, may_return: bool) {
        if let Some(writer) = self.local(writer) {
            self.events.push_back(ParticipantEvent::ReaderUnmatched { writer, reader, may_return });
        }
        if let Some(reader) = self.local(reader) {
            self.events.push_back(ParticipantEvent::WriterUnmatched { reader, writer });
        }
    }

    fn push_incompatible(&mut self, writer: Guid, reader: Guid, policies: SmallVec<[PolicyId; 4]>) {
        if let Some(writer) = self.local(writer) {
            let policies = policies.clone();
            self.events.push_back(ParticipantEvent::OfferedIncompatibleQos { writer, reader, policies });
        }
        if let Some(reader) = self.local(reader) {
            self.events.push_back(ParticipantEvent::RequestedIncompatibleQos { reader, writer, policies });
        }
    }

    fn push_inconsistent(&mut self, writer: Guid, reader: Guid) {
        for (local, remote) in [(writer, reader), (reader, writer)] {
            if let Some(local) = self.local(local) {
                self.events.push_back(ParticipantEvent::InconsistentTopic { local, remote });
            }
        }
    }

    fn push_refused(&mut self, writer: Guid, reader: Guid) {
        for (local, remote) in [(writer, reader), (reader, writer)] {
            if let Some(local) = self.local(local) {
                self.events.push_back(ParticipantEvent::MatchRefused { local, remote });
            }
        }
    }

    fn local(&self, guid: Guid) -> Option<EntityId> {
        if guid.prefix == self.own { Some(guid.entity_id) } else { None }
    }
}

/// Returns the range of all GUIDs of one participant.
fn span(prefix: GuidPrefix) -> std::ops::RangeInclusive<Guid> {
    Guid::new(prefix, EntityId([0; 4]))..=Guid::new(prefix, EntityId([0xff; 4]))
}

impl<T> Discovered<T> {
    /// Wraps the data of a local endpoint.
    #[must_use]
    pub fn local(data: T) -> Self {
        let vendor = crate::types::VendorId::OURS;
        Self { data, route: Default::default(), vendor, is_local: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::data::EndpointData;
    use crate::qos::{DataReaderQos, DataWriterQos};
    use crate::types::{EntityKind, Locator, VendorId};

    const OURS: GuidPrefix = GuidPrefix([1; 12]);
    const THEIRS: GuidPrefix = GuidPrefix([2; 12]);

    fn writer_id() -> EntityId {
        EntityId::user(1, EntityKind::WriterWithKey)
    }

    fn reader_id() -> EntityId {
        EntityId::user(2, EntityKind::ReaderWithKey)
    }

    fn route() -> Route {
        Route { unicast: [Locator::udp_v4([10, 0, 0, 1].into(), 7411)].into_iter().collect(), ..Route::default() }
    }

    fn writer(prefix: GuidPrefix, change: impl FnOnce(&mut PublicationData)) -> Arc<DiscoveredWriter> {
        let endpoint = EndpointData::new(Guid::new(prefix, writer_id()), "Square", "ShapeType");
        let mut data = PublicationData::new(endpoint, DataWriterQos::default(), true);
        change(&mut data);
        Arc::new(Discovered { data, route: route(), vendor: VendorId::OURS, is_local: prefix == OURS })
    }

    fn reader(prefix: GuidPrefix, change: impl FnOnce(&mut SubscriptionData)) -> Arc<DiscoveredReader> {
        let endpoint = EndpointData::new(Guid::new(prefix, reader_id()), "Square", "ShapeType");
        let mut data = SubscriptionData::new(endpoint, DataReaderQos::default());
        change(&mut data);
        Arc::new(Discovered { data, route: route(), vendor: VendorId::OURS, is_local: prefix == OURS })
    }

    fn events(matching: &mut Matching) -> Vec<ParticipantEvent> {
        std::iter::from_fn(|| matching.poll_event()).collect()
    }

    #[test]
    fn match_event_goes_to_the_local_side() {
        let mut matching = Matching::new(OURS);
        let theirs = reader(THEIRS, |_| {});
        matching.put(Arc::clone(&theirs));
        assert!(events(&mut matching).is_empty());
        matching.put(writer(OURS, |_| {}));
        assert_eq!(events(&mut matching), [ParticipantEvent::ReaderMatched { writer: writer_id(), reader: theirs }]);
    }

    #[test]
    fn local_match_has_events_for_both_sides() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        matching.put(reader(OURS, |_| {}));
        let told = events(&mut matching);
        assert!(matches!(&told[0], ParticipantEvent::ReaderMatched { reader, .. } if reader.is_local));
        assert!(matches!(&told[1], ParticipantEvent::WriterMatched { writer, .. } if writer.is_local));
        assert_eq!(told.len(), 2);
    }

    #[test]
    fn known_endpoints_and_results_are_returned() {
        let mut matching = Matching::new(OURS);
        let [w, r] = [Guid::new(OURS, writer_id()), Guid::new(THEIRS, reader_id())];
        assert!(!matching.contains::<PublicationData>(w) && matching.writer(w).is_none());
        matching.put(writer(OURS, |_| {}));
        assert!(matching.contains::<PublicationData>(w) && !matching.contains::<SubscriptionData>(r));
        assert_eq!((matching.reader(r).is_some(), matching.result(w, r)), (false, None));
        matching.put(reader(THEIRS, |_| {}));
        assert!(matching.writer(w).is_some() && matching.reader(r).is_some());
        assert_eq!(matching.result(w, r), Some(&MatchResult::Matched));
    }

    #[test]
    fn topic_survives_its_first_endpoint() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        matching.put(reader(THEIRS, |_| {}));
        matching.remove::<PublicationData>(Guid::new(OURS, writer_id()), ParticipantLoss::Left);
        events(&mut matching);
        matching.put(writer(OURS, |_| {}));
        assert!(matches!(events(&mut matching)[..], [ParticipantEvent::ReaderMatched { .. }]));
    }

    #[test]
    fn type_validation_ignores_local_pairs() {
        let validates = |data: &mut SubscriptionData| data.qos.type_consistency.force_type_validation = true;
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        matching.put(reader(OURS, validates));
        matching.put(reader(THEIRS, validates));
        let result = |prefix| matching.result(Guid::new(OURS, writer_id()), Guid::new(prefix, reader_id())).unwrap();
        assert_eq!(result(OURS), &MatchResult::Matched);
        assert!(matches!(result(THEIRS), MatchResult::Incompatible(_)));
    }

    #[test]
    fn pair_of_remote_endpoints_is_ignored() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(THEIRS, |_| {}));
        matching.put(reader(GuidPrefix([3; 12]), |_| {}));
        assert!(events(&mut matching).is_empty());
        assert_eq!(matching.results().count(), 0);
    }

    #[test]
    fn repeated_announcement_changes_nothing() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        assert!(matching.put(reader(THEIRS, |_| {})));
        assert_eq!(events(&mut matching).len(), 1);
        assert!(!matching.put(reader(THEIRS, |_| {})));
        assert!(events(&mut matching).is_empty());
    }

    #[test]
    fn changed_announcement_is_compared_again() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |data| data.endpoint.partition = vec!["a".to_owned()]));
        matching.put(reader(THEIRS, |_| {}));
        assert_eq!(matching.results().next().unwrap().2, &MatchResult::Partition);
        assert!(events(&mut matching).is_empty());
        matching.put(reader(THEIRS, |data| data.endpoint.partition = vec!["*".to_owned()]));
        assert!(matches!(events(&mut matching)[..], [ParticipantEvent::ReaderMatched { .. }]));
        matching.put(reader(THEIRS, |data| {
            data.endpoint.partition = vec!["*".to_owned()];
            data.qos.durability = crate::qos::Durability::TransientLocal;
        }));
        let told = events(&mut matching);
        assert!(matches!(told[0], ParticipantEvent::ReaderUnmatched { .. }));
        assert!(matches!(&told[1], ParticipantEvent::OfferedIncompatibleQos { policies, .. }
            if policies[..] == [PolicyId::Durability]));
    }

    #[test]
    fn incompatible_pair_causes_one_event() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(THEIRS, |data| data.qos = data.qos.clone().best_effort()));
        matching.put(reader(OURS, |data| data.qos = data.qos.clone().reliable()));
        assert!(matches!(&events(&mut matching)[..],
            [ParticipantEvent::RequestedIncompatibleQos { policies, .. }] if policies[..] == [PolicyId::Reliability]));
        matching.put(writer(THEIRS, |data| {
            data.qos = data.qos.clone().best_effort().lifespan(crate::types::Duration::ZERO);
        }));
        assert!(events(&mut matching).is_empty());
    }

    #[test]
    fn different_type_name_is_an_inconsistent_topic() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        matching.put(reader(THEIRS, |data| data.endpoint.type_name = "Other".to_owned()));
        let remote = Guid::new(THEIRS, reader_id());
        assert_eq!(events(&mut matching), [ParticipantEvent::InconsistentTopic { local: writer_id(), remote }]);
    }

    #[test]
    fn endpoint_without_usable_locators_is_unreachable() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        let mut unreachable = Arc::unwrap_or_clone(reader(THEIRS, |_| {}));
        unreachable.route = Route::default();
        matching.put(Arc::new(unreachable));
        assert!(events(&mut matching).is_empty());
        assert_eq!(matching.results().next().unwrap().2, &MatchResult::Unreachable);
    }

    #[test]
    fn lost_participant_loses_its_endpoints() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        matching.put(reader(OURS, |_| {}));
        matching.put(writer(THEIRS, |_| {}));
        matching.put(reader(THEIRS, |_| {}));
        events(&mut matching);
        matching.remove_participant(THEIRS, ParticipantLoss::Left);
        assert_eq!(
            events(&mut matching),
            [
                ParticipantEvent::WriterUnmatched { reader: reader_id(), writer: Guid::new(THEIRS, writer_id()) },
                ParticipantEvent::ReaderUnmatched {
                    writer: writer_id(),
                    reader: Guid::new(THEIRS, reader_id()),
                    may_return: false,
                },
            ]
        );
        assert_eq!(matching.writers().count(), 1);
        matching.remove_participant(OURS, ParticipantLoss::Left);
        assert!(matching.topics.is_empty() && matching.results.is_empty());
    }

    #[test]
    fn changed_topic_ends_the_old_match() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        matching.put(reader(THEIRS, |_| {}));
        events(&mut matching);
        matching.put(reader(THEIRS, |data| data.endpoint.topic_name = "Circle".to_owned()));
        assert!(matches!(events(&mut matching)[..], [ParticipantEvent::ReaderUnmatched { .. }]));
    }

    #[test]
    fn remote_endpoints_are_reported_when_observed() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(THEIRS, |_| {}));
        assert!(events(&mut matching).is_empty());
        matching.observe();
        matching.put(writer(OURS, |_| {}));
        matching.put(reader(THEIRS, |data| data.endpoint.type_name = "Other".to_owned()));
        let told = events(&mut matching);
        assert!(matches!(&told[0], ParticipantEvent::ReaderAnnounced { .. }), "{told:?}");
        matching.remove_participant(THEIRS, ParticipantLoss::LeaseExpired);
        let cause = ParticipantLoss::LeaseExpired;
        let (writer, reader) = (Guid::new(THEIRS, writer_id()), Guid::new(THEIRS, reader_id()));
        assert_eq!(
            events(&mut matching),
            [ParticipantEvent::WriterWithdrawn { writer, cause }, ParticipantEvent::ReaderWithdrawn { reader, cause }]
        );
        matching.remove_participant(OURS, cause);
        assert!(events(&mut matching).is_empty());
    }

    #[test]
    fn all_differences_are_listed_first_decides() {
        let differences = Differences::between(
            &writer(OURS, |data| data.qos = data.qos.clone().best_effort()),
            &reader(THEIRS, |data| {
                data.endpoint.type_name = "Other".to_owned();
                data.endpoint.partition = vec!["a".to_owned()];
                data.qos = data.qos.clone().reliable();
            }),
            crate::discovery::match_result::TypeMatch::ByName,
        );
        assert!(differences.type_name && differences.partition && !differences.unreachable);
        assert_eq!(differences.policies[..], [PolicyId::Reliability]);
        assert_eq!(differences.result(), MatchResult::TypeName);
    }
}
