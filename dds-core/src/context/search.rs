//! Where a participant has looked for others, and which of its settings may stand in the way.

use crate::context::ParticipantCore;
use crate::infrastructure::Missing;
use crate::settings::{Config, Scope};
use std::fmt::Write;

/// Upper bound of the peers that a text names.
const NAMED_MAX: usize = 3;

impl ParticipantCore {
    /// Returns the missing participants, while this one knows no other.
    pub(crate) fn missing_participants(&self) -> Missing {
        missing(self.config(), &self.network().unresolved_peers())
    }
}

fn missing(config: &Config, unresolved: &[String]) -> Missing {
    let mut report = format!("in domain {}", config.domain_id);
    if !config.domain_tag.is_empty() {
        // Writing to a string does not fail.
        let _ = write!(report, " with the tag \"{}\"", config.domain_tag);
    }
    let settings = settings_in_the_way(config, unresolved);
    let silent: Vec<&String> = config.peers.iter().filter(|peer| !unresolved.contains(peer)).collect();
    if config.scope != Scope::Host {
        for peer in silent.iter().take(NAMED_MAX) {
            let _ = write!(report, "; no answer from the named peer {peer}");
        }
    }
    for setting in &settings {
        let _ = write!(report, "; {setting}");
    }
    let report = report.into();
    match (settings.is_empty(), silent.is_empty()) {
        (false, _) => Missing::Setting { report },
        (true, false) => Missing::Peers { report },
        (true, true) => Missing::Participants { report },
    }
}

/// Returns the settings by which the participant may miss others.
fn settings_in_the_way(config: &Config, unresolved: &[String]) -> Vec<String> {
    let mut settings = Vec::new();
    match config.scope {
        Scope::Host => settings.push("scope host: it looks for others on this host only".to_owned()),
        Scope::PeersOnly if config.peers.is_empty() => {
            settings.push("scope peers-only, and DDS_PEERS names no peer".to_owned());
        }
        _ => {
            let unresolved = unresolved.iter().take(NAMED_MAX);
            settings.extend(unresolved.map(|peer| format!("the name of the peer {peer} cannot be resolved")));
        }
    }
    let misspelled = config.misspelled.iter();
    settings.extend(misspelled.map(|(name, meant)| format!("{name} has no effect (did you mean {meant}?)")));
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(change: impl FnOnce(&mut Config), unresolved: &[&str]) -> String {
        let mut config = Config::new(7);
        change(&mut config);
        let unresolved: Vec<String> = unresolved.iter().copied().map(str::to_owned).collect();
        let missing = missing(&config, &unresolved);
        format!("{missing}; {}", missing.next_step())
    }

    #[test]
    fn text_names_domain_and_tag() {
        let plain = text(|_| {}, &[]);
        assert!(plain.starts_with("no other participant was discovered in domain 7; check"), "{plain}");
        let tagged = text(|config| config.domain_tag = "lab".to_owned(), &[]);
        assert!(tagged.contains("in domain 7 with the tag \"lab\"; check"), "{tagged}");
    }

    #[test]
    fn text_names_peers_without_an_answer_and_names_without_an_address() {
        let peers = |config: &mut Config| config.peers = vec!["10.77.1.99".to_owned(), "robbot".to_owned()];
        let silent = text(peers, &[]);
        assert!(silent.contains("; no answer from the named peer 10.77.1.99; no answer from the named peer robbot; "));
        assert!(silent.contains("firewalls"), "{silent}");
        let unknown = text(peers, &["robbot"]);
        let expected =
            "; no answer from the named peer 10.77.1.99; the name of the peer robbot cannot be resolved; correct";
        assert!(unknown.contains(expected), "{unknown}");
    }

    #[test]
    fn text_names_a_scope_that_is_too_small() {
        let host = text(|config| config.scope = Scope::Host, &[]);
        assert!(host.contains("; scope host: it looks for others on this host only; correct"), "{host}");
        let nowhere = text(|config| config.scope = Scope::PeersOnly, &[]);
        assert!(nowhere.contains("; scope peers-only, and DDS_PEERS names no peer; correct"), "{nowhere}");
    }

    #[test]
    fn text_names_a_misspelled_variable() {
        let wrong = text(|config| config.misspelled = vec![("DDS_PEER".to_owned(), "DDS_PEERS")], &[]);
        assert!(wrong.contains("; DDS_PEER has no effect (did you mean DDS_PEERS?); correct"), "{wrong}");
    }
}
