//! Equality of two types.

use super::graph::{Element, LiteralNode, NodeKind, StructNode, TypeView, UnionNode};
use std::collections::HashSet;

/// Compares two types node by node.
///
/// A repeated pair counts as equal, since its first comparison finds any difference; types may contain themselves.
/// With `by_name`, names of types must be equal and aliases are not resolved.
pub(super) fn are_equal(one: TypeView<'_>, other: TypeView<'_>, by_name: bool) -> bool {
    let mut comparison = TypeComparison { by_name, seen: HashSet::new(), open: vec![(one.index, other.index)] };
    while let Some((a, b)) = comparison.open.pop() {
        // A pair that was seen before is not compared again, so that recursive types end.
        if comparison.seen.insert((a, b)) && !comparison.is_node_equal(one.at(a), other.at(b)) {
            return false;
        }
    }
    true
}

/// The literals in the order of a TypeObject, which need not be that of the definition.
fn by_value(literals: &[LiteralNode]) -> Vec<&LiteralNode> {
    let mut sorted: Vec<&LiteralNode> = literals.iter().collect();
    // The order of definition of literals has no effect, in the encoding and in the TypeObject.
    sorted.sort_by_key(|literal| literal.value);
    sorted
}

struct TypeComparison {
    by_name: bool,
    seen: HashSet<(u32, u32)>,
    open: Vec<(u32, u32)>,
}

impl TypeComparison {
    /// Compares two nodes without their parts. The pairs of parts are queued.
    fn is_node_equal(&mut self, one: TypeView<'_>, other: TypeView<'_>) -> bool {
        if self.by_name && one.node().name != other.node().name {
            return false;
        }
        // An alias has the encoding of its target, but is a type of its own by name.
        let (a, b) = if self.by_name { (&one.node().kind, &other.node().kind) } else { (one.kind(), other.kind()) };
        match (a, b) {
            (NodeKind::Primitive(a), NodeKind::Primitive(b)) => a == b,
            (NodeKind::String { bound: a }, NodeKind::String { bound: b })
            | (NodeKind::WString { bound: a }, NodeKind::WString { bound: b }) => a == b,
            (NodeKind::Sequence { bound: a, element: x }, NodeKind::Sequence { bound: b, element: y }) => {
                a == b && self.are_elements_equal(*x, *y)
            }
            (NodeKind::Array { length: a, element: x }, NodeKind::Array { length: b, element: y }) => {
                a == b && self.are_elements_equal(*x, *y)
            }
            (NodeKind::Map { bound: a, key: k, element: x }, NodeKind::Map { bound: b, key: l, element: y }) => {
                a == b && self.are_elements_equal(*k, *l) && self.are_elements_equal(*x, *y)
            }
            (NodeKind::Alias { of: a }, NodeKind::Alias { of: b }) => self.later(*a, *b),
            (NodeKind::Enum(a), NodeKind::Enum(b)) => {
                a.bit_bound == b.bit_bound
                    && by_value(&a.literals) == by_value(&b.literals)
                    && a.extensibility == b.extensibility
            }
            (NodeKind::Bitmask(a), NodeKind::Bitmask(b)) => {
                a.bit_bound == b.bit_bound && a.flags == b.flags && a.extensibility == b.extensibility
            }
            (NodeKind::Bitset(a), NodeKind::Bitset(b)) => a.fields == b.fields,
            (NodeKind::Struct(a), NodeKind::Struct(b)) => self.are_structs_equal(a, b),
            (NodeKind::Union(a), NodeKind::Union(b)) => self.are_unions_equal(a, b),
            _ => false,
        }
    }

    fn are_structs_equal(&mut self, one: &StructNode, other: &StructNode) -> bool {
        let is_head_equal = one.extensibility == other.extensibility
            && one.members.len() == other.members.len()
            && (!self.by_name || one.base.is_some() == other.base.is_some());
        if !is_head_equal {
            return false;
        }
        for (a, b) in one.members.iter().zip(&other.members) {
            let is_equal = (&a.name, a.id, a.is_key, a.is_optional) == (&b.name, b.id, b.is_key, b.is_optional)
                && (a.must_understand, a.try_construct) == (b.must_understand, b.try_construct);
            if !is_equal {
                return false;
            }
            self.later(a.ty, b.ty);
        }
        true
    }

    fn are_unions_equal(&mut self, one: &UnionNode, other: &UnionNode) -> bool {
        let is_head_equal = (one.extensibility, one.has_key, one.try_construct)
            == (other.extensibility, other.has_key, other.try_construct)
            && one.cases.len() == other.cases.len();
        if !is_head_equal {
            return false;
        }
        self.later(one.discriminator, other.discriminator);
        for (a, b) in one.cases.iter().zip(&other.cases) {
            if (&a.name, a.id, &a.labels, a.is_default) != (&b.name, b.id, &b.labels, b.is_default) {
                return false;
            }
            match (a.ty, b.ty) {
                (Some(a), Some(b)) => self.later(a, b),
                (None, None) => true,
                _ => return false,
            };
        }
        true
    }

    fn are_elements_equal(&mut self, one: Element, other: Element) -> bool {
        one.try_construct == other.try_construct && self.later(one.ty, other.ty)
    }

    /// Queues a pair for comparison. Returns `true`: the pair counts as equal until it is compared.
    fn later(&mut self, one: u32, other: u32) -> bool {
        // Compared later, by the loop above, so that deep types need no deep stack.
        self.open.push((one, other));
        true
    }
}
