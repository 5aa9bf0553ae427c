//! Readers that are too slow for a writer that does not wait for them.

use super::script::{Script, instance, reader_guid, reliable};
use dds_rtps::concurrent::LocalLink;
use dds_rtps::history::ChangeKind;
use dds_rtps::qos::{DataWriterQos, Durability, ResourceLimits};
use dds_rtps::types::{Duration, InstanceHandle, SequenceNumber};
use dds_rtps::writer::{ReaderLag, SlowReader, StatefulWriterEvent, WriteRefused};
use std::sync::Arc;

fn limited(max_samples: u32) -> DataWriterQos {
    let limits = ResourceLimits::NONE.max_samples(max_samples);
    DataWriterQos::default().keep_all().resource_limits(limits)
}

/// Creates a writer with space for four samples and the reliable readers 2 and 3.
///
/// It demotes a slow reader after `after_ms`.
fn impatient(after_ms: u64) -> Script {
    let mut script = Script::with(false, &limited(4), |config| {
        config.slow_reader = SlowReader::Demote { after: Duration::from_millis(after_ms) };
    });
    for reader in [2, 3] {
        script.match_reader(reliable(reader));
        script.sent();
        script.acknack(reader, 1, &[]);
    }
    script
}

fn try_write(script: &mut Script) -> Result<i64, WriteRefused> {
    script.write_change(ChangeKind::Alive, InstanceHandle::NIL, &[0, 1, 0, 0])
}

fn kept(script: &Script) -> Vec<i64> {
    script.writer.changes_from(SequenceNumber(1)).map(|change| change.sequence_number.0).collect()
}

/// Returns events of demotion, restoration and freed space.
fn events(script: &mut Script) -> Vec<StatefulWriterEvent> {
    let events = std::iter::from_fn(|| script.writer.poll_event());
    events.filter(|event| !matches!(event, StatefulWriterEvent::Acknowledged(_))).collect()
}

fn demoted(reader: u8, behind: u64) -> StatefulWriterEvent {
    StatefulWriterEvent::ReaderDemoted { reader: reader_guid(reader), behind }
}

fn restored(reader: u8) -> StatefulWriterEvent {
    StatefulWriterEvent::ReaderRestored { reader: reader_guid(reader) }
}

/// Fills the history, of which reader 2 acknowledges everything and reader 3 nothing.
fn fill_for_one(script: &mut Script) {
    script.write_times(4);
    script.sent();
    script.acknack(2, 5, &[]);
    assert_eq!(try_write(script), Err(WriteRefused::Full));
    script.sent();
    events(script);
}

#[test]
fn slow_reader_is_demoted_after_its_time() {
    let mut script = impatient(1000);
    fill_for_one(&mut script);
    assert_eq!(script.writer.slowest_reader(), Some(ReaderLag::new(reader_guid(3), 4)));
    script.wait(999);
    assert_eq!(try_write(&mut script), Err(WriteRefused::Full));
    assert_eq!(events(&mut script), []);
    script.wait(1);
    assert_eq!(events(&mut script), [StatefulWriterEvent::SpaceFreed, demoted(3, 4)]);
    assert_eq!(script.writer.acknowledged(), SequenceNumber(4), "the writer does not wait for a demoted reader");
    assert_eq!(script.writer.demoted_readers().collect::<Vec<_>>(), [ReaderLag::new(reader_guid(3), 4)]);
    for number in 5..=12 {
        assert_eq!(try_write(&mut script), Ok(number));
        script.sent();
        script.acknack(2, number + 1, &[]);
    }
    assert_eq!(kept(&script), [9, 10, 11, 12], "as much as there is room for");
    let counters = script.writer.counters();
    assert_eq!((counters.readers_demoted, counters.given_up, counters.overwritten_unacknowledged), (1, 8, 0));
    // The writer waits for the other reader as before.
    script.write_times(4);
    assert_eq!(try_write(&mut script), Err(WriteRefused::Full));
    assert_eq!(script.writer.slowest_reader(), Some(ReaderLag::new(reader_guid(2), 4)));
}

#[test]
fn by_default_slow_reader_is_awaited() {
    let mut script = Script::new(false, &limited(1));
    script.match_reader(reliable(2));
    script.write();
    script.sent();
    try_write(&mut script).unwrap_err();
    script.wait(3_600_000);
    assert_eq!(try_write(&mut script), Err(WriteRefused::Full));
    assert_eq!(script.writer.counters().readers_demoted, 0);
}

#[test]
fn reader_catching_up_in_time_is_not_demoted() {
    let mut script = impatient(1000);
    let mut written = 0;
    for _ in 0..10 {
        while try_write(&mut script).is_ok() {
            written += 1;
        }
        script.sent();
        script.acknack(2, written + 1, &[]);
        script.wait(900);
        script.acknack(3, written + 1, &[]);
    }
    assert_eq!((written, script.writer.counters().readers_demoted), (40, 0));
}

#[test]
fn trickling_reader_is_demoted() {
    let mut script = impatient(1000);
    fill_for_one(&mut script);
    // One sample every 300 ms: the four samples from the moment when it first blocked the writer take longer than a
    // second.
    for base in 2..=4 {
        script.wait(300);
        script.acknack(3, base, &[]);
        assert_eq!(try_write(&mut script), Ok(base + 3));
        script.sent();
        script.acknack(2, base + 4, &[]);
    }
    script.wait(100);
    assert!(events(&mut script).contains(&demoted(3, 4)));
}

#[test]
fn reader_clearing_old_backlog_is_not_demoted() {
    let mut script = impatient(1000);
    fill_for_one(&mut script);
    script.wait(500);
    script.acknack(3, 5, &[]);
    events(&mut script);
    script.wait(600);
    assert_eq!(events(&mut script), []);
    assert_eq!(script.writer.demoted_readers().count(), 0);
}

#[test]
fn demoted_reader_is_restored_when_up_to_date() {
    let mut script = impatient(1000);
    fill_for_one(&mut script);
    script.wait(1000);
    assert_eq!(events(&mut script), [StatefulWriterEvent::SpaceFreed, demoted(3, 4)]);
    script.acknack(3, 4, &[]);
    assert_eq!(events(&mut script), []);
    script.acknack(3, 5, &[]);
    assert_eq!(events(&mut script), [restored(3)]);
}

#[test]
fn zero_time_demotes_at_once() {
    let mut script = impatient(0);
    script.write_times(4);
    script.sent();
    script.acknack(2, 5, &[]);
    assert_eq!(try_write(&mut script), Ok(5));
    assert_eq!(events(&mut script), [demoted(3, 4)]);
}

#[test]
fn returning_demoted_reader_gets_kept_samples() {
    let mut script = impatient(1000);
    fill_for_one(&mut script);
    script.wait(1000);
    for number in 5..=8 {
        assert_eq!(try_write(&mut script), Ok(number));
        script.sent();
        script.acknack(2, number + 1, &[]);
    }
    script.sent();
    events(&mut script);
    // The writer continues to ask it, although the other reader has everything.
    script.wait(1000);
    assert_eq!(script.sent(), ["7003: DST3 HB3(5..8)"]);
    script.acknack(3, 5, &[5, 6, 7, 8]);
    assert_eq!(script.sent(), ["7003: DST3 TS D3(5) D3(6) D3(7) D3(8) HB3(5..8)"]);
    // The writer has evicted another sample, so the reader's progress past it proves nothing.
    assert_eq!(try_write(&mut script), Ok(9));
    script.sent();
    script.acknack(2, 10, &[]);
    script.acknack(3, 9, &[]);
    assert_eq!(events(&mut script), []);
    assert_eq!(try_write(&mut script), Ok(10));
    script.sent();
    script.acknack(2, 11, &[]);
    script.acknack(3, 11, &[]);
    assert_eq!(events(&mut script), [restored(3)]);
    assert_eq!(script.writer.demoted_readers().count(), 0);
    script.write_times(4);
    script.acknack(2, 15, &[]);
    assert_eq!(try_write(&mut script), Err(WriteRefused::Full));
}

#[test]
fn departed_demoted_reader_leaves_nothing() {
    let mut script = impatient(1000);
    fill_for_one(&mut script);
    script.wait(1000);
    script.writer.unmatch_reader(script.now(), reader_guid(3));
    assert_eq!(script.writer.demoted_readers().count(), 0);
    assert_eq!(kept(&script), [4], "the newest always stays");
    script.write_times(1);
    script.sent();
    script.acknack(2, 6, &[]);
    assert_eq!(script.writer.deadline(), None);
}

#[test]
fn slow_local_reader_is_demoted() {
    let mut script = Script::with(false, &limited(4), |config| {
        config.slow_reader = SlowReader::Demote { after: Duration::from_millis(1000) };
    });
    let link = Arc::new(LocalLink::new());
    script.writer.match_local(script.now(), Arc::clone(&link), reader_guid(2), true, false);
    script.write_times(4);
    assert!(script.writer.is_at_rest());
    assert_eq!(try_write(&mut script), Err(WriteRefused::Full));
    assert!(!script.writer.is_at_rest(), "there is a deadline now");
    script.wait(1000);
    assert_eq!(events(&mut script), [StatefulWriterEvent::SpaceFreed, demoted(2, 4)]);
    assert_eq!(try_write(&mut script), Ok(5));
    assert_eq!(kept(&script), [2, 3, 4, 5]);
    link.acknowledge(SequenceNumber(5));
    script.writer.handle_local_progress(script.now());
    assert_eq!(try_write(&mut script), Ok(6));
    link.acknowledge(SequenceNumber(6));
    script.writer.handle_local_progress(script.now());
    assert_eq!(events(&mut script), [restored(2)]);
}

#[test]
fn demoted_reader_uses_no_instance_limits() {
    let limits = ResourceLimits::NONE.max_instances(2).max_samples_per_instance(2);
    for durability in [Durability::Volatile, Durability::TransientLocal] {
        let qos = DataWriterQos::default().keep_all().resource_limits(limits).durability(durability);
        let mut script = Script::with(true, &qos, |config| {
            config.slow_reader = SlowReader::Demote { after: Duration::ZERO };
        });
        script.match_reader(reliable(2));
        script.sent();
        for _ in 0..5 {
            script.write_key(1).unwrap();
        }
        assert_eq!(kept(&script), [4, 5], "{durability:?}");
        for key in 2..20 {
            script.write_key(key).unwrap();
            script.sent();
            script.write_change(ChangeKind::NotAliveDisposedUnregistered, instance(key), &[0, 1, 0, key]).unwrap();
            script.sent();
        }
        assert!(script.writer.counters().given_up >= 3);
    }
}

#[test]
fn keep_last_writer_never_demotes_readers() {
    let limits = ResourceLimits::NONE.max_instances(1);
    let mut script = Script::with(true, &DataWriterQos::default().keep_last(1).resource_limits(limits), |config| {
        config.slow_reader = SlowReader::Demote { after: Duration::ZERO };
    });
    script.match_reader(reliable(2));
    script.sent();
    for _ in 0..5 {
        script.write_key(1).unwrap();
    }
    assert_eq!(script.write_key(2), Err(WriteRefused::InstancesMax));
    assert_eq!(script.writer.counters().readers_demoted, 0);
}
