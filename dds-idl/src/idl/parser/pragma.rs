//! Keys and topics by pragmas of vendors: `keylist` of OpenSplice, `DCPS_DATA_TYPE` and `DCPS_DATA_KEY` of OpenDDS.

use super::{Parser, Reported};
use crate::idl::preprocessor::Pragma;
use crate::idl::scope::{NamedEntity, ScopeId};
use crate::model::{AnnotationKind, DataType, DefinitionId, DefinitionKind, Diagnostic, MemberDefinition, Span};
use std::collections::{HashMap, HashSet};

/// A pragma and the scope where it stands.
#[derive(Debug)]
pub(super) struct ScopedPragma {
    words: Vec<(String, Span)>,
    scope: ScopeId,
    span: Span,
}

/// Takes the pragmas before the token at the cursor. Their types may be defined later.
pub(super) fn collect(parser: &mut Parser<'_>) {
    let position = parser.position();
    while let Some(pragma) = parser.input.pragmas.get_mut(parser.next_pragma)
        && pragma.token as usize <= position
    {
        let Pragma { words, span, .. } =
            std::mem::replace(pragma, Pragma { token: 0, span: Span::default(), words: Vec::new() });
        parser.next_pragma += 1;
        parser.pragmas.push(ScopedPragma { words, scope: parser.scope, span });
    }
}

/// Applies all pragmas.
pub(super) fn apply(parser: &mut Parser<'_>) {
    let pragmas = std::mem::take(&mut parser.pragmas);
    if pragmas.is_empty() {
        return;
    }
    // A pragma marks members like `@key`. Only the annotations before all of them count.
    let annotated = annotated_structs(parser);
    for pragma in pragmas {
        if parser.specification.diagnostics.is_full() {
            break;
        }
        parser.scope = pragma.scope;
        let words: Vec<(String, Span)> = pragma
            .words
            .iter()
            .map(|(word, span)| (word.trim_matches(['"', ',', '(', ')']).to_owned(), *span))
            .collect();
        let Some(((name, _), rest)) = words.split_first() else { continue };
        let Some((ty, keys)) = rest.split_first() else {
            parser
                .report(Diagnostic::error(format!("expected the name of a type after `#pragma {name}`"), pragma.span));
            continue;
        };
        let Ok(id) = find_type(parser, &ty.0, ty.1) else { continue };
        if name == "DCPS_DATA_TYPE" {
            let topic = AnnotationKind::Topic { name: None, platform: None };
            parser.specification.definition_mut(id).annotations.push(pragma.span, topic);
            set_topic(parser, id);
            continue;
        }
        for (key, span) in keys.iter().filter(|(key, _)| !key.is_empty()) {
            let key = KeyPath { pragma: name, path: key, span: *span, is_ignored: annotated.contains(&id) };
            if mark_key(parser, id, &key, &annotated).is_err() && parser.specification.diagnostics.is_full() {
                break;
            }
        }
    }
    parser.scope = ScopeId::GLOBAL;
}

/// The structs that have a member with `@key`, also in a base. Cyclone DDS and RTI Connext ignore the pragma for them.
fn annotated_structs(parser: &Parser<'_>) -> HashSet<DefinitionId> {
    let mut known = HashMap::new();
    for (id, _) in parser.specification.definitions() {
        let (mut chain, mut is_annotated, mut current) = (Vec::new(), false, Some(id));
        while let Some(id) = current {
            if let Some(answer) = known.get(&id) {
                is_annotated = *answer;
                break;
            }
            let DefinitionKind::Struct(found) = &parser.specification.definition(id).kind else { break };
            chain.push(id);
            if found.members.iter().any(MemberDefinition::is_key) {
                is_annotated = true;
                break;
            }
            current = found.base;
        }
        known.extend(chain.into_iter().map(|id| (id, is_annotated)));
    }
    known.into_iter().filter(|(_, is_annotated)| *is_annotated).map(|(id, _)| id).collect()
}

fn set_topic(parser: &mut Parser<'_>, id: DefinitionId) {
    match &mut parser.specification.definition_mut(id).kind {
        DefinitionKind::Struct(found) => found.is_nested = false,
        DefinitionKind::Union(found) => found.is_nested = false,
        _ => {}
    }
}

/// A type by the scoped name in a pragma.
fn find_type(parser: &mut Parser<'_>, name: &str, span: Span) -> Result<DefinitionId, Reported> {
    let mut found = None;
    for (at, part) in name.trim_start_matches("::").split("::").enumerate() {
        let symbol = parser.symbols.intern(part);
        let folded = parser.folded(symbol);
        let entry = match (at, found) {
            (0, _) => parser.names.visible(parser.scope, symbol, folded),
            (_, Some(id)) => {
                parser.names.existing_scope(id).and_then(|scope| parser.names.inside(scope, symbol, folded))
            }
            (_, None) => None,
        };
        found = match entry.map(|entry| entry.entity) {
            Some(NamedEntity::Definition(id)) => Some(id),
            _ => None,
        };
        if found.is_none() {
            break;
        }
    }
    match found {
        Some(id) => Ok(id),
        None => {
            let mut diagnostic = Diagnostic::error(format!("cannot find type `{name}`"), span);
            if parser.specification.diagnostics.may_suggest() {
                diagnostic = diagnostic.did_you_mean(name, parser.specification.names());
            }
            Err(parser.report(diagnostic))
        }
    }
}

/// A member of a struct in a pragma.
struct KeyPath<'p> {
    pragma: &'p str,
    /// `a`, or `a.b`.
    path: &'p str,
    span: Span,
    /// Whether the struct has `@key`, so that the pragma has no effect.
    is_ignored: bool,
}

impl KeyPath<'_> {
    /// A wrong path is only a warning if it has no effect.
    fn wrong(&self, message: String) -> Diagnostic {
        if self.is_ignored {
            let note = format!("`#pragma {}` has no effect on a struct with `@key`", self.pragma);
            Diagnostic::warning(message, self.span).note(note)
        } else {
            Diagnostic::error(message, self.span)
        }
    }

    fn without_effect(&self) -> Diagnostic {
        let Self { pragma, path, .. } = self;
        let message = format!("`{path}` is not a key: `#pragma {pragma}` has no effect on a struct with `@key`");
        Diagnostic::warning(message, self.span).help("write `@key` before the member too")
    }
}

/// Marks `a`, or `a.b` with the members on the way, as a key. Structs with `@key` keep their keys.
fn mark_key(
    parser: &mut Parser<'_>,
    id: DefinitionId,
    key: &KeyPath<'_>,
    annotated: &HashSet<DefinitionId>,
) -> Result<(), Reported> {
    let (mut current, mut has_effect) = (Some(id), true);
    for part in key.path.split('.') {
        let (part, index_text) = part.split_once('[').unwrap_or((part, ""));
        let Some((owner, index)) = current.and_then(|id| owner_of(parser, id, part)) else {
            return Err(report_unknown_member(parser, id, key, (current, part)));
        };
        let is_ignored = key.is_ignored || current.is_some_and(|id| annotated.contains(&id));
        let mut ty = None;
        if let DefinitionKind::Struct(found) = &mut parser.specification.definition_mut(owner).kind
            && let Some(member) = found.members.get_mut(index)
        {
            if is_ignored {
                has_effect &= member.is_key();
            } else if !member.is_key() {
                member.annotations.push(key.span, AnnotationKind::Key(true));
            }
            ty = Some(member.ty.clone());
        }
        if !index_text.is_empty() {
            ty = ty.and_then(|ty| array_element(parser, &ty, index_text));
            if ty.is_none() {
                let message = format!("`{}` is not an element of an array", key.path);
                return Err(parser.report(key.wrong(message)));
            }
            if !is_ignored {
                let message = format!("the key `{}`: an element of an array", key.path);
                let help = "the whole array is a key: write `@key` before the member";
                parser.vendor_warning(&message, "OpenDDS", key.span, help);
            }
        }
        current = match ty.as_ref().map(|ty| parser.specification.resolve(ty)) {
            Some(DataType::Named(id)) => Some(*id),
            _ => None,
        };
    }
    if has_effect { Ok(()) } else { Err(parser.report(key.without_effect())) }
}

/// Reports that a part of a path is no member of the type before it.
fn report_unknown_member(
    parser: &mut Parser<'_>,
    id: DefinitionId,
    key: &KeyPath<'_>,
    (owner, part): (Option<DefinitionId>, &str),
) -> Reported {
    let name = &parser.specification.definition(id).name;
    let mut diagnostic = key.wrong(format!("`{}` names no member of `{name}`", key.path));
    if parser.specification.diagnostics.may_suggest() {
        let names = owner.map(|id| member_names(parser, id)).unwrap_or_default();
        diagnostic = diagnostic.did_you_mean(part, names.iter().map(String::as_str));
    }
    parser.report(diagnostic)
}

/// The struct with a member, which may be a base, and the index of the member.
fn owner_of(parser: &Parser<'_>, id: DefinitionId, name: &str) -> Option<(DefinitionId, usize)> {
    let mut current = Some(id);
    while let Some(id) = current {
        let DefinitionKind::Struct(found) = &parser.specification.definition(id).kind else { return None };
        if let Some(index) = found.members.iter().position(|member| &*member.name == name) {
            return Some((id, index));
        }
        current = found.base;
    }
    None
}

/// The element type of an array, if the text has one index for each dimension.
fn array_element(parser: &Parser<'_>, ty: &DataType, index_text: &str) -> Option<DataType> {
    let DataType::Array { element, dimensions } = parser.specification.resolve(ty) else { return None };
    let indexes = index_text.strip_suffix(']')?.split("][");
    let numbers: Option<Vec<u32>> = indexes.map(|index| index.parse().ok()).collect();
    (numbers?.len() == dimensions.len()).then(|| element.ty.clone())
}

fn member_names(parser: &Parser<'_>, id: DefinitionId) -> Vec<String> {
    match &parser.specification.definition(id).kind {
        DefinitionKind::Struct(found) => found.members.iter().map(|member| member.name.to_string()).collect(),
        _ => Vec::new(),
    }
}
