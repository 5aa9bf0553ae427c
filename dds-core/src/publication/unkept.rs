//! What is lost with a writer that offers more than it can keep itself.

use crate::publication::WriterHandle;
use crate::qos::Durability;
use crate::settings::DURABILITY_SERVICE;

impl WriterHandle {
    /// Says so if samples go with the writer that it has offered to outlive it, because there is no durability service, which is
    /// optional in DDS. To be called before the writer is closed.
    pub(super) fn warn_of_what_is_unkept(&self) {
        let durability = self.qos.read(|qos| qos.durability);
        if durability <= Durability::TransientLocal || self.participant.config().is_durability_service() {
            return;
        }
        let state = self.visit(|actor, _| (actor.subscriptions().to_vec(), actor.rtps().history_len()));
        let Some((readers, kept)) = state.ok().filter(|(_, kept)| *kept > 0) else { return };
        let participants = self.participant.discovered_participants();
        let services =
            participants.iter().filter(|known| known.properties.iter().any(|(name, _)| name == DURABILITY_SERVICE));
        let is_kept = services.into_iter().any(|known| readers.iter().any(|reader| reader.prefix == known.key.prefix));
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
