//! The inline QoS of a DATA: a borrowed parameter list (RTPS 2.5, 9.4.2.11 and 9.6.4).
//!
//! ```text
//!  0   parameterId u16, length u16      length: a multiple of 4
//!  4   value                            length bytes
//!  ..  0x0001, length u16               the sentinel; its length means nothing
//! ```

use super::cursor::Cursor;
use super::{WireError, WireErrorKind, parameter_id};
use crate::types::{Duration, Guid, SequenceNumber, VendorId};

/// The parameters of a DATA, as bytes that have been checked to end with a sentinel.
///
/// The getters walk the list anew each time: it is short, and most samples carry none. A parameter whose value is too
/// short counts as absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InlineQos<'a> {
    /// The list from its first parameter to the sentinel, inclusive.
    pub bytes: &'a [u8],
    /// Whether the submessage is little endian.
    pub little_endian: bool,
}

/// One entry of [`InlineQos`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// The id as it came, with its flags; see [`parameter_id`].
    pub id: u16,
    /// The value, its padding included.
    pub value: &'a [u8],
}

impl Parameter<'_> {
    /// Whether a receiver who does not know the id must drop the sample.
    #[must_use]
    pub const fn must_understand(&self) -> bool {
        self.id & parameter_id::MUST_UNDERSTAND != 0
    }
}

/// Names a sample in the whole domain: the request that a reply belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SampleIdentity {
    /// Who wrote it.
    pub writer: Guid,
    /// Its number within the writer.
    pub sequence_number: SequenceNumber,
}

impl<'a> InlineQos<'a> {
    /// Takes a list from `cursor` up to and with its sentinel.
    pub(super) fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let little_endian = cursor.little_endian();
        let all = cursor.rest();
        while parse_parameter(cursor)?.is_some() {}
        let len = all.len() - cursor.rest().len();
        Ok(Self { bytes: all.get(..len).unwrap_or_default(), little_endian })
    }

    /// The parameters in their order, without padding and sentinel.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'a>> + use<'a> {
        let mut cursor = Cursor::new(self.bytes, 0, self.little_endian);
        let all = std::iter::from_fn(move || parse_parameter(&mut cursor).ok().flatten());
        all.filter(|parameter| parameter.id != parameter_id::PAD)
    }

    /// The value of the first parameter with this id, whether or not its must-understand bit is set.
    #[must_use]
    pub fn find(&self, id: u16) -> Option<&'a [u8]> {
        let mut parameters = self.parameters();
        parameters.find(|parameter| parameter.id & !parameter_id::MUST_UNDERSTAND == id).map(|found| found.value)
    }

    /// What happened to the instance: bit 0 disposed, bit 1 unregistered, bit 2 filtered (RTPS 2.5, 9.6.4.9). Absent: 0,
    /// nothing happened.
    #[must_use]
    pub fn status_info(&self) -> u32 {
        let value = self.find(parameter_id::STATUS_INFO).and_then(<[u8]>::first_chunk);
        value.map_or(0, |&bytes| u32::from_be_bytes(bytes))
    }

    /// The key hash as it came. Not a proof of the instance: some peers compute it in ways of their own.
    #[must_use]
    pub fn key_hash(&self) -> Option<[u8; 16]> {
        self.find(parameter_id::KEY_HASH)?.first_chunk().copied()
    }

    /// The first number of the coherent set that the sample belongs to; [`SequenceNumber::UNKNOWN`] ends a set.
    #[must_use]
    pub fn coherent_set(&self) -> Option<SequenceNumber> {
        self.sequence_number(parameter_id::COHERENT_SET)
    }

    /// The number that names the group's coherent set. Zenzen DDS 0.2 writes it as 0x0039.
    #[must_use]
    pub fn group_coherent_set(&self, source: VendorId) -> Option<SequenceNumber> {
        self.sequence_number(parameter_id::GROUP_COHERENT_SET).or_else(|| match source {
            VendorId::ZENZEN => self.sequence_number(parameter_id::GROUP_COHERENT_SET_ZENZEN),
            _ => None,
        })
    }

    /// The sample's number within its group, from 1. Zenzen DDS 0.2 writes it as 0x0038.
    #[must_use]
    pub fn group_sequence_number(&self, source: VendorId) -> Option<SequenceNumber> {
        self.sequence_number(parameter_id::GROUP_SEQ_NUM).or_else(|| match source {
            VendorId::ZENZEN => self.sequence_number(parameter_id::GROUP_SEQ_NUM_ZENZEN),
            _ => None,
        })
    }

    /// The request that this sample answers. Fast DDS also writes it as 0x800f.
    #[must_use]
    pub fn related_sample_identity(&self, source: VendorId) -> Option<SampleIdentity> {
        let standard = self.sample_identity(parameter_id::RELATED_SAMPLE_IDENTITY);
        standard.or_else(|| match source {
            VendorId::EPROSIMA => self.sample_identity(parameter_id::RELATED_SAMPLE_IDENTITY_EPROSIMA),
            _ => None,
        })
    }

    /// Who wrote a sample that somebody else sends in its place.
    #[must_use]
    pub fn original_writer(&self) -> Option<SampleIdentity> {
        self.sample_identity(parameter_id::ORIGINAL_WRITER_INFO)
    }

    /// LIFESPAN of this one sample.
    #[must_use]
    pub fn lifespan(&self) -> Option<Duration> {
        let mut cursor = self.cursor(parameter_id::LIFESPAN)?;
        let seconds = cursor.i32().ok()?;
        Some(Duration::from_wire(seconds, cursor.u32().ok()?))
    }

    /// Whether `reader` may have the sample: it is directed to nobody, or to this reader too.
    #[must_use]
    pub fn is_directed_to(&self, reader: Guid) -> bool {
        let reader = reader.to_bytes();
        let directed = parameter_id::DIRECTED_WRITE;
        let ids = self.parameters().filter(|found| found.id & !parameter_id::MUST_UNDERSTAND == directed);
        let mut ids = ids.peekable();
        ids.peek().is_none() || ids.any(|found| found.value.first_chunk() == Some(&reader))
    }

    /// The first parameter that must be understood and is not known here: the sample is to be dropped.
    #[must_use]
    pub fn unknown_must_understand(&self) -> Option<u16> {
        let mut parameters = self.parameters();
        let unknown = parameters.find(|found| found.must_understand() && !parameter_id::is_known(found.id));
        unknown.map(|found| found.id)
    }

    fn cursor(&self, id: u16) -> Option<Cursor<'a>> {
        self.find(id).map(|value| Cursor::new(value, 0, self.little_endian))
    }

    fn sequence_number(&self, id: u16) -> Option<SequenceNumber> {
        self.cursor(id)?.sequence_number().ok()
    }

    fn sample_identity(&self, id: u16) -> Option<SampleIdentity> {
        let mut cursor = self.cursor(id)?;
        let writer = Guid::from_bytes(cursor.bytes().ok()?);
        Some(SampleIdentity { writer, sequence_number: cursor.sequence_number().ok()? })
    }
}

/// The next parameter; `None` for the sentinel.
fn parse_parameter<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Parameter<'a>>, WireError> {
    let id = cursor.u16()?;
    let bad_length = cursor.error(WireErrorKind::ParameterLength);
    let len = cursor.u16()?;
    if id == parameter_id::SENTINEL {
        return Ok(None);
    }
    // Where the next parameter begins would be a guess: some senders round up, some do not.
    if len % 4 != 0 {
        return Err(bad_length);
    }
    cursor.slice(usize::from(len)).map(|value| Some(Parameter { id, value }))
}
