//! Generated views: structs that borrow text and numbers from an encoded sample.

use crate::ast::{Body, Model, has_lifetime};
use crate::attr::{ExtensibilityAttribute, FieldAttributes, MemberDefault};
use crate::check::{self, Errors};
use crate::{converted, expand};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Fields, GenericArgument, PathArguments, Type, parse_quote};

/// The view of a struct with `#[dds(view = Name)]`, with its own impls.
pub(crate) fn expand(original: &DeriveInput, model: &Model<'_>) -> TokenStream {
    let (Some(name), Data::Struct(data)) = (&model.attributes.view, &original.data) else { return TokenStream::new() };
    let fields = fields_of_view(&data.fields, &expand::path_of_cdr(model));
    let mut errors = Errors::default();
    let mut borrows = false;
    for field in &fields {
        borrows |= has_lifetime(&field.ty);
    }
    if !borrows {
        errors.at(name, "expected a string or a sequence of numbers: this view has nothing to borrow");
    }
    let mut view: DeriveInput = original.clone();
    view.ident = name.clone();
    view.generics = parse_quote!(<'a>);
    view.attrs = type_attributes(original, model);
    // The fields of the model are owned types. Those of the view are declared before conversions replace them.
    if let Data::Struct(data) = &mut view.data {
        data.fields = fields;
    }
    let declared = declaration(&view, model);
    converted::use_wire_types(&mut view);
    let view_model = Model::of(&view, &mut errors);
    debug_assert_eq!(view_model.lifetimes, 1, "the view has the lifetime `'a` alone");
    check::check(&view_model, &mut errors);
    match errors.into_compile_errors() {
        Some(reports) => reports,
        None => {
            let impls = expand::expand(&view_model);
            quote!(#declared #impls)
        }
    }
}

/// The members with their borrowed types.
fn fields_of_view(fields: &Fields, cdr: &TokenStream) -> Fields {
    let mut fields = fields.clone();
    if let Fields::Named(named) = &mut fields {
        let mut members = Punctuated::new();
        for field in &named.named {
            // The mistakes are reported for the type itself.
            let attributes = FieldAttributes::of(&field.attrs, &mut Errors::default());
            if attributes.non_serialized.is_none() {
                let ty = view_of_field(&field.ty, &attributes, cdr);
                members.push(syn::Field { ty, ..field.clone() });
            }
        }
        named.named = members;
    }
    fields
}

/// The item that declares the view.
fn declaration(view: &DeriveInput, model: &Model<'_>) -> TokenStream {
    let mut declared = view.clone();
    declared.attrs.clear();
    if let Data::Struct(data) = &mut declared.data {
        // No derive reads `dds` attributes there.
        for field in &mut data.fields {
            field.attrs.retain(|attribute| !attribute.path().is_ident("dds"));
        }
    }
    let doc = format!("View of [`{}`], which borrows from an encoded sample.", model.ident);
    let mut derives = TokenStream::new();
    if let Some((list, _)) = &model.attributes.view_derive {
        derives = quote!(#[derive(#list)]);
    }
    quote!(#[doc = #doc] #derives #declared)
}

/// The attributes that a view shares with its type.
fn type_attributes(original: &DeriveInput, model: &Model<'_>) -> Vec<Attribute> {
    // Both types need each attribute that changes the encoding. The name comes from the viewed type.
    let viewed = &original.ident;
    let mut attributes: Vec<Attribute> = vec![parse_quote!(#[dds(view_of = #viewed)])];
    if let Some(path) = &model.attributes.crate_path {
        let path = path.to_token_stream().to_string().replace(' ', "");
        attributes.push(parse_quote!(#[dds(crate = #path)]));
    }
    match model.extensibility() {
        ExtensibilityAttribute::Final => {}
        ExtensibilityAttribute::Appendable => attributes.push(parse_quote!(#[dds(appendable)])),
        ExtensibilityAttribute::Mutable => attributes.push(parse_quote!(#[dds(mutable)])),
    }
    if model.attributes.autoid == Some(crate::attr::AutoId::Hash) {
        attributes.push(parse_quote!(#[dds(autoid = "hash")]));
    }
    if model.attributes.nested.is_some() {
        attributes.push(parse_quote!(#[dds(nested)]));
    }
    attributes
}

/// The type of a field in the view.
fn view_of_field(ty: &Type, attributes: &FieldAttributes, cdr: &TokenStream) -> Type {
    // A default expression and a conversion have the type of the field.
    let is_fixed = matches!(attributes.default, Some(MemberDefault::Value(_)));
    if is_fixed || attributes.with.is_some() || attributes.base.is_some() {
        return ty.clone();
    }
    borrowed(ty, attributes.view.as_ref(), cdr)
}

/// The borrowed form of a type. `view` replaces the innermost type of collections.
fn borrowed(ty: &Type, view: Option<&Type>, cdr: &TokenStream) -> Type {
    if let Type::Array(array) = ty {
        // An array itself is copied: it has no allocation to save, and its elements may borrow.
        let mut array = array.clone();
        *array.elem = borrowed(&array.elem, view, cdr);
        return array.into();
    }
    let Type::Path(path) = ty else { return ty.clone() };
    let Some(segment) = path.path.segments.last() else { return ty.clone() };
    let name = segment.ident.to_string();
    match (name.as_str(), argument_of(segment)) {
        // Bytes need no alignment and have no byte order. A `Run` converts larger numbers when they are read.
        ("Vec", Some(element)) if view.is_none() && is_named(element, &["u8"]) => parse_quote!(&'a [u8]),
        ("Vec", Some(element)) if view.is_none() && is_named(element, NUMBERS) => parse_quote!(#cdr::Run<'a, #element>),
        // The container stays, and its elements borrow.
        ("Vec" | "Option" | "Box", Some(inner)) => {
            let mut path = path.clone();
            let inner = borrowed(inner, view, cdr);
            if let Some(segment) = path.path.segments.last_mut() {
                segment.arguments = PathArguments::AngleBracketed(parse_quote!(<#inner>));
            }
            Type::Path(path)
        }
        (_, None) => match view {
            Some(view) => parse_quote!(#view<'a>),
            None if name == "String" => parse_quote!(&'a str),
            None => ty.clone(),
        },
        _ => ty.clone(),
    }
}

/// The only type parameter of a path.
fn argument_of(segment: &syn::PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(ty)) if arguments.args.len() == 1 => Some(ty),
        _ => None,
    }
}

pub(crate) fn is_named(ty: &Type, names: &[&str]) -> bool {
    let Some(ident) = crate::ast::last_segment(ty) else { return false };
    names.contains(&ident.to_string().as_str())
}

/// Checks `view` of a type.
pub(crate) fn check(model: &Model<'_>, errors: &mut Errors) {
    let attributes = &model.attributes;
    if let (Some((_, span)), None) = (&attributes.view_derive, &attributes.view) {
        errors.add(syn::Error::new(*span, "expected `view = Name` beside `view_derive`"));
    }
    let Some(view) = &attributes.view else { return };
    // An unknown body has its own error.
    let is_owned_struct = matches!(model.body, Body::Struct(_) | Body::Unknown) && model.lifetimes == 0;
    if !is_owned_struct {
        errors.at(view, "expected a struct that owns its data: only such a type has a generated view");
    }
}

/// Elements whose sequences are borrowed as a run.
pub(crate) const NUMBERS: &[&str] =
    &["bool", "i8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "Char16", "F128"];
