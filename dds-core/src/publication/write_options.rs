//! Options of a single write.

use crate::infrastructure::WriteErrorKind;
use dds_rtps::types::{InstanceHandle, Time};
use dds_rtps::wire::SampleIdentity;
use dds_rtps::writer::NewChange;

/// Options of a single write, dispose or unregister.
///
/// ```
/// use dds_core::{DdsType, DomainParticipant, Scope, Time};
/// use dds_core::writer::WriteOptions;
///
/// #[derive(DdsType, Debug, PartialEq)]
/// struct Pose {
///     #[dds(key)]
///     robot: u32,
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let reader = participant.reader::<Pose>("robot/pose")?;
/// let writer = participant.writer::<Pose>("robot/pose")?;
/// writer.wait_for_readers(1).block()?;
/// // The time of measurement, which is before the time of the write.
/// let measured = Time::from_unix_nanos(1_700_000_000_000_000_000);
/// writer.write_with(&Pose { robot: 7, x: 1.0 }, WriteOptions::new().source_timestamp(measured))?;
/// assert_eq!(reader.next_sample().block()?.info.source_timestamp, measured);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Source timestamp. `None`, the default, is the time at which the change gets its sequence number.
    pub source_timestamp: Option<Time>,
    /// Instance of the sample, as returned by [`register_instance`](crate::DataWriter::register_instance).
    ///
    /// It must be registered and have the key of the sample. With [`InstanceHandle::NIL`], the default, the key selects
    /// the instance, and the write registers it if necessary.
    pub instance: InstanceHandle,
    /// Sample that this one replies to. `None`, the default, means that it is no reply.
    ///
    /// It travels in the inline QoS of the sample (0x0083, and 0x800f for old Fast DDS). Readers return it as
    /// [`SampleInfo::related_sample`](crate::SampleInfo::related_sample).
    pub related_sample: Option<SampleIdentity>,
}

impl WriteOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the source timestamp. Default: the present time.
    #[must_use]
    #[doc(alias = "write_w_timestamp")]
    pub fn source_timestamp(mut self, timestamp: impl Into<Time>) -> Self {
        self.source_timestamp = Some(timestamp.into());
        self
    }

    /// Sets the instance.
    #[must_use]
    pub fn instance(mut self, instance: InstanceHandle) -> Self {
        self.instance = instance;
        self
    }

    /// Sets the sample that this one replies to.
    #[must_use]
    pub fn related_sample(mut self, request: SampleIdentity) -> Self {
        self.related_sample = Some(request);
        self
    }

    /// Returns `change` with these options applied.
    #[inline]
    pub(crate) fn apply_to(self, mut change: NewChange) -> Result<NewChange, WriteErrorKind> {
        change.source_timestamp = self.source_timestamp;
        change.related_sample = self.related_sample;
        if !self.instance.is_nil() {
            if self.instance != change.instance {
                return Err(WriteErrorKind::OtherInstance { given: self.instance });
            }
            // A handle names an instance only as long as it is registered.
            change.must_be_registered = true;
        }
        Ok(change)
    }
}
