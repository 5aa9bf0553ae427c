//! HISTORY and RESOURCE_LIMITS as numbers.

use crate::qos::{History, ResourceLimits};

/// HISTORY and RESOURCE_LIMITS (DDS 1.4, 2.2.3.18 and 2.2.3.19), ready to be checked for each sample.
///
/// [`usize::MAX`] means unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Samples per instance under KEEP_LAST, at least 1; `None` under KEEP_ALL.
    pub depth: Option<usize>,
    /// The most samples of all instances.
    pub samples_max: usize,
    /// The most instances.
    pub instances_max: usize,
    /// The most samples of one instance.
    pub samples_per_instance_max: usize,
}

impl HistoryLimits {
    /// The limits of the two policies. A depth of 0, which no consistent QoS has, counts as 1.
    #[must_use]
    pub fn new(history: History, limits: ResourceLimits) -> Self {
        Self {
            depth: match history {
                // A depth of 0 would reject every sample.
                History::KeepLast { depth } => Some(depth.max(1) as usize),
                History::KeepAll => None,
            },
            samples_max: usize_or_unlimited(limits.max_samples),
            instances_max: usize_or_unlimited(limits.max_instances),
            samples_per_instance_max: usize_or_unlimited(limits.max_samples_per_instance),
        }
    }

    /// Whether a writer always has space: only the depth is limited, and it replaces the oldest sample.
    #[must_use]
    pub const fn is_boundless(&self) -> bool {
        self.samples_max == usize::MAX
            && self.instances_max == usize::MAX
            && self.samples_per_instance_max == usize::MAX
    }

    /// Whether any known instance has space for another sample beside `len` stored ones.
    ///
    /// True under KEEP_ALL if no sample limit is reached.
    #[inline]
    pub(super) fn admits_any(&self, len: usize) -> bool {
        self.depth.is_none() && len < self.samples_max.min(self.samples_per_instance_max)
    }

    /// Like [`HistoryLimits::admits_any`], for an instance that may be new.
    #[inline]
    pub(super) fn admits_any_instance(&self, len: usize) -> bool {
        self.instances_max == usize::MAX && self.admits_any(len)
    }

    /// The most samples that the history can store; [`usize::MAX`] if unlimited.
    ///
    /// `keyed`: whether there can be more than one instance.
    #[must_use]
    pub fn capacity(&self, keyed: bool) -> usize {
        let per_instance = self.samples_per_instance_max.min(self.depth.unwrap_or(usize::MAX));
        // A topic without a key has one instance.
        let instances = if keyed { self.instances_max } else { 1 };
        self.samples_max.min(per_instance.saturating_mul(instances))
    }
}

fn usize_or_unlimited(limit: Option<u32>) -> usize {
    match limit {
        Some(limit) => limit as usize,
        None => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_the_tightest_limit() {
        let unlimited = ResourceLimits::default();
        assert_eq!(HistoryLimits::new(History::KeepAll, unlimited).capacity(true), usize::MAX);
        assert_eq!(HistoryLimits::new(History::KeepLast { depth: 3 }, unlimited).capacity(false), 3);
        assert_eq!(HistoryLimits::new(History::KeepLast { depth: 3 }, unlimited).capacity(true), usize::MAX);
        let limits =
            ResourceLimits { max_samples: Some(10), max_instances: Some(3), max_samples_per_instance: Some(2) };
        assert_eq!(HistoryLimits::new(History::KeepAll, limits).capacity(true), 6);
        assert_eq!(HistoryLimits::new(History::KeepLast { depth: 0 }, limits).depth, Some(1));
    }
}
