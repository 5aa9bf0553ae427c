//! Descriptions of types, as `rosidl` writes them.

use crate::name::message_type;
use dds_cdr::cdr::{TypeDescription as DdsDescription, TypeInfo, TypeKind};
use dds_ros2_msgs::type_description_interfaces::msg::{Field, FieldType, IndividualTypeDescription, TypeDescription};
use dds_ros2_msgs::{RosAction, RosService};
use std::collections::BTreeMap;

/// Numbers that `type_description_interfaces/msg/FieldType` adds for collections.
const ARRAY: u8 = 48;
const BOUNDED_SEQUENCE: u8 = 96;
const SEQUENCE: u8 = 144;

pub(crate) fn message(ty: &DdsDescription) -> TypeDescription {
    let mut nested = Nested::default();
    let type_description = nested.individual(ty);
    nested.finish(type_description)
}

pub(super) fn service<S: RosService>() -> TypeDescription {
    let mut nested = Nested::default();
    let type_description = nested.service::<S>();
    nested.finish(type_description)
}

pub(super) fn action<A: RosAction>() -> TypeDescription {
    let mut nested = Nested::default();
    let services = [nested.service::<A::SendGoal>(), nested.service::<A::GetResult>()];
    let fields = vec![
        nested.part("goal", A::Goal::DESCRIPTION),
        nested.part("result", A::Result::DESCRIPTION),
        nested.part("feedback", A::Feedback::DESCRIPTION),
        nested_field("send_goal_service", services[0].type_name.clone()),
        nested_field("get_result_service", services[1].type_name.clone()),
        nested.part("feedback_message", A::FeedbackMessage::DESCRIPTION),
    ];
    for service in services {
        nested.found.insert(service.type_name.clone(), service);
    }
    nested.finish(IndividualTypeDescription { type_name: A::ROS_NAME.to_owned(), fields })
}

/// The types that a description refers to, by their names.
#[derive(Default)]
struct Nested {
    found: BTreeMap<String, IndividualTypeDescription>,
}

impl Nested {
    fn finish(self, type_description: IndividualTypeDescription) -> TypeDescription {
        TypeDescription { type_description, referenced_type_descriptions: self.found.into_values().collect() }
    }

    fn service<S: RosService>(&mut self) -> IndividualTypeDescription {
        let fields = vec![
            self.part("request_message", S::Request::DESCRIPTION),
            self.part("response_message", S::Response::DESCRIPTION),
            self.part("event_message", S::Event::DESCRIPTION),
        ];
        IndividualTypeDescription { type_name: S::ROS_NAME.to_owned(), fields }
    }

    /// Returns a field of a struct type, and adds this type.
    fn part(&mut self, name: &str, ty: &DdsDescription) -> Field {
        self.add(ty);
        nested_field(name, message_type(ty.name()))
    }

    fn add(&mut self, ty: &DdsDescription) {
        let name = message_type(ty.name());
        if !self.found.contains_key(&name) {
            let individual = self.individual(ty);
            self.found.insert(name, individual);
        }
    }

    fn individual(&mut self, ty: &DdsDescription) -> IndividualTypeDescription {
        let mut fields = Vec::new();
        if let TypeKind::Struct(description) = ty.kind() {
            for member in description.members() {
                fields.push(self.field(member.name(), member.ty()));
            }
        }
        IndividualTypeDescription { type_name: message_type(ty.name()), fields }
    }

    fn field(&mut self, name: &str, ty: &'static DdsDescription) -> Field {
        let (element, added, capacity) = match ty.kind() {
            TypeKind::Array { length, element } => (element(), ARRAY, u64::from(*length)),
            TypeKind::Sequence { bound: Some(bound), element } => (element(), BOUNDED_SEQUENCE, u64::from(*bound)),
            TypeKind::Sequence { bound: None, element } => (element(), SEQUENCE, 0),
            _ => (ty, 0, 0),
        };
        let mut field = if matches!(element.kind(), TypeKind::Struct(_)) {
            self.part(name, element)
        } else {
            let (type_id, string_capacity) = scalar(element);
            let r#type = FieldType { type_id, string_capacity, ..FieldType::default() };
            Field { name: name.to_owned(), r#type, ..Field::default() }
        };
        field.r#type.type_id += added;
        field.r#type.capacity = capacity;
        field
    }
}

fn nested_field(name: &str, nested_type_name: String) -> Field {
    let r#type = FieldType { type_id: 1, nested_type_name, ..FieldType::default() };
    Field { name: name.to_owned(), r#type, ..Field::default() }
}

/// The type id, and the bound of a string. 0 for types that ROS 2 lacks.
fn scalar(ty: &DdsDescription) -> (u8, u64) {
    match ty.kind() {
        TypeKind::Int8 => (2, 0),
        TypeKind::UInt8 => (3, 0),
        TypeKind::Int16 => (4, 0),
        TypeKind::UInt16 => (5, 0),
        TypeKind::Int32 => (6, 0),
        TypeKind::UInt32 => (7, 0),
        TypeKind::Int64 => (8, 0),
        TypeKind::UInt64 => (9, 0),
        TypeKind::Float32 => (10, 0),
        TypeKind::Float64 => (11, 0),
        TypeKind::Char8 => (13, 0),
        TypeKind::Char16 => (14, 0),
        TypeKind::Bool => (15, 0),
        TypeKind::Octet => (16, 0),
        TypeKind::String { bound: None } => (17, 0),
        TypeKind::RosWString { bound: None } => (18, 0),
        TypeKind::String { bound: Some(bound) } => (21, u64::from(*bound)),
        TypeKind::RosWString { bound: Some(bound) } => (22, u64::from(*bound)),
        _ => (0, 0),
    }
}
