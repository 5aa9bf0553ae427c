//! Communication statuses (DDS 1.4, 2.2.4.1): plain values, with the change since the last call.

use crate::qos::PolicyId;
use dds_rtps::history::{MissedDeadlines, RejectReason};
use dds_rtps::reader::LivelinessCounts;
use dds_rtps::types::InstanceHandle;

/// Number of peers of an endpoint in some state (DDS 1.4, 2.2.4.1).
///
/// - `publication_matched` of a writer: matched readers (PUBLICATION_MATCHED).
/// - `subscription_matched` of a reader: matched writers (SUBSCRIPTION_MATCHED).
/// - `slow_readers` of a writer: reliable readers that are too slow. One holds up writes for 50 ms or more each, and
///   the writer does not wait for the others ([`SlowReader::Demote`](crate::writer::SlowReader::Demote)). This status
///   is not part of DDS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
#[doc(alias = "PublicationMatchedStatus")]
#[doc(alias = "SubscriptionMatchedStatus")]
pub struct PeerStatus {
    /// How often any peer has entered the state.
    pub total_count: u32,
    /// Change of `total_count` since the last call.
    pub total_count_change: u32,
    /// Peers in the state now.
    pub current_count: u32,
    /// Change of `current_count` since the last call.
    pub current_count_change: i32,
    /// The peer that entered or left the state last.
    #[doc(alias = "last_publication_handle")]
    #[doc(alias = "last_subscription_handle")]
    pub last_peer_handle: InstanceHandle,
}

/// How often an event has occurred (DDS 1.4, 2.2.4.1).
///
/// - `sample_lost` of a reader: samples that it never received (SAMPLE_LOST).
/// - `liveliness_lost` of a writer: how often it did not assert its liveliness within its lease (LIVELINESS_LOST).
///   A writer that stays silent loses it once.
/// - `inconsistent_topic` of a topic: pairs of a local and a remote endpoint whose types differ (INCONSISTENT_TOPIC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
#[doc(alias = "SampleLostStatus")]
#[doc(alias = "LivelinessLostStatus")]
#[doc(alias = "InconsistentTopicStatus")]
pub struct CountStatus {
    /// How often it has occurred.
    pub total_count: u64,
    /// Change of `total_count` since the last call.
    pub total_count_change: u64,
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
        let status = LivelinessChangedStatus {
            alive_count: alive,
            not_alive_count: not_alive,
            alive_count_change: difference(alive, self.alive),
            not_alive_count_change: difference(not_alive, self.not_alive),
            last_publication_handle: last.map_or(InstanceHandle::NIL, InstanceHandle::from),
        };
        // Not by the counts: a writer that became silent and returned leaves them as they were.
        let news = changes > self.changes;
        *self = Self { alive, not_alive, changes };
        (status, news)
    }
}

/// Returns a change as DDS reports it: a signed number (DDS 1.4, 2.2.4.1).
fn difference(now: u32, then: u32) -> i32 {
    i32::try_from(i64::from(now) - i64::from(then)).unwrap_or(i32::MAX)
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
        // Reuses the buffer, so that a listener that panics often costs one allocation.
        message.clone_into(&mut self.message);
    }

    /// Returns the last message if it is newer than `told`, and updates `told`.
    pub(crate) fn since(&self, told: &mut u64) -> Option<String> {
        // Several panics between two calls are one event, with the message of the last.
        if std::mem::replace(told, self.count) < self.count { Some(self.message.clone()) } else { None }
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

    /// Returns the status with the changes since `read`, and updates `read`.
    pub(crate) fn since(&self, read: &mut MatchRead) -> PeerStatus {
        debug_assert!(read.total <= self.total, "the total never falls");
        let total_count_change = self.total - read.total;
        let current_change = i64::from(self.current) - i64::from(read.current);
        *read = MatchRead { total: self.total, current: self.current };
        PeerStatus {
            total_count: self.total,
            total_count_change,
            current_count: self.current,
            current_count_change: i32::try_from(current_change).unwrap_or(i32::MAX),
            last_peer_handle: self.last,
        }
    }

    /// Returns the status for the application, and resets the changes.
    pub(crate) fn read(&mut self) -> PeerStatus {
        let mut read = self.read;
        let status = self.since(&mut read);
        self.read = read;
        status
    }
}

/// Counter of a [`CountStatus`].
#[derive(Debug, Default)]
pub(crate) struct Counter {
    total: u64,
    read: u64,
}

impl Counter {
    /// Counts occurrences.
    pub(crate) fn note(&mut self, count: u64) {
        self.total = self.total.saturating_add(count);
    }

    /// Returns the status with the change since `read`, and updates `read`.
    pub(crate) fn since(&self, read: &mut u64) -> CountStatus {
        let total_count_change = self.total - std::mem::replace(read, self.total);
        CountStatus { total_count: self.total, total_count_change }
    }

    /// Returns the status for the application, and resets the change.
    pub(crate) fn read(&mut self) -> CountStatus {
        let mut read = self.read;
        let status = self.since(&mut read);
        self.read = read;
        status
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
        // Saturating: a peer can announce an incompatible endpoint without end.
        self.total_count = self.total_count.saturating_add(1);
        self.total_count_change = self.total_count_change.saturating_add(1);
        self.last_policy_id = policies.first().copied().or(self.last_policy_id);
        for &policy in policies {
            // A scan: DDS has fewer policies than a hash table has buckets.
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
        // The totals stay. Only the changes count from this call on (DDS 1.4, 2.2.4.1).
        let status = self.clone();
        self.total_count_change = 0;
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_count_since_the_last_read() {
        let mut counter = MatchCounter::default();
        counter.matched(InstanceHandle::NIL);
        counter.matched(InstanceHandle::NIL);
        counter.unmatched(InstanceHandle::NIL);
        let status = counter.read();
        assert_eq!((status.total_count, status.total_count_change), (2, 2));
        assert_eq!((status.current_count, status.current_count_change), (1, 1));
        counter.unmatched(InstanceHandle::NIL);
        let status = counter.read();
        assert_eq!((status.total_count, status.total_count_change), (2, 0));
        assert_eq!((status.current_count, status.current_count_change), (0, -1));
    }

    #[test]
    fn last_peer_is_that_of_the_latest_change() {
        let [one, other] = [1, 2].map(|byte| InstanceHandle::from_key_hash([byte; 16]));
        let mut counter = MatchCounter::default();
        assert!(counter.read().last_peer_handle.is_nil());
        counter.matched(one);
        counter.matched(other);
        assert_eq!(counter.read().last_peer_handle, other);
        counter.unmatched(one);
        assert_eq!(counter.read().last_peer_handle, one);
    }

    /// Each reader of a status has its own mark. The second of two readings reports no change.
    #[test]
    fn each_status_has_its_change_since_the_last_read() {
        let mut silent = Counter::default();
        silent.note(2);
        let mut read = 1;
        assert_eq!([(); 2].map(|()| silent.since(&mut read).total_count_change), [1, 0]);
        silent.note(1);
        let CountStatus { total_count, total_count_change } = silent.since(&mut read);
        assert_eq!((total_count, total_count_change), (3, 1));

        let mut differing = Counter::default();
        differing.note(2);
        let mut read = 0;
        assert_eq!([(); 2].map(|()| differing.since(&mut read).total_count_change), [2, 0]);
        assert_eq!([(); 2].map(|()| differing.read().total_count_change), [2, 0]);

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
    fn each_incompatible_policy_is_counted() {
        let mut status = IncompatibleQosStatus::default();
        status.note(&[PolicyId::Reliability, PolicyId::Durability]);
        status.note(&[PolicyId::Reliability]);
        assert_eq!(status.policies, [(PolicyId::Reliability, 2), (PolicyId::Durability, 1)]);
        assert_eq!(status.read().total_count_change, 2);
        assert_eq!(status.read().total_count_change, 0);
    }
}
