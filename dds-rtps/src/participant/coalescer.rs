//! Merges messages to the same participant into one datagram.
//!
//! All builtin endpoints send to each participant, several times when two meet. Each datagram costs its sender a
//! system call and wakes a thread of its receiver. So a message is appended, without its header, to a waiting one with
//! the same locators. It must begin with its destination, or both are for all participants. No other state carries
//! over: a DATA of a builtin writer always has its own INFO_TIMESTAMP.

use crate::discovery::{HostAddress, stays_on_host};
use crate::output::Datagram;
use crate::wire::{Header, Headroom, Message, Submessage};
use std::collections::VecDeque;

/// Longest merged datagram: it fits into one Ethernet frame, so the loss of a frame costs little.
const MERGED_LEN_MAX: usize = 1400;

/// As [`MERGED_LEN_MAX`], for a destination on this host.
const MERGED_LEN_MAX_ON_HOST: usize = 8192;

/// Most destinations whose datagrams are filled at the same time. A burst of received datagrams has as many senders.
const OPEN_MAX: usize = 16;

/// Merges datagrams; it is some datagrams ahead of its caller.
#[derive(Debug)]
pub(super) struct Coalescer {
    /// Bytes that protection adds to each datagram.
    message_growth: usize,
    /// Bytes that protection adds to each submessage.
    submessage_growth: usize,
    /// Datagrams that are sent in this order. No two open ones have the same destinations.
    waiting: VecDeque<WaitingDatagram>,
    /// How many of the first ones are closed: nothing is appended to them.
    closed: usize,
    /// Memory for further datagrams.
    spare: Vec<Datagram>,
}

#[derive(Debug)]
struct WaitingDatagram {
    datagram: Datagram,
    /// Bytes that protection adds to it.
    growth: usize,
    /// Whether all of its messages are for all participants.
    is_for_all: bool,
}

impl Coalescer {
    /// Creates a coalescer that keeps `headroom` unused in each datagram.
    pub(super) fn new(headroom: Headroom) -> Self {
        Self::with_growth(usize::from(headroom.in_frame().bytes), 0)
    }

    /// Creates a coalescer for messages whose submessages are protected, beside the messages themselves.
    pub(super) fn of_protected(headroom: Headroom) -> Self {
        // The headroom is for a message with three submessages.
        let growth = usize::from(headroom.in_frame().bytes) / 4;
        Self::with_growth(growth, growth)
    }

    fn with_growth(message_growth: usize, submessage_growth: usize) -> Self {
        Self { message_growth, submessage_growth, waiting: VecDeque::new(), closed: 0, spare: Vec::new() }
    }

    /// Merges datagrams of `poll` to the same destinations, and moves the next one to `datagram`; returns false without
    /// any.
    pub(super) fn poll(
        &mut self,
        host: &[HostAddress],
        datagram: &mut Datagram,
        mut poll: impl FnMut(&mut Datagram) -> bool,
    ) -> bool {
        while self.closed == 0 {
            let mut next = self.spare.pop().unwrap_or_default();
            if !poll(&mut next) {
                self.spare.push(next);
                break;
            }
            self.add(host, next);
        }
        let Some(WaitingDatagram { datagram: mut first, .. }) = self.waiting.pop_front() else { return false };
        self.closed = self.closed.saturating_sub(1);
        // The caller's datagram keeps its class, and its memory is reused.
        let class = datagram.traffic_class();
        std::mem::swap(datagram, &mut first);
        datagram.set_traffic_class(class);
        first.clear();
        if self.spare.len() < OPEN_MAX {
            self.spare.push(first);
        }
        true
    }

    /// Appends a message to the open datagram with its destinations, or adds another datagram.
    fn add(&mut self, host: &[HostAddress], mut next: Datagram) {
        let MessageShape { names_destination, submessages } = MessageShape::of(next.head());
        let growth = submessages * self.submessage_growth;
        let known = self.open().position(|open| open.datagram.destinations() == next.destinations());
        if let Some(index) = known.map(|index| self.closed + index) {
            if let Some(open) = self.waiting.get_mut(index) {
                // A message without a destination would inherit that of the one before it (RTPS 2.5, 8.3.4).
                let keeps_destination = names_destination || open.is_for_all;
                let len_max =
                    if stays_on_host(host, next.destinations()) { MERGED_LEN_MAX_ON_HOST } else { MERGED_LEN_MAX };
                let total =
                    self.message_growth + open.datagram.len() + next.len() - Header::WIRE_LEN + open.growth + growth;
                // Both headers name the same source, because all builtin endpoints belong to this participant.
                // A submessage begins at a multiple of four (RTPS 2.5, 9.4.1).
                if keeps_destination && open.datagram.len() % 4 == 0 && total <= len_max {
                    open.datagram.append(&mut next, Header::WIRE_LEN);
                    open.growth += growth;
                    open.is_for_all &= !names_destination;
                    self.spare.push(next);
                    return;
                }
            }
            self.close(index);
        } else if !names_destination {
            // It may have receivers of the open ones, and comes behind them.
            self.closed = self.waiting.len();
        } else if self.open().count() >= OPEN_MAX {
            self.closed += 1;
        }
        self.waiting.push_back(WaitingDatagram { datagram: next, growth, is_for_all: !names_destination });
    }

    fn open(&self) -> impl Iterator<Item = &WaitingDatagram> {
        self.waiting.iter().skip(self.closed)
    }

    /// Closes an open datagram. It is sent before the other open ones.
    fn close(&mut self, index: usize) {
        if let Some(closed) = self.waiting.remove(index) {
            self.waiting.insert(self.closed, closed);
            self.closed += 1;
        }
    }
}

/// What the submessages of a message decide about its place.
struct MessageShape {
    /// Whether it begins with its destination.
    names_destination: bool,
    /// Number of submessages with content.
    submessages: usize,
}

impl MessageShape {
    fn of(head: &[u8]) -> Self {
        let mut shape = Self { names_destination: false, submessages: 0 };
        let Ok(message) = Message::parse(head) else { return shape };
        for (index, submessage) in message.submessages().enumerate() {
            match submessage {
                Ok(Submessage::InfoDestination(_)) => shape.names_destination |= index == 0,
                Ok(Submessage::InfoTimestamp(_)) => {}
                _ => shape.submessages += 1,
            }
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{GuidPrefix, Locator};
    use crate::wire::MessageBuilder;

    /// Builds a message of `len` bytes to a port of another host, with or without INFO_DESTINATION.
    fn lay_out(datagram: &mut Datagram, port: u16, names: bool, len: usize) {
        let mut builder = MessageBuilder::new(datagram.buffer());
        builder.header(GuidPrefix([1; 12]));
        if names {
            builder.info_dst(GuidPrefix([2; 12]));
        }
        // The last submessage may have any length (RTPS 2.5, 9.4.5.1.3).
        datagram.buffer().extend_from_slice(&[0x80, 1, 0, 0]);
        datagram.buffer().resize(len, 0);
        datagram.add_destination(Locator::udp_v4([192, 168, 1, 2].into(), port));
    }

    #[test]
    fn datagrams_that_stay_on_this_host_are_longer() {
        let own: std::net::IpAddr = [192, 168, 1, 2].into();
        let lengths = |host: &[HostAddress]| {
            let (mut coalescer, mut datagram, mut left) = (Coalescer::new(Headroom::default()), Datagram::new(), 9);
            let mut poll = |next: &mut Datagram| {
                next.clear();
                if left == 0 {
                    return false;
                }
                left -= 1;
                lay_out(next, 1, true, 1020);
                true
            };
            std::iter::from_fn(|| coalescer.poll(host, &mut datagram, &mut poll).then(|| datagram.len()))
                .collect::<Vec<_>>()
        };
        assert_eq!(lengths(&[HostAddress { address: own, prefix_len: 24 }]), [8 * 1000 + 20, 1020]);
        assert_eq!(lengths(&[HostAddress { address: [192, 168, 1, 3].into(), prefix_len: 24 }]), [1020; 9]);
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
        std::iter::from_fn(|| coalescer.poll(&[], &mut datagram, &mut poll).then(|| datagram.len())).collect()
    }

    #[test]
    fn messages_to_one_participant_are_merged() {
        assert_eq!(merged(&[(1, true, 100), (1, true, 60), (1, true, 40)]), [160]);
        assert_eq!(merged(&[(1, true, 1000), (1, true, 420)]), [1400]);
        assert_eq!(merged(&[(1, true, 1000), (1, true, 424), (1, true, 40)]), [1000, 444]);
        assert_eq!(merged(&[(1, true, 101), (1, true, 60)]), [101, 60]);
    }

    #[test]
    fn messages_to_several_participants_do_not_separate_each_other() {
        assert_eq!(merged(&[(1, true, 100), (2, true, 60), (1, true, 40), (2, true, 40)]), [120, 80]);
        // A full datagram goes first, so that the order of one participant's messages stays.
        assert_eq!(merged(&[(1, true, 100), (2, true, 1000), (2, true, 600), (1, true, 40)]), [1000, 120, 600]);
        // Only some of them are open at a time.
        let ports = (1..=OPEN_MAX as u16 + 1).chain([1]);
        let messages: Vec<_> = ports.map(|port| (port, true, 100)).collect();
        assert_eq!(merged(&messages), [100; OPEN_MAX + 2]);
        assert_eq!(merged(&[&messages[1..=OPEN_MAX], &[(2, true, 60)]].concat())[0], 140);
    }

    #[test]
    fn messages_for_all_participants_keep_their_place() {
        // One for all participants would be for one of them.
        assert_eq!(merged(&[(1, true, 100), (1, false, 60)]), [100, 60]);
        assert_eq!(merged(&[(1, false, 100), (1, false, 60), (1, true, 60), (1, false, 60)]), [180, 60]);
        // It has several receivers, so nothing overtakes it.
        assert_eq!(merged(&[(1, true, 100), (9, false, 60), (1, true, 40)]), [100, 60, 40]);
    }

    #[test]
    fn merged_datagrams_keep_headroom() {
        assert_eq!(merged_with_headroom(60, &[(1, true, 1000), (1, true, 360)]), [1340]);
        assert_eq!(merged_with_headroom(60, &[(1, true, 1000), (1, true, 364)]), [1000, 364]);
    }

    #[test]
    fn each_protected_submessage_keeps_headroom() {
        let merged = |messages: &[_]| {
            merged_by(Coalescer::of_protected(Headroom { bytes: 240, ..Headroom::default() }), messages)
        };
        // 60 bytes for the message and for each submessage.
        assert_eq!(merged(&[(1, true, 1000), (1, true, 240)]), [1220]);
        assert_eq!(merged(&[(1, true, 1000), (1, true, 244)]), [1000, 244]);
        assert_eq!(merged(&[(1, true, 1000), (1, true, 140), (1, true, 60)]), [1160]);
        assert_eq!(merged(&[(1, true, 1000), (1, true, 140), (1, true, 64)]), [1120, 64]);
    }
}
