//! Who among the listeners of an endpoint, its group and its participant is told of which status (DDS 1.4, 2.2.4.2).
//!
//! Resolved whenever a listener is set or removed, so that an endpoint that something happens to looks at one short list.
//! The lowest entity whose listener asks for a status handles it; one that nobody asks for is kept as a changed status only.

use crate::actor::Effects;
use crate::infrastructure::{Listener, MemberEar, StatusMask, mark};
use smallvec::SmallVec;
use std::sync::Arc;

/// A listener as an endpoint sees it.
#[derive(Clone)]
pub(crate) enum Ear {
    /// The endpoint's own.
    Own(Arc<Listener>),
    /// That of its publisher, subscriber or participant.
    Member(Arc<MemberEar>),
}

impl Ear {
    fn mark(&self, mark: u32, effects: &mut Effects) {
        match self {
            Self::Own(listener) => listener.mark(mark, effects),
            Self::Member(ear) => ear.mark(mark, effects),
        }
    }
}

/// The listeners of one endpoint. Part of its state.
#[derive(Default)]
pub(crate) struct Audience {
    /// Each with the marks that are its own business; no mark is in two.
    ears: SmallVec<[(u32, Ear); 1]>,
    /// Who is told of data once nobody handles DATA_ON_READERS.
    data_available: Option<Ear>,
}

impl Audience {
    /// From the listeners of the endpoint, its group and its participant, in this order.
    pub(crate) fn resolve(levels: impl IntoIterator<Item = (StatusMask, Ear)>) -> Self {
        let levels: SmallVec<[(StatusMask, Ear); 3]> = levels.into_iter().collect();
        let asks = |status: u32| levels.iter().find(|(mask, _)| mask.bits() & status != 0).map(|(_, ear)| ear.clone());
        let data_available = asks(mark::DATA);
        let mut audience = Self { ears: SmallVec::new(), data_available: data_available.clone() };
        let mut taken = 0;
        // "on_data_on_readers" comes before "on_data_available", and takes its place where somebody asks for it.
        if let Some(ear) = asks(mark::DATA_ON_READERS) {
            audience.ears.push((mark::DATA | mark::DATA_ON_READERS, ear));
            taken = mark::DATA | mark::DATA_ON_READERS;
        }
        for (mask, ear) in levels {
            let own = mask.bits() & !taken;
            if own != 0 {
                audience.ears.push((own, ear));
                taken |= own;
            }
        }
        audience
    }

    /// A status has changed.
    #[inline]
    pub(crate) fn mark(&self, mark: u32, effects: &mut Effects) {
        for (marks, ear) in &self.ears {
            if marks & mark != 0 {
                // Whoever listens to data on readers hears of it under that name.
                let as_group = mark == mark::DATA && marks & mark::DATA_ON_READERS != 0;
                ear.mark(if as_group { mark::DATA_ON_READERS } else { mark }, effects);
            }
        }
    }

    /// Tells of data whoever would be told if nobody listened to data on readers.
    pub(crate) fn mark_data_available(&self, effects: &mut Effects) {
        if let Some(ear) = &self.data_available {
            ear.mark(mark::DATA, effects);
        }
    }
}

#[cfg(test)]
#[cfg(not(dds_loom))]
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

    /// What the levels are told of a change of `status`, then of data that nobody handled as data on readers.
    fn told(levels: &[(&'static str, StatusMask)], status: u32) -> (Told, Told) {
        let told = Arc::<Mutex<Told>>::default();
        let ear = |name: &'static str| {
            let callback = Box::new(Tell(name, Arc::clone(&told)));
            Ear::Own(Listener::new(name, callback, Delivery::Inline, Arc::new(NoQueue), &Ending::new()))
        };
        let audience = Audience::resolve(levels.iter().map(|&(name, mask)| (mask, ear(name))));
        Effects::scope(|effects| audience.mark(status, effects));
        let first = std::mem::take(&mut *told.lock().unwrap());
        Effects::scope(|effects| audience.mark_data_available(effects));
        let second = std::mem::take(&mut *told.lock().unwrap());
        (first, second)
    }

    #[test]
    fn the_lowest_that_asks_is_told_and_nobody_else() {
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
    fn data_on_readers_comes_before_data_available_wherever_it_is_asked_for() {
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
