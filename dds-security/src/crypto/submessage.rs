//! Protection of submessages (DDS Security 1.1, 7.3.6 and 9.5.3.3.4.4).
//!
//! ```text
//! SEC_PREFIX    0x31, flags, u16 length, CryptoHeader
//! SEC_BODY      0x30, flags, u16 length, u32 length, ciphertext    encrypted
//!   or the plain submessage                                        authenticated
//! SEC_POSTFIX   0x32, flags, u16 length, CryptoFooter
//! ```
//!
//! The ciphertext has one whole submessage. The u16 follows the flag E of its submessage.

use super::footer::{FOOTER_LEN, Footer, push_footer};
use super::{Audience, CryptoHeader, OpenError, ReceiveKey, SendKey, TooLong, TransformationKind, insert_front};

/// Id of SEC_BODY.
pub const SEC_BODY: u8 = 0x30;
/// Id of SEC_PREFIX.
pub const SEC_PREFIX: u8 = 0x31;
/// Id of SEC_POSTFIX.
pub const SEC_POSTFIX: u8 = 0x32;

/// Bytes of the header of a submessage.
pub(crate) const SUBMESSAGE_HEADER_LEN: usize = 4;
/// Bytes of a prefix.
pub(crate) const PREFIX_LEN: usize = SUBMESSAGE_HEADER_LEN + CryptoHeader::WIRE_LEN;
/// Bytes in front of the ciphertext.
pub(crate) const BODY_HEADER_LEN: usize = SUBMESSAGE_HEADER_LEN + 4;
/// Bytes of a postfix without MACs for receivers.
pub(crate) const POSTFIX_LEN: usize = SUBMESSAGE_HEADER_LEN + FOOTER_LEN;

/// Flag E: the length of the submessage is little endian.
pub(crate) const LITTLE_ENDIAN: u8 = 0x01;

/// Bytes that protection puts in front of a submessage.
#[must_use]
pub fn front_len(kind: TransformationKind) -> usize {
    PREFIX_LEN + if kind.encrypts() { BODY_HEADER_LEN } else { 0 }
}

/// Protects the last submessage of `message`, which begins at `start`, in place.
///
/// The footer has a MAC for each receiver of the audience, if the key has receivers.
///
/// # Errors
/// [`TooLong`] if the submessage has more than 65 528 bytes. `message` is then unchanged.
pub fn seal(key: &SendKey, message: &mut Vec<u8>, start: usize, audience: Audience) -> Result<(), TooLong> {
    // Before anything changes.
    body_len(message.len().saturating_sub(start))?;
    insert_front(message, start, front_len(key.kind()));
    seal_behind(key, message, start, audience)
}

/// As [`seal`], for a submessage that begins [`front_len`] bytes behind `start`. The protected one begins at `start`.
/// The bytes between have no meaning before.
///
/// # Errors
/// [`TooLong`] if the submessage has more than 65 528 bytes. The message must not be sent then.
pub fn seal_behind(key: &SendKey, message: &mut Vec<u8>, start: usize, audience: Audience) -> Result<(), TooLong> {
    let content_at = start + front_len(key.kind());
    // With padding.
    body_len(message.len().checked_sub(content_at).ok_or(TooLong)?)?;
    fill_length(message, content_at)?;
    let len = message.len() - content_at;
    let (header, session) = key.next();
    put_prefix(&mut message[start..], SEC_PREFIX, 0, &header);
    if header.kind.encrypts() {
        put_body_header(&mut message[start + PREFIX_LEN..], len);
    }
    let mac = session.seal(&header, &[], &mut message[content_at..]);
    push_postfix(message, SEC_POSTFIX, key, &header, &mac, audience);
    Ok(())
}

/// Returns the header of a protected submessage, which names the key to open it with.
///
/// # Errors
/// [`OpenError::NotProtected`] if `bytes` do not begin with SEC_PREFIX, [`OpenError::Malformed`] if it is too short.
pub fn header(bytes: &[u8]) -> Result<CryptoHeader, OpenError> {
    Ok(parse_prefix(bytes, SEC_PREFIX)?.1)
}

/// Appends the plain submessage to `out`. Returns how many bytes the protected one had.
///
/// An error leaves `out` as it was.
///
/// # Errors
/// [`OpenError`] if the submessage is not authentic.
pub fn open(key: &mut ReceiveKey, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize, OpenError> {
    let (_, header, rest) = parse_prefix(bytes, SEC_PREFIX)?;
    let (content, rest) = if header.kind.encrypts() {
        parse_body(rest)?
    } else {
        let len = submessage_len(rest)?;
        rest.split_at_checked(len).ok_or(OpenError::Malformed)?
    };
    let (footer, rest) = parse_postfix(rest, SEC_POSTFIX)?;
    let start = out.len();
    out.extend_from_slice(content);
    if let Err(error) = key.open(&header, &[], &mut out[start..], &footer) {
        // Bytes that did not verify must not reach the caller.
        out.truncate(start);
        return Err(error);
    }
    Ok(bytes.len() - rest.len())
}

/// Writes the length of a last submessage that has 0, which means "to the end of the message".
///
/// The submessage is padded to a multiple of four bytes.
pub(crate) fn fill_length(message: &mut Vec<u8>, start: usize) -> Result<(), TooLong> {
    let len = message.len().saturating_sub(start);
    let padded = len.next_multiple_of(4);
    let Some([_, flags, l0, l1]) = message.get(start..).and_then(|rest| rest.first_chunk::<4>().copied()) else {
        return Ok(());
    };
    // A length of zero reaches to the end of the message, and a postfix follows here.
    if padded == len && [l0, l1] != [0, 0] {
        return Ok(());
    }
    let octets = u16::try_from(padded - SUBMESSAGE_HEADER_LEN).map_err(|_| TooLong)?;
    let octets = if flags & LITTLE_ENDIAN != 0 { octets.to_le_bytes() } else { octets.to_be_bytes() };
    message[start + 2..start + 4].copy_from_slice(&octets);
    message.resize(start + padded, 0);
    Ok(())
}

/// Returns the length field of a body with `len` bytes of ciphertext.
pub(crate) fn body_len(len: usize) -> Result<u16, TooLong> {
    u16::try_from(len.next_multiple_of(4) + 4).map_err(|_| TooLong)
}

pub(crate) fn put_prefix(place: &mut [u8], id: u8, flags: u8, header: &CryptoHeader) {
    let octets = (CryptoHeader::WIRE_LEN as u16).to_le_bytes();
    debug_assert!(place.len() >= PREFIX_LEN, "`front_len` has room for the prefix");
    place[..SUBMESSAGE_HEADER_LEN].copy_from_slice(&[id, flags | LITTLE_ENDIAN, octets[0], octets[1]]);
    place[SUBMESSAGE_HEADER_LEN..PREFIX_LEN].copy_from_slice(&header.to_bytes());
}

/// The caller has checked that the length fits.
pub(crate) fn put_body_header(place: &mut [u8], len: usize) {
    debug_assert!(body_len(len).is_ok(), "the caller has checked the length");
    let octets = body_len(len).unwrap_or_default().to_le_bytes();
    place[..SUBMESSAGE_HEADER_LEN].copy_from_slice(&[SEC_BODY, LITTLE_ENDIAN, octets[0], octets[1]]);
    place[SUBMESSAGE_HEADER_LEN..BODY_HEADER_LEN].copy_from_slice(&(len as u32).to_be_bytes());
}

/// Pads the content, and appends the postfix.
pub(crate) fn push_postfix(
    message: &mut Vec<u8>,
    id: u8,
    key: &SendKey,
    header: &CryptoHeader,
    mac: &[u8; 16],
    audience: Audience,
) {
    message.resize(message.len().next_multiple_of(4), 0);
    let start = message.len();
    message.extend_from_slice(&[id, LITTLE_ENDIAN, 0, 0]);
    push_footer(message, key, header, mac, audience);
    // A key has few receivers, so the length fits.
    debug_assert!(message.len() - start <= usize::from(u16::MAX), "a key has few receivers");
    let octets = u16::try_from(message.len() - start - SUBMESSAGE_HEADER_LEN).unwrap_or_default().to_le_bytes();
    message[start + 2..start + 4].copy_from_slice(&octets);
}

/// Splits off a submessage with `id`. Returns its flags, its content, and the bytes behind it.
fn split_submessage(bytes: &[u8], expected: u8) -> Result<(u8, &[u8], &[u8]), OpenError> {
    let [id, flags, ..] = *bytes.first_chunk::<4>().ok_or(OpenError::Malformed)?;
    if id != expected {
        return Err(OpenError::Malformed);
    }
    let len = submessage_len(bytes)?;
    let (submessage, behind) = bytes.split_at_checked(len).ok_or(OpenError::Malformed)?;
    Ok((flags, &submessage[SUBMESSAGE_HEADER_LEN..], behind))
}

/// Returns the length of the first submessage, with its header.
fn submessage_len(bytes: &[u8]) -> Result<usize, OpenError> {
    /// Submessages whose length 0 means that they are empty.
    const MAY_BE_EMPTY: [u8; 2] = [0x01, 0x09];
    let [id, flags, l0, l1] = *bytes.first_chunk::<4>().ok_or(OpenError::Malformed)?;
    let little = flags & LITTLE_ENDIAN != 0;
    let octets = if little { u16::from_le_bytes([l0, l1]) } else { u16::from_be_bytes([l0, l1]) };
    if octets == 0 && !MAY_BE_EMPTY.contains(&id) {
        return Ok(bytes.len());
    }
    Ok(SUBMESSAGE_HEADER_LEN + usize::from(octets))
}

/// Reads a prefix. Returns its flags, the header in it, and the bytes behind it.
pub(crate) fn parse_prefix(bytes: &[u8], id: u8) -> Result<(u8, CryptoHeader, &[u8]), OpenError> {
    if bytes.first() != Some(&id) {
        return Err(OpenError::NotProtected);
    }
    let (flags, content, behind) = split_submessage(bytes, id)?;
    let header = content.first_chunk::<{ CryptoHeader::WIRE_LEN }>().ok_or(OpenError::Malformed)?;
    Ok((flags, CryptoHeader::parse(header).ok_or(OpenError::Malformed)?, behind))
}

/// Reads a body. Returns the ciphertext and the bytes behind the body.
pub(crate) fn parse_body(bytes: &[u8]) -> Result<(&[u8], &[u8]), OpenError> {
    let (_, content, behind) = split_submessage(bytes, SEC_BODY)?;
    let (length, content) = content.split_first_chunk::<4>().ok_or(OpenError::Malformed)?;
    let ciphertext = content.get(..u32::from_be_bytes(*length) as usize).ok_or(OpenError::Malformed)?;
    // Only the padding may follow.
    if content.len() - ciphertext.len() > 3 {
        return Err(OpenError::Malformed);
    }
    Ok((ciphertext, behind))
}

/// Reads a postfix. Returns the footer in it, and the bytes behind it.
pub(crate) fn parse_postfix(bytes: &[u8], id: u8) -> Result<(Footer<'_>, &[u8]), OpenError> {
    let (_, content, behind) = split_submessage(bytes, id)?;
    let (footer, _) = Footer::parse(content)?;
    Ok((footer, behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::{KeyMaterial, TransformationKind};
    use proptest::prelude::*;

    const KINDS: [TransformationKind; 4] = [
        TransformationKind::Aes128Gmac,
        TransformationKind::Aes128Gcm,
        TransformationKind::Aes256Gmac,
        TransformationKind::Aes256Gcm,
    ];

    /// A submessage DATA with `len` bytes behind its header, and its length as 0.
    fn submessage(len: usize) -> Vec<u8> {
        let mut bytes = vec![0x15, LITTLE_ENDIAN, 0, 0];
        bytes.extend((0..len).map(|at| at as u8));
        bytes
    }

    #[test]
    fn several_submessages_open_one_after_the_other() {
        for kind in KINDS {
            let material = KeyMaterial::generate(kind).unwrap();
            let sender = SendKey::new(material.clone()).unwrap().unwrap();
            let mut receiver = ReceiveKey::new(material);
            let mut message = Vec::new();
            for len in [4, 8, 100] {
                let start = message.len();
                message.extend(submessage(len));
                seal(&sender, &mut message, start, Audience::All).unwrap();
                assert_eq!(message.len() % 4, 0);
            }
            let (mut at, mut opened) = (0, Vec::new());
            while at < message.len() {
                assert!(receiver.is_named_by(&header(&message[at..]).unwrap()));
                at += open(&mut receiver, &message[at..], &mut opened).unwrap();
            }
            let [mut first, mut second, mut third] = [4, 8, 100].map(submessage);
            first[2] = 4;
            second[2] = 8;
            third[2] = 100;
            assert_eq!(opened, [first, second, third].concat(), "{kind:?}");
        }
    }

    #[test]
    fn only_addressed_receivers_accept() {
        for kind in KINDS {
            let common = KeyMaterial::generate(kind).unwrap();
            let sender = SendKey::new(common.clone()).unwrap().unwrap().authenticating_origin();
            let names = [[1; 12], [2; 12]];
            let receivers = names.map(|name| sender.add_receiver(name).unwrap().unwrap());
            assert_eq!(sender.add_receiver(names[0]).unwrap().as_ref(), Some(&receivers[0]), "its key stays the same");
            let open_as = |message: &[u8], material: &KeyMaterial| {
                open(&mut ReceiveKey::new(material.clone()), message, &mut Vec::new()).map(|_| ())
            };
            let unnamed = Err(OpenError::NotForThisReceiver);
            for (audience, expected) in [
                (Audience::All, [Ok(()), Ok(())]),
                (Audience::One(names[0]), [Ok(()), unnamed]),
                (Audience::One(names[1]), [unnamed, Ok(())]),
                (Audience::One([3; 12]), [unnamed, unnamed]),
            ] {
                let mut message = submessage(20);
                seal(&sender, &mut message, 0, audience).unwrap();
                assert_eq!([0, 1].map(|at| open_as(&message, &receivers[at])), expected, "{kind:?}, {audience:?}");
                // A receiver without a key of its own does not ask for a MAC.
                assert_eq!(open_as(&message, &common), Ok(()));
            }
            // A receiver speaks in the name of the sender. It knows the common key, and its own one.
            let mut forged = submessage(20);
            let impostor = SendKey::new(receivers[0].clone()).unwrap().unwrap();
            seal(&impostor, &mut forged, 0, Audience::All).unwrap();
            assert_eq!(open_as(&forged, &receivers[1]), unnamed);
            // It may repeat the id of another key, and the MAC that it got with it.
            let mut message = submessage(20);
            seal(&sender, &mut message, 0, Audience::All).unwrap();
            let len = message.len();
            let impostor = SendKey::starting_at(receivers[0].clone(), [9; 12]).unwrap();
            let mut forged = submessage(20);
            seal(&impostor, &mut forged, 0, Audience::All).unwrap();
            forged.truncate(forged.len() - 4);
            forged.extend_from_slice(&message[len - 44..]);
            let postfix = forged.len() - 64;
            forged[postfix + 2] = 60;
            assert_eq!(open_as(&forged, &receivers[1]), Err(OpenError::Forged));
            sender.remove_receiver(names[1]);
            let mut message = submessage(20);
            seal(&sender, &mut message, 0, Audience::All).unwrap();
            assert_eq!(open_as(&message, &receivers[1]), unnamed);
        }
    }

    #[test]
    fn receivers_of_a_key_are_bounded() {
        let key = SendKey::new(KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap()).unwrap().unwrap();
        assert_eq!(key.add_receiver([0; 12]).unwrap(), None, "it has no receivers");
        let key = key.authenticating_origin();
        let added = (0..100).filter(|number| key.add_receiver([*number; 12]).unwrap().is_some());
        assert_eq!(added.count(), crate::crypto::RECEIVERS_MAX);
        let mut message = submessage(20);
        seal(&key, &mut message, 0, Audience::All).unwrap();
        assert!(message.len() <= 24 + 24 + 8 + 24 + 20 * crate::crypto::RECEIVERS_MAX);
    }

    #[test]
    fn changed_or_cut_submessage_is_refused() {
        for kind in KINDS {
            let material = KeyMaterial::generate(kind).unwrap();
            let sender = SendKey::new(material.clone()).unwrap().unwrap();
            let mut receiver = ReceiveKey::new(material);
            let mut message = submessage(20);
            seal(&sender, &mut message, 0, Audience::All).unwrap();
            let mut accepted = 0;
            for bit in 0..message.len() * 8 {
                let mut changed = message.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                let mut opened = Vec::new();
                if open(&mut receiver, &changed, &mut opened).is_ok() {
                    // Unused flags and paddings are not authenticated, and have no effect.
                    accepted += 1;
                    assert_eq!(opened[4..], submessage(20)[4..], "{kind:?}, bit {bit}");
                }
            }
            assert!(accepted < 24, "{kind:?}: {accepted}");
            for len in 0..message.len() {
                assert!(open(&mut receiver, &message[..len], &mut Vec::new()).is_err());
            }
        }
    }

    #[test]
    fn submessage_without_room_for_its_length_is_refused() {
        let key = SendKey::new(KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap()).unwrap().unwrap();
        // The length 65 530 has room in its own header, and not in that of the body.
        for len in [65_525, 65_530, 65_536] {
            let mut message = submessage(len);
            let before = message.clone();
            assert_eq!(seal(&key, &mut message, 0, Audience::All), Err(TooLong));
            assert_eq!(message, before);
        }
        assert_eq!(seal(&key, &mut submessage(65_524), 0, Audience::All), Ok(()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..160), kind in 1_u8..5) {
            let mut receiver = ReceiveKey::new(KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap());
            prop_assert!(open(&mut receiver, &bytes, &mut Vec::new()).is_err());
            // With a valid prefix, so that the parsers behind it run.
            let mut bytes = [&[SEC_PREFIX, 1, 20, 0, 0, 0, 0, kind][..], &bytes].concat();
            if let Some(place) = bytes.get_mut(24) {
                *place = SEC_BODY;
            }
            prop_assert!(open(&mut receiver, &bytes, &mut Vec::new()).is_err());
        }
    }
}
