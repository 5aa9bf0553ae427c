//! Settings of a participant: builder options, environment variables, profile files, addresses of peers.
//!
//! In: calls of the builder, the environment, TOML, JSON and XML files. Out: one checked [`Config`], and QoS by profile
//! name. Owned: nothing else.

mod config;
mod credentials;
#[cfg(feature = "profiles")]
mod dds_xml;
mod peer_address;
mod pre_shared_key;
#[cfg(feature = "serde")]
mod profiles;
#[cfg(feature = "security")]
mod psk_transform;
mod variables;

pub use config::DURABILITY_SERVICE;
#[cfg(not(feature = "serde"))]
pub(crate) use config::unreadable;
pub(crate) use config::{Config, Origin, domain_of_environment, variable};
pub use config::{Receiving, Scope};
pub(crate) use peer_address::{is_name, resolve_again, resolve_peer};
#[cfg(feature = "serde")]
pub(crate) use profiles::Profiles;
#[cfg(test)]
pub(crate) use variables::VARIABLES;
pub(crate) use variables::misspelled_variables;
