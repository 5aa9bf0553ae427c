//! Participants of other processes on this host, whose end the system knows of before their lease does.

use crate::driver::Presence;
use dds_rtps::types::{Duration, GuidPrefix, Instant};

/// How often they are looked after, while there are any: a crash is noticed within that time. A look costs a microsecond for
/// each.
const PERIOD: Duration = Duration::from_millis(500);

/// Those that have been seen.
///
/// Bound: the participants that discovery knows.
#[derive(Debug, Default)]
pub(super) struct Neighbors {
    seen: Vec<GuidPrefix>,
    next: Option<Instant>,
}

impl Neighbors {
    /// A participant on this host was found. Only one that is seen can be missed.
    pub(super) fn found(&mut self, now: Instant, prefix: GuidPrefix, presence: Presence) {
        if presence == Presence::Here && !self.seen.contains(&prefix) {
            self.seen.push(prefix);
            self.next = self.next.or_else(|| now.after(PERIOD));
        }
    }

    /// It has left.
    pub(super) fn lost(&mut self, prefix: GuidPrefix) {
        self.seen.retain(|seen| *seen != prefix);
        if self.seen.is_empty() {
            self.next = None;
        }
    }

    /// When to look again.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.next
    }

    /// Those that are not here any more, if it is time to look.
    pub(super) fn missing(&mut self, now: Instant, presence: impl Fn(GuidPrefix) -> Presence) -> Vec<GuidPrefix> {
        if self.next.is_none_or(|next| next > now) {
            return Vec::new();
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
    fn only_who_was_seen_can_be_missing() {
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
