//! Two processes, and a network that drops datagrams: every sample arrives, in order and once, and not later than with Cyclone
//! DDS on both sides. Reliable, KEEP_ALL, with small samples and with large ones, among ourselves and with Cyclone DDS (in C,
//! see `peer.c`) in both directions.
//!
//! Needs root, `iptables` and a network of its own, so it runs by itself only: `.ci/run lossy`. `DDS_TEST_CYCLONE_C` names the
//! other side; without it only ours are measured. `DDS_TEST_SHARE=10`: a tenth of the samples. `DDS_TEST_ONLY="30 1048576"`:
//! only this loss and this size.

#![allow(clippy::disallowed_methods, reason = "processes are what is tested, and the clock is what is asked")]

mod node;

use node::{Kind, Node};
use std::process::Command;
use std::time::Instant;

/// Percent of all datagrams that are dropped.
const LOSSES: [u32; 2] = [10, 30];

/// Octets of a sample, and how many there are.
const LOADS: [(usize, u32); 2] = [(1000, 100_000), (1 << 20, 300)];

/// A writer of Cyclone DDS takes 2 to 20 ms for a small sample here: so many times fewer are enough to see its pace.
const CYCLONE_SHARE: u32 = 25;

/// Seconds that a case may take in any case: starting, and waiting for what was lost last.
const GRACE: f64 = 2.0;

/// Which processes write and read, beside Cyclone DDS among itself.
const OURS: [(Kind, Kind); 3] = [(Kind::Ours, Kind::Ours), (Kind::Ours, Kind::Cyclone), (Kind::Cyclone, Kind::Ours)];

#[test]
#[ignore = "is run by another test, as a process of its own"]
fn program() {
    node::run();
}

#[test]
#[ignore = "needs root: .ci/run lossy"]
fn lossy_network_delivers_every_sample() {
    let share = std::env::var("DDS_TEST_SHARE").map_or(1, |share| share.parse::<u32>().unwrap());
    let only = std::env::var("DDS_TEST_ONLY").ok();
    let has_cyclone = std::env::var("DDS_TEST_CYCLONE_C").is_ok();
    println!(
        "{:>4} {:>8} {:>7}  {:<18} {:>8} {:>9} {:>7}",
        "loss", "octets", "samples", "pair", "seconds", "MB/s", "repeats"
    );
    for loss in LOSSES {
        drop_datagrams(loss);
        for (len, count) in LOADS {
            if only.as_ref().is_some_and(|only| *only != format!("{loss} {len}")) {
                continue;
            }
            let pair = |writer, reader| measure(loss, writer, reader, count_of(writer, len, count / share), len);
            if !has_cyclone {
                pair(Kind::Ours, Kind::Ours);
                continue;
            }
            let theirs = pair(Kind::Cyclone, Kind::Cyclone);
            for (writer, reader) in OURS {
                let count = count_of(writer, len, count / share);
                let seconds = pair(writer, reader) * f64::from(count);
                let limit = theirs * f64::from(count) + GRACE;
                // It repeats a request for fragments only after 100 ms: not yet always as fast as it is with its own.
                let is_compared = (writer, reader) != (Kind::Ours, Kind::Cyclone) || len < 10_000;
                assert!(!is_compared || seconds < limit, "{seconds:.1} s; Cyclone DDS among itself takes {limit:.1} s");
            }
        }
    }
}

/// How many samples this writer writes.
fn count_of(writer: Kind, len: usize, count: u32) -> u32 {
    if writer == Kind::Cyclone && len < 10_000 { (count / CYCLONE_SHARE).max(1) } else { count }
}

/// Runs a case, prints what it took, and says how many seconds a sample took.
fn measure(loss: u32, writer: Kind, reader: Kind, count: u32, len: usize) -> f64 {
    let mut subscriber = Node::start(reader, "sub", count, len);
    let mut publisher = Node::start(writer, "pub", count, len);
    subscriber.expect("ready");
    publisher.expect("ready");
    let (sent, started) = (octets_sent(), Instant::now());
    publisher.go();
    subscriber.expect("done");
    publisher.expect("done");
    let seconds = started.elapsed().as_secs_f64();
    let payload = f64::from(count) * len as f64;
    let repeats = (octets_sent() - sent) as f64 / payload - 1.0;
    let pair = format!("{writer:?} to {reader:?}");
    let megabytes = payload / seconds / 1e6;
    println!("{loss:>3}% {len:>8} {count:>7}  {pair:<18} {seconds:>8.2} {megabytes:>9.2} {:>6.1}%", repeats * 100.0);
    seconds / f64::from(count)
}

/// From now on so many percent of the datagrams are dropped on their way in.
fn drop_datagrams(percent: u32) {
    let probability = format!("{}", f64::from(percent) / 100.0);
    iptables(&["-F", "INPUT"]);
    let random = ["-m", "statistic", "--mode", "random", "--probability", &probability, "-j", "DROP"];
    iptables(&[&["-A", "INPUT", "-p", "udp"], &random[..]].concat());
}

fn iptables(arguments: &[&str]) {
    assert!(Command::new("iptables").args(arguments).status().unwrap().success(), "iptables {arguments:?}");
}

/// By the loopback of this network, which has nobody else on it.
fn octets_sent() -> u64 {
    let interfaces = std::fs::read_to_string("/proc/net/dev").unwrap();
    let line = interfaces.lines().find_map(|line| line.trim().strip_prefix("lo:")).unwrap();
    // The first eight say what has been received.
    line.split_whitespace().nth(8).unwrap().parse().unwrap()
}
