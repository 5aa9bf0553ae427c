//! The governance document: what participants of a domain protect (DDS Security 1.1, 9.4.1.2).

use super::document::{allow_only, boolean, error_at, named, only, parse, text};
use super::{DocumentError, DomainSet, NamePattern};
use roxmltree::Node;
use std::fmt;

/// How one kind of data is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ProtectionKind {
    /// Not at all.
    #[default]
    None,
    /// Authenticated.
    Sign,
    /// Encrypted and authenticated.
    Encrypt,
    /// Authenticated, with a MAC for each receiver.
    SignWithOriginAuthentication,
    /// Encrypted and authenticated, with a MAC for each receiver.
    EncryptWithOriginAuthentication,
}

impl fmt::Display for ProtectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "NONE",
            Self::Sign => "SIGN",
            Self::Encrypt => "ENCRYPT",
            Self::SignWithOriginAuthentication => "SIGN_WITH_ORIGIN_AUTHENTICATION",
            Self::EncryptWithOriginAuthentication => "ENCRYPT_WITH_ORIGIN_AUTHENTICATION",
        })
    }
}

/// The rules of all domains of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Governance {
    /// The rules, in the order of the document. The first one with a domain counts for it.
    pub rules: Vec<DomainRule>,
}

/// The rule of some domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainRule {
    /// The domains.
    pub domains: DomainSet,
    /// Whether participants without an identity may take part.
    pub allow_unauthenticated_participants: bool,
    /// Whether a participant needs permissions to join.
    pub enable_join_access_control: bool,
    /// Protection of discovery data.
    pub discovery_protection_kind: ProtectionKind,
    /// Protection of liveliness assertions.
    pub liveliness_protection_kind: ProtectionKind,
    /// Protection of whole messages.
    pub rtps_protection_kind: ProtectionKind,
    /// The rules of topics. The first one that matches counts.
    pub topic_rules: Vec<TopicRule>,
}

/// The rule of some topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicRule {
    /// The names of the topics.
    pub topic_expression: NamePattern,
    /// Whether discovery of the endpoints is protected.
    pub enable_discovery_protection: bool,
    /// Whether liveliness of the endpoints is protected.
    pub enable_liveliness_protection: bool,
    /// Whether a reader needs a permission.
    pub enable_read_access_control: bool,
    /// Whether a writer needs a permission.
    pub enable_write_access_control: bool,
    /// Protection of the submessages.
    pub metadata_protection_kind: ProtectionKind,
    /// Protection of the payloads: NONE, SIGN or ENCRYPT.
    pub data_protection_kind: ProtectionKind,
}

impl Governance {
    /// Reads a document, whose signature the caller has verified.
    ///
    /// # Errors
    /// [`DocumentError`] if it breaks the schema. Unknown elements are errors, because they may restrict something.
    pub fn parse(document: &str) -> Result<Self, DocumentError> {
        let rules = parse(document, "domain_access_rules", |node| {
            allow_only(node, &["domain_rule"])?;
            named(node, "domain_rule").map(DomainRule::read).collect::<Result<Vec<_>, _>>()
        })?;
        Ok(Self { rules })
    }

    /// Returns the rule of a domain. A participant must not join a domain without a rule.
    #[must_use]
    pub fn rule_of(&self, domain_id: u32) -> Option<&DomainRule> {
        // Rules may overlap, and the first one wins. An author puts exceptions in front.
        self.rules.iter().find(|rule| rule.domains.contains(domain_id))
    }
}

impl DomainRule {
    /// Returns the rule of a topic. A topic without a rule must not be used.
    #[must_use]
    pub fn rule_of(&self, topic: &str) -> Option<&TopicRule> {
        // As with domains, the first rule wins. A pattern such as `*` comes last.
        self.topic_rules.iter().find(|rule| rule.topic_expression.matches(topic))
    }

    fn read(node: Node<'_, '_>) -> Result<Self, DocumentError> {
        allow_only(
            node,
            &[
                "domains",
                "allow_unauthenticated_participants",
                "enable_join_access_control",
                "discovery_protection_kind",
                "liveliness_protection_kind",
                "rtps_protection_kind",
                "topic_access_rules",
            ],
        )?;
        // Each element is required: a default for a missing one could weaken the protection.
        let topics = only(node, "topic_access_rules")?;
        allow_only(topics, &["topic_rule"])?;
        Ok(Self {
            domains: DomainSet::read(only(node, "domains")?)?,
            allow_unauthenticated_participants: boolean(only(node, "allow_unauthenticated_participants")?)?,
            enable_join_access_control: boolean(only(node, "enable_join_access_control")?)?,
            discovery_protection_kind: kind(only(node, "discovery_protection_kind")?)?,
            liveliness_protection_kind: kind(only(node, "liveliness_protection_kind")?)?,
            rtps_protection_kind: kind(only(node, "rtps_protection_kind")?)?,
            topic_rules: named(topics, "topic_rule").map(TopicRule::read).collect::<Result<_, _>>()?,
        })
    }
}

impl TopicRule {
    fn read(node: Node<'_, '_>) -> Result<Self, DocumentError> {
        allow_only(
            node,
            &[
                "topic_expression",
                "enable_discovery_protection",
                "enable_liveliness_protection",
                "enable_read_access_control",
                "enable_write_access_control",
                "metadata_protection_kind",
                "data_protection_kind",
            ],
        )?;
        let data = only(node, "data_protection_kind")?;
        let data_protection_kind = kind(data)?;
        // Protected payloads have no MACs for receivers, so kinds with them do not exist here.
        if !matches!(data_protection_kind, ProtectionKind::None | ProtectionKind::Sign | ProtectionKind::Encrypt) {
            return Err(error_at(data, format!("payloads cannot have the protection {}", text(data)?)));
        }
        Ok(Self {
            topic_expression: NamePattern::new(text(only(node, "topic_expression")?)?),
            enable_discovery_protection: boolean(only(node, "enable_discovery_protection")?)?,
            enable_liveliness_protection: boolean(only(node, "enable_liveliness_protection")?)?,
            enable_read_access_control: boolean(only(node, "enable_read_access_control")?)?,
            enable_write_access_control: boolean(only(node, "enable_write_access_control")?)?,
            metadata_protection_kind: kind(only(node, "metadata_protection_kind")?)?,
            data_protection_kind,
        })
    }
}

fn kind(node: Node<'_, '_>) -> Result<ProtectionKind, DocumentError> {
    let text = text(node)?;
    let kinds = [
        ProtectionKind::None,
        ProtectionKind::Sign,
        ProtectionKind::Encrypt,
        ProtectionKind::SignWithOriginAuthentication,
        ProtectionKind::EncryptWithOriginAuthentication,
    ];
    // A misspelled kind is an error, because a fallback to NONE would remove the protection.
    let found = kinds.into_iter().find(|kind| kind.to_string() == text);
    found.ok_or_else(|| error_at(node, format!("`{text}` is no kind of protection")))
}
