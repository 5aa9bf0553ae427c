//! Values that are well formed, but not of the type of the member they are for (XTYPES 1.3, 7.2.2.7).
//!
//! A string over its bound, a number that no literal of an enum has, a discriminator without a case, bits that a bitmask
//! does not have: the member says whether the sample is an error, whether it takes its default, or what of it is kept. Of
//! elements of collections their type says it (`element`), of a discriminator its union.

use super::walk::pass_value;
use super::{DecodeError, DecodeErrorKind, Decoder, Primitive, Run, TypeDescription, WString};
use std::collections::BTreeMap;

/// What becomes of a value that the type of a member cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TryConstruct {
    /// The sample is an error.
    #[default]
    Discard,
    /// The member has its default.
    UseDefault,
    /// Of a string, sequence or map that is too long, as much is kept as the bound allows.
    Trim,
}

/// A value that can be cut to a bound.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be trimmed",
    note = "these can: String, WString, &str, Vec, slices, Run, BTreeMap, and optional ones"
)]
pub trait Trim {
    /// Leaves the first `bound` elements, or as many whole characters as fit.
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
        while self.len() > bound as usize {
            self.pop_last();
        }
    }
}

impl<T: Trim> Trim for Option<T> {
    fn trim(&mut self, bound: u32) {
        if let Some(value) = self {
            value.trim(bound);
        }
    }
}

/// The last beginning or end of a character at or before `bound`.
pub(super) fn whole_characters(text: &str, bound: u32) -> usize {
    let end = text.len().min(bound as usize);
    (0..=end).rev().find(|index| text.is_char_boundary(*index)).unwrap_or_default()
}

/// How many bytes the whole characters have that fit into `bound` units of UTF-16.
pub(super) fn bytes_of_units(text: &str, bound: u32) -> usize {
    let mut units = 0;
    let end = text.char_indices().find(|(_, character)| {
        units += character.len_utf16();
        units > bound as usize
    });
    end.map_or(text.len(), |(end, _)| end)
}

impl DecodeErrorKind {
    /// Whether the bytes are a value, though not one of the type.
    pub(super) fn is_of_value(self) -> bool {
        matches!(
            self,
            Self::BoundExceeded { .. }
                | Self::UnknownLiteral { .. }
                | Self::UnknownDiscriminator { .. }
                | Self::UnknownBits { .. }
        )
    }
}

impl Decoder<'_> {
    /// Takes a value of the type `ty`, an optional one with what introduces it; `None` if it is well formed, but not of its
    /// type. Then it is passed over.
    ///
    /// # Errors
    /// Those of `value` that say that the input is broken.
    pub fn try_construct<R>(
        &mut self,
        ty: &TypeDescription,
        is_optional: bool,
        value: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<Option<R>, DecodeError> {
        let start = self.clone();
        match value(self) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind().is_of_value() => {
                self.go_back_to(start);
                pass_value(ty, is_optional, self).map(|()| None)
            }
            Err(error) => Err(error),
        }
    }
}
