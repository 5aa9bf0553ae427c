//! When this participant changes its keys, and when the earlier keys of others no longer count.
//!
//! A participant that is expelled knows the keys of the others. They change them, so that it reads and forges nothing
//! that follows (DDS Security 1.1, 8.5.1.8 exchanges the new ones). Participants of other vendors take no second keys,
//! so a change waits until they have left. Bounds: a time for each known participant.

use super::handshakes::unix_of;
use dds_rtps::discovery::ParticipantLoss;
use dds_rtps::types::{Duration, GuidPrefix, Instant, Now};
use std::collections::BTreeMap;

/// How long the earlier keys of a participant still count: its messages may be on their way.
const RETIRED_FOR: Duration = Duration::from_secs(2);
/// Pause between two changes. Many participants may be expelled one after the other, and each key counts as long as
/// messages may be on their way.
const PAUSE: Duration = RETIRED_FOR;

/// The times at which keys change.
#[derive(Default)]
pub(super) struct KeyRenewals {
    /// The next change of the own keys.
    due: Option<Instant>,
    pause_until: Option<Instant>,
    /// A change waits for participants that take no new keys.
    is_postponed: bool,
    /// When the first of the participants that left with keys loses its rights, in seconds since 1970.
    departed_until: Option<i64>,
    /// Participants that have changed their keys, and when the earlier ones no longer count.
    retiring: BTreeMap<GuidPrefix, Instant>,
}

impl KeyRenewals {
    /// Notes that a participant is gone. `expires`: the end of the rights that it has proved, in seconds since 1970.
    pub(super) fn note_lost(&mut self, prefix: GuidPrefix, expires: Option<i64>, cause: ParticipantLoss, now: Instant) {
        self.retiring.remove(&prefix);
        if self.is_postponed {
            // It may be the one that the change waits for.
            self.set_due(now);
        }
        match (cause, expires) {
            (ParticipantLoss::Refused, _) | (ParticipantLoss::Ignored, Some(_)) => {
                self.set_due(now);
            }
            (_, Some(expires)) => {
                self.departed_until = Some(self.departed_until.map_or(expires, |end| end.min(expires)));
            }
            // It has got no keys.
            (_, None) => {}
        }
    }

    fn set_due(&mut self, now: Instant) {
        let earliest = self.pause_until.map_or(now, |end| end.max(now));
        self.due = Some(self.due.map_or(earliest, |due| due.min(earliest)));
    }

    /// Lets a change wait until another participant has left. Returns whether it did not wait before.
    pub(super) fn postpone(&mut self) -> bool {
        !std::mem::replace(&mut self.is_postponed, true)
    }

    /// Notes that the own keys have changed.
    pub(super) fn note_changed(&mut self) {
        self.is_postponed = false;
    }

    /// Tries again to change the keys, after the pause.
    pub(super) fn retry(&mut self) {
        self.due = self.pause_until;
    }

    /// Notes that keys of a participant have arrived. `has_retired`: earlier ones of it still count.
    pub(super) fn note_received(&mut self, has_retired: bool, prefix: GuidPrefix, now: Instant) {
        if has_retired {
            // Keys for a new match must not lengthen the time.
            self.retiring.entry(prefix).or_insert(now.after(RETIRED_FOR).unwrap_or(now));
        }
    }

    /// Whether the own keys change now.
    pub(super) fn take_due(&mut self, now: Now) -> bool {
        let has_ended = self.departed_until.is_some_and(|end| end < unix_of(now));
        if !has_ended && self.due.is_none_or(|due| due > now.instant) {
            return false;
        }
        // Those that left before do not know the new keys.
        (self.due, self.departed_until) = (None, None);
        self.pause_until = now.instant.after(PAUSE);
        true
    }

    /// Returns the participants whose earlier keys no longer count.
    pub(super) fn take_outdated(&mut self, now: Instant) -> Vec<GuidPrefix> {
        let is_outdated = |(prefix, until): (&GuidPrefix, &Instant)| (*until <= now).then_some(*prefix);
        let outdated: Vec<GuidPrefix> = self.retiring.iter().filter_map(is_outdated).collect();
        self.retiring.retain(|_, until| *until > now);
        outdated
    }

    /// Returns when any key changes or ends.
    pub(super) fn deadline(&self, now: Now) -> Option<Instant> {
        let departed = self.departed_until.and_then(|end| {
            let left = u64::try_from(end.saturating_sub(unix_of(now))).unwrap_or(0);
            now.instant.after(Duration::from_secs(left.saturating_add(1)))
        });
        [self.due, departed].into_iter().flatten().chain(self.retiring.values().copied()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_rtps::types::Time;

    const THIEF: GuidPrefix = GuidPrefix([7; 12]);

    /// Seconds since the start, and since 1970.
    fn at(seconds: u64) -> Now {
        let nanos = seconds * 1_000_000_000;
        Now { instant: Instant::from_nanos(nanos), time: Time::from_unix_nanos(nanos as i64) }
    }

    #[test]
    fn keys_change_for_those_that_are_expelled_with_keys() {
        for (cause, expires, is_due) in [
            (ParticipantLoss::Refused, None, true),
            (ParticipantLoss::Ignored, Some(1_000), true),
            (ParticipantLoss::Ignored, None, false),
            (ParticipantLoss::Left, Some(1_000), false),
            (ParticipantLoss::LeaseExpired, None, false),
        ] {
            let mut renewals = KeyRenewals::default();
            renewals.note_lost(THIEF, expires, cause, at(10).instant);
            assert_eq!(renewals.take_due(at(10)), is_due, "{cause:?} {expires:?}");
            assert!(!renewals.take_due(at(10)), "once");
        }
    }

    #[test]
    fn many_expulsions_share_a_change() {
        let mut renewals = KeyRenewals::default();
        let expel = |renewals: &mut KeyRenewals, seconds| {
            renewals.note_lost(THIEF, None, ParticipantLoss::Refused, at(seconds).instant);
        };
        (0..50).for_each(|_| expel(&mut renewals, 10));
        assert_eq!(renewals.deadline(at(10)), Some(at(10).instant));
        assert!(renewals.take_due(at(10)));
        assert_eq!(renewals.deadline(at(10)), None);
        expel(&mut renewals, 10);
        assert!(!renewals.take_due(at(10)), "the pause");
        assert_eq!(renewals.deadline(at(10)), Some(at(12).instant));
        assert!(renewals.take_due(at(12)));
        renewals.retry();
        assert!(!renewals.take_due(at(13)) && renewals.take_due(at(14)), "after a failure");
    }

    #[test]
    fn later_keys_of_a_participant_do_not_lengthen_the_time_of_its_earlier_ones() {
        let mut renewals = KeyRenewals::default();
        (10..13).for_each(|seconds| renewals.note_received(true, THIEF, at(seconds).instant));
        assert_eq!(renewals.take_outdated(at(11).instant), []);
        assert_eq!(renewals.take_outdated(at(12).instant), [THIEF]);
        renewals.note_received(false, THIEF, at(20).instant);
        assert_eq!(renewals.deadline(at(20)), None);
    }

    #[test]
    fn change_waits_until_another_participant_has_left() {
        let mut renewals = KeyRenewals::default();
        renewals.note_lost(THIEF, None, ParticipantLoss::Refused, at(10).instant);
        assert!(renewals.take_due(at(10)) && renewals.postpone());
        assert_eq!(renewals.deadline(at(10)), None);
        renewals.note_lost(GuidPrefix([8; 12]), Some(5_000), ParticipantLoss::Left, at(20).instant);
        assert!(renewals.take_due(at(20)) && !renewals.postpone(), "it is not the last one");
        renewals.note_lost(GuidPrefix([9; 12]), Some(5_000), ParticipantLoss::Left, at(30).instant);
        assert!(renewals.take_due(at(30)));
        renewals.note_changed();
        renewals.note_lost(GuidPrefix([6; 12]), Some(5_000), ParticipantLoss::Left, at(40).instant);
        assert!(!renewals.take_due(at(40)));
    }

    #[test]
    fn keys_change_when_the_rights_of_a_departed_participant_end() {
        let mut renewals = KeyRenewals::default();
        for expires in [500, 100, 300] {
            renewals.note_lost(THIEF, Some(expires), ParticipantLoss::LeaseExpired, at(10).instant);
        }
        assert_eq!(renewals.deadline(at(10)), Some(at(101).instant));
        assert!(!renewals.take_due(at(100)));
        assert!(renewals.take_due(at(101)));
        assert!(!renewals.take_due(at(900)), "those that left have no new keys");
    }
}
