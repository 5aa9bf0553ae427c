//! Bitmasks and bitsets: what is written of them, as a model, and what can be wrong with it.

use crate::ast::{Body, Model, last_segment, name_of};
use crate::attr::{FieldAttributes, TypeAttributes};
use crate::check::{Errors, unique};
use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{DataStruct, Fields, Type};

/// A number whose bits have names.
pub(crate) struct Bitmask<'a> {
    /// The type of the number.
    pub(crate) integer: &'a Type,
    pub(crate) bit_bound: u8,
    /// The names, and the indices of the bits.
    pub(crate) flags: Vec<(Ident, u8)>,
}

/// Numbers of few bits, side by side.
pub(crate) struct Bitset<'a> {
    pub(crate) fields: Vec<Bitfield<'a>>,
}

pub(crate) struct Bitfield<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a Type,
    pub(crate) name: String,
    pub(crate) position: u8,
    pub(crate) bit_count: u8,
}

impl<'a> Bitmask<'a> {
    pub(crate) fn of(data: &'a DataStruct, attributes: &TypeAttributes, errors: &mut Errors) -> Body<'a> {
        let place = attributes.bitmask.unwrap_or_else(Span::call_site);
        let integer = match &data.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first().map(|field| &field.ty),
            _ => None,
        };
        let width = integer.and_then(unsigned_width);
        let (Some(integer), Some(width)) = (integer, width) else {
            let message = "a bitmask is written as `struct Name(u8)`, with `u8`, `u16`, `u32` or `u64`";
            errors.add(syn::Error::new(place, message));
            return Body::Unknown;
        };
        let (bit_bound, bound_place) = attributes.bit_bound.unwrap_or((width, integer.span()));
        let least = if width == 8 { 1 } else { width / 2 + 1 };
        if !(least..=width).contains(&bit_bound) {
            let message = format!("{bit_bound} bits do not travel as `u{width}`: that has {least} to {width}");
            errors.add(syn::Error::new(bound_place, message));
        }
        let mut next = 0;
        let mut flags = Vec::new();
        for flag in attributes.flags.iter().flat_map(|(flags, _)| flags) {
            let (position, place) = flag.position.unwrap_or((next, flag.ident.span()));
            if position >= bit_bound {
                errors.add(syn::Error::new(place, format!("a bitmask of {bit_bound} bits has no position {position}")));
            }
            next = position.saturating_add(1);
            flags.push((flag.ident.clone(), u8::try_from(position).unwrap_or(u8::MAX)));
        }
        Body::Bitmask(Self { integer, bit_bound: u8::try_from(bit_bound).unwrap_or(u8::MAX), flags })
    }
}

impl<'a> Bitset<'a> {
    pub(crate) fn of(data: &'a DataStruct, errors: &mut Errors) -> Body<'a> {
        let Fields::Named(named) = &data.fields else {
            errors.at(&data.fields, "the fields of a bitset have names");
            return Body::Unknown;
        };
        let mut position = 0_u32;
        let mut fields = Vec::new();
        for field in &named.named {
            let Some(ident) = field.ident.as_ref() else { continue };
            let mut attributes = FieldAttributes::of(&field.attrs, errors);
            let name = name_of(ident, &attributes);
            let (bit_count, place) = match (attributes.bits.take(), &field.ty) {
                (Some(bits), _) => bits,
                (None, ty) if last_segment(ty).is_some_and(|name| name == "bool") => (1, ty.span()),
                (None, ty) => {
                    errors.at(ty, "say how many bits the field has: `#[dds(bits = ..)]`");
                    (1, ty.span())
                }
            };
            attributes.name = None;
            if !attributes.stands_alone() {
                errors.at(ident, "of a field of a bitset only `bits` and `name` can be said");
            }
            match width(&field.ty) {
                Some(width) if !(1..=width).contains(&bit_count) => {
                    errors.add(syn::Error::new(place, format!("this type has 1 to {width} bits")));
                }
                Some(_) => {}
                None => errors.at(&field.ty, "a field of a bitset is a `bool` or an integer"),
            }
            let narrow = |bits: u32| u8::try_from(bits).unwrap_or(u8::MAX);
            fields.push(Bitfield {
                ident,
                ty: &field.ty,
                name,
                position: narrow(position),
                bit_count: narrow(bit_count),
            });
            position = position.saturating_add(bit_count);
        }
        if !(1..=64).contains(&position) {
            errors.at(named, format!("a bitset has 1 to 64 bits, not {position}"));
        }
        Body::Bitset(Self { fields })
    }
}

/// What does not depend on the kind of bits.
pub(crate) fn check(model: &Model<'_>, errors: &mut Errors) {
    match &model.body {
        Body::Bitmask(mask) => {
            unique(mask.flags.iter().map(|(ident, _)| (ident.to_string(), ident)), "flag", errors);
            let mut seen = Vec::new();
            for (ident, position) in &mask.flags {
                if seen.contains(position) {
                    errors.at(ident, format!("position {position} has a name already"));
                }
                seen.push(*position);
            }
        }
        Body::Bitset(set) => {
            unique(set.fields.iter().map(|field| (field.name.clone(), field.ident)), "field", errors);
            if model.attributes.extensibility.is_some() {
                errors.at(model.ident, "a bitset cannot grow: it has no extensibility");
            }
        }
        _ => {}
    }
    if model.lifetimes > 0 {
        errors.at(&model.input.generics, "a number has no use for lifetimes");
    }
    if let Some(view_of) = &model.attributes.view_of {
        errors.at(view_of, "a number cannot be a view: it borrows nothing");
    }
}

fn unsigned_width(ty: &Type) -> Option<u32> {
    let name = last_segment(ty)?.to_string();
    name.strip_prefix('u')?.parse().ok().filter(|width| [8, 16, 32, 64].contains(width))
}

fn width(ty: &Type) -> Option<u32> {
    let name = last_segment(ty)?.to_string();
    if name == "bool" {
        return Some(1);
    }
    unsigned_width(ty).or_else(|| name.strip_prefix('i')?.parse().ok().filter(|width| [8, 16, 32, 64].contains(width)))
}
