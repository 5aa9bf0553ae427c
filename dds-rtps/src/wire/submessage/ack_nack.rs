//! ACKNACK (RTPS 2.5, 8.3.8.1 and 9.4.5.3).

use crate::types::EntityId;
use crate::wire::SequenceNumberSet;

/// A reader says what it has and what it misses (RTPS 2.5, 8.3.8.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AckNack {
    /// The reader that speaks.
    pub reader_id: EntityId,
    /// The writer it speaks to.
    pub writer_id: EntityId,
    /// Everything below the base has been received; the members are missing.
    pub reader_sn_state: SequenceNumberSet,
    /// Grows with every new ACKNACK.
    pub count: i32,
    /// No answer is needed.
    pub is_final: bool,
}
