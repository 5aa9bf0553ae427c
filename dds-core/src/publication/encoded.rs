//! Writing what is not a `T`: borrowed views, and samples that were encoded elsewhere.

use crate::cdr::{Encapsulation, Encode, Encoded, TypeInfo, ViewOf};
use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::writer_handle::Desk;
use crate::publication::{DataWriter, WriteOptions, WriterHandle};
use dds_rtps::cdr::append;
use dds_rtps::types::InstanceHandle;
use dds_rtps::writer::NewChange;

impl<T> DataWriter<T> {
    /// Publishes a value of another type with the same encoding, such as one that borrows where `T` owns.
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

    /// Publishes a sample that was encoded elsewhere, with its encapsulation header; its bytes are copied once.
    ///
    /// Nothing is believed of it: the header must be complete and name the encoding that the writer has announced (see
    /// [`representation`](crate::qos::DataWriterQos::representation)) and a framing that fits the type's extensibility,
    /// and the key is read from the bytes. The members behind the key are not looked at. On a
    /// [raw topic](crate::DomainParticipant::raw_topic) nobody knows the type: then the header alone is checked.
    ///
    /// # Errors
    /// As [`write`](DataWriter::write); [`WriteErrorKind::NotASample`] and [`WriteErrorKind::OtherEncoding`] if it is not
    /// what it should be.
    pub fn write_encoded(&self, sample: Encoded<'_>) -> Result<(), WriteError> {
        self.write_encoded_with(sample, WriteOptions::new())
    }

    /// As [`write_encoded`](DataWriter::write_encoded), with what [`WriteOptions`] say, such as the original timestamp.
    ///
    /// # Errors
    /// As [`write_encoded`](DataWriter::write_encoded) and [`write_with`](DataWriter::write_with).
    pub fn write_encoded_with(&self, sample: Encoded<'_>, options: WriteOptions) -> Result<(), WriteError> {
        let handle = &self.handle;
        let encoded = handle.at_desk(|desk| {
            let instance = handle.instance_of_encoded(sample.bytes, desk)?;
            let payload = desk.encode(|buffer| {
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
    /// Checks an encoded sample as far as it can be done, and finds its instance.
    pub(super) fn instance_of_encoded(&self, bytes: &[u8], desk: &mut Desk) -> Result<InstanceHandle, WriteErrorKind> {
        let header = Encapsulation::parse(bytes).map_err(WriteErrorKind::NotASample)?;
        let offered = self.encoding()?;
        if header.encoding != offered {
            return Err(WriteErrorKind::OtherEncoding { offered, given: header.encoding });
        }
        let Some(ty) = &self.ty else { return Ok(InstanceHandle::NIL) };
        header
            .expect_fit(ty.extensibility())
            .and_then(|()| self.hasher.of_payload(bytes, false, &mut desk.scratch))
            .map_err(WriteErrorKind::NotASample)
    }
}
