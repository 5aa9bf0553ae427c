//! Nodes of this crate among themselves, in contexts of their own.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod actions;
mod callbacks;
mod dynamic;
mod examples;
mod explain;
mod forms;
mod introspection;
mod lifecycle;
mod logs;
mod security;
mod simulated;
#[cfg(feature = "tf2")]
mod tf;
mod time;
mod tokio_tasks;
mod topics;

use dds_ros2::msgs::rcl_interfaces::msg::ParameterEvent;
use dds_ros2::msgs::std_msgs::msg::String as Text;
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolRequest, SetBoolResponse};
use dds_ros2::{
    Context, ContextBuilder, DiscoveryRange, Distro, Error, Graph, ParameterValue, QosProfile, RosMessage, RosService,
};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Longer than any step takes on a busy machine. Only a failing test reaches it.
const LIMIT: Duration = Duration::from_secs(30);

/// Waits, because endpoints of a dropped handle may end later: the thread of a context holds a server while it answers.
fn wait_until(context: &Context, is_so: impl FnMut(&Graph) -> bool + Send) {
    context.graph().wait_until(is_so).block_for(LIMIT).unwrap();
}

/// Contexts with the same tag find each other, and no other participant.
fn builder(tag: &str) -> ContextBuilder {
    let tag = format!("{tag}-{}", std::process::id());
    Context::builder()
        .ignore_environment()
        .discovery_range(DiscoveryRange::Localhost)
        .participant(move |builder| builder.domain_tag(tag))
}

fn invert(request: SetBoolRequest) -> SetBoolResponse {
    SetBoolResponse { success: !request.data, message: String::new() }
}

#[test]
fn remapped_names_are_the_names_in_the_graph() {
    let arguments = ["--ros-args", "-r", "__node:=news", "-r", "__ns:=/lab", "-r", "chatter:=~/out", "-e", "/e"];
    let context = builder("names").arguments(arguments).build().unwrap();
    let node = context.node_builder("talker").bare().build().unwrap();
    assert_eq!(node.full_name(), "/lab/news");
    let publisher = node.publisher::<Text>("chatter").unwrap();
    assert_eq!(publisher.topic_name(), "/lab/news/out");
    assert_eq!(publisher.writer().topic_name(), "rt/lab/news/out");
    assert_eq!(publisher.writer().type_name(), "std_msgs::msg::dds_::String_");
    let graph = context.graph();
    assert_eq!(graph.nodes_and_enclaves()[0].1, "/e");
    let [found] = &graph.publishers("/lab/news/out")[..] else { panic!("one publisher") };
    assert_eq!(found.node.as_ref().unwrap().to_string(), "/lab/news");
    assert_eq!(found.type_hash.as_deref(), Some(Text::TYPE_HASH));
    drop(publisher);
    assert!(graph.topics().is_empty());
    drop(node);
    assert!(graph.nodes().is_empty());
}

#[test]
fn invalid_names_are_refused_with_their_position() {
    let context = builder("invalid").build().unwrap();
    let error = context.node("my node").unwrap_err().to_string();
    assert!(error.starts_with("invalid node name \"my node\" at byte 2"), "{error}");
    let node = context.node("n").unwrap();
    let error = node.publisher::<Text>("a//b").unwrap_err();
    assert!(matches!(&error, Error::Name(error) if error.position == 2), "{error}");
    assert!(context.node_builder("n").namespace("a b").build().is_err());
}

#[test]
fn publisher_outlives_the_handle_of_its_node() {
    let context = builder("handles").build().unwrap();
    let publisher = context.node("talker").unwrap().publisher::<Text>("chatter").unwrap();
    assert_eq!(context.graph().nodes().len(), 1);
    drop(publisher);
    wait_until(&context, |graph| graph.nodes().is_empty());
}

#[test]
fn serialized_messages_pass_without_decoding() {
    let context = builder("serialized").build().unwrap();
    let node = context.node("bridge").unwrap();
    let subscription = node.subscription::<Text>("in").unwrap();
    let publisher = node.publisher::<Text>("in").unwrap();
    publisher.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    let bytes = [0, 1, 0, 0, 3, 0, 0, 0, b'h', b'i', 0, 0];
    publisher.publish_serialized(dds_core::cdr::Encoded::new(&bytes).unwrap()).unwrap();
    subscription.reader().readable().block_for(LIMIT).unwrap();
    let [received] = &subscription.take_serialized().unwrap()[..] else { panic!("one message") };
    assert_eq!(received.bytes[4..11], bytes[4..11]);
}

#[test]
fn loan_of_a_publisher_has_the_memory_of_an_earlier_message() {
    let context = builder("loans").build().unwrap();
    let node = context.node("n").unwrap();
    let subscription = node.subscription::<Text>("chatter").unwrap();
    let publisher = node.publisher::<Text>("chatter").unwrap();
    publisher.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    let mut capacity = 0;
    for text in ["the first message is long", "short"] {
        let mut loan = publisher.writer().loan().unwrap();
        assert!(loan.data.capacity() >= capacity, "{}", loan.data.capacity());
        loan.data.clear();
        loan.data.push_str(text);
        capacity = loan.data.capacity();
        loan.write().unwrap();
        assert_eq!(subscription.next_message().block_for(LIMIT).unwrap().data, text);
    }
}

#[test]
fn nodes_of_both_layouts_see_each_other() {
    let new = builder("layouts").build().unwrap();
    let humble = builder("layouts").distro(Distro::Humble).build().unwrap();
    let _new = new.node("new").unwrap();
    let _humble = humble.node_builder("old").namespace("lab").build().unwrap();
    new.graph().wait_for_node("/lab/old").block_for(LIMIT).unwrap();
    humble.graph().wait_for_node("/new").block_for(LIMIT).unwrap();
    for (graph, peer, distro) in [(new.graph(), &humble, Distro::Humble), (humble.graph(), &new, Distro::Jazzy)] {
        assert_eq!((graph.distro(peer.participant().guid()), graph.faults()), (Some(distro), Vec::new()));
    }
    humble.shutdown().unwrap();
    new.graph().wait_until(|graph| graph.nodes().len() == 1).block_for(LIMIT).unwrap();
}

#[test]
fn many_calls_from_several_clients_get_their_answers() {
    let server = builder("calls").build().unwrap();
    let service = server.node("server").unwrap().service::<SetBool>("flip").unwrap();
    let thread = std::thread::spawn(move || service.serve(invert));
    let contexts: Vec<Context> = (0..3).map(|_| builder("calls").build().unwrap()).collect();
    std::thread::scope(|scope| {
        for context in &contexts {
            scope.spawn(move || {
                let client = context.node("client").unwrap().client::<SetBool>("flip").unwrap();
                for number in 0..50 {
                    let value = number % 2 == 0;
                    let answer = client.call(SetBoolRequest { data: value }).block_for(LIMIT).unwrap();
                    assert_eq!(answer.success, !value);
                }
                assert_eq!(client.calls_in_flight(), 0);
            });
        }
    });
    server.shutdown().unwrap();
    thread.join().unwrap().unwrap();
}

#[test]
fn answers_may_come_in_another_order() {
    let context = builder("order").build().unwrap();
    let node = context.node("n").unwrap();
    let service = node.service::<SetBool>("flip").unwrap();
    let client = node.client::<SetBool>("flip").unwrap();
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| client.call(SetBoolRequest { data: true }).block_for(LIMIT).unwrap());
        let one = service.next_request().block_for(LIMIT).unwrap();
        let second = scope.spawn(|| client.call(SetBoolRequest { data: false }).block_for(LIMIT).unwrap());
        let two = service.next_request().block_for(LIMIT).unwrap();
        two.answer(invert);
        one.answer(invert);
        (first.join().unwrap(), second.join().unwrap())
    });
    assert_eq!((first.success, second.success), (false, true));
}

#[test]
fn call_to_several_servers_gets_one_answer_also_after_one_left() {
    let contexts = [(); 2].map(|()| builder("servers").build().unwrap());
    let counts = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let threads = [0, 1].map(|index| {
        let service = contexts[index].node("server").unwrap().service::<SetBool>("flip").unwrap();
        let count = Arc::clone(&counts[index]);
        std::thread::spawn(move || {
            service.serve(|request| {
                count.fetch_add(1, Ordering::Relaxed);
                invert(request)
            })
        })
    });
    let client = builder("servers").build().unwrap().node("client").unwrap().client::<SetBool>("flip").unwrap();
    let call = || assert!(!client.call(SetBoolRequest { data: true }).block_for(LIMIT).unwrap().success);
    let start = std::time::Instant::now();
    while counts.iter().any(|count| count.load(Ordering::Relaxed) == 0) {
        assert!(start.elapsed() < LIMIT, "{counts:?}");
        call();
    }
    contexts[1].shutdown().unwrap();
    for _ in 0..5 {
        call();
    }
    assert_eq!(client.calls_in_flight(), 0);
    contexts[0].shutdown().unwrap();
    for thread in threads {
        thread.join().unwrap().unwrap();
    }
}

#[test]
fn servers_and_clients_have_the_type_and_the_hash_of_the_service() {
    let [server, client] = [(); 2].map(|()| builder("details").build().unwrap());
    let _service = server.node_builder("server").namespace("lab").build().unwrap().service::<SetBool>("flip").unwrap();
    let own = client.node("client").unwrap().client::<SetBool>("/lab/flip").unwrap();
    own.wait_for_service().block_for(LIMIT).unwrap();
    let graph = client.graph();
    let is_known = |graph: &Graph| graph.servers("/lab/flip").iter().any(|found| found.node.is_some());
    graph.wait_until(is_known).block_for(LIMIT).unwrap();
    for (found, node) in [(graph.servers("/lab/flip"), "/lab/server"), (graph.clients("/lab/flip"), "/client")] {
        let [found] = &found[..] else { panic!("{found:?}") };
        assert_eq!(found.node.as_ref().unwrap().to_string(), node);
        let (ty, hash) = (<SetBool as RosService>::ROS_NAME, <SetBool as RosService>::TYPE_HASH);
        assert_eq!((found.type_name.as_str(), found.type_hash.as_deref()), (ty, Some(hash)));
        // As `rmw_dds_common` of Lyrical reads it.
        let data = String::from_utf8(found.qos.user_data().to_vec()).unwrap();
        assert!(data.ends_with(&format!("typehash={};sertypehash={hash};", SetBoolRequest::TYPE_HASH)), "{data}");
    }
}

#[test]
fn localhost_with_static_peers_finds_this_host() {
    // In a domain of its own, because unicast discovery reaches only the first participants of a domain.
    let new = || builder("peers").domain_id(77).static_peers(["192.0.2.1"]).build().unwrap();
    let (first, second) = (new(), new());
    let _node = first.node("there").unwrap();
    second.graph().wait_for_node("/there").block_for(LIMIT).unwrap();
}

#[test]
fn change_of_the_graph_before_the_first_poll_counts() {
    let context = builder("changes").build().unwrap();
    let graph = context.graph();
    let changed = graph.changed();
    let _node = context.node("n").unwrap();
    changed.block_for(LIMIT).unwrap();
}

/// Polls a future that nothing wakes, until it is ready.
fn poll_until_ready<F: Future + Unpin>(mut future: F) -> F::Output {
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    let start = std::time::Instant::now();
    loop {
        if let std::task::Poll::Ready(output) = Pin::new(&mut future).poll(&mut task) {
            return output;
        }
        assert!(start.elapsed() < LIMIT, "the future is not ready");
        std::thread::yield_now();
    }
}

#[test]
fn slow_server_answers_every_request_that_waits() {
    const EACH: usize = 700;
    let context = builder("slow").build().unwrap();
    let node = context.node("n").unwrap();
    let service = node.service::<SetBool>("flip").unwrap();
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    let mut calls = Vec::new();
    let mut slow = None;
    for _ in 0..2 {
        let client = node.client::<SetBool>("flip").unwrap();
        client.wait_for_service().block_for(LIMIT).unwrap();
        for _ in 0..EACH {
            let mut call = client.call(SetBoolRequest { data: true });
            // The first poll sends the request.
            assert!(Pin::new(&mut call).poll(&mut task).is_pending());
            calls.push(call);
        }
        if slow.is_none() {
            slow = Some(service.next_request().block_for(LIMIT).unwrap());
        }
    }
    for _ in 1..calls.len() {
        service.next_request().block_for(LIMIT).unwrap().answer(invert);
    }
    slow.unwrap().answer(invert);
    for call in calls {
        assert!(!poll_until_ready(call).unwrap().success);
    }
}

#[test]
fn dropped_call_is_canceled_and_its_late_reply_ignored() {
    let context = builder("dropped").build().unwrap();
    let node = context.node("n").unwrap();
    let client = node.client::<SetBool>("flip").unwrap();
    let service = node.service::<SetBool>("flip").unwrap();
    client.wait_for_service().block_for(LIMIT).unwrap();
    let mut call = client.call(SetBoolRequest { data: true });
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(Pin::new(&mut call).poll(&mut task).is_pending(), "the request is on its way");
    let request = service.next_request().block_for(LIMIT).unwrap();
    assert_eq!(client.calls_in_flight(), 1);
    drop(call);
    assert_eq!(client.calls_in_flight(), 0);
    request.answer(invert);
    // The reply belongs to no call, so the next one gets its own.
    let answering = std::thread::spawn(move || service.next_request().block_for(LIMIT).unwrap().answer(invert));
    assert!(client.call(SetBoolRequest { data: false }).block_for(LIMIT).unwrap().success);
    answering.join().unwrap();
}

#[test]
fn call_without_server_or_answer_names_the_missing_part() {
    let context = builder("missing").build().unwrap();
    let node = context.node("n").unwrap();
    let client = node.client::<SetBool>("flip").unwrap();
    let short = Duration::from_millis(50);
    let error = client.call(SetBoolRequest { data: true }).block_for(short).unwrap_err().to_string();
    assert_eq!(error, "time limit reached: no server of \"/flip\" is connected");
    let service = node.service::<SetBool>("flip").unwrap();
    client.wait_for_service().block_for(LIMIT).unwrap();
    let error = client.call(SetBoolRequest { data: true }).block_for(short).unwrap_err().to_string();
    assert_eq!(error, "time limit reached: no reply of \"/flip\"; 1 servers are connected");
    assert_eq!(client.calls_in_flight(), 0);
    // The request is not answered when its server leaves.
    let call = client.call(SetBoolRequest { data: true });
    let waiting = std::thread::spawn(move || call.block_for(LIMIT));
    while client.calls_in_flight() == 0 {
        std::thread::yield_now();
    }
    drop(service);
    assert!(matches!(waiting.join().unwrap(), Err(Error::ServersGone { .. })));
}

#[test]
fn parameters_exist_as_long_as_their_node() {
    let context = builder("parameters").build().unwrap();
    let node = context.node_builder("drive").bare().build().unwrap();
    assert!(context.graph().services().is_empty());
    let speed = node.parameter("speed", 2_i64).range(0..=3).declare().unwrap();
    assert_eq!(context.graph().services().len(), 6);
    let error = node.parameter("speed", 1_i64).declare().unwrap_err();
    assert_eq!(error.to_string(), "parameter \"speed\" is already declared");
    assert!(node.parameter("late", 9_i64).range(0..=3).declare().is_err());
    drop(node);
    let error = speed.set(4).unwrap_err();
    assert_eq!((error.to_string().as_str(), speed.get()), ("4 is outside of the range of parameter \"speed\"", 2));
    speed.set(3).unwrap();
    assert_eq!(speed.get(), 3);
    drop(speed);
    wait_until(&context, |graph| graph.nodes().is_empty() && graph.services().is_empty());
}

#[test]
fn parameters_of_another_node_block_without_a_runtime() {
    let context = builder("remote").build().unwrap();
    let drive = context.node("drive").unwrap();
    let speed = drive.parameter("speed", 2_i64).range(0..=3).declare().unwrap();
    let remote = context.node("tuner").unwrap().parameters_of("/drive").unwrap().within(LIMIT);
    assert_eq!(remote.list().block().unwrap(), ["speed", "start_type_description_service", "use_sim_time"]);
    remote.set("speed", 3_i64).block().unwrap();
    assert_eq!((remote.get("speed").block().unwrap(), speed.get()), (ParameterValue::Integer(3), 3));
    assert!(matches!(remote.set("speed", 4_i64).block(), Err(Error::Parameter { .. })));
}

#[test]
fn callbacks_see_changes_before_and_after() {
    let context = builder("callbacks").build().unwrap();
    let drive = context.node("drive").unwrap();
    let speed = drive.parameter("speed", 1_i64).range(0..=9).description("meters per second").declare().unwrap();
    let gear = drive.parameter("gear", 1_i64).declare().unwrap();
    let (sender, changes) = std::sync::mpsc::channel();
    let inner = gear.clone();
    let sum = move |changes: &[(String, ParameterValue)]| match changes {
        [(_, ParameterValue::Integer(13))] => panic!("a fault of the program"),
        // It reads a parameter while one changes.
        [(name, ParameterValue::Integer(value))] if name == "speed" && *value > 3 * inner.get() => {
            Err("too fast for the gear".to_owned())
        }
        _ => Ok(()),
    };
    let before = drive.before_parameters_change(sum).unwrap();
    let after = drive.after_parameters_change(move |changes| sender.send(changes.to_vec()).unwrap()).unwrap();
    let remote = context.node("tuner").unwrap().parameters_of("/drive").unwrap().within(LIMIT);
    let refused = remote.set("speed", 5_i64).block().unwrap_err();
    assert_eq!(refused.to_string(), "too fast for the gear");
    assert_eq!(gear.set(13).unwrap_err().to_string(), "a callback panicked");
    let both = || [("speed", ParameterValue::Integer(6)), ("gear", ParameterValue::Integer(2))];
    remote.set_all(both()).block().unwrap();
    assert_eq!((speed.get(), gear.get()), (6, 2));
    let changed: Vec<_> = both().map(|(name, value)| (name.to_owned(), value)).to_vec();
    assert_eq!(changes.recv_timeout(LIMIT).unwrap(), changed);
    // All or none.
    let outside = [("gear", ParameterValue::Integer(3)), ("speed", ParameterValue::Integer(10))];
    let error = remote.set_all(outside).block().unwrap_err().to_string();
    assert!(error.contains("10 is outside of the range") && gear.get() == 2, "{error}");
    let described = remote.describe("speed").block().unwrap();
    assert_eq!((described.description.as_str(), described.integer_range[0].to_value), ("meters per second", 9));
    assert_eq!(remote.describe("none").block().unwrap().r#type, 0);
    drop((before, after));
    gear.set(13).unwrap();
    assert!(changes.try_recv().is_err());
}

#[test]
fn events_of_parameters_follow_the_order_of_the_changes() {
    const EACH: i64 = 200;
    let context = builder("events").build().unwrap();
    let node = context.node("drive").unwrap();
    let speed = node.parameter("speed", 0_i64).declare().unwrap();
    let events = node.subscription_with::<ParameterEvent>("/parameter_events", QosProfile::PARAMETER_EVENTS).unwrap();
    events.wait_for_publishers(1).block_for(LIMIT).unwrap();
    std::thread::scope(|scope| {
        for first in [1, 1 + EACH] {
            let speed = &speed;
            scope.spawn(move || (first..first + EACH).for_each(|value| speed.set(value).unwrap()));
        }
    });
    let mut last = 0;
    for _ in 0..2 * EACH {
        let event = events.next_message().block_for(LIMIT).unwrap();
        last = event.changed_parameters[0].value.integer_value;
    }
    assert_eq!(last, speed.get());
    let error = node.parameter("frame", String::new()).declare().unwrap().set("a\0b".to_owned()).unwrap_err();
    assert_eq!(error.to_string(), "the value of parameter \"frame\" contains NUL");
}

#[test]
fn shutdown_ends_every_wait() {
    let context = builder("shutdown").build().unwrap();
    let node = context.node("n").unwrap();
    let service = node.service::<SetBool>("flip").unwrap();
    let subscription = node.subscription_with::<Text>("chatter", QosProfile::SENSOR_DATA).unwrap();
    let requests = std::thread::spawn(move || service.next_request().block_for(LIMIT).map(drop));
    let messages = std::thread::spawn(move || subscription.next_message().block_for(LIMIT).map(drop));
    context.shutdown().unwrap();
    assert!(matches!(requests.join().unwrap(), Err(Error::Closed)));
    assert!(matches!(messages.join().unwrap(), Err(Error::Closed)));
    assert!(context.node("late").is_err());
}
