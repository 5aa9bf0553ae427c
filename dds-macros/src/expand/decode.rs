//! `Decode` of structs: the members in order.

use super::encode::in_base;
use super::{Target, framed, mutable, plain};
use crate::ast::{Member, Model, lifetime, with_lifetime};
use crate::attr::{Extensibility, TryConstruct};
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(model: &Model<'_>, target: &Target) -> TokenStream {
    let cdr = &target.cdr;
    let members = model.members();
    if model.extensibility() == Extensibility::Mutable {
        return mutable::decode(model, target);
    }
    let fields = members.iter().map(|member| {
        let (ident, value) = (member.ident, value(model, member, cdr));
        quote!(#ident: #value)
    });
    let hidden = model.hidden_fields();
    let decode = framed(model, &quote!(d), &quote!(::core::result::Result::Ok(Self { #(#fields,)* #hidden })));
    let statements = members.iter().map(|member| statement(model, member, cdr));
    let decode_into = framed(model, &quote!(d), &quote!(#(#statements)* ::core::result::Result::Ok(())));
    // A sequence of empty structs needs no bytes: the decoder limits how many of them it creates.
    let is_final = model.extensibility() == Extensibility::Final;
    let mut limit = TokenStream::new();
    if members.is_empty() {
        limit = quote!(d.empty_struct(::core::mem::size_of::<Self>(), #is_final)?;);
    }
    let (plain, plain_into) = (plain::decode(model), plain::decode_into(model));
    methods(model, target, &quote!(#limit #plain #decode), &quote!(#limit #plain_into #decode_into))
}

/// The impl of a struct with these method bodies.
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

/// The impl with these method bodies, including `missing`.
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
    let of_plain = plain::decode_methods(model, cdr).or_else(|| size_min(model, cdr));
    quote! {
        #[automatically_derived]
        #[allow(unreachable_patterns, irrefutable_let_patterns)]
        impl<'de> #cdr::Decode<'de> for #ty {
            const EXTENSIBILITY: ::core::option::Option<#cdr::Extensibility> =
                ::core::option::Option::Some(#extensibility);

            #of_plain

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

/// `SIZE_MIN` of a struct: 0 if all members can be empty on the wire, else 1.
fn size_min(model: &Model<'_>, cdr: &TokenStream) -> Option<TokenStream> {
    if model.extensibility() == Extensibility::Mutable || model.members().iter().any(|member| member.is_optional) {
        return None;
    }
    let are_empty = model.members().iter().map(|member| {
        let ty = with_lifetime(member.ty, "de");
        member.locate(quote!(<#ty as #cdr::Decode<'de>>::SIZE_MIN == 0))
    });
    Some(quote! {
        const SIZE_MIN: usize = !(true #(&& #are_empty)*) as usize;
    })
}

/// The expression that decodes a member.
pub(super) fn value(model: &Model<'_>, member: &Member<'_>, cdr: &TokenStream) -> TokenStream {
    let is_appendable = model.extensibility() == Extensibility::Appendable;
    if member.is_base() {
        return member.locate(in_base(model, &quote!(d), &quote!(#cdr::Decode::decode(d)), false));
    }
    let mut value = match (member.is_optional, is_appendable) {
        (true, true) => quote!(d.optional_member()?),
        (true, false) => quote!(d.optional()?),
        (false, true) if member.attributes.default.is_none() => quote!(d.member()?),
        (false, _) => quote!(#cdr::Decode::decode(d)?),
    };
    let ty = with_lifetime(member.ty, "de");
    if let Some(check) = check(member, cdr, &quote!(value)) {
        value = quote! {{
            #[allow(unused_mut)]
            let mut value: #ty = #value;
            #check
            value
        }};
    }
    if member.try_construct() == TryConstruct::UseDefault {
        let (missing, is_optional) = (missing_value(member, cdr), member.is_optional);
        value = quote! {
            match d.try_construct(<#ty as #cdr::TypeInfo>::DESCRIPTION, #is_optional, |d| {
                let value: #ty = #value;
                ::core::result::Result::Ok(value)
            })? {
                ::core::option::Option::Some(value) => value,
                ::core::option::Option::None => #missing,
            }
        };
    }
    let value = member.locate(value);
    match member.default() {
        Some(default) if is_appendable => {
            quote!(if d.is_at_end_of_delimited() { #default } else { #value })
        }
        _ => value,
    }
}

/// The statement that checks the bound of a member, or trims it, after it was decoded into `place`.
pub(super) fn check(member: &Member<'_>, cdr: &TokenStream, place: &TokenStream) -> Option<TokenStream> {
    let bound = member.bound()?;
    if member.try_construct() == TryConstruct::Trim {
        return Some(quote!(#cdr::Trim::trim(&mut #place, #bound);));
    }
    if member.is_optional {
        return Some(quote! {
            if let ::core::option::Option::Some(value) = &#place {
                d.check_bound(value.len(), #bound)?;
            }
        });
    }
    Some(quote!(d.check_bound(#place.len(), #bound)?;))
}

/// The statement that decodes into a field.
pub(super) fn statement(model: &Model<'_>, member: &Member<'_>, cdr: &TokenStream) -> TokenStream {
    let ident = member.ident;
    let is_appendable = model.extensibility() == Extensibility::Appendable;
    if member.is_base() {
        let decode = quote!(#cdr::Decode::decode_into(&mut self.#ident, d));
        return member.locate(in_base(model, &quote!(d), &decode, true));
    }
    let decode = match (member.is_optional, is_appendable) {
        (true, true) => quote!(d.optional_member_into(&mut self.#ident)?;),
        (true, false) => quote!(d.optional_into(&mut self.#ident)?;),
        (false, true) if member.attributes.default.is_none() => {
            quote!(d.member_into(&mut self.#ident)?;)
        }
        (false, _) => quote!(#cdr::Decode::decode_into(&mut self.#ident, d)?;),
    };
    let place = quote!(self.#ident);
    let check = check(member, cdr, &place);
    let (decode, check) = (member.locate(decode), check.map(|check| member.locate(check)));
    let decode = or_default(model, member, cdr, &place, &quote!(#decode #check));
    match member.default() {
        Some(default) if is_appendable => quote! {
            if d.is_at_end_of_delimited() {
                self.#ident = #default;
            } else {
                #decode
            }
        },
        _ => decode,
    }
}

/// The statements that decode into `place`. With `try_construct = "use_default"` they fall back to its default.
pub(super) fn or_default(
    model: &Model<'_>,
    member: &Member<'_>,
    cdr: &TokenStream,
    place: &TokenStream,
    decode: &TokenStream,
) -> TokenStream {
    if member.try_construct() != TryConstruct::UseDefault {
        return decode.clone();
    }
    let ty = with_lifetime(member.ty, "de");
    // In mutable structs the member header, not a flag, shows whether an optional member is present.
    let is_optional = member.is_optional && model.extensibility() != Extensibility::Mutable;
    let missing = missing_value(member, cdr);
    quote! {
        let tried = d.try_construct(<#ty as #cdr::TypeInfo>::DESCRIPTION, #is_optional, |d| {
            #decode
            ::core::result::Result::Ok(())
        })?;
        if tried.is_none() {
            #place = #missing;
        }
    }
}

/// `name: value` of an absent member.
fn missing(member: &Member<'_>, cdr: &TokenStream) -> TokenStream {
    let ident = member.ident;
    let value = missing_value(member, cdr);
    quote!(#ident: #value)
}

/// The value of an absent member.
pub(super) fn missing_value(member: &Member<'_>, cdr: &TokenStream) -> TokenStream {
    match (member.default(), member.is_optional) {
        (Some(default), _) => default,
        (None, true) => quote!(::core::option::Option::None),
        (None, false) => member.locate(quote!(#cdr::Decode::missing(d)?)),
    }
}
