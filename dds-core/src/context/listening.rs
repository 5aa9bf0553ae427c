//! Setting and removing listeners, on endpoints, groups and the participant.
//!
//! A change resolves anew who is told what, for every endpoint that it may concern. All of that happens under one lock of the
//! participant, so that no endpoint is left with an older answer; nothing that happens to samples comes near it.

use crate::actor::Effects;
use crate::infrastructure::{
    Audience, Callback, CreateErrorKind, Delivery, Ear, Ending, EventQueue, Listener, MemberEar, Post, StatusMask,
    Teller,
};
use crate::participant::ParticipantHandle;
use crate::publication::WriterHandle;
use crate::subscription::ReaderHandle;
use crate::topic::TopicHandle;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

    fn level(&self, teller: impl FnOnce() -> Teller) -> Option<(StatusMask, Ear)> {
        let slot = self.slot();
        let slot = slot.as_ref()?;
        let ear = match &slot.post {
            Some(post) => Ear::Member(MemberEar::new(teller(), post)),
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

impl ParticipantHandle {
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

    /// Resolves anew whom a reader tells what.
    pub(crate) fn refresh_reader(&self, reader: &Arc<ReaderHandle>) {
        let turn = self.listening();
        let teller = || Teller::Reader(Arc::downgrade(reader));
        let group = reader.group();
        let own = reader.listener().level(teller).map(|(mask, ear)| (mask & !StatusMask::DATA_ON_READERS, ear));
        let middle = group.and_then(|group| group.listener().level(teller));
        // Only a subscriber that the application has made has data on its readers.
        let top_mask = if group.is_some() { StatusMask::ALL } else { !StatusMask::DATA_ON_READERS };
        let top = self.top_listener().level(teller).map(|(mask, ear)| (mask & top_mask, ear));
        let audience = Audience::resolve([own, middle, top].into_iter().flatten());
        // A closed reader tells nobody anything. The old audience is dropped outside of the cell.
        let old = Effects::scope(|effects| reader.cell().with(effects, |actor, _| actor.set_audience(audience)));
        drop(turn);
        drop(old);
    }

    /// As [`refresh_reader`](Self::refresh_reader).
    pub(crate) fn refresh_writer(&self, writer: &Arc<WriterHandle>) {
        let turn = self.listening();
        let teller = || Teller::Writer(Arc::downgrade(writer));
        let levels = [
            writer.listener().level(teller),
            writer.group().and_then(|group| group.listener().level(teller)),
            self.top_listener().level(teller),
        ];
        let audience = Audience::resolve(levels.into_iter().flatten());
        let old = Effects::scope(|effects| writer.cell().with(effects, |actor, _| actor.set_audience(audience)));
        drop(turn);
        drop(old);
    }

    /// Whom a topic tells what, which happens so seldom that nobody keeps it.
    pub(crate) fn topic_audience(&self, topic: &Arc<TopicHandle>) -> Audience {
        let teller = || Teller::Topic(Arc::downgrade(topic));
        Audience::resolve([topic.listener().level(teller), self.top_listener().level(teller)].into_iter().flatten())
    }

    /// Resolves anew for every endpoint.
    pub(crate) fn refresh_all(&self) {
        self.contained().readers().iter().for_each(|reader| self.refresh_reader(reader));
        self.contained().writers().iter().for_each(|writer| self.refresh_writer(writer));
    }
}
