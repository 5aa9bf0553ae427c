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
use std::task::{Context, Poll, Waker, ready};

/// Blocking iterator over the values of a reader. See [`DataReader::iter`].
pub(crate) struct Iter<'a, T> {
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

/// Stream of a reader: of values, samples or changes.
///
/// - [`DataReader::stream`] yields values: `SampleStream<T, T>`.
/// - [`DataReader::sample_stream`] yields a [`Sample`] each, with its [`SampleInfo`](crate::SampleInfo).
/// - [`DataReader::change_stream`] yields a [`Change`] each: values, and ends of instances.
///
/// ```
/// use dds_core::qos::Preset;
/// use dds_core::{Change, DdsType, DomainParticipant, InstanceState, Scope};
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
/// for x in [1.0, 2.0, 3.0] {
///     writer.write(&Pose { robot: 7, x })?;
/// }
/// writer.dispose(&7)?;
/// let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
/// runtime.block_on(async {
///     assert_eq!(reader.stream().next().await, Some(Pose { robot: 7, x: 1.0 }));
///
///     let sample = reader.sample_stream().next().await.expect("not closed");
///     assert_eq!(sample.data, Some(Pose { robot: 7, x: 2.0 }));
///     assert_eq!(sample.info.instance_state, InstanceState::NotAliveDisposed);
///
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
#[doc(alias = "DataStream")]
#[doc(alias = "ChangeStream")]
#[expect(private_bounds, reason = "sealed: the items are those of the three methods")]
pub struct SampleStream<T, I: StreamItem<T> = Sample<T>> {
    reader: DataReader<T>,
    ticket: Option<Ticket>,
    turn: Turn,
    patience: Patience,
    /// Samples that were taken and not yielded yet.
    taken: I::Taken,
}

/// An item of a stream of a reader with values of the type `T`.
pub(crate) trait StreamItem<T>: Sized {
    /// Samples that the stream has taken and not yielded yet.
    type Taken: Default;

    /// Takes the next item of an enabled reader, or registers the waker.
    fn poll_next(
        reader: &DataReader<T>,
        taken: &mut Self::Taken,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<Self, WaitErrorKind>>;
}

impl<T: DecodeOwned> StreamItem<T> for Sample<T> {
    type Taken = ();

    fn poll_next(
        reader: &DataReader<T>,
        (): &mut (),
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<Self, WaitErrorKind>> {
        // A stream that is created before `enable` waits for it, because a stream has no error.
        reader.poll_wait(Awaited::SampleOnceEnabled, ticket, waker)
    }
}

impl<T: DecodeOwned> StreamItem<T> for T {
    type Taken = ();

    fn poll_next(
        reader: &DataReader<T>,
        (): &mut (),
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<Self, WaitErrorKind>> {
        loop {
            let sample: Sample<T> = ready!(reader.poll_wait(Awaited::SampleOnceEnabled, ticket, waker))?;
            // The end of an instance has no data, and this stream is of values only.
            if let Some(data) = sample.data {
                return Poll::Ready(Ok(data));
            }
        }
    }
}

impl<T: DecodeOwned + Keyed> StreamItem<T> for Change<T> {
    type Taken = Option<IntoChanges<T>>;

    fn poll_next(
        reader: &DataReader<T>,
        taken: &mut Self::Taken,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<Self, WaitErrorKind>> {
        ready!(reader.handle().poll_enabled(ticket, waker))?;
        loop {
            if let Some(change) = taken.as_mut().and_then(Iterator::next) {
                return Poll::Ready(Ok(change));
            }
            let batch = match reader.take() {
                Ok(batch) => batch,
                Err(error) => return Poll::Ready(Err(wait_error(error.kind()))),
            };
            if batch.is_empty() {
                *taken = None;
                // Ready means that data arrived after the take. Try again.
                ready!(reader.handle().poll_awaited(Awaited::Sample, ticket, waker))?;
            } else {
                *taken = Some(IntoChanges::new(batch));
            }
        }
    }
}

#[expect(private_bounds, reason = "sealed: the items are those of the three methods")]
impl<T, I: StreamItem<T>> SampleStream<T, I> {
    pub(crate) fn new(reader: DataReader<T>) -> Self {
        let (turn, patience) = (Turn::default(), Patience::default());
        Self { reader, ticket: None, turn, patience, taken: I::Taken::default() }
    }

    /// Waits for the next item. `None` once the reader is closed.
    ///
    /// A dropped wait loses nothing. Outside of async code, use [`DataReader::iter`], [`DataReader::next_sample`] or
    /// [`Samples::into_changes`](crate::Samples::into_changes).
    pub async fn next(&mut self) -> Option<I> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl<T, I: StreamItem<T>> Stream for SampleStream<T, I> {
    type Item = I;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<I>> {
        let this = &mut *self;
        let (reader, ticket, taken) = (&this.reader, &mut this.ticket, &mut this.taken);
        let endpoint = &**reader.handle();
        WaitSource::<()>::driver(endpoint).attend();
        let polled = this.turn.poll(context, |context| I::poll_next(reader, taken, ticket, context.waker()));
        if polled.is_pending() {
            this.patience.poll::<()>(endpoint, Awaited::SampleOnceEnabled, context);
        }
        // The only error is a closed reader, which ends the stream.
        polled.map(Result::ok)
    }
}

impl<T, I: StreamItem<T>> Drop for SampleStream<T, I> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.reader.handle().abandon_wait(Awaited::SampleOnceEnabled, ticket);
        }
    }
}

impl<T, I: StreamItem<T>> Unpin for SampleStream<T, I> {}

impl<T, I: StreamItem<T>> fmt::Debug for SampleStream<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SampleStream").field(&self.reader).finish()
    }
}
