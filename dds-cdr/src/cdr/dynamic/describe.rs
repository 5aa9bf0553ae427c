//! Converts the static descriptions of derived types to dynamic types.

use super::assembler::Assembler;
use super::graph::{
    BitfieldNode, BitmaskNode, BitsetNode, CaseNode, Element, EnumNode, FlagNode, Index, LiteralNode, MemberNode,
    NodeKind, PrimitiveKind, StructNode, TypeMarks, UnionNode,
};
use super::{DynamicType, TypeError};
use crate::cdr::{StructDescription, TypeDescription, TypeInfo, TypeKind, UnionDescription};
use std::collections::HashMap;

pub(super) fn type_of(description: &'static TypeDescription) -> Result<DynamicType, TypeError> {
    let mut describer = Describer { assembler: Assembler::default(), known: HashMap::new() };
    let root = describer.add(description)?;
    let ty = describer.assembler.finish(root)?;
    ty.set_origin(Box::new(description));
    Ok(ty)
}

struct Describer {
    assembler: Assembler,
    /// Indices of converted descriptions by address. A type that contains itself refers to its own index.
    known: HashMap<usize, Index>,
}

impl Describer {
    fn add(&mut self, ty: &'static TypeDescription) -> Result<Index, TypeError> {
        // Descriptions are constants, so the address identifies one. Copies of it are merged later.
        let address = std::ptr::from_ref(ty).addr();
        if let Some(index) = self.known.get(&address) {
            return Ok(*index);
        }
        // Known before its parts, because a type may contain itself.
        let index = self.assembler.reserve()?;
        self.known.insert(address, index);
        let kind = self.kind(ty)?;
        let name = match &kind {
            // The derive names `float32` what IDL and TypeObjects call `float`.
            NodeKind::Primitive(kind) => kind.name(),
            _ => ty.name(),
        };
        self.assembler.put(index, name, kind);
        Ok(index)
    }

    fn element(&mut self, ty: &'static TypeDescription) -> Result<Element, TypeError> {
        Ok(Element { ty: self.add(ty)?, try_construct: ty.on_construct_failure(), is_external: false })
    }

    fn kind(&mut self, ty: &'static TypeDescription) -> Result<NodeKind, TypeError> {
        let primitive = match ty.kind() {
            TypeKind::Bool => PrimitiveKind::Bool,
            TypeKind::Octet => PrimitiveKind::Octet,
            TypeKind::Int8 => PrimitiveKind::Int8,
            TypeKind::UInt8 => PrimitiveKind::UInt8,
            TypeKind::Int16 => PrimitiveKind::Int16,
            TypeKind::UInt16 => PrimitiveKind::UInt16,
            TypeKind::Int32 => PrimitiveKind::Int32,
            TypeKind::UInt32 => PrimitiveKind::UInt32,
            TypeKind::Int64 => PrimitiveKind::Int64,
            TypeKind::UInt64 => PrimitiveKind::UInt64,
            TypeKind::Float32 => PrimitiveKind::Float32,
            TypeKind::Float64 => PrimitiveKind::Float64,
            TypeKind::Float128 => PrimitiveKind::Float128,
            TypeKind::Char8 => PrimitiveKind::Char8,
            TypeKind::Char16 => PrimitiveKind::Char16,
            _ => return self.compound(ty),
        };
        Ok(NodeKind::Primitive(primitive))
    }

    fn compound(&mut self, ty: &'static TypeDescription) -> Result<NodeKind, TypeError> {
        Ok(match ty.kind() {
            TypeKind::String { bound } => NodeKind::String { bound: *bound },
            TypeKind::WString { bound } => NodeKind::WString { bound: *bound },
            // Dynamic data has the bytes: the UTF-16 units as numbers.
            TypeKind::RosWString { bound } => {
                NodeKind::Sequence { bound: *bound, element: self.element(u32::DESCRIPTION)? }
            }
            TypeKind::Sequence { bound, element } => {
                NodeKind::Sequence { bound: *bound, element: self.element(element())? }
            }
            TypeKind::Array { length, element } => {
                NodeKind::Array { length: *length, element: self.element(element())? }
            }
            TypeKind::Map { bound, key, element } => {
                NodeKind::Map { bound: *bound, key: self.element(key())?, element: self.element(element())? }
            }
            TypeKind::Enum(node) => {
                let (mut literals, mut default) = (Vec::new(), 0);
                for (index, literal) in node.literals().iter().enumerate() {
                    if Some(literal) == node.default_literal() {
                        default = index;
                    }
                    literals.push(LiteralNode { name: literal.name().into(), value: literal.value() });
                }
                let (extensibility, bit_bound) = (node.extensibility(), node.bit_bound());
                NodeKind::Enum(EnumNode { extensibility, bit_bound, literals: literals.into(), default })
            }
            TypeKind::Bitmask(node) => {
                let mut flags = Vec::new();
                for flag in node.flags() {
                    flags.push(FlagNode { name: flag.name().into(), position: flag.position() });
                }
                let (extensibility, bit_bound) = (node.extensibility(), node.bit_bound());
                NodeKind::Bitmask(BitmaskNode { extensibility, bit_bound, flags: flags.into() })
            }
            TypeKind::Bitset(node) => {
                let mut fields = Vec::new();
                for field in node.fields() {
                    fields.push(BitfieldNode {
                        name: field.name().into(),
                        position: field.position(),
                        bit_count: field.bit_count(),
                        is_signed: field.is_signed(),
                    });
                }
                NodeKind::Bitset(BitsetNode { fields: fields.into() })
            }
            TypeKind::Struct(node) => self.structure(ty, node)?,
            TypeKind::Union(node) => self.union(ty, node)?,
            _ => return Err(TypeError::Malformed { what: "a description of an unsupported kind" }),
        })
    }

    fn structure(
        &mut self,
        ty: &'static TypeDescription,
        node: &'static StructDescription,
    ) -> Result<NodeKind, TypeError> {
        let base = match node.base() {
            Some(base) => {
                let base = self.add(base)?;
                Some((base, self.assembler.base_node(base, ty.name())?))
            }
            None => None,
        };
        let mut own = Vec::new();
        for member in node.own_members() {
            own.push(MemberNode {
                name: member.name().into(),
                id: member.id(),
                is_key: member.is_key(),
                is_optional: member.is_optional(),
                // The encoded flag. Key members must be understood without it.
                must_understand: member.says_must_understand(),
                is_external: member.is_external(),
                hash_id: member.hash_id_name().map(Into::into),
                try_construct: member.on_construct_failure(),
                default: None,
                ty: self.add(member.ty())?,
            });
        }
        let base = base.as_ref().map(|(index, node)| (*index, node));
        let node = StructNode::new(node.extensibility(), base, own);
        Ok(NodeKind::Struct(StructNode { marks: marks_of(ty), ..node }))
    }

    fn union(&mut self, ty: &'static TypeDescription, node: &'static UnionDescription) -> Result<NodeKind, TypeError> {
        let discriminator = self.add(node.discriminator())?;
        let mut cases = Vec::new();
        for case in node.cases() {
            cases.push(CaseNode {
                name: case.name().into(),
                id: case.id(),
                labels: case.labels().into(),
                is_default: case.is_default(),
                is_external: case.is_external(),
                hash_id: case.hash_id_name().map(Into::into),
                try_construct: case.on_construct_failure(),
                ty: case.ty().map(|ty| self.add(ty)).transpose()?,
            });
        }
        Ok(NodeKind::Union(UnionNode {
            extensibility: node.extensibility(),
            discriminator,
            has_key: node.has_key(),
            try_construct: node.on_construct_failure(),
            cases: cases.into(),
            marks: marks_of(ty),
        }))
    }
}

fn marks_of(ty: &TypeDescription) -> TypeMarks {
    TypeMarks { is_nested: ty.is_nested, has_hash_ids: ty.has_hash_ids }
}
