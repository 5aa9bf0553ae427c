//! Datagrams of other implementations: this crate and tshark parse them alike, and this crate builds the same bytes.

use crate::support::{CAPTURES, capture, vector_path};
use dds_rtps::types::{EntityId, GuidPrefix};
use dds_rtps::wire::{
    Data, FragmentNumberSet, InlineQos, InlineQosWriter, Message, MessageBuilder, Receiver, SequenceNumberSet,
    SerializedPayload, Submessage, parameter_id,
};
use std::fmt::Write as _;
use std::hint::black_box;

#[test]
fn every_captured_datagram_parses() {
    for name in CAPTURES {
        for packet in capture(name) {
            let message = Message::parse(&packet.payload).unwrap_or_else(|e| panic!("{name} {}: {e}", packet.number));
            let mut count = 0;
            for submessage in message.submessages() {
                let submessage = submessage.unwrap_or_else(|e| panic!("{name} {}: {e}", packet.number));
                assert!(!matches!(submessage, Submessage::Skipped { .. }), "{name} {}", packet.number);
                count += 1;
            }
            assert!(count > 0, "{name} {}", packet.number);
        }
    }
}

#[test]
fn parse_agrees_with_tshark() {
    for name in CAPTURES {
        let golden = std::fs::read_to_string(vector_path(&format!("{name}.golden"))).unwrap();
        let packets = capture(name);
        assert_eq!(golden.lines().count(), packets.len(), "{name}");
        for (packet, line) in packets.iter().zip(golden.lines()) {
            assert_eq!(summary(packet.number, &packet.payload), line, "{name}");
        }
    }
}

/// This crate builds the bytes of the captures, except for freedoms of the standard.
///
/// The captures use these:
///
/// - INFO_TS: the wire counts units of 2^-32 s. This crate counts nanoseconds, each 4.29 such units.
/// - A payload at the end of a message may lack its padding (Zenzen DDS). This crate always writes and counts it.
/// - The length of a sentinel has no meaning. Each implementation writes 0.
///
/// No capture uses big endian, length 0 for the last submessage, or an octetsToInlineQos above the minimum. Bits of a
/// set past its count, padding parameters and bytes after the known fields do not occur either.
#[test]
fn built_datagrams_equal_captured_datagrams() {
    let mut times_differ = 0;
    let mut unpadded = 0;
    let mut same = 0;
    for name in CAPTURES {
        for packet in capture(name) {
            let message = Message::parse(&packet.payload).unwrap();
            let mut ours = Vec::new();
            MessageBuilder::new(&mut ours).header_of(&message.header);
            assert_eq!(ours, packet.payload[..20]);
            let mut submessages = message.submessages();
            loop {
                let start = submessages.offset();
                let Some(submessage) = submessages.next().map(Result::unwrap) else { break };
                let theirs = &packet.payload[start..submessages.offset()];
                let mut ours = Vec::new();
                build(&submessage, &mut ours);
                if ours == theirs {
                    same += 1;
                } else if matches!(submessage, Submessage::InfoTimestamp(_)) {
                    let fraction = |bytes: &[u8]| u32::from_le_bytes(bytes[8..12].try_into().unwrap());
                    assert_eq!(ours[..8], theirs[..8], "{name} {}", packet.number);
                    assert!(fraction(&ours).abs_diff(fraction(theirs)) <= 4, "{name} {}", packet.number);
                    times_differ += 1;
                } else {
                    assert_eq!(submessages.offset(), packet.payload.len(), "{name} {}: {submessage:?}", packet.number);
                    assert_ne!(theirs.len() % 4, 0, "{name} {}: {submessage:?}", packet.number);
                    let mut padded = theirs.to_vec();
                    padded.resize(theirs.len().next_multiple_of(4), 0);
                    let length = u16::try_from(padded.len() - 4).unwrap();
                    padded[2..4].copy_from_slice(&length.to_le_bytes());
                    assert_eq!(ours, padded, "{name} {}", packet.number);
                    unpadded += 1;
                }
            }
        }
    }
    assert_eq!((same, times_differ, unpadded), (4843, 510, 4));
}

#[test]
fn truncated_datagram_is_at_worst_error() {
    for name in CAPTURES {
        for packet in capture(name).iter().filter(|packet| packet.payload.len() < 1500).take(24) {
            for len in 0..packet.payload.len() {
                touch_everything(&packet.payload[..len]);
            }
        }
    }
}

#[test]
fn datagram_with_flipped_bytes_is_at_worst_error() {
    const MUTATIONS: usize = 20_000;
    let seeds: Vec<Vec<u8>> = CAPTURES
        .iter()
        .flat_map(|name| capture(name))
        .map(|packet| packet.payload)
        .filter(|payload| payload.len() < 1500)
        .collect();
    // The generator of Numerical Recipes: its upper half is random enough and equal on all machines.
    let mut state = 0x0dd5_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut bytes = Vec::new();
    for _ in 0..MUTATIONS {
        bytes.clear();
        bytes.extend_from_slice(&seeds[random(seeds.len())]);
        for _ in 0..=random(4) {
            let at = random(bytes.len());
            bytes[at] = match random(4) {
                0 => 0,
                1 => 0xff,
                2 => bytes[at] ^ (1 << random(8)),
                _ => random(256) as u8,
            };
        }
        touch_everything(&bytes);
    }
}

/// Parses `bytes` and reads every part.
fn touch_everything(bytes: &[u8]) {
    let Ok(message) = Message::parse(bytes) else { return };
    let mut receiver = Receiver::new(&message.header);
    let mut line = String::new();
    let mut rebuilt = Vec::new();
    for submessage in message.submessages() {
        let submessage = match submessage {
            Ok(submessage) => submessage,
            Err(error) => {
                assert!(error.offset <= bytes.len());
                continue;
            }
        };
        receiver.apply(&submessage);
        summarise(&submessage, &mut line);
        rebuilt.clear();
        build(&submessage, &mut rebuilt);
        if let Submessage::Data(Data { writer_id, inline_qos: Some(inline_qos), .. }) = &submessage {
            let vendor = receiver.source_vendor;
            black_box((inline_qos.key_hash(), inline_qos.coherent_set(), inline_qos.lifespan()));
            black_box((inline_qos.group_coherent_set(vendor), inline_qos.group_sequence_number(vendor)));
            black_box((inline_qos.related_sample_identity(vendor), inline_qos.original_writer()));
            black_box((inline_qos.is_directed_to(receiver.source(*writer_id)), inline_qos.unknown_must_understand()));
        }
    }
}

/// Builds a parsed submessage again.
fn build(submessage: &Submessage<'_>, buffer: &mut Vec<u8>) {
    let mut builder = MessageBuilder::new(buffer);
    match submessage {
        Submessage::AckNack(ack_nack) => builder.ack_nack(ack_nack),
        Submessage::Gap(gap) => builder.gap(gap),
        Submessage::Heartbeat(heartbeat) => builder.heartbeat(heartbeat),
        Submessage::HeartbeatFrag(heartbeat_frag) => builder.heartbeat_frag(heartbeat_frag),
        Submessage::NackFrag(nack_frag) => builder.nack_frag(nack_frag),
        Submessage::InfoTimestamp(timestamp) => builder.info_ts(*timestamp),
        Submessage::InfoDestination(prefix) => builder.info_dst(*prefix),
        Submessage::InfoSource(source) => builder.info_src(source),
        Submessage::Data(data) => {
            let payload = data.payload.bytes().unwrap_or_default();
            let end = builder.data(&data.header(), payload.len(), |to| copy_inline_qos(data.inline_qos, to));
            builder.payload(payload, end);
        }
        Submessage::DataFrag(data_frag) => {
            let end = builder.data_frag(&data_frag.header(), |to| copy_inline_qos(data_frag.inline_qos, to));
            builder.payload(data_frag.payload, end);
        }
        _ => {}
    }
}

/// Uses the setters where they exist.
fn copy_inline_qos(from: Option<InlineQos<'_>>, to: &mut InlineQosWriter<'_>) {
    let Some(from) = from else { return };
    for parameter in from.parameters() {
        let (id, value) = (parameter.id, parameter.value);
        match id {
            parameter_id::KEY_HASH if value.len() == 16 => to.key_hash(value.try_into().unwrap()),
            parameter_id::STATUS_INFO => to.status_info(from.status_info()),
            parameter_id::COHERENT_SET if value.len() == 8 => to.coherent_set(from.coherent_set().unwrap()),
            _ => {
                let mut bytes = id.to_le_bytes().to_vec();
                bytes.extend(u16::try_from(value.len()).unwrap().to_le_bytes());
                bytes.extend(value);
                to.encoded(&bytes)
            }
        };
    }
}

/// Formats a datagram as one line, in the form of `make_golden.py`.
fn summary(number: usize, bytes: &[u8]) -> String {
    let message = Message::parse(bytes).unwrap();
    let header = message.header;
    let vendor = header.vendor;
    let mut line = format!("{number} {:?} {vendor:?} {}", header.version, hex(header.prefix));
    for submessage in message.submessages() {
        line.push_str(" | ");
        summarise(&submessage.unwrap(), &mut line);
    }
    line
}

fn summarise(submessage: &Submessage<'_>, line: &mut String) {
    let ends = |id: &str, reader: EntityId, writer: EntityId| format!("{id} {reader} {writer}");
    let is_final = |is_final: bool| if is_final { " final" } else { "" };
    match submessage {
        Submessage::AckNack(m) => {
            let set = sequence_set(&m.reader_sn_state);
            let ends = ends("06", m.reader_id, m.writer_id);
            write!(line, "{ends} {set} #{}{}", m.count, is_final(m.is_final))
        }
        Submessage::Heartbeat(m) => {
            let ends = ends("07", m.reader_id, m.writer_id);
            let live = if m.liveliness { " live" } else { "" };
            write!(line, "{ends} {}..{} #{}{}{live}", m.first_sn, m.last_sn, m.count, is_final(m.is_final))
        }
        Submessage::Gap(m) => {
            write!(line, "{} {} {}", ends("08", m.reader_id, m.writer_id), m.gap_start, sequence_set(&m.gap_list))
        }
        Submessage::InfoTimestamp(None) => write!(line, "09 none"),
        Submessage::InfoTimestamp(Some(time)) => write!(line, "09 {}", time.as_unix_nanos()),
        Submessage::InfoDestination(prefix) => write!(line, "0e {}", hex(*prefix)),
        Submessage::InfoSource(source) => write!(line, "0c {:?} {}", source.vendor, hex(source.prefix)),
        Submessage::NackFrag(m) => {
            let set = fragment_set(&m.fragment_number_state);
            write!(line, "{} {} {set} #{}", ends("12", m.reader_id, m.writer_id), m.writer_sn, m.count)
        }
        Submessage::HeartbeatFrag(m) => {
            let ends = ends("13", m.reader_id, m.writer_id);
            write!(line, "{ends} {} {} #{}", m.writer_sn, m.last_fragment_num, m.count)
        }
        Submessage::Data(m) => {
            let kind = match m.payload {
                SerializedPayload::None => "none",
                SerializedPayload::Data(_) => "data",
                SerializedPayload::Key(_) => "key",
            };
            let len = m.payload.bytes().unwrap_or_default().len();
            let ends = ends("15", m.reader_id, m.writer_id);
            write!(line, "{ends} {}{} {kind} {len}", m.writer_sn, inline_qos(m.inline_qos))
        }
        Submessage::DataFrag(m) => {
            let ends = ends("16", m.reader_id, m.writer_id);
            let fragments = format!("{}+{}", m.fragment_starting_num, m.fragments_in_submessage);
            let sizes = format!("{}/{}{}", m.fragment_size, m.sample_size, inline_qos(m.inline_qos));
            write!(line, "{ends} {} {fragments}*{sizes} {}", m.writer_sn, m.payload.len())
        }
        Submessage::Skipped { id } => write!(line, "{id:02x}"),
        _ => write!(line, "?"),
    }
    .unwrap();
}

fn inline_qos(list: Option<InlineQos<'_>>) -> String {
    let Some(list) = list else { return String::new() };
    let ids: Vec<String> = list.parameters().map(|parameter| format!("{:04x}", parameter.id)).collect();
    format!(" q{}={}", ids.join(","), list.status_info())
}

fn sequence_set(set: &SequenceNumberSet) -> String {
    let offsets = set.iter().map(|number| u32::try_from(number.0 - set.base().0).unwrap());
    format!("{}/{}{}", set.base(), set.bit_count(), words(offsets, set.bit_count()))
}

fn fragment_set(set: &FragmentNumberSet) -> String {
    format!("{}/{}{}", set.base(), set.bit_count(), words(set.iter().map(|n| n - set.base()), set.bit_count()))
}

fn words(offsets: impl Iterator<Item = u32>, bit_count: u32) -> String {
    let mut words = vec![0_u32; bit_count.div_ceil(32) as usize];
    for offset in offsets {
        words[offset as usize / 32] |= 1 << (31 - offset % 32);
    }
    words.iter().map(|word| format!(":{word:08x}")).collect()
}

fn hex(prefix: GuidPrefix) -> String {
    prefix.0.iter().map(|byte| format!("{byte:02x}")).collect()
}
