//! New governance and permissions.

use crate::access::moment;
use crate::pki::Validity;
use std::fmt::Write;

/// Without a list of partitions, a rule has only the one without a name.
const PARTITIONS: &str = "          <partitions>\n            <partition>*</partition>\n          </partitions>\n";

/// What each identity of a new fleet may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetRights {
    /// Domains in which it may take part.
    pub domains: Vec<u32>,
    /// Expressions for topics that it may write.
    pub publish: Vec<String>,
    /// Expressions for topics that it may read.
    pub subscribe: Vec<String>,
}

impl Default for FleetRights {
    /// All topics of domain 0.
    fn default() -> Self {
        Self { domains: vec![0], publish: vec!["*".to_owned()], subscribe: vec!["*".to_owned()] }
    }
}

/// Returns a governance that protects everything: samples, discovery and liveliness encrypted, messages signed.
///
/// The protection of submessages encrypts samples. That of payloads would encrypt them a second time.
pub(super) fn governance(rights: &FleetRights) -> String {
    let domains = domains(&rights.domains, 8);
    format!(
        r#"<?xml version="1.0" encoding="utf-8"?>
<dds xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:noNamespaceSchemaLocation="http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_governance.xsd">
  <domain_access_rules>
    <domain_rule>
      <domains>
{domains}      </domains>
      <allow_unauthenticated_participants>false</allow_unauthenticated_participants>
      <enable_join_access_control>true</enable_join_access_control>
      <discovery_protection_kind>ENCRYPT</discovery_protection_kind>
      <liveliness_protection_kind>ENCRYPT</liveliness_protection_kind>
      <rtps_protection_kind>SIGN</rtps_protection_kind>
      <topic_access_rules>
        <topic_rule>
          <topic_expression>*</topic_expression>
          <enable_discovery_protection>true</enable_discovery_protection>
          <enable_liveliness_protection>true</enable_liveliness_protection>
          <enable_read_access_control>true</enable_read_access_control>
          <enable_write_access_control>true</enable_write_access_control>
          <metadata_protection_kind>ENCRYPT</metadata_protection_kind>
          <data_protection_kind>NONE</data_protection_kind>
        </topic_rule>
      </topic_access_rules>
    </domain_rule>
  </domain_access_rules>
</dds>
"#
    )
}

/// Returns the permissions of one identity.
pub(super) fn permissions(name: &str, subject: &str, validity: Validity, rights: &FleetRights) -> String {
    let (not_before, not_after) = (moment::format(validity.not_before), moment::format(validity.not_after));
    // Fast DDS takes no `Z` at the end of a time.
    let (not_before, not_after) = (not_before.trim_end_matches('Z'), not_after.trim_end_matches('Z'));
    let (name, subject, domains) = (escaped(name), escaped(subject), domains(&rights.domains, 10));
    let mut rules = String::new();
    for (action, topics) in [("publish", &rights.publish), ("subscribe", &rights.subscribe)] {
        if topics.is_empty() {
            continue;
        }
        let topics = topics.iter().fold(String::new(), |mut lines, topic| {
            // Writing to a string does not fail.
            let _ = writeln!(lines, "            <topic>{}</topic>", escaped(topic));
            lines
        });
        let _ = write!(
            rules,
            "        <{action}>\n          <topics>\n{topics}          </topics>\n{PARTITIONS}        </{action}>\n"
        );
    }
    let rule = if rules.is_empty() {
        String::new()
    } else {
        format!("      <allow_rule>\n        <domains>\n{domains}        </domains>\n{rules}      </allow_rule>\n")
    };
    format!(
        r#"<?xml version="1.0" encoding="utf-8"?>
<dds xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:noNamespaceSchemaLocation="http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_permissions.xsd">
  <permissions>
    <grant name="{name}">
      <subject_name>{subject}</subject_name>
      <validity>
        <not_before>{not_before}</not_before>
        <not_after>{not_after}</not_after>
      </validity>
{rule}      <default>DENY</default>
    </grant>
  </permissions>
</dds>
"#
    )
}

fn domains(ids: &[u32], indent: usize) -> String {
    ids.iter().fold(String::new(), |mut lines, id| {
        let _ = writeln!(lines, "{:indent$}<id>{id}</id>", "");
        lines
    })
}

/// Escapes the characters that have a meaning in XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
