//! Which writers and readers fit: by topic, type, partition and QoS, if there is a way between them.
//!
//! In: endpoints that come, change and go, of this participant and of others. Out: [`ParticipantEvent`]s for the local
//! ones. Owned: all endpoints, an index by topic, and the verdict on each pair of a writer and a reader of one topic of
//! which at least one is local.
//!
//! Bound: endpoints are bounded by whoever adds them; verdicts by local times other endpoints of a topic; events by the
//! verdicts that one change can touch, for they are polled after each.

use super::announced::Announced;
use super::data::{PublicationData, SubscriptionData};
use super::event::{Discovered, DiscoveredReader, DiscoveredWriter, ParticipantEvent, ParticipantLoss};
use super::known_types::KnownTypes;
use super::verdict::{Differences, Verdict};
use crate::qos::PolicyId;
use crate::types::{EntityId, Guid, GuidPrefix};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// All endpoints, and what fits.
#[derive(Debug)]
pub struct Matching {
    own: GuidPrefix,
    writers: Table<PublicationData>,
    readers: Table<SubscriptionData>,
    topics: BTreeMap<String, Topic>,
    /// By writer and reader.
    verdicts: BTreeMap<(Guid, Guid), Verdict>,
    events: VecDeque<ParticipantEvent>,
    types: KnownTypes,
    /// Somebody wants to hear of every endpoint of others, whether it matches or not.
    is_observed: bool,
}

/// All writers, or all readers.
type Table<T> = BTreeMap<Guid, Arc<Discovered<T>>>;

/// The endpoints of one topic.
#[derive(Debug, Default)]
pub struct Topic {
    writers: BTreeSet<Guid>,
    readers: BTreeSet<Guid>,
}

/// One side of a match: that of the writers, or that of the readers. It is public only as a bound of
/// [`Announced`](super::Announced), which it seals.
pub trait Side: Sized {
    /// Its endpoints.
    fn table(matching: &Matching) -> &Table<Self>;
    /// The same, to change them.
    fn table_mut(matching: &mut Matching) -> &mut Table<Self>;
    /// The endpoints of this side in a topic, and those of the other.
    fn split(topic: &mut Topic) -> (&mut BTreeSet<Guid>, &BTreeSet<Guid>);
    /// Writer and reader, of one endpoint of this side and one of the other.
    fn pair(this: Guid, other: Guid) -> (Guid, Guid);
    /// The event that an endpoint of this side has come or changed.
    fn announced(endpoint: Arc<Discovered<Self>>) -> ParticipantEvent;
    /// The event that an endpoint of this side is gone.
    fn withdrawn(guid: Guid, cause: ParticipantLoss) -> ParticipantEvent;
}

impl Side for PublicationData {
    fn table(matching: &Matching) -> &Table<Self> {
        &matching.writers
    }

    fn table_mut(matching: &mut Matching) -> &mut Table<Self> {
        &mut matching.writers
    }

    fn split(topic: &mut Topic) -> (&mut BTreeSet<Guid>, &BTreeSet<Guid>) {
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

impl Side for SubscriptionData {
    fn table(matching: &Matching) -> &Table<Self> {
        &matching.readers
    }

    fn table_mut(matching: &mut Matching) -> &mut Table<Self> {
        &mut matching.readers
    }

    fn split(topic: &mut Topic) -> (&mut BTreeSet<Guid>, &BTreeSet<Guid>) {
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
    /// No endpoints; local are those with the prefix `own`.
    #[must_use]
    pub fn new(own: GuidPrefix) -> Self {
        Self {
            own,
            writers: BTreeMap::new(),
            readers: BTreeMap::new(),
            topics: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            events: VecDeque::new(),
            types: KnownTypes::default(),
            is_observed: false,
        }
    }

    /// From now on there are events for every endpoint of others that comes, changes or goes.
    pub fn observe(&mut self) {
        self.is_observed = true;
    }

    /// An endpoint has come, or has changed. `false`: it was known and is as it was.
    pub fn put<T: Announced>(&mut self, endpoint: Arc<Discovered<T>>) -> bool {
        let guid = endpoint.data.endpoint().guid;
        match T::table(self).get(&guid) {
            Some(known) if *known == endpoint => return false,
            Some(known) if known.data.endpoint().topic_name != endpoint.data.endpoint().topic_name => {
                self.remove::<T>(guid, ParticipantLoss::Left);
            }
            _ => {}
        }
        if self.is_observed && !endpoint.is_local {
            self.events.push_back(T::announced(Arc::clone(&endpoint)));
        }
        let topic = self.topics.entry(endpoint.data.endpoint().topic_name.clone()).or_default();
        let (own, others) = T::split(topic);
        own.insert(guid);
        let others: Vec<Guid> = others.iter().copied().collect();
        T::table_mut(self).insert(guid, endpoint);
        others.into_iter().for_each(|other| self.judge(T::pair(guid, other)));
        true
    }

    /// An endpoint is gone. What it was, if it was known.
    pub fn remove<T: Announced>(&mut self, guid: Guid, cause: ParticipantLoss) -> Option<Arc<Discovered<T>>> {
        let endpoint = T::table_mut(self).remove(&guid)?;
        if self.is_observed && !endpoint.is_local {
            self.events.push_back(T::withdrawn(guid, cause));
        }
        let name = &endpoint.data.endpoint().topic_name;
        if let Some(topic) = self.topics.get_mut(name) {
            let (own, others) = T::split(topic);
            own.remove(&guid);
            let others: Vec<Guid> = others.iter().copied().collect();
            if own.is_empty() && others.is_empty() {
                self.topics.remove(name);
            }
            others.into_iter().for_each(|other| self.part(T::pair(guid, other), cause.comes_back()));
        }
        Some(endpoint)
    }

    /// Whether an endpoint is known.
    pub fn knows<T: Announced>(&self, guid: Guid) -> bool {
        T::table(self).contains_key(&guid)
    }

    /// The endpoints of one participant, by growing id.
    pub fn of<T: Announced>(&self, prefix: GuidPrefix) -> Vec<Arc<Discovered<T>>> {
        T::table(self).range(span(prefix)).map(|(_, endpoint)| Arc::clone(endpoint)).collect()
    }

    /// Every endpoint of a participant is gone.
    pub fn remove_participant(&mut self, prefix: GuidPrefix, cause: ParticipantLoss) {
        self.types.forget(prefix);
        for writer in self.of::<PublicationData>(prefix) {
            self.remove::<PublicationData>(writer.data.endpoint.guid, cause);
        }
        for reader in self.of::<SubscriptionData>(prefix) {
            self.remove::<SubscriptionData>(reader.data.endpoint.guid, cause);
        }
    }

    /// All writers, by growing GUID.
    pub fn writers(&self) -> impl Iterator<Item = &Arc<DiscoveredWriter>> {
        self.writers.values()
    }

    /// All readers, by growing GUID.
    pub fn readers(&self) -> impl Iterator<Item = &Arc<DiscoveredReader>> {
        self.readers.values()
    }

    /// The writers of a topic, by growing GUID.
    pub fn writers_of(&self, topic: &str) -> impl Iterator<Item = &Arc<DiscoveredWriter>> {
        let guids = self.topics.get(topic).into_iter().flat_map(|topic| &topic.writers);
        guids.filter_map(|guid| self.writers.get(guid))
    }

    /// The readers of a topic, by growing GUID.
    pub fn readers_of(&self, topic: &str) -> impl Iterator<Item = &Arc<DiscoveredReader>> {
        let guids = self.topics.get(topic).into_iter().flat_map(|topic| &topic.readers);
        guids.filter_map(|guid| self.readers.get(guid))
    }

    /// A writer.
    #[must_use]
    pub fn writer(&self, guid: Guid) -> Option<&Arc<DiscoveredWriter>> {
        self.writers.get(&guid)
    }

    /// A reader.
    #[must_use]
    pub fn reader(&self, guid: Guid) -> Option<&Arc<DiscoveredReader>> {
        self.readers.get(&guid)
    }

    /// Whether a writer and a reader fit, and if not, why; `None` if they are not of one topic, or neither is local.
    #[must_use]
    pub fn verdict(&self, writer: Guid, reader: Guid) -> Option<&Verdict> {
        self.verdicts.get(&(writer, reader))
    }

    /// Everything that stands between a writer and a reader of one topic.
    #[must_use]
    pub fn differences(&self, writer: &DiscoveredWriter, reader: &DiscoveredReader) -> Differences {
        Differences::between(writer, reader, self.types.known(writer, reader))
    }

    /// The types that are known.
    #[must_use]
    pub fn types(&self) -> &KnownTypes {
        &self.types
    }

    /// The same, to change them. [`judge_pending`](Self::judge_pending) says what follows.
    pub fn types_mut(&mut self) -> &mut KnownTypes {
        &mut self.types
    }

    /// Compares those pairs anew that wait for descriptions of types.
    pub fn judge_pending(&mut self) {
        let pending = self.verdicts.iter().filter(|(_, verdict)| **verdict == Verdict::TypePending);
        let pending: Vec<(Guid, Guid)> = pending.map(|(pair, _)| *pair).collect();
        pending.into_iter().for_each(|pair| self.judge(pair));
    }

    /// All verdicts, as writer, reader, verdict.
    pub fn verdicts(&self) -> impl Iterator<Item = (Guid, Guid, &Verdict)> {
        self.verdicts.iter().map(|(&(writer, reader), verdict)| (writer, reader, verdict))
    }

    /// Adds an event behind those of the matches before it.
    pub fn push_event(&mut self, event: ParticipantEvent) {
        self.events.push_back(event);
    }

    /// The oldest event that has not been polled.
    pub fn poll_event(&mut self) -> Option<ParticipantEvent> {
        self.events.pop_front()
    }

    /// Whether there is one.
    #[must_use]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Compares a writer with a reader anew, and tells what follows.
    fn judge(&mut self, (writer, reader): (Guid, Guid)) {
        if writer.prefix != self.own && reader.prefix != self.own {
            return;
        }
        let (Some(w), Some(r)) = (self.writers.get(&writer), self.readers.get(&reader)) else { return };
        let types = self.types.compare(w, r);
        let verdict = Differences::between(w, r, types).verdict();
        let (w, r) = (Arc::clone(w), Arc::clone(r));
        let before = self.verdicts.insert((writer, reader), verdict.clone());
        if before == Some(Verdict::Matched) && verdict != Verdict::Matched {
            self.tell_parted(writer, reader, false);
        }
        match verdict {
            Verdict::Matched => self.tell_matched(w, r),
            verdict if before.as_ref() == Some(&verdict) => {}
            Verdict::Incompatible(policies) => self.tell_incompatible(writer, reader, policies),
            Verdict::TypeName | Verdict::Type(_) => self.tell_inconsistent(writer, reader),
            Verdict::Partition | Verdict::Unreachable | Verdict::TypePending => {}
        }
    }

    /// A pair of which one is gone.
    fn part(&mut self, (writer, reader): (Guid, Guid), comes_back: bool) {
        if self.verdicts.remove(&(writer, reader)) == Some(Verdict::Matched) {
            self.tell_parted(writer, reader, comes_back);
        }
    }

    fn tell_matched(&mut self, writer: Arc<DiscoveredWriter>, reader: Arc<DiscoveredReader>) {
        let (writer_id, reader_id) = (writer.data.endpoint.guid.entity_id, reader.data.endpoint.guid.entity_id);
        if writer.is_local {
            let reader = Arc::clone(&reader);
            self.events.push_back(ParticipantEvent::ReaderMatched { writer: writer_id, reader });
        }
        if reader.is_local {
            self.events.push_back(ParticipantEvent::WriterMatched { reader: reader_id, writer });
        }
    }

    fn tell_parted(&mut self, writer: Guid, reader: Guid, comes_back: bool) {
        if let Some(writer) = self.local(writer) {
            self.events.push_back(ParticipantEvent::ReaderUnmatched { writer, reader, comes_back });
        }
        if let Some(reader) = self.local(reader) {
            self.events.push_back(ParticipantEvent::WriterUnmatched { reader, writer });
        }
    }

    fn tell_incompatible(&mut self, writer: Guid, reader: Guid, policies: SmallVec<[PolicyId; 4]>) {
        if let Some(writer) = self.local(writer) {
            let policies = policies.clone();
            self.events.push_back(ParticipantEvent::OfferedIncompatibleQos { writer, reader, policies });
        }
        if let Some(reader) = self.local(reader) {
            self.events.push_back(ParticipantEvent::RequestedIncompatibleQos { reader, writer, policies });
        }
    }

    fn tell_inconsistent(&mut self, writer: Guid, reader: Guid) {
        for (local, remote) in [(writer, reader), (reader, writer)] {
            if let Some(local) = self.local(local) {
                self.events.push_back(ParticipantEvent::InconsistentTopic { local, remote });
            }
        }
    }

    fn local(&self, guid: Guid) -> Option<EntityId> {
        (guid.prefix == self.own).then_some(guid.entity_id)
    }
}

/// Every GUID of one participant.
fn span(prefix: GuidPrefix) -> std::ops::RangeInclusive<Guid> {
    Guid::new(prefix, EntityId([0; 4]))..=Guid::new(prefix, EntityId([0xff; 4]))
}

impl<T> Discovered<T> {
    /// One of this participant's own.
    #[must_use]
    pub fn local(data: T) -> Self {
        let vendor = crate::types::VendorId::OURS;
        Self { data, reach: Default::default(), vendor, is_local: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::Reach;
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

    fn reach() -> Reach {
        Reach { unicast: [Locator::udp_v4([10, 0, 0, 1].into(), 7411)].into_iter().collect(), ..Reach::default() }
    }

    fn writer(prefix: GuidPrefix, change: impl FnOnce(&mut PublicationData)) -> Arc<DiscoveredWriter> {
        let endpoint = EndpointData::new(Guid::new(prefix, writer_id()), "Square", "ShapeType");
        let mut data = PublicationData::new(endpoint, DataWriterQos::default(), true);
        change(&mut data);
        Arc::new(Discovered { data, reach: reach(), vendor: VendorId::OURS, is_local: prefix == OURS })
    }

    fn reader(prefix: GuidPrefix, change: impl FnOnce(&mut SubscriptionData)) -> Arc<DiscoveredReader> {
        let endpoint = EndpointData::new(Guid::new(prefix, reader_id()), "Square", "ShapeType");
        let mut data = SubscriptionData::new(endpoint, DataReaderQos::default());
        change(&mut data);
        Arc::new(Discovered { data, reach: reach(), vendor: VendorId::OURS, is_local: prefix == OURS })
    }

    fn events(matching: &mut Matching) -> Vec<ParticipantEvent> {
        std::iter::from_fn(|| matching.poll_event()).collect()
    }

    #[test]
    fn a_pair_is_told_of_at_the_side_that_is_local() {
        let mut matching = Matching::new(OURS);
        let theirs = reader(THEIRS, |_| {});
        matching.put(Arc::clone(&theirs));
        assert!(events(&mut matching).is_empty());
        matching.put(writer(OURS, |_| {}));
        assert_eq!(events(&mut matching), [ParticipantEvent::ReaderMatched { writer: writer_id(), reader: theirs }]);
    }

    #[test]
    fn a_pair_within_the_participant_is_told_of_at_both_sides() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        matching.put(reader(OURS, |_| {}));
        let told = events(&mut matching);
        assert!(matches!(&told[0], ParticipantEvent::ReaderMatched { reader, .. } if reader.is_local));
        assert!(matches!(&told[1], ParticipantEvent::WriterMatched { writer, .. } if writer.is_local));
        assert_eq!(told.len(), 2);
    }

    #[test]
    fn what_is_known_can_be_asked_for() {
        let mut matching = Matching::new(OURS);
        let [w, r] = [Guid::new(OURS, writer_id()), Guid::new(THEIRS, reader_id())];
        assert!(!matching.knows::<PublicationData>(w) && matching.writer(w).is_none());
        matching.put(writer(OURS, |_| {}));
        assert!(matching.knows::<PublicationData>(w) && !matching.knows::<SubscriptionData>(r));
        assert_eq!((matching.reader(r).is_some(), matching.verdict(w, r)), (false, None));
        matching.put(reader(THEIRS, |_| {}));
        assert!(matching.writer(w).is_some() && matching.reader(r).is_some());
        assert_eq!(matching.verdict(w, r), Some(&Verdict::Matched));
    }

    #[test]
    fn a_topic_is_there_as_long_as_an_endpoint_of_it() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        matching.put(reader(THEIRS, |_| {}));
        matching.remove::<PublicationData>(Guid::new(OURS, writer_id()), ParticipantLoss::Left);
        events(&mut matching);
        matching.put(writer(OURS, |_| {}));
        assert!(matches!(events(&mut matching)[..], [ParticipantEvent::ReaderMatched { .. }]));
    }

    #[test]
    fn only_others_can_have_types_that_are_not_known() {
        let validates = |data: &mut SubscriptionData| data.qos.type_consistency.force_type_validation = true;
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        matching.put(reader(OURS, validates));
        matching.put(reader(THEIRS, validates));
        let verdict = |prefix| matching.verdict(Guid::new(OURS, writer_id()), Guid::new(prefix, reader_id())).unwrap();
        assert_eq!(verdict(OURS), &Verdict::Matched);
        assert!(matches!(verdict(THEIRS), Verdict::Incompatible(_)));
    }

    #[test]
    fn pairs_of_others_are_none_of_our_business() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(THEIRS, |_| {}));
        matching.put(reader(GuidPrefix([3; 12]), |_| {}));
        assert!(events(&mut matching).is_empty());
        assert_eq!(matching.verdicts().count(), 0);
    }

    #[test]
    fn the_same_data_again_changes_nothing() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        assert!(matching.put(reader(THEIRS, |_| {})));
        assert_eq!(events(&mut matching).len(), 1);
        assert!(!matching.put(reader(THEIRS, |_| {})));
        assert!(events(&mut matching).is_empty());
    }

    #[test]
    fn changed_data_is_judged_anew() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |data| data.endpoint.partition = vec!["a".to_owned()]));
        matching.put(reader(THEIRS, |_| {}));
        assert_eq!(matching.verdicts().next().unwrap().2, &Verdict::Partition);
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
    fn an_incompatible_pair_is_told_of_once() {
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
    fn a_type_of_another_name_is_an_inconsistent_topic() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        matching.put(reader(THEIRS, |data| data.endpoint.type_name = "Other".to_owned()));
        let remote = Guid::new(THEIRS, reader_id());
        assert_eq!(events(&mut matching), [ParticipantEvent::InconsistentTopic { local: writer_id(), remote }]);
    }

    #[test]
    fn an_endpoint_without_usable_locators_is_unreachable() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        let mut unreachable = Arc::unwrap_or_clone(reader(THEIRS, |_| {}));
        unreachable.reach = Reach::default();
        matching.put(Arc::new(unreachable));
        assert!(events(&mut matching).is_empty());
        assert_eq!(matching.verdicts().next().unwrap().2, &Verdict::Unreachable);
    }

    #[test]
    fn a_participant_takes_its_endpoints_with_it() {
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
                    comes_back: false,
                },
            ]
        );
        assert_eq!(matching.writers().count(), 1);
        matching.remove_participant(OURS, ParticipantLoss::Left);
        assert!(matching.topics.is_empty() && matching.verdicts.is_empty());
    }

    #[test]
    fn an_endpoint_that_changes_its_topic_leaves_the_old_one() {
        let mut matching = Matching::new(OURS);
        matching.put(writer(OURS, |_| {}));
        matching.put(reader(THEIRS, |_| {}));
        events(&mut matching);
        matching.put(reader(THEIRS, |data| data.endpoint.topic_name = "Circle".to_owned()));
        assert!(matches!(events(&mut matching)[..], [ParticipantEvent::ReaderUnmatched { .. }]));
    }

    #[test]
    fn endpoints_of_others_are_told_of_once_somebody_asks() {
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
    fn every_difference_is_named_and_the_first_one_decides() {
        let differences = Differences::between(
            &writer(OURS, |data| data.qos = data.qos.clone().best_effort()),
            &reader(THEIRS, |data| {
                data.endpoint.type_name = "Other".to_owned();
                data.endpoint.partition = vec!["a".to_owned()];
                data.qos = data.qos.clone().reliable();
            }),
            crate::discovery::verdict::TypeMatch::ByName,
        );
        assert!(differences.type_name && differences.partition && !differences.unreachable);
        assert_eq!(differences.policies[..], [PolicyId::Reliability]);
        assert_eq!(differences.verdict(), Verdict::TypeName);
    }
}
