//! Shared memory between the participants of one host. It carries user data instead of UDP.
//!
//! In: participants of this host with their locators, datagrams. Out: packets for the participant, the [`Carrier`] of
//! each peer. Owned: the host in shared memory, and its paths.
//!
//! Both participants connect when they discover each other. The first one finds no socket, because the other one opens
//! its socket later. So one of the two attempts succeeds, or both do, and the crate `dds-shm` keeps one path. UDP
//! carries the traffic without an open path, and messages that the memory cannot take.
//!
//! A participant tries again if the reason may pass, for example after a lack of descriptors. The pause doubles with
//! each refusal, up to a minute. A program that asks how samples are sent causes an attempt sooner.
//!
//! A datagram names its destinations by UDP locators. A peer with a path is on this host and in this network namespace.
//! So its locators belong to no other process. If two participants announce the same locator, one of them is wrong.
//! Then UDP carries the traffic for it.
//!
//! | module | purpose |
//! |---|---|
//! | `content` | memory that the application fills with a sample |
//! | `handover` | keeps the order when a peer changes from UDP to its path |
//! | `room` | lets writers wait a moment for a peer that has no room |
//! | `transport` | sends to peers with a path, and passes other destinations to UDP |
//! | `intake` | receives, on a thread of its own or on a thread that waits |

mod content;
mod handover;
mod intake;
mod room;
#[cfg(test)]
mod tests;
mod transport;

pub(super) use intake::SharedIntake;

use self::content::OwnContent;
use self::handover::{Handover, Markers};
use self::room::{MemoryPath, RoomWaiters};
use super::intake::Inbound;
use crate::driver::Carrier;
use crate::sync::{Arc, AtomicBool, AtomicU64, Lock, Ordering, Process};
use dds_rtps::concurrent::BorrowedPool;
use dds_rtps::transport::Transport;
use dds_rtps::types::{GuidPrefix, Locator};
use dds_shm::{Identity, PathEnd, PathId, Refusal, ShmConfig, ShmHost, ShmPath, ShmReception, StagedMessage};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use transport::SharingTransport;

/// Bytes of the ring of a path: room for about 1000 messages of 64 bytes.
const RING_LEN: usize = 256 << 10;

/// The pool of a peer may be longer than that of this process.
const PEER_POOL_MAX: usize = 1 << 30;

/// Most messages in blocks that one peer holds.
const HELD_BLOCKS_MAX: usize = 256;

/// Bounds of the bytes that a peer may hold, which are three eighths of the memory. A smaller memory is its own bound.
///
/// The readers of the peer keep an eighth. A writer sends a congestion window of up to 8 MiB beyond that. A share that
/// is smaller than both would drop whole messages, and their repair takes many fragments.
const HELD_BYTES_MIN: usize = 8 * DATAGRAM_ROOM;
const HELD_BYTES_MAX: usize = 2 * KEPT_BYTES_MAX;

/// Most bytes of a peer's memory that the readers of this process keep.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// In a smaller memory, most of a large sample goes by UDP.
const PACED_LIMIT_MIN: usize = 256 << 10;

/// A handshake may wait for a receive thread that has no processor for a long time.
const HANDSHAKE_MAX: Duration = Duration::from_secs(30);

/// Least time between two attempts to connect to a peer. Each refusal doubles it, up to the maximum.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(60);

/// Length of the messages by which a large best-effort sample is paced.
const PACED_LEN: usize = 64 << 10;

/// Memory of a full datagram, in bytes.
const DATAGRAM_ROOM: usize = 64 << 10;

/// Longest message that a peer can get by UDP as well. Its length field includes headers of 28 bytes with IPv4.
const UDP_MAX: usize = 65_507;

/// Longest message: a sample of 1 MiB with its headers.
///
/// A longer sample goes in fragments, which its reader copies while the writer sends the next ones. Each message that a
/// busy reader keeps may have this length.
pub(in crate::driver::os) const LONG_MESSAGE_MAX: usize = (1 << 20) + (4 << 10);

/// Longest message whose sample lies in shared memory already.
///
/// Nothing copies it, so fragments would only take time. A reader keeps one message of this length.
pub(in crate::driver::os) const LENT_MESSAGE_MAX: usize = 8 << 20;

/// The part of the memory that such a message may take, as its reader keeps no longer one: 1 / `LENT_SHARE`.
const LENT_SHARE: usize = 8;

/// In a smaller memory, a few long messages would take all of it.
const LONG_LIMIT_MIN: usize = 32 * LONG_MESSAGE_MAX;

/// Shared memory of one participant.
#[derive(Debug)]
pub(super) struct Sharing {
    /// Bound of the memory for messages, in bytes. Zero means that the participant shares no memory.
    limit: usize,
    /// How long a thread that receives polls before it sleeps.
    busy_poll: Duration,
    state: Lock<SharingState>,
    /// Whether some destination has a path. Without one, a send costs one load.
    has_routes: AtomicBool,
    counters: SharingCounters,
    /// Samples that the application fills in place.
    lent: BorrowedPool<OwnContent>,
    markers: Arc<Markers>,
    /// Cells whose datagrams wait for room at a peer.
    room: RoomWaiters,
    /// An attempt may be planned.
    attempts: Notify,
    /// A forked child has the memory of its parent, and must not write to it.
    process: Process,
}

#[derive(Debug, Default)]
struct SharingCounters {
    sent: AtomicU64,
    sent_bytes: AtomicU64,
    full: AtomicU64,
    refused: AtomicU64,
}

#[derive(Debug, Default)]
struct SharingState {
    own: Option<GuidPrefix>,
    host: SharedHost,
    /// Participants of this host. Bound: those that discovery knows.
    peers: BTreeMap<GuidPrefix, Neighbor>,
    /// Open paths, also to peers that discovery does not know yet. Bound: `ShmConfig::paths_max`.
    paths: BTreeMap<GuidPrefix, Arc<MemoryPath>>,
    /// `None` for a locator that several participants announce. Bound: the locators of the peers.
    routes: BTreeMap<Locator, Option<Arc<MemoryPath>>>,
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

#[derive(Debug)]
struct Neighbor {
    locators: SmallVec<[Locator; 4]>,
    /// Why there is no path.
    reason: Option<String>,
    /// An attempt has failed, or was never made, and the next one may succeed.
    may_connect: bool,
    last_attempt: Option<Instant>,
    /// Refusals since the last path.
    refusals: u32,
}

/// Why connections are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occasion {
    /// Peers or paths have changed, or a pause is over.
    Change,
    /// A program asks how samples are sent.
    Asked,
}

impl Neighbor {
    fn new() -> Self {
        Self { locators: SmallVec::new(), reason: None, may_connect: true, last_attempt: None, refusals: 0 }
    }

    /// How long to wait before the next attempt. `None` if another one is useless, or one is under way.
    fn pause(&self, now: Instant, occasion: Occasion) -> Option<Duration> {
        if !self.may_connect {
            return None;
        }
        let doublings = if occasion == Occasion::Asked { 0 } else { self.refusals.saturating_sub(1).min(16) };
        let pause = (RETRY_PAUSE * (1 << doublings)).min(RETRY_PAUSE_MAX);
        let passed = self.last_attempt.map(|last| now.saturating_duration_since(last));
        Some(passed.map_or(Duration::ZERO, |passed| pause.saturating_sub(passed)))
    }
}

impl SharingState {
    /// Whether all locators have a path.
    fn shares_all(&self, locators: &[Locator]) -> bool {
        locators.iter().all(|locator| matches!(self.routes.get(locator), Some(Some(_))))
    }
}

impl Sharing {
    /// `limit` bounds the memory for messages, in bytes. Zero turns sharing off.
    /// `busy_poll`: how long a thread that receives polls before it sleeps.
    pub(super) fn new(limit: usize, busy_poll: Duration) -> Arc<Self> {
        Arc::new(Self {
            limit,
            busy_poll,
            state: Lock::default(),
            has_routes: AtomicBool::new(false),
            counters: SharingCounters::default(),
            lent: BorrowedPool::new(),
            markers: Arc::default(),
            room: RoomWaiters::default(),
            attempts: Notify::new(),
            process: Process::current(),
        })
    }

    pub(super) fn is_polled(&self) -> bool {
        !self.busy_poll.is_zero()
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
    ///
    /// `sockets` receive user data by UDP, on a thread each or by the threads that wait.
    pub(super) fn open_intake(
        self: &Arc<Self>,
        inbound: Inbound,
        sockets: &[Arc<UdpSocket>],
        by_caller: bool,
    ) -> Option<SharedIntake> {
        let reception = self.open()?;
        let handover = Handover::new(sockets, by_caller, Arc::clone(&self.markers));
        Some(SharedIntake::new(reception, inbound, Arc::clone(self), handover))
    }

    /// Whether a datagram is a marker that this participant sent to itself.
    #[inline]
    pub(super) fn is_marker(&self, datagram: &[u8]) -> bool {
        self.markers.take(datagram)
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
        // A stopped peer must leave memory for the others. But a small memory is for one peer, and the others use UDP.
        // A peer that holds its part gets no datagrams by UDP. So a small part would lose most of a large sample.
        config.held_bytes_max = (self.limit / 8 * 3).clamp(HELD_BYTES_MIN, HELD_BYTES_MAX);
        config.kept_bytes_max = KEPT_BYTES_MAX;
        config.handshake_max = HANDSHAKE_MAX;
        config.spin = self.busy_poll;
        config
    }

    /// A participant of this host was discovered, or its locators have changed.
    pub(super) fn found(&self, peer: GuidPrefix, locators: &[Locator]) {
        let mut state = self.state.lock();
        if self.limit == 0 || state.is_stopped {
            return;
        }
        let neighbor = state.peers.entry(peer).or_insert_with(Neighbor::new);
        neighbor.locators = locators.iter().copied().collect();
        self.follow_paths(&mut state);
        drop(state);
        self.connect_due(Occasion::Change);
    }

    /// Tries again while peers refuse for reasons that may pass. Runs until the network stops.
    pub(super) async fn keep_trying(self: Arc<Self>) {
        loop {
            self.attempts.notified().await;
            while let Some(pause) = self.pause() {
                // Another peer may be refused during the pause of this one, and its own pause is shorter.
                let _ = tokio::time::timeout(pause, self.attempts.notified()).await;
                self.connect_due(Occasion::Change);
            }
        }
    }

    /// How long to wait before the next attempt. `None` if none is planned.
    fn pause(&self) -> Option<Duration> {
        let now = now();
        let state = self.state.lock();
        if state.is_stopped || !matches!(state.host, SharedHost::Open(_)) {
            return None;
        }
        let neighbors = state.peers.iter().filter(|(peer, _)| !state.paths.contains_key(peer));
        neighbors.filter_map(|(_, neighbor)| neighbor.pause(now, Occasion::Change)).min()
    }

    /// Tries to open a path to each neighbor that has none and whose attempt is due.
    fn connect_due(&self, occasion: Occasion) {
        let now = now();
        let state = self.state.lock();
        let is_due = |neighbor: &Neighbor| neighbor.pause(now, occasion) == Some(Duration::ZERO);
        let due: SmallVec<[GuidPrefix; 4]> =
            state.peers.iter().filter(|(_, neighbor)| is_due(neighbor)).map(|(peer, _)| *peer).collect();
        drop(state);
        for peer in due {
            self.connect(peer);
        }
    }

    /// Tries to open a path to a neighbor.
    fn connect(&self, peer: GuidPrefix) {
        let mut state = self.state.lock();
        let SharingState { host, peers, paths, .. } = &mut *state;
        let (SharedHost::Open(host), Some(neighbor), false) = (host, peers.get_mut(&peer), paths.contains_key(&peer))
        else {
            return;
        };
        neighbor.may_connect = false;
        neighbor.last_attempt = Some(now());
        let host = host.clone();
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
            path.shm.close();
        }
    }

    /// Returns how samples for a participant of this host are sent. `None` if discovery does not know it here.
    pub(super) fn carrier(&self, peer: GuidPrefix) -> Option<Carrier> {
        if self.process.is_left() {
            return None;
        }
        // The peer may have opened its socket since. A refused connection of the peer does not name it.
        self.connect_due(Occasion::Asked);
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
    ///
    /// Also `None` if the memory is so small that UDP carries most of a large sample.
    pub(super) fn room_at(&self, locator: &Locator) -> Option<usize> {
        if self.limit < PACED_LIMIT_MIN {
            return None;
        }
        let path = self.route(locator)?;
        Some((path.shm.room_for(PACED_LEN) * PACED_LEN).min(self.limit))
    }

    /// Longest message that reaches all `locators` through shared memory. Zero if some of them have no path.
    pub(super) fn long_message_max(&self, locators: &[Locator]) -> usize {
        if self.carries_long_messages() && self.state.lock().shares_all(locators) { LONG_MESSAGE_MAX } else { 0 }
    }

    /// Whether there is a path, and enough memory for long messages.
    fn carries_long_messages(&self) -> bool {
        self.limit >= LONG_LIMIT_MIN && self.has_routes.load(Ordering::Relaxed)
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

    fn route(&self, locator: &Locator) -> Option<Arc<MemoryPath>> {
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
        state.paths.insert(peer, Arc::new(MemoryPath::new(path)));
        if let Some(neighbor) = state.peers.get_mut(&peer) {
            neighbor.reason = None;
            neighbor.may_connect = false;
            neighbor.refusals = 0;
        }
        self.follow_paths(&mut state);
        drop(state);
        self.connect_due(Occasion::Change);
        tracing::debug!(participant = %peer, "samples to and from this participant use shared memory");
    }

    /// A path has ended.
    fn down(&self, id: PathId, identity: Identity, reason: PathEnd) {
        let Some(peer) = prefix_of(identity) else { return };
        let mut state = self.state.lock();
        let is_known = match state.paths.get(&peer) {
            // A new path has replaced it.
            Some(path) if path.shm.id() != id => return,
            Some(_) => true,
            // The peer was lost, and perhaps found again since.
            None => false,
        };
        state.paths.remove(&peer);
        if let Some(neighbor) = state.peers.get_mut(&peer) {
            neighbor.reason = Some(reason.to_string());
            neighbor.may_connect = !matches!(reason, PathEnd::Broken(_));
            if matches!(reason, PathEnd::Closed) {
                // The peer was lost and found again before its path had ended.
                neighbor.last_attempt = None;
            }
        }
        self.follow_paths(&mut state);
        drop(state);
        self.connect_due(Occasion::Change);
        self.attempts.notify_one();
        if !is_known {
            return;
        }
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
        self.counters.refused.fetch_add(1, Ordering::Relaxed);
        if let Some(neighbor) = state.peers.get_mut(&peer) {
            neighbor.may_connect = may_pass(refusal);
            neighbor.refusals = neighbor.refusals.saturating_add(1);
            // The end of a path says more than the absence of the peer after it.
            if !(matches!(refusal, Refusal::NotFound) && neighbor.reason.is_some()) {
                neighbor.reason = Some(refusal.to_string());
            }
        }
        drop(state);
        self.attempts.notify_one();
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
        let (peer, _) = state.paths.iter().find(|(_, known)| known.shm.id() == path)?;
        state.peers.get(peer)?.locators.first()?.to_socket_addr()
    }
}

/// Whether another attempt may succeed.
fn may_pass(refusal: &Refusal) -> bool {
    !matches!(
        refusal,
        Refusal::UserRefused { .. }
            | Refusal::RefusedByPolicyOfPeer
            | Refusal::Version { .. }
            | Refusal::PeerPoolTooLong { .. }
            | Refusal::PoolTooLong
            | Refusal::Broken(_)
    )
}

#[allow(clippy::disallowed_methods, reason = "no simulation has shared memory")]
fn now() -> Instant {
    Instant::now()
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
