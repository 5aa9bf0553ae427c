//! Bitsets: integers of a few bits each, packed into one integer.

use super::{ImplContext, key, marker, type_info};
use crate::ast::Model;
use crate::bits::BitsetModel;
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(model: &Model<'_>, set: &BitsetModel<'_>, context: &ImplContext) -> TokenStream {
    [
        description(model, set, context),
        encode(set, context),
        decode(set, context),
        whole_key(set, context),
        key::member_as_whole(context),
        marker::owned(context),
    ]
    .into_iter()
    .collect()
}

/// Number of bits of all fields.
fn bit_bound(set: &BitsetModel<'_>) -> u8 {
    let Some(last) = set.fields.last() else { return 1 };
    // Positions increase, so the last field ends highest. Gaps count: peers number the bits as IDL does.
    let bits = last.position.saturating_add(last.bit_count);
    debug_assert!((1..=64).contains(&bits), "`BitsetModel::of` rejects {bits} bits");
    bits
}

fn description(model: &Model<'_>, set: &BitsetModel<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let mut fields = TokenStream::new();
    for field in &set.fields {
        let (ty, name, position, bit_count) = (field.ty, &field.name, field.position, field.bit_count);
        fields.extend(quote!(#cdr::BitfieldDescription::new::<#ty>(#name, #position, #bit_count),));
    }
    let type_name = type_info::name(model, cdr);
    let body = quote! {
        const TYPE_NAME: &'static str = #type_name;
        const HAS_KEY: bool = false;
        const DESCRIPTION: &'static #cdr::TypeDescription = {
            const FIELDS: &[#cdr::BitfieldDescription] = &[#fields];
            &#cdr::TypeDescription::of_bitset(Self::TYPE_NAME, FIELDS)
        };
    };
    context.implement(&quote!(#cdr::TypeInfo), &body)
}

fn encode(set: &BitsetModel<'_>, context: &ImplContext) -> TokenStream {
    let (cdr, bit_bound) = (&context.cdr, bit_bound(set));
    let mut parts = Vec::new();
    for field in &set.fields {
        let (ident, position, bit_count) = (field.ident, field.position, field.bit_count);
        // A value that needs more bits is an error of the writer. Cutting it would change the neighbor field.
        parts.push(quote!(#cdr::BitfieldValue::to_bits(self.#ident, #bit_count)? << #position));
    }
    let body = quote! {
        const LENGTH_CODE: #cdr::LengthCode = #cdr::length_code_of_bits(#bit_bound);

        fn encode(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            e.bits(#(#parts)|*, #bit_bound)
        }

        fn encode_key(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #cdr::Encode::encode(self, e)
        }
    };
    context.implement(&quote!(#cdr::Encode), &body)
}

fn decode(set: &BitsetModel<'_>, context: &ImplContext) -> TokenStream {
    let (cdr, ty, bit_bound) = (&context.cdr, &context.ty, bit_bound(set));
    let (mut received, mut zero) = (TokenStream::new(), TokenStream::new());
    for field in &set.fields {
        let (ident, position, bit_count) = (field.ident, field.position, field.bit_count);
        received.extend(quote!(#ident: #cdr::BitfieldValue::from_bits(bits >> #position, #bit_count),));
        zero.extend(quote!(#ident: #cdr::BitfieldValue::from_bits(0_u64 >> #position, #bit_count),));
    }
    quote! {
        #[automatically_derived]
        impl<'de> #cdr::Decode<'de> for #ty {
            fn decode(d: &mut #cdr::Decoder<'de>) -> ::core::result::Result<Self, #cdr::DecodeError> {
                let bits = d.bits(#bit_bound)?;
                ::core::result::Result::Ok(Self { #received })
            }

            fn missing(_: &#cdr::Decoder<'de>) -> ::core::result::Result<Self, #cdr::DecodeError> {
                ::core::result::Result::Ok(Self { #zero })
            }
        }
    }
}

fn whole_key(set: &BitsetModel<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let mut fields = TokenStream::new();
    for field in &set.fields {
        let ident = field.ident;
        fields.extend(quote!(#ident: self.#ident,));
    }
    let body = quote! {
        fn copy_key(&self) -> Self {
            Self { #fields }
        }
    };
    context.implement(&quote!(#cdr::WholeKey<'_>), &body)
}
