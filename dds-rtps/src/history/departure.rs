//! Who writes an instance of a reader, what becomes of it when one of them leaves, and when nobody needs it.

use super::reader::{Admission, ReaderHistory, ReceivedChange};
use super::{CacheChange, ChangeKind};
use crate::types::{Guid, InstanceHandle, Instant, Now, SequenceNumber, Time};

impl ReaderHistory {
    /// The part of an instance's end that counts whether or not the rest does: a writer that unregisters writes the instance
    /// no more, however late that comes, and whoever owns it.
    pub(super) fn leave(
        &mut self,
        now: Instant,
        at: u32,
        received: &ReceivedChange,
        unregisters: bool,
        admission: Admission,
    ) -> Admission {
        if !unregisters {
            return admission;
        }
        let orphaned = self.unregister(at, received.change.writer);
        if orphaned {
            let change = CacheChange { kind: ChangeKind::NotAliveUnregistered, ..received.change.clone() };
            self.announce_state(at, &change, received.reception_timestamp);
        }
        self.note_end(at, now);
        self.release(at);
        if orphaned { Admission::Visible } else { admission }
    }

    /// A writer is gone: it writes none of its instances any more. `true`: some instance has lost its last writer.
    ///
    /// Never disposes, whatever the writer's life cycle QoS says: deleting a writer is no dispose (DDS 1.4, 2.2.3.21 as
    /// Fast DDS and the OMG's interoperability suite read it). The cost grows with the number of instances that it has
    /// written, not with those of others.
    pub fn writer_lost(&mut self, now: Now, writer: Guid) -> bool {
        let visible = self.writer_not_alive(now, writer);
        if let Some(ownership) = &mut self.ownership {
            ownership.forget_writer(writer);
        }
        visible
    }

    /// A writer has lost its liveliness: until it writes an instance again, it counts neither as a writer of that nor as its
    /// owner (DDS 1.4, 2.2.2.5.1.3 and 2.2.3.9.2). That it is alive again changes nothing by itself, so there is no call for
    /// it. `true`: some instance has lost its last writer. Cost: as of [`ReaderHistory::writer_lost`].
    pub fn writer_not_alive(&mut self, now: Now, writer: Guid) -> bool {
        let mut visible = false;
        for at in self.instances.take_written_by(writer) {
            if let Some(timing) = &mut self.timing {
                let held = timing.filter.take(at);
                visible |= self.let_last_in(at, held, now.instant);
            }
            if self.unregister(at, writer) {
                let instance = self.instances.get(at);
                visible = true;
                let change = CacheChange {
                    kind: ChangeKind::NotAliveUnregistered,
                    writer,
                    sequence_number: SequenceNumber::UNKNOWN,
                    instance: instance.handle,
                    source_timestamp: Time::INVALID,
                    related_sample: None,
                    origin: None,
                    presented: None,
                    payload: None,
                };
                self.announce_state(at, &change, now.time);
                self.note_end(at, now.instant);
            }
            self.release(at);
        }
        visible
    }

    /// OWNERSHIP_STRENGTH of a matched writer, to be told before its first change and when it has another one. Means nothing
    /// under shared ownership.
    pub fn set_ownership_strength(&mut self, writer: Guid, strength: i32) {
        if let Some(ownership) = &mut self.ownership {
            ownership.set_strength(writer, strength);
        }
    }

    /// Whether a sample or dispose by `writer` counts, or another one owns the instance. One that does not count says all the
    /// same that `writer` writes the instance.
    pub(super) fn is_admitted(&mut self, at: u32, writer: Guid) -> bool {
        let Some(ownership) = &mut self.ownership else { return true };
        if ownership.admits(at, self.instances.get(at), writer) {
            return true;
        }
        ownership.note_bid(at, writer);
        self.counters.ownership += 1;
        self.register(at, writer);
        false
    }

    /// Notes that `writer` writes the instance; `false`: there is no room to remember it.
    pub(super) fn register(&mut self, at: u32, writer: Guid) -> bool {
        let remembered = self.instances.register(at, writer);
        self.counters.writers_forgotten += u64::from(!remembered);
        remembered
    }

    /// As [`ReaderHistory::register`], of a writer whose change counts. Nobody owns what he could not be seen to leave.
    pub(super) fn claim(&mut self, at: u32, writer: Guid) {
        let remembered = self.register(at, writer);
        if let Some(ownership) = self.ownership.as_mut().filter(|_| remembered) {
            ownership.claim(at, writer);
        }
    }

    /// `true`: it was the last writer of an instance that was alive, which now has no writers.
    pub(super) fn unregister(&mut self, at: u32, writer: Guid) -> bool {
        let orphaned = self.instances.unregister(at, writer);
        if let Some(ownership) = &mut self.ownership {
            ownership.release(at, self.instances.get(at), writer);
        }
        orphaned
    }

    /// Frees the instance, if nobody needs it.
    pub(super) fn release(&mut self, at: u32) {
        if !self.instances.release(at) {
            return;
        }
        if let Some(held) = self.timing.as_mut().and_then(|timing| timing.forget(at)) {
            self.note_filtered(held.change.writer);
        }
    }

    /// Forgets the instances that were taken empty.
    #[inline]
    pub(super) fn release_departed(&mut self) {
        while let Some(at) = self.departed.pop() {
            self.release(at);
        }
    }

    /// Forgets this instance, if it was taken empty. Whether somebody has selected since then is chance, and must not show: a
    /// change of it is the first one of a new instance, whose generations count from zero (DDS 1.4, 2.2.2.5.1.5).
    pub(super) fn release_departed_one(&mut self, instance: InstanceHandle) {
        if let Some(at) = self.instances.find(instance) {
            self.release(at);
        }
    }
}
