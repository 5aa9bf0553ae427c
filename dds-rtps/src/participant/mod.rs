//! A participant's discovery as a whole: SPDP, SEDP, leases, liveliness and matching (RTPS 2.5, 8.5).
//!
//! In: local endpoints, submessages for builtin endpoints, signs of life of peers, the clock. Out: datagrams, events,
//! the next deadline. Owned: the builtin endpoints, all discovered entities, and the match result of each pair of
//! endpoints.
//!
//! There are no sockets and no clock: each call passes `now`, and two seeds drive all randomness. The same calls with
//! the same seeds give the same datagrams and events in the same order.
//!
//! | file | owns |
//! |---|---|
//! | `config`, `counters` | the configuration; counters of ignored input |
//! | `peer` | other participants |
//! | `validation` | addresses of peers that are not valid yet |
//! | `claims` | claims about peers that come from foreign addresses |
//! | `paths` | signs that a valid address is still reached |
//! | `republications` | the budget for announcements that peers have passed |
//! | `disposals` | participants that have left |
//! | `endpoint` | local and remote writers and readers |
//! | `ignored` | entities that the application ignores |
//! | `awareness` | remote readers that do not know our writers yet |
//! | `type_lookup` | type requests and replies |
//! | `security`, `stateless_messages` | the builtin endpoints of DDS Security; messages of handshakes |
//! | `volatile_pairs` | the pair for the keys of each participant |
//! | `builtin_pairs`, `coalescer` | the builtin endpoints, and the datagrams that they share |

mod awareness;
mod builtin_pairs;
mod claims;
mod coalescer;
mod config;
mod counters;
mod disposals;
mod endpoint;
mod ignored;
mod paths;
mod peer;
mod republications;
mod restarts;
mod security;
mod stateless_messages;
mod type_lookup;
mod validation;
mod volatile_pairs;

pub use config::{DiscoveryLimits, ParticipantConfig, ParticipantLocators};
pub use counters::ParticipantCounters;
pub use type_lookup::TypeResolution;

use crate::concurrent::PayloadSource;
use crate::discovery::data::ParticipantData;
use crate::discovery::{
    Announcer, BuiltinPair, BuiltinPairTopic, LivelinessSchedules, Matching, ParticipantEvent, ParticipantLoss, Route,
};
use crate::history::HistorySample;
use crate::output::Datagram;
use crate::types::{EntityId, GuidPrefix, Instant, Now};
use crate::types::{Guid, HashSeed};
use crate::wire::{Heartbeat, Receiver, Submessage};
use crate::xtypes::TypeGraph;
use awareness::Awareness;
use builtin_pairs::BuiltinPairs;
use ignored::Ignored;
use peer::PeerTable;
use republications::Republications;
use security::SecureEndpoints;
use std::sync::Arc;
use type_lookup::{LookupContext, TypeLookup};

/// One participant's discovery.
///
/// Use: [`start`](Self::start), then any input. After each input, call [`poll_transmit`](Self::poll_transmit) until
/// it returns false and [`poll_event`](Self::poll_event) until it returns `None`. Call
/// [`handle_timeout`](Self::handle_timeout) at [`deadline`](Self::deadline).
#[derive(Debug)]
pub struct Participant {
    config: ParticipantConfig,
    phase: Phase,
    announcer: Announcer,
    pairs: BuiltinPairs,
    peers: PeerTable,
    matching: Matching,
    liveliness: LivelinessSchedules,
    type_lookup: TypeLookup,
    awareness: Awareness,
    republications: Republications,
    ignored: Ignored,
    /// `None` without DDS Security.
    secure: Option<Box<SecureEndpoints>>,
    counters: ParticipantCounters,
    /// Memory for each batch of received samples.
    samples: Vec<HistorySample>,
}

/// Phases of a participant's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It discovers peers but does not announce itself.
    Silent,
    /// It announces itself.
    Announcing,
    /// It has left the domain.
    Left,
}

impl Participant {
    /// Creates a participant that is silent until it is started.
    ///
    /// `seed` decides the times of announcements, `hash_seed` the order in hash tables.
    #[must_use]
    pub fn new(config: ParticipantConfig, seed: u64, hash_seed: HashSeed) -> Self {
        let prefix = config.prefix;
        // Several announcements must fit into a lease, because some get lost. The share is that of the defaults.
        let period = config.announcement_period.min(config.lease_duration.scale(3, 20));
        let mut matching = Matching::new(prefix);
        if let Some(security) = &config.security {
            matching.set_security(Arc::clone(security));
        }
        Self {
            phase: Phase::Silent,
            announcer: Announcer::new(prefix, config.announce_to.clone(), period, seed),
            pairs: BuiltinPairs::new(&config, hash_seed),
            peers: PeerTable::new(hash_seed),
            matching,
            liveliness: LivelinessSchedules::new(Arc::clone(&config.assertion_clock)),
            type_lookup: TypeLookup::default(),
            awareness: Awareness::default(),
            republications: Republications::default(),
            ignored: Ignored::default(),
            secure: SecureEndpoints::new(&config, hash_seed),
            counters: ParticipantCounters::default(),
            samples: Vec::new(),
            config,
        }
    }

    /// Begins to announce this participant. Peers are discovered before that, too.
    pub fn start(&mut self, now: Now) {
        // Leaving is final, because peers ignore announcements that follow a disposal.
        if self.phase != Phase::Left {
            self.phase = Phase::Announcing;
        }
        self.announce(now);
    }

    /// Leaves the domain: sends the disposal to the usual destinations and to all known peers. Later input is
    /// ignored.
    pub fn shutdown(&mut self, now: Now) {
        let phase = self.phase;
        self.phase = Phase::Left;
        // A participant that was never announced has nothing to dispose of.
        if phase == Phase::Announcing {
            self.announcer.dispose(now, self.peers.unicast_locators().into_iter());
            security::dispose_protected(self, now);
        }
    }

    /// Changes USER_DATA, and announces it now or once the participant is started.
    pub fn set_user_data(&mut self, now: Now, user_data: Vec<u8>) {
        if self.config.user_data != user_data && self.phase != Phase::Left {
            self.config.user_data = user_data;
            self.announce(now);
        }
    }

    /// Handles a change of this host's interfaces: announces the new locators, also to all known peers, and updates
    /// all routes.
    pub fn set_locators(&mut self, now: Now, locators: ParticipantLocators) {
        if self.phase == Phase::Left {
            return;
        }
        self.config.set_locators(locators);
        self.announcer.set_destinations(self.config.announce_to.clone());
        self.announce(now);
        self.update_all_routes(now);
        // A peer that multicast does not reach learns the new locators only in this way.
        self.announcer.announce_to(&self.peers.unicast_locators());
        self.announce_to_unverified();
    }

    fn announce(&mut self, now: Now) {
        if self.phase == Phase::Announcing {
            self.announcer.announce(now, &self.config.announcement());
            security::announce_protected(self, now);
        }
    }

    /// Whether a submessage belongs to a builtin endpoint, and so to [`Participant::handle_submessage`].
    #[must_use]
    pub fn is_addressed_by(submessage: &Submessage<'_>) -> bool {
        writer_id(submessage).is_some_and(EntityId::is_builtin)
    }

    /// Handles a submessage for a builtin endpoint. It renews its sender's lease as well.
    ///
    /// `packet` owns the bytes of the submessage.
    pub fn handle_submessage(
        &mut self,
        now: Now,
        receiver: &Receiver,
        submessage: &Submessage<'_>,
        packet: &dyn PayloadSource,
    ) {
        // Multicast loops our own submessages back.
        if receiver.source_prefix == self.config.prefix {
            self.counters.own += 1;
            return;
        }
        if !receiver.is_for(self.config.prefix) {
            self.counters.not_for_us += 1;
            return;
        }
        if self.phase == Phase::Left {
            return;
        }
        // Any submessage is a sign of life, also one that no builtin endpoint here handles.
        self.handle_traffic(now, receiver.source_prefix);
        // The other submessages set the state of the receiver, or belong to no endpoint.
        let Some(writer_id) = writer_id(submessage) else { return };
        // Announcements of participants come from a stateless writer, so no builtin pair handles them.
        if let (EntityId::SPDP_WRITER, Submessage::Data(data)) = (writer_id, submessage) {
            return self.handle_spdp(now, receiver, data);
        }
        if let Some(topic) = BuiltinPairTopic::of_writer(writer_id) {
            self.peers.validations.note_received(receiver.source_prefix, wire_len(submessage));
            if let Submessage::AckNack(ack_nack) = submessage {
                self.handle_answer(now, receiver, topic, ack_nack);
            }
            let reply = self.reply_to(receiver);
            self.pairs.get_mut(topic).handle(now, receiver, reply, submessage, packet);
            self.handle_samples(now, topic);
            // An acknowledgment of announcements shows that the peer knows our writers.
            if topic == BuiltinPairTopic::Publications && matches!(submessage, Submessage::AckNack(_)) {
                self.push_aware(receiver.source_prefix);
            }
        } else if self.secure.is_some() {
            security::handle_secure(self, now, receiver, (writer_id, submessage), packet);
        }
    }

    /// Renews the lease of a participant from which any datagram has arrived.
    pub fn handle_traffic(&mut self, now: Now, prefix: GuidPrefix) {
        self.peers.leases.renew(now.instant, prefix);
    }

    /// Returns when [`Participant::handle_timeout`] and [`Participant::poll_transmit`] must be called, unless there
    /// is other input before.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        if self.phase == Phase::Left {
            return None;
        }
        let deadlines = [
            self.announcer.deadline(),
            self.peers.leases.deadline(),
            self.liveliness.automatic.deadline(),
            self.liveliness.manual.deadline(),
            self.type_lookup.deadline(),
            self.pairs.deadline(),
            match &self.secure {
                Some(secure) => secure.deadline(),
                None => None,
            },
            self.peers.validations.deadline(),
            self.peers.claims.deadline(),
            self.republications.deadline(),
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Handles the passing of time. Early, late and repeated calls do no harm.
    pub fn handle_timeout(&mut self, now: Now) {
        if self.phase == Phase::Left {
            return;
        }
        self.announcer.handle_timeout(now);
        for prefix in self.peers.leases.expired(now.instant) {
            self.lose(now, prefix, ParticipantLoss::LeaseExpired);
        }
        claims::confirm_due(self, now);
        self.send_due_assertions(now);
        let (lookup, mut cx) = self.lookup(now);
        lookup.handle_timeout(&mut cx);
        for topic in BuiltinPairTopic::ALL {
            self.pairs.get_mut(topic).handle_timeout(now);
            self.handle_samples(now, topic);
        }
        self.publish_waiting(now);
        security::handle_secure_timeout(self, now);
    }

    /// Adds a type of a local endpoint: peers may request it, and it is compared with their types.
    pub fn add_type(&mut self, graph: &TypeGraph) {
        self.matching.types_mut().store.add_own(graph);
    }

    /// Returns the type of a local or remote endpoint from its complete description, and requests missing parts.
    pub fn resolve_type(&mut self, now: Now, endpoint: Guid) -> TypeResolution {
        let (lookup, mut cx) = self.lookup(now);
        lookup.resolve(&mut cx, endpoint)
    }

    /// Requests an unknown type of a remote endpoint, so that a later comparison knows it.
    pub fn request_type(&mut self, now: Now, endpoint: Guid) {
        let (lookup, mut cx) = self.lookup(now);
        lookup.request_minimal(&mut cx, endpoint);
    }

    /// Requests the types that a comparison lacks.
    fn request_types(&mut self, now: Now) {
        let (lookup, mut cx) = self.lookup(now);
        lookup.request(&mut cx);
    }

    fn lookup(&mut self, now: Now) -> (&mut TypeLookup, LookupContext<'_>) {
        let Self { config, pairs, peers, matching, type_lookup, counters, .. } = self;
        (type_lookup, LookupContext { now, prefix: config.prefix, matching, peers, pairs, counters })
    }

    /// Builds the next datagram with its destinations, in place of the content of `datagram`. Returns false without
    /// one to send; otherwise the datagram counts as sent.
    pub fn poll_transmit(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        // First the announcement: peers ignore the endpoints of a participant that they do not know.
        if self.announcer.poll_transmit(datagram) {
            return true;
        }
        // After the disposals nothing else is sent.
        if self.phase == Phase::Left {
            return self.secure.as_mut().is_some_and(|secure| secure.poll_disposal(now, datagram));
        }
        let mut protected: &mut [BuiltinPair] = &mut [];
        if let Some(secure) = &mut self.secure {
            if secure.poll_handshakes(now, &self.config, datagram) {
                return true;
            }
            protected = secure.pairs();
        }
        self.pairs.poll_transmit(now, &self.config, (&mut self.peers.validations, protected), datagram)
    }

    /// Returns the next event, in the order of their occurrence; `None` without one.
    pub fn poll_event(&mut self) -> Option<ParticipantEvent> {
        let event = self.matching.poll_event()?;
        let publications = self.pairs.get(BuiltinPairTopic::Publications);
        if let Some(prefix) = self.awareness.handle_event(&event, publications) {
            self.push_aware(prefix);
        }
        Some(event)
    }

    /// Adds an event for each match of a participant whose reader knows our writer now.
    fn push_aware(&mut self, prefix: GuidPrefix) {
        let publications = self.pairs.get(BuiltinPairTopic::Publications);
        for (writer, reader) in self.awareness.take_aware(prefix, publications) {
            self.matching.push_event(ParticipantEvent::WriterKnown { writer, reader });
        }
    }

    /// Whether there are events to poll.
    #[must_use]
    pub fn has_events(&self) -> bool {
        self.matching.has_events()
    }

    /// Returns the GUID prefix of this participant.
    #[must_use]
    pub fn prefix(&self) -> GuidPrefix {
        self.config.prefix
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &ParticipantConfig {
        &self.config
    }

    /// Returns the other participants that take part, in the order of their prefixes.
    pub fn participants(&self) -> impl Iterator<Item = &Arc<ParticipantData>> {
        self.peers.known.values().filter(|peer| peer.is_admitted).map(|peer| &peer.data)
    }

    /// Returns another participant, if it is known.
    #[must_use]
    pub fn participant(&self, prefix: GuidPrefix) -> Option<&Arc<ParticipantData>> {
        Some(&self.peers.known.get(&prefix)?.data)
    }

    /// From now on every remote endpoint that appears, changes or vanishes causes an event, beside those of matches.
    pub fn observe_endpoints(&mut self) {
        self.matching.observe();
    }

    /// Returns the route to another participant's discovery.
    #[must_use]
    pub fn route(&self, prefix: GuidPrefix) -> Option<&Route> {
        Some(&self.peers.known.get(&prefix)?.route)
    }

    /// Whether a remote best-effort reader that matches a local writer does not know it yet.
    #[must_use]
    pub fn is_unaware(&self, writer: EntityId, reader: Guid) -> bool {
        self.awareness.contains(writer, reader)
    }

    /// Returns all endpoints and match results.
    #[must_use]
    pub fn matching(&self) -> &Matching {
        &self.matching
    }

    /// Returns a builtin topic, to read its counters.
    #[must_use]
    pub fn builtin(&self, topic: BuiltinPairTopic) -> &BuiltinPair {
        self.pairs.get(topic)
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> ParticipantCounters {
        // The histories of these readers refuse endpoints before they reach the participant.
        let topics = [BuiltinPairTopic::Publications, BuiltinPairTopic::Subscriptions];
        let mut counters = self.counters;
        for topic in topics {
            counters.endpoints_rejected += self.builtin(topic).reader().counters().rejected;
        }
        counters
    }
}

/// Returns the bytes that a submessage of a builtin endpoint takes at least.
fn wire_len(submessage: &Submessage<'_>) -> usize {
    match submessage {
        Submessage::Data(data) => Heartbeat::WIRE_LEN + data.payload.bytes().map_or(0, <[u8]>::len),
        Submessage::DataFrag(fragment) => fragment.payload.len(),
        // ACKNACK and GAP have about the length of a HEARTBEAT.
        _ => Heartbeat::WIRE_LEN,
    }
}

/// Returns the writer that a submessage comes from or is for.
fn writer_id(submessage: &Submessage<'_>) -> Option<EntityId> {
    match submessage {
        Submessage::AckNack(m) => Some(m.writer_id),
        Submessage::Data(m) => Some(m.writer_id),
        Submessage::DataFrag(m) => Some(m.writer_id),
        Submessage::Gap(m) => Some(m.writer_id),
        Submessage::Heartbeat(m) => Some(m.writer_id),
        Submessage::HeartbeatFrag(m) => Some(m.writer_id),
        Submessage::NackFrag(m) => Some(m.writer_id),
        _ => None,
    }
}
