//! Accepted texts, and the message of each refusal.

mod annotations;
mod constants;
mod interfaces;
mod names;
mod preprocessor;
mod refusals;
mod types;

use super::{Options, parse_file, parse_text};
use crate::model::{ConstantValue, DefinitionKind, IncorrectSource, Specification, StructDefinition, UnionDefinition};

fn accept(text: &str) -> Specification {
    match parse_text("test.idl", text, &Options::default()) {
        Ok(specification) => specification,
        Err(error) => panic!("{error}"),
    }
}

/// Accepts a text without a warning.
fn accept_silently(text: &str) -> Specification {
    let specification = accept(text);
    let warnings = specification.diagnostics.render(&specification.sources, false);
    assert!(warnings.is_empty(), "{warnings}");
    specification
}

fn refusal(text: &str) -> IncorrectSource {
    parse_text("test.idl", text, &Options::default()).err().unwrap_or_else(|| panic!("accepted: {text}"))
}

/// Refuses a text with exactly one error: `line:column: message`.
fn refuse(text: &str, expected: &str) {
    let error = refusal(text);
    let errors: Vec<String> = error
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.one_line(&error.sources))
        .filter(|line| line.contains(": error: "))
        .map(|line| line.replacen("test.idl:", "", 1).replacen("error: ", "", 1))
        .collect();
    assert_eq!(errors, [expected], "\n{error}");
}

/// Accepts a text with exactly one warning: `line:column: message`.
fn warn(text: &str, expected: &str) -> Specification {
    let specification = accept(text);
    let warnings: Vec<String> = specification
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.one_line(&specification.sources))
        .map(|line| line.replacen("test.idl:", "", 1).replacen("warning: ", "", 1))
        .collect();
    assert_eq!(warnings, [expected]);
    specification
}

fn structure<'s>(specification: &'s Specification, name: &str) -> &'s StructDefinition {
    let id = specification.find(name).unwrap_or_else(|| panic!("no `{name}`"));
    match &specification.definition(id).kind {
        DefinitionKind::Struct(found) => found,
        other => panic!("`{name}` is {}", other.description()),
    }
}

fn union<'s>(specification: &'s Specification, name: &str) -> &'s UnionDefinition {
    let id = specification.find(name).unwrap_or_else(|| panic!("no `{name}`"));
    match &specification.definition(id).kind {
        DefinitionKind::Union(found) => found,
        other => panic!("`{name}` is {}", other.description()),
    }
}

fn constant(text: &str) -> ConstantValue {
    let specification = accept(text);
    let found = specification.definitions().filter_map(|(_, definition)| match &definition.kind {
        DefinitionKind::Constant(constant) => Some(constant.value.clone()),
        _ => None,
    });
    found.last().unwrap_or_else(|| panic!("no constant"))
}

/// The types of the members of a struct as IDL.
fn member_types(specification: &Specification, name: &str) -> Vec<String> {
    structure(specification, name).members.iter().map(|member| specification.type_name(&member.ty)).collect()
}
