//! Limits on consecutive calls to listeners of groups and participants by one thread.

use crate::support::{PATIENCE, World};
use dds_core::listener::Delivery;
use dds_core::listener::{AnyEndpoint, PublisherListener, SubscriberListener, TopicListener};
use dds_core::qos::SubscriberQos;
use dds_core::status::StatusMask;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Guid};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, ThreadId};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Count {
    count: u64,
}

fn inline() -> DomainParticipant {
    World::new().builder().delivery(Delivery::Inline).build().unwrap()
}

/// Answers each notification with a write until it may stop. A call limit detects an endless exchange.
struct Answering {
    writer: DataWriter<Count>,
    writing: ThreadId,
    may_stop: Arc<AtomicBool>,
    calls_there: Arc<AtomicUsize>,
}

const WITHOUT_END: usize = 10_000;

impl PublisherListener for Answering {}
impl TopicListener for Answering {}
impl SubscriberListener for Answering {
    fn on_data_available(&mut self, reader: &dyn AnyEndpoint) {
        reader.downcast_ref::<DataReader<Count>>().unwrap().take().unwrap();
        if thread::current().id() == self.writing && self.calls_there.fetch_add(1, Ordering::Relaxed) == WITHOUT_END {
            self.may_stop.store(true, Ordering::Relaxed);
        }
        if !self.may_stop.load(Ordering::Relaxed) {
            self.writer.write(&Count { count: 2 }).unwrap();
        }
    }
}

#[test]
fn group_listener_writing_back_lets_write_return() {
    for of_participant in [false, true] {
        let participant = inline();
        let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
        let _readers = [(); 2].map(|()| subscriber.reader::<Count>("t").unwrap());
        let writer = participant.writer::<Count>("t").unwrap();
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        let (may_stop, calls_there) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let answering = Answering {
            writer: writer.clone(),
            writing: thread::current().id(),
            may_stop: Arc::clone(&may_stop),
            calls_there: Arc::clone(&calls_there),
        };
        let mask = StatusMask::DATA_AVAILABLE;
        match of_participant {
            true => participant.set_listener(mask, answering).unwrap(),
            false => subscriber.set_listener(mask, answering).unwrap(),
        }
        writer.write(&Count { count: 1 }).unwrap();
        may_stop.store(true, Ordering::Relaxed);
        let calls = calls_there.load(Ordering::Relaxed);
        assert!((1..WITHOUT_END).contains(&calls), "{calls}");
        participant.close();
    }
}

/// Reports which reader was notified, and on which thread.
struct Where(Sender<(Guid, ThreadId)>);
impl SubscriberListener for Where {
    fn on_data_available(&mut self, reader: &dyn AnyEndpoint) {
        // The end of the writer also causes a notification, after the test.
        let _ = self.0.send((reader.guid(), thread::current().id()));
    }
}

#[test]
fn event_thread_notifies_rest_of_large_group() {
    const MEMBERS: usize = 100;
    let participant = inline();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    let readers = [(); MEMBERS].map(|()| subscriber.reader::<Count>("t").unwrap());
    let writer = participant.writer::<Count>("t").unwrap();
    writer.wait_for_readers(MEMBERS).block_for(PATIENCE).unwrap();
    let (tell, told) = mpsc::channel();
    subscriber.set_listener(StatusMask::DATA_AVAILABLE, Where(tell)).unwrap();
    writer.write(&Count { count: 1 }).unwrap();
    let mut all: Vec<_> = readers.iter().map(|reader| reader.guid()).collect();
    let mut here = 0;
    for _ in 0..MEMBERS {
        let (guid, thread) = told.recv_timeout(PATIENCE.to_std().unwrap()).unwrap();
        let at = all.iter().position(|known| *known == guid).expect("told once");
        // Each reader is reported once.
        all.swap_remove(at);
        here += usize::from(thread == thread::current().id());
    }
    // The writing thread calls a bounded number of listeners and leaves the rest to the event thread.
    assert!((1..=32).contains(&here), "{here}");
}
