//! A value of a type that is known at run time, as applications see it.

use super::access::{self, Part};
use super::edit::{Edit, edit};
use super::give;
use super::input::Given;
use super::path::Path;
use super::value::Value;
use super::{DataError, DynamicRef, DynamicType, FromDynamic, Input};

/// A value of a [`DynamicType`] (XTYPES 1.3, 7.5.2).
///
/// Its parts are reached by paths ([`Path`]). It is encoded as a derived type of the same structure is, byte by byte, and
/// decoded with the same limits. `Display` and `Debug` write it down; with the feature `serde` it is `Serialize`, so that any
/// sample is a line of JSON.
///
/// A new one has the defaults of its type, and takes no memory for them: it grows with what is put into it.
///
/// ```
/// use dds_cdr::cdr::dynamic::{DynamicData, DynamicType};
///
/// let shape = DynamicType::union("Shape", DynamicType::int32())
///     .case("circle", &[1], DynamicType::float32())
///     .case("square", &[2], DynamicType::float32());
/// let drawing = DynamicType::structure("Drawing")
///     .member("color", DynamicType::enumeration("Color").literal("RED").literal("GREEN"))
///     .member("shapes", DynamicType::sequence(shape))
///     .member("title", DynamicType::string())
///     .optional()
///     .build()?;
/// let mut data = DynamicData::new(&drawing);
/// data.set("color", "GREEN")?;
/// data.resize("shapes", 2)?;
/// data.set("shapes[1].square", 2.5)?; // selects the case
/// assert_eq!(data.get::<&str>("color")?, "GREEN");
/// assert_eq!(data.get::<f64>("shapes[1].square")?, 2.5);
/// assert_eq!(data.get::<Option<f64>>("shapes[1].circle")?, None);
/// assert_eq!(data.get::<Option<&str>>("title")?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DynamicData {
    pub(super) ty: DynamicType,
    pub(super) value: Value,
}

impl DynamicData {
    /// A value with what its type has at first.
    #[must_use]
    pub fn new(ty: &DynamicType) -> Self {
        Self { ty: ty.clone(), value: Value::Default }
    }

    /// The type.
    #[must_use]
    pub fn ty(&self) -> &DynamicType {
        &self.ty
    }

    /// All of it, to be looked at.
    #[must_use]
    pub fn as_ref(&self) -> DynamicRef<'_> {
        DynamicRef::new(&self.ty.graph, self.ty.index, &self.value)
    }

    /// The part that a path leads to.
    ///
    /// # Errors
    /// There is no such part, or it is not there now.
    pub fn at(&self, path: impl Path) -> Result<DynamicRef<'_>, DataError> {
        self.as_ref().at(path)
    }

    /// The part that a path leads to, as a value of this program.
    ///
    /// # Errors
    /// There is no such part, it is not there now, or it is no such value.
    pub fn get<'a, T: FromDynamic<'a>>(&'a self, path: impl Path) -> Result<T, DataError> {
        self.as_ref().get(path)
    }

    /// Puts a value in the place that a path leads to. What is not there on the way is made: optional members, members that
    /// a union has not selected (it selects them), keys of maps. `None` takes an optional member away.
    ///
    /// # Errors
    /// There is no such place, or it cannot hold the value. Then nothing has changed.
    pub fn set(&mut self, path: impl Path, value: impl Into<Input>) -> Result<(), DataError> {
        let (steps, input) = (path.steps()?, value.into());
        if matches!(input.0, Given::Absent) && access::is_optional(self.ty.view(), &steps) {
            return self.remove(&path);
        }
        let new = match access::place_of(self.ty.view(), &self.value, &steps)? {
            Part::Value(ty) => give::value_of(ty, input)?,
            Part::Bits { bit_count, is_flag, is_signed, .. } => bits_of(&input, bit_count, is_flag, is_signed)?,
        };
        give::check_depth(steps.len(), &new)?;
        edit(self.ty.view(), &mut self.value, &steps, Edit::Put(new));
        Ok(())
    }

    /// Adds an element at the end of a sequence.
    ///
    /// # Errors
    /// There is no such sequence, it has all elements that its type allows, or cannot hold the value. Then nothing has
    /// changed.
    pub fn push(&mut self, path: impl Path, value: impl Into<Input>) -> Result<(), DataError> {
        let (steps, sequence) = (path.steps()?, self.place(&path)?);
        let len = self.len_of(&path);
        let element = give::check_growth(sequence.view(), len.saturating_add(1))?;
        let new = give::value_of(element, value.into())?;
        give::check_depth(steps.len() + 1, &new)?;
        edit(self.ty.view(), &mut self.value, &steps, Edit::Push(new));
        Ok(())
    }

    /// Makes a sequence so long: it loses its last elements, or gets new ones with what their type has at first.
    ///
    /// # Errors
    /// There is no such sequence, or it cannot be so long. Then nothing has changed.
    pub fn resize(&mut self, path: impl Path, len: usize) -> Result<(), DataError> {
        let (steps, sequence) = (path.steps()?, self.place(&path)?);
        give::check_growth(sequence.view(), len)?;
        edit(self.ty.view(), &mut self.value, &steps, Edit::Resize(len as u32));
        Ok(())
    }

    /// Takes away an optional member, an element of a sequence, or an entry of a map. What cannot be away has what its type
    /// has at first, or its default.
    ///
    /// # Errors
    /// There is no such place. An absent member or key is none.
    pub fn remove(&mut self, path: impl Path) -> Result<(), DataError> {
        let steps = path.steps()?;
        access::place_of(self.ty.view(), &self.value, &steps)?;
        match self.as_ref().at(&path) {
            Err(DataError::Absent { .. } | DataError::NoKey { .. } | DataError::NotSelected { .. }) => return Ok(()),
            found => drop(found?),
        }
        edit(self.ty.view(), &mut self.value, &steps, Edit::Remove);
        Ok(())
    }

    /// Gives a union this discriminator. If it selects another member than before, that has what its type has at first.
    ///
    /// # Errors
    /// There is no such union, or no case of it has the discriminator. Then nothing has changed.
    pub fn select(&mut self, path: impl Path, discriminator: i64) -> Result<(), DataError> {
        let (steps, union) = (path.steps()?, self.place(&path)?);
        give::check_discriminator(union.view(), discriminator)?;
        edit(self.ty.view(), &mut self.value, &steps, Edit::Select(discriminator));
        Ok(())
    }

    /// The type of the place that a path leads to, be there a value or not.
    fn place(&self, path: impl Path) -> Result<DynamicType, DataError> {
        match access::place_of(self.ty.view(), &self.value, &path.steps()?)? {
            Part::Value(ty) => Ok(self.ty.at(ty.index)),
            Part::Bits { .. } => Err(DataError::WrongType { ty: self.ty.name().to_owned(), other: "bits" }),
        }
    }

    /// How many elements are in a place.
    fn len_of(&self, path: impl Path) -> usize {
        self.at(path).map_or(0, DynamicRef::len)
    }
}

/// What is given for some bits of a number.
fn bits_of(Input(given): &Input, bit_count: u8, is_flag: bool, is_signed: bool) -> Result<Value, DataError> {
    let number = match (given, is_flag) {
        (Given::Bool(value), _) => i128::from(*value),
        (Given::Int(number), false) => *number,
        (given, _) => return Err(DataError::WrongType { ty: "bits".to_owned(), other: given.name() }),
    };
    let limit = 1_i128 << bit_count;
    let range = if is_signed { -limit / 2..limit / 2 } else { 0..limit };
    match range.contains(&number) {
        true => Ok(Value::Bits(number as u64)),
        false => Err(DataError::OutOfRange { ty: format!("{bit_count} bits"), value: number.to_string() }),
    }
}

/// Of types that have the same structure, whatever they are called.
impl PartialEq for DynamicData {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}
