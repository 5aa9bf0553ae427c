//! Keys of unions: the discriminator alone, the whole union, or the keys of its members.

use super::key::KeyCode;
use super::union::{check_kept, read, write_discriminator, write_member, written_label};
use super::{ImplContext, framed, key, when};
use crate::ast::{MemberModel, Model};
use crate::attr::{ExtensibilityAttribute, TryConstructAttribute};
use crate::union::{CaseModel, UnionModel, kept, value};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

pub(super) fn expand(model: &Model<'_>, union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    if model.has_key() {
        let keyed = discriminator_code(model, union, context).implement_keyed(model, context);
        let member = key::member_of_keyed(TokenStream::new(), context);
        return quote!(#keyed #member);
    }
    // The derive does not know the owned form of a type that borrows. A member whose value may differ from the
    // writer's cannot identify an instance.
    for member in union.members() {
        if member.try_construct() != TryConstructAttribute::Discard {
            return TokenStream::new();
        }
    }
    // The same applies to the discriminator.
    if model.defaults_discriminator() {
        return TokenStream::new();
    }
    if model.attributes.member_keys.is_some() {
        return with_member_keys(model, union, context);
    }
    if model.lifetimes == 0 { whole(union, context) } else { TokenStream::new() }
}

/// The key of a union is its discriminator.
fn discriminator_code(model: &Model<'_>, union: &UnionModel<'_>, context: &ImplContext) -> KeyCode {
    let (cdr, ty) = (&context.cdr, &union.discriminator);
    let write = write_discriminator(model, union, cdr, &quote!(*key));
    let write = framed(model, &quote!(e), &quote!(#write ::core::result::Result::Ok(())));
    let read = match model.extensibility() {
        ExtensibilityAttribute::Mutable => quote! {
            let key = d.discriminator()?;
            d.no_selected_member()?;
            ::core::result::Result::Ok(key)
        },
        _ => framed(model, &quote!(d), &quote!(#cdr::Decode::decode(d))),
    };
    let bounds = TokenStream::new();
    KeyCode { ty: quote!(#ty), copy: quote!(#cdr::Union::discriminator(self)), write, read, bounds }
}

/// `KeyMember` of a union without a key: inside another key, the whole union counts.
fn whole(union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let (mut bounds, mut arms) = (TokenStream::new(), TokenStream::new());
    for case in &union.cases {
        let (pattern, value, kept) = (case.pattern(), value(), kept());
        let mut copies = TokenStream::new();
        if let Some(MemberModel { ty, .. }) = case.member() {
            bounds.extend(quote!(#ty: #cdr::WholeKey<'k>,));
            copies.extend(quote!(let #value = #cdr::WholeKey::copy_key(#value);));
        }
        copies.extend(when(case.kept.is_some(), quote!(let #kept = #cdr::WholeKey::copy_key(#kept);)));
        // Each place is shadowed by its copy, so the same pattern takes the value apart and builds the new one.
        arms.extend(quote!(#pattern => { #copies #pattern }));
    }
    key::whole(context, &bounds, &quote!(match self { #arms }))
}

/// `KeyMember` of a union without a key, whose members may have keys of their own.
///
/// The key is an enum with a parameter for the key of each member, so it has the traits that these have.
fn with_member_keys(model: &Model<'_>, union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    // The enum hides other types of its name, and the members may have any type.
    let name = format_ident!("__DdsKeyOf{}", model.ident.unraw());
    let key = UnionKey::of(union, &name, cdr);
    let UnionKey { parameters, arguments, variants, copies, .. } = &key;
    let code = KeyCode {
        ty: quote!(#name<#(#arguments),*>),
        copy: quote!(match self { #copies }),
        write: key.write(model, union, cdr),
        read: key.read(model, union, cdr),
        bounds: key::bounds(&union.members().collect::<Vec<_>>(), context),
    };
    let member = code.implement_member(context);
    quote! {
        const _: () = {
            #[doc(hidden)]
            #[allow(unreachable_pub, reason = "the enum is public, because a public type may have it as its key")]
            #[derive(
                ::core::fmt::Debug,
                ::core::clone::Clone,
                ::core::marker::Copy,
                ::core::cmp::PartialEq,
                ::core::cmp::Eq,
                ::core::cmp::PartialOrd,
                ::core::cmp::Ord,
                ::core::hash::Hash,
            )]
            pub enum #name<#(#parameters),*> { #variants }

            #member
        };
    }
}

/// The parts of the enum that is the key of a union.
struct UnionKey<'a> {
    name: &'a Ident,
    parameters: Vec<Ident>,
    /// The types for the parameters.
    arguments: Vec<TokenStream>,
    variants: TokenStream,
    /// The arms that create a key from a value.
    copies: TokenStream,
}

impl<'a> UnionKey<'a> {
    fn of(union: &UnionModel<'_>, name: &'a Ident, cdr: &TokenStream) -> Self {
        let (mut parameters, mut arguments) = (Vec::new(), Vec::new());
        let (mut variants, mut copies) = (TokenStream::new(), TokenStream::new());
        if union.cases.iter().any(|case| case.kept.is_some()) {
            let ty = &union.discriminator;
            parameters.push(format_ident!("D"));
            arguments.push(quote!(#ty));
        }
        for (index, case) in union.cases.iter().enumerate() {
            let (ident, pattern, value, kept) = (case.ident, case.pattern(), value(), kept());
            let (mut fields, mut copied) = (TokenStream::new(), TokenStream::new());
            if case.kept.is_some() {
                fields.extend(quote!(discriminator: D,));
                copied.extend(quote!(discriminator: #cdr::WholeKey::copy_key(#kept),));
            }
            if let Some(member) = case.member() {
                let parameter = format_ident!("K{index}");
                fields.extend(quote!(value: #parameter,));
                copied.extend(quote!(value: #cdr::KeyMember::to_key(#value),));
                arguments.push(key::key_type(member, cdr));
                parameters.push(parameter);
            }
            variants.extend(quote!(#ident { #fields },));
            copies.extend(quote!(#pattern => #name::#ident { #copied },));
        }
        Self { name, parameters, arguments, variants, copies }
    }

    /// The body that writes the discriminator and the key of the member.
    fn write(&self, model: &Model<'_>, union: &UnionModel<'_>, cdr: &TokenStream) -> TokenStream {
        let (name, ty) = (self.name, &union.discriminator);
        let (mut checks, mut labels, mut arms) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
        for case in &union.cases {
            let (ident, value, kept) = (case.ident, value(), kept());
            checks.extend(check_kept(union, case, (&quote!(key), &quote!(#name)), cdr));
            labels.extend(match case.kept {
                Some(_) => quote!(#name::#ident { discriminator: #kept, .. } => #cdr::WholeKey::copy_key(#kept),),
                None => {
                    let label = written_label(union, case, cdr);
                    quote!(#name::#ident { .. } => #label,)
                }
            });
            arms.extend(match case.member() {
                Some(member) => {
                    let ty = member.ty;
                    let write = quote!(<#ty as #cdr::KeyMember>::encode_key_member(#value, e));
                    let write = write_member(model, member, cdr, &write);
                    quote!(#name::#ident { value: #value, .. } => { #write })
                }
                None => quote!(#name::#ident { .. } => {}),
            });
        }
        let discriminator = write_discriminator(model, union, cdr, &quote!(discriminator));
        let body = quote! {
            let discriminator: #ty = match key { #labels };
            #checks
            #discriminator
            match key { #arms }
            ::core::result::Result::Ok(())
        };
        framed(model, &quote!(e), &body)
    }

    /// The body that reads a key.
    fn read(&self, model: &Model<'_>, union: &UnionModel<'_>, cdr: &TokenStream) -> TokenStream {
        // `expand` gives a union no key if its discriminator has a default, so nothing is to be settled.
        read(model, union, cdr, &TokenStream::new(), |case| self.read_case(model, case, cdr))
    }

    fn read_case(&self, model: &Model<'_>, case: &CaseModel<'_>, cdr: &TokenStream) -> TokenStream {
        let (name, ident, value) = (self.name, case.ident, value());
        let is_mutable = model.extensibility() == ExtensibilityAttribute::Mutable;
        let mut fields = when(case.kept.is_some(), quote!(discriminator,));
        let read = match case.member() {
            None => when(is_mutable, quote!(d.no_selected_member()?;)),
            Some(member) => {
                fields.extend(quote!(value: #value,));
                let (id, read) = (member.id, key::read_part(model, member, cdr));
                match is_mutable {
                    false => quote!(let #value = #read;),
                    // A key without its member identifies no instance.
                    true => quote! {
                        let selected = d.selected_member(#id, |d| {
                            let value = #read;
                            ::core::result::Result::Ok(value)
                        })?;
                        let ::core::option::Option::Some(#value) = selected else {
                            return ::core::result::Result::Err(d.error(#cdr::DecodeErrorKind::MissingMember));
                        };
                    },
                }
            }
        };
        quote!(#read ::core::result::Result::Ok(#name::#ident { #fields }))
    }
}
