//! The state machine of a handshake with one other participant: roles, repetition, renewal.

use super::exchange::{HandshakeError, HandshakeStep, Nonce, ReplyExchange, RequestExchange, authentication_request};
use super::identity::LocalParticipant;
use super::{AuthenticatedPeer, DataHolder};
use crate::crypto::hmac;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// Time after which a token is sent again. It doubles up to [`REPEAT_MAX`].
const REPEAT_MIN: Duration = Duration::from_millis(100);

/// Longest time after which a token is sent again.
const REPEAT_MAX: Duration = Duration::from_secs(3);

/// Most Replies that wait for their Final. Each Request with a sniffed certificate makes one.
const PENDING_MAX: usize = 4;

/// Age from which on a waiting Reply makes room for another one.
const PENDING_AGE: Duration = Duration::from_secs(1);

/// Age at which a Reply without a Final is given up. Until then it is sent again and again.
const PENDING_END: Duration = Duration::from_secs(30);

/// Shortest time between two answers to copies of a token.
const ANSWER_PAUSE: Duration = Duration::from_millis(100);

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
    /// Random bytes from which all nonces follow.
    seed: Zeroizing<[u8; 32]>,
    /// Nonces that were made.
    nonces: u64,
    role: HandshakeRole,
    peer: Option<AuthenticatedPeer>,
    /// Times that the peer has proved its identity.
    generation: u64,
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
    /// The Request that waits for its Reply.
    request: Option<(RequestExchange, Repetition)>,
    /// The answered Request and its Final, in case the Final was lost.
    finished: Option<(RequestExchange, DataHolder)>,
    /// Whether the Final is to be sent.
    sends_final: bool,
    last_final: Option<Duration>,
    last_request: Option<Duration>,
}

#[derive(Clone)]
struct ReplierState {
    /// The nonce of the next Replies. It changes when a handshake is complete.
    nonce: Nonce,
    pending: Vec<PendingReply>,
    /// The exchange that made the peer authenticated.
    finished: Option<ReplyExchange>,
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

    fn note(&mut self, now: Duration) {
        let pause = REPEAT_MIN.saturating_mul(1 << self.count.min(10)).min(REPEAT_MAX);
        self.next = Some(now.saturating_add(pause));
        self.count += 1;
    }
}

impl PeerHandshake {
    /// Begins with a participant that discovery has found. `random` must be random and must not be used again.
    #[must_use]
    pub fn new(local: Arc<LocalParticipant>, remote: HandshakeRemote, random: [u8; 32]) -> Self {
        let seed = Zeroizing::new(random);
        let role = if local.guid < remote.guid {
            HandshakeRole::Initiator(InitiatorState {
                request: Some((RequestExchange::new(&local, &nonce(&seed, 0)), Repetition::new())),
                finished: None,
                sends_final: false,
                last_final: None,
                last_request: None,
            })
        } else {
            let asking = Repetition::new();
            HandshakeRole::Replier(ReplierState { nonce: nonce(&seed, 0), pending: Vec::new(), finished: None, asking })
        };
        Self { local, remote, seed, nonces: 1, role, peer: None, generation: 0 }
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

    /// Takes a token of the other participant.
    ///
    /// # Errors
    /// [`HandshakeError`] if the token is refused. Nothing has changed then.
    pub fn handle(&mut self, token: &DataHolder, now: HandshakeTime) -> Result<(), HandshakeError> {
        match HandshakeStep::of(token)? {
            HandshakeStep::AuthRequest => {
                self.handle_authentication_request(now);
                Ok(())
            }
            HandshakeStep::Request => self.handle_request(token, now),
            HandshakeStep::Reply => self.handle_reply(token, now),
            HandshakeStep::Final => self.handle_final(token),
        }
    }

    /// Returns the next token for the other participant. Call it until it returns `None`.
    pub fn poll(&mut self, now: HandshakeTime) -> Option<DataHolder> {
        let elapsed = now.elapsed;
        match &mut self.role {
            HandshakeRole::Initiator(initiator) => initiator.poll(elapsed, self.peer.is_some()),
            HandshakeRole::Replier(replier) => replier.poll(elapsed, self.peer.is_some()),
        }
    }

    /// Returns the time of the next [`Self::poll`]. `None` if only a token changes something.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let due = |repetition: &Repetition| repetition.next.unwrap_or(Duration::ZERO);
        match &self.role {
            HandshakeRole::Initiator(initiator) if initiator.sends_final => Some(Duration::ZERO),
            HandshakeRole::Initiator(initiator) => initiator.request.as_ref().map(|(_, repetition)| due(repetition)),
            HandshakeRole::Replier(replier) => {
                let asking = replier.is_asking(self.peer.is_some()).then(|| due(&replier.asking));
                replier.pending.iter().map(|pending| due(&pending.repetition)).chain(asking).min()
            }
        }
    }

    /// The other side asks for a Request. If it is authenticated, it may have restarted, and must prove itself again.
    fn handle_authentication_request(&mut self, now: HandshakeTime) {
        let nonces = &mut self.nonces;
        let HandshakeRole::Initiator(initiator) = &mut self.role else { return };
        let pause = if self.peer.is_some() { RENEWAL_PAUSE } else { ANSWER_PAUSE };
        if initiator.last_request.is_some_and(|last| now.elapsed < last.saturating_add(pause)) {
            return;
        }
        match &mut initiator.request {
            Some((_, repetition)) => *repetition = Repetition::new(),
            None => {
                let request = RequestExchange::new(&self.local, &nonce(&self.seed, *nonces));
                *nonces += 1;
                initiator.request = Some((request, Repetition::new()));
            }
        }
    }

    fn handle_request(&mut self, token: &DataHolder, now: HandshakeTime) -> Result<(), HandshakeError> {
        let HandshakeRole::Replier(replier) = &mut self.role else { return Err(HandshakeError::Unexpected) };
        if replier.finished.as_ref().is_some_and(|finished| finished.answers(token)) {
            // A late copy: its Final has come.
            return Ok(());
        }
        if let Some(known) = replier.pending.iter_mut().find(|pending| pending.reply.answers(token)) {
            let is_paused = known.last.is_some_and(|last| now.elapsed < last.saturating_add(ANSWER_PAUSE));
            if !is_paused {
                known.repetition.next = None;
            }
            return Ok(());
        }
        if replier.pending.len() >= PENDING_MAX {
            let oldest = replier.pending.first().map(|pending| pending.since.saturating_add(PENDING_AGE));
            if oldest.is_some_and(|age| now.elapsed < age) {
                return Err(HandshakeError::Busy);
            }
        }
        let HandshakeRemote { guid, vendor } = self.remote;
        let reply = ReplyExchange::new(token, &self.local, &guid, vendor, &replier.nonce, now.unix)?;
        if replier.pending.len() >= PENDING_MAX {
            replier.pending.remove(0);
        }
        replier.pending.push(PendingReply { reply, since: now.elapsed, repetition: Repetition::new(), last: None });
        Ok(())
    }

    fn handle_reply(&mut self, token: &DataHolder, now: HandshakeTime) -> Result<(), HandshakeError> {
        let HandshakeRole::Initiator(initiator) = &mut self.role else { return Err(HandshakeError::Unexpected) };
        if initiator.finished.as_ref().is_some_and(|(request, _)| request.is_answered_by(token)) {
            // The Final was lost, or a copy of the Reply is late. The content of the copy does not matter.
            let is_paused = initiator.last_final.is_some_and(|last| now.elapsed < last.saturating_add(ANSWER_PAUSE));
            initiator.sends_final |= !is_paused;
            return Ok(());
        }
        let Some((request, _)) = &initiator.request else { return Err(HandshakeError::Unexpected) };
        let (final_token, peer) = request.finish(token, &self.local, &self.remote.guid, now.unix)?;
        if let Some((request, _)) = initiator.request.take() {
            initiator.finished = Some((request, final_token));
        }
        initiator.sends_final = true;
        self.peer = Some(peer);
        self.generation += 1;
        Ok(())
    }

    fn handle_final(&mut self, token: &DataHolder) -> Result<(), HandshakeError> {
        let HandshakeRole::Replier(replier) = &mut self.role else { return Err(HandshakeError::Unexpected) };
        if replier.finished.as_ref().is_some_and(|finished| finished.is_finished_by(token)) {
            return Ok(());
        }
        let mut result = Err(HandshakeError::Unexpected);
        for (index, pending) in replier.pending.iter().enumerate() {
            // A forged Request may have the challenge of the true one, so each exchange is tried.
            if pending.reply.is_finished_by(token) {
                result = pending.reply.finish(token).map(|peer| (index, peer));
                if result.is_ok() {
                    break;
                }
            }
        }
        let (index, peer) = result?;
        replier.finished = Some(replier.pending.swap_remove(index).reply);
        // The other Requests were late copies or forged, and keys for the agreement serve once.
        replier.pending.clear();
        replier.nonce = nonce(&self.seed, self.nonces);
        self.nonces += 1;
        self.peer = Some(peer);
        self.generation += 1;
        Ok(())
    }
}

impl InitiatorState {
    fn poll(&mut self, now: Duration, is_authenticated: bool) -> Option<DataHolder> {
        if std::mem::take(&mut self.sends_final) {
            self.last_final = Some(now);
            return self.finished.as_ref().map(|(_, token)| token.clone());
        }
        let (request, repetition) = self.request.as_mut()?;
        if is_authenticated && repetition.count >= RENEWAL_REPEATS {
            self.request = None;
            return None;
        }
        if !repetition.is_due(now) {
            return None;
        }
        repetition.note(now);
        self.last_request = Some(now);
        Some(request.token.clone())
    }
}

impl ReplierState {
    /// Whether this side asks the other one to begin: it has not begun, and is not authenticated.
    fn is_asking(&self, is_authenticated: bool) -> bool {
        !is_authenticated && self.pending.is_empty()
    }

    fn poll(&mut self, now: Duration, is_authenticated: bool) -> Option<DataHolder> {
        if self.is_asking(is_authenticated) && self.asking.is_due(now) {
            self.asking.note(now);
            return Some(authentication_request(&self.nonce.challenge));
        }
        // An exchange without a Final ends, so that this side asks again.
        self.pending.retain(|pending| now < pending.since.saturating_add(PENDING_END));
        let pending = self.pending.iter_mut().find(|pending| pending.repetition.is_due(now))?;
        pending.repetition.note(now);
        pending.last = Some(now);
        Some(pending.reply.token.clone())
    }
}

/// Derives the nonce with a number. Equal seeds and numbers give equal nonces.
fn nonce(seed: &[u8; 32], number: u64) -> Nonce {
    let number = number.to_be_bytes();
    let challenge = *hmac(seed, &[b"challenge", &number]);
    Nonce { challenge, ephemeral: hmac(seed, &[b"ephemeral", &number]) }
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
