//! What a reader says about a sample beside its data (DDS 1.4, 2.2.2.5.5).

use crate::types::{Guid, InstanceHandle, SequenceNumber, Time};
use crate::wire::SampleIdentity;

/// Whether the application has read a sample before (DDS 1.4, 2.2.2.5.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SampleState {
    /// Read before.
    Read,
    /// Not read yet.
    NotRead,
}

/// Whether the instance is new to the reader (DDS 1.4, 2.2.2.5.1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViewState {
    /// First samples of the instance, or of a new life of it.
    New,
    /// Seen before.
    NotNew,
}

/// Whether anybody writes the instance (DDS 1.4, 2.2.2.5.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstanceState {
    /// At least one writer is alive.
    Alive,
    /// A writer disposed of it.
    NotAliveDisposed,
    /// No writer is left.
    NotAliveNoWriters,
}

/// All that the reader knows about one sample (DDS 1.4, 2.2.2.5.5).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampleInfo {
    /// Read before or not.
    pub sample_state: SampleState,
    /// The instance is new or not.
    pub view_state: ViewState,
    /// The instance's state when the sample was handed out.
    pub instance_state: InstanceState,
    /// How often the instance had come back after a dispose when the sample arrived.
    pub disposed_generation_count: u32,
    /// How often it had come back after losing all writers when the sample arrived.
    pub no_writers_generation_count: u32,
    /// Samples of the same instance that follow in this batch.
    pub sample_rank: u32,
    /// Generations between this sample and the last of its instance in this batch.
    pub generation_rank: u32,
    /// Generations between this sample and the newest one that the reader has received of its instance.
    pub absolute_generation_rank: u32,
    /// When it was written, by the writer's clock.
    pub source_timestamp: Time,
    /// When it arrived, by this machine's clock.
    pub reception_timestamp: Time,
    /// The instance; nil for keyless topics.
    pub instance_handle: InstanceHandle,
    /// The writer.
    pub publication_handle: InstanceHandle,
    /// The number that the writer gave it.
    pub sequence_number: SequenceNumber,
    /// The sample that this one answers, if its writer said so: a reply names its request.
    pub related_sample: Option<SampleIdentity>,
    /// Whether there is data, rather than only a change of the instance's state.
    pub valid_data: bool,
}

impl SampleInfo {
    /// The sample's name in the whole domain, which a reply to it gives.
    #[must_use]
    pub fn sample_identity(&self) -> SampleIdentity {
        let writer = self.publication_handle.as_bytes().map_or(Guid::UNKNOWN, |bytes| Guid::from_bytes(*bytes));
        SampleIdentity { writer, sequence_number: self.sequence_number }
    }
}
