//! Discovery's state behind its cell.

use crate::actor::Awaitable;
use crate::actor::{Actor, Cell, Effects, Poke, Signals, Wakers};
use crate::discovery::neighbors::Neighbours;
use crate::driver::Driver;
use crate::driver::{Flushed, Outgoing};
use crate::participant::ParticipantHandle;
use dds_rtps::concurrent::Payload;
use dds_rtps::discovery::ParticipantEvent;
use dds_rtps::participant::Participant;
use dds_rtps::types::{GuidPrefix, Now};
use dds_rtps::wire::{Message, Receiver};
use std::sync::{Arc, Weak};

/// The cell of a participant.
pub(crate) type ParticipantCell = Cell<ParticipantActor>;

/// What others leave for discovery.
pub(crate) enum ParticipantMail {
    /// A datagram with discovery traffic that came while somebody was inside.
    Packet(Payload),
}

/// A writer that is manual by participant has shown that it is alive.
pub(crate) const WRITER_IS_ALIVE: Signals = Signals::own(2);

/// The state of a participant: SPDP, SEDP, leases, matching.
pub(crate) struct ParticipantActor {
    rtps: Participant,
    driver: Arc<dyn Driver>,
    outgoing: Outgoing,
    /// Where the events of a timer go, which nobody waits for.
    handle: Weak<ParticipantHandle>,
    /// Who waits for a topic that somebody has.
    finders: Wakers,
    neighbours: Neighbours,
    /// What has happened is to be carried out before anything is sent.
    answer_is_due: bool,
}

impl ParticipantActor {
    pub(crate) fn new(rtps: Participant, driver: Arc<dyn Driver>, outgoing: Outgoing) -> Self {
        let (finders, neighbours) = (Wakers::new(), Neighbours::default());
        Self { rtps, driver, outgoing, handle: Weak::new(), finders, neighbours, answer_is_due: false }
    }

    /// Tells the actor in which cell it is and whose.
    pub(crate) fn attach(&mut self, cell: Weak<dyn Poke>, handle: Weak<ParticipantHandle>) {
        self.outgoing.attach(cell);
        self.handle = handle;
    }

    /// The first announcement.
    pub(crate) fn start(&mut self) {
        let now = self.driver.now();
        self.rtps.start(now);
        self.follow_up(now);
    }

    /// A datagram with discovery traffic.
    pub(crate) fn receive(&mut self, packet: &Payload) {
        let now = self.driver.now();
        self.take_in(packet, now);
        self.answer_after_events(now);
    }

    /// What has happened is carried out first: whoever is told that an announcement was heard may send at once. Only for who comes
    /// to [`ParticipantActor::poll_event`] afterwards.
    fn answer_after_events(&mut self, now: Now) {
        if self.rtps.has_events() {
            self.answer_is_due = true;
        } else {
            self.follow_up(now);
        }
    }

    fn take_in(&mut self, packet: &Payload, now: Now) {
        let Ok(message) = Message::parse(packet.bytes()) else { return };
        let mut receiver = Receiver::new(&message.header);
        for submessage in message.submessages().flatten() {
            receiver.apply(&submessage);
            self.rtps.handle_submessage(now, &receiver, &submessage, packet);
        }
    }

    /// A change of the protocol's state by the application, such as a new endpoint.
    pub(crate) fn change<R>(&mut self, change: impl FnOnce(&mut Participant, Now) -> R) -> R {
        let now = self.driver.now();
        let result = change(&mut self.rtps, now);
        self.follow_up(now);
        result
    }

    /// Sends the farewells.
    pub(crate) fn shutdown(&mut self) {
        let now = self.driver.now();
        self.rtps.shutdown(now);
        let rtps = &mut self.rtps;
        // A full socket is not waited for: the peers' leases end as well.
        while self.outgoing.flush(|datagram| rtps.poll_transmit(now, datagram)) == Flushed::More {}
    }

    pub(crate) fn poll_event(&mut self) -> Option<ParticipantEvent> {
        let event = self.rtps.poll_event();
        match &event {
            Some(ParticipantEvent::ParticipantDiscovered { participant }) => self.note_neighbour(participant.prefix),
            Some(ParticipantEvent::ParticipantLost { prefix, .. }) => self.neighbours.lost(*prefix),
            None if std::mem::take(&mut self.answer_is_due) => self.follow_up(self.driver.now()),
            _ => {}
        }
        event
    }

    fn note_neighbour(&mut self, prefix: GuidPrefix) {
        if self.rtps.reach(prefix).is_some_and(|reach| reach.same_host) {
            self.neighbours.found(self.driver.now().instant, prefix, self.outgoing.presence(prefix));
            self.set_deadline();
        }
    }

    fn set_deadline(&mut self) {
        let deadlines = [self.rtps.deadline(), self.neighbours.deadline()];
        self.outgoing.set_deadline(deadlines.into_iter().flatten().min());
    }

    pub(crate) fn finders(&mut self) -> &mut Wakers {
        &mut self.finders
    }

    /// From now on there are events for every endpoint of others.
    pub(crate) fn observe_endpoints(&mut self) {
        self.rtps.observe_endpoints();
    }

    pub(crate) fn rtps(&self) -> &Participant {
        &self.rtps
    }

    fn follow_up(&mut self, now: Now) {
        let rtps = &mut self.rtps;
        if self.outgoing.flush(|datagram| rtps.poll_transmit(now, datagram)) == Flushed::More {
            self.outgoing.come_back();
        }
        self.set_deadline();
    }
}

impl Awaitable for ParticipantActor {
    fn wake_everybody(&mut self, effects: &mut Effects) {
        self.finders.wake_all(effects);
    }
}

impl Actor for ParticipantActor {
    type Mail = ParticipantMail;

    fn handle(&mut self, mail: ParticipantMail, _effects: &mut Effects) {
        let ParticipantMail::Packet(packet) = mail;
        let now = self.driver.now();
        self.take_in(&packet, now);
        // Answered once for all the mail that a visitor finds, by the signal that is served after it.
        self.outgoing.come_back();
    }

    fn wake_waiters(&mut self, effects: &mut Effects) {
        self.wake_everybody(effects);
    }

    fn handle_signals(&mut self, _signals: Signals, effects: &mut Effects) {
        let now = self.driver.now();
        let handle = self.handle.upgrade();
        let carries_out = handle.is_some();
        if let Some(handle) = handle {
            let rtps = &mut self.rtps;
            handle.routes().harvest_heard(|prefix, heard| {
                rtps.handle_traffic(Now { instant: heard, time: now.time }, prefix);
            });
            effects.defer(handle);
        }
        for prefix in self.neighbours.missing(now.instant, |prefix| self.outgoing.presence(prefix)) {
            self.rtps.handle_crash(now, prefix);
        }
        self.rtps.handle_timeout(now);
        if carries_out {
            self.answer_after_events(now);
        } else {
            self.follow_up(now);
        }
    }

    fn mail_bytes(mail: &ParticipantMail) -> usize {
        let ParticipantMail::Packet(packet) = mail;
        packet.len()
    }
}
