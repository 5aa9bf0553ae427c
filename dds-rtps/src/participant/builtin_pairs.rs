//! The builtin endpoints of all reliable topics.

use super::coalescer::Coalescer;
use super::config::ParticipantConfig;
use super::validation::{Validations, last_challenge};
use crate::discovery::{BuiltinPair, BuiltinPairTopic};
use crate::output::Datagram;
use crate::types::{GuidPrefix, HashSeed, Instant, Now};

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
        let coalescer = match config.security {
            Some(_) => Coalescer::of_protected(headroom),
            None => Coalescer::new(headroom),
        };
        let instances_max = config.limits.endpoints_max;
        let pairs = BuiltinPairTopic::ALL.map(|topic| {
            let mut pair = BuiltinPair::new(topic, prefix, instances_max, headroom, hash_seed);
            if topic.is_state() {
                pair.skip_numbers(last_challenge(topic));
            }
            pair
        });
        Self { pairs, coalescer }
    }

    pub(super) fn get(&self, topic: BuiltinPairTopic) -> &BuiltinPair {
        // By name instead of by index, so that no access can fail.
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

    pub(super) fn with_topics(&mut self) -> impl Iterator<Item = (BuiltinPairTopic, &mut BuiltinPair)> {
        BuiltinPairTopic::ALL.into_iter().zip(&mut self.pairs)
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.pairs.iter().filter_map(BuiltinPair::deadline).min()
    }

    /// Builds the next datagram, also of the protected pairs; returns false without one to send.
    pub(super) fn poll_transmit(
        &mut self,
        now: Now,
        config: &ParticipantConfig,
        (validations, protected): (&mut Validations, &mut [BuiltinPair]),
        datagram: &mut Datagram,
    ) -> bool {
        // All pairs share one coalescer: announcements of several topics for one peer fit into one datagram.
        let Self { pairs, coalescer } = self;
        coalescer.poll(&config.host_addresses, datagram, |next| {
            protected.iter_mut().any(|pair| pair.poll_transmit(now, next))
                || poll_admitted(now, config.prefix, pairs, validations, next)
        })
    }
}

/// Builds the next datagram that its destination may get.
fn poll_admitted(
    now: Now,
    own: GuidPrefix,
    pairs: &mut [BuiltinPair; 5],
    validations: &mut Validations,
    datagram: &mut Datagram,
) -> bool {
    // The challenge comes first: without its answer, the rest has to wait.
    let next_count = |topic: BuiltinPairTopic| {
        let pair = BuiltinPairTopic::ALL.into_iter().zip(pairs.iter_mut()).find(|(of, _)| *of == topic);
        pair.map_or(0, |(_, pair)| pair.next_heartbeat_count())
    };
    if validations.poll_transmit(now.instant, own, datagram, next_count) {
        return true;
    }
    for (topic, pair) in BuiltinPairTopic::ALL.into_iter().zip(pairs) {
        while pair.poll_transmit(now, datagram) {
            if validations.admit(topic, datagram) {
                return true;
            }
        }
    }
    datagram.clear();
    false
}
