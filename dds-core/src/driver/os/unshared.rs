//! Replacement for shared memory on systems other than Linux, in models, and without the feature `shm`.

use super::intake::Inbound;
#[cfg(target_os = "linux")]
use super::intake::IntakeStep;
use crate::actor::Poke;
use crate::driver::Carrier;
use crate::sync::{Arc, AtomicBool, Lock, Weak};
use dds_rtps::concurrent::BorrowedMut;
use dds_rtps::transport::Transport;
use dds_rtps::types::{GuidPrefix, Locator};
use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::time::Duration;
use tokio::runtime::Handle;

/// Why no memory is shared, for programs that ask for it by the feature `shm`.
const REASON: Option<&str> =
    if cfg!(all(feature = "shm", not(dds_loom))) { Some("this system does not offer it; Linux does") } else { None };

/// Shares no memory.
#[derive(Debug)]
pub(super) struct Sharing {
    /// The program has turned it off.
    is_off: bool,
    /// Participants of this host. Bound: those that discovery knows.
    peers: Lock<BTreeSet<GuidPrefix>>,
}

/// Has no values, because nothing is received.
#[derive(Debug)]
pub(super) enum SharedIntake {}

impl Sharing {
    pub(super) fn new(limit: usize, _busy_poll: Duration) -> Arc<Self> {
        Arc::new(Self { is_off: limit == 0, peers: Lock::default() })
    }

    pub(super) fn before(self: &Arc<Self>, inner: Arc<dyn Transport>) -> Arc<dyn Transport> {
        inner
    }

    pub(super) fn set_prefix(&self, _own: GuidPrefix) {}

    pub(super) fn open_intake(
        self: &Arc<Self>,
        _inbound: Inbound,
        _sockets: &[Arc<UdpSocket>],
        _by_caller: bool,
    ) -> Option<SharedIntake> {
        None
    }

    pub(super) fn is_marker(&self, _datagram: &[u8]) -> bool {
        false
    }

    pub(super) async fn keep_trying(self: Arc<Self>) {}

    pub(super) fn wake_with_room(self: &Arc<Self>, _cell: &Weak<dyn Poke>, _runtime: &Handle) -> bool {
        false
    }

    pub(super) fn give_up(&self, _reason: String) {}

    pub(super) fn found(&self, peer: GuidPrefix, _locators: &[Locator]) {
        self.peers.lock().insert(peer);
    }

    pub(super) fn lost(&self, peer: GuidPrefix) {
        self.peers.lock().remove(&peer);
    }

    pub(super) fn carrier(&self, peer: GuidPrefix) -> Option<Carrier> {
        if self.is_off || !self.peers.lock().contains(&peer) {
            return None;
        }
        REASON.map(|reason| Carrier::Udp { reason: reason.to_owned() })
    }

    pub(super) fn long_message_max(&self, _locators: &[Locator]) -> usize {
        0
    }

    pub(super) fn lend(&self, _locators: &[Locator], _len: usize) -> Option<BorrowedMut> {
        None
    }

    pub(super) fn room_at(&self, _locator: &Locator) -> Option<usize> {
        None
    }

    pub(super) fn stop(&self) {}
}

impl SharedIntake {
    pub(super) fn run(self, _stopped: &AtomicBool) {
        match self {}
    }
}

#[cfg(target_os = "linux")]
impl SharedIntake {
    pub(super) fn step(&mut self, _is_ready: bool) -> IntakeStep {
        match *self {}
    }

    pub(super) fn poll(&mut self, _is_over: impl Fn() -> bool) -> IntakeStep {
        match *self {}
    }

    pub(super) fn is_polled(&self) -> bool {
        match *self {}
    }

    pub(super) fn is_unfinished(&self) -> bool {
        match *self {}
    }

    pub(super) fn rouse(&self) {
        match *self {}
    }

    pub(super) fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        match *self {}
    }
}
