//! A topic of a participant as an object (DDS 1.4, 2.2.2.3.2).

use crate::cdr::TypeDescription;
use crate::domain::ParticipantHandle;
use crate::infrastructure::{CreateError, CreateErrorKind, Subject};
use crate::qos::TopicQos;
use dds_rtps::types::Guid;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A topic of a participant: its name, its type, and what is announced with each of its endpoints.
///
/// Needed only for topics whose type has no Rust type ([`raw_topic`](crate::DomainParticipant::raw_topic)), for
/// [`topic_data`](TopicQos::topic_data), and to hold a name's type while there are no endpoints: a name is enough for
/// everything else. A handle: cloning it is cheap, and it keeps its participant alive. Used with another participant it
/// only names the topic.
///
/// ```
/// use dds_core::qos::{DataWriterQos, TopicQos};
/// use dds_core::{DdsType, DomainParticipant, Scope};
///
/// #[derive(DdsType)]
/// struct Pose {
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0).scope(Scope::Host).build()?;
/// let topic = participant.topic::<Pose>("robot/pose", TopicQos::default().reliable())?;
/// let writer = participant.writer(&topic)?;
/// // The policies of a topic are a suggestion, which an endpoint takes over on demand.
/// let qos = DataWriterQos::default().copy_from_topic(&topic.qos());
/// let other = participant.writer_builder(&topic).qos(qos).build()?;
/// # Ok(())
/// # }
/// ```
pub struct Topic<T> {
    handle: Arc<TopicHandle>,
    marker: PhantomData<fn() -> T>,
}

/// What all handles of one topic share. The last one dropped no longer holds the name's type.
pub(crate) struct TopicHandle {
    participant: Arc<ParticipantHandle>,
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) description: Option<&'static TypeDescription>,
    pub(super) qos: TopicQos,
}

impl<T> Topic<T> {
    pub(crate) fn new(
        participant: &Arc<ParticipantHandle>,
        name: &str,
        type_name: &str,
        description: Option<&'static TypeDescription>,
        qos: TopicQos,
    ) -> Result<Self, CreateError> {
        let error = |kind| CreateError::new(&Subject::new("topic", name, Guid::UNKNOWN), kind);
        qos.check().map_err(|kind| error(CreateErrorKind::InconsistentQos(kind)))?;
        participant.use_topic(name, type_name).map_err(error)?;
        let handle = TopicHandle {
            participant: Arc::clone(participant),
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            description,
            qos,
        };
        Ok(Self { handle: Arc::new(handle), marker: PhantomData })
    }

    pub(super) fn handle(&self) -> &TopicHandle {
        &self.handle
    }

    /// The topic's name.
    #[must_use]
    #[doc(alias = "get_name")]
    pub fn name(&self) -> &str {
        &self.handle.name
    }

    /// The topic's type, as it is announced.
    #[must_use]
    #[doc(alias = "get_type_name")]
    pub fn type_name(&self) -> &str {
        &self.handle.type_name
    }

    /// The QoS that the topic has.
    #[must_use]
    #[doc(alias = "get_qos")]
    pub fn qos(&self) -> TopicQos {
        self.handle.qos.clone()
    }
}

impl Drop for TopicHandle {
    fn drop(&mut self) {
        self.participant.release_topic(&self.name);
    }
}

impl<T> Clone for Topic<T> {
    fn clone(&self) -> Self {
        Self { handle: Arc::clone(&self.handle), marker: PhantomData }
    }
}

impl<T> fmt::Debug for Topic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Topic(\"{}\" of type `{}`)", self.name(), self.type_name())
    }
}
