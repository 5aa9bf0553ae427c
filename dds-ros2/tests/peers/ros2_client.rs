//! Nodes of the crate `ros2-client`, with the GIDs of Humble, and both forms of services.
//!
//! `.ci/run ros2_client` builds `ros2_client/peer.rs` for Humble and for Jazzy.

use crate::peer::{LIMIT, Peer};
use dds_core::builtin::VendorId;
use dds_ros2::msgs::std_msgs::msg::String as Text;
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolRequest, SetBoolResponse};
use dds_ros2::{Context, ContextBuilder, Distro};
use serde_json::{Value, json};

fn builder(domain: u32) -> ContextBuilder {
    // The release of the peer shows at run time.
    Context::builder().ignore_environment().domain_id(domain)
}

/// Whether the peer is built for Humble.
fn is_humble() -> bool {
    std::env::var("DDS_TEST_ROS2_CLIENT").is_ok_and(|path| path.ends_with("humble"))
}

fn has(nodes: &Value, name: &str) -> bool {
    nodes["names"].as_array().unwrap().iter().any(|node| node == name)
}

#[test]
#[ignore = "needs ros2-client: .ci/run ros2_client"]
fn topics_and_nodes_of_ros2_client() {
    let context = builder(90).build().unwrap();
    let node = context.node_builder("ours").namespace("lab").build().unwrap();
    let publisher = node.publisher::<Text>("/there").unwrap();
    let subscription = node.subscription::<Text>("/back").unwrap();
    let mut peer = Peer::start_ros2_client(90, "theirs", "/lab");
    context.graph().wait_for_node("/lab/theirs").block_for(LIMIT).unwrap();
    peer.wait_for("nodes", |nodes| has(nodes, "/lab/ours"));
    peer.tell(json!({"command": "subscribe", "topic": "/there"}));
    peer.wait_for("subscribed", |_| true);
    publisher.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    publisher.publish(&Text { data: "naïve".into() }).unwrap();
    peer.wait_for("heard", |heard| heard["text"] == "naïve");
    // The first messages may be older than the match.
    let is_heard = (0..200).any(|_| {
        peer.tell(json!({"command": "publish", "topic": "/back", "text": "naïve"}));
        let next = subscription.next_message().block_for(std::time::Duration::from_millis(100));
        next.is_ok_and(|message| message.data == "naïve")
    });
    assert!(is_heard);
    let [found] = &context.graph().publishers("/back")[..] else { panic!("one publisher") };
    assert_eq!(found.node.as_ref().unwrap().to_string(), "/lab/theirs");
    assert_eq!(context.graph().faults(), []);
    let distro = if is_humble() { Distro::Humble } else { Distro::Jazzy };
    assert_eq!(context.graph().distro(found.gid), Some(distro));
}

#[test]
#[ignore = "needs ros2-client: .ci/run ros2_client"]
fn server_answers_both_forms_of_ros2_client() {
    server_answers_both_forms(91, builder(91));
}

/// A program may also be a client of servers that have the header.
#[test]
#[ignore = "needs ros2-client: .ci/run ros2_client"]
fn header_for_clients_does_not_affect_a_server() {
    server_answers_both_forms(93, builder(93).service_header_of(VendorId::RUSTDDS));
}

fn server_answers_both_forms(domain: u32, builder: ContextBuilder) {
    let context = builder.build().unwrap();
    let service = context.node("server").unwrap().service::<SetBool>("flip").unwrap();
    let thread = std::thread::spawn({
        let service = service.clone();
        move || service.serve(|request| SetBoolResponse { success: !request.data, message: request.data.to_string() })
    });
    let mut peer = Peer::start_ros2_client(domain, "client", "/");
    for mapping in ["enhanced", "cyclone"] {
        peer.tell(json!({"command": "call", "service": "/flip", "mapping": mapping, "values": [true, false, true]}));
        for asked in [true, false, true] {
            let answer = peer.wait_for("answered", |_| true);
            assert_eq!(
                (&answer["success"], &answer["message"]),
                (&json!(!asked), &json!(asked.to_string())),
                "{mapping}"
            );
        }
    }
    assert_eq!(service.malformed_requests(), 0);
    context.shutdown().unwrap();
    thread.join().unwrap().unwrap();
}

#[test]
#[ignore = "needs ros2-client: .ci/run ros2_client"]
fn client_calls_both_forms_of_ros2_client() {
    for mapping in ["enhanced", "cyclone"] {
        let mut builder = builder(92);
        if mapping == "cyclone" {
            builder = builder.service_header_of(VendorId::RUSTDDS);
        }
        let context = builder.build().unwrap();
        let client = context.node("client").unwrap().client::<SetBool>("flip").unwrap();
        let mut peer = Peer::start_ros2_client(92, "server", "/");
        peer.tell(json!({"command": "serve", "service": "/flip", "mapping": mapping}));
        peer.wait_for("serving", |_| true);
        for data in [true, false, true] {
            let answer = client.call(SetBoolRequest { data }).block_for(LIMIT).unwrap();
            assert_eq!((answer.success, answer.message), (!data, format!("not {data}")), "{mapping}");
        }
    }
}
