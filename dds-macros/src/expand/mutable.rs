//! Mutable types: members come with their ids, in any order.

use super::{Target, decode, key};
use crate::ast::{Member, Model, with_lifetime};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

/// The statement that writes a member behind its header.
pub(super) fn write_member(member: &Member<'_>, cdr: &TokenStream, value: &TokenStream) -> TokenStream {
    let (ty, id) = (member.ty, member.id);
    let must_understand = member.attributes.must_understand.is_some();
    quote!(e.member(#id, #must_understand, <#ty as #cdr::Encode>::LENGTH_CODE, |e| #value)?;)
}

/// `Decode`: the members as they come, then those that did not.
pub(super) fn decode(model: &Model<'_>, target: &Target) -> TokenStream {
    let members: Vec<_> = model.members().iter().collect();
    let cdr = &target.cdr;
    let made = make(model, &members, cdr);
    let filled = fill(&members, cdr);
    decode::methods(model, target, &made, &filled)
}

/// A new value.
fn make(model: &Model<'_>, members: &[&Member<'_>], cdr: &TokenStream) -> TokenStream {
    let places = members.iter().map(|member| {
        let (place, ty) = (place(member), with_lifetime(member.ty, "de"));
        quote!(let mut #place: ::core::option::Option<#ty> = ::core::option::Option::None;)
    });
    let arms = members.iter().map(|member| {
        let (id, place) = (member.id, place(member));
        let mut value = quote!(#cdr::Decode::decode(d)?);
        if member.is_optional {
            value = quote!(::core::option::Option::Some(#value));
        }
        let value = member.locate(value);
        let keep = quote!(#place.insert(#value));
        let read = match check(member, &quote!(value), &quote!(*value)) {
            Some(check) => quote!(let value = #keep; #check),
            None => quote!(let _ = #keep;),
        };
        quote!(#id => { #read })
    });
    let taken = take(members.is_empty(), arms);
    let fields = members.iter().map(|member| {
        let (ident, place, missing) = (member.ident, place(member), missing(member, cdr));
        quote! {
            #ident: match #place {
                ::core::option::Option::Some(value) => value,
                ::core::option::Option::None => #missing,
            }
        }
    });
    let hidden = model.hidden_fields();
    quote! {
        #(#places)*
        #taken
        ::core::result::Result::Ok(Self { #(#fields,)* #hidden })
    }
}

/// A value that is there already.
fn fill(members: &[&Member<'_>], cdr: &TokenStream) -> TokenStream {
    let places = members.iter().map(|member| {
        let place = place(member);
        quote!(let mut #place = false;)
    });
    let arms = members.iter().map(|member| {
        let (id, ident, place) = (member.id, member.ident, place(member));
        let read = member.locate(match member.is_optional {
            true => quote!(d.present_into(&mut self.#ident)?;),
            false => quote!(#cdr::Decode::decode_into(&mut self.#ident, d)?;),
        });
        let check = check(member, &quote!(&self.#ident), &quote!(self.#ident));
        quote!(#id => { #place = true; #read #check })
    });
    let taken = take(members.is_empty(), arms);
    let rest = members.iter().map(|member| {
        let (ident, place, missing) = (member.ident, place(member), missing(member, cdr));
        let settle = match member.attributes.key {
            Some(_) => quote!(#missing;),
            None => quote!(self.#ident = #missing;),
        };
        quote! {
            if !#place {
                #settle
            }
        }
    });
    quote! {
        #(#places)*
        #taken
        #(#rest)*
        ::core::result::Result::Ok(())
    }
}

/// Goes through what was sent.
fn take(is_empty: bool, arms: impl Iterator<Item = TokenStream>) -> TokenStream {
    if is_empty {
        return quote!(d.members(|_, _| ::core::result::Result::Ok(false))?;);
    }
    quote! {
        d.members(|d, id| {
            match id {
                #(#arms)*
                _ => return ::core::result::Result::Ok(false),
            }
            ::core::result::Result::Ok(true)
        })?;
    }
}

/// Compares what was read with the bound of the member.
fn check(member: &Member<'_>, reference: &TokenStream, value: &TokenStream) -> Option<TokenStream> {
    let bound = member.bound()?;
    let check = match member.is_optional {
        true => quote! {
            if let ::core::option::Option::Some(value) = #reference {
                d.check_bound(value.len(), #bound)?;
            }
        },
        false => quote!(d.check_bound((#value).len(), #bound)?;),
    };
    Some(member.locate(check))
}

/// What a member is that was not sent. Without its key a sample belongs to no instance.
fn missing(member: &Member<'_>, cdr: &TokenStream) -> TokenStream {
    match member.attributes.key {
        Some(_) => no_key(cdr),
        None => decode::missing_value(member, cdr),
    }
}

fn no_key(cdr: &TokenStream) -> TokenStream {
    quote!(return ::core::result::Result::Err(d.error(#cdr::DecodeErrorKind::MissingMember)))
}

/// Reads a serialized key, and then is `key`.
pub(super) fn read_key(members: &[&Member<'_>], cdr: &TokenStream, key: &TokenStream) -> TokenStream {
    let places = members.iter().map(|member| {
        let (place, ty) = (place(member), key::key_type(member, cdr));
        quote!(let mut #place: ::core::option::Option<#ty> = ::core::option::Option::None;)
    });
    let arms = members.iter().map(|member| {
        let (id, place, value) = (member.id, place(member), key::read_part(member, cdr));
        quote!(#id => #place = ::core::option::Option::Some(#value),)
    });
    let taken = take(false, arms);
    let required = members.iter().map(|member| {
        let (place, missing) = (place(member), no_key(cdr));
        quote!(let ::core::option::Option::Some(#place) = #place else { #missing };)
    });
    quote! {
        #(#places)*
        #taken
        #(#required)*
        ::core::result::Result::Ok(#key)
    }
}

/// A key member that was read.
pub(super) fn taken(member: &Member<'_>) -> TokenStream {
    let place = place(member);
    quote!(#place)
}

/// The variable that holds what was read of a member. Expressions of the user do not see it.
fn place(member: &Member<'_>) -> Ident {
    format_ident!("member_{}", member.id, span = Span::mixed_site())
}
