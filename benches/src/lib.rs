//! The work that the benchmarks measure, and the floors and implementations that they compare it with.
//!
//! - [`pair`]: a writer and a reader, and the forms in which a sample gets from one to the other.
//! - [`codec`]: encoding and decoding alone.
//! - [`burst`]: small samples that share datagrams.
//! - [`matched`]: endpoints with a thousand peers.
//! - [`among`]: a wait for many readers at once.
//! - [`floor`]: the lowest cost that the operating system allows, without DDS.
//! - [`lever`]: the three design decisions with the highest effect, each in its naive and its chosen form.
//! - [`slot`]: the channel by which each receiving side notifies the main thread.
//! - `perf` (feature `perf`): the program that measures between two processes.
//! - `comparison` (features `perf`, `comparison`): the same work between two processes of several libraries.

pub mod among;
pub mod burst;
pub mod codec;
#[cfg(feature = "perf")]
pub mod comparison;
pub mod floor;
pub mod lever;
pub mod matched;
pub mod pair;
#[cfg(feature = "peers")]
pub mod peer;
#[cfg(feature = "perf")]
pub mod perf;
pub mod slot;

/// The payload of the small samples: a key and a value of one byte each.
pub const SMALL_PAYLOAD_LEN: usize = 2;

/// The payload of the large samples, in bytes. The benchmarks of Dust DDS and RustDDS use the same size.
pub const LARGE_PAYLOAD_LEN: usize = 32_000;

/// RTPS bytes before a sample: header 20, INFO_TS 12, DATA 24, encapsulation 4.
pub const RTPS_OVERHEAD_LEN: usize = 60;
