//! Received requests that wait until the program takes them.
//!
//! Life cycle of a request: [`add`](HeldRequests::add), then [`take_ready`](HeldRequests::take_ready) or
//! [`expire`](HeldRequests::expire). Bounds: [`HELD_MAX`] requests without a way back. A server receives only if no
//! request is ready, so the samples of one `take` bound the requests with a way back.

use super::form::Peers;
use super::introspection::CallIdentity;
use super::message::RequestHeader;
use crate::graph::prefix_of;
use dds_core::Guid;
use dds_core::writer::SampleIdentity;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Requests that wait until the reader of their reply is connected.
pub(super) const HELD_MAX: usize = 1024;

/// How long such a request waits. Discovery of a reader that is there takes a fraction of it.
const HELD_FOR: Duration = Duration::from_secs(10);

pub(super) struct HeldRequests<Q> {
    /// In the order of arrival.
    held: VecDeque<Held<Q>>,
}

pub(super) struct Held<Q> {
    pub(super) since: Instant,
    pub(super) value: Q,
    pub(super) identity: Identity,
}

/// How the reply names its request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Identity {
    pub(super) sender: Guid,
    /// The reader of the reply, if the request names it.
    pub(super) reply_reader: Option<Guid>,
    pub(super) request: SampleIdentity,
    pub(super) header: Option<RequestHeader>,
}

impl Identity {
    /// The identity of the call in events.
    pub(super) fn of_call(&self) -> CallIdentity {
        match self.header {
            Some(header) => CallIdentity::of_header(header),
            None => CallIdentity::new(self.reply_reader.unwrap_or(self.request.writer), self.request.sequence_number),
        }
    }

    /// Whether the reader of the reply is connected.
    fn has_way_back(&self, peers: &Peers) -> bool {
        match self.reply_reader {
            Some(reader) => peers.has_back(reader),
            None => peers.has_back_to(prefix_of(self.sender)),
        }
    }
}

impl<Q> HeldRequests<Q> {
    pub(super) fn new() -> Self {
        Self { held: VecDeque::new() }
    }

    pub(super) fn add(&mut self, held: Held<Q>) {
        self.held.push_back(held);
    }

    /// Takes the oldest request whose reply can be sent, of any age.
    pub(super) fn take_ready(&mut self, peers: &Peers) -> Option<Held<Q>> {
        let index = self.held.iter().position(|held| held.identity.has_way_back(peers))?;
        self.held.remove(index)
    }

    /// Drops requests without a way back that are too old or too many, and returns their senders.
    pub(super) fn expire(&mut self, peers: &Peers, now: Instant) -> Vec<Guid> {
        let is_stuck = |held: &Held<Q>| !held.identity.has_way_back(peers);
        let mut excess = self.held.iter().filter(|held| is_stuck(held)).count().saturating_sub(HELD_MAX);
        let mut expired = Vec::new();
        self.held.retain(|held| {
            if !is_stuck(held) {
                return true;
            }
            let is_kept = excess == 0 && now.saturating_duration_since(held.since) < HELD_FOR;
            excess = excess.saturating_sub(1);
            if !is_kept {
                expired.push(held.identity.sender);
            }
            is_kept
        });
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_core::writer::SequenceNumber;

    fn guid(participant: u8) -> Guid {
        let mut bytes = [0; 16];
        bytes[0] = participant;
        bytes[15] = 7;
        Guid::from_bytes(bytes)
    }

    fn request(participant: u8, since: Instant) -> Held<u8> {
        let sender = guid(participant);
        let request = SampleIdentity { writer: sender, sequence_number: SequenceNumber::ZERO };
        Held { since, value: participant, identity: Identity { sender, reply_reader: None, request, header: None } }
    }

    #[test]
    fn request_with_a_way_back_is_kept_at_any_age() {
        let start = Instant::now();
        let mut requests = HeldRequests::new();
        requests.add(request(1, start));
        requests.add(request(2, start));
        let peers = Peers::with_back(vec![guid(2)]);
        assert_eq!(requests.expire(&peers, start), []);
        assert_eq!(requests.expire(&peers, start + 2 * HELD_FOR), [guid(1)]);
        assert_eq!(requests.take_ready(&peers).map(|held| held.value), Some(2));
        assert!(requests.take_ready(&peers).is_none());
    }

    #[test]
    fn requests_with_a_way_back_do_not_count_as_held() {
        let start = Instant::now();
        let mut requests = HeldRequests::new();
        for _ in 0..=HELD_MAX {
            requests.add(request(2, start));
        }
        let peers = Peers::with_back(vec![guid(2)]);
        assert_eq!(requests.expire(&peers, start), []);
        // The reader of the replies left, so the oldest request has no place.
        assert_eq!(requests.expire(&Peers::default(), start), [guid(2)]);
        assert_eq!(requests.held.len(), HELD_MAX);
    }
}
