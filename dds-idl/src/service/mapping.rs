//! The types of one interface (DDS-RPC 1.0, 7.5.1.1.3 to 7.5.1.1.8).

use super::header::CommonTypes;
use crate::model::{
    Annotations, AutoIdKind, BasicType, ConstantDefinition, ConstantValue, DataType, Definition, DefinitionId,
    DefinitionKind, Diagnostic, Diagnostics, Extensibility, InterfaceDefinition, MemberDefinition, ParameterDirection,
    Span, Specification, StructDefinition, UnionBranch, UnionDefinition, UnionDiscriminator,
};
use std::collections::HashMap;

/// An operation, or one of the two operations of an attribute.
struct ServiceOperation {
    name: String,
    input: Vec<MemberDefinition>,
    output: Vec<MemberDefinition>,
    raises: Vec<DefinitionId>,
}

/// Adds definitions to a specification.
pub(super) struct Adder<'a> {
    pub(super) specification: &'a mut Specification,
    pub(super) errors: &'a mut Diagnostics,
    /// The place of the interface.
    pub(super) span: Span,
    /// Whether a definition with this name stays. Otherwise it is an error.
    pub(super) keeps_existing: bool,
}

/// Adds the types of an interface to its module.
pub(super) fn add(specification: &mut Specification, id: DefinitionId, common: &CommonTypes, errors: &mut Diagnostics) {
    let definition = specification.definition(id).clone();
    let DefinitionKind::Interface(interface) = &definition.kind else { return };
    let operations = operations(interface);
    let (span, parent, name) = (definition.span, definition.parent, &definition.name);
    if operations.is_empty() && interface.bases.is_empty() {
        errors.push(Diagnostic::error(format!("the service `{name}` has no operation"), span));
        return;
    }
    let mut adder = Adder { specification, errors, span, keeps_existing: false };
    let (mut call, mut reply) = (vec![unknown(common)], vec![unknown(common)]);
    let mut hashes = HashMap::new();
    for operation in operations {
        let hash = hash(&operation.name);
        if let Some(other) = hashes.insert(hash, operation.name.clone()) {
            let message = format!("the operations `{other}` and `{}` have one hash", operation.name);
            adder.errors.push(Diagnostic::error(message, span));
            continue;
        }
        let prefix = format!("{name}_{}", operation.name);
        adder.constant(parent, &format!("{prefix}_Hash"), hash);
        let input = adder.parameters(parent, &format!("{prefix}_In"), operation.input, common);
        let output = adder.parameters(parent, &format!("{prefix}_Out"), operation.output, common);
        let mut results = vec![branch(0, "result", output)];
        for exception in operation.raises {
            results.push(adder.exception(exception, common));
        }
        let result = adder.union(parent, &format!("{prefix}_Result"), results);
        call.push(branch(hash, &operation.name, input));
        reply.push(branch(hash, &operation.name, result));
    }
    let call = adder.union(parent, &format!("{name}_Call"), call);
    let reply = adder.union(parent, &format!("{name}_Return"), reply);
    for (suffix, header, data) in [("Request", &common.request_header, call), ("Reply", &common.reply_header, reply)] {
        let members = vec![member("header", header.clone()), member("data", data)];
        let id = adder.structure_in(parent, &format!("{name}_{suffix}"), members);
        // The types of the two topics.
        if let DefinitionKind::Struct(found) = &mut adder.specification.definition_mut(id).kind {
            found.is_nested = false;
        }
    }
}

/// The operations of an interface, with those of its attributes.
fn operations(interface: &InterfaceDefinition) -> Vec<ServiceOperation> {
    let mut found = Vec::new();
    for operation in &interface.operations {
        let (mut input, mut output) = (Vec::new(), Vec::new());
        for parameter in &operation.parameters {
            let member = MemberDefinition { span: parameter.span, ..member(&parameter.name, parameter.ty.clone()) };
            if parameter.direction != ParameterDirection::Out {
                input.push(member.clone());
            }
            if parameter.direction != ParameterDirection::In {
                output.push(member);
            }
        }
        if let Some(result) = &operation.result {
            let mut name = "return_".to_owned();
            let mut number = 0;
            while output.iter().any(|member| *member.name == name) {
                number += 1;
                name = format!("return_{number}");
            }
            output.push(member(&name, result.clone()));
        }
        let (name, raises) = (operation.name.to_string(), operation.raises.clone());
        found.push(ServiceOperation { name, input, output, raises });
    }
    for attribute in &interface.attributes {
        found.push(ServiceOperation {
            name: format!("get_attribute_{}", attribute.name),
            input: Vec::new(),
            output: vec![member("return_", attribute.ty.clone())],
            raises: attribute.get_raises.clone(),
        });
        if !attribute.is_read_only {
            found.push(ServiceOperation {
                name: format!("set_attribute_{}", attribute.name),
                input: vec![member(&attribute.name, attribute.ty.clone())],
                output: Vec::new(),
                raises: attribute.set_raises.clone(),
            });
        }
    }
    found
}

/// The first four bytes of the MD5 of a text, little endian (DDS-RPC 1.0, 7.5.1.1.2).
fn hash(text: &str) -> i32 {
    let [a, b, c, d, ..] = md5::compute(text).0;
    i32::from_le_bytes([a, b, c, d])
}

/// A member without an id yet.
pub(super) fn member(name: &str, ty: DataType) -> MemberDefinition {
    MemberDefinition::new(name, Span::default(), ty, 0)
}

fn branch(label: i32, name: &str, ty: DataType) -> UnionBranch {
    UnionBranch { labels: vec![label.into()], is_default: false, member: member(name, ty) }
}

fn unknown(common: &CommonTypes) -> UnionBranch {
    let member = member("unknownOp", common.unknown_operation.clone());
    UnionBranch { labels: Vec::new(), is_default: true, member }
}

impl Adder<'_> {
    /// Adds a definition to a module, or returns the one that has its name.
    pub(super) fn add(&mut self, parent: Option<DefinitionId>, name: &str, kind: DefinitionKind) -> DefinitionId {
        let scoped_name = match parent {
            Some(parent) => format!("{}::{name}", self.specification.definition(parent).scoped_name),
            None => name.to_owned(),
        };
        if let Some(found) = self.specification.find(&scoped_name) {
            let existing = self.specification.definition(found);
            if !self.keeps_existing || existing.kind.description() != kind.description() {
                let message = format!("the service needs the name `{scoped_name}`");
                self.errors.push(Diagnostic::error(message, self.span).label(existing.span, "already defined here"));
            }
            return found;
        }
        self.specification.add(Definition {
            scoped_name: scoped_name.into(),
            name: name.into(),
            parent,
            span: self.span,
            doc: None,
            annotations: Annotations::default(),
            kind,
        })
    }

    /// Adds a final struct, which is part of the types of topics.
    pub(super) fn structure(&mut self, module: DefinitionId, name: &str, members: Vec<MemberDefinition>) -> DataType {
        DataType::Named(self.structure_in(Some(module), name, members))
    }

    fn structure_in(
        &mut self,
        parent: Option<DefinitionId>,
        name: &str,
        mut members: Vec<MemberDefinition>,
    ) -> DefinitionId {
        for (member, id) in members.iter_mut().zip(0..) {
            member.id = id;
        }
        let definition = StructDefinition {
            extensibility: Extensibility::Final,
            is_nested: true,
            auto_id: AutoIdKind::Sequential,
            base: None,
            members,
        };
        self.add(parent, name, DefinitionKind::Struct(definition))
    }

    /// Adds the struct of parameters. Without any, it has a member without a meaning.
    fn parameters(
        &mut self,
        parent: Option<DefinitionId>,
        name: &str,
        mut members: Vec<MemberDefinition>,
        common: &CommonTypes,
    ) -> DataType {
        if members.is_empty() {
            members.push(member("dummy", common.unused_member.clone()));
        }
        DataType::Named(self.structure_in(parent, name, members))
    }

    fn union(&mut self, parent: Option<DefinitionId>, name: &str, mut branches: Vec<UnionBranch>) -> DataType {
        for (branch, id) in branches.iter_mut().zip(1..) {
            branch.member.id = id;
        }
        let definition = UnionDefinition {
            extensibility: Extensibility::Final,
            is_nested: true,
            auto_id: AutoIdKind::Sequential,
            discriminator: UnionDiscriminator {
                ty: DataType::Basic(BasicType::Int32),
                span: self.span,
                annotations: Annotations::default(),
            },
            branches,
        };
        DataType::Named(self.add(parent, name, DefinitionKind::Union(definition)))
    }

    fn constant(&mut self, parent: Option<DefinitionId>, name: &str, value: i32) {
        let value = ConstantValue::Integer(value.into());
        let definition = ConstantDefinition { ty: DataType::Basic(BasicType::Int32), value };
        self.add(parent, name, DefinitionKind::Constant(definition));
    }

    /// The branch of an exception, which becomes a struct.
    fn exception(&mut self, id: DefinitionId, common: &CommonTypes) -> UnionBranch {
        let definition = self.specification.definition_mut(id);
        let label = hash(&definition.scoped_name);
        let name = format!("{}_ex", definition.name.to_lowercase());
        if let DefinitionKind::Exception(found) = &definition.kind {
            let mut found = found.clone();
            (found.extensibility, found.is_nested) = (Extensibility::Final, true);
            if found.members.is_empty() {
                found.members.push(member("dummy", common.unused_member.clone()));
            }
            definition.kind = DefinitionKind::Struct(found);
        }
        branch(label, &name, DataType::Named(id))
    }
}
