//! Services between a node of this crate and one of `rclpy`.

use crate::context;
use crate::peer::{LIMIT, Peer};
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolRequest, SetBoolResponse};
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
    context.graph().wait_until(|_| !client.is_ready()).block_for(LIMIT).unwrap();
    let error =
        client.call(SetBoolRequest { data: true }).block_for(std::time::Duration::from_millis(100)).unwrap_err();
    assert!(error.to_string().contains("no server of \"/flip\" is connected"), "{error}");
}
