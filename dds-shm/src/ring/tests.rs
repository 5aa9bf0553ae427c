use super::*;
use crate::memory::MappedMemory;
use crate::reasons::Violation;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::Arc;

const LEN: u32 = 4096;

/// Miri is slow.
const STEPS_MAX: usize = if cfg!(miri) { 12 } else { 300 };

struct Pair {
    writer: RingWriter<MappedMemory>,
    reader: RingReader<MappedMemory>,
    /// Outbox of the writer's side, and of the reader's side.
    memories: (Arc<MappedMemory>, Arc<MappedMemory>),
}

fn pair() -> Pair {
    let (own, peer) = (outbox(), outbox());
    Pair {
        writer: RingWriter::new(Arc::clone(&own), Arc::clone(&peer), LEN),
        reader: RingReader::new(Arc::clone(&peer), Arc::clone(&own), LEN),
        memories: (own, peer),
    }
}

fn outbox() -> Arc<MappedMemory> {
    let memory = MappedMemory::private(outbox_len(LEN));
    prepare(&memory);
    Arc::new(memory)
}

impl Pair {
    fn push(&mut self, bytes: &[u8]) -> Pushed {
        let (first, rest) = bytes.split_at(bytes.len() / 3);
        let parts = [IoSlice::new(first), IoSlice::new(rest)];
        self.writer.push(RecordKind::Inline, 0, bytes.len() as u32, &parts).unwrap()
    }

    fn pop(&mut self) -> Option<Vec<u8>> {
        let record = self.reader.peek().unwrap()?;
        let mut bytes = vec![0; record.len as usize];
        self.reader.copy(0, &mut bytes);
        self.reader.consume(record);
        Some(bytes)
    }

    fn push_block(&mut self, block: u32) {
        let pushed = self.writer.push(RecordKind::Block, block, 100_000, &[]).unwrap();
        assert!(matches!(pushed, Pushed::Written { .. }));
    }
}

#[test]
fn refused_wake_is_repeated_with_the_next_record() {
    let mut pair = pair();
    assert_eq!(pair.push(b"a"), Pushed::Written { wakes: true });
    assert_eq!(pair.push(b"b"), Pushed::Written { wakes: false });
    pair.writer.repeat_wake();
    assert_eq!(pair.push(b"c"), Pushed::Written { wakes: true });
    assert_eq!(pair.push(b"d"), Pushed::Written { wakes: false });
    // In the other direction: the reader wakes a writer that waits for room.
    while pair.push(&[0; 1000]) != Pushed::Full {}
    assert!(pair.pop().is_some() && pair.reader.must_wake() && !pair.reader.must_wake());
    pair.reader.repeat_wake();
    assert!(pair.reader.must_wake() && !pair.reader.must_wake());
}

/// Memory that the system has no more of behind some offset.
struct ScarceMemory(MappedMemory, usize);

impl Memory for ScarceMemory {
    fn load(&self, at: usize) -> u32 {
        self.0.load(at)
    }

    fn store(&self, at: usize, value: u32) {
        self.0.store(at, value);
    }

    fn read(&self, at: usize, into: &mut [u8]) {
        self.0.read(at, into);
    }

    fn write(&self, at: usize, from: &[u8]) {
        assert!(at + from.len() <= self.1, "SIGBUS");
        self.0.write(at, from);
    }

    fn fence(&self) {
        self.0.fence();
    }

    fn reserve(&self, at: usize, len: usize) -> bool {
        at + len <= self.1
    }
}

#[test]
fn ring_without_memory_takes_no_record_and_writes_nothing() {
    let len = 64 << 10;
    let scarce = |limit| {
        let memory = ScarceMemory(MappedMemory::private(outbox_len(len)), limit);
        prepare(&memory);
        Arc::new(memory)
    };
    let (own, peer) = (scarce(RING + (40 << 10)), scarce(0));
    let mut writer = RingWriter::new(Arc::clone(&own), Arc::clone(&peer), len);
    let mut reader = RingReader::new(peer, own, len);
    let mut push = || writer.push(RecordKind::Inline, 0, 1000, &[IoSlice::new(&[7; 1000])]).unwrap();
    let written = (0..60).take_while(|_| push() != Pushed::NoMemory).count();
    assert_eq!(written, (32 << 10) / 1024, "two parts of the ring have memory");
    assert_eq!(push(), Pushed::NoMemory);
    // The records before are intact.
    for _ in 0..written {
        let record = reader.peek().unwrap().unwrap();
        reader.consume(record);
    }
    assert_eq!(reader.peek(), Ok(None));
}

#[test]
fn sleeping_reader_is_woken_once_per_sleep() {
    let mut pair = pair();
    assert_eq!(pair.push(b"a"), Pushed::Written { wakes: true });
    assert_eq!(pair.push(b"b"), Pushed::Written { wakes: false });
    pair.reader.wake_up();
    assert_eq!(pair.push(b"c"), Pushed::Written { wakes: false });
    while pair.pop().is_some() {}
    pair.reader.fall_asleep();
    assert!(!pair.reader.has_records().unwrap());
    assert_eq!(pair.push(b"d"), Pushed::Written { wakes: true });
    assert!(pair.reader.has_records().unwrap());
}

#[test]
fn full_ring_refuses_and_reader_wakes_the_writer() {
    let mut pair = pair();
    while let Pushed::Written { .. } = pair.push(&[1; 100]) {}
    assert_eq!(pair.push(&[1; 100]), Pushed::Full);
    assert!(!pair.reader.must_wake());
    pair.pop().unwrap();
    assert!(pair.reader.must_wake());
    assert!(!pair.reader.must_wake());
    assert!(matches!(pair.push(&[1; 100]), Pushed::Written { .. }));
}

#[test]
fn returned_blocks_reach_the_writer_in_order() {
    let mut pair = pair();
    let mut back = Vec::new();
    for round in 0..3 * RETURNS_MAX {
        pair.push_block(round);
        let record = pair.reader.peek().unwrap().unwrap();
        assert_eq!((record.kind, record.argument), (RecordKind::Block, round));
        pair.reader.consume(record);
        pair.writer
            .take_returned(1, |block| {
                back.push(block);
                true
            })
            .unwrap();
    }
    assert_eq!(back, Vec::from_iter(0..3 * RETURNS_MAX));
}

#[test]
fn unread_blocks_come_back_after_the_last_read() {
    let mut pair = pair();
    let mut back = Vec::new();
    for block in 1..=4 {
        pair.push_block(block);
        pair.push(&[7; 100]);
    }
    let record = pair.reader.peek().unwrap().unwrap();
    pair.reader.keep(record);
    let mut take = |pair: &mut Pair| {
        pair.writer
            .take_unread(|block| {
                back.push(block);
                true
            })
            .unwrap();
        back.clone()
    };
    assert_eq!(take(&mut pair), [], "the reader may still read");
    pair.reader.finish();
    assert_eq!(take(&mut pair), [2, 3, 4]);
    assert_eq!(take(&mut pair), [2, 3, 4], "once");
}

#[test]
fn last_position_within_a_record_is_refused_or_ends() {
    // Bytes of the messages look like headers: of an inline record that would lead back, and of a block.
    let long = [1_u32.to_ne_bytes(), 0xFFFF_FFE0_u32.to_ne_bytes()].concat();
    let block = [2_u32.to_ne_bytes(), 9_u32.to_ne_bytes()].concat();
    let messages = [vec![0xff; 1000], long.repeat(125), block.repeat(125)];
    for (read, message) in (0..=4096).step_by(8).flat_map(|read| messages.iter().map(move |message| (read, message))) {
        let mut pair = pair();
        for block in 0..3 {
            pair.push(message);
            pair.push_block(block);
        }
        pair.memories.1.store(READ, read);
        pair.memories.1.store(FINAL, 1);
        let mut count = 0;
        let _ = pair.writer.take_unread(|_| {
            count += 1;
            true
        });
        assert!(count <= 300, "{read}");
    }
}

#[test]
fn wrong_positions_of_a_reader_are_refused() {
    let mut pair = pair();
    pair.push(&[1; 100]);
    pair.memories.1.store(READ, 4096);
    assert_eq!(pair.writer.look_for_room(), Err(Violation::ReadBeyondWritten));
    pair.memories.1.store(READ, u32::MAX);
    assert_eq!(pair.writer.look_for_room(), Err(Violation::ReadBeyondWritten));
    pair.memories.1.store(READ, 128);
    assert_eq!(pair.writer.look_for_room(), Ok(LEN));
    pair.memories.1.store(READ, 0);
    assert_eq!(pair.writer.look_for_room(), Err(Violation::ReadBeyondWritten), "a position never goes back");
}

#[test]
fn blocks_that_a_reader_does_not_hold_are_refused() {
    let mut pair = pair();
    pair.push_block(5);
    pair.memories.1.store(RETURNED, 2);
    assert_eq!(pair.writer.take_returned(1, |_| true), Err(Violation::BlockNotHeld));
    pair.memories.1.store(RETURNED, u32::MAX);
    assert_eq!(pair.writer.take_returned(1, |_| true), Err(Violation::BlockNotHeld));
    pair.memories.1.store(RETURNED, 1);
    assert_eq!(pair.writer.take_returned(1, |_| false), Err(Violation::BlockNotHeld));
}

#[test]
fn wrong_positions_of_a_writer_are_refused() {
    for written in [LEN + 16, u32::MAX, 1 << 31] {
        let mut pair = pair();
        pair.memories.0.store(WRITTEN, written);
        assert_eq!(pair.reader.peek(), Err(Violation::WrittenBeyondRing), "{written}");
    }
    let mut pair = pair();
    pair.memories.0.store(WRITTEN, 8);
    assert_eq!(pair.reader.peek(), Err(Violation::RecordLength));
}

#[test]
fn position_that_goes_back_after_the_look_keeps_its_record() {
    let mut pair = pair();
    pair.push(b"announced");
    assert!(pair.reader.has_records().unwrap());
    pair.memories.0.store(WRITTEN, 0);
    assert_eq!(pair.pop().unwrap(), b"announced");
    assert_eq!(pair.reader.has_records(), Err(Violation::WrittenBeyondRing));
}

#[test]
fn wrong_records_of_a_writer_are_refused() {
    let cases = [
        (0, 0, Violation::RecordKind),
        (9, 0, Violation::RecordKind),
        (RecordKind::Inline as u32, 17, Violation::RecordLength),
        (RecordKind::Inline as u32, u32::MAX, Violation::RecordLength),
        (RecordKind::Inline as u32, INLINE_MAX as u32 + 1, Violation::RecordLength),
    ];
    for (kind, len, violation) in cases {
        let mut pair = pair();
        pair.push(b"sixteen bytes...");
        pair.memories.0.store(RING, kind);
        pair.memories.0.store(RING + 4, len);
        assert_eq!(pair.reader.peek(), Err(violation), "{kind} {len}");
    }
}

#[test]
fn closed_reader_ignores_later_positions() {
    let mut pair = pair();
    pair.push(b"last");
    pair.reader.close().unwrap();
    pair.push(b"after the end");
    assert_eq!(pair.pop().unwrap(), b"last");
    assert_eq!(pair.pop(), None);
    assert!(!pair.reader.has_records().unwrap());
}

#[test]
fn two_threads_exchange_messages_in_order() {
    let count = if cfg!(miri) { 60 } else { 200_000 };
    let Pair { mut writer, mut reader, memories: _memories } = pair();
    let thread = std::thread::spawn(move || {
        for number in 0..count {
            let bytes = [number as u8; 40];
            let number = u32::to_ne_bytes(number);
            let parts = [IoSlice::new(&number), IoSlice::new(&bytes)];
            while writer.push(RecordKind::Inline, 0, 44, &parts).unwrap() == Pushed::Full {
                std::thread::yield_now();
            }
        }
    });
    for number in 0..count {
        let record = loop {
            match reader.peek().unwrap() {
                Some(record) => break record,
                None => std::thread::yield_now(),
            }
        };
        let mut bytes = [0; 44];
        reader.copy(0, &mut bytes);
        reader.consume(record);
        assert_eq!(bytes[..4], number.to_ne_bytes());
        assert!(bytes[4..].iter().all(|byte| *byte == number as u8));
    }
    thread.join().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 256 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ring_behaves_like_a_queue(steps in prop::collection::vec(prop::option::of(0_usize..INLINE_MAX), 1..STEPS_MAX)) {
        let mut pair = pair();
        let mut queue: VecDeque<Vec<u8>> = VecDeque::new();
        for (number, step) in steps.into_iter().enumerate() {
            if let Some(len) = step {
                let bytes: Vec<u8> = (0..len).map(|at| (at * 7 + number) as u8).collect();
                let used: u32 = queue.iter().map(|bytes| record_len(bytes.len() as u32)).sum();
                let fits = used + record_len(len as u32) <= LEN;
                prop_assert_eq!(pair.push(&bytes) != Pushed::Full, fits);
                if fits {
                    queue.push_back(bytes);
                }
            } else {
                prop_assert_eq!(pair.pop(), queue.pop_front());
            }
        }
    }

    #[test]
    fn random_outbox_never_panics(words in prop::collection::vec(any::<u32>(), 64), at in 0_usize..300) {
        let mut pair = pair();
        pair.push_block(1);
        for (index, word) in words.iter().enumerate() {
            for memory in [&pair.memories.0, &pair.memories.1] {
                memory.store((at + index * 61) % (outbox_len(LEN) / 4) * 4, *word);
            }
        }
        for memory in [&pair.memories.0, &pair.memories.1] {
            memory.store(WRITTEN, words[0] % (2 * LEN));
            memory.store(READ, words[1] % 64);
            memory.store(RETURNED, words[2] % 4);
        }
        for _ in 0..600 {
            let Ok(Some(record)) = pair.reader.peek() else { break };
            if record.kind == RecordKind::Inline {
                pair.reader.copy(0, &mut vec![0; record.len as usize]);
            }
            pair.reader.consume(record);
        }
        let _ = (pair.writer.look_for_room(), pair.writer.take_returned(1, |block| block == 1), pair.reader.must_wake());
    }
}
