//! Parsed `#[dds(...)]` attributes with their source positions.

use crate::check::Errors;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprArray, GenericArgument, Ident, LitInt, LitStr, Path, PathArguments, Token, Type};

/// Attributes of a type.
#[derive(Default)]
pub(crate) struct TypeAttributes {
    pub(crate) name: Option<LitStr>,
    pub(crate) extensibility: Option<ExtensibilityAttribute>,
    pub(crate) autoid: Option<AutoId>,
    pub(crate) bit_bound: Option<(u32, Span)>,
    pub(crate) nested: Option<Span>,
    /// As part of a key, the type contributes the keys of its members.
    pub(crate) member_keys: Option<Span>,
    pub(crate) view_of: Option<Type>,
    pub(crate) crate_path: Option<Path>,
    pub(crate) discriminator: Option<Discriminator>,
    pub(crate) key: Option<Span>,
    pub(crate) bitmask: Option<Span>,
    pub(crate) bitset: Option<Span>,
    pub(crate) flags: Option<(Vec<FlagAttribute>, Span)>,
    pub(crate) plain: Option<Span>,
    /// The type that values are converted to before they are encoded.
    pub(crate) into: Option<Type>,
    /// The type that values are converted from after decoding.
    pub(crate) from: Option<Conversion>,
    /// The name of the view that the derive generates.
    pub(crate) view: Option<Ident>,
    /// The derives of that view.
    pub(crate) view_derive: Option<(TokenStream, Span)>,
    /// Handling of a union discriminator that selects no case.
    pub(crate) try_construct: Option<(TryConstructAttribute, Span)>,
}

/// A conversion from a decoded value.
pub(crate) struct Conversion {
    pub(crate) ty: Type,
    /// Whether the conversion may fail: `try_from`.
    pub(crate) may_fail: bool,
}

/// The type of a union's discriminator.
pub(crate) struct Discriminator {
    pub(crate) ty: Type,
    /// Whether it is written as `octet`: a `u8` that the type description calls `octet`.
    pub(crate) is_octet: bool,
    /// Whether it is written as `bitmask<..>`: a struct around the number.
    pub(crate) is_bitmask: bool,
}

/// A named bit of a bitmask, as written.
pub(crate) struct FlagAttribute {
    pub(crate) ident: Ident,
    pub(crate) position: Option<(u32, Span)>,
}

/// Attributes of a field.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub(crate) name: Option<LitStr>,
    pub(crate) key: Option<Span>,
    pub(crate) id: Option<(u32, Span)>,
    pub(crate) hashid: Option<HashId>,
    pub(crate) bound: Option<(u32, Span)>,
    pub(crate) optional: Option<Span>,
    pub(crate) default: Option<MemberDefault>,
    pub(crate) octet: Option<Span>,
    pub(crate) must_understand: Option<Span>,
    pub(crate) non_serialized: Option<Span>,
    /// Width of a bitset field in bits.
    pub(crate) bits: Option<(u32, Span)>,
    /// First bit of a bitset field.
    pub(crate) position: Option<(u32, Span)>,
    pub(crate) base: Option<Span>,
    pub(crate) external: Option<Span>,
    /// The module with the conversions of the member.
    pub(crate) with: Option<Path>,
    /// The type of the member in the view that the derive generates.
    pub(crate) view: Option<Type>,
    pub(crate) try_construct: Option<(TryConstructAttribute, Span)>,
}

/// Handling of a received value that the member's type cannot hold (XTYPES 1.3, 7.2.4.3.7).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TryConstructAttribute {
    /// Decoding the sample fails.
    Discard,
    /// The member takes its default.
    UseDefault,
    /// The value is cut to the bound.
    Trim,
}

/// Attributes of a variant: a literal of an enum, or a case of a union and its member.
#[derive(Default)]
pub(crate) struct VariantAttributes {
    pub(crate) cases: Option<Vec<Expr>>,
    pub(crate) default: Option<Span>,
    pub(crate) member: FieldAttributes,
}

/// Attributes of a field of a variant.
#[derive(Default)]
pub(crate) struct CaseFieldAttributes {
    pub(crate) discriminator: Option<Span>,
}

/// How a type may grow.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ExtensibilityAttribute {
    #[default]
    Final,
    Appendable,
    Mutable,
}

/// Source of the ids of members that have no explicit id.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum AutoId {
    /// One more than the member before.
    #[default]
    Sequential,
    /// The hash of the member name.
    Hash,
}

/// A member id from the hash of a name.
pub(crate) struct HashId {
    /// The hashed name. Defaults to the member name.
    pub(crate) name: Option<LitStr>,
    pub(crate) span: Span,
}

/// The value of an absent member.
pub(crate) enum MemberDefault {
    /// The value of the trait `Default`.
    OfTrait,
    /// The value of this expression.
    Value(Box<Expr>),
}

impl TypeAttributes {
    pub(crate) fn of(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut found = Self::default();
        each(attributes, errors, |key, input, errors| {
            let span = key.span();
            match key.to_string().as_str() {
                "name" => set(&mut found.name, text(input)?, &key, errors),
                "extensibility" => {
                    let value = text(input)?;
                    // The long form is the annotation of IDL, the short forms below are the habit of Rust.
                    let kind = extensibility(&value.value(), value.span())?;
                    set(&mut found.extensibility, kind, &key, errors);
                }
                word @ ("final" | "appendable" | "mutable") => {
                    set(&mut found.extensibility, extensibility(word, span)?, &key, errors);
                }
                "autoid" => {
                    let value = text(input)?;
                    let kind = match value.value().as_str() {
                        "sequential" => AutoId::Sequential,
                        "hash" => AutoId::Hash,
                        _ => return Err(syn::Error::new(value.span(), "expected `sequential` or `hash`")),
                    };
                    set(&mut found.autoid, kind, &key, errors);
                }
                "bit_bound" => set(&mut found.bit_bound, number(input)?, &key, errors),
                "discriminator" => {
                    set(&mut found.discriminator, Discriminator::of(value(input)?, span), &key, errors);
                }
                "key" => set(&mut found.key, span, &key, errors),
                "try_construct" => set(&mut found.try_construct, try_construct(input, span)?, &key, errors),
                "bitmask" => set(&mut found.bitmask, span, &key, errors),
                "bitset" => set(&mut found.bitset, span, &key, errors),
                "flags" => set(&mut found.flags, (flags(input)?, span), &key, errors),
                "nested" => set(&mut found.nested, span, &key, errors),
                "member_keys" => set(&mut found.member_keys, span, &key, errors),
                "plain" => set(&mut found.plain, span, &key, errors),
                "into" => set(&mut found.into, value(input)?, &key, errors),
                "from" | "try_from" => {
                    let (ty, may_fail) = (value(input)?, key == "try_from");
                    set(&mut found.from, Conversion { ty, may_fail }, &key, errors);
                }
                "view" => set(&mut found.view, value(input)?, &key, errors),
                "view_derive" => set(&mut found.view_derive, (list(input)?, span), &key, errors),
                "view_of" => set(&mut found.view_of, value(input)?, &key, errors),
                "crate" => set(&mut found.crate_path, text(input)?.parse()?, &key, errors),
                other => return Err(unknown(other, span, "a type", TYPE_WORDS)),
            }
            Ok(())
        });
        found
    }
}

impl FieldAttributes {
    pub(crate) fn of(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut found = Self::default();
        each(attributes, errors, |key, input, errors| {
            let span = key.span();
            match key.to_string().as_str() {
                "name" => set(&mut found.name, text(input)?, &key, errors),
                "key" => set(&mut found.key, span, &key, errors),
                "id" => set(&mut found.id, number(input)?, &key, errors),
                "hashid" => set(&mut found.hashid, hashid(input, span)?, &key, errors),
                "bound" => set(&mut found.bound, number(input)?, &key, errors),
                "bits" => set(&mut found.bits, number(input)?, &key, errors),
                "position" => set(&mut found.position, number(input)?, &key, errors),
                "base" => set(&mut found.base, span, &key, errors),
                "external" => set(&mut found.external, span, &key, errors),
                "try_construct" => set(&mut found.try_construct, try_construct(input, span)?, &key, errors),
                "with" => set(&mut found.with, value(input)?, &key, errors),
                "view" => set(&mut found.view, value(input)?, &key, errors),
                "optional" => set(&mut found.optional, span, &key, errors),
                "octet" => set(&mut found.octet, span, &key, errors),
                "must_understand" => set(&mut found.must_understand, span, &key, errors),
                "non_serialized" => set(&mut found.non_serialized, span, &key, errors),
                "default" => {
                    let value = if input.peek(Token![=]) {
                        MemberDefault::Value(value(input)?)
                    } else {
                        MemberDefault::OfTrait
                    };
                    set(&mut found.default, value, &key, errors);
                }
                other => return Err(unknown(other, span, "a field", FIELD_WORDS)),
            }
            Ok(())
        });
        found
    }

    /// Whether no attribute is given that only members have.
    pub(crate) fn stands_alone(&self) -> bool {
        self.key.is_none() && self.non_serialized.is_none() && self.base.is_none() && self.is_silent()
    }

    /// Whether no attribute is given except `key`, `non_serialized` and `base`.
    pub(crate) fn is_silent(&self) -> bool {
        let Self { name, key: _, id, hashid, bound, optional, default, octet, must_understand, .. } = self;
        let spans = [optional, octet, must_understand, &self.external];
        let numbers = [id, bound, &self.bits, &self.position];
        for span in spans {
            if span.is_some() {
                return false;
            }
        }
        for number in numbers {
            if number.is_some() {
                return false;
            }
        }
        let has_no_value = self.try_construct.is_none() && self.with.is_none() && default.is_none();
        has_no_value && name.is_none() && hashid.is_none()
    }
}

impl VariantAttributes {
    pub(crate) fn of(attributes: &[Attribute], is_union: bool, errors: &mut Errors) -> Self {
        let mut found = Self::default();
        let member = &mut found.member;
        each(attributes, errors, |key, input, errors| {
            match (key.to_string().as_str(), is_union) {
                ("name", _) => set(&mut member.name, text(input)?, &key, errors),
                ("default", _) => set(&mut found.default, key.span(), &key, errors),
                ("case", true) => set(&mut found.cases, cases(input)?, &key, errors),
                ("id", true) => set(&mut member.id, number(input)?, &key, errors),
                ("hashid", true) => set(&mut member.hashid, hashid(input, key.span())?, &key, errors),
                ("bound", true) => set(&mut member.bound, number(input)?, &key, errors),
                ("octet", true) => set(&mut member.octet, key.span(), &key, errors),
                ("external", true) => set(&mut member.external, key.span(), &key, errors),
                ("try_construct", true) => {
                    set(&mut member.try_construct, try_construct(input, key.span())?, &key, errors);
                }
                (other, true) => return Err(unknown(other, key.span(), "a case of a union", CASE_WORDS)),
                (other, false) => return Err(unknown(other, key.span(), "a literal", LITERAL_WORDS)),
            }
            Ok(())
        });
        found
    }
}

impl CaseFieldAttributes {
    pub(crate) fn of(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut found = Self::default();
        each(attributes, errors, |key, _, errors| {
            match key.to_string().as_str() {
                "discriminator" => set(&mut found.discriminator, key.span(), &key, errors),
                other => {
                    let place = "a field of a union (attributes of the member belong on the variant)";
                    return Err(unknown(other, key.span(), place, &["discriminator"]));
                }
            }
            Ok(())
        });
        found
    }
}

/// Parses `= "trim"`. Without a value it is `use_default` (XTYPES 1.3, 7.3.1.2.1.12).
fn try_construct(input: ParseStream<'_>, span: Span) -> syn::Result<(TryConstructAttribute, Span)> {
    // `@try_construct` without a value is `USE_DEFAULT` in IDL.
    if !input.peek(Token![=]) {
        return Ok((TryConstructAttribute::UseDefault, span));
    }
    let word = text(input)?;
    let kind = match word.value().as_str() {
        "discard" => TryConstructAttribute::Discard,
        "use_default" => TryConstructAttribute::UseDefault,
        "trim" => TryConstructAttribute::Trim,
        _ => return Err(syn::Error::new(word.span(), "expected `discard`, `use_default` or `trim`")),
    };
    Ok((kind, word.span()))
}

/// Parses `= 1` or `= [1, 2]`.
fn cases(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    input.parse::<Token![=]>()?;
    // One label needs no brackets.
    if !input.peek(syn::token::Bracket) {
        return Ok(vec![input.parse()?]);
    }
    let list: ExprArray = input.parse()?;
    if list.elems.is_empty() {
        return Err(syn::Error::new_spanned(list, "expected at least one value that selects the case"));
    }
    Ok(list.elems.into_iter().collect())
}

/// Parses `(READ, WRITE = 3)`.
fn flags(input: ParseStream<'_>) -> syn::Result<Vec<FlagAttribute>> {
    let list;
    syn::parenthesized!(list in input);
    Ok(Punctuated::<FlagAttribute, Token![,]>::parse_terminated(&list)?.into_iter().collect())
}

impl syn::parse::Parse for FlagAttribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ident = input.parse()?;
        let position = if input.peek(Token![=]) { Some(number(input)?) } else { None };
        Ok(Self { ident, position })
    }
}

/// Parses `(..)` and returns the tokens inside.
fn list(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let list;
    syn::parenthesized!(list in input);
    list.parse()
}

impl Discriminator {
    fn of(written: Type, span: Span) -> Self {
        if is_octet(&written) {
            // `octet` is no type of Rust. Its values are bytes, and only the TypeObject differs.
            let ty = syn::parse_quote_spanned!(span=> ::core::primitive::u8);
            return Self { ty, is_octet: true, is_bitmask: false };
        }
        // A macro cannot see whether a name stands for a bitmask or for an enum, so the attribute says it.
        match in_bitmask(&written) {
            Some(ty) => Self { ty: ty.clone(), is_octet: false, is_bitmask: true },
            None => Self { ty: written, is_octet: false, is_bitmask: false },
        }
    }
}

/// The type in `bitmask<..>`. A type from a macro stands in a group.
fn in_bitmask(ty: &Type) -> Option<&Type> {
    let path = match ty {
        Type::Group(group) => return in_bitmask(&group.elem),
        Type::Path(path) => &path.path,
        _ => return None,
    };
    let segment = path.segments.first()?;
    if path.segments.len() != 1 || segment.ident != "bitmask" {
        return None;
    }
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(ty)) if arguments.args.len() == 1 => Some(ty),
        _ => None,
    }
}

/// Whether a type is written as `octet`. A type from a macro stands in a group.
fn is_octet(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_octet(&group.elem),
        Type::Path(path) => path.path.is_ident("octet"),
        _ => false,
    }
}

fn hashid(input: ParseStream<'_>, span: Span) -> syn::Result<HashId> {
    let name = if input.peek(Token![=]) { Some(text(input)?) } else { None };
    Ok(HashId { name, span })
}

/// Visits each entry of all `#[dds(...)]` attributes. After a mistake it continues behind the next comma.
fn each(
    attributes: &[Attribute],
    errors: &mut Errors,
    mut visit: impl FnMut(Ident, ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) {
    for attribute in attributes {
        if !attribute.path().is_ident("dds") {
            continue;
        }
        // `parse_nested_meta` cannot parse this: `final` and `crate` are keywords, and a path cannot begin with one.
        let parser = |input: ParseStream<'_>| -> syn::Result<()> {
            while !input.is_empty() {
                let key = input.call(Ident::parse_any)?;
                if let Err(error) = visit(key, input, errors) {
                    errors.add(error);
                    // Skips the rest of this attribute, so that the next one is checked as well.
                    while !input.is_empty() && !input.peek(Token![,]) {
                        input.parse::<TokenTree>()?;
                    }
                }
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        let result = match attribute.meta.require_list() {
            Ok(list) => list.parse_args_with(parser),
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            errors.add(error);
        }
    }
}

/// Parses `=` and the value behind it.
fn value<T: syn::parse::Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

fn text(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let text: LitStr = value(input)?;
    // No name of DDS may be empty: peers use names in filters and in the hashes of TypeObjects.
    if text.value().is_empty() {
        return Err(syn::Error::new(text.span(), "expected a string that is not empty"));
    }
    Ok(text)
}

fn number(input: ParseStream<'_>) -> syn::Result<(u32, Span)> {
    let number: LitInt = value(input)?;
    Ok((number.base10_parse()?, number.span()))
}

fn extensibility(word: &str, span: Span) -> syn::Result<ExtensibilityAttribute> {
    match word {
        "final" => Ok(ExtensibilityAttribute::Final),
        "appendable" => Ok(ExtensibilityAttribute::Appendable),
        "mutable" => Ok(ExtensibilityAttribute::Mutable),
        _ => Err(syn::Error::new(span, format!("expected `final`, `appendable` or `mutable`, found `{word}`"))),
    }
}

/// Stores a value and reports an attribute that is given twice.
fn set<T>(place: &mut Option<T>, value: T, key: &Ident, errors: &mut Errors) {
    // The last value stays. It does not matter which, because no code is generated after an error.
    if place.replace(value).is_some() {
        errors.add(syn::Error::new(key.span(), format!("duplicate attribute `{key}`")));
    }
}

fn unknown(word: &str, span: Span, place: &str, known: &[&str]) -> syn::Error {
    let message = match word {
        // Words that a user of IDL or of another implementation expects.
        "map" => "unknown attribute `map`: write a map as `BTreeMap` or `HashMap`".to_owned(),
        "union" => "unknown attribute `union`: write a union as an enum with data".to_owned(),
        "position" => {
            "unknown attribute `position`: write the positions of a bitmask as `flags(NAME = position)`".to_owned()
        }
        _ => match similar(word, known) {
            Some(similar) => format!("unknown attribute `{word}` on {place}: did you mean `{similar}`?"),
            None => format!("unknown attribute `{word}` on {place}: expected {}", listed(known)),
        },
    };
    syn::Error::new(span, message)
}

/// The known word that a misspelled one resembles.
fn similar<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    // One difference for each three letters: `kee` resembles `key`, `case` does not resemble `name`.
    let allowed = word.len() / 3;
    let mut nearest = None;
    for candidate in known {
        let distance = strsim::damerau_levenshtein(word, candidate);
        match nearest {
            // Of equally near words the first one counts: the lists begin with the most usual attributes.
            Some((other, _)) if distance >= other => {}
            _ if distance > allowed => {}
            _ => nearest = Some((distance, *candidate)),
        }
    }
    let (_, candidate) = nearest?;
    Some(candidate)
}

/// `a`, `b` or `c`.
fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

const TYPE_WORDS: &[&str] = &[
    "name",
    "extensibility",
    "final",
    "appendable",
    "mutable",
    "autoid",
    "bit_bound",
    "nested",
    "member_keys",
    "into",
    "from",
    "try_from",
    "view",
    "view_derive",
    "view_of",
    "discriminator",
    "key",
    "bitmask",
    "flags",
    "bitset",
    "plain",
    "try_construct",
    "crate",
];
const FIELD_WORDS: &[&str] = &[
    "key",
    "id",
    "hashid",
    "name",
    "bound",
    "optional",
    "default",
    "octet",
    "must_understand",
    "try_construct",
    "external",
    "base",
    "bits",
    "position",
    "with",
    "view",
    "non_serialized",
];
const CASE_WORDS: &[&str] = &["case", "default", "id", "hashid", "name", "bound", "octet", "try_construct", "external"];
const LITERAL_WORDS: &[&str] = &["name", "default"];
