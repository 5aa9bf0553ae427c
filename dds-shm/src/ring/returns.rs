//! Blocks that this side returns to the peer, from any thread.

use super::{RETURNED, RETURNS, RETURNS_MAX, WISH};
use crate::memory::Memory;
use std::sync::Arc;

// The models explore every order in which two threads return blocks.
#[cfg(all(test, dds_loom))]
use loom::sync::Mutex;
#[cfg(not(all(test, dds_loom)))]
use std::sync::Mutex;

/// Returns blocks in the own outbox.
#[derive(Debug)]
pub(crate) struct BlockReturns<M> {
    own: Arc<M>,
    peer: Arc<M>,
    state: Mutex<ReturnState>,
}

#[derive(Debug)]
struct ReturnState {
    returned: u32,
    /// The peer's wish that a return has granted.
    wish: u32,
}

impl<M: Memory> BlockReturns<M> {
    pub(super) fn new(own: Arc<M>, peer: Arc<M>) -> Self {
        Self { own, peer, state: Mutex::new(ReturnState { returned: 0, wish: 0 }) }
    }

    /// Returns a block. The caller looks at the peer's wish later.
    pub(super) fn put(&self, block: u32) {
        self.put_locked(&mut self.lock(), block);
    }

    /// Returns a block. The result tells whether the peer waits for room and must be woken.
    pub(crate) fn put_and_look(&self, block: u32) -> bool {
        let mut state = self.lock();
        self.put_locked(&mut state, block);
        // As in `RingReader::must_wake`: the peer sees the block, or this side sees the wish.
        self.own.fence();
        let wish = self.peer.load(WISH);
        let wakes = wish != state.wish;
        state.wish = wish;
        wakes
    }

    fn put_locked(&self, state: &mut ReturnState, block: u32) {
        // The number first: the peer reads it when it sees the new count.
        self.own.store(RETURNS + 4 * (state.returned % RETURNS_MAX) as usize, block);
        state.returned = state.returned.wrapping_add(1);
        self.own.store(RETURNED, state.returned);
    }

    fn lock(&self) -> impl std::ops::DerefMut<Target = ReturnState> + '_ {
        // A panic leaves no half of a return: nothing between the two stores panics.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
