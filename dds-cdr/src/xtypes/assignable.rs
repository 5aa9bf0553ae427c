//! Whether a writer's type is assignable to a reader's (XTYPES 1.3, 7.2.4.4, and 7.6.3.4 for the policy).
//!
//! The standard calls the reader's type T1 and the writer's type T2.

use super::compatible::{of_enums, of_structs, of_unions};
use super::consistency::{TypeConsistency, TypeConsistencyKind};
use super::difference::{TypeDifference, TypeDifferenceKind as Kind};
use super::flags::MemberFlags;
use super::form::{Form, NameHash};
use super::identifier::{PrimitiveType, TypeIdentifier};
use super::object::{CollectionElement, TypeDefinition, TypeObject};
use crate::cdr::Extensibility;
use std::collections::BTreeSet;
use std::marker::PhantomData;

/// Why a writer's type is not assignable to a reader's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// The types differ.
    Differs(TypeDifference),
    /// The description of this type is required for the comparison.
    Unknown(TypeIdentifier),
}

/// Source of type descriptions, and of member names that minimal descriptions lack.
pub trait TypeSource {
    /// The description of the type with this hash.
    fn find(&self, id: &TypeIdentifier) -> Option<&TypeObject>;
    /// The name that has this hash.
    fn name(&self, _: NameHash) -> Option<&str> {
        None
    }
}

/// Checks that a writer's type is assignable to a reader's under the reader's policy.
///
/// # Errors
/// The types differ, or a description is missing.
pub fn check_assignable<F: Form>(
    source: &dyn TypeSource,
    reader: &TypeIdentifier,
    writer: &TypeIdentifier,
    policy: &TypeConsistency,
) -> Result<(), Mismatch> {
    if reader == writer {
        return Ok(());
    }
    // Equal identifiers were accepted above, so the types differ.
    if policy.kind == TypeConsistencyKind::DisallowTypeCoercion {
        return Err(Mismatch::Differs(TypeDifference { path: String::new(), kind: Kind::NotEqual }));
    }
    let mut comparison =
        Comparison::<F> { source, policy, seen: BTreeSet::new(), path: Vec::new(), depth: 0, form: PhantomData };
    let result = comparison.assignable(reader, writer, Keys::Matter);
    debug_assert!(comparison.path.is_empty() && comparison.depth == 0, "each step of the recursion is undone");
    result
}

/// Whether keys are compared. Inside members that are not keys, they are not (KeyErased).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Keys {
    Matter,
    AreErased,
}

/// The state of one comparison.
pub(super) struct Comparison<'a, F> {
    source: &'a dyn TypeSource,
    pub(super) policy: &'a TypeConsistency,
    /// Pairs that were compared or are being compared. Their first comparison reports the difference.
    seen: BTreeSet<(TypeIdentifier, TypeIdentifier, Keys)>,
    path: Vec<String>,
    depth: usize,
    form: PhantomData<F>,
}

pub(super) type Checked = Result<(), Mismatch>;

/// Most levels of nesting that are compared. A peer controls the depth of its types.
const DEPTH_MAX: usize = 64;

/// A type after its aliases are resolved.
enum Resolved<'a, F: Form> {
    Plain(&'a TypeIdentifier),
    Named(&'a TypeIdentifier, &'a TypeDefinition<F>),
}

impl<'a, F: Form> Comparison<'a, F> {
    /// Checks that the reader's type is assignable from the writer's.
    pub(super) fn assignable(&mut self, reader: &TypeIdentifier, writer: &TypeIdentifier, keys: Keys) -> Checked {
        if reader == writer {
            return Ok(());
        }
        // The types come from a peer, and may nest as deeply as a message allows.
        if self.depth == DEPTH_MAX {
            return self.differ(Kind::TooDeep);
        }
        self.depth += 1;
        let result = self.compare(reader, writer, keys);
        self.depth -= 1;
        result
    }

    /// Checks assignability, and that values of the writer's type are delimited.
    pub(super) fn strongly_assignable(
        &mut self,
        reader: &TypeIdentifier,
        writer: &TypeIdentifier,
        keys: Keys,
    ) -> Checked {
        self.assignable(reader, writer, keys)?;
        // Without a length, a reader cannot skip members that its type lacks.
        if reader == writer || self.is_delimited(writer, 0)? { Ok(()) } else { self.differ(Kind::NotDelimited) }
    }

    /// Runs `check` with `name` as part of the path of a difference.
    pub(super) fn within(&mut self, name: String, check: impl FnOnce(&mut Self) -> Checked) -> Checked {
        self.path.push(name);
        let result = check(self);
        self.path.pop();
        result
    }

    pub(super) fn differ(&self, kind: Kind) -> Checked {
        Err(Mismatch::Differs(TypeDifference { path: self.path.join("."), kind }))
    }

    /// Reports a difference of the member `name`.
    pub(super) fn differ_at(&mut self, name: String, kind: Kind) -> Checked {
        self.within(name, |comparison| comparison.differ(kind))
    }

    /// The name of a member, or its id if the name is unknown.
    pub(super) fn name_of(&self, detail: &F::Member, id: u32) -> String {
        if let Some(name) = F::member_name(detail) {
            return name.to_owned();
        }
        // A minimal TypeObject has hashes of names. Most are names of this side's own types.
        match self.source.name(F::name_hash(detail)) {
            Some(name) => name.to_owned(),
            None => format!("member with id {id}"),
        }
    }

    fn resolve<'b>(&self, id: &'b TypeIdentifier) -> Result<Resolved<'b, F>, Mismatch>
    where
        'a: 'b,
    {
        let mut id: &'b TypeIdentifier = id;
        // A chain of aliases comes from a peer, so it is bounded.
        for _ in 0..DEPTH_MAX {
            if !id.is_hash() {
                return Ok(Resolved::Plain(id));
            }
            match self.definition(id)? {
                // An alias is assignable like its target (XTYPES 1.3, 7.2.4.4).
                TypeDefinition::Alias(alias) => id = &alias.related_type,
                definition => return Ok(Resolved::Named(id, definition)),
            }
        }
        self.differ(Kind::TooDeep).map(|()| Resolved::Plain(id))
    }

    fn definition(&self, id: &TypeIdentifier) -> Result<&'a TypeDefinition<F>, Mismatch> {
        match self.source.find(id).and_then(F::definition) {
            Some(definition) => Ok(definition),
            None => Err(Mismatch::Unknown(id.clone())),
        }
    }

    /// The base struct with this identifier, if there is one.
    pub(super) fn base_of(&self, id: &TypeIdentifier) -> Result<Option<&'a super::StructType<F>>, Mismatch> {
        match id {
            TypeIdentifier::None => Ok(None),
            id => Ok(match self.definition(id)? {
                TypeDefinition::Struct(base) => Some(base),
                _ => None,
            }),
        }
    }

    fn compare(&mut self, reader: &TypeIdentifier, writer: &TypeIdentifier, keys: Keys) -> Checked {
        let (reader, writer) = (self.resolve(reader)?, self.resolve(writer)?);
        // A repeated pair ends the recursion of types that contain themselves.
        if let (Resolved::Named(reader, _), Resolved::Named(writer, _)) = (&reader, &writer) {
            if reader == writer || !self.seen.insert(((*reader).clone(), (*writer).clone(), keys)) {
                return Ok(());
            }
        }
        match (&reader, &writer) {
            (Resolved::Plain(reader), Resolved::Plain(writer)) => self.plain(reader, writer, keys),
            (Resolved::Named(_, r), Resolved::Named(_, w)) => match (r, w) {
                (TypeDefinition::Struct(r), TypeDefinition::Struct(w)) => of_structs(self, r, w, keys),
                (TypeDefinition::Union(r), TypeDefinition::Union(w)) => of_unions(self, r, w, keys),
                (TypeDefinition::Enum(r), TypeDefinition::Enum(w)) => of_enums(self, r, w),
                (TypeDefinition::Bitmask(r), TypeDefinition::Bitmask(w)) => {
                    self.equal_sizes(&[w.bit_bound.into()], &[r.bit_bound.into()])
                }
                (TypeDefinition::Bitset(r), TypeDefinition::Bitset(w)) => {
                    if have_same_bits(r, w) {
                        Ok(())
                    } else {
                        self.differ(Kind::Literals)
                    }
                }
                _ => self.collections(&reader, &writer, keys),
            },
            // A bitmask is assignable from an unsigned integer of its size, and vice versa (7.2.4.4.3, table 15).
            (Resolved::Named(_, TypeDefinition::Bitmask(mask)), Resolved::Plain(TypeIdentifier::Primitive(number)))
            | (Resolved::Plain(TypeIdentifier::Primitive(number)), Resolved::Named(_, TypeDefinition::Bitmask(mask)))
                if bitmask_holder(mask.bit_bound) == *number =>
            {
                Ok(())
            }
            _ => self.collections(&reader, &writer, keys),
        }
    }

    fn plain(&mut self, reader: &TypeIdentifier, writer: &TypeIdentifier, keys: Keys) -> Checked {
        use TypeIdentifier as Id;
        match (reader, writer) {
            (Id::Primitive(r), Id::Primitive(w)) if r == w => Ok(()),
            // The encodings are equal, but table 15 of 7.2.4.4.3 does not allow these pairs. Neither do Cyclone DDS,
            // OpenDDS and Fast DDS. If only this side matched, a reliable writer would wait for a reader that never
            // answers.
            (Id::Primitive(PrimitiveType::UInt8), Id::Primitive(PrimitiveType::Byte)) => {
                self.differ(Kind::OctetOrUInt8 { writer_has_octet: true })
            }
            (Id::Primitive(PrimitiveType::Byte), Id::Primitive(PrimitiveType::UInt8)) => {
                self.differ(Kind::OctetOrUInt8 { writer_has_octet: false })
            }
            (Id::Primitive(PrimitiveType::Int8), Id::Primitive(PrimitiveType::Char8)) => {
                self.differ(Kind::CharOrInt8 { writer_has_char: true })
            }
            (Id::Primitive(PrimitiveType::Char8), Id::Primitive(PrimitiveType::Int8)) => {
                self.differ(Kind::CharOrInt8 { writer_has_char: false })
            }
            (Id::String8 { bound: r }, Id::String8 { bound: w })
            | (Id::String16 { bound: r }, Id::String16 { bound: w }) => self.string_bounds(*r, *w),
            _ => self.collections(&Resolved::Plain(reader), &Resolved::Plain(writer), keys),
        }
    }

    fn string_bounds(&self, reader: u32, writer: u32) -> Checked {
        self.bounds(reader, writer, self.policy.ignore_string_bounds)
    }

    /// Checks that the reader's bound is at least the writer's.
    pub(super) fn bounds(&self, reader: u32, writer: u32, is_ignored: bool) -> Checked {
        // 0 stands for "unbounded" in a TypeIdentifier.
        match (reader, writer) {
            _ if is_ignored => Ok(()),
            (0 | u32::MAX, _) => Ok(()),
            (_, 0) => self.differ(Kind::Bound { writer, reader }),
            _ if reader >= writer => Ok(()),
            _ => self.differ(Kind::Bound { writer, reader }),
        }
    }

    fn equal_sizes(&self, writer: &[u32], reader: &[u32]) -> Checked {
        if writer == reader {
            return Ok(());
        }
        self.differ(Kind::Size { writer: writer.to_vec(), reader: reader.to_vec() })
    }

    /// Compares sequences, arrays and maps, named or anonymous. Any other pair has different kinds.
    fn collections(&mut self, reader: &Resolved<'_, F>, writer: &Resolved<'_, F>, keys: Keys) -> Checked {
        let ignored = self.policy.ignore_sequence_bounds;
        match (Collection::of(reader), Collection::of(writer)) {
            (Some(Collection::Sequence(r, re)), Some(Collection::Sequence(w, we))) => {
                self.bounds(r, w, ignored)?;
                self.strongly_assignable(re, we, keys)
            }
            (Some(Collection::Array(r, re)), Some(Collection::Array(w, we))) => {
                self.equal_sizes(w, r)?;
                self.strongly_assignable(re, we, keys)
            }
            (Some(Collection::Map(r, rk, re)), Some(Collection::Map(w, wk, we))) => {
                self.bounds(r, w, ignored)?;
                self.strongly_assignable(rk, wk, keys)?;
                self.strongly_assignable(re, we, keys)
            }
            _ => self.differ(Kind::Kind { writer: describe(writer), reader: describe(reader) }),
        }
    }

    /// Whether values of a type are delimited in XCDR2 (7.2.4.2).
    fn is_delimited(&self, id: &TypeIdentifier, depth: usize) -> Result<bool, Mismatch> {
        // A bound for collections that contain themselves.
        if depth == DEPTH_MAX {
            return Ok(true);
        }
        let resolved = self.resolve(id)?;
        if let Some(collection) = Collection::of(&resolved) {
            return match collection {
                Collection::Sequence(_, element) | Collection::Array(_, element) => {
                    self.is_delimited(element, depth + 1)
                }
                Collection::Map(_, key, element) => {
                    Ok(self.is_delimited(key, depth + 1)? && self.is_delimited(element, depth + 1)?)
                }
            };
        }
        match resolved {
            Resolved::Named(_, TypeDefinition::Struct(ty)) if ty.flags.extensibility() == Extensibility::Final => {
                Ok(false)
            }
            Resolved::Named(_, TypeDefinition::Union(ty)) if ty.flags.extensibility() == Extensibility::Final => {
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    /// Checks the additional rule for key members: the reader's type holds all values of the writer's (7.2.4.4.8).
    pub(super) fn key_member(&mut self, reader: &TypeIdentifier, writer: &TypeIdentifier) -> Checked {
        use TypeIdentifier as Id;
        let (r, w) = (self.resolve(reader)?, self.resolve(writer)?);
        match (&r, &w) {
            (Resolved::Plain(Id::String8 { bound: r }), Resolved::Plain(Id::String8 { bound: w }))
            | (Resolved::Plain(Id::String16 { bound: r }), Resolved::Plain(Id::String16 { bound: w })) => {
                // A key that does not fit would be cut, and two instances would become one.
                self.bounds(*r, *w, false)
            }
            (Resolved::Named(_, TypeDefinition::Enum(r)), Resolved::Named(_, TypeDefinition::Enum(w))) => {
                let known: BTreeSet<i32> = r.literals.iter().map(|literal| literal.common.value).collect();
                for literal in &w.literals {
                    if !known.contains(&literal.common.value) {
                        return self.differ(Kind::Literals);
                    }
                }
                Ok(())
            }
            _ => match (Collection::of(&r), Collection::of(&w)) {
                (Some(Collection::Sequence(r, _)), Some(Collection::Sequence(w, _)))
                | (Some(Collection::Map(r, ..)), Some(Collection::Map(w, ..))) => self.bounds(r, w, false),
                _ => Ok(()),
            },
        }
    }

    /// Checks that both members have the flag, or neither.
    pub(super) fn must_agree(
        &self,
        reader: MemberFlags,
        writer: MemberFlags,
        flag: MemberFlags,
        kind: Kind,
    ) -> Checked {
        if reader.contains(flag) == writer.contains(flag) { Ok(()) } else { self.differ(kind) }
    }
}

/// A named or anonymous collection.
enum Collection<'a> {
    Sequence(u32, &'a TypeIdentifier),
    Array(&'a [u32], &'a TypeIdentifier),
    Map(u32, &'a TypeIdentifier, &'a TypeIdentifier),
}

impl<'a> Collection<'a> {
    fn of<F: Form>(ty: &Resolved<'a, F>) -> Option<Self> {
        fn id<F: Form>(element: &CollectionElement<F>) -> &TypeIdentifier {
            &element.ty
        }
        Some(match ty {
            Resolved::Plain(TypeIdentifier::Sequence { bound, element }) => Self::Sequence(*bound, &element.id),
            Resolved::Plain(TypeIdentifier::Array { bounds, element }) => Self::Array(bounds, &element.id),
            Resolved::Plain(TypeIdentifier::Map { bound, element, key, .. }) => Self::Map(*bound, key, &element.id),
            Resolved::Named(_, TypeDefinition::Sequence(ty)) => Self::Sequence(ty.bound, id(&ty.element)),
            Resolved::Named(_, TypeDefinition::Array(ty)) => Self::Array(&ty.bounds, id(&ty.element)),
            Resolved::Named(_, TypeDefinition::Map(ty)) => Self::Map(ty.bound, id(&ty.key), id(&ty.element)),
            _ => return None,
        })
    }
}

/// Whether the fields of two bitsets have the same positions and lengths.
fn have_same_bits<F: Form>(reader: &super::BitsetType<F>, writer: &super::BitsetType<F>) -> bool {
    let reader = reader.fields.iter().map(|field| (field.position, field.bit_count));
    let writer = writer.fields.iter().map(|field| (field.position, field.bit_count));
    reader.eq(writer)
}

/// The unsigned integer type that holds a bitmask.
fn bitmask_holder(bit_bound: u16) -> PrimitiveType {
    match bit_bound {
        0..=8 => PrimitiveType::UInt8,
        9..=16 => PrimitiveType::UInt16,
        17..=32 => PrimitiveType::UInt32,
        _ => PrimitiveType::UInt64,
    }
}

fn describe<F: Form>(ty: &Resolved<'_, F>) -> String {
    match ty {
        Resolved::Plain(TypeIdentifier::Primitive(primitive)) => primitive.name().to_owned(),
        Resolved::Plain(TypeIdentifier::String8 { .. }) => "string".to_owned(),
        Resolved::Plain(TypeIdentifier::String16 { .. }) => "wstring".to_owned(),
        Resolved::Plain(TypeIdentifier::Sequence { .. }) => "a sequence".to_owned(),
        Resolved::Plain(TypeIdentifier::Array { .. }) => "an array".to_owned(),
        Resolved::Plain(TypeIdentifier::Map { .. }) => "a map".to_owned(),
        Resolved::Plain(_) => "no type".to_owned(),
        Resolved::Named(_, definition) => {
            let kind = match definition {
                TypeDefinition::Alias(_) => "an alias",
                TypeDefinition::Enum(_) => "enum",
                TypeDefinition::Bitmask(_) => "bitmask",
                TypeDefinition::Struct(_) => "struct",
                TypeDefinition::Union(_) => "union",
                TypeDefinition::Bitset(_) => "bitset",
                TypeDefinition::Sequence(_) => "a sequence",
                TypeDefinition::Array(_) => "an array",
                TypeDefinition::Map(_) => "a map",
            };
            match definition.name() {
                Some(name) => format!("{kind} {name}"),
                None => kind.to_owned(),
            }
        }
    }
}
