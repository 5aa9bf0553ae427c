//! How much a history may hold: HISTORY and RESOURCE_LIMITS as plain numbers.

use crate::qos::{History, ResourceLimits};

/// HISTORY and RESOURCE_LIMITS (DDS 1.4, 2.2.3.18 and 2.2.3.19) in the form in which they are checked for each sample.
/// No limit is [`usize::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Samples kept per instance under KEEP_LAST, at least 1; `None` is KEEP_ALL.
    pub depth: Option<usize>,
    /// Samples of all instances together.
    pub samples_max: usize,
    /// Instances.
    pub instances_max: usize,
    /// Samples of one instance.
    pub samples_per_instance_max: usize,
}

impl HistoryLimits {
    /// The limits that the two policies set. A depth of 0, which no consistent QoS has, counts as 1.
    #[must_use]
    pub fn new(history: History, limits: ResourceLimits) -> Self {
        let number = |limit: Option<u32>| limit.map_or(usize::MAX, |limit| limit as usize);
        Self {
            depth: match history {
                History::KeepLast { depth } => Some(depth.max(1) as usize),
                History::KeepAll => None,
            },
            samples_max: number(limits.max_samples),
            instances_max: number(limits.max_instances),
            samples_per_instance_max: number(limits.max_samples_per_instance),
        }
    }

    /// Whether a writer always has room: nothing is limited but the depth, which replaces what is oldest.
    #[must_use]
    pub const fn is_boundless(&self) -> bool {
        self.samples_max == usize::MAX
            && self.instances_max == usize::MAX
            && self.samples_per_instance_max == usize::MAX
    }

    /// Whether a sample more of a known instance replaces none, where `len` lie here already: KEEP_ALL, and no limit of samples is
    /// reached.
    #[inline]
    pub(super) fn admits_any(&self, len: usize) -> bool {
        self.depth.is_none() && len < self.samples_max.min(self.samples_per_instance_max)
    }

    /// The same, whatever its instance.
    #[inline]
    pub(super) fn admits_any_instance(&self, len: usize) -> bool {
        self.instances_max == usize::MAX && self.admits_any(len)
    }

    /// The most samples that can lie in the history at once; [`usize::MAX`]: no limit.
    ///
    /// `keyed`: whether there can be more than one instance.
    #[must_use]
    pub fn capacity(&self, keyed: bool) -> usize {
        let per_instance = self.samples_per_instance_max.min(self.depth.unwrap_or(usize::MAX));
        let instances = if keyed { self.instances_max } else { 1 };
        self.samples_max.min(per_instance.saturating_mul(instances))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_the_tightest_of_all_limits() {
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
