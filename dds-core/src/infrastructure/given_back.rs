//! The value that a failed operation returns to its caller.

use crate::infrastructure::{Error, WriteError};
use std::fmt;

/// A loan that was not written, and the error. The caller may write it again or drop it.
///
/// It borrows the writer, so it is no error itself. `?` converts it to a [`WriteError`] or an [`Error`], and releases
/// the loan.
#[non_exhaustive]
pub struct GivenBack<V> {
    /// The cause.
    pub error: WriteError,
    /// The value that was not written.
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

    /// The value needs no `Debug`. Only the error is printed.
    #[test]
    fn what_is_given_back_says_why() {
        struct Mute;
        let subject = Subject::new("writer", "robot/scan", Guid::UNKNOWN);
        let error = WriteError::new(&subject, WriteErrorKind::Closed);
        let given_back = GivenBack { error: error.clone(), value: Mute };
        assert_eq!(given_back.to_string(), error.to_string());
        assert_eq!(format!("{given_back:?}"), format!("GivenBack {{ error: {error:?}, .. }}"));
        assert_eq!(Error::from(GivenBack { error: error.clone(), value: Mute }), Error::Write(error.clone()));
        assert_eq!(WriteError::from(given_back), error);
    }
}
