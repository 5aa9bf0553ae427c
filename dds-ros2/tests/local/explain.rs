//! Why endpoints are connected or not, and what peers sent that is malformed, in terms of ROS 2.

use crate::{LIMIT, builder, wait_until};
use dds_core::cdr::Encoded;
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::writer::{SampleIdentity, SequenceNumber, WriteOptions};
use dds_core::{DdsType, DomainParticipant, Guid, Scope};
use dds_ros2::msgs::example_interfaces::action::Fibonacci;
use dds_ros2::msgs::rcl_interfaces::msg::{Parameter, ParameterValue};
use dds_ros2::msgs::rcl_interfaces::srv::{SetParameters, SetParametersRequest};
use dds_ros2::msgs::rmw_dds_common::msg::{Gid, NodeEntitiesInfo, ParticipantEntitiesInfo};
use dds_ros2::msgs::std_msgs::msg::{Int32, String as Text};
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolRequest, Trigger, TriggerRequest};
use dds_ros2::{ConnectionProblem, Context, FaultKind, Node, QosProfile, RosAction};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(50);

fn pair(tag: &str) -> [Node; 2] {
    [("lidar", "/lab"), ("viewer", "/")].map(|(name, namespace)| {
        let context = builder(tag).build().unwrap();
        context.node_builder(name).namespace(namespace).bare().build().unwrap()
    })
}

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LIMIT, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a context knows the node of the publishers of a topic.
fn wait_for_publisher(context: &Context, topic: &str) {
    wait_until(context, |graph| graph.publishers(topic).iter().any(|found| found.node.is_some()));
}

#[test]
fn qos_and_types_that_differ_are_named_in_words_of_ros() {
    let [lidar, viewer] = pair("explain-qos");
    let scans = lidar.publisher_with::<Text>("/scan", QosProfile::SENSOR_DATA).unwrap();
    let maps = lidar.publisher::<Text>("/map").unwrap();
    let _poses = lidar.publisher::<Int32>("/pose").unwrap();
    let scan = viewer.subscription_with::<Text>("scan", QosProfile::DEFAULT.transient_local()).unwrap();
    let map = viewer.subscription::<Text>("map").unwrap();
    let pose = viewer.subscription::<Text>("pose").unwrap();
    for topic in ["/scan", "/map", "/pose"] {
        wait_for_publisher(viewer.context(), topic);
    }
    map.wait_for_publishers(1).block_for(LIMIT).unwrap();

    assert_eq!(
        scan.explain().to_string(),
        "/scan: the publisher of node /lab/lidar and the subscription of node /viewer are not connected: \
         durability is volatile at the publisher, and the subscription requests transient_local \
         (publish with `transient_local`, or subscribe with `volatile`); \
         reliability is best_effort at the publisher, and the subscription requests reliable \
         (publish with `reliable`, or subscribe with `best_effort`, such as SENSOR_DATA)"
    );
    let error = scan.next_message().block_for(SHORT).unwrap_err().to_string();
    assert!(error.contains("no message on \"/scan\"; 0 publishers are connected; /scan: the publisher of"), "{error}");
    let error = scan.wait_for_publishers(1).block_for(SHORT).unwrap_err().to_string();
    assert!(error.contains("0 of 1 publishers of \"/scan\" are connected; /scan: the publisher of"), "{error}");
    let error = scans.wait_for_subscribers(1).block_for(LIMIT / 10).unwrap_err().to_string();
    assert!(error.contains("reliability is best_effort at the publisher"), "{error}");

    let connected = "/map: the publisher of node /lab/lidar and the subscription of node /viewer are connected";
    assert_eq!(map.explain().to_string(), connected);
    maps.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    let text = pose.explain().to_string();
    assert!(text.contains("one sends std_msgs/msg/Int32, and the other expects std_msgs/msg/String ("), "{text}");
}

#[test]
fn missing_sides_and_other_namespaces_are_named() {
    let [lidar, viewer] = pair("explain-names");
    let _scans = lidar.publisher::<Text>("scan").unwrap();
    let scan = viewer.subscription::<Text>("scan").unwrap();
    wait_for_publisher(viewer.context(), "/lab/scan");
    let graph = viewer.context().graph();
    let explanation = graph.explain("/scan");
    assert_eq!(explanation.other_names, ["/lab/scan"]);
    let text = explanation.to_string();
    assert!(text.contains("/scan has a subscription and no publisher\n/lab/scan has the same last part"), "{text}");
    let error = scan.next_message().block_for(SHORT).unwrap_err().to_string();
    assert!(error.contains("/lab/scan"), "{error}");
    assert_eq!(graph.explain("/none").to_string(), "no node has a topic, a service or an action /none");

    // A program of DDS that forgot the prefix of ROS 2.
    let participant = stranger("explain-names");
    let _plain = participant.writer::<Text>("odometry").unwrap();
    wait_until(viewer.context(), |graph| graph.explain("/odometry").hints.len() == 2);
    let text = graph.explain("/odometry").to_string();
    assert!(text.contains("uses the DDS topic \"odometry\"; ROS 2 calls it \"rt/odometry\""), "{text}");
}

#[test]
fn services_of_different_types_say_so_in_the_error_of_a_call() {
    let [lidar, viewer] = pair("explain-services");
    let service = lidar.service::<Trigger>("/reset").unwrap();
    let client = viewer.client::<SetBool>("/reset").unwrap();
    wait_until(viewer.context(), |graph| {
        graph.explain("/reset").connections.iter().all(|pair| pair.sender.node.is_some())
            && graph.explain("/reset").connections.len() == 2
    });
    let error = client.call(SetBoolRequest { data: true }).block_for(SHORT).unwrap_err().to_string();
    let expected = "no server of \"/reset\" is connected; requests of /reset: the client of node /viewer and the \
                    server of node /lab/lidar are not connected: one sends std_srvs/srv/SetBool_Request, and the \
                    other expects std_srvs/srv/Trigger_Request";
    assert!(error.contains(expected), "{error}");
    let text = service.explain().to_string();
    assert!(text.contains("replies of /reset: the server of node /lab/lidar and the client of node"), "{text}");

    let good = lidar.client::<Trigger>("/reset").unwrap();
    let call = good.call(TriggerRequest::default());
    let answer = std::thread::spawn(move || call.block_for(LIMIT));
    service.next_request().block_for(LIMIT).unwrap().answer(|_| Default::default());
    answer.join().unwrap().unwrap();
    let explanation = good.explain();
    assert!(explanation.connections.iter().filter(|pair| pair.is_connected).count() == 2, "{explanation}");
}

#[test]
fn missing_side_of_an_action_is_named() {
    let [lidar, viewer] = pair("explain-actions");
    let _server = lidar.action_server::<Fibonacci>("fibonacci").unwrap();
    let lost = viewer.action_client::<Fibonacci>("fibonacci").unwrap();
    let client = viewer.action_client::<Fibonacci>("/lab/fibonacci").unwrap();
    client.wait_for_server().block_for(LIMIT).unwrap();
    wait_until(viewer.context(), |graph| graph.explain("/fibonacci").other_names == ["/lab/fibonacci"]);
    let text = lost.explain().to_string();
    assert!(text.contains("/fibonacci has a client and no server\n/lab/fibonacci has the same last part"), "{text}");
    // Requests and replies of three services, feedback and status.
    eventually("not all parts are connected", || {
        let connections = client.explain().connections;
        connections.len() == 8 && connections.iter().all(|pair| pair.is_connected)
    });
}

/// Another definition of `std_msgs/msg/String`.
#[derive(DdsType, Debug, Clone, Default)]
#[dds(name = "std_msgs::msg::dds_::String_")]
struct OtherText {
    data: String,
    language: u8,
}

fn stranger(tag: &str) -> DomainParticipant {
    let tag = format!("{tag}-{}", std::process::id());
    DomainParticipant::builder(0).scope(Scope::Host).domain_tag(tag).type_information(false).build().unwrap()
}

#[test]
fn definitions_of_a_type_that_differ_are_a_warning() {
    let [_, viewer] = pair("explain-hash");
    let news = viewer.subscription::<Text>("news").unwrap();
    let hash = format!("typehash=RIHS01_{};", "0".repeat(64));
    let qos = DataWriterQos::default().reliable().user_data(hash.into_bytes());
    let participant = stranger("explain-hash");
    let _other = participant.writer_builder::<OtherText>("rt/news").qos(qos).build().unwrap();
    news.wait_for_publishers(1).block_for(LIMIT).unwrap();
    let explanation = news.explain();
    let [pair] = &explanation.connections[..] else { panic!("{explanation}") };
    assert!(pair.is_connected && matches!(pair.problems[..], [ConnectionProblem::TypeHash { .. }]), "{pair}");
    let text = pair.to_string();
    assert!(
        text.starts_with("/news: a publisher without a node and the subscription of node /viewer are connected, but")
    );
    assert!(text.contains("the definitions of the type differ: RIHS01_0000"), "{text}");
}

/// A request with a value that is no truth value.
#[derive(DdsType, Debug, Clone, Default)]
#[dds(name = "std_srvs::srv::dds_::SetBool_Request_")]
struct BadRequest {
    data: u8,
}

/// A request of `ros2-client` whose header ends early.
#[derive(DdsType, Debug, Clone, Default)]
#[dds(name = "std_srvs::srv::dds_::SetBool_Request_")]
struct ShortHeader {
    client: [u8; 8],
    number: [u8; 3],
}

/// Publishes announcements of nodes that lie, and one that does not decode.
fn announce_lies(participant: &DomainParticipant) -> impl Sized + use<> {
    let qos = DataWriterQos::default().reliable().transient_local().keep_all();
    let writer = participant.writer_builder::<ParticipantEntitiesInfo>("ros_discovery_info").qos(qos).build().unwrap();
    let gid = |guid: Guid| Gid { data: guid.to_bytes() };
    let own = participant.guid();
    let announce = |of: Guid, name: &str, writer_gid_seq: Vec<Gid>| {
        let node = NodeEntitiesInfo {
            node_namespace: "/".into(),
            node_name: name.into(),
            reader_gid_seq: Vec::new(),
            writer_gid_seq,
        };
        let message = ParticipantEntitiesInfo { gid: gid(of), node_entities_info_seq: vec![node] };
        writer.write(&message).unwrap();
    };
    writer.write_encoded(Encoded::new(&[0, 1, 0, 0, 1, 2, 3, 4]).unwrap()).unwrap();
    announce(Guid::from_bytes([7; 16]), "another", Vec::new());
    announce(own, "two words", Vec::new());
    announce(own, "liar", vec![gid(Guid::from_bytes([7; 16]))]);
    writer
}

#[test]
fn malformed_parts_of_a_peer_are_counted_and_cost_themselves() {
    let [drive, tuner] = pair("explain-faults");
    let service = drive.service::<SetBool>("/flip").unwrap();
    let client = drive.client::<SetBool>("/flop").unwrap();
    let server = drive.action_server::<Fibonacci>("/fibonacci").unwrap();
    let _speed = drive.parameter("speed", 1.0).declare().unwrap();

    let participant = stranger("explain-faults");
    let _announcements = announce_lies(&participant);
    let bad_hash = DataWriterQos::default().user_data(b"typehash=RIHS01_xyz;".to_vec());
    let _hash = participant.writer_builder::<Text>("rt/hash").qos(bad_hash).build().unwrap();
    let _name = participant.writer::<Text>("rt/two words").unwrap();
    let reliable = || DataWriterQos::default().reliable().keep_all();
    let requests = participant.writer_builder::<BadRequest>("rq/flipRequest").qos(reliable()).build().unwrap();
    let way_back = DataReaderQos::default().reliable();
    let _replies = participant
        .reader_builder::<dds_ros2::msgs::std_srvs::srv::SetBoolResponse>("rr/flipReply")
        .qos(way_back)
        .build()
        .unwrap();
    requests.wait_for_readers(1).block_for(LIMIT).unwrap();
    requests.write(&BadRequest { data: 9 }).unwrap();
    let headed = participant.writer_builder::<ShortHeader>("rq/flipRequest").qos(reliable()).build().unwrap();
    headed.wait_for_readers(1).block_for(LIMIT).unwrap();
    let own = SampleIdentity { writer: headed.guid(), sequence_number: SequenceNumber::UNKNOWN };
    // The header of `ros2-client` begins with the second half of its GUID.
    let half = headed.guid().to_bytes()[8..].try_into().unwrap();
    headed
        .write_with(&ShortHeader { client: half, number: [1, 0, 0] }, WriteOptions::new().related_sample(own))
        .unwrap();
    let replies = participant
        .writer_builder::<dds_ros2::msgs::std_srvs::srv::SetBoolResponse>("rr/flopReply")
        .qos(reliable())
        .build()
        .unwrap();
    replies.wait_for_readers(1).block_for(LIMIT).unwrap();
    replies.write(&Default::default()).unwrap();

    let parameters = tuner.client::<SetParameters>("/lab/lidar/set_parameters").unwrap();
    let value = ParameterValue { r#type: 77, ..ParameterValue::default() };
    let request = SetParametersRequest { parameters: vec![Parameter { name: "speed".into(), value }] };
    let response = parameters.call(request).block_for(LIMIT).unwrap();
    assert!(!response.results[0].successful);
    type SendGoal = <Fibonacci as RosAction>::SendGoal;
    let goals = tuner.client::<SendGoal>("/fibonacci/_action/send_goal").unwrap();
    let first = goals.call(Default::default());
    let first = std::thread::spawn(move || first.block_for(LIMIT));
    let goal = server.next_goal().block_for(LIMIT).unwrap().accept().unwrap();
    first.join().unwrap().unwrap();
    let second = goals.call(Default::default());
    let second = std::thread::spawn(move || second.block_for(LIMIT));
    eventually("no goal was refused", || {
        assert!(server.take_goal().unwrap().is_none());
        second.is_finished()
    });

    let graph = drive.context().graph();
    let expected = BTreeMap::from([
        (FaultKind::Announcement, 3),
        (FaultKind::Name, 2),
        (FaultKind::TypeHash, 1),
        (FaultKind::Request, 2),
        (FaultKind::Reply, 1),
        (FaultKind::Parameter, 1),
        (FaultKind::Goal, 1),
    ]);
    eventually("the faults differ", || {
        let _ = service.take_request().unwrap();
        graph.fault_counts() == expected
    });
    assert_eq!(service.malformed_requests(), 2);
    // The peer has its well-formed node, and no endpoint of another one.
    wait_until(drive.context(), |graph| graph.nodes().iter().any(|node| node.name == "liar"));
    assert!(!graph.nodes().iter().any(|node| ["another", "two words"].contains(&node.name.as_str())));
    assert_eq!(graph.node_entities("/", "liar").unwrap().publishers.len(), 0);
    assert!(graph.publishers("/hash").iter().all(|publisher| publisher.type_hash.is_none()));
    let text = graph.explain("/flip").to_string();
    assert!(text.contains("node /liar sent malformed announcements of nodes (3), names (2), type hashes (1), requests (2), replies (1)"), "{text}");
    assert!(text.contains("node /viewer sent malformed parameters (1), goals (1)"), "{text}");
    drop((goal, client));
    participant.shutdown().block().unwrap();
    eventually("the faults of a peer that left stay", || graph.faults().len() == 1);
    assert_eq!(graph.fault_counts(), expected);
}
