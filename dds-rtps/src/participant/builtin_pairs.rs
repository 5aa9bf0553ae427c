//! The builtin endpoints of all reliable topics.

use super::coalescer::Coalescer;
use super::config::ParticipantConfig;
use crate::discovery::{BuiltinPair, BuiltinPairTopic};
use crate::output::Datagram;
use crate::types::{HashSeed, Instant, Now};

/// A writer and a reader for each builtin topic, and the datagrams that they send together.
#[derive(Debug)]
pub(super) struct BuiltinPairs {
    /// In the order of [`BuiltinPairTopic::ALL`].
    pairs: [BuiltinPair; 5],
    coalescer: Coalescer,
}

impl BuiltinPairs {
    pub(super) fn new(config: &ParticipantConfig, hash_seed: HashSeed) -> Self {
        let ParticipantConfig { prefix, headroom, .. } = *config;
        let instances_max = config.limits.endpoints_max;
        let pairs =
            BuiltinPairTopic::ALL.map(|topic| BuiltinPair::new(topic, prefix, instances_max, headroom, hash_seed));
        Self { pairs, coalescer: Coalescer::new(headroom) }
    }

    pub(super) fn get(&self, topic: BuiltinPairTopic) -> &BuiltinPair {
        let [publications, subscriptions, messages, type_requests, type_replies] = &self.pairs;
        match topic {
            BuiltinPairTopic::Publications => publications,
            BuiltinPairTopic::Subscriptions => subscriptions,
            BuiltinPairTopic::Messages => messages,
            BuiltinPairTopic::TypeRequests => type_requests,
            BuiltinPairTopic::TypeReplies => type_replies,
        }
    }

    pub(super) fn get_mut(&mut self, topic: BuiltinPairTopic) -> &mut BuiltinPair {
        let [publications, subscriptions, messages, type_requests, type_replies] = &mut self.pairs;
        match topic {
            BuiltinPairTopic::Publications => publications,
            BuiltinPairTopic::Subscriptions => subscriptions,
            BuiltinPairTopic::Messages => messages,
            BuiltinPairTopic::TypeRequests => type_requests,
            BuiltinPairTopic::TypeReplies => type_replies,
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
        // All pairs share one coalescer: announcements of several topics for one peer fit into one datagram.
        let Self { pairs, coalescer } = self;
        coalescer.poll(datagram, |next| pairs.iter_mut().any(|pair| pair.poll_transmit(now, next)))
    }
}
