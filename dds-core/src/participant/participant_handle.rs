//! State that every handle and every endpoint of a participant shares.

use crate::actor::{Deferred, Effects, Poke};
use crate::context::{ParticipantContext, ParticipantCore, WRITER_IS_ALIVE};
use crate::discovery::Discovery;
#[cfg(any(feature = "udp", feature = "sim"))]
use crate::driver::FaultyReceive;
use crate::driver::{Driver, Locators, Network, NetworkConfig, NetworkError, Reach, Receive};
use crate::endpoint::Endpoint;
use crate::infrastructure::{
    About, CreateError, CreateErrorKind, Ending, QosError, StatusCondition, Subject, Watched, is_out_of_files,
};
use crate::participant::Contained;
use crate::participant::default_qos::Defaults;
use crate::participant::draining::Draining;
#[cfg(feature = "derive")]
use crate::participant::latency_topic::LatencyTopic;
use crate::participant::matches::MatchingTurn;
use crate::participant::receive_end::ReceiveEnd;
#[cfg(feature = "security-pki")]
use crate::participant::security_log::SecurityLogTopic;
use crate::participant::shutdown::ShutdownState;
use crate::qos::DomainParticipantQos;
use crate::reception::Reception;
use crate::settings::{Config, Receiving, Scope, is_name, resolve_again, resolve_peer};
use crate::topic::TopicTable;
use dds_rtps::participant::{Participant, ParticipantConfig, ParticipantLocators};
use dds_rtps::types::{Duration, EntityId, Guid, GuidPrefix, IpFamilies, VendorId};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// State that all handles of a participant share. Its parts are in the order of their dependencies.
///
/// When the application drops its last handle ([`ParticipantRef`](crate::context::ParticipantRef)), the participant
/// leaves the domain.
pub(crate) struct ParticipantHandle {
    pub(super) core: Arc<ParticipantCore>,
    reception: Reception,
    discovery: Discovery,
    topics: Mutex<TopicTable>,
    /// For endpoints that are in no group.
    defaults: Defaults,
    /// Held while matches are carried out, so that they happen in the order of the events of discovery.
    matching: Mutex<MatchingTurn>,
    draining: Draining,
    contained: Contained,
    #[cfg(feature = "derive")]
    latency_topic: LatencyTopic,
    #[cfg(feature = "security-pki")]
    security_log: SecurityLogTopic,
    enabling: Mutex<()>,
    shutdown_state: ShutdownState,
    ending: Arc<Ending>,
    watched: Arc<Watched>,
    status_condition: StatusCondition,
    /// Itself.
    weak: Weak<Self>,
}

impl ParticipantHandle {
    /// Opens the sockets and starts discovery.
    pub(crate) fn start(mut config: Config, driver: Arc<dyn Driver>) -> Result<Arc<Self>, CreateError> {
        let candidate = draw_prefix(&*driver);
        let unnamed = Subject::new("participant", "", Guid::new(candidate, EntityId::PARTICIPANT));
        let prefix = config.begin_security(candidate, driver.now()).about(&unnamed)?;
        let subject = Subject::new("participant", "", Guid::new(prefix, EntityId::PARTICIPANT));
        config.check().about(&subject)?;
        let network = driver.open_network(&network_config(&config)).map_err(CreateErrorKind::from).about(&subject)?;
        // Before the first announcement, so that peers never find the participant without its name.
        network.show_presence(prefix);
        let mut protocol = participant_config(&config, prefix, &*network);
        let core = ParticipantCore::new(config, Arc::clone(&subject), driver, network);
        protocol.assertion_clock = Arc::clone(core.assertion_clock());
        let seed = core.driver().random();
        let protocol = Participant::new(protocol, seed, core.driver().hash_seed(seed));
        let reception = Reception::new(&core);
        let discovery = Discovery::new(&core, protocol, reception.routes());
        let watched = Arc::<Watched>::default();
        let handle = Arc::new_cyclic(|weak| Self {
            core,
            reception,
            discovery,
            topics: Mutex::default(),
            defaults: Defaults::default(),
            matching: Mutex::default(),
            draining: Draining::default(),
            contained: Contained::default(),
            #[cfg(feature = "derive")]
            latency_topic: LatencyTopic::default(),
            #[cfg(feature = "security-pki")]
            security_log: SecurityLogTopic::default(),
            enabling: Mutex::default(),
            shutdown_state: ShutdownState::default(),
            ending: Ending::new(),
            status_condition: StatusCondition::new(subject.guid, Arc::clone(&watched) as _),
            watched,
            weak: Weak::clone(weak),
        });
        let cell = handle.discovery.cell();
        let (itself, owner) = (Arc::downgrade(cell) as Weak<dyn Poke>, Arc::downgrade(&handle) as Weak<dyn Deferred>);
        // A new cell cannot be closed.
        let _ = cell.visit(|actor, _| actor.attach(itself, owner));
        if handle.core.config().enabled {
            handle.enable().about(&subject)?;
        }
        Ok(handle)
    }

    /// Enables the participant, and its entities if its QoS says so (DDS 1.4, 2.2.2.1.1.7).
    ///
    /// Does nothing if it is enabled already.
    pub(crate) fn enable(&self) -> Result<(), CreateErrorKind> {
        self.core.check_open()?;
        {
            let _turn = self.enabling.lock().unwrap_or_else(PoisonError::into_inner);
            if self.core.is_enabled() {
                return Ok(());
            }
            self.core.qos().settle();
            self.begin()?;
            self.core.set_enabled();
        }
        if self.core.is_closed() {
            // The thread that closed it may have looked before.
            self.core.network().stop();
            return Err(CreateErrorKind::Closed);
        }
        // Entities that are created from now on see that the participant is enabled; the others are in the table.
        self.discovery.builtin().enable();
        if self.core.autoenables() {
            self.contained.enable();
        }
        #[cfg(feature = "derive")]
        if self.core.config().publish_latencies {
            self.start_latency_topic()?;
        }
        #[cfg(feature = "security-pki")]
        if let Some(severity) = self.core.config().security_log() {
            self.start_security_log(severity)?;
        }
        Ok(())
    }

    fn begin(&self) -> Result<(), CreateErrorKind> {
        let (core, network) = (&self.core, self.core.network());
        let receive: Arc<dyn Receive> = ReceiveEnd::new(Weak::clone(&self.weak));
        #[cfg(any(feature = "udp", feature = "sim"))]
        let receive = match core.config().receive_faults {
            Some(faults) => FaultyReceive::new(receive, &faults, core.driver()),
            None => receive,
        };
        // Receive before the first announcement, which peers answer at once.
        if let Err(error) = network.start(receive) {
            return Err(CreateErrorKind::of_thread(&error));
        }
        if let Err(error) = self.discovery.cell().visit(|actor, _| actor.start()) {
            return Err(CreateErrorKind::Internal { message: error.to_string() });
        }
        let locators = network.locators();
        let granted = network.receive_buffer_granted();
        tracing::info!(
            parent: core.span(),
            scope = ?core.config().scope,
            unicast = ?locators.default_unicast,
            multicast = ?locators.metatraffic_multicast,
            settings = core.config().describe(false),
            "participant started"
        );
        tracing::debug!(
            parent: core.span(),
            receive_buffer = granted,
            settings = core.config().describe(true),
            "all settings"
        );
        Ok(())
    }

    pub(crate) fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    pub(crate) fn reception(&self) -> &Reception {
        &self.reception
    }

    /// Announces the present addresses of this host.
    pub(super) fn follow_network(&self) {
        let locators = self.core.network().locators();
        tracing::info!(
            parent: self.core.span(),
            unicast = ?locators.default_unicast,
            multicast = ?locators.metatraffic_multicast,
            "the addresses of this host have changed"
        );
        Effects::scope(|effects| {
            let locators = participant_locators(&locators);
            // A closed participant announces nothing any more.
            let _ = self.discovery.change(effects, |rtps, now| rtps.set_locators(now, locators));
            self.carry_out_matches(effects);
        });
    }

    pub(crate) fn topics(&self) -> MutexGuard<'_, TopicTable> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes and announces the QoS. No effect if the participant is closed.
    pub(crate) fn set_qos(&self, qos: DomainParticipantQos) -> Result<(), QosError> {
        self.core.qos().change(qos, |_, new| new.check(), DomainParticipantQos::check).about(self.core.subject())?;
        // Read inside of the cell, so that of two changes the last one is announced last.
        let user_data = || self.core.qos().read(|qos| qos.user_data.clone());
        let _ = Effects::scope(|effects| {
            self.discovery.change(effects, |participant, now| participant.set_user_data(now, user_data()))
        });
        Ok(())
    }

    /// The application asserts that it is alive.
    pub(crate) fn assert_liveliness(&self) {
        if self.core.assertion_clock().assert(self.core.driver().now().instant) {
            let cell = self.discovery.cell();
            // The state changes in its cell. This thread only says that it may.
            cell.signal(WRITER_IS_ALIVE);
            Effects::scope(|effects| Arc::clone(cell).poke(effects));
        }
    }

    /// Resolves the listeners of every endpoint.
    pub(crate) fn refresh_listeners(&self) {
        for reader in self.contained.readers() {
            reader.refresh_listeners();
        }
        for writer in self.contained.writers() {
            writer.refresh_listeners();
        }
    }

    pub(crate) fn defaults(&self) -> &Defaults {
        &self.defaults
    }

    pub(crate) fn matching(&self) -> MutexGuard<'_, MatchingTurn> {
        self.matching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn draining(&self) -> &Draining {
        &self.draining
    }

    pub(crate) fn contained(&self) -> &Contained {
        &self.contained
    }

    #[cfg(feature = "derive")]
    pub(super) fn latency_topic(&self) -> &LatencyTopic {
        &self.latency_topic
    }

    #[cfg(feature = "security-pki")]
    pub(super) fn security_log(&self) -> &SecurityLogTopic {
        &self.security_log
    }

    pub(super) fn shutdown_state(&self) -> &ShutdownState {
        &self.shutdown_state
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

    pub(super) fn weak(&self) -> &Weak<Self> {
        &self.weak
    }
}

impl Drop for ParticipantHandle {
    fn drop(&mut self) {
        ParticipantContext::end(self);
    }
}

impl std::fmt::Debug for ParticipantHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ParticipantHandle({})", self.core.guid())
    }
}

/// Draws a prefix that no other participant has, also not this one after a restart.
fn draw_prefix(driver: &dyn Driver) -> GuidPrefix {
    let [high, low] = [driver.random().to_be_bytes(), driver.random().to_be_bytes()];
    let mut random = [0; 10];
    // Ten random bytes behind the vendor, because no two participants of a domain may share a prefix.
    random[..8].copy_from_slice(&high);
    random[8..].copy_from_slice(&low[..2]);
    GuidPrefix::new(VendorId::OURS, random)
}

impl From<NetworkError> for CreateErrorKind {
    fn from(error: NetworkError) -> Self {
        match error {
            NetworkError::Domain(domain_id) => Self::InvalidDomain { domain_id },
            NetworkError::Tap { path, source } => Self::Tap { path, message: source.to_string() },
            // A user cannot tell this from the interfaces' fault by the message, and the next step differs.
            NetworkError::Io { source, .. } if is_out_of_files(&source) => {
                Self::OpenFiles { message: source.to_string() }
            }
            NetworkError::NotSimulated { setting } => Self::NotSimulated { setting },
            other => Self::Transport { message: other.to_string() },
        }
    }
}

fn network_config(config: &Config) -> NetworkConfig {
    let (mut names, mut peers, mut needs_v6) = (Vec::new(), Vec::new(), false);
    for peer in &config.peers {
        let addresses = resolve_peer(peer);
        // A peer that IPv4 cannot reach turns IPv6 on.
        needs_v6 |= !addresses.is_empty() && addresses.iter().all(SocketAddr::is_ipv6);
        if is_name(peer) {
            names.push((peer.clone(), addresses));
        } else {
            peers.extend(addresses);
        }
    }
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
        peers,
        peer_names: names,
        resolve: resolve_again,
        shared_memory: if config.udp_only { 0 } else { config.shared_memory },
        // The limit of a poll ends an infinite one as well.
        busy_poll: config.busy_poll.to_std().unwrap_or(std::time::Duration::MAX),
        by_caller: config.receive == Receiving::Caller,
        tap: config.tap.clone(),
        faults: config.faults,
    }
}

/// Lower bound of the announcement period. More announcements give peers no more information.
const ANNOUNCEMENT_PERIOD_MIN: Duration = Duration::from_millis(10);

fn participant_config(config: &Config, prefix: GuidPrefix, network: &dyn Network) -> ParticipantConfig {
    let mut protocol = ParticipantConfig::new(prefix, config.domain_id);
    protocol.lease_duration = config.lease;
    // A period of zero would announce without a pause.
    protocol.announcement_period = config.announcement_period.max(ANNOUNCEMENT_PERIOD_MIN);
    protocol.headroom = config.transform().headroom();
    protocol.domain_tag.clone_from(&config.domain_tag);
    protocol.entity_name.clone_from(&config.name);
    protocol.properties.clone_from(&config.properties);
    // The user's value wins.
    let is_new = |name: &str| !config.properties.iter().any(|(known, _)| known == name);
    protocol.properties.extend(network.process_properties().into_iter().filter(|(name, _)| is_new(name)));
    protocol.user_data.clone_from(&config.qos.user_data);
    protocol.security = config.peer_security();
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
