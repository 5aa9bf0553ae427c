//! Definitions of ROS messages in recordings: `.msg` files, and `.idl` files where these say more.
//!
//! In: loaded interfaces, or the text of a schema. Out: a schema, or the type that it defines.

use dds_core::dynamic::DynamicType;
use dds_idl::description::dynamic_type;
use dds_idl::idl::{Options, parse_text};
use dds_idl::ros::{InterfaceName, LoadedInterfaces, RosInterface, RosNaming, RosTypes, RosValue, parse_interface};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Encoding of schemas: `.msg` files of a message and of the messages that it needs.
pub const ROS_MSG_ENCODING: &str = "ros2msg";
/// Encoding of schemas: `.idl` files of a message and of the messages that it needs.
pub const ROS_IDL_ENCODING: &str = "ros2idl";
/// Line between the messages of a schema.
const SEPARATOR: &str = "================================================================================";
/// Longest schema that is read, in bytes. The longest one of `common_interfaces` has 20 000.
const SCHEMA_LEN_MAX: usize = 1 << 20;
/// Most messages of a schema that is read.
const SCHEMA_MESSAGES_MAX: usize = 1000;

/// A schema for recordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RosSchema {
    /// Name of the message, such as `std_msgs/msg/String`.
    pub name: String,
    /// [`ROS_MSG_ENCODING`] or [`ROS_IDL_ENCODING`].
    pub encoding: &'static str,
    /// Its file, and the files of the messages that it needs.
    pub text: String,
}

/// Returns whether a schema with this encoding defines a message of ROS.
#[must_use]
pub fn is_ros_encoding(encoding: &str) -> bool {
    [ROS_MSG_ENCODING, ROS_IDL_ENCODING].contains(&encoding)
}

/// A message and the messages that it needs, in the forms of schemas.
pub(crate) struct SchemaTexts {
    /// As `.msg` files.
    msg: String,
    /// As `.idl` files, if a message has no `.msg` file. The lines for it in `msg` may lack a part of the type.
    idl: Option<String>,
}

impl SchemaTexts {
    pub(crate) fn new(loaded: &LoadedInterfaces, name: &InterfaceName) -> Self {
        let mut interfaces: Vec<&RosInterface> = loaded.types.interfaces().collect();
        // The message comes first, and has no header in `msg`.
        interfaces.sort_by_key(|interface| interface.name() != name);
        let (mut msg, mut needs_idl) = (String::new(), false);
        for interface in &interfaces {
            let needed = interface.name();
            let text = msg_file(loaded, needed).map_or_else(|| Cow::Owned(msg_lines(interface)), Cow::Borrowed);
            needs_idl |= matches!(text, Cow::Owned(_));
            if needed != name {
                let _ = write!(msg, "\n{SEPARATOR}\nMSG: {}/{}\n", needed.package(), needed.name());
            }
            msg += &text;
        }
        Self { msg, idl: needs_idl.then(|| idl_text(&interfaces)) }
    }

    /// Returns the schema that most readers know, if it defines the same type.
    pub(crate) fn into_schema(self, name: &InterfaceName, ty: &DynamicType) -> RosSchema {
        let Self { msg, idl } = self;
        let name = name.to_string();
        let (encoding, text) = match idl {
            Some(idl) if !schema_type(&name, &msg).is_ok_and(|found| found.to_string() == ty.to_string()) => {
                (ROS_IDL_ENCODING, idl)
            }
            _ => (ROS_MSG_ENCODING, msg),
        };
        RosSchema { name, encoding, text }
    }
}

/// Returns the text of the `.msg` file of a message.
fn msg_file<'l>(loaded: &'l LoadedInterfaces, name: &InterfaceName) -> Option<&'l str> {
    let end = std::path::PathBuf::from(format!("{}/{}/{}.msg", name.package(), name.kind(), name.name()));
    let mut files = loaded.sources.files();
    files.find(|(_, file)| file.path().ends_with(&end)).map(|(_, file)| file.text())
}

/// Returns the constants with numbers and the fields of a message, as lines of a `.msg` file.
fn msg_lines(interface: &RosInterface) -> String {
    let mut text = String::new();
    for structure in interface.sections() {
        for constant in &structure.constants {
            let (ty, name) = (&constant.ty, &constant.name);
            let _ = match &constant.value {
                RosValue::Bool(value) => writeln!(text, "{ty} {name}={value}"),
                RosValue::Integer(value) => writeln!(text, "{ty} {name}={value}"),
                RosValue::Float(value) => writeln!(text, "{ty} {name}={value:?}"),
                RosValue::Character(_) | RosValue::Text(_) | RosValue::List(_) => Ok(()),
            };
        }
        for field in &structure.fields {
            let _ = writeln!(text, "{} {}", field.ty, field.name);
        }
    }
    text
}

/// Returns the messages as `.idl` files, each after a header.
fn idl_text(interfaces: &[&RosInterface]) -> String {
    let mut text = String::new();
    for interface in interfaces {
        let _ = writeln!(text, "{SEPARATOR}\nIDL: {}", interface.name());
        let idl = interface.to_idl();
        // The first lines say that `rosidl` has generated the text.
        let lines = idl.lines().skip_while(|line| line.starts_with("//") || line.is_empty());
        text.extend(lines.flat_map(|line| [line, "\n"]));
    }
    text
}

/// Returns the type of a schema, with the DDS type name.
///
/// # Errors
/// The reason as text: the schema is too long, has an error, lacks a message, or a message contains itself.
pub fn schema_type(name: &str, text: &str) -> Result<DynamicType, String> {
    let (root, sections) = schema_sections(name, text)?;
    let mut loaded = LoadedInterfaces::default();
    for (index, section) in sections.into_iter().enumerate() {
        let (section_name, section) = match index {
            0 => (root.clone(), section),
            _ => {
                let (name, rest) = headed(section, "MSG: ")?;
                (name.parse().map_err(|error| format!("invalid name of a message: {error}"))?, rest)
            }
        };
        let file = loaded.sources.add(format!("{section_name}.msg"), section, None);
        let parsed = parse_interface(&section_name, file, &loaded.sources, &mut loaded.diagnostics);
        if let Some(interface) = parsed {
            loaded.types.insert(interface);
        }
    }
    type_of(loaded, &root)
}

/// As [`schema_type`], for a schema with `.idl` files.
///
/// # Errors
/// As [`schema_type`].
pub fn idl_schema_type(name: &str, text: &str) -> Result<DynamicType, String> {
    let (root, sections) = schema_sections(name, text)?;
    // Each file has a header, so the first section is empty.
    let files = sections.into_iter().skip(1).map(|section| headed(section, "IDL: "));
    let joined = joined_files(&files.collect::<Result<_, _>>()?);
    let options = Options { case_sensitive: true, ..Options::default() };
    let specification = parse_text(format!("{root}.idl"), &joined, &options).map_err(|error| error.to_string())?;
    let types = RosTypes::from_specification(&specification)
        .map_err(|diagnostics| diagnostics.render(&specification.sources, false))?;
    type_of(LoadedInterfaces { types, ..LoadedInterfaces::default() }, &root)
}

/// Returns the name of a schema's message, and the parts between separators.
fn schema_sections<'t>(name: &str, text: &'t str) -> Result<(InterfaceName, Vec<&'t str>), String> {
    if text.len() > SCHEMA_LEN_MAX {
        return Err(format!("the schema has {} bytes, at most {SCHEMA_LEN_MAX} are read", text.len()));
    }
    let root = name.parse().map_err(|error| format!("the schema has an invalid name: {error}"))?;
    let sections: Vec<&str> = text.split(SEPARATOR).take(SCHEMA_MESSAGES_MAX + 1).collect();
    if sections.len() > SCHEMA_MESSAGES_MAX {
        return Err(format!("the schema has more than {SCHEMA_MESSAGES_MAX} messages"));
    }
    Ok((root, sections))
}

/// Splits a section into the name in its header, and the rest.
fn headed<'t>(section: &'t str, mark: &str) -> Result<(&'t str, &'t str), String> {
    let (header, rest) = section.trim_start().split_once('\n').unwrap_or((section.trim(), ""));
    match header.trim().strip_prefix(mark) {
        Some(name) => Ok((name.trim(), rest)),
        None => Err(format!("expected `{mark}package/Name` after a separator, found `{}`", header.trim())),
    }
}

/// Returns the type of a message among these.
fn type_of(loaded: LoadedInterfaces, root: &InterfaceName) -> Result<DynamicType, String> {
    if !loaded.diagnostics.has_errors() {
        check_contents(&loaded.types)?;
    }
    let specification = loaded.into_specification(RosNaming::Dds).map_err(|error| error.to_string())?;
    let type_name = root.dds_type_name();
    let Some(id) = specification.find(&type_name) else { return Err(format!("the schema does not define {root}")) };
    dynamic_type(&specification, id).map_err(|diagnostics| diagnostics.render(&specification.sources, false))
}

/// Returns the text of all files: each one after those that it includes.
fn joined_files(files: &BTreeMap<&str, &str>) -> String {
    let mut text = String::new();
    let mut visited = BTreeSet::new();
    for root in files.keys() {
        let mut open = vec![(*root, false)];
        while let Some((name, is_complete)) = open.pop() {
            let Some(file) = files.get(name) else { continue };
            if is_complete {
                for line in file.lines().filter(|line| included(line).is_none()) {
                    text.extend([line, "\n"]);
                }
            } else if visited.insert(name) {
                open.push((name, true));
                open.extend(file.lines().filter_map(included).map(|needed| (needed, false)));
            }
        }
    }
    text
}

/// Returns the name of the message whose file an `#include` names.
fn included(line: &str) -> Option<&str> {
    let path = line.trim_start().strip_prefix("#include")?.trim();
    path.trim_matches(['"', '<', '>']).strip_suffix(".idl")
}

/// Checks that all messages inside of messages exist, and that no message contains itself.
fn check_contents(types: &RosTypes) -> Result<(), String> {
    let mut complete = BTreeSet::new();
    let mut open: Vec<_> = types.interfaces().flat_map(|interface| interface.sections()).collect();
    while !open.is_empty() {
        let before = open.len();
        open.retain(|structure| {
            let mut nested = structure.fields.iter().filter_map(|field| field.ty.base.structure());
            let is_complete = nested.all(|name| complete.contains(name));
            if is_complete {
                complete.insert(&structure.name);
            }
            !is_complete
        });
        if open.len() == before {
            let names: Vec<String> = open.iter().take(3).map(|structure| structure.name.to_string()).collect();
            return Err(format!("these messages contain themselves or unknown messages: {}", names.join(", ")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{ROS_IDL_ENCODING, ROS_MSG_ENCODING, SEPARATOR, idl_schema_type, schema_type};
    use crate::ros::{RosTopicType, ros_type, type_in};
    use dds_idl::packages::RosPackages;

    #[test]
    fn schema_has_all_messages_of_a_type() {
        let found = ros_type("geometry_msgs::msg::dds_::PoseStamped_").expect("the crate ships it");
        let schema = found.schema.expect("a message has a schema");
        assert_eq!(schema.name, "geometry_msgs/msg/PoseStamped");
        for needed in ["std_msgs/Header", "builtin_interfaces/Time", "geometry_msgs/Quaternion"] {
            assert!(schema.text.contains(&format!("{SEPARATOR}\nMSG: {needed}\n")), "{}", schema.text);
        }
        let again = schema_type(&schema.name, &schema.text).expect("own schemas are valid");
        assert_eq!(again.to_string(), found.ty.to_string());
        assert!(found.hash.is_some_and(|hash| hash.starts_with("RIHS01_")));
    }

    /// Returns the types of a package whose messages are `.idl` files alone.
    fn types_of_idl(key: &str, member: &str) -> [RosTopicType; 2] {
        let folder = tempfile::tempdir().unwrap();
        let messages = folder.path().join("fleet/msg");
        std::fs::create_dir_all(&messages).unwrap();
        let track = format!(
            "#include \"geometry_msgs/msg/Vector3.idl\"\nmodule fleet {{ module msg {{\n  typedef double double__3[3];\n  \
             module Track_Constants {{ const uint8 LIDAR = 2; }};\n  struct Track {{\n    {key} uint32 {member};\n    \
             geometry_msgs::msg::Vector3 force;\n    double__3 center;\n    sequence<string<8>, 4> labels;\n  }};\n}}; }};\n"
        );
        std::fs::write(messages.join("Track.idl"), track).unwrap();
        let list = "#include \"fleet/msg/Track.idl\"\nmodule fleet { module msg {\n  typedef double double__3[3];\n  \
                    struct TrackList {\n    sequence<fleet::msg::Track> tracks;\n    double__3 origin;\n  };\n}; };\n";
        std::fs::write(messages.join("TrackList.idl"), list).unwrap();
        let packages = RosPackages::default().search_path(folder.path());
        ["Track", "TrackList"].map(|name| type_in(&packages, &format!("fleet::msg::dds_::{name}_")).expect(name))
    }

    #[test]
    fn message_of_idl_has_schema_of_msg() {
        for found in types_of_idl("", "number") {
            let schema = found.schema.expect("a message has a schema");
            assert_eq!(schema.encoding, ROS_MSG_ENCODING, "{}", schema.text);
            let lines =
                "uint8 LIDAR=2\nuint32 number\ngeometry_msgs/Vector3 force\nfloat64[3] center\nstring<=8[<=4] labels\n";
            assert!(schema.text.contains(lines), "{}", schema.text);
            assert!(schema.text.contains(&format!("{SEPARATOR}\nMSG: geometry_msgs/Vector3\n")), "{}", schema.text);
            assert_eq!(schema_type(&schema.name, &schema.text).unwrap().to_string(), found.ty.to_string());
        }
    }

    /// Files of messages have neither keys nor names with upper-case letters.
    #[test]
    fn message_that_needs_idl_has_schema_of_idl() {
        for found in types_of_idl("@key", "number").into_iter().chain(types_of_idl("", "trackNumber")) {
            let schema = found.schema.expect("a message has a schema");
            assert_eq!(schema.encoding, ROS_IDL_ENCODING, "{}", schema.text);
            assert!(schema.text.starts_with(&format!("{SEPARATOR}\nIDL: {}\n", schema.name)), "{}", schema.text);
            assert_eq!(idl_schema_type(&schema.name, &schema.text).unwrap().to_string(), found.ty.to_string());
        }
    }

    #[test]
    fn incomplete_schema_of_idl_is_an_error() {
        let error = |text: &str| idl_schema_type("a/msg/A", text).map(|_| ()).expect_err("the schema is wrong");
        assert!(error("").contains("does not define a/msg/A"));
        assert!(error(&format!("{SEPARATOR}\nMSG: a/A\nint32 x\n")).contains("expected `IDL: package/Name`"));
        let file = |text: &str| format!("{SEPARATOR}\nIDL: a/msg/A\n{text}");
        assert!(
            error(&file("#include \"b/msg/B.idl\"\nmodule a { module msg { struct A { b::msg::B b; }; }; };"))
                .contains("b")
        );
        assert!(error(&file("module a { module msg { struct A { flaot x; }; }; };")).contains("float"));
        assert!(idl_schema_type("a/msg/A", &file("module a { module msg { struct A { long x; }; }; };")).is_ok());
    }

    #[test]
    fn incomplete_schema_is_an_error() {
        let error = |text: &str| schema_type("a/msg/A", text).map(|_| ()).expect_err("the schema is wrong");
        assert!(error("b/B b\n").contains("contain themselves or unknown messages: a/msg/A"));
        let cycle = format!("b/B b\n{SEPARATOR}\nMSG: b/B\na/A a\n");
        assert!(error(&cycle).contains("contain themselves"));
        assert!(error(&format!("int32 x\n{SEPARATOR}\nint32 y\n")).contains("expected `MSG: package/Name`"));
        assert!(error("flaot32 x\n").contains("float32"));
        assert!(error(&" ".repeat(2 << 20)).contains("at most"));
        assert!(schema_type("a/b/c/d", "").is_err());
    }
}
