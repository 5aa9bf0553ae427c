//! The gate of a subscriber: which changes it releases, and in which order.

use super::*;
use crate::concurrent::GroupPosition;
use crate::history::{CacheChange, ChangeKind, PresentationInfo, ReceivedChange};
use crate::qos::{AccessScope, Presentation};

const NEAR: EntityId = EntityId([0, 0, 1, 7]);
const FAR: EntityId = EntityId([0, 0, 2, 7]);

fn gate(coherent: bool) -> GroupGate {
    let mut gate = GroupGate::new(coherent, true);
    for (writer, reader) in [(WRITER, NEAR), (OTHER, FAR)] {
        gate.add(PublisherKey::Local(1), (writer, reader), (true, true), SequenceNumber::ZERO, None);
    }
    gate
}

fn change(writer: Guid, number: i64) -> ReceivedChange {
    let group = Some(GroupPosition { number: sn(number), set: None, writers: [0; 4] });
    let change = CacheChange {
        kind: ChangeKind::Alive,
        writer,
        sequence_number: sn(number),
        instance: InstanceHandle::NIL,
        source_timestamp: Time::INVALID,
        related_sample: None,
        origin: None,
        presented: Some(Box::new(PresentationInfo { group, ..PresentationInfo::default() })),
        payload: Some(Payload::copy_of(&body(1))),
    };
    ReceivedChange { change, has_data: true, expires: None, reception_timestamp: Time::INVALID }
}

fn plain(writer: Guid, number: i64) -> GroupItem {
    GroupItem::Change { number: Some(sn(number)), change: change(writer, number) }
}

fn part(writer: Guid, set: i64, end: i64, numbers: &[i64], is_whole: bool) -> GroupItem {
    let changes = numbers.iter().map(|&number| change(writer, number)).collect();
    GroupItem::SetEnded { set: sn(set), end: sn(end), changes, is_whole }
}

/// Released numbers in the order of their rank. Dropped numbers are negative.
fn released(gate: &mut GroupGate) -> Vec<i64> {
    gate.release(at(0));
    let mut all = Vec::new();
    for reader in [NEAR, FAR] {
        while let Some(release) = gate.poll_release(reader) {
            match release {
                Release::Admit { rank, change } => all.push((rank, change.change.sequence_number.0)),
                Release::Drop(changes) => all.extend(changes.iter().map(|c| (0, -c.change.sequence_number.0))),
            }
        }
    }
    all.sort_unstable();
    all.into_iter().map(|(_, number)| number).collect()
}

#[test]
fn gate_releases_next_number_and_waits_at_hole() {
    let mut gate = gate(false);
    gate.push(WRITER, NEAR, plain(WRITER, 1));
    assert_eq!(released(&mut gate), [1]);
    gate.push(WRITER, NEAR, plain(WRITER, 3));
    assert!(released(&mut gate).is_empty());
    assert_eq!(gate.take_due_requests(FAR, at(0), Duration::from_millis(100)), [OTHER]);
    assert!(gate.take_due_requests(FAR, at(99), Duration::from_millis(100)).is_empty());
    assert_eq!(gate.take_due_requests(FAR, at(100), Duration::from_millis(100)), [OTHER]);
    gate.push(OTHER, FAR, plain(OTHER, 2));
    assert_eq!(released(&mut gate), [2, 3]);
    // A number of a writer that no reader here matches.
    gate.push(WRITER, NEAR, plain(WRITER, 5));
    assert!(released(&mut gate).is_empty());
    gate.push(OTHER, FAR, GroupItem::Reached(sn(4)));
    assert_eq!(released(&mut gate), [5]);
}

#[test]
fn set_waits_for_every_writer() {
    let mut gate = gate(true);
    gate.push(WRITER, NEAR, part(WRITER, 1, 4, &[1, 3], true));
    assert!(released(&mut gate).is_empty());
    gate.push(OTHER, FAR, GroupItem::SetBegun { set: sn(1) });
    gate.push(OTHER, FAR, GroupItem::Reached(sn(9)));
    assert!(released(&mut gate).is_empty(), "it has begun the set");
    gate.push(OTHER, FAR, part(OTHER, 1, 5, &[2], true));
    assert_eq!(released(&mut gate), [1, 2, 3]);
}

#[test]
fn hole_in_one_writer_drops_the_whole_set() {
    let mut gate = gate(true);
    gate.push(WRITER, NEAR, part(WRITER, 1, 4, &[1, 3], true));
    gate.push(OTHER, FAR, part(OTHER, 1, 5, &[], false));
    assert_eq!(released(&mut gate), [-3, -1]);
    gate.push(WRITER, NEAR, plain(WRITER, 6));
    assert_eq!(released(&mut gate), [6]);
}

#[test]
fn leaving_writer_breaks_set_closed_reader_does_not() {
    for by_reader in [false, true] {
        let mut gate = gate(true);
        gate.push(OTHER, FAR, GroupItem::SetBegun { set: sn(1) });
        gate.push(WRITER, NEAR, part(WRITER, 1, 4, &[1], true));
        gate.remove(OTHER, FAR, by_reader);
        assert_eq!(released(&mut gate), if by_reader { [1] } else { [-1] });
    }
}

#[test]
fn gate_items_are_bounded() {
    let mut gate = gate(true);
    gate.push(OTHER, FAR, GroupItem::SetBegun { set: sn(1) });
    for set in 1..=2 * ITEMS_MAX as i64 {
        gate.push(WRITER, NEAR, part(WRITER, 2 * set, 2 * set + 1, &[], true));
    }
    gate.push(WRITER, NEAR, part(WRITER, 20_000, 20_002, &[20_000], true));
    assert!(released(&mut gate).is_empty());
    assert_eq!(gate.broken_len(), ITEMS_MAX);
    // The dropped sets are broken, even if other writers end them.
    gate.push(OTHER, FAR, part(OTHER, 1, 2, &[1], true));
    gate.push(OTHER, FAR, GroupItem::Reached(sn(20_001)));
    assert_eq!(released(&mut gate), [1, 20_000]);
}

#[test]
fn far_group_number_delays_no_other_writer() {
    let mut gate = gate(true);
    gate.push(WRITER, NEAR, plain(WRITER, 1));
    gate.push(WRITER, NEAR, part(WRITER, 1 << 60, (1 << 60) + 1, &[7], true));
    assert_eq!(released(&mut gate), [-7, 1]);
    gate.push(OTHER, FAR, plain(OTHER, 2));
    assert_eq!(released(&mut gate), [2]);
}

#[test]
fn full_reader_accepts_nothing_for_the_gate() {
    let limits = ResourceLimits { max_samples: Some(3), ..ResourceLimits::default() };
    let mut config = limited(transient_local(config(KeySource::None)), limits);
    config.presentation =
        Presentation { access_scope: AccessScope::Group, coherent_access: false, ordered_access: true };
    let mut script = Script::new(config);
    script.match_remote(WRITER, true);
    script.heartbeat(1, 0);
    script.sent();
    script.samples(1..=5);
    let items: Vec<_> = std::iter::from_fn(|| script.reader.poll_group_item()).collect();
    assert_eq!(items.len(), 3);
    script.heartbeat(1, 5);
    assert_eq!(script.requested().0, 4, "a change without space is not acknowledged");
    for (_, item) in items {
        let GroupItem::Change { change, .. } = item else { panic!("{item:?}") };
        script.reader.handle_release(script.now(), Release::Admit { rank: 1, change });
    }
    assert_eq!(script.taken(), [1, 2, 3]);
}
