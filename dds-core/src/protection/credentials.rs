//! The files of an identity: certificates, private key, governance and permissions.

use super::security_event::SecuritySeverity;
use dds_security::keystore::{KEY_URI, read_file};
use dds_security::psk::Zeroizing;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The identity of a participant, and the signed documents of its domain (DDS Security 1.1).
///
/// The governance says how the domain is protected, and the permissions list the rights of the participant.
/// [`from_enclave`](Self::from_enclave) reads the folder of an identity, as `dds security init` and SROS2 make it.
/// The participant verifies all of it when it is created.
///
/// ```no_run
/// use dds_core::security::Credentials;
/// use dds_core::DomainParticipant;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let credentials = Credentials::from_enclave("keystore/enclaves/robot")?;
/// let participant = DomainParticipant::builder(0).credentials(credentials).build()?;
/// # drop(participant);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Credentials {
    pub(super) identity_ca: CredentialFile,
    pub(super) certificate: CredentialFile,
    pub(super) private_key: PrivateKeyPlace,
    /// `None` if the private key is not encrypted.
    pub(super) password: Option<Zeroizing<String>>,
    pub(super) permissions_ca: CredentialFile,
    pub(super) governance: CredentialFile,
    pub(super) permissions: CredentialFile,
    pub(super) revocations: RevocationFiles,
    /// `None` if properties name no such file.
    pub(super) revocation_place: Option<RevocationPlace>,
    /// The events that the participant publishes.
    pub(super) log: Option<SecuritySeverity>,
}

/// The files that revoke certificates.
#[derive(Clone, Default)]
pub(super) struct RevocationFiles {
    pub(super) lists: Option<CredentialFile>,
    pub(super) answers: Option<CredentialFile>,
}

/// Where these files are. They may change while the participant runs.
#[derive(Clone)]
pub(super) enum RevocationPlace {
    /// In the folder of the identity. Each of both may lack.
    Folder(PathBuf),
    /// A property names the file with lists.
    Lists(PathBuf),
}

impl RevocationPlace {
    pub(super) fn path(&self) -> &Path {
        let (Self::Folder(path) | Self::Lists(path)) = self;
        path
    }

    /// Reads the files.
    pub(super) fn read(&self) -> Result<RevocationFiles, CredentialsError> {
        let folder = match self {
            Self::Folder(folder) => folder,
            Self::Lists(path) => {
                return Ok(RevocationFiles { lists: Some(CredentialFile::read(path)?), answers: None });
            }
        };
        let read = |name: &str| match CredentialFile::read(&folder.join(name)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.cause.kind() == io::ErrorKind::NotFound => Ok(None),
            // An illegible file may revoke a peer.
            Err(error) => Err(error),
        };
        Ok(RevocationFiles { lists: read("crl.pem")?, answers: read("ocsp.der")? })
    }
}

/// Where the private key is.
#[derive(Clone)]
pub(super) enum PrivateKeyPlace {
    File(CredentialFile),
    /// The content is the URI of a key in a PKCS #11 token. It may have a PIN.
    Token(CredentialFile),
}

impl PrivateKeyPlace {
    /// Reads `key.p11`, with the URI of a key in a token, or else `key.pem`.
    fn of_enclave(folder: &Path) -> Result<Self, CredentialsError> {
        match CredentialFile::read(&folder.join(KEY_URI)) {
            Err(error) if error.cause.kind() == io::ErrorKind::NotFound => {
                CredentialFile::read(&folder.join("key.pem")).map(Self::File)
            }
            uri => uri.map(Self::Token),
        }
    }

    /// Reads the value of a property: as that of the others, or `pkcs11:` with the rest of a URI.
    fn of_property(name: &str, value: &str) -> Result<Self, String> {
        if value.starts_with("pkcs11:") {
            let bytes = Zeroizing::new(value.as_bytes().to_vec());
            return Ok(Self::Token(CredentialFile { name: name.to_owned(), bytes }));
        }
        CredentialFile::of_property(name, value).map(Self::File)
    }
}

/// The content of a file, and its name for errors. The content may be a secret.
#[derive(Clone)]
pub(super) struct CredentialFile {
    pub(super) name: String,
    pub(super) bytes: Zeroizing<Vec<u8>>,
}

/// A file of an identity cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct CredentialsError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub cause: io::Error,
}

impl Credentials {
    /// Reads the folder of an identity: `identity_ca.cert.pem`, `cert.pem`, `key.pem`, `permissions_ca.cert.pem`,
    /// `governance.p7s` and `permissions.p7s`.
    ///
    /// With the feature `security-pkcs11`, a file `key.p11` may take the place of `key.pem`. It has the URI of a
    /// private key in a PKCS #11 token (RFC 7512).
    ///
    /// Two other files may exist. `crl.pem` has lists of revoked certificates. `ocsp.der` has responses of OCSP (RFC
    /// 6960) about certificates of this participant and its peers.
    ///
    /// # Errors
    /// [`CredentialsError`] if a file cannot be read.
    pub fn from_enclave(folder: impl AsRef<Path>) -> Result<Self, CredentialsError> {
        let folder = folder.as_ref();
        let read = |name: &str| CredentialFile::read(&folder.join(name));
        let place = RevocationPlace::Folder(folder.to_owned());
        Ok(Self {
            identity_ca: read("identity_ca.cert.pem")?,
            certificate: read("cert.pem")?,
            private_key: PrivateKeyPlace::of_enclave(folder)?,
            password: None,
            permissions_ca: read("permissions_ca.cert.pem")?,
            governance: read("governance.p7s")?,
            permissions: read("permissions.p7s")?,
            revocations: place.read()?,
            revocation_place: Some(place),
            log: None,
        })
    }

    /// Decrypts the private key with this password. Default: the key is not encrypted.
    ///
    /// The key is an `ENCRYPTED PRIVATE KEY` in PKCS #8, as `openssl pkcs8 -topk8 -v2 aes-256-cbc` writes it. The
    /// property `dds.sec.auth.password` is another way.
    ///
    /// ```no_run
    /// use dds_core::security::Credentials;
    /// use dds_core::DomainParticipant;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let password = std::env::var("ROBOT_KEY_PASSWORD")?;
    /// let credentials = Credentials::from_enclave("keystore/enclaves/robot")?.password(&password);
    /// let participant = DomainParticipant::builder(0).credentials(credentials).build()?;
    /// # drop(participant);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn password(self, password: &str) -> Self {
        Self { password: Some(Zeroizing::new(password.to_owned())), ..self }
    }

    /// Publishes security events of this severity and graver ones. Default: none.
    ///
    /// The participant writes the topic [`SecurityEvent::TOPIC`](crate::security::SecurityEvent::TOPIC) (DDS Security
    /// 1.1, 9.6). Its creation fails if governance or permissions do not allow that.
    ///
    /// The properties `dds.sec.log.plugin` and `dds.sec.log.builtin.DDS_LogTopic.logging_level` of Fast DDS are another
    /// way.
    ///
    /// ```no_run
    /// use dds_core::security::{Credentials, SecurityEvent, SecuritySeverity};
    /// use dds_core::DomainParticipant;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let credentials = Credentials::from_enclave("keystore/enclaves/robot")?;
    /// let credentials = credentials.publish_events(SecuritySeverity::Warning);
    /// let participant = DomainParticipant::builder(0).credentials(credentials).build()?;
    /// let reader = participant.reader::<SecurityEvent>(SecurityEvent::TOPIC)?;
    /// # drop(reader);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn publish_events(self, severity: SecuritySeverity) -> Self {
        Self { log: Some(severity), ..self }
    }
}

impl Credentials {
    /// The name of the certificate's file.
    pub(crate) fn name(&self) -> &str {
        &self.certificate.name
    }
}

impl CredentialFile {
    fn read(path: &Path) -> Result<Self, CredentialsError> {
        let bytes = read_file(path).map_err(|cause| CredentialsError { path: path.to_owned(), cause })?;
        Ok(Self { name: path.display().to_string(), bytes })
    }

    /// Reads the value of a property: `file:PATH`, or `data:,` and the content.
    fn of_property(name: &str, value: &str) -> Result<Self, String> {
        if let Some(path) = path_of(value) {
            return Self::read(path).map_err(|error| format!("{name}: {error}"));
        }
        match value.strip_prefix("data:,") {
            Some(content) => Ok(Self { name: name.to_owned(), bytes: Zeroizing::new(content.as_bytes().to_vec()) }),
            None => Err(format!("{name} must be file:PATH or data:,CONTENT")),
        }
    }

    /// The content as text.
    pub(super) fn text(&self) -> Result<&str, String> {
        std::str::from_utf8(&self.bytes).map_err(|_| format!("{}: the file is no UTF-8", self.name))
    }
}

/// Returns the path of `file:PATH`.
fn path_of(value: &str) -> Option<&Path> {
    let path = value.strip_prefix("file:")?;
    // `file:///etc/cert.pem` has an empty host in front of the path.
    Some(Path::new(path.strip_prefix("//").unwrap_or(path)))
}

/// The properties of an identity (DDS Security 1.1, tables 56 and 63), collected one after the other.
#[derive(Default)]
pub(crate) struct CredentialProperties {
    /// Full names and values, in the order of [`PROPERTIES`]. A value may be a key.
    found: [Option<(String, Zeroizing<String>)>; PROPERTIES.len()],
    /// Full name and value of the property with revoked certificates, which may lack.
    revocations: Option<(String, String)>,
    /// The password of an encrypted private key.
    password: Option<Zeroizing<String>>,
    /// The plugin for events was asked for.
    logs: bool,
    level: Option<SecuritySeverity>,
}

/// The names without `dds.sec.`.
const PROPERTIES: [&str; 6] = [
    "auth.identity_ca",
    "auth.identity_certificate",
    "auth.private_key",
    "access.permissions_ca",
    "access.governance",
    "access.permissions",
];

/// The property for the password of an encrypted private key, as plain text.
const PASSWORD: &str = "auth.password";

/// The property of Fast DDS and ROS 2 for a file with lists of revoked certificates.
const REVOCATIONS: &str = "auth.identity_crl";

/// Parts of the names that Fast DDS puts in the middle.
const FAST_DDS_PARTS: [&str; 2] = ["builtin.PKI-DH.", "builtin.Access-Permissions."];

/// Properties of Fast DDS that choose the plugins, which are always these.
const FAST_DDS_PLUGINS: [(&str, &str); 4] = [
    ("auth.plugin", "builtin.PKI-DH"),
    ("access.plugin", "builtin.Access-Permissions"),
    ("crypto.plugin", "builtin.AES-GCM-GMAC"),
    (LOG_PLUGIN, "builtin.DDS_LogTopic"),
];

/// Properties of Fast DDS for events.
const LOG_PLUGIN: &str = "log.plugin";
const LOG_LEVEL: &str = "log.builtin.DDS_LogTopic.logging_level";

impl CredentialProperties {
    /// Takes a property. Returns false if it belongs to no identity.
    ///
    /// # Errors
    /// A text without the value, if it names a plugin that does not exist.
    pub(crate) fn take(&mut self, name: &str, value: &str) -> Result<bool, String> {
        let Some(short) = name.strip_prefix("dds.sec.") else { return Ok(false) };
        if let Some((_, plugin)) = FAST_DDS_PLUGINS.iter().find(|(known, _)| *known == short) {
            self.logs |= short == LOG_PLUGIN;
            return if value == *plugin { Ok(true) } else { Err(format!("{name} must be {plugin}")) };
        }
        if short == LOG_LEVEL {
            let level = SecuritySeverity::from_property(value);
            self.level = Some(level.ok_or_else(|| format!("{name} must be a level such as WARNING_LEVEL"))?);
            return Ok(true);
        }
        let mut short = short.to_owned();
        for part in FAST_DDS_PARTS {
            short = short.replace(part, "");
        }
        if short == PASSWORD {
            self.password = Some(Zeroizing::new(value.to_owned()));
            return Ok(true);
        }
        if short == REVOCATIONS {
            self.revocations = Some((name.to_owned(), value.to_owned()));
            return Ok(true);
        }
        let Some(index) = PROPERTIES.iter().position(|known| *known == short) else { return Ok(false) };
        if let Some(place) = self.found.get_mut(index) {
            *place = Some((name.to_owned(), Zeroizing::new(value.to_owned())));
        }
        Ok(true)
    }

    /// Reads the files that the properties name. `None` without any property of an identity.
    ///
    /// # Errors
    /// A text that names a missing property, or one whose file cannot be read.
    pub(crate) fn read(self) -> Result<Option<Credentials>, String> {
        let is_empty = self.found.iter().all(Option::is_none) && self.revocations.is_none() && self.password.is_none();
        if is_empty && !self.logs && self.level.is_none() {
            return Ok(None);
        }
        if let Some((name, _)) = PROPERTIES.iter().zip(&self.found).find(|(_, found)| found.is_none()) {
            return Err(format!("the property dds.sec.{name} is missing: an identity needs all six"));
        }
        // A level alone is a setting of a plugin that is not used.
        let log = self.logs.then(|| self.level.unwrap_or_default());
        // The check above has found all six.
        let [
            Some(identity_ca),
            Some(certificate),
            Some(key),
            Some(permissions_ca),
            Some(governance),
            Some(permissions),
        ] = &self.found
        else {
            return Err("an identity needs six properties".to_owned());
        };
        let read = |(name, value): &(String, Zeroizing<String>)| CredentialFile::of_property(name, value);
        let lists = self.revocations.as_ref().map(|(name, value)| CredentialFile::of_property(name, value));
        let place = self.revocations.as_ref().and_then(|(_, value)| path_of(value));
        Ok(Some(Credentials {
            identity_ca: read(identity_ca)?,
            certificate: read(certificate)?,
            private_key: PrivateKeyPlace::of_property(&key.0, &key.1)?,
            password: self.password,
            permissions_ca: read(permissions_ca)?,
            governance: read(governance)?,
            permissions: read(permissions)?,
            revocations: RevocationFiles { lists: lists.transpose()?, answers: None },
            revocation_place: place.map(|path| RevocationPlace::Lists(path.to_owned())),
            log,
        }))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("certificate", &self.certificate.name).finish_non_exhaustive()
    }
}

impl fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.cause)
    }
}

impl std::error::Error for CredentialsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}
