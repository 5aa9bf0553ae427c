//! RTPS messages: borrowed parse and growing build (RTPS 2.5, 8.3 and 9.4).
//!
//! In: a datagram's bytes; [`Message::parse`] and [`Message::submessages`] take them apart without copying, allocating or
//! trusting them, and [`Receiver`] follows whose, for whom and of when each submessage is. Out: [`MessageBuilder`] lays
//! submessages out in a buffer that the caller keeps. Whatever `parse` has returned is legal; what is not is a
//! [`WireError`] with its offset.
//!
//! [`Transform`] is the one place between the lay-out and the socket, and between the socket and `parse`.

mod builder;
mod checksum;
mod content_filter_info;
mod content_filter_property;
mod cursor;
mod error;
mod fields;
mod inline_qos;
mod inline_qos_writer;
mod message;
pub mod parameter_id;
mod parameter_list;
mod payload_end;
mod receiver;
mod recent;
mod set;
pub mod submessage;
mod transform;
mod window;

pub use builder::MessageBuilder;
pub use checksum::{Checksum, ChecksumKind};
pub use content_filter_info::{ContentFilterInfo, FilterSignature};
pub use content_filter_property::{ContentFilterProperty, DDSSQL};
pub use error::{WireError, WireErrorKind};
pub use inline_qos::{InlineQos, SampleIdentity};
pub use inline_qos_writer::InlineQosWriter;
pub use message::{Header, Message, Submessages};
pub use parameter_list::{
    Parameter, ParameterError, ParameterFields, ParameterListReader, ParameterListWriter, ParameterValueWriter,
};
pub use payload_end::PayloadEnd;
pub use receiver::Receiver;
pub(crate) use recent::Recent;
pub use set::{FragmentNumberSet, SET_BITS_MAX, SequenceNumberSet};
pub use submessage::*;
pub use transform::{Scope, Sealed, Transform, TransformError};
pub(crate) use window::Window;
