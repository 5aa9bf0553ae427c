//! What every handle and every endpoint of a participant shares.

use crate::actor::{Capacity, Cell, Effects, Poke};
use crate::context::ListenerPlace;
use crate::context::Users;
use crate::discovery::Builtin;
use crate::discovery::{ParticipantActor, ParticipantCell};
#[cfg(any(feature = "udp", feature = "sim"))]
use crate::driver::FaultyReceive;
use crate::driver::Outgoing;
use crate::driver::{Driver, Locators, Network, NetworkConfig, NetworkError, Reach, Receive};
use crate::infrastructure::EventThread;
use crate::infrastructure::{
    CreateError, CreateErrorKind, Ending, LiveQos, QosError, StatusCondition, Subject, Watched,
};
use crate::participant::Contained;
use crate::participant::default_qos::Defaults;
use crate::participant::draining::Draining;
use crate::participant::leaving::Leaving;
use crate::qos::DomainParticipantQos;
use crate::reception::ReceiveEnd;
use crate::reception::Routes;
use crate::reception::{ReceiveCounters, TrafficCounters};
use crate::settings::{Config, Receiving, Scope};
use crate::settings::{is_name, resolve_again, resolve_peer};
use crate::topic::TopicTable;
use dds_rtps::concurrent::AssertionClock;
use dds_rtps::participant::{Participant, ParticipantConfig, ParticipantCounters, ParticipantLocators};
use dds_rtps::types::{Duration, EntityId, EntityKind, Guid, GuidPrefix, IpFamilies, VendorId};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// What every handle and every endpoint of a participant shares. When the application holds none of these any more
/// ([`ParticipantRef`](crate::context::ParticipantRef)), it takes leave of the domain.
pub(crate) struct ParticipantHandle {
    config: Config,
    prefix: GuidPrefix,
    subject: Arc<Subject>,
    span: tracing::Span,
    driver: Arc<dyn Driver>,
    network: Arc<dyn Network>,
    cell: Arc<ParticipantCell>,
    routes: Routes,
    /// Signs of life of the application, for writers that are manual by participant.
    assertion_clock: Arc<AssertionClock>,
    topics: Mutex<TopicTable>,
    builtin: Builtin,
    qos: LiveQos<DomainParticipantQos>,
    /// Of the endpoints that are in no group.
    defaults: Defaults,
    /// Held while matches are carried out, so that what discovery decided happens in that order.
    matching: Mutex<()>,
    event_thread: Arc<EventThread>,
    draining: Draining,
    contained: Contained,
    next_key: AtomicU32,
    receive_counters: ReceiveCounters,
    users: Users,
    enabled: AtomicBool,
    enabling: Mutex<()>,
    leaving: Leaving,
    listener: ListenerPlace,
    listening: Mutex<()>,
    ending: Arc<Ending>,
    watched: Arc<Watched>,
    status_condition: StatusCondition,
    /// Itself.
    weak: Weak<Self>,
}

impl ParticipantHandle {
    /// Opens the sockets and begins to look for others.
    pub(crate) fn start(config: Config, driver: Arc<dyn Driver>) -> Result<Arc<Self>, CreateError> {
        let prefix = draw_prefix(&*driver);
        let subject = Subject::new("participant", "", Guid::new(prefix, EntityId::PARTICIPANT));
        let error = |kind| CreateError::new(&subject, kind);
        config.check().map_err(error)?;
        let network = driver.open_network(&network_config(&config)).map_err(|reason| {
            let kind = match reason {
                NetworkError::Domain(domain_id) => CreateErrorKind::InvalidDomain { domain_id },
                NetworkError::Tap { path, source } => CreateErrorKind::Tap { path, message: source.to_string() },
                NetworkError::NotSimulated { setting } => CreateErrorKind::NotSimulated { setting },
                other => CreateErrorKind::Transport { message: other.to_string() },
            };
            error(kind)
        })?;
        network.show_presence(prefix);
        let assertion_clock = Arc::<AssertionClock>::default();
        let mut protocol = participant_config(&config, prefix, &*network);
        protocol.assertion_clock = Arc::clone(&assertion_clock);
        let protocol = Participant::new(protocol, driver.random());
        let outgoing = Outgoing::new(Arc::clone(&driver), Arc::clone(&network), config.transform());
        let actor = ParticipantActor::new(protocol, Arc::clone(&driver), outgoing);
        let cell = Cell::new(actor, Capacity::default(), Arc::clone(driver.run_queue()));
        let guid = subject.guid;
        let span = tracing::info_span!("participant", %guid, domain = config.domain_id, name = %config.name);
        let watched = Arc::<Watched>::default();
        let handle = Arc::new_cyclic(|weak| Self {
            qos: LiveQos::new(config.qos.clone()),
            defaults: Defaults::default(),
            config,
            prefix,
            subject: Arc::clone(&subject),
            span,
            event_thread: EventThread::new(Arc::clone(&driver)),
            driver,
            network,
            cell,
            routes: Routes::default(),
            assertion_clock,
            topics: Mutex::default(),
            builtin: Builtin::default(),
            matching: Mutex::default(),
            draining: Draining::default(),
            contained: Contained::default(),
            next_key: AtomicU32::new(1),
            receive_counters: ReceiveCounters::default(),
            users: Users::default(),
            enabled: AtomicBool::new(false),
            enabling: Mutex::default(),
            leaving: Leaving::default(),
            listener: ListenerPlace::default(),
            listening: Mutex::default(),
            ending: Ending::new(),
            status_condition: StatusCondition::new(subject.guid, Arc::clone(&watched) as _),
            watched,
            weak: Weak::clone(weak),
        });
        let (itself, weak) = (Arc::downgrade(&handle.cell) as Weak<dyn Poke>, Arc::downgrade(&handle));
        let _ = Effects::scope(|effects| handle.cell.with(effects, |actor, _| actor.attach(itself, weak)));
        if handle.config.enabled {
            handle.enable().map_err(error)?;
        }
        Ok(handle)
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Acquire)
    }

    /// Whether what is made with it is to be enabled as it is made.
    pub(crate) fn autoenables(&self) -> bool {
        self.is_enabled() && self.qos.read(|qos| qos.entity_factory.autoenable_created_entities)
    }

    /// Lets the participant take part, and what was made with it if its QoS says so; does nothing if it does already
    /// (DDS 1.4, 2.2.2.1.1.7).
    pub(crate) fn enable(&self) -> Result<(), CreateErrorKind> {
        self.check_open()?;
        {
            let _turn = self.enabling.lock().unwrap_or_else(PoisonError::into_inner);
            if self.is_enabled() {
                return Ok(());
            }
            self.qos.settle();
            self.begin()?;
            self.enabled.store(true, Ordering::Release);
        }
        if self.is_closed() {
            // Whoever has closed it may have looked before.
            self.network.stop();
            return Err(CreateErrorKind::Closed);
        }
        // What comes from now on sees that the participant is enabled; what came before is in the table.
        self.builtin.enable();
        if self.autoenables() {
            self.contained.enable();
        }
        Ok(())
    }

    fn begin(&self) -> Result<(), CreateErrorKind> {
        let receive: Arc<dyn Receive> = ReceiveEnd::new(Weak::clone(&self.weak));
        #[cfg(any(feature = "udp", feature = "sim"))]
        let receive = match self.config.receive_faults {
            Some(faults) => FaultyReceive::new(receive, faults, &self.driver),
            None => receive,
        };
        self.network.start(receive).map_err(|error| CreateErrorKind::of_thread(&error))?;
        Effects::scope(|effects| self.cell.with(effects, |actor, _| actor.start()))
            .map_err(|error| CreateErrorKind::Internal { message: error.to_string() })?;
        let locators = self.network.locators();
        let granted = self.network.receive_buffer_granted();
        self.span.in_scope(|| {
            tracing::info!(
                scope = ?self.config.scope,
                unicast = ?locators.default_unicast,
                multicast = ?locators.metatraffic_multicast,
                receive_buffer = granted,
                settings = self.config.describe(),
                "participant started"
            );
        });
        Ok(())
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn prefix(&self) -> GuidPrefix {
        self.prefix
    }

    pub(crate) fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    pub(crate) fn span(&self) -> &tracing::Span {
        &self.span
    }

    pub(crate) fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    pub(crate) fn network(&self) -> &Arc<dyn Network> {
        &self.network
    }

    pub(crate) fn cell(&self) -> &Arc<ParticipantCell> {
        &self.cell
    }

    pub(crate) fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Signs of life of the application, for writers that are manual by participant.
    pub(crate) fn assertion_clock(&self) -> &Arc<AssertionClock> {
        &self.assertion_clock
    }

    pub(crate) fn receive_counters(&self) -> &ReceiveCounters {
        &self.receive_counters
    }

    /// Takes over that this host has other addresses than before.
    pub(crate) fn follow_network(&self) {
        let locators = self.network.locators();
        self.span.in_scope(|| {
            tracing::info!(
                unicast = ?locators.default_unicast,
                multicast = ?locators.metatraffic_multicast,
                "the network has changed"
            );
        });
        Effects::scope(|effects| {
            let locators = participant_locators(&locators);
            // A closed participant announces nothing any more.
            let _ = self.cell.with(effects, |actor, _| actor.change(|rtps, now| rtps.set_locators(now, locators)));
            self.carry_out_matches(effects);
        });
    }

    pub(crate) fn traffic(&self) -> TrafficCounters {
        let dropped = self.socket_dropped().unwrap_or_default();
        TrafficCounters { socket_full: dropped, ..self.receive_counters.with(self.network.transport().counters()) }
    }

    pub(crate) fn discovery_counters(&self) -> Option<ParticipantCounters> {
        Effects::scope(|effects| self.cell.with(effects, |actor, _| actor.rtps().counters())).ok()
    }

    /// Datagrams that the user-data sockets had no room for; `None`: the system does not tell.
    pub(crate) fn socket_dropped(&self) -> Option<u64> {
        self.network.dropped()
    }

    /// What the system has granted, which is what it grants to others on this host.
    pub(crate) fn receive_buffer_granted(&self) -> usize {
        self.network.receive_buffer_granted()
    }

    pub(crate) fn outgoing(&self) -> Outgoing {
        Outgoing::new(Arc::clone(&self.driver), Arc::clone(&self.network), self.config.transform())
    }

    pub(crate) fn topics(&self) -> MutexGuard<'_, TopicTable> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn qos(&self) -> &LiveQos<DomainParticipantQos> {
        &self.qos
    }

    /// Announces other octets of the application. Without effect once the participant is closed.
    pub(crate) fn set_qos(&self, qos: DomainParticipantQos) -> Result<(), QosError> {
        let changed = self.qos.change(qos, |_, new| new.check(), DomainParticipantQos::check);
        changed.map_err(|kind| QosError::new(&self.subject, kind))?;
        // Read inside of the cell, so that of two changes the last one is announced last.
        let user_data = || self.qos.read(|qos| qos.user_data.clone());
        let _ = Effects::scope(|effects| {
            self.cell.with(effects, |actor, _| {
                actor.change(|participant, now| participant.set_user_data(now, user_data()));
            })
        });
        Ok(())
    }

    pub(crate) fn defaults(&self) -> &Defaults {
        &self.defaults
    }

    pub(crate) fn builtin(&self) -> &Builtin {
        &self.builtin
    }

    pub(crate) fn matching(&self) -> MutexGuard<'_, ()> {
        self.matching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.leaving.is_closed()
    }

    /// Whether this is a child of the process that made the participant. Costs a system call.
    pub(crate) fn is_forked(&self) -> bool {
        self.driver.is_forked()
    }

    /// Refuses what makes something new, where that is not possible any more.
    pub(crate) fn check_open(&self) -> Result<(), CreateErrorKind> {
        if self.is_forked() {
            return Err(CreateErrorKind::Forked);
        }
        if self.is_closed() { Err(CreateErrorKind::Closed) } else { Ok(()) }
    }

    /// The id of a new endpoint.
    pub(crate) fn new_entity_id(&self, kind: EntityKind) -> EntityId {
        EntityId::user(self.next_key.fetch_add(1, Ordering::Relaxed), kind)
    }

    pub(crate) fn event_thread(&self) -> &Arc<EventThread> {
        &self.event_thread
    }

    /// The listener of the participant itself.
    pub(crate) fn top_listener(&self) -> &ListenerPlace {
        &self.listener
    }

    /// Held while it is resolved who is told what.
    pub(crate) fn listening(&self) -> MutexGuard<'_, ()> {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn draining(&self) -> &Draining {
        &self.draining
    }

    pub(crate) fn contained(&self) -> &Contained {
        &self.contained
    }

    pub(crate) fn users(&self) -> &Users {
        &self.users
    }

    pub(crate) fn leaving(&self) -> &Leaving {
        &self.leaving
    }

    pub(crate) fn ending(&self) -> &Arc<Ending> {
        &self.ending
    }

    pub(crate) fn watched(&self) -> &Arc<Watched> {
        &self.watched
    }

    pub(crate) fn status_condition(&self) -> &StatusCondition {
        &self.status_condition
    }

    pub(crate) fn weak(&self) -> &Weak<Self> {
        &self.weak
    }
}

impl Drop for ParticipantHandle {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Debug for ParticipantHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ParticipantHandle({})", self.subject.guid)
    }
}

/// A prefix that no other participant has, nor this one after a restart.
fn draw_prefix(driver: &dyn Driver) -> GuidPrefix {
    let [high, low] = [driver.random().to_be_bytes(), driver.random().to_be_bytes()];
    let mut random = [0; 10];
    random[..8].copy_from_slice(&high);
    random[8..].copy_from_slice(&low[..2]);
    GuidPrefix::new(VendorId::OURS, random)
}

fn network_config(config: &Config) -> NetworkConfig {
    let (names, addresses): (Vec<_>, Vec<_>) = config.peers.iter().partition(|peer| is_name(peer));
    let resolve = |peer: &String| (peer.clone(), resolve_peer(peer));
    let names: Vec<(String, Vec<SocketAddr>)> = names.into_iter().map(resolve).collect();
    let addresses: Vec<Vec<SocketAddr>> = addresses.into_iter().map(|peer| resolve_peer(peer)).collect();
    let mut peers = addresses.iter().chain(names.iter().map(|(_, addresses)| addresses));
    let needs_v6 = peers.any(|peer| !peer.is_empty() && peer.iter().all(SocketAddr::is_ipv6));
    NetworkConfig {
        domain_id: config.domain_id,
        reach: if config.scope == Scope::Host { Reach::Host } else { Reach::Subnet },
        multicast: config.scope != Scope::PeersOnly,
        interfaces: config.interfaces.clone(),
        families: match config.ip_families {
            IpFamilies::Auto if needs_v6 => IpFamilies::Both,
            families => families,
        },
        multicast_ttl: config.multicast_ttl.into(),
        receive_buffer: config.receive_buffer,
        send_buffer: config.send_buffer,
        peers: addresses.into_iter().flatten().collect(),
        peer_names: names,
        resolve: resolve_again,
        by_caller: config.receive == Receiving::Caller,
        tap: config.tap.clone(),
        faults: config.faults,
    }
}

/// Announcing more often tells nobody anything, and costs everybody something.
const ANNOUNCEMENT_PERIOD_MIN: Duration = Duration::from_millis(10);

fn participant_config(config: &Config, prefix: GuidPrefix, network: &dyn Network) -> ParticipantConfig {
    let mut protocol = ParticipantConfig::new(prefix, config.domain_id);
    protocol.lease_duration = config.lease;
    protocol.announcement_period = config.announcement_period.max(ANNOUNCEMENT_PERIOD_MIN);
    protocol.domain_tag.clone_from(&config.domain_tag);
    protocol.entity_name.clone_from(&config.name);
    protocol.properties.clone_from(&config.properties);
    protocol.user_data.clone_from(&config.qos.user_data);
    protocol.set_locators(participant_locators(&network.locators()));
    protocol
}

fn participant_locators(locators: &Locators) -> ParticipantLocators {
    ParticipantLocators {
        metatraffic_unicast: locators.metatraffic_unicast.clone(),
        metatraffic_multicast: locators.metatraffic_multicast.clone(),
        default_unicast: locators.default_unicast.clone(),
        announce_to: locators.initial_peers.clone(),
        host_addresses: locators.host_addresses.clone(),
    }
}
