//! Lays out the inline QoS of a DATA; the layout is in `inline_qos.rs`.

use super::fields::Fields;
use super::inline_qos::SampleIdentity;
use super::{ContentFilterInfo, FilterSignature, parameter_id};
use crate::types::{Duration, Guid, SequenceNumber};

/// Appends parameters; the sentinel follows by itself. A DATA for which nothing was appended has no inline QoS.
#[derive(Debug)]
pub struct InlineQosWriter<'b> {
    buffer: &'b mut Vec<u8>,
}

impl<'b> InlineQosWriter<'b> {
    /// Lets `fill` append parameters to `buffer` and ends the list. Whether there is a list.
    pub(super) fn write(buffer: &'b mut Vec<u8>, fill: impl FnOnce(&mut Self)) -> bool {
        let start = buffer.len();
        let mut writer = Self { buffer };
        fill(&mut writer);
        let present = writer.buffer.len() > start;
        if present {
            Fields::<4>::new().u16(parameter_id::SENTINEL).u16(0).append_to(writer.buffer);
        }
        present
    }

    /// A list of its own, with its sentinel. Whether there is one.
    #[cfg(test)]
    pub(crate) fn list(buffer: &'b mut Vec<u8>, fill: impl FnOnce(&mut Self)) -> bool {
        Self::write(buffer, fill)
    }

    /// Adds the key hash.
    pub fn key_hash(&mut self, key_hash: &[u8; 16]) -> &mut Self {
        self.put(Fields::<20>::new().u16(parameter_id::KEY_HASH).u16(16).bytes(*key_hash))
    }

    /// Adds the status of the instance: bit 0 disposed, bit 1 unregistered, bit 2 filtered.
    pub fn status_info(&mut self, bits: u32) -> &mut Self {
        // The status is an array of octets, so its byte order is not that of the list.
        self.put(Fields::<8>::new().u16(parameter_id::STATUS_INFO).u16(4).bytes(bits.to_be_bytes()))
    }

    /// Adds the first sequence number of the coherent set.
    pub fn coherent_set(&mut self, first: SequenceNumber) -> &mut Self {
        self.sequence_number(parameter_id::COHERENT_SET, first)
    }

    /// Adds the group sequence number of the group's coherent set.
    pub fn group_coherent_set(&mut self, number: SequenceNumber) -> &mut Self {
        self.sequence_number(parameter_id::GROUP_COHERENT_SET, number)
    }

    /// Adds the group sequence number of the sample, from 1.
    pub fn group_sequence_number(&mut self, number: SequenceNumber) -> &mut Self {
        self.sequence_number(parameter_id::GROUP_SEQ_NUM, number)
    }

    /// Adds the digest of the publisher's writers.
    pub fn writer_group_info(&mut self, digest: [u8; 4]) -> &mut Self {
        self.put(Fields::<8>::new().u16(parameter_id::WRITER_GROUP_INFO).u16(4).bytes(digest))
    }

    /// Adds a sequence number under an id of [`parameter_id`].
    pub fn sequence_number(&mut self, id: u16, number: SequenceNumber) -> &mut Self {
        self.put(Fields::<12>::new().u16(id).u16(8).sequence_number(number))
    }

    /// Adds the request that this sample answers, under both ids: old releases of Fast DDS read 0x800f alone.
    pub fn related_sample_identity(&mut self, request: SampleIdentity) -> &mut Self {
        for id in [parameter_id::RELATED_SAMPLE_IDENTITY, parameter_id::RELATED_SAMPLE_IDENTITY_EPROSIMA] {
            let mut fields = Fields::<28>::new();
            fields.u16(id).u16(24);
            self.put(fields.bytes(request.writer.to_bytes()).sequence_number(request.sequence_number));
        }
        self
    }

    /// Adds a reader that the sample is for; call it once for each.
    pub fn directed_write(&mut self, reader: Guid) -> &mut Self {
        self.put(Fields::<20>::new().u16(parameter_id::DIRECTED_WRITE).u16(16).bytes(reader.to_bytes()))
    }

    /// Adds the original writer of the sample; `qos` appends that writer's policies, `|_| {}` for none.
    pub fn original_writer(
        &mut self,
        original: SampleIdentity,
        qos: impl FnOnce(&mut InlineQosWriter<'_>),
    ) -> &mut Self {
        let start = self.buffer.len();
        let mut fields = Fields::<28>::new();
        fields.u16(parameter_id::ORIGINAL_WRITER_INFO).u16(0);
        self.put(fields.bytes(original.writer.to_bytes()).sequence_number(original.sequence_number));
        // `write` ends only a list with parameters, and a reader of this one expects the sentinel.
        if !InlineQosWriter::write(self.buffer, qos) {
            self.put(Fields::<4>::new().u16(parameter_id::SENTINEL).u16(0));
        }
        // Policies are informative, so a too long list is left out rather than failing the write.
        let Ok(len) = u16::try_from(self.buffer.len() - start - 4) else {
            self.buffer.truncate(start);
            return self;
        };
        if let Some([_, _, field @ ..]) = self.buffer.get_mut(start..).and_then(<[u8]>::first_chunk_mut::<4>) {
            *field = len.to_le_bytes();
        }
        self
    }

    /// Adds the results of filters, at most [`ContentFilterInfo::RESULTS_MAX`].
    pub fn content_filter_info(&mut self, results: &[(FilterSignature, bool)]) -> &mut Self {
        ContentFilterInfo::build(self.buffer, results);
        self
    }

    /// Adds the LIFESPAN of this sample.
    pub fn lifespan(&mut self, lifespan: Duration) -> &mut Self {
        let (seconds, fraction) = lifespan.to_wire();
        self.put(Fields::<12>::new().u16(parameter_id::LIFESPAN).u16(8).i32(seconds).u32(fraction))
    }

    /// Adds encoded parameters: little endian, whole, without the sentinel. They are the policies for readers that
    /// expect inline QoS.
    pub fn encoded(&mut self, parameters: &[u8]) -> &mut Self {
        debug_assert!(parameters.len() % 4 == 0, "parameters are multiples of 4 bytes");
        self.buffer.extend_from_slice(parameters);
        self
    }

    #[inline]
    fn put<const N: usize>(&mut self, fields: &Fields<N>) -> &mut Self {
        fields.append_to(self.buffer);
        self
    }
}
