//! Key agreement: ECDH with P-256 and P-384, and DH with MODP-2048-256 (RFC 5114, 2.3).

use super::{HandshakeError, ecdh};
use crate::pki::{PublicKey, scalar_384_from, scalar_from};
use crypto_bigint::modular::runtime_mod::{DynResidue, DynResidueParams};
use crypto_bigint::{ArrayEncoding, Encoding, U256, U2048};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a number of the group.
const MODP_LEN: usize = 256;

/// Most bytes of a public key: a point without compression, and a number in DER with a zero before it.
const ECDH_PUBLIC_MAX: usize = 65;
const ECDH_384_PUBLIC_MAX: usize = 97;
const MODP_PUBLIC_MAX: usize = 261;

/// An algorithm for the agreement on a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Agreement {
    /// ECDH with P-256.
    Ecdh,
    /// DH with the group 2.3 of RFC 5114. Fast DDS 2 proposes it.
    Modp,
    /// ECDH with P-384, which DDS Security 1.2 adds.
    Ecdh384,
}

/// The version of DDS Security whose names of algorithms a token has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    V1_1,
    V1_2,
}

/// The agreements with their names of DDS Security 1.1 and 1.2. Version 1.2 has added P-384, so it has one name.
const NAMES: [(Agreement, &str, &str); 3] = [
    (Agreement::Ecdh, "ECDH+prime256v1-CEUM", "ECDHE-CEUM+P256"),
    (Agreement::Modp, "DH+MODP-2048-256", "DHE+MODP-2048-256"),
    (Agreement::Ecdh384, "ECDHE-CEUM+P384", "ECDHE-CEUM+P384"),
];

/// The names of the signature of a key: those of DDS Security 1.1 and 1.2.
fn signature_names(key: &PublicKey) -> (&'static str, &'static str) {
    match key {
        PublicKey::P256(_) => ("ECDSA-SHA256", "ECDSA+P256+SHA256"),
        PublicKey::P384(_) => ("ECDSA+P384+SHA384", "ECDSA+P384+SHA384"),
        PublicKey::Rsa(_) => ("RSASSA-PSS-SHA256", "RSASSA-PSS-MGF1SHA256+2048+SHA256"),
    }
}

/// Returns the name of the signature of a key on the wire.
pub(super) fn signature_name(key: &PublicKey, spelling: Spelling) -> &'static str {
    let names = signature_names(key);
    if spelling == Spelling::V1_2 { names.1 } else { names.0 }
}

/// Whether a name on the wire is that of the signature of a key. Some vendors end it with a zero.
pub(super) fn is_signature_name(name: &[u8], key: &PublicKey) -> bool {
    let name = name.strip_suffix(&[0]).unwrap_or(name);
    let names = signature_names(key);
    name == names.0.as_bytes() || name == names.1.as_bytes()
}

impl Agreement {
    /// The agreement that fits the key of an identity: its secret is as hard to find as the key.
    pub(super) fn of_key(key: &PublicKey) -> Self {
        if matches!(key, PublicKey::P384(_)) { Self::Ecdh384 } else { Self::Ecdh }
    }

    /// Whether an identity with this key agrees so. One with P-384 takes no weaker agreement.
    pub(super) fn is_enough_for(self, key: &PublicKey) -> bool {
        self == Self::Ecdh384 || Self::of_key(key) != Self::Ecdh384
    }

    /// The length of its keys, which decides about the work.
    pub(super) fn key_bits(self) -> usize {
        match self {
            Self::Ecdh => 256,
            Self::Ecdh384 => 384,
            Self::Modp => 2048,
        }
    }

    /// The names in a Request that proposes it. All vendors know those of version 1.1, and only participants of
    /// version 1.2 know P-384.
    pub(super) fn spelling_of_request(self) -> Spelling {
        if self == Self::Ecdh384 { Spelling::V1_2 } else { Spelling::V1_1 }
    }

    /// Reads the name on the wire. Some vendors end it with a zero.
    pub(super) fn from_name(name: &[u8]) -> Option<(Self, Spelling)> {
        let name = name.strip_suffix(&[0]).unwrap_or(name);
        NAMES.into_iter().find_map(|(agreement, old, new)| {
            let spelling = if name == new.as_bytes() { Spelling::V1_2 } else { Spelling::V1_1 };
            (name == old.as_bytes() || name == new.as_bytes()).then_some((agreement, spelling))
        })
    }

    /// Checks the length and the range of a public key. [`EphemeralKey::agree`] also checks its group.
    pub(super) fn check_public(self, public: &[u8]) -> Result<(), HandshakeError> {
        let is_valid = match self {
            Self::Ecdh => public.len() <= ECDH_PUBLIC_MAX && p256::PublicKey::from_sec1_bytes(public).is_ok(),
            Self::Ecdh384 => public.len() <= ECDH_384_PUBLIC_MAX && p384::PublicKey::from_sec1_bytes(public).is_ok(),
            Self::Modp => public.len() <= MODP_PUBLIC_MAX && modp_number(public).is_some(),
        };
        if is_valid { Ok(()) } else { Err(HandshakeError::PublicKey) }
    }

    /// The name on the wire.
    pub(super) fn name(self, spelling: Spelling) -> &'static str {
        debug_assert_eq!(NAMES[self as usize].0, self, "the names have the order of the variants");
        let (_, old, new) = NAMES[self as usize];
        if spelling == Spelling::V1_2 { new } else { old }
    }
}

/// A private key for one handshake, which is overwritten when it is dropped.
#[derive(Clone)]
pub(super) enum EphemeralKey {
    Ecdh(p256::SecretKey),
    Ecdh384(p384::SecretKey),
    Modp(Zeroizing<U256Bytes>),
}

type U256Bytes = [u8; 32];

impl EphemeralKey {
    /// Derives a key from random bytes.
    pub(super) fn derive(agreement: Agreement, random: &[u8; 32]) -> Self {
        match agreement {
            Agreement::Ecdh => Self::Ecdh(scalar_from(random, b"ecdh")),
            Agreement::Ecdh384 => Self::Ecdh384(scalar_384_from(random, b"ecdh")),
            Agreement::Modp => Self::Modp(crate::crypto::hmac(random, &[b"modp"])),
        }
    }

    /// The public key as it is on the wire. Cyclone DDS wants a number of MODP in DER, and others want its bytes.
    pub(super) fn public(&self, as_der: bool) -> Vec<u8> {
        match self {
            Self::Ecdh(key) => ecdh::public_256(key),
            Self::Ecdh384(key) => ecdh::public_384(key),
            Self::Modp(exponent) => {
                let public = power(&number(GENERATOR), exponent).to_be_bytes();
                if as_der { der_of(&public) } else { public.to_vec() }
            }
        }
    }

    /// Agrees on a secret with the public key of the other side.
    pub(super) fn agree(&self, public: &[u8]) -> Result<Zeroizing<[u8; 32]>, HandshakeError> {
        match self {
            Self::Ecdh(key) => {
                let public = p256::PublicKey::from_sec1_bytes(public).map_err(|_| HandshakeError::PublicKey)?;
                Ok(ecdh::secret_256(key, &public))
            }
            Self::Ecdh384(key) => {
                let public = p384::PublicKey::from_sec1_bytes(public).map_err(|_| HandshakeError::PublicKey)?;
                Ok(ecdh::secret_384(key, &public))
            }
            Self::Modp(exponent) => {
                let public = modp_public(public).ok_or(HandshakeError::PublicKey)?;
                let mut shared = power(&public, exponent);
                let bytes = Zeroizing::new(shared.to_be_bytes());
                shared.zeroize();
                // OpenSSL leaves out zeros at the start, so all vendors do. Each key serves once, so that the length
                // of one secret does not help an attacker with another one.
                let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
                Ok(Zeroizing::new(Sha256::digest(&bytes[start..]).into()))
            }
        }
    }
}

/// Reads a public key: a number of the subgroup with prime order.
fn modp_public(bytes: &[u8]) -> Option<U2048> {
    let public = modp_number(bytes)?;
    // Numbers outside of the subgroup would leak bits of the private key.
    (power(&public, &U256::from_be_hex(ORDER).to_be_bytes()) == U2048::ONE).then_some(public)
}

/// Reads a number in the range of the group, in DER or as bytes.
fn modp_number(bytes: &[u8]) -> Option<U2048> {
    let bytes = match bytes {
        // DER of a number with 255 to 257 bytes. A bare number of 256 bytes cannot have this length.
        [2, 0x82, high, low, rest @ ..] if rest.len() == usize::from(u16::from_be_bytes([*high, *low])) => rest,
        [2, 0x81, len, rest @ ..] if rest.len() == usize::from(*len) => rest,
        other => other,
    };
    let bytes = bytes.strip_prefix(&[0]).unwrap_or(bytes);
    if bytes.is_empty() || bytes.len() > MODP_LEN {
        return None;
    }
    let mut padded = [0; MODP_LEN];
    padded[MODP_LEN - bytes.len()..].copy_from_slice(bytes);
    let public = U2048::from_be_bytes(padded);
    let modulus = number(MODULUS);
    // With 0, 1 or p - 1, the secret would have at most two values.
    (public > U2048::ONE && public < modulus.wrapping_sub(&U2048::ONE)).then_some(public)
}

/// Raises a number to a power in constant time.
fn power(base: &U2048, exponent: &[u8; 32]) -> U2048 {
    let parameters = DynResidueParams::new(&number(MODULUS));
    let mut exponent = U256::from_be_byte_array((*exponent).into());
    // The time depends on the bound, and not on the bits of the exponent.
    let mut power = DynResidue::new(base, parameters).pow_bounded_exp(&exponent, 256);
    exponent.zeroize();
    let number = power.retrieve();
    power.zeroize();
    number
}

fn number(hex: &str) -> U2048 {
    U2048::from_be_hex(hex)
}

/// Returns a positive number in DER.
fn der_of(number: &[u8]) -> Vec<u8> {
    let start = number.iter().position(|byte| *byte != 0).unwrap_or(number.len());
    let digits = &number[start..];
    // Numbers in DER have a sign, so a set first bit needs a zero in front.
    let is_negative = digits.first().is_none_or(|byte| byte & 0x80 != 0);
    let len = digits.len() + usize::from(is_negative);
    debug_assert!(len <= MODP_LEN + 1, "a number is smaller than the modulus");
    let mut der = vec![2];
    match u8::try_from(len) {
        Ok(len @ 0..0x80) => der.push(len),
        Ok(len) => der.extend_from_slice(&[0x81, len]),
        Err(_) => {
            der.push(0x82);
            der.extend_from_slice(&(len as u16).to_be_bytes());
        }
    }
    if is_negative {
        der.push(0);
    }
    der.extend_from_slice(digits);
    der
}

/// The prime of the group.
const MODULUS: &str = "\
     87A8E61DB4B6663CFFBBD19C651959998CEEF608660DD0F25D2CEED4435E3B00E00DF8F1D61957D4FAF7DF4561B2AA30\
     16C3D91134096FAA3BF4296D830E9A7C209E0C6497517ABD5A8A9D306BCF67ED91F9E6725B4758C022E0B1EF4275BF7B\
     6C5BFC11D45F9088B941F54EB1E59BB8BC39A0BF12307F5C4FDB70C581B23F76B63ACAE1CAA6B7902D52526735488A0E\
     F13C6D9A51BFA4AB3AD8347796524D8EF6A167B5A41825D967E144E5140564251CCACB83E6B486F6B3CA3F7971506026\
     C0B857F689962856DED4010ABD0BE621C3A3960A54E710C375F26375D7014103A4B54330C198AF126116D2276E11715F\
     693877FAD7EF09CADB094AE91E1A1597";

/// The generator of the subgroup.
const GENERATOR: &str = "\
     3FB32C9B73134D0B2E77506660EDBD484CA7B18F21EF205407F4793A1A0BA12510DBC15077BE463FFF4FED4AAC0BB555\
     BE3A6C1B0C6B47B1BC3773BF7E8C6F62901228F8C28CBB18A55AE31341000A650196F931C77A57F2DDF463E5E9EC144B\
     777DE62AAAB8A8628AC376D282D6ED3864E67982428EBC831D14348F6F2F9193B5045AF2767164E1DFC967C1FB3F2E55\
     A4BD1BFFE83B9C80D052B985D182EA0ADB2A3B7313D3FE14C8484B1E052588B9B7D2BBD2DF016199ECD06E1557CD0915\
     B3353BBB64E0EC377FD028370DF92B52C7891428CDC67EB6184B523D1DB246C32F63078490F00EF8D647D148D4795451\
     5E2327CFEF98C582664B4C0F6CC41659";

/// The order of the subgroup.
const ORDER: &str = "8CF83642A709A097B447997640129DA299B1A47D1EB3750BA308B0FE64F5FBD3";

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Agreement; 3] = [Agreement::Ecdh, Agreement::Modp, Agreement::Ecdh384];

    #[test]
    fn both_sides_agree_on_one_secret() {
        for agreement in ALL {
            let [one, other] = [[1; 32], [2; 32]].map(|random| EphemeralKey::derive(agreement, &random));
            for as_der in [false, true] {
                let secrets = [one.agree(&other.public(as_der)).unwrap(), other.agree(&one.public(as_der)).unwrap()];
                assert_eq!(secrets[0], secrets[1]);
                assert_ne!(one.agree(&one.public(as_der)).unwrap(), secrets[0]);
            }
            for spelling in [Spelling::V1_1, Spelling::V1_2] {
                let (known, _) = Agreement::from_name(agreement.name(spelling).as_bytes()).unwrap();
                assert_eq!(known, agreement);
            }
        }
        assert_eq!(Agreement::from_name(b"ECDH+prime256v1-CEUM\0"), Some((Agreement::Ecdh, Spelling::V1_1)));
        assert_eq!(Agreement::from_name(b"ECDHE-CEUM+P256"), Some((Agreement::Ecdh, Spelling::V1_2)));
        assert_eq!(Agreement::from_name(b"ECDHE-CEUM+P384"), Some((Agreement::Ecdh384, Spelling::V1_2)));
        assert_eq!(Agreement::from_name(b"none"), None);
    }

    #[test]
    fn keys_outside_of_the_group_are_refused() {
        let modp = EphemeralKey::derive(Agreement::Modp, &[1; 32]);
        let modulus = number(MODULUS);
        for public in
            [U2048::ZERO, U2048::ONE, modulus.wrapping_sub(&U2048::ONE), modulus, U2048::MAX, U2048::from(2_u8)]
        {
            assert_eq!(modp.agree(&public.to_be_bytes()), Err(HandshakeError::PublicKey));
            let is_in_range = public == U2048::from(2_u8);
            assert_eq!(Agreement::Modp.check_public(&public.to_be_bytes()).is_ok(), is_in_range);
        }
        assert_eq!(modp.agree(&[]), Err(HandshakeError::PublicKey));
        assert_eq!(modp.agree(&[1; 300]), Err(HandshakeError::PublicKey));
        for (agreement, len) in [(Agreement::Ecdh, 65), (Agreement::Ecdh384, 97)] {
            let ecdh = EphemeralKey::derive(agreement, &[1; 32]);
            assert_eq!(ecdh.public(false).len(), len);
            assert_eq!(ecdh.agree(&[0]), Err(HandshakeError::PublicKey));
            assert_eq!(ecdh.agree(&vec![4; len]), Err(HandshakeError::PublicKey));
        }
        for agreement in ALL {
            let public = EphemeralKey::derive(agreement, &[1; 32]).public(true);
            assert_eq!(agreement.check_public(&public), Ok(()));
            assert_eq!(agreement.check_public(&[&public[..], &[0; 200]].concat()), Err(HandshakeError::PublicKey));
            assert_eq!(agreement.check_public(&[]), Err(HandshakeError::PublicKey));
        }
        assert_eq!(Agreement::Ecdh.check_public(&[4; 65]), Err(HandshakeError::PublicKey));
    }

    #[test]
    fn numbers_have_the_shortest_form_of_der() {
        assert_eq!(der_of(&[0, 0x7f]), [2, 1, 0x7f]);
        assert_eq!(der_of(&[0x80]), [2, 2, 0, 0x80]);
        assert_eq!(der_of(&[1; 200])[..3], [2, 0x81, 200]);
        assert_eq!(der_of(&[0xff; 256])[..6], [2, 0x82, 1, 1, 0, 0xff]);
    }
}
