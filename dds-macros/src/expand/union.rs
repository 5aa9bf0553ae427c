//! Unions: the discriminator, then the member that it selects.

use super::{ImplContext, decode, framed, key, marker, type_info};
use crate::ast::{MemberModel, Model};
use crate::attr::{ExtensibilityAttribute, TryConstructAttribute};
use crate::union::{CaseModel, UnionModel, kept, value};
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(model: &Model<'_>, union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    [
        description(model, union, context),
        discriminator(union, context),
        encode(model, union, context),
        decode(model, union, context),
        keys(model, union, context),
        marker::expand(model, context),
    ]
    .into_iter()
    .collect()
}

fn description(model: &Model<'_>, union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let cases = union.cases.iter().map(|case| {
        let (name, labels) = (&case.name, numbers(union, [case]));
        let id = case.member.as_ref().map_or(0, |member| member.member.id);
        let member = case.member.as_ref().map(|member| {
            let described = type_info::of_member(&member.member, cdr);
            quote!(.member(|| #described))
        });
        let default = case.default.map(|_| quote!(.or_default()));
        let try_construct = case.member.as_ref().and_then(|member| type_info::try_construct(&member.member, cdr));
        let hash_id = case.member.as_ref().and_then(|member| type_info::hash_id(&member.member));
        let external =
            case.member.as_ref().and_then(|member| member.member.attributes.external).map(|_| quote!(.external()));
        quote!(#cdr::UnionCase::new(#name, #id, { const LABELS: &[i64] = &#labels; LABELS })
            #member #default #hash_id #external #try_construct)
    });
    let ty = &union.discriminator;
    let described = match union.is_octet {
        true => quote!(<#cdr::Octet as #cdr::TypeInfo>::DESCRIPTION),
        false => quote!(<#ty as #cdr::TypeInfo>::DESCRIPTION),
    };
    let has_key = model.has_key();
    let keyed = has_key.then(|| quote!(.keyed()));
    let or_default = model.defaults_discriminator().then(|| quote!(.or_default()));
    let type_name = type_info::name(model, cdr);
    let (extensibility, marks) = (context.extensibility(model), type_info::marks(model));
    let body = quote! {
        const TYPE_NAME: &'static str = #type_name;
        const HAS_KEY: bool = #has_key;
        const DESCRIPTION: &'static #cdr::TypeDescription = {
            const CASES: &[#cdr::UnionCase] = &[#(#cases),*];
            &#cdr::TypeDescription::of_union(
                Self::TYPE_NAME,
                #cdr::UnionDescription::new(#extensibility, || #described, CASES) #keyed #or_default,
            ) #marks
        };
    };
    let implemented = context.implement(&quote!(#cdr::TypeInfo), &body);
    let tried = union.members().filter_map(|member| type_info::must_be_tried(member, cdr));
    quote!(#implemented #(#tried)*)
}

/// The labels of some cases, as an array of numbers.
fn numbers<'a>(union: &UnionModel<'_>, cases: impl IntoIterator<Item = &'a CaseModel<'a>>) -> TokenStream {
    let ty = &union.discriminator;
    let labels = cases.into_iter().flat_map(|case| &case.labels).map(|label| &label.tokens);
    let number = union.number(&quote!(label));
    quote!([#({ let label: #ty = #labels; #number }),*])
}

/// The discriminator of a case that does not store one: its first label, or a number that is not a label.
fn written_label(union: &UnionModel<'_>, case: &CaseModel<'_>, cdr: &TokenStream) -> TokenStream {
    let ty = &union.discriminator;
    match case.labels.first().map(|label| &label.tokens) {
        Some(label) => quote!({ let label: #ty = #label; label }),
        None => {
            let labels = numbers(union, &union.cases);
            quote!(const { #cdr::unused_label(&#labels) as #ty })
        }
    }
}

fn discriminator(union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    let (cdr, ty) = (&context.cdr, &union.discriminator);
    let arms = union.cases.iter().map(|case| match &case.kept {
        Some(field) => {
            let (ident, kept) = (case.ident, kept());
            quote!(Self::#ident { #field: #kept, .. } => #cdr::WholeKey::copy_key(#kept),)
        }
        None => {
            let (ident, label) = (case.ident, written_label(union, case, cdr));
            quote!(Self::#ident { .. } => #label,)
        }
    });
    let body = quote! {
        type Discriminator = #ty;

        fn discriminator(&self) -> #ty {
            match self { #(#arms)* }
        }
    };
    context.implement(&quote!(#cdr::Union), &body)
}

fn encode(model: &Model<'_>, union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let whole = write(model, union, cdr, &quote!(encode));
    let whole = framed(model, &quote!(e), &quote!(#whole ::core::result::Result::Ok(())));
    let key = match model.has_key() {
        true => {
            let write = write_discriminator(model, union, cdr, &quote!(discriminator));
            quote!(let discriminator = #cdr::Union::discriminator(self); #write)
        }
        false => write(model, union, cdr, &quote!(encode_key)),
    };
    let key = framed(model, &quote!(e), &quote!(#key ::core::result::Result::Ok(())));
    let body = quote! {
        fn encode(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #whole
        }

        fn encode_key(&self, e: &mut #cdr::Encoder<'_>) -> ::core::result::Result<(), #cdr::EncodeError> {
            #key
        }
    };
    context.implement(&quote!(#cdr::Encode), &body)
}

/// The statement that writes a discriminator.
fn write_discriminator(
    model: &Model<'_>,
    union: &UnionModel<'_>,
    cdr: &TokenStream,
    discriminator: &TokenStream,
) -> TokenStream {
    let ty = &union.discriminator;
    let write = quote!(#cdr::Encode::encode(&#discriminator, e));
    match model.extensibility() {
        ExtensibilityAttribute::Mutable => quote!(e.member(0, false, <#ty as #cdr::Encode>::LENGTH_CODE, |e| #write)?;),
        _ => quote!(#write?;),
    }
}

/// The statements that write a union; `method` writes its member.
fn write(model: &Model<'_>, union: &UnionModel<'_>, cdr: &TokenStream, method: &TokenStream) -> TokenStream {
    let checks = union.cases.iter().filter(|case| case.kept.is_some()).filter_map(|case| {
        let is_default = case.default.is_some();
        // A default case may store any discriminator that no other case has. Other cases store one of their own labels.
        let labels = labels(union, |other| (other.ident == case.ident) != is_default);
        if labels.is_empty() {
            return None;
        }
        let (ident, is_listed) = (case.ident, quote!(::core::matches!(discriminator, #(#labels)|*)));
        let number = union.number(&quote!(discriminator));
        let is_other = if is_default { is_listed } else { quote!(!#is_listed) };
        Some(quote! {
            if ::core::matches!(self, Self::#ident { .. }) && #is_other {
                return ::core::result::Result::Err(#cdr::EncodeError::other_case(#number));
            }
        })
    });
    let write_discriminator = write_discriminator(model, union, cdr, &quote!(discriminator));
    let arms = union.cases.iter().map(|case| {
        let pattern = case.pattern_of_value();
        let write = case.member.as_ref().map(|member| write_member(model, &member.member, cdr, method));
        quote!(#pattern => { #write })
    });
    quote! {
        let discriminator = #cdr::Union::discriminator(self);
        #(#checks)*
        #write_discriminator
        match self { #(#arms)* }
    }
}

fn write_member(model: &Model<'_>, member: &MemberModel<'_>, cdr: &TokenStream, method: &TokenStream) -> TokenStream {
    let (value, id) = (value(), member.id);
    let check = member.bound().map(|bound| quote!(e.check_bound(#value.len(), #bound)?;));
    let write = match member.as_owned(cdr) {
        Some(owned) if method.to_string() == "encode" => quote!(#owned::write_value(#value, e)),
        Some(owned) => quote!(#owned::write_key(#value, e)),
        None => quote!(#cdr::Encode::#method(#value, e)),
    };
    let code = member.constant(&quote!(Encode), &quote!(LENGTH_CODE), cdr);
    let write = match model.extensibility() {
        ExtensibilityAttribute::Mutable => quote!(e.member(#id, false, #code, |e| #write)?;),
        _ => quote!(#write?;),
    };
    member.locate(quote!(#check #write))
}

/// The labels of some cases, as patterns.
fn labels(union: &UnionModel<'_>, is_wanted: impl Fn(&CaseModel<'_>) -> bool) -> Vec<TokenStream> {
    let cases = union.cases.iter().filter(|case| is_wanted(case));
    cases.flat_map(|case| &case.labels).map(|label| label.tokens.clone()).collect()
}

/// A `match` over the discriminator.
///
/// `body` returns the code of a selected case. `otherwise` is the code for a discriminator that selects no case.
fn selected(
    union: &UnionModel<'_>,
    body: impl Fn(&CaseModel<'_>) -> TokenStream,
    otherwise: &TokenStream,
) -> TokenStream {
    let arms = union.cases.iter().filter(|case| case.default.is_none() && !case.labels.is_empty()).map(|case| {
        let (labels, body) = (case.labels.iter().map(|label| &label.tokens), body(case));
        quote!(#(#labels)|* => { #body })
    });
    let default = union.cases.iter().find(|case| case.default.is_some());
    let otherwise = default.map_or_else(|| otherwise.clone(), &body);
    quote! {
        match discriminator {
            #(#arms)*
            _ => { #otherwise }
        }
    }
}

fn decode(model: &Model<'_>, union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    let (cdr, ty) = (&context.cdr, &union.discriminator);
    let made = read(model, union, cdr, &quote!(value), |case| make(model, case, cdr));
    let filled = read(
        model,
        union,
        cdr,
        &quote!({
            *self = value;
        }),
        |case| fill(model, case, cdr),
    );
    let first = union.cases.first().map(|case| {
        let label = written_label(union, case, cdr);
        let missing = missing(case, cdr);
        quote!(let discriminator: #ty = #label; #missing)
    });
    let missing = selected(union, |case| missing(case, cdr), &first.unwrap_or_default());
    let missing = quote!(let discriminator: #ty = #cdr::Decode::missing(d)?; #missing);
    decode::implement(model, context, &made, &filled, &missing)
}

/// Reads the discriminator and then the selected case with the code of `case`.
///
/// `settle` turns `value`, the default of the union, into the result. It is used if the discriminator selects no case
/// and the union has `try_construct`.
fn read(
    model: &Model<'_>,
    union: &UnionModel<'_>,
    cdr: &TokenStream,
    settle: &TokenStream,
    case: impl Fn(&CaseModel<'_>) -> TokenStream,
) -> TokenStream {
    let ty = &union.discriminator;
    let is_mutable = model.extensibility() == ExtensibilityAttribute::Mutable;
    let framed = |body: TokenStream| if is_mutable { body } else { framed(model, &quote!(d), &body) };
    if !model.defaults_discriminator() {
        let number = union.number(&quote!(discriminator));
        let unknown = quote!(::core::result::Result::Err(d.unknown_discriminator(#number)));
        let selected = selected(union, case, &unknown);
        return framed(match is_mutable {
            true => quote!(let discriminator: #ty = d.discriminator()?; #selected),
            false => quote!(let discriminator: #ty = #cdr::Decode::decode(d)?; #selected),
        });
    }
    // A mutable union skips all members. Otherwise the member is the end of the data, or its frame has the length.
    let pass = is_mutable.then(|| quote!(d.pass_members()?;));
    let default = quote! {
        #pass
        let value: Self = #cdr::Decode::missing(d)?;
        return ::core::result::Result::Ok(#settle);
    };
    let read = match is_mutable {
        true => quote!(d.try_discriminator::<#ty>()?),
        false => {
            quote!(d.try_construct(<#ty as #cdr::TypeInfo>::DESCRIPTION, false, <#ty as #cdr::Decode<'_>>::decode)?)
        }
    };
    let selected = selected(union, case, &default);
    framed(quote! {
        let ::core::option::Option::Some(discriminator) = #read else {
            #default
        };
        #selected
    })
}

/// Creates the variant from the variables of its pattern.
fn finish(case: &CaseModel<'_>) -> TokenStream {
    let pattern = case.pattern();
    let keep = case.kept.as_ref().map(|_| {
        let kept = kept();
        quote!(let #kept = discriminator;)
    });
    quote!(#keep ::core::result::Result::Ok(#pattern))
}

/// Reads a new value of a case.
fn make(model: &Model<'_>, case: &CaseModel<'_>, cdr: &TokenStream) -> TokenStream {
    let (read, finish) = (read_new(model, case, cdr), finish(case));
    quote!(#read #finish)
}

/// Decodes the member of a case into a new variable.
fn read_new(model: &Model<'_>, case: &CaseModel<'_>, cdr: &TokenStream) -> TokenStream {
    let place = value();
    let Some(member) = case.member.as_ref().map(|member| &member.member) else {
        return match model.extensibility() {
            ExtensibilityAttribute::Mutable => quote!(d.no_selected_member()?;),
            _ => TokenStream::new(),
        };
    };
    if model.extensibility() != ExtensibilityAttribute::Mutable {
        let read = decode::value(model, member, cdr);
        return quote!(let #place = #read;);
    }
    let (id, missing) = (member.id, decode::missing_value(member, cdr));
    let read = decode::value(model, member, cdr);
    quote! {
        let selected = d.selected_member(#id, |d| {
            let value = #read;
            ::core::result::Result::Ok(value)
        })?;
        let #place = match selected {
            ::core::option::Option::Some(value) => value,
            ::core::option::Option::None => #missing,
        };
    }
}

/// Decodes a case into the existing value if that is of the same case.
fn fill(model: &Model<'_>, case: &CaseModel<'_>, cdr: &TokenStream) -> TokenStream {
    let (place, pattern, read_new) = (value(), case.pattern(), read_new(model, case, cdr));
    let keep_new = case.kept.as_ref().map(|_| {
        let kept = kept();
        quote!(let #kept = discriminator;)
    });
    let fresh = quote!(#read_new #keep_new *self = #pattern;);
    let Some(member) = case.member.as_ref().map(|member| &member.member) else {
        return quote!(#fresh ::core::result::Result::Ok(()));
    };
    let (id, missing) = (member.id, decode::missing_value(member, cdr));
    let read = match model.extensibility() {
        ExtensibilityAttribute::Appendable => decode::read_into(member, cdr, &quote!(member_into), &quote!(#place)),
        _ => decode::read_into(member, cdr, &quote!(decode_into), &quote!(#place)),
    };
    let read = quote!(#read?;);
    let context = quote!(*#place);
    // In parentheses: methods are called on it.
    let check = decode::check(member, cdr, &quote!((#context))).map(|check| member.locate(check));
    let read = member.locate(read);
    let read = decode::or_default(model, member, cdr, &context, &quote!(#read #check));
    let read = match model.extensibility() {
        ExtensibilityAttribute::Mutable => quote! {
            let selected = d.selected_member(#id, |d| {
                #read
                ::core::result::Result::Ok(())
            })?;
            if selected.is_none() {
                #context = #missing;
            }
        },
        _ => read,
    };
    let keep = case.kept.as_ref().map(|_| {
        let kept = kept();
        quote!(*#kept = discriminator;)
    });
    quote! {
        if let #pattern = self {
            #read
            #keep
        } else {
            #fresh
        }
        ::core::result::Result::Ok(())
    }
}

/// A case whose member is absent.
fn missing(case: &CaseModel<'_>, cdr: &TokenStream) -> TokenStream {
    let (place, finish) = (value(), finish(case));
    let value = case.member.as_ref().map(|member| {
        let missing = decode::missing_value(&member.member, cdr);
        quote!(let #place = #missing;)
    });
    quote!(#value #finish)
}

fn keys(model: &Model<'_>, union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    if model.has_key() {
        let (keyed, member) = (keyed(model, union, context), key::member_of_keyed(context));
        return quote!(#keyed #member);
    }
    // The derive does not know the owned form of a type that borrows. A member whose value may differ from the
    // writer's cannot identify an instance.
    let is_sent = union.members().all(|member| member.try_construct() == TryConstructAttribute::Discard);
    let is_whole = model.lifetimes == 0 && is_sent && !model.defaults_discriminator();
    if is_whole { whole(union, context) } else { TokenStream::new() }
}

fn keyed(model: &Model<'_>, union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    let (cdr, ty) = (&context.cdr, &union.discriminator);
    let extensibility = context.extensibility(model);
    let write = write_discriminator(model, union, cdr, &quote!(*key));
    let write = framed(model, &quote!(e), &quote!(#write ::core::result::Result::Ok(())));
    let read = match model.extensibility() {
        ExtensibilityAttribute::Mutable => quote! {
            let key = d.discriminator()?;
            d.no_selected_member()?;
            ::core::result::Result::Ok(key)
        },
        _ => framed(model, &quote!(d), &quote!(#cdr::Decode::decode(d))),
    };
    let body = quote! {
        type Key = #ty;
        const EXTENSIBILITY: ::core::option::Option<#cdr::Extensibility> =
            ::core::option::Option::Some(#extensibility);

        fn key(&self) -> Self::Key {
            #cdr::Union::discriminator(self)
        }

        fn encode_key_value(
            key: &Self::Key,
            e: &mut #cdr::Encoder<'_>,
        ) -> ::core::result::Result<(), #cdr::EncodeError> {
            #write
        }

        fn decode_key_value(d: &mut #cdr::Decoder<'_>) -> ::core::result::Result<Self::Key, #cdr::DecodeError> {
            #read
        }
    };
    context.implement(&quote!(#cdr::Keyed), &body)
}

/// `KeyMember` of a union without a key: inside another key, the whole union counts.
fn whole(union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    let (cdr, ty) = (&context.cdr, &context.ty);
    let types = union.members().map(|member| member.ty);
    let arms = union.cases.iter().map(|case| {
        let pattern = case.pattern();
        let copies = [case.member.as_ref().map(|_| value()), case.kept.as_ref().map(|_| kept())];
        let copies = copies.into_iter().flatten().map(|place| quote!(let #place = #cdr::WholeKey::copy_key(#place);));
        quote!(#pattern => { #(#copies)* #pattern })
    });
    let member = key::member_as_whole(context);
    quote! {
        #[automatically_derived]
        impl<'k> #cdr::WholeKey<'k> for #ty
        where
            #(#types: #cdr::WholeKey<'k>),*
        {
            fn copy_key(&self) -> Self {
                match self { #(#arms)* }
            }
        }
        #member
    }
}
