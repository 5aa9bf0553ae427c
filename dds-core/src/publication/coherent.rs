//! Coherent sets of changes (DDS 1.4, 2.2.2.4.1.10, 2.2.2.4.1.11 and 2.2.3.6).

use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::{Publisher, PublisherGroup, WriterHandle};
use dds_rtps::writer::EndedSet;
use std::fmt;
use std::sync::Arc;

impl Publisher {
    /// Begins a coherent set, which readers see completely or not at all.
    ///
    /// The set contains what the writers of this publisher write until the returned guard is dropped. Sets that any
    /// thread begins during this time are parts of this one. The last guard ends it.
    ///
    /// PRESENTATION defines the sets. With `access_scope` `Instance` or `Topic`, the changes of each writer are a set.
    /// With `Group`, the changes of all writers of the publisher are one set. Without `coherent_access` in the QoS of
    /// the publisher, the guard has no effect. For readers without coherent access, each change is a set of its own
    /// (DDS 1.4, 2.2.3.6).
    ///
    /// DDS cannot cancel a set. Dropping the guard ends it as [`CoherentChanges::end`] does.
    ///
    /// The writer sends the changes as they are written. A reader keeps them until it knows that the set has ended and
    /// is complete. If a change can no longer arrive, the reader drops the whole set. Therefore a reliable writer
    /// should keep all changes of a set until they have arrived: use KEEP_ALL, or a depth that no set exceeds. Late
    /// readers of a transient-local writer get no part of a set that HISTORY has kept partially. A dropped set is
    /// counted ([`Undelivered::incoherent`](crate::Undelivered::incoherent)) and raises SAMPLE_LOST.
    ///
    /// Each set costs each of its writers a sequence number and about 30 bytes on the wire. Each change costs 16 bytes
    /// more, or 48 bytes with `Group`.
    ///
    /// ```
    /// use dds_core::qos::{AccessScope, Presentation, Preset, PublisherQos, SubscriberQos};
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
    /// let mut together = Presentation::default();
    /// (together.access_scope, together.coherent_access) = (AccessScope::Topic, true);
    /// let publisher = participant.publisher(PublisherQos::default().presentation(together))?;
    /// let subscriber = participant.subscriber(SubscriberQos::default().presentation(together))?;
    /// let writer = publisher.writer_builder::<Joint>("arm/joints").qos(Preset::Event).build()?;
    /// let reader = subscriber.reader_builder::<Joint>("arm/joints").qos(Preset::Event).build()?;
    /// let posture = publisher.coherent_changes()?;
    /// for joint in 0..6 {
    ///     writer.write(&Joint { joint, angle: 0.5 })?;
    /// }
    /// assert_eq!(reader.take()?.len(), 0);
    /// posture.end()?;
    /// assert_eq!(reader.take()?.len(), 6);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WriteErrorKind::NotEnabled`] or [`WriteErrorKind::Closed`].
    #[doc(alias = "begin_coherent_changes")]
    pub fn coherent_changes(&self) -> Result<CoherentChanges<'_>, WriteError> {
        let group = self.group();
        let error = |kind| WriteError::new(group.subject(), kind);
        if group.is_closed() {
            return Err(error(WriteErrorKind::Closed));
        }
        if !group.is_enabled() {
            return Err(error(WriteErrorKind::NotEnabled));
        }
        if let Some(clock) = group.presented() {
            clock.begin_set();
        }
        Ok(CoherentChanges { group, has_ended: false })
    }
}

/// An open coherent set. See [`Publisher::coherent_changes`]. Dropping it ends the set.
#[must_use = "the set ends when this is dropped"]
pub struct CoherentChanges<'p> {
    group: &'p Arc<PublisherGroup>,
    has_ended: bool,
}

impl CoherentChanges<'_> {
    /// Ends the set, unless it is part of another open set.
    ///
    /// # Errors
    /// The set has ended, but a writer could not announce it at once: [`WriteErrorKind::Forked`] or
    /// [`WriteErrorKind::Internal`]. A closed writer announces nothing and causes no error. Readers drop its part of
    /// the set.
    #[doc(alias = "end_coherent_changes")]
    pub fn end(mut self) -> Result<(), WriteError> {
        self.finish()
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        if std::mem::replace(&mut self.has_ended, true) {
            return Ok(());
        }
        let Some(ended) = self.group.presented().and_then(|clock| clock.end_set()) else { return Ok(()) };
        let mut outcome = Ok(());
        for writer in self.group.members() {
            match writer.end_set(ended) {
                Ok(()) | Err(WriteErrorKind::Closed) => {}
                Err(kind) => outcome = Err(writer.write_error(kind)),
            }
        }
        outcome
    }
}

impl WriterHandle {
    /// Ends a coherent set of the publisher.
    fn end_set(&self, ended: EndedSet) -> Result<(), WriteErrorKind> {
        let flushed = self.visit(|actor, effects| actor.end_set(ended, effects))?;
        self.send_rest(flushed, false)
    }

    /// Removes the writer from the sets of its publisher.
    pub(super) fn leave_sets(&self) {
        if let Some(clock) = self.group.as_ref().and_then(|group| group.presented()) {
            clock.remove(self.guid().entity_id);
        }
    }
}

impl fmt::Debug for CoherentChanges<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CoherentChanges({})", self.group.guid())
    }
}

impl Drop for CoherentChanges<'_> {
    fn drop(&mut self) {
        // Ignore the error. A caller that needs it calls `end`.
        let _ = self.finish();
    }
}
