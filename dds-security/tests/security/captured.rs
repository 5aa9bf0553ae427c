//! Captured messages of Cyclone DDS and Fast DDS open with the keys that their senders sent.
//!
//! `vectors/crypto/make.md` says how the files were made.

use dds_security::crypto::{
    CryptoHeader, KeyMaterial, OpenError, ReceiveKey, ReceiverKey, TransformationKind, message, payload, submessage,
};

/// Fast DDS ends each datagram with a submessage of its own, behind the protection.
const FAST_DDS_STATISTICS_LEN: usize = 60;

/// Protected bytes of a vendor, and the key of its token.
struct Captured {
    name: &'static str,
    bytes: &'static [u8],
    key: &'static [u8],
}

macro_rules! captured {
    ($($name:literal),* $(,)?) => {
        [$(Captured {
            name: $name,
            bytes: include_bytes!(concat!("../vectors/crypto/", $name, ".bin")),
            key: include_bytes!(concat!("../vectors/crypto/", $name, ".key")),
        }),*]
    };
}

impl Captured {
    fn material(&self) -> KeyMaterial {
        KeyMaterial::from_token(self.key).unwrap()
    }

    /// The kind that the name of the file tells.
    fn kind(&self) -> TransformationKind {
        match (self.name.contains("encrypt"), self.name.contains("128")) {
            (false, false) => TransformationKind::Aes256Gmac,
            (true, false) => TransformationKind::Aes256Gcm,
            (false, true) => TransformationKind::Aes128Gmac,
            (true, true) => TransformationKind::Aes128Gcm,
        }
    }

    /// Opens the bytes. Checks header and footer, that no other key opens them, and that no byte of header, content or
    /// common MAC may change. `at` is the place of the CryptoHeader, and `open` returns the plain bytes.
    fn open(&self, at: usize, open: impl Fn(&mut ReceiveKey, &[u8]) -> Result<Vec<u8>, OpenError>) -> Vec<u8> {
        let (name, material) = (self.name, self.material());
        let header = CryptoHeader::parse(self.bytes[at..].first_chunk().unwrap()).unwrap();
        assert_eq!((header.kind, header.key_id), (self.kind(), material.sender_key_id), "{name}");
        assert_eq!((material.kind, material.receiver.is_some()), (self.kind(), name.contains("origin")), "{name}");
        let plain = open(&mut ReceiveKey::new(material.clone()), self.bytes).unwrap();
        let mut other = material.clone();
        other.master_sender_key[0] ^= 1;
        assert_eq!(open(&mut ReceiveKey::new(other), self.bytes), Err(OpenError::Forged), "{name}");
        if let Some(key) = material.receiver.clone() {
            let mut other = material.clone();
            other.receiver = Some(ReceiverKey { key: [7; 32], ..key });
            assert!(open(&mut ReceiveKey::new(other), self.bytes).is_err(), "{name}: the MAC of another receiver");
        }
        let behind = if name.starts_with("fast_dds_message") { FAST_DDS_STATISTICS_LEN } else { 0 };
        // Behind the common MAC: the count, and 20 bytes for each receiver.
        let end = self.bytes.len() - behind - 4 - if material.receiver.is_some() { 20 } else { 0 };
        // The flags of SEC_BODY and of the postfix, which say nothing.
        let flags = if at > 0 { [at + 21, end - 19] } else { [end; 2] };
        for place in (at..end).filter(|place| !flags.contains(place)) {
            let mut changed = self.bytes.to_vec();
            changed[place] ^= 0x10;
            let opened = open(&mut ReceiveKey::new(material.clone()), &changed);
            assert!(opened.is_err(), "{name}: byte {place} of {} may change", self.bytes.len());
        }
        plain
    }
}

fn open_message(key: &mut ReceiveKey, bytes: &[u8]) -> Result<Vec<u8>, OpenError> {
    let mut out = Vec::new();
    message::parse(bytes)?.open(key, &mut out).map(|()| out)
}

fn open_submessage(key: &mut ReceiveKey, bytes: &[u8]) -> Result<Vec<u8>, OpenError> {
    let mut out = Vec::new();
    submessage::open(key, bytes, &mut out).map(|_| out)
}

fn open_payload(key: &mut ReceiveKey, bytes: &[u8]) -> Result<Vec<u8>, OpenError> {
    let mut out = Vec::new();
    payload::open(key, bytes, &mut out).map(|()| out)
}

#[test]
fn messages_of_two_vendors_open() {
    for captured in captured![
        "cyclone_message_sign",
        "cyclone_message_encrypt",
        "cyclone_message_sign_origin",
        "cyclone_message_encrypt_origin",
        "fast_dds_message_sign",
        "fast_dds_message_encrypt",
        "fast_dds_message_sign_origin",
        "fast_dds_message_encrypt_origin",
        "fast_dds_message_sign128",
        "fast_dds_message_encrypt128",
    ] {
        let plain = captured.open(24, open_message);
        // The header of the message is in clear.
        assert_eq!(plain[..20], captured.bytes[..20], "{}", captured.name);
        assert!(plain.len() > 24, "{}: it has a submessage", captured.name);
    }
}

#[test]
fn submessages_of_two_vendors_open() {
    for captured in captured![
        "cyclone_submessage_sign",
        "cyclone_submessage_encrypt",
        "cyclone_submessage_sign_origin",
        "cyclone_submessage_encrypt_origin",
        "fast_dds_submessage_sign",
        "fast_dds_submessage_encrypt",
        "fast_dds_submessage_sign_origin",
        "fast_dds_submessage_encrypt_origin",
        "fast_dds_submessage_sign128",
        "fast_dds_submessage_encrypt128",
    ] {
        let plain = captured.open(4, open_submessage);
        let len = u16::from_le_bytes([plain[2], plain[3]]);
        assert_eq!((plain[1] & 1, usize::from(len) + 4), (1, plain.len()), "{}: one submessage", captured.name);
    }
}

/// The samples are octets and a number.
#[test]
fn payloads_of_two_vendors_open() {
    for captured in captured![
        "cyclone_payload_sign",
        "cyclone_payload_encrypt",
        "fast_dds_payload_sign",
        "fast_dds_payload_encrypt",
        "fast_dds_payload_sign128",
        "fast_dds_payload_encrypt128",
    ] {
        let plain = captured.open(0, open_payload);
        assert_eq!(plain[..2], [0, 1], "{}: CDR, little endian", captured.name);
    }
}
