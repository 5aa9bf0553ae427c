//! Encoding of the samples and keys of one writer, outside of its cell.

use crate::infrastructure::WriteErrorKind;
use dds_rtps::cdr::{
    AnyType, ByteOrder, Encapsulation, Encode, EncodeError, Encoding, Extensibility, KeyHasher, Keyed, LongRuns,
    TypeInfo, encode_key_payload, encode_payload, encode_payload_beside,
};
use dds_rtps::concurrent::{BorrowedMut, Payload, SlotRing};
use dds_rtps::types::InstanceHandle;
use dds_rtps::writer::NewChange;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, TryLockError};

/// Maximum number of slots that a writer reuses.
///
/// It covers the usual history together with the batches of local readers. Slots beyond it, or beyond `SLOTS_BYTES`,
/// come from the heap.
const SLOTS_MAX: usize = 1024;

/// Memory up to which a writer reuses more slots, for a deep history of small samples.
///
/// Above 16 KiB a sample costs far more than its allocation.
const SLOTS_BYTES: usize = 16 << 20;

/// Samples from this length on are encoded in shared memory, if there is any. Below, their copy costs less.
const LONG_LEN: usize = 64 << 10;

/// By how many bytes a sample may be longer than the one before, without being encoded twice.
const GROWTH: usize = 4 << 10;

/// Shared memory that is filled from its start.
#[derive(Debug)]
struct Filling {
    memory: BorrowedMut,
    filled: usize,
}

impl LongRuns for Filling {
    fn append(&mut self, before: &[u8], run: &[u8]) -> bool {
        let room = self.memory.bytes_mut().get_mut(self.filled..).unwrap_or_default();
        let Some((place, rest)) = room.split_at_mut_checked(before.len()) else { return false };
        let Some((run_place, _)) = rest.split_at_mut_checked(run.len()) else { return false };
        place.copy_from_slice(before);
        run_place.copy_from_slice(run);
        self.filled += before.len() + run.len();
        true
    }

    fn overwrite(&mut self, at: usize, bytes: &[u8]) {
        let place = self.memory.bytes_mut().get_mut(at..at + bytes.len());
        debug_assert!(place.is_some(), "only appended bytes are overwritten");
        if let Some(place) = place {
            place.copy_from_slice(bytes);
        }
    }
}

/// Encodes the samples and keys of one writer.
pub(super) struct SampleEncoder {
    /// Type of the samples. `None` for raw topics, whose type is unknown.
    ty: Option<AnyType>,
    hasher: KeyHasher,
    /// Bytes of the longest of the last samples, if the last one was long. Otherwise zero.
    last_long: AtomicUsize,
    /// Used by the thread that encodes. Other threads use temporary buffers.
    buffers: Mutex<EncodeBuffers>,
}

/// Buffers that encoding a sample needs.
pub(super) struct EncodeBuffers {
    /// Slots for encoded samples. The history and the readers of this process share them.
    pub(super) slots: SlotRing,
    /// Buffer for keys that are encoded to be hashed.
    scratch: Vec<u8>,
}

impl EncodeBuffers {
    /// Creates buffers that take their slots from `slots`.
    const fn new(slots: SlotRing) -> Self {
        Self { slots, scratch: Vec::new() }
    }

    /// Encodes into a slot. If `encode` fails or panics, the slot is free again.
    pub(super) fn encode<E>(&mut self, encode: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<Payload, E> {
        self.slots.fill(encode)
    }
}

impl SampleEncoder {
    pub(super) fn new(ty: Option<AnyType>, has_key: bool) -> Self {
        let hasher = match &ty {
            Some(ty) => KeyHasher::new(ty.clone(), has_key),
            None => KeyHasher::keyless(),
        };
        let slots = SlotRing::with_budget(SLOTS_MAX, SLOTS_BYTES);
        Self { ty, hasher, last_long: AtomicUsize::new(0), buffers: Mutex::new(EncodeBuffers::new(slots)) }
    }

    /// Type of the samples. `None` for raw topics.
    pub(super) fn ty(&self) -> Option<&AnyType> {
        self.ty.as_ref()
    }

    /// Calls `encode` with the buffers of the writer, or with temporary ones if these are in use.
    ///
    /// They are in use by another thread, or by an encoder of the application that writes a sample itself.
    pub(super) fn with_buffers<R>(&self, encode: impl FnOnce(&mut EncodeBuffers) -> R) -> R {
        match self.buffers.try_lock() {
            Ok(mut buffers) => encode(&mut buffers),
            // An encoder panicked, which freed its slot. The buffers stay usable.
            Err(TryLockError::Poisoned(buffers)) => encode(&mut buffers.into_inner()),
            Err(TryLockError::WouldBlock) => encode(&mut EncodeBuffers::new(SlotRing::new(0))),
        }
    }

    /// Bytes of shared memory that the next sample is likely to need. Zero if it is likely to be short.
    #[inline]
    pub(super) fn expected_long(&self) -> usize {
        match self.last_long.load(Ordering::Relaxed) {
            0 => 0,
            last => last + GROWTH,
        }
    }

    /// As [`encode`](Self::encode), into shared memory. `None` if the sample does not fit.
    pub(super) fn encode_into<S: Encode + TypeInfo>(
        &self,
        memory: BorrowedMut,
        sample: &S,
        encoding: Encoding,
    ) -> Result<Option<NewChange>, WriteErrorKind> {
        if !sample.is_of(self.ty.as_ref()) {
            return Err(WriteErrorKind::Encode(EncodeError::OtherType));
        }
        self.with_buffers(|buffers| {
            let instance = self.hasher.of_sample(sample, &mut buffers.scratch)?;
            let mut filling = Filling { memory, filled: 0 };
            let rest = &mut buffers.scratch;
            encode_payload_beside(sample, encoding, rest, &mut filling)?;
            // The rest moves as well. Without a long run, it is the whole sample.
            if !filling.append(rest, &[]) {
                return Ok(None);
            }
            self.note_len(filling.filled);
            filling.memory.truncate(filling.filled);
            Ok(Some(NewChange::alive(instance, filling.memory.freeze())))
        })
        .map_err(WriteErrorKind::Encode)
    }

    #[inline]
    fn note_len(&self, len: usize) {
        let before = self.last_long.load(Ordering::Relaxed);
        // Slowly down, because a sample that does not fit is encoded twice.
        let long = if len < LONG_LEN { 0 } else { len.max(before - before / 16) };
        // Most writers write samples of one kind, so the value seldom changes.
        if before != long {
            self.last_long.store(long, Ordering::Relaxed);
        }
    }

    /// Encodes a sample and computes its instance.
    pub(super) fn encode<S: Encode + TypeInfo>(
        &self,
        sample: &S,
        encoding: Encoding,
    ) -> Result<NewChange, WriteErrorKind> {
        // A value of a dynamic type may belong to another topic.
        if !sample.is_of(self.ty.as_ref()) {
            return Err(WriteErrorKind::Encode(EncodeError::OtherType));
        }
        self.with_buffers(|buffers| {
            // Before the payload, because the scratch buffer and the slot are borrowed in turn.
            let instance = self.hasher.of_sample(sample, &mut buffers.scratch)?;
            let payload = buffers.encode(|buffer| encode_payload(sample, encoding, buffer))?;
            self.note_len(payload.len());
            Ok(NewChange::alive(instance, payload))
        })
        .map_err(WriteErrorKind::Encode)
    }

    /// Returns the instance with this key, and the encoded key.
    pub(super) fn encode_key<T: Keyed + TypeInfo>(
        &self,
        key: &T::Key,
        encoding: Encoding,
    ) -> Result<(InstanceHandle, Payload), WriteErrorKind> {
        if !T::is_key_of(key, self.ty.as_ref()) {
            return Err(WriteErrorKind::Encode(EncodeError::OtherType));
        }
        self.with_buffers(|buffers| {
            let instance = self.hasher.of_key::<T>(key, &mut buffers.scratch)?;
            let payload = buffers.encode(|buffer| encode_key_payload::<T>(key, encoding, buffer))?;
            Ok((instance, payload))
        })
        .map_err(WriteErrorKind::Encode)
    }

    /// Returns the instance with this key. `None` for a key of another type.
    pub(super) fn instance_of_key<T: Keyed + TypeInfo>(&self, key: &T::Key) -> Option<InstanceHandle> {
        if !T::is_key_of(key, self.ty.as_ref()) {
            return None;
        }
        self.with_buffers(|buffers| self.hasher.of_key::<T>(key, &mut buffers.scratch)).ok()
    }

    /// Checks an encoded sample as far as possible, and computes its instance.
    pub(super) fn instance_of_encoded(
        &self,
        bytes: &[u8],
        offered: Encoding,
        buffers: &mut EncodeBuffers,
    ) -> Result<InstanceHandle, WriteErrorKind> {
        let header = Encapsulation::parse(bytes).map_err(WriteErrorKind::NotASample)?;
        if header.encoding != offered {
            return Err(WriteErrorKind::OtherEncoding { offered, given: header.encoding });
        }
        // The samples of a raw topic have no key that can be read.
        let Some(ty) = &self.ty else { return Ok(InstanceHandle::NIL) };
        header.expect_fit(ty.extensibility()).map_err(WriteErrorKind::NotASample)?;
        self.hasher.of_payload(bytes, false, &mut buffers.scratch).map_err(WriteErrorKind::NotASample)
    }

    /// Writes the encapsulation header.
    pub(super) fn put_header(&self, buffer: &mut [u8], encoding: Encoding) -> Result<(), WriteErrorKind> {
        let extensibility = match &self.ty {
            Some(ty) => ty.extensibility(),
            None => Extensibility::Final,
        };
        match buffer.first_chunk_mut() {
            Some(header) => *header = Encapsulation::new(encoding, extensibility, ByteOrder::HOST).to_bytes(),
            // The buffer is shorter than a header. The parser creates the error with the missing length.
            None => drop(Encapsulation::parse(buffer).map_err(WriteErrorKind::NotASample)?),
        }
        Ok(())
    }
}
