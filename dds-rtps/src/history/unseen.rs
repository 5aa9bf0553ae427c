//! Room for what a reader holds back until a coherent set has ended, and whether a set fits as a whole.
//!
//! Bound: as many samples as the history may have, once more, and the bytes that the caller allows.

use super::Selection;
use super::reader::{INSTANCES_MAX, ReaderHistory, ReceivedChange, RejectReason, SAMPLES_MAX};
use super::sample_list::NOWHERE;
use crate::types::{Guid, InstanceHandle, Now, SequenceNumber};
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// What is held back.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Unseen {
    pub(super) samples: usize,
    bytes: usize,
}

/// Why changes do not fit together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SetRejection {
    pub(crate) reason: RejectReason,
    pub(crate) instance: InstanceHandle,
    /// They would not fit into an empty history either.
    pub(crate) is_lasting: bool,
}

impl ReaderHistory {
    /// Counts samples that are held back. `false`: there is no room for them, and nothing has changed.
    pub(crate) fn withhold(&mut self, samples: usize, bytes: usize, bytes_max: usize) -> bool {
        let samples_max = self.config.limits.samples_max.min(SAMPLES_MAX);
        let fits = self.unseen.samples.saturating_add(samples) <= samples_max
            && self.unseen.bytes.saturating_add(bytes) <= bytes_max;
        if fits {
            self.unseen.samples += samples;
            self.unseen.bytes += bytes;
        }
        fits
    }

    /// They are held back no more.
    pub(crate) fn release_withheld(&mut self, samples: usize, bytes: usize) {
        self.unseen.samples = self.unseen.samples.saturating_sub(samples);
        self.unseen.bytes = self.unseen.bytes.saturating_sub(bytes);
    }

    /// Whether there is room for all of these, as [`ReaderHistory::add`] finds it for each. May say no where the order of
    /// things would just make it possible, never yes where it does not.
    pub(crate) fn check_set(&mut self, changes: &[ReceivedChange]) -> Result<(), SetRejection> {
        let limits = self.config.limits;
        let (samples_max, instances_max) = (limits.samples_max.min(SAMPLES_MAX), self.instances_max());
        let len = changes.len();
        let is_free = limits.samples_per_instance_max == usize::MAX
            && self.valid.saturating_add(len) <= samples_max
            && self.instances.len().saturating_add(len) <= instances_max;
        if is_free {
            return Ok(());
        }
        let mut per_instance: HashMap<InstanceHandle, usize, FixedState> =
            HashMap::with_hasher(FixedState::with_seed(self.config.seed));
        for received in changes {
            *per_instance.entry(received.change.instance).or_default() += usize::from(received.has_data);
        }
        let keep = limits.depth.unwrap_or(usize::MAX).min(limits.samples_per_instance_max);
        let (mut more, mut alone, mut new) = (0_usize, 0_usize, 0_usize);
        for (&instance, &count) in &per_instance {
            let known = self.instances.find(instance);
            let here = known.map_or(0, |at| self.instances.get(at).valid_len());
            new += usize::from(known.is_none());
            if limits.depth.is_none() && here + count > keep {
                let reason = RejectReason::SamplesPerInstance;
                return Err(SetRejection { reason, instance, is_lasting: count > keep });
            }
            more += (here + count).min(keep.max(here)) - here;
            alone += count.min(keep);
        }
        let instance = changes.last().map_or(InstanceHandle::NIL, |last| last.change.instance);
        if self.valid.saturating_add(more) > samples_max {
            let is_lasting = alone > samples_max;
            return Err(SetRejection { reason: RejectReason::Samples, instance, is_lasting });
        }
        if self.instances.len().saturating_add(new) > instances_max {
            self.release_departed();
            if self.instances.len().saturating_add(new) > instances_max {
                let is_lasting = per_instance.len() > instances_max;
                return Err(SetRejection { reason: RejectReason::Instances, instance, is_lasting });
            }
        }
        Ok(())
    }

    /// Who has written what lies here, and under which numbers, in the order of arrival.
    pub fn identities(&self) -> impl Iterator<Item = (Guid, SequenceNumber)> + '_ {
        let existing = |at: u32| (at != NOWHERE).then_some(at);
        let places = std::iter::successors(existing(self.samples.arrivals.first), move |&at| {
            existing(self.samples.next_arrival(at))
        });
        places.map(|at| {
            let stored = self.samples.get(at);
            (stored.writer, stored.sequence_number)
        })
    }

    /// The same of what is asked for. Nothing is read by that.
    pub fn identities_of(&mut self, now: Now, selection: &Selection<'_>) -> Vec<(Guid, SequenceNumber)> {
        let picked = self.picked_by(now, selection);
        picked.into_iter().map(|at| self.samples.get(at)).map(|found| (found.writer, found.sequence_number)).collect()
    }

    fn instances_max(&self) -> usize {
        match self.config.limits.instances_max {
            usize::MAX => INSTANCES_MAX,
            max => max,
        }
    }
}
