//! The type of the topic with latencies, which participants publish on request.

use crate as dds_core;
use dds_core::DdsType;
use dds_rtps::types::{Duration, Guid, LatencyHistogram};

/// The latencies of one endpoint: a sample of the topic [`LatencyReport::TOPIC`].
///
/// A participant with [`publish_latencies`](crate::DomainParticipantBuilder::publish_latencies) writes it, for each
/// endpoint and each [`LatencyKind`], once a second if the endpoint has measured a time since. The writer is reliable
/// and transient-local, so readers of any QoS receive it, and late readers receive the last values. An instance is
/// disposed when its endpoint closes. The type is FINAL and has only common types, so other vendors can read it:
///
/// ```idl
/// module dds {
///   enum LatencyKind { WRITE_TO_RECEPTION, RECEPTION_TO_TAKE, ACKNOWLEDGMENT };
///   @final struct LatencyBucket { uint64 upper_ns; uint64 count; };
///   @final struct LatencyReport {
///     @key octet endpoint[16];
///     @key LatencyKind kind;
///     string topic_name;
///     boolean crosses_hosts;
///     uint64 from_future;
///     uint64 count;
///     uint64 sum_ns; uint64 min_ns; uint64 max_ns; uint64 p50_ns; uint64 p99_ns;
///     sequence<LatencyBucket> buckets;
///   };
/// };
/// ```
///
/// All values count from the creation of the endpoint. The difference of the buckets of two samples has the times
/// between them.
#[derive(DdsType, Debug, Clone, PartialEq, Eq)]
#[dds(name = "dds::LatencyReport")]
#[non_exhaustive]
pub struct LatencyReport {
    /// GUID of the endpoint.
    #[dds(key, octet)]
    pub endpoint: [u8; 16],
    /// The two events of a sample that begin and end each time.
    #[dds(key)]
    pub kind: LatencyKind,
    /// Topic of the endpoint.
    pub topic_name: String,
    /// Whether the reader has matched a writer on another host.
    ///
    /// Then the times contain the difference of the hosts' clocks.
    /// Only `WRITE_TO_RECEPTION` compares two clocks, so it is `false` for the other kinds.
    pub crosses_hosts: bool,
    /// Samples from a clock that is ahead. They are not part of the other values.
    pub from_future: u64,
    /// Number of measured times.
    pub count: u64,
    /// Sum of all times, too short by at most 1 ns for each. Divided by `count`, it is the mean.
    pub sum_ns: u64,
    /// The shortest time.
    pub min_ns: u64,
    /// The longest time.
    pub max_ns: u64,
    /// The median, at most 1/16 too long.
    pub p50_ns: u64,
    /// The 99th percentile, at most 1/16 too long.
    pub p99_ns: u64,
    /// The buckets that have a time, shorter times first. A bucket is at most 1/16 wider than its lower end.
    pub buckets: Vec<LatencyBucket>,
}

/// The two events of a sample between which a [`LatencyReport`] measures.
#[derive(DdsType, Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[dds(name = "dds::LatencyKind")]
pub enum LatencyKind {
    /// From the source timestamp of a sample to its reception
    /// ([`write_to_reception`](crate::stats::ReaderLatencies::write_to_reception)).
    #[default]
    #[dds(name = "WRITE_TO_RECEPTION")]
    WriteToReception,
    /// From the reception of a sample to its first read or take
    /// ([`reception_to_take`](crate::stats::ReaderLatencies::reception_to_take)).
    #[dds(name = "RECEPTION_TO_TAKE")]
    ReceptionToTake,
    /// From the source timestamp of a sample to the acknowledgment of the last remote reader
    /// ([`acknowledgment_latency`](crate::DataWriter::acknowledgment_latency)).
    #[dds(name = "ACKNOWLEDGMENT")]
    Acknowledgment,
}

/// Times of similar length in a [`LatencyReport`].
#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq)]
#[dds(name = "dds::LatencyBucket")]
pub struct LatencyBucket {
    /// The longest time of the bucket.
    pub upper_ns: u64,
    /// Number of times in the bucket.
    pub count: u64,
}

impl LatencyReport {
    /// Name of the topic.
    pub const TOPIC: &'static str = "dds/latencies";

    pub(crate) fn new(endpoint: Guid, kind: LatencyKind, topic_name: &str, times: &LatencyHistogram) -> Self {
        let buckets = times.buckets().map(|(upper, count)| LatencyBucket { upper_ns: nanos(Some(upper)), count });
        let mean = u128::from(nanos(times.mean()));
        Self {
            endpoint: endpoint.to_bytes(),
            kind,
            topic_name: topic_name.to_owned(),
            crosses_hosts: false,
            from_future: 0,
            count: times.count(),
            sum_ns: u64::try_from(mean * u128::from(times.count())).unwrap_or(u64::MAX),
            min_ns: nanos(times.min()),
            max_ns: nanos(times.max()),
            p50_ns: nanos(times.percentile(50.0)),
            p99_ns: nanos(times.percentile(99.0)),
            buckets: buckets.collect(),
        }
    }
}

fn nanos(time: Option<Duration>) -> u64 {
    time.map_or(0, |time| time.as_nanos().unsigned_abs())
}
