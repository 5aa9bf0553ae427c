//! The types of topics: from interface files of ROS, or from the endpoints that describe them.

use crate::domain_view::TopicView;
use crate::error::ToolError;
use crate::recording::{RecordedSchema, SCHEMA_ENCODING};
use crate::ros::{RosTopicType, ros_topic, ros_type};
use crate::topic_access::TypeFile;
use dds_core::DomainParticipant;
use dds_core::dynamic::DynamicType;
use dds_core::error::WaitErrorKind;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Wait for a type that needs no note.
const QUIET_WAIT: Duration = Duration::from_millis(150);

/// The type of a topic.
#[derive(Debug, Clone)]
pub enum KnownType {
    /// An interface file of ROS defines it.
    Ros(RosTopicType),
    /// An endpoint describes it.
    Described(DynamicType),
    /// No endpoint describes it.
    Unknown,
}

impl KnownType {
    /// Returns the type, if it is known.
    #[must_use]
    pub const fn dynamic(&self) -> Option<&DynamicType> {
        match self {
            Self::Ros(found) => Some(&found.ty),
            Self::Described(ty) => Some(ty),
            Self::Unknown => None,
        }
    }

    /// Returns the name of a topic's channel, and its schema if the type is known. Topics of ROS have those of ROS.
    pub(crate) fn channel<'n>(&self, topic: &'n str) -> (&'n str, Option<RecordedSchema>) {
        if let (Self::Ros(RosTopicType { schema: Some(schema), .. }), Some(name)) = (self, ros_topic(topic)) {
            let (type_name, encoding, text) = (schema.name.clone(), schema.encoding, schema.text.clone());
            return (name, Some(RecordedSchema { name: type_name, encoding, text }));
        }
        let Some(ty) = self.dynamic() else { return (topic, None) };
        let schema = RecordedSchema { name: ty.name().to_owned(), encoding: SCHEMA_ENCODING, text: ty.to_string() };
        (topic, Some(schema))
    }

    /// Returns the name of the type, or the first name that an endpoint announces.
    #[must_use]
    pub fn name(&self, topic: &TopicView<'_>) -> String {
        // Endpoints may use several names. A schema defines the one of the described type.
        match self.dynamic() {
            Some(ty) => ty.name().to_owned(),
            None => topic.type_names().into_iter().next().unwrap_or_default(),
        }
    }
}

/// Asks endpoints for the types of their topics, and gives up after a while.
#[derive(Debug)]
pub struct TopicTypes {
    participant: DomainParticipant,
    wait: Duration,
    /// IDL file with types that no endpoint describes.
    file: Option<TypeFile>,
    /// When the wait for the type of a topic began, and whether the user knows. Bounded by the topics that exist.
    awaited: HashMap<String, (Instant, bool)>,
}

impl TopicTypes {
    /// Looks for types in `file` first. For each other type, waits for its description for at most `wait`.
    ///
    /// # Errors
    /// [`ToolError::TypeFile`] with the diagnostics of the file.
    pub fn new(participant: DomainParticipant, wait: Duration, file: Option<PathBuf>) -> Result<Self, ToolError> {
        // A program may write the file again later. Until its end, the file is incorrect.
        let file = file.as_deref().map(TypeFile::read).transpose()?;
        Ok(Self { participant, wait, file, awaited: HashMap::new() })
    }

    /// Forgets the waits for topics that have left.
    pub(crate) fn keep_waits(&mut self, exists: impl Fn(&str) -> bool) {
        self.awaited.retain(|name, _| exists(name));
    }

    /// Returns whether the user must learn that a topic waits for its type. It is true once for each wait.
    pub(crate) fn notice_wait(&mut self, name: &str) -> bool {
        let Some((start, is_known)) = self.awaited.get_mut(name) else { return false };
        // Most descriptions arrive within two looks.
        let is_new = !*is_known && start.elapsed() >= QUIET_WAIT;
        *is_known |= is_new;
        is_new
    }

    /// Returns the type of a topic, or `None` while an endpoint may still describe it.
    ///
    /// # Errors
    /// Fails if the participant is closed. [`ToolError::TypeFile`] if the file has a mistake in this type.
    pub fn of_topic(&mut self, name: &str, topic: &TopicView<'_>) -> Result<Option<KnownType>, ToolError> {
        if let Some(file) = &self.file
            && let Some(ty) = file.type_of(topic)?
        {
            return Ok(Some(KnownType::Described(ty)));
        }
        if let Some(found) = topic.type_names().iter().find_map(|name| ros_type(name)) {
            return Ok(Some(KnownType::Ros(found)));
        }
        match self.participant.discover_type(name).block_for(Duration::ZERO) {
            Ok(ty) => {
                self.awaited.remove(name);
                Ok(Some(KnownType::Described(ty)))
            }
            Err(error) if matches!(error.kind(), WaitErrorKind::Timeout { .. }) => {
                let (start, _) = *self.awaited.entry(name.to_owned()).or_insert_with(|| (Instant::now(), false));
                if start.elapsed() < self.wait {
                    return Ok(None);
                }
                self.awaited.remove(name);
                Ok(Some(KnownType::Unknown))
            }
            Err(error) => Err(error.into()),
        }
    }
}
