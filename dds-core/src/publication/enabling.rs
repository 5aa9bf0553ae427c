//! Enabling a writer (DDS 1.4, 2.2.2.1.1.7).

use crate::actor::Effects;
use crate::infrastructure::CreateErrorKind;
use crate::publication::WriterHandle;
use crate::publication::builder::writer_protocol;
use std::sync::PoisonError;

impl WriterHandle {
    pub(crate) fn is_enabled(&self) -> bool {
        self.encoding.get().is_some()
    }

    /// Returns whether the creation enables the writer.
    pub(super) fn is_autoenabled(&self) -> bool {
        self.group.as_ref().map_or_else(|| self.core.autoenables(), |group| group.autoenables())
    }

    /// Enables the writer with its present QoS. Has no effect on an enabled writer.
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
        if self.fix_qos() { self.participant.announce_writer(self) } else { Ok(()) }
    }

    /// Fixes the QoS that cannot change while the writer lives. Returns `false` if another thread did it first.
    fn fix_qos(&self) -> bool {
        // The lock is held for some lines, which call no foreign code.
        let _turn = self.enabling.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_enabled() {
            return false;
        }
        let has_changed = self.qos.settle();
        let qos = self.qos.fixed();
        let group = self.group.as_ref();
        let (protocol, encoding) =
            writer_protocol(&self.core, self.guid(), self.ty.as_ref(), qos, self.behaviour, group);
        // Immutable policies are built into the protocol's state for speed, so a changed QoS needs a new state.
        // PRESENTATION of the publisher may have changed since the creation.
        if has_changed || group.is_some_and(|group| group.version() > 0) {
            // No caller has used the initial protocol writer. Ignore the error, because a closed writer needs no
            // replacement.
            let old =
                Effects::scope(|effects| self.cell.with(effects, |actor, _| actor.replace_protocol(protocol, qos)));
            drop(old);
        }
        let is_first = self.encoding.set(encoding).is_ok();
        debug_assert!(is_first, "only the holder of the lock enables the writer");
        is_first
    }
}
