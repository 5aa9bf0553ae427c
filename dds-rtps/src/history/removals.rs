//! Samples that leave a reader's cache without being taken, by writer.
//!
//! Life cycle: a row per matched writer, from the match to its end. What is removed after its writer has gone is counted
//! together. Bound: the matched writers.

use super::reader::ReaderHistory;
use super::sample_list::NOWHERE;
use crate::types::Guid;
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// How many samples of a writer left the cache without being taken. Plain numbers that only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RemovalCounts {
    /// Replaced by newer ones of their instance, and never read.
    pub overwritten_unread: u64,
    /// Replaced by newer ones of their instance, after they had been read.
    pub overwritten_read: u64,
    /// Their lifespan was over.
    pub expired: u64,
    /// Kept back by TIME_BASED_FILTER, and never let in.
    pub too_soon: u64,
    /// RemovalCounts by READER_DATA_LIFECYCLE some time after their instance had ended.
    pub purged: u64,
    /// Kept back by TIME_BASED_FILTER; when they were to be let in, another writer owned their instance.
    pub not_owner: u64,
    /// Kept back by TIME_BASED_FILTER; when they were to be let in, a newer one had been seen.
    pub superseded: u64,
    /// Kept back by TIME_BASED_FILTER; when they were to be let in at the latest, there was no room.
    pub rejected: u64,
}

/// Why a sample leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Removal {
    Overwritten { read: bool },
    Expired,
    TooSoon,
    Purged,
    NotOwner,
    Superseded,
    Rejected,
}

/// What was removed of one writer's samples.
#[derive(Debug)]
struct Row {
    writer: Guid,
    removed: RemovalCounts,
    /// Samples that lay here when the writer was matched: it was here before, and they are not among those of this match.
    /// The first ones to be removed are taken for these.
    inherited: usize,
}

/// The rows.
#[derive(Debug)]
pub(super) struct Removals {
    rows: Vec<Row>,
    by_writer: HashMap<Guid, usize, FixedState>,
    /// The row that was found last: most samples that are replaced are of one writer.
    last: usize,
    others: RemovalCounts,
    /// The one writer that there is and ever was, if so: then nobody need be looked for.
    is_sole: bool,
    /// A writer has gone, whose samples may still be here.
    has_parted: bool,
}

impl Removals {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            rows: Vec::new(),
            by_writer: HashMap::with_hasher(FixedState::with_seed(seed)),
            last: 0,
            others: RemovalCounts::default(),
            is_sole: false,
            has_parted: false,
        }
    }

    #[inline]
    pub(super) fn note(&mut self, writer: Guid, removal: Removal) {
        let row = match self.rows.first_mut() {
            Some(row) if self.is_sole => &mut row.removed,
            _ => self.row(writer),
        };
        match removal {
            Removal::Overwritten { read: false } => row.overwritten_unread += 1,
            Removal::Overwritten { read: true } => row.overwritten_read += 1,
            Removal::Expired => row.expired += 1,
            Removal::TooSoon => row.too_soon += 1,
            Removal::Purged => row.purged += 1,
            Removal::NotOwner => row.not_owner += 1,
            Removal::Superseded => row.superseded += 1,
            Removal::Rejected => row.rejected += 1,
        }
    }

    fn row(&mut self, writer: Guid) -> &mut RemovalCounts {
        if self.rows.get(self.last).is_none_or(|known| known.writer != writer) {
            match self.by_writer.get(&writer) {
                Some(&at) => self.last = at,
                None => return &mut self.others,
            }
        }
        let row = &mut self.rows[self.last];
        if row.inherited > 0 {
            row.inherited -= 1;
            return &mut self.others;
        }
        &mut row.removed
    }

    /// Whether samples of writers may be here that have gone.
    fn has_parted(&self) -> bool {
        self.has_parted
    }

    fn follow(&mut self, writer: Guid, inherited: usize) {
        if !self.by_writer.contains_key(&writer) {
            self.by_writer.insert(writer, self.rows.len());
            self.rows.push(Row { writer, removed: RemovalCounts::default(), inherited });
            self.is_sole = self.rows.len() == 1 && !self.has_parted;
        }
    }

    pub(super) fn unfollow(&mut self, writer: Guid) -> RemovalCounts {
        let Some(at) = self.by_writer.remove(&writer) else { return RemovalCounts::default() };
        let removed = self.rows.swap_remove(at).removed;
        (self.is_sole, self.has_parted) = (false, true);
        if let Some(moved) = self.rows.get(at) {
            self.by_writer.insert(moved.writer, at);
        }
        removed
    }

    pub(super) fn of(&self, writer: Guid) -> RemovalCounts {
        self.by_writer.get(&writer).and_then(|&at| self.rows.get(at)).map(|row| row.removed).unwrap_or_default()
    }

    pub(super) fn of_others(&self) -> RemovalCounts {
        self.others
    }
}

impl ReaderHistory {
    /// From now on what is removed of this writer's samples is counted for it.
    pub fn follow_writer(&mut self, writer: Guid) {
        let inherited = if self.removals.has_parted() { self.samples_of(writer) } else { 0 };
        self.removals.follow(writer, inherited);
    }

    /// How many samples of a writer lie here, or are kept back.
    fn samples_of(&self, writer: Guid) -> usize {
        let mut at = self.samples.arrivals.first;
        let mut count = self.timing.as_ref().map_or(0, |timing| timing.filter.held_of(writer));
        while at != NOWHERE {
            count += usize::from(self.samples.get(at).writer == writer);
            at = self.samples.next_arrival(at);
        }
        count
    }

    /// The writer has gone: what was removed of its samples so far. What is removed later counts for
    /// [`ReaderHistory::removed_of_others`].
    pub fn unfollow_writer(&mut self, writer: Guid) -> RemovalCounts {
        self.removals.unfollow(writer)
    }

    /// What was removed of a writer's samples without having been taken.
    #[must_use]
    pub fn removed_of(&self, writer: Guid) -> RemovalCounts {
        self.removals.of(writer)
    }

    /// The same, of writers that have gone, since they went.
    #[must_use]
    pub fn removed_of_others(&self) -> RemovalCounts {
        self.removals.of_others()
    }
}
