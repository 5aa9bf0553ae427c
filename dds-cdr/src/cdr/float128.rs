//! `long double`: a number of 16 bytes, which has no stable Rust type.
//!
//! XCDR1 aligns it to 8 bytes and XCDR2 to 4, the maximum of each (XTYPES 1.3, 7.4.1.1.1 and 7.4.2).

use super::primitive::{Number, plain_value};
use super::{
    ByteOrder, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, KeyMember, LengthCode, Primitive,
    TypeDescription, TypeInfo, TypeKind, WholeKey,
};

/// A `long double`: the 16 bytes of an IEEE 754 binary128, without arithmetic.
///
/// Two values are equal if their bits are equal.
///
/// ```
/// # mod dds_core { pub use dds_cdr::cdr; }
/// use dds_core::cdr::F128;
///
/// assert_eq!(F128::from(1.0).to_bits() >> 112, 0x3fff); // sign and exponent
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct F128(u128);

impl F128 {
    /// Creates the number from its bits: sign, 15 bits of exponent, 112 bits of fraction.
    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// Returns the bits: sign, 15 bits of exponent, 112 bits of fraction.
    #[must_use]
    pub const fn to_bits(self) -> u128 {
        self.0
    }
}

/// Converts without loss.
impl From<f64> for F128 {
    fn from(number: f64) -> Self {
        let bits = number.to_bits();
        // IEEE 754 binary128: 1 bit sign, 15 bits exponent, 112 bits fraction. The last 60 bits are new.
        let sign = u128::from(bits >> 63) << 127;
        let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
        let (exponent, fraction) = match (exponent, fraction) {
            (0, 0) => (0, 0),
            // A number that is subnormal in 64 bits is normal in 128: its highest bit becomes the implicit one.
            (0, _) => {
                let shift = u64::from(fraction.leading_zeros()) - 11;
                (BIAS_DIFFERENCE + 1 - shift, fraction << shift & ((1 << 52) - 1))
            }
            // Infinity, and NaN with its payload.
            (0x7ff, _) => (0x7fff, fraction),
            // Each exponent of 64 bits fits, so no value is rounded.
            _ => (exponent + BIAS_DIFFERENCE, fraction),
        };
        Self(sign | u128::from(exponent) << 112 | u128::from(fraction) << 60)
    }
}

impl Number<16> for u128 {
    #[inline]
    fn to_bytes(self, order: ByteOrder) -> [u8; 16] {
        match order {
            ByteOrder::Little => self.to_le_bytes(),
            ByteOrder::Big => self.to_be_bytes(),
        }
    }

    #[inline]
    fn from_bytes(bytes: [u8; 16], order: ByteOrder) -> Self {
        match order {
            ByteOrder::Little => Self::from_le_bytes(bytes),
            ByteOrder::Big => Self::from_be_bytes(bytes),
        }
    }
}

impl Primitive for F128 {
    #[inline]
    fn read(bytes: &[u8], order: ByteOrder) -> Self {
        Self(u128::from_bytes(bytes.first_chunk().copied().unwrap_or_default(), order))
    }
}

impl Encode for F128 {
    const IS_PRIMITIVE: bool = true;
    const LENGTH_CODE: LengthCode = LengthCode::of_number(16);

    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let order = e.order();
        e.number(self.0.to_bytes(order));
        Ok(())
    }

    #[inline]
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for F128 {
    const IS_PRIMITIVE: bool = true;
    const SIZE_MIN: usize = 16;

    #[inline]
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        d.number().map(Self)
    }

    #[inline]
    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self::default())
    }
}

plain_value!(F128, Float128, "float128");

/// Difference of the exponents of both formats for the same number: 16383 - 1023.
const BIAS_DIFFERENCE: u64 = 15360;
