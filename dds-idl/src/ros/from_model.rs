//! Resolved types as ROS interfaces: `.idl` files of a ROS package, by the rules of `rosidl_parser`.

use super::value::parse_value;
use super::{
    InterfaceKind, InterfaceName, RosBaseType, RosConstant, RosDimension, RosField, RosInterface, RosStructure,
    RosType, RosTypes, RosValue,
};
use crate::model::{
    AnnotationKind, Annotations, BasicType, ConstantValue, DataType, Definition, DefinitionKind, Diagnostic,
    Diagnostics, MemberDefinition, Specification, StructDefinition,
};
use std::collections::{BTreeMap, BTreeSet};

impl RosTypes {
    /// Returns the ROS interfaces in IDL files: the structs in modules `package::msg`, `package::srv` and
    /// `package::action`.
    ///
    /// The structs `Name_Request` and `Name_Response` are the service `Name`; `Name_Goal`, `Name_Result` and
    /// `Name_Feedback` are the action `Name`. As in ROS, other definitions are passed over. `@key` and the member ids
    /// have no influence on the hash.
    ///
    /// # Errors
    /// A struct has a type that ROS lacks, or a part of a service or an action is missing.
    pub fn from_specification(specification: &Specification) -> Result<Self, Diagnostics> {
        let mut reader = ModelReader { specification, diagnostics: Diagnostics::default() };
        let mut structures = BTreeMap::new();
        for (_, definition) in specification.definitions() {
            let DefinitionKind::Struct(structure) = &definition.kind else { continue };
            let Some(name) = ros_name(&definition.scoped_name) else { continue };
            if let Some(structure) = reader.structure(&name, definition, structure) {
                structures.insert(name, (structure, definition));
            }
        }
        let mut types = Self::default();
        if !reader.diagnostics.has_errors() {
            for interface in reader.interfaces(&structures) {
                types.insert(interface);
            }
        }
        if reader.diagnostics.has_errors() { Err(reader.diagnostics) } else { Ok(types) }
    }
}

/// `std_msgs/msg/String` of `std_msgs::msg::String`.
fn ros_name(scoped_name: &str) -> Option<InterfaceName> {
    let parts: Vec<&str> = scoped_name.splitn(4, "::").collect();
    let [package, folder, name] = parts[..] else { return None };
    InterfaceName::new(package, InterfaceKind::from_folder(folder)?, name).ok()
}

type FoundStructures<'s> = BTreeMap<InterfaceName, (RosStructure, &'s Definition)>;

struct ModelReader<'s> {
    specification: &'s Specification,
    diagnostics: Diagnostics,
}

impl ModelReader<'_> {
    /// Joins the parts of services and actions.
    fn interfaces(&mut self, structures: &FoundStructures<'_>) -> Vec<RosInterface> {
        let mut interfaces = Vec::new();
        let mut done = BTreeSet::new();
        for (name, (structure, definition)) in structures {
            let interface = name.interface();
            if name.kind() == InterfaceKind::Message {
                interfaces.push(RosInterface::Message(structure.clone()));
                continue;
            }
            if done.contains(&interface) {
                continue;
            }
            let mut part = |suffix: &str| {
                let found = structures.get(&interface.derived(suffix)).map(|(structure, _)| structure.clone());
                if found.is_none() {
                    let message = format!("`{interface}` lacks the struct `{}{suffix}`", interface.name());
                    self.diagnostics.push(Diagnostic::error(message, definition.span));
                }
                found
            };
            let joined = match name.kind() {
                InterfaceKind::Service => match (part("_Request"), part("_Response")) {
                    (Some(request), Some(response)) => {
                        Some(RosInterface::Service { name: interface.clone(), request, response })
                    }
                    _ => None,
                },
                _ => match (part("_Goal"), part("_Result"), part("_Feedback")) {
                    (Some(goal), Some(result), Some(feedback)) => {
                        Some(RosInterface::Action { name: interface.clone(), goal, result, feedback })
                    }
                    _ => None,
                },
            };
            interfaces.extend(joined);
            done.insert(interface);
        }
        interfaces
    }

    /// `None` if a member has an error.
    fn structure(
        &mut self,
        name: &InterfaceName,
        definition: &Definition,
        structure: &StructDefinition,
    ) -> Option<RosStructure> {
        if structure.base.is_some() {
            self.diagnostics.push(Diagnostic::error("a type of ROS has no base", definition.span));
            return None;
        }
        let mut fields = Vec::new();
        let mut is_complete = true;
        for member in &structure.members {
            match self.field(member) {
                Some(field) => fields.push(field),
                None => is_complete = false,
            }
        }
        // The parser of interface files stores an empty structure without this member.
        if fields.len() == 1 && fields.iter().all(|field| field.name == RosStructure::DUMMY_MEMBER) {
            fields.clear();
        }
        let constants = self.constants(&format!("{}_Constants", definition.scoped_name));
        let comment = comment(&definition.annotations);
        is_complete.then(|| RosStructure { name: name.clone(), comment, constants, fields })
    }

    fn field(&mut self, member: &MemberDefinition) -> Option<RosField> {
        let ty = self.field_type(&member.ty);
        let Some(ty) = ty else {
            let name = self.specification.type_name(&member.ty);
            let error = Diagnostic::error(format!("ROS lacks the type `{name}`"), member.span)
                .note("a field is a primitive, a string, a struct, or one array or sequence of these");
            self.diagnostics.push(error);
            return None;
        };
        if member.is_optional() {
            self.diagnostics.push(Diagnostic::error("a type of ROS has no optional members", member.span));
            return None;
        }
        let mut field = RosField::with_type(ty, &member.name);
        (field.type_span, field.name_span) = (member.span, member.span);
        field.is_key = member.is_key();
        field.comment = comment(&member.annotations);
        field.unit = member.annotations.unit().map(str::to_owned);
        field.default = member.default_value().and_then(|value| default_value(&field.ty, value));
        Some(field)
    }

    fn field_type(&self, ty: &DataType) -> Option<RosType> {
        let (element, dimension) = match self.specification.resolve(ty) {
            DataType::Sequence { element, bound: Some(bound) } => (&element.ty, RosDimension::BoundedSequence(*bound)),
            DataType::Sequence { element, bound: None } => (&element.ty, RosDimension::Sequence),
            DataType::Array { element, dimensions } => match dimensions[..] {
                [size] => (&element.ty, RosDimension::Array(size)),
                _ => return None,
            },
            _ => (ty, RosDimension::One),
        };
        Some(RosType { base: self.base_type(element)?, dimension })
    }

    fn base_type(&self, ty: &DataType) -> Option<RosBaseType> {
        let basic = match self.specification.resolve(ty) {
            DataType::Basic(basic) => *basic,
            DataType::String { bound } => return Some(RosBaseType::String { bound: *bound }),
            DataType::WString { bound } => return Some(RosBaseType::WString { bound: *bound }),
            DataType::Named(id) => {
                let definition = self.specification.definition(*id);
                let DefinitionKind::Struct(_) = definition.kind else { return None };
                return ros_name(&definition.scoped_name).map(RosBaseType::Structure);
            }
            _ => return None,
        };
        Some(match basic {
            BasicType::Bool => RosBaseType::Bool,
            BasicType::Octet => RosBaseType::Byte,
            BasicType::Int8 => RosBaseType::Int8,
            BasicType::UInt8 => RosBaseType::UInt8,
            BasicType::Int16 => RosBaseType::Int16,
            BasicType::UInt16 => RosBaseType::UInt16,
            BasicType::Int32 => RosBaseType::Int32,
            BasicType::UInt32 => RosBaseType::UInt32,
            BasicType::Int64 => RosBaseType::Int64,
            BasicType::UInt64 => RosBaseType::UInt64,
            BasicType::Float32 => RosBaseType::Float32,
            BasicType::Float64 => RosBaseType::Float64,
            BasicType::Char => RosBaseType::IdlChar,
            BasicType::WChar => RosBaseType::IdlWChar,
            // `rosidl` reads it, but its generator of type descriptions fails.
            BasicType::Float128 => return None,
        })
    }

    /// The constants in a module. Those of another type than ROS has are passed over.
    fn constants(&self, module: &str) -> Vec<RosConstant> {
        let Some(id) = self.specification.find(module) else { return Vec::new() };
        let mut constants = Vec::new();
        for id in self.specification.children(id) {
            let definition = self.specification.definition(id);
            let DefinitionKind::Constant(constant) = &definition.kind else { continue };
            let (Some(ty), Some(value)) = (self.base_type(&constant.ty), plain_value(&constant.value)) else {
                continue;
            };
            constants.push(RosConstant {
                ty,
                name: definition.name.to_string(),
                value,
                comment: comment(&definition.annotations),
                unit: definition.annotations.unit().map(str::to_owned),
                span: definition.span,
            });
        }
        constants
    }
}

/// The lines of `@verbatim (language="comment", text=…)`.
fn comment(annotations: &Annotations) -> Vec<String> {
    for annotation in annotations {
        if let AnnotationKind::Verbatim { language, text, .. } = &annotation.kind
            && &**language == "comment"
        {
            return text.split('\n').map(str::to_owned).collect();
        }
    }
    Vec::new()
}

/// `rosidl` writes the default of an array as the text of a Python tuple.
fn default_value(ty: &RosType, value: &ConstantValue) -> Option<RosValue> {
    if ty.dimension == RosDimension::One {
        return plain_value(value);
    }
    let elements = value.as_str()?.strip_prefix('(')?.strip_suffix(')')?;
    parse_value(ty, &format!("[{}]", elements.strip_suffix(',').unwrap_or(elements))).ok()
}

fn plain_value(value: &ConstantValue) -> Option<RosValue> {
    match value {
        ConstantValue::Bool(value) => Some(RosValue::Bool(*value)),
        ConstantValue::Integer(value) => Some(RosValue::Integer(*value)),
        ConstantValue::Float(value) => Some(RosValue::Float(*value)),
        ConstantValue::Char(character) | ConstantValue::WChar(character) => Some(RosValue::Character(*character)),
        ConstantValue::String(text) | ConstantValue::WString(text) => Some(RosValue::Text(text.to_string())),
        _ => None,
    }
}
