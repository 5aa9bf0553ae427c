//! What the benchmarks measure, and what they measure it against.
//!
//! [`pair`]: a writer and a reader and the forms in which a sample gets from one to the other. [`codec`]: encoding and
//! decoding alone. [`burst`]: many small samples that share datagrams. [`matched`]: endpoints with a thousand peers. [`among`]: many readers
//! that are waited for together. [`floor`]: the least that the operating system allows, without any DDS. [`lever`]: the three
//! decisions that cost most when taken the other way, each as a pair of the naive and the chosen form. [`slot`]: the channel over which every
//! receiving side, ours, the floors' and the peers', tells the main thread that a sample is there. `perf` (feature `perf`): the program
//! that measures between two processes.

pub mod among;
pub mod burst;
pub mod codec;
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

/// The payload of the large samples, in bytes. The peers' own benchmarks of the same name use it.
pub const LARGE_PAYLOAD_LEN: usize = 32_000;

/// What RTPS puts in front of a sample: header 20, INFO_TS 12, DATA 24, encapsulation 4 bytes.
pub const RTPS_OVERHEAD_LEN: usize = 60;
