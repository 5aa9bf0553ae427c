//! Any built message parses to the same content, and any bytes cause at worst an error.

use dds_rtps::types::{EntityId, GuidPrefix, ProtocolVersion, SequenceNumber, Time, VendorId};
use dds_rtps::wire::{
    AckNack, Data, DataFrag, FragmentNumberSet, Gap, GapGroupInfo, Header, Heartbeat, HeartbeatFrag,
    HeartbeatGroupInfo, InfoSource, Message, MessageBuilder, NackFrag, SequenceNumberSet, SerializedPayload,
    Submessage,
};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

/// A part of a message. It owns the payload and the inline QoS of a DATA.
#[derive(Debug, Clone)]
enum Part {
    Plain(Submessage<'static>),
    Data { data: Data<'static>, is_key: bool, payload: Option<Vec<u8>>, key_hash: Option<[u8; 16]> },
    DataFrag { data_frag: DataFrag<'static>, payload: Vec<u8>, status_info: Option<u32> },
}

fn ids() -> impl Strategy<Value = (EntityId, EntityId)> {
    any::<([u8; 4], [u8; 4])>().prop_map(|(reader, writer)| (EntityId(reader), EntityId(writer)))
}

fn number() -> impl Strategy<Value = SequenceNumber> {
    prop_oneof![1..1000_i64, 1..i64::MAX - 256].prop_map(SequenceNumber)
}

fn sequence_set() -> impl Strategy<Value = SequenceNumberSet> {
    (number(), btree_set(0..256_i64, 0..40)).prop_map(|(base, offsets)| {
        let mut set = SequenceNumberSet::empty(base);
        for &offset in &offsets {
            assert!(set.insert(base.plus(offset)));
        }
        set
    })
}

fn fragment_set() -> impl Strategy<Value = FragmentNumberSet> {
    (1..u32::MAX - 256, btree_set(0..256_u32, 0..40)).prop_map(|(base, offsets)| {
        let mut set = FragmentNumberSet::empty(base);
        for &offset in &offsets {
            assert!(set.insert(base + offset));
        }
        set
    })
}

fn prefix() -> impl Strategy<Value = GuidPrefix> {
    any::<[u8; 12]>().prop_map(GuidPrefix)
}

fn plain() -> impl Strategy<Value = Submessage<'static>> {
    prop_oneof![
        (ids(), sequence_set(), any::<(i32, bool)>()).prop_map(|(ids, reader_sn_state, (count, is_final))| {
            Submessage::AckNack(AckNack { reader_id: ids.0, writer_id: ids.1, reader_sn_state, count, is_final })
        }),
        gap(),
        heartbeat(),
        (ids(), number(), 1..=u32::MAX, any::<i32>()).prop_map(|(ids, writer_sn, last_fragment_num, count)| {
            let (reader_id, writer_id) = ids;
            Submessage::HeartbeatFrag(HeartbeatFrag { reader_id, writer_id, writer_sn, last_fragment_num, count })
        }),
        (ids(), number(), fragment_set(), any::<i32>()).prop_map(|(ids, writer_sn, fragment_number_state, count)| {
            let (reader_id, writer_id) = ids;
            Submessage::NackFrag(NackFrag { reader_id, writer_id, writer_sn, fragment_number_state, count })
        }),
        proptest::option::of(0..4_000_000_000_000_000_000_i64)
            .prop_map(|nanos| Submessage::InfoTimestamp(nanos.map(Time::from_unix_nanos))),
        prefix().prop_map(Submessage::InfoDestination),
        (any::<(u8, [u8; 2])>(), prefix()).prop_map(|((minor, vendor), prefix)| {
            let version = ProtocolVersion { major: 2, minor };
            Submessage::InfoSource(InfoSource { version, vendor: VendorId(vendor), prefix })
        }),
    ]
}

fn gap() -> impl Strategy<Value = Submessage<'static>> {
    (ids(), number(), sequence_set(), any::<(Option<(i64, i64)>, Option<i64>)>()).prop_map(
        |((reader_id, writer_id), gap_start, gap_list, (group, filtered_count))| {
            let group_info = group
                .map(|(start, end)| GapGroupInfo { start_gsn: SequenceNumber(start), end_gsn: SequenceNumber(end) });
            Submessage::Gap(Gap { reader_id, writer_id, gap_start, gap_list, group_info, filtered_count })
        },
    )
}

fn heartbeat() -> impl Strategy<Value = Submessage<'static>> {
    let group_info = any::<Option<([i64; 3], [u8; 4], [u8; 4])>>();
    (ids(), number(), -1..1000_i64, any::<(i32, bool, bool)>(), group_info).prop_map(
        |((reader_id, writer_id), first_sn, more, (count, is_final, liveliness), group_info)| {
            let last_sn = first_sn.plus(more);
            let group_info = group_info.map(|(numbers, writer_set, secure_writer_set)| {
                let [current_gsn, first_gsn, last_gsn] = numbers.map(SequenceNumber);
                HeartbeatGroupInfo { current_gsn, first_gsn, last_gsn, writer_set, secure_writer_set }
            });
            Submessage::Heartbeat(Heartbeat {
                reader_id,
                writer_id,
                first_sn,
                last_sn,
                count,
                is_final,
                liveliness,
                group_info,
            })
        },
    )
}

fn data() -> impl Strategy<Value = Part> {
    let payload = proptest::option::of(vec(any::<u8>(), 4..64));
    (ids(), number(), payload, any::<(bool, bool)>(), any::<Option<[u8; 16]>>()).prop_map(
        |((reader_id, writer_id), writer_sn, payload, (is_key, non_standard_payload), key_hash)| {
            let none = SerializedPayload::None;
            let data = Data { reader_id, writer_id, writer_sn, inline_qos: None, payload: none, non_standard_payload };
            Part::Data { data, is_key, payload, key_hash }
        },
    )
}

fn data_frag() -> impl Strategy<Value = Part> {
    let sizes = (1..2000_u32, 1..200_u16, any::<(u32, u16)>());
    (ids(), number(), sizes, any::<(bool, bool)>(), any::<Option<u32>>()).prop_map(
        |((reader_id, writer_id), writer_sn, (sample_size, fragment_size, (start, count)), flags, status_info)| {
            let fragments = sample_size.div_ceil(fragment_size.into());
            let fragment_starting_num = 1 + start % fragments;
            let left = u16::try_from(fragments - fragment_starting_num + 1).unwrap();
            let data_frag = DataFrag {
                reader_id,
                writer_id,
                writer_sn,
                fragment_starting_num,
                fragments_in_submessage: 1 + count % left,
                fragment_size,
                sample_size,
                inline_qos: None,
                payload: &[],
                is_key: flags.0,
                non_standard_payload: flags.1,
            };
            let payload = data_frag.header().payload_range().map(|at| at as u8).collect();
            Part::DataFrag { data_frag, payload, status_info }
        },
    )
}

fn build(parts: &[Part], header: &Header) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut message = MessageBuilder::new(&mut bytes);
    message.header_of(header);
    for part in parts {
        match part {
            Part::Plain(Submessage::AckNack(ack_nack)) => message.ack_nack(ack_nack),
            Part::Plain(Submessage::Gap(gap)) => message.gap(gap),
            Part::Plain(Submessage::Heartbeat(heartbeat)) => message.heartbeat(heartbeat),
            Part::Plain(Submessage::HeartbeatFrag(heartbeat_frag)) => message.heartbeat_frag(heartbeat_frag),
            Part::Plain(Submessage::NackFrag(nack_frag)) => message.nack_frag(nack_frag),
            Part::Plain(Submessage::InfoTimestamp(timestamp)) => message.info_ts(*timestamp),
            Part::Plain(Submessage::InfoDestination(prefix)) => message.info_dst(*prefix),
            Part::Plain(Submessage::InfoSource(source)) => message.info_src(source),
            Part::Plain(other) => panic!("{other:?}"),
            Part::Data { data, is_key, payload, key_hash } => {
                let kind = match (payload, is_key) {
                    (None, _) => SerializedPayload::None,
                    (Some(_), false) => SerializedPayload::Data(&[]),
                    (Some(_), true) => SerializedPayload::Key(&[]),
                };
                let payload = payload.as_deref().unwrap_or_default();
                let header = Data { payload: kind, ..data.clone() }.header();
                let end = message.data(&header, payload.len(), |list| {
                    if let Some(key_hash) = key_hash {
                        list.key_hash(key_hash);
                    }
                });
                message.payload(payload, end);
            }
            Part::DataFrag { data_frag, payload, status_info } => {
                let end = message.data_frag(&data_frag.header(), |list| {
                    if let Some(bits) = status_info {
                        list.status_info(*bits);
                    }
                });
                message.payload(payload, end);
            }
        }
    }
    bytes
}

fn assert_same(part: &Part, parsed: &Submessage<'_>) -> Result<(), TestCaseError> {
    match (part, parsed) {
        (Part::Plain(plain), parsed) => prop_assert_eq!(plain, parsed),
        (Part::Data { data, is_key, payload, key_hash }, Submessage::Data(parsed)) => {
            prop_assert_eq!(parsed.reader_id, data.reader_id);
            prop_assert_eq!(parsed.writer_id, data.writer_id);
            prop_assert_eq!(parsed.writer_sn, data.writer_sn);
            prop_assert_eq!(parsed.non_standard_payload, data.non_standard_payload);
            prop_assert_eq!(parsed.inline_qos.and_then(|list| list.key_hash()), *key_hash);
            prop_assert_eq!(matches!(parsed.payload, SerializedPayload::Key(_)), payload.is_some() && *is_key);
            prop_assert_eq!(parsed.payload.bytes().is_some(), payload.is_some());
            let (ours, theirs) = (payload.as_deref().unwrap_or_default(), parsed.payload.bytes().unwrap_or_default());
            prop_assert_eq!(theirs.get(..ours.len()), Some(ours));
            prop_assert_eq!(theirs.len(), ours.len().next_multiple_of(4));
        }
        (Part::DataFrag { data_frag, payload, status_info }, Submessage::DataFrag(parsed)) => {
            prop_assert_eq!(parsed.header(), data_frag.header());
            prop_assert_eq!(parsed.payload, &payload[..]);
            prop_assert_eq!(parsed.inline_qos.map(|list| list.status_info()), *status_info);
        }
        other => prop_assert!(false, "{other:?}"),
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_message_survives_round_trip(
        parts in vec(prop_oneof![plain().prop_map(Part::Plain), data(), data_frag()], 0..12),
        minor in any::<u8>(),
        prefix in prefix(),
    ) {
        let version = ProtocolVersion { major: 2, minor };
        let header = Header { version, vendor: VendorId::OURS, prefix };
        let bytes = build(&parts, &header);
        let message = Message::parse(&bytes).unwrap();
        prop_assert_eq!(message.header, header);
        let parsed: Vec<_> = message.submessages().map(Result::unwrap).collect();
        prop_assert_eq!(parsed.len(), parts.len());
        for (part, parsed) in parts.iter().zip(&parsed) {
            assert_same(part, parsed)?;
        }
    }

    #[test]
    fn any_body_under_any_id_is_at_worst_error(id in 0_u8..0x40, flags: u8, body in vec(any::<u8>(), 0..120)) {
        let mut bytes = b"RTPS\x02\x05\x01\xddabcdefghijkl".to_vec();
        bytes.extend([id, flags, 0, 0]);
        bytes.extend(&body);
        // An invalid header extension invalidates the message.
        let errors: Vec<_> = match Message::parse(&bytes) {
            Ok(message) => message.submessages().filter_map(Result::err).collect(),
            Err(error) => vec![error],
        };
        prop_assert!(errors.iter().all(|error| (20..=bytes.len()).contains(&error.offset)));
    }
}
