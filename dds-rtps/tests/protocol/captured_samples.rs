//! Samples of the captures: shapes of five implementations decode to plausible values and encode to the same bytes.

use crate::support::{CAPTURES, capture};
use dds_macros::DdsType;
use dds_rtps::cdr::{
    Encoding, TypeInfo, decode_key_payload, decode_payload, encode_key_payload, encode_payload, instance_of_payload,
    key_hash_of_key,
};
use dds_rtps::types::{EntityId, InstanceHandle};
use dds_rtps::wire::{Message, Receiver, SerializedPayload, Submessage};
use std::collections::BTreeMap;

/// The type of every shapes program.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "dds_rtps", name = "ShapeType", extensibility = "appendable")]
struct Shape {
    #[dds(key, bound = 128)]
    color: String,
    x: i32,
    y: i32,
    shapesize: i32,
    additional_payload_size: Vec<u8>,
}

/// A payload as another implementation's writer sent it.
struct Captured {
    bytes: Vec<u8>,
    is_key: bool,
    key_hash: Option<[u8; 16]>,
}

/// Returns every user payload of a capture, with fragmented ones reassembled.
fn payloads(name: &str) -> Vec<Captured> {
    let mut complete = Vec::new();
    let mut partial: BTreeMap<_, (Vec<u8>, usize)> = BTreeMap::new();
    for packet in capture(name) {
        let message = Message::parse(&packet.payload).unwrap();
        let mut receiver = Receiver::new(&message.header);
        for submessage in message.submessages() {
            let submessage = submessage.unwrap();
            receiver.apply(&submessage);
            match submessage {
                Submessage::Data(data) if is_user(data.writer_id) => {
                    let key_hash = data.inline_qos.as_ref().and_then(|qos| qos.key_hash());
                    let (bytes, is_key) = match data.payload {
                        SerializedPayload::Data(bytes) => (bytes, false),
                        SerializedPayload::Key(bytes) => (bytes, true),
                        SerializedPayload::None => continue,
                    };
                    complete.push(Captured { bytes: bytes.to_vec(), is_key, key_hash });
                }
                Submessage::DataFrag(data) if is_user(data.writer_id) => {
                    let size = data.sample_size as usize;
                    let (bytes, filled) = partial
                        .entry((receiver.source(data.writer_id), data.writer_sn))
                        .or_insert_with(|| (vec![0; size], 0));
                    let start = (data.fragment_starting_num as usize - 1) * usize::from(data.fragment_size);
                    bytes[start..start + data.payload.len()].copy_from_slice(data.payload);
                    *filled += data.payload.len();
                    if *filled == size {
                        let bytes = std::mem::take(bytes);
                        complete.push(Captured { bytes, is_key: false, key_hash: None });
                    }
                }
                _ => {}
            }
        }
    }
    complete
}

fn is_user(writer: EntityId) -> bool {
    !writer.is_builtin()
}

/// Encoding of an encapsulation id (XTypes 1.3, 7.6.2.1.2).
fn encoding(payload: &[u8]) -> Encoding {
    if payload[1] < 6 { Encoding::Xcdr1 } else { Encoding::Xcdr2 }
}

#[test]
fn every_captured_sample_decodes_to_shape() {
    for name in CAPTURES {
        let mut shapes = 0;
        for captured in payloads(name).iter().filter(|captured| !captured.is_key) {
            let shape: Shape = decode_payload(&captured.bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            let colors = ["BLUE", "RED", "GREEN", "YELLOW", "PURPLE"];
            assert!(colors.iter().any(|color| shape.color.starts_with(color)), "{name}: {shape:?}");
            assert!((0..400).contains(&shape.x) && (0..400).contains(&shape.y), "{name}: {shape:?}");
            assert!(shape.shapesize > 0, "{name}: {shape:?}");
            shapes += 1;
        }
        // Only the capture without a match contains no sample.
        assert_eq!(shapes == 0, name == "cyclone_incompatible_qos", "{name}");
    }
}

#[test]
fn captured_samples_encode_to_same_bytes() {
    let mut buffer = Vec::new();
    for name in CAPTURES {
        for captured in payloads(name) {
            let encoding = encoding(&captured.bytes);
            if captured.is_key {
                let key = decode_key_payload::<Shape>(&captured.bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
                encode_key_payload::<Shape>(&key, encoding, &mut buffer).unwrap();
            } else {
                let shape: Shape = decode_payload(&captured.bytes).unwrap();
                encode_payload(&shape, encoding, &mut buffer).unwrap();
            }
            // The standard leaves open whether the padding at the end is present and whether the options count it.
            assert_eq!(buffer[..2], captured.bytes[..2], "{name}");
            let shared = buffer.len().min(captured.bytes.len());
            assert!(buffer[4..shared] == captured.bytes[4..shared], "{name}");
            assert!(buffer.len().abs_diff(captured.bytes.len()) < 4, "{name}");
            let rest = buffer[shared..].iter().chain(&captured.bytes[shared..]);
            assert!(rest.copied().all(|byte| byte == 0), "{name}");
        }
    }
}

#[test]
fn payload_key_hash_equals_hash_of_peers() {
    let mut scratch = Vec::new();
    for name in CAPTURES {
        for captured in payloads(name) {
            let instance = instance_of_payload(Shape::DESCRIPTION, &captured.bytes, captured.is_key, &mut scratch);
            let color = if captured.is_key {
                decode_key_payload::<Shape>(&captured.bytes).unwrap()
            } else {
                decode_payload::<Shape>(&captured.bytes).unwrap().color
            };
            let expected = key_hash_of_key::<Shape>(&color, encoding(&captured.bytes), &mut scratch).unwrap();
            assert_eq!(instance.unwrap(), expected, "{name}");
            // Zenzen DDS sends a short key unhashed, against RTPS 2.5, 9.6.4.8.
            if let Some(hash) = captured.key_hash.filter(|_| !name.starts_with("zzdds")) {
                assert_eq!(InstanceHandle::from_key_hash(hash), expected, "{name}: {color}");
            }
        }
    }
}
