//! From a datagram to the cells: parse, follow the interpreter, offer each submessage to its receivers.

use crate::actor::{Effects, OfferError, Offered, PushError};
use crate::context::ParticipantCore;
use crate::driver::{ExpectedPlace, Packet, Socket};
use crate::publication::{WriterCell, WriterMail};
use crate::reception::traffic::count;
use crate::reception::{Heard, ReceiveCounters, Routes, TrafficCounters};
use crate::subscription::{ParsedRun, ReaderCell, ReaderMail, SubmessageRun, SubmessageRunEnd};
use dds_rtps::discovery::ReplyTo;
use dds_rtps::participant::Participant;
use dds_rtps::reader::Source;
use dds_rtps::types::{EntityId, Guid, GuidPrefix, Locator};
use dds_rtps::wire::{
    AckNack, Header, Message, NackFrag, Receiver, Submessage, Submessages, Transform, WireErrorKind,
    id as submessage_id,
};
use dds_rtps::writer::Asker;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The receiving half of a participant: the cells for its datagrams, and counters of ignored input.
pub(crate) struct Reception {
    pub(super) core: Arc<ParticipantCore>,
    /// Opens every datagram once. Parsers and queues behind it see opened messages only.
    transform: Transform,
    routes: Arc<Routes>,
    pub(super) counters: ReceiveCounters,
}

/// Work that a datagram leaves for its participant.
#[derive(Default)]
pub(crate) struct ReceivedDatagram {
    /// Discovery received submessages, and its events are pending.
    pub(crate) for_discovery: bool,
    /// The sender did not count as alive for some local reader, and does again.
    pub(crate) revived: Option<GuidPrefix>,
}

/// Discovery as reception uses it. It receives the submessages of built-in endpoints.
pub(crate) trait DiscoveryInput {
    /// Handles the run, or keeps it as mail if discovery is occupied. `receiver` follows the handled submessages.
    fn offer<'a>(
        &self,
        receiver: &mut Receiver<'a>,
        run: &DiscoveryRun<'_, 'a>,
        packet: &Packet,
        effects: &mut Effects,
    ) -> DiscoveryOffer;
}

/// Submessages of a datagram from the first one for a built-in endpoint on.
pub(crate) struct DiscoveryRun<'m, 'a> {
    /// Offset of the first submessage in the message.
    pub(crate) offset: usize,
    /// The first submessage, which is for a built-in endpoint.
    pub(crate) first: &'m Submessage<'a>,
    /// The submessages behind it, for any endpoint.
    pub(crate) behind: Submessages<'a>,
}

/// Result of [`DiscoveryInput::offer`].
pub(crate) enum DiscoveryOffer {
    /// Discovery handled all submessages before this offset of the message.
    HandledUpTo(usize),
    /// Discovery keeps the rest of the datagram, and will handle its share.
    Queued,
    /// The inbox of discovery is full. The peer repeats its announcements.
    Dropped,
}

/// A datagram on its way through the participant.
pub(super) struct IncomingDatagram<'a> {
    pub(super) packet: &'a Packet,
    /// Where its sender expects answers, if not at the locators that discovery knows.
    reply: Option<Locator>,
    /// Place for the fragment to expect next. `None` if that could not be received in place.
    pub(super) next: Option<&'a ExpectedPlace>,
}

impl Reception {
    pub(crate) fn new(core: &Arc<ParticipantCore>) -> Self {
        let transform = core.config().transform();
        // The tables of one participant may share a number, because the secret of the process is in each of them.
        let routes = Arc::new(Routes::new(core.driver().hash_seed(0)));
        Self { core: Arc::clone(core), transform, routes, counters: ReceiveCounters::default() }
    }

    pub(crate) fn routes(&self) -> &Arc<Routes> {
        &self.routes
    }

    /// Counters of sent and received traffic.
    pub(crate) fn traffic(&self) -> TrafficCounters {
        let network = self.core.network();
        let dropped = network.dropped().unwrap_or_default();
        let counted = self.counters.with(network.transport().counters());
        TrafficCounters { socket_full: dropped, ..counted }
    }

    /// Submessages of protected messages, for which this participant has no key.
    pub(crate) fn without_key(&self) -> u64 {
        self.counters.secure.load(Ordering::Relaxed)
    }

    /// Submessages dropped because the inbox of an endpoint was full.
    pub(crate) fn inbox_dropped(&self) -> u64 {
        self.counters.inbox_full.load(Ordering::Relaxed)
    }

    /// Opens a datagram, parses it once, and offers each submessage to its cells.
    pub(crate) fn receive(
        &self,
        packet: &Packet,
        next: Option<&ExpectedPlace>,
        discovery: &impl DiscoveryInput,
        effects: &mut Effects,
    ) -> ReceivedDatagram {
        count(&self.counters.received);
        if !self.transform.replaces_received() {
            return self.receive_message(packet, next, discovery, effects);
        }
        // Each link brings copies of the participant's own multicast. As replays they would count as refused.
        if let Some(sender) = sender_of(packet.payload.bytes()) {
            if self.is_reflected(sender, packet.socket) {
                count(&self.counters.reflected);
                return ReceivedDatagram::default();
            }
        }
        match packet.opened_by(&self.transform) {
            // A protected fragment cannot be received in place.
            Ok(Some(opened)) => self.receive_message(&opened, None, discovery, effects),
            Ok(None) => self.receive_message(packet, next, discovery, effects),
            Err(rejected) => {
                // Each link brings its own copy of a multicast datagram.
                if !rejected.is_copy {
                    count(&self.counters.rejected);
                }
                if let Some(news) = rejected.news {
                    tracing::warn!(parent: self.core.span(), "{news}");
                }
                ReceivedDatagram::default()
            }
        }
    }

    fn receive_message(
        &self,
        packet: &Packet,
        next: Option<&ExpectedPlace>,
        discovery: &impl DiscoveryInput,
        effects: &mut Effects,
    ) -> ReceivedDatagram {
        let counters = &self.counters;
        let message = match Message::parse(packet.payload.bytes()) {
            Ok(message) => message,
            Err(error) => {
                self.count_invalid(error.kind);
                return ReceivedDatagram::default();
            }
        };
        if self.is_reflected(message.header.prefix, packet.socket) {
            count(&counters.reflected);
            return ReceivedDatagram::default();
        }
        let mut receiver = Receiver::new(&message.header);
        receiver.sender = packet.sender;
        let mut submessages = message.submessages();
        let mut for_discovery = false;
        // Occupied discovery keeps the rest of the datagram as mail.
        let mut discovery_is_queued = false;
        let mut arrived = IncomingDatagram { packet, reply: None, next };
        // The readers' share of this frame uses the same reading of the clock.
        let now = effects.read_clock(|| self.core.driver().now());
        let heard = self.routes.heard_of(message.header.prefix, message.has_checksum(), now.instant);
        if heard == Heard::Incredible {
            count(&counters.damaged);
            return ReceivedDatagram::default();
        }
        loop {
            let offset = submessages.offset();
            let Some(submessage) = submessages.next() else { break };
            let Ok(submessage) = submessage else {
                count(&counters.malformed);
                continue;
            };
            receiver.apply(&submessage);
            if matches!(submessage, Submessage::InfoReply(_) | Submessage::InfoSource(_)) {
                arrived.reply = self.reply_to(&receiver);
            }
            // An INFO_DST before this submessage names another participant.
            if !receiver.is_for(self.core.prefix()) {
                continue;
            }
            // Built-in endpoints are not in the routes: discovery handles their submessages.
            if Participant::is_addressed_by(&submessage) {
                for_discovery = true;
                if discovery_is_queued {
                    continue;
                }
                let run = DiscoveryRun { offset, first: &submessage, behind: submessages.clone() };
                match discovery.offer(&mut receiver, &run, packet, effects) {
                    DiscoveryOffer::HandledUpTo(end) => submessages = message.submessages_from(end),
                    DiscoveryOffer::Queued => discovery_is_queued = true,
                    DiscoveryOffer::Dropped => {
                        count(&counters.inbox_full);
                        discovery_is_queued = true;
                    }
                }
                continue;
            }
            match submessage.writer_and_reader() {
                Some((writer_id, reader_id)) => {
                    let run = SubmessageRun { offset, source: source_of(&receiver, writer_id, &arrived), reader_id };
                    let parsed = ParsedRun { first: &submessage, behind: submessages.clone() };
                    let end = self.offer_to_readers(&run, &parsed, &arrived, effects);
                    // The reader has handled a whole run of submessages, so continue behind it.
                    submessages = message.submessages_from(end.offset);
                    // An INFO_TS inside the run also applies to the submessages behind it.
                    receiver.source_timestamp = end.timestamp;
                }
                None => self.dispatch_other(&receiver, &submessage, &arrived, effects),
            }
        }
        // Report it only if some reader waits for this participant.
        let revived = if heard == Heard::Awaited { Some(message.header.prefix) } else { None };
        ReceivedDatagram { for_discovery, revived }
    }

    /// Counts a datagram that is not a message, or one that this implementation must not process.
    #[cold]
    fn count_invalid(&self, kind: WireErrorKind) {
        count(match kind {
            WireErrorKind::Checksum => &self.counters.damaged,
            WireErrorKind::MustUnderstand => &self.counters.malformed,
            _ => &self.counters.not_rtps,
        });
    }

    /// Whether a datagram of `sender` is this participant's own one, and not for its readers.
    fn is_reflected(&self, sender: GuidPrefix, socket: Socket) -> bool {
        // Without in-process delivery a participant reaches its own readers by the user-data socket.
        sender == self.core.prefix() && !(self.core.config().udp_only && socket == Socket::UserUnicast)
    }

    /// Offers a submessage of a reader to its writer, and counts submessages of other kinds.
    fn dispatch_other(
        &self,
        receiver: &Receiver<'_>,
        submessage: &Submessage<'_>,
        arrived: &IncomingDatagram<'_>,
        effects: &mut Effects,
    ) {
        match submessage {
            Submessage::AckNack(AckNack { writer_id, reader_id, .. })
            | Submessage::NackFrag(NackFrag { writer_id, reader_id, .. }) => {
                debug_assert!(!writer_id.is_builtin(), "discovery receives the submessages of built-in endpoints");
                let asker = Asker { reader: receiver.source(*reader_id), reply: arrived.reply };
                self.offer_to_writer(*writer_id, asker, submessage, effects);
            }
            Submessage::Skipped { id } => {
                let counters = &self.counters;
                if !submessage_id::is_secure(*id) {
                    return count(&counters.skipped);
                }
                if counters.secure.fetch_add(1, Ordering::Relaxed) == 0 {
                    let sender = receiver.source_prefix;
                    tracing::warn!(
                        parent: self.core.span(),
                        %sender,
                        "a participant protects its messages, and this one has no key"
                    );
                }
            }
            _ => {}
        }
    }

    fn offer_to_readers(
        &self,
        run: &SubmessageRun,
        parsed: &ParsedRun<'_, '_>,
        arrived: &IncomingDatagram<'_>,
        effects: &mut Effects,
    ) -> SubmessageRunEnd {
        let mut end = None;
        let is_known = if run.reader_id != EntityId::UNKNOWN {
            let reader = self.routes.reader(run.reader_id);
            if let Some(reader) = &reader {
                end = self.offer_to_reader(reader, run, parsed, arrived, effects);
            }
            reader.is_some()
        } else {
            // ENTITYID_UNKNOWN addresses all readers that match the writer.
            let readers = self.routes.matched_readers(run.source.writer);
            for reader in &readers {
                end = end.or(self.offer_to_reader(reader, run, parsed, arrived, effects));
            }
            if readers.len() > 1 {
                // The fragment would be received in place for one reader, and the others would miss it.
                arrived.expect_none();
            }
            !readers.is_empty()
        };
        match end {
            Some(end) => end,
            // An occupied reader finds the end of the run itself. This thread continues behind the run.
            None if is_known => run.walk_on(parsed.clone(), |_, _| {}),
            None => run.walk_on(parsed.clone(), |_, _| self.note_no_such_endpoint()),
        }
    }

    /// Offers a run to a reader. Returns its end if the reader served it at once.
    fn offer_to_reader(
        &self,
        reader: &Arc<ReaderCell>,
        run: &SubmessageRun,
        parsed: &ParsedRun<'_, '_>,
        arrived: &IncomingDatagram<'_>,
        effects: &mut Effects,
    ) -> Option<SubmessageRunEnd> {
        let offered = reader.offer(
            effects,
            |actor, effects| {
                let end = actor.receive(run, parsed.clone(), &arrived.packet.payload, effects);
                arrived.expect_next(run, parsed, actor);
                end
            },
            || ReaderMail::Packet { packet: arrived.packet.to_keep(), run: *run },
        );
        match offered {
            Ok(Offered::Served(end)) => return Some(end),
            Err(OfferError::Push(PushError::Full(mail))) => self.make_room(reader, mail, run.source.writer, effects),
            _ => {}
        }
        None
    }

    /// Handles the full inbox of an occupied reader: the oldest mail of the same best-effort writer is replaced by the
    /// new one.
    ///
    /// For a reliable writer it does not matter which mail is dropped, because all samples are repaired.
    ///
    /// HEARTBEATs are part of that mail, because most follow samples in one datagram. If mail of a writer waits, its
    /// newest mail gets in, and so does the newest HEARTBEAT. If none waits, the writer repeats the HEARTBEAT until it
    /// is answered.
    #[cold]
    fn make_room(&self, reader: &Arc<ReaderCell>, mail: ReaderMail, writer: Guid, effects: &mut Effects) {
        count(&self.counters.inbox_full);
        let is_older =
            |waiting: &ReaderMail| matches!(waiting, ReaderMail::Packet { run, .. } if run.source.writer == writer);
        // The result does not matter: the loss is counted, and the reader's ledger records it.
        let _ = reader.push_over(mail, is_older);
        // The visitor may have left before the push.
        reader.serve(effects);
    }

    fn offer_to_writer(&self, writer_id: EntityId, asker: Asker, submessage: &Submessage<'_>, effects: &mut Effects) {
        let Some(writer) = self.routes.writer(writer_id) else { return self.note_no_such_endpoint() };
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
            count(&self.counters.inbox_full);
        }
    }

    /// Returns where the source of the following submessages expects answers, if not at the locators that discovery
    /// knows.
    #[cold]
    fn reply_to(&self, receiver: &Receiver<'_>) -> Option<Locator> {
        let reply = self.routes.reply_to(receiver.source_prefix, receiver.reply.as_ref()?);
        if reply == ReplyTo::Refused {
            count(&self.counters.replies_refused);
        }
        reply.locator()
    }

    pub(super) fn note_no_such_endpoint(&self) {
        count(&self.counters.no_such_endpoint);
    }
}

/// Returns the GUID prefix that a sealed datagram names. `None` if its header is not in clear.
fn sender_of(datagram: &[u8]) -> Option<GuidPrefix> {
    let header = datagram.first_chunk::<{ Header::WIRE_LEN }>()?;
    // Protocol, version, vendor, GUID prefix (RTPS 2.5, 9.4.4).
    if !header.starts_with(b"RTPS") {
        return None;
    }
    Some(GuidPrefix(*header.last_chunk()?))
}

/// Returns the source of a writer's submessages.
fn source_of(receiver: &Receiver<'_>, writer_id: EntityId, arrived: &IncomingDatagram<'_>) -> Source {
    Source {
        writer: receiver.source(writer_id),
        timestamp: receiver.source_timestamp,
        vendor: receiver.source_vendor,
        reply: arrived.reply,
    }
}

/// Offers an answer of a reader to its writer. Returns false if the inbox is full; the reader repeats the answer.
///
/// A waiting answer of the same reader absorbs the new one. So only many readers can fill the inbox.
fn offer_answer(writer: &Arc<WriterCell>, effects: &mut Effects, mail: impl Fn() -> WriterMail) -> bool {
    let offered = writer.offer_into(
        effects,
        |actor, effects| match mail() {
            WriterMail::AckNack(asker, message) => actor.receive_ack_nack(asker, &message, effects),
            WriterMail::NackFrag(asker, message) => actor.receive_nack_frag(asker, &message, effects),
        },
        &mail,
        WriterMail::absorb,
    );
    !matches!(offered, Err(OfferError::Push(PushError::Full(_))))
}
