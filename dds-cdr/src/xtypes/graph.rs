//! TypeObjects of our own types, made of what the derive knows of them (XTYPES 1.3, 7.3.4.8 and 7.3.4.9).
//!
//! Types with names are the vertices of a graph. Those that contain each other get their hash together; all others get theirs
//! when those of what they contain are known.
//!
//! Where the standard leaves room, the bytes are those of Cyclone DDS: the flags of the minimal description are not masked, enums
//! and bitmasks say how they may grow, keys do not count as `must_understand` unless they say so, and the first literal of an
//! enum is its default.

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

/// A type with all that it is made of, in both descriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeGraph {
    information: Arc<TypeInformation>,
    types: Vec<GraphType>,
}

/// One of the types of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphType {
    /// Its name by its minimal description.
    pub minimal_id: TypeIdentifier,
    /// The minimal description.
    pub minimal: TypeObject,
    /// Its name by its complete description.
    pub complete_id: TypeIdentifier,
    /// The complete description.
    pub complete: TypeObject,
}

/// A type that TypeObjects cannot describe. It is announced without type information: its name decides then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Indescribable {
    /// It is no struct and no union.
    NoTopicType,
    /// A label of a union does not fit into 32 bits.
    Label(i64),
    /// A union has a default case, and another one without a member: to others, the default case would have its labels.
    EmptyCase(&'static str),
    /// Its description would be longer than 32 bits can say.
    TooLarge,
}

impl TypeGraph {
    /// The graph of a type. It takes some ten microseconds for a type of ten members, so keep it.
    ///
    /// # Errors
    /// TypeObjects cannot describe the type.
    pub fn of(ty: &'static TypeDescription) -> Result<Self, Indescribable> {
        if !matches!(ty.kind(), TypeKind::Struct(_) | TypeKind::Union(_)) {
            return Err(Indescribable::NoTopicType);
        }
        let mut graph = Vertices::default();
        let root = graph.add(ty);
        let mut names = Names { graph: &graph, ids: vec![None; graph.types.len()] };
        let mut types: Vec<(usize, GraphType)> = Vec::with_capacity(graph.types.len());
        for component in components(&graph.edges) {
            names.define(&component, &mut types)?;
        }
        let (dependencies, own): (Vec<_>, Vec<_>) = types.into_iter().partition(|(vertex, _)| *vertex != root);
        let types: Vec<GraphType> = own.into_iter().chain(dependencies).map(|(_, ty)| ty).collect();
        Self::of_types(types)
    }

    /// The graph of a type that was made elsewhere: itself first, then all that it is made of.
    ///
    /// # Errors
    /// There is no type, or one is too large.
    pub fn of_types(types: Vec<GraphType>) -> Result<Self, Indescribable> {
        let information = Arc::new(information(&types)?);
        Ok(Self { information, types })
    }

    /// What is announced of the type.
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

/// The names of the outermost type and of the others.
fn information(types: &[GraphType]) -> Result<TypeInformation, Indescribable> {
    let with_size = |id: &TypeIdentifier, object: &TypeObject| {
        let size = u32::try_from(object.to_bytes()?.len()).map_err(|_| Indescribable::TooLarge)?;
        Ok(TypeWithSize { id: id.clone(), size })
    };
    let minimal =
        types.iter().map(|ty| with_size(&ty.minimal_id, &ty.minimal)).collect::<Result<_, Indescribable>>()?;
    let complete =
        types.iter().map(|ty| with_size(&ty.complete_id, &ty.complete)).collect::<Result<_, Indescribable>>()?;
    let described = |list| TypeWithDependencies::of(list).ok_or(Indescribable::NoTopicType);
    let mut information = TypeInformation { minimal: described(minimal)?, complete: described(complete)? };
    if information.to_bytes()?.len() > INFORMATION_MAX {
        information.minimal.dependencies.clear();
        information.complete.dependencies.clear();
    }
    Ok(information)
}

/// Bytes of type information that are announced with the names of all dependencies; others can ask for them.
const INFORMATION_MAX: usize = 32 << 10;

/// The types with names that a type is made of, itself included.
#[derive(Default)]
struct Vertices {
    types: Vec<&'static TypeDescription>,
    /// What each of them contains.
    edges: Vec<Vec<usize>>,
}

impl Vertices {
    fn find(&self, ty: &TypeDescription) -> Option<usize> {
        // A constant may lie in memory several times, and different types may have one name.
        let is_same = |known: &&'static TypeDescription| {
            ptr::eq(*known, ty) || known.name() == ty.name() && known.is_encoded_like(ty)
        };
        self.types.iter().position(is_same)
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
                if let Some(edges) = self.edges.get_mut(from).filter(|edges| !edges.contains(&to)) {
                    edges.push(to);
                }
            }
            _ => {}
        }
    }
}

/// What types are called, as far as that is known.
pub(super) struct Names<'a> {
    graph: &'a Vertices,
    ids: Vec<Option<[TypeIdentifier; 2]>>,
}

impl Names<'_> {
    /// The name of a type with a name.
    pub(super) fn of<F: Form>(&self, ty: &TypeDescription) -> TypeIdentifier {
        let known = self.graph.find(ty).and_then(|vertex| self.ids.get(vertex)?.as_ref());
        known.map_or(TypeIdentifier::None, |[minimal, complete]| match F::EQUIVALENCE {
            Equivalence::Minimal => minimal.clone(),
            _ => complete.clone(),
        })
    }

    /// Names the types of a component, whose dependencies have names.
    fn define(&mut self, component: &[usize], types: &mut Vec<(usize, GraphType)>) -> Result<(), Indescribable> {
        let mut members: Vec<(usize, &'static TypeDescription)> =
            component.iter().filter_map(|vertex| Some((*vertex, *self.graph.types.get(*vertex)?))).collect();
        // Those that contain each other are numbered in the order of their names (XTYPES 1.3, 7.3.4.9.3).
        members.sort_by_key(|(_, ty)| ty.name());
        let contains_itself =
            |vertex: &usize| self.graph.edges.get(*vertex).is_some_and(|edges| edges.contains(vertex));
        let is_recursive = members.len() > 1 || component.iter().any(contains_itself);
        if is_recursive {
            let unknown = EquivalenceHash([0; 14]);
            self.number(&members, unknown, unknown);
            let minimal = self.hash_together::<Minimal>(&members)?;
            let complete = self.hash_together::<Complete>(&members)?;
            self.number(&members, minimal, complete);
        }
        for (vertex, ty) in members {
            let minimal = TypeObject::Minimal(self.definition(ty)?);
            let complete = TypeObject::Complete(self.definition(ty)?);
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
        let objects = members.iter().map(|(_, ty)| Ok(F::object(self.definition(ty)?)));
        Ok(hash_of_component(&objects.collect::<Result<Vec<_>, Indescribable>>()?)?)
    }

    fn definition<F: Form>(&self, ty: &'static TypeDescription) -> Result<TypeDefinition<F>, Indescribable> {
        Definer { names: self }.definition(ty)
    }
}

/// The hash of types that contain each other, in whose descriptions the hash itself is zero.
///
/// # Errors
/// They are longer than 32 bits can say.
pub(super) fn hash_of_component(objects: &Vec<TypeObject>) -> Result<EquivalenceHash, EncodeError> {
    let mut bytes = Vec::new();
    objects.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Little))?;
    Ok(EquivalenceHash::of(&bytes))
}

/// The strongly connected components of a graph, each behind those that it leads to (Tarjan).
fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    struct Search<'a> {
        edges: &'a [Vec<usize>],
        /// When each vertex was reached, and the earliest one that it leads back to.
        reached: Vec<Option<(usize, usize)>>,
        open: Vec<usize>,
        count: usize,
        found: Vec<Vec<usize>>,
    }

    impl Search<'_> {
        fn visit(&mut self, vertex: usize) -> usize {
            let at = self.count;
            self.count += 1;
            self.open.push(vertex);
            self.set(vertex, (at, at));
            let mut earliest = at;
            for to in self.edges.get(vertex).into_iter().flatten() {
                earliest = earliest.min(match self.reached.get(*to).copied().flatten() {
                    None => self.visit(*to),
                    Some((reached, _)) if self.open.contains(to) => reached,
                    Some(_) => earliest,
                });
            }
            self.set(vertex, (at, earliest));
            if earliest == at {
                let first = self.open.iter().rposition(|open| *open == vertex).unwrap_or(self.open.len());
                let component = self.open.split_off(first);
                self.found.push(component);
            }
            earliest
        }

        fn set(&mut self, vertex: usize, reached: (usize, usize)) {
            if let Some(place) = self.reached.get_mut(vertex) {
                *place = Some(reached);
            }
        }
    }

    let mut search = Search { edges, reached: vec![None; edges.len()], open: Vec::new(), count: 0, found: Vec::new() };
    for vertex in 0..edges.len() {
        if search.reached.get(vertex).is_some_and(Option::is_none) {
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
            Self::NoTopicType => f.write_str("only structs and unions are types of topics"),
            Self::Label(label) => write!(f, "the label {label} of a union does not fit into 32 bits"),
            Self::EmptyCase(name) => {
                write!(f, "the case {name} has no member, and another one is the default: give it a member")
            }
            Self::TooLarge => f.write_str("the description of the type is longer than 32 bits can say"),
        }
    }
}

impl std::error::Error for Indescribable {}

/// What becomes of elements that cannot be held.
pub(super) fn element_flags(element: &TypeDescription) -> MemberFlags {
    MemberFlags::of_try_construct(element.on_construct_failure())
}
