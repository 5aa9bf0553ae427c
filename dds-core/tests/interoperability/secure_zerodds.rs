//! Interoperability with ZeroDDS, another library in Rust with DDS Security: handshakes in both roles, and the kinds of
//! protection.
//!
//! The tests need their own network, and the program of `zerodds/peer.rs`, which `DDS_TEST_ZERODDS` names:
//! `.ci/run zerodds`.
//!
//! Version 1.0.0-rc.7 does not answer each time if messages, discovery and submessages are protected together. It sends
//! the acknowledgments of keys without protection then.

#![allow(clippy::disallowed_methods, reason = "the tests use another process")]

use crate::secure_peer::{ENCRYPT_ORIGIN, LENS, Protection, SIGN_ORIGIN, SecurePeer, answers_with_kinds_of_protection};
use std::path::Path;
use std::process::Command;

/// Starts ZeroDDS with an identity. It has no options.
fn start(enclave: &Path, _: &[&str]) -> SecurePeer {
    let program = std::env::var("DDS_TEST_ZERODDS").expect("the program of zerodds/peer.rs");
    SecurePeer::start(Command::new(program).arg(enclave))
}

#[test]
#[ignore = "needs ZeroDDS: .ci/run zerodds"]
fn zerodds_answers_with_protected_messages_and_submessages() {
    const KINDS: [Protection; 9] = [
        ("NONE", "NONE", "NONE", "NONE"),
        ("SIGN", "NONE", "NONE", "NONE"),
        ("ENCRYPT", "NONE", "NONE", "NONE"),
        ("NONE", "NONE", "SIGN", "NONE"),
        ("NONE", "ENCRYPT", "ENCRYPT", "NONE"),
        (SIGN_ORIGIN, "NONE", "NONE", "NONE"),
        (ENCRYPT_ORIGIN, "NONE", "NONE", "NONE"),
        ("NONE", "NONE", SIGN_ORIGIN, "NONE"),
        ("NONE", ENCRYPT_ORIGIN, ENCRYPT_ORIGIN, "NONE"),
    ];
    answers_with_kinds_of_protection(&KINDS, &LENS, start);
}

/// ZeroDDS marks protected payloads with the flag N. It takes no protected fragments, which Cyclone DDS and Fast DDS
/// take and write as this library does.
#[test]
#[ignore = "needs ZeroDDS: .ci/run zerodds"]
fn zerodds_answers_with_protected_payloads() {
    const KINDS: [Protection; 3] =
        [("NONE", "NONE", "NONE", "SIGN"), ("NONE", "NONE", "NONE", "ENCRYPT"), ("NONE", "NONE", "SIGN", "ENCRYPT")];
    answers_with_kinds_of_protection(&KINDS, &[0, 3, 100, 1_000, 5_000, 20_000], start);
}
