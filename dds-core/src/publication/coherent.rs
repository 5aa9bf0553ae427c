//! Sets of changes that readers see as a whole or not at all (DDS 1.4, 2.2.2.4.1.10, 2.2.2.4.1.11 and 2.2.3.6).

use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::{Publisher, PublisherGroup, WriterHandle};
use dds_rtps::writer::EndedSet;
use std::fmt;
use std::sync::Arc;

impl Publisher {
    /// Begins a coherent set: readers with coherent access see what the writers of this publisher write until the returned
    /// guard is gone as a whole or not at all. Sets that are begun meanwhile, by whatever thread, are parts of this one: the last
    /// guard ends it.
    ///
    /// PRESENTATION says what belongs together: with `access_scope` `Instance` or `Topic` the changes of each writer are a set of
    /// their own, with `Group` those of all writers of the publisher are one. Without `coherent_access` in the QoS of the
    /// publisher the guard has no effect, and to readers that do not ask for coherent access each change is one by itself
    /// (DDS 1.4, 2.2.3.6).
    ///
    /// DDS knows no way to take a set back: dropping the guard ends it as [`CoherentChanges::end`] does.
    ///
    /// The changes leave as they are written; a reader keeps them until it knows that the set has ended and nothing of it is
    /// missing. What a reader cannot get any more breaks the set, and it drops the rest: its reliable writer is to keep all of
    /// a set (KEEP_ALL, or a depth that a set does not exceed) until it has arrived. The same holds for readers that come late
    /// to a transient-local writer: of a set that HISTORY has kept in part they get nothing. A dropped set is counted
    /// ([`Undelivered::incoherent`](crate::Undelivered::incoherent)) and raises SAMPLE_LOST. Each set costs each of its writers
    /// a number and some 30 bytes on the wire, each of its changes 16 bytes, under `Group` 48.
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

/// A coherent set that is being written; from [`Publisher::coherent_changes`]. It ends when this is dropped.
#[must_use = "the set ends when this is dropped"]
pub struct CoherentChanges<'p> {
    group: &'p Arc<PublisherGroup>,
    has_ended: bool,
}

impl CoherentChanges<'_> {
    /// Ends the set, unless it is a part of another one that has not ended.
    ///
    /// # Errors
    /// The set has ended all the same, but a writer could not say so at once: [`WriteErrorKind::Forked`] or
    /// [`WriteErrorKind::Internal`]. Writers that have been closed have nothing to say: readers drop their part of the set.
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
    /// A coherent set of its publisher has ended.
    fn end_set(&self, ended: EndedSet) -> Result<(), WriteErrorKind> {
        let flushed = self.visit(|actor, effects| actor.end_set(ended, effects))?;
        self.send_rest(flushed, false)
    }

    /// It has no part any more in what its publisher presents together.
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
        // Who wants to know calls `end`.
        let _ = self.finish();
    }
}
