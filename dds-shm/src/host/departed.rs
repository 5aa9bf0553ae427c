//! Blocks that peers still use after their path has ended.
//!
//! In: the sending side of an ended path. Out: released blocks. Owned: the holds of the peer, and the memory in which
//! it returns blocks.
//!
//! A peer may keep messages for longer than its path lives. Their blocks stay unchanged until it returns them, or its
//! process ends. Bound: they count for the next paths of the process, so it never holds more than by one path.

use super::path::{DepartedHolds, OpenSending};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open, test_kill_process};
use rustix::time::Timespec;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the timer of the host looks for returned blocks after the end of a path. Later, a full pool does.
///
/// The socket of a process that is killed closes a little before the process has ended.
const SOON: Duration = Duration::from_secs(2);

/// Ended paths whose peers hold blocks.
#[derive(Debug, Default)]
pub(super) struct DepartedPeers {
    peers: Mutex<Vec<DepartedPeer>>,
}

#[derive(Debug)]
struct DepartedPeer {
    sending: OpenSending,
    process: Pid,
    ended_at: Instant,
}

impl DepartedPeers {
    /// Takes over the holds of an ended path. `process` is that of its peer.
    pub(super) fn add(&self, sending: OpenSending, process: Pid) {
        let mut peer = DepartedPeer { sending, process, ended_at: Instant::now() };
        if !peer.is_done() {
            self.lock().push(peer);
        }
    }

    /// Releases the blocks that were returned, and those of processes that have ended.
    pub(super) fn sweep(&self) {
        let mut peers = self.lock();
        if !peers.is_empty() {
            peers.retain_mut(|peer| !peer.is_done());
        }
    }

    /// What a process still holds of ended paths.
    pub(super) fn held_by(&self, process: Pid) -> DepartedHolds {
        self.sweep();
        let mut holds = DepartedHolds::default();
        for peer in self.lock().iter() {
            if peer.process == process {
                holds = holds.with(&peer.sending);
            }
        }
        holds
    }

    /// Whether the timer should sweep.
    pub(super) fn is_awaited(&self) -> bool {
        self.lock().iter().any(|peer| peer.ended_at.elapsed() < SOON)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<DepartedPeer>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DepartedPeer {
    fn is_done(&mut self) -> bool {
        // A peer that breaks rules loses its holds.
        self.sending.take_last_returned().is_err() || self.sending.holds_nothing() || has_ended(self.process)
    }
}

/// Whether all threads of a process have ended.
fn has_ended(process: Pid) -> bool {
    match pidfd_open(process, PidfdFlags::empty()) {
        Ok(descriptor) => {
            let mut polled = [PollFd::new(&descriptor, PollFlags::IN)];
            poll(&mut polled, Some(&Timespec::default())).is_ok_and(|count| count > 0)
        }
        Err(Errno::SRCH) => true,
        // Linux before 5.3, or no descriptor is left.
        Err(_) => test_kill_process(process) == Err(Errno::SRCH),
    }
}
