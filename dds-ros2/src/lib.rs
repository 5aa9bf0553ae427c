//! ROS 2 nodes in pure Rust: topics, services and the graph, without a ROS installation.
//!
//! A program with this crate is a node of ROS 2 for all others: it exchanges messages with nodes of `rclcpp` and
//! `rclpy` over DDS, and `ros2 node list` and `ros2 topic info` show it. It needs neither ROS nor a code generator.
//!
//! | room | content |
//! |---|---|
//! | [`Context`] | the participant of DDS for all nodes of a program, and its settings |
//! | [`Node`] | the owner of publishers, subscriptions, clients and servers |
//! | [`Publisher`], [`Subscription`] | topics |
//! | [`Client`], [`Service`] | services |
//! | [`ActionClient`], [`ActionServer`] | actions |
//! | [`Parameter`], [`RemoteParameters`] | own parameters, and those of other nodes |
//! | [`Clock`], [`Timer`] | time, also simulated |
//! | [`Logger`] | messages on `/rosout` |
//! | `tf` | transforms between frames (feature `tf2`) |
//! | [`LifecycleNode`] | nodes that other nodes configure and activate |
//! | [`Graph`] | nodes, topics and services of all programs |
//! | `MessageType` | types that are known only at run time (feature `dynamic`) |
//! | [`QosProfile`] | the QoS profiles of ROS 2 by name |
//! | [`name`] | rules, expansion and remapping of names |
//! | [`msgs`] | the common message types |
//!
//! ```
//! use dds_ros2::Context;
//! # use dds_ros2::DiscoveryRange;
//! use dds_ros2::msgs::std_msgs::msg::String as Text;
//!
//! # fn main() -> dds_ros2::Result<()> {
//! # let ros = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
//! # if false {
//! let ros = Context::from_env()?;
//! # }
//! let node = ros.node("talker")?;
//! let publisher = node.publisher::<Text>("chatter")?;
//! publisher.publish(&Text { data: "hello".into() })?;
//! # Ok(())
//! # }
//! ```
//!
//! # Own messages
//!
//! A build script writes the messages, services and actions of own packages. The program includes the code:
//!
//! ```ignore
//! // build.rs, with `dds-idl` as a build dependency
//! fn main() -> Result<(), dds_idl::BuildError> {
//!     dds_idl::Builder::new().compile(&["my_robot_msgs"])
//! }
//!
//! // src/main.rs
//! include!(concat!(env!("OUT_DIR"), "/my_robot_msgs.rs"));
//! use my_robot_msgs::msg::Status;
//! ```
//!
//! A struct with `#[derive(DdsType)]` becomes a message by [`RosMessage`] too.
//!
//! # Features
//!
#![cfg_attr(feature = "document-features", doc = document_features::document_features!())]
#![cfg_attr(not(feature = "document-features"), doc = "`Cargo.toml` of this crate describes them.")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod action;
mod context;
mod description;
#[cfg(feature = "dynamic")]
mod dynamic;
mod error;
mod graph;
mod lifecycle;
mod message_time;
pub mod name;
mod node;
mod parameter;
mod qos;
mod rosout;
mod service;
#[cfg(feature = "tf2")]
pub mod tf;
mod time;
mod topic;
mod user_data;
mod wait;

pub use action::{
    ActionClient, ActionServer, ActionServerBuilder, ClientGoal, GoalEvent, GoalId, GoalOutcome, GoalRequest,
    GoalState, ServerGoal,
};
pub use context::{Context, ContextBuilder, DiscoveryRange, Distro};
pub use dds_core::filter::FilterExpression;
pub use dds_core::{DdsType, Duration, Time};
pub use dds_ros2_msgs as msgs;
pub use dds_ros2_msgs::{RosAction, RosMessage, RosService};
#[cfg(feature = "dynamic")]
pub use dynamic::MessageType;
pub use error::{Error, Result};
pub use graph::{
    ConnectionEnd, ConnectionProblem, ConnectionReport, EndpointDetails, EndpointRole, Explanation, FaultKind, Graph,
    NodeEntities, NodeName, PeerFaults,
};
pub use lifecycle::{
    LifecycleCallbacks, LifecycleNode, LifecyclePublisher, LifecycleState, LifecycleTransition, TransitionResult,
};
pub use node::{Node, NodeBuilder};
pub use parameter::{Parameter, ParameterBuilder, ParameterCallback, ParameterType, ParameterValue, RemoteParameters};
pub use qos::QosProfile;
pub use rosout::Logger;
#[cfg(feature = "rosout-layer")]
pub use rosout::RosoutLayer;
pub use service::{Client, Request, RequestHeader, Service, ServiceIntrospection};
pub use time::{Clock, ClockChange, ClockKind, JumpHandle, JumpThreshold, TimeJump, Timer, TimerTick};
pub use topic::{Publisher, PublisherBuilder, Subscription, SubscriptionBuilder};
pub use wait::Wait;
