//! Types that are made at run time, and their values.

mod limits;
mod types;
mod values;
