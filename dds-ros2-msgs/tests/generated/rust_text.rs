//! Rust code of the interfaces of one package.

use dds_idl::ros::{
    InterfaceKind, InterfaceName, RosBaseType, RosConstant, RosDimension, RosField, RosInterface, RosStructure,
    RosTypes, RosValue,
};
use std::fmt::Write as _;

/// Words that a field can only have as `r#word`.
const KEYWORDS: [&str; 41] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "use", "where",
];

/// The standard library has `Default` for arrays up to this length.
const DEFAULT_ARRAY_MAX: u32 = 32;

/// Returns the module of a package.
pub(crate) fn package(package: &str, types: &RosTypes) -> String {
    let license = match package {
        "tf2_msgs" | "unique_identifier_msgs" => "BSD-3-Clause",
        _ => "Apache-2.0",
    };
    let mut text = format!(
        "// Written by `tests/generated` from the interface files of `{package}`.\n\
         // SPDX-License-Identifier: {license}\n\n\
         //! Interfaces of the ROS 2 package `{package}`.\n\n\
         #![allow(missing_docs, rustdoc::all, clippy::all, reason = \"the texts are those of the interface files\")]\n"
    );
    let mut entries = String::new();
    for kind in InterfaceKind::ALL {
        let is_in =
            |interface: &&RosInterface| interface.name().package() == package && interface.name().kind() == kind;
        let interfaces: Vec<&RosInterface> = types.interfaces().filter(is_in).collect();
        if interfaces.is_empty() {
            continue;
        }
        write!(text, "\npub mod {kind} {{\n").unwrap();
        for interface in interfaces {
            for structure in interface.structures() {
                self::structure(&mut text, &structure, types);
                let path = format!("{kind}::{}", rust_name(&structure.name));
                writeln!(entries, "    crate::RosTypeEntry::of::<{path}>(),").unwrap();
            }
            composite(&mut text, interface, types);
        }
        text.push_str("}\n");
    }
    write!(
        text,
        "\n/// Every message of the package, and those of its services and actions.\n\
         pub const TYPES: &[crate::RosTypeEntry] = &[\n{entries}];\n"
    )
    .unwrap();
    text
}

/// `SetBool_Request` as `SetBoolRequest`.
fn rust_name(name: &InterfaceName) -> String {
    name.name().replace('_', "")
}

fn rust_path(name: &InterfaceName) -> String {
    format!("crate::{}::{}::{}", name.package(), name.kind(), rust_name(name))
}

fn type_hash(name: &InterfaceName, types: &RosTypes) -> String {
    types.type_hash(name).unwrap().to_string()
}

fn structure(text: &mut String, structure: &RosStructure, types: &RosTypes) {
    let members = structure.members();
    let rust_name = rust_name(&structure.name);
    let has_default_impl = members.iter().any(needs_default);
    text.push('\n');
    if structure.comment.is_empty() {
        writeln!(text, "    /// `{}`.", structure.name).unwrap();
    }
    doc(text, "    ", &structure.comment, None);
    let mut derives = vec!["Debug", "Clone", "PartialEq"];
    if !has_default_impl {
        derives.push("Default");
    }
    if is_eq(structure, types) {
        derives.extend(["Eq", "Hash"]);
    }
    writeln!(text, "    #[derive({}, ::dds_macros::DdsType)]", derives.join(", ")).unwrap();
    writeln!(text, "    #[dds(crate = \"::dds_cdr\", name = \"{}\")]", structure.name.dds_type_name()).unwrap();
    writeln!(text, "    pub struct {rust_name} {{").unwrap();
    for field in members.iter() {
        doc(text, "        ", &field.comment, field.unit.as_deref());
        let attributes = attributes(field);
        if !attributes.is_empty() {
            writeln!(text, "        #[dds({})]", attributes.join(", ")).unwrap();
        }
        writeln!(text, "        pub {}: {},", identifier(&field.name), field_type(field)).unwrap();
    }
    text.push_str("    }\n");
    if has_default_impl {
        write!(text, "\n    impl ::core::default::Default for {rust_name} {{\n        fn default() -> Self {{\n")
            .unwrap();
        text.push_str("            Self {\n");
        for field in members.iter() {
            writeln!(text, "                {}: {},", identifier(&field.name), default_value(field)).unwrap();
        }
        text.push_str("            }\n        }\n    }\n");
    }
    if !structure.constants.is_empty() {
        write!(text, "\n    impl {rust_name} {{\n").unwrap();
        for constant in &structure.constants {
            self::constant(text, constant);
        }
        text.push_str("    }\n");
    }
    write!(
        text,
        "\n    impl crate::RosMessage for {rust_name} {{\n        const ROS_NAME: &'static str = \"{}\";\n        \
         const TYPE_HASH: &'static str = \"{}\";\n    }}\n",
        structure.name,
        type_hash(&structure.name, types)
    )
    .unwrap();
}

/// The type that stands for a service or an action, without a value.
fn composite(text: &mut String, interface: &RosInterface, types: &RosTypes) {
    let (name, parts): (_, &[&str]) = match interface {
        RosInterface::Message(_) => return,
        RosInterface::Service { name, .. } => (name, &["Request", "Response", "Event"]),
        RosInterface::Action { name, .. } => (name, &["Goal", "Result", "Feedback", "FeedbackMessage"]),
    };
    service_or_action(text, name, parts, types);
    if name.kind() == InterfaceKind::Action {
        for service in ["SendGoal", "GetResult"] {
            let name: InterfaceName = format!("{name}_{service}").parse().unwrap();
            service_or_action(text, &name, &["Request", "Response", "Event"], types);
        }
    }
}

fn service_or_action(text: &mut String, name: &InterfaceName, parts: &[&str], types: &RosTypes) {
    let rust_name = rust_name(name);
    let is_action = parts.len() == 4;
    let noun = if is_action { "action" } else { "service" };
    let kind = if is_action { "RosAction" } else { "RosService" };
    write!(
        text,
        "\n    /// The {noun} `{name}`.\n    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]\n    \
         pub struct {rust_name};\n\n    impl crate::{kind} for {rust_name} {{\n"
    )
    .unwrap();
    for part in parts {
        writeln!(text, "        type {part} = {rust_name}{part};").unwrap();
    }
    if is_action {
        for service in ["SendGoal", "GetResult"] {
            writeln!(text, "        type {service} = {rust_name}{service};").unwrap();
        }
    }
    write!(
        text,
        "        const ROS_NAME: &'static str = \"{name}\";\n        const TYPE_HASH: &'static str = \"{}\";\n{}    }}\n",
        type_hash(name, types),
        if is_action { ACTION_FUNCTIONS.replace("Action", &rust_name) } else { SERVICE_FUNCTION.replace("ServiceEvent {", &format!("{rust_name}Event {{")) }
    )
    .unwrap();
}

/// The function of `RosService` for a service with the name `Service`.
const SERVICE_FUNCTION: &str = "
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            ServiceEvent {
                info,
                request: ::core::iter::Iterator::collect(::core::iter::IntoIterator::into_iter(request)),
                response: ::core::iter::Iterator::collect(::core::iter::IntoIterator::into_iter(response)),
            }
        }
";

/// The functions of `RosAction` for an action with the name `Action`.
const ACTION_FUNCTIONS: &str = "
        fn send_goal_request(goal_id: [u8; 16], goal: Self::Goal) -> ActionSendGoalRequest {
            ActionSendGoalRequest { goal_id: crate::unique_identifier_msgs::msg::UUID { uuid: goal_id }, goal }
        }

        fn open_send_goal_request(request: ActionSendGoalRequest) -> ([u8; 16], Self::Goal) {
            (request.goal_id.uuid, request.goal)
        }

        fn send_goal_response(
            accepted: bool,
            stamp: crate::builtin_interfaces::msg::Time,
        ) -> ActionSendGoalResponse {
            ActionSendGoalResponse { accepted, stamp }
        }

        fn open_send_goal_response(
            response: ActionSendGoalResponse,
        ) -> (bool, crate::builtin_interfaces::msg::Time) {
            (response.accepted, response.stamp)
        }

        fn get_result_request(goal_id: [u8; 16]) -> ActionGetResultRequest {
            ActionGetResultRequest { goal_id: crate::unique_identifier_msgs::msg::UUID { uuid: goal_id } }
        }

        fn open_get_result_request(request: ActionGetResultRequest) -> [u8; 16] {
            request.goal_id.uuid
        }

        fn get_result_response(status: i8, result: Self::Result) -> ActionGetResultResponse {
            ActionGetResultResponse { status, result }
        }

        fn open_get_result_response(response: ActionGetResultResponse) -> (i8, Self::Result) {
            (response.status, response.result)
        }

        fn feedback_message(goal_id: [u8; 16], feedback: Self::Feedback) -> Self::FeedbackMessage {
            ActionFeedbackMessage { goal_id: crate::unique_identifier_msgs::msg::UUID { uuid: goal_id }, feedback }
        }

        fn open_feedback_message(message: Self::FeedbackMessage) -> ([u8; 16], Self::Feedback) {
            (message.goal_id.uuid, message.feedback)
        }
";

fn constant(text: &mut String, constant: &RosConstant) {
    doc(text, "        ", &constant.comment, constant.unit.as_deref());
    let (ty, value) = match &constant.value {
        RosValue::Text(value) => ("&'static ::core::primitive::str".to_owned(), format!("{value:?}")),
        value => (base_type(&constant.ty), literal(value, &constant.ty)),
    };
    writeln!(text, "        pub const {}: {ty} = {value};", constant.name).unwrap();
}

/// Lines of a comment. Their indentation would make them code examples.
fn doc(text: &mut String, indentation: &str, lines: &[String], unit: Option<&str>) {
    for line in lines {
        let mut line = line.trim().replace('\\', "\\\\");
        for bracket in ['[', ']', '<', '>'] {
            line = line.replace(bracket, &format!("\\{bracket}"));
        }
        writeln!(text, "{}", format!("{indentation}/// {line}").trim_end()).unwrap();
    }
    if let Some(unit) = unit {
        if !lines.is_empty() {
            writeln!(text, "{indentation}///").unwrap();
        }
        writeln!(text, "{indentation}/// Unit: `{}`", unit.replace('`', "'")).unwrap();
    }
}

fn identifier(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}

fn string_bound(base: &RosBaseType) -> Option<u32> {
    match base {
        RosBaseType::String { bound } | RosBaseType::WString { bound } => *bound,
        _ => None,
    }
}

fn attributes(field: &RosField) -> Vec<String> {
    let mut attributes = Vec::new();
    if field.ty.base == RosBaseType::Byte {
        attributes.push("octet".to_owned());
    }
    let bound = match field.ty.dimension {
        RosDimension::One => string_bound(&field.ty.base),
        RosDimension::BoundedSequence(bound) => Some(bound),
        RosDimension::Array(_) | RosDimension::Sequence => None,
    };
    attributes.extend(bound.map(|bound| format!("bound = {bound}")));
    attributes
}

fn field_type(field: &RosField) -> String {
    let base = base_type(&field.ty.base);
    // A bound of an element is part of its type; a bound of a field is an attribute.
    let element = match string_bound(&field.ty.base) {
        Some(bound) => format!("::dds_cdr::cdr::Bounded<{base}, {bound}>"),
        None => base.clone(),
    };
    match field.ty.dimension {
        RosDimension::One => base,
        RosDimension::Array(size) => format!("[{element}; {size}]"),
        RosDimension::BoundedSequence(_) | RosDimension::Sequence => format!("::std::vec::Vec<{element}>"),
    }
}

fn base_type(base: &RosBaseType) -> String {
    let primitive = match base {
        RosBaseType::Bool => "bool",
        RosBaseType::Byte | RosBaseType::Char | RosBaseType::UInt8 => "u8",
        RosBaseType::Float32 => "f32",
        RosBaseType::Float64 => "f64",
        RosBaseType::Int8 => "i8",
        RosBaseType::Int16 => "i16",
        RosBaseType::UInt16 => "u16",
        RosBaseType::Int32 => "i32",
        RosBaseType::UInt32 => "u32",
        RosBaseType::Int64 => "i64",
        RosBaseType::UInt64 => "u64",
        RosBaseType::String { .. } => "::std::string::String",
        RosBaseType::WString { .. } => "::dds_cdr::cdr::RosWString",
        RosBaseType::Structure(name) => return rust_path(name),
    };
    primitive.to_owned()
}

fn needs_default(field: &RosField) -> bool {
    field.default.is_some() || matches!(field.ty.dimension, RosDimension::Array(size) if size > DEFAULT_ARRAY_MAX)
}

fn default_value(field: &RosField) -> String {
    let base = &field.ty.base;
    match (&field.default, field.ty.dimension) {
        (Some(RosValue::List(values)), dimension) => {
            let values: Vec<String> = values.iter().map(|value| literal(value, base)).collect();
            let start = if matches!(dimension, RosDimension::Array(_)) { "[" } else { "::std::vec![" };
            format!("{start}{}]", values.join(", "))
        }
        (Some(value), _) => literal(value, base),
        (None, RosDimension::Array(size)) => match base {
            RosBaseType::Bool => format!("[false; {size}]"),
            RosBaseType::Float32 | RosBaseType::Float64 => format!("[0.0; {size}]"),
            RosBaseType::String { .. } | RosBaseType::WString { .. } | RosBaseType::Structure(_) => {
                "::core::array::from_fn(|_| ::core::default::Default::default())".to_owned()
            }
            _ => format!("[0; {size}]"),
        },
        (None, _) => "::core::default::Default::default()".to_owned(),
    }
}

fn literal(value: &RosValue, base: &RosBaseType) -> String {
    match value {
        RosValue::Bool(value) => value.to_string(),
        RosValue::Integer(value) => value.to_string(),
        RosValue::Float(value) if value.is_nan() => format!("{}::NAN", base_type(base)),
        RosValue::Float(value) if value.is_infinite() && *value > 0.0 => format!("{}::INFINITY", base_type(base)),
        RosValue::Float(value) if value.is_infinite() => format!("{}::NEG_INFINITY", base_type(base)),
        RosValue::Float(value) => format!("{value:?}"),
        RosValue::Text(text) => format!("::core::convert::From::from({text:?})"),
        RosValue::List(_) => panic!("a list has no list as an element"),
    }
}

/// Whether no member is a floating-point number.
fn is_eq(structure: &RosStructure, types: &RosTypes) -> bool {
    structure.fields.iter().all(|field| match &field.ty.base {
        RosBaseType::Float32 | RosBaseType::Float64 => false,
        RosBaseType::Structure(name) => is_eq(types.described(name).unwrap(), types),
        _ => true,
    })
}
