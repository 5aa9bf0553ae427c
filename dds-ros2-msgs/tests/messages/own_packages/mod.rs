//! Code of packages that users have: equal to the committed files, compiled, and used as messages.
//!
//! `DDS_ROS2_MSGS=write cargo test -p dds-ros2-msgs --test messages own_packages` writes the files again.

#[allow(unreachable_pub, reason = "a test exports nothing")]
#[rustfmt::skip]
mod generated {
    include!("robot_interfaces.rs");
    include!("test_msgs.rs");
}

use dds_cdr::cdr::{Encoding, Keyed, TypeInfo, TypeKind, decode_payload, encode_payload};
use dds_idl::packages::RosPackages;
use dds_idl::ros::InterfaceName;
use dds_idl::rust::RustOptions;
use dds_idl::{BuildError, Builder};
use dds_ros2_msgs::{RosAction, RosMessage, RosService, RosTypeEntry};
use generated::{robot_interfaces, robot_types, test_msgs};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/share")
}

fn test_msgs_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../dds-idl/tests/data/share")
}

fn out_dir(name: &str) -> PathBuf {
    let out_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&out_dir).unwrap();
    out_dir
}

fn builder(out_dir: &Path) -> Builder {
    let options = RustOptions { ros_path: Some("::dds_ros2_msgs".to_owned()), ..RustOptions::default() };
    Builder::new().rust_options(options).out_dir(out_dir)
}

#[test]
fn committed_code_equals_that_of_a_build_script() {
    let is_writing = std::env::var("DDS_ROS2_MSGS").is_ok_and(|value| value == "write");
    let out_dir = out_dir("committed");
    let committed_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages/own_packages");
    for (package, share) in [("robot_interfaces", folder()), ("test_msgs", test_msgs_folder())] {
        builder(&out_dir).include_dir(&share).compile(&[share.join(package)]).unwrap();
        let code = fs::read_to_string(out_dir.join(format!("{package}.rs"))).unwrap();
        let committed = committed_dir.join(format!("{package}.rs"));
        if is_writing {
            fs::write(&committed, &code).unwrap();
        }
        let is_equal = fs::read_to_string(&committed).unwrap() == code;
        assert!(is_equal, "{} differs; `DDS_ROS2_MSGS=write` writes it", committed.display());
    }
}

/// Encodes and decodes a value.
fn round_trip<T: RosMessage>(value: &T) {
    let mut payload = Vec::new();
    encode_payload(value, Encoding::Xcdr1, &mut payload).unwrap();
    let again: T = decode_payload(&payload).unwrap();
    assert_eq!(again, *value);
}

#[test]
fn own_message_has_its_defaults_and_survives() {
    use robot_interfaces::msg::{OptionType, Status};
    let mut status = Status::default();
    assert_eq!((status.mode, status.limit, status.words.len()), (1, -0.5, 2));
    assert_eq!((Status::MOVING, Status::NAME), (1, "a \"robot\""));
    status.header.frame_id = "map".into();
    status.batteries.push(robot_types::msg::Battery::default());
    status.option = OptionType { r#type: true, self_: -7, r#match: vec![1] };
    round_trip(&status);
    assert_eq!(Status::ROS_NAME, "robot_interfaces/msg/Status");
    assert_eq!(Status::DESCRIPTION.name(), "robot_interfaces::msg::dds_::Status_");
    // The names on the wire stay those of the file.
    let TypeKind::Struct(description) = OptionType::DESCRIPTION.kind() else { panic!("a struct") };
    let members: Vec<&str> = description.members().iter().map(|member| member.name()).collect();
    assert_eq!(members, ["type", "self", "match"]);
}

/// Kilted has keys (`test_msgs`), and its messages with keys are `.idl` files.
#[test]
fn message_of_an_idl_file_has_its_key() {
    use robot_interfaces::msg::{Gripper, Status};
    use test_msgs::msg::{ComplexNestedKey, KeyedString, NonKeyedWithNestedKey};
    assert!(Gripper::DESCRIPTION.has_key() && KeyedString::DESCRIPTION.has_key());
    assert!(!Status::DESCRIPTION.has_key() && !NonKeyedWithNestedKey::DESCRIPTION.has_key());
    round_trip(&Gripper { id: 3, battery: robot_types::msg::Battery::default(), force: 0.5 });
    let key = |key: &str, value: &str, number| {
        let nested_data = KeyedString { key: key.into(), value: value.into() };
        let nested_keys = NonKeyedWithNestedKey { nested_data, some_int: 7 };
        let value = ComplexNestedKey { uint32_key: 1, nested_keys, float64_value: number };
        round_trip(&value);
        value.key()
    };
    // The value of `KeyedString` is not in its key (XTypes 1.3, 7.6.8).
    assert_eq!(key("a", "one", 1.0), key("a", "two", 2.0));
    assert_ne!(key("a", "one", 1.0), key("b", "one", 1.0));
}

fn exchange<S: RosService>() -> (&'static str, S::Event) {
    let event = S::event(Default::default(), Some(S::Request::default()), None);
    round_trip(&event);
    (S::ROS_NAME, event)
}

#[test]
fn services_with_similar_names_stay_apart() {
    use robot_interfaces::srv::{Move, MoveRequest};
    let (name, event) = exchange::<Move>();
    assert_eq!((name, event.request.len(), event.response.len()), ("robot_interfaces/srv/Move", 1, 0));
    assert_eq!(exchange::<MoveRequest>().0, "robot_interfaces/srv/MoveRequest");
    assert_eq!(<Move as RosService>::Request::ROS_NAME, "robot_interfaces/srv/Move_Request");
}

fn ends<A: RosAction>(goal: A::Goal) -> A::Goal
where
    A::Result: PartialEq,
{
    let (id, goal) = A::open_send_goal_request(A::send_goal_request([3; 16], goal));
    assert_eq!(id, [3; 16]);
    let (status, result) = A::open_get_result_response(A::get_result_response(4, A::Result::default()));
    assert_eq!((status, result), (4, A::Result::default()));
    goal
}

#[test]
fn own_action_carries_its_parts() {
    use robot_interfaces::action::{Dock, DockGoal};
    assert_eq!(ends::<Dock>(DockGoal { station: 9 }).station, 9);
    assert_eq!(ends::<test_msgs::action::Fibonacci>(Default::default()), Default::default());
}

/// `char` of an `.idl` file is a character, and `char` of a `.msg` file a number. So do the generators of ROS.
#[test]
fn message_of_an_idl_file_has_characters() {
    use robot_interfaces::msg::Letters;
    let letters = Letters::default();
    assert_eq!((Letters::FIRST, letters.letter, letters.wide.0), ('a', '\'', 0x20ac));
    round_trip(&Letters { letters: ['b', 'c'], wides: vec![letters.wide; 3], ..letters });
}

/// Hashes of own messages. The test must not compute them as the generator of the code does.
const OWN_HASHES: [(&str, &str); 3] = [
    ("robot_interfaces/msg/Letters", "RIHS01_b42e3fc69f34a6892d25d4bed68d03d6e3d19b1cd4f5db10b7f5b865767aaa02"),
    ("robot_interfaces/msg/Option", "RIHS01_8527c94d00c884395b08fb204c7c5eaeb24f43223a18a327f5aab9b9be2f448c"),
    ("robot_interfaces/srv/Move_Request", "RIHS01_2cf5139da3fedeeb2a4fe6a6bd719e8bfd059abc135ae9be810912e6a20322c6"),
];

/// The hashes of ROS, and those of own messages.
fn expected_hashes() -> BTreeMap<&'static str, &'static str> {
    let mut hashes = BTreeMap::from(OWN_HASHES);
    for line in include_str!("../../../../dds-idl/tests/data/type_hashes.txt").lines() {
        if let [name, hash, ..] = line.split(' ').collect::<Vec<_>>()[..] {
            hashes.insert(name, hash);
        }
    }
    hashes
}

#[test]
fn hash_of_each_type_is_that_of_its_file() {
    let packages = RosPackages::default().search_path(folder()).search_path(test_msgs_folder());
    let (expected, mut compared) = (expected_hashes(), 0);
    for entry in [robot_interfaces::TYPES, robot_types::TYPES, test_msgs::TYPES].concat() {
        let RosTypeEntry { ros_name, type_hash, .. } = entry;
        let name: InterfaceName = ros_name.parse().unwrap();
        let loaded = packages.load(std::slice::from_ref(&name));
        assert_eq!(loaded.types.type_hash(&name).unwrap().to_string(), type_hash, "{ros_name}");
        if let Some(hash) = expected.get(ros_name) {
            assert_eq!(type_hash, *hash, "{ros_name}");
            compared += 1;
        }
    }
    // Every type of `test_msgs`, and the own ones of the list.
    assert_eq!(compared, test_msgs::TYPES.len() + OWN_HASHES.len());
}

#[test]
fn wrong_input_of_a_build_script_is_named() {
    let out_dir = out_dir("wrong");
    let builder = builder(&out_dir);
    let robot = folder().join("robot_interfaces");
    let message_of = |builder: &Builder, files: &[PathBuf]| builder.compile(files).unwrap_err().to_string();
    // The package has another package beside it, which nothing names.
    let message = message_of(&builder, std::slice::from_ref(&robot));
    assert!(message.contains("cannot find `robot_types/msg/Battery`"), "{message}");
    let message = message_of(&builder, &[folder()]);
    assert!(message.contains("expected interface files in `msg`, `srv` or `action`"), "{message}");
    let message = message_of(&builder, &[robot.join("msg/Status.msg"), "robot.idl".into()]);
    assert!(message.contains("`robot.idl`: files of IDL and of ROS give code separately"), "{message}");
    let message = message_of(&builder, &["Status.msg".into()]);
    assert!(message.contains("`Status.msg`: expected a package"), "{message}");
    let message = message_of(&builder.clone().serde(true), &[robot.join("srv/Move.srv")]);
    assert!(message.contains("no traits of serde"), "{message}");
    assert!(matches!(builder.compile::<&str>(&[]), Err(BuildError::NoFile)));
}

#[test]
fn types_of_plain_dds_need_no_ros_crate() {
    let out_dir = out_dir("plain");
    let options = RustOptions { ros_path: None, ..RustOptions::default() };
    let builder = Builder::new().rust_options(options).out_dir(&out_dir);
    builder.compile(&[folder().join("robot_interfaces/srv/Move.srv")]).unwrap();
    let code = fs::read_to_string(out_dir.join("Move.rs")).unwrap();
    assert!(
        !code.contains("dds_ros2") && code.contains("name = \"robot_interfaces::srv::dds_::Move_Request_\""),
        "{code}"
    );
}

mod of_macro {
    dds_idl_macros::idl!(
        #![ros_path = "::dds_ros2_msgs", include_dir = "tests/data/share"]
        "tests/data/share/robot_interfaces"
    );
}

mod plain {
    dds_idl_macros::idl!(
        #![plain, crate_path = "::dds_cdr", derive_path = "::dds_macros::DdsType", include_dir = "tests/data/share"]
        "tests/data/share/robot_types/msg/Battery.msg"
    );
}

#[test]
fn macro_defines_the_messages_of_a_package() {
    use of_macro::robot_interfaces::msg::Status;
    assert_eq!(Status::default().words, robot_interfaces::msg::Status::default().words);
    assert_eq!(Status::TYPE_HASH, robot_interfaces::msg::Status::TYPE_HASH);
    round_trip(&Status::default());
    use of_macro::robot_interfaces::msg::Gripper;
    assert_eq!(Gripper::TYPE_HASH, robot_interfaces::msg::Gripper::TYPE_HASH);
    assert!(Gripper::DESCRIPTION.has_key());
}

#[test]
fn macro_defines_plain_types_of_a_message() {
    assert_eq!(plain::robot_types::msg::dds_::Battery::TYPE_NAME, robot_types::msg::Battery::TYPE_NAME);
}
