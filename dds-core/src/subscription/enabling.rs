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

    /// Whether it is to be enabled as it is made.
    pub(super) fn is_autoenabled(&self) -> bool {
        self.group.as_ref().map_or_else(|| self.core.autoenables(), |group| group.autoenables())
    }

    /// Lets the reader take part, with the QoS that it has now; does nothing if it does already.
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
        if !self.settle() {
            return Ok(());
        }
        // Who waits inside of the cell has seen it disabled. Nobody waits for a reader that has been closed meanwhile.
        let _ = self.visit(ReaderActor::note_enabled);
        match self.builtin {
            Some(kind) => self.participant.add_builtin_reader(self, kind),
            None => self.participant.announce_reader(self),
        }
    }

    /// From now on the QoS may change no more than while a reader lives. False if another thread was quicker.
    fn settle(&self) -> bool {
        // Held for some lines without a call of anybody else.
        let _turn = self.enabling.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_enabled() {
            return false;
        }
        let group = self.group.as_ref();
        // Its subscriber may have got another PRESENTATION meanwhile.
        if self.qos.settle() || group.is_some_and(|group| group.version() > 0) {
            let context = (group, self.filtered());
            let protocol = reader_protocol(&self.core, self.guid(), self.key.clone(), self.qos.fixed(), context);
            // Nobody has used the one that it was made with. A closed reader needs none.
            let old = Effects::scope(|effects| {
                self.cell.with(effects, |actor, _| {
                    let old = actor.begin_anew(protocol);
                    self.filtered().into_iter().for_each(|filtered| actor.set_filter(filtered.filter()));
                    old
                })
            });
            drop(old);
        }
        self.take_seat();
        self.enabled.store(true, Ordering::Release);
        true
    }
}
