//! The order of datagrams when a peer changes from UDP to its path.
//!
//! In: the first message of each path, markers from the own sockets. Out: whether that message may be read now. Owned:
//! the new paths, and the markers under way.
//!
//! A peer sends by UDP until its path is open. Its last datagrams may still lie in a socket when its first message lies
//! in memory. A best-effort reader takes no sample that is older than its last one, so it would lose them. Therefore
//! the first message of a path waits until the sockets hold nothing older:
//!
//! - With a thread for each socket, this participant sends a marker to each of its own sockets. A socket keeps the
//!   order, so when the marker is read, everything older has been processed.
//! - If threads that wait receive, one thread at a time reads all sources. Then the sockets must be empty.
//!
//! Both have a bound, because remote peers may keep the sockets full.

use super::now;
use crate::sync::{Arc, AtomicU64, AtomicUsize, Lock, Ordering};
use dds_shm::PathId;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use smallvec::SmallVec;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::task::Waker;
use std::time::{Duration, Instant};

/// How long a message waits for markers. A full socket drops them.
const WAIT_MAX: Duration = Duration::from_millis(100);
/// How long a message waits for empty sockets. A slow listener needs this for a full socket, and a flood takes it all.
const CALLER_WAIT_MAX: Duration = Duration::from_secs(2);

const MAGIC: [u8; 8] = *b"DDS-MARK";

/// Bytes of a marker: `MAGIC`, the secret of the participant, and the number of the wait. No RTPS message begins like
/// that.
const MARKER_LEN: usize = 24;

/// Markers that the threads of the sockets look for.
#[derive(Debug)]
pub(super) struct Markers {
    /// Number of sockets whose marker of the present wait was not read yet.
    pending: AtomicUsize,
    /// Number of markers that were sent and not read, also those of earlier waits. A lost one counts forever.
    unread: AtomicUsize,
    /// Unpredictable, so that no other process ends a wait.
    secret: u64,
    /// The present wait.
    number: AtomicU64,
    waker: Lock<Option<Waker>>,
}

impl Default for Markers {
    fn default() -> Self {
        Self {
            pending: AtomicUsize::new(0),
            unread: AtomicUsize::new(0),
            secret: RandomState::new().hash_one(0),
            number: AtomicU64::new(0),
            waker: Lock::default(),
        }
    }
}

impl Markers {
    /// Whether a received datagram is a marker, which is hereby read. Without unread markers this costs one load.
    #[inline]
    pub(super) fn take(&self, datagram: &[u8]) -> bool {
        self.unread.load(Ordering::Acquire) > 0 && datagram.len() == MARKER_LEN && self.take_sent(datagram)
    }

    #[cold]
    fn take_sent(&self, datagram: &[u8]) -> bool {
        let marker = self.marker();
        let (common, number) = marker.split_at(MARKER_LEN - 8);
        if !datagram.starts_with(common) || !self.count_read() {
            return false;
        }
        // A busy machine may read a marker after its wait. It says nothing about the present one.
        if datagram.ends_with(number) {
            self.note_one();
        }
        true
    }

    /// Counts a marker as read, or as never sent. Returns whether one was unread.
    fn count_read(&self) -> bool {
        let fewer = |unread: usize| unread.checked_sub(1);
        self.unread.fetch_update(Ordering::AcqRel, Ordering::Acquire, fewer).is_ok()
    }

    fn marker(&self) -> [u8; MARKER_LEN] {
        let mut marker = [0; MARKER_LEN];
        marker[..8].copy_from_slice(&MAGIC);
        marker[8..16].copy_from_slice(&self.secret.to_ne_bytes());
        marker[16..].copy_from_slice(&self.number.load(Ordering::Relaxed).to_ne_bytes());
        marker
    }

    /// One socket less.
    fn note_one(&self) {
        let fewer = |pending: usize| pending.checked_sub(1);
        let was = self.pending.fetch_update(Ordering::AcqRel, Ordering::Acquire, fewer);
        if was == Ok(1) {
            if let Some(waker) = &*self.waker.lock() {
                waker.wake_by_ref();
            }
        }
    }

    /// Sends a marker to each socket.
    fn send(&self, sockets: &[Arc<UdpSocket>]) {
        self.number.fetch_add(1, Ordering::Relaxed);
        self.pending.store(sockets.len(), Ordering::Release);
        self.unread.fetch_add(sockets.len(), Ordering::AcqRel);
        for socket in sockets {
            // Without an address of its own the socket receives nothing.
            let sent = own_address(socket).and_then(|own| socket.send_to(&self.marker(), own).ok());
            if sent.is_none() {
                self.count_read();
                self.note_one();
            }
        }
    }

    fn are_read(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 0
    }

    /// Ends the wait. Its other markers are read without effect.
    fn forget(&self) {
        self.pending.store(0, Ordering::Release);
    }
}

/// An address of this host at which a socket receives.
fn own_address(socket: &UdpSocket) -> Option<SocketAddr> {
    let mut own = socket.local_addr().ok()?;
    if own.ip().is_unspecified() {
        own.set_ip(if own.is_ipv4() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { IpAddr::V6(Ipv6Addr::LOCALHOST) });
    }
    Some(own)
}

/// The paths of which no message was read yet.
#[derive(Debug)]
pub(super) struct Handover {
    sockets: Vec<Arc<UdpSocket>>,
    /// Threads that wait read the sockets, and call this type. Otherwise each socket has a thread.
    by_caller: bool,
    markers: Arc<Markers>,
    /// Bound: the open paths.
    new: SmallVec<[PathId; 4]>,
    waiting: Option<(PathId, Instant)>,
}

impl Handover {
    pub(super) fn new(sockets: &[Arc<UdpSocket>], by_caller: bool, markers: Arc<Markers>) -> Self {
        Self { sockets: sockets.to_vec(), by_caller, markers, new: SmallVec::new(), waiting: None }
    }

    /// The waker of the thread that reads messages, when it is not a caller.
    pub(super) fn set_waker(&self, waker: &Waker) {
        *self.markers.waker.lock() = Some(waker.clone());
    }

    pub(super) fn opened(&mut self, path: PathId) {
        self.new.push(path);
    }

    pub(super) fn ended(&mut self, path: PathId) {
        self.new.retain(|known| *known != path);
    }

    /// Whether a message of this path must wait. After the first one, this costs one comparison.
    #[inline]
    pub(super) fn must_wait(&mut self, path: PathId) -> bool {
        !self.new.is_empty() && self.is_first_to_wait(path)
    }

    #[cold]
    fn is_first_to_wait(&mut self, path: PathId) -> bool {
        if !self.new.contains(&path) {
            return false;
        }
        if self.by_caller {
            let until = match self.waiting {
                Some((awaited, until)) if awaited == path => until,
                _ => now() + CALLER_WAIT_MAX,
            };
            // Remote peers may fill the sockets without a pause.
            let waits = now() < until && !are_empty(&self.sockets);
            self.waiting = if waits { Some((path, until)) } else { None };
            if !waits {
                self.ended(path);
            }
            return waits;
        }
        if let Some((awaited, until)) = self.waiting {
            if !self.markers.are_read() && now() < until {
                return true;
            }
            self.markers.forget();
            self.waiting = None;
            self.ended(awaited);
            if awaited == path {
                return false;
            }
        }
        self.markers.send(&self.sockets);
        self.waiting = Some((path, now() + WAIT_MAX));
        true
    }

    /// How long the thread may sleep until the markers are read. `None` if it need not wait.
    pub(super) fn pause(&self) -> Option<Duration> {
        let (_, until) = self.waiting?;
        let rest = until.saturating_duration_since(now());
        (!self.markers.are_read() && !rest.is_zero()).then_some(rest)
    }
}

/// Whether no datagram waits in a socket.
fn are_empty(sockets: &[Arc<UdpSocket>]) -> bool {
    let mut awaited: SmallVec<[PollFd<'_>; 2]> =
        sockets.iter().map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)).collect();
    // If the system refuses, waiting longer does not help.
    poll(&mut awaited, PollTimeout::ZERO).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A busy machine reads the marker of a wait that has ended.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "the markers need a socket")]
    fn late_marker_is_read_without_effect() {
        let socket = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let sockets = [Arc::clone(&socket)];
        let markers = Markers::default();
        let receive = || {
            let mut marker = [0; MARKER_LEN];
            assert_eq!(socket.recv(&mut marker).unwrap(), MARKER_LEN);
            marker
        };

        markers.send(&sockets);
        let late = receive();
        markers.forget();
        markers.send(&sockets);
        assert!(markers.take(&late), "it is a marker");
        assert!(!markers.are_read(), "but not that of the present wait");
        let present = receive();
        let mut forged = present;
        forged[8] ^= 1;
        assert!(!markers.take(&forged), "the secret is wrong");
        assert!(markers.take(&present) && markers.are_read());
        assert!(!markers.take(&late) && !markers.take(&present), "each marker is read once");
    }
}
