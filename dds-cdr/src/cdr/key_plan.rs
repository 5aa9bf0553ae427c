//! Constant offsets of the key in a payload.
//!
//! In most keyed types, only numbers precede the key, so its offsets are the same in every sample. A plan lists the
//! numbers of the key, with their offsets in the payload and in the input of the hash. One string may follow the
//! numbers. Types without a plan are read by a walk ([`walk`](super::walk)).
//!
//! A plan is created once for a type and an encoding, and has at most [`NUMBERS_MAX`] numbers.

use super::key::is_part;
use super::primitive::Number;
use super::shape::{MemberShape, Shape, StructShape, Structure};
use super::{ByteOrder, DecodeError, Decoder, Encoding, Extensibility};

/// Offsets of the key in payloads of one encoding.
#[derive(Debug, Clone)]
pub(super) struct KeyPlan {
    numbers: Box<[KeyNumber]>,
    /// Offset of the string at the end of the key, if any.
    text: Option<usize>,
    /// Bytes that the body needs for the numbers and the length of the string.
    body_len: usize,
    /// Bytes of the numbers in the input of the hash.
    key_len: usize,
    is_delimited: bool,
}

/// Offsets of a number of the key.
#[derive(Debug, Clone, Copy)]
struct KeyNumber {
    /// Offset in the body.
    from: usize,
    /// Offset in the input of the hash.
    to: usize,
    size: usize,
}

/// Walk along a description that creates a plan.
struct KeyPlanner {
    encoding: Encoding,
    numbers: Vec<KeyNumber>,
    text: Option<usize>,
    position: usize,
    key_len: usize,
    depth: usize,
}

impl KeyPlan {
    /// Creates the plan of a type for payloads of this encoding; `None` if offsets are not constant.
    pub(super) fn new<S: Shape>(ty: S, encoding: Encoding) -> Option<Self> {
        let Structure::Struct(description) = ty.structure() else { return None };
        let is_delimited = match (description.extensibility(), encoding) {
            // The members of a mutable struct come in any order, so they have no fixed offsets.
            (Extensibility::Mutable, _) => return None,
            // XCDR1 sends appendable structs like final ones.
            (Extensibility::Appendable, Encoding::Xcdr2) => true,
            _ => false,
        };
        // The DHEADER precedes the members and counts for their alignment.
        let position = if is_delimited { size_of::<u32>() } else { 0 };
        let mut planner = KeyPlanner { encoding, numbers: Vec::new(), text: None, position, key_len: 0, depth: 0 };
        planner.add_struct(description, true)?;
        let KeyPlanner { numbers, text, position, key_len, .. } = planner;
        Some(Self { numbers: numbers.into(), text, body_len: position, key_len, is_delimited })
    }

    /// Writes the input of the hash to `key`, which is empty. `d` is at the start of the body.
    ///
    /// Returns `None` if the payload is too short for the plan. The walk then finds the exact error.
    pub(super) fn copy(&self, mut d: Decoder<'_>, key: &mut Vec<u8>) -> Option<Result<(), DecodeError>> {
        debug_assert!(key.is_empty(), "offsets in the key count from its start");
        let order = d.order();
        let body = self.body(&d, order)?;
        // Zeroed first: the key has padding between numbers of different sizes, and the padding is hashed.
        key.resize(self.key_len, 0);
        for number in &self.numbers {
            number.copy(body, order, key)?;
        }
        // At most one string, and nothing behind it: only its own offset is fixed.
        let Some(offset) = self.text else { return Some(Ok(())) };
        let start = d.position();
        d.bytes(offset).ok()?;
        // The walk would find the same fault, so it need not run.
        let text = match d.text() {
            Ok(text) => text,
            Err(error) => return Some(Err(error)),
        };
        // The string ends behind the delimited body.
        if d.position() - start > body.len() {
            return None;
        }
        // The length of the string is a number of four bytes, and is aligned to four.
        key.resize(key.len().next_multiple_of(4), 0);
        key.extend_from_slice(&(text.len() as u32 + 1).to_be_bytes());
        key.extend_from_slice(text);
        key.push(0);
        Some(Ok(()))
    }

    /// Writes the key to `hash`, for a type whose keys fit into the hash.
    #[inline]
    pub(super) fn copy_short(&self, d: &Decoder<'_>, hash: &mut [u8]) -> Option<()> {
        let order = d.order();
        let body = self.body(d, order)?;
        for number in &self.numbers {
            number.copy(body, order, hash)?;
        }
        Some(())
    }

    /// Returns whether the key has no string.
    pub(super) fn is_of_numbers(&self) -> bool {
        self.text.is_none()
    }

    /// Returns the body, up to its end by the delimiter, if it is long enough for the plan.
    #[inline]
    fn body<'de>(&self, d: &Decoder<'de>, order: ByteOrder) -> Option<&'de [u8]> {
        let mut body = d.rest();
        if self.is_delimited {
            let delimiter = u32::from_bytes(*body.first_chunk()?, order) as usize;
            // A DHEADER that is longer than the payload is left to the walk, which reports it with its offset.
            body = body.get(..delimiter.checked_add(size_of::<u32>())?)?;
        }
        // An older type of the sender ends earlier. The walk knows which members may be missing.
        if body.len() < self.body_len {
            return None;
        }
        Some(body)
    }
}

impl KeyNumber {
    /// Copies the number. A constant size in each branch compiles to one load and one store.
    #[inline]
    fn copy(&self, body: &[u8], order: ByteOrder, key: &mut [u8]) -> Option<()> {
        match self.size {
            1 => self.copy_bytes::<1>(body, order, key),
            2 => self.copy_bytes::<2>(body, order, key),
            4 => self.copy_bytes::<4>(body, order, key),
            8 => self.copy_bytes::<8>(body, order, key),
            _ => self.copy_bytes::<16>(body, order, key),
        }
    }

    #[inline]
    fn copy_bytes<const N: usize>(&self, body: &[u8], order: ByteOrder, key: &mut [u8]) -> Option<()> {
        let mut bytes = *body.get(self.from..)?.first_chunk::<N>()?;
        // The input of the hash is big endian.
        if order == ByteOrder::Little {
            bytes.reverse();
        }
        *key.get_mut(self.to..)?.first_chunk_mut()? = bytes;
        Some(())
    }
}

impl KeyPlanner {
    /// Adds the members of a struct, up to the last key member.
    fn add_struct<S: StructShape>(&mut self, description: S, is_key: bool) -> Option<()> {
        self.depth += 1;
        // The hash has the order of the ids, and a plan copies in the order of the payload.
        let is_in_order = !is_key || description.ids_ascend();
        let is_plain = self.depth == 1 || self.is_plain(description.extensibility());
        if self.depth > DEPTH_MAX || !is_in_order || !is_plain {
            return None;
        }
        let members = description.members();
        let last = members.clone().rposition(|member| is_part(description, member));
        // Values may follow an inner struct, so its whole length is needed.
        let end = if self.depth == 1 { last.map_or(0, |last| last + 1) } else { members.len() };
        for member in members.take(end) {
            // The flag decides at run time whether the next members move.
            if member.is_optional() {
                return None;
            }
            // Members outside of the key are added as well: they move the key members behind them.
            self.add(member.ty(), is_key && is_part(description, member))?;
        }
        self.depth -= 1;
        Some(())
    }

    /// Returns whether the encoding of a struct is only its members.
    fn is_plain(&self, extensibility: Extensibility) -> bool {
        match extensibility {
            Extensibility::Final => true,
            Extensibility::Appendable => self.encoding == Encoding::Xcdr1,
            Extensibility::Mutable => false,
        }
    }

    /// Adds a member; `None` if the offsets behind it are not constant.
    fn add<S: Shape>(&mut self, ty: S, is_key: bool) -> Option<()> {
        // Offsets behind a string vary.
        if self.text.is_some() {
            return None;
        }
        if let Some(size) = ty.number_size() {
            return self.add_numbers(size, 1, is_key);
        }
        match ty.structure() {
            Structure::Array => {
                let (count, element) = ty.dimensions();
                // Arrays of structs are rare in keys, and would need a loop in the plan.
                self.add_numbers(element.primitive_size()?, count, is_key)
            }
            Structure::Struct(description) => self.add_struct(description, is_key),
            Structure::String(_) if is_key => {
                self.position = self.position.next_multiple_of(4);
                self.text = Some(self.position);
                self.position += size_of::<u32>();
                Some(())
            }
            _ => None,
        }
    }

    fn add_numbers(&mut self, size: usize, count: usize, is_key: bool) -> Option<()> {
        if count == 0 {
            return Some(());
        }
        // An empty run has no padding, as in `Encoder::numbers`, so this follows the check for 0.
        self.position = self.position.next_multiple_of(size.min(self.encoding.alignment_max()));
        if is_key {
            if self.numbers.len().checked_add(count)? > NUMBERS_MAX {
                return None;
            }
            // This participant hashes by the rules of XCDR2, for payloads of both encodings.
            self.key_len = self.key_len.next_multiple_of(size.min(Encoding::Xcdr2.alignment_max()));
            for index in 0..count {
                let (from, to) = (self.position + index * size, self.key_len + index * size);
                self.numbers.push(KeyNumber { from, to, size });
            }
            self.key_len += count * size;
        }
        self.position = self.position.checked_add(size.checked_mul(count)?)?;
        Some(())
    }
}

/// Largest number of numbers in a plan, more than real keys have.
const NUMBERS_MAX: usize = 64;
/// Limit of nested structs in front of the key. It ends the walk along a type that contains itself.
const DEPTH_MAX: usize = 16;
