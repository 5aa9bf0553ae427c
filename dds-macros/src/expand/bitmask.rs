//! Bitmasks: integers whose bits have names.

use super::{ImplContext, key, marker, type_info};
use crate::ast::Model;
use crate::bits::BitmaskModel;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

pub(super) fn expand(model: &Model<'_>, mask: &BitmaskModel<'_>, context: &ImplContext) -> TokenStream {
    [
        description(model, mask, context),
        encode(mask, context),
        decode(mask, context),
        key::member_as_whole(context),
        marker::owned(context),
        flags(model, mask, context),
    ]
    .into_iter()
    .collect()
}

fn description(model: &Model<'_>, mask: &BitmaskModel<'_>, context: &ImplContext) -> TokenStream {
    let (cdr, bit_bound) = (&context.cdr, mask.bit_bound);
    let mut flags = TokenStream::new();
    for (ident, position) in &mask.flags {
        let name = ident.to_string();
        flags.extend(quote!(#cdr::BitflagDescription::new(#name, #position),));
    }
    let type_name = type_info::name(model, cdr);
    let extensibility = context.extensibility(model);
    let body = quote! {
        const TYPE_NAME: &'static str = #type_name;
        const HAS_KEY: bool = false;
        const DESCRIPTION: &'static #cdr::TypeDescription = {
            const FLAGS: &[#cdr::BitflagDescription] = &[#flags];
            &#cdr::TypeDescription::of_bitmask(Self::TYPE_NAME, #extensibility, #bit_bound, FLAGS)
        };
    };
    context.implement(&quote!(#cdr::TypeInfo), &body)
}

fn encode(mask: &BitmaskModel<'_>, context: &ImplContext) -> TokenStream {
    let (cdr, bit_bound) = (&context.cdr, mask.bit_bound);
    let body = quote! {
        const LENGTH_CODE: #cdr::LengthCode = #cdr::length_code_of_bits(#bit_bound);

        fn encode(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            e.bits(::core::convert::From::from(self.0), #bit_bound)
        }

        fn encode_key(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #cdr::Encode::encode(self, e)
        }
    };
    context.implement(&quote!(#cdr::Encode), &body)
}

fn decode(mask: &BitmaskModel<'_>, context: &ImplContext) -> TokenStream {
    let (cdr, ty) = (&context.cdr, &context.ty);
    let (integer, bit_bound) = (mask.integer.to_token_stream(), mask.bit_bound);
    let whole = quote! {
        fn copy_key(&self) -> Self {
            Self(self.0)
        }
    };
    let whole = context.implement(&quote!(#cdr::WholeKey<'_>), &whole);
    quote! {
        #[automatically_derived]
        impl<'de> #cdr::Decode<'de> for #ty {
            fn decode(d: &mut #cdr::Decoder<'de>) -> ::core::result::Result<Self, #cdr::DecodeError> {
                ::core::result::Result::Ok(Self(d.bits(#bit_bound)? as #integer))
            }

            fn missing(_: &#cdr::Decoder<'de>) -> ::core::result::Result<Self, #cdr::DecodeError> {
                ::core::result::Result::Ok(Self(0))
            }
        }
        #whole
    }
}

/// A constant for each name, and the operations of a set.
fn flags(model: &Model<'_>, mask: &BitmaskModel<'_>, context: &ImplContext) -> TokenStream {
    if mask.flags.is_empty() {
        return TokenStream::new();
    }
    let (vis, ty) = (&model.input.vis, &context.ty);
    let mut flags = TokenStream::new();
    for (ident, position) in &mask.flags {
        debug_assert!(*position < mask.bit_bound, "`BitmaskModel::of` rejects position {position}");
        let doc = format!("Bit {position}.");
        flags.extend(quote! {
            #[doc = #doc]
            #vis const #ident: Self = Self(1 << #position);
        });
    }
    // A program rarely uses all flags of a bitmask, so dead code is no mistake here.
    quote! {
        #[automatically_derived]
        #[allow(dead_code)]
        impl #ty {
            #flags

            /// Whether all bits of `other` are set in `self`.
            #[must_use]
            #vis const fn contains(&self, other: &Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        #[automatically_derived]
        impl ::core::ops::BitOr for #ty {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        #[automatically_derived]
        impl ::core::ops::BitOrAssign for #ty {
            fn bitor_assign(&mut self, other: Self) {
                self.0 |= other.0;
            }
        }
    }
}
