//! Addresses at which a participant may have restarted that has announced itself by the protected builtin topic.
//!
//! Plain announcements of such a participant change nothing, because anyone can forge one. But after a restart at
//! another address, it has no other way to tell where it is. So copies of the handshake go to the announced locators.
//! Each copy has the secret number of its locator, and the proof names the number that it answers. Only the receiver
//! at the locator can know it, so the proof makes this locator valid, and no other one.
//!
//! The number follows from participant and locator. So an answer also counts if other announcements have come since
//! its copy, or the same one again.
//!
//! Bounds: [`CANDIDATES_MAX`] announcements and one message for each participant. Their addresses get [`CREDIT`] bytes,
//! and [`CREDIT_FACTOR`] for each byte of an announcement.

use super::Participant;
use super::peer::{Peer, narrowed, on_hosts_of};
use super::security::{SecureEndpoints, locators_of};
use crate::discovery::Route;
use crate::discovery::data::ParticipantData;
use crate::types::{Duration, GuidPrefix, Instant, Locator, Now};
use std::collections::VecDeque;
use std::sync::Arc;

/// Announcements of other addresses that are kept; the newest ones.
const CANDIDATES_MAX: usize = 8;

/// Bytes of handshakes that go to other addresses, which may be forged. Each byte of an announcement earns more of
/// them. The limits are those of other addresses without a proof.
const CREDIT: usize = 16 << 10;
const CREDIT_FACTOR: usize = 4;

/// Time for which an address that is announced later may get the last message: the patience of handshakes.
const MESSAGE_LIFE: Duration = Duration::from_secs(10);

/// The possible restarts of a participant.
#[derive(Debug)]
pub(super) struct Restarts {
    /// The newest last.
    candidates: VecDeque<PossibleRestart>,
    /// Copies so far. Each locator gets its turn.
    turn: usize,
    /// Bytes that may still be sent.
    credit: usize,
    /// The last message of the handshake.
    latest: Option<(Instant, Vec<u8>)>,
}

/// An announcement of another address.
#[derive(Debug)]
struct PossibleRestart {
    data: ParticipantData,
    route: Route,
}

impl Default for Restarts {
    fn default() -> Self {
        Self { candidates: VecDeque::new(), turn: 0, credit: CREDIT, latest: None }
    }
}

impl Restarts {
    /// Keeps an announcement that took `len` bytes, in place of the oldest one if there are many.
    fn add(&mut self, candidate: PossibleRestart, len: usize) {
        self.credit = self.credit.saturating_add(len.saturating_mul(CREDIT_FACTOR)).min(CREDIT);
        self.candidates.retain(|known| known.route != candidate.route);
        if self.candidates.len() >= CANDIDATES_MAX {
            self.candidates.pop_front();
        }
        self.candidates.push_back(candidate);
    }

    /// Takes the bytes of a copy from the credit. Returns the locator that gets it.
    fn pay_for_copy(&mut self, len: usize) -> Option<Locator> {
        let locators = || self.candidates.iter().flat_map(|known| locators_of(&known.route));
        let locator = locators().nth(self.turn.checked_rem(locators().count())?).copied()?;
        self.pay(len)?;
        Some(locator)
    }

    /// As [`Self::pay_for_copy`], for the newest announcement and the last message.
    fn pay_for_latest(&mut self, now: Instant) -> Option<(Locator, Vec<u8>)> {
        let (_, message) = self.latest.as_ref().filter(|(sent, _)| now.since(*sent) < MESSAGE_LIFE)?;
        let message = message.clone();
        let locators = locators_of(&self.candidates.back()?.route);
        let locator = locators.get(self.turn.checked_rem(locators.len())?).copied()?;
        self.pay(message.len())?;
        Some((locator, message))
    }

    fn pay(&mut self, len: usize) -> Option<()> {
        self.credit = self.credit.checked_sub(len)?;
        self.turn = self.turn.wrapping_add(1);
        Some(())
    }

    /// Takes the announcement of the locator that has this number, and ends. Returns it with the locator.
    fn take_at(&mut self, number: i64, number_of: impl Fn(Locator) -> i64) -> Option<(PossibleRestart, Locator)> {
        let locator_of = |known: &PossibleRestart| {
            locators_of(&known.route).iter().copied().find(|locator| number_of(*locator) == number)
        };
        let (at, locator) =
            self.candidates.iter().enumerate().rev().find_map(|(at, known)| Some((at, locator_of(known)?)))?;
        let candidate = self.candidates.remove(at)?;
        self.candidates.clear();
        Some((candidate, locator))
    }
}

impl PossibleRestart {
    /// Returns what counts of the announcement once one of its locators has answered. The rest may be forged.
    fn at(mut self, locator: Locator) -> (ParticipantData, Route) {
        let route = narrowed(self.route, locator).unwrap_or_default();
        for locators in [&mut self.data.metatraffic_unicast, &mut self.data.default_unicast] {
            *locators = on_hosts_of(locators, &route);
        }
        (self.data, route)
    }
}

/// Notes the address in a plain announcement of a vouched participant, which took `len` bytes.
pub(super) fn note(participant: &mut Participant, now: Now, data: ParticipantData, len: usize) {
    let prefix = data.prefix;
    let route = participant.route_of_discovery(&data);
    let Some(peer) = participant.peers.known.get_mut(&prefix) else { return };
    if peer.route == peer.narrow(route.clone()) {
        return;
    }
    let validations = &participant.peers.validations;
    let restarts = peer.restarts.get_or_insert_default();
    restarts.add(PossibleRestart { data, route }, len);
    // At once, because other announcements may soon take its place.
    let copy = restarts.pay_for_latest(now.instant);
    if let (Some((locator, message)), Some(secure)) = (copy, &mut participant.secure) {
        secure.send_copy(prefix, locator, &message, validations.number_of(prefix, locator));
    }
}

/// Sends a copy of a handshake message to an address at which the participant may have restarted.
pub(super) fn send_copy(
    secure: &mut SecureEndpoints,
    peer: &mut Peer,
    now: Now,
    (to, payload): (GuidPrefix, &[u8]),
    number_of: impl Fn(Locator) -> i64,
) {
    let Some(restarts) = &mut peer.restarts else { return };
    restarts.latest = Some((now.instant, payload.to_vec()));
    if let Some(locator) = restarts.pay_for_copy(payload.len()) {
        secure.send_copy(to, locator, payload, number_of(locator));
    }
}

/// Uses a proof that answers the message with this number. If the participant has restarted at another address, that
/// counts from now on.
pub(super) fn use_proof(
    secure: &mut SecureEndpoints,
    peer: &mut Peer,
    answers: i64,
    number_of: impl Fn(Locator) -> i64,
) {
    let Some(restarts) = &mut peer.restarts else { return };
    let Some((candidate, locator)) = restarts.take_at(answers, number_of) else { return restarts.candidates.clear() };
    let (data, route) = candidate.at(locator);
    // The Final precedes its effect here, so its copy may have gone to another address.
    if let Some((_, message)) = restarts.latest.take() {
        secure.send_again(data.prefix, &route, message);
    }
    (peer.data, peer.route, peer.answered_at) = (Arc::new(data), route, Some(locator));
    // The next protected announcement corrects what may be forged in the plain one.
    peer.is_vouched = false;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locator(host: u8) -> Locator {
        Locator::udp_v4([192, 0, 2, host].into(), 7410)
    }

    /// An announcement of these hosts.
    fn candidate(hosts: &[u8]) -> PossibleRestart {
        let locators: Vec<_> = hosts.iter().map(|host| locator(*host)).collect();
        let route = Route { unicast: locators.iter().copied().collect(), ..Route::default() };
        let mut data = ParticipantData::new(GuidPrefix([1; 12]));
        (data.metatraffic_unicast, data.default_unicast) = (locators.clone(), locators);
        PossibleRestart { data, route }
    }

    fn number_of(locator: Locator) -> i64 {
        1_000 + i64::from(locator.address[15])
    }

    #[test]
    fn proof_selects_the_announcement_and_the_locator_that_it_answers() {
        let mut restarts = Restarts::default();
        for hosts in [&[1, 2][..], &[3], &[4, 5]] {
            restarts.add(candidate(hosts), 300);
        }
        assert!(restarts.take_at(1_009, number_of).is_none());
        let (taken, at) = restarts.take_at(1_002, number_of).unwrap();
        assert_eq!(at, locator(2));
        let (data, route) = taken.at(at);
        assert_eq!(route.unicast.to_vec(), [locator(2)]);
        assert_eq!((data.metatraffic_unicast, data.default_unicast), (vec![locator(2)], vec![locator(2)]));
        assert!(restarts.candidates.is_empty());
    }

    #[test]
    fn forged_announcements_get_bounded_bytes() {
        let mut restarts = Restarts { latest: Some((Instant::from_nanos(0), vec![0; 3_000])), ..Restarts::default() };
        let mut sent = 0;
        for host in 0..200 {
            restarts.add(candidate(&[host]), 400);
            let copies = [
                restarts.pay_for_latest(Instant::from_nanos(1)).map(|(locator, _)| locator),
                restarts.pay_for_copy(3_000),
            ];
            sent += copies.iter().flatten().count() * 3_000;
            assert!(restarts.candidates.len() <= CANDIDATES_MAX);
        }
        assert!((200 * 400..=CREDIT + CREDIT_FACTOR * 200 * 400).contains(&sent), "{sent}");
        // An old message helps no handshake.
        restarts.credit = CREDIT;
        assert!(restarts.pay_for_latest(Instant::from_nanos(11_000_000_000)).is_none());
    }

    #[test]
    fn each_locator_gets_its_turn() {
        let mut restarts = Restarts::default();
        assert_eq!(restarts.pay_for_copy(1), None);
        restarts.add(candidate(&[1, 2]), 300);
        restarts.add(candidate(&[3]), 300);
        let copies: Vec<_> = (0..6).filter_map(|_| restarts.pay_for_copy(1)).collect();
        assert_eq!(copies, [1, 2, 3, 1, 2, 3].map(locator));
    }
}
