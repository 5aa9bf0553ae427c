//! What a participant knows: its passphrase, those that it also accepts, and the kind of protection.

use super::{Passphrase, PassphraseError};
use crate::crypto::TransformationKind;
use std::fmt;
use std::path::Path;
use zeroize::Zeroizing;

/// Most bytes of a key file: a hundred passphrases.
const FILE_LEN_MAX: u64 = 64 << 10;

/// The secret of a group of participants, and how they protect their messages.
///
/// A fleet changes its passphrase in three steps, each on one participant after the other: accept the new one too, send
/// with the new one and accept the old one, forget the old one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreSharedKey {
    passphrase: Passphrase,
    also_accepted: Vec<Passphrase>,
    kind: TransformationKind,
    readable_by_others: bool,
}

/// A key file was not read.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyFileError {
    /// The system does not read it.
    Io(std::io::Error),
    /// It has more than 64 KiB.
    TooLong,
    /// It has no passphrase.
    Empty,
    /// A line has a faulty passphrase.
    Passphrase {
        /// Number of the line, from 1.
        line: usize,
        /// Fault.
        error: PassphraseError,
    },
    /// Two lines have passphrases with the same id, so messages would not tell which one they use.
    RepeatedId {
        /// Number of the second line, from 1.
        line: usize,
        /// Id.
        id: u32,
    },
}

impl PreSharedKey {
    /// Creates a key that encrypts with AES-256.
    #[must_use]
    pub fn new(passphrase: Passphrase) -> Self {
        let kind = TransformationKind::Aes256Gcm;
        Self { passphrase, also_accepted: Vec::new(), kind, readable_by_others: false }
    }

    /// Authenticates messages and leaves them readable. Default: they are encrypted.
    #[must_use]
    pub fn signing_only(mut self) -> Self {
        self.kind = TransformationKind::Aes256Gmac;
        self
    }

    /// Uses AES with keys of 128 bits. Default: 256.
    #[must_use]
    pub fn with_128_bits(mut self) -> Self {
        self.kind = match self.kind {
            TransformationKind::Aes256Gmac | TransformationKind::Aes128Gmac => TransformationKind::Aes128Gmac,
            _ => TransformationKind::Aes128Gcm,
        };
        self
    }

    /// Also accepts messages with another passphrase. Default: none.
    ///
    /// Messages name their passphrase by its id. So a passphrase with an id that the key has already is not taken over.
    #[must_use]
    pub fn also_accepting(mut self, passphrase: Passphrase) -> Self {
        // Messages name a passphrase by its id only, so two with one id could not be told apart.
        if !self.has(passphrase.id()) {
            self.also_accepted.push(passphrase);
        }
        self
    }

    /// Reads passphrases from text: one a line, the first for sending, and all of them for receiving.
    ///
    /// Empty lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// [`KeyFileError`] if there is no passphrase, a faulty one, or two with the same id.
    pub fn from_lines(text: &str) -> Result<Self, KeyFileError> {
        let mut key: Option<Self> = None;
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let passphrase: Passphrase =
                line.parse().map_err(|error| KeyFileError::Passphrase { line: at + 1, error })?;
            let id = passphrase.id();
            if key.as_ref().is_some_and(|key| key.has(id)) {
                return Err(KeyFileError::RepeatedId { line: at + 1, id });
            }
            // The first passphrase protects the messages of this side. The others only open foreign ones.
            key = Some(match key {
                None => Self::new(passphrase),
                Some(key) => key.also_accepting(passphrase),
            });
        }
        key.ok_or(KeyFileError::Empty)
    }

    /// Reads a file with passphrases, as [`from_lines`](Self::from_lines).
    ///
    /// # Errors
    /// [`KeyFileError`] if the file cannot be read, or its content is faulty.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, KeyFileError> {
        use std::io::Read;
        let file = std::fs::File::open(path).map_err(KeyFileError::Io)?;
        // The open file is asked, and not its path, which may name another file by now.
        let readable_by_others = is_readable_by_others(&file);
        // A buffer that grows would leave copies of the passphrases behind. The system asks once more for the end.
        let mut text = Zeroizing::new(String::with_capacity(FILE_LEN_MAX as usize + 64));
        // One byte over the limit tells a longer file from one that just fits.
        file.take(FILE_LEN_MAX + 1).read_to_string(&mut text).map_err(KeyFileError::Io)?;
        if text.len() as u64 > FILE_LEN_MAX {
            return Err(KeyFileError::TooLong);
        }
        Ok(Self { readable_by_others, ..Self::from_lines(&text)? })
    }

    /// The passphrase for sending.
    #[must_use]
    pub fn passphrase(&self) -> &Passphrase {
        &self.passphrase
    }

    /// Passphrases for receiving, beside [`passphrase`](Self::passphrase).
    #[must_use]
    pub fn also_accepted(&self) -> &[Passphrase] {
        &self.also_accepted
    }

    /// Algorithm of sent messages.
    #[must_use]
    pub fn kind(&self) -> TransformationKind {
        self.kind
    }

    /// Weaknesses that the owner should know, for the log.
    #[must_use]
    pub fn weaknesses(&self) -> Vec<&'static str> {
        let mut found = Vec::new();
        // An attacker may forge messages with any accepted passphrase, so each one counts.
        if self.passphrase.is_guessable() || self.also_accepted.iter().any(Passphrase::is_guessable) {
            found.push("a passphrase has fewer than 20 characters, so an attacker can find it by trying");
        }
        if self.readable_by_others {
            found.push("other users of this host can read the key file (chmod 600)");
        }
        found
    }

    /// Whether a passphrase has an id.
    fn has(&self, id: u32) -> bool {
        self.all().any(|known| known.id() == id)
    }

    /// All passphrases, the one for sending first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Passphrase> {
        std::iter::once(&self.passphrase).chain(&self.also_accepted)
    }
}

#[cfg(unix)]
fn is_readable_by_others(file: &std::fs::File) -> bool {
    use std::os::unix::fs::PermissionsExt;
    // A pipe keeps no content for other users, so only files count.
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn is_readable_by_others(_: &std::fs::File) -> bool {
    false
}

/// Names the protection without the secret: the text for the log.
impl fmt::Display for PreSharedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.kind.encrypts() { "encrypts" } else { "authenticates" };
        write!(f, "passphrase {} {verb} with AES-{}", self.passphrase.id(), self.kind.key_len() * 8)?;
        for accepted in &self.also_accepted {
            write!(f, ", passphrase {} is also accepted", accepted.id())?;
        }
        Ok(())
    }
}

impl fmt::Display for KeyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::TooLong => f.write_str("the file has more than 64 KiB"),
            Self::Empty => f.write_str("the file has no passphrase"),
            Self::Passphrase { line, error } => write!(f, "line {line}: {error}"),
            Self::RepeatedId { line, id } => write!(f, "line {line}: another passphrase has the id {id}"),
        }
    }
}

impl std::error::Error for KeyFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Passphrase { error, .. } => Some(error),
            Self::TooLong | Self::Empty | Self::RepeatedId { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_sends_and_the_others_are_accepted() {
        let key = PreSharedKey::from_lines("# fleet 7\n\n2:new secret of the fleet\r\n1:old secret\n").unwrap();
        assert_eq!(key.passphrase().id(), 2);
        assert_eq!(key.also_accepted().len(), 1);
        assert_eq!(key.to_string(), "passphrase 2 encrypts with AES-256, passphrase 1 is also accepted");
        assert!(!format!("{key:?} {key}").contains("secret"));
        assert_eq!(key.weaknesses().len(), 1);
    }

    #[test]
    fn faulty_line_is_named() {
        let error = PreSharedKey::from_lines("1:good\nbad\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2: a passphrase needs its id in front of it, as in 1:passphrase");
        assert!(matches!(PreSharedKey::from_lines("# only a comment"), Err(KeyFileError::Empty)));
        assert!(matches!(PreSharedKey::from_file("/no/such/file"), Err(KeyFileError::Io(_))));
    }

    #[test]
    fn second_passphrase_with_the_same_id_is_not_accepted() {
        let error = PreSharedKey::from_lines("2:new secret\n\n1:old secret\n2:other secret\n").unwrap_err();
        assert!(matches!(error, KeyFileError::RepeatedId { line: 4, id: 2 }), "{error:?}");
        assert_eq!(error.to_string(), "line 4: another passphrase has the id 2");
        let passphrase = |id, text| Passphrase::new(id, text).unwrap();
        let key = PreSharedKey::new(passphrase(1, "secret")).also_accepting(passphrase(1, "other secret"));
        assert!(key.also_accepted().is_empty());
        assert_eq!(key.to_string(), "passphrase 1 encrypts with AES-256");
        // The same low byte with another revision is another id.
        assert_eq!(key.also_accepting(passphrase(0x0101, "other secret")).also_accepted().len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn readable_file_is_a_weakness() {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(format!("dds-security-key-{}", std::process::id()));
        std::fs::write(&path, "1:a passphrase that is long enough\n").unwrap();
        let weaknesses = |mode| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            PreSharedKey::from_file(&path).unwrap().weaknesses().len()
        };
        assert_eq!((weaknesses(0o600), weaknesses(0o644)), (0, 1));
        std::fs::write(&path, "x".repeat(70_000)).unwrap();
        assert!(matches!(PreSharedKey::from_file(&path), Err(KeyFileError::TooLong)));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn kinds_follow_the_options() {
        let key = || PreSharedKey::new(Passphrase::new(1, "secret").unwrap());
        assert_eq!(key().kind(), TransformationKind::Aes256Gcm);
        assert_eq!(key().signing_only().kind(), TransformationKind::Aes256Gmac);
        assert_eq!(key().with_128_bits().kind(), TransformationKind::Aes128Gcm);
        assert_eq!(key().with_128_bits().signing_only().with_128_bits().kind(), TransformationKind::Aes128Gmac);
    }
}
