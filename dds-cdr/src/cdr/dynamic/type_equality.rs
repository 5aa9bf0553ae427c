//! Equality of two types.

use super::graph::{Element, NodeKind, TypeView};
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
                a.bit_bound == b.bit_bound && a.literals == b.literals && a.extensibility == b.extensibility
            }
            (NodeKind::Bitmask(a), NodeKind::Bitmask(b)) => {
                a.bit_bound == b.bit_bound && a.flags == b.flags && a.extensibility == b.extensibility
            }
            (NodeKind::Bitset(a), NodeKind::Bitset(b)) => a.fields == b.fields,
            (NodeKind::Struct(a), NodeKind::Struct(b)) => {
                let is_equal = a.extensibility == b.extensibility
                    && a.members.len() == b.members.len()
                    && (!self.by_name || a.base.is_some() == b.base.is_some());
                is_equal
                    && a.members.iter().zip(&b.members).all(|(a, b)| {
                        (&a.name, a.id, a.is_key, a.is_optional) == (&b.name, b.id, b.is_key, b.is_optional)
                            && (a.must_understand, a.try_construct) == (b.must_understand, b.try_construct)
                            && self.later(a.ty, b.ty)
                    })
            }
            (NodeKind::Union(a), NodeKind::Union(b)) => {
                let is_equal = (a.extensibility, a.has_key, a.try_construct)
                    == (b.extensibility, b.has_key, b.try_construct)
                    && a.cases.len() == b.cases.len();
                is_equal
                    && self.later(a.discriminator, b.discriminator)
                    && a.cases.iter().zip(&b.cases).all(|(a, b)| {
                        let is_equal = (&a.name, a.id, &a.labels) == (&b.name, b.id, &b.labels);
                        let are_types = match (a.ty, b.ty) {
                            (Some(a), Some(b)) => self.later(a, b),
                            (a, b) => a.is_none() && b.is_none(),
                        };
                        is_equal && a.is_default == b.is_default && are_types
                    })
            }
            _ => false,
        }
    }

    fn are_elements_equal(&mut self, one: Element, other: Element) -> bool {
        one.try_construct == other.try_construct && self.later(one.ty, other.ty)
    }

    fn later(&mut self, one: u32, other: u32) -> bool {
        self.open.push((one, other));
        true
    }
}
