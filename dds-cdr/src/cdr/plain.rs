//! Structs whose memory is their encoding.
//!
//! A final struct has the same layout on the wire as with `repr(C)` in memory, under two conditions. There is no
//! padding between its members, and the value starts at an address that is aligned for its largest number. Then the
//! struct is copied as a whole, and so are sequences of such structs.
//! The start depends on the preceding values. If it is not aligned, or the byte order is not the machine's, the members
//! are copied one by one. The bytes are the same in both cases.

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A struct marked `#[dds(plain)]` whose memory is its encoding, a number, or an array of either.
///
/// The traits of `zerocopy` prove that there is no padding and that any bytes are a valid value.
#[diagnostic::on_unimplemented(
    message = "the memory of `{Self}` is not its encoding",
    note = "a `#[dds(plain)]` struct contains only numbers, arrays of them, and other plain structs",
    note = "such a struct is `#[repr(C)]`, and derives `FromBytes`, `IntoBytes` and `Immutable` of the crate `zerocopy`"
)]
pub trait Plain: FromBytes + IntoBytes + Immutable {
    /// The alignment of the first number, in bytes.
    const FIRST: usize;
    /// The size of the largest number, in bytes.
    const LARGEST: usize;
    /// Whether memory and encoding have the same layout. Some machines align numbers less than the encoding.
    const IS_LAID_OUT: bool;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Plain for $number {
            const FIRST: usize = size_of::<Self>();
            const LARGEST: usize = size_of::<Self>();
            const IS_LAID_OUT: bool = true;
        }
    )*};
}

numbers!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

impl<T: Plain, const N: usize> Plain for [T; N] {
    const FIRST: usize = T::FIRST;
    const LARGEST: usize = T::LARGEST;
    const IS_LAID_OUT: bool = T::IS_LAID_OUT;
}

/// Returns the larger number.
#[doc(hidden)]
#[must_use]
pub const fn larger(one: usize, other: usize) -> usize {
    if one > other { one } else { other }
}
