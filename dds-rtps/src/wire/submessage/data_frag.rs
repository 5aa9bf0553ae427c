//! DATA_FRAG (RTPS 2.5, 8.3.8.3 and 9.4.5.5).

use crate::types::{EntityId, SequenceNumber};
use crate::wire::InlineQos;

/// Some consecutive fragments of a change (RTPS 2.5, 8.3.8.3).
///
/// `parse` has checked: the first number is at least 1, there is at least one fragment, the fragment size is not zero, the
/// fragments lie within the sample's size, and the payload holds what they promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFrag<'a> {
    /// The reader it is for; [`EntityId::UNKNOWN`] for every matched one.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// The change's number.
    pub writer_sn: SequenceNumber,
    /// The number of the first fragment, from 1.
    pub fragment_starting_num: u32,
    /// How many fragments follow each other here.
    pub fragments_in_submessage: u16,
    /// Bytes of each fragment but the sample's last.
    pub fragment_size: u16,
    /// Bytes of the whole serialized payload, its encapsulation header included.
    pub sample_size: u32,
    /// The inline QoS, if there is one. It may stand on the first fragment only.
    pub inline_qos: Option<InlineQos<'a>>,
    /// The fragments' bytes.
    pub payload: &'a [u8],
    /// Flag K: the sample is a serialized key.
    pub is_key: bool,
    /// Flag N.
    pub non_standard_payload: bool,
}
