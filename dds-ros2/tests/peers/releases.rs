//! The messages of this crate beside those of each release of ROS 2, by their hashes in `rosbags`.
//!
//! Wheels of `rclpy` exist for Jazzy and Kilted alone, whose hashes the tests of `dds-ros2-msgs` compare.

use dds_ros2::msgs::RosTypeEntry;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Prints the hash of each message of each release.
const SCRIPT: &str = r#"
import json
from rosbags.typesys import Stores, get_typestore

def hashes(store):
    return {name: store.hash_rihs01(name) for name in store.types}

names = ["HUMBLE", "JAZZY", "KILTED", "LYRICAL"]
print(json.dumps({name: hashes(get_typestore(Stores["ROS2_" + name])) for name in names}))
"#;

/// The messages of this build whose hashes differ from those of a release.
fn differing(hashes: &BTreeMap<String, String>) -> BTreeSet<&str> {
    let own = |(name, hash): (&String, &String)| {
        let own = RosTypeEntry::find(name)?;
        (own.type_hash != hash).then_some(own.ros_name)
    };
    hashes.iter().filter_map(own).collect()
}

#[test]
#[ignore = "needs Python with rosbags: .ci/run ros2"]
fn messages_that_differ_between_releases_are_those_of_the_book() {
    let python = std::env::var("DDS_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
    let output = Command::new(python).args(["-c", SCRIPT]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let releases: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {text}"));
    // `rosbags` has another hash for types with `char`, in each release.
    let wrong = differing(&releases["KILTED"]);
    assert!(wrong.contains("std_msgs/msg/Char") && wrong.len() < 8, "{wrong:?}");
    let changed = |release: &str| -> Vec<&str> { differing(&releases[release]).difference(&wrong).copied().collect() };
    assert_eq!(changed("JAZZY"), [""; 0]);
    assert_eq!(changed("LYRICAL"), ["lifecycle_msgs/msg/TransitionEvent"]);
    assert_eq!(changed("HUMBLE"), ["sensor_msgs/msg/Range"]);
    let same = releases["LYRICAL"].keys().filter(|name| RosTypeEntry::find(name).is_some()).count();
    assert!(same > 100, "{same}");
}
