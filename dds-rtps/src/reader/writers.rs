//! The matched writers of a reader: found by GUID, and in the order in which they need an ACKNACK.

use super::coherent::writer_sets::WriterSets;
use super::config::ReaderConfig;
use super::ledger::WriterLosses;
use super::ledger::tally::WriterTally;
use super::proxy::WriterProxy;
use super::proxy::acknack::AckNackCounts;
use crate::history::{ReaderHistory, RemovalCounts};
use crate::types::{DueHeap, Guid, HashSeed, Instant, KeyedState, SequenceNumber};
use std::collections::{HashMap, VecDeque};

/// Most writers that one reader matches.
///
/// A peer can announce any number of endpoints; this many writers of one topic are a misconfiguration.
pub const WRITERS_MAX: usize = 4096;

/// Most unmatched writers whose position a volatile reader remembers.
const POSITIONS_MAX: usize = 256;

/// A matched writer with its part of the ledger and its coherent sets.
#[derive(Debug)]
pub(crate) struct MatchedWriter {
    pub(crate) proxy: WriterProxy,
    pub(crate) tally: WriterTally,
    /// `Some` if the reader presents changes together (PRESENTATION).
    pub(crate) sets: Option<Box<WriterSets>>,
}

impl MatchedWriter {
    pub(crate) fn new(proxy: WriterProxy, config: &ReaderConfig) -> Self {
        let sets = if config.has_presentation() { Some(Box::new(WriterSets::new(config))) } else { None };
        Self { proxy, tally: WriterTally::default(), sets }
    }

    /// Row of the writer in the ledger. The history removed samples of the writer as `removed` says.
    pub(crate) fn losses(&self, removed: &RemovalCounts) -> WriterLosses {
        let waiting_in_set = match &self.sets {
            Some(sets) => sets.waiting(),
            None => 0,
        };
        WriterLosses::new(self.proxy.guid(), self.proxy.position(), &self.tally, waiting_in_set, removed)
    }
}

/// Table of the matched writers. An index is valid until a writer is removed.
#[derive(Debug)]
pub(crate) struct WriterTable {
    writers: Vec<MatchedWriter>,
    by_guid: HashMap<Guid, usize, KeyedState>,
    /// The writer that was found last: most traffic comes in bursts of one writer.
    last_found: usize,
    /// When each writer must be looked at. A writer that needs no answer since then is looked at once in vain.
    due_heap: DueHeap,
    /// Highest counts of answers to unmatched writers. A writer that matches again gets no lower ones.
    counts_of_unmatched: AckNackCounts,
    /// Whether the reader requests history (DURABILITY).
    wants_history: bool,
    /// The next numbers of unmatched writers of a volatile reader, the most recent one last. One that returns repeats
    /// no sample.
    positions: VecDeque<(Guid, SequenceNumber)>,
}

impl WriterTable {
    pub(crate) fn new(seed: HashSeed, wants_history: bool) -> Self {
        Self {
            writers: Vec::new(),
            by_guid: HashMap::with_hasher(seed.state()),
            last_found: 0,
            due_heap: DueHeap::new(),
            counts_of_unmatched: AckNackCounts::default(),
            wants_history,
            positions: VecDeque::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.writers.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.writers.len() >= WRITERS_MAX
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &MatchedWriter> {
        self.writers.iter()
    }

    /// The writer at an index that [`Self::find`] returned.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> &MatchedWriter {
        &self.writers[index]
    }

    /// As [`Self::at`], to change it.
    #[inline]
    pub(crate) fn at_mut(&mut self, index: usize) -> &mut MatchedWriter {
        &mut self.writers[index]
    }

    pub(crate) fn get(&self, writer: Guid) -> Option<&MatchedWriter> {
        self.writers.get(*self.by_guid.get(&writer)?)
    }

    /// Index of a matched writer.
    #[inline]
    pub(crate) fn find(&mut self, writer: Guid) -> Option<usize> {
        // Most submessages come from the same writer as the one before.
        if self.writers.get(self.last_found).is_some_and(|known| known.proxy.guid() == writer) {
            return Some(self.last_found);
        }
        self.find_by_hash(writer)
    }

    fn find_by_hash(&mut self, writer: Guid) -> Option<usize> {
        let index = self.by_guid.get(&writer).copied()?;
        debug_assert!(
            self.writers.get(index).is_some_and(|known| known.proxy.guid() == writer),
            "the hash map leads to the writer"
        );
        self.last_found = index;
        Some(index)
    }

    /// Adds a writer that is not in the table, and returns its index.
    pub(crate) fn insert(&mut self, writer: MatchedWriter) -> usize {
        let index = self.writers.len();
        debug_assert!(index < WRITERS_MAX, "the caller checks that the table is not full");
        self.by_guid.insert(writer.proxy.guid(), index);
        self.writers.push(writer);
        self.note_due(index);
        index
    }

    fn remember_position(&mut self, writer: Guid, next: SequenceNumber) {
        // The writer that left first is the least likely to return.
        if self.positions.len() >= POSITIONS_MAX {
            self.positions.pop_front();
        }
        self.positions.push_back((writer, next));
    }

    /// Takes the next number of a writer that was matched before.
    pub(crate) fn take_position(&mut self, writer: Guid) -> Option<SequenceNumber> {
        let at = self.positions.iter().position(|(known, _)| *known == writer)?;
        Some(self.positions.remove(at)?.1)
    }

    /// Removes a writer. Indices of other writers change.
    pub(crate) fn remove(&mut self, writer: Guid) -> Option<MatchedWriter> {
        let index = self.by_guid.remove(&writer)?;
        let removed = self.writers.swap_remove(index);
        if let Some(reliable) = removed.proxy.reliable() {
            // A reader that wants history gets it again, to learn which instances are alive.
            if !reliable.awaits_start() && !self.wants_history {
                self.remember_position(writer, reliable.next());
            }
            // A writer that kept its proxy of this reader ignores lower counts, so they go on from here.
            self.counts_of_unmatched = self.counts_of_unmatched.max(reliable.acknacks.counts());
        }
        self.due_heap.forget(index as u32);
        if let Some(moved) = self.writers.get(index) {
            self.by_guid.insert(moved.proxy.guid(), index);
            // The last writer took the free index, and its due time moves along.
            self.due_heap.relocate(self.writers.len() as u32, index as u32);
        }
        debug_assert!(self.by_guid.len() == self.writers.len(), "each writer has one entry in the hash map");
        Some(removed)
    }

    /// Highest counts of answers to unmatched writers.
    pub(crate) fn counts_of_unmatched(&self) -> AckNackCounts {
        self.counts_of_unmatched
    }

    /// How many reliable writers have not sent a HEARTBEAT yet.
    pub(crate) fn count_awaiting_heartbeat(&self) -> usize {
        self.writers.iter().filter(|writer| writer.proxy.awaits_heartbeat()).count()
    }

    /// A proxy has changed: it may need an answer earlier than before.
    #[inline]
    pub(crate) fn note_due(&mut self, index: usize) {
        if let Some(due) = self.writers[index].proxy.due() {
            self.due_heap.bring_forward(index as u32, due);
        }
    }

    /// When the first writer must be looked at.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.due_heap.first()
    }

    /// Looks at due writers, the longest due first, until one has an answer. So no writer starves.
    ///
    /// `transmit` returns whether it wrote an answer.
    pub(crate) fn transmit_next(&mut self, now: Instant, mut transmit: impl FnMut(&mut WriterProxy) -> bool) -> bool {
        // Each writer gets one look at most: a writer without an answer may be due again at once.
        for _ in 0..self.writers.len() {
            let Some(index) = self.due_heap.first_due(now) else { break };
            let Some(writer) = self.writers.get_mut(index as usize) else {
                debug_assert!(false, "the heap holds matched writers only");
                break;
            };
            let has_sent = transmit(&mut writer.proxy);
            // Even without an answer the due time has changed.
            self.due_heap.set(index, writer.proxy.due());
            if has_sent {
                return true;
            }
        }
        false
    }

    /// Samples of a matched writer that the history removed, and the writer itself, as rows of the ledger.
    pub(crate) fn losses(&self, history: &ReaderHistory) -> Vec<WriterLosses> {
        let mut rows = Vec::with_capacity(self.writers.len());
        for writer in &self.writers {
            rows.push(writer.losses(&history.removed_of(writer.proxy.guid())));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::DataReaderQos;
    use crate::reader::{KeySource, WriterProxyConfig};
    use crate::types::{EntityId, GuidPrefix};

    fn guid(number: u8) -> Guid {
        Guid::new(GuidPrefix([number; 12]), EntityId([0, 0, 1, 2]))
    }

    fn table(writers: u8) -> WriterTable {
        let config = ReaderConfig {
            reliable: true,
            ..ReaderConfig::new(Guid::UNKNOWN, KeySource::None, &DataReaderQos::default())
        };
        let mut table = WriterTable::new(HashSeed::fixed(0), false);
        for number in 1..=writers {
            let now = Instant::from_nanos(number.into());
            let proxy = WriterProxy::remote(now, WriterProxyConfig::new(guid(number)), &config);
            table.insert(MatchedWriter::new(proxy, &config));
        }
        table
    }

    #[test]
    fn removed_writer_leaves_the_others_in_place() {
        let mut table = table(3);
        assert_eq!(table.find(guid(3)), Some(2));
        assert!(table.remove(guid(1)).is_some() && table.remove(guid(1)).is_none());
        assert_eq!((table.find(guid(3)), table.find(guid(2)), table.find(guid(1))), (Some(0), Some(1), None));
        assert_eq!(table.deadline(), Some(Instant::from_nanos(2)));
    }

    #[test]
    fn positions_of_unmatched_writers_are_bounded() {
        let mut table = table(1);
        let writer = |number: usize| Guid::from_bytes([number.to_be_bytes(), [2; 8]].concat().try_into().unwrap());
        for number in 0..POSITIONS_MAX + 10 {
            table.remember_position(writer(number), SequenceNumber(number as i64));
        }
        assert_eq!(table.positions.len(), POSITIONS_MAX);
        assert_eq!(table.take_position(writer(9)), None);
        assert_eq!(table.take_position(writer(10)), Some(SequenceNumber(10)));
        assert_eq!(table.take_position(writer(10)), None);
    }

    #[test]
    fn only_volatile_readers_remember_positions() {
        for (wants_history, remembered) in [(true, 0), (false, 1)] {
            let config = ReaderConfig {
                reliable: true,
                wants_history,
                ..ReaderConfig::new(Guid::UNKNOWN, KeySource::None, &DataReaderQos::default())
            };
            let mut table = WriterTable::new(HashSeed::fixed(0), wants_history);
            let writer = WriterProxyConfig { reliable: true, ..WriterProxyConfig::new(guid(1)) };
            let proxy = WriterProxy::remote(Instant::ZERO, writer, &config);
            table.insert(MatchedWriter::new(proxy, &config));
            assert!(table.remove(guid(1)).is_some());
            assert_eq!(table.positions.len(), remembered);
        }
    }

    #[test]
    fn due_writers_are_polled_in_the_order_of_time() {
        let mut table = table(3);
        let mut polled = Vec::new();
        let now = Instant::from_nanos(2);
        for _ in 0..4 {
            table.transmit_next(now, |proxy| {
                polled.push(proxy.guid());
                proxy.reliable_mut().is_some_and(|reliable| reliable.acknacks.note_heartbeat())
            });
        }
        assert_eq!(polled, [guid(1), guid(2)]);
    }
}
