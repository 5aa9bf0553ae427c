//! Descriptions of ROS 2 as types for dynamic data, and back. TypeObjects of DDS are the form in between.
//!
//! Input: untrusted descriptions. `dds-cdr` bounds the size and the depth of the types that they give.

use crate::name::message_type;
use dds_cdr::xtypes::{
    Complete, CompleteTypeObject, Form, MemberFlags, PlainElement, PrimitiveType, StructMember, StructType,
    TypeDefinition, TypeFlags, TypeGraph, TypeGraphBuilder, TypeIdentifier, TypeObject,
};
use dds_core::dynamic::{DynamicType, TryConstruct};
use dds_ros2_msgs::type_description_interfaces::msg::{Field, FieldType, IndividualTypeDescription, TypeDescription};
use std::collections::{BTreeMap, BTreeSet};

/// The number of type ids of each shape: one value, array, bounded sequence, sequence
/// (`type_description_interfaces/msg/FieldType`).
pub(super) const SHAPE_SIZE: u8 = 48;
const ONE: u8 = 0;
const ARRAY: u8 = 1;
const BOUNDED_SEQUENCE: u8 = 2;
const SEQUENCE: u8 = 3;

const NESTED: u8 = 1;
const STRING: u8 = 17;
const WSTRING: u8 = 18;
const BOUNDED_STRING: u8 = 21;
const BOUNDED_WSTRING: u8 = 22;

const PRIMITIVES: [(u8, PrimitiveType); 15] = [
    (2, PrimitiveType::Int8),
    (3, PrimitiveType::UInt8),
    (4, PrimitiveType::Int16),
    (5, PrimitiveType::UInt16),
    (6, PrimitiveType::Int32),
    (7, PrimitiveType::UInt32),
    (8, PrimitiveType::Int64),
    (9, PrimitiveType::UInt64),
    (10, PrimitiveType::Float32),
    (11, PrimitiveType::Float64),
    (12, PrimitiveType::Float128),
    (13, PrimitiveType::Char8),
    (14, PrimitiveType::Char16),
    (15, PrimitiveType::Bool),
    (16, PrimitiveType::Byte),
];

/// Most aliases of aliases behind a member.
const ALIASES_MAX: usize = 128;

/// A result with the problem of a type.
type Checked<T> = Result<T, String>;

/// Returns the type that a description describes.
pub(super) fn dynamic_type_of(description: &TypeDescription) -> Checked<DynamicType> {
    let mut builder = TypeGraphBuilder::default();
    let mut ids = BTreeMap::new();
    let root = &description.type_description;
    let all = || std::iter::once(root).chain(&description.referenced_type_descriptions);
    for ty in all() {
        if ids.insert(ty.type_name.as_str(), builder.reserve()).is_some() {
            return Err(format!("it describes {:?} twice", ty.type_name));
        }
    }
    for ty in all() {
        let definition = definition_of(ty, &ids)?;
        if let Some(id) = ids.get(ty.type_name.as_str()) {
            builder.define(id, definition);
        }
    }
    let root = ids.get(root.type_name.as_str()).ok_or("it has no name")?;
    let graph = builder.build(root).map_err(|error| error.to_string())?;
    let objects = objects_of(&graph);
    let root = graph.types().first().ok_or("it has no description")?;
    dds_cdr::xtypes::dynamic_type_of(&root.complete_id, &|id| objects.get(id).copied())
        .map_err(|error| error.to_string())
}

/// The complete TypeObjects of a graph.
fn objects_of(graph: &TypeGraph) -> BTreeMap<&TypeIdentifier, &CompleteTypeObject> {
    let mut objects = BTreeMap::new();
    for ty in graph.types() {
        if let TypeObject::Complete(definition) = &ty.complete {
            objects.insert(&ty.complete_id, definition);
        }
    }
    objects
}

fn definition_of(ty: &IndividualTypeDescription, ids: &BTreeMap<&str, TypeIdentifier>) -> Checked<CompleteTypeObject> {
    let name = dds_name(&ty.type_name)
        .ok_or_else(|| format!("{:?} is no name of a type: expected `package/msg/Name`", ty.type_name))?;
    let mut members = Vec::with_capacity(ty.fields.len());
    for (id, Field { name, r#type, .. }) in (0..).zip(&ty.fields) {
        if !is_word(name) {
            return Err(format!("{name:?} is no name of a member"));
        }
        let ty =
            identifier_of(r#type, ids).map_err(|reason| format!("member {name:?} of {:?}: {reason}", ty.type_name))?;
        let flags = MemberFlags::of_try_construct(TryConstruct::Discard);
        members.push(StructMember { id, flags, ty, detail: Complete::of_member(name) });
    }
    let (flags, detail) = (TypeFlags::FINAL, Complete::of_type(&name));
    Ok(TypeDefinition::Struct(StructType { flags, base: TypeIdentifier::None, detail, members }))
}

fn identifier_of(field: &FieldType, ids: &BTreeMap<&str, TypeIdentifier>) -> Checked<TypeIdentifier> {
    let unknown = || format!("ROS 2 has no type id {}", field.type_id);
    let index = field.type_id.checked_sub(1).ok_or_else(unknown)?;
    let (shape, base) = (index / SHAPE_SIZE, index % SHAPE_SIZE + 1);
    check_unused(field, shape, base)?;
    let id = match base {
        NESTED => {
            let nested = ids.get(field.nested_type_name.as_str());
            nested.cloned().ok_or_else(|| format!("{:?} is not described", field.nested_type_name))?
        }
        STRING => TypeIdentifier::String8 { bound: 0 },
        WSTRING => TypeIdentifier::String16 { bound: 0 },
        BOUNDED_STRING => TypeIdentifier::String8 { bound: bound_of(field.string_capacity)? },
        BOUNDED_WSTRING => TypeIdentifier::String16 { bound: bound_of(field.string_capacity)? },
        _ => {
            let primitive = PRIMITIVES.iter().find(|(id, _)| *id == base);
            TypeIdentifier::Primitive(primitive.ok_or_else(unknown)?.1)
        }
    };
    let element = |id| Box::new(PlainElement::new(MemberFlags::of_try_construct(TryConstruct::Discard), id));
    Ok(match shape {
        ONE => id,
        ARRAY => TypeIdentifier::Array { bounds: vec![bound_of(field.capacity)?], element: element(id) },
        BOUNDED_SEQUENCE => TypeIdentifier::Sequence { bound: bound_of(field.capacity)?, element: element(id) },
        SEQUENCE => TypeIdentifier::Sequence { bound: 0, element: element(id) },
        _ => return Err(unknown()),
    })
}

/// Refuses values that the type id does not use. They would be part of the hash, and free text in it gives any JSON.
fn check_unused(field: &FieldType, shape: u8, base: u8) -> Checked<()> {
    if base != NESTED && !field.nested_type_name.is_empty() {
        return Err(format!("type id {} has no nested type", field.type_id));
    }
    if !matches!(shape, ARRAY | BOUNDED_SEQUENCE) && field.capacity != 0 {
        return Err(format!("type id {} has no capacity", field.type_id));
    }
    if !matches!(base, BOUNDED_STRING | BOUNDED_WSTRING) && field.string_capacity != 0 {
        return Err(format!("type id {} has no capacity of strings", field.type_id));
    }
    Ok(())
}

fn bound_of(capacity: u64) -> Checked<u32> {
    match u32::try_from(capacity) {
        Ok(bound @ 1..) => Ok(bound),
        _ => Err(format!("{capacity} is no size of an array or a bound")),
    }
}

/// Returns the description of a type.
pub(super) fn description_of(ty: &DynamicType) -> Checked<TypeDescription> {
    let graph = TypeGraph::of_dynamic(ty).map_err(|error| error.to_string())?;
    let root = graph.types().first().ok_or("it has no description")?;
    let mut describer =
        Describer { objects: objects_of(&graph), seen: BTreeSet::from([&root.complete_id]), open: Vec::new() };
    let type_description = describer.structure(&root.complete_id)?;
    let mut referenced = BTreeMap::new();
    while let Some(id) = describer.open.pop() {
        let described = describer.structure(id)?;
        referenced.insert(described.type_name.clone(), described);
    }
    Ok(TypeDescription { type_description, referenced_type_descriptions: referenced.into_values().collect() })
}

struct Describer<'g> {
    objects: BTreeMap<&'g TypeIdentifier, &'g CompleteTypeObject>,
    /// Structs that are described or open, each once although many members may have it.
    seen: BTreeSet<&'g TypeIdentifier>,
    /// Structs of members that are not described yet.
    open: Vec<&'g TypeIdentifier>,
}

impl<'g> Describer<'g> {
    /// Returns the identifier behind typedefs.
    fn resolved(&self, mut id: &'g TypeIdentifier) -> Checked<&'g TypeIdentifier> {
        for _ in 0..ALIASES_MAX {
            match self.objects.get(id) {
                Some(TypeDefinition::Alias(alias)) => id = &alias.related_type,
                _ => return Ok(id),
            }
        }
        Err(format!("it has more than {ALIASES_MAX} typedefs of typedefs"))
    }

    fn structure(&mut self, id: &'g TypeIdentifier) -> Checked<IndividualTypeDescription> {
        let id = self.resolved(id)?;
        let Some(TypeDefinition::Struct(structure)) = self.objects.get(id).copied() else {
            return Err("ROS 2 has structs alone, no unions and no enums".to_owned());
        };
        let name = &structure.detail.name;
        if structure.base != TypeIdentifier::None {
            return Err(format!("{name:?} has a base, which ROS 2 lacks"));
        }
        let type_name = ros_name(name)
            .ok_or_else(|| format!("{name:?} is no name of ROS 2: expected `package::msg::dds_::Name_`"))?;
        let mut fields = Vec::with_capacity(structure.members.len());
        for member in &structure.members {
            let name = member.detail.name.clone();
            if member.flags.contains(MemberFlags::OPTIONAL) {
                return Err(format!("member {name:?} is optional, which ROS 2 lacks"));
            }
            let r#type = self.field_type(&member.ty).map_err(|reason| format!("member {name:?}: {reason}"))?;
            fields.push(Field { name, r#type, ..Field::default() });
        }
        Ok(IndividualTypeDescription { type_name, fields })
    }

    fn field_type(&mut self, id: &'g TypeIdentifier) -> Checked<FieldType> {
        let (shape, capacity, element) = match self.resolved(id)? {
            TypeIdentifier::Array { bounds, element } => match bounds[..] {
                [length] => (ARRAY, length, &element.id),
                _ => return Err("ROS 2 has no arrays of several dimensions".to_owned()),
            },
            TypeIdentifier::Sequence { bound: 0 | u32::MAX, element } => (SEQUENCE, 0, &element.id),
            TypeIdentifier::Sequence { bound, element } => (BOUNDED_SEQUENCE, *bound, &element.id),
            id => (ONE, 0, id),
        };
        let mut field = self.element_type(element)?;
        field.type_id += shape * SHAPE_SIZE;
        field.capacity = capacity.into();
        Ok(field)
    }

    fn element_type(&mut self, id: &'g TypeIdentifier) -> Checked<FieldType> {
        let of = |type_id, bound: u32| FieldType { type_id, string_capacity: bound.into(), ..FieldType::default() };
        let id = self.resolved(id)?;
        Ok(match id {
            TypeIdentifier::String8 { bound: 0 | u32::MAX } => of(STRING, 0),
            TypeIdentifier::String16 { bound: 0 | u32::MAX } => of(WSTRING, 0),
            TypeIdentifier::String8 { bound } => of(BOUNDED_STRING, *bound),
            TypeIdentifier::String16 { bound } => of(BOUNDED_WSTRING, *bound),
            TypeIdentifier::Primitive(primitive) => {
                let known = PRIMITIVES.iter().find(|(_, known)| known == primitive);
                of(known.ok_or_else(|| format!("ROS 2 has no {}", primitive.name()))?.0, 0)
            }
            _ => {
                let name = self.objects.get(id).and_then(|object| object.name());
                let nested = name.and_then(ros_name).ok_or("ROS 2 has no such type")?;
                if self.seen.insert(id) {
                    self.open.push(id);
                }
                FieldType { type_id: NESTED, nested_type_name: nested, ..FieldType::default() }
            }
        })
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the name in DDS of a type with this name in ROS 2.
fn dds_name(ros: &str) -> Option<String> {
    let mut parts = ros.split('/');
    let (package, kind, name) = (parts.next()?, parts.next()?, parts.next()?);
    let is_valid = parts.next().is_none() && [package, kind, name].into_iter().all(is_word);
    is_valid.then(|| format!("{package}::{kind}::dds_::{name}_"))
}

/// Returns the name in ROS 2 for a name in DDS, or in an `.idl` file.
fn ros_name(dds: &str) -> Option<String> {
    let name = message_type(dds).replace("::", "/");
    dds_name(&name).is_some().then_some(name)
}
