//! The combining cell: a lock around an actor's state, and an inbox beside it.
//!
//! ```text
//! push       append to the inbox                                       runs nothing, allowed inside another cell
//! serve      fence; while mail waits and budget is left: try_lock or return; serve; unlock; fence
//! with       lock; serve waiting mail; run the visitor; unlock; serve
//! offer      try_lock: serve waiting mail; run the visitor; unlock. Else: push an owned copy, or merge it. Then: serve
//! hand_over  inbox empty, try_lock: run the visitor; unlock.   else push.      poke after release if mail waits
//! close      lock; serve waiting mail; take the state out; unlock
//! ```
//!
//! No mail is stranded. A pusher appends, fences and tries the lock. A visitor unlocks, fences and reads the inbox. One
//! of the two sees the other. The models in `models.rs` break each of these steps and observe lost mail.

use super::effects::panic_message;
use super::hold_times::{Caller, Watch};
use super::inbox::Inbox;
use super::{Actor, Capacity, Deferred, Effects, Holds, Poke, PushError, RunQueue, Signals, Spill};
use crate::sync::{
    Arc, AtomicBool, CacheLine, InCell, Lock, LockGuard, Mutation, OnceLock, Ordering, Weak, full_fence, mutated,
};
use std::collections::VecDeque;
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Mail of others that a visitor serves after its own work. The driver serves the rest.
///
/// 32 pieces take about 3 us if they are mail, and 80 us if they are work in steps.
const BUDGET: usize = if cfg!(dds_loom) { 2 } else { 32 };

/// Cost of serving signals in units of the budget. A signal may send eight datagrams, which takes 20 us.
const SIGNALS_COST: usize = 8;

/// Error of a visit that did not reach the state, or lost it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnterError {
    /// The entity is closed and its state is gone.
    Closed,
    /// A handler panicked in this visit or an earlier one, which closed the cell. See [`Cell::failure`].
    Failed,
    /// The cell is occupied in a forked child. The thread inside exists only in the parent process.
    Forked,
    /// The thread is inside a cell already. This is a bug, and it panics in debug builds.
    Reentrant,
}

impl fmt::Display for EnterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the entity is closed",
            Self::Failed => "a panic has closed the entity",
            Self::Forked => "the entity belongs to the parent process",
            Self::Reentrant => "a handler entered another entity",
        })
    }
}

impl std::error::Error for EnterError {}

/// Result of [`Cell::offer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered<R> {
    /// The cell was free and served the offer in place.
    Served(R),
    /// Another visitor was inside. It serves the pushed copy.
    Queued,
}

/// Error of [`Cell::offer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferError<M> {
    /// The cell was occupied and its inbox refused the copy.
    Push(PushError<M>),
    /// The cell could not be entered.
    Enter(EnterError),
}

/// An actor's state and its mail. One visitor at a time uses the state.
pub struct Cell<A: Actor> {
    inside: CacheLine<Lock<Inside<A>>>,
    inbox: Inbox<A>,
    spill: Option<Arc<dyn Spill<A::Mail>>>,
    /// The state is gone, or a visitor is about to take it.
    closed: AtomicBool,
    /// The cell waits in the run queue.
    queued: AtomicBool,
    run_queue: Arc<RunQueue>,
    watch: Watch,
    failure: OnceLock<Box<str>>,
}

struct Inside<A: Actor> {
    actor: Option<A>,
    #[cfg(debug_assertions)]
    holds: Holds,
    /// Mail that the present visitor serves. Empty between visits.
    batch: VecDeque<A::Mail>,
}

impl<A: Actor> Inside<A> {
    fn new(actor: A) -> Self {
        Self {
            actor: Some(actor),
            #[cfg(debug_assertions)]
            holds: Holds::default(),
            batch: VecDeque::new(),
        }
    }
}

impl<A: Actor> Cell<A> {
    /// Creates a cell around `actor`.
    ///
    /// A visitor without budget leaves the cell in `run_queue`.
    #[must_use]
    pub fn new(actor: A, capacity: Capacity, run_queue: Arc<RunQueue>) -> Arc<Self> {
        let spill = actor.spill();
        Arc::new(Self {
            inside: CacheLine(Lock::new(Inside::new(actor))),
            inbox: Inbox::new(run_queue.capacity(capacity)),
            spill,
            closed: AtomicBool::new(false),
            queued: AtomicBool::new(false),
            run_queue,
            watch: Watch::of::<A>(),
            failure: OnceLock::new(),
        })
    }

    /// Appends mail to the inbox.
    ///
    /// It runs no handler and never waits for a visitor, so a visitor of another cell may call it. That visitor pokes
    /// this cell after it has left its own.
    ///
    /// # Errors
    /// Returns the mail if the inbox is full or the cell is closed.
    #[inline]
    pub fn push(&self, mail: A::Mail) -> Result<(), PushError<A::Mail>> {
        self.inbox.push(mail)
    }

    /// As [`Cell::push`], but replaces older mail in a full inbox.
    ///
    /// The oldest mail for which `replaces` holds leaves the inbox and is returned. [`Actor::spill`] reports dropped
    /// mail to the actor.
    ///
    /// # Errors
    /// Returns the mail if no older mail can be replaced or the cell is closed.
    pub fn push_over(
        &self,
        mail: A::Mail,
        replaces: impl FnMut(&A::Mail) -> bool,
    ) -> Result<Option<A::Mail>, PushError<A::Mail>> {
        let pushed = self.inbox.push_over(mail, replaces);
        if let (Some(spill), Ok(Some(dropped)) | Err(PushError::Full(dropped))) = (&self.spill, &pushed) {
            self.signal(spill.note(dropped));
        }
        pushed
    }

    /// Sets signals. It acts like [`Cell::push`] of mail that takes no room and merges with equal mail.
    #[inline]
    pub fn signal(&self, signals: Signals) {
        self.inbox.signal(signals);
    }

    /// Waits until the cell is free, serves waiting mail, and runs `f` on the state.
    ///
    /// # Errors
    /// [`EnterError::Closed`] if the state is gone, [`EnterError::Failed`] if a handler or `f` panicked now or earlier.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn with<R>(
        self: &Arc<Self>,
        effects: &mut Effects,
        f: impl FnOnce(&mut A, &mut Effects) -> R,
    ) -> Result<R, EnterError> {
        self.with_from(Caller::here(), effects, f)
    }

    /// As [`Cell::with`], with `caller` as the place that the statistics of holds report.
    ///
    /// # Errors
    /// As [`Cell::with`].
    #[inline]
    pub(crate) fn with_from<R>(
        self: &Arc<Self>,
        caller: Caller,
        effects: &mut Effects,
        f: impl FnOnce(&mut A, &mut Effects) -> R,
    ) -> Result<R, EnterError> {
        let Some(in_cell) = enter() else { return Err(EnterError::Reentrant) };
        let outcome = match self.enter_inside() {
            Ok(inside) => self.run_visit(caller, inside, self.entry_limit(), effects, f),
            Err(error) => Err(error),
        };
        self.look_again(caller, effects);
        drop(in_cell);
        Ok(outcome?.0)
    }

    /// As [`Cell::with`], with effects of its own, which run before it returns.
    ///
    /// For calls that no sample takes: all callers share one copy of the code that enters the cell.
    ///
    /// # Errors
    /// As [`Cell::with`].
    #[cfg_attr(debug_assertions, track_caller)]
    pub(crate) fn visit<R>(self: &Arc<Self>, f: impl FnOnce(&mut A, &mut Effects) -> R) -> Result<R, EnterError> {
        let (mut f, mut result) = (Some(f), None);
        self.visit_dyn(Caller::here(), &mut |actor, effects| {
            if let Some(f) = f.take() {
                result = Some(f(actor, effects));
            }
        })?;
        debug_assert!(result.is_some(), "a visit that succeeds has run");
        result.ok_or(EnterError::Closed)
    }

    fn visit_dyn(self: &Arc<Self>, caller: Caller, f: &mut dyn FnMut(&mut A, &mut Effects)) -> Result<(), EnterError> {
        Effects::scope(|effects| self.with_from(caller, effects, f))
    }

    /// Runs `f` if the cell is free. Otherwise pushes the mail of `own`, such as an owned copy of borrowed bytes.
    ///
    /// # Errors
    /// As [`Cell::push`] and [`Cell::with`].
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn offer<R>(
        self: &Arc<Self>,
        effects: &mut Effects,
        f: impl FnOnce(&mut A, &mut Effects) -> R,
        own: impl FnOnce() -> A::Mail,
    ) -> Result<Offered<R>, OfferError<A::Mail>> {
        self.offer_into(effects, f, own, |_, _| ControlFlow::Break(false))
    }

    /// As [`Cell::offer`], but waiting mail may absorb the new mail, which then needs no room.
    ///
    /// The inbox calls `takes_in` with waiting mail and the new mail, from the newest to the oldest, until it breaks.
    /// It breaks with `true` if the waiting mail absorbed the new one. `takes_in` must leave [`Actor::mail_bytes`]
    /// unchanged and must run no foreign code.
    ///
    /// # Errors
    /// As [`Cell::offer`].
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn offer_into<R>(
        self: &Arc<Self>,
        effects: &mut Effects,
        f: impl FnOnce(&mut A, &mut Effects) -> R,
        own: impl FnOnce() -> A::Mail,
        takes_in: impl FnMut(&mut A::Mail, &A::Mail) -> ControlFlow<bool>,
    ) -> Result<Offered<R>, OfferError<A::Mail>> {
        let caller = Caller::here();
        let Some(in_cell) = enter() else { return Err(OfferError::Enter(EnterError::Reentrant)) };
        let outcome = match self.try_enter() {
            Some(inside) => match self.run_visit(caller, inside, self.entry_limit(), effects, f) {
                Ok((result, _)) => Ok(Offered::Served(result)),
                Err(error) => Err(OfferError::Enter(error)),
            },
            // The present visitor serves the mail before it leaves; `look_again` covers the visitor that just left.
            None => match self.inbox.push_into(own(), takes_in) {
                Ok(()) => Ok(Offered::Queued),
                Err(error) => Err(OfferError::Push(error)),
            },
        };
        self.look_again(caller, effects);
        // The flag falls last: code that `look_again` runs is inside of a cell as well.
        drop(in_cell);
        outcome
    }

    /// Enters this cell from inside another one, if that needs no wait.
    ///
    /// This is the only such entry. It serves `parcel` in place if the cell is free and its inbox is empty, and
    /// otherwise pushes it as mail. The order of the caller's parcels is kept in both cases. The caller's effects poke
    /// this cell if work remains.
    ///
    /// Delivery in place avoids the inbox, which is a third of the cost of a sample within a process. It never waits,
    /// so no circle of cells that wait for each other can arise. The caller holds its own cell longer by one handler.
    ///
    /// # Errors
    /// As [`Cell::push`].
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn hand_over<P>(
        self: &Arc<Self>,
        effects: &mut Effects,
        parcel: P,
        serve: impl FnOnce(&mut A, P, &mut Effects),
        own: impl FnOnce(P) -> A::Mail,
    ) -> Result<(), PushError<A::Mail>> {
        debug_assert!(InCell::is_set(), "hand_over needs an outer cell; use `with` or `offer` outside of all cells");
        // Waiting mail is older than the parcel and must be served first.
        let in_order = !self.inbox.has_any() || mutated(Mutation::Overtake);
        let free = if in_order && !self.run_queue.is_occupied() { self.inside.try_lock() } else { None };
        let Some(inside) = free else {
            self.push(own(parcel))?;
            effects.poke(Arc::clone(self) as Arc<dyn Poke>);
            return Ok(());
        };
        // The hold of the outer cell must not count the work of the inner handler.
        #[cfg(debug_assertions)]
        let outer = Holds::pause();
        // Ignore a closed or failed target, because its owner reports that. For the caller it is as if the mail had
        // been queued just before.
        let visit = |actor: &mut A, effects: &mut Effects| serve(actor, parcel, effects);
        let _ = self.run_visit(Caller::here(), inside, self.entry_limit(), effects, visit);
        #[cfg(debug_assertions)]
        Holds::resume(outer);
        if self.has_mail() {
            effects.poke(Arc::clone(self) as Arc<dyn Poke>);
        }
        Ok(())
    }

    /// Serves waiting mail, at most one budget of it, if the cell is free.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn serve(self: &Arc<Self>, effects: &mut Effects) {
        let Some(in_cell) = enter() else { return };
        self.look_again(Caller::here(), effects);
        drop(in_cell);
    }

    /// Serves waiting mail and returns the state. The caller drops it outside of all cells.
    ///
    /// Later visits return [`EnterError::Closed`], and later pushes return their mail. Mail that arrives during the
    /// call is dropped. Returns `None` if the cell was closed before.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn close(self: &Arc<Self>, effects: &mut Effects) -> Option<A> {
        let in_cell = enter()?;
        let inside = self.enter_inside().ok()?;
        let served = self.run_visit(Caller::here(), inside, usize::MAX, effects, |_, _| ());
        // Another thread may visit or close the cell between the two locks. Then `strip` finds no state.
        let remains = self.strip(&mut self.inside.lock());
        drop(in_cell);
        served.ok().and(remains.actor)
    }

    /// Returns whether [`Cell::close`] or a panic closed the cell.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Message of the panic that closed the cell.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(AsRef::as_ref)
    }

    /// Number of waiting pieces of mail. The value may be outdated at once.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inbox.len()
    }

    /// Statistics of the work in one hold. Empty in builds without debug assertions.
    ///
    /// Waits until the cell is free.
    #[must_use]
    pub fn holds(&self) -> Holds {
        #[cfg(debug_assertions)]
        return self.inside.lock().holds;
        #[cfg(not(debug_assertions))]
        Holds::default()
    }

    /// Waits for the lock. Only a caller that has to wait checks for a fork, so the free lock costs no more.
    #[inline]
    fn enter_inside(&self) -> Result<LockGuard<'_, Inside<A>>, EnterError> {
        match self.inside.try_lock() {
            Some(inside) => Ok(inside),
            None if self.run_queue.is_forked() => Err(EnterError::Forked),
            None => Ok(self.inside.lock()),
        }
    }

    /// Returns the guard if the cell is free.
    #[inline]
    fn try_enter(&self) -> Option<LockGuard<'_, Inside<A>>> {
        if self.run_queue.is_occupied() { None } else { self.take_or_leave() }
    }

    /// Takes a free lock. With the feature `rt` it waits for the lock.
    ///
    /// A queue hides from the kernel which thread waits for which. Priority inheritance needs a waiting thread, and
    /// mail does not provide one. Holds are short.
    #[inline]
    fn take_or_leave(&self) -> Option<LockGuard<'_, Inside<A>>> {
        if cfg!(feature = "rt") { self.enter_inside().ok() } else { self.inside.try_lock() }
    }

    fn entry_limit(&self) -> usize {
        if mutated(Mutation::Overtake) { 0 } else { usize::MAX }
    }

    /// Second half of leaving a cell, and second half of pushing to one.
    #[inline]
    fn look_again(self: &Arc<Self>, caller: Caller, effects: &mut Effects) {
        if self.has_mail() {
            self.serve_waiting(caller, effects);
        }
    }

    /// Returns whether mail waits. The fence makes a pusher or this thread see the other's store.
    #[inline]
    pub(super) fn has_mail(&self) -> bool {
        if !mutated(Mutation::NoFence) {
            full_fence();
        }
        self.inbox.has_any()
    }

    fn serve_waiting(self: &Arc<Self>, caller: Caller, effects: &mut Effects) {
        let mut budget = self.run_queue.budget(BUDGET);
        loop {
            // Beyond the budget the caller would work for other senders without end.
            // A simulation has one thread, so no real visitor sees the mail when it leaves.
            if budget == 0 || self.run_queue.is_occupied() {
                return self.ask_for_a_turn();
            }
            let Some(inside) = self.take_or_leave() else { return };
            match self.run_visit(caller, inside, budget, effects, |_, _| ()) {
                // A signal that was set again costs nothing. Count at least 1, so that the loop ends.
                Ok(((), cost)) => budget = budget.saturating_sub(cost.max(1)),
                Err(_) => return,
            }
            if !self.has_mail() {
                return;
            }
        }
    }

    /// Serves the first `limit` pieces of mail and runs `f`. Returns the result and the cost of the mail.
    ///
    /// A panic takes the state out of the cell.
    #[inline]
    fn run_visit<R>(
        &self,
        caller: Caller,
        mut guard: LockGuard<'_, Inside<A>>,
        limit: usize,
        effects: &mut Effects,
        f: impl FnOnce(&mut A, &mut Effects) -> R,
    ) -> Result<(R, usize), EnterError> {
        #[cfg(debug_assertions)]
        Holds::begin();
        let Inside { actor, batch, .. } = &mut *guard;
        debug_assert!(batch.is_empty(), "a visit serves all mail of its batch");
        let Some(actor) = actor else { return Err(self.gone()) };
        let begun = self.watch.begin(caller, &self.run_queue);
        let visit = AssertUnwindSafe(|| {
            // An idle inbox is the common case, and skipping it saves a call for each sample.
            let cost = if self.inbox.has_any() { self.handle_waiting(actor, batch, limit, effects) } else { 0 };
            (f(actor, effects), cost)
        });
        let outcome = catch_unwind(visit);
        let mail_cost = if let Ok((_, cost)) = &outcome { *cost } else { 0 };
        self.watch.end(begun, &self.run_queue, mail_cost);
        #[cfg(debug_assertions)]
        guard.holds.end(mail_cost);
        let panic = match outcome {
            Ok(visited) => return Ok(visited),
            Err(panic) => panic,
        };
        // A second panic cannot occur here, because the first one removed the state.
        let _ = self.failure.set(panic_message(panic.as_ref()).into());
        if !mutated(Mutation::SurvivePanic) {
            // Deferred: the drop of the state runs foreign code, and must wait until the lock is free.
            let remains = self.strip(&mut guard);
            effects.defer(Arc::new(PanicReport {
                message: self.failure().unwrap_or_default().into(),
                remains: Lock::new(Some(remains)),
            }));
        }
        Err(EnterError::Failed)
    }

    fn handle_waiting(
        &self,
        actor: &mut A,
        batch: &mut VecDeque<A::Mail>,
        limit: usize,
        effects: &mut Effects,
    ) -> usize {
        self.inbox.take_mail(limit, batch);
        let mut cost = batch.len();
        while let Some(mail) = batch.pop_front() {
            actor.handle(mail, effects);
        }
        // After the mail: a signal often concerns state that the mail before it has set up.
        let signals = self.inbox.take_signals();
        if signals != Signals::default() {
            actor.handle_signals(signals, effects);
            cost += SIGNALS_COST;
        }
        cost
    }

    #[cold]
    fn ask_for_a_turn(self: &Arc<Self>) {
        // The flag keeps the cell in the queue at most once, which bounds the queue by the number of cells.
        if !self.queued.swap(true, Ordering::AcqRel) {
            let this: Weak<Self> = Arc::downgrade(self);
            self.run_queue.push(this);
        }
    }

    #[cold]
    fn strip(&self, inside: &mut Inside<A>) -> ClosedState<A> {
        // Before the inbox closes: a sender whose push fails then finds the cell closed.
        self.closed.store(true, Ordering::Release);
        ClosedState { actor: inside.actor.take(), _mail: [self.inbox.close(), std::mem::take(&mut inside.batch)] }
    }

    #[cold]
    fn gone(&self) -> EnterError {
        if self.failure.get().is_some() { EnterError::Failed } else { EnterError::Closed }
    }
}

#[inline]
fn enter() -> Option<InCell> {
    let in_cell = InCell::enter();
    debug_assert!(in_cell.is_some(), "a cell was entered from inside a cell");
    in_cell
}

/// State and mail of a closed cell. They are dropped where no cell is held.
struct ClosedState<A: Actor> {
    actor: Option<A>,
    _mail: [VecDeque<A::Mail>; 2],
}

/// Reports a panic and drops the state of the failed cell.
struct PanicReport<A: Actor> {
    message: Box<str>,
    remains: Lock<Option<ClosedState<A>>>,
}

impl<A: Actor> Deferred for PanicReport<A> {
    fn run(self: Arc<Self>, _: u32, effects: &mut Effects) {
        let actor = std::any::type_name::<A>();
        tracing::error!(
            actor,
            message = &*self.message,
            "a panic in a handler closed an entity; please report this bug"
        );
        let mut remains = self.remains.lock().take();
        if let Some(ClosedState { actor: Some(actor), .. }) = &mut remains {
            actor.wake_waiters(effects);
        }
        // Here no cell is held, so the drop code of the state may enter any.
        drop(remains);
    }
}

impl<A: Actor> Poke for Cell<A> {
    fn poke(self: Arc<Self>, effects: &mut Effects) {
        self.serve(effects);
    }

    fn resume(self: Arc<Self>, effects: &mut Effects) {
        // Clear the flag first, so that a visitor that leaves mail during this turn asks for another turn. A pusher
        // fences before it reads the flag, and this thread fences after the store. So this thread sees the mail of a
        // pusher that found the flag still set.
        if !mutated(Mutation::ForgetTurn) {
            self.queued.store(false, Ordering::Release);
        }
        self.serve(effects);
        if mutated(Mutation::ForgetTurn) {
            self.queued.store(false, Ordering::Release);
        }
    }

    fn signal(&self, signals: Signals) {
        Cell::signal(self, signals);
    }
}

impl<A: Actor> fmt::Debug for Cell<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell")
            .field("waiting", &self.waiting())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::mpsc;

    /// Records its mail, and pushes each piece to the next cell of a chain.
    #[derive(Default)]
    struct Scribe {
        seen: Vec<u32>,
        signals: Signals,
        next: Option<Weak<Cell<Scribe>>>,
    }

    const PANIC: u32 = u32::MAX;

    impl Actor for Scribe {
        type Mail = u32;
        fn handle(&mut self, mail: u32, effects: &mut Effects) {
            assert_ne!(mail, PANIC, "told to panic");
            self.seen.push(mail);
            if let Some(next) = self.next.as_ref().and_then(Weak::upgrade) {
                if mail > 0 {
                    next.push(mail - 1).unwrap();
                    effects.poke(next);
                }
            }
        }
        fn handle_signals(&mut self, signals: Signals, _: &mut Effects) {
            self.signals = self.signals.and(signals);
        }
        fn mail_bytes(mail: &u32) -> usize {
            *mail as usize
        }
    }

    fn queue() -> Arc<RunQueue> {
        Arc::new(RunQueue::new(|| ()))
    }

    fn scribe() -> Arc<Cell<Scribe>> {
        Cell::new(Scribe::default(), Capacity { entries: 100, bytes: usize::MAX }, queue())
    }

    fn visit<R>(cell: &Arc<Cell<Scribe>>, f: impl FnOnce(&mut Scribe) -> R) -> Result<R, EnterError> {
        Effects::scope(|effects| cell.with(effects, |scribe, _| f(scribe)))
    }

    fn poke(cell: &Arc<Cell<Scribe>>) {
        Effects::scope(|effects| cell.serve(effects));
    }

    #[test]
    fn visit_serves_waiting_mail_first() {
        let cell = scribe();
        (1..=3).for_each(|mail| cell.push(mail).unwrap());
        assert_eq!(visit(&cell, |scribe| scribe.seen.clone()), Ok(vec![1, 2, 3]));
        assert_eq!(cell.waiting(), 0);
    }

    #[test]
    #[cfg(not(feature = "rt"))]
    fn offer_to_occupied_cell_is_queued_in_order() {
        let cell = scribe();
        visit(&cell, |_| {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    cell.push(1).unwrap();
                    let offered =
                        Effects::scope(|effects| cell.offer(effects, |scribe, _| scribe.seen.push(99), || 2)).unwrap();
                    assert_eq!(offered, Offered::Queued);
                });
            });
        })
        .unwrap();
        assert_eq!(visit(&cell, |scribe| scribe.seen.clone()), Ok(vec![1, 2]));
        let offered = Effects::scope(|effects| cell.offer(effects, |scribe, _| scribe.seen.push(3), || unreachable!()));
        assert_eq!(offered, Ok(Offered::Served(())));
    }

    fn hand_over(outer: &Arc<Cell<Scribe>>, inner: &Arc<Cell<Scribe>>, mail: u32) -> Result<(), PushError<u32>> {
        let over = |_: &mut Scribe, effects: &mut Effects| {
            inner.hand_over(effects, mail, |scribe, mail, effects| scribe.handle(mail, effects), |mail| mail)
        };
        Effects::scope(|effects| outer.with(effects, over)).unwrap()
    }

    #[test]
    fn hand_over_to_free_cell_is_served_in_place() {
        let (outer, inner) = (scribe(), scribe());
        let seen = visit(&outer, |_| {
            Effects::scope(|effects| {
                inner.hand_over(effects, 1, |scribe, mail, _| scribe.seen.push(mail), |_| unreachable!()).unwrap();
            });
            inner.waiting()
        });
        assert_eq!(seen, Ok(0));
        assert_eq!(visit(&inner, |scribe| scribe.seen.clone()), Ok(vec![1]));
    }

    #[test]
    fn hand_over_follows_waiting_mail() {
        let (outer, inner) = (scribe(), scribe());
        inner.push(1).unwrap();
        hand_over(&outer, &inner, 2).unwrap();
        // Poked after release.
        assert_eq!(inner.waiting(), 0);
        assert_eq!(visit(&inner, |scribe| scribe.seen.clone()), Ok(vec![1, 2]));
    }

    #[test]
    #[cfg(not(feature = "rt"))]
    fn hand_over_to_occupied_cell_never_waits() {
        let (outer, inner) = (scribe(), scribe());
        visit(&inner, |_| {
            std::thread::scope(|scope| scope.spawn(|| hand_over(&outer, &inner, 1)).join().unwrap().unwrap());
        })
        .unwrap();
        assert_eq!(visit(&inner, |scribe| scribe.seen.clone()), Ok(vec![1]));
    }

    #[test]
    fn panic_in_hand_over_closes_inner_cell_only() {
        let (outer, inner) = (scribe(), scribe());
        assert_eq!(hand_over(&outer, &inner, PANIC), Ok(()));
        assert!(inner.is_closed() && !outer.is_closed());
        assert_eq!(hand_over(&outer, &inner, 1), Ok(()), "as if it had been left before the cell was closed");
    }

    #[test]
    fn full_inbox_refuses_or_replaces_oldest() {
        let cell = Cell::new(Scribe::default(), Capacity { entries: 2, bytes: usize::MAX }, queue());
        cell.push(1).unwrap();
        cell.push(2).unwrap();
        assert_eq!(cell.push(3), Err(PushError::Full(3)));
        assert_eq!(cell.push_over(3, |_| false), Err(PushError::Full(3)));
        assert_eq!(cell.push_over(3, |_| true), Ok(Some(1)));
        assert_eq!(visit(&cell, |scribe| scribe.seen.clone()), Ok(vec![2, 3]));
    }

    #[test]
    fn byte_limit_admits_one_piece_always() {
        let cell = Cell::new(Scribe::default(), Capacity { entries: 10, bytes: 100 }, queue());
        cell.push(1000).unwrap();
        assert_eq!(cell.push(1), Err(PushError::Full(1)));
        poke(&cell);
        cell.push(60).unwrap();
        cell.push(40).unwrap();
        assert_eq!(cell.push(1), Err(PushError::Full(1)));
    }

    #[test]
    fn signals_merge_and_need_no_room() {
        let cell = Cell::new(Scribe::default(), Capacity { entries: 0, bytes: 0 }, queue());
        cell.signal(Signals::TIMER);
        cell.signal(Signals::TIMER);
        cell.signal(Signals::own(3));
        let seen = visit(&cell, |scribe| scribe.signals).unwrap();
        assert!(seen.has(Signals::TIMER) && seen.has(Signals::own(3)) && !seen.has(Signals::WRITABLE));
    }

    #[test]
    fn visit_beyond_budget_leaves_mail_to_driver() {
        let queue = queue();
        let cell = Cell::new(Scribe::default(), Capacity::default(), Arc::clone(&queue));
        let flood = 0..BUDGET as u32 * 2 + 1;
        visit(&cell, |_| flood.clone().for_each(|mail| cell.push(mail).unwrap())).unwrap();
        assert_eq!(cell.waiting(), flood.len() - BUDGET);
        assert!(queue.run_one());
        assert_eq!(cell.waiting(), 1);
        assert!(queue.run_one());
        assert!(!queue.run_one() && queue.is_empty());
        assert_eq!(visit(&cell, |scribe| scribe.seen.clone()), Ok(flood.collect()));
    }

    #[test]
    fn next_visit_serves_mail_without_driver() {
        let cell = scribe();
        visit(&cell, |_| (0..100).for_each(|mail| cell.push(mail).unwrap())).unwrap();
        assert_eq!(visit(&cell, |scribe| scribe.seen.len()), Ok(100));
    }

    #[test]
    fn panic_in_handler_closes_its_cell_only() {
        let cell = scribe();
        cell.push(1).unwrap();
        cell.push(PANIC).unwrap();
        cell.push(2).unwrap();
        poke(&cell);
        assert!(cell.is_closed());
        assert!(cell.failure().unwrap().contains("told to panic"));
        assert_eq!(visit(&cell, |_| ()), Err(EnterError::Failed));
        assert_eq!(cell.push(3), Err(PushError::Closed(3)));
        let other = scribe();
        assert_eq!(visit(&other, |_| ()), Ok(()));
    }

    #[test]
    fn panic_in_visit_returns_an_error() {
        let cell = scribe();
        let outcome: Result<(), _> = visit(&cell, |_| panic!("a bug"));
        assert_eq!(outcome, Err(EnterError::Failed));
        assert_eq!(cell.failure(), Some("a bug"));
    }

    #[test]
    fn close_serves_mail_and_returns_state_once() {
        let cell = scribe();
        cell.push(1).unwrap();
        let state = Effects::scope(|effects| cell.close(effects)).unwrap();
        assert_eq!(state.seen, [1]);
        assert_eq!(cell.push(2), Err(PushError::Closed(2)));
        assert_eq!(visit(&cell, |_| ()), Err(EnterError::Closed));
        assert!(Effects::scope(|effects| cell.close(effects)).is_none());
        cell.signal(Signals::TIMER);
        poke(&cell);
    }

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "from inside a cell"))]
    fn nested_entry_of_cells_is_refused() {
        let (outer, inner) = (scribe(), scribe());
        let outcome = visit(&outer, |_| visit(&inner, |_| ()));
        if cfg!(debug_assertions) {
            assert_eq!(outcome, Err(EnterError::Failed));
            panic!("{}", outer.failure().unwrap());
        }
        assert_eq!(outcome, Ok(Err(EnterError::Reentrant)));
    }

    #[test]
    fn state_of_failed_cell_is_dropped_outside() {
        struct Visits(Arc<Cell<Scribe>>, mpsc::Sender<Result<(), EnterError>>);
        impl Drop for Visits {
            fn drop(&mut self) {
                let _ = self.1.send(visit(&self.0, |_| ()));
            }
        }
        impl Actor for Visits {
            type Mail = ();
            fn handle(&mut self, (): (), _: &mut Effects) {
                panic!("a bug");
            }
        }
        let (sender, receiver) = mpsc::channel();
        let cell = Cell::new(Visits(scribe(), sender), Capacity::default(), queue());
        cell.push(()).unwrap();
        Effects::scope(|effects| cell.serve(effects));
        assert_eq!(receiver.recv(), Ok(Ok(())));
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the test is about the stack of a real thread")]
    fn million_chained_effects_need_a_small_stack() {
        let ring = [scribe(), scribe()];
        visit(&ring[0], |scribe| scribe.next = Some(Arc::downgrade(&ring[1]))).unwrap();
        visit(&ring[1], |scribe| scribe.next = Some(Arc::downgrade(&ring[0]))).unwrap();
        let run = move || {
            ring[0].push(1_000_000).unwrap();
            poke(&ring[0]);
            ring.each_ref().map(|cell| visit(cell, |scribe| scribe.seen.len()).unwrap())
        };
        let small = std::thread::Builder::new().stack_size(64 << 10).spawn(run).unwrap();
        assert_eq!(small.join().unwrap(), [500_001, 500_000]);
    }

    #[test]
    fn many_threads_keep_mail_and_its_order() {
        let cell = Cell::new(Scribe::default(), Capacity { entries: 8, bytes: usize::MAX }, queue());
        let refused = Mutex::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let (cell, refused) = (&cell, &refused);
                scope.spawn(move || {
                    for number in 0..2_000 {
                        let mail = thread << 16 | number;
                        let offer = |effects: &mut Effects| {
                            cell.offer(effects, |scribe: &mut Scribe, _| scribe.seen.push(mail), || mail)
                        };
                        match Effects::scope(offer) {
                            Ok(_) => {}
                            Err(OfferError::Push(PushError::Full(_))) => *refused.lock().unwrap() += 1,
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                });
            }
        });
        let seen = visit(&cell, |scribe| scribe.seen.clone()).unwrap();
        assert_eq!(seen.len() + *refused.lock().unwrap(), 8_000);
        for thread in 0..4 {
            let own: Vec<u32> = seen.iter().copied().filter(|mail| mail >> 16 == thread).collect();
            assert!(own.is_sorted());
        }
    }
}
