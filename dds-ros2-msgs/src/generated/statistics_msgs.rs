// Written by `tests/messages/committed.rs` from the interface files of `statistics_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `statistics_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// A generic metrics message providing statistics for measurements from different sources. For example,
    /// measure a system's CPU % for a given window yields the following data points over a window of time:
    ///
    /// - average cpu %
    /// - std deviation
    /// - min
    /// - max
    /// - sample count
    ///
    /// These are all represented as different 'StatisticDataPoint's.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "statistics_msgs::msg::dds_::MetricsMessage_")]
    pub struct MetricsMessage {
        /// Name metric measurement source, e.g., node, topic, or process name
        pub measurement_source_name: ::std::string::String,
        /// Name of the metric being measured, e.g. cpu_percentage, free_memory_mb, message_age, etc.
        pub metrics_source: ::std::string::String,
        /// Unit of measure of the metric, e.g. percent, mb, seconds, etc.
        pub unit: ::std::string::String,
        /// Measurement window start time
        pub window_start: crate::builtin_interfaces::msg::Time,
        /// Measurement window end time
        pub window_stop: crate::builtin_interfaces::msg::Time,
        /// A list of statistics data point, defined in StatisticDataPoint.msg
        pub statistics: ::std::vec::Vec<StatisticDataPoint>,
    }

    impl crate::RosMessage for MetricsMessage {
        const ROS_NAME: &'static str = "statistics_msgs/msg/MetricsMessage";
        const TYPE_HASH: &'static str = "RIHS01_36a67fb499fc2a11b8b9ff9ac735ed76e8d5a1f7775d6d5b97b625188ec68e20";
    }

    /// This holds the structure of a single data point of a StatisticDataType.
    ///
    /// This message is used in MetricsStatisticsMessage, defined in MetricsStatisticsMessage.msg.
    ///
    /// Examples of the value of data point are
    /// - average size of messages received
    /// - standard deviation of the period of messages published
    /// - maximum age of messages published
    ///
    /// A value of nan represents no data is available.
    /// One example is that standard deviation is only available when there are two or more data points but there is only one,
    /// and in this case the value would be nan.
    /// +inf and -inf are not allowed.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "statistics_msgs::msg::dds_::StatisticDataPoint_"
    )]
    pub struct StatisticDataPoint {
        /// The statistic type of this data point, defined in StatisticDataType.msg
        /// Default value should be StatisticDataType.STATISTICS_DATA_TYPE_UNINITIALIZED (0).
        pub data_type: u8,
        /// The value of the data point
        pub data: f64,
    }

    impl crate::RosMessage for StatisticDataPoint {
        const ROS_NAME: &'static str = "statistics_msgs/msg/StatisticDataPoint";
        const TYPE_HASH: &'static str = "RIHS01_b7e61a407346ea912effb6954023d2d2c9adf8f7bc10f6cae576d350c445f6a5";
    }

    /// This file contains the commonly used constants for the statistics data type.
    ///
    /// The value 0 is reserved for unitialized statistic message data type.
    /// Range of values: \[0, 255\].
    /// Unallowed values: any value that is not specified in this file.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "statistics_msgs::msg::dds_::StatisticDataType_"
    )]
    pub struct StatisticDataType {
        pub structure_needs_at_least_one_member: u8,
    }

    impl StatisticDataType {
        /// Constant for uninitialized
        pub const STATISTICS_DATA_TYPE_UNINITIALIZED: u8 = 0;

        /// Allowed values
        pub const STATISTICS_DATA_TYPE_AVERAGE: u8 = 1;
        pub const STATISTICS_DATA_TYPE_MINIMUM: u8 = 2;
        pub const STATISTICS_DATA_TYPE_MAXIMUM: u8 = 3;
        pub const STATISTICS_DATA_TYPE_STDDEV: u8 = 4;
        pub const STATISTICS_DATA_TYPE_SAMPLE_COUNT: u8 = 5;
    }

    impl crate::RosMessage for StatisticDataType {
        const ROS_NAME: &'static str = "statistics_msgs/msg/StatisticDataType";
        const TYPE_HASH: &'static str = "RIHS01_840d83bd5dc660e0c6e996f9e1ab80bec3c5a91976360a40d6cc579a37a8c959";
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::MetricsMessage>(),
    crate::RosTypeEntry::of::<msg::StatisticDataPoint>(),
    crate::RosTypeEntry::of::<msg::StatisticDataType>(),
];
