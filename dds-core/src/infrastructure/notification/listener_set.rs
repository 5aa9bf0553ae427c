//! Listener set of an endpoint: which listener handles which status (DDS 1.4, 2.2.4.2).
//!
//! The candidates are the listeners of the endpoint, its group and its participant. The set is resolved whenever a
//! listener is set or removed. An event then only needs a look at one short list. The listener of the lowest entity
//! that enables a status handles it. A status without a listener only stays changed.

use crate::actor::Effects;
use crate::infrastructure::{Listener, MemberLink, StatusMask, mark};
use smallvec::SmallVec;
use std::sync::Arc;

/// A listener as an endpoint uses it.
#[derive(Clone)]
pub(crate) enum ListenerRef {
    /// The listener of the endpoint itself.
    Own(Arc<Listener>),
    /// The listener of its publisher, subscriber or participant.
    Member(Arc<MemberLink>),
}

impl ListenerRef {
    fn mark(&self, mark: u32, effects: &mut Effects) {
        match self {
            Self::Own(listener) => listener.mark(mark, effects),
            Self::Member(listener) => listener.mark(mark, effects),
        }
    }
}

/// The listeners of one endpoint. Part of the endpoint's state.
#[derive(Default)]
pub(crate) struct ListenerSet {
    /// Each listener with the marks that it handles. No mark has two listeners.
    listeners: SmallVec<[(u32, ListenerRef); 1]>,
    /// Listener for data that no listener has handled as DATA_ON_READERS.
    data_available: Option<ListenerRef>,
}

impl ListenerSet {
    /// Resolves the listeners of the endpoint, its group and its participant, in this order.
    pub(crate) fn resolve(levels: impl IntoIterator<Item = (StatusMask, ListenerRef)>) -> Self {
        // In place: an endpoint has three levels, and the set is resolved for each of thousands of endpoints.
        let levels: SmallVec<[(StatusMask, ListenerRef); 3]> = levels.into_iter().collect();
        let data_available = lowest_for(&levels, mark::DATA);
        let mut set = Self { listeners: SmallVec::new(), data_available };
        let mut taken = 0;
        // "on_data_on_readers" precedes "on_data_available", and replaces it if a listener enables it.
        if let Some(listener) = lowest_for(&levels, mark::DATA_ON_READERS) {
            set.listeners.push((mark::DATA | mark::DATA_ON_READERS, listener));
            taken = mark::DATA | mark::DATA_ON_READERS;
        }
        // Each level receives the statuses that no lower level has enabled.
        for (mask, listener) in levels {
            let own = mask.bits() & !taken;
            if own != 0 {
                set.listeners.push((own, listener));
                taken |= own;
            }
        }
        debug_assert!(set.marks_are_disjoint(), "no mark has two listeners");
        set
    }

    fn marks_are_disjoint(&self) -> bool {
        let mut seen = 0;
        for (marks, _) in &self.listeners {
            if seen & marks != 0 {
                return false;
            }
            seen |= marks;
        }
        true
    }

    /// Notifies the listener of a changed status.
    #[inline]
    pub(crate) fn mark(&self, mark: u32, effects: &mut Effects) {
        for (marks, listener) in &self.listeners {
            if marks & mark != 0 {
                // A listener of DATA_ON_READERS receives data under that name.
                let as_group = mark == mark::DATA && marks & mark::DATA_ON_READERS != 0;
                listener.mark(if as_group { mark::DATA_ON_READERS } else { mark }, effects);
            }
        }
    }

    /// Notifies the listener that would handle data if no listener enabled DATA_ON_READERS.
    pub(crate) fn mark_data_available(&self, effects: &mut Effects) {
        if let Some(listener) = &self.data_available {
            listener.mark(mark::DATA, effects);
        }
    }
}

/// Returns the listener of the lowest level that enables `status`.
fn lowest_for(levels: &[(StatusMask, ListenerRef)], status: u32) -> Option<ListenerRef> {
    for (mask, listener) in levels {
        if mask.bits() & status != 0 {
            return Some(listener.clone());
        }
    }
    None
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::infrastructure::{Callback, Delivery, Ending, EventQueue};
    use dds_rtps::types::{Instant, Now, Time};
    use std::sync::Mutex;

    struct NoQueue;
    impl EventQueue for NoQueue {
        fn enqueue(&self, _listener: Arc<Listener>) {}
        fn now(&self) -> Now {
            Now { instant: Instant::ZERO, time: Time::INVALID }
        }
        fn note_long_call(&self) {}
        fn note_panic(&self) {}
    }

    type Told = Vec<(&'static str, u32)>;

    struct Tell(&'static str, Arc<Mutex<Told>>);
    impl Callback for Tell {
        fn call(&mut self, marks: u32) {
            self.1.lock().unwrap().push((self.0, marks));
        }
        fn panicked(&mut self, _message: &str) {}
    }

    /// Returns the calls for a change of `status`, then for data that DATA_ON_READERS left unhandled.
    fn told(levels: &[(&'static str, StatusMask)], status: u32) -> (Told, Told) {
        let told = Arc::<Mutex<Told>>::default();
        let listener = |name: &'static str| {
            let callback = Box::new(Tell(name, Arc::clone(&told)));
            ListenerRef::Own(Listener::new(name, callback, Delivery::Inline, Arc::new(NoQueue), &Ending::new()))
        };
        let listeners = ListenerSet::resolve(levels.iter().map(|&(name, mask)| (mask, listener(name))));
        Effects::scope(|effects| listeners.mark(status, effects));
        let first = std::mem::take(&mut *told.lock().unwrap());
        Effects::scope(|effects| listeners.mark_data_available(effects));
        let second = std::mem::take(&mut *told.lock().unwrap());
        (first, second)
    }

    #[test]
    fn lowest_listener_with_the_status_is_called() {
        let (reader, subscriber, all) = (StatusMask::DATA_AVAILABLE, StatusMask::SAMPLE_LOST, StatusMask::ALL);
        let levels =
            [("reader", reader), ("subscriber", subscriber), ("participant", all & !StatusMask::DATA_ON_READERS)];
        assert_eq!(told(&levels, mark::DATA).0, [("reader", mark::DATA)]);
        assert_eq!(told(&levels, mark::SAMPLE_LOST).0, [("subscriber", mark::SAMPLE_LOST)]);
        assert_eq!(told(&levels, mark::MATCHED).0, [("participant", mark::MATCHED)]);
        assert_eq!(told(&levels[..2], mark::MATCHED).0, []);
        assert_eq!(told(&[], mark::DATA), (vec![], vec![]));
    }

    #[test]
    fn data_on_readers_precedes_data_available() {
        let levels =
            [("reader", StatusMask::ALL & !StatusMask::DATA_ON_READERS), ("subscriber", StatusMask::DATA_ON_READERS)];
        let (first, second) = told(&levels, mark::DATA);
        assert_eq!(first, [("subscriber", mark::DATA_ON_READERS)]);
        assert_eq!(second, [("reader", mark::DATA)]);
        assert_eq!(told(&levels, mark::MATCHED).0, [("reader", mark::MATCHED)]);
        let both = [("subscriber", StatusMask::DATA_ON_READERS), ("participant", StatusMask::ALL)];
        let (first, second) = told(&both, mark::DATA);
        assert_eq!(first, [("subscriber", mark::DATA_ON_READERS)]);
        assert_eq!(second, [("participant", mark::DATA)]);
    }
}
