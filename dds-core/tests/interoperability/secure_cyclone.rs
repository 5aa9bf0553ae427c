//! Interoperability with the security plugins of Cyclone DDS in Debian: handshakes in both roles, and the kinds of
//! protection that both sides support.
//!
//! The tests need their own network, and the program of `old_cyclone/peer.c`, which `DDS_TEST_OLD_CYCLONE` names:
//! `.ci/run cyclone`.

#![allow(clippy::disallowed_methods, reason = "the tests use another process")]

use crate::secure_peer::{
    ENCRYPT_ORIGIN, SIGN_ORIGIN, SecurePeer, TURN, answers_in_an_allowed_partition,
    answers_with_each_kind_of_protection, answers_with_rsa_identities, ask, endpoints, expel, fleet,
    late_joiners_get_durable_samples, observed_participant, own_permissions_refuse, participant, refuse,
};
use dds_security::pki::KeyAlgorithm;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::PoisonError;

/// Folder of the plugins in Debian, inside a folder of libraries.
const PLUGINS: &str = "libddsc0debian";

/// Returns the folder of the plugins, which is not on the path of the loader. Each architecture has its own.
fn plugins() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").expect("folders of libraries").flatten();
    let mut found = folders.map(|folder| folder.path().join(PLUGINS)).filter(|path| path.is_dir());
    found.next().expect("the plugins of the package libddsc0debian")
}

/// Starts Cyclone DDS with an identity, and options of `peer.c`.
fn start(enclave: &Path, options: &[&str]) -> SecurePeer {
    SecurePeer::start(&mut command(enclave, options))
}

fn command(enclave: &Path, options: &[&str]) -> Command {
    let program = std::env::var("DDS_TEST_OLD_CYCLONE").expect("the program of peer.c");
    let plugins = plugins();
    let library = |name: &str, function: &str| {
        let plugins = plugins.display();
        format!(
            "<Library path=\"{plugins}/libdds_security_{name}.so\" initFunction=\"init_{function}\" \
                 finalizeFunction=\"finalize_{function}\"/>"
        )
    };
    let file = |name: &str| format!("file:{}", enclave.join(name).display());
    let security = format!(
        "<CycloneDDS><Domain><Tracing><Verbosity>warning</Verbosity><OutputFile>stderr</OutputFile></Tracing>\
             <Security><Authentication>{}<IdentityCertificate>{}</IdentityCertificate>\
             <IdentityCA>{}</IdentityCA><PrivateKey>{}</PrivateKey></Authentication>\
             <Cryptographic>{}</Cryptographic><AccessControl>{}<PermissionsCA>{}</PermissionsCA>\
             <Governance>{}</Governance><Permissions>{}</Permissions></AccessControl></Security></Domain></CycloneDDS>",
        library("auth", "authentication"),
        file("cert.pem"),
        file("identity_ca.cert.pem"),
        file("key.pem"),
        library("crypto", "crypto"),
        library("ac", "access_control"),
        file("permissions_ca.cert.pem"),
        file("governance.p7s"),
        file("permissions.p7s"),
    );
    let mut command = Command::new(program);
    command.args(options).env("CYCLONEDDS_URI", security);
    command
}

/// Cyclone DDS refuses RSA keys of another length.
#[test]
#[ignore = "needs Cyclone DDS in C: .ci/run cyclone"]
fn cyclone_answers_with_rsa_identities() {
    answers_with_rsa_identities(&[KeyAlgorithm::Rsa2048], command);
}

#[test]
#[ignore = "needs Cyclone DDS in C: .ci/run cyclone"]
fn cyclone_and_late_joiners_get_durable_samples() {
    late_joiners_get_durable_samples(start);
}

/// Cyclone DDS checks its own permissions, and refuses an endpoint in another partition.
#[test]
#[ignore = "needs Cyclone DDS in C: .ci/run cyclone"]
fn partitions_decide_with_cyclone() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (fleet, _one, _asked, cyclone) = answers_in_an_allowed_partition(start);
    own_permissions_refuse(&fleet);
    cyclone.end();
    let (_refused, line) = SecurePeer::start_any(&mut command(&fleet.enclave("other"), &["partition=night"]));
    assert!(line.contains("error: "), "{line}");
}

/// Both roles of the handshake follow from the names, whose hashes decide which GUID is lower.
#[test]
#[ignore = "needs Cyclone DDS in C: .ci/run cyclone"]
fn cyclone_answers_with_each_kind_of_protection() {
    answers_with_each_kind_of_protection(start);
}

#[test]
#[ignore = "needs Cyclone DDS in C: .ci/run cyclone"]
fn cyclone_reads_on_after_an_expulsion() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for (rtps, discovery, metadata, data) in
        [("SIGN", "ENCRYPT", "ENCRYPT", "ENCRYPT"), (SIGN_ORIGIN, ENCRYPT_ORIGIN, ENCRYPT_ORIGIN, "NONE")]
    {
        let fleet = fleet(rtps, discovery, metadata, data);
        let cyclone = start(&fleet.enclave("other"), &[]);
        let one = observed_participant(&fleet, "one");
        let expelled = participant(&fleet, "one");
        let asked = endpoints(&one);
        ask(&asked);
        expel(&one, &expelled);
        ask(&asked);
        cyclone.end();
    }
}

#[test]
#[ignore = "needs Cyclone DDS in C: .ci/run cyclone"]
fn cyclone_of_another_fleet_is_refused() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let [ours, theirs] = [(); 2].map(|()| fleet("SIGN", "NONE", "NONE", "NONE"));
    // The name `one` has the lower GUID, so Cyclone DDS begins, and this side sees a wrong certificate.
    let cyclone = start(&theirs.enclave("one"), &[]);
    let participant = participant(&ours, "other");
    refuse(&participant);
    cyclone.end();
}
