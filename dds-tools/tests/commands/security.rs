//! The certificates and documents of a fleet.

use crate::support::{Domain, Pose, pose_writer, run_local};
use dds_core::qos::{PublisherQos, SubscriberQos};
use dds_core::security::Credentials;

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

/// A copy of the key needs the password, for the check and for a participant.
#[test]
fn encrypted_key_needs_the_password_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let keys = path("keys");
    let enclave = path("keys/enclaves/robot");
    let key = path("keys/enclaves/robot/key.pem");
    std::fs::create_dir_all(&enclave).unwrap();
    std::fs::write(&key, include_str!("../../../dds-security/tests/pki/ec.robot.key.pem")).unwrap();
    // The command issues a certificate for the key that is there.
    run_local(&["security", "init", &keys, "-i", "robot", "-d", "0"]).unwrap();
    std::fs::write(&key, include_str!("../../../dds-security/tests/pki/ec.robot.pbkdf2.key.pem")).unwrap();
    let (password, empty) = (path("password"), path("empty"));
    std::fs::write(&password, "open sesame\r\nnot read\n").unwrap();
    std::fs::write(&empty, "\n").unwrap();
    let without = run_local(&["security", "check", &keys]);
    assert!(without.output.contains("the private key is encrypted: give its password"), "{}", without.output);
    assert!(without.result.is_err());
    let with = run_local(&["security", "check", &keys, "--password-file", &password]).unwrap();
    assert!(with.contains("robot (CN=robot)"), "{with}");
    let error = |file: &str| run_local(&["security", "check", &keys, "--password-file", file]).result.unwrap_err();
    assert!(error(&empty).to_string().ends_with("empty: expected a password in the first line, in UTF-8"));
    assert!(error(&path("missing")).to_string().contains("missing"));
    let domain = Domain::new();
    let look = |options: &[&str]| domain.run(&[&["ls", "--enclave", &enclave, "--wait", "0.1"], options].concat());
    assert!(look(&[]).result.unwrap_err().to_string().contains("the private key is encrypted"));
    look(&["--password-file", &password]).unwrap();
}

/// The robot belongs to another fleet: another authority has issued its certificate.
#[test]
fn why_names_participants_that_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    // The GUID of `one` is lower, so the robot begins the handshake, and its certificate is seen here.
    let [ours, theirs] = [("ours", "other"), ("theirs", "one")].map(|(fleet, identity)| {
        let keys = folder.path().join(fleet);
        run_local(&["security", "init", &keys.display().to_string(), "-i", identity, "-d", "0"]).unwrap();
        keys.join("enclaves").join(identity).display().to_string()
    });
    let domain = Domain::new();
    let credentials = Credentials::from_enclave(&theirs).unwrap();
    let robot = domain.join_with("robot", |builder| builder.credentials(credentials));
    let _writer = pose_writer(&robot);
    let refused = domain.run_until(&["why", "--enclave", &ours, "--wait", "0.8"], |text| text.contains("is refused"));
    for part in [
        "the handshake failed: identity of the other participant: the authority did not sign the certificate",
        "; check the files of both sides: `dds security check ",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
    domain.run_until(&["ls", "--enclave", &theirs, "--wait", "0.8"], |text| text.contains("robot/pose"));
    domain.run_until(&["why", "--enclave", &theirs, "robot/pose", "--wait", "0.8"], |text| {
        assert!(!text.contains("is refused"), "{text}");
        text.contains("no reader was found (writers: 1)")
    });
    let without = domain.run_until(&["why", "--wait", "0.8"], |text| text.contains("have an identity and hide"));
    assert!(without.contains("; look with --enclave and the folder of an identity of that fleet"), "{without}");
    let missing = domain.run(&["ls", "--enclave", "/nowhere"]).result.unwrap_err().to_string();
    assert!(missing.contains("/nowhere/identity_ca.cert.pem"), "{missing}");
}

/// The writer moves into a partition that its permissions deny. The command belongs to a third participant.
#[test]
fn why_names_the_rule_that_denies_an_endpoint() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys").display().to_string();
    run_local(&["security", "init", &keys, "-i", "robot", "-i", "station", "-i", "observer", "-d", "0"]).unwrap();
    let enclave = |identity: &str| folder.path().join("keys/enclaves").join(identity);
    let permissions = enclave("robot").join("permissions.xml");
    let text = std::fs::read_to_string(&permissions).unwrap();
    assert!(text.contains("<partition>*<"), "{text}");
    std::fs::write(&permissions, text.replace("<partition>*<", "<partition>day<")).unwrap();
    run_local(&["security", "init", &keys]).unwrap();
    let domain = Domain::new();
    let join = |name: &str| {
        let credentials = Credentials::from_enclave(enclave(name)).unwrap();
        domain.join_with(name, |builder| builder.credentials(credentials))
    };
    let (robot, station) = (join("robot"), join("station"));
    let publisher = robot.publisher(PublisherQos::default().partition(["day"])).unwrap();
    let _writer = publisher.writer_builder::<Pose>("robot/pose").build().unwrap();
    let subscriber = station.subscriber(SubscriberQos::default().partition(["*"])).unwrap();
    let _reader = subscriber.reader_builder::<Pose>("robot/pose").build().unwrap();
    let observer = enclave("observer").display().to_string();
    let why = ["why", "--enclave", &observer, "robot/pose", "--wait", "0.8"];
    domain.run_until(&why, |text| text.contains("every writer matches every reader"));
    publisher.set_qos(PublisherQos::default().partition(["night"])).unwrap();
    let denied = domain.run_until(&why, |text| text.contains("is denied"));
    for part in [
        "the permissions of its participant do not allow it: writing topic \"robot/pose\" is denied by the default of the \
         grant \"robot\"",
        "(correct governance or permissions, sign them, and restart the participant)",
    ] {
        assert!(denied.contains(part), "{denied}");
    }
}
