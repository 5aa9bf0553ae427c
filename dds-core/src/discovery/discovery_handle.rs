//! The cell of discovery, for the other rooms of the participant.

use crate::actor::{Capacity, Cell, Effects, OfferError, Offered, PushError, Ticket};
use crate::context::ParticipantCore;
use crate::discovery::{BuiltinReaders, ParticipantActor, ParticipantCell, ParticipantMail};
use crate::driver::Packet;
use crate::infrastructure::CreateErrorKind;
use crate::introspection::{Explainer, MatchReport};
use crate::reception::{DiscoveryInput, DiscoveryOffer, DiscoveryRun, Routes};
use dds_rtps::discovery::ParticipantEvent;
use dds_rtps::participant::{Participant, ParticipantCounters};
use dds_rtps::types::{Guid, Now};
use dds_rtps::wire::Receiver;
use std::sync::Arc;

/// The cell of discovery, and the built-in readers that it feeds.
pub(crate) struct Discovery {
    cell: Arc<ParticipantCell>,
    builtin: BuiltinReaders,
}

impl Discovery {
    pub(crate) fn new(core: &Arc<ParticipantCore>, protocol: Participant, routes: &Arc<Routes>) -> Self {
        let actor = ParticipantActor::new(protocol, core, Arc::clone(routes));
        let cell = Cell::new(actor, Capacity::default(), Arc::clone(core.driver().run_queue()));
        Self { cell, builtin: BuiltinReaders::new(core) }
    }

    pub(crate) fn cell(&self) -> &Arc<ParticipantCell> {
        &self.cell
    }

    pub(crate) fn builtin(&self) -> &BuiltinReaders {
        &self.builtin
    }

    /// Changes the state of discovery. The caller carries out the resulting events.
    ///
    /// # Errors
    /// Fails if the participant is closed.
    pub(crate) fn change<R>(
        &self,
        effects: &mut Effects,
        change: impl FnOnce(&mut Participant, Now) -> R,
    ) -> Result<R, CreateErrorKind> {
        match self.cell.with(effects, |actor, _| actor.change_before_announcing(change)) {
            Ok(result) => Ok(result),
            Err(_) => Err(CreateErrorKind::Closed),
        }
    }

    /// Moves pending events to `events`. Returns whether answers wait until they are carried out.
    pub(crate) fn take_events(&self, events: &mut Vec<ParticipantEvent>, effects: &mut Effects) -> bool {
        // Events and the question in one visit, so that no answer of another thread falls between them.
        let taken = self.cell.with(effects, |actor, _| {
            actor.take_events(events);
            actor.answer_is_due()
        });
        // A closed participant has no events and no answers.
        taken.unwrap_or(false)
    }

    /// Returns a report on a local endpoint and another one. `None` if one of them has left.
    pub(crate) fn explain_pair(&self, local: Guid, other: Guid, effects: &mut Effects) -> Option<MatchReport> {
        let report = self.cell.with(effects, |actor, _| Explainer { rtps: actor.rtps() }.pair(local, other));
        // A closed participant knows no endpoints.
        report.ok()?
    }

    /// Sends the answers that waited until the events were carried out.
    pub(crate) fn send_answers(&self, effects: &mut Effects) {
        // A closed participant sends no answers.
        let _ = self.cell.with(effects, |actor, _| actor.send_answers());
    }

    /// Holds answers back until [`Self::release_answers`], so that all of them share datagrams.
    pub(crate) fn hold_answers(&self, effects: &mut Effects) {
        // A closed participant sends no answers.
        let _ = self.cell.with(effects, |actor, _| actor.hold_answers());
    }

    /// Sends the answers that were held back.
    pub(crate) fn release_answers(&self, effects: &mut Effects) {
        // A closed participant sends no answers.
        let _ = self.cell.with(effects, |actor, _| actor.release_answers());
    }

    /// Returns the announcements of remote participants as events. Discovery reports all endpoints from now on.
    ///
    /// # Errors
    /// Fails if the participant is closed.
    pub(crate) fn known(&self, effects: &mut Effects) -> Result<Vec<ParticipantEvent>, CreateErrorKind> {
        let known = self.cell.with(effects, |actor, _| {
            actor.observe_endpoints();
            let rtps = actor.rtps();
            let mut known = Vec::new();
            for participant in rtps.participants() {
                known.push(ParticipantEvent::ParticipantDiscovered { participant: Arc::clone(participant) });
            }
            // The built-in topics describe remote entities only (DDS 1.4, 2.2.5).
            for writer in rtps.matching().writers() {
                if !writer.is_local {
                    known.push(ParticipantEvent::WriterAnnounced { writer: Arc::clone(writer) });
                }
            }
            for reader in rtps.matching().readers() {
                if !reader.is_local {
                    known.push(ParticipantEvent::ReaderAnnounced { reader: Arc::clone(reader) });
                }
            }
            known
        });
        known.or(Err(CreateErrorKind::Closed))
    }

    /// Wakes the callers that wait for a topic.
    pub(crate) fn wake_finders(&self, effects: &mut Effects) {
        // A closed participant has no waiters.
        let _ = self.cell.with(effects, |actor, effects| actor.finders().wake_all(effects));
    }

    /// Removes a waiter for a topic or a type that gives up.
    pub(crate) fn abandon_finder(&self, ticket: Ticket) {
        // A closed participant has no waiters.
        let _ = self.cell.visit(|actor, effects| actor.finders().abandon(&mut Some(ticket), effects));
    }

    pub(crate) fn counters(&self) -> Option<ParticipantCounters> {
        self.cell.visit(|actor, _| actor.rtps().counters()).ok()
    }
}

impl DiscoveryInput for Discovery {
    fn offer<'a>(
        &self,
        receiver: &mut Receiver<'a>,
        run: &DiscoveryRun<'_, 'a>,
        packet: &Packet,
        effects: &mut Effects,
    ) -> DiscoveryOffer {
        let offered = self.cell.offer(
            effects,
            |actor, _| actor.receive(receiver, run, &packet.payload),
            || ParticipantMail::Packet { packet: packet.to_keep(), sender: packet.sender, offset: run.offset },
        );
        match offered {
            Ok(Offered::Served(end)) => DiscoveryOffer::HandledUpTo(end),
            Err(OfferError::Push(PushError::Full(_))) => DiscoveryOffer::Dropped,
            // A closed participant needs no announcements.
            Ok(Offered::Queued) | Err(_) => DiscoveryOffer::Queued,
        }
    }
}
