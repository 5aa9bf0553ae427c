//! Status changes of one entity, as an async stream.
//!
//! Bound: a stream stores one bit for each kind of status, and the values that it reported last. A slow consumer
//! receives the changes of one kind together, with their sum.

use crate::actor::{Effects, Poke, Ticket, Wakers};
use crate::driver::Driver;
use crate::infrastructure::{
    Awaited, Observed, Observer, StatusMask, Subject, WaitErrorKind, WaitSource, Waiting, mark, observe, stop_observing,
};
use crate::sync::AtomicU32;
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

/// All statuses except data, which has its own streams.
const TOLD: u32 = StatusMask::ALL.bits() & !mark::DATA | mark::LISTENER_PANICKED;

/// Creates the events of one entity for one stream.
pub(crate) trait EventSource<E>: Send + Sync {
    /// Returns the change of the status `mark` since the last call.
    ///
    /// `None` if the status is unchanged or the entity is closed.
    fn event(&self, mark: u32, effects: &mut Effects) -> Option<E>;
}

/// Status changes of a reader, writer or topic.
///
/// [`DataReader::events`](crate::DataReader::events), [`DataWriter::events`](crate::DataWriter::events) and
/// [`Topic::events`](crate::Topic::events) return it.
///
/// A [`Stream`] that ends when the entity is closed. [`next_event`](Events::next_event) waits for one event. Each
/// stream begins with all changes since the entity was created, and misses none. It does not affect other streams,
/// listeners, or the statuses. Changes of one kind are merged until the stream fetches them. The stream does not keep
/// its entity alive.
///
/// ```
/// use dds_core::{DdsType, DomainParticipant, Scope};
/// use dds_core::status::WriterEvent;
///
/// #[derive(DdsType)]
/// struct Pose {
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let writer = participant.writer::<Pose>("watched/pose")?;
/// let events = writer.events();
/// let reader = participant.reader::<Pose>("watched/pose")?;
/// match events.next_event().block()? {
///     WriterEvent::Matched(status) => assert_eq!(status.current_count, 1),
///     other => println!("{other:?}"),
/// }
/// # Ok(())
/// # }
/// ```
pub struct Events<E> {
    shared: Arc<StreamShared<E>>,
    ticket: Option<Ticket>,
}

struct StreamShared<E> {
    feed: Box<dyn EventSource<E>>,
    entity: Arc<dyn Observed>,
    observer: Arc<Observer>,
    driver: Arc<dyn Driver>,
    subject: Arc<Subject>,
    state: Arc<StreamBell>,
}

/// Wakers of the stream. A struct of its own, because the entity's observer needs it before the rest exists.
#[derive(Default)]
struct StreamBell {
    state: Mutex<StreamState>,
}

#[derive(Default)]
struct StreamState {
    waiters: Wakers,
    /// Marks that were not handled yet.
    pending: u32,
}

impl<E> Events<E> {
    pub(crate) fn new(
        feed: Box<dyn EventSource<E>>,
        entity: Arc<dyn Observed>,
        driver: Arc<dyn Driver>,
        subject: Arc<Subject>,
    ) -> Self {
        // All marks are pending at first, so that the stream begins with the changes since creation.
        let state = Arc::new(StreamBell { state: Mutex::new(StreamState { waiters: Wakers::new(), pending: TOLD }) });
        let target: Weak<dyn Poke> = Arc::downgrade(&state) as Weak<dyn Poke>;
        let observer = Observer::new(Arc::new(AtomicU32::new(TOLD)), target);
        observe(Arc::clone(&entity), &observer);
        Self { shared: Arc::new(StreamShared { feed, entity, observer, driver, subject, state }), ticket: None }
    }

    /// Waits for the next event. A dropped wait loses no event.
    ///
    /// Fails with [`WaitErrorKind::Closed`] when the entity is closed.
    pub fn next_event(&self) -> Waiting<'_, E> {
        Waiting::new(&*self.shared, Awaited::Event)
    }
}

impl StreamBell {
    fn state(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StreamState {
    /// Removes and returns one pending mark. Returns 0 if none is pending.
    fn take_mark(&mut self) -> u32 {
        // The lowest set bit.
        let mark = self.pending & self.pending.wrapping_neg();
        self.pending &= !mark;
        mark
    }
}

impl<E> Events<E> {
    /// Waits for the next event. `None` once the entity is closed. A dropped wait loses no event.
    pub async fn next(&mut self) -> Option<E> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl<E> StreamShared<E> {
    /// Registers the waker first, then looks. An event in between wakes the caller.
    fn poll(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<E, WaitErrorKind>> {
        // Cloning runs code of the application, so it comes before the lock.
        let waker = waker.clone();
        Effects::scope(|effects| {
            let mut state = self.state.state();
            state.waiters.register(ticket, waker, effects);
            state.pending |= self.observer.take_marks() & TOLD;
            // The feed visits the entity's cell, so the stream's lock must be free.
            drop(state);
            loop {
                // One mark at a time: the others stay pending for the next poll, or for another waiter.
                let mark = self.state.state().take_mark();
                if mark == 0 {
                    break;
                }
                if let Some(event) = self.feed.event(mark, effects) {
                    self.state.state().waiters.finish(ticket, effects);
                    return Poll::Ready(Ok(event));
                }
            }
            // No event is left. The visit fails only if the entity is closed.
            if Arc::clone(&self.entity).with_observers(effects, &mut |_, _| ()) {
                return Poll::Pending;
            }
            self.state.state().waiters.finish(ticket, effects);
            Poll::Ready(Err(WaitErrorKind::Closed))
        })
    }
}

impl<E> WaitSource<E> for StreamShared<E> {
    fn poll_wait(
        &self,
        _awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<E, WaitErrorKind>> {
        self.poll(ticket, waker)
    }

    fn abandon(&self, _awaited: Awaited, ticket: Ticket) {
        Effects::scope(|effects| self.state.state().waiters.abandon(&mut Some(ticket), effects));
    }

    fn driver(&self) -> &dyn Driver {
        &*self.driver
    }

    fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    /// An event may come after any time.
    fn warns_of(&self, _awaited: Awaited) -> bool {
        false
    }

    /// Logs nothing, because a long wait for an event is normal.
    fn complain(&self, _awaited: Awaited) {}
}

impl<E> Stream for Events<E> {
    type Item = E;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<E>> {
        let this = &mut *self;
        this.shared.driver.attend();
        // The only error is `Closed`, which ends the stream.
        this.shared.poll(&mut this.ticket, context.waker()).map(Result::ok)
    }
}

impl Poke for StreamBell {
    fn poke(self: Arc<Self>, effects: &mut Effects) {
        // Several futures may wait through `next_event`, and only one of them gets the event. The others look and wait
        // on.
        self.state().waiters.wake_all(effects);
    }
}

impl<E> Drop for Events<E> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.shared.abandon(Awaited::Event, ticket);
        }
        // The entity would poke a dead target for the rest of its life.
        stop_observing(Arc::clone(&self.shared.entity), &self.shared.observer);
    }
}

impl<E> fmt::Debug for Events<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("of", &self.shared.subject).finish_non_exhaustive()
    }
}
