//! The generated types as topics of a Cyclone DDS participant that sends back each sample.

use crate::{Facts, Sample, expect};
use dds_core::DomainParticipant;
use dds_core::cdr::Encoding;
use dds_core::qos::{DataReaderQos, DataRepresentation, DataWriterQos};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Longer than any step takes on a busy machine. Only a failing step reaches it.
const LIMIT: Duration = Duration::from_secs(20);

/// Our participant and `live.py`.
pub(crate) struct Live {
    participant: DomainParticipant,
    /// The participant whose types match by name.
    by_name: DomainParticipant,
    process: Child,
    encoding: Encoding,
}

impl Live {
    /// Starts both sides for samples of this encoding. The peer knows the types with these names.
    pub(crate) fn start(encoding: Encoding, names: &[&str]) -> Self {
        let python = std::env::var("DDS_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
        let path = std::env::var("GENERATED").expect("GENERATED, the folder of live.py and generated_types.py");
        let version = if encoding == Encoding::Xcdr1 { "1" } else { "2" };
        let mut command = Command::new(&python);
        if let Ok(file) = std::env::var("GENERATED_TRACE") {
            let said = std::env::var("CYCLONEDDS_URI").unwrap_or_default();
            let trace = format!("<Tracing><Category>discovery,topic,trace</Category><OutputFile>{file}</OutputFile></Tracing>");
            command.env("CYCLONEDDS_URI", format!("{said}{trace}"));
        }
        let mut process = command
            .args(["-B", &format!("{path}/live.py"), &format!("{path}/generated_types.py"), version])
            .args(names)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{python}: {error}"));
        let mut ready = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut ready).expect("text");
        assert_eq!(ready, "ready\n", "live.py does not begin");
        let participant = DomainParticipant::new(0).expect("a participant");
        let by_name = DomainParticipant::builder(0).type_information(false).build().expect("a participant");
        Self { participant, by_name, process, encoding }
    }

    /// Sends values to the peer and compares the returned values.
    pub(crate) fn compare<T: Sample + 'static>(&self, facts: &Facts, values: &[T]) -> Result<(), String> {
        let (name, participant) = (facts.name, if facts.goes_by_name { &self.by_name } else { &self.participant });
        let error = |error: &dyn std::fmt::Display| format!("live: {error}");
        let representation = match self.encoding {
            Encoding::Xcdr1 => DataRepresentation::Xcdr1,
            Encoding::Xcdr2 => DataRepresentation::Xcdr2,
        };
        // Transient local, because one side may match before the other one.
        let qos = DataReaderQos::default()
            .reliable()
            .transient_local()
            .keep_all()
            .representation([representation]);
        let back = participant.reader_builder::<T>(&*format!("{name}_back")).qos(qos).build();
        let back = back.map_err(|reason| error(&reason))?;
        let qos = DataWriterQos::default()
            .reliable()
            .transient_local()
            .keep_all()
            .representation([representation]);
        let there = participant.writer_builder::<T>(&*format!("{name}_there")).qos(qos).build();
        let there = there.map_err(|reason| error(&reason))?;
        let unmatched = |reason: dds_core::error::WaitError| {
            let reports = there.explain_matches().into_iter().chain(back.explain_matches());
            let reports: Vec<String> = reports.map(|report| format!("\n    {report}")).collect();
            // If our side matches, Cyclone does not. With `GENERATED_TRACE=<file>` Cyclone reports the reason.
            format!("live: {reason}{}", reports.concat())
        };
        there.wait_for_readers(1).block_for(LIMIT).map_err(unmatched)?;
        back.wait_for_writers(1).block_for(LIMIT).map_err(unmatched)?;
        for value in values {
            there.write(value).map_err(|reason| error(&reason))?;
            let sample = back.next_sample().block_for(LIMIT).map_err(|reason| {
                format!("live: {reason}; {} could not be decoded: {}", back.not_decodable(), value.text())
            })?;
            let returned = sample.data.ok_or_else(|| format!("live: {:?} comes back without data", sample.info))?;
            expect("another value comes back", &returned.text(), &value.text())?;
        }
        Ok(())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
