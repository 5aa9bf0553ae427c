//! A type that is made at run time, as applications see it.

use super::builder::{
    BitmaskBuilder, BitsetBuilder, CollectionBuilder, EnumBuilder, StructBuilder, TypeDraft, UnionBuilder,
};
use super::graph::{Case, Element, Field, Flag, Graph, Index, Kind, Literal, Member, PrimitiveKind, TypeView};
use super::{TypeError, alike, describe};
use crate::cdr::{Extensibility, TryConstruct, TypeDescription, TypeInfo};
use std::sync::Arc;

/// A type of samples that is made, or found out, while the program runs (XTYPES 1.3, 7.5).
///
/// It is immutable and shared: a clone is a counted reference. It comes from one of these:
/// - a builder: [`DynamicType::structure`] and the functions beside it;
/// - a type of the program: [`DynamicType::of`];
/// - a peer, that announces what its topic is made of: `discover_type` of a participant.
///
/// `Display` writes it as IDL. Two are equal if they have the same names and the same structure all the way down.
///
/// ```
/// use dds_cdr::cdr::dynamic::{DynamicData, DynamicType};
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

/// What a [`DynamicType`] is.
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
    /// An array. One of several dimensions is an array of arrays.
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

/// Types to begin with. What is not finished is a [`TypeDraft`], or becomes one by itself where it is part of another type.
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
        Self::lone(kind.name(), Kind::Primitive(kind))
    }

    /// `string`: UTF-8 without a bound.
    #[must_use]
    pub fn string() -> Self {
        Self::lone("string", Kind::String { bound: None })
    }

    /// `wstring`: UTF-16 without a bound.
    #[must_use]
    pub fn wstring() -> Self {
        Self::lone("wstring", Kind::WString { bound: None })
    }

    /// `string<bound>`, of at most so many bytes.
    #[must_use]
    pub fn bounded_string(bound: u32) -> CollectionBuilder {
        CollectionBuilder::string(bound)
    }

    /// `wstring<bound>`, of at most so many units of UTF-16.
    #[must_use]
    pub fn bounded_wstring(bound: u32) -> CollectionBuilder {
        CollectionBuilder::wstring(bound)
    }

    /// `sequence<element>`.
    #[must_use]
    pub fn sequence(element: impl Into<TypeDraft>) -> CollectionBuilder {
        CollectionBuilder::sequence(element.into())
    }

    /// An array of so many elements. An array of arrays has several dimensions; its outermost comes first in IDL.
    #[must_use]
    pub fn array(element: impl Into<TypeDraft>, length: u32) -> CollectionBuilder {
        CollectionBuilder::array(element.into(), length)
    }

    /// `map<key, value>`. Keys are integers, bools, chars, strings and enums.
    #[must_use]
    pub fn map(key: impl Into<TypeDraft>, value: impl Into<TypeDraft>) -> CollectionBuilder {
        CollectionBuilder::map(key.into(), value.into())
    }

    /// `typedef ty name`.
    #[must_use]
    pub fn alias(name: &str, ty: impl Into<TypeDraft>) -> TypeDraft {
        TypeDraft::alias(name, ty.into())
    }

    /// The type of this name that the type it is used in is, or is part of: so a type contains itself.
    ///
    /// ```
    /// use dds_cdr::cdr::dynamic::DynamicType;
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

    /// A struct, to which members are added.
    #[must_use]
    pub fn structure(name: &str) -> StructBuilder {
        StructBuilder::new(name)
    }

    /// A union that this discriminator selects a member of: an integer, a bool, a char or an enum.
    #[must_use]
    pub fn union(name: &str, discriminator: impl Into<TypeDraft>) -> UnionBuilder {
        UnionBuilder::new(name, discriminator.into())
    }

    /// An enum, to which literals are added.
    #[must_use]
    pub fn enumeration(name: &str) -> EnumBuilder {
        EnumBuilder::new(name)
    }

    /// A set of named bits.
    #[must_use]
    pub fn bitmask(name: &str) -> BitmaskBuilder {
        BitmaskBuilder::new(name)
    }

    /// Numbers of few bits, side by side.
    #[must_use]
    pub fn bitset(name: &str) -> BitsetBuilder {
        BitsetBuilder::new(name)
    }

    /// The type of a program's own type.
    ///
    /// What the program says of defaults (`#[dds(default)]`) is not part of a type and not here either.
    ///
    /// # Errors
    /// [`TypeError::TooLarge`], and [`TypeError::ContainsItself`] of a type whose values have no end without its boxes.
    pub fn of<T: TypeInfo + ?Sized>() -> Result<Self, TypeError> {
        Self::from_description(T::DESCRIPTION)
    }

    /// The type that is described so.
    ///
    /// # Errors
    /// As [`DynamicType::of`].
    pub fn from_description(description: &'static TypeDescription) -> Result<Self, TypeError> {
        describe::type_of(description)
    }

    /// A type that is made of nothing else.
    fn lone(name: &str, kind: Kind) -> Self {
        let node = super::graph::Node { name: name.into(), kind };
        Self { graph: Arc::new(Graph { nodes: [node].into() }), index: 0 }
    }
}

/// What a type is made of.
impl DynamicType {
    /// How much there is of it in memory, with all that it is made of: types, members, literals, labels.
    pub(crate) fn parts(&self) -> usize {
        self.graph.nodes.iter().map(|node| node.kind.parts()).sum()
    }

    pub(in crate::cdr) fn view(&self) -> TypeView<'_> {
        TypeView { graph: &self.graph, index: self.index }
    }

    pub(super) fn at(&self, index: Index) -> Self {
        Self { graph: Arc::clone(&self.graph), index }
    }

    /// The name; of types without one, what they are.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.view().node().name
    }

    /// What it is, be it an alias.
    #[must_use]
    pub fn kind(&self) -> DynamicKind {
        match &self.view().node().kind {
            Kind::Primitive(kind) => DynamicKind::Primitive(*kind),
            Kind::String { .. } => DynamicKind::String,
            Kind::WString { .. } => DynamicKind::WString,
            Kind::Sequence { .. } => DynamicKind::Sequence,
            Kind::Array { .. } => DynamicKind::Array,
            Kind::Map { .. } => DynamicKind::Map,
            Kind::Alias { .. } => DynamicKind::Alias,
            Kind::Enum(_) => DynamicKind::Enum,
            Kind::Bitmask(_) => DynamicKind::Bitmask,
            Kind::Bitset(_) => DynamicKind::Bitset,
            Kind::Struct(_) => DynamicKind::Struct,
            Kind::Union(_) => DynamicKind::Union,
        }
    }

    /// What it is an alias of, in the end; itself, if it is none. All that follows asks that.
    #[must_use]
    pub fn resolved(&self) -> Self {
        self.at(self.view().resolved().index)
    }

    /// What an alias stands for, one step of the way.
    #[must_use]
    pub fn aliased(&self) -> Option<Self> {
        match &self.view().node().kind {
            Kind::Alias { of } => Some(self.at(*of)),
            _ => None,
        }
    }

    /// How it may grow. Types without members cannot.
    #[must_use]
    pub fn extensibility(&self) -> Extensibility {
        self.view().extensibility()
    }

    /// Whether its samples belong to instances: whether a member of the struct, or the discriminator of the union, is a key.
    #[must_use]
    pub fn has_key(&self) -> bool {
        self.view().has_key()
    }

    /// The bound of a string, sequence or map, in bytes, units of UTF-16 or elements; the length of an array; the bits of an
    /// enum, bitmask or bitset.
    #[must_use]
    pub fn bound(&self) -> Option<u32> {
        match self.view().kind() {
            Kind::String { bound }
            | Kind::WString { bound }
            | Kind::Sequence { bound, .. }
            | Kind::Map { bound, .. } => *bound,
            Kind::Array { length, .. } => Some(*length),
            Kind::Enum(node) => Some(node.bit_bound.into()),
            Kind::Bitmask(node) => Some(node.bit_bound.into()),
            Kind::Bitset(node) => Some(node.bit_bound().into()),
            _ => None,
        }
    }

    fn elements(&self) -> Option<Element> {
        match self.view().kind() {
            Kind::Sequence { element, .. } | Kind::Array { element, .. } | Kind::Map { element, .. } => Some(*element),
            _ => None,
        }
    }

    /// The type of the elements of a sequence or array, or of the values of a map.
    #[must_use]
    pub fn element(&self) -> Option<Self> {
        self.elements().map(|element| self.at(element.ty))
    }

    /// What becomes of elements, or values of a map, that their type cannot hold.
    #[must_use]
    pub fn element_try_construct(&self) -> TryConstruct {
        self.elements().map_or(TryConstruct::Discard, |element| element.try_construct)
    }

    /// The type of the keys of a map.
    #[must_use]
    pub fn key_element(&self) -> Option<Self> {
        match self.view().kind() {
            Kind::Map { key, .. } => Some(self.at(key.ty)),
            _ => None,
        }
    }

    /// The struct that this one extends.
    #[must_use]
    pub fn base(&self) -> Option<Self> {
        match self.view().kind() {
            Kind::Struct(node) => node.base.map(|index| self.at(index)),
            _ => None,
        }
    }

    /// The members of a struct, in the order of definition, those of its base first; none of others.
    pub fn members(&self) -> impl ExactSizeIterator<Item = DynamicMember<'_>> + Clone {
        let members: &[Member] = match self.view().kind() {
            Kind::Struct(node) => &node.members,
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
            Kind::Union(node) => Some(self.at(node.discriminator)),
            _ => None,
        }
    }

    /// The cases of a union, in the order of definition; none of others.
    pub fn cases(&self) -> impl ExactSizeIterator<Item = DynamicCase<'_>> + Clone {
        let cases: &[Case] = match self.view().kind() {
            Kind::Union(node) => &node.cases,
            _ => &[],
        };
        cases.iter().map(move |case| DynamicCase { ty: self, case })
    }

    /// The literals of an enum with their numbers, in the order of definition; none of others.
    pub fn literals(&self) -> impl ExactSizeIterator<Item = (&str, i32)> + Clone {
        let literals: &[Literal] = match self.view().kind() {
            Kind::Enum(node) => &node.literals,
            _ => &[],
        };
        literals.iter().map(|literal| (&*literal.name, literal.value))
    }

    /// The flags of a bitmask with their positions, in the order of definition; none of others.
    pub fn flags(&self) -> impl ExactSizeIterator<Item = (&str, u8)> + Clone {
        let flags: &[Flag] = match self.view().kind() {
            Kind::Bitmask(node) => &node.flags,
            _ => &[],
        };
        flags.iter().map(|flag| (&*flag.name, flag.position))
    }

    /// The fields of a bitset with the position of their lowest bit and how many they have; none of others.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, u8, u8)> + Clone {
        let fields: &[Field] = match self.view().kind() {
            Kind::Bitset(node) => &node.fields,
            _ => &[],
        };
        fields.iter().map(|field| (&*field.name, field.position, field.bit_count))
    }

    /// Whether a value of one is a value of the other.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let is_shared = Arc::ptr_eq(&self.graph, &other.graph) && self.index == other.index;
        is_shared || self.is_encoded_like(other)
    }

    /// Whether values of both have the same encoding and are reached by the same names: whatever the types are called.
    #[must_use]
    pub fn is_encoded_like(&self, other: &Self) -> bool {
        alike::are_alike(self.view(), other.view(), false)
    }
}

impl PartialEq for DynamicType {
    fn eq(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.graph, &other.graph) && self.index == other.index)
            || alike::are_alike(self.view(), other.view(), true)
    }
}

impl Eq for DynamicType {}

/// A member of a struct.
#[derive(Clone, Copy)]
pub struct DynamicMember<'a> {
    ty: &'a DynamicType,
    member: &'a Member,
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

    /// Whether it is marked as part of the key.
    #[must_use]
    pub fn is_key(&self) -> bool {
        self.member.is_key
    }

    /// Whether it may be absent.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        self.member.is_optional
    }

    /// Whether a reader must know it. Key members always are so.
    #[must_use]
    pub fn is_must_understand(&self) -> bool {
        self.member.must_understand || self.member.is_key
    }

    /// Whether its value lies elsewhere (`@external`). The encoding is the same.
    #[must_use]
    pub fn is_external(&self) -> bool {
        self.member.is_external
    }

    /// What becomes of a value that the type cannot hold.
    #[must_use]
    pub fn on_construct_failure(&self) -> TryConstruct {
        self.member.try_construct
    }
}

/// A case of a union.
#[derive(Clone, Copy)]
pub struct DynamicCase<'a> {
    ty: &'a DynamicType,
    case: &'a Case,
}

impl<'a> DynamicCase<'a> {
    /// The name of its member.
    #[must_use]
    pub fn name(&self) -> &'a str {
        &self.case.name
    }

    /// The id of its member.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.case.id
    }

    /// The discriminators that select it.
    #[must_use]
    pub fn labels(&self) -> &'a [i64] {
        &self.case.labels
    }

    /// Whether the discriminators that no case has select it.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.case.is_default
    }

    /// The type of its member; `None` if it has no member.
    #[must_use]
    pub fn ty(&self) -> Option<DynamicType> {
        self.case.ty.map(|index| self.ty.at(index))
    }

    /// What becomes of a value that the type cannot hold.
    #[must_use]
    pub fn on_construct_failure(&self) -> TryConstruct {
        self.case.try_construct
    }
}
