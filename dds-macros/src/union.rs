//! Unions: enums with data. What is written of the cases, as a model, and what can be wrong with it.

use crate::ast::{Member, Model, id_of, is_option, last_segment, name_of};
use crate::attr::{CaseFieldAttributes, Extensibility, TypeAttributes, VariantAttributes};
use crate::check::{Errors, check_member, number, unique, unique_ids};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DataEnum, Expr, Fields, Type, Variant};

pub(crate) struct Union<'a> {
    /// The type of the discriminator.
    pub(crate) discriminator: TokenStream,
    pub(crate) is_octet: bool,
    /// Whether the discriminator is written as an integer, all of whose values it can have.
    pub(crate) is_of_integer: bool,
    /// Whether it is written as `Char16`, whose number is a field of it.
    pub(crate) is_wide: bool,
    pub(crate) cases: Vec<Case<'a>>,
}

/// A variant: what selects it, and its member, if it has one.
pub(crate) struct Case<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) name: String,
    pub(crate) labels: Vec<Label>,
    pub(crate) default: Option<Span>,
    pub(crate) member: Option<CaseMember<'a>>,
    /// The field that keeps the discriminator.
    pub(crate) kept: Option<TokenStream>,
}

pub(crate) struct CaseMember<'a> {
    /// What the field is called in a pattern: a name, or an index.
    pub(crate) field: TokenStream,
    pub(crate) member: Member<'a>,
}

/// A value of the discriminator.
pub(crate) struct Label {
    /// As an expression, and as a pattern.
    pub(crate) tokens: TokenStream,
    /// What it is, if it is written as a number.
    number: Option<i128>,
}

impl<'a> Union<'a> {
    /// Whether an enum is a union: one of its variants has data, or a discriminator is named.
    pub(crate) fn is_one(data: &DataEnum, attributes: &TypeAttributes) -> bool {
        attributes.discriminator.is_some() || data.variants.iter().any(|variant| !variant.fields.is_empty())
    }

    pub(crate) fn of(data: &'a DataEnum, attributes: &TypeAttributes, errors: &mut Errors) -> Self {
        let (discriminator, is_octet) = match &attributes.discriminator {
            Some(discriminator) => (discriminator.ty.to_token_stream(), discriminator.is_octet),
            None => (quote!(::core::primitive::i32), false),
        };
        let counts = attributes.discriminator.as_ref().is_none_or(|discriminator| is_integer(&discriminator.ty));
        // The discriminator is member 0.
        let (mut next_id, mut next_label) = (1, Some(0));
        let case = |variant: &'a Variant| {
            let written = VariantAttributes::of(&variant.attrs, true, errors);
            let labels = labels_of(variant, &written, counts.then_some(&mut next_label), errors);
            let name = name_of(&variant.ident, &written.member);
            let (place, kept) = fields_of(variant, errors);
            let member = place.map(|(field, ty)| {
                let id = id_of(&name, &written.member, attributes.autoid.unwrap_or_default(), next_id);
                next_id = id.saturating_add(1);
                let (ident, name) = (&variant.ident, name.clone());
                CaseMember {
                    field,
                    member: Member {
                        ident,
                        ty,
                        id,
                        counts_from: None,
                        name,
                        is_optional: false,
                        attributes: written.member,
                    },
                }
            });
            Case { ident: &variant.ident, name, labels, default: written.default, member, kept }
        };
        let cases = data.variants.iter().map(case).collect();
        let ty = attributes.discriminator.as_ref().map(|discriminator| &discriminator.ty);
        let is_wide = ty.and_then(last_segment).is_some_and(|name| name == "Char16");
        Self { discriminator, is_octet, is_of_integer: counts, is_wide, cases }
    }

    /// A value of the discriminator as a number.
    pub(crate) fn number(&self, value: &TokenStream) -> TokenStream {
        if self.is_wide { quote!(#value.0 as i64) } else { quote!(#value as i64) }
    }

    pub(crate) fn has_default(&self) -> bool {
        self.cases.iter().any(|case| case.default.is_some())
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = &Member<'a>> {
        self.cases.iter().filter_map(|case| case.member.as_ref().map(|member| &member.member))
    }
}

impl Case<'_> {
    /// A pattern of the variant that binds its member to `value` and the discriminator that it keeps to `kept`. As an
    /// expression it makes the variant of those.
    pub(crate) fn pattern(&self) -> TokenStream {
        let ident = self.ident;
        let value = self.member.as_ref().map(|CaseMember { field, .. }| {
            let value = value();
            quote!(#field: #value,)
        });
        let kept = self.kept.as_ref().map(|field| {
            let kept = kept();
            quote!(#field: #kept,)
        });
        quote!(Self::#ident { #value #kept })
    }

    /// The same, with the member only.
    pub(crate) fn pattern_of_value(&self) -> TokenStream {
        let ident = self.ident;
        let value = self.member.as_ref().map(|CaseMember { field, .. }| {
            let value = value();
            quote!(#field: #value,)
        });
        quote!(Self::#ident { #value .. })
    }
}

/// The variable for the member of a case. Expressions of the user do not see it.
pub(crate) fn value() -> Ident {
    format_ident!("value", span = Span::mixed_site())
}

/// The variable for the discriminator that a case keeps.
pub(crate) fn kept() -> Ident {
    format_ident!("kept", span = Span::mixed_site())
}

/// What selects the variant; `next` is the number that follows the one before, where variants are numbered.
fn labels_of(
    variant: &Variant,
    written: &VariantAttributes,
    next: Option<&mut Option<i128>>,
    errors: &mut Errors,
) -> Vec<Label> {
    let discriminant = variant.discriminant.as_ref().map(|(_, value)| value);
    if let (Some(discriminant), Some(_)) = (discriminant, &written.cases) {
        errors.at(discriminant, "this number and `case` say the same: leave one of them");
    }
    if let (Some(discriminant), None) = (discriminant, &next) {
        errors.at(discriminant, "only integers are written so: say `#[dds(case = ..)]`");
        return Vec::new();
    }
    let labels: Vec<Label> = match (&written.cases, discriminant) {
        (Some(cases), _) => cases.iter().map(Label::of).collect(),
        (None, Some(discriminant)) => vec![Label::of(discriminant)],
        (None, None) if written.default.is_some() => return Vec::new(),
        (None, None) => match next.as_ref().map(|next| **next) {
            Some(Some(number)) => vec![Label::of_number(number, variant.ident.span())],
            Some(None) => {
                let message = "the number of the variant before is not known here: say `#[dds(case = ..)]`";
                errors.at(&variant.ident, message);
                Vec::new()
            }
            None => {
                errors
                    .at(&variant.ident, "of this discriminator say which value selects the case: `#[dds(case = ..)]`");
                Vec::new()
            }
        },
    };
    if let Some(next) = next {
        *next = labels.last().and_then(|label| label.number).map(|number| number + 1);
    }
    labels
}

type Place<'a> = (TokenStream, &'a Type);

/// The field of the member, and that which keeps the discriminator.
fn fields_of<'a>(variant: &'a Variant, errors: &mut Errors) -> (Option<Place<'a>>, Option<TokenStream>) {
    let (mut member, mut kept) = (None, None);
    for (index, field) in variant.fields.iter().enumerate() {
        let name = match &field.ident {
            Some(ident) => ident.to_token_stream(),
            None => Literal::usize_unsuffixed(index).into_token_stream(),
        };
        let is_discriminator = CaseFieldAttributes::of(&field.attrs, errors).discriminator.is_some();
        let is_second = match is_discriminator {
            true => kept.replace(name).is_some(),
            false => member.replace((name, &field.ty)).is_some(),
        };
        if is_second {
            errors.at(field, "a case of a union has one member: make a struct of these, and use that");
            break;
        }
        if !is_discriminator && is_option(&field.ty) {
            errors.at(&field.ty, "the member of a union cannot be optional: make a case without data");
        }
    }
    if let (Fields::Unnamed(fields), true) = (&variant.fields, variant.fields.is_empty()) {
        errors.at(fields, "a case without data is written without parentheses");
    }
    (member, kept)
}

impl Label {
    fn of(value: &Expr) -> Self {
        Self { tokens: value.to_token_stream(), number: number(value) }
    }

    fn of_number(number: i128, span: Span) -> Self {
        let (sign, mut digits) = ((number < 0).then(|| quote!(-)), Literal::u128_unsuffixed(number.unsigned_abs()));
        digits.set_span(span);
        Self { tokens: quote_spanned!(span=> #sign #digits), number: Some(number) }
    }
}

/// Whether a type is written as an integer.
fn is_integer(ty: &Type) -> bool {
    let names = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
    last_segment(ty).is_some_and(|name| names.iter().any(|integer| name == integer))
}

pub(crate) fn check(model: &Model<'_>, union: &Union<'_>, errors: &mut Errors) {
    union.members().for_each(|member| check_member(member, errors));
    unique_ids(union.members(), errors);
    unique(union.cases.iter().map(|case| (case.name.clone(), case.ident)), "case", errors);
    if union.cases.is_empty() {
        errors.at(model.ident, "a union needs at least one case");
    }
    let mut defaults = union.cases.iter().filter_map(|case| case.default);
    if let (Some(_), Some(second)) = (defaults.next(), defaults.next()) {
        errors.add(syn::Error::new(second, "a union has one default case at most"));
    }
    // Elsewhere no id is sent, and Cyclone DDS counts from 0 up to its version 11.0.
    let sends_ids = model.attributes.extensibility == Some(Extensibility::Mutable);
    for member in union.members().filter(|member| sends_ids && member.id == 0) {
        let place = member.attributes.id.map_or_else(|| member.ident.span(), |(_, span)| span);
        errors.add(syn::Error::new(place, "id 0 is that of the discriminator"));
    }
    let mut seen: Vec<i128> = Vec::new();
    for label in union.cases.iter().flat_map(|case| &case.labels) {
        let Some(number) = label.number else { continue };
        if seen.contains(&number) {
            errors.add(syn::Error::new(label.tokens.span(), format!("{number} selects another case already")));
        }
        seen.push(number);
    }
    if let Some(ty) = model.attributes.discriminator.as_ref().map(|discriminator| &discriminator.ty) {
        if last_segment(ty).is_some_and(|name| ["f32", "f64", "String"].iter().any(|other| name == other)) {
            errors.at(ty, "a discriminator is an integer, a `bool`, a `char`, a `Char16` or an enum");
        }
        let counts = is_integer(ty);
        for case in &union.cases {
            if let (Some(default), true, false) = (case.default, case.labels.is_empty() && case.kept.is_none(), counts)
            {
                let message = "say which value it is sent with: `#[dds(default, case = ..)]`";
                errors.add(syn::Error::new(default, message));
            }
        }
    }
}
