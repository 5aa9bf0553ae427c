//! Sends through shared memory to the peers that have a path, and by the inner transport to all others.

use super::content::staged_in_place;
use super::room::MemoryPath;
use super::{LONG_MESSAGE_MAX, Sharing, UDP_MAX};
use crate::sync::{Arc, Ordering};
use dds_rtps::output::Datagram;
use dds_rtps::transport::{SendOutcome, Transport, TransportCounters};
use dds_rtps::types::Locator;
use dds_rtps::wire::LongMessage;
use dds_shm::{Exhausted, SendFailure};
use smallvec::SmallVec;
use std::io::IoSlice;

/// Messages up to this length need no block of the pool.
const UNSTAGED_MAX: usize = 2 << 10;

/// Shared memory in front of another transport.
#[derive(Debug)]
pub(super) struct SharingTransport {
    inner: Arc<dyn Transport>,
    sharing: Arc<Sharing>,
}

/// Destinations with a path.
type SharedRoutes = SmallVec<[(Locator, Arc<MemoryPath>); 4]>;

/// Whether a datagram needs no other transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Served {
    /// It was sent, or the peer had no room and the datagram is counted as dropped.
    Done,
    /// The peer has no room, and the datagram waits for it.
    Waits,
    /// The path cannot take it. The inner transport can.
    NotHere,
}

impl SharingTransport {
    pub(super) fn new(inner: Arc<dyn Transport>, sharing: Arc<Sharing>) -> Self {
        Self { inner, sharing }
    }

    /// Serves the destinations that have a path. Returns `Blocked` if the datagram waits for its only destination.
    fn serve(&self, datagram: &mut Datagram) -> SendOutcome {
        // The rings belong to the parent of a forked child. UDP of the child has its own check.
        if self.sharing.process.is_left() {
            return SendOutcome::Done;
        }
        let routes = self.routes(datagram.remaining_destinations());
        if routes.is_empty() {
            return SendOutcome::Done;
        }
        // A slow peer does not delay the samples of the others.
        let is_only = datagram.remaining_destinations().len() == 1;
        let len = datagram.len();
        let in_place = if len > UNSTAGED_MAX { staged_in_place(datagram) } else { None };
        // A copy of a longer message would take as long as its fragments.
        if in_place.is_none() && len > LONG_MESSAGE_MAX {
            return SendOutcome::Done;
        }
        let segments: SmallVec<[IoSlice<'_>; 16]> = datagram.segments().map(IoSlice::new).collect();
        let mut served: SmallVec<[Locator; 4]> = SmallVec::new();
        // Otherwise one copy serves all peers.
        let must_stage = in_place.is_none() && len > UNSTAGED_MAX && routes.len() > 1;
        let staged = if must_stage { self.sharing.stage(&segments) } else { in_place };
        for (locator, path) in &routes {
            let sent = match &staged {
                Some(message) => path.shm.send_staged(message),
                None => path.shm.send(&segments),
            };
            match self.note(sent, len, is_only.then_some(path)) {
                Served::Done => served.push(*locator),
                Served::Waits => return SendOutcome::Blocked,
                Served::NotHere => {}
            }
        }
        // They borrow from the datagram.
        drop(segments);
        datagram.retain_destinations(|destination| !served.contains(destination));
        SendOutcome::Done
    }

    fn routes(&self, destinations: &[Locator]) -> SharedRoutes {
        let mut routes = SharedRoutes::new();
        for destination in destinations {
            if let Some(path) = self.sharing.route(destination) {
                routes.push((*destination, path));
            }
        }
        routes
    }

    /// `only`: the path, if the datagram has no other destination.
    fn note(&self, sent: Result<(), SendFailure>, len: usize, only: Option<&Arc<MemoryPath>>) -> Served {
        let counters = &self.sharing.counters;
        match sent {
            Ok(()) => {
                counters.sent.fetch_add(1, Ordering::Relaxed);
                counters.sent_bytes.fetch_add(len as u64, Ordering::Relaxed);
                Served::Done
            }
            // UDP instead would change the order, and the peer is slow there as well.
            Err(SendFailure::Full(Exhausted::Ring | Exhausted::HeldByPeer))
                if only.is_some_and(|path| path.may_wait()) =>
            {
                self.sharing.room.want();
                Served::Waits
            }
            // As a full receive buffer of UDP: the protocol repairs reliable samples.
            Err(SendFailure::Full(Exhausted::Ring | Exhausted::HeldByPeer)) => {
                counters.full.fetch_add(1, Ordering::Relaxed);
                Served::Done
            }
            // Other peers hold the pool, or the system has no memory. Fragments by UDP would go on without an end. The
            // protocol repairs a reliable sample.
            Err(SendFailure::Full(_)) if len > UDP_MAX => {
                counters.full.fetch_add(1, Ordering::Relaxed);
                Served::Done
            }
            Err(_) => Served::NotHere,
        }
    }

    /// Sends a datagram to the destinations without a path.
    fn send_beside(&self, datagram: &mut Datagram) -> SendOutcome {
        if datagram.remaining_destinations().is_empty() {
            return SendOutcome::Done;
        }
        if datagram.len() > UDP_MAX {
            return self.send_fragments(datagram);
        }
        self.inner.send(datagram)
    }

    /// Sends a long message in fragments, because a path has ended since the writer asked for it.
    ///
    /// If the socket becomes full, the next attempt begins with the first fragment. Readers ignore repeated ones.
    #[cold]
    fn send_fragments(&self, datagram: &mut Datagram) -> SendOutcome {
        let mut bytes = Vec::with_capacity(datagram.len());
        datagram.copy_to(&mut bytes);
        // UDP refuses and counts any other message.
        let Some(message) = LongMessage::parse(&bytes) else { return self.inner.send(datagram) };
        let mut fragment = Datagram::new();
        fragment.set_traffic_class(datagram.traffic_class());
        for number in 1..=message.fragment_count() {
            fragment.clear();
            message.put_fragment(number, fragment.buffer());
            fragment.set_destinations(datagram.remaining_destinations());
            let outcome = self.inner.send(&mut fragment);
            if outcome != SendOutcome::Done {
                return outcome;
            }
        }
        datagram.retain_destinations(|_| false);
        SendOutcome::Done
    }
}

impl Transport for SharingTransport {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        if self.sharing.has_routes.load(Ordering::Relaxed) && self.serve(datagram) == SendOutcome::Blocked {
            return SendOutcome::Blocked;
        }
        self.send_beside(datagram)
    }

    fn send_all(&self, datagrams: &mut [Datagram]) -> usize {
        let mut ready = datagrams;
        if self.sharing.has_routes.load(Ordering::Relaxed) {
            let blocked = ready.iter_mut().position(|datagram| self.serve(datagram) == SendOutcome::Blocked);
            ready = match blocked {
                Some(index) => ready.split_at_mut(index).0,
                None => ready,
            };
            if ready.iter().all(|datagram| datagram.remaining_destinations().is_empty()) {
                return ready.len();
            }
        }
        // A long message is the last one of a run.
        match ready.split_last_mut() {
            Some((last, others)) if last.len() > UDP_MAX => {
                let sent = if others.is_empty() { 0 } else { self.inner.send_all(others) };
                let is_done = sent == others.len() && self.send_beside(last) == SendOutcome::Done;
                sent + usize::from(is_done)
            }
            _ => self.inner.send_all(ready),
        }
    }

    fn counters(&self) -> TransportCounters {
        let mut counters = self.inner.counters();
        let own = &self.sharing.counters;
        counters.shared += own.sent.load(Ordering::Relaxed);
        counters.shared_full += own.full.load(Ordering::Relaxed);
        counters.shared_refused += own.refused.load(Ordering::Relaxed);
        counters.sent += own.sent.load(Ordering::Relaxed);
        counters.sent_bytes += own.sent_bytes.load(Ordering::Relaxed);
        counters
    }
}
