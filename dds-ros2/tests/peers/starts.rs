//! Clients and servers that start in any order, each in a participant of its own.

use crate::context;
use crate::peer::{LIMIT, Peer};
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolRequest, SetBoolResponse};
use serde_json::json;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Each round starts a client and a server on both sides.
fn rounds() -> u64 {
    if std::env::var_os("DDS_TEST_LONG").is_some() { 100 } else { 10 }
}

/// Bits that differ in each run. The test prints their seed.
struct Random(u64);

impl Random {
    fn new() -> Self {
        Self(RandomState::new().hash_one(0) | 1)
    }

    fn next(&mut self) -> u64 {
        // Xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bool(&mut self) -> bool {
        self.next() >> 63 == 1
    }

    /// A pause in which discovery is at any point.
    fn pause(&mut self) -> Duration {
        if self.bool() { Duration::ZERO } else { Duration::from_millis(self.next() % 100) }
    }
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn starts_in_random_order_lose_no_reply() {
    let mut peer = Peer::start(80, "starter", "/");
    let mut random = Random::new();
    println!("the seed of all rounds is {}", random.0);
    for round in 0..rounds() {
        let seed = random.0;
        let value = random.bool();
        let (ours, theirs) = (format!("/ours_{round}"), format!("/theirs_{round}"));
        let (server_first, pause) = (random.bool(), random.pause().as_secs_f64());
        let start = json!({
            "command": "start_pair", "serve": theirs, "call": ours, "value": value,
            "server_first": server_first, "pause": pause,
        });
        let is_peer_first = random.bool();
        if is_peer_first {
            peer.tell(start.clone());
        }
        std::thread::sleep(random.pause());
        let context = context(80);
        let node = context.node_builder("pair").bare().build().unwrap();
        let serve = || node.service::<SetBool>(&ours).unwrap();
        let call = || node.client::<SetBool>(&theirs).unwrap();
        let (server, client) = if random.bool() {
            let server = serve();
            std::thread::sleep(random.pause());
            (server, call())
        } else {
            let client = call();
            std::thread::sleep(random.pause());
            (serve(), client)
        };
        let server = std::thread::spawn(move || {
            server.serve(|request| SetBoolResponse { success: !request.data, message: String::new() })
        });
        if !is_peer_first {
            peer.tell(start);
        }
        let answer = client.call(SetBoolRequest { data: value }).block_for(LIMIT);
        let answer = answer.unwrap_or_else(|error| panic!("round {round}, seed {seed}: {error}"));
        assert_eq!(answer.success, !value, "round {round}, seed {seed}");
        let answered = peer.wait_for("pair_answered", |_| true);
        assert_eq!(answered["success"], !value, "round {round}, seed {seed}: {answered}");
        context.shutdown().unwrap();
        server.join().unwrap().unwrap();
        peer.tell(json!({"command": "stop_pair"}));
        peer.wait_for("pair_stopped", |_| true);
    }
}
