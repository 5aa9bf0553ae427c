//! Counters of sent, received and ignored traffic of a participant.

use dds_rtps::transport::TransportCounters;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of sent, received and ignored traffic since a participant was created. They only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TrafficCounters {
    /// Datagrams that the system accepted, counted once per destination.
    pub sent: u64,
    /// Bytes of these datagrams, without UDP and IP headers.
    pub sent_bytes: u64,
    /// Sends that found the socket full. The datagrams went out later.
    pub send_blocked: u64,
    /// Destinations that the system refused, for one of the reasons below or another one. Reliable samples were
    /// repaired.
    pub send_failed: u64,
    /// Refused because there is no route, the interface is down, or the destination does not exist.
    pub send_unreachable: u64,
    /// Refused because UDP or a link cannot carry that many bytes.
    pub send_too_long: u64,
    /// Refused because a firewall or the system does not allow it.
    pub send_forbidden: u64,
    /// Destinations of a locator kind that this implementation does not support.
    pub send_unsupported: u64,
    /// Datagrams that were sent without the class that TRANSPORT_PRIORITY requests.
    ///
    /// Only on Linux and Android can a datagram carry the class.
    pub send_unmarked: u64,
    /// Datagrams that were sent through shared memory, counted once per destination. `sent` includes them.
    pub sent_shared: u64,
    /// Datagrams that were dropped because a participant of this host read shared memory too slowly. Reliable samples
    /// were repaired.
    pub shared_memory_full: u64,
    /// Attempts to share memory with a participant of this host that failed, so UDP carries the datagrams.
    /// [`MatchReport::not_shared`](crate::matching::MatchReport::not_shared) has the reason.
    pub shared_memory_refused: u64,
    /// Received datagrams.
    pub received: u64,
    /// Bytes of fragments that were received in place. All other fragments are copied.
    #[doc(hidden)]
    pub landed_bytes: u64,
    /// Datagrams that are not RTPS messages.
    pub not_rtps: u64,
    /// Datagrams with a wrong checksum, or without one although their sender uses checksums. Reliable samples were
    /// repaired.
    pub damaged: u64,
    /// Submessages and header extensions that break the rules of their kind.
    pub malformed: u64,
    /// Submessages of unknown kinds, which are skipped.
    pub skipped: u64,
    /// Submessages that peers protect by DDS Security, and for which this participant has no key.
    pub secure: u64,
    /// Datagrams that the protection of this participant refused: without a key, or forged. Copies do not count.
    pub rejected: u64,
    /// Datagrams that this participant sent itself and received by multicast.
    pub reflected: u64,
    /// Submessages for an endpoint that does not exist here, or from one that does not match.
    pub no_such_endpoint: u64,
    /// INFO_REPLY submessages that named no host of their sender. Answers went to the announced locators.
    pub replies_refused: u64,
    /// Datagrams dropped because the user-data sockets were full. 0 where the system does not report them; Linux does.
    ///
    /// Raise [`receive_buffer`](crate::DomainParticipantBuilder::receive_buffer) and the system's limit to avoid these
    /// drops.
    pub socket_full: u64,
    /// Submessages dropped because the inbox of an occupied endpoint was full. Reliable samples were repaired.
    pub inbox_full: u64,
}

/// The receiving half, counted by the receiving threads.
#[derive(Debug, Default)]
pub(crate) struct ReceiveCounters {
    pub(crate) received: AtomicU64,
    pub(crate) landed_bytes: AtomicU64,
    pub(crate) not_rtps: AtomicU64,
    pub(crate) damaged: AtomicU64,
    pub(crate) malformed: AtomicU64,
    pub(crate) skipped: AtomicU64,
    pub(crate) secure: AtomicU64,
    pub(crate) rejected: AtomicU64,
    pub(crate) reflected: AtomicU64,
    pub(crate) no_such_endpoint: AtomicU64,
    pub(crate) replies_refused: AtomicU64,
    pub(crate) inbox_full: AtomicU64,
}

/// Increments a counter.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl ReceiveCounters {
    /// Combines both halves.
    pub(crate) fn with(&self, sent: TransportCounters) -> TrafficCounters {
        TrafficCounters {
            sent: sent.sent,
            sent_bytes: sent.sent_bytes,
            send_blocked: sent.blocked,
            send_failed: sent.failed,
            send_unreachable: sent.unreachable,
            send_too_long: sent.too_long,
            send_forbidden: sent.forbidden,
            send_unsupported: sent.unsupported,
            send_unmarked: sent.unmarked,
            sent_shared: sent.shared,
            shared_memory_full: sent.shared_full,
            shared_memory_refused: sent.shared_refused,
            received: read(&self.received),
            landed_bytes: read(&self.landed_bytes),
            not_rtps: read(&self.not_rtps),
            damaged: read(&self.damaged),
            malformed: read(&self.malformed),
            skipped: read(&self.skipped),
            secure: read(&self.secure),
            rejected: read(&self.rejected),
            reflected: read(&self.reflected),
            no_such_endpoint: read(&self.no_such_endpoint),
            replies_refused: read(&self.replies_refused),
            // The caller reads it from the system.
            socket_full: 0,
            inbox_full: read(&self.inbox_full),
        }
    }
}
