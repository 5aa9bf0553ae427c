//! The state of a publisher's writers under PRESENTATION: open coherent sets and group sequence numbers (DDS 1.4,
//! 2.2.3.6; RTPS 2.5, 8.7.5 and 8.7.6).
//!
//! Bound: the writers of one publisher.

use crate::qos::Presentation;
use crate::types::{EntityId, SequenceNumber};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state that the writers of one publisher share under PRESENTATION.
#[derive(Debug)]
pub struct PresentationClock {
    coherent: bool,
    group: bool,
    state: Mutex<ClockState>,
}

#[derive(Debug, Default)]
struct ClockState {
    /// How many sets were begun and not ended.
    depth: u32,
    /// Numbers the sets, so that a writer notices a new one.
    set: u64,
    /// The group sequence number of the first change in the open set.
    set_first: Option<SequenceNumber>,
    /// The last group sequence number.
    last: SequenceNumber,
    /// The writers, and the last group sequence number of each.
    writers: Vec<(EntityId, SequenceNumber)>,
    digest: [u8; 4],
}

/// The position of a change among the changes of all writers of a publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupPosition {
    /// The group sequence number, from 1.
    pub number: SequenceNumber,
    /// The coherent set of the change: the group sequence number of its first change.
    pub set: Option<SequenceNumber>,
    /// Digest of the writers of the publisher.
    pub writers: [u8; 4],
}

/// A coherent set that ends. Each writer of the publisher must be notified.
#[derive(Debug, Clone, Copy)]
pub struct EndedSet {
    pub(crate) set: u64,
    /// The group sequence number of its first change.
    first: Option<SequenceNumber>,
}

/// The set and the group position of a new change.
pub(crate) struct PresentationStamp {
    pub(crate) set: Option<u64>,
    pub(crate) group: Option<GroupPosition>,
}

impl PresentationClock {
    /// A clock for the writers of a publisher; `None` if they need none.
    #[must_use]
    pub fn new(presentation: Presentation) -> Option<Arc<Self>> {
        // The order within one writer is that of its sequence numbers in any case.
        let (coherent, group) = (presentation.coherent_access, presentation.is_of_group());
        if !coherent && !group {
            return None;
        }
        Some(Arc::new(Self { coherent, group, state: Mutex::new(ClockState::default()) }))
    }

    /// Locks the state, for a few lines without calls into other objects.
    fn state(&self) -> MutexGuard<'_, ClockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a coherent set, or enters the open one once more. It ends after as many calls of
    /// [`PresentationClock::end_set`].
    pub fn begin_set(&self) {
        let mut state = self.state();
        // Nested sets are one set, which ends with the outermost one.
        if state.depth == 0 {
            state.set += 1;
        }
        state.depth = state.depth.saturating_add(1);
    }

    /// Leaves the open coherent set. Returns the set if that ends it.
    #[must_use]
    pub fn end_set(&self) -> Option<EndedSet> {
        let mut state = self.state();
        if state.depth == 0 {
            return None;
        }
        state.depth -= 1;
        if state.depth > 0 || !self.coherent {
            return None;
        }
        Some(EndedSet { set: state.set, first: state.set_first.take() })
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
        for &(known, last) in &state.writers {
            if known == writer {
                return (state.last, last);
            }
        }
        (state.last, SequenceNumber::ZERO)
    }

    /// Removes a deleted writer.
    pub fn remove(&self, writer: EntityId) {
        let mut state = self.state();
        state.writers.retain(|(known, _)| *known != writer);
        state.digest = digest(&state.writers);
    }

    /// Adds a writer, unless it is known.
    pub(crate) fn add(&self, writer: EntityId) {
        let mut state = self.state();
        if self.group && !state.writers.iter().any(|(known, _)| *known == writer) {
            state.writers.push((writer, SequenceNumber::ZERO));
            state.digest = digest(&state.writers);
        }
    }

    /// Stamps the next change, which `writer` writes.
    pub(crate) fn stamp(&self, writer: EntityId) -> PresentationStamp {
        let mut state = self.state();
        let set = if state.depth > 0 && self.coherent { Some(state.set) } else { None };
        if !self.group {
            return PresentationStamp { set, group: None };
        }
        let number = state.advance(writer);
        let mut first = None;
        if set.is_some() {
            // The number of its first change names the set.
            first = Some(*state.set_first.get_or_insert(number));
        }
        PresentationStamp { set, group: Some(GroupPosition { number, set: first, writers: state.digest }) }
    }

    /// Stamps the change by which `writer` ends a set. `None` if the set is empty or the writers are no group.
    pub(crate) fn stamp_end(&self, writer: EntityId, ended: EndedSet) -> Option<GroupPosition> {
        let first = ended.first?;
        let mut state = self.state();
        let number = state.advance(writer);
        debug_assert!(first < number, "a set begins before it ends");
        Some(GroupPosition { number, set: Some(first), writers: state.digest })
    }

    /// The last group sequence number and the digest of the writers.
    pub(crate) fn group_info(&self) -> (SequenceNumber, [u8; 4]) {
        let state = self.state();
        (state.last, state.digest)
    }
}

impl ClockState {
    /// Takes the next group sequence number for a writer.
    fn advance(&mut self, writer: EntityId) -> SequenceNumber {
        self.last = self.last.next();
        for (known, last) in &mut self.writers {
            if *known == writer {
                *last = self.last;
                break;
            }
        }
        self.last
    }
}

/// The group digest (RTPS 2.5, 9.3.2: `GroupDigest_t`).
///
/// The first four bytes of the MD5 of the sorted entity ids as a big-endian sequence.
fn digest(writers: &[(EntityId, SequenceNumber)]) -> [u8; 4] {
    let mut ids = Vec::with_capacity(writers.len());
    for (id, _) in writers {
        ids.push(id.0);
    }
    if ids.is_empty() {
        return [0; 4];
    }
    // The digest identifies a set of writers, so it must not depend on the order of their creation.
    ids.sort_unstable();
    let mut bytes = (ids.len() as u32).to_be_bytes().to_vec();
    for id in &ids {
        bytes.extend_from_slice(id);
    }
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
    fn clock_exists_only_if_it_is_needed() {
        let clock = |scope, coherent| PresentationClock::new(presentation(scope, coherent));
        assert!(clock(AccessScope::Instance, false).is_none());
        assert!(clock(AccessScope::Topic, false).is_none());
        assert!(!clock(AccessScope::Topic, true).unwrap().is_group());
    }

    #[test]
    fn outermost_end_ends_the_set() {
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
    fn writers_of_a_group_share_numbers() {
        let clock = PresentationClock::new(presentation(AccessScope::Group, true)).unwrap();
        let number = SequenceNumber;
        assert!(clock.is_group());
        assert_eq!(clock.group_info(), (number(0), [0; 4]));
        clock.add(entity(1));
        let (_, alone) = clock.group_info();
        clock.add(entity(1));
        assert_eq!(clock.group_info().1, alone, "a writer is counted once");
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
        assert_eq!(clock.stamp_end(entity(1), empty), None, "the set was empty");
        clock.begin_set();
        assert_eq!(clock.stamp(entity(1)).group, position(number(6), Some(number(6))));
        clock.remove(entity(2));
        assert_eq!(clock.group_info(), (number(6), alone));
    }

    #[test]
    fn ordered_group_has_no_sets_and_topic_no_group() {
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
