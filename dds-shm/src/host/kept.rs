//! Messages that stay in the memory of a peer until they are dropped, on any thread.
//!
//! In: a block that the peer has handed over. Out: its bytes in place. Owned: the hold on the block.

use crate::memory::{MappedMemory, process_id};
use crate::pool::{GRAIN_LEN, grains_of};
use crate::ring::{BlockReturns, Record};
use rustix::net::SendFlags;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// Most messages of one peer that are kept, far below the number that it permits.
const KEPT_BLOCKS_MAX: usize = 16;

/// The pool of a peer, and the way back for its blocks.
///
/// It outlives the path as long as a message of the peer is kept.
#[derive(Debug)]
pub(super) struct PeerPool {
    memory: MappedMemory,
    returns: Arc<BlockReturns<MappedMemory>>,
    /// Not owned: a kept message must not hold a descriptor of an ended path.
    socket: Weak<OwnedFd>,
    /// Bytes of the blocks that this process keeps.
    kept: AtomicUsize,
    kept_max: usize,
    /// The process that returns blocks. A forked child would return those of its parent.
    process: u32,
}

/// Place for a message in the memory of a peer: see [`ShmMessage::keep`](super::ShmMessage::keep).
///
/// Its bytes do not change until [`give_back`](Self::give_back) or the drop returns them to the peer. It may outlive
/// the path, the host and the peer. A forked child must not read the messages of its parent.
#[derive(Default)]
pub struct KeptMessage {
    /// `None` if it is empty.
    held: Option<HeldBlock>,
}

struct HeldBlock {
    pool: Arc<PeerPool>,
    block: u32,
    len: usize,
}

impl PeerPool {
    pub(super) fn new(
        memory: MappedMemory,
        returns: &Arc<BlockReturns<MappedMemory>>,
        socket: &Arc<OwnedFd>,
        kept_max: usize,
    ) -> Self {
        let (returns, socket, process) = (Arc::clone(returns), Arc::downgrade(socket), process_id());
        Self { memory, returns, socket, kept: AtomicUsize::new(0), kept_max, process }
    }

    pub(super) fn memory(&self) -> &MappedMemory {
        &self.memory
    }

    /// Bytes that a kept message counts: those of its block, and more for a short one, so that few blocks are kept.
    fn room_of(&self, len: usize) -> usize {
        (grains_of(len) * GRAIN_LEN).max(self.kept_max / KEPT_BLOCKS_MAX)
    }

    /// Whether this process returns the blocks, and not a parent of it.
    pub(super) fn is_own(&self) -> bool {
        process_id() == self.process
    }

    /// Keeps the block of a checked record. `None` if its message must be copied.
    fn hold(self: &Arc<Self>, record: Record) -> Option<HeldBlock> {
        let room = self.room_of(record.len as usize);
        // Only the receive thread adds, so the sum cannot pass the bound between the check and the addition.
        if !self.memory.is_trusted() || self.kept.load(Ordering::Relaxed) + room > self.kept_max {
            return None;
        }
        self.kept.fetch_add(room, Ordering::Relaxed);
        Some(HeldBlock { pool: Arc::clone(self), block: record.argument, len: record.len as usize })
    }
}

impl KeptMessage {
    /// An empty place.
    #[must_use]
    pub const fn new() -> Self {
        Self { held: None }
    }

    /// Keeps the block of a checked record. Returns whether it does. Otherwise the message must be copied.
    pub(super) fn hold(&mut self, pool: &Arc<PeerPool>, record: Record) -> bool {
        debug_assert!(self.held.is_none(), "a place has one message");
        self.give_back();
        self.held = pool.hold(record);
        self.held.is_some()
    }

    /// Returns the memory to the peer. The place is empty then.
    pub fn give_back(&mut self) {
        let Some(HeldBlock { pool, block, len }) = self.held.take() else { return };
        if !pool.is_own() {
            return;
        }
        pool.kept.fetch_sub(pool.room_of(len), Ordering::Relaxed);
        if pool.returns.put_and_look(block) {
            // The peer may have left. Then the system refuses the byte.
            if let Some(socket) = pool.socket.upgrade() {
                let _ = rustix::net::send(&socket, &[0], SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
            }
        }
    }
}

impl AsRef<[u8]> for KeptMessage {
    fn as_ref(&self) -> &[u8] {
        let Some(HeldBlock { pool, block, len }) = &self.held else { return &[] };
        let bytes = pool.memory.bytes(*block as usize * GRAIN_LEN, *len);
        debug_assert!(bytes.is_some(), "the block lies in the pool of a trusted peer");
        bytes.unwrap_or_default()
    }
}

impl Drop for KeptMessage {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl fmt::Debug for KeptMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptMessage").field("len", &self.as_ref().len()).finish_non_exhaustive()
    }
}
