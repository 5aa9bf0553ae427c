//! Key hash of an encoded sample, found by the description of its type.
//!
//! The walk runs no user code and decodes no values. It copies the key members in the form that the key hash needs,
//! skips all other bytes, and stops after the last key member.
//!
//! Three other modules read encoded bytes by description. `field_plan` skips unwanted values with [`skip_value`].
//! `key_plan` replaces this walk where offsets are constant. `dynamic/decode` builds values and has their limits.
//! They share [`Shape`] and [`Decoder`], but not a visitor: early stops and the order of keys differ, and a visitor
//! adds calls for each value of a sample.
//!
//! Bound: each step consumes payload bytes or a member of a description, and [`DEPTH_MAX`] ends recursion. The copy is
//! never longer than the payload plus its alignment (at most 8 bytes per byte).

use super::decoder::DecoderFrame;
use super::key::is_part;
use super::primitive::Number;
use super::shape::{MemberShape, Selected, Shape, StructShape, Structure, UnionShape};
use super::union::DISCRIMINATOR_ID;
use super::{Decode, Encode};
use super::{
    DecodeError, DecodeErrorKind, Decoder, EncodeError, Encoder, Encoding, Extensibility, Primitive, TypeDescription,
    key,
};
use crate::InstanceHandle;
use smallvec::SmallVec;

/// Returns the instance of the sample in `payload`; [`InstanceHandle::NIL`] if its type has no key.
///
/// The result is the key hash of XCDR2, for any encoding of the payload. `is_key`: the payload is a serialized key
/// instead of a whole sample. `scratch` is cleared first; its capacity is reused.
///
/// # Errors
/// The payload is not a value of this type. Bytes after the last key member are not checked.
pub fn instance_of_payload(
    ty: &TypeDescription,
    payload: &[u8],
    is_key: bool,
    scratch: &mut Vec<u8>,
) -> Result<InstanceHandle, DecodeError> {
    if !ty.has_key() {
        return Ok(InstanceHandle::NIL);
    }
    let d = Decoder::of_payload_for(payload, Some(ty.extensibility()))?;
    scratch.clear();
    key_of_payload(ty, d, is_key, Encoder::for_key_hash(scratch, Encoding::Xcdr2))?;
    Ok(key::hash(ty, Encoding::Xcdr2, scratch))
}

/// Returns the key hash of a payload, by the rules of the payload's own encoding (RTPS 2.5, 9.6.4.8).
///
/// The content of `scratch` stays; the function appends to it and truncates it again.
///
/// # Errors
/// As [`instance_of_payload`].
pub fn key_hash_of_payload(
    ty: &TypeDescription,
    payload: &[u8],
    is_key: bool,
    scratch: &mut Vec<u8>,
) -> Result<InstanceHandle, DecodeError> {
    if !ty.has_key() {
        return Ok(InstanceHandle::NIL);
    }
    key_hash_by(ty, ty.extensibility(), payload, is_key, HashForm::Readable, scratch)
}

/// Whether a key hash may show its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HashForm {
    /// A short key is its own hash.
    Readable,
    /// The hash of each key is its MD5.
    Hidden,
}

/// [`key_hash_of_payload`] for a type that has a key, constant or dynamic.
pub(super) fn key_hash_by<S: Shape>(
    ty: S,
    extensibility: Extensibility,
    payload: &[u8],
    is_key: bool,
    form: HashForm,
    scratch: &mut Vec<u8>,
) -> Result<InstanceHandle, DecodeError> {
    let d = Decoder::of_payload_for(payload, Some(extensibility))?;
    let (encoding, start) = (d.encoding(), scratch.len());
    let result = key_of_payload(ty, d, is_key, Encoder::for_key_hash(scratch, encoding));
    let key = scratch.get(start..).unwrap_or_default();
    let hash = match form {
        HashForm::Readable => key::hash(ty, encoding, key),
        HashForm::Hidden => key::hash_of_bytes(false, key),
    };
    // Before the result is examined, because the caller goes on to use the buffer after an error.
    scratch.truncate(start);
    result?;
    Ok(hash)
}

/// Writes the key of a payload to `output`. `d` is at the start of the body.
pub(super) fn key_of_payload<S: Shape>(
    ty: S,
    mut d: Decoder<'_>,
    is_key: bool,
    output: Encoder<'_>,
) -> Result<(), DecodeError> {
    // The budget goes on where the decoder has it, so nested walks cannot multiply it.
    let mut walk = KeyWalk { output, is_key, depth: 0, empty_values_left: *d.empty_values_left_mut() };
    match walk.copy(ty, &mut d) {
        Ok(()) => {
            debug_assert_eq!(walk.depth, 0, "the walk leaves every level that it enters");
            Ok(())
        }
        Err(CopyFailure::Input(error)) => Err(error),
        // Lengths have 32 bits on both sides, so only a key of more than 4 GB cannot be written.
        Err(CopyFailure::Output) => Err(d.error(DecodeErrorKind::LengthBeyondInput { length: u32::MAX })),
    }
}

/// Skips a value. An optional one is skipped together with its presence flag or header.
pub(super) fn skip_value<S: Shape>(ty: S, is_optional: bool, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    // An empty vector allocates nothing, and skipping writes nothing.
    let (mut scratch, encoding) = (Vec::new(), d.encoding());
    let mut walk = KeyWalk {
        output: Encoder::for_key_hash(&mut scratch, encoding),
        is_key: false,
        depth: 0,
        empty_values_left: *d.empty_values_left_mut(),
    };
    let result = if is_optional { walk.skip_optional(ty, d) } else { walk.skip(ty, d) };
    *d.empty_values_left_mut() = walk.empty_values_left;
    debug_assert!(result.is_err() || walk.depth == 0, "the walk leaves every level that it enters");
    result
}

/// State of a walk along one payload.
struct KeyWalk<'b> {
    output: Encoder<'b>,
    /// The payload is a serialized key, without other members.
    is_key: bool,
    /// Number of structs and unions that enclose the present value.
    depth: usize,
    /// Remaining budget for values without bytes. The walk clones decoders, so a budget inside of them would not add
    /// up.
    empty_values_left: u32,
}

/// Error of the input, or of the output.
enum CopyFailure {
    Input(DecodeError),
    Output,
}

impl From<DecodeError> for CopyFailure {
    fn from(error: DecodeError) -> Self {
        Self::Input(error)
    }
}

impl From<EncodeError> for CopyFailure {
    fn from(_: EncodeError) -> Self {
        Self::Output
    }
}

impl KeyWalk<'_> {
    /// Copies the key part of a value.
    fn copy<S: Shape>(&mut self, ty: S, d: &mut Decoder<'_>) -> Result<(), CopyFailure> {
        if let Some(size) = ty.number_size() {
            return self.copy_numbers(size, 1, d);
        }
        match ty.structure() {
            Structure::String(_) => {
                let text = d.text()?;
                self.output.length(text.len() + 1)?;
                self.output.bytes(text);
                self.output.bytes(&[0]);
                Ok(())
            }
            Structure::WString(_) => {
                let order = d.order();
                let text = d.wide_text()?;
                // The length in bytes is the same in both encodings and both byte orders.
                self.output.length(text.len())?;
                for unit in text.chunks_exact(2) {
                    u16::read(unit, order).encode(&mut self.output)?;
                }
                Ok(())
            }
            Structure::Sequence(_, element) => self.copy_elements(None, element, d),
            Structure::Array => {
                let (count, element) = ty.dimensions();
                self.copy_elements(Some(count), element, d)
            }
            Structure::Map(key, element) => self.copy_entries(key, element, d),
            Structure::Struct(description) => self.copy_struct(description, d),
            Structure::Union(description) => self.copy_union(description, d),
            Structure::Number => {
                debug_assert!(false, "every number has a size, which is checked above");
                Ok(())
            }
        }
    }

    /// Copies a map. The derive rejects maps in keys, because their entries have no order. Other descriptions may
    /// contain them.
    fn copy_entries<S: Shape>(&mut self, key: S, element: S, d: &mut Decoder<'_>) -> Result<(), CopyFailure> {
        let (input, output) = if is_of_primitives(key, element) {
            (None, None)
        } else {
            (d.enter_delimited()?, self.output.enter_delimited()?)
        };
        let count = d.length(1)?;
        self.output.length(count)?;
        for _ in 0..count {
            self.copy(key, d)?;
            self.copy(element, d)?;
        }
        d.leave(input);
        self.output.leave_delimited(output)?;
        Ok(())
    }

    /// Copies the discriminator, and the member unless the discriminator is the key.
    fn copy_union<U: UnionShape>(&mut self, description: U, d: &mut Decoder<'_>) -> Result<(), CopyFailure> {
        if description.extensibility() == Extensibility::Mutable {
            return self.copy_mutable_union(description, d);
        }
        let frame = self.enter_type(description.extensibility(), d)?;
        let bits = self.copy_discriminator(description, d)?;
        let case = selected(description, bits, d)?;
        match case.ty {
            None => {}
            // A serialized key contains only the discriminator.
            Some(_) if description.has_key() && self.is_key => {}
            Some(ty) if description.has_key() => self.skip(ty, d)?,
            Some(ty) => self.copy(ty, d)?,
        }
        d.leave(frame);
        self.depth -= 1;
        Ok(())
    }

    fn copy_mutable_union<U: UnionShape>(&mut self, description: U, d: &mut Decoder<'_>) -> Result<(), CopyFailure> {
        self.enter_level(d)?;
        // The discriminator may follow its member, so it is searched before.
        let mut discriminator = mutable_discriminator(d)?;
        let bits = self.copy_discriminator(description, &mut discriminator)?;
        let case = selected(description, bits, d)?;
        let mut value = None;
        d.members(|d, id| {
            let is_member = case.ty.is_some() && id == case.id;
            if is_member {
                // Of a repeated member the last one counts, as in the decoder.
                value = Some(d.clone());
            }
            Ok(is_member || id == DISCRIMINATOR_ID)
        })?;
        if let (Some(ty), false) = (case.ty, description.has_key()) {
            let Some(mut value) = value else { return Err(d.error(DecodeErrorKind::MissingMember).into()) };
            self.copy(ty, &mut value)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Copies a discriminator, and returns its bits.
    fn copy_discriminator<U: UnionShape>(&mut self, description: U, d: &mut Decoder<'_>) -> Result<u64, CopyFailure> {
        let size = description.discriminator().number_size().unwrap_or(1);
        let bits = bits_of(size, &mut d.clone())?;
        self.copy_numbers(size, 1, d)?;
        Ok(bits)
    }

    fn copy_numbers(&mut self, size: usize, count: usize, d: &mut Decoder<'_>) -> Result<(), CopyFailure> {
        for _ in 0..count {
            match size {
                1 => u8::decode(d)?.encode(&mut self.output)?,
                2 => u16::decode(d)?.encode(&mut self.output)?,
                4 => u32::decode(d)?.encode(&mut self.output)?,
                8 => u64::decode(d)?.encode(&mut self.output)?,
                _ => {
                    debug_assert_eq!(size, 16, "only a long double has another size");
                    let number: u128 = d.number()?;
                    self.output.number(number.to_bytes(self.output.order()));
                }
            }
        }
        Ok(())
    }

    /// Copies the elements of an array of `count` elements, or of a sequence.
    fn copy_elements<S: Shape>(
        &mut self,
        count: Option<usize>,
        element: S,
        d: &mut Decoder<'_>,
    ) -> Result<(), CopyFailure> {
        let size = element.primitive_size();
        // Collections of primitives have no DHEADER.
        let (input, output) = match size {
            Some(_) => (None, None),
            None => (d.enter_delimited()?, self.output.enter_delimited()?),
        };
        let count = match count {
            Some(count) => self.array_length(count, d)?,
            None => {
                let count = d.length(size.unwrap_or(0))?;
                self.output.length(count)?;
                count
            }
        };
        match size {
            // Bytes have no order and no alignment, so one copy takes them all.
            Some(1) => self.output.bytes(d.bytes(count)?),
            Some(size) => self.copy_numbers(size, count, d)?,
            None => {
                for _ in 0..count {
                    self.copy(element, d)?;
                }
            }
        }
        d.leave(input);
        self.output.leave_delimited(output)?;
        Ok(())
    }

    /// Copies the key members of a struct.
    fn copy_struct<S: StructShape>(&mut self, description: S, d: &mut Decoder<'_>) -> Result<(), CopyFailure> {
        if description.extensibility() == Extensibility::Mutable {
            return self.copy_mutable(description, d);
        }
        let frame = self.enter_type(description.extensibility(), d)?;
        if frame.is_none() && description.members().next().is_none() {
            self.count_empty_value(d)?;
        }
        // The rest of the struct is not read at all if its end is known.
        let last = description.members().rposition(|member| is_part(description, member));
        // Bytes after the last key member matter only if other values follow this one and its length is unknown.
        let may_stop = frame.is_some() || self.depth == 1;
        let is_sorted = !self.output.keys_by_id() || description.ids_ascend();
        // Key members that must move behind members with smaller ids.
        let mut found = SmallVec::<[(S::Member, Decoder<'_>); 4]>::new();
        for (index, member) in description.members().enumerate() {
            if may_stop && Some(index) > last {
                break;
            }
            if !is_part(description, member) {
                // A serialized key contains only key members.
                if !self.is_key {
                    self.skip_member(member, d)?;
                }
            } else if is_sorted {
                self.copy_member(member, d)?;
            } else {
                // A decoder is a position in the payload, so remembering it is cheap.
                found.push((member, d.clone()));
                self.skip_member(member, d)?;
            }
        }
        found.sort_unstable_by_key(|(member, _)| member.id());
        for (member, mut value) in found {
            self.copy_member(member, &mut value)?;
        }
        d.leave(frame);
        self.depth -= 1;
        Ok(())
    }

    /// Copies the key members of a mutable struct, which arrive in any order. The last of several values of one member
    /// counts, as in decoding.
    fn copy_mutable<S: StructShape>(&mut self, description: S, d: &mut Decoder<'_>) -> Result<(), CopyFailure> {
        self.enter_level(d)?;
        let mut found = SmallVec::<[(u32, Decoder<'_>); 4]>::new();
        d.members(|d, id| {
            let Some(member) = description.members().find(|member| member.id() == id) else { return Ok(false) };
            if is_part(description, member) {
                match found.iter_mut().find(|(other, _)| *other == id) {
                    Some((_, value)) => *value = d.clone(),
                    None => found.push((id, d.clone())),
                }
            }
            Ok(true)
        })?;
        for member in key::ordered_key_members(description, self.output.keys_by_id()) {
            let value = found.iter_mut().find(|(id, _)| *id == member.id()).map(|(_, value)| value);
            self.copy_found(member, value, d)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Copies a member of a mutable struct. `d` is behind the end of the struct.
    fn copy_found<M: MemberShape>(
        &mut self,
        member: M,
        value: Option<&mut Decoder<'_>>,
        d: &Decoder<'_>,
    ) -> Result<(), CopyFailure> {
        if !member.is_optional() {
            // A key has no default: each writer must send it.
            let Some(value) = value else { return Err(d.error(DecodeErrorKind::MissingMember).into()) };
            return self.copy(member.ty(), value);
        }
        let is_present = value.is_some();
        let output = self.output.enter_optional(member.id(), is_present)?;
        if let Some(value) = value {
            self.copy(member.ty(), value)?;
        }
        self.output.leave_optional(output, is_present)?;
        Ok(())
    }

    fn copy_member<M: MemberShape>(&mut self, member: M, d: &mut Decoder<'_>) -> Result<(), CopyFailure> {
        if !member.is_optional() {
            return self.copy(member.ty(), d);
        }
        let (is_present, input) = d.enter_optional()?;
        let output = self.output.enter_optional(member.id(), is_present)?;
        if is_present {
            self.copy(member.ty(), d)?;
        }
        d.leave(input);
        self.output.leave_optional(output, is_present)?;
        Ok(())
    }

    fn skip_member<M: MemberShape>(&mut self, member: M, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        if member.is_optional() { self.skip_optional(member.ty(), d) } else { self.skip(member.ty(), d) }
    }

    fn skip_optional<S: Shape>(&mut self, ty: S, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let (is_present, frame) = d.enter_optional()?;
        // In XCDR1 the header of the member contains its length, so leaving the frame skips the value.
        if is_present && frame.is_none() {
            self.skip(ty, d)?;
        }
        d.leave(frame);
        Ok(())
    }

    /// Skips a value.
    fn skip<S: Shape>(&mut self, ty: S, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        if let Some(size) = ty.number_size() {
            return skip_numbers(size, 1, d);
        }
        match ty.structure() {
            Structure::String(_) | Structure::WString(_) => {
                let length = d.length(1)?;
                d.bytes(length)?;
                Ok(())
            }
            Structure::Sequence(_, element) => self.skip_elements(None, element, d),
            Structure::Array => {
                let (count, element) = ty.dimensions();
                self.skip_elements(Some(count), element, d)
            }
            Structure::Map(key, element) => self.skip_entries(key, element, d),
            Structure::Struct(description) => self.skip_struct(description, d),
            Structure::Union(description) => self.skip_union(description, d),
            Structure::Number => {
                debug_assert!(false, "every number has a size, which is checked above");
                Ok(())
            }
        }
    }

    fn skip_entries<S: Shape>(&mut self, key: S, element: S, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        // With a DHEADER, one step skips the map as a whole.
        if !is_of_primitives(key, element) {
            if let frame @ Some(_) = d.enter_delimited()? {
                d.leave(frame);
                return Ok(());
            }
        }
        for _ in 0..d.length(1)? {
            self.skip(key, d)?;
            self.skip(element, d)?;
        }
        Ok(())
    }

    fn skip_union<U: UnionShape>(&mut self, description: U, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        if description.extensibility() == Extensibility::Mutable {
            return d.pass_members();
        }
        let frame = self.enter_type(description.extensibility(), d)?;
        if frame.is_none() {
            let size = description.discriminator().number_size().unwrap_or(1);
            let bits = bits_of(size, d)?;
            // No bytes follow a discriminator that selects no member. An unknown one is not an error here.
            if let Some(ty) = description.selected_by(bits, size).and_then(|case| case.ty) {
                self.skip(ty, d)?;
            }
        }
        d.leave(frame);
        self.depth -= 1;
        Ok(())
    }

    fn skip_elements<S: Shape>(
        &mut self,
        count: Option<usize>,
        element: S,
        d: &mut Decoder<'_>,
    ) -> Result<(), DecodeError> {
        let size = element.primitive_size();
        // With a DHEADER, one step skips the collection as a whole.
        if size.is_none() {
            if let frame @ Some(_) = d.enter_delimited()? {
                d.leave(frame);
                return Ok(());
            }
        }
        let count = match count {
            Some(count) => self.array_length(count, d)?,
            None => d.length(size.unwrap_or(0))?,
        };
        match size {
            Some(size) => skip_numbers(size, count, d),
            None => {
                for _ in 0..count {
                    self.skip(element, d)?;
                }
                Ok(())
            }
        }
    }

    fn skip_struct<S: StructShape>(&mut self, description: S, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        if description.extensibility() == Extensibility::Mutable {
            // The headers of the members give its end without a recursion.
            return d.pass_members();
        }
        let frame = self.enter_type(description.extensibility(), d)?;
        if frame.is_none() {
            if description.members().next().is_none() {
                self.count_empty_value(d)?;
            }
            for member in description.members() {
                self.skip_member(member, d)?;
            }
        }
        d.leave(frame);
        self.depth -= 1;
        Ok(())
    }

    fn enter_type<'de>(
        &mut self,
        extensibility: Extensibility,
        d: &mut Decoder<'de>,
    ) -> Result<Option<DecoderFrame<'de>>, DecodeError> {
        self.enter_level(d)?;
        match extensibility {
            Extensibility::Final => Ok(None),
            Extensibility::Appendable | Extensibility::Mutable => d.enter_delimited(),
        }
    }

    /// Counts a value without bytes against the budget; see [`Decoder::nothing`].
    fn count_empty_value(&mut self, d: &Decoder<'_>) -> Result<(), DecodeError> {
        match self.empty_values_left.checked_sub(1) {
            Some(left) => {
                self.empty_values_left = left;
                Ok(())
            }
            None => Err(d.error(DecodeErrorKind::TooManyEmptyValues)),
        }
    }

    /// Returns the length of an array, and counts an empty one against the budget.
    fn array_length(&mut self, count: usize, d: &Decoder<'_>) -> Result<usize, DecodeError> {
        if count == 0 {
            self.count_empty_value(d)?;
        }
        Ok(count)
    }

    fn enter_level(&mut self, d: &Decoder<'_>) -> Result<(), DecodeError> {
        // The input controls the depth of recursive types. The limit is above that of the decoder, which counts
        // pointers only.
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(d.error(DecodeErrorKind::NestingTooDeep));
        }
        Ok(())
    }
}

/// Returns whether a map with these keys and elements has no DHEADER.
fn is_of_primitives<S: Shape>(key: S, element: S) -> bool {
    key.primitive_size().is_some() && element.primitive_size().is_some()
}

/// Takes a number of `size` bytes, and returns its bits.
pub(super) fn bits_of(size: usize, d: &mut Decoder<'_>) -> Result<u64, DecodeError> {
    debug_assert!(matches!(size, 1 | 2 | 4 | 8), "a number of at most 64 bits");
    Ok(match size {
        1 => u8::decode(d)?.into(),
        2 => u16::decode(d)?.into(),
        4 => u32::decode(d)?.into(),
        _ => u64::decode(d)?,
    })
}

/// Returns the case that the discriminator with these bits selects. `d` is behind the discriminator.
fn selected<U: UnionShape>(description: U, bits: u64, d: &Decoder<'_>) -> Result<Selected<U::Type>, DecodeError> {
    let size = description.discriminator().number_size().unwrap_or(1);
    match description.selected_by(bits, size) {
        Some(selected) => Ok(selected),
        None => Err(d.unknown_discriminator(bits as i64)),
    }
}

/// Returns a decoder at the discriminator of a mutable union.
pub(super) fn mutable_discriminator<'de>(d: &Decoder<'de>) -> Result<Decoder<'de>, DecodeError> {
    let mut found = None;
    let mut members = d.clone();
    members.members(|d, id| {
        if id == DISCRIMINATOR_ID && found.is_none() {
            found = Some(d.clone());
        }
        Ok(true)
    })?;
    match found {
        Some(found) => Ok(found),
        None => Err(members.error(DecodeErrorKind::MissingMember)),
    }
}

/// Skips `count` numbers of `size` bytes each.
pub(super) fn skip_numbers(size: usize, count: usize, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    if count == 0 {
        return Ok(());
    }
    // Only before a value: an empty collection has no padding.
    d.align(size)?;
    match size.checked_mul(count) {
        Some(length) => d.bytes(length).map(drop),
        None => Err(d.error(DecodeErrorKind::Truncated)),
    }
}

/// Limit of nested structs and unions in a payload.
///
/// Decoding counts only the levels that recursive types need ([`NESTING_MAX`](super::NESTING_MAX)). This walk counts
/// every struct, so its limit is higher. A level takes about 300 bytes of stack.
const DEPTH_MAX: usize = 4 * super::NESTING_MAX as usize;
