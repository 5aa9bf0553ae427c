//! The object that discovery and the transform of messages share.

use super::algorithms::algorithms_of;
use super::credentials::{
    CredentialFile, Credentials, CredentialsError, PrivateKeyPlace, RevocationFiles, RevocationPlace,
};
use super::handshakes::{ExchangeContext, Handshakes, participant_data, unix_of};
use super::key_exchange::{TOO_MANY_RECEIVERS, check_strength};
use super::keys::{ExpectedProtection, KeyTables, OwnKeys};
use super::message_filter::{Buffers, MessageFilter, MessageRules, OVERHEAD, RECEIVERS_LEN};
use super::payload_filter::PAYLOAD_OVERHEAD;
use super::policy::{DomainPolicy, authenticates_origin, transformation};
use super::security_event::SecuritySeverity;
use crate::sync::Process;
use dds_rtps::discovery::data::{EndpointData, ParticipantData, SecurityAnnouncement, SecurityToken};
use dds_rtps::discovery::{
    BuiltinEndpoints, DiscoveredReader, DiscoveredWriter, MatchPermission, ParticipantLoss, PeerAdmission,
    PeerSecurity, SecurePairTopic, SecurityAction, SecurityChannel,
};
use dds_rtps::types::{EntityId, Guid, GuidPrefix, Instant, Now};
use dds_rtps::wire::{MessageTransform, OpenedMessage, RejectedMessage};
use dds_security::access::ProtectionKind;
use dds_security::authentication::{
    DataHolder, GenericMessage, IdentityError, LocalIdentity, LocalParticipant, TokenByteOrder,
};
use dds_security::crypto::{KeyMaterial, OpenError, SendKey};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// DDS Security of one participant.
pub(crate) struct SecurityPlugins {
    prefix: GuidPrefix,
    /// The name of the certificate's file.
    certificate_name: String,
    log: Option<SecuritySeverity>,
    /// `None` if properties name no file with revoked certificates.
    revocation_place: Option<RevocationPlace>,
    /// Without revocations.
    identity: LocalIdentity,
    policy: DomainPolicy,
    filter: MessageFilter,
    handshakes: Mutex<Handshakes>,
    /// The time of the last call of discovery.
    latest: Mutex<Now>,
    /// A forked child has the counters of its parent, and must not use them.
    process: Process,
}

impl SecurityPlugins {
    /// Verifies the files, and creates the keys of the participant.
    ///
    /// `candidate` is a random GUID prefix. The participant's own one follows from it and from its certificate.
    ///
    /// # Errors
    /// A text that names the file, the fault, and the next step.
    pub(crate) fn new(
        credentials: &Credentials,
        domain_id: u32,
        candidate: GuidPrefix,
        now: Now,
    ) -> Result<Arc<Self>, String> {
        let unix = unix_of(now);
        let identity = identity(credentials, unix)?;
        let policy = DomainPolicy::new(credentials, &identity, domain_id, unix)?;
        // A part of the prefix follows from the certificate, so no peer can claim that of another.
        let prefix = GuidPrefix(identity.prefix(candidate.0));
        let guid = Guid::new(prefix, EntityId::PARTICIPANT).to_bytes();
        // The identity without revocations stays, because each reload starts from it.
        let revoking = with_revocations(identity.clone(), &credentials.revocations, unix)?;
        let participant_data = participant_data(guid, policy.participant_info(), &algorithms_of(&identity));
        let local = LocalParticipant { identity: revoking, guid, participant_data };
        let is_protected = |kind| kind != ProtectionKind::None;
        let rules = MessageRules {
            messages: is_protected(policy.rule.rtps_protection_kind),
            discovery: is_protected(policy.rule.discovery_protection_kind),
            liveliness: is_protected(policy.rule.liveliness_protection_kind),
        };
        let keys = KeyTables::new(send_key(policy.rule.rtps_protection_kind)?);
        for topic in SecurePairTopic::ALL {
            let kind = match topic {
                SecurePairTopic::Messages => policy.rule.liveliness_protection_kind,
                _ => policy.rule.discovery_protection_kind,
            };
            // The reader has a key as well: its acknowledgments are submessages too.
            let (writer, reader) = topic.ids();
            for id in [writer, reader] {
                keys.set_own(id, OwnKeys { submessages: send_key(kind)?.map(Arc::new), ..OwnKeys::default() });
            }
        }
        Ok(Arc::new(Self {
            prefix,
            certificate_name: credentials.name().to_owned(),
            log: credentials.log,
            revocation_place: credentials.revocation_place.clone(),
            identity,
            policy,
            filter: MessageFilter { rules, keys, buffers: Buffers::default() },
            handshakes: Mutex::new(Handshakes::new(Arc::new(local), unix)),
            latest: Mutex::new(now),
            process: Process::current(),
        }))
    }

    /// The GUID prefix of the participant.
    pub(crate) fn prefix(&self) -> GuidPrefix {
        self.prefix
    }

    /// Checks whether this participant may have an endpoint.
    ///
    /// # Errors
    /// The reason, with the rule and the next step.
    pub(crate) fn check_endpoint(&self, endpoint: &EndpointData, now: Now) -> Result<(), String> {
        self.policy.check_local(endpoint, endpoint.guid.entity_id.is_writer(), unix_of(now))
    }

    /// The name of the certificate's file.
    pub(crate) fn certificate_name(&self) -> &str {
        &self.certificate_name
    }

    /// Reads the files of revoked certificates again, and cuts off participants that they revoke.
    ///
    /// # Errors
    /// A file is faulty, or revokes the own certificate. Then the earlier ones count.
    pub(crate) fn reload_revocations(&self, now: Now) -> Result<(), CredentialsError> {
        let fault = |kind, path: &Path, text: String| CredentialsError {
            path: path.to_owned(),
            cause: io::Error::new(kind, text),
        };
        let Some(place) = &self.revocation_place else {
            let text = "no property names a file of revoked certificates: set dds.sec.auth.identity_crl";
            return Err(fault(io::ErrorKind::Unsupported, Path::new(&self.certificate_name), text.to_owned()));
        };
        // All files are read and verified before the change, so a bad file keeps the present lists.
        let files = place.read()?;
        let identity = with_revocations(self.identity.clone(), &files, unix_of(now))
            .map_err(|text| fault(io::ErrorKind::InvalidData, place.path(), text))?;
        self.note_time(now);
        self.handshakes().set_identity(identity, now);
        Ok(())
    }

    /// The events that the participant publishes.
    pub(crate) fn log(&self) -> Option<SecuritySeverity> {
        self.log
    }

    fn handshakes(&self) -> MutexGuard<'_, Handshakes> {
        let mut handshakes = self.unchanged_handshakes();
        // The caller may change the state, and a remembered deadline could then be too late.
        handshakes.forget_deadline();
        handshakes
    }

    /// As [`Self::handshakes`], for callers that change no deadline.
    fn unchanged_handshakes(&self) -> MutexGuard<'_, Handshakes> {
        self.handshakes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cx(&self) -> ExchangeContext<'_> {
        ExchangeContext { policy: &self.policy, filter: &self.filter }
    }

    fn note_time(&self, now: Now) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    fn latest(&self) -> Now {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides about a remote endpoint, and returns whether its keys are here.
    fn permission(&self, local: &EndpointData, remote: &EndpointData) -> Result<bool, String> {
        let mut handshakes = self.handshakes();
        let (prefix, id) = (remote.guid.prefix, remote.guid.entity_id);
        // Its partition may have changed since it was created.
        self.policy.check_local(local, local.guid.entity_id.is_writer(), handshakes.unix)?;
        let Some(grant) = handshakes.grant_of(prefix) else {
            return self.policy.check_unauthenticated(remote, id.is_writer()).map(|()| true);
        };
        self.policy.check_remote(grant, remote, id.is_writer(), handshakes.unix)?;
        let Some(topic) = self.policy.rule_of(&remote.topic_name) else { return Ok(false) };
        let (submessages, payloads) = (topic.metadata_protection_kind, topic.data_protection_kind);
        let expected = ExpectedProtection {
            submessages: submessages != ProtectionKind::None,
            // A reader sends none.
            payloads: payloads != ProtectionKind::None && id.is_writer(),
        };
        // Without protection no cipher is used, so any list of the peer is acceptable.
        if submessages != ProtectionKind::None || payloads != ProtectionKind::None {
            handshakes.check_ciphers(prefix, remote.required_ciphers)?;
        }
        let Some(peer) = self.filter.keys.peer(prefix) else { return Ok(false) };
        // Until here its bytes are refused. From now on the expected protection decides.
        peer.received().set_expected(id, expected);
        if !handshakes.send_endpoint_keys(&self.cx(), prefix, local.guid.entity_id, id) {
            return Err(TOO_MANY_RECEIVERS.to_owned());
        }
        for (is_expected, required, is_payload) in
            [(expected.submessages, submessages, false), (expected.payloads, payloads, true)]
        {
            if !is_expected {
                continue;
            }
            let mut received = peer.received();
            let kind = if is_payload { received.payload_kind_of(id) } else { received.kind_of(id) };
            // The keys of the peer are still on their way.
            let Some(kind) = kind else { return Ok(false) };
            let has_receiver = received.authenticates_origin(id) == Some(true);
            // Otherwise a peer could send a key that signs where the governance demands encryption.
            check_strength((kind, has_receiver), required)?;
        }
        Ok(true)
    }

    /// Whether the key hashes of a topic must not show its keys.
    pub(crate) fn hides_keys_of(&self, topic_name: &str) -> bool {
        self.policy.protects_keys_of(topic_name)
    }

    /// Creates the keys of a local endpoint. `None` without a rule for its topic.
    fn own_keys(&self, endpoint: &EndpointData) -> Result<Option<OwnKeys>, String> {
        let Some(topic) = self.policy.rule_of(&endpoint.topic_name) else { return Ok(None) };
        // A reader sends no payloads.
        let is_writer = endpoint.guid.entity_id.is_writer();
        let (submessages, payloads) = (topic.metadata_protection_kind, topic.data_protection_kind);
        let for_none = ProtectionKind::None;
        let unused = if is_writer || submessages != for_none { for_none } else { payloads };
        let create = |kind| Ok::<_, String>(send_key(kind)?.map(Arc::new));
        Ok(Some(OwnKeys {
            submessages: create(submessages)?,
            payloads: create(if is_writer { payloads } else { for_none })?,
            unused: create(unused)?,
        }))
    }
}

/// Reads and checks the identity.
fn identity(credentials: &Credentials, unix: i64) -> Result<LocalIdentity, String> {
    let Credentials { identity_ca, certificate, private_key, password, permissions, .. } = credentials;
    let (authority, text, permissions) = (identity_ca.text()?, certificate.text()?, permissions.bytes.to_vec());
    let key = match private_key {
        PrivateKeyPlace::File(key) => key,
        PrivateKeyPlace::Token(uri) if password.is_some() => {
            return Err(format!("{}: a key in a PKCS #11 token takes no password: name the PIN in its URI", uri.name));
        }
        PrivateKeyPlace::Token(uri) => return identity_in_token((authority, certificate, uri), permissions, unix),
    };
    let identity = match password {
        Some(password) => {
            LocalIdentity::with_encrypted_key(authority, text, (key.text()?, password), permissions, unix)
        }
        None => LocalIdentity::new(authority, text, key.text()?, permissions, unix),
    };
    identity.map_err(|error| {
        // The error names the file at fault, which may not be the first one.
        let name = if matches!(error, IdentityError::Key(_)) { &key.name } else { &certificate.name };
        format!("{name}: {error}")
    })
}

/// As [`identity`], with a private key in a PKCS #11 token.
#[cfg(feature = "security-pkcs11")]
fn identity_in_token(
    (authority, certificate, uri): (&str, &CredentialFile, &CredentialFile),
    permissions: Vec<u8>,
    unix: i64,
) -> Result<LocalIdentity, String> {
    let key = uri.text()?.parse().map_err(|error| format!("{}: {error}", uri.name))?;
    LocalIdentity::with_pkcs11_key(authority, certificate.text()?, &key, permissions, unix).map_err(|error| {
        let name = if matches!(error, IdentityError::Token(_)) { &uri.name } else { &certificate.name };
        format!("{name}: {error}")
    })
}

#[cfg(not(feature = "security-pkcs11"))]
fn identity_in_token(
    (_, _, uri): (&str, &CredentialFile, &CredentialFile),
    _: Vec<u8>,
    _: i64,
) -> Result<LocalIdentity, String> {
    Err(format!("{}: a key in a PKCS #11 token needs the feature `security-pkcs11`, which this build lacks", uri.name))
}

/// Adds the files of revoked certificates to an identity.
fn with_revocations(mut identity: LocalIdentity, files: &RevocationFiles, unix: i64) -> Result<LocalIdentity, String> {
    if let Some(file) = &files.lists {
        identity = identity.with_revocation_list(file.text()?).map_err(|error| format!("{}: {error}", file.name))?;
    }
    if let Some(file) = &files.answers {
        identity =
            identity.with_ocsp_responses(&file.bytes, unix).map_err(|error| format!("{}: {error}", file.name))?;
    }
    Ok(identity)
}

/// Creates a key for a protection. `None` without protection.
fn send_key(kind: ProtectionKind) -> Result<Option<SendKey>, String> {
    let create = || SendKey::new(KeyMaterial::generate(transformation(kind))?);
    let key = create().map_err(|error| format!("the system has no random numbers: {error}"))?;
    Ok(if authenticates_origin(kind) { key.map(SendKey::authenticating_origin) } else { key })
}

fn token(holder: DataHolder) -> Option<SecurityToken> {
    Some(SecurityToken::new(holder.class_id, holder.properties))
}

/// The builtin endpoints of a participant with an identity, beside the usual ones.
const SECURE_ENDPOINTS: BuiltinEndpoints = BuiltinEndpoints::SECURE_PUBLICATIONS_WRITER
    .union(BuiltinEndpoints::SECURE_PUBLICATIONS_READER)
    .union(BuiltinEndpoints::SECURE_SUBSCRIPTIONS_WRITER)
    .union(BuiltinEndpoints::SECURE_SUBSCRIPTIONS_READER)
    .union(BuiltinEndpoints::SECURE_MESSAGE_WRITER)
    .union(BuiltinEndpoints::SECURE_MESSAGE_READER)
    .union(BuiltinEndpoints::STATELESS_MESSAGE_WRITER)
    .union(BuiltinEndpoints::STATELESS_MESSAGE_READER)
    .union(BuiltinEndpoints::VOLATILE_MESSAGE_WRITER)
    .union(BuiltinEndpoints::VOLATILE_MESSAGE_READER)
    .union(BuiltinEndpoints::SECURE_PARTICIPANTS_WRITER)
    .union(BuiltinEndpoints::SECURE_PARTICIPANTS_READER);

impl PeerSecurity for SecurityPlugins {
    fn announce(&self, data: &mut ParticipantData) {
        data.builtin_endpoints = data.builtin_endpoints.without(BuiltinEndpoints::TYPES).union(SECURE_ENDPOINTS);
        data.security = Some(Box::new(SecurityAnnouncement {
            identity: token(self.identity.identity_token()),
            permissions: token(self.identity.permissions_token()),
            info: Some(self.policy.participant_info()),
            algorithms: Some(algorithms_of(&self.identity)),
        }));
    }

    fn hides_details(&self) -> bool {
        self.filter.rules.discovery
    }

    fn peer_announced(&self, now: Now, data: &ParticipantData) -> PeerAdmission {
        self.note_time(now);
        self.handshakes().peer_announced(&self.cx(), data, now)
    }

    fn peer_lost(&self, now: Now, prefix: GuidPrefix, cause: ParticipantLoss) {
        self.note_time(now);
        self.handshakes().peer_lost(&self.cx(), prefix, cause, now);
    }

    fn allows_unauthenticated(&self) -> bool {
        self.policy.rule.allow_unauthenticated_participants
    }

    fn handle_message(&self, now: Now, sender: GuidPrefix, channel: SecurityChannel, payload: &[u8]) {
        self.note_time(now);
        match channel {
            SecurityChannel::Stateless => self.handshakes().handle_stateless(&self.cx(), sender, payload, now),
            SecurityChannel::Volatile => self.handshakes().handle_keys(&self.cx(), sender, payload, now),
        }
    }

    fn with_number(&self, payload: &[u8], number: i64) -> Option<Vec<u8>> {
        let mut message = GenericMessage::parse(payload).ok()?;
        message.identity.1 = number;
        Some(message.to_payload(TokenByteOrder::Little))
    }

    fn local_endpoint(&self, endpoint: &mut EndpointData) {
        endpoint.security_info = self.policy.info_of(&endpoint.topic_name);
        let id = endpoint.guid.entity_id;
        // An endpoint may be announced again, and peers still use its first keys.
        if self.filter.keys.own(id).is_some() {
            return;
        }
        // Without a rule, or without random numbers, the endpoint stays out of the table, and sends nothing.
        if let Ok(Some(keys)) = self.own_keys(endpoint) {
            self.filter.keys.set_own(id, keys);
        }
    }

    fn protects_announcements(&self) -> bool {
        self.filter.rules.discovery || self.filter.rules.messages
    }

    fn protects_messages(&self) -> bool {
        self.filter.rules.messages
    }

    fn protects_discovery_of(&self, topic_name: &str) -> bool {
        self.policy.protects_discovery_of(topic_name)
    }

    fn protects_liveliness(&self) -> bool {
        self.filter.rules.liveliness
    }

    fn check_match(&self, writer: &DiscoveredWriter, reader: &DiscoveredReader) -> MatchPermission {
        let (writer, reader, is_local) = (&writer.data.endpoint, &reader.data.endpoint, writer.is_local);
        let (local, remote) = if is_local { (writer, reader) } else { (reader, writer) };
        match self.permission(local, remote) {
            Ok(true) => MatchPermission::Granted,
            Ok(false) => MatchPermission::KeysPending,
            Err(reason) => MatchPermission::Refused(reason.into()),
        }
    }

    fn check_others(&self, writer: &EndpointData, reader: &EndpointData) -> Result<(), Box<str>> {
        let handshakes = self.unchanged_handshakes();
        for (side, endpoint, is_writer) in [("writer", writer, true), ("reader", reader, false)] {
            let checked = match handshakes.grant_of(endpoint.guid.prefix) {
                Some(grant) => self.policy.check_remote(grant, endpoint, is_writer, handshakes.unix),
                None => self.policy.check_unauthenticated(endpoint, is_writer),
            };
            checked.map_err(|reason| format!("DDS Security refuses the {side}: {reason}"))?;
        }
        Ok(())
    }

    fn endpoint_removed(&self, guid: Guid) {
        let is_own = guid.prefix == self.prefix;
        if is_own {
            self.filter.keys.remove_own(guid.entity_id);
        }
        self.handshakes().endpoint_removed(&self.cx(), guid, is_own);
    }

    fn deadline(&self) -> Option<Instant> {
        // One lock after the other, so that their order cannot deadlock.
        let now = self.latest();
        self.unchanged_handshakes().deadline(now)
    }

    fn handle_timeout(&self, now: Now) {
        self.note_time(now);
        self.handshakes().handle_timeout(&self.cx(), now);
    }

    fn poll_action(&self) -> Option<SecurityAction> {
        self.unchanged_handshakes().poll_action()
    }
}

impl MessageTransform for SecurityPlugins {
    fn seal(&self, message: &mut Vec<u8>) {
        // No plain message may leave this participant, and no number may be used twice.
        if self.process.is_left() || self.filter.seal(message).is_err() {
            message.clear();
        }
    }

    fn front_len(&self) -> usize {
        self.filter.front_len()
    }

    fn open(&self, datagram: &[u8], scratch: &mut Vec<u8>) -> Result<OpenedMessage, RejectedMessage> {
        // Keys arrive after the first messages, so a single refused datagram is no news.
        let opened = self.filter.open(datagram, scratch);
        opened.map_err(|error| RejectedMessage { news: None, is_copy: error == OpenError::Replayed })
    }

    fn overhead(&self) -> u16 {
        let payloads = if self.policy.protects_payloads() { PAYLOAD_OVERHEAD } else { 0 };
        let of_message = if authenticates_origin(self.policy.rule.rtps_protection_kind) { 1 } else { 0 };
        let of_submessages = if self.policy.authenticates_submessages() { 3 } else { 0 };
        OVERHEAD + payloads + (of_message + of_submessages) * RECEIVERS_LEN
    }

    fn submessage_growth(&self) -> u8 {
        if self.policy.authenticates_submessages() {
            return 32;
        }
        match (self.policy.protects_submessages(), self.policy.protects_payloads()) {
            (false, false) => 1,
            (true, false) | (false, true) => 3,
            (true, true) => 5,
        }
    }

    fn explain(&self) -> String {
        // An explanation changes nothing, so the remembered deadline stays valid.
        self.unchanged_handshakes().explain()
    }
}

impl fmt::Debug for SecurityPlugins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecurityPlugins").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}
