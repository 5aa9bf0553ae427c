//! Loans: values and bytes that a writer lends to be filled and written.
//!
//! Life cycle: a loan is taken from the writer's pool, filled, and written or dropped; either way its memory goes back to
//! the pool, with its capacity, also if the application panics in between. Bound: [`LOANS_MAX`] at a time, and as many
//! values in the pool.

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

/// How many loans of one writer may be out at once: far more than are filled at the same time, so that a program that
/// keeps them hears of it before the memory is gone.
const LOANS_MAX: usize = 64;

/// What a writer knows of its loans.
#[derive(Default)]
pub(super) struct Loans {
    out: AtomicUsize,
    /// The [`LoanPool`] of the writer's type, made by the first loan: the handle does not know the type.
    pool: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Loans {
    fn take(&self) -> Result<OnLoan<'_>, WriteErrorKind> {
        // From here on a count too many goes down again by itself.
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

/// One loan that is out.
struct OnLoan<'w>(&'w AtomicUsize);

impl Drop for OnLoan<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Values that were lent before. Boxed, so that a large one is not moved.
struct LoanPool<T> {
    spare: Mutex<Vec<Box<T>>>,
}

impl<T> LoanPool<T> {
    /// Held for one line, without a call of anybody else.
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
    /// Lends a value to be filled and [written](LoanedSample::write): for types with strings and sequences, which keep
    /// their memory from one sample to the next.
    ///
    /// It holds what an earlier loan has left in it, or else the default. Dropping it gives it back unwritten. At most 64
    /// loans of a writer may be out at a time; after the first ones nothing is allocated.
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
    /// [`WriteErrorKind::OutOfResources`] if too many are out, [`WriteErrorKind::Closed`] after `close`.
    #[doc(alias = "loan_sample")]
    #[doc(alias = "borrow_loaned_message")]
    pub fn loan(&self) -> Result<LoanedSample<'_, T>, WriteError>
    where
        T: Default + Send + 'static,
    {
        let loans = &self.handle.loans;
        let on_loan = self.handle.lend().map_err(|kind| self.handle.write_error(kind))?;
        let pool = loans.pool::<T>();
        // The guard is gone before the default is made, which is the application's code.
        let spare = pool.and_then(|pool| pool.spare().pop());
        let value = spare.unwrap_or_default();
        Ok(LoanedSample { writer: self, value: Some(value), pool, _on_loan: on_loan })
    }

    /// Lends the memory of an encoded sample of `len` bytes, to be filled in place: no copy on the way to readers of this
    /// process, nor to the socket.
    ///
    /// The encapsulation header is there already, in the byte order of this machine; the sample stands from byte 4 on.
    /// What lies behind the header is left over from earlier samples: fill all of it.
    /// [`write`](LoanedBytes::write) checks the bytes as [`write_encoded`](DataWriter::write_encoded) does, the header
    /// included. At most 64 loans of a writer may be out at a time.
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
    /// [`WriteErrorKind::OtherEncoding`] if the writer has announced another encoding, [`WriteErrorKind::NotASample`] if
    /// `len` leaves no room for the header, [`WriteErrorKind::OutOfResources`] if too many loans are out, or for memory
    /// that there is not, [`WriteErrorKind::Closed`] after `close`.
    pub fn loan_encoded(&self, encoding: Encoding, len: usize) -> Result<LoanedBytes<'_>, WriteError> {
        self.handle.loan_encoded(encoding, len).map_err(|kind| self.handle.write_error(kind))
    }
}

/// A value that is lent to be filled and written; from [`DataWriter::loan`].
///
/// Dropping it gives it back unwritten.
#[must_use = "a loan that is dropped is not written"]
pub struct LoanedSample<'w, T> {
    writer: &'w DataWriter<T>,
    /// There until it goes back.
    value: Option<Box<T>>,
    pool: Option<&'w LoanPool<T>>,
    _on_loan: OnLoan<'w>,
}

impl<T> LoanedSample<'_, T> {
    /// Publishes the value, as [`DataWriter::write`] does, and gives its memory back to the writer.
    ///
    /// # Errors
    /// As [`DataWriter::write`]; the loan is in the error, and may be written again.
    pub fn write(self) -> Result<(), GivenBack<Self>>
    where
        T: Encode + TypeInfo,
    {
        self.write_with(WriteOptions::new())
    }

    /// As [`write`](LoanedSample::write), with what [`WriteOptions`] say.
    ///
    /// # Errors
    /// As [`DataWriter::write_with`]; the loan is in the error, and may be written again.
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

/// The memory of an encoded sample that is lent to be filled and written; from [`DataWriter::loan_encoded`].
///
/// Dropping it gives it back unwritten.
#[must_use = "a loan that is dropped is not written"]
pub struct LoanedBytes<'w> {
    writer: &'w WriterHandle,
    /// There until it goes back, or is written.
    slot: Option<SlotMut>,
    _on_loan: OnLoan<'w>,
}

impl LoanedBytes<'_> {
    /// Publishes the sample, without a copy, once it has been checked as [`DataWriter::write_encoded`] checks it.
    ///
    /// # Errors
    /// As [`DataWriter::write_encoded`]; the loan is in the error, and may be written again.
    pub fn write(self) -> Result<(), GivenBack<Self>> {
        self.write_with(WriteOptions::new())
    }

    /// As [`write`](LoanedBytes::write), with what [`WriteOptions`] say.
    ///
    /// # Errors
    /// As [`DataWriter::write_encoded_with`]; the loan is in the error, and may be written again.
    pub fn write_with(mut self, options: WriteOptions) -> Result<(), GivenBack<Self>> {
        match self.publish(options) {
            Ok(()) => Ok(()),
            Err(error) => Err(GivenBack { error, value: self }),
        }
    }

    fn publish(&mut self, options: WriteOptions) -> Result<(), WriteError> {
        let writer = self.writer;
        let error = |kind| writer.write_error(kind);
        let instance = writer.at_desk(|desk| writer.instance_of_encoded(self, desk)).map_err(error)?;
        let Some(slot) = self.slot.take() else { return Ok(()) };
        let payload = slot.freeze();
        let change = options.apply_to(NewChange::alive(instance, payload.clone())).map_err(error);
        let written = change.and_then(|change| writer.publish(change, true));
        match written {
            Ok(_) => writer.at_desk(|desk| desk.slots.remember(payload)),
            // What was refused was kept by nobody; were it ever, a copy would take its place.
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
            self.writer.at_desk(|desk| desk.slots.give_back(slot));
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
        let mut slot = self.at_desk(|desk| desk.slots.acquire());
        let prepared = self.prepare(slot.buffer(), encoding, len);
        // From here on the slot goes back by itself.
        let loan = LoanedBytes { writer: self, slot: Some(slot), _on_loan: on_loan };
        prepared.map(|()| loan)
    }

    /// Makes a buffer as long as it should be, with a header.
    fn prepare(&self, buffer: &mut Vec<u8>, encoding: Encoding, len: usize) -> Result<(), WriteErrorKind> {
        let missing = len.saturating_sub(buffer.len());
        let out_of_memory = |_| WriteErrorKind::OutOfResources { limit: "bytes of memory", value: len as u64 };
        buffer.try_reserve_exact(missing).map_err(out_of_memory)?;
        buffer.resize(len, 0);
        let extensibility = self.ty.as_ref().map_or(Extensibility::Final, |ty| ty.extensibility());
        match buffer.first_chunk_mut() {
            Some(header) => *header = Encapsulation::new(encoding, extensibility, ByteOrder::HOST).to_bytes(),
            // Parsing says how much of it is missing.
            None => drop(Encapsulation::parse(buffer).map_err(WriteErrorKind::NotASample)?),
        }
        Ok(())
    }
}
