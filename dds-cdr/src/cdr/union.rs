//! Unions: a discriminator, and the member that it selects.
//!
//! ```text
//! XTYPES 1.3, 7.4.3.5.3       nothing follows, if nothing is selected
//! final         discriminator | member
//! appendable    XCDR2: DHEADER | discriminator | member          XCDR1: as final
//! mutable       XCDR2: DHEADER | header, id 0 | discriminator | header, id | member
//!               XCDR1: header, id 0 | discriminator | header, id | member | end
//! ```
//!
//! The ids of the members count from 1, as that of the discriminator is 0 (seen of RTI Connext; OpenDDS gives the first
//! member 0 too).

use super::{
    Decode, DecodeError, DecodeErrorKind, Decoder, EncodeError, Extensibility, TryConstruct, TypeDescription, TypeRef,
};

/// A union.
#[derive(Debug, Clone, Copy)]
pub struct UnionDescription {
    extensibility: Extensibility,
    discriminator: TypeRef,
    /// Whether the discriminator is the key; else all of the union is, where it is part of one.
    has_key: bool,
    /// What becomes of a discriminator that selects nothing.
    try_construct: TryConstruct,
    cases: &'static [UnionCase],
}

/// A case of a union: some values of the discriminator, and the member that they select.
#[derive(Debug, Clone, Copy)]
pub struct UnionCase {
    name: &'static str,
    id: u32,
    labels: &'static [i64],
    is_default: bool,
    /// As of a member of a struct.
    hash_id: Option<&'static str>,
    try_construct: TryConstruct,
    ty: Option<TypeRef>,
}

/// A union, as the derive makes it of an enum with data.
pub trait Union {
    /// The type of the discriminator.
    type Discriminator;

    /// The value of the discriminator: that which was received, if the case keeps it, else the first label of the case.
    fn discriminator(&self) -> Self::Discriminator;
}

impl UnionDescription {
    /// A union that `discriminator` selects a case of.
    ///
    /// # Panics
    /// Two cases have a label, an id or a name in common, or both are the default; in a constant, that is a compile error.
    #[must_use]
    pub const fn new(extensibility: Extensibility, discriminator: TypeRef, cases: &'static [UnionCase]) -> Self {
        let mut index = 0;
        while index < cases.len() {
            let mut other = 0;
            while other < index {
                let (one, two) = (&cases[index], &cases[other]);
                assert!(!have_label_in_common(one.labels, two.labels), "two cases of the union have the same label");
                assert!(
                    one.ty.is_none() || two.ty.is_none() || one.id != two.id,
                    "two cases of the union have the same id"
                );
                assert!(!one.is_default || !two.is_default, "a union has one default case at most");
                other += 1;
            }
            index += 1;
        }
        Self { extensibility, discriminator, has_key: false, try_construct: TryConstruct::Discard, cases }
    }

    /// This union with its discriminator as key.
    #[must_use]
    pub const fn keyed(self) -> Self {
        Self { has_key: true, ..self }
    }

    /// This union as one that takes its default where the discriminator selects nothing.
    #[must_use]
    pub const fn or_default(self) -> Self {
        Self { try_construct: TryConstruct::UseDefault, ..self }
    }

    /// What becomes of a discriminator that selects nothing, or that its type does not have.
    #[must_use]
    pub const fn on_construct_failure(&self) -> TryConstruct {
        self.try_construct
    }

    /// How the union may grow.
    #[must_use]
    pub const fn extensibility(&self) -> Extensibility {
        self.extensibility
    }

    /// The type of the discriminator: a number, a bool, a char or an enum.
    #[must_use]
    pub fn discriminator(&self) -> &'static TypeDescription {
        (self.discriminator)()
    }

    /// Whether the discriminator is the key.
    #[must_use]
    pub const fn has_key(&self) -> bool {
        self.has_key
    }

    /// The cases, in the order of definition.
    #[must_use]
    pub const fn cases(&self) -> &'static [UnionCase] {
        self.cases
    }

    /// The case that a discriminator selects, of which `bits` are the bits on the wire.
    pub(super) fn selected_by(&self, bits: u64, size: usize) -> Option<&'static UnionCase> {
        let mask = u64::MAX >> (64 - 8 * size.clamp(1, 8));
        let is_label = |case: &&UnionCase| case.labels.iter().any(|label| *label as u64 & mask == bits & mask);
        self.cases.iter().find(is_label).or_else(|| self.cases.iter().find(|case| case.is_default))
    }

    /// Whether both agree in everything but the types of their members and of the discriminator.
    pub(super) const fn agrees_with(&self, other: &Self) -> bool {
        let mut is_same = self.cases.len() == other.cases.len()
            && self.has_key == other.has_key
            && self.extensibility as u8 == other.extensibility as u8;
        let mut index = 0;
        while is_same && index < self.cases.len() {
            is_same = self.cases[index].agrees_with(&other.cases[index]);
            index += 1;
        }
        is_same
    }
}

impl UnionCase {
    /// The case called `name` that these values of the discriminator select, with the member that has `id`.
    #[must_use]
    pub const fn new(name: &'static str, id: u32, labels: &'static [i64]) -> Self {
        Self { name, id, labels, is_default: false, hash_id: None, try_construct: TryConstruct::Discard, ty: None }
    }

    /// This case with a member of this type.
    #[must_use]
    pub const fn member(self, ty: TypeRef) -> Self {
        Self { ty: Some(ty), ..self }
    }

    /// This case as the one that all other values select.
    #[must_use]
    pub const fn or_default(self) -> Self {
        Self { is_default: true, ..self }
    }

    /// This case as one whose member has an id made of a name (`@hashid`), its own if this one is empty.
    #[must_use]
    pub const fn hash_id(self, name: &'static str) -> Self {
        Self { hash_id: Some(name), ..self }
    }

    /// The name that the id is made of, if the member says so (`@hashid`); empty if it is that of the member.
    #[must_use]
    pub const fn hash_id_name(&self) -> Option<&'static str> {
        self.hash_id
    }

    /// This case as one whose member treats values like this which its type cannot hold.
    #[must_use]
    pub const fn try_construct(self, try_construct: TryConstruct) -> Self {
        Self { try_construct, ..self }
    }

    const fn agrees_with(&self, other: &Self) -> bool {
        let mut is_same = self.id == other.id
            && self.is_default == other.is_default
            && self.labels.len() == other.labels.len()
            && self.ty.is_some() == other.ty.is_some()
            && super::description::is_same_text(self.name, other.name);
        let mut index = 0;
        while is_same && index < self.labels.len() {
            is_same = self.labels[index] == other.labels[index];
            index += 1;
        }
        is_same
    }

    /// The name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The id of the member.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// The values of the discriminator that select it, of unsigned types of 64 bits as if they had a sign.
    #[must_use]
    pub const fn labels(&self) -> &'static [i64] {
        self.labels
    }

    /// Whether the values that no case names select it.
    #[must_use]
    pub const fn is_default(&self) -> bool {
        self.is_default
    }

    /// What becomes of a value that the type of the member cannot hold: what the case says, or else what the type says.
    #[must_use]
    pub fn on_construct_failure(&self) -> TryConstruct {
        match (self.try_construct, self.ty()) {
            (TryConstruct::Discard, Some(ty)) => ty.on_construct_failure(),
            (said, _) => said,
        }
    }

    /// The type of the member, if there is one.
    #[must_use]
    pub fn ty(&self) -> Option<&'static TypeDescription> {
        self.ty.map(|ty| ty())
    }
}

const fn have_label_in_common(one: &[i64], other: &[i64]) -> bool {
    let mut index = 0;
    while index < one.len() {
        let mut position = 0;
        while position < other.len() {
            if one[index] == other[position] {
                return true;
            }
            position += 1;
        }
        index += 1;
    }
    false
}

/// The smallest number from 0 on that is none of these labels: what the default case of a union is sent with.
#[doc(hidden)]
#[must_use]
pub const fn unused_label(labels: &[i64]) -> i64 {
    let mut label = 0;
    while have_label_in_common(&[label], labels) {
        label += 1;
    }
    label
}

impl EncodeError {
    /// The discriminator that a case keeps selects another case.
    #[must_use]
    #[cold]
    #[doc(hidden)]
    pub fn other_case(value: i64) -> Self {
        Self::OtherCase { value }
    }
}

impl<'de> Decoder<'de> {
    /// No case has this discriminator, which was just taken.
    #[must_use]
    #[cold]
    #[doc(hidden)]
    pub fn unknown_discriminator(&self, value: i64) -> DecodeError {
        self.error(DecodeErrorKind::UnknownDiscriminator { value })
    }

    /// The discriminator of a mutable union, wherever it is among the members. None of them is taken.
    ///
    /// # Errors
    /// It is not there, or no value of its type.
    pub fn discriminator<T: Decode<'de>>(&self) -> Result<T, DecodeError> {
        let mut discriminator = None;
        let mut members = self.clone();
        members.members(|d, id| {
            if id == DISCRIMINATOR_ID && discriminator.is_none() {
                discriminator = Some(T::decode(d)?);
            }
            Ok(true)
        })?;
        discriminator.ok_or_else(|| members.error(DecodeErrorKind::MissingMember))
    }

    /// [`Decoder::discriminator`]; `None` if it is well formed, but not of its type.
    ///
    /// # Errors
    /// It is not there, or broken.
    pub fn try_discriminator<T: Decode<'de>>(&self) -> Result<Option<T>, DecodeError> {
        match self.discriminator() {
            Ok(discriminator) => Ok(Some(discriminator)),
            Err(error) if error.kind().is_of_value() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes a mutable union whose discriminator is known: the member with this id by `value`, if it is there. One that
    /// comes twice counts as it came last.
    ///
    /// # Errors
    /// Those of the value, and as [`Decoder::members`].
    pub fn selected_member<R>(
        &mut self,
        id: u32,
        mut value: impl FnMut(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<Option<R>, DecodeError> {
        let mut selected = None;
        self.members(|d, other| {
            if other == id {
                selected = Some(value(d)?);
            }
            Ok(other == id || other == DISCRIMINATOR_ID)
        })?;
        Ok(selected)
    }

    /// Takes a mutable union that has no member.
    ///
    /// # Errors
    /// As [`Decoder::members`].
    pub fn no_selected_member(&mut self) -> Result<(), DecodeError> {
        self.members(|_, id| Ok(id == DISCRIMINATOR_ID))
    }
}

/// The member id of the discriminator.
pub(super) const DISCRIMINATOR_ID: u32 = 0;
