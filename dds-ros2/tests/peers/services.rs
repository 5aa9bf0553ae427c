//! Services between a node of this crate and one of `rclpy`.

use crate::peer::{LIMIT, Peer};
use crate::{context, eventually};
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolEvent, SetBoolRequest, SetBoolResponse};
use dds_ros2::{RosMessage, ServiceIntrospection};
use serde_json::json;

fn invert(request: SetBoolRequest) -> SetBoolResponse {
    SetBoolResponse { success: !request.data, message: format!("inverted {}", request.data) }
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn server_answers_each_call_of_rclpy() {
    let context = context(20);
    let node = context.node("server").unwrap();
    let service = node.service::<SetBool>("flip").unwrap();
    let thread = std::thread::spawn(move || service.serve(invert));
    let mut peer = Peer::start(20, "client", "/");
    peer.tell(json!({"command": "call", "service": "/flip", "values": [true, false, true, false, true, false]}));
    for number in 0..6 {
        let answer = peer.wait_for("answered", |_| true);
        let asked = number % 2 == 0;
        assert_eq!((&answer["asked"], &answer["success"]), (&json!(asked), &json!(!asked)), "{answer}");
        assert_eq!(answer["message"], format!("inverted {asked}"));
    }
    drop(node);
    context.shutdown().unwrap();
    thread.join().unwrap().unwrap();
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn client_gets_each_answer_of_rclpy() {
    let context = context(21);
    let node = context.node("client").unwrap();
    let client = node.client::<SetBool>("/lab/flip").unwrap();
    assert!(!client.is_ready());
    let mut peer = Peer::start(21, "server", "/lab");
    peer.tell(json!({"command": "serve", "service": "flip"}));
    client.wait_for_service().block_for(LIMIT).unwrap();
    for value in [true, false, true] {
        let answer = client.call(SetBoolRequest { data: value }).block_for(LIMIT).unwrap();
        let text = if value { "not True" } else { "not False" };
        assert_eq!((answer.success, answer.message.as_str()), (!value, text));
    }
    // Several calls at once, from threads.
    std::thread::scope(|scope| {
        for value in [true, false, true, false] {
            let client = client.clone();
            scope.spawn(move || {
                let answer = client.call(SetBoolRequest { data: value }).block_for(LIMIT).unwrap();
                assert_eq!(answer.success, !value);
            });
        }
    });
    assert_eq!(client.calls_in_flight(), 0);
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn server_that_leaves_ends_calls_and_readiness() {
    let context = context(22);
    let node = context.node("client").unwrap();
    let client = node.client::<SetBool>("flip").unwrap();
    let mut peer = Peer::start(22, "server", "/");
    peer.tell(json!({"command": "serve", "service": "/flip"}));
    client.wait_for_service().block_for(LIMIT).unwrap();
    drop(peer);
    eventually("the client is ready without a server", || !client.is_ready());
    let error =
        client.call(SetBoolRequest { data: true }).block_for(std::time::Duration::from_millis(100)).unwrap_err();
    assert!(error.to_string().contains("no server of \"/flip\" is connected"), "{error}");
}

/// The kinds of the events of a call, in the order of their numbers.
const KINDS: [u8; 4] = [0, 1, 2, 3];

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn rclpy_reads_the_events_of_a_call() {
    let context = context(23);
    let node = context.node("server").unwrap();
    let service = node.service::<SetBool>("flip").unwrap();
    service.configure_introspection(ServiceIntrospection::Contents).unwrap();
    let thread = std::thread::spawn(move || service.serve(invert));
    let mut peer = Peer::start(23, "client", "/");
    peer.tell(json!({"command": "hear_calls", "service": "/flip"}));
    peer.wait_for("hearing_calls", |_| true);
    // The client of `rclpy` exists once it was asked for.
    peer.ask_until(&json!({"command": "ready", "service": "/flip"}), |answer| answer["is_ready"] == true);
    peer.tell(json!({"command": "introspect", "service": "/flip"}));
    peer.wait_for("introspecting", |_| true);
    let topic = json!({"command": "topic_info", "topic": "/flip/_service_event"});
    let info = peer.ask_until(&topic, |info| info["endpoints"].as_array().unwrap().len() == 3);
    for endpoint in info["endpoints"].as_array().unwrap() {
        let hash = SetBoolEvent::TYPE_HASH.trim_start_matches("RIHS01_");
        assert!(endpoint["hash"].as_str().unwrap().contains(hash), "{endpoint}");
    }
    let graph = context.graph();
    graph.wait_until(|graph| graph.subscriptions("/flip/_service_event").len() == 1).block_for(LIMIT).unwrap();
    peer.tell(json!({"command": "call", "service": "/flip", "values": [true]}));
    let mut events: Vec<_> = KINDS.iter().map(|_| peer.wait_for("call_event", |_| true)).collect();
    events.sort_by_key(|event| event["kind"].as_u64());
    for (kind, event) in KINDS.iter().zip(&events) {
        let (request, response) =
            if *kind < 2 { (json!([true]), json!([])) } else { (json!([]), json!(["inverted true"])) };
        assert_eq!((&event["kind"], &event["request"], &event["response"]), (&json!(kind), &request, &response));
        assert_eq!(event["number"], 1);
    }
    let client = |kind: usize| events[kind]["client"].as_array().unwrap();
    assert_eq!((client(0), client(1)), (client(3), client(2)));
    // A client of Jazzy names its writer, and one of Kilted its reader, as servers do.
    assert_eq!(client(0)[..12], client(1)[..12]);
    context.shutdown().unwrap();
    thread.join().unwrap().unwrap();
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn events_of_rclpy_and_of_a_client_name_the_same_call() {
    let context = context(24);
    let node = context.node("client").unwrap();
    let mut peer = Peer::start(24, "server", "/");
    peer.tell(json!({"command": "serve", "service": "/flip"}));
    peer.wait_for("serving", |_| true);
    peer.tell(json!({"command": "introspect", "service": "/flip"}));
    peer.wait_for("introspecting", |_| true);
    let client = node.client::<SetBool>("flip").unwrap();
    client.configure_introspection(ServiceIntrospection::Metadata).unwrap();
    let events = node.subscription::<SetBoolEvent>("flip/_service_event").unwrap();
    events.wait_for_publishers(2).block_for(LIMIT).unwrap();
    // The publishers of both sides, and this subscription.
    let topic = json!({"command": "topic_info", "topic": "/flip/_service_event"});
    peer.ask_until(&topic, |info| info["endpoints"].as_array().unwrap().len() == 3);
    client.call(SetBoolRequest { data: true }).block_for(LIMIT).unwrap();
    let mut all: Vec<_> = KINDS.iter().map(|_| events.next_message().block_for(LIMIT).unwrap()).collect();
    all.sort_by_key(|event| event.info.event_type);
    assert_eq!(all.iter().map(|event| event.info.event_type).collect::<Vec<_>>(), KINDS);
    for event in &all {
        assert_eq!(event.info.client_gid, all[0].info.client_gid);
        assert_eq!(event.info.sequence_number, all[0].info.sequence_number);
    }
    assert_eq!((all[0].request.len(), all[1].request.len(), all[2].response.len()), (0, 1, 1));
}
