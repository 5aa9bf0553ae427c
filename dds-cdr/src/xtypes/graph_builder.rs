//! Hashes types that refer to each other (XTYPES 1.3, 7.3.4.8 and 7.3.4.9).
//!
//! Named types are the vertices of a graph. Types that contain each other share one hash. Any other type gets its hash
//! once the hashes of its dependencies are known. No function recurses along the references of types, so their depth
//! needs no limit here.

use super::form::{Complete, Form, Minimal};
use super::graph::{GraphType, Indescribable, TypeGraph, hash_of_component};
use super::identifier::{ComponentId, Equivalence, EquivalenceHash, TypeIdentifier};
use super::object::{CompleteTypeObject, TypeDefinition, TypeObject};
use std::collections::BTreeSet;

/// Descriptions of types that refer to each other, before their hashes are known.
///
/// ```
/// use dds_cdr::xtypes::{Complete, Form, StructType, TypeDefinition, TypeFlags, TypeGraphBuilder, TypeIdentifier};
///
/// let mut builder = TypeGraphBuilder::default();
/// let empty = builder.reserve();
/// builder.define(&empty, TypeDefinition::Struct(StructType {
///     flags: TypeFlags::FINAL,
///     base: TypeIdentifier::None,
///     detail: Complete::of_type("Empty"),
///     members: Vec::new(),
/// }));
/// let graph = builder.build(&empty)?;
/// assert!(matches!(graph.types()[0].complete_id, TypeIdentifier::Complete(_)));
/// # Ok::<(), dds_cdr::xtypes::Indescribable>(())
/// ```
#[derive(Debug, Default)]
pub struct TypeGraphBuilder {
    types: Vec<Option<CompleteTypeObject>>,
}

impl TypeGraphBuilder {
    /// Reserves a type, and returns its provisional identifier.
    ///
    /// Descriptions of other types may contain it before the type is defined.
    pub fn reserve(&mut self) -> TypeIdentifier {
        let number = u32::try_from(self.types.len()).unwrap_or(u32::MAX);
        self.types.push(None);
        provisional(number)
    }

    /// Sets the description of a reserved type.
    pub fn define(&mut self, id: &TypeIdentifier, definition: CompleteTypeObject) {
        let slot = number_of(id).and_then(|number| self.types.get_mut(number));
        debug_assert!(slot.is_some(), "the identifier is that of a reserved type");
        if let Some(slot) = slot {
            *slot = Some(definition);
        }
    }

    /// Returns the graph of a type with all its dependencies. Types that it does not refer to are left out.
    ///
    /// # Errors
    /// [`Indescribable::Undefined`] if a reserved type was not defined, [`Indescribable::TooLarge`] for more than
    /// `u32::MAX` bytes.
    pub fn build(self, root: &TypeIdentifier) -> Result<TypeGraph, Indescribable> {
        let root = match number_of(root) {
            Some(root) if root < self.types.len() => root,
            _ => return Err(Indescribable::Undefined),
        };
        let mut edges = Vec::with_capacity(self.types.len());
        // For each type the last one that refers to it, so that no edge is listed twice.
        let mut last: Vec<Option<usize>> = vec![None; self.types.len()];
        for (from, definition) in self.types.iter().enumerate() {
            let mut to = Vec::new();
            if let Some(definition) = definition {
                definition.for_each_hash(&mut |id| {
                    let Some(number) = number_of(id) else { return };
                    if let Some(last) = last.get_mut(number) {
                        if last.replace(from) != Some(from) {
                            to.push(number);
                        }
                    }
                });
            }
            edges.push(to);
        }
        let mut hashing = Hashing { types: &self.types, ids: vec![None; self.types.len()] };
        let mut types = Vec::with_capacity(self.types.len());
        // Dependencies first: the hash of a type covers the hashes of its parts.
        for component in components(&edges, root) {
            let refers_to_itself = |vertex: &usize| edges.get(*vertex).is_some_and(|to| to.contains(vertex));
            let is_recursive = component.len() > 1 || component.iter().any(refers_to_itself);
            hashing.define(component, is_recursive, &mut types)?;
        }
        // A stable sort: the root first, all others in the order of their definition.
        types.sort_by_key(|(vertex, _)| *vertex != root);
        // Equal types have equal hashes: a program may contain two descriptions of one type.
        let mut seen = BTreeSet::new();
        types.retain(|(_, ty)| seen.insert(ty.complete_id.clone()));
        let (_, types): (Vec<usize>, Vec<GraphType>) = types.into_iter().unzip();
        TypeGraph::of_types(types)
    }
}

/// The bytes of provisional identifiers behind their number. A hash of a type has them by a chance of 2⁻⁸⁰.
const PROVISIONAL: [u8; 10] = *b"unfinished";

fn provisional(number: u32) -> TypeIdentifier {
    let mut hash = [0; 14];
    for (to, from) in hash.iter_mut().zip(number.to_le_bytes().into_iter().chain(PROVISIONAL)) {
        *to = from;
    }
    TypeIdentifier::Complete(EquivalenceHash(hash))
}

fn number_of(id: &TypeIdentifier) -> Option<usize> {
    match id {
        TypeIdentifier::Complete(EquivalenceHash([a, b, c, d, rest @ ..])) if *rest == PROVISIONAL => {
            usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).ok()
        }
        _ => None,
    }
}

/// The identifiers of the types, as far as they are known.
struct Hashing<'a> {
    types: &'a [Option<CompleteTypeObject>],
    /// The minimal and the complete identifier of each type.
    ids: Vec<Option<[TypeIdentifier; 2]>>,
}

impl Hashing<'_> {
    /// Defines the types of a component. Their dependencies outside of it have identifiers already.
    fn define(
        &mut self,
        component: Vec<usize>,
        is_recursive: bool,
        types: &mut Vec<(usize, GraphType)>,
    ) -> Result<(), Indescribable> {
        let all = self.types;
        let mut members = Vec::with_capacity(component.len());
        for vertex in component {
            let definition = all.get(vertex).and_then(Option::as_ref).ok_or(Indescribable::Undefined)?;
            members.push((vertex, definition, definition.minimal()));
        }
        // Types that contain each other are numbered in the order of their names (XTYPES 1.3, 7.3.4.9.3).
        members.sort_by_key(|(_, definition, _)| definition.name());
        if is_recursive {
            // The hash covers descriptions in which the hash itself is zero.
            let unknown = EquivalenceHash([0; 14]);
            self.number(&members, unknown, unknown);
            let (mut minimals, mut completes) = (Vec::new(), Vec::new());
            for (_, complete, minimal) in &members {
                minimals.push(self.object(minimal));
                completes.push(self.object(*complete));
            }
            self.number(&members, hash_of_component(&minimals)?, hash_of_component(&completes)?);
        }
        for (vertex, complete, minimal) in members {
            let (minimal, complete) = (self.object(&minimal), self.object(complete));
            let ids = match self.ids.get(vertex) {
                // A member of a cycle was numbered above.
                Some(Some(known)) => known.clone(),
                // All types that it refers to have identifiers by now, so the hash is final.
                _ => [minimal.identifier()?, complete.identifier()?],
            };
            if let Some(slot) = self.ids.get_mut(vertex) {
                *slot = Some(ids.clone());
            }
            let [minimal_id, complete_id] = ids;
            types.push((vertex, GraphType { minimal_id, minimal, complete_id, complete }));
        }
        Ok(())
    }

    /// Sets the identifiers of the members of a component, numbered from 1.
    fn number(
        &mut self,
        members: &[(usize, &CompleteTypeObject, TypeDefinition<Minimal>)],
        minimal: EquivalenceHash,
        complete: EquivalenceHash,
    ) {
        let length = i32::try_from(members.len()).unwrap_or(i32::MAX);
        for (index, (vertex, ..)) in (1..).zip(members) {
            let id =
                |equivalence, hash| TypeIdentifier::StronglyConnected(ComponentId { equivalence, hash, length, index });
            if let Some(ids) = self.ids.get_mut(*vertex) {
                *ids = Some([id(Equivalence::Minimal, minimal), id(Equivalence::Complete, complete)]);
            }
        }
    }

    /// The TypeObject of a description, with the identifiers that are known now.
    fn object<F: Form>(&self, definition: &TypeDefinition<F>) -> TypeObject {
        let mut definition = definition.clone();
        definition.replace_hashes(&mut |id| {
            let Some(number) = number_of(id) else { return };
            let known = self.ids.get(number).and_then(Option::as_ref);
            debug_assert!(known.is_some(), "dependencies are defined before the types that contain them");
            if let Some([minimal, complete]) = known {
                // A complete description refers to complete ones, a minimal one to minimal ones.
                *id = if F::EQUIVALENCE == Complete::EQUIVALENCE { complete.clone() } else { minimal.clone() };
            }
        });
        F::object(definition)
    }
}

/// A vertex on the path of a search.
struct Visit {
    vertex: usize,
    /// The number of edges that the search has followed.
    followed: usize,
    /// The earliest open vertex that this one leads back to, in the order of visits.
    earliest: usize,
}

/// The strongly connected components that a vertex leads to, each after the components that it leads to (Tarjan).
fn components(edges: &[Vec<usize>], root: usize) -> Vec<Vec<usize>> {
    let (mut found, mut open, mut path) = (Vec::new(), Vec::new(), Vec::new());
    // For each visited vertex its place in the order of visits. In `is_open`: its component is not complete yet.
    let (mut places, mut is_open): (Vec<Option<usize>>, _) = (vec![None; edges.len()], vec![false; edges.len()]);
    let mut count = 0;
    let mut next = Some(root);
    loop {
        if let Some(vertex) = next.take() {
            path.push(Visit { vertex, followed: 0, earliest: count });
            open.push(vertex);
            if let (Some(place), Some(is_open)) = (places.get_mut(vertex), is_open.get_mut(vertex)) {
                (*place, *is_open) = (Some(count), true);
            }
            count += 1;
        }
        let Some(visit) = path.last_mut() else { return found };
        if let Some(to) = edges.get(visit.vertex).and_then(|to| to.get(visit.followed)) {
            visit.followed += 1;
            match places.get(*to).copied().flatten() {
                None if *to < edges.len() => next = Some(*to),
                Some(place) if is_open.get(*to).copied().unwrap_or_default() => {
                    // Tarjan's algorithm, with a list instead of recursion: the depth of a type is not limited here.
                    visit.earliest = visit.earliest.min(place);
                }
                // The component of that vertex is complete: it does not lead back.
                _ => {}
            }
            continue;
        }
        let Some(Visit { vertex, earliest, .. }) = path.pop() else { return found };
        if let Some(outer) = path.last_mut() {
            outer.earliest = outer.earliest.min(earliest);
        }
        if places.get(vertex).copied().flatten() == Some(earliest) {
            let first = open.iter().rposition(|open| *open == vertex).unwrap_or(open.len());
            // No edge leads further back, so all vertices since this one belong together.
            let component = open.split_off(first);
            for member in &component {
                if let Some(is_open) = is_open.get_mut(*member) {
                    *is_open = false;
                }
            }
            found.push(component);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MemberFlags, PlainElement, StructMember, StructType, TypeFlags};
    use super::*;

    /// A struct whose members have these types.
    fn structure(name: &str, members: Vec<TypeIdentifier>) -> CompleteTypeObject {
        let mut own = Vec::new();
        for (id, ty) in (0..).zip(members) {
            own.push(StructMember { id, flags: MemberFlags(1), ty, detail: Complete::of_member(&format!("m{id}")) });
        }
        TypeDefinition::Struct(StructType {
            flags: TypeFlags::APPENDABLE,
            base: TypeIdentifier::None,
            detail: Complete::of_type(name),
            members: own,
        })
    }

    #[test]
    fn components_come_after_their_dependencies() {
        let edges = [vec![1, 2], vec![3], vec![1, 4], vec![1], vec![], vec![0]];
        assert_eq!(components(&edges, 0), [vec![1, 3], vec![4], vec![2], vec![0]]);
    }

    #[test]
    fn long_chain_of_types_needs_no_stack() {
        let mut builder = TypeGraphBuilder::default();
        let ids: Vec<TypeIdentifier> = (0..20_000).map(|_| builder.reserve()).collect();
        for (index, id) in ids.iter().enumerate() {
            let next = ids.get(index + 1).cloned();
            builder.define(id, structure("T", next.into_iter().collect()));
        }
        assert_eq!(builder.build(&ids[0]).unwrap().types().len(), 20_000);
    }

    #[test]
    fn types_that_contain_each_other_share_a_hash() {
        let mut builder = TypeGraphBuilder::default();
        let (one, other, unused) = (builder.reserve(), builder.reserve(), builder.reserve());
        let many = |id: &TypeIdentifier| TypeIdentifier::Sequence {
            bound: 0,
            element: Box::new(PlainElement::new(MemberFlags(1), id.clone())),
        };
        builder.define(&one, structure("B", vec![many(&other)]));
        builder.define(&other, structure("A", vec![many(&one)]));
        builder.define(&unused, structure("C", Vec::new()));
        let graph = builder.build(&one).unwrap();
        let indices: Vec<i32> = graph
            .types()
            .iter()
            .map(|ty| match ty.minimal_id {
                TypeIdentifier::StronglyConnected(component) => component.index,
                _ => 0,
            })
            .collect();
        assert_eq!(indices, [2, 1]);
        let TypeObject::Minimal(TypeDefinition::Struct(ty)) = &graph.types()[0].minimal else { panic!("a struct") };
        let TypeIdentifier::Sequence { element, .. } = &ty.members[0].ty else { panic!("a sequence") };
        assert_eq!(element.equivalence, Equivalence::Minimal);
    }

    #[test]
    fn reserved_type_without_definition_is_refused() {
        let mut builder = TypeGraphBuilder::default();
        let (one, other) = (builder.reserve(), builder.reserve());
        builder.define(&one, structure("A", vec![other]));
        assert_eq!(builder.build(&one), Err(Indescribable::Undefined));
        assert_eq!(TypeGraphBuilder::default().build(&one), Err(Indescribable::Undefined));
    }
}
