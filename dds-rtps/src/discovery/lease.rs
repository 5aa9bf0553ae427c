//! How long participants that say nothing count as alive (RTPS 2.5, 8.5.3).

use crate::types::{Duration, GuidPrefix, Instant, earliest};
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// The shortest lease that is honoured: a peer that announces less would be lost by any hiccup, and cost a check each time.
const LEASE_MIN: Duration = Duration::from_millis(100);

/// A check that comes so much too late says that this process did not run, and could not hear anybody: it was stopped, or
/// its host has slept.
const LATE: Duration = Duration::from_millis(100);

/// The leases of all known participants.
///
/// Renewing is one look-up, for it is done with every datagram. Expiry is checked at the earliest instant at which a lease
/// may end; a check walks over all of them. The map is never iterated where its order could be seen. Life cycle: an entry
/// is made and removed with its participant, and is bounded with them.
///
/// After a time in which this process did not run nobody is lost at once: what the others have said meanwhile may still lie
/// in the sockets, or was lost with the network. Each lease begins anew, once, until its participant is heard again.
#[derive(Debug)]
pub struct Leases {
    heard: HashMap<GuidPrefix, Lease, FixedState>,
    check_at: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Lease {
    duration: Duration,
    last_heard: Instant,
    /// It has begun anew, and nothing was heard since.
    forgiven: bool,
}

impl Leases {
    /// No leases; `seed` makes the order of the map this participant's own.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { heard: HashMap::with_hasher(FixedState::with_seed(seed)), check_at: None }
    }

    /// Begins a lease, or changes its length; either way it begins now.
    pub fn set(&mut self, now: Instant, prefix: GuidPrefix, duration: Duration) {
        let lease = Lease { duration: duration.max(LEASE_MIN), last_heard: now, forgiven: false };
        self.heard.insert(prefix, lease);
        self.check_at = earliest(self.check_at, lease.end());
    }

    /// Something came from this participant. `false`: it has no lease.
    pub fn renew(&mut self, now: Instant, prefix: GuidPrefix) -> bool {
        match self.heard.get_mut(&prefix) {
            Some(lease) => {
                if now > lease.last_heard {
                    lease.last_heard = now;
                    lease.forgiven = false;
                }
                true
            }
            None => false,
        }
    }

    /// Who has been silent for longest, if that is at least `silence`.
    #[must_use]
    pub fn most_silent(&self, now: Instant, silence: Duration) -> Option<GuidPrefix> {
        // Of equals the lowest prefix, so that the order of the map does not show.
        let (prefix, lease) = self.heard.iter().min_by_key(|(prefix, lease)| (lease.last_heard, **prefix))?;
        lease.last_heard.after(silence).is_some_and(|end| end <= now).then_some(*prefix)
    }

    /// Ends a lease.
    pub fn remove(&mut self, prefix: GuidPrefix) {
        self.heard.remove(&prefix);
    }

    /// When to check next; `None`: no lease will ever end.
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.check_at
    }

    /// The participants whose lease has ended by `now`, in the order of their prefixes. They keep their entry until
    /// [`Leases::remove`].
    pub fn expired(&mut self, now: Instant) -> Vec<GuidPrefix> {
        let Some(due) = self.check_at.filter(|at| *at <= now) else { return Vec::new() };
        let late = due.after(LATE).is_some_and(|late| late <= now);
        let mut expired = Vec::new();
        self.check_at = None;
        for (&prefix, lease) in &mut self.heard {
            // Once: a process that is always late must not keep the dead alive.
            if late && !lease.forgiven && lease.end().is_some_and(|end| end <= now) {
                lease.forgiven = true;
                lease.last_heard = now;
            }
            match lease.end() {
                Some(end) if end <= now => expired.push(prefix),
                end => self.check_at = earliest(self.check_at, end),
            }
        }
        expired.sort_unstable();
        expired
    }
}

impl Lease {
    fn end(&self) -> Option<Instant> {
        self.last_heard.after(self.duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: GuidPrefix = GuidPrefix([1; 12]);
    const B: GuidPrefix = GuidPrefix([2; 12]);

    fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn a_lease_ends_when_nothing_was_heard_for_its_length() {
        let mut leases = Leases::new(1);
        leases.set(at(0), B, Duration::from_secs(10));
        leases.set(at(0), A, Duration::from_secs(10));
        assert_eq!(leases.deadline(), Some(at(10)));
        assert!(leases.renew(at(7), A));
        assert_eq!(leases.expired(at(10)), [B]);
        leases.remove(B);
        assert_eq!(leases.deadline(), Some(at(17)));
        assert_eq!(leases.expired(at(16)), []);
        assert_eq!(leases.expired(at(17)), [A]);
    }

    #[test]
    fn who_did_not_run_itself_gives_everybody_another_lease_once() {
        let mut leases = Leases::new(1);
        leases.set(at(0), A, Duration::from_secs(10));
        leases.set(at(0), B, Duration::from_secs(10));
        assert_eq!(leases.expired(at(60)), [], "stopped for 50 s");
        assert_eq!(leases.deadline(), Some(at(70)));
        leases.renew(at(61), B);
        assert_eq!(leases.expired(at(90)), [A], "stopped again, and A has not been heard in between");
        leases.remove(A);
        assert_eq!(leases.deadline(), Some(at(100)));
        assert_eq!(leases.expired(at(100)), [B]);
    }

    #[test]
    fn a_check_is_late_from_a_tenth_of_a_second_on() {
        let moment = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        for (check, expired) in [(10_099, &[A][..]), (10_100, &[])] {
            let mut leases = Leases::new(1);
            leases.set(at(0), A, Duration::from_secs(10));
            leases.set(at(0), B, Duration::from_millis(10_100));
            assert_eq!(leases.expired(moment(check)), expired);
        }
    }

    #[test]
    fn an_infinite_lease_never_ends() {
        let mut leases = Leases::new(1);
        leases.set(at(0), A, Duration::INFINITE);
        assert_eq!(leases.deadline(), None);
        assert_eq!(leases.expired(at(1_000_000)), []);
    }

    #[test]
    fn the_most_silent_one_is_known_once_it_is_silent_for_long() {
        let mut leases = Leases::new(1);
        let silence = Duration::from_secs(100);
        assert_eq!(leases.most_silent(at(1_000), silence), None);
        leases.set(at(0), B, Duration::INFINITE);
        leases.set(at(1), A, Duration::INFINITE);
        assert_eq!(leases.most_silent(at(99), silence), None);
        assert_eq!(leases.most_silent(at(100), silence), Some(B));
        leases.renew(at(50), B);
        assert_eq!(leases.most_silent(at(120), silence), Some(A));
    }

    #[test]
    fn strangers_have_nothing_to_renew() {
        assert!(!Leases::new(1).renew(at(0), A));
    }

    #[test]
    fn a_lease_of_nothing_is_not_taken_at_its_word() {
        let mut leases = Leases::new(1);
        leases.set(at(0), A, Duration::ZERO);
        assert_eq!(leases.expired(at(0)), []);
        assert_eq!(leases.deadline(), at(0).after(LEASE_MIN));
    }
}
