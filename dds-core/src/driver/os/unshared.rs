//! Replacement for shared memory on systems other than Linux, in models, and without the feature `shm`.

use super::intake::Inbound;
#[cfg(target_os = "linux")]
use super::intake::IntakeStep;
use crate::driver::Carrier;
use crate::sync::{Arc, AtomicBool};
use dds_rtps::transport::Transport;
use dds_rtps::types::{GuidPrefix, Locator};

/// Shares no memory.
#[derive(Debug)]
pub(super) struct Sharing;

/// Has no values, because nothing is received.
#[derive(Debug)]
pub(super) enum SharedIntake {}

impl Sharing {
    pub(super) fn new(_limit: usize) -> Arc<Self> {
        Arc::new(Self)
    }

    pub(super) fn before(self: &Arc<Self>, inner: Arc<dyn Transport>) -> Arc<dyn Transport> {
        inner
    }

    pub(super) fn set_prefix(&self, _own: GuidPrefix) {}

    pub(super) fn open_intake(self: &Arc<Self>, _inbound: Inbound) -> Option<SharedIntake> {
        None
    }

    pub(super) fn give_up(&self, _reason: String) {}

    pub(super) fn found(&self, _peer: GuidPrefix, _locators: &[Locator]) {}

    pub(super) fn lost(&self, _peer: GuidPrefix) {}

    pub(super) fn carrier(&self, _peer: GuidPrefix) -> Option<Carrier> {
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
