//! Creates dynamic types from complete TypeObjects (feature `dynamic`).
//!
//! In: the identifier of a type, and untrusted TypeObjects. Out: a checked type, or the reason why it is invalid.
//! Minimal TypeObjects contain no names, so no dynamic type can be created from them.
//!
//! Bound: a few bytes can describe deeply nested types, or types with very many copies of a part. Therefore
//! [`LEVELS_MAX`] limits the depth, and [`PARTS_MAX`] the number of created parts. Nothing is owned beyond a call.

use super::dynamic_graph::graph_of_objects;
use super::{
    AliasType, BitmaskType, BitsetType, Complete, EnumType, MemberDetail, MemberFlags, PrimitiveType, StructMember,
    StructType, TypeDefinition, TypeFlags, TypeIdentifier, UnionMember, UnionType,
};
use crate::cdr::TryConstruct;
use crate::cdr::dynamic::{
    CollectionBuilder, DynamicType, Input, PrimitiveKind, StructBuilder, TypeDraft, TypeError, UnionBuilder,
};
use std::collections::HashMap;

/// Creates the type with identifier `id`. `lookup` returns the complete TypeObjects of its hashes.
///
/// # Errors
/// [`TypeError::Missing`] if `lookup` does not have a TypeObject. Any other [`TypeError`] if the untrusted
/// descriptions are not a valid type.
pub fn dynamic_type_of<'o>(
    id: &TypeIdentifier,
    lookup: &dyn Fn(&TypeIdentifier) -> Option<&'o TypeDefinition<Complete>>,
) -> Result<DynamicType, TypeError> {
    dynamic_type_with_defaults(id, lookup, &|_, _| None)
}

/// Creates the type with identifier `id`, with initial values of members of structs.
///
/// TypeObjects contain no `@default`. `default` returns that of the struct with this name and the member with this id.
///
/// # Errors
/// Those of [`dynamic_type_of`], and [`TypeError::InvalidDefault`].
pub fn dynamic_type_with_defaults<'o>(
    id: &TypeIdentifier,
    lookup: &dyn Fn(&TypeIdentifier) -> Option<&'o TypeDefinition<Complete>>,
    default: &dyn Fn(&str, u32) -> Option<Input>,
) -> Result<DynamicType, TypeError> {
    let mut converter = TypeConverter {
        lookup,
        default,
        finished: HashMap::new(),
        open: Vec::new(),
        outermost_reference: None,
        level: 0,
        parts: 0,
        is_of_ros: lookup(id).and_then(TypeDefinition::name).unwrap_or_default().contains(ROS_SCOPE),
    };
    let draft = converter.convert(id)?;
    debug_assert!(converter.open.is_empty(), "every opened type is closed");
    let ty = draft.build()?;
    // Without these objects, other ones describe the type.
    if let Ok(graph) = graph_of_objects(id, lookup) {
        ty.set_origin(Box::new(graph));
    }
    Ok(ty)
}

/// The names of ROS types in DDS have this part.
const ROS_SCOPE: &str = "::dds_::";

struct TypeConverter<'l, 'o> {
    lookup: &'l dyn Fn(&TypeIdentifier) -> Option<&'o TypeDefinition<Complete>>,
    default: &'l dyn Fn(&str, u32) -> Option<Input>,
    /// Finished types. None of them refers to an open type.
    finished: HashMap<TypeIdentifier, DynamicType>,
    /// Types under construction with their names, each inside of the previous one.
    open: Vec<(TypeIdentifier, String)>,
    /// The outermost open type that the current draft refers to so far, as an index of `open`.
    outermost_reference: Option<usize>,
    /// The nesting level of the current type.
    level: usize,
    /// The number of parts created so far: types, members, literals, labels.
    parts: usize,
    /// Whether a `wstring` has four bytes for each UTF-16 unit, as in ROS 2.
    is_of_ros: bool,
}

/// Most levels of nested types, equal to the limit of the check of a type. Each dimension of an array is a level.
///
/// A level takes about 5 KiB of stack in a build without optimization. All levels and the check of the finished type
/// fit into half of the 2 MiB of a thread.
const LEVELS_MAX: usize = 128;
/// Most parts that are created for one type, with all copies.
///
/// A type that refers to an open type is created for each use. A finished type contains copies of its parts.
/// The limit is 32 times the number of types that one type may contain; less than 100 MB of memory.
const PARTS_MAX: usize = 1 << 17;
/// Most bytes of a name, equal to the limit of the check of a type. Each copy of a draft contains its names.
const NAME_LEN_MAX: usize = 255;

/// Recursive functions keep their stack frames small.
///
/// Without optimization each arm of a `match` and each call of a builder has its own slot in the frame. Therefore the
/// work of the arms is in functions of their own.
impl TypeConverter<'_, '_> {
    fn convert(&mut self, id: &TypeIdentifier) -> Result<TypeDraft, TypeError> {
        // Counted before anything is built, because a small TypeObject can expand to a large type.
        self.charge(1)?;
        self.descend(1)?;
        let draft = match id {
            TypeIdentifier::Sequence { bound, element } => self.sequence(*bound, &element.id, element.flags),
            TypeIdentifier::Array { bounds, element } => self.array(bounds, &element.id, element.flags),
            TypeIdentifier::Map { bound, element, key_flags, key } => {
                self.map(*bound, (key, *key_flags), (&element.id, element.flags))
            }
            TypeIdentifier::StronglyConnected(_) | TypeIdentifier::Complete(_) => self.hashed_type(id),
            // As in types of a derive, the UTF-16 units are numbers.
            TypeIdentifier::String16 { bound } if self.is_of_ros => {
                Ok(with_bound(DynamicType::sequence(DynamicType::uint32()), *bound).into())
            }
            _ => leaf_type(id),
        };
        self.level -= 1;
        draft
    }

    /// Descends by `levels`. After an error the level stays too high, because the conversion ends.
    fn descend(&mut self, levels: usize) -> Result<(), TypeError> {
        self.level += levels;
        // The outermost type counts as a level here, but not in the limit.
        if self.level > LEVELS_MAX + 1 {
            return Err(TypeError::TooLarge { what: "levels", max: LEVELS_MAX as u64 });
        }
        Ok(())
    }

    /// Counts created parts.
    fn charge(&mut self, parts: usize) -> Result<(), TypeError> {
        self.parts = self.parts.saturating_add(parts);
        if self.parts > PARTS_MAX {
            return Err(TypeError::TooLarge { what: "created parts", max: PARTS_MAX as u64 });
        }
        Ok(())
    }

    fn sequence(&mut self, bound: u32, id: &TypeIdentifier, flags: MemberFlags) -> Result<TypeDraft, TypeError> {
        let element = self.convert(id)?;
        let builder = with_bound(DynamicType::sequence(element), bound).try_construct(flags.try_construct());
        Ok(builder.external(flags.contains(MemberFlags::EXTERNAL)).into())
    }

    /// Converts an array. Several dimensions become arrays of arrays, the outermost first.
    fn array(&mut self, bounds: &[u32], id: &TypeIdentifier, flags: MemberFlags) -> Result<TypeDraft, TypeError> {
        // Each dimension becomes a node and a level of its own.
        if bounds.is_empty() || bounds.len() > LEVELS_MAX {
            return Err(TypeError::Malformed { what: "an array with no dimension, or with too many" });
        }
        // The outermost dimension was counted with the array.
        let inner = bounds.len() - 1;
        self.charge(inner)?;
        self.descend(inner)?;
        let element = self.convert(id)?;
        self.level -= inner;
        Ok(with_dimensions(element, bounds, flags))
    }

    fn map(
        &mut self,
        bound: u32,
        (key, key_flags): (&TypeIdentifier, MemberFlags),
        (id, flags): (&TypeIdentifier, MemberFlags),
    ) -> Result<TypeDraft, TypeError> {
        let key = self.convert(key)?;
        let map = DynamicType::map(key, self.convert(id)?);
        let map = with_bound(map, bound).try_construct(flags.try_construct());
        let map = map.external(flags.contains(MemberFlags::EXTERNAL));
        let map = map.external_keys(key_flags.contains(MemberFlags::EXTERNAL));
        Ok(map.try_construct_keys(key_flags.try_construct()).into())
    }

    fn hashed_type(&mut self, id: &TypeIdentifier) -> Result<TypeDraft, TypeError> {
        if let Some(finished) = self.finished.get(id) {
            return Ok(finished.into());
        }
        for (index, (open, name)) in self.open.iter().enumerate() {
            if open == id {
                let known = self.outermost_reference.unwrap_or(index);
                self.outermost_reference = Some(known.min(index));
                return Ok(DynamicType::named(name));
            }
        }
        let Some(definition) = (self.lookup)(id) else { return Err(TypeError::Missing { what: format!("{id:?}") }) };
        if let TypeDefinition::Alias(ty) = definition {
            check_names(definition)?;
            return self.hashed_alias(id, ty);
        }
        // References inside of this type must not count for the types around it, unless they lead out of it.
        let outer = self.outermost_reference.take();
        self.open(id, definition)?;
        let draft = self.convert_definition(definition)?;
        self.close(draft, outer)
    }

    /// An alias is never open, because a reference by name leads to a struct or a union. Inside of itself an alias is
    /// converted again, up to the open type. The limit of the levels ends a cycle of aliases alone.
    fn hashed_alias(&mut self, id: &TypeIdentifier, ty: &AliasType<Complete>) -> Result<TypeDraft, TypeError> {
        let outer = self.outermost_reference.take();
        let draft = self.alias(ty)?;
        if let Some(reference) = self.outermost_reference {
            self.outermost_reference = Some(outer.unwrap_or(reference).min(reference));
            return Ok(draft);
        }
        self.outermost_reference = outer;
        let ty = draft.build()?;
        self.charge(ty.parts())?;
        self.finished.insert(id.clone(), ty.clone());
        Ok(ty.into())
    }

    fn open(&mut self, id: &TypeIdentifier, definition: &TypeDefinition<Complete>) -> Result<(), TypeError> {
        check_names(definition)?;
        self.charge(self.parts_of(definition))?;
        let name = definition.name().unwrap_or_default().to_owned();
        // References to open types are by name, so open types need distinct names.
        if self.open.iter().any(|(_, other)| *other == name && !name.is_empty()) {
            return Err(TypeError::Malformed { what: "two types of the same name, one inside of the other" });
        }
        self.open.push((id.clone(), name));
        Ok(())
    }

    /// Closes the innermost open type. `outer` is the outermost reference of the types around it.
    fn close(&mut self, draft: TypeDraft, outer: Option<usize>) -> Result<TypeDraft, TypeError> {
        let Some((id, _)) = self.open.pop() else {
            debug_assert!(false, "only an open type is closed");
            return Ok(draft);
        };
        // A draft that refers to a type which is still open is finished together with that type.
        if let Some(reference) = self.outermost_reference {
            if reference < self.open.len() {
                self.outermost_reference = Some(outer.unwrap_or(reference).min(reference));
                return Ok(draft);
            }
        }
        self.outermost_reference = outer;
        let ty = draft.build()?;
        // A finished type is copied into each graph that uses it.
        self.charge(ty.parts())?;
        self.finished.insert(id, ty.clone());
        Ok(ty.into())
    }

    /// The number of parts of a draft apart from the types that it contains.
    fn parts_of(&self, definition: &TypeDefinition<Complete>) -> usize {
        match definition {
            TypeDefinition::Struct(ty) => self.inherited_members(&ty.base),
            TypeDefinition::Union(ty) => ty.members.iter().map(|member| member.labels.len()).sum(),
            TypeDefinition::Enum(ty) => ty.literals.len(),
            TypeDefinition::Bitmask(ty) => ty.bitflags.len(),
            TypeDefinition::Bitset(ty) => ty.fields.len(),
            _ => 0,
        }
    }

    /// The number of members that a struct inherits from its bases.
    fn inherited_members(&self, base: &TypeIdentifier) -> usize {
        let (mut base, mut members) = (base, 0);
        // A chain of bases may be a cycle. Its members are only counted here.
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

    fn convert_definition(&mut self, definition: &TypeDefinition<Complete>) -> Result<TypeDraft, TypeError> {
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
        let target = self.convert(&ty.related_type)?;
        Ok(DynamicType::alias(&ty.detail.name, target))
    }

    fn structure(&mut self, ty: &StructType<Complete>) -> Result<TypeDraft, TypeError> {
        let mut builder = DynamicType::structure(&ty.detail.name).extensibility(ty.flags.extensibility());
        if ty.flags.contains(TypeFlags::NESTED) {
            builder = builder.nested();
        }
        if ty.flags.contains(TypeFlags::AUTOID_HASH) {
            builder = builder.hash_ids();
        }
        if ty.base != TypeIdentifier::None {
            let base = self.convert(&ty.base)?;
            // Before the members: their ids continue those of the base.
            builder = builder.base(base);
        }
        for member in &ty.members {
            let draft = self.convert(&member.ty)?;
            builder = with_member(builder, member, draft);
            // A TypeObject has no defaults, so they come from the IDL, if there is any.
            if let Some(default) = (self.default)(&ty.detail.name, member.id) {
                builder = builder.default(default);
            }
        }
        Ok(builder.into())
    }

    fn union(&mut self, ty: &UnionType<Complete>) -> Result<TypeDraft, TypeError> {
        let discriminator = self.convert(&ty.discriminator)?;
        let mut builder = with_discriminator(ty, discriminator);
        for member in &ty.members {
            let draft = self.convert(&member.ty)?;
            builder = with_case(builder, member, draft);
        }
        Ok(builder.into())
    }
}

/// Converts a type that contains no other types.
fn leaf_type(id: &TypeIdentifier) -> Result<TypeDraft, TypeError> {
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
            return Err(TypeError::Malformed { what: "a minimal TypeObject, which contains no names" });
        }
        _ => return Err(TypeError::Malformed { what: "a part without a type" }),
    })
}

fn with_dimensions(element: TypeDraft, bounds: &[u32], flags: MemberFlags) -> TypeDraft {
    let (mut element, mut try_construct) = (element, flags.try_construct());
    let mut is_external = flags.contains(MemberFlags::EXTERNAL);
    for length in bounds.iter().rev() {
        element = DynamicType::array(element, *length).try_construct(try_construct).external(is_external).into();
        // The annotations belong to the elements, so only the innermost array has them.
        (try_construct, is_external) = (TryConstruct::Discard, false);
    }
    element
}

fn with_member(builder: StructBuilder, member: &StructMember<Complete>, ty: TypeDraft) -> StructBuilder {
    let flags = member.flags;
    let mut builder = builder.member(&member.detail.name, ty).id(member.id);
    builder = builder.try_construct(flags.try_construct());
    if let Some(hashed) = hash_id_of(&member.detail) {
        builder = builder.hash_id(hashed);
    }
    if flags.contains(MemberFlags::KEY) {
        builder = builder.key();
    }
    if flags.contains(MemberFlags::OPTIONAL) {
        builder = builder.optional();
    }
    if flags.contains(MemberFlags::EXTERNAL) {
        builder = builder.external();
    }
    // A key implies `must_understand`, and is not encoded with that flag (see `cdr`, mutable structs).
    if flags.contains(MemberFlags::MUST_UNDERSTAND) && !flags.contains(MemberFlags::KEY) {
        builder = builder.must_understand();
    }
    builder
}

fn with_discriminator(ty: &UnionType<Complete>, discriminator: TypeDraft) -> UnionBuilder {
    let mut builder = DynamicType::union(&ty.detail.name, discriminator);
    builder = builder.extensibility(ty.flags.extensibility());
    builder = builder.try_construct(ty.discriminator_flags.try_construct());
    if ty.flags.contains(TypeFlags::NESTED) {
        builder = builder.nested();
    }
    if ty.flags.contains(TypeFlags::AUTOID_HASH) {
        builder = builder.hash_ids();
    }
    if ty.discriminator_flags.contains(MemberFlags::KEY) { builder.key() } else { builder }
}

/// The name that the id of a member is a hash of (`@hashid`).
fn hash_id_of(detail: &MemberDetail) -> Option<&str> {
    detail.builtin_annotations.as_ref()?.hash_id.as_deref()
}

fn with_case(builder: UnionBuilder, member: &UnionMember<Complete>, ty: TypeDraft) -> UnionBuilder {
    let labels: Vec<i64> = member.labels.iter().map(|label| i64::from(*label)).collect();
    let mut builder = builder.case(&member.detail.name, &labels, ty).id(member.id);
    builder = builder.try_construct_member(member.flags.try_construct());
    if let Some(hashed) = hash_id_of(&member.detail) {
        builder = builder.hash_id(hashed);
    }
    if member.flags.contains(MemberFlags::EXTERNAL) {
        builder = builder.external();
    }
    if member.flags.contains(MemberFlags::DEFAULT) { builder.or_default() } else { builder }
}

fn check_names(definition: &TypeDefinition<Complete>) -> Result<(), TypeError> {
    check_name(definition.name().unwrap_or_default())?;
    let details: Vec<&MemberDetail> = match definition {
        TypeDefinition::Struct(ty) => ty.members.iter().map(|member| &member.detail).collect(),
        TypeDefinition::Union(ty) => ty.members.iter().map(|member| &member.detail).collect(),
        TypeDefinition::Enum(ty) => ty.literals.iter().map(|literal| &literal.detail).collect(),
        TypeDefinition::Bitmask(ty) => ty.bitflags.iter().map(|flag| &flag.detail).collect(),
        TypeDefinition::Bitset(ty) => ty.fields.iter().map(|field| &field.detail).collect(),
        _ => Vec::new(),
    };
    for detail in details {
        check_name(&detail.name)?;
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), TypeError> {
    if name.len() > NAME_LEN_MAX {
        return Err(TypeError::InvalidName { name: name.to_owned() });
    }
    Ok(())
}

/// The bound, if any. 0 means unbounded, and so does `u32::MAX`, which Cyclone DDS's Python binding writes for maps.
fn bounded(bound: u32) -> Option<u32> {
    (bound != 0 && bound != u32::MAX).then_some(bound)
}

fn with_bound(builder: CollectionBuilder, bound: u32) -> CollectionBuilder {
    match bounded(bound) {
        Some(bound) => builder.bound(bound),
        None => builder,
    }
}

/// Narrows a number of bits. The check of the type rejects numbers that are too large.
fn narrow(bits: u16) -> u8 {
    // A larger number is out of range for the builder, which then reports it.
    u8::try_from(bits).unwrap_or(u8::MAX)
}

fn enumeration(ty: &EnumType<Complete>) -> Result<TypeDraft, TypeError> {
    let mut builder = DynamicType::enumeration(&ty.detail.name).extensibility(ty.flags.extensibility());
    builder = builder.bit_bound(narrow(ty.bit_bound));
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
    builder = builder.bit_bound(narrow(ty.bit_bound));
    for flag in &ty.bitflags {
        builder = builder.flag_at(&flag.detail.name, narrow(flag.position));
    }
    Ok(builder.into())
}

fn bitset(ty: &BitsetType<Complete>) -> Result<TypeDraft, TypeError> {
    let (mut builder, mut end) = (DynamicType::bitset(&ty.detail.name), 0_u16);
    for field in &ty.fields {
        let Some(gap) = field.position.checked_sub(end) else {
            return Err(TypeError::Malformed { what: "a bitset with fields that overlap or are out of order" });
        };
        end = field.position.saturating_add(u16::from(field.bit_count));
        let is_signed = matches!(
            field.holder,
            PrimitiveType::Int8 | PrimitiveType::Int16 | PrimitiveType::Int32 | PrimitiveType::Int64
        );
        builder = builder.padding(narrow(gap));
        builder = if is_signed {
            builder.signed_field(&field.detail.name, field.bit_count)
        } else {
            builder.field(&field.detail.name, field.bit_count)
        };
    }
    Ok(builder.into())
}

const fn kind_of(primitive: PrimitiveType) -> PrimitiveKind {
    match primitive {
        PrimitiveType::Bool => PrimitiveKind::Bool,
        PrimitiveType::Byte => PrimitiveKind::Octet,
        PrimitiveType::Int8 => PrimitiveKind::Int8,
        PrimitiveType::UInt8 => PrimitiveKind::UInt8,
        PrimitiveType::Int16 => PrimitiveKind::Int16,
        PrimitiveType::UInt16 => PrimitiveKind::UInt16,
        PrimitiveType::Int32 => PrimitiveKind::Int32,
        PrimitiveType::UInt32 => PrimitiveKind::UInt32,
        PrimitiveType::Int64 => PrimitiveKind::Int64,
        PrimitiveType::UInt64 => PrimitiveKind::UInt64,
        PrimitiveType::Float32 => PrimitiveKind::Float32,
        PrimitiveType::Float64 => PrimitiveKind::Float64,
        PrimitiveType::Float128 => PrimitiveKind::Float128,
        PrimitiveType::Char8 => PrimitiveKind::Char8,
        PrimitiveType::Char16 => PrimitiveKind::Char16,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        CommonLiteral, ComponentId, EnumLiteral, Equivalence, EquivalenceHash, Form, PlainElement, TypeGraph,
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

    const LONG: TypeIdentifier = TypeIdentifier::Primitive(PrimitiveType::Int32);

    #[test]
    fn type_objects_become_dynamic_type() {
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
                   @mutable\nunion Choice switch (@key m::Color) {\n    case m::BLUE:\n        int32 a;\n    default:\n        \
                   @id(7) int32 b;\n};\n\n@final\nstruct Root {\n    @key int32 id;\n    @optional Choice choice;\n    \
                   sequence<@try_construct(TRIM) string<4>> names;\n    int32 matrix[2][3];\n};";
        assert_eq!(ty.to_string(), idl);
    }

    #[test]
    fn flags_of_the_objects_stay_in_the_graph_of_the_type() {
        let part = structure("Part", &[("x", LONG, MemberFlags::NONE)]);
        // Dynamic data ignores these flags: `MUST_UNDERSTAND` of a key, and the default of a literal.
        let key = MemberFlags::KEY.union(MemberFlags::MUST_UNDERSTAND);
        let literal = CommonLiteral { value: 3, flags: MemberFlags::MUST_UNDERSTAND };
        let color = TypeDefinition::Enum(EnumType {
            flags: TypeFlags::FINAL,
            bit_bound: 32,
            detail: Complete::of_type("Color"),
            literals: vec![EnumLiteral { common: literal, detail: Complete::of_member("RED") }],
        });
        let root = structure(
            "Root",
            &[("id", LONG, key), ("part", hash(2), MemberFlags::NONE), ("color", hash(3), MemberFlags::NONE)],
        );
        let ty = make(&hash(1), &[(hash(1), root), (hash(2), part), (hash(3), color)]).unwrap();
        let graph = TypeGraph::of_dynamic(&ty).unwrap();
        let flags: Vec<u16> = graph
            .types()
            .iter()
            .filter_map(|ty| match Complete::definition(&ty.complete)? {
                TypeDefinition::Struct(found) => Some(found.members[0].flags.0),
                TypeDefinition::Enum(found) => Some(found.literals[0].common.flags.0),
                _ => None,
            })
            .collect();
        assert_eq!(flags, [key.0, MemberFlags::NONE.0, MemberFlags::MUST_UNDERSTAND.0]);
        // A part of the type is another type.
        let part = TypeGraph::of_dynamic(&ty.member("part").unwrap().ty()).unwrap();
        assert_eq!(Complete::definition(&part.types()[0].complete).unwrap().name(), Some("Part"));
    }

    #[test]
    fn wide_string_of_ros_is_a_sequence_of_units() {
        let wide = TypeIdentifier::String16 { bound: 0 };
        for (name, idl) in [("test_msgs::msg::dds_::Wide_", "sequence<uint32> text"), ("Wide", "wstring text")] {
            let objects = [(hash(1), structure(name, &[("text", wide.clone(), MemberFlags::NONE)]))];
            let ty = make(&hash(1), &objects).unwrap();
            assert!(ty.to_string().contains(idl), "{ty}");
            let graph = TypeGraph::of_dynamic(&ty).unwrap();
            let Some(TypeDefinition::Struct(found)) = Complete::definition(&graph.types()[0].complete) else {
                panic!("a struct")
            };
            assert_eq!(found.members[0].ty, wide);
        }
    }

    #[test]
    fn mutually_recursive_types_are_converted() {
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
    fn invalid_type_objects_are_rejected() {
        let lone =
            |members: &[(&str, TypeIdentifier, MemberFlags)]| make(&hash(1), &[(hash(1), structure("T", members))]);
        let missing = TypeError::Missing { what: format!("{:?}", hash(2)) };
        assert_eq!(lone(&[("x", hash(2), MemberFlags::NONE)]), Err(missing));
        assert_eq!(lone(&[("x", hash(1), MemberFlags::NONE)]), Err(TypeError::ContainsItself { ty: "T".into() }));
        let minimal = TypeIdentifier::Minimal(EquivalenceHash([0; 14]));
        assert!(matches!(lone(&[("x", minimal, MemberFlags::NONE)]), Err(TypeError::Malformed { .. })));
        assert!(matches!(lone(&[("x", TypeIdentifier::None, MemberFlags::NONE)]), Err(TypeError::Malformed { .. })));
        // Each type contains the next one ten times: few objects, but more members than a type may have.
        let bomb: Vec<_> = (1..30)
            .map(|number| {
                let names: Vec<String> = (0..10).map(|index| format!("m{index}")).collect();
                let next = || sequence(hash(number + 1), MemberFlags::NONE);
                let members: Vec<_> = names.iter().map(|name| (name.as_str(), next(), MemberFlags::NONE)).collect();
                (hash(number), structure(&format!("T{number}"), &members))
            })
            .chain([(hash(30), structure("T30", &[("x", LONG, MemberFlags::NONE)]))])
            .collect();
        assert_eq!(make(&hash(1), &bomb), Err(TypeError::TooLarge { what: "members in all parts", max: 1 << 16 }));
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

    fn with_stack<R: Send>(bytes: usize, body: impl FnOnce() -> R + Send) -> R {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, body).unwrap();
            thread.join().unwrap()
        })
    }

    /// Half of the default stack size of a thread.
    const STACK: usize = 1 << 20;

    #[test]
    fn nested_types_never_overflow_the_stack() {
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
        assert_eq!(with_stack(STACK, || aliases(64, 0)), refused);
        assert_eq!(with_stack(STACK, || aliases(0, 100)), refused);
        // The deepest valid types. The last one refers to the first, so that all are finished together.
        let nested = |count: u8| {
            let struct_of = |number: u8| match number {
                _ if number < count => structure(&format!("T{number}"), &[("x", hash(number + 1), MemberFlags::NONE)]),
                _ => structure("Last", &[("x", sequence(hash(1), MemberFlags::NONE), MemberFlags::NONE)]),
            };
            make(&hash(1), &(1..=count).map(|number| (hash(number), struct_of(number))).collect::<Vec<_>>())
        };
        assert!(with_stack(STACK, || nested(127)).is_ok());
        assert_eq!(with_stack(STACK, || nested(128)), refused);
        // Here each type is finished on its own.
        let nested = |count: u8| {
            let struct_of = |number: u8| {
                let ty = if number < count { hash(number + 1) } else { LONG };
                (hash(number), structure(&format!("T{number}"), &[("x", ty, MemberFlags::NONE)]))
            };
            make(&hash(1), &(1..=count).map(struct_of).collect::<Vec<_>>())
        };
        assert!(with_stack(STACK, || nested(128)).is_ok());
        assert_eq!(with_stack(STACK, || nested(129)), refused);
        // Unions and maps have other stack frames than structs.
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
        assert!(with_stack(STACK, || make(&hash(1), &all)).is_ok());
    }

    /// The first member refers to the open struct. The other members do not, and their type is finished at once.
    #[test]
    fn type_without_open_reference_is_converted_once() {
        let names: Vec<String> = (0..50).map(|index| format!("m{index}")).collect();
        let plain = structure("C", &[("x", LONG, MemberFlags::NONE)]);
        let others = names.iter().map(|name| (name.as_str(), hash(2), MemberFlags::NONE));
        let members: Vec<_> =
            [("itself", sequence(hash(1), MemberFlags::NONE), MemberFlags::NONE)].into_iter().chain(others).collect();
        let root = structure("A", &members);
        let lookups = std::cell::Cell::new(0);
        let ty = dynamic_type_of(&hash(1), &|id| {
            lookups.set(lookups.get() + u32::from(*id == hash(2)));
            Some(if *id == hash(1) { &root } else { &plain })
        });
        assert_eq!(ty.map(|ty| ty.member("m49").is_some()), Ok(true));
        // Once for the type, and once for the objects that it keeps.
        assert_eq!(lookups.get(), 2);
    }

    /// A few bytes describe these types, and each part alone is valid. The limit counts all copies.
    #[test]
    fn created_parts_of_a_type_are_bounded() {
        let refused = Err(TypeError::TooLarge { what: "created parts", max: 1 << 17 });
        // Each alias of a large struct contains a copy of it.
        let names: Vec<String> = (0..200).map(|index| format!("m{index}")).collect();
        let members: Vec<_> =
            names.iter().zip(3..).map(|(name, index)| (name.as_str(), hash(index), MemberFlags::NONE)).collect();
        let field = |index: usize| format!("x{index}");
        let fields: Vec<String> = (0..2_000).map(field).collect();
        let fields: Vec<_> = fields.iter().map(|name| (name.as_str(), LONG, MemberFlags::NONE)).collect();
        let mut all = vec![(hash(1), structure("Root", &members)), (hash(2), structure("C", &fields))];
        all.extend((3..=202).map(|index| (hash(index), alias(&format!("A{index}"), hash(2)))));
        assert_eq!(make(&hash(1), &all), refused);
        // Structs that extend it and refer to an open type: each inherits all members.
        let itself = || sequence(hash(1), MemberFlags::NONE);
        all.truncate(2);
        all.extend((3..=202).map(|index| {
            let mut extended = structure(&format!("B{index}"), &[("itself", itself(), MemberFlags::NONE)]);
            let TypeDefinition::Struct(ty) = &mut extended else { unreachable!() };
            ty.base = hash(2);
            (hash(index), extended)
        }));
        assert_eq!(make(&hash(1), &all), refused);
        // A struct that refers to the open type is created for each member of that type.
        let many = TypeIdentifier::Array {
            bounds: vec![1; 100],
            element: Box::new(PlainElement::new(MemberFlags::NONE, itself())),
        };
        let members: Vec<_> = names.iter().map(|name| (name.as_str(), hash(2), MemberFlags::NONE)).collect();
        let again = structure("C", &vec![("x", many, MemberFlags::NONE); 20]);
        assert_eq!(make(&hash(1), &[(hash(1), structure("Root", &members)), (hash(2), again)]), refused);
        // Labels of a union, and too long names.
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
        // Each type contains each other type: without a limit every path through them would be converted.
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
