//! Converts inputs to values of a type.

use super::access::element_type;
use super::decode::SeenKeys;
use super::graph::{Element, NodeKind, PrimitiveKind, TypeView, extended, low_bits};
use super::input::{Input, InputValue};
use super::value::{DEPTH_MAX, List, Primitives, Value};
use super::{DataError, type_equality};
use crate::cdr::shape::Shape;
use crate::cdr::{Char16, F128};

/// Converts an input to a value of a type.
pub(super) fn value_of(ty: TypeView<'_>, Input(given): Input) -> Result<Value, DataError> {
    // Dynamic data brings its own type, so the kinds below do not concern it.
    let given = match given {
        InputValue::Data(data) => {
            // Values are stored by index of the member, so an equal structure suffices.
            if !type_equality::are_equal(ty, data.ty.view(), false) {
                let (expected, given) = (ty.node().name.to_string(), data.ty.name().to_owned());
                return Err(DataError::OtherType { expected, given });
            }
            return Ok(data.value);
        }
        given => given,
    };
    match ty.kind() {
        NodeKind::Primitive(kind) => number_of(ty, *kind, given),
        NodeKind::String { bound } | NodeKind::WString { bound } => match given {
            InputValue::Text(text) => {
                let is_wide = matches!(ty.kind(), NodeKind::WString { .. });
                check_bound(*bound, if is_wide { text.encode_utf16().count() } else { text.len() })?;
                // The encoding of a string ends with a NUL.
                if text.contains('\0') {
                    return Err(out_of_range(ty, format!("{text:?}")));
                }
                Ok(Value::Text(text))
            }
            given => Err(wrong_type(ty, &given)),
        },
        NodeKind::Enum(node) => {
            let (found, literal) = match &given {
                InputValue::Text(name) => (node.literals.iter().find(|literal| *literal.name == **name), name.clone()),
                InputValue::Int(number) => {
                    let found = match i64::try_from(*number) {
                        Ok(value) => node.literal_of_value(value),
                        Err(_) => None,
                    };
                    (found, number.to_string())
                }
                given => return Err(wrong_type(ty, given)),
            };
            match found {
                Some(found) => Ok(Value::Bits(i64::from(found.value) as u64)),
                None => Err(DataError::NoLiteral { ty: ty.node().name.to_string(), literal }),
            }
        }
        NodeKind::Bitmask(node) => match given {
            InputValue::Text(names) => {
                let mut bits = 0;
                for name in names.split('|').map(str::trim) {
                    // An empty text is the empty set of flags.
                    if name.is_empty() {
                        continue;
                    }
                    let Some(flag) = node.flags.iter().find(|flag| *flag.name == *name) else {
                        return Err(DataError::NoLiteral { ty: ty.node().name.to_string(), literal: name.to_owned() });
                    };
                    bits |= 1_u64 << flag.position;
                }
                Ok(Value::Bits(bits))
            }
            given => bits_of(ty, node.bit_bound, &given),
        },
        NodeKind::Bitset(node) => bits_of(ty, node.bit_bound(), &given),
        NodeKind::Sequence { bound, .. } => {
            check_bound(*bound, len_of(ty, &given)?)?;
            elements_of(ty, given)
        }
        NodeKind::Array { length, .. } => {
            let (expected, len) = (*length as usize, len_of(ty, &given)?);
            if len != expected {
                return Err(DataError::Length { expected, len });
            }
            elements_of(ty, given)
        }
        NodeKind::Map { bound, key, element } => match given {
            InputValue::Entries(entries) => {
                check_bound(*bound, entries.len())?;
                entries_of(ty, *key, *element, entries)
            }
            given => Err(wrong_type(ty, &given)),
        },
        // These are built member by member, or given as dynamic data.
        NodeKind::Struct(_) | NodeKind::Union(_) | NodeKind::Alias { .. } => Err(wrong_type(ty, &given)),
    }
}

fn wrong_type(ty: TypeView<'_>, given: &InputValue) -> DataError {
    DataError::WrongType { ty: ty.node().name.to_string(), other: given.name() }
}

fn out_of_range(ty: TypeView<'_>, value: String) -> DataError {
    DataError::OutOfRange { ty: ty.node().name.to_string(), value }
}

pub(super) fn check_bound(bound: Option<u32>, len: usize) -> Result<(), DataError> {
    match bound {
        Some(bound) if len > bound as usize => Err(DataError::BoundExceeded { bound, len }),
        // The encoding of a length has 32 bits.
        _ if u32::try_from(len).is_err() => Err(DataError::BoundExceeded { bound: u32::MAX, len }),
        _ => Ok(()),
    }
}

fn number_of(ty: TypeView<'_>, kind: PrimitiveKind, given: InputValue) -> Result<Value, DataError> {
    let bits = match (kind, &given) {
        (PrimitiveKind::Bool, InputValue::Bool(value)) => u64::from(*value),
        // Rounded, as a float literal of Rust is.
        (PrimitiveKind::Float32, InputValue::Float(number)) => (*number as f32).to_bits().into(),
        // An integer must be represented exactly.
        (PrimitiveKind::Float32, InputValue::Int(number)) if (*number as f32) as i128 == *number => {
            (*number as f32).to_bits().into()
        }
        (PrimitiveKind::Float64, InputValue::Float(number)) => number.to_bits(),
        (PrimitiveKind::Float64, InputValue::Int(number)) if (*number as f64) as i128 == *number => {
            (*number as f64).to_bits()
        }
        (PrimitiveKind::Float128, InputValue::Float128(number)) => return Ok(Value::Wide(Box::new(number.to_bits()))),
        (PrimitiveKind::Float128, InputValue::Float(number)) => {
            return Ok(Value::Wide(Box::new(F128::from(*number).to_bits())));
        }
        (PrimitiveKind::Char8, InputValue::Char(letter)) => match u8::try_from(*letter) {
            Ok(byte) => byte.into(),
            Err(_) => return Err(out_of_range(ty, format!("{letter:?}"))),
        },
        (PrimitiveKind::Char16, InputValue::Char(letter)) => match Char16::try_from(*letter) {
            Ok(unit) => unit.0.into(),
            Err(_) => return Err(out_of_range(ty, format!("{letter:?}"))),
        },
        (PrimitiveKind::Char8 | PrimitiveKind::Char16, InputValue::Int(code)) => {
            let max = if kind == PrimitiveKind::Char8 { 0xff } else { 0xffff };
            if !(0..=max).contains(code) {
                return Err(out_of_range(ty, code.to_string()));
            }
            *code as u64
        }
        // The range decides, not the type of the given number: `3_i32` is a valid `uint8`.
        (_, InputValue::Int(number)) => match kind.range() {
            Some((least, most)) if (least..=most).contains(number) => *number as u64,
            Some(_) => return Err(out_of_range(ty, number.to_string())),
            // Of the right kind, but with more digits than the float has.
            None if matches!(kind, PrimitiveKind::Float32 | PrimitiveKind::Float64) => {
                return Err(out_of_range(ty, number.to_string()));
            }
            None => return Err(wrong_type(ty, &given)),
        },
        _ => return Err(wrong_type(ty, &given)),
    };
    Ok(Value::Bits(bits))
}

fn bits_of(ty: TypeView<'_>, bit_bound: u8, given: &InputValue) -> Result<Value, DataError> {
    let InputValue::Int(number) = given else { return Err(wrong_type(ty, given)) };
    match u64::try_from(*number) {
        Ok(bits) if bits & !low_bits(bit_bound) == 0 => Ok(Value::Bits(bits)),
        // The bits of a negative number would look like a large one.
        Ok(_) => Err(out_of_range(ty, format!("{number:#x}"))),
        Err(_) => Err(out_of_range(ty, number.to_string())),
    }
}

fn len_of(ty: TypeView<'_>, given: &InputValue) -> Result<usize, DataError> {
    match given {
        InputValue::Primitives(_, run) => Ok(run.len()),
        InputValue::List(items) => Ok(items.len()),
        given => Err(wrong_type(ty, given)),
    }
}

/// Converts the elements of a sequence or array. The caller has checked their number.
fn elements_of(ty: TypeView<'_>, given: InputValue) -> Result<Value, DataError> {
    let Some(element) = element_type(ty) else { return Err(wrong_type(ty, &given)) };
    let items = match (given, element.kind()) {
        // The bits are stored as they are. `u8` serves for `octet` as well.
        (InputValue::Primitives(kind, run), NodeKind::Primitive(other))
            if kind == *other || (kind == PrimitiveKind::UInt8 && *other == PrimitiveKind::Octet) =>
        {
            return Ok(Value::Primitives(run));
        }
        // Numbers of another kind take the path of single inputs, which checks each range.
        (InputValue::Primitives(kind, run), _) => {
            let mut items = Vec::with_capacity(run.len());
            for index in 0..run.len() {
                items.push(Input(scalar_of(kind, run.get(index).unwrap_or_default())));
            }
            items
        }
        (InputValue::List(items), _) => items,
        (given, _) => return Err(wrong_type(ty, &given)),
    };
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        values.push(value_of(element, item)?);
    }
    let Some(size) = element.primitive_size() else {
        return Ok(Value::List(List { len: values.len() as u32, items: values }));
    };
    // Numbers of any sequence are stored without a `Value` for each.
    let mut run = Primitives::new(size);
    run.resize(values.len());
    for (index, value) in values.iter().enumerate() {
        run.set(index, raw_bits(value));
    }
    Ok(Value::Primitives(run))
}

/// Converts the entries of a map. The caller has checked their number.
fn entries_of(
    ty: TypeView<'_>,
    key: Element,
    element: Element,
    given: Vec<(Input, Input)>,
) -> Result<Value, DataError> {
    let (key, element) = (ty.at(key.ty), ty.at(element.ty));
    let mut seen = SeenKeys::default();
    let mut entries = Vec::with_capacity(given.len());
    for (index, (one, other)) in given.into_iter().enumerate() {
        let one = value_of(key, one)?;
        if !seen.is_new(key, &one) {
            return Err(DataError::DuplicateKey { index });
        }
        entries.push((one, value_of(element, other)?));
    }
    Ok(Value::Map(entries))
}

/// The bits of a number of any size.
pub(super) fn raw_bits(value: &Value) -> u128 {
    match value {
        Value::Wide(bits) => **bits,
        value => value.bits(0).into(),
    }
}

/// A primitive with these bits.
pub(super) fn scalar_of(kind: PrimitiveKind, bits: u128) -> InputValue {
    let is_signed = kind.is_signed();
    let low = extended(bits as u64, kind.size(), is_signed);
    match kind {
        PrimitiveKind::Bool => InputValue::Bool(low != 0),
        PrimitiveKind::Float32 => InputValue::Float(f32::from_bits(low as u32).into()),
        PrimitiveKind::Float64 => InputValue::Float(f64::from_bits(low)),
        PrimitiveKind::Float128 => InputValue::Float128(F128::from_bits(bits)),
        PrimitiveKind::Char8 => InputValue::Char(char::from(low as u8)),
        PrimitiveKind::Char16 => match char::from_u32(low as u32) {
            Some(letter) => InputValue::Char(letter),
            // Half of a surrogate pair is a valid `wchar`, and no `char` of Rust.
            None => InputValue::Int(low.into()),
        },
        _ if is_signed => InputValue::Int((low as i64).into()),
        _ => InputValue::Int(low.into()),
    }
}

/// Checks that a value is not nested too deeply at this level.
pub(super) fn check_depth(level: usize, value: &Value) -> Result<(), DataError> {
    // A value that is too deep could be built, but not encoded or compared.
    if level + value.depth() > DEPTH_MAX {
        return Err(DataError::TooDeep { max: DEPTH_MAX });
    }
    Ok(())
}

/// Checks that a sequence can have `len` elements, and returns their type.
pub(super) fn check_growth(ty: TypeView<'_>, len: usize) -> Result<TypeView<'_>, DataError> {
    let NodeKind::Sequence { bound, element } = ty.kind() else {
        return Err(DataError::WrongType { ty: ty.node().name.to_string(), other: "more elements" });
    };
    check_bound(*bound, len)?;
    Ok(ty.at(element.ty))
}

/// Checks that the discriminator is a value of its type and selects a case.
pub(super) fn check_discriminator(ty: TypeView<'_>, discriminator: i64) -> Result<(), DataError> {
    let NodeKind::Union(node) = ty.kind() else {
        return Err(DataError::WrongType { ty: ty.node().name.to_string(), other: "a discriminator" });
    };
    let of = ty.at(node.discriminator);
    let given = match of.kind() {
        NodeKind::Primitive(PrimitiveKind::Bool) => match discriminator {
            0 | 1 => InputValue::Bool(discriminator != 0),
            _ => InputValue::Int(discriminator.into()),
        },
        // Discriminators are stored as `i64`, so a large one appears negative.
        NodeKind::Primitive(PrimitiveKind::UInt64) | NodeKind::Bitmask(_) => {
            InputValue::Int((discriminator as u64).into())
        }
        _ => InputValue::Int(discriminator.into()),
    };
    value_of(of, Input(given))?;
    if node.selected_by(discriminator).is_none() {
        return Err(DataError::NoCase { discriminator });
    }
    Ok(())
}
