//! The QoS profiles of ROS 2 by name (`rmw/include/rmw/qos_profiles.h`).

use dds_core::Duration;
use dds_core::qos::{
    DataReaderQos, DataRepresentation, DataWriterQos, Durability, History, Liveliness, LivelinessKind, Reliability,
};

/// QoS of a topic or a service in terms of ROS 2.
///
/// Start with a profile and change it:
///
/// ```
/// use dds_ros2::QosProfile;
///
/// let latched = QosProfile::DEFAULT.keep_last(1).transient_local();
/// assert!(latched.is_reliable());
/// ```
///
/// Further policies of DDS, such as partitions, are beyond ROS 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct QosProfile {
    pub(crate) history: History,
    pub(crate) is_reliable: bool,
    pub(crate) is_transient_local: bool,
    pub(crate) deadline: Duration,
    pub(crate) lifespan: Duration,
    pub(crate) liveliness: LivelinessKind,
    pub(crate) lease: Duration,
    /// Whether the endpoints on the other side decide. The other members are then those of the default.
    pub(crate) is_best_available: bool,
}

impl QosProfile {
    /// Reliable, volatile, keep last 10: topics.
    pub const DEFAULT: Self = Self {
        history: History::KeepLast { depth: 10 },
        is_reliable: true,
        is_transient_local: false,
        deadline: Duration::INFINITE,
        lifespan: Duration::INFINITE,
        liveliness: LivelinessKind::Automatic,
        lease: Duration::INFINITE,
        is_best_available: false,
    };
    /// Best effort, volatile, keep last 5: sensor data.
    pub const SENSOR_DATA: Self = Self::DEFAULT.best_effort().keep_last(5);
    /// Reliable, volatile, keep last 10: services.
    pub const SERVICES_DEFAULT: Self = Self::DEFAULT;
    /// Reliable, volatile, keep last 1000: the services for parameters.
    pub const PARAMETERS: Self = Self::DEFAULT.keep_last(1000);
    /// Reliable, volatile, keep last 1000: the topic `/parameter_events`.
    pub const PARAMETER_EVENTS: Self = Self::DEFAULT.keep_last(1000);
    /// Reliable, transient local, keep last 1000, lifespan 10 s: the topic `/rosout`.
    pub const ROSOUT: Self = Self::DEFAULT.keep_last(1000).transient_local().lifespan(Duration::from_secs(10));
    /// Reliable, transient local, keep last 1: the status of actions.
    pub const ACTION_STATUS: Self = Self::DEFAULT.keep_last(1).transient_local();
    /// Best effort, volatile, keep last 1: the topic `/clock`.
    pub const CLOCK: Self = Self::SENSOR_DATA.keep_last(1);

    /// Reliable, volatile, keep last 1: the default of the system.
    ///
    /// In ROS 2, each `rmw` has its own. These are the values of `rmw_cyclonedds`.
    pub const SYSTEM_DEFAULT: Self = Self::DEFAULT.keep_last(1);

    /// Keep last 10, and the best QoS that matches all endpoints known at the creation (Iron and later).
    ///
    /// A subscription is reliable if all publishers are, and likewise transient local. A publisher is both. Without
    /// publishers, a subscription matches each later one. Deadline and liveliness follow the endpoints as well.
    ///
    /// The endpoints replace reliability and durability, also if a method has set them. If there are endpoints, they
    /// replace the deadline and the lease as well. [`keep_last`](Self::keep_last), [`keep_all`](Self::keep_all),
    /// [`lifespan`](Self::lifespan) and a manual liveliness always count.
    ///
    /// For topics. Elsewhere, it is the default profile.
    pub const BEST_AVAILABLE: Self = Self { is_best_available: true, ..Self::DEFAULT };

    /// Keeps the last `depth` samples.
    pub const fn keep_last(mut self, depth: u32) -> Self {
        self.history = History::KeepLast { depth };
        self
    }

    /// Keeps all samples. A full reliable publisher blocks for at most 100 ms.
    pub const fn keep_all(mut self) -> Self {
        self.history = History::KeepAll;
        self
    }

    /// Repairs lost samples.
    pub const fn reliable(mut self) -> Self {
        self.is_reliable = true;
        self
    }

    /// Sends each sample once.
    pub const fn best_effort(mut self) -> Self {
        self.is_reliable = false;
        self
    }

    /// Late subscriptions get the kept samples of a publisher.
    pub const fn transient_local(mut self) -> Self {
        self.is_transient_local = true;
        self
    }

    /// Late subscriptions get only new samples.
    pub const fn volatile(mut self) -> Self {
        self.is_transient_local = false;
        self
    }

    /// Sets the longest time between samples. Default: infinite.
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets how long a sample is valid. Default: infinite.
    pub const fn lifespan(mut self, lifespan: Duration) -> Self {
        self.lifespan = lifespan;
        self
    }

    /// The publisher asserts its liveliness itself, at least once in each `lease`.
    pub const fn liveliness_manual_by_topic(mut self, lease: Duration) -> Self {
        self.liveliness = LivelinessKind::ManualByTopic;
        self.lease = lease;
        self
    }

    /// Sets the lease of the automatic liveliness. Default: infinite.
    pub const fn liveliness_automatic(mut self, lease: Duration) -> Self {
        self.liveliness = LivelinessKind::Automatic;
        self.lease = lease;
        self
    }

    /// Returns whether lost samples are repaired.
    #[must_use]
    pub const fn is_reliable(&self) -> bool {
        self.is_reliable
    }

    /// Returns whether late subscriptions get kept samples.
    #[must_use]
    pub const fn is_transient_local(&self) -> bool {
        self.is_transient_local
    }

    /// Returns the history.
    #[must_use]
    pub const fn history(&self) -> History {
        self.history
    }

    /// Returns the best QoS that matches all these publishers (`rmw_dds_common/src/qos.cpp`).
    ///
    /// `rmw` requests the highest level without publishers, which a later publisher hardly offers.
    pub(crate) fn for_publishers(mut self, publishers: &[&DataWriterQos]) -> Self {
        let all = |is_so: fn(&DataWriterQos) -> bool| !publishers.is_empty() && publishers.iter().all(|qos| is_so(qos));
        self.is_reliable = all(|qos| qos.reliability.is_reliable());
        self.is_transient_local = all(|qos| qos.durability != Durability::Volatile);
        if all(|qos| qos.liveliness.kind == LivelinessKind::ManualByTopic) {
            self.liveliness = LivelinessKind::ManualByTopic;
        }
        if let Some(longest) = publishers.iter().map(|qos| qos.deadline).max() {
            self.deadline = longest;
        }
        if let Some(longest) = publishers.iter().map(|qos| qos.liveliness.lease_duration).max() {
            self.lease = longest;
        }
        self
    }

    /// Returns the best QoS that matches all these subscriptions (`rmw_dds_common/src/qos.cpp`).
    pub(crate) fn for_subscriptions(mut self, subscriptions: &[&DataReaderQos]) -> Self {
        (self.is_reliable, self.is_transient_local) = (true, true);
        if subscriptions.iter().any(|qos| qos.liveliness.kind == LivelinessKind::ManualByTopic) {
            self.liveliness = LivelinessKind::ManualByTopic;
        }
        if let Some(shortest) = subscriptions.iter().map(|qos| qos.deadline).min() {
            self.deadline = shortest;
        }
        if let Some(shortest) = subscriptions.iter().map(|qos| qos.liveliness.lease_duration).min() {
            self.lease = shortest;
        }
        self
    }

    fn durability(&self) -> Durability {
        if self.is_transient_local { Durability::TransientLocal } else { Durability::Volatile }
    }

    fn reliability(&self) -> Reliability {
        if self.is_reliable { Reliability::RELIABLE } else { Reliability::BestEffort }
    }

    /// Returns the QoS of a DDS writer. ROS 2 uses XCDR1 alone.
    pub(crate) fn writer(&self, user_data: Vec<u8>) -> DataWriterQos {
        DataWriterQos::default()
            .history(self.history)
            .reliability(self.reliability())
            .durability(self.durability())
            .deadline(self.deadline)
            .lifespan(self.lifespan)
            .liveliness(Liveliness::new(self.liveliness, self.lease))
            .representation(vec![DataRepresentation::Xcdr1])
            .user_data(user_data)
    }

    /// Returns the QoS of the writer of a service. Its `write` may block for 3 s.
    ///
    /// A client or server that stops holds up the writer until it is demoted. The default of 100 ms ends before that.
    pub(crate) fn service_writer(&self, user_data: Vec<u8>) -> DataWriterQos {
        let qos = self.writer(user_data).keep_all();
        if self.is_reliable { qos.reliability(Reliability::reliable(Duration::from_secs(3))) } else { qos }
    }

    /// Returns the QoS of a DDS reader.
    pub(crate) fn reader(&self, user_data: Vec<u8>) -> DataReaderQos {
        DataReaderQos::default()
            .history(self.history)
            .reliability(self.reliability())
            .durability(self.durability())
            .deadline(self.deadline)
            .liveliness(Liveliness::new(self.liveliness, self.lease))
            .representation(vec![DataRepresentation::Xcdr1])
            .user_data(user_data)
    }
}

impl Default for QosProfile {
    /// [`QosProfile::DEFAULT`].
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_have_the_values_of_rmw() {
        let rosout = QosProfile::ROSOUT.writer(Vec::new());
        assert_eq!(rosout.history, History::KeepLast { depth: 1000 });
        assert_eq!(rosout.durability, Durability::TransientLocal);
        assert_eq!(rosout.lifespan, Duration::from_secs(10));
        assert!(rosout.reliability.is_reliable());
        let system = QosProfile::SYSTEM_DEFAULT.reader(Vec::new());
        assert_eq!((system.history, system.durability), (History::KeepLast { depth: 1 }, Durability::Volatile));
        assert!(system.reliability.is_reliable() && system.deadline.is_infinite());
        let sensor = QosProfile::SENSOR_DATA.reader(Vec::new());
        assert_eq!((sensor.history, sensor.durability), (History::KeepLast { depth: 5 }, Durability::Volatile));
        assert!(!sensor.reliability.is_reliable());
        let expected = Reliability::reliable(Duration::from_secs(3));
        assert_eq!(QosProfile::SERVICES_DEFAULT.service_writer(Vec::new()).reliability, expected);
        assert!(!QosProfile::SENSOR_DATA.service_writer(Vec::new()).reliability.is_reliable());
        assert_eq!(sensor.representation, [DataRepresentation::Xcdr1]);
    }
}
