//! Event streams of an endpoint, and its observers.

use crate::actor::{Cell, Effects};
use crate::endpoint::{Endpoint, EndpointActor, EndpointCore};
use crate::infrastructure::{EventSource, Events, Observed, Observers};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of events of one listener call that need no heap.
const EVENTS_IN_PLACE: usize = 6;

/// The cell of an endpoint as the source of one event stream.
struct CellEvents<A: EndpointActor> {
    cell: Arc<Cell<A>>,
    /// Streams count on their own, because a status getter resets the change only for its caller.
    reported: Mutex<A::Reported>,
}

impl<A: EndpointActor> EventSource<A::Event> for CellEvents<A> {
    fn event(&self, mark: u32, effects: &mut Effects) -> Option<A::Event> {
        // Handlers never take this lock, so this thread may hold it while it enters the cell.
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        self.cell.with(effects, |actor, _| actor.event_since(mark, &mut reported)).ok()?
    }
}

impl<A: EndpointActor> Observed for Cell<A> {
    fn with_observers(
        self: Arc<Self>,
        effects: &mut Effects,
        visit: &mut dyn FnMut(&mut Observers, &mut Effects),
    ) -> bool {
        let visited = self.with(effects, |actor, effects| {
            // A closed endpoint reports nothing, although its cell may live on to drain.
            let is_open = actor.is_open();
            if is_open {
                visit(actor.endpoint().notifier.observers(), effects);
            }
            is_open
        });
        visited.unwrap_or(false)
    }
}

impl<E: Endpoint> EndpointCore<E> {
    /// Returns a stream of the events from now on.
    pub(crate) fn events(&self) -> Events<<E::Actor as EndpointActor>::Event> {
        let cell = self.cell();
        let source = Box::new(CellEvents { cell: Arc::clone(cell), reported: Mutex::default() });
        let driver = Arc::clone(self.core().driver());
        Events::new(source, Arc::clone(cell) as Arc<dyn Observed>, driver, Arc::clone(self.subject()))
    }

    /// Returns the events that `marks` announce, and counts them as reported. A closed endpoint has no events.
    pub(crate) fn changes(&self, marks: u32) -> SmallVec<[<E::Actor as EndpointActor>::Event; EVENTS_IN_PLACE]> {
        // In place for all kinds of status, so that a listener call allocates nothing.
        let mut events = SmallVec::new();
        for &mark in E::Actor::STATUSES {
            if marks & mark == 0 {
                continue;
            }
            // One visit for each status, as the getters of the application make it.
            if let Ok(Some(event)) = self.read_status(mark, |actor| actor.read_event(mark)) {
                events.push(event);
            }
        }
        events
    }
}
