//! Warning about samples of PERSISTENT and TRANSIENT writers that no durability service keeps.

use crate::publication::WriterHandle;
use crate::qos::Durability;

impl WriterHandle {
    /// Warns if samples end with the writer although its QoS offers to keep them.
    ///
    /// DDS makes the durability service optional, so there may be none. The caller must call this before the writer is
    /// closed.
    pub(super) fn warn_of_unkept_samples(&self) {
        let durability = self.qos.read(|qos| qos.durability);
        if durability <= Durability::TransientLocal || self.core.config().is_durability_service() {
            return;
        }
        let state = self.visit(|actor, _| (actor.subscriptions().to_vec(), actor.rtps().history_len()));
        let Some((readers, kept)) = state.ok().filter(|(_, kept)| *kept > 0) else { return };
        let services = self.participant.durability_services();
        let is_kept = readers.iter().any(|reader| services.contains(&reader.prefix));
        if !is_kept {
            self.span.in_scope(|| {
                tracing::warn!(
                    ?durability,
                    kept,
                    "its samples end with this writer: no durability service has matched it"
                );
            });
        }
    }
}
