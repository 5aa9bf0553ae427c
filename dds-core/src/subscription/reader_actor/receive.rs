//! Changes of local writers and submessages of remote ones on their way into the reader.

use crate::actor::Effects;
use crate::delivery::LocalParcel;
use crate::subscription::reader_actor::ReaderActor;
use crate::subscription::{ParsedRun, SubmessageRun, SubmessageRunEnd};
use dds_rtps::concurrent::{Payload, PayloadSource};
use dds_rtps::reader::{InPlaceFragment, LocalOutcome, Source};
use dds_rtps::wire::{DataFrag, Message, Submessage};

impl ReaderActor {
    /// Processes a change of a local writer.
    pub(crate) fn receive_local(&mut self, parcel: LocalParcel<'_>, effects: &mut Effects) {
        let now = self.endpoint.now(effects);
        if self.rtps.liveliness().not_alive > 0 {
            // A writer that becomes alive again does so before its change is processed.
            self.follow_local_writers(now, false);
        }
        let outcome = self.rtps.handle_local(now, parcel.change, parcel.previous);
        if let (LocalOutcome::Accepted, Some(path)) = (outcome, parcel.path) {
            path.progressed(effects);
        }
        self.follow_up(now, effects);
    }

    /// Processes submessages of a matched writer in place, on the borrowed datagram. Returns where they end.
    pub(crate) fn receive(
        &mut self,
        run: &SubmessageRun,
        parsed: ParsedRun<'_, '_>,
        packet: &dyn PayloadSource,
        effects: &mut Effects,
    ) -> SubmessageRunEnd {
        let end = run.walk_on(parsed, |source, submessage| self.handle_submessage(source, submessage, packet, effects));
        // The time that the submessages were processed with. Another reading of the clock gains nothing.
        let now = self.endpoint.last();
        self.follow_up(now, effects);
        end
    }

    /// Processes submessages that waited in the inbox.
    pub(super) fn receive_packet(&mut self, packet: &Payload, run: &SubmessageRun, effects: &mut Effects) {
        let Ok(message) = Message::parse(packet.bytes()) else {
            debug_assert!(false, "a datagram is parsed before it becomes mail");
            return;
        };
        run.walk(&message, |source, submessage| self.handle_submessage(source, submessage, packet, effects));
        let now = self.endpoint.last();
        self.pass_gate(now, effects);
        self.take_events(effects);
        // The signal after all mail answers once for all of it.
        self.endpoint.outgoing.come_back();
    }

    fn handle_submessage(
        &mut self,
        source: &Source,
        submessage: &Submessage<'_>,
        packet: &dyn PayloadSource,
        effects: &mut Effects,
    ) {
        let now = self.endpoint.now(effects);
        match submessage {
            Submessage::Data(data) => self.rtps.handle_data(now, source, data, packet),
            Submessage::DataFrag(data) => self.rtps.handle_data_frag(now, source, data),
            Submessage::Heartbeat(heartbeat) => self.rtps.handle_heartbeat(now, source, heartbeat),
            Submessage::HeartbeatFrag(heartbeat) => self.rtps.handle_heartbeat_frag(now, source, heartbeat),
            Submessage::Gap(gap) => self.rtps.handle_gap(now, source, gap),
            // The walk offers only submessages of writers. Others belong to the receiver.
            _ => return,
        };
    }

    /// Returns the place of the fragment after the received one, if that is likely to arrive next.
    pub(crate) fn next_fragment_place(
        &mut self,
        run: &SubmessageRun,
        fragment: &DataFrag<'_>,
    ) -> Option<InPlaceFragment> {
        self.rtps.lend_next_fragment(run.source.writer, fragment.writer_sn, fragment.fragment_starting_num)
    }

    /// Processes a fragment that was received in place. Returns the place of the next one.
    pub(crate) fn receive_in_place(
        &mut self,
        source: &Source,
        fragment: InPlaceFragment,
        effects: &mut Effects,
    ) -> Option<InPlaceFragment> {
        let now = self.endpoint.now(effects);
        let next = self.rtps.handle_in_place(now, source, fragment);
        self.follow_up(now, effects);
        next
    }
}
