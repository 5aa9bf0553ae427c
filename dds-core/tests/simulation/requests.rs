//! Requests and replies over lossy networks, from the first moment of both participants, in virtual time.

use dds_core::error::WaitErrorKind;
use dds_core::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use dds_core::rpc::{Replier, Requester};
use dds_core::sim::{Conditions, Simulation};
use dds_core::{DdsType, Duration};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Number {
    value: u32,
}

/// Answers every request that is there.
fn answer_all(replier: &Replier<Number, Number>) -> usize {
    let mut answered = 0;
    while let Ok(request) = replier.next_request().block_for(Duration::from_millis(1)) {
        request.answer(|Number { value }| Number { value: value + 1 }).unwrap();
        answered += 1;
    }
    answered
}

#[test]
fn first_call_is_answered_despite_loss() {
    for seed in 0..40 {
        let simulation = Simulation::new(seed);
        simulation.set_network(Conditions::hall_wifi());
        let station = simulation.participant("station", 0).unwrap();
        let requester = Requester::<Number, Number>::new(&station, "next").unwrap();
        let robot = simulation.participant("robot", 0).unwrap();
        let replier = Replier::<Number, Number>::new(&robot, "next").unwrap();
        // Sent at the first moment at which the requester sees both ways.
        let mut replies = requester.call_all(&Number { value: seed as u32 }).block_for(PATIENCE).unwrap();
        let request = replier.next_request().block_for(PATIENCE).unwrap();
        request.answer(|Number { value }| Number { value: value + 1 }).unwrap();
        let reply = replies.next_reply().block_for(PATIENCE).unwrap();
        assert_eq!(reply, Number { value: seed as u32 + 1 }, "seed {seed}");
    }
}

#[test]
fn requests_in_flight_are_answered_despite_loss() {
    for seed in 0..4 {
        let simulation = Simulation::new(seed);
        simulation.set_network(Conditions::hall_wifi());
        let robots = ["a", "b"].map(|host| {
            let robot = simulation.participant(host, 0).unwrap();
            (Requester::<Number, Number>::new(&robot, "next").unwrap(), host)
        });
        let station = simulation.participant("station", 0).unwrap();
        let replier = Replier::<Number, Number>::new(&station, "next").unwrap();
        let mut calls = Vec::new();
        for value in 0..50 {
            for (requester, host) in &robots {
                let replies = requester.call_all(&Number { value }).block_for(PATIENCE).unwrap();
                calls.push((replies, value, *host));
            }
        }
        let mut answered = 0;
        while answered < 100 {
            answered += answer_all(&replier);
            simulation.run_for(Duration::from_millis(10));
        }
        for (mut replies, value, host) in calls {
            let reply = replies.next_reply().block_for(PATIENCE).unwrap();
            assert_eq!(reply, Number { value: value + 1 }, "seed {seed}, host {host}");
        }
        assert_eq!(answered, 100, "no request is handed out twice");
    }
}

#[test]
fn call_ends_when_the_host_of_its_replier_dies() {
    let simulation = Simulation::new(1);
    let station = simulation.participant("station", 0).unwrap();
    let requester = Requester::<Number, Number>::new(&station, "next").unwrap();
    let robot = simulation.participant("robot", 0).unwrap();
    let replier = Replier::<Number, Number>::new(&robot, "next").unwrap();
    let mut replies = requester.call_all(&Number { value: 1 }).block_for(PATIENCE).unwrap();
    simulation.host("robot").crash();
    // The lease of the participant is 20 s.
    let error = replies.next_reply().block_for(PATIENCE).unwrap_err();
    assert_eq!(error.kind(), &WaitErrorKind::RepliersGone);
    assert_eq!(requester.repliers(), 0);
    drop(replier);
}

/// The call waited for room before its replier left. The room is then for others.
#[test]
fn call_without_replier_blocks_no_direct_write() {
    let simulation = Simulation::new(1);
    let [station, robot, observer] =
        ["station", "robot", "observer"].map(|host| simulation.participant(host, 0).unwrap());
    let one = DataWriterQos::default().reliable().keep_all().resource_limits(ResourceLimits::NONE.max_samples(1));
    let replies = DataReaderQos::default().reliable().keep_all();
    let requester = Requester::<Number, Number>::builder(&station, "next").qos(one, replies.clone()).build().unwrap();
    let replier = Replier::<Number, Number>::new(&robot, "next").unwrap();
    let _reader = observer.reader_builder::<Number>("next_Request").qos(replies).build().unwrap();
    let writer = requester.request_writer();
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    requester.wait_for_replier().block_for(PATIENCE).unwrap();
    writer.write(&Number { value: 1 }).unwrap();
    writer.acknowledged().block_for(PATIENCE).unwrap();
    simulation.link("station", "observer").cut();
    writer.write(&Number { value: 2 }).unwrap();
    let request = Number { value: 3 };
    let mut call = pin!(requester.call(&request).into_future());
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(call.as_mut().poll(&mut context), Poll::Pending), "the history is full");
    replier.close();
    simulation.run_for(Duration::from_millis(500));
    assert_eq!(requester.repliers(), 0);
    assert!(matches!(call.as_mut().poll(&mut context), Poll::Pending), "no replier is there");
    simulation.link("station", "observer").mend();
    writer.acknowledged().block_for(PATIENCE).unwrap();
    writer.write(&Number { value: 4 }).unwrap();
    writer.acknowledged().block_for(PATIENCE).unwrap();
    // The call goes on with another replier.
    let replier = Replier::<Number, Number>::new(&robot, "next").unwrap();
    requester.wait_for_replier().block_for(PATIENCE).unwrap();
    assert!(matches!(call.as_mut().poll(&mut context), Poll::Pending), "the request is sent");
    assert_eq!(answer_all(&replier), 1);
    simulation.run_for(Duration::from_millis(500));
    let Poll::Ready(Ok(reply)) = call.as_mut().poll(&mut context) else { panic!("no reply") };
    assert_eq!(reply, Number { value: 4 });
}
