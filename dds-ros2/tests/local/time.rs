//! Simulated time, parameters from files, and `/rosout`, between nodes of this crate.

use super::{LIMIT, builder};
use dds_ros2::msgs::builtin_interfaces::msg::Time as Stamp;
use dds_ros2::msgs::rcl_interfaces::msg::Log;
use dds_ros2::msgs::rosgraph_msgs::msg::Clock as ClockMessage;
use dds_ros2::{ClockChange, Error, JumpThreshold, ParameterValue, QosProfile, Time};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

fn clock_message(seconds: i32) -> ClockMessage {
    ClockMessage { clock: Stamp { sec: seconds, nanosec: 0 } }
}

fn at(seconds: i64) -> Time {
    Time::from_unix_nanos(seconds * 1_000_000_000)
}

#[test]
fn clock_topic_drives_waits_timers_and_callbacks() {
    let context = builder("clock").parameter("use_sim_time", true).build().unwrap();
    let node = context.node("planner").unwrap();
    let source = context.node_builder("simulator").bare().build().unwrap();
    let publisher = source.publisher_with::<ClockMessage>("/clock", QosProfile::DEFAULT).unwrap();
    publisher.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    let clock = node.clock();
    assert!(clock.is_simulated() && clock.now() == at(0));
    let (sender, jumps) = channel();
    let backward = JumpThreshold::new().backward(dds_ros2::Duration::from_nanos(1)).on_clock_change();
    let handle = clock.on_jump(backward, move |jump| sender.send(jump).unwrap());
    publisher.publish(&clock_message(100)).unwrap();
    clock.wait_until_started().block_for(LIMIT).unwrap();
    assert_eq!((node.now(), node.stamp()), (at(100), Stamp { sec: 100, nanosec: 0 }));
    let timer = node.timer(Duration::from_secs(10)).unwrap();
    let sleeper = std::thread::spawn({
        let clock = clock.clone();
        move || clock.sleep_until(at(130)).block_for(LIMIT)
    });
    publisher.publish(&clock_message(109)).unwrap();
    clock.sleep_until(at(109)).block_for(LIMIT).unwrap();
    assert_eq!(timer.take_tick(), None);
    publisher.publish(&clock_message(135)).unwrap();
    sleeper.join().unwrap().unwrap();
    let tick = timer.next_tick().block_for(LIMIT).unwrap();
    assert_eq!((tick.expected, tick.actual, tick.skipped), (at(110), at(135), 2));
    publisher.publish(&clock_message(50)).unwrap();
    let jump = jumps.recv_timeout(LIMIT).unwrap();
    assert_eq!((jump.change, jump.delta_ns), (ClockChange::RosTimeNoChange, -85_000_000_000));

    // Another node turns it off.
    let parameters = source.parameters_of("/planner").unwrap().within(LIMIT);
    parameters.set("use_sim_time", false).block().unwrap();
    assert_eq!(jumps.recv_timeout(LIMIT).unwrap().change, ClockChange::RosTimeDeactivated);
    assert!(!clock.is_simulated() && clock.now() > at(1_000_000_000));
    drop(handle);
    assert_eq!(jumps.recv_timeout(LIMIT), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn first_values_come_from_files_arguments_and_code() {
    let path = std::env::temp_dir().join(format!("dds-ros2-{}.yaml", std::process::id()));
    let file = "/**:\n  ros__parameters:\n    speed: 1.5\n    gains: [1.0, 2.0]\n/lab/*:\n  ros__parameters:\n    \
                limits:\n      high: 7\n      low: -7\n";
    std::fs::write(&path, file).unwrap();
    let arguments =
        ["--ros-args", "--params-file", path.to_str().unwrap(), "-p", "drive:name:=left", "-p", "speed:=2.5"];
    let context = builder("files").arguments(arguments).parameter("coded", true).build().unwrap();
    std::fs::remove_file(&path).unwrap();
    let drive = context.node_builder("drive").namespace("/lab").build().unwrap();
    assert_eq!(drive.parameter("speed", 0.0).declare().unwrap().get(), 2.5);
    assert_eq!(drive.parameter("gains", Vec::<f64>::new()).declare().unwrap().get(), [1.0, 2.0]);
    assert_eq!(drive.parameter("limits.high", 0).declare().unwrap().get(), 7);
    assert_eq!(drive.parameter("name", String::new()).declare().unwrap().get(), "left");
    assert!(drive.parameter("coded", false).declare().unwrap().get());
    let other = context.node("other").unwrap();
    assert_eq!(other.parameter("limits.high", 1).declare().unwrap().get(), 1);
    let error = other.parameter("speed", 1).declare().unwrap_err().to_string();
    assert_eq!(error, "parameter \"speed\" has the type integer, and the value the type double");
    let missing = builder("none").parameter_file("/none.yaml").build().unwrap_err();
    assert!(matches!(&missing, Error::ParameterFile { line: None, column: None, .. }), "{missing}");
    std::fs::write(&path, "/**:\n  ros__parameters: {gains: [1.0, x]}\n").unwrap();
    let wrong = builder("wrong").parameter_file(&path).build().unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(wrong.ends_with("line 2, column 28: the items of an array must have one type"), "{wrong}");
}

#[test]
fn log_messages_reach_rosout_also_late_ones() {
    let context = builder("rosout").build().unwrap();
    let node = context.node_builder("camera").namespace("/lab").build().unwrap();
    node.logger().warn("early");
    let rosout = context.node("console").unwrap().subscription_with::<Log>("/rosout", QosProfile::ROSOUT).unwrap();
    node.logger().child("lens").error("late");
    let heard = [(); 2].map(|()| rosout.next_message().block_for(LIMIT).unwrap());
    let texts = heard.map(|log| (log.level, log.name, log.msg, log.file.ends_with("time.rs") && log.line > 0));
    let expected = [(Log::WARN, "lab.camera", "early"), (Log::ERROR, "lab.camera.lens", "late")];
    assert_eq!(texts, expected.map(|(level, name, text)| (level, name.to_owned(), text.to_owned(), true)));
    let quiet = builder("quiet").arguments(["--ros-args", "--disable-rosout-logs"]).build().unwrap();
    let quiet = quiet.node("quiet").unwrap();
    quiet.logger().info("nothing");
    assert!(quiet.context().graph().publishers("/rosout").is_empty());
}

#[test]
fn node_has_the_parameter_of_every_ros_node() {
    let context = builder("sim").build().unwrap();
    let node = context.node("n").unwrap();
    let own = node.parameters_of("/n").unwrap().within(LIMIT);
    assert_eq!(own.get("use_sim_time").block().unwrap(), ParameterValue::Bool(false));
    assert!(node.rate(0.0).is_err() && node.rate(f64::NAN).is_err() && node.rate(-1.0).is_err());
    assert_eq!(node.rate(4.0).unwrap().period(), dds_ros2::Duration::from_millis(250));
}
