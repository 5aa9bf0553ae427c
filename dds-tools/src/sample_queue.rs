//! Samples between their readers and the thread that records them.
//!
//! The thread that receives a sample moves it into the queue at once. So the recording thread may wait for the disk or
//! for a processor. The queue has a limit in bytes and holds back no writer. It counts the samples without room.

use crate::instance_keys::{EndKey, KeptKey};
use crate::topic_reader::ends_instance;
use crate::writer_classes::{WriterClass, WriterClasses};
use bytes::Bytes;
use dds_core::cdr::Encoded;
use dds_core::reader::SampleRef;
use dds_core::writer::SequenceNumber;
use dds_core::{DataReader, SampleInfo, Time};
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a complete block.
const BLOCK_BYTES: usize = 1 << 20;
/// Empty blocks that wait for their next use.
const SPARE_BLOCKS_MAX: usize = 8;
/// Samples beyond this length stay in the memory of their reader. The memory of a shorter one may be a whole datagram.
const COPIED_LEN_MAX: usize = 64 << 10;

/// Samples of one take that are sorted without an allocation.
const SORTED_IN_PLACE: usize = 64;

/// Returns the order of the changes of a reader. Samples of one datagram have the same time.
pub(crate) fn arrival(info: &SampleInfo) -> (Time, SequenceNumber) {
    (info.reception_timestamp, info.sequence_number)
}

/// A queue for the changes of several topics, in the order of their arrival.
#[derive(Debug)]
pub(crate) struct SampleQueue {
    bytes_max: usize,
    state: Mutex<SampleQueueState>,
}

#[derive(Debug, Default)]
struct SampleQueueState {
    /// Complete blocks, the oldest one first.
    complete: VecDeque<QueueBlock>,
    /// The block that grows.
    last: QueueBlock,
    spare: Vec<QueueBlock>,
    /// Bytes of all changes, also of blocks that left the queue and are not back yet.
    bytes: usize,
    /// The changes of each topic that had no room.
    without_room: BTreeMap<usize, u64>,
    is_closed: bool,
}

/// A part of the queue. Its memory is reused.
#[derive(Debug, Default)]
pub(crate) struct QueueBlock {
    changes: Vec<QueuedChange>,
    /// The payloads of the short samples.
    payloads: Vec<u8>,
    /// Bytes that count for the limit of the queue.
    bytes: usize,
}

/// A change of a topic, as its reader returned it.
#[derive(Debug)]
pub(crate) struct QueuedChange {
    /// Number of the topic.
    pub(crate) topic: usize,
    /// Index of the reader among those of the topic.
    pub(crate) reader: usize,
    pub(crate) info: SampleInfo,
    /// The class of its writer. `None` without a writer, and if the writer left before its first change.
    pub(crate) writer_class: Option<WriterClass>,
    /// The key of an instance that ended, if the reader knows it.
    pub(crate) key: Option<Box<KeptKey>>,
    payload: QueuedPayload,
}

#[derive(Debug)]
enum QueuedPayload {
    Nothing,
    /// The place in the block.
    Copied(Range<usize>),
    Shared(Bytes),
}

impl QueuedChange {
    /// Returns the sample. `payloads` are those of its block.
    pub(crate) fn encoded<'b>(&'b self, payloads: &'b [u8]) -> Option<Encoded<'b>> {
        let bytes = match &self.payload {
            QueuedPayload::Nothing => return None,
            QueuedPayload::Copied(place) => payloads.get(place.clone())?,
            QueuedPayload::Shared(bytes) => bytes,
        };
        Encoded::new(bytes).ok()
    }
}

impl QueueBlock {
    /// Returns the changes in the order of their reception, and the payloads of the short samples.
    pub(crate) fn by_reception(&mut self) -> (&mut [QueuedChange], &[u8]) {
        let Self { changes, payloads, .. } = self;
        // A change that waited for an earlier one stands behind it in the queue, although it arrived first. The sort
        // is stable and usually has nothing to do.
        if !changes.is_sorted_by_key(|change| change.info.reception_timestamp) {
            changes.sort_by_key(|change| change.info.reception_timestamp);
        }
        (changes, payloads)
    }

    const fn is_complete(&self) -> bool {
        self.bytes >= BLOCK_BYTES
    }

    fn clear(&mut self) {
        self.changes.clear();
        self.payloads.clear();
        self.bytes = 0;
    }
}

impl SampleQueue {
    /// Creates a queue for at most `bytes_max` bytes. A single sample always has room.
    pub(crate) fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self { bytes_max, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, SampleQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the way of the topic with this number into the queue.
    pub(crate) fn inlet(self: &Arc<Self>, topic: usize) -> TopicInlet {
        TopicInlet { queue: Arc::clone(self), topic, classes: Arc::default() }
    }

    /// Returns how many changes of a topic had no room.
    pub(crate) fn without_room(&self, topic: usize) -> u64 {
        self.state().without_room.get(&topic).copied().unwrap_or(0)
    }

    /// Returns the bytes of all changes.
    pub(crate) fn bytes(&self) -> usize {
        self.state().bytes
    }

    /// Accepts no further change, and completes the last block.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let last = std::mem::take(&mut state.last);
        if !last.changes.is_empty() {
            state.complete.push_back(last);
        }
    }

    /// Removes the oldest block. Give it [`back`](Self::give_back).
    pub(crate) fn pop(&self) -> Option<QueueBlock> {
        let mut state = self.state();
        if let Some(block) = state.complete.pop_front() {
            return Some(block);
        }
        if state.last.changes.is_empty() {
            return None;
        }
        let empty = state.spare.pop().unwrap_or_default();
        Some(std::mem::replace(&mut state.last, empty))
    }

    /// Takes the memory of a block back. Returns whether a complete block waits.
    pub(crate) fn give_back(&self, mut block: QueueBlock) -> bool {
        let bytes = block.bytes;
        // Outside of the lock, because it frees long samples.
        block.clear();
        let mut state = self.state();
        state.bytes -= bytes;
        if state.spare.len() < SPARE_BLOCKS_MAX {
            state.spare.push(block);
        }
        !state.complete.is_empty()
    }

    /// Adds a change, and a copy of its short payload. The change counts with `bytes`.
    fn push(&self, mut change: QueuedChange, payload: Option<&[u8]>, bytes: usize) {
        let mut state = self.state();
        let SampleQueueState { complete, last, spare, bytes: total, without_room, is_closed } = &mut *state;
        if *is_closed {
            return;
        }
        if *total > 0 && *total + bytes > self.bytes_max {
            *without_room.entry(change.topic).or_default() += 1;
            return;
        }
        *total += bytes;
        last.bytes += bytes;
        if let Some(payload) = payload {
            let start = last.payloads.len();
            last.payloads.extend_from_slice(payload);
            change.payload = QueuedPayload::Copied(start..last.payloads.len());
        }
        last.changes.push(change);
        if last.is_complete() {
            let empty = spare.pop().unwrap_or_default();
            complete.push_back(std::mem::replace(last, empty));
        }
    }
}

/// The way of a topic into the queue.
#[derive(Debug, Clone)]
pub(crate) struct TopicInlet {
    queue: Arc<SampleQueue>,
    topic: usize,
    /// Asked as the changes arrive, because a writer may leave while they wait.
    classes: Arc<WriterClasses>,
}

impl TopicInlet {
    /// Moves all changes of a reader into the queue. `index` is its place among the readers of the topic.
    pub(crate) fn take_from<T: EndKey>(&self, index: usize, reader: &DataReader<T>) {
        // A closed reader has no samples.
        let Ok(samples) = reader.take() else { return };
        if samples.iter().is_sorted_by_key(|sample| arrival(sample.info())) {
            for sample in &samples {
                self.push(index, reader, &sample);
            }
            return;
        }
        // A reader returns the samples of a datagram by instance (DDS 1.4, 2.2.2.5.3.8).
        let mut ordered: SmallVec<[SampleRef<'_, T>; SORTED_IN_PLACE]> = samples.iter().collect();
        ordered.sort_by_key(|sample| arrival(sample.info()));
        for sample in &ordered {
            self.push(index, reader, sample);
        }
    }

    fn push<T: EndKey>(&self, index: usize, reader: &DataReader<T>, sample: &SampleRef<'_, T>) {
        let info = sample.info();
        // Only now, because the take may have removed the instance from the reader.
        let key = if ends_instance(info) { T::key_of_end(reader, sample) } else { None };
        let key = key.as_ref().and_then(KeptKey::new);
        let encoded = sample.encoded().map(|encoded| encoded.bytes);
        let (payload, copied) = match encoded {
            Some(bytes) if bytes.len() > COPIED_LEN_MAX => {
                (sample.to_bytes().map_or(QueuedPayload::Nothing, QueuedPayload::Shared), None)
            }
            short => (QueuedPayload::Nothing, short),
        };
        let key_len = key.as_ref().map_or(0, KeptKey::len);
        let bytes = size_of::<QueuedChange>() + encoded.map_or(0, <[u8]>::len) + key_len;
        let (topic, key) = (self.topic, key.map(Box::new));
        let writer_class = self.classes.of(info.publication_handle, reader);
        let change = QueuedChange { topic, reader: index, info: info.clone(), writer_class, key, payload };
        self.queue.push(change, copied, bytes);
    }
}
