//! Code generation: one file for each trait of structs, and one for each other kind of type.

mod bitmask;
mod bitset;
mod converted;
mod decode;
mod encode;
mod enumeration;
mod fallback;
mod key;
mod marker;
mod mutable;
mod plain;
mod type_info;
mod union;
mod union_key;

pub(crate) use fallback::fallback;

use crate::ast::{Body, Model};
use crate::attr::ExtensibilityAttribute;
use proc_macro2::TokenStream;
use quote::quote;

pub(crate) fn expand(model: &Model<'_>) -> TokenStream {
    let context = ImplContext::of(model);
    match &model.body {
        Body::Struct(_) => of_struct(model, &context),
        Body::Enum(literals) => enumeration::expand(model, literals, &context),
        Body::Union(body) => union::expand(model, body, &context),
        Body::Bitmask(mask) => bitmask::expand(model, mask, &context),
        Body::Bitset(set) => bitset::expand(model, set, &context),
        Body::Converted(of) => converted::expand(model, of, &context),
        Body::Unknown => {
            debug_assert!(false, "`{}` has no model, so it has an error and goes to `fallback`", model.ident);
            TokenStream::new()
        }
    }
}

fn of_struct(model: &Model<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let (info, encode) = (type_info::of_struct(model, context), encode::expand(model, context));
    let (decode, key) = (decode::expand(model, context), key::expand(model, context));
    let (marker, plain) = (marker::expand(model, context), plain::expand(model, context));
    if !model.has_key() {
        return quote!(#info #encode #decode #key #marker #plain);
    }
    // The import gives functions to key members that have none; see `KeyPart` in the crate `dds-cdr`.
    quote! {
        const _: () = {
            #[allow(unused_imports, reason = "a type that can be part of a key does not need it")]
            use #cdr::NotInKey as _;
            #info #encode #decode #key
        };
        #marker #plain
    }
}

/// The path of the `cdr` module.
pub(crate) fn path_of_cdr(model: &Model<'_>) -> TokenStream {
    match &model.attributes.crate_path {
        Some(path) => quote!(#path::__private::cdr),
        None => quote!(::dds_core::__private::cdr),
    }
}

/// Paths and generics that all impls of one type share.
pub(crate) struct ImplContext {
    /// The path of the `cdr` module.
    cdr: TokenStream,
    /// `impl<'a>`, with bounds of the type.
    generics: TokenStream,
    /// The type with its own lifetimes.
    ty: TokenStream,
    /// The type with all lifetimes `'static`, for constants.
    static_ty: TokenStream,
}

impl ImplContext {
    pub(crate) fn of(model: &Model<'_>) -> Self {
        let cdr = path_of_cdr(model);
        let lifetimes = model.input.generics.lifetimes();
        let (_, parameters, _) = model.input.generics.split_for_impl();
        let ident = model.ident;
        // Bounds on lifetimes are not needed for these traits, so only the names are repeated.
        let generics = if model.lifetimes == 0 { TokenStream::new() } else { quote!(<#(#lifetimes),*>) };
        let static_ty = model.ty(&crate::ast::lifetime("static"));
        Self { cdr, generics, ty: quote!(#ident #parameters), static_ty }
    }

    /// An impl of a trait for the type.
    fn implement(&self, of: &TokenStream, items: &TokenStream) -> TokenStream {
        self.implement_where(of, &TokenStream::new(), items)
    }

    /// An impl of a trait for the type, with bounds that need not depend on its parameters.
    fn implement_where(&self, of: &TokenStream, bounds: &TokenStream, items: &TokenStream) -> TokenStream {
        let (generics, ty) = (&self.generics, &self.ty);
        let allowed = when(
            !bounds.is_empty(),
            quote!(#[allow(trivial_bounds, reason = "a bound may name no parameter of the type")]),
        );
        quote! {
            #[automatically_derived]
            #allowed
            impl #generics #of for #ty where #bounds {
                #items
            }
        }
    }

    fn extensibility(&self, model: &Model<'_>) -> TokenStream {
        let cdr = &self.cdr;
        match model.extensibility() {
            ExtensibilityAttribute::Final => quote!(#cdr::Extensibility::Final),
            ExtensibilityAttribute::Appendable => quote!(#cdr::Extensibility::Appendable),
            ExtensibilityAttribute::Mutable => quote!(#cdr::Extensibility::Mutable),
        }
    }
}

/// Returns `code` if it is wanted, and otherwise nothing.
fn when(is_wanted: bool, code: TokenStream) -> TokenStream {
    if is_wanted { code } else { TokenStream::new() }
}

/// A method body inside the frame that the extensibility requires.
///
/// `cursor` is the encoder or decoder parameter. The decoding of mutable types differs; see `mutable`.
fn framed(model: &Model<'_>, cursor: &TokenStream, body: &TokenStream) -> TokenStream {
    match model.extensibility() {
        ExtensibilityAttribute::Final => body.clone(),
        ExtensibilityAttribute::Appendable => quote!(#cursor.appendable(|#cursor| { #body })),
        ExtensibilityAttribute::Mutable => quote!(#cursor.mutable(|#cursor| { #body })),
    }
}
