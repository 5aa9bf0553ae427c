//! Topics of types that are created at run time (feature `dynamic`).

#[cfg(doc)]
use crate::infrastructure::CreateErrorKind;
use crate::infrastructure::{Awaited, CreateError, Waiting};
use crate::participant::{DiscoverType, DiscoveredType, DomainParticipant};
use crate::qos::TopicQos;
use crate::topic::Topic;
use dds_rtps::cdr::dynamic::{DynamicData, DynamicType, TypeError};
use dds_rtps::xtypes::{TypeObject, dynamic_type_of};

impl DomainParticipant {
    /// Creates a topic of a type that was created at run time (feature `dynamic`).
    ///
    /// Its samples are [`DynamicData`]. It matches topics of derived types, and of other vendors, with the same type
    /// name and structure. Its endpoints announce the description of the type, as those of derived types do. A type
    /// from [`discover_type`](Self::discover_type) or from IDL keeps the description of its origin.
    ///
    /// The key members of the type select the instance. A function with a key parameter takes dynamic data and uses
    /// only its key members.
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
    /// As [`topic`](DomainParticipant::topic). [`CreateErrorKind::InvalidTypeName`] if the name of the type is too
    /// long.
    pub fn dynamic_topic(
        &self,
        name: &str,
        ty: &DynamicType,
        qos: TopicQos,
    ) -> Result<Topic<DynamicData>, CreateError> {
        Topic::new(&self.handle().as_topic_context(), name, ty.name(), Some(ty.resolved().into()), qos)
    }

    /// Waits for an endpoint of `topic` that describes its type, and returns the type (feature `dynamic`).
    ///
    /// The participant requests unknown types from the participant of that endpoint. Endpoints of derived types and of
    /// Cyclone DDS describe their types (XTypes 1.3). Those of raw topics do not. Invalid descriptions are ignored
    /// ([`discover_type_objects`](Self::discover_type_objects) returns them unchanged).
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
    /// let pose = reader.next_sample().block()?.data.expect("a sample");
    /// assert_eq!(pose.to_string(), "{robot: 7, x: 1.5}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The wait fails with [`WaitErrorKind::Closed`](crate::error::WaitErrorKind::Closed). It times out if no endpoint
    /// describes the type.
    pub fn discover_type(&self, topic: &str) -> Waiting<'_, DynamicType> {
        let accept = |found: DiscoveredType| found.to_dynamic().ok();
        Waiting::of_own(Box::new(DiscoverType::new(self.handle(), topic, accept)), Awaited::TopicType)
    }
}

impl DiscoveredType {
    /// Converts the description into a type for dynamic data (feature `dynamic`).
    ///
    /// # Errors
    /// Fails if the description is invalid or the type is too large. Peers may send any description.
    pub fn to_dynamic(&self) -> Result<DynamicType, TypeError> {
        dynamic_type_of(&self.root, &|name| match &**self.objects.get(name)? {
            TypeObject::Complete(definition) => Some(definition),
            // A minimal description lacks the names of the members.
            _ => None,
        })
    }
}
