//! What a type must be, whoever made it. A [`Graph`] that went through here has no number without a node, no name twice, and
//! no value that contains itself.
//!
//! Bound: types may come from strangers. Their number, their members with those of all that lies in them, how deep they go
//! and what a value has at least are limited, so that no walk along a type takes long and no value is made that is too large.

use super::graph::{Case, EnumNode, Graph, Index, Kind, Member, Node, PrimitiveKind, StructNode, TypeView, UnionNode};
use super::{Input, TypeError, give};
use crate::cdr::{Extensibility, TryConstruct};
use std::collections::HashSet;

/// How many types a type may be made of, itself included. The largest of ROS 2 have some hundred.
pub(super) const TYPES_MAX: usize = 4096;
/// How many members there may be if each is counted as often as it is part of another one.
const MEMBERS_MAX: u64 = 1 << 16;
/// How deep types may lie in each other.
const LEVELS_MAX: usize = 128;
/// How many bytes a value may have at least: more than any sample that can be received.
const BYTES_MAX: u64 = 256 << 20;
/// How long a name may be, in bytes: what peers accept for names of types.
const NAME_LEN_MAX: usize = 255;
/// The largest id of a member: a header has 28 bits for it.
const ID_MAX: u32 = 0x0fff_ffff;

/// The graph of these nodes, with the defaults of its members.
pub(super) fn checked(nodes: Vec<Node>, defaults: Vec<(Index, usize, Input)>) -> Result<Graph, TypeError> {
    let mut graph = Graph { nodes: nodes.into() };
    if graph.nodes.len() > TYPES_MAX {
        return Err(TypeError::TooLarge { what: "types", max: TYPES_MAX as u64 });
    }
    let has_all = |node: &Node| {
        let (mut kind, mut has_all) = (node.kind.clone(), true);
        kind.for_each_reference(&mut |index| has_all &= (*index as usize) < graph.nodes.len());
        has_all
    };
    if !graph.nodes.iter().all(has_all) {
        return Err(TypeError::Malformed { what: "a type is made of one that is not there" });
    }
    // Before anything follows an alias to its end.
    let mut extents = Extents { graph: &graph, fixed: Vec::new(), all: Vec::new() };
    extents.measure()?;
    for index in 0..graph.nodes.len() {
        check_node(TypeView { graph: &graph, index: index as Index })?;
    }
    set_defaults(&mut graph, defaults)?;
    Ok(graph)
}

/// What a value of a node has at least, and how much there is to walk along.
#[derive(Clone, Copy)]
enum Extent {
    Unknown,
    Open,
    Known(u64),
}

struct Extents<'g> {
    graph: &'g Graph,
    /// Bytes, along what every value has.
    fixed: Vec<Extent>,
    /// Members, along all that there is.
    all: Vec<Extent>,
}

impl Extents<'_> {
    fn measure(&mut self) -> Result<(), TypeError> {
        let count = self.graph.nodes.len();
        self.fixed = vec![Extent::Unknown; count];
        self.all = vec![Extent::Unknown; count];
        for index in 0..count {
            if self.bytes(index as Index, 0)? > BYTES_MAX {
                return Err(TypeError::TooLarge { what: "bytes in each value", max: BYTES_MAX });
            }
            if self.members(index as Index, 0)? > MEMBERS_MAX {
                return Err(TypeError::TooLarge { what: "members in all", max: MEMBERS_MAX });
            }
        }
        Ok(())
    }

    fn node(&self, index: Index) -> &Node {
        TypeView { graph: self.graph, index }.node()
    }

    /// The bytes that a value has at least.
    fn bytes(&mut self, index: Index, level: usize) -> Result<u64, TypeError> {
        check_level(level)?;
        match self.fixed.get(index as usize) {
            Some(Extent::Known(bytes)) => return Ok(*bytes),
            Some(Extent::Open) => {
                return Err(TypeError::ContainsItself { ty: self.node(index).name.to_string() });
            }
            _ => {}
        }
        set(&mut self.fixed, index, Extent::Open);
        let graph = self.graph;
        let bytes = match &(TypeView { graph, index }).node().kind {
            Kind::Primitive(kind) => kind.size() as u64,
            Kind::Array { length, element } => {
                self.bytes(element.ty, level + 1)?.max(1).saturating_mul((*length).into())
            }
            Kind::Alias { of } => self.bytes(*of, level + 1)?,
            Kind::Struct(node) => {
                let mut sum = 0_u64;
                for member in node.members.iter().filter(|member| !member.is_optional) {
                    sum = sum.saturating_add(self.bytes(member.ty, level + 1)?);
                }
                sum
            }
            Kind::Union(node) => {
                let first = first_case(TypeView { graph, index }, node, self, level)?;
                8 + first.map_or(Ok(0), |ty| self.bytes(ty, level + 1))?
            }
            _ => 8,
        };
        set(&mut self.fixed, index, Extent::Known(bytes));
        Ok(bytes)
    }

    /// How many members there are, each as often as it is part of another one.
    fn members(&mut self, index: Index, level: usize) -> Result<u64, TypeError> {
        check_level(level)?;
        match self.all.get(index as usize) {
            Some(Extent::Known(members)) => return Ok(*members),
            Some(Extent::Open) => return Ok(1),
            _ => {}
        }
        set(&mut self.all, index, Extent::Open);
        let mut parts = Vec::new();
        let mut kind = self.node(index).kind.clone();
        kind.for_each_reference(&mut |index| parts.push(*index));
        let mut sum = 1_u64;
        for part in parts {
            sum = sum.saturating_add(self.members(part, level + 1)?);
        }
        set(&mut self.all, index, Extent::Known(sum));
        Ok(sum)
    }
}

fn check_level(level: usize) -> Result<(), TypeError> {
    match level {
        ..=LEVELS_MAX => Ok(()),
        _ => Err(TypeError::TooLarge { what: "levels", max: LEVELS_MAX as u64 }),
    }
}

fn set(extents: &mut [Extent], index: Index, extent: Extent) {
    if let Some(place) = extents.get_mut(index as usize) {
        *place = extent;
    }
}

/// The type of the member that a union has at first. Its discriminator may be an alias that has not been followed yet.
fn first_case(
    ty: TypeView<'_>,
    node: &UnionNode,
    extents: &mut Extents<'_>,
    level: usize,
) -> Result<Option<Index>, TypeError> {
    extents.bytes(node.discriminator, level + 1)?;
    let bits = ty.at(node.discriminator).default_bits() as i64;
    let case = node.selected_by(bits).or(node.cases.first());
    Ok(case.and_then(|case| case.ty))
}

fn check_node(ty: TypeView<'_>) -> Result<(), TypeError> {
    let node = ty.node();
    let name = &*node.name;
    let is_name = !name.is_empty() && name.len() <= NAME_LEN_MAX && !name.chars().any(char::is_control);
    if !is_name {
        return Err(TypeError::InvalidName { name: name.to_owned() });
    }
    match &node.kind {
        Kind::String { bound: Some(0) }
        | Kind::WString { bound: Some(0) }
        | Kind::Sequence { bound: Some(0), .. }
        | Kind::Map { bound: Some(0), .. } => Err(TypeError::ZeroBound { ty: name.to_owned() }),
        Kind::Sequence { element, .. } | Kind::Array { element, .. } => {
            check_trim(ty, element.ty, element.try_construct, "")
        }
        Kind::Map { key, element, .. } => {
            check_map_key(ty.at(key.ty), name)?;
            check_trim(ty, key.ty, key.try_construct, "")?;
            check_trim(ty, element.ty, element.try_construct, "")
        }
        Kind::Enum(node) => check_enum(node, name),
        Kind::Bitmask(node) => {
            check_names(name, node.flags.iter().map(|flag| &*flag.name))?;
            let all = || Err(TypeError::InvalidBits { ty: name.to_owned(), name: String::new() });
            if !(1..=64).contains(&node.bit_bound) {
                return all();
            }
            let mut seen = 0_u64;
            for flag in &node.flags {
                let bit = 1_u64.checked_shl(flag.position.into()).unwrap_or_default();
                if flag.position >= node.bit_bound || seen & bit != 0 {
                    return Err(TypeError::InvalidBits { ty: name.to_owned(), name: flag.name.to_string() });
                }
                seen |= bit;
            }
            Ok(())
        }
        Kind::Bitset(node) => {
            check_names(name, node.fields.iter().map(|field| &*field.name))?;
            if node.fields.is_empty() {
                return Err(TypeError::Empty { ty: name.to_owned() });
            }
            let mut end = 0_u32;
            for field in &node.fields {
                let (from, count) = (u32::from(field.position), u32::from(field.bit_count));
                if from < end || !(1..=64).contains(&count) || from + count > 64 {
                    return Err(TypeError::InvalidBits { ty: name.to_owned(), name: field.name.to_string() });
                }
                end = from + count;
            }
            Ok(())
        }
        Kind::Struct(node) => check_struct(ty, node, name),
        Kind::Union(node) => check_union(ty, node, name),
        _ => Ok(()),
    }
}

/// Names that are there once, and that paths can have in them.
fn check_names<'n>(ty: &str, names: impl Iterator<Item = &'n str>) -> Result<(), TypeError> {
    let mut seen = HashSet::new();
    for name in names {
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        if name.is_empty() || name.len() > NAME_LEN_MAX || !name.chars().all(is_letter) {
            return Err(TypeError::InvalidName { name: name.to_owned() });
        }
        if !seen.insert(name) {
            return Err(TypeError::DuplicateName { ty: ty.to_owned(), name: name.to_owned() });
        }
    }
    Ok(())
}

/// Whether there is something to trim to.
fn check_trim(of: TypeView<'_>, ty: Index, try_construct: TryConstruct, member: &str) -> Result<(), TypeError> {
    let has_bound = matches!(
        of.at(ty).kind(),
        Kind::String { bound: Some(_) }
            | Kind::WString { bound: Some(_) }
            | Kind::Sequence { bound: Some(_), .. }
            | Kind::Map { bound: Some(_), .. }
    );
    match try_construct {
        TryConstruct::Trim if !has_bound => {
            Err(TypeError::NothingToTrim { ty: of.node().name.to_string(), member: member.to_owned() })
        }
        _ => Ok(()),
    }
}

fn check_map_key(key: TypeView<'_>, map: &str) -> Result<(), TypeError> {
    let is_key = match key.kind() {
        Kind::Primitive(kind) => {
            !matches!(kind, PrimitiveKind::Float32 | PrimitiveKind::Float64 | PrimitiveKind::Float128)
        }
        Kind::String { .. } | Kind::WString { .. } | Kind::Enum(_) => true,
        _ => false,
    };
    let needed = "integers, bools, chars, strings or enums as its keys";
    if is_key { Ok(()) } else { Err(TypeError::WrongKind { ty: map.to_owned(), needed }) }
}

fn check_enum(node: &EnumNode, name: &str) -> Result<(), TypeError> {
    if node.literals.is_empty() {
        return Err(TypeError::Empty { ty: name.to_owned() });
    }
    check_names(name, node.literals.iter().map(|literal| &*literal.name))?;
    let invalid = |literal: &str| Err(TypeError::InvalidBits { ty: name.to_owned(), name: literal.to_owned() });
    if !(1..=32).contains(&node.bit_bound) {
        return invalid("");
    }
    // One bit less, if there are signs to tell.
    let has_sign = node.literals.iter().any(|literal| literal.value < 0);
    let limit = 1_i64 << if has_sign { node.bit_bound - 1 } else { node.bit_bound };
    let mut seen = HashSet::new();
    for literal in &node.literals {
        let value = i64::from(literal.value);
        if value < -limit || value >= limit || !seen.insert(value) {
            return invalid(&literal.name);
        }
    }
    Ok(())
}

fn check_struct(ty: TypeView<'_>, node: &StructNode, name: &str) -> Result<(), TypeError> {
    check_names(name, node.members.iter().map(|member| &*member.name))?;
    if let Some(base) = node.base {
        match ty.at(base).kind() {
            Kind::Struct(base) if base.extensibility == node.extensibility => {}
            Kind::Struct(_) => {
                return Err(TypeError::WrongKind { ty: name.to_owned(), needed: "a base of its own extensibility" });
            }
            _ => return Err(TypeError::WrongKind { ty: name.to_owned(), needed: "a struct as its base" }),
        }
    }
    for (pair, member) in node.by_id.windows(2).map(Some).chain([None]).zip(&node.members) {
        let is_twice = pair.is_some_and(|pair| matches!(pair, [(one, _), (other, _)] if one == other));
        if is_twice || member.id > ID_MAX {
            let twice = pair.and_then(|pair| node.members.get(pair.last()?.1 as usize)).filter(|_| is_twice);
            return Err(invalid_id(name, twice.unwrap_or(member)));
        }
        if member.is_key && member.is_optional {
            return Err(TypeError::OptionalKey { ty: name.to_owned(), member: member.name.to_string() });
        }
        check_trim(ty, member.ty, member.try_construct, &member.name)?;
    }
    Ok(())
}

fn invalid_id(ty: &str, member: &Member) -> TypeError {
    TypeError::InvalidId { ty: ty.to_owned(), member: member.name.to_string(), id: member.id }
}

fn check_union(ty: TypeView<'_>, node: &UnionNode, name: &str) -> Result<(), TypeError> {
    check_names(name, node.cases.iter().map(|case| &*case.name))?;
    if node.cases.is_empty() {
        return Err(TypeError::Empty { ty: name.to_owned() });
    }
    let discriminator = ty.at(node.discriminator);
    let is_label = |label: i64| match discriminator.kind() {
        Kind::Primitive(PrimitiveKind::Bool) => Some((0..=1).contains(&label)),
        Kind::Primitive(PrimitiveKind::Char8) => Some((0..=0xff).contains(&label)),
        Kind::Primitive(PrimitiveKind::Char16) => Some((0..=0xffff).contains(&label)),
        Kind::Primitive(PrimitiveKind::UInt64) => Some(true),
        Kind::Primitive(kind) => kind.range().map(|(least, most)| (least..=most).contains(&label.into())),
        Kind::Enum(node) => Some(node.literal_of_value(label).is_some()),
        _ => None,
    };
    let (mut labels, mut ids, mut defaults) = (HashSet::new(), HashSet::new(), 0);
    for case in &node.cases {
        defaults += u32::from(case.is_default);
        let has_label = case.is_default || !case.labels.is_empty();
        let mut is_valid = has_label && defaults <= 1;
        for label in &case.labels {
            let needed = "an integer, bool, char or enum as its discriminator";
            let is_one = is_label(*label).ok_or(TypeError::WrongKind { ty: name.to_owned(), needed })?;
            is_valid &= is_one && labels.insert(*label);
        }
        if !is_valid {
            return Err(TypeError::InvalidLabel { ty: name.to_owned(), case: case.name.to_string() });
        }
        check_case(ty, node, case, name, &mut ids)?;
    }
    Ok(())
}

fn check_case(
    ty: TypeView<'_>,
    node: &UnionNode,
    case: &Case,
    name: &str,
    ids: &mut HashSet<u32>,
) -> Result<(), TypeError> {
    let Some(member) = case.ty else { return Ok(()) };
    let is_of_discriminator = node.extensibility == Extensibility::Mutable && case.id == 0;
    if case.id > ID_MAX || is_of_discriminator || !ids.insert(case.id) {
        return Err(TypeError::InvalidId { ty: name.to_owned(), member: case.name.to_string(), id: case.id });
    }
    check_trim(ty, member, case.try_construct, &case.name)
}

/// Gives members what they have at first, those that are inherited as well.
fn set_defaults(graph: &mut Graph, defaults: Vec<(Index, usize, Input)>) -> Result<(), TypeError> {
    for (index, member, input) in defaults {
        let view = TypeView { graph, index };
        let Kind::Struct(node) = view.kind() else { continue };
        let Some(place) = node.members.get(member) else { continue };
        // One that is absent is absent: it has no other default.
        let made = match place.is_optional {
            true => Err(super::DataError::Absent { member: place.name.to_string() }),
            false => give::value_of(view.at(place.ty), input),
        };
        let value = made.map_err(|error| TypeError::InvalidDefault {
            ty: view.node().name.to_string(),
            member: place.name.to_string(),
            error: Box::new(error),
        })?;
        for inheriting in 0..graph.nodes.len() {
            if extends(graph, inheriting as Index, index) {
                set_default(graph, inheriting, member, value.clone());
            }
        }
    }
    Ok(())
}

/// Whether a node is another one, or a struct that extends it.
fn extends(graph: &Graph, index: Index, base: Index) -> bool {
    let mut view = TypeView { graph, index };
    loop {
        if view.index == base {
            return true;
        }
        match &view.node().kind {
            Kind::Struct(StructNode { base: Some(base), .. }) => view = view.at(*base).resolved(),
            _ => return false,
        }
    }
}

fn set_default(graph: &mut Graph, index: usize, member: usize, value: super::value::Value) {
    if let Some(Node { kind: Kind::Struct(node), .. }) = graph.nodes.get_mut(index) {
        if let Some(member) = node.members.get_mut(member) {
            member.default = Some(value);
        }
    }
}
