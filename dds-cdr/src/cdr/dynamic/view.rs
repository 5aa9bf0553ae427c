//! References to parts of values.

use super::access::{self, Target};
use super::graph::{Graph, Index, NodeKind, TypeView, low_bits};
use super::input::InputValue;
use super::path::{MemberPath, PathStep};
use super::value::{DEFAULT, Primitives, Value};
use super::{DataError, DynamicData, DynamicType, FromDynamic, PrimitiveKindOf};
use crate::cdr::InMemory;
use std::sync::{Arc, LazyLock};

/// A part of a [`DynamicData`]: a value with its type, borrowed.
#[derive(Clone, Copy)]
pub struct DynamicRef<'a> {
    pub(super) graph: &'a Arc<Graph>,
    pub(super) index: Index,
    pub(super) target: RefTarget<'a>,
}

/// The referenced part.
#[derive(Clone, Copy)]
pub(super) enum RefTarget<'a> {
    Value(&'a Value),
    /// A number inside of another value: an element of an array of primitives, a flag, or a field.
    Number(u128),
}

// The types of flags, and of fields of bitsets.
static FLAG: LazyLock<DynamicType> = LazyLock::new(DynamicType::boolean);
static FIELD: LazyLock<DynamicType> = LazyLock::new(DynamicType::uint64);
static SIGNED_FIELD: LazyLock<DynamicType> = LazyLock::new(DynamicType::int64);

impl<'a> DynamicRef<'a> {
    pub(super) fn new(graph: &'a Arc<Graph>, index: Index, value: &'a Value) -> Self {
        Self { graph, index, target: RefTarget::Value(value) }
    }

    pub(super) fn view(self) -> TypeView<'a> {
        TypeView { graph: self.graph, index: self.index }
    }

    /// The stored value; the default for a number inside of another value.
    pub(super) fn value(self) -> &'a Value {
        match self.target {
            RefTarget::Value(value) => value,
            RefTarget::Number(_) => &DEFAULT,
        }
    }

    /// The bits of a number.
    pub(super) fn bits(self) -> u128 {
        match (self.target, self.view().kind()) {
            (RefTarget::Number(bits), _) => bits,
            (RefTarget::Value(value), NodeKind::Primitive(kind)) if kind.size() == 16 => value.wide(),
            (RefTarget::Value(value), _) => value.bits(self.view().default_bits()).into(),
        }
    }

    fn found(self, found: Target<'a, 'a>) -> Result<Self, DataError> {
        let (view, target) = match found {
            Target::Value(view, value) => (view, RefTarget::Value(value)),
            Target::Number(view, bits) => (view, RefTarget::Number(bits)),
            Target::Missing(_, error) => return Err(error),
            Target::Bits { bits, bit_count, is_flag, is_signed } => {
                // Shift the field to the top and back, to extend its sign.
                let shift = 64 - u32::from(bit_count.clamp(1, 64));
                let (ty, bits): (&'static DynamicType, u64) = match (is_flag, is_signed) {
                    (true, _) => (&FLAG, bits),
                    (false, true) => (&SIGNED_FIELD, ((bits << shift) as i64 >> shift) as u64),
                    (false, false) => (&FIELD, bits & low_bits(bit_count)),
                };
                // A flag or field has no node in the graph of its type, so it gets one of these fixed types.
                return Ok(Self { graph: &ty.graph, index: ty.index, target: RefTarget::Number(bits.into()) });
            }
        };
        Ok(Self { graph: self.graph, index: view.index, target })
    }

    fn step(self, step: PathStep<'_>) -> Result<Self, DataError> {
        match self.target {
            RefTarget::Value(value) => self.found(access::step(self.view(), value, step)?),
            RefTarget::Number(bits) => match access::step(self.view(), &Value::Bits(bits as u64), step)? {
                // The parts of a number are bits.
                Target::Bits { bits, bit_count, is_flag, is_signed } => {
                    self.found(Target::Bits { bits, bit_count, is_flag, is_signed })
                }
                _ => Err(self.wrong_type("a part")),
            },
        }
    }

    pub(super) fn wrong_type(self, other: &'static str) -> DataError {
        DataError::WrongType { ty: self.view().node().name.to_string(), other }
    }

    /// The type.
    #[must_use]
    pub fn ty(self) -> DynamicType {
        DynamicType { graph: Arc::clone(self.graph), index: self.index }
    }

    /// The part at a path.
    ///
    /// # Errors
    /// The type has no such part, or the part is not present.
    pub fn at(self, path: impl MemberPath) -> Result<Self, DataError> {
        path.steps()?.into_iter().try_fold(self, Self::step)
    }

    /// The part at a path, converted to a Rust type.
    ///
    /// # Errors
    /// The type has no such part, the part is not present, or the conversion fails.
    pub fn get<T: FromDynamic<'a>>(self, path: impl MemberPath) -> Result<T, DataError> {
        T::from_found(self.at(path))
    }

    /// Converts the part to a Rust type.
    ///
    /// # Errors
    /// The conversion fails.
    pub fn to<T: FromDynamic<'a>>(self) -> Result<T, DataError> {
        T::from_found(Ok(self))
    }

    /// Copies the part with its type.
    #[must_use]
    pub fn to_data(self) -> DynamicData {
        let value = match (self.target, self.view().kind()) {
            (RefTarget::Value(value), _) => value.clone(),
            (RefTarget::Number(bits), NodeKind::Primitive(kind)) if kind.size() == 16 => Value::Wide(Box::new(bits)),
            (RefTarget::Number(bits), _) => {
                // The bits in a sequence are not extended, those of a single value are.
                let value = match self.scalar() {
                    Some(given) => super::convert::value_of(self.view(), super::Input(given)).ok(),
                    None => None,
                };
                value.unwrap_or(Value::Bits(bits as u64))
            }
        };
        DynamicData { ty: self.ty(), value }
    }

    /// The number, bool or char of a primitive.
    pub(super) fn scalar(self) -> Option<InputValue> {
        match self.view().kind() {
            NodeKind::Primitive(kind) => Some(super::convert::scalar_of(*kind, self.bits())),
            _ => None,
        }
    }

    /// The number of elements of a sequence or array, entries of a map, or bytes of a string.
    #[must_use]
    pub fn len(self) -> usize {
        match self.view().kind() {
            NodeKind::String { .. } | NodeKind::WString { .. } => self.value().text().len(),
            _ => access::len(self.view(), self.value()),
        }
    }

    /// Whether the length is 0.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The members of a struct with their names, in the order of definition.
    ///
    /// Absent members are `None`. Empty for other types.
    pub fn members(self) -> impl ExactSizeIterator<Item = (&'a str, Option<DynamicRef<'a>>)> + Clone {
        let members: &'a [super::graph::MemberNode] = match self.view().kind() {
            NodeKind::Struct(node) => &node.members,
            _ => &[],
        };
        members.iter().enumerate().map(move |(index, member)| {
            let value = match self.value().member(index as u32).or(member.default.as_ref()) {
                None if member.is_optional => return (&*member.name, None),
                None => &DEFAULT,
                Some(value) => value,
            };
            (&*member.name, Some(Self::new(self.graph, member.ty, value)))
        })
    }

    /// The elements of a sequence or array. Empty for other types.
    pub fn elements(self) -> impl ExactSizeIterator<Item = DynamicRef<'a>> + Clone {
        let (view, len) = match self.view().kind() {
            NodeKind::Sequence { element, .. } | NodeKind::Array { element, .. } => {
                (self.view().at(element.ty), self.len())
            }
            // A string has a length too, but no elements.
            _ => (self.view(), 0),
        };
        (0..len).map(move |index| {
            let target = match access::element_at(view, self.value(), index) {
                Target::Value(_, value) => RefTarget::Value(value),
                Target::Number(_, bits) => RefTarget::Number(bits),
                _ => RefTarget::Value(&DEFAULT),
            };
            Self { graph: self.graph, index: view.index, target }
        })
    }

    /// The entries of a map. Empty for other types.
    pub fn entries(self) -> impl ExactSizeIterator<Item = (DynamicRef<'a>, DynamicRef<'a>)> + Clone {
        let (entries, types) = match self.view().kind() {
            NodeKind::Map { key, element, .. } => (self.value().entries(), (key.ty, element.ty)),
            _ => (&[][..], (0, 0)),
        };
        entries
            .iter()
            .map(move |(key, value)| (Self::new(self.graph, types.0, key), Self::new(self.graph, types.1, value)))
    }

    /// The discriminator of a union as a number. `None` for other types.
    ///
    /// It is the value of a literal, the code of a character, or 0 or 1. A `uint64` is reinterpreted as signed.
    #[must_use]
    pub fn discriminator(self) -> Option<i64> {
        match self.view().kind() {
            NodeKind::Union(_) => Some(access::selection(self.view(), self.value()).0),
            _ => None,
        }
    }

    /// The discriminator of a union as a value of its type.
    #[must_use]
    pub fn discriminator_value(self) -> Option<Self> {
        let NodeKind::Union(node) = self.view().kind() else { return None };
        let bits = self.discriminator()? as u64;
        Some(Self { graph: self.graph, index: node.discriminator, target: RefTarget::Number(bits.into()) })
    }

    /// The selected member of a union, with its name. `None` for a case without a member and for other types.
    #[must_use]
    pub fn selected(self) -> Option<(&'a str, Self)> {
        let NodeKind::Union(node) = self.view().kind() else { return None };
        let (discriminator, value) = access::selection(self.view(), self.value());
        let case = node.selected_by(discriminator)?;
        Some((&*case.name, Self::new(self.graph, case.ty?, value)))
    }

    /// The name of the literal of an enum. `None` for other types.
    #[must_use]
    pub fn literal(self) -> Option<&'a str> {
        let NodeKind::Enum(node) = self.view().kind() else { return None };
        Some(&node.literal_of_value(self.bits() as u64 as i64)?.name)
    }

    /// The names of the set flags of a bitmask. Empty for other types.
    pub fn flags(self) -> impl Iterator<Item = &'a str> + Clone {
        let flags: &'a [super::graph::FlagNode] = match self.view().kind() {
            NodeKind::Bitmask(node) => &node.flags,
            _ => &[],
        };
        let bits = self.bits() as u64;
        flags.iter().filter(move |flag| bits >> flag.position & 1 != 0).map(|flag| &*flag.name)
    }

    /// The fields of a bitset with their names. Empty for other types.
    pub fn fields(self) -> impl Iterator<Item = (&'a str, DynamicRef<'a>)> + Clone {
        let fields: &'a [super::graph::BitfieldNode] = match self.view().kind() {
            NodeKind::Bitset(node) => &node.fields,
            _ => &[],
        };
        fields.iter().filter_map(move |field| Some((&*field.name, self.step(PathStep::Name(&field.name)).ok()?)))
    }

    /// The text of a string. `None` for other types.
    #[must_use]
    pub fn as_str(self) -> Option<&'a str> {
        match self.view().kind() {
            NodeKind::String { .. } | NodeKind::WString { .. } => Some(self.value().text()),
            _ => None,
        }
    }

    /// The elements of a sequence or array of exactly this number type, without a copy.
    ///
    /// `None` for other types, and for arrays without a stored element. `u8` serves for `octet` as well.
    #[must_use]
    pub fn as_slice<T: InMemory + PrimitiveKindOf>(self) -> Option<&'a [T]> {
        let (NodeKind::Sequence { element, .. } | NodeKind::Array { element, .. }) = self.view().kind() else {
            return None;
        };
        let NodeKind::Primitive(kind) = self.view().at(element.ty).kind() else { return None };
        if !T::is_of(*kind) {
            return None;
        }
        match self.value() {
            Value::Primitives(Primitives::Of1(run)) => T::run_of(run),
            Value::Primitives(Primitives::Of2(run)) => T::run_of(u16::bytes_of(run)),
            Value::Primitives(Primitives::Of4(run)) => T::run_of(u32::bytes_of(run)),
            Value::Primitives(Primitives::Of8(run)) => T::run_of(u64::bytes_of(run)),
            // A default array has elements, but no memory to borrow.
            Value::Default if matches!(self.view().kind(), NodeKind::Sequence { .. }) => Some(&[]),
            _ => None,
        }
    }
}

impl PartialEq for DynamicRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        super::value_equality::are_equal(*self, *other)
    }
}
