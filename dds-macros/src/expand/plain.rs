//! `Plain`: structs whose memory is their encoding. Each function returns nothing for other structs.

use super::ImplContext;
use crate::ast::Model;
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(model: &Model<'_>, context: &ImplContext) -> TokenStream {
    if model.attributes.plain.is_none() {
        return TokenStream::new();
    }
    let cdr = &context.cdr;
    let types = || model.members().iter().map(|member| (member, member.ty));
    let first = types().next().map(|(member, ty)| member.locate(quote!(<#ty as #cdr::Plain>::FIRST)));
    let largest = types().fold(quote!(1), |larger, (member, ty)| {
        member.locate(quote!(#cdr::larger(#larger, <#ty as #cdr::Plain>::LARGEST)))
    });
    let are_laid_out = types().map(|(member, ty)| {
        let ident = member.ident;
        quote! {
            <#ty as #cdr::Plain>::IS_LAID_OUT
                && ::core::mem::offset_of!(Self, #ident) % <#ty as #cdr::Plain>::LARGEST == 0
        }
    });
    let body = quote! {
        const FIRST: usize = #first;
        const LARGEST: usize = #largest;
        const IS_LAID_OUT: bool =
            #(#are_laid_out &&)* ::core::mem::size_of::<Self>() % <Self as #cdr::Plain>::LARGEST == 0;
    };
    context.implement(&quote!(#cdr::Plain), &body)
}

/// The first statement of `Encode::encode`.
pub(super) fn encode(model: &Model<'_>) -> Option<TokenStream> {
    model.attributes.plain.map(|_| {
        quote! {
            if e.plain(::core::slice::from_ref(self)) {
                return ::core::result::Result::Ok(());
            }
        }
    })
}

/// Methods of `Encode` for sequences.
pub(super) fn encode_methods(model: &Model<'_>, cdr: &TokenStream) -> Option<TokenStream> {
    model.attributes.plain.map(|_| {
        quote! {
            fn encode_elements(
                elements: &[Self],
                e: &mut #cdr::Encoder<'_>,
            ) -> ::core::result::Result<(), #cdr::EncodeError> {
                if e.plain(elements) {
                    return ::core::result::Result::Ok(());
                }
                for element in elements {
                    #cdr::Encode::encode(element, e)?;
                }
                ::core::result::Result::Ok(())
            }
        }
    })
}

/// The first statement of `Decode::decode`.
pub(super) fn decode(model: &Model<'_>) -> Option<TokenStream> {
    model.attributes.plain.map(|_| {
        quote! {
            if let ::core::option::Option::Some(value) = d.plain()? {
                return ::core::result::Result::Ok(value);
            }
        }
    })
}

/// The first statement of `Decode::decode_into`.
pub(super) fn decode_into(model: &Model<'_>) -> Option<TokenStream> {
    model.attributes.plain.map(|_| {
        quote! {
            if d.plain_into(::core::slice::from_mut(self))? {
                return ::core::result::Result::Ok(());
            }
        }
    })
}

/// Methods of `Decode` for sequences and arrays.
pub(super) fn decode_methods(model: &Model<'_>, cdr: &TokenStream) -> Option<TokenStream> {
    model.attributes.plain.map(|_| {
        let error = quote!(#cdr::DecodeError);
        quote! {
            const SIZE_MIN: usize = ::core::mem::size_of::<Self>();

            fn decode_elements(
                elements: &mut ::std::vec::Vec<Self>,
                count: usize,
                d: &mut #cdr::Decoder<'de>,
            ) -> ::core::result::Result<(), #error> {
                d.plain_elements(elements, count)
            }

            fn decode_array<const N: usize>(
                d: &mut #cdr::Decoder<'de>,
            ) -> ::core::result::Result<[Self; N], #error> {
                d.plain_array()
            }

            fn decode_dimensions_into(
                elements: &mut [Self],
                d: &mut #cdr::Decoder<'de>,
            ) -> ::core::result::Result<(), #error> {
                if d.plain_into(elements)? {
                    return ::core::result::Result::Ok(());
                }
                for element in elements {
                    #cdr::Decode::decode_into(element, d)?;
                }
                ::core::result::Result::Ok(())
            }
        }
    })
}
