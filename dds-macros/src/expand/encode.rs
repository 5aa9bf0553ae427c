//! `Encode` of structs: the members in order.

use super::{ImplContext, framed, mutable, plain, when};
use crate::ast::{MemberModel, Model};
use crate::attr::ExtensibilityAttribute;
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(model: &Model<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let members: Vec<_> = model.members().iter().collect();
    let (plain, all) = (plain::encode(model), statements(model, &members, cdr, &quote!(encode)));
    let encode = method(&quote!(encode), model, cdr, &quote!(#plain #all));
    let key = in_key_order(&model.key_members(), |members| statements(model, members, cdr, &quote!(encode_key)));
    let encode_key = method(&quote!(encode_key), model, cdr, &key);
    let of_plain = plain::encode_methods(model, cdr);
    context.implement(&quote!(#cdr::Encode), &quote!(#encode #encode_key #of_plain))
}

fn method(name: &TokenStream, model: &Model<'_>, cdr: &TokenStream, statements: &TokenStream) -> TokenStream {
    let body = framed(model, &quote!(e), &quote!(#statements ::core::result::Result::Ok(())));
    // A struct without members does not use its encoder.
    let ignore = if model.members().is_empty() { quote!(let _ = &e;) } else { TokenStream::new() };
    quote! {
        fn #name(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #ignore
            #body
        }
    }
}

fn statements(model: &Model<'_>, members: &[&MemberModel<'_>], cdr: &TokenStream, method: &TokenStream) -> TokenStream {
    let mut statements = TokenStream::new();
    for member in members {
        statements.extend(statement(model, member, cdr, method));
    }
    statements
}

fn statement(model: &Model<'_>, member: &MemberModel<'_>, cdr: &TokenStream, method: &TokenStream) -> TokenStream {
    let (value, id) = (member.value(), member.id(cdr));
    if member.is_base() {
        return member.locate(in_base(model, &quote!(e), &written(member, cdr, method), true));
    }
    // A writer must not send what its own type forbids, so the bound is checked before the length is written.
    let check = match (member.bound(), member.is_optional) {
        (None, _) => TokenStream::new(),
        (Some(bound), true) => quote! {
            if let ::core::option::Option::Some(value) = &#value {
                e.check_bound(value.len(), #bound)?;
            }
        },
        (Some(bound), false) => quote!(e.check_bound(#value.len(), #bound)?;),
    };
    let must_understand = member.attributes.must_understand.is_some();
    let encode = match (member.is_optional, model.extensibility()) {
        (true, ExtensibilityAttribute::Mutable) => {
            let value = quote!(::core::option::Option::as_ref(&#value));
            match member.as_owned(cdr) {
                Some(owned) => quote!(#owned::write_if_present(#value, #id, #must_understand, e)?;),
                None => quote!(e.member_if_present(#id, #must_understand, #value)?;),
            }
        }
        (true, _) => {
            let value = quote!(::core::option::Option::as_ref(&#value));
            match member.as_owned(cdr) {
                Some(owned) => quote!(#owned::write_optional(#value, #id, e)?;),
                None => quote!(e.optional(#id, #value)?;),
            }
        }
        (false, ExtensibilityAttribute::Mutable) => mutable::write_member(member, cdr, &written(member, cdr, method)),
        (false, _) => {
            let write = written(member, cdr, method);
            quote!(#write?;)
        }
    };
    member.locate(quote!(#check #encode))
}

/// The call that writes a member which is always present. `method` is `encode` or `encode_key`.
fn written(member: &MemberModel<'_>, cdr: &TokenStream, method: &TokenStream) -> TokenStream {
    let value = member.value();
    match member.as_owned(cdr) {
        Some(owned) if method.to_string() == "encode" => quote!(#owned::write_value(&#value, e)),
        Some(owned) => quote!(#owned::write_key(&#value, e)),
        None => quote!(#cdr::Encode::#method(&#value, e)),
    }
}

/// Code that reads or writes a base: one frame contains its members and the members behind it.
pub(super) fn in_base(model: &Model<'_>, cursor: &TokenStream, code: &TokenStream, is_statement: bool) -> TokenStream {
    let end = when(is_statement, quote!(;));
    match model.extensibility() {
        ExtensibilityAttribute::Final => quote!(#code? #end),
        _ => quote!(#cursor.base(|#cursor| #code)? #end),
    }
}

/// The statements of key members, in the order that the encoder requests.
pub(super) fn in_key_order(
    members: &[&MemberModel<'_>],
    statements: impl Fn(&[&MemberModel<'_>]) -> TokenStream,
) -> TokenStream {
    let mut by_id = members.to_vec();
    by_id.sort_by_key(|member| member.id);
    let defined = statements(members);
    let (mut has_base, mut is_sorted) = (false, true);
    for (member, sorted) in members.iter().zip(&by_id) {
        has_base |= member.is_base();
        is_sorted &= member.id == sorted.id;
    }
    // With a base, the order of definition must be the order of ids. A generated assertion checks it.
    if has_base || is_sorted {
        return defined;
    }
    // The key hash of XCDR2 orders the members by id, that of XCDR1 by definition. Only the encoder knows which it is.
    let by_id = statements(&by_id);
    quote! {
        if e.keys_by_id() {
            #by_id
        } else {
            #defined
        }
    }
}
