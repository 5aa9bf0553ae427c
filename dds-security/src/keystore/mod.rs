//! The files of a fleet: certificate authorities, identities, governance and permissions.
//!
//! [`Fleet::create`] makes a folder with all of them, and [`check`](fn@check) names the faults of one. The layout is
//! that of SROS2, so programs of ROS 2 find their enclaves, and other programs pass the files of one identity:
//!
//! ```text
//! public/      identity_ca.cert.pem  permissions_ca.cert.pem
//! private/     identity_ca.key.pem   permissions_ca.key.pem      stay with the administrator
//! enclaves/    governance.xml  governance.p7s
//! enclaves/NAME/
//!     identity_ca.cert.pem  permissions_ca.cert.pem  governance.p7s      copies
//!     cert.pem  key.pem  permissions.xml  permissions.p7s                the identity's own
//! ```
//!
//! A private key in a PKCS #11 token has a file [`KEY_URI`] in place of `key.pem`.
//!
//! | file | content |
//! |---|---|
//! | `check` | the faults of a folder, and what its identities may do |
//! | `documents` | new governance and permissions |
//! | `files` | reading with bounds, writing without a moment in which a key is readable |
//! | `fleet` | a folder made and extended |

mod check;
mod documents;
mod files;
mod fleet;

pub use check::{CheckedIdentity, Finding, KEY_URI, KeystoreCheck, check, check_with_password};
pub use documents::FleetRights;
pub use files::read_file;
pub use fleet::{Fleet, FleetError, FleetFile, FleetOptions, FleetStep};
