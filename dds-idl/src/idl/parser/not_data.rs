//! Structs and unions with members that are not data.
//!
//! A text with interfaces is for CORBA too, and its structs may contain `any`. Such a struct is skipped with a warning,
//! and so is each type that contains it. A text without interfaces, and a struct with a key or `@topic`, are for DDS
//! alone: there the member is an error.

use super::Parser;
use crate::model::{
    Definition, DefinitionId, DefinitionKind, Diagnostic, MemberDefinition, NotData, Span, Specification,
};
use std::collections::{HashMap, HashSet};

/// A member that is not data: its struct or union, and the error about it.
pub(super) type MemberWithoutData = (DefinitionId, Diagnostic);

/// Notes an error about a member of the current struct or union.
pub(super) fn note(parser: &mut Parser<'_>, error: Diagnostic) {
    let parent = parser.parents().next();
    if let Some(parent) = parent {
        parser.without_data.push((parent, error));
    }
}

/// The error about a member of a type that the standard has for CORBA alone.
pub(super) fn built_in(name: &str, span: Span) -> Diagnostic {
    let help = match name {
        "any" => "write a union with a member for each type, or `sequence<octet>`",
        "fixed" => "write an integer and its scale, or a `string`",
        _ => "remove the member, or write a `string` with the name of the object",
    };
    let diagnostic = Diagnostic::error(format!("`{name}` is not data of a DDS topic"), span);
    diagnostic.note("the type system of DDS has no such type (XTypes 1.3, 7.2.2)").help(help)
}

/// The error about a member whose type is a definition without data.
pub(super) fn defined(definition: &Definition, span: Span) -> Diagnostic {
    let message = format!("`{}` is {}, which is not data", definition.name, definition.kind.description());
    let help = match &definition.kind {
        DefinitionKind::Interface(_) => {
            "write a struct; an interface with `@service` has request and reply types of its own"
        }
        _ => "write a struct",
    };
    Diagnostic::error(message, span)
        .label(definition.span, "defined here")
        .note("samples of DDS contain structs, unions, enums, bitmasks, bitsets, strings, numbers and collections")
        .help(help)
}

/// As [`defined`], for an interface whose definition follows.
pub(super) fn declared_interface(name: &str, place: Span, span: Span) -> Diagnostic {
    Diagnostic::error(format!("`{name}` is an interface, which is not data"), span).label(place, "declared here")
}

/// Reports the members without data. If the text is for CORBA too, their types are removed instead.
pub(super) fn judge(parser: &mut Parser<'_>) {
    let found = std::mem::take(&mut parser.without_data);
    if found.is_empty() {
        return;
    }
    let has_declared = !parser.declared_interfaces.is_empty();
    let is_for_corba = has_declared
        || parser.specification.definitions().any(|(_, definition)| match &definition.kind {
            DefinitionKind::Interface(_) => true,
            DefinitionKind::NotData(kind) => *kind != NotData::Undefined,
            _ => false,
        });
    let mut skipped = Vec::new();
    for (id, error) in found {
        let definition = parser.specification.definition(id);
        if !is_for_corba || is_for_topics(definition) {
            parser.report(error);
            continue;
        }
        let message = format!("`{}` is skipped: {}", definition.name, error.message);
        skipped.push((id, Diagnostic { severity: crate::model::Severity::Warning, message, ..error }));
    }
    let users = users(&parser.specification);
    let mut known = HashSet::new();
    // Each definition is skipped once, so the loop ends.
    while let Some((id, warning)) = skipped.pop() {
        if !known.insert(id) {
            continue;
        }
        parser.report(warning);
        let definition = parser.specification.definition_mut(id);
        if !matches!(definition.kind, DefinitionKind::Typedef(_)) {
            definition.kind = DefinitionKind::NotData(NotData::Struct);
        }
        for &user in users.get(&id).into_iter().flatten() {
            skipped.push((user, about_user(parser.specification.definition(user))));
        }
    }
}

/// The report about a type that contains a skipped one.
fn about_user(definition: &Definition) -> Diagnostic {
    let name = &definition.name;
    if is_for_topics(definition) {
        let message = format!("`{name}` is for topics, but a part of it is not data");
        return Diagnostic::error(message, definition.span);
    }
    Diagnostic::warning(format!("`{name}` is skipped: a part of it is not data of a DDS topic"), definition.span)
}

fn is_for_topics(definition: &Definition) -> bool {
    definition.annotations.is_topic() || members(&definition.kind).any(MemberDefinition::is_key)
}

fn members(kind: &DefinitionKind) -> Box<dyn Iterator<Item = &MemberDefinition> + '_> {
    match kind {
        DefinitionKind::Struct(found) | DefinitionKind::Exception(found) => Box::new(found.members.iter()),
        DefinitionKind::Union(found) => Box::new(found.branches.iter().map(|branch| &branch.member)),
        _ => Box::new(std::iter::empty()),
    }
}

/// The structs, unions and typedefs that name each type.
fn users(specification: &Specification) -> HashMap<DefinitionId, Vec<DefinitionId>> {
    let mut users: HashMap<DefinitionId, Vec<DefinitionId>> = HashMap::new();
    for (id, definition) in specification.definitions() {
        let mut note = |used| users.entry(used).or_default().push(id);
        for member in members(&definition.kind) {
            Specification::for_each_named(&member.ty, &mut note);
        }
        match &definition.kind {
            DefinitionKind::Typedef(found) => Specification::for_each_named(&found.ty, &mut note),
            DefinitionKind::Struct(found) => found.base.into_iter().for_each(&mut note),
            _ => {}
        }
    }
    users
}
