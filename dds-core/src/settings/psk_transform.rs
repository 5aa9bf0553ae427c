//! Protection of all messages of a participant: from its settings to the transform.

use super::config::PRE_SHARED_KEY_VARIABLE;
use crate::infrastructure::CreateErrorKind;
use crate::sync::Process;
use dds_rtps::types::VendorId;
use dds_rtps::wire::{MessageTransform, OpenedMessage, RejectedMessage};
use dds_security::crypto::OpenError;
use dds_security::psk::{Passphrase, PreSharedKey, PskDomain, PskProtection};
use std::sync::Arc;

/// Creates the transform of a participant with a pre-shared key.
pub(super) fn transform(key: &PreSharedKey, domain_id: u32, domain_tag: &str) -> Arc<PskTransform> {
    // A weak key still protects from mistakes, so it is no error.
    for weakness in key.weaknesses() {
        tracing::warn!("weak pre-shared key: {weakness}");
    }
    let domain = PskDomain { id: domain_id, tag: domain_tag.to_owned(), numbering_vendor: Some(VendorId::OURS.0) };
    Arc::new(PskTransform { protection: PskProtection::new(key.clone(), domain), process: Process::current() })
}

/// Reads the value of a variable or a property: `file:PATH`, or `data:,ID:PASSPHRASE`. Errors do not show it.
pub(super) fn read_key(value: &str) -> Result<PreSharedKey, CreateErrorKind> {
    let message = if let Some(path) = value.strip_prefix("file:") {
        // `file:///etc/key` has an empty host in front of the path.
        let path = path.strip_prefix("//").unwrap_or(path);
        match PreSharedKey::from_file(path) {
            Ok(key) => return Ok(key),
            Err(cause) => format!("the key file {path}: {cause}"),
        }
    } else if let Some(text) = value.strip_prefix("data:,") {
        match text.parse::<Passphrase>() {
            Ok(passphrase) => return Ok(PreSharedKey::new(passphrase)),
            Err(cause) => format!("{PRE_SHARED_KEY_VARIABLE}: {cause}"),
        }
    } else {
        format!("{PRE_SHARED_KEY_VARIABLE} must be file:PATH or data:,ID:PASSPHRASE")
    };
    Err(CreateErrorKind::security(message))
}

/// The protection of one participant. A forked child has the counters of its parent, and must not use them.
#[derive(Debug)]
pub(super) struct PskTransform {
    protection: PskProtection,
    process: Process,
}

impl MessageTransform for PskTransform {
    fn seal(&self, message: &mut Vec<u8>) {
        // No plain message may leave this participant, and no number may be used twice.
        if self.process.is_left() || self.protection.seal_behind(message).is_err() {
            message.clear();
        }
    }

    fn front_len(&self) -> usize {
        self.protection.front_len()
    }

    fn open(&self, datagram: &[u8], scratch: &mut Vec<u8>) -> Result<OpenedMessage, RejectedMessage> {
        let refusal = match self.protection.open(datagram, scratch) {
            Ok(()) => return Ok(OpenedMessage::Scratch { start: 0 }),
            Err(refusal) => refusal,
        };
        // Only the first refusal of a kind is news: an attacker must not fill the log.
        let news = if refusal.is_first { Some(format!("a datagram was refused {refusal}").into()) } else { None };
        Err(RejectedMessage { news, is_copy: refusal.reason == OpenError::Replayed })
    }

    fn overhead(&self) -> u16 {
        PskProtection::OVERHEAD as u16
    }

    fn explain(&self) -> String {
        self.protection.explain()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faulty_key_is_refused_without_showing_it() {
        for value in ["1:hush", "data:1:hush", "data:,hush", "data:,255:hush", "file:/no/such/file", ""] {
            let error = read_key(value).unwrap_err();
            assert!(!error.to_string().contains("hush"), "{error}");
        }
        assert_eq!(read_key("data:,3:hush").unwrap().passphrase().id(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn key_that_is_not_utf8_is_refused_without_showing_it() {
        use crate::settings::config::not_utf8;
        let value = || std::os::unix::ffi::OsStringExt::from_vec(b"data:,3:hush\xff".to_vec());
        let error = not_utf8(PRE_SHARED_KEY_VARIABLE, value());
        assert_eq!(error, CreateErrorKind::Security { message: "DDS_PRE_SHARED_KEY is not UTF-8".into() });
        // Other variables are shown, so that the fault is found.
        assert!(not_utf8("DDS_DOMAIN_TAG", value()).to_string().contains("hush"));
    }

    #[test]
    fn second_copy_of_a_message_gives_no_news() {
        let key = read_key("data:,3:hush").unwrap();
        let [robot, station] = [(); 2].map(|()| transform(&key, 0, ""));
        let mut message = vec![0; robot.front_len()];
        message.extend([b"RTPS\x02\x05", &VendorId::OURS.0[..], b"abcdefghijkl\x01\x01\x00\x00"].concat());
        robot.seal(&mut message);
        assert_eq!(station.open(&message, &mut Vec::new()), Ok(OpenedMessage::Scratch { start: 0 }));
        assert_eq!(station.open(&message, &mut Vec::new()), Err(RejectedMessage { news: None, is_copy: true }));
        assert_eq!(station.explain(), "");
        let faulty = station.open(b"hello", &mut Vec::new()).unwrap_err();
        assert!(faulty.news.is_some() && !faulty.is_copy);
    }
}
