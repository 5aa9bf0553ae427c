//! The names of the built-in topics (DDS 1.4, 2.2.5).

use crate::cdr::{TypeDescription, TypeInfo};
use crate::topic::{
    ParticipantBuiltinTopicData, PublicationBuiltinTopicData, SubscriptionBuiltinTopicData, TopicBuiltinTopicData,
};
use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;

/// A built-in topic, for [`reader`](crate::DomainParticipant::reader) and
/// [`reader_builder`](crate::DomainParticipant::reader_builder): one of [`DCPS_PARTICIPANT`], [`DCPS_TOPIC`],
/// [`DCPS_PUBLICATION`], [`DCPS_SUBSCRIPTION`].
///
/// Its readers are made like any other, with listeners, conditions and streams, and get what discovery knows without a
/// byte on the network: each thing is an instance, whose key is its GUID. What was known before the reader was made comes
/// first, unless the reader is volatile. When a thing goes, its instance is disposed of if it was withdrawn or is ignored
/// now, and has lost its writers if its participant has fallen silent for longer than its lease.
///
/// They tell of **other participants** only, those of this process included (DDS 1.4, 2.2.5): the application knows its own
/// entities. (Cyclone DDS shows a participant its own ones as well, RTI Connext does not.)
///
/// The QoS that readers begin with is [`Preset::State`](crate::qos::Preset::State) (reliable, transient-local, last sample of
/// each instance) with room for 65 536 instances; what comes beyond is rejected. Nobody can write these topics, and
/// their names are taken in every participant.
///
/// ```
/// use dds_core::{DCPS_PUBLICATION, DdsType, DomainParticipant, Entity, Scope};
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
/// let writers = watcher.reader(&DCPS_PUBLICATION)?;
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

/// The participants of the domain, other than this one.
pub const DCPS_PARTICIPANT: BuiltinTopic<ParticipantBuiltinTopicData> = BuiltinTopic::new(BuiltinKind::Participant);
/// The topics that other participants have readers or writers of.
pub const DCPS_TOPIC: BuiltinTopic<TopicBuiltinTopicData> = BuiltinTopic::new(BuiltinKind::Topic);
/// The writers of other participants.
pub const DCPS_PUBLICATION: BuiltinTopic<PublicationBuiltinTopicData> = BuiltinTopic::new(BuiltinKind::Publication);
/// The readers of other participants.
pub const DCPS_SUBSCRIPTION: BuiltinTopic<SubscriptionBuiltinTopicData> = BuiltinTopic::new(BuiltinKind::Subscription);

impl<T> BuiltinTopic<T> {
    const fn new(kind: BuiltinKind) -> Self {
        Self { kind, marker: PhantomData }
    }

    /// The topic's name, as [`lookup_datareader`](crate::Subscriber::lookup_datareader) takes it.
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

/// Which of the built-in topics.
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

    /// Whether `T` is the type of its samples.
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
