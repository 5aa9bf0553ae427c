//! The ledger of losses: each cause, and that it adds up for any input.

use super::fragments::{large, piece};
use super::*;
use std::collections::BTreeSet;

fn row(script: &Script) -> WriterLosses {
    script.reader.losses().writers[0]
}

pub(super) fn assert_adds_up(row: &WriterLosses, context: &str) {
    assert_eq!(row.known, row.received + row.not_received.total() + row.awaited, "{context}: {row:?}");
    assert_eq!(row.received, row.delivered() + row.waiting + row.undelivered.total(), "{context}: {row:?}");
}

#[test]
fn each_missing_number_has_its_cause() {
    let mut script = Script::reliable();
    script.samples([1, 2, 5, 9]);
    script.gap(3, 4, &[6]);
    script.heartbeat(1, 12);
    let now = row(&script);
    assert_eq!((now.first, now.last, now.known), (sn(1), sn(12), 12));
    assert_eq!((now.received, now.waiting, now.awaited), (4, 2, 6));
    assert_eq!(now.not_received.irrelevant, 2);
    script.heartbeat(9, 12);
    let now = row(&script);
    // 4, 7 and 8. The reader has delivered 5.
    assert_eq!((now.not_received.never_came, now.not_received.irrelevant, now.awaited), (3, 2, 3));
    assert_eq!((now.received, now.waiting, now.delivered()), (4, 0, 4));
    assert_adds_up(&now, "");
    assert_eq!(script.lost(), 3);
}

#[test]
fn numbers_before_start_do_not_count() {
    let mut script = Script::best_effort();
    script.samples([7, 9]);
    let now = row(&script);
    assert_eq!((now.first, now.known, now.received, now.lost()), (sn(7), 3, 2, 1));
    let mut script = Script::new(transient_local(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    script.heartbeat(5, 7);
    let now = row(&script);
    assert_eq!((now.first, now.known, now.awaited), (sn(5), 3, 3));
    let mut script = Script::new(volatile(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    script.heartbeat(1, 10);
    script.samples([11]);
    let now = row(&script);
    assert_eq!((now.first, now.known, now.received), (sn(11), 1, 1));
}

#[test]
fn overwritten_read_and_unread_count_apart() {
    let mut script = Script::new(ReaderConfig { reliable: false, ..config(KeySource::None) });
    script.match_remote(WRITER, false);
    script.samples([1, 2]);
    let mut samples = Vec::new();
    script.reader.select(script.now(), &Selection::default(), Operation::Read, &mut samples);
    script.samples([3, 4]);
    let now = row(&script);
    assert_eq!((now.undelivered.overwritten_unread, now.undelivered.overwritten_read), (2, 1));
    assert_eq!((now.received, now.delivered()), (4, 1));
}

#[test]
fn replaced_sample_counts_for_its_own_writer() {
    let mut script = Script::new(ReaderConfig { reliable: false, ..config(KeySource::LeadingBytes) });
    script.match_remote(WRITER, false);
    script.match_remote(OTHER, false);
    script.write(WRITER, 1, 1, 0);
    script.write(OTHER, 1, 1, 0);
    script.write(OTHER, 2, 1, 0);
    let losses = script.reader.losses();
    assert_eq!(losses.writers[0].undelivered.overwritten_unread, 1);
    assert_eq!(losses.writers[1].undelivered.overwritten_unread, 1);
    assert_eq!(losses.total().delivered(), 1);
}

#[test]
fn undelivered_changes_have_their_reason() {
    let limits = ResourceLimits { max_instances: Some(1), ..ResourceLimits::default() };
    let config = ReaderConfig {
        key: KeySource::LeadingBytes,
        reliable: false,
        destination_order: crate::qos::DestinationOrder::BySourceTimestamp,
        ..limited(config(KeySource::None), limits)
    };
    let mut script = Script::new(config);
    let lifespan = Duration::from_millis(50);
    let writer = WriterProxyConfig { reliable: false, lifespan, ..WriterProxyConfig::new(WRITER) };
    script.reader.match_writer(script.now(), writer);
    let written = |script: &mut Script, number: i64, key: u8, millis: i64| {
        let time = Time::from_unix_nanos(script.now().time.as_unix_nanos() + millis * 1_000_000);
        let bytes = keyed(key, 0);
        let source = Source { timestamp: Some(time), ..source(WRITER) };
        script.reader.handle_data(script.now(), &source, &data(number, SerializedPayload::Data(&bytes)), &())
    };
    written(&mut script, 1, 1, 0);
    written(&mut script, 2, 1, -60);
    written(&mut script, 3, 2, 0);
    assert_eq!(script.taken(), [1]);
    written(&mut script, 4, 1, -5);
    written(&mut script, 5, 1, 0);
    script.later(100);
    script.reader.handle_data(script.now(), &source(WRITER), &data(6, SerializedPayload::Data(&[0, 1])), &());
    let now = row(&script);
    assert_eq!((now.received, now.delivered()), (6, 1));
    let Undelivered { expired, rejected_instances, superseded, not_decodable, .. } = now.undelivered;
    assert_eq!((expired, rejected_instances, superseded, not_decodable), (2, 1, 1, 1));
}

#[test]
fn time_policies_have_undelivered_reasons() {
    let timing = crate::history::ReaderTiming {
        time_based_filter: Duration::from_millis(100),
        autopurge_disposed_samples_delay: Duration::from_millis(300),
        ..crate::history::ReaderTiming::NONE
    };
    let mut script = Script::new(ReaderConfig { timing, ..transient_local(keep_all(config(KeySource::LeadingBytes))) });
    script.match_remote(WRITER, true);
    script.match_remote(OTHER, true);
    for writer in [WRITER, OTHER] {
        script.reader.handle_heartbeat(script.now(), &source(writer), &heartbeat(1, 0, 1));
    }
    let rows = |script: &Script| {
        let losses = script.reader.losses();
        for row in &losses.writers {
            assert_adds_up(row, "");
        }
        [0, 1].map(|at: usize| {
            let Undelivered { too_soon, purged, .. } = losses.writers[at].undelivered;
            (losses.writers[at].delivered(), too_soon, purged)
        })
    };
    // The first change is visible. The time filter holds back the second, which the other writer's change replaces.
    // That one becomes visible after the minimum separation.
    script.write(WRITER, 1, 1, 0);
    script.write(WRITER, 2, 1, 0);
    script.write(OTHER, 1, 1, 0);
    assert_eq!(rows(&script), [(1, 1, 0), (1, 0, 0)]);
    script.later(150);
    assert_eq!(script.taken(), [1, 1]);
    // The time filter holds it back until the instance ends. It is purged before a take.
    script.write(WRITER, 3, 1, 0);
    script.end(WRITER, 4, 1, 1);
    script.later(400);
    assert!(script.take().is_empty());
    assert_eq!(rows(&script), [(2, 1, 1), (1, 0, 0)]);
}

#[test]
fn held_back_change_that_expires_is_not_delivered() {
    let time_based_filter = Duration::from_millis(100);
    let timing = crate::history::ReaderTiming { time_based_filter, ..crate::history::ReaderTiming::NONE };
    for looks in [0, 1] {
        let config = ReaderConfig { reliable: false, timing, ..keep_all(config(KeySource::None)) };
        let mut script = Script::new(config);
        let lifespan = Duration::from_millis(50);
        let writer = WriterProxyConfig { reliable: false, lifespan, ..WriterProxyConfig::new(WRITER) };
        script.reader.match_writer(script.now(), writer);
        for number in [1, 2] {
            let source = Source { timestamp: Some(script.now().time), ..source(WRITER) };
            let bytes = body(0);
            script.reader.handle_data(script.now(), &source, &data(number, SerializedPayload::Data(&bytes)), &());
        }
        assert_eq!(script.taken(), [1]);
        script.events();
        script.millis = 120;
        for _ in 0..looks {
            script.later(0);
        }
        assert_eq!(script.events(), [], "no change is visible");
        assert!(script.take().is_empty());
        let row = row(&script);
        assert_adds_up(&row, "");
        assert_eq!((row.delivered(), row.undelivered.expired, row.undelivered.too_soon), (1, 1, 0));
    }
}

#[test]
fn unmatched_writer_keeps_row_earlier_ones_are_summed() {
    let mut script = Script::new(transient_local(keep_all(config(KeySource::None))));
    let guid = |number: u8| Guid::new(GuidPrefix([100 + number; 12]), WRITER.entity_id);
    let count = 40;
    for number in 0..count {
        let writer = guid(number);
        script.match_remote(writer, true);
        let now = script.now();
        let bytes = body(1);
        script.reader.handle_heartbeat(now, &source(writer), &heartbeat(1, 4, 1));
        for number in [1, 3] {
            script.reader.handle_data(now, &source(writer), &data(number, SerializedPayload::Data(&bytes)), &());
        }
        assert!(script.reader.unmatch_writer(now, writer));
    }
    let losses = script.reader.losses();
    assert!(losses.writers.is_empty());
    assert_eq!(losses.departed.len(), DEPARTED_MAX);
    assert_eq!(losses.departed.last().unwrap().writer, Some(guid(count - 1)));
    let total = losses.total();
    let each = u64::from(count);
    assert_eq!((total.known, total.received, total.not_received.never_came), (4 * each, 2 * each, 2 * each));
    assert_eq!((total.undelivered.stranded, total.delivered()), (each, each));
    // A writer without changes leaves no row.
    script.match_remote(guid(99), true);
    script.reader.unmatch_writer(script.now(), guid(99));
    assert_eq!(script.reader.losses(), losses);
}

#[test]
fn inbox_overflow_counts_as_received_undelivered() {
    let mut script = Script::best_effort();
    let note = |script: &mut Script, first, last| script.reader.note_overflow(WRITER, sn(first), sn(last));
    script.samples([3]);
    // Before the first number, and beyond the position of the reader.
    assert_eq!(note(&mut script, 1, 2), None);
    assert_eq!(note(&mut script, 6, 8), Some(sn(6)));
    assert_eq!(row(&script).undelivered.inbox_overflow, 0);
    script.samples([8]);
    assert_eq!(note(&mut script, 6, 8), None);
    let now = row(&script);
    // 4 and 5. Fewer than were dropped, as 8 arrived twice.
    assert_eq!((now.received, now.not_received.never_came, now.undelivered.inbox_overflow), (5, 1, 3));
    assert_adds_up(&now, "");
    // Repeated reports count no more than the missing numbers.
    assert_eq!(note(&mut script, 1, 11), Some(sn(9)));
    let now = row(&script);
    assert_eq!((now.received, now.not_received.never_came, now.undelivered.inbox_overflow), (6, 0, 4));
    assert_adds_up(&now, "");
    // Repaired changes arrive again, and an unmatched writer has no row.
    assert_eq!(script.reader.note_overflow(OTHER, sn(1), sn(1)), None);
    let mut script = Script::reliable();
    script.samples([1, 4]);
    assert_eq!(note(&mut script, 2, 3), None);
    assert_eq!((row(&script).undelivered.inbox_overflow, row(&script).awaited), (0, 2));
}

#[test]
fn incomplete_samples_count_apart_from_never_arrived() {
    let mut script = Script::best_effort();
    script.samples([1]);
    let sample = large(3000);
    for number in [3, 4] {
        script.fragment(&piece(&sample, number, 1000, 1, 1));
    }
    script.samples([6]);
    let now = row(&script);
    // 2 and 5 never arrived.
    assert_eq!((now.received, now.not_received.fragments, now.not_received.never_came), (2, 2, 2));
    assert_adds_up(&now, "");
}

/// Some fragments of evicted samples had arrived, although the reader kept none of them.
#[test]
fn evicted_assembly_counts_as_incomplete() {
    let few = ReaderConfig { assemblies_max: 2, ..keep_all(config(KeySource::None)) };
    let mut script = Script::new(few);
    script.match_remote(WRITER, false);
    script.samples([1]);
    let sample = large(3000);
    for number in [2, 3, 4] {
        script.fragment(&piece(&sample, number, 1000, 1, 1));
    }
    script.samples([6]);
    let now = row(&script);
    assert_eq!((now.received, now.not_received.fragments, now.not_received.never_came), (2, 3, 1));
    assert_adds_up(&now, "");
    // The reader remembers a bounded number of them. The others count as never arrived.
    for number in 7..200 {
        script.fragment(&piece(&sample, number, 1000, 1, 1));
    }
    script.samples([200]);
    let now = row(&script);
    assert_eq!((now.not_received.fragments, now.not_received.never_came), (3 + 64 + 2, 1 + 193 - 66));
    assert_adds_up(&now, "");
}

#[test]
fn instance_limit_has_its_reject_reason() {
    let limits = ResourceLimits { max_samples_per_instance: Some(2), ..ResourceLimits::default() };
    let limits = HistoryLimits::new(History::KeepAll, limits);
    let mut script = Script::new(ReaderConfig { reliable: false, limits, ..config(KeySource::LeadingBytes) });
    script.match_remote(WRITER, false);
    for (number, key) in [(1, 1), (2, 1), (3, 1), (4, 2), (5, 1)] {
        script.write(WRITER, number, key, 0);
    }
    let now = row(&script);
    assert_eq!((now.received, now.delivered(), now.undelivered.rejected_samples_per_instance), (5, 3, 2));
    assert_adds_up(&now, "");
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn some_config(chance: &mut Chance) -> (ReaderConfig, bool) {
    let limits = match chance.below(3) {
        0 => ResourceLimits { max_samples: Some(6), ..ResourceLimits::default() },
        _ => ResourceLimits::default(),
    };
    let history = match chance.below(3) {
        0 => History::KeepLast { depth: 1 + chance.below(3) as u32 },
        _ => History::KeepAll,
    };
    let config = config(KeySource::None);
    let config = ReaderConfig { limits: HistoryLimits::new(history, limits), reorder_max: 16, ..config };
    match chance.below(3) {
        0 => (ReaderConfig { reliable: false, ..config }, false),
        1 => (volatile(config), true),
        _ => (transient_local(config), true),
    }
}

/// Random changes in random order: the ledger agrees with the received, taken and available changes, and adds up.
/// At the end, when the writer has nothing more, no number is awaited.
#[test]
fn ledger_adds_up_at_every_moment() {
    let mut in_pieces = 0;
    for seed in 0..300 {
        let mut chance = Chance(seed);
        let (config, reliable) = some_config(&mut chance);
        let mut script = Script::new(config);
        script.match_remote(WRITER, reliable);
        let mut came: BTreeSet<i64> = BTreeSet::new();
        let mut taken = 0;
        let mut written = 0;
        for _ in 0..200 {
            match chance.below(13) {
                12 => {
                    // Fragmented, with one fragment missing perhaps.
                    written += 1;
                    let missing = 1 + chance.below(6) as u32;
                    let sample = large(600);
                    let sent = (1..=3).filter(|&first| first != missing);
                    let handled: Vec<_> =
                        sent.map(|first| script.fragment(&piece(&sample, written, 256, first, 1))).collect();
                    if handled == [Handled::Accepted; 3] {
                        came.insert(written);
                    }
                }
                0..=5 => {
                    written += 1;
                    if chance.below(4) > 0 && script.sample(written) == Handled::Accepted {
                        came.insert(written);
                    }
                }
                6 | 7 if written > 0 => {
                    // Late, twice, or without a change to deliver.
                    let number = 1 + chance.below(written as u64) as i64;
                    let now = script.now();
                    let nothing = chance.below(4) == 0;
                    let handled = match nothing {
                        true => {
                            script.reader.handle_data(now, &source(WRITER), &data(number, SerializedPayload::None), &())
                        }
                        false => script.sample(number),
                    };
                    if handled == Handled::Accepted {
                        came.insert(number);
                        // A number without a change counts as delivered: nothing is lost.
                        taken += u64::from(nothing);
                    }
                }
                8 if written > 0 => {
                    let first = 1 + chance.below(written as u64) as i64;
                    script.heartbeat(first.saturating_sub(10).max(1), written);
                }
                9 if written > 0 => {
                    let start = 1 + chance.below(written as u64) as i64;
                    script.gap(start, (start + chance.below(4) as i64).min(written + 1), &[]);
                }
                10 => taken += script.take().len() as u64,
                _ => drop(script.later(chance.below(30))),
            }
            script.sent();
            script.events();
            let now = row(&script);
            let context = format!("seed {seed}");
            assert_adds_up(&now, &context);
            assert_eq!(now.received, came.len() as u64, "{context}: {now:?}");
            let there = script.reader.history().len() as u64;
            assert_eq!(now.delivered(), taken + there, "{context}: {now:?}");
        }
        if written > 0 {
            taken += script.take().len() as u64;
            script.heartbeat(written + 1, written);
            // Samples that waited for space arrive when there is some.
            for _ in 0..200 {
                taken += script.take().len() as u64;
            }
            let now = row(&script);
            assert_eq!(now.awaited + now.waiting, 0, "seed {seed}: {now:?}");
            assert_eq!(now.received + now.not_received.total(), now.known);
            assert_eq!(now.known, (now.last.0 - now.first.0 + 1) as u64);
            assert_eq!(now.delivered(), taken);
            in_pieces += now.not_received.fragments;
        }
    }
    assert!(in_pieces > 100, "{in_pieces} samples lacked fragments");
}

#[test]
fn held_back_change_of_gone_writer_is_admitted_or_rejected() {
    let time_based_filter = Duration::from_millis(100);
    let timing = crate::history::ReaderTiming { time_based_filter, ..crate::history::ReaderTiming::NONE };
    for (max_samples, expected) in [(1, (1, 1)), (2, (2, 0))] {
        let limits = ResourceLimits { max_samples: Some(max_samples), ..ResourceLimits::default() };
        let config = ReaderConfig { timing, ..transient_local(limited(config(KeySource::LeadingBytes), limits)) };
        let mut script = Script::new(config);
        script.match_remote(WRITER, true);
        script.heartbeat(1, 0);
        script.write(WRITER, 1, 1, 0);
        script.write(WRITER, 2, 1, 0);
        script.reader.unmatch_writer(script.now(), WRITER);
        let total = script.reader.losses().total();
        assert_adds_up(&total, "");
        assert_eq!((total.delivered(), total.undelivered.rejected_samples), expected);
        let samples = script.take();
        assert_eq!(samples.iter().filter(|sample| sample.info.valid_data).count() as u64, expected.0);
    }
}

#[test]
fn held_back_change_is_not_seen_after_owner_change() {
    let time_based_filter = Duration::from_millis(100);
    let timing = crate::history::ReaderTiming { time_based_filter, ..crate::history::ReaderTiming::NONE };
    let ownership = crate::qos::Ownership::Exclusive;
    let config = ReaderConfig { timing, ownership, reliable: false, ..keep_all(config(KeySource::LeadingBytes)) };
    let mut script = Script::new(config);
    for (writer, ownership_strength) in [(WRITER, 1), (OTHER, 2)] {
        let writer = WriterProxyConfig { reliable: false, ownership_strength, ..WriterProxyConfig::new(writer) };
        script.reader.match_writer(script.now(), writer);
    }
    script.write(WRITER, 1, 1, 0);
    script.write(WRITER, 2, 1, 0);
    script.write(OTHER, 1, 1, 0);
    script.write(WRITER, 3, 1, 0);
    script.later(150);
    let samples = script.take();
    let from: Vec<_> = samples.iter().map(|sample| sample.info.publication_handle).collect();
    assert_eq!(from, [InstanceHandle::from(WRITER), InstanceHandle::from(OTHER)]);
    let losses = script.reader.losses();
    for row in &losses.writers {
        assert_adds_up(row, "");
    }
    let Undelivered { too_soon, not_owner, .. } = losses.writers[0].undelivered;
    assert_eq!((losses.writers[0].delivered(), too_soon, not_owner), (1, 1, 1));
}

#[test]
fn change_of_non_owner_counts_as_undelivered() {
    let time_based_filter = Duration::from_millis(100);
    let timing = crate::history::ReaderTiming { time_based_filter, ..crate::history::ReaderTiming::NONE };
    let ownership = crate::qos::Ownership::Exclusive;
    let config = ReaderConfig { timing, ownership, reliable: false, ..keep_all(config(KeySource::LeadingBytes)) };
    let mut script = Script::new(config);
    for (writer, ownership_strength) in [(WRITER, 1), (OTHER, 2)] {
        let writer = WriterProxyConfig { reliable: false, ownership_strength, ..WriterProxyConfig::new(writer) };
        script.reader.match_writer(script.now(), writer);
    }
    script.write(OTHER, 1, 1, 0);
    script.write(OTHER, 2, 1, 0);
    // The minimum separation is over, and the timer is late.
    script.millis += 150;
    script.write(WRITER, 1, 1, 0);
    assert_eq!(script.take().len(), 2);
    let losses = script.reader.losses();
    for row in &losses.writers {
        assert_adds_up(row, "");
    }
    let delivered: Vec<_> = losses.writers.iter().map(WriterLosses::delivered).collect();
    assert_eq!((delivered, losses.writers[0].undelivered.not_owner), (vec![0, 2], 1));
}

/// A KEEP_LAST writer replaces samples while the reader is cut off. That is no loss.
#[test]
fn samples_that_their_writer_replaced_are_not_lost() {
    let mut script = Script::new(transient_local(keep_all(config(KeySource::None))));
    let writer = WriterProxyConfig { keeps_last: true, ..WriterProxyConfig::new(WRITER) };
    assert!(script.reader.match_writer(script.now(), writer));
    script.heartbeat(1, 0);
    script.samples([1]);
    script.heartbeat(40, 40);
    script.samples([40]);
    assert_eq!(script.taken(), [1, 40]);
    let events = script.events();
    let replaced = StatefulReaderEvent::SampleLost { writer: WRITER, count: 38, cause: LossCause::Replaced };
    assert!(events.contains(&replaced), "{events:?}");
    let row = script.reader.losses().writers[0];
    assert_eq!((row.known, row.received, row.lost(), row.not_received.replaced), (40, 2, 0, 38));
    assert_adds_up(&row, "replaced");
    let counters = script.reader.counters();
    assert_eq!((counters.lost, counters.replaced), (0, 38));
    // The writer denies a forged announcement.
    script.heartbeat(60, 60);
    script.heartbeat(40, 40);
    script.later(1000);
    script.heartbeat(40, 40);
    script.samples([41]);
    let row = script.reader.losses().writers[0];
    assert_eq!((row.known, row.received, row.not_received.total()), (41, 3, 38));
}
