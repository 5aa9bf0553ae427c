//! Governance and permissions: what a domain protects, and what a participant may do in it.
//!
//! [`Governance`] is the document of a domain, and [`Permissions`] the one of a participant (DDS Security 1.1, 9.4.1).
//! Both are read with bounds, and answer with the rule that decides. They are the content of signed documents: the
//! caller verifies the signature before it parses them.
//!
//! | file | content |
//! |---|---|
//! | `document` | the bounded reading of XML |
//! | `domains` | sets of domain ids |
//! | `governance` | rules of domains and topics |
//! | `moment` | times of validity |
//! | `pattern` | expressions for names, as of `fnmatch` |
//! | `permissions` | grants and their rules |
//! | `subject` | names of certificate subjects in both spellings |

mod document;
mod domains;
mod governance;
pub(crate) mod moment;
mod pattern;
mod permissions;
mod subject;

pub use document::DocumentError;
pub use domains::DomainSet;
pub use governance::{DomainRule, Governance, ProtectionKind, TopicRule};
pub use pattern::NamePattern;
pub use permissions::{
    AccessAction, AccessDecision, AccessReason, AccessRequest, AccessRule, Criteria, Grant, Permissions,
};
pub use subject::SubjectName;
