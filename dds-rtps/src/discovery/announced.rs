//! What writers and readers have in common where only their kind of announcement differs.

use super::data::{DataError, Decoded, EndpointData, PublicationData, SubscriptionData};
use super::sedp::BuiltinTopic;
use crate::types::GuidPrefix;

/// The announcement of an endpoint: [`PublicationData`] of a writer, [`SubscriptionData`] of a reader. Sealed.
pub trait Announced: Clone + PartialEq + super::matching::Side {
    /// The topic on which it is announced.
    const TOPIC: BuiltinTopic;

    /// Reads the payload of a sample that participant `sender` sent.
    ///
    /// # Errors
    /// The data cannot be used.
    fn decode(payload: &[u8], sender: GuidPrefix) -> Result<Decoded<Self>, DataError>;

    /// Writes the payload into `buffer`, which is cleared first.
    fn encode(&self, buffer: &mut Vec<u8>);

    /// What both kinds have.
    fn endpoint(&self) -> &EndpointData;

    /// The same, to change it.
    fn endpoint_mut(&mut self) -> &mut EndpointData;
}

macro_rules! announced {
    ($data:ident, $topic:ident) => {
        impl Announced for $data {
            const TOPIC: BuiltinTopic = BuiltinTopic::$topic;

            fn decode(payload: &[u8], sender: GuidPrefix) -> Result<Decoded<Self>, DataError> {
                Self::decode(payload, sender)
            }

            fn encode(&self, buffer: &mut Vec<u8>) {
                self.encode(buffer);
            }

            fn endpoint(&self) -> &EndpointData {
                &self.endpoint
            }

            fn endpoint_mut(&mut self) -> &mut EndpointData {
                &mut self.endpoint
            }
        }
    };
}

announced!(PublicationData, Publications);
announced!(SubscriptionData, Subscriptions);
