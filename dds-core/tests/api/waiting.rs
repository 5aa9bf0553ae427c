//! Waiting, listeners and closing: which calls wake up, which are refused, and which end.

use crate::support::{PATIENCE, World};
use dds_core::condition::GuardCondition;
use dds_core::condition::WaitSet;
use dds_core::error::{Missing, ReadErrorKind, WaitErrorKind, WriteErrorKind};
use dds_core::listener::Delivery;
use dds_core::qos::{DataReaderQos, DataWriterQos, PolicyId, Preset, ResourceLimits};
use dds_core::status::{ReaderEvent, WriterEvent};
use dds_core::{DdsType, Duration, Waiting};
use std::future::IntoFuture;
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Waker};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Count {
    count: u64,
}

#[test]
fn wait_without_peer_ends_at_timeout() {
    let participant = World::new().participant();
    let writer = participant.writer::<Count>("alone").unwrap();
    let error = writer.wait_for_readers(1).block_for(Duration::from_millis(10)).unwrap_err();
    assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }));
    assert!(error.to_string().contains("alone"), "{error}");
    // Too short to look for the reason.
    assert!(error.to_string().contains("from a limit of 100 ms on"), "{error}");
}

/// Returns the error of a wait, which fails as it should: with this text.
fn timeout_says<T: std::fmt::Debug>(wait: Waiting<'_, T>, limit: Duration, text: &str) {
    let error = wait.block_for(limit).unwrap_err();
    assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }), "{error}");
    let start = format!("within {limit}: ");
    let said = error.to_string();
    assert!(said.contains(&text.replace("within: ", &start)), "{said}\nlacks {text}");
}

#[cfg(feature = "dynamic")]
#[test]
fn timeout_of_type_search_counts_endpoints_without_description() {
    let participant = World::new().participant();
    let moment = Duration::from_millis(5);
    timeout_says(participant.discover_type_objects("none"), moment, "no description of the type within: no other");
    let raw = participant.raw_topic("raw", "Raw", Default::default()).unwrap();
    let _raw = participant.writer(&raw).unwrap();
    timeout_says(participant.discover_type_objects("raw"), moment, "within: 1 endpoint of the topic, without");
}

/// A loop with short limits names the awaited event as well.
#[test]
fn short_timeout_names_event_limit_and_what_there_is() {
    let participant = World::new().participant();
    let (moment, longer) = (Duration::from_millis(5), Duration::from_millis(120));
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = participant.writer_builder::<Count>("topic").qos(qos).build().unwrap();
    timeout_says(writer.wait_for_readers(2), moment, "no matches within: 0 of 2 endpoints matched; wait longer");
    timeout_says(writer.wait_for_readers(2), longer, "no matches within: no other participant was discovered");
    timeout_says(participant.find_topic::<Count>("none"), moment, "no topic of this type within: no other");

    let reader = participant.reader_builder::<Count>("topic").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    timeout_says(writer.wait_for_readers(2), moment, "no matches within: 1 of 2 endpoints matched; start the other");
    writer.write(&Count { count: 1 }).unwrap();
    reader.next_sample().block_for(PATIENCE).unwrap();
    for limit in [moment, longer] {
        let text = "no sample within: 1 writer matched, and the reader has received 1 sample since its creation";
        timeout_says(reader.next_sample(), limit, text);
        timeout_says(reader.readable(), limit, text);
    }
    timeout_says(reader.closed(), moment, "no end within: it did not occur; wait longer");
    let set = WaitSet::new(&participant);
    timeout_says(set.wait(), moment, "no triggered condition within: 0 conditions attached; attach a condition");
    set.attach(&GuardCondition::new());
    timeout_says(set.wait(), moment, "no triggered condition within: 1 condition attached; check");
    let topic = participant.topic::<Count>("other", None).unwrap();
    let events = topic.events();
    timeout_says(events.next_event(), moment, "no event within: it did not occur");
}

#[test]
fn blocked_wait_ends_when_entity_closes() {
    let participant = World::new().participant();
    let reader = participant.reader::<Count>("topic").unwrap();
    let other = reader.clone();
    let error = std::thread::scope(|scope| {
        let waiter = scope.spawn(move || other.next_sample().block_for(PATIENCE).map(|_| ()));
        reader.close();
        waiter.join().unwrap().unwrap_err()
    });
    assert_eq!(error.kind(), &WaitErrorKind::Closed);
    assert_eq!(reader.take().unwrap_err().kind(), &ReadErrorKind::Closed);
    assert!(reader.iter().next().is_none());
}

#[test]
fn closing_participant_ends_endpoint_waits() {
    let participant = World::new().participant();
    let reader = participant.reader::<Count>("topic").unwrap();
    let writer = participant.writer::<Count>("other").unwrap();
    let (read, wrote) = std::thread::scope(|scope| {
        let at_reader = scope.spawn(|| reader.next_sample().block_for(PATIENCE).map(|_| ()));
        let at_writer = scope.spawn(|| writer.wait_for_readers(1).block_for(PATIENCE));
        participant.close();
        (at_reader.join().unwrap(), at_writer.join().unwrap())
    });
    assert_eq!(read.unwrap_err().kind(), &WaitErrorKind::Closed);
    assert_eq!(wrote.unwrap_err().kind(), &WaitErrorKind::Closed);
    assert_eq!(writer.write(&Count { count: 1 }).unwrap_err().kind(), &WriteErrorKind::Closed);
}

#[test]
fn inline_listener_runs_before_write_returns() {
    let participant = World::new().participant();
    let (send, receive) = mpsc::channel();
    let _reader = participant
        .reader_builder::<Count>("topic")
        .delivery(Delivery::Inline)
        .on_sample(move |sample| send.send(sample.data).unwrap())
        .build()
        .unwrap();
    let writer = participant.writer::<Count>("topic").unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    for count in 0..10 {
        writer.write(&Count { count }).unwrap();
        assert_eq!(receive.try_recv().unwrap(), Some(Count { count }));
    }
}

#[test]
fn event_thread_listener_receives_everything() {
    let participant = World::new().participant();
    let (send, receive) = mpsc::channel();
    let thread = std::thread::current().id();
    let _reader = participant
        .reader_builder::<Count>("topic")
        .qos(Preset::Event)
        .on_sample(move |sample| {
            assert_ne!(std::thread::current().id(), thread);
            send.send(sample.data.unwrap().count).unwrap();
        })
        .build()
        .unwrap();
    let writer = participant.writer_builder::<Count>("topic").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    (0..100).for_each(|count| writer.write(&Count { count }).unwrap());
    let told: Vec<u64> = (0..100).map(|_| receive.recv_timeout(PATIENCE.to_std().unwrap()).unwrap()).collect();
    assert_eq!(told, (0..100).collect::<Vec<_>>());
}

#[test]
fn panicking_listener_is_detached() {
    let participant = World::new().participant();
    let reader = participant
        .reader_builder::<Count>("topic")
        .delivery(Delivery::Inline)
        .on_data(|_| panic!("on purpose"))
        .build()
        .unwrap();
    let writer = participant.writer::<Count>("topic").unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    writer.write(&Count { count: 1 }).unwrap();
    writer.write(&Count { count: 2 }).unwrap();
    assert_eq!(reader.take_next().unwrap().and_then(|sample| sample.data), Some(Count { count: 2 }));
}

#[test]
fn inline_listener_may_write_but_not_wait() {
    let participant = World::new().participant();
    let answers = participant.writer::<Count>("answers").unwrap();
    let listener = participant.reader::<Count>("answers").unwrap();
    answers.wait_for_readers(1).block_for(PATIENCE).unwrap();
    let (send, receive) = mpsc::channel();
    let reader = participant
        .reader_builder::<Count>("topic")
        .delivery(Delivery::Inline)
        .on_data(move |reader| {
            send.send(reader.next_sample().block().unwrap_err()).unwrap();
            answers.write(&Count { count: 42 }).unwrap();
            reader.close();
        })
        .build()
        .unwrap();
    let writer = participant.writer::<Count>("topic").unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    writer.write(&Count { count: 1 }).unwrap();
    assert_eq!(receive.recv().unwrap().kind(), &WaitErrorKind::InListener);
    assert_eq!(listener.take_next().unwrap().and_then(|sample| sample.data), Some(Count { count: 42 }));
    assert!(reader.is_closed());
}

#[test]
fn full_history_blocks_write_until_take() {
    let world = World::new();
    let participant = world.participant();
    let limits = ResourceLimits::NONE.max_samples(4);
    let mut writer_qos = DataWriterQos::default().keep_all();
    writer_qos.resource_limits = limits;
    writer_qos.reliability = dds_core::qos::Reliability::Reliable { max_blocking_time: Duration::from_millis(20) };
    let mut reader_qos = DataReaderQos::default().reliable().keep_all();
    reader_qos.resource_limits = limits;
    let reader = participant.reader_builder::<Count>("topic").qos(reader_qos).build().unwrap();
    let writer = participant.writer_builder::<Count>("topic").qos(writer_qos).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    let mut written = 0;
    let refused = loop {
        match writer.write(&Count { count: written }) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 100, "nothing limits the writer");
    };
    assert!(matches!(refused.kind(), WriteErrorKind::Timeout { .. }), "{refused}");
    assert!(matches!(writer.try_write(&Count { count: 0 }).unwrap_err().kind(), WriteErrorKind::Full { .. }));
    let mut taken = Vec::new();
    for count in written..written + 20 {
        taken.push(reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap().count);
        writer.write(&Count { count }).unwrap_or_else(|error| panic!("{taken:?}, {written} written: {error}"));
    }
    while taken.len() < written as usize + 20 {
        taken.push(reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap().count);
    }
    assert_eq!(taken, (0..written + 20).collect::<Vec<_>>());
}

#[test]
fn incompatible_qos_names_policy_to_both_sides() {
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.udp_participant());
    let (send, receive) = mpsc::channel();
    let at_reader = send.clone();
    let _reader = to
        .reader_builder::<Count>("topic")
        .qos(DataReaderQos::default().reliable())
        .on_event(move |_, event| {
            if let ReaderEvent::IncompatibleQos(status) = event {
                at_reader.send(("reader", status.last_policy_id)).unwrap();
            }
        })
        .build()
        .unwrap();
    let writer = from
        .writer_builder::<Count>("topic")
        .qos(DataWriterQos::default().best_effort())
        .on_event(move |_, event| {
            if let WriterEvent::IncompatibleQos(status) = event {
                send.send(("writer", status.last_policy_id)).unwrap();
            }
        })
        .build()
        .unwrap();
    let mut told: Vec<_> = (0..2).map(|_| receive.recv_timeout(PATIENCE.to_std().unwrap()).unwrap()).collect();
    told.sort_unstable();
    assert_eq!(told, [("reader", Some(PolicyId::Reliability)), ("writer", Some(PolicyId::Reliability))]);
    assert_eq!(writer.publication_matched().current_count, 0);
}

#[test]
fn every_drop_order_is_legal() {
    for order in 0..6 {
        let world = World::new();
        let participant = world.participant();
        let writer = participant.writer::<Count>("topic").unwrap();
        let reader = participant.reader::<Count>("topic").unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        let mut handles: Vec<Option<Box<dyn std::any::Any>>> =
            vec![Some(Box::new(participant)), Some(Box::new(writer)), Some(Box::new(reader))];
        for at in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][order] {
            handles[at] = None;
        }
    }
}

#[test]
fn streams_and_waits_work_on_any_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let world = World::new();
        let participant = world.participant();
        let reader = participant.reader_builder::<Count>("topic").qos(Preset::Event).build().unwrap();
        let writer = participant.writer_builder::<Count>("topic").qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).within(PATIENCE).await.unwrap();
        let mut stream = reader.stream();
        for count in 0..3 {
            writer.write(&Count { count }).unwrap();
            let next = std::future::poll_fn(|context| {
                futures_core::Stream::poll_next(std::pin::Pin::new(&mut stream), context)
            });
            assert_eq!(next.await, Some(Count { count }));
        }
        let error = reader.readable().within(Duration::from_millis(5)).await.unwrap_err();
        assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }));
        // Blocking inside of a runtime also works.
        writer.write(&Count { count: 9 }).unwrap();
        assert_eq!(reader.next_sample().block_for(PATIENCE).unwrap().data, Some(Count { count: 9 }));
    });
}

#[test]
fn timeout_during_start_of_wait_ends_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let participant = World::new().participant();
    let reader = participant.reader::<Count>("topic").unwrap();
    runtime.block_on(async {
        for round in 0..2_000 {
            let wait = reader.readable().within(Duration::from_micros(round % 50));
            let patience = tokio::time::timeout(PATIENCE.to_std().unwrap(), std::future::pending::<()>());
            let error = tokio::select! {
                // The wait is polled first. Otherwise the timer of the sleep would wake the task instead.
                biased;
                _ = patience => panic!("round {round} was forgotten"),
                ended = wait => ended.unwrap_err(),
            };
            assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }));
        }
    });
}

/// The wait set's participant only provides the clock. The conditions belong to another participant.
#[test]
fn timeout_ends_wait_after_participant_ended() {
    let participant = World::new().participant();
    let (set, guard) = (WaitSet::new(&participant), GuardCondition::new());
    set.attach(&guard);
    let limit = Duration::from_millis(50);
    // This limit is longer than the lifetime of the participant's threads.
    let mut begun = pin!(set.wait().within(Duration::from_secs(1)).into_future());
    assert!(begun.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    participant.shutdown().block().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        for _ in 0..3 {
            let awaited = "triggered condition";
            let error = set.wait().within(limit).await.unwrap_err();
            assert_eq!(
                error.kind(),
                &WaitErrorKind::Timeout { awaited, limit, missing: Missing::Trigger { conditions: 1 } }
            );
        }
        assert!(matches!(begun.await.unwrap_err().kind(), WaitErrorKind::Timeout { .. }));
        guard.set_triggered(true);
        assert!(set.wait().within(limit).await.unwrap().contains(&guard));
    });
}

/// The threads of a participant do not wait forever for such a call. A caller that requests its end may wait.
#[test]
fn timeout_ends_wait_for_outliving_callback() {
    let participant = World::new().participant();
    let (entered, inside) = mpsc::channel();
    let (release, held) = mpsc::channel::<()>();
    let reader = participant
        .reader_builder::<Count>("topic")
        .on_data(move |_| {
            entered.send(()).unwrap();
            // Returns an error once it is released.
            let _ = held.recv();
        })
        .build()
        .unwrap();
    let writer = participant.writer::<Count>("topic").unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    writer.write(&Count { count: 1 }).unwrap();
    inside.recv().unwrap();
    participant.shutdown().block().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let error = reader.closed().within(Duration::from_millis(50)).await.unwrap_err();
        assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }), "{error}");
        drop(release);
        reader.closed().within(PATIENCE).await.unwrap();
    });
}
