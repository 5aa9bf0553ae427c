//! Keys of discovery data: the payload of a disposal (RTPS 2.5, 9.6.3.2; bytes as Cyclone DDS sends them).

use super::decode::{begin, parameters};
use crate::discovery::parameter_id;
use crate::types::{EntityId, Guid, GuidPrefix};

/// Writes the payload of a participant's disposal, its GUID, into `buffer`, which is cleared first.
pub fn participant_key(prefix: GuidPrefix, buffer: &mut Vec<u8>) {
    key(parameter_id::PARTICIPANT_GUID, Guid::new(prefix, EntityId::PARTICIPANT), buffer);
}

/// Writes the payload of an endpoint's disposal, its GUID, into `buffer`, which is cleared first.
pub fn endpoint_key(guid: Guid, buffer: &mut Vec<u8>) {
    key(parameter_id::ENDPOINT_GUID, guid, buffer);
}

fn key(id: u16, guid: Guid, buffer: &mut Vec<u8>) {
    let mut list = begin(buffer);
    list.guid(id, guid);
    list.finish();
}

/// Returns the GUID in a key or in whole data. An endpoint's GUID takes precedence over a participant's.
#[must_use]
pub fn guid_of_key(payload: &[u8]) -> Option<Guid> {
    let mut found = None;
    // A GUID in front of a malformed entry still names the entity that ends.
    for parameter in parameters(payload).ok()?.map_while(Result::ok) {
        match parameter.id {
            parameter_id::ENDPOINT_GUID => return parameter.fields().guid().ok(),
            parameter_id::PARTICIPANT_GUID if found.is_none() => found = parameter.fields().guid().ok(),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn participant_key_has_the_bytes_of_cyclone() {
        let prefix = GuidPrefix([1, 0x10, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        let mut bytes = Vec::new();
        participant_key(prefix, &mut bytes);
        let mut expected = vec![0, 3, 0, 0, 0x50, 0, 16, 0];
        expected.extend_from_slice(&prefix.0);
        expected.extend_from_slice(&[0, 0, 1, 0xc1, 1, 0, 0, 0]);
        assert_eq!(bytes, expected);
        assert_eq!(guid_of_key(&bytes), Some(Guid::new(prefix, EntityId::PARTICIPANT)));
    }

    #[test]
    fn endpoint_key_names_the_endpoint() {
        let guid = Guid::from_bytes([7; 16]);
        let mut bytes = Vec::new();
        endpoint_key(guid, &mut bytes);
        assert_eq!(guid_of_key(&bytes), Some(guid));
        assert_eq!(guid_of_key(&bytes[..10]), None);
    }
}
