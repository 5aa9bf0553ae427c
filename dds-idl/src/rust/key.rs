//! Types in keys: those that contribute the keys of their members, and those that cannot be part of a key.

use super::kept;
use crate::model::{
    DataType, DefinitionId, DefinitionKind, ElementType, MemberDefinition, Specification, TryConstruct,
};
use std::collections::{HashMap, HashSet};

/// The structs and unions with a key, and those that contain such a type.
pub(super) struct KeyFacts {
    keyed: HashSet<DefinitionId>,
    /// They contain a type with a key. It may stand in a base, and in elements of arrays and sequences.
    with_keyed_parts: HashSet<DefinitionId>,
    /// Those in a key that contribute the keys of their members.
    with_member_keys: HashSet<DefinitionId>,
    /// Their keys contain themselves, or contain such a key.
    endless: HashSet<DefinitionId>,
}

/// Why the derive has no key for a member, with a note that names the clause.
pub(super) struct KeyObstacle {
    pub(super) reason: String,
    pub(super) note: &'static str,
}

impl KeyFacts {
    pub(super) fn of(specification: &Specification) -> Self {
        let (mut keyed, mut owners) = (HashSet::new(), HashMap::<DefinitionId, Vec<DefinitionId>>::new());
        for (id, _) in specification.definitions() {
            if has_key(specification, id) {
                keyed.insert(id);
            }
            let mut walk = PartWalk::new(specification);
            walk.enter(id);
            for part in &mut walk {
                if let Part::Definition(part) = part {
                    owners.entry(part).or_default().push(id);
                }
            }
        }
        let mut with_keyed_parts = HashSet::new();
        let mut open: Vec<DefinitionId> = keyed.iter().copied().collect();
        while let Some(id) = open.pop() {
            for owner in owners.get(&id).into_iter().flatten() {
                if with_keyed_parts.insert(*owner) {
                    open.push(*owner);
                }
            }
        }
        let endless = endless(specification, &keyed);
        let mut facts = Self { keyed, with_keyed_parts, with_member_keys: HashSet::new(), endless };
        facts.find_member_keys(specification);
        facts
    }

    fn find_member_keys(&mut self, specification: &Specification) {
        let mut walk = PartWalk::new(specification);
        for (_, definition) in specification.definitions() {
            if let DefinitionKind::Struct(definition) = &definition.kind {
                let keys = definition.members.iter().filter(|member| member.is_key());
                walk.open.extend(keys.map(|member| Part::Type(&member.ty)));
            }
        }
        while let Some(part) = walk.next() {
            if let Part::Definition(id) = part
                && !self.has_key(id)
                && self.with_keyed_parts.contains(&id)
            {
                self.with_member_keys.insert(id);
                walk.enter(id);
            }
        }
    }

    pub(super) fn has_key(&self, id: DefinitionId) -> bool {
        self.keyed.contains(&id)
    }

    /// Returns whether a type in a key contributes the keys of its members (XTypes 1.3, 7.6.8, step 3).
    pub(super) fn contributes_member_keys(&self, id: DefinitionId) -> bool {
        self.with_member_keys.contains(&id)
    }

    /// Returns why the derive has no key for a key member of a type.
    pub(super) fn obstacle(&self, specification: &Specification, ty: &DataType) -> Option<KeyObstacle> {
        const MAP: &str = "entries of a map have no order in which to hash them (XTypes 1.3, 7.6.8)";
        const CHANGED: &str = "`@try_construct` would change the key to that of another instance (XTypes 1.3, 7.2.2.7)";
        const OPTIONAL: &str = "members of a key are always present (XTypes 1.3, 7.2.2.4.4.4.8)";
        const ENDLESS: &str = "a key has a finite size (XTypes 1.3, 7.6.8)";
        let found = |reason: String, note| Some(KeyObstacle { reason, note });
        let mut walk = PartWalk::new(specification);
        walk.open.push(Part::Type(ty));
        while let Some(part) = walk.next() {
            match part {
                Part::Type(ty) if matches!(specification.resolve(ty), DataType::Map { .. }) => {
                    return found("it contains a map".to_owned(), MAP);
                }
                Part::Element(element) if element.try_construct() != TryConstruct::Discard => {
                    let reason = "an element may change when it is received (`@try_construct`)";
                    return found(reason.to_owned(), CHANGED);
                }
                Part::Member(member) if member.try_construct() != TryConstruct::Discard => {
                    let reason = format!("`{}` may change when it is received (`@try_construct`)", member.name);
                    return found(reason, CHANGED);
                }
                Part::Member(member) if member.annotations.is_optional() => {
                    return found(format!("`{}` is optional", member.name), OPTIONAL);
                }
                Part::Definition(id) if self.endless.contains(&id) => {
                    return found("it contains a type that contains itself".to_owned(), ENDLESS);
                }
                Part::Definition(id) if !self.has_key(id) && defaults_discriminator(specification, id) => {
                    let name = &specification.definition(id).name;
                    let reason =
                        format!("the discriminator of `{name}` may change when it is received (`@try_construct`)");
                    return found(reason, CHANGED);
                }
                // The members of a type with a key are checked at its definition.
                Part::Definition(id) if !self.has_key(id) => walk.enter(id),
                _ => {}
            }
        }
        None
    }
}

/// Returns whether a type has a key. In a struct, that of a base counts too.
fn has_key(specification: &Specification, id: DefinitionId) -> bool {
    let mut current = Some(id);
    while let Some(id) = current {
        current = match &specification.definition(id).kind {
            DefinitionKind::Struct(definition) if definition.members.iter().any(MemberDefinition::is_key) => {
                return true;
            }
            DefinitionKind::Struct(definition) => definition.base,
            DefinitionKind::Union(definition) => return definition.discriminator.annotations.is_key(),
            _ => return false,
        };
    }
    false
}

/// Returns whether a union takes its default if the discriminator selects no branch.
fn defaults_discriminator(specification: &Specification, id: DefinitionId) -> bool {
    match &specification.definition(id).kind {
        DefinitionKind::Union(union) => kept::of_discriminator(specification, union) == TryConstruct::UseDefault,
        _ => false,
    }
}

/// Returns the types whose key contains itself, and those with such a type in their key.
fn endless(specification: &Specification, keyed: &HashSet<DefinitionId>) -> HashSet<DefinitionId> {
    let (mut owners, mut part_counts) = (HashMap::<_, Vec<_>>::new(), HashMap::new());
    let mut finite = Vec::new();
    for (id, _) in specification.definitions() {
        let parts = key_parts(specification, keyed, id);
        if parts.is_empty() {
            finite.push(id);
        } else {
            part_counts.insert(id, parts.len());
        }
        for part in parts {
            owners.entry(part).or_default().push(id);
        }
    }
    // A type is finite if all its parts are. The others remain.
    while let Some(id) = finite.pop() {
        for owner in owners.get(&id).into_iter().flatten() {
            if let Some(count) = part_counts.get_mut(owner) {
                *count -= 1;
                if *count == 0 {
                    part_counts.remove(owner);
                    finite.push(*owner);
                }
            }
        }
    }
    part_counts.into_keys().collect()
}

/// Returns the types that stand in the key of a type, each once.
fn key_parts(specification: &Specification, keyed: &HashSet<DefinitionId>, id: DefinitionId) -> Vec<DefinitionId> {
    let mut walk = PartWalk::new(specification);
    walk.enter(id);
    if keyed.contains(&id) {
        walk.open.retain(|part| match part {
            Part::Member(member) => member.is_key(),
            Part::Definition(base) => keyed.contains(base),
            _ => true,
        });
    }
    let mut parts = Vec::new();
    for part in walk {
        if let Part::Definition(part) = part {
            parts.push(part);
        }
    }
    parts
}

/// A part of a type.
#[derive(Clone, Copy)]
enum Part<'a> {
    Type(&'a DataType),
    Element(&'a ElementType),
    Member(&'a MemberDefinition),
    /// A named type, or the base of a struct.
    Definition(DefinitionId),
}

/// A walk along the parts of types, without those of maps.
///
/// A list instead of recursion: the depth of types has no limit.
struct PartWalk<'a> {
    specification: &'a Specification,
    open: Vec<Part<'a>>,
    seen: HashSet<DefinitionId>,
}

impl<'a> PartWalk<'a> {
    fn new(specification: &'a Specification) -> Self {
        Self { specification, open: Vec::new(), seen: HashSet::new() }
    }

    /// Adds the base and the serialized members of a type, so that the first one is the next.
    fn enter(&mut self, id: DefinitionId) {
        match &self.specification.definition(id).kind {
            DefinitionKind::Struct(found) => {
                let sent = found.members.iter().filter(|member| !member.annotations.is_non_serialized());
                self.open.extend(sent.rev().map(Part::Member));
                self.open.extend(found.base.map(Part::Definition));
            }
            DefinitionKind::Union(found) => {
                self.open.extend(found.branches.iter().rev().map(|branch| Part::Member(&branch.member)));
            }
            _ => {}
        }
    }
}

impl<'a> Iterator for PartWalk<'a> {
    type Item = Part<'a>;

    /// Returns the next part. Each definition comes once; only [`Self::enter`] adds its parts.
    fn next(&mut self) -> Option<Part<'a>> {
        loop {
            let part = self.open.pop()?;
            match part {
                Part::Member(member) => self.open.push(Part::Type(&member.ty)),
                Part::Element(element) => self.open.push(Part::Type(&element.ty)),
                Part::Definition(id) if !self.seen.insert(id) => continue,
                Part::Definition(_) => {}
                Part::Type(ty) => match self.specification.resolve(ty) {
                    DataType::Sequence { element, .. } | DataType::Array { element, .. } => {
                        self.open.push(Part::Element(element));
                    }
                    DataType::Named(id) => self.open.push(Part::Definition(*id)),
                    _ => {}
                },
            }
            return Some(part);
        }
    }
}
