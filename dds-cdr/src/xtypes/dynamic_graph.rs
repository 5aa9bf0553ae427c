//! TypeObjects of dynamic types (feature `dynamic`).
//!
//! The check of a dynamic type limits its depth to 128 levels, so recursion is bounded.

use super::definition::member_detail;
use super::definition::{label_bits, of_bits};
use super::flags::{MemberFlags, TypeFlags};
use super::form::{Complete, DiscriminatorDetail, ElementDetail, Form, MemberDetail};
use super::graph::{Indescribable, TypeGraph};
use super::graph_builder::TypeGraphBuilder;
use super::identifier::{PlainElement, PrimitiveType, TypeIdentifier};
use super::object::{
    AliasType, Bitfield, Bitflag, BitmaskType, BitsetType, CommonLiteral, CompleteTypeObject, EnumLiteral, EnumType,
    StructMember, StructType, TypeDefinition, UnionMember, UnionType,
};
use crate::cdr::dynamic::{DynamicCase, DynamicKind, DynamicMember, DynamicType, PrimitiveKind};
use crate::cdr::{TryConstruct, TypeDescription};
use std::collections::HashMap;

impl TypeGraph {
    /// Creates the graph of a dynamic type.
    ///
    /// A type of a peer, of IDL text, or of a derive keeps its own description, with flags and annotations that
    /// dynamic data ignores.
    ///
    /// # Errors
    /// TypeObjects cannot describe the type.
    pub fn of_dynamic(ty: &DynamicType) -> Result<Self, Indescribable> {
        // The TypeObjects that the type came from, with all their annotations.
        if let Some(graph) = ty.origin::<Self>() {
            return Ok(graph.clone());
        }
        // A derive knows more than the dynamic type, for example a `wstring` of ROS.
        if let Some(description) = ty.origin::<&'static TypeDescription>() {
            return Self::of(description);
        }
        if !matches!(ty.resolved().kind(), DynamicKind::Struct | DynamicKind::Union) {
            return Err(Indescribable::NoTopicType);
        }
        let mut definer = DynamicDefiner::default();
        let root = definer.named(ty)?;
        definer.builder.build(&root)
    }
}

/// Creates the graph of a type from complete TypeObjects.
///
/// # Errors
/// [`Indescribable::Undefined`] if `lookup` does not have one of them, [`Indescribable::TooLarge`].
pub(super) fn graph_of_objects<'o>(
    root: &TypeIdentifier,
    lookup: &dyn Fn(&TypeIdentifier) -> Option<&'o CompleteTypeObject>,
) -> Result<TypeGraph, Indescribable> {
    let mut builder = TypeGraphBuilder::default();
    let mut known = HashMap::from([(root.clone(), builder.reserve())]);
    let mut open = vec![root.clone()];
    while let Some(id) = open.pop() {
        let mut definition = lookup(&id).ok_or(Indescribable::Undefined)?.clone();
        definition.replace_hashes(&mut |id| {
            if !known.contains_key(id) {
                // Hashes are recomputed, so each reference becomes provisional.
                known.insert(id.clone(), builder.reserve());
                open.push(id.clone());
            }
            if let Some(provisional) = known.get(id) {
                *id = provisional.clone();
            }
        });
        if let Some(provisional) = known.get(&id) {
            builder.define(provisional, definition);
        }
    }
    let root = known.get(root).ok_or(Indescribable::Undefined)?;
    builder.build(root)
}

/// Creates the definitions of dynamic types.
#[derive(Default)]
struct DynamicDefiner {
    builder: TypeGraphBuilder,
    /// The provisional identifiers of named types, by their place in the graph of the type.
    known: HashMap<u32, TypeIdentifier>,
}

impl DynamicDefiner {
    fn named(&mut self, ty: &DynamicType) -> Result<TypeIdentifier, Indescribable> {
        if let Some(known) = self.known.get(&ty.place()) {
            return Ok(known.clone());
        }
        // Before its definition, because a type may contain itself.
        let id = self.builder.reserve();
        self.known.insert(ty.place(), id.clone());
        let definition = self.definition(ty)?;
        self.builder.define(&id, definition);
        Ok(id)
    }

    fn definition(&mut self, ty: &DynamicType) -> Result<CompleteTypeObject, Indescribable> {
        Ok(match ty.kind() {
            DynamicKind::Alias => self.alias(ty)?,
            DynamicKind::Struct => self.structure(ty)?,
            DynamicKind::Union => self.union(ty)?,
            DynamicKind::Enum => enumeration(ty),
            DynamicKind::Bitmask => bitmask(ty),
            DynamicKind::Bitset => bitset(ty),
            _ => return Err(Indescribable::NoTopicType),
        })
    }

    fn alias(&mut self, ty: &DynamicType) -> Result<CompleteTypeObject, Indescribable> {
        let target = ty.aliased().ok_or(Indescribable::Undefined)?;
        Ok(TypeDefinition::Alias(AliasType {
            flags: TypeFlags::NONE,
            detail: Complete::of_type(ty.name()),
            related_flags: MemberFlags::NONE,
            related_type: self.identifier(&target)?,
            related_detail: ElementDetail::default(),
        }))
    }

    fn structure(&mut self, ty: &DynamicType) -> Result<CompleteTypeObject, Indescribable> {
        let base = match ty.base() {
            Some(base) => self.named(&base)?,
            None => TypeIdentifier::None,
        };
        let mut members = Vec::new();
        // A TypeObject names the base and repeats none of its members.
        for member in ty.members().skip(ty.inherited()) {
            members.push(self.member(member)?);
        }
        Ok(TypeDefinition::Struct(StructType {
            flags: type_flags(ty),
            base,
            detail: Complete::of_type(ty.name()),
            members,
        }))
    }

    fn member(&mut self, member: DynamicMember<'_>) -> Result<StructMember<Complete>, Indescribable> {
        Ok(StructMember {
            id: member.id(),
            flags: MemberFlags::of_try_construct(member.on_construct_failure())
                .with(MemberFlags::EXTERNAL, member.is_external())
                .with(MemberFlags::OPTIONAL, member.is_optional())
                .with(MemberFlags::MUST_UNDERSTAND, member.says_must_understand())
                .with(MemberFlags::KEY, member.is_key()),
            ty: self.identifier(&member.ty())?,
            detail: member_detail(member.name(), member.hash_id_name()),
        })
    }

    fn union(&mut self, ty: &DynamicType) -> Result<CompleteTypeObject, Indescribable> {
        let discriminator = ty.discriminator().ok_or(Indescribable::Undefined)?;
        let discriminator = self.identifier(&discriminator)?;
        let has_default = ty.cases().any(|case| case.is_default() && case.ty().is_some());
        let mut members = Vec::new();
        for case in ty.cases() {
            match case.ty() {
                Some(of) => members.push(self.case(case, &of)?),
                // Such a label selects no member here. Peers would apply the default case to it.
                None if has_default => return Err(Indescribable::EmptyDynamicCase),
                None => {}
            }
        }
        Ok(TypeDefinition::Union(UnionType {
            flags: type_flags(ty),
            detail: Complete::of_type(ty.name()),
            discriminator_flags: MemberFlags::of_try_construct(ty.discriminator_try_construct())
                .union(MemberFlags::MUST_UNDERSTAND)
                .with(MemberFlags::KEY, ty.has_key()),
            discriminator,
            discriminator_detail: DiscriminatorDetail::default(),
            members,
        }))
    }

    fn case(&mut self, case: DynamicCase<'_>, ty: &DynamicType) -> Result<UnionMember<Complete>, Indescribable> {
        let mut labels = Vec::with_capacity(case.labels().len());
        for label in case.labels() {
            labels.push(label_bits(*label)?);
        }
        Ok(UnionMember {
            id: case.id(),
            flags: MemberFlags::of_try_construct(case.on_construct_failure())
                .with(MemberFlags::EXTERNAL, case.is_external())
                .with(MemberFlags::DEFAULT, case.is_default()),
            ty: self.identifier(ty)?,
            labels,
            detail: member_detail(case.name(), case.hash_id_name()),
        })
    }

    fn identifier(&mut self, ty: &DynamicType) -> Result<TypeIdentifier, Indescribable> {
        let bound = ty.bound().unwrap_or(0);
        Ok(match ty.kind() {
            DynamicKind::Primitive(kind) => TypeIdentifier::Primitive(primitive(kind)),
            DynamicKind::String => TypeIdentifier::String8 { bound },
            DynamicKind::WString => TypeIdentifier::String16 { bound },
            DynamicKind::Sequence => TypeIdentifier::Sequence { bound, element: self.element(ty)? },
            DynamicKind::Array => {
                let (mut bounds, mut innermost) = (vec![bound], ty.clone());
                // Nested arrays are one array of several dimensions.
                while let Some(element) = innermost.element() {
                    if element.kind() != DynamicKind::Array {
                        break;
                    }
                    bounds.push(element.bound().unwrap_or(0));
                    innermost = element;
                }
                TypeIdentifier::Array { bounds, element: self.element(&innermost)? }
            }
            DynamicKind::Map => {
                let key = ty.key_element().ok_or(Indescribable::Undefined)?;
                let key_flags = element_flags(ty.key_try_construct(), ty.has_external_keys());
                let key = Box::new(self.identifier(&key)?);
                let element = self.element(ty)?;
                TypeIdentifier::Map { bound, element, key_flags, key }
            }
            _ => self.named(ty)?,
        })
    }

    /// The elements of a collection.
    fn element(&mut self, ty: &DynamicType) -> Result<Box<PlainElement>, Indescribable> {
        let id = self.identifier(&ty.element().ok_or(Indescribable::Undefined)?)?;
        let flags = element_flags(ty.element_try_construct(), ty.has_external_elements());
        Ok(Box::new(PlainElement::new(flags, id)))
    }
}

fn element_flags(tried: TryConstruct, is_external: bool) -> MemberFlags {
    MemberFlags::of_try_construct(tried).with(MemberFlags::EXTERNAL, is_external)
}

fn type_flags(ty: &DynamicType) -> TypeFlags {
    TypeFlags::of_extensibility(ty.extensibility())
        .with(TypeFlags::NESTED, ty.is_nested())
        .with(TypeFlags::AUTOID_HASH, ty.has_hash_ids())
}

fn enumeration(ty: &DynamicType) -> CompleteTypeObject {
    let mut literals = Vec::new();
    for (name, value) in ty.literals() {
        let flags = MemberFlags::NONE.with(MemberFlags::DEFAULT, ty.default_literal() == Some(name));
        let detail: MemberDetail = Complete::of_member(name);
        literals.push(EnumLiteral { common: CommonLiteral { value, flags }, detail });
    }
    // Annex B orders literals by value and flags by position, so that the order of definition has no effect.
    literals.sort_by_key(|literal| literal.common.value);
    TypeDefinition::Enum(EnumType {
        flags: type_flags(ty),
        bit_bound: bit_bound(ty),
        detail: Complete::of_type(ty.name()),
        literals,
    })
}

fn bitmask(ty: &DynamicType) -> CompleteTypeObject {
    let mut bitflags = Vec::new();
    for (name, position) in ty.flags() {
        let detail = Complete::of_member(name);
        bitflags.push(Bitflag { position: position.into(), flags: MemberFlags::NONE, detail });
    }
    bitflags.sort_by_key(|flag| flag.position);
    TypeDefinition::Bitmask(BitmaskType {
        flags: type_flags(ty),
        bit_bound: bit_bound(ty),
        detail: Complete::of_type(ty.name()),
        bitflags,
    })
}

fn bitset(ty: &DynamicType) -> CompleteTypeObject {
    let mut fields = Vec::new();
    for (name, position, bit_count) in ty.fields() {
        fields.push(Bitfield {
            position: position.into(),
            flags: MemberFlags::NONE,
            bit_count,
            holder: of_bits(bit_count, ty.is_signed_field(name)),
            detail: Complete::of_member(name),
        });
    }
    let detail = Complete::of_type(ty.name());
    TypeDefinition::Bitset(BitsetType { flags: TypeFlags::NONE, detail, fields })
}

fn bit_bound(ty: &DynamicType) -> u16 {
    ty.bound().and_then(|bits| u16::try_from(bits).ok()).unwrap_or_default()
}

const fn primitive(kind: PrimitiveKind) -> PrimitiveType {
    match kind {
        PrimitiveKind::Bool => PrimitiveType::Bool,
        PrimitiveKind::Octet => PrimitiveType::Byte,
        PrimitiveKind::Int8 => PrimitiveType::Int8,
        PrimitiveKind::UInt8 => PrimitiveType::UInt8,
        PrimitiveKind::Int16 => PrimitiveType::Int16,
        PrimitiveKind::UInt16 => PrimitiveType::UInt16,
        PrimitiveKind::Int32 => PrimitiveType::Int32,
        PrimitiveKind::UInt32 => PrimitiveType::UInt32,
        PrimitiveKind::Int64 => PrimitiveType::Int64,
        PrimitiveKind::UInt64 => PrimitiveType::UInt64,
        PrimitiveKind::Float32 => PrimitiveType::Float32,
        PrimitiveKind::Float64 => PrimitiveType::Float64,
        PrimitiveKind::Float128 => PrimitiveType::Float128,
        PrimitiveKind::Char8 => PrimitiveType::Char8,
        PrimitiveKind::Char16 => PrimitiveType::Char16,
    }
}
