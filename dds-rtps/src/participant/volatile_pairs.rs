//! The pairs of the topic ParticipantVolatileMessageSecure, which carries keys (DDS Security 1.1, 7.4.4.4).
//!
//! Each participant that has proved its identity has one of its own. A fleet has many of them, and most have nothing to
//! do. So only those are visited that were used, or whose deadline has passed.

use super::coalescer::Coalescer;
use super::config::ParticipantConfig;
use crate::discovery::{BuiltinPair, PairProfile};
use crate::output::Datagram;
use crate::types::{GuidPrefix, HashSeed, Instant, Now};
use crate::wire::Headroom;
use std::collections::{BTreeMap, BTreeSet};

/// The pairs of all participants, and the datagrams that they send.
#[derive(Debug)]
pub(super) struct VolatilePairs {
    pairs: BTreeMap<GuidPrefix, VolatilePair>,
    /// Pairs that were used since their last datagram. They may have something to send.
    used: BTreeSet<GuidPrefix>,
    /// The deadlines of the other pairs.
    deadlines: BTreeSet<(Instant, GuidPrefix)>,
    coalescer: Coalescer,
}

/// The pair of one participant: each message is for it alone.
#[derive(Debug)]
struct VolatilePair {
    pair: BuiltinPair,
    /// Its entry in [`VolatilePairs::deadlines`].
    deadline: Option<Instant>,
}

impl VolatilePairs {
    pub(super) fn new(headroom: Headroom) -> Self {
        Self {
            pairs: BTreeMap::new(),
            used: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            coalescer: Coalescer::of_protected(headroom),
        }
    }

    /// Creates the pair of a participant, in place of an earlier one.
    pub(super) fn create(
        &mut self,
        own: GuidPrefix,
        peer: GuidPrefix,
        headroom: Headroom,
        hash_seed: HashSeed,
    ) -> &mut BuiltinPair {
        self.remove(peer);
        self.used.insert(peer);
        let pair = BuiltinPair::new(PairProfile::of_keys(), own, 1, headroom, hash_seed);
        &mut self.pairs.entry(peer).or_insert(VolatilePair { pair, deadline: None }).pair
    }

    pub(super) fn contains(&self, peer: GuidPrefix) -> bool {
        self.pairs.contains_key(&peer)
    }

    /// Returns the pair of a participant, and visits it again.
    pub(super) fn get_mut(&mut self, peer: GuidPrefix) -> Option<&mut BuiltinPair> {
        let VolatilePair { pair, deadline } = self.pairs.get_mut(&peer)?;
        if let Some(deadline) = deadline.take() {
            self.deadlines.remove(&(deadline, peer));
        }
        self.used.insert(peer);
        // Each of these writers has one reader. All together they must not flood a busy host with HEARTBEATs.
        pair.set_owing_to_others((self.deadlines.len() + self.used.len()).saturating_sub(1));
        Some(pair)
    }

    pub(super) fn remove(&mut self, peer: GuidPrefix) {
        let removed = self.pairs.remove(&peer);
        if let Some(deadline) = removed.and_then(|removed| removed.deadline) {
            self.deadlines.remove(&(deadline, peer));
        }
        self.used.remove(&peer);
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let of_used = self.used.iter().filter_map(|peer| self.pairs.get(peer)?.pair.deadline());
        of_used.chain(self.deadlines.first().map(|(deadline, _)| *deadline)).min()
    }

    pub(super) fn handle_timeout(&mut self, now: Now) {
        let due = self.deadlines.iter().take_while(|(deadline, _)| *deadline <= now.instant);
        let due: Vec<GuidPrefix> = due.map(|(_, peer)| *peer).chain(self.used.iter().copied()).collect();
        for peer in due {
            if let Some(pair) = self.get_mut(peer) {
                pair.handle_timeout(now);
            }
        }
    }

    /// Builds the next datagram; returns false without one to send.
    pub(super) fn poll_transmit(&mut self, now: Now, config: &ParticipantConfig, datagram: &mut Datagram) -> bool {
        let Self { pairs, used, deadlines, coalescer } = self;
        coalescer.poll(&config.host_addresses, datagram, |next| {
            while let Some(&peer) = used.first() {
                if let Some(VolatilePair { pair, deadline }) = pairs.get_mut(&peer) {
                    if pair.poll_transmit(now, next) {
                        return true;
                    }
                    *deadline = pair.deadline();
                    deadlines.extend(deadline.map(|deadline| (deadline, peer)));
                }
                used.remove(&peer);
            }
            false
        })
    }
}
