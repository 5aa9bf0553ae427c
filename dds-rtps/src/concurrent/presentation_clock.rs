//! What the writers of one publisher share under PRESENTATION: whether a coherent set is open, and the group sequence numbers
//! (DDS 1.4, 2.2.3.6; RTPS 2.5, 8.7.5 and 8.7.6).
//!
//! Bound: the writers of one publisher.

use crate::qos::Presentation;
use crate::types::{EntityId, SequenceNumber};
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

/// The place of a change among those of all writers of a publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupPosition {
    /// Its group sequence number. They begin with 1.
    pub number: SequenceNumber,
    /// The coherent set that it belongs to or ends, by the group sequence number of its first change.
    pub set: Option<SequenceNumber>,
    /// Digest of the writers of the publisher.
    pub writers: [u8; 4],
}

/// Which set ends. Each writer of the publisher is to be told.
#[derive(Debug, Clone, Copy)]
pub struct EndedSet {
    pub(crate) set: u64,
    /// The group sequence number of its first change.
    first: Option<SequenceNumber>,
}

/// What the clock says of a change.
pub(crate) struct PresentationStamp {
    pub(crate) set: Option<u64>,
    pub(crate) group: Option<GroupPosition>,
}

impl PresentationClock {
    /// A clock for the writers of a publisher; `None`: nothing is to be said of their changes.
    #[must_use]
    pub fn new(presentation: Presentation) -> Option<Arc<Self>> {
        // Within one writer the order is that of its numbers in any case.
        let (coherent_access, group) = (presentation.coherent_access, presentation.is_of_group());
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

    pub(crate) fn add(&self, writer: EntityId) {
        let mut state = self.state();
        if self.group && !state.writers.iter().any(|(known, _)| *known == writer) {
            state.writers.push((writer, SequenceNumber::ZERO));
            state.digest = digest(&state.writers);
        }
    }

    /// The next change is one of `writer`.
    pub(crate) fn stamp(&self, writer: EntityId) -> PresentationStamp {
        let mut state = self.state();
        let set = (state.depth > 0 && self.coherent).then_some(state.set);
        if !self.group {
            return PresentationStamp { set, group: None };
        }
        let number = state.advance(writer);
        let first = set.map(|_| *state.set_first.get_or_insert(number));
        PresentationStamp { set, group: Some(GroupPosition { number, set: first, writers: state.digest }) }
    }

    /// The number that ends a set is one of `writer`.
    pub(crate) fn stamp_end(&self, writer: EntityId, ended: EndedSet) -> Option<GroupPosition> {
        let first = ended.first?;
        let mut state = self.state();
        let number = state.advance(writer);
        Some(GroupPosition { number, set: Some(first), writers: state.digest })
    }

    pub(crate) fn group_info(&self) -> (SequenceNumber, [u8; 4]) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::AccessScope;

    fn presentation(access_scope: AccessScope, coherent_access: bool) -> Presentation {
        Presentation { access_scope, coherent_access, ordered_access: !coherent_access }
    }

    fn entity(number: u8) -> EntityId {
        EntityId([0, 0, number, 2])
    }

    #[test]
    fn a_clock_is_there_for_whom_it_has_something_to_say() {
        let clock = |scope, coherent| PresentationClock::new(presentation(scope, coherent));
        assert!(clock(AccessScope::Instance, false).is_none());
        assert!(clock(AccessScope::Topic, false).is_none());
        assert!(!clock(AccessScope::Topic, true).unwrap().is_group());
    }

    #[test]
    fn the_outermost_end_ends_a_set() {
        let clock = PresentationClock::new(presentation(AccessScope::Topic, true)).unwrap();
        assert!(clock.end_set().is_none(), "none is open");
        assert_eq!(clock.stamp(entity(1)).set, None);
        for set in 1..=2 {
            clock.begin_set();
            assert_eq!(clock.stamp(entity(1)).set, Some(set));
            clock.begin_set();
            assert_eq!(clock.stamp(entity(1)).set, Some(set));
            assert!(clock.end_set().is_none());
            assert_eq!(clock.stamp(entity(2)).set, Some(set));
            let ended = clock.end_set().unwrap();
            assert_eq!(ended.set, set);
            assert_eq!(clock.stamp_end(entity(1), ended), None, "there is no group");
            assert_eq!(clock.stamp(entity(1)).set, None);
            assert!(clock.stamp(entity(1)).group.is_none());
        }
    }

    #[test]
    fn the_writers_of_a_group_share_numbers() {
        let clock = PresentationClock::new(presentation(AccessScope::Group, true)).unwrap();
        let number = SequenceNumber;
        assert!(clock.is_group());
        assert_eq!(clock.group_info(), (number(0), [0; 4]));
        clock.add(entity(1));
        let (_, alone) = clock.group_info();
        clock.add(entity(1));
        assert_eq!(clock.group_info().1, alone, "it is there once");
        clock.add(entity(2));
        let (_, both) = clock.group_info();
        assert!(alone != both && alone != [0; 4]);
        let position = |number, set| Some(GroupPosition { number, set, writers: both });
        assert_eq!(clock.stamp(entity(1)).group, position(number(1), None));
        assert_eq!(clock.stamp(entity(2)).group, position(number(2), None));
        assert_eq!(clock.last_of(entity(1)), (number(2), number(1)));
        assert_eq!(clock.last_of(entity(3)), (number(2), number(0)));
        clock.begin_set();
        assert_eq!(clock.stamp(entity(1)).group, position(number(3), Some(number(3))));
        assert_eq!(clock.stamp(entity(2)).group, position(number(4), Some(number(3))));
        let ended = clock.end_set().unwrap();
        assert_eq!(clock.stamp_end(entity(1), ended), position(number(5), Some(number(3))));
        assert_eq!(clock.last_of(entity(1)), (number(5), number(5)));
        clock.begin_set();
        let empty = clock.end_set().unwrap();
        assert_eq!(clock.stamp_end(entity(1), empty), None, "nothing was in it");
        clock.begin_set();
        assert_eq!(clock.stamp(entity(1)).group, position(number(6), Some(number(6))));
        clock.remove(entity(2));
        assert_eq!(clock.group_info(), (number(6), alone));
    }

    #[test]
    fn a_group_that_is_ordered_only_has_no_sets_and_others_no_group() {
        let clock = PresentationClock::new(presentation(AccessScope::Group, false)).unwrap();
        clock.begin_set();
        let stamp = clock.stamp(entity(1));
        assert_eq!((stamp.set, stamp.group.unwrap().set), (None, None));
        assert!(clock.end_set().is_none());
        let clock = PresentationClock::new(presentation(AccessScope::Topic, true)).unwrap();
        clock.add(entity(1));
        assert_eq!(clock.group_info().1, [0; 4]);
    }
}
