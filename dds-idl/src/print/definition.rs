//! The definitions.

use super::IdlPrinter;
use super::value::{auto_id, extensibility, identifier};
use crate::model::{
    AnnotationDefinition, AnnotationKind, Annotations, AutoIdKind, BitmaskDefinition, BitsetDefinition, DataType,
    DefinitionId, DefinitionKind, EnumDefinition, Extensibility, InterfaceDefinition, MemberDefinition, NotData,
    OperationDefinition, ParameterDirection, Specification, StructDefinition, UnionDefinition, member_id_hash,
};
use dds_cdr::cdr::dynamic::idl_text::annotated;

/// The bits of an enum or bitmask without `@bit_bound`.
const USUAL_BITS: u8 = 32;

impl IdlPrinter<'_> {
    /// Writes a definition in the open module.
    pub(super) fn definition(&mut self, id: DefinitionId) {
        let is_short =
            matches!(self.specification.definition(id).kind, DefinitionKind::Constant(_) | DefinitionKind::Typedef(_));
        if !is_short || self.text.ends_with("};\n") {
            self.separate();
        }
        self.definition_inside(id, 0);
    }

    /// Writes a definition, perhaps inside of other definitions.
    fn definition_inside(&mut self, id: DefinitionId, depth: usize) {
        let specification = self.specification;
        let definition = specification.definition(id);
        self.indented_comment(depth, definition.doc.as_deref());
        let name = identifier(&definition.name);
        match &definition.kind {
            DefinitionKind::Struct(found) => {
                self.type_annotations(&definition.annotations, Some(found.extensibility), depth);
                self.nesting(&definition.annotations, found.is_nested, found.auto_id, depth);
                self.structure(id, "struct", found, depth);
            }
            DefinitionKind::Exception(found) => {
                self.type_annotations(&definition.annotations, Some(found.extensibility), depth);
                self.structure(id, "exception", found, depth);
            }
            DefinitionKind::Union(found) => {
                self.type_annotations(&definition.annotations, Some(found.extensibility), depth);
                self.nesting(&definition.annotations, found.is_nested, found.auto_id, depth);
                self.union(id, found, depth);
            }
            DefinitionKind::Enum(found) => {
                self.type_annotations(&definition.annotations, Some(found.extensibility), depth);
                self.bits(&definition.annotations, found.bit_bound, depth);
                self.enumeration(&name, found, depth);
            }
            DefinitionKind::Bitmask(found) => {
                self.type_annotations(&definition.annotations, Some(found.extensibility), depth);
                self.bits(&definition.annotations, found.bit_bound, depth);
                self.bitmask(&name, found, depth);
            }
            DefinitionKind::Bitset(found) => {
                self.type_annotations(&definition.annotations, None, depth);
                self.bitset(&name, found, depth);
            }
            DefinitionKind::Typedef(found) => {
                self.type_annotations(&definition.annotations, None, depth);
                let (ty, lengths) = self.declarator(&found.ty);
                self.indented(depth, &format!("typedef {ty} {name}{lengths};"));
            }
            DefinitionKind::Constant(found) => {
                self.type_annotations(&definition.annotations, None, depth);
                let (ty, value) = (self.ty(&found.ty), self.value(&found.value));
                // The digits of a `fixed` constant are those of its value.
                let ty = if let DataType::Fixed { .. } = found.ty { "fixed".to_owned() } else { ty };
                self.indented(depth, &format!("const {ty} {name} = {value};"));
            }
            DefinitionKind::Interface(found) => {
                self.type_annotations(&definition.annotations, None, depth);
                self.interface(id, found, depth);
            }
            DefinitionKind::Annotation(found) => self.annotation_definition(id, found, depth),
            DefinitionKind::NotData(kind) => self.not_data(&name, *kind, depth),
            DefinitionKind::Module(_) => debug_assert!(false, "modules are opened and closed"),
        }
    }

    /// The annotations of a type, each in a line. The extensibility is first.
    fn type_annotations(&mut self, annotations: &Annotations, kind: Option<Extensibility>, depth: usize) {
        if self.is_plain {
            return;
        }
        if let Some(kind) = kind {
            self.indented(depth, extensibility(kind));
        }
        for annotation in annotations {
            let is_written = kind.is_some() && matches!(annotation.kind, AnnotationKind::Extensibility(_));
            if !is_written {
                let text = self.annotation(&annotation.kind);
                self.indented(depth, &text);
            }
        }
    }

    /// `@nested` and `@autoid`, if the defaults of the modules say something else.
    fn nesting(&mut self, annotations: &Annotations, is_nested: bool, rule: AutoIdKind, depth: usize) {
        if self.is_plain {
            return;
        }
        let module = self.open.last().copied();
        let usual = annotations.auto_id().or(module.map(|module| module.auto_id)).unwrap_or_default();
        if usual != rule {
            self.indented(depth, &format!("@autoid({})", auto_id(rule)));
        }
        let is_topic = annotations.is_topic() && annotations.nested().is_none();
        let default = !is_topic && module.is_some_and(|module| module.is_nested);
        if annotations.nested().unwrap_or(default) != is_nested {
            self.indented(depth, if is_nested { "@nested" } else { "@nested(FALSE)" });
        }
    }

    fn bits(&mut self, annotations: &Annotations, bits: u8, depth: usize) {
        if !self.is_plain && annotations.bit_bound().is_none() && bits != USUAL_BITS {
            self.indented(depth, &format!("@bit_bound({bits})"));
        }
    }

    fn structure(&mut self, id: DefinitionId, keyword: &str, definition: &StructDefinition, depth: usize) {
        let name = identifier(&self.specification.definition(id).name);
        let base = definition.base.map(|base| format!(" : {}", self.path(base))).unwrap_or_default();
        self.indented(depth, &format!("{keyword} {name}{base} {{"));
        let mut next = definition.base.map_or(0, |base| next_id_behind(self.specification, base));
        for member in &definition.members {
            self.indented_comment(depth + 1, member.doc.as_deref());
            self.member(id, member, (definition.auto_id, next), depth + 1);
            next = member.id.saturating_add(1);
        }
        self.indented(depth, "};");
    }

    /// Writes a member. `ids` are the rule of the type, and the id behind the member before.
    fn member(&mut self, owner: DefinitionId, member: &MemberDefinition, ids: (AutoIdKind, u32), depth: usize) {
        let mut marks = self.annotations(&member.annotations);
        let is_given = member.annotations.id().is_some() || member.annotations.hash_id().is_some();
        let usual = if ids.0 == AutoIdKind::Hash { member_id_hash(&member.name) } else { ids.1 };
        if !is_given && member.id != usual {
            marks.push_str(&format!("@id({}) ", member.id));
        }
        let name = identifier(&member.name);
        let (ty, lengths) = self.declarator(&member.ty);
        if let Some(definition) = self.definition_of_inside(owner, &member.ty, depth) {
            self.indented(depth, &format!("{marks}{definition} {name}{lengths};"));
            return;
        }
        let text = format!("{} {name}{lengths};", annotated(&marks, &ty));
        self.indented(depth, &text);
    }

    /// The text of a definition inside of the owner. It stands in place of the type where it is used first.
    fn definition_of_inside(&mut self, owner: DefinitionId, ty: &DataType, depth: usize) -> Option<String> {
        let inner = self.type_inside(owner, ty)?;
        let start = self.text.len();
        let outer = std::mem::replace(&mut self.is_plain, true);
        self.definition_inside(inner, depth);
        self.is_plain = outer;
        let text = self.text.split_off(start);
        Some(text.trim().trim_end_matches(';').to_owned())
    }

    /// The type of a member, if its definition is inside of the owner and not written yet.
    fn type_inside(&mut self, owner: DefinitionId, ty: &DataType) -> Option<DefinitionId> {
        match ty {
            DataType::Array { element, .. } => self.type_inside(owner, &element.ty),
            DataType::Named(id) => {
                let is_inside = self.specification.definition(*id).parent == Some(owner);
                if is_inside && self.written.insert(*id) { Some(*id) } else { None }
            }
            _ => None,
        }
    }

    fn union(&mut self, id: DefinitionId, definition: &UnionDefinition, depth: usize) {
        let name = identifier(&self.specification.definition(id).name);
        let discriminator = &definition.discriminator;
        let marks = self.annotations(&discriminator.annotations);
        let inside = self.definition_of_inside(id, &discriminator.ty, depth);
        let ty = inside.unwrap_or_else(|| self.ty(&discriminator.ty));
        self.indented(depth, &format!("union {name} switch ({}) {{", annotated(&marks, &ty)));
        let mut next = 1;
        for branch in &definition.branches {
            self.indented_comment(depth + 1, branch.member.doc.as_deref());
            for label in &branch.labels {
                let text = self.label(&discriminator.ty, *label);
                self.indented(depth + 1, &format!("case {text}:"));
            }
            if branch.is_default {
                self.indented(depth + 1, "default:");
            }
            self.member(id, &branch.member, (definition.auto_id, next), depth + 2);
            next = branch.member.id.saturating_add(1);
        }
        self.indented(depth, "};");
    }

    fn label(&self, ty: &DataType, label: i64) -> String {
        use crate::model::{BasicType, ConstantValue};
        let character = u32::try_from(label).ok().and_then(char::from_u32);
        match (self.specification.resolve(ty), character) {
            (DataType::Basic(BasicType::Bool), _) => self.value(&ConstantValue::Bool(label != 0)),
            (DataType::Basic(BasicType::Char), Some(value)) => self.value(&ConstantValue::Char(value)),
            (DataType::Basic(BasicType::WChar), Some(value)) => self.value(&ConstantValue::WChar(value)),
            (DataType::Named(id), _) => match &self.specification.definition(*id).kind {
                DefinitionKind::Enum(found) => {
                    let index = found.enumerators.iter().position(|literal| i64::from(literal.value) == label);
                    index.map_or_else(|| label.to_string(), |index| self.enumerator(*id, index))
                }
                _ => label.to_string(),
            },
            _ => label.to_string(),
        }
    }

    fn enumeration(&mut self, name: &str, definition: &EnumDefinition, depth: usize) {
        self.indented(depth, &format!("enum {name} {{"));
        let mut next = Some(0);
        let count = definition.enumerators.len();
        for (index, literal) in definition.enumerators.iter().enumerate() {
            self.indented_comment(depth + 1, literal.doc.as_deref());
            let mut marks = self.annotations(&literal.annotations);
            if literal.annotations.value().is_none() && next != Some(literal.value) {
                marks.push_str(&format!("@value({}) ", literal.value));
            }
            let comma = if index + 1 < count { "," } else { "" };
            self.indented(depth + 1, &format!("{marks}{}{comma}", identifier(&literal.name)));
            next = literal.value.checked_add(1);
        }
        self.indented(depth, "};");
    }

    fn bitmask(&mut self, name: &str, definition: &BitmaskDefinition, depth: usize) {
        self.indented(depth, &format!("bitmask {name} {{"));
        let mut next = 0;
        let count = definition.flags.len();
        for (index, flag) in definition.flags.iter().enumerate() {
            self.indented_comment(depth + 1, flag.doc.as_deref());
            let mut marks = self.annotations(&flag.annotations);
            if flag.annotations.position().is_none() && next != flag.position {
                marks.push_str(&format!("@position({}) ", flag.position));
            }
            let comma = if index + 1 < count { "," } else { "" };
            self.indented(depth + 1, &format!("{marks}{}{comma}", identifier(&flag.name)));
            next = flag.position.saturating_add(1);
        }
        self.indented(depth, "};");
    }

    fn bitset(&mut self, name: &str, definition: &BitsetDefinition, depth: usize) {
        let base = definition.base.map(|base| format!(" : {}", self.path(base))).unwrap_or_default();
        self.indented(depth, &format!("bitset {name}{base} {{"));
        for field in &definition.fields {
            self.indented_comment(depth + 1, field.doc.as_deref());
            let marks = self.annotations(&field.annotations);
            let ty = field.ty.as_ref().map(|ty| format!(", {}", self.ty(ty))).unwrap_or_default();
            let name = field.name.as_deref().map(|name| format!(" {}", identifier(name))).unwrap_or_default();
            self.indented(depth + 1, &format!("{marks}bitfield<{}{ty}>{name};", field.bit_count));
        }
        self.indented(depth, "};");
    }

    fn interface(&mut self, id: DefinitionId, definition: &InterfaceDefinition, depth: usize) {
        let name = identifier(&self.specification.definition(id).name);
        let bases = self.paths(" : ", &definition.bases, "");
        self.indented(depth, &format!("interface {name}{bases} {{"));
        for child in &definition.definitions {
            self.definition_inside(*child, depth + 1);
        }
        for attribute in &definition.attributes {
            self.indented_comment(depth + 1, attribute.doc.as_deref());
            let marks = self.annotations(&attribute.annotations);
            let read_only = if attribute.is_read_only { "readonly " } else { "" };
            let (ty, name) = (self.ty(&attribute.ty), identifier(&attribute.name));
            let (get, set) = match attribute.is_read_only {
                true => (self.paths(" raises (", &attribute.get_raises, ")"), String::new()),
                false => (
                    self.paths(" getraises (", &attribute.get_raises, ")"),
                    self.paths(" setraises (", &attribute.set_raises, ")"),
                ),
            };

            self.indented(depth + 1, &format!("{marks}{read_only}attribute {ty} {name}{get}{set};"));
        }
        for operation in &definition.operations {
            self.indented_comment(depth + 1, operation.doc.as_deref());
            let text = self.operation(operation);
            self.indented(depth + 1, &text);
        }
        self.indented(depth, "};");
    }

    fn operation(&self, operation: &OperationDefinition) -> String {
        let mut parameters = Vec::new();
        for parameter in &operation.parameters {
            let direction = match parameter.direction {
                ParameterDirection::In => "in",
                ParameterDirection::Out => "out",
                ParameterDirection::InOut => "inout",
            };
            let marks = self.annotations(&parameter.annotations);
            parameters.push(format!("{marks}{direction} {} {}", self.ty(&parameter.ty), identifier(&parameter.name)));
        }
        let marks = self.annotations(&operation.annotations);
        let is_marked = operation.annotations.is_one_way();
        let one_way = if operation.is_one_way && !is_marked { "oneway " } else { "" };
        let result = operation.result.as_ref().map_or_else(|| "void".to_owned(), |ty| self.ty(ty));
        let raises = self.paths(" raises (", &operation.raises, ")");
        let result = format!("{one_way}{result}");
        format!("{} {}({}){raises};", annotated(&marks, &result), identifier(&operation.name), parameters.join(", "))
    }

    fn paths(&self, start: &str, ids: &[DefinitionId], end: &str) -> String {
        if ids.is_empty() {
            return String::new();
        }
        let paths: Vec<String> = ids.iter().map(|id| self.path(*id)).collect();
        format!("{start}{}{end}", paths.join(", "))
    }

    fn annotation_definition(&mut self, id: DefinitionId, definition: &AnnotationDefinition, depth: usize) {
        let name = self.specification.definition(id).name.trim_start_matches('@').to_owned();
        self.indented(depth, &format!("@annotation {name} {{"));
        let outer = std::mem::replace(&mut self.is_plain, true);
        for child in self.specification.children(id) {
            self.definition_inside(child, depth + 1);
        }
        self.is_plain = outer;
        for member in &definition.members {
            let ty = member.ty.as_ref().map_or_else(|| "any".to_owned(), |ty| self.ty(ty));
            let default = member.default.as_ref().map(|value| format!(" default {}", self.value(value)));
            let name = identifier(&member.name);
            self.indented(depth + 1, &format!("{ty} {name}{};", default.unwrap_or_default()));
        }
        self.indented(depth, "};");
    }

    /// The model has only the name of such a definition.
    fn not_data(&mut self, name: &str, kind: NotData, depth: usize) {
        let text = match kind {
            // Only interfaces have a use without a definition.
            NotData::Undefined => format!("interface {name};"),
            NotData::ValueType => format!("valuetype {name};"),
            NotData::EventType => format!("eventtype {name};"),
            NotData::Component => format!("component {name};"),
            // Without its members, a struct is as opaque as a native type.
            NotData::Native | NotData::Struct => format!("native {name};"),
            NotData::PortType => format!("porttype {name} {{ }};"),
            NotData::Connector => format!("connector {name} {{ }};"),
            NotData::TemplateModule => format!("module {name}<typename T> {{ }};"),
            NotData::Home => format!("home {name} {{ }};"),
        };
        self.indented(depth, &text);
    }
}

/// The id behind the last member of a struct with its bases.
fn next_id_behind(specification: &Specification, id: DefinitionId) -> u32 {
    let mut current = Some(id);
    while let Some(id) = current {
        let DefinitionKind::Struct(definition) = &specification.definition(id).kind else { return 0 };
        if let Some(last) = definition.members.last() {
            return last.id.saturating_add(1);
        }
        current = definition.base;
    }
    0
}
