//! Types as constant data.
//!
//! Made by the derive. Read wherever samples are handled without user code: key hashes of received payloads, and later
//! filters, type objects and dynamic data. Nested types hang on functions ([`TypeRef`]), so that a type may contain itself.

use super::{Bitfield, Bitflag, EnumLiteral, Extensibility, TryConstruct, compare, member_count};
use super::{BitmaskDescription, BitsetDescription, EnumDescription, UnionDescription};

/// A function that gives the description of a nested type.
pub type TypeRef = fn() -> &'static TypeDescription;

/// A type: its name and what it is made of.
#[derive(Debug, Clone, Copy)]
pub struct TypeDescription {
    name: &'static str,
    kind: TypeKind,
    /// Of elements of collections, which have no description of their own beside that of their type.
    try_construct: TryConstruct,
    /// It is no topic's type.
    pub(crate) is_nested: bool,
    /// Members have ids made of their names, unless they say otherwise.
    pub(crate) has_hash_ids: bool,
}

/// What a type is made of.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum TypeKind {
    /// `boolean`.
    Bool,
    /// `octet`: eight bits without a meaning. Encoded as `uint8`, but another type to type checks.
    Octet,
    /// `int8`.
    Int8,
    /// `uint8`.
    UInt8,
    /// `int16`.
    Int16,
    /// `uint16`.
    UInt16,
    /// `int32`.
    Int32,
    /// `uint32`.
    UInt32,
    /// `int64`.
    Int64,
    /// `uint64`.
    UInt64,
    /// `float`.
    Float32,
    /// `double`.
    Float64,
    /// `long double`: 16 bytes.
    Float128,
    /// `char`: one byte, Latin-1.
    Char8,
    /// `wchar`: one unit of UTF-16.
    Char16,
    /// `string`: UTF-8.
    String {
        /// Bytes without the NUL at most.
        bound: Option<u32>,
    },
    /// `wstring`: UTF-16.
    WString {
        /// Units of UTF-16 at most.
        bound: Option<u32>,
    },
    /// `sequence`.
    Sequence {
        /// Elements at most.
        bound: Option<u32>,
        /// What the elements are.
        element: TypeRef,
    },
    /// An array. An array of arrays is one array of several dimensions.
    Array {
        /// The number of elements.
        length: u32,
        /// What the elements are.
        element: TypeRef,
    },
    /// `map`.
    Map {
        /// Entries at most.
        bound: Option<u32>,
        /// What the keys are.
        key: TypeRef,
        /// What the values are.
        element: TypeRef,
    },
    /// `enum`.
    Enum(EnumDescription),
    /// `bitmask`.
    Bitmask(BitmaskDescription),
    /// `bitset`.
    Bitset(BitsetDescription),
    /// `union`.
    Union(UnionDescription),
    /// `struct`.
    Struct(StructDescription),
}

/// A struct.
#[derive(Debug, Clone, Copy)]
pub struct StructDescription {
    extensibility: Extensibility,
    members: &'static [MemberDescription],
    /// Whether the ids of the members grow in the order of definition.
    ids_ascend: bool,
    has_key: bool,
    base: Option<&'static TypeDescription>,
}

/// A member of a struct.
#[derive(Debug, Clone, Copy)]
pub struct MemberDescription {
    name: &'static str,
    id: u32,
    is_key: bool,
    is_optional: bool,
    /// As the member says by itself: keys always are so.
    pub(crate) must_understand: bool,
    is_external: bool,
    /// `@hashid`: the name that the id is made of, empty if it is that of the member.
    hash_id: Option<&'static str>,
    try_construct: TryConstruct,
    ty: TypeRef,
}

impl TypeDescription {
    /// A type called `name`.
    #[must_use]
    pub const fn new(name: &'static str, kind: TypeKind) -> Self {
        Self { name, kind, try_construct: TryConstruct::Discard, is_nested: false, has_hash_ids: false }
    }

    /// A struct called `name`.
    #[must_use]
    pub const fn of_struct(
        name: &'static str,
        extensibility: Extensibility,
        members: &'static [MemberDescription],
    ) -> Self {
        Self::new(name, TypeKind::Struct(StructDescription::new(extensibility, members)))
    }

    /// An enum called `name`, whose numbers have `bit_bound` bits.
    ///
    /// # Panics
    /// A number needs more bits, or they are not 1 to 32; in a constant, that is a compile error.
    #[must_use]
    pub const fn of_enum(
        name: &'static str,
        extensibility: Extensibility,
        bit_bound: u8,
        literals: &'static [EnumLiteral],
    ) -> Self {
        Self::new(name, TypeKind::Enum(EnumDescription::new(extensibility, bit_bound, literals)))
    }

    /// A bitmask called `name` of `bit_bound` bits.
    ///
    /// # Panics
    /// A flag lies beyond the bits or where another one is; in a constant, that is a compile error.
    #[must_use]
    pub const fn of_bitmask(
        name: &'static str,
        extensibility: Extensibility,
        bit_bound: u8,
        flags: &'static [Bitflag],
    ) -> Self {
        Self::new(name, TypeKind::Bitmask(BitmaskDescription::new(extensibility, bit_bound, flags)))
    }

    /// A bitset called `name` with these fields, from the least significant one on.
    ///
    /// # Panics
    /// Fields overlap or have more than 64 bits together; in a constant, that is a compile error.
    #[must_use]
    pub const fn of_bitset(name: &'static str, fields: &'static [Bitfield]) -> Self {
        Self::new(name, TypeKind::Bitset(BitsetDescription::new(fields)))
    }

    /// A union called `name`.
    #[must_use]
    pub const fn of_union(name: &'static str, description: UnionDescription) -> Self {
        Self::new(name, TypeKind::Union(description))
    }

    /// This string, sequence or map with a bound.
    ///
    /// # Panics
    /// It is none of these; in a constant, that is a compile error.
    #[must_use]
    pub const fn bounded(&self, bound: u32) -> Self {
        let bound = Some(bound);
        let kind = match self.kind {
            TypeKind::String { .. } => TypeKind::String { bound },
            TypeKind::WString { .. } => TypeKind::WString { bound },
            TypeKind::Sequence { element, .. } => TypeKind::Sequence { bound, element },
            TypeKind::Map { key, element, .. } => TypeKind::Map { bound, key, element },
            _ => panic!("only strings, sequences and maps have a bound"),
        };
        Self::new(self.name, kind)
    }

    /// This type where it is an element of a collection, or a member, that treats values like this which it cannot hold.
    ///
    /// # Panics
    /// There are no such values, or they cannot be trimmed; in a constant, that is a compile error.
    #[must_use]
    pub const fn try_construct(&self, try_construct: TryConstruct) -> Self {
        match (try_construct, &self.kind) {
            (
                TryConstruct::Trim,
                TypeKind::String { bound: Some(_) }
                | TypeKind::WString { bound: Some(_) }
                | TypeKind::Sequence { bound: Some(_), .. }
                | TypeKind::Map { bound: Some(_), .. },
            )
            | (TryConstruct::Discard, _) => {}
            (TryConstruct::Trim, _) => panic!("only what has a bound can be trimmed to it"),
            (TryConstruct::UseDefault, _) => self.must_be_tried(),
        }
        Self { try_construct, ..*self }
    }

    /// Says nothing, if what is sent can be another value than this type has.
    ///
    /// # Panics
    /// It cannot; in a constant, that is a compile error.
    #[doc(hidden)]
    pub const fn must_be_tried(&self) {
        assert!(self.can_be_another_value(), "the type holds any value that is sent: it never takes its default");
    }

    /// Whether what is sent can be well formed and no value of this type all the same.
    const fn can_be_another_value(&self) -> bool {
        match &self.kind {
            TypeKind::String { bound } | TypeKind::WString { bound } => bound.is_some(),
            _ => self.primitive_size().is_none(),
        }
    }

    /// What becomes of a value that the type cannot hold, where the type is that of an element of a collection. What a
    /// member says ([`MemberDescription::on_construct_failure`]) goes first.
    #[must_use]
    pub const fn on_construct_failure(&self) -> TryConstruct {
        self.try_construct
    }

    /// This type as one that is only a part of others.
    #[must_use]
    pub const fn nested(self) -> Self {
        Self { is_nested: true, ..self }
    }

    /// This type as one whose members have ids made of their names (`@autoid(HASH)`).
    #[must_use]
    pub const fn hash_ids(self) -> Self {
        Self { has_hash_ids: true, ..self }
    }

    /// This enum with the literal at `index` as its default (`@default_literal`). Without, it is the first.
    ///
    /// # Panics
    /// It is no enum, or has no such literal; in a constant, that is a compile error.
    #[must_use]
    pub const fn default_literal(self, index: usize) -> Self {
        match self.kind {
            TypeKind::Enum(description) => Self { kind: TypeKind::Enum(description.with_default(index)), ..self },
            _ => panic!("only enums have a default literal"),
        }
    }

    /// The name under which the type is announced; of types without one, what they are.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What the type is made of.
    #[must_use]
    pub const fn kind(&self) -> &TypeKind {
        &self.kind
    }

    /// How the type may grow. Types without members cannot.
    #[must_use]
    pub const fn extensibility(&self) -> Extensibility {
        match &self.kind {
            TypeKind::Struct(description) => description.extensibility,
            TypeKind::Union(description) => description.extensibility(),
            TypeKind::Enum(description) => description.extensibility(),
            TypeKind::Bitmask(description) => description.extensibility(),
            _ => Extensibility::Final,
        }
    }

    /// Whether both are structs, or both unions, that grow alike and whose members agree in everything but their types,
    /// which constants cannot compare: names, ids, labels, and which are keys or optional.
    #[must_use]
    pub const fn has_members_of(&self, other: &Self) -> bool {
        if let (TypeKind::Union(one), TypeKind::Union(other)) = (&self.kind, &other.kind) {
            return one.agrees_with(other);
        }
        let (TypeKind::Struct(one), TypeKind::Struct(other)) = (&self.kind, &other.kind) else { return false };
        if one.extensibility as u8 != other.extensibility as u8 || one.members.len() != other.members.len() {
            return false;
        }
        let mut index = 0;
        while index < one.members.len() {
            if !one.members[index].agrees_with(&other.members[index]) {
                return false;
            }
            index += 1;
        }
        true
    }

    /// Whether values of both types have the same encoding: the same members of the same types, all the way down. Names of
    /// types do not matter, those of members do.
    ///
    /// [`TypeDescription::has_members_of`] says as much as a constant can; this goes through nested types too, and is meant
    /// to be asked once for a pair of types.
    #[must_use]
    pub fn is_encoded_like(&self, other: &Self) -> bool {
        compare::is_encoded_like(self, other, &mut compare::Seen::default())
    }

    /// This struct as one that extends `base`, whose members it has already ([`derived_members`]).
    ///
    /// # Panics
    /// They do not grow alike; in a constant, that is a compile error.
    #[doc(hidden)]
    #[must_use]
    pub const fn derived_from(self, base: &'static Self) -> Self {
        let is_alike = self.extensibility() as u8 == base.extensibility() as u8;
        assert!(is_alike, "a struct and its base must have the same extensibility");
        match self.kind {
            TypeKind::Struct(description) => {
                let base = Some(base);
                Self::new(self.name, TypeKind::Struct(StructDescription { base, ..description }))
            }
            _ => panic!("only structs have a base"),
        }
    }

    /// Whether this is a struct that has a member with this id.
    #[must_use]
    pub fn has_member(&self, id: u32) -> bool {
        let TypeKind::Struct(description) = &self.kind else { return false };
        description.members.iter().any(|member| member.id == id)
    }

    /// Whether values of this type belong to instances.
    #[must_use]
    pub const fn has_key(&self) -> bool {
        match &self.kind {
            TypeKind::Struct(description) => description.has_key,
            TypeKind::Union(description) => description.has_key(),
            _ => false,
        }
    }

    /// The number of elements of an array of any dimensions, and what they are; of other types one, and the type itself.
    pub(super) fn dimensions(&self) -> (usize, &Self) {
        let (mut count, mut innermost) = (1_usize, self);
        while let TypeKind::Array { length, element } = innermost.kind {
            count = count.saturating_mul(length as usize);
            innermost = element();
        }
        (count, innermost)
    }

    /// Bytes of a value, if it is a number, a bool or a char.
    #[must_use]
    pub const fn primitive_size(&self) -> Option<usize> {
        Some(match self.kind {
            TypeKind::Bool | TypeKind::Octet | TypeKind::Int8 | TypeKind::UInt8 | TypeKind::Char8 => 1,
            TypeKind::Int16 | TypeKind::UInt16 | TypeKind::Char16 => 2,
            TypeKind::Int32 | TypeKind::UInt32 | TypeKind::Float32 => 4,
            TypeKind::Int64 | TypeKind::UInt64 | TypeKind::Float64 => 8,
            TypeKind::Float128 => 16,
            _ => return None,
        })
    }

    /// Bytes of a value, if it travels as one number: a primitive, an enum, a bitmask or a bitset.
    pub(super) const fn number_size(&self) -> Option<usize> {
        match &self.kind {
            TypeKind::Enum(description) => Some(description.size()),
            TypeKind::Bitmask(description) => Some(description.size()),
            TypeKind::Bitset(description) => Some(description.size()),
            _ => self.primitive_size(),
        }
    }
}

impl StructDescription {
    /// A struct with these members, in the order of definition.
    #[must_use]
    pub const fn new(extensibility: Extensibility, members: &'static [MemberDescription]) -> Self {
        let (mut ids_ascend, mut has_key, mut index) = (true, false, 0);
        while index < members.len() {
            ids_ascend &= index == 0 || members[index - 1].id < members[index].id;
            has_key |= members[index].is_key;
            index += 1;
        }
        Self { extensibility, members, ids_ascend, has_key, base: None }
    }

    /// The struct that this one extends: its members come first among all.
    #[must_use]
    pub const fn base(&self) -> Option<&'static TypeDescription> {
        self.base
    }

    /// The members that the base does not have.
    #[must_use]
    pub fn own_members(&self) -> &'static [MemberDescription] {
        self.members.get(self.base.map_or(0, member_count)..).unwrap_or_default()
    }

    /// How the struct may grow.
    #[must_use]
    pub const fn extensibility(&self) -> Extensibility {
        self.extensibility
    }

    /// The members, in the order of definition.
    #[must_use]
    pub const fn members(&self) -> &'static [MemberDescription] {
        self.members
    }

    /// Whether any member is marked as part of the key.
    #[must_use]
    pub const fn has_key(&self) -> bool {
        self.has_key
    }

    /// Whether the ids of the members grow in the order of definition.
    pub(super) const fn ids_ascend(&self) -> bool {
        self.ids_ascend
    }
}

impl MemberDescription {
    /// A member called `name` with the id `id`, of the type that `ty` gives.
    #[must_use]
    pub const fn new(name: &'static str, id: u32, ty: TypeRef) -> Self {
        Self {
            name,
            id,
            is_key: false,
            is_optional: false,
            must_understand: false,
            is_external: false,
            hash_id: None,
            try_construct: TryConstruct::Discard,
            ty,
        }
    }

    /// This member as part of the key.
    #[must_use]
    pub const fn key(self) -> Self {
        Self { is_key: true, ..self }
    }

    /// This member as one that may be absent.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// This member as one that a reader must know, or refuse the sample.
    #[must_use]
    pub const fn must_understand(self) -> Self {
        Self { must_understand: true, ..self }
    }

    /// This member as one whose value lies elsewhere (`@external`). The encoding is the same.
    #[must_use]
    pub const fn external(self) -> Self {
        Self { is_external: true, ..self }
    }

    /// This member as one whose id is made of a name (`@hashid`), its own if this one is empty.
    #[must_use]
    pub const fn hash_id(self, name: &'static str) -> Self {
        Self { hash_id: Some(name), ..self }
    }

    /// This member as one that treats values like this which its type cannot hold.
    #[must_use]
    pub const fn try_construct(self, try_construct: TryConstruct) -> Self {
        Self { try_construct, ..self }
    }

    /// Whether both agree in everything but their types.
    pub(super) const fn agrees_with(&self, other: &Self) -> bool {
        is_same_text(self.name, other.name)
            && self.id == other.id
            && self.is_key == other.is_key
            && self.is_optional == other.is_optional
    }

    /// The name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The id.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// Whether the member is part of the key.
    #[must_use]
    pub const fn is_key(&self) -> bool {
        self.is_key
    }

    /// Whether the member may be absent.
    #[must_use]
    pub const fn is_optional(&self) -> bool {
        self.is_optional
    }

    /// Whether a reader must know the member. Key members always are so.
    #[must_use]
    pub const fn is_must_understand(&self) -> bool {
        self.must_understand || self.is_key
    }

    /// The name that the id is made of, if the member says so (`@hashid`); empty if it is that of the member.
    #[must_use]
    pub const fn hash_id_name(&self) -> Option<&'static str> {
        self.hash_id
    }

    /// Whether the member says so itself, as it is sent with its values then.
    #[cfg(feature = "dynamic")]
    pub(super) const fn says_must_understand(&self) -> bool {
        self.must_understand
    }

    /// Whether the value lies elsewhere, behind a box.
    #[must_use]
    pub const fn is_external(&self) -> bool {
        self.is_external
    }

    /// What becomes of a value that the type cannot hold: what the member says, or else what its type says.
    #[must_use]
    pub fn on_construct_failure(&self) -> TryConstruct {
        match self.try_construct {
            TryConstruct::Discard => self.ty().on_construct_failure(),
            said => said,
        }
    }

    /// The type.
    #[must_use]
    pub fn ty(&self) -> &'static TypeDescription {
        (self.ty)()
    }
}

/// `==`, in constants.
pub(super) const fn is_same_text(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut is_same = one.len() == other.len();
    let mut index = 0;
    while is_same && index < one.len() {
        is_same = one[index] == other[index];
        index += 1;
    }
    is_same
}
