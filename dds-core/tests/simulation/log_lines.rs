//! Log lines that users need: a mismatch with its values, and a participant that is alone.

use crate::support::{Notes, Woken};
use dds_core::qos::{DataReaderQos, DataWriterQos, Durability, ResourceLimits};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DdsType, Duration};
use futures_core::Stream;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

#[derive(DdsType)]
struct Count {
    count: u64,
}

#[derive(DdsType)]
struct Device {
    #[dds(key)]
    id: u32,
}

#[derive(DdsType)]
struct Other {
    text: String,
}

fn world() -> Simulation {
    let simulation = Simulation::with_interference(1, Interference::NONE);
    simulation.set_network(Conditions::perfect());
    simulation
}

#[test]
fn mismatch_logs_topic_and_values_of_policies() {
    let simulation = world();
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    let ((), lines) = Notes::of_warnings().take(|| {
        let weak = DataWriterQos::default().best_effort().deadline(Duration::from_secs(2));
        let _writer = robot.writer_builder::<Count>("count").qos(weak).build().unwrap();
        let strict = DataReaderQos::default().reliable().durability(Durability::TransientLocal);
        let strict = strict.deadline(Duration::from_secs(1));
        let _reader = station.reader_builder::<Count>("count").qos(strict).build().unwrap();
        simulation.run_for(Duration::from_secs(1));
    });
    assert_eq!(lines.len(), 2, "each side says it once: {lines:?}");
    for line in lines {
        for part in [
            "topic \"count\"",
            "do not match",
            "DURABILITY: the writer offers Volatile, the reader requests TransientLocal",
            "RELIABILITY: the writer offers BestEffort, the reader requests Reliable",
            "DEADLINE: the writer offers 2s, the reader requests 1s",
        ] {
            assert!(line.contains(part), "{line} without {part}");
        }
    }
}

#[test]
fn mismatch_of_types_logs_the_difference() {
    let simulation = world();
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    let ((), lines) = Notes::of_warnings().take(|| {
        let _writer = robot.writer::<Count>("thing").unwrap();
        let _reader = station.reader::<Other>("thing").unwrap();
        simulation.run_for(Duration::from_secs(5));
    });
    assert!(!lines.is_empty());
    for line in lines {
        assert!(line.contains("topic \"thing\"") && line.contains("do not match"), "{line}");
        assert!(line.contains("the types do not fit"), "{line}");
    }
}

#[test]
fn participant_that_is_alone_says_so_once() {
    let simulation = world();
    let alone = |line: &&String| line.contains("no other participant found");
    let (robot, lines) = Notes::of_infos().take(|| {
        let robot = simulation.participant("robot", 0).unwrap();
        simulation.run_for(Duration::from_secs(4));
        robot
    });
    assert_eq!(lines.iter().filter(alone).count(), 0, "{lines:?}");
    let ((), lines) = Notes::of_infos().take(|| simulation.run_for(Duration::from_secs(60)));
    let found: Vec<_> = lines.iter().filter(alone).collect();
    assert!(matches!(&found[..], [line] if line.contains("DDS_PEERS") && line.contains("239.255.0.1")), "{lines:?}");
    drop(robot);
}

#[test]
fn participant_with_a_peer_says_nothing() {
    let simulation = world();
    let (_pair, lines) = Notes::of_infos().take(|| {
        let pair = ["robot", "station"].map(|host| simulation.participant(host, 0).unwrap());
        simulation.run_for(Duration::from_secs(60));
        pair
    });
    assert!(lines.iter().all(|line| !line.contains("no other participant found")), "{lines:?}");
}

/// Polls as a runtime does: at first, and after each wake. Returns the warnings.
fn warnings_of<T>(simulation: &Simulation, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Vec<String> {
    let woken = Arc::<Woken>::default();
    let waker = Waker::from(Arc::clone(&woken));
    let ((), mut lines) = Notes::of_warnings().take(|| {
        assert!(poll(&mut Context::from_waker(&waker)).is_pending());
        let mut seen = 0;
        for _ in 0..100 {
            simulation.run_for(Duration::from_millis(100));
            if woken.count() > seen {
                seen = woken.count();
                assert!(poll(&mut Context::from_waker(&waker)).is_pending());
            }
        }
    });
    lines.retain(|line| line.contains("still waiting"));
    lines
}

#[test]
fn awaited_future_warns_as_a_blocked_thread_does() {
    let simulation = world();
    let robot = simulation.participant("robot", 0).unwrap();
    let reader = robot.reader::<Count>("count").unwrap();
    let mut stream = reader.stream();
    let mut sample = reader.next_sample().within(Duration::from_secs(60));
    let mut writers = reader.wait_for_writers(1);
    let lonely = "still waiting; no other participant was discovered in domain 0; check";
    for lines in [
        warnings_of(&simulation, |context| Pin::new(&mut stream).poll_next(context)),
        warnings_of(&simulation, |context| Pin::new(&mut sample).poll(context)),
        warnings_of(&simulation, |context| Pin::new(&mut writers).poll(context)),
    ] {
        assert!(matches!(&lines[..], [line] if line.contains(lonely)), "{lines:?}");
    }
}

/// A matched writer may write after hours.
#[test]
fn awaited_sample_of_matched_writer_warns_of_nothing() {
    let simulation = world();
    let robot = simulation.participant("robot", 0).unwrap();
    let reader = robot.reader::<Count>("count").unwrap();
    let _writer = robot.writer::<Count>("count").unwrap();
    let mut sample = reader.next_sample();
    assert!(warnings_of(&simulation, |context| Pin::new(&mut sample).poll(context)).is_empty());
}

#[test]
fn match_within_patience_prevents_the_warning() {
    let simulation = world();
    let robot = simulation.participant("robot", 0).unwrap();
    let reader = robot.reader::<Count>("count").unwrap();
    let mut sample = reader.next_sample();
    let mut writer = None;
    let warnings = warnings_of(&simulation, |context| {
        let polled = Pin::new(&mut sample).poll(context);
        // After the first poll.
        writer.get_or_insert_with(|| robot.writer::<Count>("count").unwrap());
        polled
    });
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn replaced_unread_samples_are_logged_once_with_their_count() {
    let simulation = world();
    let robot = simulation.participant("robot", 0).unwrap();
    let reader = robot.reader_builder::<Count>("count").qos(DataReaderQos::default().keep_last(2)).build().unwrap();
    let writer = robot.writer::<Count>("count").unwrap();
    writer.wait_for_readers(1).block().unwrap();
    let ((), lines) = Notes::of_warnings().take(|| {
        for _ in 0..2 {
            (0..10).for_each(|count| writer.write(&Count { count }).unwrap());
            assert_eq!(reader.take().unwrap().len(), 2);
        }
    });
    assert!(
        matches!(&lines[..], [line] if line.contains("replaced=8 depth=2") && line.contains("keep_all")),
        "{lines:?}"
    );
}

/// Without room, KEEP_LAST drops samples. KEEP_ALL does not acknowledge them, so the writer keeps them.
#[test]
fn dropped_samples_are_logged_once_with_the_limit() {
    let simulation = world();
    let [robot, station] = ["robot", "station"].map(|host| simulation.participant(host, 0).unwrap());
    let reliable = || DataReaderQos::default().reliable().resource_limits(ResourceLimits::NONE.max_instances(2));
    let (last, all) = (reliable().keep_last(1), reliable().keep_all());
    for (participant, qos, told) in [(&station, &last, 1), (&robot, &last, 1), (&station, &all, 0), (&robot, &all, 0)] {
        let reader = participant.reader_builder::<Device>("device").qos(qos.clone()).build().unwrap();
        let writer = robot.writer_builder::<Device>("device").qos(DataWriterQos::default().keep_all()).build().unwrap();
        writer.wait_for_readers(1).block().unwrap();
        let ((), mut lines) = Notes::of_warnings().take(|| {
            (0..5).for_each(|id| writer.write(&Device { id }).unwrap());
            simulation.run_for(Duration::from_millis(20));
        });
        assert!(reader.sample_rejected().total_count > 0);
        lines.retain(|line| line.contains("no room for a sample"));
        assert_eq!(lines.len(), told, "{lines:?}");
        assert!(lines.iter().all(|line| line.contains("reason=Instances")), "{lines:?}");
    }
}

#[test]
fn replaced_unacknowledged_samples_are_logged_once() {
    let simulation = world();
    let [robot, station] = ["robot", "station"].map(|host| simulation.participant(host, 0).unwrap());
    let reader = station.reader_builder::<Count>("count").qos(DataReaderQos::default().reliable()).build().unwrap();
    let writer = robot.writer::<Count>("count").unwrap();
    writer.wait_for_readers(1).block().unwrap();
    let ((), mut lines) = Notes::of_warnings().take(|| {
        for _ in 0..2 {
            simulation.link("robot", "station").cut();
            (0..10).for_each(|count| writer.write(&Count { count }).unwrap());
            simulation.run_for(Duration::from_secs(1));
            simulation.link("robot", "station").mend();
            simulation.run_for(Duration::from_secs(1));
        }
    });
    lines.retain(|line| line.contains("not acknowledged"));
    assert!(matches!(&lines[..], [line] if line.contains("replaced=9") && line.contains("keep_all")), "{lines:?}");
    drop(reader);
}

#[test]
fn timer_of_a_host_runs_in_virtual_time() {
    let simulation = world();
    let (robot, station) = (simulation.host("robot"), simulation.host("station"));
    let mut order = Vec::new();
    let mut long = robot.timer(Duration::from_secs(3600));
    let done = simulation.block_on(Duration::from_secs(10), async {
        let mut timers = [2, 1].map(|seconds| station.timer(Duration::from_secs(seconds)));
        let started = station.time();
        for timer in &mut timers {
            timer.await;
            order.push(station.time() - started);
        }
    });
    assert_eq!(done, Some(()));
    // The second timer begins with its first poll. Each look at a clock takes a moment.
    for (passed, seconds) in order.iter().zip([2, 3]) {
        let least = Duration::from_secs(seconds);
        assert!((least..least + Duration::from_millis(1)).contains(passed), "{order:?}");
    }
    assert_eq!(simulation.block_on(Duration::from_secs(60), &mut long), None);
    assert_eq!(simulation.block_on(Duration::from_secs(3600), &mut long), Some(()));
}
