//! Types that cannot be part of a key.

use crate::model::{DataType, DefinitionId, DefinitionKind, MemberDefinition, Specification, TryConstruct};
use std::collections::HashSet;

/// Returns why the derive has no key for a key member of a type.
pub(super) fn obstacle(specification: &Specification, ty: &DataType) -> Option<String> {
    let mut element = specification.resolve(ty);
    loop {
        element = match element {
            // Its own members are checked at their definition.
            DataType::Named(id) if has_key(specification, *id) => return None,
            DataType::Sequence { element, .. } | DataType::Array { element, .. }
                if element.try_construct() == TryConstruct::Discard =>
            {
                specification.resolve(&element.ty)
            }
            _ => return obstacle_of_whole(specification, ty),
        };
    }
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
