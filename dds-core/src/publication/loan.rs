//! Loans: values and bytes that a writer lends to the application to fill and write.
//!
//! A loan is taken from the writer's pool, filled, and written or dropped. In both cases its memory returns to the pool
//! with its capacity, even if the application panics in between. A writer has at most [`LOANS_MAX`] loans at a time,
//! and as many values in its pool.

use crate::cdr::{ByteOrder, Encapsulation, Encode, Encoding, Extensibility, TypeInfo};
use crate::infrastructure::{GivenBack, WriteError, WriteErrorKind};
use crate::publication::{DataWriter, WriteOptions, WriterHandle};
use dds_rtps::concurrent::SlotMut;
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
    fn take(&self) -> Result<OnLoan<'_>, WriteErrorKind> {
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
struct OnLoan<'w>(&'w AtomicUsize);

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

impl<T> DataWriter<T> {
    /// Lends a value to fill and [write](LoanedSample::write).
    ///
    /// For types with strings and sequences, which keep their memory from one sample to the next. The value has the
    /// content of an earlier loan, or else the default. Dropping it returns it unwritten. A writer lends at most 64
    /// loans at a time. Loans do not allocate in steady state.
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType, Default, Debug, PartialEq)]
    /// struct Scan {
    ///     ranges: Vec<f32>,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let reader = participant.reader::<Scan>("scan")?;
    /// let writer = participant.writer::<Scan>("scan")?;
    /// let mut scan = writer.loan()?;
    /// scan.ranges.clear();
    /// scan.ranges.extend([0.5, 0.25]);
    /// scan.write()?;
    /// assert_eq!(reader.next_sample().block()?.data, Some(Scan { ranges: vec![0.5, 0.25] }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WriteErrorKind::OutOfResources`] if the writer lends 64 loans already, [`WriteErrorKind::Closed`] after
    /// `close`.
    #[doc(alias = "loan_sample")]
    #[doc(alias = "borrow_loaned_message")]
    pub fn loan(&self) -> Result<LoanedSample<'_, T>, WriteError>
    where
        T: Default + Send + 'static,
    {
        let loans = &self.handle.loans;
        let on_loan = self.handle.lend().map_err(|kind| self.handle.write_error(kind))?;
        let pool = loans.pool::<T>();
        // The guard is dropped before `T::default` runs, which is user code.
        let spare = pool.and_then(|pool| pool.spare().pop());
        let value = spare.unwrap_or_default();
        Ok(LoanedSample { writer: self, value: Some(value), pool, _on_loan: on_loan })
    }

    /// Lends the memory of an encoded sample of `len` bytes, to fill in place.
    ///
    /// The sample is not copied on its way to local readers and to the socket.
    ///
    /// The memory begins with the encapsulation header, in the byte order of this machine. The sample begins at byte 4.
    /// The bytes after the header are those of earlier samples: fill all of them. [`write`](LoanedBytes::write) checks
    /// the bytes as [`write_encoded`](DataWriter::write_encoded) does, including the header. A writer lends at most 64
    /// loans at a time.
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, Encoding, Scope};
    ///
    /// #[derive(DdsType, Debug, PartialEq)]
    /// struct Count {
    ///     count: u32,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let reader = participant.reader::<Count>("count")?;
    /// let writer = participant.writer::<Count>("count")?;
    /// let mut bytes = writer.loan_encoded(Encoding::Xcdr1, 8)?;
    /// bytes[4..].copy_from_slice(&7_u32.to_ne_bytes());
    /// bytes.write()?;
    /// assert_eq!(reader.next_sample().block()?.data, Some(Count { count: 7 }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - [`WriteErrorKind::OtherEncoding`] if the writer announces another encoding,
    /// - [`WriteErrorKind::NotASample`] if `len` leaves no room for the header,
    /// - [`WriteErrorKind::OutOfResources`] if the writer lends 64 loans already, or memory is short,
    /// - [`WriteErrorKind::Closed`] after `close`.
    pub fn loan_encoded(&self, encoding: Encoding, len: usize) -> Result<LoanedBytes<'_>, WriteError> {
        self.handle.loan_encoded(encoding, len).map_err(|kind| self.handle.write_error(kind))
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

impl<T> LoanedSample<'_, T> {
    /// Publishes the value as [`DataWriter::write`] does, and returns its memory to the writer.
    ///
    /// # Errors
    /// As [`DataWriter::write`]. The error contains the loan, which can be written again.
    pub fn write(self) -> Result<(), GivenBack<Self>>
    where
        T: Encode + TypeInfo,
    {
        self.write_with(WriteOptions::new())
    }

    /// As [`write`](LoanedSample::write), with [`WriteOptions`].
    ///
    /// # Errors
    /// As [`DataWriter::write_with`]. The error contains the loan, which can be written again.
    pub fn write_with(self, options: WriteOptions) -> Result<(), GivenBack<Self>>
    where
        T: Encode + TypeInfo,
    {
        match self.writer.publish(&*self, options, true) {
            Ok(_) => Ok(()),
            Err(error) => Err(GivenBack { error, value: self }),
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

/// Lent memory of an encoded sample to fill and write. See [`DataWriter::loan_encoded`].
///
/// Dropping it returns it unwritten.
#[must_use = "a loan that is dropped is not written"]
pub struct LoanedBytes<'w> {
    writer: &'w WriterHandle,
    /// `None` once it is returned or written.
    slot: Option<SlotMut>,
    _on_loan: OnLoan<'w>,
}

impl LoanedBytes<'_> {
    /// Checks the sample as [`DataWriter::write_encoded`] does, and publishes it without a copy.
    ///
    /// # Errors
    /// As [`DataWriter::write_encoded`]. The error contains the loan, which can be written again.
    pub fn write(self) -> Result<(), GivenBack<Self>> {
        self.write_with(WriteOptions::new())
    }

    /// As [`write`](LoanedBytes::write), with [`WriteOptions`].
    ///
    /// # Errors
    /// As [`DataWriter::write_encoded_with`]. The error contains the loan, which can be written again.
    pub fn write_with(mut self, options: WriteOptions) -> Result<(), GivenBack<Self>> {
        match self.publish(options) {
            Ok(()) => Ok(()),
            Err(error) => Err(GivenBack { error, value: self }),
        }
    }

    fn publish(&mut self, options: WriteOptions) -> Result<(), WriteError> {
        let writer = self.writer;
        let error = |kind| writer.write_error(kind);
        let instance =
            writer.with_encode_buffers(|buffers| writer.instance_of_encoded(self, buffers)).map_err(error)?;
        debug_assert!(self.slot.is_some(), "a loan that can be written has its slot");
        let Some(slot) = self.slot.take() else { return Ok(()) };
        let payload = slot.freeze();
        let change = options.apply_to(NewChange::alive(instance, payload.clone())).map_err(error);
        let written = change.and_then(|change| writer.publish(change, true));
        match written {
            Ok(_) => writer.with_encode_buffers(|buffers| buffers.slots.remember(payload)),
            // No cache keeps a refused sample, so the slot can be taken back. The copy is only a fallback.
            Err(_) => self.slot = Some(payload.into_slot().unwrap_or_else(|kept| SlotMut::copy_of(kept.bytes()))),
        }
        written.map(drop)
    }
}

impl Deref for LoanedBytes<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.slot.as_ref().map_or(&[], SlotMut::bytes)
    }
}

impl DerefMut for LoanedBytes<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.slot.as_mut().map_or(&mut [], |slot| slot.buffer())
    }
}

impl Drop for LoanedBytes<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.writer.with_encode_buffers(|buffers| buffers.slots.give_back(slot));
        }
    }
}

impl fmt::Debug for LoanedBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoanedBytes").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl WriterHandle {
    fn lend(&self) -> Result<OnLoan<'_>, WriteErrorKind> {
        self.encoding()?;
        if self.is_closed() { Err(WriteErrorKind::Closed) } else { self.loans.take() }
    }

    fn loan_encoded(&self, encoding: Encoding, len: usize) -> Result<LoanedBytes<'_>, WriteErrorKind> {
        let offered = self.encoding()?;
        if encoding != offered {
            return Err(WriteErrorKind::OtherEncoding { offered, given: encoding });
        }
        if u32::try_from(len).is_err() {
            return Err(WriteErrorKind::OutOfResources { limit: "the size of a sample", value: u64::from(u32::MAX) });
        }
        let on_loan = self.lend()?;
        let mut slot = self.with_encode_buffers(|buffers| buffers.slots.acquire());
        let prepared = self.prepare(slot.buffer(), encoding, len);
        // From here on the loan returns the slot on every path.
        let loan = LoanedBytes { writer: self, slot: Some(slot), _on_loan: on_loan };
        prepared.map(|()| loan)
    }

    /// Resizes a buffer to `len` and writes the encapsulation header.
    fn prepare(&self, buffer: &mut Vec<u8>, encoding: Encoding, len: usize) -> Result<(), WriteErrorKind> {
        let missing = len.saturating_sub(buffer.len());
        let out_of_memory = |_| WriteErrorKind::OutOfResources { limit: "bytes of memory", value: len as u64 };
        buffer.try_reserve_exact(missing).map_err(out_of_memory)?;
        buffer.resize(len, 0);
        let extensibility = self.ty.as_ref().map_or(Extensibility::Final, |ty| ty.extensibility());
        match buffer.first_chunk_mut() {
            Some(header) => *header = Encapsulation::new(encoding, extensibility, ByteOrder::HOST).to_bytes(),
            // The buffer is shorter than a header. The parser creates the error with the missing length.
            None => drop(Encapsulation::parse(buffer).map_err(WriteErrorKind::NotASample)?),
        }
        Ok(())
    }
}
