//! The one place where bytes may change between lay-out and socket, and between socket and parse: DDS Security will stand
//! here, and nowhere else.
//!
//! Whoever sends asks [`Transform::seal`] with what has been laid out, and whoever receives asks [`Transform::open`]
//! before it parses. [`Transform::Identity`] changes nothing, touches no byte, and costs nothing.

use std::convert::Infallible;

/// What a transform is asked to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// A whole message, from `RTPS` to its end.
    Message,
    /// One submessage, from its header to the next one.
    Submessage,
    /// A serialized payload, from its encapsulation header to its end.
    Payload,
}

/// What [`Transform::seal`] has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Sealed {
    /// The bytes go out as they have been laid out.
    Unchanged,
    /// What has been appended to the scratch buffer goes out in their place.
    Replaced,
}

/// Why bytes may not go out or come in. [`Transform::Identity`] has no reason to refuse any.
pub type TransformError = Infallible;

/// Changes bytes on their way out and in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Transform {
    /// Leaves everything as it is.
    #[default]
    Identity,
}

impl Transform {
    /// Asks whether `segments`, which follow each other on the wire, may go out as they are. They are not looked at
    /// unless something has to be changed.
    ///
    /// # Errors
    ///
    /// Never today; later, if the bytes must not leave.
    #[inline]
    pub fn seal<'a>(
        &self,
        _scope: Scope,
        _segments: impl Iterator<Item = &'a [u8]>,
        _scratch: &mut Vec<u8>,
    ) -> Result<Sealed, TransformError> {
        match self {
            Self::Identity => Ok(Sealed::Unchanged),
        }
    }

    /// The bytes to parse in place of those that came: the same ones, or ones in `scratch`.
    ///
    /// # Errors
    ///
    /// Never today; later, if the bytes must not be believed.
    #[inline]
    pub fn open<'a>(
        &self,
        _scope: Scope,
        bytes: &'a [u8],
        _scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], TransformError> {
        match self {
            Self::Identity => Ok(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_hands_on_the_very_same_bytes() {
        let bytes = *b"RTPS";
        let mut scratch = Vec::new();
        let untouched = std::iter::from_fn(|| -> Option<&[u8]> { panic!("looked at") });
        assert_eq!(Transform::Identity.seal(Scope::Message, untouched, &mut scratch), Ok(Sealed::Unchanged));
        let Ok(opened) = Transform::Identity.open(Scope::Message, &bytes, &mut scratch);
        assert!(std::ptr::eq(opened, &bytes[..]));
    }
}
