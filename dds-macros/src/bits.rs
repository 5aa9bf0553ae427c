//! Models of bitmasks and bitsets, and their checks.

use crate::ast::{Body, Model, last_segment, name_of};
use crate::attr::{FieldAttributes, TypeAttributes};
use crate::check::{Errors, unique_names};
use proc_macro2::{Ident, Span};
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{DataStruct, Fields, Type};

/// An integer whose bits have names.
pub(crate) struct BitmaskModel<'a> {
    /// The integer type.
    pub(crate) integer: &'a Type,
    pub(crate) bit_bound: u8,
    /// The names of bits and their positions.
    pub(crate) flags: Vec<(Ident, u8)>,
}

/// Integers of a few bits each, packed into one integer.
pub(crate) struct BitsetModel<'a> {
    pub(crate) fields: Vec<BitfieldModel<'a>>,
}

pub(crate) struct BitfieldModel<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a Type,
    pub(crate) name: String,
    pub(crate) position: u8,
    pub(crate) bit_count: u8,
}

impl<'a> BitmaskModel<'a> {
    pub(crate) fn of(data: &'a DataStruct, attributes: &TypeAttributes, errors: &mut Errors) -> Body<'a> {
        let place = attributes.bitmask.unwrap_or_else(Span::call_site);
        let integer = match &data.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first().map(|field| &field.ty),
            _ => None,
        };
        let width = integer.and_then(unsigned_width);
        let (Some(integer), Some(width)) = (integer, width) else {
            let message = "expected `struct Name(u8)`, with one field of type `u8`, `u16`, `u32` or `u64`";
            errors.add(syn::Error::new(place, message));
            return Body::Unknown;
        };
        let (bit_bound, bound_place) = attributes.bit_bound.unwrap_or((width, integer.span()));
        let smallest = if width == 8 { 1 } else { width / 2 + 1 };
        if !(smallest..=width).contains(&bit_bound) {
            let message = format!("expected a bit bound of {smallest} to {width} for `u{width}`, found {bit_bound}");
            errors.add(syn::Error::new(bound_place, message));
        }
        let mut next = 0;
        let mut flags = Vec::new();
        for flag in attributes.flags.iter().flat_map(|(flags, _)| flags) {
            let (position, place) = flag.position.unwrap_or((next, flag.ident.span()));
            if position >= bit_bound {
                errors.add(syn::Error::new(place, format!("expected a position below {bit_bound}, found {position}")));
            }
            next = position.saturating_add(1);
            flags.push((flag.ident.clone(), u8::try_from(position).unwrap_or(u8::MAX)));
        }
        Body::Bitmask(Self { integer, bit_bound: u8::try_from(bit_bound).unwrap_or(u8::MAX), flags })
    }
}

impl<'a> BitsetModel<'a> {
    pub(crate) fn of(data: &'a DataStruct, errors: &mut Errors) -> Body<'a> {
        let Fields::Named(named) = &data.fields else {
            errors.at(&data.fields, "expected named fields: the fields of a bitset have names");
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
                    // A type that has no bits at all is reported below.
                    if width(ty).is_some() {
                        errors.at(ty, "expected the number of bits: `#[dds(bits = ..)]`");
                    }
                    (1, ty.span())
                }
            };
            if let Some((start, place)) = attributes.position.take() {
                if start < position {
                    let message = format!("expected a position of at least {position}, found {start}");
                    errors.add(syn::Error::new(place, message));
                }
                position = start;
            }
            attributes.name = None;
            if !attributes.stands_alone() {
                errors.at(ident, "expected only `bits`, `position` or `name` on a field of a bitset");
            }
            match width(&field.ty) {
                Some(width) if !(1..=width).contains(&bit_count) => {
                    errors.add(syn::Error::new(place, format!("expected 1 to {width} bits, found {bit_count}")));
                }
                Some(_) => {}
                None => errors.at(&field.ty, "expected `bool` or an integer"),
            }
            let narrow = |bits: u32| u8::try_from(bits).unwrap_or(u8::MAX);
            fields.push(BitfieldModel {
                ident,
                ty: &field.ty,
                name,
                position: narrow(position),
                bit_count: narrow(bit_count),
            });
            position = position.saturating_add(bit_count);
        }
        if !(1..=64).contains(&position) {
            errors.at(named, format!("expected a bitset of 1 to 64 bits, found {position}"));
        }
        Body::Bitset(Self { fields })
    }
}

/// Checks that bitmasks and bitsets share.
pub(crate) fn check(model: &Model<'_>, errors: &mut Errors) {
    match &model.body {
        Body::Bitmask(mask) => {
            unique_names(mask.flags.iter().map(|(ident, _)| (ident.to_string(), ident)), "flag", errors);
            let mut seen = HashMap::new();
            for (ident, position) in &mask.flags {
                if let Some(other) = seen.insert(position, ident) {
                    errors.at(ident, format!("position {position} is already used by `{other}`"));
                }
            }
        }
        Body::Bitset(set) => {
            unique_names(set.fields.iter().map(|field| (field.name.clone(), field.ident)), "field", errors);
            if model.attributes.extensibility.is_some() {
                errors.at(model.ident, "expected no extensibility: a bitset cannot grow");
            }
        }
        _ => {}
    }
    if model.lifetimes > 0 {
        errors.at(&model.input.generics, "expected no lifetimes: a bitmask or bitset borrows nothing");
    }
    if let Some(view_of) = &model.attributes.view_of {
        errors.at(view_of, "expected no `view_of`: a bitmask or bitset borrows nothing");
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
