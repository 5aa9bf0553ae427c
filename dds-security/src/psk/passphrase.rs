//! A passphrase with its id.

use std::fmt;
use std::str::FromStr;
use zeroize::Zeroizing;

/// Most characters of a passphrase.
const LEN_MAX: usize = 512;

/// Characters below which a passphrase counts as guessable.
///
/// An attacker with one datagram tries a billion passphrases a second. 20 random letters or digits withstand that.
const LEN_SAFE: usize = 20;

/// A secret text with a number that names it (DDS Security 1.2).
///
/// The low byte of the id selects the key, and the other bytes are its revision. `Debug` does not show the text, and
/// the memory is overwritten when the value is dropped.
///
/// ```
/// use dds_security::psk::Passphrase;
///
/// let passphrase: Passphrase = "1:a text that all participants share".parse()?;
/// assert_eq!(passphrase.id(), 1);
/// # Ok::<(), dds_security::psk::PassphraseError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Passphrase {
    id: u32,
    secret: Zeroizing<String>,
}

/// A passphrase breaks a rule of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PassphraseError {
    /// There is no number and colon in front of it.
    NoId,
    /// The low byte of the id is 255, which is reserved.
    ReservedId,
    /// It has no character, or more than 512.
    Length,
    /// It has a character other than printable ASCII, or a space at its start or end.
    Character,
    /// The system has no random numbers for a new one.
    NoRandomNumbers,
}

impl Passphrase {
    /// Creates a passphrase of 1 to 512 printable ASCII characters.
    ///
    /// # Errors
    /// [`PassphraseError`] if it breaks a rule.
    pub fn new(id: u32, secret: impl Into<String>) -> Result<Self, PassphraseError> {
        let secret = Zeroizing::new(secret.into());
        if id & 0xff == 0xff {
            return Err(PassphraseError::ReservedId);
        }
        if secret.is_empty() || secret.len() > LEN_MAX {
            return Err(PassphraseError::Length);
        }
        // Other characters have several encodings, and both sides must hash the same bytes.
        if !secret.bytes().all(|byte| (b' '..=b'~').contains(&byte)) || secret.trim_matches(' ') != secret.as_str() {
            return Err(PassphraseError::Character);
        }
        Ok(Self { id, secret })
    }

    /// Creates a random passphrase of 256 bits, as 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`PassphraseError`] if the id is reserved, or the system has no random numbers.
    pub fn generate(id: u32) -> Result<Self, PassphraseError> {
        let mut random = Zeroizing::new([0; 32]);
        getrandom::fill(&mut random[..]).map_err(|_| PassphraseError::NoRandomNumbers)?;
        let digits = |byte: u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0'));
        // A text that grows would leave copies of the secret behind.
        let mut secret = String::with_capacity(2 * random.len());
        secret.extend(random.iter().flat_map(|byte| digits(*byte)));
        Self::new(id, secret)
    }

    /// The number that names the passphrase.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The secret text.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// Whether the text is so short that an attacker with a captured datagram can find it by trying.
    #[must_use]
    pub fn is_guessable(&self) -> bool {
        self.secret.len() < LEN_SAFE
    }

    /// The low byte of the id.
    pub(crate) fn key_id(&self) -> u8 {
        self.id.to_be_bytes()[3]
    }

    /// The other bytes of the id.
    pub(crate) fn revision(&self) -> [u8; 3] {
        let [r0, r1, r2, _] = self.id.to_be_bytes();
        [r0, r1, r2]
    }
}

impl FromStr for Passphrase {
    type Err = PassphraseError;

    /// Reads a decimal id, a colon, and the passphrase.
    fn from_str(text: &str) -> Result<Self, PassphraseError> {
        let (id, secret) = text.split_once(':').ok_or(PassphraseError::NoId)?;
        // `parse` would also accept a plus sign.
        if !id.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(PassphraseError::NoId);
        }
        Self::new(id.parse().map_err(|_| PassphraseError::NoId)?, secret)
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passphrase").field("id", &self.id).finish_non_exhaustive()
    }
}

impl fmt::Display for PassphraseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoId => "a passphrase needs its id in front of it, as in 1:passphrase",
            Self::ReservedId => "the id of the passphrase has the low byte 255, which is reserved",
            Self::Length => "a passphrase has 1 to 512 characters",
            Self::Character => "a passphrase has printable ASCII characters only, and no space at its start or end",
            Self::NoRandomNumbers => "the system has no random numbers",
        })
    }
}

impl std::error::Error for PassphraseError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_the_specification_are_checked() {
        let read = |text: &str| text.parse::<Passphrase>().map(|read| (read.id(), read.secret().to_owned()));
        assert_eq!(read("1:secret"), Ok((1, "secret".to_owned())));
        assert_eq!(read("4294967294:a:b c"), Ok((u32::MAX - 1, "a:b c".to_owned())));
        assert_eq!(read("secret"), Err(PassphraseError::NoId));
        assert_eq!(read("+1:secret"), Err(PassphraseError::NoId));
        assert_eq!(read(":secret"), Err(PassphraseError::NoId));
        assert_eq!(read("4294967296:secret"), Err(PassphraseError::NoId));
        assert_eq!(read("511:secret"), Err(PassphraseError::ReservedId));
        assert_eq!(read("1:"), Err(PassphraseError::Length));
        assert_eq!(read(&format!("1:{}", "x".repeat(513))), Err(PassphraseError::Length));
        assert_eq!(read("1: secret"), Err(PassphraseError::Character));
        assert_eq!(read("1:secr\u{e9}t"), Err(PassphraseError::Character));
    }

    #[test]
    fn id_splits_into_key_and_revision() {
        let passphrase = Passphrase::new(0x0102_0304, "secret").unwrap();
        assert_eq!((passphrase.key_id(), passphrase.revision()), (4, [1, 2, 3]));
    }

    #[test]
    fn debug_hides_the_secret() {
        let passphrase = Passphrase::new(1, "open sesame").unwrap();
        assert_eq!(format!("{passphrase:?}"), "Passphrase { id: 1, .. }");
        assert!(passphrase.is_guessable());
    }

    #[test]
    fn generated_passphrases_differ() {
        let [one, other] = [(); 2].map(|()| Passphrase::generate(3).unwrap());
        assert_ne!(one, other);
        assert_eq!(one.secret().len(), 64);
        assert!(!one.is_guessable());
    }
}
