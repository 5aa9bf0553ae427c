//! Which cell a submessage goes to: by entity id, and by remote writer.
//!
//! Every look-up is one hash, whatever the number of endpoints. Bound: an entry for each endpoint of the participant, and
//! one for each remote writer that matches one of its readers; both are limited by discovery.

use crate::publication::WriterCell;
use crate::subscription::ReaderCell;
use dds_rtps::concurrent::AssertionClock;
use dds_rtps::discovery::ReplyTo;
use dds_rtps::discovery::data::ParticipantData;
use dds_rtps::qos::LivelinessKind;
use dds_rtps::types::{EntityId, Guid, GuidPrefix, Instant, Locator};
use dds_rtps::wire::InfoReply;
use foldhash::fast::RandomState;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The readers that one submessage goes to.
pub(crate) type ReaderTargets = SmallVec<[Arc<ReaderCell>; 2]>;

/// The table; shared by the receive thread and whoever makes or deletes endpoints.
#[derive(Default)]
pub(crate) struct Routes {
    tables: RwLock<RouteTables>,
}

#[derive(Default)]
struct RouteTables {
    readers: HashMap<EntityId, Arc<ReaderCell>, RandomState>,
    writers: HashMap<EntityId, Arc<WriterCell>, RandomState>,
    matched: HashMap<Guid, ReaderTargets, RandomState>,
    others: HashMap<GuidPrefix, RemoteParticipant, RandomState>,
}

/// Another participant.
#[derive(Default)]
struct RemoteParticipant {
    /// When it was last heard of: signs of life of its automatic writers.
    automatic: Arc<AssertionClock>,
    /// The same of its writers that are manual by participant.
    manual: Arc<AssertionClock>,
    /// What of `automatic` discovery knows already, in nanoseconds of the monotonic clock.
    harvested: AtomicU64,
    /// Its unicast locators.
    announced: Vec<Locator>,
    /// So many messages without a checksum are not believed.
    incredible: AtomicU8,
}

/// Who gives its messages checksums does so with each. One that comes without has lost it on the way, to a bit that made the
/// header extension something else, and other bits may be wrong as well. That happens once; so many in a row mean that the
/// peer sends none any more, or that somebody else had sent the one that had it.
const INCREDIBLE_MAX: u8 = 8;

impl RemoteParticipant {
    /// Whether a message may be read.
    fn is_credible(&self, has_checksum: bool) -> bool {
        if has_checksum {
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

/// What the table says of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Nothing.
    Plain,
    /// Some of the sender's writers do not count as alive.
    Awaited,
    /// It has no checksum, but should.
    Incredible,
}

impl Routes {
    fn read<R>(&self, look: impl FnOnce(&RouteTables) -> R) -> R {
        look(&self.tables.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<R>(&self, change: impl FnOnce(&mut RouteTables) -> R) -> R {
        change(&mut self.tables.write().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn add_reader(&self, id: EntityId, cell: Arc<ReaderCell>) {
        self.change(|tables| tables.readers.insert(id, cell));
    }

    /// Takes the reader out of every table.
    pub(crate) fn remove_reader(&self, id: EntityId) {
        self.change(|tables| {
            let Some(cell) = tables.readers.remove(&id) else { return };
            tables.matched.retain(|_, readers| {
                readers.retain(|reader| !Arc::ptr_eq(reader, &cell));
                !readers.is_empty()
            });
        });
    }

    pub(crate) fn add_writer(&self, id: EntityId, cell: Arc<WriterCell>) {
        self.change(|tables| tables.writers.insert(id, cell));
    }

    pub(crate) fn remove_writer(&self, id: EntityId) {
        self.change(|tables| tables.writers.remove(&id));
    }

    /// Every endpoint of the participant, taken out of every table, in the order of their ids: that of the tables differs
    /// from run to run.
    pub(crate) fn take_endpoints(&self) -> (Vec<Arc<ReaderCell>>, Vec<Arc<WriterCell>>) {
        self.change(|tables| {
            tables.matched.clear();
            (in_order(std::mem::take(&mut tables.readers)), in_order(std::mem::take(&mut tables.writers)))
        })
    }

    pub(crate) fn reader(&self, id: EntityId) -> Option<Arc<ReaderCell>> {
        self.read(|tables| tables.readers.get(&id).cloned())
    }

    pub(crate) fn writer(&self, id: EntityId) -> Option<Arc<WriterCell>> {
        self.read(|tables| tables.writers.get(&id).cloned())
    }

    /// Every reader that `writer` matches.
    pub(crate) fn matched_readers(&self, writer: Guid) -> ReaderTargets {
        self.read(|tables| tables.matched.get(&writer).cloned().unwrap_or_default())
    }

    pub(crate) fn matched(&self, writer: Guid, reader: &Arc<ReaderCell>) {
        self.change(|tables| {
            let readers = tables.matched.entry(writer).or_default();
            if !readers.iter().any(|known| Arc::ptr_eq(known, reader)) {
                readers.push(Arc::clone(reader));
            }
        });
    }

    pub(crate) fn unmatched(&self, writer: Guid, reader: &Arc<ReaderCell>) {
        self.change(|tables| {
            if let Some(readers) = tables.matched.get_mut(&writer) {
                readers.retain(|known| !Arc::ptr_eq(known, reader));
                if readers.is_empty() {
                    tables.matched.remove(&writer);
                }
            }
        });
    }

    /// A participant was found, or has announced other locators than before.
    pub(crate) fn participant_found(&self, participant: &ParticipantData) {
        self.change(|tables| {
            tables.others.entry(participant.prefix).or_default().announced = participant.unicast_locators();
        });
    }

    pub(crate) fn participant_lost(&self, prefix: GuidPrefix) {
        self.change(|tables| tables.others.remove(&prefix));
    }

    /// Notes that `prefix` was heard of; without effect for one that discovery does not know.
    pub(crate) fn heard_of(&self, prefix: GuidPrefix, has_checksum: bool, now: Instant) -> Heard {
        self.read(|tables| match tables.others.get(&prefix) {
            Some(other) if !other.is_credible(has_checksum) => Heard::Incredible,
            Some(other) if other.automatic.assert_often(now) | other.manual.has_waiting_leases() => Heard::Awaited,
            _ => Heard::Plain,
        })
    }

    /// Where the signs of life of another participant are noted.
    pub(crate) fn assertion_clock(&self, prefix: GuidPrefix, kind: LivelinessKind) -> Option<Arc<AssertionClock>> {
        self.read(|tables| {
            let other = tables.others.get(&prefix)?;
            match kind {
                LivelinessKind::Automatic => Some(Arc::clone(&other.automatic)),
                LivelinessKind::ManualByParticipant => Some(Arc::clone(&other.manual)),
                LivelinessKind::ManualByTopic => None,
            }
        })
    }

    /// Whether writers of a participant that do not count as alive may have shown that they are.
    pub(crate) fn take_news_of(&self, prefix: GuidPrefix) -> bool {
        self.read(|tables| {
            let other = tables.others.get(&prefix);
            other.is_some_and(|other| other.automatic.take_unreported() | other.manual.take_unreported())
        })
    }

    /// Every reader of this participant, in the order of their ids: what follows for them must not be chance.
    pub(crate) fn readers(&self) -> Vec<Arc<ReaderCell>> {
        self.read(|tables| in_order(tables.readers.iter().map(|(id, cell)| (*id, Arc::clone(cell)))))
    }

    /// Every writer of this participant, in the order of their ids.
    pub(crate) fn writers(&self) -> Vec<Arc<WriterCell>> {
        self.read(|tables| in_order(tables.writers.iter().map(|(id, cell)| (*id, Arc::clone(cell)))))
    }

    /// Where `source` is to be answered when its message says so itself.
    pub(crate) fn reply_to(&self, source: GuidPrefix, reply: &InfoReply<'_>) -> ReplyTo {
        self.read(|tables| ReplyTo::choose(reply, tables.others.get(&source).map(|other| &other.announced[..])))
    }

    /// Calls `renew` for every participant that was heard of since the last harvest.
    pub(crate) fn harvest_heard(&self, mut renew: impl FnMut(GuidPrefix, Instant)) {
        self.read(|tables| {
            for (prefix, other) in &tables.others {
                let heard = other.automatic.last();
                if other.harvested.swap(heard.as_nanos(), Ordering::Relaxed) != heard.as_nanos() {
                    renew(*prefix, heard);
                }
            }
        });
    }
}

fn in_order<C>(table: impl IntoIterator<Item = (EntityId, Arc<C>)>) -> Vec<Arc<C>> {
    let mut cells: Vec<_> = table.into_iter().collect();
    cells.sort_unstable_by_key(|(id, _)| *id);
    cells.into_iter().map(|(_, cell)| cell).collect()
}
