//! Instances in the order of one moment each: their last sample, or their end.
//!
//! All instances of an endpoint have the same delay, so the one with the oldest moment is due first, for any delay.
//! Noting, forgetting and looking up are O(1), and changing the delay costs nothing. Bound: 16 bytes per instance, from
//! the first one noted on.

use crate::types::{Duration, Instant};

/// No instance; as a neighbor, the end of the list.
const NONE: u32 = u32::MAX;

/// As the previous neighbor: the instance is not in the list.
const ABSENT: u32 = u32::MAX - 1;

/// The most instances that one timer run handles for each policy. The rest follows at once in the next run.
///
/// A million instances that are late together must not block the endpoint.
pub(super) const TIMER_RUN_MAX: usize = 256;

/// The shortest time between two timer runs. Each run may cost a system call, and a delay of zero is legal.
const RUN_INTERVAL: Duration = Duration::from_millis(1);

/// The shortest DEADLINE that is watched. No system can keep a shorter one.
const DEADLINE_MIN: Duration = Duration::from_micros(1);

/// How many entries [`AgeList::insert_sorted`] skips for a moment that lies before the present.
///
/// A moment noted in time goes to the end. After a late run, for example of a stopped process, an entry may stand
/// behind newer ones and is then due with them. The number of periods is right all the same.
const SORT_STEPS_MAX: usize = 64;

/// The instances of one endpoint in the order of their moments, and their common delay.
#[derive(Debug)]
pub(super) struct AgeList {
    delay: Duration,
    entries: Vec<AgeEntry>,
    first: u32,
    last: u32,
    /// The timer does not run before this.
    floor: Instant,
}

#[derive(Debug, Clone, Copy)]
struct AgeEntry {
    previous: u32,
    next: u32,
    since: Instant,
}

impl AgeEntry {
    const ABSENT: Self = Self { previous: ABSENT, next: ABSENT, since: Instant::ZERO };
}

impl AgeList {
    /// Creates an empty list. With an infinite delay it stays empty.
    pub(super) const fn new(delay: Duration) -> Self {
        Self { delay, entries: Vec::new(), first: NONE, last: NONE, floor: Instant::ZERO }
    }

    /// Creates an empty list for a DEADLINE.
    pub(super) fn of_deadline(deadline: Duration) -> Self {
        Self::new(deadline.max(DEADLINE_MIN))
    }

    /// Whether the delay is finite.
    pub(super) const fn is_on(&self) -> bool {
        !self.delay.is_infinite()
    }

    /// Takes over the entries of a former list, which are then due by the new delay.
    pub(super) fn continue_from(&mut self, mut former: Self) {
        // A list with an infinite delay is empty.
        if former.is_on() {
            former.set_delay(self.delay);
            *self = former;
        }
    }

    /// Changes the delay, also for the present entries. An infinite delay removes them.
    pub(super) fn set_delay(&mut self, delay: Duration) {
        // Entries that are due by the new delay must not wait for the end of the run interval.
        self.delay = delay;
        self.floor = Instant::ZERO;
        if delay.is_infinite() {
            *self = Self::new(delay);
        }
    }

    /// Like [`AgeList::set_delay`], for a DEADLINE.
    pub(super) fn set_delay_of_deadline(&mut self, deadline: Duration) {
        self.set_delay(deadline.max(DEADLINE_MIN));
    }

    /// Sets the moment of an instance to `now`. No other moment may be later.
    pub(super) fn note(&mut self, at: u32, now: Instant) {
        // The newest instance stays last: the path of a topic with one instance.
        if at == self.last {
            self.entries[at as usize].since = now;
        } else if self.is_on() {
            self.forget(at);
            self.insert(at, self.last, now);
        }
    }

    /// Like [`AgeList::note`], for a moment that a few others may be later than.
    fn insert_sorted(&mut self, at: u32, moment: Instant) {
        // The list may be unsorted for a moment: the caller restarts periods that ended in the past.
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

    /// Inserts an instance after `previous`.
    fn insert(&mut self, at: u32, previous: u32, since: Instant) {
        debug_assert!(!self.contains(at), "the instance is not in the list");
        let len = at as usize + 1;
        if self.entries.len() < len {
            self.entries.resize(len, AgeEntry::ABSENT);
        }
        let next = match self.entries.get_mut(previous as usize) {
            Some(entry) => std::mem::replace(&mut entry.next, at),
            None => std::mem::replace(&mut self.first, at),
        };
        match self.entries.get_mut(next as usize) {
            Some(entry) => entry.previous = at,
            None => self.last = at,
        }
        self.entries[at as usize] = AgeEntry { previous, next, since };
    }

    fn contains(&self, at: u32) -> bool {
        self.entries.get(at as usize).is_some_and(|entry| entry.previous != ABSENT)
    }

    /// Like [`AgeList::note`], unless the instance has a moment already.
    pub(super) fn note_if_absent(&mut self, at: u32, now: Instant) {
        if !self.contains(at) {
            self.note(at, now);
        }
    }

    /// Finds the next instance whose delay has passed at least once, and how often it has.
    ///
    /// The instance stays in the list with the end of its last period as its moment.
    pub(super) fn next_missed(&mut self, now: Instant) -> Option<(u32, u64)> {
        let (at, since) = self.first_due(now)?;
        // A delay of zero has no end of a period.
        let delay = self.delay.as_nanos().unsigned_abs().max(1);
        let periods = (now.as_nanos() - since.as_nanos()) / delay;
        self.insert_sorted(at, Instant::from_nanos(since.as_nanos() + periods * delay));
        Some((at, periods))
    }

    /// Removes an instance from the list, if it is there.
    pub(super) fn forget(&mut self, at: u32) {
        if !self.contains(at) {
            return;
        }
        let AgeEntry { previous, next, .. } = std::mem::replace(&mut self.entries[at as usize], AgeEntry::ABSENT);
        match self.entries.get_mut(previous as usize) {
            Some(entry) => entry.next = next,
            None => self.first = next,
        }
        match self.entries.get_mut(next as usize) {
            Some(entry) => entry.previous = previous,
            None => self.last = previous,
        }
    }

    /// When the timer has to run.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let first = self.entries.get(self.first as usize)?;
        let due = first.since.after(self.delay)?;
        Some(due.max(self.floor))
    }

    /// Whether the timer has to run now. It removes the due entries and then calls [`AgeList::end_run`].
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.deadline().is_some_and(|due| due <= now)
    }

    /// Ends a timer run. The next one follows at once if entries are still due.
    pub(super) fn end_run(&mut self, now: Instant) {
        let is_complete = self.first_due(now).is_none();
        self.set_floor(now, is_complete);
    }

    /// Like [`AgeList::end_run`], for a run over several lists. `is_complete`: none of them has due entries.
    pub(super) fn set_floor(&mut self, now: Instant, is_complete: bool) {
        self.floor = if is_complete { now.after(RUN_INTERVAL).unwrap_or(now) } else { now };
    }

    /// The first instance and its moment, if it is due. It stays in the list.
    pub(super) fn first_due(&self, now: Instant) -> Option<(u32, Instant)> {
        let entry = self.entries.get(self.first as usize)?;
        let due = entry.since.after(self.delay)?;
        if due <= now { Some((self.first, entry.since)) } else { None }
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
    fn oldest_moment_is_due_first() {
        let mut list = AgeList::new(Duration::from_millis(10));
        assert_eq!(list.deadline(), None);
        for (instance, now) in [(3, 0), (1, 1), (2, 2), (3, 3), (2, 4), (2, 5)] {
            list.note(instance, at(now));
        }
        assert_eq!(order(&list), [1, 3, 2]);
        assert_eq!((list.deadline(), list.first_due(at(10))), (Some(at(11)), None));
        assert_eq!(list.first_due(at(11)), Some((1, at(1))));
        list.set_delay(Duration::from_millis(2));
        assert_eq!(list.deadline(), Some(at(3)));
        for instance in [3, 1, 1, 7] {
            list.forget(instance);
        }
        assert_eq!(order(&list), [2]);
        list.forget(2);
        assert_eq!((list.deadline(), list.last), (None, NONE));
        list.note(0, at(9));
        list.set_delay(Duration::INFINITE);
        list.note(0, at(9));
        assert_eq!((list.deadline(), list.entries.len()), (None, 0));
    }

    #[test]
    fn zero_delay_does_not_spin() {
        let mut list = AgeList::new(Duration::ZERO);
        list.note(0, at(5));
        assert!(list.is_due(at(5)));
        list.set_floor(at(5), true);
        assert!(!list.is_due(at(5)) && list.is_due(at(6)));
        list.set_floor(at(6), false);
        assert!(list.is_due(at(6)));
    }
}
