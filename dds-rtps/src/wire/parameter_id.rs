//! Ids of the parameters in inline QoS (RTPS 2.5, 9.6.4).

/// Padding; its value has no meaning.
pub const PAD: u16 = 0x0000;
/// Ends a list.
pub const SENTINEL: u16 = 0x0001;
/// LIFESPAN of this sample: Duration.
pub const LIFESPAN: u16 = 0x002b;
/// GROUP_SEQ_NUM as Zenzen DDS 0.2 writes it.
pub const GROUP_SEQ_NUM_ZENZEN: u16 = 0x0038;
/// GROUP_COHERENT_SET as Zenzen DDS 0.2 writes it.
pub const GROUP_COHERENT_SET_ZENZEN: u16 = 0x0039;
/// Results of the filters that the writer has evaluated.
pub const CONTENT_FILTER_INFO: u16 = 0x0055;
/// The first sequence number of the coherent set: SequenceNumber.
pub const COHERENT_SET: u16 = 0x0056;
/// A reader that the sample is for: GUID. Repeated for several readers.
pub const DIRECTED_WRITE: u16 = 0x0057;
/// Original writer of a sample that a durability service sends: GUID, SequenceNumber, parameter list.
pub const ORIGINAL_WRITER_INFO: u16 = 0x0061;
/// The coherent set of the whole group: SequenceNumber.
pub const GROUP_COHERENT_SET: u16 = 0x0063;
/// Group sequence number of the sample: SequenceNumber.
pub const GROUP_SEQ_NUM: u16 = 0x0064;
/// Digest of the group's writers.
pub const WRITER_GROUP_INFO: u16 = 0x0065;
/// Digest of the group's writers, secured.
pub const SECURE_WRITER_GROUP_INFO: u16 = 0x0066;
/// The key hash: 16 octets.
pub const KEY_HASH: u16 = 0x0070;
/// Status of the instance: `00 00 00 x` in either byte order.
pub const STATUS_INFO: u16 = 0x0071;
/// The request that this sample answers: GUID, SequenceNumber.
pub const RELATED_SAMPLE_IDENTITY: u16 = 0x0083;
/// RELATED_SAMPLE_IDENTITY as Fast DDS also writes it.
pub const RELATED_SAMPLE_IDENTITY_EPROSIMA: u16 = 0x800f;
/// Bit of an id: a receiver that does not know the parameter must drop the sample.
pub const MUST_UNDERSTAND: u16 = 0x4000;

/// Ids of the policies that DDS permits in inline QoS: topic name, DURABILITY, PRESENTATION, DEADLINE,
/// LATENCY_BUDGET, OWNERSHIP, OWNERSHIP_STRENGTH, LIVELINESS, PARTITION, RELIABILITY, TRANSPORT_PRIORITY,
/// DESTINATION_ORDER.
const POLICIES: [u16; 12] =
    [0x0005, 0x001d, 0x0021, 0x0023, 0x0027, 0x001f, 0x0006, 0x001b, 0x0029, 0x001a, 0x0049, 0x0025];

/// Whether `id`, with or without [`MUST_UNDERSTAND`], is known.
pub(super) fn is_known(id: u16) -> bool {
    let id = id & !MUST_UNDERSTAND;
    matches!(
        id,
        PAD | SENTINEL
            | LIFESPAN
            | CONTENT_FILTER_INFO
            | COHERENT_SET
            | DIRECTED_WRITE
            | ORIGINAL_WRITER_INFO
            | GROUP_COHERENT_SET
            | GROUP_SEQ_NUM
            | WRITER_GROUP_INFO
            | SECURE_WRITER_GROUP_INFO
            | KEY_HASH
            | STATUS_INFO
            | RELATED_SAMPLE_IDENTITY
    ) || POLICIES.contains(&id)
}
