//! Causes of lost samples, from the ledger of losses.

use crate::perf::load::Load;
use crate::perf::receive::Receiver;
use dds_core::DataReader;
use dds_core::stats::ReaderLosses;
use serde::{Deserialize, Serialize};

/// The ledgers of all readers of a process since a start time.
#[derive(Debug)]
pub struct Ledgers(Vec<(DataReader<Load>, ReaderLosses)>);

/// Losses during a measurement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Reasons {
    /// Datagrams that the sockets of the process dropped. `None` if the system does not count them.
    ///
    /// Reliable samples among them were repaired.
    pub socket_dropped: Option<u64>,
    /// A text for each reader with losses.
    pub lost: Vec<String>,
}

impl Ledgers {
    /// Starts the count.
    #[must_use]
    pub fn begin(receivers: &[Receiver]) -> Self {
        let readers = receivers.iter().map(Receiver::reader);
        Self(readers.map(|reader| (reader.clone(), reader.losses())).collect())
    }

    /// Ends the count.
    #[must_use]
    pub fn end(self) -> Reasons {
        let Self(ledgers) = self;
        let between = |(reader, before): (DataReader<Load>, ReaderLosses)| reader.losses().since(&before);
        let all: Vec<ReaderLosses> = ledgers.into_iter().map(between).collect();
        Reasons {
            // The sockets belong to the participant, so each reader reports the same number.
            socket_dropped: all.iter().filter_map(|losses| losses.socket_dropped).max(),
            lost: all.iter().filter(|losses| losses.total().lost() > 0).map(ToString::to_string).collect(),
        }
    }
}
