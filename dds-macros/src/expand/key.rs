//! `Keyed` and `KeyMember`: the key as an owned value.

use super::encode::{in_base, in_key_order};
use super::{ImplContext, framed, mutable};
use crate::ast::{MemberModel, Model, has_lifetime};
use crate::attr::{ExtensibilityAttribute, TryConstructAttribute};
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(model: &Model<'_>, context: &ImplContext) -> TokenStream {
    if model.has_key() {
        let keyed = key_code(model, context).implement_keyed(model, context);
        let bounds = bounds(&model.key_members(), context);
        let member = member_of_keyed(bounds, context);
        return quote!(#keyed #member);
    }
    // The derive does not know the owned form of a type that borrows. A member whose value may differ from the
    // writer's cannot identify an instance.
    // Nor can one whose conversion may fail, because the copy needs it.
    for member in model.members() {
        if member.try_construct() != TryConstructAttribute::Discard || member.attributes.with.is_some() {
            return TokenStream::new();
        }
    }
    if model.attributes.member_keys.is_some() {
        // The members may have keys of their own.
        return key_code(model, context).implement_member(context);
    }
    if model.lifetimes == 0 { member_of_whole(model, context) } else { TokenStream::new() }
}

/// The type of a key as an owned value, and the bodies of the methods for it.
pub(super) struct KeyCode {
    pub(super) ty: TokenStream,
    pub(super) copy: TokenStream,
    pub(super) write: TokenStream,
    pub(super) read: TokenStream,
    /// The traits of its members.
    pub(super) bounds: TokenStream,
}

impl KeyCode {
    pub(super) fn implement_keyed(&self, model: &Model<'_>, context: &ImplContext) -> TokenStream {
        let (cdr, Self { ty, copy, write, read, bounds }) = (&context.cdr, self);
        let extensibility = context.extensibility(model);
        let body = quote! {
            type Key = #ty;
            const EXTENSIBILITY: ::core::option::Option<#cdr::Extensibility> =
                ::core::option::Option::Some(#extensibility);

            fn key(&self) -> Self::Key {
                #copy
            }

            fn encode_key_value(
                key: &Self::Key,
                e: &mut #cdr::Encoder<'_>,
            ) -> ::core::result::Result<(), #cdr::EncodeError> {
                #write
            }

            fn decode_key_value(d: &mut #cdr::Decoder<'_>) -> ::core::result::Result<Self::Key, #cdr::DecodeError> {
                #read
            }
        };
        context.implement_where(&quote!(#cdr::Keyed), bounds, &body)
    }

    pub(super) fn implement_member(&self, context: &ImplContext) -> TokenStream {
        let (cdr, Self { ty, copy, write, read, bounds }) = (&context.cdr, self);
        let body = quote! {
            type Key = #ty;

            fn to_key(&self) -> Self::Key {
                #copy
            }

            fn encode_key_member(
                key: &Self::Key,
                e: &mut #cdr::Encoder<'_>,
            ) -> ::core::result::Result<(), #cdr::EncodeError> {
                #write
            }

            fn decode_key_member(d: &mut #cdr::Decoder<'_>) -> ::core::result::Result<Self::Key, #cdr::DecodeError> {
                #read
            }
        };
        context.implement_where(&quote!(#cdr::KeyMember), bounds, &body)
    }
}

fn key_code(model: &Model<'_>, context: &ImplContext) -> KeyCode {
    let cdr = &context.cdr;
    let members = model.key_members();
    let bounds = bounds(&members, context);
    let (mut types, mut parts) = (Vec::new(), Vec::new());
    for member in &members {
        let value = member.value();
        types.push(key_type(member, cdr));
        parts.push(member.locate(quote!(#cdr::KeyMember::to_key(&#value))));
    }
    let (ty, copy) = (list(&types), list(&parts));
    let write = in_key_order(&members, |ordered| {
        let mut write = TokenStream::new();
        for member in ordered {
            // The tuple has the order of definition, also where the encoding has another one.
            write.extend(write_part(model, member, &key_place(&members, member), cdr));
        }
        write
    });
    let write = framed(model, &quote!(e), &quote!(#write ::core::result::Result::Ok(())));
    let read = match members.as_slice() {
        members if model.extensibility() == ExtensibilityAttribute::Mutable => {
            let values: Vec<TokenStream> = members.iter().copied().map(mutable::taken).collect();
            mutable::read_key(model, members, cdr, &list(&values))
        }
        // The result of the only member is the result of the key.
        [member] if member.bound().is_none() => {
            let ty = member.ty;
            let read = quote!(<#ty as #cdr::KeyMember>::decode_key_member(d));
            let is_framed = model.extensibility() != ExtensibilityAttribute::Final;
            member.locate(if member.is_base() && is_framed { quote!(d.base(|d| #read)) } else { read })
        }
        _ => {
            let mut read = Vec::new();
            for member in members {
                read.push(read_part(model, member, cdr));
            }
            let read = list(&read);
            quote!(::core::result::Result::Ok(#read))
        }
    };
    let read = match model.extensibility() {
        // `read_key` walks over the parameters up to the end of the list, so it needs no frame.
        ExtensibilityAttribute::Mutable => read,
        // A key-only payload has the extensibility of the data, so peers send it with a DHEADER as well.
        _ => framed(model, &quote!(d), &read),
    };
    KeyCode { ty, copy, write, read, bounds }
}

/// The bounds of an impl that uses the keys of these members.
///
/// The compiler checks them once, at the impl, and assumes them inside. Otherwise it would report the same mistake for
/// each use of the trait. A bound with a parameter of the type would not be checked here.
pub(super) fn bounds(members: &[&MemberModel<'_>], context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let mut bounds = TokenStream::new();
    for member in members {
        let ty = member.ty;
        if !has_lifetime(ty) {
            bounds.extend(member.locate(quote!(#ty: #cdr::KeyMember,)));
        }
    }
    bounds
}

/// Where `member` stands in the key: a single key member is the key itself, several are a tuple.
fn key_place(members: &[&MemberModel<'_>], member: &MemberModel<'_>) -> TokenStream {
    if members.len() == 1 {
        return quote!(key);
    }
    let index = members.iter().position(|other| other.ident == member.ident);
    debug_assert!(index.is_some(), "`{}` is not one of the key members", member.ident);
    let index = syn::Index::from(index.unwrap_or_default());
    quote!(&key.#index)
}

/// A single part as it is, several parts as a tuple.
fn list(parts: &[TokenStream]) -> TokenStream {
    if parts.len() == 1 { quote!(#(#parts)*) } else { quote!((#(#parts),*)) }
}

pub(super) fn key_type(member: &MemberModel<'_>, cdr: &TokenStream) -> TokenStream {
    let ty = member.ty;
    member.locate(quote!(<#ty as #cdr::KeyMember>::Key))
}

fn write_part(model: &Model<'_>, member: &MemberModel<'_>, place: &TokenStream, cdr: &TokenStream) -> TokenStream {
    let ty = member.ty;
    let mut check = TokenStream::new();
    if let Some(bound) = member.bound() {
        check = quote!(e.check_bound((#place).len(), #bound)?;);
    }
    let write = quote!(<#ty as #cdr::KeyMember>::encode_key_member(#place, e));
    if member.is_base() {
        return member.locate(in_base(model, &quote!(e), &write, true));
    }
    let write = match model.extensibility() {
        ExtensibilityAttribute::Mutable => mutable::write_member(member, cdr, &write),
        _ => quote!(#write?;),
    };
    member.locate(quote!(#check #write))
}

pub(super) fn read_part(model: &Model<'_>, member: &MemberModel<'_>, cdr: &TokenStream) -> TokenStream {
    let ty = member.ty;
    if member.is_base() {
        let read = quote!(<#ty as #cdr::KeyMember>::decode_key_member(d));
        return member.locate(in_base(model, &quote!(d), &read, false));
    }
    let read = member.locate(quote!(<#ty as #cdr::KeyMember>::decode_key_member(d)?));
    match member.bound() {
        None => read,
        Some(bound) => quote! {{
            let value = #read;
            d.check_bound(value.len(), #bound)?;
            value
        }},
    }
}

/// `KeyMember` of a type with a key: inside another key, only this one counts.
pub(super) fn member_of_keyed(bounds: TokenStream, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let code = KeyCode {
        ty: quote!(<Self as #cdr::Keyed>::Key),
        copy: quote!(#cdr::Keyed::key(self)),
        write: quote!(<Self as #cdr::Keyed>::encode_key_value(key, e)),
        read: quote!(<Self as #cdr::Keyed>::decode_key_value(d)),
        bounds,
    };
    code.implement_member(context)
}

/// `KeyMember` of a struct without key members: inside another key, all members count.
fn member_of_whole(model: &Model<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let (mut bounds, mut fields) = (TokenStream::new(), TokenStream::new());
    for member in model.members() {
        let (ident, ty) = (member.ident, member.ty);
        // A lifetime parameter makes the bound non-trivial. Then rustc accepts it although it does not hold.
        bounds.extend(quote!(#ty: #cdr::WholeKey<'k>,));
        fields.extend(quote!(#ident: #cdr::WholeKey::copy_key(&self.#ident),));
    }
    let hidden = model.hidden_fields();
    whole(context, &bounds, &quote!(Self { #fields #hidden }))
}

/// `WholeKey` with bounds and the body of its method, and `KeyMember`.
pub(super) fn whole(context: &ImplContext, bounds: &TokenStream, copy: &TokenStream) -> TokenStream {
    let (cdr, ty) = (&context.cdr, &context.ty);
    let member = member_as_whole(context);
    quote! {
        #[automatically_derived]
        impl<'k> #cdr::WholeKey<'k> for #ty
        where
            #bounds
        {
            fn copy_key(&self) -> Self {
                #copy
            }
        }
        #member
    }
}

/// `KeyMember` of a type that counts as a whole.
pub(super) fn member_as_whole(context: &ImplContext) -> TokenStream {
    let (cdr, ty) = (&context.cdr, &context.ty);
    quote! {
        #[automatically_derived]
        impl<'k> #cdr::KeyMember for #ty
        where
            Self: #cdr::WholeKey<'k>,
        {
            type Key = Self;

            fn to_key(&self) -> Self {
                #cdr::WholeKey::copy_key(self)
            }

            fn encode_key_member(
                key: &Self,
                e: &mut #cdr::Encoder<'_>,
            ) -> ::core::result::Result<(), #cdr::EncodeError> {
                #cdr::Encode::encode_key(key, e)
            }

            fn decode_key_member(d: &mut #cdr::Decoder<'_>) -> ::core::result::Result<Self, #cdr::DecodeError> {
                #cdr::Decode::decode(d)
            }
        }
    }
}
