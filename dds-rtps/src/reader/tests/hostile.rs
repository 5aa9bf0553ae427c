//! Numbers, sizes and sets that no honest writer sends.

use super::ledger::assert_adds_up;
use super::*;

const HUGE: i64 = 1 << 62;

/// A jump counts at most this many lost numbers: the ledger does not take a number for a count.
const COUNTED_MAX: u64 = 1 << 20;

/// A writer that repeats its announcement: once, and again a second later.
fn insist(script: &mut Script, mut say: impl FnMut(&mut Script) -> Handled) {
    assert_eq!(say(script), Handled::Doubtful);
    script.sent();
    script.later(1000);
    assert_eq!(say(script), Handled::Accepted);
}

#[test]
fn far_heartbeat_is_bounded_work() {
    let mut script = Script::reliable();
    script.samples([2]);
    insist(&mut script, |script| script.heartbeat(1, HUGE));
    let expected: Vec<i64> = std::iter::once(1).chain(3..=256).collect();
    assert_eq!(script.requested(), (1, expected));
    script.heartbeat(HUGE, HUGE);
    assert_eq!(script.requested(), (HUGE, vec![HUGE]));
    assert_eq!(script.taken(), [2]);
    assert_eq!(script.lost(), 1 + COUNTED_MAX);
}

#[test]
fn far_gap_is_bounded_work() {
    let mut script = Script::reliable();
    insist(&mut script, |script| script.gap(1, HUGE, &[HUGE + 5, HUGE + 255]));
    insist(&mut script, |script| script.gap(HUGE + 1, i64::MAX - 300, &[]));
    script.samples([HUGE]);
    assert_eq!(script.taken(), [HUGE]);
    script.heartbeat(1, i64::MAX);
    assert_eq!(script.requested().0, i64::MAX - 300);
}

#[test]
fn last_sequence_numbers_do_not_overflow() {
    let mut script = Script::new(transient_local(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    script.sent();
    script.heartbeat(i64::MAX, i64::MAX);
    assert_eq!(script.requested(), (i64::MAX, vec![i64::MAX]));
    assert_eq!(script.sample(i64::MAX), Handled::Postponed);
    assert_eq!(script.sample(i64::MAX - 1), Handled::Duplicate);
    script.gap(1, i64::MAX, &[i64::MAX]);
    script.later(1000);
    script.sent();
}

#[test]
fn huge_jump_counts_bounded_losses() {
    let mut script = Script::reliable();
    script.samples([1]);
    insist(&mut script, |script| script.heartbeat(i64::MAX - 1, i64::MAX - 1));
    for _ in 0..3 {
        // Another writer announces as much. The events were not polled in between.
        script.match_remote(OTHER, true);
        for (first, last) in [(1, 0), (i64::MAX, i64::MAX), (i64::MAX, i64::MAX)] {
            script.heartbeats += 1;
            let now = script.now();
            script.reader.handle_heartbeat(now, &source(OTHER), &heartbeat(first, last, script.heartbeats));
            script.later(1000);
        }
        script.reader.unmatch_writer(script.now(), OTHER);
    }
    assert_eq!(script.reader.counters().lost, 4 * COUNTED_MAX);
    let losses = script.reader.losses();
    assert_eq!(losses.total().not_received.total(), 4 * COUNTED_MAX);
    for row in losses.writers.iter().chain(&losses.departed) {
        assert_adds_up(row, "");
    }
}

#[test]
fn denied_announcement_is_forgotten() {
    let mut script = Script::new(transient_local(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    // The first HEARTBEAT of a writer is always believed.
    assert_eq!(script.heartbeat(1, HUGE), Handled::Accepted);
    assert!(!script.reader.has_history());
    let now = script.reader.losses().writers[0];
    assert!(now.awaited <= COUNTED_MAX + 1, "{now:?}");
    script.heartbeat(1, 2);
    script.later(1000);
    script.heartbeat(1, 2);
    script.samples([1, 2]);
    assert_eq!(script.taken(), [1, 2]);
    assert!(script.reader.has_history());
    let now = script.reader.losses().writers[0];
    assert_eq!((now.known, now.received, now.awaited), (2, 2, 0));
    script.reader.unmatch_writer(script.now(), WRITER);
    assert_eq!(script.lost(), 0);
}

#[test]
fn forged_first_sample_does_not_silence_writer() {
    let mut script = Script::new(volatile(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    assert_eq!(script.sample(HUGE), Handled::Accepted);
    assert_eq!(script.sample(5), Handled::Duplicate);
    script.heartbeat(1, 5);
    script.later(1000);
    script.heartbeat(1, 5);
    script.samples([6, 7]);
    assert_eq!(script.taken(), [HUGE, 6, 7]);
    let row = script.reader.losses().writers[0];
    assert_eq!((row.first, row.known, row.received, row.lost()), (sn(6), 3, 3, 0));
    // After the writer confirmed its position, no forged HEARTBEAT makes the reader accept samples twice.
    let mut script = Script::new(volatile(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    script.samples([HUGE]);
    script.heartbeat(HUGE, HUGE);
    for _ in 0..3 {
        script.heartbeat(1, 0);
        script.later(500);
    }
    script.samples([HUGE, HUGE + 1]);
    assert_eq!(script.taken(), [HUGE, HUGE + 1]);
}

#[test]
fn denial_does_not_repeat_delivered_changes() {
    let mut script = Script::reliable();
    insist(&mut script, |script| script.gap(1, HUGE, &[]));
    script.samples([HUGE]);
    for _ in 0..3 {
        script.heartbeat(1, 0);
        script.later(500);
    }
    assert_eq!(script.sample(HUGE), Handled::Duplicate);
    assert_eq!(script.taken(), [HUGE]);
}

#[test]
fn forged_start_is_corrected_once() {
    let mut script = Script::new(volatile(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    script.samples([HUGE]);
    script.heartbeat(1, 5);
    script.later(1000);
    script.heartbeat(1, 5);
    assert_eq!(script.reader.counters().retracted, 1);
}

#[test]
fn denied_jump_loses_nothing() {
    let mut script = Script::reliable();
    script.samples([1]);
    for round in 0..20 {
        assert_eq!(script.heartbeat(1 << 40, 1 << 40), Handled::Doubtful);
        assert_eq!(script.gap(2, 1 << 40, &[]), Handled::Doubtful);
        // The reader asks the writer, which answers.
        let sent = script.sent();
        assert!(!sent[0].ack_nack.as_ref().unwrap().is_final, "round {round}");
        script.heartbeat(1, 1);
        script.later(200);
    }
    script.samples([2, 3]);
    assert_eq!(script.taken(), [1, 2, 3]);
    assert_eq!(script.lost(), 0);
    assert_eq!(script.reader.counters().doubtful, 40);
}

#[test]
fn denied_gap_is_retracted() {
    let mut script = Script::reliable();
    script.samples([1]);
    // A forged HEARTBEAT.
    script.gap(2, 500, &[]);
    script.heartbeat(1000, 1200);
    assert_eq!(script.lost(), 500);
    assert_eq!(script.sample(2), Handled::Duplicate);
    let before = script.reader.losses().writers[0];
    assert_eq!((before.not_received.irrelevant, before.not_received.never_came), (498, 500));
    // The writer's own HEARTBEAT. A single one may have been overtaken on its way.
    script.heartbeat(1, 3);
    assert_eq!(script.sample(2), Handled::Duplicate);
    assert!(!script.sent()[0].ack_nack.as_ref().unwrap().is_final);
    script.later(1000);
    script.heartbeat(1, 3);
    assert_eq!(script.requested(), (2, vec![2, 3]));
    script.samples([2, 3]);
    assert_eq!(script.taken(), [1, 2, 3]);
    let row = script.reader.losses().writers[0];
    assert_eq!((row.known, row.received, row.not_received.total()), (3, 3, 0));
    assert_eq!(script.reader.counters().retracted, 1);
}

#[test]
fn retracted_loss_is_not_reported_twice() {
    let mut script = Script::reliable();
    script.samples([1]);
    script.heartbeat(10, 20);
    assert_eq!(script.lost(), 8);
    script.heartbeat(1, 5);
    script.later(1000);
    script.heartbeat(1, 5);
    script.heartbeat(12, 20);
    // 2 to 11; 8 of them were reported before.
    assert_eq!(script.lost(), 2);
    assert_eq!(script.reader.losses().writers[0].not_received.never_came, 10);
}

#[test]
fn overtaken_heartbeat_retracts_nothing() {
    let mut script = Script::reliable();
    script.samples([1]);
    script.heartbeat(10, 20);
    script.heartbeat(1, 9);
    script.later(5);
    script.heartbeat(1, 8);
    script.samples([10]);
    script.later(500);
    script.heartbeat(1, 9);
    assert_eq!(script.taken(), [1, 10]);
    assert_eq!(script.reader.counters().retracted, 0);
}

#[test]
fn occasionally_overtaken_heartbeats_retract_nothing() {
    let mut script = Script::reliable();
    script.samples([1]);
    script.heartbeat(10, 20);
    for _ in 0..5 {
        script.heartbeat(1, 8);
        script.later(150);
        script.heartbeat(1, 8);
        script.later(300);
        // The position of the writer: the HEARTBEAT before was old.
        script.heartbeat(10, 20);
        script.later(300);
    }
    assert_eq!(script.reader.counters().retracted, 0);
}

#[test]
fn denying_writer_is_asked_again_after_half_a_second() {
    let mut script = Script::reliable();
    script.samples([1]);
    script.gap(2, 500, &[]);
    script.heartbeat(1, 1);
    assert!(!script.sent()[0].ack_nack.as_ref().unwrap().is_final);
    // The answer of the writer, which has no reason to repeat it.
    script.heartbeat(1, 1);
    script.later(400);
    assert!(script.sent().iter().all(|sent| sent.ack_nack.as_ref().unwrap().is_final));
    script.later(100);
    assert!(!script.sent()[0].ack_nack.as_ref().unwrap().is_final);
    script.heartbeat(1, 1);
    script.samples([2]);
    assert_eq!(script.taken(), [1, 2]);
}

#[test]
fn unmatched_writer_changes_nothing() {
    let mut script = Script::reliable();
    let now = script.now();
    for number in [1, 1000, HUGE, i64::MAX] {
        let heartbeat = heartbeat(number, number, number as i32);
        assert_eq!(script.reader.handle_heartbeat(now, &source(OTHER), &heartbeat), Handled::Unmatched);
        assert_eq!(script.reader.handle_gap(now, &source(OTHER), &gap(1, number, &[])), Handled::Unmatched);
    }
    script.samples([1]);
    assert_eq!(script.taken(), [1]);
}

#[test]
fn invalid_numbers_are_rejected() {
    for number in [0, -1, i64::MIN, SequenceNumber::UNKNOWN.0] {
        assert_eq!(Script::reliable().sample(number), Handled::Postponed);
        assert_eq!(Script::best_effort().sample(number), Handled::Postponed);
    }
    let mut script = Script::reliable();
    assert_eq!(script.gap(0, 5, &[]), Handled::Malformed);
    assert_eq!(script.gap(5, 4, &[]), Handled::Malformed);
    assert_eq!(script.heartbeat(0, 0), Handled::Malformed);
    assert_eq!(script.heartbeat(5, 3), Handled::Malformed);
    assert_eq!(script.heartbeat(1, i64::MIN), Handled::Malformed);
    assert_eq!(script.reader.counters().malformed, 5);
}

#[test]
fn best_effort_jump_counts_when_next_number_agrees() {
    let mut script = Script::best_effort();
    script.samples([1]);
    assert_eq!(script.sample(HUGE), Handled::Doubtful);
    script.samples([HUGE + 1]);
    assert_eq!(script.taken(), [1, HUGE + 1]);
    assert_eq!(script.lost(), COUNTED_MAX);
    assert_eq!(script.reader.losses().writers[0].known, COUNTED_MAX + 2);
}

#[test]
fn forged_best_effort_sample_does_not_silence_writer() {
    let mut script = Script::best_effort();
    script.samples([1, 2]);
    for round in 0..10 {
        assert_eq!(script.sample(HUGE + round), Handled::Doubtful);
        script.samples([3 + round]);
    }
    assert_eq!(script.taken(), (1..=12).collect::<Vec<i64>>());
    // Two numbers in a row are believed, and so are two of the writer.
    script.samples([HUGE, HUGE + 1]);
    assert_eq!(script.sample(13), Handled::Doubtful);
    script.samples([14, 15]);
    assert_eq!(script.taken(), [HUGE + 1, 14, 15]);
    let row = script.reader.losses().writers[0];
    assert_eq!((row.first, row.last, row.received, row.lost()), (sn(1), sn(15), 15, 1));
    assert_eq!(row.known, row.received + row.not_received.total());
}

#[test]
fn far_best_effort_gap_is_implausible() {
    let mut script = Script::best_effort();
    script.samples([1]);
    assert_eq!(script.gap(2, HUGE, &[]), Handled::Doubtful);
    script.samples([2]);
    assert_eq!(script.taken(), [1, 2]);
}

fn fragment(number: i64, sample_size: u32, size: u16, first: u32, count: u16, payload: &[u8]) -> DataFrag<'_> {
    DataFrag {
        reader_id: EntityId::UNKNOWN,
        writer_id: WRITER.entity_id,
        writer_sn: sn(number),
        fragment_starting_num: first,
        fragments_in_submessage: count,
        fragment_size: size,
        sample_size,
        inline_qos: None,
        payload,
        is_key: false,
        non_standard_payload: false,
    }
}

#[test]
fn too_large_sample_is_lost_and_not_requested() {
    let mut script = Script::reliable();
    let claim = fragment(1, u32::MAX, 1344, 1, 1, &[0; 1344]);
    assert_eq!(script.fragment(&claim), Handled::NotDecodable);
    script.samples([2]);
    assert_eq!(script.taken(), [2]);
    assert_eq!(script.lost(), 1);
}

#[test]
fn fragment_for_others_or_not_understood_ends_sample() {
    let mut not_understood = vec![0x34, 0x72, 0, 0];
    let mut directed = vec![0x57, 0, 16, 0];
    directed.extend(OTHER.to_bytes());
    for (bytes, handled) in [(&mut not_understood, Handled::NotDecodable), (&mut directed, Handled::Accepted)] {
        bytes.extend([1, 0, 0, 0]);
        let mut script = Script::reliable();
        let inline_qos = Some(InlineQos { bytes, little_endian: true });
        let first = DataFrag { inline_qos, ..fragment(1, 2000, 1000, 1, 1, &[0; 1000]) };
        assert_eq!(script.fragment(&first), handled);
        assert_eq!(script.fragment(&fragment(1, 2000, 1000, 2, 1, &[0; 1000])), Handled::Duplicate);
        script.samples([2]);
        assert_eq!(script.taken(), [2]);
    }
}

#[test]
fn sample_with_too_many_fragments_is_lost() {
    let mut script = Script::best_effort();
    assert_eq!(script.fragment(&fragment(1, 60 << 20, 1, 1, 1, &[0])), Handled::NotDecodable);
}

#[test]
fn fragments_that_do_not_fit_are_malformed() {
    let bytes = [0; 1000];
    let cases = [
        fragment(1, 3000, 1000, 0, 1, &bytes),
        fragment(1, 3000, 1000, 4, 1, &bytes),
        fragment(1, 3000, 1000, 3, 2, &bytes),
        fragment(1, 3000, 1000, u32::MAX, u16::MAX, &bytes),
        fragment(1, 3000, 0, 1, 1, &bytes),
        fragment(1, 0, 1000, 1, 1, &bytes),
        fragment(1, 3000, 1000, 1, 0, &bytes),
        fragment(1, 3000, 1000, 1, 2, &bytes),
    ];
    let mut script = Script::reliable();
    for case in &cases {
        assert_eq!(script.fragment(case), Handled::Malformed, "{case:?}");
    }
    assert_eq!(script.reader.counters().malformed, cases.len() as u64);
}

#[test]
fn tiny_fragment_far_ahead_commits_no_memory() {
    let mut script = Script::reliable();
    let size = 65_000;
    let sample_size = 60 << 20;
    let bytes = vec![0; size];
    assert_eq!(script.fragment(&fragment(1, sample_size, size as u16, 900, 1, &bytes)), Handled::Postponed);
    assert_eq!(script.reader.counters().out_of_window, 1);
    assert_eq!(script.fragment(&fragment(1, sample_size, size as u16, 10, 1, &bytes)), Handled::Accepted);
}

#[test]
fn instances_are_bounded() {
    let limits = ResourceLimits { max_instances: Some(3), ..ResourceLimits::default() };
    let config = ReaderConfig { key: KeySource::LeadingBytes, ..limited(config(KeySource::None), limits) };
    let mut script = Script::new(config);
    script.match_remote(WRITER, false);
    for key in 1..=200 {
        script.write(WRITER, key.into(), key, 0);
    }
    assert_eq!(script.reader.history().instance_count(), 3);
    assert_eq!(script.reader.counters().rejected, 197);
}

#[test]
fn writers_are_bounded() {
    let mut script = Script::new(config(KeySource::None));
    let guid = |number: usize| {
        let mut prefix = [9; 12];
        prefix[..8].copy_from_slice(&number.to_le_bytes());
        Guid::new(GuidPrefix(prefix), WRITER.entity_id)
    };
    let now = script.now();
    let mut matched = (0..WRITERS_MAX + 10).map(|number| {
        script.reader.match_writer(now, WriterProxyConfig { reliable: false, ..WriterProxyConfig::new(guid(number)) })
    });
    assert!(matched.by_ref().take(WRITERS_MAX).all(|matched| matched));
    assert!(matched.all(|matched| !matched));
    assert_eq!(script.reader.counters().writers_refused, 10);
}

/// A number that a peer might send: small, near a power of two, or at one of the ends.
fn any_number(chance: &mut impl FnMut(u64) -> u64) -> i64 {
    let near = |base: i64, chance: &mut dyn FnMut(u64) -> u64| base.saturating_add(chance(600) as i64 - 300);
    match chance(8) {
        0 => near(1 << chance(63), chance),
        1 => near(i64::MAX, chance),
        2 => near(0, chance),
        _ => 1 + chance(400) as i64,
    }
}

fn any_fragment(chance: &mut impl FnMut(u64) -> u64, bytes: &[u8]) -> (i64, u32, u16, u32, u16, usize) {
    let sizes = [0, 1, 7, 256, 1344, 65_535];
    let sample_sizes = [0, 1, 100, 5_000, 100_000, 70 << 20, u32::MAX];
    let size = sizes[chance(6) as usize];
    let first = [0, 1, 2, 3, 50, u32::MAX][chance(6) as usize];
    let count = [0, 1, 2, 16, u16::MAX][chance(5) as usize];
    let len = chance(bytes.len() as u64) as usize;
    (any_number(chance), sample_sizes[chance(7) as usize], size, first, count, len)
}

/// Random submessages in random order: no panic, bounded answers, and no more memory than the limits allow.
#[test]
fn any_submessages_in_any_order_do_not_panic() {
    let bytes = vec![0; 70_000];
    for seed in 0..60 {
        let mut state: u64 = seed;
        let mut chance = move |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end.max(1)
        };
        let limits = ResourceLimits { max_samples: Some(50), ..ResourceLimits::default() };
        let config = limited(config(KeySource::None), limits);
        let mut script = Script::new(match seed % 3 {
            0 => config,
            1 => volatile(config),
            _ => transient_local(config),
        });
        script.match_remote(WRITER, true);
        for _ in 0..400 {
            match chance(9) {
                0 | 1 => drop(script.sample(any_number(&mut chance))),
                2 => {
                    let (first, last) = (any_number(&mut chance), any_number(&mut chance));
                    script.heartbeat(first, last);
                }
                3 => drop(script.final_heartbeat(1, 1 + chance(300) as i64)),
                4 => {
                    let (start, base) = (any_number(&mut chance), any_number(&mut chance));
                    let mut gap = gap(start, base, &[]);
                    for _ in 0..chance(20) {
                        gap.gap_list.insert(sn(base.saturating_add(chance(256) as i64)));
                    }
                    let now = script.now();
                    script.reader.handle_gap(now, &source(WRITER), &gap);
                }
                5 | 6 => {
                    let (number, sample_size, size, first, count, len) = any_fragment(&mut chance, &bytes);
                    script.fragment(&fragment(number, sample_size, size, first, count, &bytes[..len]));
                }
                7 => drop(script.take()),
                _ => drop(script.later(chance(300))),
            }
            script.sent();
            script.events();
            assert!(script.reader.history().len() <= 50, "seed {seed}");
            let row = script.reader.losses().writers[0];
            assert_adds_up(&row, &format!("seed {seed}"));
            assert!(row.known < 1 << 40, "seed {seed}: {row:?}");
        }
        assert!(script.reader.counters().lost < 1 << 40, "seed {seed}");
        let now = script.now();
        script.reader.unmatch_writer(now, WRITER);
        script.take();
        script.take();
        assert!(script.reader.history().is_empty(), "seed {seed}");
    }
}

/// A best-effort reader of 1 and 2 at 10 Hz, and of a forged number far ahead.
fn misled_best_effort() -> Script {
    let mut script = Script::best_effort();
    script.sample(1);
    script.later(100).sample(2);
    assert_eq!(script.later(30).sample(1_000_002), Handled::Accepted);
    script
}

#[test]
fn lower_number_of_a_slow_writer_denies_a_jump() {
    let mut script = misled_best_effort();
    script.later(70).sample(3);
    for number in 4..=6 {
        script.later(100).sample(number);
    }
    assert_eq!(script.taken(), [1, 2, 1_000_002, 5, 6]);
    let row = script.reader.losses().writers[0];
    assert_eq!((row.first, row.last, row.known, row.received, row.lost()), (sn(1), sn(6), 7, 5, 2));
    assert_adds_up(&row, "denied");
}

#[test]
fn run_of_a_fast_writer_denies_a_jump() {
    let mut script = misled_best_effort();
    for number in 3..=212 {
        script.later(1).sample(number);
    }
    // The first 200 could be late.
    let mut expected = vec![1, 2, 1_000_002];
    expected.extend(203..=212);
    assert_eq!(script.taken(), expected);
    let row = script.reader.losses().writers[0];
    assert_eq!((row.first, row.last, row.known, row.lost()), (sn(1), sn(212), 213, 200));
    assert_adds_up(&row, "denied");
}

#[test]
fn two_forged_numbers_far_away_are_denied() {
    let mut script = Script::best_effort();
    script.sample(1);
    assert_eq!(script.sample(HUGE), Handled::Doubtful);
    assert_eq!(script.sample(HUGE + 1), Handled::Accepted);
    // So rarely does this writer write that none of its samples can be late.
    script.later(10_000).sample(2);
    assert_eq!(script.taken(), [1, HUGE + 1, 2]);
    let row = script.reader.losses().writers[0];
    assert_eq!((row.first, row.last, row.known, row.lost()), (sn(1), sn(2), 3, 0));
    assert_adds_up(&row, "denied");
}

#[test]
fn forged_gap_is_denied_by_lower_numbers() {
    let mut script = Script::best_effort();
    script.sample(1);
    assert_eq!(script.gap(2, 1000, &[]), Handled::Accepted);
    script.later(10_000).sample(2);
    assert_eq!(script.taken(), [1, 2]);
    let row = script.reader.losses().writers[0];
    assert_eq!((row.known, row.received, row.not_received.total()), (2, 2, 0));
}

#[test]
fn late_numbers_do_not_deny_a_real_jump() {
    let mut script = Script::best_effort();
    script.samples([1, 60]);
    // A batch that another path delivers later.
    script.later(500);
    assert_eq!(script.sample(2), Handled::Duplicate);
    for number in 3..30 {
        assert_eq!(script.sample(number), Handled::Duplicate);
    }
    // The writer continues: late numbers deny nothing, however late they are.
    script.samples(61..=130);
    script.later(10_000);
    assert_eq!(script.sample(30), Handled::Duplicate);
    assert_eq!(script.taken(), [vec![1], (60..=130).collect()].concat());
    assert_eq!(script.reader.losses().writers[0].lost(), 58);
}

#[test]
fn restarted_writer_is_believed_after_two_seconds() {
    let mut script = Script::best_effort();
    script.samples(1..=100);
    script.taken();
    for number in 1..=30 {
        script.later(100).sample(number);
    }
    assert_eq!(script.taken(), (21..=30).collect::<Vec<_>>());
    assert_adds_up(&script.reader.losses().writers[0], "restarted");
}
