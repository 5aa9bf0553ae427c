//! Announcement of a participant (SPDP).

use super::decode::{
    Decoded, DiscoveryDataError, NAME_MAX, OCTETS_MAX, ParameterOutcome, add_locator, begin, informative_name,
    informative_octets, store_informative, walk, write_locators, write_octets,
};
use super::security::SecurityAnnouncement;
use crate::discovery::BuiltinEndpoints;
use crate::discovery::parameter_id as id;
use crate::types::{Duration, EntityId, Guid, GuidPrefix, Locator, ProtocolVersion, VendorId};
use crate::wire::{Parameter, ParameterError, ParameterFields};

/// Lease of a participant that announces none (RTPS 2.5, 9.6.3).
const DEFAULT_LEASE: Duration = Duration::from_secs(100);
/// Most properties of a participant.
const PROPERTIES_MAX: usize = 64;

/// A participant, as SPDP describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParticipantData {
    /// First twelve bytes of its GUID.
    pub prefix: GuidPrefix,
    /// Its version of RTPS.
    pub protocol_version: ProtocolVersion,
    /// Its vendor.
    pub vendor: VendorId,
    /// Version of its implementation, announced by Cyclone DDS and Fast DDS 3. Default, and ours: empty.
    pub product_version: String,
    /// Its domain. A peer without it was found on the ports of our domain.
    pub domain_id: Option<u32>,
    /// Domain tag; only participants with equal tags discover each other. Default: empty.
    pub domain_tag: String,
    /// Unicast locators of its discovery.
    pub metatraffic_unicast: Vec<Locator>,
    /// Multicast locators of its discovery.
    pub metatraffic_multicast: Vec<Locator>,
    /// Unicast locators of its endpoints without own locators.
    pub default_unicast: Vec<Locator>,
    /// Multicast locators of its endpoints without own locators.
    pub default_multicast: Vec<Locator>,
    /// Silence after which it counts as gone. Default: 100 s.
    pub lease_duration: Duration,
    /// Its builtin endpoints.
    pub builtin_endpoints: BuiltinEndpoints,
    /// USER_DATA of its application.
    pub user_data: Vec<u8>,
    /// Name for diagnosis.
    pub entity_name: String,
    /// Informative names and values.
    pub properties: Vec<(String, String)>,
    /// Tokens and attributes of DDS Security. `None` without any.
    pub security: Option<Box<SecurityAnnouncement>>,
}

impl ParticipantData {
    /// Creates the data of a local participant without locators.
    #[must_use]
    pub fn new(prefix: GuidPrefix) -> Self {
        Self {
            prefix,
            protocol_version: ProtocolVersion::OURS,
            vendor: VendorId::OURS,
            product_version: String::new(),
            domain_id: None,
            domain_tag: String::new(),
            metatraffic_unicast: Vec::new(),
            metatraffic_multicast: Vec::new(),
            default_unicast: Vec::new(),
            default_multicast: Vec::new(),
            lease_duration: DEFAULT_LEASE,
            builtin_endpoints: BuiltinEndpoints::NONE,
            user_data: Vec::new(),
            entity_name: String::new(),
            properties: Vec::new(),
            security: None,
        }
    }

    /// Whether it can decode the description of any type.
    ///
    /// Cyclone DDS before 11 crashes (seen with 0.10.2) when it reads a description with an `int8`, a `uint8` or a
    /// wide string. It does so even if another participant requested the description.
    #[must_use]
    pub fn reads_every_type(&self) -> bool {
        if self.vendor != VendorId::CYCLONE {
            return true;
        }
        let major = self.product_version.split('.').next().unwrap_or_default();
        match major.parse::<u32>() {
            // The versions before 11 are 0.1 to 0.10.
            Ok(major) => major > 0,
            // An unknown version may be an old one.
            Err(_) => false,
        }
    }

    /// Reads the payload of a sample that participant `sender` sent.
    ///
    /// # Errors
    /// The data is malformed, incomplete, or not about `sender`.
    pub fn decode(payload: &[u8], sender: GuidPrefix) -> Result<Decoded<Self>, DiscoveryDataError> {
        let mut data = Self::new(sender);
        let mut guid = None;
        let mut old_builtin_endpoints = None;
        let mut fast_dds_version = None;
        let skipped = walk(payload, |parameter| {
            match parameter.id {
                id::PARTICIPANT_GUID => guid = Some(parameter.fields().guid()?),
                // Old name of the set; it counts if the new name is absent.
                id::PARTICIPANT_BUILTIN_ENDPOINTS => old_builtin_endpoints = Some(parameter.fields().u32()?),
                // Other vendors use this number differently, and the vendor id may follow.
                id::FAST_DDS_VERSION => fast_dds_version = parameter.fields().array().ok(),
                _ => return data.read(parameter),
            }
            Ok(ParameterOutcome::Read)
        })?;
        let guid = guid.ok_or(DiscoveryDataError::Missing { id: id::PARTICIPANT_GUID })?;
        // A participant announces only itself. Otherwise a peer could replace the data of another one.
        if guid != Guid::new(sender, EntityId::PARTICIPANT) {
            return Err(DiscoveryDataError::Guid);
        }
        // Only here the vendor is known for certain, because its parameter may come last.
        match (data.vendor, fast_dds_version) {
            (VendorId::CYCLONE, _) => {}
            (VendorId::EPROSIMA, Some([major, minor, patch, _])) => {
                data.product_version = format!("{major}.{minor}.{patch}")
            }
            _ => data.product_version.clear(),
        }
        // Every participant has builtin endpoints, so an empty set means that the parameter is absent.
        if data.builtin_endpoints == BuiltinEndpoints::NONE {
            data.builtin_endpoints = BuiltinEndpoints(old_builtin_endpoints.unwrap_or_default());
        }
        Ok(Decoded { data, skipped })
    }

    fn read(&mut self, parameter: &Parameter<'_>) -> Result<ParameterOutcome, DiscoveryDataError> {
        let mut fields = parameter.fields();
        match parameter.id {
            id::PROTOCOL_VERSION => {
                let [major, minor] = fields.array()?;
                self.protocol_version = ProtocolVersion { major, minor };
            }
            id::VENDOR_ID => self.vendor = VendorId(fields.array()?),
            // Other vendors use this number differently. The vendor id may follow, so `decode` clears it then.
            id::CYCLONE_VERSION_INFO => {
                let version = cyclone_version(fields);
                self.product_version = version.unwrap_or_default();
            }
            id::DOMAIN_ID => self.domain_id = Some(fields.u32()?),
            id::DOMAIN_TAG => self.domain_tag = super::decode::name(parameter.id, fields)?,
            id::PARTICIPANT_LEASE_DURATION => self.lease_duration = fields.duration()?,
            id::BUILTIN_ENDPOINT_SET => self.builtin_endpoints = BuiltinEndpoints(fields.u32()?),
            id::METATRAFFIC_UNICAST_LOCATOR => return Ok(add_locator(&mut self.metatraffic_unicast, fields)),
            id::METATRAFFIC_MULTICAST_LOCATOR => return Ok(add_locator(&mut self.metatraffic_multicast, fields)),
            id::DEFAULT_UNICAST_LOCATOR => return Ok(add_locator(&mut self.default_unicast, fields)),
            id::DEFAULT_MULTICAST_LOCATOR => return Ok(add_locator(&mut self.default_multicast, fields)),
            id::USER_DATA => return Ok(store_informative(&mut self.user_data, informative_octets(fields))),
            id::ENTITY_NAME => return Ok(store_informative(&mut self.entity_name, informative_name(fields))),
            id::PROPERTY_LIST => {
                // The number of properties is bounded, but not the length of each value.
                if parameter.value.len() > OCTETS_MAX {
                    return Ok(ParameterOutcome::Skipped);
                }
                return Ok(store_informative(&mut self.properties, properties(fields).ok()));
            }
            id::IDENTITY_TOKEN
            | id::PERMISSIONS_TOKEN
            | id::PARTICIPANT_SECURITY_INFO
            | id::SIGNATURE_ALGORITHMS
            | id::AGREEMENT_ALGORITHMS
            | id::CIPHER_ALGORITHMS => {
                return self.security.get_or_insert_default().read(parameter);
            }
            _ => return Ok(ParameterOutcome::Unknown),
        }
        Ok(ParameterOutcome::Read)
    }

    /// Writes the payload into `buffer`, which is cleared first.
    pub fn encode(&self, buffer: &mut Vec<u8>) {
        let mut list = begin(buffer);
        list.guid(id::PARTICIPANT_GUID, Guid::new(self.prefix, EntityId::PARTICIPANT));
        list.bytes(id::PROTOCOL_VERSION, &[self.protocol_version.major, self.protocol_version.minor]);
        list.bytes(id::VENDOR_ID, &self.vendor.0);
        if self.vendor == VendorId::EPROSIMA && !self.product_version.is_empty() {
            let mut parts = self.product_version.split('.').map(|part| part.parse().unwrap_or_default());
            let mut next = || parts.next().unwrap_or_default();
            list.bytes(id::FAST_DDS_VERSION, &[next(), next(), next(), 0]);
        } else if !self.product_version.is_empty() {
            list.parameter(id::CYCLONE_VERSION_INFO, |value| {
                // Only the version counts for a receiver. Zeros stand for the numbers, and the host stays empty.
                value.bytes(&[0; 20]).string(&format!("/{}", self.product_version));
            });
        }
        if let Some(domain_id) = self.domain_id {
            list.u32(id::DOMAIN_ID, domain_id);
        }
        // Only if not empty: the parameter must be understood, and old peers would reject the whole announcement.
        if !self.domain_tag.is_empty() {
            list.string(id::DOMAIN_TAG, &self.domain_tag);
        }
        write_locators(&mut list, id::METATRAFFIC_UNICAST_LOCATOR, &self.metatraffic_unicast);
        write_locators(&mut list, id::METATRAFFIC_MULTICAST_LOCATOR, &self.metatraffic_multicast);
        write_locators(&mut list, id::DEFAULT_UNICAST_LOCATOR, &self.default_unicast);
        write_locators(&mut list, id::DEFAULT_MULTICAST_LOCATOR, &self.default_multicast);
        list.parameter(id::PARTICIPANT_LEASE_DURATION, |value| {
            value.duration(self.lease_duration);
        });
        list.u32(id::BUILTIN_ENDPOINT_SET, self.builtin_endpoints.0);
        write_octets(&mut list, id::USER_DATA, &self.user_data);
        if !self.entity_name.is_empty() {
            list.string(id::ENTITY_NAME, &self.entity_name);
        }
        if !self.properties.is_empty() {
            list.parameter(id::PROPERTY_LIST, |value| {
                value.sequence_len(self.properties.len());
                for (name, property) in &self.properties {
                    value.string(name).string(property);
                }
            });
        }
        if let Some(security) = &self.security {
            security.write(&mut list);
        }
        list.finish();
    }
}

/// Returns the second part of `host/version/system/...`.
fn cyclone_version(mut fields: ParameterFields<'_>) -> Option<String> {
    let _numbers: [u8; 20] = fields.array().ok()?;
    let version = fields.string().ok()?.split('/').nth(1)?;
    if version.len() > NAME_MAX {
        return None;
    }
    Some(version.to_owned())
}

fn properties(mut fields: ParameterFields<'_>) -> Result<Vec<(String, String)>, ParameterError> {
    // Properties are informative, so those beyond the bound are ignored without an error.
    let count = fields.sequence_len(8)?.min(PROPERTIES_MAX);
    let mut pairs = Vec::with_capacity(count);
    for _ in 0..count {
        let (name, value) = (fields.string()?, fields.string()?);
        if name.len() > NAME_MAX {
            return Err(fields.illegal());
        }
        pairs.push((name.to_owned(), value.to_owned()));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::data::{AlgorithmSets, SecurityAlgorithms, SecurityInfo, SecurityToken};
    use crate::wire::ParameterListWriter;

    const PREFIX: GuidPrefix = GuidPrefix([1, 0xdd, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);

    fn payload(more: impl FnOnce(&mut ParameterListWriter<'_>)) -> Vec<u8> {
        let mut buffer = Vec::new();
        let mut list = begin(&mut buffer);
        list.parameter(id::PARTICIPANT_GUID, |value| {
            value.guid(Guid::new(PREFIX, EntityId::PARTICIPANT));
        });
        more(&mut list);
        list.finish();
        buffer
    }

    #[test]
    fn everything_survives_a_round_trip() {
        let mut data = ParticipantData::new(PREFIX);
        data.domain_id = Some(7);
        data.domain_tag = "lab".to_owned();
        data.metatraffic_unicast.push(Locator::udp_v4([10, 0, 0, 1].into(), 7410));
        data.metatraffic_multicast.push(Locator::udp_v4([239, 255, 0, 1].into(), 7400));
        data.default_unicast.push(Locator::udp_v4([10, 0, 0, 1].into(), 7411));
        data.lease_duration = Duration::from_secs(20);
        data.builtin_endpoints = BuiltinEndpoints(0x3f);
        data.user_data = vec![1, 2, 3];
        data.entity_name = "robot".to_owned();
        data.properties = vec![("a".to_owned(), "bcd".to_owned()), (String::new(), "x".to_owned())];
        data.security = Some(Box::new(SecurityAnnouncement {
            identity: Some(SecurityToken::new("DDS:Auth:PKI-DH:1.0", vec![("a".to_owned(), "bc".to_owned())])),
            permissions: Some(SecurityToken::new("DDS:Access:Permissions:1.0", Vec::new())),
            info: Some(SecurityInfo { attributes: 0x8000_0001, plugin_attributes: 0x8000_0002 }),
            algorithms: Some(SecurityAlgorithms {
                certificates: AlgorithmSets { supported: 1, required: 2 },
                handshakes: AlgorithmSets { supported: 3, required: 4 },
                agreement: AlgorithmSets { supported: 5, required: 6 },
                supported_ciphers: 7,
                builtin_ciphers: 8,
                exchange_ciphers: 9,
                endpoint_ciphers: 10,
            }),
        }));
        let mut bytes = Vec::new();
        data.encode(&mut bytes);
        assert_eq!(ParticipantData::decode(&bytes, PREFIX), Ok(Decoded { data, skipped: 0 }));
    }

    #[test]
    fn version_is_read_of_cyclone_and_fast_dds_only() {
        let said = |vendor: VendorId, text: &str, vendor_first: bool| {
            let bytes = payload(|list| {
                let vendor = |list: &mut ParameterListWriter<'_>| {
                    list.parameter(id::VENDOR_ID, |value| {
                        value.bytes(&vendor.0);
                    });
                };
                if vendor_first {
                    vendor(list);
                }
                list.parameter(id::CYCLONE_VERSION_INFO, |value| {
                    value.bytes(&[0; 20]).string(text);
                });
                if !vendor_first {
                    vendor(list);
                }
            });
            let data = ParticipantData::decode(&bytes, PREFIX).unwrap().data;
            (data.product_version.clone(), data.reads_every_type())
        };
        let fast_dds = payload(|list| {
            list.bytes(id::FAST_DDS_VERSION, &[3, 2, 2, 0]);
            list.bytes(id::VENDOR_ID, &VendorId::EPROSIMA.0);
        });
        let data = ParticipantData::decode(&fast_dds, PREFIX).unwrap().data;
        assert_eq!(data.product_version, "3.2.2");
        let mut again = Vec::new();
        data.encode(&mut again);
        assert_eq!(ParticipantData::decode(&again, PREFIX).unwrap().data, data);
        for vendor_first in [true, false] {
            assert_eq!(said(VendorId::CYCLONE, "vm/0.10.2/Linux/Linux", vendor_first), ("0.10.2".to_owned(), false));
            assert_eq!(said(VendorId::CYCLONE, "vm/11.0.1/Linux/Linux", vendor_first), ("11.0.1".to_owned(), true));
            assert_eq!(said(VendorId::EPROSIMA, "vm/0.10.2/Linux/Linux", vendor_first), (String::new(), true));
        }
        // A participant without a readable version may be old.
        assert_eq!(said(VendorId::CYCLONE, "no version", true), (String::new(), false));
        let short = payload(|list| {
            list.parameter(id::VENDOR_ID, |value| {
                value.bytes(&VendorId::CYCLONE.0);
            });
            list.parameter(id::CYCLONE_VERSION_INFO, |value| {
                value.u32(7);
            });
        });
        assert!(!ParticipantData::decode(&short, PREFIX).unwrap().data.reads_every_type());
    }

    #[test]
    fn an_absent_lease_is_100_seconds() {
        let data = ParticipantData::decode(&payload(|_| {}), PREFIX).unwrap().data;
        assert_eq!(data.lease_duration, Duration::from_secs(100));
        assert_eq!(data.domain_id, None);
    }

    #[test]
    fn old_endpoint_set_counts_without_the_new_one() {
        let with = |number, set: u32| {
            move |list: &mut ParameterListWriter<'_>| {
                list.parameter(number, |value| {
                    value.u32(set);
                });
            }
        };
        let old = payload(with(id::PARTICIPANT_BUILTIN_ENDPOINTS, 5));
        assert_eq!(ParticipantData::decode(&old, PREFIX).unwrap().data.builtin_endpoints.0, 5);
        let both = payload(|list| {
            with(id::BUILTIN_ENDPOINT_SET, 0x3f)(list);
            with(id::PARTICIPANT_BUILTIN_ENDPOINTS, 5)(list);
        });
        assert_eq!(ParticipantData::decode(&both, PREFIX).unwrap().data.builtin_endpoints.0, 0x3f);
    }

    #[test]
    fn locator_of_an_unknown_kind_is_kept() {
        let bytes = payload(|list| {
            list.parameter(id::DEFAULT_UNICAST_LOCATOR, |value| {
                value.i32(19).u32(1).bytes(&[0xee; 16]);
            });
            list.parameter(id::DEFAULT_UNICAST_LOCATOR, |value| {
                value.locator(&Locator::udp_v4([10, 0, 0, 1].into(), 7411));
            });
        });
        let Decoded { data, skipped } = ParticipantData::decode(&bytes, PREFIX).unwrap();
        assert_eq!(skipped, 0);
        assert_eq!(data.default_unicast.len(), 2);
        assert_eq!(data.default_unicast.iter().filter_map(Locator::to_socket_addr).count(), 1);
    }

    #[test]
    fn data_about_another_participant_is_rejected() {
        assert_eq!(ParticipantData::decode(&payload(|_| {}), GuidPrefix([9; 12])), Err(DiscoveryDataError::Guid));
    }

    #[test]
    fn properties_names_and_octets_are_bounded() {
        let with = |name: &str, value: &str, count: usize| {
            let bytes = payload(|list| {
                list.parameter(id::PROPERTY_LIST, |parameter| {
                    parameter.sequence_len(count);
                    for _ in 0..count {
                        parameter.string(name).string(value);
                    }
                });
            });
            let Decoded { data, skipped } = ParticipantData::decode(&bytes, PREFIX).unwrap();
            (data.properties.len(), skipped)
        };
        assert_eq!(with("a", "b", PROPERTIES_MAX + 10), (PROPERTIES_MAX, 0));
        assert_eq!(with(&"a".repeat(NAME_MAX + 1), "b", 1), (0, 1));
        assert_eq!(with("a", &"b".repeat(OCTETS_MAX), 1), (0, 1));
        let bytes = payload(|list| {
            write_octets(list, id::USER_DATA, &vec![7; OCTETS_MAX + 1]);
            list.parameter(id::ENTITY_NAME, |value| {
                value.string(&"x".repeat(NAME_MAX + 1));
            });
        });
        let Decoded { data, skipped } = ParticipantData::decode(&bytes, PREFIX).unwrap();
        assert_eq!((data.user_data.len(), data.entity_name.len(), skipped), (0, 0, 2));
    }
}
