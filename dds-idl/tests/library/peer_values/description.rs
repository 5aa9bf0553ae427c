//! Descriptions of types for a peer without TypeObjects: words, each type before its use.
//!
//! ```text
//! primitive KIND                     string BOUND             wstring BOUND
//! sequence BOUND TYPE                array N LENGTH* TYPE     map BOUND KEY TYPE
//! alias NAME TYPE                    known NUMBER
//! struct NAME EXTENSIBILITY HAS_BASE BASE? N (NAME ID IS_KEY IS_OPTIONAL IS_MUST_UNDERSTAND TYPE)*
//! union NAME EXTENSIBILITY TYPE N (NAME ID IS_DEFAULT N LABEL* TYPE)*
//! enum NAME EXTENSIBILITY BITS N (NAME VALUE)*
//! bitmask NAME EXTENSIBILITY BITS N (NAME POSITION)*
//! ```
//!
//! A kind of a primitive is that of a TypeIdentifier. The bound 0 stands for no bound. `known` is a type with a name
//! that stood before. The number counts from 0 in the order of their ends.

use dds_cdr::cdr::Extensibility;
use dds_cdr::cdr::dynamic::{DynamicKind, DynamicType, PrimitiveKind};
use std::fmt::Write;

#[derive(Default)]
pub(super) struct Describer {
    pub(super) words: String,
    known: Vec<DynamicType>,
}

impl Describer {
    fn push(&mut self, word: impl std::fmt::Display) {
        write!(self.words, " {word}").unwrap();
    }

    pub(super) fn ty(&mut self, ty: &DynamicType) {
        if let Some(number) = self.known.iter().position(|known| known.name() == ty.name() && !ty.name().is_empty()) {
            self.push(format_args!("known {number}"));
            return;
        }
        let bound = ty.bound().unwrap_or(0);
        match ty.kind() {
            DynamicKind::Primitive(kind) => return self.push(format_args!("primitive {}", number_of(kind))),
            DynamicKind::String => return self.push(format_args!("string {bound}")),
            DynamicKind::WString => return self.push(format_args!("wstring {bound}")),
            DynamicKind::Sequence => {
                self.push(format_args!("sequence {bound}"));
                return self.ty(&ty.element().unwrap());
            }
            DynamicKind::Map => {
                self.push(format_args!("map {bound}"));
                self.ty(&ty.key_element().unwrap());
                return self.ty(&ty.element().unwrap());
            }
            DynamicKind::Array => return self.array(ty),
            DynamicKind::Alias => {
                self.push(format_args!("alias {}", ty.name()));
                self.ty(&ty.aliased().unwrap());
            }
            DynamicKind::Enum | DynamicKind::Bitmask => self.named_numbers(ty),
            DynamicKind::Struct => self.structure(ty),
            DynamicKind::Union => self.union(ty),
            kind => panic!("no description of {kind:?}"),
        }
        self.known.push(ty.clone());
    }

    fn array(&mut self, ty: &DynamicType) {
        let (mut lengths, mut element) = (vec![ty.bound().unwrap()], ty.element().unwrap());
        while element.kind() == DynamicKind::Array {
            lengths.push(element.bound().unwrap());
            element = element.element().unwrap();
        }
        self.push(format_args!("array {}", lengths.len()));
        lengths.iter().for_each(|length| self.push(length));
        self.ty(&element);
    }

    fn start(&mut self, what: &str, ty: &DynamicType) {
        let extensibility = match ty.extensibility() {
            Extensibility::Final => "final",
            Extensibility::Appendable => "appendable",
            Extensibility::Mutable => "mutable",
        };
        self.push(format_args!("{what} {} {extensibility}", ty.name()));
    }

    fn named_numbers(&mut self, ty: &DynamicType) {
        self.start(if ty.kind() == DynamicKind::Enum { "enum" } else { "bitmask" }, ty);
        self.push(format_args!("{} {}", ty.bound().unwrap_or(32), ty.literals().len() + ty.flags().len()));
        ty.literals().for_each(|(name, value)| self.push(format_args!("{name} {value}")));
        ty.flags().for_each(|(name, position)| self.push(format_args!("{name} {position}")));
    }

    fn structure(&mut self, ty: &DynamicType) {
        self.start("struct", ty);
        let base = ty.base();
        self.push(u8::from(base.is_some()));
        // The members of a type with a base include those of the base.
        let inherited = base.as_ref().map_or(0, |base| base.members().len());
        base.iter().for_each(|base| self.ty(base));
        self.push(ty.members().len() - inherited);
        for member in ty.members().skip(inherited) {
            let flags = [member.is_key(), member.is_optional(), member.is_must_understand()].map(u8::from);
            self.push(format_args!("{} {} {} {} {}", member.name(), member.id(), flags[0], flags[1], flags[2]));
            self.ty(&member.ty());
        }
    }

    fn union(&mut self, ty: &DynamicType) {
        self.start("union", ty);
        self.ty(&ty.discriminator().unwrap());
        self.push(ty.cases().len());
        for case in ty.cases() {
            let labels = case.labels();
            self.push(format_args!("{} {} {} {}", case.name(), case.id(), u8::from(case.is_default()), labels.len()));
            labels.iter().for_each(|label| self.push(label));
            self.ty(&case.ty().unwrap());
        }
    }
}

/// The kind of a primitive in TypeIdentifiers (XTypes 1.3, 7.3.4.2).
fn number_of(kind: PrimitiveKind) -> u8 {
    match kind {
        PrimitiveKind::Bool => 0x01,
        PrimitiveKind::Octet => 0x02,
        PrimitiveKind::Int16 => 0x03,
        PrimitiveKind::Int32 => 0x04,
        PrimitiveKind::Int64 => 0x05,
        PrimitiveKind::UInt16 => 0x06,
        PrimitiveKind::UInt32 => 0x07,
        PrimitiveKind::UInt64 => 0x08,
        PrimitiveKind::Float32 => 0x09,
        PrimitiveKind::Float64 => 0x0a,
        PrimitiveKind::Float128 => 0x0b,
        PrimitiveKind::Int8 => 0x0c,
        PrimitiveKind::UInt8 => 0x0d,
        PrimitiveKind::Char8 => 0x10,
        PrimitiveKind::Char16 => 0x11,
        kind => panic!("no number of {kind:?}"),
    }
}
