//! Makes and extends the folder of a fleet.

use super::documents::{FleetRights, governance, permissions};
use super::files;
use crate::access::{DocumentError, Governance, Permissions};
use crate::pki::{
    Certificate, CertificateError, IssueError, Issuer, KeyAlgorithm, PrivateKey, SignError, Validity, sign_document,
    verify_document,
};
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// A folder with the files of a fleet.
///
/// ```
/// use dds_security::keystore::{Fleet, FleetOptions, check};
/// use dds_security::pki::Validity;
///
/// let folder = std::env::temp_dir().join(format!("fleet-{}", std::process::id()));
/// let validity = Validity { not_before: 1_700_000_000, not_after: 2_000_000_000 };
/// let options = FleetOptions { identities: vec!["robot7".to_owned()], ..FleetOptions::new(validity) };
/// Fleet::create(&folder, &options)?;
///
/// let checked = check(&folder, 1_800_000_000)?;
/// assert!(checked.findings.is_empty());
/// assert_eq!(checked.identities[0].name, "robot7");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Fleet {
    folder: PathBuf,
    identity_ca: Issuer,
    permissions_ca: Issuer,
    files: Vec<FleetFile>,
}

/// Options for a new fleet, or for new identities of one.
#[derive(Debug, Clone)]
pub struct FleetOptions {
    /// Names of the identities. A name may have parts, such as `/cell3/robot7` of an enclave of ROS 2.
    pub identities: Vec<String>,
    /// Rights of each new identity, and the domains of a new governance.
    pub rights: FleetRights,
    /// Validity of new certificates and permissions.
    pub validity: Validity,
    /// Algorithm of new keys, also of new authorities.
    pub algorithm: KeyAlgorithm,
}

impl FleetOptions {
    /// Options without identities, with all rights in domain 0.
    #[must_use]
    pub fn new(validity: Validity) -> Self {
        Self { identities: Vec::new(), rights: FleetRights::default(), validity, algorithm: KeyAlgorithm::default() }
    }
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FleetStep {
    /// It is new, or a copy that was renewed.
    Created,
    /// Its document was new or changed, and it has a new signature.
    Signed,
    /// It existed, and stays as it is.
    Kept,
}

/// A file of a fleet, and what happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetFile {
    /// The file.
    pub path: PathBuf,
    /// What happened.
    pub step: FleetStep,
}

/// A fleet was not made. Files that were made before stay.
#[derive(Debug)]
#[non_exhaustive]
pub enum FleetError {
    /// A name has an empty part, or a character that a folder should not have.
    Name(String),
    /// A file cannot be read or written.
    Io(PathBuf, io::Error),
    /// A certificate authority is faulty, or a certificate was not issued.
    Issue(PathBuf, IssueError),
    /// A certificate is faulty.
    Certificate(PathBuf, CertificateError),
    /// A document is faulty.
    Document(PathBuf, DocumentError),
    /// A document was not signed.
    Sign(PathBuf, SignError),
    /// An interrupted call has left a key of another algorithm. Then follow its name, and the algorithm of the options.
    OtherAlgorithm(PathBuf, String, KeyAlgorithm),
    /// The private key of an identity is in a token, and its certificate is missing. The path is that of `key.p11`.
    KeyInToken(PathBuf),
}

impl Fleet {
    /// Makes a folder, or extends one: what exists is kept, what lacks is made.
    ///
    /// A governance or permissions document that was edited is signed again. The files of a call: [`Self::files`].
    ///
    /// # Errors
    /// [`FleetError`] names the file and the fault.
    pub fn create(folder: &Path, options: &FleetOptions) -> Result<Self, FleetError> {
        // A faulty name fails before the first file exists.
        for name in &options.identities {
            check_name(name)?;
        }
        let (public, private) = (folder.join("public"), folder.join("private"));
        let enclaves = folder.join("enclaves");
        for path in [&public, &enclaves] {
            fs::create_dir_all(path).map_err(|error| FleetError::Io(path.clone(), error))?;
        }
        // The folder is closed to other users before the first key is in it.
        files::create_secret_folder(&private).map_err(|error| FleetError::Io(private.clone(), error))?;
        let mut files = Vec::new();
        let mut authority = |name: &str, title: &str| {
            let (certificate, key) = (public.join(format!("{name}.cert.pem")), private.join(format!("{name}.key.pem")));
            authority(&certificate, &key, title, options, &mut files)
        };
        let identity_ca = authority("identity_ca", "identity CA")?;
        let permissions_ca = authority("permissions_ca", "permissions CA")?;
        let mut fleet = Self { folder: folder.to_owned(), identity_ca, permissions_ca, files };
        fleet.add_governance(&enclaves, options)?;
        for name in &options.identities {
            fleet.add_identity(name, options)?;
        }
        // Signatures and copies come last, because they need the documents of all identities.
        fleet.refresh(&enclaves)?;
        Ok(fleet)
    }

    /// Opens a folder that [`Self::create`] has made, and makes nothing. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// [`FleetError`] names the file and the fault.
    pub fn open(folder: &Path, now: i64) -> Result<Self, FleetError> {
        let mut files = Vec::new();
        let mut authority = |name: &str| {
            let certificate = folder.join(format!("public/{name}.cert.pem"));
            read_authority(&certificate, &folder.join(format!("private/{name}.key.pem")), now, &mut files)
        };
        let (identity_ca, permissions_ca) = (authority("identity_ca")?, authority("permissions_ca")?);
        Ok(Self { folder: folder.to_owned(), identity_ca, permissions_ca, files })
    }

    /// Revokes the certificate of an identity, in `crl.pem` of all identities. `now` is in seconds since 1970.
    ///
    /// Participants read the file when they begin, and when the application asks them to.
    ///
    /// # Errors
    /// [`FleetError`] names the file and the fault.
    pub fn revoke(&mut self, name: &str, now: i64) -> Result<(), FleetError> {
        // The name becomes part of a path, and must not leave the folder.
        check_name(name)?;
        let enclaves = self.folder.join("enclaves");
        let path = enclaves.join(name.trim_start_matches('/')).join("cert.pem");
        let text = files::read_text(&path).map_err(|error| FleetError::Io(path.clone(), error))?;
        let certificate = Certificate::from_pem(&text).map_err(|error| FleetError::Certificate(path.clone(), error))?;
        let list = self.identity_ca.revoke(&[certificate], now).map_err(|error| FleetError::Issue(path, error))?;
        // First the public file: a call that is cut off loses no revocation.
        self.add_lists(&self.folder.join("public/crl.pem"), &list)?;
        self.copy_lists(&enclaves)
    }

    /// Adds the public revocation lists to `crl.pem` of each identity.
    fn copy_lists(&mut self, enclaves: &Path) -> Result<(), FleetError> {
        let lists = read_lists(&self.folder.join("public/crl.pem"))?;
        for enclave in enclaves_of(enclaves).map_err(|error| FleetError::Io(enclaves.to_owned(), error))? {
            self.add_lists(&enclave.join("crl.pem"), &lists)?;
        }
        Ok(())
    }

    /// Adds revocation lists to a file. Each list of a file counts, and those in it stay.
    fn add_lists(&mut self, path: &Path, lists: &str) -> Result<(), FleetError> {
        let before = read_lists(path)?;
        let mut all = before.clone();
        for list in lists.split_inclusive(END_OF_LIST) {
            let list = list.trim();
            // The last piece may be text without a list, and a repeated call adds nothing.
            if list.ends_with(END_OF_LIST) && !all.contains(list) {
                // Another tool may have left out the last line break, and a block begins on its own line.
                if !all.is_empty() && !all.ends_with('\n') {
                    all.push('\n');
                }
                all.push_str(list);
                all.push('\n');
            }
        }
        // Without this check, each call would report a change of the file.
        if all == before {
            return Ok(());
        }
        files::replace(path, all.as_bytes()).map_err(|error| FleetError::Io(path.to_owned(), error))?;
        self.note(path, FleetStep::Created);
        Ok(())
    }

    /// The files, and what happened to each.
    #[must_use]
    pub fn files(&self) -> &[FleetFile] {
        &self.files
    }

    fn add_governance(&mut self, enclaves: &Path, options: &FleetOptions) -> Result<(), FleetError> {
        let document = enclaves.join("governance.xml");
        self.add(&document, || governance(&options.rights).into_bytes())
    }

    fn add_identity(&mut self, name: &str, options: &FleetOptions) -> Result<(), FleetError> {
        let enclave = self.folder.join("enclaves").join(name.trim_start_matches('/'));
        fs::create_dir_all(&enclave).map_err(|error| FleetError::Io(enclave.clone(), error))?;
        let (certificate_path, key_path) = (enclave.join("cert.pem"), enclave.join("key.pem"));
        let issue_error = |error| FleetError::Issue(certificate_path.clone(), error);
        if certificate_path.exists() {
            self.note(&certificate_path, FleetStep::Kept);
        } else {
            let token_key = enclave.join("key.p11");
            // A new key in a file would not count: ROS 2 prefers the one in the token.
            if token_key.exists() {
                return Err(FleetError::KeyInToken(token_key));
            }
            // The key comes first: a certificate without a key would count as made.
            let key = secret_key(&key_path, options.algorithm, &mut self.files)?;
            // A certificate does not outlive its authority.
            let authority_end = self.identity_ca.certificate().validity().not_after;
            let validity = Validity { not_after: options.validity.not_after.min(authority_end), ..options.validity };
            let certificate = self.identity_ca.issue(name, &key, validity).map_err(issue_error)?;
            self.add(&certificate_path, || certificate.to_pem().into_bytes())?;
        }
        // A kept certificate may have another subject than the name, and the permissions need it.
        let text =
            files::read_text(&certificate_path).map_err(|error| FleetError::Io(certificate_path.clone(), error))?;
        let certificate =
            Certificate::from_pem(&text).map_err(|error| FleetError::Certificate(certificate_path.clone(), error))?;
        let document = enclave.join("permissions.xml");
        let subject = certificate.subject_text();
        self.add(&document, || permissions(name, &subject, options.validity, &options.rights).into_bytes())
    }

    /// Signs each new or edited document, and copies the common files into each enclave.
    fn refresh(&mut self, enclaves: &Path) -> Result<(), FleetError> {
        // All identities get a copy of the signed governance, so its signature comes first.
        self.sign(&enclaves.join("governance.xml"), |text| Governance::parse(text).map(|_| ()))?;
        let governance = enclaves.join("governance.p7s");
        let common = [
            (self.folder.join("public/identity_ca.cert.pem"), "identity_ca.cert.pem"),
            (self.folder.join("public/permissions_ca.cert.pem"), "permissions_ca.cert.pem"),
            (governance, "governance.p7s"),
        ];
        for enclave in enclaves_of(enclaves).map_err(|error| FleetError::Io(enclaves.to_owned(), error))? {
            self.sign(&enclave.join("permissions.xml"), |text| Permissions::parse(text).map(|_| ()))?;
            for (from, name) in &common {
                let bytes = files::read(from).map_err(|error| FleetError::Io(from.clone(), error))?;
                let to = enclave.join(name);
                // SROS2 has links here.
                if files::read(&to).is_ok_and(|old| old == bytes) {
                    continue;
                }
                files::replace(&to, &bytes).map_err(|error| FleetError::Io(to.clone(), error))?;
                self.note(&to, FleetStep::Created);
            }
        }
        // A new identity must refuse those that were revoked before.
        self.copy_lists(enclaves)
    }

    /// Signs a document, unless its signature fits.
    fn sign(
        &mut self,
        document: &Path,
        parse: impl FnOnce(&str) -> Result<(), DocumentError>,
    ) -> Result<(), FleetError> {
        let signed_path = document.with_extension("p7s");
        // The author may keep the document elsewhere. Participants read only the signed form.
        if !document.exists() && signed_path.exists() {
            return Ok(());
        }
        let text = files::read_text(document).map_err(|error| FleetError::Io(document.to_owned(), error))?;
        // Participants would refuse a signed document with faults, so it is read before.
        parse(&text).map_err(|error| FleetError::Document(document.to_owned(), error))?;
        // The signature changes the ends of lines, so only the lines are compared.
        let is_signed = files::read(&signed_path).is_ok_and(|file| {
            verify_document(&file, self.permissions_ca.certificate())
                .is_ok_and(|signed| signed.lines().eq(text.lines()))
        });
        if is_signed {
            return Ok(());
        }
        let file =
            sign_document(&text, &self.permissions_ca).map_err(|error| FleetError::Sign(document.to_owned(), error))?;
        files::replace(&signed_path, &file).map_err(|error| FleetError::Io(signed_path.clone(), error))?;
        self.note(&signed_path, FleetStep::Signed);
        Ok(())
    }

    /// Writes a file, unless it exists.
    fn add(&mut self, path: &Path, content: impl FnOnce() -> Vec<u8>) -> Result<(), FleetError> {
        // The user may have edited the file, and its content is worth more than the new one.
        if path.exists() {
            self.note(path, FleetStep::Kept);
            return Ok(());
        }
        files::replace(path, &content()).map_err(|error| FleetError::Io(path.to_owned(), error))?;
        self.note(path, FleetStep::Created);
        Ok(())
    }

    fn note(&mut self, path: &Path, step: FleetStep) {
        self.files.push(FleetFile { path: path.to_owned(), step });
    }
}

/// The last line of a revocation list.
const END_OF_LIST: &str = "-----END X509 CRL-----";

/// Reads a file of revocation lists, which may not exist.
fn read_lists(path: &Path) -> Result<String, FleetError> {
    match files::read_text(path) {
        // No file exists before the first revocation.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        lists => lists.map_err(|error| FleetError::Io(path.to_owned(), error)),
    }
}

/// Reads a certificate authority.
fn read_authority(certificate: &Path, key: &Path, now: i64, files: &mut Vec<FleetFile>) -> Result<Issuer, FleetError> {
    let certificate_text =
        files::read_text(certificate).map_err(|error| FleetError::Io(certificate.to_owned(), error))?;
    let key_text = files::read_text(key).map_err(|error| {
        let text = format!("{error}: restore the key of the authority, or make another folder");
        FleetError::Io(key.to_owned(), io::Error::new(error.kind(), text))
    })?;
    let key_text = zeroize::Zeroizing::new(key_text);
    let issuer = Issuer::from_pem(&certificate_text, &key_text)
        .map_err(|error| FleetError::Issue(certificate.to_owned(), error))?;
    issuer
        .certificate()
        .check_authority(now)
        .map_err(|error| FleetError::Certificate(certificate.to_owned(), error))?;
    files.push(FleetFile { path: certificate.to_owned(), step: FleetStep::Kept });
    Ok(issuer)
}

/// Reads a certificate authority, or makes it if none of its files exists.
fn authority(
    certificate: &Path,
    key: &Path,
    title: &str,
    options: &FleetOptions,
    files: &mut Vec<FleetFile>,
) -> Result<Issuer, FleetError> {
    // Another certificate of the authority would make all its identities invalid.
    if certificate.exists() {
        return read_authority(certificate, key, options.validity.not_before, files);
    }
    // The key comes first here as well: a certificate without a key would count as made.
    let issuer = Issuer::with_key(title, secret_key(key, options.algorithm, files)?, options.validity)
        .map_err(|error| FleetError::Issue(certificate.to_owned(), error))?;
    files::replace(certificate, issuer.certificate().to_pem().as_bytes())
        .map_err(|error| FleetError::Io(certificate.to_owned(), error))?;
    files.push(FleetFile { path: certificate.to_owned(), step: FleetStep::Created });
    Ok(issuer)
}

/// Reads a private key that an interrupted call has left, or makes one.
fn secret_key(path: &Path, algorithm: KeyAlgorithm, made: &mut Vec<FleetFile>) -> Result<PrivateKey, FleetError> {
    let io_error = |error| FleetError::Io(path.to_owned(), error);
    let key_error = |error| FleetError::Issue(path.to_owned(), IssueError::Key(error));
    if path.exists() {
        let text = zeroize::Zeroizing::new(files::read_text(path).map_err(io_error)?);
        let key = PrivateKey::from_pem(&text).map_err(key_error)?;
        // An interrupted call may have left the key. It counts only if the options want its algorithm.
        if !key.fits(algorithm) {
            return Err(FleetError::OtherAlgorithm(path.to_owned(), key.algorithm_text(), algorithm));
        }
        made.push(FleetFile { path: path.to_owned(), step: FleetStep::Kept });
        return Ok(key);
    }
    let key = PrivateKey::generate_for(algorithm).map_err(key_error)?;
    files::create_secret(path, key.to_pem().as_bytes()).map_err(io_error)?;
    made.push(FleetFile { path: path.to_owned(), step: FleetStep::Created });
    Ok(key)
}

/// Checks the name of an identity, which is also a path below the folder of enclaves.
fn check_name(name: &str) -> Result<(), FleetError> {
    let is_fine = |part: &str| {
        let is_plain = part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        // A dot at the start would allow `..`, which leaves the folder.
        is_plain && !part.is_empty() && !part.starts_with('.')
    };
    let parts = name.strip_prefix('/').unwrap_or(name);
    if parts.split('/').all(is_fine) { Ok(()) } else { Err(FleetError::Name(name.to_owned())) }
}

/// Returns the folders with a certificate, in order. Enclaves of ROS 2 lie at most 16 levels below each other.
pub(super) fn enclaves_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    const DEPTH_MAX: usize = 16;
    let (mut found, mut open) = (Vec::new(), vec![(folder.to_owned(), 0)]);
    while let Some((folder, depth)) = open.pop() {
        debug_assert!(depth <= DEPTH_MAX, "deeper folders are not opened");
        if folder.join("cert.pem").exists() {
            found.push(folder.clone());
        }
        // The limit ends the search soon if the path is wrong, such as the root of a disk.
        if depth == DEPTH_MAX {
            continue;
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            // Not links, which may lead in circles.
            if entry.file_type()?.is_dir() {
                open.push((entry.path(), depth + 1));
            }
        }
    }
    // The order of `read_dir` depends on the file system, and that of findings must not.
    found.sort();
    Ok(found)
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(
                f,
                "invalid name `{name}`: expected letters, digits, `_`, `-` and `.`, in parts such as `/cell3/robot7`"
            ),
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Issue(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Certificate(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Document(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Sign(path, error) => write!(f, "{}: {error}", path.display()),
            Self::OtherAlgorithm(path, found, algorithm) => write!(
                f,
                "{}: the key is {found}, and not {algorithm}: choose its algorithm, or for RSA a shorter length, or \
                 remove the file of the key",
                path.display()
            ),
            Self::KeyInToken(path) => write!(
                f,
                "{}: the key stays in a token, so no certificate can be made for it: restore `cert.pem`, or remove this \
                 file for a new key",
                path.display()
            ),
        }
    }
}

impl std::error::Error for FleetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Name(_) | Self::OtherAlgorithm(..) | Self::KeyInToken(_) => None,
            Self::Io(_, error) => Some(error),
            Self::Issue(_, error) => Some(error),
            Self::Certificate(_, error) => Some(error),
            Self::Document(_, error) => Some(error),
            Self::Sign(_, error) => Some(error),
        }
    }
}
