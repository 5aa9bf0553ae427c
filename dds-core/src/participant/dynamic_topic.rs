//! Topics whose type is made at run time (feature `dynamic`).

use crate::dynamic::{DynamicData, DynamicType, TypeError};
#[cfg(doc)]
use crate::infrastructure::CreateErrorKind;
use crate::infrastructure::{Awaited, CreateError, Waiting};
use crate::participant::{DiscoverType, DiscoveredType, DomainParticipant};
use crate::qos::TopicQos;
use crate::topic::Topic;
use dds_rtps::xtypes::{TypeObject, dynamic_type_of};

impl DomainParticipant {
    /// A topic whose type is made at run time (feature `dynamic`): its samples are
    /// [`DynamicData`], and it meets topics of derived types and those of other vendors that
    /// have the same type name and structure. Instances are known by the key members of the type; where a key is asked for,
    /// dynamic data is given, of which only those count.
    ///
    /// ```
    /// use dds_core::dynamic::{DynamicData, DynamicType};
    /// use dds_core::qos::{Preset, TopicQos};
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType, Debug, PartialEq)]
    /// struct Pose {
    ///     #[dds(key)]
    ///     robot: u32,
    ///     x: f64,
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let pose = DynamicType::structure("Pose")
    ///     .extensibility(dds_core::cdr::Extensibility::Final)
    ///     .member("robot", DynamicType::uint32())
    ///     .key()
    ///     .member("x", DynamicType::float64())
    ///     .build()?;
    /// let topic = participant.dynamic_topic("robot/pose", &pose, TopicQos::default())?;
    /// let writer = participant.writer_builder(&topic).qos(Preset::Event).build()?;
    /// let reader = participant.reader_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
    /// let mut data = DynamicData::new(&pose);
    /// data.set("robot", 7)?;
    /// data.set("x", 1.5)?;
    /// writer.write(&data)?;
    /// assert_eq!(reader.next_sample().block()?.data, Some(Pose { robot: 7, x: 1.5 }));
    /// writer.dispose(&data)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`topic`](DomainParticipant::topic); [`CreateErrorKind::InvalidTypeName`] for a type whose name is too long.
    pub fn dynamic_topic(
        &self,
        name: &str,
        ty: &DynamicType,
        qos: TopicQos,
    ) -> Result<Topic<DynamicData>, CreateError> {
        Topic::new(&self.handle().as_topic_context(), name, ty.name(), Some(ty.resolved().into()), qos)
    }

    /// The type of a topic that this program knows nothing of, as somebody describes it who has a writer or a reader of it: waits
    /// until there is one, and asks its participant for what is not known here (feature `dynamic`).
    ///
    /// Endpoints count that describe their types as DDS XTypes 1.3 has it: those of derived types and of Cyclone DDS among
    /// them, but not those of raw topics or serde types. A description that is no type is passed over, as if it were not there
    /// ([`discover_type_objects`](Self::discover_type_objects) gives it as it came).
    ///
    /// ```
    /// use dds_core::qos::TopicQos;
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType)]
    /// struct Pose {
    ///     #[dds(key)]
    ///     robot: u32,
    ///     x: f64,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let builder = DomainParticipant::builder(0).scope(Scope::Host);
    /// # let builder = builder.domain_tag(format!("discover-type-{}", std::process::id()));
    /// let participant = builder.build()?;
    /// let writer = participant.writer::<Pose>("robot/pose")?;
    ///
    /// let ty = participant.discover_type("robot/pose").block()?;
    /// println!("{ty}"); // as IDL
    /// let topic = participant.dynamic_topic("robot/pose", &ty, TopicQos::default())?;
    /// let reader = participant.reader(&topic)?;
    /// writer.wait_for_readers(1).block()?;
    /// writer.write(&Pose { robot: 7, x: 1.5 })?;
    /// assert_eq!(reader.next_sample().block()?.data.map(|pose| pose.to_string()).as_deref(), Some("{robot: 7, x: 1.5}"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The wait ends with [`WaitErrorKind::Closed`](crate::WaitErrorKind::Closed), or with its time if nobody describes the type.
    pub fn discover_type(&self, topic: &str) -> Waiting<'_, DynamicType> {
        let accept = |found: DiscoveredType| found.to_dynamic().ok();
        Waiting::of_own(Box::new(DiscoverType::new(self.handle(), topic, accept)), Awaited::Topic)
    }
}

impl DiscoveredType {
    /// The type to make values of (feature `dynamic`).
    ///
    /// # Errors
    /// What was described is no type, or too large a one: strangers may describe anything.
    pub fn to_dynamic(&self) -> Result<DynamicType, TypeError> {
        dynamic_type_of(&self.root, &|name| match self.objects.get(name).map(|object| &**object) {
            Some(TypeObject::Complete(definition)) => Some(definition),
            _ => None,
        })
    }
}
