//! Writers that wait for room at a peer.
//!
//! A peer that is slower than its writers fills its ring, or holds all the memory that it may hold. A datagram for this
//! peer alone waits until the peer has made room. So the writers of a process share a peer without losses. A peer that
//! makes no room in time gets no such datagram, and the protocol repairs a reliable sample.

use super::{Sharing, now};
use crate::actor::{Effects, Poke, Signals};
use crate::sync::{Arc, AtomicBool, Lock, Ordering, Weak};
use dds_shm::ShmPath;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// How long datagrams wait for a peer that makes no room. Longer than a busy system keeps a thread from its processor.
const PATIENCE: Duration = Duration::from_millis(10);

/// A path to a peer, and how long the peer has made no room.
#[derive(Debug)]
pub(super) struct MemoryPath {
    pub(super) shm: ShmPath,
    fullness: Lock<Option<Fullness>>,
}

/// A path that was full.
#[derive(Debug, Clone, Copy)]
struct Fullness {
    /// When it was first found full since the last progress of the peer.
    since: Instant,
    progress: u64,
}

impl MemoryPath {
    pub(super) fn new(shm: ShmPath) -> Self {
        Self { shm, fullness: Lock::default() }
    }

    /// Notes that the path was full. Returns whether the datagram may wait for room.
    #[cold]
    pub(super) fn may_wait(&self) -> bool {
        let (now, progress) = (now(), self.shm.progress());
        let mut fullness = self.fullness.lock();
        match &*fullness {
            Some(known) if known.progress == progress => now.saturating_duration_since(known.since) < PATIENCE,
            _ => {
                *fullness = Some(Fullness { since: now, progress });
                true
            }
        }
    }
}

/// Cells whose datagrams wait for room at a peer.
#[derive(Debug, Default)]
pub(super) struct RoomWaiters {
    /// A datagram has found no room since the last wake.
    is_wanted: AtomicBool,
    waiting: Lock<WaitingCells>,
}

#[derive(Debug, Default)]
struct WaitingCells {
    /// Bound: each cell once.
    cells: Vec<Weak<dyn Poke>>,
    /// A task wakes them in time.
    is_timed: bool,
}

/// Result of [`RoomWaiters::enlist`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enlisted {
    /// The cell is woken.
    Timed,
    /// The cell is woken, and the caller must start [`Sharing::wake_in_time`].
    Untimed,
    /// No datagram waits for room at a peer.
    NotHere,
}

impl RoomWaiters {
    /// Notes that a datagram waits for room. Its cell enlists next.
    pub(super) fn want(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    pub(super) fn enlist(&self, cell: &Weak<dyn Poke>) -> Enlisted {
        let mut waiting = self.waiting.lock();
        // After a wake since the refusal, there may be room.
        if !self.is_wanted.load(Ordering::Relaxed) {
            return Enlisted::NotHere;
        }
        if !waiting.cells.iter().any(|known| Weak::ptr_eq(known, cell)) {
            waiting.cells.push(Weak::clone(cell));
        }
        if std::mem::replace(&mut waiting.is_timed, true) { Enlisted::Timed } else { Enlisted::Untimed }
    }

    /// Wakes the cells, which try again.
    pub(super) fn wake(&self) {
        if !self.is_wanted.swap(false, Ordering::Relaxed) {
            return;
        }
        let cells = std::mem::take(&mut self.waiting.lock().cells);
        // Outside of the lock, because a poked cell may wait again.
        for cell in cells.iter().filter_map(Weak::upgrade) {
            cell.signal(Signals::WRITABLE);
            Effects::scope(|effects| cell.poke(effects));
        }
    }
}

impl Sharing {
    /// Wakes a cell whose datagram waits when a peer has made room, or after a time. Returns false if none waits.
    pub(in crate::driver::os) fn wake_with_room(self: &Arc<Self>, cell: &Weak<dyn Poke>, runtime: &Handle) -> bool {
        match self.room.enlist(cell) {
            Enlisted::Timed => true,
            Enlisted::Untimed => {
                runtime.spawn(Arc::clone(self).wake_in_time());
                true
            }
            Enlisted::NotHere => false,
        }
    }

    /// Wakes the waiting cells in time, until there are none.
    pub(super) async fn wake_in_time(self: Arc<Self>) {
        loop {
            tokio::time::sleep(PATIENCE).await;
            self.room.wake();
            let mut waiting = self.room.waiting.lock();
            // A cell that still finds no room has enlisted again.
            if waiting.cells.is_empty() {
                waiting.is_timed = false;
                return;
            }
        }
    }
}
