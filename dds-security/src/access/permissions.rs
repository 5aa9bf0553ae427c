//! The permissions document: what one participant may publish and subscribe (DDS Security 1.1, 9.4.1.3).

use super::document::{allow_only, children, error_at, is_named, line_of, named, only, optional, parse, text};
use super::{DocumentError, DomainSet, NamePattern, SubjectName, moment};
use roxmltree::Node;
use std::fmt;

/// The grants of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    /// The grants, in the order of the document.
    pub grants: Vec<Grant>,
}

/// What the participant with one subject name may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Name of the grant.
    pub name: String,
    /// Subject of the participant's certificate.
    pub subject: SubjectName,
    /// First second of the validity, since 1970.
    pub not_before: i64,
    /// Last second of the validity, since 1970.
    pub not_after: i64,
    /// The rules. The first one that applies decides.
    pub rules: Vec<AccessRule>,
    /// Whether everything is allowed to which no rule applies.
    pub allows_by_default: bool,
}

/// A rule that allows or denies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRule {
    /// It allows, and does not deny.
    pub allows: bool,
    /// Line of the document.
    pub line: u32,
    /// Domains.
    pub domains: DomainSet,
    /// The actions of the rule, each with its criteria.
    pub criteria: Vec<(AccessAction, Criteria)>,
}

/// What a participant does with a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AccessAction {
    /// It writes.
    Publish,
    /// It reads.
    Subscribe,
    /// It passes on the changes of other writers.
    Relay,
}

/// Topics, partitions and tags to which a rule applies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Criteria {
    /// Names of topics. One of them must match.
    pub topics: Vec<NamePattern>,
    /// Names of partitions. `None` without a list.
    pub partitions: Option<Vec<NamePattern>>,
    /// Names and values of tags. An endpoint may have these, and no others.
    pub data_tags: Vec<(String, String)>,
}

/// An endpoint that asks for access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessRequest<'a> {
    /// What the endpoint does.
    pub action: AccessAction,
    /// Domain id.
    pub domain_id: u32,
    /// Name of the topic.
    pub topic: &'a str,
    /// Partitions of its publisher or subscriber. Empty means the partition without a name.
    pub partitions: &'a [&'a str],
    /// Tags of the endpoint.
    pub data_tags: &'a [(&'a str, &'a str)],
}

/// Whether an access is allowed, and by which rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessDecision {
    /// It is allowed.
    pub is_allowed: bool,
    /// Name of the grant.
    pub grant: String,
    /// Why.
    pub reason: AccessReason,
}

/// The part of a grant that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessReason {
    /// The rule at this line of the document.
    Rule {
        /// Line, from 1.
        line: u32,
    },
    /// No rule applies, so the default counts.
    Default,
    /// The governance has no rule for the domain.
    NoDomainRule,
    /// The governance has no rule for the topic.
    NoTopicRule,
    /// The governance controls no access of this kind to the topic.
    Uncontrolled,
    /// The validity has not begun.
    NotYetValid,
    /// The validity has ended.
    Expired,
}

impl Permissions {
    /// Reads a document, whose signature the caller has verified.
    ///
    /// # Errors
    /// [`DocumentError`] if it breaks the schema.
    pub fn parse(document: &str) -> Result<Self, DocumentError> {
        let grants = parse(document, "permissions", |node| {
            allow_only(node, &["grant"])?;
            named(node, "grant").map(Grant::read).collect::<Result<Vec<_>, _>>()
        })?;
        Ok(Self { grants })
    }

    /// Returns the grant for a subject. A participant without a grant may do nothing.
    #[must_use]
    pub fn grant_for(&self, subject: &SubjectName) -> Option<&Grant> {
        // A document may have two grants for a subject. The first one decides, as with rules.
        self.grants.iter().find(|grant| grant.subject == *subject)
    }
}

impl Grant {
    /// Decides on an access at a time, in seconds since 1970.
    #[must_use]
    pub fn decide(&self, access: &AccessRequest<'_>, now: i64) -> AccessDecision {
        let decided = |is_allowed, reason| AccessDecision { is_allowed, grant: self.name.clone(), reason };
        // The validity comes before the rules: outside of it, not even the default allows.
        if now < self.not_before {
            return decided(false, AccessReason::NotYetValid);
        }
        if now > self.not_after {
            return decided(false, AccessReason::Expired);
        }
        match self.rules.iter().find(|rule| rule.applies_to(access)) {
            Some(rule) => decided(rule.allows, AccessReason::Rule { line: rule.line }),
            None => decided(self.allows_by_default, AccessReason::Default),
        }
    }

    fn read(node: Node<'_, '_>) -> Result<Self, DocumentError> {
        allow_only(node, &["subject_name", "validity", "allow_rule", "deny_rule", "default"])?;
        let subject = only(node, "subject_name")?;
        let name = SubjectName::new(&text(subject)?);
        // An empty name would equal that of a certificate without a subject.
        if name.is_empty() {
            return Err(error_at(subject, format!("`{}` is no subject name", text(subject)?)));
        }
        let validity = only(node, "validity")?;
        allow_only(validity, &["not_before", "not_after"])?;
        let time = |name| {
            let node = only(validity, name)?;
            let text = text(node)?;
            moment::parse(&text).ok_or_else(|| error_at(node, format!("`{text}` is no date and time")))
        };
        let is_rule = |node: &Node<'_, '_>| is_named(*node, "allow_rule") || is_named(*node, "deny_rule");
        // A missing default is an error: a guess could allow more than the author intends.
        let default = only(node, "default")?;
        Ok(Self {
            name: node.attribute("name").unwrap_or_default().to_owned(),
            subject: name,
            not_before: time("not_before")?,
            not_after: time("not_after")?,
            // Both kinds stay in one list, because the first rule that applies decides.
            rules: children(node).filter(is_rule).map(AccessRule::read).collect::<Result<_, _>>()?,
            allows_by_default: match text(default)?.as_str() {
                "ALLOW" => true,
                "DENY" => false,
                other => return Err(error_at(default, format!("`{other}` is neither ALLOW nor DENY"))),
            },
        })
    }
}

impl AccessRule {
    fn read(node: Node<'_, '_>) -> Result<Self, DocumentError> {
        allow_only(node, &["domains", "publish", "subscribe", "relay"])?;
        let mut criteria = Vec::new();
        for child in children(node) {
            let action = match child.tag_name().name() {
                "publish" => AccessAction::Publish,
                "subscribe" => AccessAction::Subscribe,
                "relay" => AccessAction::Relay,
                // `allow_only` has refused other names, so this is `domains`.
                _ => continue,
            };
            criteria.push((action, Criteria::read(child)?));
        }
        let domains = DomainSet::read(only(node, "domains")?)?;
        Ok(Self { allows: is_named(node, "allow_rule"), line: line_of(node), domains, criteria })
    }

    fn applies_to(&self, access: &AccessRequest<'_>) -> bool {
        // Both directions fail closed: an allowance needs all partitions and tags, a denial needs one.
        let matches = |criteria: &Criteria| if self.allows { criteria.cover(access) } else { criteria.touch(access) };
        self.domains.contains(access.domain_id)
            && self.criteria.iter().any(|(action, criteria)| *action == access.action && matches(criteria))
    }
}

impl Criteria {
    fn read(node: Node<'_, '_>) -> Result<Self, DocumentError> {
        allow_only(node, &["topics", "partitions", "data_tags"])?;
        let list = |node, name: &str| -> Result<Vec<NamePattern>, DocumentError> {
            allow_only(node, &[name])?;
            named(node, name).map(|node| Ok(NamePattern::new(text(node)?))).collect()
        };
        let mut data_tags = Vec::new();
        if let Some(tags) = optional(node, "data_tags")? {
            allow_only(tags, &["tag"])?;
            for tag in named(tags, "tag") {
                allow_only(tag, &["name", "value"])?;
                data_tags.push((text(only(tag, "name")?)?, text(only(tag, "value")?)?));
            }
        }
        Ok(Self {
            topics: list(only(node, "topics")?, "topic")?,
            partitions: optional(node, "partitions")?.map(|node| list(node, "partition")).transpose()?,
            data_tags,
        })
    }

    /// Whether the criteria have the topic, all its partitions and all tags: for rules that allow.
    ///
    /// Without a list, they have the partition without a name only.
    fn cover(&self, access: &AccessRequest<'_>) -> bool {
        let has = |partition: &str| match &self.partitions {
            Some(patterns) => patterns.iter().any(|pattern| pattern.matches(partition)),
            None => partition.is_empty(),
        };
        let has_partitions = match access.partitions {
            // An endpoint without partitions is in the one without a name.
            [] => has(""),
            partitions => partitions.iter().all(|partition| has(partition)),
        };
        self.has_topic(access.topic) && has_partitions && access.data_tags.iter().all(|tag| self.has_tag(tag))
    }

    /// Whether the criteria have the topic, and any of its partitions and tags: for rules that deny.
    ///
    /// Without a list, they have all partitions. Without tags, they have all endpoints.
    fn touch(&self, access: &AccessRequest<'_>) -> bool {
        // As above, an endpoint without partitions is in the one without a name.
        let names = if access.partitions.is_empty() { &[""][..] } else { access.partitions };
        let has_partition = self.partitions.as_ref().is_none_or(|patterns| {
            names.iter().any(|partition| patterns.iter().any(|pattern| pattern.matches(partition)))
        });
        // An endpoint could evade a denial with a tag of its own, if that needed equal tags.
        let has_tag = self.data_tags.is_empty() || access.data_tags.iter().any(|tag| self.has_tag(tag));
        self.has_topic(access.topic) && has_partition && has_tag
    }

    fn has_topic(&self, topic: &str) -> bool {
        self.topics.iter().any(|pattern| pattern.matches(topic))
    }

    fn has_tag(&self, tag: &(&str, &str)) -> bool {
        self.data_tags.iter().any(|(name, value)| (name.as_str(), value.as_str()) == *tag)
    }
}

impl fmt::Display for AccessDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.is_allowed { "allowed" } else { "denied" };
        write!(f, "{verb} by ")?;
        match self.reason {
            AccessReason::NoDomainRule => return f.write_str("the governance, which has no rule for the domain"),
            AccessReason::NoTopicRule => return f.write_str("the governance, which has no rule for the topic"),
            AccessReason::Uncontrolled => return f.write_str("the governance, which does not control this access"),
            AccessReason::Rule { line } => write!(f, "the rule at line {line} of")?,
            AccessReason::Default => f.write_str("the default of")?,
            AccessReason::NotYetValid => f.write_str("the start of the validity of")?,
            AccessReason::Expired => f.write_str("the end of the validity of")?,
        }
        write!(f, " the grant \"{}\"", self.grant)
    }
}
