//! What can be wrong with a type. Everything is collected, nothing stops the search.

use crate::ast::{Body, Literal, Member, Model, last_segment};
use crate::attr::{Extensibility, MemberDefault, TryConstruct};
use crate::{bits, union};
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::collections::HashMap;
use syn::{Expr, ExprLit, ExprUnary, Lit, Type, UnOp};

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub(crate) fn at(&mut self, place: impl ToTokens, message: impl std::fmt::Display) {
        self.add(syn::Error::new_spanned(place, message));
    }

    pub(crate) fn into_compile_errors(self) -> Option<TokenStream> {
        self.0.map(|errors| errors.to_compile_error())
    }
}

pub(crate) fn check(model: &Model<'_>, errors: &mut Errors) {
    match &model.body {
        Body::Struct(members) => {
            members.iter().for_each(|member| check_member(member, errors));
            check_base(members, errors);
            let own = || members.iter().filter(|member| !member.is_base());
            unique_ids(own(), errors);
            unique(own().map(|member| (member.name.clone(), member.ident)), "member", errors);
        }
        Body::Enum(literals) => check_enum(model, literals, errors),
        Body::Union(body) => union::check(model, body, errors),
        Body::Bitmask(_) | Body::Bitset(_) => bits::check(model, errors),
        Body::Unknown => {}
    }
    check_words_of_kinds(model, errors);
    check_plain(model, errors);
    check_bit_bound(model, errors);
    if let (Some(view_of), 0) = (&model.attributes.view_of, model.lifetimes) {
        errors.at(view_of, "a view borrows: give the type a lifetime, or remove `view_of`");
    }
    if let (Some(_), Some(name)) = (&model.attributes.view_of, &model.attributes.name) {
        errors.at(name, "a view has the name of the type it is a view of");
    }
}

/// What can be seen of a struct whose memory is said to be its encoding. The rest is found by the compiler.
fn check_plain(model: &Model<'_>, errors: &mut Errors) {
    let Some(plain) = model.attributes.plain else { return };
    let mut refuse = |message: &str| errors.add(syn::Error::new(plain, message));
    if !matches!(model.body, Body::Struct(_)) || model.lifetimes > 0 {
        refuse("only structs that own their data can be plain");
    }
    if model.extensibility() != Extensibility::Final {
        refuse("only final structs are plain: others have more on the wire than their members");
    }
    let is_c = |attribute: &&syn::Attribute| {
        attribute.path().is_ident("repr") && attribute.meta.to_token_stream().to_string().contains('C')
    };
    if model.input.attrs.iter().find(is_c).is_none() {
        refuse("a plain struct is `#[repr(C)]`: Rust may put its fields in another order else");
    }
    if !model.hidden.is_empty() || model.members().is_empty() {
        refuse("a plain struct has members, and no other fields");
    }
    for member in model.members().iter().filter(|member| member.is_optional) {
        errors.at(member.ident, "a member of a plain struct is always there");
    }
}

fn check_base(members: &[Member<'_>], errors: &mut Errors) {
    for (index, member) in members.iter().enumerate().filter(|(_, member)| member.is_base()) {
        if index > 0 {
            errors.at(member.ident, "the base comes first, as its members do on the wire");
        }
        if !member.attributes.is_silent() || member.is_optional {
            errors.at(member.ident, "of a base only `key` can be said: its members speak for themselves");
        }
    }
}

/// Words that mean something only of some kinds of types.
fn check_words_of_kinds(model: &Model<'_>, errors: &mut Errors) {
    let attributes = &model.attributes;
    if let (Some(discriminator), Body::Struct(_)) = (&attributes.discriminator, &model.body) {
        errors.at(&discriminator.ty, "only enums with data, which are unions, have a discriminator");
    }
    let is_union = matches!(model.body, Body::Union(_) | Body::Unknown);
    if let (Some(key), false) = (attributes.key, is_union) {
        errors.add(syn::Error::new(key, "only unions have a key as a whole, their discriminator: mark the fields"));
    }
    check_discriminator_failure(model, errors);
    if let (Some((_, flags)), None) = (&attributes.flags, attributes.bitmask) {
        errors.add(syn::Error::new(*flags, "only a `bitmask` has flags"));
    }
    if let (syn::Data::Enum(_), Some(bits)) = (&model.input.data, attributes.bitmask.or(attributes.bitset)) {
        errors.add(syn::Error::new(bits, "bitmasks and bitsets are written as structs"));
    }
    if let (Some(_), Some(bitset)) = (attributes.bitmask, attributes.bitset) {
        errors.add(syn::Error::new(bitset, "a type is a bitmask or a bitset, not both"));
    }
}

/// What is said of a discriminator that selects nothing.
fn check_discriminator_failure(model: &Model<'_>, errors: &mut Errors) {
    let Some((kind, span)) = model.attributes.try_construct else { return };
    let message = match &model.body {
        Body::Union(_) | Body::Unknown if kind == TryConstruct::Trim => "a discriminator cannot be trimmed",
        Body::Union(_) | Body::Unknown if kind == TryConstruct::UseDefault && model.has_key() => {
            "a key cannot have a default: every sender must send it"
        }
        Body::Union(union) if kind == TryConstruct::UseDefault && union.is_of_integer && union.has_default() => {
            "every discriminator selects a case: all others select the default one"
        }
        Body::Union(_) | Body::Unknown => return,
        _ => "only of a union's discriminator it stands on the type; else on the members",
    };
    errors.add(syn::Error::new(span, message));
}

fn check_bit_bound(model: &Model<'_>, errors: &mut Errors) {
    let Some((bits, span)) = model.attributes.bit_bound else { return };
    match model.body {
        Body::Enum(_) if !(1..=32).contains(&bits) => {
            errors.add(syn::Error::new(span, "an enum has 1 to 32 bits"));
        }
        // Of a bitmask it was compared with the integer.
        Body::Enum(_) | Body::Bitmask(_) | Body::Unknown => {}
        _ => errors.add(syn::Error::new(span, "only enums and bitmasks have a bit bound")),
    }
}

pub(crate) fn check_member(member: &Member<'_>, errors: &mut Errors) {
    check_type(member.ty, errors);
    let attributes = &member.attributes;
    if let (Some(key), true) = (attributes.key, member.is_optional) {
        errors.add(syn::Error::new(key, "a key member cannot be optional: every sample belongs to an instance"));
    }
    if let (Some(key), Some(MemberDefault::OfTrait | MemberDefault::Value(_))) = (attributes.key, &attributes.default) {
        errors.add(syn::Error::new(key, "a key member cannot have a default: every sender must send it"));
    }
    if let Some((id, span)) = attributes.id {
        if id > ID_MAX {
            errors.add(syn::Error::new(span, format!("a member id is at most {ID_MAX:#x}")));
        }
    }
    if let (Some(_), Some(hashid)) = (attributes.id, &attributes.hashid) {
        errors.add(syn::Error::new(hashid.span, "`id` and `hashid` are two ids: leave one of them"));
    }
    if let Some((0, span)) = attributes.bound {
        errors.add(syn::Error::new(span, "a bound is at least 1"));
    }
    if let (Some(octet), false) = (attributes.octet, is_bytes(member.ty)) {
        errors.add(syn::Error::new(octet, "only `u8`, and sequences and arrays of `u8`, can be octets"));
    }
    if let Some((TryConstruct::Trim, trim)) = attributes.try_construct {
        if attributes.bound.is_none() {
            errors.add(syn::Error::new(trim, "only what has a `bound` can be trimmed to it"));
        }
    }
    match (attributes.key, attributes.try_construct) {
        (Some(key), Some((TryConstruct::UseDefault, _))) => {
            errors.add(syn::Error::new(key, "a key member cannot have a default: every sender must send it"));
        }
        (Some(key), Some((TryConstruct::Trim, _))) => {
            errors.add(syn::Error::new(key, "a key member cannot be trimmed: two instances would become one"));
        }
        _ => {}
    }
    if let Some((_, bits)) = attributes.bits {
        errors.add(syn::Error::new(bits, "only fields of a `#[dds(bitset)]` have bits"));
    }
}

/// Refuses what is known to have no counterpart, with a reason. What is not known is left to the compiler, which misses
/// the traits.
fn check_type(ty: &Type, errors: &mut Errors) {
    let message = match ty {
        Type::Array(array) => return check_type(&array.elem, errors),
        Type::Slice(slice) => return check_type(&slice.elem, errors),
        Type::Paren(inner) => return check_type(&inner.elem, errors),
        Type::Group(inner) => return check_type(&inner.elem, errors),
        Type::Reference(reference) if reference.mutability.is_some() => "a mutable reference cannot be decoded",
        Type::Reference(reference)
            if reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static") =>
        {
            "a `'static` reference cannot be decoded: use an owned type, or give the struct a lifetime"
        }
        Type::Reference(reference) => return check_type(&reference.elem, errors),
        Type::Tuple(_) => "tuples are not supported: the members of a DDS type have names, use a struct",
        Type::Ptr(_) | Type::BareFn(_) => "pointers have no meaning to other processes",
        Type::TraitObject(_) | Type::ImplTrait(_) => "the type must be known: trait objects are not supported",
        Type::Path(_) => match last_segment(ty).map(ToString::to_string).as_deref() {
            Some("usize" | "isize") => "the size of this type differs between machines: use `u64`, `i64` or smaller",
            Some("u128" | "i128") => "DDS has no integers of 128 bits",
            Some("HashSet" | "BTreeSet") => "DDS has no sets: use a `Vec`",
            _ => return check_parameters(ty, errors),
        },
        _ => return,
    };
    errors.at(ty, message);
}

/// Looks into `Vec<..>`, `Option<..>` and `Box<..>`.
fn check_parameters(ty: &Type, errors: &mut Errors) {
    let Type::Path(path) = ty else { return };
    let Some(segment) = path.path.segments.last() else { return };
    let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return };
    for argument in &arguments.args {
        if let syn::GenericArgument::Type(inner) = argument {
            if last_segment(inner).is_some_and(|name| name == "Option") {
                errors.at(inner, "only members can be optional, not what they contain");
            }
            check_type(inner, errors);
        }
    }
}

fn is_bytes(ty: &Type) -> bool {
    match ty {
        Type::Array(array) => is_bytes(&array.elem),
        Type::Slice(slice) => is_bytes(&slice.elem),
        Type::Group(group) => is_bytes(&group.elem),
        Type::Paren(paren) => is_bytes(&paren.elem),
        Type::Reference(reference) => is_bytes(&reference.elem),
        Type::Path(path) => match path.path.segments.last() {
            Some(segment) => match &segment.arguments {
                syn::PathArguments::AngleBracketed(arguments) => arguments.args.iter().any(|argument| match argument {
                    syn::GenericArgument::Type(inner) => is_bytes(inner),
                    _ => false,
                }),
                _ => segment.ident == "u8",
            },
            None => false,
        },
        _ => false,
    }
}

pub(crate) fn unique_ids<'a>(members: impl Iterator<Item = &'a Member<'a>>, errors: &mut Errors) {
    let mut seen = HashMap::new();
    for member in members {
        // Ids behind a base are compared with the others once the base is known, by the compiler.
        if let Some(other) = seen.insert((member.id, member.counts_from.is_some()), member.ident) {
            errors.at(member.ident, format!("member id {} is that of `{other}` already", member.id));
        }
    }
}

pub(crate) fn unique<'a>(names: impl Iterator<Item = (String, &'a syn::Ident)>, what: &str, errors: &mut Errors) {
    let mut seen = HashMap::new();
    for (name, ident) in names {
        if let Some(other) = seen.insert(name.clone(), ident) {
            errors.at(ident, format!("the {what} name `{name}` is that of `{other}` already"));
        }
    }
}

fn check_enum(model: &Model<'_>, literals: &[Literal<'_>], errors: &mut Errors) {
    if literals.is_empty() {
        errors.at(model.ident, "an enum needs at least one literal");
    }
    if let Some(Extensibility::Mutable) = model.attributes.extensibility {
        errors.at(model.ident, "an enum has no members: it cannot be `mutable`");
    }
    if model.attributes.autoid.is_some() {
        errors.at(model.ident, "an enum has no members: `autoid` says nothing of it");
    }
    if model.lifetimes > 0 {
        errors.at(&model.input.generics, "an enum without data has no use for lifetimes");
    }
    if let Some(view_of) = &model.attributes.view_of {
        errors.at(view_of, "an enum cannot be a view: it borrows nothing");
    }
    unique(literals.iter().map(|literal| (literal.name.clone(), literal.ident)), "literal", errors);
    for discriminant in literals.iter().filter_map(|literal| literal.discriminant) {
        if number(discriminant).is_some_and(|number| i32::try_from(number).is_err()) {
            errors.at(discriminant, "the numbers of a DDS enum fit into `i32`");
        }
    }
    let mut defaults = literals.iter().filter_map(|literal| literal.default);
    if let (Some(_), Some(second)) = (defaults.next(), defaults.next()) {
        errors.add(syn::Error::new(second, "an enum has one default literal at most"));
    }
}

/// The value of a literal number. Other expressions are left to the compiler.
pub(crate) fn number(expression: &Expr) -> Option<i128> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr).map(|value: i128| -value),
        Expr::Group(group) => number(&group.expr),
        Expr::Paren(inner) => number(&inner.expr),
        _ => None,
    }
}

/// A member header has 28 bits for the id.
const ID_MAX: u32 = 0x0fff_ffff;
