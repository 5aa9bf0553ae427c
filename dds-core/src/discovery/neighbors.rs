//! Participants of other processes on this host. The system reports their end before their lease expires.

use crate::driver::Presence;
use dds_rtps::types::{Duration, GuidPrefix, Instant};

/// Period of the checks, which bounds the time to notice a crash. A check takes a microsecond per neighbor.
const PERIOD: Duration = Duration::from_millis(500);

/// Neighbors whose presence was confirmed.
///
/// Bound: the participants that discovery knows.
#[derive(Debug, Default)]
pub(super) struct Neighbors {
    seen: Vec<GuidPrefix>,
    next: Option<Instant>,
}

impl Neighbors {
    /// Adds a participant on this host. Only a neighbor with a confirmed presence can be missing later.
    pub(super) fn found(&mut self, now: Instant, prefix: GuidPrefix, presence: Presence) {
        if presence == Presence::Here && !self.seen.contains(&prefix) {
            self.seen.push(prefix);
            self.next = self.next.or(now.after(PERIOD));
        }
    }

    /// Removes a participant.
    pub(super) fn lost(&mut self, prefix: GuidPrefix) {
        self.seen.retain(|seen| *seen != prefix);
        if self.seen.is_empty() {
            self.next = None;
        }
    }

    /// Returns the time of the next check.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.next
    }

    /// Returns the neighbors that have disappeared, if a check is due.
    pub(super) fn missing(&mut self, now: Instant, presence: impl Fn(GuidPrefix) -> Presence) -> Vec<GuidPrefix> {
        match self.next {
            Some(next) if next <= now => {}
            _ => return Vec::new(),
        }
        self.next = now.after(PERIOD);
        let mut missing = Vec::new();
        self.seen.retain(|&prefix| {
            let gone = presence(prefix) == Presence::Gone;
            if gone {
                missing.push(prefix);
            }
            !gone
        });
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: GuidPrefix = GuidPrefix([1; 12]);
    const B: GuidPrefix = GuidPrefix([2; 12]);

    #[test]
    fn unconfirmed_neighbor_is_never_missing() {
        let (start, later) = (Instant::from_nanos(1), Instant::from_nanos(600_000_000));
        let mut neighbors = Neighbors::default();
        neighbors.found(start, A, Presence::Gone);
        neighbors.found(start, A, Presence::Unknown);
        assert_eq!(neighbors.deadline(), None);
        neighbors.found(start, B, Presence::Here);
        neighbors.found(start, A, Presence::Here);
        assert!(neighbors.missing(start, |_| Presence::Gone).is_empty(), "not yet");
        assert!(neighbors.missing(later, |_| Presence::Unknown).is_empty());
        let latest = later.after(PERIOD).unwrap();
        let presence = |prefix| if prefix == A { Presence::Here } else { Presence::Gone };
        assert_eq!(neighbors.missing(latest, presence), [B]);
        neighbors.lost(A);
        assert_eq!(neighbors.deadline(), None);
    }
}
