//! Checks of a type. All mistakes are collected; none ends the search.

use crate::ast::{Body, LiteralModel, MemberModel, Model, is_option, last_segment};
use crate::attr::{ExtensibilityAttribute, TryConstructAttribute};
use crate::{bits, converted, union, view};
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use std::collections::HashMap;
use syn::{Expr, ExprLit, ExprUnary, Lit, Type, UnOp};

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            // `syn` keeps the span of each error, and rustc reports them one by one.
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub(crate) fn at(&mut self, place: impl ToTokens, message: impl std::fmt::Display) {
        self.add(syn::Error::new_spanned(place, message));
    }

    pub(crate) fn into_compile_errors(self) -> Option<TokenStream> {
        Some(self.0?.to_compile_error())
    }
}

pub(crate) fn check(model: &Model<'_>, errors: &mut Errors) {
    match &model.body {
        Body::Struct(members) => {
            for member in members {
                check_member(member, errors);
            }
            check_base(members, errors);
            // The base is not a member of its own. Only the compiler knows its members, and checks them.
            let mut own_members = Vec::new();
            for member in members {
                if !member.is_base() {
                    own_members.push(member);
                }
            }
            unique_ids(own_members.iter().copied(), errors);
            unique_names(own_members.iter().map(|member| (&*member.name, member.ident)), "member", errors);
        }
        Body::Enum(literals) => check_enum(model, literals, errors),
        Body::Union(body) => union::check(model, body, errors),
        Body::Bitmask(_) | Body::Bitset(_) => bits::check(model, errors),
        Body::Converted(of) => converted::check(model, of, errors),
        Body::Unknown => {}
    }
    check_kind_of_type(model, errors);
    check_plain(model, errors);
    view::check(model, errors);
    check_bit_bound(model, errors);
    if let (Some(view_of), 0) = (&model.attributes.view_of, model.lifetimes) {
        errors.at(view_of, "expected a type with a lifetime: a view borrows");
    }
    if let (Some(_), Some(name)) = (&model.attributes.view_of, &model.attributes.name) {
        errors.at(name, "expected no `name`: a view has the name of the type that it views");
    }
}

/// Checks the attributes of a `plain` struct. Generated assertions check the layout of its members.
fn check_plain(model: &Model<'_>, errors: &mut Errors) {
    let Some(plain) = model.attributes.plain else { return };
    // The structure itself is wrong and reported, so more errors would not help.
    if matches!(model.body, Body::Unknown) {
        return;
    }
    if !matches!(model.body, Body::Struct(_)) || model.lifetimes > 0 {
        errors.add(syn::Error::new(plain, "expected a struct that owns its data: only such a type can be plain"));
        return;
    }
    if model.extensibility() != ExtensibilityAttribute::Final {
        errors.add(syn::Error::new(plain, "expected a `final` struct: other encodings contain more than the members"));
    }
    // The order and padding of other representations is the choice of each compiler version.
    if !is_repr_c(&model.input.attrs) {
        errors.add(syn::Error::new(plain, "expected `#[repr(C)]`: otherwise Rust may reorder the fields"));
    }
    // A hidden field has memory but no bytes on the wire.
    if !model.hidden.is_empty() || model.members().is_empty() {
        errors.add(syn::Error::new(plain, "expected at least one member and no `non_serialized` fields"));
    }
    for member in model.members() {
        if member.is_optional {
            errors.at(member.ident, "expected a member that is always present: a plain struct has no optional members");
        }
        if let Some(with) = &member.attributes.with {
            errors.at(with, "expected no `with`: the memory of a plain struct is its encoding");
        }
    }
}

fn is_repr_c(attributes: &[syn::Attribute]) -> bool {
    for attribute in attributes {
        if attribute.path().is_ident("repr") && attribute.meta.to_token_stream().to_string().contains('C') {
            return true;
        }
    }
    false
}

fn check_base(members: &[MemberModel<'_>], errors: &mut Errors) {
    for (index, member) in members.iter().enumerate() {
        if !member.is_base() {
            continue;
        }
        // A derived struct begins with the members of its base (XTYPES 1.3, 7.4.3.5.3).
        if index > 0 {
            errors.at(member.ident, "expected the base as the first field: its members come first on the wire");
        }
        if !member.attributes.is_silent() {
            errors.at(member.ident, "expected only `key` beside `base`: its members have their own attributes");
        } else if member.is_optional {
            errors.at(member.ident, "expected a base that is always present, found an `Option`");
        }
    }
}

/// Checks attributes that apply to some kinds of types only.
fn check_kind_of_type(model: &Model<'_>, errors: &mut Errors) {
    let attributes = &model.attributes;
    // Each attribute here is silently ignored otherwise, and the type would not mean what its author thinks.
    if let (Some(discriminator), Body::Struct(_)) = (&attributes.discriminator, &model.body) {
        errors.at(&discriminator.ty, "expected a union for `discriminator`: write it as an enum with data");
    }
    let is_union = matches!(model.body, Body::Union(_) | Body::Unknown);
    if let (Some(key), false) = (attributes.key, is_union) {
        errors.add(syn::Error::new(key, "expected a union for `key`: mark the key fields of a struct instead"));
    }
    if let Some(span) = attributes.member_keys {
        let may_have = matches!(model.body, Body::Struct(_) | Body::Union(_) | Body::Unknown);
        if !may_have || model.has_key() {
            let message = "expected a struct or union without a key for `member_keys`: others have a key of their own";
            errors.add(syn::Error::new(span, message));
        }
    }
    check_discriminator_failure(model, errors);
    if let (Some((_, flags)), None) = (&attributes.flags, attributes.bitmask) {
        errors.add(syn::Error::new(*flags, "expected a `bitmask` for `flags`"));
    }
    if let (syn::Data::Enum(_), Some(bits)) = (&model.input.data, attributes.bitmask.or(attributes.bitset)) {
        errors.add(syn::Error::new(bits, "expected a struct: a bitmask or a bitset is written as a struct"));
    }
    if let (Some(_), Some(bitset)) = (attributes.bitmask, attributes.bitset) {
        errors.add(syn::Error::new(bitset, "expected `bitmask` or `bitset`, found both"));
    }
}

/// Checks `try_construct` of a type: the handling of a discriminator that selects no case.
fn check_discriminator_failure(model: &Model<'_>, errors: &mut Errors) {
    let Some((kind, span)) = model.attributes.try_construct else { return };
    let is_in_key = model.has_key() || model.attributes.member_keys.is_some();
    let message = match &model.body {
        Body::Union(_) | Body::Unknown if kind == TryConstructAttribute::Trim => {
            "expected `use_default` or `discard`: a discriminator cannot be trimmed"
        }
        // Two instances would become one.
        Body::Union(_) | Body::Unknown if kind == TryConstructAttribute::UseDefault && is_in_key => {
            "expected `discard`: a key cannot have a default"
        }
        Body::Union(union)
            if kind == TryConstructAttribute::UseDefault && union.is_of_integer && union.has_default() =>
        {
            "expected no `try_construct`: the default case accepts each other discriminator"
        }
        Body::Union(_) | Body::Unknown => return,
        _ => "expected a union for `try_construct` on a type: otherwise it belongs on the members",
    };
    errors.add(syn::Error::new(span, message));
}

fn check_bit_bound(model: &Model<'_>, errors: &mut Errors) {
    let Some((bits, span)) = model.attributes.bit_bound else { return };
    match model.body {
        // A literal is a signed 32-bit number (XTYPES 1.3, annex B).
        Body::Enum(_) if !(1..=32).contains(&bits) => {
            errors.add(syn::Error::new(span, format!("expected a bit bound of 1 to 32, found {bits}")));
        }
        // `BitmaskModel::of` compares the bit bound of a bitmask with its integer.
        Body::Enum(_) | Body::Bitmask(_) | Body::Unknown => {}
        _ => errors.add(syn::Error::new(span, "expected an enum or a bitmask for `bit_bound`")),
    }
}

pub(crate) fn check_member(member: &MemberModel<'_>, errors: &mut Errors) {
    check_type(member.ty, errors);
    let attributes = &member.attributes;
    if let Some(key) = attributes.key {
        check_key_member(member, key, errors);
    }
    if let Some((id, span)) = attributes.id {
        if id > ID_MAX {
            errors.add(syn::Error::new(span, format!("expected a member id of at most {ID_MAX:#x}, found {id:#x}")));
        }
    }
    if let (Some(_), Some(hashid)) = (attributes.id, &attributes.hashid) {
        errors.add(syn::Error::new(hashid.span, "expected `id` or `hashid`, found both"));
    }
    // In a TypeObject the bound 0 stands for "unbounded".
    if let Some((0, span)) = attributes.bound {
        errors.add(syn::Error::new(span, "expected a bound of at least 1, found 0"));
    }
    if let (Some(octet), false) = (attributes.octet, is_bytes(member.ty)) {
        errors.add(syn::Error::new(octet, "expected `u8`, or a sequence or array of `u8`, for `octet`"));
    }
    if let Some((TryConstructAttribute::Trim, trim)) = attributes.try_construct {
        // Without a bound every length fits, so `trim` would have no effect.
        if attributes.bound.is_none() {
            errors.add(syn::Error::new(trim, "expected a `bound` to trim to"));
        }
    }
    if let Some((_, bits)) = attributes.bits {
        errors.add(syn::Error::new(bits, "expected a field of a `#[dds(bitset)]` for `bits`"));
    }
    if let Some((_, position)) = attributes.position {
        let message = "expected a field of a `#[dds(bitset)]` for `position`; a bitmask has `flags(NAME = position)`";
        errors.add(syn::Error::new(position, message));
    }
}

fn check_key_member(member: &MemberModel<'_>, key: Span, errors: &mut Errors) {
    let try_construct = member.try_construct();
    if member.is_optional {
        errors.add(syn::Error::new(key, "expected a key member that is always present, found an optional one"));
    }
    if member.attributes.default.is_some() || try_construct == TryConstructAttribute::UseDefault {
        errors.add(syn::Error::new(key, "expected a key member without a default: each writer must send it"));
    }
    if try_construct == TryConstructAttribute::Trim {
        errors.add(syn::Error::new(key, "expected a key member without `trim`: it would merge two instances"));
    }
}

/// Rejects types that have no counterpart in DDS, with the reason.
///
/// The compiler rejects all other unsuitable types, because they lack the traits.
fn check_type(ty: &Type, errors: &mut Errors) {
    let message = match ty {
        Type::Array(array) => return check_type(&array.elem, errors),
        Type::Slice(slice) => return check_type(&slice.elem, errors),
        Type::Paren(inner) => return check_type(&inner.elem, errors),
        Type::Group(inner) => return check_type(&inner.elem, errors),
        Type::Reference(reference) if reference.mutability.is_some() => {
            "expected a shared reference or an owned type: a mutable reference cannot be decoded"
        }
        Type::Reference(reference) => match &reference.lifetime {
            // A decoded reference lives as long as the payload.
            Some(lifetime) if lifetime.ident == "static" => {
                "expected an owned type or a lifetime of the struct: a `'static` reference cannot be decoded"
            }
            _ => return check_borrowed(reference, errors),
        },
        Type::Tuple(_) => "expected a struct, found a tuple: the members of a DDS type have names",
        Type::Ptr(_) | Type::BareFn(_) => "expected a value, found a pointer: it has no meaning in another process",
        Type::TraitObject(_) | Type::ImplTrait(_) => "expected a concrete type, found a trait",
        Type::Path(_) => match last_segment(ty).map(ToString::to_string).as_deref() {
            Some("usize" | "isize") => {
                "expected an integer of fixed size, as `u64` or `i32`: the size of this type depends on the machine"
            }
            Some("u128" | "i128") => "expected an integer of at most 64 bits",
            Some("HashSet" | "BTreeSet") => "expected a `Vec`: DDS has no sets",
            _ => return check_parameters(ty, errors),
        },
        // A macro in the place of a type, for example. The trait bounds of the generated code check it.
        _ => return,
    };
    errors.at(ty, message);
}

/// Rejects borrowed slices of numbers, which may have another byte order or alignment in the payload.
///
/// An alias of `u8` is possible, so other elements are left to the compiler.
fn check_borrowed(reference: &syn::TypeReference, errors: &mut Errors) {
    // The compiler reports a missing lifetime.
    if let (Type::Slice(slice), Some(lifetime)) = (&*reference.elem, &reference.lifetime) {
        if view::is_named(&slice.elem, view::NUMBERS) {
            let element = slice.elem.to_token_stream();
            let message = format!("expected `cdr::Run<{lifetime}, {element}>`: only bytes can be borrowed as a slice");
            return errors.at(reference, message);
        }
    }
    check_type(&reference.elem, errors);
}

/// Checks the type parameters of `Vec<..>`, `Option<..>` and `Box<..>`.
fn check_parameters(ty: &Type, errors: &mut Errors) {
    let Type::Path(path) = ty else { return };
    let Some(segment) = path.path.segments.last() else { return };
    let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return };
    for argument in &arguments.args {
        if let syn::GenericArgument::Type(inner) = argument {
            if is_option(inner) {
                errors.at(inner, "expected `Option` as the outermost type of a member");
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
        Type::Path(path) => path.path.segments.last().is_some_and(is_bytes_segment),
        _ => false,
    }
}

fn is_bytes_segment(segment: &syn::PathSegment) -> bool {
    let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return segment.ident == "u8";
    };
    for argument in &arguments.args {
        if let syn::GenericArgument::Type(inner) = argument {
            if is_bytes(inner) {
                return true;
            }
        }
    }
    false
}

pub(crate) fn unique_ids<'a>(members: impl Iterator<Item = &'a MemberModel<'a>>, errors: &mut Errors) {
    let mut seen = HashMap::new();
    for member in members {
        // Ids that continue a base are relative. A generated assertion compares the absolute ids.
        // A hash of a name may equal another id, so all ids are compared, not only explicit ones.
        if let Some(other) = seen.insert((member.id, member.counts_from.is_some()), member.ident) {
            errors.at(member.ident, format!("member id {} is already used by `{other}`", member.id));
        }
    }
}

pub(crate) fn unique_names<'a>(names: impl Iterator<Item = (&'a str, &'a Ident)>, what: &str, errors: &mut Errors) {
    let mut seen = HashMap::new();
    for (name, ident) in names {
        if let Some(other) = seen.insert(name, ident) {
            errors.at(ident, format!("the {what} name `{name}` is already used by `{other}`"));
        }
    }
}

fn check_enum(model: &Model<'_>, literals: &[LiteralModel<'_>], errors: &mut Errors) {
    if literals.is_empty() {
        errors.at(model.ident, "expected at least one literal");
    }
    // An enum is encoded as its number alone, so there is no place for a member header.
    if let Some(ExtensibilityAttribute::Mutable) = model.attributes.extensibility {
        errors.at(model.ident, "expected `final` or `appendable`: an enum has no members");
    }
    if model.attributes.autoid.is_some() {
        errors.at(model.ident, "expected no `autoid`: an enum has no members");
    }
    if model.lifetimes > 0 {
        errors.at(&model.input.generics, "expected no lifetimes: an enum without data borrows nothing");
    }
    if let Some(view_of) = &model.attributes.view_of {
        errors.at(view_of, "expected no `view_of`: an enum without data borrows nothing");
    }
    unique_names(literals.iter().map(|literal| (&*literal.name, literal.ident)), "literal", errors);
    for literal in literals {
        let Some(discriminant) = literal.discriminant else { continue };
        // The value of another expression is checked where the description is evaluated.
        let Some(number) = number(discriminant) else { continue };
        if i32::try_from(number).is_err() {
            errors.at(discriminant, "expected a discriminant that fits `i32`");
        }
    }
    one_default(literals.iter().filter_map(|literal| literal.default), "literal", errors);
}

/// Reports a second default.
pub(crate) fn one_default(mut defaults: impl Iterator<Item = Span>, what: &str, errors: &mut Errors) {
    if let (Some(_), Some(second)) = (defaults.next(), defaults.next()) {
        errors.add(syn::Error::new(second, format!("expected at most one default {what}")));
    }
}

/// The value of an integer literal, or `None` for other expressions.
pub(crate) fn number(expression: &Expr) -> Option<i128> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr)?.checked_neg(),
        // An expression that came out of another macro.
        Expr::Group(group) => number(&group.expr),
        Expr::Paren(inner) => number(&inner.expr),
        _ => None,
    }
}

/// A member header has 28 bits for the id.
const ID_MAX: u32 = 0x0fff_ffff;
