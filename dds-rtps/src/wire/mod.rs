//! RTPS messages: borrowed parse and growing build (RTPS 2.5, 8.3 and 9.4).
//!
//! In: a datagram's bytes. [`Message::parse`] and [`Message::submessages`] parse them without copying, allocating or
//! trusting them. [`Receiver`] tracks the source, the destination and the timestamp of each submessage. Out:
//! [`MessageBuilder`] appends submessages to a buffer of the caller. A parsed value is always valid; anything else is
//! a [`WireError`] with its offset.
//!
//! [`Transform`] is applied after a message is built and before it is sent, and again before it is parsed.

mod builder;
mod checksum;
mod content_filter_info;
mod content_filter_property;
mod cursor;
mod error;
mod fields;
mod inline_qos;
mod inline_qos_writer;
mod long_message;
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
pub use long_message::LongMessage;
pub use message::{Header, Message, Submessages};
pub use parameter_list::{
    Parameter, ParameterError, ParameterFields, ParameterListReader, ParameterListWriter, ParameterValueWriter,
};
pub use payload_end::PayloadEnd;
pub use receiver::Receiver;
pub(crate) use recent::Recent;
pub use set::{FragmentNumberSet, SET_BITS_MAX, SequenceNumberSet};
pub use submessage::*;
pub use transform::{Headroom, MessageTransform, OpenedMessage, RejectedMessage, Transform, Transformed};
pub(crate) use window::Window;
