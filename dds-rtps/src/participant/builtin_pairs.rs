//! The builtin endpoints of all reliable topics.

use super::coalescer::Coalescer;
use crate::discovery::{BuiltinPair, BuiltinTopic};
use crate::output::Datagram;
use crate::types::{GuidPrefix, Instant, Now};

/// A writer and a reader for each builtin topic, and the datagrams that they send together.
#[derive(Debug)]
pub(super) struct BuiltinPairs {
    /// In the order of [`BuiltinTopic::ALL`].
    pairs: [BuiltinPair; 5],
    coalescer: Coalescer,
}

impl BuiltinPairs {
    pub(super) fn new(prefix: GuidPrefix, instances_max: u32, seed: u64) -> Self {
        let pairs = BuiltinTopic::ALL.map(|topic| BuiltinPair::new(topic, prefix, instances_max, seed));
        Self { pairs, coalescer: Coalescer::default() }
    }

    pub(super) fn get(&self, topic: BuiltinTopic) -> &BuiltinPair {
        let [publications, subscriptions, messages, type_requests, type_replies] = &self.pairs;
        match topic {
            BuiltinTopic::Publications => publications,
            BuiltinTopic::Subscriptions => subscriptions,
            BuiltinTopic::Messages => messages,
            BuiltinTopic::TypeRequests => type_requests,
            BuiltinTopic::TypeReplies => type_replies,
        }
    }

    pub(super) fn get_mut(&mut self, topic: BuiltinTopic) -> &mut BuiltinPair {
        let [publications, subscriptions, messages, type_requests, type_replies] = &mut self.pairs;
        match topic {
            BuiltinTopic::Publications => publications,
            BuiltinTopic::Subscriptions => subscriptions,
            BuiltinTopic::Messages => messages,
            BuiltinTopic::TypeRequests => type_requests,
            BuiltinTopic::TypeReplies => type_replies,
        }
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut BuiltinPair> {
        self.pairs.iter_mut()
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.pairs.iter().filter_map(BuiltinPair::deadline).min()
    }

    /// Builds the next datagram; returns false without one to send.
    pub(super) fn poll_transmit(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        let Self { pairs, coalescer } = self;
        coalescer.poll(datagram, |next| pairs.iter_mut().any(|pair| pair.poll_transmit(now, next)))
    }
}
