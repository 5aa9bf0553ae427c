//! Mutable structs: members have headers with ids and arrive in any order.

use super::{Target, decode, key};
use crate::ast::{Member, Model, with_lifetime};
use crate::attr::TryConstruct;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

/// The statement that writes a header and its member.
pub(super) fn write_member(member: &Member<'_>, cdr: &TokenStream, value: &TokenStream) -> TokenStream {
    let (ty, id) = (member.ty, member.id(cdr));
    let must_understand = member.attributes.must_understand.is_some();
    quote!(e.member(#id, #must_understand, <#ty as #cdr::Encode>::LENGTH_CODE, |e| #value)?;)
}

/// `Decode`: the received members in any order, then the defaults of absent members.
pub(super) fn decode(model: &Model<'_>, target: &Target) -> TokenStream {
    let members: Vec<_> = model.members().iter().collect();
    let cdr = &target.cdr;
    let made = make(model, &members, cdr);
    let filled = fill(model, &members, cdr);
    decode::methods(model, target, &made, &filled)
}

/// The body of `decode`, which creates a value.
fn make(model: &Model<'_>, members: &[&Member<'_>], cdr: &TokenStream) -> TokenStream {
    let (base, members) = apart(members);
    let read_base = base.map(|base| {
        let (place, value) = (place(base), decode::value(model, base, cdr));
        quote!(let #place = #value;)
    });
    let base_field = base.map(|base| {
        let (ident, place) = (base.ident, place(base));
        quote!(#ident: #place,)
    });
    let places = members.iter().map(|member| {
        let (place, ty) = (place(member), with_lifetime(member.ty, "de"));
        quote!(let mut #place: ::core::option::Option<#ty> = ::core::option::Option::None;)
    });
    let arms = members.iter().map(|member| {
        let (id, place) = (member.id_pattern(cdr), place(member));
        let mut value = quote!(#cdr::Decode::decode(d)?);
        if member.is_optional {
            value = quote!(::core::option::Option::Some(#value));
        }
        let value = member.locate(value);
        let read = match decode::check(member, cdr, &quote!((*value))) {
            Some(check) => {
                let check = member.locate(check);
                quote!(let value = #place.insert(#value); #check)
            }
            None => quote!(let _ = #place.insert(#value);),
        };
        if member.try_construct() != TryConstruct::UseDefault {
            return quote!(#id => { #read });
        }
        let (ty, missing) = (with_lifetime(member.ty, "de"), missing(member, cdr));
        // After a failure the decoder skips the rest of the member: its header has the length.
        quote! {
            #id => {
                let tried = d.try_construct(<#ty as #cdr::TypeInfo>::DESCRIPTION, false, |d| {
                    #read
                    ::core::result::Result::Ok(())
                })?;
                if tried.is_none() {
                    let _ = #place.insert(#missing);
                }
            }
        }
    });
    let taken = take(members.is_empty(), base, cdr, arms);
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
        #read_base
        #(#places)*
        #taken
        ::core::result::Result::Ok(Self { #base_field #(#fields,)* #hidden })
    }
}

/// The body of `decode_into`, which replaces a value.
fn fill(model: &Model<'_>, members: &[&Member<'_>], cdr: &TokenStream) -> TokenStream {
    let (base, members) = apart(members);
    let read_base = base.map(|base| decode::statement(model, base, cdr));
    let places = members.iter().map(|member| {
        let place = place(member);
        quote!(let mut #place = false;)
    });
    let arms = members.iter().map(|member| {
        let (id, ident, place) = (member.id_pattern(cdr), member.ident, place(member));
        let read = if member.is_optional {
            quote!(d.present_into(&mut self.#ident)?;)
        } else {
            quote!(#cdr::Decode::decode_into(&mut self.#ident, d)?;)
        };
        let read = member.locate(read);
        let field = quote!(self.#ident);
        let check = decode::check(member, cdr, &field).map(|check| member.locate(check));
        let read = decode::or_default(model, member, cdr, &field, &quote!(#read #check));
        quote!(#id => { #place = true; #read })
    });
    let taken = take(members.is_empty(), base, cdr, arms);
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
        #read_base
        #(#places)*
        #taken
        #(#rest)*
        ::core::result::Result::Ok(())
    }
}

/// Separates the base from the other members.
fn apart<'a, 'b>(members: &[&'b Member<'a>]) -> (Option<&'b Member<'a>>, Vec<&'b Member<'a>>) {
    let base = members.iter().copied().find(|member| member.is_base());
    (base, members.iter().copied().filter(|member| !member.is_base()).collect())
}

/// The statement that visits each received member.
fn take(
    is_empty: bool,
    base: Option<&Member<'_>>,
    cdr: &TokenStream,
    arms: impl Iterator<Item = TokenStream>,
) -> TokenStream {
    // The base has already decoded its own members.
    let is_known = match base {
        Some(_) => quote!(<Self as #cdr::TypeInfo>::DESCRIPTION.has_member(id)),
        None => quote!(false),
    };
    if is_empty {
        return quote!(d.members(|_, id| { let _ = id; ::core::result::Result::Ok(#is_known) })?;);
    }
    quote! {
        d.members(|d, id| {
            match id {
                #(#arms)*
                _ => return ::core::result::Result::Ok(#is_known),
            }
            ::core::result::Result::Ok(true)
        })?;
    }
}

/// The value of an absent member. An absent key member is an error: the sample has no instance.
fn missing(member: &Member<'_>, cdr: &TokenStream) -> TokenStream {
    match member.attributes.key {
        Some(_) => no_key(cdr),
        None => decode::missing_value(member, cdr),
    }
}

fn no_key(cdr: &TokenStream) -> TokenStream {
    quote!(return ::core::result::Result::Err(d.error(#cdr::DecodeErrorKind::MissingMember)))
}

/// The body that decodes a serialized key and returns `key`.
pub(super) fn read_key(
    model: &Model<'_>,
    members: &[&Member<'_>],
    cdr: &TokenStream,
    key: &TokenStream,
) -> TokenStream {
    let (base, members) = apart(members);
    let read_base = base.map(|base| {
        let (place, value) = (place(base), key::read_part(model, base, cdr));
        quote!(let #place = #value;)
    });
    let places = members.iter().map(|member| {
        let (place, ty) = (place(member), key::key_type(member, cdr));
        quote!(let mut #place: ::core::option::Option<#ty> = ::core::option::Option::None;)
    });
    let arms = members.iter().map(|member| {
        let (id, place, value) = (member.id_pattern(cdr), place(member), key::read_part(model, member, cdr));
        quote!(#id => #place = ::core::option::Option::Some(#value),)
    });
    let taken = take(members.is_empty(), base, cdr, arms);
    let required = members.iter().map(|member| {
        let (place, missing) = (place(member), no_key(cdr));
        quote!(let ::core::option::Option::Some(#place) = #place else { #missing };)
    });
    quote! {
        #read_base
        #(#places)*
        #taken
        #(#required)*
        ::core::result::Result::Ok(#key)
    }
}

/// The decoded value of a key member.
pub(super) fn taken(member: &Member<'_>) -> TokenStream {
    let place = place(member);
    quote!(#place)
}

/// The variable for the decoded value of a member. It is invisible to expressions from attributes.
fn place(member: &Member<'_>) -> Ident {
    format_ident!("member_{}", member.ident.unraw(), span = Span::mixed_site())
}
