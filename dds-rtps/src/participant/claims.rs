//! Claims about a participant that come from another address than its own.
//!
//! Any host may send a disposal or a changed announcement in the name of a participant: RTPS 2.5 proves no sender. So
//! such a claim waits while the participant is challenged at its address in use. A right answer refutes the claim, and
//! silence confirms it. For a while after a refuted claim, further ones about the participant count for nothing.

use super::Participant;
use super::validation::{ChallengeReason, challenged_endpoints};
use crate::discovery::data::ParticipantData;
use crate::discovery::{ParticipantLoss, is_same_host};
use crate::types::{Duration, GuidPrefix, Instant, Now, SequenceNumber};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// Time that a participant has to refute a claim. It needs three answers, and a third of all datagrams may get lost.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// Time for which a refuted claim discredits further ones. Each challenge takes numbers of a builtin writer, which
/// forged claims must not draw without end.
const DISCREDIT_TIME: Duration = Duration::from_secs(10);

/// Time for which the new address of a moved participant may answer before other claims count.
const MOVE_TIME: Duration = Duration::from_secs(10);

/// Bytes that count as received for the challenge, which goes to a valid address.
const CHALLENGE_CREDIT: usize = 1 << 10;

/// Most addresses of a participant that are noted beside those that it announces; the latest ones.
const ANSWERED_FROM_MAX: usize = 4;

/// A claim about a participant.
#[derive(Debug)]
pub(super) enum Claim {
    /// It has left: a disposal with this sequence number.
    Left(SequenceNumber),
    /// It has changed: an announcement, and the bytes that it took.
    Changed(Box<ParticipantData>, usize),
}

#[derive(Debug)]
struct ClaimState {
    /// `None` once it is refuted.
    claim: Option<Claim>,
    /// End of the time to answer, or of the discredit.
    until: Instant,
}

/// The claims about all participants, at most one for each known participant.
#[derive(Debug, Default)]
pub(super) struct Claims {
    states: BTreeMap<GuidPrefix, ClaimState>,
}

impl Claims {
    /// Whether a claim about the participant waits for an answer.
    fn waits(&self, prefix: GuidPrefix) -> bool {
        self.states.get(&prefix).is_some_and(|state| state.claim.is_some())
    }

    /// Replaces the announcement that waits by a later one, which counts already.
    ///
    /// The older one must not count after it.
    pub(super) fn renew(&mut self, announced: &ParticipantData, len: usize) {
        let Some(state) = self.states.get_mut(&announced.prefix) else { return };
        if let Some(Claim::Changed(data, old_len)) = &mut state.claim {
            (**data, *old_len) = (announced.clone(), len);
        }
    }

    /// Whether a claim about the participant waits, or was refuted shortly before.
    fn contains(&self, prefix: GuidPrefix) -> bool {
        self.states.contains_key(&prefix)
    }

    fn begin(&mut self, now: Instant, prefix: GuidPrefix, claim: Claim) {
        if let Some(until) = now.after(ANSWER_TIME) {
            self.states.insert(prefix, ClaimState { claim: Some(claim), until });
        }
    }

    /// Refutes the claim about a participant that waits.
    fn refute(&mut self, now: Instant, prefix: GuidPrefix) {
        let Some(state) = self.states.get_mut(&prefix) else {
            debug_assert!(false, "the challenge of a claim ends with it");
            return;
        };
        (state.claim, state.until) = (None, now.after(DISCREDIT_TIME).unwrap_or(now));
    }

    /// Forgets the claim about a participant that is gone.
    pub(super) fn remove(&mut self, prefix: GuidPrefix) {
        self.states.remove(&prefix);
    }

    /// Returns when the next claim is confirmed, or the next discredit ends.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.states.values().map(|state| state.until).min()
    }

    /// Removes one entry whose time has ended. Its claim is confirmed; `None` was refuted.
    fn take_due(&mut self, now: Instant) -> Option<(GuidPrefix, Option<Claim>)> {
        let (&prefix, _) = self.states.iter().find(|(_, state)| state.until <= now)?;
        let state = self.states.remove(&prefix)?;
        Some((prefix, state.claim))
    }
}

/// Whether a datagram in the name of a participant counts at once, because nothing speaks against its sender.
pub(super) fn is_believed(participant: &Participant, prefix: GuidPrefix, sender: Option<IpAddr>) -> bool {
    let (Some(sender), Some(peer)) = (sender, participant.peers.known.get(&prefix)) else { return true };
    peer.answered_from.contains(&sender) || is_host_of(participant, &peer.data, sender)
}

/// Whether an ACKNACK in the name of a participant may answer a challenge.
///
/// Wrong answers from another address must not use up those of the participant, which refutes a claim.
pub(super) fn may_answer(participant: &Participant, prefix: GuidPrefix, sender: Option<IpAddr>) -> bool {
    !participant.peers.claims.waits(prefix) || is_believed(participant, prefix, sender)
}

/// Whether a peer announces this address. A peer on this host has all addresses of the host.
fn is_host_of(participant: &Participant, data: &ParticipantData, sender: IpAddr) -> bool {
    let locators = data.unicast_locators();
    let own = &participant.config.host_addresses;
    if is_same_host(own, &locators) && (sender.is_loopback() || own.iter().any(|host| host.address == sender)) {
        return true;
    }
    let addresses = || locators.iter().filter_map(|locator| Some(locator.to_socket_addr()?.ip()));
    // Multicast of IPv6 leaves from the link-local address, which a peer with a global one need not announce.
    let is_link_local = matches!(sender, IpAddr::V6(address) if address.is_unicast_link_local());
    addresses().any(|address| address == sender || is_link_local && address.is_ipv6())
}

/// Notes the address of a right answer to a challenge. Behind address translation, a peer does not announce it.
/// Returns whether it is a new one.
pub(super) fn note_answered_from(participant: &mut Participant, prefix: GuidPrefix, sender: Option<IpAddr>) -> bool {
    let (Some(sender), Some(peer)) = (sender, participant.peers.known.get_mut(&prefix)) else { return false };
    // A socket for user data does not read its senders.
    if sender.is_unspecified() || peer.answered_from.contains(&sender) {
        return false;
    }
    if peer.answered_from.len() >= ANSWERED_FROM_MAX {
        peer.answered_from.remove(0);
    }
    peer.answered_from.push(sender);
    true
}

/// Keeps a claim from a foreign address until the peer has answered a challenge, or was silent.
///
/// The address of the peer in use is valid.
pub(super) fn keep(participant: &mut Participant, now: Now, prefix: GuidPrefix, claim: Claim) {
    let Some(peer) = participant.peers.known.get_mut(&prefix) else {
        debug_assert!(false, "the caller has found the participant");
        return;
    };
    if let (Some(pending), Claim::Changed(data, _)) = (&peer.moves_to, &claim) {
        if pending.data == **data {
            return participant.repeat_move(now, prefix);
        }
    }
    let is_moving = peer.moves_to.as_ref().is_some_and(|pending| now.instant.since(pending.since) < MOVE_TIME);
    if participant.peers.claims.contains(prefix) || is_moving {
        participant.counters.claims_ignored += 1;
        return;
    }
    // The new address did not answer.
    peer.moves_to = None;
    let has = peer.answers_on.unwrap_or_else(|| challenged_endpoints(&peer.data));
    let (data, route) = (Arc::clone(&peer.data), peer.route.clone());
    participant.peers.claims.begin(now.instant, prefix, claim);
    participant.peers.validations.begin(now.instant, (&data, ChallengeReason::Claim), has, route, CHALLENGE_CREDIT);
    participant.raise_challenge(now, prefix, has);
}

/// Refutes the claim about a peer that has answered a challenge.
pub(super) fn refute(participant: &mut Participant, now: Now, prefix: GuidPrefix, sender: Option<IpAddr>) {
    participant.peers.claims.refute(now.instant, prefix);
    participant.counters.claims_refuted += 1;
    // A peer that is reached by multicast alone has shown one more host.
    if note_answered_from(participant, prefix, sender) {
        participant.update_valid_hosts(prefix);
    }
}

/// Believes the claims about peers that did not answer in time.
pub(super) fn confirm_due(participant: &mut Participant, now: Now) {
    while let Some((prefix, claim)) = participant.peers.claims.take_due(now.instant) {
        let Some(claim) = claim else { continue };
        participant.peers.validations.end(prefix);
        match claim {
            Claim::Left(number) => {
                participant.note_disposal(now, prefix, number, None);
                participant.lose(now, prefix, ParticipantLoss::Left);
            }
            Claim::Changed(data, len) => participant.change_peer(now, *data, len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: GuidPrefix = GuidPrefix([2; 12]);

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn claimed() -> Claims {
        let mut claims = Claims::default();
        claims.begin(at(0), PEER, Claim::Left(SequenceNumber(5)));
        claims
    }

    #[test]
    fn silence_confirms_after_the_time_to_answer() {
        let mut claims = claimed();
        assert_eq!(claims.deadline(), Some(at(2_000)));
        assert!(claims.take_due(at(1_999)).is_none());
        assert!(matches!(claims.take_due(at(2_000)), Some((PEER, Some(Claim::Left(SequenceNumber(5)))))));
        assert_eq!(claims.deadline(), None);
    }

    #[test]
    fn refuted_claim_discredits_others_for_a_time() {
        let mut claims = claimed();
        claims.refute(at(1), PEER);
        assert!(!claims.waits(PEER));
        assert!(claims.contains(PEER));
        assert!(claims.take_due(at(10_000)).is_none());
        assert!(matches!(claims.take_due(at(10_001)), Some((PEER, None))));
        assert!(!claims.contains(PEER));
    }
}
