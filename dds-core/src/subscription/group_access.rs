//! Gate of a subscriber with PRESENTATION scope GROUP (DDS 1.4, 2.2.2.5.2.8 to 2.2.2.5.2.10 and 2.2.3.6).
//!
//! One gate stands between the protocols of all readers and their histories. A reader adds its changes to the gate from
//! inside of its cell. It then moves the changes that the gate has released for it into its history. The gate pokes
//! other readers that have released changes.
//!
//! The gate releases nothing while an access is open. A new access first makes every reader move its released changes.
//! The readers then show a consistent state, although each is a cell of its own.
//!
//! Life cycle: the subscriber creates the gate, and readers join and leave. Bound: waiting changes count in the
//! histories of the readers.

use crate::actor::{Effects, Poke, Signals};
use crate::subscription::ReaderCell;
use dds_rtps::reader::{GroupGate, PublisherKey, Release, StatefulReader, WriterProxyConfig};
use dds_rtps::types::{Duration, EntityId, Guid, Instant, Now, SequenceNumber};
use dds_rtps::writer::PresentationClock;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Time between two questions to a writer about its progress. Also the interval of repeated requests for missing
/// changes.
const ASK_INTERVAL: Duration = Duration::from_millis(100);

/// The gate may have changes for this reader.
pub(crate) const GROUP_TURN: Signals = Signals::own(4);

/// Gate that the readers of a subscriber share.
pub(crate) struct GroupAccess {
    state: Mutex<GateState>,
    /// Number of open accesses.
    depth: AtomicUsize,
    ordered: bool,
}

struct GateState {
    gate: GroupGate,
    readers: Vec<(EntityId, Weak<ReaderCell>)>,
}

/// Membership of a reader in the gate.
pub(crate) struct GroupMembership {
    access: Arc<GroupAccess>,
    /// Rank, writer and sequence number of each released change that may not have been taken yet.
    ranks: VecDeque<(u64, Guid, SequenceNumber)>,
    /// Time at which the reader asks writers again for their progress.
    ask_at: Option<Instant>,
}

impl GroupAccess {
    pub(crate) fn new(coherent: bool, ordered: bool) -> Arc<Self> {
        let state = GateState { gate: GroupGate::new(coherent, ordered), readers: Vec::new() };
        Arc::new(Self { state: Mutex::new(state), depth: AtomicUsize::new(0), ordered })
    }

    /// The guard lives for the work of one visit and calls no foreign code.
    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether an access is open.
    pub(crate) fn is_open(&self) -> bool {
        self.depth.load(Ordering::Acquire) > 0
    }

    /// Returns whether samples of several readers have a common order.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// Stops the release of changes. It takes the lock, so a concurrent release has ended or sees the change.
    pub(crate) fn begin(&self) {
        // Under the lock, so that a reader in the middle of its turn finishes before the access begins.
        let _state = self.state();
        self.depth.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends an access. Returns `true` if it was the last one. Then each reader must check for released changes.
    pub(crate) fn end(&self) -> bool {
        let _state = self.state();
        // Accesses nest, and only the end of the outermost one releases changes.
        let before = self.depth.fetch_sub(1, Ordering::AcqRel);
        debug_assert!(before > 0, "each access has counted itself");
        before == 1
    }

    pub(crate) fn add_reader(&self, reader: EntityId, cell: Weak<ReaderCell>) {
        let mut state = self.state();
        state.readers.retain(|(known, _)| *known != reader);
        // A second entry of one reader would poke it twice for each set.
        state.readers.push((reader, cell));
    }

    /// Removes a closed reader. The gate no longer waits for its changes.
    pub(crate) fn remove_reader(&self, reader: EntityId) {
        let mut state = self.state();
        state.readers.retain(|(known, _)| *known != reader);
        state.gate.remove_reader(reader);
    }

    pub(crate) fn unmatch(&self, writer: Guid, reader: EntityId) {
        self.state().gate.remove(writer, reader, false);
    }

    /// Adds a pair of a remote writer and a reader. A reliable writer reports its progress.
    pub(crate) fn match_remote(&self, key: PublisherKey, pair: (Guid, EntityId), (reliable, tells): (bool, bool)) {
        self.state().gate.add(key, pair, (reliable, tells), SequenceNumber::ZERO, None);
    }

    /// Adds a pair of a local writer and a reader. The reader is not entitled to changes up to `reached`.
    pub(crate) fn match_local(
        &self,
        clock: &Arc<PresentationClock>,
        pair: (Guid, EntityId),
        reliable: bool,
        reached: SequenceNumber,
    ) {
        // The clock lives as long as its publisher, so its address identifies it.
        let key = PublisherKey::Local(Arc::as_ptr(clock) as usize);
        self.state().gate.add(key, pair, (reliable, true), reached, Some(Arc::clone(clock)));
    }
}

impl GroupMembership {
    pub(crate) fn new(access: Arc<GroupAccess>) -> Self {
        Self { access, ranks: VecDeque::new(), ask_at: None }
    }

    /// Adds a remote writer of the reader to the gate.
    pub(super) fn match_remote(&self, reader: EntityId, writer: &WriterProxyConfig, reliable: bool) {
        let key = PublisherKey::Remote(writer.guid.prefix, writer.publisher);
        // A gap of a best-effort writer is never filled, so the gate must not wait for it.
        let reliable = reliable && writer.reliable;
        self.access.match_remote(key, (writer.guid, reader), (reliable, writer.reports_group_progress));
    }

    /// Adds a local writer of the reader to the gate. The reader is not entitled to changes up to `reached`.
    pub(super) fn match_local(
        &self,
        clock: &Arc<PresentationClock>,
        pair: (Guid, EntityId),
        reliable: bool,
        reached: SequenceNumber,
    ) {
        self.access.match_local(clock, pair, reliable, reached);
    }

    /// Removes a writer of the reader from the gate.
    pub(super) fn unmatch(&self, writer: Guid, reader: EntityId) {
        self.access.unmatch(writer, reader);
    }

    /// Adds new changes of the reader to the gate, and moves the changes that it has released.
    pub(crate) fn pass_group_gate(&mut self, rtps: &mut StatefulReader, now: Now, effects: &mut Effects) {
        let reader = rtps.guid().entity_id;
        rtps.admit_released(now);
        let access = Arc::clone(&self.access);
        // One lock for the whole turn: other readers must not see half of a set (DDS 1.4, 2.2.3.6).
        let mut state = access.state();
        while let Some((writer, item)) = rtps.poll_group_item() {
            state.gate.push(writer, reader, item);
        }
        // Between `begin_access` and `end_access` the application sees no change (DDS 1.4, 2.2.2.5.2.8).
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
        // Only an ordered access asks for ranks. Sweep at twice the history, so that the cost per sample is constant.
        if !self.access.is_ordered() {
            self.ranks.clear();
        } else if self.ranks.len() > 2 * rtps.history().len() + RANKS_MIN {
            self.forget_taken(rtps);
        }
    }

    /// Asks the writers that other readers wait for. Repeats it while they wait.
    fn ask(&mut self, state: &mut GateState, rtps: &mut StatefulReader, now: Now) {
        let reader = rtps.guid().entity_id;
        for writer in state.gate.take_due_requests(reader, now, ASK_INTERVAL) {
            rtps.request_progress(now, writer);
        }
        self.ask_at = if state.gate.has_pending_request(reader) { now.instant.after(ASK_INTERVAL) } else { None };
    }

    /// Latest time of the reader's next turn.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.ask_at
    }

    fn forget_taken(&mut self, rtps: &StatefulReader) {
        // Samples that the application has taken need no rank any more.
        let here: std::collections::HashSet<_> = rtps.history().identities().collect();
        self.ranks.retain(|(_, writer, number)| here.contains(&(*writer, *number)));
    }

    /// Returns the ranks of these samples.
    pub(crate) fn ranks_of(&self, samples: &[(Guid, SequenceNumber)]) -> Vec<u64> {
        let mut ranks = std::collections::HashMap::new();
        for &(rank, writer, number) in &self.ranks {
            ranks.insert((writer, number), rank);
        }
        // Samples from before the group was ordered come first.
        samples.iter().map(|sample| ranks.get(sample).copied().unwrap_or(0)).collect()
    }
}

/// Number of ranks, beyond twice the samples, at which ranks of taken samples are removed.
const RANKS_MIN: usize = 64;

impl GateState {
    /// Pokes the readers that have released changes, or a writer to ask.
    fn poke_others(&self, own: EntityId, now: Now, effects: &mut Effects) {
        let asking = self.gate.readers_with_due_requests(now, ASK_INTERVAL);
        let mut to_poke: Vec<EntityId> = self.gate.readers_with_releases().chain(asking).collect();
        // Sorted, so that each reader is poked once and a search is cheap.
        to_poke.sort_unstable();
        to_poke.dedup();
        for (reader, cell) in &self.readers {
            // The own cell is held. It takes its releases in this turn.
            if *reader != own && to_poke.binary_search(reader).is_ok() {
                if let Some(cell) = cell.upgrade() {
                    cell.signal(GROUP_TURN);
                    effects.poke(cell as Arc<dyn Poke>);
                }
            }
        }
    }
}
