//! The TypeObject of one type, once its dependencies have identifiers (XTYPES 1.3, 7.3.4.5).

use super::annotation::MemberAnnotations;
use super::flags::{MemberFlags, TypeFlags};
use super::form::Form;
use super::graph::{Identifiers, Indescribable, element_flags};
use super::identifier::{PlainElement, Primitive, TypeIdentifier};
use super::object::{
    Bitfield, Bitflag, BitmaskType, BitsetType, CommonLiteral, EnumLiteral, EnumType, StructMember, StructType,
    TypeDefinition, UnionMember, UnionType,
};
use crate::cdr::{
    BitmaskDescription, BitsetDescription, EnumDescription, StructDescription, TypeDescription, TypeKind, UnionCase,
    UnionDescription,
};

/// Creates the definitions of types.
pub(super) struct Definer<'a> {
    pub(super) identifiers: &'a Identifiers<'a>,
}

impl Definer<'_> {
    /// The definition of a named type.
    pub(super) fn definition<F: Form>(&self, ty: &'static TypeDescription) -> Result<TypeDefinition<F>, Indescribable> {
        match ty.kind() {
            TypeKind::Struct(description) => Ok(TypeDefinition::Struct(self.of_struct(ty, description))),
            TypeKind::Union(description) => self.of_union(ty, description).map(TypeDefinition::Union),
            TypeKind::Enum(description) => Ok(TypeDefinition::Enum(of_enum(ty, description))),
            TypeKind::Bitmask(description) => Ok(TypeDefinition::Bitmask(of_bitmask(ty, description))),
            TypeKind::Bitset(description) => Ok(TypeDefinition::Bitset(of_bitset(ty, description))),
            _ => Err(Indescribable::NoTopicType),
        }
    }

    fn of_struct<F: Form>(&self, ty: &TypeDescription, description: &StructDescription) -> StructType<F> {
        let mut members = Vec::with_capacity(description.own_members().len());
        for member in description.own_members() {
            members.push(StructMember {
                id: member.id(),
                flags: MemberFlags::of_try_construct(member.on_construct_failure())
                    .with(MemberFlags::EXTERNAL, member.is_external())
                    .with(MemberFlags::OPTIONAL, member.is_optional())
                    .with(MemberFlags::MUST_UNDERSTAND, member.must_understand)
                    .with(MemberFlags::KEY, member.is_key()),
                ty: self.identifier::<F>(member.ty()),
                detail: member_detail::<F>(member.name(), member.hash_id_name()),
            });
        }
        StructType {
            flags: type_flags(ty),
            base: description.base().map_or(TypeIdentifier::None, |base| self.identifiers.of::<F>(base)),
            detail: F::of_type(ty.name()),
            members,
        }
    }

    fn of_union<F: Form>(
        &self,
        ty: &TypeDescription,
        description: &UnionDescription,
    ) -> Result<UnionType<F>, Indescribable> {
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
            detail: F::of_type(ty.name()),
            discriminator_flags: MemberFlags::of_try_construct(description.on_construct_failure())
                .union(MemberFlags::MUST_UNDERSTAND)
                .with(MemberFlags::KEY, description.has_key()),
            discriminator: self.identifier::<F>(description.discriminator()),
            discriminator_detail: F::Discriminator::default(),
            members,
        })
    }

    fn of_case<F: Form>(&self, case: &UnionCase) -> Result<Option<UnionMember<F>>, Indescribable> {
        let Some(ty) = case.ty() else { return Ok(None) };
        // A default case keeps its own labels: they select it in addition to all labels without a case.
        let mut labels = Vec::with_capacity(case.labels().len());
        for label in case.labels() {
            labels.push(label_bits(*label)?);
        }
        Ok(Some(UnionMember {
            id: case.id(),
            flags: MemberFlags::of_try_construct(case.on_construct_failure())
                .with(MemberFlags::DEFAULT, case.is_default()),
            ty: self.identifier::<F>(ty),
            labels,
            detail: member_detail::<F>(case.name(), case.hash_id_name()),
        }))
    }

    /// The identifier of a type: a full description, or a hash for a named type.
    fn identifier<F: Form>(&self, ty: &TypeDescription) -> TypeIdentifier {
        if let Some(primitive) = primitive(ty.kind()) {
            return TypeIdentifier::Primitive(primitive);
        }
        let element = |ty: &TypeDescription| Box::new(PlainElement::new(element_flags(ty), self.identifier::<F>(ty)));
        match ty.kind() {
            TypeKind::String { bound } => TypeIdentifier::String8 { bound: bound.unwrap_or(0) },
            TypeKind::WString { bound } => TypeIdentifier::String16 { bound: bound.unwrap_or(0) },
            TypeKind::Sequence { bound, element: of } => {
                TypeIdentifier::Sequence { bound: bound.unwrap_or(0), element: element(of()) }
            }
            TypeKind::Array { .. } => {
                let (mut bounds, mut innermost) = (Vec::new(), ty);
                // Nested arrays are one array of several dimensions.
                while let TypeKind::Array { length, element } = innermost.kind() {
                    bounds.push(*length);
                    innermost = element();
                }
                TypeIdentifier::Array { bounds, element: element(innermost) }
            }
            TypeKind::Map { bound, key, element: of } => {
                let (mut element, key) = (element(of()), key());
                let (key_flags, key) = (element_flags(key), Box::new(self.identifier::<F>(key)));
                if !key.is_fully_descriptive() {
                    element.equivalence = F::EQUIVALENCE;
                }
                TypeIdentifier::Map { bound: bound.unwrap_or(0), element, key_flags, key }
            }
            _ => self.identifiers.of::<F>(ty),
        }
    }
}

/// A label as it stands in a TypeObject. Labels of unsigned discriminators keep their bits.
fn label_bits(label: i64) -> Result<i32, Indescribable> {
    match (i32::try_from(label), u32::try_from(label)) {
        (Ok(label), _) => Ok(label),
        (_, Ok(label)) => Ok(i32::from_le_bytes(label.to_le_bytes())),
        _ => Err(Indescribable::Label(label)),
    }
}

fn primitive(kind: &TypeKind) -> Option<Primitive> {
    Some(match kind {
        TypeKind::Bool => Primitive::Bool,
        TypeKind::Octet => Primitive::Byte,
        TypeKind::Int8 => Primitive::Int8,
        TypeKind::UInt8 => Primitive::UInt8,
        TypeKind::Int16 => Primitive::Int16,
        TypeKind::UInt16 => Primitive::UInt16,
        TypeKind::Int32 => Primitive::Int32,
        TypeKind::UInt32 => Primitive::UInt32,
        TypeKind::Int64 => Primitive::Int64,
        TypeKind::UInt64 => Primitive::UInt64,
        TypeKind::Float32 => Primitive::Float32,
        TypeKind::Float64 => Primitive::Float64,
        TypeKind::Float128 => Primitive::Float128,
        TypeKind::Char8 => Primitive::Char8,
        TypeKind::Char16 => Primitive::Char16,
        _ => return None,
    })
}

fn of_enum<F: Form>(ty: &TypeDescription, description: &EnumDescription) -> EnumType<F> {
    let default = description.default_literal();
    let mut literals: Vec<EnumLiteral<F>> = description
        .literals()
        .iter()
        .map(|literal| EnumLiteral {
            common: CommonLiteral {
                value: literal.value(),
                flags: MemberFlags::NONE.with(MemberFlags::DEFAULT, default == Some(literal)),
            },
            detail: F::of_member(literal.name()),
        })
        .collect();
    // Annex B orders literals by value, so that the hash does not depend on the order of definition.
    literals.sort_by_key(|literal| literal.common.value);
    EnumType {
        flags: type_flags(ty),
        bit_bound: description.bit_bound().into(),
        detail: F::of_type(ty.name()),
        literals,
    }
}

fn of_bitmask<F: Form>(ty: &TypeDescription, description: &BitmaskDescription) -> BitmaskType<F> {
    let bitflag = |flag: &crate::cdr::Bitflag| Bitflag {
        position: flag.position().into(),
        flags: MemberFlags::NONE,
        detail: F::of_member(flag.name()),
    };
    let mut bitflags: Vec<Bitflag<F>> = description.flags().iter().map(bitflag).collect();
    bitflags.sort_by_key(|flag| flag.position);
    BitmaskType {
        flags: type_flags(ty),
        bit_bound: description.bit_bound().into(),
        detail: F::of_type(ty.name()),
        bitflags,
    }
}

fn of_bitset<F: Form>(ty: &TypeDescription, description: &BitsetDescription) -> BitsetType<F> {
    let field = |field: &crate::cdr::Bitfield| Bitfield {
        position: field.position().into(),
        flags: MemberFlags::NONE,
        bit_count: field.bit_count(),
        // The destination type of IDL: `bitfield<7, short>` (IDL 4.2, 7.4.13.4.3.3).
        holder: match (field.width(), field.is_signed()) {
            (0..=1, _) => Primitive::Bool,
            (2..=8, false) => Primitive::UInt8,
            (2..=8, true) => Primitive::Int8,
            (9..=16, false) => Primitive::UInt16,
            (9..=16, true) => Primitive::Int16,
            (17..=32, false) => Primitive::UInt32,
            (17..=32, true) => Primitive::Int32,
            (_, false) => Primitive::UInt64,
            (_, true) => Primitive::Int64,
        },
        detail: F::of_member(field.name()),
    };
    BitsetType {
        flags: TypeFlags::NONE,
        detail: F::of_type(ty.name()),
        fields: description.fields().iter().map(field).collect(),
    }
}

fn type_flags(ty: &TypeDescription) -> TypeFlags {
    TypeFlags::of_extensibility(ty.extensibility())
        .with(TypeFlags::NESTED, ty.is_nested)
        .with(TypeFlags::AUTOID_HASH, ty.has_hash_ids)
}

fn member_detail<F: Form>(name: &str, hash_id: Option<&str>) -> F::Member {
    let annotations = hash_id
        .map(|name| Box::new(MemberAnnotations { hash_id: Some(name.to_owned()), ..MemberAnnotations::default() }));
    F::with_annotations(F::of_member(name), annotations)
}
