//! Types that are encoded as one number: enums, bitmasks and bitsets.
//!
//! An enum has the fewest bytes for its bit bound: 1, 2 or 4. Bitmasks and bitsets have up to 8 (XTYPES 1.3, 7.4.1.1).
//! A bitmask names single bits, and position 0 is the least significant one. The fields of a bitset are adjacent,
//! starting at bit 0. Negative values are in two's complement, like those of Fast DDS.

use super::{EncodeError, Extensibility, LengthCode};

/// An enum without data.
#[derive(Debug, Clone, Copy)]
pub struct EnumDescription {
    extensibility: Extensibility,
    bit_bound: u8,
    literals: &'static [EnumLiteralDescription],
    /// Index of the default literal.
    default: usize,
}

/// A literal of an enum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnumLiteralDescription {
    name: &'static str,
    value: i32,
}

/// A set of named bits.
#[derive(Debug, Clone, Copy)]
pub struct BitmaskDescription {
    extensibility: Extensibility,
    bit_bound: u8,
    flags: &'static [BitflagDescription],
}

/// A named bit of a bitmask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitflagDescription {
    name: &'static str,
    position: u8,
}

/// Fields of a few bits that share one number.
#[derive(Debug, Clone, Copy)]
pub struct BitsetDescription {
    fields: &'static [BitfieldDescription],
}

/// A field of a bitset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitfieldDescription {
    name: &'static str,
    position: u8,
    bit_count: u8,
    is_signed: bool,
    /// Number of bits of the field's Rust type.
    width: u8,
}

impl EnumDescription {
    pub(super) const fn new(
        extensibility: Extensibility,
        bit_bound: u8,
        literals: &'static [EnumLiteralDescription],
    ) -> Self {
        assert!(bit_bound >= 1 && bit_bound <= 32, "an enum has 1 to 32 bits");
        // Zero is in the range of each width, so it can start both.
        let (mut least, mut greatest, mut index) = (0, 0, 0);
        while index < literals.len() {
            let value = literals[index].value as i64;
            least = if value < least { value } else { least };
            greatest = if value > greatest { value } else { greatest };
            index += 1;
        }
        // A sign takes one bit.
        let limit = 1_i64 << if least < 0 { bit_bound - 1 } else { bit_bound };
        assert!(least >= -limit && greatest < limit, "a literal of the enum needs more bits than `bit_bound`");
        // Without `@default_literal` the first literal is the default.
        Self { extensibility, bit_bound, literals, default: 0 }
    }

    pub(super) const fn with_default(self, index: usize) -> Self {
        assert!(index < self.literals.len(), "the enum has no such literal");
        Self { default: index, ..self }
    }

    /// Returns the default literal, the value of members that were not sent.
    #[must_use]
    pub fn default_literal(&self) -> Option<&'static EnumLiteralDescription> {
        // `None` only for an enum without literals.
        self.literals.get(self.default)
    }

    /// Returns the number of bits, 1 to 32.
    #[must_use]
    pub const fn bit_bound(&self) -> u8 {
        self.bit_bound
    }

    /// Returns the size of a value in bytes: 1, 2 or 4.
    #[must_use]
    pub const fn size(&self) -> usize {
        size_of_bits(self.bit_bound)
    }

    /// Returns the extensibility.
    #[must_use]
    pub const fn extensibility(&self) -> Extensibility {
        self.extensibility
    }

    /// Returns the literals in the order of definition.
    #[must_use]
    pub const fn literals(&self) -> &'static [EnumLiteralDescription] {
        self.literals
    }
}

impl EnumLiteralDescription {
    /// Creates the literal `name` with this value.
    ///
    /// # Panics
    /// The value does not fit into `i32`. In a constant, this is a compile error.
    #[must_use]
    pub const fn new(name: &'static str, value: i128) -> Self {
        // Rust allows discriminants up to `u64::MAX`, so the parameter has more bits.
        assert!(value >= i32::MIN as i128 && value <= i32::MAX as i128, "the numbers of a DDS enum fit into `i32`");
        Self { name, value: value as i32 }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the value on the wire.
    #[must_use]
    pub const fn value(&self) -> i32 {
        self.value
    }
}

impl BitmaskDescription {
    pub(super) const fn new(extensibility: Extensibility, bit_bound: u8, flags: &'static [BitflagDescription]) -> Self {
        assert!(bit_bound >= 1 && bit_bound <= 64, "a bitmask has 1 to 64 bits");
        let (mut seen, mut index) = (0_u64, 0);
        while index < flags.len() {
            // Before the shift, which overflows for a position of 64 or more.
            assert!(flags[index].position < bit_bound, "a flag lies beyond the bit bound");
            let bit = 1 << flags[index].position;
            assert!(seen & bit == 0, "two flags have the same position");
            seen |= bit;
            index += 1;
        }
        Self { extensibility, bit_bound, flags }
    }

    /// Returns the number of bits, 1 to 64.
    #[must_use]
    pub const fn bit_bound(&self) -> u8 {
        self.bit_bound
    }

    /// Returns the size of a value in bytes: 1, 2, 4 or 8.
    #[must_use]
    pub const fn size(&self) -> usize {
        size_of_bits(self.bit_bound)
    }

    /// Returns the extensibility.
    #[must_use]
    pub const fn extensibility(&self) -> Extensibility {
        self.extensibility
    }

    /// Returns the named bits in the order of definition.
    #[must_use]
    pub const fn flags(&self) -> &'static [BitflagDescription] {
        self.flags
    }
}

impl BitflagDescription {
    /// Creates the bit `name` at `position`; 0 is the least significant bit.
    #[must_use]
    pub const fn new(name: &'static str, position: u8) -> Self {
        Self { name, position }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the index of the bit; 0 is the least significant bit.
    #[must_use]
    pub const fn position(&self) -> u8 {
        self.position
    }
}

impl BitsetDescription {
    pub(super) const fn new(fields: &'static [BitfieldDescription]) -> Self {
        let (mut end, mut index) = (0, 0);
        while index < fields.len() {
            assert!(fields[index].position >= end, "two fields of the bitset overlap");
            assert!(fields[index].bit_count >= 1 && fields[index].bit_count <= 64, "a bitfield has 1 to 64 bits");
            end = fields[index].position + fields[index].bit_count;
            assert!(end <= 64, "the fields of a bitset have 64 bits together at most");
            index += 1;
        }
        // `bit_bound` reads the last field, so there must be one.
        assert!(end >= 1, "a bitset needs at least one bit");
        Self { fields }
    }

    /// Returns the number of bits of all fields.
    #[must_use]
    pub const fn bit_bound(&self) -> u8 {
        // `new` demands at least one field, and ascending positions.
        let last = self.fields[self.fields.len() - 1];
        last.position + last.bit_count
    }

    /// Returns the size of a value in bytes: 1, 2, 4 or 8.
    #[must_use]
    pub const fn size(&self) -> usize {
        size_of_bits(self.bit_bound())
    }

    /// Returns the fields, starting at the least significant bit.
    #[must_use]
    pub const fn fields(&self) -> &'static [BitfieldDescription] {
        self.fields
    }
}

impl BitfieldDescription {
    /// Creates the field `name` of `bit_count` bits from `position`, with values of type `T`.
    #[must_use]
    pub const fn new<T: BitfieldValue>(name: &'static str, position: u8, bit_count: u8) -> Self {
        Self { name, position, bit_count, is_signed: T::IS_SIGNED, width: T::WIDTH }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the index of the least significant bit.
    #[must_use]
    pub const fn position(&self) -> u8 {
        self.position
    }

    /// Returns the number of bits.
    #[must_use]
    pub const fn bit_count(&self) -> u8 {
        self.bit_count
    }

    /// Returns whether the highest bit is the sign.
    #[must_use]
    pub const fn is_signed(&self) -> bool {
        self.is_signed
    }

    /// Returns the number of bits of the field's Rust type: 8, 16, 32 or 64, and 1 for `bool`.
    #[must_use]
    pub const fn width(&self) -> u8 {
        self.width
    }
}

/// Returns the length code of a number with this many bits, for a member header of XCDR2.
#[doc(hidden)]
#[must_use]
pub const fn length_code_of_bits(bit_bound: u8) -> LengthCode {
    LengthCode::of_number(size_of_bits(bit_bound))
}

pub(super) const fn size_of_bits(bit_bound: u8) -> usize {
    match bit_bound {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        _ => 8,
    }
}

/// Returns a mask of the bits that a type of `bit_bound` bits does not have.
pub(super) const fn beyond(bit_bound: u8) -> u64 {
    // A shift by 64 overflows.
    if bit_bound >= 64 { 0 } else { u64::MAX << bit_bound }
}

/// A value that can be a field of a bitset: a `bool` or an integer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a bitset",
    note = "these can: bool, i8..i64, u8..u64"
)]
pub trait BitfieldValue: Copy {
    /// Whether the value can be negative.
    const IS_SIGNED: bool;
    /// Number of bits: 8, 16, 32 or 64, and 1 for `bool`.
    const WIDTH: u8;

    /// Returns the lowest `bit_count` bits.
    ///
    /// # Errors
    /// The value needs more bits.
    fn to_bits(self, bit_count: u8) -> Result<u64, EncodeError>;

    /// Creates the value from its lowest `bit_count` bits.
    fn from_bits(bits: u64, bit_count: u8) -> Self;
}

impl BitfieldValue for bool {
    const IS_SIGNED: bool = false;
    const WIDTH: u8 = 1;

    #[inline]
    fn to_bits(self, _: u8) -> Result<u64, EncodeError> {
        Ok(self.into())
    }

    #[inline]
    fn from_bits(bits: u64, _: u8) -> Self {
        // The bits above belong to the next field.
        bits & 1 != 0
    }
}

macro_rules! bitfield_value {
    ($($unsigned:ty, $signed:ty;)*) => {$(
        impl BitfieldValue for $unsigned {
            const IS_SIGNED: bool = false;
            const WIDTH: u8 = Self::BITS as u8;

            #[inline]
            fn to_bits(self, bit_count: u8) -> Result<u64, EncodeError> {
                // A value with more bits would overwrite the next field.
                match u64::from(self) {
                    bits if bits & beyond(bit_count) == 0 => Ok(bits),
                    _ => Err(EncodeError::TooManyBits { bit_bound: bit_count }),
                }
            }

            #[inline]
            fn from_bits(bits: u64, bit_count: u8) -> Self {
                // The bits above belong to the next field.
                (bits & !beyond(bit_count)) as Self
            }
        }

        impl BitfieldValue for $signed {
            const IS_SIGNED: bool = true;
            const WIDTH: u8 = Self::BITS as u8;

            #[inline]
            fn to_bits(self, bit_count: u8) -> Result<u64, EncodeError> {
                let bits = i64::from(self) as u64 & !beyond(bit_count);
                // The value is too large if the bits do not give it back.
                if Self::from_bits(bits, bit_count) != self {
                    return Err(EncodeError::TooManyBits { bit_bound: bit_count });
                }
                Ok(bits)
            }

            #[inline]
            fn from_bits(bits: u64, bit_count: u8) -> Self {
                // Shift to the top, then back with copies of the sign.
                let shift = u32::from(64_u8.saturating_sub(bit_count));
                let top = bits.checked_shl(shift).unwrap_or_default() as i64;
                top.checked_shr(shift).unwrap_or_default() as Self
            }
        }
    )*};
}

bitfield_value! {
    u8, i8;
    u16, i16;
    u32, i32;
    u64, i64;
}
