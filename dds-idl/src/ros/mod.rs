//! Interface files of ROS 2: `.msg`, `.srv`, `.action`.
//!
//! Text comes in, with the name that the file's path gives. An [`RosInterface`] goes out, with the rules of `rosidl`.

mod bundled;
mod comment;
mod derived;
mod description;
mod from_model;
mod idl_text;
mod interface;
mod name;
mod parse;
mod python;
mod to_model;
mod type_name;
mod types;
mod value;

pub(crate) use bundled::{shipped_idl, shipped_names, shipped_text, shipped_types};
pub(crate) use derived::derived_dependencies;
pub use description::{FieldDescription, IndividualTypeDescription, RosTypeDescription, RosTypeHash, RosTypeHashError};
pub(crate) use idl_text::converted;
pub use interface::{RosBaseType, RosConstant, RosDimension, RosField, RosInterface, RosStructure, RosType, RosValue};
pub(crate) use name::is_package_name;
pub use name::{InterfaceKind, InterfaceName, InterfaceNameError};
pub use parse::{ROS_FILE_LEN_MAX, parse_interface};
pub use to_model::{ROS_TYPE, ROS_WSTRING, RosNaming};
pub use types::{LoadedInterfaces, RosTypes};

#[cfg(test)]
mod tests;
