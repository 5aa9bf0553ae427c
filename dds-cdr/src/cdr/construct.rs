//! Well-formed values that do not fit the type of their member (XTYPES 1.3, 7.2.2.7).
//!
//! Examples are a string over its bound, an unknown enum literal, a discriminator without a case, and unknown bits of a
//! bitmask. The member decides whether the sample is an error, or whether the member gets its default or a truncated
//! value. For elements of collections, the element type decides (`element`); for discriminators, the union.

use super::{DecodeErrorKind, Primitive, Run, WString};
use std::collections::BTreeMap;

/// Action for a received value that does not fit the type of its member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TryConstruct {
    /// The sample is an error. This is the default.
    #[default]
    Discard,
    /// The member gets its default value.
    UseDefault,
    /// A string, sequence or map that is too long is truncated to its bound.
    Trim,
}

/// A value that can be truncated to a bound.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be trimmed",
    note = "String, WString, &str, Vec, slices, Run, BTreeMap, and options of them can be trimmed"
)]
pub trait Trim {
    /// Keeps the first `bound` elements, or as many whole characters as fit.
    fn trim(&mut self, bound: u32);
}

impl Trim for String {
    fn trim(&mut self, bound: u32) {
        self.truncate(whole_characters(self, bound));
    }
}

impl Trim for &str {
    fn trim(&mut self, bound: u32) {
        *self = self.get(..whole_characters(self, bound)).unwrap_or_default();
    }
}

impl Trim for WString {
    fn trim(&mut self, bound: u32) {
        let end = bytes_of_units(self.as_str(), bound);
        self.as_mut_string().truncate(end);
    }
}

impl<T> Trim for Vec<T> {
    fn trim(&mut self, bound: u32) {
        self.truncate(bound as usize);
    }
}

impl<T> Trim for &[T] {
    fn trim(&mut self, bound: u32) {
        *self = self.get(..bound as usize).unwrap_or(self);
    }
}

impl<T: Primitive> Trim for Run<'_, T> {
    fn trim(&mut self, bound: u32) {
        self.truncate(bound as usize);
    }
}

impl<K: Ord, V> Trim for BTreeMap<K, V> {
    fn trim(&mut self, bound: u32) {
        // The largest keys go, so that all readers keep the same entries.
        while self.len() > bound as usize {
            self.pop_last();
        }
    }
}

impl<T: Trim> Trim for Box<T> {
    fn trim(&mut self, bound: u32) {
        (**self).trim(bound);
    }
}

impl<T: Trim> Trim for Option<T> {
    fn trim(&mut self, bound: u32) {
        if let Some(value) = self {
            value.trim(bound);
        }
    }
}

/// Returns the last character boundary at or before `bound`, in bytes.
pub(super) fn whole_characters(text: &str, bound: u32) -> usize {
    let end = text.len().min(bound as usize);
    // The bound counts bytes. A cut inside of a character would leave text that is not UTF-8.
    (0..=end).rev().find(|index| text.is_char_boundary(*index)).unwrap_or_default()
}

/// Returns the length in bytes of the whole characters that fit into `bound` UTF-16 units.
pub(super) fn bytes_of_units(text: &str, bound: u32) -> usize {
    let mut units = 0;
    for (start, character) in text.char_indices() {
        units += character.len_utf16();
        // A surrogate pair counts as two units, and must not be split.
        if units > bound as usize {
            return start;
        }
    }
    text.len()
}

impl DecodeErrorKind {
    /// Returns whether the bytes are well formed and only exceed their type.
    pub(super) fn is_of_value(self) -> bool {
        matches!(
            self,
            Self::BoundExceeded { .. }
                | Self::UnknownLiteral { .. }
                | Self::UnknownDiscriminator { .. }
                | Self::UnknownBits { .. }
                | Self::InvalidValue
        )
    }
}
