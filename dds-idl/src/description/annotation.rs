//! Annotations and flags as TypeObjects have them (XTYPES 1.3, annex B).

use super::DescriptionForm;
use crate::model::{
    AnnotationKind, Annotations, BasicType, ConstantValue, DataType, DefinitionKind, ElementType, Extensibility,
    MemberDefinition, Specification, TryConstruct, UnionDefinition,
};
use crate::rust::kept;
use dds_cdr::cdr::Char16;
use dds_cdr::xtypes::{
    AnnotationValue, ElementDetail, MemberAnnotations, MemberDetail, MemberFlags, TypeAnnotations, TypeDetail,
    TypeFlags, Verbatim,
};

/// Flags and details of a specification's types in one form.
#[derive(Clone, Copy)]
pub(super) struct AnnotationReader<'a> {
    pub(super) specification: &'a Specification,
    pub(super) form: DescriptionForm,
}

impl AnnotationReader<'_> {
    /// The flags of a member of a struct. Of those of a union, only `EXTERNAL` and the handling of values are left.
    pub(super) fn member_flags(self, member: &MemberDefinition, is_in_union: bool) -> MemberFlags {
        let try_construct = self.try_construct(&member.ty, member.try_construct(), member.is_key());
        let flags = MemberFlags::of_try_construct(try_construct).with(MemberFlags::EXTERNAL, member.is_external());
        if is_in_union {
            return flags;
        }
        flags
            .with(MemberFlags::OPTIONAL, member.is_optional())
            .with(MemberFlags::MUST_UNDERSTAND, member.must_understand())
            .with(MemberFlags::KEY, member.is_key())
    }

    pub(super) fn element_flags(self, element: &ElementType) -> MemberFlags {
        let flags = MemberFlags::of_try_construct(self.try_construct(&element.ty, element.try_construct(), false));
        // The derive describes a boxed element as the element.
        flags.with(MemberFlags::EXTERNAL, element.is_external() && self.form == DescriptionForm::Standard)
    }

    pub(super) fn discriminator_flags(self, union: &UnionDefinition) -> MemberFlags {
        let annotations = &union.discriminator.annotations;
        let try_construct = match self.form {
            DescriptionForm::Standard => annotations.try_construct(),
            DescriptionForm::Rust => kept::of_discriminator(self.specification, union),
        };
        MemberFlags::of_try_construct(try_construct)
            .union(MemberFlags::MUST_UNDERSTAND)
            .with(MemberFlags::KEY, annotations.is_key())
    }

    /// The derive refuses a handling without effect, so generated code leaves it out.
    fn try_construct(self, ty: &DataType, given: TryConstruct, is_key: bool) -> TryConstruct {
        match self.form {
            DescriptionForm::Standard => given,
            DescriptionForm::Rust => kept::of_value(self.specification, ty, given, is_key),
        }
    }

    pub(super) fn member_detail(self, name: &str, ty: &DataType, annotations: &Annotations) -> MemberDetail {
        let hash_id = annotations.hash_id().map(|text| text.unwrap_or_default().to_owned());
        let mut found = MemberAnnotations { hash_id, ..MemberAnnotations::default() };
        if self.form == DescriptionForm::Standard {
            found.unit = annotations.unit().map(str::to_owned);
            found.min = annotations.min().and_then(|value| self.value(ty, value));
            found.max = annotations.max().and_then(|value| self.value(ty, value));
        }
        let is_empty = found == MemberAnnotations::default();
        MemberDetail {
            name: name.to_owned(),
            builtin_annotations: if is_empty { None } else { Some(Box::new(found)) },
            custom_annotations: None,
        }
    }

    /// The details of the target of a typedef.
    pub(super) fn target_detail(self, ty: &DataType, annotations: &Annotations) -> ElementDetail {
        let detail = self.member_detail("", ty, annotations);
        ElementDetail { builtin_annotations: detail.builtin_annotations, custom_annotations: None }
    }

    pub(super) fn type_detail(self, name: &str, annotations: &Annotations) -> TypeDetail {
        let mut verbatim = None;
        for annotation in annotations {
            if let AnnotationKind::Verbatim { language, placement, text } = &annotation.kind {
                verbatim = Some(Verbatim {
                    placement: placement.to_string(),
                    language: language.to_string(),
                    text: text.to_string(),
                });
            }
        }
        if self.form == DescriptionForm::Rust {
            verbatim = None;
        }
        TypeDetail {
            builtin_annotations: verbatim.map(|verbatim| Box::new(TypeAnnotations { verbatim: Some(verbatim) })),
            custom_annotations: None,
            name: name.to_owned(),
        }
    }

    /// A value of a member's type; `None` if the value does not suit the type.
    fn value(self, ty: &DataType, value: &ConstantValue) -> Option<AnnotationValue> {
        let basic = match self.specification.resolve(ty) {
            DataType::Basic(basic) => *basic,
            DataType::Named(id) => return self.named_value(&self.specification.definition(*id).kind, value),
            DataType::String { .. } => return Some(AnnotationValue::String8(value.as_str()?.to_owned())),
            _ => return None,
        };
        Some(match (basic, value) {
            (BasicType::Bool, ConstantValue::Bool(value)) => AnnotationValue::Bool(*value),
            (BasicType::Char, ConstantValue::Char(value)) => AnnotationValue::Char8(u8::try_from(*value).ok()?),
            (BasicType::WChar, ConstantValue::WChar(value)) => AnnotationValue::Char16(Char16::try_from(*value).ok()?),
            (BasicType::Float32, _) => AnnotationValue::Float32((number_of(value)? as f32).to_bits()),
            // The standard has no value of 128 bits that Cyclone DDS or Fast DDS read, so it is rounded.
            (BasicType::Float64 | BasicType::Float128, _) => AnnotationValue::Float64(number_of(value)?.to_bits()),
            (_, ConstantValue::Integer(number)) => integer(basic, *number)?,
            _ => return None,
        })
    }

    fn named_value(self, kind: &DefinitionKind, value: &ConstantValue) -> Option<AnnotationValue> {
        match (kind, value) {
            (DefinitionKind::Enum(found), ConstantValue::Enumerator(_, index)) => {
                Some(AnnotationValue::Enumerated(found.enumerators.get(*index)?.value))
            }
            _ => None,
        }
    }
}

/// The flags of a struct or union.
pub(super) fn type_flags(extensibility: Extensibility, is_nested: bool, has_hash_ids: bool) -> TypeFlags {
    TypeFlags::of_extensibility(extensibility)
        .with(TypeFlags::NESTED, is_nested)
        .with(TypeFlags::AUTOID_HASH, has_hash_ids)
}

fn number_of(value: &ConstantValue) -> Option<f64> {
    match value {
        ConstantValue::Float(number) => Some(*number),
        ConstantValue::Integer(number) => Some(*number as f64),
        ConstantValue::Fixed(number) => Some(number.digits as f64 / 10_f64.powi(number.scale.into())),
        _ => None,
    }
}

fn integer(basic: BasicType, number: i128) -> Option<AnnotationValue> {
    Some(match basic {
        BasicType::Octet => AnnotationValue::Byte(number.try_into().ok()?),
        BasicType::Int8 => AnnotationValue::Int8(number.try_into().ok()?),
        BasicType::UInt8 => AnnotationValue::UInt8(number.try_into().ok()?),
        BasicType::Int16 => AnnotationValue::Int16(number.try_into().ok()?),
        BasicType::UInt16 => AnnotationValue::UInt16(number.try_into().ok()?),
        BasicType::Int32 => AnnotationValue::Int32(number.try_into().ok()?),
        BasicType::UInt32 => AnnotationValue::UInt32(number.try_into().ok()?),
        BasicType::Int64 => AnnotationValue::Int64(number.try_into().ok()?),
        BasicType::UInt64 => AnnotationValue::UInt64(number.try_into().ok()?),
        _ => return None,
    })
}
