//! Actors whose handlers are synchronous and run on the caller's thread.
//!
//! In: [`Cell::push`], [`Cell::signal`], visits by [`Cell::with`] and [`Cell::offer`]. Out: the visitor's result, and
//! [`Effects`], which the outermost function runs once no cell is held. Owned: the state of one endpoint or participant
//! and its waiting mail; no thread, no task, no clock.
//!
//! The module is public only for tests and benchmarks of this workspace. It may change in every version.
//!
//! - A cell is a lock around the state and a bounded inbox beside it. A visitor serves the waiting mail first. If the
//!   cell is occupied, a sender leaves mail, which the present visitor serves before it leaves.
//! - A free cell with mail in its inbox is a normal state, and the next visitor serves it. No thread owns the right to
//!   run a cell, so no thread can lose it.
//! - A cell is never entered from inside a cell. A handler pushes mail and returns effects. The one exception never
//!   waits: [`Cell::hand_over`], with which a writer passes a sample to a free reader.
//! - Push while you hold your own cell, which keeps the order. Poke after you have left it.
//! - Waiting happens outside: register a [`Waker`](std::task::Waker) in the state's [`Wakers`] and check the condition
//!   in the same visit.

mod cell;
mod closing;
mod effects;
mod hold_times;
mod holds;
mod inbox;
mod run_queue;
mod wakers;

#[cfg(test)]
#[cfg(dds_loom)]
mod models;

pub use cell::{Cell, EnterError, OfferError, Offered};
pub(crate) use closing::{Awaitable, close_cell};
pub(crate) use effects::panic_message;
pub use effects::{Deferred, Effects, in_listener};
pub(crate) use hold_times::Caller;
pub use hold_times::{HoldTimes, LongestHold, hold_times};
pub use holds::{HeldStep, HoldHistogram, Holds, note_step};
pub use inbox::{Capacity, PushError};
#[cfg(feature = "sim")]
pub(crate) use run_queue::Disturb;
pub use run_queue::RunQueue;
pub use wakers::{Ticket, Wakers};

use crate::sync::Arc;

/// The state inside a [`Cell`].
pub trait Actor: Send + 'static {
    /// Type of the entries of the inbox.
    type Mail: Send + 'static;

    /// Serves one piece of mail. Must not run user code or enter another cell, and takes microseconds.
    fn handle(&mut self, mail: Self::Mail, effects: &mut Effects);

    /// Serves the signals that arrived since the last call.
    ///
    /// Signals coalesce and may arrive without a cause, so the actor must check the condition itself.
    fn handle_signals(&mut self, signals: Signals, effects: &mut Effects) {
        let _ = (signals, effects);
    }

    /// Wakes all waiters after a panic has closed the cell, so that they return with an error.
    ///
    /// Called outside of all cells. The state may be inconsistent.
    fn wake_waiters(&mut self, effects: &mut Effects) {
        let _ = effects;
    }

    /// Returns the object that is notified of mail that did not fit. Called once, for a new cell.
    fn spill(&self) -> Option<Arc<dyn Spill<Self::Mail>>> {
        None
    }

    /// Number of bytes that a piece of mail counts toward [`Capacity::bytes`].
    fn mail_bytes(mail: &Self::Mail) -> usize {
        let _ = mail;
        0
    }
}

/// Is notified of mail that did not fit ([`Cell::push_over`]). Called outside the cell on the sender's thread.
pub trait Spill<M>: Send + Sync {
    /// Records dropped mail. Returns the signals to set.
    fn note(&self, mail: &M) -> Signals;
}

/// A cell without its type, as effects, timers and the driver hold it.
pub trait Poke: Send + Sync {
    /// Serves the waiting mail if the cell is free.
    fn poke(self: Arc<Self>, effects: &mut Effects);

    /// Like [`Poke::poke`], but called by the driver for a cell in the run queue.
    fn resume(self: Arc<Self>, effects: &mut Effects) {
        self.poke(effects);
    }

    /// Sets signals without serving them.
    ///
    /// If a visitor sets them inside the cell, for work in steps, they are served after the visit. Other visitors can
    /// enter before that. By default the target has no use for signals.
    fn signal(&self, signals: Signals) {
        let _ = signals;
    }
}

/// Mail without content: bits that stay set until they are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signals(u32);

impl Signals {
    /// A deadline may have passed.
    pub const TIMER: Self = Self(1);
    /// The socket that was full may be writable again.
    pub const WRITABLE: Self = Self(2);

    /// Returns one of 24 signals with a meaning that the actor defines. Numbers from 24 on wrap.
    #[must_use]
    pub const fn own(number: u32) -> Self {
        Self(1 << (8 + number % 24))
    }

    /// Whether these contain one of `others`.
    #[must_use]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns the union.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}
