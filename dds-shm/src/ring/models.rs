//! Models of the ring: every order of the two sides' steps, by loom.
//!
//! A mutant weakens one rule of the memory. Its model must fail, or the rule has no test.

use super::*;
use loom::sync::Notify;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::io::IoSlice;
use std::sync::Arc;

const LEN: u32 = 64;

/// The rule that is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mutant {
    Sound,
    NoFence,
    RelaxedLoad,
    RelaxedStore,
}

/// The words and the bytes of an outbox, as atomics that loom observes.
struct ModelMemory {
    words: Vec<AtomicU32>,
    returns: Vec<AtomicU32>,
    /// The ring, eight bytes each, always with relaxed ordering.
    ring: Vec<AtomicU64>,
    mutant: Mutant,
}

impl ModelMemory {
    fn outbox(mutant: Mutant) -> Arc<Self> {
        let memory = Self {
            words: (0..7).map(|_| AtomicU32::new(0)).collect(),
            returns: (0..2).map(|_| AtomicU32::new(0)).collect(),
            ring: (0..LEN / 8).map(|_| AtomicU64::new(0)).collect(),
            mutant,
        };
        memory.words[SLEEP / 64].store(FIRST_SLEEP, Ordering::Relaxed);
        Arc::new(memory)
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        match at.checked_sub(RETURNS) {
            Some(at) => &self.returns[at / 4],
            None => &self.words[at / 64],
        }
    }
}

impl Memory for ModelMemory {
    fn load(&self, at: usize) -> u32 {
        let is_weak = self.mutant == Mutant::RelaxedLoad;
        self.word(at).load(if is_weak { Ordering::Relaxed } else { Ordering::Acquire })
    }

    fn store(&self, at: usize, value: u32) {
        let is_weak = self.mutant == Mutant::RelaxedStore;
        self.word(at).store(value, if is_weak { Ordering::Relaxed } else { Ordering::Release });
    }

    fn read(&self, at: usize, into: &mut [u8]) {
        for (index, bytes) in into.chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&self.ring[(at - RING) / 8 + index].load(Ordering::Relaxed).to_ne_bytes());
        }
    }

    fn write(&self, at: usize, from: &[u8]) {
        for (index, bytes) in from.chunks_exact(8).enumerate() {
            self.ring[(at - RING) / 8 + index].store(u64::from_ne_bytes(bytes.try_into().unwrap()), Ordering::Relaxed);
        }
    }

    fn reserve(&self, _at: usize, _len: usize) -> bool {
        true
    }

    fn fence(&self) {
        if self.mutant != Mutant::NoFence {
            fence(Ordering::SeqCst);
        }
    }
}

type Rings = (RingWriter<ModelMemory>, RingReader<ModelMemory>);

fn rings(mutant: Mutant) -> Rings {
    let (own, peer) = (ModelMemory::outbox(mutant), ModelMemory::outbox(mutant));
    (RingWriter::new(Arc::clone(&own), Arc::clone(&peer), LEN), RingReader::new(peer, own, LEN))
}

fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// The writer sends two messages. The reader sleeps when it finds none, until the writer wakes it.
fn no_wake_is_lost(mutant: Mutant) {
    explore(move || {
        let (mut writer, mut reader) = rings(mutant);
        let wake = Arc::new(Notify::new());
        let woken = Arc::clone(&wake);
        let thread = loom::thread::spawn(move || {
            for number in 1..=2 {
                match writer.push(RecordKind::Probe, number, 0, &[]).unwrap() {
                    Pushed::Written { wakes: true } => wake.notify(),
                    Pushed::Written { wakes: false } => {}
                    Pushed::Full => panic!("the ring has room for four records"),
                    Pushed::NoMemory => panic!("the model reserves all memory"),
                }
            }
        });
        let mut expected = 1;
        let mut is_asleep = true;
        while expected <= 2 {
            if is_asleep {
                woken.wait();
                reader.wake_up();
                is_asleep = false;
            }
            while let Some(record) = reader.peek().unwrap() {
                assert_eq!((record.kind, record.argument), (RecordKind::Probe, expected));
                reader.consume(record);
                expected += 1;
            }
            if expected <= 2 {
                reader.fall_asleep();
                fence(Ordering::SeqCst);
                is_asleep = !reader.has_records().unwrap();
                if !is_asleep {
                    reader.wake_up();
                }
            }
        }
        thread.join().unwrap();
    });
}

/// The writer fills the ring and waits for room. The reader reads all and wakes it.
fn no_wish_is_lost(mutant: Mutant) {
    explore(move || {
        let (mut writer, mut reader) = rings(mutant);
        let bytes = [7; 48];
        let push = |writer: &mut RingWriter<ModelMemory>| {
            writer.push(RecordKind::Inline, 0, 48, &[IoSlice::new(&bytes)]).unwrap()
        };
        assert!(matches!(push(&mut writer), Pushed::Written { .. }));
        let room = Arc::new(Notify::new());
        let granted = Arc::clone(&room);
        let thread = loom::thread::spawn(move || {
            let record = reader.peek().unwrap().unwrap();
            reader.consume(record);
            if reader.must_wake() {
                granted.notify();
            }
            reader
        });
        // The wait of a model may end without a notification.
        while push(&mut writer) == Pushed::Full {
            room.wait();
        }
        let mut reader = thread.join().unwrap();
        let mut read = [0; 48];
        reader.peek().unwrap().unwrap();
        reader.copy(0, &mut read);
        assert_eq!(read, bytes);
    });
}

/// The writer reuses the place of a record only after the reader has copied it.
fn no_record_is_torn(mutant: Mutant) {
    explore(move || {
        let (mut writer, mut reader) = rings(mutant);
        let thread = loom::thread::spawn(move || {
            for number in 1..=3_u8 {
                // Two of these fill the ring. So the third reuses the place of the first.
                let _ = writer.push(RecordKind::Inline, u32::from(number), 16, &[IoSlice::new(&[number; 16])]).unwrap();
            }
        });
        for _ in 0..3 {
            if let Some(record) = reader.peek().unwrap() {
                let mut bytes = [0; 16];
                reader.copy(0, &mut bytes);
                assert_eq!(bytes, [record.argument as u8; 16]);
                reader.consume(record);
            }
        }
        thread.join().unwrap();
    });
}

/// The reader returns a block. The writer sees its number, and only once.
fn no_return_is_invented(mutant: Mutant) {
    explore(move || {
        let (mut writer, mut reader) = rings(mutant);
        assert!(matches!(writer.push(RecordKind::Block, 9, 1, &[]).unwrap(), Pushed::Written { .. }));
        let record = reader.peek().unwrap().unwrap();
        let thread = loom::thread::spawn(move || reader.consume(record));
        let mut held = 1;
        for _ in 0..2 {
            writer
                .take_returned(held, |block| {
                    held -= 1;
                    block == 9
                })
                .unwrap();
        }
        thread.join().unwrap();
    });
}

/// Two threads of the reader's side return blocks. The writer sees each number once, in any order.
fn no_return_is_lost_between_threads(mutant: Mutant) {
    explore(move || {
        let (mut writer, mut reader) = rings(mutant);
        for block in [5, 6] {
            assert!(matches!(writer.push(RecordKind::Block, block, 1, &[]).unwrap(), Pushed::Written { .. }));
        }
        let kept = reader.peek().unwrap().unwrap();
        reader.keep(kept);
        let returns = Arc::clone(reader.returns());
        let other = loom::thread::spawn(move || returns.put_and_look(5));
        let record = reader.peek().unwrap().unwrap();
        reader.consume(record);
        let mut back = Vec::new();
        let mut take = |writer: &mut RingWriter<ModelMemory>, back: &mut Vec<u32>| {
            writer
                .take_returned(2 - back.len() as u32, |block| {
                    back.push(block);
                    true
                })
                .unwrap();
        };
        take(&mut writer, &mut back);
        other.join().unwrap();
        take(&mut writer, &mut back);
        back.sort_unstable();
        assert_eq!(back, [5, 6]);
    });
}

/// The writer finds no block free and waits. Another thread of the reader's side returns one and wakes it.
fn no_wish_is_lost_by_a_return(mutant: Mutant) {
    explore(move || {
        let (mut writer, mut reader) = rings(mutant);
        assert!(matches!(writer.push(RecordKind::Block, 9, 1, &[]).unwrap(), Pushed::Written { .. }));
        let record = reader.peek().unwrap().unwrap();
        reader.keep(record);
        let returns = Arc::clone(reader.returns());
        let room = Arc::new(Notify::new());
        let granted = Arc::clone(&room);
        let thread = loom::thread::spawn(move || {
            if returns.put_and_look(9) {
                granted.notify();
            }
        });
        writer.request_room();
        let mut held = 1;
        loop {
            writer
                .take_returned(held, |_| {
                    held -= 1;
                    true
                })
                .unwrap();
            if held == 0 {
                break;
            }
            room.wait();
        }
        thread.join().unwrap();
    });
}

/// The reader's side reads its last record and says so. The writer takes back the blocks of all others, and no other.
fn no_block_is_taken_back_while_it_is_read(mutant: Mutant) {
    explore(move || {
        let (mut writer, mut reader) = rings(mutant);
        for block in [5, 6] {
            assert!(matches!(writer.push(RecordKind::Block, block, 1, &[]).unwrap(), Pushed::Written { .. }));
        }
        let thread = loom::thread::spawn(move || {
            let record = reader.peek().unwrap().unwrap();
            reader.keep(record);
            reader.finish();
        });
        let mut back = Vec::new();
        let mut take = |writer: &mut RingWriter<ModelMemory>, back: &mut Vec<u32>| {
            writer
                .take_unread(|block| {
                    back.push(block);
                    true
                })
                .unwrap();
        };
        take(&mut writer, &mut back);
        thread.join().unwrap();
        take(&mut writer, &mut back);
        assert_eq!(back, [6], "the reader keeps the other one");
    });
}

/// The reader stops for good at any point. The writer ends without waiting.
#[test]
fn stopped_reader_never_delays_the_writer() {
    explore(|| {
        let (mut writer, mut reader) = rings(Mutant::Sound);
        let thread = loom::thread::spawn(move || {
            if let Some(record) = reader.peek().unwrap() {
                reader.consume(record);
            }
            // The thread ends here, which is the same as a stop after any of its steps: it never takes the next one.
        });
        let mut written = 0;
        for number in 0..6 {
            if let Pushed::Written { .. } = writer.push(RecordKind::Probe, number, 0, &[]).unwrap() {
                written += 1;
            }
        }
        assert!((4..=5).contains(&written), "{written}");
        thread.join().unwrap();
    });
}

#[test]
fn sound_ring_passes_every_model() {
    no_wake_is_lost(Mutant::Sound);
    no_wish_is_lost(Mutant::Sound);
    no_record_is_torn(Mutant::Sound);
    no_return_is_invented(Mutant::Sound);
    no_return_is_lost_between_threads(Mutant::Sound);
    no_wish_is_lost_by_a_return(Mutant::Sound);
    no_block_is_taken_back_while_it_is_read(Mutant::Sound);
}

#[test]
#[should_panic(expected = "deadlock")]
fn wake_without_fence_is_lost() {
    no_wake_is_lost(Mutant::NoFence);
}

#[test]
#[should_panic(expected = "deadlock")]
fn wish_without_fence_is_lost() {
    no_wish_is_lost(Mutant::NoFence);
}

#[test]
#[should_panic]
fn record_by_relaxed_load_is_torn() {
    no_record_is_torn(Mutant::RelaxedLoad);
}

#[test]
#[should_panic]
fn record_by_relaxed_store_is_torn() {
    no_record_is_torn(Mutant::RelaxedStore);
}

#[test]
#[should_panic(expected = "deadlock")]
fn wish_is_lost_by_a_return_without_fence() {
    no_wish_is_lost_by_a_return(Mutant::NoFence);
}

#[test]
#[should_panic]
fn block_is_taken_back_too_early_by_a_relaxed_load() {
    no_block_is_taken_back_while_it_is_read(Mutant::RelaxedLoad);
}

#[test]
#[should_panic]
fn return_by_relaxed_load_is_invented() {
    no_return_is_invented(Mutant::RelaxedLoad);
}

#[test]
#[should_panic]
fn return_by_relaxed_store_is_invented() {
    no_return_is_invented(Mutant::RelaxedStore);
}
