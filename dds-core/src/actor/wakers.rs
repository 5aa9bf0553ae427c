//! Who waits for a change of the state, blocked threads and futures alike.
//!
//! Life cycle: a waiter looks; if it has to wait, it registers and looks again in ONE visit, and parks outside. It comes
//! back with its [`Ticket`] after a wake (which may be spurious), and ends by [`Wakers::finish`] or [`Wakers::abandon`].
//! Bound: one entry per thread or future of the application that waits; a peer cannot make any.
//!
//! Wakers are user code: cloned before the visit, called and dropped after it, by way of [`Effects`].

use super::Effects;
use crate::sync::{Mutation, mutated};
use std::collections::VecDeque;
use std::task::Waker;

/// A waiter's place in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

/// The waiters of one event, in the order in which they came. Part of an actor's state.
#[derive(Debug, Default)]
pub struct Wakers {
    /// Ascending by ticket.
    entries: VecDeque<Entry>,
    next: u64,
}

#[derive(Debug)]
struct Entry {
    ticket: Ticket,
    /// Gone once it was given a wake that it has not come back for.
    waker: Option<Waker>,
}

impl Wakers {
    /// Nobody waits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts the waiter in the queue, or, if it has a `ticket` of this queue, lets it wait on in its old place.
    pub fn register(&mut self, ticket: &mut Option<Ticket>, waker: Waker, effects: &mut Effects) {
        let known = ticket.and_then(|ticket| self.position(ticket));
        if let Some(entry) = known.and_then(|index| self.entries.get_mut(index)) {
            if let Some(old) = entry.waker.replace(waker) {
                effects.discard(old);
            }
            return;
        }
        let new = Ticket(self.next);
        self.next += 1;
        self.entries.push_back(Entry { ticket: new, waker: Some(waker) });
        *ticket = Some(new);
    }

    /// Wakes everybody: for what all waiters may see, such as data or a status.
    pub fn wake_all(&mut self, effects: &mut Effects) {
        for waker in self.entries.iter_mut().filter_map(|entry| entry.waker.take()) {
            effects.wake(waker);
        }
    }

    /// Wakes the first who has not been woken yet: for what one waiter uses up, such as room for one sample.
    pub fn wake_one(&mut self, effects: &mut Effects) {
        if let Some(waker) = self.entries.iter_mut().find_map(|entry| entry.waker.take()) {
            effects.wake(waker);
        }
    }

    /// The waiter has got what it waited for.
    pub fn finish(&mut self, ticket: &mut Option<Ticket>, effects: &mut Effects) {
        self.remove(ticket, effects);
    }

    /// The waiter gives up (its time is over, or its future was dropped). A wake that it was given goes to the next.
    pub fn abandon(&mut self, ticket: &mut Option<Ticket>, effects: &mut Effects) {
        if self.remove(ticket, effects) == Some(Left::Woken) && !mutated(Mutation::SwallowWake) {
            self.wake_one(effects);
        }
    }

    /// Whether it is this waiter's turn: nobody came before it. Without a ticket: nobody waits.
    #[must_use]
    pub fn is_next(&self, ticket: Option<Ticket>) -> bool {
        match (self.entries.front(), ticket) {
            (None, _) => true,
            (Some(first), Some(ticket)) => first.ticket >= ticket,
            (Some(_), None) => false,
        }
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    fn position(&self, ticket: Ticket) -> Option<usize> {
        self.entries.binary_search_by_key(&ticket, |entry| entry.ticket).ok()
    }

    #[inline]
    fn remove(&mut self, ticket: &mut Option<Ticket>, effects: &mut Effects) -> Option<Left> {
        // Hardly ever has anybody waited.
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

#[cfg(test)]
#[cfg(not(dds_loom))]
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
    fn one_wake_goes_to_the_first_who_has_none() {
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
    fn a_waiter_that_gives_up_unwoken_wakes_nobody() {
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
