//! Samples that every reader must have received, and those that it must not.

use super::logs::{Entry, Got, ReaderLog, SHARED, WriterLog, Written, depth};
use super::policies::{describe_reader, describe_writer};
use dds_core::qos::{AccessScope, Durability, Ownership};
use dds_core::{Duration, InstanceHandle, InstanceState};
use std::collections::{BTreeMap, BTreeSet};

/// Most delay of a timer and of a take in a working world.
const SLACK: Duration = Duration::from_millis(20);

/// Facts about the world beside the logs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// All clocks show the same time.
    pub(crate) clocks_agree: bool,
}

/// All broken promises.
pub(crate) fn complaints(writers: &[&WriterLog], readers: &[&ReaderLog], facts: Facts) -> Vec<String> {
    let mut complaints = Vec::new();
    for reader in readers {
        complaints.extend(reader.complaints.iter().cloned());
        nothing_invented(writers, reader, facts, &mut complaints);
        for writer in writers.iter().filter(|writer| writer.topic == reader.topic) {
            let mut complain = |what: String| {
                complaints.push(format!(
                    "writer {} to reader {} ({}): {what}",
                    writer.id,
                    reader.id,
                    describe(writer, reader)
                ));
            };
            in_order_and_once(writer, reader, &mut complain);
            rounds_in_order(writer, reader, &mut complain);
            nothing_missing(writer, reader, &mut complain);
            sets_are_whole(writer, reader, &mut complain);
            last_state_known(writer, reader, &mut complain);
        }
    }
    complaints
}

fn describe(writer: &WriterLog, reader: &ReaderLog) -> String {
    format!("{} to {}", describe_writer(&writer.qos), describe_reader(&reader.qos))
}

/// Checks that a writer wrote every sample, that it is complete, and that it has not expired.
fn nothing_invented(writers: &[&WriterLog], reader: &ReaderLog, facts: Facts, complaints: &mut Vec<String>) {
    for got in &reader.got {
        // Without data a sample is only a state, which `last_state_known` checks.
        let Some((writer, number, instance, is_whole)) = got.data else { continue };
        let log = writers.iter().find(|log| log.id == writer && log.topic == reader.topic);
        let entry = log.and_then(|log| log.entries.get(number as usize - 1));
        let fits = |entry: &&Entry| entry.instance == instance && entry.what == Written::Data;
        let Some(entry) = entry.filter(fits).filter(|_| is_whole && i64::from(number) == got.sequence) else {
            let what = "which differs from the written one";
            complaints.push(format!("reader {} got number {number} of writer {writer}, {what}", reader.id));
            continue;
        };
        if !reader.may_see(writer, entry, got.sequence) {
            complaints.push(format!("reader {} got number {number} of writer {writer}, and its filter", reader.id));
        }
        let (age, limit) = (got.at - entry.at, entry.lifespan);
        // A reader may still apply an older lifespan, so a changed one proves nothing.
        let is_known = log.is_some_and(|log| !log.lifespan_changed);
        if facts.clocks_agree && is_known && limit != Duration::INFINITE && age > limit + SLACK {
            let id = reader.id;
            complaints
                .push(format!("reader {id} got number {number} of writer {writer} after {age} instead of {limit}"));
        }
    }
}

fn received(writer: &WriterLog, reader: &ReaderLog) -> Vec<i64> {
    let handle = InstanceHandle::from(writer.guid);
    let from_writer = reader.got.iter().filter(|got| got.writer == handle && got.data.is_some());
    from_writer.map(|got| got.sequence).collect()
}

/// Checks that each instance arrives in order and without duplicates.
///
/// A batch groups samples by instance. If the reader lost the writer in between, the history arrives again, as to any
/// late joiner.
fn in_order_and_once(writer: &WriterLog, reader: &ReaderLog, complain: &mut impl FnMut(String)) {
    let mut last: BTreeMap<u32, (i64, usize)> = BTreeMap::new();
    for number in received(writer, reader) {
        let Some(entry) = writer.entries.get(number as usize - 1) else { continue };
        // PRESENTATION: ordered beyond single instances.
        let view = &reader.presentation;
        // Samples that TIME_BASED_FILTER delays appear late.
        let is_ordered = view.ordered_access
            && view.access_scope >= AccessScope::Topic
            && reader.qos.time_based_filter == Duration::ZERO;
        let (before, restarts) = last.entry(if is_ordered { 0 } else { entry.instance }).or_insert((0, 0));
        // Only a writer that was lost in between may start its history again.
        if *before >= number {
            *restarts += 1;
            if *restarts > reader.with(writer).partings {
                complain(format!("{before} came before {number}"));
            }
        }
        *before = number;
    }
}

/// Checks that later takes of a reliable KEEP_ALL pair contain later samples.
///
/// The pair was never separated. Every number after a complete take is above all numbers taken until then, in all
/// instances. Within one take the order may differ, because it groups samples by instance. No reader here requests the
/// order of source timestamps.
fn rounds_in_order(writer: &WriterLog, reader: &ReaderLog, complain: &mut impl FnMut(String)) {
    let keeps_all = depth(writer.qos.history).is_none() && depth(reader.qos.history).is_none();
    let is_reliable = writer.qos.reliability.is_reliable() && reader.qos.reliability.is_reliable();
    let comes_at_once = reader.qos.time_based_filter == Duration::ZERO;
    // KEEP_LAST and time-based filters reorder takes, so only complete streams count.
    if !(keeps_all && is_reliable && comes_at_once) || reader.with(writer).partings > 0 {
        return;
    }
    let handle = InstanceHandle::from(writer.guid);
    let (mut round, mut taken_before, mut highest) = (0, 0, 0);
    for got in reader.got.iter().filter(|got| got.writer == handle && got.data.is_some()) {
        // The first sample of a later take: all earlier takes are complete now.
        if got.round > round {
            (round, taken_before) = (got.round, highest);
        }
        if got.sequence <= taken_before {
            complain(format!("{} comes in round {round}, {taken_before} came before", got.sequence));
        }
        highest = highest.max(got.sequence);
    }
}

/// First sequence numbers that a reader is entitled to.
struct Owed {
    /// Including the history.
    first: i64,
    /// Since the two are matched.
    since: i64,
}

/// First sequence numbers that the reader is entitled to. `None`: it is entitled to none.
fn owed_from(writer: &WriterLog, reader: &ReaderLog) -> Option<Owed> {
    let reliable = writer.qos.reliability.is_reliable() && reader.qos.reliability.is_reliable();
    if !reliable || writer.ended || reader.ended {
        return None;
    }
    let (moment, since) = *writer.matched_since.get(&InstanceHandle::from(reader.guid))?;
    let seen = reader.with(writer);
    // The match ended after the writer's view of it began, so the two sides disagree about its start.
    if seen.partings > 0 && seen.parted_at >= moment {
        return None;
    }
    // Durability below TRANSIENT_LOCAL on either side means no history.
    let has_history =
        writer.qos.durability >= Durability::TransientLocal && reader.qos.durability >= Durability::TransientLocal;
    // A limited history evicted samples that all readers had acknowledged, to get room.
    let kept = writer.qos.resource_limits.max_samples.map_or(since - 1, i64::from);
    let mut first = if has_history { (since - kept).max(1) } else { since };
    if let Some(limit) = writer.qos.resource_limits.max_samples.filter(|_| writer.demotes) {
        // A reader that the writer did not wait for gets repairs only within the history.
        first = first.max(i64::from(writer.next_number()) - i64::from(limit));
    }
    Some(Owed { first, since })
}

/// Checks that a reliable pair, never separated, has delivered all samples that both histories keep.
fn nothing_missing(writer: &WriterLog, reader: &ReaderLog, complain: &mut impl FnMut(String)) {
    let Some(Owed { first, since }) = owed_from(writer, reader) else { return };
    let received: BTreeSet<i64> = received(writer, reader).into_iter().collect();
    let missing: Vec<i64> = writer.owed(first, since, reader).difference(&received).copied().collect();
    if !missing.is_empty() {
        complain(format!("of {} written, from {first} on, these are missing: {missing:?}", writer.entries.len()));
    }
}

/// Checks that a reader with coherent access gets each set completely in one take, or not at all.
fn sets_are_whole(writer: &WriterLog, reader: &ReaderLog, complain: &mut impl FnMut(String)) {
    // History, lifespan, ownership and time-based filter remove samples from the middle of a set.
    let qos = &reader.qos;
    let keeps_all = depth(qos.history).is_none() && qos.time_based_filter == Duration::ZERO;
    let is_bound = reader.presentation.coherent_access && keeps_all && qos.ownership == Ownership::Shared;
    // Expired samples leave holes in sets.
    if !is_bound || writer.is_mortal() {
        return;
    }
    let mut rounds: BTreeMap<i64, usize> = BTreeMap::new();
    let handle = InstanceHandle::from(writer.guid);
    for got in reader.got.iter().filter(|got| got.writer == handle && got.data.is_some()) {
        rounds.entry(got.sequence).or_insert(got.round);
    }
    for (first, samples) in writer.sets() {
        // Samples that may fail the filter at some time are optional.
        let wanted = samples.iter().filter(|number| {
            let entry = &writer.entries[**number as usize - 1];
            reader.must_see(writer.id, entry, **number)
        });
        let at: BTreeSet<Option<usize>> = wanted.map(|number| rounds.get(number).copied()).collect();
        // One entry means one take, or no sample at all.
        if at.len() > 1 {
            complain(format!("of the set from {first} on, {samples:?}, parts came at {at:?}"));
        }
    }
}

/// Checks the reader's last state of each instance with one writer.
///
/// It equals the last action on the instance. An instance without writers is not alive.
fn last_state_known(writer: &WriterLog, reader: &ReaderLog, complain: &mut impl FnMut(String)) {
    let owed_from = owed_from(writer, reader);
    let (first, since) = owed_from.as_ref().map_or((0, 0), |owed| (owed.first, owed.since));
    let not_owed = writer.sets_not_owed(first, since, reader);
    let is_of_dropped_set = |number: i64| {
        writer.entries.get(number as usize - 1).and_then(|entry| entry.set).is_some_and(|set| not_owed.contains(&set))
    };
    let received: BTreeSet<i64> = received(writer, reader).into_iter().collect();
    for (instance, (number, what)) in writer.last_of_instances() {
        let is_instance = |got: &&Got| got.data.is_some_and(|(_, _, known, _)| known == instance);
        // A reader that never received the instance need not learn of its end.
        let Some(known) = reader.got.iter().find(is_instance).map(|got| got.instance) else { continue };
        let Some(last) = reader.got.iter().rev().find(|got| got.instance == known) else { continue };
        // With several writers the state depends on all of them. A filter may hide the end of an instance.
        if instance >= SHARED || reader.ended || reader.filters.iter().any(|(_, filter)| !filter.passes_end(instance)) {
            continue;
        }
        let expected = match what {
            _ if writer.ended => None,
            _ if owed_from.as_ref().is_none_or(|owed| number < owed.first) => continue,
            // An unregister is not part of the history, so a writer drops it. A reader that the writer did not know yet
            // may have received samples on their way to other readers of its process.
            Written::Unregister { .. } if owed_from.as_ref().is_some_and(|owed| number < owed.since) => continue,
            // A dropped set includes the ends of instances in it.
            _ if is_of_dropped_set(number) => continue,
            Written::Dispose | Written::Unregister { disposes: true } => Some(InstanceState::NotAliveDisposed),
            Written::Unregister { disposes: false } => Some(InstanceState::NotAliveNoWriters),
            // A writer that was not alive for a while does not count as a writer of the instance until it writes it
            // again.
            Written::Data if !writer.qos.liveliness.lease_duration.is_infinite() => continue,
            Written::Data if last.sequence == number && reader.with(writer).partings == 0 => Some(InstanceState::Alive),
            Written::Data | Written::EndOfSet => continue,
        };
        let fits = match expected {
            // A reader that received nothing of the last life knows the end of the life before.
            Some(InstanceState::NotAliveNoWriters) if last.state == InstanceState::NotAliveDisposed => {
                writer.last_life_may_be_unseen(instance, number, &received, reader)
            }
            // KEEP_LAST may have replaced the dispose by the unregister after it.
            Some(InstanceState::NotAliveDisposed) if last.state == InstanceState::NotAliveNoWriters => {
                (writer.is_plain_end(number) && depth(writer.qos.history).is_some())
                    || writer.return_may_be_unseen(instance, number, &received, reader)
            }
            Some(expected) => last.state == expected,
            // The writer is closed, and not every reader knows in which way.
            None => last.state != InstanceState::Alive,
        };
        // Report the state and the last action, because the cause may be on either side.
        if !fits {
            let state = last.state;
            complain(format!("instance {instance}, last {what:?} with {number}, is {state:?} to the reader"));
        }
    }
}
