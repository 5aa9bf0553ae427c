//! The notification of one entity: its observers and its listeners.

use crate::actor::Effects;
use crate::infrastructure::{ListenerPanics, ListenerSet, Observers, mark};

/// Notifies the observers and the listeners of one entity. Part of its state.
#[derive(Default)]
pub(crate) struct Notifier {
    observers: Observers,
    listeners: ListenerSet,
    panics: ListenerPanics,
}

impl Notifier {
    /// Reports a changed status.
    #[inline]
    pub(crate) fn mark(&mut self, mark: u32, effects: &mut Effects) {
        debug_assert!(mark.is_power_of_two(), "a mark is one status");
        // Both defer their calls until the cell is released, so their order here does not matter to the application.
        self.observers.status_changed(mark, effects);
        self.listeners.mark(mark, effects);
    }

    /// Notifies the listener of data that is still unread.
    pub(crate) fn notify_of_data(&self, effects: &mut Effects) {
        if self.observers.changed() & mark::DATA != 0 {
            self.listeners.mark_data_available(effects);
        }
    }

    /// Notifies the listener of data that the last read has left.
    pub(crate) fn notify_of_rest(&self, effects: &mut Effects) {
        self.listeners.mark_data_available(effects);
    }

    /// Sets the listeners to notify. Returns the old set, which the caller drops outside of the cell.
    pub(crate) fn set_listeners(&mut self, listeners: ListenerSet) -> ListenerSet {
        std::mem::replace(&mut self.listeners, listeners)
    }

    /// Records a panic of a listener. Only event streams report it.
    pub(crate) fn note_listener_panic(&mut self, message: &str, effects: &mut Effects) {
        // Before the notification, so that a stream that it wakes finds the message.
        self.panics.note(message);
        self.observers.notify(mark::LISTENER_PANICKED, effects);
    }

    pub(crate) fn listener_panics(&self) -> &ListenerPanics {
        &self.panics
    }

    #[inline]
    pub(crate) fn observers(&mut self) -> &mut Observers {
        &mut self.observers
    }

    /// Returns whether the application has closed the entity.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.observers.is_closed()
    }
}
