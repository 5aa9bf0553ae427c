//! Suspension of a publisher, to send its samples together (DDS 1.4, 2.2.2.4.1.8 and 2.2.2.4.1.9).

use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::{Publisher, PublisherGroup};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Publisher {
    /// Holds back samples until the returned guard is dropped, to send them in few datagrams.
    ///
    /// If several guards exist, the last one sends the samples.
    ///
    /// The suspension is a hint, as in DDS. A writer holds at most 64 KiB, 1024 samples or the depth of its KEEP_LAST
    /// history, whichever is least. It sends at once if it has more, if it is closed, or if it must
    /// answer or ask a reader. A caller that waits for acknowledgements also makes it send. Therefore no sample is lost
    /// because of the suspension. Local readers receive all samples at once.
    ///
    /// ```
    /// use dds_core::qos::{Preset, PublisherQos};
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType)]
    /// struct Joint {
    ///     #[dds(key)]
    ///     joint: u32,
    ///     angle: f32,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let publisher = participant.publisher(PublisherQos::default())?;
    /// let writer = publisher.writer_builder::<Joint>("joints").qos(Preset::Command).build()?;
    /// let suspended = publisher.suspend_publications()?;
    /// for joint in 0..6 {
    ///     writer.write(&Joint { joint, angle: 0.5 })?;
    /// }
    /// drop(suspended); // one datagram for each reader's host
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WriteErrorKind::NotEnabled`] or [`WriteErrorKind::Closed`].
    #[doc(alias = "resume_publications")]
    pub fn suspend_publications(&self) -> Result<Suspended<'_>, WriteError> {
        let group = self.group();
        let error = |kind| WriteError::new(group.subject(), kind);
        if group.is_closed() {
            return Err(error(WriteErrorKind::Closed));
        }
        if !group.is_enabled() {
            return Err(error(WriteErrorKind::NotEnabled));
        }
        group.common().fetch_add(1, Ordering::AcqRel);
        Ok(Suspended { group })
    }
}

/// Suspension of a publisher. See [`Publisher::suspend_publications`]. Dropping it sends the held samples.
#[must_use = "publications are resumed when this is dropped"]
pub struct Suspended<'p> {
    group: &'p Arc<PublisherGroup>,
}

impl fmt::Debug for Suspended<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Suspended({})", self.group.guid())
    }
}

impl Drop for Suspended<'_> {
    fn drop(&mut self) {
        let before = self.group.common().fetch_sub(1, Ordering::AcqRel);
        debug_assert!(before > 0, "each guard has counted itself");
        if before == 1 {
            // A writer that saw the suspension has left its cell before `send_held` enters it.
            for writer in self.group.members() {
                writer.send_held();
            }
        }
    }
}
