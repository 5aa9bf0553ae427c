//! Reports on discovered endpoints, and on whether two of them match.
//!
//! In: the protocol state of discovery. Out: copies of its present state, [`EndpointInfo`] and [`MatchReport`]. Owned:
//! nothing.

mod endpoint_info;
mod explain;
mod match_report;

pub use endpoint_info::{EndpointInfo, EndpointQos};
pub(crate) use explain::Explainer;
pub use match_report::{MatchReport, Obstacle};
