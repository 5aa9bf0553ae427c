//! What an actor speaks to the outside by: the sockets, one datagram that is laid out again and again, and its timer.

use crate::actor::{Poke, Signals, Step, note_step};
use crate::driver::{Driver, Network, Timer};
use dds_rtps::output::Datagram;
use dds_rtps::transport::SendOutcome;
use dds_rtps::types::Instant;
use dds_rtps::wire::{Scope, Sealed, Transform};
use std::sync::{Arc, Weak};

/// The most datagrams that one visit of a cell sends: a longer hold would keep others out. The rest goes in another visit.
const DATAGRAMS_PER_VISIT: usize = 8;

/// How far [`Outgoing::flush`] came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flushed {
    /// Everything is with the kernel, or will be as soon as the socket has room again.
    Done,
    /// This visit has sent enough; there is more.
    More,
    /// The rest of a large sample waits for the readers' answers, or for the clock.
    Paced,
    /// Nothing was sent: the sockets belong to the parent of this process.
    Forked,
}

/// The sending side of an actor.
pub(crate) struct Outgoing {
    driver: Arc<dyn Driver>,
    network: Arc<dyn Network>,
    datagram: Datagram,
    /// What may change a message between its lay-out and the socket.
    transform: Transform,
    scratch: Vec<u8>,
    /// What a full socket has left to do; laid out already.
    blocked: bool,
    /// A deadline is set.
    is_timed: bool,
    attached: Option<Attached>,
}

/// What only exists once the actor is in its cell.
struct Attached {
    cell: Weak<dyn Poke>,
    timer: Timer,
}

impl Outgoing {
    pub(crate) fn new(driver: Arc<dyn Driver>, network: Arc<dyn Network>, transform: Transform) -> Self {
        Self {
            driver,
            network,
            datagram: Datagram::new(),
            transform,
            scratch: Vec::new(),
            blocked: false,
            is_timed: false,
            attached: None,
        }
    }

    /// Tells the actor in which cell it is; before that it has no timer.
    pub(crate) fn attach(&mut self, cell: Weak<dyn Poke>) {
        let timer = Timer::new(self.driver.timers(), Weak::clone(&cell));
        self.attached = Some(Attached { cell, timer });
    }

    /// Sends what a full socket left behind, then whatever `lay_out` puts into the datagram, until that is nothing more.
    /// Never blocks: what a full socket refuses stays laid out, and the driver signals when there is room.
    pub(crate) fn flush(&mut self, mut lay_out: impl FnMut(&mut Datagram) -> bool) -> Flushed {
        if self.driver.was_forked() {
            return Flushed::Forked;
        }
        for _ in 0..DATAGRAMS_PER_VISIT {
            if !self.blocked {
                self.datagram.clear();
                if !lay_out(&mut self.datagram) {
                    self.datagram.clear();
                    return Flushed::Done;
                }
                self.seal();
            }
            note_step(Step::Datagram);
            self.blocked = self.network.transport().send(&mut self.datagram) == SendOutcome::Blocked;
            if self.blocked {
                if let Some(attached) = &self.attached {
                    self.network.when_writable(Weak::clone(&attached.cell));
                }
                return Flushed::Done;
            }
        }
        Flushed::More
    }

    /// Lets the transform change what has been laid out.
    fn seal(&mut self) {
        let Ok(sealed) = self.transform.seal(Scope::Message, self.datagram.segments(), &mut self.scratch);
        if sealed == Sealed::Replaced {
            self.datagram.replace(&mut self.scratch);
            self.scratch.clear();
        }
    }

    /// Asks for another visit, to be called inside of the cell: whoever is inside serves it after letting others in, up to
    /// its budget, and the driver does the rest.
    pub(crate) fn come_back(&self) {
        if let Some(cell) = self.attached.as_ref().and_then(|attached| attached.cell.upgrade()) {
            cell.signal(Signals::own(1));
        }
    }

    /// Whether the socket has taken all that it was given.
    pub(crate) fn has_room(&self) -> bool {
        !self.blocked
    }

    /// Nothing waits for the socket, and no deadline is set.
    pub(crate) fn is_at_rest(&self) -> bool {
        !self.blocked && !self.is_timed
    }

    /// Sets the moment of the next signal, or none.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.is_timed = deadline.is_some();
        if let Some(attached) = &self.attached {
            attached.timer.set(deadline);
        }
    }
}
