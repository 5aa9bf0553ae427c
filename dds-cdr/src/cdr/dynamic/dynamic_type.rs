//! The public API of dynamic types.

use super::builder::{
    BitmaskBuilder, BitsetBuilder, CollectionBuilder, EnumBuilder, StructBuilder, TypeDraft, UnionBuilder,
};
use super::graph::{
    BitfieldNode, CaseNode, Element, FlagNode, Graph, Index, LiteralNode, MemberNode, NodeKind, PrimitiveKind,
    TypeMarks, TypeOrigin, TypeView,
};
use super::{TypeError, describe, type_equality};
use crate::cdr::{Extensibility, TryConstruct, TypeDescription, TypeInfo};
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// A type that is created or discovered at run time (XTYPES 1.3, 7.5).
///
/// It is immutable and shared: a clone is a counted reference. It has one of these sources:
/// - a builder: [`DynamicType::structure`] and similar functions;
/// - a type of your program: [`DynamicType::of`];
/// - a peer that announces its type: `discover_type` of a participant.
///
/// `Display` prints IDL. Two types are equal if all their names and their structure are equal.
///
/// ```
/// # mod dds_core { pub use dds_cdr::cdr::{self, dynamic}; }
/// use dds_core::dynamic::{DynamicData, DynamicType};
///
/// let point = DynamicType::structure("Point").member("x", DynamicType::float64()).member("y", DynamicType::float64());
/// let pose = DynamicType::structure("Pose")
///     .member("robot", DynamicType::uint32())
///     .key()
///     .member("position", point)
///     .member("names", DynamicType::sequence(DynamicType::string()))
///     .build()?;
/// let mut data = DynamicData::new(&pose);
/// data.set("robot", 7)?;
/// data.set("position.x", 1.5)?;
/// data.push("names", "seven")?;
/// assert_eq!(data.to_string(), r#"{robot: 7, position: {x: 1.5, y: 0.0}, names: ["seven"]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DynamicType {
    pub(super) graph: Arc<Graph>,
    pub(super) index: Index,
}

/// The kind of a [`DynamicType`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DynamicKind {
    /// A number, bool or char.
    Primitive(PrimitiveKind),
    /// `string`.
    String,
    /// `wstring`.
    WString,
    /// `sequence`.
    Sequence,
    /// An array. Several dimensions are arrays of arrays.
    Array,
    /// `map`.
    Map,
    /// Another name for a type.
    Alias,
    /// `enum`.
    Enum,
    /// `bitmask`.
    Bitmask,
    /// `bitset`.
    Bitset,
    /// `struct`.
    Struct,
    /// `union`.
    Union,
}

macro_rules! primitives {
    ($($name:ident $kind:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`; see [`PrimitiveKind::", stringify!($kind), "`].")]
        #[must_use]
        pub fn $name() -> Self {
            Self::primitive(PrimitiveKind::$kind)
        }
    )*};
}

/// Constructors. Functions for parts accept finished types, builders and [`TypeDraft`]s.
impl DynamicType {
    primitives! {
        boolean Bool;
        octet Octet;
        int8 Int8;
        uint8 UInt8;
        int16 Int16;
        uint16 UInt16;
        int32 Int32;
        uint32 UInt32;
        int64 Int64;
        uint64 UInt64;
        float32 Float32;
        float64 Float64;
        float128 Float128;
        char8 Char8;
        char16 Char16;
    }

    /// A number, bool or char.
    #[must_use]
    pub fn primitive(kind: PrimitiveKind) -> Self {
        Self::lone(kind.name(), NodeKind::Primitive(kind))
    }

    /// `string`: UTF-8 without a bound.
    #[must_use]
    pub fn string() -> Self {
        Self::lone("string", NodeKind::String { bound: None })
    }

    /// `wstring`: UTF-16 without a bound.
    #[must_use]
    pub fn wstring() -> Self {
        Self::lone("wstring", NodeKind::WString { bound: None })
    }

    /// `string<bound>`, with at most `bound` bytes.
    #[must_use]
    pub fn bounded_string(bound: u32) -> CollectionBuilder {
        CollectionBuilder::string(bound)
    }

    /// `wstring<bound>`, with at most `bound` UTF-16 code units.
    #[must_use]
    pub fn bounded_wstring(bound: u32) -> CollectionBuilder {
        CollectionBuilder::wstring(bound)
    }

    /// `sequence<element>`.
    #[must_use]
    pub fn sequence(element: impl Into<TypeDraft>) -> CollectionBuilder {
        CollectionBuilder::sequence(element.into())
    }

    /// An array of `length` elements. Arrays of arrays have several dimensions; IDL lists the outermost first.
    #[must_use]
    pub fn array(element: impl Into<TypeDraft>, length: u32) -> CollectionBuilder {
        CollectionBuilder::array(element.into(), length)
    }

    /// `map<key, value>`. Keys are integers, bools, chars, strings or enums.
    #[must_use]
    pub fn map(key: impl Into<TypeDraft>, value: impl Into<TypeDraft>) -> CollectionBuilder {
        CollectionBuilder::map(key.into(), value.into())
    }

    /// `typedef ty name`.
    #[must_use]
    pub fn alias(name: &str, ty: impl Into<TypeDraft>) -> TypeDraft {
        TypeDraft::alias(name, ty.into())
    }

    /// Refers to an enclosing type by its name, so that a type can contain itself.
    ///
    /// ```
    /// # mod dds_core { pub use dds_cdr::cdr::{self, dynamic}; }
    /// use dds_core::dynamic::DynamicType;
    ///
    /// let tree = DynamicType::structure("Tree")
    ///     .member("value", DynamicType::int32())
    ///     .member("children", DynamicType::sequence(DynamicType::named("Tree")))
    ///     .build()?;
    /// assert_eq!(tree.member("children").and_then(|member| member.ty().element()), Some(tree));
    /// # Ok::<(), dds_cdr::cdr::dynamic::TypeError>(())
    /// ```
    #[must_use]
    pub fn named(name: &str) -> TypeDraft {
        TypeDraft::named(name)
    }

    /// A struct without members yet.
    #[must_use]
    pub fn structure(name: &str) -> StructBuilder {
        StructBuilder::new(name)
    }

    /// A union with this discriminator: an integer, a bool, a char or an enum.
    #[must_use]
    pub fn union(name: &str, discriminator: impl Into<TypeDraft>) -> UnionBuilder {
        UnionBuilder::new(name, discriminator.into())
    }

    /// An enum without literals yet.
    #[must_use]
    pub fn enumeration(name: &str) -> EnumBuilder {
        EnumBuilder::new(name)
    }

    /// A set of named bits.
    #[must_use]
    pub fn bitmask(name: &str) -> BitmaskBuilder {
        BitmaskBuilder::new(name)
    }

    /// A sequence of integers with a few bits each.
    #[must_use]
    pub fn bitset(name: &str) -> BitsetBuilder {
        BitsetBuilder::new(name)
    }

    /// The dynamic type of a Rust type.
    ///
    /// Defaults of the derive (`#[dds(default)]`) are not part of the type.
    ///
    /// # Errors
    /// [`TypeError::TooLarge`], or [`TypeError::ContainsItself`] for a type that is finite only because of its boxes.
    pub fn of<T: TypeInfo + ?Sized>() -> Result<Self, TypeError> {
        Self::from_description(T::DESCRIPTION)
    }

    /// The dynamic type of a description.
    ///
    /// # Errors
    /// Same as [`DynamicType::of`].
    pub fn from_description(description: &'static TypeDescription) -> Result<Self, TypeError> {
        describe::type_of(description)
    }

    /// A type that contains no other types.
    fn lone(name: &str, kind: NodeKind) -> Self {
        // One node without references is valid by construction, so it needs no checks.
        let node = super::graph::Node { name: name.into(), kind };
        Self { graph: Arc::new(Graph { nodes: [node].into(), origin: OnceLock::new() }), index: 0 }
    }
}

/// Properties and parts of a type.
impl DynamicType {
    /// The number of parts in memory, of this type and all types in its graph: types, members, literals, labels.
    pub(crate) fn parts(&self) -> usize {
        // A part counts the whole graph, because it keeps all nodes alive.
        self.graph.nodes.iter().map(|node| node.kind.parts()).sum()
    }

    pub(in crate::cdr) fn view(&self) -> TypeView<'_> {
        TypeView { graph: &self.graph, index: self.index }
    }

    pub(super) fn at(&self, index: Index) -> Self {
        // A part shares the graph, so inspection of a type copies no nodes.
        Self { graph: Arc::clone(&self.graph), index }
    }

    /// The name, or the IDL keyword of an anonymous type.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.view().node().name
    }

    /// The kind. Aliases are not resolved.
    #[must_use]
    pub fn kind(&self) -> DynamicKind {
        match &self.view().node().kind {
            NodeKind::Primitive(kind) => DynamicKind::Primitive(*kind),
            NodeKind::String { .. } => DynamicKind::String,
            NodeKind::WString { .. } => DynamicKind::WString,
            NodeKind::Sequence { .. } => DynamicKind::Sequence,
            NodeKind::Array { .. } => DynamicKind::Array,
            NodeKind::Map { .. } => DynamicKind::Map,
            NodeKind::Alias { .. } => DynamicKind::Alias,
            NodeKind::Enum(_) => DynamicKind::Enum,
            NodeKind::Bitmask(_) => DynamicKind::Bitmask,
            NodeKind::Bitset(_) => DynamicKind::Bitset,
            NodeKind::Struct(_) => DynamicKind::Struct,
            NodeKind::Union(_) => DynamicKind::Union,
        }
    }

    /// The type after all aliases are resolved. The following functions resolve aliases first.
    #[must_use]
    pub fn resolved(&self) -> Self {
        self.at(self.view().resolved().index)
    }

    /// The direct target of an alias.
    #[must_use]
    pub fn aliased(&self) -> Option<Self> {
        match &self.view().node().kind {
            NodeKind::Alias { of } => Some(self.at(*of)),
            _ => None,
        }
    }

    /// The extensibility kind. Types without members are final.
    #[must_use]
    pub fn extensibility(&self) -> Extensibility {
        self.view().extensibility()
    }

    /// Whether the struct or union is marked as nested: not the type of a topic.
    #[must_use]
    pub fn is_nested(&self) -> bool {
        self.marks().is_nested
    }

    /// Whether the member ids of the struct or union are hashes of names by default (`@autoid(HASH)`).
    #[must_use]
    pub fn has_hash_ids(&self) -> bool {
        self.marks().has_hash_ids
    }

    fn marks(&self) -> TypeMarks {
        match self.view().kind() {
            NodeKind::Struct(node) => node.marks,
            NodeKind::Union(node) => node.marks,
            _ => TypeMarks::default(),
        }
    }

    /// Keeps the description that the type was created from. The first one stays.
    pub(crate) fn set_origin(&self, origin: TypeOrigin) {
        // A type that already has an origin was created from an equal description.
        let _ = self.graph.origin.set((self.index, origin));
    }

    /// The description that the type was created from.
    pub(crate) fn origin<T: Any>(&self) -> Option<&T> {
        let (index, origin) = self.graph.origin.get()?;
        // A part of a type shares its graph, but has another origin.
        if *index == self.index { origin.downcast_ref() } else { None }
    }

    /// The place of the type in its graph. Parts of one type have one graph.
    pub(crate) fn place(&self) -> u32 {
        self.index
    }

    /// The number of members of a struct that are inherited.
    pub(crate) fn inherited(&self) -> usize {
        match self.view().kind() {
            NodeKind::Struct(node) => node.inherited,
            _ => 0,
        }
    }

    /// The initial literal of an enum.
    #[must_use]
    pub fn default_literal(&self) -> Option<&str> {
        match self.view().kind() {
            NodeKind::Enum(node) => Some(&node.literals.get(node.default)?.name),
            _ => None,
        }
    }

    /// Whether a field of a bitset is signed.
    #[must_use]
    pub fn is_signed_field(&self, name: &str) -> bool {
        match self.view().kind() {
            NodeKind::Bitset(node) => {
                for field in &node.fields {
                    if &*field.name == name {
                        return field.is_signed;
                    }
                }
                false
            }
            _ => false,
        }
    }

    /// How the union handles a discriminator that selects no case.
    #[must_use]
    pub fn discriminator_try_construct(&self) -> TryConstruct {
        match self.view().kind() {
            NodeKind::Union(node) => node.try_construct,
            _ => TryConstruct::Discard,
        }
    }

    /// The handling of map keys that their type cannot hold.
    #[must_use]
    pub fn key_try_construct(&self) -> TryConstruct {
        match self.view().kind() {
            NodeKind::Map { key, .. } => key.try_construct,
            _ => TryConstruct::Discard,
        }
    }

    /// Whether a member of the struct, or the discriminator of the union, is a key.
    #[must_use]
    pub fn has_key(&self) -> bool {
        self.view().has_key()
    }

    /// The bound of a string or collection, the length of an array, or a number of bits.
    ///
    /// Units: bytes of a string, UTF-16 code units of a wide string, elements of a sequence or map, bits of an enum,
    /// bitmask or bitset.
    #[must_use]
    pub fn bound(&self) -> Option<u32> {
        match self.view().kind() {
            NodeKind::String { bound }
            | NodeKind::WString { bound }
            | NodeKind::Sequence { bound, .. }
            | NodeKind::Map { bound, .. } => *bound,
            NodeKind::Array { length, .. } => Some(*length),
            NodeKind::Enum(node) => Some(node.bit_bound.into()),
            NodeKind::Bitmask(node) => Some(node.bit_bound.into()),
            NodeKind::Bitset(node) => Some(node.bit_bound().into()),
            _ => None,
        }
    }

    fn elements(&self) -> Option<Element> {
        match self.view().kind() {
            NodeKind::Sequence { element, .. } | NodeKind::Array { element, .. } | NodeKind::Map { element, .. } => {
                Some(*element)
            }
            _ => None,
        }
    }

    /// The type of the elements of a sequence or array, or of the values of a map.
    #[must_use]
    pub fn element(&self) -> Option<Self> {
        Some(self.at(self.elements()?.ty))
    }

    /// The handling of elements, or map values, that their type cannot hold.
    #[must_use]
    pub fn element_try_construct(&self) -> TryConstruct {
        match self.elements() {
            Some(element) => element.try_construct,
            None => TryConstruct::Discard,
        }
    }

    /// Whether elements, or map values, are `@external`. This does not change the encoding.
    #[must_use]
    pub fn has_external_elements(&self) -> bool {
        matches!(self.elements(), Some(element) if element.is_external)
    }

    /// Whether map keys are `@external`.
    #[must_use]
    pub fn has_external_keys(&self) -> bool {
        matches!(self.view().kind(), NodeKind::Map { key, .. } if key.is_external)
    }

    /// The type of the keys of a map.
    #[must_use]
    pub fn key_element(&self) -> Option<Self> {
        match self.view().kind() {
            NodeKind::Map { key, .. } => Some(self.at(key.ty)),
            _ => None,
        }
    }

    /// The base struct.
    #[must_use]
    pub fn base(&self) -> Option<Self> {
        match self.view().kind() {
            NodeKind::Struct(node) => Some(self.at(node.base?)),
            _ => None,
        }
    }

    /// The members of a struct in the order of definition, inherited members first. Empty for other types.
    pub fn members(&self) -> impl ExactSizeIterator<Item = DynamicMember<'_>> + Clone {
        let members: &[MemberNode] = match self.view().kind() {
            NodeKind::Struct(node) => &node.members,
            _ => &[],
        };
        members.iter().map(move |member| DynamicMember { ty: self, member })
    }

    /// The member of a struct with this name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<DynamicMember<'_>> {
        self.members().find(|member| member.name() == name)
    }

    /// The type of the discriminator of a union.
    #[must_use]
    pub fn discriminator(&self) -> Option<Self> {
        match self.view().kind() {
            NodeKind::Union(node) => Some(self.at(node.discriminator)),
            _ => None,
        }
    }

    /// The cases of a union in the order of definition. Empty for other types.
    pub fn cases(&self) -> impl ExactSizeIterator<Item = DynamicCase<'_>> + Clone {
        let cases: &[CaseNode] = match self.view().kind() {
            NodeKind::Union(node) => &node.cases,
            _ => &[],
        };
        cases.iter().map(move |case| DynamicCase { ty: self, case })
    }

    /// The literals of an enum with their values, in the order of definition. Empty for other types.
    pub fn literals(&self) -> impl ExactSizeIterator<Item = (&str, i32)> + Clone {
        let literals: &[LiteralNode] = match self.view().kind() {
            NodeKind::Enum(node) => &node.literals,
            _ => &[],
        };
        literals.iter().map(|literal| (&*literal.name, literal.value))
    }

    /// The flags of a bitmask with their positions, in the order of definition. Empty for other types.
    pub fn flags(&self) -> impl ExactSizeIterator<Item = (&str, u8)> + Clone {
        let flags: &[FlagNode] = match self.view().kind() {
            NodeKind::Bitmask(node) => &node.flags,
            _ => &[],
        };
        flags.iter().map(|flag| (&*flag.name, flag.position))
    }

    /// The fields of a bitset with the position of the lowest bit and the number of bits. Empty for other types.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, u8, u8)> + Clone {
        let fields: &[BitfieldNode] = match self.view().kind() {
            NodeKind::Bitset(node) => &node.fields,
            _ => &[],
        };
        fields.iter().map(|field| (&*field.name, field.position, field.bit_count))
    }

    /// Whether values of one type are values of the other.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        // Samples of a topic usually share its graph, and are compared with it at each write.
        let is_shared = Arc::ptr_eq(&self.graph, &other.graph) && self.index == other.index;
        is_shared || self.is_encoded_like(other)
    }

    /// Whether both types have the same encoding and the same names of parts. Names of types may differ.
    #[must_use]
    pub fn is_encoded_like(&self, other: &Self) -> bool {
        type_equality::are_equal(self.view(), other.view(), false)
    }
}

impl PartialEq for DynamicType {
    fn eq(&self, other: &Self) -> bool {
        // One place in one graph is equal to itself. The walk compares all other pairs.
        (Arc::ptr_eq(&self.graph, &other.graph) && self.index == other.index)
            || type_equality::are_equal(self.view(), other.view(), true)
    }
}

impl Eq for DynamicType {}

/// A member of a struct.
#[derive(Clone, Copy)]
pub struct DynamicMember<'a> {
    ty: &'a DynamicType,
    member: &'a MemberNode,
}

impl<'a> DynamicMember<'a> {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        &self.member.name
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.member.id
    }

    /// The type.
    #[must_use]
    pub fn ty(&self) -> DynamicType {
        self.ty.at(self.member.ty)
    }

    /// Whether the member is marked as part of the key.
    #[must_use]
    pub fn is_key(&self) -> bool {
        self.member.is_key
    }

    /// Whether the member may be absent.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        self.member.is_optional
    }

    /// Whether a reader must know the member. True for all key members.
    #[must_use]
    pub fn is_must_understand(&self) -> bool {
        // A reader that skips a key member would merge instances, so the flag is implied.
        self.member.must_understand || self.member.is_key
    }

    /// Whether the member is `@external`. This does not change the encoding.
    #[must_use]
    pub fn is_external(&self) -> bool {
        self.member.is_external
    }

    /// The name that the id is a hash of (`@hashid`), if any; empty for the name of the member.
    #[must_use]
    pub fn hash_id_name(&self) -> Option<&'a str> {
        self.member.hash_id.as_deref()
    }

    /// Whether the member itself is marked must-understand.
    pub(crate) fn says_must_understand(&self) -> bool {
        self.member.must_understand
    }

    /// The handling of values that the type cannot hold.
    #[must_use]
    pub fn on_construct_failure(&self) -> TryConstruct {
        self.member.try_construct
    }
}

/// A case of a union.
#[derive(Clone, Copy)]
pub struct DynamicCase<'a> {
    ty: &'a DynamicType,
    case: &'a CaseNode,
}

impl<'a> DynamicCase<'a> {
    /// The name of the member.
    #[must_use]
    pub fn name(&self) -> &'a str {
        &self.case.name
    }

    /// The id of the member.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.case.id
    }

    /// The discriminators that select the case.
    #[must_use]
    pub fn labels(&self) -> &'a [i64] {
        &self.case.labels
    }

    /// Whether discriminators without a label select the case.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.case.is_default
    }

    /// The type of the member; `None` if the case has no member.
    #[must_use]
    pub fn ty(&self) -> Option<DynamicType> {
        Some(self.ty.at(self.case.ty?))
    }

    /// The name that the id is a hash of (`@hashid`), if any; empty for the name of the member.
    #[must_use]
    pub fn hash_id_name(&self) -> Option<&'a str> {
        self.case.hash_id.as_deref()
    }

    /// Whether the member is `@external`. This does not change the encoding.
    #[must_use]
    pub fn is_external(&self) -> bool {
        self.case.is_external
    }

    /// The handling of values that the type cannot hold.
    #[must_use]
    pub fn on_construct_failure(&self) -> TryConstruct {
        self.case.try_construct
    }
}
