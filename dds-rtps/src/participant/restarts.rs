//! Addresses at which a participant may have restarted that has announced itself by the protected builtin topic.
//!
//! Plain announcements of such a participant change nothing, because anyone can forge one. But after a restart at
//! another address, it has no other way to tell where it is. So copies of the handshake go to the announced locators.
//! Each copy has the secret number of its locator, and the proof names the number that it answers. Only the receiver
//! at the locator can know it, so the proof makes this locator valid, and no other one.
//!
//! The number follows from participant, locator and time. So an answer also counts if other announcements have come
//! since its copy, or the same one again. After a while, another host may have the address, so the number changes.
//!
//! Bounds: [`CANDIDATES_MAX`] addresses and one message for each participant. Each address has a credit of its own, so
//! that forged ones cannot use up that of the participant: [`CREDIT_FACTOR`] bytes for each byte that announced it.

use super::Participant;
use super::peer::{Peer, narrowed, on_hosts_of};
use super::security::{SecureEndpoints, locators_of};
use super::validation::Validations;
use crate::discovery::Route;
use crate::discovery::data::ParticipantData;
use crate::types::{Duration, GuidPrefix, Instant, Locator, Now};
use std::collections::VecDeque;
use std::sync::Arc;

/// Other addresses that are kept; those that were announced last.
const CANDIDATES_MAX: usize = 8;

/// Locators for user data of such an address, as many as a route has.
const USER_LOCATORS_MAX: usize = 8;

/// Bytes of handshakes that an address may get for each byte that announced it, as for other challenges. One
/// announcement pays for a message with usual certificates, so the next forged ones come too late.
const CREDIT_FACTOR: usize = 9;

/// Most bytes that an address may get at once.
const CREDIT: usize = 16 << 10;

/// Time for which an address that is announced later may get the last message: the patience of handshakes.
const MESSAGE_LIFE: Duration = Duration::from_secs(10);

/// The possible restarts of a participant.
#[derive(Debug, Default)]
pub(super) struct Restarts {
    /// The one that was announced last is the last.
    candidates: VecDeque<PossibleRestart>,
    /// Copies so far. Each address gets its turn.
    turn: usize,
    /// The last message of the handshake.
    latest: Option<(Instant, Vec<u8>)>,
}

/// Another address that was announced.
#[derive(Debug)]
struct PossibleRestart {
    route: Route,
    /// Locators for user data on the hosts of the route.
    default_unicast: Vec<Locator>,
    /// Bytes that may still be sent.
    credit: usize,
    /// Copies so far. Each locator gets its turn.
    turn: usize,
}

impl Restarts {
    /// Keeps an address in place of the oldest one if there are many. `len`: the bytes of its announcement.
    fn add(&mut self, mut candidate: PossibleRestart, len: usize) {
        if let Some(at) = self.candidates.iter().position(|known| known.route == candidate.route) {
            if let Some(known) = self.candidates.remove(at) {
                (candidate.credit, candidate.turn) = (known.credit, known.turn);
            }
        }
        candidate.credit = candidate.credit.saturating_add(len.saturating_mul(CREDIT_FACTOR)).min(CREDIT);
        if self.candidates.len() >= CANDIDATES_MAX {
            self.candidates.pop_front();
        }
        self.candidates.push_back(candidate);
    }

    /// Takes the bytes of a copy from the credit of the next address that has enough. Returns the locator that gets it.
    fn pay_for_copy(&mut self, len: usize) -> Option<Locator> {
        let count = self.candidates.len();
        for _ in 0..count {
            let at = self.turn.checked_rem(count)?;
            self.turn = self.turn.wrapping_add(1);
            let locator = self.candidates.get_mut(at)?.pay(len);
            if locator.is_some() {
                return locator;
            }
        }
        None
    }

    /// As [`Self::pay_for_copy`], for the newest address and the last message.
    fn pay_for_latest(&mut self, now: Instant) -> Option<(Locator, Vec<u8>)> {
        let (_, message) = self.latest.as_ref().filter(|(sent, _)| now.since(*sent) < MESSAGE_LIFE)?;
        let locator = self.candidates.back_mut()?.pay(message.len())?;
        Some((locator, message.clone()))
    }

    /// Takes the address with the locator that has answered, and ends. Returns it with the locator.
    fn take_at(&mut self, has_answered: impl Fn(Locator) -> bool) -> Option<(PossibleRestart, Locator)> {
        let locator_of =
            |known: &PossibleRestart| locators_of(&known.route).iter().copied().find(|locator| has_answered(*locator));
        let (at, locator) =
            self.candidates.iter().enumerate().rev().find_map(|(at, known)| Some((at, locator_of(known)?)))?;
        let candidate = self.candidates.remove(at)?;
        self.candidates.clear();
        Some((candidate, locator))
    }
}

impl PossibleRestart {
    fn new(data: &ParticipantData, route: Route) -> Self {
        let mut default_unicast = on_hosts_of(&data.default_unicast, &route);
        default_unicast.truncate(USER_LOCATORS_MAX);
        Self { route, default_unicast, credit: 0, turn: 0 }
    }

    /// Takes the bytes of a copy from the credit. Returns the locator that gets it.
    fn pay(&mut self, len: usize) -> Option<Locator> {
        let locators = locators_of(&self.route);
        let locator = locators.get(self.turn.checked_rem(locators.len())?).copied()?;
        self.credit = self.credit.checked_sub(len)?;
        self.turn = self.turn.wrapping_add(1);
        Some(locator)
    }

    /// Moves a participant to the locator that has answered. The other ones may be forged.
    fn apply(self, data: &mut ParticipantData, locator: Locator) -> Route {
        let route = narrowed(self.route, locator).unwrap_or_default();
        data.metatraffic_unicast = route.unicast.to_vec();
        data.default_unicast = on_hosts_of(&self.default_unicast, &route);
        if route.unicast.is_empty() {
            data.metatraffic_multicast = route.multicast.to_vec();
        }
        route
    }
}

/// Returns the number of a copy to a locator of a participant.
pub(super) fn number_of(validations: &Validations, now: Now, prefix: GuidPrefix, locator: Locator) -> i64 {
    validations.number_of(prefix, locator, period_of(now))
}

/// Whether a proof answers the copy to this locator. It may have left in the period before.
pub(super) fn is_answered(validations: &Validations, now: Now, of: (GuidPrefix, Locator), answers: i64) -> bool {
    let period = period_of(now);
    [period, period.wrapping_sub(1)].into_iter().any(|period| validations.number_of(of.0, of.1, period) == answers)
}

fn period_of(now: Now) -> u64 {
    now.instant.as_nanos() / MESSAGE_LIFE.as_nanos().unsigned_abs()
}

/// Notes the address in a plain announcement of a vouched participant, which took `len` bytes.
pub(super) fn note(participant: &mut Participant, now: Now, data: &ParticipantData, len: usize) {
    let prefix = data.prefix;
    let route = participant.route_of_discovery(data);
    let Some(peer) = participant.peers.known.get_mut(&prefix) else { return };
    if peer.route == peer.narrow(route.clone()) {
        return;
    }
    let validations = &participant.peers.validations;
    let restarts = peer.restarts.get_or_insert_default();
    restarts.add(PossibleRestart::new(data, route), len);
    // At once, because other announcements may soon take its place.
    let copy = restarts.pay_for_latest(now.instant);
    if let (Some((locator, message)), Some(secure)) = (copy, &mut participant.secure) {
        secure.send_copy(prefix, locator, &message, number_of(validations, now, prefix, locator));
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

/// Uses a proof. If it answers a copy, the participant has restarted at the address of that copy, which counts from now
/// on.
pub(super) fn use_proof(secure: &mut SecureEndpoints, peer: &mut Peer, has_answered: impl Fn(Locator) -> bool) {
    let Some(restarts) = &mut peer.restarts else { return };
    let Some((candidate, locator)) = restarts.take_at(has_answered) else { return restarts.candidates.clear() };
    let data = Arc::make_mut(&mut peer.data);
    let route = candidate.apply(data, locator);
    // The Final precedes its effect here, so its copy may have gone to another address.
    if let Some((_, message)) = restarts.latest.take() {
        secure.send_again(data.prefix, &route, message);
    }
    (peer.route, peer.answered_at) = (route, Some(locator));
    peer.path.forget_silent();
    // The next announcements tell what else has changed.
    peer.is_vouched = false;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locator(host: u8) -> Locator {
        Locator::udp_v4([192, 0, 2, host].into(), 7410)
    }

    fn route(hosts: &[u8]) -> Route {
        Route { unicast: hosts.iter().map(|host| locator(*host)).collect(), ..Route::default() }
    }

    /// An announcement of these hosts.
    fn candidate(hosts: &[u8]) -> PossibleRestart {
        let mut data = ParticipantData::new(GuidPrefix([1; 12]));
        data.default_unicast = hosts.iter().map(|host| locator(*host)).collect();
        PossibleRestart::new(&data, route(hosts))
    }

    #[test]
    fn proof_selects_the_address_and_the_locator_that_it_answers() {
        let mut restarts = Restarts::default();
        for hosts in [&[1, 2][..], &[3], &[4, 5]] {
            restarts.add(candidate(hosts), 300);
        }
        assert!(restarts.take_at(|at| at == locator(9)).is_none());
        let (taken, at) = restarts.take_at(|at| at == locator(2)).unwrap();
        assert_eq!(at, locator(2));
        let mut data = ParticipantData::new(GuidPrefix([1; 12]));
        (data.user_data, data.metatraffic_unicast) = (vec![7], vec![locator(9)]);
        assert_eq!(taken.apply(&mut data, at), route(&[2]));
        assert_eq!((data.metatraffic_unicast, data.default_unicast), (vec![locator(2)], vec![locator(2)]));
        assert_eq!(data.user_data, [7]);
        assert!(restarts.candidates.is_empty());
    }

    #[test]
    fn number_of_a_locator_changes_and_counts_for_a_while() {
        let validations = Validations::new(crate::types::HashSeed::fixed(7));
        let at = |secs: u64| Now {
            instant: Instant::from_nanos(secs * 1_000_000_000),
            time: crate::types::Time::from_unix_nanos(0),
        };
        let (prefix, locator) = (GuidPrefix([1; 12]), locator(1));
        let number = number_of(&validations, at(19), prefix, locator);
        let counts = |secs| is_answered(&validations, at(secs), (prefix, locator), number);
        assert_eq!([10, 19, 20, 29, 30, 1_000].map(counts), [true, true, true, true, false, false]);
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
        assert!((200 * 400..=CREDIT_FACTOR * 200 * 400).contains(&sent), "{sent}");
        // An old message helps no handshake.
        restarts.candidates.iter_mut().for_each(|candidate| candidate.credit = CREDIT);
        assert!(restarts.pay_for_latest(Instant::from_nanos(11_000_000_000)).is_none());
    }

    #[test]
    fn forged_announcements_use_up_no_credit_of_others() {
        let mut restarts = Restarts::default();
        let mut copies = 0;
        for host in 2..100 {
            restarts.add(candidate(&[host]), 400);
            // The participant repeats its announcement.
            if host % 5 == 0 {
                restarts.add(candidate(&[1]), 400);
            }
            copies += (0..3).filter(|_| restarts.pay_for_copy(3_000) == Some(locator(1))).count();
        }
        assert!(copies >= 15, "{copies}");
    }

    #[test]
    fn each_locator_gets_its_turn() {
        let mut restarts = Restarts::default();
        assert_eq!(restarts.pay_for_copy(1), None);
        restarts.add(candidate(&[1, 2]), 300);
        restarts.add(candidate(&[3]), 300);
        let copies: Vec<_> = (0..6).filter_map(|_| restarts.pay_for_copy(1)).collect();
        assert_eq!(copies, [1, 3, 2, 3, 1, 3].map(locator));
    }
}
