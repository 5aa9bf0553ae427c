//! Writing and taking a sample wait for no other thread: with real-time threads such a wait has no bound.

use benches::pair::{Form, Large, NotifiedBy, Pair, Small};
use nix::sys::resource::{UsageWho, getrusage};
use std::time::Duration;

/// Measured rounds and their samples. A wait that belongs to a sample occurs in each round.
#[derive(Clone, Copy)]
struct Rounds {
    rounds: usize,
    samples: u32,
}

/// Rounds in which no other thread handles the sample: not one wait in a thousand is allowed.
const ALONE: Rounds = Rounds { rounds: 10, samples: 1_000 };

/// Rounds in which the receive thread handles acknowledgments at the same time.
///
/// It holds the writer for a microsecond, in bounded steps. How often a write has to wait depends on the machine. It
/// may be more than once in a thousand samples, but not in each short round.
const BESIDE_THE_RECEIVER: Rounds = Rounds { rounds: 500, samples: 20 };

/// Samples until all memory is in use.
const WARM_UP: u32 = 3_000;

/// Voluntary context switches of this thread (`ru_nvcsw`): it waited for something. Preemption is counted separately.
fn waits() -> i64 {
    getrusage(UsageWho::RUSAGE_THREAD).unwrap().voluntary_context_switches()
}

/// The fewest waits of a round in `call`. Waits in `between` do not count.
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
fn warm_write_and_take_do_not_wait() {
    let _turn = crate::turn();
    let form = Form::DEFAULT;
    for form in
        [form, form.reliable(), form.notified_by(NotifiedBy::Reader), form.notified_by(NotifiedBy::Reader).reliable()]
    {
        let pair = Pair::<Small>::new(form).unwrap();
        assert_eq!(least_waits(ALONE, || pair.pass(), || ()), 0, "write and take, {form:?}");
    }
    let pair = Pair::<Large>::new(form).unwrap();
    assert_eq!(least_waits(ALONE, || pair.pass(), || ()), 0, "write and take, 32 000 bytes");
    for form in [form.udp(), form.udp().reliable()] {
        let pair = Pair::<Small>::new(form).unwrap();
        assert_eq!(least_waits(BESIDE_THE_RECEIVER, || pair.write(), || pair.arrived()), 0, "write, {form:?}");
    }
    // Proof that the counter works.
    assert!(least_waits(ALONE, || std::thread::sleep(Duration::from_micros(1)), || ()) > 0);
}
