//! Why received bytes are not a message: always the peer's fault, counted and dropped, never a panic.

use crate::types::ProtocolVersion;
use std::fmt;

/// What is wrong with a message or a submessage, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireError {
    /// What is wrong.
    pub kind: WireErrorKind,
    /// Bytes from the start of the message to the field at fault.
    pub offset: usize,
}

/// What is wrong with a message or a submessage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WireErrorKind {
    /// The message does not begin with `RTPS`.
    NotRtps,
    /// A major version other than 2.
    UnsupportedVersion(ProtocolVersion),
    /// Fewer bytes than the fields need, or than the submessage's header promises.
    Truncated,
    /// A sequence number that no change can carry.
    SequenceNumber,
    /// A HEARTBEAT whose last number lies more than one below its first.
    SequenceRange,
    /// A set of more than 256 bits.
    SetTooLong,
    /// A set with a base that its submessage does not allow, or that runs past the last number there is.
    SetRange,
    /// Fragment number 0.
    FragmentNumber,
    /// A DATA_FRAG of no fragments.
    FragmentCount,
    /// A fragment size of 0.
    FragmentSize,
    /// Fragments that do not lie within the sample.
    FragmentRange,
    /// An octetsToInlineQos that would put the inline QoS into the fields before it.
    OctetsToInlineQos,
    /// A payload that is said to be both data and key.
    PayloadFlags,
    /// A payload shorter than its encapsulation header, or than the fragments that it is said to hold.
    PayloadTooShort,
    /// A parameter whose length is not a multiple of 4.
    ParameterLength,
    /// A message that does not have the checksum that it says it has.
    Checksum,
    /// A header extension with a parameter that must be understood, and is not known.
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
