//! Validates the addresses that peers announce, before much is sent there (as RFC 9000, 8.1, does for QUIC).
//!
//! A datagram does not prove its sender: a forged announcement may name the address of a victim. So a new address gets
//! a challenge: a HEARTBEAT without changes, whose first sequence number is secret. A reliable reader answers with an
//! ACKNACK from that number on (RTPS 2.5, 8.4.12.2), and only the receiver of the challenge knows the number. Until
//! then the address gets at most [`challenge::ALLOWANCE`] times the bytes that were received in the name of its
//! participant.
//!
//! An announcement may name the locators of victims beside that of its sender. So each locator gets another number, and
//! the first right answer makes only its own locator valid.
//!
//! A reader never returns to lower numbers. So the challenges to new peers use numbers below those of real changes. A
//! peer that was lost and kept its state is beyond these. Its challenge uses numbers above those of all real changes,
//! and the next change comes after them.

mod challenge;

use self::challenge::Challenge;
use crate::discovery::data::ParticipantData;
use crate::discovery::{BuiltinEndpoints, BuiltinPairTopic, Route};
use crate::output::Datagram;
use crate::types::{GuidPrefix, HashSeed, Instant, Locator, SequenceNumber, earliest};
use crate::wire::{AckNack, Message, Submessage};
use std::collections::BTreeMap;

pub(super) use self::challenge::{challenged_endpoints, last_challenge, topic_of_challenge};

/// Why a peer is challenged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChallengeReason {
    /// Its address is not valid yet.
    Address,
    /// It announces another address. The valid one stays in use until the other one has answered.
    Move,
    /// A claim about it waits. Its valid address is challenged.
    Claim,
    /// Its valid address has fallen silent. All its locators are challenged.
    Path,
}

/// A set of topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Topics(u8);

impl Topics {
    pub(super) fn insert(&mut self, topic: BuiltinPairTopic) {
        self.0 |= 1 << topic as u8;
    }

    pub(super) fn contains(self, topic: BuiltinPairTopic) -> bool {
        self.0 & 1 << topic as u8 != 0
    }
}

/// Effect of an ACKNACK of a peer whose address is not valid yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// It proves nothing.
    Unrelated,
    /// The peer is beyond the challenge, because it has known this participant before.
    IsAhead,
    /// The address is valid.
    Valid(Validated),
}

/// A valid address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Validated {
    pub(super) reason: ChallengeReason,
    /// The locator that has answered.
    pub(super) locator: Locator,
    /// The topic of the challenge.
    pub(super) topic: BuiltinPairTopic,
    /// The peer did not get all that was for it from these topics.
    pub(super) withheld: Topics,
    /// The peer ignores the earlier changes of the topic.
    pub(super) has_passed: bool,
    /// The writer of the topic has matched the peer before its answer.
    pub(super) was_matched: bool,
}

/// The peers that are challenged.
///
/// Bound: the known peers.
#[derive(Debug)]
pub(super) struct Validations {
    pending: BTreeMap<GuidPrefix, Challenge>,
    secrets: SecretSource,
    /// No challenge is due before.
    check_at: Option<Instant>,
}

/// Source of numbers that no peer can know.
#[derive(Debug)]
struct SecretSource {
    hash_seed: HashSeed,
    /// Number of secrets so far, so that each differs although the peer is the same.
    drawn: u64,
}

impl SecretSource {
    fn draw(&mut self, prefix: GuidPrefix) -> u64 {
        self.drawn += 1;
        self.hash_seed.keyed_digest((prefix, self.drawn))
    }
}

impl Validations {
    pub(super) fn new(hash_seed: HashSeed) -> Self {
        Self { pending: BTreeMap::new(), secrets: SecretSource { hash_seed, drawn: 0 }, check_at: None }
    }

    /// Whether the address in use of a peer is valid.
    pub(super) fn is_valid(&self, prefix: GuidPrefix) -> bool {
        self.pending.get(&prefix).is_none_or(|challenge| challenge.reason != ChallengeReason::Address)
    }

    /// Draws a peer whose address is not valid. No other program can foresee it. `None` if all addresses are valid.
    pub(super) fn draw_unverified(&mut self) -> Option<GuidPrefix> {
        let random = self.secrets.draw(GuidPrefix::UNKNOWN);
        let is_unverified = |(_, challenge): &(_, &Challenge)| challenge.reason == ChallengeReason::Address;
        let count = self.pending.iter().filter(is_unverified).count() as u64;
        let at = random.checked_rem(count)?;
        self.pending.iter().filter(is_unverified).nth(at as usize).map(|(prefix, _)| *prefix)
    }

    /// Returns why a peer is challenged.
    pub(super) fn reason(&self, prefix: GuidPrefix) -> Option<ChallengeReason> {
        Some(self.pending.get(&prefix)?.reason)
    }

    /// Begins to validate the address of a peer, in place of an earlier validation. `received`: bytes that the
    /// announcement of the address took.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        (peer, reason): (&ParticipantData, ChallengeReason),
        has: BuiltinEndpoints,
        route: Route,
        received: usize,
    ) {
        let prefix = peer.prefix;
        let random = || self.secrets.draw(prefix);
        let challenge = Challenge::new(now, (peer.vendor, reason), has, route, received, random);
        self.pending.insert(prefix, challenge);
        self.check_at = Some(now);
    }

    /// Challenges a peer from now on, which could not answer before.
    pub(super) fn challenge(&mut self, now: Instant, prefix: GuidPrefix, has: BuiltinEndpoints) {
        let Some(challenge) = self.pending.get_mut(&prefix) else { return };
        challenge.begin(now, has, || self.secrets.draw(prefix));
        self.check_at = Some(now);
    }

    /// Ends the validation of a peer that is gone, or whose valid address was announced again.
    pub(super) fn end(&mut self, prefix: GuidPrefix) {
        self.pending.remove(&prefix);
    }

    /// Returns the topic whose writer waits for the answer of a peer.
    pub(super) fn topic_of(&self, prefix: GuidPrefix) -> Option<BuiltinPairTopic> {
        self.pending.get(&prefix)?.topic
    }

    /// Replaces the route to the challenged address of a peer, after a change of this host's interfaces.
    pub(super) fn set_route(&mut self, prefix: GuidPrefix, route: &Route) {
        if let Some(challenge) = self.pending.get_mut(&prefix) {
            challenge.set_route(route, || self.secrets.draw(prefix));
        }
    }

    /// Returns a positive number for a locator of a peer and a period. Only the receiver of a message with it can know
    /// it.
    pub(super) fn number_of(&self, prefix: GuidPrefix, locator: Locator, period: u64) -> i64 {
        (self.secrets.hash_seed.keyed_digest((prefix, locator, period)) >> 1) as i64
    }

    /// Notes bytes that were received in the name of a peer.
    pub(super) fn note_received(&mut self, prefix: GuidPrefix, len: usize) {
        if let Some(challenge) = self.pending.get_mut(&prefix) {
            challenge.note_received(len);
        }
    }

    /// Repeats the challenge after an announcement of the peer.
    pub(super) fn challenge_again(&mut self, now: Instant, prefix: GuidPrefix) {
        let Some(challenge) = self.pending.get_mut(&prefix) else { return };
        if challenge.repeat(now) {
            self.check_at = Some(now);
        }
    }

    /// Handles an ACKNACK. `next` is the number of the topic's next change. No peer is beyond it.
    pub(super) fn handle_answer(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        topic: BuiltinPairTopic,
        ack_nack: &AckNack,
        next: SequenceNumber,
    ) -> Answer {
        let Some(challenge) = self.pending.get_mut(&prefix) else { return Answer::Unrelated };
        let base = ack_nack.reader_sn_state.base();
        let answer = challenge.handle_answer(now, topic, base, next, || self.secrets.draw(prefix));
        self.check_at = earliest(self.check_at, challenge.due_at(now));
        if matches!(answer, Answer::Valid(_)) {
            self.pending.remove(&prefix);
        }
        answer
    }

    /// Continues above `last`, the last number of the topic's writer. Returns the last number that challenges use.
    pub(super) fn raise(&mut self, now: Instant, prefix: GuidPrefix, last: SequenceNumber) -> SequenceNumber {
        let Some(challenge) = self.pending.get_mut(&prefix) else { return last };
        self.check_at = Some(now);
        challenge.raise(now, last, || self.secrets.draw(prefix))
    }

    /// Returns when the next challenge is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.check_at
    }

    /// Lays out the next challenge that is due. `next_count` returns the count of a HEARTBEAT of the topic.
    pub(super) fn poll_transmit(
        &mut self,
        now: Instant,
        own: GuidPrefix,
        datagram: &mut Datagram,
        mut next_count: impl FnMut(BuiltinPairTopic) -> i32,
    ) -> bool {
        // Each datagram of the builtin endpoints comes by here, so the visit of all peers is the exception.
        if self.check_at.is_none_or(|check_at| check_at > now) {
            return false;
        }
        self.check_at = None;
        let Self { pending, secrets, .. } = self;
        for (prefix, challenge) in pending {
            let is_due = challenge.due_at(now).is_some_and(|due_at| due_at <= now);
            let random = || secrets.draw(*prefix);
            if is_due && challenge.transmit(now, (own, *prefix), datagram, random, &mut next_count) {
                // The other locators, and the peers behind this one, follow.
                self.check_at = Some(now);
                return true;
            }
            self.check_at = earliest(self.check_at, challenge.due_at(now));
        }
        datagram.clear();
        false
    }

    /// Decides about a datagram of the builtin endpoints. Returns false if the address must not get it.
    pub(super) fn admit(&mut self, topic: BuiltinPairTopic, datagram: &mut Datagram) -> bool {
        if !self.pending.is_empty() {
            if let Some(challenge) = destination(datagram.head()).and_then(|prefix| self.pending.get_mut(&prefix)) {
                if challenge.reason == ChallengeReason::Address {
                    let is_paid = challenge.pay(datagram);
                    if !is_paid {
                        challenge.withheld.insert(topic);
                    }
                    return is_paid;
                }
            }
        }
        // Readers at addresses that are not valid have no locators, so a datagram may be for these alone.
        !datagram.destinations().is_empty()
    }

    /// Takes the bytes of an announcement of `len` bytes from the allowance. Returns the locators that may get it, at
    /// most `count_max`.
    pub(super) fn pay_for_announcement(&mut self, prefix: GuidPrefix, len: usize, count_max: usize) -> Vec<Locator> {
        match self.pending.get_mut(&prefix) {
            Some(challenge) => challenge.pay_for_announcement(len, count_max),
            None => Vec::new(),
        }
    }
}

/// Returns the participant that a message is for.
fn destination(head: &[u8]) -> Option<GuidPrefix> {
    match Message::parse(head).ok()?.submessages().next()? {
        Ok(Submessage::InfoDestination(prefix)) => Some(prefix),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
