//! Writes of samples: by value, encoded, lent, and in async code.

use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::write_async::AsyncWrite;
use crate::publication::{DataWriter, LoanedBytes, LoanedSample, WriteOptions};
use dds_rtps::cdr::append;
use dds_rtps::cdr::{Encode, Encoded, Encoding, TypeInfo, ViewOf};
use dds_rtps::wire::SampleIdentity;
use dds_rtps::writer::NewChange;
use std::future::Future;

impl<T> DataWriter<T> {
    /// Publishes `sample` on the calling thread.
    ///
    /// When it returns, the sample is in the history, and every matched reader of this process has it. For the other
    /// readers, the kernel has it.
    ///
    /// It blocks only if the writer is reliable, and for at most `max_blocking_time`:
    ///
    /// - if the writer keeps all samples and has reached its resource limits. The write fails if no room appears in
    ///   time;
    /// - if the writer keeps all samples, and remote readers accept a large sample more slowly than it is sent. The
    ///   same holds for 1 MiB of small samples, or 64 MiB while no reader answers. The sample is published in any case,
    ///   even if the time ends before the kernel has all of it. A long wait is a warning in the log, which names the
    ///   reader.
    ///
    /// It never blocks on the thread of an inline listener.
    ///
    /// # Errors
    /// The sample is not published: [`WriteErrorKind::Encode`], [`WriteErrorKind::Timeout`], [`WriteErrorKind::Full`],
    /// [`WriteErrorKind::OutOfResources`], or [`WriteErrorKind::Closed`].
    pub fn write(&self, sample: &T) -> Result<(), WriteError>
    where
        T: Encode + TypeInfo,
    {
        self.handle.write(sample, WriteOptions::new(), true).map(drop)
    }

    /// As [`write`](DataWriter::write), but never blocks.
    ///
    /// # Errors
    /// As [`write`](DataWriter::write), with [`WriteErrorKind::Full`] if `write` would block.
    pub fn try_write(&self, sample: &T) -> Result<(), WriteError>
    where
        T: Encode + TypeInfo,
    {
        self.handle.write(sample, WriteOptions::new(), false).map(drop)
    }

    /// As [`write`](DataWriter::write), with [`WriteOptions`].
    ///
    /// The options set a source timestamp, the instance, or the sample that this one replies to.
    ///
    /// # Errors
    /// As [`write`](DataWriter::write). [`WriteErrorKind::OtherInstance`] if the options name another instance than the
    /// sample's, and [`WriteErrorKind::UnknownInstance`] if the instance is not registered.
    #[doc(alias = "write_w_timestamp")]
    pub fn write_with(&self, sample: &T, options: WriteOptions) -> Result<(), WriteError>
    where
        T: Encode + TypeInfo,
    {
        self.handle.write(sample, options, true).map(drop)
    }

    /// As [`write_with`](DataWriter::write_with), but returns the identity of the sample.
    ///
    /// A reply to the sample carries this identity in
    /// [`SampleInfo::related_sample`](crate::SampleInfo::related_sample).
    ///
    /// ```
    /// use dds_core::qos::Preset;
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    /// use dds_core::writer::WriteOptions;
    ///
    /// #[derive(DdsType)]
    /// struct Number {
    ///     value: i64,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let request_writer = participant.writer_builder::<Number>("square/request").qos(Preset::Command).build()?;
    /// let request_reader = participant.reader_builder::<Number>("square/request").qos(Preset::Command).build()?;
    /// let reply_writer = participant.writer_builder::<Number>("square/reply").qos(Preset::Command).build()?;
    /// let reply_reader = participant.reader_builder::<Number>("square/reply").qos(Preset::Command).build()?;
    ///
    /// let request = request_writer.write_identified(&Number { value: 7 }, WriteOptions::new())?;
    /// let received = request_reader.next_sample().block()?;
    /// let value = received.data.map_or(0, |number| number.value * number.value);
    /// let reply = WriteOptions::new().related_sample(received.info.sample_identity());
    /// reply_writer.write_with(&Number { value }, reply)?;
    /// assert_eq!(reply_reader.next_sample().block()?.info.related_sample, Some(request));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`write_with`](DataWriter::write_with).
    pub fn write_identified(&self, sample: &T, options: WriteOptions) -> Result<SampleIdentity, WriteError>
    where
        T: Encode + TypeInfo,
    {
        let sequence_number = self.handle.write(sample, options, true)?;
        Ok(SampleIdentity { writer: self.handle.guid(), sequence_number })
    }

    /// Sends the samples that wait to share a datagram with others.
    ///
    /// Samples wait because of LATENCY_BUDGET or [`batching`](crate::DataWriterBuilder::batching). Never blocks. Has no
    /// effect if no sample waits.
    ///
    /// # Errors
    /// [`WriteErrorKind::Closed`] after `close`.
    pub fn flush(&self) -> Result<(), WriteError> {
        self.handle.write_result(self.handle.flush())
    }

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
        self.handle.write(sample, WriteOptions::new(), true).map(drop)
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
        let encoder = handle.encoder();
        // The bytes come from the application, so they are checked before they are copied.
        let encoded = encoder.with_buffers(|buffers| {
            let instance = encoder.instance_of_encoded(sample.bytes, handle.encoding()?, buffers)?;
            let payload = buffers.encode(|buffer| {
                buffer.clear();
                append(buffer, sample.bytes);
                Ok::<(), WriteErrorKind>(())
            })?;
            options.apply_to(NewChange::alive(instance, payload))
        });
        handle.publish(handle.write_result(encoded)?, true).map(drop)
    }

    /// As [`write`](DataWriter::write), but the task waits instead of the thread.
    ///
    /// It waits for room in the history, at most `max_blocking_time`, and until an earlier large sample is sent. It
    /// needs no particular runtime.
    ///
    /// The call encodes the sample once. Dropping the future before it is ready publishes nothing.
    ///
    /// Tasks and threads that wait for room get it in the order of their arrival. A future that was polled must be
    /// polled again or dropped. Otherwise it blocks those behind it.
    ///
    /// # Errors
    /// As [`write`](DataWriter::write).
    pub fn write_async<'a>(&'a self, sample: &'a T) -> impl Future<Output = Result<(), WriteError>> + Send + 'a
    where
        T: Encode + TypeInfo,
    {
        AsyncWrite::new(&self.handle, self.handle.encode(sample))
    }

    /// Lends a value to fill and [write](LoanedSample::write).
    ///
    /// For types with strings and sequences, which keep their memory from one sample to the next. The value has the
    /// content of an earlier loan, or else the default. Dropping it returns it unwritten. A writer lends at most 64
    /// loans at a time. Loans do not allocate in steady state.
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType, Default, Debug, PartialEq)]
    /// struct Scan {
    ///     ranges: Vec<f32>,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let reader = participant.reader::<Scan>("scan")?;
    /// let writer = participant.writer::<Scan>("scan")?;
    /// let mut scan = writer.loan()?;
    /// scan.ranges.clear();
    /// scan.ranges.extend([0.5, 0.25]);
    /// scan.write()?;
    /// assert_eq!(reader.next_sample().block()?.data, Some(Scan { ranges: vec![0.5, 0.25] }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WriteErrorKind::OutOfResources`] if the writer lends 64 loans already, [`WriteErrorKind::Closed`] after
    /// `close`.
    #[doc(alias = "loan_sample")]
    #[doc(alias = "borrow_loaned_message")]
    pub fn loan(&self) -> Result<LoanedSample<'_, T>, WriteError>
    where
        T: Default + Send + 'static,
    {
        let on_loan = self.handle.write_result(self.handle.take_loan())?;
        Ok(LoanedSample::new(self, on_loan))
    }

    /// Lends the memory of an encoded sample of `len` bytes, to fill in place.
    ///
    /// The sample is not copied on its way to local readers and to the socket.
    ///
    /// If all readers share memory with the writer, a sample of 4 KiB to almost 8 MiB lies there. So it is not copied
    /// for them either.
    ///
    /// The memory begins with the encapsulation header, in the byte order of this machine. The sample begins at byte 4.
    /// The bytes after the header are those of earlier samples of this process: fill all of them.
    ///
    /// [`write`](LoanedBytes::write) checks the bytes as [`write_encoded`](DataWriter::write_encoded) does, including
    /// the header. A writer lends at most 64 loans at a time.
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    /// use dds_core::cdr::Encoding;
    ///
    /// #[derive(DdsType, Debug, PartialEq)]
    /// struct Count {
    ///     count: u32,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let reader = participant.reader::<Count>("count")?;
    /// let writer = participant.writer::<Count>("count")?;
    /// let mut bytes = writer.loan_encoded(Encoding::Xcdr1, 8)?;
    /// bytes[4..].copy_from_slice(&7_u32.to_ne_bytes());
    /// bytes.write()?;
    /// assert_eq!(reader.next_sample().block()?.data, Some(Count { count: 7 }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - [`WriteErrorKind::OtherEncoding`] if the writer announces another encoding,
    /// - [`WriteErrorKind::NotASample`] if `len` leaves no room for the header,
    /// - [`WriteErrorKind::OutOfResources`] if the writer lends 64 loans already, or memory is short,
    /// - [`WriteErrorKind::Closed`] after `close`.
    pub fn loan_encoded(&self, encoding: Encoding, len: usize) -> Result<LoanedBytes<'_>, WriteError> {
        self.handle.write_result(self.handle.loan_encoded(encoding, len))
    }
}
