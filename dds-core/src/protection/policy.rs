//! What governance and permissions say about participants, topics and endpoints (DDS Security 1.1, 8.4).

use super::credentials::Credentials;
use dds_rtps::discovery::data::{EndpointData, SecurityInfo};
use dds_security::access::{
    AccessAction, AccessRequest, DomainRule, Governance, Grant, Permissions, ProtectionKind, TopicRule,
};
use dds_security::authentication::LocalIdentity;
use dds_security::crypto::TransformationKind;
use dds_security::pki::{Certificate, verify_document};

/// The rules of one domain, and the rights of this participant in it.
pub(super) struct DomainPolicy {
    domain_id: u32,
    pub(super) rule: DomainRule,
    grant: Grant,
    permissions_ca: Certificate,
    /// Names of the files, for explanations.
    governance_name: String,
    permissions_name: String,
}

/// Attributes of a participant (DDS Security 1.1, table 9).
mod participant_bits {
    pub(super) const RTPS: u32 = 1;
    pub(super) const DISCOVERY: u32 = 1 << 1;
    pub(super) const LIVELINESS: u32 = 1 << 2;
    /// The bits of the plugins have the same order. Behind them are those of origin authentication.
    pub(super) const PLUGIN_ORIGIN_SHIFT: u32 = 3;
}

/// Attributes of an endpoint (DDS Security 1.1, table 10), and those of the plugins.
mod endpoint_bits {
    pub(super) const READ: u32 = 1;
    pub(super) const WRITE: u32 = 1 << 1;
    pub(super) const DISCOVERY: u32 = 1 << 2;
    pub(super) const SUBMESSAGE: u32 = 1 << 3;
    pub(super) const PAYLOAD: u32 = 1 << 4;
    pub(super) const KEY: u32 = 1 << 5;
    pub(super) const LIVELINESS: u32 = 1 << 6;
    pub(super) const PLUGIN_SUBMESSAGE_ENCRYPTED: u32 = 1;
    pub(super) const PLUGIN_PAYLOAD_ENCRYPTED: u32 = 1 << 1;
    pub(super) const PLUGIN_SUBMESSAGE_ORIGIN: u32 = 1 << 2;
}

/// Returns the kind of keys for a protection. `None` without protection.
pub(super) fn transformation(kind: ProtectionKind) -> TransformationKind {
    match kind {
        ProtectionKind::None => TransformationKind::None,
        ProtectionKind::Sign | ProtectionKind::SignWithOriginAuthentication => TransformationKind::Aes256Gmac,
        // The strongest one, also for a kind that this version does not know.
        _ => TransformationKind::Aes256Gcm,
    }
}

/// Whether a protection has a MAC for each receiver.
pub(super) fn authenticates_origin(kind: ProtectionKind) -> bool {
    matches!(kind, ProtectionKind::SignWithOriginAuthentication | ProtectionKind::EncryptWithOriginAuthentication)
}

fn encrypts(kind: ProtectionKind) -> bool {
    matches!(kind, ProtectionKind::Encrypt | ProtectionKind::EncryptWithOriginAuthentication)
}

impl DomainPolicy {
    /// Reads and verifies governance and permissions.
    ///
    /// # Errors
    /// A text that names the file and the next step.
    pub(super) fn new(
        credentials: &Credentials,
        identity: &LocalIdentity,
        domain_id: u32,
        now: i64,
    ) -> Result<Self, String> {
        let Credentials { permissions_ca, governance, permissions, .. } = credentials;
        let authority = Certificate::from_pem(permissions_ca.text()?)
            .map_err(|error| format!("{}: {error}", permissions_ca.name))?;
        // First, because both documents count only with the signature of this authority.
        authority.check_authority(now).map_err(|error| format!("{}: {error}", permissions_ca.name))?;
        let text =
            verify_document(&governance.bytes, &authority).map_err(|error| format!("{}: {error}", governance.name))?;
        let rules = Governance::parse(&text).map_err(|error| format!("{}: {error}", governance.name))?;
        let rule = rules.rule_of(domain_id).cloned();
        let rule = rule.ok_or_else(|| format!("{} has no rule for domain {domain_id}: add one", governance.name))?;
        let grant = grant_of(&permissions.bytes, &authority, identity.certificate())
            .map_err(|error| format!("{}: {error}", permissions.name))?;
        let policy = Self {
            domain_id,
            rule,
            grant,
            permissions_ca: authority,
            governance_name: governance.name.clone(),
            permissions_name: permissions.name.clone(),
        };
        policy.check_consistent()?;
        // Peers make the same check. Here it fails with a reason that the user can read.
        policy.check_join(&policy.grant, now).map_err(|error| format!("{}: {error}", policy.permissions_name))?;
        Ok(policy)
    }

    /// Refuses rules that exclude each other.
    fn check_consistent(&self) -> Result<(), String> {
        let rule = &self.rule;
        let name = &self.governance_name;
        if rule.allow_unauthenticated_participants && rule.rtps_protection_kind != ProtectionKind::None {
            return Err(format!(
                "{name}: allow_unauthenticated_participants and rtps_protection_kind {} exclude each other: \
                 participants without keys cannot read protected messages",
                rule.rtps_protection_kind
            ));
        }
        Ok(())
    }

    /// Returns the rights of another participant, if it may join. `info` are its announced attributes.
    ///
    /// # Errors
    /// The reason why it may not.
    pub(super) fn check_peer(
        &self,
        certificate: &Certificate,
        permissions: &[u8],
        info: SecurityInfo,
        now: i64,
    ) -> Result<Grant, String> {
        // The document comes from the peer. Only the signature of the authority makes it count.
        let grant = grant_of(permissions, &self.permissions_ca, certificate)
            .map_err(|error| format!("its permissions do not count: {error}"))?;
        self.check_join(&grant, now).map_err(|error| format!("its permissions: {error}"))?;
        // Attributes without the valid bit would be compatible with any governance.
        if !self.participant_info().is_compatible(info) || !is_valid(info) {
            return Err("its governance protects messages, discovery or liveliness in another way".to_owned());
        }
        Ok(grant)
    }

    /// Checks that a grant allows something in the domain (DDS Security 1.1, 9.4.3, check_create_participant).
    fn check_join(&self, grant: &Grant, now: i64) -> Result<(), String> {
        if now < grant.not_before {
            return Err(format!("the validity of the grant `{}` has not begun", grant.name));
        }
        if now > grant.not_after {
            return Err(format!("the validity of the grant `{}` has ended", grant.name));
        }
        let allows = |rule: &dds_security::access::AccessRule| rule.allows && rule.domains.contains(self.domain_id);
        // Without join control, a signed grant within its validity is enough.
        if self.rule.enable_join_access_control && !grant.allows_by_default && !grant.rules.iter().any(allows) {
            return Err(format!("the grant `{}` has no rule that allows domain {}", grant.name, self.domain_id));
        }
        Ok(())
    }

    /// Checks a local endpoint.
    ///
    /// # Errors
    /// The reason with the file, and the next step.
    pub(super) fn check_local(&self, endpoint: &EndpointData, is_writer: bool, now: i64) -> Result<(), String> {
        let topic = self.topic_rule(&endpoint.topic_name)?;
        self.check_access(topic, &self.grant, endpoint, is_writer, now).map_err(|reason| {
            format!("{}: {reason}; correct the permissions of this participant, and sign them", self.permissions_name)
        })
    }

    /// Checks an endpoint of a participant with an identity.
    ///
    /// # Errors
    /// The reason.
    pub(super) fn check_remote(
        &self,
        grant: &Grant,
        endpoint: &EndpointData,
        is_writer: bool,
        now: i64,
    ) -> Result<(), String> {
        let topic = self.topic_rule(&endpoint.topic_name)?;
        let own = Self::endpoint_info(topic);
        let theirs = endpoint.security_info.unwrap_or_default();
        // An endpoint without valid attributes counts as one without protection.
        let is_protected = protects_anything(topic);
        if !own.is_compatible(theirs) || is_protected && !is_valid(theirs) {
            return Err(format!(
                "it protects the topic in another way: attributes {:08x} and {:08x} here, {:08x} and {:08x} there; \
                 compare the governance of both sides",
                own.attributes, own.plugin_attributes, theirs.attributes, theirs.plugin_attributes
            ));
        }
        self.check_access(topic, grant, endpoint, is_writer, now)
            .map_err(|reason| format!("the permissions of its participant do not allow it: {reason}"))
    }

    /// Checks an endpoint of a participant without an identity.
    ///
    /// # Errors
    /// The reason.
    pub(super) fn check_unauthenticated(&self, endpoint: &EndpointData, is_writer: bool) -> Result<(), String> {
        let topic = self.topic_rule(&endpoint.topic_name)?;
        let is_controlled =
            if is_writer { topic.enable_write_access_control } else { topic.enable_read_access_control };
        // Without keys, it can neither assert its liveliness as required, nor read assertions.
        let is_liveliness_protected =
            topic.enable_liveliness_protection && self.rule.liveliness_protection_kind != ProtectionKind::None;
        if is_controlled || is_liveliness_protected || protects_anything(topic) {
            return Err(format!(
                "its participant has no identity, and {} protects topics `{}`",
                self.governance_name, topic.topic_expression
            ));
        }
        Ok(())
    }

    fn check_access(
        &self,
        topic: &TopicRule,
        grant: &Grant,
        endpoint: &EndpointData,
        is_writer: bool,
        now: i64,
    ) -> Result<(), String> {
        let (action, is_controlled) = if is_writer {
            (AccessAction::Publish, topic.enable_write_access_control)
        } else {
            (AccessAction::Subscribe, topic.enable_read_access_control)
        };
        if !is_controlled {
            return Ok(());
        }
        let partitions: Vec<&str> = endpoint.partition.iter().map(String::as_str).collect();
        let data_tags: Vec<_> =
            endpoint.data_tags.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let request = AccessRequest {
            action,
            domain_id: self.domain_id,
            topic: &endpoint.topic_name,
            partitions: &partitions,
            data_tags: &data_tags,
        };
        let decision = grant.decide(&request, now);
        if decision.is_allowed {
            return Ok(());
        }
        let verb = if is_writer { "writing" } else { "reading" };
        let mut tags = String::new();
        for (name, value) in endpoint.data_tags.iter() {
            let joint = if tags.is_empty() { " with data tags" } else { "," };
            // Escaped, because tags of peers reach logs.
            tags = format!("{tags}{joint} {name:?}={value:?}");
        }
        Err(format!("{verb} topic {:?}{tags} is {decision}", endpoint.topic_name))
    }

    fn topic_rule(&self, topic_name: &str) -> Result<&TopicRule, String> {
        let rule = self.rule.rule_of(topic_name);
        rule.ok_or_else(|| format!("{} has no rule for topic {topic_name:?}: add one", self.governance_name))
    }

    /// Returns the rule of a topic, if it has one.
    pub(super) fn rule_of(&self, topic_name: &str) -> Option<&TopicRule> {
        self.rule.rule_of(topic_name)
    }

    /// Whether endpoints of a topic are announced by the protected builtin endpoints.
    pub(super) fn protects_discovery_of(&self, topic_name: &str) -> bool {
        self.rule_of(topic_name).is_some_and(|topic| topic.enable_discovery_protection)
    }

    /// Whether submessages of the participant are protected one by one, beside those with keys.
    pub(super) fn protects_submessages(&self) -> bool {
        let is_protected = |kind| kind != ProtectionKind::None;
        is_protected(self.rule.discovery_protection_kind)
            || is_protected(self.rule.liveliness_protection_kind)
            || self.rule.topic_rules.iter().any(|topic| is_protected(topic.metadata_protection_kind))
    }

    /// Whether submessages of the participant have MACs for their receivers.
    pub(super) fn authenticates_submessages(&self) -> bool {
        let mut kinds = self.rule.topic_rules.iter().map(|topic| topic.metadata_protection_kind);
        authenticates_origin(self.rule.discovery_protection_kind)
            || authenticates_origin(self.rule.liveliness_protection_kind)
            || kinds.any(authenticates_origin)
    }

    /// Whether payloads of any topic are protected.
    pub(super) fn protects_payloads(&self) -> bool {
        self.rule.topic_rules.iter().any(|topic| topic.data_protection_kind != ProtectionKind::None)
    }

    /// Whether the keys of a topic's instances are secret.
    pub(super) fn protects_keys_of(&self, topic_name: &str) -> bool {
        self.rule_of(topic_name).is_some_and(|topic| topic.data_protection_kind == ProtectionKind::Encrypt)
    }

    /// Returns the attributes of participants.
    pub(super) fn participant_info(&self) -> SecurityInfo {
        let mut info = SecurityInfo { attributes: SecurityInfo::VALID, plugin_attributes: SecurityInfo::VALID };
        for (kind, bit) in [
            (self.rule.rtps_protection_kind, participant_bits::RTPS),
            (self.rule.discovery_protection_kind, participant_bits::DISCOVERY),
            (self.rule.liveliness_protection_kind, participant_bits::LIVELINESS),
        ] {
            if kind != ProtectionKind::None {
                info.attributes |= bit;
            }
            if encrypts(kind) {
                info.plugin_attributes |= bit;
            }
            if authenticates_origin(kind) {
                info.plugin_attributes |= bit << participant_bits::PLUGIN_ORIGIN_SHIFT;
            }
        }
        info
    }

    /// Returns the attributes of the endpoints of a topic.
    pub(super) fn info_of(&self, topic_name: &str) -> Option<SecurityInfo> {
        Some(Self::endpoint_info(self.rule_of(topic_name)?))
    }

    fn endpoint_info(topic: &TopicRule) -> SecurityInfo {
        let mut info = SecurityInfo { attributes: SecurityInfo::VALID, plugin_attributes: SecurityInfo::VALID };
        for (is_set, bit) in [
            (topic.enable_read_access_control, endpoint_bits::READ),
            (topic.enable_write_access_control, endpoint_bits::WRITE),
            (topic.enable_discovery_protection, endpoint_bits::DISCOVERY),
            (topic.metadata_protection_kind != ProtectionKind::None, endpoint_bits::SUBMESSAGE),
            (topic.data_protection_kind != ProtectionKind::None, endpoint_bits::PAYLOAD),
            (topic.data_protection_kind == ProtectionKind::Encrypt, endpoint_bits::KEY),
            (topic.enable_liveliness_protection, endpoint_bits::LIVELINESS),
        ] {
            if is_set {
                info.attributes |= bit;
            }
        }
        if encrypts(topic.metadata_protection_kind) {
            info.plugin_attributes |= endpoint_bits::PLUGIN_SUBMESSAGE_ENCRYPTED;
        }
        if authenticates_origin(topic.metadata_protection_kind) {
            info.plugin_attributes |= endpoint_bits::PLUGIN_SUBMESSAGE_ORIGIN;
        }
        if topic.data_protection_kind == ProtectionKind::Encrypt {
            info.plugin_attributes |= endpoint_bits::PLUGIN_PAYLOAD_ENCRYPTED;
        }
        info
    }
}

/// Whether submessages or payloads of a topic are protected.
fn protects_anything(topic: &TopicRule) -> bool {
    topic.metadata_protection_kind != ProtectionKind::None || topic.data_protection_kind != ProtectionKind::None
}

/// Whether a participant or an endpoint has attributes of DDS Security.
fn is_valid(info: SecurityInfo) -> bool {
    // Each mask has a bit of its own, and a peer may set only one of them.
    info.attributes & info.plugin_attributes & SecurityInfo::VALID != 0
}

/// Returns the grant for a certificate's subject.
fn grant_of(document: &[u8], authority: &Certificate, certificate: &Certificate) -> Result<Grant, String> {
    // Before the parser, which then sees only bytes that the authority has signed.
    let text = verify_document(document, authority).map_err(|error| error.to_string())?;
    let permissions = Permissions::parse(&text).map_err(|error| error.to_string())?;
    let grant = permissions.grant_for(certificate.subject()).cloned();
    // Escaped, because the subject of a peer reaches logs.
    grant.ok_or_else(|| format!("no grant has the subject `{}`", certificate.subject_text().escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_rtps::types::{EntityId, Guid, GuidPrefix};
    use dds_security::pki::{Issuer, Validity};

    const VALIDITY: Validity = Validity { not_before: 0, not_after: 2_000_000_000 };
    const NOW: i64 = 1_900_000_000;

    fn policy(metadata: &str, liveliness: &str) -> DomainPolicy {
        let governance = format!(
            "<dds><domain_access_rules><domain_rule><domains><id>0</id></domains>\
             <allow_unauthenticated_participants>true</allow_unauthenticated_participants>\
             <enable_join_access_control>true</enable_join_access_control>\
             <discovery_protection_kind>NONE</discovery_protection_kind>\
             <liveliness_protection_kind>{liveliness}</liveliness_protection_kind>\
             <rtps_protection_kind>NONE</rtps_protection_kind><topic_access_rules><topic_rule>\
             <topic_expression>*</topic_expression><enable_discovery_protection>false</enable_discovery_protection>\
             <enable_liveliness_protection>true</enable_liveliness_protection>\
             <enable_read_access_control>false</enable_read_access_control>\
             <enable_write_access_control>true</enable_write_access_control>\
             <metadata_protection_kind>{metadata}</metadata_protection_kind>\
             <data_protection_kind>NONE</data_protection_kind>\
             </topic_rule></topic_access_rules></domain_rule></domain_access_rules></dds>"
        );
        DomainPolicy {
            domain_id: 0,
            rule: Governance::parse(&governance).unwrap().rule_of(0).unwrap().clone(),
            grant: grant(),
            permissions_ca: Issuer::generate("permissions CA", VALIDITY).unwrap().certificate().clone(),
            governance_name: "governance.p7s".to_owned(),
            permissions_name: "permissions.p7s".to_owned(),
        }
    }

    /// A grant to publish the topic `allowed`.
    fn grant() -> Grant {
        let document = "<dds><permissions><grant name=\"robots\"><subject_name>CN=robot</subject_name>\
            <validity><not_before>2020-01-01T00:00:00</not_before><not_after>2032-01-01T00:00:00</not_after></validity>\
            <allow_rule><domains><id>0</id></domains><publish><topics><topic>allowed</topic></topics></publish>\
            </allow_rule><default>DENY</default></grant></permissions></dds>";
        Permissions::parse(document).unwrap().grants[0].clone()
    }

    fn endpoint(topic: &str, security_info: Option<SecurityInfo>) -> EndpointData {
        let guid = Guid::new(GuidPrefix([2; 12]), EntityId([0, 0, 1, 2]));
        EndpointData { security_info, ..EndpointData::new(guid, topic, "T") }
    }

    #[test]
    fn remote_endpoint_needs_the_same_attributes_and_a_rule() {
        let policy = policy("ENCRYPT", "NONE");
        let own = policy.info_of("allowed").unwrap();
        let check =
            |topic: &str, info, is_writer| policy.check_remote(&grant(), &endpoint(topic, info), is_writer, NOW);
        assert_eq!(check("allowed", Some(own), true), Ok(()));
        let denied = check("other", Some(own), true).unwrap_err();
        assert!(
            denied.contains("writing topic \"other\" is denied by the default of the grant \"robots\""),
            "{denied}"
        );
        // The governance does not control reading.
        assert_eq!(check("other", Some(own), false), Ok(()));
        let signs = SecurityInfo { plugin_attributes: SecurityInfo::VALID, ..own };
        let invalid = SecurityInfo { attributes: own.attributes & !SecurityInfo::VALID, ..own };
        for info in [None, Some(SecurityInfo::default()), Some(signs), Some(invalid)] {
            let refused = check("allowed", info, true).unwrap_err();
            assert!(refused.contains("protects the topic in another way"), "{refused}");
        }
        // After its validity a grant allows nothing.
        assert!(policy.check_remote(&grant(), &endpoint("allowed", Some(own)), true, 2_000_000_000).is_err());
    }

    #[test]
    fn data_tags_of_an_endpoint_decide() {
        let policy = policy("NONE", "NONE");
        let document = "<dds><permissions><grant name=\"robots\"><subject_name>CN=robot</subject_name>\
            <validity><not_before>2020-01-01T00:00:00</not_before><not_after>2032-01-01T00:00:00</not_after></validity>\
            <deny_rule><domains><id>0</id></domains><publish><topics><topic>*</topic></topics>\
            <data_tags><tag><name>level</name><value>secret</value></tag></data_tags></publish></deny_rule>\
            <allow_rule><domains><id>0</id></domains><publish><topics><topic>*</topic></topics>\
            <data_tags><tag><name>level</name><value>open</value></tag></data_tags></publish></allow_rule>\
            <default>DENY</default></grant></permissions></dds>";
        let grant = Permissions::parse(document).unwrap().grants[0].clone();
        let check = |tags: &[(&str, &str)]| {
            let tags: Vec<_> = tags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let endpoint = EndpointData { data_tags: tags.into(), ..endpoint("any", policy.info_of("any")) };
            policy.check_remote(&grant, &endpoint, true, NOW)
        };
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&[("level", "open")]), Ok(()));
        let denied = check(&[("level", "open"), ("level", "secret")]).unwrap_err();
        assert!(
            denied.contains("with data tags \"level\"=\"open\", \"level\"=\"secret\" is denied by the rule"),
            "{denied}"
        );
        assert!(check(&[("other", "open")]).unwrap_err().contains("denied by the default"));
    }

    #[test]
    fn origin_authentication_has_attributes_of_its_own() {
        for (kind, encrypted, origin) in [
            ("SIGN", 0, 0),
            ("ENCRYPT", 1, 0),
            ("SIGN_WITH_ORIGIN_AUTHENTICATION", 0, 1),
            ("ENCRYPT_WITH_ORIGIN_AUTHENTICATION", 1, 1),
        ] {
            // DDS Security 1.1, 9.4.2.4 and 9.4.2.6.
            let policy = policy(kind, kind);
            let info = policy.info_of("any").unwrap();
            assert_eq!(info.attributes & 0x18, 0x08, "{kind}");
            assert_eq!(info.plugin_attributes & 0x7, encrypted | origin << 2, "{kind}");
            let info = policy.participant_info();
            assert_eq!(info.attributes & 0x7, 0x4, "{kind}");
            assert_eq!(info.plugin_attributes & 0x3f, encrypted << 2 | origin << 5, "{kind}");
            assert_eq!(policy.authenticates_submessages(), origin == 1, "{kind}");
        }
    }

    #[test]
    fn guests_need_topics_without_protected_liveliness() {
        let reader = endpoint("other", None);
        assert_eq!(policy("NONE", "NONE").check_unauthenticated(&reader, false), Ok(()));
        for (metadata, liveliness) in [("SIGN", "NONE"), ("NONE", "SIGN")] {
            let refused = policy(metadata, liveliness).check_unauthenticated(&reader, false).unwrap_err();
            assert!(refused.contains("has no identity"), "{refused}");
        }
        assert!(policy("NONE", "NONE").check_unauthenticated(&endpoint("other", None), true).is_err());
    }

    #[test]
    fn each_protection_has_its_kind_of_key() {
        for (kind, key) in [
            (ProtectionKind::None, TransformationKind::None),
            (ProtectionKind::Sign, TransformationKind::Aes256Gmac),
            (ProtectionKind::SignWithOriginAuthentication, TransformationKind::Aes256Gmac),
            (ProtectionKind::Encrypt, TransformationKind::Aes256Gcm),
            (ProtectionKind::EncryptWithOriginAuthentication, TransformationKind::Aes256Gcm),
        ] {
            assert_eq!(transformation(kind), key);
        }
    }
}
