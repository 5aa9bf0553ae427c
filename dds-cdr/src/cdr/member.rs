//! Mutable structs: members with ids.
//!
//! ```text
//! XCDR2 (XTYPES 1.3, 7.4.3): DHEADER, then each member
//! 31   30..28  27..0
//! +----+-------+--------------------+ NEXTINT, depending on the code
//! | MU | code  | id                 | u32               value
//! +----+-------+--------------------+-------------------
//! code 0..3  the value has 1, 2, 4, 8 bytes
//! code 4     NEXTINT is the length of the value in bytes
//! code 5..7  NEXTINT is the first number of the value, and counts the 1, 4 or 8 bytes that follow it
//!
//! XCDR1: each member has a parameter header, then the end marker
//! 15  14   13..0            15..0
//! +---+----+----------------+----------+
//! | x | MU | id             | length   | value          alignment restarts behind the header
//! +---+----+----------------+----------+
//! 0x3f01, 8: u32 flags (bit 30 MU) and id, u32 length follow
//! 0x3f02, 0: end marker            0x3f03: ignored
//! x: vendor-specific id, unknown here
//! ```
//!
//! MU: a reader that does not know the member rejects the sample. Key members do not set MU by themselves, although
//! XTYPES 1.3 requires it. Cyclone DDS does not set it either, because RTI Connext cannot read it there.

/// Encodes how a member header of XCDR2 gives the length of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum LengthCode {
    /// The value has one byte.
    Bytes1,
    /// The value has two bytes.
    Bytes2,
    /// The value has four bytes.
    Bytes4,
    /// The value has eight bytes.
    Bytes8,
    /// The header contains the length.
    NextInt,
    /// The value starts with its length in bytes.
    Shared1,
    /// The value starts with its length in units of four bytes.
    Shared4,
    /// The value starts with its length in units of eight bytes.
    Shared8,
}

impl LengthCode {
    /// Returns the code of sequences of elements with this code.
    pub(super) const fn of_sequence(self, of_primitives: bool) -> Self {
        match self {
            // Other sequences start with their length in bytes.
            _ if !of_primitives => Self::Shared1,
            // The length of the sequence doubles as NEXTINT (XTYPES 1.3, 7.4.3.5.3).
            Self::Bytes1 => Self::Shared1,
            Self::Bytes4 => Self::Shared4,
            Self::Bytes8 => Self::Shared8,
            // No code counts elements of 2 or 16 bytes.
            _ => Self::NextInt,
        }
    }

    /// Returns the code of arrays.
    pub(super) const fn of_array(of_primitives: bool) -> Self {
        // Other arrays start with their DHEADER, which doubles as NEXTINT.
        if of_primitives { Self::NextInt } else { Self::Shared1 }
    }

    /// Returns the code of numbers with this size in bytes.
    pub(super) const fn of_number(size: usize) -> Self {
        match size {
            1 => Self::Bytes1,
            2 => Self::Bytes2,
            4 => Self::Bytes4,
            8 => Self::Bytes8,
            _ => Self::NextInt,
        }
    }
}

/// Mask of the id in a member header of XCDR2.
pub(in crate::cdr) const ID_MASK: u32 = 0x0fff_ffff;
/// Position of the length code in a member header of XCDR2.
pub(super) const CODE_SHIFT: u32 = 28;
/// The must-understand flag in a member header of XCDR2.
pub(super) const MUST_UNDERSTAND: u32 = 1 << 31;
/// Id of the end marker of a mutable struct. Cyclone DDS sends it as 0x7f02, Fast-CDR as 0x3f02.
pub(super) const PID_LIST_END: u16 = 0x3f02;
