//! Disposal of all instances of a writer.

use crate::actor::Effects;
use crate::cdr::{DecodeOwned, Keyed, TypeInfo};
use crate::driver::Flushed;
use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::DataWriter;
use crate::publication::writer_actor::WriterActor;
use crate::subscription::decode_key;
use dds_rtps::history::{ChangeKind, KeyPayload};
use dds_rtps::types::InstanceHandle;
use dds_rtps::writer::{NewChange, WriteRefused};
use smallvec::SmallVec;

/// Instances disposed in one visit of the cell. More would keep other visitors out for too long.
const INSTANCES_PER_VISIT: usize = 32;

/// Instances that are alive, with the payloads from which their keys can be decoded.
type AliveInstances = SmallVec<[(InstanceHandle, Option<KeyPayload>); INSTANCES_PER_VISIT]>;

/// Disposals of instances.
type InstanceDisposals = SmallVec<[NewChange; INSTANCES_PER_VISIT]>;

impl<T> DataWriter<T> {
    /// Disposes all instances that this writer has written, and returns their number.
    ///
    /// It skips instances that were disposed or unregistered since. The instances stay registered.
    ///
    /// Call it before the writer is closed if its instances should end with it. DDS 1.4 (2.2.3.21) allows the deletion
    /// of a writer with `autodispose_unregistered_instances`, which is the default, to dispose all instances. This
    /// implementation never does so, like Fast DDS and the OMG's interoperability suite. The instances then have no
    /// writer, as after the loss of a writer. Otherwise readers could not distinguish a program that is restarted from
    /// one that disposes its objects.
    ///
    /// The cost grows with the number of instances, and many of them share a datagram. If the writer's memory had no
    /// room for a key ([`key_value`](DataWriter::key_value)), its instance is disposed by its handle alone. Samples
    /// that other threads write during the call may or may not be disposed.
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, InstanceState, Scope};
    ///
    /// #[derive(DdsType)]
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
    /// let writer = participant.writer::<Pose>("fleet/pose")?;
    /// let reader = participant.reader::<Pose>("fleet/pose")?;
    /// for robot in 0..5 {
    ///     writer.write(&Pose { robot, x: 0.0 })?;
    /// }
    /// assert_eq!(writer.dispose_all()?, 5);
    /// let gone = |sample: &dds_core::SampleInfo| sample.instance_state == InstanceState::NotAliveDisposed;
    /// assert!(reader.take()?.iter().all(|sample| gone(sample.info())));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`write`](DataWriter::write), which may also block for each instance. Earlier instances stay disposed, and
    /// another call continues.
    pub fn dispose_all(&self) -> Result<usize, WriteError>
    where
        T: Keyed + TypeInfo + DecodeOwned,
    {
        let handle = &self.handle;
        let error = |kind| handle.write_error(kind);
        handle.encoding().map_err(error)?;
        let (mut place, mut count) = (0, 0);
        loop {
            let alive = handle.visit(|actor, _| actor.alive_instances(&mut place)).map_err(error)?;
            if alive.is_empty() {
                return Ok(count);
            }
            // Outside of the cell, because decoding and encoding may be user code.
            let disposals = alive.into_iter().map(|(instance, known)| self.disposal_of(instance, known));
            let mut disposals = disposals.collect::<Result<InstanceDisposals, WriteErrorKind>>().map_err(error)?;
            count += self.write_disposals(&mut disposals)?;
        }
    }

    /// Writes these disposals. Returns how many instances still existed.
    fn write_disposals(&self, disposals: &mut [NewChange]) -> Result<usize, WriteError> {
        let handle = &self.handle;
        let error = |kind| handle.write_error(kind);
        let (mut done, mut count) = (0, 0);
        while let Some(rest) = disposals.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let written = handle.visit(|actor, effects| actor.write_together(rest, effects)).map_err(error)?;
            handle.send_rest(written.flushed, false).map_err(error)?;
            count += written.count;
            done += written.tried;
            debug_assert!(written.tried > 0 || written.refused.is_some(), "each visit makes progress");
            match written.refused {
                None => {}
                // Blocks, if the QoS allows it.
                Some(WriteRefused::Full) => {
                    if let Some(end) = disposals.get(done) {
                        handle.publish(end.clone(), true)?;
                    }
                    (done, count) = (done + 1, count + 1);
                }
                Some(refused) => return Err(error(handle.refusal(refused))),
            }
        }
        Ok(count)
    }

    fn disposal_of(&self, instance: InstanceHandle, known: Option<KeyPayload>) -> Result<NewChange, WriteErrorKind>
    where
        T: Keyed + TypeInfo + DecodeOwned,
    {
        let key = match known {
            Some(known) if known.is_key => Some(known.payload),
            Some(known) => {
                let encoded = decode_key::<T>(&known, self.handle.ty.as_ref())
                    .map(|key| self.handle.encode_key::<T>(&key))
                    .transpose()?;
                encoded.map(|(_, payload)| payload)
            }
            None => None,
        };
        Ok(NewChange {
            kind: ChangeKind::NotAliveDisposed,
            instance,
            payload: key,
            source_timestamp: None,
            related_sample: None,
            origin: None,
            // Another thread may unregister the instance. The disposal must not register it again.
            must_be_registered: true,
        })
    }
}

/// Result of writing several changes.
struct WrittenTogether {
    /// Number of written changes.
    count: usize,
    /// Number of tried changes, including those of instances that another thread has unregistered.
    tried: usize,
    flushed: Flushed,
    /// Why the next change was refused.
    refused: Option<WriteRefused>,
}

impl WriterActor {
    /// Returns instances that are alive, starting at `place`, and advances `place`.
    fn alive_instances(&mut self, place: &mut usize) -> AliveInstances {
        let mut alive = AliveInstances::new();
        while alive.len() < INSTANCES_PER_VISIT {
            let Some((next, instance, key)) = self.rtps().next_alive_instance(*place) else { break };
            alive.push((instance, key.cloned()));
            *place = next;
        }
        alive
    }

    /// Writes changes until one is refused, and sends them together.
    fn write_together(&mut self, changes: &mut [NewChange], effects: &mut Effects) -> WrittenTogether {
        self.gathers = true;
        let mut written = WrittenTogether { count: 0, tried: 0, flushed: Flushed::Done, refused: None };
        for change in changes {
            match self.write(change, &mut None, effects) {
                Ok(_) => written.count += 1,
                // Another thread has unregistered the instance.
                Err(WriteRefused::UnknownInstance) => {}
                Err(refused) => {
                    written.refused = Some(refused);
                    break;
                }
            }
            written.tried += 1;
        }
        written.flushed = self.send_gathered(effects);
        written
    }
}
