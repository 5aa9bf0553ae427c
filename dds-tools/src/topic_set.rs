//! Readers for all selected topics of a domain, also for those that appear later.

use crate::domain_view::{DomainWatch, TopicView};
use crate::error::ToolError;
use crate::recording::is_selected;
use crate::sample_queue::SampleQueue;
use crate::topic_reader::{TopicChange, TopicReader};
use crate::topic_types::{KnownType, TopicTypes};
use dds_core::stats::ReaderLosses;
use dds_core::{DomainParticipant, SampleInfo};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
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

/// The topics that a command selects.
#[derive(Debug, Clone, Default)]
pub struct TopicSelection {
    /// Names and patterns. Without one, all topics.
    pub topics: Vec<String>,
    /// Names and patterns of topics to leave out.
    pub exclude: Vec<String>,
    /// A topic that is selected in any case.
    pub always: Option<String>,
}

/// The topics that an update of a set opened or refused.
#[derive(Debug, Default)]
pub struct TopicChanges {
    /// Topics that have a reader now, with their numbers and types.
    pub opened: Vec<(usize, String, KnownType)>,
    /// Topics that no reader of the program can match.
    pub refused: Vec<(String, ToolError)>,
    /// Topics that wait for their types since a short time. Each appears once.
    pub awaited: Vec<String>,
}

/// Readers for the selected topics.
#[derive(Debug)]
pub struct TopicSet {
    participant: DomainParticipant,
    selection: TopicSelection,
    /// `None` if samples stay encoded.
    types: Option<TopicTypes>,
    /// Where the samples wait. `None` leaves them in the readers.
    queue: Option<Arc<SampleQueue>>,
    /// The topics by their numbers. A topic that was refused leaves a gap.
    topics: Vec<Option<ObservedTopic>>,
    numbers: BTreeMap<String, usize>,
    /// Topics that no reader of the program can match, and topics to [`ignore`](Self::ignore).
    refused: HashSet<String>,
}

impl TopicSet {
    /// Creates a set for the topics that `patterns` select. Their samples stay encoded, so it needs no types.
    #[must_use]
    pub fn new(participant: DomainParticipant, patterns: &[String]) -> Self {
        let selection = TopicSelection { topics: patterns.to_vec(), ..Default::default() };
        Self {
            participant,
            selection,
            types: None,
            queue: None,
            topics: Vec::new(),
            numbers: BTreeMap::new(),
            refused: HashSet::new(),
        }
    }

    /// Creates a set that looks for the type of each topic. Its instances have keys.
    ///
    /// The samples wait in a queue of at most `queue_bytes`, and [`deliver`](Self::deliver) returns them.
    #[must_use]
    pub fn with_queue(
        participant: DomainParticipant,
        selection: TopicSelection,
        types: TopicTypes,
        queue_bytes: usize,
    ) -> Self {
        let queue = Some(SampleQueue::new(queue_bytes));
        Self { types: Some(types), queue, selection, ..Self::new(participant, &[]) }
    }

    /// Returns the topics in the order of their names, with their numbers.
    pub fn topics(&mut self) -> impl Iterator<Item = (usize, &str, &mut ObservedTopic)> {
        let mut topics: Vec<Option<&mut ObservedTopic>> = self.topics.iter_mut().map(Option::as_mut).collect();
        let by_name = self.numbers.iter();
        by_name.filter_map(move |(name, &number)| Some((number, name.as_str(), topics.get_mut(number)?.take()?)))
    }

    /// Returns whether the set has reached its limit of topics.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.numbers.len() + self.refused.len() >= TOPICS_MAX
    }

    /// Creates a reader for each new topic that has a writer, and for new writers with other QoS.
    ///
    /// # Errors
    /// Fails if the participant is closed.
    pub fn open_topics(&mut self, watch: &DomainWatch) -> Result<TopicChanges, ToolError> {
        let mut changes = TopicChanges::default();
        let found = watch.view().topics();
        if let Some(types) = &mut self.types {
            types.keep_waits(|name| found.contains_key(name));
        }
        for (name, topic) in found {
            let number = self.numbers.get(name);
            if let Some(Some(known)) = number.and_then(|number| self.topics.get_mut(*number)) {
                // The readers that exist go on if a new writer has values that no reader accepts.
                if let Err(error) = known.reader.cover(&topic)
                    && self.refused.insert(name.to_owned())
                {
                    changes.refused.push((name.to_owned(), error));
                }
                continue;
            }
            let TopicSelection { topics, exclude, always } = &self.selection;
            let is_selected = always.as_deref() == Some(name) || is_selected(name, topics, exclude);
            if !is_selected || topic.writers.is_empty() || self.refused.contains(name) || self.is_full() {
                continue;
            }
            let ty = match &mut self.types {
                Some(types) => types.of_topic(name, &topic)?,
                None => Some(KnownType::Unknown),
            };
            let Some(ty) = ty else {
                let is_new = self.types.as_mut().is_some_and(|types| types.notice_wait(name));
                changes.awaited.extend(is_new.then(|| name.to_owned()));
                continue;
            };
            let number = self.topics.len();
            self.topics.push(None);
            let reader = match &self.queue {
                Some(queue) => {
                    TopicReader::with_queue(&self.participant, name, &topic, ty.dynamic(), queue.inlet(number))
                }
                None => TopicReader::new(&self.participant, name, &topic, ty.dynamic()),
            };
            match reader {
                Ok(reader) => {
                    self.topics[number] = Some(ObservedTopic::new(reader));
                    self.numbers.insert(name.to_owned(), number);
                    changes.opened.push((number, name.to_owned(), ty));
                }
                // The announcement of a peer must not end the observation of the other topics.
                Err(error) => {
                    self.refused.insert(name.to_owned());
                    changes.refused.push((name.to_owned(), error));
                }
            }
        }
        Ok(changes)
    }

    /// Closes the readers of a topic, and opens no others. So it takes no room in the queue.
    pub fn ignore(&mut self, topic: usize) {
        let Self { topics, numbers, refused, .. } = self;
        if let Some(observed) = topics.get_mut(topic) {
            *observed = None;
        }
        let name = numbers.iter().find(|&(_, &number)| number == topic).map(|(name, _)| name.clone());
        if let Some(name) = name {
            numbers.remove(&name);
            refused.insert(name);
        }
    }

    /// Takes and counts the samples of all topics. Passes each with the number of its topic, and with its length.
    ///
    /// # Errors
    /// Fails if the participant is closed.
    pub fn take(&mut self, mut each: impl FnMut(usize, &SampleInfo, usize)) -> Result<(), ToolError> {
        for (number, topic) in self.topics.iter_mut().enumerate() {
            let Some(topic) = topic else { continue };
            topic.take(|info, change| {
                if let TopicChange::Sample(sample) = change {
                    each(number, info, sample.bytes.len());
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Delivers the oldest changes from the queue, each with the number of its topic. Returns whether many more wait.
    ///
    /// After [`close_queue`](Self::close_queue), it returns whether any more wait.
    ///
    /// # Errors
    /// The error of `each`.
    pub fn deliver(
        &mut self,
        mut each: impl FnMut(usize, &SampleInfo, TopicChange<'_>) -> Result<(), ToolError>,
    ) -> Result<bool, ToolError> {
        let Self { queue, topics, .. } = self;
        let Some(queue) = queue else { return Ok(false) };
        let Some(mut block) = queue.pop() else { return Ok(false) };
        let (changes, payloads) = block.by_reception();
        for change in changes {
            let number = change.topic;
            // The readers of a refused topic have delivered samples before the refusal.
            let Some(Some(topic)) = topics.get_mut(number) else { continue };
            topic.reader.deliver(change, payloads, |info, change| each(number, info, change))?;
        }
        Ok(queue.give_back(block))
    }

    /// Accepts no further samples. [`deliver`](Self::deliver) still returns those in the queue.
    pub fn close_queue(&self) {
        if let Some(queue) = &self.queue {
            queue.close();
        }
    }

    /// Returns the bytes of the changes in the queue.
    #[must_use]
    pub fn queued_bytes(&self) -> usize {
        self.queue.as_ref().map_or(0, |queue| queue.bytes())
    }

    /// Returns how many changes of a topic had no room in the queue.
    #[must_use]
    pub fn without_room(&self, topic: usize) -> u64 {
        self.queue.as_ref().map_or(0, |queue| queue.without_room(topic))
    }
}

impl ObservedTopic {
    /// Observes the topic of a reader.
    pub(crate) fn new(reader: TopicReader) -> Self {
        let losses_before = reader.losses();
        Self { reader, samples: 0, bytes: 0, period_start: Instant::now(), losses_before }
    }

    /// Adds a reader for each writer that no reader serves in full.
    ///
    /// # Errors
    /// As the builder of the reader.
    pub fn cover(&mut self, found: &TopicView<'_>) -> Result<(), ToolError> {
        self.reader.cover(found)
    }

    /// Takes all changes in the order of their arrival, and counts the samples.
    ///
    /// # Errors
    /// Fails if the reader is closed, or with the error of `each`.
    pub fn take(
        &mut self,
        mut each: impl FnMut(&SampleInfo, TopicChange<'_>) -> Result<(), ToolError>,
    ) -> Result<(), ToolError> {
        let Self { reader, samples, bytes, .. } = self;
        reader.take(|info, change| {
            if let TopicChange::Sample(sample) = &change {
                *samples += 1;
                *bytes += sample.bytes.len() as u64;
            }
            each(info, change)
        })
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
