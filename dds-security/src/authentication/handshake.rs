//! The state machine of a handshake with one other participant: roles, repetition, renewal.

use super::agreement::Agreement;
use super::exchange::{
    HandshakeError, HandshakeStep, Nonce, ReplyExchange, ReplyId, RequestExchange, WorkPermit, authentication_request,
    challenge, hash_of_request,
};
use super::identity::LocalParticipant;
use super::{AuthenticatedPeer, DataHolder};
use crate::crypto::hmac;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// Shortest time after which a token is sent again, and between two answers to copies of a token. It doubles up to
/// [`REPEAT_MAX`].
const REPEAT_MIN: Duration = Duration::from_millis(100);

/// Longest time after which a token is sent again.
const REPEAT_MAX: Duration = Duration::from_secs(3);

/// Most Replies that wait for their Final. Each Request with a sniffed certificate makes one.
const PENDING_MAX: usize = 8;

/// Age from which on a waiting Reply makes room for another one. Its Final comes within a round trip.
const PENDING_AGE: Duration = Duration::from_millis(50);

/// Bound of the random pause, in milliseconds, between two Replies that take the place of others.
const ADMISSION_PAUSE_MS: u8 = 20;

/// Age at which a Reply without a Final is given up. Until then it is sent again and again.
const PENDING_END: Duration = Duration::from_secs(30);

/// Shortest time between two proofs of an authenticated participant. Anyone can ask for one.
const RENEWAL_PAUSE: Duration = Duration::from_secs(5);

/// Times that an authenticated participant is asked for a new proof.
const RENEWAL_REPEATS: u32 = 10;

/// The time of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandshakeTime {
    /// Time since any moment in the past, which no adjustment of the clock changes.
    pub elapsed: Duration,
    /// Seconds since 1970, for the validity of certificates.
    pub unix: i64,
}

/// The other participant, as discovery knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandshakeRemote {
    /// GUID.
    pub guid: [u8; 16],
    /// Vendor.
    pub vendor: [u8; 2],
}

/// The handshake with one other participant. It lives as long as that participant is known.
///
/// Lost, repeated and late tokens do no harm. After a participant has proved its identity, it stays authenticated
/// until it proves it again, for example after a restart. Forged tokens change nothing.
///
/// ```
/// use dds_security::authentication::{
///     PeerHandshake, HandshakeTime, LocalIdentity, LocalParticipant, HandshakeRemote,
/// };
/// use dds_security::pki::{Issuer, PrivateKey, Validity};
/// use std::{sync::Arc, time::Duration};
///
/// let validity = Validity { not_before: 1_700_000_000, not_after: 1_900_000_000 };
/// let now = HandshakeTime { elapsed: Duration::ZERO, unix: 1_800_000_000 };
/// let authority = Issuer::generate("identity CA", validity)?;
/// let participant = |name: &str| -> Result<_, Box<dyn std::error::Error>> {
///     let key = PrivateKey::generate()?;
///     let certificate = authority.issue(name, &key, validity)?.to_pem();
///     let ca = authority.certificate().to_pem();
///     let identity = LocalIdentity::new(&ca, &certificate, &key.to_pem(), b"permissions".to_vec(), now.unix)?;
///     let mut guid = [0; 16];
///     guid[..12].copy_from_slice(&identity.prefix(*b"a candidate!"));
///     guid[12..].copy_from_slice(&[0, 0, 1, 0xc1]);
///     let participant_data = [&[0, 0x50, 0, 16][..], &guid, &[0, 1, 0, 0]].concat();
///     Ok(Arc::new(LocalParticipant { identity, guid, participant_data }))
/// };
/// let (robot, station) = (participant("robot")?, participant("station")?);
/// let remote = |of: &LocalParticipant| HandshakeRemote { guid: of.guid, vendor: [1, 0xdd] };
/// let mut one = PeerHandshake::new(robot.clone(), remote(&station), [1; 32]);
/// let mut other = PeerHandshake::new(station.clone(), remote(&robot), [2; 32]);
/// while one.peer().is_none() || other.peer().is_none() {
///     while let Some(token) = one.poll(now) {
///         let _ = other.handle(&token, now);
///     }
///     while let Some(token) = other.poll(now) {
///         let _ = one.handle(&token, now);
///     }
/// }
/// assert_eq!(one.peer().unwrap().certificate.subject_text(), "CN=station");
/// assert_eq!(one.peer().unwrap().secret, other.peer().unwrap().secret);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PeerHandshake {
    local: Arc<LocalParticipant>,
    remote: HandshakeRemote,
    /// Random bytes from which the next nonces follow, but no earlier ones.
    seed: Zeroizing<[u8; 32]>,
    role: HandshakeRole,
    peer: Option<AuthenticatedPeer>,
    /// Times that the peer has proved its identity.
    generation: u64,
    /// As [`REPEAT_MIN`], or longer.
    pause: Duration,
    /// How long the last answer took.
    answer_time: Option<Duration>,
}

#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "each participant has one, and both variants are large")]
enum HandshakeRole {
    /// This side has the lower GUID, so it sends Requests.
    Initiator(InitiatorState),
    /// This side sends Replies.
    Replier(ReplierState),
}

#[derive(Clone)]
struct InitiatorState {
    proposals: Proposals,
    /// The Request that waits for its Reply.
    request: Option<WaitingRequest>,
    /// The challenge of the answered Request and its Final, in case the Final was lost.
    finished: Option<([u8; 32], DataHolder)>,
    /// Whether the Final is to be sent.
    sends_final: bool,
    last_final: Option<Duration>,
    last_request: Option<Duration>,
}

/// The agreements that Requests propose.
///
/// The other side may require P-384, and announces that. Anyone can forge the announcement, so an announcement adds a
/// proposal and takes none away.
#[derive(Clone)]
struct Proposals {
    /// They have their turns one after the other. The next one is in front.
    wanted: VecDeque<Agreement>,
    /// A Request was sent.
    has_begun: bool,
}

impl Proposals {
    fn new(first: Agreement) -> Self {
        Self { wanted: [first].into(), has_begun: false }
    }

    fn next(&self) -> Agreement {
        debug_assert!(!self.wanted.is_empty(), "`new` adds a proposal, and no method removes the last one");
        self.wanted.front().copied().unwrap_or(Agreement::Ecdh)
    }

    /// Notes that a Request has proposed the next one.
    fn note_sent(&mut self) {
        self.has_begun = true;
        if let Some(sent) = self.wanted.pop_front() {
            self.wanted.push_back(sent);
        }
    }

    /// Notes the agreement by which the other side has proved its identity. It refused others, and would again.
    fn note_served(&mut self, served: Agreement) {
        self.wanted.retain(|known| *known != served);
        self.wanted.push_front(served);
    }
}

#[derive(Clone)]
struct WaitingRequest {
    /// At most one for each agreement. It is created when it is sent: its key costs an operation, and anyone can
    /// announce a participant.
    exchanges: Vec<RequestExchange>,
    /// The `challenge2` that an authenticated participant has announced, and must use.
    announced: Option<[u8; 32]>,
    repetition: Repetition,
    /// When it was sent first.
    since: Option<Duration>,
}

impl WaitingRequest {
    fn new(announced: Option<[u8; 32]>) -> Self {
        Self { exchanges: Vec::new(), announced, repetition: Repetition::new(), since: None }
    }
}

#[derive(Clone)]
struct ReplierState {
    /// The nonce of the next Replies. It changes when a handshake is complete.
    nonce: Nonce,
    /// In the order of their Requests.
    pending: Vec<PendingReply>,
    /// The exchange that made the peer authenticated.
    finished: Option<ReplyId>,
    /// The token that asks the other side to begin.
    asking: Repetition,
}

#[derive(Clone)]
struct PendingReply {
    reply: ReplyExchange,
    since: Duration,
    repetition: Repetition,
    /// When the Reply was sent.
    last: Option<Duration>,
}

/// When a token is sent, and how often it was.
#[derive(Clone)]
struct Repetition {
    /// `None` before the first time.
    next: Option<Duration>,
    count: u32,
}

impl Repetition {
    fn new() -> Self {
        Self { next: None, count: 0 }
    }

    fn is_due(&self, now: Duration) -> bool {
        self.next.is_none_or(|next| next <= now)
    }

    /// Notes that the token is sent. `pause` is the time until the first repetition.
    fn note(&mut self, now: Duration, pause: Duration) {
        debug_assert!((REPEAT_MIN..=REPEAT_MAX).contains(&pause), "`set_pause` clamps the pause");
        // The pause reaches its limit long before the shift could overflow.
        let pause = pause.saturating_mul(1 << self.count.min(10)).min(REPEAT_MAX);
        self.next = Some(now.saturating_add(pause));
        self.count += 1;
    }
}

impl PeerHandshake {
    /// Begins with a participant that discovery has found. `random` must be random and must not be used again.
    #[must_use]
    pub fn new(local: Arc<LocalParticipant>, remote: HandshakeRemote, random: [u8; 32]) -> Self {
        let mut seed = Zeroizing::new(random);
        // Both sides compare the same GUIDs, so exactly one of them begins.
        let role = if local.guid < remote.guid {
            HandshakeRole::Initiator(InitiatorState {
                proposals: Proposals::new(Agreement::of_key(local.identity.certificate.public_key())),
                request: Some(WaitingRequest::new(None)),
                finished: None,
                sends_final: false,
                last_final: None,
                last_request: None,
            })
        } else {
            let asking = Repetition::new();
            let nonce = next_nonce(&mut seed);
            HandshakeRole::Replier(ReplierState { nonce, pending: Vec::new(), finished: None, asking })
        };
        Self { local, remote, seed, role, peer: None, generation: 0, pause: REPEAT_MIN, answer_time: None }
    }

    /// Sets the time after which a token is sent again, from 100 ms (the default) to 3 s.
    ///
    /// Participants that are busy answer late, and repeated tokens would keep them busy.
    pub fn set_pause(&mut self, pause: Duration) {
        self.pause = pause.clamp(REPEAT_MIN, REPEAT_MAX);
    }

    /// Returns how long a new answer has taken: from the first Request to the Reply, or from the Reply to the Final.
    pub fn take_answer_time(&mut self) -> Option<Duration> {
        self.answer_time.take()
    }

    /// The other participant, once it has proved its identity.
    #[must_use]
    pub fn peer(&self) -> Option<&AuthenticatedPeer> {
        self.peer.as_ref()
    }

    /// Times that the other participant has proved its identity. Keys of an earlier time no longer count.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Notes whether the other participant announces that it requires an agreement with P-384 (DDS Security 1.2,
    /// 7.3.12).
    ///
    /// Anyone can forge an announcement. So Requests propose in turn the agreements that the true one may want, and the
    /// other side takes one that is strong enough. A participant with a key of P-384 always proposes P-384.
    pub fn note_requirement(&mut self, requires_p384: bool) {
        let HandshakeRole::Initiator(InitiatorState { proposals, .. }) = &mut self.role else { return };
        let wanted = if requires_p384 { Agreement::Ecdh384 } else { Agreement::Ecdh };
        // A forged announcement must not weaken the proposals of a key with P-384.
        if !wanted.is_enough_for(self.local.identity.certificate.public_key()) || proposals.wanted.contains(&wanted) {
            return;
        }
        // The first Request follows the announcement.
        if proposals.has_begun {
            proposals.wanted.push_back(wanted);
        } else {
            proposals.wanted.push_front(wanted);
        }
    }

    /// Takes a token of the other participant.
    ///
    /// # Errors
    /// [`HandshakeError`] if the token is refused. Nothing has changed then.
    pub fn handle(&mut self, token: &DataHolder, now: HandshakeTime) -> Result<(), HandshakeError> {
        self.handle_if(token, now, |_| true)
    }

    /// As [`handle`](Self::handle), if the caller permits the operations with public keys that the token needs.
    ///
    /// It gets the length of the keys of the agreement, in bits. The key of this participant signs as well.
    ///
    /// Those to a Reply or a Final need the challenges of this side. Anyone can repeat a certificate in a Request. A
    /// token that fails a check without such operations asks for no permit.
    ///
    /// # Errors
    /// [`HandshakeError::Postponed`] without a permit. Otherwise as `handle`.
    pub fn handle_if(
        &mut self,
        token: &DataHolder,
        now: HandshakeTime,
        mut permits: impl FnMut(usize) -> bool,
    ) -> Result<(), HandshakeError> {
        let permit = WorkPermit(&mut permits);
        match HandshakeStep::of(token)? {
            HandshakeStep::AuthRequest => self.handle_authentication_request(token, now),
            HandshakeStep::Request => self.handle_request(token, now, permit),
            HandshakeStep::Reply => self.handle_reply(token, now, permit),
            HandshakeStep::Final => self.handle_final(token, now, permit),
        }
    }

    /// Whether a token is a Reply or a Final. Only a receiver of this side's tokens can make one that counts.
    #[must_use]
    pub fn is_reply_or_final(token: &DataHolder) -> bool {
        matches!(HandshakeStep::of(token), Ok(HandshakeStep::Reply | HandshakeStep::Final))
    }

    /// Returns the bits of the key that the next [`poll`](Self::poll) creates, which costs an operation with public
    /// keys. `None` if it creates no key.
    #[must_use]
    pub fn key_bits_of_poll(&self, now: HandshakeTime) -> Option<usize> {
        let HandshakeRole::Initiator(InitiatorState { proposals, request: Some(request), sends_final: false, .. }) =
            &self.role
        else {
            return None;
        };
        let agreement = proposals.next();
        let has_key = request.exchanges.iter().any(|exchange| exchange.agreement() == agreement);
        (!has_key && request.repetition.is_due(now.elapsed)).then(|| agreement.key_bits())
    }

    /// Returns the next token for the other participant. Call it until it returns `None`.
    pub fn poll(&mut self, now: HandshakeTime) -> Option<DataHolder> {
        let (elapsed, pause) = (now.elapsed, self.pause);
        match &mut self.role {
            HandshakeRole::Initiator(initiator) => {
                let exchange = |agreement| RequestExchange::new(&self.local, agreement, &next_nonce(&mut self.seed));
                initiator.poll((elapsed, pause), self.peer.is_some(), exchange)
            }
            HandshakeRole::Replier(replier) => replier.poll((elapsed, pause), self.peer.is_some()),
        }
    }

    /// Returns the time of the next [`Self::poll`]. `None` if only a token changes something.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let due = |repetition: &Repetition| repetition.next.unwrap_or(Duration::ZERO);
        match &self.role {
            HandshakeRole::Initiator(initiator) if initiator.sends_final => Some(Duration::ZERO),
            HandshakeRole::Initiator(initiator) => initiator.request.as_ref().map(|request| due(&request.repetition)),
            HandshakeRole::Replier(replier) => {
                let asking = self.peer.is_none().then(|| due(&replier.asking));
                replier.pending.iter().map(|pending| due(&pending.repetition)).chain(asking).min()
            }
        }
    }

    /// The other side asks for a Request. If it is authenticated, it may have restarted, and must prove itself again.
    ///
    /// Anyone can send this token. So a new proof counts only with the challenge that the token announces: the other
    /// side uses an announced challenge only if it has restarted.
    fn handle_authentication_request(&mut self, token: &DataHolder, now: HandshakeTime) -> Result<(), HandshakeError> {
        let announced = challenge(token, "future_challenge")?;
        let HandshakeRole::Initiator(initiator) = &mut self.role else { return Ok(()) };
        let is_renewal = self.peer.is_some() && initiator.request.is_none();
        let pause = if is_renewal { RENEWAL_PAUSE } else { self.pause };
        if initiator.last_request.is_some_and(|last| now.elapsed < last.saturating_add(pause)) {
            return Ok(());
        }
        let announced = self.peer.is_some().then_some(announced);
        match &mut initiator.request {
            Some(request) if request.announced == announced => request.repetition = Repetition::new(),
            // A Reply to the earlier Request may have told a forger its challenge, so another Request follows.
            _ => initiator.request = Some(WaitingRequest::new(announced)),
        }
        Ok(())
    }

    fn handle_request(
        &mut self,
        token: &DataHolder,
        now: HandshakeTime,
        permit: WorkPermit<'_>,
    ) -> Result<(), HandshakeError> {
        let HandshakeRole::Replier(replier) = &mut self.role else { return Err(HandshakeError::Unexpected) };
        let request_hash = hash_of_request(token);
        if replier.finished.as_ref().is_some_and(|finished| finished.request_hash == request_hash) {
            // A late copy: its Final has come.
            return Ok(());
        }
        // A copy of a known Request costs no signature: the same Reply goes out again.
        if let Some(known) = replier.pending.iter_mut().find(|pending| pending.reply.id.request_hash == request_hash) {
            let is_paused = known.last.is_some_and(|last| now.elapsed < last.saturating_add(self.pause));
            if !is_paused {
                known.repetition.next = None;
            }
            return Ok(());
        }
        // The place is chosen now and freed below, because a refused Request must change nothing.
        let evicted = replier.evicted(&self.seed, now.elapsed)?;
        // After a proof, no challenge is announced, so that a forger cannot announce the next one.
        let derived = self.peer.is_some().then(|| replier.nonce.for_request(&request_hash));
        let nonce = derived.as_ref().unwrap_or(&replier.nonce);
        let reply = ReplyExchange::new(token, &self.local, &self.remote, nonce, now.unix, permit)?;
        if let Some(index) = evicted {
            replier.pending.remove(index);
        }
        replier.pending.push(PendingReply { reply, since: now.elapsed, repetition: Repetition::new(), last: None });
        debug_assert!(replier.pending.len() <= PENDING_MAX, "`evicted` has made room");
        if replier.asking.next.is_none() {
            // The other side has begun, so asking can wait for the Final.
            replier.asking.note(now.elapsed, self.pause);
        }
        Ok(())
    }

    fn handle_reply(
        &mut self,
        token: &DataHolder,
        now: HandshakeTime,
        permit: WorkPermit<'_>,
    ) -> Result<(), HandshakeError> {
        let HandshakeRole::Initiator(initiator) = &mut self.role else { return Err(HandshakeError::Unexpected) };
        if initiator.finished.as_ref().is_some_and(|(challenge1, _)| token.binary("challenge1") == Some(challenge1)) {
            // The Final was lost, or a copy of the Reply is late. The content of the copy does not matter.
            let is_paused = initiator.last_final.is_some_and(|last| now.elapsed < last.saturating_add(self.pause));
            initiator.sends_final |= !is_paused;
            return Ok(());
        }
        let Some(WaitingRequest { exchanges, announced, since, .. }) = &initiator.request else {
            return Err(HandshakeError::Unexpected);
        };
        let answered = exchanges.iter().find(|exchange| exchange.is_answered_by(token));
        let exchange = answered.ok_or(HandshakeError::Unexpected)?;
        // A recorded Reply of an earlier handshake has another challenge than the announced one.
        if announced.is_some_and(|announced| token.binary("challenge2") != Some(&announced)) {
            return Err(HandshakeError::Mismatch("challenge2"));
        }
        // Nothing has changed before this line, so a forged Reply leaves the Request waiting.
        let (final_token, peer) = exchange.finish(token, &self.local, &self.remote.guid, now.unix, permit)?;
        // The key of the exchange has served, so only its challenge stays.
        self.answer_time = since.map(|since| now.elapsed.saturating_sub(since));
        initiator.finished = Some((exchange.challenge1, final_token));
        initiator.proposals.note_served(exchange.agreement());
        initiator.request = None;
        initiator.sends_final = true;
        self.peer = Some(peer);
        self.generation += 1;
        Ok(())
    }

    fn handle_final(
        &mut self,
        token: &DataHolder,
        now: HandshakeTime,
        permit: WorkPermit<'_>,
    ) -> Result<(), HandshakeError> {
        let HandshakeRole::Replier(replier) = &mut self.role else { return Err(HandshakeError::Unexpected) };
        if replier.finished.as_ref().is_some_and(|finished| finished.is_finished_by(token)) {
            return Ok(());
        }
        // A Final without a matching Reply asks for no permit.
        let known = replier.pending.iter().find(|pending| pending.reply.id.is_finished_by(token));
        permit.take(known.ok_or(HandshakeError::Unexpected)?.reply.agreement())?;
        let mut result = Err(HandshakeError::Unexpected);
        for (index, pending) in replier.pending.iter().enumerate() {
            // A forged Request may have the challenge of the true one, so each exchange is tried.
            if pending.reply.id.is_finished_by(token) {
                result = pending.reply.finish(token).map(|peer| (index, peer));
                if result.is_ok() {
                    break;
                }
            }
        }
        let (index, peer) = result?;
        // Earlier Requests were late copies or forged. A later one may be that of a peer that has restarted: this Final
        // may be one from before, which arrives late.
        debug_assert!(index < replier.pending.len(), "the index is one of the loop above");
        let answered = replier.pending.drain(..=index).next_back();
        debug_assert!(answered.is_some(), "the drained range ends with the finished Reply");
        self.answer_time = answered.as_ref().map(|answered| now.elapsed.saturating_sub(answered.since));
        replier.finished = answered.map(|answered| answered.reply.id);
        // A challenge must not serve twice: a recorded Final would fit it again.
        replier.nonce = next_nonce(&mut self.seed);
        self.peer = Some(peer);
        self.generation += 1;
        Ok(())
    }
}

impl InitiatorState {
    fn poll(
        &mut self,
        (now, pause): (Duration, Duration),
        is_authenticated: bool,
        new_exchange: impl FnOnce(Agreement) -> RequestExchange,
    ) -> Option<DataHolder> {
        if std::mem::take(&mut self.sends_final) {
            self.last_final = Some(now);
            debug_assert!(self.finished.is_some(), "only a finished exchange sends a Final");
            return self.finished.as_ref().map(|(_, token)| token.clone());
        }
        let WaitingRequest { exchanges, repetition, since, .. } = self.request.as_mut()?;
        // A forged request for a proof causes Requests without an answer, so they end.
        if is_authenticated && repetition.count >= RENEWAL_REPEATS {
            self.request = None;
            return None;
        }
        if !repetition.is_due(now) {
            return None;
        }
        repetition.note(now, pause);
        since.get_or_insert(now);
        self.last_request = Some(now);
        let agreement = self.proposals.next();
        self.proposals.note_sent();
        if let Some(known) = exchanges.iter().find(|exchange| exchange.agreement() == agreement) {
            return Some(known.token.clone());
        }
        let exchange = new_exchange(agreement);
        let token = exchange.token.clone();
        debug_assert!(exchanges.len() < 3, "each of the three agreements has one exchange");
        exchanges.push(exchange);
        Some(token)
    }
}

impl ReplierState {
    /// Returns the waiting Reply that makes room for another one. `None` if there is room.
    fn evicted(&self, seed: &[u8; 32], now: Duration) -> Result<Option<usize>, HandshakeError> {
        if self.pending.len() < PENDING_MAX {
            return Ok(None);
        }
        debug_assert_eq!(self.pending.len(), PENDING_MAX, "each new Reply evicts one before");
        let last = self.pending.iter().map(|pending| pending.since).max().unwrap_or_default();
        // Each answer costs a signature. A forger cannot foresee the end of the pause, and take each place first.
        let pause = hmac(seed, &[b"pause", &last.as_nanos().to_be_bytes()])[0] % ADMISSION_PAUSE_MS;
        if now < last.saturating_add(Duration::from_millis(pause.into())) {
            return Err(HandshakeError::Busy);
        }
        let is_old = |index: &usize| now >= self.pending[*index].since.saturating_add(PENDING_AGE);
        let old: Vec<_> = (0..self.pending.len()).filter(is_old).collect();
        // A forger cannot foresee which Reply goes, so the true one stays with a fair chance.
        let random = hmac(seed, &[b"evicted", &now.as_nanos().to_be_bytes()]);
        let index = old.get(usize::from(random[0]) % old.len().max(1)).ok_or(HandshakeError::Busy)?;
        Ok(Some(*index))
    }

    fn poll(&mut self, (now, pause): (Duration, Duration), is_authenticated: bool) -> Option<DataHolder> {
        // Waiting Replies may be those to forged Requests, so they do not end the asking.
        if !is_authenticated && self.asking.is_due(now) {
            self.asking.note(now, pause);
            return Some(authentication_request(&self.nonce.challenge));
        }
        // A Reply without its Final keeps an ephemeral key, so it must not stay forever.
        self.pending.retain(|pending| now < pending.since.saturating_add(PENDING_END));
        let pending = self.pending.iter_mut().find(|pending| pending.repetition.is_due(now))?;
        pending.repetition.note(now, pause);
        pending.last = Some(now);
        Some(pending.reply.token.clone())
    }
}

/// Derives a nonce, and replaces the seed so that it no longer tells the nonce. Equal seeds give equal nonces.
fn next_nonce(seed: &mut Zeroizing<[u8; 32]>) -> Nonce {
    let nonce =
        Nonce { challenge: *hmac(seed.as_slice(), &[b"challenge"]), ephemeral: hmac(seed.as_slice(), &[b"ephemeral"]) };
    // HMAC has no inverse, so the new seed does not reveal earlier nonces.
    let next = hmac(seed.as_slice(), &[b"next"]);
    *seed = next;
    nonce
}

impl fmt::Debug for PeerHandshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerHandshake")
            .field("remote", &self.remote)
            .field("is_initiator", &matches!(self.role, HandshakeRole::Initiator(_)))
            .field("peer", &self.peer)
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}
