//! What a writer holds back while its publisher is suspended.
//!
//! Life cycle: counted with each write, forgotten when it is sent. Bound: the limits below; the samples are in the history.

use crate::qos::History;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most samples, and bytes of them, that a suspended writer holds back: as much as a few datagrams take.
const HELD_MAX: usize = 1024;
const HELD_BYTES_MAX: usize = 64 << 10;

/// What is not sent yet because the publisher is suspended (DDS 1.4, 2.2.2.4.1.8).
#[derive(Default)]
pub(super) struct Held {
    /// How often the writer's publisher is suspended; `None`: the writer is in none.
    suspensions: Option<Arc<AtomicUsize>>,
    samples: usize,
    bytes: usize,
    /// What is held must not be more than the history keeps: nothing is lost that would have been sent.
    samples_max: usize,
}

impl Held {
    /// Of a writer in a publisher, which is suspended while the number is not zero.
    pub(super) fn new(suspensions: &Arc<AtomicUsize>, history: History) -> Self {
        let mut held = Self { suspensions: Some(Arc::clone(suspensions)), ..Self::default() };
        held.set_history(history);
        held
    }

    pub(super) fn set_history(&mut self, history: History) {
        self.samples_max = match history {
            History::KeepLast { depth } => usize::try_from(depth).unwrap_or(HELD_MAX).min(HELD_MAX),
            History::KeepAll => HELD_MAX,
        };
    }

    #[inline]
    pub(super) fn is_suspended(&self) -> bool {
        self.suspensions.as_ref().is_some_and(|suspensions| suspensions.load(Ordering::Acquire) > 0)
    }

    /// Whether another sample may be held back.
    pub(super) fn note(&mut self, len: usize) -> bool {
        self.samples += 1;
        self.bytes += len;
        self.samples < self.samples_max && self.bytes < HELD_BYTES_MAX
    }

    /// Whether there was anything; from now on there is nothing.
    pub(super) fn release(&mut self) -> bool {
        self.bytes = 0;
        std::mem::take(&mut self.samples) > 0
    }
}
