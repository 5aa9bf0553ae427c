//! The plugin DDS:Crypto:AES-GCM-GMAC: keys, and the protection of payloads, submessages and messages.
//!
//! [`KeyMaterial`] is what participants exchange. A sender makes a [`SendKey`] of it, and a receiver a [`ReceiveKey`].
//! Both derive session keys from it. [`payload`], [`submessage`] and [`message`] have the layouts on the wire.
//!
//! ```text
//! CryptoHeader   0   transformation kind   3 bytes revision of the key, 1 byte kind
//!                4   sender key id         4 bytes
//!                8   session id            4 bytes
//!                12  IV suffix             8 bytes; the IV is session id and suffix
//! CryptoFooter   0   common MAC            16 bytes
//!                16  count                 u32
//!                20  receiver MACs         count times: 4 bytes key id, 16 bytes MAC
//! ```
//!
//! All numbers are big endian, with any flag of the submessage (DDS Security 1.1, 9.5.2.3 to 9.5.2.5).

mod cipher;
mod footer;
mod gcm;
mod header;
mod key_material;
pub mod message;
pub mod payload;
mod receive_key;
mod receivers;
mod replay;
mod send_key;
pub mod submessage;
mod token;

pub use header::{CryptoHeader, TransformationKind};
pub use key_material::{KeyMaterial, ReceiverKey};
pub use receive_key::ReceiveKey;
pub use receivers::{Audience, RECEIVERS_MAX, ReceiverName};
pub use replay::ReplayWindow;
pub use send_key::SendKey;
pub use token::TokenError;

pub(crate) use cipher::hmac;

use std::fmt;

/// Returns bytes of the system's random numbers, which no other program can foresee.
///
/// # Errors
/// Fails if the system has no random numbers.
pub fn random_bytes<const LEN: usize>() -> Result<[u8; LEN], getrandom::Error> {
    let mut bytes = [0; LEN];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// Inserts `len` bytes without a meaning at `start`.
pub(crate) fn insert_front(bytes: &mut Vec<u8>, start: usize, len: usize) {
    let (start, end) = (start.min(bytes.len()), bytes.len());
    bytes.resize(end + len, 0);
    bytes.copy_within(start..end, start + len);
}

/// Why protected bytes were not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenError {
    /// The bytes have no protection.
    NotProtected,
    /// The bytes break the layout of the protection.
    Malformed,
    /// The receiver has no key with the id and the kind that the bytes name.
    UnknownKey,
    /// The MAC is wrong: the bytes were changed, or their sender has another key.
    Forged,
    /// The same bytes came before, or they are too old to know.
    Replayed,
    /// The MAC for this receiver is missing.
    NotForThisReceiver,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotProtected => "it is not protected",
            Self::Malformed => "its protection is malformed",
            Self::UnknownKey => "its sender uses an unknown key",
            Self::Forged => "its authentication code is wrong",
            Self::Replayed => "it is a replay",
            Self::NotForThisReceiver => "it has no authentication code for this receiver",
        })
    }
}

impl std::error::Error for OpenError {}

/// The bytes are too long for a protected submessage, whose length has 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are too long for a protected submessage")
    }
}

impl std::error::Error for TooLong {}
