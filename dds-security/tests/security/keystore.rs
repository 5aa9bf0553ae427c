//! The files of a fleet: made, extended, damaged and checked.

use dds_security::access::{AccessAction, AccessReason, AccessRequest};
use dds_security::keystore::{
    Fleet, FleetError, FleetOptions, FleetRights, FleetStep, KeystoreCheck, check, check_with_password,
};
use dds_security::pki::{Certificate, CertificateError, KeyAlgorithm, Validity};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// 2030-01-01.
const NOW: i64 = 1_893_456_000;

const YEAR: i64 = 365 * 86_400;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dds-security-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(self.path(file), text.replacen(from, to, 1)).unwrap();
    }

    fn make(&self, identities: &[&str]) -> Fleet {
        Fleet::create(&self.0, &options(identities)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn options(identities: &[&str]) -> FleetOptions {
    FleetOptions {
        identities: identities.iter().map(|name| (*name).to_owned()).collect(),
        rights: FleetRights { domains: vec![0, 7], publish: vec!["rt/*".to_owned()], subscribe: vec!["*".to_owned()] },
        ..FleetOptions::new(Validity { not_before: NOW - 86_400, not_after: NOW + YEAR })
    }
}

fn findings(check: &KeystoreCheck, root: &Path) -> Vec<String> {
    let root = format!("{}/", root.display());
    check.findings.iter().map(|finding| finding.to_string().replace(&root, "")).collect()
}

#[test]
fn new_fleet_is_free_of_faults() {
    let folder = Folder::new("new");
    folder.make(&["robot7", "/cell3/arm"]);
    let checked = check(&folder.0, NOW).unwrap();
    assert_eq!(findings(&checked, &folder.0), [""; 0]);
    let names: Vec<_> = checked.identities.iter().map(|identity| identity.name.as_str()).collect();
    assert_eq!(names, ["cell3/arm", "robot7"]);
    let arm = &checked.identities[0];
    assert_eq!(arm.certificate.subject_text(), "CN=/cell3/arm");
    let decide = |action, domain_id, topic| {
        arm.decide(&AccessRequest { action, domain_id, topic, partitions: &[], data_tags: &[] }, NOW).is_allowed
    };
    assert!(decide(AccessAction::Publish, 7, "rt/scan") && decide(AccessAction::Subscribe, 0, "clock"));
    assert!(!decide(AccessAction::Publish, 7, "clock") && !decide(AccessAction::Publish, 1, "rt/scan"));
    let text = arm.to_string();
    assert!(text.contains("may publish `rt/*` in domains 0, 7, partitions `*` (line "), "{text}");
    assert!(text.contains("topics `*`: submessages ENCRYPT, data NONE"), "{text}");
    // The folder of one identity is checked alone too.
    assert_eq!(check(&folder.path("enclaves/robot7"), NOW).unwrap().identities.len(), 1);
}

#[test]
fn governance_decides_before_the_grant() {
    let folder = Folder::new("governance");
    folder.make(&["robot7"]);
    folder.edit("enclaves/governance.xml", "<enable_read_access_control>true<", "<enable_read_access_control>false<");
    folder.edit("enclaves/governance.xml", "<topic_expression>*<", "<topic_expression>rt/*<");
    folder.edit("enclaves/robot7/permissions.xml", "<topic>*<", "<topic>rt/clock<");
    let tags = "</partitions><data_tags><tag><name>level</name><value>open</value></tag></data_tags></publish>";
    folder.edit("enclaves/robot7/permissions.xml", "</partitions>\n        </publish>", tags);
    folder.edit("enclaves/robot7/permissions.xml", "<default>DENY<", "<default>ALLOW<");
    folder.make(&[]);
    let checked = check(&folder.0, NOW).unwrap();
    let decide = |action, domain_id, topic| {
        let access = AccessRequest { action, domain_id, topic, partitions: &[], data_tags: &[] };
        let decision = checked.identities[0].decide(&access, NOW);
        (decision.is_allowed, decision.reason)
    };
    let text = checked.identities[0].to_string();
    assert!(
        text.contains("may publish `rt/*` in domains 0, 7, partitions `*`, data tags `level=open` (line "),
        "{text}"
    );
    // The grant allows the first two by its default.
    assert_eq!(decide(AccessAction::Publish, 1, "rt/scan"), (false, AccessReason::NoDomainRule));
    assert_eq!(decide(AccessAction::Publish, 0, "clock"), (false, AccessReason::NoTopicRule));
    assert_eq!(decide(AccessAction::Subscribe, 0, "rt/scan"), (true, AccessReason::Uncontrolled));
    assert!(matches!(decide(AccessAction::Publish, 0, "rt/scan"), (true, AccessReason::Rule { .. })));
    assert_eq!(decide(AccessAction::Relay, 0, "rt/scan"), (true, AccessReason::Default));
}

#[test]
fn revoked_identities_are_found_in_each_enclave() {
    let folder = Folder::new("revoked");
    folder.make(&["robot7", "/cell/arm", "station"]);
    let mut fleet = Fleet::open(&folder.0, NOW).unwrap();
    assert!(matches!(fleet.revoke("robot8", NOW), Err(FleetError::Io(..))));
    for (name, left) in [("robot7", &["cell/arm", "station"][..]), ("/cell/arm", &["station"])] {
        fleet.revoke(name, NOW).unwrap();
        let checked = check(&folder.0, NOW).unwrap();
        let names: Vec<_> = checked.identities.iter().map(|identity| identity.name.as_str()).collect();
        assert_eq!(names, left);
    }
    let checked = check(&folder.0, NOW).unwrap();
    let texts: Vec<_> = checked.findings.iter().map(ToString::to_string).collect();
    assert!(texts.iter().any(|text| text.contains("robot7/crl.pem: the authority has revoked")), "{texts:?}");
    // An identity that is made later refuses them as well, and lists of others stay.
    let own = "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----";
    fs::write(folder.path("enclaves/station/crl.pem"), own).unwrap();
    folder.make(&["robot9"]);
    let public = folder.read("public/crl.pem");
    assert_eq!(public.matches("BEGIN X509 CRL").count(), 2);
    assert_eq!(folder.read("enclaves/robot9/crl.pem"), public);
    assert_eq!(folder.read("enclaves/station/crl.pem"), format!("{own}\n{public}"));
    folder.make(&[]);
    assert_eq!(folder.read("enclaves/station/crl.pem"), format!("{own}\n{public}"), "no list twice");
    fs::write(folder.path("enclaves/station/crl.pem"), &public).unwrap();
    fs::write(folder.path("enclaves/station/ocsp.der"), b"no response").unwrap();
    let checked = check(&folder.0, NOW).unwrap();
    let texts: Vec<_> = checked.findings.iter().map(ToString::to_string).collect();
    assert!(texts.iter().any(|text| text.contains("station/ocsp.der: the file has no OCSP response")), "{texts:?}");
}

#[cfg(unix)]
#[test]
fn other_users_cannot_read_keys() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("modes");
    folder.make(&["robot7"]);
    let keys = ["enclaves/robot7/key.pem", "private/identity_ca.key.pem", "private/permissions_ca.key.pem"];
    for key in keys {
        assert_eq!(fs::metadata(folder.path(key)).unwrap().permissions().mode() & 0o777, 0o600, "{key}");
        fs::set_permissions(folder.path(key), fs::Permissions::from_mode(0o644)).unwrap();
    }
    assert_eq!(fs::metadata(folder.path("private")).unwrap().permissions().mode() & 0o777, 0o700);
    let checked = check(&folder.0, NOW).unwrap();
    assert!(!checked.has_errors());
    let found = findings(&checked, &folder.0);
    assert_eq!(found.len(), keys.len());
    for key in keys {
        let text = format!("warning: {key}: other users of this host may read the private key: run `chmod 600`");
        assert!(found.contains(&text), "{found:?}");
    }
}

#[test]
fn second_call_keeps_keys_and_signs_edited_documents() {
    let folder = Folder::new("again");
    folder.make(&["robot7"]);
    let files = ["private/identity_ca.key.pem", "enclaves/robot7/key.pem", "enclaves/robot7/cert.pem"];
    let before: Vec<_> = files.iter().map(|file| folder.read(file)).collect();
    folder.edit("enclaves/robot7/permissions.xml", "<topic>rt/*</topic>", "<topic>rt/cmd_vel</topic>");
    folder.edit("enclaves/governance.xml", "<data_protection_kind>NONE", "<data_protection_kind>SIGN");
    let found = findings(&check(&folder.0, NOW).unwrap(), &folder.0);
    let edited = "the document differs from its signed form, which counts: run `dds security init` again";
    assert!(found.contains(&format!("warning: enclaves/governance.xml: {edited}")), "{found:?}");
    assert!(found.contains(&format!("warning: enclaves/robot7/permissions.xml: {edited}")), "{found:?}");
    let fleet = folder.make(&["robot7", "robot8"]);
    let signed = fleet.files().iter().filter(|file| file.step == FleetStep::Signed).count();
    assert_eq!(signed, 3, "governance, and the permissions of both: {:?}", fleet.files());
    assert_eq!(files.iter().map(|file| folder.read(file)).collect::<Vec<_>>(), before);
    let checked = check(&folder.0, NOW).unwrap();
    assert_eq!((findings(&checked, &folder.0), checked.identities.len()), (Vec::new(), 2));
    assert!(checked.identities[0].to_string().contains("data SIGN"), "{}", checked.identities[0]);
}

#[test]
fn interrupted_call_can_be_repeated() {
    let folder = Folder::new("interrupted");
    folder.make(&["robot7"]);
    let keys = ["private/identity_ca.key.pem", "private/permissions_ca.key.pem", "enclaves/robot7/key.pem"];
    let before = keys.map(|key| folder.read(key));
    for certificate in ["public/identity_ca.cert.pem", "public/permissions_ca.cert.pem", "enclaves/robot7/cert.pem"] {
        fs::remove_file(folder.path(certificate)).unwrap();
    }
    fs::create_dir_all(folder.path("enclaves/robot8")).unwrap();
    fs::write(folder.path("enclaves/robot8/key.pem.new"), "half a key").unwrap();
    folder.make(&["robot7", "robot8"]);
    assert_eq!(keys.map(|key| folder.read(key)), before);
    assert!(!folder.path("enclaves/robot8/key.pem.new").exists());
    let checked = check(&folder.0, NOW).unwrap();
    assert_eq!((findings(&checked, &folder.0), checked.identities.len()), (Vec::new(), 2));
    fs::remove_file(folder.path(keys[0])).unwrap();
    let error = Fleet::create(&folder.0, &options(&[])).unwrap_err();
    assert!(error.to_string().contains("restore the key of the authority"), "{error}");
}

#[test]
fn key_of_an_interrupted_call_has_the_algorithm_of_the_options() {
    let folder = Folder::new("other-algorithm");
    folder.make(&["robot7"]);
    for (certificate, key) in [
        ("enclaves/robot7/cert.pem", "enclaves/robot7/key.pem"),
        ("public/identity_ca.cert.pem", "private/identity_ca.key.pem"),
    ] {
        fs::remove_file(folder.path(certificate)).unwrap();
        let before = folder.read(key);
        let options = FleetOptions { algorithm: KeyAlgorithm::EcP384, ..options(&["robot7"]) };
        let error = Fleet::create(&folder.0, &options).unwrap_err();
        assert!(matches!(&error, FleetError::OtherAlgorithm(path, ..) if *path == folder.path(key)), "{error}");
        assert!(error.to_string().contains("the key is EC P-256, and not EC P-384"), "{error}");
        assert_eq!((folder.read(key), folder.path(certificate).exists()), (before, false));
    }
}

/// Another tool may have made the key. No algorithm of the options has its length.
#[test]
fn identity_with_a_key_in_a_token_gets_no_other_key() {
    let folder = Folder::new("token");
    folder.make(&[]);
    fs::create_dir_all(folder.path("enclaves/robot7")).unwrap();
    fs::write(folder.path("enclaves/robot7/key.p11"), "pkcs11:object=robot7?module-path=x").unwrap();
    let error = Fleet::create(&folder.0, &options(&["robot7"])).unwrap_err();
    assert!(
        matches!(&error, FleetError::KeyInToken(path) if *path == folder.path("enclaves/robot7/key.p11")),
        "{error}"
    );
    assert!(!folder.path("enclaves/robot7/key.pem").exists());
}

#[test]
fn longer_rsa_key_without_a_certificate_gets_one() {
    let folder = Folder::new("longer-rsa");
    folder.make(&[]);
    let key = include_str!("../pki/rsa4096.key.pem");
    for (identity, algorithm) in [("robot7", KeyAlgorithm::Rsa2048), ("robot8", KeyAlgorithm::Rsa3072)] {
        fs::create_dir_all(folder.path(&format!("enclaves/{identity}"))).unwrap();
        fs::write(folder.path(&format!("enclaves/{identity}/key.pem")), key).unwrap();
        let error = Fleet::create(&folder.0, &options(&[identity])).unwrap_err().to_string();
        assert!(error.contains("the key is RSA with 4096 bits, and not EC P-256: choose its algorithm"), "{error}");
        Fleet::create(&folder.0, &FleetOptions { algorithm, ..options(&[identity]) }).unwrap();
        assert_eq!(folder.read(&format!("enclaves/{identity}/key.pem")), key);
    }
    let checked = check(&folder.0, NOW).unwrap();
    assert_eq!((checked.identities.len(), checked.has_errors()), (2, false), "{:?}", checked.findings);
    // A shorter key is no longer one.
    fs::create_dir_all(folder.path("enclaves/robot9")).unwrap();
    fs::write(folder.path("enclaves/robot9/key.pem"), include_str!("../pki/rsa.robot.key.pem")).unwrap();
    let options = FleetOptions { algorithm: KeyAlgorithm::Rsa3072, ..options(&["robot9"]) };
    let error = Fleet::create(&folder.0, &options).unwrap_err().to_string();
    assert!(error.contains("the key is RSA with 2048 bits, and not RSA with 3072 bits"), "{error}");
}

#[test]
fn certificates_do_not_outlive_their_authority() {
    let folder = Folder::new("outlive");
    folder.make(&[]);
    let mut late = options(&["robot7"]);
    late.validity.not_after = NOW + 2 * YEAR;
    Fleet::create(&folder.0, &late).unwrap();
    let certificate = Certificate::from_pem(&folder.read("enclaves/robot7/cert.pem")).unwrap();
    assert_eq!(certificate.validity().not_after, NOW + YEAR);
    late.validity.not_before = NOW + YEAR + 1;
    let result = Fleet::create(&folder.0, &late);
    assert!(matches!(result, Err(FleetError::Certificate(_, CertificateError::Expired(_)))), "{result:?}");
}

#[test]
fn each_fault_names_its_file_and_the_next_step() {
    let folder = Folder::new("faults");
    let other = Folder::new("faults-other");
    folder.make(&["robot7"]);
    other.make(&["robot7"]);
    let enclave = "enclaves/robot7";
    let fault_of = |file: &str, damage: &dyn Fn(&Path)| {
        let path = folder.path(&format!("{enclave}/{file}"));
        let before = fs::read(&path).unwrap();
        damage(&path);
        let checked = check(&folder.path(enclave), NOW).unwrap();
        fs::write(&path, before).unwrap();
        assert!(checked.has_errors() && checked.identities.is_empty(), "{file}");
        let prefix = format!("error: {}/", folder.path(enclave).display());
        checked.findings[0].to_string().replace(&prefix, "")
    };
    let from_other = |file: &'static str| {
        let from = other.path(&format!("{enclave}/{file}"));
        fault_of(file, &move |path| fs::write(path, fs::read(&from).unwrap()).unwrap())
    };
    assert!(from_other("cert.pem").starts_with("cert.pem: the authority did not sign the certificate"));
    assert!(from_other("key.pem").starts_with("key.pem: the private key belongs to another certificate"));
    assert!(from_other("permissions.p7s").starts_with("permissions.p7s: another authority signed the document"));
    assert!(from_other("governance.p7s").starts_with("governance.p7s: another authority signed the document"));
    let changed = |path: &Path| {
        let text = fs::read_to_string(path).unwrap().replacen("rt/*", "*", 1);
        fs::write(path, text).unwrap();
    };
    assert!(fault_of("permissions.p7s", &changed).starts_with("permissions.p7s: the document was changed"));
    let removed = |path: &Path| fs::remove_file(path).unwrap();
    assert!(fault_of("permissions.p7s", &removed).starts_with("permissions.p7s: "));
    let emptied = |path: &Path| fs::write(path, "").unwrap();
    assert!(fault_of("cert.pem", &emptied).starts_with("cert.pem: the file has no certificate"));
    assert!(fault_of("governance.p7s", &emptied).starts_with("governance.p7s: the file is no signed document"));
    let huge = |path: &Path| fs::write(path, vec![b' '; 2 << 20]).unwrap();
    assert!(fault_of("key.pem", &huge).starts_with("key.pem: the file has more than a megabyte"));
    // The grant of another identity.
    let robot = folder.read("enclaves/robot7/permissions.xml");
    fs::write(folder.path("enclaves/robot7/permissions.xml"), robot.replace("CN=robot7", "CN=robot8")).unwrap();
    folder.make(&[]);
    let found = findings(&check(&folder.0, NOW).unwrap(), &folder.0);
    let text = "no grant has the subject `CN=robot7`: correct <subject_name>, and sign again";
    assert_eq!(found, [format!("error: enclaves/robot7/permissions.p7s: {text}")]);
}

#[test]
fn ends_of_validity_are_found() {
    let folder = Folder::new("ends");
    folder.make(&["robot7"]);
    let at = |now| check(&folder.path("enclaves/robot7"), now).unwrap();
    let soon = at(NOW + YEAR - 86_400);
    assert!(!soon.has_errors() && soon.identities.len() == 1);
    assert!(soon.findings.iter().any(|finding| finding.message.contains("ends on 2031-01-01T00:00:00Z")));
    let late = at(NOW + YEAR + 1);
    assert!(late.has_errors() && late.identities.is_empty());
    let early = at(NOW - 2 * 86_400);
    assert!(early.has_errors() && early.findings[0].message.contains("has not begun"));
}

#[test]
fn open_rules_are_warnings() {
    let folder = Folder::new("open");
    folder.make(&["robot7"]);
    let governance = "enclaves/governance.xml";
    folder.edit(governance, "participants>false<", "participants>true<");
    folder.edit(governance, "<rtps_protection_kind>SIGN", "<rtps_protection_kind>NONE");
    folder.edit(governance, "<metadata_protection_kind>ENCRYPT", "<metadata_protection_kind>NONE");
    folder.edit(governance, "<id>7</id>", "<id>8</id>");
    folder.make(&[]);
    let checked = check(&folder.0, NOW).unwrap();
    assert!(!checked.has_errors());
    let found = findings(&checked, &folder.0).join("\n");
    for part in [
        "allow participants without an identity",
        "topics `*` of domains 0, 8 are not protected",
        "allow domains 0, 7; the governance has no rule for some of them",
    ] {
        assert!(found.contains(part), "{found}");
    }
}

#[test]
fn faulty_names_and_documents_make_nothing() {
    let folder = Folder::new("names");
    for name in ["", "/", "a//b", "../x", "a/../b", "a b", "a/", ".hidden", "a\\b"] {
        let error = Fleet::create(&folder.0, &options(&[name])).unwrap_err();
        assert!(matches!(error, FleetError::Name(_)), "{name}: {error}");
    }
    assert!(!folder.0.exists());
    assert!(check(&folder.0, NOW).is_err());
    folder.make(&["robot7"]);
    folder.edit("enclaves/governance.xml", "SIGN", "SING");
    let error = Fleet::create(&folder.0, &options(&[])).unwrap_err().to_string();
    assert!(error.contains("governance.xml: line ") && error.contains("`SING` is no kind of protection"), "{error}");
}

#[test]
fn encrypted_key_is_checked_with_its_password() {
    let folder = Folder::new("encrypted");
    let key = folder.path("enclaves/robot7/key.pem");
    fs::create_dir_all(folder.path("enclaves/robot7")).unwrap();
    fs::write(&key, include_str!("../pki/ec.robot.key.pem")).unwrap();
    // The fleet issues a certificate for the key that is there.
    folder.make(&["robot7", "robot8"]);
    fs::write(&key, include_str!("../pki/ec.robot.pbkdf2.key.pem")).unwrap();
    let errors = |checked: KeystoreCheck| -> Vec<String> {
        checked.findings.iter().filter(|finding| finding.is_error).map(ToString::to_string).collect()
    };
    let found = errors(check(&folder.0, NOW).unwrap());
    assert!(found.len() == 1 && found[0].contains("robot7/key.pem: the private key is encrypted"), "{found:?}");
    let checked = check_with_password(&folder.0, NOW, "open sesame").unwrap();
    assert_eq!(checked.identities.len(), 2, "the other key is plain");
    assert_eq!(errors(checked), [""; 0]);
    let found = errors(check_with_password(&folder.0, NOW, "open").unwrap());
    assert!(found.len() == 1 && found[0].contains("the password does not decrypt"), "{found:?}");
}

#[test]
fn openssl_accepts_the_files() {
    for algorithm in [KeyAlgorithm::EcP256, KeyAlgorithm::EcP384, KeyAlgorithm::Rsa2048, KeyAlgorithm::Rsa3072] {
        check_with_openssl(algorithm);
    }
}

fn check_with_openssl(algorithm: KeyAlgorithm) {
    let folder = Folder::new(&format!("openssl-{algorithm:?}"));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64;
    let validity = Validity { not_before: now - 60, not_after: now + YEAR };
    Fleet::create(&folder.0, &FleetOptions { validity, algorithm, ..options(&["/fleet/robot7"]) }).unwrap();
    assert_eq!(findings(&check(&folder.0, now).unwrap(), &folder.0), [""; 0], "{algorithm:?}");
    let enclave = folder.path("enclaves/fleet/robot7");
    let verify = ["verify", "-x509_strict", "-CAfile", "identity_ca.cert.pem", "cert.pem"];
    let smime =
        |file| ["smime", "-verify", "-text", "-in", file, "-CAfile", "permissions_ca.cert.pem", "-purpose", "any"];
    let key = ["pkey", "-in", "key.pem", "-check", "-noout"];
    for arguments in [&verify[..], &smime("governance.p7s"), &smime("permissions.p7s"), &key] {
        let Ok(output) = Command::new("openssl").args(arguments).current_dir(&enclave).output() else {
            eprintln!("the command `openssl` is missing, so it checks nothing here");
            return;
        };
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // Documents that `openssl` signs count here.
    let robot = Certificate::from_pem(&folder.read("enclaves/fleet/robot7/cert.pem")).unwrap();
    assert_eq!(robot.subject_text(), "CN=/fleet/robot7");
    let sign = ["smime", "-sign", "-text", "-in", "permissions.xml", "-out", "permissions.p7s"];
    let by = ["-signer", "permissions_ca.cert.pem", "-inkey", "../../../private/permissions_ca.key.pem"];
    let output = Command::new("openssl").args([&sign[..], &by].concat()).current_dir(&enclave).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(findings(&check(&folder.0, now).unwrap(), &folder.0), [""; 0], "{algorithm:?}");
}

/// `openssl ocsp` answers from an index of certificates.
#[test]
fn responses_of_openssl_count() {
    let folder = Folder::new("ocsp");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64;
    let validity = Validity { not_before: now - 60, not_after: now + YEAR };
    Fleet::create(&folder.0, &FleetOptions { validity, ..options(&["robot7"]) }).unwrap();
    let openssl = |arguments: &[&str]| {
        let output =
            Command::new("openssl").args(arguments).current_dir(folder.path("enclaves/robot7")).output().ok()?;
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8(output.stdout).unwrap())
    };
    let Some(serial) = openssl(&["x509", "-in", "cert.pem", "-noout", "-serial"]) else {
        eprintln!("the command `openssl` is missing, so it answers nothing here");
        return;
    };
    let serial = serial.trim().strip_prefix("serial=").unwrap().to_owned();
    let ca = "identity_ca.cert.pem";
    let by =
        ["-CA", ca, "-rsigner", ca, "-rkey", "../../private/identity_ca.key.pem", "-issuer", ca, "-cert", "cert.pem"];
    let ask = ["ocsp", "-index", "index.txt", "-respout", "ocsp.der", "-ndays", "3", "-noverify"];
    let entries = [
        format!("V\t491231235959Z\t\t{serial}\tunknown\t/CN=robot7\n"),
        format!("R\t491231235959Z\t250101000000Z\t{serial}\tunknown\t/CN=robot7\n"),
        String::new(),
    ];
    for (entry, fault) in entries.iter().zip([None, Some("has revoked the certificate"), Some("does not know")]) {
        fs::write(folder.path("enclaves/robot7/index.txt"), entry).unwrap();
        openssl(&[&ask[..], &by].concat()).unwrap();
        let found = findings(&check(&folder.0, now).unwrap(), &folder.0);
        let of_file: Vec<_> = found.iter().filter(|text| text.contains("ocsp.der")).collect();
        assert_eq!(of_file.len(), usize::from(fault.is_some()), "{found:?}");
        assert!(fault.is_none_or(|fault| of_file[0].contains(fault)), "{found:?}");
    }
    // Later, a good answer is old.
    fs::write(folder.path("enclaves/robot7/index.txt"), &entries[0]).unwrap();
    openssl(&[&ask[..], &by].concat()).unwrap();
    let found = findings(&check(&folder.0, now + 5 * 86_400).unwrap(), &folder.0);
    assert!(found.iter().any(|text| text.contains("the OCSP response about this certificate is old")), "{found:?}");
}
