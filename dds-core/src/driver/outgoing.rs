//! The sending side of an actor: the sockets, a few reusable datagrams, and a timer.

use crate::actor::{HeldStep, Poke, Signals, note_step};
use crate::driver::{Driver, Network, Presence, Timer};
use dds_rtps::concurrent::BorrowedMut;
use dds_rtps::output::Datagram;
use dds_rtps::transport::SendOutcome;
use dds_rtps::types::{GuidPrefix, Instant, Locator, TrafficClass};
use dds_rtps::wire::{Transform, Transformed};
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, Weak};

/// Most datagrams that one visit of a cell sends. The rest goes in another visit, because a longer hold would block
/// other visitors.
///
/// A long message counts as the full datagrams that its length would fill.
const DATAGRAMS_PER_VISIT: usize = 8;

/// Length of a full datagram, in bytes.
const FULL_DATAGRAM: usize = 64 << 10;

/// Lengths of likely fragments.
///
/// More fragments usually follow, so the datagrams of one visit go to the system together. Shorter datagrams go at
/// once, and longer ones do not fit together.
const RUN_LENS: RangeInclusive<usize> = 1024..=16 << 10;

/// Number of receive buffers that are queried. Each one costs one or two system calls.
///
/// The buffer with the most free space sets the rate at which more is sent. Of this many buffers some will be empty.
const BUFFERS_ASKED_FOR: usize = 8;

/// Result of [`Outgoing::flush`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flushed {
    /// Everything is sent. Or the rest follows as soon as the socket, or the memory of a peer, has room again.
    Done,
    /// This visit has sent its share, and there is more.
    More,
    /// The rest of a large sample waits for answers of the readers, or for the clock.
    Paced,
    /// Nothing was sent, because the sockets belong to the parent of this process.
    Forked,
}

/// The sending side of an actor.
pub(crate) struct Outgoing {
    driver: Arc<dyn Driver>,
    network: Arc<dyn Network>,
    /// Reusable datagrams, empty between flushes. Created on demand; most actors need one.
    datagrams: Vec<Datagram>,
    /// Datagrams with content that are not sent yet, because the socket was full.
    laid_out: Range<usize>,
    /// May change a message between its layout and the socket.
    transform: Transform,
    scratch: Vec<u8>,
    /// Traffic class of all datagrams from now on.
    traffic_class: TrafficClass,
    /// A deadline is set.
    is_timed: bool,
    attached: Option<AttachedCell>,
}

/// State that exists once the actor is in its cell.
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

    /// Tells the actor its cell. Before that it has no timer.
    pub(crate) fn attach(&mut self, cell: Weak<dyn Poke>) {
        let timer = Timer::new(self.driver.timers(), Weak::clone(&cell));
        self.attached = Some(AttachedCell { cell, timer });
    }

    /// Sends datagrams that a full socket left behind, then those that `lay_out` fills, until it returns false.
    ///
    /// Never blocks. Datagrams that a full socket refuses stay, and the driver signals when the socket is writable.
    pub(crate) fn flush(&mut self, mut lay_out: impl FnMut(&mut Datagram) -> bool) -> Flushed {
        // A forked child must not send on the parent's sockets.
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
            left = left.saturating_sub(self.laid_out_share());
            if !self.send_laid_out() {
                // The rest stays in `datagrams`; the next visit starts with it.
                if let Some(attached) = &self.attached {
                    self.network.when_writable(Weak::clone(&attached.cell));
                }
                return Flushed::Done;
            }
        }
        if has_more { Flushed::More } else { Flushed::Done }
    }

    /// Fills one datagram, or up to `most` if they are likely fragments. Returns false if there was nothing more.
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
            // Sealed once, here: a datagram that a full socket refuses goes out with the same bytes.
            seal(&self.transform, &mut self.scratch, datagram);
            self.laid_out.end += 1;
            // Any other length ends the run, because the system sends only datagrams of similar length in one call.
            if !RUN_LENS.contains(&datagram.len()) {
                break;
            }
        }
        true
    }

    /// Returns the share of the filled datagrams in [`DATAGRAMS_PER_VISIT`].
    fn laid_out_share(&self) -> usize {
        let laid_out = self.datagrams.get(self.laid_out.clone()).unwrap_or_default();
        laid_out.iter().map(|datagram| datagram.len().div_ceil(FULL_DATAGRAM).max(1)).sum()
    }

    /// Sends the filled datagrams. Returns false if the socket is full.
    fn send_laid_out(&mut self) -> bool {
        let Some(datagrams) = self.datagrams.get_mut(self.laid_out.clone()) else { return true };
        let done = match &mut *datagrams {
            [only] => usize::from(self.network.transport().send(only) == SendOutcome::Done),
            several => self.network.transport().send_all(several),
        };
        // Only sent datagrams are cleared, so that the rest goes out unchanged.
        datagrams.iter_mut().take(done).for_each(Datagram::clear);
        for _ in 0..done {
            note_step(HeldStep::Datagram);
        }
        self.laid_out.start += done;
        self.laid_out.is_empty()
    }

    /// Sets the traffic class of all datagrams from now on.
    pub(crate) fn set_traffic_class(&mut self, class: TrafficClass) {
        self.traffic_class = class;
        for datagram in &mut self.datagrams {
            datagram.set_traffic_class(class);
        }
    }

    /// Requests another visit of this cell. Must be called inside it.
    ///
    /// The present visitor serves the request after it has let other visitors in, up to its budget. The driver serves
    /// the rest.
    pub(crate) fn come_back(&self) {
        let Some(attached) = &self.attached else { return };
        if let Some(cell) = attached.cell.upgrade() {
            cell.signal(Signals::own(1));
        }
    }

    /// Whether a participant lives on this host, as far as its system knows.
    pub(crate) fn presence(&self, prefix: GuidPrefix) -> Presence {
        self.network.presence(prefix)
    }

    /// Returns the free bytes of the emptiest receive buffer of this host among `locators`.
    ///
    /// `None` if the system does not report it.
    #[cold]
    pub(crate) fn room_at(&self, locators: &[Locator]) -> Option<usize> {
        let mut most = None;
        for locator in locators.iter().take(BUFFERS_ASKED_FOR) {
            // `None` is less than any number of bytes.
            most = most.max(self.network.room_at(locator));
        }
        most
    }

    /// Longest message that reaches all `locators`, if it is longer than those of UDP. Otherwise zero.
    ///
    /// Also zero with a transform, because a transform copies each message and may make it longer.
    pub(crate) fn long_message_max(&self, locators: &[Locator]) -> usize {
        match self.transform {
            Transform::Identity => self.network.long_message_max(locators),
            _ => 0,
        }
    }

    /// As [`Network::lend`]. `None` with a transform, because a transform copies each message.
    pub(crate) fn lend(&self, locators: &[Locator], len: usize) -> Option<BorrowedMut> {
        match self.transform {
            Transform::Identity => self.network.lend(locators, len),
            _ => None,
        }
    }

    /// Whether no datagram waits for the socket and no deadline is set.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.laid_out.is_empty() && !self.is_timed
    }

    /// Sets the instant of the next signal. `None` clears it.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.is_timed = deadline.is_some();
        if let Some(attached) = &self.attached {
            attached.timer.set(deadline);
        }
    }
}

/// Lets the transform change a filled datagram.
fn seal(transform: &Transform, scratch: &mut Vec<u8>, datagram: &mut Datagram) {
    if transform.seal(datagram.segments(), scratch) == Transformed::Replaced {
        datagram.replace(scratch);
        scratch.clear();
        // The transform has refused it. Without destinations it goes nowhere.
        if datagram.is_empty() {
            datagram.clear();
        }
    }
}

#[cfg(all(test, feature = "udp", not(dds_loom)))]
mod tests {
    use super::*;
    use crate::driver::os::OsDriver;
    use crate::driver::{NetworkConfig, Reach};

    /// Without destinations, the datagrams reach no socket.
    #[test]
    fn long_message_uses_up_the_share_of_a_visit() {
        let driver = OsDriver::new().unwrap();
        let config = NetworkConfig { domain_id: 217, reach: Reach::Host, ..NetworkConfig::default() };
        let network = driver.open_network(&config).unwrap();
        let mut outgoing = Outgoing::new(driver, network, Transform::Identity);
        for (len, per_visit) in [(100, 8), (60_000, 8), (FULL_DATAGRAM + 1, 4), (1 << 20, 1)] {
            let mut count = 0;
            let flushed = outgoing.flush(|datagram| {
                count += 1;
                datagram.buffer().resize(len, 0);
                count <= 20
            });
            assert_eq!((count, flushed), (per_visit, Flushed::More), "{len} bytes");
        }
    }
}
