//! What is generated for a type with mistakes: impls that only have the right shape.

use super::Target;
use crate::ast::{Model, lifetime};
use proc_macro2::TokenStream;
use quote::quote;

/// Impls without a content, so that each use of the type does not add an error to those that were reported. The program
/// does not compile, so none of them ever runs.
pub(crate) fn fallback(model: &Model<'_>) -> TokenStream {
    if model.lifetimes != model.input.generics.params.len() {
        return TokenStream::new();
    }
    let target = Target::of(model);
    let (cdr, de) = (&target.cdr, model.ty(&lifetime("de")));
    let refused = quote!(::core::unreachable!("the derive refused this type"));
    let info = quote! {
        const TYPE_NAME: &'static str = "";
        const HAS_KEY: bool = false;
        const DESCRIPTION: &'static #cdr::TypeDescription =
            &#cdr::TypeDescription::of_struct("", #cdr::Extensibility::Final, &[]);
    };
    let encode = quote! {
        fn encode(&self, _: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #refused
        }

        fn encode_key(&self, _: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #refused
        }
    };
    let info = target.implement(&quote!(#cdr::TypeInfo), &info);
    let encode = target.implement(&quote!(#cdr::Encode), &encode);
    let markers = super::marker::of_itself(model, &target);
    quote! {
        #info
        #encode
        #markers
        #[automatically_derived]
        impl<'de> #cdr::Decode<'de> for #de {
            fn decode(_: &mut #cdr::Decoder<'de>) -> ::core::result::Result<Self, #cdr::DecodeError> {
                #refused
            }
        }
    }
}
