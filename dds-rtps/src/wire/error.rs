//! Errors of received bytes. They are always the fault of the peer: the message is counted and dropped.

use crate::types::ProtocolVersion;
use std::fmt;

/// Error of a message or a submessage, and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireError {
    /// Kind of the error.
    pub kind: WireErrorKind,
    /// Bytes from the start of the message to the faulty field.
    pub offset: usize,
}

/// Kind of an error of a message or a submessage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WireErrorKind {
    /// The message does not begin with `RTPS`.
    NotRtps,
    /// The major version is not 2.
    UnsupportedVersion(ProtocolVersion),
    /// There are fewer bytes than the fields need, or than the submessage header announces.
    Truncated,
    /// The sequence number is not valid for a change.
    SequenceNumber,
    /// The last sequence number of a HEARTBEAT is more than one below its first.
    SequenceRange,
    /// The set has more than 256 bits.
    SetTooLong,
    /// The base of the set is not allowed in its submessage, or the set exceeds the highest number.
    SetRange,
    /// The fragment number is 0.
    FragmentNumber,
    /// The DATA_FRAG has no fragments.
    FragmentCount,
    /// The fragment size is 0.
    FragmentSize,
    /// The fragments do not lie within the sample.
    FragmentRange,
    /// The value of octetsToInlineQos places the inline QoS into the fields before it.
    OctetsToInlineQos,
    /// The payload is flagged as both data and key.
    PayloadFlags,
    /// The payload is shorter than its encapsulation header, or than its fragments.
    PayloadTooShort,
    /// The length of a parameter is not a multiple of 4.
    ParameterLength,
    /// The checksum does not match the message.
    Checksum,
    /// The header extension has an unknown parameter that must be understood.
    MustUnderstand,
}

impl fmt::Display for WireErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotRtps => "not an RTPS message",
            Self::UnsupportedVersion(version) => return write!(f, "unsupported RTPS version {version:?}"),
            Self::Truncated => "truncated",
            Self::SequenceNumber => "invalid sequence number",
            Self::SequenceRange => "last sequence number below the first",
            Self::SetTooLong => "set of more than 256 bits",
            Self::SetRange => "set outside of the numbers it may hold",
            Self::FragmentNumber => "fragment number 0",
            Self::FragmentCount => "no fragments",
            Self::FragmentSize => "fragment size 0",
            Self::FragmentRange => "fragments outside of the sample",
            Self::OctetsToInlineQos => "octetsToInlineQos too small",
            Self::PayloadFlags => "payload is both data and key",
            Self::PayloadTooShort => "payload too short",
            Self::ParameterLength => "parameter length is not a multiple of 4",
            Self::Checksum => "wrong checksum",
            Self::MustUnderstand => "unknown parameter that must be understood",
        })
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl std::error::Error for WireError {}
