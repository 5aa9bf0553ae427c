//! Handshakes with other participants (DDS Security 1.1, 8.3.2).
//!
//! In: announcements, messages of handshakes, the time. Out: messages, proofs of identities. Owned: the state of each
//! participant with an identity. `key_exchange` continues with those that have proved it.
//!
//! Bounds: a state for each known participant, and 128 handshakes at a time. A handshake ends 10 s after the last sign
//! of its participant. An address without a proof gets 16 KiB, and four times the bytes that come in its name.

use super::algorithms;
use super::keys::{KeysOfPeer, material_for};
use super::message_filter::MessageFilter;
use super::policy::DomainPolicy;
use super::refusals::RefusalLog;
use super::renewals::KeyRenewals;
use super::sent_keys::SentKeys;
use super::work_budget::{WorkBudget, WorkKind};
use dds_rtps::discovery::data::{ParticipantData, SecurityAlgorithms, SecurityInfo};
use dds_rtps::discovery::parameter_id as pid;
use dds_rtps::discovery::{
    BuiltinEndpoints, ParticipantLoss, PeerAdmission, SecurityAction, SecurityChannel, SecurityReportKind,
};
use dds_rtps::types::{Duration, EntityId, Guid, GuidPrefix, Instant, Now, ProtocolVersion, VendorId};
use dds_rtps::wire::parameter_id::SENTINEL;
use dds_security::access::Grant;
use dds_security::authentication::{
    AuthenticatedPeer, GenericMessage, HandshakeError, HandshakeRemote, HandshakeTime, LocalIdentity, LocalParticipant,
    PeerHandshake, TokenByteOrder,
};
use dds_security::crypto::{SendKey, random_bytes};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Handshakes at a time. Each costs some kilobytes, and work for each message.
const HANDSHAKES_MAX: usize = 128;
/// How long a handshake goes on after the last sign of its participant: three announcements with the defaults.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most Requests that wait for their answers at once, while other participants answer in [`ANSWER_TIME_GOAL`].
///
/// In a crowd, more of them would wait in queues, and would be repeated there. Forged announcements cause Requests that
/// get no answer. So a Request counts for two answer times, or for one and [`ANSWER_TIME_GOAL`] if that is longer.
const REQUESTS_MAX: u32 = 8;
/// Answers that take longer come from busy participants, so fewer Requests wait at once.
const ANSWER_TIME_GOAL: std::time::Duration = std::time::Duration::from_millis(25);
/// Answer time before the first answer. Four Requests wait at once then.
const ANSWER_TIME_FIRST: std::time::Duration = std::time::Duration::from_millis(50);
/// Longest answer time that counts. A computer may have slept.
const ANSWER_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(1);
/// How long a known deadline counts.
const DEADLINE_AGE: Duration = Duration::from_secs(1);
/// Pause between two checks of a proved identity that was refused. Its permissions may begin later.
const RETRY_PAUSE: Duration = Duration::from_secs(10);
/// A Request without budget waits for one of the next moments, which are 10 ms apart. All that wait share them, so that
/// each wakes this participant only a hundred times a second.
const WORK_PAUSE: u64 = 10_000_000;
const WORK_PAUSES: u8 = 5;
/// Bytes that go to the address of a participant that has not proved its identity. The address may be forged.
const CREDIT: usize = 16 << 10;
/// Bytes that a message in the name of such a participant earns, for each of its own.
const CREDIT_FACTOR: usize = 4;
/// Length of a short announcement.
const ANNOUNCEMENT_LEN: usize = 512;

/// The state of all handshakes.
pub(super) struct Handshakes {
    pub(super) local: Arc<LocalParticipant>,
    algorithms: SecurityAlgorithms,
    pub(super) peers: BTreeMap<GuidPrefix, PeerState>,
    pub(super) actions: VecDeque<SecurityAction>,
    /// Local endpoints that lacked a place for a receiver. Bound: the endpoints with keys.
    pub(super) full: BTreeSet<EntityId>,
    pub(super) renewals: KeyRenewals,
    last_message: i64,
    refusals: RefusalLog,
    work: WorkBudget,
    /// How long answers of other participants took lately.
    answer_time: std::time::Duration,
    /// When the deadline was found, and the deadline. `None` after a change.
    known_deadline: Option<(Instant, Option<Instant>)>,
    /// Time of the last call, in seconds since 1970, for the validity of permissions.
    pub(super) unix: i64,
}

/// A participant with an identity.
pub(super) struct PeerState {
    pub(super) vendor: VendorId,
    /// Those of the last announcement. Signed ones take their place.
    info: SecurityInfo,
    /// The last announcement wants P-384 for the agreement on a secret.
    wants_p384: bool,
    pub(super) builtin_endpoints: BuiltinEndpoints,
    /// `None` while too many others are under way.
    handshake: Option<PeerHandshake>,
    /// Whether it has sent a valid certificate in this handshake. The certificate may be a copy.
    is_plausible: bool,
    active_until: Instant,
    /// Bytes that may still go to its address before its proof.
    credit: usize,
    /// Times that it has proved its identity.
    generation: u64,
    last_received: ([u8; 16], i64),
    pub(super) proved: Option<ProvedPeer>,
    /// Why it may not take part, and when that is checked again.
    refusal: Option<String>,
    retry_at: Instant,
    was_expelled: bool,
    /// There was no budget for a Request to it, or too many others waited for answers.
    waits_until: Instant,
    /// A Request to it counts as one that waits for its answer until then, or until its proof.
    requested_until: Instant,
    /// It takes part without an identity, although a forged announcement has claimed one.
    is_guest: bool,
}

/// The rights of a participant that has proved its identity, and the keys that were sent to it.
pub(super) struct ProvedPeer {
    grant: Grant,
    /// Its signed ones.
    algorithms: SecurityAlgorithms,
    pub(super) sent: SentKeys,
    /// It replaces keys that it has, as this library does.
    pub(super) takes_new_keys: bool,
    /// When its certificate or its permissions end, in seconds since 1970.
    expires: i64,
    subject: String,
}

impl Handshakes {
    pub(super) fn new(local: Arc<LocalParticipant>, unix: i64) -> Self {
        let local_bits = local.identity.certificate().key_bits();
        let mut handshakes = Self {
            algorithms: algorithms::algorithms_of(&local.identity),
            local,
            peers: BTreeMap::new(),
            actions: VecDeque::new(),
            full: BTreeSet::new(),
            renewals: KeyRenewals::default(),
            last_message: 0,
            refusals: RefusalLog::new(unix),
            work: WorkBudget::new(local_bits),
            answer_time: ANSWER_TIME_FIRST,
            known_deadline: None,
            unix,
        };
        handshakes.report_old_revocations();
        handshakes
    }

    /// Reports files of revoked certificates that are old. They may lack the latest revocations.
    fn report_old_revocations(&mut self) {
        let identity = &self.local.identity;
        for (is_old, file) in [
            (identity.has_old_list(self.unix), "list of revoked certificates"),
            (identity.has_old_answers(self.unix), "file of OCSP responses"),
        ] {
            if is_old {
                let text = format!(
                    "the {file} is old, so it may lack the latest revocations: copy the newer one of the authority, \
                     and call reload_revocations"
                );
                let kind = SecurityReportKind::Outdated;
                self.actions.push_back(SecurityAction::Report { kind, text: text.into() });
            }
        }
    }

    pub(super) fn poll_action(&mut self) -> Option<SecurityAction> {
        self.actions.pop_front()
    }

    /// Returns the number of the next message.
    pub(super) fn next_message(&mut self) -> i64 {
        self.last_message += 1;
        self.last_message
    }

    /// Handles the announcement of a participant. Anyone can forge one.
    pub(super) fn peer_announced(
        &mut self,
        cx: &ExchangeContext<'_>,
        data: &ParticipantData,
        now: Now,
    ) -> PeerAdmission {
        let prefix = data.prefix;
        self.unix = unix_of(now);
        let announced = data.security.as_deref();
        let has_identity = announced
            .and_then(|security| security.identity.as_ref())
            .is_some_and(|token| token.class_id.starts_with("DDS:Auth:PKI-DH:1."));
        // An earlier announcement may have been a forged one, with an identity that this participant cannot prove.
        let is_guest = cx.policy.rule.allow_unauthenticated_participants && !may_have_identity(prefix);
        if !has_identity && (is_guest || !self.peers.contains_key(&prefix)) {
            self.peers.entry(prefix).and_modify(PeerState::become_guest);
            return self.without_identity(cx, prefix);
        }
        let peer = self.peers.entry(prefix).or_insert_with(|| PeerState::new(data.vendor, now.instant));
        if peer.proved.is_some() {
            // The announcement before the proof may have been a forged one that lacked some.
            if !peer.builtin_endpoints.contains(data.builtin_endpoints) {
                peer.builtin_endpoints = peer.builtin_endpoints.union(data.builtin_endpoints);
                self.send_builtin_keys(cx, prefix);
            }
            return PeerAdmission::ByProof;
        }
        peer.is_guest = false;
        peer.info = announced.and_then(|security| security.info).unwrap_or_default();
        let theirs = announced.and_then(|security| security.algorithms).unwrap_or(SecurityAlgorithms::V1_1);
        peer.note_requirement(algorithms::wants_p384(&theirs));
        let algorithms = algorithms::check(&self.algorithms, &theirs);
        peer.builtin_endpoints = data.builtin_endpoints;
        peer.note_sign(now, ANNOUNCEMENT_LEN);
        // It may be a forged announcement, so the handshake goes on, and tells the algorithms that count. A participant
        // that lacks one may not answer, so its announcement tells the reason.
        let is_first = peer.refusal.is_none();
        if let (Err(reason), true) = (algorithms, is_first) {
            self.refuse_unproved(prefix, &reason);
        }
        self.begin(prefix);
        self.retry(cx, prefix, now);
        self.pump(prefix, now);
        PeerAdmission::ByProof
    }

    fn without_identity(&mut self, cx: &ExchangeContext<'_>, prefix: GuidPrefix) -> PeerAdmission {
        if cx.policy.rule.allow_unauthenticated_participants {
            return PeerAdmission::Unproved;
        }
        self.actions.extend(self.refusals.without_identity(prefix, self.unix));
        PeerAdmission::ByProof
    }

    /// Begins a handshake, unless one is under way. It takes the place of another one if there are too many.
    fn begin(&mut self, prefix: GuidPrefix) {
        let local = Arc::clone(&self.local);
        let Some(peer) = self.peers.get(&prefix) else { return };
        // A guest has no identity to prove: a message in its name is forged.
        if peer.handshake.is_some() || peer.is_guest {
            return;
        }
        let guid = Guid::new(prefix, EntityId::PARTICIPANT).to_bytes();
        let remote = HandshakeRemote { guid, vendor: peer.vendor.0 };
        let Ok(random) = random_bytes() else { return };
        if !self.make_room() {
            return;
        }
        if let Some(peer) = self.peers.get_mut(&prefix) {
            let mut handshake = PeerHandshake::new(local, remote, random);
            handshake.note_requirement(peer.wants_p384);
            peer.handshake = Some(handshake);
        }
    }

    /// Ends a handshake that has not proved anything, if there are too many. Returns false without random numbers.
    fn make_room(&mut self) -> bool {
        let is_open = |peer: &PeerState| peer.handshake.is_some() && peer.proved.is_none();
        let open = self.peers.iter().filter(|(_, peer)| is_open(peer));
        let (plausible, others): (Vec<_>, Vec<_>) = open.partition(|(_, peer)| peer.is_plausible);
        if plausible.len() + others.len() < HANDSHAKES_MAX {
            return true;
        }
        // A forger cannot foresee which one ends. Any other choice would tell it how to displace the true ones.
        let candidates = if others.is_empty() { plausible } else { others };
        let Ok(random) = random_bytes() else { return false };
        let drawn = candidates.get(u32::from_le_bytes(random) as usize % candidates.len().max(1));
        let Some(ended) = drawn.map(|(prefix, _)| **prefix) else { return false };
        if let Some(peer) = self.peers.get_mut(&ended) {
            peer.end_handshake();
        }
        true
    }

    /// Sends the tokens that are due.
    fn pump(&mut self, prefix: GuidPrefix, now: Now) {
        loop {
            let Some(peer) = self.peers.get_mut(&prefix).filter(|peer| peer.may_send()) else { return };
            let Some(handshake) = &mut peer.handshake else { return };
            // A participant that is busy answers late. Repeated messages would make it later still.
            handshake.set_pause(self.answer_time.saturating_mul(2));
            if let Some(bits) = handshake.key_bits_of_poll(handshake_time(now)) {
                if !self.may_request(prefix, bits, now) {
                    return;
                }
            }
            let Some(peer) = self.peers.get_mut(&prefix) else { return };
            let Some(token) = peer.handshake.as_mut().and_then(|handshake| handshake.poll(handshake_time(now))) else {
                return;
            };
            let is_request = token.class_id.ends_with("+AuthReq");
            let class =
                if is_request { GenericMessage::AUTHENTICATION_REQUEST } else { GenericMessage::AUTHENTICATION };
            let related = if is_request { Default::default() } else { peer.last_received };
            let message = GenericMessage {
                identity: (self.local.guid, self.next_message()),
                related,
                destination_participant: Guid::new(prefix, EntityId::PARTICIPANT).to_bytes(),
                class_id: class.to_owned(),
                tokens: vec![token],
                ..GenericMessage::default()
            };
            let payload = message.to_payload(TokenByteOrder::Little);
            if let Some(peer) = self.peers.get_mut(&prefix) {
                // The last message may exceed the credit, because no part of it is of use.
                peer.credit = peer.credit.saturating_sub(payload.len());
            }
            self.actions.push_back(SecurityAction::Send { to: prefix, channel: SecurityChannel::Stateless, payload });
        }
    }

    /// Whether a Request to a participant, with a key of this many bits, may be created now.
    fn may_request(&mut self, prefix: GuidPrefix, key_bits: usize, now: Now) -> bool {
        if self.peers.get(&prefix).is_none_or(|peer| peer.waits_until > now.instant) {
            return false;
        }
        let waits = |peer: &PeerState| peer.proved.is_none() && peer.requested_until > now.instant;
        let waiting = self.peers.values().filter(|peer| waits(peer)).count();
        let requests_max = self.requests_max();
        let Some(peer) = self.peers.get_mut(&prefix) else { return false };
        let is_admitted = waiting < requests_max || peer.proved.is_some();
        if is_admitted && self.work.take(now.instant, prefix, WorkKind::OwnRequest, key_bits) {
            let patience = self.answer_time + self.answer_time.max(ANSWER_TIME_GOAL);
            let patience = Duration::from_nanos(i64::try_from(patience.as_nanos()).unwrap_or(i64::MAX));
            peer.requested_until = now.instant.after(patience).unwrap_or(now.instant);
            return true;
        }
        // A forger cannot foresee which of those that wait has its turn next.
        let [random] = random_bytes().unwrap_or([u8::MAX]);
        let moment = now.instant.as_nanos() / WORK_PAUSE + 1 + u64::from(random % WORK_PAUSES);
        peer.waits_until = Instant::from_nanos(moment.saturating_mul(WORK_PAUSE));
        false
    }

    /// Returns how many Requests may wait for answers at once.
    fn requests_max(&self) -> usize {
        let times = self.answer_time.as_nanos() / ANSWER_TIME_GOAL.as_nanos();
        (REQUESTS_MAX / u32::try_from(times).unwrap_or(u32::MAX).clamp(1, REQUESTS_MAX)) as usize
    }

    /// Notes how long an answer has taken.
    fn note_answer_time(&mut self, taken: std::time::Duration) {
        let taken = taken.min(ANSWER_TIME_MAX);
        // It grows fast, because the participants of a crowd are busy together, and falls slowly.
        let weight = if taken > self.answer_time { 2 } else { 8 };
        self.answer_time = (self.answer_time.saturating_mul(weight - 1) + taken) / weight;
    }

    /// Handles a message of a handshake. Anyone can forge one.
    pub(super) fn handle_stateless(&mut self, cx: &ExchangeContext<'_>, sender: GuidPrefix, payload: &[u8], now: Now) {
        self.unix = unix_of(now);
        let Ok(message) = GenericMessage::parse(payload) else { return };
        if message.destination_participant != self.local.guid || message.identity.0[..12] != sender.0 {
            return;
        }
        if ![GenericMessage::AUTHENTICATION, GenericMessage::AUTHENTICATION_REQUEST].contains(&&*message.class_id) {
            return;
        }
        self.begin(sender);
        let Some(peer) = self.peers.get_mut(&sender) else { return };
        let Some(handshake) = &mut peer.handshake else { return };
        // A message has one token. More of them would cost more than the sender pays for.
        let Some(token) = message.tokens.first() else { return };
        let certificate = token.binary("c.id");
        let kind = if PeerHandshake::is_reply_or_final(token) {
            WorkKind::ReplyOrFinal
        } else {
            self.work.kind_of_request(sender, certificate)
        };
        let (work, mut is_costly) = (&mut self.work, false);
        let before = self.local.identity.time_in_token();
        let handled = handshake.handle_if(token, handshake_time(now), |agreement_bits| {
            is_costly = true;
            work.take(now.instant, sender, kind, agreement_bits)
        });
        let in_token = self.local.identity.time_in_token().saturating_sub(before);
        self.work.note_time_in_token(now.instant, sender, in_token);
        if handled == Err(HandshakeError::Postponed) {
            // The other side repeats it.
            return;
        }
        if is_costly && handled.is_ok() {
            peer.is_plausible = true;
            certificate.into_iter().for_each(|certificate| self.work.note_certificate(sender, certificate));
        }
        let answer_time = handshake.take_answer_time();
        let proved = (handshake.generation() != peer.generation).then(|| handshake.peer().cloned()).flatten();
        peer.generation = handshake.generation();
        peer.last_received = message.identity;
        if peer.proved.is_none() {
            peer.note_sign(now, payload.len());
        }
        if let Some(answer_time) = answer_time {
            self.note_answer_time(answer_time);
        }
        if let Some(proved) = proved {
            // The Final before the keys.
            self.pump(sender, now);
            let answers = if message.related.0 == self.local.guid { message.related.1 } else { 0 };
            self.check_proof(cx, sender, (&proved, answers), now);
        } else if let Err(error) = handled {
            self.refuse_unproved(sender, &format!("the handshake failed: {error}"));
        }
        self.pump(sender, now);
    }

    /// Checks a refused identity again, because its permissions may count by now.
    fn retry(&mut self, cx: &ExchangeContext<'_>, prefix: GuidPrefix, now: Now) {
        let Some(peer) = self.peers.get(&prefix).filter(|peer| peer.retry_at <= now.instant) else { return };
        let Some(proved) = peer.handshake.as_ref().and_then(|handshake| handshake.peer().cloned()) else { return };
        // It does not take part yet, so its first announcement tells its address.
        self.check_proof(cx, prefix, (&proved, 0), now);
    }

    /// Begins the exchange of keys with a participant that has proved its identity, if its permissions allow that.
    ///
    /// The proof has the number of the message that it answers.
    fn check_proof(
        &mut self,
        cx: &ExchangeContext<'_>,
        prefix: GuidPrefix,
        (proof, answers): (&AuthenticatedPeer, i64),
        now: Now,
    ) {
        let Some(peer) = self.peers.get_mut(&prefix) else { return };
        peer.retry_at = now.instant.after(RETRY_PAUSE).unwrap_or(now.instant);
        let subject = proof.certificate.subject_text().escape_debug().to_string();
        // The files of revoked certificates may have changed since the handshake began.
        let counts = self.local.identity.check_peer_again(&proof.certificate, self.unix);
        let counts = counts.map_err(|error| error.to_string());
        // Anyone can forge an announcement. The other side has signed its discovery data, so those count.
        let signed = signed_data(&proof.participant_data, prefix);
        let security = signed.as_ref().and_then(|data| data.security.as_deref());
        let theirs = security.and_then(|security| security.algorithms).unwrap_or(SecurityAlgorithms::V1_1);
        let info = security.and_then(|security| security.info).unwrap_or(peer.info);
        let fits = counts.and_then(|()| algorithms::check(&self.algorithms, &theirs));
        let checked = fits.and_then(|()| cx.policy.check_peer(&proof.certificate, &proof.permissions, info, self.unix));
        let grant = match checked {
            Ok(grant) => grant,
            Err(reason) => {
                if peer.proved.take().is_some() {
                    peer.was_expelled = true;
                    self.actions.push_back(SecurityAction::Expel(prefix));
                }
                return self.refuse_unproved(prefix, &format!("identity `{subject}`: {reason}"));
            }
        };
        let exchange = match SendKey::new(proof.secret.key_exchange_material()) {
            Ok(Some(exchange)) => exchange,
            _ => return self.refuse_unproved(prefix, "the system has no random numbers"),
        };
        let vendor = signed.map(|data| data.vendor);
        cx.filter.keys.set_peer(prefix, KeysOfPeer::new(exchange, vendor));
        if cx.filter.keys.messages().is_some_and(|key| material_for(&key, prefix).is_none()) {
            cx.filter.keys.remove_peer(prefix);
            return self.refuse_unproved(prefix, "origin authentication of messages takes at most 32 participants");
        }
        let expires = proof.certificate.validity().not_after.min(grant.not_after);
        let text = format!("participant {prefix} has proved the identity `{subject}`").into();
        self.actions.push_back(SecurityAction::Report { kind: SecurityReportKind::Admitted, text });
        // Cyclone DDS 0.10 keeps new keys of an endpoint for its next match, which never comes. Fast DDS 2.9 opens
        // messages with the first key alone, and answers nothing more after a change.
        let takes_new_keys = vendor == Some(VendorId::OURS);
        let sent = SentKeys::default();
        peer.proved = Some(ProvedPeer { grant, algorithms: theirs, sent, takes_new_keys, expires, subject });
        peer.refusal = None;
        self.refusals.forget(prefix);
        self.actions.push_back(SecurityAction::BeginKeyExchange { prefix, answers });
        self.send_first_keys(cx, prefix);
    }

    /// The rights of a participant that has proved its identity.
    pub(super) fn grant_of(&self, prefix: GuidPrefix) -> Option<&Grant> {
        self.peers.get(&prefix)?.proved.as_ref().map(|proved| &proved.grant)
    }

    /// Checks the ciphers that an endpoint of a participant requires.
    ///
    /// # Errors
    /// The reason: a cipher that one side requires and the other one lacks.
    pub(super) fn check_ciphers(&self, prefix: GuidPrefix, required: Option<u32>) -> Result<(), String> {
        let Some(proved) = self.peers.get(&prefix).and_then(|peer| peer.proved.as_ref()) else { return Ok(()) };
        algorithms::check_endpoint(&self.algorithms, &proved.algorithms, required)
    }

    pub(super) fn peer_lost(&mut self, cx: &ExchangeContext<'_>, prefix: GuidPrefix, cause: ParticipantLoss, now: Now) {
        self.refusals.forget(prefix);
        let lost = self.peers.remove(&prefix);
        let expires = lost.as_ref().and_then(|peer| peer.proved.as_ref()).map(|proved| proved.expires);
        self.renewals.note_lost(prefix, expires, cause, now.instant);
        if let Some(PeerState { was_expelled: true, refusal: Some(reason), .. }) = lost {
            self.refusals.expelled(prefix, reason, self.unix);
        }
        cx.filter.keys.remove_peer(prefix);
        self.offer_places(cx, |_| true);
    }

    /// Returns the time of the next [`Self::handle_timeout`].
    pub(super) fn deadline(&mut self, now: Now) -> Option<Instant> {
        // Discovery asks after each datagram. Expiry follows the clock of the system, which may be set.
        if let Some((found_at, deadline)) = self.known_deadline {
            if now.instant.since(found_at) < DEADLINE_AGE {
                return deadline;
            }
        }
        let deadline = self.find_deadline(now);
        self.known_deadline = Some((now.instant, deadline));
        deadline
    }

    /// Makes the next call find the deadline again, because something may change.
    pub(super) fn forget_deadline(&mut self) {
        self.known_deadline = None;
    }

    fn find_deadline(&self, now: Now) -> Option<Instant> {
        let due = |peer: &PeerState| {
            let resend = peer.deadline().map(|due| due.max(now.instant));
            let expiry = peer.proved.as_ref().and_then(|proved| {
                let left = u64::try_from(proved.expires.saturating_sub(unix_of(now))).unwrap_or(0);
                now.instant.after(Duration::from_secs(left.saturating_add(1)))
            });
            [resend, expiry].into_iter().flatten().min()
        };
        self.peers.values().filter_map(due).chain(self.renewals.deadline(now)).min()
    }

    /// Sends tokens again, and ends handshakes without answers and identities that have expired.
    pub(super) fn handle_timeout(&mut self, cx: &ExchangeContext<'_>, now: Now) {
        self.unix = unix_of(now);
        for prefix in self.renewals.take_outdated(now.instant) {
            if let Some(peer) = cx.filter.keys.peer(prefix) {
                peer.received().forget_retired();
            }
        }
        if self.renewals.take_due(now) {
            self.renew_keys(cx);
        }
        let prefixes: Vec<GuidPrefix> = self.peers.keys().copied().collect();
        for prefix in prefixes {
            let Some(peer) = self.peers.get_mut(&prefix) else { continue };
            if peer.proved.as_ref().is_some_and(|proved| proved.expires < self.unix) {
                self.expel(prefix, "its certificate or its permissions have ended");
                continue;
            }
            if peer.proved.is_none() && peer.active_until <= now.instant {
                // A later announcement begins another one.
                peer.end_handshake();
                continue;
            }
            if peer.deadline().is_some_and(|due| due <= now.instant) {
                self.pump(prefix, now);
            }
        }
    }

    /// Cuts off a participant that has proved its identity.
    fn expel(&mut self, prefix: GuidPrefix, reason: &str) {
        let Some(peer) = self.peers.get_mut(&prefix) else { return };
        let subject = peer.proved.take().map(|proved| proved.subject).unwrap_or_default();
        peer.end_handshake();
        peer.was_expelled = true;
        self.actions.push_back(SecurityAction::Expel(prefix));
        self.refuse_unproved(prefix, &format!("identity `{subject}`: {reason}"));
    }

    /// Uses other files of revoked certificates, and cuts off the participants that they revoke.
    pub(super) fn set_identity(&mut self, identity: LocalIdentity, now: Now) {
        self.unix = unix_of(now);
        self.local = Arc::new(LocalParticipant { identity, ..LocalParticipant::clone(&self.local) });
        self.report_old_revocations();
        let prefixes: Vec<GuidPrefix> = self.peers.keys().copied().collect();
        for prefix in prefixes {
            let Some(peer) = self.peers.get_mut(&prefix) else { continue };
            if peer.proved.is_none() {
                // The next announcement begins another one, which knows the files.
                peer.end_handshake();
                continue;
            }
            let proof = peer.handshake.as_ref().and_then(PeerHandshake::peer);
            let checked =
                proof.map_or(Ok(()), |proof| self.local.identity.check_peer_again(&proof.certificate, self.unix));
            if let Err(error) = checked {
                self.expel(prefix, &error.to_string());
            }
        }
    }

    /// Notes and reports why a participant may not take part. Forged messages do not concern one that does.
    fn refuse_unproved(&mut self, prefix: GuidPrefix, reason: &str) {
        let Some(peer) = self.peers.get_mut(&prefix).filter(|peer| peer.proved.is_none()) else { return };
        if peer.refusal.as_deref() == Some(reason) {
            return;
        }
        peer.refusal = Some(reason.to_owned());
        let kind = if peer.was_expelled { SecurityReportKind::Expelled } else { SecurityReportKind::Refused };
        self.actions.extend(self.refusals.report(kind, prefix, reason, self.unix));
    }

    pub(super) fn report(&mut self, prefix: GuidPrefix, reason: &str) {
        self.actions.extend(self.refusals.report(SecurityReportKind::Refused, prefix, reason, self.unix));
    }

    /// Returns a text on participants that do not take part. Empty if there are none.
    pub(super) fn explain(&self) -> String {
        let unproved = self.peers.iter().filter(|(_, peer)| peer.proved.is_none() && !peer.is_guest);
        self.refusals.explain(unproved.map(|(prefix, peer)| (*prefix, peer.refusal.as_deref())), self.unix)
    }
}

impl PeerState {
    fn new(vendor: VendorId, now: Instant) -> Self {
        Self {
            vendor,
            info: SecurityInfo::default(),
            wants_p384: false,
            builtin_endpoints: BuiltinEndpoints::NONE,
            handshake: None,
            is_plausible: false,
            active_until: now,
            credit: CREDIT,
            generation: 0,
            last_received: Default::default(),
            proved: None,
            refusal: None,
            retry_at: now,
            was_expelled: false,
            waits_until: now,
            requested_until: now,
            is_guest: false,
        }
    }

    /// Notes that a message has come in the name of this participant.
    fn note_sign(&mut self, now: Now, len: usize) {
        self.active_until = now.instant.after(PATIENCE).unwrap_or(now.instant);
        self.credit = (self.credit + len.saturating_mul(CREDIT_FACTOR)).min(CREDIT);
    }

    /// Notes whether an announcement wants P-384 for the agreement.
    fn note_requirement(&mut self, wants_p384: bool) {
        self.wants_p384 = wants_p384;
        if let Some(handshake) = &mut self.handshake {
            handshake.note_requirement(wants_p384);
        }
    }

    /// Returns when the handshake has something to send.
    fn deadline(&self) -> Option<Instant> {
        if !self.may_send() {
            return None;
        }
        let elapsed = self.handshake.as_ref()?.deadline()?;
        let due = Instant::from_nanos(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX));
        Some(due.max(self.waits_until))
    }

    fn may_send(&self) -> bool {
        self.proved.is_some() || self.credit > 0
    }

    fn become_guest(&mut self) {
        self.end_handshake();
        self.is_guest = true;
    }

    fn end_handshake(&mut self) {
        (self.handshake, self.is_plausible, self.generation) = (None, false, 0);
    }
}

/// What handshakes need of the other parts.
pub(super) struct ExchangeContext<'a> {
    pub(super) policy: &'a DomainPolicy,
    pub(super) filter: &'a MessageFilter,
}

/// Whether a participant of this name may prove an identity: then the name begins with a set bit (DDS Security 1.1,
/// 9.3.3). The others begin with a vendor, which has none (RTPS 2.5, 9.3.1.1).
fn may_have_identity(prefix: GuidPrefix) -> bool {
    prefix.0[0] & 0x80 != 0
}

/// Returns the seconds since 1970.
pub(super) fn unix_of(now: Now) -> i64 {
    now.time.as_unix_nanos() / 1_000_000_000
}

fn handshake_time(now: Now) -> HandshakeTime {
    HandshakeTime { elapsed: std::time::Duration::from_nanos(now.instant.as_nanos()), unix: unix_of(now) }
}

/// Encapsulation header of the discovery data in a handshake, which omit it: PL_CDR, big endian.
const PL_CDR_BE: [u8; 4] = [0, 2, 0, 0];

/// Returns the discovery data of a handshake. They are signed, and the announcement is not.
fn signed_data(data: &[u8], prefix: GuidPrefix) -> Option<ParticipantData> {
    Some(ParticipantData::decode(&[&PL_CDR_BE, data].concat(), prefix).ok()?.data)
}

/// Returns the discovery data of a handshake, with the parameters that decide: GUID, version, vendor, protection,
/// algorithms.
pub(super) fn participant_data(guid: [u8; 16], info: SecurityInfo, algorithms: &SecurityAlgorithms) -> Vec<u8> {
    let version = ProtocolVersion::OURS;
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let SecurityAlgorithms { certificates, handshakes, agreement, .. } = algorithms;
    let signatures = [certificates, handshakes].map(|sets| [sets.supported, sets.required]).concat();
    let ciphers = [
        algorithms.supported_ciphers,
        algorithms.builtin_ciphers,
        algorithms.exchange_ciphers,
        algorithms.endpoint_ciphers,
    ];
    let mut data = Vec::new();
    for (id, value) in [
        (pid::PARTICIPANT_GUID, guid.to_vec()),
        (pid::PROTOCOL_VERSION, vec![version.major, version.minor, 0, 0]),
        (pid::VENDOR_ID, vec![VendorId::OURS.0[0], VendorId::OURS.0[1], 0, 0]),
        (pid::PARTICIPANT_SECURITY_INFO, words(&[info.attributes, info.plugin_attributes])),
        (pid::SIGNATURE_ALGORITHMS, words(&signatures)),
        (pid::AGREEMENT_ALGORITHMS, words(&[agreement.supported, agreement.required])),
        (pid::CIPHER_ALGORITHMS, words(&ciphers)),
        (SENTINEL, Vec::new()),
    ] {
        data.extend_from_slice(&id.to_be_bytes());
        data.extend_from_slice(&(value.len() as u16).to_be_bytes());
        data.extend_from_slice(&value);
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_rtps::discovery::data::AlgorithmSets;

    #[test]
    fn signed_discovery_data_tell_the_vendor_the_protection_and_the_algorithms() {
        // A Request of Cyclone DDS 0.10.2.
        let captured = include_bytes!("../../../dds-security/tests/vectors/handshake/cyclone_request.bin");
        let message = GenericMessage::parse(captured).unwrap();
        let prefix = GuidPrefix(*message.identity.0.first_chunk().unwrap());
        let data = message.tokens[0].binary("c.pdata").unwrap();
        let of_cyclone = signed_data(data, prefix).unwrap();
        assert_eq!(of_cyclone.vendor, VendorId::CYCLONE);
        let security = of_cyclone.security.unwrap();
        assert!(security.info.is_some_and(|info| info.attributes & SecurityInfo::VALID != 0), "{security:?}");
        assert_eq!(security.algorithms, None);
        let guid = Guid::new(prefix, EntityId::PARTICIPANT).to_bytes();
        let info = SecurityInfo { attributes: 0x8000_0001, plugin_attributes: 0x8000_0002 };
        let sets = |supported, required| AlgorithmSets { supported, required };
        let algorithms = SecurityAlgorithms {
            certificates: sets(1, 2),
            handshakes: sets(3, 4),
            agreement: sets(5, 6),
            supported_ciphers: 7,
            builtin_ciphers: 8,
            exchange_ciphers: 9,
            endpoint_ciphers: 10,
        };
        let own = signed_data(&participant_data(guid, info, &algorithms), prefix).unwrap();
        assert_eq!(own.vendor, VendorId::OURS);
        let security = own.security.unwrap();
        assert_eq!((security.info, security.algorithms), (Some(info), Some(algorithms)));
        assert_eq!(signed_data(&participant_data(guid, info, &algorithms), GuidPrefix([0; 12])), None);
    }
}
