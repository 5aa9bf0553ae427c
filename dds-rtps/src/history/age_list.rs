//! Instances in the order of a moment of each: of its last sample, or of its end.
//!
//! All instances of an endpoint have the same delay, so the one whose moment lies furthest back is the first that is due,
//! whatever the delay is: noting, forgetting and looking are O(1), and changing the delay costs nothing. Bound: an entry
//! for each place of an instance, 16 bytes, from the first one noted on.

use crate::types::{Duration, Instant};

/// No place; as an entry's neighbour, the end of the list.
const NOWHERE: u32 = u32::MAX;

/// As an entry's previous one: it is in no list.
const ABSENT: u32 = u32::MAX - 1;

/// The timer does not look more often than this: each look may cost a system call, and a delay of nothing is legal.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// The shortest DEADLINE that is watched: none is kept that is shorter.
const DEADLINE_MIN: Duration = Duration::from_micros(1);

/// How far back a moment is sorted in that lies before the present. One that is noted in time goes to the end; after a look
/// that was late, as after a process was stopped, one may stand behind later ones, and is due when these are: the count of
/// periods is right all the same.
const SORT_STEPS_MAX: usize = 64;

/// The instances of one endpoint in the order of their moments, and how long after it each is due.
#[derive(Debug)]
pub(super) struct AgeList {
    delay: Duration,
    entries: Vec<Entry>,
    first: u32,
    last: u32,
    /// The timer does not look before this.
    floor: Instant,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    previous: u32,
    next: u32,
    since: Instant,
}

impl Entry {
    const ABSENT: Self = Self { previous: ABSENT, next: ABSENT, since: Instant::ZERO };
}

impl AgeList {
    /// An empty list. With an infinite delay it stays so.
    pub(super) const fn new(delay: Duration) -> Self {
        Self { delay, entries: Vec::new(), first: NOWHERE, last: NOWHERE, floor: Instant::ZERO }
    }

    /// An empty list for a DEADLINE.
    pub(super) fn of_deadline(deadline: Duration) -> Self {
        Self::new(deadline.max(DEADLINE_MIN))
    }

    pub(super) const fn is_on(&self) -> bool {
        !self.delay.is_infinite()
    }

    pub(super) const fn delay(&self) -> Duration {
        self.delay
    }

    /// Changes the delay. Those in the list are due by the new one; an infinite one forgets them.
    pub(super) fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
        self.floor = Instant::ZERO;
        if delay.is_infinite() {
            *self = Self::new(delay);
        }
    }

    /// As [`AgeList::set_delay`], for a DEADLINE.
    pub(super) fn set_delay_of_deadline(&mut self, deadline: Duration) {
        self.set_delay(deadline.max(DEADLINE_MIN));
    }

    /// The instance's moment is `now`, which no other is later than.
    pub(super) fn note(&mut self, at: u32, now: Instant) {
        if at == self.last {
            self.entries[at as usize].since = now;
        } else if self.is_on() {
            self.forget(at);
            self.insert(at, self.last, now);
        }
    }

    /// As [`AgeList::note`], for a moment that a few others may be later than.
    fn sort_in(&mut self, at: u32, moment: Instant) {
        self.forget(at);
        let mut previous = self.last;
        for _ in 0..SORT_STEPS_MAX {
            match self.entries.get(previous as usize) {
                Some(entry) if entry.since > moment => previous = entry.previous,
                _ => break,
            }
        }
        self.insert(at, previous, moment);
    }

    /// Puts an instance that is not in the list behind another.
    fn insert(&mut self, at: u32, previous: u32, since: Instant) {
        let len = at as usize + 1;
        if self.entries.len() < len {
            self.entries.resize(len, Entry::ABSENT);
        }
        let next = match self.entries.get_mut(previous as usize) {
            Some(entry) => std::mem::replace(&mut entry.next, at),
            None => std::mem::replace(&mut self.first, at),
        };
        match self.entries.get_mut(next as usize) {
            Some(entry) => entry.previous = at,
            None => self.last = at,
        }
        self.entries[at as usize] = Entry { previous, next, since };
    }

    /// As [`AgeList::note`], unless the instance has a moment already.
    pub(super) fn note_if_absent(&mut self, at: u32, now: Instant) {
        if self.entries.get(at as usize).is_none_or(|entry| entry.previous == ABSENT) {
            self.note(at, now);
        }
    }

    /// Tells `missed` of the instances whose delay has passed once or more since their moments, and how often it has; it begins
    /// again where it ended last. `false`: there are more than `looks_max`. A delay of nothing would never end.
    pub(super) fn miss(&mut self, now: Instant, looks_max: usize, mut missed: impl FnMut(u32, u64)) -> bool {
        for _ in 0..looks_max {
            let Some((at, since)) = self.first_due(now) else { return true };
            let delay = self.delay.as_nanos().unsigned_abs().max(1);
            let periods = (now.as_nanos() - since.as_nanos()) / delay;
            self.sort_in(at, Instant::from_nanos(since.as_nanos() + periods * delay));
            missed(at, periods);
        }
        self.first_due(now).is_none()
    }

    /// The instance has no moment any more.
    pub(super) fn forget(&mut self, at: u32) {
        let Some(entry) = self.entries.get_mut(at as usize).filter(|entry| entry.previous != ABSENT) else { return };
        let Entry { previous, next, .. } = std::mem::replace(entry, Entry::ABSENT);
        match self.entries.get_mut(previous as usize) {
            Some(entry) => entry.next = next,
            None => self.first = next,
        }
        match self.entries.get_mut(next as usize) {
            Some(entry) => entry.previous = previous,
            None => self.last = previous,
        }
    }

    /// When the timer is to look.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let first = self.entries.get(self.first as usize)?;
        first.since.after(self.delay).map(|due| due.max(self.floor))
    }

    /// Whether the timer is to look now. Then it takes out what is due, and says with [`AgeList::looked`] whether that was
    /// all.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.deadline().is_some_and(|due| due <= now)
    }

    /// The timer has looked; `all`: at all that was due.
    pub(super) fn looked(&mut self, now: Instant, all: bool) {
        self.floor = if all { now.after(LOOK_INTERVAL).unwrap_or(now) } else { now };
    }

    /// The instance that is due first, if it is so now, and its moment. It stays in the list.
    pub(super) fn first_due(&self, now: Instant) -> Option<(u32, Instant)> {
        let entry = self.entries.get(self.first as usize)?;
        let is_due = entry.since.after(self.delay).is_some_and(|due| due <= now);
        is_due.then_some((self.first, entry.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn order(list: &AgeList) -> Vec<u32> {
        let mut order = Vec::new();
        let mut at = list.first;
        while let Some(entry) = list.entries.get(at as usize) {
            order.push(at);
            at = entry.next;
        }
        order
    }

    #[test]
    fn what_was_noted_longest_ago_is_due_first() {
        let mut list = AgeList::new(Duration::from_millis(10));
        assert_eq!(list.deadline(), None);
        [(3, 0), (1, 1), (2, 2), (3, 3), (2, 4), (2, 5)].into_iter().for_each(|(place, now)| list.note(place, at(now)));
        assert_eq!(order(&list), [1, 3, 2]);
        assert_eq!((list.deadline(), list.first_due(at(10))), (Some(at(11)), None));
        assert_eq!(list.first_due(at(11)), Some((1, at(1))));
        list.set_delay(Duration::from_millis(2));
        assert_eq!(list.deadline(), Some(at(3)));
        [3, 1, 1, 7].into_iter().for_each(|place| list.forget(place));
        assert_eq!(order(&list), [2]);
        list.forget(2);
        assert_eq!((list.deadline(), list.last), (None, NOWHERE));
        list.note(0, at(9));
        list.set_delay(Duration::INFINITE);
        list.note(0, at(9));
        assert_eq!((list.deadline(), list.entries.len()), (None, 0));
    }

    #[test]
    fn a_delay_of_nothing_does_not_spin() {
        let mut list = AgeList::new(Duration::ZERO);
        list.note(0, at(5));
        assert!(list.is_due(at(5)));
        list.looked(at(5), true);
        assert!(!list.is_due(at(5)) && list.is_due(at(6)));
        list.looked(at(6), false);
        assert!(list.is_due(at(6)));
    }
}
