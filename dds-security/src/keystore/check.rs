//! The faults of a folder, and what its identities may do.

use super::files;
use super::fleet::enclaves_of;
use crate::access::{
    AccessAction, AccessDecision, AccessReason, AccessRequest, AccessRule, DomainRule, Governance, Grant, Permissions,
    ProtectionKind, moment,
};
use crate::pki::{Certificate, OcspResponses, PrivateKey, RevocationList, verify_document};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Seconds before the end of a validity from which on it is a finding: 30 days.
const EXPIRES_SOON: i64 = 30 * 86_400;

/// The file with the URI of a private key in a PKCS #11 token. ROS 2 uses it in place of `key.pem`.
pub const KEY_URI: &str = "key.p11";

/// The result of a check.
#[derive(Debug, Clone, Default)]
pub struct KeystoreCheck {
    /// The identities whose files are free of errors.
    pub identities: Vec<CheckedIdentity>,
    /// Errors and warnings, in the order of the files.
    pub findings: Vec<Finding>,
}

/// A fault of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether participants with the file fail. Otherwise it is a warning.
    pub is_error: bool,
    /// The file.
    pub path: PathBuf,
    /// The fault, and what to do.
    pub message: String,
}

/// An identity whose certificate, key and documents count.
#[derive(Debug, Clone)]
pub struct CheckedIdentity {
    /// Name of its folder, below the folder of enclaves.
    pub name: String,
    /// The certificate.
    pub certificate: Certificate,
    /// What its domains protect.
    pub governance: Governance,
    /// Its rights.
    pub grant: Grant,
}

impl KeystoreCheck {
    /// Whether a finding is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.is_error)
    }
}

impl CheckedIdentity {
    /// Decides on an access at a time, as all participants of the domain do: first by governance, then by the grant.
    #[must_use]
    pub fn decide(&self, access: &AccessRequest<'_>, now: i64) -> AccessDecision {
        let decided = |is_allowed, reason| AccessDecision { is_allowed, grant: self.grant.name.clone(), reason };
        // Governance comes first: a domain without a rule must not be joined, even if a grant allows it.
        let Some(domain) = self.governance.rule_of(access.domain_id) else {
            return decided(false, AccessReason::NoDomainRule);
        };
        let Some(topic) = domain.rule_of(access.topic) else { return decided(false, AccessReason::NoTopicRule) };
        let is_controlled = match access.action {
            AccessAction::Publish => topic.enable_write_access_control,
            AccessAction::Subscribe => topic.enable_read_access_control,
            // No attribute of a topic rule controls relays, so the grant always decides.
            AccessAction::Relay => true,
        };
        if !is_controlled {
            return decided(true, AccessReason::Uncontrolled);
        }
        self.grant.decide(access, now)
    }
}

/// Checks a folder: a keystore, or the folder of one identity. `now` is in seconds since 1970.
///
/// # Errors
/// Fails if the folder cannot be read, or has no identity. Faults of files are findings.
pub fn check(folder: &Path, now: i64) -> io::Result<KeystoreCheck> {
    check_folder(folder, Check { now, password: None, result: KeystoreCheck::default() })
}

/// As [`check`]. Private keys may be encrypted with the password.
///
/// # Errors
/// As [`check`].
pub fn check_with_password(folder: &Path, now: i64, password: &str) -> io::Result<KeystoreCheck> {
    check_folder(folder, Check { now, password: Some(password), result: KeystoreCheck::default() })
}

fn check_folder(folder: &Path, mut check: Check<'_>) -> io::Result<KeystoreCheck> {
    let enclaves = folder.join("enclaves");
    // A host has the folder of its identity only, and needs no keystore.
    let (root, folders) = if enclaves.is_dir() {
        let folders = enclaves_of(&enclaves)?;
        check.check_authorities(folder);
        (enclaves, folders)
    } else if folder.join("cert.pem").exists() {
        (folder.parent().unwrap_or(folder).to_owned(), vec![folder.to_owned()])
    } else {
        let text = "expected a folder with `enclaves`, or the folder of an identity with `cert.pem`";
        return Err(io::Error::new(io::ErrorKind::NotFound, text));
    };
    // An empty result would read as success, although the path is probably wrong.
    if folders.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no identity: expected `enclaves/NAME/cert.pem`"));
    }
    for enclave in folders {
        let name = enclave.strip_prefix(&root).unwrap_or(&enclave).to_string_lossy().into_owned();
        if let Some(identity) = check.check_identity(&enclave, name) {
            check.result.identities.push(identity);
        }
    }
    Ok(check.result)
}

struct Check<'a> {
    now: i64,
    /// Decrypts private keys.
    password: Option<&'a str>,
    result: KeystoreCheck,
}

impl Check<'_> {
    /// Checks the private keys of the authorities, which need not be here, and the common governance.
    fn check_authorities(&mut self, folder: &Path) {
        // A host has no keys of authorities. A missing file counts as one that others cannot read.
        for name in ["identity_ca", "permissions_ca"] {
            let key = folder.join("private").join(format!("{name}.key.pem"));
            self.check_mode(&key);
        }
        let document = folder.join("enclaves/governance.xml");
        self.check_edited(&document, &folder.join("public/permissions_ca.cert.pem"));
    }

    fn check_identity(&mut self, enclave: &Path, name: String) -> Option<CheckedIdentity> {
        let path = |file: &str| enclave.join(file);
        let identity_ca = self.authority(&path("identity_ca.cert.pem"));
        let certificate = self.certificate(&path("cert.pem"));
        // A fault is a finding and ends nothing, so one call reports the faults of all files.
        if let (Some(authority), Some(certificate)) = (&identity_ca, &certificate) {
            let checked = certificate.check_identity(authority, self.now);
            self.unwrap(&path("cert.pem"), checked);
            self.check_revocation(&path("crl.pem"), authority, certificate);
            self.check_ocsp(&path("ocsp.der"), authority, certificate);
        }
        // ROS 2 uses the URI if both exist, so a faulty `key.pem` beside it does not matter.
        if path(KEY_URI).exists() {
            self.check_token(&path(KEY_URI), certificate.as_ref());
        } else if let (Some(key), Some(certificate)) = (self.private_key(&path("key.pem")), &certificate) {
            let checked = certificate.check_key(&key);
            self.unwrap(&path("key.pem"), checked);
        }
        // Without this authority, no signature of the documents can be verified.
        let permissions_ca = self.authority(&path("permissions_ca.cert.pem"))?;
        self.check_edited(&path("permissions.xml"), &path("permissions_ca.cert.pem"));
        let governance = self.governance(&path("governance.p7s"), &permissions_ca);
        let grant = self.grant(&path("permissions.p7s"), &permissions_ca, certificate.as_ref()?);
        // Both documents were read before the first return, so faults of both are reported.
        let (governance, grant) = (governance?, grant?);
        self.check_domains(&path("governance.p7s"), &governance, &grant);
        // Errors of this identity make it unusable.
        let is_faulty = |finding: &Finding| finding.is_error && finding.path.parent() == Some(enclave);
        if self.result.findings.iter().any(is_faulty) {
            return None;
        }
        Some(CheckedIdentity { name, certificate: certificate?, governance, grant })
    }

    fn authority(&mut self, path: &Path) -> Option<Certificate> {
        let certificate = self.certificate(path)?;
        let checked = certificate.check_authority(self.now);
        self.unwrap(path, checked)?;
        Some(certificate)
    }

    fn certificate(&mut self, path: &Path) -> Option<Certificate> {
        let text = self.unwrap(path, files::read_text(path))?;
        let certificate = self.unwrap(path, Certificate::from_pem(&text))?;
        self.check_end(path, certificate.validity().not_after, "the certificate");
        Some(certificate)
    }

    fn private_key(&mut self, path: &Path) -> Option<PrivateKey> {
        let text = Zeroizing::new(self.unwrap(path, files::read_text(path))?);
        // The mode matters even if the key is unusable here: other users may have read it.
        self.check_mode(path);
        let key = match self.password {
            Some(password) => PrivateKey::from_encrypted_pem(&text, password),
            None => PrivateKey::from_pem(&text),
        };
        self.unwrap(path, key)
    }

    /// Checks the URI of a private key in a PKCS #11 token, and the key there.
    fn check_token(&mut self, path: &Path, certificate: Option<&Certificate>) {
        let Some(text) = self.unwrap(path, files::read_text(path)) else { return };
        // The URI may contain the PIN of the token.
        self.check_mode(path);
        let text = Zeroizing::new(text);
        self.open_token(path, &text, certificate);
    }

    #[cfg(feature = "pkcs11")]
    fn open_token(&mut self, path: &Path, text: &str, certificate: Option<&Certificate>) {
        let Some(uri) = self.unwrap(path, text.parse::<crate::pki::Pkcs11Uri>()) else { return };
        // The certificate names the kind of the key, so the search in the token needs it.
        if let Some(certificate) = certificate {
            self.unwrap(path, crate::pki::Pkcs11Key::open(&uri, certificate));
        }
    }

    #[cfg(not(feature = "pkcs11"))]
    fn open_token(&mut self, path: &Path, _: &str, _: Option<&Certificate>) {
        let text = "the key in the PKCS #11 token is not checked: build this program with the feature `pkcs11`";
        self.warn(path, text.to_owned());
    }

    fn check_revocation(&mut self, path: &Path, authority: &Certificate, certificate: &Certificate) {
        // The list is optional: an authority may have revoked no certificate yet.
        if !path.exists() {
            return;
        }
        let Some(text) = self.unwrap(path, files::read_text(path)) else { return };
        let Some(list) = self.unwrap(path, RevocationList::from_pem(&text, authority)) else { return };
        self.unwrap(path, list.check(certificate));
        // Participants still follow an old list, so this is no error.
        if let Some(end) = list.next_update().filter(|end| *end < self.now) {
            let text = "the list of revoked certificates is old: there is a newer one since";
            self.warn(path, format!("{text} {}; copy it here", moment::format(end)));
        }
    }

    fn check_ocsp(&mut self, path: &Path, authority: &Certificate, certificate: &Certificate) {
        // Responses are optional as well: an authority may have no responder.
        if !path.exists() {
            return;
        }
        let Some(bytes) = self.unwrap(path, files::read(path)) else { return };
        let Some(answers) = self.unwrap(path, OcspResponses::from_der(&bytes, authority, self.now)) else { return };
        self.unwrap(path, answers.check(certificate));
        // Participants still follow an old response, so this is no error.
        if let Some(end) = answers.next_update(certificate).filter(|end| *end < self.now) {
            let text = "the OCSP response about this certificate is old: there is a newer one since";
            self.warn(path, format!("{text} {}; ask the responder again", moment::format(end)));
        }
    }

    fn governance(&mut self, path: &Path, authority: &Certificate) -> Option<Governance> {
        let file = self.unwrap(path, files::read(path))?;
        let text = self.unwrap(path, verify_document(&file, authority))?;
        let governance = self.unwrap(path, Governance::parse(&text))?;
        for rule in &governance.rules {
            self.check_rule(path, rule);
        }
        Some(governance)
    }

    fn check_rule(&mut self, path: &Path, rule: &DomainRule) {
        let domains = &rule.domains;
        if rule.topic_rules.is_empty() {
            self.warn(path, format!("domains {domains} have no rule for topics, so no topic can be used: add one"));
        }
        // The setting is valid, but it lets participants in that the authority does not know.
        if rule.allow_unauthenticated_participants {
            let text = "allow participants without an identity: set allow_unauthenticated_participants to false";
            self.warn(path, format!("domains {domains} {text}"));
        }
        // A protection at one level covers the samples, so the warning needs all three to be absent.
        let is_open = |rule: &&crate::access::TopicRule| {
            rule.metadata_protection_kind == ProtectionKind::None && rule.data_protection_kind == ProtectionKind::None
        };
        if rule.rtps_protection_kind == ProtectionKind::None {
            for topic in rule.topic_rules.iter().filter(is_open) {
                let topic = &topic.topic_expression;
                self.warn(path, format!("topics `{topic}` of domains {domains} are not protected: set a protection"));
            }
        }
    }

    fn grant(&mut self, path: &Path, authority: &Certificate, certificate: &Certificate) -> Option<Grant> {
        let file = self.unwrap(path, files::read(path))?;
        let text = self.unwrap(path, verify_document(&file, authority))?;
        let permissions = self.unwrap(path, Permissions::parse(&text))?;
        let Some(grant) = permissions.grant_for(certificate.subject()) else {
            let subject = certificate.subject_text();
            self.error(path, format!("no grant has the subject `{subject}`: correct <subject_name>, and sign again"));
            return None;
        };
        // Participants refuse a grant outside of its validity, so both cases are errors.
        if self.now < grant.not_before {
            let from = moment::format(grant.not_before);
            self.error(path, format!("the validity of the grant begins on {from}: compare the clock of this host"));
        } else if self.now > grant.not_after {
            let end = moment::format(grant.not_after);
            self.error(path, format!("the validity of the grant has ended on {end}: extend it, and sign again"));
        } else {
            self.check_end(path, grant.not_after, "the grant");
        }
        Some(grant.clone())
    }

    /// Checks that the domain of each rule that allows has a rule of the governance.
    fn check_domains(&mut self, path: &Path, governance: &Governance, grant: &Grant) {
        // A rule that denies opens no domain, so it needs no governance.
        for rule in grant.rules.iter().filter(|rule| rule.allows) {
            // Domain ids are too many to try all, so the ends of a range stand for it.
            let is_covered = rule.domains.samples().all(|domain_id| governance.rule_of(domain_id).is_some());
            if !is_covered {
                let (line, domains) = (rule.line, &rule.domains);
                let text = "the governance has no rule for some of them, so no participant can join: add a rule";
                self.warn(path, format!("permissions, line {line}, allow domains {domains}; {text}"));
            }
        }
    }

    /// Warns if a document was edited after it was signed.
    fn check_edited(&mut self, document: &Path, authority: &Path) {
        // Hosts need only the signed form, so the document may be missing.
        let Ok(text) = files::read_text(document) else { return };
        let signed = files::read(&document.with_extension("p7s")).ok();
        let authority = files::read_text(authority).ok().and_then(|text| Certificate::from_pem(&text).ok());
        let (Some(signed), Some(authority)) = (signed, authority) else { return };
        // The signature changes the ends of lines, so the comparison goes line by line.
        if verify_document(&signed, &authority).is_ok_and(|signed| !signed.lines().eq(text.lines())) {
            let text = "the document differs from its signed form, which counts: run `dds security init` again";
            self.warn(document, text.to_owned());
        }
    }

    fn check_mode(&mut self, path: &Path) {
        if files::is_readable_by_others(path) {
            self.warn(path, "other users of this host may read the private key: run `chmod 600`".to_owned());
        }
    }

    fn check_end(&mut self, path: &Path, end: i64, name: &str) {
        if (self.now..self.now + EXPIRES_SOON).contains(&end) {
            self.warn(path, format!("the validity of {name} ends on {}: renew it before", moment::format(end)));
        }
    }

    fn unwrap<T, E: fmt::Display>(&mut self, path: &Path, result: Result<T, E>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.error(path, error.to_string());
                None
            }
        }
    }

    fn error(&mut self, path: &Path, message: String) {
        self.note(Finding { is_error: true, path: path.to_owned(), message });
    }

    fn warn(&mut self, path: &Path, message: String) {
        self.note(Finding { is_error: false, path: path.to_owned(), message });
    }

    fn note(&mut self, finding: Finding) {
        if !self.result.findings.contains(&finding) {
            self.result.findings.push(finding);
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_error { "error" } else { "warning" };
        write!(f, "{kind}: {}: {}", self.path.display(), self.message)
    }
}

impl fmt::Display for CheckedIdentity {
    /// Writes what the identity may do, in lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The participant loses its access at the earlier of both ends.
        let end = self.grant.not_after.min(self.certificate.validity().not_after);
        writeln!(f, "{} ({}), valid until {}", self.name, self.certificate.subject_text(), moment::format(end))?;
        for rule in &self.grant.rules {
            write_rule(f, rule)?;
        }
        writeln!(f, "  everything else: {}", if self.grant.allows_by_default { "allowed" } else { "denied" })?;
        for rule in &self.governance.rules {
            let DomainRule { domains, discovery_protection_kind, liveliness_protection_kind, .. } = rule;
            write!(f, "  domains {domains}: discovery {discovery_protection_kind}, ")?;
            write!(f, "liveliness {liveliness_protection_kind}, messages {}", rule.rtps_protection_kind)?;
            for topic in &rule.topic_rules {
                let (submessages, data) = (topic.metadata_protection_kind, topic.data_protection_kind);
                write!(f, "\n    topics `{}`: submessages {submessages}, data {data}", topic.topic_expression)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn write_rule(f: &mut fmt::Formatter<'_>, rule: &AccessRule) -> fmt::Result {
    for (action, criteria) in &rule.criteria {
        let topics: Vec<_> = criteria.topics.iter().map(|topic| format!("`{topic}`")).collect();
        let verb = if rule.allows { "may" } else { "must not" };
        let action = format!("{action:?}").to_lowercase();
        write!(f, "  {verb} {action} {} in domains {}", topics.join(", "), rule.domains)?;
        if let Some(partitions) = &criteria.partitions {
            let partitions: Vec<_> = partitions.iter().map(|partition| format!("`{partition}`")).collect();
            write!(f, ", partitions {}", partitions.join(", "))?;
        }
        if !criteria.data_tags.is_empty() {
            let tags: Vec<_> = criteria.data_tags.iter().map(|(name, value)| format!("`{name}={value}`")).collect();
            write!(f, ", data tags {}", tags.join(", "))?;
        }
        writeln!(f, " (line {})", rule.line)?;
    }
    Ok(())
}
