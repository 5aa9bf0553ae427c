//! The sending side of a path.

use super::departed::DepartedPeers;
use super::{HostState, Identity, len_of};
use crate::config::ShmConfig;
use crate::memory::MappedMemory;
use crate::pool::{BlockPool, GRAIN_LEN, grains_of};
use crate::reasons::{Exhausted, SendFailure, Violation};
use crate::ring::{INLINE_MAX, Pushed, RETURNS_MAX, RecordKind, RingWriter, record_len};
use rustix::net::{SendFlags, Shutdown};
use rustix::process::Pid;
use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Number of a path, unique within its host and never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(pub(super) u64);

/// The process at the other end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShmPeer {
    /// Identity that the peer claims, unverified.
    pub identity: Identity,
    /// User ID of the peer's process, from the kernel.
    pub user: u32,
}

/// Sends messages to one peer. Clones share the path.
#[derive(Debug, Clone)]
pub struct ShmPath {
    pub(super) state: Arc<PathState>,
    pub(super) host: Weak<HostState>,
}

/// State of a path that senders and the receive thread share.
#[derive(Debug)]
pub(super) struct PathState {
    pub(super) id: PathId,
    pub(super) peer: ShmPeer,
    pub(super) socket: Arc<OwnedFd>,
    sending: Mutex<Sending>,
    departed: Arc<DepartedPeers>,
    /// The process of the peer. `None` if this process cannot see it.
    process: Option<Pid>,
    /// A message found no room since the last `ShmEvent::Room`.
    wants_room: AtomicBool,
}

/// Whether the path takes messages.
#[derive(Debug)]
enum Sending {
    Open(OpenSending),
    /// The violation that a sending thread found, if that ended the path.
    Ended(Option<Violation>),
}

#[derive(Debug)]
pub(super) struct OpenSending {
    ring: RingWriter<MappedMemory>,
    holds: HeldBlocks,
}

/// What the process of a peer holds of ended paths.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DepartedHolds {
    blocks: u32,
    grains: usize,
}

/// Blocks that the peer holds.
#[derive(Debug)]
struct HeldBlocks {
    pool: Arc<BlockPool>,
    /// By number of the block: how often the peer holds it.
    counts: Vec<u8>,
    /// By number of the block: length in grains.
    grains: Vec<u32>,
    blocks: u32,
    blocks_max: u32,
    held_grains: usize,
    grains_max: usize,
    /// They count as well, so that a peer does not hold more by a new path.
    departed: DepartedHolds,
}

/// A message in the pool of its host, ready for several paths.
#[derive(Debug)]
pub struct StagedMessage {
    pool: Arc<BlockPool>,
    block: u32,
    len: u32,
}

impl ShmPath {
    /// Number of this path.
    #[must_use]
    pub fn id(&self) -> PathId {
        self.state.id
    }

    /// The process at the other end.
    #[must_use]
    pub fn peer(&self) -> ShmPeer {
        self.state.peer
    }

    /// Sends one message, gathered from its parts. Never blocks.
    ///
    /// Messages of up to 2 KiB go into the ring, longer ones into a block of the pool.
    ///
    /// # Errors
    /// Nothing is sent if there is no room, the message is longer than the pool, or the path has ended.
    pub fn send(&self, parts: &[IoSlice<'_>]) -> Result<(), SendFailure> {
        let len = len_of(parts);
        if len <= INLINE_MAX {
            return self.state.push(RecordKind::Inline, 0, len as u32, parts);
        }
        // Before the block is chosen, so that it is the one that the peer returned last.
        self.state.take_returned();
        let host = self.host.upgrade().ok_or(SendFailure::Gone)?;
        self.send_staged(&host.stage(parts)?)
    }

    /// Sends a message of the same host's pool. Never blocks.
    ///
    /// # Errors
    /// Nothing is sent if there is no room, another host staged the message, or the path has ended.
    pub fn send_staged(&self, message: &StagedMessage) -> Result<(), SendFailure> {
        let mut sending = self.state.lock();
        let Sending::Open(open) = &mut *sending else { return Err(SendFailure::Gone) };
        // The peer maps only the pool of this host. The number of the block would mean other bytes there.
        if !Arc::ptr_eq(&open.holds.pool, &message.pool) {
            return Err(SendFailure::OtherHost);
        }
        self.state.count_departed(open);
        let pushed = open.push_block(message);
        self.state.complete(sending, pushed)
    }

    /// Bytes of the ring that are free now. Zero after the end.
    ///
    /// A message of up to 2 KiB takes its length, rounded up to 16, and 16. A longer one takes 16.
    #[must_use]
    pub fn room(&self) -> usize {
        let mut sending = self.state.lock();
        let Sending::Open(open) = &mut *sending else { return 0 };
        // The next send reports a violation.
        open.ring.look_for_room().unwrap_or(0) as usize
    }

    /// Number of messages of `len` bytes that have room now. Zero after the end.
    ///
    /// The pool may have less room, because it serves all peers.
    #[must_use]
    pub fn room_for(&self, len: usize) -> usize {
        let mut sending = self.state.lock();
        let Sending::Open(open) = &mut *sending else { return 0 };
        // The next send reports a violation.
        let ring_room = open.ring.look_for_room().unwrap_or(0);
        if len <= INLINE_MAX {
            return (ring_room / record_len(len as u32)) as usize;
        }
        if open.take_returned().is_err() {
            return 0;
        }
        open.holds.room_for(len).min((ring_room / record_len(0)) as usize)
    }

    /// A number that changes whenever the peer reads or returns something. Zero after the end.
    #[must_use]
    pub fn progress(&self) -> u64 {
        let mut sending = self.state.lock();
        let Sending::Open(open) = &mut *sending else { return 0 };
        // The next send reports a violation.
        let _ = open.ring.look_for_room();
        let _ = open.take_returned();
        open.ring.progress()
    }

    /// Whether the path still takes messages.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.state.is_sending()
    }

    /// Ends the path on both sides. `ShmEvent::Down` follows.
    pub fn close(&self) {
        self.state.end(None);
    }
}

impl PathState {
    pub(super) fn new(
        id: PathId,
        peer: ShmPeer,
        socket: Arc<OwnedFd>,
        ring: RingWriter<MappedMemory>,
        host: &HostState,
        process: Option<Pid>,
    ) -> Self {
        let mut holds = HeldBlocks::new(Arc::clone(&host.pool), &host.config);
        if let Some(process) = process {
            holds.departed = host.departed.held_by(process);
        }
        let sending = Mutex::new(Sending::Open(OpenSending { ring, holds }));
        let departed = Arc::clone(&host.departed);
        Self { id, peer, socket, sending, departed, process, wants_room: AtomicBool::new(false) }
    }

    /// Recounts the holds of the peer from its earlier paths, as long as it holds something.
    fn count_departed(&self, open: &mut OpenSending) {
        if open.holds.departed.blocks > 0 {
            if let Some(process) = self.process {
                open.holds.departed = self.departed.held_by(process);
            }
        }
    }

    /// Writes a record and wakes the peer if it sleeps.
    pub(super) fn push(
        &self,
        kind: RecordKind,
        argument: u32,
        len: u32,
        parts: &[IoSlice<'_>],
    ) -> Result<(), SendFailure> {
        let mut sending = self.lock();
        let Sending::Open(open) = &mut *sending else { return Err(SendFailure::Gone) };
        let pushed = open.ring.push(kind, argument, len, parts).map(Ok);
        self.complete(sending, pushed)
    }

    /// Wakes the peer, or ends the path if the peer broke a rule.
    fn complete(
        &self,
        sending: MutexGuard<'_, Sending>,
        pushed: Result<Result<Pushed, Exhausted>, Violation>,
    ) -> Result<(), SendFailure> {
        if matches!(pushed, Ok(Ok(Pushed::Full) | Err(_))) {
            self.wants_room.store(true, Ordering::Relaxed);
        }
        // The system call happens outside of the lock.
        drop(sending);
        match pushed {
            Ok(Ok(Pushed::Written { wakes })) => {
                // The socket is full, or the peer has left. The next record tries again.
                if wakes && !self.wake_peer() {
                    if let Sending::Open(open) = &mut *self.lock() {
                        open.ring.repeat_wake();
                    }
                }
                Ok(())
            }
            Ok(Ok(Pushed::Full)) => Err(SendFailure::Full(Exhausted::Ring)),
            Ok(Ok(Pushed::NoMemory)) => Err(SendFailure::Full(Exhausted::Memory)),
            Ok(Err(exhausted)) => Err(SendFailure::Full(exhausted)),
            Err(violation) => {
                self.end(Some(violation));
                Err(SendFailure::Gone)
            }
        }
    }

    /// Takes back the blocks that the peer has returned.
    pub(super) fn take_returned(&self) {
        let mut sending = self.lock();
        let Sending::Open(open) = &mut *sending else { return };
        let taken = open.take_returned();
        drop(sending);
        if let Err(violation) = taken {
            self.end(Some(violation));
        }
    }

    /// Wakes the peer by a byte on the socket. Returns whether the system took it.
    ///
    /// A full socket refuses it. Then the peer has wakes that it has not read, and the next message tries again.
    ///
    /// Not by an eventfd: its flags are shared, so the peer could make the write block. Here each call says that it
    /// does not block.
    pub(super) fn wake_peer(&self) -> bool {
        rustix::net::send(&self.socket, &[0], SendFlags::DONTWAIT | SendFlags::NOSIGNAL).is_ok()
    }

    /// Whether a message found no room since the last call.
    pub(super) fn take_wish(&self) -> bool {
        self.wants_room.load(Ordering::Relaxed) && {
            // After the sender that has set it, because that sender still holds the lock.
            let _sending = self.lock();
            self.wants_room.swap(false, Ordering::Relaxed)
        }
    }

    pub(super) fn is_sending(&self) -> bool {
        matches!(*self.lock(), Sending::Open(_))
    }

    /// Takes no more messages, and hangs up. Returns an earlier violation.
    ///
    /// Releases all blocks, unless the peer may still read them.
    pub(super) fn end(&self, violation: Option<Violation>) -> Option<Violation> {
        let mut sending = self.lock();
        let earlier = match &*sending {
            Sending::Open(_) => violation,
            Sending::Ended(earlier) => *earlier,
        };
        let open = std::mem::replace(&mut *sending, Sending::Ended(earlier));
        drop(sending);
        match (open, self.process) {
            (Sending::Open(open), Some(process)) if open.ring.peer_keeps() => self.departed.add(open, process),
            // Unmaps the memory and releases the blocks.
            (open, _) => drop(open),
        }
        // Fails if the peer has hung up already. The receive thread notices the end in both cases.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
        earlier
    }

    fn lock(&self) -> MutexGuard<'_, Sending> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenSending {
    fn push_block(&mut self, message: &StagedMessage) -> Result<Result<Pushed, Exhausted>, Violation> {
        // Also if there is room, so that the pool uses few blocks, which stay in the processor's cache.
        self.take_returned()?;
        if !self.holds.has_room_for(message) {
            // As in the ring: the peer looks at the wish after it has returned a block.
            self.ring.request_room();
            self.take_returned()?;
            if !self.holds.has_room_for(message) {
                return Ok(Err(Exhausted::HeldByPeer));
            }
        }
        let pushed = self.ring.push(RecordKind::Block, message.block, message.len, &[])?;
        if matches!(pushed, Pushed::Written { .. }) {
            self.holds.add(message);
        }
        Ok(Ok(pushed))
    }

    /// As [`take_returned`](Self::take_returned), after the end of the path. Also takes the blocks of unread messages.
    pub(super) fn take_last_returned(&mut self) -> Result<(), Violation> {
        self.take_returned()?;
        let holds = &mut self.holds;
        self.ring.take_unread(|block| holds.remove(block))
    }

    pub(super) fn holds_nothing(&self) -> bool {
        self.holds.blocks == 0
    }

    fn take_returned(&mut self) -> Result<(), Violation> {
        let holds = &mut self.holds;
        if holds.blocks == 0 {
            return Ok(());
        }
        self.ring.take_returned(holds.blocks, |block| holds.remove(block))
    }
}

impl DepartedHolds {
    /// Adds the holds of one ended path.
    pub(super) fn with(self, sending: &OpenSending) -> Self {
        let HeldBlocks { blocks, held_grains, .. } = sending.holds;
        Self { blocks: self.blocks + blocks, grains: self.grains + held_grains }
    }
}

impl HeldBlocks {
    fn new(pool: Arc<BlockPool>, config: &ShmConfig) -> Self {
        let grains = pool.len() / GRAIN_LEN;
        Self {
            counts: vec![0; grains],
            grains: vec![0; grains],
            blocks: 0,
            // The peer returns blocks in a list with this many places.
            blocks_max: (config.held_blocks_max.min(RETURNS_MAX as usize)) as u32,
            held_grains: 0,
            grains_max: config.held_bytes_max / GRAIN_LEN,
            departed: DepartedHolds::default(),
            pool,
        }
    }

    /// One block of any length is always permitted.
    fn has_room_for(&self, message: &StagedMessage) -> bool {
        // One message may exceed the limit if the peer holds nothing else. Otherwise it could never be sent.
        let is_first = self.count() == 0;
        let fits = self.held() + grains_of(message.len as usize) <= self.grains_max;
        let is_countable = match self.counts.get(message.block as usize) {
            // The count has 8 bits. An overflow would free a block that the peer still reads.
            Some(count) => *count < u8::MAX,
            None => false,
        };
        self.count() < self.blocks_max.max(1) && is_countable && (fits || is_first)
    }

    fn count(&self) -> u32 {
        self.blocks + self.departed.blocks
    }

    fn held(&self) -> usize {
        self.held_grains + self.departed.grains
    }

    /// Number of messages of `len` bytes that the peer may still hold.
    fn room_for(&self, len: usize) -> usize {
        let grains = grains_of(len).max(1);
        let by_length = self.grains_max.saturating_sub(self.held()) / grains;
        let by_number = self.blocks_max.max(1).saturating_sub(self.count()) as usize;
        by_number.min(by_length).max(usize::from(self.count() == 0))
    }

    fn add(&mut self, message: &StagedMessage) {
        let at = message.block as usize;
        debug_assert!(at < self.counts.len(), "`has_room_for` has found the block");
        let (Some(count), Some(grains)) = (self.counts.get_mut(at), self.grains.get_mut(at)) else { return };
        *count += 1;
        *grains = grains_of(message.len as usize) as u32;
        self.blocks += 1;
        self.held_grains += *grains as usize;
        self.pool.hold(message.block);
    }

    /// Returns whether the peer held the block.
    fn remove(&mut self, block: u32) -> bool {
        let at = block as usize;
        let (Some(count), Some(grains)) = (self.counts.get_mut(at), self.grains.get(at)) else { return false };
        if *count == 0 {
            return false;
        }
        *count -= 1;
        self.blocks -= 1;
        // The length that was sent, because the peer states only the number of the block.
        self.held_grains -= *grains as usize;
        self.pool.release(block);
        true
    }
}

impl Drop for HeldBlocks {
    fn drop(&mut self) {
        for (block, count) in self.counts.iter().enumerate() {
            for _ in 0..*count {
                self.pool.release(block as u32);
            }
        }
    }
}

impl StagedMessage {
    pub(super) fn new(pool: Arc<BlockPool>, block: u32, len: u32) -> Self {
        Self { pool, block, len }
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether the message has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for StagedMessage {
    fn drop(&mut self) {
        self.pool.release(self.block);
    }
}
