//! Security by the environment variables of SROS 2 (`rcl/src/rcl/security.c`).

use super::environment::SecurityEnvironment;
use crate::{Error, Result};
use dds_core::DomainParticipantBuilder;
use std::path::PathBuf;

/// The file of an enclave that shows that it is one.
const CERTIFICATE: &str = "cert.pem";

impl SecurityEnvironment {
    /// Returns the enclave that the nodes have.
    pub(super) fn enclave(&self, own: String) -> String {
        // Without security, `rcl` ignores the variable.
        match &self.enclave_override {
            Some(enclave) if self.is_enabled => enclave.clone(),
            _ => own,
        }
    }

    /// Gives the participant the identity of the enclave, if the environment turns security on.
    ///
    /// # Errors
    /// [`Error::Environment`] if `ROS_SECURITY_STRATEGY` is `Enforce`, and the enclave has no readable identity.
    /// Otherwise, the participant then stays without security, as in `rcl`.
    pub(super) fn secure(&self, builder: DomainParticipantBuilder, enclave: &str) -> Result<DomainParticipantBuilder> {
        if !self.is_enabled {
            return Ok(builder);
        }
        let found = self.folder(enclave).and_then(|folder| with_identity(&folder));
        match found {
            Ok(configure) => Ok(configure(builder)),
            Err(reason) if self.is_enforced => Err(Error::Environment {
                variable: "ROS_SECURITY_KEYSTORE",
                value: self.keystore.clone().unwrap_or_default(),
                reason: format!("ROS_SECURITY_STRATEGY=Enforce needs the identity of enclave {enclave}: {reason}"),
            }),
            Err(reason) => {
                tracing::warn!("enclave {enclave} has no security: {reason}; ROS_SECURITY_STRATEGY=Enforce refuses it");
                Ok(builder)
            }
        }
    }

    /// Returns the folder of an enclave. The error is the reason and the next step.
    fn folder(&self, enclave: &str) -> Result<PathBuf, String> {
        let Some(keystore) = &self.keystore else {
            return Err("set ROS_SECURITY_KEYSTORE to the folder of a keystore".to_owned());
        };
        let folder = PathBuf::from(keystore).join("enclaves").join(enclave.trim_start_matches('/'));
        if folder.join(CERTIFICATE).is_file() {
            return Ok(folder);
        }
        Err(format!(
            "{} has no {CERTIFICATE}; make it with `dds security init {keystore} --identity {enclave}` or \
             `ros2 security create_enclave`, or choose another enclave with `--ros-args --enclave`",
            folder.display()
        ))
    }
}

/// Gives a participant an identity.
type Configure = Box<dyn FnOnce(DomainParticipantBuilder) -> DomainParticipantBuilder>;

/// Reads the identity in a folder.
#[cfg(feature = "security")]
fn with_identity(folder: &std::path::Path) -> Result<Configure, String> {
    let credentials = dds_core::security::Credentials::from_enclave(folder).map_err(|error| error.to_string())?;
    Ok(Box::new(|builder| builder.credentials(credentials)))
}

#[cfg(not(feature = "security"))]
fn with_identity(_folder: &std::path::Path) -> Result<Configure, String> {
    Err("this program has no security; build `dds-ros2` with the feature `security`".to_owned())
}
