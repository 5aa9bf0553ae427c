//! Types of the standard library and of other crates as members: each is encoded as a wire type.
//!
//! | type | on the wire |
//! |---|---|
//! | `Duration` | struct of `int32` seconds and `uint32` nanoseconds, as `DDS::Duration_t` |
//! | `SystemTime` | struct of `int32` seconds since 1970 and `uint32` nanoseconds, as `DDS::Time_t` |
//! | `NonZero<T>` | `T` |
//! | `Ipv4Addr`, `Ipv6Addr` | 4 or 16 octets |
//! | `IpAddr` | 16 octets; an IPv4 address is mapped (`::ffff:a.b.c.d`) |
//! | `SocketAddrV4`, `SocketAddrV6`, `SocketAddr` | struct of the address and a `uint16` port |
//! | `Cow<'a, T>` | `T` |
//!
//! Seconds have 32 bits because the DDS standard and ROS 2 define them so. A value beyond them is an encode error.
//! A scope id or flow label of IPv6 has no meaning on another host, so it is not sent.

mod borrowed;
mod net;
mod nonzero;
mod structs;
mod time;

#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "glam")]
mod glam;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "uuid")]
mod uuid;

/// Implements the traits of a member for a `Clone` type that is encoded as `$wire`.
///
/// `$to` returns the wire value or an [`EncodeError`](super::EncodeError); `$from` returns the value, or `None` if the
/// type does not have it.
macro_rules! encoded_as {
    ($($ty:ty => $wire:ty, $to:expr, $from:expr;)*) => {$(
        impl $crate::cdr::TypeInfo for $ty {
            const TYPE_NAME: &'static str = <$wire as $crate::cdr::TypeInfo>::TYPE_NAME;
            const HAS_KEY: bool = false;
            const DESCRIPTION: &'static $crate::cdr::TypeDescription = <$wire as $crate::cdr::TypeInfo>::DESCRIPTION;
        }

        impl $crate::cdr::Encode for $ty {
            const IS_PRIMITIVE: bool = <$wire as $crate::cdr::Encode>::IS_PRIMITIVE;
            const INNERMOST_IS_PRIMITIVE: bool = <$wire as $crate::cdr::Encode>::INNERMOST_IS_PRIMITIVE;
            const LENGTH_CODE: $crate::cdr::LengthCode = <$wire as $crate::cdr::Encode>::LENGTH_CODE;

            #[inline]
            fn encode(&self, e: &mut $crate::cdr::Encoder<'_>) -> Result<(), $crate::cdr::EncodeError> {
                let to: fn(&Self) -> Result<$wire, $crate::cdr::EncodeError> = $to;
                $crate::cdr::Encode::encode(&to(self)?, e)
            }

            #[inline]
            fn encode_key(&self, e: &mut $crate::cdr::Encoder<'_>) -> Result<(), $crate::cdr::EncodeError> {
                self.encode(e)
            }
        }

        impl<'de> $crate::cdr::Decode<'de> for $ty {
            const IS_PRIMITIVE: bool = <$wire as $crate::cdr::Decode<'de>>::IS_PRIMITIVE;
            const INNERMOST_IS_PRIMITIVE: bool = <$wire as $crate::cdr::Decode<'de>>::INNERMOST_IS_PRIMITIVE;
            const SIZE_MIN: usize = <$wire as $crate::cdr::Decode<'de>>::SIZE_MIN;

            #[inline]
            fn decode(d: &mut $crate::cdr::Decoder<'de>) -> Result<Self, $crate::cdr::DecodeError> {
                let from: fn($wire) -> Option<Self> = $from;
                let wire = <$wire as $crate::cdr::Decode<'de>>::decode(d)?;
                $crate::cdr::converted(d, from(wire))
            }

            #[inline]
            fn missing(d: &$crate::cdr::Decoder<'de>) -> Result<Self, $crate::cdr::DecodeError> {
                let from: fn($wire) -> Option<Self> = $from;
                let wire = <$wire as $crate::cdr::Decode<'de>>::missing(d)?;
                $crate::cdr::converted(d, from(wire))
            }
        }

        impl $crate::cdr::WholeKey<'_> for $ty {
            fn copy_key(&self) -> Self {
                Clone::clone(self)
            }
        }

        impl $crate::cdr::KeyMember for $ty {
            type Key = Self;

            fn to_key(&self) -> Self {
                Clone::clone(self)
            }

            fn encode_key_member(
                key: &Self,
                e: &mut $crate::cdr::Encoder<'_>,
            ) -> Result<(), $crate::cdr::EncodeError> {
                $crate::cdr::Encode::encode(key, e)
            }

            fn decode_key_member(d: &mut $crate::cdr::Decoder<'_>) -> Result<Self, $crate::cdr::DecodeError> {
                $crate::cdr::Decode::decode(d)
            }
        }
    )*};
}

use encoded_as;
