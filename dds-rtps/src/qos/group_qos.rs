//! QoS of a Publisher and a Subscriber, for all their endpoints.

use super::setters::setters;
use super::{EntityFactory, Presentation};

macro_rules! group_qos {
    ($(#[$doc:meta])* $qos:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
        #[non_exhaustive]
        pub struct $qos {
            /// Coherence and order of changes. Default: each instance on its own.
            pub presentation: Presentation,
            /// Partitions of all its endpoints: names, or patterns with `*`, `?` and `[…]`. Default: none, which
            /// means the partition named by the empty string. At most
            /// [`PARTITION_BYTES_MAX`](super::PARTITION_BYTES_MAX) bytes in all.
            pub partition: Vec<String>,
            /// GROUP_DATA, announced with each of its endpoints. At most [`USER_DATA_MAX`](super::USER_DATA_MAX)
            /// bytes.
            pub group_data: Vec<u8>,
            /// Whether its endpoints are enabled when they are created. Default: true.
            pub entity_factory: EntityFactory,
        }

        setters!($qos {
            presentation: Presentation,
            group_data: Vec<u8>,
            entity_factory: EntityFactory,
        });

        impl $qos {
            /// Sets the partitions.
            #[must_use]
            pub fn partition(mut self, partition: impl IntoIterator<Item: Into<String>>) -> Self {
                self.partition = partition.into_iter().map(Into::into).collect();
                self
            }
        }
    };
}

group_qos! {
    /// The policies of a Publisher (DDS 1.4, 2.2.3).
    ///
    /// ```
    /// # mod dds_core { pub use dds_rtps::qos; }
    /// use dds_core::qos::{AccessScope, Presentation, PublisherQos, SubscriberQos};
    /// let together = Presentation::new(AccessScope::Group).coherent_access(true);
    /// let publisher = PublisherQos::default().partition(["robot/7"]).presentation(together);
    /// // These match: one side may use patterns.
    /// let subscriber = SubscriberQos::default().partition(["robot/*"]).presentation(together);
    /// # assert!(dds_rtps::qos::partitions_match(&publisher.partition, &subscriber.partition));
    /// ```
    PublisherQos
}
group_qos! {
    /// The policies of a Subscriber (DDS 1.4, 2.2.3).
    ///
    /// ```
    /// # mod dds_core { pub use dds_rtps::qos; }
    /// use dds_core::qos::{Presentation, SubscriberQos};
    /// let qos = SubscriberQos::default().partition(["left", "right"]);
    /// assert_eq!(qos.presentation, Presentation::default());
    /// ```
    SubscriberQos
}
