//! Carries out the decisions of discovery: matches, mismatches and lost peers.

use crate::actor::{Deferred, Effects, Poke};
use crate::context::ParticipantCore;
use crate::delivery::{LocalDemands, LocalPath};
use crate::discovery::Discovery;
use crate::endpoint::EndpointActor;
use crate::introspection::{MatchReport, Obstacle};
#[cfg(feature = "security-pki")]
use crate::participant::security_log::SecurityLogTopic;
use crate::participant::{Contained, ParticipantHandle};
use crate::publication::{WriterActor, WriterCell};
use crate::qos::{Durability, LivelinessKind};
use crate::reception::Reception;
use crate::topic::TopicHandle;
use dds_rtps::discovery::data::ParticipantData;
use dds_rtps::discovery::{DiscoveredReader, DiscoveredWriter, ParticipantEvent, SecurityReportKind, is_same_host};
use dds_rtps::types::{Duration, EntityId, Guid, Locator, VendorId};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Weak};
use tracing::Level;
use tracing::level_filters::LevelFilter;

impl ParticipantHandle {
    /// Takes all events from discovery and carries them out, one thread at a time and so in order.
    pub(crate) fn carry_out_matches(&self, effects: &mut Effects) {
        let mut turn = self.matching();
        self.carry_out_events(&mut turn, effects);
    }

    /// As [`carry_out_matches`](Self::carry_out_matches), for a caller that has the turn.
    pub(crate) fn carry_out_events(&self, turn: &mut MatchingTurn, effects: &mut Effects) {
        let discovery = self.discovery();
        let matching = EndpointConnector::of(self);
        let mut answer_is_due;
        loop {
            answer_is_due = discovery.take_events(&mut turn.events, effects);
            if turn.events.is_empty() {
                break;
            }
            for event in turn.events.drain(..) {
                discovery.builtin().notify(&event, effects);
                if matches!(
                    event,
                    ParticipantEvent::WriterAnnounced { .. }
                        | ParticipantEvent::ReaderAnnounced { .. }
                        | ParticipantEvent::TypesDescribed { .. }
                ) {
                    discovery.wake_finders(effects);
                }
                matching.carry_out(event, effects);
            }
        }
        if answer_is_due {
            discovery.send_answers(effects);
        }
    }
}

/// The turn to carry out events of discovery. One thread has it at a time.
#[derive(Default)]
pub(crate) struct MatchingTurn {
    /// Reused memory; empty between turns.
    events: Vec<ParticipantEvent>,
}

/// Connects and disconnects local endpoints after events of discovery.
struct EndpointConnector<'a> {
    core: &'a ParticipantCore,
    discovery: &'a Discovery,
    reception: &'a Reception,
    contained: &'a Contained,
    #[cfg(feature = "security-pki")]
    security_log: &'a SecurityLogTopic,
}

impl<'a> EndpointConnector<'a> {
    fn of(handle: &'a ParticipantHandle) -> Self {
        Self {
            core: &handle.core,
            discovery: handle.discovery(),
            reception: handle.reception(),
            contained: handle.contained(),
            #[cfg(feature = "security-pki")]
            security_log: handle.security_log(),
        }
    }

    fn carry_out(&self, event: ParticipantEvent, effects: &mut Effects) {
        match event {
            ParticipantEvent::ParticipantDiscovered { participant } => {
                // Before the matches: their leases use the clock of the participant in the routes.
                self.reception.routes().participant_found(participant.prefix);
                self.share_memory(&participant);
                self.log(effects, LogEntry::Found(participant.prefix.to_string(), participant.entity_name.clone()));
            }
            ParticipantEvent::ReplyLocatorsChanged { prefix, locators } => {
                self.reception.routes().set_reply_locators(prefix, locators);
            }
            ParticipantEvent::ParticipantLost { prefix, cause } => {
                self.reception.routes().participant_lost(prefix);
                // Its memory must not stay mapped for a process that is gone.
                self.core.network().end_sharing(prefix);
                self.log(effects, LogEntry::Lost(prefix.to_string(), format!("{cause:?}")));
            }
            ParticipantEvent::ReaderMatched { writer, reader } => self.reader_matched(writer, &reader, effects),
            ParticipantEvent::WriterKnown { writer, reader } => {
                self.with_writer(writer, effects, |actor, effects| actor.note_known_to(reader, effects));
            }
            ParticipantEvent::WriterMatched { reader, writer } => self.writer_matched(reader, &writer, effects),
            ParticipantEvent::ReaderUnmatched { writer, reader, may_return } => {
                self.reader_unmatched(writer, reader, may_return, effects)
            }
            ParticipantEvent::WriterUnmatched { reader, writer } => self.writer_unmatched(reader, writer, effects),
            ParticipantEvent::OfferedIncompatibleQos { writer, reader, policies } => {
                let note = |actor: &mut WriterActor, effects: &mut Effects| {
                    actor.endpoint().note_incompatible(&policies, effects);
                };
                if self.with_writer(writer, effects, note) {
                    self.log_mismatch(writer, reader, effects);
                }
            }
            ParticipantEvent::RequestedIncompatibleQos { reader, writer, policies } => {
                if let Some(cell) = self.reception.routes().reader(reader) {
                    let _ = cell.with(effects, |actor, effects| actor.endpoint().note_incompatible(&policies, effects));
                    self.log_mismatch(reader, writer, effects);
                }
            }
            ParticipantEvent::MatchRefused { local, remote } => self.log_mismatch(local, remote, effects),
            ParticipantEvent::SecurityReport { kind, text } => {
                self.publish_event(kind, &text);
                self.log(effects, LogEntry::Security(kind, text));
            }
            ParticipantEvent::LivelinessAsserted { prefix, kind } => {
                self.reception.participant_asserted(prefix, kind, effects)
            }
            ParticipantEvent::LivelinessLost { writer } => {
                self.with_writer(writer, effects, |actor, effects| actor.note_liveliness_lost(effects));
            }
            ParticipantEvent::InconsistentTopic { local, remote } => {
                self.note_inconsistent_topic(local, effects);
                self.log_mismatch(local, remote, effects);
            }
            _ => {}
        }
    }

    /// Visits a local writer. Returns `false` if it does not exist any more.
    fn with_writer(
        &self,
        writer: EntityId,
        effects: &mut Effects,
        visit: impl FnOnce(&mut WriterActor, &mut Effects),
    ) -> bool {
        let Some(cell) = self.reception.routes().writer(writer) else { return false };
        // Ignore the error, because a closed writer has no waiters, matches and statuses.
        let _ = cell.with(effects, visit);
        true
    }

    fn note_inconsistent_topic(&self, local: EntityId, effects: &mut Effects) {
        let topics = self.contained.topics_of(local);
        for topic in &topics {
            topic.note_inconsistent(effects);
        }
        // These may be the last handles, and the drop of a topic must wait until no lock is held.
        effects.defer(Arc::new(KeptTopics { _topics: topics }));
    }

    fn reader_unmatched(&self, writer: EntityId, reader: Guid, may_return: bool, effects: &mut Effects) {
        if self.with_writer(writer, effects, |actor, effects| actor.unmatch(reader, may_return, effects)) {
            self.log(effects, LogEntry::Unmatched(writer, reader));
        }
    }

    fn writer_unmatched(&self, reader: EntityId, writer: Guid, effects: &mut Effects) {
        let Some(cell) = self.reception.routes().reader(reader) else { return };
        self.reception.routes().unmatched(writer, &cell);
        // A closed reader has no matches any more.
        let _ = cell.with(effects, |actor, effects| actor.unmatch(writer, effects));
        self.log(effects, LogEntry::Unmatched(reader, writer));
    }

    /// Shares memory with a participant of this host. It proves by a connection that it is here.
    fn share_memory(&self, participant: &ParticipantData) {
        let network = self.core.network();
        let announced = participant.metatraffic_unicast.iter().chain(&participant.default_unicast);
        if participant.vendor == VendorId::OURS && is_same_host(&network.locators().host_addresses, announced) {
            network.share_memory(participant.prefix, &participant.default_unicast);
        }
    }

    fn reader_matched(&self, writer: EntityId, reader: &DiscoveredReader, effects: &mut Effects) {
        let Some(cell) = self.reception.routes().writer(writer) else { return };
        let guid = reader.data.endpoint.guid;
        let stands_in = self.core.config().is_durability_service();
        // Endpoints of a durability service stand in for those of others, and would match each other without end.
        if reader.is_local && stands_in {
            return;
        }
        if reader.is_local && !self.core.config().udp_only {
            return self.connect_locally(&cell, writer, reader, effects);
        }
        let mut proxy = reader.proxy();
        if stands_in {
            // Other readers receive samples from the original writer. Those that ignore origins would receive each
            // sample twice.
            proxy.wants_history = reader.data.qos.durability > Durability::TransientLocal;
            proxy.live = proxy.wants_history && reader.vendor == VendorId::OURS;
        }
        if reader.is_local {
            proxy.unicast = self.own_locators();
            proxy.same_host = true;
        }
        let is_unaware = !reader.is_local && !reader.data.qos.reliability.is_reliable();
        // A closed writer has no matches.
        let _ = cell.with(effects, |actor, effects| actor.match_remote(proxy, is_unaware, effects));
        self.log(effects, LogEntry::Matched(writer, guid));
    }

    fn writer_matched(&self, reader: EntityId, writer: &DiscoveredWriter, effects: &mut Effects) {
        if writer.is_local && (!self.core.config().udp_only || self.core.config().is_durability_service()) {
            // The event of the writer connects both.
            return;
        }
        let Some(cell) = self.reception.routes().reader(reader) else { return };
        let guid = writer.data.endpoint.guid;
        let mut proxy = writer.proxy();
        proxy.assertion_clock = self.reception.assertion_clock_of(guid.prefix, proxy.liveliness.kind);
        if writer.is_local {
            proxy.unicast = self.own_locators();
            if proxy.liveliness.kind == LivelinessKind::Automatic {
                // A local writer is alive as long as this process.
                proxy.liveliness.lease_duration = Duration::INFINITE;
            }
        }
        // The route comes first, so that no later sample of the writer is dropped for lack of a reader.
        self.reception.routes().matched(guid, &cell);
        // A closed reader has no matches.
        let _ = cell.with(effects, |actor, effects| actor.match_remote(proxy, effects));
        self.log(effects, LogEntry::Matched(reader, guid));
    }

    /// Connects a writer and a reader of this participant without a socket.
    ///
    /// The reader first learns the sequence number at which its samples start. Then the writer begins to deliver.
    fn connect_locally(
        &self,
        writer_cell: &Arc<WriterCell>,
        writer: EntityId,
        reader: &DiscoveredReader,
        effects: &mut Effects,
    ) {
        let guid = reader.data.endpoint.guid;
        // The reader may have closed since the event.
        let Some(reader_cell) = self.reception.routes().reader(guid.entity_id) else { return };
        let path = LocalPath::new(Arc::downgrade(writer_cell) as Weak<dyn Poke>);
        let demands = LocalDemands {
            reliable: reader.data.qos.reliability.is_reliable(),
            wants_history: reader.data.qos.durability > Durability::Volatile,
        };
        let begun = writer_cell.with(effects, |actor, effects| {
            actor.match_local(guid, Arc::clone(&reader_cell), Arc::clone(&path), demands, effects)
        });
        let writer_guid = Guid::new(self.core.prefix(), writer);
        let begin = match begun {
            Ok(Some(begin)) => begin,
            // A closed writer has no matches.
            Err(_) => return,
            Ok(None) => {
                // They match already, and the QoS of one of them has changed.
                if let Ok(terms) = writer_cell.with(effects, |actor, _| actor.terms()) {
                    // A closed reader has no writers any more.
                    let _ = reader_cell.with(effects, |actor, effects| actor.set_terms_of(writer_guid, terms, effects));
                }
                return;
            }
        };
        // Three visits, because no cell may be entered from inside the other: the writer counts the reader, the reader
        // learns of the writer, and only then the writer delivers.
        let connected =
            reader_cell.with(effects, |actor, effects| actor.match_local(writer_guid, begin, path, effects));
        if connected.is_ok() {
            // A closed writer has nothing to deliver.
            let _ = writer_cell.with(effects, |actor, effects| actor.begin_delivery(guid, effects));
        }
        self.log(effects, LogEntry::Matched(writer, guid));
    }

    /// Returns the loopback locator of this participant, which stays when other addresses change.
    fn own_locators(&self) -> Vec<Locator> {
        let locators = self.core.network().locators();
        let Some(own) = locators.default_unicast.first().and_then(Locator::to_socket_addr) else { return Vec::new() };
        // Loopback, because it reaches this host whichever interface is down.
        vec![Locator::udp(loopback(own.ip()), own.port())]
    }

    /// Logs why a local endpoint does not match another one.
    ///
    /// The report is made here, because a log line that is written later may run while this thread has the turn.
    fn log_mismatch(&self, local: EntityId, remote: Guid, effects: &mut Effects) {
        // Not `tracing::enabled!`, which calls the log layer inside of the cell.
        if LevelFilter::current() < Level::WARN && !self.publishes_events() {
            return;
        }
        let local = Guid::new(self.core.prefix(), local);
        if let Some(report) = self.discovery.explain_pair(local, remote, effects) {
            if report.obstacles.iter().any(|obstacle| matches!(obstacle, Obstacle::Security { .. })) {
                self.publish_event(SecurityReportKind::Refused, &report.to_string());
            }
            self.log(effects, LogEntry::Mismatch(Box::new(report)));
        }
    }

    /// Whether security events are published.
    fn publishes_events(&self) -> bool {
        #[cfg(feature = "security-pki")]
        return self.security_log.is_open();
        #[cfg(not(feature = "security-pki"))]
        false
    }

    /// Publishes a security event, if the credentials of the participant say so.
    fn publish_event(&self, kind: SecurityReportKind, text: &str) {
        #[cfg(feature = "security-pki")]
        self.security_log.note(kind, text, self.core.driver().now().instant);
        #[cfg(not(feature = "security-pki"))]
        let _ = (kind, text);
    }

    fn log(&self, effects: &mut Effects, entry: LogEntry) {
        effects.defer(Arc::new(MatchLog { span: self.core.span().clone(), entry }));
    }
}

fn loopback(same_family: IpAddr) -> IpAddr {
    if same_family.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() }
}

/// A log line. It is written outside of all cells, because a log layer is code of the application.
struct MatchLog {
    span: tracing::Span,
    entry: LogEntry,
}

enum LogEntry {
    Found(String, String),
    Lost(String, String),
    Matched(EntityId, Guid),
    Unmatched(EntityId, Guid),
    Mismatch(Box<MatchReport>),
    Security(SecurityReportKind, Box<str>),
}

impl Deferred for MatchLog {
    fn run(self: Arc<Self>, _: u32, _effects: &mut Effects) {
        self.span.in_scope(|| match &self.entry {
            LogEntry::Found(participant, name) => tracing::debug!(participant, name, "participant found"),
            LogEntry::Lost(participant, cause) => tracing::debug!(participant, cause, "participant lost"),
            LogEntry::Matched(local, remote) => tracing::debug!(%local, %remote, "matched"),
            LogEntry::Unmatched(local, remote) => tracing::debug!(%local, %remote, "unmatched"),
            LogEntry::Mismatch(report) => tracing::warn!("{report}"),
            LogEntry::Security(SecurityReportKind::Failed, text) => tracing::error!("{text}"),
            LogEntry::Security(SecurityReportKind::Admitted, text) => tracing::debug!("{text}"),
            LogEntry::Security(SecurityReportKind::KeysChanged, text) => tracing::info!("{text}"),
            LogEntry::Security(_, text) => tracing::warn!("{text}"),
        });
    }
}

/// Topic handles that are dropped after the turn. Dropping the last one may need the turn itself.
struct KeptTopics {
    _topics: Vec<Arc<TopicHandle>>,
}

impl Deferred for KeptTopics {
    fn run(self: Arc<Self>, _: u32, _effects: &mut Effects) {}
}

impl Deferred for ParticipantHandle {
    /// Runs after a timer of discovery, because leases may have expired. It also runs after a liveliness assertion,
    /// which counts for other writers of the same kind.
    fn run(self: Arc<Self>, _: u32, effects: &mut Effects) {
        self.carry_out_matches(effects);
        self.reception().revive_own_writers(effects);
    }
}

#[cfg(all(feature = "derive", feature = "udp", not(dds_loom)))]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::participant::lonely::{Count, lonely};

    /// The topic's last handle ends the participant, for which it needs the turn.
    #[test]
    fn notified_topic_outlives_the_turn() {
        let participant = lonely("matches");
        let topic = participant.topic::<Count>("t", None).unwrap();
        let reader = participant.reader::<Count>("t").unwrap();
        let remote = Guid::new(participant.handle().core.prefix(), EntityId::PARTICIPANT);
        let event = ParticipantEvent::InconsistentTopic { local: reader.guid().entity_id, remote };
        let handle = Arc::clone(participant.handle());
        let weak = Arc::downgrade(topic.handle());
        Effects::scope(|effects| {
            let turn = handle.matching();
            EndpointConnector::of(&handle).carry_out(event, effects);
            assert_eq!(topic.inconsistent_topic().total_count, 1);
            drop(topic);
            assert!(weak.upgrade().is_some(), "the topic ended before the turn was over");
            drop(turn);
        });
        assert!(weak.upgrade().is_none());
    }
}
