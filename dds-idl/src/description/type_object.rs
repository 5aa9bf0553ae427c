//! TypeObjects of definitions.

use super::DescriptionForm;
use super::annotation::{AnnotationReader, type_flags};
use crate::model::{
    AutoIdKind, BasicType, BitmaskDefinition, BitsetDefinition, BitsetField, DataType, DefinitionId, DefinitionKind,
    Diagnostic, ElementType, EnumDefinition, Span, Specification, StructDefinition, TypedefDefinition, UnionBranch,
    UnionDefinition,
};
use crate::rust::kept;
use dds_cdr::xtypes::{
    AliasType, Bitfield, Bitflag, BitmaskType, BitsetType, CommonLiteral, Complete, CompleteTypeObject,
    DiscriminatorDetail, EnumLiteral, EnumType, Form, MemberFlags, PlainElement, PrimitiveType, StructMember,
    StructType, TypeDefinition, TypeFlags, TypeGraph, TypeGraphBuilder, TypeIdentifier, UnionMember, UnionType,
};
use std::collections::HashMap;

type DefinitionResult<T> = Result<T, Box<Diagnostic>>;

pub(super) fn graph_of(
    specification: &Specification,
    id: DefinitionId,
    form: DescriptionForm,
) -> DefinitionResult<TypeGraph> {
    let mut writer = TypeObjectWriter {
        specification,
        annotations: AnnotationReader { specification, form },
        builder: TypeGraphBuilder::default(),
        known: HashMap::new(),
        open: Vec::new(),
        parts: 0,
    };
    let span = specification.definition(id).span;
    let mut root = id;
    // Without typedefs, a typedef of a struct has the description of the struct.
    if form == DescriptionForm::Rust
        && let DataType::Named(target) = specification.resolve(&DataType::Named(id))
    {
        root = *target;
    }
    let root = writer.named(root, span)?;
    while let Some(id) = writer.open.pop() {
        let definition = writer.definition(id)?;
        if let Some(known) = writer.known.get(&id) {
            writer.builder.define(known, definition);
        }
    }
    let error = |error| Box::new(Diagnostic::error(format!("no TypeObject: {error}"), span));
    writer.builder.build(&root).map_err(error)
}

/// Most parts of all descriptions together. Typedefs of typedefs could otherwise stand for exponentially many.
const PARTS_MAX: usize = 1 << 20;

/// Most levels of anonymous types, with those behind typedefs.
const LEVELS_MAX: usize = 128;

/// Creates the definitions of types.
struct TypeObjectWriter<'a> {
    specification: &'a Specification,
    annotations: AnnotationReader<'a>,
    builder: TypeGraphBuilder,
    /// The provisional identifiers of all types that are described.
    known: HashMap<DefinitionId, TypeIdentifier>,
    /// Types without a definition yet. A list instead of recursion: the depth of types has no limit.
    open: Vec<DefinitionId>,
    /// The number of parts so far.
    parts: usize,
}

impl<'a> TypeObjectWriter<'a> {
    /// The provisional identifier of a definition.
    fn named(&mut self, id: DefinitionId, span: Span) -> DefinitionResult<TypeIdentifier> {
        if let Some(known) = self.known.get(&id) {
            return Ok(known.clone());
        }
        let definition = self.specification.definition(id);
        if !definition.is_data_type() {
            let kind = definition.kind.description();
            let message = format!("`{}` is {kind}, not data of a DDS topic", definition.scoped_name);
            return Err(Box::new(Diagnostic::error(message, span)));
        }
        let identifier = self.builder.reserve();
        self.known.insert(id, identifier.clone());
        self.open.push(id);
        Ok(identifier)
    }

    fn definition(&mut self, id: DefinitionId) -> DefinitionResult<CompleteTypeObject> {
        let definition = self.specification.definition(id);
        let detail = self.annotations.type_detail(&definition.scoped_name, &definition.annotations);
        Ok(match &definition.kind {
            DefinitionKind::Struct(found) => {
                TypeDefinition::Struct(StructType { detail, ..self.structure(found, definition.span)? })
            }
            DefinitionKind::Union(found) => TypeDefinition::Union(UnionType { detail, ..self.union(found)? }),
            DefinitionKind::Enum(found) => TypeDefinition::Enum(EnumType { detail, ..enumeration(found) }),
            DefinitionKind::Bitmask(found) => TypeDefinition::Bitmask(BitmaskType { detail, ..bitmask(found) }),
            DefinitionKind::Bitset(found) => {
                TypeDefinition::Bitset(BitsetType { flags: TypeFlags::NONE, detail, fields: self.fields(found) })
            }
            DefinitionKind::Typedef(found) => {
                let TypedefDefinition { ty } = found;
                TypeDefinition::Alias(AliasType {
                    flags: TypeFlags::NONE,
                    detail,
                    related_flags: MemberFlags::NONE,
                    related_type: self.identifier(ty, definition.span, 0)?,
                    related_detail: self.annotations.target_detail(ty, &definition.annotations),
                })
            }
            _ => {
                let message = format!("`{}` is not data of a DDS topic", definition.scoped_name);
                return Err(Box::new(Diagnostic::error(message, definition.span)));
            }
        })
    }

    fn structure(&mut self, definition: &'a StructDefinition, span: Span) -> DefinitionResult<StructType<Complete>> {
        let base = match definition.base {
            Some(base) => self.named(base, span)?,
            None => TypeIdentifier::None,
        };
        let mut members = Vec::with_capacity(definition.members.len());
        for member in &definition.members {
            if member.annotations.is_non_serialized() {
                continue;
            }
            members.push(StructMember {
                id: member.id,
                flags: self.annotations.member_flags(member, false),
                ty: self.identifier(&member.ty, member.span, 0)?,
                detail: self.annotations.member_detail(&member.name, &member.ty, &member.annotations),
            });
        }
        let has_hash_ids = definition.auto_id == AutoIdKind::Hash;
        let flags = type_flags(definition.extensibility, definition.is_nested, has_hash_ids);
        Ok(StructType { flags, base, detail: Default::default(), members })
    }

    fn union(&mut self, definition: &'a UnionDefinition) -> DefinitionResult<UnionType<Complete>> {
        let UnionDefinition { discriminator, .. } = definition;
        let discriminator_type = self.identifier(&discriminator.ty, discriminator.span, 0)?;
        let mut members = Vec::with_capacity(definition.branches.len());
        for branch in &definition.branches {
            members.push(self.branch(branch)?);
        }
        let has_hash_ids = definition.auto_id == AutoIdKind::Hash;
        Ok(UnionType {
            flags: type_flags(definition.extensibility, definition.is_nested, has_hash_ids),
            detail: Default::default(),
            discriminator_flags: self.annotations.discriminator_flags(definition),
            discriminator: discriminator_type,
            discriminator_detail: DiscriminatorDetail::default(),
            members,
        })
    }

    fn branch(&mut self, branch: &'a UnionBranch) -> DefinitionResult<UnionMember<Complete>> {
        let UnionBranch { labels, is_default, member } = branch;
        let mut bits = Vec::with_capacity(labels.len());
        for label in labels {
            // Labels of unsigned discriminators keep their bits.
            let label = match (i32::try_from(*label), u32::try_from(*label)) {
                (Ok(label), _) => label,
                (_, Ok(label)) => i32::from_le_bytes(label.to_le_bytes()),
                _ => {
                    let message = format!("the label {label} does not fit into the 32 bits that a TypeObject has");
                    return Err(Box::new(Diagnostic::error(message, member.span)));
                }
            };
            bits.push(label);
        }
        Ok(UnionMember {
            id: member.id,
            flags: self.annotations.member_flags(member, true).with(MemberFlags::DEFAULT, *is_default),
            ty: self.identifier(&member.ty, member.span, 0)?,
            labels: bits,
            detail: self.annotations.member_detail(&member.name, &member.ty, &member.annotations),
        })
    }

    /// The fields of a bitset, those of its bases first. Padding is no field, except where it is one of the code.
    fn fields(&self, definition: &BitsetDefinition) -> Vec<Bitfield<Complete>> {
        let mut fields = Vec::new();
        for (field, name) in kept::bitset_fields(self.specification, definition) {
            if field.name.is_none() && self.annotations.form == DescriptionForm::Standard {
                continue;
            }
            fields.push(Bitfield {
                position: field.position.into(),
                flags: MemberFlags::NONE,
                bit_count: field.bit_count,
                holder: self.holder(field),
                detail: Complete::of_member(&name),
            });
        }
        fields
    }

    /// The type of a field's value: that of the text, or the smallest one (IDL 4.2, 7.4.13.4.3.3).
    fn holder(&self, field: &BitsetField) -> PrimitiveType {
        let given = field.ty.as_ref().map(|ty| self.specification.resolve(ty));
        match (given, field.bit_count) {
            (Some(DataType::Basic(basic)), _) => primitive(*basic),
            (_, 0..=1) => PrimitiveType::Bool,
            (_, 2..=8) => PrimitiveType::UInt8,
            (_, 9..=16) => PrimitiveType::UInt16,
            (_, 17..=32) => PrimitiveType::UInt32,
            _ => PrimitiveType::UInt64,
        }
    }

    /// The identifier of a type: a full description, or a provisional identifier for a named type.
    fn identifier(&mut self, ty: &'a DataType, span: Span, level: usize) -> DefinitionResult<TypeIdentifier> {
        self.parts += 1;
        if self.parts > PARTS_MAX || level > LEVELS_MAX {
            let message = format!("more than {PARTS_MAX} parts, or {LEVELS_MAX} levels of anonymous types");
            return Err(Box::new(Diagnostic::error(message, span)));
        }
        Ok(match ty {
            DataType::Basic(basic) => TypeIdentifier::Primitive(primitive(*basic)),
            DataType::String { bound } => TypeIdentifier::String8 { bound: bound.unwrap_or(0) },
            DataType::WString { bound } => TypeIdentifier::String16 { bound: bound.unwrap_or(0) },
            DataType::Sequence { element, bound } => {
                let element = self.element(element, span, level)?;
                TypeIdentifier::Sequence { bound: bound.unwrap_or(0), element }
            }
            DataType::Array { .. } => {
                let (mut bounds, mut innermost) = (Vec::new(), None);
                let mut array = ty;
                // Nested arrays are one array of several dimensions.
                while let DataType::Array { element, dimensions } = array {
                    bounds.extend(dimensions);
                    innermost = Some(element);
                    array = self.target(&element.ty);
                }
                match innermost {
                    Some(element) => TypeIdentifier::Array { bounds, element: self.element(element, span, level)? },
                    None => TypeIdentifier::None,
                }
            }
            DataType::Map { key, element, bound } => {
                let key_flags = self.annotations.element_flags(key);
                let key = Box::new(self.identifier(&key.ty, span, level + 1)?);
                let element = self.element(element, span, level)?;
                TypeIdentifier::Map { bound: bound.unwrap_or(0), element, key_flags, key }
            }
            DataType::Named(_) => match self.target(ty) {
                DataType::Named(id) => self.named(*id, span)?,
                target => self.identifier(target, span, level + 1)?,
            },
            DataType::Fixed { .. } | DataType::Opaque(_) => {
                let name = self.specification.type_name(ty);
                return Err(Box::new(Diagnostic::error(format!("`{name}` is not data of a DDS topic"), span)));
            }
        })
    }

    fn element(&mut self, element: &'a ElementType, span: Span, level: usize) -> DefinitionResult<Box<PlainElement>> {
        let flags = self.annotations.element_flags(element);
        Ok(Box::new(PlainElement::new(flags, self.identifier(&element.ty, span, level + 1)?)))
    }

    /// The type that stands in the description: generated code has no typedefs.
    fn target(&self, ty: &'a DataType) -> &'a DataType {
        match self.annotations.form {
            DescriptionForm::Standard => ty,
            DescriptionForm::Rust => self.specification.resolve(ty),
        }
    }
}

fn enumeration(definition: &EnumDefinition) -> EnumType<Complete> {
    let default = definition.default_index();
    let mut literals = Vec::with_capacity(definition.enumerators.len());
    for (index, literal) in definition.enumerators.iter().enumerate() {
        let flags = MemberFlags::NONE.with(MemberFlags::DEFAULT, index == default);
        literals.push(EnumLiteral {
            common: CommonLiteral { value: literal.value, flags },
            detail: Complete::of_member(&literal.name),
        });
    }
    // Annex B orders literals by value, so that the hash does not depend on the order of definition.
    literals.sort_by_key(|literal| literal.common.value);
    EnumType {
        flags: type_flags(definition.extensibility, false, false),
        bit_bound: definition.bit_bound.into(),
        detail: Default::default(),
        literals,
    }
}

fn bitmask(definition: &BitmaskDefinition) -> BitmaskType<Complete> {
    let mut bitflags = Vec::with_capacity(definition.flags.len());
    for flag in &definition.flags {
        let detail = Complete::of_member(&flag.name);
        bitflags.push(Bitflag { position: flag.position.into(), flags: MemberFlags::NONE, detail });
    }
    bitflags.sort_by_key(|flag| flag.position);
    BitmaskType {
        flags: type_flags(definition.extensibility, false, false),
        bit_bound: definition.bit_bound.into(),
        detail: Default::default(),
        bitflags,
    }
}

fn primitive(basic: BasicType) -> PrimitiveType {
    match basic {
        BasicType::Bool => PrimitiveType::Bool,
        BasicType::Octet => PrimitiveType::Byte,
        BasicType::Char => PrimitiveType::Char8,
        BasicType::WChar => PrimitiveType::Char16,
        BasicType::Int8 => PrimitiveType::Int8,
        BasicType::UInt8 => PrimitiveType::UInt8,
        BasicType::Int16 => PrimitiveType::Int16,
        BasicType::UInt16 => PrimitiveType::UInt16,
        BasicType::Int32 => PrimitiveType::Int32,
        BasicType::UInt32 => PrimitiveType::UInt32,
        BasicType::Int64 => PrimitiveType::Int64,
        BasicType::UInt64 => PrimitiveType::UInt64,
        BasicType::Float32 => PrimitiveType::Float32,
        BasicType::Float64 => PrimitiveType::Float64,
        BasicType::Float128 => PrimitiveType::Float128,
    }
}
