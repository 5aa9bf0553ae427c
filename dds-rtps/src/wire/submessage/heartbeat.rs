//! HEARTBEAT (RTPS 2.5, 8.3.8.6 and 9.4.5.7).

use crate::types::{EntityId, SequenceNumber};

/// What a writer has (RTPS 2.5, 8.3.8.6). `parse` has checked: first is at least 1, last at least first - 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    /// The reader it is for; [`EntityId::UNKNOWN`] for every matched one.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// The first number that the writer still has.
    pub first_sn: SequenceNumber,
    /// The last number that it has given out; first - 1: it has nothing.
    pub last_sn: SequenceNumber,
    /// Grows with every new HEARTBEAT.
    pub count: i32,
    /// No answer is needed.
    pub is_final: bool,
    /// The writer asserts its liveliness by this.
    pub liveliness: bool,
}
