//! The ids of the submessages (RTPS 2.5, 9.4.5.1.1). 0x80 to 0xff belong to the vendors.

/// More of the message's header (RTPS 2.5, 8.3.7).
pub const HEADER_EXTENSION: u8 = 0x00;
/// Nothing: fills up to an alignment.
pub const PAD: u8 = 0x01;
/// A reader says what it has and what it misses.
pub const ACKNACK: u8 = 0x06;
/// What a writer has.
pub const HEARTBEAT: u8 = 0x07;
/// Numbers that will never come.
pub const GAP: u8 = 0x08;
/// The source timestamp of what follows.
pub const INFO_TS: u8 = 0x09;
/// Who wrote what follows.
pub const INFO_SRC: u8 = 0x0c;
/// Where to answer, IPv4 only.
pub const INFO_REPLY_IP4: u8 = 0x0d;
/// For whom what follows is.
pub const INFO_DST: u8 = 0x0e;
/// Where to answer.
pub const INFO_REPLY: u8 = 0x0f;
/// Which fragments a reader misses.
pub const NACK_FRAG: u8 = 0x12;
/// Which fragments a writer has.
pub const HEARTBEAT_FRAG: u8 = 0x13;
/// A change.
pub const DATA: u8 = 0x15;
/// A part of a large change.
pub const DATA_FRAG: u8 = 0x16;
/// DDS Security: a protected submessage or payload.
pub const SEC_BODY: u8 = 0x30;
/// DDS Security: before a protected submessage.
pub const SEC_PREFIX: u8 = 0x31;
/// DDS Security: after a protected submessage.
pub const SEC_POSTFIX: u8 = 0x32;
/// DDS Security: before a protected message.
pub const SRTPS_PREFIX: u8 = 0x33;
/// DDS Security: after a protected message.
pub const SRTPS_POSTFIX: u8 = 0x34;

/// Whether this is one of DDS Security's.
#[must_use]
pub const fn is_secure(id: u8) -> bool {
    matches!(id, SEC_BODY..=SRTPS_POSTFIX)
}
