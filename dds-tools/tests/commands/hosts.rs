//! `why` between two hosts: network namespaces with a cable between them.

#![allow(clippy::disallowed_methods, reason = "the programs are other processes")]

use crate::support::PATIENCE;
use serde_json::Value;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_dds");

/// A program that ends with this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The hosts `a` and `b`. Their only addresses are 10.77.1.1 and 10.77.1.2.
struct Hosts {
    name: &'static str,
}

impl Hosts {
    fn new(name: &'static str) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/hosts");
        assert!(Command::new(script).args([name, "a-b"]).status().unwrap().success());
        let hosts = Self { name };
        ["a", "b"].iter().for_each(|host| hosts.shell(host, "ip -6 addr flush dev link1"));
        hosts
    }

    fn on(&self, host: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}-{host}", self.name), program]).stdin(Stdio::null());
        command
    }

    fn shell(&self, host: &str, line: &str) {
        assert!(self.on(host, "sh").args(["-ec", line]).status().unwrap().success(), "{line}");
    }

    fn start(&self, host: &str, arguments: &[&str]) -> Ended {
        let mut command = self.on(host, PROGRAM);
        Ended(command.args(arguments).args(["--domain", "0"]).stdout(Stdio::null()).spawn().unwrap())
    }

    /// Repeats `dds why Square` on host `a` until its first line has the wanted reason and next step.
    fn await_obstacle(&self, is_wanted: impl Fn(&str, &str) -> bool) {
        self.await_obstacle_of(|why| why.output().unwrap(), is_wanted);
    }

    /// As [`await_obstacle`](Self::await_obstacle), with `run` for each `dds why Square`.
    fn await_obstacle_of(&self, run: impl Fn(&mut Command) -> Output, is_wanted: impl Fn(&str, &str) -> bool) {
        let start = Instant::now();
        loop {
            let output = run(self.on("a", PROGRAM).args(["why", "Square", "--json", "--domain", "0"]));
            let text = String::from_utf8(output.stdout).unwrap();
            let first: Value = text.lines().next().map_or(Value::Null, |line| serde_json::from_str(line).unwrap());
            let part = |name: &str| first["obstacles"][0][name].as_str().unwrap_or_default();
            if is_wanted(part("reason"), part("next_step")) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{text}{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// The multicast of `b` arrives, and no datagram reaches its address.
#[test]
#[ignore = "needs network namespaces: .ci/run cyclone"]
fn why_names_addresses_without_a_route() {
    let hosts = Hosts::new("route");
    hosts.shell("b", "ip addr flush dev link1; ip addr add 10.88.0.2/24 dev link1");
    // Otherwise the system drops datagrams from addresses without a route back.
    hosts.shell("a", "for it in all link1; do echo 0 >/proc/sys/net/ipv4/conf/$it/rp_filter; done");
    let _reader = hosts.start("a", &["shapes", "square", "--subscribe"]);
    let _writer = hosts.start("b", &["shapes", "square"]);
    hosts.await_obstacle(|reason, next_step| {
        reason.starts_with("participant dds: this host cannot reach its addresses (10.88.0.2:")
            && next_step.contains("routes to each other")
    });
}

/// Announcements pass the firewall of `a`, and other datagrams from `b` do not.
#[test]
#[ignore = "needs network namespaces: .ci/run cyclone"]
fn why_names_firewall_of_one_direction() {
    let hosts = Hosts::new("firewall");
    hosts.shell("a", "iptables -A INPUT -i link1 -p udp -d 10.77.1.1 -j DROP");
    let _reader = hosts.start("a", &["shapes", "square", "--subscribe"]);
    let _writer = hosts.start("b", &["shapes", "square"]);
    hosts.await_obstacle(|reason, next_step| {
        reason == "no writer was found (readers: 1)"
            && next_step.starts_with("announcements of dds arrive, but no endpoints: if it has a writer, a firewall")
    });
}

/// The program of the writer dies while `dds why` looks. Its lease of 20 seconds still runs.
#[test]
#[ignore = "needs network namespaces: .ci/run cyclone"]
fn why_names_killed_program_within_its_lease() {
    let hosts = Hosts::new("killed");
    let _reader = hosts.start("a", &["shapes", "square", "--subscribe"]);
    let kill_during = |why: &mut Command| {
        let writer = hosts.start("b", &["shapes", "square"]);
        let why = why.args(["--wait", "5"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Enough to find the writer. The probes follow after the fifth second.
        std::thread::sleep(Duration::from_secs(3));
        // By SIGKILL.
        drop(writer);
        why.wait_with_output().unwrap()
    };
    hosts.await_obstacle_of(kill_during, |reason, next_step| {
        reason.starts_with("participant dds: no program receives at its addresses (10.77.1.2:")
            && next_step.starts_with("its program has likely crashed: start it again;")
    });
}

/// The firewall of `a` passes multicast of the loopback interface, so the reader on `a` is found.
#[test]
#[ignore = "needs network namespaces: .ci/run cyclone"]
fn why_names_missing_multicast_beside_a_reader_of_this_host() {
    let hosts = Hosts::new("group");
    hosts.shell("a", "iptables -A INPUT -i link1 -p udp -d 239.255.0.1 -j DROP");
    let _reader = hosts.start("a", &["shapes", "square", "--subscribe"]);
    hosts.await_obstacle(|reason, next_step| {
        reason == "no writer was found (readers: 1)"
            && next_step.contains("it does not receive its own multicast: let firewalls pass UDP to 239.255.0.1")
    });
}

/// No multicast passes between the hosts, so only a named peer is found.
#[test]
#[ignore = "needs network namespaces: .ci/run cyclone"]
fn named_peer_is_found_on_the_named_interface() {
    let hosts = Hosts::new("peer");
    for host in ["a", "b"] {
        hosts.shell(host, "iptables -A INPUT -i link1 -p udp -d 239.255.0.1 -j DROP");
    }
    let _writer = hosts.start("b", &["shapes", "square"]);
    let finds = |options: &[&str]| {
        let output = hosts.on("a", PROGRAM).args(["ls", "--json", "--domain", "0"]).args(options).output().unwrap();
        String::from_utf8(output.stdout).unwrap().contains("\"Square\"")
    };
    let start = Instant::now();
    while !finds(&["--peer", "10.77.1.2"]) {
        assert!(start.elapsed() < PATIENCE, "the peer is not found");
    }
    assert!(finds(&["--peer", "10.77.1.2", "--interface", "link1"]));
    assert!(!finds(&["--peer", "10.77.1.2", "--interface", "lo"]));
    assert!(!finds(&[]));
}
