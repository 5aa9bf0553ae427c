//! Selections, conditions and wait sets, in process and by UDP.

use crate::support::{PATIENCE, Woken, World};
use dds_core::condition::WaitSet;
use dds_core::condition::{Condition, GuardCondition};
use dds_core::error::{ReadErrorKind, WaitErrorKind};
use dds_core::qos::{DataWriterQos, LivelinessKind, Preset};
use dds_core::reader::States;
use dds_core::status::StatusMask;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, Entity, InstanceHandle};
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    #[dds(key)]
    robot: u32,
    count: u64,
}

fn pose(robot: u32, count: u64) -> Pose {
    Pose { robot, count }
}

/// Runs `body` once for each path that a sample can take.
fn on_every_way(body: impl Fn(&DomainParticipant, &DomainParticipant)) {
    let world = World::new();
    let one = world.participant();
    body(&one, &one);
    let world = World::new();
    body(&world.udp_participant(), &world.udp_participant());
}

fn pair(from: &DomainParticipant, to: &DomainParticipant) -> (DataWriter<Pose>, DataReader<Pose>) {
    let reader = to.reader_builder::<Pose>("topic").qos(Preset::Event).build().unwrap();
    let writer = from.writer_builder::<Pose>("topic").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    (writer, reader)
}

/// Writes samples and returns when they have arrived.
fn write(writer: &DataWriter<Pose>, poses: &[(u32, u64)]) {
    for &(robot, count) in poses {
        writer.write(&pose(robot, count)).unwrap();
    }
    writer.acknowledged().block_for(PATIENCE).unwrap();
}

#[test]
fn selection_limits_count_state_and_instance() {
    on_every_way(|from, to| {
        let (writer, reader) = pair(from, to);
        write(&writer, &[(1, 0), (2, 0), (1, 1), (2, 1), (1, 2)]);
        let two = reader.select().max_samples(2).read().unwrap();
        assert_eq!(two.len(), 2);
        assert_eq!(reader.select().states(States::READ).read().unwrap().len(), 2);
        let unread = States::NOT_READ & States::ALIVE;
        assert_eq!(reader.select().states(unread).read().unwrap().len(), 3);
        assert!(reader.select().states(unread).take().unwrap().is_empty());
        assert!(reader.select().states(States::READ).states(States::NOT_READ).take().unwrap().is_empty());
        let first = two.iter().next().unwrap().info().instance_handle;
        let of_first = reader.select().instance(first).take().unwrap();
        assert_eq!(of_first.len(), 3);
        assert!(of_first.into_data().all(|pose| pose.robot == 1));
        assert_eq!(reader.take().unwrap().len(), 2);
    });
}

#[test]
fn next_instance_visits_all_instances() {
    on_every_way(|from, to| {
        let (writer, reader) = pair(from, to);
        write(&writer, &[(1, 0), (2, 0), (3, 0), (1, 1)]);
        let mut instance = InstanceHandle::NIL;
        let mut robots = Vec::new();
        loop {
            let samples = reader.select().next_instance(instance).read().unwrap();
            let Some(first) = samples.iter().next() else { break };
            instance = first.info().instance_handle;
            robots.push((reader.key_value(instance).unwrap(), samples.len()));
        }
        robots.sort_unstable();
        assert_eq!(robots, [(1, 2), (2, 1), (3, 1)]);
    });
}

#[test]
fn condition_selects_for_its_own_reader_only() {
    let participant = World::new().participant();
    let (writer, reader) = pair(&participant, &participant);
    let other = participant.reader::<Pose>("topic").unwrap();
    write(&writer, &[(1, 0), (1, 1)]);
    let unread = reader.read_condition(States::NOT_READ);
    assert_eq!(reader.select().condition(&unread).max_samples(1).read().unwrap().len(), 1);
    assert_eq!(reader.select().condition(&unread).take().unwrap().len(), 1);
    let error = other.select().condition(&unread).take().unwrap_err();
    assert_eq!(error.kind(), &ReadErrorKind::ForeignCondition);
}

#[test]
fn wait_returns_conditions_while_cause_lasts() {
    on_every_way(|from, to| {
        let (writer, reader) = pair(from, to);
        let unread = reader.read_condition(States::NOT_READ);
        let read = reader.read_condition(States::READ);
        let gone = reader.read_condition(States::NOT_ALIVE);
        let wait_set = WaitSet::new(to);
        for condition in [&unread, &read, &gone] {
            wait_set.attach(condition);
            wait_set.attach(condition);
        }
        let wait = || wait_set.wait().block_for(PATIENCE).unwrap();
        writer.write(&pose(1, 0)).unwrap();
        for _ in 0..2 {
            let active = wait();
            assert!(active.contains(&unread) && active.len() == 1);
        }
        assert_eq!(reader.read().unwrap().len(), 1);
        let active = wait();
        assert!(active.contains(&read) && active.len() == 1, "{active:?}");
        assert_eq!(reader.take().unwrap().len(), 1);
        assert!(!unread.is_triggered() && !read.is_triggered());
        let error = wait_set.wait().block_for(Duration::ZERO).unwrap_err();
        assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }));
        writer.dispose(&1).unwrap();
        let active = wait();
        assert!(active.contains(&unread) && active.contains(&gone) && !active.contains(&read));
        assert_eq!(active.len(), 2);
        assert!(wait_set.detach(&unread) && !wait_set.detach(&unread));
        assert_eq!(wait().len(), 1);
    });
}

#[test]
fn blocked_wait_is_woken_by_data() {
    on_every_way(|from, to| {
        let (writer, reader) = pair(from, to);
        let unread = reader.read_condition(States::NOT_READ);
        let wait_set = WaitSet::new(to);
        wait_set.attach(&unread);
        let counts = std::thread::scope(|scope| {
            let receiver = scope.spawn(|| {
                let mut counts = Vec::new();
                while counts.len() < 300 {
                    wait_set.wait().block_for(PATIENCE).unwrap();
                    counts
                        .extend(reader.select().condition(&unread).take().unwrap().into_data().map(|pose| pose.count));
                }
                counts
            });
            (0..300).for_each(|count| writer.write(&pose(1, count)).unwrap());
            receiver.join().unwrap()
        });
        assert_eq!(counts, (0..300).collect::<Vec<_>>());
    });
}

#[test]
fn status_condition_lasts_until_status_is_read() {
    on_every_way(|from, to| {
        let reader = to.reader_builder::<Pose>("topic").qos(Preset::Event).build().unwrap();
        let writer = from.writer_builder::<Pose>("topic").qos(Preset::Event).build().unwrap();
        let (at_reader, at_writer) = (reader.status_condition(), writer.status_condition());
        at_reader.set_enabled_statuses(StatusMask::MATCHED);
        let wait_set = WaitSet::new(to);
        wait_set.attach(&at_reader);
        assert!(wait_set.wait().block_for(PATIENCE).unwrap().contains(&at_reader));
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        assert!(at_writer.is_triggered());
        assert_eq!(writer.publication_matched().current_count, 1);
        assert!(!at_writer.is_triggered() && writer.status_changes().is_empty());
        assert_eq!(reader.subscription_matched().current_count, 1);
        assert!(!reader.status_condition().is_triggered());
        assert_eq!(reader.liveliness_changed().alive_count, 1);
        write(&writer, &[(1, 0)]);
        assert_eq!(reader.status_changes(), StatusMask::DATA_AVAILABLE);
        assert!(!at_reader.is_triggered());
        reader.status_condition().set_enabled_statuses(StatusMask::ALL);
        assert!(wait_set.wait().block_for(PATIENCE).unwrap().contains(&at_reader));
        assert_eq!(reader.take().unwrap().len(), 1);
        assert!(!at_reader.is_triggered());
    });
}

#[test]
#[allow(clippy::disallowed_methods, reason = "no event names the writer that changes, so the test asks again")]
fn each_matched_writer_is_alive_or_silent() {
    on_every_way(|from, to| {
        let reader = to.reader_builder::<Pose>("topic").qos(Preset::Event).build().unwrap();
        let mut qos = DataWriterQos::default();
        qos.liveliness.kind = LivelinessKind::ManualByTopic;
        qos.liveliness.lease_duration = Duration::from_millis(50);
        let silent = from.writer_builder::<Pose>("topic").qos(qos).build().unwrap();
        let other = from.writer_builder::<Pose>("topic").build().unwrap();
        let is_alive = |writer: &DataWriter<Pose>| reader.is_publication_alive(writer.guid().into());
        let start = Instant::now();
        while (is_alive(&silent), is_alive(&other)) != (Some(false), Some(true)) {
            assert!(Duration::from(start.elapsed()) < PATIENCE, "{:?}", reader.liveliness_changed());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(reader.is_publication_alive(reader.guid().into()), None);
    });
}

#[test]
fn enabling_changed_status_wakes_waiter() {
    let participant = World::new().participant();
    let (_writer, reader) = pair(&participant, &participant);
    let status = reader.status_condition();
    assert_eq!(status.enabled_statuses(), StatusMask::ALL);
    status.set_enabled_statuses(StatusMask::NONE);
    assert_eq!(reader.status_condition().enabled_statuses(), StatusMask::NONE);
    let wait_set = WaitSet::new(&participant);
    wait_set.attach(&status);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait_set.wait().block_for(PATIENCE).unwrap().contains(&status));
        reader.status_condition().set_enabled_statuses(StatusMask::MATCHED);
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn wait_set_lists_conditions_and_entities() {
    let participant = World::new().participant();
    let (writer, reader) = pair(&participant, &participant);
    let topic = participant.topic::<Pose>("topic", None).unwrap();
    let groups = (participant.publisher(None).unwrap(), participant.subscriber(None).unwrap());
    let entities: [&dyn Entity; 6] = [&writer, &reader, &topic, &groups.0, &groups.1, &participant];
    for entity in entities {
        assert_eq!(entity.status_condition().entity(), entity.guid());
    }
    let unread = reader.read_condition(States::NOT_READ);
    let far = reader.query_condition(States::NOT_READ, "count > 7").unwrap();
    assert_eq!([unread.reader(), far.as_ref().reader()], [reader.guid(); 2]);
    assert_eq!(unread.states(), States::NOT_READ);
    let wait_set = WaitSet::new(&participant);
    assert!(wait_set.is_empty());
    wait_set.attach(&unread);
    wait_set.attach(&unread);
    wait_set.attach(&far);
    assert_eq!((wait_set.len(), wait_set.contains(&unread), wait_set.contains(&far)), (2, true, true));
    assert!(!wait_set.is_empty());
    wait_set.detach(&unread);
    assert_eq!((wait_set.len(), wait_set.contains(&unread), wait_set.contains(&far)), (1, false, true));
}

/// Waits for conditions while all entities are open.
#[test]
fn wait_set_without_conditions_waits() {
    let error = WaitSet::new(&World::new().participant()).wait().block_for(Duration::ZERO).unwrap_err();
    assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }), "{error}");
}

#[test]
fn guard_condition_returns_its_trigger_value() {
    let guard = GuardCondition::new();
    assert!(!guard.is_triggered());
    guard.set_triggered(true);
    assert!(guard.is_triggered());
    guard.set_triggered(false);
    assert!(!guard.is_triggered());
}

#[test]
fn guard_condition_wakes_every_waiting_thread() {
    let participant = World::new().participant();
    let wait_set = WaitSet::new(&participant);
    let guard = GuardCondition::new();
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let (wait_set, guard, send) = (wait_set.clone(), guard.clone(), send.clone());
            scope.spawn(move || send.send(wait_set.wait().block_for(PATIENCE).unwrap().contains(&guard)));
        }
        // A guard condition counts whether it is attached before or during the wait.
        wait_set.attach(&guard);
        guard.set_triggered(true);
        assert!((0..4).all(|_| receive.recv().unwrap()));
    });
    guard.set_triggered(false);
    assert!(wait_set.wait().block_for(Duration::ZERO).is_err());
}

#[test]
fn closed_conditions_end_wait_if_none_remains() {
    let participant = World::new().participant();
    let (writer, reader) = pair(&participant, &participant);
    let guard = GuardCondition::new();
    let wait_set = WaitSet::new(&participant);
    let (unread, status) = (reader.read_condition(States::NOT_READ), writer.status_condition());
    status.set_enabled_statuses(StatusMask::INCOMPATIBLE_QOS);
    wait_set.attach(&unread);
    wait_set.attach(&status);
    wait_set.attach(&guard);
    write(&writer, &[(1, 0)]);
    assert!(unread.is_triggered());
    drop(reader);
    drop(writer);
    assert!(!unread.is_triggered() && !status.is_triggered());
    guard.set_triggered(true);
    assert_eq!(wait_set.wait().block_for(PATIENCE).unwrap().len(), 1);
    guard.set_triggered(false);
    assert!(wait_set.detach(&guard));
    assert_eq!(wait_set.wait().block_for(PATIENCE).unwrap_err().kind(), &WaitErrorKind::Closed);
}

#[test]
fn blocked_wait_ends_when_last_entity_closes() {
    let participant = World::new().participant();
    let (_writer, reader) = pair(&participant, &participant);
    let wait_set = WaitSet::new(&participant);
    wait_set.attach(&reader.read_condition(States::NOT_READ));
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait_set.wait().block_for(PATIENCE).unwrap_err());
        reader.close();
        assert_eq!(waiter.join().unwrap().kind(), &WaitErrorKind::Closed);
    });
}

#[test]
fn wait_can_be_awaited_and_dropped() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let participant = World::new().participant();
    let (writer, reader) = pair(&participant, &participant);
    let unread = reader.read_condition(States::NOT_READ);
    let wait_set = WaitSet::new(&participant);
    wait_set.attach(&unread);
    runtime.block_on(async {
        assert!(wait_set.wait().within(Duration::from_millis(1)).await.is_err());
        let write = async { writer.write(&pose(1, 0)).unwrap() };
        let (active, ()) = tokio::join!(wait_set.wait().within(PATIENCE), write);
        assert!(active.unwrap().contains(&unread));
    });
}

/// Polls a wait and returns its result if it is ready.
fn poll<W: Future>(wait: &mut Pin<Box<W>>, woken: &Arc<Woken>) -> Option<W::Output> {
    match wait.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(woken)))) {
        Poll::Ready(end) => Some(end),
        Poll::Pending => None,
    }
}

/// Each change that may end a wait wakes a waiter that waits already.
#[test]
fn change_of_wait_set_wakes_present_waiter() {
    let participant = World::new().participant();
    let (writer, reader) = pair(&participant, &participant);
    let (guard, other, status) = (GuardCondition::new(), GuardCondition::new(), reader.status_condition());
    status.set_enabled_statuses(StatusMask::NONE);
    let set = WaitSet::new(&participant);
    set.attach(&guard);
    set.attach(&status);
    let woken = Arc::<Woken>::default();
    // A change, its name, and the action that undoes it.
    type Change<'a> = Box<dyn Fn() + 'a>;
    let changes: [(&dyn Condition, Change<'_>, Change<'_>); 3] = [
        (&guard, Box::new(|| guard.set_triggered(true)), Box::new(|| guard.set_triggered(false))),
        (&status, Box::new(|| status.set_enabled_statuses(StatusMask::DATA_AVAILABLE)), Box::new(|| ())),
        (&other, Box::new(|| set.attach(&other)), Box::new(|| assert!(set.detach(&other)))),
    ];
    write(&writer, &[(1, 0)]);
    other.set_triggered(true);
    for (condition, change, take_back) in changes {
        let mut wait = Box::pin(set.wait().into_future());
        assert!(poll(&mut wait, &woken).is_none() && !woken.news() > 0);
        change();
        assert!(woken.news() > 0, "before it is asked again");
        assert!(poll(&mut wait, &woken).unwrap().unwrap().contains(condition));
        take_back();
        status.set_enabled_statuses(StatusMask::NONE);
    }
    // The reader closes, so no attached condition can end the wait any more.
    reader.close();
    let mut wait = Box::pin(set.wait().into_future());
    assert!(poll(&mut wait, &woken).is_none());
    woken.news();
    assert!(set.detach(&guard) && woken.news() > 0);
    assert_eq!(poll(&mut wait, &woken).unwrap().unwrap_err().kind(), &WaitErrorKind::Closed);
}

/// A finished waiter is not woken, and a detached condition does not wake the set.
#[test]
fn abandoned_wait_is_not_woken() {
    let participant = World::new().participant();
    let (writer, reader) = pair(&participant, &participant);
    let (guard, detached, status) = (GuardCondition::new(), GuardCondition::new(), reader.status_condition());
    status.set_enabled_statuses(StatusMask::DATA_AVAILABLE);
    let set = WaitSet::new(&participant);
    [&guard as &dyn Condition, &detached, &status].into_iter().for_each(|condition| set.attach(condition));
    let woken = Arc::<Woken>::default();
    let mut wait = Box::pin(set.wait().into_future());
    assert!(poll(&mut wait, &woken).is_none());
    assert!(set.detach(&detached) && set.detach(&status));
    assert!(poll(&mut wait, &woken).is_none());
    woken.news();
    detached.set_triggered(true);
    write(&writer, &[(1, 0)]);
    assert!(!woken.news() > 0, "a detached condition wakes no wait set");
    drop(wait);
    guard.set_triggered(true);
    assert!(!woken.news() > 0, "after the wait was given up");
}
