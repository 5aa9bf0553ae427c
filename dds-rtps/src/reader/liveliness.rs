//! Which of the matched writers are alive (LIVELINESS; DDS 1.4, 2.2.3.11; RTPS 2.5, 8.4.13).
//!
//! A writer's lease is the one that it offers: it is the writer's commitment that was not respected (DDS 1.4, 2.2.4.1). What
//! renews it depends on its kind:
//!
//! | kind | sign of life |
//! |---|---|
//! | automatic | anything from its participant |
//! | manual by participant | a message of its participant that says so, or data of any of its writers of this kind |
//! | manual by topic | data of the writer itself, or a HEARTBEAT with the liveliness flag |
//!
//! A sign of life is a store. Leases are looked at when the earliest of them may end, and only then: the timer is not set
//! anew by samples. A writer of this process has no lease here, for it knows itself, and says so.
//!
//! Life cycle: a lease is made and dropped with its writer's proxy.

use crate::concurrent::AssertionClock;
use crate::qos::{Liveliness, LivelinessKind};
use crate::reader::stateful::StatefulReader;
use crate::types::{Duration, Guid, Instant, Now, earliest};
use std::sync::Arc;

/// The shortest lease that is looked after. A writer that offers less would be lost and found with each of its samples.
const LEASE_MIN: Duration = Duration::from_millis(1);

/// A look at the leases that comes so much too late says that this process did not run, and could not hear anybody.
const LATE: Duration = Duration::from_millis(100);

/// How many of a reader's writers are alive, and how many are not (DDS 1.4, 2.2.4.1, LIVELINESS_CHANGED).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LivelinessCounts {
    /// Matched writers that are alive.
    pub alive: u32,
    /// Matched writers that are not.
    pub not_alive: u32,
    /// How often one of the two has changed.
    pub changes: u64,
    /// The writer for which it did last.
    pub last: Option<Guid>,
}

/// The lease of one writer.
#[derive(Debug)]
pub(crate) struct WriterLease {
    kind: LivelinessKind,
    duration: Duration,
    heard: Instant,
    /// Where other signs of life of its participant are noted.
    assertion_clock: Option<Arc<AssertionClock>>,
    alive: bool,
    /// When it was given another chance.
    forgiven: Option<Instant>,
}

impl WriterLease {
    /// The lease of a writer that is matched now, which counts as a sign of life.
    pub(crate) fn new(now: Instant, offered: Liveliness, assertion_clock: Option<Arc<AssertionClock>>) -> Self {
        let Liveliness { kind, lease_duration } = offered;
        let duration = lease_duration.max(LEASE_MIN);
        Self { kind, duration, heard: now, assertion_clock, alive: true, forgiven: None }
    }

    /// Of a writer that tells itself whether it is alive.
    pub(crate) fn unlimited() -> Self {
        Self::new(Instant::ZERO, Liveliness::default(), None)
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.alive
    }

    /// Whether it can end at all.
    #[inline]
    fn is_limited(&self) -> bool {
        !self.duration.is_infinite()
    }

    /// The writer itself has shown that it is alive. `true`: it did not count as such.
    #[inline]
    fn renew(&mut self, now: Instant) -> bool {
        self.heard = now;
        if let (LivelinessKind::ManualByParticipant, Some(assertion_clock)) = (self.kind, &self.assertion_clock) {
            // Who waits for it hears of it when the participant's next message comes.
            let _ = assertion_clock.assert(now);
        }
        !self.alive
    }

    /// When its writer was heard last, here or elsewhere.
    fn last_heard(&self) -> Instant {
        self.assertion_clock.as_ref().map_or(self.heard, |assertion_clock| assertion_clock.last().max(self.heard))
    }

    /// When it ends, unless something is heard.
    fn end(&self) -> Option<Instant> {
        if self.alive { self.last_heard().after(self.duration) } else { None }
    }

    fn set_alive(&mut self, alive: bool) {
        if self.alive == alive {
            return;
        }
        self.alive = alive;
        match (&self.assertion_clock, alive) {
            (Some(assertion_clock), true) => assertion_clock.remove_waiting_lease(),
            (Some(assertion_clock), false) => assertion_clock.add_waiting_lease(),
            (None, _) => {}
        }
    }

    /// Whether it is over, at a look that comes as late as `late` says.
    fn has_ended(&mut self, now: Instant, late: bool) -> bool {
        if self.end().is_none_or(|end| end > now) {
            return false;
        }
        // Once: a process that is always late must not keep the dead alive.
        if late && self.forgiven != Some(self.last_heard()) {
            self.heard = now;
            self.forgiven = Some(now);
            return false;
        }
        true
    }
}

impl Drop for WriterLease {
    fn drop(&mut self) {
        self.set_alive(true);
    }
}

impl StatefulReader {
    /// How many of the matched writers are alive.
    #[must_use]
    pub fn liveliness(&self) -> LivelinessCounts {
        self.liveliness
    }

    /// Whether a matched writer counts as alive; `None`: it is not matched.
    #[must_use]
    pub fn is_writer_alive(&self, writer: Guid) -> Option<bool> {
        let at = *self.by_guid.get(&writer)?;
        Some(self.proxies.get(at)?.lease.is_alive())
    }

    /// Says whether a matched writer is alive: for one of this process, which has no lease here.
    pub fn set_writer_alive(&mut self, now: Now, writer: Guid, alive: bool) {
        if let Some(at) = self.find(writer).filter(|&at| self.proxies[at].lease.alive != alive) {
            self.note_liveliness(now, at, alive);
        }
    }

    /// A participant has shown signs of life (RTPS 2.5, 8.4.13.5): looks again at its writers that do not count as alive.
    pub fn look_at_lost_writers(&mut self, now: Now) {
        if self.liveliness.not_alive == 0 {
            return;
        }
        for at in 0..self.proxies.len() {
            let lease = &self.proxies[at].lease;
            let end =
                lease.assertion_clock.as_ref().and_then(|assertion_clock| assertion_clock.last().after(lease.duration));
            if !lease.alive && end.is_some_and(|end| end > now.instant) {
                self.note_liveliness(now, at, true);
            }
        }
    }

    /// The writer of a proxy has shown that it is alive.
    #[inline]
    pub(crate) fn note_sign_of_life(&mut self, now: Now, at: usize) {
        let lease = &mut self.proxies[at].lease;
        if lease.is_limited() && lease.renew(now.instant) {
            self.note_liveliness(now, at, true);
        }
    }

    /// A HEARTBEAT shows that its writer is alive if it says so, or if anything does.
    #[inline]
    pub(crate) fn note_heartbeat_of(&mut self, now: Now, at: usize, liveliness: bool) {
        if liveliness || self.proxies[at].lease.kind == LivelinessKind::Automatic {
            self.note_sign_of_life(now, at);
        }
    }

    /// A proxy is there: its writer counts as alive.
    pub(crate) fn note_new_writer(&mut self, at: usize) {
        let proxy = &self.proxies[at];
        let writer = proxy.guid();
        self.next_lease = earliest(self.next_lease, proxy.lease.end());
        self.liveliness.alive += 1;
        self.tell_liveliness(writer);
    }

    /// A proxy is gone.
    pub(crate) fn note_gone_writer(&mut self, writer: Guid, alive: bool) {
        let counts = &mut self.liveliness;
        let count = if alive { &mut counts.alive } else { &mut counts.not_alive };
        *count = count.saturating_sub(1);
        self.tell_liveliness(writer);
    }

    /// Looks whether leases have ended.
    pub(crate) fn check_leases(&mut self, now: Now) {
        let Some(due) = self.next_lease.filter(|due| *due <= now.instant) else { return };
        let late = due.after(LATE).is_some_and(|late| late <= now.instant);
        self.next_lease = None;
        let mut some_lost = false;
        for at in 0..self.proxies.len() {
            let lease = &mut self.proxies[at].lease;
            if lease.has_ended(now.instant, late) {
                some_lost = true;
                self.note_liveliness(now, at, false);
            } else {
                self.next_lease = earliest(self.next_lease, lease.end());
            }
        }
        if some_lost {
            // A sign of life may have come just before anybody waited for it.
            self.look_at_lost_writers(now);
        }
    }

    /// A writer has lost its liveliness, or found it again.
    #[cold]
    fn note_liveliness(&mut self, now: Now, at: usize, alive: bool) {
        let proxy = &mut self.proxies[at];
        let writer = proxy.guid();
        proxy.lease.set_alive(alive);
        if alive {
            self.liveliness.alive += 1;
            self.liveliness.not_alive = self.liveliness.not_alive.saturating_sub(1);
            self.next_lease = earliest(self.next_lease, self.proxies[at].lease.end());
        } else {
            self.liveliness.alive = self.liveliness.alive.saturating_sub(1);
            self.liveliness.not_alive += 1;
            if self.history.writer_not_alive(now, writer) {
                self.events.data_available();
            }
        }
        self.tell_liveliness(writer);
    }

    fn tell_liveliness(&mut self, writer: Guid) {
        self.liveliness.changes += 1;
        self.liveliness.last = Some(writer);
        self.events.liveliness_changed();
    }
}
