//! Dynamic types of definitions.

use super::DescriptionForm;
use super::type_object::graph_of;
use crate::model::{
    ConstantValue, DataType, DefinitionId, DefinitionKind, Diagnostic, MemberDefinition, Specification,
};
use dds_cdr::cdr::dynamic::{DynamicType, Input};
use dds_cdr::xtypes::{CompleteTypeObject, TypeIdentifier, TypeObject, dynamic_type_with_defaults};
use std::collections::HashMap;

/// The type of a definition: by its TypeObjects, and with the defaults that these lack.
pub(super) fn of(specification: &Specification, id: DefinitionId) -> Result<DynamicType, Box<Diagnostic>> {
    let graph = graph_of(specification, id, DescriptionForm::Standard)?;
    let mut objects: HashMap<&TypeIdentifier, &CompleteTypeObject> = HashMap::new();
    for ty in graph.types() {
        if let TypeObject::Complete(definition) = &ty.complete {
            objects.insert(&ty.complete_id, definition);
        }
    }
    let span = specification.definition(id).span;
    let Some(root) = graph.types().first() else {
        debug_assert!(false, "a graph contains its root");
        return Err(Box::new(Diagnostic::error("the type has no description", span)));
    };
    let default = |name: &str, member: u32| default_of(specification, name, member);
    dynamic_type_with_defaults(&root.complete_id, &|id| objects.get(id).copied(), &default)
        .map_err(|error| Box::new(Diagnostic::error(format!("no dynamic type: {error}"), span)))
}

/// The default of a member of a struct. That of an optional member is to be absent.
fn default_of(specification: &Specification, name: &str, member: u32) -> Option<Input> {
    let definition = specification.definition(specification.find(name)?);
    let DefinitionKind::Struct(found) = &definition.kind else { return None };
    let member: &MemberDefinition = found.members.iter().find(|own| own.id == member)?;
    if member.is_optional() {
        return None;
    }
    input(specification, &member.ty, member.default_value()?)
}

/// A value as an input; `None` for a value that dynamic data cannot hold.
fn input(specification: &Specification, ty: &DataType, value: &ConstantValue) -> Option<Input> {
    Some(match value {
        ConstantValue::Bool(value) => (*value).into(),
        ConstantValue::Integer(number) => match (i64::try_from(*number), u64::try_from(*number)) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) => number.into(),
            _ => return None,
        },
        ConstantValue::Float(number) => (*number).into(),
        ConstantValue::Fixed(number) => (number.digits as f64 / 10_f64.powi(number.scale.into())).into(),
        ConstantValue::Char(letter) | ConstantValue::WChar(letter) => (*letter).into(),
        // `rosidl` writes the default of a collection as a text of Python, such as `(0, 1)`.
        ConstantValue::String(_) if is_collection(specification, ty) => return None,
        ConstantValue::String(text) | ConstantValue::WString(text) => (&**text).into(),
        ConstantValue::Enumerator(id, index) => {
            let DefinitionKind::Enum(found) = &specification.definition(*id).kind else { return None };
            (&*found.enumerators.get(*index)?.name).into()
        }
        ConstantValue::List(values) => {
            let element = match specification.resolve(ty) {
                DataType::Sequence { element, .. } => element.ty.clone(),
                DataType::Array { element, dimensions } => match dimensions.get(1..) {
                    Some(rest) if !rest.is_empty() => DataType::array(element.ty.clone(), rest.to_vec()),
                    _ => element.ty.clone(),
                },
                _ => return None,
            };
            let mut inputs = Vec::with_capacity(values.len());
            for value in values {
                inputs.push(input(specification, &element, value)?);
            }
            inputs.into()
        }
    })
}

fn is_collection(specification: &Specification, ty: &DataType) -> bool {
    matches!(specification.resolve(ty), DataType::Sequence { .. } | DataType::Array { .. })
}
