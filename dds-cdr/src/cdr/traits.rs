//! What a type must be able to do. All of it is written by `#[derive(DdsType)]`.

use super::{
    AnyType, DecodeError, DecodeErrorKind, Decoder, EncodeError, Encoder, Extensibility, LengthCode, TypeDescription,
};

/// A type whose name and structure are known.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no description as a DDS type",
    note = "derive `DdsType` for it, or use a type that DDS knows: bool, i8..i64, u8..u64, f32, f64, char, String, Vec, arrays, maps, Option, Box, Arc"
)]
pub trait TypeInfo {
    /// The name under which the type is announced.
    const TYPE_NAME: &'static str;
    /// Whether any member is part of a key.
    const HAS_KEY: bool;
    /// The structure. Nested types hang on functions, so recursive types can be described.
    const DESCRIPTION: &'static TypeDescription;
}

/// A value that can be written by an [`Encoder`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be encoded",
    note = "derive `DdsType` for it; if it is an alias of `Option`, mark the member `#[dds(optional)]`"
)]
pub trait Encode {
    /// Whether this is a number, a bool or a char: collections of those carry no length in bytes (XTYPES 1.3, 7.4.3).
    #[doc(hidden)]
    const IS_PRIMITIVE: bool = false;
    /// The same of the innermost element, for arrays of arrays, which are one array of several dimensions.
    #[doc(hidden)]
    const INNERMOST_IS_PRIMITIVE: bool = Self::IS_PRIMITIVE;
    /// How the header of a member of a mutable struct tells the length of a value.
    #[doc(hidden)]
    const LENGTH_CODE: LengthCode = LengthCode::NextInt;

    /// Appends the value.
    ///
    /// # Errors
    /// The value does not fit its type. What was appended until then stays in the buffer.
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Appends the members that make the key; all of them, if none is marked.
    ///
    /// # Errors
    /// The value does not fit its type.
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// How a payload is framed, if only the value knows.
    #[doc(hidden)]
    #[inline]
    fn framing(&self) -> Option<Extensibility> {
        None
    }

    /// Whether this is a sample of a topic of this type, where its own type does not prove it.
    #[doc(hidden)]
    #[inline]
    fn is_of(&self, ty: Option<&AnyType>) -> bool {
        let _ = ty;
        true
    }

    /// Appends the elements of a sequence.
    #[doc(hidden)]
    fn encode_elements(elements: &[Self], e: &mut Encoder<'_>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        elements.iter().try_for_each(|element| element.encode(e))
    }

    /// Appends the elements of an array, those of its inner dimensions too.
    #[doc(hidden)]
    fn encode_dimensions(elements: &[Self], e: &mut Encoder<'_>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        Self::encode_elements(elements, e)
    }

    /// Appends the keys of the elements of an array, those of its inner dimensions too.
    #[doc(hidden)]
    fn encode_key_dimensions(elements: &[Self], e: &mut Encoder<'_>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        elements.iter().try_for_each(|element| element.encode_key(e))
    }
}

/// A value that can be read by a [`Decoder`], and may borrow from its input.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be decoded",
    note = "derive `DdsType` for it; if it is an alias of `Option`, mark the member `#[dds(optional)]`",
    note = "of references, `&'a str` and `&'a [u8]` can be decoded; for other numbers use `cdr::Run<'a, f32>`"
)]
pub trait Decode<'de>: Sized {
    /// As [`Encode::IS_PRIMITIVE`].
    #[doc(hidden)]
    const IS_PRIMITIVE: bool = false;
    /// As [`Encode::INNERMOST_IS_PRIMITIVE`].
    #[doc(hidden)]
    const INNERMOST_IS_PRIMITIVE: bool = Self::IS_PRIMITIVE;
    /// The bytes that a value occupies at least. Bounds what a length may ask for. 0 only for types that count values which
    /// occupy none ([`Decoder::nothing`]).
    #[doc(hidden)]
    const SIZE_MIN: usize = 1;
    /// How a payload of this type is framed, if only one framing is right.
    #[doc(hidden)]
    const EXTENSIBILITY: Option<Extensibility> = None;

    /// Takes a value.
    ///
    /// # Errors
    /// The input is not a value of this type.
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError>;

    /// Takes a value, keeping the allocations of this one.
    ///
    /// # Errors
    /// The input is not a value of this type. Then this one is some mixture of both.
    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        *self = Self::decode(d)?;
        Ok(())
    }

    /// The value of a member that the sender's older type does not have: zero, empty, the first literal, and of structs
    /// those of the members, unless the member says `#[dds(default)]` (XTYPES 1.3, 7.2.2.4.4.4.7).
    ///
    /// # Errors
    /// [`DecodeErrorKind::MissingMember`], unless a type says something better.
    fn missing(d: &Decoder<'de>) -> Result<Self, DecodeError> {
        Err(d.error(DecodeErrorKind::MissingMember))
    }

    /// Reads a payload of a topic of this type.
    ///
    /// # Errors
    /// The payload is not a value of the type.
    #[doc(hidden)]
    #[inline]
    fn decode_typed(payload: &'de [u8], ty: Option<&AnyType>) -> Result<Self, DecodeError> {
        let _ = ty;
        super::decode_payload(payload)
    }

    /// [`Decode::decode_typed`], keeping the allocations of this one.
    ///
    /// # Errors
    /// As of that.
    #[doc(hidden)]
    #[inline]
    fn decode_typed_into(&mut self, payload: &'de [u8], ty: Option<&AnyType>) -> Result<(), DecodeError> {
        let _ = ty;
        super::decode_payload_into(payload, self)
    }

    /// Takes the elements of a sequence.
    #[doc(hidden)]
    fn decode_elements(elements: &mut Vec<Self>, count: usize, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        elements.truncate(count);
        elements.iter_mut().try_for_each(|element| element.decode_into(d))?;
        // A count is at most the number of bytes left, if elements have bytes at all, but an element may be large in memory
        // and small on the wire: what is asked for at once is limited to the size of the input.
        let affordable = d.remaining() / size_of::<Self>().max(1);
        let missing = count - elements.len();
        elements.reserve(missing.min(affordable + 1));
        for _ in 0..missing {
            elements.push(Self::decode(d)?);
        }
        Ok(())
    }

    /// Takes the elements of an array, those of its inner dimensions too.
    #[doc(hidden)]
    fn decode_array<const N: usize>(d: &mut Decoder<'de>) -> Result<[Self; N], DecodeError> {
        super::collection::try_array(|| Self::decode(d))
    }

    /// Takes the elements of an array into one, those of its inner dimensions too.
    #[doc(hidden)]
    fn decode_dimensions_into(elements: &mut [Self], d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        elements.iter_mut().try_for_each(|element| element.decode_into(d))
    }
}

/// A value that borrows nothing from the sample it was decoded from.
#[diagnostic::on_unimplemented(
    message = "`{Self}` borrows from the received sample",
    label = "this needs a type that owns its data",
    note = "use `view()` on the samples of a batch, or a type without lifetimes"
)]
pub trait DecodeOwned: for<'de> Decode<'de> + 'static {}

/// A type whose values belong to instances, told apart by a key.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no key",
    label = "this needs a type with a key",
    note = "mark the fields that identify an instance with `#[dds(key)]`"
)]
pub trait Keyed {
    /// The key: of one key member its owned type, of several a tuple of those.
    type Key;

    /// As [`Decode::EXTENSIBILITY`].
    #[doc(hidden)]
    const EXTENSIBILITY: Option<Extensibility> = None;

    /// The key of this value.
    fn key(&self) -> Self::Key;

    /// Appends a key, exactly as [`Encode::encode_key`] appends that of a whole value.
    ///
    /// # Errors
    /// The key does not fit its type.
    fn encode_key_value(key: &Self::Key, e: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Takes a key.
    ///
    /// # Errors
    /// The input is not a key of this type.
    fn decode_key_value(d: &mut Decoder<'_>) -> Result<Self::Key, DecodeError>;

    /// How a payload is framed, if only the key knows.
    #[doc(hidden)]
    #[inline]
    fn framing_of_key(key: &Self::Key) -> Option<Extensibility> {
        let _ = key;
        None
    }

    /// Whether this is a key of a topic of this type, where its own type does not prove it.
    #[doc(hidden)]
    #[inline]
    fn is_key_of(key: &Self::Key, ty: Option<&AnyType>) -> bool {
        let _ = (key, ty);
        true
    }

    /// Reads a serialized key of a topic of this type.
    ///
    /// # Errors
    /// The payload is not a key of the type.
    #[doc(hidden)]
    #[inline]
    fn decode_typed_key(payload: &[u8], ty: Option<&AnyType>) -> Result<Self::Key, DecodeError>
    where
        Self: Sized,
    {
        let _ = ty;
        super::decode_key_payload::<Self>(payload)
    }
}

/// A type that can be the type of a topic.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a DDS type",
    label = "this needs `#[derive(DdsType)]`",
    note = "a type marked `#[dds(nested)]` can only be a member of others"
)]
pub trait DdsType: TypeInfo + Encode {}

/// A type that has the same encoding as `T`, and may borrow where `T` owns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a view of `{T}`",
    note = "declare it with `#[dds(view_of = {T})]` beside `#[derive(DdsType)]`; its members must be those of `{T}`"
)]
pub trait ViewOf<T: ?Sized> {}

/// A member that can be part of a key.
///
/// A type with key members contributes those; any other contributes all of itself, and then all of its parts must do so
/// too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key",
    note = "optional members cannot, nor structs that borrow and mark no key members, nor what may be another value than \
            was sent (`try_construct`)"
)]
pub trait KeyMember {
    /// What of this member belongs to the key, as an owned value.
    type Key;

    /// An owned copy of the key.
    fn to_key(&self) -> Self::Key;

    /// Appends a key.
    ///
    /// # Errors
    /// The key does not fit its type.
    fn encode_key_member(key: &Self::Key, e: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Takes a key.
    ///
    /// # Errors
    /// The input is not a key of this type.
    fn decode_key_member(d: &mut Decoder<'_>) -> Result<Self::Key, DecodeError>;
}

/// A member that contributes all of itself to a key.
///
/// The lifetime means nothing. It lets the derive say "if all members do" of a type without generics, where the compiler
/// would insist that they do, whether or not the type is ever used as a key.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key as a whole",
    note = "it marks key members of its own, is optional, borrows, says `try_construct`, or contains something that does; \
            mark the key members of the struct around it"
)]
pub trait WholeKey<'k>: Sized {
    /// A copy. Types of topics need not be `Clone`.
    fn copy_key(&self) -> Self;
}
