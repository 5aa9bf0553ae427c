//! Parameters of nodes: declared values that other nodes read and change.
//!
//! Input: declarations of the program, and requests of the six services. Output: values, and messages on
//! `/parameter_events`. Owns the values of one node.

mod callbacks;
mod client;
mod declaration;
mod server;
mod store;
mod value;
mod yaml;

pub use callbacks::ParameterCallback;
pub use client::RemoteParameters;
pub use declaration::{Parameter, ParameterBuilder};
pub(crate) use server::{ParameterServer, Shared as ParameterStore};
pub(crate) use store::Declared;
pub use value::{ParameterType, ParameterValue};
pub(crate) use yaml::{Override, parse_file, value_of};
