//! Datagrams of the kinds that no participant sends while nothing is lost.

use dds_rtps::types::{EntityId, GuidPrefix, SequenceNumber};
use dds_rtps::types::{Locator, ProtocolVersion, VendorId};
use dds_rtps::wire::{
    AckNack, FragmentNumberSet, Gap, HeartbeatFrag, InfoSource, MessageBuilder, NackFrag, SequenceNumberSet,
};

/// Datagrams for each pair of a writer id and a reader id, in the name of `source`.
pub(crate) fn datagrams(source: [u8; 12], target: [u8; 12], ids: &[[u8; 4]]) -> Vec<Vec<u8>> {
    let pairs = ids.chunks_exact(2).map(|pair| (EntityId(pair[0]), EntityId(pair[1])));
    pairs.flat_map(|(writer, reader)| of_pair(GuidPrefix(source), GuidPrefix(target), writer, reader)).collect()
}

fn of_pair(source: GuidPrefix, target: GuidPrefix, writer_id: EntityId, reader_id: EntityId) -> Vec<Vec<u8>> {
    let message = |build: &dyn Fn(&mut MessageBuilder<'_>)| {
        let mut bytes = Vec::new();
        let mut message = MessageBuilder::new(&mut bytes);
        message.header(source);
        message.info_dst(target);
        build(&mut message);
        bytes
    };
    let first = SequenceNumber::FIRST;
    let mut numbers = SequenceNumberSet::empty(first);
    let mut fragments = FragmentNumberSet::empty(1);
    for number in 1..4 {
        let _ = (numbers.insert(SequenceNumber(number)), fragments.insert(number as u32));
    }
    let gap = Gap {
        reader_id,
        writer_id,
        gap_start: first,
        gap_list: numbers.clone(),
        group_info: None,
        filtered_count: None,
    };
    let asked = AckNack { reader_id, writer_id, reader_sn_state: numbers, count: 1, is_final: false };
    let asked_fragments =
        NackFrag { reader_id, writer_id, writer_sn: first, fragment_number_state: fragments, count: 1 };
    let heartbeat = HeartbeatFrag { reader_id, writer_id, writer_sn: first, last_fragment_num: 3, count: 1 };
    let here = Locator::udp_v4([10, 77, 0, 3].into(), 7411);
    let origin = InfoSource { version: ProtocolVersion::OURS, vendor: VendorId::OURS, prefix: source };
    vec![
        message(&|message| message.gap(&gap)),
        message(&|message| message.ack_nack(&asked)),
        message(&|message| message.nack_frag(&asked_fragments)),
        message(&|message| message.heartbeat_frag(&heartbeat)),
        message(&|message| {
            message.info_src(&origin);
            message.info_reply(&[here], &[here]);
            message.ack_nack(&asked);
        }),
    ]
}
