//! Iterator and streams over the samples of a reader.

use crate::actor::Ticket;
use crate::infrastructure::{Awaited, Patience, Turn, WaitErrorKind, WaitSource, Waiting};
use crate::subscription::change::IntoChanges;
use crate::subscription::reader_handle::wait_error;
use crate::subscription::{Change, DataReader, Sample};
use dds_rtps::cdr::{DecodeOwned, Keyed};
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Blocking iterator over the values of a reader. See [`DataReader::iter`].
pub struct Iter<'a, T> {
    reader: &'a DataReader<T>,
}

impl<'a, T> Iter<'a, T> {
    pub(crate) fn new(reader: &'a DataReader<T>) -> Self {
        Self { reader }
    }
}

impl<T: DecodeOwned> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        loop {
            // The only errors are a closed reader and a thread that must not wait. Both end the iteration.
            let next = Waiting::<Sample<T>>::new(self.reader, Awaited::SampleOnceEnabled);
            if let Some(data) = next.block().ok()?.data {
                return Some(data);
            }
        }
    }
}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Iter").field(self.reader).finish()
    }
}

/// Stream of the samples of a reader. See [`DataReader::sample_stream`].
///
/// ```
/// use dds_core::qos::Preset;
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
/// let reader = participant.reader_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
/// let writer = participant.writer_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
/// writer.wait_for_readers(1).block()?;
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
/// runtime.block_on(async {
///     let mut samples = reader.sample_stream();
///     let sample = samples.next().await.expect("not closed");
///     assert_eq!(sample.data.map(|pose| pose.x), Some(1.0));
///     assert_eq!(sample.info.instance_state, InstanceState::Alive);
/// });
/// # Ok(())
/// # }
/// ```
pub struct SampleStream<T> {
    reader: DataReader<T>,
    ticket: Option<Ticket>,
    turn: Turn,
    patience: Patience,
}

impl<T> SampleStream<T> {
    pub(crate) fn new(reader: DataReader<T>) -> Self {
        Self { reader, ticket: None, turn: Turn::default(), patience: Patience::default() }
    }

    /// Waits for the next sample. `None` once the reader is closed.
    ///
    /// A dropped wait loses nothing. Outside of async code, use [`DataReader::next_sample`].
    pub async fn next(&mut self) -> Option<Sample<T>>
    where
        T: DecodeOwned,
    {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl<T: DecodeOwned> Stream for SampleStream<T> {
    type Item = Sample<T>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Sample<T>>> {
        let this = &mut *self;
        let (reader, ticket) = (&this.reader, &mut this.ticket);
        WaitSource::<Sample<T>>::driver(reader).attend();
        // The only error is a closed reader, which ends the stream.
        let awaited = Awaited::SampleOnceEnabled;
        let polled = this.turn.poll(context, |context| reader.poll_wait(awaited, ticket, context.waker()));
        if polled.is_pending() {
            this.patience.poll::<Sample<T>>(reader, awaited, context);
        }
        polled.map(Result::ok)
    }
}

impl<T> Drop for SampleStream<T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.reader.handle().abandon_wait(Awaited::SampleOnceEnabled, ticket);
        }
    }
}

impl<T> fmt::Debug for SampleStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SampleStream").field(&self.reader).finish()
    }
}

/// Stream of the values of a reader. See [`DataReader::stream`].
///
/// ```
/// use dds_core::qos::Preset;
/// use dds_core::{DdsType, DomainParticipant, Scope};
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
/// let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
/// runtime.block_on(async {
///     let mut poses = reader.stream();
///     assert_eq!(poses.next().await, Some(Pose { robot: 7, x: 1.0 }));
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DataStream<T> {
    samples: SampleStream<T>,
}

impl<T> DataStream<T> {
    pub(crate) fn new(samples: SampleStream<T>) -> Self {
        Self { samples }
    }

    /// Waits for the next value. `None` once the reader is closed.
    ///
    /// A dropped wait loses nothing. Outside of async code, use [`DataReader::iter`].
    pub async fn next(&mut self) -> Option<T>
    where
        T: DecodeOwned,
    {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl<T: DecodeOwned> Stream for DataStream<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        loop {
            match Pin::new(&mut self.samples).poll_next(context) {
                Poll::Ready(Some(Sample { data: Some(data), .. })) => return Poll::Ready(Some(data)),
                Poll::Ready(Some(_)) => {}
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// Stream of the changes of a reader's instances. See [`DataReader::change_stream`].
///
/// ```
/// use dds_core::qos::Preset;
/// use dds_core::{Change, DdsType, DomainParticipant, Scope};
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
/// let reader = participant.reader_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
/// let writer = participant.writer_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
/// writer.wait_for_readers(1).block()?;
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// writer.dispose(&7)?;
/// let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
/// runtime.block_on(async {
///     let mut changes = reader.change_stream();
///     while let Some(change) = changes.next().await {
///         match change {
///             Change::Data(pose) => println!("robot {} is at {}", pose.robot, pose.x),
///             Change::Disposed(robot) => {
///                 println!("robot {robot} is gone");
///                 break;
///             }
///             _ => {}
///         }
///     }
/// });
/// # Ok(())
/// # }
/// ```
pub struct ChangeStream<T: Keyed> {
    reader: DataReader<T>,
    ticket: Option<Ticket>,
    turn: Turn,
    patience: Patience,
    /// Changes that were taken and not yielded yet.
    taken: Option<IntoChanges<T>>,
}

impl<T: DecodeOwned + Keyed> ChangeStream<T> {
    pub(crate) fn new(reader: DataReader<T>) -> Self {
        Self { reader, ticket: None, turn: Turn::default(), patience: Patience::default(), taken: None }
    }

    /// Waits for the next change. `None` once the reader is closed.
    ///
    /// A dropped wait loses nothing. Outside of async code, use
    /// [`Samples::into_changes`](crate::Samples::into_changes).
    pub async fn next(&mut self) -> Option<Change<T>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl<T: DecodeOwned + Keyed> Stream for ChangeStream<T> {
    type Item = Change<T>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Change<T>>> {
        let this = &mut *self;
        let (reader, ticket, taken) = (&this.reader, &mut this.ticket, &mut this.taken);
        WaitSource::<Sample<T>>::driver(reader).attend();
        let polled = this.turn.poll(context, |context| {
            ready!(reader.handle().poll_enabled(ticket, context.waker()))?;
            loop {
                if let Some(change) = taken.as_mut().and_then(Iterator::next) {
                    return Poll::Ready(Ok(change));
                }
                let batch = reader.take().map_err(|error| wait_error(error.kind()))?;
                if batch.is_empty() {
                    *taken = None;
                    // Ready means that data arrived after the take. Try again.
                    ready!(reader.handle().poll_awaited(Awaited::Sample, ticket, context.waker()))?;
                } else {
                    *taken = Some(IntoChanges::new(batch));
                }
            }
        });
        if polled.is_pending() {
            this.patience.poll::<Sample<T>>(reader, Awaited::SampleOnceEnabled, context);
        }
        // The only error is a closed reader, which ends the stream.
        polled.map(|change: Result<Change<T>, WaitErrorKind>| change.ok())
    }
}

impl<T: Keyed> Drop for ChangeStream<T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.reader.handle().abandon_wait(Awaited::SampleOnceEnabled, ticket);
        }
    }
}

impl<T: Keyed> Unpin for ChangeStream<T> {}

impl<T: Keyed> fmt::Debug for ChangeStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChangeStream").field(&self.reader).finish()
    }
}
