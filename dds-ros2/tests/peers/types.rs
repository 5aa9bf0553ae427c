//! Messages of many types between a node of this crate and one of `rclpy`, in both directions.
//!
//! `rclpy` fills and publishes a message. This side publishes the received value again. `rclpy` compares it with its
//! message, and the text of the received value with its own text, which names the fields.

use crate::context;
use crate::peer::{LIMIT, Peer};
use crate::test_msgs::msg as test;
use dds_ros2::msgs::{
    builtin_interfaces::msg as builtin, diagnostic_msgs::msg as diagnostic, geometry_msgs::msg as geometry,
    nav_msgs::msg as nav, sensor_msgs::msg as sensor, std_msgs::msg as standard, trajectory_msgs::msg as trajectory,
};
use dds_ros2::{Node, QosProfile, RosMessage};
use serde_json::json;

fn exchange<T: RosMessage + 'static>(node: &Node, peer: &mut Peer) {
    let latched = QosProfile::DEFAULT.keep_last(1).transient_local();
    let there = node.subscription_with::<T>(&format!("there/{}", T::ROS_NAME), latched).unwrap();
    let back = node.publisher_with::<T>(&format!("back/{}", T::ROS_NAME), latched).unwrap();
    peer.tell(json!({"command": "exchange", "type": T::ROS_NAME}));
    let received = there.next_message().block_for(LIMIT).unwrap_or_else(|error| panic!("{}: {error}", T::ROS_NAME));
    assert_ne!(received, T::default(), "{}", T::ROS_NAME);
    back.publish(&received).unwrap();
    let event = peer.wait_for("exchanged", |event| event["type"] == T::ROS_NAME);
    assert_eq!(event["text"], format!("{received:?}"));
    assert_eq!(event["is_same"], true, "{event}");
}

/// Exchanges a message of each type.
macro_rules! exchange {
    ($node:expr, $peer:expr, $($package:ident: $($name:ident)+;)+) => {
        $($(exchange::<$package::$name>($node, $peer);)+)+
    };
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn messages_of_many_types_pass_in_both_directions() {
    let context = context(70);
    let node = context.node("mirror").unwrap();
    let mut peer = Peer::start(70, "source", "/");
    exchange!(
        &node, &mut peer,
        // Strings, wide strings, arrays, bounded and unbounded sequences, nested messages, and defaults.
        test: Arrays BasicTypes BoundedPlainSequences BoundedSequences Builtins Defaults MultiNested Nested Strings
            UnboundedSequences WStrings;
        builtin: Time;
        diagnostic: DiagnosticArray;
        geometry: PolygonStamped PoseWithCovarianceStamped TransformStamped Twist;
        nav: OccupancyGrid Odometry;
        sensor: BatteryState CameraInfo CompressedImage Image Imu JointState LaserScan NavSatFix PointCloud2;
        standard: ColorRGBA Header Int8 UInt8MultiArray;
        trajectory: JointTrajectory;
    );
}
