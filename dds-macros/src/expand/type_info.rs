//! `TypeInfo`: the name and description of a type.

use super::{ImplContext, when};
use crate::ast::{MemberModel, Model, with_lifetime};
use crate::attr::{AutoId, TryConstructAttribute};
use proc_macro2::TokenStream;
use quote::quote;
use syn::Type;

pub(super) fn of_struct(model: &Model<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let (mut base, mut members, mut tried) = (None, TokenStream::new(), TokenStream::new());
    for member in model.members() {
        tried.extend(must_be_tried(member, cdr));
        if member.is_base() {
            // `check_base` rejects a second one. Its members come from its own description.
            base = Some(member);
            continue;
        }
        let description = description(member, cdr);
        members.extend(quote!(#description,));
    }
    let extensibility = context.extensibility(model);
    let has_key = model.has_key();
    let (type_name, marks) = (name(model, cdr), marks(model));
    let described = match base {
        None => quote!(&#cdr::TypeDescription::of_struct(Self::TYPE_NAME, #extensibility, MEMBERS) #marks),
        Some(base) => {
            let is_key = base.attributes.key.is_some();
            let described = base.constant(&quote!(TypeInfo), &quote!(DESCRIPTION), cdr);
            base.locate(quote! {{
                const BASE: &#cdr::TypeDescription = #described;
                const ALL: &[#cdr::MemberDescription] =
                    &#cdr::derived_members::<{ MEMBERS.len() + #cdr::member_count(BASE) }>(BASE, #is_key, MEMBERS);
                &#cdr::TypeDescription::of_struct(Self::TYPE_NAME, #extensibility, ALL).derived_from(BASE) #marks
            }})
        }
    };
    let body = quote! {
        const TYPE_NAME: &'static str = #type_name;
        const HAS_KEY: bool = #has_key;
        const DESCRIPTION: &'static #cdr::TypeDescription = {
            const MEMBERS: &[#cdr::MemberDescription] = &[#members];
            #described
        };
    };
    let implemented = context.implement(&quote!(#cdr::TypeInfo), &body);
    quote!(#implemented #tried)
}

/// Calls that add the attributes of a struct or union to its description.
pub(super) fn marks(model: &Model<'_>) -> TokenStream {
    let nested = when(model.attributes.nested.is_some(), quote!(.nested()));
    let hash_ids = when(model.attributes.autoid == Some(AutoId::Hash), quote!(.hash_ids()));
    quote!(#nested #hash_ids)
}

/// The announced type name.
pub(super) fn name(model: &Model<'_>, cdr: &TokenStream) -> TokenStream {
    if let Some(viewed) = &model.attributes.view_of {
        return quote!(<#viewed as #cdr::TypeInfo>::TYPE_NAME);
    }
    let name = match &model.attributes.name {
        Some(name) => name.value(),
        None => syn::ext::IdentExt::unraw(model.ident).to_string(),
    };
    quote!(#name)
}

fn description(member: &MemberModel<'_>, cdr: &TokenStream) -> TokenStream {
    let (name, id) = (&member.name, member.id(cdr));
    let described = of_member(member, cdr);
    let key = when(member.attributes.key.is_some(), quote!(.key()));
    let optional = when(member.is_optional, quote!(.optional()));
    let must_understand = when(member.attributes.must_understand.is_some(), quote!(.must_understand()));
    let external = when(member.attributes.external.is_some(), quote!(.external()));
    let hash_id = hash_id(member);
    let try_construct = try_construct(member, cdr);
    let marks = quote!(#key #optional #must_understand #external #hash_id #try_construct);
    quote!(#cdr::MemberDescription::new(#name, #id, || #described) #marks)
}

/// The call that records `hashid` in the description.
pub(super) fn hash_id(member: &MemberModel<'_>) -> Option<TokenStream> {
    let hash_id = member.attributes.hashid.as_ref()?;
    let name = hash_id.name.as_ref().map(syn::LitStr::value).unwrap_or_default();
    Some(quote!(.hash_id(#name)))
}

/// The call that records `try_construct` in the description.
pub(super) fn try_construct(member: &MemberModel<'_>, cdr: &TokenStream) -> Option<TokenStream> {
    match member.try_construct() {
        TryConstructAttribute::Discard => None,
        TryConstructAttribute::UseDefault => Some(quote!(.try_construct(#cdr::TryConstruct::UseDefault))),
        TryConstructAttribute::Trim => Some(quote!(.try_construct(#cdr::TryConstruct::Trim))),
    }
}

/// The description of a member's type.
pub(super) fn of_member(member: &MemberModel<'_>, cdr: &TokenStream) -> TokenStream {
    let described = match member.attributes.octet {
        // The macro replaces `u8` by name. A type alias hides it, and `is_bytes` has reported that.
        Some(_) => {
            let ty = with_lifetime(&of_octets(member.ty, cdr), "static");
            quote!(<#ty as #cdr::TypeInfo>::DESCRIPTION)
        }
        None => member.constant(&quote!(TypeInfo), &quote!(DESCRIPTION), cdr),
    };
    let described = member.locate(described);
    match member.bound() {
        // A constant block, because the reference to the bounded copy must live forever.
        Some(bound) => quote!(const { &#described.bounded(#bound) }),
        None => described,
    }
}

/// Replaces `u8` by `Octet`, also inside collections.
fn of_octets(ty: &Type, cdr: &TokenStream) -> Type {
    let mut ty = ty.clone();
    match &mut ty {
        Type::Array(array) => *array.elem = of_octets(&array.elem, cdr),
        Type::Slice(slice) => *slice.elem = of_octets(&slice.elem, cdr),
        Type::Group(group) => *group.elem = of_octets(&group.elem, cdr),
        Type::Paren(paren) => *paren.elem = of_octets(&paren.elem, cdr),
        Type::Reference(reference) => *reference.elem = of_octets(&reference.elem, cdr),
        Type::Path(path) => match path.path.segments.last_mut() {
            Some(segment) if segment.ident == "u8" => return syn::parse_quote!(#cdr::Octet),
            Some(segment) => {
                if let syn::PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                    for argument in &mut arguments.args {
                        if let syn::GenericArgument::Type(inner) = argument {
                            *inner = of_octets(inner, cdr);
                        }
                    }
                }
            }
            None => {}
        },
        _ => {}
    }
    ty
}

/// An assertion that `try_construct = "use_default"` has an effect: some received value may not fit the type.
pub(super) fn must_be_tried(member: &MemberModel<'_>, cdr: &TokenStream) -> Option<TokenStream> {
    if member.try_construct() != TryConstructAttribute::UseDefault {
        return None;
    }
    let described = of_member(member, cdr);
    Some(member.locate(quote!(const _: () = #described.must_be_tried();)))
}
