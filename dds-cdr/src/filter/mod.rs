//! Content filters: which samples of a topic a reader wants (DDS 1.4, 2.2.2.3.3 and Annex B).
//!
//! In: an expression, its parameters and the description of a type, once; then encoded samples. Out: whether a sample
//! passes. The expression is checked against the type and compiled: a [`Filter`] finds the fields that it needs in the bytes
//! of a sample, in one walk that ends with the last of them, and decodes nothing else. It allocates nothing and runs no
//! user code, so a reader asks it wherever samples come in, and a writer before they go out.
//!
//! What an expression can say:
//!
//! | | |
//! |---|---|
//! | comparisons | `=`, `<>` or `!=`, `<`, `<=`, `>`, `>=` between a field and a literal, a parameter or another field; `BETWEEN 1 AND 9`, `NOT BETWEEN` |
//! | patterns of texts | `LIKE 'a%_'` (`%`: any characters, `_`: one); `MATCH 'a*,[b-d]?'`, a list of patterns of POSIX `fnmatch`, as RTI Connext has it |
//! | joined by | `AND`, `OR`, `NOT`, parentheses |
//! | fields | `pose.position.x`, `corners[2].y`, `grid[1][0]`; members of unions by name, the discriminator as `_d`; fields of bitsets |
//! | literals | `12`, `-0x1f`, `1.5e3`, `'text'`, `'c'`, `'ENUMERATOR'`, `TRUE`, `FALSE` |
//! | parameters | `%0` to `%99`, also in quotes (`'%0'`, but in a pattern those are characters). A text may be given as `RED` or `'RED'` |
//!
//! Rules that are not obvious:
//!
//! - A comparison with what a sample does not have is false, whatever it asks: an optional member that is absent, an element
//!   behind the end of a sequence, a member of a union that is not selected. So `NOT (x = 1)` is true without `x`, and
//!   `x <> 1` is not.
//! - Numbers are compared by value, integers with floats too. A literal that is compared with a field of 32 bits is one of 32
//!   bits: a `float` that was set to 0.1 is `= 0.1`. NaN is unequal to everything.
//! - Texts are ordered by the codes of their characters.
//! - A member that the sender's type did not have yet counts as 0 or empty.
//! - What stands in the sample counts, before `try_construct` makes another value of it.
//! - A sample that cannot be read passes: whoever takes it learns what is wrong, and nothing is lost without a word.
//!
//! ```
//! use dds_macros::DdsType;
//! use dds_cdr::cdr::{Encoding, TypeInfo, encode_payload};
//! use dds_cdr::filter::{Filter, FilterErrorKind};
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
//!     name a field of the topic's type; nested ones by dots (`pose.x`)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything here may come from a stranger, who announces a reader with a filter: texts have [`LEN_MAX`] bytes, and
//! nesting, fields, comparisons and patterns their bounds; the time that a sample takes grows with its size and the
//! expression's, and never with their product's powers. What is kept of the largest expressions: 48 KiB of comparisons, 128 KiB
//! of patterns, 112 KiB of ways to fields (if the type goes so deep), and the texts. 256 comparisons of numbers
//! take a few microseconds; patterns and comparisons of texts some 2 µs for each character of a sample's text, at most.

mod compare;
mod compile;
mod error;
mod grammar;
mod pattern;
mod program;
mod resolve;
mod syntax;

pub use error::{FilterError, FilterErrorKind};

use crate::cdr::{DecodeError, FieldPlan, FieldValue, TypeDescription};
use compile::{Compiler, FIELDS_MAX};
use program::Program;

/// Bytes of an expression and its parameters together, and of the parameters alone if each is counted as often as it is named.
/// They are announced in one datagram, with everything else that is said of a reader, and compiled by every writer that
/// matches.
pub const LEN_MAX: usize = 16 * 1024;

/// An expression that is ready to be asked.
#[derive(Debug, Clone)]
pub struct Filter {
    expression: Box<str>,
    parameters: Box<[String]>,
    fields: FieldPlan,
    program: Program,
    uses_only_key: bool,
}

impl Filter {
    /// Compiles `expression` for samples of a type. A blank one passes everything.
    ///
    /// # Errors
    /// The expression is none, does not fit the type, or the parameters do not fit it.
    pub fn new(ty: &'static TypeDescription, expression: &str, parameters: &[String]) -> Result<Self, FilterError> {
        let len = parameters.iter().map(String::len).fold(expression.len(), usize::saturating_add);
        if len > LEN_MAX {
            return Err(FilterError::new(0, FilterErrorKind::TooLong { len, max: LEN_MAX }));
        }
        let mut compiler = Compiler::new(ty, parameters);
        if let Some(condition) = grammar::parse(expression)? {
            compiler.condition(&condition)?;
        }
        compiler.program.steps.shrink_to_fit();
        let (given, used) = (parameters.len(), compiler.parameters_used);
        if given > used {
            return Err(FilterError::new(0, FilterErrorKind::TooManyParameters { given, used }));
        }
        let Some(fields) = FieldPlan::new(ty, &compiler.paths) else {
            return Err(FilterError::new(0, FilterErrorKind::TooDeep { max: crate::cdr::PATH_STEPS_MAX }));
        };
        Ok(Self {
            expression: expression.into(),
            parameters: parameters.into(),
            fields,
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

    /// Whether the sample in `payload` passes. One that cannot be read does.
    #[must_use]
    pub fn passes(&self, payload: &[u8]) -> bool {
        self.evaluate(payload, false).unwrap_or(true)
    }

    /// Whether the instance with the serialized key in `payload` passes: a disposal or the like, which has nothing but a
    /// key.
    ///
    /// It does, unless the expression uses fields of the key only and they fail it: then no sample of the instance
    /// has passed or will, and its end says nothing to the reader. Otherwise samples that have passed may be in the
    /// reader's cache, and it must learn that their instance has ended (OpenDDS decides alike).
    #[must_use]
    pub fn passes_key(&self, payload: &[u8]) -> bool {
        self.passes_key_of(payload, true)
    }

    /// As [`passes_key`](Self::passes_key), of an instance whose key is all that counts of `payload`: a serialized key, or
    /// any of its samples.
    #[must_use]
    pub fn passes_key_of(&self, payload: &[u8], is_key: bool) -> bool {
        !self.uses_only_key || self.evaluate(payload, is_key).unwrap_or(true)
    }

    /// Whether the expression names fields of the key, and no others.
    #[must_use]
    pub fn uses_only_key(&self) -> bool {
        self.uses_only_key
    }

    /// Whether the sample in `payload` meets the expression; `is_key` tells that it is a serialized key.
    ///
    /// # Errors
    /// The payload is no value of the type, as far as had to be read.
    pub fn evaluate(&self, payload: &[u8], is_key: bool) -> Result<bool, DecodeError> {
        // Few expressions name many fields; room for all that are allowed would cost more than most samples.
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
        let values = values.get_mut(..self.fields.len()).unwrap_or_default();
        self.fields.read(payload, is_key, values)?;
        Ok(self.program.run(values))
    }
}

const FEW: usize = 6;

#[cfg(test)]
mod tests;
