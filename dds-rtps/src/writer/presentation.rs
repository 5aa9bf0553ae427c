//! Coherent sets, and the order over all writers of a publisher (DDS 1.4, 2.2.3.6; RTPS 2.5, 8.7.5 and 8.7.6).
//!
//! The writers of a publisher share a [`PresentationClock`]: it knows whether a set is open and gives out the group sequence
//! numbers. A writer asks it for each change, inside its own cell; what it answers goes with the change, to readers elsewhere
//! as inline QoS. A set of a writer ends with a number of its own that carries no change.
//!
//! Bound: the writers of one publisher.

use super::config::WriterConfig;
use super::stateful::StatefulWriter;
use crate::history::{CacheChange, ChangeKind, GroupPosition, Presented};
use crate::qos::{AccessScope, Presentation};
use crate::types::{EntityId, InstanceHandle, Now, SequenceNumber};
use crate::wire::HeartbeatGroupInfo;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the writers of one publisher have in common under PRESENTATION.
#[derive(Debug)]
pub struct PresentationClock {
    coherent: bool,
    group: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How often a set has been begun and not ended.
    depth: u32,
    /// Numbers the sets, so that a writer sees when another one has begun.
    set: u64,
    /// The group sequence number of the first change in the open set, if it has any.
    set_first: Option<SequenceNumber>,
    /// The last group sequence number given out.
    last: SequenceNumber,
    /// The writers, and the last group sequence number of each.
    writers: Vec<(EntityId, SequenceNumber)>,
    digest: [u8; 4],
}

/// Which set ends. Each writer of the publisher is to be told ([`StatefulWriter::end_set`]).
#[derive(Debug, Clone, Copy)]
pub struct EndedSet {
    set: u64,
    /// The group sequence number of its first change.
    first: Option<SequenceNumber>,
}

/// What the clock says of a change.
struct Stamp {
    set: Option<u64>,
    group: Option<GroupPosition>,
}

impl PresentationClock {
    /// A clock for the writers of a publisher; `None`: nothing is to be said of their changes.
    #[must_use]
    pub fn new(presentation: Presentation) -> Option<Arc<Self>> {
        let Presentation { access_scope, coherent_access, ordered_access } = presentation;
        // Within one writer the order is that of its numbers in any case.
        let group = access_scope == AccessScope::Group && (coherent_access || ordered_access);
        (coherent_access || group)
            .then(|| Arc::new(Self { coherent: coherent_access, group, state: Mutex::new(State::default()) }))
    }

    /// Held for some lines without a call of anybody else.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is written from now on belongs together, until as many ends have followed. Sets that are begun within a set belong
    /// to it.
    pub fn begin_set(&self) {
        let mut state = self.state();
        if state.depth == 0 {
            state.set += 1;
            state.set_first = None;
        }
        state.depth = state.depth.saturating_add(1);
    }

    /// Ends what was begun last. `Some`: that was the outermost one, and its writers are to say so.
    #[must_use]
    pub fn end_set(&self) -> Option<EndedSet> {
        let mut state = self.state();
        if state.depth == 0 {
            return None;
        }
        state.depth -= 1;
        (state.depth == 0 && self.coherent).then(|| EndedSet { set: state.set, first: state.set_first.take() })
    }

    /// Whether the writers of the publisher are ordered among each other.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.group
    }

    /// The last group sequence number of all writers, and of this one.
    #[must_use]
    pub fn last_of(&self, writer: EntityId) -> (SequenceNumber, SequenceNumber) {
        let state = self.state();
        let own = state.writers.iter().find(|(known, _)| *known == writer);
        (state.last, own.map_or(SequenceNumber::ZERO, |&(_, last)| last))
    }

    /// A writer of the publisher has gone.
    pub fn remove(&self, writer: EntityId) {
        let mut state = self.state();
        state.writers.retain(|(known, _)| *known != writer);
        state.digest = digest(&state.writers);
    }

    fn add(&self, writer: EntityId) {
        let mut state = self.state();
        if self.group && !state.writers.iter().any(|(known, _)| *known == writer) {
            state.writers.push((writer, SequenceNumber::ZERO));
            state.digest = digest(&state.writers);
        }
    }

    /// The next change is one of `writer`.
    fn stamp(&self, writer: EntityId) -> Stamp {
        let mut state = self.state();
        let set = (state.depth > 0 && self.coherent).then_some(state.set);
        if !self.group {
            return Stamp { set, group: None };
        }
        let number = state.advance(writer);
        let first = set.map(|_| *state.set_first.get_or_insert(number));
        Stamp { set, group: Some(GroupPosition { number, set: first, writers: state.digest }) }
    }

    /// The number that ends a set is one of `writer`.
    fn stamp_end(&self, writer: EntityId, ended: EndedSet) -> Option<GroupPosition> {
        let first = ended.first?;
        let mut state = self.state();
        let number = state.advance(writer);
        Some(GroupPosition { number, set: Some(first), writers: state.digest })
    }

    fn group_info(&self) -> (SequenceNumber, [u8; 4]) {
        let state = self.state();
        (state.last, state.digest)
    }
}

impl State {
    fn advance(&mut self, writer: EntityId) -> SequenceNumber {
        self.last = self.last.next();
        if let Some((_, last)) = self.writers.iter_mut().find(|(known, _)| *known == writer) {
            *last = self.last;
        }
        self.last
    }
}

/// The first four octets of the MD5 of the entity ids, sorted, as a big-endian sequence (RTPS 2.5, 9.3.2: `GroupDigest_t`).
fn digest(writers: &[(EntityId, SequenceNumber)]) -> [u8; 4] {
    let mut ids: Vec<[u8; 4]> = writers.iter().map(|(id, _)| id.0).collect();
    if ids.is_empty() {
        return [0; 4];
    }
    ids.sort_unstable();
    let mut bytes = (ids.len() as u32).to_be_bytes().to_vec();
    ids.iter().for_each(|id| bytes.extend_from_slice(id));
    let md5 = md5::compute(&bytes).0;
    [md5[0], md5[1], md5[2], md5[3]]
}

/// What one writer knows of it.
#[derive(Debug)]
pub(super) struct WriterPresentation {
    clock: Arc<PresentationClock>,
    writer: EntityId,
    /// The set in which it has written last, and the number of its first change in it.
    set: Option<(u64, SequenceNumber)>,
}

impl WriterPresentation {
    pub(super) fn new(config: &WriterConfig) -> Option<Box<Self>> {
        let clock = config.presentation.clone()?;
        let writer = config.guid.entity_id;
        clock.add(writer);
        Some(Box::new(Self { clock, writer, set: None }))
    }

    /// What goes with the change that gets this number.
    pub(super) fn present(&mut self, number: SequenceNumber) -> Option<Box<Presented>> {
        let Stamp { set, group } = self.clock.stamp(self.writer);
        // A change outside of any set ends the one before by itself.
        self.set = set.map(|set| self.set.filter(|(open, _)| *open == set).unwrap_or((set, number)));
        let set = self.set.map(|(_, first)| first);
        (set.is_some() || group.is_some()).then(|| Box::new(Presented { set, group, is_end: false }))
    }

    /// What goes with the number that ends a set; `None`: this writer has nothing to end. Under GROUP each writer says so,
    /// for that of another one may be lost.
    fn present_end(&mut self, ended: EndedSet) -> Option<(Option<SequenceNumber>, Box<Presented>)> {
        let first = self.set.take_if(|(set, _)| *set == ended.set).map(|(_, first)| first);
        let group = if self.clock.group { self.clock.stamp_end(self.writer, ended) } else { None };
        (first.is_some() || group.is_some()).then(|| (first, Box::new(Presented { set: None, group, is_end: true })))
    }
}

impl StatefulWriter {
    /// A set of the publisher has ended: uses up a number to tell the readers, if they have to be told. Local readers are
    /// given [`Self::change`] of it.
    pub fn end_set(&mut self, now: Now, ended: EndedSet) -> Option<SequenceNumber> {
        let (first, presented) = self.presentation.as_mut()?.present_end(ended)?;
        let sequence_number = self.last.next();
        let change = CacheChange {
            kind: ChangeKind::Alive,
            writer: self.config.guid,
            sequence_number,
            instance: InstanceHandle::NIL,
            source_timestamp: now.time,
            related_sample: None,
            origin: None,
            presented: Some(presented),
            payload: None,
        };
        let acknowledged = self.acknowledged();
        self.history.insert_end_of_set(change, first.unwrap_or(sequence_number), acknowledged);
        self.last = sequence_number;
        if self.batch.is_on() {
            self.add_to_batch(now);
        } else {
            self.batch.release(sequence_number);
        }
        self.skip_if_nobody_listens();
        Some(sequence_number)
    }

    /// What a HEARTBEAT says of the group (RTPS 2.5, 8.3.8.6).
    pub(super) fn group_info(&self) -> Option<HeartbeatGroupInfo> {
        let clock = &self.presentation.as_ref()?.clock;
        if !clock.group {
            return None;
        }
        let (mut current_gsn, writer_set) = clock.group_info();
        let number_of = |number| {
            let presented = self.history.get(number)?.change.presented.as_deref();
            Some(presented?.group?.number)
        };
        if let Some(held_back) = self.history.next_from(self.next).and_then(number_of) {
            // What has not left yet is not announced.
            current_gsn = held_back.previous();
        }
        let gsn = |number: Option<SequenceNumber>| number.and_then(number_of).unwrap_or(SequenceNumber::ZERO);
        Some(HeartbeatGroupInfo {
            current_gsn,
            first_gsn: gsn(self.history.first()),
            last_gsn: gsn(self.history.last()),
            writer_set,
            secure_writer_set: [0; 4],
        })
    }
}
