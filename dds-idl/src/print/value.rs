//! Names, types, values, annotations and comments.

use super::IdlPrinter;
use crate::model::{
    AnnotationDefinition, AnnotationKind, Annotations, AutoIdKind, ConstantValue, DataRepresentations, DataType,
    DefinitionId, DefinitionKind, ElementType, Extensibility, Specification, TryConstruct,
};
pub(super) use dds_cdr::cdr::dynamic::idl_text::identifier;
use dds_cdr::cdr::dynamic::idl_text::{annotated, escaped, escaped_text};
use std::collections::{HashMap, HashSet};

impl IdlPrinter<'_> {
    /// The shortest name that is right here: a part with one meaning needs nothing before it.
    pub(super) fn path(&self, id: DefinitionId) -> String {
        let definition = self.specification.definition(id);
        let here = self.open.last().map(|module| module.id);
        if definition.parent == here && self.is_unique(&definition.name) {
            return identifier(&definition.name);
        }
        self.scoped(&definition.scoped_name)
    }

    fn scoped(&self, scoped_name: &str) -> String {
        // The scope of an annotation has no name outside of it.
        let visible = match scoped_name.rsplit_once('@') {
            Some((_, inner)) => inner.split_once("::").map_or(inner, |(_, name)| name),
            None => scoped_name,
        };
        let parts: Vec<String> = visible.split("::").map(identifier).collect();
        let first = visible.split("::").next().unwrap_or_default();
        let is_plain = visible != scoped_name || self.is_unique(first);
        format!("{}{}", if is_plain { "" } else { "::" }, parts.join("::"))
    }

    /// The type of a member or typedef, and the dimensions behind its name.
    pub(super) fn declarator(&self, ty: &DataType) -> (String, String) {
        match ty {
            DataType::Array { element, dimensions } => {
                let lengths: String = dimensions.iter().map(|length| format!("[{length}]")).collect();
                let (text, inner) = self.declarator(&element.ty);
                (text, format!("{lengths}{inner}"))
            }
            other => (self.ty(other), String::new()),
        }
    }

    pub(super) fn ty(&self, ty: &DataType) -> String {
        let bound = |bound: &Option<u32>| bound.map(|bound| format!(", {bound}")).unwrap_or_default();
        match ty {
            DataType::Sequence { element, bound: max } => format!("sequence<{}{}>", self.element(element), bound(max)),
            DataType::Map { key, element, bound: max } => {
                format!("map<{}, {}{}>", self.element(key), self.element(element), bound(max))
            }
            DataType::Named(id) => self.path(*id),
            DataType::Array { .. } => {
                let (text, lengths) = self.declarator(ty);
                format!("{text}{lengths}")
            }
            DataType::Basic(_)
            | DataType::String { .. }
            | DataType::WString { .. }
            | DataType::Fixed { .. }
            | DataType::Opaque(_) => self.specification.type_name(ty),
        }
    }

    fn element(&self, element: &ElementType) -> String {
        annotated(&self.annotations(&element.annotations), &self.ty(&element.ty))
    }

    /// A value as an expression.
    pub(super) fn value(&self, value: &ConstantValue) -> String {
        match value {
            ConstantValue::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
            ConstantValue::Integer(value) => value.to_string(),
            ConstantValue::Float(value) => format!("{value:?}"),
            ConstantValue::Fixed(value) => {
                let scale = usize::from(value.scale);
                let digits = format!("{:0width$}", value.digits.unsigned_abs(), width = scale + 1);
                let (whole, rest) = digits.split_at(digits.len() - scale);
                let sign = if value.digits < 0 { "-" } else { "" };
                if rest.is_empty() { format!("{sign}{whole}d") } else { format!("{sign}{whole}.{rest}d") }
            }
            ConstantValue::Char(value) => format!("'{}'", escaped(*value, '\'')),
            ConstantValue::WChar(value) => format!("L'{}'", escaped(*value, '\'')),
            ConstantValue::String(text) => format!("\"{}\"", escaped_text(text)),
            ConstantValue::WString(text) => format!("L\"{}\"", escaped_text(text)),
            ConstantValue::Enumerator(id, index) => self.enumerator(*id, *index),
            // IDL has no lists. As in the files of ROS, the list is a text.
            ConstantValue::List(values) => {
                let values: Vec<String> = values.iter().map(|value| self.value(value)).collect();
                format!("\"{}\"", escaped_text(&format!("({})", values.join(", "))))
            }
        }
    }

    /// An enumerator is in the scope around its enum.
    ///
    /// If another enum of the scope has it too, only the name of the enum gives its meaning.
    pub(super) fn enumerator(&self, id: DefinitionId, index: usize) -> String {
        let definition = self.specification.definition(id);
        let DefinitionKind::Enum(found) = &definition.kind else {
            debug_assert!(false, "only an enum has enumerators");
            return String::new();
        };
        let name = found.enumerators.get(index).map(|literal| &*literal.name).unwrap_or_default();
        if self.shared_enumerators.contains(&(definition.parent, name)) {
            return self.scoped(&format!("{}::{name}", definition.scoped_name));
        }
        let Some(parent) = definition.parent else {
            let name_here = identifier(name);
            return if self.is_unique(name) { name_here } else { format!("::{name_here}") };
        };
        self.scoped(&format!("{}::{name}", self.specification.definition(parent).scoped_name))
    }

    /// Annotations in one line, each with a space behind it.
    pub(super) fn annotations(&self, annotations: &Annotations) -> String {
        let mut text = String::new();
        for annotation in annotations {
            text.push_str(&self.annotation(&annotation.kind));
            text.push(' ');
        }
        text
    }

    pub(super) fn annotation(&self, kind: &AnnotationKind) -> String {
        let string = |text: &str| format!("\"{}\"", escaped_text(text));
        match kind {
            AnnotationKind::Id(id) => format!("@id({id})"),
            AnnotationKind::HashId(None) => "@hashid".to_owned(),
            AnnotationKind::HashId(Some(text)) => format!("@hashid({})", string(text)),
            AnnotationKind::AutoId(kind) => format!("@autoid({})", auto_id(*kind)),
            AnnotationKind::Optional(flag) => marked("optional", *flag),
            AnnotationKind::Position(position) => format!("@position({position})"),
            AnnotationKind::Value(value) => format!("@value({})", self.value(value)),
            AnnotationKind::Extensibility(kind) => extensibility(*kind).to_owned(),
            AnnotationKind::Key(flag) => marked("key", *flag),
            AnnotationKind::MustUnderstand(flag) => marked("must_understand", *flag),
            AnnotationKind::DefaultLiteral => "@default_literal".to_owned(),
            AnnotationKind::Default(value) => format!("@default({})", self.value(value)),
            AnnotationKind::Range { min, max } => {
                format!("@range(min = {}, max = {})", self.value(min), self.value(max))
            }
            AnnotationKind::Min(value) => format!("@min({})", self.value(value)),
            AnnotationKind::Max(value) => format!("@max({})", self.value(value)),
            AnnotationKind::Unit(unit) => format!("@unit({})", string(unit)),
            AnnotationKind::BitBound(bits) => format!("@bit_bound({bits})"),
            AnnotationKind::External(flag) => marked("external", *flag),
            AnnotationKind::Nested(flag) => marked("nested", *flag),
            AnnotationKind::DefaultNested(flag) => marked("default_nested", *flag),
            AnnotationKind::Topic { name, platform } => {
                let mut arguments = Vec::new();
                arguments.extend(name.as_deref().map(|name| format!("name = {}", string(name))));
                arguments.extend(platform.as_deref().map(|platform| format!("platform = {}", string(platform))));
                with_arguments("topic", &arguments)
            }
            AnnotationKind::DataRepresentation(set) => format!("@data_representation({})", representations(*set)),
            AnnotationKind::TryConstruct(TryConstruct::Discard) => "@try_construct(DISCARD)".to_owned(),
            AnnotationKind::TryConstruct(TryConstruct::UseDefault) => "@try_construct(USE_DEFAULT)".to_owned(),
            AnnotationKind::TryConstruct(TryConstruct::Trim) => "@try_construct(TRIM)".to_owned(),
            AnnotationKind::IgnoreLiteralNames(flag) => marked("ignore_literal_names", *flag),
            AnnotationKind::NonSerialized(flag) => marked("non_serialized", *flag),
            AnnotationKind::Verbatim { language, placement, text } => format!(
                "@verbatim(language = {}, placement = {}, text = {})",
                string(language),
                string(placement),
                string(text)
            ),
            AnnotationKind::Service { platform } => format!("@service(platform = {})", string(platform)),
            AnnotationKind::OneWay(flag) => marked("oneway", *flag),
            AnnotationKind::Ami(flag) => marked("ami", *flag),
            AnnotationKind::Custom { name, arguments } => {
                let declared = self.declared_annotation(name);
                let mut texts = Vec::new();
                for argument in arguments {
                    let member = declared.and_then(|found| found.members.iter().find(|one| one.name == argument.name));
                    if member.is_some_and(|member| member.default.as_ref() == Some(&argument.value)) {
                        continue;
                    }
                    texts.push(format!("{} = {}", identifier(&argument.name), self.value(&argument.value)));
                }
                with_arguments(name, &texts)
            }
        }
    }

    /// The declaration of an annotation of the user, searched from the open module to the outside.
    fn declared_annotation(&self, name: &str) -> Option<&AnnotationDefinition> {
        let (scope, last) = name.rsplit_once("::").map_or(("", name), |(scope, last)| (scope, last));
        let open = self.open.iter().rev().map(|module| &*self.specification.definition(module.id).scoped_name);
        for module in open.chain([""]) {
            let parts = [module, scope, &format!("@{last}")].map(str::to_owned);
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let id = self.specification.find(&parts.join("::"));
            if let Some(DefinitionKind::Annotation(found)) = id.map(|id| &self.specification.definition(id).kind) {
                return Some(found);
            }
        }
        None
    }

    /// The comment of a definition outside of other definitions.
    pub(super) fn comment(&mut self, doc: Option<&str>) {
        self.indented_comment(0, doc);
    }

    pub(super) fn indented_comment(&mut self, depth: usize, doc: Option<&str>) {
        for line in doc.unwrap_or_default().lines() {
            let line = line.trim_end();
            // A backslash at the end would join the next line.
            let end = if line.ends_with('\\') { " " } else { "" };
            let space = if line.is_empty() { "" } else { " " };
            self.indented(depth, &format!("//{space}{line}{end}"));
        }
    }

    /// Returns whether a name has one meaning in the specification.
    fn is_unique(&self, name: &str) -> bool {
        self.names.get(&name.to_ascii_lowercase()) == Some(&1)
    }
}

pub(super) fn extensibility(kind: Extensibility) -> &'static str {
    match kind {
        Extensibility::Final => "@final",
        Extensibility::Appendable => "@appendable",
        Extensibility::Mutable => "@mutable",
    }
}

pub(super) fn auto_id(kind: AutoIdKind) -> &'static str {
    match kind {
        AutoIdKind::Sequential => "SEQUENTIAL",
        AutoIdKind::Hash => "HASH",
    }
}

fn marked(name: &str, flag: bool) -> String {
    if flag { format!("@{name}") } else { format!("@{name}(FALSE)") }
}

fn with_arguments(name: &str, arguments: &[String]) -> String {
    if arguments.is_empty() { format!("@{name}") } else { format!("@{name}({})", arguments.join(", ")) }
}

fn representations(set: DataRepresentations) -> String {
    let mut words = Vec::new();
    let mut known = 0;
    for (flag, word) in [
        (DataRepresentations::XCDR1, "XCDR1"),
        (DataRepresentations::XML, "XML"),
        (DataRepresentations::XCDR2, "XCDR2"),
    ] {
        if set.contains(flag) {
            words.push(word.to_owned());
            known |= flag.0;
        }
    }
    if words.is_empty() || set.0 != known {
        words.push((set.0 & !known).to_string());
    }
    words.join("|")
}

/// The enumerators that several enums of one scope have. Only the name of the enum tells them apart.
pub(super) fn shared_enumerators(specification: &Specification) -> HashSet<(Option<DefinitionId>, &str)> {
    let (mut seen, mut shared) = (HashSet::new(), HashSet::new());
    for (_, definition) in specification.definitions() {
        let DefinitionKind::Enum(found) = &definition.kind else { continue };
        for literal in &found.enumerators {
            let place = (definition.parent, &*literal.name);
            if !seen.insert(place) {
                shared.insert(place);
            }
        }
    }
    shared
}

/// How often each name is that of a definition, a member or an enumerator, in lowercase.
///
/// A name with one use has the same meaning in each scope.
pub(super) fn name_counts(specification: &Specification) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    let mut add = |name: &str| *counts.entry(name.to_ascii_lowercase()).or_insert(0) += 1;
    for (_, definition) in specification.definitions() {
        add(&definition.name);
        match &definition.kind {
            DefinitionKind::Struct(found) | DefinitionKind::Exception(found) => {
                for member in &found.members {
                    add(&member.name);
                }
            }
            DefinitionKind::Union(found) => {
                for branch in &found.branches {
                    add(&branch.member.name);
                }
            }
            DefinitionKind::Enum(found) => {
                for literal in &found.enumerators {
                    add(&literal.name);
                }
            }
            DefinitionKind::Bitmask(found) => {
                for flag in &found.flags {
                    add(&flag.name);
                }
            }
            DefinitionKind::Bitset(found) => {
                for name in found.fields.iter().filter_map(|field| field.name.as_ref()) {
                    add(name);
                }
            }
            DefinitionKind::Interface(found) => {
                for operation in &found.operations {
                    add(&operation.name);
                }
                for attribute in &found.attributes {
                    add(&attribute.name);
                }
            }
            DefinitionKind::Annotation(found) => {
                for member in &found.members {
                    add(&member.name);
                }
            }
            DefinitionKind::Module(_)
            | DefinitionKind::Constant(_)
            | DefinitionKind::Typedef(_)
            | DefinitionKind::NotData(_) => {}
        }
    }
    counts
}
