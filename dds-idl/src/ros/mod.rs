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
mod packages;
mod parse;
mod python;
mod to_model;
mod type_name;
mod types;
mod value;

use derived::derived_dependencies;

pub(crate) use bundled::shipped_idl;
pub use description::{FieldDescription, IndividualTypeDescription, RosTypeDescription, RosTypeHash, RosTypeHashError};
pub use interface::{RosBaseType, RosConstant, RosDimension, RosField, RosInterface, RosStructure, RosType, RosValue};
pub use name::{InterfaceKind, InterfaceName, InterfaceNameError};
pub use packages::{InterfacePathError, LoadedInterfaces, ROS_INTERFACES_MAX, RosPackages, is_interface_path};
pub use parse::{ROS_FILE_LEN_MAX, parse_interface};
pub use to_model::{ROS_TYPE, ROS_WSTRING, RosNaming};
pub use types::RosTypes;

#[cfg(test)]
mod tests;
