//! Calls for the crate `dds-ros2`: writers of one topic whose samples are for different participants.
//!
//! In: a writer, and the participants that it is for. Out: nothing. Owned: nothing.
//!
//! ROS 2 Humble and later releases expect different messages on one topic. The module is public only for that crate. It
//! may change in every version.

use crate::participant::DomainParticipant;
use crate::publication::DataWriter;

pub use crate::publication::WriterPeers;
pub use dds_rtps::types::GuidPrefix;

/// Sets the participants whose readers a writer of `participant` sends to. Readers of `participant` itself stay.
///
/// The matches of the writer with all others end; they still see the writer. The newly admitted ones receive its
/// history as late readers do.
pub fn set<T>(participant: &DomainParticipant, writer: &DataWriter<T>, audience: WriterPeers) {
    participant.handle().set_audience(writer.guid().entity_id, audience);
}
