//! Requests and replies over topics (DDS-RPC 1.0, basic service mapping).
//!
//! A [`Requester`] publishes requests on the topic `<service>_Request`. Each [`Replier`] of the service reads them, and
//! publishes a reply on `<service>_Reply`. The reply names its request in its inline QoS (DDS-RPC 1.0, 7.5.1.1.1), so a
//! requester receives its own replies only.
//!
//! ```
//! use dds_core::rpc::{Replier, Requester};
//! use dds_core::{DdsType, DomainParticipant, Duration, Scope};
//!
//! #[derive(DdsType)]
//! struct Operands {
//!     a: i64,
//!     b: i64,
//! }
//!
//! #[derive(DdsType)]
//! struct Sum {
//!     value: i64,
//! }
//!
//! # fn main() -> dds_core::Result<()> {
//! let participant = DomainParticipant::builder(0)
//!     .scope(Scope::Host)
//! #   .domain_tag(std::process::id().to_string())
//!     .build()?;
//! let replier = Replier::<Operands, Sum>::new(&participant, "sum")?;
//! let server = replier.clone();
//! std::thread::spawn(move || server.serve(|Operands { a, b }| Sum { value: a + b }));
//!
//! let requester = Requester::<Operands, Sum>::new(&participant, "sum")?;
//! assert_eq!(requester.call(&Operands { a: 2, b: 3 }).block_for(Duration::from_secs(10))?.value, 5);
//! # Ok(())
//! # }
//! ```
//!
//! In: requests and replies as samples. Out: calls of this service. Owned: the calls in flight of each requester, and
//! the requests of each replier that wait for their way back.
//!
//! - `requester`, `call`: the side that asks, and its waits.
//! - `calls_in_flight`: the replies of each request that are not read yet.
//! - `close_watch`: the end of the reader of a requester or replier, for their waits.
//! - `replier`, `request`: the side that answers.
//! - `correlation`: how a reply names its request. The only place that knows the wire format.
//! - `service`: topic names, QoS and limits of both sides.

mod call;
mod calls_in_flight;
mod close_watch;
mod correlation;
mod replier;
mod request;
mod requester;
mod service;

pub use call::Replies;
pub use replier::{Replier, ReplierBuilder};
pub use request::Request;
pub use requester::{Requester, RequesterBuilder};
