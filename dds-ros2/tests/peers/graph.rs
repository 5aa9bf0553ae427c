//! The graph, as `rclpy` sees the nodes of this crate, and the other way.

use crate::peer::{LIMIT, Peer};
use crate::test_msgs::action::Fibonacci;
use crate::{context, eventually, is_kilted};
use dds_ros2::msgs::std_msgs::msg::String as Text;
use dds_ros2::msgs::std_srvs::srv::{SetBool, Trigger};
use dds_ros2::{Distro, Graph, QosProfile, RosMessage};
use serde_json::{Value, json};

fn has(list: &Value, name: &str) -> bool {
    list.as_array().unwrap().iter().any(|entry| entry == name)
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn rclpy_sees_nodes_topics_and_services() {
    let context = context(30);
    let talker = context.node_builder("talker").namespace("/lab").build().unwrap();
    let server = context.node_builder("server").bare().build().unwrap();
    let publisher = talker.publisher_with::<Text>("~/chatter", QosProfile::SENSOR_DATA).unwrap();
    let _subscription = talker.subscription::<Text>("orders").unwrap();
    let _service = server.service::<SetBool>("flip").unwrap();
    let _client = talker.client::<SetBool>("/flip").unwrap();
    let mut peer = Peer::start(30, "watcher", "/");
    let graph = peer.ask_until(&json!({"command": "graph"}), |graph| {
        has(&graph["nodes"], "/lab/talker")
            && has(&graph["nodes"], "/server")
            && graph["topics"]["/lab/orders"] == json!(["std_msgs/msg/String"])
            && graph["services"]["/flip"] == json!(["std_srvs/srv/SetBool"])
    });
    assert_eq!(graph["topics"]["/lab/talker/chatter"], json!(["std_msgs/msg/String"]));

    let of_talker = json!({"command": "node_info", "name": "talker", "namespace": "/lab"});
    let expected = json!({
        "event": "node_info",
        "publishers": {
            "/lab/talker/chatter": ["std_msgs/msg/String"],
            "/parameter_events": ["rcl_interfaces/msg/ParameterEvent"],
            "/rosout": ["rcl_interfaces/msg/Log"],
        },
        "subscriptions": {"/lab/orders": ["std_msgs/msg/String"]},
        // Those of each node of `rclcpp`.
        "services": {
            "/lab/talker/describe_parameters": ["rcl_interfaces/srv/DescribeParameters"],
            "/lab/talker/get_parameter_types": ["rcl_interfaces/srv/GetParameterTypes"],
            "/lab/talker/get_parameters": ["rcl_interfaces/srv/GetParameters"],
            "/lab/talker/get_type_description": ["type_description_interfaces/srv/GetTypeDescription"],
            "/lab/talker/list_parameters": ["rcl_interfaces/srv/ListParameters"],
            "/lab/talker/set_parameters": ["rcl_interfaces/srv/SetParameters"],
            "/lab/talker/set_parameters_atomically": ["rcl_interfaces/srv/SetParametersAtomically"],
        },
        "clients": {"/flip": ["std_srvs/srv/SetBool"]},
    });
    peer.ask_until(&of_talker, |info| *info == expected);
    let of_server = json!({"command": "node_info", "name": "server", "namespace": "/"});
    peer.ask_until(&of_server, |info| info["services"] == json!({"/flip": ["std_srvs/srv/SetBool"]}));

    let info = peer.ask_until(&json!({"command": "topic_info", "topic": "/lab/talker/chatter"}), |info| {
        info["endpoints"].as_array().is_some_and(|endpoints| endpoints.len() == 1)
    });
    let endpoint = &info["endpoints"][0];
    assert_eq!((&endpoint["node"], &endpoint["kind"]), (&json!("/lab/talker"), &json!("PUBLISHER")));
    assert_eq!((&endpoint["reliability"], &endpoint["durability"]), (&json!("BEST_EFFORT"), &json!("VOLATILE")));
    assert!(endpoint["hash"].as_str().unwrap().contains(Text::TYPE_HASH.trim_start_matches("RIHS01_")), "{endpoint}");
    assert_eq!(endpoint["gid"], json!(publisher.writer().guid().to_bytes()));

    // An entity that leaves is withdrawn.
    drop((publisher, talker, _subscription, _client));
    peer.ask_until(&json!({"command": "graph"}), |graph| {
        !has(&graph["nodes"], "/lab/talker") && graph["topics"]["/lab/orders"].is_null()
    });
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn rclpy_client_finds_the_server_ready() {
    let context = context(31);
    let node = context.node("server").unwrap();
    let service = node.service::<SetBool>("flip").unwrap();
    let mut peer = Peer::start(31, "client", "/");
    peer.ask_until(&json!({"command": "ready", "service": "/flip"}), |answer| answer["is_ready"] == true);
    drop(service);
    peer.ask_until(&json!({"command": "ready", "service": "/flip"}), |answer| answer["is_ready"] == false);
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn graph_has_the_nodes_of_rclpy() {
    let context = context(32);
    let graph = context.graph();
    let mut peer = Peer::start(32, "camera", "/lab");
    graph.wait_for_node("/lab/camera").block_for(LIMIT).unwrap();
    peer.tell(json!({"command": "publish", "topic": "frames", "text": "x", "profile": "latched"}));
    peer.tell(json!({"command": "serve", "service": "flip"}));
    graph
        .wait_until(|graph| {
            graph.node_entities("/lab", "camera").is_some_and(|entities| {
                entities.publishers.contains_key("/lab/frames") && entities.services.contains_key("/lab/flip")
            })
        })
        .block_for(LIMIT)
        .unwrap();
    let [frames] = &graph.publishers("/lab/frames")[..] else { panic!("one publisher") };
    assert_eq!(frames.node.as_ref().unwrap().to_string(), "/lab/camera");
    assert_eq!((frames.type_name.as_str(), frames.type_hash.as_deref()), (Text::ROS_NAME, Some(Text::TYPE_HASH)));
    assert_eq!(frames.qos.writer().unwrap().durability, dds_core::qos::Durability::TransientLocal);
    assert!(graph.topics()["/lab/frames"].contains("std_msgs/msg/String"));
    assert!(graph.services()["/lab/flip"].contains("std_srvs/srv/SetBool"));
    assert!(graph.services()["/lab/camera/get_parameters"].contains("rcl_interfaces/srv/GetParameters"));
    assert_eq!(graph.nodes_and_enclaves()[0].1, "/");
    let distro = if is_kilted() { Distro::Kilted } else { Distro::Jazzy };
    assert_eq!((graph.faults(), graph.distro(frames.gid)), (Vec::new(), Some(distro)));
    let [server] = &graph.servers("/lab/flip")[..] else { panic!("one server") };
    // Lyrical is the first release that announces the hashes of services.
    assert_eq!((server.type_name.as_str(), &server.type_hash), ("std_srvs/srv/SetBool", &None));
    assert_eq!(server.node.as_ref().unwrap().to_string(), "/lab/camera");
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn actions_show_on_both_sides() {
    let context = context(34);
    let node = context.node_builder("arm").namespace("lab").build().unwrap();
    let _server = node.action_server::<Fibonacci>("ours").unwrap();
    let _client = node.action_client::<Fibonacci>("theirs").unwrap();
    let mut peer = Peer::start_with(34, "watcher", "/lab", &[("TEST_THREADS", "8")]);
    peer.tell(json!({"command": "serve_action", "action": "theirs"}));
    // A query about a node that is not known yet ends the peer.
    peer.ask_until(&json!({"command": "graph"}), |graph| has(&graph["nodes"], "/lab/arm"));
    let ty = json!(["test_msgs/action/Fibonacci"]);
    let expected = json!({
        "event": "actions",
        "all": {"/lab/ours": ty, "/lab/theirs": ty},
        "servers": {"/lab/ours": ty},
        "clients": {"/lab/theirs": ty},
    });
    peer.ask_until(&json!({"command": "actions", "name": "arm", "namespace": "/lab"}), |found| *found == expected);
    let has_both = |graph: &Graph| {
        let actions = graph.actions();
        let is_there = |name: &str| actions.get(name).is_some_and(|types| types.contains("test_msgs/action/Fibonacci"));
        is_there("/lab/ours") && is_there("/lab/theirs")
    };
    context.graph().wait_until(has_both).block_for(LIMIT).unwrap();
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn explain_names_the_node_of_rclpy_and_the_qos_that_differs() {
    let context = context(33);
    let node = context.node("viewer").unwrap();
    let scans = node.subscription::<Text>("/lab/scan").unwrap();
    let plain = node.subscription::<Text>("/scan").unwrap();
    let mut peer = Peer::start(33, "lidar", "/lab");
    peer.tell(json!({"command": "publish", "topic": "scan", "text": "x", "profile": "sensor_data"}));
    let is_known = |graph: &Graph| graph.publishers("/lab/scan").iter().any(|found| found.node.is_some());
    context.graph().wait_until(is_known).block_for(LIMIT).unwrap();
    assert_eq!(
        scans.explain().to_string(),
        "/lab/scan: the publisher of node /lab/lidar (Fast DDS) and the subscription of node /viewer are not \
         connected: reliability is best_effort at the publisher, and the subscription requests reliable (publish with \
         `reliable`, or subscribe with `best_effort`, such as SENSOR_DATA)"
    );
    assert_eq!(plain.explain().other_names, ["/lab/scan"]);
    peer.tell(json!({"command": "serve", "service": "flip"}));
    peer.wait_for("serving", |_| true);
    let client = node.client::<Trigger>("/lab/flip").unwrap();
    context.graph().wait_until(|graph| graph.services().contains_key("/lab/flip")).block_for(LIMIT).unwrap();
    eventually("a pair of endpoints is unknown", || client.explain().connections.len() == 2);
    let error = client.call(Default::default()).block_for(std::time::Duration::from_millis(50)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("one sends std_srvs/srv/Trigger_Request, and the other expects std_srvs/srv/SetBool_"),
        "{text}"
    );
}
