//! Wire types: final structs of a few numbers.

use crate::cdr::{
    Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, Extensibility, MemberDescription, TypeDescription,
    TypeInfo,
};

/// Defines a final struct without a key.
macro_rules! wire_struct {
    ($(#[$doc:meta])* $name:ident $(<$scalar:ident>)?, $type_name:expr, { $($id:literal $field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        pub(super) struct $name $(<$scalar>)? {
            $(pub(super) $field: $ty,)*
        }

        impl $(<$scalar: TypeInfo>)? $name $(<$scalar>)? {
            const MEMBERS: &'static [MemberDescription] =
                &[$(MemberDescription::new(stringify!($field), $id, || <$ty as TypeInfo>::DESCRIPTION)),*];
        }

        impl $(<$scalar: TypeInfo>)? TypeInfo for $name $(<$scalar>)? {
            const TYPE_NAME: &'static str = $type_name;
            const HAS_KEY: bool = false;
            const DESCRIPTION: &'static TypeDescription =
                &TypeDescription::of_struct(Self::TYPE_NAME, Extensibility::Final, Self::MEMBERS).nested();
        }

        impl $(<$scalar: Encode>)? Encode for $name $(<$scalar>)? {
            #[inline]
            fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                $(self.$field.encode(e)?;)*
                Ok(())
            }

            #[inline]
            fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                self.encode(e)
            }
        }

        impl<'de, $($scalar: Decode<'de>)?> Decode<'de> for $name $(<$scalar>)? {
            const EXTENSIBILITY: Option<Extensibility> = Some(Extensibility::Final);

            #[inline]
            fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
                Ok(Self { $($field: Decode::decode(d)?,)* })
            }

            #[inline]
            fn missing(d: &Decoder<'de>) -> Result<Self, DecodeError> {
                Ok(Self { $($field: Decode::missing(d)?,)* })
            }
        }
    };
}

wire_struct! {
    /// A time or a duration with the members of `DDS::Time_t` and `DDS::Duration_t`.
    Seconds, "DDS::Time_t", { 0 sec: i32, 1 nanosec: u32, }
}

wire_struct! {
    /// An IPv4 address and a port.
    SocketV4, "SocketAddrV4", { 0 address: [u8; 4], 1 port: u16, }
}

wire_struct! {
    /// An IPv6 address, or a mapped IPv4 address, and a port.
    SocketV6, "SocketAddr", { 0 address: [u8; 16], 1 port: u16, }
}

#[cfg(any(feature = "glam", feature = "nalgebra"))]
wire_struct! {
    /// A vector or point of two numbers.
    Xy<T>, "Vector2", { 0 x: T, 1 y: T, }
}

#[cfg(any(feature = "glam", feature = "nalgebra"))]
wire_struct! {
    /// A vector or point of three numbers.
    Xyz<T>, "Vector3", { 0 x: T, 1 y: T, 2 z: T, }
}

#[cfg(any(feature = "glam", feature = "nalgebra"))]
wire_struct! {
    /// A vector of four numbers, or a quaternion with its real part last.
    Xyzw<T>, "Vector4", { 0 x: T, 1 y: T, 2 z: T, 3 w: T, }
}
