//! A sample touches no page that was not touched before: with real-time threads a page fault is a wait that nobody has asked for.

use benches::pair::{Form, Large, Pair, Payload, Small, ToldBy};
use nix::sys::resource::{UsageWho, getrusage};

/// Samples of a round.
const ROUND: u32 = 1_000;

/// Rounds that are looked at. Other threads of the process and the system itself fault now and then; what belongs to a sample
/// shows in every round.
const ROUNDS: usize = 10;

/// Samples until everything has been where it will be.
const WARM_UP: u32 = 3_000;

/// Page faults of the whole process, with those that needed no disk.
fn faults() -> i64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    usage.minor_page_faults() + usage.major_page_faults()
}

/// The faults of the quietest round.
fn least_faults<T: Payload>(form: Form) -> i64 {
    let pair = Pair::<T>::new(form).unwrap();
    (0..WARM_UP).for_each(|_| pair.pass());
    let round = |_| {
        let before = faults();
        (0..ROUND).for_each(|_| pair.pass());
        faults() - before
    };
    (0..ROUNDS).map(round).min().unwrap()
}

/// One test, for the count is that of the process.
#[test]
fn a_warm_path_faults_no_page() {
    let _turn = crate::turn();
    let form = Form::DEFAULT;
    assert_eq!(least_faults::<Small>(form), 0, "in process");
    assert_eq!(least_faults::<Large>(form), 0, "in process, 32 000 bytes");
    assert_eq!(least_faults::<Small>(form.reliable()), 0, "reliable");
    assert_eq!(least_faults::<Small>(form.told_by(ToldBy::Reader)), 0, "with a wait");
    assert_eq!(least_faults::<Small>(form.udp()), 0, "by UDP");
    assert_eq!(least_faults::<Small>(form.udp().reliable()), 0, "by UDP, reliable");
    assert_eq!(least_faults::<Large>(form.udp()), 0, "by UDP, 32 000 bytes");
}
