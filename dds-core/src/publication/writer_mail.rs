//! Mail of a writer, for messages that arrive while its cell is occupied.

use dds_rtps::wire::{AckNack, NackFrag};
use dds_rtps::writer::{Asker, merge_ack_nack, merge_nack_frag};
use std::ops::ControlFlow;

/// Mail of a writer.
///
/// A repeated message of a reader is merged with the waiting one. Each reader therefore needs one or two places,
/// however long the cell is occupied. If the inbox is full because many readers answer, mail may be dropped. The
/// readers repeat it until it is answered.
pub(crate) enum WriterMail {
    /// ACKNACK of a reader.
    AckNack(Asker, AckNack),
    /// NACK_FRAG of a reader.
    NackFrag(Asker, NackFrag),
}

impl WriterMail {
    /// Absorbs later mail of the same reader if no information is lost. Breaks if the later mail must wait behind this
    /// one.
    pub(crate) fn absorb(&mut self, later: &Self) -> ControlFlow<bool> {
        let (asker, later_asker, is_taken) = match (self, later) {
            (Self::AckNack(asker, waiting), Self::AckNack(later_asker, later))
                if asker.reader == later_asker.reader =>
            {
                (asker, later_asker, merge_ack_nack(waiting, later))
            }
            (Self::NackFrag(asker, waiting), Self::NackFrag(later_asker, later))
                if asker.reader == later_asker.reader =>
            {
                // It requests another change, or other fragments of the same one. It may be merged with older mail.
                if !merge_nack_frag(waiting, later) {
                    return ControlFlow::Continue(());
                }
                (asker, later_asker, true)
            }
            _ => return ControlFlow::Continue(()),
        };
        if is_taken {
            *asker = *later_asker;
        }
        ControlFlow::Break(is_taken)
    }
}
