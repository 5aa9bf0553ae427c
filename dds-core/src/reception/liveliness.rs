//! Liveliness assertions between a participant's endpoints and other participants (LIVELINESS; DDS 1.4, 2.2.3.11).
//!
//! An assertion is one store at the place where it arrives: of another participant in the routes, of this application in one
//! assertion clock. Leases look there when they may end. Only endpoints that have lost a writer, or their own liveliness, must be
//! notified. That happens here, outside of all cells.

use crate::actor::Effects;
use crate::qos::LivelinessKind;
use crate::reception::Reception;
use dds_rtps::concurrent::AssertionClock;
use dds_rtps::types::GuidPrefix;
use std::sync::Arc;

impl Reception {
    /// Where the signs of life of a writer's participant are noted, as far as they count for a writer of this kind.
    pub(crate) fn assertion_clock_of(&self, prefix: GuidPrefix, kind: LivelinessKind) -> Option<Arc<AssertionClock>> {
        if prefix == self.core.prefix() {
            return (kind == LivelinessKind::ManualByParticipant).then(|| Arc::clone(self.core.assertion_clock()));
        }
        self.routes().assertion_clock(prefix, kind)
    }

    /// Another participant has said that its writers of a kind are alive.
    pub(crate) fn participant_asserted(&self, prefix: GuidPrefix, kind: LivelinessKind, effects: &mut Effects) {
        let now = effects.now(|| self.core.driver().now());
        if self
            .routes()
            .assertion_clock(prefix, kind)
            .is_some_and(|assertion_clock| assertion_clock.assert(now.instant))
        {
            self.revive_writers_of(prefix, effects);
        }
    }

    /// Another participant was heard, and readers here have lost writers of it: those that live by that are alive again.
    #[cold]
    pub(crate) fn revive_writers_of(&self, prefix: GuidPrefix, effects: &mut Effects) {
        if self.routes().take_news_of(prefix) {
            self.recheck_lost_writers(effects);
        }
    }

    /// The application was heard, and writers here had lost their liveliness: those that live by that are alive again.
    pub(crate) fn revive_own_writers(&self, effects: &mut Effects) {
        if !self.core.assertion_clock().take_unreported() {
            return;
        }
        for writer in self.routes().writers() {
            // A closed writer promises nothing any more.
            let _ = writer.with(effects, |actor, effects| actor.recheck_liveliness(effects));
        }
        if self.core.config().udp_only {
            self.recheck_lost_writers(effects);
        }
    }

    fn recheck_lost_writers(&self, effects: &mut Effects) {
        for reader in self.routes().readers() {
            // A closed reader has no writers any more.
            let _ = reader.with(effects, |actor, effects| actor.recheck_lost_writers(effects));
        }
    }
}
