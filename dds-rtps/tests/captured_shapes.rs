//! Samples and keys of other implementations: what is decoded, written again, is what they sent, and belongs to the
//! instances they say.

#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

mod support;

use dds_macros::DdsType;
use dds_rtps::cdr::{
    Encapsulation, Encoded, Encoding, Raw, TypeInfo, decode_key_payload, decode_payload, encode_key_payload,
    encode_payload, instance_of_payload, key_hash_of,
};
use dds_rtps::types::InstanceHandle;
use dds_rtps::wire::{Data, Message, SerializedPayload, Submessage};
use std::collections::HashMap;
use support::{CAPTURES, capture};

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "dds_rtps", appendable)]
struct ShapeType {
    #[dds(key, bound = 128)]
    color: String,
    x: i32,
    y: i32,
    shapesize: i32,
    additional_payload_size: Vec<u8>,
}

/// What was seen in all captures.
#[derive(Default)]
struct Seen {
    samples: HashMap<Encoding, usize>,
    keys: usize,
    hashes: usize,
    scratch: Vec<u8>,
    bytes: Vec<u8>,
}

#[test]
fn samples_and_keys_of_all_vendors_are_understood_and_written_alike() {
    let mut seen = Seen::default();
    for name in CAPTURES {
        for packet in capture(name) {
            let message = Message::parse(&packet.payload).unwrap();
            // Zenzen DDS sends the key itself in the place of its hash, though a string<128> may be longer than 16 bytes.
            let hashes_are_right = message.header.vendor.0 != [1, 0x23];
            for submessage in message.submessages() {
                if let Ok(Submessage::Data(data)) = submessage {
                    if !data.writer_id.is_builtin() {
                        seen.look_at(&data, hashes_are_right);
                    }
                }
            }
        }
    }
    assert!(seen.samples[&Encoding::Xcdr1] > 20 && seen.samples[&Encoding::Xcdr2] > 100, "{:?}", seen.samples);
    assert!(seen.keys > 5 && seen.hashes > 50, "{} {}", seen.keys, seen.hashes);
}

impl Seen {
    fn look_at(&mut self, data: &Data<'_>, hashes_are_right: bool) {
        let instance = match data.payload {
            SerializedPayload::Data(payload) => self.sample(payload),
            SerializedPayload::Key(payload) => self.key(payload),
            SerializedPayload::None => return,
        };
        if let Some(hash) = data.inline_qos.as_ref().and_then(|qos| qos.key_hash()).filter(|_| hashes_are_right) {
            self.hashes += 1;
            assert_eq!(instance, InstanceHandle::from_key_hash(hash));
        }
    }

    fn sample(&mut self, payload: &[u8]) -> InstanceHandle {
        let header = Encapsulation::parse(payload).unwrap();
        let shape: ShapeType = decode_payload(payload).unwrap();
        assert!(shape.color.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        *self.samples.entry(header.encoding).or_default() += 1;

        let Seen { scratch, bytes, .. } = self;
        encode_payload(&shape, header.encoding, bytes).unwrap();
        assert_same(payload, bytes);
        let raw: Raw = decode_payload(payload).unwrap();
        assert_eq!(raw.as_encoded(), Encoded { encoding: header.encoding, bytes: payload });

        let instance = key_hash_of(&shape, header.encoding, scratch).unwrap();
        assert_eq!(instance_of_payload(ShapeType::DESCRIPTION, payload, false, scratch).unwrap(), instance);
        instance
    }

    fn key(&mut self, payload: &[u8]) -> InstanceHandle {
        let header = Encapsulation::parse(payload).unwrap();
        let color: String = decode_key_payload::<ShapeType>(payload).unwrap();
        self.keys += 1;
        encode_key_payload::<ShapeType>(&color, header.encoding, &mut self.bytes).unwrap();
        assert_same(payload, &self.bytes);
        instance_of_payload(ShapeType::DESCRIPTION, payload, true, &mut self.scratch).unwrap()
    }
}

/// All of these were sent by machines of our byte order. Only the padding may differ: some do not pad, or do not say it.
fn assert_same(theirs: &[u8], ours: &[u8]) {
    assert_eq!(theirs[..2], if cfg!(target_endian = "little") { ours[..2].to_vec() } else { theirs[..2].to_vec() });
    let body = ours.len() - usize::from(ours[3]);
    assert!(theirs.len() >= body && theirs.len() <= ours.len());
    if cfg!(target_endian = "little") {
        assert_eq!(theirs[4..body], ours[4..body]);
    }
}
