//! HEARTBEAT_FRAG (RTPS 2.5, 8.3.8.7 and 9.4.5.8).

use crate::types::{EntityId, SequenceNumber};

/// Which fragments of a change the writer has sent so far (RTPS 2.5, 8.3.8.7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatFrag {
    /// The reader it is for; [`EntityId::UNKNOWN`] for every matched one.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// The change.
    pub writer_sn: SequenceNumber,
    /// The last fragment that is there, from 1.
    pub last_fragment_num: u32,
    /// Grows with every new HEARTBEAT_FRAG.
    pub count: i32,
}
