//! Who is alive, between a participant's endpoints and others (LIVELINESS; DDS 1.4, 2.2.3.11).
//!
//! Signs of life are noted where they come in, one store each: of another participant in the routes, by whoever receives; of
//! this application in one assertion_clock, by whoever writes or asserts. Leases look there when they may end. Only who has lost a
//! writer, or its own liveliness, has to be told, and that is done here, outside of all cells.

use crate::actor::{Effects, Poke};
use crate::discovery::WRITER_IS_ALIVE;
use crate::participant::ParticipantHandle;
use crate::qos::LivelinessKind;
use dds_rtps::concurrent::AssertionClock;
use dds_rtps::types::GuidPrefix;
use std::sync::Arc;

impl ParticipantHandle {
    /// The application says that it is alive.
    pub(crate) fn assert_liveliness(&self) {
        if self.assertion_clock().assert(self.driver().now().instant) {
            self.cell().signal(WRITER_IS_ALIVE);
            Effects::scope(|effects| Arc::clone(self.cell()).poke(effects));
        }
    }

    /// Where the signs of life of a writer's participant are noted, as far as they count for a writer of this kind.
    pub(crate) fn assertion_clock_of(&self, prefix: GuidPrefix, kind: LivelinessKind) -> Option<Arc<AssertionClock>> {
        if prefix == self.prefix() {
            return (kind == LivelinessKind::ManualByParticipant).then(|| Arc::clone(self.assertion_clock()));
        }
        self.routes().assertion_clock(prefix, kind)
    }

    /// Another participant has said that its writers of a kind are alive.
    pub(crate) fn participant_asserted(&self, prefix: GuidPrefix, kind: LivelinessKind, effects: &mut Effects) {
        let now = effects.now(|| self.driver().now());
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
            self.look_at_lost_writers(effects);
        }
    }

    /// The application was heard, and writers here had lost their liveliness: those that live by that are alive again.
    pub(crate) fn revive_own_writers(&self, effects: &mut Effects) {
        if !self.assertion_clock().take_unreported() {
            return;
        }
        for writer in self.routes().writers() {
            // A closed writer promises nothing any more.
            let _ = writer.with(effects, |actor, effects| actor.look_at_liveliness(effects));
        }
        if self.config().udp_only {
            self.look_at_lost_writers(effects);
        }
    }

    fn look_at_lost_writers(&self, effects: &mut Effects) {
        for reader in self.routes().readers() {
            // A closed reader has no writers any more.
            let _ = reader.with(effects, |actor, effects| actor.look_at_lost_writers(effects));
        }
    }
}
