//! NACK_FRAG (RTPS 2.5, 8.3.8.10 and 9.4.5.15).

use crate::types::{EntityId, SequenceNumber};
use crate::wire::FragmentNumberSet;

/// Which fragments of a change a reader misses (RTPS 2.5, 8.3.8.10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NackFrag {
    /// The reader that speaks.
    pub reader_id: EntityId,
    /// The writer it speaks to.
    pub writer_id: EntityId,
    /// The change.
    pub writer_sn: SequenceNumber,
    /// The missing fragments, from 1.
    pub fragment_number_state: FragmentNumberSet,
    /// Grows with every new NACK_FRAG.
    pub count: i32,
}
