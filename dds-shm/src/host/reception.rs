//! The receive thread: handshakes, messages, wakes, and the end of peers.

use super::connection::{Connection, Incoming, RingLook, Stage};
use super::kept::KeptMessage;
use super::path::{PathId, ShmPath, ShmPeer};
use super::side::{OwnSide, receive_handshake, send_refusal};
use super::{CONNECTION_DESCRIPTORS, Claim, FastMap, HostState, Identity, TICK_NANOS};
use crate::descriptors::DescriptorShare;
use crate::handshake::{HandshakeMessage, Hello};
use crate::reasons::{PathEnd, Refusal, Violation};
use crate::ring::Record;
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::SocketFlags;
use rustix::time::Timespec;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

pub(super) const LISTENER: u64 = 0;
pub(super) const TIMER: u64 = 1;
/// This number and all higher ones are sockets of connections.
pub(super) const FIRST_TOKEN: u64 = 2;

/// Messages of one path before other paths have their turn.
const TURN: u32 = 16;

/// Connections that are accepted before messages have their turn.
const ACCEPTS_MAX: usize = 16;

/// Messages in a row before descriptors are checked. Otherwise a flood would delay new peers and the end of others.
const UNCHECKED_MAX: u32 = 128;

/// Time between two checks of descriptors while the rings are polled. New peers, sleeping ones, and the end of others
/// show only there.
const UNCHECKED_TIME_MAX: Duration = Duration::from_millis(1);

/// Longest spin.
const SPIN_MAX: Duration = Duration::from_millis(100);

/// Longest call of `epoll_wait`. A longer wait takes several calls.
const WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Events of one call of `epoll_wait`: more than a host has descriptors by default, so that no event stays behind.
const EVENTS_MAX: usize = 160;

/// Receives the messages of all paths of a host. One thread uses it.
///
/// Its descriptor becomes readable when [`next_event`](Self::next_event) has work, if the last call returned `None`. So
/// a program with an event loop of its own can wait for the descriptor. It may be readable without work.
#[derive(Debug)]
pub struct ShmReception {
    host: Arc<HostState>,
    listener: OwnedFd,
    connections: FastMap<u64, Connection>,
    /// Connections whose rings are polled.
    awake: Vec<u64>,
    /// Position in `awake`, and messages of that path in its turn.
    turn: (usize, u32),
    steps: VecDeque<Step>,
    /// Messages since descriptors were last checked.
    unchecked: u32,
    /// When descriptors were last checked. `None` before the first check, and if the rings are not polled.
    checked_at: Option<Instant>,
    /// The system had no descriptor for a connection that waits to be accepted.
    is_short_of_descriptors: bool,
    /// The paths belong to the parent of this process.
    is_abandoned: bool,
}

/// News of a host.
#[derive(Debug)]
#[non_exhaustive]
pub enum ShmEvent<'a> {
    /// A message arrived.
    Message(ShmMessage<'a>),
    /// A path is open: its test message came back.
    Up(ShmPath),
    /// A path that was full probably has room again.
    Room(PathId),
    /// An open path ended. All messages of the peer have been delivered.
    Down {
        /// The path.
        path: PathId,
        /// The peer at its other end.
        peer: ShmPeer,
        /// Why it ended.
        reason: PathEnd,
    },
    /// A path did not open.
    Refused {
        /// The peer. `None` if it did not say.
        peer: Option<Identity>,
        /// Why it did not open.
        reason: Refusal,
    },
}

/// A message in shared memory. Dropping it makes its memory free for the sender.
#[derive(Debug)]
pub struct ShmMessage<'a> {
    incoming: &'a mut Incoming,
    record: Record,
    /// The drop leaves the ring as it is: the next event is this message again, or the message is kept.
    is_left: bool,
}

/// An event that does not borrow from the reception.
#[derive(Debug)]
enum Step {
    Message(u64, Record),
    Up(ShmPath),
    Room(PathId),
    Down(PathId, ShmPeer, PathEnd),
    Refused(Option<Identity>, Refusal),
}

impl ShmMessage<'_> {
    /// The path on which the message arrived.
    #[must_use]
    pub fn path(&self) -> PathId {
        self.incoming.path.id
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.record.len as usize
    }

    /// Whether the message has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.record.len == 0
    }

    /// Leaves the message unread: the path's next event is this message again.
    ///
    /// For a program that must do something else before it reads the message.
    pub fn leave(mut self) {
        self.is_left = true;
    }

    /// Keeps the message in the memory of the peer, without a copy. `place` holds it then, and should be empty.
    ///
    /// # Errors
    /// Returns the message if it must be copied: it lies in the ring, the peer is not trusted, or this process keeps
    /// [`kept_bytes_max`](super::ShmConfig::kept_bytes_max) already. A peer is trusted if it runs as the same user
    /// in the same PID namespace.
    pub fn keep(mut self, place: &mut KeptMessage) -> Result<(), Self> {
        if !self.incoming.keep(self.record, place) {
            return Err(self);
        }
        // The record has left the ring.
        self.is_left = true;
        Ok(())
    }

    /// Copies the start of the message into `buffer`, and returns the number of copied bytes.
    ///
    /// The peer may change the message during the copy. So check the copy, and copy only once.
    pub fn copy_to(&self, buffer: &mut [u8]) -> usize {
        self.copy_part(0, buffer)
    }

    /// Copies the message from the byte `from` on into `buffer`, and returns the number of copied bytes.
    ///
    /// For a message whose parts belong to several places. Copy each byte only once, as with
    /// [`copy_to`](Self::copy_to).
    pub fn copy_part(&self, from: usize, buffer: &mut [u8]) -> usize {
        let len = buffer.len().min(self.len().saturating_sub(from));
        if let (1.., Some(into)) = (len, buffer.get_mut(..len)) {
            self.incoming.copy(self.record, from, into);
        }
        len
    }
}

impl Drop for ShmMessage<'_> {
    fn drop(&mut self) {
        if !self.is_left {
            self.incoming.ring.consume(self.record);
        }
    }
}

impl AsFd for ShmReception {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.host.epoll.as_fd()
    }
}

impl ShmReception {
    pub(super) fn new(host: Arc<HostState>, listener: OwnedFd) -> Self {
        Self {
            host,
            listener,
            connections: FastMap::default(),
            awake: Vec::new(),
            turn: (0, 0),
            steps: VecDeque::new(),
            unchecked: 0,
            checked_at: None,
            is_short_of_descriptors: false,
            is_abandoned: false,
        }
    }

    /// Returns the next event, and waits for it until the timeout. `None` as timeout waits without end.
    ///
    /// Returns `None` after the timeout or [`ShmHost::interrupt`](super::ShmHost::interrupt).
    pub fn next_event(&mut self, timeout: Option<Duration>) -> Option<ShmEvent<'_>> {
        let step = self.next_step(timeout)?;
        self.event_of(step)
    }

    /// Returns the next event that needs no system call.
    ///
    /// If it returns `None`, the descriptor becomes readable with the next event. So a program with an event loop calls
    /// it until then, and [`next_event`](Self::next_event) only if the descriptor is readable.
    pub fn next_ready(&mut self) -> Option<ShmEvent<'_>> {
        self.next_polled(|| true)
    }

    /// As [`next_ready`](Self::next_ready), but polls for [`spin`](super::ShmConfig::spin) before it returns `None`.
    ///
    /// The poll ends early when `is_over` returns true.
    pub fn next_polled(&mut self, is_over: impl Fn() -> bool) -> Option<ShmEvent<'_>> {
        let step = loop {
            self.check_overdue_descriptors();
            if let Some(step) = self.poll() {
                break step;
            }
            if let Some(step) = self.spin(None, &is_over) {
                break step;
            }
            if self.fall_asleep() {
                return None;
            }
        };
        self.unchecked += 1;
        self.event_of(step)
    }

    /// Makes the descriptor readable at once, also if the last call returned an event.
    ///
    /// For a program that leaves events behind, and waits for the descriptor.
    pub fn rouse(&self) {
        self.host.set_timer(1, TICK_NANOS);
    }

    /// Makes the drop leave all paths open. For a forked child, which must not end the paths of its parent.
    pub fn abandon(&mut self) {
        self.is_abandoned = true;
    }

    fn event_of(&mut self, step: Step) -> Option<ShmEvent<'_>> {
        Some(match step {
            Step::Message(token, record) => {
                let Some(Connection { stage: Stage::Rings(incoming), .. }) = self.connections.get_mut(&token) else {
                    debug_assert!(false, "a message comes from mapped rings");
                    return None;
                };
                ShmEvent::Message(ShmMessage { incoming, record, is_left: false })
            }
            Step::Up(path) => ShmEvent::Up(path),
            Step::Room(path) => ShmEvent::Room(path),
            Step::Down(path, peer, reason) => ShmEvent::Down { path, peer, reason },
            Step::Refused(peer, reason) => ShmEvent::Refused { peer, reason },
        })
    }

    fn next_step(&mut self, timeout: Option<Duration>) -> Option<Step> {
        // A timeout that the clock cannot express has no end.
        let until = match timeout {
            Some(timeout) => Instant::now().checked_add(timeout),
            None => None,
        };
        // The descriptors were checked after the timeout. A peer that rings in a loop must not prolong it.
        let mut is_late = false;
        loop {
            // Rings that are never empty must not hide new peers, and the end of others.
            self.check_overdue_descriptors();
            if self.unchecked >= UNCHECKED_MAX {
                self.unchecked = 0;
                self.wait(Some(Duration::ZERO));
                if self.take_interrupt() {
                    return None;
                }
            }
            if let Some(step) = self.poll() {
                self.unchecked += 1;
                return Some(step);
            }
            if let Some(step) = self.spin(until, &|| false) {
                return Some(step);
            }
            if !self.fall_asleep() {
                continue;
            }
            if is_late {
                return None;
            }
            let mut rest = None;
            if let Some(until) = until {
                let left = until.saturating_duration_since(Instant::now());
                (rest, is_late) = (Some(left), left.is_zero());
            }
            self.wait(rest);
            if self.take_interrupt() {
                return None;
            }
        }
    }

    fn take_interrupt(&self) -> bool {
        // Usually only a load.
        self.host.is_interrupted.load(Ordering::Relaxed) && self.host.is_interrupted.swap(false, Ordering::Acquire)
    }

    /// Returns the next event that needs no system call.
    fn poll(&mut self) -> Option<Step> {
        if let Some(step) = self.steps.pop_front() {
            return Some(step);
        }
        // One look at each path. Paths that are removed only make it shorter.
        for _ in 0..=self.awake.len() {
            let (at, count) = self.turn;
            let Some(token) = self.awake.get(at).copied() else {
                self.turn = (0, 0);
                if self.awake.is_empty() {
                    return None;
                }
                continue;
            };
            self.turn = if count < TURN { (at, count + 1) } else { (at + 1, 0) };
            match self.look(token) {
                Ok(RingLook::Message(record)) => return Some(Step::Message(token, record)),
                Ok(RingLook::Open) => {
                    if let Some(step) = self.open(token) {
                        return Some(step);
                    }
                }
                Ok(RingLook::Empty) => self.turn = (at + 1, 0),
                Err(violation) => self.end(token, Ending::Violation(violation)),
            }
            if let Some(step) = self.steps.pop_front() {
                return Some(step);
            }
        }
        None
    }

    fn look(&mut self, token: u64) -> Result<RingLook, Violation> {
        let Some(Connection { stage: Stage::Rings(incoming), .. }) = self.connections.get_mut(&token) else {
            debug_assert!(false, "only mapped rings are awake");
            return Ok(RingLook::Empty);
        };
        let look = incoming.look()?;
        if look == RingLook::Empty {
            // The peer may wait for the room of the records that were just read.
            if incoming.ring.must_wake() && !incoming.path.wake_peer() {
                incoming.ring.repeat_wake();
            }
            // The last records of a peer that left come before its end.
            if incoming.is_closing {
                self.end(token, Ending::HangUp);
            }
        }
        Ok(look)
    }

    /// Polls for the configured time, so that the wake of the thread is saved.
    fn spin(&mut self, until: Option<Instant>, is_over: &impl Fn() -> bool) -> Option<Step> {
        if self.host.config.spin.is_zero() {
            return None;
        }
        let end_of_spin = Instant::now() + self.host.config.spin.min(SPIN_MAX);
        let until = match until {
            Some(until) => until.min(end_of_spin),
            None => end_of_spin,
        };
        while !self.awake.is_empty() && !is_over() && Instant::now() < until {
            std::hint::spin_loop();
            self.check_overdue_descriptors();
            if self.host.is_interrupted.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(step) = self.poll() {
                return Some(step);
            }
        }
        None
    }

    /// Checks the descriptors if the rings are polled and the last check is a millisecond old.
    fn check_overdue_descriptors(&mut self) {
        if self.host.config.spin.is_zero() {
            return;
        }
        let now = Instant::now();
        match self.checked_at {
            Some(checked_at) if now.saturating_duration_since(checked_at) < UNCHECKED_TIME_MAX => {}
            _ => {
                self.checked_at = Some(now);
                self.wait(Some(Duration::ZERO));
            }
        }
    }

    /// Returns whether all paths sleep now. Otherwise some have records, or were ended for a violation.
    fn fall_asleep(&mut self) -> bool {
        if self.awake.is_empty() {
            return true;
        }
        for token in &self.awake {
            if let Some(Connection { stage: Stage::Rings(incoming), .. }) = self.connections.get_mut(token) {
                incoming.fall_asleep();
            }
        }
        // Between the stores above and the loads below, see `ring`.
        fence(Ordering::SeqCst);
        let connections = &mut self.connections;
        let mut broken = Vec::new();
        self.awake.retain(|token| {
            let Some(Connection { stage: Stage::Rings(incoming), .. }) = connections.get_mut(token) else {
                return false;
            };
            incoming.is_awake = incoming.ring.has_records().unwrap_or_else(|violation| {
                broken.push((*token, violation));
                false
            });
            if incoming.is_awake {
                incoming.ring.wake_up();
            }
            incoming.is_awake
        });
        for (token, violation) in broken {
            self.end(token, Ending::Violation(violation));
        }
        self.awake.is_empty() && self.steps.is_empty()
    }

    fn wake_up(&mut self, token: u64) {
        if let Some(Connection { stage: Stage::Rings(incoming), .. }) = self.connections.get_mut(&token) {
            if !incoming.is_awake {
                incoming.is_awake = true;
                incoming.ring.wake_up();
                self.awake.push(token);
            }
            if incoming.note_wakes() && !incoming.is_closing {
                self.steps.push_back(Step::Room(incoming.path.id));
            }
        }
    }

    /// Waits for descriptors until the timeout, and handles them. May return earlier.
    fn wait(&mut self, timeout: Option<Duration>) {
        // Linux before 5.11 cannot wait longer than an `i32` of milliseconds.
        let timeout = timeout.map(|timeout| timeout.min(WAIT_MAX));
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(timeout.subsec_nanos()),
        });
        let mut events = [MaybeUninit::uninit(); EVENTS_MAX];
        let Ok((events, _)) = epoll::wait(&self.host.epoll, &mut events, timeout.as_ref()) else {
            // A signal interrupted the wait. The caller waits for the rest of the time.
            return;
        };
        for event in events {
            match event.data.u64() {
                LISTENER => self.accept(),
                TIMER => self.check_deadlines(),
                token => self.handle_socket(token, event.flags),
            }
        }
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS_MAX {
            match rustix::net::accept_with(&self.listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(socket) => self.begin(socket),
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    // The listener would stay readable. The timer tries again.
                    self.host.unwatch(self.listener.as_fd());
                    self.is_short_of_descriptors = true;
                    self.host.tick(true);
                    return;
                }
                // No connection is left, or the peer has left already.
                Err(_) => return,
            }
        }
    }

    /// Waits for the handshake of an accepted peer.
    fn begin(&mut self, socket: OwnedFd) {
        // First, so that the limit counts the connections that this side began.
        self.take_new();
        let has_room = self.connections.len() < self.host.config.paths_max;
        let checked = match self.host.user_of(&socket) {
            Ok(_) if !has_room => Err(Refusal::Crowded),
            Ok(user) => DescriptorShare::take(CONNECTION_DESCRIPTORS).map(|share| (user, share)),
            Err(refusal) => Err(refusal),
        };
        let (user, share) = match checked {
            Ok(checked) => checked,
            Err(refusal) => {
                send_refusal(&socket, &refusal);
                self.steps.push_back(Step::Refused(None, refusal));
                return;
            }
        };
        let token = self.host.new_token();
        let flags = epoll::EventFlags::IN | epoll::EventFlags::RDHUP;
        if let Err(refusal) = self.host.watch(socket.as_fd(), token, flags) {
            self.steps.push_back(Step::Refused(None, refusal));
            return;
        }
        let deadline = self.host.handshake_deadline();
        let stage = Stage::Handshake(None);
        let socket = Arc::new(socket);
        let connection = Connection { token, socket, user, identity: None, deadline, stage, _share: share };
        self.connections.insert(token, connection);
        self.host.tick(true);
    }

    /// Takes over the connections that `connect` has begun.
    fn take_new(&mut self) {
        let new = std::mem::take(&mut self.host.lock_peers().new);
        for connection in new {
            self.connections.insert(connection.token, connection);
        }
    }

    fn handle_socket(&mut self, token: u64, flags: epoll::EventFlags) {
        // `connect` may have begun the connection on another thread.
        if !self.connections.contains_key(&token) {
            self.take_new();
        }
        let ends = epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR;
        let Some(connection) = self.connections.get_mut(&token) else { return };
        match &mut connection.stage {
            Stage::Handshake(_) => {
                if let Err(refusal) = self.handle_handshake(token) {
                    self.end(token, Ending::Refusal(refusal));
                }
            }
            Stage::Rings(_) if flags.intersects(ends) => self.close_ring(token),
            Stage::Rings(_) => self.wake_up(token),
        }
    }

    /// The peer has hung up. The rest of its ring is still read.
    fn close_ring(&mut self, token: u64) {
        let Some(Connection { socket, stage: Stage::Rings(incoming), .. }) = self.connections.get_mut(&token) else {
            return;
        };
        self.host.unwatch(socket.as_fd());
        incoming.is_closing = true;
        // The peer may have written records just before it left.
        match incoming.ring.close() {
            Ok(()) => self.wake_up(token),
            Err(violation) => self.end(token, Ending::Violation(violation)),
        }
    }

    /// Handles the handshake of a peer.
    fn handle_handshake(&mut self, token: u64) -> Result<(), Refusal> {
        let Some(connection) = self.connections.get(&token) else { return Ok(()) };
        let Some((message, descriptors)) = receive_handshake(&connection.socket)? else { return Ok(()) };
        let hello = match message {
            HandshakeMessage::Hello(hello) => hello,
            HandshakeMessage::Refusal(code) => return Err(code.reason()),
        };
        let is_answer = matches!(connection.stage, Stage::Handshake(Some(_)));
        let is_expected = match connection.identity {
            Some(identity) => identity == hello.sender,
            // Only the hello of a peer that connects tells its identity.
            None => true,
        };
        if hello.receiver != self.host.identity || hello.sender == self.host.identity || !is_expected {
            return Err(Refusal::WrongIdentity);
        }
        if hello.pool_len as usize > self.host.config.peer_pool_len_max {
            return Err(Refusal::PeerPoolTooLong { len: hello.pool_len as usize });
        }
        let Some(descriptors) = descriptors else {
            // The system drops descriptors at the limit of open files.
            let error = Errno::MFILE;
            return Err(Refusal::Descriptors(error.into()));
        };
        // `connect` has claimed the identity of an answer.
        if !is_answer {
            self.claim(token, &hello)?;
        }
        let host = Arc::clone(&self.host);
        let Some(connection) = self.connections.get_mut(&token) else { return Ok(()) };
        connection.identity = Some(hello.sender);
        let Stage::Handshake(side) = &mut connection.stage else { return Ok(()) };
        // The side that connected has sent its memory already.
        let own = match side.take() {
            Some(own) => own,
            None => {
                let side = OwnSide::new(host.ring_len)?;
                side.send_hello(&connection.socket, &host.hello_to(hello.sender), host.pool.descriptor())?;
                side.outbox
            }
        };
        let of_connection = (token, &connection.socket, connection.user);
        let incoming = Incoming::open(&host, of_connection, &hello, own, descriptors)?;
        let path = Arc::downgrade(&incoming.path);
        connection.stage = Stage::Rings(incoming);
        host.lock_peers().claims.insert(hello.sender, Claim { token, is_connecting: false, path });
        Ok(())
    }

    /// Reserves the identity of a peer that has connected to this host.
    fn claim(&mut self, token: u64, hello: &Hello) -> Result<(), Refusal> {
        let mut peers = self.host.lock_peers();
        let earlier = match peers.claims.get(&hello.sender) {
            Some(claim) if !claim.is_connecting => return Err(Refusal::AlreadyConnected),
            // Both sides connect at once: the connection of the lower identity remains.
            Some(_) if self.host.identity < hello.sender => return Err(Refusal::AlreadyConnected),
            Some(claim) => Some(claim.token),
            None => None,
        };
        peers.claims.insert(hello.sender, Claim { token, is_connecting: false, path: Weak::new() });
        drop(peers);
        if let Some(earlier) = earlier {
            self.take_new();
            if let Some(connection) = self.connections.remove(&earlier) {
                self.host.unwatch(connection.socket.as_fd());
            }
        }
        Ok(())
    }

    /// The test message came back.
    fn open(&mut self, token: u64) -> Option<Step> {
        let Some(Connection { stage: Stage::Rings(incoming), .. }) = self.connections.get(&token) else { return None };
        let path = ShmPath { state: Arc::clone(&incoming.path), host: Arc::downgrade(&self.host) };
        Some(Step::Up(path))
    }

    fn check_deadlines(&mut self) {
        let mut count = [0; 8];
        // Only makes the timer unreadable. The count does not matter.
        let _ = rustix::io::read(&self.host.timer, &mut count);
        self.take_new();
        if std::mem::take(&mut self.is_short_of_descriptors) {
            let flags = epoll::EventFlags::IN;
            if self.host.watch(self.listener.as_fd(), LISTENER, flags).is_err() {
                self.is_short_of_descriptors = true;
            }
        }
        let now = Instant::now();
        let mut unfinished = 0;
        let mut late = Vec::new();
        for connection in self.connections.values() {
            if connection.is_open() {
                continue;
            }
            unfinished += 1;
            if connection.deadline <= now {
                late.push(connection.token);
            }
        }
        self.host.departed.sweep();
        let is_over = unfinished == late.len() && !self.is_short_of_descriptors && !self.host.departed.is_awaited();
        for token in late {
            self.end(token, Ending::Refusal(Refusal::TimedOut));
        }
        // `connect` may have begun another handshake just now.
        let peers = self.host.lock_peers();
        if is_over && peers.new.is_empty() {
            self.host.tick(false);
        }
    }

    #[cfg(test)]
    #[cfg(all(not(dds_loom), not(miri)))]
    pub(super) fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// Removes a connection, releases the blocks of its peer, and reports why.
    fn end(&mut self, token: u64, ending: Ending) {
        let Some(connection) = self.connections.remove(&token) else { return };
        self.awake.retain(|awake| *awake != token);
        self.host.unwatch(connection.socket.as_fd());
        if let Some(identity) = connection.identity {
            let mut peers = self.host.lock_peers();
            match peers.claims.get(&identity) {
                Some(claim) if claim.token == token => drop(peers.claims.remove(&identity)),
                // Another connection of the peer has taken its place.
                _ => {}
            }
        }
        let is_open = connection.is_open();
        let Stage::Rings(incoming) = connection.stage else {
            let refusal = ending.into_refusal();
            if !matches!(refusal, Refusal::PeerLeft) {
                send_refusal(&connection.socket, &refusal);
            }
            self.steps.push_back(Step::Refused(connection.identity, refusal));
            return;
        };
        // Before `end`, which closes the path in any case.
        let was_closed = !incoming.path.is_sending();
        let violation = match ending {
            Ending::Violation(violation) => Some(violation),
            Ending::HangUp | Ending::Refusal(_) => None,
        };
        let earlier = incoming.end(violation);
        if self.host.departed.is_awaited() {
            self.host.tick(true);
        }
        self.steps.push_back(match (is_open, violation.or(earlier)) {
            (true, Some(violation)) => Step::Down(incoming.path.id, incoming.path.peer, PathEnd::Broken(violation)),
            (true, None) if was_closed => Step::Down(incoming.path.id, incoming.path.peer, PathEnd::Closed),
            (true, None) => Step::Down(incoming.path.id, incoming.path.peer, PathEnd::PeerLeft),
            (false, Some(violation)) => Step::Refused(connection.identity, Refusal::Broken(violation)),
            (false, None) => Step::Refused(connection.identity, ending.into_refusal()),
        });
    }
}

/// What ends a connection.
#[derive(Debug)]
enum Ending {
    /// The peer hung up, or this process did.
    HangUp,
    Violation(Violation),
    Refusal(Refusal),
}

impl Ending {
    fn into_refusal(self) -> Refusal {
        match self {
            Self::HangUp => Refusal::PeerLeft,
            Self::Violation(violation) => Refusal::Broken(violation),
            Self::Refusal(refusal) => refusal,
        }
    }
}

impl Connection {
    fn is_open(&self) -> bool {
        matches!(&self.stage, Stage::Rings(incoming) if incoming.is_open())
    }
}

impl Drop for ShmReception {
    fn drop(&mut self) {
        if self.is_abandoned {
            return;
        }
        let mut peers = self.host.lock_peers();
        peers.is_closed = true;
        let new = std::mem::take(&mut peers.new);
        peers.claims.clear();
        drop(peers);
        drop(new);
        for connection in self.connections.values() {
            if let Stage::Rings(incoming) = &connection.stage {
                incoming.end(None);
            }
        }
    }
}
