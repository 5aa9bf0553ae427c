//! Setting and removing listeners, on endpoints, groups and the participant.
//!
//! A change recomputes the listener sets of all endpoints that it may concern. One lock of the participant covers all
//! of that, so no endpoint keeps an outdated set. The path of a sample never takes this lock.

use crate::context::ParticipantCore;
use crate::infrastructure::{
    Callback, CreateErrorKind, Delivery, Ending, EventQueue, ListenedEntity, Listener, ListenerRef, MemberLink,
    MemberQueue, StatusMask,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The listener of one entity and its status mask.
pub(crate) struct ListenerSlot {
    pub(crate) mask: StatusMask,
    pub(crate) listener: Arc<Listener>,
    /// Collects the events of members, if the entity is a group or a participant.
    members: Option<Arc<MemberQueue>>,
}

/// Holds the listener of one entity, if any.
#[derive(Default)]
pub(crate) struct ListenerPlace(Mutex<Option<ListenerSlot>>);

impl ListenerPlace {
    /// Locks the slot, for a few lines and without any call to other code.
    fn slot(&self) -> MutexGuard<'_, Option<ListenerSlot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the listener. Returns the old one.
    fn put(&self, slot: Option<ListenerSlot>) -> Option<ListenerSlot> {
        std::mem::replace(&mut *self.slot(), slot)
    }

    /// Removes a listener that has panicked. A newer listener stays.
    fn take_closed(&self) -> Option<ListenerSlot> {
        self.slot().take_if(|slot| slot.listener.is_closed())
    }

    /// Ends the listener: no call begins after this.
    pub(crate) fn close(&self) {
        if let Some(old) = self.put(None) {
            old.listener.close();
        }
    }

    pub(crate) fn level(&self, entity: impl FnOnce() -> Weak<dyn ListenedEntity>) -> Option<(StatusMask, ListenerRef)> {
        // The lock covers the creation of the link, so that `close` finds the listener or no link.
        let slot = self.slot();
        let slot = slot.as_ref()?;
        let listener = match &slot.members {
            Some(members) => ListenerRef::Member(MemberLink::new(entity(), members)),
            None => ListenerRef::Own(Arc::clone(&slot.listener)),
        };
        Some((slot.mask, listener))
    }
}

/// Parts of a new listener.
pub(crate) struct NewListener {
    pub(crate) name: &'static str,
    pub(crate) mask: StatusMask,
    pub(crate) delivery: Delivery,
    pub(crate) callback: Box<dyn Callback>,
    /// For a listener of a group or a participant: collects the events of members for its callback.
    pub(crate) members: Option<Arc<MemberQueue>>,
}

impl ParticipantCore {
    /// Creates a listener, and starts the event thread if this is the first that needs it.
    fn make_listener(&self, new: NewListener, ending: &Arc<Ending>) -> Result<ListenerSlot, CreateErrorKind> {
        let NewListener { name, mask, delivery, callback, members } = new;
        if delivery == Delivery::EventThread {
            if let Err(error) = self.event_thread().start() {
                return Err(CreateErrorKind::of_thread(&error));
            }
        }
        // A listener waits without a blocked thread, so the driver must receive promptly.
        self.driver().attend();
        let queue = Arc::clone(self.event_thread()) as Arc<dyn EventQueue>;
        let listener = Listener::new(name, callback, delivery, queue, ending);
        // Before any member can mark it.
        if let Some(members) = &members {
            members.attach(&listener);
        }
        Ok(ListenerSlot { mask, listener, members })
    }

    /// Replaces the listener in `place`, then calls `refresh` to recompute listener sets.
    ///
    /// Closes the old listener last: no call of it begins after this function returns.
    pub(crate) fn set_listener(
        &self,
        place: &ListenerPlace,
        new: Option<NewListener>,
        ending: &Arc<Ending>,
        is_closed: impl Fn() -> bool,
        refresh: impl FnOnce(),
    ) -> Result<(), CreateErrorKind> {
        if self.is_forked() {
            return Err(CreateErrorKind::Forked);
        }
        if is_closed() {
            return Err(CreateErrorKind::Closed);
        }
        let slot = match new {
            Some(new) => Some(self.make_listener(new, ending)?),
            None => None,
        };
        // The old listener stays open until no endpoint refers to it.
        let old = place.put(slot);
        refresh();
        if let Some(old) = old {
            old.listener.close();
        }
        if is_closed() {
            // The thread that closed the entity may have emptied `place` before the new listener was in it.
            place.close();
            return Err(CreateErrorKind::Closed);
        }
        Ok(())
    }

    /// Removes a listener that has panicked, and recomputes listener sets without it.
    pub(crate) fn drop_panicked(&self, place: &ListenerPlace, refresh: impl FnOnce()) {
        let old = place.take_closed();
        // Another listener may have taken the place since, and its sets are right.
        if old.is_some() {
            refresh();
        }
        drop(old);
    }
}
