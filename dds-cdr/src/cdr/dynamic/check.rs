//! Checks types from any source.
//!
//! In a checked [`Graph`] each index refers to a node, names are unique, and no value contains itself.
//!
//! Bound: types are untrusted. The number of types, the number of nested members, the depth and the minimum size of a
//! value are limited. Therefore each pass over a type is short, and no default value is too large.

use super::graph::{
    CaseNode, EnumNode, Graph, Index, MemberNode, Node, NodeKind, PrimitiveKind, StructNode, TypeView, UnionNode,
};
use super::{Input, TypeError, convert};
use crate::cdr::{Extensibility, TryConstruct};
use std::collections::HashSet;
use std::sync::OnceLock;

/// Most types in a graph, including the outermost. The largest types of ROS 2 have some hundred.
pub(super) const TYPES_MAX: usize = 4096;
/// Most members, counted once for each path to them.
const MEMBERS_MAX: u64 = 1 << 16;
/// Most levels of nested types.
const LEVELS_MAX: usize = 128;
/// Largest minimum size of a value in bytes: more than any sample that can be received.
const BYTES_MAX: u64 = 256 << 20;
/// Most bytes of a name, as peers accept for names of types.
const NAME_LEN_MAX: usize = 255;
/// The largest member id: a header has 28 bits for it.
const ID_MAX: u32 = 0x0fff_ffff;

/// Checks nodes, and creates their graph with the defaults of members.
pub(super) fn checked(nodes: Vec<Node>, defaults: Vec<(Index, usize, Input)>) -> Result<Graph, TypeError> {
    let mut graph = Graph { nodes: nodes.into(), origin: OnceLock::new() };
    // Each limit stands here, because a peer can send any TypeObject that fits into its message.
    if graph.nodes.len() > TYPES_MAX {
        return Err(TypeError::TooLarge { what: "types", max: TYPES_MAX as u64 });
    }
    // An index beyond the end would panic in `TypeView::node`, so this check comes early.
    for node in &graph.nodes {
        let (mut kind, mut are_valid) = (node.kind.clone(), true);
        kind.for_each_reference(&mut |index| are_valid &= (*index as usize) < graph.nodes.len());
        if !are_valid {
            return Err(TypeError::Malformed { what: "a type refers to a missing type" });
        }
    }
    // First, because it finds aliases of themselves. The following checks resolve aliases.
    let mut measurements = Measurements { graph: &graph, fixed: Vec::new(), all: Vec::new() };
    measurements.measure()?;
    for index in 0..graph.nodes.len() {
        check_node(TypeView { graph: &graph, index: index as Index })?;
    }
    // Last, because the conversion of a default walks along its checked type.
    set_defaults(&mut graph, defaults)?;
    Ok(graph)
}

/// A measured quantity of a node.
#[derive(Clone, Copy)]
enum Measurement {
    Unknown,
    InProgress,
    Known(u64),
}

struct Measurements<'g> {
    graph: &'g Graph,
    /// Minimum bytes of a value: parts that every value has.
    fixed: Vec<Measurement>,
    /// Members of all parts.
    all: Vec<Measurement>,
}

impl Measurements<'_> {
    fn measure(&mut self) -> Result<(), TypeError> {
        let count = self.graph.nodes.len();
        self.fixed = vec![Measurement::Unknown; count];
        self.all = vec![Measurement::Unknown; count];
        for index in 0..count {
            // A default value allocates its arrays, so their size must be bounded by the type alone.
            if self.bytes(index as Index, 0)? > BYTES_MAX {
                return Err(TypeError::TooLarge { what: "bytes in each value", max: BYTES_MAX });
            }
            if self.members(index as Index, 0)? > MEMBERS_MAX {
                return Err(TypeError::TooLarge { what: "members in all parts", max: MEMBERS_MAX });
            }
        }
        Ok(())
    }

    fn node(&self, index: Index) -> &Node {
        TypeView { graph: self.graph, index }.node()
    }

    /// The minimum bytes of a value.
    fn bytes(&mut self, index: Index, level: usize) -> Result<u64, TypeError> {
        check_level(level)?;
        match self.fixed.get(index as usize) {
            // Each node is measured once. Without it, shared parts would take exponential time.
            Some(Measurement::Known(bytes)) => return Ok(*bytes),
            // A fixed size that contains itself is infinite.
            Some(Measurement::InProgress) => {
                return Err(TypeError::ContainsItself { ty: self.node(index).name.to_string() });
            }
            _ => {}
        }
        set(&mut self.fixed, index, Measurement::InProgress);
        let graph = self.graph;
        let bytes = match &(TypeView { graph, index }).node().kind {
            NodeKind::Primitive(kind) => kind.size() as u64,
            NodeKind::Array { length, element } => {
                // Edits can store each element, so an element without bytes counts as one.
                self.bytes(element.ty, level + 1)?.max(1).saturating_mul((*length).into())
            }
            NodeKind::Alias { of } => self.bytes(*of, level + 1)?,
            NodeKind::Struct(node) => {
                let mut sum = 0_u64;
                for member in &node.members {
                    // An optional member breaks the cycle: its default is to be absent.
                    if !member.is_optional {
                        sum = sum.saturating_add(self.bytes(member.ty, level + 1)?);
                    }
                }
                sum
            }
            NodeKind::Union(node) => {
                let first = first_case(TypeView { graph, index }, node, self, level)?;
                let member = match first {
                    Some(ty) => self.bytes(ty, level + 1)?,
                    None => 0,
                };
                // A discriminator has at most 8 bytes.
                member.saturating_add(8)
            }
            // Other numbers have at most 8 bytes, and initial strings and collections are empty.
            _ => 8,
        };
        set(&mut self.fixed, index, Measurement::Known(bytes));
        Ok(bytes)
    }

    /// The number of members, counted once for each path to them.
    fn members(&mut self, index: Index, level: usize) -> Result<u64, TypeError> {
        check_level(level)?;
        match self.all.get(index as usize) {
            Some(Measurement::Known(members)) => return Ok(*members),
            // Sequences may contain their own struct, which is one reference here.
            Some(Measurement::InProgress) => return Ok(1),
            _ => {}
        }
        set(&mut self.all, index, Measurement::InProgress);
        let mut parts = Vec::new();
        // The visitor takes a mutable node, and the graph is shared.
        let mut kind = self.node(index).kind.clone();
        kind.for_each_reference(&mut |index| parts.push(*index));
        let mut sum = 1_u64;
        for part in parts {
            sum = sum.saturating_add(self.members(part, level + 1)?);
        }
        set(&mut self.all, index, Measurement::Known(sum));
        Ok(sum)
    }
}

fn check_level(level: usize) -> Result<(), TypeError> {
    if level > LEVELS_MAX {
        return Err(TypeError::TooLarge { what: "levels", max: LEVELS_MAX as u64 });
    }
    Ok(())
}

fn set(measurements: &mut [Measurement], index: Index, measurement: Measurement) {
    debug_assert!((index as usize) < measurements.len(), "each index refers to a node");
    if let Some(entry) = measurements.get_mut(index as usize) {
        *entry = measurement;
    }
}

/// The type of the initial member of a union.
fn first_case(
    ty: TypeView<'_>,
    node: &UnionNode,
    measurements: &mut Measurements<'_>,
    level: usize,
) -> Result<Option<Index>, TypeError> {
    // The discriminator may be an alias that is not checked yet. Measure it before it is resolved.
    measurements.bytes(node.discriminator, level + 1)?;
    let bits = ty.at(node.discriminator).default_bits() as i64;
    match node.selected_by(bits).or(node.cases.first()) {
        Some(case) => Ok(case.ty),
        None => Ok(None),
    }
}

fn check_node(ty: TypeView<'_>) -> Result<(), TypeError> {
    let node = ty.node();
    let name = &*node.name;
    // Names of peers reach logs, where a control character could forge a line.
    let is_name = !name.is_empty() && name.len() <= NAME_LEN_MAX && !name.chars().any(char::is_control);
    if !is_name {
        return Err(TypeError::InvalidName { name: name.to_owned() });
    }
    match &node.kind {
        // In a TypeIdentifier, bound 0 means unbounded, so no peer could express this type.
        NodeKind::String { bound: Some(0) }
        | NodeKind::WString { bound: Some(0) }
        | NodeKind::Sequence { bound: Some(0), .. }
        | NodeKind::Map { bound: Some(0), .. } => Err(TypeError::ZeroBound { ty: name.to_owned() }),
        NodeKind::Sequence { element, .. } | NodeKind::Array { element, .. } => {
            check_trim(ty, element.ty, element.try_construct, "")
        }
        NodeKind::Map { key, element, .. } => {
            check_map_key(ty.at(key.ty), name)?;
            check_trim(ty, key.ty, key.try_construct, "")?;
            check_trim(ty, element.ty, element.try_construct, "")
        }
        NodeKind::Enum(node) => check_enum(node, name),
        NodeKind::Bitmask(node) => {
            check_names(name, node.flags.iter().map(|flag| &*flag.name))?;
            if !(1..=64).contains(&node.bit_bound) {
                return Err(TypeError::InvalidBits { ty: name.to_owned(), name: String::new() });
            }
            let mut seen = 0_u64;
            for flag in &node.flags {
                // A position beyond 63 has no bit. The comparison with the bound rejects it.
                let bit = 1_u64.checked_shl(flag.position.into()).unwrap_or_default();
                if flag.position >= node.bit_bound || seen & bit != 0 {
                    return Err(TypeError::InvalidBits { ty: name.to_owned(), name: flag.name.to_string() });
                }
                seen |= bit;
            }
            Ok(())
        }
        NodeKind::Bitset(node) => {
            check_names(name, node.fields.iter().map(|field| &*field.name))?;
            if node.fields.is_empty() {
                return Err(TypeError::Empty { ty: name.to_owned() });
            }
            let mut end = 0_u32;
            for field in &node.fields {
                // In `u8` the sum could overflow.
                let (from, count) = (u32::from(field.position), u32::from(field.bit_count));
                if from < end || !(1..=64).contains(&count) || from + count > 64 {
                    return Err(TypeError::InvalidBits { ty: name.to_owned(), name: field.name.to_string() });
                }
                end = from + count;
            }
            Ok(())
        }
        NodeKind::Struct(node) => check_struct(ty, node, name),
        NodeKind::Union(node) => check_union(ty, node, name),
        _ => Ok(()),
    }
}

/// Checks that names are unique and valid in paths.
fn check_names<'n>(ty: &str, names: impl Iterator<Item = &'n str>) -> Result<(), TypeError> {
    // A set: a peer may announce thousands of names, and pairs would take too long.
    let mut seen = HashSet::new();
    for name in names {
        // A dot or a bracket would make a path ambiguous.
        let is_word = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        if name.is_empty() || name.len() > NAME_LEN_MAX || !is_word {
            return Err(TypeError::InvalidName { name: name.to_owned() });
        }
        if !seen.insert(name) {
            return Err(TypeError::DuplicateName { ty: ty.to_owned(), name: name.to_owned() });
        }
    }
    Ok(())
}

/// Checks that a trimmed type has a bound.
fn check_trim(of: TypeView<'_>, ty: Index, try_construct: TryConstruct, member: &str) -> Result<(), TypeError> {
    let has_bound = matches!(
        of.at(ty).kind(),
        NodeKind::String { bound: Some(_) }
            | NodeKind::WString { bound: Some(_) }
            | NodeKind::Sequence { bound: Some(_), .. }
            | NodeKind::Map { bound: Some(_), .. }
    );
    if try_construct == TryConstruct::Trim && !has_bound {
        return Err(TypeError::NothingToTrim { ty: of.node().name.to_string(), member: member.to_owned() });
    }
    Ok(())
}

fn check_map_key(key: TypeView<'_>, map: &str) -> Result<(), TypeError> {
    let is_key = match key.kind() {
        NodeKind::Primitive(kind) => {
            // NaN differs from itself, so a float cannot identify an entry.
            !matches!(kind, PrimitiveKind::Float32 | PrimitiveKind::Float64 | PrimitiveKind::Float128)
        }
        NodeKind::String { .. } | NodeKind::WString { .. } | NodeKind::Enum(_) => true,
        _ => false,
    };
    if !is_key {
        let needed = "keys that are integers, bools, chars, strings or enums";
        return Err(TypeError::WrongKind { ty: map.to_owned(), needed });
    }
    Ok(())
}

fn check_enum(node: &EnumNode, name: &str) -> Result<(), TypeError> {
    // The default value is a literal, so there must be one.
    if node.literals.is_empty() {
        return Err(TypeError::Empty { ty: name.to_owned() });
    }
    check_names(name, node.literals.iter().map(|literal| &*literal.name))?;
    if !(1..=32).contains(&node.bit_bound) {
        return Err(TypeError::InvalidBits { ty: name.to_owned(), name: String::new() });
    }
    // Negative literals take one bit for the sign.
    let has_sign = node.literals.iter().any(|literal| literal.value < 0);
    let limit = 1_i64 << if has_sign { node.bit_bound - 1 } else { node.bit_bound };
    let mut seen = HashSet::new();
    for literal in &node.literals {
        let value = i64::from(literal.value);
        if value < -limit || value >= limit || !seen.insert(value) {
            return Err(TypeError::InvalidBits { ty: name.to_owned(), name: literal.name.to_string() });
        }
    }
    Ok(())
}

fn check_struct(ty: TypeView<'_>, node: &StructNode, name: &str) -> Result<(), TypeError> {
    check_names(name, node.members.iter().map(|member| &*member.name))?;
    if let Some(base) = node.base {
        match ty.at(base).kind() {
            // One frame encloses inherited and own members, so it needs one extensibility.
            NodeKind::Struct(base) if base.extensibility == node.extensibility => {}
            NodeKind::Struct(_) => {
                return Err(TypeError::WrongKind { ty: name.to_owned(), needed: "a base of the same extensibility" });
            }
            _ => return Err(TypeError::WrongKind { ty: name.to_owned(), needed: "a base that is a struct" }),
        }
    }
    check_ids(node, name)?;
    for member in &node.members {
        // Each sample must name its instance.
        if member.is_key && member.is_optional {
            return Err(TypeError::OptionalKey { ty: name.to_owned(), member: member.name.to_string() });
        }
        check_trim(ty, member.ty, member.try_construct, &member.name)?;
    }
    Ok(())
}

/// Checks that member ids are unique and fit into a header.
fn check_ids(node: &StructNode, name: &str) -> Result<(), TypeError> {
    let mut previous = None;
    for (id, index) in &node.by_id {
        // The ids are sorted, so equal ids are neighbors.
        if previous == Some(id) || *id > ID_MAX {
            let Some(member) = node.members.get(*index as usize) else {
                debug_assert!(false, "each id belongs to a member");
                continue;
            };
            return Err(invalid_id(name, member));
        }
        previous = Some(id);
    }
    Ok(())
}

fn invalid_id(ty: &str, member: &MemberNode) -> TypeError {
    TypeError::InvalidId { ty: ty.to_owned(), member: member.name.to_string(), id: member.id }
}

fn check_union(ty: TypeView<'_>, node: &UnionNode, name: &str) -> Result<(), TypeError> {
    check_names(name, node.cases.iter().map(|case| &*case.name))?;
    if node.cases.is_empty() {
        return Err(TypeError::Empty { ty: name.to_owned() });
    }
    let discriminator = ty.at(node.discriminator);
    let is_label = |label: i64| match discriminator.kind() {
        NodeKind::Primitive(PrimitiveKind::Bool) => Some((0..=1).contains(&label)),
        NodeKind::Primitive(PrimitiveKind::Char8) => Some((0..=0xff).contains(&label)),
        NodeKind::Primitive(PrimitiveKind::Char16) => Some((0..=0xffff).contains(&label)),
        // Labels keep the bits of a `u64` as `i64`, so each label is a value.
        NodeKind::Primitive(PrimitiveKind::UInt64) => Some(true),
        NodeKind::Primitive(kind) => kind.range().map(|(least, most)| (least..=most).contains(&label.into())),
        NodeKind::Enum(node) => Some(node.literal_of_value(label).is_some()),
        NodeKind::Bitmask(node) => Some(node.has_room_for(label)),
        _ => None,
    };
    let (mut labels, mut ids, mut defaults) = (HashSet::new(), HashSet::new(), 0);
    for case in &node.cases {
        defaults += u32::from(case.is_default);
        let has_label = case.is_default || !case.labels.is_empty();
        let mut is_valid = has_label && defaults <= 1;
        for label in &case.labels {
            let needed = "a discriminator that is an integer, bool, char, enum or bitmask";
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
    case: &CaseNode,
    name: &str,
    ids: &mut HashSet<u32>,
) -> Result<(), TypeError> {
    let Some(member) = case.ty else { return Ok(()) };
    // Id 0 is the discriminator in the member list. Other unions send no ids, and Cyclone DDS starts at 0.
    let is_of_discriminator = node.extensibility == Extensibility::Mutable && case.id == 0;
    if case.id > ID_MAX || is_of_discriminator || !ids.insert(case.id) {
        return Err(TypeError::InvalidId { ty: name.to_owned(), member: case.name.to_string(), id: case.id });
    }
    check_trim(ty, member, case.try_construct, &case.name)
}

/// Sets the defaults of members, including inherited ones.
fn set_defaults(graph: &mut Graph, defaults: Vec<(Index, usize, Input)>) -> Result<(), TypeError> {
    for (index, member, input) in defaults {
        let view = TypeView { graph, index };
        let NodeKind::Struct(node) = view.kind() else { continue };
        let Some(declared) = node.members.get(member) else { continue };
        // The default of an optional member is to be absent.
        let value = if declared.is_optional {
            Err(super::DataError::Absent { member: declared.name.to_string() })
        } else {
            convert::value_of(view.at(declared.ty), input)
        };
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                let (ty, member) = (view.node().name.to_string(), declared.name.to_string());
                return Err(TypeError::InvalidDefault { ty, member, error: Box::new(error) });
            }
        };
        // Derived structs have copies of the members, so each of them gets the default as well.
        for inheriting in 0..graph.nodes.len() {
            if extends(graph, inheriting as Index, index) {
                set_default(graph, inheriting, member, value.clone());
            }
        }
    }
    Ok(())
}

/// Whether a node is `base`, or a struct that extends it.
fn extends(graph: &Graph, index: Index, base: Index) -> bool {
    let mut view = TypeView { graph, index };
    loop {
        if view.index == base {
            return true;
        }
        match &view.node().kind {
            NodeKind::Struct(StructNode { base: Some(base), .. }) => view = view.at(*base).resolved(),
            _ => return false,
        }
    }
}

fn set_default(graph: &mut Graph, index: usize, member: usize, value: super::value::Value) {
    if let Some(Node { kind: NodeKind::Struct(node), .. }) = graph.nodes.get_mut(index) {
        if let Some(member) = node.members.get_mut(member) {
            member.default = Some(value);
        }
    }
}
