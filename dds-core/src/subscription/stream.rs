//! Iterator and streams over the samples of a reader.

use crate::actor::Ticket;
use crate::cdr::DecodeOwned;
use crate::infrastructure::{Awaited, Turn, WaitSource, Waiting};
use crate::subscription::{DataReader, Sample};
use futures_core::Stream;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

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
/// use dds_core::{DdsType, DomainParticipant, InstanceState, Scope, Stream};
/// use std::future::poll_fn;
/// use std::pin::pin;
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
///     let mut samples = pin!(reader.sample_stream());
///     // With `StreamExt` of a crate of your choice: `samples.next().await`.
///     let sample = poll_fn(|context| samples.as_mut().poll_next(context)).await.expect("not closed");
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
}

impl<T> SampleStream<T> {
    pub(crate) fn new(reader: DataReader<T>) -> Self {
        Self { reader, ticket: None, turn: Turn::default() }
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
/// use dds_core::{DdsType, DomainParticipant, Scope, Stream};
/// use std::future::poll_fn;
/// use std::pin::pin;
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
///     let mut poses = pin!(reader.stream());
///     // With `StreamExt` of a crate of your choice: `poses.next().await`.
///     let pose = poll_fn(|context| poses.as_mut().poll_next(context)).await;
///     assert_eq!(pose, Some(Pose { robot: 7, x: 1.0 }));
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
