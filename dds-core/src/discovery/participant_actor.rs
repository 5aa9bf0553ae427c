//! State of discovery in its cell.

use crate::actor::{Actor, Awaitable, Cell, Deferred, Effects, Poke, Signals, Wakers};
use crate::context::ParticipantCore;
use crate::discovery::loneliness::{Loneliness, LonelinessLog};
use crate::discovery::neighbors::Neighbors;
use crate::driver::{Driver, Flushed, Outgoing};
use crate::reception::{DiscoveryRun, Routes};
use dds_rtps::concurrent::Payload;
use dds_rtps::discovery::ParticipantEvent;
use dds_rtps::participant::Participant;
use dds_rtps::types::{GuidPrefix, Now};
use dds_rtps::wire::{Message, Receiver, Submessage};
use std::net::IpAddr;
use std::sync::{Arc, Weak};

/// Events that one visit takes out of the cell. Bounds the memory of the buffer and the time of a visit.
const EVENTS_PER_VISIT: usize = 64;

/// The cell of a participant.
pub(crate) type ParticipantCell = Cell<ParticipantActor>;

/// Mail of other threads to discovery.
pub(crate) enum ParticipantMail {
    /// A datagram that arrived while discovery was occupied.
    Packet {
        packet: Payload,
        sender: Option<IpAddr>,
        /// Offset of the first submessage that discovery has not handled.
        offset: usize,
    },
}

/// The state of a participant: SPDP, SEDP, leases, matching.
pub(crate) struct ParticipantActor {
    rtps: Participant,
    driver: Arc<dyn Driver>,
    outgoing: Outgoing,
    /// When each participant was last heard.
    routes: Arc<Routes>,
    /// Carries out the events of a timer, for which no caller waits.
    owner: Weak<dyn Deferred>,
    /// Wakers of threads that wait for a topic.
    finders: Wakers,
    neighbors: Neighbors,
    loneliness: Loneliness,
    core: Arc<ParticipantCore>,
    /// Events were taken and may not be carried out yet.
    events_are_out: bool,
    /// Answers are held back until the events are carried out, or until the burst of packets ends.
    answer_is_due: bool,
    /// Several packets follow each other.
    holds_answers: bool,
}

impl ParticipantActor {
    pub(crate) fn new(rtps: Participant, core: &Arc<ParticipantCore>, routes: Arc<Routes>) -> Self {
        Self {
            rtps,
            driver: Arc::clone(core.driver()),
            outgoing: core.outgoing(),
            routes,
            owner: Weak::<NoOwner>::new(),
            finders: Wakers::new(),
            neighbors: Neighbors::default(),
            loneliness: Loneliness::NotStarted,
            core: Arc::clone(core),
            events_are_out: false,
            answer_is_due: false,
            holds_answers: false,
        }
    }

    /// Sets the cell and the owner of the actor.
    pub(crate) fn attach(&mut self, cell: Weak<dyn Poke>, owner: Weak<dyn Deferred>) {
        self.outgoing.attach(cell);
        self.owner = owner;
    }

    /// The first announcement.
    pub(crate) fn start(&mut self) {
        let now = self.driver.now();
        self.rtps.start(now);
        self.loneliness = Loneliness::Since(now.instant);
        self.follow_up(now);
    }

    /// Handles the submessages of a run up to the first one for another endpoint. Returns the offset of that one.
    pub(crate) fn receive<'a>(
        &mut self,
        receiver: &mut Receiver<'a>,
        run: &DiscoveryRun<'_, 'a>,
        packet: &Payload,
    ) -> usize {
        let now = self.driver.now();
        self.rtps.handle_submessage(now, receiver, run.first, packet);
        // Discovery takes the submessages behind the first as well, which saves a visit for each.
        let mut behind = run.behind.clone();
        let end = loop {
            let end = behind.offset();
            // Reception counts faulty submessages and dispatches all others.
            let Some(Ok(submessage)) = behind.next() else { break end };
            if matches!(submessage, Submessage::InfoTimestamp(_) | Submessage::InfoDestination(_)) {
                receiver.apply(&submessage);
            } else if Participant::is_addressed_by(&submessage) {
                self.rtps.handle_submessage(now, receiver, &submessage, packet);
            } else {
                break end;
            }
        };
        self.answer_after_events(now);
        end
    }

    /// Answers peers, or delays the answers while events wait to be carried out.
    ///
    /// A peer that receives an answer may send at once. The callers [take the events](Self::take_events) afterward.
    fn answer_after_events(&mut self, now: Now) {
        if self.holds_answers || self.rtps.has_events() || self.events_are_out {
            self.answer_is_due = true;
        } else {
            self.follow_up(now);
        }
    }

    /// Handles the submessages of a queued datagram from `offset` on.
    fn receive_queued(&mut self, packet: &Payload, sender: Option<IpAddr>, offset: usize, now: Now) {
        let parsed = Message::parse(packet.bytes());
        debug_assert!(parsed.is_ok(), "reception parsed the datagram before it was queued");
        let Ok(message) = parsed else { return };
        let mut receiver = Receiver::new(&message.header);
        receiver.sender = sender;
        let mut submessages = message.submessages();
        loop {
            let at = submessages.offset();
            let Some(submessage) = submessages.next() else { break };
            // Reception counted faulty submessages.
            let Ok(submessage) = submessage else { continue };
            receiver.apply(&submessage);
            if at >= offset {
                self.rtps.handle_submessage(now, &receiver, &submessage, packet);
            }
        }
    }

    /// A change of the protocol's state by the application, such as a new endpoint.
    pub(crate) fn change<R>(&mut self, change: impl FnOnce(&mut Participant, Now) -> R) -> R {
        let now = self.driver.now();
        let result = change(&mut self.rtps, now);
        self.follow_up(now);
        result
    }

    /// As [`change`](Self::change), for a caller that [takes the events](Self::take_events) afterward.
    ///
    /// A peer that learns of a new reader may send at once, so the reader knows its writers first.
    pub(crate) fn change_before_announcing<R>(&mut self, change: impl FnOnce(&mut Participant, Now) -> R) -> R {
        let now = self.driver.now();
        let result = change(&mut self.rtps, now);
        self.answer_after_events(now);
        result
    }

    /// Sends the disposal of the participant.
    pub(crate) fn shutdown(&mut self) {
        let now = self.driver.now();
        self.rtps.shutdown(now);
        let rtps = &mut self.rtps;
        // A full socket drops it, because the lease ends as well.
        while self.outgoing.flush(|datagram| rtps.poll_transmit(now, datagram)) == Flushed::More {}
    }

    /// Moves pending events to `events`, at most [`EVENTS_PER_VISIT`].
    ///
    /// The caller carries them out outside of the cell, and calls again until there are none.
    pub(crate) fn take_events(&mut self, events: &mut Vec<ParticipantEvent>) {
        debug_assert!(events.is_empty(), "the events before these are carried out");
        while events.len() < EVENTS_PER_VISIT {
            let Some(event) = self.rtps.poll_event() else { break };
            match &event {
                ParticipantEvent::ParticipantDiscovered { participant } => {
                    self.loneliness = Loneliness::Over;
                    self.note_neighbor(participant.prefix);
                }
                ParticipantEvent::ParticipantLost { prefix, .. } => self.neighbors.lost(*prefix),
                _ => {}
            }
            events.push(event);
        }
        self.events_are_out = !events.is_empty();
    }

    /// Whether [`send_answers`](Self::send_answers) has something to send.
    pub(crate) fn answer_is_due(&self) -> bool {
        self.answer_is_due
    }

    /// Sends the answers that were held back while events were carried out.
    pub(crate) fn send_answers(&mut self) {
        // The end of the burst sends them.
        if !self.holds_answers && std::mem::take(&mut self.answer_is_due) {
            self.follow_up(self.driver.now());
        }
    }

    /// Holds answers back, because several packets follow each other. Their answers share datagrams.
    pub(crate) fn hold_answers(&mut self) {
        self.holds_answers = true;
    }

    /// Sends the answers that were held back, unless events wait to be carried out.
    pub(crate) fn release_answers(&mut self) {
        self.holds_answers = false;
        if std::mem::take(&mut self.answer_is_due) {
            self.answer_after_events(self.driver.now());
        }
    }

    fn note_neighbor(&mut self, prefix: GuidPrefix) {
        let Some(route) = self.rtps.route(prefix) else { return };
        // The system knows the processes of this host only.
        if route.same_host {
            self.neighbors.found(self.driver.now().instant, prefix, self.outgoing.presence(prefix));
            self.set_deadline();
        }
    }

    fn set_deadline(&mut self) {
        // One timer serves both.
        let deadlines = [self.rtps.deadline(), self.neighbors.deadline()];
        self.outgoing.set_deadline(deadlines.into_iter().flatten().min());
    }

    pub(crate) fn finders(&mut self) -> &mut Wakers {
        &mut self.finders
    }

    /// Reports every remote endpoint as an event from now on.
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

/// Stands for the owner of an actor that is not attached yet.
struct NoOwner;

impl Deferred for NoOwner {
    fn run(self: Arc<Self>, _: u32, _effects: &mut Effects) {}
}

impl Awaitable for ParticipantActor {
    fn wake_all_waiters(&mut self, effects: &mut Effects) {
        self.finders.wake_all(effects);
    }
}

impl Actor for ParticipantActor {
    type Mail = ParticipantMail;

    fn handle(&mut self, mail: ParticipantMail, _effects: &mut Effects) {
        let ParticipantMail::Packet { packet, sender, offset } = mail;
        let now = self.driver.now();
        self.receive_queued(&packet, sender, offset, now);
        // Answered once for all the mail that a visitor finds, by the signal that is served after it.
        self.outgoing.come_back();
    }

    fn wake_waiters(&mut self, effects: &mut Effects) {
        self.wake_all_waiters(effects);
    }

    fn handle_signals(&mut self, _signals: Signals, effects: &mut Effects) {
        let now = self.driver.now();
        let owner = self.owner.upgrade();
        // Without an owner, before `attach` or after the last handle, nothing carries out events.
        let carries_out = owner.is_some();
        if let Some(owner) = owner {
            let rtps = &mut self.rtps;
            self.routes.harvest_heard(|prefix, heard| {
                rtps.handle_traffic(Now { instant: heard, time: now.time }, prefix);
            });
            effects.defer(owner);
        }
        for prefix in self.neighbors.missing(now.instant, |prefix| self.outgoing.presence(prefix)) {
            // The same loss as an expired lease, only sooner.
            self.rtps.handle_crash(now, prefix);
        }
        self.rtps.handle_timeout(now);
        // Announcements are more frequent than this line needs.
        if self.loneliness.is_due(now.instant) {
            effects.defer(Arc::new(LonelinessLog { core: Arc::clone(&self.core) }));
        }
        if carries_out {
            self.answer_after_events(now);
        } else {
            self.follow_up(now);
        }
    }

    fn mail_bytes(mail: &ParticipantMail) -> usize {
        let ParticipantMail::Packet { packet, .. } = mail;
        packet.len()
    }
}
