//! The order of definitions: a reopened module may need definitions of other modules before it.

use crate::model::{
    AnnotationKind, Annotations, ConstantValue, DataType, DefinitionId, DefinitionKind, MemberDefinition, Specification,
};

/// What the text needs before a definition.
#[derive(Debug, Default)]
pub(super) struct DefinitionNeeds {
    /// Complete definitions.
    pub(super) complete: Vec<DefinitionId>,
    /// Structs and unions for which a declaration is enough.
    pub(super) declared: Vec<DefinitionId>,
}

struct NeedSearch<'a> {
    specification: &'a Specification,
    owner: DefinitionId,
    found: DefinitionNeeds,
}

/// The definitions that are not modules, and not inside of another definition.
pub(super) fn leaves(specification: &Specification) -> Vec<DefinitionId> {
    let mut found = Vec::new();
    let mut stack: Vec<DefinitionId> = specification.roots().iter().rev().copied().collect();
    while let Some(id) = stack.pop() {
        if let DefinitionKind::Module(module) = &specification.definition(id).kind {
            stack.extend(module.definitions.iter().rev());
        } else {
            found.push(id);
        }
    }
    found
}

pub(super) fn needs(specification: &Specification, id: DefinitionId) -> DefinitionNeeds {
    let mut search = NeedSearch { specification, owner: id, found: DefinitionNeeds::default() };
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        search.definition(id);
        open.extend(specification.children(id));
    }
    search.found
}

impl NeedSearch<'_> {
    fn definition(&mut self, id: DefinitionId) {
        let definition = self.specification.definition(id);
        self.annotations(&definition.annotations);
        match &definition.kind {
            DefinitionKind::Struct(found) | DefinitionKind::Exception(found) => {
                if let Some(base) = found.base {
                    self.complete(base);
                }
                for member in &found.members {
                    self.member(member);
                }
            }
            DefinitionKind::Union(found) => {
                self.ty(&found.discriminator.ty, false);
                for branch in &found.branches {
                    self.member(&branch.member);
                }
            }
            DefinitionKind::Typedef(found) => self.ty(&found.ty, false),
            DefinitionKind::Constant(found) => {
                self.ty(&found.ty, false);
                self.value(&found.value);
            }
            DefinitionKind::Bitset(found) => {
                if let Some(base) = found.base {
                    self.complete(base);
                }
                for ty in found.fields.iter().filter_map(|field| field.ty.as_ref()) {
                    self.ty(ty, false);
                }
            }
            DefinitionKind::Interface(found) => {
                for base in &found.bases {
                    self.complete(*base);
                }
                for attribute in &found.attributes {
                    self.ty(&attribute.ty, false);
                    for exception in attribute.get_raises.iter().chain(&attribute.set_raises) {
                        self.complete(*exception);
                    }
                }
                for operation in &found.operations {
                    let types = operation.parameters.iter().map(|parameter| &parameter.ty);
                    for ty in types.chain(&operation.result) {
                        self.ty(ty, false);
                    }
                    for exception in &operation.raises {
                        self.complete(*exception);
                    }
                }
            }
            DefinitionKind::Annotation(found) => {
                for member in &found.members {
                    if let Some(ty) = &member.ty {
                        self.ty(ty, false);
                    }
                }
            }
            DefinitionKind::Module(_)
            | DefinitionKind::Enum(_)
            | DefinitionKind::Bitmask(_)
            | DefinitionKind::NotData(_) => {}
        }
    }

    fn member(&mut self, member: &MemberDefinition) {
        self.annotations(&member.annotations);
        self.ty(&member.ty, member.is_external() || member.is_optional());
    }

    fn annotations(&mut self, annotations: &Annotations) {
        for annotation in annotations {
            if let AnnotationKind::Custom { arguments, .. } = &annotation.kind {
                for argument in arguments {
                    self.value(&argument.value);
                }
            }
        }
    }

    fn value(&mut self, value: &ConstantValue) {
        match value {
            ConstantValue::Enumerator(id, _) => self.complete(*id),
            ConstantValue::List(values) => {
                for value in values {
                    self.value(value);
                }
            }
            _ => {}
        }
    }

    fn ty(&mut self, ty: &DataType, is_indirect: bool) {
        match ty {
            DataType::Sequence { element, .. } => self.ty(&element.ty, true),
            DataType::Map { key, element, .. } => {
                self.ty(&key.ty, false);
                self.ty(&element.ty, true);
            }
            DataType::Array { element, .. } => self.ty(&element.ty, is_indirect),
            DataType::Named(id) => {
                let definition = self.specification.definition(*id);
                let can_be_declared = matches!(definition.kind, DefinitionKind::Struct(_) | DefinitionKind::Union(_));
                if is_indirect && can_be_declared && self.leaf(*id) == *id {
                    if *id != self.owner {
                        self.found.declared.push(*id);
                    }
                } else {
                    self.complete(*id);
                }
            }
            _ => {}
        }
    }

    fn complete(&mut self, id: DefinitionId) {
        let leaf = self.leaf(id);
        if leaf != self.owner {
            self.found.complete.push(leaf);
        }
    }

    /// The outermost definition that contains a definition, and is no module.
    fn leaf(&self, id: DefinitionId) -> DefinitionId {
        let mut leaf = id;
        let mut current = Some(id);
        while let Some(id) = current {
            let definition = self.specification.definition(id);
            if let DefinitionKind::Module(_) = definition.kind {
                break;
            }
            leaf = id;
            current = definition.parent;
        }
        leaf
    }
}
