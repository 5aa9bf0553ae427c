//! The ways in which an application receives samples, all with the same handler.
//!
//! - In: samples of one reader.
//! - Out: calls of [`OnLoad::on_load`], from one thread at a time: a thread of the library or one that is started here.
//!
//! After the start this code does not allocate or lock. All cost is that of the library.

use crate::perf::clock;
use crate::perf::load::{Load, LoadView};
use crate::perf::{Failure, Result};
use clap::ValueEnum;
use dds_core::condition::WaitSet;
use dds_core::listener::Delivery;
use dds_core::qos::DataReaderQos;
use dds_core::reader::States;
use dds_core::{DataReader, DomainParticipant};
use futures_util::Stream;
use serde::{Deserialize, Serialize};
use std::future::poll_fn;
use std::pin::Pin;
use std::thread::JoinHandle;

/// How samples are received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiveMode {
    /// A listener on the receive thread.
    Inline,
    /// A listener on the event thread.
    Event,
    /// A thread that blocks on the reader.
    Wait,
    /// A thread that blocks on a WaitSet with a ReadCondition.
    WaitSet,
    /// A task that awaits the reader.
    Async,
    /// A task that takes owned samples from a stream.
    Stream,
}

/// Handler of received samples.
pub trait OnLoad: Send + 'static {
    /// Called for each sample. `now` is the time of its `take`, in nanoseconds of the monotonic clock.
    fn on_load(&mut self, load: &LoadView<'_>, now: u64);
}

/// A reader and its receiving thread. Dropping it closes the reader and ends the thread.
pub struct Receiver {
    reader: DataReader<Load>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    /// Creates a reader that passes its samples to `handler`.
    ///
    /// # Errors
    ///
    /// Returns an error if the reader or a thread cannot be created.
    pub fn new(
        participant: &DomainParticipant,
        topic: &str,
        qos: DataReaderQos,
        mode: ReceiveMode,
        mut handler: impl OnLoad,
    ) -> Result<Self> {
        let builder = participant.reader_builder::<Load>(topic).qos(qos);
        let delivery = match mode {
            ReceiveMode::Inline => Some(Delivery::Inline),
            ReceiveMode::Event => Some(Delivery::EventThread),
            _ => None,
        };
        if let Some(delivery) = delivery {
            let listener = move |reader: &DataReader<Load>| drop(take(reader, &mut handler));
            let reader = builder.delivery(delivery).on_data(listener).build()?;
            return Ok(Self { reader, thread: None });
        }
        let reader = builder.build()?;
        let (own, participant) = (reader.clone(), participant.clone());
        let thread = std::thread::Builder::new().name("perf-receive".into()).spawn(move || match mode {
            ReceiveMode::WaitSet => by_wait_set(&participant, &own, handler),
            ReceiveMode::Async => in_runtime(by_await(&own, handler)),
            ReceiveMode::Stream => in_runtime(by_stream(&own, handler)),
            _ => by_wait(&own, handler),
        });
        let thread = thread.map_err(|error| Failure::new(format!("no thread to receive on: {error}")))?;
        Ok(Self { reader, thread: Some(thread) })
    }

    /// The reader.
    #[must_use]
    pub fn reader(&self) -> &DataReader<Load> {
        &self.reader
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.reader.close();
        if let Some(thread) = self.thread.take() {
            // A panicking thread has printed its message.
            let _ = thread.join();
        }
    }
}

/// Passes all available samples to the handler. Fails if the reader is closed.
fn take(reader: &DataReader<Load>, handler: &mut impl OnLoad) -> std::result::Result<(), dds_core::error::ReadError> {
    let samples = reader.take()?;
    let now = clock::now();
    for sample in samples.iter() {
        // A sample that does not decode counts as lost.
        if let Some(Ok(load)) = sample.view::<LoadView<'_>>() {
            handler.on_load(&load, now);
        }
    }
    Ok(())
}

fn by_wait(reader: &DataReader<Load>, mut handler: impl OnLoad) {
    while reader.readable().block().is_ok() && take(reader, &mut handler).is_ok() {}
}

fn by_wait_set(participant: &DomainParticipant, reader: &DataReader<Load>, mut handler: impl OnLoad) {
    let wait_set = WaitSet::new(participant);
    let fresh = reader.read_condition(States::NOT_READ);
    wait_set.attach(&fresh);
    while wait_set.wait().block().is_ok() && take(reader, &mut handler).is_ok() {}
}

async fn by_await(reader: &DataReader<Load>, mut handler: impl OnLoad) {
    while reader.readable().await.is_ok() && take(reader, &mut handler).is_ok() {}
}

async fn by_stream(reader: &DataReader<Load>, mut handler: impl OnLoad) {
    let mut stream = reader.sample_stream();
    while let Some(sample) = poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await {
        let now = clock::now();
        if let Some(Load { sequence, due, source, bytes }) = &sample.data {
            handler.on_load(&LoadView { sequence: *sequence, due: *due, source: *source, bytes }, now);
        }
    }
}

/// Runs a task in a single-threaded tokio runtime.
fn in_runtime(task: impl Future<Output = ()>) {
    match tokio::runtime::Builder::new_current_thread().build() {
        Ok(runtime) => runtime.block_on(task),
        Err(error) => eprintln!("perf: cannot create a runtime to receive in: {error}"),
    }
}
