//! Types as constant data.
//!
//! The derive creates descriptions. Code that handles samples without user code reads them: key hashes, filters, type
//! objects and dynamic data. Descriptions refer to nested types by functions ([`TypeRef`]), so a type may contain
//! itself.

use super::{
    BitfieldDescription, BitflagDescription, EnumLiteralDescription, Extensibility, TryConstruct, compare, member_count,
};
use super::{BitmaskDescription, BitsetDescription, EnumDescription, UnionDescription};

/// A function that returns the description of a nested type.
pub type TypeRef = fn() -> &'static TypeDescription;

/// A type: its name and its structure.
#[derive(Debug, Clone, Copy)]
pub struct TypeDescription {
    name: &'static str,
    kind: TypeKind,
    /// For elements of collections, which have no description besides their type.
    try_construct: TryConstruct,
    /// Whether the type cannot be the type of a topic.
    pub(crate) is_nested: bool,
    /// Whether member ids are hashes of names by default.
    pub(crate) has_hash_ids: bool,
}

/// Structure of a type.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum TypeKind {
    /// `boolean`.
    Bool,
    /// `octet`: eight bits without a meaning. Encoded like `uint8`, but a different type for type checks.
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
    /// `wchar`: one UTF-16 unit.
    Char16,
    /// `string`: UTF-8.
    String {
        /// Maximum number of bytes without the NUL.
        bound: Option<u32>,
    },
    /// `wstring`: UTF-16.
    WString {
        /// Maximum number of UTF-16 units.
        bound: Option<u32>,
    },
    /// `wstring` of ROS 2: UTF-16 in the bytes of a `sequence<uint32>`, see [`RosWString`](super::RosWString).
    RosWString {
        /// Maximum number of UTF-16 units.
        bound: Option<u32>,
    },
    /// `sequence`.
    Sequence {
        /// Maximum number of elements.
        bound: Option<u32>,
        /// The type of the elements.
        element: TypeRef,
    },
    /// An array. An array of arrays is one array of several dimensions.
    Array {
        /// The number of elements.
        length: u32,
        /// The type of the elements.
        element: TypeRef,
    },
    /// `map`.
    Map {
        /// Maximum number of entries.
        bound: Option<u32>,
        /// The type of the keys.
        key: TypeRef,
        /// The type of the values.
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
    /// Whether the member ids ascend in the order of definition.
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
    /// The flag of the member itself. Key members always have it.
    pub(crate) must_understand: bool,
    is_external: bool,
    /// `@hashid`: the name that the id is a hash of; empty for the name of the member.
    hash_id: Option<&'static str>,
    try_construct: TryConstruct,
    ty: TypeRef,
}

impl TypeDescription {
    /// Creates a type called `name`.
    #[must_use]
    pub const fn new(name: &'static str, kind: TypeKind) -> Self {
        Self { name, kind, try_construct: TryConstruct::Discard, is_nested: false, has_hash_ids: false }
    }

    /// Creates a struct called `name`.
    #[must_use]
    pub const fn of_struct(
        name: &'static str,
        extensibility: Extensibility,
        members: &'static [MemberDescription],
    ) -> Self {
        Self::new(name, TypeKind::Struct(StructDescription::new(extensibility, members)))
    }

    /// Creates an enum called `name`, with values of `bit_bound` bits.
    ///
    /// # Panics
    /// A value needs more bits, or `bit_bound` is not 1 to 32. In a constant, this is a compile error.
    #[must_use]
    pub const fn of_enum(
        name: &'static str,
        extensibility: Extensibility,
        bit_bound: u8,
        literals: &'static [EnumLiteralDescription],
    ) -> Self {
        Self::new(name, TypeKind::Enum(EnumDescription::new(extensibility, bit_bound, literals)))
    }

    /// Creates a bitmask called `name` of `bit_bound` bits.
    ///
    /// # Panics
    /// A flag exceeds the bits, or two flags share a bit. In a constant, this is a compile error.
    #[must_use]
    pub const fn of_bitmask(
        name: &'static str,
        extensibility: Extensibility,
        bit_bound: u8,
        flags: &'static [BitflagDescription],
    ) -> Self {
        Self::new(name, TypeKind::Bitmask(BitmaskDescription::new(extensibility, bit_bound, flags)))
    }

    /// Creates a bitset called `name` with these fields, starting at the least significant bit.
    ///
    /// # Panics
    /// Fields overlap or exceed 64 bits in total. In a constant, this is a compile error.
    #[must_use]
    pub const fn of_bitset(name: &'static str, fields: &'static [BitfieldDescription]) -> Self {
        Self::new(name, TypeKind::Bitset(BitsetDescription::new(fields)))
    }

    /// Creates a union called `name`.
    #[must_use]
    pub const fn of_union(name: &'static str, description: UnionDescription) -> Self {
        Self::new(name, TypeKind::Union(description))
    }

    /// Returns this string, sequence or map with a bound.
    ///
    /// # Panics
    /// The type has another structure. In a constant, this is a compile error.
    #[must_use]
    pub const fn bounded(&self, bound: u32) -> Self {
        let bound = Some(bound);
        let kind = match self.kind {
            TypeKind::String { .. } => TypeKind::String { bound },
            TypeKind::WString { .. } => TypeKind::WString { bound },
            TypeKind::RosWString { .. } => TypeKind::RosWString { bound },
            TypeKind::Sequence { element, .. } => TypeKind::Sequence { bound, element },
            TypeKind::Map { key, element, .. } => TypeKind::Map { bound, key, element },
            // A constant: the derive evaluates it, and the panic is an error of the compiler.
            _ => panic!("only strings, sequences and maps have a bound"),
        };
        // A bound makes another type, so `try_construct` of the unbounded one does not carry over.
        Self::new(self.name, kind)
    }

    /// Returns this type as an element or member with this action for values that do not fit.
    ///
    /// # Panics
    /// All values fit, or they cannot be trimmed. In a constant, this is a compile error.
    #[must_use]
    pub const fn try_construct(&self, try_construct: TryConstruct) -> Self {
        match (try_construct, &self.kind) {
            (
                TryConstruct::Trim,
                TypeKind::String { bound: Some(_) }
                | TypeKind::WString { bound: Some(_) }
                | TypeKind::RosWString { bound: Some(_) }
                | TypeKind::Sequence { bound: Some(_), .. }
                | TypeKind::Map { bound: Some(_), .. },
            )
            | (TryConstruct::Discard, _) => {}
            (TryConstruct::Trim, _) => panic!("only a type with a bound can be trimmed"),
            (TryConstruct::UseDefault, _) => self.must_be_tried(),
        }
        Self { try_construct, ..*self }
    }

    /// Checks that a received value may not fit this type.
    ///
    /// # Panics
    /// Every value fits. In a constant, this is a compile error.
    #[doc(hidden)]
    pub const fn must_be_tried(&self) {
        assert!(self.can_be_another_value(), "the type holds any received value: it never takes its default");
    }

    /// Returns whether a well-formed value may not fit this type.
    const fn can_be_another_value(&self) -> bool {
        match &self.kind {
            TypeKind::String { bound } | TypeKind::WString { bound } | TypeKind::RosWString { bound } => {
                bound.is_some()
            }
            _ => self.primitive_size().is_none(),
        }
    }

    /// Returns the action for values that do not fit, for an element of a collection.
    ///
    /// The action of a member ([`MemberDescription::on_construct_failure`]) takes precedence.
    #[must_use]
    pub const fn on_construct_failure(&self) -> TryConstruct {
        self.try_construct
    }

    /// Returns this type as one that cannot be the type of a topic.
    #[must_use]
    pub const fn nested(self) -> Self {
        Self { is_nested: true, ..self }
    }

    /// Returns this type with member ids that are hashes of names (`@autoid(HASH)`).
    #[must_use]
    pub const fn hash_ids(self) -> Self {
        Self { has_hash_ids: true, ..self }
    }

    /// Returns this enum with the literal at `index` as its default (`@default_literal`) instead of the first one.
    ///
    /// # Panics
    /// The type is not an enum, or has no such literal. In a constant, this is a compile error.
    #[must_use]
    pub const fn default_literal(self, index: usize) -> Self {
        match self.kind {
            TypeKind::Enum(description) => Self { kind: TypeKind::Enum(description.with_default(index)), ..self },
            _ => panic!("only enums have a default literal"),
        }
    }

    /// Returns this type with another name.
    #[must_use]
    pub const fn with_name(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Returns the name that discovery announces. A type without a name has the name of its structure.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the structure of the type.
    #[must_use]
    pub const fn kind(&self) -> &TypeKind {
        &self.kind
    }

    /// Returns the extensibility. Types without members are final.
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

    /// Returns whether both types are structs, or both unions, with equal members except for their types.
    ///
    /// Constants cannot compare member types. The function compares the extensibility, and the names, ids, labels, key
    /// and optional flags of members.
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
        // Constant functions have no iterators.
        while index < one.members.len() {
            if !one.members[index].agrees_with(&other.members[index]) {
                return false;
            }
            index += 1;
        }
        true
    }

    /// Returns whether both types have the same encoding: equal members with equal types, recursively.
    ///
    /// Names of members matter, names of types do not. [`TypeDescription::has_members_of`] is the part of this check
    /// that constants allow. This function is meant to be called once for a pair of types.
    #[must_use]
    pub fn is_encoded_like(&self, other: &Self) -> bool {
        compare::is_encoded_like(self, other, &mut compare::Seen::default())
    }

    /// Returns this struct as one that extends `base`. It already has the members of the base ([`derived_members`]).
    ///
    /// # Panics
    /// Their extensibilities differ. In a constant, this is a compile error.
    #[doc(hidden)]
    #[must_use]
    pub const fn derived_from(self, base: &'static Self) -> Self {
        // One frame encloses the members of both. `==` is not constant, so numbers are compared.
        let is_alike = self.extensibility() as u8 == base.extensibility() as u8;
        assert!(is_alike, "a struct and its base must have the same extensibility");
        match self.kind {
            TypeKind::Struct(description) => {
                let base = Some(base);
                Self { kind: TypeKind::Struct(StructDescription { base, ..description }), ..self }
            }
            _ => panic!("only structs have a base"),
        }
    }

    /// Returns whether this is a struct with a member of this id.
    #[must_use]
    pub fn has_member(&self, id: u32) -> bool {
        let TypeKind::Struct(description) = &self.kind else { return false };
        description.members.iter().any(|member| member.id == id)
    }

    /// Returns whether values of this type belong to instances.
    #[must_use]
    pub const fn has_key(&self) -> bool {
        match &self.kind {
            TypeKind::Struct(description) => description.has_key,
            TypeKind::Union(description) => description.has_key(),
            _ => false,
        }
    }

    /// Returns the number of elements in all dimensions of an array, and their type. Other types return 1 and
    /// themselves.
    pub(super) fn dimensions(&self) -> (usize, &Self) {
        let (mut count, mut innermost) = (1_usize, self);
        // XTYPES has one array of several dimensions where Rust nests arrays.
        while let TypeKind::Array { length, element } = innermost.kind {
            count = count.saturating_mul(length as usize);
            innermost = element();
        }
        (count, innermost)
    }

    /// Returns the size of a value in bytes, if it is a number, a bool or a char.
    #[must_use]
    pub const fn primitive_size(&self) -> Option<usize> {
        Some(match self.kind {
            // Enums, bitmasks and bitsets are missing: not each of their bit patterns is a value.
            TypeKind::Bool | TypeKind::Octet | TypeKind::Int8 | TypeKind::UInt8 | TypeKind::Char8 => 1,
            TypeKind::Int16 | TypeKind::UInt16 | TypeKind::Char16 => 2,
            TypeKind::Int32 | TypeKind::UInt32 | TypeKind::Float32 => 4,
            TypeKind::Int64 | TypeKind::UInt64 | TypeKind::Float64 => 8,
            TypeKind::Float128 => 16,
            _ => return None,
        })
    }

    /// Returns the size of a value in bytes, if it is one number: a primitive, an enum, a bitmask or a bitset.
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
    /// Creates a struct with these members, in the order of definition.
    #[must_use]
    pub const fn new(extensibility: Extensibility, members: &'static [MemberDescription]) -> Self {
        let (mut ids_ascend, mut has_key, mut index) = (true, false, 0);
        while index < members.len() {
            // Computed once: then keys need no sort at run time.
            ids_ascend &= index == 0 || members[index - 1].id < members[index].id;
            has_key |= members[index].is_key;
            index += 1;
        }
        Self { extensibility, members, ids_ascend, has_key, base: None }
    }

    /// Returns the base that this struct extends. Its members precede the other members.
    #[must_use]
    pub const fn base(&self) -> Option<&'static TypeDescription> {
        self.base
    }

    /// Returns the members without those of the base.
    #[must_use]
    pub fn own_members(&self) -> &'static [MemberDescription] {
        // The members of the base come first.
        // A hand-written struct can have fewer members than its base, so the range is checked.
        self.members.get(self.base.map_or(0, member_count)..).unwrap_or_default()
    }

    /// Returns the extensibility.
    #[must_use]
    pub const fn extensibility(&self) -> Extensibility {
        self.extensibility
    }

    /// Returns the members in the order of definition.
    #[must_use]
    pub const fn members(&self) -> &'static [MemberDescription] {
        self.members
    }

    /// Returns whether any member is marked as part of the key.
    #[must_use]
    pub const fn has_key(&self) -> bool {
        self.has_key
    }

    /// Returns whether the member ids ascend in the order of definition.
    pub(super) const fn ids_ascend(&self) -> bool {
        self.ids_ascend
    }
}

impl MemberDescription {
    /// Creates a member called `name` with this id and type.
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

    /// Returns this member as part of the key.
    #[must_use]
    pub const fn key(self) -> Self {
        Self { is_key: true, ..self }
    }

    /// Returns this member as one that may be absent.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// Returns this member as one that a reader must know; other readers reject the sample.
    #[must_use]
    pub const fn must_understand(self) -> Self {
        Self { must_understand: true, ..self }
    }

    /// Returns this member as one that is stored behind a pointer (`@external`). The encoding is the same.
    #[must_use]
    pub const fn external(self) -> Self {
        Self { is_external: true, ..self }
    }

    /// Returns this member with an id that is a hash of `name` (`@hashid`). An empty `name` stands for its own name.
    #[must_use]
    pub const fn hash_id(self, name: &'static str) -> Self {
        Self { hash_id: Some(name), ..self }
    }

    /// Returns this member with this action for values that do not fit.
    #[must_use]
    pub const fn try_construct(self, try_construct: TryConstruct) -> Self {
        Self { try_construct, ..self }
    }

    /// Returns whether both members are equal except for their types.
    pub(super) const fn agrees_with(&self, other: &Self) -> bool {
        is_same_text(self.name, other.name)
            && self.id == other.id
            && self.is_key == other.is_key
            && self.is_optional == other.is_optional
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the id.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// Returns whether the member is part of the key.
    #[must_use]
    pub const fn is_key(&self) -> bool {
        self.is_key
    }

    /// Returns whether the member may be absent.
    #[must_use]
    pub const fn is_optional(&self) -> bool {
        self.is_optional
    }

    /// Returns whether a reader must know the member. This holds for all key members.
    #[must_use]
    pub const fn is_must_understand(&self) -> bool {
        // A reader that skips a key member would merge instances, so the flag is implied.
        self.must_understand || self.is_key
    }

    /// Returns the name that the id is a hash of (`@hashid`), if any; empty for the name of the member.
    #[must_use]
    pub const fn hash_id_name(&self) -> Option<&'static str> {
        self.hash_id
    }

    /// Returns whether the member itself is marked must-understand. Its values are then sent with the flag.
    #[cfg(feature = "dynamic")]
    pub(super) const fn says_must_understand(&self) -> bool {
        self.must_understand
    }

    /// Returns whether the value is stored behind a box.
    #[must_use]
    pub const fn is_external(&self) -> bool {
        self.is_external
    }

    /// Returns the action for values that do not fit: that of the member, or that of its type.
    #[must_use]
    pub fn on_construct_failure(&self) -> TryConstruct {
        match self.try_construct {
            // A newtype may carry the annotation of its member, for example `Trimmed`.
            TryConstruct::Discard => self.ty().on_construct_failure(),
            said => said,
        }
    }

    /// Returns the type.
    #[must_use]
    pub fn ty(&self) -> &'static TypeDescription {
        (self.ty)()
    }
}

/// `==` for constants.
pub(super) const fn is_same_text(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut is_same = one.len() == other.len();
    let mut index = 0;
    // `==` of `str` is not constant.
    while is_same && index < one.len() {
        is_same = one[index] == other[index];
        index += 1;
    }
    is_same
}
