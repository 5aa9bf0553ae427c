//! Content filters select the samples of a topic that a reader receives (DDS 1.4, 2.2.2.3.3 and Annex B).
//!
//! In: an expression, its parameters and the description of a type, once; then encoded samples. Out: whether a sample
//! passes. The expression is checked against the type and compiled. A [`Filter`] finds its fields in the bytes of a
//! sample, in one pass that ends with the last field, and decodes nothing else. Evaluation allocates no memory and
//! runs no user code. Readers evaluate filters when samples arrive, and writers before they send.
//!
//! Elements of an expression:
//!
//! | | |
//! |---|---|
//! | comparisons | `=`, `<>`, `!=`, `<`, `<=`, `>`, `>=`, `BETWEEN 1 AND 9`, `NOT BETWEEN` |
//! | operands | a field on one side; a literal, parameter or field on the other |
//! | `LIKE 'a%_'` | pattern of a string; `%`: any characters, `_`: one |
//! | `MATCH 'a*,[b-d]?'` | list of POSIX `fnmatch` patterns, as in RTI Connext |
//! | operators | `AND`, `OR`, `NOT`, parentheses |
//! | fields | `pose.position.x`, `corners[2].y`, `grid[1][0]`, fields of bitsets |
//! | unions | members by name, the discriminator as `_d` |
//! | literals | `12`, `-0x1f`, `1.5e3`, `'text'`, `'c'`, `'ENUMERATOR'`, `TRUE`, `FALSE` |
//! | parameters | `%0` to `%99`, or `'%0'` outside of patterns; values `RED` or `'RED'` |
//!
//! Rules that are not obvious:
//!
//! - A comparison with an absent value is false, for every relation. Absent values are absent optional members,
//!   elements beyond the end of a sequence, and union members that are not selected. Without `x`, `NOT (x = 1)` is
//!   true, and `x <> 1` is false.
//! - Numbers are compared by value, also integers with floats. Next to a 32-bit field a literal has 32 bits, so that a
//!   `float` set to 0.1 is `= 0.1`. NaN is unequal to every value.
//! - Strings are ordered by the code points of their characters.
//! - A member that the sender's type lacks counts as 0 or empty.
//! - Filters see the encoded value, before `try_construct` replaces it.
//! - A malformed sample passes. The application then gets the error, and no sample is lost silently.
//!
//! ```
//! use dds_macros::DdsType;
//! use dds_cdr::cdr::{Encoding, TypeInfo, encode_payload};
//! use dds_cdr::filter::{Filter, ExpressionErrorKind};
//!
//! #[derive(DdsType)]
//! #[dds(crate = "dds_cdr")] // not needed in programs that use `dds-core`
//! struct Pose {
//!     robot: String,
//!     x: f64,
//! }
//!
//! let filter = Filter::new(Pose::DESCRIPTION, "robot = %0 AND x BETWEEN 0 AND 10", &["R2".to_owned()])?;
//! let mut payload = Vec::new();
//! encode_payload(&Pose { robot: "R2".to_owned(), x: 1.0 }, Encoding::Xcdr2, &mut payload)?;
//! assert!(filter.passes(&payload));
//!
//! let error = Filter::new(Pose::DESCRIPTION, "robto = 'R2'", &[]).unwrap_err();
//! assert_eq!(error.to_string(), "filter, at byte 0: `Pose` has no field `robto`; did you mean `robot`?; \
//!     name a field of the topic's type, nested fields with dots (`pose.x`)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Filters are untrusted: any peer may announce a reader with one. Therefore the text is bounded ([`LEN_MAX`]), and so
//! are nesting, fields, comparisons and patterns. The time per sample is at most proportional to the product of the
//! sizes of the sample and the expression. The largest expressions occupy 48 KiB for comparisons, 128 KiB for patterns,
//! 112 KiB for paths of fields (in deep types), and their text. 256 comparisons of numbers take a few microseconds.
//! Patterns and comparisons of strings take at most about 2 µs for each character of a sample's string.

mod compare;
mod compile;
mod error;
mod grammar;
mod pattern;
mod program;
mod resolve;
#[cfg(feature = "dynamic")]
mod run_time;
mod syntax;

pub use error::{ExpressionError, ExpressionErrorKind};

use crate::cdr::{DecodeError, FieldPlan, FieldValue, PlannedType, TypeDescription};
use compile::{Compiler, FIELDS_MAX};
use program::Program;
use resolve::FieldType;

/// Most bytes of an expression with its parameters.
///
/// Also the limit of the parameters alone when each use counts. A reader announces them in one datagram, together with
/// its other properties, and every matched writer compiles them.
pub const LEN_MAX: usize = 16 * 1024;

/// The fields of an expression, for either source of types.
#[derive(Debug, Clone)]
enum FilterFields {
    Constant(FieldPlan),
    #[cfg(feature = "dynamic")]
    Dynamic(FieldPlan<crate::cdr::dynamic::DynamicType>),
}

impl FilterFields {
    fn len(&self) -> usize {
        match self {
            Self::Constant(plan) => plan.len(),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(plan) => plan.len(),
        }
    }

    fn read<'de>(&self, payload: &'de [u8], is_key: bool, values: &mut [FieldValue<'de>]) -> Result<(), DecodeError> {
        match self {
            Self::Constant(plan) => plan.read(payload, is_key, values),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(plan) => plan.read(payload, is_key, values),
        }
    }
}

/// A compiled filter expression.
#[derive(Debug, Clone)]
pub struct Filter {
    expression: Box<str>,
    parameters: Box<[String]>,
    fields: FilterFields,
    program: Program,
    uses_only_key: bool,
}

impl Filter {
    /// Compiles `expression` for samples of a type. A blank expression passes every sample.
    ///
    /// # Errors
    /// The expression is invalid, does not fit the type, or the parameters do not fit the expression.
    pub fn new(ty: &'static TypeDescription, expression: &str, parameters: &[String]) -> Result<Self, ExpressionError> {
        Self::compile(ty, FilterFields::Constant, expression, parameters)
    }

    /// As [`new`](Self::new), for samples of a type that is known only at run time.
    ///
    /// ```
    /// use dds_cdr::cdr::Encoding;
    /// use dds_cdr::cdr::dynamic::{DynamicData, DynamicType};
    /// use dds_cdr::filter::Filter;
    ///
    /// let pose = DynamicType::structure("Pose").member("x", DynamicType::float64()).build()?;
    /// let filter = Filter::of_dynamic(&pose, "x > %0", &["1".to_owned()])?;
    /// let mut data = DynamicData::new(&pose);
    /// data.set("x", 1.5)?;
    /// assert!(filter.passes(&data.to_payload(Encoding::Xcdr2)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[cfg(feature = "dynamic")]
    pub fn of_dynamic(
        ty: &crate::cdr::dynamic::DynamicType,
        expression: &str,
        parameters: &[String],
    ) -> Result<Self, ExpressionError> {
        Self::compile(ty.resolved(), FilterFields::Dynamic, expression, parameters)
    }

    fn compile<T: FieldType + PlannedType>(
        ty: T,
        fields_of: impl FnOnce(FieldPlan<T>) -> FilterFields,
        expression: &str,
        parameters: &[String],
    ) -> Result<Self, ExpressionError> {
        // A peer sends both, and each sample pays for the evaluation.
        let len = parameters.iter().map(String::len).fold(expression.len(), usize::saturating_add);
        if len > LEN_MAX {
            return Err(ExpressionError::new(0, ExpressionErrorKind::TooLong { len, max: LEN_MAX }));
        }
        let mut compiler = Compiler::new(ty.clone(), parameters);
        if let Some(condition) = grammar::parse(expression)? {
            compiler.condition(&condition)?;
        }
        // A filter of a remote reader lives as long as the reader.
        compiler.program.instructions.shrink_to_fit();
        let (given, used) = (parameters.len(), compiler.parameters_used);
        // A parameter without effect is a mistake in its number.
        if given > used {
            return Err(ExpressionError::new(0, ExpressionErrorKind::TooManyParameters { given, used }));
        }
        // The grammar limits the parts of a path, so this is a second line of defense.
        let Some(fields) = FieldPlan::new(ty, &compiler.paths) else {
            return Err(ExpressionError::new(0, ExpressionErrorKind::TooDeep { max: crate::cdr::PATH_STEPS_MAX }));
        };
        Ok(Self {
            expression: expression.into(),
            parameters: parameters.into(),
            fields: fields_of(fields),
            uses_only_key: compiler.uses_only_key && !compiler.paths.is_empty(),
            program: compiler.program,
        })
    }

    /// The expression.
    #[must_use]
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// The values of its parameters.
    #[must_use]
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// Whether the sample in `payload` passes. A malformed sample passes.
    #[must_use]
    pub fn passes(&self, payload: &[u8]) -> bool {
        // A sample that cannot be read is passed on: the reader reports the fault.
        self.evaluate(payload, false).unwrap_or(true)
    }

    /// Whether a change without data passes: a dispose or unregister with the serialized key in `payload`.
    ///
    /// It passes unless the expression uses only key fields and they fail it. In that case no sample of the instance
    /// passes, and its end is irrelevant to the reader. Otherwise the cache may hold samples of the instance, and
    /// the reader must learn that the instance has ended. OpenDDS decides likewise.
    #[must_use]
    pub fn passes_key(&self, payload: &[u8]) -> bool {
        self.passes_key_of(payload, true)
    }

    /// Like [`passes_key`](Self::passes_key), with a serialized key or any sample of the instance as `payload`.
    #[must_use]
    pub fn passes_key_of(&self, payload: &[u8], is_key: bool) -> bool {
        !self.uses_only_key || self.evaluate(payload, is_key).unwrap_or(true)
    }

    /// Whether the expression uses key fields only.
    #[must_use]
    pub fn uses_only_key(&self) -> bool {
        self.uses_only_key
    }

    /// Evaluates the expression on the sample, or with `is_key` the serialized key, in `payload`.
    ///
    /// # Errors
    /// The payload is malformed before the last field that the expression needs.
    pub fn evaluate(&self, payload: &[u8], is_key: bool) -> Result<bool, DecodeError> {
        // Few expressions use many fields. Initializing the largest array takes longer than evaluating most samples.
        if self.fields.len() <= FEW {
            return self.evaluate_in(payload, is_key, &mut [FieldValue::Absent; FEW]);
        }
        self.evaluate_in(payload, is_key, &mut [FieldValue::Absent; FIELDS_MAX])
    }

    fn evaluate_in<'de>(
        &self,
        payload: &'de [u8],
        is_key: bool,
        values: &mut [FieldValue<'de>],
    ) -> Result<bool, DecodeError> {
        debug_assert!(self.fields.len() <= values.len(), "the compiler limits the number of fields");
        let values = values.get_mut(..self.fields.len()).unwrap_or_default();
        self.fields.read(payload, is_key, values)?;
        Ok(self.program.run(values))
    }
}

/// Fields of expressions that are evaluated with a small array of values.
const FEW: usize = 6;

#[cfg(test)]
mod tests;
