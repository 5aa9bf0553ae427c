//! Cost of a sample while the program waits for many readers, in a merged stream or by a WaitSet.

use dds_core::condition::ReadCondition;
use dds_core::condition::WaitSet;
use dds_core::error::CreateError;
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::reader::SampleStream;
use dds_core::reader::States;
use dds_core::{DataReader, DataWriter, DomainParticipant, Scope};
use futures_util::stream::{SelectAll, StreamExt, select_all};
use std::hint::black_box;
use std::task::{Context, Poll, Waker};

use crate::pair::Small;

/// No other bench uses this domain.
const DOMAIN_ID: u32 = 63;

/// Most polls for a sample. A merged stream may return `Pending` once for each part, to be fair to other tasks.
const POLLS_MAX: usize = 100_000;

/// A WaitSet without conditions, the writer of the first reader, and the readers.
type Among = (WaitSet, DataWriter<Small>, Vec<DataReader<Small>>);

/// Creates `count` readers of different topics, a writer for the first one, and an empty WaitSet.
fn readers(count: usize) -> Result<Among, CreateError> {
    let participant = DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).build()?;
    let qos = DataReaderQos::default().keep_last(1).best_effort();
    let reader = |number| participant.reader_builder::<Small>(&format!("{number}")).qos(qos.clone()).build();
    let readers = (0..count).map(reader).collect::<Result<Vec<_>, _>>()?;
    let qos = DataWriterQos::default().keep_last(1).best_effort();
    let writer = participant.writer_builder::<Small>("0").qos(qos).build()?;
    let limit = std::time::Duration::from_secs(10);
    writer.wait_for_readers(1).block_for(limit).expect("endpoints of one participant match");
    Ok((WaitSet::new(&participant), writer, readers))
}

/// Merged streams of many readers. One reader receives samples.
#[derive(Debug)]
pub struct Merged {
    writer: DataWriter<Small>,
    samples: SelectAll<SampleStream<Small>>,
}

impl Merged {
    /// Creates the readers in one participant and polls each stream once.
    ///
    /// # Errors
    ///
    /// Returns an error if an entity cannot be created.
    ///
    /// # Panics
    ///
    /// Panics if writer and reader do not match within 10 s.
    pub fn new(readers: usize) -> Result<Self, CreateError> {
        let (_, writer, all) = self::readers(readers)?;
        let mut merged = Self { writer, samples: select_all(all.into_iter().map(|reader| reader.sample_stream())) };
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..4 {
            assert!(merged.samples.poll_next_unpin(&mut context).is_pending(), "nothing has been written");
        }
        Ok(merged)
    }

    /// Writes a sample, polls until it arrives, then polls until the stream is pending.
    ///
    /// # Panics
    ///
    /// Panics if the sample cannot be written or does not arrive.
    pub fn pass(&mut self) {
        self.writer.write(&Small::default()).expect("KEEP_LAST has room");
        let mut context = Context::from_waker(Waker::noop());
        let mut poll = || self.samples.poll_next_unpin(&mut context);
        let arrived = (0..POLLS_MAX).any(|_| matches!(black_box(poll()), Poll::Ready(Some(_))));
        assert!(arrived, "the sample arrives");
        assert!(poll().is_pending(), "there is one");
    }
}

/// A WaitSet with a condition of each of many readers. One reader receives samples.
#[derive(Debug)]
pub struct Waited {
    writer: DataWriter<Small>,
    readers: Vec<DataReader<Small>>,
    conditions: Vec<ReadCondition>,
    set: WaitSet,
}

impl Waited {
    /// Creates the readers in one participant.
    ///
    /// # Errors
    ///
    /// Returns an error if an entity cannot be created.
    ///
    /// # Panics
    ///
    /// Panics if writer and reader do not match within 10 s.
    pub fn new(readers: usize) -> Result<Self, CreateError> {
        let (set, writer, readers) = self::readers(readers)?;
        let conditions: Vec<_> = readers.iter().map(|reader| reader.read_condition(States::NOT_READ)).collect();
        for condition in &conditions {
            set.attach(condition);
        }
        Ok(Self { writer, readers, conditions, set })
    }

    /// Writes a sample, waits for its condition, and takes it.
    ///
    /// # Panics
    ///
    /// Panics if the sample cannot be written or does not arrive.
    pub fn pass(&mut self) {
        self.writer.write(&Small::default()).expect("KEEP_LAST has room");
        let active = self.set.wait().block().expect("it is triggered");
        assert!(active.len() == 1 && active.contains(&self.conditions[0]), "one has a sample");
        assert!(self.readers[0].take_next().expect("open").is_some(), "the sample is there");
    }
}
