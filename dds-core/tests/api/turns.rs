//! Fairness in an executor: a flooded reader yields to other tasks, and one reader among many costs as much as one
//! alone.
//!
//! These tests count turns and polls. They measure no time.

use crate::support::{Woken, World};
use dds_core::qos::Preset;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant};
use futures_core::Stream;
use futures_util::StreamExt;
use futures_util::stream::select_all;
use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use tokio::runtime::Builder;
use tokio::task::{LocalSet, yield_now};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Count {
    count: u64,
}

/// Samples of a flood.
const FLOOD: u64 = 4_000;

/// Operations that tokio permits a task in one turn.
const TURN_MAX: u64 = 128;

fn pair(participant: &DomainParticipant, topic: &str) -> (DataWriter<Count>, DataReader<Count>) {
    let reader = participant.reader_builder::<Count>(topic).qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Count>(topic).qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(crate::support::PATIENCE).unwrap();
    (writer, reader)
}

/// Creates a reader in which a whole flood waits.
fn flooded(participant: &DomainParticipant) -> DataReader<Count> {
    let (writer, reader) = pair(participant, "flood");
    (0..FLOOD).for_each(|count| writer.write(&Count { count }).unwrap());
    reader
}

/// Runs `flood` beside a task that only takes turns. Returns the turns of that task.
fn turns_beside(flood: impl AsyncFnOnce() + 'static) -> u64 {
    let (turns, ended) = (Cell::new(0), Cell::new(false));
    let others = async {
        while !ended.get() {
            turns.set(turns.get() + 1);
            yield_now().await;
        }
    };
    let flooded = async {
        // A separate task with its own budget.
        tokio::task::spawn_local(async move { flood().await }).await.unwrap();
        ended.set(true);
    };
    let runtime = Builder::new_current_thread().build().unwrap();
    LocalSet::new().block_on(&runtime, async { futures_util::future::join(flooded, others).await });
    turns.get()
}

#[test]
fn flooded_stream_yields_to_other_tasks() {
    let participant = World::new().participant();
    let reader = flooded(&participant);
    let turns = turns_beside(async move || {
        let mut samples = reader.stream();
        for count in 0..FLOOD {
            assert_eq!(samples.next().await, Some(Count { count }));
        }
    });
    assert!(turns >= FLOOD / TURN_MAX, "{turns} turns beside {FLOOD} samples");
}

#[test]
fn flooded_wait_yields_to_other_tasks() {
    let participant = World::new().participant();
    let reader = flooded(&participant);
    let turns = turns_beside(async move || {
        for count in 0..FLOOD {
            assert_eq!(reader.next_sample().await.unwrap().data, Some(Count { count }));
        }
    });
    assert!(turns >= FLOOD / TURN_MAX, "{turns} turns beside {FLOOD} samples");
}

#[test]
fn flooded_stream_yields_without_tokio_budget() {
    let participant = World::new().participant();
    let mut samples = flooded(&participant).stream();
    let woken = Arc::<Woken>::default();
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    let (mut received, mut in_a_row) = (0, 0);
    while received < FLOOD {
        match Pin::new(&mut samples).poll_next(&mut context) {
            Poll::Ready(sample) => {
                assert_eq!(sample, Some(Count { count: received }));
                (received, in_a_row) = (received + 1, in_a_row + 1);
                assert!(in_a_row <= 2 * TURN_MAX, "{in_a_row} without a pause");
            }
            Poll::Pending => {
                assert_eq!(woken.news(), 1, "a pausing stream wakes its own task");
                in_a_row = 0;
            }
        }
    }
}

/// A stream that counts its polls.
struct Counted<S>(S, Arc<AtomicU64>);

impl<S: Stream + Unpin> Stream for Counted<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Pin::new(&mut self.0).poll_next(context)
    }
}

/// Returns the polls of all `readers` merged streams for a hundred successive samples of one of them.
fn polls_among(readers: usize) -> u64 {
    let participant = World::new().participant();
    let (writer, reader) = pair(&participant, "merged");
    let polls = Arc::<AtomicU64>::default();
    let quiet = |number| participant.reader::<Count>(&format!("quiet {number}")).unwrap();
    let all = std::iter::once(reader).chain((1..readers).map(quiet));
    let mut merged = select_all(all.map(|reader| Counted(reader.stream(), Arc::clone(&polls))));
    Builder::new_current_thread().build().unwrap().block_on(async {
        // The merged stream polls each new stream once.
        writer.write(&Count { count: 0 }).unwrap();
        assert_eq!(merged.next().await, Some(Count { count: 0 }));
        let waker = Waker::noop();
        assert!(merged.poll_next_unpin(&mut Context::from_waker(waker)).is_pending());
        let before = polls.load(Ordering::Relaxed);
        for count in 1..=100 {
            writer.write(&Count { count }).unwrap();
            assert_eq!(merged.next().await, Some(Count { count }));
        }
        polls.load(Ordering::Relaxed) - before
    })
}

#[test]
fn merged_stream_polls_only_ready_streams() {
    let alone = polls_among(1);
    assert_eq!(polls_among(100), alone);
    assert_eq!(polls_among(500), alone);
}
