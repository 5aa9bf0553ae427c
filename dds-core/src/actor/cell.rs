//! The combining cell: a lock around an actor's state, and an inbox beside it.
//!
//! ```text
//! push       append to the inbox                                       runs nothing, allowed inside another cell
//! serve      fence; while mail waits and budget is left: try_lock or return; serve; unlock; fence
//! with       lock; serve what waits; the visitor's work; unlock; serve
//! offer      try_lock: serve what waits; the visitor's work; unlock.   else push an owned copy, or merge it.   then serve
//! hand_over  inbox empty, try_lock: the work; unlock.   else push.      poke after release if mail waits
//! close      lock; serve what waits; take the state out; unlock
//! ```
//!
//! Nothing is stranded: a pusher appends, fences and tries the lock; a leaver unlocks, fences and looks at the inbox. One of
//! the two sees the other. The models in `models.rs` break each of these steps and see mail get lost.

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

/// How much foreign mail a visitor serves after its own work, before it leaves the rest to the driver: about 3 us if it is
/// mail, 80 us if it is work that goes in steps.
const BUDGET: usize = if cfg!(dds_loom) { 2 } else { 32 };

/// What serving signals counts towards the budget: behind them may stand a step of eight datagrams, 20 us.
const SIGNALS_COST: usize = 8;

/// Why a cell could not be entered, or was left by accident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnterError {
    /// The state is gone; the entity was closed.
    Closed,
    /// A handler has panicked, in this visit or an earlier one, which has closed the cell. See [`Cell::failure`].
    Failed,
    /// The cell is occupied, and this is a forked child of the process that made it: whoever is inside does not exist here.
    Forked,
    /// The thread is inside a cell already: a bug of ours, and a panic in debug builds.
    Reentrant,
}

impl fmt::Display for EnterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the entity is closed",
            Self::Failed => "a panic has closed the entity",
            Self::Forked => "the entity belongs to the parent process",
            Self::Reentrant => "a handler has entered another entity",
        })
    }
}

impl std::error::Error for EnterError {}

/// What has become of an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered<R> {
    /// Nobody was inside: it was served in place.
    Served(R),
    /// Somebody was inside, and will serve the copy that was pushed.
    Queued,
}

/// Why an offer came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferError<M> {
    /// Somebody was inside, and the copy was not taken.
    Push(PushError<M>),
    /// The cell could not be entered.
    Enter(EnterError),
}

/// An actor's state, which one visitor at a time may use, and its mail.
pub struct Cell<A: Actor> {
    inside: CacheLine<Lock<Inside<A>>>,
    inbox: Inbox<A>,
    spill: Option<Arc<dyn Spill<A::Mail>>>,
    /// The state is gone, or about to go.
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
    /// The mail that the present visitor is serving; empty between visits.
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
    /// A cell around `actor`. A visitor that runs out of budget leaves the cell in `run_queue`.
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

    /// Leaves mail. Runs nothing and never waits for a visitor, so it is allowed inside another cell; poke this one after
    /// you have left that.
    ///
    /// # Errors
    /// The mail comes back if there is no room or the cell is closed.
    #[inline]
    pub fn push(&self, mail: A::Mail) -> Result<(), PushError<A::Mail>> {
        self.inbox.push(mail)
    }

    /// As [`Cell::push`], but where there is no room, the oldest mail for which `replaces` holds makes some and comes back.
    /// The actor hears of what is dropped ([`Actor::spill`]).
    ///
    /// # Errors
    /// The mail comes back if there is no such mail or the cell is closed.
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

    /// Sets signals; like [`Cell::push`] of mail that always has room and merges with its like.
    #[inline]
    pub fn signal(&self, signals: Signals) {
        self.inbox.signal(signals);
    }

    /// Enters: waits until nobody is inside, serves the mail that is there, then runs `f` on the state.
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

    /// As [`Cell::with`], in the name of `caller`.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub(crate) fn with_from<R>(
        self: &Arc<Self>,
        caller: Caller,
        effects: &mut Effects,
        f: impl FnOnce(&mut A, &mut Effects) -> R,
    ) -> Result<R, EnterError> {
        let Some(in_cell) = enter() else { return Err(EnterError::Reentrant) };
        let outcome = self.enter_inside().and_then(|inside| self.visit(caller, inside, self.entry_limit(), effects, f));
        self.look_again(caller, effects);
        drop(in_cell);
        outcome.map(|(result, _)| result)
    }

    /// Enters if nobody is inside, else pushes what `own` makes, such as an owned copy of borrowed bytes.
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

    /// As [`Cell::offer`], but mail that waits may take in what is pushed, which then needs no room: `takes_in` is shown
    /// waiting mail and the new one, from the newest waiting on, until it breaks; with `true` if it has taken it in. It must
    /// leave [`Actor::mail_bytes`] as it is, and runs no foreign code.
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
            Some(inside) => match self.visit(caller, inside, self.entry_limit(), effects, f) {
                Ok((result, _)) => Ok(Offered::Served(result)),
                Err(error) => Err(OfferError::Enter(error)),
            },
            None => self.inbox.push_into(own(), takes_in).map(|()| Offered::Queued).map_err(OfferError::Push),
        };
        self.look_again(caller, effects);
        drop(in_cell);
        outcome
    }

    /// The one way into a cell from inside another: serves `parcel` in place if that costs nobody a wait, that is, if nobody
    /// is inside and no mail waits before it; else leaves it as mail. Either way it comes after what the caller left before.
    /// What is left to do here is poked once the caller has left his own cell.
    ///
    /// It saves a way through the inbox, which is a third of what a sample costs within a process. It never waits, so it
    /// cannot close a circle of cells that wait for each other; and the caller holds his own cell longer by one handler.
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
        debug_assert!(InCell::is_set(), "outside of all cells, a cell is entered by `with` or `offer`");
        let in_order = !self.inbox.has_any() || mutated(Mutation::Overtake);
        let free = if in_order && !self.run_queue.is_occupied() { self.inside.try_lock() } else { None };
        let Some(inside) = free else {
            self.push(own(parcel))?;
            effects.poke(Arc::clone(self) as Arc<dyn Poke>);
            return Ok(());
        };
        #[cfg(debug_assertions)]
        let outer = Holds::pause();
        // That it has failed, or is closed, is for its owner to say; to the caller it is as if mail had been left before that.
        let visit = |actor: &mut A, effects: &mut Effects| serve(actor, parcel, effects);
        let _ = self.visit(Caller::here(), inside, self.entry_limit(), effects, visit);
        #[cfg(debug_assertions)]
        Holds::resume(outer);
        if self.has_mail() {
            effects.poke(Arc::clone(self) as Arc<dyn Poke>);
        }
        Ok(())
    }

    /// Serves the mail that waits, at most a budget of it, if nobody is inside.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn serve(self: &Arc<Self>, effects: &mut Effects) {
        let Some(in_cell) = enter() else { return };
        self.look_again(Caller::here(), effects);
        drop(in_cell);
    }

    /// Serves the mail that is there and takes the state out; later visits get [`EnterError::Closed`], later mail comes
    /// back, mail in between is dropped. `None` if it was closed before. The caller drops the state, outside of all cells.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn close(self: &Arc<Self>, effects: &mut Effects) -> Option<A> {
        let in_cell = enter()?;
        let inside = self.enter_inside().ok()?;
        let served = self.visit(Caller::here(), inside, usize::MAX, effects, |_, _| ());
        // Between the two visits others may come and go, or close the cell first.
        let remains = self.strip(&mut self.inside.lock());
        drop(in_cell);
        served.ok().and(remains.actor)
    }

    /// Whether [`Cell::close`] has been called or a panic has closed the cell.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// The message of the panic that has closed the cell.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(AsRef::as_ref)
    }

    /// How much mail waits; out of date at once.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inbox.len()
    }

    /// How much was done in one hold; nothing in builds without debug assertions. Waits until nobody is inside.
    #[must_use]
    pub fn holds(&self) -> Holds {
        #[cfg(debug_assertions)]
        return self.inside.lock().holds;
        #[cfg(not(debug_assertions))]
        Holds::default()
    }

    /// Inside, as soon as nobody is. Only who has to wait for that asks whether anybody will ever leave.
    #[inline]
    fn enter_inside(&self) -> Result<LockGuard<'_, Inside<A>>, EnterError> {
        match self.inside.try_lock() {
            Some(inside) => Ok(inside),
            None if self.run_queue.is_forked() => Err(EnterError::Forked),
            None => Ok(self.inside.lock()),
        }
    }

    /// Inside, if nobody is.
    #[inline]
    fn try_enter(&self) -> Option<LockGuard<'_, Inside<A>>> {
        if self.run_queue.is_occupied() { None } else { self.take_or_leave() }
    }

    /// The lock, if it is free; with the feature `rt` in any case. A queue hides from the kernel who waits for whom, and a lock
    /// that inherits priority does not help who leaves mail instead of waiting for it. Holds are short.
    #[inline]
    fn take_or_leave(&self) -> Option<LockGuard<'_, Inside<A>>> {
        if cfg!(feature = "rt") { self.enter_inside().ok() } else { self.inside.try_lock() }
    }

    fn entry_limit(&self) -> usize {
        if mutated(Mutation::Overtake) { 0 } else { usize::MAX }
    }

    /// The second half of leaving a cell, and the second half of pushing to one.
    #[inline]
    fn look_again(self: &Arc<Self>, caller: Caller, effects: &mut Effects) {
        if self.has_mail() {
            self.serve_waiting(caller, effects);
        }
    }

    /// Whether mail waits that nobody else is sure to see.
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
            // In a simulation nobody really is inside, to see the mail on the way out.
            if budget == 0 || self.run_queue.is_occupied() {
                return self.ask_for_a_turn();
            }
            let Some(inside) = self.take_or_leave() else { return };
            match self.visit(caller, inside, budget, effects, |_, _| ()) {
                Ok(((), cost)) => budget = budget.saturating_sub(cost.max(1)),
                Err(_) => return,
            }
            if !self.has_mail() {
                return;
            }
        }
    }

    /// Runs `f` on the state after the first `limit` pieces of mail, and leaves the cell; what the mail has cost. A panic takes
    /// the state away.
    #[inline]
    fn visit<R>(
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
        let Some(actor) = actor else { return Err(self.gone()) };
        let begun = self.watch.begin(caller, &self.run_queue);
        let visit = AssertUnwindSafe(|| {
            let cost = if self.inbox.has_any() { self.handle_waiting(actor, batch, limit, effects) } else { 0 };
            (f(actor, effects), cost)
        });
        let outcome = catch_unwind(visit);
        let mail_cost = outcome.as_ref().map_or(0, |(_, cost)| *cost);
        self.watch.end(begun, &self.run_queue, mail_cost);
        #[cfg(debug_assertions)]
        guard.holds.end(mail_cost);
        outcome.map_err(|panic| {
            // There is no second panic to be kept: the state goes with the first.
            let _ = self.failure.set(panic_message(panic.as_ref()).into());
            if !mutated(Mutation::SurvivePanic) {
                let remains = self.strip(&mut guard);
                effects.defer(Arc::new(Obituary {
                    message: self.failure().unwrap_or_default().into(),
                    remains: Lock::new(Some(remains)),
                }));
            }
            EnterError::Failed
        })
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
        let signals = self.inbox.take_signals();
        if signals != Signals::default() {
            actor.handle_signals(signals, effects);
            cost += SIGNALS_COST;
        }
        cost
    }

    #[cold]
    fn ask_for_a_turn(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            let this: Weak<Self> = Arc::downgrade(self);
            self.run_queue.push(this);
        }
    }

    #[cold]
    fn strip(&self, inside: &mut Inside<A>) -> Remains<A> {
        self.closed.store(true, Ordering::Release);
        Remains { actor: inside.actor.take(), _mail: [self.inbox.close(), std::mem::take(&mut inside.batch)] }
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

/// What a closed cell leaves behind, to be dropped where no cell is held.
struct Remains<A: Actor> {
    actor: Option<A>,
    _mail: [VecDeque<A::Mail>; 2],
}

/// Reports a panic, and drops what it has left of the cell.
struct Obituary<A: Actor> {
    message: Box<str>,
    remains: Lock<Option<Remains<A>>>,
}

impl<A: Actor> Deferred for Obituary<A> {
    fn run(self: Arc<Self>, _: u32, effects: &mut Effects) {
        let actor = std::any::type_name::<A>();
        tracing::error!(
            actor,
            message = &*self.message,
            "panic in a handler has closed an entity; please report this bug"
        );
        let mut remains = self.remains.lock().take();
        if let Some(actor) = remains.as_mut().and_then(|remains| remains.actor.as_mut()) {
            actor.wake_waiters(effects);
        }
        drop(remains);
    }

    fn hand_over(self: Arc<Self>, _: u32) {
        Effects::scope(|effects| self.run(0, effects));
    }
}

impl<A: Actor> Poke for Cell<A> {
    fn poke(self: Arc<Self>, effects: &mut Effects) {
        self.serve(effects);
    }

    fn resume(self: Arc<Self>, effects: &mut Effects) {
        // First, so that a visitor who leaves mail behind this turn asks for another. The fences of `has_mail`, his before
        // he looks at the flag and ours after this store, let us see the mail of one who has found it still set.
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

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::mpsc;

    /// Notes what it is told; pushes on to the next one in a chain.
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
    fn a_visitor_sees_the_mail_that_came_before_it() {
        let cell = scribe();
        (1..=3).for_each(|mail| cell.push(mail).unwrap());
        assert_eq!(visit(&cell, |scribe| scribe.seen.clone()), Ok(vec![1, 2, 3]));
        assert_eq!(cell.waiting(), 0);
    }

    #[test]
    #[cfg(not(feature = "rt"))]
    fn an_offer_into_an_occupied_cell_is_queued_behind_the_mail() {
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
    fn what_is_handed_over_to_a_free_cell_is_served_in_place() {
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
    fn what_is_handed_over_comes_after_the_mail_that_waits() {
        let (outer, inner) = (scribe(), scribe());
        inner.push(1).unwrap();
        hand_over(&outer, &inner, 2).unwrap();
        // Poked after release.
        assert_eq!(inner.waiting(), 0);
        assert_eq!(visit(&inner, |scribe| scribe.seen.clone()), Ok(vec![1, 2]));
    }

    #[test]
    #[cfg(not(feature = "rt"))]
    fn what_is_handed_over_to_an_occupied_cell_is_mail_and_nobody_waits() {
        let (outer, inner) = (scribe(), scribe());
        visit(&inner, |_| {
            std::thread::scope(|scope| scope.spawn(|| hand_over(&outer, &inner, 1)).join().unwrap().unwrap());
        })
        .unwrap();
        assert_eq!(visit(&inner, |scribe| scribe.seen.clone()), Ok(vec![1]));
    }

    #[test]
    fn a_handler_that_panics_on_what_is_handed_over_closes_its_own_cell_only() {
        let (outer, inner) = (scribe(), scribe());
        assert_eq!(hand_over(&outer, &inner, PANIC), Ok(()));
        assert!(inner.is_closed() && !outer.is_closed());
        assert_eq!(hand_over(&outer, &inner, 1), Ok(()), "as if it had been left before the cell was closed");
    }

    #[test]
    fn full_is_an_answer_and_the_oldest_makes_room_if_told() {
        let cell = Cell::new(Scribe::default(), Capacity { entries: 2, bytes: usize::MAX }, queue());
        cell.push(1).unwrap();
        cell.push(2).unwrap();
        assert_eq!(cell.push(3), Err(PushError::Full(3)));
        assert_eq!(cell.push_over(3, |_| false), Err(PushError::Full(3)));
        assert_eq!(cell.push_over(3, |_| true), Ok(Some(1)));
        assert_eq!(visit(&cell, |scribe| scribe.seen.clone()), Ok(vec![2, 3]));
    }

    #[test]
    fn bytes_are_bounded_but_one_piece_always_fits() {
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
    fn a_visitor_serves_a_budget_of_what_comes_behind_it_and_leaves_the_rest_to_the_driver() {
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
    fn a_cell_without_a_driver_is_healed_by_the_next_visitor() {
        let cell = scribe();
        visit(&cell, |_| (0..100).for_each(|mail| cell.push(mail).unwrap())).unwrap();
        assert_eq!(visit(&cell, |scribe| scribe.seen.len()), Ok(100));
    }

    #[test]
    fn a_panicking_handler_closes_its_cell_and_nobody_else_suffers() {
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
    fn a_panicking_visitor_gets_its_panic_as_an_error() {
        let cell = scribe();
        let outcome: Result<(), _> = visit(&cell, |_| panic!("a bug"));
        assert_eq!(outcome, Err(EnterError::Failed));
        assert_eq!(cell.failure(), Some("a bug"));
    }

    #[test]
    fn close_hands_out_the_state_once_with_all_mail_served() {
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
    fn a_cell_is_not_entered_from_inside_a_cell() {
        let (outer, inner) = (scribe(), scribe());
        let outcome = visit(&outer, |_| visit(&inner, |_| ()));
        if cfg!(debug_assertions) {
            assert_eq!(outcome, Err(EnterError::Failed));
            panic!("{}", outer.failure().unwrap());
        }
        assert_eq!(outcome, Ok(Err(EnterError::Reentrant)));
    }

    #[test]
    fn the_state_of_a_failed_cell_is_dropped_outside() {
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
    fn a_chain_of_a_million_effects_needs_a_small_stack() {
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
    fn many_threads_lose_nothing_and_keep_their_order() {
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
