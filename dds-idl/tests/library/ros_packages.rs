//! Packages in folders, in ament prefixes, and in the shipped set.

use dds_idl::packages::{InterfacePathError, ROS_INTERFACES_MAX, RosPackages, is_interface_path};
use dds_idl::ros::{InterfaceName, LoadedInterfaces, RosNaming};
use dds_idl::rust::{RustOptions, generate_ros};
use std::fs;
use std::path::{Path, PathBuf};

/// A new folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ros_packages_{name}"));
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn name(text: &str) -> InterfaceName {
    text.parse().unwrap()
}

/// The diagnostics, one a line, with paths below the folder, and their help.
fn messages(loaded: &LoadedInterfaces, folder: &Path) -> Vec<String> {
    let prefix = format!("{}/", folder.display());
    let show = |diagnostic: &dds_idl::model::Diagnostic| {
        let help = diagnostic.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        format!("{}{help}", diagnostic.one_line(&loaded.sources)).replace(&prefix, "")
    };
    loaded.diagnostics.iter().map(show).collect()
}

fn field_type(loaded: &LoadedInterfaces, interface: &str) -> String {
    loaded.types.described(&name(interface)).unwrap().fields[0].ty.to_string()
}

#[test]
fn file_by_path_finds_its_package_and_the_shipped_set() {
    let folder = folder("path", &[("rover/msg/Wheel.msg", "Axle axle"), ("rover/msg/Axle.msg", "std_msgs/Header h")]);
    let mut packages = RosPackages::default();
    let wheel = packages.add_file(&folder.join("rover/msg/Wheel.msg")).unwrap();
    assert_eq!(wheel, name("rover/msg/Wheel"));
    let loaded = packages.load(std::slice::from_ref(&wheel));
    assert_eq!(messages(&loaded, &folder), [""; 0]);
    let names: Vec<String> = loaded.types.names().map(InterfaceName::to_string).collect();
    assert_eq!(names, ["builtin_interfaces/msg/Time", "rover/msg/Axle", "rover/msg/Wheel", "std_msgs/msg/Header"]);
    assert!(loaded.types.type_hash(&wheel).is_some());
}

/// `rosidl` leaves subfolders of `msg` out of the names, and packages of Autoware have them.
#[test]
fn files_in_subfolders_have_the_names_without_them() {
    let files = [
        ("rover/package.xml", "<name>rover</name>"),
        ("rover/msg/parts/Wheel.msg", "Axle axle"),
        ("rover/msg/Axle.msg", "int32 a"),
        ("rover/srv/parts/Turn.srv", "Wheel wheel\n---\n"),
        ("other/msg/Car.msg", "rover/Wheel wheel"),
    ];
    let folder = folder("subfolders", &files);
    let mut packages = RosPackages::default();
    let names = packages.add_package(&folder.join("rover")).unwrap();
    assert_eq!(names, [name("rover/msg/Axle"), name("rover/msg/Wheel"), name("rover/srv/Turn")]);
    let loaded = packages.load(&names);
    assert_eq!(messages(&loaded, &folder), [""; 0]);
    let mut packages = RosPackages::default().search_path(&folder);
    let wheel = packages.add_file(&folder.join("rover/msg/parts/Wheel.msg")).unwrap();
    assert_eq!(wheel, name("rover/msg/Wheel"));
    let loaded = packages.load(&[wheel.clone(), name("other/msg/Car")]);
    assert_eq!(messages(&loaded, &folder), [""; 0]);
    assert_eq!(loaded.types.described(&wheel).unwrap().fields.len(), 1);
}

/// `CMakeLists.txt` of a package of Autoware names files such as `common/msg/ResponseStatus.msg`.
#[test]
fn files_of_a_package_stand_in_any_folder() {
    let files = [
        ("adapi/package.xml", "<name>adapi</name>"),
        ("adapi/common/msg/Status.msg", "uint16 code"),
        ("adapi/parts_of_msg/Part.msg", "int32 a"),
        ("adapi/routing/srv/Clear.srv", "Part part\n---\nadapi/Status status"),
        ("adapi/routing/srv/Clear_Request.msg", "Part part"),
        ("adapi/msg/Own.msg", "int8 own"),
        ("adapi/old/Own.msg", "int16 old"),
        ("adapi/test/msg/Broken.msg", "no type"),
        ("adapi/ros1/Part.msg", "time a"),
        ("adapi/.git/Hidden.msg", "no type"),
        ("adapi/drafts/COLCON_IGNORE", ""),
        ("adapi/drafts/msg/Draft.msg", "no type"),
        ("adapi/vendor/inner/package.xml", "<name>inner</name>"),
        ("adapi/vendor/inner/Inner.msg", "int32 a"),
        ("plain/common/msg/Status.msg", "uint16 code"),
    ];
    let folder = folder("any_folder", &files);
    let mut packages = RosPackages::default();
    let names = packages.add_package(&folder.join("adapi")).unwrap();
    let expected = ["adapi/msg/Own", "adapi/msg/Part", "adapi/msg/Status", "adapi/srv/Clear"];
    assert_eq!(names, expected.map(name));
    let loaded = packages.load(&names);
    assert_eq!(messages(&loaded, &folder), [""; 0]);
    assert_eq!(field_type(&loaded, "adapi/msg/Own"), "int8");
    for (path, expected) in [
        ("adapi/routing/srv/Clear.srv", "adapi/srv/Clear"),
        ("adapi/common/msg/Status.msg", "adapi/msg/Status"),
        ("adapi/parts_of_msg/Part.msg", "adapi/msg/Part"),
        ("adapi/vendor/inner/Inner.msg", "inner/msg/Inner"),
        ("plain/common/msg/Status.msg", "common/msg/Status"),
    ] {
        let mut packages = RosPackages::default();
        let found = packages.add_file(&folder.join(path)).unwrap();
        assert_eq!(found, name(expected));
        assert_eq!(messages(&packages.load(&[found]), &folder), [""; 0]);
    }
}

/// The name does not say which of the files is meant.
#[test]
fn two_files_of_one_name_are_an_error_with_both_paths() {
    let files = [
        ("rover/msg/Wheel.msg", "int32 outer"),
        ("rover/msg/parts/Wheel.msg", "int64 inner"),
        ("rover/msg/Car.msg", "Wheel wheel"),
        ("rover/srv/a/Turn.srv", "int32 a\n---\n"),
        ("rover/srv/b/Turn.srv", "int32 b\n---\n"),
        ("rover/action/Wheel.action", "int32 a\n---\n---\n"),
    ];
    let folder = folder("two_files", &files);
    let wheel = "cannot read `rover/msg/Wheel`: `rover/msg/Wheel.msg` and `rover/msg/parts/Wheel.msg` have this name";
    let turn = "cannot read `rover/srv/Turn`: `rover/srv/a/Turn.srv` and `rover/srv/b/Turn.srv` have this name";
    let errors = |loaded: &LoadedInterfaces| -> Vec<String> {
        let prefix = format!("{}/", folder.display());
        loaded.diagnostics.iter().map(|error| error.message.replace(&prefix, "")).collect()
    };
    let mut packages = RosPackages::default();
    let names = packages.add_package(&folder.join("rover")).unwrap();
    assert_eq!(errors(&packages.load(&names)), [wheel, turn]);
    let loaded = RosPackages::default().search_path(&folder).load(&[name("rover/msg/Car")]);
    assert_eq!(errors(&loaded), [wheel]);
    assert_eq!(messages(&loaded, &folder), [format!("rover/msg/Car.msg:1:1: error: {wheel}")]);
}

/// A path says which of the files is meant.
#[test]
fn file_of_a_path_is_read_although_others_have_its_name() {
    let files = [
        ("rover/msg/Wheel.msg", "int32 outer"),
        ("rover/msg/parts/Wheel.msg", "int64 inner"),
        ("rover/msg/Car.msg", "Wheel wheel"),
        ("installed/rover/msg/Wheel.msg", "int8 old"),
    ];
    let folder = folder("given_file", &files);
    for (path, expected) in [("rover/msg/Wheel.msg", "int32"), ("rover/msg/parts/Wheel.msg", "int64")] {
        let mut packages = RosPackages::default().search_path(folder.join("installed"));
        let wheel = packages.add_file(&folder.join(path)).unwrap();
        let loaded = packages.load(&[wheel]);
        assert_eq!(messages(&loaded, &folder), [""; 0]);
        assert_eq!(field_type(&loaded, "rover/msg/Wheel"), expected);
    }
    let mut packages = RosPackages::default();
    packages.add_file(&folder.join("rover/msg/parts/Wheel.msg")).unwrap();
    let car = packages.add_file(&folder.join("rover/msg/Car.msg")).unwrap();
    let loaded = packages.load(&[car]);
    assert_eq!(messages(&loaded, &folder), [""; 0]);
    assert_eq!(field_type(&loaded, "rover/msg/Wheel"), "int64");
    packages.add_file(&folder.join("rover/msg/parts/Wheel.msg")).unwrap();
    let error = packages.add_file(&folder.join("rover/msg/Wheel.msg")).unwrap_err().to_string();
    let error = error.replace(&format!("{}/", folder.display()), "");
    assert_eq!(error, "`rover/msg/Wheel.msg`: the file `rover/msg/parts/Wheel.msg` has this name");
}

/// `ComplexMsgDependsOnIdl.msg` of `rosbag2_test_msgdefs` uses `BasicIdl.idl`.
#[test]
fn message_may_use_one_that_its_package_has_as_idl() {
    let part = "module rover { module msg { struct Part { geometry_msgs::msg::Vector3 size; float load; }; }; };";
    let files = [("rover/msg/Car.msg", "Part part"), ("rover/msg/parts/Part.idl", part), ("rover/Part.idl", "no type")];
    let folder = folder("message_as_idl", &files);
    let mut packages = RosPackages::default();
    let car = packages.add_file(&folder.join("rover/msg/Car.msg")).unwrap();
    let loaded = packages.load(std::slice::from_ref(&car));
    assert!(!loaded.diagnostics.has_errors(), "{:?}", messages(&loaded, &folder));
    assert_eq!(field_type(&loaded, "rover/msg/Part"), "geometry_msgs/Vector3");
    let all_text =
        [("rover/msg/Car.msg", "Part part"), ("rover/msg/Part.msg", "geometry_msgs/Vector3 size\nfloat32 load")];
    let other = self::folder("message_as_text", &all_text);
    let as_text = RosPackages::default().search_path(&other).load(std::slice::from_ref(&car));
    assert_eq!(loaded.types.type_hash(&car).unwrap(), as_text.types.type_hash(&car).unwrap());
}

/// The folder of the package has another name. A file includes a message that is no `.idl` file.
#[test]
fn package_may_have_idl_files_alone_or_beside_others() {
    let module = |text: &str| format!("module rover {{ module msg {{ {text} }}; }};");
    let include = "#include \"rover/msg/Wheel.idl\"\n#include \"rover/msg/Axle.idl\"\n";
    let car = module("struct Car { rover::msg::Wheel wheels[4]; rover::msg::Axle axle; rover::msg::Bolt bolt; };");
    let wheel = module("struct Bolt { @key short size; }; struct Wheel { @default (value=3) int32 bolts; };");
    let turn = "module rover { module srv { struct Turn_Request { double angle; }; struct Turn_Response { boolean done; }; \
        }; };";
    let files: [(&str, &str); 6] = [
        ("src/package.xml", "<name>rover</name>"),
        ("src/msg/Car.idl", &format!("{include}{car}")),
        ("src/parts/msg/Wheel.idl", &wheel),
        ("src/msg/Axle.msg", "builtin_interfaces/Time built"),
        ("src/srv/Turn.idl", turn),
        ("src/idl/Other.idl", "no type"),
    ];
    let folder = folder("idl_alone", &files);
    let mut packages = RosPackages::default();
    let names = packages.add_package(&folder.join("src")).unwrap();
    assert_eq!(names, ["rover/msg/Axle", "rover/msg/Car", "rover/msg/Wheel", "rover/srv/Turn"].map(name));
    let loaded = packages.load(&names);
    assert_eq!(messages(&loaded, &folder), [""; 0]);
    assert_eq!(field_type(&loaded, "rover/msg/Car"), "rover/Wheel[4]");
    assert_eq!(field_type(&loaded, "rover/msg/Axle"), "builtin_interfaces/Time");
    assert!(loaded.types.described(&name("rover/msg/Bolt")).unwrap().fields[0].is_key);
    assert!(loaded.types.type_hash(&name("rover/srv/Turn_Event")).is_some());
    let code = generate_ros(&loaded, &RustOptions::default()).unwrap();
    assert!(code.contains("pub bolts: i32,") && code.contains("bolts: 3"), "{code}");
    assert!(code.contains("#[dds(key)]\n            pub size: i16,"), "{code}");
    assert!(code.contains("impl ::dds_ros2::msgs::RosService for Turn {"), "{code}");
    let all = loaded.into_specification(RosNaming::Dds).unwrap();
    let bolt = all.definition(all.find("rover::msg::dds_::Bolt_").unwrap());
    let dds_idl::model::DefinitionKind::Struct(bolt) = &bolt.kind else { panic!("a struct") };
    assert!(bolt.members[0].is_key());
}

/// ROS installs both forms of each interface.
#[test]
fn interface_file_comes_before_the_idl_file_of_its_name() {
    let files = [("rover/msg/Car.msg", "int32 a"), ("rover/msg/Car.idl", "no type"), ("rover/msg/Car_.idl", "no type")];
    let folder = folder("both_forms", &files);
    let mut packages = RosPackages::default();
    let names = packages.add_package(&folder.join("rover")).unwrap();
    assert_eq!(names, [name("rover/msg/Car")]);
    let loaded = packages.load(&names);
    assert_eq!(messages(&loaded, &folder), [""; 0]);
    assert_eq!(field_type(&loaded, "rover/msg/Car"), "int32");
}

#[test]
fn wrong_idl_file_of_a_package_is_an_error_in_its_line() {
    let module = |text: &str| format!("module rover {{ module msg {{\n{text} }}; }};");
    let files: [(&str, &str); 11] = [
        ("rover/msg/Car.msg", "int32 a\nWrong wrong"),
        ("rover/msg/Wrong.idl", &module("struct Wrong { flaot load; };")),
        ("rover/msg/Bus.msg", "Wide wide"),
        ("rover/msg/Wide.idl", &module("struct Wide { map<long, long> load; };")),
        ("rover/msg/Van.msg", "Empty empty"),
        ("rover/msg/Empty.idl", &module("struct Full { float load; };")),
        ("rover/msg/Old.idl", &module("struct Old { rover::msg::Text text; };")),
        ("rover/msg/Text.msg", "flaot32 load"),
        ("rover/msg/a/Twice.idl", ""),
        ("rover/msg/b/Twice.idl", ""),
        ("rover/msg/Bad.msg", "Twice twice"),
    ];
    let folder = folder("wrong_idl", &files);
    for (interface, expected) in [
        ("Car", "rover/msg/Wrong.idl:2:16: error: cannot find type `flaot`; did you mean `float`?"),
        ("Bus", "rover/msg/Wide.idl:2:31: error: ROS lacks the type `map<int32, int32>`"),
        (
            "Van",
            "rover/msg/Van.msg:1:1: error: cannot read `rover/msg/Empty`: `rover/msg/Empty.idl` does not define it",
        ),
        (
            "Old",
            "rover/msg/Old.idl:2:14: error: cannot read `rover/msg/Text.idl`: rover/msg/Text.msg:1:1: error: \
             unknown type `flaot32`",
        ),
        (
            "Bad",
            "rover/msg/Bad.msg:1:1: error: cannot read `rover/msg/Twice`: `rover/msg/a/Twice.idl` and \
             `rover/msg/b/Twice.idl` have this name",
        ),
    ] {
        let loaded = RosPackages::default().search_path(&folder).load(&[name(&format!("rover/msg/{interface}"))]);
        let found: Vec<_> = messages(&loaded, &folder).into_iter().filter(|line| line.contains(": error: ")).collect();
        assert_eq!(found, [expected], "{interface}");
    }
}

#[test]
fn file_that_is_long_or_not_regular_is_refused() {
    let long = "#".repeat((16 << 20) + 1);
    let folder = folder("limits", &[("rover/msg/Long.msg", &long), ("rover/msg/Folder.msg/x", "")]);
    let packages = RosPackages::default().search_path(&folder);
    let loaded = packages.load(&[name("rover/msg/Long"), name("rover/msg/Folder")]);
    let expected = [
        ":1:1: error: cannot read `rover/msg/Long`: the file has more than 16777216 bytes",
        ":1:1: error: cannot read `rover/msg/Folder`: it is not a regular file",
    ];
    assert_eq!(messages(&loaded, &folder), expected);
}

#[test]
fn interfaces_above_the_limit_are_one_error() {
    let names: Vec<InterfaceName> = (0..ROS_INTERFACES_MAX + 5).map(|n| name(&format!("rover/msg/M{n}"))).collect();
    let loaded = RosPackages::default().load(&names);
    assert_eq!(messages(&loaded, Path::new("")), [":1:1: error: more than 20000 interfaces are needed"]);
}

#[test]
fn package_has_the_name_of_its_manifest() {
    let manifest = "<package format=\"3\"><name>rover</name></package>";
    let folder = folder("manifest", &[("src/package.xml", manifest), ("src/srv/Brake.srv", "bool on\n---\n")]);
    let packages = RosPackages::default().package(folder.join("src")).unwrap();
    assert_eq!(packages.interfaces_of("rover"), [name("rover/srv/Brake")]);
    let loaded = packages.load(&[name("rover/srv/Brake_Request")]);
    assert!(loaded.types.interface(&name("rover/srv/Brake")).is_some());
}

#[test]
fn first_ament_prefix_wins_over_later_ones_and_the_shipped_set() {
    let folder = folder(
        "ament",
        &[
            ("one/share/std_msgs/msg/String.msg", "int8 one"),
            ("two/share/std_msgs/msg/String.msg", "int16 two"),
            ("two/share/rover/msg/Text.msg", "std_msgs/String text"),
        ],
    );
    let path = std::env::join_paths([folder.join("one"), folder.join("two"), PathBuf::new()]).unwrap();
    let packages = RosPackages::default().ament_path(&path);
    let loaded = packages.load(&[name("rover/msg/Text")]);
    assert_eq!(messages(&loaded, &folder), [""; 0]);
    assert_eq!(field_type(&loaded, "std_msgs/msg/String"), "int8");
    assert!(packages.package_names().contains(&"rover".to_owned()));
    assert_eq!(
        field_type(&RosPackages::default().load(&[name("std_msgs/msg/String")]), "std_msgs/msg/String"),
        "string"
    );
}

#[test]
fn missing_type_names_the_field_and_a_similar_type() {
    let files = [("p/msg/A.msg", "int8 a\ngeometry_msgs/Posee pose\n"), ("p/msg/B.msg", "geometri_msgs/Pose pose")];
    let folder = folder("missing", &files);
    let packages = RosPackages::default().search_path(&folder);
    let loaded = packages.load(&[name("p/msg/A"), name("p/msg/B")]);
    assert_eq!(
        messages(&loaded, &folder),
        [
            "p/msg/A.msg:2:1: error: cannot find `geometry_msgs/msg/Posee`; did you mean `Pose`?",
            "p/msg/B.msg:1:1: error: cannot find `geometri_msgs/msg/Pose`; did you mean `geometry_msgs`?",
        ]
    );
}

#[test]
fn header_without_package_is_that_of_std_msgs() {
    let folder =
        folder("header", &[("p/msg/A.msg", "Header header"), ("q/msg/A.msg", "Header h"), ("q/msg/Header.msg", "")]);
    let loaded = RosPackages::default().search_path(&folder).load(&[name("p/msg/A"), name("q/msg/A")]);
    assert_eq!(
        (field_type(&loaded, "p/msg/A"), field_type(&loaded, "q/msg/A")),
        ("std_msgs/Header".into(), "q/Header".into())
    );
    let warning = "p/msg/A.msg:1:1: warning: `Header` without a package is a type of ROS 1, read as `std_msgs/Header`; \
                   write `std_msgs/Header`";
    assert_eq!(messages(&loaded, &folder), [warning]);
}

#[test]
fn type_that_contains_itself_is_refused() {
    let folder =
        folder("recursion", &[("p/msg/A.msg", "int8 a\nB[] b"), ("p/msg/B.msg", "A a\nC c"), ("p/msg/C.msg", "")]);
    let loaded = RosPackages::default().search_path(&folder).load(&[name("p/msg/A")]);
    assert_eq!(messages(&loaded, &folder), ["p/msg/B.msg:1:1: error: `p/msg/A` contains itself"]);
}

#[test]
fn path_without_a_package_is_an_error() {
    let mut packages = RosPackages::default();
    assert!(matches!(packages.add_file(Path::new("rover/msg/Wheel.txt")), Err(InterfacePathError::Extension(_))));
    assert!(matches!(packages.add_file(Path::new("Rover/msg/Wheel.msg")), Err(InterfacePathError::Package(_))));
    // A file that is in no folder `msg` has no package.
    let error = packages.add_file(Path::new("rover/parts/Wheel.msg")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`rover/parts/Wheel.msg`: expected a package: a folder with `package.xml` or with files such as `msg/Name.msg`"
    );
    assert!(matches!(packages.add_file(Path::new("rover/msg/wheel.msg")), Err(InterfacePathError::Name(..))));
}

#[test]
fn file_that_is_not_text_is_an_error() {
    let folder = folder("binary", &[("p/msg/A.msg", "")]);
    fs::write(folder.join("p/msg/A.msg"), b"# a\n\xff").unwrap();
    let loaded = RosPackages::default().search_path(&folder).load(&[name("p/msg/A")]);
    let message = &messages(&loaded, &folder)[0];
    assert!(message.ends_with("error: cannot read `p/msg/A`: p/msg/A.msg:2: byte 4 is not UTF-8"), "{message}");
}

/// A chain of 3000 messages, each with two fields of the next type.
#[test]
fn long_chain_of_types_takes_linear_time() {
    let mut files = Vec::new();
    for index in 0..3000 {
        files.push((format!("p/msg/T{index}.msg"), format!("T{0} a\nT{0} b\n", index + 1)));
    }
    files.push(("p/msg/T3000.msg".to_owned(), String::new()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let folder = folder("nested", &files);
    let loaded = RosPackages::default().search_path(&folder).load(&[name("p/msg/T0")]);
    assert_eq!(messages(&loaded, &folder), [""; 0]);
    let description = loaded.types.type_description(&name("p/msg/T0")).unwrap();
    assert_eq!(description.referenced_type_descriptions.len(), 3000);
    let error = loaded.into_specification(RosNaming::Dds).unwrap_err();
    let error = error.diagnostics.iter().next().unwrap().message.clone();
    assert_eq!(error, "the hashes of all types cover more than 1000000 types together");
}

#[test]
fn similar_names_are_different_types_in_rust() {
    let files = [
        ("rover/msg/Option.msg", "int8 one"),
        ("rover/msg/OptionType.msg", "Option option"),
        ("rover/srv/Brake.srv", "int8 two\n---\n"),
        ("rover/srv/BrakeRequest.srv", "---\n"),
    ];
    let folder = folder("names", &files);
    let mut packages = RosPackages::default();
    let names = packages.add(&folder.join("rover")).unwrap();
    let code = generate_ros(&packages.load(&names), &RustOptions::default()).unwrap();
    // The derive macro reads `Option` as that of the standard library.
    for name in ["Option_", "OptionType", "Brake", "Brake_Request", "BrakeRequest"] {
        let found = code.matches(&format!("pub struct {name} {{")).count();
        let empty = code.matches(&format!("pub struct {name};")).count();
        assert_eq!(found + empty, 1, "{name}: {code}");
    }
    assert!(code.contains("pub option: Option_,"), "{code}");
}

#[test]
fn folder_and_files_with_an_extension_may_be_interfaces() {
    let folder = folder("paths", &[("rover/msg/Wheel.msg", "")]);
    assert!(is_interface_path(&folder.join("rover")) && is_interface_path(Path::new("rover/srv/Brake.srv")));
    assert!(!is_interface_path(Path::new("robot.idl")) && !is_interface_path(Path::new("msg")));
    let mut packages = RosPackages::default();
    assert_eq!(
        packages.add(&folder.join("rover")).unwrap(),
        packages.add(&folder.join("rover/msg/Wheel.msg")).unwrap()
    );
}
