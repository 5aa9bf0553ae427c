//! A file with the password of an encrypted private key.

use crate::error::ToolError;
use dds_security::keystore::read_file;
use std::ops::Deref;
use std::path::Path;

/// The content of a file. It is overwritten in memory when it is dropped.
pub(crate) struct PasswordFile<B>(B);

/// Reads a file whose first line is a password.
///
/// # Errors
/// [`ToolError::Security`] if the first line is empty or not UTF-8, [`ToolError::Io`] if the file cannot be read.
pub(crate) fn read_password_file(path: &Path) -> Result<PasswordFile<impl Deref<Target = Vec<u8>>>, ToolError> {
    let name = || path.display().to_string();
    let file = PasswordFile(read_file(path).map_err(|source| ToolError::Io { name: name(), source })?);
    if file.password().is_empty() {
        let text = format!("{}: expected a password in the first line, in UTF-8", name());
        return Err(ToolError::Security { text });
    }
    Ok(file)
}

impl<B: Deref<Target = Vec<u8>>> PasswordFile<B> {
    /// The first line. Empty if it is not UTF-8.
    pub(crate) fn password(&self) -> &str {
        let line = self.0.split(|byte| *byte == b'\n').next().unwrap_or_default();
        std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)).unwrap_or_default()
    }
}
