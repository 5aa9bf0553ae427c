//! Certificates and signed documents, against files of OpenSSL 3.0.
//!
//! `tests/pki/make.sh` makes the files. If the command `openssl` exists, it also checks what this crate makes.

use dds_security::access::{Governance, SubjectName};
use dds_security::pki::{
    Certificate, CertificateError, IssueError, Issuer, KeyError, PrivateKey, RevocationList, SignatureError, Validity,
    sign_document, verify_document,
};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::process::Command;

const GOVERNANCE: &str = include_str!("../documents/governance.xml");

/// 2030-01-01, within the validity of all files.
const NOW: i64 = 1_893_456_000;

const VALIDITY: Validity = Validity { not_before: NOW - 1000, not_after: NOW + 1000 };

fn file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pki").join(name)).unwrap()
}

fn text(name: &str) -> String {
    String::from_utf8(file(name)).unwrap()
}

fn certificate(name: &str) -> Certificate {
    Certificate::from_pem(&text(name)).unwrap()
}

fn with_crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

#[test]
fn every_form_of_openssl_is_verified() {
    let forms =
        ["ec.p7s", "ec.noattr.p7s", "ec.crlf.p7s", "ec.nocerts.p7s", "ec.keyid.p7s", "rsa.p7s", "rsa.noattr.p7s"];
    for name in
        [&forms[..], &["rsa.crlf.p7s", "rsa.nocerts.p7s", "rsa.keyid.p7s", "rsa.pss.p7s", "rsa.sha512.p7s"]].concat()
    {
        let authority = certificate(if name.starts_with("ec") { "ec.ca.pem" } else { "rsa.ca.pem" });
        let document = verify_document(&file(name), &authority).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(document, with_crlf(GOVERNANCE), "{name}");
        Governance::parse(&document).unwrap();
    }
}

#[test]
fn line_ends_and_a_mark_of_byte_order_do_not_matter() {
    let authority = certificate("ec.ca.pem");
    let marked = [b"\xef\xbb\xbf", &file("ec.p7s")[..]].concat();
    assert!(verify_document(&marked, &authority).is_ok());
    let with_both = with_crlf(&text("ec.p7s"));
    assert!(verify_document(with_both.as_bytes(), &authority).is_ok());
}

#[test]
fn faulty_signatures_name_their_fault() {
    let error = |name: &str, authority: &str| verify_document(&file(name), &certificate(authority)).unwrap_err();
    assert_eq!(error("ec.ca.pem", "ec.ca.pem"), SignatureError::NotSigned);
    assert_eq!(error("ec.opaque.p7s", "ec.ca.pem"), SignatureError::NotSigned);
    assert!(matches!(error("ec.p7s", "rsa.ca.pem"), SignatureError::OtherSigner { .. }));
    assert_eq!(error("rsa.sha1.p7s", "rsa.ca.pem"), SignatureError::Algorithm("1.3.14.3.2.26".to_owned()));
    let authority = certificate("ec.ca.pem");
    let changed = text("ec.p7s").replacen("<id>3</id>", "<id>4</id>", 1);
    assert_eq!(verify_document(changed.as_bytes(), &authority), Err(SignatureError::Changed));
    let changed = text("ec.noattr.p7s").replacen("<id>3</id>", "<id>4</id>", 1);
    assert_eq!(verify_document(changed.as_bytes(), &authority), Err(SignatureError::Forged));
    let huge = vec![b' '; 2 << 20];
    assert_eq!(verify_document(&huge, &authority), Err(SignatureError::TooLong));
}

#[test]
fn authority_of_the_same_name_and_number_does_not_count() {
    // The signer is found by name and number, so only the key tells both apart.
    let [one, other] = [(); 2].map(|()| Issuer::generate("permissions CA", VALIDITY).unwrap());
    let signed = sign_document(GOVERNANCE, &one).unwrap();
    assert!(verify_document(&signed, one.certificate()).is_ok());
    assert!(verify_document(&signed, other.certificate()).is_err());
    // An identity of the authority signs no documents.
    let robot = one.issue("robot", &PrivateKey::generate().unwrap(), VALIDITY).unwrap();
    assert!(matches!(verify_document(&signed, &robot), Err(SignatureError::OtherSigner { .. })));
}

#[test]
fn identities_of_openssl_are_checked() {
    for kind in ["ec", "rsa"] {
        let (authority, robot) = (certificate(&format!("{kind}.ca.pem")), certificate(&format!("{kind}.robot.pem")));
        robot.check_identity(&authority, NOW).unwrap();
        let name = SubjectName::new("emailAddress=robot@plant.example,CN=robot 7,O=Plant\\, North,C=DE");
        assert_eq!(*robot.subject(), name);
        assert_eq!(*robot.subject(), SubjectName::new(&robot.subject_text()));
        let expected = if kind == "ec" { "EC-prime256v1" } else { "RSA-2048" };
        assert_eq!(robot.algorithm(), expected);
        let other = certificate(if kind == "ec" { "rsa.ca.pem" } else { "ec.ca.pem" });
        let error = robot.check_identity(&other, NOW).unwrap_err();
        assert!(matches!(error, CertificateError::OtherIssuer { .. }), "{error}");
        let Validity { not_before, not_after } = robot.validity();
        // The authority is a second older at most, so its validity may end first.
        assert!(matches!(robot.check_identity(&authority, not_before - 10), Err(CertificateError::NotYetValid(_))));
        assert!(matches!(robot.check_identity(&authority, not_after + 10), Err(CertificateError::Expired(_))));
        // A robot issues no certificates, although it has no extension that says so.
        let fake = robot.check_identity(&robot, NOW).unwrap_err();
        assert!(matches!(fake, CertificateError::NoAuthority | CertificateError::OtherIssuer { .. }), "{fake}");
    }
}

#[test]
fn carriage_returns_inside_of_lines_are_signed() {
    let authority = Issuer::generate("permissions CA", VALIDITY).unwrap();
    let file = sign_document("<dds>\r</dds>\r\n", &authority).unwrap();
    assert_eq!(verify_document(&file, authority.certificate()).unwrap(), "<dds>\r</dds>\r\n");
}

/// Returns a value of DER.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = u32::try_from(content.len()).unwrap();
    let digits: Vec<u8> = len.to_be_bytes().into_iter().skip_while(|digit| *digit == 0).collect();
    let header = if len < 0x80 { vec![len as u8] } else { [&[0x80 | digits.len() as u8], &digits[..]].concat() };
    [&[tag], &header[..], content].concat()
}

#[test]
fn large_sets_cost_no_time() {
    // Decoders sort by insertion, so a reversed set takes the longest time.
    let element = |number: u16| der(0x30, &[der(6, &[0x55, 4, 3]), der(4, &number.to_be_bytes())].concat());
    let set = |count: u16| der(0x31, &(0..count).rev().flat_map(element).collect::<Vec<_>>());
    let algorithm = der(0x30, &der(6, &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]));
    let certificate = |count| {
        let issuer = der(0x30, &set(count));
        der(0x30, &der(0x30, &[der(0xa0, &der(2, &[2])), der(2, &[1]), algorithm.clone(), issuer].concat()))
    };
    let start = std::time::Instant::now();
    assert_eq!(Certificate::from_der(&certificate(20_000)).err(), Some(CertificateError::Malformed));
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn identity_issues_no_identities() {
    let authority = Issuer::generate("identity CA", VALIDITY).unwrap();
    let key = PrivateKey::generate().unwrap();
    let robot = authority.issue("robot", &key, VALIDITY).unwrap();
    let as_issuer = Issuer::from_pem(&robot.to_pem(), &key.to_pem()).unwrap();
    let forged = as_issuer.issue("boss", &PrivateKey::generate().unwrap(), VALIDITY).unwrap();
    assert_eq!(forged.check_identity(&robot, NOW), Err(CertificateError::NoAuthority));
    assert!(matches!(forged.check_identity(authority.certificate(), NOW), Err(CertificateError::OtherIssuer { .. })));
    // Another authority with the same name.
    let same_name = Issuer::generate("identity CA", VALIDITY).unwrap();
    let forged = same_name.issue("robot", &key, VALIDITY).unwrap();
    assert_eq!(forged.check_identity(authority.certificate(), NOW), Err(CertificateError::Signature));
}

#[test]
fn revoked_identity_is_refused() {
    let authority = certificate("ec.ca.pem");
    let list = RevocationList::from_pem(&text("ec.crl.pem"), &authority).unwrap();
    assert_eq!(list.check(&certificate("ec.robot.pem")), Err(CertificateError::Revoked));
    assert_eq!(list.check(&authority), Ok(()));
    let other = certificate("rsa.ca.pem");
    assert!(matches!(RevocationList::from_pem(&text("ec.crl.pem"), &other), Err(CertificateError::OtherIssuer { .. })));
}

#[test]
fn keys_of_openssl_are_read() {
    let key = PrivateKey::from_pem(&text("ec.robot.key.pem")).unwrap();
    let robot = certificate("ec.robot.pem");
    robot.check_key(&key).unwrap();
    let other = PrivateKey::from_pem(&text("sec1.key.pem")).unwrap();
    assert_eq!(robot.check_key(&other), Err(CertificateError::OtherKey));
    for name in ["rsa.robot.key.pem", "rsa1.key.pem"] {
        certificate("rsa.robot.pem").check_key(&PrivateKey::from_pem(&text(name)).unwrap()).unwrap();
        assert_eq!(robot.check_key(&PrivateKey::from_pem(&text(name)).unwrap()), Err(CertificateError::OtherKey));
    }
    let authority = certificate("p384.ca.pem");
    authority.check_identity(&authority, NOW).unwrap();
    let key = PrivateKey::from_pem(&text("p384.key.pem")).unwrap();
    authority.check_key(&key).unwrap();
    let other = PrivateKey::from_pem(&text("p384.sec1.key.pem")).unwrap();
    assert_eq!(authority.check_key(&other), Err(CertificateError::OtherKey));
    for name in ["rsa.short.key.pem", "p521.key.pem", "ed25519.key.pem"] {
        assert_eq!(PrivateKey::from_pem(&text(name)).unwrap_err(), KeyError::Algorithm, "{name}");
    }
}

#[test]
fn rsa_keys_whose_numbers_do_not_fit_are_refused() {
    let block = text("rsa1.key.pem");
    let base64: String = block.lines().filter(|line| !line.starts_with("--")).collect();
    // Another digit of the modulus, and another one of a factor.
    for at in [100, 1000] {
        let mut digits = base64.clone().into_bytes();
        digits[at] = if digits[at] == b'A' { b'B' } else { b'A' };
        let label = "RSA PRIVATE KEY";
        let lines: Vec<_> = digits.chunks(64).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
        let changed = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"));
        assert_eq!(PrivateKey::from_pem(&changed).unwrap_err(), KeyError::Malformed, "{at}");
    }
}

#[test]
fn names_and_times_of_new_certificates_are_checked() {
    let authority = Issuer::generate("CA", VALIDITY).unwrap();
    let key = PrivateKey::generate().unwrap();
    for name in ["/talker_listener/talker", "a, b+c=\"d\"; <e>\\", "#1", "Zürich"] {
        let issued = authority.issue(name, &key, VALIDITY).unwrap();
        issued.check_identity(authority.certificate(), NOW).unwrap();
        assert_eq!(*issued.subject(), SubjectName::new(&issued.subject_text()), "{name}");
    }
    let long = "x".repeat(65);
    for name in ["", " robot", "a\nb", &long] {
        assert_eq!(authority.issue(name, &key, VALIDITY), Err(IssueError::CommonName(name.to_owned())));
    }
    for (not_before, not_after) in [(2, 1), (-1, 5), (0, i64::MAX)] {
        let validity = Validity { not_before, not_after };
        assert_eq!(authority.issue("robot", &key, validity), Err(IssueError::Validity));
    }
    // Years from 2050 have another form of time.
    let late = Validity { not_before: 0, not_after: 4_000_000_000 };
    assert_eq!(authority.issue("robot", &key, late).unwrap().validity(), late);
}

/// Runs `openssl` in a new folder with the files. `None` without the command.
fn openssl(files: &[(&str, &[u8])], arguments: &[&str]) -> Option<(bool, String, PathBuf)> {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("dds-security-pki-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    let output = Command::new("openssl").args(arguments).current_dir(&folder).output();
    let Ok(output) = output else {
        eprintln!("the command `openssl` is missing, so it checks nothing here");
        return None;
    };
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Some((output.status.success(), said, folder))
}

#[test]
fn openssl_accepts_issued_certificates_and_signatures() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64;
    let validity = Validity { not_before: now - 1000, not_after: now + 1000 };
    let authority = Issuer::generate("the CA", validity).unwrap();
    let key = PrivateKey::generate().unwrap();
    let robot = authority.issue("/fleet/robot", &key, validity).unwrap();
    let files = [("ca.pem", authority.certificate().to_pem()), ("robot.pem", robot.to_pem())];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_bytes()));
    let verify = ["verify", "-x509_strict", "-CAfile", "ca.pem", "robot.pem"];
    if let Some((is_fine, said, folder)) = openssl(&files, &verify) {
        assert!(is_fine, "{said}");
        std::fs::remove_dir_all(folder).unwrap();
    }
    let signed = sign_document(GOVERNANCE, &authority).unwrap();
    let files = [files[0], ("g.p7s", &signed)];
    let verify = ["smime", "-verify", "-text", "-in", "g.p7s", "-CAfile", "ca.pem", "-purpose", "any", "-out", "g.xml"];
    if let Some((is_fine, said, folder)) = openssl(&files, &verify) {
        assert!(is_fine, "{said}");
        assert_eq!(std::fs::read_to_string(folder.join("g.xml")).unwrap(), with_crlf(GOVERNANCE));
        std::fs::remove_dir_all(folder).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn changed_files_are_refused_or_have_the_same_text(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let authority = certificate("ec.ca.pem");
        let mut changed = file("ec.p7s");
        for (at, byte) in &changes {
            let at = at.index(changed.len());
            changed[at] = *byte;
        }
        if let Ok(document) = verify_document(&changed, &authority) {
            prop_assert_eq!(document, with_crlf(GOVERNANCE));
        }
        let mut changed = text("ec.robot.pem").into_bytes();
        for (at, byte) in &changes {
            let at = at.index(changed.len());
            changed[at] = *byte;
        }
        if let Ok(robot) = Certificate::from_pem(&String::from_utf8_lossy(&changed)) {
            let is_same = robot == certificate("ec.robot.pem");
            prop_assert_eq!(robot.check_identity(&authority, NOW).is_ok(), is_same);
        }
    }
}
