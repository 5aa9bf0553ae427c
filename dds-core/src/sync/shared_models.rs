//! Models of state that the protocol crate shares between threads: assertion clocks, and requests of a local reader.
//!
//! They are in this crate because its models are built for loom anyway.

use crate::sync::Arc;
use dds_rtps::concurrent::{AssertionClock, LocalLink};
use dds_rtps::types::{Instant, SequenceNumber};
use loom::thread;

const SIGN: Instant = Instant::from_nanos(7);

/// A liveliness assertion arrives while a lease expires and its owner starts to wait for the next one.
fn a_sign_of_life_beside_an_end(waits_first: bool) {
    let assertion_clock = Arc::new(AssertionClock::new());
    let asserted = Arc::clone(&assertion_clock);
    let participant = thread::spawn(move || asserted.assert(SIGN));
    let seen = if waits_first {
        assertion_clock.add_waiting_lease();
        assertion_clock.last()
    } else {
        let seen = assertion_clock.last();
        assertion_clock.add_waiting_lease();
        seen
    };
    let is_called = participant.join().unwrap();
    assert!(is_called || seen == SIGN, "neither has seen the other");
    assert!(assertion_clock.take_unreported() && !assertion_clock.take_unreported(), "it is told once");
}

#[test]
fn a_sign_of_life_and_an_end_do_not_miss_each_other() {
    loom::model(|| a_sign_of_life_beside_an_end(true));
}

#[test]
#[should_panic(expected = "neither has seen the other")]
fn mutant_check_before_wait_is_never_called() {
    loom::model(|| a_sign_of_life_beside_an_end(false));
}

/// Two threads report assertions of a participant, one of them late.
#[test]
fn signs_of_life_do_not_go_back() {
    loom::model(|| {
        let assertion_clock = Arc::new(AssertionClock::new());
        let late = Arc::clone(&assertion_clock);
        let other = thread::spawn(move || late.assert(Instant::from_nanos(3)));
        assertion_clock.assert(SIGN);
        other.join().unwrap();
        assert_eq!(assertion_clock.last(), SIGN);
    });
}

/// A reader requests twice while the writer takes the requests. The writer must get the lowest number, and no request
/// stays.
#[test]
fn no_request_for_samples_is_lost() {
    loom::model(|| {
        let link = Arc::new(LocalLink::new());
        let reader = Arc::clone(&link);
        let asking = thread::spawn(move || [9, 4].map(|number| reader.request_from(SequenceNumber(number))));
        let early = link.take_request();
        asking.join().unwrap();
        let late = link.take_request();
        assert_eq!([early, late].into_iter().flatten().min(), Some(SequenceNumber(4)));
        assert_eq!(link.take_request(), None);
    });
}
