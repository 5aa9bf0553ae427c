//! TypeObjects of local types, created from the descriptions of the derive (XTYPES 1.3, 7.3.4.8 and 7.3.4.9).
//!
//! Named types are the vertices of a graph. Types that contain each other share one hash. Any other type gets its hash
//! once the hashes of its dependencies are known.
//!
//! Where the standard leaves a choice, the bytes equal those of Cyclone DDS:
//! - The flags of the minimal description are not masked.
//! - Enums and bitmasks carry their extensibility.
//! - A key is `must_understand` only if it is declared so.
//! - The first literal of an enum is its default.

use super::definition::Definer;
use super::flags::MemberFlags;
use super::form::{Complete, Form, Minimal};
use super::identifier::{ComponentId, Equivalence, EquivalenceHash, TypeIdentifier};
use super::information::{TypeInformation, TypeWithDependencies, TypeWithSize};
use super::object::{TypeDefinition, TypeObject};
use crate::cdr::{ByteOrder, Encode, EncodeError, Encoder, Encoding, TypeDescription, TypeKind};
use std::fmt;
use std::ptr;
use std::sync::Arc;

/// A type with all its dependencies, in both descriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeGraph {
    information: Arc<TypeInformation>,
    types: Vec<GraphType>,
}

/// One of the types of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphType {
    /// The identifier of the minimal description.
    pub minimal_id: TypeIdentifier,
    /// The minimal description.
    pub minimal: TypeObject,
    /// The identifier of the complete description.
    pub complete_id: TypeIdentifier,
    /// The complete description.
    pub complete: TypeObject,
}

/// Why TypeObjects cannot describe a type. It is announced without type information, and its name decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Indescribable {
    /// The type is neither a struct nor a union.
    NoTopicType,
    /// A label of a union does not fit into 32 bits.
    Label(i64),
    /// A union has a default case, and another case without a member.
    ///
    /// Peers would apply the default case to the labels of the other one.
    EmptyCase(&'static str),
    /// The description is longer than `u32::MAX` bytes.
    TooLarge,
}

impl TypeGraph {
    /// Creates the graph of a type. This takes about ten microseconds for ten members, so keep the result.
    ///
    /// # Errors
    /// TypeObjects cannot describe the type.
    pub fn of(ty: &'static TypeDescription) -> Result<Self, Indescribable> {
        if !matches!(ty.kind(), TypeKind::Struct(_) | TypeKind::Union(_)) {
            return Err(Indescribable::NoTopicType);
        }
        let mut graph = Vertices::default();
        let root = graph.add(ty);
        let mut identifiers = Identifiers { graph: &graph, ids: vec![None; graph.types.len()] };
        let mut types: Vec<(usize, GraphType)> = Vec::with_capacity(graph.types.len());
        for component in components(&graph.edges) {
            identifiers.define(&component, &mut types)?;
        }
        // A stable sort: the root first, all others in the order of their definition.
        types.sort_by_key(|(vertex, _)| *vertex != root);
        Self::of_types(types.into_iter().map(|(_, ty)| ty).collect())
    }

    /// Creates a graph from descriptions: the type first, then all its dependencies.
    ///
    /// # Errors
    /// `types` is empty, or a type is too large.
    pub fn of_types(types: Vec<GraphType>) -> Result<Self, Indescribable> {
        let information = Arc::new(information(&types)?);
        Ok(Self { information, types })
    }

    /// The type information to announce.
    #[must_use]
    pub fn information(&self) -> &Arc<TypeInformation> {
        &self.information
    }

    /// All types, the outermost first.
    #[must_use]
    pub fn types(&self) -> &[GraphType] {
        &self.types
    }
}

/// The identifiers and sizes of the outermost type and of its dependencies.
fn information(types: &[GraphType]) -> Result<TypeInformation, Indescribable> {
    let (mut minimal, mut complete) = (Vec::with_capacity(types.len()), Vec::with_capacity(types.len()));
    for ty in types {
        minimal.push(with_size(&ty.minimal_id, &ty.minimal)?);
        complete.push(with_size(&ty.complete_id, &ty.complete)?);
    }
    let mut information = TypeInformation {
        minimal: TypeWithDependencies::of(minimal).ok_or(Indescribable::NoTopicType)?,
        complete: TypeWithDependencies::of(complete).ok_or(Indescribable::NoTopicType)?,
    };
    if information.to_bytes()?.len() > INFORMATION_MAX {
        // Discovery data must stay small. Peers can request the dependencies.
        information.minimal.dependencies.clear();
        information.complete.dependencies.clear();
    }
    Ok(information)
}

fn with_size(id: &TypeIdentifier, object: &TypeObject) -> Result<TypeWithSize, Indescribable> {
    let size = u32::try_from(object.to_bytes()?.len()).map_err(|_| Indescribable::TooLarge)?;
    Ok(TypeWithSize { id: id.clone(), size })
}

/// Most bytes of type information that lists all dependencies. Larger information lists none.
const INFORMATION_MAX: usize = 32 << 10;

/// A type and all named types that it contains.
#[derive(Default)]
struct Vertices {
    types: Vec<&'static TypeDescription>,
    /// For each type, the types that it contains.
    edges: Vec<Vec<usize>>,
}

impl Vertices {
    fn find(&self, ty: &TypeDescription) -> Option<usize> {
        for (vertex, known) in self.types.iter().enumerate() {
            // The compiler may duplicate a constant in memory, and different types may have the same name.
            if ptr::eq(*known, ty) || known.name() == ty.name() && known.is_encoded_like(ty) {
                return Some(vertex);
            }
        }
        None
    }

    fn add(&mut self, ty: &'static TypeDescription) -> usize {
        if let Some(known) = self.find(ty) {
            return known;
        }
        let vertex = self.types.len();
        self.types.push(ty);
        self.edges.push(Vec::new());
        let mut contained = Vec::new();
        match ty.kind() {
            TypeKind::Struct(description) => {
                contained.extend(description.base());
                contained.extend(description.own_members().iter().map(|member| member.ty()));
            }
            TypeKind::Union(description) => {
                contained.push(description.discriminator());
                contained.extend(description.cases().iter().filter_map(|case| case.ty()));
            }
            _ => {}
        }
        for ty in contained {
            self.connect(vertex, ty);
        }
        vertex
    }

    fn connect(&mut self, from: usize, ty: &'static TypeDescription) {
        match ty.kind() {
            TypeKind::Sequence { element, .. } | TypeKind::Array { element, .. } => self.connect(from, element()),
            TypeKind::Map { key, element, .. } => {
                self.connect(from, key());
                self.connect(from, element());
            }
            TypeKind::Struct(_)
            | TypeKind::Union(_)
            | TypeKind::Enum(_)
            | TypeKind::Bitmask(_)
            | TypeKind::Bitset(_) => {
                let to = self.add(ty);
                debug_assert!(from < self.edges.len(), "each vertex has a list of edges");
                if let Some(edges) = self.edges.get_mut(from) {
                    if !edges.contains(&to) {
                        edges.push(to);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The identifiers of the types of a graph, as far as they are known.
pub(super) struct Identifiers<'a> {
    graph: &'a Vertices,
    /// The minimal and the complete identifier of each vertex.
    ids: Vec<Option<[TypeIdentifier; 2]>>,
}

impl Identifiers<'_> {
    /// The identifier of a named type.
    pub(super) fn of<F: Form>(&self, ty: &TypeDescription) -> TypeIdentifier {
        let known = self.graph.find(ty).and_then(|vertex| self.ids.get(vertex)?.as_ref());
        debug_assert!(known.is_some(), "dependencies are defined before the types that contain them");
        known.map_or(TypeIdentifier::None, |[minimal, complete]| match F::EQUIVALENCE {
            Equivalence::Minimal => minimal.clone(),
            _ => complete.clone(),
        })
    }

    /// Defines the types of a component. Their dependencies outside of it have identifiers already.
    fn define(&mut self, component: &[usize], types: &mut Vec<(usize, GraphType)>) -> Result<(), Indescribable> {
        let mut members: Vec<(usize, &'static TypeDescription)> =
            component.iter().filter_map(|vertex| Some((*vertex, *self.graph.types.get(*vertex)?))).collect();
        // Types that contain each other are numbered in the order of their names (XTYPES 1.3, 7.3.4.9.3).
        members.sort_by_key(|(_, ty)| ty.name());
        let contains_itself =
            |vertex: &usize| self.graph.edges.get(*vertex).is_some_and(|edges| edges.contains(vertex));
        let is_recursive = members.len() > 1 || component.iter().any(contains_itself);
        if is_recursive {
            // The hash covers descriptions in which the hash itself is zero.
            let unknown = EquivalenceHash([0; 14]);
            self.number(&members, unknown, unknown);
            let minimal = self.hash_together::<Minimal>(&members)?;
            let complete = self.hash_together::<Complete>(&members)?;
            self.number(&members, minimal, complete);
        }
        for (vertex, ty) in members {
            let minimal = TypeObject::Minimal(self.definition(ty)?);
            let complete = TypeObject::Complete(self.definition(ty)?);
            // The identifiers of a recursive component are numbered above.
            if !is_recursive {
                if let Some(ids) = self.ids.get_mut(vertex) {
                    *ids = Some([minimal.identifier()?, complete.identifier()?]);
                }
            }
            let (minimal_id, complete_id) = (self.of::<Minimal>(ty), self.of::<Complete>(ty));
            types.push((vertex, GraphType { minimal_id, minimal, complete_id, complete }));
        }
        Ok(())
    }

    /// Sets the identifiers of the members of a component, numbered from 1.
    fn number(
        &mut self,
        members: &[(usize, &'static TypeDescription)],
        minimal: EquivalenceHash,
        complete: EquivalenceHash,
    ) {
        let length = i32::try_from(members.len()).unwrap_or(i32::MAX);
        for (index, (vertex, _)) in (1..).zip(members) {
            let id =
                |equivalence, hash| TypeIdentifier::StronglyConnected(ComponentId { equivalence, hash, length, index });
            if let Some(ids) = self.ids.get_mut(*vertex) {
                *ids = Some([id(Equivalence::Minimal, minimal), id(Equivalence::Complete, complete)]);
            }
        }
    }

    fn hash_together<F: Form>(
        &self,
        members: &[(usize, &'static TypeDescription)],
    ) -> Result<EquivalenceHash, Indescribable> {
        let mut objects = Vec::with_capacity(members.len());
        for (_, ty) in members {
            objects.push(F::object(self.definition(ty)?));
        }
        Ok(hash_of_component(&objects)?)
    }

    fn definition<F: Form>(&self, ty: &'static TypeDescription) -> Result<TypeDefinition<F>, Indescribable> {
        Definer { identifiers: self }.definition(ty)
    }
}

/// The hash of types that contain each other. In their descriptions the hash itself must be zero.
///
/// # Errors
/// The encoding is longer than `u32::MAX` bytes.
pub(super) fn hash_of_component(objects: &Vec<TypeObject>) -> Result<EquivalenceHash, EncodeError> {
    let mut bytes = Vec::new();
    objects.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Little))?;
    Ok(EquivalenceHash::of(&bytes))
}

/// The strongly connected components of a graph, each after the components that it leads to (Tarjan).
fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    struct Search<'a> {
        edges: &'a [Vec<usize>],
        /// For each visited vertex, the position in the order of visits.
        visited: Vec<Option<usize>>,
        /// Vertices whose component is not complete yet, in the order of visits.
        open: Vec<usize>,
        count: usize,
        found: Vec<Vec<usize>>,
    }

    impl Search<'_> {
        /// Visits a vertex, and returns the earliest open vertex that it leads back to.
        fn visit(&mut self, vertex: usize) -> usize {
            let position = self.count;
            self.count += 1;
            self.open.push(vertex);
            if let Some(visited) = self.visited.get_mut(vertex) {
                *visited = Some(position);
            }
            let edges: &[Vec<usize>] = self.edges;
            let mut earliest = position;
            for to in edges.get(vertex).map_or(&[][..], Vec::as_slice) {
                let leads_to = match self.visited.get(*to).copied().flatten() {
                    None => self.visit(*to),
                    Some(visited) if self.open.contains(to) => visited,
                    // The component of that vertex is complete: it does not lead back.
                    Some(_) => continue,
                };
                earliest = earliest.min(leads_to);
            }
            if earliest == position {
                let first = self.open.iter().rposition(|open| *open == vertex);
                debug_assert!(first.is_some(), "a vertex stays open until its component is complete");
                let component = self.open.split_off(first.unwrap_or(self.open.len()));
                self.found.push(component);
            }
            earliest
        }
    }

    let mut search = Search { edges, visited: vec![None; edges.len()], open: Vec::new(), count: 0, found: Vec::new() };
    for vertex in 0..edges.len() {
        if search.visited.get(vertex).is_some_and(Option::is_none) {
            search.visit(vertex);
        }
    }
    search.found
}

impl From<EncodeError> for Indescribable {
    fn from(_: EncodeError) -> Self {
        Self::TooLarge
    }
}

impl fmt::Display for Indescribable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTopicType => f.write_str("the type of a topic must be a struct or a union"),
            Self::Label(label) => write!(f, "the union label {label} does not fit into 32 bits"),
            Self::EmptyCase(name) => {
                write!(f, "the case {name} has no member although another case is the default: give it a member")
            }
            Self::TooLarge => f.write_str("the description of the type is longer than 4 GiB"),
        }
    }
}

impl std::error::Error for Indescribable {}

/// The flags of elements: how values that the type cannot hold are handled.
pub(super) fn element_flags(element: &TypeDescription) -> MemberFlags {
    MemberFlags::of_try_construct(element.on_construct_failure())
}
