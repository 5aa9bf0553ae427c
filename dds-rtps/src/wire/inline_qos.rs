//! Inline QoS of a DATA: a borrowed parameter list (RTPS 2.5, 9.4.2.11 and 9.6.4).
//!
//! ```text
//!  0   parameterId u16, length u16      length: a multiple of 4
//!  4   value                            length bytes
//!  ..  0x0001, length u16               the sentinel; its length means nothing
//! ```

use super::cursor::Cursor;
use super::{
    ContentFilterInfo, Parameter, ParameterError, ParameterFields, ParameterListReader, WireError, WireErrorKind,
    parameter_id,
};
use crate::types::{Duration, Guid, SequenceNumber, VendorId};

/// The parameters of a DATA, as bytes with a verified sentinel.
///
/// Each getter searches the list: it is short, and most samples have none. A parameter with a too short value counts
/// as absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InlineQos<'a> {
    /// The list from its first parameter to the sentinel, inclusive.
    pub bytes: &'a [u8],
    /// Whether the submessage is little endian.
    pub little_endian: bool,
}

/// Identity of a sample in the domain, such as the request of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SampleIdentity {
    /// Its writer.
    pub writer: Guid,
    /// Its sequence number.
    pub sequence_number: SequenceNumber,
}

impl<'a> InlineQos<'a> {
    /// Reads a list up to and with its sentinel.
    pub(super) fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let little_endian = cursor.little_endian();
        // Verify the whole list once, so that the getters cannot fail.
        let mut list = ParameterListReader::new(cursor.rest(), little_endian);
        for parameter in &mut list {
            if let Err(error) = parameter {
                let (kind, entry) = match error {
                    ParameterError::Length { offset } => (WireErrorKind::ParameterLength, offset),
                    ParameterError::Truncated { offset } | ParameterError::Value { offset, .. } => {
                        (WireErrorKind::Truncated, offset)
                    }
                };
                return Err(WireError { kind, offset: cursor.offset() + entry });
            }
        }
        Ok(Self { bytes: cursor.slice(list.position())?, little_endian })
    }

    /// Returns the parameters in their order, without padding and sentinel.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'a>> + use<'a> {
        ParameterListReader::new(self.bytes, self.little_endian).map_while(Result::ok)
    }

    /// Returns the first parameter with this id, whether or not its must-understand bit is set.
    #[must_use]
    pub fn find(&self, id: u16) -> Option<Parameter<'a>> {
        self.parameters().find(|parameter| parameter.id & !parameter_id::MUST_UNDERSTAND == id)
    }

    /// Returns the status of the instance: bit 0 disposed, bit 1 unregistered, bit 2 filtered (RTPS 2.5, 9.6.4.9).
    ///
    /// An absent status is 0: the instance is alive.
    #[must_use]
    pub fn status_info(&self) -> u32 {
        let Some(found) = self.find(parameter_id::STATUS_INFO) else { return 0 };
        match found.fields().array() {
            // An array of octets: its order does not follow the byte order of the submessage.
            Ok(bytes) => u32::from_be_bytes(bytes),
            Err(_) => 0,
        }
    }

    /// Returns status and key hash if the list has nothing else, as for nearly every sample.
    ///
    /// One iteration replaces the search for all other parameters.
    #[must_use]
    pub fn plain(&self) -> Option<(u32, Option<[u8; 16]>)> {
        // A repeated or unreadable parameter is not plain: the getters decide which one counts.
        let (mut status_info, mut key_hash) = (None, None);
        for parameter in self.parameters() {
            match parameter.id {
                parameter_id::STATUS_INFO if status_info.is_none() => {
                    status_info = Some(u32::from_be_bytes(parameter.fields().array().ok()?));
                }
                parameter_id::KEY_HASH if key_hash.is_none() => key_hash = Some(parameter.fields().array().ok()?),
                _ => return None,
            }
        }
        Some((status_info.unwrap_or(0), key_hash))
    }

    /// Returns the key hash as it was sent. It does not prove the instance: some peers compute it differently.
    #[must_use]
    pub fn key_hash(&self) -> Option<[u8; 16]> {
        self.find(parameter_id::KEY_HASH)?.fields().array().ok()
    }

    /// Returns the first sequence number of the sample's coherent set; [`SequenceNumber::UNKNOWN`] ends a set.
    #[must_use]
    pub fn coherent_set(&self) -> Option<SequenceNumber> {
        self.sequence_number(parameter_id::COHERENT_SET)
    }

    /// Returns the group sequence number of the group's coherent set. Zenzen DDS 0.2 uses the id 0x0039.
    #[must_use]
    pub fn group_coherent_set(&self, source: VendorId) -> Option<SequenceNumber> {
        self.vendor_sequence_number(parameter_id::GROUP_COHERENT_SET, parameter_id::GROUP_COHERENT_SET_ZENZEN, source)
    }

    /// Returns the group sequence number of the sample, from 1. Zenzen DDS 0.2 uses the id 0x0038.
    #[must_use]
    pub fn group_sequence_number(&self, source: VendorId) -> Option<SequenceNumber> {
        self.vendor_sequence_number(parameter_id::GROUP_SEQ_NUM, parameter_id::GROUP_SEQ_NUM_ZENZEN, source)
    }

    /// Returns a sequence number by its standard id, or by the id of Zenzen DDS.
    fn vendor_sequence_number(&self, id: u16, zenzen_id: u16, source: VendorId) -> Option<SequenceNumber> {
        let standard = self.sequence_number(id);
        if standard.is_some() || source != VendorId::ZENZEN {
            return standard;
        }
        self.sequence_number(zenzen_id)
    }

    /// Returns the digest of the publisher's writers.
    #[must_use]
    pub fn writer_group_info(&self) -> Option<[u8; 4]> {
        self.find(parameter_id::WRITER_GROUP_INFO)?.fields().array().ok()
    }

    /// Returns the request that this sample answers. Fast DDS also uses the id 0x800f.
    #[must_use]
    pub fn related_sample_identity(&self, source: VendorId) -> Option<SampleIdentity> {
        let standard = self.sample_identity(parameter_id::RELATED_SAMPLE_IDENTITY);
        if standard.is_some() || source != VendorId::EPROSIMA {
            return standard;
        }
        self.sample_identity(parameter_id::RELATED_SAMPLE_IDENTITY_EPROSIMA)
    }

    /// Returns the original writer of a sample that a durability service sends.
    #[must_use]
    pub fn original_writer(&self) -> Option<SampleIdentity> {
        self.sample_identity(parameter_id::ORIGINAL_WRITER_INFO)
    }

    /// Returns the QoS of the original writer, sent with [`Self::original_writer`].
    #[must_use]
    pub fn original_writer_qos(&self) -> Option<InlineQos<'a>> {
        // The value is the identity and then a parameter list of its own, with a sentinel (RTPS 2.5, 9.6.4).
        let list = self.find(parameter_id::ORIGINAL_WRITER_INFO)?.value.get(SAMPLE_IDENTITY_LEN..)?;
        InlineQos::parse(&mut Cursor::new(list, 0, self.little_endian)).ok()
    }

    /// Returns the results of the filters that the writer has evaluated.
    #[must_use]
    pub fn content_filter_info(&self) -> Option<ContentFilterInfo<'a>> {
        let value = self.find(parameter_id::CONTENT_FILTER_INFO)?.value;
        ContentFilterInfo::parse(&mut Cursor::new(value, 0, self.little_endian)).ok()
    }

    /// Returns the LIFESPAN of this sample.
    #[must_use]
    pub fn lifespan(&self) -> Option<Duration> {
        self.find(parameter_id::LIFESPAN)?.fields().duration().ok()
    }

    /// Whether `reader` may receive the sample: it is directed to no reader, or to this one.
    #[must_use]
    pub fn is_directed_to(&self, reader: Guid) -> bool {
        // The parameter is repeated for each reader, so an entry for another reader does not end the search.
        let mut is_directed = false;
        for parameter in self.parameters() {
            if parameter.id & !parameter_id::MUST_UNDERSTAND == parameter_id::DIRECTED_WRITE {
                if parameter.fields().guid() == Ok(reader) {
                    return true;
                }
                is_directed = true;
            }
        }
        !is_directed
    }

    /// Returns the first unknown parameter that must be understood; then the sample must be dropped.
    #[must_use]
    pub fn unknown_must_understand(&self) -> Option<u16> {
        for parameter in self.parameters() {
            if parameter.must_understand() && !parameter_id::is_known(parameter.id) {
                return Some(parameter.id);
            }
        }
        None
    }

    fn sequence_number(&self, id: u16) -> Option<SequenceNumber> {
        read_sequence_number(&mut self.find(id)?.fields())
    }

    fn sample_identity(&self, id: u16) -> Option<SampleIdentity> {
        let mut fields = self.find(id)?.fields();
        let writer = fields.guid().ok()?;
        Some(SampleIdentity { writer, sequence_number: read_sequence_number(&mut fields)? })
    }
}

fn read_sequence_number(fields: &mut ParameterFields<'_>) -> Option<SequenceNumber> {
    let high = fields.i32().ok()?;
    Some(SequenceNumber::from_words(high, fields.u32().ok()?))
}

/// Bytes of a GUID and a sequence number.
const SAMPLE_IDENTITY_LEN: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::GuidPrefix;
    use crate::wire::InlineQosWriter;

    fn written(fill: impl FnOnce(&mut InlineQosWriter<'_>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        InlineQosWriter::write(&mut bytes, fill);
        bytes
    }

    fn list(bytes: &[u8]) -> InlineQos<'_> {
        InlineQos::parse(&mut Cursor::new(bytes, 0, true)).unwrap()
    }

    fn guid(byte: u8) -> Guid {
        Guid::from_bytes([byte; 16])
    }

    #[test]
    fn written_parameters_are_read_back() {
        let request = SampleIdentity { writer: guid(9), sequence_number: SequenceNumber(0x2_0000_0001) };
        let bytes = written(|to| {
            to.key_hash(&[7; 16]).status_info(3).coherent_set(SequenceNumber(4)).lifespan(Duration::from_millis(1500));
            to.group_coherent_set(SequenceNumber(5)).group_sequence_number(SequenceNumber(6));
            to.related_sample_identity(request);
        });
        let list = list(&bytes);
        assert_eq!((list.key_hash(), list.status_info()), (Some([7; 16]), 3));
        assert_eq!(list.coherent_set(), Some(SequenceNumber(4)));
        assert_eq!(list.group_coherent_set(VendorId::OURS), Some(SequenceNumber(5)));
        assert_eq!(list.group_sequence_number(VendorId::OURS), Some(SequenceNumber(6)));
        assert_eq!(list.lifespan(), Some(Duration::from_millis(1500)));
        assert_eq!(list.related_sample_identity(VendorId::OURS), Some(request));
        assert_eq!((list.original_writer(), list.unknown_must_understand()), (None, None));
        let related = |parameter: &Parameter<'_>| [0x0083, 0x800f].contains(&parameter.id);
        assert_eq!((list.parameters().count(), list.parameters().filter(related).count()), (8, 2));
    }

    #[test]
    fn empty_inline_qos_is_not_written() {
        assert!(written(|_| {}).is_empty());
    }

    #[test]
    fn status_info_is_the_same_in_either_byte_order() {
        let big = InlineQos { bytes: b"\0\x71\0\x04\0\0\0\x03\0\x01\0\0", little_endian: false };
        let little = InlineQos { bytes: b"\x71\0\x04\0\0\0\0\x03\x01\0\0\0", little_endian: true };
        assert_eq!((big.status_info(), little.status_info()), (3, 3));
        assert_eq!(list(b"\x01\0\0\0").status_info(), 0);
    }

    #[test]
    fn padding_and_sentinel_length_are_ignored() {
        let bytes = b"\0\0\x04\0\x71\0\x04\0\x71\0\x04\0\0\0\0\x02\x01\0\xff\xffpayload";
        let list = list(bytes);
        assert_eq!(list.bytes.len(), 20);
        assert_eq!(list.parameters().map(|parameter| parameter.id).collect::<Vec<_>>(), [0x71]);
        assert_eq!(list.status_info(), 2);
    }

    #[test]
    fn vendor_parameter_is_read_from_its_vendor_only() {
        let identity = SampleIdentity { writer: guid(9), sequence_number: SequenceNumber(1) };
        let bytes = written(|to| {
            to.sequence_number(parameter_id::GROUP_SEQ_NUM_ZENZEN, SequenceNumber(8));
            to.sequence_number(parameter_id::GROUP_COHERENT_SET_ZENZEN, SequenceNumber(7));
            to.encoded(&[0x0f, 0x80, 24, 0]).encoded(&[9; 16]).encoded(&[0, 0, 0, 0, 1, 0, 0, 0]);
        });
        let list = list(&bytes);
        assert_eq!(list.group_sequence_number(VendorId::ZENZEN), Some(SequenceNumber(8)));
        assert_eq!(list.group_coherent_set(VendorId::ZENZEN), Some(SequenceNumber(7)));
        assert_eq!(list.group_sequence_number(VendorId::RTI), None);
        assert_eq!(list.group_coherent_set(VendorId::RTI), None);
        assert_eq!(list.related_sample_identity(VendorId::EPROSIMA), Some(identity));
        assert_eq!(list.related_sample_identity(VendorId::RTI), None);
    }

    #[test]
    fn must_understand_concerns_unknown_parameters_only() {
        let find = |id: u16| {
            let bytes = written(|to| {
                to.sequence_number(id, SequenceNumber(1));
            });
            list(&bytes).unknown_must_understand()
        };
        assert_eq!(find(0x7234), Some(0x7234));
        assert_eq!(find(0xc070), Some(0xc070));
        assert_eq!(find(0x3234), None);
        assert_eq!(find(0x8123), None);
        assert_eq!(find(parameter_id::COHERENT_SET | parameter_id::MUST_UNDERSTAND), None);
        let bytes = written(|to| {
            to.sequence_number(parameter_id::COHERENT_SET | parameter_id::MUST_UNDERSTAND, SequenceNumber(3));
        });
        assert_eq!(list(&bytes).coherent_set(), Some(SequenceNumber(3)));
    }

    #[test]
    fn directed_sample_is_for_its_named_readers() {
        let bytes = written(|to| {
            to.directed_write(guid(1)).directed_write(guid(2));
        });
        assert!(list(&bytes).is_directed_to(guid(1)) && list(&bytes).is_directed_to(guid(2)));
        assert!(!list(&bytes).is_directed_to(guid(3)));
        let reader = Guid::new(GuidPrefix::UNKNOWN, crate::types::EntityId::UNKNOWN);
        assert!(list(b"\x01\0\0\0").is_directed_to(reader));
    }

    #[test]
    fn original_writer_has_its_qos() {
        let original = SampleIdentity { writer: guid(9), sequence_number: SequenceNumber(0x2_0000_0001) };
        let bytes = written(|to| {
            to.original_writer(original, |qos| {
                qos.lifespan(Duration::from_millis(1500));
            });
            to.status_info(1);
        });
        let list = list(&bytes);
        assert_eq!((list.original_writer(), list.status_info(), list.lifespan()), (Some(original), 1, None));
        assert_eq!(list.original_writer_qos().unwrap().lifespan(), Some(Duration::from_millis(1500)));
        let bytes = written(|to| {
            to.original_writer(original, |_| {});
        });
        assert_eq!(bytes.len(), 4 + 24 + 4 + 4);
        let list = self::list(&bytes);
        assert_eq!(list.original_writer(), Some(original));
        assert_eq!(list.original_writer_qos().unwrap().parameters().count(), 0);
    }

    #[test]
    fn filter_results_coexist_with_other_parameters() {
        let bytes = written(|to| {
            to.content_filter_info(&[([1; 16], true), ([2; 16], false)]).status_info(2);
        });
        let info = list(&bytes).content_filter_info().unwrap();
        assert_eq!([[1; 16], [2; 16], [3; 16]].map(|filter| info.passed(&filter)), [Some(true), Some(false), None]);
        assert_eq!(list(&bytes).status_info(), 2);
        assert_eq!(list(b"\x55\0\x04\0\x01\0\0\0\x01\0\0\0").content_filter_info(), None);
    }

    #[test]
    fn too_short_value_counts_as_absent() {
        let bytes = written(|to| {
            to.encoded(&[0x70, 0, 4, 0, 1, 2, 3, 4, 0x56, 0, 4, 0, 1, 2, 3, 4, 0x71, 0, 0, 0, 0x2b, 0, 0, 0]);
        });
        let list = list(&bytes);
        assert_eq!((list.key_hash(), list.coherent_set(), list.status_info(), list.lifespan()), (None, None, 0, None));
    }

    #[test]
    fn plain_list_has_status_and_key_hash_only() {
        let plain = |fill: &dyn Fn(&mut InlineQosWriter<'_>)| {
            let bytes = written(|to| fill(to));
            if bytes.is_empty() { Some((0, None)) } else { list(&bytes).plain() }
        };
        assert_eq!(plain(&|_| {}), Some((0, None)));
        assert_eq!(plain(&|to| _ = to.key_hash(&[7; 16])), Some((0, Some([7; 16]))));
        assert_eq!(plain(&|to| _ = to.key_hash(&[7; 16]).status_info(3)), Some((3, Some([7; 16]))));
        // Other parameters need a search. Repeated and too short values need a decision.
        assert_eq!(plain(&|to| _ = to.key_hash(&[7; 16]).directed_write(guid(1))), None);
        assert_eq!(plain(&|to| _ = to.status_info(1).status_info(2)), None);
        assert_eq!(plain(&|to| _ = to.sequence_number(0x7234, SequenceNumber(1))), None);
        assert_eq!(list(&[0x70, 0, 4, 0, 1, 2, 3, 4, 1, 0, 0, 0]).plain(), None);
        assert_eq!(list(b"\x71\xc0\x04\0\0\0\0\x02\x01\0\0\0").plain(), None);
    }

    #[test]
    fn unverified_list_ends_at_its_error() {
        let unchecked = InlineQos { bytes: &[0x71, 0, 4, 0, 0, 0, 0, 1, 0x70, 0, 200, 0, 1], little_endian: true };
        assert_eq!((unchecked.parameters().count(), unchecked.status_info()), (1, 1));
    }
}
