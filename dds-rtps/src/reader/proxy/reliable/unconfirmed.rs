//! Unconfirmed changes: those that arrived, and that no HEARTBEAT of the writer has announced yet.
//!
//! Any host can send a DATA in a writer's name, and the change that the writer really writes is then a duplicate. But
//! the HEARTBEATs of a writer that is alive deny such a change:
//!
//! - Changes that wait for earlier ones are dropped after [`DENIED_FOR_LONG`], and requested if the writer announces
//!   them. Changes that arrived during this time stay.
//! - If changes may arrive twice ([`ReaderConfig::is_idempotent`]), the reader also moves back behind the last change
//!   that the writer has announced. It asks the writer if no HEARTBEAT arrives for [`CONFIRM_AFTER`].
//! - It also delivers a second, different change with the number of an unconfirmed one.
//!
//! A HEARTBEAT may lag: Cyclone DDS announces only the changes that it had transmitted before the datagram of the
//! HEARTBEAT. So a HEARTBEAT may deny the newest changes of an honest writer, but not the same ones for long.

use super::{ReliableState, StreamStart};
use crate::reader::config::ReaderConfig;
use crate::reader::delivery::ChangeDelivery;
use crate::reader::ledger::distance;
use crate::types::{Duration, Instant, SequenceNumber};
use std::collections::VecDeque;

/// How long HEARTBEATs must deny a change. A HEARTBEAT may be overtaken on its way, but not for so long.
const DENIED_FOR: Duration = Duration::from_millis(50);

/// As [`DENIED_FOR`], if changes must not arrive twice. A writer may not have a dropped change any more.
const DENIED_FOR_LONG: Duration = Duration::from_millis(200);

/// How long a change stays unconfirmed before the reader asks. Usual HEARTBEATs arrive sooner.
const CONFIRM_AFTER: Duration = Duration::from_secs(1);

/// Most unconfirmed changes whose content is remembered.
const CONTENTS_MAX: usize = 64;

/// HEARTBEATs that deny changes which have arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct DataDenial {
    since: Instant,
    /// Last number that the writer had announced then.
    last: SequenceNumber,
    /// First undelivered number then.
    next: SequenceNumber,
    /// Last number that had arrived then.
    through: SequenceNumber,
    /// Highest number that was held since then. The writer had no time to announce it.
    newest: SequenceNumber,
}

/// Changes that no HEARTBEAT has announced.
#[derive(Debug, Default)]
pub(super) struct Unconfirmed {
    /// Highest number that arrived. Used only if changes may arrive twice.
    last: SequenceNumber,
    /// Hash of the content of each unconfirmed change, up to [`CONTENTS_MAX`].
    contents: VecDeque<(SequenceNumber, u64)>,
    denial: Option<DataDenial>,
}

impl ReliableState {
    /// Notes the hash of the content of a change that arrives now.
    pub(crate) fn note_content(&mut self, now: Instant, number: SequenceNumber, content: u64) {
        let unconfirmed = &mut self.unconfirmed;
        unconfirmed.last = unconfirmed.last.max(number);
        if number <= self.announced.last {
            return;
        }
        if unconfirmed.contents.len() < CONTENTS_MAX {
            unconfirmed.contents.push_back((number, content));
        }
        self.acknacks.request_heartbeat_at(now.after(CONFIRM_AFTER));
    }

    /// Notes a change that waits for earlier ones.
    pub(super) fn note_held(&mut self, number: SequenceNumber) {
        if let Some(denial) = &mut self.unconfirmed.denial {
            denial.newest = denial.newest.max(number);
        }
    }

    /// Whether an unconfirmed change with this number had another content. Returns `true` once for each number.
    pub(crate) fn take_contradiction(&mut self, number: SequenceNumber, content: u64) -> bool {
        let contents = &mut self.unconfirmed.contents;
        let Some(at) = contents.iter().position(|&(known, before)| known == number && before != content) else {
            return false;
        };
        contents.remove(at);
        true
    }

    /// Compares the last number of a HEARTBEAT with the changes that have arrived.
    pub(super) fn check_unconfirmed(
        &mut self,
        now: Instant,
        last: SequenceNumber,
        delivery: &mut ChangeDelivery<'_>,
        config: &ReaderConfig,
    ) {
        // What a HEARTBEAT has announced once, no other one denies.
        let confirmed = self.announced.last.max(last);
        let held = if self.window.is_empty() { SequenceNumber::ZERO } else { self.window.end().previous() };
        let received = if config.is_idempotent { held.max(self.unconfirmed.last) } else { held };
        if config.is_idempotent {
            self.unconfirmed.contents.retain(|(number, _)| *number > confirmed);
        }
        if received <= confirmed || self.start != StreamStart::Known || self.is_refused {
            self.unconfirmed.denial = None;
            // The request may also concern a denied announcement, which this HEARTBEAT does not settle.
            if config.is_idempotent && !self.plausibility.is_denied() {
                self.acknacks.cancel_heartbeat_request();
            }
            return;
        }
        let denied_for = if config.is_idempotent { DENIED_FOR } else { DENIED_FOR_LONG };
        let denial = match self.unconfirmed.denial {
            // A HEARTBEAT that lags denies other changes each time. The earlier ones are confirmed by now.
            Some(denial) if config.is_idempotent || confirmed < denial.through => denial,
            _ => {
                let (next, newest) = (self.window.next(), SequenceNumber::ZERO);
                let denial = DataDenial { since: now, last: confirmed, next, through: received, newest };
                self.unconfirmed.denial = Some(denial);
                return self.acknacks.request_heartbeat_at(now.after(denied_for));
            }
        };
        if now.since(denial.since) < denied_for {
            return self.acknacks.request_heartbeat_at(denial.since.after(denied_for));
        }
        self.unconfirmed.denial = None;
        let kept = if config.is_idempotent { confirmed } else { confirmed.max(denial.newest) };
        let truncated = self.window.truncate(kept.next());
        // The ledger has counted the changes that were received and not delivered.
        delivery.tally.restart(truncated.empty);
        let mut is_retracted = truncated.all > 0;
        if self.gap.is_some_and(|gap| gap.end > confirmed.next()) {
            self.gap = None;
        }
        if config.is_idempotent {
            is_retracted |= self.move_back(denial, delivery, config);
            self.unconfirmed.last = confirmed;
        }
        delivery.counters.retracted += u64::from(is_retracted);
    }

    /// Expects the denied numbers again that were delivered before the denial. Later ones stay received.
    fn move_back(&mut self, denial: DataDenial, delivery: &mut ChangeDelivery<'_>, config: &ReaderConfig) -> bool {
        let (from, next) = (denial.last.next(), self.window.next());
        if from >= denial.next || distance(from, next) > config.reorder_max as u64 {
            return false;
        }
        self.window.restart_at(from, config.reorder_max);
        let mut number = denial.next;
        while number < next {
            self.window.mark_empty(number);
            number = number.next();
        }
        self.window.drop_missing_end();
        // The application has them, so they stay in the count of known numbers.
        delivery.tally.restart(distance(self.first.max(from), denial.next));
        self.first = self.first.min(from);
        self.announced.floor = self.announced.floor.min(from);
        self.plausibility.forget_skipped();
        true
    }
}
