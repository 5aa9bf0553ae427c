//! The receiving end of a participant, which the threads of the driver call.

use crate::actor::Effects;
use crate::driver::{Expected, ExpectedPlace, Packet, Receive};
use crate::participant::ParticipantHandle;
use crate::reception::ReceivedDatagram;
use std::sync::{Arc, Weak};

/// The receiving end of a participant: hands datagrams to reception, and the rest of the work to discovery.
pub(crate) struct ReceiveEnd {
    participant: Weak<ParticipantHandle>,
}

impl ReceiveEnd {
    pub(crate) fn new(participant: Weak<ParticipantHandle>) -> Arc<Self> {
        Arc::new(Self { participant })
    }
}

impl Receive for ReceiveEnd {
    fn receive(&self, packet: &Packet, next: Option<&ExpectedPlace>) {
        // Weak, because the sockets' threads must not keep a dropped participant alive.
        let Some(participant) = self.participant.upgrade() else { return };
        let reception = participant.reception();
        Effects::scope(|effects| {
            let received = reception.receive(packet, next, participant.discovery(), effects);
            let ReceivedDatagram { for_discovery, revived } = received;
            if for_discovery {
                participant.carry_out_matches(effects);
            }
            if let Some(prefix) = revived {
                reception.revive_writers_of(prefix, effects);
            }
        });
    }

    fn land(&self, landed: Expected, next: &ExpectedPlace) {
        let Some(participant) = self.participant.upgrade() else { return };
        let reception = participant.reception();
        Effects::scope(|effects| {
            let ReceivedDatagram { for_discovery, revived } = reception.land(landed, next, effects);
            debug_assert!(!for_discovery, "discovery has no fragments that are received in place");
            if let Some(prefix) = revived {
                reception.revive_writers_of(prefix, effects);
            }
        });
    }

    fn begin_burst(&self) {
        let Some(participant) = self.participant.upgrade() else { return };
        Effects::scope(|effects| participant.discovery().hold_answers(effects));
    }

    fn end_burst(&self) {
        let Some(participant) = self.participant.upgrade() else { return };
        Effects::scope(|effects| participant.discovery().release_answers(effects));
    }

    fn locators_changed(&self) {
        if let Some(participant) = self.participant.upgrade() {
            participant.follow_network();
        }
    }
}
