//! `uuid::Uuid`: 16 octets, in the order of its text.

use super::encoded_as;
use ::uuid::Uuid;

encoded_as! {
    Uuid => [u8; 16], |value| Ok(value.into_bytes()), |wire| Some(Self::from_bytes(wire));
}
