//! Why samples were lost, as the library's ledger tells it.

use crate::perf::load::Load;
use crate::perf::receive::Receiver;
use dds_core::{DataReader, ReaderLosses};
use serde::{Deserialize, Serialize};

/// The ledgers of all readers of a process, from some moment on.
#[derive(Debug)]
pub struct Ledgers(Vec<(DataReader<Load>, ReaderLosses)>);

/// What they say.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Reasons {
    /// Datagrams for which the sockets of the process had no room; reliable samples were repaired. Null where the system does not tell.
    pub socket_dropped: Option<u64>,
    /// In words, for each reader that has lost some.
    pub lost: Vec<String>,
}

impl Ledgers {
    /// From now on.
    #[must_use]
    pub fn begin(receivers: &[Receiver]) -> Self {
        let readers = receivers.iter().map(Receiver::reader);
        // A reader that is closed has no ledger any more.
        Self(readers.filter_map(|reader| Some((reader.clone(), reader.losses().ok()?))).collect())
    }

    /// Until now.
    #[must_use]
    pub fn end(self) -> Reasons {
        let Self(ledgers) = self;
        let between = |(reader, before): (DataReader<Load>, ReaderLosses)| Some(reader.losses().ok()?.since(&before));
        let all: Vec<ReaderLosses> = ledgers.into_iter().filter_map(between).collect();
        Reasons {
            // The sockets are those of the participant: every reader tells the same of them.
            socket_dropped: all.iter().filter_map(|losses| losses.socket_dropped).max(),
            lost: all.iter().filter(|losses| losses.total().lost() > 0).map(ToString::to_string).collect(),
        }
    }
}
