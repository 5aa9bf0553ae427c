//! Protection of whole messages, with every kind and binding, and what other vendors have sealed.

use dds_security::crypto::message::{self, HeaderBinding};
use dds_security::crypto::{Audience, KeyMaterial, OpenError, ReceiveKey, SendKey, TooLong, TransformationKind};
use proptest::prelude::*;

const KINDS: [TransformationKind; 4] = [
    TransformationKind::Aes128Gmac,
    TransformationKind::Aes128Gcm,
    TransformationKind::Aes256Gmac,
    TransformationKind::Aes256Gcm,
];

const BINDINGS: [HeaderBinding; 3] = [
    HeaderBinding::InfoSource,
    HeaderBinding::Authenticated { pre_shared: false },
    HeaderBinding::Authenticated { pre_shared: true },
];

fn combinations() -> impl Iterator<Item = (TransformationKind, HeaderBinding)> {
    KINDS.into_iter().flat_map(|kind| BINDINGS.map(|binding| (kind, binding)))
}

/// INFO_TS without a time, and DATA of `len` bytes. Its length is written, or 0.
fn plain(len: usize, with_length: bool) -> Vec<u8> {
    let mut bytes = b"RTPS\x02\x05\x01\xddabcdefghijkl\x09\x03\x00\x00\x15\x05\x00\x00".to_vec();
    if with_length {
        bytes[26..28].copy_from_slice(&u16::try_from(len).unwrap().to_le_bytes());
    }
    bytes.extend((0..len).map(|at| at as u8));
    bytes
}

fn keys(kind: TransformationKind) -> (SendKey, ReceiveKey) {
    let material = KeyMaterial::generate(kind).unwrap();
    (SendKey::new(material.clone()).unwrap().unwrap(), ReceiveKey::new(material))
}

fn open(key: &mut ReceiveKey, bytes: &[u8]) -> Result<Vec<u8>, OpenError> {
    let mut out = Vec::new();
    let opened = message::parse(bytes).and_then(|message| message.open(key, &mut out));
    assert!(opened.is_ok() || out.is_empty(), "an error leaves nothing");
    opened.map(|()| out)
}

#[test]
fn messages_of_all_lengths_survive() {
    for (kind, binding) in combinations() {
        let (sender, mut receiver) = keys(kind);
        for len in [4, 100, 1344, 65_000] {
            let original = plain(len, true);
            let mut sealed = original.clone();
            message::seal(&sender, binding, &mut sealed, Audience::All).unwrap();
            assert_eq!(sealed.len() % 4, 0);
            assert_eq!(sealed[..20], original[..20]);
            if matches!(binding, HeaderBinding::Authenticated { .. }) {
                assert!(sealed.len() <= original.len() + message::OVERHEAD);
            }
            assert_eq!(open(&mut receiver, &sealed), Ok(original), "{kind:?}, {binding:?}, {len}");
        }
    }
}

#[test]
fn message_without_submessages_survives() {
    for (kind, binding) in combinations() {
        let (sender, mut receiver) = keys(kind);
        let original = plain(0, false)[..20].to_vec();
        let mut sealed = original.clone();
        message::seal(&sender, binding, &mut sealed, Audience::All).unwrap();
        assert_eq!(open(&mut receiver, &sealed), Ok(original), "{kind:?}, {binding:?}");
    }
}

/// A last submessage may have the length 0, and any number of bytes.
#[test]
fn last_submessage_of_any_length_survives() {
    for (kind, binding) in combinations() {
        let (sender, mut receiver) = keys(kind);
        for len in 1..9 {
            let mut sealed = plain(len, false);
            message::seal(&sender, binding, &mut sealed, Audience::All).unwrap();
            let opened = open(&mut receiver, &sealed).unwrap();
            if kind.encrypts() {
                assert_eq!(opened, plain(len, false));
            } else {
                // The postfix is found by the lengths, so the sender writes and pads them.
                let mut expected = plain(len.next_multiple_of(4), true);
                expected[28 + len..].fill(0);
                assert_eq!(opened, expected);
            }
        }
    }
}

#[test]
fn too_long_message_is_refused() {
    for (kind, binding) in combinations() {
        let (sender, _) = keys(kind);
        assert_eq!(message::seal(&sender, binding, &mut plain(65_600, false), Audience::All), Err(TooLong));
        assert_eq!(message::seal(&sender, binding, &mut b"RTPS".to_vec(), Audience::All), Err(TooLong));
    }
}

#[test]
fn every_bit_of_header_and_content_is_protected() {
    for (kind, binding) in combinations() {
        let (sender, mut receiver) = keys(kind);
        let original = plain(12, true);
        let mut sealed = original.clone();
        message::seal(&sender, binding, &mut sealed, Audience::All).unwrap();
        for bit in 0..sealed.len() * 8 {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            // Unused flags of the prefix, the body and the postfix have no effect.
            if let Ok(opened) = open(&mut receiver, &changed) {
                assert_eq!(opened, original, "{kind:?}, {binding:?}, bit {bit}");
                assert!(bit / 8 >= 20, "{kind:?}, {binding:?}, bit {bit} of the header");
            }
        }
        for len in 0..sealed.len() {
            assert!(open(&mut receiver, &sealed[..len]).is_err(), "{kind:?}, {binding:?}, {len} bytes");
        }
        for behind in [&b"\x01\x01\x00\x00"[..], b"\x15\x01\x00\x00data", b"x"] {
            assert_eq!(open(&mut receiver, &[&sealed, behind].concat()), Err(OpenError::Malformed));
        }
    }
}

/// Fast DDS numbers its datagrams with a submessage of its own, behind the postfix.
#[test]
fn statistics_of_fast_dds_are_left_out() {
    for (kind, binding) in combinations() {
        let (sender, mut receiver) = keys(kind);
        let original = plain(12, true);
        let mut sealed = original.clone();
        message::seal(&sender, binding, &mut sealed, Audience::All).unwrap();
        sealed.extend_from_slice(b"\x80\x01\x38\x00");
        sealed.resize(sealed.len() + 56, 1);
        let expected = if binding == HeaderBinding::InfoSource { Ok(original) } else { Err(OpenError::Malformed) };
        assert_eq!(open(&mut receiver, &sealed), expected, "{kind:?}, {binding:?}");
    }
}

/// A thief of a message sends it in its own name.
#[test]
fn content_behind_another_header_is_refused() {
    for (kind, binding) in combinations() {
        let (sender, mut receiver) = keys(kind);
        let mut sealed = plain(12, true);
        message::seal(&sender, binding, &mut sealed, Audience::All).unwrap();
        sealed[8..20].copy_from_slice(b"mnopqrstuvwx");
        assert_eq!(open(&mut receiver, &sealed), Err(OpenError::Forged), "{kind:?}, {binding:?}");
    }
}

#[test]
fn plain_message_is_no_protected_one() {
    let (_, mut receiver) = keys(TransformationKind::Aes256Gcm);
    assert_eq!(open(&mut receiver, &plain(12, true)), Err(OpenError::NotProtected));
    assert_eq!(open(&mut receiver, b"RTPS"), Err(OpenError::Malformed));
    assert_eq!(open(&mut receiver, &[b"SPTR", &plain(12, true)[4..]].concat()), Err(OpenError::Malformed));
}

#[test]
fn only_receivers_with_their_mac_accept() {
    for (kind, binding) in combinations() {
        let common = KeyMaterial::generate(kind).unwrap();
        let sender = SendKey::new(common).unwrap().unwrap().authenticating_origin();
        let receivers = [[1; 12], [2; 12]].map(|name| sender.add_receiver(name).unwrap().unwrap());
        for (audience, expected) in [(Audience::All, [true, true]), (Audience::One([2; 12]), [false, true])] {
            let mut sealed = plain(12, true);
            message::seal(&sender, binding, &mut sealed, audience).unwrap();
            let results = [0, 1].map(|at| open(&mut ReceiveKey::new(receivers[at].clone()), &sealed));
            let expected = expected.map(|is_addressed| match is_addressed {
                true => Ok(plain(12, true)),
                false => Err(OpenError::NotForThisReceiver),
            });
            assert_eq!(results, expected, "{kind:?}, {binding:?}");
        }
    }
}

#[test]
fn replay_is_refused_and_disorder_accepted() {
    let material = KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap();
    let sender = SendKey::new(material.clone()).unwrap().unwrap();
    let mut receiver = ReceiveKey::refusing_replays(material);
    let sealed: Vec<_> = (0..20)
        .map(|_| {
            let mut bytes = plain(12, true);
            message::seal(&sender, HeaderBinding::InfoSource, &mut bytes, Audience::All).unwrap();
            bytes
        })
        .collect();
    for at in [3, 1, 2, 19, 0, 10] {
        assert!(open(&mut receiver, &sealed[at]).is_ok(), "{at}");
    }
    for at in [3, 1, 2, 19, 0, 10] {
        assert_eq!(open(&mut receiver, &sealed[at]), Err(OpenError::Replayed), "{at}");
    }
}

/// Other vendors change the session often, and datagrams overtake each other.
#[test]
fn sessions_in_any_order_are_opened() {
    let material = KeyMaterial::generate(TransformationKind::Aes128Gcm).unwrap();
    let mut receiver = ReceiveKey::new(material.clone());
    let sealed: Vec<_> = (0..10_u8)
        .map(|session| {
            let sender = SendKey::starting_at(material.clone(), [session; 12]).unwrap();
            let mut bytes = plain(12, true);
            message::seal(&sender, HeaderBinding::InfoSource, &mut bytes, Audience::All).unwrap();
            bytes
        })
        .collect();
    for at in [0, 1, 0, 9, 3, 2, 4, 1, 0, 8, 9] {
        assert!(open(&mut receiver, &sealed[at]).is_ok(), "{at}");
    }
}

proptest! {
    #[test]
    fn changed_message_never_gives_other_bytes(
        len in 0_usize..80,
        kind in 0_usize..4,
        binding in 0_usize..3,
        changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..6),
        cut in 0_usize..20,
    ) {
        let (sender, mut receiver) = keys(KINDS[kind]);
        let len = len.next_multiple_of(4);
        let original = plain(len, true);
        let mut sealed = original.clone();
        message::seal(&sender, BINDINGS[binding], &mut sealed, Audience::All).unwrap();
        let before = sealed.clone();
        for (at, value) in changes {
            let at = usize::from(at) % sealed.len();
            sealed[at] = value;
        }
        sealed.truncate(sealed.len() - cut);
        match open(&mut receiver, &sealed) {
            Ok(opened) => prop_assert_eq!(opened, original),
            Err(_) => prop_assert_ne!(sealed, before),
        }
    }

    #[test]
    fn any_datagram_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), kind in 0_u8..6, flags in 0_u8..8) {
        let (_, mut receiver) = keys(TransformationKind::Aes256Gcm);
        prop_assert!(open(&mut receiver, &bytes).is_err());
        let head = [&plain(0, true)[..20], &[0x33, flags, 20, 0, 0, 0, 0, kind]].concat();
        prop_assert!(open(&mut receiver, &[&head, &bytes[..]].concat()).is_err());
    }
}
