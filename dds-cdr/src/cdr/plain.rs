//! Structs whose memory is their encoding.
//!
//! A final struct has the same layout on the wire as with `repr(C)` in memory, under two conditions. There is no
//! padding between its members, and the value starts at an address that is aligned for its largest number. Then the
//! struct is copied as a whole, and so are sequences of such structs.
//! The start depends on the preceding values. If it is not aligned, or the byte order is not the machine's, the members
//! are copied one by one. The bytes are the same in both cases.

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A value that is the same as its memory: no padding, and any bytes are a valid value.
///
/// The traits of `zerocopy` prove it. A struct without its derives lacks several of them, and the compiler would report
/// each one if [`Plain`] required them.
#[diagnostic::on_unimplemented(
    message = "the memory of `{Self}` may have padding or invalid bytes",
    label = "this needs `#[derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]`",
    note = "these derives prove that a `#[dds(plain)]` struct can be copied as a whole"
)]
#[doc(hidden)]
pub trait PlainMemory: Sized {
    fn memory_of(values: &[Self]) -> &[u8];
    fn memory_of_mut(values: &mut [Self]) -> &mut [u8];
    fn from_memory(bytes: &[u8]) -> Option<Self>;
    fn array_from_memory<const N: usize>(bytes: &[u8]) -> Option<[Self; N]>;
}

// The error then names this trait, not each one of `zerocopy`.
#[diagnostic::do_not_recommend]
impl<T: FromBytes + IntoBytes + Immutable> PlainMemory for T {
    #[inline]
    fn memory_of(values: &[Self]) -> &[u8] {
        values.as_bytes()
    }

    #[inline]
    fn memory_of_mut(values: &mut [Self]) -> &mut [u8] {
        values.as_mut_bytes()
    }

    #[inline]
    fn from_memory(bytes: &[u8]) -> Option<Self> {
        T::read_from_bytes(bytes).ok()
    }

    #[inline]
    fn array_from_memory<const N: usize>(bytes: &[u8]) -> Option<[Self; N]> {
        <[T; N]>::read_from_bytes(bytes).ok()
    }
}

/// A struct marked `#[dds(plain)]` whose memory is its encoding, a number, or an array of either.
#[diagnostic::on_unimplemented(
    message = "the memory of `{Self}` is not its encoding",
    note = "a `#[dds(plain)]` struct contains only numbers, arrays of them, and other plain structs",
    note = "such a struct is `#[repr(C)]`, and derives `FromBytes`, `IntoBytes` and `Immutable` of the crate `zerocopy`"
)]
pub trait Plain: Sized {
    /// The alignment of the first number, in bytes.
    const FIRST: usize;
    /// The size of the largest number, in bytes.
    const LARGEST: usize;
    /// Whether memory and encoding have the same layout. Some machines align numbers less than the encoding.
    const IS_LAID_OUT: bool;

    /// See [`PlainMemory`].
    #[doc(hidden)]
    fn memory_of(values: &[Self]) -> &[u8];
    #[doc(hidden)]
    fn memory_of_mut(values: &mut [Self]) -> &mut [u8];
    #[doc(hidden)]
    fn from_memory(bytes: &[u8]) -> Option<Self>;
    #[doc(hidden)]
    fn array_from_memory<const N: usize>(bytes: &[u8]) -> Option<[Self; N]>;
}

/// The functions of [`Plain`] for memory, by [`PlainMemory`].
macro_rules! memory {
    () => {
        #[inline]
        fn memory_of(values: &[Self]) -> &[u8] {
            <Self as PlainMemory>::memory_of(values)
        }

        #[inline]
        fn memory_of_mut(values: &mut [Self]) -> &mut [u8] {
            <Self as PlainMemory>::memory_of_mut(values)
        }

        #[inline]
        fn from_memory(bytes: &[u8]) -> Option<Self> {
            <Self as PlainMemory>::from_memory(bytes)
        }

        #[inline]
        fn array_from_memory<const COUNT: usize>(bytes: &[u8]) -> Option<[Self; COUNT]> {
            <Self as PlainMemory>::array_from_memory(bytes)
        }
    };
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Plain for $number {
            memory!();

            const FIRST: usize = size_of::<Self>();
            const LARGEST: usize = size_of::<Self>();
            const IS_LAID_OUT: bool = true;
        }
    )*};
}

numbers!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

impl<T: Plain, const N: usize> Plain for [T; N]
where
    Self: PlainMemory,
{
    memory!();

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
