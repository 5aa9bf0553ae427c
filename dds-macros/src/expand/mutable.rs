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
    let (mut read_base, mut fields) = (TokenStream::new(), TokenStream::new());
    if let Some(base) = base {
        let (ident, place, value) = (base.ident, place(base), decode::value(model, base, cdr));
        read_base = quote!(let #place = #value;);
        fields = quote!(#ident: #place,);
    }
    let (mut places, mut arms) = (TokenStream::new(), TokenStream::new());
    for member in &members {
        let (ident, place, missing) = (member.ident, place(member), missing(member, cdr));
        places.extend(match member.attributes.with {
            // Its type on the wire is inferred, the field has another one.
            Some(_) => quote!(let mut #place = ::core::option::Option::None;),
            None => {
                let ty = with_lifetime(member.ty, "de");
                quote!(let mut #place: ::core::option::Option<#ty> = ::core::option::Option::None;)
            }
        });
        arms.extend(make_arm(member, cdr));
        // A writer of another version of the type may leave the member out.
        fields.extend(quote! {
            #ident: match #place {
                ::core::option::Option::Some(value) => value,
                ::core::option::Option::None => #missing,
            },
        });
    }
    let (taken, hidden) = (take(base, cdr, &arms), model.hidden_fields());
    quote! {
        #read_base
        #places
        #taken
        ::core::result::Result::Ok(Self { #fields #hidden })
    }
}

/// Decodes one member into its place.
fn make_arm(member: &MemberModel<'_>, cdr: &TokenStream) -> TokenStream {
    let (id, place) = (member.id_pattern(cdr), place(member));
    let value = member.locate(present(member, cdr));
    let check = match member.attributes.with {
        None => decode::check(member, cdr, &quote!((*value))),
        // `present` checks the bound before it converts.
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
}

/// The body of `decode_into`, which replaces a value.
fn fill(model: &Model<'_>, members: &[&MemberModel<'_>], cdr: &TokenStream) -> TokenStream {
    let (base, members) = apart(members);
    let mut read_base = TokenStream::new();
    if let Some(base) = base {
        read_base = decode::statement(model, base, cdr);
    }
    let (mut places, mut arms, mut rest) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
    for member in &members {
        let (ident, place, missing) = (member.ident, place(member), missing(member, cdr));
        places.extend(quote!(let mut #place = false;));
        arms.extend(fill_arm(model, member, cdr));
        let settle = match member.attributes.key {
            // The code for a missing key returns an error, so there is no value to assign.
            Some(_) => quote!(#missing;),
            None => quote!(self.#ident = #missing;),
        };
        // The value of the previous sample must not stay in a member that this sample leaves out.
        rest.extend(quote! {
            if !#place {
                #settle
            }
        });
    }
    let taken = take(base, cdr, &arms);
    quote! {
        #read_base
        #places
        #taken
        #rest
        ::core::result::Result::Ok(())
    }
}

/// Decodes one member in place.
fn fill_arm(model: &Model<'_>, member: &MemberModel<'_>, cdr: &TokenStream) -> TokenStream {
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
    let (read, check) = (member.locate(read), member.locate(check.unwrap_or_default()));
    let read = decode::or_default(model, member, cdr, &field, &quote!(#read #check));
    quote!(#id => { #place = true; #read })
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
    let (mut base, mut own) = (None, Vec::new());
    for &member in members {
        if member.is_base() {
            debug_assert!(base.is_none(), "`check_base` accepts a base only as the first field");
            base = Some(member);
        } else {
            own.push(member);
        }
    }
    (base, own)
}

/// The statement that visits each received member.
fn take(base: Option<&MemberModel<'_>>, cdr: &TokenStream, arms: &TokenStream) -> TokenStream {
    // The base has already decoded its own members.
    let is_known = match base {
        Some(_) => quote!(<Self as #cdr::TypeInfo>::DESCRIPTION.has_member(id)),
        None => quote!(false),
    };
    // Without arms, `match` would leave unreachable code and a warning in the crate of the user.
    if arms.is_empty() {
        return quote!(d.members(|_, id| { let _ = id; ::core::result::Result::Ok(#is_known) })?;);
    }
    quote! {
        d.members(|d, id| {
            match id {
                #arms
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
    let mut read_base = TokenStream::new();
    if let Some(base) = base {
        let (place, value) = (place(base), key::read_part(model, base, cdr));
        read_base = quote!(let #place = #value;);
    }
    let (mut places, mut arms, mut required) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
    let missing = no_key(cdr);
    for member in &members {
        let (id, place, ty) = (member.id_pattern(cdr), place(member), key::key_type(member, cdr));
        let value = key::read_part(model, member, cdr);
        places.extend(quote!(let mut #place: ::core::option::Option<#ty> = ::core::option::Option::None;));
        arms.extend(quote!(#id => #place = ::core::option::Option::Some(#value),));
        // A key without one of its members identifies no instance.
        required.extend(quote!(let ::core::option::Option::Some(#place) = #place else { #missing };));
    }
    let taken = take(base, cdr, &arms);
    quote! {
        #read_base
        #places
        #taken
        #required
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
