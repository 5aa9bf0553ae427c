//! Protection of serialized payloads (DDS Security 1.1, 9.5.3.3.4.2 and 9.5.3.3.4.3).
//!
//! ```text
//! encrypted       CryptoHeader, u32 length, ciphertext, CryptoFooter
//! authenticated   CryptoHeader, plain bytes,            CryptoFooter
//! ```
//!
//! The plain bytes include the encapsulation header. The footer has no MACs for receivers.

use super::footer::{Footer, push_footer};
use super::{CryptoHeader, OpenError, ReceiveKey, SendKey};

/// Bytes in front of the content: the CryptoHeader, and the length of encrypted content.
const LENGTH_LEN: usize = 4;

/// Most bytes by which protection makes a payload longer, without padding to a multiple of four.
pub const OVERHEAD: usize = CryptoHeader::WIRE_LEN + LENGTH_LEN + super::footer::FOOTER_LEN;

/// Protects a payload in place. Pads it with zeros to a multiple of four bytes.
pub fn seal(key: &SendKey, payload: &mut Vec<u8>) {
    payload.resize(payload.len().next_multiple_of(4), 0);
    let len = payload.len();
    let (header, session) = key.next();
    let front = CryptoHeader::WIRE_LEN + if header.kind.encrypts() { LENGTH_LEN } else { 0 };
    payload.resize(front + len, 0);
    payload.copy_within(..len, front);
    let (head, content) = payload.split_at_mut(front);
    let (crypto_header, length) = head.split_at_mut(CryptoHeader::WIRE_LEN);
    crypto_header.copy_from_slice(&header.to_bytes());
    if !length.is_empty() {
        length.copy_from_slice(&(len as u32).to_be_bytes());
    }
    let mac = session.seal(&header, &[], content);
    push_footer(payload, key.material(), &header, &mac, &[]);
}

/// Returns the header of a protected payload, which names the key to open it with.
///
/// # Errors
/// [`OpenError::Malformed`] if the payload has no header.
pub fn header(payload: &[u8]) -> Result<CryptoHeader, OpenError> {
    let bytes = payload.first_chunk::<{ CryptoHeader::WIRE_LEN }>().ok_or(OpenError::Malformed)?;
    CryptoHeader::parse(bytes).ok_or(OpenError::Malformed)
}

/// Appends the plain bytes of a protected payload to `out`. An error leaves `out` as it was.
///
/// # Errors
/// [`OpenError`] if the payload is not authentic.
pub fn open(key: &mut ReceiveKey, payload: &[u8], out: &mut Vec<u8>) -> Result<(), OpenError> {
    let header = header(payload)?;
    let rest = &payload[CryptoHeader::WIRE_LEN..];
    let (content, rest) = if header.kind.encrypts() {
        let (length, rest) = rest.split_first_chunk::<LENGTH_LEN>().ok_or(OpenError::Malformed)?;
        rest.split_at_checked(u32::from_be_bytes(*length) as usize)
    } else {
        // Its length is not written: the footer without receivers is what remains.
        rest.split_at_checked(rest.len().saturating_sub(super::footer::FOOTER_LEN))
    }
    .ok_or(OpenError::Malformed)?;
    // Behind the footer there may be the padding of the submessage.
    let (footer, _) = Footer::parse(rest)?;
    let start = out.len();
    out.extend_from_slice(content);
    let opened = key.open(&header, &[], &mut out[start..], &footer);
    if opened.is_err() {
        out.truncate(start);
    }
    opened
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::{KeyMaterial, TransformationKind};
    use proptest::prelude::*;

    fn keys(kind: TransformationKind) -> (SendKey, ReceiveKey) {
        let material = KeyMaterial::generate(kind).unwrap();
        (SendKey::new(material.clone()).unwrap().unwrap(), ReceiveKey::new(material))
    }

    const KINDS: [TransformationKind; 4] = [
        TransformationKind::Aes128Gmac,
        TransformationKind::Aes128Gcm,
        TransformationKind::Aes256Gmac,
        TransformationKind::Aes256Gcm,
    ];

    /// The bytes come from an implementation of AES-GCM and HMAC other than the one in use (Python's `cryptography`).
    #[test]
    fn payload_equals_the_vector() {
        let material = KeyMaterial {
            kind: TransformationKind::Aes256Gcm,
            revision: [0; 3],
            sender_key_id: [1, 2, 3, 4],
            master_salt: [0x11; 32],
            master_sender_key: [0x22; 32],
            receiver: None,
        };
        let key = SendKey::starting_at(material.clone(), [0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 7]).unwrap();
        let mut sealed = vec![0, 1, 0, 0, 42, 0, 0, 0];
        seal(&key, &mut sealed);
        assert_eq!(sealed, include_bytes!("../../tests/vectors/payload_aes256_gcm.bin"));
        let mut opened = Vec::new();
        assert_eq!(open(&mut ReceiveKey::new(material), &sealed, &mut opened), Ok(()));
        assert_eq!(opened, [0, 1, 0, 0, 42, 0, 0, 0]);
    }

    #[test]
    fn changed_bit_is_refused() {
        for kind in KINDS {
            let (sender, mut receiver) = keys(kind);
            let mut sealed = b"\0\x01\0\0payload.".to_vec();
            seal(&sender, &mut sealed);
            for bit in 0..sealed.len() * 8 {
                let mut changed = sealed.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                let mut opened = vec![7];
                assert!(open(&mut receiver, &changed, &mut opened).is_err(), "{kind:?}, bit {bit}");
                assert_eq!(opened, [7]);
            }
            for len in 0..sealed.len() {
                assert!(open(&mut receiver, &sealed[..len], &mut Vec::new()).is_err());
            }
            assert_eq!(open(&mut receiver, &sealed, &mut Vec::new()), Ok(()));
        }
    }

    proptest! {
        #[test]
        fn payload_survives(bytes in proptest::collection::vec(any::<u8>(), 0..300), kind in 0_usize..4) {
            let (sender, mut receiver) = keys(KINDS[kind]);
            let mut sealed = bytes.clone();
            seal(&sender, &mut sealed);
            prop_assert!(sealed.len() <= bytes.len() + 3 + OVERHEAD);
            let mut opened = Vec::new();
            prop_assert_eq!(open(&mut receiver, &sealed, &mut opened), Ok(()));
            prop_assert_eq!(opened.len(), bytes.len().next_multiple_of(4));
            prop_assert_eq!(&opened[..bytes.len()], &bytes[..]);
        }

        #[test]
        fn any_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..120), kind in 1_u8..5) {
            let mut bytes = bytes;
            if let Some(place) = bytes.get_mut(3) {
                *place = kind;
            }
            let (_, mut receiver) = keys(TransformationKind::Aes256Gcm);
            prop_assert!(open(&mut receiver, &bytes, &mut Vec::new()).is_err());
        }
    }
}
