//! The policies of the endpoints of a topic, side by side.

use super::text::table;
use super::why::pair_of;
use crate::domain_view::TopicView;
use dds_core::Guid;
use dds_core::matching::MatchReport;
use dds_core::qos::{DataRepresentation, Ownership, Presentation};
use std::fmt;

/// Endpoints beside each other. Further ones follow below.
const COLUMNS: usize = 6;
/// The compared policies, in the order of the rows.
const POLICIES: [&str; 13] = [
    "reliability",
    "durability",
    "history",
    "deadline",
    "latency budget",
    "lifespan",
    "liveliness",
    "ownership",
    "destination order",
    "presentation",
    "partition",
    "representation",
    "type",
];

/// The endpoints of a topic with their policies. Writers have the labels `W1`, `W2` …, readers `R1`, `R2` ….
pub(super) struct QosTable {
    writers: usize,
    endpoints: Vec<(Guid, [String; POLICIES.len()])>,
}

/// Returns the policies of a writer or a reader. Both have the same ones, except LIFESPAN and the strength.
macro_rules! policies {
    ($endpoint:expr, $lifespan:expr, $ownership:expr) => {{
        let (endpoint, qos) = ($endpoint, &$endpoint.qos);
        let reliability = if qos.reliability.is_reliable() { "reliable" } else { "best effort" };
        let values = [
            reliability.to_owned(),
            spaced(&qos.durability),
            spaced(&qos.history),
            qos.deadline.to_string(),
            qos.latency_budget.to_string(),
            $lifespan,
            format!("{} {}", spaced(&qos.liveliness.kind), qos.liveliness.lease_duration),
            $ownership,
            spaced(&qos.destination_order),
            presentation_text(&endpoint.presentation),
            endpoint.partition.join(" "),
            representation_text(&qos.representation),
            endpoint.type_name.clone(),
        ];
        (endpoint.key, values)
    }};
}

impl QosTable {
    pub(super) fn new(topic: &TopicView<'_>) -> Self {
        let writers = topic.writers.iter().map(|writer| {
            let mut ownership = spaced(&writer.qos.ownership);
            if writer.qos.ownership == Ownership::Exclusive {
                ownership += &format!(" {}", writer.qos.ownership_strength);
            }
            policies!(writer, writer.qos.lifespan.to_string(), ownership)
        });
        let readers =
            topic.readers.iter().map(|reader| policies!(reader, String::new(), spaced(&reader.qos.ownership)));
        Self { writers: topic.writers.len(), endpoints: writers.chain(readers).collect() }
    }

    fn label(&self, index: usize) -> String {
        match index.checked_sub(self.writers) {
            None => format!("W{}", index + 1),
            Some(reader) => format!("R{}", reader + 1),
        }
    }

    /// Returns the labels of all endpoints: writers, then readers, as the topic has them.
    pub(super) fn labels(&self) -> impl Iterator<Item = String> {
        (0..self.endpoints.len()).map(|index| self.label(index))
    }

    /// Returns a line for each writer with the readers that it matches.
    pub(super) fn matches(&self, matches: &[MatchReport]) -> Vec<String> {
        let label_of = |guid: Guid| {
            let index = self.endpoints.iter().position(|(known, _)| *known == guid);
            index.map(|index| self.label(index))
        };
        let line_of = |index: usize| {
            let writer = self.endpoints[index].0;
            let pairs = matches.iter().map(pair_of).filter(|(found, _)| found.guid == writer);
            let readers: Vec<String> = pairs.filter_map(|(_, reader)| label_of(reader.guid)).collect();
            let readers = if readers.is_empty() { "no reader".to_owned() } else { readers.join(" ") };
            format!("{} matches {readers}", self.label(index))
        };
        (0..self.writers).map(line_of).collect()
    }
}

impl fmt::Display for QosTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in self.endpoints.chunks(COLUMNS).enumerate() {
            let mut header = vec![String::new()];
            header.extend((0..part.len()).map(|index| self.label(number * COLUMNS + index)));
            let mut rows = table(&header.iter().map(String::as_str).collect::<Vec<_>>());
            for (row, policy) in POLICIES.iter().enumerate() {
                let values = part.iter().map(|(_, values)| if values[row].is_empty() { "-" } else { &values[row] });
                rows.add_row(std::iter::once(*policy).chain(values));
            }
            for line in rows.lines() {
                writeln!(f, "  {}", line.trim_end())?;
            }
        }
        Ok(())
    }
}

/// Returns the name of a value in words: `TransientLocal` is `transient local`.
fn spaced(value: &impl fmt::Debug) -> String {
    let text = format!("{value:?}").replace(" { depth: ", "").replace(" }", "");
    let mut words = String::new();
    let mut before = ' ';
    for letter in text.chars() {
        let is_new = letter.is_uppercase() || (letter.is_ascii_digit() && !before.is_ascii_digit());
        if is_new && before != ' ' {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
        before = letter;
    }
    words
}

fn presentation_text(presentation: &Presentation) -> String {
    let mut text = spaced(&presentation.access_scope);
    if presentation.coherent_access {
        text += ", coherent";
    }
    if presentation.ordered_access {
        text += ", ordered";
    }
    text
}

/// An empty list means XCDR1 (XTypes 1.3, 7.6.3.1.1).
fn representation_text(representation: &[DataRepresentation]) -> String {
    let names: Vec<String> = representation.iter().map(|id| format!("{id:?}").to_uppercase()).collect();
    if names.is_empty() { "XCDR1".to_owned() } else { names.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::spaced;
    use dds_core::qos::{Durability, History, LivelinessKind};

    #[test]
    fn values_are_words() {
        assert_eq!(spaced(&Durability::TransientLocal), "transient local");
        assert_eq!(spaced(&LivelinessKind::ManualByTopic), "manual by topic");
        assert_eq!(spaced(&History::KeepLast { depth: 12 }), "keep last 12");
        assert_eq!(spaced(&History::KeepAll), "keep all");
    }
}
