//! Who writes or takes a sample waits for nobody: with real-time threads a lock that somebody else holds is a wait without a bound.

use benches::pair::{Form, Large, Pair, Small, ToldBy};
use nix::sys::resource::{UsageWho, getrusage};
use std::time::Duration;

/// Rounds that are looked at, and the samples of each. What belongs to a sample shows in every round.
#[derive(Clone, Copy)]
struct Rounds {
    rounds: usize,
    samples: u32,
}

/// Nobody but this thread has to do with the sample: one wait in a thousand is one too many.
const ALONE: Rounds = Rounds { rounds: 10, samples: 1_000 };

/// The thread that receives handles the acknowledgement of one sample while the next is written, for a microsecond and in bounded
/// steps. How often the two meet is the machine's affair, and may be more than once in a thousand; never in each round of a few.
const BESIDE_THE_RECEIVER: Rounds = Rounds { rounds: 500, samples: 20 };

/// Samples until everything has been where it will be.
const WARM_UP: u32 = 3_000;

/// How often this thread gave its core away because it had to wait for something (`ru_nvcsw`). The system takes cores away as
/// well, which it counts apart.
fn waits() -> i64 {
    getrusage(UsageWho::RUSAGE_THREAD).unwrap().voluntary_context_switches()
}

/// The waits of the quietest round, in `call` alone; what `between` waits for is not counted.
fn least_waits(rounds: Rounds, mut call: impl FnMut(), mut between: impl FnMut()) -> i64 {
    let mut pass = || {
        let before = waits();
        call();
        let waited = waits() - before;
        between();
        waited
    };
    for _ in 0..WARM_UP {
        pass();
    }
    let round = |_| (0..rounds.samples).map(|_| pass()).sum::<i64>();
    (0..rounds.rounds).map(round).min().unwrap()
}

#[test]
fn a_warm_write_and_take_wait_for_nobody() {
    let _turn = crate::turn();
    let form = Form::DEFAULT;
    for form in [form, form.reliable(), form.told_by(ToldBy::Reader), form.told_by(ToldBy::Reader).reliable()] {
        let pair = Pair::<Small>::new(form).unwrap();
        assert_eq!(least_waits(ALONE, || pair.pass(), || ()), 0, "write and take, {form:?}");
    }
    let pair = Pair::<Large>::new(form).unwrap();
    assert_eq!(least_waits(ALONE, || pair.pass(), || ()), 0, "write and take, 32 000 bytes");
    for form in [form.udp(), form.udp().reliable()] {
        let pair = Pair::<Small>::new(form).unwrap();
        assert_eq!(least_waits(BESIDE_THE_RECEIVER, || pair.write(), || pair.arrived()), 0, "write, {form:?}");
    }
    // Proof that something is counted.
    assert!(least_waits(ALONE, || std::thread::sleep(Duration::from_micros(1)), || ()) > 0);
}
