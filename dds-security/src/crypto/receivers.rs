//! The receivers of one sender, each with a MAC of its own (DDS Security 1.1, 9.5.3.3.3 and 9.5.2.5).
//!
//! All receivers of a sender know its key, so each could speak in its name. A MAC for one receiver needs a key that
//! only this receiver and the sender have.

use super::cipher::{Cipher, MAC_LEN};
use super::{CryptoHeader, KeyMaterial, ReceiverKey};
use std::collections::BTreeMap;

/// Most receivers of one sender. Each adds 20 bytes to each message.
pub const RECEIVERS_MAX: usize = 32;

/// Name of a receiver: the GUID prefix of a participant.
pub type ReceiverName = [u8; 12];

/// For which receivers a sender adds MACs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// All receivers of the key.
    All,
    /// One of them. A name without a key gets no MAC.
    One(ReceiverName),
}

/// The receivers of a sender.
#[derive(Default)]
pub(crate) struct ReceiverTable {
    entries: BTreeMap<ReceiverName, AddressedReceiver>,
    /// The session of the ciphers.
    session: [u8; 4],
}

struct AddressedReceiver {
    key: ReceiverKey,
    /// `None` before its first use in a session.
    cipher: Option<Cipher>,
}

impl ReceiverTable {
    /// Returns the key of a receiver, which is new if the receiver is. `None` if there are too many.
    pub(crate) fn add(
        &mut self,
        name: ReceiverName,
        material: &KeyMaterial,
    ) -> Result<Option<ReceiverKey>, getrandom::Error> {
        if let Some(known) = self.entries.get(&name) {
            return Ok(Some(known.key.clone()));
        }
        if self.entries.len() >= RECEIVERS_MAX {
            return Ok(None);
        }
        let key = ReceiverKey::generate(material.kind)?;
        self.entries.insert(name, AddressedReceiver { key: key.clone(), cipher: None });
        debug_assert!(self.entries.len() <= RECEIVERS_MAX, "the number was checked before");
        Ok(Some(key))
    }

    pub(crate) fn remove(&mut self, name: ReceiverName) {
        self.entries.remove(&name);
    }

    /// Appends the key id and the MAC of each addressed receiver. Returns their number.
    pub(crate) fn push_macs(
        &mut self,
        material: &KeyMaterial,
        header: &CryptoHeader,
        common: &[u8; MAC_LEN],
        audience: Audience,
        out: &mut Vec<u8>,
    ) -> u32 {
        if self.session != header.session_id {
            self.session = header.session_id;
            self.entries.values_mut().for_each(|receiver| receiver.cipher = None);
        }
        match audience {
            Audience::All => {
                let macs = self.entries.values_mut().map(|receiver| receiver.push_mac(material, header, common, out));
                macs.sum()
            }
            Audience::One(name) => match self.entries.get_mut(&name) {
                Some(receiver) => receiver.push_mac(material, header, common, out),
                None => 0,
            },
        }
    }
}

impl AddressedReceiver {
    /// Returns the number of appended MACs.
    fn push_mac(
        &mut self,
        material: &KeyMaterial,
        header: &CryptoHeader,
        common: &[u8; MAC_LEN],
        out: &mut Vec<u8>,
    ) -> u32 {
        if self.cipher.is_none() {
            self.cipher = Cipher::of_receiver(material, &self.key, header.session_id);
        }
        debug_assert!(self.cipher.is_some(), "the key of a sender never has the kind NONE");
        let Some(cipher) = &self.cipher else { return 0 };
        out.extend_from_slice(&self.key.id);
        out.extend_from_slice(&cipher.seal(header, common, &mut []));
        1
    }
}
