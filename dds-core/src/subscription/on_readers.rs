//! DATA_ON_READERS, the status of a subscriber whose readers have data (DDS 1.4, 2.2.4.1).
//!
//! Life cycle: created when the application first asks for the subscriber's status condition. Until then it costs the
//! readers nothing. From then on it observes each reader and is poked outside of the reader's cell.

use crate::actor::{Effects, Poke};
use crate::endpoint::EndpointActor;
use crate::infrastructure::{Observer, Watched, mark};
use crate::subscription::{ReaderHandle, SubscriberGroup};
use crate::sync::AtomicU32;
use std::sync::{Arc, Weak};

/// Keeps the status up to date.
pub(crate) struct DataOnReaders {
    watched: Arc<Watched>,
    observer: Arc<Observer>,
}

impl DataOnReaders {
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
            // Any read or take resets the status.
            observers.status_read(mark::DATA_ON_READERS);
        }
    }
}

impl Poke for DataOnReaders {
    fn poke(self: Arc<Self>, effects: &mut Effects) {
        self.change(self.observer.take_marks(), effects);
    }
}

impl SubscriberGroup {
    /// Starts to observe the readers, unless the subscriber does so already.
    pub(super) fn watch_readers(&self) {
        // Most subscribers are never asked for this status, so their readers are not observed.
        if self.common().get().is_none() {
            // A concurrent thread may observe some readers twice, which is harmless.
            self.common().get_or_init(|| DataOnReaders::new(self.watched()));
            for reader in self.members() {
                self.watch_reader(&reader);
            }
        }
    }

    /// Observes a reader, if the subscriber observes its readers.
    pub(crate) fn watch_reader(&self, reader: &ReaderHandle) {
        let Some(on_readers) = self.common().get() else { return };
        Effects::scope(|effects| {
            let changed = reader.cell().with(effects, |actor, _| {
                actor.endpoint().notifier.observers().add(Arc::clone(&on_readers.observer));
                actor.endpoint().notifier.observers().changed()
            });
            // A closed reader has no data.
            on_readers.change(changed.unwrap_or(0), effects);
        });
    }
}
