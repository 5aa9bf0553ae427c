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
        debug_assert!(attributes.bitmask.is_some(), "only `#[dds(bitmask)]` makes a struct a bitmask");
        let place = attributes.bitmask.unwrap_or_else(Span::call_site);
        let integer = match &data.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Some(&fields.unnamed[0].ty),
            _ => None,
        };
        let (Some(integer), Some(width)) = (integer, integer.and_then(unsigned_width)) else {
            let message = "expected `struct Name(u8)`, with one field of type `u8`, `u16`, `u32` or `u64`";
            errors.add(syn::Error::new(place, message));
            return Body::Unknown;
        };
        let (bit_bound, bound_place) = attributes.bit_bound.unwrap_or((width, integer.span()));
        // The bound decides the size on the wire, which must be that of the integer: 9 to 16 bits take 2 bytes.
        let smallest = if width == 8 { 1 } else { width / 2 + 1 };
        if !(smallest..=width).contains(&bit_bound) {
            let message = format!("expected a bit bound of {smallest} to {width} for `u{width}`, found {bit_bound}");
            errors.add(syn::Error::new(bound_place, message));
        }
        let mut next = 0;
        let mut flags = Vec::new();
        let named = match &attributes.flags {
            Some((named, _)) => named.as_slice(),
            None => &[],
        };
        for flag in named {
            // As in IDL, a flag without a position follows the one before it.
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
                (None, ty) => {
                    // One bit is all that a `bool` can hold. A type that has no bits at all is reported below.
                    if width(ty).is_some_and(|width| width > 1) {
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
            // What remains set after these three were taken has no meaning here.
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
            // A larger number is reported here or below, and no code is generated for it.
            let start = u8::try_from(position).unwrap_or(u8::MAX);
            let len = u8::try_from(bit_count).unwrap_or(u8::MAX);
            fields.push(BitfieldModel { ident, ty: &field.ty, name, position: start, bit_count: len });
            position = position.saturating_add(bit_count);
        }
        // The largest holder type of bit fields has 64 bits.
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
            let names: Vec<String> = mask.flags.iter().map(|(ident, _)| ident.to_string()).collect();
            let idents = mask.flags.iter().map(|(ident, _)| ident);
            unique_names(names.iter().map(String::as_str).zip(idents), "flag", errors);
            let mut seen = HashMap::new();
            for (ident, position) in &mask.flags {
                if let Some(other) = seen.insert(position, ident) {
                    errors.at(ident, format!("position {position} is already used by `{other}`"));
                }
            }
        }
        Body::Bitset(set) => {
            unique_names(set.fields.iter().map(|field| (&*field.name, field.ident)), "field", errors);
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
    width_of_digits(name.strip_prefix('u')?)
}

fn width_of_digits(digits: &str) -> Option<u32> {
    match digits {
        "8" => Some(8),
        "16" => Some(16),
        "32" => Some(32),
        "64" => Some(64),
        // `usize` has no fixed width, and IDL has no integers of 128 bits.
        _ => None,
    }
}

fn width(ty: &Type) -> Option<u32> {
    let name = last_segment(ty)?.to_string();
    if name == "bool" {
        return Some(1);
    }
    width_of_digits(name.strip_prefix(['u', 'i'])?)
}
