//! What the writers of a publisher share: coherent sets and the numbers of the group.

use super::*;
use crate::qos::{AccessScope, Presentation};

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
