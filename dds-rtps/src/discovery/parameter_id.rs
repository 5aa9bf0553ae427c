//! Ids of the parameters in discovery data (RTPS 2.5, 9.6.3).
//!
//! Numbers that two vendors use differently (0x0072, 0x8005, 0x800f) are absent on purpose. The one exception is the
//! version of Cyclone DDS, which is read in its own data only.

/// PARTICIPANT_LEASE_DURATION: Duration, 100 s when absent.
pub const PARTICIPANT_LEASE_DURATION: u16 = 0x0002;
/// TIME_BASED_FILTER: Duration, 0.
pub const TIME_BASED_FILTER: u16 = 0x0004;
/// TOPIC_NAME: string.
pub const TOPIC_NAME: u16 = 0x0005;
/// OWNERSHIP_STRENGTH: i32, 0.
pub const OWNERSHIP_STRENGTH: u16 = 0x0006;
/// TYPE_NAME: string.
pub const TYPE_NAME: u16 = 0x0007;
/// DOMAIN_ID: u32.
pub const DOMAIN_ID: u16 = 0x000f;
/// PROTOCOL_VERSION: two octets and two of padding.
pub const PROTOCOL_VERSION: u16 = 0x0015;
/// VENDORID: two octets and two of padding.
pub const VENDOR_ID: u16 = 0x0016;
/// RELIABILITY: kind 1 best effort, 2 reliable; Duration. Absent: writers reliable, readers best effort.
pub const RELIABILITY: u16 = 0x001a;
/// LIVELINESS: kind, Duration; automatic, infinite.
pub const LIVELINESS: u16 = 0x001b;
/// DURABILITY: kind 0 to 3; 0.
pub const DURABILITY: u16 = 0x001d;
/// DURABILITY_SERVICE: Duration, history kind, depth, three limits.
pub const DURABILITY_SERVICE: u16 = 0x001e;
/// OWNERSHIP: 0 shared, 1 exclusive; 0.
pub const OWNERSHIP: u16 = 0x001f;
/// PRESENTATION: scope, two bools.
pub const PRESENTATION: u16 = 0x0021;
/// DEADLINE: Duration, infinite.
pub const DEADLINE: u16 = 0x0023;
/// DESTINATION_ORDER: 0 reception, 1 source; 0.
pub const DESTINATION_ORDER: u16 = 0x0025;
/// LATENCY_BUDGET: Duration, 0.
pub const LATENCY_BUDGET: u16 = 0x0027;
/// PARTITION: sequence of strings.
pub const PARTITION: u16 = 0x0029;
/// LIFESPAN: Duration, infinite.
pub const LIFESPAN: u16 = 0x002b;
/// USER_DATA: octets.
pub const USER_DATA: u16 = 0x002c;
/// GROUP_DATA: octets.
pub const GROUP_DATA: u16 = 0x002d;
/// TOPIC_DATA: octets.
pub const TOPIC_DATA: u16 = 0x002e;
/// UNICAST_LOCATOR of an endpoint; repeated.
pub const UNICAST_LOCATOR: u16 = 0x002f;
/// MULTICAST_LOCATOR of an endpoint; repeated.
pub const MULTICAST_LOCATOR: u16 = 0x0030;
/// DEFAULT_UNICAST_LOCATOR of a participant's endpoints; repeated.
pub const DEFAULT_UNICAST_LOCATOR: u16 = 0x0031;
/// METATRAFFIC_UNICAST_LOCATOR; repeated.
pub const METATRAFFIC_UNICAST_LOCATOR: u16 = 0x0032;
/// METATRAFFIC_MULTICAST_LOCATOR; repeated.
pub const METATRAFFIC_MULTICAST_LOCATOR: u16 = 0x0033;
/// CONTENT_FILTER_PROPERTY: names of the filtered and the related topic, class, expression; sequence of strings.
pub const CONTENT_FILTER_PROPERTY: u16 = 0x0035;
/// HISTORY: kind, depth; last 1.
pub const HISTORY: u16 = 0x0040;
/// RESOURCE_LIMITS: three i32, -1 for no limit.
pub const RESOURCE_LIMITS: u16 = 0x0041;
/// EXPECTS_INLINE_QOS: bool.
pub const EXPECTS_INLINE_QOS: u16 = 0x0043;
/// The old name of BUILTIN_ENDPOINT_SET.
pub const PARTICIPANT_BUILTIN_ENDPOINTS: u16 = 0x0044;
/// DEFAULT_MULTICAST_LOCATOR of a participant's endpoints; repeated.
pub const DEFAULT_MULTICAST_LOCATOR: u16 = 0x0048;
/// TRANSPORT_PRIORITY: i32, 0.
pub const TRANSPORT_PRIORITY: u16 = 0x0049;
/// PARTICIPANT_GUID: 16 octets; may be absent in endpoint data.
pub const PARTICIPANT_GUID: u16 = 0x0050;
/// GROUP_GUID: 16 octets; the publisher or subscriber of an endpoint.
pub const GROUP_GUID: u16 = 0x0052;
/// GROUP_ENTITYID: 4 octets; the same, within the participant.
pub const GROUP_ENTITYID: u16 = 0x0053;
/// BUILTIN_ENDPOINT_SET: u32.
pub const BUILTIN_ENDPOINT_SET: u16 = 0x0058;
/// PROPERTY_LIST: sequence of pairs of strings.
pub const PROPERTY_LIST: u16 = 0x0059;
/// ENDPOINT_GUID: 16 octets.
pub const ENDPOINT_GUID: u16 = 0x005a;
/// ENTITY_NAME: string.
pub const ENTITY_NAME: u16 = 0x0062;
/// DATA_REPRESENTATION: sequence of i16; XCDR1.
pub const DATA_REPRESENTATION: u16 = 0x0073;
/// TYPE_CONSISTENCY_ENFORCEMENT: kind u16 and up to five bools.
pub const TYPE_CONSISTENCY: u16 = 0x0074;
/// TYPE_INFORMATION: XCDR2, little endian, without encapsulation header (XTYPES 1.3, 7.6.3.2.2).
pub const TYPE_INFORMATION: u16 = 0x0075;
/// BUILTIN_ENDPOINT_QOS: u32.
pub const BUILTIN_ENDPOINT_QOS: u16 = 0x0077;
/// IDENTITY_TOKEN: DataHolder (DDS Security 1.1, 7.4.1.4).
pub const IDENTITY_TOKEN: u16 = 0x1001;
/// PERMISSIONS_TOKEN: DataHolder.
pub const PERMISSIONS_TOKEN: u16 = 0x1002;
/// DATA_TAGS: sequence of names and values (DDS Security 1.1, 7.4.1 and 9.7).
pub const DATA_TAGS: u16 = 0x1003;
/// ENDPOINT_SECURITY_INFO: two u32; not valid when absent (DDS Security 1.1, 7.4.1.7).
pub const ENDPOINT_SECURITY_INFO: u16 = 0x1004;
/// PARTICIPANT_SECURITY_INFO: two u32; not valid when absent (DDS Security 1.1, 7.4.1.6).
pub const PARTICIPANT_SECURITY_INFO: u16 = 0x1005;
/// PARTICIPANT_SECURITY_DIGITAL_SIGNATURE_ALGO: four u32; those of version 1.1 when absent (DDS Security 1.2, 7.3.11).
pub const SIGNATURE_ALGORITHMS: u16 = 0x1010;
/// PARTICIPANT_SECURITY_KEY_ESTABLISHMENT_ALGO: two u32 (7.3.12).
pub const AGREEMENT_ALGORITHMS: u16 = 0x1011;
/// PARTICIPANT_SECURITY_SYMMETRIC_CIPHER_ALGO: four u32 (7.3.13).
pub const CIPHER_ALGORITHMS: u16 = 0x1012;
/// ENDPOINT_SECURITY_SYMMETRIC_CIPHER_ALGORITHM_INFO: u32; the default of the participant when absent (7.3.15).
pub const ENDPOINT_CIPHER_ALGORITHMS: u16 = 0x1013;
/// DOMAIN_TAG: string, "". Carries the must-understand bit.
pub const DOMAIN_TAG: u16 = 0x4014;
/// Fast DDS 3 only (PID_PRODUCT_VERSION): four octets. The first three are the version.
pub const FAST_DDS_VERSION: u16 = 0x8000;
/// Cyclone DDS only (ADLINK_PARTICIPANT_VERSION_INFO): five u32, and a string `host/version/system/...`.
pub const CYCLONE_VERSION_INFO: u16 = 0x8007;
