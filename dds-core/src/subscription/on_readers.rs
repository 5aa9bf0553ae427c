//! The status of a subscriber that one of its readers has data (DDS 1.4, 2.2.4.1, DATA_ON_READERS).
//!
//! Life cycle: made when the application first asks for the subscriber's status condition; until then no reader has
//! anything to do with it. From then on it observes each reader, outside of whose cell it is poked.

use crate::actor::{Effects, Poke, Signals};
use crate::infrastructure::{Observer, Watched, mark};
use crate::subscription::{ReaderHandle, SubscriberGroup};
use crate::sync::AtomicU32;
use std::sync::{Arc, Weak};

/// Looks after the status.
pub(crate) struct OnReaders {
    watched: Arc<Watched>,
    observer: Arc<Observer>,
}

impl OnReaders {
    fn new(watched: &Arc<Watched>) -> Arc<Self> {
        Arc::new_cyclic(|this: &Weak<Self>| Self {
            watched: Arc::clone(watched),
            observer: Observer::new(
                Arc::new(AtomicU32::new(mark::DATA | mark::SELECTED)),
                Weak::clone(this) as Weak<dyn Poke>,
            ),
        })
    }

    fn change(&self, marks: u32, effects: &mut Effects) {
        let mut observers = self.watched.observers();
        if marks & mark::DATA != 0 {
            observers.status_changed(mark::DATA_ON_READERS, effects);
        } else if marks & mark::SELECTED != 0 {
            // Reading or taking anything resets it.
            observers.status_read(mark::DATA_ON_READERS);
        }
    }
}

impl Poke for OnReaders {
    fn poke(self: Arc<Self>, effects: &mut Effects) {
        self.change(self.observer.take_marks(), effects);
    }

    fn resume(self: Arc<Self>, effects: &mut Effects) {
        self.poke(effects);
    }

    fn signal(&self, _signals: Signals) {}
}

impl SubscriberGroup {
    /// Begins to look after the status, unless that has happened before.
    pub(super) fn watch_readers(&self) {
        if self.common().get().is_none() {
            // Another thread that does the same observes some readers twice, which is harmless.
            self.common().get_or_init(|| OnReaders::new(self.watched()));
            self.members().iter().for_each(|reader| self.watch_reader(reader));
        }
    }

    /// Observes a reader, if anybody wants to know.
    pub(crate) fn watch_reader(&self, reader: &ReaderHandle) {
        let Some(on_readers) = self.common().get() else { return };
        Effects::scope(|effects| {
            let changed = reader.cell().with(effects, |actor, _| {
                actor.observers().add(Arc::clone(&on_readers.observer));
                actor.observers().changed()
            });
            // A closed reader has no data.
            on_readers.change(changed.unwrap_or(0), effects);
        });
    }
}
