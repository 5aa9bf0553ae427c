//! Layout of the datagrams that a reader sends to a writer: ACKNACK and NACK_FRAG.

use crate::output::Datagram;
use crate::reader::config::WriterProxyConfig;
use crate::types::{Guid, Locator, SequenceNumber};
use crate::wire::{AckNack, FragmentNumberSet, MessageBuilder, NackFrag, SequenceNumberSet};

/// Writes answers of one reader to one writer.
pub(super) struct AnswerLayout<'a> {
    pub(super) reader: Guid,
    pub(super) writer: &'a WriterProxyConfig,
    /// Destination of the last HEARTBEAT's INFO_REPLY, which replaces the announced locators.
    pub(super) reply: Option<Locator>,
}

impl AnswerLayout<'_> {
    /// Begins a datagram with header, INFO_DST and destinations.
    pub(super) fn begin(&self, datagram: &mut Datagram) {
        datagram.clear();
        let mut message = MessageBuilder::new(datagram.buffer());
        message.header(self.reader.prefix);
        message.info_dst(self.writer.guid.prefix);
        let WriterProxyConfig { unicast, multicast, .. } = self.writer;
        let locators = match &self.reply {
            Some(reply) => std::slice::from_ref(reply),
            // An answer concerns one writer, so multicast is only for a writer without unicast.
            None if unicast.is_empty() => multicast,
            None => unicast,
        };
        for &locator in locators {
            datagram.add_destination(locator);
        }
    }

    pub(super) fn ack_nack(
        &self,
        datagram: &mut Datagram,
        reader_sn_state: SequenceNumberSet,
        count: i32,
        is_final: bool,
    ) {
        let ack_nack = AckNack {
            reader_id: self.reader.entity_id,
            writer_id: self.writer.guid.entity_id,
            reader_sn_state,
            count,
            is_final,
        };
        MessageBuilder::new(datagram.buffer()).ack_nack(&ack_nack);
    }

    pub(super) fn nack_frag(
        &self,
        datagram: &mut Datagram,
        writer_sn: SequenceNumber,
        fragment_number_state: FragmentNumberSet,
        count: i32,
    ) {
        let nack_frag = NackFrag {
            reader_id: self.reader.entity_id,
            writer_id: self.writer.guid.entity_id,
            writer_sn,
            fragment_number_state,
            count,
        };
        MessageBuilder::new(datagram.buffer()).nack_frag(&nack_frag);
    }
}
