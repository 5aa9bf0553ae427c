//! Memory for large messages, which all peers read.
//!
//! In: messages. Out: numbers of blocks. Owned: the memory, and the holders of each block in private memory.
//!
//! A block is a run of grains. It lives while a [`StagedMessage`](crate::StagedMessage), a
//! [`LentContent`](crate::LentContent) or a peer holds it. The end of a peer releases its holds, so a dead peer leaves
//! nothing to repair.
//!
//! The lowest free run is used first. So messages that follow each other reuse the same memory, which is still in the
//! processor's cache. The same 1 MiB message costs 2.5 times as much if eight blocks take turns.

use crate::grain_set::GrainSet;
use crate::memory::{MappedMemory, Memory};
use crate::reasons::Refusal;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a grain.
pub(crate) const GRAIN_LEN: usize = 16 << 10;

/// Most bytes of a pool.
pub(crate) const POOL_LEN_MAX: usize = 1 << 30;

/// The pool of one host.
#[derive(Debug)]
pub(crate) struct BlockPool {
    memory: MappedMemory,
    file: OwnedFd,
    blocks: Mutex<Blocks>,
}

/// Purpose of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// A message, which lives until its peers have read it.
    Message,
    /// Content that its owner may keep.
    Content,
}

/// State of all grains.
#[derive(Debug)]
struct Blocks {
    used: GrainSet,
    /// By first grain. Other entries are zero.
    blocks: Vec<Block>,
    /// No grain below is free.
    lowest_free: usize,
    /// Memory is reserved for all grains below. Free grains between used ones were used before.
    reserved: usize,
    /// Grains of blocks that are or were lent, until their last holder releases them.
    lent: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Block {
    grains: u32,
    holders: u32,
    is_lent: bool,
}

impl BlockPool {
    pub(crate) fn new(len: usize) -> Result<Self, Refusal> {
        let len = rounded_len(len);
        let (memory, file) = MappedMemory::create(len)?;
        Ok(Self { memory, file, blocks: Mutex::new(Blocks::new(len / GRAIN_LEN)) })
    }

    /// The descriptor to hand over to peers.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().blocks.len() * GRAIN_LEN
    }

    /// Copies a message into a new block, which has one holder. Returns `None` if there is no room.
    pub(crate) fn store(&self, len: usize, parts: &[IoSlice<'_>]) -> Option<u32> {
        // Only this thread knows the block until the caller sends its number, so the copy needs no lock.
        let block = self.allocate(grains_of(len), Use::Message)?;
        let mut at = block as usize * GRAIN_LEN;
        for part in parts {
            self.memory.write(at, part);
            at += part.len();
        }
        Some(block)
    }

    /// Takes a block for content of its caller, which has one holder. Returns `None` if there is no room.
    ///
    /// At most half of the pool is lent. So content that its owner keeps for long leaves room for messages.
    pub(crate) fn lend(&self, len: usize) -> Option<u32> {
        self.allocate(grains_of(len), Use::Content)
    }

    pub(crate) fn memory(&self) -> &MappedMemory {
        &self.memory
    }

    /// Takes a block, and memory for its unused part. Returns `None` if there is no room or no memory.
    fn allocate(&self, grains: usize, usage: Use) -> Option<u32> {
        let mut blocks = self.lock();
        let block = blocks.allocate(grains, usage)?;
        let end = block as usize + grains;
        if end > blocks.reserved {
            let (from, until) = (blocks.reserved * GRAIN_LEN, end * GRAIN_LEN);
            // Under the lock, because another block must not count on a part that is not reserved yet.
            if !self.memory.reserve(from, until - from) {
                blocks.release(block as usize);
                return None;
            }
            blocks.reserved = end;
        }
        Some(block)
    }

    /// Adds a holder to a held block.
    pub(crate) fn hold(&self, block: u32) {
        if let Some(block) = self.lock().blocks.get_mut(block as usize) {
            debug_assert!(block.holders > 0, "the caller holds the block");
            block.holders += 1;
        }
    }

    /// Removes a holder, and frees the block after its last one.
    pub(crate) fn release(&self, block: u32) {
        self.lock().release(block as usize);
    }

    fn lock(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    #[cfg(all(not(dds_loom), not(miri)))]
    pub(crate) fn used_grains(&self) -> usize {
        self.lock().used.count()
    }
}

impl Blocks {
    fn new(grains: usize) -> Self {
        Self {
            used: GrainSet::new(grains),
            blocks: vec![Block::default(); grains],
            lowest_free: 0,
            reserved: 0,
            lent: 0,
        }
    }

    fn allocate(&mut self, grains: usize, usage: Use) -> Option<u32> {
        let is_lent = usage == Use::Content;
        if is_lent && self.lent + grains > self.blocks.len() / 2 {
            return None;
        }
        let start = self.first_fit(grains)?;
        self.used.insert(start..start + grains);
        *self.blocks.get_mut(start)? = Block { grains: grains as u32, holders: 1, is_lent };
        if is_lent {
            debug_assert!(self.lent + grains <= self.blocks.len() / 2, "at most half of the pool is lent");
            self.lent += grains;
        }
        // Free grains below a later start stay too few for this length, and may fit a shorter message.
        if start == self.lowest_free {
            self.lowest_free = start + grains;
        }
        Some(start as u32)
    }

    /// The lowest run of free grains.
    fn first_fit(&self, grains: usize) -> Option<usize> {
        let mut start = self.lowest_free;
        loop {
            start = self.used.next_absent(start);
            let end = start.checked_add(grains).filter(|end| *end <= self.blocks.len())?;
            let used = self.used.next_present(start, end);
            if used == end {
                return Some(start);
            }
            start = used;
        }
    }

    fn release(&mut self, start: usize) {
        let Some(block) = self.blocks.get_mut(start) else { return };
        debug_assert!(block.holders > 0, "each holder releases once");
        block.holders = block.holders.saturating_sub(1);
        if block.holders > 0 {
            return;
        }
        let Block { grains, is_lent, .. } = std::mem::take(block);
        let grains = grains as usize;
        if is_lent {
            debug_assert!(self.lent >= grains, "each lent block is counted");
            self.lent -= grains;
        }
        self.used.remove(start..start + grains);
        // A search never needs to begin before the lowest free grain.
        self.lowest_free = self.lowest_free.min(start);
    }
}

/// Number of grains for a message of `len` bytes.
pub(crate) fn grains_of(len: usize) -> usize {
    len.div_ceil(GRAIN_LEN).max(1)
}

fn rounded_len(len: usize) -> usize {
    len.clamp(GRAIN_LEN, POOL_LEN_MAX).next_multiple_of(GRAIN_LEN)
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn released_block_is_used_next() {
        let mut blocks = Blocks::new(8);
        let first = blocks.allocate(2, Use::Message).unwrap();
        let second = blocks.allocate(3, Use::Message).unwrap();
        assert_eq!((first, second), (0, 2));
        blocks.release(0);
        assert_eq!(blocks.allocate(3, Use::Message), Some(5));
        assert_eq!(blocks.allocate(2, Use::Message), Some(0));
        assert_eq!(blocks.allocate(1, Use::Message), None);
    }

    #[test]
    fn half_of_the_pool_is_lent() {
        let mut blocks = Blocks::new(8);
        let first = blocks.allocate(3, Use::Content).unwrap();
        assert_eq!(blocks.allocate(2, Use::Content), None);
        let second = blocks.allocate(1, Use::Content).unwrap();
        assert_eq!(blocks.allocate(4, Use::Message), Some(4), "messages may use the rest");
        blocks.blocks[first as usize].holders += 1;
        blocks.release(first as usize);
        blocks.release(second as usize);
        assert_eq!(blocks.allocate(2, Use::Content), None, "a peer still holds the first block");
        blocks.release(first as usize);
        assert_eq!((blocks.lent, blocks.allocate(4, Use::Content)), (0, Some(0)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 256 }, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn blocks_never_overlap_and_all_return(steps in prop::collection::vec((1_usize..9, any::<u8>()), 1..200)) {
            let mut blocks = Blocks::new(32);
            let mut held: Vec<(usize, usize)> = Vec::new();
            for (grains, choice) in steps {
                if choice < 128 {
                    let free = 32 - held.iter().map(|(_, grains)| grains).sum::<usize>();
                    match blocks.allocate(grains, Use::Message) {
                        Some(start) => {
                            let start = start as usize;
                            for (other, len) in &held {
                                prop_assert!(start + grains <= *other || other + len <= start);
                            }
                            held.push((start, grains));
                        }
                        // With an empty pool there is always room.
                        None => prop_assert!(!held.is_empty() || free < grains),
                    }
                } else if !held.is_empty() {
                    let (start, _) = held.swap_remove(usize::from(choice) % held.len());
                    blocks.release(start);
                }
            }
            for (start, _) in held {
                blocks.release(start);
            }
            prop_assert_eq!(blocks.allocate(32, Use::Message), Some(0));
        }
    }
}
