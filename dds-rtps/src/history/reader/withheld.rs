//! Samples that a reader withholds until their coherent set is complete.
//!
//! Bound: as many samples as the history may store, in addition to those, and the number of bytes that the caller
//! allows.

use super::RejectReason;
use crate::types::InstanceHandle;

/// The number and size of withheld samples.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WithheldSamples {
    samples: usize,
    bytes: usize,
}

impl WithheldSamples {
    /// How many samples are withheld.
    pub(super) fn len(&self) -> usize {
        self.samples
    }

    /// Counts samples as withheld. Returns `false` and counts nothing if that exceeds a limit.
    pub(super) fn add(&mut self, samples: usize, bytes: usize, samples_max: usize, bytes_max: usize) -> bool {
        let sum = Self { samples: self.samples.saturating_add(samples), bytes: self.bytes.saturating_add(bytes) };
        if sum.samples > samples_max || sum.bytes > bytes_max {
            return false;
        }
        *self = sum;
        true
    }

    /// Stops counting samples as withheld.
    pub(super) fn remove(&mut self, samples: usize, bytes: usize) {
        self.samples = self.samples.saturating_sub(samples);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// Space that a coherent set needs in the history.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SetDemand {
    /// Samples that the set adds to the present ones.
    pub(super) more: usize,
    /// Samples of the set in an empty history.
    pub(super) alone: usize,
    /// Instances that the set creates.
    pub(super) new: usize,
}

/// Why the changes of a coherent set do not fit into the history together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SetRejection {
    pub(crate) reason: RejectReason,
    pub(crate) instance: InstanceHandle,
    /// Whether the set does not fit into an empty history either.
    pub(crate) is_lasting: bool,
}
