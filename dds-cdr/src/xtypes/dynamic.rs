//! Types that are made at run time of complete TypeObjects (feature `dynamic`).
//!
//! In: the name of a type, and the TypeObjects that it needs, from a stranger. Out: a type that was checked as a whole, or why
//! it is none. Minimal TypeObjects have no names and make no such type.
//!
//! Bound: few bytes can describe types that lie deep in each other, or that are made many times on the way, so levels are limited to
//! [`LEVELS_MAX`], and all that is made to [`PARTS_MAX`]. Nothing here is owned beyond a call.

use super::{
    AliasType, BitmaskType, BitsetType, Complete, EnumType, MemberFlags, Primitive, StructMember, StructType,
    TypeDefinition, TypeIdentifier, UnionMember, UnionType,
};
use crate::cdr::TryConstruct;
use crate::cdr::dynamic::{
    CollectionBuilder, DynamicType, PrimitiveKind, StructBuilder, TypeDraft, TypeError, UnionBuilder,
};
use std::collections::HashMap;

/// The type that `id` names. `lookup` gives the complete TypeObjects of the hashes in it.
///
/// # Errors
/// [`TypeError::Missing`] of what `lookup` does not have, and as of every type: strangers may send anything.
pub fn dynamic_type_of<'o>(
    id: &TypeIdentifier,
    lookup: &dyn Fn(&TypeIdentifier) -> Option<&'o TypeDefinition<Complete>>,
) -> Result<DynamicType, TypeError> {
    let mut maker = Maker { lookup, done: HashMap::new(), open: Vec::new(), named: None, level: 0, parts: 0 };
    maker.of(id)?.build()
}

struct Maker<'l, 'o> {
    lookup: &'l dyn Fn(&TypeIdentifier) -> Option<&'o TypeDefinition<Complete>>,
    /// Types that are finished, for they are part of nothing that is open.
    done: HashMap<TypeIdentifier, DynamicType>,
    /// Types that are being made, each in the one before it, with their names.
    open: Vec<(TypeIdentifier, String)>,
    /// The outermost of them that the draft which is being made has named so far.
    named: Option<usize>,
    /// In how many others lies what is being made.
    level: usize,
    /// What was made so far: types, members, literals, labels.
    parts: usize,
}

/// How deep types may lie in each other: as deep as the check of a type allows. An array has as many levels as dimensions. A level
/// takes some 5 KiB of stack in a build without optimization, so that all of them, and the check of what is finished, fit into half of
/// the 2 MiB of a thread.
const LEVELS_MAX: usize = 128;
/// How much is made on the way, with all copies: a type that names one which is not finished is made for each that has it, and one
/// that is finished has copies of those in it. 32 times as much as the types that one type may be made of, and less than 100 MB.
const PARTS_MAX: usize = 1 << 17;
/// How long a name may be, in bytes: what the check of a type allows. Each copy of a draft has its names.
const NAME_LEN_MAX: usize = 255;

/// What calls itself here has little in its frame: without optimization each arm of a `match`, and each step of a builder, has
/// a place of its own there, so those are functions of their own.
impl Maker<'_, '_> {
    fn of(&mut self, id: &TypeIdentifier) -> Result<TypeDraft, TypeError> {
        self.charge(1)?;
        self.descend(1)?;
        let draft = match id {
            TypeIdentifier::Sequence { bound, element } => self.sequence(*bound, &element.id, element.flags),
            TypeIdentifier::Array { bounds, element } => self.array(bounds, &element.id, element.flags),
            TypeIdentifier::Map { bound, element, key_flags, key } => {
                self.map(*bound, (key, *key_flags), (&element.id, element.flags))
            }
            TypeIdentifier::StronglyConnected(_) | TypeIdentifier::Complete(_) => self.of_hash(id),
            _ => of_nothing_else(id),
        };
        self.level -= 1;
        draft
    }

    /// Goes so many levels deeper. Only who goes on comes back.
    fn descend(&mut self, levels: usize) -> Result<(), TypeError> {
        self.level += levels;
        // The outermost type is on level 0.
        match self.level > LEVELS_MAX + 1 {
            true => Err(TypeError::TooLarge { what: "levels", max: LEVELS_MAX as u64 }),
            false => Ok(()),
        }
    }

    fn charge(&mut self, parts: usize) -> Result<(), TypeError> {
        self.parts = self.parts.saturating_add(parts);
        match self.parts {
            ..=PARTS_MAX => Ok(()),
            _ => Err(TypeError::TooLarge { what: "parts on the way to a type", max: PARTS_MAX as u64 }),
        }
    }

    fn sequence(&mut self, bound: u32, id: &TypeIdentifier, flags: MemberFlags) -> Result<TypeDraft, TypeError> {
        let element = self.of(id)?;
        Ok(with_bound(DynamicType::sequence(element), bound).try_construct(flags.try_construct()).into())
    }

    /// An array of several dimensions is an array of arrays, the outermost first.
    fn array(&mut self, bounds: &[u32], id: &TypeIdentifier, flags: MemberFlags) -> Result<TypeDraft, TypeError> {
        if bounds.is_empty() || bounds.len() > LEVELS_MAX {
            return Err(TypeError::Malformed { what: "an array without dimensions, or with too many" });
        }
        // The outermost dimension was counted with the array.
        let inner = bounds.len() - 1;
        self.charge(inner)?;
        self.descend(inner)?;
        let element = self.of(id)?;
        self.level -= inner;
        Ok(with_dimensions(element, bounds, flags))
    }

    fn map(
        &mut self,
        bound: u32,
        (key, key_flags): (&TypeIdentifier, MemberFlags),
        (id, flags): (&TypeIdentifier, MemberFlags),
    ) -> Result<TypeDraft, TypeError> {
        let key = self.of(key)?;
        let map = DynamicType::map(key, self.of(id)?);
        let map = with_bound(map, bound).try_construct(flags.try_construct());
        Ok(map.try_construct_keys(key_flags.try_construct()).into())
    }

    fn of_hash(&mut self, id: &TypeIdentifier) -> Result<TypeDraft, TypeError> {
        if let Some(done) = self.done.get(id) {
            return Ok(done.into());
        }
        if let Some(place) = self.open.iter().position(|(open, _)| open == id) {
            self.named = Some(self.named.map_or(place, |named| named.min(place)));
            return Ok(DynamicType::named(self.open.get(place).map_or("", |(_, name)| name)));
        }
        let Some(definition) = (self.lookup)(id) else { return Err(TypeError::Missing { what: format!("{id:?}") }) };
        let before = self.named.take();
        self.open(id, definition)?;
        let draft = self.of_definition(definition)?;
        self.close(draft, before)
    }

    fn open(&mut self, id: &TypeIdentifier, definition: &TypeDefinition<Complete>) -> Result<(), TypeError> {
        check_names(definition)?;
        self.charge(self.parts_of(definition))?;
        let name = definition.name().unwrap_or_default().to_owned();
        // By its name a type that contains itself is found again.
        if self.open.iter().any(|(_, other)| *other == name && !name.is_empty()) {
            return Err(TypeError::Malformed { what: "two types of the same name, one in the other" });
        }
        self.open.push((id.clone(), name));
        Ok(())
    }

    /// Finishes the innermost type that is open. `before`: what those around it had named.
    fn close(&mut self, draft: TypeDraft, before: Option<usize>) -> Result<TypeDraft, TypeError> {
        let Some((id, _)) = self.open.pop() else { return Ok(draft) };
        // What names something that is still open is finished together with it.
        let named = self.named.filter(|named| *named < self.open.len());
        self.named = before.into_iter().chain(named).min();
        if named.is_some() {
            return Ok(draft);
        }
        let ty = draft.build()?;
        self.charge(ty.parts())?;
        self.done.insert(id, ty.clone());
        Ok(ty.into())
    }

    /// What a draft of it has beside the types that it is made of.
    fn parts_of(&self, definition: &TypeDefinition<Complete>) -> usize {
        match definition {
            TypeDefinition::Struct(ty) => self.inherited(&ty.base),
            TypeDefinition::Union(ty) => ty.members.iter().map(|member| member.labels.len()).sum(),
            TypeDefinition::Enum(ty) => ty.literals.len(),
            TypeDefinition::Bitmask(ty) => ty.bitflags.len(),
            TypeDefinition::Bitset(ty) => ty.fields.len(),
            _ => 0,
        }
    }

    /// How many members come with the base of a struct.
    fn inherited(&self, base: &TypeIdentifier) -> usize {
        let (mut base, mut members) = (base, 0);
        for _ in 0..=LEVELS_MAX {
            base = match (self.lookup)(base) {
                Some(TypeDefinition::Alias(ty)) => &ty.related_type,
                Some(TypeDefinition::Struct(ty)) => {
                    members += ty.members.len();
                    &ty.base
                }
                _ => break,
            };
        }
        members
    }

    fn of_definition(&mut self, definition: &TypeDefinition<Complete>) -> Result<TypeDraft, TypeError> {
        match definition {
            TypeDefinition::Alias(ty) => self.alias(ty),
            TypeDefinition::Enum(ty) => enumeration(ty),
            TypeDefinition::Bitmask(ty) => bitmask(ty),
            TypeDefinition::Bitset(ty) => bitset(ty),
            TypeDefinition::Struct(ty) => self.structure(ty),
            TypeDefinition::Union(ty) => self.union(ty),
            TypeDefinition::Sequence(ty) => self.sequence(ty.bound, &ty.element.ty, ty.element.flags),
            TypeDefinition::Array(ty) => self.array(&ty.bounds, &ty.element.ty, ty.element.flags),
            TypeDefinition::Map(ty) => {
                self.map(ty.bound, (&ty.key.ty, ty.key.flags), (&ty.element.ty, ty.element.flags))
            }
        }
    }

    fn alias(&mut self, ty: &AliasType<Complete>) -> Result<TypeDraft, TypeError> {
        let of = self.of(&ty.related_type)?;
        Ok(DynamicType::alias(&ty.detail.name, of))
    }

    fn structure(&mut self, ty: &StructType<Complete>) -> Result<TypeDraft, TypeError> {
        let mut builder = DynamicType::structure(&ty.detail.name).extensibility(ty.flags.extensibility());
        if ty.base != TypeIdentifier::None {
            let base = self.of(&ty.base)?;
            builder = builder.base(base);
        }
        for member in &ty.members {
            let draft = self.of(&member.ty)?;
            builder = with_member(builder, member, draft);
        }
        Ok(builder.into())
    }

    fn union(&mut self, ty: &UnionType<Complete>) -> Result<TypeDraft, TypeError> {
        let discriminator = self.of(&ty.discriminator)?;
        let mut builder = with_discriminator(ty, discriminator);
        for member in &ty.members {
            let draft = self.of(&member.ty)?;
            builder = with_case(builder, member, draft);
        }
        Ok(builder.into())
    }
}

/// What is made of no other types.
fn of_nothing_else(id: &TypeIdentifier) -> Result<TypeDraft, TypeError> {
    Ok(match id {
        TypeIdentifier::Primitive(primitive) => DynamicType::primitive(kind_of(*primitive)).into(),
        TypeIdentifier::String8 { bound } => match bounded(*bound) {
            Some(bound) => DynamicType::bounded_string(bound).into(),
            None => DynamicType::string().into(),
        },
        TypeIdentifier::String16 { bound } => match bounded(*bound) {
            Some(bound) => DynamicType::bounded_wstring(bound).into(),
            None => DynamicType::wstring().into(),
        },
        TypeIdentifier::Minimal(_) => {
            return Err(TypeError::Malformed { what: "a minimal type object, which has no names" });
        }
        _ => return Err(TypeError::Malformed { what: "a part without a type" }),
    })
}

fn with_dimensions(element: TypeDraft, bounds: &[u32], flags: MemberFlags) -> TypeDraft {
    let (mut element, mut try_construct) = (element, flags.try_construct());
    for length in bounds.iter().rev() {
        element = DynamicType::array(element, *length).try_construct(try_construct).into();
        try_construct = TryConstruct::Discard;
    }
    element
}

fn with_member(builder: StructBuilder, member: &StructMember<Complete>, ty: TypeDraft) -> StructBuilder {
    let says = |flag| member.flags.contains(flag);
    let mut builder = builder.member(&member.detail.name, ty).id(member.id);
    builder = builder.try_construct(member.flags.try_construct());
    builder = if says(MemberFlags::KEY) { builder.key() } else { builder };
    builder = if says(MemberFlags::OPTIONAL) { builder.optional() } else { builder };
    builder = if says(MemberFlags::EXTERNAL) { builder.external() } else { builder };
    // Key members are so by themselves, and are not sent as such (see `cdr`, mutable structs).
    let must_be = says(MemberFlags::MUST_UNDERSTAND) && !says(MemberFlags::KEY);
    if must_be { builder.must_understand() } else { builder }
}

fn with_discriminator(ty: &UnionType<Complete>, discriminator: TypeDraft) -> UnionBuilder {
    let mut builder = DynamicType::union(&ty.detail.name, discriminator);
    builder = builder.extensibility(ty.flags.extensibility());
    builder = builder.try_construct(ty.discriminator_flags.try_construct());
    if ty.discriminator_flags.contains(MemberFlags::KEY) { builder.key() } else { builder }
}

fn with_case(builder: UnionBuilder, member: &UnionMember<Complete>, ty: TypeDraft) -> UnionBuilder {
    let labels: Vec<i64> = member.labels.iter().map(|label| i64::from(*label)).collect();
    let mut builder = builder.case(&member.detail.name, &labels, ty).id(member.id);
    builder = builder.try_construct_member(member.flags.try_construct());
    if member.flags.contains(MemberFlags::DEFAULT) { builder.or_default() } else { builder }
}

fn check_names(definition: &TypeDefinition<Complete>) -> Result<(), TypeError> {
    let check = |name: &str| match name.len() {
        ..=NAME_LEN_MAX => Ok(()),
        _ => Err(TypeError::InvalidName { name: name.to_owned() }),
    };
    check(definition.name().unwrap_or_default())?;
    match definition {
        TypeDefinition::Struct(ty) => ty.members.iter().try_for_each(|member| check(&member.detail.name)),
        TypeDefinition::Union(ty) => ty.members.iter().try_for_each(|member| check(&member.detail.name)),
        TypeDefinition::Enum(ty) => ty.literals.iter().try_for_each(|literal| check(&literal.detail.name)),
        TypeDefinition::Bitmask(ty) => ty.bitflags.iter().try_for_each(|flag| check(&flag.detail.name)),
        TypeDefinition::Bitset(ty) => ty.fields.iter().try_for_each(|field| check(&field.detail.name)),
        _ => Ok(()),
    }
}

/// A bound; 0 is none, and so is the largest one, which Cyclone DDS's Python writes of maps.
fn bounded(bound: u32) -> Option<u32> {
    (bound != 0 && bound != u32::MAX).then_some(bound)
}

fn with_bound(builder: CollectionBuilder, bound: u32) -> CollectionBuilder {
    match bounded(bound) {
        Some(bound) => builder.bound(bound),
        None => builder,
    }
}

/// A number of bits, which has 16 in a TypeObject. What is too large here is refused by the check of the type.
fn small(bits: u16) -> u8 {
    u8::try_from(bits).unwrap_or(u8::MAX)
}

fn enumeration(ty: &EnumType<Complete>) -> Result<TypeDraft, TypeError> {
    let mut builder = DynamicType::enumeration(&ty.detail.name).extensibility(ty.flags.extensibility());
    builder = builder.bit_bound(small(ty.bit_bound));
    for literal in &ty.literals {
        builder = builder.literal_of(&literal.detail.name, literal.common.value);
        if literal.common.flags.contains(MemberFlags::DEFAULT) {
            builder = builder.default_literal(&literal.detail.name);
        }
    }
    Ok(builder.into())
}

fn bitmask(ty: &BitmaskType<Complete>) -> Result<TypeDraft, TypeError> {
    let mut builder = DynamicType::bitmask(&ty.detail.name).extensibility(ty.flags.extensibility());
    builder = builder.bit_bound(small(ty.bit_bound));
    for flag in &ty.bitflags {
        builder = builder.flag_at(&flag.detail.name, small(flag.position));
    }
    Ok(builder.into())
}

fn bitset(ty: &BitsetType<Complete>) -> Result<TypeDraft, TypeError> {
    let (mut builder, mut end) = (DynamicType::bitset(&ty.detail.name), 0_u16);
    for field in &ty.fields {
        let gap = field.position.checked_sub(end);
        let gap = gap.ok_or(TypeError::Malformed { what: "fields of a bitset that overlap, or are out of order" })?;
        end = field.position.saturating_add(u16::from(field.bit_count));
        let is_signed =
            matches!(field.holder, Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64);
        builder = builder.padding(small(gap));
        builder = match is_signed {
            true => builder.signed_field(&field.detail.name, field.bit_count),
            false => builder.field(&field.detail.name, field.bit_count),
        };
    }
    Ok(builder.into())
}

const fn kind_of(primitive: Primitive) -> PrimitiveKind {
    match primitive {
        Primitive::Bool => PrimitiveKind::Bool,
        Primitive::Byte => PrimitiveKind::Octet,
        Primitive::Int8 => PrimitiveKind::Int8,
        Primitive::UInt8 => PrimitiveKind::UInt8,
        Primitive::Int16 => PrimitiveKind::Int16,
        Primitive::UInt16 => PrimitiveKind::UInt16,
        Primitive::Int32 => PrimitiveKind::Int32,
        Primitive::UInt32 => PrimitiveKind::UInt32,
        Primitive::Int64 => PrimitiveKind::Int64,
        Primitive::UInt64 => PrimitiveKind::UInt64,
        Primitive::Float32 => PrimitiveKind::Float32,
        Primitive::Float64 => PrimitiveKind::Float64,
        Primitive::Float128 => PrimitiveKind::Float128,
        Primitive::Char8 => PrimitiveKind::Char8,
        Primitive::Char16 => PrimitiveKind::Char16,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        CommonLiteral, ComponentId, EnumLiteral, Equivalence, EquivalenceHash, Form, PlainElement, TypeFlags,
    };
    use super::*;

    fn hash(number: u8) -> TypeIdentifier {
        TypeIdentifier::Complete(EquivalenceHash([number; 14]))
    }

    fn cycle(index: i32) -> TypeIdentifier {
        let hash = EquivalenceHash([9; 14]);
        TypeIdentifier::StronglyConnected(ComponentId { equivalence: Equivalence::Complete, hash, length: 2, index })
    }

    fn sequence(id: TypeIdentifier, flags: MemberFlags) -> TypeIdentifier {
        TypeIdentifier::Sequence { bound: 0, element: Box::new(PlainElement::new(flags, id)) }
    }

    fn structure(name: &str, members: &[(&str, TypeIdentifier, MemberFlags)]) -> TypeDefinition<Complete> {
        let member = |(id, (name, ty, flags)): (u32, &(&str, TypeIdentifier, MemberFlags))| StructMember {
            id,
            flags: *flags,
            ty: ty.clone(),
            detail: Complete::of_member(name),
        };
        TypeDefinition::Struct(StructType {
            flags: TypeFlags::FINAL,
            base: TypeIdentifier::None,
            detail: Complete::of_type(name),
            members: (0..).zip(members).map(member).collect(),
        })
    }

    fn make(
        root: &TypeIdentifier,
        all: &[(TypeIdentifier, TypeDefinition<Complete>)],
    ) -> Result<DynamicType, TypeError> {
        dynamic_type_of(root, &|id| all.iter().find(|(other, _)| other == id).map(|(_, definition)| definition))
    }

    const LONG: TypeIdentifier = TypeIdentifier::Primitive(Primitive::Int32);

    #[test]
    fn type_objects_become_a_type() {
        let literal = |name: &str, value, flags| EnumLiteral {
            common: CommonLiteral { value, flags },
            detail: Complete::of_member(name),
        };
        let color = TypeDefinition::Enum(EnumType {
            flags: TypeFlags::FINAL,
            bit_bound: 8,
            detail: Complete::of_type("m::Color"),
            literals: vec![literal("RED", 0, MemberFlags::NONE), literal("BLUE", 5, MemberFlags::DEFAULT)],
        });
        let member = |name: &str, id, labels: &[i32], flags| UnionMember {
            id,
            flags,
            ty: LONG,
            labels: labels.to_vec(),
            detail: Complete::of_member(name),
        };
        let union = TypeDefinition::Union(UnionType {
            flags: TypeFlags::MUTABLE,
            detail: Complete::of_type("Choice"),
            discriminator_flags: MemberFlags::KEY,
            discriminator: hash(2),
            discriminator_detail: Default::default(),
            members: vec![member("a", 1, &[5], MemberFlags::NONE), member("b", 7, &[], MemberFlags::DEFAULT)],
        });
        let trimmed = MemberFlags::of_try_construct(TryConstruct::Trim);
        let array =
            TypeIdentifier::Array { bounds: vec![2, 3], element: Box::new(PlainElement::new(MemberFlags::NONE, LONG)) };
        let root = structure(
            "Root",
            &[
                ("id", LONG, MemberFlags::KEY.union(MemberFlags::MUST_UNDERSTAND)),
                ("choice", hash(3), MemberFlags::OPTIONAL),
                ("names", sequence(TypeIdentifier::String8 { bound: 4 }, trimmed), MemberFlags::NONE),
                ("matrix", array, MemberFlags::NONE),
            ],
        );
        let ty = make(&hash(1), &[(hash(1), root), (hash(2), color), (hash(3), union)]).unwrap();
        let idl = "module m { \n@final @bit_bound(8)\nenum Color {\n    @value(0) RED,\n    @default_literal @value(5) BLUE\n};\n};\n\n\
                   @mutable\nunion Choice switch (@key m::Color) {\n    case BLUE:\n        int32 a;\n    default:\n        \
                   @id(7) int32 b;\n};\n\n@final\nstruct Root {\n    @key int32 id;\n    @optional Choice choice;\n    \
                   sequence<@try_construct(TRIM) string<4>> names;\n    int32 matrix[2][3];\n};";
        assert_eq!(ty.to_string(), idl);
    }

    #[test]
    fn types_that_contain_each_other_find_each_other() {
        let many = |id| sequence(id, MemberFlags::NONE);
        let one = structure("One", &[("others", many(cycle(2)), MemberFlags::NONE)]);
        let other = structure(
            "Other",
            &[("ones", many(cycle(1)), MemberFlags::NONE), ("others", many(cycle(2)), MemberFlags::NONE)],
        );
        let ty = make(&cycle(1), &[(cycle(1), one), (cycle(2), other)]).unwrap();
        let other = ty.member("others").and_then(|member| member.ty().element()).unwrap();
        assert_eq!(other.member("ones").and_then(|member| member.ty().element()), Some(ty));
        assert_eq!(other.member("others").and_then(|member| member.ty().element()), Some(other));
    }

    #[test]
    fn what_strangers_send_is_no_type_unless_it_is_one() {
        let lone =
            |members: &[(&str, TypeIdentifier, MemberFlags)]| make(&hash(1), &[(hash(1), structure("T", members))]);
        let missing = TypeError::Missing { what: format!("{:?}", hash(2)) };
        assert_eq!(lone(&[("x", hash(2), MemberFlags::NONE)]), Err(missing));
        assert_eq!(lone(&[("x", hash(1), MemberFlags::NONE)]), Err(TypeError::ContainsItself { ty: "T".into() }));
        let minimal = TypeIdentifier::Minimal(EquivalenceHash([0; 14]));
        assert!(matches!(lone(&[("x", minimal, MemberFlags::NONE)]), Err(TypeError::Malformed { .. })));
        assert!(matches!(lone(&[("x", TypeIdentifier::None, MemberFlags::NONE)]), Err(TypeError::Malformed { .. })));
        // Each has the next one ten times: few objects, but more members than a type may have.
        let bomb: Vec<_> = (1..30)
            .map(|number| {
                let names: Vec<String> = (0..10).map(|index| format!("m{index}")).collect();
                let next = || sequence(hash(number + 1), MemberFlags::NONE);
                let members: Vec<_> = names.iter().map(|name| (name.as_str(), next(), MemberFlags::NONE)).collect();
                (hash(number), structure(&format!("T{number}"), &members))
            })
            .chain([(hash(30), structure("T30", &[("x", LONG, MemberFlags::NONE)]))])
            .collect();
        assert_eq!(make(&hash(1), &bomb), Err(TypeError::TooLarge { what: "members in all", max: 1 << 16 }));
    }

    /// Nests arrays of one element around a type.
    fn arrays(count: usize, id: TypeIdentifier) -> TypeIdentifier {
        (0..count).fold(id, |id, _| {
            let element = Box::new(PlainElement::new(MemberFlags::NONE, id));
            TypeIdentifier::Array { bounds: vec![1], element }
        })
    }

    fn alias(name: &str, of: TypeIdentifier) -> TypeDefinition<Complete> {
        TypeDefinition::Alias(AliasType {
            flags: TypeFlags::FINAL,
            detail: Complete::of_type(name),
            related_flags: MemberFlags::NONE,
            related_type: of,
            related_detail: Default::default(),
        })
    }

    fn on_a_small_stack<R: Send>(bytes: usize, body: impl FnOnce() -> R + Send) -> R {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, body).unwrap();
            thread.join().unwrap()
        })
    }

    /// Half of what a thread has if nobody says otherwise.
    const STACK: usize = 1 << 20;

    #[test]
    fn types_in_each_other_end_before_the_stack_does() {
        let aliases = |nested, dimensions: usize| {
            let of = |number: u8| match dimensions {
                0 => arrays(nested, hash(number + 1)),
                _ => {
                    let element = Box::new(PlainElement::new(MemberFlags::NONE, hash(number + 1)));
                    TypeIdentifier::Array { bounds: vec![1; dimensions], element }
                }
            };
            let all: Vec<_> =
                (1..=128_u8).map(|number| (hash(number), alias(&format!("T{number}"), of(number)))).collect();
            make(&hash(1), &all)
        };
        let refused = Err(TypeError::TooLarge { what: "levels", max: 128 });
        assert_eq!(on_a_small_stack(STACK, || aliases(64, 0)), refused);
        assert_eq!(on_a_small_stack(STACK, || aliases(0, 100)), refused);
        // The deepest ones that there may be: the last one names the first, so that nothing is finished before all of it is.
        let nested = |count: u8| {
            let struct_of = |number: u8| match number {
                _ if number < count => structure(&format!("T{number}"), &[("x", hash(number + 1), MemberFlags::NONE)]),
                _ => structure("Last", &[("x", sequence(hash(1), MemberFlags::NONE), MemberFlags::NONE)]),
            };
            make(&hash(1), &(1..=count).map(|number| (hash(number), struct_of(number))).collect::<Vec<_>>())
        };
        assert!(on_a_small_stack(STACK, || nested(127)).is_ok());
        assert_eq!(on_a_small_stack(STACK, || nested(128)), refused);
        // Each is finished where it lies.
        let nested = |count: u8| {
            let struct_of = |number: u8| {
                let ty = if number < count { hash(number + 1) } else { LONG };
                (hash(number), structure(&format!("T{number}"), &[("x", ty, MemberFlags::NONE)]))
            };
            make(&hash(1), &(1..=count).map(struct_of).collect::<Vec<_>>())
        };
        assert!(on_a_small_stack(STACK, || nested(128)).is_ok());
        assert_eq!(on_a_small_stack(STACK, || nested(129)), refused);
        // Unions have other frames than structs, and maps as well.
        let union_of = |number: u8| {
            let member = UnionMember {
                id: 1,
                flags: MemberFlags::DEFAULT,
                ty: TypeIdentifier::Map {
                    bound: 0,
                    element: Box::new(PlainElement::new(MemberFlags::NONE, hash(number % 64 + 1))),
                    key_flags: MemberFlags::NONE,
                    key: Box::new(LONG),
                },
                labels: Vec::new(),
                detail: Complete::of_member("x"),
            };
            let union = TypeDefinition::Union(UnionType {
                flags: TypeFlags::FINAL,
                detail: Complete::of_type(&format!("T{number}")),
                discriminator_flags: MemberFlags::NONE,
                discriminator: LONG,
                discriminator_detail: Default::default(),
                members: vec![member],
            });
            (hash(number), union)
        };
        let all: Vec<_> = (1..=64).map(union_of).collect();
        assert!(on_a_small_stack(STACK, || make(&hash(1), &all)).is_ok());
    }

    /// The first member names the struct that is being made; what comes behind it is finished all the same.
    #[test]
    fn what_names_nothing_that_is_open_is_made_once() {
        let names: Vec<String> = (0..50).map(|index| format!("m{index}")).collect();
        let plain = structure("C", &[("x", LONG, MemberFlags::NONE)]);
        let others = names.iter().map(|name| (name.as_str(), hash(2), MemberFlags::NONE));
        let members: Vec<_> =
            [("itself", sequence(hash(1), MemberFlags::NONE), MemberFlags::NONE)].into_iter().chain(others).collect();
        let root = structure("A", &members);
        let asked = std::cell::Cell::new(0);
        let ty = dynamic_type_of(&hash(1), &|id| {
            asked.set(asked.get() + u32::from(*id == hash(2)));
            Some(if *id == hash(1) { &root } else { &plain })
        });
        assert_eq!(ty.map(|ty| ty.member("m49").is_some()), Ok(true));
        assert_eq!(asked.get(), 1);
    }

    /// Few bytes describe them, and each by itself is a type: what is made on the way is counted as well.
    #[test]
    fn what_is_made_on_the_way_to_a_type_is_bounded() {
        let refused = Err(TypeError::TooLarge { what: "parts on the way to a type", max: 1 << 17 });
        // Aliases of a large struct: each has a copy of it.
        let names: Vec<String> = (0..200).map(|index| format!("m{index}")).collect();
        let members: Vec<_> =
            names.iter().zip(3..).map(|(name, index)| (name.as_str(), hash(index), MemberFlags::NONE)).collect();
        let field = |index: usize| format!("x{index}");
        let fields: Vec<String> = (0..2_000).map(field).collect();
        let fields: Vec<_> = fields.iter().map(|name| (name.as_str(), LONG, MemberFlags::NONE)).collect();
        let mut all = vec![(hash(1), structure("Root", &members)), (hash(2), structure("C", &fields))];
        all.extend((3..=202).map(|index| (hash(index), alias(&format!("A{index}"), hash(2)))));
        assert_eq!(make(&hash(1), &all), refused);
        // Structs that extend it, and name one that is open, so that they are made when all of it is: each inherits its members.
        let itself = || sequence(hash(1), MemberFlags::NONE);
        all.truncate(2);
        all.extend((3..=202).map(|index| {
            let mut extended = structure(&format!("B{index}"), &[("itself", itself(), MemberFlags::NONE)]);
            let TypeDefinition::Struct(ty) = &mut extended else { unreachable!() };
            ty.base = hash(2);
            (hash(index), extended)
        }));
        assert_eq!(make(&hash(1), &all), refused);
        // One that names the open one, and is made again for each member that has it.
        let many = TypeIdentifier::Array {
            bounds: vec![1; 100],
            element: Box::new(PlainElement::new(MemberFlags::NONE, itself())),
        };
        let members: Vec<_> = names.iter().map(|name| (name.as_str(), hash(2), MemberFlags::NONE)).collect();
        let again = structure("C", &vec![("x", many, MemberFlags::NONE); 20]);
        assert_eq!(make(&hash(1), &[(hash(1), structure("Root", &members)), (hash(2), again)]), refused);
        // Labels of a union, and names without end.
        let labels = UnionMember {
            id: 1,
            flags: MemberFlags::NONE,
            ty: itself(),
            labels: (0..2_000).collect(),
            detail: Complete::of_member("x"),
        };
        let again = TypeDefinition::Union(UnionType {
            flags: TypeFlags::FINAL,
            detail: Complete::of_type("C"),
            discriminator_flags: MemberFlags::NONE,
            discriminator: LONG,
            discriminator_detail: Default::default(),
            members: vec![labels],
        });
        assert_eq!(make(&hash(1), &[(hash(1), structure("Root", &members)), (hash(2), again)]), refused);
        let name = "x".repeat(256);
        let again = structure("C", &[(&name, itself(), MemberFlags::NONE)]);
        let root = structure("Root", &[("x", hash(2), MemberFlags::NONE), ("y", hash(3), MemberFlags::NONE)]);
        assert_eq!(make(&hash(1), &[(hash(1), root), (hash(2), again)]), Err(TypeError::InvalidName { name }));
        // Each is in each other one: all ways through them would be tried.
        let tangle: Vec<_> = (1..30)
            .map(|number| {
                let names: Vec<String> = (1..30).map(|index| format!("m{index}")).collect();
                let of = |index: u8| sequence(hash(index), MemberFlags::NONE);
                let members: Vec<_> =
                    names.iter().zip(1..).map(|(name, index)| (name.as_str(), of(index), MemberFlags::NONE)).collect();
                (hash(number), structure(&format!("T{number}"), &members))
            })
            .collect();
        assert_eq!(make(&hash(1), &tangle), refused);
    }
}
