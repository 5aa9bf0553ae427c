//! In-place reception of fragments: the reader's part.

use super::reader_actor::ReaderActor;
use crate::actor::Effects;
use crate::subscription::SubmessageRun;
use dds_rtps::reader::{InPlaceFragment, Source};
use dds_rtps::wire::DataFrag;

impl ReaderActor {
    /// Returns the place of the fragment after the received one, if that is likely to arrive next.
    pub(crate) fn next_fragment_place(
        &mut self,
        run: &SubmessageRun,
        fragment: &DataFrag<'_>,
    ) -> Option<InPlaceFragment> {
        self.rtps.lend_next_fragment(run.source.writer, fragment.writer_sn, fragment.fragment_starting_num)
    }

    /// Processes a fragment that was received in place. Returns the place of the next one.
    pub(crate) fn receive_in_place(
        &mut self,
        source: &Source,
        fragment: InPlaceFragment,
        effects: &mut Effects,
    ) -> Option<InPlaceFragment> {
        let now = self.now(effects);
        let next = self.rtps.handle_in_place(now, source, fragment);
        self.follow_up(now, effects);
        next
    }
}
