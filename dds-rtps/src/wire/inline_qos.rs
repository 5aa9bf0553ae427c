//! The inline QoS of a DATA: a borrowed parameter list (RTPS 2.5, 9.4.2.11 and 9.6.4).

/// The parameters of a DATA, as bytes that have been checked to end with a sentinel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InlineQos<'a> {
    /// The list from its first parameter to the sentinel, inclusive.
    pub bytes: &'a [u8],
    /// Whether the submessage is little endian.
    pub little_endian: bool,
}
