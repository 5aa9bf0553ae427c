//! Model of unions, which are enums with data, and their checks.

use crate::ast::{MemberModel, Model, id_of, is_option, last_segment, name_of};
use crate::attr::{CaseFieldAttributes, Discriminator, ExtensibilityAttribute, TypeAttributes, VariantAttributes};
use crate::check::{Errors, check_member, number, one_default, unique_ids, unique_names};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DataEnum, Expr, Fields, Type, Variant};

pub(crate) struct UnionModel<'a> {
    /// The type of the discriminator.
    pub(crate) discriminator: TokenStream,
    pub(crate) is_octet: bool,
    /// Whether the discriminator is written as an integer type: each value is possible.
    pub(crate) is_of_integer: bool,
    /// Whether it is a `Char16` or a bitmask, which are structs around their number.
    pub(crate) is_wrapped: bool,
    pub(crate) cases: Vec<CaseModel<'a>>,
}

/// A variant: the labels that select it, and its member.
pub(crate) struct CaseModel<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) name: String,
    pub(crate) labels: Vec<Label>,
    pub(crate) default: Option<Span>,
    pub(crate) member: Option<CaseMemberModel<'a>>,
    /// The field that stores the discriminator.
    pub(crate) kept: Option<TokenStream>,
}

pub(crate) struct CaseMemberModel<'a> {
    /// The field in a pattern: a name or an index.
    pub(crate) field: TokenStream,
    pub(crate) member: MemberModel<'a>,
}

/// A value of the discriminator.
pub(crate) struct Label {
    /// Its expression, which also serves as a pattern.
    pub(crate) tokens: TokenStream,
    /// Its value, if it is an integer literal.
    number: Option<i128>,
}

impl<'a> UnionModel<'a> {
    /// Whether an enum is a union: a variant has data, or `discriminator` is given.
    pub(crate) fn is_one(data: &DataEnum, attributes: &TypeAttributes) -> bool {
        if attributes.discriminator.is_some() {
            return true;
        }
        // One case with data is enough, as with an enum of Rust.
        for variant in &data.variants {
            if !variant.fields.is_empty() {
                return true;
            }
        }
        false
    }

    pub(crate) fn of(data: &'a DataEnum, attributes: &TypeAttributes, errors: &mut Errors) -> Self {
        // A union of IDL always names its discriminator. For an enum with data alone it is `long`.
        let (mut discriminator, mut is_octet) = (quote!(::core::primitive::i32), false);
        let (mut counts, mut is_wrapped) = (true, false);
        if let Some(given) = &attributes.discriminator {
            discriminator = given.ty.to_token_stream();
            is_octet = given.is_octet;
            counts = is_integer(&given.ty);
            is_wrapped = given.is_bitmask || last_segment(&given.ty).is_some_and(|name| name == "Char16");
        }
        // The discriminator is member 0.
        let (mut next_id, mut next_label) = (1, Some(0));
        let mut cases = Vec::new();
        for variant in &data.variants {
            let written = VariantAttributes::of(&variant.attrs, true, errors);
            let next = if counts { Some(&mut next_label) } else { None };
            let labels = labels_of(variant, &written, next, errors);
            let name = name_of(&variant.ident, &written.member);
            let fields = fields_of(variant, errors);
            let mut member = None;
            if let Some((field, ty)) = fields.member {
                let id = id_of(&name, &written.member, attributes.autoid.unwrap_or_default(), next_id);
                next_id = id.saturating_add(1);
                let (ident, name) = (&variant.ident, name.clone());
                let attributes = written.member;
                let described = MemberModel { ident, ty, id, counts_from: None, name, is_optional: false, attributes };
                member = Some(CaseMemberModel { field, member: described });
            }
            let (ident, default, kept) = (&variant.ident, written.default, fields.discriminator);
            cases.push(CaseModel { ident, name, labels, default, member, kept });
        }
        Self { discriminator, is_octet, is_of_integer: counts, is_wrapped, cases }
    }

    /// A value of the discriminator as a number.
    pub(crate) fn number(&self, value: &TokenStream) -> TokenStream {
        if self.is_wrapped { quote!(#value.0 as i64) } else { quote!(#value as i64) }
    }

    pub(crate) fn has_default(&self) -> bool {
        self.cases.iter().any(|case| case.default.is_some())
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = &MemberModel<'a>> {
        self.cases.iter().filter_map(CaseModel::member)
    }
}

impl<'a> CaseModel<'a> {
    /// The member that the case selects.
    pub(crate) fn member(&self) -> Option<&MemberModel<'a>> {
        let CaseMemberModel { member, .. } = self.member.as_ref()?;
        Some(member)
    }

    /// A pattern of the variant, which is also an expression that creates it.
    ///
    /// It binds the member to `value` and the stored discriminator to `kept`.
    pub(crate) fn pattern(&self) -> TokenStream {
        let ident = self.ident;
        let value = self.value_field();
        let mut stored = TokenStream::new();
        if let Some(field) = &self.kept {
            let kept = kept();
            stored = quote!(#field: #kept,);
        }
        quote!(Self::#ident { #value #stored })
    }

    /// A pattern of the variant that binds only the member.
    pub(crate) fn pattern_of_value(&self) -> TokenStream {
        let ident = self.ident;
        let value = self.value_field();
        quote!(Self::#ident { #value .. })
    }

    fn value_field(&self) -> Option<TokenStream> {
        let CaseMemberModel { field, .. } = self.member.as_ref()?;
        let value = value();
        Some(quote!(#field: #value,))
    }
}

/// The variable for the member of a case. It is invisible to expressions from attributes.
pub(crate) fn value() -> Ident {
    format_ident!("value", span = Span::mixed_site())
}

/// The variable for the discriminator that a case stores.
pub(crate) fn kept() -> Ident {
    format_ident!("kept", span = Span::mixed_site())
}

/// The labels of a variant.
///
/// `next` is the number after the preceding label; it is absent if the discriminator is not an integer.
fn labels_of(
    variant: &Variant,
    written: &VariantAttributes,
    next: Option<&mut Option<i128>>,
    errors: &mut Errors,
) -> Vec<Label> {
    let discriminant = variant.discriminant.as_ref().map(|(_, value)| value);
    // Both would give the case a number, and Rust itself uses only one of them.
    if let (Some(discriminant), Some(_)) = (discriminant, &written.cases) {
        errors.at(discriminant, "expected a discriminant or `case`, found both");
    }
    if let (Some(discriminant), None) = (discriminant, &next) {
        errors.at(discriminant, "expected `#[dds(case = ..)]`: only integer discriminators have discriminants");
        return Vec::new();
    }
    let labels: Vec<Label> = match (&written.cases, discriminant) {
        (Some(cases), _) => cases.iter().map(Label::of).collect(),
        (None, Some(discriminant)) => vec![Label::of(discriminant)],
        // A default case without labels selects no number, so the count goes on as if it were not there.
        (None, None) if written.default.is_some() => return Vec::new(),
        (None, None) => match next.as_deref() {
            Some(&Some(number)) => vec![Label::of_number(number, variant.ident.span())],
            Some(None) => {
                let message = "expected `#[dds(case = ..)]`: the preceding label is not an integer literal";
                errors.at(&variant.ident, message);
                Vec::new()
            }
            None => {
                errors.at(&variant.ident, "expected `#[dds(case = ..)]`: this discriminator is not an integer");
                Vec::new()
            }
        },
    };
    if let Some(next) = next {
        // As in an enum of Rust, the next label follows the last one, if the macro can read that.
        let last = labels.last().and_then(|label| label.number);
        *next = last.and_then(|number| number.checked_add(1));
    }
    labels
}

/// The fields of a variant: each is a name or an index.
struct CaseFields<'a> {
    member: Option<(TokenStream, &'a Type)>,
    /// The field that stores the discriminator.
    discriminator: Option<TokenStream>,
}

fn fields_of<'a>(variant: &'a Variant, errors: &mut Errors) -> CaseFields<'a> {
    let (mut member, mut kept) = (None, None);
    for (index, field) in variant.fields.iter().enumerate() {
        let name = match &field.ident {
            Some(ident) => ident.to_token_stream(),
            None => Literal::usize_unsuffixed(index).into_token_stream(),
        };
        let is_discriminator = CaseFieldAttributes::of(&field.attrs, errors).discriminator.is_some();
        let is_second =
            if is_discriminator { kept.replace(name).is_some() } else { member.replace((name, &field.ty)).is_some() };
        if is_second {
            errors.at(field, "expected at most one member and one discriminator: use a struct for several members");
            break;
        }
        // A member of a union cannot be optional: the discriminator already says whether it is there.
        if !is_discriminator && is_option(&field.ty) {
            errors.at(&field.ty, "expected a member that is always present: use a case without data instead");
        }
    }
    if let (Fields::Unnamed(fields), true) = (&variant.fields, variant.fields.is_empty()) {
        errors.at(fields, "expected no parentheses: the case has no data");
    }
    CaseFields { member, discriminator: kept }
}

impl Label {
    fn of(value: &Expr) -> Self {
        Self { tokens: value.to_token_stream(), number: number(value) }
    }

    fn of_number(number: i128, span: Span) -> Self {
        let sign = if number < 0 { quote!(-) } else { TokenStream::new() };
        let mut digits = Literal::u128_unsuffixed(number.unsigned_abs());
        digits.set_span(span);
        Self { tokens: quote_spanned!(span=> #sign #digits), number: Some(number) }
    }
}

/// Whether a type is written as an integer.
fn is_integer(ty: &Type) -> bool {
    let names = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
    is_one_of(ty, &names)
}

/// Whether the last segment of the path is one of the names. An alias hides the type from the macro.
fn is_one_of(ty: &Type, names: &[&str]) -> bool {
    let Some(ident) = last_segment(ty) else { return false };
    names.contains(&ident.to_string().as_str())
}

pub(crate) fn check(model: &Model<'_>, union: &UnionModel<'_>, errors: &mut Errors) {
    for member in union.members() {
        check_member(member, errors);
    }
    unique_ids(union.members(), errors);
    unique_names(union.cases.iter().map(|case| (&*case.name, case.ident)), "case", errors);
    if union.cases.is_empty() {
        errors.at(model.ident, "expected at least one case");
    }
    one_default(union.cases.iter().filter_map(|case| case.default), "case", errors);
    // Only mutable unions send ids. Others may use 0, because Cyclone DDS up to 11.0 counts from 0.
    if model.attributes.extensibility == Some(ExtensibilityAttribute::Mutable) {
        for member in union.members() {
            if member.id == 0 {
                let place = match member.attributes.id {
                    Some((_, span)) => span,
                    // The hash of its name is 0.
                    None => member.ident.span(),
                };
                errors.add(syn::Error::new(place, "member id 0 is already used by the discriminator"));
            }
        }
    }
    let mut seen: Vec<i128> = Vec::new();
    for case in &union.cases {
        for label in &case.labels {
            // The macro knows the values of integer literals only.
            let Some(number) = label.number else { continue };
            if seen.contains(&number) {
                let message = format!("label {number} already selects another case");
                errors.add(syn::Error::new(label.tokens.span(), message));
            }
            seen.push(number);
        }
    }
    if let Some(Discriminator { ty, .. }) = &model.attributes.discriminator {
        // The macro cannot know whether another type is an enum. The trait bounds of the generated code check that.
        if is_one_of(ty, &["f32", "f64", "String"]) {
            errors.at(ty, "expected an integer, a `bool`, a `char`, a `Char16`, an enum or a bitmask");
        }
        let counts = is_integer(ty);
        for case in &union.cases {
            let Some(default) = case.default else { continue };
            if !counts && case.labels.is_empty() && case.kept.is_none() {
                let message = "expected `#[dds(default, case = ..)]`: the writer sends this value";
                errors.add(syn::Error::new(default, message));
            }
        }
    }
}
