//! Announcement of a reader (SEDP subscriptions).

use super::decode::{
    Decoded, DiscoveryDataError, ParameterOutcome, begin, informative_octets, store_informative, walk, write_octets,
};
use super::endpoint::{EndpointData, EndpointDraft};
use super::policies::{PolicyParameter, decide, read_shared_policy, write_policy, write_shared_policies};
use crate::discovery::parameter_id as id;
use crate::qos::{DataReaderQos, DataRepresentation, TypeConsistency};
use crate::types::{EntityId, GuidPrefix};
use crate::wire::{ContentFilterProperty, Parameter};

/// A reader, as SEDP describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionData {
    /// Data that writers have as well.
    pub endpoint: EndpointData,
    /// QoS policies. In received data `representation` is never empty: an absent list means XCDR1.
    pub qos: DataReaderQos,
    /// Whether every sample must carry the writer's QoS
    /// ([`PublicationData::inline_qos`](super::PublicationData::inline_qos)).
    pub expects_inline_qos: bool,
    /// Content filter; `None` for all samples.
    pub content_filter: Option<Box<ContentFilterProperty>>,
}

impl SubscriptionData {
    /// Creates the data of a local reader. An empty DATA_REPRESENTATION becomes all representations that we can read.
    #[must_use]
    pub fn new(endpoint: EndpointData, mut qos: DataReaderQos) -> Self {
        if qos.representation.is_empty() {
            qos.representation.extend_from_slice(DataRepresentation::READABLE);
        }
        Self { endpoint, qos, expects_inline_qos: false, content_filter: None }
    }

    /// Reads the payload of a sample that participant `sender` sent.
    ///
    /// # Errors
    /// The data cannot be used: malformed, incomplete, or not about a reader of `sender`.
    pub fn decode(payload: &[u8], sender: GuidPrefix) -> Result<Decoded<Self>, DiscoveryDataError> {
        let mut endpoint = EndpointDraft::default();
        let mut qos = DataReaderQos::default();
        let mut expects_inline_qos = false;
        let mut content_filter = None;
        let skipped = walk(payload, |parameter| {
            // This decides about the content of samples, so a malformed value rejects the data.
            if parameter.id == id::EXPECTS_INLINE_QOS {
                expects_inline_qos = parameter.fields().bool()?;
                return Ok(ParameterOutcome::Read);
            }
            if parameter.id == id::CONTENT_FILTER_PROPERTY {
                // An unreadable filter only means that more samples are sent.
                let property = ContentFilterProperty::read(parameter.fields());
                return Ok(store_informative(&mut content_filter, property.map(|property| Some(Box::new(property)))));
            }
            match read_policy(&mut qos, parameter)? {
                ParameterOutcome::Unknown => endpoint.read(parameter),
                outcome => Ok(outcome),
            }
        })?;
        if qos.representation.is_empty() {
            // The default of the policy is XCDR1 alone (XTYPES 1.3, 7.6.3.1).
            qos.representation.push(DataRepresentation::Xcdr1);
        }
        let endpoint = endpoint.finish(sender, EntityId::is_reader)?;
        Ok(Decoded { data: Self { endpoint, qos, expects_inline_qos, content_filter }, skipped })
    }

    /// Writes the payload into `buffer`, which is cleared first.
    pub fn encode(&self, buffer: &mut Vec<u8>) {
        let mut list = begin(buffer);
        self.endpoint.write(&mut list);
        let qos = &self.qos;
        write_shared_policies!(list, qos);
        write_policy(&mut list, id::TIME_BASED_FILTER, &qos.time_based_filter);
        if qos.type_consistency != TypeConsistency::default() {
            write_policy(&mut list, id::TYPE_CONSISTENCY, &qos.type_consistency);
        }
        if self.expects_inline_qos {
            list.parameter(id::EXPECTS_INLINE_QOS, |value| {
                value.bool(true);
            });
        }
        if let Some(filter) = &self.content_filter {
            list.parameter(id::CONTENT_FILTER_PROPERTY, |value| filter.write(value));
        }
        list.finish();
    }
}

fn read_policy(qos: &mut DataReaderQos, parameter: &Parameter<'_>) -> Result<ParameterOutcome, DiscoveryDataError> {
    let mut fields = parameter.fields();
    Ok(match parameter.id {
        id::TYPE_CONSISTENCY => decide(&mut qos.type_consistency, &mut fields)?,
        id::TIME_BASED_FILTER => store_informative(&mut qos.time_based_filter, fields.duration().ok()),
        _ => read_shared_policy!(qos, parameter),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::Reliability;
    use crate::types::{Duration, EntityKind, Guid, VendorId};

    fn guid() -> Guid {
        Guid::new(GuidPrefix::new(VendorId::OURS, [1; 10]), EntityId::user(1, EntityKind::ReaderWithKey))
    }

    #[test]
    fn absent_policies_are_the_defaults_of_a_reader() {
        let mut bytes = Vec::new();
        let mut list = begin(&mut bytes);
        list.parameter(id::ENDPOINT_GUID, |value| {
            value.guid(guid());
        });
        list.parameter(id::TOPIC_NAME, |value| {
            value.string("Square");
        });
        list.parameter(id::TYPE_NAME, |value| {
            value.string("ShapeType");
        });
        list.finish();
        let data = SubscriptionData::decode(&bytes, guid().prefix).unwrap().data;
        assert_eq!(data.qos.reliability, Reliability::BestEffort);
        assert_eq!(data.qos.representation, [DataRepresentation::Xcdr1]);
        assert!(!data.expects_inline_qos);
    }

    #[test]
    fn every_policy_survives_a_round_trip() {
        let consistency = TypeConsistency::strict().prevent_type_widening(true);
        let qos = DataReaderQos::default()
            .reliable()
            .transient_local()
            .keep_all()
            .time_based_filter(Duration::from_millis(3))
            .type_consistency(consistency)
            .representation([DataRepresentation::Xcdr1, DataRepresentation::Xcdr2]);
        let endpoint = EndpointData::new(guid(), "Square", "ShapeType");
        let content_filter = Some(Box::new(ContentFilterProperty {
            filtered_topic: "Square_filtered".to_owned(),
            related_topic: "Square".to_owned(),
            class: crate::wire::DDSSQL.to_owned(),
            expression: "x < %0".to_owned(),
            parameters: vec!["10".to_owned()],
        }));
        let data = SubscriptionData { endpoint, qos, expects_inline_qos: true, content_filter };
        let mut bytes = Vec::new();
        data.encode(&mut bytes);
        assert_eq!(SubscriptionData::decode(&bytes, guid().prefix), Ok(Decoded { data, skipped: 0 }));
    }

    #[test]
    fn guid_of_a_writer_is_rejected_for_a_reader() {
        let mut writer = guid();
        writer.entity_id = EntityId::user(1, EntityKind::WriterWithKey);
        let data = SubscriptionData {
            endpoint: EndpointData::new(writer, "Square", "ShapeType"),
            qos: DataReaderQos::default(),
            expects_inline_qos: false,
            content_filter: None,
        };
        let mut bytes = Vec::new();
        data.encode(&mut bytes);
        assert_eq!(SubscriptionData::decode(&bytes, guid().prefix), Err(DiscoveryDataError::Guid));
    }
}
