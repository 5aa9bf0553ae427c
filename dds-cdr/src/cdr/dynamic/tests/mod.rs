//! Tests of dynamic types and values.

mod limits;
mod types;
mod values;
