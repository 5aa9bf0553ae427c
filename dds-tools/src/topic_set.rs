//! Readers for all selected topics of a domain, also for those that appear later.

use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::recording::is_selected;
use crate::topic_access::TopicReader;
use dds_core::DomainParticipant;
use dds_core::stats::ReaderLosses;
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

/// Most topics of a set. A peer that announces new names without end must not fill the memory.
const TOPICS_MAX: usize = 4096;

/// A topic of a set, with the figures of the present period.
#[derive(Debug)]
pub struct ObservedTopic {
    reader: TopicReader,
    /// Samples since the start of the period.
    pub samples: u64,
    /// Bytes of these samples.
    pub bytes: u64,
    period_start: Instant,
    losses_before: ReaderLosses,
}

/// The figures of a topic in one period.
#[derive(Debug)]
pub struct TopicPeriod {
    /// Samples for each second.
    pub rate: f64,
    /// Bytes for each second.
    pub bytes_per_second: f64,
    /// Losses in the period.
    pub losses: ReaderLosses,
}

/// Readers for the selected topics. They need no types.
#[derive(Debug)]
pub struct TopicSet {
    participant: DomainParticipant,
    patterns: Vec<String>,
    topics: BTreeMap<String, ObservedTopic>,
    /// Topics that no reader of the program can match.
    refused: HashSet<String>,
}

impl TopicSet {
    /// Creates a set for the topics that `patterns` select.
    #[must_use]
    pub fn new(participant: DomainParticipant, patterns: &[String]) -> Self {
        Self { participant, patterns: patterns.to_vec(), topics: BTreeMap::new(), refused: HashSet::new() }
    }

    /// Returns the topics by their names.
    pub fn topics(&mut self) -> impl Iterator<Item = (&str, &mut ObservedTopic)> {
        self.topics.iter_mut().map(|(name, topic)| (name.as_str(), topic))
    }

    /// Creates a reader for each new topic that has a writer.
    pub fn open_topics(&mut self, watch: &DomainWatch) {
        for (name, topic) in watch.view().topics() {
            let is_known = self.topics.contains_key(name) || self.refused.contains(name);
            let is_full = self.topics.len() + self.refused.len() >= TOPICS_MAX;
            if is_known || is_full || topic.writers.is_empty() || !is_selected(name, &self.patterns, &[]) {
                continue;
            }
            // The announcement of a peer must not end the observation of the other topics.
            let Ok(reader) = TopicReader::new(&self.participant, name, &topic, None) else {
                self.refused.insert(name.to_owned());
                continue;
            };
            self.topics.insert(name.to_owned(), ObservedTopic::new(reader));
        }
    }

    /// Takes and counts the samples of all topics. Returns their number.
    ///
    /// # Errors
    /// Fails if the participant is closed.
    pub fn take(&mut self) -> Result<u64, ToolError> {
        let mut taken = 0;
        for topic in self.topics.values_mut() {
            let ObservedTopic { reader, samples, bytes, .. } = topic;
            reader.take(|_, sample| {
                if let Some(sample) = sample {
                    taken += 1;
                    *samples += 1;
                    *bytes += sample.bytes.len() as u64;
                }
                Ok(())
            })?;
        }
        Ok(taken)
    }
}

impl ObservedTopic {
    fn new(reader: TopicReader) -> Self {
        let losses_before = reader.losses();
        Self { reader, samples: 0, bytes: 0, period_start: Instant::now(), losses_before }
    }

    /// Returns the losses since the creation of the reader.
    #[must_use]
    pub fn losses(&self) -> ReaderLosses {
        self.reader.losses()
    }

    /// Ends the period, returns its figures, and starts the next one.
    pub fn end_period(&mut self) -> TopicPeriod {
        let now = self.reader.losses();
        let seconds = self.period_start.elapsed().max(Duration::from_millis(1)).as_secs_f64();
        let period = TopicPeriod {
            rate: self.samples as f64 / seconds,
            bytes_per_second: self.bytes as f64 / seconds,
            losses: now.since(&self.losses_before),
        };
        (self.samples, self.bytes) = (0, 0);
        self.period_start = Instant::now();
        self.losses_before = now;
        period
    }
}
