//! Names of interfaces, as ROS and as DDS write them.

use std::fmt;
use std::str::FromStr;

/// Longest package or type name, in bytes. The longest DDS topic name is 255 bytes.
const NAME_LEN_MAX: usize = 255;

/// The last parts of names that rosidl derives from a service or an action.
const DERIVED: [&str; 8] = ["Request", "Response", "Event", "Goal", "Result", "Feedback", "SendGoal", "GetResult"];
const FEEDBACK_MESSAGE: &str = "FeedbackMessage";

/// The kind of an interface file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InterfaceKind {
    /// A `.msg` file: one type.
    Message,
    /// A `.srv` file: request and response.
    Service,
    /// An `.action` file: goal, result and feedback.
    Action,
}

impl InterfaceKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Message, Self::Service, Self::Action];

    /// Returns the folder, the namespace and the file extension: `msg`, `srv` or `action`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Message => "msg",
            Self::Service => "srv",
            Self::Action => "action",
        }
    }

    /// Returns the kind with this folder name.
    #[must_use]
    pub fn from_folder(folder: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == folder)
    }
}

impl fmt::Display for InterfaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The full name of a ROS type: `std_msgs/msg/String`.
///
/// Types that rosidl derives from services and actions have names too: `std_srvs/srv/SetBool_Request`.
///
/// ```
/// use dds_idl::ros::InterfaceName;
///
/// let name: InterfaceName = "std_srvs/srv/SetBool_Request".parse()?;
/// assert_eq!(name.dds_type_name(), "std_srvs::srv::dds_::SetBool_Request_");
/// # Ok::<(), dds_idl::ros::InterfaceNameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceName {
    package: String,
    kind: InterfaceKind,
    name: String,
}

impl InterfaceName {
    /// Checks and joins the parts of a name.
    ///
    /// # Errors
    ///
    /// The package is not lower snake case, or the type name does not start with an upper-case letter.
    pub fn new(package: &str, kind: InterfaceKind, name: &str) -> Result<Self, InterfaceNameError> {
        if !is_package_name(package) {
            return Err(InterfaceNameError::Package(shorten(package)));
        }
        if !is_type_name(name) {
            return Err(InterfaceNameError::Type(shorten(name)));
        }
        Ok(Self { package: package.to_owned(), kind, name: name.to_owned() })
    }

    /// Returns the name of the type with `suffix` that is derived from this one.
    pub(super) fn derived(&self, suffix: &str) -> Self {
        Self { package: self.package.clone(), kind: self.kind, name: format!("{}{suffix}", self.name) }
    }

    /// Returns a name that is known to be valid.
    pub(crate) fn known(package: &str, kind: InterfaceKind, name: &str) -> Self {
        debug_assert!(is_package_name(package) && is_type_name(name), "names in the source code are valid");
        Self { package: package.to_owned(), kind, name: name.to_owned() }
    }

    /// Returns the name of the interface that ROS installs at a path: `std_msgs/msg/String.idl`.
    pub(crate) fn from_idl_path(path: &str) -> Option<Self> {
        let stem = path.strip_suffix(".idl")?;
        let name: Self = stem.parse().ok()?;
        // A name without its kind means `msg`, but each file stands in the folder of its kind.
        (name.to_string() == stem).then_some(name)
    }

    /// Returns the package: `std_msgs`.
    #[must_use]
    pub fn package(&self) -> &str {
        &self.package
    }

    /// Returns the kind of the file that defines the type.
    #[must_use]
    pub const fn kind(&self) -> InterfaceKind {
        self.kind
    }

    /// Returns the type name: `String`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the interface file without extension: `SetBool` for `SetBool_Request`.
    #[must_use]
    pub fn file_stem(&self) -> &str {
        self.name.split('_').next().unwrap_or(&self.name)
    }

    /// Returns the name of the interface that the file of this type defines.
    #[must_use]
    pub fn interface(&self) -> Self {
        Self { package: self.package.clone(), kind: self.kind, name: self.file_stem().to_owned() }
    }

    /// Returns the type name in DDS: `std_msgs::msg::dds_::String_`.
    #[must_use]
    pub fn dds_type_name(&self) -> String {
        format!("{}::{}::dds_::{}_", self.package, self.kind, self.name)
    }

    /// Returns the ROS name of a DDS type name. `None` if the type is not a ROS type.
    #[must_use]
    pub fn from_dds_type_name(name: &str) -> Option<Self> {
        let (scope, name) = name.strip_suffix('_')?.split_once("::dds_::")?;
        let (package, folder) = scope.split_once("::")?;
        Self::new(package, InterfaceKind::from_folder(folder)?, name).ok()
    }
}

impl fmt::Display for InterfaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.package, self.kind, self.name)
    }
}

impl FromStr for InterfaceName {
    type Err = InterfaceNameError;

    /// Parses `package/kind/Name`, and `package/Name` as a message.
    fn from_str(text: &str) -> Result<Self, InterfaceNameError> {
        let parts: Vec<&str> = text.splitn(4, '/').collect();
        match parts[..] {
            [package, folder, name] => {
                let kind = InterfaceKind::from_folder(folder);
                Self::new(package, kind.ok_or_else(|| InterfaceNameError::Parts(shorten(text)))?, name)
            }
            [package, name] => Self::new(package, InterfaceKind::Message, name),
            _ => Err(InterfaceNameError::Parts(shorten(text))),
        }
    }
}

/// A text is not the name of a ROS type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InterfaceNameError {
    /// The text does not have the parts of a name.
    Parts(String),
    /// Not a package name.
    Package(String),
    /// Not a type name.
    Type(String),
}

impl fmt::Display for InterfaceNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parts(text) => {
                write!(
                    f,
                    "invalid interface name `{text}`: expected `package/msg/Name`, `package/srv/Name` or `package/action/Name`"
                )
            }
            Self::Package(name) => write!(
                f,
                "invalid package name `{name}`: expected lower-case letters, digits and single underscores, starting with a letter"
            ),
            Self::Type(name) => {
                write!(f, "invalid type name `{name}`: expected letters and digits, starting with an upper-case letter")
            }
        }
    }
}

impl std::error::Error for InterfaceNameError {}

/// Package and field names: lower-case letters, digits, single underscores inside.
pub(crate) fn is_package_name(name: &str) -> bool {
    name.len() <= NAME_LEN_MAX
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !name.contains("__")
        && !name.ends_with('_')
}

/// Type names of files, and those with the suffixes that rosidl derives.
fn is_type_name(name: &str) -> bool {
    let mut parts = name.split('_');
    let is_valid_stem = parts.next().is_some_and(|stem| {
        stem.starts_with(|first: char| first.is_ascii_uppercase())
            && stem.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    name.len() <= NAME_LEN_MAX && is_valid_stem && parts.all(|part| DERIVED.contains(&part) || part == FEEDBACK_MESSAGE)
}

/// Constant names: upper-case letters, digits, single underscores inside.
pub(super) fn is_constant_name(name: &str) -> bool {
    name.len() <= NAME_LEN_MAX
        && name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && !name.contains("__")
        && !name.ends_with('_')
}

/// At most 60 characters of `text`, for messages.
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interface_name_maps_to_dds_and_back() {
        for (ros, dds) in [
            ("std_msgs/msg/Header", "std_msgs::msg::dds_::Header_"),
            ("std_srvs/srv/SetBool_Request", "std_srvs::srv::dds_::SetBool_Request_"),
            ("p/action/Fibonacci_SendGoal_Request", "p::action::dds_::Fibonacci_SendGoal_Request_"),
            ("p/action/Fibonacci_FeedbackMessage", "p::action::dds_::Fibonacci_FeedbackMessage_"),
        ] {
            let name: InterfaceName = ros.parse().unwrap();
            assert_eq!(name.dds_type_name(), dds);
            assert_eq!(InterfaceName::from_dds_type_name(dds), Some(name.clone()));
            assert_eq!(name.to_string(), ros);
        }
        assert_eq!("std_msgs/Header".parse(), Ok(InterfaceName::known("std_msgs", InterfaceKind::Message, "Header")));
    }

    #[test]
    fn interface_name_with_wrong_parts_fails() {
        for (text, error) in [
            ("String", InterfaceNameError::Parts("String".into())),
            ("a/b/c/D", InterfaceNameError::Parts("a/b/c/D".into())),
            ("std_msgs/message/String", InterfaceNameError::Parts("std_msgs/message/String".into())),
            ("Std/msg/String", InterfaceNameError::Package("Std".into())),
            ("a__b/msg/String", InterfaceNameError::Package("a__b".into())),
            ("a_/msg/String", InterfaceNameError::Package("a_".into())),
            ("a/msg/string", InterfaceNameError::Type("string".into())),
            ("a/msg/My_Type", InterfaceNameError::Type("My_Type".into())),
            ("a/msg/", InterfaceNameError::Type(String::new())),
        ] {
            assert_eq!(text.parse::<InterfaceName>(), Err(error), "{text}");
        }
    }

    #[test]
    fn foreign_dds_name_has_no_ros_name() {
        for name in ["HelloWorld", "a::b::C", "a::msg::dds_::C", "a::msg::dds_::_", "a::b::msg::dds_::C_"] {
            assert_eq!(InterfaceName::from_dds_type_name(name), None, "{name}");
        }
    }
}
