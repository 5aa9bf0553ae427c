//! Batches of samples: counted references to encoded slots, decoded on demand.

use crate::subscription::change::{IntoChanges, key_of};
use crate::subscription::{Change, ReaderHandle};
use dds_rtps::cdr::{AnyType, Decode, DecodeError, DecodeOwned, Encoded, Keyed, ViewOf, decode_payload};
use dds_rtps::history::{HistorySample, KeyPayload, SampleInfo};
use dds_rtps::types::InstanceHandle;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Maximum number of emptied lists that a reader keeps. More batches are rarely alive at once.
const SPARE_LISTS_MAX: usize = 8;

/// Maximum length of a kept list, in samples. A huge `take` must not occupy its memory forever.
const SPARE_LIST_LEN_MAX: usize = 4096;

thread_local! {
    /// List of [`BatchPool::with_list`]. Empty, with the memory of an earlier call.
    static SPARE_LIST: Cell<Vec<HistorySample>> = const { Cell::new(Vec::new()) };
}

/// A sample with decoded data.
///
/// It has no key, so that a sample without data costs no decoding, and types without a key have the same `Sample`.
/// [`SampleRef::key`](crate::reader::SampleRef::key), [`Samples::into_changes`] and
/// [`change_stream`](crate::DataReader::change_stream) give the keys of ended instances.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample<T> {
    /// Value of the sample. `None` exactly if `info.valid_data` is false, which means that only the instance state
    /// changed.
    pub data: Option<T>,
    /// Metadata of the sample.
    pub info: SampleInfo,
}

/// State that the batches of a reader share: lists for reuse, and the count of samples that did not decode.
#[derive(Debug, Default)]
pub(crate) struct BatchPool {
    spare: Mutex<Vec<Vec<HistorySample>>>,
    not_decodable: AtomicU64,
    /// Type of the samples, for values without a static type.
    ty: Option<AnyType>,
    /// The reader, for keys that the samples themselves do not show.
    reader: Weak<ReaderHandle>,
}

impl BatchPool {
    pub(crate) fn new(ty: Option<AnyType>) -> Self {
        Self { ty, ..Self::default() }
    }

    /// Sets the reader that the batches are of.
    pub(super) fn of_reader(self, reader: Weak<ReaderHandle>) -> Self {
        Self { reader, ..self }
    }

    /// Returns the payload of the key of an instance, if the reader still knows it.
    pub(super) fn instance_payload(&self, instance: InstanceHandle) -> Option<KeyPayload> {
        self.reader.upgrade()?.instance_payload(instance)
    }

    pub(crate) fn ty(&self) -> Option<&AnyType> {
        self.ty.as_ref()
    }

    /// Returns an empty list, with the memory of an earlier batch if available.
    pub(crate) fn list(&self) -> Vec<HistorySample> {
        let list = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        debug_assert!(list.is_empty(), "spare lists are empty");
        list
    }

    fn give_back(&self, mut list: Vec<HistorySample>) {
        list.clear();
        // One large batch must not hold its memory for the rest of the reader's life.
        if list.capacity() == 0 || list.capacity() > SPARE_LIST_LEN_MAX {
            return;
        }
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        // More lists than that only help if as many batches are held at one time.
        debug_assert!(spare.len() <= SPARE_LISTS_MAX, "only this function adds lists");
        if spare.len() < SPARE_LISTS_MAX {
            spare.push(list);
        }
    }

    /// Calls `f` with an empty list that the thread keeps for its next call.
    ///
    /// For batches that end with the call. It takes no lock, because a listener takes its samples one at a time.
    pub(crate) fn with_list<R>(f: impl FnOnce(&mut Vec<HistorySample>) -> R) -> R {
        // A call from inside `f`, or of a thread that is ending, finds no list and allocates one.
        let mut list = SPARE_LIST.try_with(Cell::take).unwrap_or_default();
        debug_assert!(list.is_empty(), "the kept list is empty");
        let result = f(&mut list);
        list.clear();
        if list.capacity() <= SPARE_LIST_LEN_MAX {
            let _ = SPARE_LIST.try_with(|spare| spare.set(list));
        }
        result
    }

    pub(crate) fn note_not_decodable(&self) {
        self.not_decodable.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn not_decodable(&self) -> u64 {
        self.not_decodable.load(Ordering::Relaxed)
    }
}

/// A batch of samples that [`DataReader::take`](crate::DataReader::take) and similar methods return.
///
/// It holds counted references to the encoded samples and decodes each one on demand. It borrows nothing, so it can be
/// sent to another thread and can outlive its reader. The memory of its samples is reused only after it is dropped.
///
/// ```
/// use dds_core::cdr::Run;
/// use dds_core::qos::Preset;
/// use dds_core::{DdsType, DomainParticipant, Scope};
///
/// #[derive(DdsType, Debug, PartialEq)]
/// struct Scan {
///     #[dds(key)]
///     sensor: u32,
///     ranges: Vec<f32>,
/// }
///
/// /// A view that borrows from the batch and copies nothing.
/// #[derive(DdsType)]
/// #[dds(view_of = Scan)]
/// struct ScanView<'a> {
///     #[dds(key)]
///     sensor: u32,
///     ranges: Run<'a, f32>,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let reader = participant.reader_builder::<Scan>("scan").qos(Preset::Event).build()?;
/// let writer = participant.writer_builder::<Scan>("scan").qos(Preset::Event).build()?;
/// writer.wait_for_readers(1).block()?;
/// writer.write(&Scan { sensor: 7, ranges: vec![0.5; 360] })?;
/// reader.readable().block()?;
/// let samples = reader.take()?;
/// for scan in samples.views::<ScanView<'_>>() {
///     let scan = scan?;
///     println!("{}: {:?}", scan.sensor, scan.ranges.iter().next());
/// }
/// // Owned values, each decoded once.
/// let scans: Vec<Scan> = samples.into_data().collect();
/// assert_eq!(scans, [Scan { sensor: 7, ranges: vec![0.5; 360] }]);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "return_loan")]
pub struct Samples<T> {
    list: Vec<HistorySample>,
    pool: Arc<BatchPool>,
    marker: PhantomData<fn() -> T>,
}

impl<T> Samples<T> {
    pub(crate) fn new(list: Vec<HistorySample>, pool: Arc<BatchPool>) -> Self {
        Self { list, pool, marker: PhantomData }
    }

    /// Returns the number of samples, including those without data.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether the batch has no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns an iterator over the samples by reference. It decodes and copies nothing.
    pub fn iter(&self) -> SamplesIter<'_, T> {
        SamplesIter { samples: self.list.iter(), ty: self.pool.ty(), marker: PhantomData }
    }

    /// Returns an iterator over the samples with data, as values of a type that borrows from the batch.
    ///
    /// It yields an error for a sample that does not decode, and skips samples without data.
    ///
    /// ```
    /// # use dds_core::{DdsType, DomainParticipant, Scope};
    /// # #[derive(DdsType)]
    /// # struct Log { text: String }
    /// #[derive(DdsType)]
    /// #[dds(view_of = Log)]
    /// struct LogView<'a> {
    ///     text: &'a str,
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let participant = DomainParticipant::builder(0)
    /// #     .scope(Scope::Host)
    /// #     .domain_tag(std::process::id().to_string())
    /// #     .build()?;
    /// let reader = participant.reader::<Log>("log")?;
    /// for log in reader.take()?.views::<LogView<'_>>() {
    ///     println!("{}", log?.text);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn views<'s, V>(&'s self) -> impl Iterator<Item = Result<V, DecodeError>> + use<'s, T, V>
    where
        V: ViewOf<T> + Decode<'s>,
    {
        self.list.iter().filter_map(|sample| data_bytes(sample).map(decode_payload))
    }

    /// Returns an iterator over the changes: values, and ends of instances with their keys. See [`Change`].
    ///
    /// It skips samples that do not decode, and the reader counts them. An instance that ended and lives again yields
    /// no end.
    ///
    /// If the last value of an instance does not decode, its end has the key of an earlier value in the batch.
    /// Otherwise it has the key that the reader knows. Without both, the end is skipped as well.
    pub fn into_changes(self) -> impl Iterator<Item = Change<T>>
    where
        T: DecodeOwned + Keyed,
    {
        IntoChanges::new(self)
    }

    /// Returns a sample, the type for decoding it, and the counter of samples that do not decode.
    pub(super) fn get(&self, at: usize) -> Option<(&HistorySample, Option<&AnyType>, &BatchPool)> {
        Some((self.list.get(at)?, self.pool.ty(), &self.pool))
    }

    /// Returns an iterator over the decoded values.
    ///
    /// It skips samples without data and samples that do not decode. The reader counts the latter.
    pub fn into_data(self) -> impl Iterator<Item = T>
    where
        T: DecodeOwned,
    {
        self.into_iter().filter_map(|sample| sample.data)
    }
}

impl<T> Drop for Samples<T> {
    fn drop(&mut self) {
        self.pool.give_back(std::mem::take(&mut self.list));
    }
}

impl<T> fmt::Debug for Samples<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list.iter().map(|sample| &sample.info)).finish()
    }
}

impl<'s, T> IntoIterator for &'s Samples<T> {
    type Item = SampleRef<'s, T>;
    type IntoIter = SamplesIter<'s, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Decodes one sample after the other. Skips samples that do not decode, and the reader counts them.
impl<T: DecodeOwned> IntoIterator for Samples<T> {
    type Item = Sample<T>;
    type IntoIter = IntoSamples<T>;
    fn into_iter(self) -> Self::IntoIter {
        IntoSamples { batch: self, next: 0 }
    }
}

/// Iterator over the owned samples of a batch.
#[derive(Debug)]
pub struct IntoSamples<T> {
    batch: Samples<T>,
    next: usize,
}

impl<T: DecodeOwned> Iterator for IntoSamples<T> {
    type Item = Sample<T>;

    fn next(&mut self) -> Option<Sample<T>> {
        loop {
            // Decoded here, one at a time: an application that stops early pays only for the samples before.
            let sample = self.batch.list.get(self.next)?;
            self.next += 1;
            match decode_sample(sample, self.batch.pool.ty()) {
                Ok(sample) => return Some(sample),
                Err(_) => self.batch.pool.note_not_decodable(),
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        debug_assert!(self.next <= self.batch.len(), "the iterator ends with the batch");
        // Samples that do not decode are skipped.
        (0, Some(self.batch.len() - self.next))
    }
}

/// Iterator over the samples of a batch by reference.
#[derive(Debug)]
pub struct SamplesIter<'s, T> {
    samples: std::slice::Iter<'s, HistorySample>,
    ty: Option<&'s AnyType>,
    marker: PhantomData<fn() -> T>,
}

impl<'s, T> Iterator for SamplesIter<'s, T> {
    type Item = SampleRef<'s, T>;

    fn next(&mut self) -> Option<Self::Item> {
        let sample = self.samples.next()?;
        Some(SampleRef { sample, ty: self.ty, marker: PhantomData })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.samples.size_hint()
    }
}

impl<T> ExactSizeIterator for SamplesIter<'_, T> {}

/// One encoded sample of a batch.
pub struct SampleRef<'s, T> {
    sample: &'s HistorySample,
    ty: Option<&'s AnyType>,
    marker: PhantomData<fn() -> T>,
}

impl<'s, T> SampleRef<'s, T> {
    /// Returns the metadata of the sample.
    #[must_use]
    pub fn info(&self) -> &'s SampleInfo {
        &self.sample.info
    }

    /// Returns whether the sample has a value. Otherwise only the instance state changed.
    #[must_use]
    pub fn has_data(&self) -> bool {
        self.sample.info.valid_data
    }

    /// Returns the encoded sample with its encapsulation header, or `None` without data.
    #[must_use]
    pub fn encoded(&self) -> Option<Encoded<'s>> {
        Encoded::new(data_bytes(self.sample)?).ok()
    }

    /// Returns the encoded sample as a counted buffer, or `None` without data.
    ///
    /// The buffer shares the reader's memory. Nothing is copied.
    #[must_use]
    pub fn to_bytes(&self) -> Option<bytes::Bytes> {
        if !self.has_data() {
            return None;
        }
        let payload = self.sample.payload.as_ref()?;
        // The clone counts a reference to the slot of the datagram, and copies nothing.
        Some(bytes::Bytes::from_owner(payload.clone()))
    }

    /// Decodes the sample as a type that borrows from it. Returns `None` without data.
    ///
    /// # Errors
    /// The inner result is an error if the bytes are not a valid value. The other samples of the batch are not
    /// affected.
    pub fn view<V>(&self) -> Option<Result<V, DecodeError>>
    where
        V: ViewOf<T> + Decode<'s>,
    {
        data_bytes(self.sample).map(decode_payload)
    }

    /// Returns the key of the sample's instance, also without data.
    ///
    /// `None` if it does not decode, or if the reader received only the hash of the key.
    #[must_use]
    pub fn key(&self) -> Option<T::Key>
    where
        T: DecodeOwned + Keyed,
    {
        key_of::<T>(self.sample, self.ty)
    }

    /// Decodes the value of the sample. Returns `None` without data.
    ///
    /// # Errors
    /// The inner result is an error if the bytes are not a valid value. The other samples of the batch are not
    /// affected.
    pub fn decode(&self) -> Option<Result<T, DecodeError>>
    where
        T: Decode<'s>,
    {
        let bytes = data_bytes(self.sample)?;
        Some(T::decode_typed(bytes, self.ty))
    }
}

impl<T> fmt::Debug for SampleRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sample.fmt(f)
    }
}

/// Payload of a sample that has data.
fn data_bytes(sample: &HistorySample) -> Option<&[u8]> {
    // Such a sample may carry a key, which is no value.
    if !sample.info.valid_data {
        return None;
    }
    Some(sample.payload.as_ref()?.bytes())
}

/// Decodes the value of a sample. Returns `None` without data.
pub(super) fn decode_data<T: DecodeOwned>(
    sample: &HistorySample,
    ty: Option<&AnyType>,
) -> Option<Result<T, DecodeError>> {
    let bytes = data_bytes(sample)?;
    Some(T::decode_typed(bytes, ty))
}

/// Decodes a sample into an owned value.
pub(crate) fn decode_sample<T: DecodeOwned>(
    sample: &HistorySample,
    ty: Option<&AnyType>,
) -> Result<Sample<T>, DecodeError> {
    let data = decode_data(sample, ty).transpose()?;
    Ok(Sample { data, info: sample.info.clone() })
}

/// As [`decode_sample`], into an existing sample whose allocations are reused.
pub(crate) fn decode_sample_into<T: DecodeOwned>(
    sample: &HistorySample,
    into: &mut Sample<T>,
    ty: Option<&AnyType>,
) -> Result<(), DecodeError> {
    match (data_bytes(sample), &mut into.data) {
        // The old value keeps its buffers, so that strings and sequences allocate nothing.
        (Some(bytes), Some(value)) => value.decode_typed_into(bytes, ty)?,
        (Some(bytes), data @ None) => *data = Some(T::decode_typed(bytes, ty)?),
        (None, data) => *data = None,
    }
    into.info = sample.info.clone();
    Ok(())
}
