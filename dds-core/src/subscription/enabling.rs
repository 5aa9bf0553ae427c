//! Enabling a reader (DDS 1.4, 2.2.2.1.1.7).

use crate::actor::Effects;
use crate::infrastructure::CreateErrorKind;
use crate::subscription::ReaderHandle;
use crate::subscription::builder::reader_protocol;
use crate::subscription::reader_actor::ReaderActor;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

impl ReaderHandle {
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Acquire)
    }

    /// Returns whether the creation enables the reader.
    pub(super) fn is_autoenabled(&self) -> bool {
        self.group.as_ref().map_or_else(|| self.core.autoenables(), |group| group.autoenables())
    }

    /// Enables the reader with its present QoS. Has no effect on an enabled reader.
    pub(crate) fn enable(&self) -> Result<(), CreateErrorKind> {
        if self.is_enabled() {
            return Ok(());
        }
        self.core.check_open()?;
        if self.is_closed() {
            return Err(CreateErrorKind::Closed);
        }
        if !self.group.as_ref().map_or_else(|| self.core.is_enabled(), |group| group.is_enabled()) {
            return Err(CreateErrorKind::FactoryNotEnabled);
        }
        if !self.fix_qos() {
            return Ok(());
        }
        // Callers that wait in the cell have seen the reader disabled. Ignore the error, because a closed reader has no
        // waiters.
        let _ = self.visit(ReaderActor::note_enabled);
        match self.builtin {
            Some(kind) => self.participant.add_builtin_reader(self, kind),
            None => self.participant.announce_reader(self),
        }
    }

    /// Fixes the QoS that cannot change while the reader lives. Returns `false` if another thread did it first.
    fn fix_qos(&self) -> bool {
        // The lock is held for some lines, which call no foreign code.
        let _turn = self.enabling.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_enabled() {
            return false;
        }
        let group = self.group.as_ref();
        // Immutable policies are built into the protocol's state for speed, so a changed QoS needs a new state.
        // PRESENTATION of the subscriber may have changed since the creation.
        if self.qos.settle() || group.is_some_and(|group| group.version() > 0) {
            let context = (group, self.filtered());
            let protocol = reader_protocol(&self.core, self.guid(), self.key.clone(), self.qos.fixed(), context);
            // No caller has used the initial protocol reader. Ignore the error, because a closed reader needs no
            // replacement.
            let old = Effects::scope(|effects| {
                self.cell.with(effects, |actor, _| {
                    let old = actor.replace_protocol(protocol);
                    if let Some(filtered) = self.filtered() {
                        actor.set_filter(filtered.filter());
                    }
                    old
                })
            });
            drop(old);
        }
        self.join_group();
        self.enabled.store(true, Ordering::Release);
        true
    }
}
