//! Event streams: which events they return, and when they end.

use crate::support::{PATIENCE, Woken, World};
use dds_core::error::WaitErrorKind;
use dds_core::qos::{DataReaderQos, DataWriterQos, PolicyId, Preset, ResourceLimits};
use dds_core::status::{Events, ReaderEvent, RejectReason, WriterEvent};
use dds_core::{DdsType, DomainParticipant, Duration};
use futures_core::Stream;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Count {
    count: u64,
}

/// Runs `body` once for each path that a sample can take.
fn on_every_way(body: impl Fn(&DomainParticipant, &DomainParticipant)) {
    let world = World::new();
    let one = world.participant();
    body(&one, &one);
    let world = World::new();
    body(&world.udp_participant(), &world.udp_participant());
}

fn next<E>(events: &Events<E>) -> E {
    events.next_event().block_for(PATIENCE).unwrap()
}

#[test]
fn event_stream_includes_earlier_matches() {
    on_every_way(|from, to| {
        let writer = from.writer::<Count>("topic").unwrap();
        let early = writer.events();
        let reader = to.reader::<Count>("topic").unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        let late = writer.events();
        for events in [&early, &late] {
            let WriterEvent::Matched(status) = next(events) else { panic!("another event") };
            assert_eq!((status.current_count, status.total_count_change), (1, 1));
            assert!(events.next_event().block_for(Duration::ZERO).is_err());
        }
        assert_eq!(writer.publication_matched().total_count_change, 1);
        let WriterEvent::Matched(_) = next(&writer.events()) else { panic!("another event") };
        drop(reader);
        let WriterEvent::Matched(status) = next(&early) else { panic!("another event") };
        assert_eq!((status.current_count, status.current_count_change), (0, -1));
    });
}

#[test]
fn unread_status_changes_are_merged() {
    let participant = World::new().participant();
    let reader = participant.reader::<Count>("topic").unwrap();
    let events = reader.events();
    for _ in 0..5 {
        let writer = participant.writer::<Count>("topic").unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    }
    let last = participant.writer::<Count>("topic").unwrap();
    last.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    let ReaderEvent::Matched(status) = next(&events) else { panic!("another event") };
    assert_eq!((status.total_count, status.total_count_change, status.current_count_change), (6, 6, 1));
    let ReaderEvent::LivelinessChanged(status) = next(&events) else { panic!("another event") };
    assert_eq!((status.alive_count, status.alive_count_change, status.not_alive_count), (1, 1, 0));
    assert!(events.next_event().block_for(Duration::ZERO).is_err());
}

#[test]
fn incompatible_qos_is_event_on_both_sides() {
    on_every_way(|from, to| {
        let reader = to.reader_builder::<Count>("topic").qos(DataReaderQos::default().reliable()).build().unwrap();
        let writer = from.writer_builder::<Count>("topic").qos(DataWriterQos::default().best_effort()).build().unwrap();
        let WriterEvent::IncompatibleQos(status) = next(&writer.events()) else { panic!("another event") };
        assert_eq!(status.last_policy_id, Some(PolicyId::Reliability));
        let ReaderEvent::IncompatibleQos(status) = next(&reader.events()) else { panic!("another event") };
        assert_eq!(status.last_policy_id, Some(PolicyId::Reliability));
    });
}

#[test]
fn rejected_sample_event_names_limit() {
    on_every_way(|from, to| {
        let mut qos = DataReaderQos::default().reliable().keep_all();
        qos.resource_limits = ResourceLimits::NONE.max_samples(2);
        let reader = to.reader_builder::<Count>("topic").qos(qos).build().unwrap();
        let writer = from.writer_builder::<Count>("topic").qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        let events = reader.events();
        let ReaderEvent::Matched(_) = next(&events) else { panic!("another event") };
        let ReaderEvent::LivelinessChanged(_) = next(&events) else { panic!("another event") };
        (0..5).for_each(|count| writer.write(&Count { count }).unwrap());
        let ReaderEvent::SampleRejected(status) = next(&events) else { panic!("another event") };
        assert_eq!(status.last_reason, Some(RejectReason::Samples));
        assert!(status.total_count_change > 0);
        assert!(reader.sample_rejected().total_count > 0);
        let taken = (0..5).map(|_| reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap().count);
        assert_eq!(taken.collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    });
}

#[test]
fn event_stream_ends_when_entity_closes() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let participant = World::new().participant();
    let writer = participant.writer::<Count>("topic").unwrap();
    let mut events = writer.events();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| writer.events().next_event().block_for(PATIENCE).unwrap_err());
        writer.close();
        assert_eq!(waiter.join().unwrap().kind(), &WaitErrorKind::Closed);
    });
    let end = runtime.block_on(std::future::poll_fn(|context| Pin::new(&mut events).poll_next(context)));
    assert_eq!(end, None);
}

/// A wait that returned an event, was dropped, or reached the end leaves no waker behind.
#[test]
fn finished_event_wait_is_not_woken() {
    let participant = World::new().participant();
    let writer = participant.writer::<Count>("topic").unwrap();
    let mut events = writer.events();
    let woken = Arc::<Woken>::default();
    let waker = || Waker::from(Arc::clone(&woken));
    let look = || (woken.news(), Arc::strong_count(&woken) > 1);
    let poll = |events: &mut Events<WriterEvent>| Pin::new(events).poll_next(&mut Context::from_waker(&waker()));
    assert!(poll(&mut events).is_pending());
    assert_eq!(look(), (0, true));
    let first = participant.reader::<Count>("topic").unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    // The thread that matches wakes this one first, and may not have woken the stream yet.
    let mut news = look().0;
    while news == 0 {
        std::thread::yield_now();
        news = look().0;
    }
    assert_eq!(news, 1);
    assert!(matches!(poll(&mut events), Poll::Ready(Some(WriterEvent::Matched(_)))));
    assert_eq!(look(), (0, false), "after the event");
    drop(first);
    // A dropped waker is not registered any more, so the unmatch wakes nothing.
    assert_eq!(look(), (0, false));
    while writer.publication_matched().current_count > 0 {
        std::thread::yield_now();
    }
    assert!(matches!(poll(&mut events), Poll::Ready(Some(WriterEvent::Matched(_)))));

    let mut wait = Box::pin(events.next_event().into_future());
    assert!(wait.as_mut().poll(&mut Context::from_waker(&waker())).is_pending());
    assert_eq!(look(), (0, true));
    drop(wait);
    assert_eq!(look(), (0, false), "after giving up");

    assert!(poll(&mut events).is_pending());
    writer.close();
    assert!(matches!(poll(&mut events), Poll::Ready(None)));
    assert_eq!(look(), (1, false), "after the end");
}
