//! Descriptions by the derive as complete TypeObjects (XTYPES 1.3, 7.3.4.5).

use super::annotation::MemberAnnotations;
use super::flags::{MemberFlags, TypeFlags};
use super::form::{Complete, DiscriminatorDetail, Form, MemberDetail};
use super::graph::Indescribable;
use super::graph_builder::TypeGraphBuilder;
use super::identifier::{PlainElement, PrimitiveType, TypeIdentifier};
use super::object::{
    Bitfield, Bitflag, BitmaskType, BitsetType, CommonLiteral, EnumLiteral, EnumType, StructMember, StructType,
    TypeDefinition, UnionMember, UnionType,
};
use crate::cdr::{
    BitmaskDescription, BitsetDescription, EnumDescription, StructDescription, TypeDescription, TypeKind, UnionCase,
    UnionDescription,
};
use std::ptr;

/// Creates the definitions of types.
#[derive(Default)]
pub(super) struct Definer {
    pub(super) builder: TypeGraphBuilder,
    /// The named types so far, with their provisional identifiers.
    known: Vec<(&'static TypeDescription, TypeIdentifier)>,
}

impl Definer {
    /// The provisional identifier of a named type.
    pub(super) fn named(&mut self, ty: &'static TypeDescription) -> Result<TypeIdentifier, Indescribable> {
        for (known, id) in &self.known {
            // The compiler may duplicate a constant in memory, and different types may have the same name.
            if ptr::eq(*known, ty) || known.name() == ty.name() && known.is_encoded_like(ty) {
                return Ok(id.clone());
            }
        }
        // Known before its members, because a type may contain itself.
        let id = self.builder.reserve();
        self.known.push((ty, id.clone()));
        let definition = self.definition(ty)?;
        self.builder.define(&id, definition);
        Ok(id)
    }

    fn definition(&mut self, ty: &'static TypeDescription) -> Result<TypeDefinition<Complete>, Indescribable> {
        match ty.kind() {
            TypeKind::Struct(description) => self.of_struct(ty, description).map(TypeDefinition::Struct),
            TypeKind::Union(description) => self.of_union(ty, description).map(TypeDefinition::Union),
            TypeKind::Enum(description) => Ok(TypeDefinition::Enum(of_enum(ty, description))),
            TypeKind::Bitmask(description) => Ok(TypeDefinition::Bitmask(of_bitmask(ty, description))),
            TypeKind::Bitset(description) => Ok(TypeDefinition::Bitset(of_bitset(ty, description))),
            _ => Err(Indescribable::NoTopicType),
        }
    }

    fn of_struct(
        &mut self,
        ty: &TypeDescription,
        description: &StructDescription,
    ) -> Result<StructType<Complete>, Indescribable> {
        let base = match description.base() {
            Some(base) => self.named(base)?,
            None => TypeIdentifier::None,
        };
        let mut members = Vec::with_capacity(description.own_members().len());
        for member in description.own_members() {
            members.push(StructMember {
                id: member.id(),
                flags: MemberFlags::of_try_construct(member.on_construct_failure())
                    .with(MemberFlags::EXTERNAL, member.is_external())
                    .with(MemberFlags::OPTIONAL, member.is_optional())
                    .with(MemberFlags::MUST_UNDERSTAND, member.must_understand)
                    .with(MemberFlags::KEY, member.is_key()),
                ty: self.identifier(member.ty())?,
                detail: member_detail(member.name(), member.hash_id_name()),
            });
        }
        Ok(StructType { flags: type_flags(ty), base, detail: Complete::of_type(ty.name()), members })
    }

    fn of_union(
        &mut self,
        ty: &TypeDescription,
        description: &UnionDescription,
    ) -> Result<UnionType<Complete>, Indescribable> {
        let discriminator = self.identifier(description.discriminator())?;
        let has_default = description.cases().iter().any(|case| case.is_default() && case.ty().is_some());
        let mut members = Vec::with_capacity(description.cases().len());
        for case in description.cases() {
            match self.of_case(case)? {
                Some(member) => members.push(member),
                // Such a label selects no member here. Peers would apply the default case to it.
                None if has_default => return Err(Indescribable::EmptyCase(case.name())),
                None => {}
            }
        }
        Ok(UnionType {
            flags: type_flags(ty),
            detail: Complete::of_type(ty.name()),
            discriminator_flags: MemberFlags::of_try_construct(description.on_construct_failure())
                .union(MemberFlags::MUST_UNDERSTAND)
                .with(MemberFlags::KEY, description.has_key()),
            discriminator,
            discriminator_detail: DiscriminatorDetail::default(),
            members,
        })
    }

    fn of_case(&mut self, case: &UnionCase) -> Result<Option<UnionMember<Complete>>, Indescribable> {
        // A TypeObject has no case without a member: such a label belongs to no case.
        let Some(ty) = case.ty() else { return Ok(None) };
        // A default case keeps its own labels: they select it in addition to all labels without a case.
        let mut labels = Vec::with_capacity(case.labels().len());
        for label in case.labels() {
            labels.push(label_bits(*label)?);
        }
        Ok(Some(UnionMember {
            id: case.id(),
            flags: MemberFlags::of_try_construct(case.on_construct_failure())
                .with(MemberFlags::EXTERNAL, case.is_external())
                .with(MemberFlags::DEFAULT, case.is_default()),
            ty: self.identifier(ty)?,
            labels,
            detail: member_detail(case.name(), case.hash_id_name()),
        }))
    }

    /// The identifier of a type: a full description, or a provisional identifier for a named type.
    fn identifier(&mut self, ty: &'static TypeDescription) -> Result<TypeIdentifier, Indescribable> {
        if let Some(primitive) = primitive(ty.kind()) {
            return Ok(TypeIdentifier::Primitive(primitive));
        }
        Ok(match ty.kind() {
            TypeKind::String { bound } => TypeIdentifier::String8 { bound: bound.unwrap_or(0) },
            // A TypeObject does not say how the characters of ROS are encoded.
            TypeKind::WString { bound } | TypeKind::RosWString { bound } => {
                TypeIdentifier::String16 { bound: bound.unwrap_or(0) }
            }
            TypeKind::Sequence { bound, element } => {
                TypeIdentifier::Sequence { bound: bound.unwrap_or(0), element: self.element(element())? }
            }
            TypeKind::Array { .. } => {
                let (mut bounds, mut innermost) = (Vec::new(), ty);
                // Nested arrays are one array of several dimensions.
                while let TypeKind::Array { length, element } = innermost.kind() {
                    bounds.push(*length);
                    innermost = element();
                }
                TypeIdentifier::Array { bounds, element: self.element(innermost)? }
            }
            TypeKind::Map { bound, key, element } => {
                let (key, element) = (key(), element());
                let (key_flags, key) = (element_flags(key), Box::new(self.identifier(key)?));
                TypeIdentifier::Map { bound: bound.unwrap_or(0), element: self.element(element)?, key_flags, key }
            }
            _ => self.named(ty)?,
        })
    }

    fn element(&mut self, ty: &'static TypeDescription) -> Result<Box<PlainElement>, Indescribable> {
        Ok(Box::new(PlainElement::new(element_flags(ty), self.identifier(ty)?)))
    }
}

/// The flags of elements: how values that the type cannot hold are handled.
fn element_flags(element: &TypeDescription) -> MemberFlags {
    MemberFlags::of_try_construct(element.on_construct_failure())
}

/// A label as it stands in a TypeObject. Labels of unsigned discriminators keep their bits.
pub(super) fn label_bits(label: i64) -> Result<i32, Indescribable> {
    match (i32::try_from(label), u32::try_from(label)) {
        (Ok(label), _) => Ok(label),
        // A label of an unsigned discriminator above `i32::MAX` keeps its bits.
        (_, Ok(label)) => Ok(i32::from_le_bytes(label.to_le_bytes())),
        _ => Err(Indescribable::Label(label)),
    }
}

fn primitive(kind: &TypeKind) -> Option<PrimitiveType> {
    Some(match kind {
        TypeKind::Bool => PrimitiveType::Bool,
        TypeKind::Octet => PrimitiveType::Byte,
        TypeKind::Int8 => PrimitiveType::Int8,
        TypeKind::UInt8 => PrimitiveType::UInt8,
        TypeKind::Int16 => PrimitiveType::Int16,
        TypeKind::UInt16 => PrimitiveType::UInt16,
        TypeKind::Int32 => PrimitiveType::Int32,
        TypeKind::UInt32 => PrimitiveType::UInt32,
        TypeKind::Int64 => PrimitiveType::Int64,
        TypeKind::UInt64 => PrimitiveType::UInt64,
        TypeKind::Float32 => PrimitiveType::Float32,
        TypeKind::Float64 => PrimitiveType::Float64,
        TypeKind::Float128 => PrimitiveType::Float128,
        TypeKind::Char8 => PrimitiveType::Char8,
        TypeKind::Char16 => PrimitiveType::Char16,
        _ => return None,
    })
}

fn of_enum(ty: &TypeDescription, description: &EnumDescription) -> EnumType<Complete> {
    let default = description.default_literal();
    let mut literals: Vec<EnumLiteral<Complete>> = Vec::new();
    for literal in description.literals() {
        let flags = MemberFlags::NONE.with(MemberFlags::DEFAULT, default == Some(literal));
        let common = CommonLiteral { value: literal.value(), flags };
        literals.push(EnumLiteral { common, detail: Complete::of_member(literal.name()) });
    }
    // Annex B orders literals by value, so that the hash does not depend on the order of definition.
    literals.sort_by_key(|literal| literal.common.value);
    EnumType {
        flags: type_flags(ty),
        bit_bound: description.bit_bound().into(),
        detail: Complete::of_type(ty.name()),
        literals,
    }
}

fn of_bitmask(ty: &TypeDescription, description: &BitmaskDescription) -> BitmaskType<Complete> {
    let mut bitflags: Vec<Bitflag<Complete>> = Vec::new();
    for flag in description.flags() {
        let detail = Complete::of_member(flag.name());
        bitflags.push(Bitflag { position: flag.position().into(), flags: MemberFlags::NONE, detail });
    }
    // As for literals: the hash does not depend on the order of definition.
    bitflags.sort_by_key(|flag| flag.position);
    BitmaskType {
        flags: type_flags(ty),
        bit_bound: description.bit_bound().into(),
        detail: Complete::of_type(ty.name()),
        bitflags,
    }
}

/// The destination type of IDL: `bitfield<7, short>` (IDL 4.2, 7.4.13.4.3.3).
pub(super) const fn of_bits(width: u8, is_signed: bool) -> PrimitiveType {
    match (width, is_signed) {
        (0..=1, _) => PrimitiveType::Bool,
        (2..=8, false) => PrimitiveType::UInt8,
        (2..=8, true) => PrimitiveType::Int8,
        (9..=16, false) => PrimitiveType::UInt16,
        (9..=16, true) => PrimitiveType::Int16,
        (17..=32, false) => PrimitiveType::UInt32,
        (17..=32, true) => PrimitiveType::Int32,
        (_, false) => PrimitiveType::UInt64,
        (_, true) => PrimitiveType::Int64,
    }
}

fn of_bitset(ty: &TypeDescription, description: &BitsetDescription) -> BitsetType<Complete> {
    let mut fields = Vec::new();
    for field in description.fields() {
        fields.push(Bitfield {
            position: field.position().into(),
            flags: MemberFlags::NONE,
            bit_count: field.bit_count(),
            holder: of_bits(field.width(), field.is_signed()),
            detail: Complete::of_member(field.name()),
        });
    }
    BitsetType { flags: TypeFlags::NONE, detail: Complete::of_type(ty.name()), fields }
}

fn type_flags(ty: &TypeDescription) -> TypeFlags {
    TypeFlags::of_extensibility(ty.extensibility())
        .with(TypeFlags::NESTED, ty.is_nested)
        .with(TypeFlags::AUTOID_HASH, ty.has_hash_ids)
}

pub(super) fn member_detail(name: &str, hash_id: Option<&str>) -> MemberDetail {
    let mut detail = Complete::of_member(name);
    if let Some(hashed) = hash_id {
        let annotations = MemberAnnotations { hash_id: Some(hashed.to_owned()), ..MemberAnnotations::default() };
        detail.builtin_annotations = Some(Box::new(annotations));
    }
    detail
}
