//! Any bytes as a payload of SPDP or SEDP: decoded data can be encoded and decoded again.

#![no_main]

use dds_rtps::discovery::ParticipantMessage;
use dds_rtps::discovery::data::{ParticipantData, PublicationData, SubscriptionData, guid_of_key};
use dds_rtps::types::GuidPrefix;
use libfuzzer_sys::fuzz_target;
use std::hint::black_box;

const PREFIX: GuidPrefix = GuidPrefix(*b"abcdefghijkl");

fuzz_target!(|payload: &[u8]| {
    black_box((guid_of_key(payload), ParticipantMessage::decode(payload)));
    let mut buffer = Vec::new();
    if let Ok(decoded) = ParticipantData::decode(payload, PREFIX) {
        decoded.data.encode(&mut buffer);
        assert!(ParticipantData::decode(&buffer, PREFIX).is_ok());
    }
    if let Ok(decoded) = PublicationData::decode(payload, PREFIX) {
        decoded.data.encode(&mut buffer);
        assert!(PublicationData::decode(&buffer, PREFIX).is_ok());
    }
    if let Ok(decoded) = SubscriptionData::decode(payload, PREFIX) {
        decoded.data.encode(&mut buffer);
        assert!(SubscriptionData::decode(&buffer, PREFIX).is_ok());
    }
});
