//! Services: clients and servers, for peers of both forms.
//!
//! | | `rmw_fastrtps`, `rmw_connextdds`, this crate | `rmw_cyclonedds` |
//! |---|---|---|
//! | payload | the request or the response | 16 bytes of [`RequestHeader`], then the request or the response |
//! | identity of a request | RTPS: GUID and sequence number | the header |
//! | identity in a reply | inline QoS, related sample identity | the header |
//!
//! Neither side of ROS 2 understands the other one. This crate learns the form of each peer from its vendor and its
//! USER_DATA, and answers in the same form.

mod calls;
mod client;
mod form;
mod held;
mod introspection;
mod message;
mod server;

pub use client::Client;
pub(crate) use form::has_header;
pub use introspection::ServiceIntrospection;
pub use message::RequestHeader;
pub use server::{Request, Service};

use crate::context::Context;
use crate::user_data;
use dds_ros2_msgs::{RosMessage, RosService};

/// USER_DATA of an endpoint of a client or a server of `S`, with messages of `T`. `key` is `clientid` or `serviceid`.
///
/// The hash of the service is for `ros2 service info --verbose` of Lyrical.
fn user_data_of<S: RosService, T: RosMessage>(key: &str, identity: [u8; 16]) -> Vec<u8> {
    let identity = user_data::entry(key, &user_data::identity(identity));
    let hashes = [(user_data::TYPE_HASH, T::TYPE_HASH), (user_data::SERVICE_HASH, S::TYPE_HASH)];
    (identity + &hashes.map(|(key, hash)| user_data::entry(key, hash)).concat()).into_bytes()
}

/// The names of the topics of a service.
fn topics_of(service: &str) -> (String, String) {
    use crate::name::topic_name;
    (topic_name("rq", service, "Request"), topic_name("rr", service, "Reply"))
}

/// Returns a number that no other client of this process has. `rmw_cyclonedds` has one for each client as well.
fn client_number(context: &Context, identity: [u8; 16]) -> u64 {
    let guid = context.participant().guid().to_bytes();
    let mut number = [0; 8];
    number.copy_from_slice(&guid[4..12]);
    let mut counter = [0; 4];
    counter.copy_from_slice(&identity[12..]);
    u64::from_le_bytes(number) ^ (u64::from(u32::from_be_bytes(counter)) << 32)
}
