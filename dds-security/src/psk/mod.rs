//! Protection of all messages with a pre-shared key (DDS Security 1.2, DDS:Crypto:PSK).
//!
//! All participants of a domain share a passphrase. Each one derives its own keys from the passphrase, the domain and
//! its GUID prefix. So participants exchange no keys, and even the first message can be opened.
//!
//! ```text
//! sender key id    SHA-256("DomainId=" id ";DomainTag=" tag), first 3 bytes, and the low byte of the passphrase id
//! tagged header    sender key id, "RTPS", version 2, vendor 2, GUID prefix 12
//! salt             HMAC(HMAC("PSK-SALT" tagged header, passphrase), "master salt derivation" 01)
//! sender key       HMAC(HMAC("PSK-SKEY" tagged header, passphrase), "master sender key derivation" 01)
//! ```
//!
//! `HMAC(key, message)` is HMAC-SHA256. Keys of 128 bits are the first half. The other three bytes of the passphrase id
//! are the revision of the key, which the CryptoHeader repeats.

mod known_senders;
mod passphrase;
mod pre_shared_key;
mod protection;
mod refusals;

pub use passphrase::{Passphrase, PassphraseError};
pub use pre_shared_key::{KeyFileError, PreSharedKey};
pub use protection::{PskDomain, PskProtection, SealError};
pub use refusals::{PskRefusal, RefusalCounts};
/// Overwrites a text when it is dropped, for programs that read a passphrase themselves.
pub use zeroize::Zeroizing;

use crate::crypto::{KeyMaterial, TransformationKind, hmac};
use sha2::{Digest, Sha256};

/// Returns the first bytes of the key ids of a domain.
fn domain_bytes(domain_id: u32, domain_tag: &str) -> [u8; 3] {
    let hash = Sha256::digest(format!("DomainId={domain_id};DomainTag={domain_tag}"));
    [hash[0], hash[1], hash[2]]
}

/// Derives the master keys of a sender from its version, vendor and GUID prefix.
fn derive(domain: [u8; 3], passphrase: &Passphrase, kind: TransformationKind, sender: &[u8; 16]) -> KeyMaterial {
    let [a, b, c] = domain;
    let key_id = [a, b, c, passphrase.key_id()];
    let secret = passphrase.secret().as_bytes();
    let derive = |label: &[u8], text: &[u8]| {
        let mut tagged = [0; 32];
        tagged[..8].copy_from_slice(label);
        tagged[8..12].copy_from_slice(&key_id);
        tagged[12..16].copy_from_slice(b"RTPS");
        tagged[16..].copy_from_slice(sender);
        let inner = hmac(&tagged, &[secret]);
        *hmac(&inner[..], &[text, &[1]])
    };
    let mut material = KeyMaterial {
        kind,
        revision: passphrase.revision(),
        sender_key_id: key_id,
        master_salt: derive(b"PSK-SALT", b"master salt derivation"),
        master_sender_key: derive(b"PSK-SKEY", b"master sender key derivation"),
        receiver: None,
    };
    // Keys with 128 bits are shorter. Zeros behind them keep equal keys equal.
    material.master_salt[kind.key_len()..].fill(0);
    material.master_sender_key[kind.key_len()..].fill(0);
    material
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected bytes come from `tests/vectors/make.py`, which follows the specification without this crate.
    #[test]
    fn derived_keys_equal_the_vector() {
        let passphrase = Passphrase::new(0x0102_0304, "correct horse battery staple").unwrap();
        let domain = domain_bytes(7, "plant");
        let sender = *b"\x02\x05\x01\xdd0123456789ab";
        let material = derive(domain, &passphrase, TransformationKind::Aes256Gcm, &sender);
        assert_eq!(material.revision, [1, 2, 3]);
        let bytes = [&material.sender_key_id[..], &material.master_salt, &material.master_sender_key].concat();
        assert_eq!(bytes, include_bytes!("../../tests/vectors/psk_keys.bin"));
        let short = derive(domain, &passphrase, TransformationKind::Aes128Gcm, &sender);
        assert_eq!(short.master_salt, [&material.master_salt[..16], &[0; 16]].concat()[..]);
    }

    #[test]
    fn every_input_changes_the_keys() {
        let derive = |domain, tag, id, text, sender: &[u8; 16]| {
            let passphrase = Passphrase::new(id, text).unwrap();
            derive(domain_bytes(domain, tag), &passphrase, TransformationKind::Aes256Gcm, sender).master_sender_key
        };
        let keys = [
            derive(0, "", 1, "a passphrase", &[0; 16]),
            derive(1, "", 1, "a passphrase", &[0; 16]),
            derive(0, "x", 1, "a passphrase", &[0; 16]),
            derive(0, "", 2, "a passphrase", &[0; 16]),
            derive(0, "", 1, "b passphrase", &[0; 16]),
            derive(0, "", 1, "a passphrase", &[1; 16]),
        ];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{at}");
        }
    }
}
