//! The hash of each type follows from its Rust code, and is that of ROS 2.

use dds_cdr::cdr::{Extensibility, TypeDescription, TypeKind};
use dds_idl::ros::InterfaceName;
use dds_ros2_msgs::*;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Every type of every package.
fn entries() -> Vec<RosTypeEntry> {
    let packages: [&[RosTypeEntry]; 23] = [
        action_msgs::TYPES,
        actionlib_msgs::TYPES,
        builtin_interfaces::TYPES,
        composition_interfaces::TYPES,
        diagnostic_msgs::TYPES,
        example_interfaces::TYPES,
        geometry_msgs::TYPES,
        lifecycle_msgs::TYPES,
        nav_msgs::TYPES,
        rcl_interfaces::TYPES,
        rmw_dds_common::TYPES,
        rosgraph_msgs::TYPES,
        sensor_msgs::TYPES,
        service_msgs::TYPES,
        shape_msgs::TYPES,
        statistics_msgs::TYPES,
        std_msgs::TYPES,
        std_srvs::TYPES,
        stereo_msgs::TYPES,
        tf2_msgs::TYPES,
        trajectory_msgs::TYPES,
        type_description_interfaces::TYPES,
        unique_identifier_msgs::TYPES,
    ];
    [packages.concat(), visualization_msgs::TYPES.to_vec()].concat()
}

/// The JSON text of a type, as ROS 2 hashes it.
fn hashed_json(root: &TypeDescription) -> String {
    let mut referenced = BTreeMap::new();
    let mut open = vec![root];
    while let Some(ty) = open.pop() {
        for nested in structs_in(ty) {
            if referenced.insert(ros_name(nested), individual(nested)).is_none() {
                open.push(nested);
            }
        }
    }
    let referenced: Vec<String> = referenced.into_values().collect();
    format!(
        "{{\"type_description\": {}, \"referenced_type_descriptions\": [{}]}}",
        individual(root),
        referenced.join(", ")
    )
}

fn members(ty: &TypeDescription) -> &'static [dds_cdr::cdr::MemberDescription] {
    let TypeKind::Struct(description) = ty.kind() else { panic!("{}", ty.name()) };
    assert_eq!(description.extensibility(), Extensibility::Final, "{}", ty.name());
    description.members()
}

/// The element of a collection, the number that it adds to a type id, and its capacity.
fn element(ty: &'static TypeDescription) -> (&'static TypeDescription, u8, u32) {
    match ty.kind() {
        TypeKind::Array { length, element } => (element(), 48, *length),
        TypeKind::Sequence { bound: Some(bound), element } => (element(), 96, *bound),
        TypeKind::Sequence { bound: None, element } => (element(), 144, 0),
        _ => (ty, 0, 0),
    }
}

fn structs_in(ty: &TypeDescription) -> Vec<&'static TypeDescription> {
    let elements = members(ty).iter().map(|member| element(member.ty()).0);
    elements.filter(|element| matches!(element.kind(), TypeKind::Struct(_))).collect()
}

fn ros_name(ty: &TypeDescription) -> String {
    InterfaceName::from_dds_type_name(ty.name()).unwrap_or_else(|| panic!("{}", ty.name())).to_string()
}

fn individual(ty: &TypeDescription) -> String {
    let fields: Vec<String> = members(ty)
        .iter()
        .map(|member| {
            let (element, added, capacity) = element(member.ty());
            let (base, string_capacity) = type_id(element);
            let nested = if base == 1 { ros_name(element) } else { String::new() };
            format!(
                "{{\"name\": \"{}\", \"type\": {{\"type_id\": {}, \"capacity\": {capacity}, \
                 \"string_capacity\": {string_capacity}, \"nested_type_name\": \"{nested}\"}}}}",
                member.name(),
                base + added
            )
        })
        .collect();
    format!("{{\"type_name\": \"{}\", \"fields\": [{}]}}", ros_name(ty), fields.join(", "))
}

/// The type id without collections, and the bound of a string.
fn type_id(ty: &TypeDescription) -> (u8, u32) {
    match ty.kind() {
        TypeKind::Struct(_) => (1, 0),
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
        TypeKind::Bool => (15, 0),
        TypeKind::Octet => (16, 0),
        TypeKind::String { bound: None } => (17, 0),
        TypeKind::RosWString { bound: None } => (18, 0),
        TypeKind::String { bound: Some(bound) } => (21, *bound),
        TypeKind::RosWString { bound: Some(bound) } => (22, *bound),
        kind => panic!("{kind:?} is not a type of ROS"),
    }
}

#[test]
fn every_rust_type_has_the_hash_of_ros() {
    let mut reference = BTreeMap::new();
    for line in include_str!("../../../dds-idl/tests/data/type_hashes.txt").lines() {
        if let [name, hash, ..] = line.split(' ').collect::<Vec<_>>()[..] {
            reference.insert(name, hash);
        }
    }
    let entries = entries();
    let mut compared = 0;
    for entry in &entries {
        assert_eq!(ros_name(entry.description), entry.ros_name);
        let json = hashed_json(entry.description);
        let digits: String = Sha256::digest(&json).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(format!("RIHS01_{digits}"), entry.type_hash, "{}: {json}", entry.ros_name);
        if let Some(hash) = reference.get(entry.ros_name) {
            assert_eq!(entry.type_hash, *hash, "{}", entry.ros_name);
            compared += 1;
        }
    }
    println!("{} types, {compared} of them in the table of ROS", entries.len());
    assert!(compared > 230, "{compared} of {} types", entries.len());
}

#[test]
fn service_and_action_have_the_hash_of_ros() {
    fn service<T: RosService>() -> (&'static str, &'static str) {
        (T::ROS_NAME, T::TYPE_HASH)
    }
    let set_bool = "RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a";
    assert_eq!(service::<std_srvs::srv::SetBool>(), ("std_srvs/srv/SetBool", set_bool));
    type Lookup = tf2_msgs::action::LookupTransform;
    assert_eq!(<Lookup as RosAction>::ROS_NAME, "tf2_msgs/action/LookupTransform");
    assert_eq!(service::<<Lookup as RosAction>::SendGoal>().0, "tf2_msgs/action/LookupTransform_SendGoal");
}

#[test]
fn default_value_is_that_of_the_interface_file() {
    assert_eq!(geometry_msgs::msg::Quaternion::default().w, 1.0);
    assert_eq!(geometry_msgs::msg::PoseWithCovariance::default().covariance, [0.0; 36]);
    assert_eq!(action_msgs::msg::GoalStatus::STATUS_ABORTED, 6);
}

#[test]
fn part_of_an_action_survives_its_message() {
    /// Sends each part through its message, as a generic client and server do.
    fn round_trip<A: RosAction>(goal: A::Goal, result: A::Result, feedback: A::Feedback) {
        let stamp = builtin_interfaces::msg::Time { sec: 3, nanosec: 4 };
        assert_eq!(A::open_send_goal_request(A::send_goal_request([1; 16], goal.clone())), ([1; 16], goal.clone()));
        assert_eq!(A::open_send_goal_response(A::send_goal_response(true, stamp.clone())), (true, stamp));
        assert_eq!(A::open_get_result_request(A::get_result_request([2; 16])), [2; 16]);
        assert_eq!(A::open_get_result_response(A::get_result_response(4, result.clone())), (4, result));
        assert_eq!(A::open_feedback_message(A::feedback_message([5; 16], feedback.clone())), ([5; 16], feedback));
        let request = A::send_goal_request([1; 16], goal);
        let event = A::SendGoal::event(service_msgs::msg::ServiceEventInfo::default(), Some(request.clone()), None);
        assert_ne!(event, A::SendGoal::event(service_msgs::msg::ServiceEventInfo::default(), None, None));
    }
    use tf2_msgs::action::{LookupTransformFeedback, LookupTransformGoal, LookupTransformResult};
    let goal = LookupTransformGoal { target_frame: "map".into(), ..Default::default() };
    let mut result = LookupTransformResult::default();
    result.error.error_string = "none".into();
    let feedback = LookupTransformFeedback { structure_needs_at_least_one_member: 6 };
    round_trip::<tf2_msgs::action::LookupTransform>(goal, result, feedback);
}
