//! Parameters of a node of this crate, changed by `rclpy`, and the other way.

use crate::context;
use crate::peer::{LIMIT, Peer};
use dds_ros2::msgs::std_msgs::msg::String as Text;
use dds_ros2::{Context, Error, ParameterValue, Wait};
use serde_json::{Value, json};
use std::future::Future;

/// Blocks on a future of this crate.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unparker(std::thread::Thread);
    impl std::task::Wake for Unparker {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::sync::Arc::new(Unparker(std::thread::current())).into();
    let mut task = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut task) {
            return value;
        }
        std::thread::park();
    }
}

fn answer(peer: &mut Peer, command: &Value, event: &str) -> Value {
    peer.tell(command.clone());
    peer.wait_for(event, |_| true)
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn rclpy_reads_and_changes_parameters() {
    let context: Context = context(40);
    let node = context.node_builder("drive").namespace("/lab").build().unwrap();
    let speed = node.parameter("wheel.speed", 1.0).range(0.0..=3.0).description("meters per second").declare().unwrap();
    let _name = node.parameter("frame", "base".to_owned()).read_only().declare().unwrap();
    let ids = node.parameter("ids", vec![1_i64, 2]).declare().unwrap();
    let mut peer = Peer::start(40, "tuner", "/");
    peer.tell(json!({"command": "watch_parameters"}));
    peer.wait_for("watching", |_| true);

    let drive = "/lab/drive";
    let listed = answer(&mut peer, &json!({"command": "list_parameters", "node": drive, "prefixes": []}), "listed");
    assert_eq!(
        listed["names"],
        json!(["frame", "ids", "start_type_description_service", "use_sim_time", "wheel.speed"])
    );
    let names = json!(["frame", "ids", "wheel.speed", "none"]);
    let got = answer(&mut peer, &json!({"command": "get_parameters", "node": drive, "names": names}), "got");
    assert_eq!(got["values"], json!(["base", [1, 2], 1.0, null]));
    let asked = json!({"command": "get_parameter_types", "node": drive, "names": ["frame", "ids", "wheel.speed"]});
    assert_eq!(answer(&mut peer, &asked, "got_types")["types"], json!([4, 7, 3]));
    let names = json!(["frame", "wheel.speed"]);
    let described =
        answer(&mut peer, &json!({"command": "describe_parameters", "node": drive, "names": names}), "described");
    let expected = json!([
        {"type": 4, "description": "", "read_only": true, "range": []},
        {"type": 3, "description": "meters per second", "read_only": false, "range": [[0.0, 3.0]]},
    ]);
    assert_eq!(described["descriptors"], expected);

    let change: Wait<'_, f64> = speed.changed();
    let set =
        json!({"command": "set_parameters", "node": drive, "values": {"frame": "x", "no": 1, "wheel.speed": 2.5}});
    peer.tell(set);
    let [results, event] = peer.wait_for_both(["set", "parameter_event"]);
    let results = &results["results"];
    assert_eq!(results[0], json!([false, "parameter \"frame\" is read-only"]));
    assert_eq!(results[1], json!([false, "parameter \"no\" is not declared"]));
    assert_eq!(results[2], json!([true, ""]));
    assert_eq!((change.block_for(LIMIT).unwrap(), speed.get()), (2.5, 2.5));
    assert_eq!((&event["node"], &event["changed"]), (&json!(drive), &json!(["wheel.speed"])));

    // One refused value refuses all.
    let values = json!({"ids": [7], "wheel.speed": 9.0});
    let set = json!({"command": "set_parameters", "node": drive, "values": values, "atomically": true});
    let results = answer(&mut peer, &set, "set")["results"].clone();
    assert_eq!(results, json!([[false, "9.0 is outside of the range of parameter \"wheel.speed\""]]));
    assert_eq!(ids.get(), [1, 2]);
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn parameters_of_rclpy_are_read_and_changed() {
    let context = context(41);
    let node = context.node("tuner").unwrap();
    let mut peer = Peer::start(41, "camera", "/lab");
    peer.tell(json!({"command": "declare", "name": "exposure", "value": 5}));
    peer.wait_for("declared", |_| true);
    let camera = node.parameters_of("/lab/camera").unwrap().within(LIMIT);
    block_on(async {
        assert!(camera.list().await.unwrap().contains(&"exposure".to_owned()));
        assert_eq!(camera.get("exposure").await.unwrap(), ParameterValue::Integer(5));
        assert_eq!(camera.get("use_sim_time").await.unwrap(), ParameterValue::Bool(false));
        camera.set("exposure", 7_i64).await.unwrap();
        let refused = camera.set("exposure", "bright").await.unwrap_err();
        assert!(matches!(&refused, Error::Parameter { reason } if !reason.is_empty()), "{refused}");
    });
    let now = peer.ask(json!({"command": "parameter", "name": "exposure"}));
    assert_eq!(now["value"], 7);
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn qos_overrides_have_the_parameters_of_rclpy() {
    let context = context(42);
    let node = context.node("camera").unwrap();
    let _publisher = node.publisher_builder::<Text>("chatter").qos_overrides().build().unwrap();
    let _subscription = node.subscription_builder::<Text>("chatter").qos_overrides().build().unwrap();
    let own = node.parameters_of("/camera").unwrap().within(LIMIT);
    let mut peer = Peer::start(42, "talker", "/");
    let theirs = peer.ask(json!({"command": "overridden_endpoints", "topic": "chatter"}))["values"].clone();
    let theirs = theirs.as_object().unwrap();
    let mut names: Vec<_> = theirs.keys().map(String::as_str).collect();
    names.sort_unstable();
    let listed = own.list().block().unwrap();
    assert_eq!(listed.iter().filter(|name| name.starts_with("qos_overrides.")).collect::<Vec<_>>(), names);
    for (name, value) in theirs {
        let expected = match value.as_str() {
            // The same policy under the name of the default.
            Some("system_default") => "automatic".to_owned(),
            Some(text) => text.to_owned(),
            None => value.to_string(),
        };
        assert_eq!(own.get(name).block().unwrap().to_string(), expected, "{name}");
    }
    assert_eq!(names.len(), 15);
}

/// Scalars and arrays of a parameter file that both read.
const VALUES: [&str; 56] = [
    "7",
    "+7",
    "-7",
    "010",
    "-010",
    "08",
    "00",
    "0x1F",
    "-0X1f",
    "0x",
    "0x-5",
    "0o10",
    "1_000",
    "1:30",
    "2001-01-01",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "1.0",
    "1.",
    ".5",
    "-.5",
    "1e3",
    "12E-03",
    "1e",
    "0.0",
    "1e999",
    "1e-999",
    "1e-310",
    "inf",
    "-Infinity",
    "NaN",
    "+nan",
    ".inf",
    "-.Inf",
    ".NAN",
    "+.nan",
    "yes",
    "Off",
    "oN",
    "~",
    "null",
    "it's",
    "'7'",
    "\"off\"",
    "!!str 7",
    "&a 7",
    "|\n      7",
    "|-\n      7",
    ">-\n      true",
    "''",
    "[1, 010]",
    "[&b 1.0, .inf]",
    "['a, b', c]",
    "[on, off]",
    "1 2 # 3",
];

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn values_of_a_file_have_the_types_of_rcl() {
    let entries = VALUES.iter().enumerate().map(|(index, value)| format!("    v{index}: {value}\n"));
    let file = "/**:\n  ros__parameters:\n".to_owned() + &entries.collect::<String>() + "    flow: {a: 1, b: {c: x}}\n";
    let path = std::env::temp_dir().join(format!("dds-ros2-values-{}.yaml", std::process::id()));
    std::fs::write(&path, file).unwrap();
    let own = Context::builder().ignore_environment().domain_id(43).parameter_file(&path).build().unwrap();
    let node = own.node("own").unwrap();
    let _peer = Peer::start_with_arguments(43, "theirs", &["--ros-args", "--params-file", path.to_str().unwrap()]);
    std::fs::remove_file(&path).unwrap();
    let theirs = node.parameters_of("/theirs").unwrap().within(LIMIT);
    let declare = |name: &str, kind: &ParameterValue| {
        macro_rules! declared {
            ($default:expr) => {{ node.parameter(name, $default).declare().map(|parameter| ParameterValue::from(parameter.get())) }};
        }
        match kind {
            ParameterValue::Bool(_) => declared!(false),
            ParameterValue::Integer(_) => declared!(0_i64),
            ParameterValue::Double(_) => declared!(0.0_f64),
            ParameterValue::String(_) => declared!("default".to_owned()),
            ParameterValue::BoolArray(_) => declared!(Vec::<bool>::new()),
            ParameterValue::IntegerArray(_) => declared!(Vec::<i64>::new()),
            ParameterValue::DoubleArray(_) => declared!(Vec::<f64>::new()),
            ParameterValue::StringArray(_) => declared!(Vec::<String>::new()),
            other => panic!("{name}: {other:?}"),
        }
    };
    let named = VALUES.iter().enumerate().map(|(index, value)| (format!("v{index}"), *value));
    for (name, text) in named.chain([("flow.a".to_owned(), "1"), ("flow.b.c".to_owned(), "x")]) {
        let expected = theirs.get(&name).block().unwrap();
        // Debug text, because NaN differs from itself.
        assert_eq!(format!("{:?}", declare(&name, &expected).unwrap()), format!("{expected:?}"), "{text:?}");
    }
}
