//! Prints a type as IDL 4.2, with the annotations of XTYPES 1.3 (7.3.1.2).

use super::DynamicType;
use super::assembler::default_id;
use super::graph::{Element, Index, MemberNode, Node, NodeKind, StructNode, TypeMarks, TypeView, UnionNode};
use super::idl_text::{ScopedNames, annotated, character, constant, enumerator, escaped_text, identifier};
use super::view::DynamicRef;
use crate::cdr::{Extensibility, TryConstruct};
use std::fmt::{self, Write};

impl fmt::Display for DynamicType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let states = vec![DeclarationState::Pending; self.graph.nodes.len()];
        let mut writer = IdlWriter { f, ty: self, states, names: ScopedNames::of(self), is_first: true };
        if is_named(self.view()) {
            return writer.declare(self.view());
        }
        // A collection has no name, so its parts are declared and the type itself follows.
        writer.declare_parts(self.view())?;
        let text = reference(self.view(), &writer.names);
        if !writer.is_first {
            writeln!(writer.f)?;
        }
        writer.f.write_str(&text)
    }
}

impl fmt::Debug for DynamicType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DynamicType({})", self.name())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DeclarationState {
    Pending,
    Open,
    Announced,
    Written,
}

struct IdlWriter<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
    ty: &'a DynamicType,
    states: Vec<DeclarationState>,
    names: ScopedNames,
    is_first: bool,
}

fn is_named(ty: TypeView<'_>) -> bool {
    matches!(
        ty.node().kind,
        NodeKind::Alias { .. }
            | NodeKind::Enum(_)
            | NodeKind::Bitmask(_)
            | NodeKind::Bitset(_)
            | NodeKind::Struct(_)
            | NodeKind::Union(_)
    )
}

/// The reference to a type in a declaration; for arrays, the type of their elements.
fn reference(ty: TypeView<'_>, names: &ScopedNames) -> String {
    match &ty.node().kind {
        NodeKind::Primitive(kind) => kind.name().to_owned(),
        NodeKind::String { bound: None } => "string".to_owned(),
        NodeKind::String { bound: Some(bound) } => format!("string<{bound}>"),
        NodeKind::WString { bound: None } => "wstring".to_owned(),
        NodeKind::WString { bound: Some(bound) } => format!("wstring<{bound}>"),
        NodeKind::Sequence { bound, element } => {
            let marks = element_marks(element);
            let element = annotated(&marks, &full_reference(ty.at(element.ty), names));
            format!("sequence<{element}{}>", further_argument(*bound))
        }
        NodeKind::Map { bound, key, element } => {
            let (key_marks, marks) = (element_marks(key), element_marks(element));
            let (key, element) = (full_reference(ty.at(key.ty), names), full_reference(ty.at(element.ty), names));
            let (key, element) = (annotated(&key_marks, &key), annotated(&marks, &element));
            format!("map<{key}, {element}{}>", further_argument(*bound))
        }
        // IDL writes dimensions behind the name of the member.
        NodeKind::Array { element, .. } => reference(ty.at(element.ty), names),
        _ => names.path(&ty.node().name),
    }
}

/// The bound as a further argument of a template, or nothing.
fn further_argument(bound: Option<u32>) -> String {
    match bound {
        Some(bound) => format!(", {bound}"),
        None => String::new(),
    }
}

fn element_marks(element: &Element) -> String {
    let external = if element.is_external { "@external " } else { "" };
    format!("{external}{}", annotation(element.try_construct))
}

/// The reference with dimensions, for places where IDL has no declarator.
fn full_reference(ty: TypeView<'_>, names: &ScopedNames) -> String {
    format!("{}{}", reference(ty, names), dimensions(ty))
}

/// The dimensions after the name of a declarator.
fn dimensions(ty: TypeView<'_>) -> String {
    let (mut ty, mut text) = (ty, String::new());
    while let NodeKind::Array { length, element } = &ty.node().kind {
        text.push_str(&format!("[{length}]"));
        ty = ty.at(element.ty);
    }
    text
}

fn annotation(try_construct: TryConstruct) -> &'static str {
    match try_construct {
        TryConstruct::Discard => "",
        TryConstruct::UseDefault => "@try_construct(USE_DEFAULT) ",
        TryConstruct::Trim => "@try_construct(TRIM) ",
    }
}

fn extensibility(extensibility: Extensibility) -> &'static str {
    match extensibility {
        Extensibility::Final => "@final",
        Extensibility::Appendable => "@appendable",
        Extensibility::Mutable => "@mutable",
    }
}

impl IdlWriter<'_, '_> {
    fn state(&self, index: Index) -> DeclarationState {
        self.states.get(index as usize).copied().unwrap_or(DeclarationState::Written)
    }

    fn set(&mut self, index: Index, state: DeclarationState) {
        debug_assert!((index as usize) < self.states.len(), "each node has a state");
        if let Some(entry) = self.states.get_mut(index as usize) {
            *entry = state;
        }
    }

    /// Declares the types that a type contains.
    fn declare_parts(&mut self, ty: TypeView<'_>) -> fmt::Result {
        // A copy, because the visitor can change references.
        let (mut kind, mut parts) = (ty.node().kind.clone(), Vec::new());
        kind.for_each_reference(&mut |index| parts.push(*index));
        for index in parts {
            let part = ty.at(index);
            if is_named(part) {
                self.declare(part)?;
            } else {
                // A cycle contains a named type, so the recursion ends.
                self.declare_parts(part)?;
            }
        }
        Ok(())
    }

    /// Declares a type once, after the types that it contains.
    fn declare(&mut self, ty: TypeView<'_>) -> fmt::Result {
        let node = ty.node();
        match self.state(ty.index) {
            DeclarationState::Pending => {}
            // The type contains itself: a forward declaration is required.
            DeclarationState::Open => {
                self.set(ty.index, DeclarationState::Announced);
                // Only these two can contain themselves.
                let keyword = if matches!(node.kind, NodeKind::Union(_)) { "union" } else { "struct" };
                return self.in_module(&node.name, |f, name| write!(f, "{keyword} {name};"));
            }
            DeclarationState::Announced | DeclarationState::Written => return Ok(()),
        }
        self.set(ty.index, DeclarationState::Open);
        // IDL knows a name only below its declaration.
        self.declare_parts(ty)?;
        self.set(ty.index, DeclarationState::Written);
        let (root, names) = (self.ty.clone(), self.names.clone());
        self.in_module(&node.name, |f, name| write_node(f, (&root, &names), ty, node, name))
    }

    /// Runs `write` inside the modules of a qualified name.
    fn in_module(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut fmt::Formatter<'_>, &str) -> fmt::Result,
    ) -> fmt::Result {
        if !std::mem::take(&mut self.is_first) {
            self.f.write_str("\n\n")?;
        }
        let mut modules: Vec<String> = name.split("::").map(identifier).collect();
        let name = modules.pop().unwrap_or_default();
        for module in &modules {
            write!(self.f, "module {module} {{ ")?;
        }
        if !modules.is_empty() {
            self.f.write_char('\n')?;
        }
        write(self.f, &name)?;
        if !modules.is_empty() {
            write!(self.f, "\n{}", vec!["};"; modules.len()].join(" "))?;
        }
        Ok(())
    }
}

fn write_node(
    f: &mut fmt::Formatter<'_>,
    (root, names): (&DynamicType, &ScopedNames),
    ty: TypeView<'_>,
    node: &Node,
    name: &str,
) -> fmt::Result {
    match &node.kind {
        NodeKind::Alias { of } => {
            let of = ty.at(*of);
            write!(f, "typedef {} {name}{};", reference(of, names), dimensions(of))
        }
        NodeKind::Enum(node) => {
            writeln!(f, "{} @bit_bound({})\nenum {name} {{", extensibility(node.extensibility), node.bit_bound)?;
            for (literal, index) in node.literals.iter().zip(0_usize..) {
                let default = if index == node.default && index != 0 { "@default_literal " } else { "" };
                // A comma behind the last literal is an error in IDL.
                let comma = if index + 1 < node.literals.len() { "," } else { "" };
                writeln!(f, "    {default}@value({}) {}{comma}", literal.value, identifier(&literal.name))?;
            }
            f.write_str("};")
        }
        NodeKind::Bitmask(node) => {
            writeln!(f, "{} @bit_bound({})\nbitmask {name} {{", extensibility(node.extensibility), node.bit_bound)?;
            for (flag, left) in node.flags.iter().zip((0..node.flags.len()).rev()) {
                let comma = if left > 0 { "," } else { "" };
                writeln!(f, "    @position({}) {}{comma}", flag.position, identifier(&flag.name))?;
            }
            f.write_str("};")
        }
        NodeKind::Bitset(node) => {
            writeln!(f, "bitset {name} {{")?;
            let mut end = 0;
            for field in &node.fields {
                // A bitfield without a name is a gap.
                if field.position > end {
                    writeln!(f, "    bitfield<{}>;", field.position - end)?;
                }
                let ty = match (field.is_signed, field.bit_count) {
                    (false, _) => "",
                    (true, 0..=8) => ", int8",
                    (true, 9..=16) => ", int16",
                    (true, 17..=32) => ", int32",
                    (true, _) => ", int64",
                };
                writeln!(f, "    bitfield<{}{ty}> {};", field.bit_count, identifier(&field.name))?;
                end = field.position + field.bit_count;
            }
            f.write_str("};")
        }
        NodeKind::Struct(node) => write_struct(f, (root, names), ty, node, name),
        NodeKind::Union(node) => write_union(f, names, ty, node, name),
        _ => Ok(()),
    }
}

fn write_struct(
    f: &mut fmt::Formatter<'_>,
    (root, names): (&DynamicType, &ScopedNames),
    ty: TypeView<'_>,
    node: &StructNode,
    name: &str,
) -> fmt::Result {
    let base = match node.base {
        Some(base) => format!(" : {}", names.path(&ty.at(base).node().name)),
        None => String::new(),
    };
    writeln!(f, "{}{}\nstruct {name}{base} {{", extensibility(node.extensibility), marks(node.marks))?;
    let mut next_id = match node.inherited.checked_sub(1).and_then(|last| node.members.get(last)) {
        // Ids that follow from the order are left out, as a person would write the type.
        Some(last) => last.id.saturating_add(1),
        None => 0,
    };
    for member in node.members.get(node.inherited..).unwrap_or_default() {
        let id = id_text(member.id, &member.name, member.hash_id.as_deref(), node.marks, next_id);
        next_id = member.id.saturating_add(1);
        write_member(f, (root, names), ty, member, &id)?;
    }
    f.write_str("};")
}

fn write_member(
    f: &mut fmt::Formatter<'_>,
    (root, names): (&DynamicType, &ScopedNames),
    owner: TypeView<'_>,
    member: &MemberNode,
    id_text: &str,
) -> fmt::Result {
    let ty = owner.at(member.ty);
    let mut marks = id_text.to_owned();
    for (is_set, text) in [
        (member.is_key, "@key "),
        (member.is_optional, "@optional "),
        (member.must_understand, "@must_understand "),
        (member.is_external, "@external "),
    ] {
        if is_set {
            marks.push_str(text);
        }
    }
    if let Some(default) = &member.default {
        if let Some(value) = constant(DynamicRef::new(&root.graph, ty.index, default), &owner.node().name) {
            marks.push_str(&format!("@default({value}) "));
        }
    }
    marks.push_str(annotation(member.try_construct));
    let declared = annotated(&marks, &reference(ty, names));
    writeln!(f, "    {declared} {}{};", identifier(&member.name), dimensions(ty))
}

fn write_union(
    f: &mut fmt::Formatter<'_>,
    names: &ScopedNames,
    ty: TypeView<'_>,
    node: &UnionNode,
    name: &str,
) -> fmt::Result {
    let of = ty.at(node.discriminator);
    let user = &*ty.node().name;
    let key = if node.has_key { "@key " } else { "" };
    let tried = annotation(node.try_construct);
    let head = format!("{}{}", extensibility(node.extensibility), marks(node.marks));
    let discriminator = annotated(&format!("{key}{tried}"), &reference(of, names));
    writeln!(f, "{head}\nunion {name} switch ({discriminator}) {{")?;
    let mut next_id = 1;
    for case in &node.cases {
        let Some(index) = case.ty else {
            // IDL has no case without a member: a label without a case selects none.
            let labels: Vec<String> = case.labels.iter().map(|label| label_text(of, *label, user)).collect();
            writeln!(f, "    // {}: no member for {}", case.name, labels.join(", "))?;
            continue;
        };
        for label in &case.labels {
            writeln!(f, "    case {}:", label_text(of, *label, user))?;
        }
        if case.is_default {
            f.write_str("    default:\n")?;
        }
        let member = ty.at(index);
        let id = id_text(case.id, &case.name, case.hash_id.as_deref(), node.marks, next_id);
        let external = if case.is_external { "@external " } else { "" };
        next_id = case.id.saturating_add(1);
        let tried = annotation(case.try_construct);
        let declared = annotated(&format!("{id}{external}{tried}"), &reference(member, names));
        writeln!(f, "        {declared} {}{};", identifier(&case.name), dimensions(member))?;
    }
    f.write_str("};")
}

fn marks(marks: TypeMarks) -> &'static str {
    match (marks.is_nested, marks.has_hash_ids) {
        (false, false) => "",
        (true, false) => " @nested",
        (false, true) => " @autoid(HASH)",
        (true, true) => " @nested @autoid(HASH)",
    }
}

/// The annotation for an id that is not the default; of a hash, its text.
fn id_text(id: u32, name: &str, hash_id: Option<&str>, marks: TypeMarks, next: u32) -> String {
    let default = default_id(name, hash_id, marks, next);
    match hash_id {
        // An id that does not follow from the annotations is always written.
        _ if default != id => format!("@id({id}) "),
        Some("") => "@hashid ".to_owned(),
        Some(hashed) => format!("@hashid(\"{}\") ", escaped_text(hashed)),
        None => String::new(),
    }
}

/// A label of the union `user` in the notation of its discriminator.
fn label_text(of: TypeView<'_>, label: i64, user: &str) -> String {
    use super::PrimitiveKind::{Bool, Char8, Char16, UInt64};
    match of.kind() {
        NodeKind::Enum(node) => {
            // The checks of a type accept only labels that are literals.
            let Some(literal) = node.literal_of_value(label) else {
                debug_assert!(false, "label {label} is no literal of the discriminator");
                return String::new();
            };
            enumerator(&literal.name, &of.resolved().node().name, user)
        }
        NodeKind::Primitive(Bool) => if label == 0 { "FALSE" } else { "TRUE" }.to_owned(),
        NodeKind::Primitive(Char8) => character(char::from(label as u8)),
        NodeKind::Primitive(Char16) => format!("L'\\u{:04x}'", label as u16),
        // Labels are stored as `i64`, so a large one appears negative.
        NodeKind::Primitive(UInt64) => (label as u64).to_string(),
        _ => label.to_string(),
    }
}
