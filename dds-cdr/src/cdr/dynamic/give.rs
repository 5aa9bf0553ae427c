//! What is given as a value: whether it is one of the type.

use super::access::element_type;
use super::graph::{Kind, PrimitiveKind, TypeView, extended, low_bits};
use super::input::{Given, Input};
use super::value::{DEPTH_MAX, List, Run, Value};
use super::{DataError, alike};
use crate::cdr::shape::Shape;
use crate::cdr::{Char16, F128};

/// What is given as a value of a type.
pub(super) fn value_of(ty: TypeView<'_>, Input(given): Input) -> Result<Value, DataError> {
    let given = match given {
        Given::Data(data) => {
            if !alike::are_alike(ty, data.ty.view(), false) {
                let (expected, given) = (ty.node().name.to_string(), data.ty.name().to_owned());
                return Err(DataError::OtherType { expected, given });
            }
            return Ok(data.value);
        }
        given => given,
    };
    match ty.kind() {
        Kind::Primitive(kind) => number_of(ty, *kind, given),
        Kind::String { bound } | Kind::WString { bound } => match given {
            Given::Text(text) => {
                let is_wide = matches!(ty.kind(), Kind::WString { .. });
                check_bound(*bound, if is_wide { text.encode_utf16().count() } else { text.len() })?;
                match text.contains('\0') {
                    true => Err(out_of_range(ty, format!("{text:?}"))),
                    false => Ok(Value::Text(text)),
                }
            }
            given => Err(wrong_type(ty, &given)),
        },
        Kind::Enum(node) => {
            let (found, literal) = match &given {
                Given::Text(name) => (node.literals.iter().find(|literal| *literal.name == **name), name.clone()),
                Given::Int(number) => {
                    let found = i64::try_from(*number).ok().and_then(|number| node.literal_of_value(number));
                    (found, number.to_string())
                }
                given => return Err(wrong_type(ty, given)),
            };
            let found = found.ok_or_else(|| DataError::NoLiteral { ty: ty.node().name.to_string(), literal })?;
            Ok(Value::Bits(i64::from(found.value) as u64))
        }
        Kind::Bitmask(node) => match given {
            Given::Text(names) => {
                let mut bits = 0;
                for name in names.split('|').map(str::trim).filter(|name| !name.is_empty()) {
                    let flag = node.flags.iter().find(|flag| *flag.name == *name);
                    let literal = || DataError::NoLiteral { ty: ty.node().name.to_string(), literal: name.to_owned() };
                    bits |= 1_u64 << flag.ok_or_else(literal)?.position;
                }
                Ok(Value::Bits(bits))
            }
            given => bits_of(ty, node.bit_bound, &given),
        },
        Kind::Bitset(node) => bits_of(ty, node.bit_bound(), &given),
        Kind::Sequence { bound, .. } => {
            check_bound(*bound, len_of(ty, &given)?)?;
            elements_of(ty, given)
        }
        Kind::Array { length, .. } => {
            let (expected, len) = (*length as usize, len_of(ty, &given)?);
            if len != expected {
                return Err(DataError::Length { expected, len });
            }
            elements_of(ty, given)
        }
        Kind::Map { .. } | Kind::Struct(_) | Kind::Union(_) | Kind::Alias { .. } => Err(wrong_type(ty, &given)),
    }
}

fn wrong_type(ty: TypeView<'_>, given: &Given) -> DataError {
    DataError::WrongType { ty: ty.node().name.to_string(), other: given.name() }
}

fn out_of_range(ty: TypeView<'_>, value: String) -> DataError {
    DataError::OutOfRange { ty: ty.node().name.to_string(), value }
}

pub(super) fn check_bound(bound: Option<u32>, len: usize) -> Result<(), DataError> {
    match bound {
        Some(bound) if len > bound as usize => Err(DataError::BoundExceeded { bound, len }),
        // A length has 32 bits.
        _ if u32::try_from(len).is_err() => Err(DataError::BoundExceeded { bound: u32::MAX, len }),
        _ => Ok(()),
    }
}

fn number_of(ty: TypeView<'_>, kind: PrimitiveKind, given: Given) -> Result<Value, DataError> {
    let bits = match (kind, &given) {
        (PrimitiveKind::Bool, Given::Bool(value)) => u64::from(*value),
        (PrimitiveKind::Float32, Given::Float(number)) => (*number as f32).to_bits().into(),
        (PrimitiveKind::Float32, Given::Int(number)) if (*number as f32) as i128 == *number => {
            (*number as f32).to_bits().into()
        }
        (PrimitiveKind::Float64, Given::Float(number)) => number.to_bits(),
        (PrimitiveKind::Float64, Given::Int(number)) if (*number as f64) as i128 == *number => {
            (*number as f64).to_bits()
        }
        (PrimitiveKind::Float128, Given::Float128(number)) => return Ok(Value::Wide(Box::new(number.to_bits()))),
        (PrimitiveKind::Float128, Given::Float(number)) => {
            return Ok(Value::Wide(Box::new(F128::from(*number).to_bits())));
        }
        (PrimitiveKind::Char8, Given::Char(letter)) => match u8::try_from(*letter) {
            Ok(byte) => byte.into(),
            Err(_) => return Err(out_of_range(ty, format!("{letter:?}"))),
        },
        (PrimitiveKind::Char16, Given::Char(letter)) => match Char16::try_from(*letter) {
            Ok(unit) => unit.0.into(),
            Err(_) => return Err(out_of_range(ty, format!("{letter:?}"))),
        },
        (PrimitiveKind::Char8 | PrimitiveKind::Char16, Given::Int(code)) => {
            let max = if kind == PrimitiveKind::Char8 { 0xff } else { 0xffff };
            match (0..=max).contains(code) {
                true => *code as u64,
                false => return Err(out_of_range(ty, code.to_string())),
            }
        }
        (_, Given::Int(number)) => match kind.range() {
            Some((least, most)) if (least..=most).contains(number) => *number as u64,
            Some(_) => return Err(out_of_range(ty, number.to_string())),
            None if matches!(kind, PrimitiveKind::Float32 | PrimitiveKind::Float64) => {
                return Err(out_of_range(ty, number.to_string()));
            }
            None => return Err(wrong_type(ty, &given)),
        },
        _ => return Err(wrong_type(ty, &given)),
    };
    Ok(Value::Bits(bits))
}

fn bits_of(ty: TypeView<'_>, bit_bound: u8, given: &Given) -> Result<Value, DataError> {
    let Given::Int(number) = given else { return Err(wrong_type(ty, given)) };
    match u64::try_from(*number) {
        Ok(bits) if bits & !low_bits(bit_bound) == 0 => Ok(Value::Bits(bits)),
        _ => Err(out_of_range(ty, format!("{number:#x}"))),
    }
}

fn len_of(ty: TypeView<'_>, given: &Given) -> Result<usize, DataError> {
    match given {
        Given::Run(_, run) => Ok(run.len()),
        Given::List(items) => Ok(items.len()),
        given => Err(wrong_type(ty, given)),
    }
}

/// Elements of a sequence or array, whose number was checked.
fn elements_of(ty: TypeView<'_>, given: Given) -> Result<Value, DataError> {
    let Some(element) = element_type(ty) else { return Err(wrong_type(ty, &given)) };
    let items = match (given, element.kind()) {
        // Octets are what `u8` is, and so on: the bits are the same.
        (Given::Run(kind, run), Kind::Primitive(other))
            if kind == *other || (kind == PrimitiveKind::UInt8 && *other == PrimitiveKind::Octet) =>
        {
            return Ok(Value::Run(run));
        }
        (Given::Run(kind, run), _) => {
            (0..run.len()).filter_map(|index| run.get(index)).map(|bits| Input(scalar_of(kind, bits))).collect()
        }
        (Given::List(items), _) => items,
        (given, _) => return Err(wrong_type(ty, &given)),
    };
    let values = items.into_iter().map(|item| value_of(element, item)).collect::<Result<Vec<Value>, _>>()?;
    let Some(size) = element.primitive_size() else {
        return Ok(Value::List(List { len: values.len() as u32, items: values }));
    };
    let mut run = Run::new(size);
    run.resize(values.len());
    for (index, value) in values.iter().enumerate() {
        run.set(index, raw_bits(value));
    }
    Ok(Value::Run(run))
}

/// The bits of a number, however many they are.
pub(super) fn raw_bits(value: &Value) -> u128 {
    match value {
        Value::Wide(bits) => **bits,
        value => value.bits(0).into(),
    }
}

/// A primitive with these bits.
pub(super) fn scalar_of(kind: PrimitiveKind, bits: u128) -> Given {
    let is_signed = kind.range().is_some_and(|(least, _)| least < 0);
    let low = extended(bits as u64, kind.size(), is_signed);
    match kind {
        PrimitiveKind::Bool => Given::Bool(low != 0),
        PrimitiveKind::Float32 => Given::Float(f32::from_bits(low as u32).into()),
        PrimitiveKind::Float64 => Given::Float(f64::from_bits(low)),
        PrimitiveKind::Float128 => Given::Float128(F128::from_bits(bits)),
        PrimitiveKind::Char8 => Given::Char(char::from(low as u8)),
        PrimitiveKind::Char16 => match char::from_u32(low as u32) {
            Some(letter) => Given::Char(letter),
            None => Given::Int(low.into()),
        },
        _ if is_signed => Given::Int((low as i64).into()),
        _ => Given::Int(low.into()),
    }
}

/// Whether a value may lie this deep.
pub(super) fn check_depth(level: usize, value: &Value) -> Result<(), DataError> {
    match level + value.depth() {
        ..=DEPTH_MAX => Ok(()),
        _ => Err(DataError::TooDeep { max: DEPTH_MAX }),
    }
}

/// The type of elements that can be added, if one more fits.
pub(super) fn check_growth(ty: TypeView<'_>, len: usize) -> Result<TypeView<'_>, DataError> {
    let Kind::Sequence { bound, element } = ty.kind() else {
        return Err(DataError::WrongType { ty: ty.node().name.to_string(), other: "more elements" });
    };
    check_bound(*bound, len)?;
    Ok(ty.at(element.ty))
}

/// Whether a union has a case for this discriminator, and its type has it.
pub(super) fn check_discriminator(ty: TypeView<'_>, discriminator: i64) -> Result<(), DataError> {
    let Kind::Union(node) = ty.kind() else {
        return Err(DataError::WrongType { ty: ty.node().name.to_string(), other: "a discriminator" });
    };
    let of = ty.at(node.discriminator);
    let given = match of.kind() {
        Kind::Primitive(PrimitiveKind::Bool) => match discriminator {
            0 | 1 => Given::Bool(discriminator != 0),
            _ => Given::Int(discriminator.into()),
        },
        Kind::Primitive(PrimitiveKind::UInt64) => Given::Int((discriminator as u64).into()),
        _ => Given::Int(discriminator.into()),
    };
    value_of(of, Input(given))?;
    node.selected_by(discriminator).map(|_| ()).ok_or(DataError::NoCase { discriminator })
}
