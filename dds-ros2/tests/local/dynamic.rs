//! Messages whose type the program learns at run time.

use super::{LIMIT, builder, wait_until};
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::qos::{DataRepresentation, DataWriterQos, TopicQos};
use dds_core::{DataWriter, DomainParticipant, Scope};
use dds_ros2::msgs::type_description_interfaces::msg::TypeDescription;
use dds_ros2::msgs::type_description_interfaces::srv::{GetTypeDescription, GetTypeDescriptionRequest};
use dds_ros2::msgs::{
    RosTypeEntry, action_msgs, builtin_interfaces, diagnostic_msgs, example_interfaces, geometry_msgs, nav_msgs,
    rcl_interfaces, sensor_msgs, std_msgs, std_srvs, trajectory_msgs, type_description_interfaces,
};
use dds_ros2::{Context, DdsType, Error, Graph, MessageType, Node, Publisher, QosProfile, RosMessage};
use std::time::{Duration, Instant};

/// A message of no package of this build.
#[derive(Debug, Clone, PartialEq, Default, DdsType)]
#[dds(name = "lab_msgs::msg::dds_::Wheel_")]
struct Wheel {
    stamp: builtin_interfaces::msg::Time,
    speeds: Vec<f32>,
    label: dds_core::cdr::RosWString,
}

impl RosMessage for Wheel {
    const ROS_NAME: &'static str = "lab_msgs/msg/Wheel";
    const TYPE_HASH: &'static str = "RIHS01_7c21ff7b35f6a5b79a6e6e4a3f0c6ae1f22d85ad8df2d1c2f0c9c8c6b2b94d50";
}

/// The hash that the members of `Wheel` give.
fn hash_of_wheel() -> String {
    MessageType::from_description(MessageType::of::<Wheel>().unwrap().description()).unwrap().type_hash().to_owned()
}

const LATCHED: QosProfile = QosProfile::DEFAULT.keep_last(1).transient_local();

#[test]
fn types_of_packages_become_dynamic_types_with_their_hashes() {
    let packages: [&[RosTypeEntry]; 12] = [
        action_msgs::TYPES,
        builtin_interfaces::TYPES,
        diagnostic_msgs::TYPES,
        example_interfaces::TYPES,
        geometry_msgs::TYPES,
        nav_msgs::TYPES,
        rcl_interfaces::TYPES,
        sensor_msgs::TYPES,
        std_msgs::TYPES,
        std_srvs::TYPES,
        trajectory_msgs::TYPES,
        type_description_interfaces::TYPES,
    ];
    let mut count = 0;
    for entry in packages.into_iter().flatten() {
        let bundled = MessageType::bundled(entry.ros_name).unwrap();
        let described = MessageType::from_description(bundled.description()).unwrap();
        let converted = MessageType::from_dynamic(described.dynamic_type()).unwrap();
        for ty in [&bundled, &described, &converted] {
            assert_eq!((ty.name(), ty.type_hash()), (entry.ros_name, entry.type_hash));
            assert_eq!(ty.description(), bundled.description(), "{}", entry.ros_name);
            assert!(ty.dynamic_type().is_encoded_like(bundled.dynamic_type()), "{}", entry.ros_name);
            assert_eq!(ty.dynamic_type().name(), bundled.dynamic_type().name());
        }
        count += 1;
    }
    assert!(count > 200, "{count}");
}

#[test]
fn type_that_ros_lacks_is_refused_with_the_reason() {
    let message = || DynamicType::structure("lab_msgs::msg::dds_::Wheel_");
    let refused = |ty: DynamicType| MessageType::from_dynamic(&ty).unwrap_err().to_string();
    let optional = refused(message().member("speed", DynamicType::float64()).optional().build().unwrap());
    assert_eq!(
        optional,
        "type \"lab_msgs::msg::dds_::Wheel_\" is not a message of ROS 2: member \"speed\" is optional, which ROS 2 lacks"
    );
    let inner = DynamicType::array(DynamicType::uint8(), 3);
    let matrix = refused(message().member("m", DynamicType::array(inner, 2)).build().unwrap());
    assert!(matrix.ends_with("member \"m\": ROS 2 has no arrays of several dimensions"), "{matrix}");
    let name = refused(DynamicType::structure("Wheel").member("speed", DynamicType::float64()).build().unwrap());
    assert!(name.ends_with("\"Wheel\" is no name of ROS 2: expected `package::msg::dds_::Name_`"), "{name}");
    let unknown = MessageType::bundled("lab_msgs/msg/Wheel").unwrap_err().to_string();
    assert!(unknown.contains("no package of this build has it"), "{unknown}");
    // A name of an `.idl` file, and a type that is not final, become what ROS 2 sends.
    let idl = DynamicType::structure("lab_msgs::msg::Wheel").member("text", DynamicType::wstring()).build().unwrap();
    let ty = MessageType::from_dynamic(&idl).unwrap();
    assert_eq!((ty.name(), ty.dynamic_type().name()), ("lab_msgs/msg/Wheel", "lab_msgs::msg::dds_::Wheel_"));
    let units = ty.dynamic_type().member("text").unwrap().ty();
    assert_eq!(units.element().unwrap().name(), "uint32");
}

/// Damages a description.
type Change = fn(&mut TypeDescription);

#[test]
fn malformed_description_is_refused_with_the_reason() {
    let good = MessageType::bundled("std_msgs/msg/Header").unwrap().description().clone();
    let refused = |change: Change| {
        let mut bad = good.clone();
        change(&mut bad);
        MessageType::from_description(&bad).unwrap_err().to_string()
    };
    let cases: [(Change, &str); 10] = [
        (|bad| bad.referenced_type_descriptions.clear(), "\"builtin_interfaces/msg/Time\" is not described"),
        (|bad| bad.type_description.fields[1].r#type.type_id = 0, "ROS 2 has no type id 0"),
        (|bad| bad.type_description.fields[1].r#type.type_id = 255, "ROS 2 has no type id 255"),
        (|bad| bad.type_description.fields[1].r#type.type_id = 21, "0 is no size of an array or a bound"),
        (|bad| bad.type_description.fields[1].name = "a\"".into(), "is no name of a member"),
        // Unused values would be part of the hash.
        (|bad| bad.type_description.fields[1].r#type.nested_type_name = "\"}}".into(), "type id 17 has no nested type"),
        (|bad| bad.type_description.fields[1].r#type.capacity = 3, "type id 17 has no capacity"),
        (|bad| bad.type_description.fields[1].r#type.string_capacity = 3, "type id 17 has no capacity of strings"),
        (|bad| bad.type_description.type_name = "Header".into(), "expected `package/msg/Name`"),
        (
            |bad| {
                let time = bad.referenced_type_descriptions[0].clone();
                bad.referenced_type_descriptions.push(time);
            },
            "it describes \"builtin_interfaces/msg/Time\" twice",
        ),
    ];
    for (change, reason) in cases {
        let error = refused(change);
        assert!(error.contains(reason), "{error}");
    }
    // A type that contains itself would have no end.
    let own = refused(|bad| bad.type_description.fields[0].r#type.nested_type_name = "std_msgs/msg/Header".into());
    assert!(own.contains("would contain another one without end"), "{own}");
}

#[test]
fn dynamic_and_typed_endpoints_understand_each_other() {
    let (here, there) = (builder("dynamic").build().unwrap(), builder("dynamic").build().unwrap());
    let (here, there) = (here.node("here").unwrap(), there.node("there").unwrap());
    let ty = MessageType::of::<Wheel>().unwrap();
    let typed = there.publisher_with::<Wheel>("wheel", LATCHED).unwrap();
    let back = there.subscription::<Wheel>("back").unwrap();
    let stamp = builtin_interfaces::msg::Time { sec: 7, nanosec: 9 };
    let wheel = Wheel { stamp, speeds: vec![1.5, -2.0], label: "hé".into() };
    typed.publish(&wheel).unwrap();
    let heard = here.dynamic_subscription_builder("wheel", &ty).qos(LATCHED).build().unwrap();
    let message = heard.next_message().block_for(LIMIT).unwrap();
    assert_eq!(message.to_string(), "{stamp: {sec: 7, nanosec: 9}, speeds: [1.5, -2.0], label: [104, 233]}");
    let publisher = here.dynamic_publisher("back", &ty).unwrap();
    publisher.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    publisher.publish(&message).unwrap();
    assert_eq!(back.next_message().block_for(LIMIT).unwrap(), wheel);
    // A background thread follows the graph.
    wait_until(there.context(), |graph| graph.publishers("/back").len() == 1);
    let [found] = &there.context().graph().publishers("/back")[..] else { panic!("one publisher") };
    assert_eq!(found.type_hash.as_deref(), Some(Wheel::TYPE_HASH));
    assert_eq!(found.type_name, Wheel::ROS_NAME);
    let other = MessageType::bundled("std_msgs/msg/String").unwrap();
    assert!(matches!(publisher.publish(&other.new_message()), Err(Error::Write(_))));
}

#[test]
fn callback_gets_dynamic_messages() {
    let context = builder("dynamic-callback").build().unwrap();
    let node = context.node("n").unwrap();
    let ty = MessageType::of::<std_msgs::msg::Int32>().unwrap();
    let (sender, heard) = std::sync::mpsc::channel();
    let send = move |message: DynamicData| sender.send(message.get::<i32>("data").unwrap()).unwrap();
    let _subscription = node.dynamic_subscription_builder("number", &ty).on_message(send).build().unwrap();
    let publisher = node.publisher::<std_msgs::msg::Int32>("number").unwrap();
    publisher.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    publisher.publish(&std_msgs::msg::Int32 { data: 7 }).unwrap();
    assert_eq!(heard.recv_timeout(LIMIT), Ok(7));
}

#[test]
fn content_filter_passes_only_its_dynamic_messages() {
    let context = builder("dynamic-filter").build().unwrap();
    let node = context.node("n").unwrap();
    let ty = MessageType::bundled("geometry_msgs/msg/PointStamped").unwrap();
    let filtered = |text: &str| node.dynamic_subscription_builder("heat", &ty).content_filter(text).build();
    let above = filtered("point.x > 80 AND header.frame_id = 'oven'").unwrap();
    let publisher = node.dynamic_publisher("heat", &ty).unwrap();
    publisher.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    for (x, frame) in [(95.0, "room"), (20.0, "oven"), (95.0, "oven"), (81.0, "oven")] {
        let mut message = ty.new_message();
        message.set("point.x", x).unwrap();
        message.set("header.frame_id", frame).unwrap();
        publisher.publish(&message).unwrap();
    }
    let heard = [(); 2].map(|()| above.next_message().block_for(LIMIT).unwrap());
    assert_eq!(heard.map(|message| message.get::<f64>("point.x").unwrap()), [95.0, 81.0]);
    assert!(above.take().unwrap().is_none());
    // The same language selects among the messages of a reader.
    let all = node.dynamic_subscription("heat", &ty).unwrap();
    publisher.wait_for_subscribers(2).block_for(LIMIT).unwrap();
    for x in [1.0, 2.0] {
        let mut message = ty.new_message();
        message.set("point.x", x).unwrap();
        publisher.publish(&message).unwrap();
    }
    let second = all.reader().query_condition(dds_core::reader::States::ANY, "point.x > 1").unwrap();
    all.reader().readable().block_for(LIMIT).unwrap();
    let taken = all.reader().select().condition(&second).take().unwrap();
    assert_eq!(taken.len(), 1);
    let error = filtered("point.heat > 80").unwrap_err().to_string();
    assert!(error.contains("heat"), "{error}");
}

/// Publishes a wheel with the hash of its members, and returns what keeps it there.
fn publish_wheel(context: &Context) -> Publisher<DynamicData> {
    let node = context.node("drive").unwrap();
    let ty = MessageType::from_description(MessageType::of::<Wheel>().unwrap().description()).unwrap();
    let publisher = node.dynamic_publisher_builder("wheel", &ty).qos(LATCHED).build().unwrap();
    publisher.publish(&ty.new_message()).unwrap();
    publisher
}

#[test]
fn type_of_a_topic_is_discovered_from_its_node() {
    let (here, there) = (builder("discover").build().unwrap(), builder("discover").build().unwrap());
    let node = here.node_builder("echo").bare().build().unwrap();
    let (sender, found) = std::sync::mpsc::channel();
    let wait = node.discover_message_type("wheel");
    // The wait starts before the topic exists.
    let thread = std::thread::spawn(move || sender.send(wait.block_for(LIMIT)));
    let _publisher = publish_wheel(&there);
    let ty = found.recv().unwrap().unwrap();
    assert_eq!((ty.name(), ty.type_hash()), (Wheel::ROS_NAME, hash_of_wheel().as_str()));
    let heard = node.dynamic_subscription_builder("wheel", &ty).qos(LATCHED).build().unwrap();
    let message = heard.next_message().block_for(LIMIT).unwrap();
    assert_eq!(message.to_string(), "{stamp: {sec: 0, nanosec: 0}, speeds: [], label: []}");
    thread.join().unwrap().unwrap();
}

#[test]
fn type_of_a_topic_is_discovered_from_its_endpoint() {
    let here = builder("announced").build().unwrap();
    let node = here.node_builder("echo").bare().build().unwrap();
    let participant = participant("announced");
    // A program outside of ROS 2, which announces the description of its type.
    let qos = DataWriterQos::default().representation(vec![DataRepresentation::Xcdr1]);
    let writer = participant.writer_builder::<Wheel>("rt/wheel").qos(qos).build().unwrap();
    let ty = node.discover_message_type("wheel").block_for(LIMIT).unwrap();
    assert_eq!((ty.name(), ty.type_hash()), (Wheel::ROS_NAME, hash_of_wheel().as_str()));
    let heard = node.dynamic_subscription("wheel", &ty).unwrap();
    writer.wait_for_readers(1).block_for(LIMIT).unwrap();
    writer.write(&Wheel { label: "ü".into(), ..Wheel::default() }).unwrap();
    let message = heard.next_message().block_for(LIMIT).unwrap();
    assert_eq!(message.get::<Vec<u32>>("label").unwrap(), [0xfc]);
}

#[test]
fn own_package_needs_no_other_node() {
    let (here, there) = (builder("own").build().unwrap(), builder("own").build().unwrap());
    let node = here.node_builder("echo").bare().build().unwrap();
    let talker = there.node_builder("talker").bare().build().unwrap();
    let _publisher = talker.publisher::<std_msgs::msg::String>("chatter").unwrap();
    let ty = node.discover_message_type("chatter").block_for(LIMIT).unwrap();
    assert_eq!(ty.type_hash(), std_msgs::msg::String::TYPE_HASH);
    // No client of a service was needed.
    assert!(here.graph().services().is_empty());
}

#[test]
fn wait_for_a_type_names_the_missing_part() {
    let (here, there) = (builder("refused").build().unwrap(), builder("refused").build().unwrap());
    let node = here.node_builder("echo").bare().build().unwrap();
    let short = Duration::from_millis(200);
    let error = node.discover_message_type("wheel").block_for(short).unwrap_err();
    assert_eq!(error.to_string(), "time limit reached: topic \"wheel\" has no endpoint");
    assert!(matches!(node.discover_message_type("a//b").block_for(short), Err(Error::Name(_))));
    // An endpoint outside of ROS 2, which does not describe its type.
    let qos = DataWriterQos::default().user_data(b"typehash=RIHS01_00;".to_vec());
    let topic = there.participant().raw_topic("rt/wheel", "lab_msgs::msg::dds_::Wheel_", TopicQos::default()).unwrap();
    let writer = there.participant().writer_builder(&topic).qos(qos).build().unwrap();
    wait_until(&here, |graph| !graph.publishers("/wheel").is_empty());
    let error = node.discover_message_type("wheel").block_for(short).unwrap_err().to_string();
    let gid = writer.guid();
    assert_eq!(
        error,
        format!(
            "time limit reached: no endpoint of \"wheel\" described its type: endpoint {gid} belongs to no node; \
             no endpoint announces a description"
        )
    );
}

/// Searches until the error of a search names this reason.
fn search_until_error(node: &Node, reason: &str) {
    let end = Instant::now() + LIMIT;
    loop {
        let error = node.discover_message_type("wheel").block_for(Duration::from_secs(1)).unwrap_err().to_string();
        if error.contains(reason) {
            return;
        }
        assert!(Instant::now() < end, "{error}");
    }
}

#[test]
fn description_with_another_hash_is_ignored() {
    let (here, there) = (builder("liar").build().unwrap(), builder("liar").build().unwrap());
    let node = here.node_builder("echo").bare().build().unwrap();
    let liar = there.node("liar").unwrap();
    // The members of `Wheel` do not give its hash, so the description of the node is another type.
    let _publisher = liar.publisher::<Wheel>("wheel").unwrap();
    assert_ne!(hash_of_wheel(), Wheel::TYPE_HASH);
    search_until_error(&node, "node /liar announces lab_msgs/msg/Wheel with RIHS01_7c21");
}

/// Creates a writer outside of ROS 2 that announces the description of its type, and this hash.
fn announce<T: DdsType + 'static>(participant: &DomainParticipant, hash: &str) -> DataWriter<T> {
    let qos = DataWriterQos::default().representation(vec![DataRepresentation::Xcdr1]);
    let qos = qos.user_data(format!("typehash={hash};").into_bytes());
    participant.writer_builder::<T>("rt/wheel").qos(qos).build().unwrap()
}

/// Creates a participant outside of ROS 2, which finds the contexts of [`builder`].
fn participant(tag: &str) -> DomainParticipant {
    let tag = format!("{tag}-{}", std::process::id());
    DomainParticipant::builder(0).scope(Scope::Host).domain_tag(tag).build().unwrap()
}

#[test]
fn announced_description_with_another_hash_is_ignored() {
    let here = builder("announced-liar").build().unwrap();
    let node = here.node_builder("echo").bare().build().unwrap();
    let there = participant("announced-liar");
    let _liar = announce::<Wheel>(&there, Wheel::TYPE_HASH);
    search_until_error(&node, "whose hash no endpoint announces");
    // One endpoint with the true hash is enough.
    let _writer = announce::<Wheel>(&there, &hash_of_wheel());
    let ty = node.discover_message_type("wheel").block_for(LIMIT).unwrap();
    assert_eq!(ty.type_hash(), hash_of_wheel());
}

/// A type with a `uint8`, which Fast DDS also announces for a `byte`.
#[derive(Debug, Clone, PartialEq, Default, DdsType)]
#[dds(name = "lab_msgs::msg::dds_::Light_")]
struct Light {
    level: u8,
}

#[test]
fn announced_hash_of_a_type_with_uint8_counts_if_all_endpoints_agree() {
    let here = builder("announced-byte").build().unwrap();
    let node = here.node_builder("echo").bare().build().unwrap();
    let there = participant("announced-byte");
    let [hash, other] = ["0", "1"].map(|digit| format!("RIHS01_{}", digit.repeat(64)));
    let _writer = announce::<Light>(&there, &hash);
    let ty = node.discover_message_type("wheel").block_for(LIMIT).unwrap();
    assert_eq!((ty.name(), ty.type_hash()), ("lab_msgs/msg/Light", hash.as_str()));
    let _other = announce::<Light>(&there, &other);
    wait_until(&here, |graph| graph.publishers("/wheel").len() == 2);
    search_until_error(&node, "whose hash no endpoint announces");
}

#[test]
fn slow_node_is_named_and_holds_up_no_other_source() {
    let (here, there) = (builder("slow").build().unwrap(), builder("slow").build().unwrap());
    let node = here.node_builder("echo").bare().build().unwrap();
    let slow = there.node_builder("a_slow").bare().build().unwrap();
    // A server that takes no request.
    let _service = slow.service::<GetTypeDescription>("~/get_type_description").unwrap();
    let _publisher = slow.publisher::<Wheel>("wheel").unwrap();
    wait_until(&here, |graph| graph.publishers("/wheel").iter().any(|found| found.node.is_some()));
    wait_until(&here, |graph| graph.services().contains_key("/a_slow/get_type_description"));
    let error = node.discover_message_type("wheel").block_for(Duration::from_millis(200)).unwrap_err().to_string();
    assert!(error.contains("node /a_slow has not answered"), "{error}");
    let _other = publish_wheel(&there);
    let ty = node.discover_message_type("wheel").block_for(LIMIT).unwrap();
    assert_eq!(ty.type_hash(), hash_of_wheel());
}

#[test]
fn crowd_of_nodes_without_the_type_hides_no_other_node() {
    let (here, there) = (builder("crowd").build().unwrap(), builder("crowd").build().unwrap());
    let node = here.node_builder("echo").bare().build().unwrap();
    // More than one look asks, with names before that of the node that describes its type.
    let mut crowd = Vec::new();
    for index in 0..20 {
        let node = there.node_builder(&format!("a{index}")).bare().build().unwrap();
        crowd.push(node.publisher::<Wheel>("wheel").unwrap());
    }
    let _publisher = publish_wheel(&there);
    let is_known = |graph: &Graph| graph.publishers("/wheel").iter().filter(|found| found.node.is_some()).count() == 21;
    wait_until(&here, is_known);
    let ty = node.discover_message_type("wheel").block_for(LIMIT).unwrap();
    assert_eq!(ty.type_hash(), hash_of_wheel());
}

#[test]
fn node_describes_types_that_it_learned() {
    let context = builder("describe").build().unwrap();
    let _publisher = publish_wheel(&context);
    let client = context.node("asker").unwrap().client::<GetTypeDescription>("/drive/get_type_description").unwrap();
    let request = GetTypeDescriptionRequest { type_hash: hash_of_wheel(), ..Default::default() };
    let response = client.call(request).block_for(LIMIT).unwrap();
    assert_eq!(response.type_description, *MessageType::of::<Wheel>().unwrap().description());
}
