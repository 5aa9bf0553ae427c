//! Changes that the application writes, and their way to the network.

use crate::actor::{Effects, Ticket};
use crate::driver::Flushed;
use crate::publication::writer_actor::WriterActor;
use dds_rtps::concurrent::BorrowedMut;
use dds_rtps::history::KeyPayload;
use dds_rtps::types::{Duration, InstanceHandle, Now, SequenceNumber};
use dds_rtps::writer::{EndedSet, NewChange, WriteRefused};
use smallvec::SmallVec;
use std::sync::atomic::Ordering;
use std::task::Waker;

/// Instances disposed in one visit of the cell. More would keep other visitors out for too long.
pub(crate) const INSTANCES_PER_VISIT: usize = 32;

/// Instances that are alive, with the payloads from which their keys can be decoded.
type AliveInstances = SmallVec<[(InstanceHandle, Option<KeyPayload>); INSTANCES_PER_VISIT]>;

/// Result of writing several changes.
pub(crate) struct WrittenTogether {
    /// Number of written changes.
    pub(crate) count: usize,
    /// Number of tried changes, including those of instances that another thread has unregistered.
    pub(crate) tried: usize,
    pub(crate) flushed: Flushed,
    /// Why the next change was refused.
    pub(crate) refused: Option<WriteRefused>,
}

impl WriterActor {
    /// Adds a change to the history, delivers it to local readers and passes it to the kernel.
    ///
    /// `ticket` is the caller's place in the queue for room. No write overtakes the queue.
    pub(crate) fn write(
        &mut self,
        change: &mut NewChange,
        ticket: &mut Option<Ticket>,
        effects: &mut Effects,
    ) -> Result<Flushed, WriteRefused> {
        // Earlier waiters go first.
        if !self.waiting_for_room.is_next(*ticket) {
            return Err(WriteRefused::Full);
        }
        let now = self.endpoint.read_clock(effects);
        // A volatile writer with only local best-effort readers needs no history, because no reader can request the
        // change. The history would cost a sixth of the write.
        if self.local_readers.have_caught_up() {
            if let Some(change) = &mut self.rtps.write_through(now, change) {
                self.waiting_for_room.finish(ticket, effects);
                self.follow_liveliness(effects);
                self.local_readers.deliver_through(change, effects);
                return Ok(Flushed::Done);
            }
        }
        self.rtps.set_suspended(self.is_suspended());
        // A waiting sample must be sent before the new one replaces it in a KEEP_LAST history.
        if self.rtps.would_drop_waiting(change) {
            self.rtps.flush();
            self.follow_up(now, effects);
        }
        // A suspension holds back only datagrams. Local readers gain nothing from a batch and get each change at once.
        let number = match self.write_to_history(now, change) {
            Ok(number) => number,
            Err(refused) => {
                // The protocol may have to ask the readers for acknowledgments to make room.
                self.follow_up_and_come_back(now, effects);
                return Err(refused);
            }
        };
        debug_assert_eq!(number, self.rtps.last_sequence_number(), "a write takes the next sequence number");
        if ticket.is_none() && self.slow_readers.has_holder() {
            // This write did not wait.
            self.note_holder(None, effects);
        }
        self.waiting_for_room.finish(ticket, effects);
        // The next writer in the queue may also find room.
        self.waiting_for_room.wake_one(effects);
        self.follow_liveliness(effects);
        self.local_readers.deliver(&self.rtps, number, effects);
        if self.rtps.has_only_gathered() {
            // The timer is set for the first sample of a batch. Later samples need nothing else.
            return Ok(Flushed::Done);
        }
        Ok(self.follow_up(now, effects))
    }

    fn write_to_history(&mut self, now: Now, change: &mut NewChange) -> Result<SequenceNumber, WriteRefused> {
        match self.rtps.try_write(now, change) {
            Err(WriteRefused::Full) if !self.local_readers.is_empty() => {
                // From here on local readers report their progress. Their progress up to now counts already.
                self.local_readers.request_progress();
                self.rtps.try_write(now, change)
            }
            outcome => outcome,
        }
    }

    fn is_suspended(&self) -> bool {
        if self.gathers {
            return true;
        }
        match &self.suspensions {
            Some(suspensions) => suspensions.load(Ordering::Acquire) > 0,
            None => false,
        }
    }

    /// Writes changes until one is refused, and sends them together.
    pub(crate) fn write_together(&mut self, changes: &mut [NewChange], effects: &mut Effects) -> WrittenTogether {
        // Held back as under a suspension, so that the changes share datagrams.
        self.gathers = true;
        let mut written = WrittenTogether { count: 0, tried: 0, flushed: Flushed::Done, refused: None };
        for change in changes {
            match self.write(change, &mut None, effects) {
                Ok(_) => written.count += 1,
                // Another thread has unregistered the instance.
                Err(WriteRefused::UnknownInstance) => {}
                Err(refused) => {
                    written.refused = Some(refused);
                    break;
                }
            }
            written.tried += 1;
        }
        self.gathers = false;
        self.rtps.set_suspended(self.is_suspended());
        written.flushed = self.send_on(effects);
        written
    }

    /// Returns instances that are alive, starting at `place`, and advances `place`.
    pub(crate) fn alive_instances(&mut self, place: &mut usize) -> AliveInstances {
        let mut alive = AliveInstances::new();
        while alive.len() < INSTANCES_PER_VISIT {
            let Some((next, instance, key)) = self.rtps.next_alive_instance(*place) else { break };
            alive.push((instance, key.cloned()));
            *place = next;
        }
        alive
    }

    /// Ends a coherent set of the publisher. Notifies the readers if the set has changes of this writer.
    pub(crate) fn end_set(&mut self, ended: EndedSet, effects: &mut Effects) -> Flushed {
        let now = self.endpoint.read_clock(effects);
        self.rtps.set_suspended(self.is_suspended());
        let Some(number) = self.rtps.end_set(now, ended) else { return Flushed::Done };
        self.local_readers.deliver(&self.rtps, number, effects);
        self.follow_up(now, effects)
    }

    /// Removes changes from the history that need not be kept any more.
    pub(crate) fn withdraw(&mut self, numbers: &[SequenceNumber], effects: &mut Effects) {
        let now = self.endpoint.read_clock(effects);
        for &number in numbers {
            self.rtps.withdraw(now, number);
        }
        self.follow_up_and_come_back(now, effects);
    }

    /// Registers a waiter for room. The caller must be in the same visit in which the write was refused.
    pub(crate) fn wait_for_room(&mut self, ticket: &mut Option<Ticket>, waker: Waker, effects: &mut Effects) {
        self.waiting_for_room.register(ticket, waker, effects);
    }

    pub(crate) fn abandon_room(&mut self, ticket: &mut Option<Ticket>, effects: &mut Effects) {
        self.waiting_for_room.abandon(ticket, effects);
    }

    /// Sends the samples that were held back, because the publisher is no longer suspended.
    pub(crate) fn send_held(&mut self, effects: &mut Effects) {
        self.rtps.set_suspended(false);
        let now = self.endpoint.read_clock(effects);
        self.follow_up_and_come_back(now, effects);
    }

    /// Sets how long later small samples may wait for others.
    pub(crate) fn set_batch_window(&mut self, window: Duration, effects: &mut Effects) {
        let now = self.endpoint.read_clock(effects);
        self.rtps.set_batch_window(window);
        self.follow_up_and_come_back(now, effects);
    }

    /// Sends the samples that wait for others.
    pub(crate) fn flush(&mut self, effects: &mut Effects) -> Flushed {
        let now = self.endpoint.read_clock(effects);
        self.rtps.flush();
        self.follow_up(now, effects)
    }

    /// Lends shared memory for a sample of `len` bytes, if it reaches all readers.
    pub(crate) fn lend(&self, len: usize) -> Option<BorrowedMut> {
        let locators = self.rtps.reader_locators();
        if locators.is_empty() { None } else { self.endpoint.outgoing.lend(locators, len) }
    }

    /// Sends the next part after [`Flushed::More`].
    pub(crate) fn send_on(&mut self, effects: &mut Effects) -> Flushed {
        let now = self.endpoint.read_clock(effects);
        self.follow_up(now, effects)
    }

    /// Completes every visit that may have changed the protocol's state: sends, reports events and sets the next
    /// deadline.
    pub(super) fn follow_up(&mut self, now: Now, effects: &mut Effects) -> Flushed {
        self.take_events(effects);
        let Self { rtps, endpoint, .. } = self;
        let outgoing = &mut endpoint.outgoing;
        // Most visits leave nothing to send and no timer to set.
        if rtps.is_at_rest() && outgoing.is_at_rest() {
            return Flushed::Done;
        }
        // The paths of the readers may have come or gone since.
        rtps.update_long_message_max(|locators| outgoing.long_message_max(locators));
        let mut flushed = outgoing.flush(|datagram| rtps.poll_transmit(now, datagram));
        // Best-effort readers never answer, so the writer queries the receive buffers of those on this host.
        let wanted_room = rtps.waits_for_room(now);
        if let (Some(locators), Flushed::Done) = (wanted_room, flushed) {
            let room = outgoing.room_at(locators);
            if rtps.note_room(now, room) {
                flushed = Flushed::More;
            }
        }
        // After the flush, which may have moved the deadline.
        outgoing.set_deadline(rtps.deadline());
        if !self.waiting_for_send.is_empty() && self.rtps.sent_up_to() > self.sent_up_to {
            self.sent_up_to = self.rtps.sent_up_to();
            self.waiting_for_send.wake_all(effects);
        }
        if flushed == Flushed::Done && self.is_paced(false) {
            // The caller may wait, so that it does not write faster than the readers receive.
            return Flushed::Paced;
        }
        flushed
    }

    /// As [`WriterActor::follow_up`], for callers that do not send the rest themselves.
    pub(super) fn follow_up_and_come_back(&mut self, now: Now, effects: &mut Effects) {
        if self.follow_up(now, effects) == Flushed::More {
            // The rest is sent by a later visit, so that this caller does not hold the cell for too long.
            self.endpoint.outgoing.come_back();
        }
    }

    /// Returns whether callers wait until more written bytes are sent. `has_waited`: the caller waits already.
    pub(crate) fn is_paced(&self, has_waited: bool) -> bool {
        self.rtps.has_more_to_send() && self.rtps.makes_callers_wait(has_waited)
    }

    /// Returns whether all changes up to `number` are sent, and registers the waiter if not. `number` defaults to the
    /// newest change.
    pub(crate) fn wait_until_sent(
        &mut self,
        number: &mut Option<SequenceNumber>,
        ticket: &mut Option<Ticket>,
        waker: Waker,
        effects: &mut Effects,
    ) -> bool {
        let number = *number.get_or_insert(self.rtps.last_sequence_number());
        // A writer that is not paced has passed everything to the kernel.
        if self.rtps.sent_up_to() >= number || !self.is_paced(true) {
            self.waiting_for_send.finish(ticket, effects);
            effects.discard(waker);
            return true;
        }
        self.sent_up_to = self.rtps.sent_up_to();
        self.waiting_for_send.register(ticket, waker, effects);
        false
    }

    pub(crate) fn abandon_sent(&mut self, ticket: &mut Option<Ticket>, effects: &mut Effects) {
        self.waiting_for_send.abandon(ticket, effects);
    }
}
