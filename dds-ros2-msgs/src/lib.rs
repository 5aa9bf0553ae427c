//! Messages, services and actions of ROS 2 as Rust types, without ROS.
//!
//! Each package is a module and a feature. `std_msgs/msg/String` is [`std_msgs::msg::String`], the request of
//! `std_srvs/srv/SetBool` is [`std_srvs::srv::SetBoolRequest`].
//!
//! Every type has the DDS type name, the bytes and the hash of ROS 2. Writers and readers of ROS topics need the data
//! representation XCDR1.
//!
//! ```
//! use dds_ros2_msgs::RosMessage;
//! use dds_ros2_msgs::std_msgs::msg::String as Text;
//!
//! let text = Text { data: "hello".into() };
//! assert_eq!(text.data, "hello");
//! assert_eq!(Text::ROS_NAME, "std_msgs/msg/String");
//! assert_eq!(Text::TYPE_HASH, "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18");
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod generated;
mod message;

#[allow(unused_imports, unreachable_pub, reason = "without features there is no package")]
pub use generated::*;
#[cfg(feature = "service_msgs")]
pub use message::{GetResultRequest, GetResultResponse, RosAction, RosService, SendGoalRequest, SendGoalResponse};
pub use message::{RosMessage, RosTypeEntry};

/// Names for generated code, which depends on no other crate.
#[doc(hidden)]
pub mod export {
    pub use dds_cdr::{__private, cdr};
    pub use dds_macros::DdsType;
}
