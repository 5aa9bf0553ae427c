//! The type of the topic with security events (DDS Security 1.1, 9.6).

use crate as dds_core;
use dds_core::DdsType;
use dds_rtps::discovery::SecurityReportKind;
use dds_rtps::types::Time;
use std::collections::BTreeMap;

/// A security event: a sample of the topic [`SecurityEvent::TOPIC`] (DDS Security 1.1, 9.6).
///
/// A participant whose credentials have [`publish_events`](crate::security::Credentials::publish_events) writes one
/// when it refuses a participant or an endpoint, admits or expels a participant, or changes its keys. Governance and
/// permissions treat the topic as any other: they decide on its readers, and on its protection. The writer is reliable
/// and transient-local, and keeps the last 64 events. It publishes at most 64 in a minute, and then the number of those
/// that it has left out. The log has the same texts.
///
/// ```idl
/// module DDS {
///   @final struct Time_t { int32 sec; uint32 nanosec; };
///   module Security {
///     enum LoggingLevel {
///       EMERGENCY_LEVEL, ALERT_LEVEL, CRITICAL_LEVEL, ERROR_LEVEL,
///       WARNING_LEVEL, NOTICE_LEVEL, INFORMATIONAL_LEVEL, DEBUG_LEVEL
///     };
///     @final struct NameValuePair { string name; string value; };
///     @final struct BuiltinLoggingTypeV2 {
///       octet facility;
///       LoggingLevel severity;
///       Time_t timestamp;
///       string hostname; string hostip; string appname; string procid; string msgid; string message;
///       map<string, sequence<NameValuePair>> structured_data;
///     };
///   };
/// };
/// ```
#[derive(DdsType, Debug, Clone, PartialEq, Eq)]
#[dds(name = "DDS::Security::BuiltinLoggingTypeV2")]
#[non_exhaustive]
pub struct SecurityEvent {
    /// Facility of syslog: 10, for messages of security.
    pub facility: u8,
    /// How grave it is.
    pub severity: SecuritySeverity,
    /// When it was.
    pub timestamp: SecurityEventTime,
    /// Name of the host. Empty: the address below names it.
    pub hostname: String,
    /// An address of the participant.
    pub hostip: String,
    /// Name of the participant.
    pub appname: String,
    /// Number of its process.
    pub procid: String,
    /// Kind of event, such as `participant_refused`.
    pub msgid: String,
    /// The participants, the reason, and the next step.
    pub message: String,
    /// The entry `DDS` has `guid`, `domain_id`, `plugin_class` and `plugin_method`.
    pub structured_data: BTreeMap<String, Vec<SecurityEventProperty>>,
}

/// How grave a [`SecurityEvent`] is. The levels are those of syslog, the gravest first.
#[derive(DdsType, Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[dds(name = "DDS::Security::LoggingLevel")]
pub enum SecuritySeverity {
    /// The system is unusable.
    #[dds(name = "EMERGENCY_LEVEL")]
    Emergency,
    /// An action is necessary at once.
    #[dds(name = "ALERT_LEVEL")]
    Alert,
    /// A failure of the application.
    #[dds(name = "CRITICAL_LEVEL")]
    Critical,
    /// An error.
    #[dds(name = "ERROR_LEVEL")]
    Error,
    /// A refusal, or a sign of a future error.
    #[default]
    #[dds(name = "WARNING_LEVEL")]
    Warning,
    /// Unusual, and no error.
    #[dds(name = "NOTICE_LEVEL")]
    Notice,
    /// Normal.
    #[dds(name = "INFORMATIONAL_LEVEL")]
    Informational,
    /// For a search of faults.
    #[dds(name = "DEBUG_LEVEL")]
    Debug,
}

/// The time of a [`SecurityEvent`] since 1970.
#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq)]
#[dds(name = "DDS::Time_t")]
pub struct SecurityEventTime {
    /// Whole seconds.
    pub sec: i32,
    /// The rest.
    pub nanosec: u32,
}

/// A name and a value of a [`SecurityEvent`].
#[derive(DdsType, Debug, Clone, PartialEq, Eq)]
#[dds(name = "DDS::Security::NameValuePair")]
pub struct SecurityEventProperty {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// The participant that an event happens in.
pub(crate) struct SecurityEventSource {
    pub(crate) guid: String,
    pub(crate) domain_id: u32,
    pub(crate) address: String,
    pub(crate) name: String,
}

impl SecurityEvent {
    /// Name of the topic.
    pub const TOPIC: &'static str = "DDS:Security:LogTopicV2";

    pub(crate) fn new(source: &SecurityEventSource, kind: SecurityReportKind, message: String, time: Time) -> Self {
        let nanos = time.as_unix_nanos();
        let second = 1_000_000_000;
        let (plugin_class, plugin_method) = plugin_of(kind);
        let property = |(name, value): (&str, &str)| SecurityEventProperty { name: name.into(), value: value.into() };
        let domain_id = source.domain_id.to_string();
        let properties = [
            ("guid", source.guid.as_str()),
            ("domain_id", &domain_id),
            ("plugin_class", plugin_class),
            ("plugin_method", plugin_method),
        ];
        Self {
            // RFC 5424, table 1: security and authorization.
            facility: 10,
            severity: SecuritySeverity::of(kind),
            // A year after 2038 has no representation in the type of the standard.
            timestamp: SecurityEventTime {
                sec: nanos.div_euclid(second).try_into().unwrap_or(i32::MAX),
                nanosec: nanos.rem_euclid(second) as u32,
            },
            hostname: String::new(),
            hostip: source.address.clone(),
            appname: source.name.clone(),
            procid: std::process::id().to_string(),
            msgid: id_of(kind).to_owned(),
            message,
            structured_data: BTreeMap::from([("DDS".to_owned(), properties.map(property).to_vec())]),
        }
    }
}

impl SecuritySeverity {
    /// The severity of an event.
    pub(crate) fn of(kind: SecurityReportKind) -> Self {
        match kind {
            SecurityReportKind::Failed => Self::Error,
            SecurityReportKind::Refused | SecurityReportKind::Expelled | SecurityReportKind::Outdated => Self::Warning,
            SecurityReportKind::KeysChanged | SecurityReportKind::LeftOut => Self::Notice,
            SecurityReportKind::Admitted => Self::Informational,
        }
    }

    /// Reads a level as properties of other vendors name it.
    pub(crate) fn from_property(text: &str) -> Option<Self> {
        Some(match text {
            "EMERGENCY_LEVEL" => Self::Emergency,
            "ALERT_LEVEL" => Self::Alert,
            "CRITICAL_LEVEL" => Self::Critical,
            "ERROR_LEVEL" => Self::Error,
            "WARNING_LEVEL" => Self::Warning,
            "NOTICE_LEVEL" => Self::Notice,
            "INFORMATIONAL_LEVEL" => Self::Informational,
            "DEBUG_LEVEL" => Self::Debug,
            _ => return None,
        })
    }
}

fn id_of(kind: SecurityReportKind) -> &'static str {
    match kind {
        SecurityReportKind::Admitted => "participant_admitted",
        SecurityReportKind::Refused => "refused",
        SecurityReportKind::Expelled => "participant_expelled",
        SecurityReportKind::KeysChanged => "keys_changed",
        SecurityReportKind::Failed => "failed",
        SecurityReportKind::Outdated => "file_outdated",
        SecurityReportKind::LeftOut => "events_left_out",
    }
}

/// The plugin and its operation, as the standard names them.
fn plugin_of(kind: SecurityReportKind) -> (&'static str, &'static str) {
    match kind {
        SecurityReportKind::Admitted => ("Authentication", "process_handshake"),
        SecurityReportKind::Refused => ("AccessControl", "check_remote"),
        SecurityReportKind::Expelled => ("AccessControl", "revoke_permissions"),
        SecurityReportKind::KeysChanged | SecurityReportKind::Failed => ("Cryptography", "create_crypto_tokens"),
        SecurityReportKind::Outdated => ("Authentication", "validate_local_identity"),
        SecurityReportKind::LeftOut => ("Logging", "log"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_the_names_and_the_order_of_the_standard() {
        let names = ["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFORMATIONAL", "DEBUG"];
        let levels = names.map(|name| SecuritySeverity::from_property(&format!("{name}_LEVEL")).unwrap());
        assert!(levels.is_sorted());
        assert_eq!(levels.map(|level| level as u8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(SecuritySeverity::from_property("WARNING"), None);
    }
}
