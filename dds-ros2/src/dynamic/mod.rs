//! Messages whose type the program learns at run time (feature `dynamic`).
//!
//! | file | input | output |
//! |---|---|---|
//! | `objects` | descriptions of ROS 2 | types for dynamic data, and back |
//! | `hash` | descriptions of ROS 2 | type hashes |
//! | `discover` | a topic | its type, as a node or an endpoint describes it |
//! | `variants` | a description that Fast DDS announces | the description with the announced hash |
//! | `node` | | the methods of [`Node`](crate::Node) |

mod discover;
mod hash;
mod node;
mod objects;
mod variants;

use crate::{Error, Result};
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_ros2_msgs::type_description_interfaces::msg::TypeDescription;
use dds_ros2_msgs::{RosMessage, RosTypeEntry};
use std::fmt;
use std::sync::Arc;

/// A type of messages that the program learns at run time (feature `dynamic`).
///
/// Its messages are [`DynamicData`]. [`Node::discover_message_type`](crate::Node::discover_message_type) finds the type
/// of a topic. Other sources are the packages of this build, and a [`DynamicType`], such as that of a `.msg` file.
///
/// A handle: clones are cheap.
///
/// ```
/// # use dds_ros2::{Context, DiscoveryRange};
/// use dds_ros2::MessageType;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
/// let node = context.node("relay")?;
/// let ty = MessageType::bundled("std_msgs/msg/String")?;
/// let publisher = node.dynamic_publisher("chatter", &ty)?;
/// let subscription = node.dynamic_subscription("chatter", &ty)?;
/// publisher.wait_for_subscribers(1).block()?;
/// let mut message = ty.new_message();
/// message.set("data", "hello")?;
/// publisher.publish(&message)?;
/// assert_eq!(subscription.next_message().block()?.to_string(), "{data: \"hello\"}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MessageType {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    hash: String,
    description: Arc<TypeDescription>,
    ty: DynamicType,
}

impl MessageType {
    /// Returns the type of a Rust message.
    ///
    /// # Errors
    /// [`Error::MessageType`] if the type is too large for dynamic data.
    pub fn of<T: RosMessage>() -> Result<Self> {
        Self::of_entry(&RosTypeEntry::of::<T>())
    }

    /// Returns a type of the packages of this build by its name: `std_msgs/msg/String`.
    ///
    /// Features of `dds-ros2-msgs` add packages.
    ///
    /// # Errors
    /// [`Error::MessageType`] if no package has the type.
    pub fn bundled(name: &str) -> Result<Self> {
        match RosTypeEntry::find(name) {
            Some(entry) => Self::of_entry(entry),
            None => {
                let reason = "no package of this build has it; a feature of `dds-ros2-msgs` adds its package";
                Err(Error::MessageType { name: name.to_owned(), reason: reason.to_owned() })
            }
        }
    }

    /// Returns the message type with the structure of a dynamic type.
    ///
    /// Its name is `robot_msgs::msg::dds_::Status_`, or `robot_msgs::msg::Status` as in `.idl` files of ROS 2. If ROS 2
    /// encodes a member in another way, the type of [`dynamic_type`](Self::dynamic_type) differs from `ty`.
    ///
    /// # Errors
    /// [`Error::MessageType`] if ROS 2 has no such name, or no such type of a member.
    pub fn from_dynamic(ty: &DynamicType) -> Result<Self> {
        let refused = |reason| Error::MessageType { name: ty.name().to_owned(), reason };
        let described = Self::from_description(&objects::description_of(ty).map_err(refused)?)?;
        // The given type has the defaults of members, which descriptions lack.
        let is_kept = described.inner.ty.name() == ty.name() && described.inner.ty.is_encoded_like(ty);
        if !is_kept {
            return Ok(described);
        }
        let Inner { name, hash, description, .. } = &*described.inner;
        Ok(Self::new(name.clone(), hash.clone(), Arc::clone(description), ty.clone()))
    }

    /// Returns the type of a description, as the service `~/get_type_description` of a node returns it.
    ///
    /// # Errors
    /// [`Error::MessageType`] if the description is not valid.
    pub fn from_description(description: &TypeDescription) -> Result<Self> {
        let name = &description.type_description.type_name;
        let refused = |reason| Error::MessageType { name: name.clone(), reason };
        let ty = objects::dynamic_type_of(description).map_err(refused)?;
        Ok(Self::new(name.clone(), hash::of(description), Arc::new(description.clone()), ty))
    }

    fn of_entry(entry: &RosTypeEntry) -> Result<Self> {
        let refused = |reason: String| Error::MessageType { name: entry.ros_name.to_owned(), reason };
        let ty = DynamicType::from_description(entry.description).map_err(|error| refused(error.to_string()))?;
        let description = Arc::new(crate::description::message_description(entry.description));
        Ok(Self::new(entry.ros_name.to_owned(), entry.type_hash.to_owned(), description, ty))
    }

    fn new(name: String, hash: String, description: Arc<TypeDescription>, ty: DynamicType) -> Self {
        Self { inner: Arc::new(Inner { name, hash, description, ty }) }
    }

    /// Returns the type with the hash that its endpoints announce.
    fn with_hash(self, hash: String) -> Self {
        let Inner { name, description, ty, .. } = &*self.inner;
        Self::new(name.clone(), hash, Arc::clone(description), ty.clone())
    }

    /// Returns the name: `std_msgs/msg/String`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Returns the hash of the type: `RIHS01_…`.
    #[must_use]
    pub fn type_hash(&self) -> &str {
        &self.inner.hash
    }

    /// Returns the members, as `~/get_type_description` of a node returns them.
    #[must_use]
    pub fn description(&self) -> &TypeDescription {
        &self.inner.description
    }

    /// Returns the type of the messages. Printed, it is IDL.
    ///
    /// A `wstring` is the sequence of its UTF-16 units, which are the bytes that ROS 2 sends.
    #[must_use]
    pub fn dynamic_type(&self) -> &DynamicType {
        &self.inner.ty
    }

    /// Creates a message with default values.
    #[must_use]
    pub fn new_message(&self) -> DynamicData {
        DynamicData::new(&self.inner.ty)
    }
}

impl fmt::Debug for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessageType({} {})", self.inner.name, self.inner.hash)
    }
}
