//! Structs, and the attributes of members.

use super::data_type::{TypeSpelling, bound_of, bytes_of, plain_value};
use super::names::LocalNames;
use super::traits::has_long_array;
use super::{RustGenerator, attribute, case, kept, layout};
use crate::model::{
    Annotations, AutoIdKind, DefinitionId, DefinitionKind, Diagnostic, Diagnostics, Extensibility, MemberDefinition,
    Specification, StructDefinition, TryConstruct, member_id_hash,
};

/// Traits of a type with an equality that `Eq` and `Hash` allow.
pub(super) const EQUAL: &str = "Debug, Clone, PartialEq, Eq, Hash";

/// Traits of a type with floating-point numbers.
pub(super) const PARTIALLY_EQUAL: &str = "Debug, Clone, PartialEq";

/// A field: its name, its type, and the words of its attribute.
pub(super) struct FieldText {
    pub(super) ident: String,
    pub(super) ty: String,
    pub(super) words: Vec<String>,
    /// The value in `Default`.
    default: String,
    /// Whether the value is that of the trait `Default`.
    is_usual: bool,
}

pub(super) fn item(
    generator: &RustGenerator<'_>,
    id: DefinitionId,
    definition: &StructDefinition,
    errors: &mut Diagnostics,
) -> String {
    let specification = generator.specification;
    let Some(place) = generator.names.item(id) else { return String::new() };
    let text = generator.text(&place.modules, TypeSpelling::Alias);
    let mut names = LocalNames::default();
    let (mut fields, mut code) = (Vec::new(), String::new());
    if let Some(base) = definition.base {
        check_base(generator, id, base, definition.extensibility, errors);
        let mut words = vec!["base".to_owned()];
        if generator.keys.has_key(base) {
            words.push("key".to_owned());
        }
        let default = text.default_value(&crate::model::DataType::Named(base));
        let ty = generator.names.path_from(&place.modules, base);
        fields.push(FieldText { ident: names.unique("base".to_owned()), ty, words, default, is_usual: true });
        code.push_str(&field_code(fields.last(), ""));
    }
    let mut next_id = definition.base.map_or(0, |base| next_id_behind(specification, base));
    for member in &definition.members {
        let ident = names.unique(case::field_name(&member.name));
        let mut field = member_field(generator, id, member, ident, errors);
        let expected = expected_id(member, definition.auto_id, next_id);
        if !member.annotations.is_non_serialized() {
            if member.id != expected {
                field.words.push(format!("id = {}", member.id));
            }
            next_id = member.id.saturating_add(1);
        }
        let doc = layout::documentation(member.doc.as_deref(), &notes(&member.annotations));
        fields.push(field);
        code.push_str(&field_code(fields.last(), &doc));
    }
    let mut words = vec![extensibility(definition.extensibility).to_owned()];
    if definition.auto_id == AutoIdKind::Hash {
        words.push("autoid = \"hash\"".to_owned());
    }
    if definition.is_nested {
        words.push("nested".to_owned());
    }
    if generator.keys.contributes_member_keys(id) {
        words.push("member_keys".to_owned());
    }
    let possible = generator.facts.traits(id);
    let is_usual = fields.iter().all(|field| field.is_usual);
    let mut derived = if possible.eq { EQUAL } else { PARTIALLY_EQUAL }.to_owned();
    if possible.default && is_usual {
        derived.push_str(", Default");
    }
    let definition = specification.definition(id);
    let doc = layout::documentation(definition.doc.as_deref(), &[]);
    let derives = generator.derives(&derived, possible.serde);
    let attribute = generator.type_attribute(id, words);
    let mut code = format!("{doc}{derives}{attribute}pub struct {} {{\n{code}}}\n", place.ident);
    if possible.default && !is_usual {
        let mut body = "Self {\n".to_owned();
        for field in &fields {
            body.push_str(&format!("{}: {},\n", field.ident, field.default));
        }
        body.push('}');
        code.push_str(&default_impl(&text.prelude("Default"), &place.ident, &body));
    }
    code
}

/// The type and the attribute of a member of a struct or union.
pub(super) fn member_field(
    generator: &RustGenerator<'_>,
    owner: DefinitionId,
    member: &MemberDefinition,
    ident: String,
    errors: &mut Diagnostics,
) -> FieldText {
    let specification = generator.specification;
    let modules = generator.names.item(owner).map(|place| place.modules.as_slice()).unwrap_or_default();
    let (has_octet, has_byte) = bytes_of(specification, &member.ty);
    if has_octet && has_byte {
        let message = format!("`{}` contains `octet` and `uint8`: the derive macro has one of them", member.name);
        errors.push(Diagnostic::error(message, member.span));
    }
    if !generator.is_data(&member.ty) {
        let message = format!("`{}` is not data of a DDS topic", specification.type_name(&member.ty));
        errors.push(Diagnostic::error(message, member.span));
    }
    if member.is_key()
        && let Some(obstacle) = generator.keys.obstacle(specification, &member.ty)
    {
        let message = format!("the derive macro has no key for `{}`: {}", member.name, obstacle.reason);
        errors.push(Diagnostic::error(message, member.span).note(obstacle.note));
    }
    let resolved = specification.resolve(&member.ty);
    let (spelling, written) =
        if has_octet { (TypeSpelling::Resolved, resolved) } else { (TypeSpelling::Alias, &member.ty) };
    let text = generator.text(modules, spelling);
    let mut ty = text.unbounded(written);
    let needs_box = member.is_external() || generator.facts.needs_box(specification, owner, &member.ty);
    if needs_box {
        ty = format!("{}<{ty}>", text.prelude("Box"));
    }
    if member.is_optional() {
        ty = format!("{}<{ty}>", text.prelude("Option"));
    }
    let value = match member.default_value() {
        Some(value) if !member.is_optional() => text.value(written, value),
        _ => None,
    };
    let value = value.map(|value| if needs_box { format!("{}::new({value})", text.prelude("Box")) } else { value });
    let usual = format!("{}::default()", text.prelude("Default"));
    let is_long = !member.is_optional() && has_long_array(specification, &member.ty);
    let filled = match (is_long, needs_box) {
        (false, _) => usual,
        (true, false) => text.default_value(&member.ty),
        (true, true) => format!("{}::new({})", text.prelude("Box"), text.default_value(&member.ty)),
    };
    let mut words = Vec::new();
    if case::without_escape(&ident) != &*member.name {
        words.push(format!("name = {:?}", member.name));
    }
    if member.annotations.is_non_serialized() {
        words = vec!["non_serialized".to_owned()];
    } else {
        words.extend(member_words(specification, member, has_octet));
        if let (Some(value), false) = (&value, member.is_key()) {
            words.push(format!("default = {value}"));
        }
    }
    let is_usual = value.is_none() && !is_long;
    FieldText { ident, ty, words, default: value.unwrap_or(filled), is_usual }
}

/// The words for annotations of a member.
fn member_words(specification: &Specification, member: &MemberDefinition, has_octet: bool) -> Vec<String> {
    let mut words = Vec::new();
    for (is_given, word) in [
        (member.is_key(), "key"),
        (member.must_understand(), "must_understand"),
        (member.is_external(), "external"),
        (has_octet, "octet"),
    ] {
        if is_given {
            words.push(word.to_owned());
        }
    }
    let bound = bound_of(specification.resolve(&member.ty));
    if let Some(bound) = bound {
        words.push(format!("bound = {bound}"));
    }
    match member.annotations.hash_id() {
        Some(Some(text)) if !text.is_empty() => words.push(format!("hashid = {text:?}")),
        Some(_) => words.push("hashid".to_owned()),
        None => {}
    }
    match kept::of_value(specification, &member.ty, member.try_construct(), member.is_key()) {
        TryConstruct::Trim => words.push("try_construct = \"trim\"".to_owned()),
        TryConstruct::UseDefault => words.push("try_construct = \"use_default\"".to_owned()),
        TryConstruct::Discard => {}
    }
    words
}

/// The id that the derive gives to a member without the attribute `id`.
pub(super) fn expected_id(member: &MemberDefinition, auto_id: AutoIdKind, next: u32) -> u32 {
    match member.annotations.hash_id() {
        Some(Some(text)) if !text.is_empty() => member_id_hash(text),
        Some(_) => member_id_hash(&member.name),
        None if auto_id == AutoIdKind::Hash => member_id_hash(&member.name),
        None => next,
    }
}

/// `final`, `appendable` or `mutable`.
pub(super) fn extensibility(extensibility: Extensibility) -> &'static str {
    match extensibility {
        Extensibility::Final => "final",
        Extensibility::Appendable => "appendable",
        Extensibility::Mutable => "mutable",
    }
}

/// Unit and range as lines of the documentation.
pub(super) fn notes(annotations: &Annotations) -> Vec<String> {
    let mut lines = Vec::new();
    let (min, max) = (annotations.min().and_then(plain_value), annotations.max().and_then(plain_value));
    match (min, max) {
        (Some(min), Some(max)) => lines.push(format!("Range: {min} to {max}.")),
        (Some(min), None) => lines.push(format!("Minimum: {min}.")),
        (None, Some(max)) => lines.push(format!("Maximum: {max}.")),
        (None, None) => {}
    }
    if let Some(unit) = annotations.unit() {
        lines.push(format!("Unit: {unit}."));
    }
    lines
}

pub(super) fn default_impl(name: &str, ident: &str, body: &str) -> String {
    format!("impl {name} for {ident} {{\nfn default() -> Self {{\n{body}\n}}\n}}\n")
}

fn field_code(field: Option<&FieldText>, doc: &str) -> String {
    let Some(field) = field else { return String::new() };
    format!("{doc}{}pub {}: {},\n", attribute(&field.words), field.ident, field.ty)
}

/// A struct and its base have the same extensibility. The derive refuses others.
fn check_base(
    generator: &RustGenerator<'_>,
    id: DefinitionId,
    base: DefinitionId,
    own: Extensibility,
    errors: &mut Diagnostics,
) {
    let (derived, base) = (generator.specification.definition(id), generator.specification.definition(base));
    let DefinitionKind::Struct(definition) = &base.kind else { return };
    if definition.extensibility != own {
        let (own, other) = (extensibility(own), extensibility(definition.extensibility));
        let message = format!("`{}` is {own}, and its base `{}` is {other}", derived.name, base.name);
        errors.push(Diagnostic::error(message, derived.span).label(base.span, "the base"));
    }
}

/// The id behind the last member of a struct with its bases.
fn next_id_behind(specification: &Specification, id: DefinitionId) -> u32 {
    let mut current = Some(id);
    while let Some(id) = current {
        let DefinitionKind::Struct(definition) = &specification.definition(id).kind else { return 0 };
        let sent = definition.members.iter().rfind(|member| !member.annotations.is_non_serialized());
        if let Some(last) = sent {
            return last.id.saturating_add(1);
        }
        current = definition.base;
    }
    0
}
