//! The participant of a command.

use crate::error::ToolError;
use crate::options::{NetworkOptions, ScopeOption};
use dds_core::builtin::ParticipantBuiltinTopicData;
use dds_core::{DomainParticipant, DomainParticipantBuilder, Scope};

/// Name of the participants of this program.
const PARTICIPANT_NAME: &str = "dds";
/// Property of a participant that only looks: other programs need no endpoint of it.
const LOOKS_PROPERTY: &str = "dds.looks";

/// Joins the domain of the options.
///
/// # Errors
/// As the builder of the participant: an invalid peer or interface, or no network.
pub fn join(options: &NetworkOptions) -> Result<DomainParticipant, ToolError> {
    Ok(builder(options).build()?)
}

/// As [`join`], for a command that only looks, and announces that. Other programs need no endpoint of it.
///
/// Its readers cover every class of writers, so a pair of one of them without a match is no problem.
///
/// # Errors
/// As [`join`].
pub fn join_to_look(options: &NetworkOptions) -> Result<DomainParticipant, ToolError> {
    Ok(builder(options).property(LOOKS_PROPERTY, "true").build()?)
}

/// Returns whether a participant announces that it only looks, so that it may have no endpoints.
pub(crate) fn only_looks(participant: &ParticipantBuiltinTopicData) -> bool {
    participant.properties.iter().any(|(name, _)| name == LOOKS_PROPERTY)
}

/// Returns the settings of a participant in the domain of the options.
pub(crate) fn builder(options: &NetworkOptions) -> DomainParticipantBuilder {
    let mut builder = match options.domain {
        Some(domain) => DomainParticipant::builder(domain),
        None => DomainParticipantBuilder::default(),
    }
    .name(PARTICIPANT_NAME);
    if let Some(scope) = options.scope {
        builder = builder.scope(match scope {
            ScopeOption::Host => Scope::Host,
            ScopeOption::Subnet => Scope::Subnet,
            ScopeOption::PeersOnly => Scope::PeersOnly,
        });
    }
    if !options.peer.is_empty() {
        builder = builder.peers(&options.peer);
    }
    if !options.interface.is_empty() {
        builder = builder.interfaces(&options.interface);
    }
    if let Some(tag) = &options.tag {
        builder = builder.domain_tag(tag);
    }
    builder
}
