//! Types and values in Rust.

use super::traits::has_long_array;
use super::{RustGenerator, kept};
use crate::model::{BasicType, ConstantValue, DataType, DefinitionKind, ElementType, Specification, TryConstruct};

/// How a type is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeSpelling {
    /// With the name of a typedef.
    Alias,
    /// With the type behind each typedef, so that `octet` finds its `u8`.
    Resolved,
}

/// The types of a specification as code of one module names them.
#[derive(Clone, Copy)]
pub(super) struct RustTypeText<'a> {
    pub(super) generator: &'a RustGenerator<'a>,
    /// The module that contains the code.
    pub(super) modules: &'a [String],
    pub(super) spelling: TypeSpelling,
}

impl RustTypeText<'_> {
    /// A name of the prelude, with its path if the module has an item of this name.
    pub(super) fn prelude(self, name: &str) -> String {
        if !self.generator.names.hides(self.modules, name) {
            return name.to_owned();
        }
        let module = match name {
            "String" => "::std::string",
            "Vec" => "::std::vec",
            "Box" => "::std::boxed",
            "Option" => "::core::option",
            "Default" => "::core::default",
            _ => "::core::convert",
        };
        format!("{module}::{name}")
    }

    /// A type that is an element of a collection.
    pub(super) fn element(self, element: &ElementType) -> String {
        let annotations = &element.annotations;
        let tried = kept::of_value(self.specification(), &element.ty, annotations.try_construct(), false);
        let text = match (tried, bound_of(self.specification().resolve(&element.ty))) {
            (TryConstruct::Trim, Some(bound)) => {
                let ty = self.unbounded(&element.ty);
                format!("{}::Trimmed<{ty}, {bound}>", self.generator.cdr())
            }
            (TryConstruct::UseDefault, _) => {
                format!("{}::OrDefault<{}>", self.generator.cdr(), self.bounded(&element.ty))
            }
            _ => self.bounded(&element.ty),
        };
        if annotations.is_external() { format!("{}<{text}>", self.prelude("Box")) } else { text }
    }

    /// A type with its bound as `Bounded`.
    pub(super) fn bounded(self, ty: &DataType) -> String {
        match bound_of(self.specification().resolve(ty)) {
            Some(bound) => format!("{}::Bounded<{}, {bound}>", self.generator.cdr(), self.unbounded(ty)),
            None => self.unbounded(ty),
        }
    }

    /// A type without its own bound. The bounds of elements stay.
    pub(super) fn unbounded(self, ty: &DataType) -> String {
        match ty {
            DataType::Basic(BasicType::WChar) => format!("{}::Char16", self.generator.cdr()),
            DataType::Basic(BasicType::Float128) => format!("{}::F128", self.generator.cdr()),
            DataType::Basic(basic) => basic_name(*basic).to_owned(),
            DataType::String { .. } => self.prelude("String"),
            DataType::WString { .. } => format!("{}::WString", self.generator.cdr()),
            DataType::Sequence { element, .. } => format!("{}<{}>", self.prelude("Vec"), self.element(element)),
            DataType::Map { key, element, .. } => {
                format!("::std::collections::BTreeMap<{}, {}>", self.element(key), self.element(element))
            }
            DataType::Array { element, dimensions } => {
                let mut text = self.element(element);
                for length in dimensions.iter().rev() {
                    text = format!("[{text}; {length}]");
                }
                text
            }
            DataType::Named(id) => match &self.specification().definition(*id).kind {
                DefinitionKind::Typedef(definition) if self.spelling == TypeSpelling::Resolved => {
                    self.unbounded(&definition.ty)
                }
                _ => self.generator.names.path_from(self.modules, *id),
            },
            DataType::Fixed { .. } | DataType::Opaque(_) => {
                debug_assert!(false, "`fixed` and `any` are refused before");
                "()".to_owned()
            }
        }
    }

    /// A value of a type as an expression; `None` if the value does not suit the type.
    pub(super) fn value(self, ty: &DataType, value: &ConstantValue) -> Option<String> {
        let resolved = self.specification().resolve(ty);
        let cdr = self.generator.cdr();
        Some(match (resolved, value) {
            (DataType::Named(id), ConstantValue::Enumerator(_, index)) => {
                let variant = self.generator.names.variants(*id).get(*index)?;
                format!("{}::{variant}", self.generator.names.path_from(self.modules, *id))
            }
            (DataType::Named(id), ConstantValue::Integer(bits)) => {
                format!("{}({bits})", self.generator.names.path_from(self.modules, *id))
            }
            (DataType::Array { element, dimensions }, ConstantValue::List(values)) => {
                let inner = match dimensions.get(1..) {
                    Some(rest) if !rest.is_empty() => DataType::array(element.ty.clone(), rest.to_vec()),
                    _ => element.ty.clone(),
                };
                if dimensions.first().copied() != u32::try_from(values.len()).ok() {
                    return None;
                }
                format!("[{}]", self.values(&inner, values)?)
            }
            (DataType::Sequence { element, .. }, ConstantValue::List(values)) => {
                format!("vec![{}]", self.values(&element.ty, values)?)
            }
            (DataType::String { .. }, _) => format!("{:?}.to_owned()", value.as_str()?),
            (DataType::WString { .. }, _) => format!("{cdr}::WString::from({:?})", value.as_str()?),
            (DataType::Basic(BasicType::WChar), ConstantValue::WChar(character)) => {
                format!("{cdr}::Char16({})", u32::from(*character))
            }
            (DataType::Basic(BasicType::Float128), _) => format!("{cdr}::F128::from({})", plain_value(value)?),
            (DataType::Basic(BasicType::Float32 | BasicType::Float64), ConstantValue::Integer(number)) => {
                format!("{number}.0")
            }
            (DataType::Basic(_), _) => plain_value(value)?,
            _ => return None,
        })
    }

    /// The value of `Default`, which the standard library lacks for long arrays.
    pub(super) fn default_value(self, ty: &DataType) -> String {
        if !has_long_array(self.specification(), ty) {
            return format!("{}::default()", self.prelude("Default"));
        }
        let DataType::Array { element, dimensions } = self.specification().resolve(ty) else {
            debug_assert!(false, "only an array is or contains a long array");
            return format!("{}::default()", self.prelude("Default"));
        };
        let mut text = self.default_value(&element.ty);
        for _ in dimensions {
            text = format!("::core::array::from_fn(|_| {text})");
        }
        text
    }

    fn values(self, ty: &DataType, values: &[ConstantValue]) -> Option<String> {
        let is_wrapped = bound_of(self.specification().resolve(ty)).is_some();
        let mut texts = Vec::new();
        for value in values {
            let text = self.value(ty, value)?;
            texts.push(if is_wrapped { format!("{text}.into()") } else { text });
        }
        Some(texts.join(", "))
    }

    fn specification(&self) -> &Specification {
        self.generator.specification
    }
}

/// A value of a primitive type.
pub(super) fn plain_value(value: &ConstantValue) -> Option<String> {
    Some(match value {
        ConstantValue::Bool(value) => value.to_string(),
        ConstantValue::Integer(value) => value.to_string(),
        ConstantValue::Float(value) if value.is_finite() => format!("{value:?}"),
        ConstantValue::Char(value) | ConstantValue::WChar(value) => format!("{value:?}"),
        ConstantValue::Fixed(value) => {
            let digits = format!("{:0width$}", value.digits.unsigned_abs(), width = usize::from(value.scale) + 1);
            let (whole, rest) = digits.split_at(digits.len() - usize::from(value.scale));
            let sign = if value.digits < 0 { "-" } else { "" };
            format!("{sign}{whole}.{}", if rest.is_empty() { "0" } else { rest })
        }
        _ => return None,
    })
}

/// The bound of a string, sequence or map.
pub(super) fn bound_of(ty: &DataType) -> Option<u32> {
    match ty {
        DataType::String { bound }
        | DataType::WString { bound }
        | DataType::Sequence { bound, .. }
        | DataType::Map { bound, .. } => *bound,
        _ => None,
    }
}

/// Returns whether a received value may not fit the type. The derive refuses `use_default` for other types.
pub(super) fn can_fail(specification: &Specification, ty: &DataType) -> bool {
    match specification.resolve(ty) {
        DataType::Basic(_) => false,
        DataType::String { bound } | DataType::WString { bound } => bound.is_some(),
        _ => true,
    }
}

/// Returns whether a type contains `octet`, and whether it contains `uint8`: outside of structs and unions.
pub(super) fn bytes_of(specification: &Specification, ty: &DataType) -> (bool, bool) {
    match specification.resolve(ty) {
        DataType::Basic(basic) => (*basic == BasicType::Octet, *basic == BasicType::UInt8),
        DataType::Sequence { element, .. } | DataType::Array { element, .. } => bytes_of(specification, &element.ty),
        DataType::Map { key, element, .. } => {
            let (key, element) = (bytes_of(specification, &key.ty), bytes_of(specification, &element.ty));
            (key.0 || element.0, key.1 || element.1)
        }
        _ => (false, false),
    }
}

/// The name of a primitive type. `wchar` and `long double` have none.
pub(super) fn basic_name(basic: BasicType) -> &'static str {
    match basic {
        BasicType::Bool => "bool",
        BasicType::Octet | BasicType::UInt8 => "u8",
        BasicType::Char | BasicType::WChar => "char",
        BasicType::Int8 => "i8",
        BasicType::Int16 => "i16",
        BasicType::UInt16 => "u16",
        BasicType::Int32 => "i32",
        BasicType::UInt32 => "u32",
        BasicType::Int64 => "i64",
        BasicType::UInt64 => "u64",
        BasicType::Float32 => "f32",
        BasicType::Float64 | BasicType::Float128 => "f64",
    }
}
