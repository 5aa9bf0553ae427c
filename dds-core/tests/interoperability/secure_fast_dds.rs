//! Interoperability with Fast DDS of Debian with its security plugins: handshakes in both roles, and the kinds of
//! protection.
//!
//! The tests need their own network, and the program of `fast_dds/secure_peer.cpp`, which `DDS_TEST_SECURE_FAST_DDS`
//! names: `.ci/run fast_dds`.

#![allow(clippy::disallowed_methods, reason = "the tests use another process")]

use crate::secure_peer::{
    ENCRYPT_ORIGIN, SecurePeer, TURN, answers_in_an_allowed_partition, answers_with_each_kind_of_protection,
    answers_with_rsa_identities, ask, ask_and_end, denied_writer_is_named, endpoints, expel, fleet,
    late_joiners_get_durable_samples, observed_participant, own_permissions_refuse, participant, refuse,
};
use dds_security::pki::KeyAlgorithm;
use std::path::Path;
use std::process::Command;
use std::sync::PoisonError;

/// Starts Fast DDS with an identity, and options of `secure_peer.cpp`.
fn start(enclave: &Path, options: &[&str]) -> SecurePeer {
    SecurePeer::start(&mut command(enclave, options))
}

fn command(enclave: &Path, options: &[&str]) -> Command {
    let program = std::env::var("DDS_TEST_SECURE_FAST_DDS").expect("the program of secure_peer.cpp");
    let mut command = Command::new(program);
    command.arg(enclave).args(options);
    command
}

#[test]
#[ignore = "needs Fast DDS: .ci/run fast_dds"]
fn fast_dds_answers_with_rsa_identities() {
    answers_with_rsa_identities(&[KeyAlgorithm::Rsa2048, KeyAlgorithm::Rsa3072], command);
}

#[test]
#[ignore = "needs Fast DDS: .ci/run fast_dds"]
fn fast_dds_and_late_joiners_get_durable_samples() {
    late_joiners_get_durable_samples(start);
}

/// Fast DDS checks its own permissions when it creates an endpoint. It moves the writer later without a check.
#[test]
#[ignore = "needs Fast DDS: .ci/run fast_dds"]
fn partitions_decide_with_fast_dds() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (fleet, _one, asked, mut fast) = answers_in_an_allowed_partition(start);
    own_permissions_refuse(&fleet);
    denied_writer_is_named(&asked, &mut fast);
    fast.end();
    let (_refused, line) = SecurePeer::start_any(&mut command(&fleet.enclave("other"), &["partition=night"]));
    // The first line is that of the program, or of the log of Fast DDS.
    assert!(line.contains("error: ") || line.contains("night partition not found in rule"), "{line}");
}

/// Both roles of the handshake follow from the names, whose hashes decide which GUID is lower. Where Fast DDS begins,
/// it proposes MODP-2048-256.
#[test]
#[ignore = "needs Fast DDS: .ci/run fast_dds"]
fn fast_dds_answers_with_each_kind_of_protection() {
    answers_with_each_kind_of_protection(start);
}

/// Its keys have 128 bits, except those for the exchange of keys.
#[test]
#[ignore = "needs Fast DDS: .ci/run fast_dds"]
fn fast_dds_with_short_keys_answers() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for (rtps, discovery, metadata, data) in [
        ("SIGN", "ENCRYPT", "ENCRYPT", "ENCRYPT"),
        ("ENCRYPT", "SIGN", "SIGN", "SIGN"),
        ("NONE", "NONE", "NONE", "ENCRYPT"),
    ] {
        let fleet = fleet(rtps, discovery, metadata, data);
        for (own, theirs) in [("one", "other"), ("other", "one")] {
            println!("rtps {rtps}, discovery {discovery}, metadata {metadata}, data {data}, {own} here");
            let peer = start(&fleet.enclave(theirs), &["keysize=128"]);
            ask_and_end(&participant(&fleet, own), peer);
        }
    }
}

/// Keys would change, which Fast DDS does not follow.
#[test]
#[ignore = "needs Fast DDS: .ci/run fast_dds"]
fn fast_dds_reads_on_after_an_expulsion() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for (rtps, metadata) in [("NONE", "ENCRYPT"), ("SIGN", ENCRYPT_ORIGIN)] {
        let fleet = fleet(rtps, "ENCRYPT", metadata, "ENCRYPT");
        let fast = start(&fleet.enclave("other"), &[]);
        let one = observed_participant(&fleet, "one");
        let expelled = participant(&fleet, "one");
        let asked = endpoints(&one);
        ask(&asked);
        expel(&one, &expelled);
        ask(&asked);
        fast.end();
    }
}

#[test]
#[ignore = "needs Fast DDS: .ci/run fast_dds"]
fn fast_dds_of_another_fleet_is_refused() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let [ours, theirs] = [(); 2].map(|()| fleet("SIGN", "NONE", "NONE", "NONE"));
    // The name `one` has the lower GUID, so Fast DDS begins, and this side sees a wrong certificate.
    let fast = start(&theirs.enclave("one"), &[]);
    refuse(&participant(&ours, "other"));
    fast.end();
}
