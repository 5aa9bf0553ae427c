//! Loans: values and bytes that a writer lends to the application to fill and write.
//!
//! A loan is taken from the writer's pool, filled, and written or dropped. In both cases its memory returns to the pool
//! with its capacity, even if the application panics in between. A writer has at most [`LOANS_MAX`] loans at a time,
//! and as many values in its pool.

use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::{DataWriter, WriteOptions, WriterHandle};
use dds_rtps::cdr::{Encode, TypeInfo};
use dds_rtps::concurrent::{BorrowedMut, Payload, SlotMut};
use dds_rtps::types::InstanceHandle;
use dds_rtps::writer::NewChange;
use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Maximum number of loans that a writer lends at the same time.
///
/// It is far more than a program fills at once. A program that keeps its loans gets an error before the memory is used
/// up.
const LOANS_MAX: usize = 64;

/// State of a writer's loans.
#[derive(Default)]
pub(super) struct Loans {
    out: AtomicUsize,
    /// The [`LoanPool`] of the writer's type. The first loan creates it, because the handle does not know the type.
    pool: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Loans {
    pub(super) fn take(&self) -> Result<OnLoan<'_>, WriteErrorKind> {
        // From here on the guard decrements the count on every path.
        let on_loan = OnLoan(&self.out);
        match self.out.fetch_add(1, Ordering::Relaxed) {
            LOANS_MAX.. => Err(WriteErrorKind::OutOfResources { limit: "loans at a time", value: LOANS_MAX as u64 }),
            _ => Ok(on_loan),
        }
    }

    fn pool<T: Send + 'static>(&self) -> Option<&LoanPool<T>> {
        self.pool.get_or_init(|| Box::new(LoanPool::<T>::default())).downcast_ref()
    }
}

/// Guard of one loan. Dropping it decrements the count.
pub(crate) struct OnLoan<'w>(&'w AtomicUsize);

impl Drop for OnLoan<'_> {
    fn drop(&mut self) {
        let before = self.0.fetch_sub(1, Ordering::Relaxed);
        debug_assert!(before > 0, "each loan has counted itself");
    }
}

/// Values of earlier loans. They are boxed, so that a large value does not move.
struct LoanPool<T> {
    spare: Mutex<Vec<Box<T>>>,
}

impl<T> LoanPool<T> {
    /// The guard lives for one line and calls no foreign code.
    fn spare(&self) -> MutexGuard<'_, Vec<Box<T>>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for LoanPool<T> {
    fn default() -> Self {
        Self { spare: Mutex::default() }
    }
}

/// A lent value to fill and write. See [`DataWriter::loan`].
///
/// Dropping it returns it unwritten.
#[must_use = "a loan that is dropped is not written"]
pub struct LoanedSample<'w, T> {
    writer: &'w DataWriter<T>,
    /// `None` only during the drop.
    value: Option<Box<T>>,
    pool: Option<&'w LoanPool<T>>,
    _on_loan: OnLoan<'w>,
}

impl<'w, T> LoanedSample<'w, T> {
    pub(super) fn new(writer: &'w DataWriter<T>, on_loan: OnLoan<'w>) -> Self
    where
        T: Default + Send + 'static,
    {
        let pool = writer.handle().loans().pool::<T>();
        // The guard is dropped before `T::default` runs, which is user code.
        let spare = match pool {
            Some(pool) => pool.spare().pop(),
            None => None,
        };
        Self { writer, value: Some(spare.unwrap_or_default()), pool, _on_loan: on_loan }
    }

    /// Publishes the value as [`DataWriter::write`] does, and returns its memory to the writer.
    ///
    /// # Errors
    /// As [`DataWriter::write`]. The value is dropped; [`write_or_return`](Self::write_or_return) keeps it.
    pub fn write(self) -> Result<(), WriteError>
    where
        T: Encode + TypeInfo,
    {
        self.write_with(WriteOptions::new())
    }

    /// As [`write`](LoanedSample::write), with [`WriteOptions`].
    ///
    /// # Errors
    /// As [`DataWriter::write_with`]. The value is dropped; [`write_or_return`](Self::write_or_return) keeps it.
    pub fn write_with(self, options: WriteOptions) -> Result<(), WriteError>
    where
        T: Encode + TypeInfo,
    {
        self.write_or_return(options).map_err(|(_, error)| error)
    }

    /// As [`write_with`](Self::write_with), but a failed write returns the loan.
    ///
    /// # Errors
    /// As [`DataWriter::write_with`]. The loan comes back with the error, and can be written again.
    pub fn write_or_return(self, options: WriteOptions) -> Result<(), (Self, WriteError)>
    where
        T: Encode + TypeInfo,
    {
        match self.writer.handle().write(&*self, options, true) {
            Ok(_) => Ok(()),
            Err(error) => Err((self, error)),
        }
    }
}

impl<T> Deref for LoanedSample<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.value.as_deref().expect("it is taken out by drop alone")
    }
}

impl<T> DerefMut for LoanedSample<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_deref_mut().expect("it is taken out by drop alone")
    }
}

impl<T> Drop for LoanedSample<'_, T> {
    fn drop(&mut self) {
        if let (Some(pool), Some(value)) = (self.pool, self.value.take()) {
            pool.spare().push(value);
        }
    }
}

impl<T> fmt::Debug for LoanedSample<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoanedSample").field("writer", self.writer).finish_non_exhaustive()
    }
}

/// Memory of an encoded sample.
pub(super) enum LoanMemory {
    /// A slot of the writer.
    Slot(SlotMut),
    /// Memory that the readers of this host share.
    Shared(BorrowedMut),
}

impl LoanMemory {
    /// The memory of a payload that no cache keeps.
    fn of(payload: Payload) -> Self {
        let shared = match payload.into_slot() {
            Ok(slot) => return Self::Slot(slot),
            Err(shared) => shared.into_borrowed(),
        };
        match shared {
            Ok(mut memory) => {
                // A sample may be sent before its write fails, if another thread closes the writer. Peers read it then.
                if memory.bytes_mut().is_empty() {
                    return Self::Slot(SlotMut::copy_of(memory.bytes()));
                }
                Self::Shared(memory)
            }
            Err(kept) => Self::Slot(SlotMut::copy_of(kept.bytes())),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Slot(slot) => slot.bytes(),
            Self::Shared(memory) => memory.bytes(),
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Slot(slot) => slot.buffer(),
            Self::Shared(memory) => memory.bytes_mut(),
        }
    }

    fn freeze(self) -> Payload {
        match self {
            Self::Slot(slot) => slot.freeze(),
            Self::Shared(memory) => memory.freeze(),
        }
    }
}

/// Lent memory of an encoded sample to fill and write. See [`DataWriter::loan_encoded`].
///
/// Dropping it returns it unwritten.
#[must_use = "a loan that is dropped is not written"]
pub struct LoanedBytes<'w> {
    writer: &'w WriterHandle,
    /// `None` once it is returned or written.
    memory: Option<LoanMemory>,
    _on_loan: OnLoan<'w>,
}

impl<'w> LoanedBytes<'w> {
    pub(super) fn new(writer: &'w WriterHandle, memory: LoanMemory, on_loan: OnLoan<'w>) -> Self {
        Self { writer, memory: Some(memory), _on_loan: on_loan }
    }

    /// Sets the length of a slot. Shared memory has its length already.
    pub(super) fn set_len(&mut self, len: usize) -> Result<(), WriteErrorKind> {
        let Some(LoanMemory::Slot(slot)) = &mut self.memory else { return Ok(()) };
        let buffer = slot.buffer();
        let missing = len.saturating_sub(buffer.len());
        if buffer.try_reserve_exact(missing).is_err() {
            return Err(WriteErrorKind::OutOfResources { limit: "bytes of memory", value: len as u64 });
        }
        // Bytes of earlier samples stay, because clearing them would cost as much as a copy.
        buffer.resize(len, 0);
        Ok(())
    }

    /// Checks the sample as [`DataWriter::write_encoded`] does, and publishes it without a copy.
    ///
    /// # Errors
    /// As [`DataWriter::write_encoded`]. The bytes are dropped; [`write_or_return`](Self::write_or_return) keeps them.
    pub fn write(self) -> Result<(), WriteError> {
        self.write_with(WriteOptions::new())
    }

    /// As [`write`](LoanedBytes::write), with [`WriteOptions`].
    ///
    /// # Errors
    /// As [`DataWriter::write_encoded_with`]. The bytes are dropped;
    /// [`write_or_return`](Self::write_or_return) keeps them.
    pub fn write_with(self, options: WriteOptions) -> Result<(), WriteError> {
        self.write_or_return(options).map_err(|(_, error)| error)
    }

    /// As [`write_with`](Self::write_with), but a failed write returns the loan.
    ///
    /// # Errors
    /// As [`DataWriter::write_encoded_with`]. The loan comes back with the error, and can be written again.
    pub fn write_or_return(mut self, options: WriteOptions) -> Result<(), (Self, WriteError)> {
        match self.publish(options) {
            Ok(()) => Ok(()),
            Err(error) => Err((self, error)),
        }
    }

    fn publish(&mut self, options: WriteOptions) -> Result<(), WriteError> {
        let writer = self.writer;
        let instance = writer.write_result(self.instance())?;
        debug_assert!(self.memory.is_some(), "a loan that can be written has its memory");
        let Some(memory) = self.memory.take() else { return Ok(()) };
        let payload = memory.freeze();
        let change = options.apply_to(NewChange::alive(instance, payload.clone()));
        let written = match change {
            Ok(change) => writer.publish(change, true),
            Err(kind) => Err(writer.write_error(kind)),
        };
        match written {
            Ok(_) => writer.encoder().with_buffers(|buffers| buffers.slots.remember(payload)),
            // No cache keeps a refused sample, so its memory can be taken back.
            Err(_) => self.memory = Some(LoanMemory::of(payload)),
        }
        // The sequence number is of no use to the caller.
        written.map(drop)
    }

    /// Checks the bytes, and returns the instance of the sample in them.
    fn instance(&self) -> Result<InstanceHandle, WriteErrorKind> {
        let offered = self.writer.encoding()?;
        let encoder = self.writer.encoder();
        encoder.with_buffers(|buffers| encoder.instance_of_encoded(self, offered, buffers))
    }
}

impl Deref for LoanedBytes<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.memory.as_ref().map_or(&[], LoanMemory::bytes)
    }
}

impl DerefMut for LoanedBytes<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.memory.as_mut().map_or(&mut [], LoanMemory::bytes_mut)
    }
}

impl Drop for LoanedBytes<'_> {
    fn drop(&mut self) {
        if let Some(LoanMemory::Slot(slot)) = self.memory.take() {
            self.writer.encoder().with_buffers(|buffers| buffers.slots.give_back(slot));
        }
    }
}

impl fmt::Debug for LoanedBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoanedBytes").field("len", &self.len()).finish_non_exhaustive()
    }
}
