//! Messages on `/rosout`: a logger for programs, and a layer of `tracing` for all events of a program.

#[cfg(feature = "rosout-layer")]
mod layer;
mod logger;

#[cfg(feature = "rosout-layer")]
pub use layer::RosoutLayer;
pub use logger::Logger;
pub(crate) use logger::{LogLevels, Rosout};
