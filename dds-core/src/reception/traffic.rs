//! What a participant has sent, received, and left aside.

use dds_rtps::transport::TransportCounters;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a participant has sent, received, and left aside since it was made. Every number only grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TrafficCounters {
    /// Datagrams that the system has taken; one for each destination.
    pub sent: u64,
    /// Their bytes, without UDP and IP headers.
    pub sent_bytes: u64,
    /// How often a socket had no room; the datagram went out later.
    pub send_blocked: u64,
    /// Destinations that the system refused, for one of the reasons below or another one; what is reliable was repaired.
    pub send_failed: u64,
    /// … because no route leads there, the interface is down, or nobody is there.
    pub send_unreachable: u64,
    /// … because UDP, or a link, cannot carry so many bytes.
    pub send_too_long: u64,
    /// … because a firewall, or the system, does not allow it.
    pub send_forbidden: u64,
    /// Destinations of a kind that is not spoken here.
    pub send_unsupported: u64,
    /// Of those sent, how many went without the class that TRANSPORT_PRIORITY asks for: only on Linux and Android can a datagram
    /// say it.
    pub send_unmarked: u64,
    /// Datagrams that came in.
    pub received: u64,
    /// Bytes of fragments that the system has put into their place in the sample. All others are copied there.
    #[doc(hidden)]
    pub landed_bytes: u64,
    /// Datagrams that are no RTPS message.
    pub not_rtps: u64,
    /// Datagrams that do not have the checksum that they say they have, or none although those of their sender have one; what is
    /// reliable was repaired.
    pub damaged: u64,
    /// Submessages, and header extensions, that break the rules of their kind.
    pub malformed: u64,
    /// Submessages of a kind that is skipped.
    pub skipped: u64,
    /// Submessages of DDS Security, which this build does not have.
    pub secure: u64,
    /// Datagrams that this participant sent itself, back by multicast.
    pub reflected: u64,
    /// Submessages for an endpoint that does not exist here, or of one that does not match.
    pub no_such_endpoint: u64,
    /// INFO_REPLYs that named no host of their sender: it was answered where it has announced.
    pub replies_refused: u64,
    /// Datagrams that the sockets for user data had no room for: raise
    /// [`receive_buffer`](crate::DomainParticipantBuilder::receive_buffer) and the system's limit. 0 where the system does not
    /// tell; Linux does.
    pub socket_full: u64,
    /// Submessages that an occupied endpoint had no room for; reliable ones were repaired.
    pub inbox_full: u64,
}

/// The receiving half, as the receiving threads count it.
#[derive(Debug, Default)]
pub(crate) struct ReceiveCounters {
    pub(crate) received: AtomicU64,
    pub(crate) landed_bytes: AtomicU64,
    pub(crate) not_rtps: AtomicU64,
    pub(crate) damaged: AtomicU64,
    pub(crate) malformed: AtomicU64,
    pub(crate) skipped: AtomicU64,
    pub(crate) secure: AtomicU64,
    pub(crate) reflected: AtomicU64,
    pub(crate) no_such_endpoint: AtomicU64,
    pub(crate) replies_refused: AtomicU64,
    pub(crate) inbox_full: AtomicU64,
}

/// One more.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl ReceiveCounters {
    /// Both halves together.
    pub(crate) fn with(&self, sent: TransportCounters) -> TrafficCounters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
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
            received: read(&self.received),
            landed_bytes: read(&self.landed_bytes),
            not_rtps: read(&self.not_rtps),
            damaged: read(&self.damaged),
            malformed: read(&self.malformed),
            skipped: read(&self.skipped),
            secure: read(&self.secure),
            reflected: read(&self.reflected),
            no_such_endpoint: read(&self.no_such_endpoint),
            replies_refused: read(&self.replies_refused),
            socket_full: 0,
            inbox_full: read(&self.inbox_full),
        }
    }
}
