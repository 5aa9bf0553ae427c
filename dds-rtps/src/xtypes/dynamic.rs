//! Types that are made at run time of complete TypeObjects (feature `dynamic`).
//!
//! In: the name of a type, and the TypeObjects that it needs, from a stranger. Out: a type that was checked as a whole, or why
//! it is none. Minimal TypeObjects have no names and make no such type.

use super::{
    BitmaskType, BitsetType, Complete, EnumType, MemberFlags, PlainElement, Primitive, StructType, TypeDefinition,
    TypeIdentifier, UnionType,
};
use crate::cdr::TryConstruct;
use crate::cdr::dynamic::{CollectionBuilder, DynamicType, PrimitiveKind, TypeDraft, TypeError};
use std::collections::HashMap;

/// The type that `id` names. `lookup` gives the complete TypeObjects of the hashes in it.
///
/// # Errors
/// [`TypeError::Missing`] of what `lookup` does not have, and as of every type: strangers may send anything.
pub fn dynamic_type_of<'o>(
    id: &TypeIdentifier,
    lookup: &dyn Fn(&TypeIdentifier) -> Option<&'o TypeDefinition<Complete>>,
) -> Result<DynamicType, TypeError> {
    let mut maker = Maker { lookup, done: HashMap::new(), open: Vec::new(), drafts: 0 };
    maker.of(id)?.build()
}

struct Maker<'l, 'o> {
    lookup: &'l dyn Fn(&TypeIdentifier) -> Option<&'o TypeDefinition<Complete>>,
    /// Types that are finished, for they are part of nothing that is open.
    done: HashMap<TypeIdentifier, DynamicType>,
    /// Types that are being made, with their names, and whether something in them has named them.
    open: Vec<(TypeIdentifier, String, bool)>,
    drafts: usize,
}

/// How many types are made on the way: in those that contain each other, one may be made several times.
const DRAFTS_MAX: usize = 16_384;
/// How deep they may lie in each other: as deep as the check of a type allows.
const LEVELS_MAX: usize = 128;

impl Maker<'_, '_> {
    fn of(&mut self, id: &TypeIdentifier) -> Result<TypeDraft, TypeError> {
        Ok(match id {
            TypeIdentifier::None => return Err(TypeError::Malformed { what: "a part without a type" }),
            TypeIdentifier::Primitive(primitive) => DynamicType::primitive(kind_of(*primitive)).into(),
            TypeIdentifier::String8 { bound } => match bounded(*bound) {
                Some(bound) => DynamicType::bounded_string(bound).into(),
                None => DynamicType::string().into(),
            },
            TypeIdentifier::String16 { bound } => match bounded(*bound) {
                Some(bound) => DynamicType::bounded_wstring(bound).into(),
                None => DynamicType::wstring().into(),
            },
            TypeIdentifier::Sequence { bound, element } => {
                let PlainElement { flags, id, .. } = &**element;
                with_bound(DynamicType::sequence(self.of(id)?), *bound).try_construct(flags.try_construct()).into()
            }
            TypeIdentifier::Array { bounds, element } => self.array(bounds, &element.id, element.flags)?,
            TypeIdentifier::Map { bound, element, key_flags, key } => {
                let map = DynamicType::map(self.of(key)?, self.of(&element.id)?);
                let map = with_bound(map, *bound).try_construct(element.flags.try_construct());
                map.try_construct_keys(key_flags.try_construct()).into()
            }
            TypeIdentifier::StronglyConnected(_) | TypeIdentifier::Complete(_) => return self.of_hash(id),
            TypeIdentifier::Minimal(_) => {
                return Err(TypeError::Malformed { what: "a minimal type object, which has no names" });
            }
        })
    }

    /// An array of several dimensions is an array of arrays, the outermost first.
    fn array(&mut self, bounds: &[u32], id: &TypeIdentifier, flags: MemberFlags) -> Result<TypeDraft, TypeError> {
        if bounds.is_empty() || bounds.len() > LEVELS_MAX {
            return Err(TypeError::Malformed { what: "an array without dimensions, or with too many" });
        }
        let mut element = self.of(id)?;
        let mut try_construct = flags.try_construct();
        for length in bounds.iter().rev() {
            element = DynamicType::array(element, *length).try_construct(try_construct).into();
            try_construct = TryConstruct::Discard;
        }
        Ok(element)
    }

    fn of_hash(&mut self, id: &TypeIdentifier) -> Result<TypeDraft, TypeError> {
        if let Some(done) = self.done.get(id) {
            return Ok(done.into());
        }
        if let Some((_, name, is_named)) = self.open.iter_mut().find(|(open, ..)| open == id) {
            *is_named = true;
            return Ok(DynamicType::named(name));
        }
        self.drafts += 1;
        if self.drafts > DRAFTS_MAX || self.open.len() >= LEVELS_MAX {
            return Err(TypeError::TooLarge { what: "types that contain each other", max: DRAFTS_MAX as u64 });
        }
        let Some(definition) = (self.lookup)(id) else { return Err(TypeError::Missing { what: format!("{id:?}") }) };
        let name = definition.name().unwrap_or_default().to_owned();
        // By its name a type that contains itself is found again.
        if self.open.iter().any(|(_, other, _)| *other == name && !name.is_empty()) {
            return Err(TypeError::Malformed { what: "two types of the same name, one in the other" });
        }
        self.open.push((id.clone(), name.clone(), false));
        let draft = self.of_definition(name, definition)?;
        self.open.pop();
        // What names something that is still open is finished together with it.
        if self.open.iter().any(|(_, _, is_named)| *is_named) {
            return Ok(draft);
        }
        let ty = draft.build()?;
        self.done.insert(id.clone(), ty.clone());
        Ok(ty.into())
    }

    fn of_definition(&mut self, name: String, definition: &TypeDefinition<Complete>) -> Result<TypeDraft, TypeError> {
        Ok(match definition {
            TypeDefinition::Alias(ty) => DynamicType::alias(&name, self.of(&ty.related_type)?),
            TypeDefinition::Enum(ty) => enumeration(&name, ty)?,
            TypeDefinition::Bitmask(ty) => bitmask(&name, ty)?,
            TypeDefinition::Bitset(ty) => bitset(&name, ty)?,
            TypeDefinition::Struct(ty) => self.structure(&name, ty)?,
            TypeDefinition::Union(ty) => self.union(&name, ty)?,
            TypeDefinition::Sequence(ty) => {
                let sequence = DynamicType::sequence(self.of(&ty.element.ty)?);
                with_bound(sequence, ty.bound).try_construct(ty.element.flags.try_construct()).into()
            }
            TypeDefinition::Array(ty) => self.array(&ty.bounds, &ty.element.ty, ty.element.flags)?,
            TypeDefinition::Map(ty) => {
                let map = DynamicType::map(self.of(&ty.key.ty)?, self.of(&ty.element.ty)?);
                let map = with_bound(map, ty.bound).try_construct(ty.element.flags.try_construct());
                map.try_construct_keys(ty.key.flags.try_construct()).into()
            }
        })
    }

    fn structure(&mut self, name: &str, ty: &StructType<Complete>) -> Result<TypeDraft, TypeError> {
        let mut builder = DynamicType::structure(name).extensibility(ty.flags.extensibility());
        if ty.base != TypeIdentifier::None {
            builder = builder.base(self.of(&ty.base)?);
        }
        for member in &ty.members {
            let says = |flag| member.flags.contains(flag);
            builder = builder.member(&member.detail.name, self.of(&member.ty)?).id(member.id);
            builder = builder.try_construct(member.flags.try_construct());
            builder = if says(MemberFlags::KEY) { builder.key() } else { builder };
            builder = if says(MemberFlags::OPTIONAL) { builder.optional() } else { builder };
            builder = if says(MemberFlags::EXTERNAL) { builder.external() } else { builder };
            // Key members are so by themselves, and are not sent as such (see `cdr`, mutable structs).
            let must_be = says(MemberFlags::MUST_UNDERSTAND) && !says(MemberFlags::KEY);
            builder = if must_be { builder.must_understand() } else { builder };
        }
        Ok(builder.into())
    }

    fn union(&mut self, name: &str, ty: &UnionType<Complete>) -> Result<TypeDraft, TypeError> {
        let mut builder = DynamicType::union(name, self.of(&ty.discriminator)?);
        builder = builder.extensibility(ty.flags.extensibility());
        builder = builder.try_construct(ty.discriminator_flags.try_construct());
        if ty.discriminator_flags.contains(MemberFlags::KEY) {
            builder = builder.key();
        }
        for member in &ty.members {
            let labels: Vec<i64> = member.labels.iter().map(|label| i64::from(*label)).collect();
            builder = builder.case(&member.detail.name, &labels, self.of(&member.ty)?).id(member.id);
            builder = builder.try_construct_member(member.flags.try_construct());
            if member.flags.contains(MemberFlags::DEFAULT) {
                builder = builder.or_default();
            }
        }
        Ok(builder.into())
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

fn enumeration(name: &str, ty: &EnumType<Complete>) -> Result<TypeDraft, TypeError> {
    let mut builder = DynamicType::enumeration(name).extensibility(ty.flags.extensibility());
    builder = builder.bit_bound(small(ty.bit_bound));
    for literal in &ty.literals {
        builder = builder.literal_of(&literal.detail.name, literal.common.value);
        if literal.common.flags.contains(MemberFlags::DEFAULT) {
            builder = builder.default_literal(&literal.detail.name);
        }
    }
    Ok(builder.into())
}

fn bitmask(name: &str, ty: &BitmaskType<Complete>) -> Result<TypeDraft, TypeError> {
    let mut builder = DynamicType::bitmask(name).extensibility(ty.flags.extensibility());
    builder = builder.bit_bound(small(ty.bit_bound));
    for flag in &ty.bitflags {
        builder = builder.flag_at(&flag.detail.name, small(flag.position));
    }
    Ok(builder.into())
}

fn bitset(name: &str, ty: &BitsetType<Complete>) -> Result<TypeDraft, TypeError> {
    let (mut builder, mut end) = (DynamicType::bitset(name), 0_u16);
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
        CommonLiteral, ComponentId, EnumLiteral, Equivalence, EquivalenceHash, Form, StructMember, TypeFlags,
        UnionMember,
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
        let refused = make(&hash(1), &tangle);
        assert_eq!(refused, Err(TypeError::TooLarge { what: "types that contain each other", max: 16_384 }));
    }
}
