//! Ids of the submessages (RTPS 2.5, 9.4.5.1.1). 0x80 to 0xff belong to the vendors.

/// Extension of the message header (RTPS 2.5, 8.3.7).
pub const HEADER_EXTENSION: u8 = 0x00;
/// Padding.
pub const PAD: u8 = 0x01;
/// Received and missing changes of a reader.
pub const ACKNACK: u8 = 0x06;
/// Sequence numbers of a writer's history.
pub const HEARTBEAT: u8 = 0x07;
/// Irrelevant sequence numbers.
pub const GAP: u8 = 0x08;
/// Source timestamp of the following submessages.
pub const INFO_TS: u8 = 0x09;
/// Source of the following submessages.
pub const INFO_SRC: u8 = 0x0c;
/// Destination of answers, IPv4 only.
pub const INFO_REPLY_IP4: u8 = 0x0d;
/// Destination of the following submessages.
pub const INFO_DST: u8 = 0x0e;
/// Destination of answers.
pub const INFO_REPLY: u8 = 0x0f;
/// Fragments that a reader misses.
pub const NACK_FRAG: u8 = 0x12;
/// Fragments that a writer has sent.
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

/// Whether the id belongs to DDS Security.
#[must_use]
pub const fn is_secure(id: u8) -> bool {
    matches!(id, SEC_BODY..=SRTPS_POSTFIX)
}
