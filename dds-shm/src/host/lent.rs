//! Memory for the content of a message, which its owner fills in place.
//!
//! In: the length of the content, and later the bytes around it. Out: the content in place, and a message for paths.
//! Owned: the hold on the block.
//!
//! The front of the message begins the block. The content follows, and behind it the rest of the message.

use super::{ShmHost, StagedMessage};
use crate::memory::{Memory, OwnRange};
use crate::pool::{BlockPool, GRAIN_LEN};
use crate::reasons::{Exhausted, SendFailure};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that are compared at once.
const COMPARED_LEN: usize = 256;

/// Place for the content of a message in the pool: see [`ShmHost::lend`].
///
/// Its owner fills it, and then sends messages with it. It may outlive the host. A forked child must not use the places
/// of its parent.
#[derive(Default)]
pub struct LentContent {
    /// `None` if it is empty.
    lent: Option<LentBlock>,
}

struct LentBlock {
    pool: Arc<BlockPool>,
    block: u32,
    front_len: usize,
    rest_max: usize,
    content: OwnRange,
    around: Mutex<Around>,
}

/// The bytes of the message around the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    /// None yet.
    Unwritten,
    /// Those of the first message. Peers may read them, so they never change.
    Written { rest_len: usize },
}

impl ShmHost {
    /// Lends memory for the content of a message.
    ///
    /// In the message it lies behind `front_len` bytes, and before at most `rest_max` bytes.
    /// The place is empty before. Its bytes are those of earlier messages. At most half of the pool is lent, also while
    /// peers still hold it.
    ///
    /// # Errors
    /// Fails if the message is longer than half of the pool, or if that half is lent.
    pub fn lend(
        &self,
        place: &mut LentContent,
        len: usize,
        front_len: usize,
        rest_max: usize,
    ) -> Result<(), SendFailure> {
        debug_assert!(place.lent.is_none(), "a place has one content");
        let pool = &self.shared.pool;
        let max = pool.len() / 2;
        // A sum that saturates exceeds each pool.
        let whole = len.saturating_add(front_len).saturating_add(rest_max);
        if whole > max {
            return Err(SendFailure::TooLong { max });
        }
        let block = self.shared.with_returned(|| pool.lend(whole)).ok_or(SendFailure::Full(Exhausted::Pool))?;
        // The pool gives the block to no other owner, and `stage` writes only beside the content.
        let content = OwnRange::new(block as usize * GRAIN_LEN + front_len, len);
        let around = Mutex::new(Around::Unwritten);
        place.lent = Some(LentBlock { pool: Arc::clone(pool), block, front_len, rest_max, content, around });
        Ok(())
    }
}

impl LentContent {
    /// An empty place.
    #[must_use]
    pub const fn new() -> Self {
        Self { lent: None }
    }

    /// The content, to fill in place. Empty after the first message with it, which peers may read.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        if !self.is_writable() {
            return &mut [];
        }
        let Some(LentBlock { pool, content, .. }) = &mut self.lent else { return &mut [] };
        let bytes = pool.memory().own_bytes_mut(content);
        debug_assert!(bytes.is_some(), "the block lies in the own pool");
        bytes.unwrap_or_default()
    }

    /// Whether the content may still be filled: no message has it yet.
    fn is_writable(&self) -> bool {
        let Some(lent) = &self.lent else { return false };
        *lent.around.lock().unwrap_or_else(PoisonError::into_inner) == Around::Unwritten
    }

    /// Shortens the content to its first `len` bytes, if it may still be filled.
    pub fn truncate(&mut self, len: usize) {
        if !self.is_writable() {
            return;
        }
        // No message has the content yet, so no peer has read its length.
        if let Some(lent) = &mut self.lent {
            lent.content.truncate(len);
        }
    }

    /// A message with this content, for [`ShmPath::send_staged`](super::ShmPath::send_staged). Copies only the rest.
    ///
    /// Returns `None` if the place is empty, or if `front` or `rest` does not fit. So it does if an earlier message
    /// had others.
    #[must_use]
    pub fn stage(&self, front: &[u8], rest: &[u8]) -> Option<StagedMessage> {
        let lent = self.lent.as_ref()?;
        if front.len() != lent.front_len || rest.len() > lent.rest_max || !lent.surround(front, rest) {
            return None;
        }
        // The message is a holder of its own, so it may outlive this place.
        lent.pool.hold(lent.block);
        let len = front.len() + lent.content.len() + rest.len();
        debug_assert!(u32::try_from(len).is_ok(), "a message is at most half as long as a pool");
        Some(StagedMessage::new(Arc::clone(&lent.pool), lent.block, len as u32))
    }

    /// Gives the memory back. The place is empty then.
    ///
    /// Peers with a message of this content keep it until they have read it.
    pub fn give_back(&mut self) {
        if let Some(LentBlock { pool, block, .. }) = self.lent.take() {
            pool.release(block);
        }
    }
}

impl LentBlock {
    /// Writes the bytes around the content, once. Returns whether they are those of the message.
    fn surround(&self, front: &[u8], rest: &[u8]) -> bool {
        let start = self.block as usize * GRAIN_LEN;
        let mut around = self.around.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, because two threads may stage the same content.
        match *around {
            Around::Unwritten => {
                self.pool.memory().write(start, front);
                self.pool.memory().write(self.content.end(), rest);
                *around = Around::Written { rest_len: rest.len() };
                true
            }
            Around::Written { rest_len } => {
                rest_len == rest.len() && self.has(start, front) && self.has(self.content.end(), rest)
            }
        }
    }

    /// Whether the memory has these bytes.
    fn has(&self, mut at: usize, bytes: &[u8]) -> bool {
        let mut present = [0; COMPARED_LEN];
        for part in bytes.chunks(COMPARED_LEN) {
            let present = &mut present[..part.len()];
            self.pool.memory().read(at, present);
            if present != part {
                return false;
            }
            at += part.len();
        }
        true
    }
}

impl AsRef<[u8]> for LentContent {
    fn as_ref(&self) -> &[u8] {
        let Some(LentBlock { pool, content, .. }) = &self.lent else { return &[] };
        let bytes = pool.memory().own_bytes(content);
        debug_assert!(bytes.is_some(), "the block lies in the own pool");
        bytes.unwrap_or_default()
    }
}

impl Drop for LentContent {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl fmt::Debug for LentContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentContent").field("len", &self.as_ref().len()).finish_non_exhaustive()
    }
}
