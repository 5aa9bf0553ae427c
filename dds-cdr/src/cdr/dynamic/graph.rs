//! A type as a graph: nodes refer to each other by index, so that a type may contain itself.
//!
//! A [`Graph`] is checked as a whole (`check`) and never changes, so every index in it is valid.

use super::value::Value;
use crate::cdr::shape::{MemberShape, NumberKind, Selected, Shape, StructShape, Structure, UnionShape};
use crate::cdr::{Extensibility, TryConstruct};
use std::any::Any;
use std::sync::OnceLock;

/// The index of a node.
pub(crate) type Index = u32;

/// A type and all types that it contains.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(super) nodes: Box<[Node]>,
    /// The description that the type of this node was created from, for the room `xtypes`.
    pub(super) origin: OnceLock<(Index, TypeOrigin)>,
}

/// A description of a type that says more than its graph: flags of literals, units, ranges.
pub(crate) type TypeOrigin = Box<dyn Any + Send + Sync>;

/// A type of a graph.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The name, or the IDL keyword of an anonymous type.
    pub(super) name: Box<str>,
    pub(super) kind: NodeKind,
}

/// The kind and the parts of a node.
#[derive(Debug, Clone)]
pub(crate) enum NodeKind {
    Primitive(PrimitiveKind),
    String { bound: Option<u32> },
    WString { bound: Option<u32> },
    Sequence { bound: Option<u32>, element: Element },
    Array { length: u32, element: Element },
    Map { bound: Option<u32>, key: Element, element: Element },
    Alias { of: Index },
    Enum(EnumNode),
    Bitmask(BitmaskNode),
    Bitset(BitsetNode),
    Struct(StructNode),
    Union(UnionNode),
}

/// The kind of a number, bool or char.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PrimitiveKind {
    /// `boolean`.
    Bool,
    /// `octet`.
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
    /// `long double`.
    Float128,
    /// `char`: Latin-1.
    Char8,
    /// `wchar`: one UTF-16 code unit.
    Char16,
}

impl PrimitiveKind {
    /// The name in IDL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "boolean",
            Self::Octet => "octet",
            Self::Int8 => "int8",
            Self::UInt8 => "uint8",
            Self::Int16 => "int16",
            Self::UInt16 => "uint16",
            Self::Int32 => "int32",
            Self::UInt32 => "uint32",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
            Self::Float32 => "float",
            Self::Float64 => "double",
            Self::Float128 => "long double",
            Self::Char8 => "char",
            Self::Char16 => "wchar",
        }
    }

    /// Bytes of a value.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::Octet | Self::Int8 | Self::UInt8 | Self::Char8 => 1,
            Self::Int16 | Self::UInt16 | Self::Char16 => 2,
            Self::Int32 | Self::UInt32 | Self::Float32 => 4,
            Self::Int64 | Self::UInt64 | Self::Float64 => 8,
            Self::Float128 => 16,
        }
    }

    pub(super) const fn is_signed(self) -> bool {
        matches!(self, Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64)
    }

    /// The smallest and the largest value of an integer; `None` for other kinds.
    pub(super) const fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            // `i128` holds both the least `i64` and the greatest `u64`.
            Self::Int8 => (i8::MIN as i128, i8::MAX as i128),
            Self::Int16 => (i16::MIN as i128, i16::MAX as i128),
            Self::Int32 => (i32::MIN as i128, i32::MAX as i128),
            Self::Int64 => (i64::MIN as i128, i64::MAX as i128),
            Self::Octet | Self::UInt8 => (0, u8::MAX as i128),
            Self::UInt16 => (0, u16::MAX as i128),
            Self::UInt32 => (0, u32::MAX as i128),
            Self::UInt64 => (0, u64::MAX as i128),
            _ => return None,
        })
    }
}

/// The type of elements, and the handling of values that it cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cdr) struct Element {
    pub(super) ty: Index,
    pub(super) try_construct: TryConstruct,
    pub(super) is_external: bool,
}

#[derive(Debug, Clone)]
pub(in crate::cdr) struct EnumNode {
    pub(super) extensibility: Extensibility,
    pub(super) bit_bound: u8,
    pub(super) literals: Box<[LiteralNode]>,
    /// The index of the initial literal.
    pub(super) default: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cdr) struct LiteralNode {
    pub(super) name: Box<str>,
    pub(super) value: i32,
}

#[derive(Debug, Clone)]
pub(in crate::cdr) struct BitmaskNode {
    pub(super) extensibility: Extensibility,
    pub(super) bit_bound: u8,
    pub(super) flags: Box<[FlagNode]>,
}

impl BitmaskNode {
    /// Whether all bits of a discriminator are below the bound.
    pub(super) const fn has_room_for(&self, discriminator: i64) -> bool {
        // A discriminator of 64 bits may appear negative.
        self.bit_bound >= 64 || (discriminator as u64) >> self.bit_bound == 0
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cdr) struct FlagNode {
    pub(super) name: Box<str>,
    pub(super) position: u8,
}

#[derive(Debug, Clone)]
pub(in crate::cdr) struct BitsetNode {
    /// The fields, least significant first.
    pub(super) fields: Box<[BitfieldNode]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cdr) struct BitfieldNode {
    pub(super) name: Box<str>,
    pub(super) position: u8,
    pub(super) bit_count: u8,
    pub(super) is_signed: bool,
}

#[derive(Debug, Clone)]
pub(in crate::cdr) struct StructNode {
    pub(super) extensibility: Extensibility,
    pub(super) base: Option<Index>,
    /// All members, inherited members first.
    pub(super) members: Box<[MemberNode]>,
    /// The number of inherited members.
    pub(super) inherited: usize,
    /// The ids in ascending order, each with the index of its member.
    pub(super) by_id: Box<[(u32, u32)]>,
    pub(super) ids_ascend: bool,
    pub(super) has_key: bool,
    pub(super) marks: TypeMarks,
}

/// Properties of a struct or union that do not change the encoding.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::cdr) struct TypeMarks {
    /// Whether the type is not the type of a topic.
    pub(super) is_nested: bool,
    /// Whether member ids are hashes of names by default.
    pub(super) has_hash_ids: bool,
}

#[derive(Debug, Clone)]
pub(in crate::cdr) struct MemberNode {
    pub(super) name: Box<str>,
    pub(super) id: u32,
    pub(super) is_key: bool,
    pub(super) is_optional: bool,
    pub(super) must_understand: bool,
    pub(super) is_external: bool,
    pub(super) hash_id: Option<Box<str>>,
    pub(super) try_construct: TryConstruct,
    /// The initial value, if it is not the default of the type.
    pub(super) default: Option<Value>,
    pub(super) ty: Index,
}

#[derive(Debug, Clone)]
pub(in crate::cdr) struct UnionNode {
    pub(super) extensibility: Extensibility,
    pub(super) discriminator: Index,
    pub(super) has_key: bool,
    /// The handling of a discriminator that selects no case.
    pub(super) try_construct: TryConstruct,
    pub(super) cases: Box<[CaseNode]>,
    pub(super) marks: TypeMarks,
}

#[derive(Debug, Clone)]
pub(in crate::cdr) struct CaseNode {
    pub(super) name: Box<str>,
    pub(super) id: u32,
    pub(super) labels: Box<[i64]>,
    pub(super) is_default: bool,
    pub(super) is_external: bool,
    pub(super) hash_id: Option<Box<str>>,
    pub(super) try_construct: TryConstruct,
    pub(super) ty: Option<Index>,
}

impl NodeKind {
    /// The number of parts in memory: the node, and its members, literals or labels.
    pub(super) fn parts(&self) -> usize {
        1 + match self {
            Self::Enum(node) => node.literals.len(),
            Self::Bitmask(node) => node.flags.len(),
            Self::Bitset(node) => node.fields.len(),
            Self::Struct(node) => node.members.len(),
            Self::Union(node) => node.cases.iter().map(|case| 1 + case.labels.len()).sum(),
            _ => 0,
        }
    }
}

impl StructNode {
    pub(super) fn new(extensibility: Extensibility, base: Option<(Index, &Self)>, own: Vec<MemberNode>) -> Self {
        let (base, mut members) = match base {
            Some((index, node)) => (Some(index), node.members.to_vec()),
            None => (None, Vec::new()),
        };
        let inherited = members.len();
        // Encoding writes inherited members first, so one list in this order serves all walks.
        members.extend(own);
        let mut by_id: Box<[(u32, u32)]> = members.iter().zip(0..).map(|(member, index)| (member.id, index)).collect();
        // Keys are encoded by id. If ids ascend, the order of definition is the same.
        let ids_ascend = by_id.is_sorted();
        // Sorted once, so that decoding finds each member by a binary search.
        by_id.sort_unstable();
        let has_key = members.iter().any(|member| member.is_key);
        Self {
            extensibility,
            base,
            members: members.into(),
            inherited,
            by_id,
            ids_ascend,
            has_key,
            marks: TypeMarks::default(),
        }
    }

    /// The member with this id, with its index.
    pub(super) fn member_of_id(&self, id: u32) -> Option<(u32, &MemberNode)> {
        let found = self.by_id.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        let (_, index) = self.by_id.get(found)?;
        Some((*index, self.members.get(*index as usize)?))
    }

    /// The member with this name, with its index.
    pub(super) fn member_of_name(&self, name: &str) -> Option<(u32, &MemberNode)> {
        // Linear: paths are looked up far less often than members are decoded.
        (0..).zip(&self.members).find(|(_, member)| &*member.name == name)
    }

    /// Whether a member belongs to the key: marked members, or all members if none is marked.
    pub(super) fn is_part(&self, member: &MemberNode) -> bool {
        member.is_key || !self.has_key
    }
}

impl EnumNode {
    pub(super) fn size(&self) -> usize {
        size_of_bits(self.bit_bound)
    }

    pub(super) fn literal_of_value(&self, value: i64) -> Option<&LiteralNode> {
        self.literals.iter().find(|literal| i64::from(literal.value) == value)
    }
}

impl BitsetNode {
    pub(super) fn bit_bound(&self) -> u8 {
        // The check rejects a bitset without fields, so no type has the default.
        self.fields.last().map_or(1, |last| last.position.saturating_add(last.bit_count))
    }
}

impl CaseNode {
    /// Whether the name of the member tells the discriminator.
    #[cfg(feature = "serde")]
    pub(super) fn has_one_discriminator(&self) -> bool {
        self.ty.is_some() && !self.is_default && self.labels.len() == 1
    }
}

impl UnionNode {
    /// The case that this discriminator selects.
    pub(super) fn selected_by(&self, discriminator: i64) -> Option<&CaseNode> {
        let mut default = None;
        for case in &self.cases {
            // A label has priority over the default case, in any order.
            if case.labels.contains(&discriminator) {
                return Some(case);
            }
            // The check limits the defaults to one, but measuring calls this before that check.
            if case.is_default && default.is_none() {
                default = Some(case);
            }
        }
        default
    }
}

/// The size in bytes of the smallest number with this many bits.
pub(super) const fn size_of_bits(bit_bound: u8) -> usize {
    match bit_bound {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        _ => 8,
    }
}

/// The low bits of a number.
pub(super) const fn low_bits(bit_bound: u8) -> u64 {
    match bit_bound {
        // A shift by 64 overflows, so no bits are a case of their own.
        0 => 0,
        1..=63 => u64::MAX >> (64 - bit_bound),
        _ => u64::MAX,
    }
}

/// Extends a number of `size` bytes to 64 bits: with its sign if signed, otherwise with zeros.
pub(super) const fn extended(bits: u64, size: usize, is_signed: bool) -> u64 {
    // A larger size would make the shift negative.
    if size >= 8 {
        return bits;
    }
    // Shift to the top and back, which copies the sign into the upper bits.
    let shift = 64 - 8 * size as u32;
    if is_signed { ((bits << shift) as i64 >> shift) as u64 } else { (bits << shift) >> shift }
}

/// A node with its graph.
#[derive(Clone, Copy)]
pub(crate) struct TypeView<'g> {
    pub(super) graph: &'g Graph,
    pub(super) index: Index,
}

impl<'g> TypeView<'g> {
    pub(super) fn at(self, index: Index) -> Self {
        Self { graph: self.graph, index }
    }

    /// The node. Aliases are not resolved.
    pub(super) fn node(self) -> &'g Node {
        self.graph.nodes.get(self.index as usize).expect("the check of a graph verifies every index")
    }

    /// The type after all aliases are resolved.
    pub(super) fn resolved(self) -> Self {
        let mut ty = self;
        // The check rejects aliases of themselves, so the loop ends.
        while let NodeKind::Alias { of } = &ty.node().kind {
            ty = ty.at(*of);
        }
        ty
    }

    /// The kind after all aliases are resolved.
    pub(super) fn kind(self) -> &'g NodeKind {
        &self.resolved().node().kind
    }

    /// The bits of the initial number.
    pub(super) fn default_bits(self) -> u64 {
        match self.kind() {
            NodeKind::Enum(node) => {
                debug_assert!(node.default < node.literals.len(), "the assembler checks the default literal");
                match node.literals.get(node.default) {
                    // As wide as a label, so that a negative default equals its label.
                    Some(literal) => i64::from(literal.value) as u64,
                    None => 0,
                }
            }
            // The default of every other number is zero (XTYPES 1.3, 7.2.2.4.4.4.7).
            _ => 0,
        }
    }

    /// Whether its numbers are signed.
    pub(super) fn is_signed(self) -> bool {
        match self.kind() {
            NodeKind::Primitive(kind) => kind.is_signed(),
            // An enum of 32 bits may hold any `i32`. A shorter one is unsigned unless a literal is negative.
            NodeKind::Enum(node) => node.literals.iter().any(|literal| literal.value < 0) || node.bit_bound == 32,
            _ => false,
        }
    }

    /// The extensibility kind. Types without members are final.
    pub(super) fn extensibility(self) -> Extensibility {
        match self.kind() {
            NodeKind::Struct(node) => node.extensibility,
            NodeKind::Union(node) => node.extensibility,
            NodeKind::Enum(node) => node.extensibility,
            NodeKind::Bitmask(node) => node.extensibility,
            _ => Extensibility::Final,
        }
    }

    /// Whether samples of the type have a key.
    pub(super) fn has_key(self) -> bool {
        match self.kind() {
            NodeKind::Struct(node) => node.has_key,
            NodeKind::Union(node) => node.has_key,
            _ => false,
        }
    }
}

impl<'g> Shape for TypeView<'g> {
    type Struct = StructView<'g>;
    type Union = UnionView<'g>;

    fn structure(self) -> Structure<Self> {
        match self.kind() {
            NodeKind::String { bound } => Structure::String(*bound),
            NodeKind::WString { bound } => Structure::WString(*bound),
            NodeKind::Sequence { bound, element } => Structure::Sequence(*bound, self.at(element.ty)),
            NodeKind::Array { .. } => Structure::Array,
            NodeKind::Map { key, element, .. } => Structure::Map(self.at(key.ty), self.at(element.ty)),
            NodeKind::Struct(node) => Structure::Struct(StructView { graph: self.graph, node }),
            NodeKind::Union(node) => Structure::Union(UnionView { graph: self.graph, node }),
            // `kind` resolves aliases, so the last pattern never matches.
            NodeKind::Primitive(_)
            | NodeKind::Enum(_)
            | NodeKind::Bitmask(_)
            | NodeKind::Bitset(_)
            | NodeKind::Alias { .. } => Structure::Number,
        }
    }

    fn primitive_size(self) -> Option<usize> {
        match self.kind() {
            NodeKind::Primitive(kind) => Some(kind.size()),
            _ => None,
        }
    }

    fn number_size(self) -> Option<usize> {
        match self.kind() {
            NodeKind::Primitive(kind) => Some(kind.size()),
            NodeKind::Enum(node) => Some(node.size()),
            NodeKind::Bitmask(node) => Some(size_of_bits(node.bit_bound)),
            NodeKind::Bitset(node) => Some(size_of_bits(node.bit_bound())),
            _ => None,
        }
    }

    fn number_kind(self) -> NumberKind {
        match self.kind() {
            NodeKind::Primitive(PrimitiveKind::Bool) => NumberKind::Bool,
            NodeKind::Primitive(PrimitiveKind::Float32) => NumberKind::Float32,
            NodeKind::Primitive(PrimitiveKind::Float64) => NumberKind::Float64,
            NodeKind::Primitive(PrimitiveKind::Float128) => NumberKind::Float128,
            // Octets and chars fall through: their bits have no sign.
            NodeKind::Primitive(kind) if kind.is_signed() => NumberKind::Signed,
            NodeKind::Enum(node) => {
                NumberKind::Enum { initial: node.literals.get(node.default).map_or(0, |literal| literal.value) }
            }
            _ => NumberKind::Unsigned,
        }
    }

    fn dimensions(self) -> (usize, Self) {
        let (mut count, mut ty) = (1_usize, self);
        // Nested arrays have one DHEADER at most, so only the product of lengths matters.
        while let NodeKind::Array { length, element } = ty.kind() {
            count = count.saturating_mul(*length as usize);
            ty = ty.at(element.ty);
        }
        (count, ty)
    }
}

/// A struct with its graph.
#[derive(Clone, Copy)]
pub(crate) struct StructView<'g> {
    graph: &'g Graph,
    node: &'g StructNode,
}

/// A member with its graph.
#[derive(Clone, Copy)]
pub(crate) struct MemberView<'g> {
    graph: &'g Graph,
    member: &'g MemberNode,
}

/// A union with its graph.
#[derive(Clone, Copy)]
pub(crate) struct UnionView<'g> {
    graph: &'g Graph,
    node: &'g UnionNode,
}

impl<'g> StructShape for StructView<'g> {
    type Type = TypeView<'g>;
    type Member = MemberView<'g>;

    fn extensibility(self) -> Extensibility {
        self.node.extensibility
    }

    fn has_key(self) -> bool {
        self.node.has_key
    }

    fn ids_ascend(self) -> bool {
        self.node.ids_ascend
    }

    fn members(self) -> impl DoubleEndedIterator<Item = MemberView<'g>> + ExactSizeIterator + Clone {
        self.node.members.iter().map(move |member| MemberView { graph: self.graph, member })
    }
}

impl<'g> MemberShape for MemberView<'g> {
    type Type = TypeView<'g>;

    fn id(self) -> u32 {
        self.member.id
    }

    fn is_key(self) -> bool {
        self.member.is_key
    }

    fn is_optional(self) -> bool {
        self.member.is_optional
    }

    fn ty(self) -> TypeView<'g> {
        TypeView { graph: self.graph, index: self.member.ty }
    }
}

impl<'g> UnionShape for UnionView<'g> {
    type Type = TypeView<'g>;

    fn extensibility(self) -> Extensibility {
        self.node.extensibility
    }

    fn has_key(self) -> bool {
        self.node.has_key
    }

    fn discriminator(self) -> TypeView<'g> {
        TypeView { graph: self.graph, index: self.node.discriminator }
    }

    fn selected_by(self, bits: u64, size: usize) -> Option<Selected<TypeView<'g>>> {
        let is_signed = self.discriminator().is_signed();
        // Labels are stored as `i64`, so the received bits are extended the same way.
        let case = self.node.selected_by(extended(bits, size, is_signed) as i64)?;
        Some(Selected { id: case.id, ty: case.ty.map(|index| TypeView { graph: self.graph, index }) })
    }

    fn index_of(self, id: u32) -> Option<usize> {
        self.node.cases.iter().position(|case| case.id == id)
    }

    fn member_types(self) -> impl Iterator<Item = TypeView<'g>> {
        self.node.cases.iter().filter_map(move |case| Some(TypeView { graph: self.graph, index: case.ty? }))
    }
}
