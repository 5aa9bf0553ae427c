//! Whether what a writer sends can be what a reader has (XTYPES 1.3, 7.2.4.4, and 7.6.3.4 for the policy).
//!
//! In the standard's words T1 is the reader's type and T2 the writer's.

use super::compatible::{of_enums, of_structs, of_unions};
use super::consistency::{TypeConsistency, TypeConsistencyKind};
use super::difference::{TypeDifference, TypeDifferenceKind as Kind};
use super::flags::MemberFlags;
use super::form::{Form, NameHash};
use super::identifier::{Primitive, TypeIdentifier};
use super::object::{CollectionElement, TypeDefinition, TypeObject};
use crate::cdr::Extensibility;
use std::collections::BTreeSet;
use std::marker::PhantomData;

/// Why two types do not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// They differ.
    Differs(TypeDifference),
    /// The description of this type is needed to tell.
    Unknown(TypeIdentifier),
}

/// Where descriptions are found, and names of members if the descriptions do not have them.
pub trait TypeSource {
    /// The description of the type with this hash.
    fn find(&self, id: &TypeIdentifier) -> Option<&TypeObject>;
    /// The name that has this hash.
    fn name(&self, _: NameHash) -> Option<&str> {
        None
    }
}

/// Whether a writer's type fits that of a reader, as the reader's policy has it.
///
/// # Errors
/// It does not, or more descriptions are needed to tell.
pub fn check_assignable<F: Form>(
    source: &dyn TypeSource,
    reader: &TypeIdentifier,
    writer: &TypeIdentifier,
    policy: &TypeConsistency,
) -> Result<(), Mismatch> {
    if reader == writer {
        return Ok(());
    }
    if policy.kind == TypeConsistencyKind::DisallowTypeCoercion {
        return Err(Mismatch::Differs(TypeDifference { path: String::new(), kind: Kind::NotEqual }));
    }
    let mut comparison =
        Comparison::<F> { source, policy, seen: BTreeSet::new(), path: Vec::new(), depth: 0, form: PhantomData };
    comparison.assignable(reader, writer, Keys::Matter)
}

/// Whether keys are compared: not in members that are no keys themselves (KeyErased).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Keys {
    Matter,
    AreErased,
}

/// A comparison under way.
pub(super) struct Comparison<'a, F> {
    source: &'a dyn TypeSource,
    pub(super) policy: &'a TypeConsistency,
    /// Pairs that were compared, or still are: what differs is found where they came up first.
    seen: BTreeSet<(TypeIdentifier, TypeIdentifier, Keys)>,
    path: Vec<String>,
    depth: usize,
    form: PhantomData<F>,
}

pub(super) type Checked = Result<(), Mismatch>;

/// How deep types may be nested that are compared. A peer decides how deep its own are.
const DEPTH_MAX: usize = 64;

/// A type, aliases looked through.
enum Resolved<'a, F: Form> {
    Plain(&'a TypeIdentifier),
    Named(&'a TypeIdentifier, &'a TypeDefinition<F>),
}

impl<'a, F: Form> Comparison<'a, F> {
    /// Whether the reader's type is assignable from the writer's.
    pub(super) fn assignable(&mut self, reader: &TypeIdentifier, writer: &TypeIdentifier, keys: Keys) -> Checked {
        if reader == writer {
            return Ok(());
        }
        if self.depth == DEPTH_MAX {
            return self.differ(Kind::TooDeep);
        }
        self.depth += 1;
        let result = self.compare(reader, writer, keys);
        self.depth -= 1;
        result
    }

    /// The same, and the writer's values say where they end.
    pub(super) fn strongly_assignable(
        &mut self,
        reader: &TypeIdentifier,
        writer: &TypeIdentifier,
        keys: Keys,
    ) -> Checked {
        self.assignable(reader, writer, keys)?;
        if reader == writer || self.is_delimited(writer, 0)? { Ok(()) } else { self.differ(Kind::NotDelimited) }
    }

    /// What is the matter with a member.
    pub(super) fn within(&mut self, name: String, check: impl FnOnce(&mut Self) -> Checked) -> Checked {
        self.path.push(name);
        let result = check(self);
        self.path.pop();
        result
    }

    pub(super) fn differ(&self, kind: Kind) -> Checked {
        Err(Mismatch::Differs(TypeDifference { path: self.path.join("."), kind }))
    }

    /// The name of a member, or its id if nobody knows it.
    pub(super) fn name_of(&self, detail: &F::Member, id: u32) -> String {
        let known = F::member_name(detail).or_else(|| self.source.name(F::name_hash(detail)));
        known.map_or_else(|| format!("member with id {id}"), str::to_owned)
    }

    fn resolve<'b>(&self, id: &'b TypeIdentifier) -> Result<Resolved<'b, F>, Mismatch>
    where
        'a: 'b,
    {
        let mut id: &'b TypeIdentifier = id;
        for _ in 0..DEPTH_MAX {
            if !id.is_hash() {
                return Ok(Resolved::Plain(id));
            }
            match self.definition(id)? {
                TypeDefinition::Alias(alias) => id = &alias.related_type,
                definition => return Ok(Resolved::Named(id, definition)),
            }
        }
        self.differ(Kind::TooDeep).map(|()| Resolved::Plain(id))
    }

    fn definition(&self, id: &TypeIdentifier) -> Result<&'a TypeDefinition<F>, Mismatch> {
        self.source.find(id).and_then(F::definition).ok_or_else(|| Mismatch::Unknown(id.clone()))
    }

    /// The struct that a type is, if it is one.
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
                    let bits = |ty: &super::BitsetType<F>| -> Vec<u32> {
                        ty.fields
                            .iter()
                            .map(|field| u32::from(field.position) << 8 | u32::from(field.bit_count))
                            .collect()
                    };
                    if bits(r) == bits(w) { Ok(()) } else { self.differ(Kind::Literals) }
                }
                _ => self.collections(&reader, &writer, keys),
            },
            // A bitmask is a number with names (7.2.4.4.3, table 15).
            (Resolved::Named(_, TypeDefinition::Bitmask(mask)), Resolved::Plain(TypeIdentifier::Primitive(number)))
            | (Resolved::Plain(TypeIdentifier::Primitive(number)), Resolved::Named(_, TypeDefinition::Bitmask(mask)))
                if number_of_bits(mask.bit_bound) == *number =>
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
            // The same bytes, but the standard has no row that makes one of the other (7.2.4.4.3, table 15), and nor do Cyclone
            // DDS, OpenDDS and Fast DDS: if only we matched, a reliable writer would wait for a reader that never answers.
            (Id::Primitive(Primitive::UInt8), Id::Primitive(Primitive::Byte)) => {
                self.differ(Kind::OctetOrUInt8 { writer_has_octet: true })
            }
            (Id::Primitive(Primitive::Byte), Id::Primitive(Primitive::UInt8)) => {
                self.differ(Kind::OctetOrUInt8 { writer_has_octet: false })
            }
            (Id::Primitive(Primitive::Int8), Id::Primitive(Primitive::Char8)) => {
                self.differ(Kind::CharOrInt8 { writer_has_char: true })
            }
            (Id::Primitive(Primitive::Char8), Id::Primitive(Primitive::Int8)) => {
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

    /// Whether all that the writer may send has room at the reader.
    pub(super) fn bounds(&self, reader: u32, writer: u32, is_ignored: bool) -> Checked {
        let effective = |bound: u32| if bound == 0 { u32::MAX } else { bound };
        match is_ignored || effective(reader) >= effective(writer) {
            true => Ok(()),
            false => self.differ(Kind::Bound { writer, reader }),
        }
    }

    fn equal_sizes(&self, writer: &[u32], reader: &[u32]) -> Checked {
        match writer == reader {
            true => Ok(()),
            false => self.differ(Kind::Size { writer: writer.to_vec(), reader: reader.to_vec() }),
        }
    }

    /// Sequences, arrays and maps, whether they have a name or not. Everything else is of different kinds.
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

    /// Whether values of a type say where they end, in XCDR2 (7.2.4.2).
    fn is_delimited(&self, id: &TypeIdentifier, depth: usize) -> Result<bool, Mismatch> {
        if depth == DEPTH_MAX {
            return Ok(true);
        }
        let all = |ids: &mut dyn Iterator<Item = &TypeIdentifier>| -> Result<bool, Mismatch> {
            for id in ids {
                if !self.is_delimited(id, depth + 1)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let resolved = self.resolve(id)?;
        if let Some(collection) = Collection::of(&resolved) {
            return match collection {
                Collection::Sequence(_, element) | Collection::Array(_, element) => all(&mut [element].into_iter()),
                Collection::Map(_, key, element) => all(&mut [key, element].into_iter()),
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

    /// What a key member must hold beyond what any member does: all values of the writer's (7.2.4.4.8).
    pub(super) fn key_member(&mut self, reader: &TypeIdentifier, writer: &TypeIdentifier) -> Checked {
        use TypeIdentifier as Id;
        let (r, w) = (self.resolve(reader)?, self.resolve(writer)?);
        match (&r, &w) {
            (Resolved::Plain(Id::String8 { bound: r }), Resolved::Plain(Id::String8 { bound: w }))
            | (Resolved::Plain(Id::String16 { bound: r }), Resolved::Plain(Id::String16 { bound: w })) => {
                self.bounds(*r, *w, false)
            }
            (Resolved::Named(_, TypeDefinition::Enum(r)), Resolved::Named(_, TypeDefinition::Enum(w))) => {
                let has = |value: i32| r.literals.iter().any(|literal| literal.common.value == value);
                match w.literals.iter().all(|literal| has(literal.common.value)) {
                    true => Ok(()),
                    false => self.differ(Kind::Literals),
                }
            }
            _ => match (Collection::of(&r), Collection::of(&w)) {
                (Some(Collection::Sequence(r, _)), Some(Collection::Sequence(w, _)))
                | (Some(Collection::Map(r, ..)), Some(Collection::Map(w, ..))) => self.bounds(r, w, false),
                _ => Ok(()),
            },
        }
    }

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

/// A collection, whether it has a name or not.
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

/// The number that has as many bits as a bitmask needs.
fn number_of_bits(bit_bound: u16) -> Primitive {
    match bit_bound {
        0..=8 => Primitive::UInt8,
        9..=16 => Primitive::UInt16,
        17..=32 => Primitive::UInt32,
        _ => Primitive::UInt64,
    }
}

fn describe<F: Form>(ty: &Resolved<'_, F>) -> String {
    let named = |kind: &str, name: Option<&str>| name.map_or_else(|| kind.to_owned(), |name| format!("{kind} {name}"));
    match ty {
        Resolved::Plain(TypeIdentifier::Primitive(primitive)) => primitive.name().to_owned(),
        Resolved::Plain(TypeIdentifier::String8 { .. }) => "string".to_owned(),
        Resolved::Plain(TypeIdentifier::String16 { .. }) => "wstring".to_owned(),
        Resolved::Plain(TypeIdentifier::Sequence { .. }) => "a sequence".to_owned(),
        Resolved::Plain(TypeIdentifier::Array { .. }) => "an array".to_owned(),
        Resolved::Plain(TypeIdentifier::Map { .. }) => "a map".to_owned(),
        Resolved::Plain(_) => "no type".to_owned(),
        Resolved::Named(_, definition) => named(
            match definition {
                TypeDefinition::Alias(_) => "an alias",
                TypeDefinition::Enum(_) => "enum",
                TypeDefinition::Bitmask(_) => "bitmask",
                TypeDefinition::Struct(_) => "struct",
                TypeDefinition::Union(_) => "union",
                TypeDefinition::Bitset(_) => "bitset",
                TypeDefinition::Sequence(_) => "a sequence",
                TypeDefinition::Array(_) => "an array",
                TypeDefinition::Map(_) => "a map",
            },
            definition.name(),
        ),
    }
}
