//! The certificates and documents of a fleet.

use crate::support::run_local;

#[test]
fn fleet_is_made_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys").display().to_string();
    let run = |arguments: &[&str]| run_local(&[&["security"], arguments].concat());
    let made = run(&["init", &keys, "-i", "robot7", "-i", "/cell/arm", "-d", "3", "--publish", "rt/*"]).unwrap();
    assert!(made.contains("created ") && made.contains("enclaves/cell/arm/key.pem"), "{made}");
    let shown = run(&["check", &keys, "--identity", "/cell/arm"]).unwrap();
    assert!(shown.contains("cell/arm (CN=/cell/arm)") && !shown.contains("robot7"), "{shown}");
    assert!(shown.contains("may publish `rt/*` in domains 3, partitions `*` (line "), "{shown}");
    let allowed = run(&["check", &keys, "-d", "3", "--publish", "rt/scan"]).unwrap();
    assert!(allowed.contains("robot7 publishes `rt/scan` in domain 3: allowed by the rule at line "), "{allowed}");
    let tagged = run(&["check", &keys, "-d", "3", "--publish", "rt/scan", "--data-tag", "level=secret"]);
    assert!(tagged.output.contains("in domain 3: denied by the default"), "{}", tagged.output);
    assert!(tagged.result.is_err());
    let denied = run(&["check", &keys, "-d", "3", "--subscribe", "rt/scan"]);
    assert!(denied.output.contains("subscribes `rt/scan` in domain 3: denied by the default"), "{}", denied.output);
    assert!(denied.result.unwrap_err().to_string().contains("change permissions.xml"));
    let revoked = run(&["revoke", &keys, "/cell/arm"]).unwrap();
    assert!(revoked.contains("enclaves/robot7/crl.pem") && revoked.contains("next: copy crl.pem"), "{revoked}");
    let faulty = run(&["check", &keys, "--identity", "robot7"]);
    assert!(faulty.output.contains("cell/arm/crl.pem: the authority has revoked"), "{}", faulty.output);
    assert!(run(&["revoke", &keys, "robot8"]).result.unwrap_err().to_string().contains("robot8/cert.pem"));
    let elsewhere = folder.path().display().to_string();
    assert!(run(&["revoke", &elsewhere, "robot7"]).result.unwrap_err().to_string().contains("expected a folder"));
    std::fs::remove_file(folder.path().join("keys/enclaves/cell/arm/crl.pem")).unwrap();
    let unknown = run(&["check", &keys, "--identity", "robot8"]).result.unwrap_err().to_string();
    assert!(unknown.contains("known identities: cell/arm, robot7"), "{unknown}");
    std::fs::remove_file(folder.path().join("keys/enclaves/robot7/key.pem")).unwrap();
    let faulty = run(&["check", &keys]);
    assert!(faulty.output.contains("enclaves/robot7/key.pem: "), "{}", faulty.output);
    assert!(faulty.result.unwrap_err().to_string().contains("errors (1)"));
}
