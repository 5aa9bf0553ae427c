//! Actors whose handlers are synchronous and run on the caller's thread.
//!
//! In: [`Cell::push`], [`Cell::signal`], visits by [`Cell::with`] and [`Cell::offer`]. Out: the visitor's result, and
//! [`Effects`], which the outermost function carries out once no cell is held. Owned: the state of one endpoint or
//! participant and the mail that waits for it; no thread, no task, no clock.
//!
//! - A cell is a lock around the state and a bounded inbox beside it. Whoever enters serves the waiting mail first; whoever
//!   finds it occupied leaves mail, which the visitor serves on its way out. An unheld cell with mail in it is a normal
//!   state, healed by the next visitor: nothing owns the right to run a cell, so nothing can lose it.
//! - A cell is never entered from inside a cell. A handler pushes and returns effects. The one exception waits for nobody:
//!   [`Cell::hand_over`], by which a writer gives a sample to a reader that is free.
//! - Push while you hold your own cell (that makes the order), poke after you have left it.
//! - Waiting happens outside: register a [`Waker`](std::task::Waker) in the state's [`Wakers`] and look in the same visit.

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
pub use effects::{Deferred, Effects, in_listener};
pub(crate) use hold_times::Caller;
pub use hold_times::{HoldTimes, LongestHold, hold_times};
pub use holds::{HoldHistogram, Holds, Step, note_step};
pub use inbox::{Capacity, PushError};
#[cfg(feature = "sim")]
pub(crate) use run_queue::Disturb;
pub use run_queue::RunQueue;
pub use wakers::{Ticket, Wakers};

use crate::sync::Arc;

/// The state inside of a [`Cell`].
pub trait Actor: Send + 'static {
    /// What others leave in the inbox.
    type Mail: Send + 'static;

    /// Serves one piece of mail. Runs no user code, enters no other cell, takes microseconds.
    fn handle(&mut self, mail: Self::Mail, effects: &mut Effects);

    /// Serves the signals that have come since the last time. They coalesce, and may come without a cause: look, do not
    /// believe.
    fn handle_signals(&mut self, signals: Signals, effects: &mut Effects) {
        let _ = (signals, effects);
    }

    /// A panic has closed the cell: whoever waits for the actor is to find that out. Called outside of all cells, on a state
    /// that may be broken.
    fn wake_waiters(&mut self, effects: &mut Effects) {
        let _ = effects;
    }

    /// Who is told of mail for which there was no room. Asked once, for a new cell.
    fn spill(&self) -> Option<Arc<dyn Spill<Self::Mail>>> {
        None
    }

    /// How many bytes a piece of mail counts towards [`Capacity::bytes`].
    fn mail_bytes(mail: &Self::Mail) -> usize {
        let _ = mail;
        0
    }
}

/// Is told of mail for which there was no room ([`Cell::push_over`]), beside the cell and on the thread that brought it.
pub trait Spill<M>: Send + Sync {
    /// Notes what is dropped. Returns the signals to set.
    fn note(&self, mail: &M) -> Signals;
}

/// A cell without its type: what effects, timers and the driver hold.
pub trait Poke: Send + Sync {
    /// Serves the mail that waits, if nobody is inside.
    fn poke(self: Arc<Self>, effects: &mut Effects);

    /// [`Poke::poke`] for a turn that the cell has asked the driver for.
    fn resume(self: Arc<Self>, effects: &mut Effects);

    /// Sets signals, without serving them. Set inside of the cell itself, for work that goes in steps, they are served after
    /// the visit, once others had a chance to get in.
    fn signal(&self, signals: Signals);
}

/// Mail that takes no room: bits that are set until they are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signals(u32);

impl Signals {
    /// A deadline may have passed.
    pub const TIMER: Self = Self(1);
    /// The socket that had no room may have some.
    pub const WRITABLE: Self = Self(2);

    /// One of 24 signals that the actor gives a meaning to; numbers from 24 on wrap.
    #[must_use]
    pub const fn own(number: u32) -> Self {
        Self(1 << (8 + number % 24))
    }

    /// Whether one of `others` is among these.
    #[must_use]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Both.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}
