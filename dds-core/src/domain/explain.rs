//! Why an endpoint has fewer matches than somebody waits for, in one sentence.

use crate::actor::Effects;
use crate::domain::ParticipantHandle;
use dds_rtps::discovery::Verdict;
use dds_rtps::participant::Participant;
use dds_rtps::types::{EntityId, Guid};
use std::fmt::Write;

/// The most endpoints that one sentence names.
const NAMED_MAX: usize = 3;

impl ParticipantHandle {
    /// The other participants that are known now.
    pub(crate) fn discovered_participants(&self) -> Vec<Guid> {
        let prefixes = Effects::scope(|effects| {
            self.cell().with(effects, |actor, _| {
                actor.rtps().participants().map(|data| Guid::new(data.prefix, EntityId::PARTICIPANT)).collect()
            })
        });
        // A closed participant knows nobody.
        prefixes.unwrap_or_default()
    }

    /// What is known of the counterparts of the endpoint `guid`, and what to do about it.
    pub(crate) fn why_waiting(&self, guid: Guid) -> String {
        let why = Effects::scope(|effects| self.cell().with(effects, |actor, _| explain(actor.rtps(), guid)));
        why.unwrap_or_else(|_| "the participant has been closed".to_owned())
    }
}

fn explain(participant: &Participant, guid: Guid) -> String {
    let verdicts = participant.matching().verdicts();
    let about: Vec<(Guid, &Verdict)> = verdicts
        .filter_map(|(writer, reader, verdict)| match (writer == guid, reader == guid) {
            (true, _) => Some((reader, verdict)),
            (_, true) => Some((writer, verdict)),
            _ => None,
        })
        .collect();
    if about.is_empty() {
        let known = participant.participants().count();
        return format!(
            "no counterpart with this topic has been found; {known} other participants are known. Check that the other \
             side runs, with the same topic name and domain, and can be reached"
        );
    }
    let obstacles: Vec<_> = about.iter().filter(|(_, verdict)| **verdict != Verdict::Matched).collect();
    let mut text = format!("{} of {} found counterparts match", about.len() - obstacles.len(), about.len());
    for (other, verdict) in obstacles.iter().take(NAMED_MAX) {
        // Writing to a string does not fail.
        let _ = write!(text, "; not {other}: {}", describe(verdict));
    }
    text
}

fn describe(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Matched => "it matches".to_owned(),
        Verdict::TypeName => "its type has another name".to_owned(),
        Verdict::Partition => "it has no partition in common".to_owned(),
        Verdict::Incompatible(policies) => {
            let names: Vec<String> = policies.iter().map(ToString::to_string).collect();
            format!("the offer does not meet the request in {}", names.join(", "))
        }
        Verdict::Unreachable => "it announces no address that can be reached from here".to_owned(),
        _ => "it does not fit".to_owned(),
    }
}
