//! Requests and replies: in one process, within a participant and over UDP.

#![allow(clippy::disallowed_methods, reason = "the application has threads of its own")]

use crate::support::{PATIENCE, World};
use dds_core::error::{Missing, WaitErrorKind};
use dds_core::qos::{DataReaderQos, DataWriterQos, Preset, ResourceLimits};
use dds_core::rpc::{Replier, Requester};
use dds_core::writer::WriteOptions;
use dds_core::{DataReader, DdsType, DomainParticipant, Duration};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, JoinHandle};
use std::time::Instant;

const MOMENT: Duration = Duration::from_millis(150);

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Number {
    value: i64,
}

fn number(value: i64) -> Number {
    Number { value }
}

fn requester(participant: &DomainParticipant) -> Requester<Number, Number> {
    Requester::new(participant, "square").unwrap()
}

fn replier(participant: &DomainParticipant) -> Replier<Number, Number> {
    Replier::new(participant, "square").unwrap()
}

/// A thread that squares, until its replier is closed.
fn squares(replier: &Replier<Number, Number>) -> JoinHandle<()> {
    let replier = replier.clone();
    thread::spawn(move || replier.serve(|Number { value }| number(value * value)).unwrap())
}

/// Repeats `look` until it is true, for at most [`PATIENCE`].
fn eventually(what: &str, mut look: impl FnMut() -> bool) {
    let started = Instant::now();
    while !look() {
        assert!(started.elapsed() < PATIENCE.to_std().unwrap(), "{what}");
        thread::sleep(Duration::from_millis(1).to_std().unwrap());
    }
}

fn wait_for_repliers(requester: &Requester<Number, Number>, count: usize) {
    eventually("all repliers match", || requester.repliers() >= count);
}

fn timeout_of(requester: &Requester<Number, Number>) -> Missing {
    match requester.call(&number(1)).block_for(MOMENT).unwrap_err().kind().clone() {
        WaitErrorKind::Timeout { awaited: "reply", limit, missing } if limit == MOMENT => missing,
        other => panic!("{other:?}"),
    }
}

#[test]
fn call_gets_its_reply_locally_and_by_udp() {
    for by_udp in [false, true] {
        // A world for each: a requester may still match a replier of the other part, which then leaves.
        let world = World::new();
        let asking = if by_udp { world.udp_participant() } else { world.participant() };
        let answering = if by_udp { world.udp_participant() } else { asking.clone() };
        let (requester, replier) = (requester(&asking), replier(&answering));
        let server = squares(&replier);
        for value in 0..50 {
            assert_eq!(requester.call(&number(value)).block_for(PATIENCE).unwrap(), number(value * value));
        }
        assert_eq!((requester.in_flight(), requester.repliers()), (0, 1));
        replier.close();
        server.join().unwrap();
    }
}

#[test]
fn call_waits_for_a_late_replier() {
    let world = World::new();
    let requester = requester(&world.udp_participant());
    let client = thread::spawn(move || requester.call(&number(7)).block_for(PATIENCE));
    thread::sleep(MOMENT.to_std().unwrap());
    let replier = replier(&world.udp_participant());
    let server = squares(&replier);
    assert_eq!(client.join().unwrap().unwrap(), number(49));
    replier.close();
    server.join().unwrap();
}

#[test]
fn requesters_get_their_own_replies_only() {
    let world = World::new();
    let replier = replier(&world.udp_participant());
    let server = squares(&replier);
    let shared = world.udp_participant();
    let clients = [shared.clone(), shared, world.udp_participant(), world.udp_participant()].map(|participant| {
        thread::spawn(move || {
            let requester = requester(&participant);
            // All requests are in flight at once.
            let calls: Vec<_> =
                (0..100).map(|value| requester.call_all(&number(value)).block_for(PATIENCE).unwrap()).collect();
            for (value, mut replies) in (0..100).zip(calls) {
                assert_eq!(replies.next_reply().block_for(PATIENCE).unwrap(), number(value * value));
                assert!(replies.next_reply().block_for(Duration::ZERO).is_err(), "each request has one reply");
            }
            assert_eq!(requester.in_flight(), 0);
        })
    });
    clients.into_iter().for_each(|client| client.join().unwrap());
    replier.close();
    server.join().unwrap();
}

#[test]
fn call_all_gets_the_replies_of_all_repliers() {
    let world = World::new();
    let repliers = [world.udp_participant(), world.udp_participant()].map(|participant| replier(&participant));
    let requester = requester(&world.udp_participant());
    wait_for_repliers(&requester, 2);
    let mut replies = requester.call_all(&number(7)).block_for(PATIENCE).unwrap();
    for (replier, answer) in repliers.iter().zip([1, 2]) {
        replier.next_request().block_for(PATIENCE).unwrap().reply(&number(answer)).unwrap();
    }
    let mut got = [(); 2].map(|()| replies.next_reply().block_for(PATIENCE).unwrap().value);
    got.sort_unstable();
    assert_eq!(got, [1, 2]);
    // The first reply is enough for `call`, and the other one is ignored.
    let servers = repliers.each_ref().map(squares);
    assert_eq!(requester.call(&number(7)).block_for(PATIENCE).unwrap(), number(49));
    assert_eq!(requester.in_flight(), 1, "`replies` is still there");
    drop(replies);
    assert_eq!(requester.in_flight(), 0);
    repliers.iter().for_each(Replier::close);
    servers.into_iter().for_each(|server| server.join().unwrap());
}

#[test]
fn timeout_names_the_missing_part() {
    let world = World::new();
    let requester = requester(&world.udp_participant());
    // The participants of a test look for each other on this host only.
    let alone = |missing: Missing| matches!(missing, Missing::Setting { .. });
    assert!(alone(timeout_of(&requester)));
    let other = world.udp_participant();
    let topic = other.reader::<Number>("other").unwrap();
    eventually("the participant is found", || !alone(timeout_of(&requester)));
    assert_eq!(timeout_of(&requester), Missing::Endpoint { participants: 1 });
    drop(topic);
    let requests: DataReader<Number> = other.reader_builder("square_Request").qos(Preset::Event).build().unwrap();
    requests.wait_for_writers(1).block_for(PATIENCE).unwrap();
    eventually("the reader is found", || !matches!(timeout_of(&requester), Missing::Endpoint { .. }));
    assert_eq!(timeout_of(&requester), Missing::OneWay { requests: 1, replies: 0 });
    drop(requests);
    let replier = replier(&other);
    requester.wait_for_replier().block_for(PATIENCE).unwrap();
    assert_eq!(timeout_of(&requester), Missing::Reply { repliers: 1 });
    assert_eq!(requester.in_flight(), 0, "a timeout cancels the call");
    let text = requester.call(&number(1)).block_for(MOMENT).unwrap_err().to_string();
    assert!(text.contains("no reply within 150ms: the request was sent to 1 replier"), "{text}");
    drop(replier);
}

#[test]
fn incompatible_replier_is_explained() {
    let world = World::new();
    let participant = world.participant();
    let requester = requester(&participant);
    // A best-effort writer of replies, and a reader of requests that matches nothing.
    let _replies = participant.writer_builder::<Number>("square_Reply").qos(Preset::SensorData).build().unwrap();
    let _requests = participant.reader_builder::<Number>("square_Request").qos(Preset::State).build().unwrap();
    assert!(matches!(timeout_of(&requester), Missing::Match { report } if report.contains("DURABILITY")));
}

#[test]
fn too_many_requests_are_an_error() {
    let world = World::new();
    let participant = world.participant();
    let replier = replier(&participant);
    let requester =
        Requester::<Number, Number>::builder(&participant, "square").max_requests(1).max_replies(1).build().unwrap();
    let first = requester.call_all(&number(1)).block_for(PATIENCE).unwrap();
    let error = requester.call(&number(2)).block_for(PATIENCE).unwrap_err();
    assert_eq!(error.kind(), &WaitErrorKind::OutOfResources { limit: "max_requests", value: 1 });
    drop(first);
    let second = requester.call_all(&number(3)).block_for(PATIENCE).unwrap();
    assert_eq!(replier.next_request().block_for(PATIENCE).unwrap().data, number(1));
    assert_eq!(replier.next_request().block_for(PATIENCE).unwrap().data, number(3));
    drop(second);
}

#[test]
fn call_ends_when_its_replier_leaves() {
    let world = World::new();
    let requester = requester(&world.udp_participant());
    let replier = replier(&world.udp_participant());
    let mut replies = requester.call_all(&number(1)).block_for(PATIENCE).unwrap();
    replier.next_request().block_for(PATIENCE).unwrap().reply(&number(2)).unwrap();
    drop(replier);
    assert_eq!(replies.next_reply().block_for(PATIENCE).unwrap(), number(2));
    let error = replies.next_reply().block_for(PATIENCE).unwrap_err();
    assert_eq!(error.kind(), &WaitErrorKind::RepliersGone);
}

#[test]
fn close_ends_calls_and_serving() {
    for close_participant in [false, true] {
        // The server of the first round runs on, and would be a third replier.
        let world = World::new();
        let (asking, answering) = (world.udp_participant(), world.udp_participant());
        let (requester, idle) = (requester(&asking), replier(&answering));
        let server = squares(&replier(&world.udp_participant()));
        wait_for_repliers(&requester, 2);
        let waiting = requester.clone();
        let client = thread::spawn(move || {
            let mut replies = waiting.call_all(&number(1)).block_for(PATIENCE).unwrap();
            // The other replier does not answer.
            while replies.next_reply().block_for(PATIENCE)? != number(0) {}
            Ok::<(), dds_core::error::WaitError>(())
        });
        drop(idle.next_request().block_for(PATIENCE).unwrap());
        if close_participant {
            asking.close();
        } else {
            requester.close();
        }
        assert_eq!(client.join().unwrap().unwrap_err().kind(), &WaitErrorKind::Closed);
        let error = requester.call(&number(1)).block_for(PATIENCE).unwrap_err();
        assert_eq!(error.kind(), &WaitErrorKind::Closed);
        drop(server);
    }
}

#[test]
fn closed_participant_ends_serving() {
    let world = World::new();
    let participant = world.participant();
    let server = squares(&replier(&participant));
    participant.close();
    server.join().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_and_requests_are_awaited() {
    let world = World::new();
    let participant = world.participant();
    let (requester, replier) = (requester(&participant), replier(&participant));
    let server = tokio::spawn(async move {
        for _ in 0..20 {
            let request = replier.next_request().await.unwrap();
            // The reply comes from another task.
            tokio::spawn(async move { request.answer(|Number { value }| number(value + 1)).unwrap() });
        }
        replier
    });
    let calls = (0..20).map(|value| {
        let requester = requester.clone();
        tokio::spawn(async move { requester.call(&number(value)).within(PATIENCE).await.unwrap() })
    });
    for (value, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(call.await.unwrap().value, i64::try_from(value).unwrap() + 1);
    }
    drop(server.await.unwrap());
}

/// The reply of a plain requester, such as of Connext, names the writer of the request.
#[test]
fn reply_names_the_writer_of_a_plain_request() {
    let world = World::new();
    let (asking, answering) = (world.udp_participant(), world.udp_participant());
    let requests = asking.writer_builder::<Number>("square_Request").qos(Preset::Event).build().unwrap();
    let replies = asking.reader_builder::<Number>("square_Reply").qos(Preset::Event).build().unwrap();
    let server = squares(&replier(&answering));
    requests.wait_for_readers(1).block_for(PATIENCE).unwrap();
    let request = requests.write_identified(&number(7), WriteOptions::new()).unwrap();
    let reply = replies.next_sample().block_for(PATIENCE).unwrap();
    assert_eq!((reply.data, reply.info.related_sample), (Some(number(49)), Some(request)));
    answering.close();
    server.join().unwrap();
}

/// Fast DDS does the same: its servers name a request by the reader that the request names.
#[test]
fn request_names_the_reader_of_its_reply() {
    let world = World::new();
    let (asking, answering) = (world.udp_participant(), world.udp_participant());
    let requester = requester(&asking);
    let requests = answering.reader_builder::<Number>("square_Request").qos(Preset::Event).build().unwrap();
    let replies = answering.writer_builder::<Number>("square_Reply").qos(Preset::Event).build().unwrap();
    replies.wait_for_readers(1).block_for(PATIENCE).unwrap();
    for by_reader in [true, false] {
        let mut call = requester.call_all(&number(7)).block_for(PATIENCE).unwrap();
        let info = requests.next_sample().block_for(PATIENCE).unwrap().info;
        let named = info.related_sample.unwrap();
        assert_eq!(named.writer, requester.reply_reader().guid());
        let mut name = info.sample_identity();
        if by_reader {
            name.writer = named.writer;
        }
        replies.write_with(&number(49), WriteOptions::new().related_sample(name)).unwrap();
        assert_eq!(call.next_reply().block_for(PATIENCE).unwrap(), number(49), "by reader: {by_reader}");
    }
}

#[test]
fn repliers_of_one_participant_count_once() {
    let world = World::new();
    let (one, other) = (world.udp_participant(), world.udp_participant());
    let requester = requester(&world.udp_participant());
    // Their announcements arrive in any order.
    let repliers = [&one, &other, &one, &other].map(replier);
    eventually("all repliers match", || requester.reply_reader().subscription_matched().current_count == 4);
    eventually("all repliers match", || requester.request_writer().publication_matched().current_count == 4);
    assert_eq!(requester.repliers(), 2);
    drop(repliers);
}

/// A reply may still arrive while the writer of replies matches.
#[test]
fn replier_without_reader_of_requests_may_still_answer() {
    let world = World::new();
    let (asking, answering) = (world.udp_participant(), world.udp_participant());
    let requester = requester(&asking);
    let requests = answering.reader_builder::<Number>("square_Request").qos(Preset::Event).build().unwrap();
    let replies = answering.writer_builder::<Number>("square_Reply").qos(Preset::Event).build().unwrap();
    replies.wait_for_readers(1).block_for(PATIENCE).unwrap();
    let mut call = requester.call_all(&number(7)).block_for(PATIENCE).unwrap();
    let name = requests.next_sample().block_for(PATIENCE).unwrap().info.sample_identity();
    drop(requests);
    eventually("the reader leaves", || requester.request_writer().publication_matched().current_count == 0);
    replies.write_with(&number(49), WriteOptions::new().related_sample(name)).unwrap();
    assert_eq!(call.next_reply().block_for(PATIENCE).unwrap(), number(49));
    drop(replies);
    let error = call.next_reply().block_for(PATIENCE).unwrap_err();
    assert_eq!(error.kind(), &WaitErrorKind::RepliersGone);
}

#[test]
fn full_history_delays_a_call() {
    let world = World::new();
    let participant = world.participant();
    let one = ResourceLimits::NONE.max_samples(1);
    let requester = Requester::<Number, Number>::builder(&participant, "square")
        .qos(DataWriterQos::default().reliable().keep_all().resource_limits(one), Preset::Event)
        .build()
        .unwrap();
    let replier = Replier::<Number, Number>::builder(&participant, "square")
        .qos(DataReaderQos::default().reliable().keep_all().resource_limits(one), Preset::Event)
        .build()
        .unwrap();
    // The reader of requests keeps one, and the history another one.
    let mut calls = Vec::new();
    for value in 0..2 {
        calls.push(requester.call_all(&number(value)).block_for(PATIENCE).unwrap());
    }
    let error = requester.call(&number(2)).block_for(MOMENT).unwrap_err();
    let missing = Missing::Acknowledgment { readers: 1 };
    assert_eq!(error.kind(), &WaitErrorKind::Timeout { awaited: "reply", limit: MOMENT, missing });
    assert_eq!(requester.in_flight(), 2, "a timeout cancels the call");
    let server = squares(&replier);
    assert_eq!(requester.call(&number(3)).block_for(PATIENCE).unwrap(), number(9));
    for (value, mut call) in (0..2).zip(calls) {
        assert_eq!(call.next_reply().block_for(PATIENCE).unwrap(), number(value * value));
    }
    replier.close();
    server.join().unwrap();
}

/// The history of replies is full of samples for a requester that has stopped.
#[test]
fn stopped_requester_costs_no_reply_of_others() {
    let world = World::new();
    let participant = world.participant();
    let (requester, replier) = (requester(&participant), replier(&participant));
    let limits = ResourceLimits::NONE.max_samples(1);
    let stopped = DataReaderQos::default().reliable().keep_all().resource_limits(limits);
    let _stopped = participant.reader_builder::<Number>("square_Reply").qos(stopped).build().unwrap();
    replier.reply_writer().wait_for_readers(2).block_for(PATIENCE).unwrap();
    let server = squares(&replier);
    for value in 0..1100 {
        assert_eq!(requester.call(&number(value)).block_for(PATIENCE).unwrap(), number(value * value));
    }
    replier.close();
    server.join().unwrap();
}

/// A value whose conversion for the wire panics.
#[derive(DdsType, Clone)]
#[dds(into = Number, from = Number)]
struct Panicking;

impl From<&Panicking> for Number {
    fn from(_: &Panicking) -> Self {
        panic!("a planted panic")
    }
}

impl From<Number> for Panicking {
    fn from(_: Number) -> Self {
        Self
    }
}

#[test]
fn panic_while_encoding_leaves_no_call_in_flight() {
    let participant = World::new().participant();
    let requester = Requester::<Panicking, Number>::builder(&participant, "square").max_requests(1).build().unwrap();
    let replier = Replier::<Panicking, Number>::new(&participant, "square").unwrap();
    requester.wait_for_replier().block_for(PATIENCE).unwrap();
    for _ in 0..2 {
        let call = || requester.call(&Panicking).block_for(PATIENCE).map(drop);
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
        assert_eq!(requester.in_flight(), 0);
    }
    drop(replier);
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_are_a_stream_that_ends() {
    let world = World::new();
    let participant = world.participant();
    let repliers = [world.udp_participant(), world.udp_participant()].map(|participant| replier(&participant));
    let requester = requester(&participant);
    wait_for_repliers(&requester, 2);
    let mut replies = requester.call_all(&number(7)).within(PATIENCE).await.unwrap();
    for (value, replier) in (1..).zip(&repliers) {
        let request = replier.next_request().within(PATIENCE).await.unwrap();
        request.reply(&number(value)).unwrap();
    }
    let mut got = Vec::new();
    for _ in 0..2 {
        got.push(replies.next().await.unwrap().unwrap().value);
    }
    got.sort_unstable();
    assert_eq!(got, [1, 2]);
    drop(repliers);
    assert!(replies.next().await.is_none());
}
