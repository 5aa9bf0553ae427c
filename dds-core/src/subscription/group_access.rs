//! The readers of a subscriber with PRESENTATION scope GROUP, as one (DDS 1.4, 2.2.2.5.2.8 to 2.2.2.5.2.10 and 2.2.3.6).
//!
//! Between the protocol of each reader and its history stands one gate for all of them. A reader brings there what has come,
//! from inside its cell, and takes over what the gate has released for it; others that have something to take over are poked.
//! While somebody has access nothing is released, and whoever begins access first lets every reader take over what was: so
//! what they show belongs together, though each is a cell of its own.
//!
//! Life cycle: made with the subscriber; readers come and go. Bound: what waits counts in the histories of the readers.

use crate::actor::{Effects, Poke, Signals};
use crate::delivery::LocalBegin;
use crate::subscription::{ReaderActor, ReaderCell};
use dds_rtps::history::Selection;
use dds_rtps::reader::{GroupGate, PublisherKey, Release, StatefulReader, WriterProxyConfig};
use dds_rtps::types::{Duration, EntityId, Guid, Instant, Now, SequenceNumber};
use dds_rtps::writer::PresentationClock;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// How long an answer is waited for to how far a writer is. As long as what is missing is asked for again.
const ASK_INTERVAL: Duration = Duration::from_millis(100);

/// There may be something for a reader in the gate.
pub(crate) const GROUP_TURN: Signals = Signals::own(4);

/// What the readers of a subscriber have in common.
pub(crate) struct GroupAccess {
    state: Mutex<GateState>,
    /// How often access was begun and not ended.
    depth: AtomicUsize,
    ordered: bool,
}

struct GateState {
    gate: GroupGate,
    readers: Vec<(EntityId, Weak<ReaderCell>)>,
}

/// A reader's place at the gate.
pub(crate) struct Seat {
    pub(crate) access: Arc<GroupAccess>,
    /// The places of what was released and may not have been taken yet: of each change its rank, its writer and its number.
    ranks: VecDeque<(u64, Guid, SequenceNumber)>,
    /// When writers are asked again how far they are.
    ask_at: Option<Instant>,
}

impl GroupAccess {
    pub(crate) fn new(coherent: bool, ordered: bool) -> Arc<Self> {
        let state = GateState { gate: GroupGate::new(coherent, ordered), readers: Vec::new() };
        Arc::new(Self { state: Mutex::new(state), depth: AtomicUsize::new(0), ordered })
    }

    /// Held for the work of one visit, without a call of anybody else.
    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody has access.
    pub(crate) fn is_open(&self) -> bool {
        self.depth.load(Ordering::Acquire) > 0
    }

    /// Whether the samples of several readers are to be taken in one order.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// From now on nothing is released. Under the lock: who releases meanwhile is done, or sees it.
    pub(crate) fn begin(&self) {
        let _state = self.state();
        self.depth.fetch_add(1, Ordering::AcqRel);
    }

    /// `true`: nobody has access any more, and each reader may have something to take over.
    pub(crate) fn end(&self) -> bool {
        let _state = self.state();
        self.depth.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(crate) fn add_reader(&self, reader: EntityId, cell: Weak<ReaderCell>) {
        let mut state = self.state();
        state.readers.retain(|(known, _)| *known != reader);
        state.readers.push((reader, cell));
    }

    /// A reader has closed: nobody waits for what it has.
    pub(crate) fn remove_reader(&self, reader: EntityId) {
        let mut state = self.state();
        state.readers.retain(|(known, _)| *known != reader);
        state.gate.remove_reader(reader);
    }

    pub(crate) fn unmatch(&self, writer: Guid, reader: EntityId) {
        self.state().gate.remove(writer, reader, false);
    }

    /// A reader matches a writer of another participant. Of a reliable one it will hear how far it is.
    pub(crate) fn match_remote(&self, key: PublisherKey, pair: (Guid, EntityId), (reliable, tells): (bool, bool)) {
        self.state().gate.add(key, pair, (reliable, tells), SequenceNumber::ZERO, None);
    }

    /// A reader matches a writer of this participant, of which all up to `reached` is none of its business.
    pub(crate) fn match_local(
        &self,
        clock: &Arc<PresentationClock>,
        pair: (Guid, EntityId),
        reliable: bool,
        reached: SequenceNumber,
    ) {
        let key = PublisherKey::Local(Arc::as_ptr(clock) as usize);
        self.state().gate.add(key, pair, (reliable, true), reached, Some(Arc::clone(clock)));
    }
}

impl Seat {
    pub(crate) fn new(access: Arc<GroupAccess>) -> Self {
        Self { access, ranks: VecDeque::new(), ask_at: None }
    }

    /// Brings to the gate what has come, and takes over what it has released.
    pub(crate) fn take_turn(&mut self, rtps: &mut StatefulReader, now: Now, effects: &mut Effects) {
        let reader = rtps.guid().entity_id;
        rtps.admit_released(now);
        let access = Arc::clone(&self.access);
        let mut state = access.state();
        while let Some((writer, item)) = rtps.poll_group_item() {
            state.gate.push(writer, reader, item);
        }
        if !self.access.is_open() {
            state.gate.release(now);
        }
        while let Some(release) = state.gate.poll_release(reader) {
            if let Release::Admit { rank, change } = &release {
                self.ranks.push_back((*rank, change.change.writer, change.change.sequence_number));
            }
            rtps.handle_release(now, release);
        }
        self.ask(&mut state, rtps, now);
        state.poke_others(reader, now, effects);
        drop(state);
        if !self.access.is_ordered() {
            self.ranks.clear();
        } else if self.ranks.len() > 2 * rtps.history().len() + RANKS_MIN {
            self.forget_taken(rtps);
        }
    }

    /// Asks the writers that others wait for, and again while they do.
    fn ask(&mut self, state: &mut GateState, rtps: &mut StatefulReader, now: Now) {
        let reader = rtps.guid().entity_id;
        for writer in state.gate.take_writers_to_ask(reader, now, ASK_INTERVAL) {
            rtps.ask_progress(now, writer);
        }
        self.ask_at = if state.gate.is_asking(reader) { now.instant.after(ASK_INTERVAL) } else { None };
    }

    /// When the reader is to take its next turn at the latest.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.ask_at
    }

    fn forget_taken(&mut self, rtps: &StatefulReader) {
        let here: std::collections::HashSet<_> = rtps.history().identities().collect();
        self.ranks.retain(|(_, writer, number)| here.contains(&(*writer, *number)));
    }

    /// The ranks of these samples.
    pub(crate) fn ranks_of(&self, samples: &[(Guid, SequenceNumber)]) -> Vec<u64> {
        let ranks: std::collections::HashMap<_, _> =
            self.ranks.iter().map(|&(rank, writer, number)| ((writer, number), rank)).collect();
        samples.iter().map(|sample| ranks.get(sample).copied().unwrap_or(0)).collect()
    }
}

/// Ranks that may lie here beside twice the samples, before those of samples that were taken are swept out.
const RANKS_MIN: usize = 64;

impl GateState {
    /// Pokes the readers that have something to take over, or somebody to ask.
    fn poke_others(&self, own: EntityId, now: Now, effects: &mut Effects) {
        let asking = self.gate.readers_to_ask(now, ASK_INTERVAL);
        let mut to_poke: Vec<EntityId> = self.gate.readers_with_releases().chain(asking).collect();
        to_poke.sort_unstable();
        to_poke.dedup();
        for (reader, cell) in &self.readers {
            if *reader != own && to_poke.binary_search(reader).is_ok() {
                if let Some(cell) = cell.upgrade() {
                    cell.signal(GROUP_TURN);
                    effects.poke(cell as Arc<dyn Poke>);
                }
            }
        }
    }
}

impl ReaderActor {
    /// Brings to the gate of the subscriber what has come, and takes over what it has released; if there is one.
    #[inline]
    pub(super) fn pass_gate(&mut self, now: Now, effects: &mut Effects) {
        if let Some(seat) = &mut self.seat {
            seat.take_turn(&mut self.rtps, now, effects);
        }
    }

    /// A writer of another participant is about to be matched.
    pub(super) fn seat_remote(&self, writer: &WriterProxyConfig) {
        if let Some(seat) = &self.seat {
            seat.match_remote(self.rtps.guid().entity_id, writer, self.rtps.is_reliable());
        }
    }

    /// A writer of this participant has been matched.
    pub(super) fn seat_local(&mut self, writer: Guid, begin: &LocalBegin) {
        if let (Some(seat), Some((clock, reached))) = (&self.seat, &begin.presented) {
            self.rtps.start_group_after(writer, *reached);
            seat.access.match_local(clock, (writer, self.rtps.guid().entity_id), begin.reliable, *reached);
        }
    }

    /// A writer has gone. What has come of it goes to the gate first.
    pub(super) fn leave_gate(&mut self, writer: Guid, now: Now, effects: &mut Effects) {
        if let Some(seat) = &mut self.seat {
            seat.take_turn(&mut self.rtps, now, effects);
            seat.access.unmatch(writer, self.rtps.guid().entity_id);
        }
    }

    /// Takes over what the gate of the subscriber has released.
    pub(crate) fn take_turn(&mut self, effects: &mut Effects) {
        let now = self.now(effects);
        self.follow_up(now, effects);
    }

    /// The ranks of the samples that are asked for, among those of all readers of the subscriber.
    pub(crate) fn ranks(&mut self, selection: &Selection, effects: &mut Effects) -> Vec<u64> {
        let now = self.now(effects);
        let names = self.rtps.history_mut().identities_of(now, selection);
        self.seat.as_ref().map_or_else(Vec::new, |seat| seat.ranks_of(&names))
    }
}
