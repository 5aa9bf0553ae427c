//! Readers for all writers of a topic, with any QoS.

use crate::domain_view::TopicView;
use crate::error::ToolError;
use crate::instance_keys::{EndKey, InstanceKeys};
use crate::sample_queue::{QueuedChange, TopicInlet, arrival};
use crate::topic_access::{reader_qos, subscriber_qos};
use crate::writer_classes::{WRITERS_MAX, WriterClass};
use dds_core::cdr::{Encoded, Raw};
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::listener::Delivery;
use dds_core::qos::{Ownership, TopicQos};
use dds_core::reader::SampleRef;
use dds_core::stats::ReaderLosses;
use dds_core::{DataReader, DomainParticipant, InstanceHandle, InstanceState, SampleInfo, Samples, Subscriber, Topic};
use std::collections::HashMap;
use std::time::Duration;

/// Samples that a reader with a queue keeps for each instance.
///
/// A sample that arrives late releases all samples behind it at once, and the listener takes them only then. So the
/// reader holds them already, and the depth adds no memory.
const INLET_DEPTH: u32 = 1 << 20;

/// Returns the nanoseconds from the source timestamp to the reception. Negative if the clocks contradict each other.
pub(crate) fn delay_nanos(info: &SampleInfo) -> Option<i64> {
    if !info.source_timestamp.is_valid() {
        return None;
    }
    Some(info.reception_timestamp.as_unix_nanos() - info.source_timestamp.as_unix_nanos())
}

/// A change of a topic.
#[derive(Debug)]
pub enum TopicChange<'c> {
    /// A sample.
    Sample(Encoded<'c>),
    /// The end of an instance.
    End(EndedInstance),
}

/// The end of an instance.
#[derive(Debug)]
pub struct EndedInstance {
    /// Whether a writer disposed it, or all writers left it.
    pub state: InstanceState,
    /// Its key. `None` if the type is unknown or has no key, or if only the hash of the key arrived.
    pub key: Option<DynamicData>,
}

/// Returns whether the instance has ended with this sample.
///
/// The last new sample of an instance has its state. The end has a sample of its own only if there is no other new one
/// (DDS 1.4, 2.2.2.5.1.3).
pub(crate) fn ends_instance(info: &SampleInfo) -> bool {
    let is_last = !info.valid_data || info.sample_rank == 0;
    is_last && info.instance_state != InstanceState::Alive
}

/// A reader of any topic: of a described type, or of encoded samples whose type is unknown.
///
/// One reader cannot be reliable and also match best-effort writers. So each class of writers has its own reader.
#[derive(Debug)]
pub struct TopicReader(Readers);

#[derive(Debug)]
enum Readers {
    /// The samples can be decoded, and instances have keys.
    Described(ClassReaders<DynamicData>, InstanceKeys),
    /// The samples stay encoded, and all belong to one instance.
    Encoded(ClassReaders<Raw>),
}

impl TopicReader {
    /// Creates readers that match all writers in `found`.
    ///
    /// # Errors
    /// As the builder of the reader.
    pub fn new(
        participant: &DomainParticipant,
        name: &str,
        found: &TopicView<'_>,
        ty: Option<&DynamicType>,
    ) -> Result<Self, ToolError> {
        Self::with_inlet(participant, name, found, ty, None)
    }

    /// As [`new`](Self::new). The samples go into a queue as they arrive, and [`deliver`](Self::deliver) returns them.
    pub(crate) fn with_queue(
        participant: &DomainParticipant,
        name: &str,
        found: &TopicView<'_>,
        ty: Option<&DynamicType>,
        inlet: TopicInlet,
    ) -> Result<Self, ToolError> {
        Self::with_inlet(participant, name, found, ty, Some(inlet))
    }

    fn with_inlet(
        participant: &DomainParticipant,
        name: &str,
        found: &TopicView<'_>,
        ty: Option<&DynamicType>,
        inlet: Option<TopicInlet>,
    ) -> Result<Self, ToolError> {
        let subscriber = participant.subscriber(subscriber_qos())?;
        let readers = if let Some(ty) = ty {
            let topic = participant.dynamic_topic(name, ty, TopicQos::default())?;
            Readers::Described(ClassReaders::new(subscriber, topic, found, inlet)?, InstanceKeys::default())
        } else {
            let type_name = found.type_names().into_iter().next().unwrap_or_default();
            let topic = participant.raw_topic(name, &type_name, TopicQos::default())?;
            Readers::Encoded(ClassReaders::new(subscriber, topic, found, inlet)?)
        };
        Ok(Self(readers))
    }

    /// Adds a reader for each writer that no reader serves in full.
    ///
    /// # Errors
    /// As the builder of the reader.
    pub fn cover(&mut self, found: &TopicView<'_>) -> Result<(), ToolError> {
        match &mut self.0 {
            Readers::Described(readers, _) => readers.cover(found),
            Readers::Encoded(readers) => readers.cover(found),
        }
    }

    /// Waits for samples for at most `limit`. The wait also ends if the reader is closed.
    pub fn wait(&self, limit: Duration) {
        match &self.0 {
            Readers::Described(readers, _) => readers.wait(limit),
            Readers::Encoded(readers) => readers.wait(limit),
        }
    }

    /// Takes all changes in the order of their arrival.
    ///
    /// # Errors
    /// Fails if the reader is closed, or with the error of `each`.
    pub fn take(
        &mut self,
        each: impl FnMut(&SampleInfo, TopicChange<'_>) -> Result<(), ToolError>,
    ) -> Result<(), ToolError> {
        match &mut self.0 {
            Readers::Described(readers, keys) => readers.take(|instance, key| keys.or_kept(instance, key), each),
            Readers::Encoded(readers) => readers.take(|_, key| key, each),
        }
    }

    /// Delivers a change from the queue of [`with_queue`](Self::with_queue).
    ///
    /// # Errors
    /// The error of `each`.
    pub(crate) fn deliver(
        &mut self,
        change: &mut QueuedChange,
        payloads: &[u8],
        each: impl FnMut(&SampleInfo, TopicChange<'_>) -> Result<(), ToolError>,
    ) -> Result<(), ToolError> {
        match &mut self.0 {
            Readers::Described(readers, keys) => {
                let instance = change.info.instance_handle;
                readers.deliver(change, payloads, |key| keys.or_kept(instance, key), each)
            }
            Readers::Encoded(readers) => readers.deliver(change, payloads, |key| key, each),
        }
    }

    /// Returns whether a matched writer does not assert its liveliness within its lease.
    #[must_use]
    pub(crate) fn is_silent(&self, writer: InstanceHandle) -> bool {
        match &self.0 {
            Readers::Described(readers, _) => readers.is_silent(writer),
            Readers::Encoded(readers) => readers.is_silent(writer),
        }
    }

    /// Returns where samples were lost. Each writer counts once.
    #[must_use]
    pub fn losses(&self) -> ReaderLosses {
        match &self.0 {
            Readers::Described(readers, _) => readers.losses(),
            Readers::Encoded(readers) => readers.losses(),
        }
    }
}

/// The progress of a writer at the readers of its topic.
#[derive(Debug)]
struct WriterProgress {
    class: WriterClass,
    /// Whether the reader of its class has a change of it. Until then, other readers may deliver its changes.
    is_settled: bool,
    /// The last change that another reader delivered.
    last: Option<i64>,
}

/// A reader for each class of writers. Readers with weak requests also receive the samples of other classes.
#[derive(Debug)]
struct ClassReaders<T> {
    subscriber: Subscriber,
    topic: Topic<T>,
    /// Never empty.
    readers: Vec<(WriterClass, DataReader<T>)>,
    /// Bounded by [`WRITERS_MAX`].
    writers: HashMap<InstanceHandle, WriterProgress>,
    /// Where the receiving thread moves the samples. `None` leaves them in the readers.
    inlet: Option<TopicInlet>,
}

impl<T: EndKey> ClassReaders<T> {
    fn new(
        subscriber: Subscriber,
        topic: Topic<T>,
        found: &TopicView<'_>,
        inlet: Option<TopicInlet>,
    ) -> Result<Self, ToolError> {
        let mut readers = Self { subscriber, topic, readers: Vec::new(), writers: HashMap::new(), inlet };
        readers.cover(found)?;
        if readers.readers.is_empty() {
            // Every later writer matches the weakest requests.
            let class = WriterClass { is_reliable: false, is_transient_local: false, ownership: Ownership::default() };
            readers.add(class, &TopicView::default())?;
        }
        Ok(readers)
    }

    fn add(&mut self, class: WriterClass, found: &TopicView<'_>) -> Result<(), ToolError> {
        let builder = T::keyed(self.subscriber.reader_builder(&self.topic), found.has_key());
        let qos = reader_qos(found);
        let reader = match self.inlet.clone() {
            Some(inlet) => {
                let index = self.readers.len();
                let builder = builder.qos(qos.keep_last(INLET_DEPTH)).delivery(Delivery::Inline);
                builder.on_data(move |reader| inlet.take_from(index, reader)).build()?
            }
            None => builder.qos(qos).build()?,
        };
        self.readers.push((class, reader));
        Ok(())
    }

    fn cover(&mut self, found: &TopicView<'_>) -> Result<(), ToolError> {
        for writer in &found.writers {
            let class = WriterClass::of(writer);
            if self.readers.iter().any(|(known, _)| *known == class) {
                continue;
            }
            let alone = TopicView { writers: vec![writer], readers: Vec::new() };
            self.add(class, &alone)?;
        }
        Ok(())
    }

    fn wait(&self, limit: Duration) {
        // Several readers share the time. A time-out is no failure: the caller looks for samples in any case.
        let count = u32::try_from(self.readers.len()).unwrap_or(u32::MAX).max(1);
        for (_, reader) in &self.readers {
            let _ = reader.readable().block_for(limit / count);
        }
    }

    fn take(
        &mut self,
        mut key_of: impl FnMut(InstanceHandle, Option<DynamicData>) -> Option<DynamicData>,
        mut each: impl FnMut(&SampleInfo, TopicChange<'_>) -> Result<(), ToolError>,
    ) -> Result<(), ToolError> {
        let Self { readers, writers, .. } = self;
        let mut taken: Vec<(usize, Samples<T>)> = Vec::with_capacity(readers.len());
        for (index, (_, reader)) in readers.iter().enumerate() {
            let samples = reader.take()?;
            if !samples.is_empty() {
                taken.push((index, samples));
            }
        }
        // A reader returns samples by instance (DDS 1.4, 2.2.2.5.3.8).
        let mut ordered: Vec<(usize, SampleRef<'_, T>)> = Vec::new();
        for (index, samples) in &taken {
            ordered.extend(samples.iter().map(|sample| (*index, sample)));
        }
        ordered.sort_by_key(|(_, sample)| arrival(sample.info()));
        for (index, sample) in ordered {
            let info = sample.info();
            let (class, reader) = &readers[index];
            let announced = || Some(WriterClass::of(&reader.matched_publication_data(info.publication_handle)?));
            let part = delivery_of(writers, readers, *class, announced, info);
            let key = || key_of(info.instance_handle, T::key_of_end(reader, &sample));
            part.pass(info, sample.encoded(), key, &mut each)?;
        }
        Ok(())
    }

    fn deliver(
        &mut self,
        change: &mut QueuedChange,
        payloads: &[u8],
        key_of: impl FnOnce(Option<DynamicData>) -> Option<DynamicData>,
        mut each: impl FnMut(&SampleInfo, TopicChange<'_>) -> Result<(), ToolError>,
    ) -> Result<(), ToolError> {
        let Self { readers, writers, .. } = self;
        let Some((class, _)) = readers.get(change.reader) else { return Ok(()) };
        let part = delivery_of(writers, readers, *class, || change.writer_class, &change.info);
        let key = change.key.take();
        let key = || key_of(key.and_then(|key| key.to_sample()));
        part.pass(&change.info, change.encoded(payloads), key, &mut each)
    }

    fn is_silent(&self, writer: InstanceHandle) -> bool {
        self.readers.iter().any(|(_, reader)| reader.is_publication_alive(writer) == Some(false))
    }

    fn losses(&self) -> ReaderLosses {
        let mut ledgers = Vec::with_capacity(self.readers.len());
        for (class, reader) in &self.readers {
            let mut losses = reader.losses();
            if self.readers.len() > 1 {
                let is_own = |writer: Option<dds_core::Guid>| {
                    let progress = writer.and_then(|writer| self.writers.get(&InstanceHandle::from(writer)));
                    progress.is_none_or(|progress| progress.class == *class)
                };
                losses.writers.retain(|row| is_own(row.writer));
                losses.departed.retain(|row| is_own(row.writer));
            }
            ledgers.push(losses);
        }
        let mut ledgers = ledgers.into_iter();
        let mut sum = ledgers.next().expect("a topic has a reader from the start");
        for losses in ledgers {
            sum.writers.extend(losses.writers);
            sum.departed.extend(losses.departed);
            sum.departed_before.add(&losses.departed_before);
            sum.doubtful += losses.doubtful;
            sum.from_future += losses.from_future;
        }
        sum
    }
}

/// What a reader delivers of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeliveredPart {
    /// The sample, and the end of the instance.
    Whole,
    /// Only the end of the instance, because another reader delivered the sample.
    State,
    /// Another reader delivers the change.
    Nothing,
}

impl DeliveredPart {
    /// Passes the part to `each`.
    fn pass(
        self,
        info: &SampleInfo,
        sample: Option<Encoded<'_>>,
        key: impl FnOnce() -> Option<DynamicData>,
        each: &mut impl FnMut(&SampleInfo, TopicChange<'_>) -> Result<(), ToolError>,
    ) -> Result<(), ToolError> {
        if self == Self::Nothing {
            return Ok(());
        }
        if self == Self::Whole
            && let Some(encoded) = sample
        {
            each(info, TopicChange::Sample(encoded))?;
        }
        if ends_instance(info) {
            each(info, TopicChange::End(EndedInstance { state: info.instance_state, key: key() }))?;
        }
        Ok(())
    }
}

/// Returns the part of the change that no reader has delivered, and that no better one will.
///
/// `class` is the one of the reader, and `announced` the one of the writer.
fn delivery_of<T: EndKey>(
    writers: &mut HashMap<InstanceHandle, WriterProgress>,
    readers: &[(WriterClass, DataReader<T>)],
    class: WriterClass,
    announced: impl FnOnce() -> Option<WriterClass>,
    info: &SampleInfo,
) -> DeliveredPart {
    let handle = info.publication_handle;
    if !writers.contains_key(&handle) {
        if writers.len() >= WRITERS_MAX {
            writers.clear();
        }
        // A writer that left before its first change cannot change its reader.
        let class = announced().unwrap_or(class);
        writers.insert(handle, WriterProgress { class, is_settled: false, last: None });
    }
    let Some(progress) = writers.get_mut(&handle) else { return DeliveredPart::Whole };
    let number = info.sequence_number.0;
    if progress.class == class {
        // The history of the writer begins with changes that another reader delivered.
        progress.is_settled = true;
        // Ends without a change of a writer have no number.
        let is_repeated = progress.last.is_some_and(|last| (1..=last).contains(&number));
        return match (is_repeated, info.valid_data) {
            (false, _) => DeliveredPart::Whole,
            // The other reader may lack the end, which has no sample of its own here.
            (true, true) => DeliveredPart::State,
            (true, false) => DeliveredPart::Nothing,
        };
    }
    // A reader of the class will receive the earlier samples of the writer again.
    let is_repeated = progress.class.is_transient_local && readers.iter().any(|(other, _)| *other == progress.class);
    if progress.is_settled || is_repeated {
        return DeliveredPart::Nothing;
    }
    progress.last = progress.last.max(Some(number));
    DeliveredPart::Whole
}
