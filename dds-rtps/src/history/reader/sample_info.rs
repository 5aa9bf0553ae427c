//! The metadata of a sample (DDS 1.4, 2.2.2.5.5).

use crate::types::{Guid, InstanceHandle, SequenceNumber, Time};
use crate::wire::SampleIdentity;

/// Whether the application has read a sample before (DDS 1.4, 2.2.2.5.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SampleState {
    /// The application has read the sample before.
    Read,
    /// The application has not read the sample yet.
    NotRead,
}

/// Whether the instance is new to the reader (DDS 1.4, 2.2.2.5.1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViewState {
    /// The application sees the instance, or a new generation of it, for the first time.
    New,
    /// The application has seen the instance before.
    NotNew,
}

/// Whether the instance has writers (DDS 1.4, 2.2.2.5.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstanceState {
    /// At least one alive writer writes the instance.
    Alive,
    /// A writer disposed of the instance.
    NotAliveDisposed,
    /// No writer of the instance is left.
    NotAliveNoWriters,
}

/// The metadata of a sample (DDS 1.4, 2.2.2.5.5).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampleInfo {
    /// Whether the application has read the sample before.
    pub sample_state: SampleState,
    /// Whether the instance is new to the application.
    pub view_state: ViewState,
    /// The state of the instance when the sample was handed out.
    pub instance_state: InstanceState,
    /// How often the instance was revived after a dispose before the sample arrived.
    pub disposed_generation_count: u32,
    /// How often the instance was revived after the loss of all writers before the sample arrived.
    pub no_writers_generation_count: u32,
    /// Samples of the same instance that follow in this batch.
    pub sample_rank: u32,
    /// Generations between this sample and the last of its instance in this batch.
    pub generation_rank: u32,
    /// Generations between this sample and the newest one that the reader has received of its instance.
    pub absolute_generation_rank: u32,
    /// When the sample was written, by the writer's clock.
    pub source_timestamp: Time,
    /// When the sample arrived, by this host's clock.
    pub reception_timestamp: Time,
    /// The instance; nil for keyless topics.
    pub instance_handle: InstanceHandle,
    /// The writer.
    pub publication_handle: InstanceHandle,
    /// The sequence number of the sample within its writer.
    pub sequence_number: SequenceNumber,
    /// The request that this sample answers, if it is a reply.
    pub related_sample: Option<SampleIdentity>,
    /// Whether the sample has data. Otherwise it only reports a new instance state.
    pub valid_data: bool,
}

impl SampleInfo {
    /// The identity of the sample in the domain. A reply contains it.
    #[must_use]
    pub fn sample_identity(&self) -> SampleIdentity {
        let writer = match self.publication_handle.as_bytes() {
            Some(bytes) => Guid::from_bytes(*bytes),
            None => Guid::UNKNOWN,
        };
        SampleIdentity { writer, sequence_number: self.sequence_number }
    }
}
