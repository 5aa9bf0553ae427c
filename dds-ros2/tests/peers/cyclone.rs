//! Services in the form of `rmw_cyclonedds`, with Cyclone DDS.

use crate::context;
use crate::peer::{LIMIT, Peer};
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolRequest, SetBoolResponse};
use dds_ros2::{ConnectionProblem, Distro, Error, Graph};
use serde_json::json;

#[test]
#[ignore = "needs ROS 2 and Cyclone DDS: .ci/run ros2"]
fn server_answers_both_forms_at_once() {
    let context = context(55);
    let service = context.node("server").unwrap().service::<SetBool>("flip").unwrap();
    let thread = std::thread::spawn(move || {
        service.serve(|request| SetBoolResponse { success: !request.data, message: format!("not {}", request.data) })
    });
    let mut cyclone = Peer::start_cyclone(55, "client");
    let mut ros = Peer::start(55, "client", "/");
    ros.tell(json!({"command": "call", "service": "/flip", "values": [true, false, true, false]}));
    for number in 1..=6 {
        let answer = cyclone.wait_for("answered", |_| true);
        let asked = number % 2 == 0;
        let expected =
            json!({"event": "answered", "number": number, "success": !asked, "message": format!("not {asked}")});
        assert_eq!(answer, expected);
    }
    for number in 0..4 {
        let answer = ros.wait_for("answered", |_| true);
        assert_eq!((&answer["asked"], &answer["success"]), (&json!(number % 2 == 0), &json!(number % 2 == 1)));
    }
    cyclone.kill();
    context.shutdown().unwrap();
    thread.join().unwrap().unwrap();
}

#[test]
#[ignore = "needs ROS 2 and Cyclone DDS: .ci/run ros2"]
fn client_uses_the_form_of_its_server_and_refuses_both() {
    let context = context(56);
    let client = context.node("client").unwrap().client::<SetBool>("flip").unwrap();
    let mut cyclone = Peer::start_cyclone(56, "server");
    for number in 1..=4 {
        let data = number % 2 == 0;
        let answer = client.call(SetBoolRequest { data }).block_for(LIMIT).unwrap();
        assert_eq!((answer.success, answer.message), (!data, format!("cyclone {number}")));
        assert_eq!(cyclone.wait_for("asked", |_| true)["data"], json!(data));
    }
    let graph = context.graph();
    graph.wait_for_node("/cyclone").block_for(LIMIT).unwrap();
    let [server] = &graph.servers("/flip")[..] else { panic!("one server") };
    assert_eq!(server.node.as_ref().unwrap().to_string(), "/cyclone");
    // Lyrical is the first release with this version of Cyclone DDS.
    assert_eq!((graph.distro(server.gid), graph.faults()), (Some(Distro::Lyrical), Vec::new()));
    let mut ros = Peer::start(56, "server", "/");
    ros.tell(json!({"command": "serve", "service": "/flip"}));
    ros.wait_for("serving", |_| true);
    // Until the second server matches, the first one answers.
    let is_refused = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let result = client.call(SetBoolRequest { data: true }).block_for(LIMIT);
        matches!(result, Err(Error::MixedServers { .. }))
    });
    assert!(is_refused);
    cyclone.kill();
}

#[test]
#[ignore = "needs ROS 2 and Cyclone DDS: .ci/run ros2"]
fn explain_names_a_client_and_a_server_that_do_not_understand_each_other() {
    let context = context(57);
    let cyclone = Peer::start_cyclone(57, "server");
    let mut ros = Peer::start(57, "caller", "/");
    // The first answer creates the client, which stays.
    ros.ask(json!({"command": "ready", "service": "/flip"}));
    let graph = context.graph();
    let has_warning = |graph: &Graph| {
        let connections = graph.explain("/flip").connections;
        connections.iter().any(|pair| pair.is_connected && pair.problems.contains(&ConnectionProblem::ServiceForm))
    };
    graph.wait_until(has_warning).block_for(LIMIT).unwrap();
    let text = graph.explain("/flip").to_string();
    let expected = "are connected, but rmw_cyclonedds and other implementations send services in different forms";
    assert!(text.contains("(Cyclone DDS)") && text.contains(expected), "{text}");
    drop(cyclone);
}
