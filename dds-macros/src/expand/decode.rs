//! `Decode` of structs: the members in order.

use super::encode::in_base;
use super::{ImplContext, framed, mutable, plain};
use crate::ast::{MemberModel, Model, lifetime, with_lifetime};
use crate::attr::{ExtensibilityAttribute, TryConstructAttribute};
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(model: &Model<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let members = model.members();
    if model.extensibility() == ExtensibilityAttribute::Mutable {
        return mutable::decode(model, context);
    }
    let (mut fields, mut statements) = (TokenStream::new(), TokenStream::new());
    for member in members {
        let (ident, value) = (member.ident, value(model, member, cdr));
        // Rust evaluates the fields of a struct expression in the order of the text, which is the order on the wire.
        fields.extend(quote!(#ident: #value,));
        statements.extend(statement(model, member, cdr));
    }
    let hidden = model.hidden_fields();
    let decode = framed(model, &quote!(d), &quote!(::core::result::Result::Ok(Self { #fields #hidden })));
    let decode_into = framed(model, &quote!(d), &quote!(#statements ::core::result::Result::Ok(())));
    // A sequence of empty structs needs no bytes: the decoder limits how many of them it creates.
    let is_final = model.extensibility() == ExtensibilityAttribute::Final;
    let mut limit = TokenStream::new();
    if members.is_empty() {
        limit = quote!(d.empty_struct(::core::mem::size_of::<Self>(), #is_final)?;);
    }
    let (plain, plain_into) = (plain::decode(model), plain::decode_into(model));
    methods(model, context, &quote!(#limit #plain #decode), &quote!(#limit #plain_into #decode_into))
}

/// The impl of a struct with these method bodies.
pub(super) fn methods(
    model: &Model<'_>,
    context: &ImplContext,
    decode: &TokenStream,
    decode_into: &TokenStream,
) -> TokenStream {
    let cdr = &context.cdr;
    let hidden = model.hidden_fields();
    let mut defaults = TokenStream::new();
    for member in model.members() {
        let (ident, value) = (member.ident, missing_value(member, cdr));
        defaults.extend(quote!(#ident: #value,));
    }
    // If each member has a default of its own, nothing uses the decoder.
    let missing = quote! {
        let _ = d;
        ::core::result::Result::Ok(Self { #defaults #hidden })
    };
    implement(model, context, decode, decode_into, &missing)
}

/// The impl with these method bodies, including `missing`.
pub(super) fn implement(
    model: &Model<'_>,
    context: &ImplContext,
    decode: &TokenStream,
    decode_into: &TokenStream,
    missing: &TokenStream,
) -> TokenStream {
    let cdr = &context.cdr;
    let ty = model.ty(&lifetime("de"));
    let extensibility = context.extensibility(model);
    let error = quote!(#cdr::DecodeError);
    let constants = match plain::decode_methods(model, cdr) {
        Some(methods) => Some(methods),
        None => size_min(model, cdr),
    };
    // An id pattern of a derived struct may repeat one of its base, and a union with one case has no other pattern.
    quote! {
        #[automatically_derived]
        #[allow(unreachable_patterns, irrefutable_let_patterns)]
        impl<'de> #cdr::Decode<'de> for #ty {
            const EXTENSIBILITY: ::core::option::Option<#cdr::Extensibility> =
                ::core::option::Option::Some(#extensibility);

            #constants

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
    // Each of these has a header or a flag, so the default of one byte is right.
    if model.extensibility() == ExtensibilityAttribute::Mutable {
        return None;
    }
    let mut are_empty = TokenStream::new();
    for member in model.members() {
        if member.is_optional {
            return None;
        }
        let size_min = match member.as_owned(cdr) {
            Some(owned) => quote!(#owned::SIZE_MIN),
            None => {
                let ty = with_lifetime(member.ty, "de");
                quote!(<#ty as #cdr::Decode<'de>>::SIZE_MIN)
            }
        };
        let is_empty = member.locate(quote!(#size_min == 0));
        are_empty.extend(quote!(&& #is_empty));
    }
    // 0 or 1 is enough: the decoder only needs to know whether a hostile count costs bytes.
    Some(quote! {
        const SIZE_MIN: usize = !(true #are_empty) as usize;
    })
}

/// The expression that decodes a member.
pub(super) fn value(model: &Model<'_>, member: &MemberModel<'_>, cdr: &TokenStream) -> TokenStream {
    let is_appendable = model.extensibility() == ExtensibilityAttribute::Appendable;
    if member.is_base() {
        let read = read(member, cdr, &quote!(decode));
        return member.locate(in_base(model, &quote!(d), &read, false));
    }
    let method = match (member.is_optional, is_appendable) {
        (true, true) => quote!(optional_member),
        (true, false) => quote!(optional),
        // The data of an older writer may end before this member. A member with a default asks for the end itself.
        (false, true) if member.attributes.default.is_none() => quote!(member),
        (false, _) => quote!(decode),
    };
    let mut value = read(member, cdr, &method);
    value = quote!(#value?);
    let ty = with_lifetime(member.ty, "de");
    if let Some(check) = check(member, cdr, &quote!(value)) {
        value = quote! {{
            #[allow(unused_mut)]
            let mut value: #ty = #value;
            #check
            value
        }};
    }
    // A conversion that fails counts as a value that cannot be constructed, so it stands inside the attempt.
    value = member.convert(value, cdr);
    if member.try_construct() == TryConstructAttribute::UseDefault {
        let (missing, is_optional) = (missing_value(member, cdr), member.is_optional);
        let described = member.constant(&quote!(TypeInfo), &quote!(DESCRIPTION), cdr);
        value = quote! {
            match d.try_construct(#described, #is_optional, |d| {
                let value = #value;
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

/// The call that decodes a member. `method` is `decode`, `missing`, or a method of the decoder.
pub(super) fn read(member: &MemberModel<'_>, cdr: &TokenStream, method: &TokenStream) -> TokenStream {
    let name = method.to_string();
    match (member.as_owned(cdr), name.as_str()) {
        (Some(owned), "decode") => quote!(#owned::read_value(d)),
        (Some(owned), name) => {
            let read = quote::format_ident!("read_{name}");
            quote!(#owned::#read(d))
        }
        (None, "decode" | "missing") => quote!(#cdr::Decode::#method(d)),
        (None, _) => quote!(d.#method()),
    }
}

/// The call that decodes a member into `place`. `method` is `decode_into`, or a method of the decoder.
pub(super) fn read_into(
    member: &MemberModel<'_>,
    cdr: &TokenStream,
    method: &TokenStream,
    place: &TokenStream,
) -> TokenStream {
    let name = method.to_string();
    match (member.as_owned(cdr), name.as_str()) {
        (Some(owned), "decode_into") => quote!(#owned::read_into(#place, d)),
        (Some(owned), name) => {
            let read = quote::format_ident!("read_{name}");
            quote!(#owned::#read(#place, d))
        }
        (None, "decode_into") => quote!(#cdr::Decode::decode_into(#place, d)),
        (None, _) => quote!(d.#method(#place)),
    }
}

/// The statement that checks the bound of a member, or trims it, after it was decoded into `place`.
pub(super) fn check(member: &MemberModel<'_>, cdr: &TokenStream, place: &TokenStream) -> Option<TokenStream> {
    let bound = member.bound()?;
    // XTYPES 1.3, 7.2.4.3.7: a collection that is too long is cut, and the sample stays valid.
    if member.try_construct() == TryConstructAttribute::Trim {
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
pub(super) fn statement(model: &Model<'_>, member: &MemberModel<'_>, cdr: &TokenStream) -> TokenStream {
    let ident = member.ident;
    let is_appendable = model.extensibility() == ExtensibilityAttribute::Appendable;
    if member.is_base() {
        let decode = read_into(member, cdr, &quote!(decode_into), &quote!(&mut self.#ident));
        return member.locate(in_base(model, &quote!(d), &decode, true));
    }
    if member.attributes.with.is_some() {
        // The field has another type than the wire, so it cannot be decoded in place.
        let value = value(model, member, cdr);
        return quote!(self.#ident = #value;);
    }
    let method = match (member.is_optional, is_appendable) {
        (true, true) => quote!(optional_member_into),
        (true, false) => quote!(optional_into),
        (false, true) if member.attributes.default.is_none() => quote!(member_into),
        (false, _) => quote!(decode_into),
    };
    let decode = read_into(member, cdr, &method, &quote!(&mut self.#ident));
    let decode = quote!(#decode?;);
    let place = quote!(self.#ident);
    let check = check(member, cdr, &place);
    let (decode, check) = (member.locate(decode), member.locate(check.unwrap_or_default()));
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
    member: &MemberModel<'_>,
    cdr: &TokenStream,
    place: &TokenStream,
    decode: &TokenStream,
) -> TokenStream {
    if member.try_construct() != TryConstructAttribute::UseDefault {
        return decode.clone();
    }
    let described = member.constant(&quote!(TypeInfo), &quote!(DESCRIPTION), cdr);
    // In mutable structs the member header, not a flag, shows whether an optional member is present.
    let is_optional = member.is_optional && model.extensibility() != ExtensibilityAttribute::Mutable;
    let missing = missing_value(member, cdr);
    quote! {
        let tried = d.try_construct(#described, #is_optional, |d| {
            #decode
            ::core::result::Result::Ok(())
        })?;
        if tried.is_none() {
            #place = #missing;
        }
    }
}

/// The value of an absent member.
pub(super) fn missing_value(member: &MemberModel<'_>, cdr: &TokenStream) -> TokenStream {
    match (member.default(), member.is_optional) {
        // The default is a value of the field, not of the wire, so it is not converted.
        (Some(default), _) => default,
        (None, true) => quote!(::core::option::Option::None),
        (None, false) => {
            let missing = read(member, cdr, &quote!(missing));
            member.locate(member.convert(quote!(#missing?), cdr))
        }
    }
}
