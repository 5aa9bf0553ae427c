//! Encoders, decoders and the XCDR1/XCDR2 encodings.
//!
//! In: values of user types and received bytes. Out: serialized payloads, decoded values, key hashes. Nothing is owned
//! beyond a call: the caller lends the buffers, which keep their capacity.
//!
//! - [`Encoder`], [`Decoder`]: cursors that know bounds, alignment, byte order and the rules of the [`Encoding`].
//! - [`Encode`], [`Decode`], [`TypeInfo`], [`Keyed`], [`DdsType`]: the traits that `#[derive(DdsType)]` implements.
//! - [`TypeDescription`], [`AnyType`]: a type as constant data, or as data of the run time (feature `dynamic`).
//! - [`WString`], [`Char16`], [`F128`], [`Bounded`], [`OrDefault`], [`Trimmed`]: DDS types without a Rust counterpart.
//!   [`Union`], [`Plain`]: enums with data, and structs whose memory is their encoding.
//! - [`KeyHasher`]: computes the instances of one type, for samples in any encoding.
//! - [`encode_payload`], [`decode_payload`], [`key_hash_of`], [`instance_of_payload`]: whole payloads, with header.
//! - `FieldPlan`: reads single fields of payloads without decoding.
//! - [`Run`], [`Encoded`], [`Raw`]: samples that stay encoded.
//!
//! ```
//! use dds_macros::DdsType;
//! use dds_cdr::cdr::{Encoding, Keyed, TypeInfo, decode_payload, encode_payload, instance_of_payload, key_hash_of};
//!
//! #[derive(DdsType, Debug, PartialEq)]
//! #[dds(crate = "dds_cdr")] // not needed in programs that use `dds-core`
//! struct Pose {
//!     #[dds(key)]
//!     robot: u32,
//!     x: f64,
//! }
//!
//! let pose = Pose { robot: 7, x: 1.0 };
//! let (mut payload, mut scratch) = (Vec::new(), Vec::new());
//! encode_payload(&pose, Encoding::Xcdr2, &mut payload)?;
//! assert_eq!(decode_payload::<Pose>(&payload)?, pose);
//!
//! let instance = key_hash_of(&pose, Encoding::Xcdr2, &mut scratch)?;
//! assert_eq!(instance_of_payload(Pose::DESCRIPTION, &payload, false, &mut scratch)?, instance);
//! assert_eq!(pose.key(), 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All input may be untrusted. A length is compared with the remaining input before memory is allocated for it.
//! Recursive types end at [`NESTING_MAX`]. No value is decoded twice because of later bytes: each nesting level would
//! double the cost.

mod any_type;
mod base;
mod bounded;
mod collection;
mod compare;
mod construct;
mod copy;
mod decoder;
mod description;
#[cfg(feature = "dynamic")]
pub mod dynamic;
mod element;
mod encapsulation;
mod encoder;
mod enumerated;
mod error;
mod field_plan;
mod float128;
mod foreign;
mod key;
mod key_hasher;
mod key_part;
mod key_plan;
mod map;
mod map_key;
mod member;
mod member_value;
mod payload;
mod plain;
mod pointer;
mod primitive;
mod raw;
mod ros_wide;
mod run;
mod shape;
mod text;
mod traits;
mod union;
mod walk;
mod wide;

pub use any_type::AnyType;
#[doc(hidden)]
pub use base::{derived_members, member_count, next_member_id};
pub use bounded::{Bounded, Measured};
pub use construct::{Trim, TryConstruct};
#[doc(hidden)]
pub use copy::{append, copy, copy_of};
pub use decoder::{Decoder, EMPTY_VALUES_MAX, NESTING_MAX};
pub use description::{MemberDescription, StructDescription, TypeDescription, TypeKind, TypeRef};
pub use element::{OrDefault, Trimmed};
pub use encapsulation::{ByteOrder, Encapsulation, Encoding, Extensibility, Format};
pub use encoder::{Encoder, LongRuns};
#[doc(hidden)]
pub use enumerated::length_code_of_bits;
pub use enumerated::{
    BitfieldDescription, BitfieldValue, BitflagDescription, BitmaskDescription, BitsetDescription, EnumDescription,
    EnumLiteralDescription,
};
pub use error::{DecodeError, DecodeErrorKind, EncodeError};
pub(crate) use field_plan::{FieldPlan, PlannedType};
pub use field_plan::{FieldStep, FieldValue, PATH_STEPS_MAX};
pub use float128::F128;
pub use key::{key_hash_of, key_hash_of_key, key_hashes_agree};
pub use key_hasher::KeyHasher;
#[doc(hidden)]
pub use key_part::{KeyPart, NotInKey};
pub use map_key::MapKey;
#[doc(hidden)]
pub use member::LengthCode;
#[doc(hidden)]
pub use member_value::{MemberValue, converted};
pub use payload::{
    decode_key_payload, decode_payload, decode_payload_into, encode_key_payload, encode_payload, encode_payload_beside,
};
pub use plain::Plain;
#[doc(hidden)]
pub use plain::{PlainMemory, larger};
pub use primitive::{InMemory, Octet, Primitive};
pub use raw::{Encoded, Raw};
pub use ros_wide::RosWString;
pub use run::Run;
#[doc(hidden)]
pub use traits::KeyElement;
pub use traits::{DdsType, Decode, DecodeOwned, Encode, KeyMember, Keyed, TypeInfo, ViewOf, WholeKey};
#[doc(hidden)]
pub use union::unused_label;
pub use union::{Union, UnionCase, UnionDescription};
pub use walk::{instance_of_payload, key_hash_of_payload};
pub use wide::{Char16, WString};

#[cfg(test)]
mod tests;
