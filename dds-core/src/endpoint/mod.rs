//! The common part of readers and writers, for an endpoint of any kind.
//!
//! In: calls of the application on an endpoint, and visits of its participant. Out: requests to the participant
//! ([`Endpoint`]), listener calls, event streams. Owned: what all handles of one endpoint share ([`EndpointCore`]), and
//! the common part of the state in its cell ([`EndpointState`]).
//!
//! - `any_endpoint`: endpoints without the type of their samples.
//! - `endpoint_core`: identity, QoS, group, topic, life cycle and visits of the cell.
//! - `endpoint_state`: clock, matched peers, common statuses and notification.
//! - `endpoint_methods`: the common operations of the handles of applications.
//! - `creation`: the steps from a builder to an announced endpoint.
//! - `listener`, `event_stream`: notification of the application.
//! - `qos_setters`: the setters of single policies on the builders.
//! - `wait`: waits for an endpoint.

mod any_endpoint;
mod creation;
mod endpoint_core;
mod endpoint_methods;
mod endpoint_state;
mod event_stream;
mod listener;
mod qos_setters;
mod wait;

pub use any_endpoint::AnyEndpoint;
pub(crate) use any_endpoint::AsAny;
pub(crate) use creation::{NewEndpoint, check_qos, new_subject, start};
pub(crate) use endpoint_core::{Endpoint, EndpointCore, EndpointPolicies, enable};
pub(crate) use endpoint_methods::endpoint_methods;
pub(crate) use endpoint_state::{EndpointActor, EndpointState};
pub(crate) use listener::{EndpointDispatch, new_listener, remove_group_listener, set_group_listener};
pub(crate) use qos_setters::qos_setters;
