//! Waiters for a change of the state: blocked threads and futures.
//!
//! Life cycle: a waiter checks its condition. If it has to wait, it registers and checks again in ONE visit, and parks
//! outside. After a wake, which may be spurious, it returns with its [`Ticket`]. It ends with [`Wakers::finish`] or
//! [`Wakers::abandon`]. Bound: one entry per waiting thread or future of the application. A peer cannot create entries.
//!
//! Wakers are user code. They are cloned before the visit, and called and dropped after it by [`Effects`].

use super::Effects;
use crate::sync::{Mutation, mutated};
use std::collections::VecDeque;
use std::task::Waker;

/// A waiter's place in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

/// Waiters of one event, in order of arrival. Part of an actor's state.
#[derive(Debug, Default)]
pub struct Wakers {
    /// Ascending by ticket.
    entries: VecDeque<Entry>,
    next: u64,
}

#[derive(Debug)]
struct Entry {
    ticket: Ticket,
    /// `None` while the waiter has a wake to which it has not reacted yet.
    waker: Option<Waker>,
}

impl Wakers {
    /// Creates an empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the waiter to the queue. With a `ticket` of this queue, it keeps its place.
    pub fn register(&mut self, ticket: &mut Option<Ticket>, waker: Waker, effects: &mut Effects) {
        if let Some(index) = ticket.and_then(|ticket| self.position(ticket)) {
            // The old waker is user code, so it must not be dropped inside the cell.
            if let Some(old) = self.entries[index].waker.replace(waker) {
                effects.discard(old);
            }
            return;
        }
        let new = Ticket(self.next);
        self.next += 1;
        self.entries.push_back(Entry { ticket: new, waker: Some(waker) });
        *ticket = Some(new);
    }

    /// Wakes all waiters. For events that all of them may see, such as data or a status.
    pub fn wake_all(&mut self, effects: &mut Effects) {
        for entry in &mut self.entries {
            // The entry stays: a waiter that finds nothing keeps its place.
            if let Some(waker) = entry.waker.take() {
                effects.wake(waker);
            }
        }
    }

    /// Wakes the first waiter without a wake. For events that one waiter uses up, such as space for one sample.
    pub fn wake_one(&mut self, effects: &mut Effects) {
        for entry in &mut self.entries {
            if let Some(waker) = entry.waker.take() {
                return effects.wake(waker);
            }
        }
    }

    /// Removes a waiter that got the event.
    pub fn finish(&mut self, ticket: &mut Option<Ticket>, effects: &mut Effects) {
        self.remove(ticket, effects);
    }

    /// Removes a waiter that gives up, at its deadline or when its future is dropped. Passes on its wake.
    pub fn abandon(&mut self, ticket: &mut Option<Ticket>, effects: &mut Effects) {
        // A wake that is not passed on would leave another waiter asleep beside a free unit.
        if self.remove(ticket, effects) == Some(Left::Woken) && !mutated(Mutation::SwallowWake) {
            self.wake_one(effects);
        }
    }

    /// Whether it is this waiter's turn: no waiter arrived before it.
    ///
    /// Without a ticket, whether there are no waiters.
    #[must_use]
    pub fn is_next(&self, ticket: Option<Ticket>) -> bool {
        match (self.entries.front(), ticket) {
            (None, _) => true,
            (Some(first), Some(ticket)) => first.ticket >= ticket,
            (Some(_), None) => false,
        }
    }

    /// Whether there are no waiters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Number of waiters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    fn position(&self, ticket: Ticket) -> Option<usize> {
        self.entries.binary_search_by_key(&ticket, |entry| entry.ticket).ok()
    }

    #[inline]
    fn remove(&mut self, ticket: &mut Option<Ticket>, effects: &mut Effects) -> Option<Left> {
        // Most calls return without waiting, and so have no ticket.
        if ticket.is_some() { self.remove_entry(ticket, effects) } else { None }
    }

    fn remove_entry(&mut self, ticket: &mut Option<Ticket>, effects: &mut Effects) -> Option<Left> {
        let index = self.position(ticket.take()?)?;
        match self.entries.remove(index)?.waker {
            Some(waker) => {
                effects.discard(waker);
                Some(Left::Waiting)
            }
            None => Some(Left::Woken),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Left {
    Waiting,
    Woken,
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn waiters<const N: usize>() -> ([Arc<Count>; N], [Option<Ticket>; N], Wakers) {
        let counts: [Arc<Count>; N] = std::array::from_fn(|_| Arc::default());
        let mut tickets = [None; N];
        let mut wakers = Wakers::new();
        Effects::scope(|effects| {
            for (count, ticket) in counts.iter().zip(&mut tickets) {
                wakers.register(ticket, Waker::from(Arc::clone(count)), effects);
            }
        });
        (counts, tickets, wakers)
    }

    fn woken(counts: &[Arc<Count>]) -> Vec<usize> {
        counts.iter().map(|count| count.0.load(Ordering::Relaxed)).collect()
    }

    #[test]
    fn wake_one_wakes_first_unwoken_waiter() {
        let (counts, _, mut wakers) = waiters::<3>();
        Effects::scope(|effects| wakers.wake_one(effects));
        assert_eq!(woken(&counts), [1, 0, 0]);
        Effects::scope(|effects| wakers.wake_one(effects));
        assert_eq!(woken(&counts), [1, 1, 0]);
    }

    #[test]
    fn a_woken_waiter_that_gives_up_passes_the_wake_on() {
        let (counts, mut tickets, mut wakers) = waiters::<2>();
        Effects::scope(|effects| wakers.wake_one(effects));
        Effects::scope(|effects| wakers.abandon(&mut tickets[0], effects));
        assert_eq!(woken(&counts), [1, 1]);
        assert_eq!(wakers.len(), 1);
    }

    #[test]
    fn abandoned_unwoken_waiter_wakes_no_other() {
        let (counts, mut tickets, mut wakers) = waiters::<2>();
        Effects::scope(|effects| wakers.abandon(&mut tickets[0], effects));
        assert_eq!(woken(&counts), [0, 0]);
    }

    #[test]
    fn a_waiter_keeps_its_place_when_it_registers_again() {
        let (counts, mut tickets, mut wakers) = waiters::<2>();
        Effects::scope(|effects| {
            wakers.wake_one(effects);
            wakers.register(&mut tickets[0], Waker::from(Arc::clone(&counts[0])), effects);
        });
        assert!(wakers.is_next(tickets[0]));
        assert!(!wakers.is_next(tickets[1]));
        assert!(!wakers.is_next(None));
        Effects::scope(|effects| wakers.wake_one(effects));
        assert_eq!(woken(&counts), [2, 0]);
    }

    #[test]
    fn all_are_woken_once() {
        let (counts, mut tickets, mut wakers) = waiters::<3>();
        Effects::scope(|effects| {
            wakers.wake_all(effects);
            wakers.wake_all(effects);
            tickets.iter_mut().for_each(|ticket| wakers.finish(ticket, effects));
        });
        assert_eq!(woken(&counts), [1, 1, 1]);
        assert!(wakers.is_empty() && wakers.is_next(None));
    }
}
