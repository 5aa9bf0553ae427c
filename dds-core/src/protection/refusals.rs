//! Participants that DDS Security keeps out, for the log and for explanations.
//!
//! Bounds: 32 reports a minute, 32 participants that announce no identity, and the last 32 that were expelled, for ten
//! minutes.

use dds_rtps::discovery::{SecurityAction, SecurityReportKind};
use dds_rtps::types::GuidPrefix;
use std::collections::{BTreeSet, VecDeque};

/// Reports of refused participants in a minute. An attacker must not fill the log.
const REPORTS_MAX: usize = 32;
/// Participants whose names are kept: those without an identity, and those that were expelled.
const NAMED_MAX: usize = 32;
/// Seconds for which an expelled participant is named. One that still exists is refused again, and has a handshake.
const EXPELLED_FOR: u64 = 600;
/// Participants that one explanation names.
const EXPLAINED_MAX: usize = 3;

const NO_IDENTITY: &str = "it announces no identity, and the governance allows no unauthenticated participants; give it \
                           an identity (`dds security init`)";

/// Refused participants that have no handshake.
pub(super) struct RefusalLog {
    /// Reports of the present minute, and its start in seconds since 1970.
    reports: usize,
    reports_since: i64,
    without_identity: BTreeSet<GuidPrefix>,
    /// In the order of time.
    expelled: VecDeque<Expulsion>,
}

struct Expulsion {
    prefix: GuidPrefix,
    /// In seconds since 1970.
    at: i64,
    reason: String,
}

impl Expulsion {
    fn is_old(&self, unix: i64) -> bool {
        // The clock may also be set back.
        unix.abs_diff(self.at) > EXPELLED_FOR
    }
}

impl RefusalLog {
    pub(super) fn new(unix: i64) -> Self {
        Self { reports: 0, reports_since: unix, without_identity: BTreeSet::new(), expelled: VecDeque::new() }
    }

    /// Returns the report of a refusal. `None` if this minute has had enough of them.
    pub(super) fn report(
        &mut self,
        kind: SecurityReportKind,
        prefix: GuidPrefix,
        reason: &str,
        unix: i64,
    ) -> Option<SecurityAction> {
        // The clock may also be set back.
        if unix.abs_diff(self.reports_since) >= 60 {
            (self.reports, self.reports_since) = (0, unix);
        }
        if self.reports >= REPORTS_MAX {
            return None;
        }
        self.reports += 1;
        Some(SecurityAction::Report { kind, text: refusal(prefix, reason).into() })
    }

    /// Notes a participant that announces no identity. Returns a report for the first time.
    pub(super) fn without_identity(&mut self, prefix: GuidPrefix, unix: i64) -> Option<SecurityAction> {
        // Each announcement comes here again.
        if self.without_identity.len() >= NAMED_MAX || !self.without_identity.insert(prefix) {
            return None;
        }
        self.report(SecurityReportKind::Refused, prefix, NO_IDENTITY, unix)
    }

    /// Notes why a participant may no longer take part.
    pub(super) fn expelled(&mut self, prefix: GuidPrefix, reason: String, unix: i64) {
        // Most of them never return, so nothing else forgets them.
        self.expelled.retain(|known| known.prefix != prefix && !known.is_old(unix));
        if self.expelled.len() >= NAMED_MAX {
            self.expelled.pop_front();
        }
        self.expelled.push_back(Expulsion { prefix, at: unix, reason });
    }

    /// Forgets a participant that has left, or that takes part again.
    pub(super) fn forget(&mut self, prefix: GuidPrefix) {
        self.without_identity.remove(&prefix);
        self.expelled.retain(|known| known.prefix != prefix);
    }

    /// Returns a text on the first participants of `with_handshake` (each with its state) and of this log. Empty if
    /// there are none.
    pub(super) fn explain<'a>(
        &self,
        with_handshake: impl Iterator<Item = (GuidPrefix, Option<&'a str>)>,
        unix: i64,
    ) -> String {
        let unproved = "has not proved its identity yet (if that lasts, its own log says why it refuses this one)";
        let mut texts: Vec<String> = with_handshake
            .take(EXPLAINED_MAX)
            .map(|(prefix, reason)| match reason {
                Some(reason) => refusal(prefix, reason),
                None => format!("participant {prefix} {unproved}"),
            })
            .collect();
        let expelled = self.expelled.iter().rev().filter(|known| !known.is_old(unix));
        texts.extend(expelled.map(|known| refusal(known.prefix, &known.reason)));
        texts.extend(self.without_identity.iter().map(|prefix| refusal(*prefix, NO_IDENTITY)));
        texts.truncate(EXPLAINED_MAX);
        texts.join("; ")
    }
}

fn refusal(prefix: GuidPrefix, reason: &str) -> String {
    format!("participant {prefix} is refused: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(number: u8) -> GuidPrefix {
        GuidPrefix([number; 12])
    }

    #[test]
    fn flood_of_refusals_fills_neither_log_nor_memory() {
        let mut log = RefusalLog::new(1_000);
        let reports = (0..200).filter_map(|number| log.without_identity(prefix(number), 1_000)).count();
        assert_eq!((reports, log.without_identity.len()), (REPORTS_MAX, NAMED_MAX));
        (0..200).for_each(|number| log.expelled(prefix(number), "ended".to_owned(), 1_000));
        assert_eq!(log.expelled.len(), NAMED_MAX);
        assert!(log.report(SecurityReportKind::Refused, prefix(0), "late", 1_059).is_none());
        assert!(log.report(SecurityReportKind::Refused, prefix(0), "late", 1_060).is_some());
        assert_eq!(log.explain(std::iter::empty(), 1_060).matches("is refused").count(), EXPLAINED_MAX);
    }

    #[test]
    fn expelled_participants_that_are_gone_make_room() {
        let mut log = RefusalLog::new(1_000);
        (0..200).for_each(|number| log.expelled(prefix(number), format!("reason {number}"), 1_000));
        let explain = |log: &RefusalLog, unix| log.explain(std::iter::empty(), unix);
        assert!(explain(&log, 1_000).contains("reason 199"), "the last one is named");
        assert_eq!(explain(&log, 2_000), "");
        log.expelled(prefix(201), "late".to_owned(), 2_000);
        assert_eq!(log.expelled.len(), 1);
        assert!(explain(&log, 2_000).contains("late"));
    }

    #[test]
    fn participant_that_returns_is_reported_again() {
        let mut log = RefusalLog::new(0);
        assert!(log.without_identity(prefix(1), 0).is_some());
        assert!(log.without_identity(prefix(1), 0).is_none());
        log.forget(prefix(1));
        assert!(log.without_identity(prefix(1), 0).is_some());
    }
}
