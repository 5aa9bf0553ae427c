//! Participants on several hosts with cables between them. The hosts are network namespaces. The tests cover several
//! interfaces, interfaces that come and go, IPv6 with global and link-local addresses, and firewalls.
//!
//! They need root, so they run only by themselves: `.ci/run hosts`, or `.ci/netns cargo test -p dds-core --test
//! processes -- --ignored hosts::`.

#![allow(clippy::disallowed_methods, reason = "the hosts are made, and participants run on them, by programs")]

mod node;

use node::{Hosts, Node};

/// a and b share a network, b and c another one.
const CHAIN: [&str; 2] = ["a-b", "b-c"];

/// Returns whether this system has IPv6. Some are built or configured without it.
fn has_ipv6() -> bool {
    let has = std::path::Path::new("/proc/net/if_inet6").exists();
    if !has {
        crate::support::skip("IPv6");
    }
    has
}

/// Asserts that each host receives from hosts of its networks, and from no other host.
fn neighbours_hear_each_other(hosts: &Hosts, environment: &[(&str, &str)]) -> [Node; 3] {
    let mut nodes = ["a", "b", "c"].map(|host| hosts.start(host, environment));
    nodes.iter_mut().for_each(|node| node.tell("say hello"));
    let [a, b, c] = &mut nodes;
    a.wait_for("heard hello of b");
    b.wait_for("heard hello of a");
    b.wait_for("heard hello of c");
    c.wait_for("heard hello of b");
    for (node, unknown) in [(a, "c"), (c, "a")] {
        // All received lines come before the answer.
        node.tell("traffic");
        node.wait_for("traffic");
        assert!(!node.has_said(&format!("heard hello of {unknown}")));
    }
    nodes
}

#[test]
#[ignore = "needs root: .ci/run hosts"]
fn host_with_two_networks_uses_both() {
    neighbours_hear_each_other(&Hosts::new("two", &CHAIN), &[]);
}

#[test]
#[ignore = "needs root: .ci/run hosts"]
fn unselected_interface_is_not_used() {
    let hosts = Hosts::new("one", &CHAIN);
    let (mut a, mut c) = (hosts.start("a", &[]), hosts.start("c", &[]));
    for selected in ["link2", "10.77.2.2"] {
        // The setting accepts an interface name and an address.
        let mut b = hosts.start("b", &[("DDS_INTERFACES", selected)]);
        b.tell("say hello");
        c.wait_for("heard hello of b");
        c.tell("say hello");
        b.wait_for("heard hello of c");
    }
    a.tell("traffic");
    a.wait_for("traffic");
    assert!(!a.has_said("heard hello of b"));
}

#[test]
#[ignore = "needs root: .ci/run hosts"]
fn ipv6_is_default_without_ipv4_addresses() {
    if !has_ipv6() {
        return;
    }
    let hosts = Hosts::new("six", &CHAIN);
    for (host, link) in [("a", 1), ("b", 1), ("b", 2), ("c", 2)] {
        hosts.ip(host, &format!("-4 addr flush dev link{link}"));
    }
    neighbours_hear_each_other(&hosts, &[]);
}

#[test]
#[ignore = "needs root: .ci/run hosts"]
fn link_local_addresses_suffice() {
    if !has_ipv6() {
        return;
    }
    let hosts = Hosts::new("link", &CHAIN);
    for (host, link) in [("a", 1), ("b", 1), ("b", 2), ("c", 2)] {
        hosts.ip(host, &format!("-4 addr flush dev link{link}"));
        hosts.ip(host, &format!("-6 addr flush dev link{link} scope global"));
    }
    neighbours_hear_each_other(&hosts, &[("DDS_IP", "v6")]);
}

#[test]
#[ignore = "needs root: .ci/run hosts"]
fn dual_stack_host_reaches_every_peer() {
    if !has_ipv6() {
        return;
    }
    let hosts = Hosts::new("both", &CHAIN);
    let mut nodes =
        [("a", "v4"), ("b", "both"), ("c", "v6")].map(|(host, families)| hosts.start(host, &[("DDS_IP", families)]));
    let [a, b, c] = &mut nodes;
    b.tell("say hello");
    a.wait_for("heard hello of b");
    c.wait_for("heard hello of b");
}

/// A laptop's case: it starts without a network, gets one, and gets another address there.
#[test]
#[ignore = "needs root: .ci/run hosts"]
fn late_and_changed_interfaces_are_used() {
    let hosts = Hosts::new("late", &["a-b"]);
    hosts.ip("b", "link set link1 down");
    let (mut a, mut b) = (hosts.start("a", &[]), hosts.start("b", &[]));
    a.tell("say early");
    b.tell("say early");
    hosts.ip("b", "link set link1 up");
    b.wait_for("heard early of a");
    a.wait_for("heard early of b");

    hosts.ip("b", "addr del 10.77.1.2/24 dev link1");
    hosts.ip("b", "addr add 10.77.1.42/24 dev link1");
    a.tell("say moved");
    b.tell("say moved");
    b.wait_for("heard moved of a");
    a.wait_for("heard moved of b");

    // The addresses stay, but the interface goes down for a moment.
    hosts.ip("a", "link set link1 down");
    hosts.ip("a", "link set link1 up");
    a.tell("say back");
    b.tell("say back");
    b.wait_for("heard back of a");
    a.wait_for("heard back of b");
}

#[test]
#[ignore = "needs root: .ci/run hosts"]
fn initial_peer_is_found_without_multicast() {
    let hosts = Hosts::new("peer", &["a-b"]);
    let mut a = hosts.start("a", &[("DDS_SCOPE", "peers-only"), ("DDS_PEERS", "10.77.1.2")]);
    // Only one side knows the address of its peer. The other address has no host.
    let mut b = hosts.start("b", &[("DDS_SCOPE", "peers-only"), ("DDS_PEERS", "10.77.1.77")]);
    a.tell("say hello");
    b.wait_for("heard hello of a");
    b.tell("say bye");
    a.wait_for("heard bye of b");
}

#[test]
#[ignore = "needs root: .ci/run hosts"]
fn initial_peer_is_found_at_link_local_address() {
    if !has_ipv6() {
        return;
    }
    let hosts = Hosts::new("near", &["a-b"]);
    let link_local = format!("{}%link1", hosts.link_local("a", "link1"));
    let mut b = hosts.start("b", &[("DDS_SCOPE", "peers-only"), ("DDS_PEERS", &link_local)]);
    let mut a = hosts.start("a", &[("DDS_SCOPE", "peers-only"), ("DDS_IP", "both"), ("DDS_PEERS", "10.77.1.77")]);
    b.tell("say hi");
    a.wait_for("heard hi of b");
}

#[test]
#[ignore = "needs root: .ci/run hosts"]
fn firewall_refusals_affect_only_their_target() {
    let hosts = Hosts::new("wall", &CHAIN);
    let [mut a, mut b, mut c] = neighbours_hear_each_other(&hosts, &[]);
    hosts.run("b", "iptables", "-A OUTPUT -p udp -d 10.77.1.1 -j DROP");
    b.tell("say one");
    b.tell("say two");
    c.wait_for("heard one of b");
    c.wait_for("heard two of b");
    b.tell("traffic");
    let traffic = b.wait_for("traffic");
    // The counter shows the refused datagrams.
    assert!(!traffic.contains("forbidden 0"), "{traffic}");
    hosts.run("b", "iptables", "-F OUTPUT");
    // The endpoints are reliable, so the datagrams that the firewall dropped are repaired later.
    a.wait_for("heard one of b");
    a.wait_for("heard two of b");
}

/// The program that runs on each host.
#[test]
#[ignore = "is run by the other tests"]
fn program() {
    node::run();
}
