//! The public API of dynamic values.

use super::access::{self, TargetType};
use super::convert;
use super::edit::{Edit, edit};
use super::input::InputValue;
use super::path::MemberPath;
use super::value::Value;
use super::{DataError, DynamicRef, DynamicType, FromDynamic, Input};

/// A value of a [`DynamicType`] (XTYPES 1.3, 7.5.2).
///
/// A [`MemberPath`] selects a part. Encoding and limits are those of a derived type with the same structure.
/// `Display` and `Debug` print the value. With the feature `serde` it implements `Serialize`, for example to write
/// samples as JSON.
///
/// A new value has the defaults of its type and stores none of them. Memory grows with the parts that you set.
///
/// ```
/// # mod dds_core { pub use dds_cdr::cdr::{self, dynamic}; }
/// use dds_core::dynamic::{DynamicData, DynamicType};
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
    /// Creates a value with the defaults of its type.
    #[must_use]
    pub fn new(ty: &DynamicType) -> Self {
        Self { ty: ty.clone(), value: Value::Default }
    }

    /// The type.
    #[must_use]
    pub fn ty(&self) -> &DynamicType {
        &self.ty
    }

    /// A reference to the whole value.
    #[must_use]
    pub fn as_ref(&self) -> DynamicRef<'_> {
        DynamicRef::new(&self.ty.graph, self.ty.index, &self.value)
    }

    /// The part at a path.
    ///
    /// # Errors
    /// The type has no such part, or the part is not present.
    pub fn at(&self, path: impl MemberPath) -> Result<DynamicRef<'_>, DataError> {
        self.as_ref().at(path)
    }

    /// The part at a path, converted to a Rust type.
    ///
    /// # Errors
    /// The type has no such part, the part is not present, or the conversion fails.
    pub fn get<'a, T: FromDynamic<'a>>(&'a self, path: impl MemberPath) -> Result<T, DataError> {
        self.as_ref().get(path)
    }

    /// Sets the part at a path.
    ///
    /// Missing parts on the path are created: optional members, members of unions, keys of maps. A created member of a
    /// union becomes selected. `None` removes an optional member.
    ///
    /// # Errors
    /// The type has no such part, or the part cannot hold the value. The value stays unchanged.
    pub fn set(&mut self, path: impl MemberPath, value: impl Into<Input>) -> Result<(), DataError> {
        let (steps, input) = (path.steps()?, value.into());
        // `None` for an optional member removes it. For any other member it is a wrong type.
        if matches!(input.0, InputValue::Absent) && access::is_optional(self.ty.view(), &steps) {
            return self.remove(&path);
        }
        // All checks precede the edit, so an error leaves the value unchanged.
        let new = match access::type_at(self.ty.view(), &self.value, &steps)? {
            TargetType::Value(ty) => convert::value_of(ty, input)?,
            TargetType::Bits { bit_count, is_flag, is_signed, .. } => bits_of(&input, bit_count, is_flag, is_signed)?,
        };
        convert::check_depth(steps.len(), &new)?;
        edit(self.ty.view(), &mut self.value, &steps, Edit::Put(new));
        Ok(())
    }

    /// Adds an element at the end of a sequence.
    ///
    /// # Errors
    /// The part is not a sequence, is full, or cannot hold the element. The value stays unchanged.
    pub fn push(&mut self, path: impl MemberPath, value: impl Into<Input>) -> Result<(), DataError> {
        let (steps, sequence) = (path.steps()?, self.place(&path)?);
        let len = self.len_of(&path);
        let element = convert::check_growth(sequence.view(), len.saturating_add(1))?;
        let new = convert::value_of(element, value.into())?;
        convert::check_depth(steps.len() + 1, &new)?;
        edit(self.ty.view(), &mut self.value, &steps, Edit::Push(new));
        Ok(())
    }

    /// Sets the length of a sequence: truncates it, or appends elements with the default value.
    ///
    /// # Errors
    /// The part is not a sequence, or `len` exceeds its bound. The value stays unchanged.
    pub fn resize(&mut self, path: impl MemberPath, len: usize) -> Result<(), DataError> {
        let (steps, sequence) = (path.steps()?, self.place(&path)?);
        convert::check_growth(sequence.view(), len)?;
        edit(self.ty.view(), &mut self.value, &steps, Edit::Resize(len as u32));
        Ok(())
    }

    /// Removes an optional member, an element of a sequence, or an entry of a map. Any other part takes its default.
    ///
    /// # Errors
    /// The type has no such part. Removing an absent member or key succeeds.
    pub fn remove(&mut self, path: impl MemberPath) -> Result<(), DataError> {
        let steps = path.steps()?;
        access::type_at(self.ty.view(), &self.value, &steps)?;
        match self.as_ref().at(&path) {
            // An absent part needs no removal.
            Err(DataError::Absent { .. } | DataError::NoKey { .. } | DataError::NotSelected { .. }) => return Ok(()),
            found => drop(found?),
        }
        edit(self.ty.view(), &mut self.value, &steps, Edit::Remove);
        Ok(())
    }

    /// Sets the discriminator of a union. A newly selected member has the default of its type.
    ///
    /// # Errors
    /// The part is not a union, or no case has the discriminator. The value stays unchanged.
    pub fn select(&mut self, path: impl MemberPath, discriminator: i64) -> Result<(), DataError> {
        let (steps, union) = (path.steps()?, self.place(&path)?);
        convert::check_discriminator(union.view(), discriminator)?;
        edit(self.ty.view(), &mut self.value, &steps, Edit::Select(discriminator));
        Ok(())
    }

    /// The type of the part at a path, whether or not the part is present.
    fn place(&self, path: impl MemberPath) -> Result<DynamicType, DataError> {
        match access::type_at(self.ty.view(), &self.value, &path.steps()?)? {
            TargetType::Value(ty) => Ok(self.ty.at(ty.index)),
            TargetType::Bits { .. } => Err(DataError::WrongType { ty: self.ty.name().to_owned(), other: "bits" }),
        }
    }

    /// The number of elements of the part at a path.
    fn len_of(&self, path: impl MemberPath) -> usize {
        self.at(path).map_or(0, DynamicRef::len)
    }
}

/// Converts an input for bits of a number.
fn bits_of(Input(given): &Input, bit_count: u8, is_flag: bool, is_signed: bool) -> Result<Value, DataError> {
    let number = match (given, is_flag) {
        (InputValue::Bool(value), _) => i128::from(*value),
        // A flag takes a bool only: 2 has no meaning for one bit.
        (InputValue::Int(number), false) => *number,
        (given, _) => return Err(DataError::WrongType { ty: "bits".to_owned(), other: given.name() }),
    };
    // 128 bits, so that a field of 64 bits needs no case of its own.
    let limit = 1_i128 << bit_count;
    let range = if is_signed { -limit / 2..limit / 2 } else { 0..limit };
    if !range.contains(&number) {
        return Err(DataError::OutOfRange { ty: format!("{bit_count} bits"), value: number.to_string() });
    }
    Ok(Value::Bits(number as u64))
}

/// Compares values of types with the same structure. Names of types do not matter.
impl PartialEq for DynamicData {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}
