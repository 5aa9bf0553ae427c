//! GAP (RTPS 2.5, 8.3.8.4 and 9.4.5.6).

use crate::types::EntityId;
use crate::types::SequenceNumber;
use crate::wire::SequenceNumberSet;

/// Numbers that are no longer relevant for the reader (RTPS 2.5, 8.3.8.4): those from `gap_start` to just below the base
/// of `gap_list`, and the members of `gap_list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The reader it is for.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// The first number of the run.
    pub gap_start: SequenceNumber,
    /// Where the run ends, and single numbers after it.
    pub gap_list: SequenceNumberSet,
}
