//! What others leave for a writer while somebody is inside.

use dds_rtps::wire::{AckNack, NackFrag};
use dds_rtps::writer::{Asker, merge_ack_nack, merge_nack_frag};
use std::ops::ControlFlow;

/// What others leave for a writer. What a reader says again while it waits is merged with what it has said, so answers take
/// a place or two for each reader, however long somebody is inside. Should so many readers answer that there is no room all
/// the same, it may be dropped: they repeat it until it is answered.
pub(crate) enum WriterMail {
    /// A reader acknowledges and asks.
    AckNack(Asker, AckNack),
    /// A reader asks for fragments.
    NackFrag(Asker, NackFrag),
}

impl WriterMail {
    /// Takes in what the same reader says later, if that loses nothing; breaks where it must stand behind this one.
    pub(crate) fn take_in(&mut self, later: &Self) -> ControlFlow<bool> {
        let (asker, later_asker, is_taken) = match (self, later) {
            (Self::AckNack(asker, waiting), Self::AckNack(later_asker, later))
                if asker.reader == later_asker.reader =>
            {
                (asker, later_asker, merge_ack_nack(waiting, later))
            }
            (Self::NackFrag(asker, waiting), Self::NackFrag(later_asker, later))
                if asker.reader == later_asker.reader =>
            {
                // Another change, or other fragments of the same one: such a piece may wait before this one.
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
