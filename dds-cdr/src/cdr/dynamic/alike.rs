//! Whether two types are the same.

use super::graph::{Element, Kind, TypeView};
use std::collections::HashSet;

/// Goes through both, and takes a pair that comes up again, be it within itself, to be equal: what differs in it is found
/// where it came up first. `by_name`: names of types count, and aliases are types of their own.
pub(super) fn are_alike(one: TypeView<'_>, other: TypeView<'_>, by_name: bool) -> bool {
    let mut comparison = Comparison { by_name, seen: HashSet::new(), open: vec![(one.index, other.index)] };
    while let Some((a, b)) = comparison.open.pop() {
        if comparison.seen.insert((a, b)) && !comparison.is_node_alike(one.at(a), other.at(b)) {
            return false;
        }
    }
    true
}

struct Comparison {
    by_name: bool,
    seen: HashSet<(u32, u32)>,
    open: Vec<(u32, u32)>,
}

impl Comparison {
    /// Compares what two nodes are themselves. What they are made of is put off.
    fn is_node_alike(&mut self, one: TypeView<'_>, other: TypeView<'_>) -> bool {
        let (a, b) = match self.by_name {
            true if one.node().name != other.node().name => return false,
            true => (&one.node().kind, &other.node().kind),
            false => (one.kind(), other.kind()),
        };
        match (a, b) {
            (Kind::Primitive(a), Kind::Primitive(b)) => a == b,
            (Kind::String { bound: a }, Kind::String { bound: b })
            | (Kind::WString { bound: a }, Kind::WString { bound: b }) => a == b,
            (Kind::Sequence { bound: a, element: x }, Kind::Sequence { bound: b, element: y }) => {
                a == b && self.are_elements_alike(*x, *y)
            }
            (Kind::Array { length: a, element: x }, Kind::Array { length: b, element: y }) => {
                a == b && self.are_elements_alike(*x, *y)
            }
            (Kind::Map { bound: a, key: k, element: x }, Kind::Map { bound: b, key: l, element: y }) => {
                a == b && self.are_elements_alike(*k, *l) && self.are_elements_alike(*x, *y)
            }
            (Kind::Alias { of: a }, Kind::Alias { of: b }) => self.later(*a, *b),
            (Kind::Enum(a), Kind::Enum(b)) => {
                a.bit_bound == b.bit_bound && a.literals == b.literals && a.extensibility == b.extensibility
            }
            (Kind::Bitmask(a), Kind::Bitmask(b)) => {
                a.bit_bound == b.bit_bound && a.flags == b.flags && a.extensibility == b.extensibility
            }
            (Kind::Bitset(a), Kind::Bitset(b)) => a.fields == b.fields,
            (Kind::Struct(a), Kind::Struct(b)) => {
                let is_alike = a.extensibility == b.extensibility
                    && a.members.len() == b.members.len()
                    && (!self.by_name || a.base.is_some() == b.base.is_some());
                is_alike
                    && a.members.iter().zip(&b.members).all(|(a, b)| {
                        (&a.name, a.id, a.is_key, a.is_optional) == (&b.name, b.id, b.is_key, b.is_optional)
                            && (a.must_understand, a.try_construct) == (b.must_understand, b.try_construct)
                            && self.later(a.ty, b.ty)
                    })
            }
            (Kind::Union(a), Kind::Union(b)) => {
                let is_alike = (a.extensibility, a.has_key, a.try_construct)
                    == (b.extensibility, b.has_key, b.try_construct)
                    && a.cases.len() == b.cases.len();
                is_alike
                    && self.later(a.discriminator, b.discriminator)
                    && a.cases.iter().zip(&b.cases).all(|(a, b)| {
                        let is_alike = (&a.name, a.id, &a.labels) == (&b.name, b.id, &b.labels);
                        let are_types = match (a.ty, b.ty) {
                            (Some(a), Some(b)) => self.later(a, b),
                            (a, b) => a.is_none() && b.is_none(),
                        };
                        is_alike && a.is_default == b.is_default && are_types
                    })
            }
            _ => false,
        }
    }

    fn are_elements_alike(&mut self, one: Element, other: Element) -> bool {
        one.try_construct == other.try_construct && self.later(one.ty, other.ty)
    }

    fn later(&mut self, one: u32, other: u32) -> bool {
        self.open.push((one, other));
        true
    }
}
