//! Type descriptions and their hashes: RIHS01 of ROS 2, by `rosidl_generator_type_description`.
//!
//! ```text
//! RIHS01_ + SHA-256 in hex of
//! {"type_description": {"type_name": "…", "fields": [{"name": "…", "type": {"type_id": 17, "capacity": 0,
//!  "string_capacity": 0, "nested_type_name": ""}}]}, "referenced_type_descriptions": [{"type_name": …}]}
//! ```
//!
//! The text is one line of ASCII, with `, ` and `: ` between its parts. Referenced types are sorted by name.
//! Constants, defaults and comments have no influence.

use super::python::{python_repr, python_str};
use super::{InterfaceName, RosBaseType, RosDimension, RosField, RosStructure, RosType, RosTypes, RosValue};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A hash of a ROS type: `RIHS01_` and 64 hexadecimal digits.
///
/// Endpoints announce it as `typehash=RIHS01_…;` in USER_DATA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RosTypeHash(
    /// The SHA-256 value.
    pub [u8; 32],
);

const PREFIX: &str = "RIHS01_";

impl fmt::Display for RosTypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// A text is not a hash of a ROS type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RosTypeHashError;

impl fmt::Display for RosTypeHashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected `RIHS01_` and 64 hexadecimal digits in lower case")
    }
}

impl std::error::Error for RosTypeHashError {}

impl FromStr for RosTypeHash {
    type Err = RosTypeHashError;

    fn from_str(text: &str) -> Result<Self, RosTypeHashError> {
        let digits = text.strip_prefix(PREFIX).ok_or(RosTypeHashError)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if digits.len() != 64 || !digits.bytes().all(is_digit) {
            return Err(RosTypeHashError);
        }
        let mut hash = [0; 32];
        for (index, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * index..2 * index + 2], 16).map_err(|_| RosTypeHashError)?;
        }
        Ok(Self(hash))
    }
}

/// The description of a type and of all types in it: `type_description_interfaces/msg/TypeDescription`.
#[derive(Debug, Clone, PartialEq)]
pub struct RosTypeDescription {
    /// The type.
    pub type_description: IndividualTypeDescription,
    /// All types that it contains, sorted by name.
    pub referenced_type_descriptions: Vec<IndividualTypeDescription>,
}

/// The description of one type: `type_description_interfaces/msg/IndividualTypeDescription`.
#[derive(Debug, Clone, PartialEq)]
pub struct IndividualTypeDescription {
    /// The full name.
    pub type_name: String,
    /// The members on the wire.
    pub fields: Vec<FieldDescription>,
}

/// The description of one field: `type_description_interfaces/msg/Field` and `FieldType`.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldDescription {
    /// The name.
    pub name: String,
    /// A constant of `type_description_interfaces/msg/FieldType`.
    pub type_id: u8,
    /// The size of an array, or the bound of a sequence. 0 without one.
    pub capacity: u64,
    /// The bound of a string. 0 without one.
    pub string_capacity: u64,
    /// The full name of a structure, or an empty text.
    pub nested_type_name: String,
    /// The default value as Python prints it, or an empty text.
    pub default_value: String,
}

impl RosTypes {
    /// Describes a structure, a service or an action. `None` if the type, or a type in it, is not in the set.
    #[must_use]
    pub fn type_description(&self, name: &InterfaceName) -> Option<RosTypeDescription> {
        let root = self.described(name)?;
        let mut referenced = BTreeMap::new();
        let mut open = vec![root];
        while let Some(structure) = open.pop() {
            for field in structure.fields.iter() {
                let Some(nested) = field.ty.base.structure() else { continue };
                if nested != name && !referenced.contains_key(&nested.to_string()) {
                    let nested = self.described(nested)?;
                    referenced.insert(nested.name.to_string(), describe(nested));
                    open.push(nested);
                }
            }
        }
        let referenced_type_descriptions = referenced.into_values().collect();
        Some(RosTypeDescription { type_description: describe(root), referenced_type_descriptions })
    }

    /// Returns the hash of a structure, a service or an action. `None` if the type, or a type in it, is not in the set.
    #[must_use]
    pub fn type_hash(&self, name: &InterfaceName) -> Option<RosTypeHash> {
        Some(self.type_description(name)?.hash())
    }
}

impl RosTypeDescription {
    /// Returns the hash.
    #[must_use]
    pub fn hash(&self) -> RosTypeHash {
        RosTypeHash(Sha256::digest(self.hashed_json()).into())
    }

    /// Returns the text that is hashed: one line, without default values.
    #[must_use]
    pub fn hashed_json(&self) -> String {
        let mut json = DescriptionJson { text: String::new(), has_defaults: false };
        json.description(self);
        json.text
    }

    /// Returns the description as one line of JSON, with default values.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = DescriptionJson { text: String::new(), has_defaults: true };
        json.description(self);
        json.text
    }
}

fn describe(structure: &RosStructure) -> IndividualTypeDescription {
    let fields = structure.members().iter().map(describe_field).collect();
    IndividualTypeDescription { type_name: structure.name.to_string(), fields }
}

fn describe_field(field: &RosField) -> FieldDescription {
    let default_value = match &field.default {
        None => String::new(),
        Some(value @ RosValue::List(_)) => python_repr(value),
        Some(value) => python_str(value),
    };
    FieldDescription {
        name: field.name.clone(),
        type_id: type_id(&field.ty),
        capacity: match field.ty.dimension {
            RosDimension::Array(size) | RosDimension::BoundedSequence(size) => size.into(),
            RosDimension::One | RosDimension::Sequence => 0,
        },
        string_capacity: match &field.ty.base {
            RosBaseType::String { bound: Some(bound) } | RosBaseType::WString { bound: Some(bound) } => (*bound).into(),
            _ => 0,
        },
        nested_type_name: field.ty.base.structure().map(InterfaceName::to_string).unwrap_or_default(),
        default_value,
    }
}

/// Constants of `type_description_interfaces/msg/FieldType`. `char` is `uint8`, except in an `.idl` file.
fn type_id(ty: &RosType) -> u8 {
    let base = match &ty.base {
        RosBaseType::Structure(_) => 1,
        RosBaseType::Int8 => 2,
        RosBaseType::UInt8 | RosBaseType::Char => 3,
        RosBaseType::Int16 => 4,
        RosBaseType::UInt16 => 5,
        RosBaseType::Int32 => 6,
        RosBaseType::UInt32 => 7,
        RosBaseType::Int64 => 8,
        RosBaseType::UInt64 => 9,
        RosBaseType::Float32 => 10,
        RosBaseType::Float64 => 11,
        RosBaseType::IdlChar => 13,
        RosBaseType::IdlWChar => 14,
        RosBaseType::Bool => 15,
        RosBaseType::Byte => 16,
        RosBaseType::String { bound: None } => 17,
        RosBaseType::WString { bound: None } => 18,
        RosBaseType::String { bound: Some(_) } => 21,
        RosBaseType::WString { bound: Some(_) } => 22,
    };
    base + match ty.dimension {
        RosDimension::One => 0,
        RosDimension::Array(_) => 48,
        RosDimension::BoundedSequence(_) => 96,
        RosDimension::Sequence => 144,
    }
}

/// Writes JSON as Python's `json.dumps` does.
struct DescriptionJson {
    text: String,
    has_defaults: bool,
}

impl DescriptionJson {
    fn description(&mut self, description: &RosTypeDescription) {
        self.text.push_str("{\"type_description\": ");
        self.individual(&description.type_description);
        self.text.push_str(", \"referenced_type_descriptions\": [");
        for (index, referenced) in description.referenced_type_descriptions.iter().enumerate() {
            self.comma(index);
            self.individual(referenced);
        }
        self.text.push_str("]}");
    }

    fn individual(&mut self, description: &IndividualTypeDescription) {
        self.text.push_str("{\"type_name\": ");
        self.string(&description.type_name);
        self.text.push_str(", \"fields\": [");
        for (index, field) in description.fields.iter().enumerate() {
            self.comma(index);
            self.text.push_str("{\"name\": ");
            self.string(&field.name);
            let (id, capacity, string_capacity) = (field.type_id, field.capacity, field.string_capacity);
            self.text.push_str(&format!(
                ", \"type\": {{\"type_id\": {id}, \"capacity\": {capacity}, \"string_capacity\": {string_capacity}, \"nested_type_name\": "
            ));
            self.string(&field.nested_type_name);
            self.text.push('}');
            if self.has_defaults {
                self.text.push_str(", \"default_value\": ");
                self.string(&field.default_value);
            }
            self.text.push('}');
        }
        self.text.push_str("]}");
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.text.push_str(", ");
        }
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        for character in text.chars() {
            match character {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                ' '..='~' => self.text.push(character),
                _ => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        self.text.push_str(&format!("\\u{unit:04x}"));
                    }
                }
            }
        }
        self.text.push('"');
    }
}
