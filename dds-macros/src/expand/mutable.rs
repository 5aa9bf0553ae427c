//! Mutable structs: members have headers with ids and arrive in any order.

use super::{ImplContext, decode, key};
use crate::ast::{MemberModel, Model, with_lifetime};
use crate::attr::TryConstructAttribute;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

/// The statement that writes a header and its member.
pub(super) fn write_member(member: &MemberModel<'_>, cdr: &TokenStream, value: &TokenStream) -> TokenStream {
    let id = member.id(cdr);
    let code = member.constant(&quote!(Encode), &quote!(LENGTH_CODE), cdr);
    let must_understand = member.attributes.must_understand.is_some();
    quote!(e.member(#id, #must_understand, #code, |e| #value)?;)
}

/// `Decode`: the received members in any order, then the defaults of absent members.
pub(super) fn decode(model: &Model<'_>, context: &ImplContext) -> TokenStream {
    let members: Vec<_> = model.members().iter().collect();
    let cdr = &context.cdr;
    let made = make(model, &members, cdr);
    let filled = fill(model, &members, cdr);
    decode::methods(model, context, &made, &filled)
}

/// The body of `decode`, which creates a value.
fn make(model: &Model<'_>, members: &[&MemberModel<'_>], cdr: &TokenStream) -> TokenStream {
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
        let place = place(member);
        if member.attributes.with.is_some() {
            return quote!(let mut #place = ::core::option::Option::None;);
        }
        let ty = with_lifetime(member.ty, "de");
        quote!(let mut #place: ::core::option::Option<#ty> = ::core::option::Option::None;)
    });
    let arms = members.iter().map(|member| {
        let (id, place) = (member.id_pattern(cdr), place(member));
        let value = member.locate(present(member, cdr));
        let check = match member.attributes.with {
            None => decode::check(member, cdr, &quote!((*value))),
            Some(_) => None,
        };
        let read = match check {
            Some(check) => {
                let check = member.locate(check);
                quote!(let value = #place.insert(#value); #check)
            }
            None => quote!(let _ = #place.insert(#value);),
        };
        if member.try_construct() != TryConstructAttribute::UseDefault {
            return quote!(#id => { #read });
        }
        let described = member.constant(&quote!(TypeInfo), &quote!(DESCRIPTION), cdr);
        let missing = missing(member, cdr);
        // After a failure the decoder skips the rest of the member: its header has the length.
        quote! {
            #id => {
                let tried = d.try_construct(#described, false, |d| {
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
fn fill(model: &Model<'_>, members: &[&MemberModel<'_>], cdr: &TokenStream) -> TokenStream {
    let (base, members) = apart(members);
    let read_base = base.map(|base| decode::statement(model, base, cdr));
    let places = members.iter().map(|member| {
        let place = place(member);
        quote!(let mut #place = false;)
    });
    let arms = members.iter().map(|member| {
        let (id, ident, place) = (member.id_pattern(cdr), member.ident, place(member));
        let field = quote!(self.#ident);
        let (read, check) = if member.attributes.with.is_some() {
            let value = present(member, cdr);
            (quote!(#field = #value;), None)
        } else {
            let method = if member.is_optional { quote!(present_into) } else { quote!(decode_into) };
            let read = decode::read_into(member, cdr, &method, &quote!(&mut self.#ident));
            (quote!(#read?;), decode::check(member, cdr, &field))
        };
        let (read, check) = (member.locate(read), check.map(|check| member.locate(check)));
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

/// The value of a present member, converted to the type of its field.
fn present(member: &MemberModel<'_>, cdr: &TokenStream) -> TokenStream {
    let value = match (member.is_optional, member.as_owned(cdr)) {
        // The header shows that the value is present: no flag precedes it.
        (true, None) => quote!(::core::option::Option::Some(#cdr::Decode::decode(d)?)),
        (true, Some(owned)) => quote!(::core::option::Option::Some(#owned::read_value(d)?)),
        (false, _) => {
            let read = decode::read(member, cdr, &quote!(decode));
            quote!(#read?)
        }
    };
    if member.attributes.with.is_none() {
        return value;
    }
    let value = match decode::check(member, cdr, &quote!(value)) {
        Some(check) => {
            let ty = member.ty;
            quote!({
                #[allow(unused_mut)]
                let mut value: #ty = #value;
                #check
                value
            })
        }
        None => value,
    };
    member.convert(value, cdr)
}

/// Separates the base from the other members.
fn apart<'a, 'b>(members: &[&'b MemberModel<'a>]) -> (Option<&'b MemberModel<'a>>, Vec<&'b MemberModel<'a>>) {
    let base = members.iter().copied().find(|member| member.is_base());
    (base, members.iter().copied().filter(|member| !member.is_base()).collect())
}

/// The statement that visits each received member.
fn take(
    is_empty: bool,
    base: Option<&MemberModel<'_>>,
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
fn missing(member: &MemberModel<'_>, cdr: &TokenStream) -> TokenStream {
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
    members: &[&MemberModel<'_>],
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
pub(super) fn taken(member: &MemberModel<'_>) -> TokenStream {
    let place = place(member);
    quote!(#place)
}

/// The variable for the decoded value of a member. It is invisible to expressions from attributes.
fn place(member: &MemberModel<'_>) -> Ident {
    format_ident!("member_{}", member.ident.unraw(), span = Span::mixed_site())
}
