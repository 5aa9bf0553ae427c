//! Acknowledgments: how far the readers are, for which of them the writer waits, and writes that wait for room.
//!
//! | file | owns |
//! |---|---|
//! | `progress` | acknowledgments of the remote readers |
//! | `slow_readers` | slow readers, and when the writer waits for them again |
//! | `blocked_write` | a write that waits for room in the history |
//! | `latency` | how long acknowledgments take |
//! | `merged` | merging of two queued requests of a reader |

pub(crate) mod blocked_write;
mod latency;
pub(crate) mod merged;
pub(crate) mod progress;
pub(crate) mod slow_readers;

use self::blocked_write::BlockedWrite;
use self::latency::AckLatency;
use self::progress::AckProgress;
use self::slow_readers::SlowReaders;
use crate::types::SequenceNumber;
use crate::wire::AckNack;

/// Acknowledgments of the matched readers.
#[derive(Debug)]
pub(crate) struct WriterAcks {
    pub(crate) progress: AckProgress,
    pub(crate) slow: SlowReaders,
    pub(crate) blocked: BlockedWrite,
    pub(crate) latency: AckLatency,
}

impl WriterAcks {
    pub(crate) fn new(measures_latency: bool) -> Self {
        Self {
            progress: AckProgress::new(),
            slow: SlowReaders::default(),
            blocked: BlockedWrite::default(),
            latency: AckLatency::new(measures_latency),
        }
    }
}

/// Returns whether an ACKNACK is pre-emptive: the reader requests a HEARTBEAT and does not know the writer.
pub(crate) fn is_preemptive(ack_nack: &AckNack) -> bool {
    let missing = &ack_nack.reader_sn_state;
    missing.base() <= SequenceNumber::FIRST && missing.is_empty() && !ack_nack.is_final
}
