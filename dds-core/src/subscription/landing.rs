//! Fragments that are received in their place: the reader's part.

use super::reader_actor::ReaderActor;
use crate::actor::Effects;
use crate::subscription::Run;
use dds_rtps::reader::{InPlaceFragment, Source};
use dds_rtps::wire::DataFrag;

impl ReaderActor {
    /// The place of the fragment after this one, which has been received, if it is likely to come next.
    pub(crate) fn place_after(&mut self, run: &Run, fragment: &DataFrag<'_>) -> Option<InPlaceFragment> {
        self.rtps.lend_next_fragment(run.source.writer, fragment.writer_sn, fragment.fragment_starting_num)
    }

    /// A fragment lies in its place. The place of the next one.
    pub(crate) fn land(
        &mut self,
        source: &Source,
        landing: InPlaceFragment,
        effects: &mut Effects,
    ) -> Option<InPlaceFragment> {
        let now = self.now(effects);
        let next = self.rtps.handle_in_place(now, source, landing);
        self.follow_up(now, effects);
        next
    }
}
