//! Hosts, paths, and the thread that receives.
//!
//! In: identities of peers, messages. Out: events. Owned: the listening socket, the pool, and one connection per peer.
//!
//! A [`ShmHost`] listens on an abstract socket whose name contains its identity. Abstract names belong to the network
//! namespace, and leave nothing in a file system. [`ShmHost::connect`] begins a handshake, which [`ShmReception`]
//! completes on its thread. A path is open after a test message came back over both rings.

mod connection;
mod departed;
mod kept;
mod lent;
mod path;
mod reception;
mod side;
#[cfg(test)]
#[cfg(all(not(dds_loom), not(miri)))]
mod tests;

pub use kept::KeptMessage;
pub use lent::LentContent;
pub use path::{PathId, ShmPath, ShmPeer, StagedMessage};
pub use reception::{ShmEvent, ShmMessage, ShmReception};

use crate::config::ShmConfig;
use crate::descriptors::DescriptorShare;
use crate::handshake::{HandshakeMessage, Hello};
use crate::memory::prepare_process_id;
use crate::pool::BlockPool;
use crate::reasons::{Exhausted, Refusal, SendFailure};
use crate::ring::RING_LENS;
use crate::users;
use connection::{Connection, Stage};
use departed::DepartedPeers;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use path::PathState;
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::Pid;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use side::OwnSide;
use std::collections::HashMap;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Name of a host, unique among all hosts. It should be random, so that no other process can guess it.
pub type Identity = [u8; 16];

/// For keys that this process chooses.
type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Number of connections that may wait until this host accepts them.
const BACKLOG: i32 = 64;

/// Longest time for a handshake, so that the clock can express its end.
const HANDSHAKE_MAX: Duration = Duration::from_secs(60 * 60);

/// Descriptors of a host: its socket, the pool, the timer, and the set of all of them.
const HOST_DESCRIPTORS: usize = 4;

/// Descriptors of a connection: its socket. During the handshake there are three more.
const CONNECTION_DESCRIPTORS: usize = 1;

/// Period of the checks of unfinished handshakes, in nanoseconds.
const TICK_NANOS: i64 = 50_000_000;

/// One participant in shared memory. Clones share it.
#[derive(Debug, Clone)]
pub struct ShmHost {
    shared: Arc<HostState>,
}

/// State of a host that its paths and its receive thread share.
#[derive(Debug)]
struct HostState {
    identity: Identity,
    config: ShmConfig,
    ring_len: u32,
    pool: Arc<BlockPool>,
    departed: Arc<DepartedPeers>,
    epoll: OwnedFd,
    timer: OwnedFd,
    /// The user ID that stands for all unknown users.
    overflow_user: Option<u32>,
    next_token: AtomicU64,
    /// The receive thread is to return without an event.
    is_interrupted: AtomicBool,
    peers: Mutex<Peers>,
    _share: DescriptorShare,
}

/// Connections by peer.
#[derive(Debug, Default)]
struct Peers {
    /// Peers with a path or a handshake. Bounded by `ShmConfig::paths_max`.
    ///
    /// Peers choose the keys, so the hash is one with secret keys.
    claims: HashMap<Identity, Claim>,
    /// Connections that the receive thread has not taken over yet.
    new: Vec<Connection>,
    /// The receive thread has ended.
    is_closed: bool,
}

/// The one connection of an identity.
#[derive(Debug)]
struct Claim {
    token: u64,
    /// Whether this side connected and has no answer yet.
    is_connecting: bool,
    /// Empty until the rings are mapped.
    path: Weak<PathState>,
}

impl ShmHost {
    /// Creates a host and the part of it that receives.
    ///
    /// Peers connect as soon as a thread calls [`ShmReception::next_event`].
    ///
    /// # Errors
    /// Fails if the system has no sealed memory, refuses memory or descriptors, or if another host has the identity.
    pub fn new(identity: Identity, config: ShmConfig) -> Result<(Self, ShmReception), Refusal> {
        prepare_process_id();
        let share = DescriptorShare::take(HOST_DESCRIPTORS)?;
        let longest = config.ring_len.clamp(*RING_LENS.start() as usize, *RING_LENS.end() as usize);
        let pool = Arc::new(BlockPool::new(config.pool_len)?);
        let listener = new_socket()?;
        rustix::net::bind(&listener, &address_of(&identity)?).map_err(|error| match error {
            Errno::ADDRINUSE => Refusal::AlreadyConnected,
            error => Refusal::Denied(error.into()),
        })?;
        rustix::net::listen(&listener, BACKLOG).map_err(Refusal::denied)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(Refusal::descriptors)?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags).map_err(Refusal::descriptors)?;
        let shared = Arc::new(HostState {
            identity,
            // A power of two, so that a mask turns a position into a place.
            ring_len: longest.next_power_of_two() as u32,
            config,
            pool,
            departed: Arc::default(),
            epoll,
            timer,
            overflow_user: users::overflow_user(),
            next_token: AtomicU64::new(reception::FIRST_TOKEN),
            is_interrupted: AtomicBool::new(false),
            peers: Mutex::default(),
            _share: share,
        });
        shared.watch(listener.as_fd(), reception::LISTENER, epoll::EventFlags::IN)?;
        shared.watch(shared.timer.as_fd(), reception::TIMER, epoll::EventFlags::IN)?;
        Ok((Self { shared: Arc::clone(&shared) }, ShmReception::new(shared, listener)))
    }

    /// Begins to open a path to a peer. [`ShmEvent::Up`] or [`ShmEvent::Refused`] follows.
    ///
    /// If both hosts connect at once, the connection of the lower identity remains.
    ///
    /// # Errors
    /// Fails at once if no process listens, a policy forbids the peer, a limit is reached, or a path exists.
    pub fn connect(&self, peer: Identity) -> Result<(), Refusal> {
        let shared = &self.shared;
        // Locked to the end, so that two threads do not connect to the same peer.
        let mut peers = shared.lock_peers();
        if peers.is_closed || peer == shared.identity || peers.claims.contains_key(&peer) {
            return Err(Refusal::AlreadyConnected);
        }
        if peers.claims.len() >= shared.config.paths_max {
            return Err(Refusal::Crowded);
        }
        let share = DescriptorShare::take(CONNECTION_DESCRIPTORS)?;
        let socket = new_socket()?;
        rustix::net::connect(&socket, &address_of(&peer)?).map_err(refused_connection)?;
        let user = shared.user_of(&socket)?;
        let side = OwnSide::new(shared.ring_len)?;
        side.send_hello(&socket, &shared.hello_to(peer), shared.pool.descriptor())?;
        let token = shared.new_token();
        let connection = Connection {
            token,
            socket: Arc::new(socket),
            user,
            identity: Some(peer),
            deadline: shared.handshake_deadline(),
            // The mapping stays. Its descriptor is closed here.
            stage: Stage::Handshake(Some(side.outbox)),
            _share: share,
        };
        shared.watch(connection.socket.as_fd(), token, epoll::EventFlags::IN | epoll::EventFlags::RDHUP)?;
        peers.claims.insert(peer, Claim { token, is_connecting: true, path: Weak::new() });
        // The receive thread takes the connection over, and its timer ends a handshake without an answer.
        peers.new.push(connection);
        shared.tick(true);
        Ok(())
    }

    /// Makes the present or the next [`ShmReception::next_event`] return `None`, so that its thread can end.
    pub fn interrupt(&self) {
        self.shared.is_interrupted.store(true, Ordering::Release);
        self.shared.set_timer(1, TICK_NANOS);
    }

    /// The own identity.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.shared.identity
    }

    /// Copies a message into the pool once, for several paths.
    ///
    /// # Errors
    /// Fails if the message is longer than the pool, or if peers hold the pool.
    pub fn stage(&self, parts: &[IoSlice<'_>]) -> Result<StagedMessage, SendFailure> {
        self.shared.stage(parts)
    }
}

impl HostState {
    fn stage(&self, parts: &[IoSlice<'_>]) -> Result<StagedMessage, SendFailure> {
        let len = len_of(parts);
        let max = self.pool.len();
        if len > max {
            return Err(SendFailure::TooLong { max });
        }
        let stored = self.with_returned(|| self.pool.store(len, parts));
        let block = stored.ok_or(SendFailure::Full(Exhausted::Pool))?;
        Ok(StagedMessage::new(Arc::clone(&self.pool), block, len as u32))
    }

    /// Calls `allocate`, and again after a look for returned blocks if it finds no room.
    fn with_returned(&self, allocate: impl Fn() -> Option<u32>) -> Option<u32> {
        allocate().or_else(|| {
            // Peers may have returned blocks since their paths last sent.
            for path in self.open_paths() {
                path.take_returned();
            }
            self.departed.sweep();
            allocate()
        })
    }

    /// Collected first, because a path and this list may not be locked at once.
    fn open_paths(&self) -> Vec<Arc<PathState>> {
        let mut paths = Vec::new();
        for claim in self.lock_peers().claims.values() {
            // A claim of a handshake has no path yet.
            if let Some(path) = claim.path.upgrade() {
                paths.push(path);
            }
        }
        paths
    }

    fn lock_peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hello_to(&self, receiver: Identity) -> HandshakeMessage {
        let pool_len = self.pool.len() as u32;
        HandshakeMessage::Hello(Hello { ring_len: self.ring_len, pool_len, sender: self.identity, receiver })
    }

    fn handshake_deadline(&self) -> Instant {
        Instant::now() + self.config.handshake_max.min(HANDSHAKE_MAX)
    }

    fn new_token(&self) -> u64 {
        self.next_token.fetch_add(1, Ordering::Relaxed)
    }

    fn watch(&self, descriptor: BorrowedFd<'_>, token: u64, flags: epoll::EventFlags) -> Result<(), Refusal> {
        epoll::add(&self.epoll, descriptor, epoll::EventData::new_u64(token), flags).map_err(Refusal::descriptors)
    }

    fn unwatch(&self, descriptor: BorrowedFd<'_>) {
        // Fails only if the descriptor was never watched.
        let _ = epoll::delete(&self.epoll, descriptor);
    }

    /// Starts or stops the timer of unfinished handshakes.
    fn tick(&self, is_on: bool) {
        if is_on {
            // At once: `rouse` uses the same timer, and its effect must not wait for a period.
            self.set_timer(1, TICK_NANOS);
        } else {
            self.set_timer(0, 0);
        }
    }

    fn set_timer(&self, first: i64, period: i64) {
        let nanos = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
        let times = Itimerspec { it_interval: nanos(period), it_value: nanos(first) };
        let set = rustix::time::timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &times);
        debug_assert!(set.is_ok(), "the period is legal");
    }

    /// Returns the user of a peer that the policy accepts.
    fn user_of(&self, socket: &OwnedFd) -> Result<PeerUser, Refusal> {
        // Not by rustix: there the process ID cannot be zero, which a peer of another PID namespace has.
        let credentials = getsockopt(socket, PeerCredentials).map_err(|error| Refusal::Denied(error.into()))?;
        let (own, id) = (own_user(), credentials.uid());
        users::check_user(&self.config.policy, own, id, self.overflow_user)?;
        let process = Pid::from_raw(credentials.pid());
        Ok(PeerUser { id, process, is_trusted: users::is_trusted(own, id, process, self.overflow_user) })
    }
}

/// User of a peer's process.
#[derive(Debug, Clone, Copy)]
struct PeerUser {
    id: u32,
    /// Its process. `None` if it lives in a PID namespace that this process does not see.
    process: Option<Pid>,
    /// Whether its messages may be read in place.
    is_trusted: bool,
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn len_of(parts: &[IoSlice<'_>]) -> usize {
    let mut len = 0_usize;
    for part in parts {
        len = len.saturating_add(part.len());
    }
    len
}

fn new_socket() -> Result<OwnedFd, Refusal> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    // The kind keeps the messages of the handshake apart.
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).map_err(Refusal::descriptors)
}

fn address_of(identity: &Identity) -> Result<SocketAddrUnix, Refusal> {
    let mut name = *b"dds-shm-00000000000000000000000000000000";
    for (digits, byte) in name[8..].chunks_exact_mut(2).zip(identity) {
        for (digit, nibble) in digits.iter_mut().zip([byte >> 4, byte & 15]) {
            *digit = char::from_digit(u32::from(nibble), 16).map_or(b'0', |digit| digit as u8);
        }
    }
    SocketAddrUnix::new_abstract_name(&name).map_err(Refusal::denied)
}

fn refused_connection(error: Errno) -> Refusal {
    match error {
        Errno::CONNREFUSED | Errno::NOENT => Refusal::NotFound,
        // The peer does not accept connections fast enough.
        Errno::AGAIN => Refusal::PeerCrowded,
        error => Refusal::Denied(error.into()),
    }
}
