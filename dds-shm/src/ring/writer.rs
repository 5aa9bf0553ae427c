//! The side that writes records and receives returned blocks.

use super::{
    FINAL, HEADER_LEN, KEEPS, READ, RETURNED, RETURNS, RETURNS_MAX, RING, RecordKind, SLEEP, WISH, WRITTEN,
    parse_record, place, record_len,
};
use crate::memory::Memory;
use crate::reasons::Violation;
use std::io::IoSlice;
use std::sync::Arc;

/// Bytes of the ring for which memory is taken at once.
const RESERVED_LEN: u32 = 16 << 10;

/// Writes records into the own outbox.
#[derive(Debug)]
pub(crate) struct RingWriter<M> {
    own: Arc<M>,
    peer: Arc<M>,
    ring_len: u32,
    written: u32,
    /// Bytes of the ring that have memory, from its start on.
    reserved: u32,
    /// The peer's position as last checked.
    read: u32,
    /// The sleep of the peer that this side has ended.
    woken_sleep: u32,
    wish: u32,
    /// Number of returned blocks that this side has taken back.
    returned: u32,
    /// The blocks of unread records were taken back.
    is_final: bool,
}

/// Result of a write to the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// The record is written. The caller wakes the peer if it sleeps.
    Written {
        /// Whether the peer sleeps.
        wakes: bool,
    },
    /// There is no room. The peer will wake this side when there is.
    Full,
    /// The system has no memory for the ring.
    NoMemory,
}

impl<M: Memory> RingWriter<M> {
    pub(crate) fn new(own: Arc<M>, peer: Arc<M>, ring_len: u32) -> Self {
        debug_assert!(ring_len.is_power_of_two(), "positions are masked");
        Self {
            own,
            peer,
            ring_len,
            written: 0,
            reserved: 0,
            read: 0,
            woken_sleep: 0,
            wish: 0,
            returned: 0,
            is_final: false,
        }
    }

    /// Writes a record whose message is `parts`, or lies in a block with `len` bytes.
    pub(crate) fn push(
        &mut self,
        kind: RecordKind,
        argument: u32,
        len: u32,
        parts: &[IoSlice<'_>],
    ) -> Result<Pushed, Violation> {
        let total = record_len(if kind == RecordKind::Inline { len } else { 0 });
        if total > self.free() && total > self.look_for_room()? {
            // The peer looks at the wish after it has read, and this side looks for room after the wish.
            self.request_room();
            if total > self.look_for_room()? {
                return Ok(Pushed::Full);
            }
        }
        if self.reserved < self.ring_len && !self.reserve(total) {
            return Ok(Pushed::NoMemory);
        }
        let mut header = [0; HEADER_LEN as usize];
        header[..4].copy_from_slice(&(kind as u32).to_ne_bytes());
        header[4..8].copy_from_slice(&len.to_ne_bytes());
        header[8..12].copy_from_slice(&argument.to_ne_bytes());
        self.own.write(place(self.written, self.ring_len), &header);
        let mut position = self.written.wrapping_add(HEADER_LEN);
        for part in parts {
            self.write_wrapped(position, part);
            position = position.wrapping_add(part.len() as u32);
        }
        // The position last, because the peer reads everything before it.
        self.written = self.written.wrapping_add(total);
        self.own.store(WRITTEN, self.written);
        Ok(Pushed::Written { wakes: self.must_wake() })
    }

    /// Takes memory for the next record, before the ring was once full. Returns false if the system has none.
    #[cold]
    fn reserve(&mut self, total: u32) -> bool {
        debug_assert!(self.reserved <= self.ring_len, "memory is taken up to the end of the ring");
        let end = self.written.saturating_add(total).min(self.ring_len);
        if end <= self.reserved {
            return true;
        }
        // More than one record needs, so that few records cost a system call.
        let end = end.max(self.reserved.saturating_add(RESERVED_LEN)).min(self.ring_len);
        let has_memory = self.own.reserve(RING + self.reserved as usize, (end - self.reserved) as usize);
        if has_memory {
            self.reserved = end;
        }
        has_memory
    }

    /// Asks the peer to wake this side when it has read or returned something.
    pub(crate) fn request_room(&mut self) {
        self.wish = self.wish.wrapping_add(1);
        self.own.store(WISH, self.wish);
        self.own.fence();
    }

    /// Bytes that the ring has room for, by the peer's position as it is now.
    pub(crate) fn look_for_room(&mut self) -> Result<u32, Violation> {
        let read = self.peer.load(READ);
        // A position that goes back, or beyond the written bytes, makes this distance larger.
        if self.written.wrapping_sub(read) > self.written.wrapping_sub(self.read) {
            return Err(Violation::ReadBeyondWritten);
        }
        self.read = read;
        Ok(self.free())
    }

    /// A number that changes whenever the peer is seen to read or return something. Both positions wrap.
    pub(crate) fn progress(&self) -> u64 {
        u64::from(self.read) << 32 | u64::from(self.returned)
    }

    /// Passes each returned block to `take_back`, which returns whether the peer held it.
    ///
    /// `held` is the number of blocks that the peer holds.
    pub(crate) fn take_returned(&mut self, held: u32, mut take_back: impl FnMut(u32) -> bool) -> Result<(), Violation> {
        let returned = self.peer.load(RETURNED);
        let count = returned.wrapping_sub(self.returned);
        // This also bounds the loop.
        if count > held.min(RETURNS_MAX) {
            return Err(Violation::BlockNotHeld);
        }
        for _ in 0..count {
            let index = self.returned % RETURNS_MAX;
            self.returned = self.returned.wrapping_add(1);
            if !take_back(self.peer.load(RETURNS + 4 * index as usize)) {
                return Err(Violation::BlockNotHeld);
            }
        }
        Ok(())
    }

    /// Whether the peer may keep blocks for longer than the path lives.
    pub(crate) fn peer_keeps(&self) -> bool {
        self.peer.load(KEEPS) != 0
    }

    /// Passes the blocks of records that the peer will never read to `take_back`, once it has said so.
    ///
    /// This side writes no record before or after that.
    pub(crate) fn take_unread(&mut self, mut take_back: impl FnMut(u32) -> bool) -> Result<(), Violation> {
        // The final word first: the position does not change after it.
        if self.is_final || self.peer.load(FINAL) == 0 {
            return Ok(());
        }
        self.is_final = true;
        self.look_for_room()?;
        let mut position = self.read;
        while position != self.written {
            // A peer that breaks rules may state a position within a record, whose bytes are no header.
            let available = self.written.wrapping_sub(position);
            if available < HEADER_LEN || position % HEADER_LEN != 0 {
                return Err(Violation::ReadBeyondWritten);
            }
            let mut header = [0; HEADER_LEN as usize];
            self.own.read(place(position, self.ring_len), &mut header);
            let record = parse_record(header, available)?;
            if record.kind == RecordKind::Block && !take_back(record.argument) {
                return Err(Violation::BlockNotHeld);
            }
            position = position.wrapping_add(record.taken());
        }
        Ok(())
    }

    /// Whether the peer sleeps and this side has not woken it from that sleep yet.
    fn must_wake(&mut self) -> bool {
        self.own.fence();
        let sleep = self.peer.load(SLEEP);
        // One wake ends a sleep. Further ones would only fill the socket.
        let wakes = sleep % 2 == 1 && sleep != self.woken_sleep;
        if wakes {
            self.woken_sleep = sleep;
        }
        wakes
    }

    /// The wake did not reach the peer, so the next record wakes it again.
    pub(crate) fn repeat_wake(&mut self) {
        // Sleeps have odd numbers.
        self.woken_sleep = 0;
    }

    fn free(&self) -> u32 {
        debug_assert!(self.written.wrapping_sub(self.read) <= self.ring_len, "the checked position is within the ring");
        self.ring_len - self.written.wrapping_sub(self.read)
    }

    fn write_wrapped(&self, position: u32, bytes: &[u8]) {
        let at = place(position, self.ring_len);
        let until_end = (self.ring_len - (position & (self.ring_len - 1))) as usize;
        // A record may continue at the start of the ring.
        match bytes.split_at_checked(until_end) {
            Some((first, rest)) => {
                self.own.write(at, first);
                self.own.write(place(0, self.ring_len), rest);
            }
            None => self.own.write(at, bytes),
        }
    }
}
