//! Requests and replies over lossy networks, from the first moment of both participants, in virtual time.

use dds_core::error::WaitErrorKind;
use dds_core::listener::Delivery;
use dds_core::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use dds_core::rpc::{Replier, Requester};
use dds_core::sim::{Conditions, Simulation};
use dds_core::writer::WriteOptions;
use dds_core::{DataReader, DdsType, DomainParticipant, Duration};
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

/// Answers each request at once, as servers of other vendors do. A [`Replier`] waits for the reader of the reply.
fn hasty_server(participant: &DomainParticipant) -> DataReader<Number> {
    let qos = (DataWriterQos::default().reliable().keep_all(), DataReaderQos::default().reliable().keep_all());
    let replies = participant.writer_builder::<Number>("next_Reply").qos(qos.0).build().unwrap();
    let answer = move |request: dds_core::Sample<Number>| {
        let options = WriteOptions::new().related_sample(request.info.sample_identity());
        replies.write_with(&Number { value: request.data.unwrap().value + 1 }, options).unwrap();
    };
    let requests = participant.reader_builder::<Number>("next_Request").qos(qos.1).delivery(Delivery::Inline);
    requests.on_sample(answer).build().unwrap()
}

/// Whether a datagram has an announcement of a reader.
fn announces_reader(bytes: &[u8]) -> bool {
    // The id of the built-in writer of subscriptions (RTPS 2.5, 9.3.1.5).
    bytes.windows(4).any(|id| id == [0, 0, 0x04, 0xc2])
}

#[test]
fn request_waits_until_its_server_knows_the_reader_of_the_reply() {
    for blind_millis in (0..2000).step_by(100) {
        let simulation = Simulation::new(1);
        let station = simulation.participant("station", 0).unwrap();
        let (own, start) = (simulation.host("station").address(), simulation.now().as_unix_nanos());
        // The server learns of the writer of requests at once, and of the reader of replies later.
        simulation.intercept(move |passing| {
            let is_later = passing.sent_at.as_unix_nanos() - start > blind_millis * 1_000_000;
            passing.from != own || is_later || !announces_reader(&passing.bytes)
        });
        let requester = Requester::<Number, Number>::new(&station, "next").unwrap();
        let robot = simulation.participant("robot", 0).unwrap();
        let _server = hasty_server(&robot);
        let reply = requester.call(&Number { value: 1 }).block_for(PATIENCE);
        assert_eq!(reply.unwrap(), Number { value: 2 }, "{blind_millis} ms without announcements of readers");
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
