//! `.idl` files of ROS: as `rosidl` writes them from interface files, and those that a package has instead.

use dds_idl::idl::{Options, parse_files, parse_text};
use dds_idl::model::Extensibility;
use dds_idl::packages::RosPackages;
use dds_idl::ros::{InterfaceName, RosTypes};
use std::fs;
use std::path::{Path, PathBuf};

fn packages() -> RosPackages {
    RosPackages::default().search_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/share"))
}

fn options(folder: &Path) -> Options {
    Options { include_dirs: vec![folder.to_owned()], default_extensibility: Extensibility::Final, ..Options::default() }
}

/// The hash that ROS computed.
fn reference(name: &InterfaceName) -> Option<&'static str> {
    let prefix = format!("{name} ");
    let line = include_str!("../data/type_hashes.txt").lines().find(|line| line.starts_with(&prefix))?;
    line.split(' ').nth(1)
}

#[test]
fn idl_text_gives_the_same_interfaces_again() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ros_idl");
    let packages = packages();
    let names: Vec<InterfaceName> =
        packages.package_names().iter().flat_map(|package| packages.interfaces_of(package)).collect();
    let loaded = packages.load(&names);
    let mut paths: Vec<PathBuf> = Vec::new();
    for interface in loaded.types.interfaces() {
        let path = folder.join(format!("{}.idl", interface.name()));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, interface.to_idl()).unwrap();
        paths.push(path);
    }
    let specification = parse_files(&paths, &options(&folder)).unwrap_or_else(|error| panic!("{error}"));
    let types = RosTypes::from_specification(&specification)
        .unwrap_or_else(|errors| panic!("{}", errors.render(&specification.sources, false)));
    for interface in loaded.types.interfaces() {
        let again = types.interface(interface.name()).unwrap_or_else(|| panic!("{} is missing", interface.name()));
        assert_eq!(again.to_idl(), interface.to_idl());
        for structure in interface.structures() {
            assert_eq!(types.type_description(&structure.name), loaded.types.type_description(&structure.name));
        }
    }
    assert!(paths.len() > 200, "{} files", paths.len());
}

#[test]
fn interface_of_an_idl_file_has_the_hash_of_ros() {
    let share = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/share");
    for name in ["ComplexNestedKey", "KeyedLong", "KeyedString", "NonKeyedWithNestedKey"] {
        let path = share.join(format!("test_msgs/msg/{name}.idl"));
        let specification = parse_files(&[path], &options(&share)).unwrap_or_else(|error| panic!("{error}"));
        let types = RosTypes::from_specification(&specification).unwrap();
        let name: InterfaceName = format!("test_msgs/msg/{name}").parse().unwrap();
        assert_eq!(types.type_hash(&name).map(|hash| hash.to_string()).as_deref(), reference(&name), "{name}");
    }
}

/// The type ids 13 and 14 of `type_description_interfaces/msg/FieldType`. A `.msg` file has only `char`, a number.
#[test]
fn char_of_an_idl_file_is_a_character() {
    let members = "@default(value='x') char letter; char letters[2]; wchar wide; sequence<wchar> wides;";
    let text = format!("module p {{ module msg {{ struct Foo {{ {members} }}; }}; }};");
    let specification = parse_text("Foo.idl", &text, &Options::default()).unwrap();
    let types = RosTypes::from_specification(&specification).unwrap();
    let name: InterfaceName = "p/msg/Foo".parse().unwrap();
    let hash = types.type_hash(&name).unwrap().to_string();
    assert_eq!(hash, "RIHS01_bf4aeb8f2a67d60bac8d0a44c049328204ea060d6c444c6afb690ea98b762d3d");
    let json = types.type_description(&name).unwrap().to_json();
    assert!(json.contains("\"default_value\": \"x\""), "{json}");
    let idl = types.interface(&name).unwrap().to_idl();
    let again = parse_text("Foo.idl", &idl, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let again = RosTypes::from_specification(&again).unwrap();
    assert_eq!(again.type_description(&name), types.type_description(&name));
}

#[test]
fn struct_with_a_type_beyond_ros_is_refused() {
    for (member, message) in [
        ("long long matrix[2][3]", "ROS lacks the type `int64[2][3]`"),
        ("map<int32, int32> table", "ROS lacks the type `map<int32, int32>`"),
        ("sequence<sequence<int32>> rows", "ROS lacks the type `sequence<sequence<int32>>`"),
        // `rosidl` reads it, and its generator of descriptions fails with a `KeyError`.
        ("long double length", "ROS lacks the type `long double`"),
        ("@optional int32 maybe", "a type of ROS has no optional members"),
    ] {
        let text = format!("module p {{ module msg {{ struct Foo {{ {member}; }}; }}; }};");
        let specification = parse_text("Foo.idl", &text, &Options::default()).unwrap();
        let errors = RosTypes::from_specification(&specification).unwrap_err();
        assert_eq!(errors.iter().next().unwrap().message, message);
    }
    let text = "module p { module srv { struct Foo_Request { int32 a; }; }; };";
    let specification = parse_text("Foo.idl", text, &Options::default()).unwrap();
    let errors = RosTypes::from_specification(&specification).unwrap_err();
    assert_eq!(errors.iter().next().unwrap().message, "`p/srv/Foo` lacks the struct `Foo_Response`");
}
