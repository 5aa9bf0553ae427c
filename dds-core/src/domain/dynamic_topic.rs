//! Topics whose type is made at run time (feature `dynamic`).

use crate::domain::DomainParticipant;
use crate::dynamic::{DynamicData, DynamicType};
use crate::infrastructure::CreateError;
#[cfg(doc)]
use crate::infrastructure::CreateErrorKind;
use crate::qos::TopicQos;
use crate::topic::Topic;

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
        Topic::new(self.handle(), name, ty.name(), Some(ty.resolved().into()), qos)
    }
}
