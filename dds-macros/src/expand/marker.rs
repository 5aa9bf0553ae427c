//! `DecodeOwned`, `DdsType` and `ViewOf`: traits without methods.

use super::{ImplContext, when};
use crate::ast::{Model, lifetime};
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(model: &Model<'_>, context: &ImplContext) -> TokenStream {
    let (own, viewed) = (of_itself(model, context), view_of(model, context));
    quote!(#own #viewed)
}

/// The markers that do not depend on other types.
pub(super) fn of_itself(model: &Model<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    // A type that borrows cannot outlive the sample, so a history cannot store it.
    let owned = when(model.lifetimes == 0, owned(context));
    // `@nested` excludes a type from topics.
    let topic = when(model.attributes.nested.is_none(), context.implement(&quote!(#cdr::DdsType), &quote!()));
    // A type is a view of itself, for any two lifetimes.
    let (one, other) = (model.ty(&lifetime("view")), model.ty(&lifetime("viewed")));
    let generics = when(model.lifetimes > 0, quote!(<'view, 'viewed>));
    quote! {
        #owned
        #topic
        #[automatically_derived]
        impl #generics #cdr::ViewOf<#other> for #one {}
    }
}

pub(super) fn owned(context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    context.implement(&quote!(#cdr::DecodeOwned), &quote!())
}

fn view_of(model: &Model<'_>, context: &ImplContext) -> Option<TokenStream> {
    let cdr = &context.cdr;
    let viewed = model.attributes.view_of.as_ref()?;
    let declared = context.implement(&quote!(#cdr::ViewOf<#viewed>), &quote!());
    let static_ty = &context.static_ty;
    let message = format!(
        "`{}` is not a view of `{}`: expected members that agree in name, id, key, optional and extensibility",
        syn::ext::IdentExt::unraw(model.ident),
        quote!(#viewed)
    );
    // Checked by the compiler of the user: the macro does not see the other type, only its name.
    Some(quote! {
        #declared
        const _: () = ::core::assert!(
            <#static_ty as #cdr::TypeInfo>::DESCRIPTION.has_members_of(<#viewed as #cdr::TypeInfo>::DESCRIPTION),
            #message
        );
    })
}
