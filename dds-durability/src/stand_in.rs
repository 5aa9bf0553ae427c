//! A reader and a writer that stand in for all writers with the same announced properties.

use crate::change::RelayedChange;
use crate::kept::{Gone, Kept};
use crate::key::{GroupKey, reading_partition, stand_in};
use dds_core::__private::cdr::{AnyType, TypeDescription};
use dds_core::cdr::Raw;
use dds_core::condition::ReadCondition;
use dds_core::error::{CreateError, ReadError, WriteError};
use dds_core::qos::{DataReaderQos, Durability, LivelinessKind, PublisherQos, ResourceLimits, SubscriberQos, TopicQos};
use dds_core::reader::States;
use dds_core::relay::{
    self, ChangeKind, EntityKind, HistorySample, Instant, KeySource, NewChange, Now, OriginalWriterInfo, Payload,
    PublicationData,
};
use dds_core::writer::{SampleIdentity, SequenceNumber};
use dds_core::{DataReader, DataWriter, DomainParticipant, Duration, Guid, InstanceHandle};
use std::collections::HashMap;

/// Number of samples that the reader of a group holds until the thread takes them.
///
/// When it is full, reliable writers with KEEP_ALL block.
const WAITING_MAX: u32 = 8192;

/// Most changes of a group in one batch.
pub(crate) const BATCH_MAX: usize = 512;

/// A writer that the group stands in for.
#[derive(Debug)]
struct RepresentedWriter {
    lifespan: Duration,
    is_here: bool,
}

pub(crate) struct StandIn {
    pub(crate) id: u64,
    pub(crate) key: GroupKey,
    /// The database stores its changes.
    pub(crate) is_persistent: bool,
    /// The database contains the group itself.
    pub(crate) is_named: bool,
    pub(crate) kept: Kept,
    reader: DataReader<Raw>,
    writer: DataWriter<Raw>,
    condition: ReadCondition,
    members: HashMap<Guid, RepresentedWriter>,
    /// Stored instances that the group's writer has registered, with their serialized keys as far as known.
    written: HashMap<InstanceHandle, Option<Payload>>,
    /// The type, if the governance hides the keys of the topic. The instances then are hidden key hashes.
    hidden_by: Option<AnyType>,
    /// How often the writer must assert its liveliness explicitly.
    assert_every: Option<Duration>,
    assert_at: Option<Instant>,
}

/// A received change of this group.
pub(crate) enum StandInInput {
    RelayedChange(RelayedChange, Guid),
    /// A writer unregistered an instance.
    Left(InstanceHandle, Guid),
}

impl StandIn {
    pub(crate) fn new(
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
        // If the presentation cannot be offered, the default is. Readers that request more do not match.
        let same = participant.publisher(publisher.clone().presentation(endpoint.presentation));
        let publisher = same.or_else(|_| participant.publisher(publisher))?;
        let writer = publisher.writer_builder(&topic).qos(stand_in(qos, durability));
        let writer = relay::keyed(writer, is_keyed).build()?;
        let limits = ResourceLimits::NONE.max_samples(WAITING_MAX);
        let wanted = DataReaderQos::default()
            .keep_all()
            .durability(Durability::Transient)
            .reliability(qos.reliability)
            .ownership(qos.ownership)
            .representation(qos.representation.clone())
            .resource_limits(limits);
        let key_source = match ty {
            _ if !is_keyed => KeySource::None,
            Some(ty) if ty.has_key() => KeySource::Type(ty.into()),
            // Without the type, only the key hash of the change tells the instance (RTPS 2.5, 9.6.4.8).
            _ => KeySource::KeyHash,
        };
        let hides_keys = is_keyed && relay::hides_keys(participant, &endpoint.topic_name);
        // Writers without such a partition are left out before, so the default is never used.
        let partition = reading_partition(&endpoint.partition).unwrap_or_default();
        let subscriber = participant.subscriber(SubscriberQos::default().partition(partition))?;
        let reader = relay::key_source(subscriber.reader_builder(&topic).qos(wanted), key_source).build()?;
        // An infinite lease never expires, so it needs no assertions.
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
            written: HashMap::new(),
            hidden_by: if hides_keys { ty.map(AnyType::from) } else { None },
            // A third of the lease, so that two lost assertions in a row do not end the liveliness.
            assert_every: if is_manual { Some(lease.scale(1, 3)) } else { None },
            assert_at: None,
        })
    }

    pub(crate) fn condition(&self) -> &ReadCondition {
        &self.condition
    }

    pub(crate) fn topic_name(&self) -> &str {
        self.writer.topic_name()
    }

    pub(crate) fn is_keyed(&self) -> bool {
        self.writer.guid().entity_id.kind() == EntityKind::WriterWithKey
    }

    /// Adds a matching writer.
    pub(crate) fn join(&mut self, writer: Guid, lifespan: Duration) {
        self.members.insert(writer, RepresentedWriter { lifespan, is_here: true });
    }

    /// Removes a writer whose announcement has ended or changed.
    pub(crate) fn leave(&mut self, now: Now, writer: Guid) {
        if let Some(member) = self.members.get_mut(&writer) {
            // Its changes may still wait in the reader, so the entry stays.
            member.is_here = false;
        }
        self.kept.note_writer_gone(now, writer);
    }

    /// Returns whether no writer is alive and no change is stored.
    pub(crate) fn is_idle(&self) -> bool {
        if self.kept.len() > 0 {
            return false;
        }
        for member in self.members.values() {
            if member.is_here {
                return false;
            }
        }
        true
    }

    /// Takes received changes, at most one batch.
    pub(crate) fn take(&mut self, list: &mut Vec<HistorySample>) -> Result<(), ReadError> {
        relay::take(&self.reader, BATCH_MAX, list)?;
        // No changes wait, so the entries of writers that left are not needed any more.
        if list.is_empty() {
            self.members.retain(|_, member| member.is_here);
        }
        Ok(())
    }

    /// Converts a received sample.
    ///
    /// Returns `None` if its writer belongs to another group that the reader happens to match.
    pub(crate) fn sort(&self, sample: HistorySample) -> Option<StandInInput> {
        let info = &sample.info;
        let deliverer = Guid::from_bytes(*info.publication_handle.as_bytes()?);
        let member = self.members.get(&deliverer)?;
        let own = SampleIdentity { writer: deliverer, sequence_number: info.sequence_number };
        let origin = sample.origin.as_deref().copied();
        let OriginalWriterInfo { identity, lifespan } =
            origin.unwrap_or(OriginalWriterInfo { identity: own, lifespan: member.lifespan });
        let leaves = matches!(sample.kind, ChangeKind::NotAliveUnregistered | ChangeKind::NotAliveDisposedUnregistered);
        let is_key = sample.kind != ChangeKind::Alive;
        let instance = self.hidden(info.instance_handle, sample.payload.as_ref(), is_key);
        if sample.kind == ChangeKind::NotAliveUnregistered {
            return Some(StandInInput::Left(instance, deliverer));
        }
        // The writer counts as a live writer of the instance only if it wrote the change itself and still exists.
        let writer = if origin.is_some() || leaves || !member.is_here { Guid::UNKNOWN } else { deliverer };
        let timestamp = info.source_timestamp;
        // Copied, because the memory of the reader must be free for new samples.
        let payload = sample.payload.as_ref().map(|payload| Payload::copy_of(payload.bytes()));
        Some(StandInInput::RelayedChange(
            RelayedChange {
                disposes: sample.kind != ChangeKind::Alive,
                instance,
                identity,
                source_timestamp: if timestamp.is_valid() { timestamp } else { info.reception_timestamp },
                lifespan,
                payload,
            },
            writer,
        ))
    }

    /// Returns the instance by which the service names a change.
    ///
    /// The reader determines it from the payload, so a short key is its own handle. The group's writer sends the handle
    /// as the key hash, in plain text even if the payload is protected. The hash must then be the one that hides it.
    fn hidden(&self, instance: InstanceHandle, payload: Option<&Payload>, is_key: bool) -> InstanceHandle {
        let (Some(ty), Some(payload)) = (&self.hidden_by, payload) else { return instance };
        ty.hidden_key_hash_of_payload(payload.bytes(), is_key, &mut Vec::new()).unwrap_or(InstanceHandle::NIL)
    }

    /// Hides the key of a stored change. The service may have stored it before the governance protected its topic.
    pub(crate) fn hide_key(&self, change: &mut RelayedChange) {
        change.instance = self.hidden(change.instance, change.payload.as_ref(), change.disposes);
    }

    /// Publishes a change to all present and future readers.
    pub(crate) fn publish(&mut self, change: RelayedChange, order: u64) -> Result<(), WriteError> {
        if !self.kept.contains(order) {
            // A later change of the same batch has replaced it.
            return Ok(());
        }
        let RelayedChange { disposes, instance, identity, source_timestamp, lifespan, .. } = change;
        if !instance.is_nil() {
            let key = self.written.entry(instance).or_default();
            if disposes {
                key.clone_from(&change.payload);
            }
        }
        let mut new = self.end(change.kind(), instance, change.payload);
        new.source_timestamp = if source_timestamp.is_valid() { Some(source_timestamp) } else { None };
        // The original identity lets readers recognize a sample that they received from its writer.
        new.origin = Some(Box::new(OriginalWriterInfo { identity, lifespan }));
        let number = relay::publish(&self.writer, new)?;
        self.kept.set_number(order, number);
        Ok(())
    }

    fn end(&self, kind: ChangeKind, instance: InstanceHandle, payload: Option<Payload>) -> NewChange {
        let mut new = NewChange::not_alive(kind, instance, Payload::copy_of(&[]));
        new.payload = payload;
        new
    }

    /// Withdraws changes from the writer's history that the service does not store any more.
    pub(crate) fn withdraw(&mut self, gone: &Gone) -> Result<(), WriteError> {
        let mut numbers: Vec<SequenceNumber> = Vec::new();
        for (_, number) in &gone.changes {
            // A change has no number if it went in the same batch that brought it.
            numbers.extend(*number);
        }
        if !numbers.is_empty() {
            relay::withdraw(&self.writer, &numbers)?;
        }
        // Readers learn that the service has no more samples of these instances.
        for &instance in &gone.instances {
            if let Some(key) = self.written.remove(&instance) {
                // Readers find the instance by the key. A hash that hides the key tells nothing to those with the type.
                let end = self.end(ChangeKind::NotAliveUnregistered, instance, key);
                relay::publish(&self.writer, end)?;
            }
        }
        Ok(())
    }

    /// Asserts the liveliness of the writer if it is due.
    pub(crate) fn assert_liveliness(&mut self, now: Now) {
        let Some(every) = self.assert_every else { return };
        if matches!(self.assert_at, Some(at) if at > now.instant) {
            return;
        }
        self.assert_at = now.instant.after(every);
        // Fails only if the writer is closed, and a closed writer is not alive.
        let _ = self.writer.assert_liveliness();
    }

    /// Returns when the passing of time next has an effect.
    pub(crate) fn due(&self) -> Option<Instant> {
        [self.kept.due(), self.assert_at].into_iter().flatten().min()
    }
}
