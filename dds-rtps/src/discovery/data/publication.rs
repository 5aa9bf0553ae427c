//! Announcement of a writer (SEDP publications).

use super::decode::{
    Decoded, DiscoveryDataError, ParameterOutcome, begin, informative_octets, store_informative, walk, write_octets,
};
use super::endpoint::{EndpointData, EndpointDraft};
use super::policies::{PolicyParameter, decide, read_shared_policy, write_policy, write_shared_policies};
use crate::discovery::parameter_id as id;
use crate::qos::{DataRepresentation, DataWriterQos};
use crate::types::{EntityId, GuidPrefix};
use crate::wire::{Parameter, ParameterListWriter};

/// A writer, as SEDP describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicationData {
    /// Data that readers have as well.
    pub endpoint: EndpointData,
    /// QoS policies. In received data `representation` is never empty: an absent list means XCDR1.
    pub qos: DataWriterQos,
}

impl PublicationData {
    /// Creates the data of a local writer. An empty DATA_REPRESENTATION becomes the automatic choice for its type.
    #[must_use]
    pub fn new(endpoint: EndpointData, mut qos: DataWriterQos, type_is_final: bool) -> Self {
        if qos.representation.is_empty() {
            qos.representation.push(DataRepresentation::automatic(type_is_final));
        }
        Self { endpoint, qos }
    }

    /// Reads the payload of a sample that participant `sender` sent.
    ///
    /// # Errors
    /// The data cannot be used: malformed, incomplete, or not about a writer of `sender`.
    pub fn decode(payload: &[u8], sender: GuidPrefix) -> Result<Decoded<Self>, DiscoveryDataError> {
        let mut endpoint = EndpointDraft::default();
        let mut qos = DataWriterQos::default();
        let mut has_history = false;
        let skipped = walk(payload, |parameter| match read_policy(&mut qos, parameter)? {
            ParameterOutcome::Unknown => endpoint.read(parameter),
            outcome => {
                // A malformed HISTORY is skipped, so it counts as absent.
                has_history |= parameter.id == id::HISTORY && matches!(outcome, ParameterOutcome::Read);
                Ok(outcome)
            }
        })?;
        if qos.representation.is_empty() {
            // The default of the policy is XCDR1 alone (XTYPES 1.3, 7.6.3.1).
            qos.representation.push(DataRepresentation::Xcdr1);
        }
        let mut endpoint = endpoint.finish(sender, EntityId::is_writer)?;
        endpoint.omits_history = !has_history;
        Ok(Decoded { data: Self { endpoint, qos }, skipped })
    }

    /// Returns the parameters of samples for readers that expect inline QoS (RTPS 2.5, 8.7.2): little endian, without
    /// the sentinel.
    #[must_use]
    pub fn inline_qos(&self) -> Vec<u8> {
        let qos = &self.qos;
        let mut buffer = Vec::new();
        let mut list = ParameterListWriter::new(&mut buffer);
        list.string(id::TOPIC_NAME, &self.endpoint.topic_name);
        write_policy(&mut list, id::DURABILITY, &qos.durability);
        write_policy(&mut list, id::PRESENTATION, &self.endpoint.presentation);
        write_policy(&mut list, id::DEADLINE, &qos.deadline);
        write_policy(&mut list, id::LATENCY_BUDGET, &qos.latency_budget);
        write_policy(&mut list, id::OWNERSHIP, &qos.ownership);
        write_policy(&mut list, id::OWNERSHIP_STRENGTH, &qos.ownership_strength);
        write_policy(&mut list, id::LIVELINESS, &qos.liveliness);
        write_policy(&mut list, id::PARTITION, &self.endpoint.partition);
        write_policy(&mut list, id::RELIABILITY, &qos.reliability);
        write_policy(&mut list, id::TRANSPORT_PRIORITY, &qos.transport_priority);
        write_policy(&mut list, id::LIFESPAN, &qos.lifespan);
        write_policy(&mut list, id::DESTINATION_ORDER, &qos.destination_order);
        // No sentinel: the parameters of each sample follow.
        buffer
    }

    /// Writes the payload into `buffer`, which is cleared first.
    pub fn encode(&self, buffer: &mut Vec<u8>) {
        let mut list = begin(buffer);
        self.endpoint.write(&mut list);
        let qos = &self.qos;
        write_shared_policies!(list, qos);
        write_policy(&mut list, id::OWNERSHIP_STRENGTH, &qos.ownership_strength);
        write_policy(&mut list, id::LIFESPAN, &qos.lifespan);
        write_policy(&mut list, id::TRANSPORT_PRIORITY, &qos.transport_priority);
        write_policy(&mut list, id::DURABILITY_SERVICE, &qos.durability_service);
        list.finish();
    }
}

fn read_policy(qos: &mut DataWriterQos, parameter: &Parameter<'_>) -> Result<ParameterOutcome, DiscoveryDataError> {
    let mut fields = parameter.fields();
    Ok(match parameter.id {
        id::OWNERSHIP_STRENGTH => decide(&mut qos.ownership_strength, &mut fields)?,
        id::LIFESPAN => decide(&mut qos.lifespan, &mut fields)?,
        id::TRANSPORT_PRIORITY => store_informative(&mut qos.transport_priority, fields.i32().ok()),
        id::DURABILITY_SERVICE => {
            store_informative(&mut qos.durability_service, PolicyParameter::read(&mut fields).ok())
        }
        _ => read_shared_policy!(qos, parameter),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::{DurabilityService, History, Liveliness, LivelinessKind, Ownership, Reliability, ResourceLimits};
    use crate::types::{Duration, EntityKind, Guid, Locator, VendorId};
    use crate::wire::{ParameterError, ParameterListReader};

    fn guid() -> Guid {
        Guid::new(GuidPrefix::new(VendorId::OURS, [1; 10]), EntityId::user(1, EntityKind::WriterWithKey))
    }

    /// Encodes a list with the required parameters and those that `more` adds.
    fn payload(more: impl FnOnce(&mut ParameterListWriter<'_>)) -> Vec<u8> {
        let mut buffer = Vec::new();
        let mut list = begin(&mut buffer);
        list.parameter(id::ENDPOINT_GUID, |value| {
            value.guid(guid());
        });
        list.parameter(id::TOPIC_NAME, |value| {
            value.string("Square");
        });
        list.parameter(id::TYPE_NAME, |value| {
            value.string("ShapeType");
        });
        more(&mut list);
        list.finish();
        buffer
    }

    fn decode(payload: &[u8]) -> Result<Decoded<PublicationData>, DiscoveryDataError> {
        PublicationData::decode(payload, guid().prefix)
    }

    #[test]
    fn absent_policies_are_the_defaults_of_a_writer() {
        let Decoded { data, skipped } = decode(&payload(|_| {})).unwrap();
        assert_eq!(skipped, 0);
        assert_eq!(data.qos, DataWriterQos::default().representation([DataRepresentation::Xcdr1]));
        assert!(data.qos.reliability.is_reliable());
        let endpoint = EndpointData::new(guid(), "Square", "ShapeType");
        assert_eq!(data.endpoint, EndpointData { omits_history: true, ..endpoint });
    }

    #[test]
    fn required_ciphers_survive_a_round_trip() {
        for required_ciphers in [None, Some(0x8000_0003)] {
            let endpoint = EndpointData { required_ciphers, ..EndpointData::new(guid(), "Square", "ShapeType") };
            let mut bytes = Vec::new();
            PublicationData { endpoint, qos: DataWriterQos::default() }.encode(&mut bytes);
            assert_eq!(decode(&bytes).unwrap().data.endpoint.required_ciphers, required_ciphers);
        }
    }

    #[test]
    fn data_tags_survive_a_round_trip_and_are_bounded() {
        let tag = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let encoded = |data_tags: Vec<_>| {
            let endpoint =
                EndpointData { data_tags: data_tags.into(), ..EndpointData::new(guid(), "Square", "ShapeType") };
            let mut buffer = Vec::new();
            PublicationData { endpoint, qos: DataWriterQos::default() }.encode(&mut buffer);
            buffer
        };
        let (max, long) = (EndpointData::DATA_TAGS_MAX, "x".repeat(EndpointData::DATA_TAG_LEN_MAX));
        for tags in [vec![], vec![tag("level", "secret"), tag("", "")], vec![tag(&long, &long); max]] {
            assert_eq!(decode(&encoded(tags.clone())).unwrap().data.endpoint.data_tags, tags.into());
        }
        // An endpoint whose tags are left out would have more rights.
        for tags in [vec![tag("a", "b"); max + 1], vec![tag(&format!("{long}x"), "b")]] {
            assert!(decode(&encoded(tags)).is_err());
        }
    }

    #[test]
    fn every_policy_survives_a_round_trip() {
        let lease = Liveliness { kind: LivelinessKind::ManualByTopic, lease_duration: Duration::from_millis(1) };
        let limits = ResourceLimits { max_samples: Some(9), max_instances: None, max_samples_per_instance: Some(4) };
        let service = DurabilityService {
            cleanup_delay: Duration::from_secs(3),
            history: History::KeepAll,
            resource_limits: limits,
        };
        let qos = DataWriterQos::default()
            .reliability(Reliability::Reliable { max_blocking_time: Duration::from_secs(1) })
            .transient_local()
            .durability_service(service)
            .deadline(Duration::from_millis(30))
            .latency_budget(Duration::from_millis(2))
            .liveliness(lease)
            .ownership(Ownership::Exclusive)
            .ownership_strength(-7)
            .lifespan(Duration::from_secs(8))
            .keep_last(3)
            .resource_limits(limits)
            .transport_priority(5)
            .user_data([1, 2, 3])
            .representation([DataRepresentation::Xcdr2, DataRepresentation::Other(9)]);
        let mut endpoint = EndpointData::new(guid(), "Square", "ShapeType");
        endpoint.partition = vec![String::new(), "a*".to_owned()];
        endpoint.unicast_locators.push(Locator::udp_v4([10, 0, 0, 1].into(), 7411));
        endpoint.group_data = vec![4];
        endpoint.topic_data = vec![5; 5];
        endpoint.entity_name = "talker".to_owned();
        let data = PublicationData { endpoint, qos };
        let mut bytes = Vec::new();
        data.encode(&mut bytes);
        assert_eq!(bytes.len() % 4, 0);
        assert_eq!(decode(&bytes), Ok(Decoded { data, skipped: 0 }));
    }

    #[test]
    fn inline_qos_is_a_list_without_sentinel() {
        let endpoint = EndpointData::new(guid(), "Square", "ShapeType");
        let data = PublicationData::new(endpoint, DataWriterQos::default().ownership_strength(3), true);
        let mut bytes = data.inline_qos();
        bytes.extend_from_slice(&[1, 0, 0, 0]);
        let parameters: Vec<_> = ParameterListReader::new(&bytes, true).map(Result::unwrap).collect();
        assert_eq!(parameters.len(), 13);
        let strength = parameters.iter().find(|parameter| parameter.id == id::OWNERSHIP_STRENGTH).unwrap();
        assert_eq!(strength.fields().i32(), Ok(3));
    }

    #[test]
    fn announcement_without_types_has_no_type_information() {
        let mut bytes = Vec::new();
        let data = PublicationData {
            endpoint: EndpointData::new(guid(), "Square", "ShapeType"),
            qos: DataWriterQos::default(),
        };
        data.encode(&mut bytes);
        let ids: Vec<u16> = super::super::decode::parameters(&bytes).unwrap().map(|p| p.unwrap().id).collect();
        assert!(!ids.contains(&0x0075), "a peer would ask for the type, and wait");
    }

    #[test]
    fn unknown_parameter_is_ignored_unless_mandatory() {
        let with = |number| {
            payload(|list| {
                list.parameter(number, |value| {
                    value.u32(1);
                });
            })
        };
        assert!(decode(&with(0x0075)).is_ok());
        assert!(decode(&with(0x800c)).is_ok());
        assert!(decode(&with(0xc001)).is_ok(), "another vendor's demand means nothing to us");
        assert_eq!(decode(&with(0x4fff)), Err(DiscoveryDataError::MustUnderstand { id: 0x4fff }));
    }

    #[test]
    fn malformed_deciding_policy_rejects_the_data() {
        let bytes = payload(|list| {
            list.parameter(id::RELIABILITY, |value| {
                value.u32(2);
            });
        });
        assert!(matches!(
            decode(&bytes),
            Err(DiscoveryDataError::Parameter(ParameterError::Value { id: id::RELIABILITY, .. }))
        ));
    }

    #[test]
    fn malformed_informative_value_is_skipped_and_counted() {
        let bytes = payload(|list| {
            list.parameter(id::USER_DATA, |value| {
                value.u32(1_000_000);
            });
            list.parameter(id::HISTORY, |value| {
                value.u32(0);
            });
        });
        let Decoded { data, skipped } = decode(&bytes).unwrap();
        assert_eq!((data.endpoint.omits_history, skipped), (true, 2));
    }

    #[test]
    fn oversized_type_information_is_skipped() {
        let bytes = payload(|list| {
            list.parameter(id::TYPE_INFORMATION, |value| {
                value.bytes(&[0; 40_000]);
            });
        });
        let Decoded { data, skipped } = decode(&bytes).unwrap();
        assert_eq!((data.endpoint.type_information, skipped), (None, 1));
    }

    #[test]
    fn too_many_locators_are_skipped() {
        let bytes = payload(|list| {
            for port in 1..=40 {
                list.parameter(id::UNICAST_LOCATOR, |value| {
                    value.locator(&Locator::udp_v4([10, 0, 0, 1].into(), port));
                });
            }
        });
        let Decoded { data, skipped } = decode(&bytes).unwrap();
        assert_eq!((data.endpoint.unicast_locators.len(), skipped), (32, 8));
    }

    #[test]
    fn guid_is_required_and_must_be_of_the_sender() {
        let mut bytes = Vec::new();
        begin(&mut bytes).finish();
        assert_eq!(decode(&bytes), Err(DiscoveryDataError::Missing { id: id::ENDPOINT_GUID }));
        let stranger = GuidPrefix([9; 12]);
        assert_eq!(PublicationData::decode(&payload(|_| {}), stranger), Err(DiscoveryDataError::Guid));
        assert_eq!(decode(&[0, 1, 0, 0]), Err(DiscoveryDataError::Encapsulation));
        assert_eq!(decode(&[0]), Err(DiscoveryDataError::Encapsulation));
    }

    #[test]
    fn name_beyond_the_limit_is_rejected() {
        let bytes = payload(|list| {
            list.parameter(id::TOPIC_NAME, |value| {
                value.string(&"x".repeat(2_000));
            });
        });
        assert_eq!(decode(&bytes), Err(DiscoveryDataError::TooLong { id: id::TOPIC_NAME }));
    }
}
