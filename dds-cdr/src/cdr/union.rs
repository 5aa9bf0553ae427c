//! Unions: a discriminator, and the member that it selects.
//!
//! ```text
//! XTYPES 1.3, 7.4.3.5.3       without a selected member, only the discriminator
//! final         discriminator | member
//! appendable    XCDR2: DHEADER | discriminator | member          XCDR1: as final
//! mutable       XCDR2: DHEADER | header, id 0 | discriminator | header, id | member
//!               XCDR1: header, id 0 | discriminator | header, id | member | end
//! ```
//!
//! Member ids start at 1, because the discriminator has id 0 (as in RTI Connext; OpenDDS also gives id 0 to the first
//! member).

use super::{EncodeError, Extensibility, TryConstruct, TypeDescription, TypeRef};

/// A union.
#[derive(Debug, Clone, Copy)]
pub struct UnionDescription {
    extensibility: Extensibility,
    discriminator: TypeRef,
    /// Whether the discriminator is the key. Otherwise a key that contains the union contains all of it.
    has_key: bool,
    /// Action for a discriminator without a case.
    try_construct: TryConstruct,
    cases: &'static [UnionCase],
}

/// A case of a union: values of the discriminator, and the member that they select.
#[derive(Debug, Clone, Copy)]
pub struct UnionCase {
    name: &'static str,
    id: u32,
    labels: &'static [i64],
    is_default: bool,
    /// As for a struct member.
    hash_id: Option<&'static str>,
    is_external: bool,
    try_construct: TryConstruct,
    ty: Option<TypeRef>,
}

/// A union that the derive implements for an enum with data.
pub trait Union {
    /// The type of the discriminator.
    type Discriminator;

    /// Returns the discriminator: the received value if the case stores it, otherwise the first label of the case.
    fn discriminator(&self) -> Self::Discriminator;
}

impl UnionDescription {
    /// Creates a union with this discriminator type and these cases.
    ///
    /// # Panics
    /// Two cases share a label, an id or a name, or both are the default. In a constant, this is a compile error.
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

    /// Returns this union with its discriminator as key.
    #[must_use]
    pub const fn keyed(self) -> Self {
        Self { has_key: true, ..self }
    }

    /// Returns this union as one that gets its default if the discriminator has no case.
    #[must_use]
    pub const fn or_default(self) -> Self {
        Self { try_construct: TryConstruct::UseDefault, ..self }
    }

    /// Returns the action for a discriminator without a case, or with an invalid value.
    #[must_use]
    pub const fn on_construct_failure(&self) -> TryConstruct {
        self.try_construct
    }

    /// Returns the extensibility.
    #[must_use]
    pub const fn extensibility(&self) -> Extensibility {
        self.extensibility
    }

    /// Returns the type of the discriminator: a number, a bool, a char, an enum or a bitmask.
    #[must_use]
    pub fn discriminator(&self) -> &'static TypeDescription {
        (self.discriminator)()
    }

    /// Returns whether the discriminator is the key.
    #[must_use]
    pub const fn has_key(&self) -> bool {
        self.has_key
    }

    /// Returns the cases in the order of definition.
    #[must_use]
    pub const fn cases(&self) -> &'static [UnionCase] {
        self.cases
    }

    /// Returns the case that a discriminator selects. `bits` are its bits on the wire, `size` is its size in bytes.
    pub(super) fn selected_by(&self, bits: u64, size: usize) -> Option<&'static UnionCase> {
        // A discriminator of one byte arrives as 0xff, and its label is -1.
        let mask = u64::MAX >> (64 - 8 * size.clamp(1, 8));
        for case in self.cases {
            // The mask cuts the sign extension of negative labels to the size on the wire.
            if case.labels.iter().any(|label| *label as u64 & mask == bits & mask) {
                return Some(case);
            }
        }
        // Last: a label has priority over the default, in any order of definition.
        self.cases.iter().find(|case| case.is_default)
    }

    /// Returns whether both unions are equal except for the types of their members and discriminators.
    pub(super) const fn agrees_with(&self, other: &Self) -> bool {
        let mut is_same = self.cases.len() == other.cases.len()
            && self.has_key == other.has_key
            && self.extensibility as u8 == other.extensibility as u8;
        let mut index = 0;
        while is_same && index < self.cases.len() {
            // In the order of definition: a view declares the cases as its type does.
            is_same = self.cases[index].agrees_with(&other.cases[index]);
            index += 1;
        }
        is_same
    }
}

impl UnionCase {
    /// Creates a case called `name` with these labels. Its member has the id `id`.
    #[must_use]
    pub const fn new(name: &'static str, id: u32, labels: &'static [i64]) -> Self {
        let try_construct = TryConstruct::Discard;
        Self { name, id, labels, is_default: false, hash_id: None, is_external: false, try_construct, ty: None }
    }

    /// Returns this case with a member of this type.
    #[must_use]
    pub const fn member(self, ty: TypeRef) -> Self {
        Self { ty: Some(ty), ..self }
    }

    /// Returns this case as the default, which all other values select.
    #[must_use]
    pub const fn or_default(self) -> Self {
        Self { is_default: true, ..self }
    }

    /// Returns this case with a member id that is a hash of `name` (`@hashid`). An empty `name` stands for its own
    /// name.
    #[must_use]
    pub const fn hash_id(self, name: &'static str) -> Self {
        Self { hash_id: Some(name), ..self }
    }

    /// Returns this case with a member that is stored outside of the union (`@external`).
    #[must_use]
    pub const fn external(self) -> Self {
        Self { is_external: true, ..self }
    }

    /// Returns whether the member is `@external`. This does not change the encoding.
    #[must_use]
    pub const fn is_external(&self) -> bool {
        self.is_external
    }

    /// Returns the name that the id is a hash of (`@hashid`), if any; empty for the name of the member.
    #[must_use]
    pub const fn hash_id_name(&self) -> Option<&'static str> {
        self.hash_id
    }

    /// Returns this case with this action for values that do not fit the member.
    #[must_use]
    pub const fn try_construct(self, try_construct: TryConstruct) -> Self {
        Self { try_construct, ..self }
    }

    /// Returns whether both cases are equal except for the types of their members.
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

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the id of the member.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// Returns the discriminator values that select the case. Unsigned 64-bit values are stored as signed.
    #[must_use]
    pub const fn labels(&self) -> &'static [i64] {
        self.labels
    }

    /// Returns whether values without a case select this one.
    #[must_use]
    pub const fn is_default(&self) -> bool {
        self.is_default
    }

    /// Returns the action for values that do not fit the member: that of the case, or that of its type.
    #[must_use]
    pub fn on_construct_failure(&self) -> TryConstruct {
        match (self.try_construct, self.ty()) {
            // A newtype may carry the annotation, as for members of structs.
            (TryConstruct::Discard, Some(ty)) => ty.on_construct_failure(),
            (said, _) => said,
        }
    }

    /// Returns the type of the member, if there is one.
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

/// Returns the smallest non-negative number that is not a label, for sending the default case.
#[doc(hidden)]
#[must_use]
pub const fn unused_label(labels: &[i64]) -> i64 {
    let mut label = 0;
    // Ends: among one number more than there are labels, one is free.
    while have_label_in_common(&[label], labels) {
        label += 1;
    }
    label
}

impl EncodeError {
    /// Creates the error for a stored discriminator that selects another case.
    #[must_use]
    #[cold]
    #[doc(hidden)]
    pub fn other_case(value: i64) -> Self {
        Self::OtherCase { value }
    }
}

/// The member id of the discriminator.
pub(super) const DISCRIMINATOR_ID: u32 = 0;
