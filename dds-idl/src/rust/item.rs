//! Enums, bitmasks, bitsets, type aliases and constants.

use super::data_type::{TypeSpelling, basic_name, bound_of, plain_value};
use super::kept::{self, width_of};
use super::names::LocalNames;
use super::structure::{extensibility, notes};
use super::{RustGenerator, attribute, case, layout};
use crate::model::{
    BasicType, BitmaskDefinition, BitsetDefinition, BitsetField, ConstantDefinition, DataType, DefinitionId,
    Diagnostic, Diagnostics, EnumDefinition, TypedefDefinition,
};

/// The bits of an enum or bitmask without `@bit_bound`.
const USUAL_BITS: u8 = 32;

pub(super) fn enumeration(generator: &RustGenerator<'_>, id: DefinitionId, definition: &EnumDefinition) -> String {
    let Some(place) = generator.names.item(id) else { return String::new() };
    let mut words = vec![extensibility(definition.extensibility).to_owned()];
    if definition.bit_bound != USUAL_BITS {
        words.push(format!("bit_bound = {}", definition.bit_bound));
    }
    let default = definition.default_index();
    let mut code = String::new();
    let mut next = Some(0);
    for (index, (literal, ident)) in definition.enumerators.iter().zip(generator.names.variants(id)).enumerate() {
        code.push_str(&layout::documentation(literal.doc.as_deref(), &[]));
        let mut words = Vec::new();
        if *ident != *literal.name {
            words.push(format!("name = {:?}", literal.name));
        }
        if literal.annotations.is_default_literal() {
            words.push("default".to_owned());
        }
        code.push_str(&attribute(&words));
        if index == default {
            code.push_str("#[default]\n");
        }
        code.push_str(ident);
        if next != Some(literal.value) {
            code.push_str(&format!(" = {}", literal.value));
        }
        code.push_str(",\n");
        next = literal.value.checked_add(1);
    }
    let doc = layout::documentation(generator.specification.definition(id).doc.as_deref(), &[]);
    let derives = generator.derives("Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default", true);
    format!("{doc}{derives}{}pub enum {} {{\n{code}}}\n", generator.type_attribute(id, words), place.ident)
}

pub(super) fn bitmask(
    generator: &RustGenerator<'_>,
    id: DefinitionId,
    definition: &BitmaskDefinition,
    errors: &mut Diagnostics,
) -> String {
    let Some(place) = generator.names.item(id) else { return String::new() };
    let mut flags = Vec::new();
    let mut next = 0;
    for flag in &definition.flags {
        if case::is_keyword(&flag.name) || &*flag.name == "contains" {
            let message = format!("the flag `{}` cannot be a constant in Rust", flag.name);
            errors.push(Diagnostic::error(message, flag.span));
        }
        if flag.position == next {
            flags.push(flag.name.to_string());
        } else {
            flags.push(format!("{} = {}", flag.name, flag.position));
        }
        next = flag.position.saturating_add(1);
    }
    let bits = definition.bit_bound;
    let width = width_of(bits);
    let mut words = vec!["bitmask".to_owned()];
    words.push(extensibility(definition.extensibility).to_owned());
    if bits != width {
        words.push(format!("bit_bound = {bits}"));
    }
    words.push(format!("flags({})", flags.join(", ")));
    let mut lines = Vec::new();
    for flag in &definition.flags {
        if let Some(doc) = &flag.doc {
            lines.push(format!("- `{}`: {}", flag.name, doc.lines().map(str::trim).collect::<Vec<_>>().join(" ")));
        }
    }
    let doc = layout::documentation(generator.specification.definition(id).doc.as_deref(), &lines);
    let derives = generator.derives("Debug, Clone, Copy, PartialEq, Eq, Hash, Default", true);
    let (attribute, ident) = (generator.type_attribute(id, words), &place.ident);
    let code = format!("{doc}{derives}{attribute}pub struct {ident}(pub u{width});\n");
    let is_usual = definition.flags.iter().all(|flag| !flag.name.contains(|c: char| c.is_ascii_lowercase()));
    if is_usual {
        return code;
    }
    // The attribute of an item does not apply to the constants that the derive adds.
    let module = case::module_name(&format!("{ident}_bitmask"));
    let allow = "#[allow(nonstandard_style, unused_imports, reason = \"flags are constants\")]\n";
    format!("{allow}pub use {module}::{ident};\n{allow}mod {module} {{\n{code}}}\n")
}

pub(super) fn bitset(
    generator: &RustGenerator<'_>,
    id: DefinitionId,
    definition: &BitsetDefinition,
    errors: &mut Diagnostics,
) -> String {
    let Some(place) = generator.names.item(id) else { return String::new() };
    let mut names = LocalNames::default();
    let (mut code, mut next) = (String::new(), 0);
    for (field, name) in kept::bitset_fields(generator.specification, definition) {
        let ident = names.unique(case::field_name(&name));
        let ty = bitfield_type(generator, field, errors);
        let mut words = Vec::new();
        if case::without_escape(&ident) != name {
            words.push(format!("name = {name:?}"));
        }
        if field.position != next {
            words.push(format!("position = {}", field.position));
        }
        next = field.position.saturating_add(field.bit_count);
        if ty != "bool" {
            words.push(format!("bits = {}", field.bit_count));
        }
        let doc = layout::documentation(field.doc.as_deref(), &notes(&field.annotations));
        code.push_str(&format!("{doc}{}pub {ident}: {ty},\n", attribute(&words)));
    }
    let doc = layout::documentation(generator.specification.definition(id).doc.as_deref(), &[]);
    let derives = generator.derives("Debug, Clone, Copy, PartialEq, Eq, Hash, Default", true);
    let attribute = generator.type_attribute(id, vec!["bitset".to_owned()]);
    format!("{doc}{derives}{attribute}pub struct {} {{\n{code}}}\n", place.ident)
}

pub(super) fn typedef(
    generator: &RustGenerator<'_>,
    id: DefinitionId,
    definition: &TypedefDefinition,
    modules: &[String],
) -> String {
    let Some(place) = generator.names.item(id) else { return String::new() };
    let found = generator.specification.definition(id);
    let mut lines = notes(&found.annotations);
    if let Some(bound) = bound_of(&definition.ty) {
        lines.push(format!("Bound: {bound}. The members have it as an attribute."));
    }
    let doc = layout::documentation(found.doc.as_deref(), &lines);
    let ty = generator.text(modules, TypeSpelling::Alias).unbounded(&definition.ty);
    format!("{doc}pub type {} = {ty};\n", place.ident)
}

pub(super) fn constant(
    generator: &RustGenerator<'_>,
    id: DefinitionId,
    definition: &ConstantDefinition,
    modules: &[String],
    errors: &mut Diagnostics,
) -> String {
    let Some(place) = generator.names.item(id) else { return String::new() };
    let found = generator.specification.definition(id);
    let text = generator.text(modules, TypeSpelling::Alias);
    let ty = generator.specification.resolve(&definition.ty);
    let written = match ty {
        DataType::Basic(basic) => Some((basic_name(*basic).to_owned(), float_or_plain(*basic, definition))),
        DataType::String { .. } | DataType::WString { .. } => {
            Some(("&str".to_owned(), definition.value.as_str().map(|value| format!("{value:?}"))))
        }
        DataType::Fixed { .. } => Some(("f64".to_owned(), plain_value(&definition.value))),
        DataType::Named(id) => Some((generator.names.path_from(modules, *id), text.value(ty, &definition.value))),
        _ => None,
    };
    let Some((ty, Some(value))) = written else {
        errors.push(Diagnostic::error(format!("the constant `{}` has no value in Rust", found.name), found.span));
        return String::new();
    };
    let doc = layout::documentation(found.doc.as_deref(), &notes(&found.annotations));
    format!("{doc}pub const {}: {ty} = {value};\n", place.ident)
}

/// An integer may be the value of a floating-point constant.
fn float_or_plain(basic: BasicType, definition: &ConstantDefinition) -> Option<String> {
    let value = plain_value(&definition.value)?;
    let is_float = matches!(basic, BasicType::Float32 | BasicType::Float64 | BasicType::Float128);
    let is_whole = definition.value.as_integer().is_some();
    Some(if is_float && is_whole { format!("{value}.0") } else { value })
}

fn bitfield_type(generator: &RustGenerator<'_>, field: &BitsetField, errors: &mut Diagnostics) -> String {
    let Some(ty) = &field.ty else {
        return if field.bit_count == 1 { "bool".to_owned() } else { format!("u{}", width_of(field.bit_count)) };
    };
    match generator.specification.resolve(ty) {
        DataType::Basic(basic) if basic.range().is_some() || *basic == BasicType::Bool => basic_name(*basic).to_owned(),
        _ => {
            let message = format!("`{}` cannot be the type of a bitfield", generator.specification.type_name(ty));
            errors.push(Diagnostic::error(message, field.span));
            String::new()
        }
    }
}
