//! A participant's discovery as a whole: SPDP, SEDP, leases, liveliness and matching (RTPS 2.5, 8.5).
//!
//! In: local endpoints that come and go, submessages for builtin endpoints, word of any other traffic, the clock. Out:
//! datagrams, events, the next deadline. Owned: the builtin endpoints, all that is known of others, and the verdict on
//! each pair of endpoints.
//!
//! No sockets, no clock: `now` comes in with each call, and everything that is drawn at random comes from one seed. The
//! same calls with the same seed give the same datagrams and events in the same order.
//!
//! | file | owns |
//! |---|---|
//! | `config`, `counters` | what goes in at the start, and what was left out |
//! | `peer` | other participants |
//! | `bundle` | which of the datagrams to them go together |
//! | `departed` | those that have said farewell |
//! | `endpoint` | writers and readers, ours and theirs |
//! | `types` | questions for types, ours and theirs, and answers |
//! | `greetings` | which writers of ours the participants of their readers know of |
//! | `ignoring` | what the application does not want to see |

mod bundle;
mod config;
mod counters;
mod departed;
mod endpoint;
mod greetings;
mod ignoring;
mod peer;
mod types;

pub use config::{DiscoveryLimits, ParticipantConfig, ParticipantLocators};
pub use counters::ParticipantCounters;
pub use types::TypeResolution;

use crate::concurrent::PayloadSource;
use crate::discovery::data::ParticipantData;
use crate::discovery::{
    Announcer, AssertionSchedule, BuiltinPair, BuiltinTopic, Leases, ManualSchedule, Matching, ParticipantEvent,
    ParticipantLoss, Reach,
};
use crate::history::HistorySample;
use crate::output::Datagram;
use crate::types::{EntityId, GuidPrefix, Instant, Locator, Now};
use crate::wire::{Receiver, Submessage};
use bundle::Bundle;
use departed::Departed;
use greetings::Greetings;
use ignoring::Ignored;
use peer::Peer;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::TypeQuestions;

/// One participant's discovery.
///
/// Use: [`start`](Self::start), then any input; after each, [`poll_transmit`](Self::poll_transmit) until it answers
/// `false`, [`poll_event`](Self::poll_event) until it answers `None`, and [`handle_timeout`](Self::handle_timeout) at
/// [`deadline`](Self::deadline).
#[derive(Debug)]
pub struct Participant {
    config: ParticipantConfig,
    announcer: Announcer,
    pairs: [BuiltinPair; 5],
    peers: BTreeMap<GuidPrefix, Peer>,
    departed: Departed,
    leases: Leases,
    matching: Matching,
    assertions: AssertionSchedule,
    manual: ManualSchedule,
    /// What others have been asked of their types.
    questions: TypeQuestions,
    greetings: Greetings,
    /// What the application does not want to see.
    ignored: Ignored,
    has_started: bool,
    has_left: bool,
    counters: ParticipantCounters,
    bundle: Bundle,
    /// Used again for each batch of samples.
    samples: Vec<HistorySample>,
    /// Used again for each payload of our own.
    payload: Vec<u8>,
}

impl Participant {
    /// A participant that is silent until it is started.
    #[must_use]
    pub fn new(config: ParticipantConfig, seed: u64) -> Self {
        let prefix = config.prefix;
        // Several announcements must fit into a lease, for some get lost; with the defaults it is this share of it.
        let period = config.announcement_period.min(config.lease_duration.scale(3, 20));
        let pair = |topic| BuiltinPair::new(topic, prefix, config.limits.endpoints_max, seed);
        Self {
            announcer: Announcer::new(prefix, config.announce_to.clone(), period, seed),
            pairs: BuiltinTopic::ALL.map(pair),
            peers: BTreeMap::new(),
            departed: Departed::default(),
            leases: Leases::new(seed),
            matching: Matching::new(prefix),
            assertions: AssertionSchedule::default(),
            manual: ManualSchedule::new(Arc::clone(&config.assertion_clock)),
            questions: TypeQuestions::default(),
            greetings: Greetings::default(),
            ignored: Ignored::default(),
            has_started: false,
            has_left: false,
            counters: ParticipantCounters::default(),
            bundle: Bundle::default(),
            samples: Vec::new(),
            payload: Vec::new(),
            config,
        }
    }

    /// Begins to announce. Peers are taken in before that, too.
    pub fn start(&mut self, now: Now) {
        self.has_started = true;
        self.announce(now);
    }

    /// Leaves the domain: farewells become transmits, to the usual destinations and to every known peer. Nothing is taken
    /// in any more.
    pub fn shutdown(&mut self, now: Now) {
        if std::mem::replace(&mut self.has_left, true) {
            return;
        }
        if !self.has_started {
            return;
        }
        let reaches = self.peers.values().map(|peer| &peer.reach);
        let locators = reaches.flat_map(|reach| reach.unicast.iter().copied());
        self.announcer.leave(now, locators);
    }

    /// Announces other octets of the application (USER_DATA), now or once it is started.
    pub fn set_user_data(&mut self, now: Now, user_data: Vec<u8>) {
        if self.config.user_data != user_data && !self.has_left {
            self.config.user_data = user_data;
            self.announce(now);
        }
    }

    /// Interfaces of this host have come or gone. What is new is announced, to every known peer too, and each peer is reached
    /// in the way that is best from now on.
    pub fn set_locators(&mut self, now: Now, locators: ParticipantLocators) {
        if self.has_left {
            return;
        }
        self.config.set_locators(locators);
        self.announcer.set_destinations(self.config.announce_to.clone());
        self.announce(now);
        self.reach_all_anew(now);
        let reaches = self.peers.values().map(|peer| &peer.reach);
        let known: Vec<Locator> = reaches.flat_map(|reach| reach.unicast.iter().copied()).collect();
        self.announcer.answer(&known);
    }

    fn announce(&mut self, now: Now) {
        if self.has_started {
            self.announcer.announce(now, &self.config.announcement());
        }
    }

    /// Whether a submessage is for a builtin endpoint, and thus for [`Participant::handle_submessage`].
    #[must_use]
    pub fn is_addressed_by(submessage: &Submessage<'_>) -> bool {
        writer_id(submessage).is_some_and(EntityId::is_builtin)
    }

    /// A submessage for a builtin endpoint. It renews its sender's lease as well.
    ///
    /// `packet`: where the submessage lies.
    pub fn handle_submessage(
        &mut self,
        now: Now,
        receiver: &Receiver,
        submessage: &Submessage<'_>,
        packet: &dyn PayloadSource,
    ) {
        if receiver.source_prefix == self.config.prefix {
            self.counters.own += 1;
            return;
        }
        if !receiver.is_for(self.config.prefix) {
            self.counters.not_for_us += 1;
            return;
        }
        if self.has_left {
            return;
        }
        self.handle_traffic(now, receiver.source_prefix);
        if matches!(submessage, Submessage::AckNack(_) | Submessage::NackFrag(_)) {
            self.note_answer(now, receiver.source_prefix);
        }
        let Some(writer_id) = writer_id(submessage) else { return };
        if let (EntityId::SPDP_WRITER, Submessage::Data(data)) = (writer_id, submessage) {
            return self.handle_spdp(now, receiver, data);
        }
        if let Some(topic) = BuiltinTopic::of_writer(writer_id) {
            let reply = self.reply_to(receiver);
            self.pair(topic).handle(now, receiver, reply, submessage, packet);
            self.take_samples(now, topic);
            if topic == BuiltinTopic::Publications && matches!(submessage, Submessage::AckNack(_)) {
                self.note_greeted(receiver.source_prefix);
            }
        }
    }

    /// Anything came from this participant: it is alive.
    pub fn handle_traffic(&mut self, now: Now, prefix: GuidPrefix) {
        self.leases.renew(now.instant, prefix);
    }

    /// When [`Participant::handle_timeout`] and [`Participant::poll_transmit`] are to be called, if nothing else happens
    /// before.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        if self.has_left {
            return None;
        }
        let own = [
            self.announcer.deadline(),
            self.leases.deadline(),
            self.assertions.deadline(),
            self.manual.deadline(),
            self.questions.deadline(),
        ];
        own.into_iter().chain(self.pairs.iter().map(BuiltinPair::deadline)).flatten().min()
    }

    /// Time has passed. Calling it early, late or twice does no harm.
    pub fn handle_timeout(&mut self, now: Now) {
        if self.has_left {
            return;
        }
        self.announcer.handle_timeout(now);
        for prefix in self.leases.expired(now.instant) {
            self.lose(now, prefix, ParticipantLoss::LeaseExpired);
        }
        self.assert_what_is_due(now);
        self.ask_again_for_types(now);
        for topic in BuiltinTopic::ALL {
            self.pair(topic).handle_timeout(now);
            self.take_samples(now, topic);
        }
    }

    /// Lays out the next datagram, with its destinations, in place of what `datagram` held. `false`: there is nothing to
    /// send now. When it answers `true`, the datagram counts as sent.
    pub fn poll_transmit(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        if self.announcer.poll_transmit(datagram) {
            return true;
        }
        let pairs = &mut self.pairs;
        !self.has_left && self.bundle.poll(datagram, |next| pairs.iter_mut().any(|pair| pair.poll_transmit(now, next)))
    }

    /// What has happened since the last call, in the order in which it did; `None`: nothing more.
    pub fn poll_event(&mut self) -> Option<ParticipantEvent> {
        let event = self.matching.poll_event()?;
        self.note_event(&event);
        Some(event)
    }

    /// Whether there is an event to be polled.
    #[must_use]
    pub fn has_events(&self) -> bool {
        self.matching.has_events()
    }

    /// This participant's name.
    #[must_use]
    pub fn prefix(&self) -> GuidPrefix {
        self.config.prefix
    }

    /// What it was made of.
    #[must_use]
    pub fn config(&self) -> &ParticipantConfig {
        &self.config
    }

    /// The other participants, by growing prefix.
    pub fn participants(&self) -> impl Iterator<Item = &Arc<ParticipantData>> {
        self.peers.values().map(|peer| &peer.data)
    }

    /// Another participant, if it is known.
    #[must_use]
    pub fn participant(&self, prefix: GuidPrefix) -> Option<&Arc<ParticipantData>> {
        self.peers.get(&prefix).map(|peer| &peer.data)
    }

    /// From now on there are events for every endpoint of others that comes, changes or goes, beside those of matches.
    pub fn observe_endpoints(&mut self) {
        self.matching.observe();
    }

    /// How the discovery of another participant is reached.
    #[must_use]
    pub fn reach(&self, prefix: GuidPrefix) -> Option<&Reach> {
        self.peers.get(&prefix).map(|peer| &peer.reach)
    }

    /// All endpoints, and what fits.
    #[must_use]
    pub fn matching(&self) -> &Matching {
        &self.matching
    }

    /// One of the builtin topics, to look at its counters.
    #[must_use]
    pub fn builtin(&self, topic: BuiltinTopic) -> &BuiltinPair {
        let [publications, subscriptions, messages, type_requests, type_replies] = &self.pairs;
        match topic {
            BuiltinTopic::Publications => publications,
            BuiltinTopic::Subscriptions => subscriptions,
            BuiltinTopic::Messages => messages,
            BuiltinTopic::TypeRequests => type_requests,
            BuiltinTopic::TypeReplies => type_replies,
        }
    }

    /// What was not taken in.
    #[must_use]
    pub fn counters(&self) -> ParticipantCounters {
        // The histories of their readers refuse them, before they come here.
        let topics = [BuiltinTopic::Publications, BuiltinTopic::Subscriptions];
        let endpoints_rejected = topics.map(|topic| self.builtin(topic).reader().counters().rejected).iter().sum();
        ParticipantCounters { endpoints_rejected, ..self.counters }
    }

    fn pair(&mut self, topic: BuiltinTopic) -> &mut BuiltinPair {
        let [publications, subscriptions, messages, type_requests, type_replies] = &mut self.pairs;
        match topic {
            BuiltinTopic::Publications => publications,
            BuiltinTopic::Subscriptions => subscriptions,
            BuiltinTopic::Messages => messages,
            BuiltinTopic::TypeRequests => type_requests,
            BuiltinTopic::TypeReplies => type_replies,
        }
    }
}

/// The writer that a submessage comes from or is for.
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
