//! The participant of a command.

use crate::error::ToolError;
use crate::options::{NetworkOptions, ScopeOption};
use crate::password_file::read_password_file;
use crate::recording::matches_pattern;
use dds_core::builtin::ParticipantBuiltinTopicData;
use dds_core::security::Credentials;
use dds_core::{DomainParticipant, DomainParticipantBuilder, Scope};

/// Name of the participants of this program.
const PARTICIPANT_NAME: &str = "dds";
/// Property of a participant that looks. Its value has the names and patterns of the topics that it reads, one a line.
const LOOKS_PROPERTY: &str = "dds.looks";
/// Longest value of the property. Announcements are single datagrams.
const LOOKS_LEN_MAX: usize = 512;

/// Joins the domain of the options.
///
/// # Errors
/// As the builder of the participant: an invalid peer or interface, a faulty identity, or no network.
pub fn join(options: &NetworkOptions) -> Result<DomainParticipant, ToolError> {
    Ok(builder(options)?.build()?)
}

/// As [`join`], for a command that looks at the domain and reads no topic, and announces that.
///
/// # Errors
/// As [`join`].
pub fn join_to_look(options: &NetworkOptions) -> Result<DomainParticipant, ToolError> {
    Ok(builder(options)?.property(LOOKS_PROPERTY, "").build()?)
}

/// As [`join`], for a command that reads the selected topics, or all without a name, and announces that.
///
/// Its readers cover every class of writers. So a pair of one of them without a match is no problem if another of its
/// readers matches the writer.
///
/// # Errors
/// As [`join`].
pub fn join_to_read(options: &NetworkOptions, topics: &[String]) -> Result<DomainParticipant, ToolError> {
    let names = topics.join("\n");
    let value = if names.is_empty() || names.len() > LOOKS_LEN_MAX { "*" } else { &names };
    Ok(builder(options)?.property(LOOKS_PROPERTY, value).build()?)
}

fn looks_at(participant: &ParticipantBuiltinTopicData) -> Option<&str> {
    let property = participant.properties.iter().find(|(name, _)| name == LOOKS_PROPERTY);
    property.map(|(_, value)| value.as_str())
}

/// Returns whether a participant announces that it looks, so that its readers are no part of the system.
pub(crate) fn looks(participant: &ParticipantBuiltinTopicData) -> bool {
    looks_at(participant).is_some()
}

/// Returns whether a participant announces that it has no reader of the topic.
pub(crate) fn looks_elsewhere(participant: &ParticipantBuiltinTopicData, topic: &str) -> bool {
    looks_at(participant).is_some_and(|names| !names.lines().any(|pattern| matches_pattern(pattern, topic)))
}

/// Returns the settings of a participant in the domain of the options.
///
/// # Errors
/// [`ToolError::Security`] if a file of the identity cannot be read.
pub(crate) fn builder(options: &NetworkOptions) -> Result<DomainParticipantBuilder, ToolError> {
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
    if let Some(folder) = &options.enclave {
        let credentials = Credentials::from_enclave(folder);
        let mut credentials = credentials.map_err(|error| ToolError::Security { text: error.to_string() })?;
        if let Some(file) = &options.password_file {
            credentials = credentials.password(read_password_file(file)?.password());
        }
        builder = builder.credentials(credentials);
    }
    Ok(builder)
}
