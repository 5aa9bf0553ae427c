//! The participants, writers and readers of a domain, from the built-in topics (DDS 1.4, 2.2.5).

use crate::error::ToolError;
use crate::stop::Stop;
use dds_core::builtin::{
    BuiltinTopic, ParticipantBuiltinTopicData, PublicationBuiltinTopicData, SubscriptionBuiltinTopicData,
};
use dds_core::relay::EntityKind;
use dds_core::{DataReader, DomainParticipant, Guid, InstanceHandle};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// The known participants, writers and readers of other participants.
#[derive(Debug, Default)]
pub struct DomainView {
    participants: HashMap<InstanceHandle, ParticipantBuiltinTopicData>,
    writers: HashMap<InstanceHandle, PublicationBuiltinTopicData>,
    readers: HashMap<InstanceHandle, SubscriptionBuiltinTopicData>,
}

/// The endpoints of one topic.
#[derive(Debug, Default)]
pub struct TopicView<'v> {
    /// Its writers, in the order of their GUIDs.
    pub writers: Vec<&'v PublicationBuiltinTopicData>,
    /// Its readers, in the order of their GUIDs.
    pub readers: Vec<&'v SubscriptionBuiltinTopicData>,
}

impl TopicView<'_> {
    /// Returns whether a writer or a reader announces that the topic has a key.
    #[must_use]
    pub fn has_key(&self) -> bool {
        let of_writers = self.writers.iter().map(|writer| writer.key.entity_id.kind());
        let mut kinds = of_writers.chain(self.readers.iter().map(|reader| reader.key.entity_id.kind()));
        kinds.any(|kind| matches!(kind, EntityKind::WriterWithKey | EntityKind::ReaderWithKey))
    }

    /// Returns the type names of the endpoints, each one once.
    #[must_use]
    pub fn type_names(&self) -> Vec<String> {
        let writers = self.writers.iter().map(|writer| &writer.type_name);
        let readers = self.readers.iter().map(|reader| &reader.type_name);
        let mut names: Vec<String> = writers.chain(readers).cloned().collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl DomainView {
    /// Returns the participants in the order of their names and GUIDs.
    #[must_use]
    pub fn participants(&self) -> Vec<&ParticipantBuiltinTopicData> {
        let mut participants: Vec<_> = self.participants.values().collect();
        participants.sort_by(|a, b| (&a.name, a.key).cmp(&(&b.name, b.key)));
        participants
    }

    /// Returns a participant.
    #[must_use]
    pub fn participant(&self, participant: Guid) -> Option<&ParticipantBuiltinTopicData> {
        self.participants.get(&InstanceHandle::from(participant))
    }

    /// Returns the name of a participant, or its GUID if it has no name.
    #[must_use]
    pub fn participant_name(&self, participant: Guid) -> String {
        match self.participant(participant) {
            Some(found) if !found.name.is_empty() => found.name.clone(),
            _ => participant.to_string(),
        }
    }

    /// Returns the name of a writer's participant, or the GUID of an unknown writer.
    #[must_use]
    pub fn writer_participant(&self, writer: Guid) -> String {
        match self.writers.get(&InstanceHandle::from(writer)) {
            Some(found) => self.participant_name(found.participant_key),
            None => writer.to_string(),
        }
    }

    /// Returns the name of a reader's participant, or the GUID of an unknown reader.
    #[must_use]
    pub fn reader_participant(&self, reader: Guid) -> String {
        match self.readers.get(&InstanceHandle::from(reader)) {
            Some(found) => self.participant_name(found.participant_key),
            None => reader.to_string(),
        }
    }

    /// Returns a writer.
    #[must_use]
    pub fn writer(&self, writer: InstanceHandle) -> Option<&PublicationBuiltinTopicData> {
        self.writers.get(&writer)
    }

    /// Returns the participant of a writer.
    #[must_use]
    pub fn participant_of_writer(&self, writer: InstanceHandle) -> Option<Guid> {
        self.writers.get(&writer).map(|found| found.participant_key)
    }

    /// Returns the vendor of a participant.
    #[must_use]
    pub fn vendor(&self, participant: Guid) -> String {
        match self.participant(participant) {
            Some(found) => found.vendor.name().map_or_else(|| format!("vendor {:?}", found.vendor), str::to_owned),
            None => "unknown vendor".to_owned(),
        }
    }

    /// Returns the writers and readers of a participant.
    #[must_use]
    pub fn endpoint_counts(&self, participant: Guid) -> (usize, usize) {
        let writers = self.writers.values().filter(|writer| writer.participant_key == participant).count();
        let readers = self.readers.values().filter(|reader| reader.participant_key == participant).count();
        (writers, readers)
    }

    /// Returns all topics in the order of their names.
    #[must_use]
    pub fn topics(&self) -> BTreeMap<&str, TopicView<'_>> {
        let mut topics = BTreeMap::<&str, TopicView<'_>>::new();
        for writer in self.writers.values() {
            topics.entry(&writer.topic_name).or_default().writers.push(writer);
        }
        for reader in self.readers.values() {
            topics.entry(&reader.topic_name).or_default().readers.push(reader);
        }
        for topic in topics.values_mut() {
            topic.writers.sort_unstable_by_key(|writer| writer.key);
            topic.readers.sort_unstable_by_key(|reader| reader.key);
        }
        topics
    }

    /// Returns the endpoints of a topic, which may have none.
    #[must_use]
    pub fn endpoints_of(&self, topic: &str) -> TopicView<'_> {
        self.topics().remove(topic).unwrap_or_default()
    }

    /// Returns one topic.
    ///
    /// # Errors
    /// [`ToolError::NoTopic`] if the topic has no endpoint.
    pub fn topic(&self, name: &str) -> Result<TopicView<'_>, ToolError> {
        let mut topics = self.topics();
        match topics.remove(name) {
            Some(topic) => Ok(topic),
            None => {
                let known = topics.into_keys().map(str::to_owned).collect();
                Err(ToolError::NoTopic { topic: name.to_owned(), known })
            }
        }
    }
}

/// Follows the domain: keeps a [`DomainView`] up to date.
#[derive(Debug)]
pub struct DomainWatch {
    participants: DataReader<ParticipantBuiltinTopicData>,
    writers: DataReader<PublicationBuiltinTopicData>,
    readers: DataReader<SubscriptionBuiltinTopicData>,
    view: DomainView,
}

impl DomainWatch {
    /// Creates the readers of the built-in topics.
    ///
    /// # Errors
    /// As [`DomainParticipant::reader`].
    pub fn new(participant: &DomainParticipant) -> Result<Self, ToolError> {
        Ok(Self {
            participants: participant.reader(&BuiltinTopic::PARTICIPANT)?,
            writers: participant.reader(&BuiltinTopic::PUBLICATION)?,
            readers: participant.reader(&BuiltinTopic::SUBSCRIPTION)?,
            view: DomainView::default(),
        })
    }

    /// Returns the present view.
    #[must_use]
    pub fn view(&self) -> &DomainView {
        &self.view
    }

    /// Applies all changes since the last call. Returns whether there was one.
    ///
    /// # Errors
    /// Fails if the participant is closed.
    pub fn update(&mut self) -> Result<bool, ToolError> {
        let participants = apply(&self.participants, &mut self.view.participants)?;
        let writers = apply(&self.writers, &mut self.view.writers)?;
        let readers = apply(&self.readers, &mut self.view.readers)?;
        Ok(participants || writers || readers)
    }

    /// Follows the domain for at least `wait`, and until it has not changed for a third of it.
    ///
    /// # Errors
    /// Fails if the participant is closed.
    pub fn settle(&mut self, wait: Duration, stop: &Stop) -> Result<&DomainView, ToolError> {
        let quiet = wait / 3;
        let start = Instant::now();
        let mut changed = start;
        while !stop.is_due() && (start.elapsed() < wait || changed.elapsed() < quiet) {
            if self.update()? {
                changed = Instant::now();
            }
            // A domain that never stops to change must not hold the command.
            if start.elapsed() > 4 * wait {
                break;
            }
            stop.sleep(Duration::from_millis(20).min(wait));
        }
        self.update()?;
        Ok(&self.view)
    }

    /// Follows the domain until `topic` has an endpoint, or until `wait` has passed.
    ///
    /// # Errors
    /// Fails if the participant is closed.
    pub fn await_topic(&mut self, topic: &str, wait: Duration, stop: &Stop) -> Result<(), ToolError> {
        let start = Instant::now();
        while !stop.is_due() && start.elapsed() < wait {
            self.update()?;
            let of_writer = self.view.writers.values().any(|writer| writer.topic_name == topic);
            if of_writer || self.view.readers.values().any(|reader| reader.topic_name == topic) {
                // Further endpoints of the topic usually arrive in the same moment.
                self.settle(Duration::from_millis(300), stop)?;
                return Ok(());
            }
            stop.sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

/// Applies the samples of a built-in topic: a disposed instance, or one without writers, has gone.
fn apply<T: dds_core::cdr::DecodeOwned>(
    reader: &DataReader<T>,
    view: &mut HashMap<InstanceHandle, T>,
) -> Result<bool, ToolError> {
    let mut has_changed = false;
    for sample in reader.take()? {
        has_changed = true;
        match sample.data {
            Some(data) => view.insert(sample.info.instance_handle, data),
            None => view.remove(&sample.info.instance_handle),
        };
    }
    Ok(has_changed)
}
