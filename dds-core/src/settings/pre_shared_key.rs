//! The pre-shared key of a participant: from environment, properties and code to the transform of its messages.

use super::config::Config;
#[cfg(not(feature = "security"))]
use super::config::PRE_SHARED_KEY_VARIABLE;
#[cfg(feature = "security")]
use super::psk_transform::{read_key, transform};
use crate::infrastructure::CreateErrorKind;

/// Begin of the names of properties that DDS Security defines. Peers must not see their values.
const SECURITY_PROPERTIES: &str = "dds.sec.";

/// Begins of the names of properties that need certificates.
#[cfg(all(feature = "security", not(feature = "security-pki")))]
const CERTIFICATE_PROPERTIES: [&str; 2] = ["dds.sec.auth.", "dds.sec.access."];

/// Property with the pre-shared key (DDS Security 1.2).
#[cfg(feature = "security")]
const PRE_SHARED_KEY_PROPERTY: &str = "dds.sec.crypto.rtps_psk_secret_passphrase";

impl Config {
    /// Sets up the protection of messages. The settings must be complete, because keys depend on the domain.
    pub(crate) fn protect(&mut self) -> Result<(), CreateErrorKind> {
        #[cfg(feature = "security-pki")]
        let mut identity = crate::protection::CredentialProperties::default();
        for (name, value) in std::mem::take(&mut self.properties) {
            if !name.starts_with(SECURITY_PROPERTIES) {
                // Discovery announces what remains here in plain text.
                self.properties.push((name, value));
                continue;
            }
            // A passphrase or a private key does not stay in freed memory.
            #[cfg(feature = "security")]
            let value = dds_security::psk::Zeroizing::new(value);
            #[cfg(feature = "security-pki")]
            if identity.take(&name, &value).map_err(CreateErrorKind::security)? {
                continue;
            }
            self.apply_security_property(&name, &value)?;
        }
        #[cfg(feature = "security-pki")]
        self.take_credentials(identity)?;
        #[cfg(feature = "security")]
        if self.pre_shared_key.is_none() {
            self.pre_shared_key = self.environment_key.take();
        }
        #[cfg(feature = "security")]
        if let Some(key) = &self.pre_shared_key {
            if self.message_transform.is_some() {
                // The transform may be a protection too, and a key must not take its place unnoticed.
                let message = "a participant has either a pre-shared key or a `message_transform`, and not both";
                return Err(CreateErrorKind::security(message));
            }
            let protection = transform(key, self.domain_id, &self.domain_tag);
            self.message_transform = Some(protection);
        }
        #[cfg(feature = "security-pki")]
        if self.credentials.is_some() && self.message_transform.is_some() {
            let message = "a participant has either credentials, or a pre-shared key, or a `message_transform`";
            return Err(CreateErrorKind::security(message));
        }
        Ok(())
    }

    /// Applies a property of DDS Security, which peers do not see. The builder's own setting overrides it, and it
    /// overrides the environment.
    #[cfg(feature = "security")]
    fn apply_security_property(&mut self, name: &str, value: &str) -> Result<(), CreateErrorKind> {
        if name != PRE_SHARED_KEY_PROPERTY {
            #[cfg(not(feature = "security-pki"))]
            let is_of_certificates = CERTIFICATE_PROPERTIES.iter().any(|begin| name.starts_with(begin));
            #[cfg(feature = "security-pki")]
            let is_of_certificates = false;
            let message = if is_of_certificates {
                format!("the property {name} needs the feature `security-pki`, which this build lacks")
            } else {
                format!("the property {name} is not supported")
            };
            return Err(CreateErrorKind::security(message));
        }
        if self.pre_shared_key.is_none() {
            self.pre_shared_key = Some(read_key(value)?);
            self.take_origin_of_properties("pre_shared_key");
        }
        Ok(())
    }

    /// Notes for the log that a setting came from the properties.
    #[cfg(feature = "security")]
    pub(super) fn take_origin_of_properties(&mut self, setting: &str) {
        let names = self.settings().map(|(name, _)| name);
        let from = names.iter().position(|name| *name == "properties").and_then(|at| self.origins.get(at).copied());
        let to = names.iter().position(|name| *name == setting).and_then(|at| self.origins.get_mut(at));
        if let (Some(from), Some(to)) = (from, to) {
            *to = from;
        }
    }

    #[cfg(not(feature = "security"))]
    fn apply_security_property(&mut self, name: &str, _: &str) -> Result<(), CreateErrorKind> {
        let message = format!("the property {name} needs the feature `security`, which this build lacks");
        Err(CreateErrorKind::security(message))
    }

    /// Reads the variable with the pre-shared key. Its value is in no error.
    pub(super) fn apply_key_variable(&mut self, value: Option<String>) -> Result<(), CreateErrorKind> {
        let Some(value) = value else { return Ok(()) };
        #[cfg(feature = "security")]
        {
            // Its memory is overwritten when it is dropped.
            let value = dds_security::psk::Zeroizing::new(value);
            self.environment_key = Some(read_key(&value)?);
            // The environment overrides the profile.
            self.properties.retain(|(name, _)| name != PRE_SHARED_KEY_PROPERTY);
            Ok(())
        }
        #[cfg(not(feature = "security"))]
        {
            drop(value);
            let message = format!("{PRE_SHARED_KEY_VARIABLE} needs the feature `security`, which this build lacks");
            Err(CreateErrorKind::security(message))
        }
    }

    /// Names the pre-shared key without its secret.
    #[cfg(feature = "security")]
    pub(super) fn key_text(&self) -> String {
        match self.pre_shared_key.as_ref().or(self.environment_key.as_ref()) {
            Some(key) => key.to_string(),
            None => "None".to_owned(),
        }
    }

    #[cfg(not(feature = "security"))]
    pub(super) fn key_text(&self) -> String {
        "None".to_owned()
    }
}

#[cfg(all(test, feature = "security"))]
mod tests {
    use super::*;
    use crate::settings::config::Origin;

    #[test]
    fn key_in_code_overrides_environment_which_overrides_profile() {
        let used = |property_of: Option<Origin>, builder: bool| {
            let mut config = Config::new(0);
            let property = |config: &mut Config| {
                config.set_property(PRE_SHARED_KEY_PROPERTY.to_owned(), "data:,2:hush".to_owned())
            };
            if property_of == Some(Origin::Default) {
                property(&mut config);
            }
            config.change(Origin::Environment, |config| config.apply_key_variable(Some("data:,1:hush".to_owned())))?;
            config.change(Origin::Code, |config| {
                if builder {
                    config.pre_shared_key = Some(read_key("data:,3:hush")?);
                }
                if property_of == Some(Origin::Code) {
                    property(config);
                }
                Ok::<(), CreateErrorKind>(())
            })?;
            config.protect()?;
            let text = config.describe(true);
            assert!(!text.contains("hush"), "{text}");
            let origin = if text.contains("AES-256 (code)") { Origin::Code } else { Origin::Environment };
            Ok::<_, CreateErrorKind>((config.pre_shared_key.map(|key| key.passphrase().id()), origin))
        };
        // A default stands for the profile here, which some builds lack.
        assert_eq!(used(Some(Origin::Default), false), Ok((Some(1), Origin::Environment)));
        assert_eq!(used(None, false), Ok((Some(1), Origin::Environment)));
        assert_eq!(used(Some(Origin::Code), false), Ok((Some(2), Origin::Code)));
        assert_eq!(used(None, true), Ok((Some(3), Origin::Code)));
        assert_eq!(used(Some(Origin::Code), true), Ok((Some(3), Origin::Code)));
    }

    #[cfg(not(feature = "security-pki"))]
    #[test]
    fn property_of_certificates_names_the_next_step() {
        for name in ["dds.sec.auth.identity_ca", "dds.sec.access.governance", "dds.sec.crypto.keysize"] {
            let mut config = Config::new(0);
            config.properties.push((name.to_owned(), "file:secret.pem".to_owned()));
            let Err(CreateErrorKind::Security { message }) = config.protect() else { panic!("{name} has no effect") };
            assert!(message.contains(name) && !message.contains("secret.pem"), "{message}");
            let is_of_certificates = name != "dds.sec.crypto.keysize";
            assert_eq!(message.contains("security-pki"), is_of_certificates, "{message}");
            assert!(config.message_transform.is_none());
        }
    }

    #[test]
    fn key_beside_a_transform_is_refused() {
        let key = || read_key("data:,1:hush").unwrap();
        let mut config = Config::new(0);
        config.pre_shared_key = Some(key());
        config.protect().unwrap();
        let transform = config.message_transform;
        for is_of_environment in [false, true] {
            let mut config = Config::new(0);
            config.message_transform = transform.clone();
            config.protect().unwrap();
            let place = if is_of_environment { &mut config.environment_key } else { &mut config.pre_shared_key };
            *place = Some(key());
            assert!(matches!(config.protect(), Err(CreateErrorKind::Security { .. })));
        }
    }
}
