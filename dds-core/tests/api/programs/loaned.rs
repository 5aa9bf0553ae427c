//! Memory of the writer: filled and written, returned unused, and lent as bytes.

use super::{Log, log};
use crate::support::World;
use dds_core::DataWriter;
use dds_core::cdr::Encoding;
use dds_core::error::WriteErrorKind;
use dds_core::qos::Preset;
use dds_core::writer::WriteOptions;

#[test]
fn loans_are_written_dropped_and_returned() {
    let participant = World::new().participant();
    let reader = participant.reader_builder::<Log>("log").qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Log>("log").qos(Preset::Event).build().unwrap();
    let mut loan = writer.loan().unwrap();
    *loan = log("lent");
    loan.write().unwrap();
    drop(writer.loan().unwrap());
    assert_eq!(reader.take().unwrap().into_data().collect::<Vec<_>>(), [log("lent")]);

    let mut bytes = writer.loan_encoded(Encoding::Xcdr1, 20).unwrap();
    // The level, the text "no" with its length and terminator, and no octets.
    bytes[4..].copy_from_slice(&[9, 0, 0, 0, 3, 0, 0, 0, b'n', b'o', 0, 0, 0, 0, 0, 0]);
    if cfg!(target_endian = "little") {
        bytes.write().unwrap();
        let data = reader.take_next().unwrap().unwrap().data.unwrap();
        assert_eq!(data, Log { level: 9, text: "no".to_owned(), octets: Vec::new() });
    }

    let mut loan = writer.loan().unwrap();
    loan.text = "kept".to_owned();
    writer.close();
    let (loan, error) = loan.write_or_return(WriteOptions::new()).unwrap_err();
    assert_eq!(error.kind(), &WriteErrorKind::Closed);
    assert_eq!(loan.text, "kept");
    assert_eq!(write_loan(&writer).unwrap_err().to_string(), writer.loan().unwrap_err().to_string());
}

/// `?` works in a function whose error is any error, although the loan borrows the writer.
fn write_loan(writer: &DataWriter<Log>) -> Result<(), Box<dyn std::error::Error>> {
    let mut loan = writer.loan()?;
    *loan = log("lent");
    loan.write()?;
    let bytes = writer.loan_encoded(Encoding::Xcdr1, 20)?;
    bytes.write()?;
    Ok(())
}
