//! Cursors and the XCDR1/XCDR2 encodings.

mod parameter_list;

pub use parameter_list::{
    Parameter, ParameterError, ParameterFields, ParameterListReader, ParameterListWriter, ParameterValueWriter,
};
