//! Many readers that are waited for together, as a merged stream or by a WaitSet: what a sample of one of them costs.

use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{
    CreateError, DataReader, DataWriter, DomainParticipant, ReadCondition, SampleStream, Scope, States, WaitSet,
};
use futures_util::stream::{SelectAll, StreamExt, select_all};
use std::hint::black_box;
use std::task::{Context, Poll, Waker};

use crate::pair::Small;

/// Apart from the domains of the others.
const DOMAIN_ID: u32 = 63;

/// Polls until a sample has come: a merged stream may come back once for each of its parts, to leave others their turn.
const POLLS_MAX: usize = 100_000;

/// A WaitSet without conditions, the writer of the first reader, and the readers.
type Among = (WaitSet, DataWriter<Small>, Vec<DataReader<Small>>);

/// The readers, each of a topic of its own, the writer of the first one, and a WaitSet of their participant without conditions.
fn readers(count: usize) -> Result<Among, CreateError> {
    let participant = DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).build()?;
    let qos = DataReaderQos::default().keep_last(1).best_effort();
    let reader = |number| participant.reader_builder::<Small>(&format!("{number}")).qos(qos.clone()).build();
    let readers = (0..count).map(reader).collect::<Result<Vec<_>, _>>()?;
    let qos = DataWriterQos::default().keep_last(1).best_effort();
    let writer = participant.writer_builder::<Small>("0").qos(qos).build()?;
    let limit = std::time::Duration::from_secs(10);
    writer.wait_for_readers(1).block_for(limit).expect("they meet in their participant");
    Ok((WaitSet::new(&participant), writer, readers))
}

/// Streams of so many readers, merged. One of them gets samples.
#[derive(Debug)]
pub struct Merged {
    writer: DataWriter<Small>,
    samples: SelectAll<SampleStream<Small>>,
}

impl Merged {
    /// Makes the readers in one participant. Each has been polled once.
    ///
    /// # Errors
    ///
    /// If an entity cannot be made.
    ///
    /// # Panics
    ///
    /// If writer and reader do not meet within 10 s.
    pub fn new(readers: usize) -> Result<Self, CreateError> {
        let (_, writer, all) = self::readers(readers)?;
        let mut merged = Self { writer, samples: select_all(all.into_iter().map(|reader| reader.sample_stream())) };
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..4 {
            assert!(merged.samples.poll_next_unpin(&mut context).is_pending(), "nothing has been written");
        }
        Ok(merged)
    }

    /// Writes a sample and polls until it is there, and until there is nothing else.
    ///
    /// # Panics
    ///
    /// If it cannot be written or does not arrive.
    pub fn pass(&mut self) {
        self.writer.write(&Small::default()).expect("there is room");
        let mut context = Context::from_waker(Waker::noop());
        let mut poll = || self.samples.poll_next_unpin(&mut context);
        let arrived = (0..POLLS_MAX).any(|_| matches!(black_box(poll()), Poll::Ready(Some(_))));
        assert!(arrived, "the sample arrives");
        assert!(poll().is_pending(), "there is one");
    }
}

/// A WaitSet with a condition of each of so many readers. One of them gets samples.
#[derive(Debug)]
pub struct Waited {
    writer: DataWriter<Small>,
    readers: Vec<DataReader<Small>>,
    conditions: Vec<ReadCondition>,
    set: WaitSet,
}

impl Waited {
    /// Makes the readers in one participant.
    ///
    /// # Errors
    ///
    /// If an entity cannot be made.
    ///
    /// # Panics
    ///
    /// If writer and reader do not meet within 10 s.
    pub fn new(readers: usize) -> Result<Self, CreateError> {
        let (set, writer, readers) = self::readers(readers)?;
        let conditions: Vec<_> = readers.iter().map(|reader| reader.read_condition(States::NOT_READ)).collect();
        conditions.iter().for_each(|condition| set.attach(condition));
        Ok(Self { writer, readers, conditions, set })
    }

    /// Writes a sample, waits for its condition, and takes it.
    ///
    /// # Panics
    ///
    /// If it cannot be written or does not arrive.
    pub fn pass(&mut self) {
        self.writer.write(&Small::default()).expect("there is room");
        let active = self.set.wait().block().expect("it is triggered");
        assert!(active.len() == 1 && active.contains(&self.conditions[0]), "one has a sample");
        assert!(self.readers[0].take_next().expect("open").is_some(), "the sample is there");
    }
}
