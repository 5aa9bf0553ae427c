//! The conditions of a wait set, and who waits for one of them.
//!
//! A wait registers its waker first and looks at the conditions then: what happens in between wakes it. Each attached
//! condition has an observer with its entity, which counts whatever may have triggered it; a condition that was found idle
//! is looked at again only when that count has grown, so a wait costs one visit for each condition that may be triggered,
//! not for each that is attached. No lock of the list is held while a cell is visited.

use crate::actor::{Effects, Poke, Signals, Ticket, Wakers};
use crate::infrastructure::{Active, ConditionId, Look, Observer, Trigger, WaitErrorKind};
use crate::sync::{Arc, AtomicBool, AtomicU64, Lock, Mutation, Ordering, Weak, mutated};
use smallvec::SmallVec;
use std::task::{Poll, Waker};

/// The conditions of one wait set.
pub(super) struct ConditionList {
    state: Lock<State>,
}

struct State {
    /// Replaced as a whole, so that a wait can look at it without the lock.
    attached: Arc<[Arc<Attachment>]>,
    waiters: Wakers,
}

/// A condition in the list.
struct Attachment {
    id: ConditionId,
    trigger: Arc<dyn Trigger>,
    observer: Arc<Observer>,
    /// The observer's version when the condition was last found idle; 0: never.
    idle_at: AtomicU64,
    closed: AtomicBool,
}

impl ConditionList {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { state: Lock::new(State { attached: Arc::from([]), waiters: Wakers::new() }) })
    }

    /// Adds a condition, unless it is in the list.
    pub(super) fn attach(self: &Arc<Self>, trigger: Arc<dyn Trigger>) {
        let id = trigger.id();
        if self.state.lock().attached.iter().any(|attached| attached.id == id) {
            return;
        }
        let observer = trigger.attach(Arc::downgrade(self) as Weak<dyn Poke>);
        let attachment =
            Arc::new(Attachment { id, trigger, observer, idle_at: AtomicU64::new(0), closed: AtomicBool::new(false) });
        let is_new = self.change(|attached| {
            let is_new = attached.iter().all(|attached| attached.id != id);
            if is_new {
                attached.push(Arc::clone(&attachment));
            }
            is_new
        });
        if !is_new {
            // Another thread has attached it in the meantime.
            attachment.trigger.detach(&attachment.observer);
        }
    }

    /// Removes a condition; false if it was not in the list.
    pub(super) fn detach(&self, id: ConditionId) -> bool {
        let removed = self.change(|attached| {
            let at = attached.iter().position(|attached| attached.id == id)?;
            Some(attached.remove(at))
        });
        if let Some(attachment) = &removed {
            attachment.trigger.detach(&attachment.observer);
        }
        removed.is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.state.lock().attached.len()
    }

    /// Changes what is attached, and lets who waits look again.
    fn change<R>(&self, change: impl FnOnce(&mut Vec<Arc<Attachment>>) -> R) -> R {
        Effects::scope(|effects| {
            let mut state = self.state.lock();
            let mut attached = state.attached.to_vec();
            let result = change(&mut attached);
            let old = std::mem::replace(&mut state.attached, attached.into());
            state.waiters.wake_all(effects);
            drop(state);
            drop(old);
            result
        })
    }

    /// The conditions that are triggered; registers the waiter if there is none.
    pub(super) fn poll(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<Active, WaitErrorKind>> {
        // The application's code: cloned before any lock is taken.
        let mut waker = Some(waker.clone());
        Effects::scope(|effects| {
            let mut state = self.state.lock();
            if let Some(waker) = waker.take_if(|_| !mutated(Mutation::LookThenRegister)) {
                state.waiters.register(ticket, waker, effects);
            }
            let attached = Arc::clone(&state.attached);
            drop(state);
            let mut active = Active { conditions: SmallVec::new() };
            let mut closed = 0;
            for attachment in attached.iter() {
                match attachment.look(effects) {
                    Look::Triggered => active.conditions.push(attachment.id),
                    Look::Idle => {}
                    Look::Closed => closed += 1,
                }
            }
            if !active.conditions.is_empty() {
                self.state.lock().waiters.finish(ticket, effects);
                return Poll::Ready(Ok(active));
            }
            if closed == attached.len() && closed > 0 {
                self.state.lock().waiters.finish(ticket, effects);
                return Poll::Ready(Err(WaitErrorKind::Closed));
            }
            if let Some(waker) = waker.take() {
                self.state.lock().waiters.register(ticket, waker, effects);
            }
            Poll::Pending
        })
    }

    pub(super) fn abandon(&self, ticket: Ticket) {
        Effects::scope(|effects| self.state.lock().waiters.abandon(&mut Some(ticket), effects));
    }
}

impl Attachment {
    fn look(&self, effects: &mut Effects) -> Look {
        let mut version = self.observer.version();
        if self.idle_at.load(Ordering::Acquire) == version {
            return if self.closed.load(Ordering::Acquire) { Look::Closed } else { Look::Idle };
        }
        let look = self.trigger.look(effects);
        if look == Look::Closed {
            self.closed.store(true, Ordering::Release);
        }
        if mutated(Mutation::VersionAfterLook) {
            version = self.observer.version();
        }
        if look != Look::Triggered {
            // What has happened since has raised the version: then this is out of date at once.
            self.idle_at.store(version, Ordering::Release);
        }
        look
    }
}

impl Poke for ConditionList {
    fn poke(self: Arc<Self>, effects: &mut Effects) {
        self.state.lock().waiters.wake_all(effects);
    }

    fn resume(self: Arc<Self>, effects: &mut Effects) {
        self.poke(effects);
    }

    fn signal(&self, _signals: Signals) {}
}

impl Drop for ConditionList {
    fn drop(&mut self) {
        for attachment in self.state.lock().attached.iter() {
            attachment.trigger.detach(&attachment.observer);
        }
    }
}

#[cfg(test)]
#[cfg(dds_loom)]
mod models {
    use super::*;
    use crate::actor::{Actor, Capacity, Cell, RunQueue};
    use crate::infrastructure::{Observers, mark};
    use crate::sync::{AtomicU32, Parker, mutate};
    use loom::thread;
    use std::mem::ManuallyDrop;

    /// Has data, or has none.
    #[derive(Default)]
    struct Store {
        full: bool,
        observers: Observers,
    }

    impl Actor for Store {
        type Mail = ();
        fn handle(&mut self, (): (), effects: &mut Effects) {
            self.full = true;
            self.observers.status_changed(mark::DATA, effects);
        }
    }

    /// Triggered while the store is full.
    struct HasData(ConditionId, Arc<Cell<Store>>);

    impl Trigger for HasData {
        fn id(&self) -> ConditionId {
            self.0
        }
        fn look(&self, effects: &mut Effects) -> Look {
            self.1.with(effects, |store, _| store.full).map_or(Look::Closed, Look::from)
        }
        fn attach(&self, target: Weak<dyn Poke>) -> Arc<Observer> {
            let observer = Observer::new(Arc::new(AtomicU32::new(mark::DATA)), target);
            Effects::scope(|effects| self.1.with(effects, |store, _| store.observers.add(Arc::clone(&observer))))
                .unwrap();
            observer
        }
        fn detach(&self, _observer: &Arc<Observer>) {}
    }

    /// Data comes, by push and poke, while somebody begins to wait for it.
    fn a_wait_beside_a_delivery() {
        let cell = Cell::new(Store::default(), Capacity::default(), Arc::new(RunQueue::new(|| ())));
        // A mutant ends in the middle of a wait, where nothing that takes a modelled lock can be dropped.
        let list = ManuallyDrop::new(ConditionList::new());
        list.attach(Arc::new(HasData(ConditionId::new(), Arc::clone(&cell))));
        let other = thread::spawn(move || {
            cell.push(()).unwrap();
            Effects::scope(|effects| cell.serve(effects));
        });
        Parker::with_current(|parker| {
            let mut ticket = None;
            while list.poll(&mut ticket, parker.waker()).is_pending() {
                parker.park(None);
            }
        });
        other.join().unwrap();
    }

    fn model(f: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(f);
    }

    #[test]
    fn a_wait_set_is_woken() {
        model(a_wait_beside_a_delivery);
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn a_wait_that_registers_after_its_look_sleeps_for_ever() {
        mutate(Mutation::LookThenRegister);
        model(a_wait_beside_a_delivery);
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn a_version_read_after_the_look_hides_what_has_happened() {
        mutate(Mutation::VersionAfterLook);
        model(a_wait_beside_a_delivery);
    }
}
