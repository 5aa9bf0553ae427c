//! What can be said about a single write.

use crate::infrastructure::WriteErrorKind;
use dds_rtps::types::{InstanceHandle, Time};
use dds_rtps::wire::SampleIdentity;
use dds_rtps::writer::NewChange;

/// What can be said about a single write, dispose or unregister.
///
/// ```
/// use dds_core::{DdsType, DomainParticipant, Scope, Time, WriteOptions};
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
/// // When it was measured, which is before it is written.
/// let measured = Time::from_unix_nanos(1_700_000_000_000_000_000);
/// writer.write_with(&Pose { robot: 7, x: 1.0 }, WriteOptions::new().source_timestamp(measured))?;
/// assert_eq!(reader.next_sample().block()?.info.source_timestamp, measured);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The source timestamp. `None`, the default: the time at which the change got its sequence number.
    pub source_timestamp: Option<Time>,
    /// The instance, as [`register_instance`](crate::DataWriter::register_instance) has returned it: it must be registered,
    /// and that of the key. [`InstanceHandle::NIL`], the default: whichever the key says, registered by this write if need
    /// be.
    pub instance: InstanceHandle,
    /// The sample that this one answers. `None`, the default: it is no reply. It travels in the inline QoS of the sample
    /// (PID_RELATED_SAMPLE_IDENTITY, 0x0083), and readers show it as
    /// [`SampleInfo::related_sample`](crate::SampleInfo::related_sample).
    pub related_sample: Option<SampleIdentity>,
}

impl WriteOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the source timestamp, instead of the present time.
    #[must_use]
    #[doc(alias = "write_w_timestamp")]
    pub fn source_timestamp(mut self, timestamp: impl Into<Time>) -> Self {
        self.source_timestamp = Some(timestamp.into());
        self
    }

    /// Names the instance.
    #[must_use]
    pub fn instance(mut self, instance: InstanceHandle) -> Self {
        self.instance = instance;
        self
    }

    /// Names the sample that this one answers.
    #[must_use]
    pub fn related_sample(mut self, request: SampleIdentity) -> Self {
        self.related_sample = Some(request);
        self
    }

    /// The change as it is to be written.
    #[inline]
    pub(super) fn apply_to(self, mut change: NewChange) -> Result<NewChange, WriteErrorKind> {
        change.source_timestamp = self.source_timestamp;
        change.related_sample = self.related_sample;
        if !self.instance.is_nil() {
            if self.instance != change.instance {
                return Err(WriteErrorKind::OtherInstance { given: self.instance });
            }
            change.must_be_registered = true;
        }
        Ok(change)
    }
}
