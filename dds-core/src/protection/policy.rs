//! What governance and permissions say about participants, topics and endpoints (DDS Security 1.1, 8.4).

use super::credentials::Credentials;
use dds_rtps::discovery::data::{EndpointData, SecurityInfo};
use dds_security::access::{
    AccessAction, AccessReason, AccessRequest, DomainRule, Governance, Grant, Permissions, ProtectionKind, TopicRule,
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
}

/// Attributes of an endpoint (DDS Security 1.1, table 10), and those of the plugins.
mod endpoint_bits {
    pub(super) const READ: u32 = 1;
    pub(super) const WRITE: u32 = 1 << 1;
    pub(super) const DISCOVERY: u32 = 1 << 2;
    pub(super) const SUBMESSAGE: u32 = 1 << 3;
    pub(super) const LIVELINESS: u32 = 1 << 6;
    pub(super) const PLUGIN_SUBMESSAGE_ENCRYPTED: u32 = 1;
}

/// Returns the kind of keys for a protection. `None` without protection.
pub(super) fn transformation(kind: ProtectionKind) -> TransformationKind {
    match kind {
        ProtectionKind::Sign => TransformationKind::Aes256Gmac,
        ProtectionKind::Encrypt => TransformationKind::Aes256Gcm,
        _ => TransformationKind::None,
    }
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
        policy.check_supported()?;
        policy.check_join(&policy.grant, now).map_err(|error| format!("{}: {error}", policy.permissions_name))?;
        Ok(policy)
    }

    /// Refuses protections that this version does not have. A participant must not run with less than its governance
    /// requires.
    fn check_supported(&self) -> Result<(), String> {
        let rule = &self.rule;
        let name = &self.governance_name;
        let unsupported = |what: &str, kind: ProtectionKind| format!("{name}: {what} {kind} is not supported yet");
        let is_basic = |kind| matches!(kind, ProtectionKind::None | ProtectionKind::Sign | ProtectionKind::Encrypt);
        for (what, kind) in [
            ("rtps_protection_kind", rule.rtps_protection_kind),
            ("discovery_protection_kind", rule.discovery_protection_kind),
            ("liveliness_protection_kind", rule.liveliness_protection_kind),
        ] {
            if !is_basic(kind) {
                return Err(unsupported(what, kind));
            }
        }
        for topic in &rule.topic_rules {
            let of_topic = |what: &str| format!("topics `{}`: {what}", topic.topic_expression);
            if !is_basic(topic.metadata_protection_kind) {
                return Err(unsupported(&of_topic("metadata_protection_kind"), topic.metadata_protection_kind));
            }
            if topic.data_protection_kind != ProtectionKind::None {
                let text = unsupported(&of_topic("data_protection_kind"), topic.data_protection_kind);
                return Err(format!("{text}; metadata_protection_kind protects the same bytes between participants"));
            }
        }
        if rule.allow_unauthenticated_participants && rule.rtps_protection_kind != ProtectionKind::None {
            return Err(format!(
                "{name}: allow_unauthenticated_participants and rtps_protection_kind {} exclude each other: \
                 participants without keys cannot read protected messages",
                rule.rtps_protection_kind
            ));
        }
        Ok(())
    }

    /// Returns the rights of another participant, if it may join.
    ///
    /// # Errors
    /// The reason why it may not.
    pub(super) fn admit(&self, certificate: &Certificate, permissions: &[u8], now: i64) -> Result<Grant, String> {
        let grant = grant_of(permissions, &self.permissions_ca, certificate)
            .map_err(|error| format!("its permissions do not count: {error}"))?;
        self.check_join(&grant, now).map_err(|error| format!("its permissions: {error}"))?;
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
        let is_protected = topic.metadata_protection_kind != ProtectionKind::None;
        let is_valid = theirs.attributes & theirs.plugin_attributes & SecurityInfo::VALID != 0;
        if !own.is_compatible(theirs) || is_protected && !is_valid {
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
        if is_controlled || topic.metadata_protection_kind != ProtectionKind::None {
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
        let request = AccessRequest {
            action,
            domain_id: self.domain_id,
            topic: &endpoint.topic_name,
            partitions: &partitions,
            data_tags: &[],
        };
        let decision = grant.decide(&request, now);
        if decision.is_allowed {
            return Ok(());
        }
        let verb = if is_writer { "writing" } else { "reading" };
        let why = match decision.reason {
            AccessReason::Rule { line } => format!("the rule at line {line} denies"),
            AccessReason::Default => "no rule applies, and the default denies".to_owned(),
            AccessReason::NotYetValid => "its validity has not begun, which denies".to_owned(),
            AccessReason::Expired => "its validity has ended, which denies".to_owned(),
            _ => "it denies".to_owned(),
        };
        Err(format!("grant `{}`: {why} {verb} topic \"{}\"", decision.grant, endpoint.topic_name))
    }

    fn topic_rule(&self, topic_name: &str) -> Result<&TopicRule, String> {
        let rule = self.rule.rule_of(topic_name);
        rule.ok_or_else(|| format!("{} has no rule for topic \"{topic_name}\": add one", self.governance_name))
    }

    /// Returns the rule of a topic, if it has one.
    pub(super) fn rule_of(&self, topic_name: &str) -> Option<&TopicRule> {
        self.rule.rule_of(topic_name)
    }

    /// Whether endpoints of a topic are announced by the protected builtin endpoints.
    pub(super) fn protects_discovery_of(&self, topic_name: &str) -> bool {
        self.rule_of(topic_name).is_some_and(|topic| topic.enable_discovery_protection)
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
            if kind == ProtectionKind::Encrypt {
                // The bits of the plugins have the same order.
                info.plugin_attributes |= bit;
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
            (topic.enable_liveliness_protection, endpoint_bits::LIVELINESS),
        ] {
            if is_set {
                info.attributes |= bit;
            }
        }
        if topic.metadata_protection_kind == ProtectionKind::Encrypt {
            info.plugin_attributes |= endpoint_bits::PLUGIN_SUBMESSAGE_ENCRYPTED;
        }
        info
    }
}

/// Returns the grant for a certificate's subject.
fn grant_of(document: &[u8], authority: &Certificate, certificate: &Certificate) -> Result<Grant, String> {
    let text = verify_document(document, authority).map_err(|error| error.to_string())?;
    let permissions = Permissions::parse(&text).map_err(|error| error.to_string())?;
    let grant = permissions.grant_for(certificate.subject()).cloned();
    grant.ok_or_else(|| format!("no grant has the subject `{}`", certificate.subject_text()))
}
