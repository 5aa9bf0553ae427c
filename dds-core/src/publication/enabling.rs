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

    /// Whether it is to be enabled as it is made.
    pub(super) fn is_autoenabled(&self) -> bool {
        self.group.as_ref().map_or_else(|| self.core.autoenables(), |group| group.autoenables())
    }

    /// Lets the writer take part, with the QoS that it has now; does nothing if it does already.
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
        if self.settle() { self.participant.announce_writer(self) } else { Ok(()) }
    }

    /// From now on the QoS may change no more than while a writer lives. False if another thread was quicker.
    fn settle(&self) -> bool {
        // Held for some lines without a call of anybody else.
        let _turn = self.enabling.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_enabled() {
            return false;
        }
        let has_changed = self.qos.settle();
        let qos = self.qos.fixed();
        let group = self.group.as_ref();
        let (protocol, encoding) =
            writer_protocol(&self.core, self.guid(), self.ty.as_ref(), qos, self.behaviour, group);
        // Its publisher may have got another PRESENTATION meanwhile.
        if has_changed || group.is_some_and(|group| group.version() > 0) {
            // Nobody has used the one that it was made with. A closed writer needs none.
            let old = Effects::scope(|effects| self.cell.with(effects, |actor, _| actor.begin_anew(protocol, qos)));
            drop(old);
        }
        self.encoding.set(encoding).is_ok()
    }
}
