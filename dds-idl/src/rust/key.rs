//! Types in keys: those that contribute the keys of their members, and those that cannot be part of a key.

use crate::model::{DataType, DefinitionId, DefinitionKind, MemberDefinition, Specification, TryConstruct};
use std::collections::HashSet;

/// Returns why the derive has no key for a key member of a type.
pub(super) fn obstacle(specification: &Specification, ty: &DataType) -> Option<String> {
    let mut seen = HashSet::new();
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        match innermost_element(specification, ty) {
            // The members of a type with a key are checked at its definition.
            DataType::Named(id) if has_key(specification, *id) || !seen.insert(*id) => {}
            DataType::Named(id) if contributes_member_keys(specification, *id) => {
                for member in all_members(specification, *id) {
                    if member.try_construct() != TryConstruct::Discard {
                        return Some(format!("`{}` may change when it is received (`@try_construct`)", member.name));
                    }
                    open.push(&member.ty);
                }
            }
            _ => {
                let obstacle = obstacle_of_whole(specification, ty);
                if obstacle.is_some() {
                    return obstacle;
                }
            }
        }
    }
    None
}

/// Returns the members of a struct and of its bases.
fn all_members(specification: &Specification, id: DefinitionId) -> Vec<&MemberDefinition> {
    let mut members = Vec::new();
    let mut current = Some(id);
    while let Some(id) = current {
        let DefinitionKind::Struct(definition) = &specification.definition(id).kind else { break };
        members.extend(&definition.members);
        current = definition.base;
    }
    members
}

/// Returns the element of a collection whose elements have keys, or else the type.
fn innermost_element<'a>(specification: &'a Specification, ty: &'a DataType) -> &'a DataType {
    let mut current = specification.resolve(ty);
    while let DataType::Sequence { element, .. } | DataType::Array { element, .. } = current {
        if element.try_construct() != TryConstruct::Discard {
            return ty;
        }
        current = specification.resolve(&element.ty);
    }
    current
}

/// Returns whether a struct without a key contains types with keys of their own.
fn contributes_member_keys(specification: &Specification, id: DefinitionId) -> bool {
    let DefinitionKind::Struct(_) = &specification.definition(id).kind else { return false };
    if has_key(specification, id) {
        return false;
    }
    let mut seen = HashSet::new();
    let mut open = Vec::new();
    push_parts(specification, id, &mut open);
    while let Some(part) = open.pop() {
        let id = match part {
            OpenPart::Type(ty) => match specification.resolve(ty) {
                DataType::Sequence { element, .. } | DataType::Array { element, .. } => {
                    open.push(OpenPart::Type(&element.ty));
                    continue;
                }
                DataType::Named(id) => *id,
                _ => continue,
            },
            OpenPart::Member(member) => {
                open.push(OpenPart::Type(&member.ty));
                continue;
            }
            OpenPart::Base(id) => id,
        };
        if has_own_key(specification, id) {
            return true;
        }
        if seen.insert(id) {
            push_parts(specification, id, &mut open);
        }
    }
    false
}

/// Returns the structs in keys that contribute the keys of their members.
pub(super) fn structs_with_member_keys(specification: &Specification) -> HashSet<DefinitionId> {
    let mut found = HashSet::new();
    let mut open: Vec<&DataType> = Vec::new();
    for (_, definition) in specification.definitions() {
        if let DefinitionKind::Struct(definition) = &definition.kind {
            open.extend(definition.members.iter().filter(|member| member.is_key()).map(|member| &member.ty));
        }
    }
    while let Some(ty) = open.pop() {
        let DataType::Named(id) = innermost_element(specification, ty) else { continue };
        let DefinitionKind::Struct(definition) = &specification.definition(*id).kind else { continue };
        if contributes_member_keys(specification, *id) && found.insert(*id) {
            open.extend(definition.members.iter().map(|member| &member.ty));
            // The base is a part as well.
            let mut base = definition.base;
            while let Some(id) = base {
                let DefinitionKind::Struct(definition) = &specification.definition(id).kind else { break };
                if contributes_member_keys(specification, id) && found.insert(id) {
                    open.extend(definition.members.iter().map(|member| &member.ty));
                }
                base = definition.base;
            }
        }
    }
    found
}

/// Returns whether a type has a key. In a struct, that of a base counts too.
pub(super) fn has_key(specification: &Specification, id: DefinitionId) -> bool {
    let mut current = Some(id);
    while let Some(id) = current {
        if has_own_key(specification, id) {
            return true;
        }
        current = match &specification.definition(id).kind {
            DefinitionKind::Struct(definition) => definition.base,
            _ => None,
        };
    }
    false
}

fn has_own_key(specification: &Specification, id: DefinitionId) -> bool {
    match &specification.definition(id).kind {
        DefinitionKind::Struct(definition) => definition.members.iter().any(MemberDefinition::is_key),
        DefinitionKind::Union(definition) => definition.discriminator.annotations.is_key(),
        _ => false,
    }
}

/// A part of a key that is not checked yet.
enum OpenPart<'a> {
    Type(&'a DataType),
    Base(DefinitionId),
    Member(&'a MemberDefinition),
}

/// Returns why a type cannot be part of a key with all that it contains.
fn obstacle_of_whole(specification: &Specification, ty: &DataType) -> Option<String> {
    let mut seen = HashSet::new();
    // A list instead of recursion: the depth of types has no limit.
    let mut open = vec![OpenPart::Type(ty)];
    while let Some(part) = open.pop() {
        let id = match part {
            OpenPart::Type(ty) => match specification.resolve(ty) {
                DataType::Sequence { element, .. } | DataType::Array { element, .. } => {
                    if element.try_construct() != TryConstruct::Discard {
                        return Some("an element may change when it is received (`@try_construct`)".to_owned());
                    }
                    open.push(OpenPart::Type(&element.ty));
                    continue;
                }
                DataType::Map { .. } => return Some("it contains a map".to_owned()),
                DataType::Named(id) => *id,
                _ => continue,
            },
            OpenPart::Member(member) => {
                if member.try_construct() != TryConstruct::Discard {
                    return Some(format!("`{}` may change when it is received (`@try_construct`)", member.name));
                }
                open.push(OpenPart::Type(&member.ty));
                continue;
            }
            OpenPart::Base(id) => id,
        };
        if !seen.insert(id) {
            continue;
        }
        if has_own_key(specification, id) {
            return Some(format!("`{}` with a key of its own is inside of it", specification.definition(id).name));
        }
        push_parts(specification, id, &mut open);
    }
    None
}

/// Adds the base and the members of a type, so that the first one is the next.
fn push_parts<'a>(specification: &'a Specification, id: DefinitionId, open: &mut Vec<OpenPart<'a>>) {
    match &specification.definition(id).kind {
        DefinitionKind::Struct(found) => {
            open.extend(found.members.iter().rev().map(OpenPart::Member));
            open.extend(found.base.map(OpenPart::Base));
        }
        DefinitionKind::Union(found) => {
            open.extend(found.branches.iter().rev().map(|branch| OpenPart::Member(&branch.member)));
        }
        _ => {}
    }
}
