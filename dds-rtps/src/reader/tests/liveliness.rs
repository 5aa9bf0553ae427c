//! Which writers are alive: matched, silent, heard again, gone.

use super::*;
use crate::concurrent::AssertionClock;
use crate::qos::{Liveliness, LivelinessKind};
use std::sync::Arc;

use LivelinessKind::{Automatic, ManualByParticipant, ManualByTopic};

fn script() -> Script {
    Script::new(keep_all(config(KeySource::LeadingBytes)))
}

impl Script {
    fn meet_lively(
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

    /// Alive, not alive, and whether that is told of since the last look.
    fn lively(&mut self) -> (u32, u32, bool) {
        let mut told = false;
        while let Some(event) = self.reader.poll_event() {
            told |= event == ReaderEvent::LivelinessChanged;
        }
        let counts = self.reader.liveliness();
        (counts.alive, counts.not_alive, told)
    }
}

#[test]
fn a_matched_writer_is_alive_until_it_is_silent_and_again_when_it_is_heard() {
    let mut script = script();
    script.meet_lively(WRITER, ManualByTopic, 100, None);
    assert_eq!(script.lively(), (1, 0, true));
    assert_eq!(script.later(99).lively(), (1, 0, false));
    assert_eq!(script.later(1).lively(), (0, 1, true));
    assert_eq!(script.reader.liveliness().last, Some(WRITER));
    assert_eq!(script.reader.deadline(), None, "nothing more can happen to it");
    script.write(WRITER, 1, 7, 1);
    assert_eq!(script.lively(), (1, 0, true));
    assert_eq!(script.later(100).lively(), (0, 1, true));
    assert!(script.reader.unmatch_writer(script.now(), WRITER));
    assert_eq!(script.lively(), (0, 0, true));
}

#[test]
fn a_writer_that_goes_alive_leaves_no_trace_in_the_others_count() {
    let mut script = script();
    script.meet_lively(WRITER, ManualByTopic, 100, None);
    script.meet_lively(OTHER, ManualByTopic, 50, None);
    script.later(50);
    assert_eq!(script.lively(), (1, 1, true));
    script.reader.unmatch_writer(script.now(), WRITER);
    assert_eq!(script.lively(), (0, 1, true));
    assert_eq!(script.reader.is_writer_alive(OTHER), Some(false));
}

#[test]
fn samples_do_not_move_the_timer() {
    let mut script = script();
    script.meet_lively(WRITER, ManualByTopic, 100, None);
    let deadline = script.reader.deadline();
    for number in 1..=9 {
        script.millis += 10;
        script.write(WRITER, number, 7, 1);
        assert_eq!(script.reader.deadline(), deadline);
    }
    assert_eq!(script.later(10).lively(), (1, 0, true));
    assert_eq!(script.reader.deadline(), Some(at(190).instant));
}

#[test]
fn a_silent_writer_leaves_its_instances_without_writers_and_its_next_sample_brings_one_back() {
    let mut script = script();
    script.meet_lively(WRITER, ManualByTopic, 100, None);
    script.write(WRITER, 1, 7, 1);
    script.write(WRITER, 2, 8, 1);
    script.later(100);
    let state = |script: &Script, key| script.reader.history().lookup_instance(handle(key));
    assert_eq!(state(&script, 7), Some(InstanceState::NotAliveNoWriters));
    script.beat(WRITER, true);
    assert_eq!(script.lively(), (1, 0, true));
    assert_eq!(state(&script, 7), Some(InstanceState::NotAliveNoWriters), "it has not written it again");
    script.write(WRITER, 3, 7, 2);
    assert_eq!(state(&script, 7), Some(InstanceState::Alive));
    assert_eq!(state(&script, 8), Some(InstanceState::NotAliveNoWriters));
}

#[test]
fn an_instance_with_another_writer_that_is_alive_stays_alive() {
    let mut script = script();
    script.meet_lively(WRITER, ManualByTopic, 100, None);
    script.meet(OTHER, false);
    script.write(WRITER, 1, 7, 1);
    script.write(OTHER, 1, 7, 1);
    script.later(100);
    assert_eq!(script.lively(), (1, 1, true));
    assert_eq!(script.reader.history().lookup_instance(handle(7)), Some(InstanceState::Alive));
}

#[test]
fn by_topic_only_data_and_heartbeats_that_say_so_count() {
    let mut script = script();
    script.meet_lively(WRITER, ManualByTopic, 100, None);
    script.meet_lively(OTHER, ManualByTopic, 1_000, None);
    script.later(60);
    script.beat(WRITER, true);
    script.later(60);
    script.beat(WRITER, false);
    assert_eq!(script.later(39).lively(), (2, 0, true));
    assert_eq!(script.later(1).lively(), (1, 1, true), "a HEARTBEAT without the flag is no sign of life");
    // What another writer of this kind writes is none either, for whom it does not come from.
    assert_eq!(script.write(OTHER, 1, 7, 1), Handled::Accepted);
    assert_eq!(script.lively(), (1, 1, false));
    assert_eq!(script.write(WRITER, 1, 7, 1), Handled::Accepted);
    assert_eq!(script.lively(), (2, 0, true));
    script.later(60);
    script.write(WRITER, 2, 7, 1);
    script.later(60);
    script.write(OTHER, 2, 7, 1);
    assert_eq!(script.later(39).lively(), (2, 0, false));
    assert_eq!(script.later(1).lively(), (1, 1, true), "it has lived by its own samples only");
}

#[test]
fn an_automatic_writer_lives_by_anything_that_is_heard_of_its_participant() {
    let mut script = script();
    let assertion_clock = Arc::new(AssertionClock::new());
    script.meet_lively(WRITER, Automatic, 100, Some(&assertion_clock));
    script.later(60);
    script.beat(WRITER, false);
    script.later(60);
    assert!(!assertion_clock.assert_often(script.now().instant));
    assert_eq!(script.later(99).lively(), (1, 0, true));
    assert_eq!(script.later(1).lively(), (0, 1, true));
    assert!(assertion_clock.assert_often(script.now().instant), "somebody waits for it");
    script.reader.recheck_lost_writers(script.now());
    assert_eq!(script.lively(), (1, 0, true));
    assert!(!assertion_clock.has_waiting_leases());
}

#[test]
fn by_participant_one_writer_speaks_for_all() {
    let mut script = script();
    let assertion_clock = Arc::new(AssertionClock::new());
    script.meet_lively(WRITER, ManualByParticipant, 100, Some(&assertion_clock));
    script.meet_lively(OTHER, ManualByParticipant, 100, Some(&assertion_clock));
    script.later(60);
    script.write(OTHER, 1, 7, 1);
    assert_eq!(script.later(60).lively(), (2, 0, true));
    assert_eq!(script.later(40).lively(), (0, 2, true));
    script.write(OTHER, 2, 7, 1);
    assert!(assertion_clock.take_unreported());
    script.reader.recheck_lost_writers(script.now());
    assert_eq!(script.lively(), (2, 0, true));
}

#[test]
fn who_is_given_up_while_it_is_lost_is_not_waited_for() {
    let mut script = script();
    let assertion_clock = Arc::new(AssertionClock::new());
    script.meet_lively(WRITER, ManualByParticipant, 100, Some(&assertion_clock));
    script.meet_lively(OTHER, ManualByParticipant, 100, Some(&assertion_clock));
    script.later(100);
    assert!(assertion_clock.has_waiting_leases());
    script.reader.unmatch_writer(script.now(), WRITER);
    assert!(assertion_clock.has_waiting_leases());
    drop(script);
    assert!(!assertion_clock.has_waiting_leases());
}

#[test]
fn a_process_that_did_not_run_gives_every_writer_another_lease_once() {
    let mut script = script();
    script.meet_lively(WRITER, ManualByTopic, 1_000, None);
    script.meet_lively(OTHER, ManualByTopic, 1_000, None);
    assert_eq!(script.later(30_000).lively(), (2, 0, true));
    script.later(500);
    script.write(WRITER, 1, 7, 1);
    assert_eq!(script.later(500).lively(), (1, 1, true));
}

#[test]
fn a_lease_of_nothing_is_no_endless_work() {
    let mut script = script();
    script.meet_lively(WRITER, ManualByTopic, 0, None);
    assert_eq!(script.reader.deadline(), Some(at(1).instant));
    assert_eq!(script.later(1).lively(), (0, 1, true));
    assert_eq!(script.reader.deadline(), None);
}

#[test]
fn an_infinite_lease_costs_no_deadline() {
    let mut script = Script::best_effort();
    assert_eq!(script.reader.deadline(), None);
    assert_eq!(script.later(1_000_000_000).lively(), (1, 0, false));
}

#[test]
fn a_writer_of_this_process_says_itself_what_it_is() {
    let mut script = script();
    let now = script.now();
    script.reader.match_local_writer(now, WriterProxyConfig::new(WRITER), sn(1), None);
    script.reader.set_writer_alive(now, WRITER, true);
    assert_eq!(script.lively(), (1, 0, true));
    script.reader.set_writer_alive(now, WRITER, false);
    assert_eq!(script.lively(), (0, 1, true));
    script.reader.set_writer_alive(now, OTHER, false);
    assert_eq!(script.lively(), (0, 1, false));
    script.reader.set_writer_alive(now, WRITER, true);
    assert_eq!(script.lively(), (1, 0, true));
}
