//! Finds the cell of a submessage: by entity ID, and by remote writer.
//!
//! Every lookup is one hash, independent of the number of endpoints. Bound: an entry for each endpoint of the
//! participant, and one for each remote writer that matches one of its readers. Discovery limits both.

use crate::publication::WriterCell;
use crate::subscription::ReaderCell;
use dds_rtps::concurrent::AssertionClock;
use dds_rtps::discovery::ReplyTo;
use dds_rtps::qos::LivelinessKind;
use dds_rtps::types::{EntityId, Guid, GuidPrefix, HashSeed, Instant, KeyedState, Locator};
use dds_rtps::wire::InfoReply;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The readers of one submessage.
pub(crate) type ReaderTargets = SmallVec<[Arc<ReaderCell>; 2]>;

/// The tables, shared by the receive thread and the threads that create or delete endpoints.
pub(crate) struct Routes {
    tables: RwLock<RouteTables>,
}

struct RouteTables {
    readers: HashMap<EntityId, Arc<ReaderCell>, KeyedState>,
    writers: HashMap<EntityId, Arc<WriterCell>, KeyedState>,
    /// Local readers of each remote writer.
    matched: HashMap<Guid, ReaderTargets, KeyedState>,
    others: HashMap<GuidPrefix, RemoteParticipant, KeyedState>,
}

/// Another participant.
#[derive(Default)]
struct RemoteParticipant {
    /// When it was last heard. Counts for its writers with automatic liveliness.
    automatic: Arc<AssertionClock>,
    /// When it last asserted its writers that are manual by participant.
    manual: Arc<AssertionClock>,
    /// The part of `automatic` that discovery already knows, in nanoseconds of the monotonic clock.
    harvested: AtomicU64,
    /// Its unicast locators that may receive answers.
    reply_locators: Vec<Locator>,
    /// Number of messages without a checksum that are still rejected.
    incredible: AtomicU8,
}

/// Most messages without a checksum that are rejected in a row.
///
/// A peer that uses checksums sends one in each message. A message without one has lost it on the way: a bit error made
/// the header extension something else, and other bits may be wrong as well. That happens once. This many in a row mean
/// that the peer no longer sends checksums, or that another sender had sent the one with a checksum.
const INCREDIBLE_MAX: u8 = 8;

impl RemoteParticipant {
    /// Whether a message may be read.
    fn is_credible(&self, has_checksum: bool) -> bool {
        if has_checksum {
            // From now on a message without a checksum counts as damaged.
            self.incredible.store(INCREDIBLE_MAX, Ordering::Relaxed);
            return true;
        }
        match self.incredible.load(Ordering::Relaxed) {
            0 => true,
            left => {
                self.incredible.store(left - 1, Ordering::Relaxed);
                false
            }
        }
    }
}

/// State of a message's sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Nothing special.
    Plain,
    /// Some writers of the sender do not count as alive.
    Awaited,
    /// The message lacks the checksum that its sender uses.
    Incredible,
}

impl Routes {
    pub(crate) fn new(seed: HashSeed) -> Self {
        let tables = RouteTables {
            readers: HashMap::with_hasher(seed.state()),
            writers: HashMap::with_hasher(seed.state()),
            matched: HashMap::with_hasher(seed.state()),
            others: HashMap::with_hasher(seed.state()),
        };
        Self { tables: RwLock::new(tables) }
    }

    fn tables(&self) -> RwLockReadGuard<'_, RouteTables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn tables_mut(&self) -> RwLockWriteGuard<'_, RouteTables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_reader(&self, id: EntityId, cell: Arc<ReaderCell>) {
        self.tables_mut().readers.insert(id, cell);
    }

    /// Removes the reader from all tables.
    pub(crate) fn remove_reader(&self, id: EntityId) {
        let mut tables = self.tables_mut();
        let Some(cell) = tables.readers.remove(&id) else { return };
        // A scan of all writers, once in the life of a reader. The path of a sample never scans.
        tables.matched.retain(|_, readers| {
            readers.retain(|reader| !Arc::ptr_eq(reader, &cell));
            !readers.is_empty()
        });
    }

    pub(crate) fn add_writer(&self, id: EntityId, cell: Arc<WriterCell>) {
        self.tables_mut().writers.insert(id, cell);
    }

    pub(crate) fn remove_writer(&self, id: EntityId) {
        let removed = self.tables_mut().writers.remove(&id);
        // Its drop may run long. The lock is free by now.
        drop(removed);
    }

    /// Removes all endpoints of the participant from all tables. Returns them in order of their IDs.
    ///
    /// The order of the tables differs from run to run.
    pub(crate) fn take_endpoints(&self) -> (Vec<Arc<ReaderCell>>, Vec<Arc<WriterCell>>) {
        let mut tables = self.tables_mut();
        tables.matched.clear();
        (in_order(tables.readers.drain()), in_order(tables.writers.drain()))
    }

    pub(crate) fn reader(&self, id: EntityId) -> Option<Arc<ReaderCell>> {
        self.tables().readers.get(&id).cloned()
    }

    pub(crate) fn writer(&self, id: EntityId) -> Option<Arc<WriterCell>> {
        self.tables().writers.get(&id).cloned()
    }

    /// All readers that match `writer`.
    pub(crate) fn matched_readers(&self, writer: Guid) -> ReaderTargets {
        // Cloned, because the lock must not be held in the cells of the readers.
        self.tables().matched.get(&writer).cloned().unwrap_or_default()
    }

    pub(crate) fn matched(&self, writer: Guid, reader: &Arc<ReaderCell>) {
        let mut tables = self.tables_mut();
        let readers = tables.matched.entry(writer).or_default();
        // A writer that announces itself again matches again.
        if !readers.iter().any(|known| Arc::ptr_eq(known, reader)) {
            readers.push(Arc::clone(reader));
        }
    }

    pub(crate) fn unmatched(&self, writer: Guid, reader: &Arc<ReaderCell>) {
        let mut tables = self.tables_mut();
        if let Some(readers) = tables.matched.get_mut(&writer) {
            readers.retain(|known| !Arc::ptr_eq(known, reader));
            // Keep the bound: no entry for a writer without readers.
            if readers.is_empty() {
                tables.matched.remove(&writer);
            }
        }
    }

    /// Adds a participant, unless it is known.
    pub(crate) fn participant_found(&self, prefix: GuidPrefix) {
        // Clocks of a known participant stay, because its endpoints hold them.
        self.tables_mut().others.entry(prefix).or_default();
    }

    /// Records where answers to a participant may go.
    pub(crate) fn set_reply_locators(&self, prefix: GuidPrefix, locators: Vec<Locator>) {
        if let Some(other) = self.tables_mut().others.get_mut(&prefix) {
            other.reply_locators = locators;
        }
    }

    pub(crate) fn participant_lost(&self, prefix: GuidPrefix) {
        let removed = self.tables_mut().others.remove(&prefix);
        drop(removed);
    }

    /// Records that `prefix` was heard. Has no effect if discovery does not know it.
    pub(crate) fn heard_of(&self, prefix: GuidPrefix, has_checksum: bool, now: Instant) -> Heard {
        match self.tables().others.get(&prefix) {
            Some(other) if !other.is_credible(has_checksum) => Heard::Incredible,
            // Any message of a participant asserts its automatic writers. `|`, because both sides have an effect.
            Some(other) if other.automatic.assert_often(now) | other.manual.has_waiting_leases() => Heard::Awaited,
            _ => Heard::Plain,
        }
    }

    /// The assertion clock of another participant for writers of a kind.
    pub(crate) fn assertion_clock(&self, prefix: GuidPrefix, kind: LivelinessKind) -> Option<Arc<AssertionClock>> {
        let tables = self.tables();
        let other = tables.others.get(&prefix)?;
        match kind {
            LivelinessKind::Automatic => Some(Arc::clone(&other.automatic)),
            LivelinessKind::ManualByParticipant => Some(Arc::clone(&other.manual)),
            // Each writer asserts itself, by a sample or a HEARTBEAT with the liveliness flag.
            LivelinessKind::ManualByTopic => None,
        }
    }

    /// Whether lost writers of a participant may be alive again. Resets the flag.
    pub(crate) fn take_news_of(&self, prefix: GuidPrefix) -> bool {
        match self.tables().others.get(&prefix) {
            // `|`, because both must be taken.
            Some(other) => other.automatic.take_unreported() | other.manual.take_unreported(),
            None => false,
        }
    }

    /// All readers of this participant in order of their IDs, so that effects on them are deterministic.
    pub(crate) fn readers(&self) -> Vec<Arc<ReaderCell>> {
        in_order(self.tables().readers.iter().map(|(id, cell)| (*id, Arc::clone(cell))))
    }

    /// All writers of this participant, in order of their IDs.
    pub(crate) fn writers(&self) -> Vec<Arc<WriterCell>> {
        in_order(self.tables().writers.iter().map(|(id, cell)| (*id, Arc::clone(cell))))
    }

    /// Chooses where to answer `source`, if its message contains a reply locator.
    pub(crate) fn reply_to(&self, source: GuidPrefix, reply: &InfoReply<'_>) -> ReplyTo {
        match self.tables().others.get(&source) {
            Some(other) => ReplyTo::choose(reply, &other.reply_locators),
            None => ReplyTo::choose(reply, &[]),
        }
    }

    /// Calls `renew` for each participant that was heard since the last call.
    pub(crate) fn harvest_heard(&self, mut renew: impl FnMut(GuidPrefix, Instant)) {
        for (prefix, other) in &self.tables().others {
            let heard = other.automatic.last();
            // Renew only leases of participants that were heard since the last harvest.
            if other.harvested.swap(heard.as_nanos(), Ordering::Relaxed) != heard.as_nanos() {
                renew(*prefix, heard);
            }
        }
    }
}

fn in_order<C>(table: impl IntoIterator<Item = (EntityId, Arc<C>)>) -> Vec<Arc<C>> {
    // Hash maps have a random order, and a simulation must repeat its runs exactly.
    let mut cells: Vec<_> = table.into_iter().collect();
    cells.sort_unstable_by_key(|(id, _)| *id);
    cells.into_iter().map(|(_, cell)| cell).collect()
}
