//! Type identifiers: a full description of a type, or its hash (XTYPES 1.3, 7.3.4.2, and annex B).
//!
//! ```text
//! kind     follows
//! 00       nothing: no type
//! 01 .. 11 nothing: a primitive type
//! 70 71    bound, 8 or 32 bits: string        72 73  wstring
//! 80 81    header, bound, element: sequence   90 91  header, bounds, element: array
//! a0 a1    header, bound, element, key flags, key: map
//! b0       length, hash kind, hash, number of types, index: a type that contains itself
//! f1 f2    14 octets: MD5 of the minimal or the complete TypeObject
//! ```

use super::flags::MemberFlags;
use super::record::record;
use crate::cdr::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder};
use std::fmt;

/// The first 14 bytes of the MD5 of a serialized TypeObject.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EquivalenceHash(pub [u8; 14]);

/// Which description of a type a hash covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Equivalence {
    /// The minimal description (EK_MINIMAL): hashes of names only.
    Minimal,
    /// The complete description (EK_COMPLETE).
    Complete,
    /// No hash: both descriptions are equal (EK_BOTH).
    Both,
}

/// A primitive type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PrimitiveType {
    /// `boolean`.
    Bool = 0x01,
    /// `octet`.
    Byte = 0x02,
    /// `int16`.
    Int16 = 0x03,
    /// `int32`.
    Int32 = 0x04,
    /// `int64`.
    Int64 = 0x05,
    /// `uint16`.
    UInt16 = 0x06,
    /// `uint32`.
    UInt32 = 0x07,
    /// `uint64`.
    UInt64 = 0x08,
    /// `float`.
    Float32 = 0x09,
    /// `double`.
    Float64 = 0x0a,
    /// `long double`.
    Float128 = 0x0b,
    /// `int8`.
    Int8 = 0x0c,
    /// `uint8`.
    UInt8 = 0x0d,
    /// `char`.
    Char8 = 0x10,
    /// `wchar`.
    Char16 = 0x11,
}

/// Identifies a type.
///
/// Bounds count bytes (string), UTF-16 code units (wstring) or elements.
/// Both 0 and `u32::MAX` mean unbounded: Cyclone DDS's Python binding writes `u32::MAX` for maps.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeIdentifier {
    /// No type: the base of a struct without a base.
    None,
    /// A primitive type.
    Primitive(PrimitiveType),
    /// `string`.
    String8 {
        /// Most bytes, without the NUL.
        bound: u32,
    },
    /// `wstring`.
    String16 {
        /// Most UTF-16 code units.
        bound: u32,
    },
    /// A sequence whose elements have no annotations of their own.
    Sequence {
        /// Most elements.
        bound: u32,
        /// The elements.
        element: Box<PlainElement>,
    },
    /// An array of one or more dimensions.
    Array {
        /// The length in each dimension, the outermost first.
        bounds: Vec<u32>,
        /// The elements.
        element: Box<PlainElement>,
    },
    /// A map.
    Map {
        /// Most entries.
        bound: u32,
        /// The values.
        element: Box<PlainElement>,
        /// Flags of the keys.
        key_flags: MemberFlags,
        /// The type of the keys.
        key: Box<TypeIdentifier>,
    },
    /// A type that contains itself, or one of several types that contain each other.
    StronglyConnected(ComponentId),
    /// The hash of a minimal TypeObject.
    Minimal(EquivalenceHash),
    /// The hash of a complete TypeObject.
    Complete(EquivalenceHash),
}

/// The elements of a collection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlainElement {
    /// The kind of the hashes in `id`.
    pub equivalence: Equivalence,
    /// Flags of the elements.
    pub flags: MemberFlags,
    /// The type of the elements.
    pub id: TypeIdentifier,
}

/// Identifies one of several types that contain each other: a strongly connected component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId {
    /// The description that the hash covers: `Minimal` or `Complete`.
    pub equivalence: Equivalence,
    /// Hash of the TypeObjects of all types of the component.
    pub hash: EquivalenceHash,
    /// The number of types in the component.
    pub length: i32,
    /// The index of the type, from 1; 0 means all types of the component.
    pub index: i32,
}

impl TypeIdentifier {
    /// The identifier with this hash. `Both` counts as complete, since it has no hash.
    #[must_use]
    pub const fn of_hash(equivalence: Equivalence, hash: EquivalenceHash) -> Self {
        match equivalence {
            Equivalence::Minimal => Self::Minimal(hash),
            Equivalence::Complete | Equivalence::Both => Self::Complete(hash),
        }
    }

    /// Whether the identifier describes the whole type: it contains no hash.
    #[must_use]
    pub fn is_fully_descriptive(&self) -> bool {
        match self {
            Self::StronglyConnected(_) | Self::Minimal(_) | Self::Complete(_) => false,
            // A collection of a hashed type needs the TypeObject of that type.
            Self::Sequence { element, .. } | Self::Array { element, .. } => element.id.is_fully_descriptive(),
            Self::Map { element, key, .. } => element.id.is_fully_descriptive() && key.is_fully_descriptive(),
            _ => true,
        }
    }

    /// Whether the identifier itself is a hash, so that a TypeObject exists.
    #[must_use]
    pub const fn is_hash(&self) -> bool {
        matches!(self, Self::StronglyConnected(_) | Self::Minimal(_) | Self::Complete(_))
    }

    /// The description that its hashes cover; `Both` if it contains no hash.
    #[must_use]
    pub fn equivalence(&self) -> Equivalence {
        match self {
            Self::StronglyConnected(component) => component.equivalence,
            Self::Minimal(_) => Equivalence::Minimal,
            Self::Complete(_) => Equivalence::Complete,
            Self::Sequence { element, .. } | Self::Array { element, .. } => element.id.equivalence(),
            Self::Map { element, key, .. } => match element.id.equivalence() {
                // The element alone is equal in both forms, so the key decides.
                Equivalence::Both => key.equivalence(),
                known => known,
            },
            _ => Equivalence::Both,
        }
    }

    /// Calls `change` with each component identifier in it.
    pub(super) fn for_each_component_mut(&mut self, change: &mut dyn FnMut(&mut ComponentId)) {
        match self {
            Self::Sequence { element, .. } | Self::Array { element, .. } => element.id.for_each_component_mut(change),
            Self::Map { element, key, .. } => {
                key.for_each_component_mut(change);
                element.id.for_each_component_mut(change);
            }
            Self::StronglyConnected(component) => change(component),
            _ => {}
        }
    }

    /// Calls `change` with each hash in it, and adapts the kinds of hashes that collections state.
    pub(super) fn replace_hashes(&mut self, change: &mut dyn FnMut(&mut Self)) {
        match self {
            Self::Sequence { element, .. } | Self::Array { element, .. } => {
                element.id.replace_hashes(change);
                // The kind of a collection follows from the kind of its element, which has just changed.
                element.equivalence = element.id.equivalence();
            }
            Self::Map { element, key, .. } => {
                key.replace_hashes(change);
                element.id.replace_hashes(change);
                // A map states one kind for both parts. The element decides, unless it has no hash.
                element.equivalence = match element.id.equivalence() {
                    Equivalence::Both => key.equivalence(),
                    known => known,
                };
            }
            id => {
                // Other identifiers describe the type itself, so both forms have the same one.
                if id.is_hash() {
                    change(id);
                }
            }
        }
    }

    /// Whether `wanted` accepts this identifier, or that of the elements or keys inside of it.
    pub fn contains(&self, wanted: &dyn Fn(&Self) -> bool) -> bool {
        let within = match self {
            Self::Sequence { element, .. } | Self::Array { element, .. } => element.id.contains(wanted),
            Self::Map { element, key, .. } => key.contains(wanted) || element.id.contains(wanted),
            _ => false,
        };
        // The collection itself counts as well: its identifier may be the wanted one.
        within || wanted(self)
    }

    /// Calls `visit` with each hash in it: itself, or the hashes of elements and keys.
    pub fn for_each_hash<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        match self {
            Self::Sequence { element, .. } | Self::Array { element, .. } => element.id.for_each_hash(visit),
            Self::Map { element, key, .. } => {
                key.for_each_hash(visit);
                element.id.for_each_hash(visit);
            }
            id if id.is_hash() => visit(id),
            _ => {}
        }
    }
}

impl PlainElement {
    /// Creates an element of type `id`.
    #[must_use]
    pub fn new(flags: MemberFlags, id: TypeIdentifier) -> Self {
        Self { equivalence: id.equivalence(), flags, id }
    }
}

impl PrimitiveType {
    const ALL: [Self; 15] = [
        Self::Bool,
        Self::Byte,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::UInt16,
        Self::UInt32,
        Self::UInt64,
        Self::Float32,
        Self::Float64,
        Self::Float128,
        Self::Int8,
        Self::UInt8,
        Self::Char8,
        Self::Char16,
    ];

    /// The primitive with this number, if there is one.
    #[must_use]
    pub fn from_kind(kind: u8) -> Option<Self> {
        // A cast would accept each byte of a peer. The search accepts only listed kinds.
        Self::ALL.into_iter().find(|primitive| *primitive as u8 == kind)
    }

    /// The name in IDL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "boolean",
            Self::Byte => "octet",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::UInt16 => "uint16",
            Self::UInt32 => "uint32",
            Self::UInt64 => "uint64",
            Self::Float32 => "float",
            Self::Float64 => "double",
            Self::Float128 => "long double",
            Self::Int8 => "int8",
            Self::UInt8 => "uint8",
            Self::Char8 => "char",
            Self::Char16 => "wchar",
        }
    }
}

impl Equivalence {
    /// The number on the wire.
    #[must_use]
    pub const fn kind(self) -> u8 {
        match self {
            Self::Minimal => EK_MINIMAL,
            Self::Complete => EK_COMPLETE,
            Self::Both => EK_BOTH,
        }
    }
}

impl Encode for Equivalence {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.kind().encode(e)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for Equivalence {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        match u8::decode(d)? {
            EK_MINIMAL => Ok(Self::Minimal),
            EK_COMPLETE => Ok(Self::Complete),
            EK_BOTH => Ok(Self::Both),
            other => Err(d.error(DecodeErrorKind::UnknownDiscriminator { value: other.into() })),
        }
    }
}

impl Encode for EquivalenceHash {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        // The hash is an array of octets, so no length precedes it.
        e.bytes(&self.0);
        Ok(())
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for EquivalenceHash {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        <[u8; 14]>::decode(d).map(Self)
    }
}

record! {
    appendable ComponentId { equivalence hash length index }
}

impl Encode for TypeIdentifier {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match self {
            Self::None => 0_u8.encode(e),
            Self::Primitive(primitive) => (*primitive as u8).encode(e),
            Self::String8 { bound } => encode_bound(STRING8_SMALL, *bound, e, |_| Ok(())),
            Self::String16 { bound } => encode_bound(STRING16_SMALL, *bound, e, |_| Ok(())),
            Self::Sequence { bound, element } => {
                encode_bound(SEQUENCE_SMALL, *bound, e, |e| element.encode_header(e))?;
                element.id.encode(e)
            }
            Self::Array { bounds, element } => {
                // The small form only fits if every dimension does.
                let small: Option<Vec<u8>> = bounds.iter().map(|bound| u8::try_from(*bound).ok()).collect();
                // Each large kind follows its small one in the numbering.
                (ARRAY_SMALL + u8::from(small.is_none())).encode(e)?;
                element.encode_header(e)?;
                match small {
                    Some(small) => small.encode(e)?,
                    None => bounds.encode(e)?,
                }
                element.id.encode(e)
            }
            Self::Map { bound, element, key_flags, key } => {
                encode_bound(MAP_SMALL, *bound, e, |e| element.encode_header(e))?;
                // The standard places the flags and the type of keys behind the element.
                element.id.encode(e)?;
                key_flags.encode(e)?;
                key.encode(e)
            }
            Self::StronglyConnected(component) => {
                STRONGLY_CONNECTED.encode(e)?;
                component.encode(e)
            }
            Self::Minimal(hash) => {
                EK_MINIMAL.encode(e)?;
                hash.encode(e)
            }
            Self::Complete(hash) => {
                EK_COMPLETE.encode(e)?;
                hash.encode(e)
            }
        }
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

/// Encodes the small kind with a bound of 8 bits, or the next kind with 32 bits.
fn encode_bound(
    small: u8,
    bound: u32,
    e: &mut Encoder<'_>,
    header: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    match u8::try_from(bound) {
        // The standard demands the small form where it fits. Another form would have another hash.
        Ok(bound) => {
            small.encode(e)?;
            // The header of a collection stands between kind and bound. Strings have none.
            header(e)?;
            bound.encode(e)
        }
        Err(_) => {
            (small + 1).encode(e)?;
            header(e)?;
            bound.encode(e)
        }
    }
}

impl PlainElement {
    fn encode_header(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.equivalence.encode(e)?;
        self.flags.encode(e)
    }
}

impl<'de> Decode<'de> for TypeIdentifier {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let kind = u8::decode(d)?;
        match kind {
            0 => return Ok(Self::None),
            STRONGLY_CONNECTED => return ComponentId::decode(d).map(Self::StronglyConnected),
            EK_MINIMAL => return EquivalenceHash::decode(d).map(Self::Minimal),
            EK_COMPLETE => return EquivalenceHash::decode(d).map(Self::Complete),
            _ => {}
        }
        // A primitive type is its kind alone, without a body.
        if let Some(primitive) = PrimitiveType::from_kind(kind) {
            return Ok(Self::Primitive(primitive));
        }
        // Small kinds are even, large ones odd.
        let is_small = kind & 1 == 0;
        match kind & !1 {
            STRING8_SMALL => Ok(Self::String8 { bound: decode_bound(is_small, d)? }),
            STRING16_SMALL => Ok(Self::String16 { bound: decode_bound(is_small, d)? }),
            SEQUENCE_SMALL => {
                let (equivalence, flags) = (Decode::decode(d)?, Decode::decode(d)?);
                let bound = decode_bound(is_small, d)?;
                let id = nested(d)?;
                Ok(Self::Sequence { bound, element: Box::new(PlainElement { equivalence, flags, id }) })
            }
            ARRAY_SMALL => {
                let (equivalence, flags) = (Decode::decode(d)?, Decode::decode(d)?);
                // The decoder compares the count with the remaining bytes before it allocates.
                let bounds = if is_small {
                    Vec::<u8>::decode(d)?.into_iter().map(u32::from).collect()
                } else {
                    Vec::<u32>::decode(d)?
                };
                let id = nested(d)?;
                Ok(Self::Array { bounds, element: Box::new(PlainElement { equivalence, flags, id }) })
            }
            MAP_SMALL => {
                let (equivalence, flags) = (Decode::decode(d)?, Decode::decode(d)?);
                let bound = decode_bound(is_small, d)?;
                let id = nested(d)?;
                let (key_flags, key) = (Decode::decode(d)?, Box::new(nested(d)?));
                let element = Box::new(PlainElement { equivalence, flags, id });
                Ok(Self::Map { bound, element, key_flags, key })
            }
            // A kind of a later version of the standard has no length here, so decoding cannot continue after it.
            _ => Err(d.error(DecodeErrorKind::UnknownDiscriminator { value: kind.into() })),
        }
    }
}

fn decode_bound(is_small: bool, d: &mut Decoder<'_>) -> Result<u32, DecodeError> {
    if is_small { u8::decode(d).map(u32::from) } else { u32::decode(d) }
}

/// Decodes the type of elements or keys. A peer controls the depth of nesting, so it is limited.
fn nested(d: &mut Decoder<'_>) -> Result<TypeIdentifier, DecodeError> {
    // An identifier can contain another one, so hostile bytes could nest without end.
    d.nested(size_of::<TypeIdentifier>(), TypeIdentifier::decode)
}

impl fmt::Debug for EquivalenceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A hash in hexadecimal digits; of types that contain each other also the number of the type, as `hash/1/2`. Any other
/// type is a name in IDL.
impl fmt::Display for TypeIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Primitive(primitive) => f.write_str(primitive.name()),
            Self::String8 { bound: 0 | u32::MAX } => f.write_str("string"),
            Self::String8 { bound } => write!(f, "string<{bound}>"),
            Self::String16 { bound: 0 | u32::MAX } => f.write_str("wstring"),
            Self::String16 { bound } => write!(f, "wstring<{bound}>"),
            Self::Sequence { bound: 0 | u32::MAX, element } => write!(f, "sequence<{}>", element.id),
            Self::Sequence { bound, element } => write!(f, "sequence<{}, {bound}>", element.id),
            Self::Array { bounds, element } => {
                write!(f, "{}", element.id)?;
                for bound in bounds {
                    write!(f, "[{bound}]")?;
                }
                Ok(())
            }
            Self::Map { bound: 0 | u32::MAX, element, key, .. } => write!(f, "map<{key}, {}>", element.id),
            Self::Map { bound, element, key, .. } => write!(f, "map<{key}, {}, {bound}>", element.id),
            Self::StronglyConnected(component) => {
                write!(f, "{}/{}/{}", component.hash, component.index, component.length)
            }
            Self::Minimal(hash) | Self::Complete(hash) => fmt::Display::fmt(hash, f),
        }
    }
}

impl fmt::Display for EquivalenceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

pub(super) const EK_MINIMAL: u8 = 0xf1;
pub(super) const EK_COMPLETE: u8 = 0xf2;
const EK_BOTH: u8 = 0xf3;
const STRING8_SMALL: u8 = 0x70;
const STRING16_SMALL: u8 = 0x72;
const SEQUENCE_SMALL: u8 = 0x80;
const ARRAY_SMALL: u8 = 0x90;
const MAP_SMALL: u8 = 0xa0;
const STRONGLY_CONNECTED: u8 = 0xb0;
