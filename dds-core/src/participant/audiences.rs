//! Writers that send to some participants only.

use crate::actor::Effects;
use crate::participant::ParticipantHandle;
use crate::publication::WriterPeers;
use dds_rtps::discovery::{DiscoveredReader, MatchResult};
use dds_rtps::types::{EntityId, Guid};
use std::sync::Arc;

impl ParticipantHandle {
    /// Sets the participants that a local writer sends to.
    pub(crate) fn set_audience(&self, writer: EntityId, audience: WriterPeers) {
        Effects::scope(|effects| {
            // With the turn, so that no match of an excluded reader follows.
            let mut turn = self.matching();
            self.carry_out_events(&mut turn, effects);
            let Some(cell) = self.reception().routes().writer(writer) else { return };
            // A closed writer has no readers.
            if cell.with(effects, |actor, effects| actor.set_audience(audience, effects)).is_err() {
                return;
            }
            for (reader, is_unaware) in self.matched_readers(writer) {
                let _ = cell.with(effects, |actor, effects| actor.admit(reader.proxy(), is_unaware, effects));
            }
        });
    }

    /// Returns the remote readers that match a local writer. `true`: the reader does not know it yet.
    fn matched_readers(&self, writer: EntityId) -> Vec<(Arc<DiscoveredReader>, bool)> {
        let writer = Guid::new(self.core.prefix(), writer);
        self.discovery().know(|rtps| {
            let matching = rtps.matching();
            let Some(topic) = matching.writer(writer).map(|writer| &writer.data.endpoint.topic_name) else {
                return Vec::new();
            };
            let is_matched = |reader: &&Arc<DiscoveredReader>| {
                let result = matching.result(writer, reader.data.endpoint.guid);
                !reader.is_local && matches!(result, Some(MatchResult::Matched))
            };
            let is_unaware = |reader: &DiscoveredReader| rtps.is_unaware(writer.entity_id, reader.data.endpoint.guid);
            matching.readers_of(topic).filter(is_matched).map(|reader| (reader.clone(), is_unaware(reader))).collect()
        })
    }
}
