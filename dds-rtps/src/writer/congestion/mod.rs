//! Congestion control: how many bytes the writer keeps in flight to each reader.
//!
//! In: bytes sent, HEARTBEATs, answers of the reader, losses, the time. Out: whether the writer may send more, and when
//! an answer is overdue. Owned: the RTT estimate and the congestion window of each reliable reader, and the pacer.
//!
//! | file | owns |
//! |---|---|
//! | `window` | congestion window of a reliable reader: growth and reduction |
//! | `flight` | bytes in flight to one reader |
//! | `probe` | HEARTBEATs whose answers move the window, and their timeouts |
//! | `long_path` | window control by the share of losses, on a long path |
//! | `retransmission` | retransmission loss, and the minimum window that follows from it |
//! | `rtt` | RTT estimate and upper bound of the RTT |
//! | `pacer` | rate of large samples to best-effort readers |

mod flight;
mod long_path;
pub(crate) mod pacer;
mod probe;
mod retransmission;
pub(crate) mod rtt;
pub(crate) mod window;

use crate::types::SequenceNumber;

/// A position in the stream of a writer: all changes up to `last`, and `fragments` of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StreamPosition {
    pub(crate) last: SequenceNumber,
    pub(crate) fragments: u32,
}

impl StreamPosition {
    /// The position before the first change.
    pub(crate) const START: Self = Self::after(SequenceNumber::ZERO);

    /// Returns the position after the whole change `last`.
    pub(crate) const fn after(last: SequenceNumber) -> Self {
        Self { last, fragments: 0 }
    }
}
