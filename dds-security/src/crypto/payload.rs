//! Protection of serialized payloads (DDS Security 1.1, 9.5.3.3.4.2 and 9.5.3.3.4.3).
//!
//! ```text
//! encrypted       CryptoHeader, u32 length, ciphertext, CryptoFooter
//! authenticated   CryptoHeader, plain bytes,            CryptoFooter
//! ```
//!
//! The plain bytes include the encapsulation header. The footer has no MACs for receivers. Each DATA_FRAG has a payload
//! of its own: its fragments, protected as above.

use super::footer::{Footer, push_short_footer};
use super::{CryptoHeader, OpenError, ReceiveKey, SendKey, TransformationKind, insert_front};

/// Bytes of the length in front of encrypted content.
const LENGTH_LEN: usize = 4;

/// Most bytes by which protection makes a payload longer, without padding to a multiple of four.
pub const OVERHEAD: usize = CryptoHeader::WIRE_LEN + LENGTH_LEN + super::footer::FOOTER_LEN;

/// Bytes that protection puts in front of the content of a payload.
#[must_use]
pub fn front_len(kind: TransformationKind) -> usize {
    CryptoHeader::WIRE_LEN + if kind.encrypts() { LENGTH_LEN } else { 0 }
}

/// Protects a payload in place. Pads it with zeros to a multiple of four bytes.
pub fn seal(key: &SendKey, payload: &mut Vec<u8>) {
    insert_front(payload, 0, front_len(key.kind()));
    seal_behind(key, payload, 0);
}

/// Protects the payload that ends `message`, in place. Pads it as [`seal`] does.
///
/// The payload begins [`front_len`] bytes behind `start`, and the protected one at `start`. The bytes between have no
/// meaning before.
pub fn seal_behind(key: &SendKey, message: &mut Vec<u8>, start: usize) {
    let (header, session) = key.next();
    let content_at = start + front_len(header.kind);
    let len = message.len().saturating_sub(content_at).next_multiple_of(4);
    message.resize(content_at + len, 0);
    let (head, content) = message[start..].split_at_mut(content_at - start);
    let (crypto_header, length) = head.split_at_mut(CryptoHeader::WIRE_LEN);
    crypto_header.copy_from_slice(&header.to_bytes());
    if !length.is_empty() {
        length.copy_from_slice(&(len as u32).to_be_bytes());
    }
    let mac = session.seal(&header, &[], content);
    push_short_footer(message, &mac);
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
    let (content, footer) = split(&header, payload)?;
    let start = out.len();
    out.extend_from_slice(content);
    // Payloads have no MACs for receivers, so none is demanded.
    let opened = key.open_for_any(&header, &[], &mut out[start..], &footer);
    if opened.is_err() {
        out.truncate(start);
    }
    opened
}

/// Returns the content and the footer of a protected payload.
fn split<'a>(header: &CryptoHeader, payload: &'a [u8]) -> Result<(&'a [u8], Footer<'a>), OpenError> {
    let content_at = front_len(header.kind);
    let rest = payload.get(content_at..).ok_or(OpenError::Malformed)?;
    let len = match payload.get(CryptoHeader::WIRE_LEN..content_at).and_then(|length| length.first_chunk()) {
        Some(length) => u32::from_be_bytes(*length) as usize,
        // Its length is not written: the footer without receivers is what remains.
        None => rest.len().saturating_sub(super::footer::FOOTER_LEN),
    };
    let (content, rest) = rest.split_at_checked(len).ok_or(OpenError::Malformed)?;
    // Behind the footer there may be the padding of the submessage.
    let (footer, _) = Footer::parse(rest)?;
    Ok((content, footer))
}

/// Replaces the protected payload that begins at `start` and ends `message` by its plain bytes.
///
/// The bytes from `start` on have no meaning after an error.
///
/// # Errors
/// [`OpenError`] if the payload is not authentic.
pub fn open_from(key: &mut ReceiveKey, message: &mut Vec<u8>, start: usize) -> Result<(), OpenError> {
    let payload = message.get_mut(start..).unwrap_or_default();
    let header = header(payload)?;
    let rest = payload.get_mut(CryptoHeader::WIRE_LEN..).unwrap_or_default();
    let (content, rest) = if header.kind.encrypts() {
        let (length, rest) = rest.split_first_chunk_mut::<LENGTH_LEN>().ok_or(OpenError::Malformed)?;
        rest.split_at_mut_checked(u32::from_be_bytes(*length) as usize)
    } else {
        // Its length is not written: the footer without receivers is what remains.
        rest.split_at_mut_checked(rest.len().saturating_sub(super::footer::FOOTER_LEN))
    }
    .ok_or(OpenError::Malformed)?;
    // Behind the footer there may be the padding of the submessage.
    let (footer, _) = Footer::parse(rest)?;
    // As in `open`, payloads have no MACs for receivers.
    key.open_for_any(&header, &[], content, &footer)?;
    let (content_at, len) = (start + front_len(header.kind), content.len());
    message.copy_within(content_at..content_at + len, start);
    message.truncate(start + len);
    Ok(())
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

    #[test]
    fn payload_at_the_end_of_a_message_leaves_the_rest() {
        for kind in KINDS {
            let (sender, mut receiver) = keys(kind);
            let mut message = b"head, 12 bytpayload".to_vec();
            insert_front(&mut message, 12, front_len(kind));
            seal_behind(&sender, &mut message, 12);
            assert!(message.starts_with(b"head, 12 byt"));
            let mut alone = Vec::new();
            assert_eq!(open(&mut receiver, &message[12..], &mut alone), Ok(()));
            assert_eq!(open_from(&mut receiver, &mut message, 12), Ok(()));
            assert_eq!((&message[12..], &alone[..]), (&b"payload\0"[..], &b"payload\0"[..]));
            // Plain bytes are no protected payload, and a start behind the end leaves none.
            assert!(open_from(&mut receiver, &mut message, 12).is_err());
            assert_eq!(open_from(&mut receiver, &mut message, 99), Err(OpenError::Malformed));
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
