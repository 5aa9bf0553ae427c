//! The libraries in Rust, behind one function: [`Library::open`].

#[cfg(feature = "comparison")]
mod dust;
mod ours;
#[cfg(feature = "comparison")]
mod rustdds;
#[cfg(feature = "comparison")]
mod zenoh;

use super::role::{Arrived, Link, Write1};
use crate::perf::Result;
use clap::ValueEnum;

/// No other program of the benches uses this domain.
pub const DOMAIN_ID: u32 = 63;

/// A library, with its transport where several are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Library {
    /// This implementation by UDP
    Ours,
    /// This implementation by shared memory
    OursShm,
    /// Dust DDS
    #[cfg(feature = "comparison")]
    Dust,
    /// RustDDS
    #[cfg(feature = "comparison")]
    Rustdds,
    /// Zenoh by TCP; its side `there` listens
    #[cfg(feature = "comparison")]
    Zenoh,
}

impl Library {
    /// Creates the writer and the reader of this process, which live until its end.
    ///
    /// # Errors
    ///
    /// Returns an error if an entity cannot be created.
    pub fn open(self, link: Link, arrived: Arrived) -> Result<Write1> {
        match self {
            Self::Ours => ours::open(link, arrived, true),
            Self::OursShm => ours::open(link, arrived, false),
            #[cfg(feature = "comparison")]
            Self::Dust => dust::open(link, arrived),
            #[cfg(feature = "comparison")]
            Self::Rustdds => rustdds::open(link, arrived),
            #[cfg(feature = "comparison")]
            Self::Zenoh => zenoh::open(link, arrived),
        }
    }
}
