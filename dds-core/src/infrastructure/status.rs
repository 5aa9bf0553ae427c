//! Communication statuses (DDS 1.4, 2.2.4.1): plain values, with the change since the last call.

use crate::qos::PolicyId;
use dds_rtps::history::{MissedDeadlines, RejectReason};
use dds_rtps::reader::LivelinessCounts;
use dds_rtps::types::InstanceHandle;

/// Number of readers that match a writer (DDS 1.4, 2.2.4.1, PUBLICATION_MATCHED).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PublicationMatchedStatus {
    /// Readers that have ever matched.
    pub total_count: u32,
    /// Change of `total_count` since the last call.
    pub total_count_change: u32,
    /// Readers that match now.
    pub current_count: u32,
    /// Change of `current_count` since the last call.
    pub current_count_change: i32,
    /// The reader that matched or left last.
    pub last_subscription_handle: InstanceHandle,
}

/// Number of reliable readers that a writer does not wait for, because they are too slow.
///
/// See [`SlowReader::Demote`](crate::writer::SlowReader::Demote). This status is not part of DDS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SlowReaderStatus {
    /// How often any reader became too slow.
    pub total_count: u32,
    /// Change of `total_count` since the last call.
    pub total_count_change: u32,
    /// Readers that are too slow now.
    pub current_count: u32,
    /// Change of `current_count` since the last call.
    pub current_count_change: i32,
    /// The reader that became too slow, caught up or left last.
    pub last_subscription_handle: InstanceHandle,
}

/// Number of writers that match a reader (DDS 1.4, 2.2.4.1, SUBSCRIPTION_MATCHED).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SubscriptionMatchedStatus {
    /// Writers that have ever matched.
    pub total_count: u32,
    /// Change of `total_count` since the last call.
    pub total_count_change: u32,
    /// Writers that match now.
    pub current_count: u32,
    /// Change of `current_count` since the last call.
    pub current_count_change: i32,
    /// The writer that matched or left last.
    pub last_publication_handle: InstanceHandle,
}

/// Endpoints of the topic whose QoS is incompatible (DDS 1.4, 2.2.4.1, OFFERED_ and REQUESTED_INCOMPATIBLE_QOS).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct IncompatibleQosStatus {
    /// Endpoints with an incompatible QoS that were ever found.
    pub total_count: u32,
    /// Change of `total_count` since the last call.
    pub total_count_change: u32,
    /// One of the incompatible policies of the last such endpoint.
    pub last_policy_id: Option<PolicyId>,
    /// Each policy that was ever incompatible, and how often.
    pub policies: Vec<(PolicyId, u32)>,
}

/// Remote endpoints that use the topic's name with another type (DDS 1.4, 2.2.4.1, INCONSISTENT_TOPIC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct InconsistentTopicStatus {
    /// Pairs of a local and a remote endpoint with different types that were ever found.
    pub total_count: u32,
    /// Change of `total_count` since the last call.
    pub total_count_change: u32,
}

/// Samples that a reader never received (DDS 1.4, 2.2.4.1, SAMPLE_LOST).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SampleLostStatus {
    /// Samples that were ever lost.
    pub total_count: u64,
    /// Change of `total_count` since the last call.
    pub total_count_change: u64,
}

/// Samples for which a reader had no room (DDS 1.4, 2.2.4.1, SAMPLE_REJECTED).
///
/// A reliable KEEP_ALL reader receives them again when it has room. Any other reader has lost them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SampleRejectedStatus {
    /// Samples that were ever rejected.
    pub total_count: u64,
    /// Change of `total_count` since the last call.
    pub total_count_change: u64,
    /// Limit that rejected the last sample. `None` if no sample was rejected yet.
    pub last_reason: Option<RejectReason>,
    /// Instance of the last rejected sample.
    pub last_instance_handle: InstanceHandle,
}

/// How often a writer has lost its liveliness (DDS 1.4, 2.2.4.1, LIVELINESS_LOST).
///
/// The writer did not assert its liveliness within its lease. Readers treat it as not alive until it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LivelinessLostStatus {
    /// How often the writer has lost its liveliness. A writer that stays silent loses it once.
    pub total_count: u32,
    /// Change of `total_count` since the last call.
    pub total_count_change: u32,
}

/// Number of matched writers that are alive and not alive (DDS 1.4, 2.2.4.1, LIVELINESS_CHANGED).
///
/// A writer counts as alive from its match on. If it loses its liveliness, it counts as not alive until its next
/// assertion. A writer that leaves is removed from its present count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LivelinessChangedStatus {
    /// Matched writers that are alive.
    pub alive_count: u32,
    /// Matched writers that did not assert their liveliness within their lease.
    pub not_alive_count: u32,
    /// Change of `alive_count` since the last call.
    pub alive_count_change: i32,
    /// Change of `not_alive_count` since the last call.
    pub not_alive_count_change: i32,
    /// The writer whose match or liveliness changed last.
    pub last_publication_handle: InstanceHandle,
}

/// Values of LIVELINESS_CHANGED at the last call. The next changes count from them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LivelinessRead {
    alive: u32,
    not_alive: u32,
    changes: u64,
}

impl LivelinessRead {
    /// Returns the status, and whether any change occurred since the last call.
    ///
    /// A writer that became silent and returned leaves the counts as they were, but it is a change. Resets the changes.
    pub(crate) fn read(&mut self, counts: LivelinessCounts) -> (LivelinessChangedStatus, bool) {
        let LivelinessCounts { alive, not_alive, changes, last } = counts;
        let difference = |now: u32, then: u32| i32::try_from(i64::from(now) - i64::from(then)).unwrap_or(i32::MAX);
        let status = LivelinessChangedStatus {
            alive_count: alive,
            not_alive_count: not_alive,
            alive_count_change: difference(alive, self.alive),
            not_alive_count_change: difference(not_alive, self.not_alive),
            last_publication_handle: last.map_or(InstanceHandle::NIL, InstanceHandle::from),
        };
        let news = changes > self.changes;
        *self = Self { alive, not_alive, changes };
        (status, news)
    }
}

/// Instances that were not updated in time (DDS 1.4, 2.2.4.1, OFFERED_ and REQUESTED_DEADLINE_MISSED).
///
/// A writer has not written them, or a reader has not received them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DeadlineMissedStatus {
    /// Periods without an update, of all instances.
    pub total_count: u64,
    /// Change of `total_count` since the last call.
    pub total_count_change: u64,
    /// Instance of the last missed deadline.
    pub last_instance_handle: InstanceHandle,
}

/// How often the listeners of an entity have panicked, and the last message.
///
/// This status is not part of DDS. It is reported as an event.
#[derive(Debug, Default)]
pub(crate) struct ListenerPanics {
    count: u64,
    message: String,
}

impl ListenerPanics {
    pub(crate) fn note(&mut self, message: &str) {
        self.count += 1;
        message.clone_into(&mut self.message);
    }

    /// Returns the last message if it is newer than `told`, and updates `told`.
    pub(crate) fn since(&self, told: &mut u64) -> Option<String> {
        (std::mem::replace(told, self.count) < self.count).then(|| self.message.clone())
    }
}

/// Counter of the peers in some state: matched peers, or slow readers.
#[derive(Debug, Default)]
pub(crate) struct MatchCounter {
    total: u32,
    current: u32,
    last: InstanceHandle,
    read: MatchRead,
}

/// Values of a matched status at the last call. The next changes count from them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MatchRead {
    total: u32,
    current: u32,
}

impl MatchCounter {
    pub(crate) fn matched(&mut self, peer: InstanceHandle) {
        self.total = self.total.saturating_add(1);
        self.current = self.current.saturating_add(1);
        self.last = peer;
    }

    pub(crate) fn unmatched(&mut self, peer: InstanceHandle) {
        debug_assert!(self.current > 0, "only a counted match ends");
        self.current = self.current.saturating_sub(1);
        self.last = peer;
    }

    pub(crate) fn current(&self) -> u32 {
        self.current
    }

    /// Returns total, its change, current, its change and last peer, and resets the changes.
    fn since(&self, read: &mut MatchRead) -> (u32, u32, u32, i32, InstanceHandle) {
        debug_assert!(read.total <= self.total, "the total never falls");
        let total_change = self.total - read.total;
        let current_change = i64::from(self.current) - i64::from(read.current);
        *read = MatchRead { total: self.total, current: self.current };
        let current_change = i32::try_from(current_change).unwrap_or(i32::MAX);
        (self.total, total_change, self.current, current_change, self.last)
    }

    pub(crate) fn publication_since(&self, read: &mut MatchRead) -> PublicationMatchedStatus {
        let (total_count, total_count_change, current_count, current_count_change, last_subscription_handle) =
            self.since(read);
        PublicationMatchedStatus {
            total_count,
            total_count_change,
            current_count,
            current_count_change,
            last_subscription_handle,
        }
    }

    pub(crate) fn subscription_since(&self, read: &mut MatchRead) -> SubscriptionMatchedStatus {
        let (total_count, total_count_change, current_count, current_count_change, last_publication_handle) =
            self.since(read);
        SubscriptionMatchedStatus {
            total_count,
            total_count_change,
            current_count,
            current_count_change,
            last_publication_handle,
        }
    }

    pub(crate) fn slow_reader_since(&self, read: &mut MatchRead) -> SlowReaderStatus {
        let (total_count, total_count_change, current_count, current_count_change, last_subscription_handle) =
            self.since(read);
        SlowReaderStatus {
            total_count,
            total_count_change,
            current_count,
            current_count_change,
            last_subscription_handle,
        }
    }

    pub(crate) fn read_slow_reader(&mut self) -> SlowReaderStatus {
        let mut read = self.read;
        let status = self.slow_reader_since(&mut read);
        self.read = read;
        status
    }

    pub(crate) fn read_publication(&mut self) -> PublicationMatchedStatus {
        let mut read = self.read;
        let status = self.publication_since(&mut read);
        self.read = read;
        status
    }

    pub(crate) fn read_subscription(&mut self) -> SubscriptionMatchedStatus {
        let mut read = self.read;
        let status = self.subscription_since(&mut read);
        self.read = read;
        status
    }
}

impl InconsistentTopicStatus {
    pub(crate) fn note(&mut self) {
        self.total_count = self.total_count.saturating_add(1);
        self.total_count_change = self.total_count_change.saturating_add(1);
    }

    /// Returns the status for the application, and resets the change.
    pub(crate) fn read(&mut self) -> Self {
        let status = *self;
        self.total_count_change = 0;
        status
    }

    /// Returns the status with the change since `read`, and updates `read`.
    pub(crate) fn since(self, read: &mut u32) -> Self {
        let total_count_change = self.total_count - std::mem::replace(read, self.total_count);
        Self { total_count_change, ..self }
    }
}

impl LivelinessLostStatus {
    pub(crate) fn note(&mut self) {
        self.total_count = self.total_count.saturating_add(1);
    }

    /// Returns the status with the change since `read`, and updates `read`.
    pub(crate) fn since(self, read: &mut u32) -> Self {
        let total_count_change = self.total_count - std::mem::replace(read, self.total_count);
        Self { total_count_change, ..self }
    }
}

impl SampleLostStatus {
    /// Returns the status with the change since `read`, and updates `read`.
    pub(crate) fn since(self, read: &mut u64) -> Self {
        let total_count_change = self.total_count - std::mem::replace(read, self.total_count);
        Self { total_count_change, ..self }
    }
}

impl SampleRejectedStatus {
    /// Counts rejected samples.
    pub(crate) fn note(&mut self, count: u64, reason: RejectReason, instance: InstanceHandle) {
        self.total_count = self.total_count.saturating_add(count);
        self.last_reason = Some(reason);
        self.last_instance_handle = instance;
    }

    /// Returns the status with the change since `read`, and updates `read`.
    pub(crate) fn since(self, read: &mut u64) -> Self {
        let total_count_change = self.total_count - std::mem::replace(read, self.total_count);
        Self { total_count_change, ..self }
    }
}

/// Counter of a [`DeadlineMissedStatus`].
#[derive(Debug, Default)]
pub(crate) struct DeadlineCounter {
    status: DeadlineMissedStatus,
    read: u64,
}

impl DeadlineCounter {
    /// Counts missed periods.
    pub(crate) fn note(&mut self, missed: MissedDeadlines) {
        self.status.total_count = self.status.total_count.saturating_add(missed.count);
        self.status.last_instance_handle = missed.last;
    }

    /// Returns the status with the change since `read`, and updates `read`.
    pub(crate) fn since(&self, read: &mut u64) -> DeadlineMissedStatus {
        let total_count = self.status.total_count;
        let total_count_change = total_count - std::mem::replace(read, total_count);
        DeadlineMissedStatus { total_count_change, ..self.status }
    }

    /// Returns the status for the application, and resets the change.
    pub(crate) fn read(&mut self) -> DeadlineMissedStatus {
        let mut read = self.read;
        let status = self.since(&mut read);
        self.read = read;
        status
    }
}

impl IncompatibleQosStatus {
    /// Counts one incompatible endpoint.
    pub(crate) fn note(&mut self, policies: &[PolicyId]) {
        self.total_count = self.total_count.saturating_add(1);
        self.total_count_change = self.total_count_change.saturating_add(1);
        self.last_policy_id = policies.first().copied().or(self.last_policy_id);
        for &policy in policies {
            match self.policies.iter_mut().find(|(known, _)| *known == policy) {
                Some((_, count)) => *count = count.saturating_add(1),
                None => self.policies.push((policy, 1)),
            }
        }
    }

    /// Returns the status with the change since `read`, and updates `read`.
    pub(crate) fn since(&self, read: &mut u32) -> Self {
        let total_count_change = self.total_count - std::mem::replace(read, self.total_count);
        Self { total_count_change, ..self.clone() }
    }

    /// Returns the status for the application, and resets the change.
    pub(crate) fn read(&mut self) -> Self {
        let status = self.clone();
        self.total_count_change = 0;
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_count_from_one_reading_to_the_next() {
        let mut counter = MatchCounter::default();
        counter.matched(InstanceHandle::NIL);
        counter.matched(InstanceHandle::NIL);
        counter.unmatched(InstanceHandle::NIL);
        let status = counter.read_publication();
        assert_eq!((status.total_count, status.total_count_change), (2, 2));
        assert_eq!((status.current_count, status.current_count_change), (1, 1));
        counter.unmatched(InstanceHandle::NIL);
        let status = counter.read_subscription();
        assert_eq!((status.total_count, status.total_count_change), (2, 0));
        assert_eq!((status.current_count, status.current_count_change), (0, -1));
    }

    #[test]
    fn the_last_peer_is_the_one_that_came_or_went_last() {
        let [one, other] = [1, 2].map(|byte| InstanceHandle::from_key_hash([byte; 16]));
        let mut counter = MatchCounter::default();
        assert!(counter.read_publication().last_subscription_handle.is_nil());
        counter.matched(one);
        counter.matched(other);
        assert_eq!(counter.read_publication().last_subscription_handle, other);
        counter.unmatched(one);
        assert_eq!(counter.read_subscription().last_publication_handle, one);
        assert_eq!(counter.read_slow_reader().last_subscription_handle, one);
    }

    /// Each reader of a status has its own mark. The second of two readings reports no change.
    #[test]
    fn the_change_of_each_status_is_what_came_since_it_was_read() {
        let mut silent = LivelinessLostStatus::default();
        silent.note();
        silent.note();
        let mut read = 1;
        assert_eq!([(); 2].map(|()| silent.since(&mut read).total_count_change), [1, 0]);
        silent.note();
        let LivelinessLostStatus { total_count, total_count_change } = silent.since(&mut read);
        assert_eq!((total_count, total_count_change), (3, 1));

        let mut differing = InconsistentTopicStatus::default();
        differing.note();
        differing.note();
        let mut read = 0;
        assert_eq!([(); 2].map(|()| differing.since(&mut read).total_count_change), [2, 0]);
        assert_eq!([(); 2].map(|()| differing.read().total_count_change), [2, 0]);

        let lost = SampleLostStatus { total_count: 7, ..SampleLostStatus::default() };
        let mut read = 4;
        assert_eq!([(); 2].map(|()| lost.since(&mut read).total_count_change), [3, 0]);

        let (mut rejected, instance) = (SampleRejectedStatus::default(), InstanceHandle::from_key_hash([1; 16]));
        rejected.note(3, RejectReason::Samples, InstanceHandle::NIL);
        rejected.note(2, RejectReason::Instances, instance);
        let mut read = 0;
        assert_eq!([(); 2].map(|()| rejected.since(&mut read).total_count_change), [5, 0]);
        assert_eq!((rejected.last_reason, rejected.last_instance_handle), (Some(RejectReason::Instances), instance));

        let mut late = DeadlineCounter::default();
        late.note(MissedDeadlines { count: 2, last: instance });
        let mut read = 0;
        assert_eq!([(); 2].map(|()| late.since(&mut read).total_count_change), [2, 0]);
        assert_eq!([(); 2].map(|()| late.read().total_count_change), [2, 0]);

        let mut unfit = IncompatibleQosStatus::default();
        unfit.note(&[PolicyId::Deadline]);
        unfit.note(&[]);
        let mut read = 0;
        assert_eq!([(); 2].map(|()| unfit.since(&mut read).total_count_change), [2, 0]);
        assert_eq!(unfit.last_policy_id, Some(PolicyId::Deadline), "the last that was named");
    }

    #[test]
    fn incompatible_policies_are_counted_each() {
        let mut status = IncompatibleQosStatus::default();
        status.note(&[PolicyId::Reliability, PolicyId::Durability]);
        status.note(&[PolicyId::Reliability]);
        assert_eq!(status.policies, [(PolicyId::Reliability, 2), (PolicyId::Durability, 1)]);
        assert_eq!(status.read().total_count_change, 2);
        assert_eq!(status.read().total_count_change, 0);
    }
}
