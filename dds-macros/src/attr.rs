//! `#[dds(...)]` as written: what was said, and where.

use crate::check::Errors;
use proc_macro2::{Span, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprArray, Ident, LitInt, LitStr, Path, Token, Type};

/// What may stand on a type.
#[derive(Default)]
pub(crate) struct TypeAttributes {
    pub(crate) name: Option<LitStr>,
    pub(crate) extensibility: Option<Extensibility>,
    pub(crate) autoid: Option<AutoId>,
    pub(crate) bit_bound: Option<(u32, Span)>,
    pub(crate) nested: Option<Span>,
    pub(crate) view_of: Option<Type>,
    pub(crate) crate_path: Option<Path>,
    pub(crate) discriminator: Option<Discriminator>,
    pub(crate) key: Option<Span>,
    pub(crate) bitmask: Option<Span>,
    pub(crate) bitset: Option<Span>,
    pub(crate) flags: Option<(Vec<Flag>, Span)>,
    pub(crate) plain: Option<Span>,
    /// Of a union: what becomes of a discriminator that selects nothing.
    pub(crate) try_construct: Option<(TryConstruct, Span)>,
}

/// What selects the case of a union.
pub(crate) struct Discriminator {
    pub(crate) ty: Type,
    /// Written as `octet`: a `u8` that is described so.
    pub(crate) is_octet: bool,
}

/// A named bit of a bitmask, as written.
pub(crate) struct Flag {
    pub(crate) ident: Ident,
    pub(crate) position: Option<(u32, Span)>,
}

/// What may stand on a field.
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
    /// Of a field of a bitset: how many bits it has.
    pub(crate) bits: Option<(u32, Span)>,
    pub(crate) base: Option<Span>,
    pub(crate) external: Option<Span>,
    pub(crate) try_construct: Option<(TryConstruct, Span)>,
}

/// What becomes of a value that the type of a member cannot hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TryConstruct {
    /// The sample is an error.
    Discard,
    /// The member has its default.
    UseDefault,
    /// What is too much of it is left out.
    Trim,
}

/// What may stand on a variant: a literal of an enum, or a case of a union with what its member may say.
#[derive(Default)]
pub(crate) struct VariantAttributes {
    pub(crate) cases: Option<Vec<Expr>>,
    pub(crate) default: Option<Span>,
    pub(crate) member: FieldAttributes,
}

/// What may stand on a field of a variant.
#[derive(Default)]
pub(crate) struct CaseFieldAttributes {
    pub(crate) discriminator: Option<Span>,
}

/// How a type may grow.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Extensibility {
    #[default]
    Final,
    Appendable,
    Mutable,
}

/// How members without an id come to one.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum AutoId {
    /// One more than the member before.
    #[default]
    Sequential,
    /// By the hash of the name.
    Hash,
}

/// An id made of the hash of a name.
pub(crate) struct HashId {
    /// That of the member, if there is none.
    pub(crate) name: Option<LitStr>,
    pub(crate) span: Span,
}

/// The value of a member that was not sent.
pub(crate) enum MemberDefault {
    /// That of the trait `Default`.
    OfTrait,
    /// This one.
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
                        _ => return Err(syn::Error::new(value.span(), "`autoid` is `sequential` or `hash`")),
                    };
                    set(&mut found.autoid, kind, &key, errors);
                }
                "bit_bound" => set(&mut found.bit_bound, number(input)?, &key, errors),
                "discriminator" => {
                    let ty: Type = value(input)?;
                    let is_octet = is_octet(&ty);
                    let ty = if is_octet { syn::parse_quote_spanned!(span=> ::core::primitive::u8) } else { ty };
                    set(&mut found.discriminator, Discriminator { ty, is_octet }, &key, errors);
                }
                "key" => set(&mut found.key, span, &key, errors),
                "try_construct" => set(&mut found.try_construct, try_construct(input, span)?, &key, errors),
                "bitmask" => set(&mut found.bitmask, span, &key, errors),
                "bitset" => set(&mut found.bitset, span, &key, errors),
                "flags" => set(&mut found.flags, (flags(input)?, span), &key, errors),
                "nested" => set(&mut found.nested, span, &key, errors),
                "plain" => set(&mut found.plain, span, &key, errors),
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
                "base" => set(&mut found.base, span, &key, errors),
                "external" => set(&mut found.external, span, &key, errors),
                "try_construct" => set(&mut found.try_construct, try_construct(input, span)?, &key, errors),
                "optional" => set(&mut found.optional, span, &key, errors),
                "octet" => set(&mut found.octet, span, &key, errors),
                "must_understand" => set(&mut found.must_understand, span, &key, errors),
                "non_serialized" => set(&mut found.non_serialized, span, &key, errors),
                "default" => {
                    let value = match input.peek(Token![=]) {
                        true => MemberDefault::Value(value(input)?),
                        false => MemberDefault::OfTrait,
                    };
                    set(&mut found.default, value, &key, errors);
                }
                other => return Err(unknown(other, span, "a field", FIELD_WORDS)),
            }
            Ok(())
        });
        found
    }

    /// Whether nothing is said that only members have.
    pub(crate) fn stands_alone(&self) -> bool {
        self.key.is_none() && self.non_serialized.is_none() && self.base.is_none() && self.is_silent()
    }

    /// Whether nothing is said beside `key`, `non_serialized` and `base`.
    pub(crate) fn is_silent(&self) -> bool {
        let Self { name, key: _, id, hashid, bound, optional, default, octet, must_understand, .. } = self;
        let spans = [optional, octet, must_understand, &self.external];
        let numbers = [id, bound, &self.bits];
        spans.iter().all(|span| span.is_none())
            && self.try_construct.is_none()
            && numbers.iter().all(|number| number.is_none())
            && name.is_none()
            && hashid.is_none()
            && default.is_none()
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
                    let place = "a field of a union; what is said of the member stands on the variant";
                    return Err(unknown(other, key.span(), place, "`discriminator`"));
                }
            }
            Ok(())
        });
        found
    }
}

/// `= "trim"`; without a word, the default (XTYPES 1.3, 7.3.1.2.1.12).
fn try_construct(input: ParseStream<'_>, span: Span) -> syn::Result<(TryConstruct, Span)> {
    if !input.peek(Token![=]) {
        return Ok((TryConstruct::UseDefault, span));
    }
    let word = text(input)?;
    let kind = match word.value().as_str() {
        "discard" => TryConstruct::Discard,
        "use_default" => TryConstruct::UseDefault,
        "trim" => TryConstruct::Trim,
        _ => return Err(syn::Error::new(word.span(), "`try_construct` is `discard`, `use_default` or `trim`")),
    };
    Ok((kind, word.span()))
}

/// `= 1` or `= [1, 2]`.
fn cases(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    input.parse::<Token![=]>()?;
    if !input.peek(syn::token::Bracket) {
        return Ok(vec![input.parse()?]);
    }
    let list: ExprArray = input.parse()?;
    match list.elems.is_empty() {
        true => Err(syn::Error::new_spanned(list, "a case needs at least one value")),
        false => Ok(list.elems.into_iter().collect()),
    }
}

/// `(READ, WRITE = 3)`.
fn flags(input: ParseStream<'_>) -> syn::Result<Vec<Flag>> {
    let list;
    syn::parenthesized!(list in input);
    Ok(Punctuated::<Flag, Token![,]>::parse_terminated(&list)?.into_iter().collect())
}

impl syn::parse::Parse for Flag {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ident = input.parse()?;
        let position = input.peek(Token![=]).then(|| number(input)).transpose()?;
        Ok(Self { ident, position })
    }
}

/// Whether a type is written as `octet`, be it by way of a macro, which puts it into a group.
fn is_octet(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_octet(&group.elem),
        Type::Path(path) => path.path.is_ident("octet"),
        _ => false,
    }
}

fn hashid(input: ParseStream<'_>, span: Span) -> syn::Result<HashId> {
    let name = input.peek(Token![=]).then(|| text(input)).transpose()?;
    Ok(HashId { name, span })
}

/// Visits what stands in all `#[dds(...)]`. A mistake ends with the next comma.
fn each(
    attributes: &[Attribute],
    errors: &mut Errors,
    mut visit: impl FnMut(Ident, ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("dds")) {
        // Not `parse_nested_meta`: `final` and `crate` are keywords, which a path cannot begin with.
        let parser = |input: ParseStream<'_>| -> syn::Result<()> {
            while !input.is_empty() {
                let key = input.call(Ident::parse_any)?;
                if let Err(error) = visit(key, input, errors) {
                    errors.add(error);
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
        let result = attribute.meta.require_list().and_then(|list| list.parse_args_with(parser));
        if let Err(error) = result {
            errors.add(error);
        }
    }
}

/// What stands behind `=`.
fn value<T: syn::parse::Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

fn text(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let text: LitStr = value(input)?;
    match text.value().is_empty() {
        true => Err(syn::Error::new(text.span(), "this must not be empty")),
        false => Ok(text),
    }
}

fn number(input: ParseStream<'_>) -> syn::Result<(u32, Span)> {
    let number: LitInt = value(input)?;
    Ok((number.base10_parse()?, number.span()))
}

fn extensibility(word: &str, span: Span) -> syn::Result<Extensibility> {
    match word {
        "final" => Ok(Extensibility::Final),
        "appendable" => Ok(Extensibility::Appendable),
        "mutable" => Ok(Extensibility::Mutable),
        _ => Err(syn::Error::new(
            span,
            format!("unknown extensibility `{word}`; it is `final`, `appendable` or `mutable`"),
        )),
    }
}

/// Notes a value, unless one was given before.
fn set<T>(place: &mut Option<T>, value: T, key: &Ident, errors: &mut Errors) {
    if place.replace(value).is_some() {
        errors.add(syn::Error::new(key.span(), format!("`{key}` is given twice")));
    }
}

fn unknown(word: &str, span: Span, place: &str, known: &str) -> syn::Error {
    let message = match word {
        "map" => "a map is written as `BTreeMap` or `HashMap`".to_owned(),
        "union" => "a union is written as an enum with data".to_owned(),
        "position" => "the positions of a bitmask stand in `flags(..)`, as `NAME = position`".to_owned(),
        _ => format!("unknown attribute `{word}` on {place}; known are {known}"),
    };
    syn::Error::new(span, message)
}

const TYPE_WORDS: &str = "`name`, `extensibility`, `final`, `appendable`, `mutable`, `autoid`, `bit_bound`, `nested`, \
     `view_of`, `discriminator`, `key`, `bitmask`, `flags`, `bitset`, `plain`, \
     `try_construct` and `crate`";
const FIELD_WORDS: &str = "`key`, `id`, `hashid`, `name`, `bound`, `optional`, `default`, `octet`, `must_understand`, \
     `try_construct`, `external`, `base`, `bits` and `non_serialized`";
const CASE_WORDS: &str = "`case`, `default`, `id`, `hashid`, `name`, `bound`, `octet` and `try_construct`";
const LITERAL_WORDS: &str = "`name` and `default`";
