//! A part of a value, with its type, to be looked at.

use super::access::{self, Found};
use super::graph::{Graph, Index, Kind, TypeView, low_bits};
use super::input::Given;
use super::path::{Path, Step};
use super::value::{DEFAULT, Run, Value};
use super::{DataError, DynamicData, DynamicType, FromDynamic, PrimitiveKindOf};
use crate::cdr::InMemory;
use std::sync::{Arc, LazyLock};

/// A part of a [`DynamicData`]: a value with its type, borrowed.
#[derive(Clone, Copy)]
pub struct DynamicRef<'a> {
    pub(super) graph: &'a Arc<Graph>,
    pub(super) index: Index,
    pub(super) here: Here<'a>,
}

/// Where a value is.
#[derive(Clone, Copy)]
pub(super) enum Here<'a> {
    At(&'a Value),
    /// A number that is a part of another value: an element of a run, a flag, a field.
    Number(u128),
}

/// The types of flags, and of fields of bitsets.
static FLAG: LazyLock<DynamicType> = LazyLock::new(DynamicType::boolean);
static FIELD: LazyLock<DynamicType> = LazyLock::new(DynamicType::uint64);
static SIGNED_FIELD: LazyLock<DynamicType> = LazyLock::new(DynamicType::int64);

impl<'a> DynamicRef<'a> {
    pub(super) fn new(graph: &'a Arc<Graph>, index: Index, value: &'a Value) -> Self {
        Self { graph, index, here: Here::At(value) }
    }

    pub(super) fn view(self) -> TypeView<'a> {
        TypeView { graph: self.graph, index: self.index }
    }

    /// The value, of what is more than a number that is a part of another.
    pub(super) fn value(self) -> &'a Value {
        match self.here {
            Here::At(value) => value,
            Here::Number(_) => &DEFAULT,
        }
    }

    /// The bits of a number.
    pub(super) fn bits(self) -> u128 {
        match (self.here, self.view().kind()) {
            (Here::Number(bits), _) => bits,
            (Here::At(value), Kind::Primitive(kind)) if kind.size() == 16 => value.wide(),
            (Here::At(value), _) => value.bits(self.view().default_bits()).into(),
        }
    }

    fn found(self, found: Found<'a, 'a>) -> Result<Self, DataError> {
        let (view, here) = match found {
            Found::Value(view, value) => (view, Here::At(value)),
            Found::Number(view, bits) => (view, Here::Number(bits)),
            Found::Nothing(_, error) => return Err(error),
            Found::Bits { bits, bit_count, is_flag, is_signed } => {
                // To the top, and back with copies of the sign.
                let shift = 64 - u32::from(bit_count.clamp(1, 64));
                let (ty, bits): (&'static DynamicType, u64) = match (is_flag, is_signed) {
                    (true, _) => (&FLAG, bits),
                    (false, true) => (&SIGNED_FIELD, ((bits << shift) as i64 >> shift) as u64),
                    (false, false) => (&FIELD, bits & low_bits(bit_count)),
                };
                return Ok(Self { graph: &ty.graph, index: ty.index, here: Here::Number(bits.into()) });
            }
        };
        Ok(Self { graph: self.graph, index: view.index, here })
    }

    fn step(self, step: Step<'_>) -> Result<Self, DataError> {
        match self.here {
            Here::At(value) => self.found(access::step(self.view(), value, step)?),
            Here::Number(bits) => self.found(access::step(self.view(), &Value::Bits(bits as u64), step).and_then(
                // Only bits of a number can be a part of one.
                |found| match found {
                    Found::Bits { bits, bit_count, is_flag, is_signed } => {
                        Ok(Found::Bits { bits, bit_count, is_flag, is_signed })
                    }
                    _ => Err(self.wrong_type("a part")),
                },
            )?),
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

    /// The part that a path leads to.
    ///
    /// # Errors
    /// There is no such part, or it is not there now.
    pub fn at(self, path: impl Path) -> Result<Self, DataError> {
        path.steps()?.into_iter().try_fold(self, Self::step)
    }

    /// The part that a path leads to, as a value of this program.
    ///
    /// # Errors
    /// There is no such part, it is not there now, or it is no such value.
    pub fn get<T: FromDynamic<'a>>(self, path: impl Path) -> Result<T, DataError> {
        T::from_found(self.at(path))
    }

    /// Itself as a value of this program.
    ///
    /// # Errors
    /// It is no such value.
    pub fn to<T: FromDynamic<'a>>(self) -> Result<T, DataError> {
        T::from_found(Ok(self))
    }

    /// A copy with its own type.
    #[must_use]
    pub fn to_data(self) -> DynamicData {
        let value = match (self.here, self.view().kind()) {
            (Here::At(value), _) => value.clone(),
            (Here::Number(bits), Kind::Primitive(kind)) if kind.size() == 16 => Value::Wide(Box::new(bits)),
            (Here::Number(bits), _) => {
                let given = self.scalar().map(super::Input);
                given
                    .and_then(|input| super::give::value_of(self.view(), input).ok())
                    .unwrap_or(Value::Bits(bits as u64))
            }
        };
        DynamicData { ty: self.ty(), value }
    }

    /// The number, bool or char that it is.
    pub(super) fn scalar(self) -> Option<Given> {
        match self.view().kind() {
            Kind::Primitive(kind) => Some(super::give::scalar_of(*kind, self.bits())),
            _ => None,
        }
    }

    /// The elements of a sequence or array, the entries of a map, or the bytes of a string, counted.
    #[must_use]
    pub fn len(self) -> usize {
        match self.view().kind() {
            Kind::String { .. } | Kind::WString { .. } => self.value().text().len(),
            _ => access::len(self.view(), self.value()),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The members of a struct with their names, in the order of definition; optional ones that are absent are `None`. None
    /// of others.
    pub fn members(self) -> impl ExactSizeIterator<Item = (&'a str, Option<DynamicRef<'a>>)> + Clone {
        let members: &'a [super::graph::Member] = match self.view().kind() {
            Kind::Struct(node) => &node.members,
            _ => &[],
        };
        members.iter().enumerate().map(move |(index, member)| {
            let kept = self.value().member(index as u32).or(member.default.as_ref());
            let value = kept.or((!member.is_optional).then_some(&DEFAULT));
            (&*member.name, value.map(|value| Self::new(self.graph, member.ty, value)))
        })
    }

    /// The elements of a sequence or array; none of others.
    pub fn elements(self) -> impl ExactSizeIterator<Item = DynamicRef<'a>> + Clone {
        let element = match self.view().kind() {
            Kind::Sequence { element, .. } | Kind::Array { element, .. } => Some(self.view().at(element.ty)),
            _ => None,
        };
        let len = element.map_or(0, |_| self.len());
        (0..len).map(move |index| {
            let view = element.unwrap_or(self.view());
            let here = match access::element_at(view, self.value(), index) {
                Found::Value(_, value) => Here::At(value),
                Found::Number(_, bits) => Here::Number(bits),
                _ => Here::At(&DEFAULT),
            };
            Self { graph: self.graph, index: view.index, here }
        })
    }

    /// The keys of a map with their values; none of others.
    pub fn entries(self) -> impl ExactSizeIterator<Item = (DynamicRef<'a>, DynamicRef<'a>)> + Clone {
        let (entries, types) = match self.view().kind() {
            Kind::Map { key, element, .. } => (self.value().entries(), (key.ty, element.ty)),
            _ => (&[][..], (0, 0)),
        };
        entries
            .iter()
            .map(move |(key, value)| (Self::new(self.graph, types.0, key), Self::new(self.graph, types.1, value)))
    }

    /// The discriminator of a union, as a number: of a literal, of a character, 0 or 1; one of 64 bits without a sign as if it
    /// had one.
    #[must_use]
    pub fn discriminator(self) -> Option<i64> {
        match self.view().kind() {
            Kind::Union(_) => Some(access::selection(self.view(), self.value()).0),
            _ => None,
        }
    }

    /// The discriminator of a union as a value of its type.
    #[must_use]
    pub fn discriminator_value(self) -> Option<Self> {
        let Kind::Union(node) = self.view().kind() else { return None };
        let bits = self.discriminator()? as u64;
        Some(Self { graph: self.graph, index: node.discriminator, here: Here::Number(bits.into()) })
    }

    /// The member that a union has now, with its name; `None` if the present case has none, and of others.
    #[must_use]
    pub fn selected(self) -> Option<(&'a str, Self)> {
        let Kind::Union(node) = self.view().kind() else { return None };
        let (discriminator, value) = access::selection(self.view(), self.value());
        let case = node.selected_by(discriminator)?;
        Some((&*case.name, Self::new(self.graph, case.ty?, value)))
    }

    /// The name of the literal of an enum; `None` of others.
    #[must_use]
    pub fn literal(self) -> Option<&'a str> {
        let Kind::Enum(node) = self.view().kind() else { return None };
        node.literal_of_value(self.bits() as u64 as i64).map(|literal| &*literal.name)
    }

    /// The names of the flags of a bitmask that are set; none of others.
    pub fn flags(self) -> impl Iterator<Item = &'a str> + Clone {
        let flags: &'a [super::graph::Flag] = match self.view().kind() {
            Kind::Bitmask(node) => &node.flags,
            _ => &[],
        };
        let bits = self.bits() as u64;
        flags.iter().filter(move |flag| bits >> flag.position & 1 != 0).map(|flag| &*flag.name)
    }

    /// The fields of a bitset with their names; none of others.
    pub fn fields(self) -> impl Iterator<Item = (&'a str, DynamicRef<'a>)> + Clone {
        let fields: &'a [super::graph::Field] = match self.view().kind() {
            Kind::Bitset(node) => &node.fields,
            _ => &[],
        };
        fields.iter().filter_map(move |field| Some((&*field.name, self.step(Step::Name(&field.name)).ok()?)))
    }

    /// The text of a string; `None` of others.
    #[must_use]
    pub fn as_str(self) -> Option<&'a str> {
        match self.view().kind() {
            Kind::String { .. } | Kind::WString { .. } => Some(self.value().text()),
            _ => None,
        }
    }

    /// The elements of a sequence or array of numbers of exactly this type where they lie; `None` of others, and of arrays
    /// that nothing was put into.
    ///
    /// `u8` is `octet` as well.
    #[must_use]
    pub fn as_slice<T: InMemory + PrimitiveKindOf>(self) -> Option<&'a [T]> {
        let (Kind::Sequence { element, .. } | Kind::Array { element, .. }) = self.view().kind() else { return None };
        let Kind::Primitive(kind) = self.view().at(element.ty).kind() else { return None };
        if !T::is_of(*kind) {
            return None;
        }
        match self.value() {
            Value::Run(Run::Of1(run)) => T::run_of(run),
            Value::Run(Run::Of2(run)) => T::run_of(u16::bytes_of(run)),
            Value::Run(Run::Of4(run)) => T::run_of(u32::bytes_of(run)),
            Value::Run(Run::Of8(run)) => T::run_of(u64::bytes_of(run)),
            Value::Default if matches!(self.view().kind(), Kind::Sequence { .. }) => Some(&[]),
            _ => None,
        }
    }
}

impl PartialEq for DynamicRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        super::equal::are_equal(*self, *other)
    }
}
