//! Processes that end without a notice. The graphs of all others become true again.

use crate::eventually;
use crate::peer::{LIMIT, Peer};
use dds_ros2::msgs::std_msgs::msg::String as Text;
use dds_ros2::msgs::std_srvs::srv::SetBool;
use dds_ros2::{Context, Duration, Graph};
use serde_json::{Value, json};
use std::io::Read;
use std::process::{Child, Command, Stdio};

const DOMAIN: u32 = 81;
const VICTIM: &str = "DDS_ROS2_TEST_VICTIM";

/// The lease is short, so that the test is.
fn context() -> Context {
    let builder = Context::builder().ignore_environment().domain_id(DOMAIN);
    builder.participant(|builder| builder.lease(Duration::from_secs(3))).build().unwrap()
}

/// The other process: two nodes that live until the test kills them.
#[test]
#[ignore = "is started by the other one"]
fn victim() {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    let context = context();
    let first = context.node_builder("victim").namespace("lab").build().unwrap();
    let second = context.node_builder("second_victim").bare().build().unwrap();
    let _endpoints = (
        first.publisher::<Text>("ours").unwrap(),
        second.subscription::<Text>("/lab/ours").unwrap(),
        first.service::<SetBool>("flip_ours").unwrap(),
        second.client::<SetBool>("/flip_theirs").unwrap(),
    );
    let _ = std::io::stdin().read(&mut [0]);
}

/// A process with the nodes of `victim`. Dropping it kills it.
struct Victim(Child);

impl Victim {
    fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "kills::victim", "--ignored", "--nocapture"]).env(VICTIM, "1");
        Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // SIGKILL.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Nodes, and the beginnings of names of victims that topics and services have.
#[derive(Debug, PartialEq)]
struct Seen {
    nodes: Vec<String>,
    topics: Vec<&'static str>,
    services: Vec<&'static str>,
}

/// The beginnings of the names that only victims have. The last two are those of their parameter services.
const OF_VICTIMS: [&str; 6] =
    ["/flip_theirs", "/lab/flip_ours", "/lab/ours", "/theirs", "/lab/victim/", "/rclpy_victim/"];

fn of_victims<'a>(names: impl Iterator<Item = &'a String> + Clone) -> Vec<&'static str> {
    let is_there = |beginning: &&str| names.clone().any(|name| name.starts_with(beginning));
    OF_VICTIMS.into_iter().filter(is_there).collect()
}

impl Seen {
    fn by_rclpy(graph: &Value) -> Self {
        let nodes = graph["nodes"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
        let names = |kind: &str| of_victims(graph[kind].as_object().unwrap().keys());
        Self { nodes, topics: names("topics"), services: names("services") }
    }

    fn by(graph: &Graph) -> Self {
        let mut nodes: Vec<_> = graph.nodes().iter().map(ToString::to_string).collect();
        nodes.sort();
        Self { nodes, topics: of_victims(graph.topics().keys()), services: of_victims(graph.services().keys()) }
    }

    fn expected(nodes: &[&str], topics: &[&'static str], services: &[&'static str]) -> Self {
        let nodes = nodes.iter().map(|name| (*name).to_owned()).collect();
        Self { nodes, topics: topics.to_vec(), services: services.to_vec() }
    }
}

/// Waits until both graphs show exactly this.
fn wait_until_both_see(expected: &Seen, graph: &Graph, watcher: &mut Peer) {
    let ours = graph.wait_until(|graph| Seen::by(graph) == *expected).block_for(LIMIT);
    assert!(ours.is_ok(), "{:?} instead of {expected:?}", Seen::by(graph));
    watcher.ask_until(&json!({"command": "graph"}), |graph| Seen::by_rclpy(graph) == *expected);
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn killed_nodes_of_either_side_leave_both_graphs() {
    let context = context();
    let node = context.node("watcher").unwrap();
    let client = node.client::<SetBool>("/flip_theirs").unwrap();
    let graph = context.graph();
    let mut watcher = Peer::start(DOMAIN, "rclpy_watcher", "/");
    watcher.tell(json!({"command": "ready", "service": "/lab/flip_ours"}));
    for _ in 0..2 {
        // Both victims again have the names of those before.
        let victim = Victim::start();
        // Fast DDS 2.14 and 3 read different variables.
        let lease =
            ["FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"].map(|name| (name, "short_lease.xml"));
        let mut peer = Peer::start_with(DOMAIN, "rclpy_victim", "/", &lease);
        peer.tell(json!({"command": "publish", "topic": "theirs", "text": "x", "profile": "latched"}));
        peer.tell(json!({"command": "serve", "service": "/flip_theirs"}));
        let all = ["/lab/victim", "/rclpy_victim", "/rclpy_watcher", "/second_victim", "/watcher"];
        let services = ["/flip_theirs", "/lab/flip_ours", "/lab/victim/", "/rclpy_victim/"];
        let all = Seen::expected(&all, &["/lab/ours", "/theirs"], &services);
        wait_until_both_see(&all, &graph, &mut watcher);
        client.wait_for_service().block_for(LIMIT).unwrap();
        let ready = json!({"command": "ready", "service": "/lab/flip_ours"});
        watcher.ask_until(&ready, |answer| answer["is_ready"] == true);

        drop(victim);
        peer.kill();
        let survivors = Seen::expected(&["/rclpy_watcher", "/watcher"], &[], &["/flip_theirs", "/lab/flip_ours"]);
        wait_until_both_see(&survivors, &graph, &mut watcher);
        eventually("the client is ready without a server", || !client.is_ready());
        watcher.ask_until(&ready, |answer| answer["is_ready"] == false);
    }
}
