//! The common interface of the announcements of writers and readers.

use super::data::{Decoded, DiscoveryDataError, EndpointData, PublicationData, SubscriptionData};
use super::sedp::BuiltinPairTopic;
use crate::types::GuidPrefix;

/// The announcement of an endpoint: [`PublicationData`] of a writer, [`SubscriptionData`] of a reader. Sealed.
pub trait EndpointAnnouncement: Clone + PartialEq + super::matching::MatchSide {
    /// The topic on which it is announced.
    const TOPIC: BuiltinPairTopic;

    /// Decodes the payload of a sample that participant `sender` sent.
    ///
    /// # Errors
    /// The data is malformed, incomplete, or not about an endpoint of `sender`.
    fn decode(payload: &[u8], sender: GuidPrefix) -> Result<Decoded<Self>, DiscoveryDataError>;

    /// Writes the payload into `buffer`, which is cleared first.
    fn encode(&self, buffer: &mut Vec<u8>);

    /// Returns the data that both kinds share.
    fn endpoint(&self) -> &EndpointData;

    /// Returns the shared data for changes.
    fn endpoint_mut(&mut self) -> &mut EndpointData;
}

macro_rules! announced {
    ($data:ident, $topic:ident) => {
        impl EndpointAnnouncement for $data {
            const TOPIC: BuiltinPairTopic = BuiltinPairTopic::$topic;

            fn decode(payload: &[u8], sender: GuidPrefix) -> Result<Decoded<Self>, DiscoveryDataError> {
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
