//! Writes of borrowed views, and of samples that the application has encoded.

use crate::cdr::{Encapsulation, Encode, Encoded, TypeInfo, ViewOf};
use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::writer_handle::EncodeBuffers;
use crate::publication::{DataWriter, WriteOptions, WriterHandle};
use dds_rtps::cdr::append;
use dds_rtps::types::InstanceHandle;
use dds_rtps::writer::NewChange;

impl<T> DataWriter<T> {
    /// Publishes a value of another type with the same encoding, such as a borrowed view.
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType, Debug, PartialEq)]
    /// struct Log {
    ///     level: u8,
    ///     text: String,
    /// }
    ///
    /// #[derive(DdsType)]
    /// #[dds(view_of = Log)]
    /// struct LogView<'a> {
    ///     level: u8,
    ///     text: &'a str,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let reader = participant.reader::<Log>("log")?;
    /// let writer = participant.writer::<Log>("log")?;
    /// let text = String::from("begin and end");
    /// writer.write_view(&LogView { level: 1, text: &text[..5] })?;
    /// assert_eq!(reader.next_sample().block()?.data, Some(Log { level: 1, text: "begin".to_owned() }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`write`](DataWriter::write).
    pub fn write_view<V>(&self, sample: &V) -> Result<(), WriteError>
    where
        V: ViewOf<T> + Encode + TypeInfo,
    {
        self.publish(sample, WriteOptions::new(), true).map(drop)
    }

    /// Publishes an encoded sample with its encapsulation header. Its bytes are copied once.
    ///
    /// The writer does not trust the sample. The header must be complete and name the announced encoding (see
    /// [`representation`](crate::qos::DataWriterQos::representation)). It must also fit the type's extensibility. The
    /// key is read from the bytes, but the members after the key are not checked. On a [raw
    /// topic](crate::DomainParticipant::raw_topic) the type is unknown, and only the header is checked.
    ///
    /// # Errors
    /// As [`write`](DataWriter::write). [`WriteErrorKind::NotASample`] and [`WriteErrorKind::OtherEncoding`] if a check
    /// fails.
    pub fn write_encoded(&self, sample: Encoded<'_>) -> Result<(), WriteError> {
        self.write_encoded_with(sample, WriteOptions::new())
    }

    /// As [`write_encoded`](DataWriter::write_encoded), with [`WriteOptions`] such as the original timestamp.
    ///
    /// # Errors
    /// As [`write_encoded`](DataWriter::write_encoded) and [`write_with`](DataWriter::write_with).
    pub fn write_encoded_with(&self, sample: Encoded<'_>, options: WriteOptions) -> Result<(), WriteError> {
        let handle = &self.handle;
        let encoded = handle.with_encode_buffers(|buffers| {
            let instance = handle.instance_of_encoded(sample.bytes, buffers)?;
            let payload = buffers.encode(|buffer| {
                buffer.clear();
                append(buffer, sample.bytes);
                Ok(())
            })?;
            options.apply_to(NewChange::alive(instance, payload))
        });
        handle.publish(encoded.map_err(|kind| handle.write_error(kind))?, true).map(drop)
    }
}

impl WriterHandle {
    /// Checks an encoded sample as far as possible, and computes its instance.
    pub(super) fn instance_of_encoded(
        &self,
        bytes: &[u8],
        buffers: &mut EncodeBuffers,
    ) -> Result<InstanceHandle, WriteErrorKind> {
        let header = Encapsulation::parse(bytes).map_err(WriteErrorKind::NotASample)?;
        let offered = self.encoding()?;
        if header.encoding != offered {
            return Err(WriteErrorKind::OtherEncoding { offered, given: header.encoding });
        }
        // The samples of a raw topic have no key that can be read.
        let Some(ty) = &self.ty else { return Ok(InstanceHandle::NIL) };
        header
            .expect_fit(ty.extensibility())
            .and_then(|()| self.hasher.of_payload(bytes, false, &mut buffers.scratch))
            .map_err(WriteErrorKind::NotASample)
    }
}
