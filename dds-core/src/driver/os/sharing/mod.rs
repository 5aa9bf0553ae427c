//! Shared memory between the participants of one host. It carries user data instead of UDP.
//!
//! In: participants of this host with their locators, datagrams. Out: packets for the participant, the [`Carrier`] of
//! each peer. Owned: the host in shared memory, and its paths.
//!
//! Both participants connect when they discover each other. The first one finds no socket, because the other one opens
//! its socket later. So one of the two attempts succeeds, or both do, and the crate `dds-shm` keeps one path. UDP
//! carries the traffic until a path is open, after it has ended, and for messages that the memory cannot take.
//!
//! A datagram names its destinations by UDP locators. A peer with a path is on this host and in this network namespace,
//! so its locators belong to no other process. If two participants announce the same locator, one of them is wrong.
//! Then UDP carries the traffic for it.
//!
//! | module | purpose |
//! |---|---|
//! | `transport` | sends to peers with a path, and passes other destinations to UDP |
//! | `intake` | receives, on a thread of its own or on a thread that waits |

mod intake;
#[cfg(test)]
mod tests;
mod transport;

pub(super) use intake::SharedIntake;

use super::intake::Inbound;
use crate::driver::Carrier;
use crate::sync::{Arc, AtomicBool, AtomicU64, Lock, Ordering};
use dds_rtps::transport::Transport;
use dds_rtps::types::{GuidPrefix, Locator};
use dds_shm::{Identity, PathEnd, PathId, Refusal, ShmConfig, ShmHost, ShmPath, ShmReception, StagedMessage};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::net::SocketAddr;
use transport::SharingTransport;

/// Bytes of the ring of a path: room for about 1000 messages of 64 bytes.
const RING_LEN: usize = 256 << 10;

/// The pool of a peer may be longer than that of this process.
const PEER_POOL_MAX: usize = 1 << 30;

/// Most messages in blocks that one peer holds.
const HELD_BLOCKS_MAX: usize = 256;

/// Length of the messages by which a large best-effort sample is paced.
const PACED_LEN: usize = 64 << 10;

/// Longest message: that of UDP, so that a peer can be served by either.
pub(super) const MESSAGE_MAX: usize = 64 << 10;

/// Shared memory of one participant.
#[derive(Debug)]
pub(super) struct Sharing {
    /// Bound of the memory for messages, in bytes. Zero means that the participant shares no memory.
    limit: usize,
    state: Lock<SharingState>,
    /// Whether some destination has a path. Without one, a send costs one load.
    has_routes: AtomicBool,
    counters: SharingCounters,
}

#[derive(Debug, Default)]
struct SharingCounters {
    sent: AtomicU64,
    sent_bytes: AtomicU64,
    full: AtomicU64,
}

#[derive(Debug, Default)]
struct SharingState {
    own: Option<GuidPrefix>,
    host: SharedHost,
    /// Participants of this host. Bound: those that discovery knows.
    peers: BTreeMap<GuidPrefix, Neighbor>,
    /// Open paths, also to peers that discovery does not know yet. Bound: `ShmConfig::paths_max`.
    paths: BTreeMap<GuidPrefix, Arc<ShmPath>>,
    /// `None` for a locator that several participants announce. Bound: the locators of the peers.
    routes: BTreeMap<Locator, Option<Arc<ShmPath>>>,
    is_stopped: bool,
}

#[derive(Debug, Default)]
enum SharedHost {
    #[default]
    NotOpened,
    Open(ShmHost),
    /// Why this process cannot share memory.
    Failed(String),
}

#[derive(Debug, Default)]
struct Neighbor {
    locators: SmallVec<[Locator; 4]>,
    /// Why there is no path.
    reason: Option<String>,
    /// It had no socket when this participant last connected.
    is_absent: bool,
}

impl Sharing {
    /// `limit` bounds the memory for messages, in bytes. Zero turns sharing off.
    pub(super) fn new(limit: usize) -> Arc<Self> {
        let (state, counters) = (Lock::default(), SharingCounters::default());
        Arc::new(Self { limit, state, has_routes: AtomicBool::new(false), counters })
    }

    /// Puts shared memory in front of a transport.
    pub(super) fn before(self: &Arc<Self>, inner: Arc<dyn Transport>) -> Arc<dyn Transport> {
        if self.limit == 0 {
            return inner;
        }
        Arc::new(SharingTransport::new(inner, Arc::clone(self)))
    }

    /// Sets the identity under which peers find this participant.
    pub(super) fn set_prefix(&self, own: GuidPrefix) {
        self.state.lock().own = Some(own);
    }

    /// Opens shared memory, once. Packets go to `inbound`.
    pub(super) fn open_intake(self: &Arc<Self>, inbound: Inbound) -> Option<SharedIntake> {
        self.open().map(|reception| SharedIntake::new(reception, inbound, Arc::clone(self)))
    }

    /// Opens the host in shared memory. Returns its receiving part once.
    fn open(&self) -> Option<ShmReception> {
        let mut state = self.state.lock();
        let is_new = matches!(state.host, SharedHost::NotOpened);
        let (Some(own), true) = (state.own, is_new && self.limit > 0 && !state.is_stopped) else { return None };
        match ShmHost::new(identity_of(own), self.config()) {
            Ok((host, reception)) => {
                state.host = SharedHost::Open(host);
                Some(reception)
            }
            Err(refusal) => {
                let reason = refusal.to_string();
                state.host = SharedHost::Failed(reason.clone());
                drop(state);
                tracing::debug!(reason, "this participant shares no memory; it uses UDP");
                None
            }
        }
    }

    /// Closes the host again, because the system refuses the thread that receives.
    pub(super) fn give_up(&self, reason: String) {
        self.state.lock().host = SharedHost::Failed(reason);
    }

    fn config(&self) -> ShmConfig {
        let mut config = ShmConfig::default();
        config.ring_len = RING_LEN;
        config.pool_len = self.limit;
        config.peer_pool_len_max = PEER_POOL_MAX;
        config.held_blocks_max = HELD_BLOCKS_MAX;
        // A stopped peer must leave memory for the others.
        config.held_bytes_max = (self.limit / 4).min(HELD_BLOCKS_MAX * MESSAGE_MAX);
        config
    }

    /// A participant of this host was discovered, or its locators have changed.
    pub(super) fn found(&self, peer: GuidPrefix, locators: &[Locator]) {
        let mut state = self.state.lock();
        if self.limit == 0 || state.is_stopped {
            return;
        }
        let neighbor = state.peers.entry(peer).or_default();
        let is_new = neighbor.locators.is_empty();
        neighbor.locators = locators.iter().copied().collect();
        self.follow_paths(&mut state);
        drop(state);
        if is_new {
            self.connect(peer);
        }
    }

    /// Tries to open a path to a neighbor.
    fn connect(&self, peer: GuidPrefix) {
        let state = self.state.lock();
        let host = match &state.host {
            SharedHost::Open(host) if !state.paths.contains_key(&peer) => host.clone(),
            _ => return,
        };
        drop(state);
        match host.connect(identity_of(peer)) {
            // Both connect, so the attempt of the peer may be under way.
            Ok(()) | Err(Refusal::AlreadyConnected) => {}
            Err(refusal) => self.refused(peer, &refusal),
        }
    }

    /// A participant is lost.
    pub(super) fn lost(&self, peer: GuidPrefix) {
        let mut state = self.state.lock();
        state.peers.remove(&peer);
        let path = state.paths.remove(&peer);
        self.follow_paths(&mut state);
        drop(state);
        if let Some(path) = path {
            path.close();
        }
    }

    /// Returns how samples for a participant of this host are sent. `None` if discovery does not know it here.
    pub(super) fn carrier(&self, peer: GuidPrefix) -> Option<Carrier> {
        if self.state.lock().peers.get(&peer)?.is_absent {
            // The peer may have opened its socket since. A refused connection of the peer does not name it.
            self.connect(peer);
        }
        let state = self.state.lock();
        let neighbor = state.peers.get(&peer)?;
        let is_routed = |locator| matches!(state.routes.get(locator), Some(Some(_)));
        if state.paths.contains_key(&peer) && neighbor.locators.iter().any(is_routed) {
            return Some(Carrier::SharedMemory);
        }
        let reason = match (&state.host, &neighbor.reason) {
            (SharedHost::Failed(reason), _) | (_, Some(reason)) => reason.clone(),
            _ if state.paths.contains_key(&peer) => "another participant announces its addresses".to_owned(),
            _ => "the peer has not answered yet".to_owned(),
        };
        Some(Carrier::Udp { reason })
    }

    /// Returns the free bytes for messages to a locator. `None` if it has no path.
    pub(super) fn room_at(&self, locator: &Locator) -> Option<usize> {
        let path = self.route(locator)?;
        Some(path.room_for(PACED_LEN) * PACED_LEN)
    }

    /// Ends reception. All paths end when the reception is dropped.
    pub(super) fn stop(&self) {
        let mut state = self.state.lock();
        state.is_stopped = true;
        state.routes.clear();
        self.has_routes.store(false, Ordering::Relaxed);
        let host = std::mem::take(&mut state.host);
        drop(state);
        if let SharedHost::Open(host) = host {
            host.interrupt();
        }
    }

    /// Copies a message into shared memory once, for several peers. Returns `None` if there is no room.
    fn stage(&self, segments: &[IoSlice<'_>]) -> Option<StagedMessage> {
        let host = match &self.state.lock().host {
            SharedHost::Open(host) => host.clone(),
            _ => return None,
        };
        host.stage(segments).ok()
    }

    fn route(&self, locator: &Locator) -> Option<Arc<ShmPath>> {
        if !self.has_routes.load(Ordering::Relaxed) {
            return None;
        }
        self.state.lock().routes.get(locator)?.clone()
    }

    /// A path is open.
    fn up(&self, path: ShmPath) {
        let Some(peer) = prefix_of(path.peer().identity) else { return path.close() };
        let mut state = self.state.lock();
        if state.is_stopped {
            return;
        }
        state.paths.insert(peer, Arc::new(path));
        if let Some(neighbor) = state.peers.get_mut(&peer) {
            neighbor.reason = None;
            neighbor.is_absent = false;
        }
        self.follow_paths(&mut state);
        drop(state);
        tracing::debug!(participant = %peer, "samples to and from this participant use shared memory");
    }

    /// A path has ended.
    fn down(&self, id: PathId, identity: Identity, reason: PathEnd) {
        let Some(peer) = prefix_of(identity) else { return };
        let mut state = self.state.lock();
        // A new path may have replaced it.
        if state.paths.get(&peer).is_none_or(|path| path.id() != id) {
            return;
        }
        state.paths.remove(&peer);
        if let Some(neighbor) = state.peers.get_mut(&peer) {
            neighbor.reason = Some(reason.to_string());
        }
        self.follow_paths(&mut state);
        drop(state);
        match reason {
            PathEnd::Broken(_) => {
                tracing::warn!(participant = %peer, %reason, "shared memory with this participant has ended; it uses UDP");
            }
            _ => tracing::debug!(participant = %peer, %reason, "shared memory with this participant has ended"),
        }
    }

    /// A path did not open.
    fn refused(&self, peer: GuidPrefix, refusal: &Refusal) {
        let mut state = self.state.lock();
        if state.paths.contains_key(&peer) {
            return;
        }
        let reason = refusal.to_string();
        if let Some(neighbor) = state.peers.get_mut(&peer) {
            neighbor.reason = Some(reason);
            neighbor.is_absent = matches!(refusal, Refusal::NotFound);
        }
    }

    /// Computes the routes again, after a change of peers or paths.
    fn follow_paths(&self, state: &mut SharingState) {
        let SharingState { peers, paths, routes, .. } = state;
        routes.clear();
        for (prefix, neighbor) in peers {
            for locator in &neighbor.locators {
                let path = if routes.contains_key(locator) { None } else { paths.get(prefix).cloned() };
                routes.insert(*locator, path);
            }
        }
        self.has_routes.store(routes.values().any(Option::is_some), Ordering::Relaxed);
    }

    /// Returns an address of the peer at the other end of a path, for captures.
    fn address_of(&self, path: PathId) -> Option<SocketAddr> {
        let state = self.state.lock();
        let (peer, _) = state.paths.iter().find(|(_, known)| known.id() == path)?;
        state.peers.get(peer)?.locators.first()?.to_socket_addr()
    }
}

fn identity_of(prefix: GuidPrefix) -> Identity {
    let mut identity = [0; 16];
    identity[..12].copy_from_slice(&prefix.0);
    identity
}

fn prefix_of(identity: Identity) -> Option<GuidPrefix> {
    let (prefix, rest) = identity.split_first_chunk::<12>()?;
    (rest == [0; 4]).then_some(GuidPrefix(*prefix))
}
