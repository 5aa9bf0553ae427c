//! Key material as the value of a token: `dds.cryp.keymat` (DDS Security 1.1, 9.5.2.1.1 and 9.5.2.2).
//!
//! ```text
//! 0   transformation kind     4 bytes
//! 4   salt                    u32 length (0, 16 or 32), bytes
//!     sender key id           4 bytes
//!     sender key              u32 length (as the salt), bytes
//!     receiver key id         4 bytes; zero without a key
//!     receiver key            u32 length (0 or as the salt), bytes
//! ```
//!
//! It is big-endian CDR without an encapsulation header. All parts have a multiple of four bytes, so there is no
//! padding.

use super::{KeyMaterial, ReceiverKey, TransformationKind};
use std::fmt;
use zeroize::Zeroizing;

/// Key material in a token breaks the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenError {
    /// It ends too early, or has more bytes than its parts.
    Length,
    /// The number of its algorithm is unknown.
    Kind(u8),
    /// A key or the salt has a length that does not fit the algorithm.
    KeyLength(u32),
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("key material with a wrong length"),
            Self::Kind(number) => write!(f, "key material with the unknown algorithm {number}"),
            Self::KeyLength(len) => write!(f, "key material with a key of {len} bytes"),
        }
    }
}

impl std::error::Error for TokenError {}

impl KeyMaterial {
    /// Returns the value of the token's property.
    #[must_use]
    pub fn to_token(&self) -> Zeroizing<Vec<u8>> {
        // The capacity is that of the longest token: a buffer that grows would leave keys behind.
        let mut out = Zeroizing::new(Vec::with_capacity(120));
        let [r0, r1, r2] = self.revision;
        out.extend_from_slice(&[r0, r1, r2, self.kind.to_wire()]);
        push_bytes(&mut out, self.salt());
        let id = if self.kind == TransformationKind::None { [0; 4] } else { self.sender_key_id };
        out.extend_from_slice(&id);
        push_bytes(&mut out, self.sender_key());
        let receiver = if self.kind == TransformationKind::None { None } else { self.receiver.as_ref() };
        out.extend_from_slice(&receiver.map_or([0; 4], |receiver| receiver.id));
        push_bytes(&mut out, receiver.map_or(&[][..], |receiver| &receiver.key[..self.kind.key_len()]));
        debug_assert!(out.len() <= 120, "three keys of 32 bytes fit the capacity");
        out
    }

    /// Reads the value of a token's property.
    ///
    /// # Errors
    /// [`TokenError`] if the bytes break a rule.
    pub fn from_token(bytes: &[u8]) -> Result<Self, TokenError> {
        let mut rest = bytes;
        let [r0, r1, r2, number] = take_array::<4>(&mut rest)?;
        let kind = TransformationKind::from_wire(number).ok_or(TokenError::Kind(number))?;
        let (mut salt, mut sender_key, mut receiver_key) = ([0; 32], [0; 32], [0; 32]);
        let expects = |len: usize| if len == kind.key_len() { Ok(()) } else { Err(TokenError::KeyLength(len as u32)) };
        expects(take_key(&mut rest, &mut salt)?)?;
        let sender_key_id = take_array(&mut rest)?;
        expects(take_key(&mut rest, &mut sender_key)?)?;
        let receiver_id = take_array(&mut rest)?;
        let receiver_len = take_key(&mut rest, &mut receiver_key)?;
        let receiver = if receiver_len == 0 {
            None
        } else {
            expects(receiver_len)?;
            Some(ReceiverKey { id: receiver_id, key: receiver_key })
        };
        if !rest.is_empty() {
            return Err(TokenError::Length);
        }
        let (master_salt, master_sender_key) = (salt, sender_key);
        Ok(Self { kind, revision: [r0, r1, r2], sender_key_id, master_salt, master_sender_key, receiver })
    }
}

fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

fn take_array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], TokenError> {
    let (array, behind) = rest.split_first_chunk::<N>().ok_or(TokenError::Length)?;
    *rest = behind;
    Ok(*array)
}

/// Reads a key of at most 32 bytes, and returns its length.
fn take_key(rest: &mut &[u8], key: &mut [u8; 32]) -> Result<usize, TokenError> {
    let announced = u32::from_be_bytes(take_array(rest)?);
    let len = announced as usize;
    let place = key.get_mut(..len).ok_or(TokenError::KeyLength(announced))?;
    let (bytes, behind) = rest.split_at_checked(len).ok_or(TokenError::Length)?;
    place.copy_from_slice(bytes);
    *rest = behind;
    Ok(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KINDS: [TransformationKind; 5] = [
        TransformationKind::None,
        TransformationKind::Aes128Gmac,
        TransformationKind::Aes128Gcm,
        TransformationKind::Aes256Gmac,
        TransformationKind::Aes256Gcm,
    ];

    #[test]
    fn token_has_the_layout_of_the_specification() {
        let material = KeyMaterial {
            kind: TransformationKind::Aes128Gcm,
            revision: [0; 3],
            sender_key_id: [1, 2, 3, 4],
            master_salt: [5; 32],
            master_sender_key: [6; 32],
            receiver: None,
        };
        let expected =
            [&[0, 0, 0, 2, 0, 0, 0, 16][..], &[5; 16], &[1, 2, 3, 4, 0, 0, 0, 16], &[6; 16], &[0, 0, 0, 0, 0, 0, 0, 0]]
                .concat();
        assert_eq!(*material.to_token(), expected);
    }

    #[test]
    fn generated_material_survives_the_token() {
        for kind in KINDS {
            let mut material = KeyMaterial::generate(kind).unwrap();
            assert_eq!(KeyMaterial::from_token(&material.to_token()), Ok(material.clone()));
            if kind != TransformationKind::None {
                material.receiver = Some(ReceiverKey::generate(kind).unwrap());
                assert_eq!(KeyMaterial::from_token(&material.to_token()), Ok(material));
            }
        }
    }

    #[test]
    fn key_of_wrong_length_is_refused() {
        let mut token = KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap().to_token();
        token[3] = 2;
        assert_eq!(KeyMaterial::from_token(&token), Err(TokenError::KeyLength(32)));
        token[3] = 77;
        assert_eq!(KeyMaterial::from_token(&token), Err(TokenError::Kind(77)));
        token[3] = 4;
        token[4] = 0xff;
        assert_eq!(KeyMaterial::from_token(&token), Err(TokenError::KeyLength(0xff00_0020)));
    }

    #[test]
    fn cut_token_is_refused() {
        let token = KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap().to_token();
        for len in 0..token.len() {
            assert_eq!(KeyMaterial::from_token(&token[..len]), Err(TokenError::Length));
        }
        assert_eq!(KeyMaterial::from_token(&[&token[..], &[0]].concat()), Err(TokenError::Length));
    }

    proptest! {
        #[test]
        fn any_bytes_give_material_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..160)) {
            if let Ok(material) = KeyMaterial::from_token(&bytes) {
                prop_assert_eq!(KeyMaterial::from_token(&material.to_token()).is_ok(), true);
            }
        }
    }
}
