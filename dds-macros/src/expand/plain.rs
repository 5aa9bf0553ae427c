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
    debug_assert!(!model.members().is_empty(), "`check_plain` rejects a plain struct without members");
    let mut first = TokenStream::new();
    let mut largest = quote!(1);
    let mut are_laid_out = TokenStream::new();
    for member in model.members() {
        let (ident, ty) = (member.ident, member.ty);
        if first.is_empty() {
            first = member.locate(quote!(<#ty as #cdr::Plain>::FIRST));
        }
        largest = member.locate(quote!(#cdr::larger(#largest, <#ty as #cdr::Plain>::LARGEST)));
        // CDR aligns a member to its largest primitive, up to the limit of the encoding (XTYPES 1.3, 7.4.1.1.1). If
        // the offset in memory agrees, no padding differs.
        are_laid_out.extend(quote! {
            <#ty as #cdr::Plain>::IS_LAID_OUT
                && ::core::mem::offset_of!(Self, #ident) % <#ty as #cdr::Plain>::LARGEST == 0 &&
        });
    }
    let memory = memory(model, cdr);
    // The size must be a multiple too, so that the elements of a sequence follow each other as on the wire.
    let body = quote! {
        const FIRST: usize = #first;
        const LARGEST: usize = #largest;
        const IS_LAID_OUT: bool =
            #are_laid_out ::core::mem::size_of::<Self>() % <Self as #cdr::Plain>::LARGEST == 0;
        #memory
    };
    context.implement(&quote!(#cdr::Plain), &body)
}

/// The functions that copy a value as a whole.
///
/// Each one has the same error if a derive of `zerocopy` is missing, at the same place. The compiler shows it once.
fn memory(model: &Model<'_>, cdr: &TokenStream) -> TokenStream {
    let of_self = crate::ast::locate(quote!(<Self as #cdr::PlainMemory>), model.ident.span());
    quote! {
        #[inline]
        fn memory_of(values: &[Self]) -> &[u8] {
            #of_self::memory_of(values)
        }

        #[inline]
        fn memory_of_mut(values: &mut [Self]) -> &mut [u8] {
            #of_self::memory_of_mut(values)
        }

        #[inline]
        fn from_memory(bytes: &[u8]) -> ::core::option::Option<Self> {
            #of_self::from_memory(bytes)
        }

        #[inline]
        fn array_from_memory<const N: usize>(bytes: &[u8]) -> ::core::option::Option<[Self; N]> {
            #of_self::array_from_memory(bytes)
        }
    }
}

/// The first statement of `Encode::encode`.
pub(super) fn encode(model: &Model<'_>) -> Option<TokenStream> {
    model.attributes.plain?;
    Some(quote! {
        if e.plain(::core::slice::from_ref(self)) {
            return ::core::result::Result::Ok(());
        }
    })
}

/// Methods of `Encode` for sequences.
pub(super) fn encode_methods(model: &Model<'_>, cdr: &TokenStream) -> Option<TokenStream> {
    model.attributes.plain?;
    Some(quote! {
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
    })
}

/// The first statement of `Decode::decode`.
pub(super) fn decode(model: &Model<'_>) -> Option<TokenStream> {
    model.attributes.plain?;
    Some(quote! {
        if let ::core::option::Option::Some(value) = d.plain()? {
            return ::core::result::Result::Ok(value);
        }
    })
}

/// The first statement of `Decode::decode_into`.
pub(super) fn decode_into(model: &Model<'_>) -> Option<TokenStream> {
    model.attributes.plain?;
    Some(quote! {
        if d.plain_into(::core::slice::from_mut(self))? {
            return ::core::result::Result::Ok(());
        }
    })
}

/// Methods of `Decode` for sequences and arrays.
pub(super) fn decode_methods(model: &Model<'_>, cdr: &TokenStream) -> Option<TokenStream> {
    model.attributes.plain?;
    let error = quote!(#cdr::DecodeError);
    Some(quote! {
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
    })
}
