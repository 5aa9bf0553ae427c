//! Newtypes and types with conversions: every trait forwards to the wire type.
//!
//! The derive does not know which traits the wire type has. Conditions with an unused lifetime make the impls
//! conditional: the compiler checks them at each use only, not where they are written.

use super::{ImplContext, key, when};
use crate::ast::{Model, has_lifetime, lifetime, with_lifetime};
use crate::converted::ConvertedModel;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::spanned::Spanned;

/// The expressions that convert between a type and its wire type.
struct Conversions {
    /// The wire type.
    wire: TokenStream,
    /// The wire type, with the lifetime of the decoder.
    decoded: TokenStream,
    /// The wire type, with the lifetime of constants.
    constant: TokenStream,
    /// A reference to the wire value of `self`.
    to: TokenStream,
    /// Converts the wire value `wire` to a result; `d` is the decoder.
    from: TokenStream,
    bound: Option<u32>,
    is_owned: bool,
    is_newtype: bool,
}

impl Conversions {
    fn of(converted: &ConvertedModel<'_>, cdr: &TokenStream) -> Self {
        match converted {
            ConvertedModel::Newtype(member) => Self {
                wire: member.ty.to_token_stream(),
                decoded: with_lifetime(member.ty, "de"),
                constant: with_lifetime(member.ty, "static"),
                to: quote!(&self.0),
                from: quote!(::core::result::Result::Ok(Self(wire))),
                bound: member.bound(),
                is_owned: !has_lifetime(member.ty),
                is_newtype: true,
            },
            ConvertedModel::IntoFrom { wire, may_fail } => {
                let from = match may_fail {
                    true => quote!(#cdr::converted(
                        d,
                        <Self as ::core::convert::TryFrom<#wire>>::try_from(wire).ok(),
                    )),
                    false => quote!(::core::result::Result::Ok(<Self as ::core::convert::From<#wire>>::from(wire))),
                };
                Self {
                    wire: wire.to_token_stream(),
                    decoded: wire.to_token_stream(),
                    constant: wire.to_token_stream(),
                    to: quote!(&<#wire as ::core::convert::From<&Self>>::from(self)),
                    from,
                    bound: None,
                    is_owned: true,
                    is_newtype: false,
                }
            }
        }
    }

    /// A call of the wire type's trait. An owned type has one trait for all, so that a missing derive is one error.
    fn call(&self, of: &TokenStream, name: &TokenStream, owned_name: &TokenStream, cdr: &TokenStream) -> TokenStream {
        let ty = &self.decoded;
        if self.is_owned { quote!(<#ty as #cdr::MemberValue>::#owned_name) } else { quote!(<#ty as #cdr::#of>::#name) }
    }

    fn constant(&self, of: &TokenStream, name: &TokenStream, cdr: &TokenStream) -> TokenStream {
        let ty = &self.constant;
        if self.is_owned { quote!(<#ty as #cdr::MemberValue>::#name) } else { quote!(<#ty as #cdr::#of>::#name) }
    }
}

pub(super) fn expand(model: &Model<'_>, converted: &ConvertedModel<'_>, context: &ImplContext) -> TokenStream {
    let conversions = Conversions::of(converted, &context.cdr);
    let place = match converted {
        ConvertedModel::Newtype(member) => member.ty.span(),
        ConvertedModel::IntoFrom { wire, .. } => wire.span(),
    };
    let code: TokenStream = [
        description(model, &conversions, context),
        encode(&conversions, context),
        decode(model, &conversions, context),
        keys(model, &conversions, context),
        markers(model, &conversions, context),
    ]
    .into_iter()
    .collect();
    crate::ast::locate(code, place)
}

fn description(model: &Model<'_>, conversions: &Conversions, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let constant = |name| conversions.constant(&quote!(TypeInfo), &name, cdr);
    let (has_key, described) = (constant(quote!(HAS_KEY)), constant(quote!(DESCRIPTION)));
    let type_name = match &model.attributes.name {
        Some(name) => name.to_token_stream(),
        None => constant(quote!(TYPE_NAME)),
    };
    let described = match conversions.bound {
        Some(bound) => quote!(&#described.bounded(#bound)),
        None => described,
    };
    // Discovery announces the name in the description.
    let described = match &model.attributes.name {
        Some(_) => quote!(&(*#described).with_name(Self::TYPE_NAME)),
        None => described,
    };
    let body = quote! {
        const TYPE_NAME: &'static str = #type_name;
        const HAS_KEY: bool = #has_key;
        const DESCRIPTION: &'static #cdr::TypeDescription = #described;
    };
    context.implement(&quote!(#cdr::TypeInfo), &body)
}

fn encode(conversions: &Conversions, context: &ImplContext) -> TokenStream {
    let (cdr, to) = (&context.cdr, &conversions.to);
    let constant = |name| conversions.constant(&quote!(Encode), &name, cdr);
    let (is_primitive, innermost) = (constant(quote!(IS_PRIMITIVE)), constant(quote!(INNERMOST_IS_PRIMITIVE)));
    let length_code = constant(quote!(LENGTH_CODE));
    let ty = &conversions.wire;
    let (encode, encode_key) = match conversions.is_owned {
        true => (quote!(<#ty as #cdr::MemberValue>::write_value), quote!(<#ty as #cdr::MemberValue>::write_key)),
        false => (quote!(<#ty as #cdr::Encode>::encode), quote!(<#ty as #cdr::Encode>::encode_key)),
    };
    let mut check = TokenStream::new();
    if let Some(bound) = conversions.bound {
        check = quote!(e.check_bound(self.0.len(), #bound)?;);
    }
    // The constants are those of the wire type: a sequence of newtypes has the same bytes as one of the inner type.
    let body = quote! {
        const IS_PRIMITIVE: bool = #is_primitive;
        const INNERMOST_IS_PRIMITIVE: bool = #innermost;
        const LENGTH_CODE: #cdr::LengthCode = #length_code;

        #[inline]
        fn encode(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #check
            #encode(#to, e)
        }

        #[inline]
        fn encode_key(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #check
            #encode_key(#to, e)
        }
    };
    context.implement(&quote!(#cdr::Encode), &body)
}

fn decode(model: &Model<'_>, conversions: &Conversions, context: &ImplContext) -> TokenStream {
    let (cdr, from) = (&context.cdr, &conversions.from);
    let ty = model.ty(&lifetime("de"));
    let error = quote!(#cdr::DecodeError);
    let decoded = &conversions.decoded;
    let call = |name, owned| conversions.call(&quote!(Decode), &name, &owned, cdr);
    let (decode, missing) = (call(quote!(decode), quote!(read_value)), call(quote!(missing), quote!(read_missing)));
    let (is_primitive, innermost, size_min) = (
        call(quote!(IS_PRIMITIVE), quote!(IS_PRIMITIVE)),
        call(quote!(INNERMOST_IS_PRIMITIVE), quote!(INNERMOST_IS_PRIMITIVE)),
        call(quote!(SIZE_MIN), quote!(SIZE_MIN)),
    );
    let extensibility = call(quote!(EXTENSIBILITY), quote!(EXTENSIBILITY));
    let (mut check, mut check_inner) = (TokenStream::new(), TokenStream::new());
    if let Some(bound) = conversions.bound {
        debug_assert!(conversions.is_newtype, "`into` and `from` accept no `bound`, found {bound}");
        check = quote!(d.check_bound(wire.len(), #bound)?;);
        check_inner = quote!(d.check_bound(self.0.len(), #bound)?;);
    }
    // A newtype is decoded in place, and keeps its allocations.
    let mut decode_into = TokenStream::new();
    if conversions.is_newtype {
        let read_into = call(quote!(decode_into), quote!(read_into));
        decode_into = quote! {
            #[inline]
            fn decode_into(&mut self, d: &mut #cdr::Decoder<'de>) -> ::core::result::Result<(), #error> {
                #read_into(&mut self.0, d)?;
                #check_inner
                ::core::result::Result::Ok(())
            }
        };
    }
    quote! {
        #[automatically_derived]
        impl<'de> #cdr::Decode<'de> for #ty {
            const IS_PRIMITIVE: bool = #is_primitive;
            const INNERMOST_IS_PRIMITIVE: bool = #innermost;
            const SIZE_MIN: usize = #size_min;
            const EXTENSIBILITY: ::core::option::Option<#cdr::Extensibility> = #extensibility;

            #[inline]
            fn decode(d: &mut #cdr::Decoder<'de>) -> ::core::result::Result<Self, #error> {
                let wire: #decoded = #decode(d)?;
                #check
                #from
            }

            #decode_into

            fn missing(d: &#cdr::Decoder<'de>) -> ::core::result::Result<Self, #error> {
                let wire: #decoded = #missing(d)?;
                #from
            }
        }
    }
}

fn keys(model: &Model<'_>, conversions: &Conversions, context: &ImplContext) -> TokenStream {
    if !conversions.is_owned || model.lifetimes > 0 {
        return TokenStream::new();
    }
    let (cdr, ty, wire, to) = (&context.cdr, &context.ty, &conversions.wire, &conversions.to);
    // A newtype copies the key of its field. Conversions may fail, so the value itself is cloned.
    let (condition, copy) = match conversions.is_newtype {
        true => (TokenStream::new(), quote!(Self(#cdr::WholeKey::copy_key(&self.0)))),
        false => (quote!(for<'unused> #ty: ::core::clone::Clone,), quote!(::core::clone::Clone::clone(self))),
    };
    let whole = key::whole(context, &quote!(#wire: #cdr::WholeKey<'k>, #condition), &copy);
    quote! {
        #whole

        #[automatically_derived]
        impl #cdr::Keyed for #ty
        where
            for<'unused> #wire: #cdr::Keyed,
        {
            type Key = <#wire as #cdr::Keyed>::Key;
            const EXTENSIBILITY: ::core::option::Option<#cdr::Extensibility> =
                <#wire as #cdr::Keyed>::EXTENSIBILITY;

            fn key(&self) -> Self::Key {
                <#wire as #cdr::Keyed>::key(#to)
            }

            fn encode_key_value(
                key: &Self::Key,
                e: &mut #cdr::Encoder<'_>,
            ) -> ::core::result::Result<(), #cdr::EncodeError> {
                <#wire as #cdr::Keyed>::encode_key_value(key, e)
            }

            fn decode_key_value(
                d: &mut #cdr::Decoder<'_>,
            ) -> ::core::result::Result<Self::Key, #cdr::DecodeError> {
                <#wire as #cdr::Keyed>::decode_key_value(d)
            }
        }

        #[automatically_derived]
        impl #cdr::MapKey for #ty
        where
            for<'unused> #wire: #cdr::MapKey,
        {
        }
    }
}

fn markers(model: &Model<'_>, conversions: &Conversions, context: &ImplContext) -> TokenStream {
    let (cdr, generics, ty, wire) = (&context.cdr, &context.generics, &context.ty, &conversions.wire);
    let owned = when(model.lifetimes == 0, super::marker::owned(context));
    let (one, other) = (model.ty(&lifetime("view")), model.ty(&lifetime("viewed")));
    let of_views = when(model.lifetimes > 0, quote!(<'view, 'viewed>));
    // The unused lifetime makes the bound non-trivial. Then rustc accepts the impl even if the bound does not hold.
    quote! {
        #owned

        #[automatically_derived]
        impl #generics #cdr::DdsType for #ty
        where
            for<'unused> #wire: #cdr::DdsType,
        {
        }

        #[automatically_derived]
        impl #of_views #cdr::ViewOf<#other> for #one {}
    }
}
