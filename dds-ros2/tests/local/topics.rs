//! Builders of publishers and subscriptions.

use super::{LIMIT, builder, invert};
use dds_core::qos::{DataWriterQos, Durability, History, LivelinessKind};
use dds_ros2::msgs::std_msgs::msg::Int32;
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolRequest};
use dds_ros2::{Context, Duration, Error, FilterExpression, Publisher, QosProfile};
use std::sync::mpsc::channel;

fn context(arguments: &[&str]) -> Context {
    builder("topics").arguments(["--ros-args"].iter().chain(arguments).copied()).build().unwrap()
}

fn publisher(context: &Context, qos: QosProfile) -> dds_ros2::Result<Publisher<Int32>> {
    context.node("drive")?.publisher_builder("speed").qos(qos).qos_overrides().build()
}

fn qos_with(arguments: &[&str], qos: QosProfile) -> DataWriterQos {
    publisher(&context(arguments), qos).unwrap().writer().qos()
}

#[test]
fn qos_overrides_change_each_policy() {
    let qos = qos_with(
        &[
            "-p",
            "qos_overrides./speed.publisher.deadline:=20000000",
            "-p",
            "qos_overrides./speed.publisher.depth:=3",
            "-p",
            "qos_overrides./speed.publisher.durability:=transient_local",
            "-p",
            "qos_overrides./speed.publisher.lifespan:=5000000000",
            "-p",
            "qos_overrides./speed.publisher.liveliness:=manual_by_topic",
            "-p",
            "qos_overrides./speed.publisher.liveliness_lease_duration:=1000000000",
            "-p",
            "qos_overrides./speed.publisher.reliability:=best_effort",
        ],
        QosProfile::DEFAULT,
    );
    assert_eq!(qos.history, History::KeepLast { depth: 3 });
    assert_eq!((qos.deadline, qos.lifespan), (Duration::from_millis(20), Duration::from_secs(5)));
    assert_eq!(qos.durability, Durability::TransientLocal);
    assert_eq!(
        (qos.liveliness.kind, qos.liveliness.lease_duration),
        (LivelinessKind::ManualByTopic, Duration::from_secs(1))
    );
    assert!(!qos.reliability.is_reliable());
    let all = qos_with(&["-p", "qos_overrides./speed.publisher.history:=keep_all"], QosProfile::DEFAULT);
    assert_eq!(all.history, History::KeepAll);
}

#[test]
fn qos_without_overrides_stays() {
    let latched = QosProfile::DEFAULT.keep_last(1).transient_local().lifespan(Duration::from_secs(1));
    let node = context(&[]).node("drive").unwrap();
    let plain = node.publisher_with::<Int32>("speed", latched).unwrap();
    let overridden = node.publisher_builder::<Int32>("speed").qos(latched).qos_overrides().build().unwrap();
    assert_eq!(overridden.writer().qos(), plain.writer().qos());
    // The QoS of a subscription has other parameters than that of a publisher.
    let arguments = ["-p", "qos_overrides./speed.publisher.depth:=7"];
    let node = context(&arguments).node("drive").unwrap();
    let subscription = node.subscription_builder::<Int32>("speed").qos_overrides().build().unwrap();
    assert_eq!(subscription.reader().qos().history, History::KeepLast { depth: 10 });
}

#[test]
fn endpoints_of_a_topic_share_their_overrides() {
    let arguments = ["-r", "speed:=/lab/speed", "-p", "qos_overrides./lab/speed.subscription.depth:=7"];
    let node = context(&arguments).node("drive").unwrap();
    for _ in 0..2 {
        let subscription = node.subscription_builder::<Int32>("speed").qos_overrides().build().unwrap();
        assert_eq!(subscription.reader().qos().history, History::KeepLast { depth: 7 });
    }
}

#[test]
fn wrong_override_names_its_parameter_and_the_expected_form() {
    for (value, text) in [
        ("reliability:=sometimes", "publisher.reliability\": expected `reliable` or `best_effort`, found sometimes"),
        ("depth:=0", "publisher.depth\": expected an integer from 1 to 2147483647, found 0"),
        ("depth:=4294967297", "publisher.depth\": expected an integer from 1 to 2147483647, found 4294967297"),
        ("deadline:=-1", "publisher.deadline\": expected nanoseconds, or 0 for an infinite duration, found -1"),
        ("depth:=many", "has the type integer, and the value the type string"),
    ] {
        let argument = format!("qos_overrides./speed.publisher.{value}");
        let error = publisher(&context(&["-p", &argument]), QosProfile::DEFAULT).unwrap_err();
        assert!(matches!(error, Error::Parameter { .. }) && error.to_string().contains(text), "{error}");
    }
    // A history that keeps all has no depth to fall back to.
    let argument = "qos_overrides./speed.publisher.history:=keep_last";
    let error = publisher(&context(&["-p", argument]), QosProfile::DEFAULT.keep_all()).unwrap_err();
    assert!(error.to_string().contains("publisher.depth\": expected an integer"), "{error}");
}

#[test]
fn content_filter_passes_only_its_messages() {
    let node = context(&[]).node("guard").unwrap();
    let above = FilterExpression::new("data > %0").parameters(["80"]);
    let hot = node.subscription_builder::<Int32>("temperature").content_filter(above).build().unwrap();
    let publisher = node.publisher::<Int32>("temperature").unwrap();
    publisher.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    for data in [20, 95, 30, 81] {
        publisher.publish(&Int32 { data }).unwrap();
    }
    assert_eq!([(); 2].map(|()| hot.next_message().block_for(LIMIT).unwrap().data), [95, 81]);
    assert!(hot.take().unwrap().is_none());
    let wrong = node.subscription_builder::<Int32>("temperature").content_filter("heat > 80").build();
    assert!(matches!(wrong, Err(Error::Create(_))), "{wrong:?}");
}

#[test]
fn callback_gets_each_message_and_waits_for_an_answer() {
    let context = context(&[]);
    let node = context.node("guard").unwrap();
    let service = node.service::<SetBool>("alarm").unwrap();
    let client = node.client::<SetBool>("alarm").unwrap();
    let (sender, answers) = channel();
    let call = move |temperature: Int32| {
        let answer = client.call(SetBoolRequest { data: temperature.data > 90 }).block_for(LIMIT).unwrap();
        sender.send((temperature.data, answer.success)).unwrap();
    };
    let hot = node.subscription_builder::<Int32>("temperature").content_filter("data > 80").on_message(call);
    let hot = hot.build().unwrap();
    // Another callback of the context gets all messages, before this one or after it.
    let (sender, all) = channel();
    let send = move |temperature: Int32| sender.send(temperature.data).unwrap();
    let _all = node.subscription_builder::<Int32>("temperature").on_message(send).build().unwrap();
    let publisher = node.publisher::<Int32>("temperature").unwrap();
    publisher.wait_for_subscribers(2).block_for(LIMIT).unwrap();
    let sent = [20, 95, 30, 81];
    for data in sent {
        publisher.publish(&Int32 { data }).unwrap();
    }
    for _ in 0..2 {
        service.next_request().block_for(LIMIT).unwrap().answer(invert);
    }
    assert_eq!([(); 2].map(|()| answers.recv_timeout(LIMIT).unwrap()), [(95, false), (81, true)]);
    assert_eq!(sent.map(|_| all.recv_timeout(LIMIT).unwrap()), sent);
    assert!(hot.take().unwrap().is_none());
}

#[test]
fn best_available_follows_the_known_endpoints() {
    let node = context(&[]).node("drive").unwrap();
    let subscribe = || node.subscription_with::<Int32>("speed", QosProfile::BEST_AVAILABLE).unwrap().reader().qos();
    let publish = |qos| node.publisher_with::<Int32>("speed", qos).unwrap();
    let alone = subscribe();
    assert!(!alone.reliability.is_reliable());
    assert_eq!((alone.durability, alone.liveliness.kind), (Durability::Volatile, LivelinessKind::Automatic));
    let second = Duration::from_secs(1);
    let latched = QosProfile::DEFAULT.transient_local().deadline(second).liveliness_manual_by_topic(second);
    let first = publish(latched);
    let best = subscribe();
    assert!(best.reliability.is_reliable());
    assert_eq!((best.durability, best.deadline), (Durability::TransientLocal, second));
    assert_eq!((best.liveliness.kind, best.liveliness.lease_duration), (LivelinessKind::ManualByTopic, second));
    assert_eq!(best.history, History::KeepLast { depth: 10 });
    let other = publish(QosProfile::SENSOR_DATA);
    let best = subscribe();
    assert!(!best.reliability.is_reliable());
    assert_eq!((best.durability, best.deadline), (Durability::Volatile, Duration::INFINITE));
    assert_eq!((best.liveliness.kind, best.liveliness.lease_duration), (LivelinessKind::Automatic, Duration::INFINITE));
    drop((first, other));
    let strict = QosProfile::SENSOR_DATA.deadline(second).liveliness_manual_by_topic(second);
    let _strict = node.subscription_with::<Int32>("speed", strict).unwrap();
    let _relaxed = node.subscription::<Int32>("speed").unwrap();
    let best = publish(QosProfile::BEST_AVAILABLE).writer().qos();
    assert!(best.reliability.is_reliable());
    assert_eq!((best.durability, best.deadline), (Durability::TransientLocal, second));
    assert_eq!((best.liveliness.kind, best.liveliness.lease_duration), (LivelinessKind::ManualByTopic, second));
}
