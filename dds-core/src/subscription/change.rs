//! Changes of instances: values, and ends with their keys.

use crate::subscription::{Samples, decode_key};
use dds_rtps::cdr::{AnyType, DecodeOwned, Keyed};
use dds_rtps::history::{HistorySample, InstanceState, KeyPayload};
use dds_rtps::types::InstanceHandle;
use std::fmt;

/// A change of an instance: a value, or the end of the instance with its key.
///
/// [`Samples::into_changes`] and [`DataReader::change_stream`](crate::DataReader::change_stream) return changes. The
/// key is that of the derive: the type of the single key member, or a tuple of several.
///
/// ```
/// use dds_core::qos::Preset;
/// use dds_core::{Change, DdsType, DomainParticipant, Scope};
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
/// let reader = participant.reader_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
/// let writer = participant.writer_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
/// writer.wait_for_readers(1).block()?;
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// writer.dispose(&7)?;
/// let changes: Vec<_> = reader.take()?.into_changes().collect();
/// assert_eq!(changes, [Change::Data(Pose { robot: 7, x: 1.0 }), Change::Disposed(7)]);
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
pub enum Change<T: Keyed> {
    /// A writer has written this value.
    Data(T),
    /// A writer has disposed of the instance with this key.
    Disposed(T::Key),
    /// The instance with this key has no writer any more: all have unregistered it, ended, or lost their liveliness.
    NoWriters(T::Key),
}

impl<T: Keyed> Change<T> {
    /// Returns the key of the instance.
    #[must_use]
    pub fn into_key(self) -> T::Key {
        match self {
            Self::Data(data) => data.key(),
            Self::Disposed(key) | Self::NoWriters(key) => key,
        }
    }

    /// Returns the value, or `None` for an end.
    #[must_use]
    pub fn into_data(self) -> Option<T> {
        match self {
            Self::Data(data) => Some(data),
            Self::Disposed(_) | Self::NoWriters(_) => None,
        }
    }

    /// Creates the end of an instance in this state. `None` for a live instance.
    fn end(state: InstanceState, key: T::Key) -> Option<Self> {
        match state {
            InstanceState::NotAliveDisposed => Some(Self::Disposed(key)),
            InstanceState::NotAliveNoWriters => Some(Self::NoWriters(key)),
            InstanceState::Alive => None,
        }
    }
}

impl<T: Keyed + Clone> Clone for Change<T>
where
    T::Key: Clone,
{
    fn clone(&self) -> Self {
        match self {
            Self::Data(data) => Self::Data(data.clone()),
            Self::Disposed(key) => Self::Disposed(key.clone()),
            Self::NoWriters(key) => Self::NoWriters(key.clone()),
        }
    }
}

impl<T: Keyed + PartialEq> PartialEq for Change<T>
where
    T::Key: PartialEq,
{
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Data(data), Self::Data(other)) => data == other,
            (Self::Disposed(key), Self::Disposed(other)) | (Self::NoWriters(key), Self::NoWriters(other)) => {
                key == other
            }
            _ => false,
        }
    }
}

impl<T: Keyed + fmt::Debug> fmt::Debug for Change<T>
where
    T::Key: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(data) => f.debug_tuple("Data").field(data).finish(),
            Self::Disposed(key) => f.debug_tuple("Disposed").field(key).finish(),
            Self::NoWriters(key) => f.debug_tuple("NoWriters").field(key).finish(),
        }
    }
}

/// Iterator over the changes of a batch.
///
/// The state of an instance comes with its last sample in the batch: a value, or a sample without data if all values
/// were read before (DDS 1.4, 2.2.2.5.1.3). An end is yielded after that sample.
pub(crate) struct IntoChanges<T: Keyed> {
    batch: Samples<T>,
    next: usize,
    /// The end of the instance whose last value was yielded.
    end: Option<Change<T>>,
}

impl<T: Keyed> IntoChanges<T> {
    pub(super) fn new(batch: Samples<T>) -> Self {
        Self { batch, next: 0, end: None }
    }
}

impl<T: DecodeOwned + Keyed> IntoChanges<T> {
    /// Returns the end of an instance whose last value does not decode. The value is lost, but the end must not be.
    fn end_without_value(&self, state: InstanceState, instance: InstanceHandle) -> Option<Change<T>> {
        if state == InstanceState::Alive {
            return None;
        }
        Change::end(state, self.known_key(instance)?)
    }

    /// Returns the key of an instance whose last value does not decode.
    ///
    /// Another sample of the batch shows it, or the reader knows it from the dispose.
    fn known_key(&self, instance: InstanceHandle) -> Option<T::Key> {
        let last = self.next.checked_sub(1)?;
        // The samples of an instance follow each other (DDS 1.4, 2.2.2.5.3.8).
        for at in (0..=last).rev() {
            let (sample, ty, _) = self.batch.get(at)?;
            if sample.info.instance_handle != instance {
                break;
            }
            if let Some(key) = key_of::<T>(sample, ty) {
                return Some(key);
            }
        }
        let (_, ty, pool) = self.batch.get(last)?;
        decode_key::<T>(&pool.instance_payload(instance)?, ty)
    }
}

impl<T: DecodeOwned + Keyed> Iterator for IntoChanges<T> {
    type Item = Change<T>;

    fn next(&mut self) -> Option<Change<T>> {
        loop {
            if let Some(end) = self.end.take() {
                return Some(end);
            }
            let (sample, ty, pool) = self.batch.get(self.next)?;
            self.next += 1;
            // Earlier samples of the instance carry the same state.
            let is_last = sample.info.sample_rank == 0;
            let state = if is_last { sample.info.instance_state } else { InstanceState::Alive };
            if !sample.info.valid_data {
                // A reader that received only the hash of the key never had a value of the instance.
                if let Some(key) = key_of::<T>(sample, ty) {
                    self.end = Change::end(state, key);
                }
                continue;
            }
            match super::samples::decode_data::<T>(sample, ty) {
                Some(Ok(data)) => {
                    if state != InstanceState::Alive {
                        self.end = Change::end(state, data.key());
                    }
                    return Some(Change::Data(data));
                }
                Some(Err(_)) => {
                    pool.note_not_decodable();
                    self.end = self.end_without_value(state, sample.info.instance_handle);
                }
                None => {}
            }
        }
    }
}

/// Decodes the key of a sample. `None` if the reader received only the hash of the key.
pub(super) fn key_of<T: DecodeOwned + Keyed>(sample: &HistorySample, ty: Option<&AnyType>) -> Option<T::Key> {
    let payload = sample.payload.clone()?;
    decode_key::<T>(&KeyPayload { payload, is_key: sample.payload_is_key }, ty)
}
