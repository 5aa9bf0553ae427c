//! What participants tell about themselves and their endpoints: parameter lists on the wire (RTPS 2.5, 8.5 and 9.6.3).
//!
//! In: the payload of an SPDP or SEDP sample. Out: [`ParticipantData`], [`PublicationData`], [`SubscriptionData`] with
//! every value in its type and every default filled in; and the way back.
//!
//! Decoding is lenient where nothing depends on it: unknown parameters are passed over, and so are malformed ones that
//! only inform (names, user data, properties), which are counted. A malformed value that decides about identity or
//! matching rejects the whole, for a default in its place could make a match that neither side asked for. Every list,
//! string and octet sequence that is kept has a bound.

mod decode;
mod endpoint;
mod key;
mod participant;
mod policies;
mod publication;
mod subscription;

pub use decode::{DataError, Decoded};
pub use endpoint::EndpointData;
pub use key::{endpoint_key, guid_of_key, participant_key};
pub use participant::ParticipantData;
pub use publication::PublicationData;
pub use subscription::SubscriptionData;
