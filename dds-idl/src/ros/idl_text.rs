//! The `.idl` text of an interface, byte for byte as `rosidl_adapter` writes it.

use super::python::python_repr;
use super::{
    InterfaceName, RosBaseType, RosConstant, RosDimension, RosField, RosInterface, RosStructure, RosType, RosValue,
    parse_interface,
};
use crate::model::{Diagnostics, Severity, SourceMap};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

impl RosInterface {
    /// Returns the `.idl` file that `rosidl_adapter` of ROS 2 writes for this interface. Keys have their annotation.
    #[must_use]
    pub fn to_idl(&self) -> String {
        let name = self.name();
        let (package, kind) = (name.package(), name.kind());
        let mut text = format!(
            "// generated from rosidl_adapter/resource/{kind}.idl.em\n\
             // with input from {package}/{kind}/{}.{kind}\n\
             // generated code does not contain a copyright notice\n\n",
            name.name()
        );
        let mut includes = BTreeSet::new();
        for field in self.sections().into_iter().flat_map(|structure| &structure.fields) {
            if let Some(structure) = field.ty.base.structure() {
                includes.insert(format!("#include \"{structure}.idl\"\n"));
            }
        }
        text.extend(includes);
        write(&mut text, format_args!("\nmodule {package} {{\n  module {kind} {{\n"));
        for structure in self.sections() {
            write_structure(&mut text, structure);
        }
        text.push_str("  };\n};\n");
        text
    }
}

/// Returns the `.idl` file for the text of an interface file, or its first error with its place.
pub(crate) fn converted(name: &InterfaceName, path: &Path, text: &str) -> Result<String, String> {
    let (mut sources, mut diagnostics) = (SourceMap::default(), Diagnostics::default());
    let file = sources.add(path, text, None);
    match parse_interface(name, file, &sources, &mut diagnostics) {
        Some(interface) => Ok(interface.to_idl()),
        None => {
            let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
            Err(errors.map(|error| error.one_line(&sources)).next().unwrap_or_default())
        }
    }
}

fn write(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let result = text.write_fmt(arguments);
    debug_assert!(result.is_ok(), "a String accepts every text");
}

fn write_structure(text: &mut String, structure: &RosStructure) {
    write_array_types(text, structure);
    if !structure.constants.is_empty() {
        write(text, format_args!("    module {}_Constants {{\n", structure.name.name()));
        for constant in &structure.constants {
            write_constant(text, constant);
        }
        text.push_str("    };\n");
    }
    // `rosidl` ends the lines of a constant's comment differently.
    write_comment(text, "    ", &structure.comment, " \"\\n\"\n");
    write(text, format_args!("    struct {} {{\n", structure.name.name()));
    for (index, field) in structure.members().iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        write_field(text, field);
    }
    text.push_str("    };\n");
}

/// Each array type gets a name, because members of `rosidl` have no dimensions.
fn write_array_types(text: &mut String, structure: &RosStructure) {
    let mut written = BTreeSet::new();
    for field in &structure.fields {
        let RosDimension::Array(size) = field.ty.dimension else { continue };
        let base = idl_base(&field.ty.base);
        let mut alias = base.replace("::", "__");
        if alias != base && written.insert(alias.clone()) {
            write(text, format_args!("    typedef {base} {alias};\n"));
        }
        let element = alias.clone();
        alias = identifier(&base);
        let array = format!("{alias}__{size}[{size}]");
        if written.insert(array.clone()) {
            write(text, format_args!("    typedef {element} {array};\n"));
        }
    }
}

fn write_constant(text: &mut String, constant: &RosConstant) {
    write_comment(text, "      ", &constant.comment, " \"\\n\"");
    let ty = idl_base(&constant.ty);
    write(text, format_args!("      const {ty} {} = {};\n", constant.name, literal(&constant.value)));
}

fn write_field(text: &mut String, field: &RosField) {
    write_comment(text, "      ", &field.comment, " \"\\n\"\n");
    if field.is_key {
        text.push_str("      @key\n");
    }
    if let Some(default) = &field.default {
        write(text, format_args!("      @default (value={})\n", literal(default)));
    }
    if let Some(unit) = &field.unit {
        write(text, format_args!("      @unit (value={})\n", string_literal(unit)));
    }
    write(text, format_args!("      {} {};\n", idl_type(&field.ty), field.name));
}

fn write_comment(text: &mut String, indentation: &str, lines: &[String], line_end: &str) {
    if lines.is_empty() {
        return;
    }
    write(text, format_args!("{indentation}@verbatim (language=\"comment\", text=\n"));
    for (index, line) in lines.iter().enumerate() {
        let end = if index + 1 < lines.len() { line_end } else { ")\n" };
        write(text, format_args!("{indentation}  {}{end}", string_literal(line)));
    }
}

fn idl_type(ty: &RosType) -> String {
    let base = idl_base(&ty.base);
    match ty.dimension {
        RosDimension::One => base,
        RosDimension::Array(size) => format!("{}__{size}", identifier(&base)),
        RosDimension::BoundedSequence(bound) => format!("sequence<{base}, {bound}>"),
        RosDimension::Sequence => format!("sequence<{base}>"),
    }
}

fn idl_base(base: &RosBaseType) -> String {
    match base {
        RosBaseType::Bool => "boolean".to_owned(),
        RosBaseType::Byte => "octet".to_owned(),
        RosBaseType::Char => "uint8".to_owned(),
        RosBaseType::IdlChar => "char".to_owned(),
        RosBaseType::IdlWChar => "wchar".to_owned(),
        RosBaseType::Float32 => "float".to_owned(),
        RosBaseType::Float64 => "double".to_owned(),
        RosBaseType::String { bound: Some(bound) } => format!("string<{bound}>"),
        RosBaseType::WString { bound: Some(bound) } => format!("wstring<{bound}>"),
        RosBaseType::Structure(name) => format!("{}::{}::{}", name.package(), name.kind(), name.name()),
        _ => base.to_string(),
    }
}

/// A type as a part of an identifier: `string<5>` as `string__5`.
fn identifier(base: &str) -> String {
    base.replace("::", "__").replace('<', "__").replace('>', "")
}

fn literal(value: &RosValue) -> String {
    match value {
        RosValue::Bool(true) => "TRUE".to_owned(),
        RosValue::Bool(false) => "FALSE".to_owned(),
        RosValue::Text(text) => string_literal(text),
        RosValue::Character(character) => character_literal(*character),
        RosValue::List(_) => format!("\"{}\"", python_repr(value).replace('\\', "\\\\").replace('"', "\\\"")),
        RosValue::Integer(_) | RosValue::Float(_) => python_repr(value),
    }
}

fn character_literal(character: char) -> String {
    match character {
        '\'' | '\\' => format!("'\\{character}'"),
        ' '..='~' => format!("'{character}'"),
        _ if character.is_ascii() || character <= '\u{ff}' => format!("'\\x{:02x}'", u32::from(character)),
        _ => format!("L'\\u{:04x}'", u32::from(character)),
    }
}

/// `rosidl` keeps the escapes that a text has, and adds those for quotes.
fn string_literal(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\\\""))
}
