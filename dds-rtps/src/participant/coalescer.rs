//! Merges messages to the same participant into one datagram.
//!
//! All builtin endpoints send to each participant, several times when two meet. Each datagram costs its sender a
//! system call and wakes a thread of its receiver. So a message is appended, without its header, to the one before it
//! with the same locators. It must begin with its destination, or both are for all participants. No other state
//! carries over: a DATA of a builtin writer always has its own INFO_TIMESTAMP.

use crate::output::Datagram;
use crate::wire::{Header, Headroom, Message, Submessage};

/// Longest merged datagram: it fits into one Ethernet frame, so the loss of a frame costs little.
const MERGED_LEN_MAX: usize = 1400;

/// Merges datagrams; it is one datagram ahead of its caller.
#[derive(Debug)]
pub(super) struct Coalescer {
    /// Longest merged datagram.
    len_max: usize,
    /// Bytes that protection adds to each of the merged messages.
    growth: usize,
    /// The next datagram, if `has_next`.
    next: Datagram,
    has_next: bool,
}

impl Coalescer {
    /// Creates a coalescer that keeps `headroom` unused in each datagram.
    pub(super) fn new(headroom: Headroom) -> Self {
        let len_max = MERGED_LEN_MAX.saturating_sub(usize::from(headroom.in_frame().bytes));
        Self { len_max, growth: 0, next: Datagram::new(), has_next: false }
    }

    /// Creates a coalescer for messages whose submessages are protected: each one needs the `headroom`.
    pub(super) fn of_protected(headroom: Headroom) -> Self {
        let growth = usize::from(headroom.in_frame().bytes);
        Self { len_max: MERGED_LEN_MAX, growth, next: Datagram::new(), has_next: false }
    }

    /// Merges as many datagrams of `poll` as possible into one; returns false without any.
    pub(super) fn poll(&mut self, datagram: &mut Datagram, mut poll: impl FnMut(&mut Datagram) -> bool) -> bool {
        if self.has_next {
            self.has_next = false;
            // The caller's datagram keeps its class, and its memory is reused.
            let class = datagram.traffic_class();
            std::mem::swap(datagram, &mut self.next);
            datagram.set_traffic_class(class);
        } else if !poll(datagram) {
            return false;
        }
        let mut len_max = self.len_max.saturating_sub(self.growth);
        let mut is_for_all = !names_destination(datagram.head());
        while poll(&mut self.next) {
            len_max = len_max.saturating_sub(self.growth);
            let names = names_destination(self.next.head());
            // A message without a destination would inherit that of the one before it (RTPS 2.5, 8.3.4).
            if !(names || is_for_all) || !can_merge(datagram, &self.next, len_max) {
                self.has_next = true;
                break;
            }
            is_for_all &= !names;
            datagram.append(&mut self.next, Header::WIRE_LEN);
        }
        true
    }
}

fn can_merge(first: &Datagram, next: &Datagram, len_max: usize) -> bool {
    // Both headers name the same source, because all builtin endpoints belong to this participant.
    // A submessage begins at a multiple of four (RTPS 2.5, 9.4.1).
    first.len() % 4 == 0
        && first.len() + next.len() - Header::WIRE_LEN <= len_max
        && first.destinations() == next.destinations()
}

/// Whether a message begins with its destination.
fn names_destination(head: &[u8]) -> bool {
    let Ok(message) = Message::parse(head) else { return false };
    matches!(message.submessages().next(), Some(Ok(Submessage::InfoDestination(_))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{GuidPrefix, Locator};
    use crate::wire::MessageBuilder;

    /// Builds a message of `len` bytes to a port, with or without INFO_DESTINATION.
    fn lay_out(datagram: &mut Datagram, port: u16, names: bool, len: usize) {
        let mut builder = MessageBuilder::new(datagram.buffer());
        builder.header(GuidPrefix([1; 12]));
        if names {
            builder.info_dst(GuidPrefix([2; 12]));
        }
        datagram.buffer().resize(len, 0);
        datagram.add_destination(Locator::udp_v4([127, 0, 0, 1].into(), port));
    }

    /// Returns the lengths of the datagrams that result from these messages.
    fn merged(messages: &[(u16, bool, usize)]) -> Vec<usize> {
        merged_with_headroom(0, messages)
    }

    fn merged_with_headroom(headroom: u16, messages: &[(u16, bool, usize)]) -> Vec<usize> {
        merged_by(Coalescer::new(Headroom { bytes: headroom, ..Headroom::default() }), messages)
    }

    fn merged_by(mut coalescer: Coalescer, messages: &[(u16, bool, usize)]) -> Vec<usize> {
        let (mut datagram, mut messages) = (Datagram::new(), messages.iter());
        let mut poll = |next: &mut Datagram| {
            next.clear();
            messages.next().is_some_and(|&(port, names, len)| {
                lay_out(next, port, names, len);
                true
            })
        };
        std::iter::from_fn(|| coalescer.poll(&mut datagram, &mut poll).then(|| datagram.len())).collect()
    }

    #[test]
    fn messages_to_one_participant_are_merged() {
        assert_eq!(merged(&[(1, true, 100), (1, true, 60), (1, true, 40)]), [160]);
        // Another destination, and back.
        assert_eq!(merged(&[(1, true, 100), (2, true, 60), (1, true, 40)]), [100, 60, 40]);
        // A message for all participants would be for one of them.
        assert_eq!(merged(&[(1, true, 100), (1, false, 60)]), [100, 60]);
        assert_eq!(merged(&[(1, false, 100), (1, false, 60), (1, true, 60), (1, false, 60)]), [180, 60]);
        assert_eq!(merged(&[(1, true, 1000), (1, true, 420)]), [1400]);
        assert_eq!(merged(&[(1, true, 1000), (1, true, 424), (1, true, 40)]), [1000, 444]);
        assert_eq!(merged(&[(1, true, 101), (1, true, 60)]), [101, 60]);
    }

    #[test]
    fn merged_datagrams_keep_headroom() {
        assert_eq!(merged_with_headroom(60, &[(1, true, 1000), (1, true, 360)]), [1340]);
        assert_eq!(merged_with_headroom(60, &[(1, true, 1000), (1, true, 364)]), [1000, 364]);
    }

    #[test]
    fn each_protected_message_keeps_headroom() {
        let merged = |messages: &[_]| {
            merged_by(Coalescer::of_protected(Headroom { bytes: 60, ..Headroom::default() }), messages)
        };
        assert_eq!(merged(&[(1, true, 1000), (1, true, 300)]), [1280]);
        assert_eq!(merged(&[(1, true, 1000), (1, true, 304)]), [1000, 304]);
        assert_eq!(merged(&[(1, true, 1000), (1, true, 200), (1, true, 64)]), [1180, 64]);
        assert_eq!(merged(&[(1, true, 1000), (1, true, 200), (1, true, 40), (1, true, 40)]), [1200, 40]);
    }
}
