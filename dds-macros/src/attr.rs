//! `#[dds(...)]` as written: what was said, and where.

use crate::check::Errors;
use proc_macro2::{Span, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, Ident, LitInt, LitStr, Path, Token, Type};

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
}

/// What may stand on a literal of an enum.
#[derive(Default)]
pub(crate) struct LiteralAttributes {
    pub(crate) name: Option<LitStr>,
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
                "nested" => set(&mut found.nested, span, &key, errors),
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
                "hashid" => {
                    let name = input.peek(Token![=]).then(|| text(input)).transpose()?;
                    set(&mut found.hashid, HashId { name, span }, &key, errors);
                }
                "bound" => set(&mut found.bound, number(input)?, &key, errors),
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
        let Self { name, key, id, hashid, bound, optional, default, octet, must_understand, non_serialized: _ } = self;
        let spans = [key, optional, octet, must_understand];
        spans.iter().all(|span| span.is_none())
            && name.is_none()
            && id.is_none()
            && hashid.is_none()
            && bound.is_none()
            && default.is_none()
    }
}

impl LiteralAttributes {
    pub(crate) fn of(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut found = Self::default();
        each(attributes, errors, |key, input, errors| {
            match key.to_string().as_str() {
                "name" => set(&mut found.name, text(input)?, &key, errors),
                other => return Err(unknown(other, key.span(), "a literal", "`name`")),
            }
            Ok(())
        });
        found
    }
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
        "union" | "bitmask" | "bitset" | "map" | "position" | "base" => {
            format!("`{word}` is not supported yet")
        }
        _ => format!("unknown attribute `{word}` on {place}; known are {known}"),
    };
    syn::Error::new(span, message)
}

const TYPE_WORDS: &str =
    "`name`, `extensibility`, `final`, `appendable`, `mutable`, `autoid`, `bit_bound`, `nested`, `view_of` and `crate`";
const FIELD_WORDS: &str =
    "`key`, `id`, `hashid`, `name`, `bound`, `optional`, `default`, `octet`, `must_understand` and `non_serialized`";
