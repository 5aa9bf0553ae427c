//! Histories that are full.

use super::script::{Script, best_effort, reader_guid, reliable};
use dds_rtps::concurrent::Payload;
use dds_rtps::history::ChangeKind;
use dds_rtps::qos::{DataWriterQos, Durability, ResourceLimits};
use dds_rtps::types::{EntityId, Guid, GuidPrefix, InstanceHandle};
use dds_rtps::writer::{NewChange, READERS_MAX, ReaderProxyConfig, StatefulWriterEvent, WriteRefused};

fn limited(max_samples: u32) -> DataWriterQos {
    let limits = ResourceLimits::NONE.max_samples(max_samples);
    DataWriterQos::default().keep_all().resource_limits(limits)
}

fn try_write(script: &mut Script) -> Result<i64, WriteRefused> {
    script.write_change(ChangeKind::Alive, InstanceHandle::NIL, &[0, 1, 0, 0])
}

fn events(script: &mut Script) -> Vec<StatefulWriterEvent> {
    std::iter::from_fn(|| script.writer.poll_event()).collect()
}

#[test]
fn full_history_refuses_and_reports_free_space() {
    let mut script = Script::new(false, &limited(4));
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 1, &[]);
    for number in 1..=4 {
        assert_eq!(try_write(&mut script), Ok(number));
    }
    script.sent();
    assert_eq!(try_write(&mut script), Err(WriteRefused::Full));
    events(&mut script);
    script.acknack(2, 3, &[]);
    assert!(events(&mut script).contains(&StatefulWriterEvent::SpaceFreed));
    assert_eq!(try_write(&mut script), Ok(5));
    assert_eq!(try_write(&mut script), Ok(6));
    assert_eq!(try_write(&mut script), Err(WriteRefused::Full));
    assert_eq!(script.writer.counters().refused, 2);
    let lines = script.sent();
    assert!(lines[0].contains("HB2(3..6)"), "{lines:?}");
}

#[test]
fn small_history_requests_acks_before_full() {
    let mut script = Script::new(false, &limited(16));
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 1, &[]);
    let mut asked = Vec::new();
    for number in 1..=16 {
        try_write(&mut script).unwrap();
        if script.sent().iter().any(|line| line.contains("HB")) {
            asked.push(number);
        }
    }
    assert_eq!(asked, [1, 5, 9, 13]);
}

#[test]
fn waiting_write_advances_heartbeat_timer() {
    let mut script = Script::new(false, &limited(1));
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 1, &[]);
    try_write(&mut script).unwrap();
    assert_eq!(script.sent(), ["7002: TS D2(1) HB2(1..1)"]);
    try_write(&mut script).unwrap_err();
    script.wait(13);
    assert_eq!(script.sent(), ["7002: DST2 HB2(1..1)"]);
}

#[test]
fn best_effort_writer_never_blocks() {
    let mut script = Script::new(false, &limited(2).best_effort());
    script.match_reader(best_effort(2));
    for number in 1..=5 {
        assert_eq!(try_write(&mut script), Ok(number));
    }
    assert_eq!(script.sent(), ["7002: TS D2(4) D2(5)"]);
}

#[test]
fn large_sample_in_flight_keeps_history_bounded() {
    let mut script = Script::new(false, &limited(4).best_effort());
    script.match_reader(best_effort(2));
    for _ in 0..100 {
        script.write_large(1 << 20);
        script.sent();
        // The limit, and the sample that is being sent.
        assert!(script.writer.history_len() <= 5, "{} samples", script.writer.history_len());
    }
}

#[test]
fn durable_history_evicts_oldest_acknowledged() {
    let mut script = Script::new(false, &limited(2).durability(Durability::TransientLocal));
    script.match_reader(reliable(2));
    script.sent();
    try_write(&mut script).unwrap();
    try_write(&mut script).unwrap();
    script.sent();
    assert_eq!(try_write(&mut script), Err(WriteRefused::Full));
    script.acknack(2, 2, &[]);
    assert!(events(&mut script).contains(&StatefulWriterEvent::SpaceFreed));
    assert_eq!(try_write(&mut script), Ok(3));
    assert_eq!(try_write(&mut script), Err(WriteRefused::Full));
}

#[test]
fn keep_last_at_limit_fails() {
    let limits = ResourceLimits::NONE.max_instances(1);
    let mut script = Script::new(true, &DataWriterQos::default().keep_last(1).resource_limits(limits));
    script.write_key(1).unwrap();
    script.write_key(1).unwrap();
    assert_eq!(script.write_key(2), Err(WriteRefused::InstancesMax));
    let limits = ResourceLimits::NONE.max_samples(1);
    let qos = DataWriterQos::default().keep_last(1).resource_limits(limits).durability(Durability::TransientLocal);
    let mut script = Script::new(true, &qos);
    script.write_key(1).unwrap();
    assert_eq!(script.write_key(2), Err(WriteRefused::SamplesMax));
    assert!(events(&mut script).is_empty());
}

#[test]
fn refused_write_uses_no_sequence_number() {
    let mut script = Script::new(false, &limited(1));
    script.match_reader(reliable(2));
    script.sent();
    try_write(&mut script).unwrap();
    try_write(&mut script).unwrap_err();
    assert_eq!(script.writer.last_sequence_number().0, 1);
    script.writer.unmatch_reader(script.now(), super::script::reader_guid(2));
    assert!(events(&mut script).contains(&StatefulWriterEvent::SpaceFreed));
    assert_eq!(try_write(&mut script), Ok(2));
}

#[test]
fn volatile_writer_alone_keeps_only_newest() {
    let mut script = Script::new(true, &DataWriterQos::default().keep_all());
    script.match_reader(best_effort(2));
    for key in 0..100 {
        script.write_key(key).unwrap();
        script.sent();
        assert_eq!(script.writer.history_len(), 1);
    }
}

#[test]
fn newest_payload_is_released_by_next_write() {
    let mut script = Script::new(false, &DataWriterQos::default());
    let payload = Payload::copy_of(&[0, 1, 0, 0]);
    let written = script.writer.write(script.now(), NewChange::alive(InstanceHandle::NIL, payload)).unwrap();
    assert!(script.writer.change(written).is_some());
    script.write();
    assert!(script.writer.change(written).is_none());
}

#[test]
fn overwritten_missed_samples_are_counted() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_last(1));
    script.match_reader(reliable(2));
    script.write_times(3);
    assert_eq!(script.writer.counters().overwritten_unacknowledged, 2);
}

#[test]
fn readers_are_bounded() {
    let mut script = Script::new(false, &DataWriterQos::default());
    let now = script.now();
    let reader = |number: usize| {
        let mut prefix = [9; 12];
        prefix[..8].copy_from_slice(&number.to_le_bytes());
        ReaderProxyConfig::new(Guid::new(GuidPrefix(prefix), EntityId([0, 0, 1, 4])), Vec::new())
    };
    let mut matched = (0..READERS_MAX + 10).map(|number| script.writer.match_reader(now, reader(number)));
    assert!(matched.by_ref().take(READERS_MAX).all(|matched| matched));
    assert!(matched.all(|matched| !matched));
    assert_eq!((script.writer.remote_readers(), script.writer.counters().readers_refused), (READERS_MAX, 10));
    // A matched reader may change, and a departing one frees its space.
    assert!(script.writer.match_reader(now, reader(7)));
    assert!(script.writer.unmatch_reader(now, reader(7).guid));
    assert!(script.writer.match_reader(now, best_effort(3)) && script.writer.unmatch_reader(now, reader_guid(3)));
}
