//! Prints a type as IDL 4.2, with the annotations of XTYPES 1.3 (7.3.1.2).

use super::DynamicType;
use super::assembler::default_id;
use super::format::write_value;
use super::graph::{Element, Index, MemberNode, Node, NodeKind, StructNode, TypeMarks, TypeView, UnionNode};
use super::view::DynamicRef;
use crate::cdr::{Extensibility, TryConstruct};
use std::collections::HashMap;
use std::fmt::{self, Write};

impl fmt::Display for DynamicType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let states = vec![DeclarationState::Pending; self.graph.nodes.len()];
        let mut first_of_name = HashMap::new();
        for (node, index) in self.graph.nodes.iter().zip(0..) {
            first_of_name.entry(&*node.name).or_insert(index);
        }
        let mut writer = IdlWriter { f, ty: self, states, first_of_name, is_first: true };
        if is_named(self.view()) {
            return writer.declare(self.view());
        }
        writer.declare_parts(self.view())?;
        let text = reference(self.view());
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
    /// A type that was built twice has two nodes. IDL has one declaration for a name.
    first_of_name: HashMap<&'a str, Index>,
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
fn reference(ty: TypeView<'_>) -> String {
    let bounded = |name: &str, bound: &Option<u32>| match bound {
        Some(bound) => format!("{name}<{bound}>"),
        None => name.to_owned(),
    };
    let inside = |bound: &Option<u32>| bound.map(|bound| format!(", {bound}")).unwrap_or_default();
    match &ty.node().kind {
        NodeKind::Primitive(kind) => kind.name().to_owned(),
        NodeKind::String { bound } => bounded("string", bound),
        NodeKind::WString { bound } => bounded("wstring", bound),
        NodeKind::Sequence { bound, element } => {
            let marks = element_marks(element);
            format!("sequence<{marks}{}{}>", full_reference(ty.at(element.ty)), inside(bound))
        }
        NodeKind::Map { bound, key, element } => {
            let (key_marks, marks) = (element_marks(key), element_marks(element));
            let (key, element) = (full_reference(ty.at(key.ty)), full_reference(ty.at(element.ty)));
            format!("map<{key_marks}{key}, {marks}{element}{}>", inside(bound))
        }
        NodeKind::Array { element, .. } => reference(ty.at(element.ty)),
        _ => ty.node().name.to_string(),
    }
}

fn element_marks(element: &Element) -> String {
    let external = if element.is_external { "@external " } else { "" };
    format!("{external}{}", annotation(element.try_construct))
}

/// The reference with dimensions, for places where IDL has no declarator.
fn full_reference(ty: TypeView<'_>) -> String {
    format!("{}{}", reference(ty), dimensions(ty))
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
        let ty = ty.at(self.first_of_name.get(&*ty.node().name).copied().unwrap_or(ty.index));
        let node = ty.node();
        match self.state(ty.index) {
            DeclarationState::Pending => {}
            // The type contains itself: a forward declaration is required.
            DeclarationState::Open => {
                self.set(ty.index, DeclarationState::Announced);
                let keyword = if matches!(node.kind, NodeKind::Union(_)) { "union" } else { "struct" };
                return self.in_module(&node.name, |f, name| write!(f, "{keyword} {name};"));
            }
            DeclarationState::Announced | DeclarationState::Written => return Ok(()),
        }
        self.set(ty.index, DeclarationState::Open);
        self.declare_parts(ty)?;
        self.set(ty.index, DeclarationState::Written);
        let root = self.ty.clone();
        self.in_module(&node.name, |f, name| write_node(f, &root, ty, node, name))
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
        let mut modules: Vec<&str> = name.split("::").collect();
        let name = modules.pop().unwrap_or(name);
        for module in &modules {
            write!(self.f, "module {module} {{ ")?;
        }
        if !modules.is_empty() {
            self.f.write_char('\n')?;
        }
        write(self.f, name)?;
        if !modules.is_empty() {
            write!(self.f, "\n{}", vec!["};"; modules.len()].join(" "))?;
        }
        Ok(())
    }
}

fn write_node(
    f: &mut fmt::Formatter<'_>,
    root: &DynamicType,
    ty: TypeView<'_>,
    node: &Node,
    name: &str,
) -> fmt::Result {
    match &node.kind {
        NodeKind::Alias { of } => {
            let of = ty.at(*of);
            write!(f, "typedef {} {name}{};", reference(of), dimensions(of))
        }
        NodeKind::Enum(node) => {
            writeln!(f, "{} @bit_bound({})\nenum {name} {{", extensibility(node.extensibility), node.bit_bound)?;
            for (literal, index) in node.literals.iter().zip(0_usize..) {
                let default = if index == node.default && index != 0 { "@default_literal " } else { "" };
                let comma = if index + 1 < node.literals.len() { "," } else { "" };
                writeln!(f, "    {default}@value({}) {}{comma}", literal.value, literal.name)?;
            }
            f.write_str("};")
        }
        NodeKind::Bitmask(node) => {
            writeln!(f, "{} @bit_bound({})\nbitmask {name} {{", extensibility(node.extensibility), node.bit_bound)?;
            for (flag, left) in node.flags.iter().zip((0..node.flags.len()).rev()) {
                let comma = if left > 0 { "," } else { "" };
                writeln!(f, "    @position({}) {}{comma}", flag.position, flag.name)?;
            }
            f.write_str("};")
        }
        NodeKind::Bitset(node) => {
            writeln!(f, "bitset {name} {{")?;
            let mut end = 0;
            for field in &node.fields {
                if field.position > end {
                    writeln!(f, "    bitfield<{}>;", field.position - end)?;
                }
                writeln!(f, "    bitfield<{}> {};", field.bit_count, field.name)?;
                end = field.position + field.bit_count;
            }
            f.write_str("};")
        }
        NodeKind::Struct(node) => write_struct(f, root, ty, node, name),
        NodeKind::Union(node) => write_union(f, ty, node, name),
        _ => Ok(()),
    }
}

fn write_struct(
    f: &mut fmt::Formatter<'_>,
    root: &DynamicType,
    ty: TypeView<'_>,
    node: &StructNode,
    name: &str,
) -> fmt::Result {
    let base = node.base.map(|base| format!(" : {}", ty.at(base).node().name)).unwrap_or_default();
    writeln!(f, "{}{}\nstruct {name}{base} {{", extensibility(node.extensibility), marks(node.marks))?;
    let mut next_id = match node.inherited.checked_sub(1).and_then(|last| node.members.get(last)) {
        Some(last) => last.id.saturating_add(1),
        None => 0,
    };
    for member in node.members.get(node.inherited..).unwrap_or_default() {
        f.write_str("    ")?;
        f.write_str(&id_text(member.id, &member.name, member.hash_id.as_deref(), node.marks, next_id))?;
        next_id = member.id.saturating_add(1);
        write_member(f, root, ty.at(member.ty), member)?;
    }
    f.write_str("};")
}

fn write_member(f: &mut fmt::Formatter<'_>, root: &DynamicType, ty: TypeView<'_>, member: &MemberNode) -> fmt::Result {
    let annotations = [
        (member.is_key, "@key "),
        (member.is_optional, "@optional "),
        (member.must_understand, "@must_understand "),
        (member.is_external, "@external "),
    ];
    for (is_set, text) in annotations {
        if is_set {
            f.write_str(text)?;
        }
    }
    if let Some(default) = &member.default {
        f.write_str("@default(")?;
        write_value(DynamicRef::new(&root.graph, ty.index, default), f)?;
        f.write_str(") ")?;
    }
    f.write_str(annotation(member.try_construct))?;
    writeln!(f, "{} {}{};", reference(ty), member.name, dimensions(ty))
}

fn write_union(f: &mut fmt::Formatter<'_>, ty: TypeView<'_>, node: &UnionNode, name: &str) -> fmt::Result {
    let of = ty.at(node.discriminator);
    let key = if node.has_key { "@key " } else { "" };
    let tried = annotation(node.try_construct);
    let head = format!("{}{}", extensibility(node.extensibility), marks(node.marks));
    writeln!(f, "{head}\nunion {name} switch ({key}{tried}{}) {{", reference(of))?;
    let mut next_id = 1;
    for case in &node.cases {
        for label in &case.labels {
            writeln!(f, "    case {}:", label_text(of, *label))?;
        }
        if case.is_default {
            f.write_str("    default:\n")?;
        }
        let Some(index) = case.ty else {
            writeln!(f, "        ; // {}", case.name)?;
            continue;
        };
        let member = ty.at(index);
        let id = id_text(case.id, &case.name, case.hash_id.as_deref(), node.marks, next_id);
        let external = if case.is_external { "@external " } else { "" };
        next_id = case.id.saturating_add(1);
        let tried = annotation(case.try_construct);
        writeln!(f, "        {id}{external}{tried}{} {}{};", reference(member), case.name, dimensions(member))?;
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
        _ if default != id => format!("@id({id}) "),
        Some("") => "@hashid ".to_owned(),
        Some(hashed) => format!("@hashid({hashed:?}) "),
        None => String::new(),
    }
}

/// A label in the notation of its discriminator.
fn label_text(of: TypeView<'_>, label: i64) -> String {
    use super::PrimitiveKind::{Bool, Char8, UInt64};
    match of.kind() {
        NodeKind::Enum(node) => {
            node.literal_of_value(label).map(|literal| literal.name.to_string()).unwrap_or_default()
        }
        NodeKind::Primitive(Bool) => if label == 0 { "FALSE" } else { "TRUE" }.to_owned(),
        NodeKind::Primitive(Char8) => format!("{:?}", char::from(label as u8)),
        NodeKind::Primitive(UInt64) => (label as u64).to_string(),
        _ => label.to_string(),
    }
}
