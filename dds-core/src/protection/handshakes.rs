//! Handshakes with other participants, and the exchange of keys (DDS Security 1.1, 8.3.2 and 8.8).
//!
//! In: announcements, messages, the time. Out: messages, admissions, keys for the tables. Owned: the state of each
//! participant with an identity.
//!
//! Bounds: 128 handshakes at a time, each of which is silent 10 s after the last sign of its participant. 32 reports
//! of refused participants a minute.

use super::keys::{KeysOfPeer, OwnProtection};
use super::message_filter::MessageFilter;
use super::policy::DomainPolicy;
use dds_rtps::discovery::data::{ParticipantData, SecurityInfo};
use dds_rtps::discovery::{BuiltinEndpoints, PeerAdmission, SecurePairTopic, SecurityAction, SecurityChannel};
use dds_rtps::types::{Duration, EntityId, Guid, GuidPrefix, Instant, Now, VendorId};
use dds_security::access::Grant;
use dds_security::authentication::{
    AuthenticatedPeer, DataHolder, GenericMessage, HandshakeRemote, HandshakeTime, LocalParticipant, PeerHandshake,
    TokenByteOrder,
};
use dds_security::crypto::{KeyMaterial, SendKey, TransformationKind};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Handshakes at a time. Each costs some kilobytes, and work for each message.
const HANDSHAKES_MAX: usize = 128;
/// How long a handshake goes on after the last sign of its participant: three announcements with the defaults.
const PATIENCE: Duration = Duration::from_secs(10);
/// Refused participants that are reported. An attacker must not fill the log.
const REPORTS_MAX: usize = 32;
/// Class of tokens with keys, and the name of their value (DDS Security 1.1, 9.5.2.2).
const KEYS_CLASS: &str = "DDS:Crypto:AES_GCM_GMAC";
const KEY_MATERIAL: &str = "dds.cryp.keymat";

const NO_IDENTITY: &str = "it announces no identity, and the governance allows no unauthenticated participants; give it \
                           an identity (`dds security init`)";

/// The state of all handshakes.
pub(super) struct Handshakes {
    local: Arc<LocalParticipant>,
    peers: BTreeMap<GuidPrefix, PeerState>,
    actions: VecDeque<SecurityAction>,
    last_message: i64,
    /// Reports of the present minute, and its start.
    reports: usize,
    reports_since: i64,
    /// Participants that announce no identity, at most [`REPORTS_MAX`].
    without_identity: BTreeSet<GuidPrefix>,
    /// Time of the last call, in seconds since 1970, for the validity of permissions.
    pub(super) unix: i64,
}

/// A participant with an identity.
struct PeerState {
    vendor: VendorId,
    info: SecurityInfo,
    builtin_endpoints: BuiltinEndpoints,
    /// `None` while too many others are under way.
    handshake: Option<PeerHandshake>,
    /// Whether it has answered in this handshake.
    has_answered: bool,
    active_until: Instant,
    /// Times that it has proved its identity.
    generation: u64,
    last_received: ([u8; 16], i64),
    admitted: Option<AdmittedPeer>,
    /// Why it may not take part.
    refusal: Option<String>,
}

/// The rights of an admitted participant, and the keys that were sent to it.
struct AdmittedPeer {
    grant: Grant,
    /// Local and remote endpoints whose keys were sent.
    sent: BTreeSet<(EntityId, EntityId)>,
    /// When its certificate or its permissions end, in seconds since 1970.
    expires: i64,
    subject: String,
}

impl Handshakes {
    pub(super) fn new(local: Arc<LocalParticipant>, unix: i64) -> Self {
        let (peers, actions) = (BTreeMap::new(), VecDeque::new());
        Self {
            local,
            peers,
            actions,
            last_message: 0,
            reports: 0,
            reports_since: unix,
            without_identity: BTreeSet::new(),
            unix,
        }
    }

    pub(super) fn poll_action(&mut self) -> Option<SecurityAction> {
        self.actions.pop_front()
    }

    /// Handles the announcement of a participant.
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
        if !has_identity && !self.peers.contains_key(&prefix) {
            return self.without_identity(cx, prefix);
        }
        let info = announced.and_then(|security| security.info).unwrap_or_default();
        let peer = self.peers.entry(prefix).or_insert_with(|| PeerState {
            vendor: data.vendor,
            info,
            builtin_endpoints: data.builtin_endpoints,
            handshake: None,
            has_answered: false,
            active_until: now.instant,
            generation: 0,
            last_received: Default::default(),
            admitted: None,
            refusal: None,
        });
        if peer.admitted.is_some() {
            return PeerAdmission::Admitted;
        }
        (peer.info, peer.builtin_endpoints) = (info, data.builtin_endpoints);
        peer.active_until = now.instant.after(PATIENCE).unwrap_or(now.instant);
        self.begin(prefix);
        self.pump(prefix, now);
        PeerAdmission::Pending
    }

    fn without_identity(&mut self, cx: &ExchangeContext<'_>, prefix: GuidPrefix) -> PeerAdmission {
        if cx.policy.rule.allow_unauthenticated_participants {
            return PeerAdmission::Admitted;
        }
        // Each announcement comes here again.
        if self.without_identity.len() < REPORTS_MAX && self.without_identity.insert(prefix) {
            self.report(format!("participant {prefix} is refused: {NO_IDENTITY}"));
        }
        PeerAdmission::Pending
    }

    /// Begins a handshake, if there is room.
    fn begin(&mut self, prefix: GuidPrefix) {
        let under_way = |peer: &&PeerState| peer.handshake.is_some() && peer.admitted.is_none();
        if self.peers.get(&prefix).is_none_or(|peer| peer.handshake.is_some()) {
            return;
        }
        if self.peers.values().filter(under_way).count() >= HANDSHAKES_MAX {
            // One that never answered may be forged.
            let silent = self.peers.values_mut().filter(|peer| peer.handshake.is_some() && !peer.has_answered);
            let Some(silent) = silent.min_by_key(|peer| peer.active_until) else { return };
            (silent.handshake, silent.generation) = (None, 0);
        }
        let Ok(random) = random() else { return };
        let local = Arc::clone(&self.local);
        if let Some(peer) = self.peers.get_mut(&prefix) {
            let guid = Guid::new(prefix, EntityId::PARTICIPANT).to_bytes();
            let remote = HandshakeRemote { guid, vendor: peer.vendor.0 };
            peer.handshake = Some(PeerHandshake::new(local, remote, random));
        }
    }

    /// Sends the tokens that are due.
    fn pump(&mut self, prefix: GuidPrefix, now: Now) {
        let Some(peer) = self.peers.get_mut(&prefix) else { return };
        let Some(handshake) = &mut peer.handshake else { return };
        while let Some(token) = handshake.poll(handshake_time(now)) {
            let is_request = token.class_id.ends_with("+AuthReq");
            let class =
                if is_request { GenericMessage::AUTHENTICATION_REQUEST } else { GenericMessage::AUTHENTICATION };
            self.last_message += 1;
            let message = GenericMessage {
                identity: (self.local.guid, self.last_message),
                related: if is_request { Default::default() } else { peer.last_received },
                destination_participant: Guid::new(prefix, EntityId::PARTICIPANT).to_bytes(),
                class_id: class.to_owned(),
                tokens: vec![token],
                ..GenericMessage::default()
            };
            let payload = message.to_payload(TokenByteOrder::Little);
            self.actions.push_back(SecurityAction::Send { to: prefix, channel: SecurityChannel::Stateless, payload });
        }
    }

    /// Handles a message of a handshake.
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
        peer.last_received = message.identity;
        let mut refusal = None;
        for token in &message.tokens {
            match handshake.handle(token, handshake_time(now)) {
                Ok(()) => peer.has_answered = true,
                Err(error) => refusal = Some(error.to_string()),
            }
        }
        if peer.admitted.is_none() {
            peer.active_until = now.instant.after(PATIENCE).unwrap_or(now.instant);
        }
        if handshake.generation() != peer.generation {
            peer.generation = handshake.generation();
            if let Some(proved) = handshake.peer().cloned() {
                // The Final before the keys.
                self.pump(sender, now);
                self.admit(cx, sender, &proved);
            }
        } else if let (Some(reason), None) = (refusal, &peer.admitted) {
            self.refuse(sender, format!("the handshake failed: {reason}"));
        }
        self.pump(sender, now);
    }

    /// Admits a participant that has proved its identity, if its permissions allow that.
    fn admit(&mut self, cx: &ExchangeContext<'_>, prefix: GuidPrefix, proved: &AuthenticatedPeer) {
        let Some(peer) = self.peers.get_mut(&prefix) else { return };
        let subject = proved.certificate.subject_text();
        let own_info = cx.policy.participant_info();
        let admitted = cx.policy.admit(&proved.certificate, &proved.permissions, self.unix).and_then(|grant| {
            if !own_info.is_compatible(peer.info)
                || peer.info.attributes & peer.info.plugin_attributes & SecurityInfo::VALID == 0
            {
                return Err("its governance protects messages, discovery or liveliness in another way".to_owned());
            }
            Ok(grant)
        });
        let grant = match admitted {
            Ok(grant) => grant,
            Err(reason) => {
                if peer.admitted.take().is_some() {
                    self.actions.push_back(SecurityAction::Expel(prefix));
                }
                return self.refuse(prefix, format!("identity `{subject}`: {reason}"));
            }
        };
        let exchange = match SendKey::new(proved.secret.key_exchange_material()) {
            Ok(Some(exchange)) => exchange,
            _ => return self.refuse(prefix, "the system has no random numbers".to_owned()),
        };
        let announces_outside = vendor_of(&proved.participant_data) == Some(VendorId::CYCLONE);
        cx.filter.keys.set_peer(prefix, KeysOfPeer::new(exchange, announces_outside));
        let expires = proved.certificate.validity().not_after.min(grant.not_after);
        peer.admitted = Some(AdmittedPeer { grant, sent: BTreeSet::new(), expires, subject });
        peer.refusal = None;
        self.actions.push_back(SecurityAction::Admit(prefix));
        self.send_first_keys(cx, prefix);
    }

    /// Sends the keys for messages and for the builtin endpoints.
    fn send_first_keys(&mut self, cx: &ExchangeContext<'_>, prefix: GuidPrefix) {
        if let Some(key) = &cx.filter.keys.messages {
            let (class, material) = (GenericMessage::PARTICIPANT_KEYS, key.material().clone());
            self.send_keys(prefix, class, (EntityId::UNKNOWN, EntityId::UNKNOWN), &material);
        }
        let Some(has) = self.peers.get(&prefix).map(|peer| peer.builtin_endpoints) else { return };
        for topic in SecurePairTopic::COMMON {
            let ((writer, reader), (writer_bit, reader_bit)) = (topic.ids(), topic.bits());
            if has.contains(reader_bit) {
                self.send_endpoint_keys(cx, prefix, writer, reader);
            }
            if has.contains(writer_bit) {
                self.send_endpoint_keys(cx, prefix, reader, writer);
            }
        }
    }

    /// Sends the key of a local endpoint to a remote one, once. Does nothing for an endpoint without a key.
    pub(super) fn send_endpoint_keys(
        &mut self,
        cx: &ExchangeContext<'_>,
        prefix: GuidPrefix,
        local: EntityId,
        remote: EntityId,
    ) {
        let Some(OwnProtection::Protected(key)) = cx.filter.keys.own(local) else { return };
        let Some(admitted) = self.peers.get_mut(&prefix).and_then(|peer| peer.admitted.as_mut()) else { return };
        if admitted.sent.insert((local, remote)) {
            let class = if local.is_writer() { GenericMessage::WRITER_KEYS } else { GenericMessage::READER_KEYS };
            self.send_keys(prefix, class, (local, remote), key.material());
        }
    }

    fn send_keys(
        &mut self,
        to: GuidPrefix,
        class: &str,
        (local, remote): (EntityId, EntityId),
        material: &KeyMaterial,
    ) {
        let mut token = DataHolder::new(KEYS_CLASS);
        token.binary_properties.push((KEY_MATERIAL.to_owned(), material.to_token()));
        let own = GuidPrefix(*self.local.guid.first_chunk().unwrap_or(&[0; 12]));
        let guid_of = |prefix, id| if id == EntityId::UNKNOWN { [0; 16] } else { Guid::new(prefix, id).to_bytes() };
        self.last_message += 1;
        let message = GenericMessage {
            identity: (self.local.guid, self.last_message),
            destination_participant: Guid::new(to, EntityId::PARTICIPANT).to_bytes(),
            destination_endpoint: guid_of(to, remote),
            source_endpoint: guid_of(own, local),
            class_id: class.to_owned(),
            tokens: vec![token],
            ..GenericMessage::default()
        };
        let payload = message.to_payload(TokenByteOrder::Little);
        self.actions.push_back(SecurityAction::Send { to, channel: SecurityChannel::Volatile, payload });
    }

    /// Handles keys. The transform has checked that they come from the participant of the handshake.
    pub(super) fn handle_keys(&mut self, cx: &ExchangeContext<'_>, sender: GuidPrefix, payload: &[u8]) {
        let Ok(message) = GenericMessage::parse(payload) else { return };
        if message.destination_participant != self.local.guid || message.identity.0[..12] != sender.0 {
            return;
        }
        let Some(peer) = cx.filter.keys.peer(sender) else { return };
        let materials = message.tokens.iter().filter_map(|token| {
            let value = token.binary(KEY_MATERIAL)?;
            KeyMaterial::from_token(value).ok()
        });
        // A writer with two keys protects its submessages with the first one.
        let Some(material) = materials.into_iter().find(|material| material.kind != TransformationKind::None) else {
            return;
        };
        // Id 0 names the key of the handshake.
        if material.sender_key_id == [0; 4] {
            return;
        }
        if message.class_id == GenericMessage::PARTICIPANT_KEYS {
            return peer.received().set_messages(material);
        }
        let source = Guid::from_bytes(message.source_endpoint);
        let is_writer = message.class_id == GenericMessage::WRITER_KEYS;
        let is_reader = message.class_id == GenericMessage::READER_KEYS;
        let fits = is_writer && source.entity_id.is_writer() || is_reader && source.entity_id.is_reader();
        if source.prefix == sender && fits && peer.received().set_endpoint(source.entity_id, material) {
            self.actions.push_back(SecurityAction::CompareAgain(source));
        }
    }

    /// The rights of a participant that has proved its identity.
    pub(super) fn grant_of(&self, prefix: GuidPrefix) -> Option<&Grant> {
        self.peers.get(&prefix)?.admitted.as_ref().map(|admitted| &admitted.grant)
    }

    /// Forgets that keys were sent to or for an endpoint.
    pub(super) fn endpoint_removed(&mut self, cx: &ExchangeContext<'_>, guid: Guid, is_own: bool) {
        for (prefix, peer) in &mut self.peers {
            let Some(admitted) = &mut peer.admitted else { continue };
            if is_own {
                admitted.sent.retain(|(local, _)| *local != guid.entity_id);
            } else if *prefix == guid.prefix {
                admitted.sent.retain(|(_, remote)| *remote != guid.entity_id);
            }
        }
        if !is_own {
            if let Some(peer) = cx.filter.keys.peer(guid.prefix) {
                peer.received().remove_endpoint(guid.entity_id);
            }
        }
    }

    pub(super) fn peer_lost(&mut self, cx: &ExchangeContext<'_>, prefix: GuidPrefix) {
        self.peers.remove(&prefix);
        self.without_identity.remove(&prefix);
        cx.filter.keys.remove_peer(prefix);
    }

    /// Returns the time of the next [`Self::handle_timeout`].
    pub(super) fn deadline(&self, origin: Instant, now: Now) -> Option<Instant> {
        let due = |peer: &PeerState| {
            let resend = peer.handshake.as_ref().filter(|_| peer.is_active()).and_then(|handshake| {
                let elapsed = handshake.deadline()?;
                Some(Instant::from_nanos(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)).max(origin))
            });
            let expiry = peer.admitted.as_ref().and_then(|admitted| {
                let left = u64::try_from(admitted.expires.saturating_sub(unix_of(now))).unwrap_or(0);
                now.instant.after(Duration::from_secs(left.saturating_add(1)))
            });
            [resend, expiry].into_iter().flatten().min()
        };
        self.peers.values().filter_map(due).min()
    }

    /// Sends tokens again, and ends handshakes without answers and admissions that have expired.
    pub(super) fn handle_timeout(&mut self, now: Now) {
        self.unix = unix_of(now);
        let prefixes: Vec<GuidPrefix> = self.peers.keys().copied().collect();
        for prefix in prefixes {
            let Some(peer) = self.peers.get_mut(&prefix) else { continue };
            if peer.admitted.as_ref().is_some_and(|admitted| admitted.expires < self.unix) {
                let subject = peer.admitted.take().map(|admitted| admitted.subject).unwrap_or_default();
                (peer.handshake, peer.generation) = (None, 0);
                self.actions.push_back(SecurityAction::Expel(prefix));
                self.refuse(prefix, format!("identity `{subject}`: its certificate or its permissions have ended"));
                continue;
            }
            if peer.admitted.is_none() && peer.active_until <= now.instant {
                // A later announcement begins another one.
                (peer.handshake, peer.has_answered, peer.generation) = (None, false, 0);
                continue;
            }
            self.pump(prefix, now);
        }
    }

    fn refuse(&mut self, prefix: GuidPrefix, reason: String) {
        let Some(peer) = self.peers.get_mut(&prefix) else { return };
        if peer.refusal.as_deref() == Some(&reason) {
            return;
        }
        peer.refusal = Some(reason.clone());
        self.report(format!("participant {prefix} is refused: {reason}"));
    }

    fn report(&mut self, text: String) {
        if self.unix.saturating_sub(self.reports_since) >= 60 {
            (self.reports, self.reports_since) = (0, self.unix);
        }
        if self.reports < REPORTS_MAX {
            self.reports += 1;
            self.actions.push_back(SecurityAction::Report(text.into()));
        }
    }

    /// Returns a text on participants that do not take part. Empty if there are none.
    pub(super) fn explain(&self) -> String {
        let mut texts = Vec::new();
        for (prefix, peer) in &self.peers {
            if peer.admitted.is_some() {
                continue;
            }
            texts.push(match &peer.refusal {
                Some(reason) => format!("participant {prefix} is refused: {reason}"),
                None => format!(
                    "participant {prefix} has not proved its identity yet (if that lasts, its own log says why it refuses \
                     this one)"
                ),
            });
        }
        for prefix in &self.without_identity {
            texts.push(format!("participant {prefix} is refused: {NO_IDENTITY}"));
        }
        texts.truncate(3);
        texts.join("; ")
    }
}

impl PeerState {
    /// Whether its handshake repeats tokens.
    fn is_active(&self) -> bool {
        self.handshake.is_some()
    }
}

/// What handshakes need of the other parts.
pub(super) struct ExchangeContext<'a> {
    pub(super) policy: &'a DomainPolicy,
    pub(super) filter: &'a MessageFilter,
}

/// Returns the seconds since 1970.
pub(super) fn unix_of(now: Now) -> i64 {
    now.time.as_unix_nanos() / 1_000_000_000
}

fn handshake_time(now: Now) -> HandshakeTime {
    HandshakeTime { elapsed: std::time::Duration::from_nanos(now.instant.as_nanos()), unix: unix_of(now) }
}

/// Returns bytes that no other participant can foresee.
fn random() -> Result<[u8; 32], ()> {
    let material = KeyMaterial::generate(TransformationKind::Aes256Gcm).map_err(|_| ())?;
    Ok(material.master_sender_key)
}

/// Returns the vendor in discovery data of a handshake: PL_CDR, big endian.
fn vendor_of(data: &[u8]) -> Option<VendorId> {
    const PID_VENDOR_ID: u16 = 0x0016;
    let mut rest = data;
    while let Some(([p0, p1, l0, l1], behind)) = rest.split_first_chunk::<4>() {
        let (pid, len) = (u16::from_be_bytes([*p0, *p1]), usize::from(u16::from_be_bytes([*l0, *l1])));
        if pid == PID_VENDOR_ID {
            return behind.first_chunk::<2>().map(|vendor| VendorId(*vendor));
        }
        rest = behind.get(len..)?;
    }
    None
}

/// Returns the discovery data of a handshake, with the parameters that decide: GUID, version, vendor.
pub(super) fn participant_data(guid: [u8; 16]) -> Vec<u8> {
    let version = dds_rtps::types::ProtocolVersion::OURS;
    let mut data = Vec::new();
    for (pid, value) in [
        (0x0050_u16, &guid[..]),
        (0x0015, &[version.major, version.minor, 0, 0]),
        (0x0016, &[VendorId::OURS.0[0], VendorId::OURS.0[1], 0, 0]),
        (0x0001, &[]),
    ] {
        data.extend_from_slice(&pid.to_be_bytes());
        data.extend_from_slice(&(value.len() as u16).to_be_bytes());
        data.extend_from_slice(value);
    }
    data
}
