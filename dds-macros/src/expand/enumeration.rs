//! Enums without data: an integer of 1, 2 or 4 bytes, depending on the bit bound.

use super::{ImplContext, key, type_info};
use crate::ast::{LiteralModel, Model};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

pub(super) fn expand(model: &Model<'_>, literals: &[LiteralModel<'_>], context: &ImplContext) -> TokenStream {
    [
        description(model, literals, context),
        encode(model, literals, context),
        decode(model, literals, context),
        whole_key(literals, context),
        key::member_as_whole(context),
        super::marker::owned(context),
        context.implement(&map_key(context), &TokenStream::new()),
    ]
    .into_iter()
    .collect()
}

fn description(model: &Model<'_>, literals: &[LiteralModel<'_>], context: &ImplContext) -> TokenStream {
    let (cdr, ident) = (&context.cdr, model.ident);
    debug_assert!(!literals.is_empty(), "`check_enum` rejects an enum without literals");
    let (mut entries, mut default) = (TokenStream::new(), TokenStream::new());
    for (index, literal) in literals.iter().enumerate() {
        let (name, literal_ident) = (&literal.name, literal.ident);
        // The compiler evaluates the discriminant: it may be any constant expression.
        entries.extend(quote!(#cdr::EnumLiteralDescription::new(#name, #ident::#literal_ident as i128),));
        if literal.default.is_some() {
            default = quote!(.default_literal(#index));
        }
    }
    let type_name = type_info::name(model, cdr);
    let extensibility = context.extensibility(model);
    let bit_bound = bit_bound(model);
    let body = quote! {
        const TYPE_NAME: &'static str = #type_name;
        const HAS_KEY: bool = false;
        const DESCRIPTION: &'static #cdr::TypeDescription = {
            const LITERALS: &[#cdr::EnumLiteralDescription] = &[#entries];
            &#cdr::TypeDescription::of_enum(Self::TYPE_NAME, #extensibility, #bit_bound, LITERALS) #default
        };
    };
    context.implement(&quote!(#cdr::TypeInfo), &body)
}

fn idents<'a>(literals: &[LiteralModel<'a>]) -> Vec<&'a Ident> {
    literals.iter().map(|literal| literal.ident).collect()
}

fn map_key(context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    quote!(#cdr::MapKey)
}

fn bit_bound(model: &Model<'_>) -> u8 {
    // The default of `@bit_bound` for an enum is 32.
    let Some((bits, _)) = model.attributes.bit_bound else { return 32 };
    debug_assert!(bits <= 32, "`check_bit_bound` rejects {bits} bits");
    u8::try_from(bits).unwrap_or(u8::MAX)
}

/// The integer type of a literal on the wire, and its length code. The sign does not change the bits.
fn number_type(model: &Model<'_>) -> (TokenStream, TokenStream) {
    match bit_bound(model) {
        0..=8 => (quote!(u8), quote!(Bytes1)),
        9..=16 => (quote!(u16), quote!(Bytes2)),
        _ => (quote!(u32), quote!(Bytes4)),
    }
}

fn encode(model: &Model<'_>, literals: &[LiteralModel<'_>], context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let (number, length_code) = number_type(model);
    let idents = idents(literals);
    // A list of arms instead of a cast of `*self`: that would require `Copy`.
    let body = quote! {
        const LENGTH_CODE: #cdr::LengthCode = #cdr::LengthCode::#length_code;

        fn encode(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            let number = match self {
                #(Self::#idents => Self::#idents as #number,)*
            };
            #cdr::Encode::encode(&number, e)
        }

        fn encode_key(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #cdr::Encode::encode(self, e)
        }
    };
    context.implement(&quote!(#cdr::Encode), &body)
}

fn decode(model: &Model<'_>, literals: &[LiteralModel<'_>], context: &ImplContext) -> TokenStream {
    let (number, _) = number_type(model);
    let (cdr, ty) = (&context.cdr, &context.ty);
    let idents = idents(literals);
    // XTYPES 1.3, 7.2.2.4.4.4.7: without `@default_literal` the first literal is the default.
    let mut default = idents.first();
    for literal in literals {
        if literal.default.is_some() {
            default = Some(&literal.ident);
        }
    }
    // Guards instead of patterns, because a discriminant may be an expression, which no pattern accepts.
    quote! {
        #[automatically_derived]
        impl<'de> #cdr::Decode<'de> for #ty {
            fn decode(d: &mut #cdr::Decoder<'de>) -> ::core::result::Result<Self, #cdr::DecodeError> {
                match <#number as #cdr::Decode>::decode(d)? {
                    #(number if number == Self::#idents as #number => ::core::result::Result::Ok(Self::#idents),)*
                    number => ::core::result::Result::Err(#cdr::DecodeError::unknown_literal(
                        d,
                        ::core::mem::size_of::<#number>(),
                        number as i32,
                    )),
                }
            }

            fn missing(_: &#cdr::Decoder<'de>) -> ::core::result::Result<Self, #cdr::DecodeError> {
                ::core::result::Result::Ok(Self::#default)
            }
        }
    }
}

fn whole_key(literals: &[LiteralModel<'_>], context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let idents = idents(literals);
    let body = quote! {
        fn copy_key(&self) -> Self {
            match self {
                #(Self::#idents => Self::#idents,)*
            }
        }
    };
    context.implement(&quote!(#cdr::WholeKey<'_>), &body)
}
