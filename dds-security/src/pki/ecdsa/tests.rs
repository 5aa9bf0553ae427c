//! All libraries accept and refuse the same signatures.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

#[cfg(feature = "graviola")]
use super::by_graviola;
#[cfg(feature = "ring")]
use super::by_ring;
use super::{EcdsaKey, rust_crypto};
use crate::pki::private_key::{scalar_384_from, scalar_from};
use p256::ecdsa::signature::hazmat::PrehashSigner;
use p256::elliptic_curve::Curve;
use p256::elliptic_curve::bigint::{Encoding, U512};
use proptest::prelude::*;
use sha2::{Digest, Sha256, Sha384};

#[derive(Debug, Clone, Copy)]
enum Kind {
    P256Sha256,
    P384Sha256,
    P384Sha384,
}

const KINDS: [Kind; 3] = [Kind::P256Sha256, Kind::P384Sha256, Kind::P384Sha384];

impl Kind {
    /// The order of the curve.
    fn order(self) -> U512 {
        match self {
            Self::P256Sha256 => number(&p256::NistP256::ORDER.to_be_bytes()),
            Self::P384Sha256 | Self::P384Sha384 => number(&p384::NistP384::ORDER.to_be_bytes()),
        }
    }

    fn hash(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::P256Sha256 | Self::P384Sha256 => Sha256::digest(bytes).to_vec(),
            Self::P384Sha384 => Sha384::digest(bytes).to_vec(),
        }
    }

    /// Bytes that are less than the modulus of the curve less its order.
    fn small_len(self) -> usize {
        match self {
            Self::P256Sha256 => 15,
            Self::P384Sha256 | Self::P384Sha384 => 23,
        }
    }

    fn key_384(self, key: p384::ecdsa::VerifyingKey) -> EcdsaKey {
        if matches!(self, Self::P384Sha256) { EcdsaKey::P384Sha256(key) } else { EcdsaKey::P384Sha384(key) }
    }

    /// A key made of random bytes, and the two numbers of its signature.
    fn sign(self, random: &[u8; 32], bytes: &[u8]) -> (EcdsaKey, U512, U512) {
        let hash = self.hash(bytes);
        match self {
            Self::P256Sha256 => {
                let key = p256::ecdsa::SigningKey::from(scalar_from(random, b"test"));
                let signature: p256::ecdsa::Signature = key.sign_prehash(&hash).unwrap();
                let (r, s) = signature.split_bytes();
                (EcdsaKey::P256Sha256(*key.verifying_key()), number(&r), number(&s))
            }
            Self::P384Sha256 | Self::P384Sha384 => {
                let key = p384::ecdsa::SigningKey::from(scalar_384_from(random, b"test"));
                let signature: p384::ecdsa::Signature = key.sign_prehash(&hash).unwrap();
                let (r, s) = signature.split_bytes();
                (self.key_384(*key.verifying_key()), number(&r), number(&s))
            }
        }
    }

    /// The key for which two numbers are a signature, by one of four points. Bit 0 says that `y` is odd, and bit 1 that
    /// `x` is `r` and the order.
    fn recover(self, bytes: &[u8], r: &U512, s: &U512, point: u8) -> Option<EcdsaKey> {
        let hash = self.hash(bytes);
        let (r, s) = (r.to_be_bytes(), s.to_be_bytes());
        match self {
            Self::P256Sha256 => {
                let signature = p256::ecdsa::Signature::from_slice(&[&r[32..], &s[32..]].concat()).ok()?;
                let key = p256::ecdsa::VerifyingKey::recover_from_prehash(&hash, &signature, point.try_into().unwrap())
                    .ok()?;
                Some(EcdsaKey::P256Sha256(key))
            }
            Self::P384Sha256 | Self::P384Sha384 => {
                let signature = p384::ecdsa::Signature::from_slice(&[&r[16..], &s[16..]].concat()).ok()?;
                p384::ecdsa::VerifyingKey::recover_from_prehash(&hash, &signature, point.try_into().unwrap())
                    .ok()
                    .map(|key| self.key_384(key))
            }
        }
    }
}

fn number(bytes: &[u8]) -> U512 {
    let mut longer = [0; 64];
    longer[64 - bytes.len()..].copy_from_slice(bytes);
    U512::from_be_slice(&longer)
}

/// An element of DER. The length takes as few bytes as possible.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = u8::try_from(content.len()).unwrap();
    let head = if len < 0x80 { vec![tag, len] } else { vec![tag, 0x81, len] };
    [&head[..], content].concat()
}

/// The bytes of a number, without leading zeros except that of the sign.
fn integer_bytes(value: &U512) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count().min(63);
    let sign: &[u8] = if bytes[zeros] < 0x80 { &[] } else { &[0] };
    [sign, &bytes[zeros..]].concat()
}

fn der(r: &U512, s: &U512) -> Vec<u8> {
    element(0x30, &[element(2, &integer_bytes(r)), element(2, &integer_bytes(s))].concat())
}

/// The verdict of all libraries.
fn verdict(key: EcdsaKey, bytes: &[u8], signature: &[u8]) -> bool {
    let verdict = rust_crypto::verifies(key, bytes, signature);
    #[cfg(feature = "graviola")]
    if let Some(other) = by_graviola::verifies(key, bytes, signature) {
        assert_eq!(other, verdict, "graviola, {key:?}: {signature:02x?} of {bytes:02x?}");
    }
    #[cfg(feature = "ring")]
    assert_eq!(by_ring::verifies(key, bytes, signature), verdict, "ring, {key:?}: {signature:02x?} of {bytes:02x?}");
    verdict
}

proptest! {
    // In a debug build, a verification takes milliseconds.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn signatures_count_for_their_bytes_and_key_alone(
        kind in prop::sample::select(&KINDS[..]),
        random in any::<[u8; 32]>(),
        other in any::<[u8; 32]>(),
        bytes in proptest::collection::vec(any::<u8>(), 1..300),
        changed in any::<prop::sample::Index>(),
        bit in 0_u32..8,
    ) {
        prop_assume!(random != other);
        let (key, r, s) = kind.sign(&random, &bytes);
        let signature = der(&r, &s);
        prop_assert!(verdict(key, &bytes, &signature));
        // Either value of `s` is the larger one.
        let mirrored = kind.order().wrapping_sub(&s);
        prop_assert!(verdict(key, &bytes, &der(&r, &mirrored)));
        let mut forged = bytes.clone();
        forged[changed.index(bytes.len())] ^= 1_u8 << bit;
        prop_assert!(!verdict(key, &forged, &signature));
        let (other_key, ..) = kind.sign(&other, &bytes);
        prop_assert!(!verdict(other_key, &bytes, &signature));
    }

    #[test]
    fn changed_signatures_are_refused(
        kind in prop::sample::select(&KINDS[..]),
        random in any::<[u8; 32]>(),
        place in any::<prop::sample::Index>(),
        removed in 0_usize..4,
        added in proptest::collection::vec(any::<u8>(), 0..4),
    ) {
        let (key, r, s) = kind.sign(&random, b"bytes");
        let signature = der(&r, &s);
        let start = place.index(signature.len() + 1);
        let end = (start + removed).min(signature.len());
        let changed = [&signature[..start], &added, &signature[end..]].concat();
        prop_assert_eq!(verdict(key, b"bytes", &changed), changed == signature);
    }

    /// Signatures with numbers of any length. A signer hardly ever computes a short one.
    #[test]
    fn numbers_of_any_length_are_accepted(
        kind in prop::sample::select(&KINDS[..]),
        r in any::<[u8; 48]>(),
        s in any::<[u8; 48]>(),
        r_len in 1_usize..=48,
        s_len in 1_usize..=48,
        point in 0_u8..4,
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        // `r` and the order are below the modulus for small numbers only.
        let r_len = if point < 2 { r_len } else { r_len.min(kind.small_len()) };
        let modulus = kind.order();
        let s = number(&s[..s_len]).wrapping_rem(&modulus);
        let s = if s == U512::ZERO { U512::ONE } else { s };
        let first = number(&r[..r_len]).wrapping_rem(&modulus);
        // Every second number is the coordinate of a point.
        let found = (0_u8..100).find_map(|more| {
            let r = first.wrapping_add(&U512::from(more));
            Some((kind.recover(&bytes, &r, &s, point)?, r))
        });
        let (key, r) = found.unwrap();
        prop_assert!(verdict(key, &bytes, &der(&r, &s)));
        let next = s.wrapping_add(&U512::ONE);
        prop_assert!(!verdict(key, &bytes, &der(&r, &next)));
    }
}

/// Encodings with the numbers of a valid signature that are not DER, and numbers outside of the range.
#[test]
fn other_encodings_and_numbers_out_of_range_are_refused() {
    for kind in KINDS {
        let (key, r, s) = kind.sign(&[7; 32], b"bytes");
        assert!(verdict(key, b"bytes", &der(&r, &s)), "{kind:?}");
        for (fault, signature) in encodings(&r, &s) {
            assert!(!verdict(key, b"bytes", &signature), "{kind:?}: {fault}");
        }
        let order = kind.order();
        let more = |number: &U512| number.wrapping_add(&order);
        for (r, s) in [
            (U512::ZERO, s),
            (r, U512::ZERO),
            (U512::ZERO, U512::ZERO),
            (order, s),
            (r, order),
            (more(&r), s),
            (r, more(&s)),
            (U512::MAX, s),
            (r, U512::MAX),
        ] {
            assert!(!verdict(key, b"bytes", &der(&r, &s)), "{kind:?}: {r} {s}");
        }
    }
}

fn encodings(r: &U512, s: &U512) -> Vec<(&'static str, Vec<u8>)> {
    let (r_bytes, s_bytes) = (integer_bytes(r), integer_bytes(s));
    let (r, s) = (element(2, &r_bytes), element(2, &s_bytes));
    let both = [&r[..], &s].concat();
    let len = u8::try_from(both.len()).unwrap();
    let valid = element(0x30, &both);
    let zero_before = |bytes: &[u8]| element(2, &[&[0], bytes].concat());
    let long_len = |tag: u8, bytes: &[u8]| [&[tag, 0x81, u8::try_from(bytes.len()).unwrap()], bytes].concat();
    vec![
        ("nothing", vec![]),
        ("a byte less", valid[..valid.len() - 1].to_vec()),
        ("a byte more", [&valid[..], &[0]].concat()),
        ("a byte more in the sequence", element(0x30, &[&both[..], &[0]].concat())),
        ("a third number", element(0x30, &[&both[..], &element(2, &[1])].concat())),
        ("one number", element(0x30, &r)),
        ("no number", element(0x30, &[])),
        ("the numbers alone", both.clone()),
        ("the numbers without DER", [&r_bytes[..], &s_bytes].concat()),
        ("a length in two bytes", [&[0x30, 0x81, len], &both[..]].concat()),
        ("a length in three bytes", [&[0x30, 0x82, 0, len], &both[..]].concat()),
        ("a length in four bytes", [&[0x30, 0x83, 0, 0, len], &both[..]].concat()),
        ("a length without an end", [&[0x30, 0x80], &both[..], &[0, 0]].concat()),
        ("a length beyond the end", [&[0x30, len + 1], &both[..]].concat()),
        ("a length before the end", [&[0x30, len - 1], &both[..]].concat()),
        ("r with a length in two bytes", element(0x30, &[&long_len(2, &r_bytes)[..], &s].concat())),
        ("s with a length in two bytes", element(0x30, &[&r[..], &long_len(2, &s_bytes)].concat())),
        ("r with a zero more", element(0x30, &[&zero_before(&r_bytes)[..], &s].concat())),
        ("s with a zero more", element(0x30, &[&r[..], &zero_before(&s_bytes)].concat())),
        ("r without bytes", element(0x30, &[&element(2, &[])[..], &s].concat())),
        ("s without bytes", element(0x30, &[&r[..], &element(2, &[])].concat())),
        ("r as a negative number", element(0x30, &[&element(2, &[0xff])[..], &s].concat())),
        ("s as a negative number", element(0x30, &[&r[..], &element(2, &[0xff])].concat())),
        ("r as a string", element(0x30, &[&element(4, &r_bytes)[..], &s].concat())),
        ("s as a string", element(0x30, &[&r[..], &element(4, &s_bytes)].concat())),
        ("a set", element(0x31, &both)),
        ("a sequence that is primitive", element(0x10, &both)),
        ("a tag in two bytes", [&[0x3f, 0x10, len], &both[..]].concat()),
        ("a sequence in a sequence", element(0x30, &valid)),
        ("numbers in the other order", element(0x30, &[&s[..], &r].concat())),
    ]
}
