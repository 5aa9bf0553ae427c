//! Waits that last, in virtual time: what the log says of them, and whom the end of their time wakes.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]
#![cfg(feature = "sim")]

use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DdsType, DomainParticipant, Duration, Entity, GuardCondition, WaitErrorKind, WaitSet};
use std::fmt::{Debug, Write};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

#[derive(DdsType)]
struct Count {
    count: u64,
}

/// Notes every warning.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() == Level::WARN
    }
    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

fn world() -> (Simulation, DomainParticipant) {
    let simulation = Simulation::with_interference(1, Interference::NONE);
    simulation.set_network(Conditions::perfect());
    let robot = simulation.participant("robot", 0).unwrap();
    (simulation, robot)
}

/// What is said while `wait` lasts, which must end by its time.
fn said(wait: impl FnOnce() -> WaitErrorKind) -> Vec<String> {
    let warnings = Warnings::default();
    let end = tracing::subscriber::with_default(warnings.clone(), wait);
    assert!(matches!(end, WaitErrorKind::Timeout { .. }), "{end:?}");
    let all = warnings.0.lock().unwrap();
    all.iter().filter(|warning| warning.contains("still waiting")).cloned().collect()
}

/// Two seconds are patience enough, and who has been told once is not told again.
#[test]
fn a_wait_that_lasts_says_once_what_it_waits_for_and_why_it_may_not_come() {
    let (_simulation, robot) = world();
    let reader = robot.reader::<Count>("count").unwrap();
    let writer = robot.writer::<Count>("other").unwrap();
    let end = |limit: Duration| {
        [
            said(|| reader.next_sample().block_for(limit).map(|_| ()).unwrap_err().kind().clone()),
            said(|| reader.wait_for_writers(1).block_for(limit).unwrap_err().kind().clone()),
            said(|| writer.wait_for_readers(1).block_for(limit).unwrap_err().kind().clone()),
            said(|| robot.find_topic::<Count>("third").block_for(limit).map(|_| ()).unwrap_err().kind().clone()),
            said(|| robot.discover_type_objects("third").block_for(limit).map(|_| ()).unwrap_err().kind().clone()),
            said(|| reader.closed().block_for(limit).unwrap_err().kind().clone()),
        ]
    };
    assert_eq!(end(Duration::from_millis(1_999)), [const { Vec::<String>::new() }; 6]);
    let lonely = "message=still waiting; no counterpart with this topic has been found";
    let parts = [
        ["awaited=Sample", lonely],
        ["awaited=Matched(1) matched_writers=0", lonely],
        ["awaited=Matched(1) matched_readers=0", lonely],
        ["still waiting for a topic", "topic=\"third\""],
        ["still waiting for a type", "topic=\"third\""],
        ["awaited=Closed", "still waiting"],
    ];
    for (said, parts) in end(Duration::from_millis(9_500)).iter().zip(parts) {
        let [once] = &said[..] else { panic!("{said:?}") };
        assert!(parts.iter().all(|part| once.contains(part)), "{once} without {parts:?}");
    }
}

/// A server may wait for hours.
#[test]
fn a_wait_for_whatever_comes_says_nothing() {
    let (_simulation, robot) = world();
    let writer = robot.writer::<Count>("count").unwrap();
    let (set, guard) = (WaitSet::new(&robot), GuardCondition::new());
    set.attach(&guard);
    let hours = Duration::from_secs(10_000);
    assert!(said(|| set.wait().block_for(hours).unwrap_err().kind().clone()).is_empty());
    assert!(said(|| writer.events().next_event().block_for(hours).unwrap_err().kind().clone()).is_empty());
}

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicU64);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A future may have moved to another task since.
#[test]
fn when_its_time_is_over_the_waker_that_a_future_was_polled_with_last_is_woken() {
    let (simulation, robot) = world();
    let (set, guard) = (WaitSet::new(&robot), GuardCondition::new());
    set.attach(&guard);
    let [early, late] = [(); 2].map(|()| Arc::<Woken>::default());
    let mut wait = Box::pin(set.wait().within(Duration::from_secs(1)).into_future());
    let mut poll =
        |woken: &Arc<Woken>| Pin::new(&mut wait).poll(&mut Context::from_waker(&Waker::from(Arc::clone(woken))));
    assert!(poll(&early).is_pending());
    simulation.run_for(Duration::from_millis(500));
    assert!(poll(&late).is_pending());
    simulation.run_for(Duration::from_millis(499));
    let woken = || [&early, &late].map(|woken| woken.0.load(Ordering::Relaxed));
    assert_eq!(woken(), [0, 0]);
    simulation.run_for(Duration::from_millis(2));
    assert_eq!(woken(), [0, 1]);
    let Poll::Ready(Err(error)) = poll(&late) else { panic!("it goes on") };
    assert_eq!(error.kind(), &WaitErrorKind::Timeout { waited: Duration::from_secs(1) });
}
