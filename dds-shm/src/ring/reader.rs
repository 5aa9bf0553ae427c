//! The side that reads records and returns blocks.

use super::{
    BlockReturns, FINAL, FIRST_SLEEP, HEADER_LEN, INLINE_MAX, KEEPS, READ, Record, RecordKind, SLEEP, WISH, WRITTEN,
    parse_record, place,
};
use crate::memory::Memory;
use crate::reasons::Violation;
use std::sync::Arc;

/// Reads records from the outbox of the peer.
#[derive(Debug)]
pub(crate) struct RingReader<M> {
    own: Arc<M>,
    peer: Arc<M>,
    ring_len: u32,
    read: u32,
    /// The peer's position as last checked.
    written: u32,
    sleep: u32,
    /// The peer's wish that this side has granted.
    wish: u32,
    returns: Arc<BlockReturns<M>>,
    /// Whether something was read or returned since the wish was last checked.
    has_progress: bool,
    /// The peer has ended: its position does not count any more.
    is_final: bool,
}

impl<M: Memory> RingReader<M> {
    /// `ring_len` is the length of the peer's ring.
    pub(crate) fn new(own: Arc<M>, peer: Arc<M>, ring_len: u32) -> Self {
        debug_assert!(ring_len.is_power_of_two(), "positions are masked");
        let returns = Arc::new(BlockReturns::new(Arc::clone(&own), Arc::clone(&peer)));
        Self {
            own,
            peer,
            ring_len,
            read: 0,
            written: 0,
            sleep: FIRST_SLEEP,
            wish: 0,
            returns,
            has_progress: false,
            is_final: false,
        }
    }

    /// Returns the next record, and leaves it in the ring.
    pub(crate) fn peek(&mut self) -> Result<Option<Record>, Violation> {
        if self.written == self.read && !self.look_for_records()? {
            return Ok(None);
        }
        let available = self.written.wrapping_sub(self.read);
        if available < HEADER_LEN {
            return Err(Violation::RecordLength);
        }
        // The peer may change the header at any time, so only this copy is checked and used.
        let mut header = [0; HEADER_LEN as usize];
        self.peer.read(place(self.read, self.ring_len), &mut header);
        let record = parse_record(header, available)?;
        Ok(Some(record))
    }

    /// Copies a part of an inline message that [`peek`](Self::peek) returned.
    pub(crate) fn copy(&self, from: usize, into: &mut [u8]) {
        debug_assert!(from + into.len() <= INLINE_MAX, "the length comes from a checked record");
        let position = self.read.wrapping_add(HEADER_LEN).wrapping_add(from as u32);
        let until_end = (self.ring_len - (position & (self.ring_len - 1))) as usize;
        let at = place(position, self.ring_len);
        // A record may continue at the start of the ring.
        match into.split_at_mut_checked(until_end) {
            Some((first, rest)) => {
                self.peer.read(at, first);
                self.peer.read(place(0, self.ring_len), rest);
            }
            None => self.peer.read(at, into),
        }
    }

    /// Removes a record that [`peek`](Self::peek) returned, and returns its block.
    pub(crate) fn consume(&mut self, record: Record) {
        if record.kind == RecordKind::Block {
            self.returns.put(record.argument);
        }
        self.keep(record);
    }

    /// Returns blocks of kept records, on any thread.
    pub(crate) fn returns(&self) -> &Arc<BlockReturns<M>> {
        &self.returns
    }

    /// Removes a record that [`peek`](Self::peek) returned. The caller returns its block later.
    pub(crate) fn keep(&mut self, record: Record) {
        self.read = self.read.wrapping_add(record.taken());
        debug_assert!(self.written.wrapping_sub(self.read) < self.ring_len, "a record lies within the written bytes");
        self.own.store(READ, self.read);
        self.has_progress = true;
    }

    /// Returns whether the peer waits for room, and this side has made some since.
    pub(crate) fn must_wake(&mut self) -> bool {
        if !std::mem::take(&mut self.has_progress) {
            return false;
        }
        // The peer sees the room, or this side sees the wish: the fence leaves no third case.
        self.own.fence();
        let wish = self.peer.load(WISH);
        let wakes = wish != self.wish;
        self.wish = wish;
        wakes
    }

    /// The wake did not reach the peer, so the next check of the wish wakes it again.
    pub(crate) fn repeat_wake(&mut self) {
        // Any number but that of the peer counts as a new wish.
        self.wish = self.wish.wrapping_sub(1);
        self.has_progress = true;
    }

    /// Announces that this side sleeps. After a fence the caller checks [`has_records`](Self::has_records).
    pub(crate) fn fall_asleep(&mut self) {
        debug_assert!(!self.is_asleep(), "a reader falls asleep once");
        self.sleep = self.sleep.wrapping_add(1);
        self.own.store(SLEEP, self.sleep);
    }

    /// Announces that this side reads again.
    pub(crate) fn wake_up(&mut self) {
        if self.is_asleep() {
            self.sleep = self.sleep.wrapping_add(1);
            self.own.store(SLEEP, self.sleep);
            // A peer that sees this side awake sends no wake, so this side looks at the ring only after the store.
            self.own.fence();
        }
    }

    /// Whether the ring has unread records. The answer stays true, even if the peer moves its position back.
    pub(crate) fn has_records(&mut self) -> Result<bool, Violation> {
        Ok(self.written != self.read || self.look_for_records()?)
    }

    /// Takes the position of the ended peer once. Later changes of its memory do not count.
    pub(crate) fn close(&mut self) -> Result<(), Violation> {
        if !self.is_final {
            self.look_for_records()?;
            self.is_final = true;
        }
        Ok(())
    }

    /// Tells the peer that this side may keep blocks, before it reads the first record.
    pub(crate) fn announce_keeping(&self) {
        self.own.store(KEEPS, 1);
    }

    /// Tells the peer that this side reads no further record.
    pub(crate) fn finish(&self) {
        self.own.store(FINAL, 1);
    }

    fn is_asleep(&self) -> bool {
        self.sleep % 2 == 1
    }

    fn look_for_records(&mut self) -> Result<bool, Violation> {
        if self.is_final {
            return Ok(false);
        }
        let written = self.peer.load(WRITTEN);
        // A position may not go back either, because that makes the distance huge.
        if written.wrapping_sub(self.read) > self.ring_len
            || written.wrapping_sub(self.read) < self.written.wrapping_sub(self.read)
        {
            return Err(Violation::WrittenBeyondRing);
        }
        self.written = written;
        Ok(written != self.read)
    }
}
