//! In-place reception of fragments, with right and wrong guesses.

use super::fragments::{bytes_of, large, piece};
use super::*;
use proptest::prelude::*;

const SIZE: u16 = 1000;

/// A receive thread, with or without a borrowed fragment.
struct Receiving {
    script: Script,
    landing: Option<InPlaceFragment>,
    landed: usize,
}

impl Receiving {
    fn new(script: Script) -> Self {
        Self { script, landing: None, landed: 0 }
    }

    /// A fragment arrives at the socket. If it is not the expected one, its bytes that fell into the borrowed memory
    /// are copied to where they belong.
    fn arrive(&mut self, writer: Guid, fragment: &DataFrag<'_>) -> Handled {
        let expects = self.landing.as_ref().is_some_and(|landing| {
            landing.sequence_number() == fragment.writer_sn
                && landing.fragment_number() == fragment.fragment_starting_num
                && (fragment.fragment_size, fragment.fragments_in_submessage) == (SIZE, 1)
                && landing.len() == fragment.payload.len()
                && writer == WRITER
        });
        let now = self.script.now();
        let Some(mut landing) = self.landing.take() else { return self.copy(writer, fragment) };
        let place = landing.buffer();
        let len = place.len().min(fragment.payload.len());
        place[..len].copy_from_slice(&fragment.payload[..len]);
        if !expects {
            drop(landing);
            return self.copy(writer, fragment);
        }
        self.landed += 1;
        self.landing = self.script.reader.handle_in_place(now, &source(writer), landing);
        Handled::Accepted
    }

    fn copy(&mut self, writer: Guid, fragment: &DataFrag<'_>) -> Handled {
        let handled = self.by_another_way(writer, fragment);
        if writer == WRITER && fragment.fragments_in_submessage == 1 {
            let (number, first) = (fragment.writer_sn, fragment.fragment_starting_num);
            self.landing = self.script.reader.lend_next_fragment(writer, number, first);
        }
        handled
    }

    /// Fragments of a sample, at this socket or another one.
    fn pieces(&mut self, sample: &[u8], number: i64, firsts: std::ops::RangeInclusive<u32>, aside: bool) {
        for first in firsts {
            let piece = piece(sample, number, SIZE, first, 1);
            match aside {
                true => self.by_another_way(WRITER, &piece),
                false => self.arrive(WRITER, &piece),
            };
        }
    }

    fn by_another_way(&mut self, writer: Guid, fragment: &DataFrag<'_>) -> Handled {
        let now = self.script.now();
        self.script.reader.handle_data_frag(now, &source(writer), fragment)
    }
}

#[test]
fn in_place_covers_all_but_first_two_and_last_fragment() {
    for script in [Script::best_effort(), Script::reliable()] {
        let mut receiving = Receiving::new(script);
        for number in 1..=3 {
            let sample = large(20_500);
            for first in 1..=21 {
                let piece = piece(&sample, number, SIZE, first, 1);
                assert_eq!(receiving.arrive(WRITER, &piece), Handled::Accepted, "{first}");
            }
            assert_eq!(bytes_of(&receiving.script.take()), [&sample[..]]);
            assert!(receiving.landing.is_none());
        }
        assert_eq!(receiving.landed, 3 * 18);
    }
}

#[test]
fn fragment_during_loan_is_requested_again() {
    let mut receiving = Receiving::new(Script::reliable());
    let sample = large(8_000);
    receiving.pieces(&sample, 1, 1..=2, false);
    assert_eq!(receiving.landing.as_ref().map(InPlaceFragment::fragment_number), Some(3));
    assert_eq!(receiving.by_another_way(WRITER, &piece(&sample, 1, SIZE, 7, 1)), Handled::Postponed);
    receiving.pieces(&sample, 1, 3..=6, false);
    receiving.script.heartbeat(1, 1);
    receiving.script.later(50);
    let requested = receiving.script.sent();
    assert!(
        requested
            .iter()
            .any(|sent| sent.nack_frags.iter().any(|nack| nack.fragment_number_state.iter().any(|n| n == 7)))
    );
    receiving.pieces(&sample, 1, 7..=8, false);
    assert_eq!(bytes_of(&receiving.script.take()), [&sample[..]]);
}

#[test]
fn late_slot_return_finds_no_other_sample() {
    let mut receiving = Receiving::new(Script::best_effort());
    let (first, second) = (large(8_000), [&large(7_000)[..], &[9; 1_000]].concat());
    receiving.pieces(&first, 1, 1..=2, false);
    let mut late = receiving.landing.take().unwrap();
    // The first sample is evicted for the second one.
    receiving.pieces(&second, 2, 1..=8, true);
    let taken = receiving.script.take();
    receiving.pieces(&second, 3, 1..=1, true);
    late.buffer().fill(77);
    let now = receiving.script.now();
    assert!(receiving.script.reader.handle_in_place(now, &source(WRITER), late).is_none());
    // The third sample is lent, and has no other memory until it returns.
    receiving.pieces(&second, 3, 2..=4, false);
    assert!(receiving.landing.is_some());
    assert_eq!(receiving.by_another_way(WRITER, &piece(&second, 3, SIZE, 6, 1)), Handled::Postponed);
    receiving.pieces(&second, 3, 5..=8, false);
    assert_eq!(bytes_of(&taken), [&second[..]]);
    assert_eq!(bytes_of(&receiving.script.take()), [&second[..]]);
}

/// The receive thread waits with its loan, because the rest arrives by another way, such as shared memory.
#[test]
fn slot_that_never_returns_delays_no_sample() {
    let mut receiving = Receiving::new(Script::reliable());
    let sample = large(20_500);
    receiving.pieces(&sample, 1, 1..=9, false);
    let mut late = receiving.landing.take().unwrap();
    receiving.script.heartbeat(1, 1);
    // The writer sends the rest, and answers every request.
    receiving.pieces(&sample, 1, 10..=21, true);
    let mut taken = Vec::new();
    for _ in 0..20 {
        receiving.script.later(50);
        for sent in receiving.script.sent() {
            for nack in sent.nack_frags {
                for first in nack.fragment_number_state.iter() {
                    receiving.pieces(&sample, 1, first..=first, true);
                }
            }
        }
        taken.extend(receiving.script.take());
    }
    assert_eq!(bytes_of(&taken), [&sample[..]]);
    // The late fragment changes nothing.
    late.buffer().fill(77);
    let now = receiving.script.now();
    assert!(receiving.script.reader.handle_in_place(now, &source(WRITER), late).is_none());
    assert_eq!(bytes_of(&taken), [&sample[..]]);
    assert!(receiving.script.take().is_empty());
}

/// A fragment or two that overtake the receive thread do not cost the fragments before.
#[test]
fn few_fragments_during_loan_keep_the_sample() {
    let mut receiving = Receiving::new(Script::best_effort());
    let sample = large(20_500);
    receiving.pieces(&sample, 1, 1..=3, false);
    for first in 4..=20 {
        for _ in 0..3 {
            assert_eq!(receiving.by_another_way(WRITER, &piece(&sample, 1, SIZE, 21, 1)), Handled::Postponed);
        }
        receiving.pieces(&sample, 1, first..=first, false);
    }
    receiving.pieces(&sample, 1, 21..=21, false);
    assert_eq!(bytes_of(&receiving.script.take()), [&sample[..]]);
}

/// One step of the test.
#[derive(Debug, Clone)]
enum InPlaceStep {
    /// The next fragments of the writer.
    Go(u32),
    /// A fragment of any number, alone or with the next ones, of the same or another fragment size.
    Any { first: u32, count: u16, size: u16 },
    /// A fragment of another writer.
    Other,
    /// A fragment that arrives by another socket.
    Aside(u32),
    /// The receive thread drops the borrowed fragment.
    GiveUp,
    /// The next sample begins.
    Next,
}

fn step() -> impl Strategy<Value = InPlaceStep> {
    prop_oneof![
        4 => (1..6_u32).prop_map(InPlaceStep::Go),
        2 => (1..16_u32, 1..4_u16, prop_oneof![9 => Just(SIZE), 1 => Just(500)])
            .prop_map(|(first, count, size)| InPlaceStep::Any { first, count, size }),
        1 => Just(InPlaceStep::Other),
        1 => (1..16_u32).prop_map(InPlaceStep::Aside),
        1 => Just(InPlaceStep::GiveUp),
        1 => Just(InPlaceStep::Next),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Wrong fragments in the borrowed memory never damage a delivered sample.
    #[test]
    fn wrong_in_place_guess_is_invisible(steps in prop::collection::vec(step(), 1..60), reliable in any::<bool>()) {
        let mut script = Script::new(keep_all(config(KeySource::None)));
        script.match_remote(WRITER, reliable);
        script.match_remote(OTHER, false);
        let mut receiving = Receiving::new(script);
        let sample = |number: i64| -> Vec<u8> { large(15_500).iter().map(|byte| byte.wrapping_add(number as u8)).collect() };
        let other = large(2_000);
        let count = 16;
        let (mut number, mut next) = (1, 1);
        let mut others = 1;
        for step in steps {
            let bytes = sample(number);
            match step {
                InPlaceStep::Go(more) => for _ in 0..more {
                    receiving.arrive(WRITER, &piece(&bytes, number, SIZE, next, 1));
                    next = next % count + 1;
                },
                InPlaceStep::Any { first, count: some, size } => {
                    receiving.arrive(WRITER, &piece(&bytes, number, size, first, some.min((17 - first) as u16)));
                }
                InPlaceStep::Other => {
                    receiving.arrive(OTHER, &piece(&other, others, SIZE, 1, 2));
                    others += 1;
                }
                InPlaceStep::Aside(first) => receiving.pieces(&bytes, number, first..=first, true),
                InPlaceStep::GiveUp => receiving.landing = None,
                InPlaceStep::Next => (number, next) = (number + 1, 1),
            }
        }
        // The writer repeats the last sample until it is complete.
        let bytes = sample(number);
        for _ in 0..2 {
            receiving.landing = None;
            receiving.pieces(&bytes, number, 1..=count, false);
        }
        let taken = receiving.script.take();
        for taken in &taken {
            let whole = taken.payload.as_ref().unwrap().bytes();
            let of = taken.info.sequence_number;
            prop_assert!(whole == other || whole == sample(of.0), "sample {of:?} is damaged");
        }
        let last = |taken: &HistorySample| taken.payload.as_ref().is_some_and(|payload| payload.bytes() == bytes);
        prop_assert!(reliable || taken.iter().any(last));
    }
}
