//! Key hashes.
//!
//! The input of a key hash are the key members, in big endian, with every type treated as final. If no key of the type
//! can exceed 16 bytes, these bytes are the hash, padded with zeros. Otherwise their MD5 is the hash (RTPS 2.5,
//! 9.6.4.8). The type decides, never the value.
//!
//! A writer uses the alignment of the encoding that it offers. XCDR1 orders the members by definition, XCDR2 by id. So
//! one instance may have two key hashes. This crate identifies an instance by the XCDR2 hash, for samples in any
//! encoding ([`KeyHasher`](super::KeyHasher)).

use super::shape::{MemberShape, Shape, StructShape, Structure, UnionShape};
use super::{Encode, EncodeError, Encoder, Encoding, Keyed, TypeDescription, TypeInfo};
use crate::InstanceHandle;

/// Returns the key hash that a writer of this encoding sends with a sample; [`InstanceHandle::NIL`] without a key.
///
/// The XCDR2 hash also identifies the instance ([`KeyHasher`](super::KeyHasher)). `scratch` is cleared first; its
/// capacity is reused and never exceeds the largest key.
///
/// # Errors
/// A key member does not fit its type.
#[inline]
pub fn key_hash_of<T: Encode + TypeInfo>(
    sample: &T,
    encoding: Encoding,
    scratch: &mut Vec<u8>,
) -> Result<InstanceHandle, EncodeError> {
    if !T::HAS_KEY {
        return Ok(InstanceHandle::NIL);
    }
    scratch.clear();
    sample.encode_key(&mut Encoder::for_key_hash(scratch, encoding))?;
    Ok(hash(T::DESCRIPTION, encoding, scratch))
}

/// Returns the key hash that a writer of this encoding sends with a key.
///
/// `scratch` is cleared first; its capacity is reused and never exceeds the largest key.
///
/// # Errors
/// A key member does not fit its type.
#[inline]
pub fn key_hash_of_key<T: Keyed + TypeInfo>(
    key: &T::Key,
    encoding: Encoding,
    scratch: &mut Vec<u8>,
) -> Result<InstanceHandle, EncodeError> {
    scratch.clear();
    T::encode_key_value(key, &mut Encoder::for_key_hash(scratch, encoding))?;
    Ok(hash(T::DESCRIPTION, encoding, scratch))
}

/// Returns the key hash of an encoded key.
pub(super) fn hash<S: Shape>(ty: S, encoding: Encoding, key: &[u8]) -> InstanceHandle {
    hash_of_bytes(key.len() <= HASH_LEN && is_short(ty, encoding), key)
}

/// Returns the key hash of an encoded key. `is_short`: every key of the type fits into the hash.
pub(super) fn hash_of_bytes(is_short: bool, key: &[u8]) -> InstanceHandle {
    let mut bytes = [0; HASH_LEN];
    match bytes.get_mut(..key.len()) {
        // The longest possible key decides, not this one: a short string in an unbounded member is hashed as well.
        Some(place) if is_short => place.copy_from_slice(key),
        _ => bytes = md5::compute(key).0,
    }
    InstanceHandle::from_key_hash(bytes)
}

/// Returns whether every key of this type fits into the hash.
///
/// The answer is not cached: a constant cannot call the functions that describe nested types. The walk ends with the
/// first member that does not fit, so it visits at most 16 values.
pub(super) fn is_short<S: Shape>(ty: S, encoding: Encoding) -> bool {
    LongestKey { encoding, position: 0, depth: 0 }.add(ty).is_some()
}

/// Length of the longest possible key.
///
/// A shorter value never ends behind a longer one, for any alignment. So the sum of the longest values is the maximum.
struct LongestKey {
    encoding: Encoding,
    position: usize,
    depth: usize,
}

impl LongestKey {
    /// Adds the longest value of a type; `None` if the key is then longer than a hash.
    fn add<S: Shape>(&mut self, ty: S) -> Option<()> {
        if let Some(size) = ty.number_size() {
            return self.number(size);
        }
        match ty.structure() {
            Structure::String(bound) => {
                self.number(4)?;
                // An unbounded string may be longer than the hash. The NUL counts.
                self.bytes((bound? as usize).checked_add(1)?)
            }
            Structure::WString(bound) => {
                self.number(4)?;
                self.bytes((bound? as usize).checked_mul(2)?)
            }
            Structure::Sequence(bound, element) => {
                let bound = bound?;
                self.delimiter(element.primitive_size().is_some())?;
                self.number(4)?;
                self.elements(bound, element)
            }
            Structure::Array => {
                let (count, element) = ty.dimensions();
                self.delimiter(element.primitive_size().is_some())?;
                self.elements(u32::try_from(count).ok()?, element)
            }
            Structure::Union(description) => {
                self.enter()?;
                let result = self.union(description);
                self.depth -= 1;
                result
            }
            Structure::Struct(description) => {
                self.enter()?;
                // The order matters even for the length: it decides the padding between members.
                for member in ordered_key_members(description, self.encoding == Encoding::Xcdr2) {
                    // An optional member also needs a flag (XCDR2) or a header (XCDR1).
                    if member.is_optional() {
                        self.number(if self.encoding == Encoding::Xcdr2 { 1 } else { 4 })?;
                    }
                    self.add(member.ty())?;
                }
                self.depth -= 1;
                Some(())
            }
            Structure::Map(..) | Structure::Number => None,
        }
    }

    /// Enters a struct or union. The limit ends the walk along a type that only contains itself and has no values.
    fn enter(&mut self) -> Option<()> {
        // Each level of a type that contains itself would add to the depth without end.
        self.depth += 1;
        // Deeper than the hash is long, each level has at least one byte or is a type without an end.
        if self.depth > HASH_LEN { None } else { Some(()) }
    }

    /// Adds the discriminator, and the longest member unless the discriminator is the key.
    fn union<U: UnionShape>(&mut self, description: U) -> Option<()> {
        self.add(description.discriminator())?;
        // The discriminator alone is the key (XTYPES 1.3, 7.2.2.4.4.4.8).
        if description.has_key() {
            return Some(());
        }
        let start = self.position;
        let mut end = start;
        // Only one member is sent, so the longest one counts.
        for member in description.member_types() {
            self.position = start;
            self.add(member)?;
            end = end.max(self.position);
        }
        self.position = end;
        Some(())
    }

    fn elements<S: Shape>(&mut self, count: u32, element: S) -> Option<()> {
        for _ in 0..count {
            let before = self.position;
            self.add(element)?;
            // Elements without bytes never exceed the limit, and there may be 2^32 of them.
            if self.position == before {
                return Some(());
            }
        }
        Some(())
    }

    fn delimiter(&mut self, of_primitives: bool) -> Option<()> {
        // A nested DHEADER stays in the input of the hash, unlike that of a struct.
        if of_primitives || self.encoding == Encoding::Xcdr1 { Some(()) } else { self.number(4) }
    }

    fn number(&mut self, size: usize) -> Option<()> {
        self.position = self.position.next_multiple_of(size.min(self.encoding.alignment_max()));
        self.bytes(size)
    }

    fn bytes(&mut self, count: usize) -> Option<()> {
        self.position = self.position.checked_add(count)?;
        if self.position > HASH_LEN { None } else { Some(()) }
    }
}

/// Returns whether a member belongs to the key: the marked members do, or all if none is marked.
pub(super) fn is_part<S: StructShape>(description: S, member: S::Member) -> bool {
    member.is_key() || !description.has_key()
}

/// Returns whether all keys of a type have the same hash in XCDR1 and XCDR2.
///
/// The hashes differ by the alignment of 8-byte numbers, the lengths of collections, or the order of ids. `false` is
/// conservative: the hashes of such a type may still agree.
#[must_use]
pub fn key_hashes_agree(ty: &TypeDescription) -> bool {
    do_hashes_agree(ty)
}

/// [`key_hashes_agree`] for constant and dynamic types.
pub(super) fn do_hashes_agree<S: Shape>(ty: S) -> bool {
    HashAgreement { position: Some(0), depth: 0 }.holds(ty)
}

/// Comparison of a key in both encodings.
struct HashAgreement {
    /// The position in both encodings; `None` behind a value of variable length.
    position: Option<usize>,
    depth: usize,
}

impl HashAgreement {
    /// Returns whether both encodings of this value agree.
    fn holds<S: Shape>(&mut self, ty: S) -> bool {
        if let Some(size) = ty.number_size() {
            return self.numbers(size, 1);
        }
        match ty.structure() {
            Structure::String(_) | Structure::WString(_) => {
                self.position = None;
                true
            }
            Structure::Sequence(_, element) => {
                // XCDR2 aligns 8-byte elements to 4, and adds a DHEADER to elements that are not primitive.
                let is_narrow = element.primitive_size().is_some_and(|size| size < 8);
                self.position = None;
                is_narrow
            }
            Structure::Array => {
                let (count, element) = ty.dimensions();
                match element.primitive_size() {
                    Some(size) => self.numbers(size, count),
                    // XCDR2 adds a DHEADER.
                    None => false,
                }
            }
            Structure::Union(description) => {
                self.holds(description.discriminator()) && (description.has_key() || self.cases(description))
            }
            Structure::Struct(description) => {
                self.depth += 1;
                if self.depth > HASH_LEN || !description.ids_ascend() {
                    return false;
                }
                for member in ordered_key_members(description, false) {
                    // Flag and header of an optional member differ in size.
                    if member.is_optional() || !self.holds(member.ty()) {
                        return false;
                    }
                }
                self.depth -= 1;
                true
            }
            Structure::Map(..) | Structure::Number => false,
        }
    }

    /// Compares the cases. Each begins behind the discriminator, and they end at different positions.
    fn cases<U: UnionShape>(&mut self, description: U) -> bool {
        self.depth += 1;
        let start = self.position;
        if self.depth > HASH_LEN {
            return false;
        }
        for ty in description.member_types() {
            self.position = start;
            if !self.holds(ty) {
                return false;
            }
        }
        self.depth -= 1;
        self.position = None;
        true
    }

    fn numbers(&mut self, size: usize, count: usize) -> bool {
        if count == 0 {
            return true;
        }
        // Behind a string of any length, only numbers of up to 4 bytes have the same padding in both encodings.
        let Some(position) = self.position else { return size < 8 };
        // XCDR1 aligns to 8 and XCDR2 to 4. Both agree only where 8 is reached without padding.
        if size >= 8 && position % 8 != 0 {
            return false;
        }
        let start = position.next_multiple_of(size.min(8));
        // A position that overflows is as good as an unknown one.
        self.position = size.checked_mul(count).and_then(|length| start.checked_add(length));
        true
    }
}

/// Returns the key members in the order of definition or of ids: the marked ones, or all if none is marked.
pub(super) fn ordered_key_members<S: StructShape>(description: S, by_id: bool) -> impl Iterator<Item = S::Member> {
    let mut in_order = description.members();
    let is_sorted = !by_id || description.ids_ascend();
    let mut last_id = None;
    std::iter::from_fn(move || {
        // The usual case needs one pass. In the other, each step searches all members.
        if is_sorted {
            return in_order.find(|member| is_part(description, *member));
        }
        // Ids out of order are rare and key members few, so a search for the next larger id needs no sorted copy.
        let mut next: Option<S::Member> = None;
        for member in description.members() {
            if !is_part(description, member) || last_id.is_some_and(|last_id| member.id() <= last_id) {
                continue;
            }
            if next.is_none_or(|next| member.id() < next.id()) {
                next = Some(member);
            }
        }
        last_id = next.map(MemberShape::id);
        next
    })
}

/// Length of a key hash in bytes.
const HASH_LEN: usize = 16;
