//! The submessages of a message, as far as their protection needs them.

use dds_rtps::types::{EntityId, GuidPrefix};
use dds_rtps::wire::submessage::id;

/// One submessage of a message.
pub(super) struct RawSubmessage<'a> {
    pub(super) id: u8,
    pub(super) bytes: &'a [u8],
}

/// The submessages of a message, without a look at their content. It ends at a faulty one.
pub(super) struct RawSubmessages<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for RawSubmessages<'a> {
    type Item = RawSubmessage<'a>;

    fn next(&mut self) -> Option<RawSubmessage<'a>> {
        let [id, flags, l0, l1] = *self.0.first_chunk::<4>()?;
        let octets = if flags & 1 != 0 { u16::from_le_bytes([l0, l1]) } else { u16::from_be_bytes([l0, l1]) };
        // 0 means "to the end of the message" (RTPS 2.5, 9.4.5.1.3).
        let reaches_end = octets == 0 && !matches!(id, id::PAD | id::INFO_TS);
        let len = if reaches_end { self.0.len() } else { 4 + usize::from(octets) };
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(RawSubmessage { id, bytes })
    }
}

/// The endpoints of a submessage: the one that sends it, and the addressed one.
pub(super) struct Endpoints {
    pub(super) sender: EntityId,
    pub(super) receiver: EntityId,
}

impl RawSubmessage<'_> {
    /// `None` for submessages that no endpoint sends.
    pub(super) fn endpoints(&self) -> Option<Endpoints> {
        let id_at = |at: usize| self.bytes.get(at..)?.first_chunk::<4>().map(|id| EntityId(*id));
        match self.id {
            id::DATA | id::DATA_FRAG => Some(Endpoints { receiver: id_at(8)?, sender: id_at(12)? }),
            id::HEARTBEAT | id::HEARTBEAT_FRAG | id::GAP => Some(Endpoints { receiver: id_at(4)?, sender: id_at(8)? }),
            id::ACKNACK | id::NACK_FRAG => Some(Endpoints { sender: id_at(4)?, receiver: id_at(8)? }),
            _ => None,
        }
    }

    /// Whether an endpoint sends it.
    pub(super) fn is_of_endpoint(&self) -> bool {
        matches!(
            self.id,
            id::DATA | id::DATA_FRAG | id::HEARTBEAT | id::HEARTBEAT_FRAG | id::GAP | id::ACKNACK | id::NACK_FRAG
        )
    }

    /// The participant that an INFO_DST or INFO_SRC names, which is at the end of both.
    pub(super) fn prefix(&self) -> Option<GuidPrefix> {
        self.bytes.last_chunk::<12>().map(|prefix| GuidPrefix(*prefix))
    }
}
