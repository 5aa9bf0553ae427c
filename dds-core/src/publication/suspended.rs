//! Holding back what is written, to send it together (DDS 1.4, 2.2.2.4.1.8 and 2.2.2.4.1.9).

use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::{Publisher, PublisherGroup, WriterHandle};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Publisher {
    /// Holds back what is written until the returned guard is gone, so that it leaves in as few datagrams as possible. While
    /// there are several guards, the last one counts.
    ///
    /// A hint, as in DDS: a writer holds no more than 64 KiB, 1024 samples or the depth of its KEEP_LAST history, whichever is
    /// least, and sends at once when there is more, when it has to answer or ask a reader, when somebody waits for
    /// acknowledgements, or when it is closed. So nothing is lost that would have arrived otherwise. Readers of this process
    /// get everything at once.
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

/// A publisher holds back what is written; from [`Publisher::suspend_publications`]. Dropping it sends all of that.
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
        if self.group.common().fetch_sub(1, Ordering::AcqRel) == 1 {
            // A writer that saw the publisher suspended has left its cell when it is entered here.
            self.group.members().iter().for_each(|writer| WriterHandle::send_held(writer));
        }
    }
}
