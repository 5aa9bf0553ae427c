//! The conditions of a wait set, and the wakers of its waits.
//!
//! A wait first registers its waker, then looks at the conditions. An event in between wakes it. Each attached
//! condition has an observer at its entity. The observer counts each event that may have triggered the condition, and
//! pokes it. The poke makes the condition ready: the next wait looks at it. It stays ready until a look finds it idle
//! and no event has occurred since. A wait costs one visit for each ready condition, and nothing for the others. No
//! lock of the list is held during the visit of a cell.

use crate::actor::{Effects, Poke, Ticket, Wakers};
use crate::infrastructure::{Active, ConditionId, Observer, Trigger, TriggerValue, WaitErrorKind};
use crate::sync::{Arc, AtomicBool, AtomicU64, Lock, Mutation, Ordering, Weak, mutated};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::task::{Poll, Waker};

/// Conditions that one wait can look at without an allocation.
const READY_IN_PLACE: usize = 64;

/// The conditions of one wait set.
pub(crate) struct ConditionList {
    state: Lock<ConditionListState>,
}

struct ConditionListState {
    attached: BTreeMap<ConditionId, Arc<Attachment>>,
    /// The conditions that the next wait looks at, each of them once.
    ready: Vec<Arc<Attachment>>,
    /// Number of conditions whose entities are closed. They never become ready again.
    closed: usize,
    waiters: Wakers,
}

/// A condition in the list.
struct Attachment {
    id: ConditionId,
    trigger: Arc<dyn Trigger>,
    observer: Arc<Observer>,
    list: Weak<ConditionList>,
    /// Version of the observer when the condition was last found idle. 0 if never.
    idle_at: AtomicU64,
    /// A look has found the entity closed.
    closed: AtomicBool,
    /// The condition is in the list, in `ready`, and in the count of closed ones. All three change only under the
    /// list's lock.
    is_attached: AtomicBool,
    is_ready: AtomicBool,
    is_counted: AtomicBool,
}

impl ConditionList {
    pub(crate) fn new() -> Arc<Self> {
        let state =
            ConditionListState { attached: BTreeMap::new(), ready: Vec::new(), closed: 0, waiters: Wakers::new() };
        Arc::new(Self { state: Lock::new(state) })
    }

    /// Adds a condition, unless the list contains it. Present waits wait for it as well.
    pub(crate) fn attach(self: &Arc<Self>, trigger: Arc<dyn Trigger>) {
        let id = trigger.id();
        // A cheap look first: `trigger.attach` below enters the cell of the entity.
        if self.state.lock().attached.contains_key(&id) {
            return;
        }
        // The first look sees each event that occurs before the condition is in the list.
        let attachment = Arc::new_cyclic(|own: &Weak<Attachment>| Attachment {
            id,
            observer: trigger.attach(Weak::clone(own) as Weak<dyn Poke>),
            trigger,
            list: Arc::downgrade(self),
            idle_at: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            is_attached: AtomicBool::new(false),
            is_ready: AtomicBool::new(false),
            is_counted: AtomicBool::new(false),
        });
        let is_added = Effects::scope(|effects| self.state.lock().add(&attachment, effects));
        if !is_added {
            // Another thread has attached the same condition first.
            attachment.trigger.detach(&attachment.observer);
        }
    }

    /// Removes a condition. Returns false if the list does not contain it.
    pub(crate) fn detach(&self, id: ConditionId) -> bool {
        let removed = Effects::scope(|effects| self.state.lock().remove(id, effects));
        // Outside of the list's lock, because `detach` enters the cell of the entity.
        if let Some(attachment) = &removed {
            attachment.trigger.detach(&attachment.observer);
        }
        removed.is_some()
    }

    pub(crate) fn contains(&self, id: ConditionId) -> bool {
        self.state.lock().attached.contains_key(&id)
    }

    pub(crate) fn len(&self) -> usize {
        self.state.lock().attached.len()
    }

    /// Returns the triggered conditions. Registers the waiter if no condition is triggered.
    pub(crate) fn poll(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<Active, WaitErrorKind>> {
        // Cloning runs code of the application, so it comes before any lock.
        let mut waker = Some(waker.clone());
        Effects::scope(|effects| {
            // Register before looking: an event between the two wakes this wait.
            let mut state = self.state.lock();
            if !mutated(Mutation::LookThenRegister) {
                if let Some(waker) = waker.take() {
                    state.waiters.register(ticket, waker, effects);
                }
            }
            let ready: SmallVec<[Arc<Attachment>; READY_IN_PLACE]> = state.ready.iter().map(Arc::clone).collect();
            // A look visits a cell, and no lock of the list may be held there.
            drop(state);
            let mut active = Active { conditions: SmallVec::new() };
            for attachment in &ready {
                if attachment.trigger_value(effects) == TriggerValue::Triggered {
                    active.conditions.push(attachment.id);
                }
            }
            let mut state = self.state.lock();
            state.leave_out_idle();
            // If all entities are closed, no condition can ever end the wait.
            let all_closed = state.closed > 0 && state.closed == state.attached.len();
            if !active.conditions.is_empty() || all_closed {
                state.waiters.finish(ticket, effects);
                return Poll::Ready(if all_closed { Err(WaitErrorKind::Closed) } else { Ok(active) });
            }
            if let Some(waker) = waker.take() {
                state.waiters.register(ticket, waker, effects);
            }
            Poll::Pending
        })
    }

    pub(crate) fn abandon(&self, ticket: Ticket) {
        Effects::scope(|effects| self.state.lock().waiters.abandon(&mut Some(ticket), effects));
    }
}

impl ConditionListState {
    /// Returns false if the list contains the condition.
    fn add(&mut self, attachment: &Arc<Attachment>, effects: &mut Effects) -> bool {
        if self.attached.contains_key(&attachment.id) {
            return false;
        }
        attachment.is_attached.store(true, Ordering::Relaxed);
        self.attached.insert(attachment.id, Arc::clone(attachment));
        // A new condition may be triggered already, so each waiter must look at it.
        self.make_ready(Arc::clone(attachment));
        self.waiters.wake_all(effects);
        true
    }

    fn remove(&mut self, id: ConditionId, effects: &mut Effects) -> Option<Arc<Attachment>> {
        let attachment = self.attached.remove(&id)?;
        attachment.is_attached.store(false, Ordering::Relaxed);
        // A condition is either ready or counted as closed, never both.
        if attachment.is_ready.swap(false, Ordering::Relaxed) {
            self.ready.retain(|ready| !Arc::ptr_eq(ready, &attachment));
        } else if attachment.is_counted.swap(false, Ordering::Relaxed) {
            debug_assert!(self.closed > 0, "a counted condition is in the count of closed ones");
            // Or a wait on the remaining conditions would end with `Closed`.
            self.closed -= 1;
        }
        self.waiters.wake_all(effects);
        Some(attachment)
    }

    /// Makes the next wait look at the condition, unless it is ready, detached or counted as closed.
    ///
    /// A closed condition is ignored only after it is counted. A wait may find it closed after another wait has removed
    /// it from `ready`.
    fn make_ready(&mut self, attachment: Arc<Attachment>) {
        let is_out = !attachment.is_attached.load(Ordering::Relaxed) || attachment.is_counted.load(Ordering::Relaxed);
        if !is_out && !attachment.is_ready.swap(true, Ordering::Relaxed) {
            self.ready.push(attachment);
        }
    }

    /// Removes the conditions from `ready` that were found idle, until the next event makes them ready again.
    ///
    /// If an event has occurred since the look, its poke may have found the condition still in `ready`. Then the
    /// condition stays.
    fn leave_out_idle(&mut self) {
        let closed = &mut self.closed;
        self.ready.retain(|attachment| {
            let idle_at = attachment.idle_at.load(Ordering::Acquire);
            let is_idle = idle_at == attachment.observer.version() || (idle_at != 0 && mutated(Mutation::ForgetReady));
            if is_idle {
                attachment.is_ready.store(false, Ordering::Relaxed);
                let is_closed = attachment.closed.load(Ordering::Acquire);
                attachment.is_counted.store(is_closed, Ordering::Relaxed);
                *closed += usize::from(is_closed);
            }
            !is_idle
        });
    }
}

impl Attachment {
    fn trigger_value(&self, effects: &mut Effects) -> TriggerValue {
        // Read the version before the look: an event during the look must count as new.
        let mut version = self.observer.version();
        if self.idle_at.load(Ordering::Acquire) == version {
            // No event since the last look, so the visit of the cell can be skipped.
            return if self.closed.load(Ordering::Acquire) { TriggerValue::Closed } else { TriggerValue::Idle };
        }
        let value = self.trigger.trigger_value(effects);
        if value == TriggerValue::Closed {
            self.closed.store(true, Ordering::Release);
        }
        if mutated(Mutation::VersionAfterLook) {
            version = self.observer.version();
        }
        if value != TriggerValue::Triggered {
            // A later event has raised the version, which makes this mark out of date at once.
            self.idle_at.store(version, Ordering::Release);
        }
        value
    }
}

impl Poke for Attachment {
    fn poke(self: Arc<Self>, effects: &mut Effects) {
        let Some(list) = self.list.upgrade() else { return };
        let mut state = list.state.lock();
        // Before the wake, so that the woken wait finds the condition in `ready`.
        state.make_ready(self);
        state.waiters.wake_all(effects);
    }
}

impl Drop for ConditionList {
    fn drop(&mut self) {
        // Entities hold the observers, which would outlive the list.
        for attachment in self.state.lock().attached.values() {
            attachment.trigger.detach(&attachment.observer);
        }
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::infrastructure::{Observers, mark};
    use crate::sync::AtomicU32;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;

    /// A condition that counts the looks at it.
    struct Counted {
        id: ConditionId,
        state: Mutex<TriggerValue>,
        observers: Mutex<Observers>,
        looks: AtomicUsize,
        /// Runs during the next look.
        during_look: Mutex<Option<DuringLook>>,
    }

    type DuringLook = Box<dyn FnOnce(&mut Effects) + Send>;

    impl Counted {
        fn become_(&self, state: TriggerValue) {
            *self.state.lock().unwrap() = state;
            Effects::scope(|effects| self.observers.lock().unwrap().status_changed(mark::DATA, effects));
        }
        fn take_looks(&self) -> usize {
            self.looks.swap(0, Ordering::Relaxed)
        }
    }

    impl Trigger for Counted {
        fn id(&self) -> ConditionId {
            self.id
        }
        fn trigger_value(&self, effects: &mut Effects) -> TriggerValue {
            self.looks.fetch_add(1, Ordering::Relaxed);
            let during_look = self.during_look.lock().unwrap().take();
            during_look.into_iter().for_each(|happens| happens(effects));
            *self.state.lock().unwrap()
        }
        fn attach(&self, target: Weak<dyn Poke>) -> Arc<Observer> {
            let observer = Observer::new(Arc::new(AtomicU32::new(mark::DATA)), target);
            self.observers.lock().unwrap().add(Arc::clone(&observer));
            observer
        }
        fn detach(&self, observer: &Arc<Observer>) {
            self.observers.lock().unwrap().remove(observer);
        }
    }

    fn conditions(count: usize) -> (Arc<ConditionList>, Vec<Arc<Counted>>) {
        let list = ConditionList::new();
        let new = |_| {
            let counted = Arc::new(Counted {
                id: ConditionId::new(),
                state: Mutex::new(TriggerValue::Idle),
                observers: Mutex::default(),
                looks: AtomicUsize::new(0),
                during_look: Mutex::default(),
            });
            list.attach(Arc::clone(&counted) as Arc<dyn Trigger>);
            counted
        };
        let all = (0..count).map(new).collect();
        (list, all)
    }

    /// Returns the result of the wait, or `None` if it goes on.
    fn poll(list: &ConditionList, ticket: &mut Option<Ticket>) -> Option<Result<Vec<ConditionId>, WaitErrorKind>> {
        match list.poll(ticket, Waker::noop()) {
            Poll::Ready(Ok(active)) => Some(Ok(active.conditions.to_vec())),
            Poll::Ready(Err(error)) => Some(Err(error)),
            Poll::Pending => None,
        }
    }

    #[test]
    fn wait_examines_only_changed_conditions() {
        let (list, all) = conditions(10_000);
        let looks = |expected: &[usize]| {
            let seen: Vec<usize> = all.iter().map(|counted| counted.take_looks()).collect();
            let at: Vec<usize> = (0..seen.len()).filter(|&at| seen[at] > 0).collect();
            assert_eq!(at, expected);
            seen.iter().sum::<usize>()
        };
        let mut ticket = None;
        assert!(poll(&list, &mut ticket).is_none());
        all.iter().for_each(|counted| assert_eq!(counted.take_looks(), 1));
        for round in 0..100 {
            let one = &all[(round * 7919) % all.len()];
            one.become_(TriggerValue::Triggered);
            assert_eq!(list.state.lock().ready.len(), 1, "a wait goes over these and no others");
            // The trigger is a level, not an edge: each wait reports it while it lasts.
            for _ in 0..2 {
                assert_eq!(poll(&list, &mut ticket).unwrap().unwrap(), [one.id]);
            }
            one.become_(TriggerValue::Idle);
            assert!(poll(&list, &mut ticket).is_none());
            assert!(poll(&list, &mut ticket).is_none());
            assert_eq!(looks(&[(round * 7919) % all.len()]), 3);
            assert!(list.state.lock().ready.is_empty());
        }
    }

    #[test]
    fn two_waits_get_the_same_attached_conditions() {
        let (list, all) = conditions(3);
        let (mut one, mut other) = (None, None);
        assert!(poll(&list, &mut one).is_none() && poll(&list, &mut other).is_none());
        all[0].become_(TriggerValue::Triggered);
        all[2].become_(TriggerValue::Triggered);
        for ticket in [&mut one, &mut other] {
            assert_eq!(poll(&list, ticket).unwrap().unwrap(), [all[0].id, all[2].id]);
        }
        assert!(list.detach(all[0].id) && !list.detach(all[0].id));
        all[0].become_(TriggerValue::Triggered);
        assert_eq!(poll(&list, &mut one).unwrap().unwrap(), [all[2].id]);
        list.attach(Arc::clone(&all[0]) as Arc<dyn Trigger>);
        assert_eq!(poll(&list, &mut one).unwrap().unwrap(), [all[2].id, all[0].id]);
        assert_eq!(list.len(), 3);
    }

    #[test]
    fn closed_conditions_end_waits_and_open_ones_do_not() {
        let (list, all) = conditions(3);
        let mut ticket = None;
        for counted in &all[..2] {
            counted.become_(TriggerValue::Closed);
            assert!(poll(&list, &mut ticket).is_none());
            // A second notice of the end does not count the condition twice.
            counted.become_(TriggerValue::Closed);
            assert!(poll(&list, &mut ticket).is_none());
        }
        assert!(list.detach(all[2].id));
        assert_eq!(poll(&list, &mut ticket), Some(Err(WaitErrorKind::Closed)));
        list.attach(Arc::clone(&all[2]) as Arc<dyn Trigger>);
        assert!(list.detach(all[0].id));
        assert!(poll(&list, &mut ticket).is_none());
        assert!(list.detach(all[1].id));
        all[2].become_(TriggerValue::Triggered);
        assert_eq!(poll(&list, &mut ticket).unwrap().unwrap(), [all[2].id]);
        all[2].become_(TriggerValue::Closed);
        assert_eq!(poll(&list, &mut ticket), Some(Err(WaitErrorKind::Closed)));
    }

    /// One wait has read the version and is about to look at the condition. Another wait finds the condition idle and
    /// removes it from `ready`. The first wait then finds the entity closed before the poke of its end arrives.
    #[test]
    fn closed_condition_counts_once_beside_another_wait() {
        let (list, all) = conditions(1);
        let (mut one, mut other) = (None, None);
        let (waits, closes) = (Arc::clone(&list), Arc::clone(&all[0]));
        *all[0].during_look.lock().unwrap() = Some(Box::new(move |effects| {
            assert!(poll(&waits, &mut other).is_none());
            assert!(waits.state.lock().ready.is_empty());
            *closes.state.lock().unwrap() = TriggerValue::Closed;
            // Pokes after the look, as a thread that closes the entity may.
            closes.observers.lock().unwrap().status_changed(mark::DATA, effects);
        }));
        assert!(poll(&list, &mut one).is_none());
        assert_eq!(poll(&list, &mut one), Some(Err(WaitErrorKind::Closed)));
        assert!(list.detach(all[0].id));
        assert_eq!(list.state.lock().closed, 0);
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

    /// A store that is full or empty.
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
        fn trigger_value(&self, effects: &mut Effects) -> TriggerValue {
            self.1.with(effects, |store, _| store.full).map_or(TriggerValue::Closed, TriggerValue::from)
        }
        fn attach(&self, target: Weak<dyn Poke>) -> Arc<Observer> {
            let observer = Observer::new(Arc::new(AtomicU32::new(mark::DATA)), target);
            Effects::scope(|effects| self.1.with(effects, |store, _| store.observers.add(Arc::clone(&observer))))
                .unwrap();
            observer
        }
        fn detach(&self, _observer: &Arc<Observer>) {}
    }

    /// Data arrives by push and poke while a thread begins to wait for it.
    fn a_wait_beside_a_delivery() {
        let cell = Cell::new(Store::default(), Capacity::default(), Arc::new(RunQueue::new(|| ())));
        // A mutant ends in the middle of a wait. Dropping a value that takes a modeled lock is not possible there.
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
    fn data_beside_a_wait_wakes_it() {
        model(a_wait_beside_a_delivery);
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn mutant_wait_registers_after_its_look_and_sleeps() {
        mutate(Mutation::LookThenRegister);
        model(a_wait_beside_a_delivery);
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn mutant_skips_condition_poked_during_the_look() {
        mutate(Mutation::ForgetReady);
        model(a_wait_beside_a_delivery);
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn mutant_version_after_the_look_hides_an_event() {
        mutate(Mutation::VersionAfterLook);
        model(a_wait_beside_a_delivery);
    }
}
