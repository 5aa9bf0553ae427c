//! After warm-up, sealing and opening allocate nothing.

use allocation_counter::measure;
use dds_security::crypto::{Audience, KeyMaterial, ReceiveKey, SendKey, TransformationKind, payload, submessage};
use dds_security::psk::{Passphrase, PreSharedKey, PskDomain, PskProtection};

#[test]
fn sealing_and_opening_allocate_nothing_after_warm_up() {
    let key = || PreSharedKey::new(Passphrase::new(1, "correct horse battery staple").unwrap());
    for (robot_key, len) in [(key(), 64), (key(), 64_000), (key().signing_only(), 1000)] {
        let robot = PskProtection::new(robot_key, PskDomain::default());
        let station = PskProtection::new(key(), PskDomain::default());
        let mut plain = b"RTPS\x02\x05\x01\xdd0123456789ab\x15\x01\x00\x00".to_vec();
        plain[22..24].copy_from_slice(&(len as u16).to_le_bytes());
        plain.resize(24 + len, 7);
        let (mut message, mut opened) = (Vec::new(), Vec::new());
        let pass = || {
            message.clear();
            message.extend_from_slice(&plain);
            robot.seal(&mut message).unwrap();
            opened.clear();
            station.open(&message, &mut opened).unwrap();
            assert_eq!(opened.len(), plain.len());
        };
        assert_allocates_nothing(pass, &format!("message of {len} bytes"));
    }
    for (kind, len) in [(TransformationKind::Aes256Gcm, 64), (TransformationKind::Aes256Gmac, 64_000)] {
        let material = KeyMaterial::generate(kind).unwrap();
        let sender = SendKey::new(material.clone()).unwrap().unwrap();
        let mut receiver = ReceiveKey::new(material);
        // A payload behind the headers of its submessage.
        let plain = vec![7; 24 + len];
        let mut message = Vec::new();
        let pass = || {
            message.clear();
            message.extend_from_slice(&plain[..24]);
            message.resize(24 + payload::front_len(kind), 0);
            message.extend_from_slice(&plain[24..]);
            payload::seal_behind(&sender, &mut message, 24);
            assert_eq!(payload::open_from(&mut receiver, &mut message, 24), Ok(()));
            assert_eq!(message, plain);
        };
        assert_allocates_nothing(pass, &format!("payload of {len} bytes"));
    }
    let sender = SendKey::new(KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap()).unwrap().unwrap();
    let sender = sender.authenticating_origin();
    let [mut receiver, _] = [[1; 12], [2; 12]].map(|name| {
        let material = sender.add_receiver(name).unwrap().unwrap();
        ReceiveKey::new(material)
    });
    let plain = [&[0x15, 1, 60, 0][..], &[7; 60]].concat();
    let (mut message, mut opened) = (Vec::new(), Vec::new());
    let pass = || {
        message.clear();
        message.extend_from_slice(&plain);
        submessage::seal(&sender, &mut message, 0, Audience::All).unwrap();
        opened.clear();
        assert_eq!(submessage::open(&mut receiver, &message, &mut opened), Ok(message.len()));
        assert_eq!(opened, plain);
    };
    assert_allocates_nothing(pass, "submessage for two receivers");
}

fn assert_allocates_nothing(mut pass: impl FnMut(), what: &str) {
    let mut passes = |number| {
        for _ in 0..number {
            pass();
        }
    };
    assert!(measure(|| passes(4)).count_total > 0, "nothing is counted");
    assert_eq!(measure(|| passes(500)).count_total, 0, "{what}");
}
