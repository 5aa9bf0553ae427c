//! One connection as the receive thread sees it: a handshake, then two rings.

use super::kept::{KeptMessage, PeerPool};
use super::path::{PathId, PathState, ShmPeer};
use super::side::PeerDescriptors;
use super::{HostState, Identity, PeerUser};
use crate::descriptors::DescriptorShare;
use crate::handshake::Hello;
use crate::memory::{MappedMemory, Memory};
use crate::reasons::{Refusal, Violation};
use crate::ring::{Record, RecordKind, RingReader, RingWriter, outbox_len};
use rustix::event::epoll;
use rustix::net::RecvFlags;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

/// More bytes than the system counts for one wake in the send buffer of a socket.
const WAKE_LEN: usize = 4 << 10;

/// Most sleeps of this side before it reads the wakes.
pub(super) const SLEEPS_MAX: u32 = 32;

/// Wakes that are read at once: about as many as the socket of a peer has room for by default.
const READ_WAKES_MAX: u32 = 256;

/// The part of a peer's pool that this process may keep: 1 / `KEPT_SHARE`. The peer needs the rest to go on.
const KEPT_SHARE: usize = 8;

/// A connection to one peer.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) token: u64,
    pub(super) socket: Arc<OwnedFd>,
    pub(super) user: PeerUser,
    /// `None` until an accepted peer has sent its identity.
    pub(super) identity: Option<Identity>,
    /// Until then the path must be open.
    pub(super) deadline: Instant,
    pub(super) stage: Stage,
    pub(super) _share: DescriptorShare,
}

/// Progress of a connection.
#[derive(Debug)]
pub(super) enum Stage {
    /// Waits for the handshake of the peer. The side that connected has sent its own, with this outbox.
    Handshake(Option<Arc<MappedMemory>>),
    /// The rings are mapped.
    Rings(Incoming),
}

/// The receiving side of a path.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) path: Arc<PathState>,
    pub(super) ring: RingReader<MappedMemory>,
    pool: Arc<PeerPool>,
    pool_len: usize,
    probe: ProbeState,
    /// Whether the ring is polled. Otherwise the peer wakes this side.
    pub(super) is_awake: bool,
    /// Whether the peer has hung up. The rest of its ring is still read.
    pub(super) is_closing: bool,
    wakes: UnreadWakes,
}

/// How many wakes of an honest peer may lie unread in the socket.
///
/// The socket reports each new wake, also if earlier ones are unread. So reading each of them would only cost system
/// calls. But a full socket refuses wakes, so some must be read before.
#[derive(Debug)]
struct UnreadWakes {
    /// Sleeps since the socket was read. The peer wakes this side once from each.
    sleeps: u32,
    sleeps_max: u32,
}

impl UnreadWakes {
    /// `send_buffer` is that of the peer's socket, in bytes.
    fn new(send_buffer: usize) -> Self {
        // This side sleeps when the path begins.
        Self { sleeps: 1, sleeps_max: u32::try_from(send_buffer / WAKE_LEN).unwrap_or(u32::MAX).clamp(1, SLEEPS_MAX) }
    }
}

/// Progress of the two test messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProbeState {
    /// Argument that must come back.
    number: u32,
    /// The own test message came back, so the path is open.
    is_answered: bool,
    /// The test message of the peer was answered.
    has_answered: bool,
}

/// Result of a look at the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RingLook {
    /// A message, which is still in the ring.
    Message(Record),
    /// The test message came back: the path is open now.
    Open,
    /// The ring is empty.
    Empty,
}

impl Incoming {
    /// Maps the memory of the peer and sends the test message.
    pub(super) fn open(
        host: &HostState,
        (token, socket, user): (u64, &Arc<OwnedFd>, PeerUser),
        hello: &Hello,
        own: Arc<MappedMemory>,
        peer: PeerDescriptors,
    ) -> Result<Self, Refusal> {
        let outbox = Arc::new(MappedMemory::open(peer.outbox.as_fd(), outbox_len(hello.ring_len))?);
        let pool_len = hello.pool_len as usize;
        let open_pool = if user.is_trusted { MappedMemory::open_trusted } else { MappedMemory::open };
        let memory = open_pool(peer.pool.as_fd(), pool_len)?;
        let writer = RingWriter::new(Arc::clone(&own), Arc::clone(&outbox), host.ring_len);
        let ring = RingReader::new(own, outbox, hello.ring_len);
        let kept_max = host.config.kept_bytes_max.min(pool_len / KEPT_SHARE);
        if user.is_trusted && kept_max > 0 {
            ring.announce_keeping();
        }
        let pool = Arc::new(PeerPool::new(memory, ring.returns(), socket, kept_max));
        let id = PathId(token);
        let of_peer = ShmPeer { identity: hello.sender, user: user.id };
        let path = PathState::new(id, of_peer, Arc::clone(socket), writer, host, user.process);
        // An event for each new byte: bytes that are left unread cause no further event.
        let flags = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        epoll::modify(&host.epoll, socket.as_fd(), epoll::EventData::new_u64(token), flags)
            .map_err(Refusal::descriptors)?;
        let probe = ProbeState { number: random_number(token), is_answered: false, has_answered: false };
        let incoming = Self {
            path: Arc::new(path),
            ring,
            pool,
            pool_len,
            probe,
            is_awake: false,
            is_closing: false,
            // Both processes share the network namespace, so the limits of their sockets are the same.
            wakes: UnreadWakes::new(rustix::net::sockopt::socket_send_buffer_size(socket).unwrap_or(0)),
        };
        // The path opens when this test message comes back.
        match incoming.path.push(RecordKind::Probe, probe.number, 0, &[]) {
            Ok(()) => Ok(incoming),
            Err(_) => Err(Refusal::PeerLeft),
        }
    }

    /// Whether the test message came back.
    pub(super) fn is_open(&self) -> bool {
        self.probe.is_answered
    }

    /// Announces that this side sleeps.
    pub(super) fn fall_asleep(&mut self) {
        self.ring.fall_asleep();
        // The peer wakes each sleep once, so the sleeps bound the unread wakes.
        self.wakes.sleeps = self.wakes.sleeps.saturating_add(1);
    }

    /// The socket has reported wakes. Returns whether one of them may be for a sender that waits for room.
    pub(super) fn note_wakes(&mut self) -> bool {
        let has_wish = self.path.take_wish();
        // The peer also wakes once for each wish.
        if has_wish || self.wakes.sleeps >= self.wakes.sleeps_max {
            self.wakes.sleeps = 0;
            read_wakes(&self.path.socket);
        }
        has_wish
    }

    /// Looks at the next record, and handles test messages.
    pub(super) fn look(&mut self) -> Result<RingLook, Violation> {
        loop {
            let Some(record) = self.ring.peek()? else { return Ok(RingLook::Empty) };
            match record.kind {
                RecordKind::Inline | RecordKind::Block => {
                    self.check_message(record)?;
                    return Ok(RingLook::Message(record));
                }
                RecordKind::Probe => {
                    // A peer sends one test message. More of them would fill the ring with answers.
                    if self.probe.has_answered {
                        return Err(Violation::OutOfTurn);
                    }
                    self.probe.has_answered = true;
                    self.ring.consume(record);
                    // The ring has room for both test messages. Otherwise the peer's handshake runs out of time.
                    let _ = self.path.push(RecordKind::Answer, record.argument, 0, &[]);
                }
                RecordKind::Answer => {
                    if self.probe.is_answered || record.argument != self.probe.number {
                        return Err(Violation::OutOfTurn);
                    }
                    self.probe.is_answered = true;
                    self.ring.consume(record);
                    return Ok(RingLook::Open);
                }
            }
        }
    }

    fn check_message(&self, record: Record) -> Result<(), Violation> {
        if !self.probe.is_answered {
            return Err(Violation::OutOfTurn);
        }
        if record.kind == RecordKind::Block {
            let start = self.start_of(record);
            let end = match start {
                // Both numbers come from the peer, so their sum may overflow.
                Some(start) => start.checked_add(record.len as usize),
                None => None,
            };
            match end {
                Some(end) if end <= self.pool_len => {}
                _ => return Err(Violation::BlockOutside),
            }
        }
        Ok(())
    }

    /// Copies a part of a message, which lies within the message.
    pub(super) fn copy(&self, record: Record, from: usize, into: &mut [u8]) {
        match (record.kind, self.start_of(record)) {
            (RecordKind::Block, Some(start)) => self.pool.memory().read(start + from, into),
            _ => self.ring.copy(from, into),
        }
    }

    /// Keeps a message in its block, and removes its record. Returns false if the message must be copied.
    pub(super) fn keep(&mut self, record: Record, place: &mut KeptMessage) -> bool {
        let is_kept = record.kind == RecordKind::Block && place.hold(&self.pool, record);
        if is_kept {
            self.ring.keep(record);
        }
        is_kept
    }

    /// Ends the path, and reads no further record. Returns an earlier violation.
    pub(super) fn end(&self, violation: Option<Violation>) -> Option<Violation> {
        // First, so that the peer finds it when it learns of the end.
        self.ring.finish();
        self.path.end(violation)
    }

    fn start_of(&self, record: Record) -> Option<usize> {
        // With pointers of 32 bits, the number of a hostile peer could overflow.
        (record.argument as usize).checked_mul(crate::pool::GRAIN_LEN)
    }
}

/// Reads wakes, so that the socket of the peer has room for others.
fn read_wakes(socket: &OwnedFd) {
    // Unread wakes fill the send buffer of the peer, and a full one would lose the next wake.
    for _ in 0..READ_WAKES_MAX {
        let mut bytes = [0; 16];
        // The end of the peer is an event of its own.
        if !matches!(rustix::net::recv(socket, &mut bytes, RecvFlags::DONTWAIT), Ok((1.., _))) {
            return;
        }
    }
}

/// A number that differs in each connection, so that an old answer does not count.
fn random_number(token: u64) -> u32 {
    // A new `RandomState` has random keys, so the peer cannot guess the number.
    RandomState::new().hash_one(token) as u32
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;

    #[test]
    fn small_send_buffer_causes_more_reads() {
        let sleeps_max = |send_buffer| UnreadWakes::new(send_buffer).sleeps_max;
        assert_eq!([0, 4_608, 16 << 10, 212_992, usize::MAX].map(sleeps_max), [1, 1, 4, SLEEPS_MAX, SLEEPS_MAX]);
    }
}
