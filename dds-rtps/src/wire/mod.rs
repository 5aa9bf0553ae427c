//! RTPS messages: borrowed parse and growing build (RTPS 2.5, 8.3 and 9.4).

mod inline_qos;
mod set;
pub mod submessage;

pub use inline_qos::InlineQos;
pub use set::{FragmentNumberSet, SET_BITS_MAX, SequenceNumberSet};
pub use submessage::*;
