//! Identity of an instance or an entity in the DDS API (DDS 1.4, 2.2.2.4.1.4 uses it throughout).

use std::fmt;

/// Identifies an instance of a keyed topic by its key hash, or an entity by its GUID.
///
/// [`InstanceHandle::NIL`] is a separate value, because the key hash of a small key may be sixteen zero bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceHandle {
    present: bool,
    bytes: [u8; 16],
}

impl InstanceHandle {
    /// No instance: the handle of samples without a key, and the start of an iteration with `next_instance`.
    pub const NIL: Self = Self { present: false, bytes: [0; 16] };

    /// Creates the handle of the instance with this key hash (RTPS 2.5, 9.6.4.8).
    #[must_use]
    pub const fn from_key_hash(bytes: [u8; 16]) -> Self {
        Self { present: true, bytes }
    }

    /// Returns the key hash or the bytes of the GUID; `None` for [`InstanceHandle::NIL`].
    #[must_use]
    pub const fn as_bytes(&self) -> Option<&[u8; 16]> {
        if self.present { Some(&self.bytes) } else { None }
    }

    /// Returns whether this is [`InstanceHandle::NIL`].
    #[must_use]
    pub const fn is_nil(&self) -> bool {
        !self.present
    }
}

impl Default for InstanceHandle {
    fn default() -> Self {
        Self::NIL
    }
}

impl fmt::Debug for InstanceHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A key hash of zeros is a valid handle, so nil is a state of its own.
        if self.is_nil() {
            return f.write_str("nil");
        }
        for byte in &self.bytes {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_zero_key_is_not_nil() {
        assert_ne!(InstanceHandle::from_key_hash([0; 16]), InstanceHandle::NIL);
        assert!(InstanceHandle::NIL.as_bytes().is_none());
    }
}
