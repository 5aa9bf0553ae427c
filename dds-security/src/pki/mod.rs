//! Certificates of X.509, and the signatures of governance and permissions.
//!
//! Files come in as bytes, and certificates, texts and errors go out. The module reads no clock: the caller passes the
//! time, in seconds since 1970. Only `pkcs11_key` measures how long its token takes.
//!
//! | file | content |
//! |---|---|
//! | `bounds` | bounds of DER, which hold before any decoder sees the bytes |
//! | `certificate` | a certificate, and whether a certificate authority issued it |
//! | `ecdsa` | whether a signature of ECDSA is valid, by RustCrypto or ring |
//! | `issue` | new certificates: authorities and identities |
//! | `ocsp` | answers of an authority about its certificates |
//! | `pem` | the text form of keys and certificates |
//! | `pkcs11_key` | keys that sign inside of a PKCS #11 token |
//! | `pkcs11_uri` | the place of such a key |
//! | `private_key` | keys that sign: ECDSA with P-256 and P-384, and RSA |
//! | `public_key` | keys that verify: ECDSA with P-256 and P-384, and RSA |
//! | `revocation` | lists of revoked certificates |
//! | `rsa_key` | RSA keys that sign |
//! | `signed_data` | the signature of a document, as CMS |
//! | `smime` | a document with its signature, as a message of two parts |
//!
//! ```
//! use dds_security::pki::{Issuer, PrivateKey, Validity, sign_document, verify_document};
//!
//! let validity = Validity { not_before: 1_700_000_000, not_after: 1_900_000_000 };
//! let authority = Issuer::generate("permissions CA", validity)?;
//! let file = sign_document("<dds></dds>\n", &authority)?;
//! let text = verify_document(&file, authority.certificate())?;
//! assert_eq!(text, "<dds></dds>\r\n");
//! assert!(verify_document(&file[1..file.len() / 2], authority.certificate()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bounds;
mod certificate;
mod ecdsa;
mod issue;
mod legible;
mod ocsp;
mod pem;
#[cfg(feature = "pkcs11")]
mod pkcs11_key;
#[cfg(feature = "pkcs11")]
mod pkcs11_uri;
mod private_key;
mod public_key;
mod revocation;
mod rsa_key;
mod signed_data;
mod smime;

pub use certificate::{Certificate, CertificateError, Validity};
pub use issue::{IssueError, Issuer};
pub use ocsp::OcspResponses;
#[cfg(feature = "pkcs11")]
pub use pkcs11_key::{Pkcs11Error, Pkcs11Key};
#[cfg(feature = "pkcs11")]
pub use pkcs11_uri::Pkcs11Uri;
pub use private_key::{KeyAlgorithm, KeyError, PrivateKey};
pub use revocation::RevocationList;
pub use signed_data::SignError;
pub use smime::{SignatureError, sign_document, verify_document};

#[cfg(feature = "authentication")]
pub(crate) use legible::legible;
#[cfg(feature = "authentication")]
pub(crate) use private_key::{scalar_384_from, scalar_from};
pub(crate) use public_key::PublicKey;
