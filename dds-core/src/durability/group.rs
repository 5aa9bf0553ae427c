//! A reader and a writer that stand in for all writers that announce the same.

use super::change::Change;
use super::kept::{Gone, Kept};
use super::key::{GroupKey, reading_partition, stand_in};
use crate::cdr::{Raw, TypeDescription};
use crate::infrastructure::{CreateError, Entity, ReadError, WriteError};
use crate::participant::DomainParticipant;
use crate::publication::DataWriter;
use crate::qos::{DataReaderQos, Durability, LivelinessKind, PublisherQos, ResourceLimits, SubscriberQos, TopicQos};
use crate::subscription::{DataReader, ReadCondition};
use dds_rtps::concurrent::Payload;
use dds_rtps::discovery::data::PublicationData;
use dds_rtps::history::{ChangeKind, HistorySample, Operation, OriginalWriterInfo, Selection, SelectionOrder, States};
use dds_rtps::reader::KeySource;
use dds_rtps::types::{Duration, EntityKind, Guid, InstanceHandle, Instant, Now, SequenceNumber};
use dds_rtps::wire::SampleIdentity;
use dds_rtps::writer::NewChange;
use std::collections::{HashMap, HashSet};

/// What the reader of a group holds until the thread has time for it. When it is full, reliable writers that keep all wait.
const WAITING_MAX: u32 = 8192;

/// So many changes of a group are handled in one batch.
pub(super) const BATCH_MAX: usize = 512;

/// A writer that the group stands in for.
#[derive(Debug)]
struct Member {
    lifespan: Duration,
    is_here: bool,
}

pub(super) struct Group {
    pub(super) id: u64,
    pub(super) key: GroupKey,
    /// It goes to the database.
    pub(super) is_persistent: bool,
    /// The database knows it.
    pub(super) is_named: bool,
    pub(super) kept: Kept,
    reader: DataReader<Raw>,
    writer: DataWriter<Raw>,
    condition: ReadCondition,
    members: HashMap<Guid, Member>,
    /// Instances that are kept, as long as the writer has them registered.
    written: HashSet<InstanceHandle>,
    /// How often the writer has to show that it is alive, if nothing else does.
    assert_every: Option<Duration>,
    assert_at: Option<Instant>,
}

/// What has come, as far as it is of the group.
pub(super) enum Arrival {
    Change(Change, Guid),
    /// Of an instance, by a writer: it writes it no more.
    Left(InstanceHandle, Guid),
}

impl Group {
    pub(super) fn new(
        participant: &DomainParticipant,
        id: u64,
        key: GroupKey,
        announced: &PublicationData,
        has_database: bool,
        ty: Option<&'static TypeDescription>,
    ) -> Result<Self, CreateError> {
        let PublicationData { endpoint, qos } = announced;
        let is_keyed = endpoint.guid.entity_id.kind() != EntityKind::WriterNoKey;
        let is_persistent = qos.durability == Durability::Persistent && has_database;
        let durability = if is_persistent { Durability::Persistent } else { Durability::Transient };
        let topic = participant.raw_topic(&endpoint.topic_name, &endpoint.type_name, TopicQos::default())?;
        let publisher = PublisherQos::default().partition(endpoint.partition.iter().cloned());
        // What cannot be offered in their place is not: readers that ask for it do not match.
        let same = participant.publisher(publisher.clone().presentation(endpoint.presentation));
        let writer = same
            .or_else(|_| participant.publisher(publisher))?
            .writer_builder(&topic)
            .qos(stand_in(qos, durability))
            .keyed(is_keyed)
            .build()?;
        let limits = ResourceLimits { max_samples: Some(WAITING_MAX), ..ResourceLimits::default() };
        let wanted = DataReaderQos::default()
            .keep_all()
            .durability(Durability::Transient)
            .reliability(qos.reliability)
            .ownership(qos.ownership)
            .representation(qos.representation.clone())
            .resource_limits(limits);
        let key_source = match ty.filter(|ty| ty.has_key()) {
            _ if !is_keyed => KeySource::None,
            Some(ty) => KeySource::Type(ty.into()),
            None => KeySource::KeyHash,
        };
        // A group is of writers that have such names.
        let partition = reading_partition(&endpoint.partition).unwrap_or_default();
        let subscriber = participant.subscriber(SubscriberQos::default().partition(partition))?;
        let reader = subscriber.reader_builder(&topic).qos(wanted).key_source(key_source).build()?;
        let lease = qos.liveliness.lease_duration;
        let is_manual = qos.liveliness.kind == LivelinessKind::ManualByTopic && !lease.is_infinite();
        Ok(Self {
            id,
            key,
            is_persistent,
            is_named: false,
            kept: Kept::new(&qos.durability_service, is_keyed),
            condition: reader.read_condition(States::NOT_READ),
            reader,
            writer,
            members: HashMap::new(),
            written: HashSet::new(),
            assert_every: is_manual.then(|| lease.scale(1, 3)),
            assert_at: None,
        })
    }

    pub(super) fn condition(&self) -> &ReadCondition {
        &self.condition
    }

    pub(super) fn topic_name(&self) -> &str {
        self.writer.topic_name()
    }

    pub(super) fn is_keyed(&self) -> bool {
        self.writer.guid().entity_id.kind() == EntityKind::WriterWithKey
    }

    /// A writer announces what the group stands in for; or does so no more.
    pub(super) fn join(&mut self, writer: Guid, lifespan: Duration) {
        self.members.insert(writer, Member { lifespan, is_here: true });
    }

    pub(super) fn leave(&mut self, now: Now, writer: Guid) {
        if let Some(member) = self.members.get_mut(&writer) {
            // What it has written may still wait in the reader.
            member.is_here = false;
        }
        self.kept.note_writer_gone(now, writer);
    }

    /// Nobody writes, and nothing is kept.
    pub(super) fn is_idle(&self) -> bool {
        self.kept.len() == 0 && !self.members.values().any(|member| member.is_here)
    }

    /// Takes what has come, at most a batch.
    pub(super) fn take(&mut self, list: &mut Vec<HistorySample>) -> Result<(), ReadError> {
        let selection = Selection { samples_max: BATCH_MAX, order: SelectionOrder::ByArrival, ..Selection::default() };
        self.reader.handle().select_into(&selection, Operation::Take, list)?;
        if list.is_empty() {
            self.members.retain(|_, member| member.is_here);
        }
        Ok(())
    }

    /// `None`: it is of a writer of another group that the reader happens to match.
    pub(super) fn sort(&self, sample: HistorySample) -> Option<Arrival> {
        let info = &sample.info;
        let deliverer = Guid::from_bytes(*info.publication_handle.as_bytes()?);
        let member = self.members.get(&deliverer)?;
        let own = SampleIdentity { writer: deliverer, sequence_number: info.sequence_number };
        let origin = sample.origin.as_deref().copied();
        let OriginalWriterInfo { identity, lifespan } =
            origin.unwrap_or(OriginalWriterInfo { identity: own, lifespan: member.lifespan });
        let leaves = matches!(sample.kind, ChangeKind::NotAliveUnregistered | ChangeKind::NotAliveDisposedUnregistered);
        if sample.kind == ChangeKind::NotAliveUnregistered {
            return Some(Arrival::Left(info.instance_handle, deliverer));
        }
        // Who has written it is there if it came from there.
        let writer = if origin.is_some() || leaves || !member.is_here { Guid::UNKNOWN } else { deliverer };
        let timestamp = info.source_timestamp;
        Some(Arrival::Change(
            Change {
                disposes: sample.kind != ChangeKind::Alive,
                instance: info.instance_handle,
                identity,
                source_timestamp: if timestamp.is_valid() { timestamp } else { info.reception_timestamp },
                lifespan,
                // A copy of its own: the reader's memory is for what comes next.
                payload: sample.payload.as_ref().map(|payload| Payload::copy_of(payload.bytes())),
            },
            writer,
        ))
    }

    /// Hands a change on, to all who are there and who will come.
    pub(super) fn publish(&mut self, change: Change, order: u64) -> Result<(), WriteError> {
        if !self.kept.contains(order) {
            // A later one of the same batch has replaced it.
            return Ok(());
        }
        let Change { instance, identity, source_timestamp, lifespan, .. } = change;
        let mut new = self.end(change.kind(), instance, change.payload);
        new.source_timestamp = Some(source_timestamp).filter(|timestamp| timestamp.is_valid());
        new.origin = Some(Box::new(OriginalWriterInfo { identity, lifespan }));
        let number = self.writer.handle().publish(new, false)?;
        self.kept.set_number(order, number);
        if !instance.is_nil() {
            self.written.insert(instance);
        }
        Ok(())
    }

    fn end(&self, kind: ChangeKind, instance: InstanceHandle, payload: Option<Payload>) -> NewChange {
        let mut new = NewChange::not_alive(kind, instance, Payload::copy_of(&[]));
        new.payload = payload;
        new
    }

    /// What is not kept any more is not handed on any more.
    pub(super) fn withdraw(&mut self, gone: &Gone) -> Result<(), WriteError> {
        let numbers: Vec<SequenceNumber> = gone.changes.iter().filter_map(|(_, number)| *number).collect();
        if !numbers.is_empty() {
            self.writer.handle().withdraw(&numbers)?;
        }
        for &instance in &gone.instances {
            if self.written.remove(&instance) {
                let end = self.end(ChangeKind::NotAliveUnregistered, instance, None);
                self.writer.handle().publish(end, false)?;
            }
        }
        Ok(())
    }

    /// Shows that the writer is alive, if it is time.
    pub(super) fn assert_liveliness(&mut self, now: Now) {
        let Some(every) = self.assert_every else { return };
        if self.assert_at.is_none_or(|at| at <= now.instant) {
            self.assert_at = now.instant.after(every);
            // A closed writer is not alive.
            let _ = self.writer.assert_liveliness();
        }
    }

    /// When time changes something.
    pub(super) fn due(&self) -> Option<Instant> {
        [self.kept.due(), self.assert_at].into_iter().flatten().min()
    }
}
