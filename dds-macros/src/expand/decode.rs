//! `Decode`: the members one after the other.

use super::{Target, framed, mutable};
use crate::ast::{Member, Model, lifetime, with_lifetime};
use crate::attr::Extensibility;
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(model: &Model<'_>, target: &Target) -> TokenStream {
    let cdr = &target.cdr;
    let members = model.members();
    let is_appendable = model.extensibility() == Extensibility::Appendable;

    if model.extensibility() == Extensibility::Mutable {
        return mutable::decode(model, target);
    }
    let fields = members.iter().map(|member| field(member, cdr, is_appendable));
    let hidden = model.hidden_fields();
    let decode = framed(model, &quote!(d), &quote!(::core::result::Result::Ok(Self { #(#fields,)* #hidden })));
    let statements = members.iter().map(|member| statement(member, cdr, is_appendable));
    let decode_into = framed(model, &quote!(d), &quote!(#(#statements)* ::core::result::Result::Ok(())));
    // Without members there is nothing to do with the cursor.
    let ignore = members.is_empty().then(|| quote!(let _ = &d;));
    methods(model, target, &quote!(#ignore #decode), &quote!(#ignore #decode_into))
}

/// The impl with these bodies of its methods.
pub(super) fn methods(
    model: &Model<'_>,
    target: &Target,
    decode: &TokenStream,
    decode_into: &TokenStream,
) -> TokenStream {
    let cdr = &target.cdr;
    let hidden = model.hidden_fields();
    let defaults = model.members().iter().map(|member| missing(member, cdr));
    let missing = quote! {
        let _ = d;
        ::core::result::Result::Ok(Self { #(#defaults,)* #hidden })
    };
    implement(model, target, decode, decode_into, &missing)
}

/// The impl with these bodies of its methods, the last one too.
pub(super) fn implement(
    model: &Model<'_>,
    target: &Target,
    decode: &TokenStream,
    decode_into: &TokenStream,
    missing: &TokenStream,
) -> TokenStream {
    let cdr = &target.cdr;
    let ty = model.ty(&lifetime("de"));
    let extensibility = target.extensibility(model);
    let error = quote!(#cdr::DecodeError);
    quote! {
        #[automatically_derived]
        #[allow(unreachable_patterns, irrefutable_let_patterns)]
        impl<'de> #cdr::Decode<'de> for #ty {
            const EXTENSIBILITY: ::core::option::Option<#cdr::Extensibility> =
                ::core::option::Option::Some(#extensibility);

            fn decode(d: &mut #cdr::Decoder<'de>) -> ::core::result::Result<Self, #error> {
                #decode
            }

            fn decode_into(&mut self, d: &mut #cdr::Decoder<'de>) -> ::core::result::Result<(), #error> {
                #decode_into
            }

            fn missing(d: &#cdr::Decoder<'de>) -> ::core::result::Result<Self, #error> {
                #missing
            }
        }
    }
}

/// `name: value,` of a struct that is decoded.
fn field(member: &Member<'_>, cdr: &TokenStream, is_appendable: bool) -> TokenStream {
    let ident = member.ident;
    let value = value(member, cdr, is_appendable);
    quote!(#ident: #value)
}

/// The value of a member, decoded.
pub(super) fn value(member: &Member<'_>, cdr: &TokenStream, is_appendable: bool) -> TokenStream {
    let mut value = match (member.is_optional, is_appendable) {
        (true, true) => quote!(d.optional_member()?),
        (true, false) => quote!(d.optional()?),
        (false, true) if member.attributes.default.is_none() => quote!(d.member()?),
        (false, _) => quote!(#cdr::Decode::decode(d)?),
    };
    if let Some(bound) = member.bound() {
        let ty = with_lifetime(member.ty, "de");
        let check = match member.is_optional {
            true => quote! {
                if let ::core::option::Option::Some(value) = &value {
                    d.check_bound(value.len(), #bound)?;
                }
            },
            false => quote!(d.check_bound(value.len(), #bound)?;),
        };
        value = quote! {{
            let value: #ty = #value;
            #check
            value
        }};
    }
    let value = member.locate(value);
    match member.default() {
        Some(default) if is_appendable => {
            quote!(if d.is_at_end_of_delimited() { #default } else { #value })
        }
        _ => value,
    }
}

/// The statement that decodes into a field.
fn statement(member: &Member<'_>, cdr: &TokenStream, is_appendable: bool) -> TokenStream {
    let ident = member.ident;
    let decode = match (member.is_optional, is_appendable) {
        (true, true) => quote!(d.optional_member_into(&mut self.#ident)?;),
        (true, false) => quote!(d.optional_into(&mut self.#ident)?;),
        (false, true) if member.attributes.default.is_none() => {
            quote!(d.member_into(&mut self.#ident)?;)
        }
        (false, _) => quote!(#cdr::Decode::decode_into(&mut self.#ident, d)?;),
    };
    let check = member.bound().map(|bound| match member.is_optional {
        true => quote! {
            if let ::core::option::Option::Some(value) = &self.#ident {
                d.check_bound(value.len(), #bound)?;
            }
        },
        false => quote!(d.check_bound(self.#ident.len(), #bound)?;),
    });
    let (decode, check) = (member.locate(decode), check.map(|check| member.locate(check)));
    match member.default() {
        Some(default) if is_appendable => quote! {
            if d.is_at_end_of_delimited() {
                self.#ident = #default;
            } else {
                #decode
                #check
            }
        },
        _ => quote!(#decode #check),
    }
}

/// `name: value,` of a struct that was not sent.
fn missing(member: &Member<'_>, cdr: &TokenStream) -> TokenStream {
    let ident = member.ident;
    let value = missing_value(member, cdr);
    quote!(#ident: #value)
}

/// The value of a member that was not sent.
pub(super) fn missing_value(member: &Member<'_>, cdr: &TokenStream) -> TokenStream {
    match (member.default(), member.is_optional) {
        (Some(default), _) => default,
        (None, true) => quote!(::core::option::Option::None),
        (None, false) => member.locate(quote!(#cdr::Decode::missing(d)?)),
    }
}
