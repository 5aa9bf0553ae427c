//! A fleet with certificates, governance and permissions, in a folder that ends with the test.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

use dds_core::security::Credentials;
use dds_security::keystore::{Fleet, FleetOptions};
use dds_security::pki::{Certificate, Issuer, KeyAlgorithm, PrivateKey, Validity};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// The clocks of this host and of a simulation are within it.
const VALIDITY: Validity = Validity { not_before: 1_000_000_000, not_after: 2_000_000_000 };

/// The files of a fleet.
pub(crate) struct Keystore {
    folder: PathBuf,
    algorithm: KeyAlgorithm,
}

/// The kinds of protection of a governance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kinds {
    pub(crate) rtps: &'static str,
    pub(crate) discovery: &'static str,
    pub(crate) liveliness: &'static str,
    pub(crate) metadata: &'static str,
    pub(crate) data: &'static str,
}

impl Kinds {
    pub(crate) const NONE: Self =
        Self { rtps: "NONE", discovery: "NONE", liveliness: "NONE", metadata: "NONE", data: "NONE" };
}

impl Keystore {
    /// Makes identities, and a governance with these kinds. `edit` changes the document further.
    pub(crate) fn new(identities: &[&str], kinds: Kinds, edit: impl Fn(String) -> String) -> Self {
        Self::with_keys(KeyAlgorithm::default(), identities, kinds, edit)
    }

    /// As [`Self::new`], with keys of an algorithm, also those of the authorities.
    pub(crate) fn with_keys(
        algorithm: KeyAlgorithm,
        identities: &[&str],
        kinds: Kinds,
        edit: impl Fn(String) -> String,
    ) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("dds-keystore-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let keystore = Self { folder: std::env::temp_dir().join(name), algorithm };
        keystore.sign(&[]);
        let path = keystore.folder.join("enclaves/governance.xml");
        let mut text = std::fs::read_to_string(&path).unwrap();
        for (element, default, kind) in [
            ("rtps_protection_kind", "SIGN", kinds.rtps),
            ("discovery_protection_kind", "ENCRYPT", kinds.discovery),
            ("liveliness_protection_kind", "ENCRYPT", kinds.liveliness),
            ("metadata_protection_kind", "ENCRYPT", kinds.metadata),
            ("data_protection_kind", "NONE", kinds.data),
        ] {
            let before = format!("<{element}>{default}<");
            assert!(text.contains(&before), "{text}");
            text = text.replace(&before, &format!("<{element}>{kind}<"));
        }
        std::fs::write(&path, edit(text)).unwrap();
        keystore.sign(identities);
        keystore
    }

    /// Makes the identities `robot` and `station`.
    pub(crate) fn with(kinds: Kinds) -> Self {
        Self::new(&["robot", "station"], kinds, |text| text)
    }

    /// Adds an identity with a key of another algorithm.
    pub(crate) fn add(&mut self, name: &str, algorithm: KeyAlgorithm) {
        self.algorithm = algorithm;
        self.sign(&[name]);
    }

    /// Adds identities, and signs the documents that have changed.
    fn sign(&self, identities: &[&str]) {
        let identities = identities.iter().map(|name| (*name).to_owned()).collect();
        let options = FleetOptions { identities, algorithm: self.algorithm, ..FleetOptions::new(VALIDITY) };
        Fleet::create(&self.folder, &options).unwrap();
    }

    /// The folder of an identity.
    pub(crate) fn enclave(&self, name: &str) -> PathBuf {
        self.folder.join("enclaves").join(name)
    }

    /// Revokes the certificate of an identity, in the folders of all identities.
    pub(crate) fn revoke(&self, name: &str) {
        let mut fleet = Fleet::create(&self.folder, &FleetOptions::new(VALIDITY)).unwrap();
        fleet.revoke(name, VALIDITY.not_before).unwrap();
    }

    /// Replaces the certificate of an identity by one that ends at a time.
    pub(crate) fn end_certificate(&self, name: &str, not_after: i64) {
        let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
        let of_authority = |file: &str| read(self.folder.join(file));
        let authority = Issuer::from_pem(
            &of_authority("public/identity_ca.cert.pem"),
            &of_authority("private/identity_ca.key.pem"),
        );
        let path = self.enclave(name).join("cert.pem");
        let before = Certificate::from_pem(&read(path.clone())).unwrap();
        let key = PrivateKey::from_pem(&read(self.enclave(name).join("key.pem"))).unwrap();
        let validity = Validity { not_after, ..VALIDITY };
        let certificate = authority.unwrap().issue(name, &key, validity).unwrap();
        // Its permissions name the subject.
        assert_eq!(certificate.subject_text(), before.subject_text());
        std::fs::write(path, certificate.to_pem()).unwrap();
    }

    /// Gives an identity a list that revokes nothing, and that a newer one has replaced at a time.
    pub(crate) fn write_list(&self, name: &str, next_update: i64) {
        let read = |path: &str| std::fs::read_to_string(self.folder.join(path)).unwrap();
        let authority = Issuer::from_pem(&read("public/identity_ca.cert.pem"), &read("private/identity_ca.key.pem"));
        let list = authority.unwrap().revoke_until(&[], VALIDITY.not_before, Some(next_update)).unwrap();
        std::fs::write(self.enclave(name).join("crl.pem"), list).unwrap();
    }

    /// Writes the answer of an OCSP responder about an identity, for another identity: revoked or good.
    ///
    /// Returns false if this host lacks the command `openssl`, which signs it. The answer has the time of this host.
    pub(crate) fn write_answer(&self, to: &str, about: &str, is_revoked: bool) -> bool {
        let enclave = self.enclave(to);
        let openssl = |arguments: &[&str]| {
            let mut command = std::process::Command::new("openssl");
            let output = command.args(arguments).current_dir(&enclave).output().ok()?;
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap())
        };
        let certificate = self.enclave(about).join("cert.pem").display().to_string();
        let Some(serial) = openssl(&["x509", "-in", &certificate, "-noout", "-serial"]) else { return false };
        let serial = serial.trim().strip_prefix("serial=").unwrap();
        let status = if is_revoked { "R\t321231235959Z\t250101000000Z" } else { "V\t321231235959Z\t" };
        std::fs::write(enclave.join("index.txt"), format!("{status}\t{serial}\tunknown\t/CN={about}\n")).unwrap();
        let (ca, key) = ("identity_ca.cert.pem", self.folder.join("private/identity_ca.key.pem").display().to_string());
        let by = ["-CA", ca, "-rsigner", ca, "-rkey", &key, "-issuer", ca, "-cert", &certificate];
        let ask = ["ocsp", "-index", "index.txt", "-respout", "ocsp.der", "-ndays", "3", "-noverify"];
        openssl(&[&ask[..], &by].concat());
        true
    }

    pub(crate) fn credentials(&self, name: &str) -> Credentials {
        Credentials::from_enclave(self.enclave(name)).unwrap()
    }

    /// Edits the governance, and signs it again.
    pub(crate) fn edit_governance(&self, edit: impl Fn(String) -> String) {
        let path = self.folder.join("enclaves/governance.xml");
        let text = edit(std::fs::read_to_string(&path).unwrap());
        std::fs::write(&path, text).unwrap();
        self.sign(&[]);
    }

    /// Edits the permissions of an identity, and signs them again.
    pub(crate) fn edit_permissions(&self, name: &str, edit: impl Fn(String) -> String) {
        let path = self.enclave(name).join("permissions.xml");
        let text = edit(std::fs::read_to_string(&path).unwrap());
        std::fs::write(&path, text).unwrap();
        self.sign(&[]);
    }
}

impl Drop for Keystore {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).unwrap();
    }
}
