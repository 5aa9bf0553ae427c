//! Long waits in virtual time: their log records, and the waker that a timeout wakes.

use crate::support::{Notes, Woken};
use dds_core::condition::GuardCondition;
use dds_core::condition::WaitSet;
use dds_core::error::{Missing, WaitErrorKind};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DdsType, DomainParticipant, Duration};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

#[derive(DdsType)]
struct Count {
    count: u64,
}

fn world() -> (Simulation, DomainParticipant) {
    let simulation = Simulation::with_interference(1, Interference::NONE);
    simulation.set_network(Conditions::perfect());
    let robot = simulation.participant("robot", 0).unwrap();
    (simulation, robot)
}

/// Log records of `wait`, which must end by its timeout.
fn said(wait: impl FnOnce() -> WaitErrorKind) -> Vec<String> {
    let (end, mut warnings) = Notes::of_warnings().take(wait);
    assert!(matches!(end, WaitErrorKind::Timeout { .. }), "{end:?}");
    warnings.retain(|warning| warning.contains("still waiting"));
    warnings
}

/// The record comes after two seconds, and only once.
#[cfg(feature = "dynamic")]
#[test]
fn long_wait_logs_target_and_reason_once() {
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
            said(|| writer.closed().block_for(limit).unwrap_err().kind().clone()),
        ]
    };
    assert_eq!(end(Duration::from_millis(1_999)), [const { Vec::<String>::new() }; 7]);
    let lonely = "message=still waiting; no other participant was discovered in domain 0; check";
    let parts = [
        ["awaited=Sample", lonely],
        ["awaited=Matched(1) matched_writers=0", lonely],
        ["awaited=Matched(1) matched_readers=0", lonely],
        ["still waiting for a topic", "topic=\"third\""],
        ["still waiting for a type", "topic=\"third\""],
        ["awaited=Closed", "still waiting for the reader to close"],
        ["awaited=Closed", "still waiting for the writer to close"],
    ];
    for (said, parts) in end(Duration::from_millis(9_500)).iter().zip(parts) {
        let [once] = &said[..] else { panic!("{said:?}") };
        assert!(parts.iter().all(|part| once.contains(part)), "{once} without {parts:?}");
    }
}

/// A server may wait for hours.
#[test]
fn wait_for_any_sample_logs_nothing() {
    let (_simulation, robot) = world();
    let writer = robot.writer::<Count>("count").unwrap();
    let (set, guard) = (WaitSet::new(&robot), GuardCondition::new());
    set.attach(&guard);
    let hours = Duration::from_secs(10_000);
    assert!(said(|| set.wait().block_for(hours).unwrap_err().kind().clone()).is_empty());
    assert!(said(|| writer.events().next_event().block_for(hours).unwrap_err().kind().clone()).is_empty());
}

fn timeout_of_condition(limit: Duration) -> WaitErrorKind {
    WaitErrorKind::Timeout { awaited: "triggered condition", limit, missing: Missing::Trigger { conditions: 1 } }
}

/// A future may have moved to another task in between.
#[test]
fn timeout_wakes_last_waker_of_future() {
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
    let woken = || [&early, &late].map(|woken| woken.count());
    assert_eq!(woken(), [0, 0]);
    simulation.run_for(Duration::from_millis(2));
    assert_eq!(woken(), [0, 1]);
    let Poll::Ready(Err(error)) = poll(&late) else { panic!("it goes on") };
    assert_eq!(error.kind(), &timeout_of_condition(Duration::from_secs(1)));
}

/// As in the real world, where the participant's threads have ended by then.
#[test]
fn timeout_ends_wait_of_closed_participant() {
    let (simulation, robot) = world();
    let (set, guard) = (WaitSet::new(&robot), GuardCondition::new());
    set.attach(&guard);
    let limit = Duration::from_secs(5);
    let mut begun = Box::pin(set.wait().within(limit).into_future());
    let mut later = Box::pin(set.wait().within(limit).into_future());
    let woken = Arc::<Woken>::default();
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    assert!(begun.as_mut().poll(&mut context).is_pending());
    robot.shutdown().block().unwrap();
    assert!(later.as_mut().poll(&mut context).is_pending());
    simulation.run_for(Duration::from_secs(6));
    assert_eq!(woken.count(), 2);
    for wait in [&mut begun, &mut later] {
        let Poll::Ready(Err(error)) = wait.as_mut().poll(&mut context) else { panic!("it goes on") };
        assert_eq!(error.kind(), &timeout_of_condition(limit));
    }
}
