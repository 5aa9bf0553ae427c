//! Samples that leave a reader history without being taken, counted by writer.
//!
//! Life cycle: an entry per matched writer, from its match to its end. Removals after that are counted together for all
//! former writers. Bound: the matched writers.

use crate::types::{Guid, HashSeed, KeyedState};
use std::collections::HashMap;

/// How many samples of a writer left the history without being taken. These counters only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RemovalCounts {
    /// Unread samples that newer ones of their instance replaced.
    pub overwritten_unread: u64,
    /// Read samples that newer ones of their instance replaced.
    pub overwritten_read: u64,
    /// Samples whose LIFESPAN ended.
    pub expired: u64,
    /// Samples that TIME_BASED_FILTER never delivered.
    pub too_soon: u64,
    /// Samples that READER_DATA_LIFECYCLE removed after the end of their instance.
    pub purged: u64,
    /// Pending samples of TIME_BASED_FILTER whose writer had lost the ownership when they were due.
    pub not_owner: u64,
    /// Pending samples of TIME_BASED_FILTER that were superseded when they were due.
    pub superseded: u64,
    /// Pending samples of TIME_BASED_FILTER for which the history had no space at the last moment.
    pub rejected: u64,
}

impl RemovalCounts {
    fn add(&mut self, reason: RemovalReason) {
        match reason {
            RemovalReason::Overwritten { read: false } => self.overwritten_unread += 1,
            RemovalReason::Overwritten { read: true } => self.overwritten_read += 1,
            RemovalReason::Expired => self.expired += 1,
            RemovalReason::TooSoon => self.too_soon += 1,
            RemovalReason::Purged => self.purged += 1,
            RemovalReason::NotOwner => self.not_owner += 1,
            RemovalReason::Superseded => self.superseded += 1,
            RemovalReason::Rejected => self.rejected += 1,
        }
    }
}

/// Why a sample leaves the history without being taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemovalReason {
    Overwritten { read: bool },
    Expired,
    TooSoon,
    Purged,
    NotOwner,
    Superseded,
    Rejected,
}

/// The removed samples of one matched writer.
#[derive(Debug)]
struct WriterRemovals {
    writer: Guid,
    counts: RemovalCounts,
    /// Stored samples from a former match of the writer. They do not belong to this match, and the first removals are
    /// taken for them.
    inherited: usize,
}

/// The removed samples of all writers.
#[derive(Debug)]
pub(super) struct Removals {
    writers: Vec<WriterRemovals>,
    by_writer: HashMap<Guid, usize, KeyedState>,
    /// The writer that was found last. Most replaced samples are of the same writer.
    last_found: usize,
    former_writers: RemovalCounts,
    /// There is one writer and there never was another, so that no search is needed.
    has_one_writer: bool,
    /// Some writer was unmatched. Samples of it may still be stored.
    has_former_writers: bool,
}

impl Removals {
    pub(super) fn new(seed: HashSeed) -> Self {
        Self {
            writers: Vec::new(),
            by_writer: HashMap::with_hasher(seed.state()),
            last_found: 0,
            former_writers: RemovalCounts::default(),
            has_one_writer: false,
            has_former_writers: false,
        }
    }

    /// Counts a removed sample.
    #[inline]
    pub(super) fn note(&mut self, writer: Guid, reason: RemovalReason) {
        match self.writers.first_mut() {
            // Every sample is then of this writer, so there is nothing to look up.
            Some(only) if self.has_one_writer => only.counts.add(reason),
            _ => self.counts_mut(writer).add(reason),
        }
    }

    fn counts_mut(&mut self, writer: Guid) -> &mut RemovalCounts {
        match self.writers.get(self.last_found) {
            Some(known) if known.writer == writer => {}
            _ => match self.by_writer.get(&writer) {
                Some(&at) => self.last_found = at,
                None => return &mut self.former_writers,
            },
        }
        let known = &mut self.writers[self.last_found];
        // Older samples leave first, so these are taken for those of the former match.
        if known.inherited > 0 {
            known.inherited -= 1;
            return &mut self.former_writers;
        }
        &mut known.counts
    }

    /// Whether samples of former writers may be stored.
    pub(super) fn has_former_writers(&self) -> bool {
        self.has_former_writers
    }

    /// Starts to count for a matched writer. `inherited` samples of it are stored already.
    pub(super) fn follow(&mut self, writer: Guid, inherited: usize) {
        if !self.by_writer.contains_key(&writer) {
            self.by_writer.insert(writer, self.writers.len());
            self.writers.push(WriterRemovals { writer, counts: RemovalCounts::default(), inherited });
            self.has_one_writer = self.writers.len() == 1 && !self.has_former_writers;
        }
    }

    /// Stops counting for an unmatched writer. Returns its counts.
    pub(super) fn unfollow(&mut self, writer: Guid) -> RemovalCounts {
        let Some(at) = self.by_writer.remove(&writer) else { return RemovalCounts::default() };
        debug_assert!(self.writers[at].writer == writer, "the map and the list agree");
        let counts = self.writers.swap_remove(at).counts;
        (self.has_one_writer, self.has_former_writers) = (false, true);
        if let Some(moved) = self.writers.get(at) {
            self.by_writer.insert(moved.writer, at);
        }
        counts
    }

    /// The counts of a matched writer.
    pub(super) fn of(&self, writer: Guid) -> RemovalCounts {
        match self.by_writer.get(&writer) {
            Some(&at) => self.writers[at].counts,
            None => RemovalCounts::default(),
        }
    }

    /// The counts of all former writers, since they were unmatched.
    pub(super) fn of_former_writers(&self) -> RemovalCounts {
        self.former_writers
    }
}
