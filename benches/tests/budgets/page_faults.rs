//! A warm sample touches only known pages: a page fault delays a real-time thread.

use benches::pair::{Form, Large, NotifiedBy, Pair, Payload, Small};
use nix::sys::resource::{UsageWho, getrusage};

/// Samples of a round.
const ROUND: u32 = 1_000;

/// Measured rounds. Other threads and the system cause occasional page faults. A fault of the sample occurs in each
/// round.
const ROUNDS: usize = 10;

/// Samples until all memory is in use.
const WARM_UP: u32 = 3_000;

/// Page faults of the process, including those without disk access.
fn faults() -> i64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    usage.minor_page_faults() + usage.major_page_faults()
}

/// The fewest page faults of a round.
fn least_faults<T: Payload>(form: Form) -> i64 {
    let pair = Pair::<T>::new(form).unwrap();
    for _ in 0..WARM_UP {
        pair.pass();
    }
    let round = |_| {
        let before = faults();
        for _ in 0..ROUND {
            pair.pass();
        }
        faults() - before
    };
    (0..ROUNDS).map(round).min().unwrap()
}

/// A single test, because the counter belongs to the process.
#[test]
fn warm_sample_causes_no_page_fault() {
    let _turn = crate::turn();
    let form = Form::DEFAULT;
    assert_eq!(least_faults::<Small>(form), 0, "in process");
    assert_eq!(least_faults::<Large>(form), 0, "in process, 32 000 bytes");
    assert_eq!(least_faults::<Small>(form.reliable()), 0, "reliable");
    assert_eq!(least_faults::<Small>(form.notified_by(NotifiedBy::Reader)), 0, "with a wait");
    assert_eq!(least_faults::<Small>(form.udp()), 0, "by UDP");
    assert_eq!(least_faults::<Small>(form.udp().reliable()), 0, "by UDP, reliable");
    assert_eq!(least_faults::<Large>(form.udp()), 0, "by UDP, 32 000 bytes");
}
