//! Topic names, QoS and limits of both sides of a service.

use crate::qos::{DataReaderQos, DataWriterQos, Reliability, ResourceLimits};
use dds_rtps::types::Duration;
use dds_rtps::writer::SlowReader;

/// Samples that a writer keeps for slow readers, and that a reader keeps for the application.
const SAMPLES_MAX: u32 = 1024;

/// How long a full writer waits for a peer that does not acknowledge.
///
/// Otherwise one stopped peer would end the service for all others.
pub(super) const SLOW_PEER: SlowReader = SlowReader::Demote { after: Duration::from_secs(1) };

/// How long a reply may wait for room. Longer than [`SLOW_PEER`], so that a stopped requester costs no reply of others.
const MAX_BLOCKING: Duration = Duration::from_secs(3);

/// The part of the settings that requesters and repliers share.
#[derive(Debug, Clone)]
pub(super) struct Service {
    pub(super) request_topic: String,
    pub(super) reply_topic: String,
    pub(super) writer_qos: DataWriterQos,
    pub(super) reader_qos: DataReaderQos,
}

impl Service {
    /// Names the topics by the basic service mapping. Both topics are reliable and keep all samples.
    pub(super) fn new(name: &str) -> Self {
        // KEEP_ALL without a limit would let a silent peer use up the memory.
        let limits = ResourceLimits::NONE.max_samples(SAMPLES_MAX);
        Self {
            request_topic: format!("{name}_Request"),
            reply_topic: format!("{name}_Reply"),
            writer_qos: DataWriterQos::default()
                .reliability(Reliability::reliable(MAX_BLOCKING))
                .keep_all()
                .resource_limits(limits),
            reader_qos: DataReaderQos::default().reliable().keep_all().resource_limits(limits),
        }
    }
}
