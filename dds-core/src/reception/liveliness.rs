//! Liveliness assertions between a participant's endpoints and other participants (LIVELINESS; DDS 1.4, 2.2.3.11).
//!
//! An assertion is one store at the place where it arrives. Assertions of another participant are in the routes, and
//! those of this application in one assertion clock. Leases check there when they may expire. Only endpoints that have
//! lost a writer, or their own liveliness, must be notified. That happens here, outside of all cells.

use crate::actor::Effects;
use crate::qos::LivelinessKind;
use crate::reception::Reception;
use dds_rtps::concurrent::AssertionClock;
use dds_rtps::types::GuidPrefix;
use std::sync::Arc;

impl Reception {
    /// The assertion clock of a writer's participant. `None` if its assertions do not count for writers of this kind.
    pub(crate) fn assertion_clock_of(&self, prefix: GuidPrefix, kind: LivelinessKind) -> Option<Arc<AssertionClock>> {
        if prefix != self.core.prefix() {
            return self.routes().assertion_clock(prefix, kind);
        }
        match kind {
            LivelinessKind::ManualByParticipant => Some(Arc::clone(self.core.assertion_clock())),
            // Automatic writers of this participant live as long as the process, and the others assert themselves.
            LivelinessKind::Automatic | LivelinessKind::ManualByTopic => None,
        }
    }

    /// Records that another participant asserted the liveliness of its writers of a kind.
    pub(crate) fn participant_asserted(&self, prefix: GuidPrefix, kind: LivelinessKind, effects: &mut Effects) {
        let now = effects.now(|| self.core.driver().now());
        let Some(assertion_clock) = self.routes().assertion_clock(prefix, kind) else { return };
        // Usually no reader waits for an assertion, and the store is all that is done.
        if assertion_clock.assert(now.instant) {
            self.revive_writers_of(prefix, effects);
        }
    }

    /// Revives lost writers of a participant, which some local readers have lost and which was heard again.
    #[cold]
    pub(crate) fn revive_writers_of(&self, prefix: GuidPrefix, effects: &mut Effects) {
        if self.routes().take_news_of(prefix) {
            self.recheck_lost_writers(effects);
        }
    }

    /// Revives local writers that had lost their liveliness, after an assertion of the application.
    pub(crate) fn revive_own_writers(&self, effects: &mut Effects) {
        if !self.core.assertion_clock().take_unreported() {
            return;
        }
        for writer in self.routes().writers() {
            // Fails only for a closed writer, which has no liveliness.
            let _ = writer.with(effects, |actor, effects| actor.recheck_liveliness(effects));
        }
        // Local readers then know the writers as remote ones, by leases.
        if self.core.config().udp_only {
            self.recheck_lost_writers(effects);
        }
    }

    fn recheck_lost_writers(&self, effects: &mut Effects) {
        for reader in self.routes().readers() {
            // Fails only for a closed reader, which has no writers.
            let _ = reader.with(effects, |actor, effects| actor.recheck_lost_writers(effects));
        }
    }
}
