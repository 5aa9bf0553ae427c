//! Unions: the discriminator, then the member that it selects.

use super::{ImplContext, decode, framed, marker, type_info, union_key, when};
use crate::ast::{MemberModel, Model};
use crate::attr::ExtensibilityAttribute;
use crate::union::{CaseModel, Label, UnionModel, kept, value};
use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn expand(model: &Model<'_>, union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    [
        description(model, union, context),
        discriminator(union, context),
        encode(model, union, context),
        decode(model, union, context),
        union_key::expand(model, union, context),
        marker::expand(model, context),
    ]
    .into_iter()
    .collect()
}

fn description(model: &Model<'_>, union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let (mut cases, mut tried) = (TokenStream::new(), TokenStream::new());
    for case in &union.cases {
        let (name, labels) = (&case.name, numbers(union, &case.labels));
        let default = when(case.default.is_some(), quote!(.or_default()));
        // A case without a member describes nothing, and its id is not used.
        let (mut id, mut described, mut marks) = (0, TokenStream::new(), TokenStream::new());
        if let Some(member) = case.member() {
            let description = type_info::of_member(member, cdr);
            id = member.id;
            described = quote!(.member(|| #description));
            marks.extend(type_info::hash_id(member));
            marks.extend(when(member.attributes.external.is_some(), quote!(.external())));
            marks.extend(type_info::try_construct(member, cdr));
            tried.extend(type_info::must_be_tried(member, cdr));
        }
        cases.extend(quote!(#cdr::UnionCase::new(#name, #id, { const LABELS: &[i64] = &#labels; LABELS })
            #described #default #marks,));
    }
    let ty = &union.discriminator;
    let described = match union.is_octet {
        true => quote!(<#cdr::Octet as #cdr::TypeInfo>::DESCRIPTION),
        false => quote!(<#ty as #cdr::TypeInfo>::DESCRIPTION),
    };
    let has_key = model.has_key();
    let keyed = when(has_key, quote!(.keyed()));
    let or_default = when(model.defaults_discriminator(), quote!(.or_default()));
    let type_name = type_info::name(model, cdr);
    let (extensibility, marks) = (context.extensibility(model), type_info::marks(model));
    let body = quote! {
        const TYPE_NAME: &'static str = #type_name;
        const HAS_KEY: bool = #has_key;
        const DESCRIPTION: &'static #cdr::TypeDescription = {
            const CASES: &[#cdr::UnionCase] = &[#cases];
            &#cdr::TypeDescription::of_union(
                Self::TYPE_NAME,
                #cdr::UnionDescription::new(#extensibility, || #described, CASES) #keyed #or_default,
            ) #marks
        };
    };
    let implemented = context.implement(&quote!(#cdr::TypeInfo), &body);
    quote!(#implemented #tried)
}

/// The labels of some cases, as an array of numbers.
fn numbers<'a>(union: &UnionModel<'_>, labels: impl IntoIterator<Item = &'a Label>) -> TokenStream {
    let ty = &union.discriminator;
    let labels = labels.into_iter().map(|label| &label.tokens);
    let number = union.number(&quote!(label));
    // The binding gives an integer literal the type of the discriminator before the cast.
    quote!([#({ let label: #ty = #labels; #number }),*])
}

/// The discriminator of a case that does not store one: its first label, or a number that is not a label.
pub(super) fn written_label(union: &UnionModel<'_>, case: &CaseModel<'_>, cdr: &TokenStream) -> TokenStream {
    let ty = &union.discriminator;
    if let Some(Label { tokens, .. }) = case.labels.first() {
        return quote!({ let label: #ty = #tokens; label });
    }
    // `union::check` demands a label of each default case whose discriminator is not an integer.
    debug_assert!(union.is_of_integer || case.kept.is_some(), "`{}` has no label to send", case.ident);
    let labels = numbers(union, union.cases.iter().flat_map(|case| &case.labels));
    quote!(const { #cdr::unused_label(&#labels) as #ty })
}

fn discriminator(union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    let (cdr, ty) = (&context.cdr, &union.discriminator);
    let mut arms = TokenStream::new();
    for case in &union.cases {
        let ident = case.ident;
        arms.extend(match &case.kept {
            // The value that was received or chosen, of several labels.
            Some(field) => {
                let kept = kept();
                quote!(Self::#ident { #field: #kept, .. } => #cdr::WholeKey::copy_key(#kept),)
            }
            None => {
                let label = written_label(union, case, cdr);
                quote!(Self::#ident { .. } => #label,)
            }
        });
    }
    let body = quote! {
        type Discriminator = #ty;

        fn discriminator(&self) -> #ty {
            match self { #arms }
        }
    };
    context.implement(&quote!(#cdr::Union), &body)
}

fn encode(model: &Model<'_>, union: &UnionModel<'_>, context: &ImplContext) -> TokenStream {
    let cdr = &context.cdr;
    let whole = write(model, union, cdr, &quote!(encode));
    let whole = framed(model, &quote!(e), &quote!(#whole ::core::result::Result::Ok(())));
    // Without a key of its own, a union counts as a whole in the key of another type.
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
pub(super) fn write_discriminator(
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
    let write_discriminator = write_discriminator(model, union, cdr, &quote!(discriminator));
    let (mut checks, mut arms) = (TokenStream::new(), TokenStream::new());
    for case in &union.cases {
        checks.extend(check_kept(union, case, (&quote!(self), &quote!(Self)), cdr));
        let pattern = case.pattern_of_value();
        let mut write = TokenStream::new();
        if let Some(member) = case.member() {
            let value = value();
            let encode = match member.as_owned(cdr) {
                Some(owned) if method.to_string() == "encode" => quote!(#owned::write_value(#value, e)),
                Some(owned) => quote!(#owned::write_key(#value, e)),
                None => quote!(#cdr::Encode::#method(#value, e)),
            };
            write = write_member(model, member, cdr, &encode);
        }
        arms.extend(quote!(#pattern => { #write }));
    }
    quote! {
        let discriminator = #cdr::Union::discriminator(self);
        #checks
        #write_discriminator
        match self { #arms }
    }
}

/// Refuses a stored discriminator that selects another case: a reader would decode that one.
///
/// `place` is the expression of the value, and `path` the path of its enum.
pub(super) fn check_kept(
    union: &UnionModel<'_>,
    case: &CaseModel<'_>,
    (place, path): (&TokenStream, &TokenStream),
    cdr: &TokenStream,
) -> Option<TokenStream> {
    case.kept.as_ref()?;
    let is_default = case.default.is_some();
    // A default case may store any discriminator that no other case has. Other cases store one of their own labels.
    let mut labels = Vec::new();
    for other in &union.cases {
        if (other.ident == case.ident) != is_default {
            labels.extend(other.labels.iter().map(|label| &label.tokens));
        }
    }
    // Without other cases, the default case may store any value.
    if labels.is_empty() {
        return None;
    }
    let (ident, is_listed) = (case.ident, quote!(::core::matches!(discriminator, #(#labels)|*)));
    let number = union.number(&quote!(discriminator));
    let is_other = if is_default { is_listed } else { quote!(!#is_listed) };
    Some(quote! {
        #[allow(clippy::manual_range_patterns, reason = "labels may be neighbors by chance")]
        let is_other = #is_other;
        if ::core::matches!(#place, #path::#ident { .. }) && is_other {
            return ::core::result::Result::Err(#cdr::EncodeError::other_case(#number));
        }
    })
}

/// The statement that writes the selected member; `write` writes its value or its key.
pub(super) fn write_member(
    model: &Model<'_>,
    member: &MemberModel<'_>,
    cdr: &TokenStream,
    write: &TokenStream,
) -> TokenStream {
    let (value, id) = (value(), member.id);
    let mut check = TokenStream::new();
    if let Some(bound) = member.bound() {
        check = quote!(e.check_bound(#value.len(), #bound)?;);
    }
    let code = member.constant(&quote!(Encode), &quote!(LENGTH_CODE), cdr);
    let write = match model.extensibility() {
        ExtensibilityAttribute::Mutable => quote!(e.member(#id, false, #code, |e| #write)?;),
        _ => quote!(#write?;),
    };
    member.locate(quote!(#check #write))
}

/// A `match` over the discriminator.
///
/// `body` returns the code of a selected case. `otherwise` is the code for a discriminator that selects no case.
fn selected(
    union: &UnionModel<'_>,
    body: impl Fn(&CaseModel<'_>) -> TokenStream,
    otherwise: &TokenStream,
) -> TokenStream {
    let mut arms = TokenStream::new();
    let mut otherwise = otherwise.clone();
    for case in &union.cases {
        // The labels of the default case need no arm: `_` covers them and all other values.
        if case.default.is_some() {
            otherwise = body(case);
            continue;
        }
        debug_assert!(!case.labels.is_empty(), "`labels_of` reports `{}`, which has no label", case.ident);
        let (labels, body) = (case.labels.iter().map(|label| &label.tokens), body(case));
        arms.extend(quote!(#(#labels)|* => { #body }));
    }
    quote! {
        match discriminator {
            #arms
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
    debug_assert!(!union.cases.is_empty(), "`union::check` rejects a union without cases");
    // If the default of the discriminator selects no case, the first case is the default of the union.
    let mut first = TokenStream::new();
    if let Some(case) = union.cases.first() {
        let (label, missing) = (written_label(union, case, cdr), missing(case, cdr));
        first = quote!(let discriminator: #ty = #label; #missing);
    }
    let missing = selected(union, |case| missing(case, cdr), &first);
    let missing = quote!(let discriminator: #ty = #cdr::Decode::missing(d)?; #missing);
    decode::implement(model, context, &made, &filled, &missing)
}

/// Reads the discriminator and then the selected case with the code of `case`.
///
/// `settle` turns `value`, the default of the union, into the result. It is used if the discriminator selects no case
/// and the union has `try_construct`.
pub(super) fn read(
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
    let pass = when(is_mutable, quote!(d.pass_members()?;));
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

/// Keeps the discriminator of a new value, if the case stores it.
fn keep_new(case: &CaseModel<'_>) -> TokenStream {
    let kept = kept();
    when(case.kept.is_some(), quote!(let #kept = discriminator;))
}

/// Creates the variant from the variables of its pattern.
fn finish(case: &CaseModel<'_>) -> TokenStream {
    let pattern = case.pattern();
    let keep = keep_new(case);
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
    let Some(member) = case.member() else {
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
    let keep_new = keep_new(case);
    let fresh = quote!(#read_new #keep_new *self = #pattern;);
    // Nothing to reuse.
    let Some(member) = case.member() else {
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
    let check = member.locate(decode::check(member, cdr, &quote!((#context))).unwrap_or_default());
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
    let kept = kept();
    // Two discriminators may select this case, so the stored one is replaced even if the case stays.
    let keep = when(case.kept.is_some(), quote!(*#kept = discriminator;));
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
    let mut value = TokenStream::new();
    if let Some(member) = case.member() {
        let missing = decode::missing_value(member, cdr);
        value = quote!(let #place = #missing;);
    }
    quote!(#value #finish)
}
