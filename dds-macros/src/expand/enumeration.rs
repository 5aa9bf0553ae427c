//! Enums without data: a number of 4 bytes.

use super::{Target, key, type_info};
use crate::ast::{Literal, Model};
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(model: &Model<'_>, literals: &[Literal<'_>], target: &Target) -> TokenStream {
    [
        description(model, literals, target),
        encode(literals, target),
        decode(literals, target),
        whole_key(literals, target),
        key::member_as_whole(target),
        super::marker::owned(target),
    ]
    .into_iter()
    .collect()
}

fn description(model: &Model<'_>, literals: &[Literal<'_>], target: &Target) -> TokenStream {
    let (cdr, ident) = (&target.cdr, model.ident);
    let entries = literals.iter().map(|literal| {
        let (name, literal) = (&literal.name, literal.ident);
        quote!(#cdr::EnumLiteral::new(#name, #ident::#literal as i128))
    });
    let type_name = type_info::name(model, cdr);
    let extensibility = target.extensibility(model);
    let body = quote! {
        const TYPE_NAME: &'static str = #type_name;
        const HAS_KEY: bool = false;
        const DESCRIPTION: &'static #cdr::TypeDescription = {
            const LITERALS: &[#cdr::EnumLiteral] = &[#(#entries),*];
            &#cdr::TypeDescription::of_enum(Self::TYPE_NAME, #extensibility, LITERALS)
        };
    };
    target.implement(&quote!(#cdr::TypeInfo), &body)
}

fn encode(literals: &[Literal<'_>], target: &Target) -> TokenStream {
    let cdr = &target.cdr;
    let idents = literals.iter().map(|literal| literal.ident);
    let body = quote! {
        const LENGTH_CODE: #cdr::LengthCode = #cdr::LengthCode::Bytes4;

        fn encode(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            let number = match self {
                #(Self::#idents => Self::#idents as i32,)*
            };
            #cdr::Encode::encode(&number, e)
        }

        fn encode_key(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #cdr::Encode::encode(self, e)
        }
    };
    target.implement(&quote!(#cdr::Encode), &body)
}

fn decode(literals: &[Literal<'_>], target: &Target) -> TokenStream {
    let (cdr, ty) = (&target.cdr, &target.ty);
    let idents = literals.iter().map(|literal| literal.ident);
    let first = literals.first().map(|literal| literal.ident);
    quote! {
        #[automatically_derived]
        impl<'de> #cdr::Decode<'de> for #ty {
            fn decode(d: &mut #cdr::Decoder<'de>) -> ::core::result::Result<Self, #cdr::DecodeError> {
                match <i32 as #cdr::Decode>::decode(d)? {
                    #(number if number == Self::#idents as i32 => ::core::result::Result::Ok(Self::#idents),)*
                    number => ::core::result::Result::Err(#cdr::DecodeError::unknown_literal(d, number)),
                }
            }

            fn missing(_: &#cdr::Decoder<'de>) -> ::core::result::Result<Self, #cdr::DecodeError> {
                ::core::result::Result::Ok(Self::#first)
            }
        }
    }
}

fn whole_key(literals: &[Literal<'_>], target: &Target) -> TokenStream {
    let cdr = &target.cdr;
    let idents = literals.iter().map(|literal| literal.ident);
    let body = quote! {
        fn copy_key(&self) -> Self {
            match self {
                #(Self::#idents => Self::#idents,)*
            }
        }
    };
    target.implement(&quote!(#cdr::WholeKey<'_>), &body)
}
