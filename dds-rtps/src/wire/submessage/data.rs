//! DATA (RTPS 2.5, 8.3.8.2 and 9.4.5.4).

use crate::types::{EntityId, SequenceNumber};
use crate::wire::InlineQos;

/// What a DATA carries behind its inline QoS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SerializedPayload<'a> {
    /// Nothing: flags D and K are both clear.
    None,
    /// A sample (flag D), from its encapsulation header on.
    Data(&'a [u8]),
    /// A key (flag K), from its encapsulation header on.
    Key(&'a [u8]),
}

/// A change (RTPS 2.5, 8.3.8.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data<'a> {
    /// The reader it is for; [`EntityId::UNKNOWN`] for every matched one.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// The change's number.
    pub writer_sn: SequenceNumber,
    /// The inline QoS, if there is one.
    pub inline_qos: Option<InlineQos<'a>>,
    /// The payload.
    pub payload: SerializedPayload<'a>,
    /// Flag N: the payload is not formed by the standard's rules (a vendor's or a security plug-in's).
    pub non_standard_payload: bool,
}
