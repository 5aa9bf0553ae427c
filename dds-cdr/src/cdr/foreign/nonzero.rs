//! Numbers that are not zero.

use super::encoded_as;
use crate::cdr::MapKey;
use std::num::NonZero;

macro_rules! non_zero {
    ($($number:ty)*) => {$(
        encoded_as! {
            NonZero<$number> => $number, |value| Ok(value.get()), Self::new;
        }

        impl MapKey for NonZero<$number> {}
    )*};
}

non_zero! { u8 u16 u32 u64 i8 i16 i32 i64 }
