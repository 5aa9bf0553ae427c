//! The challenge of one peer.
//!
//! In: its endpoints, its route, and its answers. Out: HEARTBEATs with secret numbers, and the proof of an address.
//! Owned: the numbers, the pauses, and the bytes that the address may still get.

use super::{Answer, ChallengeReason, Topics, Validated};
use crate::discovery::data::ParticipantData;
use crate::discovery::{BuiltinEndpoints, BuiltinPairTopic, Route};
use crate::output::Datagram;
use crate::types::{Duration, GuidPrefix, Instant, Locator, SequenceNumber, VendorId};
use crate::wire::{Heartbeat, MessageBuilder};
use smallvec::SmallVec;

/// Bytes that an address may get for each byte that was received in the name of its participant.
///
/// The first announcement pays for ours, a challenge, and the announcements of some endpoints.
pub(super) const ALLOWANCE: usize = 9;

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
pub(super) struct Windows {
    /// A peer has to answer one challenge of each window.
    pub(super) count: u32,
    /// Numbers in each window.
    pub(super) len: i64,
}

/// Windows of a topic.
///
/// A forger has [`WRONG_MAX`] guesses for all windows together. So one of 30 000 invented participants with one address
/// becomes valid, and one of 4 000 with eight.
/// Fast DDS counts up to the number of a challenge, and looks at its history each time. That of endpoints may be long,
/// so their numbers are few, and there are more challenges.
pub(super) const fn windows_of(topic: BuiltinPairTopic) -> Windows {
    match topic {
        BuiltinPairTopic::Messages => Windows { count: 1, len: 1 << 16 },
        _ => FEW_NUMBERS,
    }
}

const FEW_NUMBERS: Windows = Windows { count: 3, len: 1 << 10 };

/// Wrong answers after which no answer counts before the next challenge. An honest peer gives none.
pub(super) const WRONG_MAX: u32 = 2;

/// Times that the numbers of a challenge rise because the peer is beyond them.
///
/// A peer that moves needs one more for each change that reaches it at its old address.
const RAISES_MAX: u32 = 8;

/// Challenges without an answer after which another topic has its turn, because the reader may be best effort.
///
/// They take seconds, so that a slow peer has answered before.
const SILENT_MAX: u32 = 7;

/// Returns the last number that challenges to new peers use. The writer of the topic begins after it.
pub(in crate::participant) const fn last_challenge(topic: BuiltinPairTopic) -> SequenceNumber {
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
pub(in crate::participant) fn challenged_endpoints(data: &ParticipantData) -> BuiltinEndpoints {
    let has = data.builtin_endpoints;
    if data.vendor == VendorId::OURS && has.contains(BuiltinEndpoints::MESSAGE_READER) {
        return BuiltinEndpoints::MESSAGE_READER;
    }
    has
}

/// Returns the topic whose reader a peer answers with.
pub(in crate::participant) fn topic_of_challenge(has: BuiltinEndpoints) -> Option<BuiltinPairTopic> {
    TOPICS.into_iter().find(|topic| has.contains(topic.bits().1))
}

/// Returns another topic that the peer may answer with, or the same one.
fn next_topic_of_challenge(has: BuiltinEndpoints, topic: BuiltinPairTopic) -> Option<BuiltinPairTopic> {
    let index = TOPICS.iter().position(|known| *known == topic)?;
    TOPICS.into_iter().cycle().skip(index + 1).take(TOPICS.len()).find(|topic| has.contains(topic.bits().1))
}

/// The challenge of one peer, and the bytes that its address may still get.
#[derive(Debug)]
pub(super) struct Challenge {
    route: Route,
    /// The announced one. The name of a participant with an identity tells none.
    vendor: VendorId,
    pub(super) reason: ChallengeReason,
    /// `None`: the peer has no reader that could answer.
    pub(super) topic: Option<BuiltinPairTopic>,
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
    pub(super) withheld: Topics,
}

impl Challenge {
    /// Creates a challenge that is due now. `received`: bytes that the announcement of the address took.
    ///
    /// `random` returns secret random numbers, here and in other methods.
    pub(super) fn new(
        now: Instant,
        (vendor, reason): (VendorId, ChallengeReason),
        has: BuiltinEndpoints,
        route: Route,
        received: usize,
        random: impl FnMut() -> u64,
    ) -> Self {
        let mut challenge = Self {
            route,
            vendor,
            reason,
            topic: None,
            windows_left: 0,
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
            due_at: None,
            allowance: 0,
            withheld: Topics::default(),
        };
        challenge.note_received(received);
        challenge.begin(now, has, random);
        challenge
    }

    /// Chooses the topic by the endpoints of the peer, and is due now if there is one.
    pub(super) fn begin(&mut self, now: Instant, has: BuiltinEndpoints, random: impl FnMut() -> u64) {
        (self.topic, self.has) = (topic_of_challenge(has), has);
        if let Some(topic) = self.topic {
            self.windows_left = windows_of(topic).count;
            self.due_at = Some(now);
        }
        self.set_secrets(random);
    }

    /// Notes bytes that were received in the name of the peer.
    pub(super) fn note_received(&mut self, len: usize) {
        self.allowance = self.allowance.saturating_add(len.saturating_mul(ALLOWANCE));
    }

    /// Replaces the route to the challenged address.
    pub(super) fn set_route(&mut self, route: &Route, random: impl FnMut() -> u64) {
        if self.route != *route {
            self.route = route.clone();
            // Another locator must not have the secret of an earlier one, and its answers do not count for another.
            // A forger that changes the route must still wait for its next guesses.
            let wrong = self.wrong;
            self.restart_windows();
            self.wrong = wrong;
            self.set_secrets(random);
        }
    }

    /// Is due again after an announcement of the peer. Returns false if it is not.
    pub(super) fn repeat(&mut self, now: Instant) -> bool {
        if self.wrong >= WRONG_MAX && self.due_at.is_some() {
            // A forger must wait for its next guesses, also if it announces itself again.
            return false;
        }
        self.raises = 0;
        let is_early = self.sent_at.is_some_and(|sent_at| now.since(sent_at) < PAUSE);
        if self.topic.is_none() || is_early {
            return false;
        }
        self.due_at = Some(now);
        true
    }

    /// Handles an ACKNACK of a topic, whose next change has the number `next`. No peer is beyond it.
    pub(super) fn handle_answer(
        &mut self,
        now: Instant,
        topic: BuiltinPairTopic,
        base: SequenceNumber,
        next: SequenceNumber,
        random: impl FnMut() -> u64,
    ) -> Answer {
        // Before the first challenge, no ACKNACK can answer one.
        if self.topic != Some(topic) || self.sent == 0 {
            return Answer::Unrelated;
        }
        if base <= SequenceNumber::FIRST {
            // The peer has found this participant just now, and the challenge before came too early.
            let is_early = self.sent_at.is_some_and(|sent_at| now.since(sent_at) < PAUSE_MIN);
            if !is_early {
                self.due_at = Some(now);
            }
            return Answer::Unrelated;
        }
        if self.wrong >= WRONG_MAX {
            return Answer::Unrelated;
        }
        let Some(at) = self.secrets.iter().position(|secret| *secret == base) else {
            return self.note_wrong(base, next);
        };
        // Only a reader at the locator can know its secret.
        self.answering = self.locators().get(at).copied();
        let Some(locator) = self.answering else { return Answer::Unrelated };
        self.windows_left = self.windows_left.saturating_sub(1);
        if self.windows_left > 0 {
            let floor = SequenceNumber(self.floor.0 + self.windows(topic).len);
            self.move_window(now, floor, random);
            return Answer::Unrelated;
        }
        let was_matched = topic_of_challenge(self.has) != Some(topic);
        let Self { reason, withheld, is_raised: has_passed, .. } = *self;
        Answer::Valid(Validated { reason, locator, topic, withheld, has_passed, was_matched })
    }

    /// Continues above `last`, the last number of the topic's writer. Returns the last number that challenges use.
    pub(super) fn raise(&mut self, now: Instant, last: SequenceNumber, random: impl FnMut() -> u64) -> SequenceNumber {
        let Some(topic) = self.topic else { return last };
        self.is_raised = true;
        self.raises += 1;
        let Windows { count, len } = self.windows(topic);
        (self.windows_left, self.first_floor, self.answering) = (count, last, None);
        self.move_window(now, last, random);
        SequenceNumber(last.0.saturating_add(i64::from(count) * len))
    }

    fn move_window(&mut self, now: Instant, floor: SequenceNumber, random: impl FnMut() -> u64) {
        self.floor = floor;
        (self.sent, self.sent_of_topic, self.due_at) = (0, 0, Some(now));
        self.set_secrets(random);
    }

    /// Returns when the next datagram of the challenge is due.
    pub(super) fn due_at(&self, now: Instant) -> Option<Instant> {
        let due_at = self.due_at?;
        self.topic?;
        // A challenge is complete after the turn of each locator.
        Some(if self.turn == 0 { due_at } else { now })
    }

    /// Lays out the next datagram of the challenge, which is due. `next_count` returns the count of a HEARTBEAT.
    pub(super) fn transmit(
        &mut self,
        now: Instant,
        (own, peer): (GuidPrefix, GuidPrefix),
        datagram: &mut Datagram,
        random: impl FnMut() -> u64,
        next_count: &mut impl FnMut(BuiltinPairTopic) -> i32,
    ) -> bool {
        // The locators that have had their turn are paid.
        let left = self.locators().len().saturating_sub(self.turn);
        if self.allowance < CHALLENGE_LEN.saturating_mul(left) {
            // The next announcement pays for it.
            self.due_at = None;
            return false;
        }
        if self.turn == 0 {
            self.change_topic_or_secrets(random);
            self.note_sent(now);
        }
        let Some(topic) = self.topic else { return false };
        // Without a locator, it waits for an interface that may bring one.
        let Some((locator, secret)) = self.next_turn() else { return false };
        let heartbeat = self.heartbeat(topic, secret, next_count(topic));
        datagram.clear();
        let mut message = MessageBuilder::new(datagram.buffer());
        message.header(own);
        message.info_dst(peer);
        message.heartbeat(&heartbeat);
        self.allowance = self.allowance.saturating_sub(datagram.len());
        datagram.set_destinations(&[locator]);
        true
    }

    /// Takes the bytes of an announcement of `len` bytes from the allowance. Returns the locators that may get it, at
    /// most `count_max`.
    pub(super) fn pay_for_announcement(&mut self, len: usize, count_max: usize) -> Vec<Locator> {
        let mut locators = Vec::new();
        for locator in self.locators().into_iter().take(count_max) {
            // An address that may be forged gets no more than a multiple of the bytes that came in its name.
            if self.allowance < len {
                break;
            }
            self.allowance -= len;
            locators.push(locator);
        }
        locators
    }

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

    /// Chooses the secrets of the present window.
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

    /// Changes the topic after silence, and the secrets after wrong answers.
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
    fn heartbeat(&self, topic: BuiltinPairTopic, secret: SequenceNumber, count: i32) -> Heartbeat {
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

    /// Takes the bytes of a datagram from the allowance and sets its destinations. Returns false if only the reserve
    /// would be left.
    pub(super) fn pay(&mut self, datagram: &mut Datagram) -> bool {
        let locators = self.locators();
        let cost = datagram.len().saturating_mul(locators.len());
        if locators.is_empty() || cost.saturating_add(RESERVE) > self.allowance {
            return false;
        }
        self.allowance -= cost;
        datagram.set_destinations(&locators);
        true
    }
}
