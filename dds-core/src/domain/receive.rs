//! From a datagram to the cells: parse, follow the interpreter, offer each submessage to whom it is for.

use crate::actor::{Effects, OfferError, PushError};
use crate::domain::ParticipantHandle;
use crate::domain::participant_actor::ParticipantMail;
use crate::domain::traffic::count;
use crate::driver::{Packet, Receive, Socket};
use crate::publication::{WriterCell, WriterMail};
use crate::subscription::{ReaderCell, ReaderMail};
use dds_rtps::discovery::ReplyTo;
use dds_rtps::reader::Source;
use dds_rtps::types::{EntityId, Guid, Locator};
use dds_rtps::wire::{
    AckNack, Message, NackFrag, Receiver, Scope, Submessage, Transform, WireErrorKind, id as submessage_id,
};
use dds_rtps::writer::Asker;
use std::sync::{Arc, Weak};

/// The receiving end of a participant: what the driver's threads call.
pub(crate) struct ReceiveEnd {
    participant: Weak<ParticipantHandle>,
}

impl ReceiveEnd {
    pub(crate) fn new(participant: Weak<ParticipantHandle>) -> Arc<Self> {
        Arc::new(Self { participant })
    }
}

impl Receive for ReceiveEnd {
    fn receive(&self, packet: &Packet) {
        if let Some(participant) = self.participant.upgrade() {
            Effects::scope(|effects| participant.receive(packet, effects));
        }
    }

    fn locators_changed(&self) {
        if let Some(participant) = self.participant.upgrade() {
            participant.follow_network();
        }
    }
}

/// Where in which datagram a submessage stands.
struct Place<'a> {
    packet: &'a Packet,
    offset: usize,
    /// Where the datagram wants to be answered, if not where discovery says.
    reply: Option<Locator>,
}

impl ParticipantHandle {
    fn receive(&self, packet: &Packet, effects: &mut Effects) {
        let counters = self.receive_counters();
        count(&counters.received);
        let mut scratch = Vec::new();
        let Ok(bytes) = Transform::Identity.open(Scope::Message, packet.payload.bytes(), &mut scratch);
        let message = match Message::parse(bytes) {
            Ok(message) => message,
            Err(error) => {
                return count(match error.kind {
                    WireErrorKind::Checksum => &counters.damaged,
                    WireErrorKind::MustUnderstand => &counters.malformed,
                    _ => &counters.not_rtps,
                });
            }
        };
        let own = message.header.prefix == self.prefix();
        // Without in-process delivery a participant reaches its own readers by the user-data socket.
        if own && !(self.config().udp_only && packet.socket == Socket::UserUnicast) {
            count(&counters.reflected);
            return;
        }
        let mut receiver = Receiver::new(&message.header);
        let mut submessages = message.submessages();
        let mut for_discovery = false;
        let mut reply = None;
        // The readers' share of this frame uses the same reading of the clock.
        let now = effects.read_clock(|| self.driver().now());
        let awaited = self.routes().heard_of(message.header.prefix, now.instant);
        loop {
            let offset = submessages.offset();
            let Some(submessage) = submessages.next() else { break };
            let Ok(submessage) = submessage else {
                count(&counters.malformed);
                continue;
            };
            receiver.apply(&submessage);
            if matches!(submessage, Submessage::InfoReply(_) | Submessage::InfoSource(_)) {
                reply = self.reply_to(&receiver);
            }
            if receiver.is_for(self.prefix()) {
                for_discovery |= self.dispatch(&receiver, &submessage, &Place { packet, offset, reply }, effects);
            }
        }
        if for_discovery {
            self.offer_to_discovery(packet, effects);
        }
        if awaited {
            self.revive_writers_of(message.header.prefix, effects);
        }
    }

    /// Hands a submessage to whom it is for. True: it is discovery's, which takes the whole datagram at once.
    fn dispatch(
        &self,
        receiver: &Receiver,
        submessage: &Submessage<'_>,
        place: &Place<'_>,
        effects: &mut Effects,
    ) -> bool {
        let (writer_id, reader_id) = match submessage {
            Submessage::Data(data) => (data.writer_id, data.reader_id),
            Submessage::DataFrag(data) => (data.writer_id, data.reader_id),
            Submessage::Heartbeat(heartbeat) => (heartbeat.writer_id, heartbeat.reader_id),
            Submessage::HeartbeatFrag(heartbeat) => (heartbeat.writer_id, heartbeat.reader_id),
            Submessage::Gap(gap) => (gap.writer_id, gap.reader_id),
            Submessage::AckNack(AckNack { writer_id, reader_id, .. })
            | Submessage::NackFrag(NackFrag { writer_id, reader_id, .. }) => {
                if !writer_id.is_builtin() {
                    let asker = Asker { reader: receiver.source(*reader_id), reply: place.reply };
                    self.offer_to_writer(*writer_id, asker, submessage, effects);
                }
                return writer_id.is_builtin();
            }
            Submessage::Skipped { id } => {
                let counters = self.receive_counters();
                count(if submessage_id::is_secure(*id) { &counters.secure } else { &counters.skipped });
                return false;
            }
            _ => return false,
        };
        if writer_id.is_builtin() {
            return true;
        }
        let source = Source {
            writer: receiver.source(writer_id),
            timestamp: receiver.source_timestamp,
            vendor: receiver.source_vendor,
            reply: place.reply,
        };
        self.offer_to_readers(reader_id, source, submessage, place, effects);
        false
    }

    fn offer_to_readers(
        &self,
        reader_id: EntityId,
        source: Source,
        submessage: &Submessage<'_>,
        place: &Place<'_>,
        effects: &mut Effects,
    ) {
        if reader_id != EntityId::UNKNOWN {
            match self.routes().reader(reader_id) {
                Some(reader) => self.offer_to_reader(&reader, source, submessage, place, effects),
                None => self.note_no_such_endpoint(),
            }
            return;
        }
        let readers = self.routes().matched_readers(source.writer);
        for reader in &readers {
            self.offer_to_reader(reader, source, submessage, place, effects);
        }
        if readers.is_empty() {
            self.note_no_such_endpoint();
        }
    }

    fn offer_to_reader(
        &self,
        reader: &Arc<ReaderCell>,
        source: Source,
        submessage: &Submessage<'_>,
        place: &Place<'_>,
        effects: &mut Effects,
    ) {
        let packet = &place.packet.payload;
        let offered = reader.offer(
            effects,
            |actor, effects| actor.receive(&source, submessage, packet, effects),
            || ReaderMail::Packet { packet: place.packet.to_keep(), offset: place.offset, source },
        );
        if let Err(OfferError::Push(PushError::Full(mail))) = offered {
            self.make_room(reader, mail, source.writer);
        }
    }

    /// An occupied reader has a full inbox: the oldest mail of the same best-effort writer makes room for the new one. Of
    /// a reliable writer it does not matter which one is dropped, for all are repaired.
    fn make_room(&self, reader: &Arc<ReaderCell>, mail: ReaderMail, writer: Guid) {
        count(&self.receive_counters().inbox_full);
        let is_older =
            |waiting: &ReaderMail| matches!(waiting, ReaderMail::Packet { source, .. } if source.writer == writer);
        // Dropped is dropped, whichever it was; it has been counted.
        let _ = reader.push_over(mail, is_older);
    }

    fn offer_to_writer(&self, writer_id: EntityId, asker: Asker, submessage: &Submessage<'_>, effects: &mut Effects) {
        let Some(writer) = self.routes().writer(writer_id) else { return self.note_no_such_endpoint() };
        let offered = match submessage {
            Submessage::AckNack(message) => {
                offer_answer(&writer, effects, || WriterMail::AckNack(asker, message.clone()))
            }
            Submessage::NackFrag(message) => {
                offer_answer(&writer, effects, || WriterMail::NackFrag(asker, message.clone()))
            }
            _ => true,
        };
        if !offered {
            count(&self.receive_counters().inbox_full);
        }
    }

    /// Where the source of what follows is to be answered, if not where discovery says.
    #[cold]
    fn reply_to(&self, receiver: &Receiver<'_>) -> Option<Locator> {
        let reply = self.routes().reply_to(receiver.source_prefix, receiver.reply.as_ref()?);
        if reply == ReplyTo::Refused {
            count(&self.receive_counters().replies_refused);
        }
        reply.locator()
    }

    fn note_no_such_endpoint(&self) {
        count(&self.receive_counters().no_such_endpoint);
    }

    fn offer_to_discovery(&self, packet: &Packet, effects: &mut Effects) {
        let offered = self.cell().offer(
            effects,
            |actor, _| actor.receive(&packet.payload),
            || ParticipantMail::Packet(packet.to_keep()),
        );
        if let Err(OfferError::Push(PushError::Full(_))) = offered {
            count(&self.receive_counters().inbox_full);
        }
        self.carry_out_matches(effects);
    }
}

/// False if the writer had no room for it; the reader will say it again.
fn offer_answer(writer: &Arc<WriterCell>, effects: &mut Effects, mail: impl Fn() -> WriterMail) -> bool {
    let offered = writer.offer(
        effects,
        |actor, effects| match mail() {
            WriterMail::AckNack(asker, message) => actor.receive_ack_nack(asker, &message, effects),
            WriterMail::NackFrag(asker, message) => actor.receive_nack_frag(asker, &message, effects),
        },
        &mail,
    );
    !matches!(offered, Err(OfferError::Push(PushError::Full(_))))
}
