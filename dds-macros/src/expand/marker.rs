//! `DecodeOwned`, `DdsType` and `ViewOf`: traits without methods.

use super::Target;
use crate::ast::{Model, lifetime};
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(model: &Model<'_>, target: &Target) -> TokenStream {
    let (own, viewed) = (of_itself(model, target), view_of(model, target));
    quote!(#own #viewed)
}

/// The markers that do not depend on other types.
pub(super) fn of_itself(model: &Model<'_>, target: &Target) -> TokenStream {
    let cdr = &target.cdr;
    let owned = (model.lifetimes == 0).then(|| owned(target));
    let topic = model.attributes.nested.is_none().then(|| target.implement(&quote!(#cdr::DdsType), &quote!()));
    // A type is a view of itself, for any two lifetimes.
    let (one, other) = (model.ty(&lifetime("view")), model.ty(&lifetime("viewed")));
    let generics = (model.lifetimes > 0).then(|| quote!(<'view, 'viewed>));
    quote! {
        #owned
        #topic
        #[automatically_derived]
        impl #generics #cdr::ViewOf<#other> for #one {}
    }
}

pub(super) fn owned(target: &Target) -> TokenStream {
    let cdr = &target.cdr;
    target.implement(&quote!(#cdr::DecodeOwned), &quote!())
}

fn view_of(model: &Model<'_>, target: &Target) -> Option<TokenStream> {
    let cdr = &target.cdr;
    let viewed = model.attributes.view_of.as_ref()?;
    let declared = target.implement(&quote!(#cdr::ViewOf<#viewed>), &quote!());
    let static_ty = &target.static_ty;
    let message = format!(
        "`{}` is not a view of `{}`: expected members that agree in name, id, key, optional and extensibility",
        syn::ext::IdentExt::unraw(model.ident),
        quote!(#viewed)
    );
    Some(quote! {
        #declared
        const _: () = ::core::assert!(
            <#static_ty as #cdr::TypeInfo>::DESCRIPTION.has_members_of(<#viewed as #cdr::TypeInfo>::DESCRIPTION),
            #message
        );
    })
}
