//! The known types: local ones, and types that peers have described.
//!
//! Life cycle: a local type is added with its first endpoint and stays. The type of a peer arrives in a reply to a
//! request, and leaves with the participant that sent it. The resulting match or mismatch stays.
//!
//! Bound, in serialized bytes: [`OTHERS_BYTES_MAX`] for all peers, [`PARTICIPANT_BYTES_MAX`] for one participant.
//! A type occupies about ten times as much memory. Beyond the bound types count as unknown, and type names decide.

use super::assignable::TypeSource;
use super::form::NameHash;
use super::graph::{GraphType, TypeGraph, hash_of_component};
use super::identifier::{ComponentId, EquivalenceHash, TypeIdentifier};
use super::object::{TypeDefinition, TypeObject};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most bytes of serialized types that are stored for all peers.
pub const OTHERS_BYTES_MAX: usize = 8 << 20;
/// Most bytes of serialized types that are stored for one participant.
pub const PARTICIPANT_BYTES_MAX: usize = 1 << 20;

/// GUID prefix of the participant that sent a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub [u8; 12]);

/// All known types.
#[derive(Debug, Default)]
pub struct TypeStore {
    own: BTreeMap<TypeIdentifier, Arc<TypeObject>>,
    /// Member names of local types. Minimal TypeObjects of peers contain only their hashes.
    names: BTreeMap<NameHash, String>,
    /// The minimal identifiers of local types, by their complete identifiers.
    minimal_of: BTreeMap<TypeIdentifier, TypeIdentifier>,
    others: BTreeMap<TypeIdentifier, Described>,
    bytes_by_owner: BTreeMap<SourceId, usize>,
}

/// A type that a peer has described.
#[derive(Debug)]
struct Described {
    object: Arc<TypeObject>,
    owner: SourceId,
}

/// Why a description was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeObjectRefused {
    /// The description does not match its hash.
    WrongHash,
    /// The limit for types of peers is reached.
    NoRoom,
}

impl TypeStore {
    /// Adds a local type with all its dependencies.
    pub fn add_own(&mut self, graph: &TypeGraph) {
        for ty in graph.types() {
            // Several endpoints, or several types, may share a dependency.
            if self.own.contains_key(&ty.complete_id) {
                continue;
            }
            if let TypeObject::Complete(definition) = &ty.complete {
                for name in definition.member_names() {
                    self.names.insert(NameHash::of(name), name.to_owned());
                }
            }
            let GraphType { minimal_id, minimal, complete_id, complete } = ty.clone();
            self.minimal_of.insert(complete_id.clone(), minimal_id.clone());
            self.own.insert(minimal_id, Arc::new(minimal));
            self.own.insert(complete_id, Arc::new(complete));
        }
    }

    /// The description of a type, if it is known.
    #[must_use]
    pub fn get(&self, id: &TypeIdentifier) -> Option<&Arc<TypeObject>> {
        if let Some(object) = self.own.get(id) {
            return Some(object);
        }
        Some(&self.others.get(id)?.object)
    }

    /// The description of a local type.
    #[must_use]
    pub fn own(&self, id: &TypeIdentifier) -> Option<&Arc<TypeObject>> {
        self.own.get(id)
    }

    /// The minimal identifier of the local type with this complete identifier.
    #[must_use]
    pub fn minimal_of(&self, id: &TypeIdentifier) -> Option<&TypeIdentifier> {
        self.minimal_of.get(id)
    }

    /// Adds a description that participant `owner` sent. `size` is its length in bytes.
    ///
    /// # Errors
    /// The description does not match the hash in `id`, or a limit is reached.
    pub fn add(
        &mut self,
        owner: SourceId,
        id: &TypeIdentifier,
        object: TypeObject,
        size: usize,
    ) -> Result<(), TypeObjectRefused> {
        // A peer must not plant a description under the hash of another type.
        if object.identifier().as_ref() != Ok(id) {
            return Err(TypeObjectRefused::WrongHash);
        }
        self.keep(owner, id, object, size)
    }

    /// Adds all types of a strongly connected component, in the order of their indices.
    ///
    /// # Errors
    /// The descriptions do not match the hash of the component, or a limit is reached.
    pub fn add_component(
        &mut self,
        owner: SourceId,
        component: ComponentId,
        objects: Vec<TypeObject>,
        size: usize,
    ) -> Result<(), TypeObjectRefused> {
        // The hash covers the descriptions with the hash itself set to zero.
        let mut hashed = objects.clone();
        for object in &mut hashed {
            object.for_each_component_mut(&mut |id| {
                if (id.hash, id.equivalence) == (component.hash, component.equivalence) {
                    id.hash = EquivalenceHash([0; 14]);
                }
            });
        }
        let is_whole = usize::try_from(component.length) == Ok(objects.len());
        if !is_whole || hash_of_component(&hashed) != Ok(component.hash) {
            return Err(TypeObjectRefused::WrongHash);
        }
        // Charge each object an equal share of the message, rounded up.
        let share = size / objects.len().max(1) + 1;
        for (index, object) in (1..).zip(objects) {
            let id = TypeIdentifier::StronglyConnected(ComponentId { index, ..component });
            self.keep(owner, &id, object, share)?;
        }
        Ok(())
    }

    fn keep(
        &mut self,
        owner: SourceId,
        id: &TypeIdentifier,
        object: TypeObject,
        bytes: usize,
    ) -> Result<(), TypeObjectRefused> {
        // The identifier is a hash, so a known description is the same one.
        if self.get(id).is_some() {
            return Ok(());
        }
        // Few participants describe types, so the sum is cheap.
        let total: usize = self.bytes_by_owner.values().sum();
        let of_owner = self.bytes_by_owner.entry(owner).or_default();
        if total + bytes > OTHERS_BYTES_MAX || *of_owner + bytes > PARTICIPANT_BYTES_MAX {
            return Err(TypeObjectRefused::NoRoom);
        }
        *of_owner += bytes;
        self.others.insert(id.clone(), Described { object: Arc::new(object), owner });
        Ok(())
    }

    /// Removes all types that a participant has described.
    pub fn forget(&mut self, owner: SourceId) {
        if self.bytes_by_owner.remove(&owner).is_some() {
            self.others.retain(|_, described| described.owner != owner);
        }
    }

    /// Serialized bytes of all descriptions by peers.
    #[must_use]
    pub fn others_bytes(&self) -> usize {
        self.bytes_by_owner.values().sum()
    }

    /// All types that `root` refers to by hash: the known ones, and the identifiers of the unknown ones.
    #[must_use]
    pub fn graph_of(
        &self,
        root: &TypeIdentifier,
    ) -> (BTreeMap<TypeIdentifier, Arc<TypeObject>>, BTreeSet<TypeIdentifier>) {
        let (mut known, mut unknown) = (BTreeMap::new(), BTreeSet::new());
        let mut open = Vec::new();
        root.for_each_hash(&mut |id| open.push(id.clone()));
        while let Some(id) = open.pop() {
            // Types may contain each other.
            if known.contains_key(&id) || unknown.contains(&id) {
                continue;
            }
            match self.get(&id) {
                Some(object) => {
                    object.for_each_hash(&mut |id| open.push(id.clone()));
                    known.insert(id, Arc::clone(object));
                }
                None => {
                    unknown.insert(id);
                }
            }
        }
        (known, unknown)
    }
}

impl TypeSource for TypeStore {
    fn find(&self, id: &TypeIdentifier) -> Option<&TypeObject> {
        self.get(id).map(Arc::as_ref)
    }

    fn name(&self, hash: NameHash) -> Option<&str> {
        self.names.get(&hash).map(String::as_str)
    }
}

impl TypeDefinition<super::Complete> {
    /// The names of all members of a struct or a union.
    fn member_names(&self) -> Vec<&str> {
        match self {
            Self::Struct(ty) => ty.members.iter().map(|member| member.detail.name.as_str()).collect(),
            Self::Union(ty) => ty.members.iter().map(|member| member.detail.name.as_str()).collect(),
            _ => Vec::new(),
        }
    }
}
