//! Disposing of everything that a writer has written.

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

/// How many instances are disposed of in one visit of the cell: a longer one would keep others out.
const INSTANCES_PER_VISIT: usize = 32;

/// Some instances that are alive, and what their keys can be decoded from.
type Alive = SmallVec<[(InstanceHandle, Option<KeyPayload>); INSTANCES_PER_VISIT]>;

/// Their ends.
type Ends = SmallVec<[NewChange; INSTANCES_PER_VISIT]>;

impl<T> DataWriter<T> {
    /// Disposes of every instance that this writer has written and neither disposed of nor unregistered since; how many these
    /// were. They stay registered.
    ///
    /// To be called before the writer is closed, if what it has written is to end with it: DDS 1.4, 2.2.3.21, lets the
    /// deletion of a writer with `autodispose_unregistered_instances`, which is the default, dispose of all its instances. Here
    /// it never does, nor in Fast DDS or the OMG's interoperability suite: its instances are left without writers, as those of a
    /// writer that was lost. Otherwise a program that is started anew could not be told from one that takes its objects along.
    ///
    /// Costs as much as the instances that there are, whatever they are, and shares datagrams among many of them. An instance
    /// whose key had no room in the writer's memory ([`key_value`](DataWriter::key_value)) is disposed of by its handle alone.
    /// What is written from other threads meanwhile may be disposed of or not.
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
    /// As [`write`](DataWriter::write), for which it may also wait, by instance. Those before stay disposed of; called again, it
    /// goes on.
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
            // Decoding and encoding is the user's code: outside of the cell.
            let ends = alive.into_iter().map(|(instance, known)| self.end_of(instance, known));
            let mut ends = ends.collect::<Result<Ends, WriteErrorKind>>().map_err(error)?;
            count += self.dispose_of(&mut ends)?;
        }
    }

    /// Writes these ends; how many were of instances that were still there.
    fn dispose_of(&self, ends: &mut [NewChange]) -> Result<usize, WriteError> {
        let handle = &self.handle;
        let error = |kind| handle.write_error(kind);
        let (mut done, mut count) = (0, 0);
        while let Some(rest) = ends.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let written = handle.visit(|actor, effects| actor.write_together(rest, effects)).map_err(error)?;
            handle.send_rest(written.flushed, false).map_err(error)?;
            count += written.count;
            done += written.tried;
            match written.refused {
                None => {}
                // Waits, if the QoS says so.
                Some(WriteRefused::Full) => {
                    if let Some(end) = ends.get(done) {
                        handle.publish(end.clone(), true)?;
                    }
                    (done, count) = (done + 1, count + 1);
                }
                Some(refused) => return Err(error(handle.refusal(refused))),
            }
        }
        Ok(count)
    }

    fn end_of(&self, instance: InstanceHandle, known: Option<KeyPayload>) -> Result<NewChange, WriteErrorKind>
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
            must_be_registered: true,
        })
    }
}

/// How far several changes were written.
struct WrittenTogether {
    /// How many were.
    count: usize,
    /// How many were tried: those of instances that somebody has unregistered meanwhile are left out.
    tried: usize,
    flushed: Flushed,
    /// Why the next one was not.
    refused: Option<WriteRefused>,
}

impl WriterActor {
    /// Some instances that are alive, from a place on, which moves behind them.
    fn alive_instances(&mut self, place: &mut usize) -> Alive {
        let mut alive = Alive::new();
        while alive.len() < INSTANCES_PER_VISIT {
            let Some((next, instance, key)) = self.rtps().next_alive_instance(*place) else { break };
            alive.push((instance, key.cloned()));
            *place = next;
        }
        alive
    }

    /// Writes one change after the other, until one is refused, and sends them together.
    fn write_together(&mut self, changes: &mut [NewChange], effects: &mut Effects) -> WrittenTogether {
        self.gathers = true;
        let mut written = WrittenTogether { count: 0, tried: 0, flushed: Flushed::Done, refused: None };
        for change in changes {
            match self.write(change, &mut None, effects) {
                Ok(_) => written.count += 1,
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
