//! What an operation that was given a value hands back if it fails.

use crate::infrastructure::{Error, WriteError};
use std::fmt;

/// A loan that could not be written, and why: the value may be written again, or dropped.
///
/// By `?` it becomes a [`WriteError`] or an [`Error`], and the loan is given back unwritten.
#[non_exhaustive]
pub struct GivenBack<V> {
    /// Why it was not written.
    pub error: WriteError,
    /// What was to be written.
    pub value: V,
}

impl<V> fmt::Display for GivenBack<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<V> fmt::Debug for GivenBack<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GivenBack").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<V> std::error::Error for GivenBack<V> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl<V> From<GivenBack<V>> for WriteError {
    fn from(given_back: GivenBack<V>) -> Self {
        given_back.error
    }
}

impl<V> From<GivenBack<V>> for Error {
    fn from(given_back: GivenBack<V>) -> Self {
        Self::Write(given_back.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infrastructure::{Subject, WriteErrorKind};
    use dds_rtps::types::Guid;
    use std::error::Error as _;

    /// The value need not be printable: only the error is told.
    #[test]
    fn what_is_given_back_says_why() {
        struct Mute;
        let subject = Subject::new("writer", "robot/scan", Guid::UNKNOWN);
        let error = WriteError::new(&subject, WriteErrorKind::Closed);
        let given_back = GivenBack { error: error.clone(), value: Mute };
        assert_eq!(given_back.to_string(), error.to_string());
        assert_eq!(format!("{given_back:?}"), format!("GivenBack {{ error: {error:?}, .. }}"));
        assert_eq!(given_back.source().map(ToString::to_string), Some(error.to_string()));
        assert_eq!(Error::from(GivenBack { error: error.clone(), value: Mute }), Error::Write(error.clone()));
        assert_eq!(WriteError::from(given_back), error);
    }
}
