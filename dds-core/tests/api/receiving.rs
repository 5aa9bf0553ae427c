//! Participants without a receive thread: `Receiving::Caller`.

#![allow(clippy::disallowed_methods, reason = "the tests use threads of an application")]

use crate::support::{PATIENCE, World};
use dds_core::condition::GuardCondition;
use dds_core::condition::WaitSet;
use dds_core::config::{Receiving, ThreadSettings};
use dds_core::error::WaitErrorKind;
use dds_core::listener::Delivery;
use dds_core::qos::{Preset, Reliability, ResourceLimits};
use dds_core::reader::States;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, DomainParticipantBuilder, Duration};
use dds_rtps::link::Conditions;
use dds_rtps::transport::faults::Faults;
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::mpsc;
use std::thread;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Count {
    count: u32,
    bytes: Vec<u8>,
}

fn count(count: u32) -> Count {
    Count { count, bytes: Vec::new() }
}

fn by_caller(world: &World) -> DomainParticipantBuilder {
    world.builder().udp_only(true).receive(Receiving::Caller)
}

/// Creates two participants whose callers receive.
fn pair(world: &World) -> [DomainParticipant; 2] {
    [0, 1].map(|_| by_caller(world).build().unwrap())
}

fn endpoints(from: &DomainParticipant, to: &DomainParticipant, topic: &str) -> (DataWriter<Count>, DataReader<Count>) {
    let writer = from.writer_builder::<Count>(topic).qos(Preset::Event.writer()).build().unwrap();
    let reader = to.reader_builder::<Count>(topic).qos(Preset::Event.reader()).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    (writer, reader)
}

fn expect(reader: &DataReader<Count>, counts: impl IntoIterator<Item = u32>) {
    for expected in counts {
        let sample = reader.next_sample().block_for(PATIENCE).unwrap();
        assert_eq!(sample.data.map(|data| data.count), Some(expected));
    }
}

/// Counts the threads of this process with this name.
fn threads_called(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter(|task| {
            std::fs::read_to_string(task.as_ref().unwrap().path().join("comm"))
                .is_ok_and(|comm| comm.trim_end() == name)
        })
        .count()
}

#[test]
fn waiting_caller_receives_without_thread() {
    let world = World::new();
    let settings = ThreadSettings::new().name("none-of-these");
    let from = by_caller(&world).receive_thread(settings.clone()).build().unwrap();
    let to = by_caller(&world).receive_thread(settings).build().unwrap();
    let (writer, reader) = endpoints(&from, &to, "counts");
    assert_eq!(threads_called("none-of-these"), 0);
    (0..100).for_each(|number| writer.write(&count(number)).unwrap());
    expect(&reader, 0..100);
    writer.acknowledged().block_for(PATIENCE).unwrap();
}

#[test]
fn caller_receives_large_samples_despite_loss() {
    let world = World::new();
    let conditions = Conditions::immediate().delayed(dds_core::Duration::ZERO, dds_core::Duration::from_millis(1));
    let conditions = conditions.lossy(0.2).reordering(0.1);
    let faults = |seed| Faults { seed, conditions, ..Faults::default() };
    let [from, to] = [1, 2].map(|seed| by_caller(&world).faults(faults(seed)).build().unwrap());
    let (writer, reader) = endpoints(&from, &to, "blocks");
    let block = |number: u32| Count { count: number, bytes: vec![number as u8; 300_000] };
    let writing = thread::spawn(move || {
        (0..20).for_each(|number| writer.write(&block(number)).unwrap());
        writer.acknowledged().block_for(PATIENCE).unwrap();
    });
    for number in 0..20 {
        assert!(reader.next_sample().block_for(PATIENCE).unwrap().data == Some(block(number)), "{number}");
    }
    writing.join().unwrap();
}

/// Two threads bounce a sample. Each must receive for itself while the other participant's caller does the same.
#[test]
fn callers_exchange_samples_back_and_forth() {
    let world = World::new();
    let [from, to] = pair(&world);
    let (there, arrived) = endpoints(&from, &to, "there");
    let (back, returned) = endpoints(&to, &from, "back");
    let echo = thread::spawn(move || {
        for number in 0..2000 {
            expect(&arrived, [number]);
            back.write(&count(number)).unwrap();
        }
    });
    for number in 0..2000 {
        there.write(&count(number)).unwrap();
        expect(&returned, [number]);
    }
    echo.join().unwrap();
}

#[test]
fn each_waiting_thread_gets_its_own_data() {
    let world = World::new();
    let [from, to] = pair(&world);
    let links: Vec<_> = (0..4).map(|number| endpoints(&from, &to, &format!("t{number}"))).collect();
    let (writers, readers): (Vec<_>, Vec<_>) = links.into_iter().unzip();
    let waiting: Vec<_> = readers.into_iter().map(|reader| thread::spawn(move || expect(&reader, 0..200))).collect();
    for number in 0..200 {
        writers.iter().for_each(|writer| writer.write(&count(number)).unwrap());
    }
    waiting.into_iter().for_each(|thread| thread.join().unwrap());
}

/// The thread that began first also receives for the other one, until samples have arrived often enough.
#[test]
fn waiting_caller_serves_other_threads() {
    let world = World::new();
    let [from, to] = pair(&world);
    let (_quiet, silent) = endpoints(&from, &to, "silent");
    let (writer, reader) = endpoints(&from, &to, "counts");
    let closing = silent.clone();
    let (begin, begun) = mpsc::channel();
    let idle = thread::spawn(move || {
        begin.send(()).unwrap();
        silent.next_sample().block().unwrap_err().kind().clone()
    });
    begun.recv().unwrap();
    for number in 0..500 {
        writer.write(&count(number)).unwrap();
        expect(&reader, [number]);
    }
    closing.close();
    assert_eq!(idle.join().unwrap(), WaitErrorKind::Closed);
}

#[test]
fn wait_set_receives_and_guard_ends_wait() {
    let world = World::new();
    let [from, to] = pair(&world);
    let (writer, reader) = endpoints(&from, &to, "counts");
    let (fresh, guard) = (reader.read_condition(States::NOT_READ), GuardCondition::new());
    let wait_set = WaitSet::new(&to);
    wait_set.attach(&fresh);
    wait_set.attach(&guard);
    let (tell, told) = mpsc::channel();
    let waiting = thread::spawn({
        let guard = guard.clone();
        move || {
            loop {
                let active = wait_set.wait().block_for(PATIENCE).unwrap();
                if active.contains(&guard) {
                    return;
                }
                assert!(active.contains(&fresh));
                for sample in reader.select().condition(&fresh).take().unwrap().iter() {
                    tell.send(sample.decode().unwrap().unwrap().count).unwrap();
                }
            }
        }
    });
    for number in 0..100 {
        writer.write(&count(number)).unwrap();
        assert_eq!(told.recv().unwrap(), number);
    }
    guard.set_triggered(true);
    waiting.join().unwrap();
}

#[test]
fn wait_set_of_other_participant_is_woken() {
    let world = World::new();
    let [from, to] = pair(&world);
    let (writer, reader) = endpoints(&from, &to, "counts");
    let fresh = reader.read_condition(States::NOT_READ);
    let wait_set = WaitSet::new(&from);
    wait_set.attach(&fresh);
    for number in 0..20 {
        writer.write(&count(number)).unwrap();
        assert!(wait_set.wait().block_for(PATIENCE).unwrap().contains(&fresh));
        expect(&reader, [number]);
    }
}

#[test]
fn receiving_wait_ends_at_timeout() {
    let world = World::new();
    let [from, to] = pair(&world);
    let (writer, reader) = endpoints(&from, &to, "counts");
    let (limit, started) = (Duration::from_millis(20), std::time::Instant::now());
    let error = reader.next_sample().block_for(limit).unwrap_err();
    assert!(matches!(error.kind(), WaitErrorKind::Timeout { limit: of, .. } if *of == limit), "{error}");
    assert!(started.elapsed() >= limit.to_std().unwrap());
    writer.write(&count(7)).unwrap();
    expect(&reader, [7]);
}

#[test]
fn close_and_shutdown_end_receiving_wait() {
    for shut_down in [false, true] {
        let world = World::new();
        let [from, to] = pair(&world);
        let (_writer, reader) = endpoints(&from, &to, "counts");
        let (begin, begun) = mpsc::channel();
        let closing = reader.clone();
        let waiting = thread::spawn(move || {
            begin.send(()).unwrap();
            reader.next_sample().block().unwrap_err().kind().clone()
        });
        begun.recv().unwrap();
        if shut_down {
            to.shutdown().block_for(PATIENCE).unwrap();
        } else {
            closing.close();
        }
        assert_eq!(waiting.join().unwrap(), WaitErrorKind::Closed);
    }
}

#[test]
fn blocked_writer_receives_acknowledgments() {
    let world = World::new();
    let [from, to] = pair(&world);
    let limits = ResourceLimits::NONE.max_samples(4);
    let mut qos = Preset::Event.writer().resource_limits(limits);
    qos.reliability = Reliability::Reliable { max_blocking_time: PATIENCE };
    let writer = from.writer_builder::<Count>("counts").qos(qos).build().unwrap();
    let reader = to.reader_builder::<Count>("counts").qos(Preset::Event.reader()).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    let reading = thread::spawn(move || expect(&reader, 0..200));
    (0..200).for_each(|number| writer.write(&count(number)).unwrap());
    reading.join().unwrap();
}

#[test]
fn futures_progress_without_blocked_caller() {
    let world = World::new();
    let [from, to] = pair(&world);
    let (writer, reader) = endpoints(&from, &to, "counts");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        for number in 0..50 {
            writer.write(&count(number)).unwrap();
            assert_eq!(reader.next_sample().await.unwrap().data, Some(count(number)));
        }
        let mut stream = pin!(reader.stream());
        for number in 50..100 {
            writer.write(&count(number)).unwrap();
            assert_eq!(poll_fn(|context| stream.as_mut().poll_next(context)).await, Some(count(number)));
        }
    });
}

/// Checks listeners both in a blocked thread and beside it.
#[test]
fn listeners_run_for_every_receiving_thread() {
    for delivery in [Delivery::EventThread, Delivery::Inline] {
        let world = World::new();
        let [from, to] = pair(&world);
        let (writer, reader) = endpoints(&from, &to, "waited");
        let (tell, told) = mpsc::channel();
        let listener = move |reader: &DataReader<Count>| {
            for sample in reader.take().unwrap().iter() {
                let refused = reader.next_sample().block_for(Duration::ZERO).unwrap_err();
                let thread = thread::current().name().map(str::to_owned);
                tell.send((sample.decode().unwrap().unwrap().count, thread, refused.kind().clone())).unwrap();
            }
        };
        let heard = from.writer_builder::<Count>("heard").qos(Preset::Event.writer()).build().unwrap();
        let builder = to.reader_builder::<Count>("heard").qos(Preset::Event.reader()).delivery(delivery);
        let _listening = builder.on_data(listener).build().unwrap();
        heard.wait_for_readers(1).block_for(PATIENCE).unwrap();
        let expect_call = |number| {
            let (counted, thread, refused) = told.recv_timeout(PATIENCE.to_std().unwrap()).unwrap();
            assert_eq!(counted, number);
            if delivery == Delivery::Inline {
                assert_eq!(refused, WaitErrorKind::InListener);
            } else {
                assert_eq!(thread.as_deref(), Some("dds-event"));
            }
        };
        // No thread blocks.
        heard.write(&count(1)).unwrap();
        expect_call(1);
        // One thread blocks, and waits for a later sample.
        let waiting = thread::spawn(move || expect(&reader, [3]));
        heard.write(&count(2)).unwrap();
        expect_call(2);
        writer.write(&count(3)).unwrap();
        waiting.join().unwrap();
    }
}

#[cfg(feature = "serde")]
#[test]
fn profile_file_selects_receiving_mode() {
    let world = World::new();
    let settings = ThreadSettings::new().name("nor-of-these");
    let builder = world.builder().udp_only(true).receive_thread(settings);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/profiles/by_caller.toml");
    let [from, to] = [builder.clone(), builder].map(|builder| builder.profiles(file).build().unwrap());
    let (writer, reader) = endpoints(&from, &to, "counts");
    assert_eq!(threads_called("nor-of-these"), 0);
    writer.write(&count(1)).unwrap();
    expect(&reader, [1]);
}
