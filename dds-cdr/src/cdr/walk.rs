//! The instance of an encoded sample, by the description of its type.
//!
//! No user code runs, nothing is decoded into values: the walk passes over what does not belong to the key and copies what
//! does, in the form that the key hash wants. It ends with the last key member.
//!
//! Bound: every step takes bytes of the payload or a member of a description, [`DEPTH_MAX`] ends recursion, and the copy
//! is never longer than the payload with its alignment (at most 8 bytes for one).

use super::decoder::Frame;
use super::key::is_part;
use super::primitive::Number;
use super::shape::{Form, MemberShape, Selected, Shape, StructShape, UnionShape};
use super::union::DISCRIMINATOR_ID;
use super::{Decode, Encode};
use super::{
    DecodeError, DecodeErrorKind, Decoder, EncodeError, Encoder, Encoding, Extensibility, Primitive, TypeDescription,
    key,
};
use crate::InstanceHandle;
use smallvec::SmallVec;

/// The instance that the sample in `payload` belongs to; [`InstanceHandle::NIL`] if its type has no key.
///
/// It is the same whatever the encoding: the key hash that a writer of XCDR2 sends. `is_key` tells that the payload is a
/// serialized key, not a whole sample. `scratch` is cleared first; its capacity is reused.
///
/// # Errors
/// The payload is not a value of this type, as far as the walk had to go to find the key.
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

/// The key hash that goes with a payload, by the rules of the encoding that the payload has (RTPS 2.5, 9.6.4.8).
///
/// `scratch` keeps what it has; what is put behind it is taken away again.
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
    key_hash_by(ty, ty.extensibility(), payload, is_key, scratch)
}

/// [`key_hash_of_payload`] of a type that has a key, whoever knows it.
pub(super) fn key_hash_by<S: Shape>(
    ty: S,
    extensibility: Extensibility,
    payload: &[u8],
    is_key: bool,
    scratch: &mut Vec<u8>,
) -> Result<InstanceHandle, DecodeError> {
    let d = Decoder::of_payload_for(payload, Some(extensibility))?;
    let (encoding, start) = (d.encoding(), scratch.len());
    let result = key_of_payload(ty, d, is_key, Encoder::for_key_hash(scratch, encoding));
    let hash = key::hash(ty, encoding, scratch.get(start..).unwrap_or_default());
    scratch.truncate(start);
    result.map(|()| hash)
}

/// Writes the key of a payload, of which `d` stands at the beginning of the body.
pub(super) fn key_of_payload<S: Shape>(
    ty: S,
    mut d: Decoder<'_>,
    is_key: bool,
    output: Encoder<'_>,
) -> Result<(), DecodeError> {
    let mut walk = Walk { output, is_key, depth: 0, nothings: *d.nothings_mut() };
    walk.copy(ty, &mut d).map_err(|failure| match failure {
        Failure::Input(error) => error,
        // What came in as 32 bits goes out as 32 bits: only a key of more than 4 GB cannot be written.
        Failure::Output => d.error(DecodeErrorKind::LengthBeyondInput { length: u32::MAX }),
    })
}

/// Passes over a value, an optional one with what introduces it.
pub(super) fn pass_value<S: Shape>(ty: S, is_optional: bool, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let (mut scratch, encoding) = (Vec::new(), d.encoding());
    let mut walk = Walk {
        output: Encoder::for_key_hash(&mut scratch, encoding),
        is_key: false,
        depth: 0,
        nothings: *d.nothings_mut(),
    };
    let result = if is_optional { walk.pass_optional(ty, d) } else { walk.pass(ty, d) };
    *d.nothings_mut() = walk.nothings;
    result
}

struct Walk<'b> {
    output: Encoder<'b>,
    is_key: bool,
    depth: usize,
    /// What values without bytes may still cost. Here, and not with the cursor, as the walk goes with copies of that.
    nothings: u32,
}

enum Failure {
    Input(DecodeError),
    Output,
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        Self::Input(error)
    }
}

impl From<EncodeError> for Failure {
    fn from(_: EncodeError) -> Self {
        Self::Output
    }
}

impl Walk<'_> {
    /// Copies what of a value belongs to the key.
    fn copy<S: Shape>(&mut self, ty: S, d: &mut Decoder<'_>) -> Result<(), Failure> {
        if let Some(size) = ty.number_size() {
            return self.copy_numbers(size, 1, d);
        }
        match ty.form() {
            Form::String(_) => {
                let text = d.text()?;
                self.output.length(text.len() + 1)?;
                self.output.bytes(text);
                self.output.bytes(&[0]);
                Ok(())
            }
            Form::WString(_) => {
                let order = d.order();
                let text = d.wide_text()?;
                self.output.length(text.len())?;
                text.chunks_exact(2).try_for_each(|unit| u16::read(unit, order).encode(&mut self.output))?;
                Ok(())
            }
            Form::Sequence(_, element) => self.copy_elements(None, element, d),
            Form::Array => {
                let (count, element) = ty.dimensions();
                self.copy_elements(Some(count), element, d)
            }
            Form::Map(key, element) => self.copy_entries(key, element, d),
            Form::Struct(description) => self.copy_struct(description, d),
            Form::Union(description) => self.copy_union(description, d),
            // Its size was known above.
            Form::Number => Ok(()),
        }
    }

    /// Copies a map. The derive lets none be part of a key, as its entries have no order; a description can say what it
    /// wants.
    fn copy_entries<S: Shape>(&mut self, key: S, element: S, d: &mut Decoder<'_>) -> Result<(), Failure> {
        let is_of_primitives = is_of_primitives(key, element);
        let (input, output) = match is_of_primitives {
            true => (None, None),
            false => (d.enter_delimited()?, self.output.enter_delimited()?),
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

    /// Copies the discriminator, and the member, unless the discriminator is the key.
    fn copy_union<U: UnionShape>(&mut self, description: U, d: &mut Decoder<'_>) -> Result<(), Failure> {
        if description.extensibility() == Extensibility::Mutable {
            return self.copy_mutable_union(description, d);
        }
        let frame = self.enter_type(description.extensibility(), d)?;
        let bits = self.copy_discriminator(description, d)?;
        let case = selected(description, bits, d)?;
        match case.ty {
            None => {}
            // A serialized key has no other members.
            Some(_) if description.has_key() && self.is_key => {}
            Some(ty) if description.has_key() => self.pass(ty, d)?,
            Some(ty) => self.copy(ty, d)?,
        }
        d.leave(frame);
        self.depth -= 1;
        Ok(())
    }

    fn copy_mutable_union<U: UnionShape>(&mut self, description: U, d: &mut Decoder<'_>) -> Result<(), Failure> {
        self.enter_level(d)?;
        let mut discriminator = mutable_discriminator(d)?;
        let bits = self.copy_discriminator(description, &mut discriminator)?;
        let case = selected(description, bits, d)?;
        let mut value = None;
        d.members(|d, id| {
            let is_member = case.ty.is_some() && id == case.id;
            if is_member {
                value = Some(d.clone());
            }
            Ok(is_member || id == DISCRIMINATOR_ID)
        })?;
        if let (Some(ty), false) = (case.ty, description.has_key()) {
            let mut value = value.ok_or_else(|| d.error(DecodeErrorKind::MissingMember))?;
            self.copy(ty, &mut value)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Copies a discriminator, and says what bits it has.
    fn copy_discriminator<U: UnionShape>(&mut self, description: U, d: &mut Decoder<'_>) -> Result<u64, Failure> {
        let size = description.discriminator().number_size().unwrap_or(1);
        let bits = bits_of(size, &mut d.clone())?;
        self.copy_numbers(size, 1, d)?;
        Ok(bits)
    }

    fn copy_numbers(&mut self, size: usize, count: usize, d: &mut Decoder<'_>) -> Result<(), Failure> {
        for _ in 0..count {
            match size {
                1 => u8::decode(d)?.encode(&mut self.output)?,
                2 => u16::decode(d)?.encode(&mut self.output)?,
                4 => u32::decode(d)?.encode(&mut self.output)?,
                8 => u64::decode(d)?.encode(&mut self.output)?,
                _ => {
                    let number: u128 = d.number()?;
                    self.output.number(number.to_bytes(self.output.order()));
                }
            }
        }
        Ok(())
    }

    /// Copies the elements of an array with `count` of them, or of a sequence.
    fn copy_elements<S: Shape>(
        &mut self,
        count: Option<usize>,
        element: S,
        d: &mut Decoder<'_>,
    ) -> Result<(), Failure> {
        let size = element.primitive_size();
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
            Some(1) => self.output.bytes(d.bytes(count)?),
            Some(size) => self.copy_numbers(size, count, d)?,
            None => (0..count).try_for_each(|_| self.copy(element, d))?,
        }
        d.leave(input);
        self.output.leave_delimited(output)?;
        Ok(())
    }

    fn copy_struct<S: StructShape>(&mut self, description: S, d: &mut Decoder<'_>) -> Result<(), Failure> {
        if description.extensibility() == Extensibility::Mutable {
            return self.copy_mutable(description, d);
        }
        let frame = self.enter_type(description.extensibility(), d)?;
        if frame.is_none() && description.members().next().is_none() {
            self.nothing(d)?;
        }
        let last = description.members().rposition(|member| is_part(description, member));
        // Behind the last part of the key nothing is of interest, unless other members follow on this value.
        let may_stop = frame.is_some() || self.depth == 1;
        let is_sorted = !self.output.keys_by_id() || description.ids_ascend();
        let mut found = SmallVec::<[(S::Member, Decoder<'_>); 4]>::new();
        for (index, member) in description.members().enumerate() {
            if may_stop && Some(index) > last {
                break;
            }
            match is_part(description, member) {
                true if is_sorted => self.copy_member(member, d)?,
                true => {
                    found.push((member, d.clone()));
                    self.pass_member(member, d)?;
                }
                // A serialized key has no other members.
                false if self.is_key => {}
                false => self.pass_member(member, d)?,
            }
        }
        found.sort_unstable_by_key(|(member, _)| member.id());
        found.into_iter().try_for_each(|(member, mut d)| self.copy_member(member, &mut d))?;
        d.leave(frame);
        self.depth -= 1;
        Ok(())
    }

    /// Looks for the members of the key wherever the sender has put them. One that comes twice counts as it came last, as
    /// it does when the value is decoded.
    fn copy_mutable<S: StructShape>(&mut self, description: S, d: &mut Decoder<'_>) -> Result<(), Failure> {
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
        let mut result = Ok(());
        key::ordered_key_members(description, self.output.keys_by_id(), |member| {
            let value = found.iter_mut().find(|(id, _)| *id == member.id()).map(|(_, value)| value);
            result = self.copy_found(member, value, d);
            result.is_ok().then_some(())
        });
        self.depth -= 1;
        result
    }

    /// Copies a member of a mutable struct, of which `d` is behind the end.
    fn copy_found<M: MemberShape>(
        &mut self,
        member: M,
        value: Option<&mut Decoder<'_>>,
        d: &Decoder<'_>,
    ) -> Result<(), Failure> {
        if !member.is_optional() {
            let value = value.ok_or_else(|| d.error(DecodeErrorKind::MissingMember))?;
            return self.copy(member.ty(), value);
        }
        let output = self.output.enter_optional(member.id(), value.is_some())?;
        if let Some(value) = value {
            self.copy(member.ty(), value)?;
        }
        self.output.leave_optional(output)?;
        Ok(())
    }

    fn copy_member<M: MemberShape>(&mut self, member: M, d: &mut Decoder<'_>) -> Result<(), Failure> {
        if !member.is_optional() {
            return self.copy(member.ty(), d);
        }
        let (is_present, input) = d.enter_optional()?;
        let output = self.output.enter_optional(member.id(), is_present)?;
        if is_present {
            self.copy(member.ty(), d)?;
        }
        d.leave(input);
        self.output.leave_optional(output)?;
        Ok(())
    }

    fn pass_member<M: MemberShape>(&mut self, member: M, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        if member.is_optional() { self.pass_optional(member.ty(), d) } else { self.pass(member.ty(), d) }
    }

    fn pass_optional<S: Shape>(&mut self, ty: S, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let (is_present, frame) = d.enter_optional()?;
        // In XCDR1 the header of the member tells its length.
        if is_present && frame.is_none() {
            self.pass(ty, d)?;
        }
        d.leave(frame);
        Ok(())
    }

    /// Passes over a value.
    fn pass<S: Shape>(&mut self, ty: S, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        if let Some(size) = ty.number_size() {
            return pass_numbers(size, 1, d);
        }
        match ty.form() {
            Form::String(_) | Form::WString(_) => d.length(1).and_then(|length| d.bytes(length)).map(drop),
            Form::Sequence(_, element) => self.pass_elements(None, element, d),
            Form::Array => {
                let (count, element) = ty.dimensions();
                self.pass_elements(Some(count), element, d)
            }
            Form::Map(key, element) => self.pass_entries(key, element, d),
            Form::Struct(description) => self.pass_struct(description, d),
            Form::Union(description) => self.pass_union(description, d),
            // Its size was known above.
            Form::Number => Ok(()),
        }
    }

    fn pass_entries<S: Shape>(&mut self, key: S, element: S, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        if !is_of_primitives(key, element) {
            if let frame @ Some(_) = d.enter_delimited()? {
                d.leave(frame);
                return Ok(());
            }
        }
        for _ in 0..d.length(1)? {
            self.pass(key, d)?;
            self.pass(element, d)?;
        }
        Ok(())
    }

    fn pass_union<U: UnionShape>(&mut self, description: U, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        if description.extensibility() == Extensibility::Mutable {
            return d.pass_members();
        }
        let frame = self.enter_type(description.extensibility(), d)?;
        if frame.is_none() {
            let size = description.discriminator().number_size().unwrap_or(1);
            let bits = bits_of(size, d)?;
            // Nothing follows a discriminator that selects nothing.
            if let Some(ty) = description.selected_by(bits, size).and_then(|case| case.ty) {
                self.pass(ty, d)?;
            }
        }
        d.leave(frame);
        self.depth -= 1;
        Ok(())
    }

    fn pass_elements<S: Shape>(
        &mut self,
        count: Option<usize>,
        element: S,
        d: &mut Decoder<'_>,
    ) -> Result<(), DecodeError> {
        let size = element.primitive_size();
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
            Some(size) => pass_numbers(size, count, d),
            None => (0..count).try_for_each(|_| self.pass(element, d)),
        }
    }

    fn pass_struct<S: StructShape>(&mut self, description: S, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        if description.extensibility() == Extensibility::Mutable {
            // Its end is found without going deeper.
            return d.pass_members();
        }
        let frame = self.enter_type(description.extensibility(), d)?;
        if frame.is_none() {
            if description.members().next().is_none() {
                self.nothing(d)?;
            }
            description.members().try_for_each(|member| self.pass_member(member, d))?;
        }
        d.leave(frame);
        self.depth -= 1;
        Ok(())
    }

    fn enter_type<'de>(
        &mut self,
        extensibility: Extensibility,
        d: &mut Decoder<'de>,
    ) -> Result<Option<Frame<'de>>, DecodeError> {
        self.enter_level(d)?;
        match extensibility {
            Extensibility::Final => Ok(None),
            Extensibility::Appendable | Extensibility::Mutable => d.enter_delimited(),
        }
    }

    /// A value without bytes was passed or copied; see [`Decoder::nothing`].
    fn nothing(&mut self, d: &Decoder<'_>) -> Result<(), DecodeError> {
        match self.nothings.checked_sub(1) {
            Some(left) => {
                self.nothings = left;
                Ok(())
            }
            None => Err(d.error(DecodeErrorKind::TooManyNothings)),
        }
    }

    fn array_length(&mut self, count: usize, d: &Decoder<'_>) -> Result<usize, DecodeError> {
        if count == 0 {
            self.nothing(d)?;
        }
        Ok(count)
    }

    fn enter_level(&mut self, d: &Decoder<'_>) -> Result<(), DecodeError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(d.error(DecodeErrorKind::NestingTooDeep));
        }
        Ok(())
    }
}

/// Whether a map of these carries no length in bytes.
fn is_of_primitives<S: Shape>(key: S, element: S) -> bool {
    key.primitive_size().is_some() && element.primitive_size().is_some()
}

/// The bits of a number of `size` bytes.
pub(super) fn bits_of(size: usize, d: &mut Decoder<'_>) -> Result<u64, DecodeError> {
    Ok(match size {
        1 => u8::decode(d)?.into(),
        2 => u16::decode(d)?.into(),
        4 => u32::decode(d)?.into(),
        _ => u64::decode(d)?,
    })
}

/// The case that a discriminator selects, which was just taken.
fn selected<U: UnionShape>(description: U, bits: u64, d: &Decoder<'_>) -> Result<Selected<U::Type>, DecodeError> {
    let size = description.discriminator().number_size().unwrap_or(1);
    description.selected_by(bits, size).ok_or_else(|| d.unknown_discriminator(bits as i64))
}

/// Where the discriminator of a mutable union is.
pub(super) fn mutable_discriminator<'de>(d: &Decoder<'de>) -> Result<Decoder<'de>, DecodeError> {
    let mut found = None;
    let mut members = d.clone();
    members.members(|d, id| {
        if id == DISCRIMINATOR_ID && found.is_none() {
            found = Some(d.clone());
        }
        Ok(true)
    })?;
    found.ok_or_else(|| members.error(DecodeErrorKind::MissingMember))
}

pub(super) fn pass_numbers(size: usize, count: usize, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
    if count == 0 {
        return Ok(());
    }
    d.align(size)?;
    match size.checked_mul(count) {
        Some(length) => d.bytes(length).map(drop),
        None => Err(d.error(DecodeErrorKind::Truncated)),
    }
}

/// How deep structs may be nested in a payload. Decoding counts only the levels that recursive types need
/// ([`NESTING_MAX`](super::NESTING_MAX)); here every struct counts, so some more are allowed. A level takes some 300 bytes
/// of stack.
const DEPTH_MAX: usize = 4 * super::NESTING_MAX as usize;
