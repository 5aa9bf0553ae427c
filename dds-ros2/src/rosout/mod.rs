//! Messages on `/rosout`: a logger for programs, a layer of `tracing` for all events of a program, and services for
//! levels.

#[cfg(feature = "rosout-layer")]
mod layer;
mod levels;
mod logger;
mod service;

#[cfg(feature = "rosout-layer")]
pub use layer::RosoutLayer;
pub(crate) use levels::{LogLevels, SharedLevels};
pub use logger::Logger;
pub(crate) use logger::Rosout;
pub(crate) use service::LoggerServices;
