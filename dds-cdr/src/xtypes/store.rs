//! The types that are known: ours, and those that others have described.
//!
//! Life cycle: ours are added with the first endpoint of a type and stay. Those of others come in replies to what we asked, and go
//! with the participant that sent them. What was made of them, a match or a mismatch, stays.
//!
//! Bound: [`OTHERS_BYTES_MAX`] of others in all, [`PARTICIPANT_BYTES_MAX`] of one participant, as serialized. In memory a type takes
//! some ten times of that. Beyond it types count as unknown, and names decide.

use super::assignable::TypeSource;
use super::form::NameHash;
use super::graph::{GraphType, TypeGraph, hash_of_component};
use super::identifier::{ComponentId, EquivalenceHash, TypeIdentifier};
use super::object::{TypeDefinition, TypeObject};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Bytes of serialized types that are kept of all others.
pub const OTHERS_BYTES_MAX: usize = 8 << 20;
/// Bytes of serialized types that are kept of one participant.
pub const PARTICIPANT_BYTES_MAX: usize = 1 << 20;

/// Names the participant that has sent a description, by the prefix of its GUIDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub [u8; 12]);

/// All known types.
#[derive(Debug, Default)]
pub struct TypeStore {
    own: BTreeMap<TypeIdentifier, Arc<TypeObject>>,
    /// Names of members of our types: minimal descriptions of others have only their hashes.
    names: BTreeMap<NameHash, String>,
    /// The minimal names of our types by their complete ones.
    minimal_of: BTreeMap<TypeIdentifier, TypeIdentifier>,
    others: BTreeMap<TypeIdentifier, Described>,
    bytes_by_owner: BTreeMap<SourceId, usize>,
}

/// A type that somebody has described.
#[derive(Debug)]
struct Described {
    object: Arc<TypeObject>,
    owner: SourceId,
    bytes: usize,
}

/// Why a description was not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It is not what its name says.
    WrongHash,
    /// There is no room for more types of others.
    NoRoom,
}

impl TypeStore {
    /// Takes a type of ours in, with all that it is made of.
    pub fn add_own(&mut self, graph: &TypeGraph) {
        for ty in graph.types() {
            if self.own.contains_key(&ty.complete_id) {
                continue;
            }
            if let TypeObject::Complete(definition) = &ty.complete {
                definition.for_each_name(&mut |name| drop(self.names.insert(NameHash::of(name), name.to_owned())));
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
        self.own.get(id).or_else(|| self.others.get(id).map(|described| &described.object))
    }

    /// The description of a type of ours.
    #[must_use]
    pub fn own(&self, id: &TypeIdentifier) -> Option<&Arc<TypeObject>> {
        self.own.get(id)
    }

    /// The minimal name of a type of ours with this complete name.
    #[must_use]
    pub fn minimal_of(&self, id: &TypeIdentifier) -> Option<&TypeIdentifier> {
        self.minimal_of.get(id)
    }

    /// Takes a description in that participant `owner` sent, if it is what its name says. `size`: its bytes.
    ///
    /// # Errors
    /// It is not, or there is no room.
    pub fn add(
        &mut self,
        owner: SourceId,
        id: &TypeIdentifier,
        object: TypeObject,
        size: usize,
    ) -> Result<(), Refused> {
        if object.identifier().as_ref() != Ok(id) {
            return Err(Refused::WrongHash);
        }
        self.keep(owner, id, object, size)
    }

    /// The same for types that contain each other: all of them, by their number.
    ///
    /// # Errors
    /// They are not what their name says, or there is no room.
    pub fn add_component(
        &mut self,
        owner: SourceId,
        component: ComponentId,
        objects: Vec<TypeObject>,
        size: usize,
    ) -> Result<(), Refused> {
        let mut unnamed = objects.clone();
        for object in &mut unnamed {
            object.for_each_component_mut(&mut |id| {
                if (id.hash, id.equivalence) == (component.hash, component.equivalence) {
                    id.hash = EquivalenceHash([0; 14]);
                }
            });
        }
        let is_whole = usize::try_from(component.length) == Ok(objects.len());
        if !is_whole || hash_of_component(&unnamed) != Ok(component.hash) {
            return Err(Refused::WrongHash);
        }
        let share = size / objects.len().max(1) + 1;
        for (index, object) in (1..).zip(objects) {
            let id = TypeIdentifier::StronglyConnected(ComponentId { index, ..component });
            self.keep(owner, &id, object, share)?;
        }
        Ok(())
    }

    fn keep(&mut self, owner: SourceId, id: &TypeIdentifier, object: TypeObject, bytes: usize) -> Result<(), Refused> {
        if self.get(id).is_some() {
            return Ok(());
        }
        let total: usize = self.bytes_by_owner.values().sum();
        let of_owner = self.bytes_by_owner.entry(owner).or_default();
        if total + bytes > OTHERS_BYTES_MAX || *of_owner + bytes > PARTICIPANT_BYTES_MAX {
            return Err(Refused::NoRoom);
        }
        *of_owner += bytes;
        self.others.insert(id.clone(), Described { object: Arc::new(object), owner, bytes });
        Ok(())
    }

    /// Forgets what a participant has described.
    pub fn forget(&mut self, owner: SourceId) {
        if self.bytes_by_owner.remove(&owner).is_some() {
            self.others.retain(|_, described| described.owner != owner);
        }
    }

    /// Bytes of descriptions of others, as serialized.
    #[must_use]
    pub fn others_bytes(&self) -> usize {
        self.others.values().map(|described| described.bytes).sum()
    }

    /// Every type that a type is made of, by hashes: those that are known, and those that are not.
    #[must_use]
    pub fn graph_of(
        &self,
        root: &TypeIdentifier,
    ) -> (BTreeMap<TypeIdentifier, Arc<TypeObject>>, BTreeSet<TypeIdentifier>) {
        let (mut known, mut unknown) = (BTreeMap::new(), BTreeSet::new());
        let mut open = Vec::new();
        root.for_each_hash(&mut |id| open.push(id.clone()));
        while let Some(id) = open.pop() {
            if known.contains_key(&id) || unknown.contains(&id) {
                continue;
            }
            match self.get(&id) {
                Some(object) => {
                    object.for_each_hash(&mut |id| open.push(id.clone()));
                    known.insert(id, Arc::clone(object));
                }
                None => drop(unknown.insert(id)),
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
    /// Calls `visit` with the name of each member.
    fn for_each_name(&self, visit: &mut dyn FnMut(&str)) {
        match self {
            Self::Struct(ty) => ty.members.iter().for_each(|member| visit(&member.detail.name)),
            Self::Union(ty) => ty.members.iter().for_each(|member| visit(&member.detail.name)),
            _ => {}
        }
    }
}
