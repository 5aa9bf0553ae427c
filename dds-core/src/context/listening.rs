//! Setting and removing listeners, on endpoints, groups and the participant.
//!
//! A change resolves anew who is told what, for every endpoint that it may concern. All of that happens under one lock of the
//! participant, so that no endpoint is left with an older answer; nothing that happens to samples comes near it.

use crate::context::ParticipantCore;
use crate::infrastructure::{
    Callback, CreateErrorKind, Delivery, Ear, Ending, EventQueue, ListenedEntity, Listener, MemberEar, Post, StatusMask,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The listener of one entity and what it asks for.
pub(crate) struct ListenerSlot {
    pub(crate) mask: StatusMask,
    pub(crate) listener: Arc<Listener>,
    /// Where members leave what they have to tell, if the entity is a group or a participant.
    post: Option<Arc<Post>>,
}

/// A place for the listener of one entity.
#[derive(Default)]
pub(crate) struct ListenerPlace(Mutex<Option<ListenerSlot>>);

impl ListenerPlace {
    /// Held for some lines without a call of anybody else.
    fn slot(&self) -> MutexGuard<'_, Option<ListenerSlot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts in another listener, or none, and gives out the old one.
    fn put(&self, slot: Option<ListenerSlot>) -> Option<ListenerSlot> {
        std::mem::replace(&mut *self.slot(), slot)
    }

    /// Takes out a listener that has panicked; one that has taken its place meanwhile stays.
    fn take_closed(&self) -> Option<ListenerSlot> {
        self.slot().take_if(|slot| slot.listener.is_closed())
    }

    /// Ends the listener: no call begins after this.
    pub(crate) fn close(&self) {
        if let Some(old) = self.put(None) {
            old.listener.close();
        }
    }

    pub(crate) fn level(&self, entity: impl FnOnce() -> Weak<dyn ListenedEntity>) -> Option<(StatusMask, Ear)> {
        let slot = self.slot();
        let slot = slot.as_ref()?;
        let ear = match &slot.post {
            Some(post) => Ear::Member(MemberEar::new(entity(), post)),
            None => Ear::Own(Arc::clone(&slot.listener)),
        };
        Some((slot.mask, ear))
    }
}

/// What a listener is made of.
pub(crate) struct NewListener {
    pub(crate) name: &'static str,
    pub(crate) mask: StatusMask,
    pub(crate) delivery: Delivery,
    pub(crate) callback: Box<dyn Callback>,
    /// For one of a group or a participant: where its callback looks for what members have to tell.
    pub(crate) post: Option<Arc<Post>>,
}

impl ParticipantCore {
    /// Makes a listener, and the event thread if this is the first that needs it.
    fn make_listener(&self, new: NewListener, ending: &Arc<Ending>) -> Result<ListenerSlot, CreateErrorKind> {
        let NewListener { name, mask, delivery, callback, post } = new;
        if delivery == Delivery::EventThread {
            self.event_thread().start().map_err(|error| CreateErrorKind::of_thread(&error))?;
        }
        self.driver().attend();
        let queue = Arc::clone(self.event_thread()) as Arc<dyn EventQueue>;
        let listener = Listener::new(name, callback, delivery, queue, ending);
        if let Some(post) = &post {
            post.attach(&listener);
        }
        Ok(ListenerSlot { mask, listener, post })
    }

    /// Puts a new listener, or none, into `place`, and lets `refresh` resolve anew who is told what. The old one is closed
    /// then: no call of it begins after this returns.
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
        let slot = new.map(|new| self.make_listener(new, ending)).transpose()?;
        let old = place.put(slot);
        refresh();
        if let Some(old) = old {
            old.listener.close();
        }
        if is_closed() {
            // Whoever has closed the entity may have looked before.
            place.close();
            return Err(CreateErrorKind::Closed);
        }
        Ok(())
    }

    /// The listener in `place` has panicked: others are told from now on.
    pub(crate) fn drop_panicked(&self, place: &ListenerPlace, refresh: impl FnOnce()) {
        let old = place.take_closed();
        if old.is_some() {
            refresh();
        }
        drop(old);
    }
}
