//! Whose word counts.
//!
//! Numbers are left out because a GAP or HEARTBEAT says so, and anybody who can send a datagram can send
//! that in a writer's name. Without DDS Security a reader cannot know better, but it can see to it that the writer, as long as
//! it is there, has the last word. A reach of more than [`JUMP_MAX`] numbers must stand for a second in which the writer,
//! which is asked, does not speak of the old ones. Fewer are left out at once, and taken back when the writer says for a second
//! that it has not come so far. What is lost all the same: samples that a writer has let go because such a reader had seemed to
//! acknowledge them; and whoever sends whole samples in a writer's name is believed.

use crate::reader::delivery::Sink;
use crate::reader::ledger::distance;
use crate::reader::proxy::reliable::{Reliable, Skipped};
use crate::types::{Duration, Instant, SequenceNumber};
use crate::wire::Heartbeat;

/// How far a writer may have come between two signs of it to be believed at once: a million samples, which is more than any
/// writer sends in the tenth of a second between two of its HEARTBEATs.
pub(crate) const JUMP_MAX: u64 = 1 << 20;

/// How long it must stand that a writer has come further. A writer that is alive and is not there answers sooner: it is
/// asked at once.
const DOUBT: Duration = Duration::from_secs(1);

impl Reliable {
    /// Whether a writer may say that its numbers reach as far as this. What is further away than any writer gets between two
    /// of its HEARTBEATs must stand for a while without the writer saying otherwise, and the writer is asked.
    pub(crate) fn believes(&mut self, now: Instant, reach: SequenceNumber) -> bool {
        if self.asking.is_preemptive() || distance(self.known_end(), reach) <= JUMP_MAX {
            // It has been heard where it was.
            self.doubted_since = None;
            return true;
        }
        let since = *self.doubted_since.get_or_insert(now);
        if now.since(since) >= DOUBT {
            self.doubted_since = None;
            return true;
        }
        self.asking.doubt(Some(now));
        false
    }

    /// A HEARTBEAT says that the writer has not written what it is said to have left out: if it says so for a second, the reader
    /// goes back.
    pub(crate) fn hear_denial(&mut self, now: Instant, heartbeat: &Heartbeat, sink: &mut Sink<'_>) {
        let next = self.window.next();
        let skipped = self.skipped.filter(|skipped| skipped.to == next && self.window.is_empty());
        let last = heartbeat.last_sn;
        self.is_unconfirmed &= last.next() < next;
        // It was said to have announced numbers, or to have sent a sample, that it is nowhere near.
        let is_elsewhere = is_far(last, self.announced) || self.is_astray(last);
        let is_behind = skipped.is_some() && last.next() < next;
        if !(is_behind || is_elsewhere) {
            // What was heard before was overtaken on its way.
            self.denied_at = None;
            return;
        }
        if self.refused {
            return;
        }
        // Several may have been overtaken on their way, but hardly all of a second.
        match self.denied_at {
            Some(at) if now.since(at) >= DOUBT => {}
            Some(at) => {
                self.asking.doubt(at.after(DOUBT));
                return;
            }
            None => {
                self.denied_at = Some(now);
                self.asking.doubt(Some(now));
                return;
            }
        }
        self.denied_at = None;
        sink.counters.retracted += 1;
        match skipped.filter(|_| is_behind) {
            Some(skipped) => self.take_back(skipped, sink),
            None => self.forget_announced(last, sink),
        }
    }

    /// Expects again what was left out.
    fn take_back(&mut self, skipped: Skipped, sink: &mut Sink<'_>) {
        self.window.go_back(skipped.from);
        (self.floor, self.announced) = (skipped.from, skipped.from.previous());
        (self.gap, self.skipped) = (None, None);
        self.first = skipped.first;
        self.told = (skipped.to, skipped.lost);
        sink.tally.take_back(skipped.lost, skipped.irrelevant, skipped.known_before);
    }

    /// Expects no more than the writer has: up to `last`.
    fn forget_announced(&mut self, last: SequenceNumber, sink: &mut Sink<'_>) {
        let next = self.window.next();
        self.announced = last.max(self.window.end().previous());
        self.gap = None;
        self.history_end = self.history_end.map(|end| end.min(last));
        if self.is_astray(last) {
            // Nothing that it writes would be taken in: it begins again where it says that it is.
            sink.tally.begin_again(distance(self.first, next));
            let begin = last.next();
            self.window.go_back(begin);
            (self.first, self.floor, self.announced) = (begin, begin, last);
        }
    }

    /// Whether the reader has begun with a sample in the writer's name that lies far beyond `last`.
    fn is_astray(&self, last: SequenceNumber) -> bool {
        self.is_unconfirmed && self.window.is_empty() && is_far(last, self.window.next())
    }
}

/// Whether a writer whose last number is `last` has never been at `number`.
fn is_far(last: SequenceNumber, number: SequenceNumber) -> bool {
    distance(last.next(), number) > JUMP_MAX
}
