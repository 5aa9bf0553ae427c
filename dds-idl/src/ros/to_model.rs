//! ROS interfaces as resolved types: structs as DDS sees them.

use super::{
    InterfaceName, LoadedInterfaces, RosBaseType, RosConstant, RosDimension, RosField, RosStructure, RosType, RosTypes,
    RosValue,
};
use crate::model::{
    AnnotationArgument, AnnotationKind, Annotations, BasicType, ConstantDefinition, ConstantValue, DataRepresentations,
    DataType, Definition, DefinitionId, DefinitionKind, Diagnostic, Extensibility, IncorrectSource, MemberDefinition,
    Module, Span, Specification, StructDefinition,
};
use std::sync::Arc;

/// Name of the annotation of a member whose wide strings have four bytes for each UTF-16 unit.
///
/// Fast DDS and Cyclone DDS encode `wstring` of ROS so, unlike `wstring` of DDS.
pub const ROS_WSTRING: &str = "ros::wstring";

/// Name of the annotation with the ROS name, the DDS name and the hash of a type.
pub const ROS_TYPE: &str = "ros::type";

/// Most types that the hashes of all types cover together. Those of a large robot cover about 50 000.
const HASHED_TYPES_MAX: usize = 1_000_000;

/// Names of the structs in a specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RosNaming {
    /// The type names of DDS: `std_msgs::msg::dds_::String_`.
    #[default]
    Dds,
    /// The names of ROS: `std_msgs::msg::String`. The annotation [`ROS_TYPE`] has the type name of DDS.
    Ros,
}

impl LoadedInterfaces {
    /// Returns the interfaces as resolved types, with the structs that `rosidl` derives from services and actions.
    ///
    /// Each struct is final, is encoded in XCDR1, and has the annotation [`ROS_TYPE`]. An empty struct has the dummy
    /// member. Constants are in the module `Name_Constants`, as in the `.idl` files of `rosidl`.
    ///
    /// # Errors
    /// An interface has errors, or is missing, or the hashes of all types cover more than a million types together.
    pub fn into_specification(mut self, naming: RosNaming) -> Result<Specification, IncorrectSource> {
        if let Some(error) = self.hash_error() {
            self.diagnostics.push(error);
        }
        if self.diagnostics.has_errors() {
            return Err(IncorrectSource { sources: self.sources, diagnostics: self.diagnostics });
        }
        let mut specification = Specification::default();
        specification.sources = self.sources;
        specification.diagnostics = self.diagnostics;
        let mut mapper = ModelMapper { types: &self.types, naming, specification };
        for interface in self.types.interfaces() {
            for structure in interface.structures() {
                mapper.add_with_dependencies(&structure.name);
            }
        }
        Ok(mapper.specification)
    }

    /// Limits the time for hashes: each one covers all types inside of a type, which is quadratic in a chain of types.
    pub(crate) fn hash_error(&self) -> Option<Diagnostic> {
        let mut rest = HASHED_TYPES_MAX;
        for name in self.types.names() {
            rest -= self.types.hashed_count(name, rest);
            if rest == 0 {
                let message = format!("the hashes of all types cover more than {HASHED_TYPES_MAX} types together");
                return Some(Diagnostic::error_without_place(message));
            }
        }
        None
    }
}

struct ModelMapper<'t> {
    types: &'t RosTypes,
    naming: RosNaming,
    specification: Specification,
}

impl ModelMapper<'_> {
    fn scoped_name(&self, name: &InterfaceName) -> String {
        match self.naming {
            RosNaming::Dds => name.dds_type_name(),
            RosNaming::Ros => format!("{}::{}::{}", name.package(), name.kind(), name.name()),
        }
    }

    /// Adds a structure behind all structures that it contains. The loader refuses recursion, so the loop ends.
    fn add_with_dependencies(&mut self, name: &InterfaceName) {
        let mut path = vec![name.clone()];
        while let Some(name) = path.last() {
            let structure = self.types.described(name);
            let is_added = self.specification.find(&self.scoped_name(name)).is_some();
            let (Some(structure), false) = (structure, is_added) else {
                path.pop();
                continue;
            };
            let mut missing = None;
            for field in &structure.fields {
                if let Some(nested) = field.ty.base.structure()
                    && self.specification.find(&self.scoped_name(nested)).is_none()
                {
                    missing = Some(nested.clone());
                    break;
                }
            }
            match missing {
                Some(nested) => {
                    debug_assert!(self.types.described(&nested).is_some(), "without errors, all types are loaded");
                    path.push(nested);
                }
                None => {
                    self.add_structure(structure);
                    path.pop();
                }
            }
        }
    }

    fn add_structure(&mut self, structure: &RosStructure) {
        let name = &structure.name;
        let scope = self.module(&[name.package(), name.kind().as_str()]);
        if !structure.constants.is_empty() {
            let constants = self.child_module(scope, &format!("{}_Constants", name.name()));
            for constant in &structure.constants {
                self.add_constant(constants, constant);
            }
        }
        let parent = match self.naming {
            RosNaming::Dds => self.child_module(scope, "dds_"),
            RosNaming::Ros => scope,
        };
        let identifier = match self.naming {
            RosNaming::Dds => format!("{}_", name.name()),
            RosNaming::Ros => name.name().to_owned(),
        };
        let mut members = Vec::new();
        for (id, field) in (0..).zip(structure.members().iter()) {
            members.push(self.member(field, id));
        }
        let definition =
            StructDefinition { extensibility: Extensibility::Final, members, ..StructDefinition::default() };
        let mut definition = self.definition(Some(parent), &identifier, DefinitionKind::Struct(definition));
        definition.span = structure.fields.first().map(|field| field.name_span).unwrap_or_default();
        definition.doc = doc(&structure.comment);
        definition.annotations = self.annotations(name);
        self.specification.add(definition);
    }

    fn annotations(&self, name: &InterfaceName) -> Annotations {
        let mut annotations = Annotations::default();
        let argument = |name: &str, value: String| AnnotationArgument {
            name: name.into(),
            value: ConstantValue::String(value.into()),
        };
        let mut arguments = vec![argument("name", name.to_string()), argument("dds_name", name.dds_type_name())];
        if let Some(hash) = self.types.type_hash(name) {
            arguments.push(argument("hash", hash.to_string()));
        }
        annotations.push(Span::default(), AnnotationKind::Extensibility(Extensibility::Final));
        annotations.push(Span::default(), AnnotationKind::DataRepresentation(DataRepresentations::XCDR1));
        annotations.push(Span::default(), AnnotationKind::Custom { name: ROS_TYPE.into(), arguments });
        annotations
    }

    fn member(&self, field: &RosField, id: u32) -> MemberDefinition {
        let mut member = MemberDefinition::new(field.name.as_str(), field.name_span, self.data_type(&field.ty), id);
        member.doc = doc(&field.comment);
        if field.is_key {
            member.annotations.push(field.name_span, AnnotationKind::Key(true));
        }
        if let Some(default) = &field.default {
            let value = constant_value(&field.ty.base, default);
            member.annotations.push(field.name_span, AnnotationKind::Default(value));
        }
        if let Some(unit) = &field.unit {
            member.annotations.push(field.name_span, AnnotationKind::Unit(unit.as_str().into()));
        }
        if matches!(field.ty.base, RosBaseType::WString { .. }) {
            let kind = AnnotationKind::Custom { name: ROS_WSTRING.into(), arguments: Vec::new() };
            member.annotations.push(field.name_span, kind);
        }
        member
    }

    fn data_type(&self, ty: &RosType) -> DataType {
        let element = match &ty.base {
            RosBaseType::Structure(name) => match self.specification.find(&self.scoped_name(name)) {
                Some(id) => DataType::Named(id),
                None => {
                    debug_assert!(false, "a structure is added behind its dependencies");
                    DataType::Opaque("any".into())
                }
            },
            base => base_type(base),
        };
        match ty.dimension {
            RosDimension::One => element,
            RosDimension::Array(size) => DataType::array(element, vec![size]),
            RosDimension::BoundedSequence(bound) => DataType::sequence(element, Some(bound)),
            RosDimension::Sequence => DataType::sequence(element, None),
        }
    }

    fn add_constant(&mut self, parent: DefinitionId, constant: &RosConstant) {
        let value = constant_value(&constant.ty, &constant.value);
        let kind = DefinitionKind::Constant(ConstantDefinition { ty: base_type(&constant.ty), value });
        let mut definition = self.definition(Some(parent), &constant.name, kind);
        definition.span = constant.span;
        definition.doc = doc(&constant.comment);
        if let Some(unit) = &constant.unit {
            definition.annotations.push(constant.span, AnnotationKind::Unit(unit.as_str().into()));
        }
        self.specification.add(definition);
    }

    /// Returns the module with this path, and adds it if it is new.
    fn module(&mut self, path: &[&str]) -> DefinitionId {
        let mut parent = None;
        for name in path {
            parent = Some(self.module_in(parent, name));
        }
        parent.expect("the path of a module is not empty")
    }

    fn child_module(&mut self, parent: DefinitionId, name: &str) -> DefinitionId {
        self.module_in(Some(parent), name)
    }

    fn module_in(&mut self, parent: Option<DefinitionId>, name: &str) -> DefinitionId {
        let module = self.definition(parent, name, DefinitionKind::Module(Module::default()));
        match self.specification.find(&module.scoped_name) {
            Some(id) => id,
            None => self.specification.add(module),
        }
    }

    /// A definition without place, text and annotations.
    fn definition(&self, parent: Option<DefinitionId>, name: &str, kind: DefinitionKind) -> Definition {
        let scoped_name = match parent {
            Some(parent) => format!("{}::{name}", self.specification.definition(parent).scoped_name),
            None => name.to_owned(),
        };
        Definition {
            scoped_name: scoped_name.into(),
            name: name.into(),
            parent,
            span: Span::default(),
            doc: None,
            annotations: Annotations::default(),
            kind,
        }
    }
}

fn doc(comment: &[String]) -> Option<Arc<str>> {
    if comment.is_empty() { None } else { Some(comment.join("\n").into()) }
}

/// The type of one element that is not a structure. `char` is `uint8`, except in an `.idl` file.
fn base_type(base: &RosBaseType) -> DataType {
    DataType::Basic(match base {
        RosBaseType::Bool => BasicType::Bool,
        RosBaseType::Byte => BasicType::Octet,
        RosBaseType::Char | RosBaseType::UInt8 => BasicType::UInt8,
        RosBaseType::IdlChar => BasicType::Char,
        RosBaseType::IdlWChar => BasicType::WChar,
        RosBaseType::Float32 => BasicType::Float32,
        RosBaseType::Float64 => BasicType::Float64,
        RosBaseType::Int8 => BasicType::Int8,
        RosBaseType::Int16 => BasicType::Int16,
        RosBaseType::UInt16 => BasicType::UInt16,
        RosBaseType::Int32 => BasicType::Int32,
        RosBaseType::UInt32 => BasicType::UInt32,
        RosBaseType::Int64 => BasicType::Int64,
        RosBaseType::UInt64 => BasicType::UInt64,
        RosBaseType::String { bound } => return DataType::String { bound: *bound },
        RosBaseType::WString { bound } => return DataType::WString { bound: *bound },
        RosBaseType::Structure(_) => {
            debug_assert!(false, "the mapper resolves structures");
            return DataType::Opaque("any".into());
        }
    })
}

fn constant_value(base: &RosBaseType, value: &RosValue) -> ConstantValue {
    match value {
        RosValue::Bool(value) => ConstantValue::Bool(*value),
        RosValue::Integer(value) => ConstantValue::Integer(*value),
        // The model stores a `float` with its precision.
        RosValue::Float(value) if *base == RosBaseType::Float32 => {
            #[allow(clippy::cast_possible_truncation, reason = "a float32 has this precision")]
            let single = *value as f32;
            ConstantValue::Float(single.into())
        }
        RosValue::Float(value) => ConstantValue::Float(*value),
        RosValue::Text(text) if matches!(base, RosBaseType::WString { .. }) => {
            ConstantValue::WString(text.as_str().into())
        }
        RosValue::Character(character) if *base == RosBaseType::IdlWChar => ConstantValue::WChar(*character),
        RosValue::Character(character) => ConstantValue::Char(*character),
        RosValue::Text(text) => ConstantValue::String(text.as_str().into()),
        RosValue::List(values) => ConstantValue::List(values.iter().map(|value| constant_value(base, value)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packages::RosPackages;

    fn specification(name: &str, naming: RosNaming) -> Specification {
        let loaded = RosPackages::default().load(&[name.parse().unwrap()]);
        loaded.into_specification(naming).unwrap()
    }

    fn structure<'s>(specification: &'s Specification, name: &str) -> (&'s Definition, &'s StructDefinition) {
        let definition = specification.definition(specification.find(name).unwrap());
        let DefinitionKind::Struct(structure) = &definition.kind else { panic!("{definition:?}") };
        (definition, structure)
    }

    #[test]
    fn message_maps_to_a_final_struct_of_dds() {
        let specification = specification("std_msgs/msg/Header", RosNaming::Dds);
        let (definition, header) = structure(&specification, "std_msgs::msg::dds_::Header_");
        assert_eq!(header.extensibility, Extensibility::Final);
        assert_eq!(definition.annotations.data_representation(), Some(DataRepresentations::XCDR1));
        let types: Vec<String> = header.members.iter().map(|member| specification.type_name(&member.ty)).collect();
        assert_eq!(types, ["builtin_interfaces::msg::dds_::Time_", "string"]);
        let (name, arguments) = definition.annotations.custom().next().unwrap();
        assert_eq!((name, arguments[0].value.as_str()), (ROS_TYPE, Some("std_msgs/msg/Header")));
        let hash = "RIHS01_f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01";
        assert_eq!(arguments[2].value.as_str(), Some(hash));
        assert!(definition.doc.as_deref().unwrap().starts_with("Standard metadata"));
    }

    #[test]
    fn empty_request_maps_to_the_dummy_member() {
        let specification = specification("std_srvs/srv/Trigger", RosNaming::Dds);
        let (_, request) = structure(&specification, "std_srvs::srv::dds_::Trigger_Request_");
        assert_eq!(&*request.members[0].name, RosStructure::DUMMY_MEMBER);
        let (_, event) = structure(&specification, "std_srvs::srv::dds_::Trigger_Event_");
        assert_eq!(specification.type_name(&event.members[1].ty), "sequence<std_srvs::srv::dds_::Trigger_Request_, 1>");
        assert_eq!(specification.find("std_srvs::srv::dds_::Trigger_"), None);
    }

    #[test]
    fn constants_are_in_the_module_of_rosidl() {
        let specification = specification("action_msgs/msg/GoalStatus", RosNaming::Ros);
        let id = specification.find("action_msgs::msg::GoalStatus_Constants::STATUS_ABORTED").unwrap();
        let DefinitionKind::Constant(constant) = &specification.definition(id).kind else { panic!("a constant") };
        assert_eq!(constant.value, ConstantValue::Integer(6));
        structure(&specification, "action_msgs::msg::GoalStatus");
    }

    #[test]
    fn action_maps_to_all_derived_structs() {
        let specification = specification("tf2_msgs/action/LookupTransform", RosNaming::Dds);
        for part in [
            "Goal",
            "Result",
            "Feedback",
            "SendGoal_Request",
            "SendGoal_Response",
            "GetResult_Request",
            "GetResult_Response",
            "FeedbackMessage",
        ] {
            structure(&specification, &format!("tf2_msgs::action::dds_::LookupTransform_{part}_"));
        }
    }

    #[test]
    fn missing_interface_has_no_specification() {
        let loaded = RosPackages::default().load(&["std_msgs/msg/Strnig".parse().unwrap()]);
        let loaded = loaded.into_specification(RosNaming::Dds).unwrap_err();
        let text = loaded.diagnostics.render(&loaded.sources, false);
        assert!(
            text.contains("cannot find `std_msgs/msg/Strnig`") && text.contains("did you mean `String`?"),
            "{text}"
        );
    }
}
