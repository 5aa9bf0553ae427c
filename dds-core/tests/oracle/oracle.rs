//! What every reader must have got, and what it must not.

use dds_core::qos::{DataReaderQos, DataWriterQos, Durability, History};
use dds_core::{Guid, InstanceHandle, InstanceState};
use std::collections::{BTreeMap, BTreeSet};

/// What a writer did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    Data,
    Dispose,
}

/// One thing that a writer did; its place in the log plus one is its sequence number.
#[derive(Debug, Clone, Copy)]
struct Entry {
    instance: u32,
    what: Written,
}

pub(crate) struct WriterLog {
    pub(crate) id: u32,
    pub(crate) guid: Guid,
    pub(crate) topic: &'static str,
    pub(crate) qos: DataWriterQos,
    entries: Vec<Entry>,
    /// For each reader that is matched without a break: when that began, and the first sequence number since.
    matched_since: BTreeMap<InstanceHandle, (u64, i64)>,
    matches: u32,
    /// Closed or crashed.
    ended: bool,
}

/// What a reader got.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) writer: InstanceHandle,
    pub(crate) sequence: i64,
    pub(crate) state: InstanceState,
    pub(crate) instance: InstanceHandle,
    /// Writer, number, instance, padding.
    pub(crate) data: Option<(u32, u32, u32, Vec<u8>)>,
}

pub(crate) struct ReaderLog {
    pub(crate) id: u32,
    pub(crate) guid: Guid,
    pub(crate) topic: &'static str,
    pub(crate) qos: DataReaderQos,
    got: Vec<Got>,
    /// For each writer: whether it is matched now, how often it has gone, and when it went last.
    matched: BTreeMap<InstanceHandle, Match>,
    matches: u32,
    ended: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Match {
    now: bool,
    partings: usize,
    parted_at: u64,
}

fn handles(guids: &[Guid]) -> BTreeSet<InstanceHandle> {
    guids.iter().map(|guid| InstanceHandle::from_guid(*guid)).collect()
}

impl WriterLog {
    pub(crate) fn new(id: u32, guid: Guid, topic: &'static str, qos: DataWriterQos) -> Self {
        Self { id, guid, topic, qos, entries: Vec::new(), matched_since: BTreeMap::new(), matches: 0, ended: false }
    }

    /// The number that the next sample carries: its sequence number.
    pub(crate) fn next_number(&self) -> u32 {
        self.entries.len() as u32 + 1
    }

    pub(crate) fn note(&mut self, instance: u32, what: Written) {
        self.entries.push(Entry { instance, what });
    }

    /// Takes note of who is matched at this moment; `total` is how many matches there have ever been.
    pub(crate) fn watch(&mut self, moment: u64, matched: &[Guid], total: u32) {
        let matched = handles(matched);
        let new = matched.iter().filter(|reader| !self.matched_since.contains_key(reader)).count() as u32;
        if total - self.matches != new {
            // Somebody went and came back between two looks; nobody can tell who.
            self.matched_since.clear();
        }
        self.matches = total;
        let next = i64::from(self.next_number());
        self.matched_since.retain(|reader, _| matched.contains(reader));
        for reader in matched {
            self.matched_since.entry(reader).or_insert((moment, next));
        }
    }

    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// The sequence numbers that a reader must have got in the end, of those from `first` on: all, or the newest of each
    /// instance that the history keeps.
    fn owed(&self, first: i64, depth: Option<u32>) -> BTreeSet<i64> {
        let mut kept: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
        for (index, entry) in self.entries.iter().enumerate() {
            kept.entry(entry.instance).or_default().push(index as i64 + 1);
        }
        let newest = |numbers: Vec<i64>| {
            let keep = depth.map_or(numbers.len(), |depth| depth as usize).min(numbers.len());
            numbers[numbers.len() - keep..].to_vec()
        };
        kept.into_values().flat_map(newest).filter(|number| *number >= first).collect()
    }
}

impl ReaderLog {
    pub(crate) fn new(id: u32, guid: Guid, topic: &'static str, qos: DataReaderQos) -> Self {
        Self { id, guid, topic, qos, got: Vec::new(), matched: BTreeMap::new(), matches: 0, ended: false }
    }

    pub(crate) fn note(&mut self, got: Got) {
        self.got.push(got);
    }

    /// Takes note of who is matched at this moment; `total` is how many matches there have ever been.
    pub(crate) fn watch(&mut self, moment: u64, matched: &[Guid], total: u32) {
        let matched = handles(matched);
        let is_new = |writer: &&InstanceHandle| !self.matched.get(writer).is_some_and(|known| known.now);
        let unseen = total - self.matches != matched.iter().filter(is_new).count() as u32;
        self.matches = total;
        for (writer, known) in &mut self.matched {
            if known.now && (unseen || !matched.contains(writer)) {
                known.partings += 1;
                known.parted_at = moment;
                known.now = false;
            }
        }
        matched.into_iter().for_each(|writer| self.matched.entry(writer).or_default().now = true);
    }

    fn with(&self, writer: &WriterLog) -> Match {
        self.matched.get(&InstanceHandle::from_guid(writer.guid)).copied().unwrap_or_default()
    }

    pub(crate) fn end(&mut self) {
        self.ended = true;
    }
}

/// Everything that is not as it was promised.
pub(crate) fn complaints(writers: &[&WriterLog], readers: &[&ReaderLog]) -> Vec<String> {
    let mut complaints = Vec::new();
    for reader in readers {
        nothing_invented(writers, reader, &mut complaints);
        for writer in writers {
            let mut complain = |what: String| {
                complaints.push(format!(
                    "writer {} to reader {} ({}): {what}",
                    writer.id,
                    reader.id,
                    describe(writer, reader)
                ));
            };
            in_order_and_once(writer, reader, &mut complain);
            nothing_missing(writer, reader, &mut complain);
            last_state_known(writer, reader, &mut complain);
        }
    }
    complaints
}

fn describe(writer: &WriterLog, reader: &ReaderLog) -> String {
    format!(
        "{:?} {:?} {:?} to {:?} {:?} {:?}",
        writer.qos.reliability.is_reliable(),
        writer.qos.history,
        writer.qos.durability,
        reader.qos.reliability.is_reliable(),
        reader.qos.history,
        reader.qos.durability
    )
}

/// Every sample is one that its writer has written, in full.
fn nothing_invented(writers: &[&WriterLog], reader: &ReaderLog, complaints: &mut Vec<String>) {
    for got in &reader.got {
        let Some((writer, number, instance, padding)) = &got.data else { continue };
        let log = writers.iter().find(|log| log.id == *writer && log.topic == reader.topic);
        let entry = log.and_then(|log| log.entries.get(*number as usize - 1));
        let fits = entry.is_some_and(|entry| entry.instance == *instance && entry.what == Written::Data);
        if !fits || i64::from(*number) != got.sequence || padding.iter().any(|byte| *byte != 7) {
            complaints.push(format!(
                "reader {} got number {number} of writer {writer}, which is not what was written",
                reader.id
            ));
        }
    }
}

fn received(writer: &WriterLog, reader: &ReaderLog) -> Vec<i64> {
    let handle = InstanceHandle::from_guid(writer.guid);
    let from_writer = reader.got.iter().filter(|got| got.writer == handle && got.data.is_some());
    from_writer.map(|got| got.sequence).collect()
}

/// Each instance in the order in which it was written (a batch groups samples by instance), and nothing twice, unless the
/// reader has lost the writer in between: then what it kept comes again, as to any reader that joins late.
fn in_order_and_once(writer: &WriterLog, reader: &ReaderLog, complain: &mut impl FnMut(String)) {
    let mut last: BTreeMap<u32, (i64, usize)> = BTreeMap::new();
    for number in received(writer, reader) {
        let Some(entry) = writer.entries.get(number as usize - 1) else { continue };
        let (before, restarts) = last.entry(entry.instance).or_insert((0, 0));
        if *before >= number {
            *restarts += 1;
            if *restarts > reader.with(writer).partings {
                complain(format!("{before} came before {number}"));
            }
        }
        *before = number;
    }
}

fn depth(history: History) -> Option<u32> {
    match history {
        History::KeepLast { depth } => Some(depth),
        History::KeepAll => None,
    }
}

/// From which sequence number on the reader is owed what the writer writes; `None`: nothing is owed.
fn owed_from(writer: &WriterLog, reader: &ReaderLog) -> Option<i64> {
    let reliable = writer.qos.reliability.is_reliable() && reader.qos.reliability.is_reliable();
    if !reliable || writer.ended || reader.ended || writer.topic != reader.topic {
        return None;
    }
    let (moment, since) = *writer.matched_since.get(&InstanceHandle::from_guid(reader.guid))?;
    let seen = reader.with(writer);
    if seen.partings > 0 && seen.parted_at >= moment {
        return None;
    }
    let has_history =
        writer.qos.durability >= Durability::TransientLocal && reader.qos.durability >= Durability::TransientLocal;
    // A limited history has let go of what everybody had acknowledged, to make room.
    let kept = writer.qos.resource_limits.max_samples.map_or(since - 1, i64::from);
    Some(if has_history { (since - kept).max(1) } else { since })
}

/// A reliable pair that was never parted: what both histories keep has arrived.
fn nothing_missing(writer: &WriterLog, reader: &ReaderLog, complain: &mut impl FnMut(String)) {
    let Some(first) = owed_from(writer, reader) else { return };
    let depth = match (depth(writer.qos.history), depth(reader.qos.history)) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    let received: BTreeSet<i64> = received(writer, reader).into_iter().collect();
    let owed = writer
        .owed(first, depth)
        .into_iter()
        .filter(|number| writer.entries[*number as usize - 1].what == Written::Data);
    let missing: Vec<i64> = owed.filter(|number| !received.contains(number)).collect();
    if !missing.is_empty() {
        complain(format!("of {} written, from {first} on, these are missing: {missing:?}", writer.entries.len()));
    }
}

/// The last thing that the reader knows of an instance is the last thing that was done to it.
fn last_state_known(writer: &WriterLog, reader: &ReaderLog, complain: &mut impl FnMut(String)) {
    let Some(first) = owed_from(writer, reader) else { return };
    let mut last: BTreeMap<u32, (i64, Written)> = BTreeMap::new();
    for (index, entry) in writer.entries.iter().enumerate() {
        last.insert(entry.instance, (index as i64 + 1, entry.what));
    }
    let handle = InstanceHandle::from_guid(writer.guid);
    for (instance, (number, what)) in last {
        if number < first || what != Written::Dispose {
            continue;
        }
        let of_instance =
            reader.got.iter().find(|got| got.data.as_ref().is_some_and(|(_, _, known, _)| *known == instance));
        // A reader that has never seen it need not hear that it is gone.
        let Some(known) = of_instance.map(|got| got.instance) else { continue };
        let end = reader.got.iter().rev().find(|got| got.instance == known && got.writer == handle);
        if !end.is_some_and(|got| got.state == InstanceState::NotAliveDisposed) {
            complain(format!("instance {instance} was disposed of with {number}, and the reader does not know"));
        }
    }
}
