//! Participants that are created while every network interface is down.

#![allow(clippy::disallowed_methods, reason = "the test runs programs")]

use crate::support::{PATIENCE, World};
use dds_core::{DdsType, Scope};
use std::process::Command;

#[derive(DdsType, Debug, PartialEq)]
struct Count {
    count: u64,
}

/// The part in a network namespace of its own, whose loopback is down.
#[test]
#[ignore = "is started by the other one, in a network namespace of its own"]
fn program_without_interfaces() {
    let world = World::new();
    let [from, to] = [(); 2].map(|()| world.builder().scope(Scope::Subnet).udp_only(true).build().unwrap());
    let (writer, reader) = (from.writer::<Count>("count").unwrap(), to.reader::<Count>("count").unwrap());
    assert!(Command::new("ip").args(["link", "set", "lo", "up"]).status().unwrap().success());
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    writer.write(&Count { count: 7 }).unwrap();
    assert_eq!(reader.next_sample().block_for(PATIENCE).unwrap().data, Some(Count { count: 7 }));
}

#[test]
fn participant_waits_for_an_interface() {
    let own = std::env::current_exe().unwrap();
    let alone = |program: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--net", program]);
        command
    };
    if !alone("ip").arg("link").output().is_ok_and(|output| output.status.success()) {
        crate::support::skip("a network namespace");
        return;
    }
    let program = own.to_str().unwrap();
    let arguments = ["--ignored", "--exact", "interfaces_down::program_without_interfaces"];
    let output = alone(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
