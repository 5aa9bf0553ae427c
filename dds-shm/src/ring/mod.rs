//! One direction of a path: messages one way, returned blocks the other way.
//!
//! In: messages, received positions. Out: records, and whether the peer must be woken. Owned: private copies of the own
//! positions.
//!
//! Each side has an *outbox*, which it writes and the peer reads:
//!
//! ```text
//!     0 written    position behind the last record; RingWriter
//!    64 read       position up to which the peer's ring was read; RingReader
//!   128 sleep      odd while the reader of this side sleeps; RingReader
//!   192 wish       changes when the writer of this side waits for room; RingWriter
//!   256 returned   number of blocks returned to the peer; BlockReturns
//!   320 final      1 after this side has read its last record; RingReader
//!   384 keeps      1 if this side may keep blocks for longer than the path lives; RingReader
//!  1024 returns    256 numbers of returned blocks; BlockReturns
//!  4096 ring       records, aligned to 16 bytes: kind u32, length u32, argument u32, 0 u32, bytes; RingWriter
//! ```
//!
//! Positions count bytes and wrap at 2^32. A side never reads its own words, so a peer can only state a wrong
//! progress of its own. Each received word is read once, and checked against private numbers.
//!
//! # Waking
//!
//! A reader that sleeps makes its number odd, and looks at the ring once more. A writer that has written a record looks
//! at that number. A full fence between store and load on both sides ensures that one of them sees the other. The
//! writer wakes each sleep once. `wish` is the same agreement in the other direction.

#[cfg(test)]
#[cfg(dds_loom)]
mod models;
mod reader;
mod returns;
#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests;
mod writer;

pub(crate) use reader::RingReader;
pub(crate) use returns::BlockReturns;
pub(crate) use writer::{Pushed, RingWriter};

use crate::memory::Memory;
use crate::reasons::Violation;

/// Offset of the position behind the last record.
const WRITTEN: usize = 0;
const READ: usize = 64;
const SLEEP: usize = 128;
const WISH: usize = 192;
const RETURNED: usize = 256;
const FINAL: usize = 320;
const KEEPS: usize = 384;
const RETURNS: usize = 1024;

/// Most blocks that one peer can hold, because each may be returned before the writer looks.
pub(crate) const RETURNS_MAX: u32 = 256;

/// Offset of the ring.
const RING: usize = 4096;

/// Bytes of a record before its payload, and alignment of records.
const HEADER_LEN: u32 = 16;

/// Largest payload within the ring. Larger messages use a block, so that they do not fill the ring.
pub(crate) const INLINE_MAX: usize = 2048;

/// Shortest and longest ring.
pub(crate) const RING_LENS: std::ops::RangeInclusive<u32> = 4 << 10..=1 << 20;

/// Bytes of an outbox whose ring has `ring_len` bytes.
pub(crate) fn outbox_len(ring_len: u32) -> usize {
    RING + ring_len as usize
}

/// Prepares the outbox of a side before a peer sees it: the reader sleeps, so that the first record wakes it.
pub(crate) fn prepare(outbox: &impl Memory) {
    outbox.store(SLEEP, FIRST_SLEEP);
}

/// The first value of `sleep`.
const FIRST_SLEEP: u32 = 1;

/// Content of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum RecordKind {
    /// The message follows the header.
    Inline = 1,
    /// The message lies in a block of the writer's pool. The argument is the number of the block.
    Block = 2,
    /// The test message. The argument is to be sent back.
    Probe = 3,
    /// The argument of the peer's test message.
    Answer = 4,
}

/// A record that the reader has checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) kind: RecordKind,
    /// Bytes of the message.
    pub(crate) len: u32,
    pub(crate) argument: u32,
}

impl Record {
    /// Bytes that the record takes in the ring.
    fn taken(self) -> u32 {
        record_len(if self.kind == RecordKind::Inline { self.len } else { 0 })
    }
}

/// Bytes that a record with this payload takes in the ring.
pub(crate) fn record_len(payload_len: u32) -> u32 {
    HEADER_LEN + payload_len.next_multiple_of(HEADER_LEN)
}

/// Place of a position in the outbox.
fn place(position: u32, ring_len: u32) -> usize {
    RING + (position & (ring_len - 1)) as usize
}

/// Checks the header of a record. `available`: bytes from its start to the end of the written ones.
fn parse_record(header: [u8; HEADER_LEN as usize], available: u32) -> Result<Record, Violation> {
    let [kind, len, argument, _] = words_of(header);
    let record = Record { kind: kind_of(kind)?, len, argument };
    if record.kind == RecordKind::Inline && (len > INLINE_MAX as u32 || record_len(len) > available) {
        return Err(Violation::RecordLength);
    }
    Ok(record)
}

/// The words of a record's header: kind, length, argument, and zero.
fn words_of(header: [u8; HEADER_LEN as usize]) -> [u32; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(header.chunks_exact(4)) {
        *word = bytes.try_into().map_or(0, u32::from_ne_bytes);
    }
    words
}

fn kind_of(number: u32) -> Result<RecordKind, Violation> {
    let kinds = [RecordKind::Inline, RecordKind::Block, RecordKind::Probe, RecordKind::Answer];
    kinds.into_iter().find(|kind| *kind as u32 == number).ok_or(Violation::RecordKind)
}
