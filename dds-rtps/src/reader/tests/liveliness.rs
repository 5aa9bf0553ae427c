//! Liveliness of writers: matched, silent, heard again, unmatched.

use super::*;
use crate::concurrent::AssertionClock;
use crate::qos::{Liveliness, LivelinessKind};
use std::sync::Arc;

use LivelinessKind::{Automatic, ManualByParticipant, ManualByTopic};

fn script() -> Script {
    Script::new(keep_all(config(KeySource::LeadingBytes)))
}

impl Script {
    fn match_with_lease(
        &mut self,
        guid: Guid,
        kind: LivelinessKind,
        lease_ms: u64,
        assertion_clock: Option<&Arc<AssertionClock>>,
    ) {
        let writer = WriterProxyConfig {
            reliable: false,
            liveliness: Liveliness { kind, lease_duration: Duration::from_millis(lease_ms) },
            assertion_clock: assertion_clock.cloned(),
            ..WriterProxyConfig::new(guid)
        };
        assert!(self.reader.match_writer(self.now(), writer));
    }

    fn beat(&mut self, writer: Guid, liveliness: bool) -> Handled {
        self.heartbeats += 1;
        let heartbeat = Heartbeat { liveliness, is_final: true, ..heartbeat(1, 0, self.heartbeats) };
        self.reader.handle_heartbeat(self.now(), &source(writer), &heartbeat)
    }

    /// Alive and not alive writers, and whether an event reported a change since the last call.
    fn liveliness_changes(&mut self) -> (u32, u32, bool) {
        let mut answered = false;
        while let Some(event) = self.reader.poll_event() {
            answered |= event == StatefulReaderEvent::LivelinessChanged;
        }
        let counts = self.reader.liveliness();
        (counts.alive, counts.not_alive, answered)
    }
}

#[test]
fn writer_is_alive_until_its_lease_ends() {
    let mut script = script();
    script.match_with_lease(WRITER, ManualByTopic, 100, None);
    assert_eq!(script.liveliness_changes(), (1, 0, true));
    assert_eq!(script.later(99).liveliness_changes(), (1, 0, false));
    assert_eq!(script.later(1).liveliness_changes(), (0, 1, true));
    assert_eq!(script.reader.liveliness().last, Some(WRITER));
    assert_eq!(script.reader.deadline(), None, "an ended lease has no deadline");
    script.write(WRITER, 1, 7, 1);
    assert_eq!(script.liveliness_changes(), (1, 0, true));
    assert_eq!(script.later(100).liveliness_changes(), (0, 1, true));
    assert!(script.reader.unmatch_writer(script.now(), WRITER));
    assert_eq!(script.liveliness_changes(), (0, 0, true));
}

#[test]
fn unmatched_live_writer_leaves_other_counts_unchanged() {
    let mut script = script();
    script.match_with_lease(WRITER, ManualByTopic, 100, None);
    script.match_with_lease(OTHER, ManualByTopic, 50, None);
    script.later(50);
    assert_eq!(script.liveliness_changes(), (1, 1, true));
    script.reader.unmatch_writer(script.now(), WRITER);
    assert_eq!(script.liveliness_changes(), (0, 1, true));
    assert_eq!(script.reader.is_writer_alive(OTHER), Some(false));
}

#[test]
fn samples_do_not_change_the_deadline() {
    let mut script = script();
    script.match_with_lease(WRITER, ManualByTopic, 100, None);
    let deadline = script.reader.deadline();
    for number in 1..=9 {
        script.millis += 10;
        script.write(WRITER, number, 7, 1);
        assert_eq!(script.reader.deadline(), deadline);
    }
    assert_eq!(script.later(10).liveliness_changes(), (1, 0, true));
    assert_eq!(script.reader.deadline(), Some(at(190).instant));
}

#[test]
fn silent_writer_leaves_no_writers_until_its_next_sample() {
    let mut script = script();
    script.match_with_lease(WRITER, ManualByTopic, 100, None);
    script.write(WRITER, 1, 7, 1);
    script.write(WRITER, 2, 8, 1);
    script.later(100);
    let state = |script: &Script, key| script.reader.history().lookup_instance(handle(key));
    assert_eq!(state(&script, 7), Some(InstanceState::NotAliveNoWriters));
    script.beat(WRITER, true);
    assert_eq!(script.liveliness_changes(), (1, 0, true));
    assert_eq!(state(&script, 7), Some(InstanceState::NotAliveNoWriters), "the writer has not written it again");
    script.write(WRITER, 3, 7, 2);
    assert_eq!(state(&script, 7), Some(InstanceState::Alive));
    assert_eq!(state(&script, 8), Some(InstanceState::NotAliveNoWriters));
}

#[test]
fn instance_with_another_live_writer_stays_alive() {
    let mut script = script();
    script.match_with_lease(WRITER, ManualByTopic, 100, None);
    script.match_remote(OTHER, false);
    script.write(WRITER, 1, 7, 1);
    script.write(OTHER, 1, 7, 1);
    script.later(100);
    assert_eq!(script.liveliness_changes(), (1, 1, true));
    assert_eq!(script.reader.history().lookup_instance(handle(7)), Some(InstanceState::Alive));
}

#[test]
fn manual_by_topic_counts_data_and_flagged_heartbeats() {
    let mut script = script();
    script.match_with_lease(WRITER, ManualByTopic, 100, None);
    script.match_with_lease(OTHER, ManualByTopic, 1_000, None);
    script.later(60);
    script.beat(WRITER, true);
    script.later(60);
    script.beat(WRITER, false);
    assert_eq!(script.later(39).liveliness_changes(), (2, 0, true));
    assert_eq!(script.later(1).liveliness_changes(), (1, 1, true), "a HEARTBEAT without the flag asserts nothing");
    // Data of another writer of this kind does not assert the liveliness of this one.
    assert_eq!(script.write(OTHER, 1, 7, 1), Handled::Accepted);
    assert_eq!(script.liveliness_changes(), (1, 1, false));
    assert_eq!(script.write(WRITER, 1, 7, 1), Handled::Accepted);
    assert_eq!(script.liveliness_changes(), (2, 0, true));
    script.later(60);
    script.write(WRITER, 2, 7, 1);
    script.later(60);
    script.write(OTHER, 2, 7, 1);
    assert_eq!(script.later(39).liveliness_changes(), (2, 0, false));
    assert_eq!(script.later(1).liveliness_changes(), (1, 1, true), "only its own samples renewed its lease");
}

#[test]
fn any_message_of_participant_renews_automatic_lease() {
    let mut script = script();
    let assertion_clock = Arc::new(AssertionClock::new());
    script.match_with_lease(WRITER, Automatic, 100, Some(&assertion_clock));
    script.later(60);
    script.beat(WRITER, false);
    script.later(60);
    assert!(!assertion_clock.assert_often(script.now().instant));
    assert_eq!(script.later(99).liveliness_changes(), (1, 0, true));
    assert_eq!(script.later(1).liveliness_changes(), (0, 1, true));
    assert!(assertion_clock.assert_often(script.now().instant), "a lease waits for it");
    script.reader.recheck_lost_writers(script.now());
    assert_eq!(script.liveliness_changes(), (1, 0, true));
    assert!(!assertion_clock.has_waiting_leases());
}

#[test]
fn manual_by_participant_writer_renews_all_leases() {
    let mut script = script();
    let assertion_clock = Arc::new(AssertionClock::new());
    script.match_with_lease(WRITER, ManualByParticipant, 100, Some(&assertion_clock));
    script.match_with_lease(OTHER, ManualByParticipant, 100, Some(&assertion_clock));
    script.later(60);
    script.write(OTHER, 1, 7, 1);
    assert_eq!(script.later(60).liveliness_changes(), (2, 0, true));
    assert_eq!(script.later(40).liveliness_changes(), (0, 2, true));
    script.write(OTHER, 2, 7, 1);
    assert!(assertion_clock.take_unreported());
    script.reader.recheck_lost_writers(script.now());
    assert_eq!(script.liveliness_changes(), (2, 0, true));
}

#[test]
fn unmatched_dead_writer_is_not_awaited() {
    let mut script = script();
    let assertion_clock = Arc::new(AssertionClock::new());
    script.match_with_lease(WRITER, ManualByParticipant, 100, Some(&assertion_clock));
    script.match_with_lease(OTHER, ManualByParticipant, 100, Some(&assertion_clock));
    script.later(100);
    assert!(assertion_clock.has_waiting_leases());
    script.reader.unmatch_writer(script.now(), WRITER);
    assert!(assertion_clock.has_waiting_leases());
    drop(script);
    assert!(!assertion_clock.has_waiting_leases());
}

#[test]
fn late_lease_check_extends_leases_once() {
    let mut script = script();
    script.match_with_lease(WRITER, ManualByTopic, 1_000, None);
    script.match_with_lease(OTHER, ManualByTopic, 1_000, None);
    assert_eq!(script.later(30_000).liveliness_changes(), (2, 0, true));
    script.later(500);
    script.write(WRITER, 1, 7, 1);
    assert_eq!(script.later(500).liveliness_changes(), (1, 1, true));
}

#[test]
fn zero_lease_is_bounded_work() {
    let mut script = script();
    script.match_with_lease(WRITER, ManualByTopic, 0, None);
    assert_eq!(script.reader.deadline(), Some(at(1).instant));
    assert_eq!(script.later(1).liveliness_changes(), (0, 1, true));
    assert_eq!(script.reader.deadline(), None);
}

#[test]
fn an_infinite_lease_costs_no_deadline() {
    let mut script = Script::best_effort();
    assert_eq!(script.reader.deadline(), None);
    assert_eq!(script.later(1_000_000_000).liveliness_changes(), (1, 0, false));
}

#[test]
fn local_writer_reports_its_own_liveliness() {
    let mut script = script();
    let now = script.now();
    script.reader.match_local_writer(now, WriterProxyConfig::new(WRITER), sn(1), None);
    script.reader.set_writer_alive(now, WRITER, true);
    assert_eq!(script.liveliness_changes(), (1, 0, true));
    script.reader.set_writer_alive(now, WRITER, false);
    assert_eq!(script.liveliness_changes(), (0, 1, true));
    script.reader.set_writer_alive(now, OTHER, false);
    assert_eq!(script.liveliness_changes(), (0, 1, false));
    script.reader.set_writer_alive(now, WRITER, true);
    assert_eq!(script.liveliness_changes(), (1, 0, true));
}
