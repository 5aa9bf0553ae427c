//! What every reader must have got, and what it must not.

use super::logs::{Entry, Got, ReaderLog, SHARED, WriterLog, Written, depth};
use super::policies::{describe_reader, describe_writer};
use dds_core::qos::{AccessScope, Durability, Ownership};
use dds_core::{Duration, InstanceHandle, InstanceState};
use std::collections::{BTreeMap, BTreeSet};

/// How late a timer, and the taking of a sample, may be in a world that works.
const SLACK: Duration = Duration::from_millis(20);

/// What is known of the world beside the logs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// All clocks show the same.
    pub(crate) clocks_agree: bool,
}

/// Everything that is not as it was promised.
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

/// Every sample is one that its writer has written, in full, and not too long ago.
fn nothing_invented(writers: &[&WriterLog], reader: &ReaderLog, facts: Facts, complaints: &mut Vec<String>) {
    for got in &reader.got {
        let Some((writer, number, instance, is_whole)) = got.data else { continue };
        let log = writers.iter().find(|log| log.id == writer && log.topic == reader.topic);
        let entry = log.and_then(|log| log.entries.get(number as usize - 1));
        let fits = |entry: &&Entry| entry.instance == instance && entry.what == Written::Data;
        let Some(entry) = entry.filter(fits).filter(|_| is_whole && i64::from(number) == got.sequence) else {
            let what = "which is not what was written";
            complaints.push(format!("reader {} got number {number} of writer {writer}, {what}", reader.id));
            continue;
        };
        if !reader.may_see(writer, entry, got.sequence) {
            complaints.push(format!("reader {} got number {number} of writer {writer}, and its filter", reader.id));
        }
        let (age, limit) = (got.at - entry.at, entry.lifespan);
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

/// Each instance in the order in which it was written (a batch groups samples by instance), and nothing twice, unless the
/// reader has lost the writer in between: then what it kept comes again, as to any reader that joins late.
fn in_order_and_once(writer: &WriterLog, reader: &ReaderLog, complain: &mut impl FnMut(String)) {
    let mut last: BTreeMap<u32, (i64, usize)> = BTreeMap::new();
    for number in received(writer, reader) {
        let Some(entry) = writer.entries.get(number as usize - 1) else { continue };
        // PRESENTATION: in order beyond its instances.
        let view = &reader.presentation;
        // What TIME_BASED_FILTER has kept back is seen late.
        let is_ordered = view.ordered_access
            && view.access_scope >= AccessScope::Topic
            && reader.qos.time_based_filter == Duration::ZERO;
        let (before, restarts) = last.entry(if is_ordered { 0 } else { entry.instance }).or_insert((0, 0));
        if *before >= number {
            *restarts += 1;
            if *restarts > reader.with(writer).partings {
                complain(format!("{before} came before {number}"));
            }
        }
        *before = number;
    }
}

/// Of a reliable pair that keeps all and never parted, what is there later was written later: every number that comes after
/// everything had been taken is above all that were taken until then, whatever its instance. (Within one take it may be
/// another way round, as samples come by instance. Nobody here asks for the order of source timestamps.)
fn rounds_in_order(writer: &WriterLog, reader: &ReaderLog, complain: &mut impl FnMut(String)) {
    let keeps_all = depth(writer.qos.history).is_none() && depth(reader.qos.history).is_none();
    let is_reliable = writer.qos.reliability.is_reliable() && reader.qos.reliability.is_reliable();
    let comes_at_once = reader.qos.time_based_filter == Duration::ZERO;
    if !(keeps_all && is_reliable && comes_at_once) || reader.with(writer).partings > 0 {
        return;
    }
    let handle = InstanceHandle::from(writer.guid);
    let (mut round, mut taken_before, mut highest) = (0, 0, 0);
    for got in reader.got.iter().filter(|got| got.writer == handle && got.data.is_some()) {
        if got.round > round {
            (round, taken_before) = (got.round, highest);
        }
        if got.sequence <= taken_before {
            complain(format!("{} comes in round {round}, {taken_before} came before", got.sequence));
        }
        highest = highest.max(got.sequence);
    }
}

/// From which sequence numbers on something is owed.
struct Owed {
    /// Of the history as well.
    first: i64,
    /// Since the two are matched.
    since: i64,
}

/// From which sequence number on the reader is owed what the writer writes; `None`: nothing is owed.
fn owed_from(writer: &WriterLog, reader: &ReaderLog) -> Option<Owed> {
    let reliable = writer.qos.reliability.is_reliable() && reader.qos.reliability.is_reliable();
    if !reliable || writer.ended || reader.ended {
        return None;
    }
    let (moment, since) = *writer.matched_since.get(&InstanceHandle::from(reader.guid))?;
    let seen = reader.with(writer);
    if seen.partings > 0 && seen.parted_at >= moment {
        return None;
    }
    let has_history =
        writer.qos.durability >= Durability::TransientLocal && reader.qos.durability >= Durability::TransientLocal;
    // A limited history has let go of what everybody had acknowledged, to make room.
    let kept = writer.qos.resource_limits.max_samples.map_or(since - 1, i64::from);
    let mut first = if has_history { (since - kept).max(1) } else { since };
    if let Some(limit) = writer.qos.resource_limits.max_samples.filter(|_| writer.demotes) {
        // Who was not waited for any more has been repaired as far as the history reached.
        first = first.max(i64::from(writer.next_number()) - i64::from(limit));
    }
    Some(Owed { first, since })
}

/// A reliable pair that was never parted: what both histories keep has arrived.
fn nothing_missing(writer: &WriterLog, reader: &ReaderLog, complain: &mut impl FnMut(String)) {
    let Some(Owed { first, since }) = owed_from(writer, reader) else { return };
    let received: BTreeSet<i64> = received(writer, reader).into_iter().collect();
    let missing: Vec<i64> = writer.owed(first, since, reader).difference(&received).copied().collect();
    if !missing.is_empty() {
        complain(format!("of {} written, from {first} on, these are missing: {missing:?}", writer.entries.len()));
    }
}

/// A reader with coherent access gets of each set all that it wants, in one go, or nothing.
fn sets_are_whole(writer: &WriterLog, reader: &ReaderLog, complain: &mut impl FnMut(String)) {
    // What history, lifespan, ownership and time take away, they take out of the middle of a set.
    let qos = &reader.qos;
    let keeps_all = depth(qos.history).is_none() && qos.time_based_filter == Duration::ZERO;
    let is_bound = reader.presentation.coherent_access && keeps_all && qos.ownership == Ownership::Shared;
    if !is_bound || writer.is_mortal() {
        return;
    }
    let mut rounds: BTreeMap<i64, usize> = BTreeMap::new();
    let handle = InstanceHandle::from(writer.guid);
    for got in reader.got.iter().filter(|got| got.writer == handle && got.data.is_some()) {
        rounds.entry(got.sequence).or_insert(got.round);
    }
    for (first, samples) in writer.sets() {
        let wanted = samples.iter().filter(|number| {
            let entry = &writer.entries[**number as usize - 1];
            reader.must_see(writer.id, entry, **number)
        });
        let at: BTreeSet<Option<usize>> = wanted.map(|number| rounds.get(number).copied()).collect();
        if at.len() > 1 {
            complain(format!("of the set from {first} on, {samples:?}, parts came at {at:?}"));
        }
    }
}

/// The last thing that the reader knows of an instance with one writer is the last thing that was done to it, and what
/// nobody writes any more is not alive.
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
        // A reader that has never seen it need not hear that it is gone.
        let Some(known) = reader.got.iter().find(is_instance).map(|got| got.instance) else { continue };
        let Some(last) = reader.got.iter().rev().find(|got| got.instance == known) else { continue };
        if instance >= SHARED || reader.ended || reader.filters.iter().any(|(_, filter)| !filter.passes_end(instance)) {
            continue;
        }
        let expected = match what {
            _ if writer.ended => None,
            _ if owed_from.as_ref().is_none_or(|owed| number < owed.first) => continue,
            // What is unregistered is no history: a writer forgets it, although a reader that it did not know of yet may
            // have got samples that were on their way to others of its process.
            Written::Unregister { .. } if owed_from.as_ref().is_some_and(|owed| number < owed.since) => continue,
            // A set that is dropped is dropped with the ends in it.
            _ if is_of_dropped_set(number) => continue,
            Written::Dispose | Written::Unregister { disposes: true } => Some(InstanceState::NotAliveDisposed),
            Written::Unregister { disposes: false } => Some(InstanceState::NotAliveNoWriters),
            // Until it writes the instance again, a writer that was not alive for a while is none of its writers.
            Written::Data if !writer.qos.liveliness.lease_duration.is_infinite() => continue,
            Written::Data if last.sequence == number && reader.with(writer).partings == 0 => Some(InstanceState::Alive),
            Written::Data | Written::EndOfSet => continue,
        };
        let fits = match expected {
            // Who has seen nothing of its last life knows how the one before ended.
            Some(InstanceState::NotAliveNoWriters) if last.state == InstanceState::NotAliveDisposed => {
                writer.last_life_may_be_unseen(instance, number, &received, reader)
            }
            // KEEP_LAST may have put the end in the place of the dispose before it.
            Some(InstanceState::NotAliveDisposed) if last.state == InstanceState::NotAliveNoWriters => {
                (writer.is_plain_end(number) && depth(writer.qos.history).is_some())
                    || writer.return_may_be_unseen(instance, number, &received, reader)
            }
            Some(expected) => last.state == expected,
            // Its writer has gone: how, is not known to all.
            None => last.state != InstanceState::Alive,
        };
        if !fits {
            let state = last.state;
            complain(format!("instance {instance}, last {what:?} with {number}, is {state:?} to the reader"));
        }
    }
}
