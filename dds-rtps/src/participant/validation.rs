//! Validates the addresses that peers announce, before much is sent there (as RFC 9000, 8.1, does for QUIC).
//!
//! A datagram does not prove its sender: a forged announcement may name the address of a victim. So a new address gets
//! a challenge: a HEARTBEAT without changes, whose first sequence number is secret. A reliable reader answers with an
//! ACKNACK from that number on (RTPS 2.5, 8.4.12.2), and only the receiver of the challenge knows the number. Until
//! then the address gets at most [`ALLOWANCE`] times the bytes that were received in the name of its participant.
//!
//! An announcement may name the locators of victims beside that of its sender. So each locator gets another number, and
//! the first right answer makes only its own locator valid.
//!
//! A reader never returns to lower numbers. So the challenges to new peers use numbers below those of real changes. A
//! peer that was lost and kept its state is beyond these. Its challenge uses numbers above those of all real changes,
//! and the next change comes after them.

use crate::discovery::data::ParticipantData;
use crate::discovery::{BuiltinEndpoints, BuiltinPairTopic, Route};
use crate::output::Datagram;
use crate::types::{Duration, GuidPrefix, HashSeed, Instant, Locator, SequenceNumber, VendorId, earliest};
use crate::wire::{AckNack, Heartbeat, Message, MessageBuilder, Submessage};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Bytes that an address may get for each byte that was received in the name of its participant.
///
/// The first announcement pays for ours, a challenge, and the announcements of some endpoints.
const ALLOWANCE: usize = 9;

/// Bytes of the allowance that only a challenge may use. The next announcement of the peer pays for more.
const RESERVE: usize = 100;

/// Bytes of a datagram with a challenge: the header of a message, INFO_DST, and a HEARTBEAT.
const CHALLENGE_LEN: usize = 20 + 16 + Heartbeat::WIRE_LEN;

/// Pause between the first challenges.
const PAUSE: Duration = Duration::from_millis(100);

/// Number of challenges before the pauses double. Three losses in a row are frequent enough during a start.
const STEADY: u32 = 4;

/// Most doublings, which reach the longest pause.
const DOUBLED_MAX: u32 = 10;

/// Longest pause. Each announcement of the peer brings another challenge, so a peer that exists gets more of them.
const PAUSE_MAX: Duration = Duration::from_secs(100);

/// Shortest pause before a peer that does not know this participant yet gets another challenge.
const PAUSE_MIN: Duration = Duration::from_millis(2);

/// The numbers that challenges of one topic choose from.
#[derive(Debug, Clone, Copy)]
struct Windows {
    /// A peer has to answer one challenge of each window.
    count: u32,
    /// Numbers in each window.
    len: i64,
}

/// Windows of a topic.
///
/// A forger has [`WRONG_MAX`] guesses for all windows together. So one of 30 000 invented participants with one address
/// becomes valid, and one of 4 000 with eight.
/// Fast DDS counts up to the number of a challenge, and looks at its history each time. That of endpoints may be long,
/// so their numbers are few, and there are more challenges.
const fn windows_of(topic: BuiltinPairTopic) -> Windows {
    match topic {
        BuiltinPairTopic::Messages => Windows { count: 1, len: 1 << 16 },
        _ => FEW_NUMBERS,
    }
}

const FEW_NUMBERS: Windows = Windows { count: 3, len: 1 << 10 };

/// Wrong answers after which no answer counts before the next challenge. An honest peer gives none.
const WRONG_MAX: u32 = 2;

/// Times that the numbers of a challenge rise because the peer is beyond them.
///
/// A peer that moves needs one more for each change that reaches it at its old address.
const RAISES_MAX: u32 = 8;

/// Challenges without an answer after which another topic has its turn, because the reader may be best effort.
///
/// They take seconds, so that a slow peer has answered before.
const SILENT_MAX: u32 = 7;

/// Returns the last number that challenges to new peers use. The writer of the topic begins after it.
pub(super) const fn last_challenge(topic: BuiltinPairTopic) -> SequenceNumber {
    let Windows { count, len } = windows_of(topic);
    SequenceNumber(count as i64 * len)
}

/// The topics of challenges. Each vendor has a reader of one of them.
const TOPICS: [BuiltinPairTopic; 3] =
    [BuiltinPairTopic::Messages, BuiltinPairTopic::Publications, BuiltinPairTopic::Subscriptions];

/// Returns the builtin endpoints of a peer that may answer challenges.
///
/// The reader of messages of our vendor is reliable. So the peer is slow if it is silent. On a busy host, another topic
/// would throw away the answers that are still on their way.
pub(super) fn challenged_endpoints(data: &ParticipantData) -> BuiltinEndpoints {
    let has = data.builtin_endpoints;
    if data.vendor == VendorId::OURS && has.contains(BuiltinEndpoints::MESSAGE_READER) {
        return BuiltinEndpoints::MESSAGE_READER;
    }
    has
}

/// Returns the topic whose reader a peer answers with.
pub(super) fn topic_of_challenge(has: BuiltinEndpoints) -> Option<BuiltinPairTopic> {
    TOPICS.into_iter().find(|topic| has.contains(topic.bits().1))
}

/// Returns another topic that the peer may answer with, or the same one.
fn next_topic_of_challenge(has: BuiltinEndpoints, topic: BuiltinPairTopic) -> Option<BuiltinPairTopic> {
    let index = TOPICS.iter().position(|known| *known == topic)?;
    TOPICS.into_iter().cycle().skip(index + 1).take(TOPICS.len()).find(|topic| has.contains(topic.bits().1))
}

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

/// Validation of the address of one peer.
#[derive(Debug)]
struct Validation {
    route: Route,
    /// The announced one. The name of a participant with an identity tells none.
    vendor: VendorId,
    reason: ChallengeReason,
    /// `None`: the peer has no reader that could answer.
    topic: Option<BuiltinPairTopic>,
    windows_left: u32,
    /// The first window begins after this number.
    first_floor: SequenceNumber,
    /// The window begins after this number.
    floor: SequenceNumber,
    /// The secret of each locator, in their order. They rise, because a reader never returns to lower numbers.
    secrets: SmallVec<[SequenceNumber; 2]>,
    /// The locator that has answered the challenges of the windows so far.
    answering: Option<Locator>,
    /// The next locator that gets the present challenge. 0 if none has got it.
    turn: usize,
    /// The windows are above the numbers of real changes.
    is_raised: bool,
    /// Times that the windows were raised.
    raises: u32,
    /// Wrong answers since the last new secret.
    wrong: u32,
    /// The builtin endpoints of the peer that may answer.
    has: BuiltinEndpoints,
    sent: u32,
    /// As `sent`, since the last change of the topic.
    sent_of_topic: u32,
    sent_at: Option<Instant>,
    due_at: Option<Instant>,
    /// Bytes that may still be sent.
    allowance: usize,
    /// The topics for whose datagrams the allowance was too small.
    withheld: Topics,
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
    pending: BTreeMap<GuidPrefix, Validation>,
    hash_seed: HashSeed,
    /// Number of secrets so far, so that each differs although the peer is the same.
    drawn: u64,
    /// No challenge is due before.
    check_at: Option<Instant>,
}

impl Validations {
    pub(super) fn new(hash_seed: HashSeed) -> Self {
        Self { pending: BTreeMap::new(), hash_seed, drawn: 0, check_at: None }
    }

    /// Whether the address in use of a peer is valid.
    pub(super) fn is_valid(&self, prefix: GuidPrefix) -> bool {
        self.pending.get(&prefix).is_none_or(|validation| validation.reason != ChallengeReason::Address)
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
        let (prefix, topic) = (peer.prefix, topic_of_challenge(has));
        let mut validation = Validation {
            route,
            vendor: peer.vendor,
            reason,
            topic,
            windows_left: topic.map_or(0, |topic| windows_of(topic).count),
            first_floor: SequenceNumber::ZERO,
            floor: SequenceNumber::ZERO,
            secrets: SmallVec::new(),
            answering: None,
            turn: 0,
            is_raised: false,
            raises: 0,
            wrong: 0,
            has,
            sent: 0,
            sent_of_topic: 0,
            sent_at: None,
            due_at: topic.map(|_| now),
            allowance: received.saturating_mul(ALLOWANCE),
            withheld: Topics::default(),
        };
        self.draw_secrets(prefix, &mut validation);
        self.pending.insert(prefix, validation);
        self.check_at = Some(now);
    }

    /// Challenges a peer from now on, which could not answer before.
    pub(super) fn challenge(&mut self, now: Instant, prefix: GuidPrefix, has: BuiltinEndpoints) {
        let Some(mut validation) = self.pending.remove(&prefix) else { return };
        (validation.topic, validation.has) = (topic_of_challenge(has), has);
        if let Some(topic) = validation.topic {
            validation.windows_left = windows_of(topic).count;
            validation.due_at = Some(now);
        }
        self.draw_secrets(prefix, &mut validation);
        self.pending.insert(prefix, validation);
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
        let Some(mut validation) = self.pending.remove(&prefix) else { return };
        if validation.route != *route {
            validation.route = route.clone();
            // Another locator must not have the secret of an earlier one, and its answers do not count for another.
            validation.restart_windows();
            self.draw_secrets(prefix, &mut validation);
        }
        self.pending.insert(prefix, validation);
    }

    fn draw_secrets(&mut self, prefix: GuidPrefix, validation: &mut Validation) {
        validation.set_secrets(|| self.draw(prefix));
    }

    /// Returns a positive number for a locator of a peer and a period. Only the receiver of a message with it can know
    /// it.
    pub(super) fn number_of(&self, prefix: GuidPrefix, locator: Locator, period: u64) -> i64 {
        (self.hash_seed.keyed_digest((prefix, locator, period)) >> 1) as i64
    }

    fn draw(&mut self, prefix: GuidPrefix) -> u64 {
        self.drawn += 1;
        self.hash_seed.keyed_digest((prefix, self.drawn))
    }

    /// Notes bytes that were received in the name of a peer.
    pub(super) fn note_received(&mut self, prefix: GuidPrefix, len: usize) {
        if let Some(validation) = self.pending.get_mut(&prefix) {
            validation.allowance = validation.allowance.saturating_add(len.saturating_mul(ALLOWANCE));
        }
    }

    /// Repeats the challenge after an announcement of the peer.
    pub(super) fn challenge_again(&mut self, now: Instant, prefix: GuidPrefix) {
        let Some(validation) = self.pending.get_mut(&prefix) else { return };
        if validation.wrong >= WRONG_MAX && validation.due_at.is_some() {
            // A forger must wait for its next guesses, also if it announces itself again.
            return;
        }
        validation.raises = 0;
        let is_early = validation.sent_at.is_some_and(|sent_at| now.since(sent_at) < PAUSE);
        if validation.topic.is_some() && !is_early {
            validation.due_at = Some(now);
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
        let Some(validation) = self.pending.get_mut(&prefix) else { return Answer::Unrelated };
        // Before the first challenge, no ACKNACK can answer one.
        if validation.topic != Some(topic) || validation.sent == 0 {
            return Answer::Unrelated;
        }
        let base = ack_nack.reader_sn_state.base();
        if base <= SequenceNumber::FIRST {
            // The peer has found this participant just now, and the challenge before came too early.
            let is_early = validation.sent_at.is_some_and(|sent_at| now.since(sent_at) < PAUSE_MIN);
            if !is_early {
                validation.due_at = Some(now);
                self.check_at = Some(now);
            }
            return Answer::Unrelated;
        }
        if validation.wrong >= WRONG_MAX {
            return Answer::Unrelated;
        }
        let Some(at) = validation.secrets.iter().position(|secret| *secret == base) else {
            return validation.note_wrong(base, next);
        };
        // Only a reader at the locator can know its secret.
        validation.answering = validation.locators().get(at).copied();
        let Some(locator) = validation.answering else { return Answer::Unrelated };
        validation.windows_left = validation.windows_left.saturating_sub(1);
        if validation.windows_left == 0 {
            let Validation { reason, withheld, is_raised, has, .. } = *validation;
            let was_matched = topic_of_challenge(has) != Some(topic);
            let validated = Validated { reason, locator, topic, withheld, has_passed: is_raised, was_matched };
            self.pending.remove(&prefix);
            return Answer::Valid(validated);
        }
        let floor = SequenceNumber(validation.floor.0 + validation.windows(topic).len);
        self.move_window(now, prefix, floor);
        Answer::Unrelated
    }

    /// Continues above `last`, the last number of the topic's writer. Returns the last number that challenges use.
    pub(super) fn raise(&mut self, now: Instant, prefix: GuidPrefix, last: SequenceNumber) -> SequenceNumber {
        let Some(validation) = self.pending.get_mut(&prefix) else { return last };
        let Some(topic) = validation.topic else { return last };
        validation.is_raised = true;
        validation.raises += 1;
        let Windows { count, len } = validation.windows(topic);
        (validation.windows_left, validation.first_floor, validation.answering) = (count, last, None);
        self.move_window(now, prefix, last);
        SequenceNumber(last.0.saturating_add(i64::from(count) * len))
    }

    fn move_window(&mut self, now: Instant, prefix: GuidPrefix, floor: SequenceNumber) {
        let Some(mut validation) = self.pending.remove(&prefix) else { return };
        validation.floor = floor;
        (validation.sent, validation.sent_of_topic, validation.due_at) = (0, 0, Some(now));
        self.draw_secrets(prefix, &mut validation);
        self.pending.insert(prefix, validation);
        self.check_at = Some(now);
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
        let Self { pending, hash_seed, drawn, .. } = self;
        for (prefix, validation) in pending {
            let due_at = match validation.due_at {
                Some(due_at) if validation.topic.is_some() => due_at,
                _ => continue,
            };
            if due_at > now && validation.turn == 0 {
                self.check_at = earliest(self.check_at, Some(due_at));
                continue;
            }
            // The locators that have had their turn are paid.
            let left = validation.locators().len().saturating_sub(validation.turn);
            if validation.allowance < CHALLENGE_LEN.saturating_mul(left) {
                // The next announcement pays for it.
                validation.due_at = None;
                continue;
            }
            if validation.turn == 0 {
                validation.change_topic_or_secrets(|| {
                    *drawn += 1;
                    hash_seed.keyed_digest((prefix, *drawn))
                });
                validation.note_sent(now);
            }
            let Some(topic) = validation.topic else { continue };
            let Some((locator, secret)) = validation.next_turn() else {
                // It has no locator yet. An interface may bring one.
                self.check_at = earliest(self.check_at, validation.due_at);
                continue;
            };
            let heartbeat = validation.challenge(topic, secret, next_count(topic));
            datagram.clear();
            let mut message = MessageBuilder::new(datagram.buffer());
            message.header(own);
            message.info_dst(*prefix);
            message.heartbeat(&heartbeat);
            validation.allowance = validation.allowance.saturating_sub(datagram.len());
            datagram.set_destinations(&[locator]);
            // The other locators, and the peers behind this one, follow.
            self.check_at = Some(now);
            return true;
        }
        datagram.clear();
        false
    }

    /// Decides about a datagram of the builtin endpoints. Returns false if the address must not get it.
    pub(super) fn admit(&mut self, topic: BuiltinPairTopic, datagram: &mut Datagram) -> bool {
        if !self.pending.is_empty() {
            if let Some(validation) = destination(datagram.head()).and_then(|prefix| self.pending.get_mut(&prefix)) {
                if validation.reason == ChallengeReason::Address {
                    let is_paid = validation.pay(datagram, RESERVE);
                    if !is_paid {
                        validation.withheld.insert(topic);
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
        let Some(validation) = self.pending.get_mut(&prefix) else { return Vec::new() };
        let mut locators = Vec::new();
        for locator in validation.locators().into_iter().take(count_max) {
            // An address that may be forged gets no more than a multiple of the bytes that came in its name.
            if validation.allowance < len {
                break;
            }
            validation.allowance -= len;
            locators.push(locator);
        }
        locators
    }
}

impl Validation {
    /// Returns the windows of the challenges.
    fn windows(&self, topic: BuiltinPairTopic) -> Windows {
        // Each forged announcement may raise the numbers, and a peer may visit each number that it skips.
        if self.is_raised { FEW_NUMBERS } else { windows_of(topic) }
    }

    /// Returns the locators that the address consists of.
    fn locators(&self) -> SmallVec<[Locator; 2]> {
        match self.answering {
            Some(answering) => SmallVec::from_slice(&[answering]),
            None if self.route.unicast.is_empty() => self.route.multicast.clone(),
            None => self.route.unicast.clone(),
        }
    }

    /// Chooses the secrets of the present window by random numbers.
    fn set_secrets(&mut self, mut random: impl FnMut() -> u64) {
        let Some(topic) = self.topic else { return };
        (self.turn, self.secrets) = (0, SmallVec::new());
        // Not the first number of the window: a reader that knows nothing of this participant requests from 1 on.
        let numbers = self.windows(topic).len - 1;
        for _ in 0..self.locators().len() {
            let mut offset = (random() >> 32) as i64 % numbers;
            let secret = |offset: i64| SequenceNumber(self.floor.0 + 2 + offset);
            // Equal secrets would tell nothing about the locator.
            while self.secrets.contains(&secret(offset)) {
                offset = (offset + 1) % numbers;
            }
            self.secrets.push(secret(offset));
        }
        self.secrets.sort_unstable();
    }

    /// Returns the locator that gets the present challenge next, with its secret.
    fn next_turn(&mut self) -> Option<(Locator, SequenceNumber)> {
        let locators = self.locators();
        let turn = self.turn;
        self.turn = (turn + 1) % locators.len().max(1);
        Some((*locators.get(turn)?, *self.secrets.get(turn)?))
    }

    /// Handles a number that is no secret.
    fn note_wrong(&mut self, base: SequenceNumber, next: SequenceNumber) -> Answer {
        if self.secrets.last().is_some_and(|last| base > *last) {
            if self.raises < RAISES_MAX && base <= next {
                return Answer::IsAhead;
            }
            self.wrong += 1;
            return Answer::Unrelated;
        }
        // An answer to an earlier challenge, or to another HEARTBEAT, has a number up to that before the window.
        self.wrong += u32::from(base > self.floor.next());
        Answer::Unrelated
    }

    /// Changes the topic after silence, and the secrets after wrong answers. `random` returns secret random numbers.
    fn change_topic_or_secrets(&mut self, random: impl FnMut() -> u64) {
        let Some(topic) = self.topic else { return };
        let next = next_topic_of_challenge(self.has, topic);
        let is_silent = self.sent_of_topic >= SILENT_MAX && !self.is_raised && next != Some(topic);
        if is_silent {
            (self.topic, self.sent_of_topic) = (next, 0);
        }
        if is_silent || self.wrong >= WRONG_MAX {
            // All windows count again, so that wrong answers for one of them gain nothing for the others.
            self.restart_windows();
            self.set_secrets(random);
        }
    }

    /// Begins with the first window again. A reader that is beyond it gets higher numbers.
    fn restart_windows(&mut self) {
        self.floor = self.first_floor;
        self.windows_left = self.topic.map_or(0, |topic| self.windows(topic).count);
        (self.wrong, self.answering) = (0, None);
    }

    /// Notes a challenge, and schedules the next one.
    fn note_sent(&mut self, now: Instant) {
        self.sent = self.sent.saturating_add(1);
        self.sent_of_topic = self.sent_of_topic.saturating_add(1);
        self.sent_at = Some(now);
        let doubled = self.sent.saturating_sub(STEADY).min(DOUBLED_MAX);
        self.due_at = now.after(PAUSE.scale(1 << doubled, 1).min(PAUSE_MAX));
    }

    /// Returns the challenge of a peer with a secret.
    fn challenge(&self, topic: BuiltinPairTopic, secret: SequenceNumber, count: i32) -> Heartbeat {
        let (writer_id, reader_id) = topic.ids();
        // RTPS 2.1 has no HEARTBEAT without changes. Its readers request the change, which has no content.
        // A request that comes late would cause a repair, so no peer of this vendor has to send one.
        let may_be_old = self.vendor != VendorId::OURS;
        let has_change = may_be_old && self.sent > STEADY && self.sent % 2 == 0;
        Heartbeat {
            reader_id,
            writer_id,
            first_sn: secret,
            last_sn: if has_change { secret } else { secret.previous() },
            count,
            is_final: false,
            liveliness: false,
            group_info: None,
        }
    }

    /// Takes the bytes of a datagram from the allowance and sets its destinations. Returns false if less than `reserve`
    /// would be left.
    fn pay(&mut self, datagram: &mut Datagram, reserve: usize) -> bool {
        let locators = self.locators();
        let cost = datagram.len().saturating_mul(locators.len());
        if locators.is_empty() || cost.saturating_add(reserve) > self.allowance {
            return false;
        }
        self.allowance -= cost;
        datagram.set_destinations(&locators);
        true
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
mod tests {
    use super::*;
    use crate::wire::SequenceNumberSet;

    const OURS: GuidPrefix = GuidPrefix([1; 12]);
    const PEER: GuidPrefix = GuidPrefix([2; 12]);
    const MESSAGES: BuiltinPairTopic = BuiltinPairTopic::Messages;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + ms * 1_000_000)
    }

    fn route(port: u16) -> Route {
        Route { unicast: [Locator::udp_v4([10, 0, 0, 2].into(), port)].into_iter().collect(), ..Route::default() }
    }

    fn peer(vendor: VendorId) -> ParticipantData {
        ParticipantData { vendor, ..ParticipantData::new(PEER) }
    }

    fn begin(received: usize) -> Validations {
        let mut validations = Validations::new(HashSeed::fixed(7));
        validations.begin(
            at(0),
            (&peer(VendorId::CYCLONE), ChallengeReason::Address),
            BuiltinEndpoints::MESSAGE_READER,
            route(7410),
            received,
        );
        validations
    }

    /// Returns the first sequence number of the next challenge.
    fn challenge(validations: &mut Validations, now: Instant) -> Option<SequenceNumber> {
        Some(heartbeat(validations, now)?.first_sn)
    }

    /// Returns the next challenge.
    fn heartbeat(validations: &mut Validations, now: Instant) -> Option<Heartbeat> {
        let mut datagram = Datagram::new();
        if !validations.poll_transmit(now, OURS, &mut datagram, |_| 1) {
            return None;
        }
        let message = Message::parse(datagram.head()).unwrap();
        let heartbeat = message.submessages().find_map(|submessage| match submessage {
            Ok(Submessage::Heartbeat(heartbeat)) => Some(heartbeat),
            _ => None,
        });
        Some(heartbeat.unwrap())
    }

    fn answer(validations: &mut Validations, topic: BuiltinPairTopic, base: i64) -> Answer {
        let (writer_id, reader_id) = topic.ids();
        let reader_sn_state = SequenceNumberSet::empty(SequenceNumber(base));
        let ack_nack = AckNack { reader_id, writer_id, reader_sn_state, count: 1, is_final: true };
        validations.handle_answer(at(1), PEER, topic, &ack_nack, SequenceNumber(NEXT))
    }

    /// The number of the next change.
    const NEXT: i64 = 80_001;

    fn answer_all(validations: &mut Validations, topic: BuiltinPairTopic) -> (Vec<SequenceNumber>, Answer) {
        answer_all_at(validations, topic, 2)
    }

    /// Answers all challenges.
    fn answer_all_at(validations: &mut Validations, topic: BuiltinPairTopic, ms: u64) -> (Vec<SequenceNumber>, Answer) {
        let mut secrets = Vec::new();
        loop {
            let secret = challenge(validations, at(ms)).unwrap();
            secrets.push(secret);
            match answer(validations, topic, secret.0) {
                Answer::Unrelated => assert!(!validations.is_valid(PEER)),
                valid => return (secrets, valid),
            }
        }
    }

    #[test]
    fn only_the_secret_number_validates() {
        let mut validations = begin(1_000);
        let secret = challenge(&mut validations, at(0)).unwrap().0;
        assert_eq!(answer(&mut validations, BuiltinPairTopic::Publications, secret), Answer::Unrelated);
        assert_eq!(answer(&mut validations, MESSAGES, secret - 1), Answer::Unrelated);
        assert!(secret > 1 && secret <= last_challenge(MESSAGES).0 && !validations.is_valid(PEER));
        assert!(matches!(answer(&mut validations, MESSAGES, secret), Answer::Valid(_)));
        assert!(validations.is_valid(PEER));
    }

    #[test]
    fn answer_without_a_challenge_validates_nothing() {
        let mut validations = begin(0);
        assert_eq!(challenge(&mut validations, at(0)), None, "nothing was received, so nothing may be sent");
        for base in 2..=last_challenge(MESSAGES).0 {
            assert!(!matches!(answer(&mut validations, MESSAGES, base), Answer::Valid(_)), "{base}");
        }
    }

    #[test]
    fn guesses_in_order_validate_nothing() {
        let mut validations = Validations::new(HashSeed::fixed(7));
        let topic = BuiltinPairTopic::Publications;
        validations.begin(
            at(0),
            (&peer(VendorId::CYCLONE), ChallengeReason::Address),
            BuiltinEndpoints(0x3f),
            route(7410),
            100_000,
        );
        for round in 0..100 {
            challenge(&mut validations, at(round * 200_000));
            for base in 2..=last_challenge(topic).0 {
                answer(&mut validations, topic, base);
            }
            validations.challenge_again(at(round * 200_000), PEER);
        }
        assert!(!validations.is_valid(PEER));
    }

    #[test]
    fn wrong_answers_and_an_empty_allowance_end_with_the_next_announcement() {
        let mut validations = begin(8);
        let secret = challenge(&mut validations, at(0)).unwrap().0;
        for _ in 0..WRONG_MAX {
            answer(&mut validations, MESSAGES, secret - 1);
        }
        assert_eq!(answer(&mut validations, MESSAGES, secret), Answer::Unrelated, "no answer counts any more");
        assert_eq!(challenge(&mut validations, at(100)), None, "the allowance is spent");
        validations.note_received(PEER, 400);
        validations.challenge_again(at(200), PEER);
        let (_, valid) = answer_all_at(&mut validations, MESSAGES, 200);
        assert!(matches!(valid, Answer::Valid(_)));
    }

    #[test]
    fn silent_topic_makes_room_for_the_next_one() {
        let mut validations = Validations::new(HashSeed::fixed(7));
        validations.begin(
            at(0),
            (&peer(VendorId::CYCLONE), ChallengeReason::Address),
            BuiltinEndpoints(0x43f | 0x800),
            route(7410),
            100_000,
        );
        for ms in 0..1_800 {
            challenge(&mut validations, at(ms));
        }
        assert_eq!(validations.topic_of(PEER), Some(MESSAGES));
        challenge(&mut validations, at(1_800));
        assert_eq!(validations.topic_of(PEER), Some(BuiltinPairTopic::Publications));
        let (secrets, valid) = answer_all_at(&mut validations, BuiltinPairTopic::Publications, 3_500);
        let Answer::Valid(validated) = valid else { panic!("{valid:?}") };
        assert!(validated.was_matched && secrets.len() == 3);
    }

    #[test]
    fn each_validation_has_another_secret() {
        let mut validations = begin(400);
        let first = challenge(&mut validations, at(0));
        validations.begin(
            at(1),
            (&peer(VendorId::CYCLONE), ChallengeReason::Address),
            BuiltinEndpoints::MESSAGE_READER,
            route(7412),
            400,
        );
        assert_ne!(challenge(&mut validations, at(1)), first);
    }

    /// Returns how many changes each of the first ten challenges announces.
    fn announced_changes(vendor: VendorId) -> Vec<i64> {
        let mut validations = Validations::new(HashSeed::fixed(7));
        validations.begin(
            at(0),
            (&peer(vendor), ChallengeReason::Address),
            BuiltinEndpoints::MESSAGE_READER,
            route(7410),
            100_000,
        );
        let sent = (0..10).map(|round| heartbeat(&mut validations, at(round * 100_000)).unwrap());
        sent.map(|heartbeat| heartbeat.last_sn.0 - heartbeat.first_sn.0 + 1).collect()
    }

    #[test]
    fn only_other_vendors_get_challenges_with_a_change() {
        assert_eq!(announced_changes(VendorId::CYCLONE), [0, 0, 0, 0, 0, 1, 0, 1, 0, 1]);
        assert_eq!(announced_changes(VendorId::OURS), [0; 10]);
    }

    /// Returns the next challenges, one for each locator.
    fn round(validations: &mut Validations, now: Instant) -> Vec<(Locator, i64)> {
        let mut datagram = Datagram::new();
        let mut sent = Vec::new();
        while validations.poll_transmit(now, OURS, &mut datagram, |_| 1) {
            let [locator] = datagram.destinations() else { panic!("{:?}", datagram.destinations()) };
            let message = Message::parse(datagram.head()).unwrap();
            let Some(Ok(Submessage::Heartbeat(heartbeat))) = message.submessages().nth(1) else { panic!() };
            sent.push((*locator, heartbeat.first_sn.0));
        }
        sent
    }

    #[test]
    fn answer_validates_only_the_locator_with_its_number() {
        let locators = [7410, 7412, 7414].map(|port| route(port).unicast[0]);
        for topic in [MESSAGES, BuiltinPairTopic::Publications] {
            let has = if topic == MESSAGES { BuiltinEndpoints(0x800) } else { BuiltinEndpoints(0x3f) };
            for (chosen, locator) in locators.into_iter().enumerate() {
                let mut validations = Validations::new(HashSeed::fixed(7));
                let route = Route { unicast: locators.into_iter().collect(), ..Route::default() };
                validations.begin(at(0), (&peer(VendorId::CYCLONE), ChallengeReason::Address), has, route, 1_000);
                let mut answered = Answer::Unrelated;
                for window in 0..windows_of(topic).count {
                    let sent = round(&mut validations, at(u64::from(window)));
                    let secrets: Vec<_> = sent.iter().map(|(_, secret)| *secret).collect();
                    assert!(secrets.windows(2).all(|pair| pair[0] < pair[1]), "{secrets:?}");
                    let reached: Vec<_> = sent.iter().map(|(locator, _)| *locator).collect();
                    // The other windows are for the locator that has answered.
                    assert_eq!(reached, if window == 0 { locators.to_vec() } else { vec![locator] });
                    answered = answer(&mut validations, topic, secrets[if window == 0 { chosen } else { 0 }]);
                }
                let Answer::Valid(validated) = answered else { panic!("{topic:?}: {answered:?}") };
                assert_eq!(validated.locator, locator);
            }
        }
    }

    /// The challenge to a peer with two locators.
    fn at_two_locators() -> Validations {
        let unicast = [7410, 7412].map(|port| route(port).unicast[0]).into_iter().collect();
        let mut validations = Validations::new(HashSeed::fixed(7));
        let peer = peer(VendorId::CYCLONE);
        let all = Route { unicast, ..Route::default() };
        validations.begin(at(0), (&peer, ChallengeReason::Address), BuiltinEndpoints(0x3f), all, 100_000);
        validations
    }

    #[test]
    fn locator_that_falls_silent_leaves_the_next_challenge_to_all() {
        let mut validations = at_two_locators();
        let secret = round(&mut validations, at(0))[1].1;
        assert_eq!(answer(&mut validations, BuiltinPairTopic::Publications, secret), Answer::Unrelated);
        let reached: Vec<_> = (1..100).map(|second| round(&mut validations, at(second * 1_000)).len()).collect();
        assert_eq!((reached[0], reached.iter().max()), (1, Some(&2)), "{reached:?}");
    }

    #[test]
    fn answers_of_an_earlier_route_do_not_count() {
        let topic = BuiltinPairTopic::Publications;
        let mut validations = at_two_locators();
        for _ in 0..2 {
            let secret = challenge(&mut validations, at(1)).unwrap();
            assert_eq!(answer(&mut validations, topic, secret.0), Answer::Unrelated);
        }
        validations.set_route(PEER, &route(7414));
        let (secrets, valid) = answer_all_at(&mut validations, topic, 1_000);
        let Answer::Valid(validated) = valid else { panic!("{valid:?}") };
        assert_eq!((secrets.len(), validated.locator), (3, route(7414).unicast[0]));
        assert!(secrets[0] <= SequenceNumber(1 << 10), "{secrets:?}");
    }

    #[test]
    fn challenges_repeat_four_times_then_back_off() {
        let mut validations = begin(100_000);
        let mut sent = Vec::new();
        for ms in 0..2_000 {
            if challenge(&mut validations, at(ms)).is_some() {
                sent.push(ms);
            }
        }
        assert_eq!(sent, [0, 100, 200, 300, 400, 600, 1_000, 1_800]);
    }

    #[test]
    fn peer_that_is_ahead_gets_a_higher_challenge() {
        let mut validations = begin(1_000);
        challenge(&mut validations, at(0));
        assert_eq!(answer(&mut validations, MESSAGES, 70_000), Answer::IsAhead);
        let last = validations.raise(at(2), PEER, SequenceNumber(NEXT - 1));
        assert_eq!(last, SequenceNumber(NEXT - 1 + 3_072), "a forged announcement takes few numbers");
        assert_eq!(answer(&mut validations, MESSAGES, NEXT + 1), Answer::Unrelated, "no challenge was sent yet");
        let (secrets, valid) = answer_all(&mut validations, MESSAGES);
        assert!(secrets.len() == 3 && secrets.iter().all(|secret| secret.0 > NEXT && *secret <= last));
        let Answer::Valid(validated) = valid else { panic!("{valid:?}") };
        assert!(validated.has_passed && !validated.was_matched);
    }

    #[test]
    fn peer_that_moves_on_gets_a_higher_challenge_again() {
        let mut validations = begin(1_000);
        validations.raise(at(2), PEER, SequenceNumber(100));
        challenge(&mut validations, at(2));
        // A change has reached it at its old address.
        assert_eq!(answer(&mut validations, MESSAGES, NEXT), Answer::IsAhead);
        assert_eq!(
            answer(&mut validations, MESSAGES, NEXT + 1),
            Answer::Unrelated,
            "no peer is beyond the next change"
        );
    }

    #[test]
    fn peer_without_messages_answers_three_challenges() {
        let mut validations = Validations::new(HashSeed::fixed(7));
        let topic = BuiltinPairTopic::Publications;
        validations.begin(
            at(0),
            (&peer(VendorId::CYCLONE), ChallengeReason::Address),
            BuiltinEndpoints(0x3f),
            route(7410),
            400,
        );
        let (secrets, _) = answer_all(&mut validations, topic);
        assert_eq!(secrets.len(), 3);
        assert!(secrets.is_sorted() && secrets.iter().all(|secret| *secret <= last_challenge(topic)));
    }

    #[test]
    fn allowance_bounds_the_bytes_to_an_address() {
        let mut validations = begin(100);
        let mut sent = 0;
        for ms in 0..1_000_000 {
            let mut datagram = Datagram::new();
            if validations.poll_transmit(at(ms), OURS, &mut datagram, |_| 1) {
                sent += datagram.len();
            }
            let mut message = MessageBuilder::new(datagram.buffer());
            message.header(OURS);
            message.info_dst(PEER);
            sent += if validations.admit(MESSAGES, &mut datagram) { datagram.len() } else { 0 };
        }
        assert!((800..=900).contains(&sent), "{sent}");
    }
}
