//! Interoperability with Fast DDS of Debian with its security plugins: handshakes in both roles, and the kinds of
//! protection.
//!
//! The tests need their own network, and the program of `fast_dds/secure_peer.cpp`, which `DDS_TEST_SECURE_FAST_DDS`
//! names: `.ci/run fast_dds`.

#![allow(clippy::disallowed_methods, reason = "the tests use another process")]

use crate::secure_peer::{
    ENCRYPT_ORIGIN, SecurePeer, TURN, answers_with_each_kind_of_protection, ask, endpoints, expel, fleet,
    observed_participant, participant, refuse,
};
use std::path::Path;
use std::process::Command;
use std::sync::PoisonError;

/// Starts Fast DDS with an identity.
fn start(enclave: &Path) -> SecurePeer {
    let program = std::env::var("DDS_TEST_SECURE_FAST_DDS").expect("the program of secure_peer.cpp");
    SecurePeer::start(Command::new(program).arg(enclave))
}

/// Both roles of the handshake follow from the names, whose hashes decide which GUID is lower. Where Fast DDS begins,
/// it proposes MODP-2048-256.
#[test]
#[ignore = "needs Fast DDS: .ci/run fast_dds"]
fn fast_dds_answers_with_each_kind_of_protection() {
    answers_with_each_kind_of_protection(start);
}

/// Keys would change, which Fast DDS does not follow.
#[test]
#[ignore = "needs Fast DDS: .ci/run fast_dds"]
fn fast_dds_reads_on_after_an_expulsion() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for (rtps, metadata) in [("NONE", "ENCRYPT"), ("SIGN", ENCRYPT_ORIGIN)] {
        let fleet = fleet(rtps, "ENCRYPT", metadata, "ENCRYPT");
        let fast = start(&fleet.enclave("other"));
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
    let fast = start(&theirs.enclave("one"));
    refuse(&participant(&ours, "other"));
    fast.end();
}
