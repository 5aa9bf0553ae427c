//! Model of types that are encoded as another type: newtypes, and types with `into` and `from`.

use crate::ast::{Body, MemberModel, Model, is_option};
use crate::attr::{FieldAttributes, TypeAttributes};
use crate::check::{Errors, check_member};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Data, DeriveInput, Fields, Type, parse_quote};

/// A type that is encoded as another one, the wire type.
pub(crate) enum ConvertedModel<'a> {
    /// A struct of one field without a name.
    Newtype(Box<MemberModel<'a>>),
    /// A type with conversions.
    IntoFrom {
        wire: Box<Type>,
        /// Whether a received value may have no counterpart.
        may_fail: bool,
    },
}

impl<'a> ConvertedModel<'a> {
    /// `ident` is the name of the type: the field has none.
    pub(crate) fn of_newtype(ident: &'a Ident, fields: &'a Fields, errors: &mut Errors) -> Body<'a> {
        let Some(field) = fields.iter().next() else { return Body::Unknown };
        let mut attributes = FieldAttributes::of(&field.attrs, errors);
        let bound = attributes.bound.take();
        if !attributes.stands_alone() {
            errors.at(field, "expected only `bound` on the field of a newtype: its other attributes belong on members");
        }
        // Attributes with a mistake must not lead to more errors.
        attributes = FieldAttributes { bound, ..FieldAttributes::default() };
        if is_option(&field.ty) {
            errors.at(&field.ty, "expected a value that is always present: make the member an `Option` instead");
        }
        let (name, is_optional) = (ident.to_string(), false);
        let member = MemberModel { ident, ty: &field.ty, id: 0, counts_from: None, name, is_optional, attributes };
        Body::Converted(Self::Newtype(Box::new(member)))
    }

    pub(crate) fn of_attributes(attributes: &TypeAttributes, errors: &mut Errors) -> Body<'a> {
        match (&attributes.into, &attributes.from) {
            (Some(into), Some(from)) => {
                // Types have no equality in a macro. Two spellings of one type are rare, and the message says what to
                // write.
                if into.to_token_stream().to_string() != from.ty.to_token_stream().to_string() {
                    errors.at(&from.ty, "expected the type of `into`: values are encoded and decoded as one type");
                }
                Body::Converted(Self::IntoFrom { wire: Box::new(into.clone()), may_fail: from.may_fail })
            }
            (Some(into), None) => {
                errors.at(into, "expected `from` or `try_from` beside `into`: readers convert back");
                Body::Unknown
            }
            (None, Some(from)) => {
                errors.at(&from.ty, "expected `into` beside this conversion: writers convert before they encode");
                Body::Unknown
            }
            (None, None) => Body::Unknown,
        }
    }
}

pub(crate) fn check(model: &Model<'_>, converted: &ConvertedModel<'_>, errors: &mut Errors) {
    let attributes = &model.attributes;
    if let ConvertedModel::Newtype(member) = converted {
        check_member(member, errors);
    } else if model.lifetimes > 0 {
        errors.at(&model.input.generics, "expected no lifetimes: a converted type owns its data");
    }
    let message = "expected no such attribute: the type has the structure of the type inside";
    let spans = [attributes.nested, attributes.member_keys, attributes.plain, attributes.key, attributes.bitset];
    for span in spans.into_iter().flatten() {
        errors.add(syn::Error::new(span, message));
    }
    if attributes.extensibility.is_some() || attributes.autoid.is_some() || attributes.discriminator.is_some() {
        errors.at(model.ident, message);
    }
    if let Some(view_of) = &attributes.view_of {
        errors.at(view_of, message);
    }
}

/// Replaces the type of each field that has `with` by the wire type of that module.
///
/// Everything else in the derive then sees the wire type. Generated code converts from and to the type of the field.
pub(crate) fn use_wire_types(input: &mut DeriveInput) {
    let Data::Struct(data) = &mut input.data else { return };
    for field in &mut data.fields {
        // The mistakes are reported when the model is built.
        let Some(with) = FieldAttributes::of(&field.attrs, &mut Errors::default()).with else { continue };
        // `with` converts the value inside an `Option`, so the wire type is optional too.
        let is_optional = is_option(&field.ty);
        let wire: Type = parse_quote!(#with::Wire);
        field.ty = if is_optional { parse_quote!(::core::option::Option<#wire>) } else { wire };
    }
}
