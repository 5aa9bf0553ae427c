//! Paths to peers that die although all interfaces stay.
//!
//! A peer with several locators is reached at the one that has answered. If the path to it dies, for example behind a
//! switch, announcements may still arrive from another address of the peer. No interface changes, so nothing else tells
//! of it. So the builtin reader that has answered before is asked now and then. If it is silent, all usable locators
//! are challenged, and the first answer decides.
//!
//! Announcements from the host of the locator in use show that its path lives. Then there is no question, and neither
//! for a peer without another locator. Only the reader that has answered before is asked, because another one may be
//! best effort.
//!
//! If announcements come from that host again during a challenge, only the locator in use is challenged further.
//! Another one must not replace it. The challenge does not end, because the peer may have seen a number of it.
//!
//! Bounds: a question for each peer in [`ASK_PERIOD`], a challenge if it stays silent, and the bytes that `validation`
//! allows.

use super::Participant;
use super::claims;
use super::peer::narrowed;
use super::security;
use super::validation::{ChallengeReason, Validated, topic_of_challenge};
use crate::discovery::BuiltinPairTopic;
use crate::discovery::data::ParticipantData;
use crate::types::{Duration, GuidPrefix, Instant, Locator, Now, SequenceNumber};
use crate::wire::{AckNack, Receiver};
use std::net::IpAddr;
use std::sync::Arc;

/// Time without a sign of the path after which the peer is asked.
const ASK_PERIOD: Duration = Duration::from_secs(10);

/// Time to answer. A busy peer needs some of it.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// Signs of the path to the locator of a peer that is in use.
#[derive(Debug)]
pub(super) struct PeerPath {
    /// Time of the last sign, question or challenge.
    since: Instant,
    /// The peer was asked, and has not answered yet.
    is_asked: bool,
    /// The locator that was in use before, and fell silent.
    silent: Option<Locator>,
}

impl PeerPath {
    pub(super) fn new(now: Instant) -> Self {
        Self { since: now, is_asked: false, silent: None }
    }

    /// Notes a sign of the path.
    pub(super) fn note_sign(&mut self, now: Instant) {
        (self.since, self.is_asked) = (now, false);
    }

    /// Gives the locator that fell silent another chance.
    pub(super) fn forget_silent(&mut self) {
        self.silent = None;
    }

    /// Returns the locator that fell silent. It is the last choice until other locators are announced.
    pub(super) fn silent(&self) -> Option<Locator> {
        self.silent
    }

    /// Whether the time for the next question or challenge has come.
    fn is_due(&self, now: Instant) -> bool {
        now.since(self.since) >= if self.is_asked { ANSWER_TIME } else { ASK_PERIOD }
    }
}

/// Handles an announcement that changes nothing: checks the path to the peer. `origin`: its sender and its bytes.
pub(super) fn check(participant: &mut Participant, now: Now, prefix: GuidPrefix, origin: (Option<IpAddr>, usize)) {
    let (sender, len) = origin;
    let Some(peer) = participant.peers.known.get_mut(&prefix) else { return };
    let (Some(has), Some(in_use)) = (peer.answers_on, peer.answered_at) else { return };
    if sender.is_some() && sender == in_use.to_socket_addr().map(|address| address.ip()) {
        peer.path.note_sign(now.instant);
        return challenge_only(participant, prefix, in_use);
    }
    if !peer.path.is_due(now.instant) {
        return;
    }
    let was_asked = std::mem::take(&mut peer.path.is_asked);
    peer.path.since = now.instant;
    let data = Arc::clone(&peer.data);
    let route = participant.all_locators(&data);
    if route.unicast.len() < 2 || security::refuses_plain(participant, prefix) {
        return;
    }
    match participant.peers.validations.reason(prefix) {
        Some(ChallengeReason::Path) => {
            participant.peers.validations.set_route(prefix, &route);
            participant.peers.validations.challenge_again(now.instant, prefix);
        }
        // Its answer is a sign as well.
        Some(_) => {}
        None if was_asked => {
            participant.peers.validations.begin(now.instant, (&data, ChallengeReason::Path), has, route, len);
            participant.raise_challenge(now, prefix, has);
        }
        None => ask(participant, now, prefix),
    }
}

/// Restricts a challenge of all locators to the one in use, whose path lives.
fn challenge_only(participant: &mut Participant, prefix: GuidPrefix, in_use: Locator) {
    if participant.peers.validations.reason(prefix) != Some(ChallengeReason::Path) {
        return;
    }
    let Some(peer) = participant.peers.known.get(&prefix) else { return };
    let data = Arc::clone(&peer.data);
    if let Some(route) = narrowed(participant.all_locators(&data), in_use) {
        participant.peers.validations.set_route(prefix, &route);
    }
}

/// Asks the builtin reader that has answered before.
fn ask(participant: &mut Participant, now: Now, prefix: GuidPrefix) {
    let Some(peer) = participant.peers.known.get_mut(&prefix) else { return };
    let Some(topic) = peer.answers_on.and_then(topic_of_challenge) else { return };
    peer.path.is_asked = true;
    participant.pairs.get_mut(topic).ask(now, prefix);
}

/// Notes an ACKNACK, which may answer a question.
pub(super) fn note_answer(
    participant: &mut Participant,
    now: Now,
    receiver: &Receiver,
    topic: BuiltinPairTopic,
    ack_nack: &AckNack,
) {
    let prefix = receiver.source_prefix;
    // A reader that receives nothing requests from 1 on.
    if ack_nack.reader_sn_state.base() <= SequenceNumber::FIRST
        || !claims::is_believed(participant, prefix, receiver.sender)
    {
        return;
    }
    let Some(peer) = participant.peers.known.get_mut(&prefix) else { return };
    if peer.answers_on.and_then(topic_of_challenge) == Some(topic) {
        peer.path.note_sign(now.instant);
    }
}

/// Uses the locator that has answered in place of one that has fallen silent. It may be the same one.
pub(super) fn use_answer(
    participant: &mut Participant,
    now: Now,
    prefix: GuidPrefix,
    validated: &Validated,
    sender: Option<IpAddr>,
) {
    let Some(peer) = participant.peers.known.get(&prefix) else { return };
    let (data, former) = (Arc::clone(&peer.data), peer.answered_at);
    let route = narrowed(participant.all_locators(&data), validated.locator);
    // The peer may announce other locators by now.
    let (Some(route), Some(peer)) = (route, participant.peers.known.get_mut(&prefix)) else { return };
    peer.note_answered(now, validated);
    if former != Some(validated.locator) {
        peer.path.silent = former;
        participant.use_route(now, &data, route);
    }
    if claims::note_answered_from(participant, prefix, sender) {
        participant.update_valid_hosts(prefix);
    }
}

/// Gives the locator that fell silent another chance, if a peer announces other locators than before.
pub(super) fn note_changed(participant: &mut Participant, data: &ParticipantData) {
    let Some(peer) = participant.peers.known.get_mut(&data.prefix) else { return };
    if peer.data.metatraffic_unicast != data.metatraffic_unicast {
        peer.path.forget_silent();
    }
}
