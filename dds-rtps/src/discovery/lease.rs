//! Leases of participants: the silence after which they count as gone (RTPS 2.5, 8.5.3).

use crate::types::{Duration, GuidPrefix, HashSeed, Instant, KeyedState, earliest};
use std::collections::HashMap;

/// Minimum lease. A shorter one would end at any delay, and cost a check each time.
const LEASE_MIN: Duration = Duration::from_millis(100);

/// A check that is later than this shows that this process did not run and received nothing: it was stopped, or its
/// host has slept.
const LATE: Duration = Duration::from_millis(100);

/// The leases of all known participants.
///
/// A renewal is one lookup, because every datagram causes one. Expiry is checked at the earliest instant at which a
/// lease may end; a check visits all of them. The order of the map never shows. An entry lives as long as its
/// participant, which bounds the map.
///
/// After a pause of this process no participant is lost at once: its datagrams may still wait in the sockets, or the
/// network may have been down. Each lease restarts once, until the participant is heard again.
#[derive(Debug)]
pub struct Leases {
    heard: HashMap<GuidPrefix, Lease, KeyedState>,
    check_at: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Lease {
    duration: Duration,
    last_heard: Instant,
    /// The lease was restarted after a pause, and nothing was received since.
    is_extended: bool,
}

impl Leases {
    /// Creates an empty set; `seed` varies the order of the map.
    #[must_use]
    pub fn new(seed: HashSeed) -> Self {
        Self { heard: HashMap::with_hasher(seed.state()), check_at: None }
    }

    /// Starts a lease, or changes its duration; it begins now.
    pub fn set(&mut self, now: Instant, prefix: GuidPrefix, duration: Duration) {
        // A peer may announce any duration, even zero.
        let lease = Lease { duration: duration.max(LEASE_MIN), last_heard: now, is_extended: false };
        self.heard.insert(prefix, lease);
        // If a lease becomes longer, the next check is early. It finds nothing, and computes the right time.
        self.check_at = earliest(self.check_at, lease.end());
    }

    /// Renews the lease of a participant; returns false if it has none.
    pub fn renew(&mut self, now: Instant, prefix: GuidPrefix) -> bool {
        let Some(lease) = self.heard.get_mut(&prefix) else { return false };
        if now > lease.last_heard {
            // The check keeps its time: an early check costs less than a search at each datagram.
            lease.last_heard = now;
            lease.is_extended = false;
        }
        true
    }

    /// Returns the participant with the longest silence, if that is at least `silence`.
    #[must_use]
    pub fn most_silent(&self, now: Instant, silence: Duration) -> Option<GuidPrefix> {
        // Of equals the lowest prefix, so that the order of the map does not show.
        let (prefix, lease) = self.heard.iter().min_by_key(|(prefix, lease)| (lease.last_heard, **prefix))?;
        let end = lease.last_heard.after(silence)?;
        if end > now {
            return None;
        }
        Some(*prefix)
    }

    /// Ends a lease.
    pub fn remove(&mut self, prefix: GuidPrefix) {
        self.heard.remove(&prefix);
    }

    /// Returns the time of the next check; `None` if no lease ever ends.
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.check_at
    }

    /// Returns the participants whose lease has ended by `now`, in the order of their prefixes. They keep their entry
    /// until [`Leases::remove`].
    pub fn expired(&mut self, now: Instant) -> Vec<GuidPrefix> {
        let Some(due) = self.check_at else { return Vec::new() };
        if due > now {
            return Vec::new();
        }
        let late = match due.after(LATE) {
            Some(late) => late <= now,
            None => false,
        };
        let mut expired = Vec::new();
        self.check_at = None;
        for (&prefix, lease) in &mut self.heard {
            // Extend a lease only once: a process that is always late must not keep lost participants alive.
            if late && !lease.is_extended && lease.end().is_some_and(|end| end <= now) {
                lease.is_extended = true;
                lease.last_heard = now;
            }
            match lease.end() {
                Some(end) if end <= now => expired.push(prefix),
                end => self.check_at = earliest(self.check_at, end),
            }
        }
        debug_assert!(self.check_at.is_none_or(|at| at > now), "a check leaves no lease that is due");
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
    fn lease_ends_after_its_duration_of_silence() {
        let mut leases = Leases::new(HashSeed::fixed(1));
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
    fn leases_restart_once_after_a_pause() {
        let mut leases = Leases::new(HashSeed::fixed(1));
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
    fn check_is_late_after_100_ms() {
        let moment = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        for (check, expired) in [(10_099, &[A][..]), (10_100, &[])] {
            let mut leases = Leases::new(HashSeed::fixed(1));
            leases.set(at(0), A, Duration::from_secs(10));
            leases.set(at(0), B, Duration::from_millis(10_100));
            assert_eq!(leases.expired(moment(check)), expired);
        }
    }

    #[test]
    fn infinite_lease_never_ends() {
        let mut leases = Leases::new(HashSeed::fixed(1));
        leases.set(at(0), A, Duration::INFINITE);
        assert_eq!(leases.deadline(), None);
        assert_eq!(leases.expired(at(1_000_000)), []);
    }

    #[test]
    fn most_silent_participant_needs_minimum_silence() {
        let mut leases = Leases::new(HashSeed::fixed(1));
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
    fn unknown_participant_has_no_lease() {
        assert!(!Leases::new(HashSeed::fixed(1)).renew(at(0), A));
    }

    #[test]
    fn zero_lease_is_raised_to_the_minimum() {
        let mut leases = Leases::new(HashSeed::fixed(1));
        leases.set(at(0), A, Duration::ZERO);
        assert_eq!(leases.expired(at(0)), []);
        assert_eq!(leases.deadline(), at(0).after(LEASE_MIN));
    }
}
