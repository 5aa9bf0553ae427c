//! The share of this process's file descriptors that all its hosts together may take.
//!
//! In: numbers of descriptors that a host or a connection needs. Out: a reservation, or a refusal. Owned: the sum.
//!
//! A program with many peers must keep descriptors for its own files and sockets. So shared memory takes a quarter of
//! the limit (`RLIMIT_NOFILE`) at most.

use crate::reasons::Refusal;
use rustix::process::{Resource, getrlimit};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Part of the limit that shared memory may take: one of this many.
const PARTS: u64 = 4;

/// Descriptors of all hosts of this process.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Reserved descriptors, until it is dropped.
#[derive(Debug)]
pub(crate) struct DescriptorShare {
    count: usize,
}

impl DescriptorShare {
    /// Reserves descriptors.
    pub(crate) fn take(count: usize) -> Result<Self, Refusal> {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let share = usize::try_from(limit / PARTS).unwrap_or(usize::MAX);
        let more = |taken: usize| taken.checked_add(count).filter(|sum| *sum <= share);
        match TAKEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(Self { count }),
            Err(_) => Err(Refusal::DescriptorShare { limit }),
        }
    }
}

impl Drop for DescriptorShare {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.count, Ordering::Relaxed);
    }
}
