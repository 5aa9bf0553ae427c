//! The names of the built-in topics (DDS 1.4, 2.2.5).

use crate::topic::{
    ParticipantBuiltinTopicData, PublicationBuiltinTopicData, SubscriptionBuiltinTopicData, TopicBuiltinTopicData,
};
use dds_rtps::cdr::{TypeDescription, TypeInfo};
use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;

/// A built-in topic: [`PARTICIPANT`](Self::PARTICIPANT), [`TOPIC`](Self::TOPIC), [`PUBLICATION`](Self::PUBLICATION) or
/// [`SUBSCRIPTION`](Self::SUBSCRIPTION).
///
/// [`reader`](crate::DomainParticipant::reader) and [`reader_builder`](crate::DomainParticipant::reader_builder) create
/// its readers, with listeners, conditions and streams. Each remote participant, endpoint or topic is an instance,
/// whose key is its GUID. A reader that is not volatile first receives the data that discovery already has. No reader
/// causes network traffic.
///
/// An instance is disposed when it is withdrawn or ignored. It has no writers if the lease of its participant has
/// expired.
///
/// The samples describe **remote participants** only, with those of this process (DDS 1.4, 2.2.5). (RTI Connext does
/// the same. Cyclone DDS also shows the local participant.)
///
/// The default QoS of readers is [`Preset::State`](crate::qos::Preset::State): reliable, transient-local, last sample
/// of each instance. It has space for 65 536 instances, and the reader rejects further ones. The application cannot
/// write built-in topics, and every participant reserves their names.
///
/// ```
/// use dds_core::{DdsType, DomainParticipant, Entity, Scope};
/// use dds_core::builtin::BuiltinTopic;
///
/// #[derive(DdsType)]
/// struct Pose {
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// # let tag = format!("builtin-{}", std::process::id());
/// # let builder = || DomainParticipant::builder(0).scope(Scope::Host).domain_tag(tag.clone());
/// let (robot, watcher) = (builder().build()?, builder().build()?);
/// let writers = watcher.reader(&BuiltinTopic::PUBLICATION)?;
/// let poses = robot.writer::<Pose>("pose")?;
/// let found = writers.next_sample().block()?.data.expect("a new instance is alive");
/// assert_eq!((found.key, found.topic_name.as_str()), (poses.guid(), "pose"));
/// # Ok(())
/// # }
/// ```
pub struct BuiltinTopic<T> {
    kind: BuiltinKind,
    marker: PhantomData<fn() -> T>,
}

impl BuiltinTopic<ParticipantBuiltinTopicData> {
    /// All remote participants of the domain.
    #[doc(alias = "DCPSParticipant")]
    pub const PARTICIPANT: Self = Self::new(BuiltinKind::Participant);
}

impl BuiltinTopic<TopicBuiltinTopicData> {
    /// All topics of remote endpoints.
    #[doc(alias = "DCPSTopic")]
    pub const TOPIC: Self = Self::new(BuiltinKind::Topic);
}

impl BuiltinTopic<PublicationBuiltinTopicData> {
    /// All remote writers.
    #[doc(alias = "DCPSPublication")]
    pub const PUBLICATION: Self = Self::new(BuiltinKind::Publication);
}

impl BuiltinTopic<SubscriptionBuiltinTopicData> {
    /// All remote readers.
    #[doc(alias = "DCPSSubscription")]
    pub const SUBSCRIPTION: Self = Self::new(BuiltinKind::Subscription);
}

impl<T> BuiltinTopic<T> {
    const fn new(kind: BuiltinKind) -> Self {
        Self { kind, marker: PhantomData }
    }

    /// Returns the name of the topic, for [`lookup_datareader`](crate::Subscriber::lookup_datareader).
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.kind.topic_name()
    }

    pub(crate) const fn kind(&self) -> BuiltinKind {
        self.kind
    }
}

impl<T> Clone for BuiltinTopic<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for BuiltinTopic<T> {}

impl<T> fmt::Debug for BuiltinTopic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuiltinTopic({})", self.name())
    }
}

/// Kind of a built-in topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltinKind {
    Participant,
    Topic,
    Publication,
    Subscription,
}

impl BuiltinKind {
    const ALL: [Self; 4] = [Self::Participant, Self::Topic, Self::Publication, Self::Subscription];

    pub(crate) const fn topic_name(self) -> &'static str {
        match self {
            Self::Participant => "DCPSParticipant",
            Self::Topic => "DCPSTopic",
            Self::Publication => "DCPSPublication",
            Self::Subscription => "DCPSSubscription",
        }
    }

    pub(crate) fn of_name(topic_name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.topic_name() == topic_name)
    }

    pub(crate) const fn description(self) -> &'static TypeDescription {
        match self {
            Self::Participant => ParticipantBuiltinTopicData::DESCRIPTION,
            Self::Topic => TopicBuiltinTopicData::DESCRIPTION,
            Self::Publication => PublicationBuiltinTopicData::DESCRIPTION,
            Self::Subscription => SubscriptionBuiltinTopicData::DESCRIPTION,
        }
    }

    /// Returns whether `T` is the type of its samples.
    pub(crate) fn is_of<T: 'static>(self) -> bool {
        let own = match self {
            Self::Participant => TypeId::of::<ParticipantBuiltinTopicData>(),
            Self::Topic => TypeId::of::<TopicBuiltinTopicData>(),
            Self::Publication => TypeId::of::<PublicationBuiltinTopicData>(),
            Self::Subscription => TypeId::of::<SubscriptionBuiltinTopicData>(),
        };
        own == TypeId::of::<T>()
    }
}
