//! Changes that arrive, and that the HEARTBEATs of their writer deny.

use super::ledger::assert_adds_up;
use super::*;

/// A reader as in discovery, where a change may arrive twice.
fn discovery() -> Script {
    let config = ReaderConfig { is_idempotent: true, ..transient_local(keep_all(config(KeySource::None))) };
    let mut script = Script::new(config);
    script.match_remote(WRITER, true);
    script.heartbeat(1, 0);
    script.sent();
    script
}

/// A sample with another content than [`Script::sample`] writes.
fn forge(script: &mut Script, number: i64) -> Handled {
    let bytes = body(0xff);
    script.reader.handle_data(script.now(), &source(WRITER), &data(number, SerializedPayload::Data(&bytes)), &())
}

fn assert_row_adds_up(script: &Script) {
    assert_adds_up(&script.reader.losses().writers[0], "denied");
}

#[test]
fn forged_announcement_does_not_hide_the_next_one() {
    let mut script = discovery();
    script.samples([1]);
    script.heartbeat(1, 1);
    for number in [2, 3] {
        assert_eq!(forge(&mut script, number), Handled::Accepted);
    }
    assert_eq!(script.sample(2), Handled::Accepted);
    assert_eq!(script.sample(2), Handled::Duplicate);
    assert_eq!(script.taken(), [1, 2, 3, 2]);
    assert_row_adds_up(&script);
    // Once a HEARTBEAT has announced them, nothing arrives twice.
    script.heartbeat(1, 3);
    assert_eq!(script.sample(3), Handled::Duplicate);
    assert_row_adds_up(&script);
}

#[test]
fn repeated_announcement_is_delivered_once() {
    let mut script = discovery();
    script.samples([1, 2, 1, 2]);
    assert_eq!(script.taken(), [1, 2]);
    assert_row_adds_up(&script);
}

#[test]
fn denied_announcement_is_expected_again() {
    let mut script = discovery();
    script.samples([1]);
    script.heartbeat(1, 1);
    script.sent();
    assert_eq!(forge(&mut script, 2), Handled::Accepted);
    assert!(script.later(900).sent().is_empty());
    assert_eq!(script.later(100).requested(), (1, vec![]), "the reader asks for a HEARTBEAT");
    script.heartbeat(1, 1);
    script.sent();
    assert_eq!(script.later(50).requested(), (1, vec![]), "and once more");
    script.heartbeat(1, 1);
    assert_eq!(script.requested(), (2, vec![]));
    // The announcement that is lost is requested.
    script.heartbeat(1, 2);
    assert_eq!(script.requested(), (2, vec![2]));
    script.samples([2]);
    assert_eq!(script.taken(), [1, 2, 2]);
    assert_row_adds_up(&script);
}

#[test]
fn announcements_after_the_denial_are_not_requested_again() {
    let mut script = discovery();
    forge(&mut script, 1);
    forge(&mut script, 2);
    script.heartbeat(1, 0);
    script.sent();
    // The writer writes on. Number 3 is its own, and its first two changes are lost.
    script.samples([3]);
    script.later(50).sent();
    script.heartbeat(1, 2);
    assert_eq!(script.requested(), (1, vec![1, 2]));
    script.heartbeat(1, 3);
    script.samples([1, 2, 4]);
    script.heartbeat(1, 4);
    assert_eq!(script.requested(), (5, vec![]));
    assert_eq!(script.taken(), [1, 2, 3, 1, 2, 4]);
    assert_row_adds_up(&script);
}

#[test]
fn forged_heartbeat_is_resolved_by_requests() {
    let mut script = discovery();
    script.samples([1]);
    script.final_heartbeat(1, 1);
    assert!(script.sent().is_empty());
    // A forged HEARTBEAT.
    script.final_heartbeat(100, 99);
    assert_eq!(script.sample(2), Handled::Duplicate);
    script.sent();
    // The writer has nothing to write, so it sends HEARTBEATs only on request.
    script.final_heartbeat(1, 2);
    assert_eq!(script.requested(), (1, vec![]), "the reader asks for a HEARTBEAT");
    script.final_heartbeat(1, 2);
    assert!(script.later(400).sent().is_empty());
    assert_eq!(script.later(100).requested(), (1, vec![]), "and again after half a second");
    script.final_heartbeat(1, 2);
    assert_eq!(script.requested(), (2, vec![2]));
    script.samples([2]);
    assert_eq!(script.taken(), [1, 2]);
    assert_row_adds_up(&script);
}

/// Two paths may deliver a HEARTBEAT later than the change that follows it.
#[test]
fn overtaken_heartbeat_denies_nothing() {
    let mut script = discovery();
    script.samples([1, 2]);
    script.heartbeat(1, 1);
    script.heartbeat(1, 2);
    script.later(60).heartbeat(1, 1);
    script.later(60).heartbeat(1, 1);
    assert_eq!(script.sample(2), Handled::Duplicate);
    assert_eq!(script.taken(), [1, 2]);
}

#[test]
fn denied_change_ahead_of_a_hole_makes_room_for_the_real_one() {
    let mut script = Script::reliable();
    script.samples([1]);
    for number in 50..60 {
        assert_eq!(forge(&mut script, number), Handled::Accepted);
    }
    for number in 2..=49 {
        script.later(10).sample(number);
        script.heartbeat(1, number);
        script.sent();
    }
    script.samples(50..=60);
    let samples = script.take();
    assert_eq!(
        samples.iter().map(|sample| sample.info.sequence_number.0).collect::<Vec<_>>(),
        (1..=60).collect::<Vec<_>>()
    );
    for sample in samples {
        let payload = sample.payload.unwrap();
        assert_eq!(payload.bytes()[4], sample.info.sequence_number.0 as u8, "a forged one");
    }
    assert!(script.reader.counters().retracted > 0);
    assert_row_adds_up(&script);
}

/// Cyclone DDS announces the transmitted changes in a HEARTBEAT, without those in the same datagram.
#[test]
fn lagging_heartbeats_drop_no_change_above_a_hole() {
    for (pause, lag) in [(10, 1), (10, 3), (60, 1), (150, 1), (250, 1)] {
        let mut script = Script::reliable();
        script.samples([1, 2]);
        for number in 4..=60 {
            script.later(pause).sample(number);
            script.final_heartbeat(1, number - lag);
            script.sent();
        }
        assert_eq!(script.reader.counters().retracted, 0, "lag {lag}, a sample each {pause} ms");
        script.final_heartbeat(1, 60);
        assert_eq!(script.later(1000).sent().last().unwrap().requested(), (3, vec![3]));
        script.samples([3]);
        assert_eq!(script.taken(), (1..=60).collect::<Vec<_>>());
        assert_row_adds_up(&script);
    }
}

#[test]
fn denied_changes_are_dropped_without_the_newest_change_of_a_lagging_writer() {
    let mut script = Script::reliable();
    script.samples([1]);
    for number in 50..60 {
        assert_eq!(forge(&mut script, number), Handled::Accepted);
    }
    for number in 3..=30 {
        script.later(10).sample(number);
        script.final_heartbeat(1, number - 1);
        script.sent();
    }
    assert_eq!(script.reader.counters().retracted, 1);
    script.samples([2]);
    assert_eq!(script.taken(), (1..=30).collect::<Vec<_>>());
    assert_eq!(script.sample(50), Handled::Accepted, "the forged change is gone");
    assert_row_adds_up(&script);
}

#[test]
fn unconfirmed_contents_are_bounded() {
    let mut script = discovery();
    for number in 1..=100 {
        forge(&mut script, number);
    }
    let handled = [1, 64, 65].map(|number| script.sample(number));
    assert_eq!(handled, [Handled::Accepted, Handled::Accepted, Handled::Duplicate]);
    // The HEARTBEATs deny all of them.
    script.heartbeat(1, 0);
    script.later(50).heartbeat(1, 0);
    assert_eq!(script.sample(1), Handled::Accepted);
}
