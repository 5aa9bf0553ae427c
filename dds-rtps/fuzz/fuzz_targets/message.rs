//! Any bytes as a datagram: each accessor of a parsed submessage works.

#![no_main]

use dds_rtps::types::{Guid, VendorId};
use dds_rtps::wire::{InlineQos, Message, Receiver, Submessage};
use libfuzzer_sys::fuzz_target;
use std::hint::black_box;

fuzz_target!(|bytes: &[u8]| {
    let Ok(message) = Message::parse(bytes) else { return };
    let mut receiver = Receiver::new(&message.header);
    let mut submessages = message.submessages();
    loop {
        let offset = submessages.offset();
        let Some(submessage) = submessages.next() else { break };
        assert_eq!(message.submessages_from(offset).next(), Some(submessage.clone()));
        assert!(submessages.offset() > offset || submessage.is_err());
        if let Ok(submessage) = submessage {
            receiver.apply(&submessage);
            access_submessage(&submessage);
        }
    }
    black_box(receiver);
});

fn access_submessage(submessage: &Submessage<'_>) {
    match submessage {
        Submessage::AckNack(message) => assert!(message.reader_sn_state.iter().count() <= 256),
        Submessage::Gap(message) => {
            assert!(message.gap_list.iter().all(|number| message.gap_list.contains(number)));
        }
        Submessage::NackFrag(message) => assert!(message.fragment_number_state.iter().all(|number| number > 0)),
        Submessage::Data(data) => {
            black_box(data.payload.bytes());
            if let Some(inline_qos) = &data.inline_qos {
                access_inline_qos(inline_qos);
            }
        }
        Submessage::DataFrag(fragment) => {
            assert_eq!(fragment.header().payload_range().len(), fragment.payload.len());
            if let Some(inline_qos) = &fragment.inline_qos {
                access_inline_qos(inline_qos);
            }
        }
        Submessage::InfoReply(reply) => {
            black_box(reply.unicast.iter().chain(reply.multicast.iter()).filter(|at| at.is_multicast()).count());
        }
        Submessage::HeaderExtension(extension) => extension.parameters.iter().for_each(access_inline_qos),
        other => {
            black_box(other);
        }
    }
}

fn access_inline_qos(list: &InlineQos<'_>) {
    black_box((list.status_info(), list.key_hash(), list.lifespan(), list.coherent_set()));
    for vendor in [VendorId::ZENZEN, VendorId::EPROSIMA] {
        black_box((list.group_coherent_set(vendor), list.group_sequence_number(vendor)));
        black_box(list.related_sample_identity(vendor));
    }
    black_box((list.original_writer(), list.original_writer_qos().map(|qos| qos.parameters().count())));
    black_box((list.is_directed_to(Guid::UNKNOWN), list.unknown_must_understand()));
    black_box(list.content_filter_info().map(|info| info.results().count()));
}
