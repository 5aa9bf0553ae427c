//! Enums without data: an integer of 1, 2 or 4 bytes, depending on the bit bound.

use super::{ImplContext, key, type_info};
use crate::ast::{LiteralModel, Model};
use proc_macro2::TokenStream;
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
    let entries = literals.iter().map(|literal| {
        let (name, literal) = (&literal.name, literal.ident);
        quote!(#cdr::EnumLiteralDescription::new(#name, #ident::#literal as i128))
    });
    let type_name = type_info::name(model, cdr);
    let extensibility = context.extensibility(model);
    let bit_bound = bit_bound(model);
    let default = literals.iter().position(|literal| literal.default.is_some());
    let default = default.map(|index| quote!(.default_literal(#index)));
    let body = quote! {
        const TYPE_NAME: &'static str = #type_name;
        const HAS_KEY: bool = false;
        const DESCRIPTION: &'static #cdr::TypeDescription = {
            const LITERALS: &[#cdr::EnumLiteralDescription] = &[#(#entries),*];
            &#cdr::TypeDescription::of_enum(Self::TYPE_NAME, #extensibility, #bit_bound, LITERALS) #default
        };
    };
    context.implement(&quote!(#cdr::TypeInfo), &body)
}

fn map_key(context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    quote!(#cdr::MapKey)
}

fn bit_bound(model: &Model<'_>) -> u8 {
    let bits = model.attributes.bit_bound.map_or(32, |(bits, _)| bits);
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
    let idents = literals.iter().map(|literal| literal.ident);
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
    let idents = literals.iter().map(|literal| literal.ident);
    let default = literals.iter().find(|literal| literal.default.is_some()).or(literals.first());
    let default = default.map(|literal| literal.ident);
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
    let idents = literals.iter().map(|literal| literal.ident);
    let body = quote! {
        fn copy_key(&self) -> Self {
            match self {
                #(Self::#idents => Self::#idents,)*
            }
        }
    };
    context.implement(&quote!(#cdr::WholeKey<'_>), &body)
}
