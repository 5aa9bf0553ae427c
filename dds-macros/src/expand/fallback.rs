//! Impls for a type with mistakes: they have the right signatures only.

use super::ImplContext;
use crate::ast::{Model, lifetime};
use proc_macro2::TokenStream;
use quote::quote;

/// Impls without behavior: uses of the type then report no further errors.
///
/// The program does not compile, so none of them ever runs.
pub(crate) fn fallback(model: &Model<'_>) -> TokenStream {
    // The impl would have to repeat type parameters with their bounds, for a type that is rejected anyway.
    if model.lifetimes != model.input.generics.params.len() {
        return TokenStream::new();
    }
    let context = ImplContext::of(model);
    let (cdr, de) = (&context.cdr, model.ty(&lifetime("de")));
    let rejected = quote!(::core::unreachable!("the derive rejected this type"));
    let info = quote! {
        const TYPE_NAME: &'static str = "";
        const HAS_KEY: bool = false;
        const DESCRIPTION: &'static #cdr::TypeDescription =
            &#cdr::TypeDescription::of_struct("", #cdr::Extensibility::Final, &[]);
    };
    let encode = quote! {
        fn encode(&self, _: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #rejected
        }

        fn encode_key(&self, _: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #rejected
        }
    };
    let info = context.implement(&quote!(#cdr::TypeInfo), &info);
    let encode = context.implement(&quote!(#cdr::Encode), &encode);
    let markers = super::marker::of_itself(model, &context);
    quote! {
        #info
        #encode
        #markers
        #[automatically_derived]
        impl<'de> #cdr::Decode<'de> for #de {
            fn decode(_: &mut #cdr::Decoder<'de>) -> ::core::result::Result<Self, #cdr::DecodeError> {
                #rejected
            }
        }
    }
}
