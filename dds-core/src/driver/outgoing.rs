//! What an actor speaks to the outside by: the sockets, a few datagrams that are laid out again and again, and its timer.

use crate::actor::{Poke, Signals, Step, note_step};
use crate::driver::{Driver, Network, Presence, Timer};
use dds_rtps::output::Datagram;
use dds_rtps::transport::SendOutcome;
use dds_rtps::types::{GuidPrefix, Instant, Locator, TrafficClass};
use dds_rtps::wire::{Transform, Transformed};
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, Weak};

/// The most datagrams that one visit of a cell sends: a longer hold would keep others out. The rest goes in another visit.
const DATAGRAMS_PER_VISIT: usize = 8;

/// Datagrams of such lengths are likely fragments, of which more follow: those of one visit are handed to the system
/// together. Shorter ones go at once, longer ones do not fit together.
const RUN_LENS: RangeInclusive<usize> = 1024..=16 << 10;

/// Each receive buffer that is asked for costs a system call or two. The one that has the most room says how fast more is
/// sent, and of so many some will be empty.
const BUFFERS_ASKED_FOR: usize = 8;

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
    /// Empty unless laid out. Made as they are needed: by most actors, one.
    datagrams: Vec<Datagram>,
    /// Those that are laid out and not sent yet: what a full socket has left to do.
    laid_out: Range<usize>,
    /// What may change a message between its lay-out and the socket.
    transform: Transform,
    scratch: Vec<u8>,
    /// Of all that is sent from now on.
    traffic_class: TrafficClass,
    /// A deadline is set.
    is_timed: bool,
    attached: Option<AttachedCell>,
}

/// What only exists once the actor is in its cell.
struct AttachedCell {
    cell: Weak<dyn Poke>,
    timer: Timer,
}

impl Outgoing {
    pub(crate) fn new(driver: Arc<dyn Driver>, network: Arc<dyn Network>, transform: Transform) -> Self {
        Self {
            driver,
            network,
            datagrams: vec![Datagram::new()],
            laid_out: 0..0,
            transform,
            scratch: Vec::new(),
            traffic_class: TrafficClass::default(),
            is_timed: false,
            attached: None,
        }
    }

    /// Tells the actor in which cell it is; before that it has no timer.
    pub(crate) fn attach(&mut self, cell: Weak<dyn Poke>) {
        let timer = Timer::new(self.driver.timers(), Weak::clone(&cell));
        self.attached = Some(AttachedCell { cell, timer });
    }

    /// Sends what a full socket left behind, then whatever `lay_out` puts into the datagrams, until that is nothing more.
    /// Never blocks: what a full socket refuses stays laid out, and the driver signals when there is room.
    pub(crate) fn flush(&mut self, mut lay_out: impl FnMut(&mut Datagram) -> bool) -> Flushed {
        if self.driver.was_forked() {
            return Flushed::Forked;
        }
        let mut left = DATAGRAMS_PER_VISIT;
        let mut has_more = true;
        while left > 0 && has_more {
            if self.laid_out.is_empty() {
                has_more = self.lay_out_run(left, &mut lay_out);
                if self.laid_out.is_empty() {
                    return Flushed::Done;
                }
            }
            left = left.saturating_sub(self.laid_out.len());
            if !self.send_laid_out() {
                if let Some(attached) = &self.attached {
                    self.network.when_writable(Weak::clone(&attached.cell));
                }
                return Flushed::Done;
            }
        }
        if has_more { Flushed::More } else { Flushed::Done }
    }

    /// Lays out a datagram, and up to `most` as long as they are likely fragments. False if there was nothing more.
    fn lay_out_run(&mut self, most: usize, lay_out: &mut impl FnMut(&mut Datagram) -> bool) -> bool {
        self.laid_out = 0..0;
        while self.laid_out.end < most {
            let index = self.laid_out.end;
            if index == self.datagrams.len() {
                let mut datagram = Datagram::new();
                datagram.set_traffic_class(self.traffic_class);
                self.datagrams.push(datagram);
            }
            let Some(datagram) = self.datagrams.get_mut(index) else { break };
            if !lay_out(datagram) {
                datagram.clear();
                return false;
            }
            seal(&self.transform, &mut self.scratch, datagram);
            self.laid_out.end += 1;
            if !RUN_LENS.contains(&datagram.len()) {
                break;
            }
        }
        true
    }

    /// Sends what has been laid out; false if the socket is full.
    fn send_laid_out(&mut self) -> bool {
        let Some(datagrams) = self.datagrams.get_mut(self.laid_out.clone()) else { return true };
        let done = match &mut *datagrams {
            [only] => usize::from(self.network.transport().send(only) == SendOutcome::Done),
            several => self.network.transport().send_all(several),
        };
        datagrams.iter_mut().take(done).for_each(Datagram::clear);
        (0..done).for_each(|_| note_step(Step::Datagram));
        self.laid_out.start += done;
        self.laid_out.is_empty()
    }

    /// How urgent everything is that leaves from now on.
    pub(crate) fn set_traffic_class(&mut self, class: TrafficClass) {
        self.traffic_class = class;
        self.datagrams.iter_mut().for_each(|datagram| datagram.set_traffic_class(class));
    }

    /// Asks for another visit, to be called inside of the cell: whoever is inside serves it after letting others in, up to
    /// its budget, and the driver does the rest.
    pub(crate) fn come_back(&self) {
        if let Some(cell) = self.attached.as_ref().and_then(|attached| attached.cell.upgrade()) {
            cell.signal(Signals::own(1));
        }
    }

    /// Whether a participant lives on this host, as its system knows.
    pub(crate) fn presence(&self, prefix: GuidPrefix) -> Presence {
        self.network.presence(prefix)
    }

    /// How much room there is in the receive buffer that has the most, of those of this host that are named; `None`: the
    /// system does not tell.
    #[cold]
    pub(crate) fn room_at(&self, locators: &[Locator]) -> Option<usize> {
        locators.iter().take(BUFFERS_ASKED_FOR).filter_map(|locator| self.network.room_at(locator)).max()
    }

    /// Whether the socket has taken all that it was given.
    pub(crate) fn has_room(&self) -> bool {
        self.laid_out.is_empty()
    }

    /// Nothing waits for the socket, and no deadline is set.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.has_room() && !self.is_timed
    }

    /// Sets the moment of the next signal, or none.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.is_timed = deadline.is_some();
        if let Some(attached) = &self.attached {
            attached.timer.set(deadline);
        }
    }
}

/// Lets the transform change what has been laid out.
fn seal(transform: &Transform, scratch: &mut Vec<u8>, datagram: &mut Datagram) {
    if transform.seal(datagram.segments(), scratch) == Transformed::Replaced {
        datagram.replace(scratch);
        scratch.clear();
    }
}
