//! A burst, and the samples that a reader delivers.

use super::*;

/// Cyclone DDS drops samples within the minimum separation.
#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_reader_sees_first_sample_of_burst() {
    let writer = writer(&participant(), "filter_to_cyclone", writer_qos());
    let mut cyclone = Party::start();
    cyclone.tell("reader r filter_to_cyclone filter=60000");
    writer.wait_for_readers(1).block_for(LIMIT).unwrap();
    cyclone.matched("r", 1);
    write(&writer, BLUE);
    write(&writer, [RED]);
    cyclone.expect_sample("r", 0);
    cyclone.expect_sample("r", RED);
}

/// Our reader keeps the last sample and delivers it when the separation has passed.
#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn reader_sees_first_and_last_of_cyclone_burst() {
    let reader = reader(&participant(), "filter_from_cyclone", reader_qos().time_based_filter(ms(3000)));
    let mut cyclone = Party::start();
    cyclone.tell("writer w filter_from_cyclone");
    reader.wait_for_writers(1).block_for(LIMIT).unwrap();
    cyclone.matched("w", 1);
    cyclone.tell("write w 0 3 6 1");
    expect_sample(&reader, 0);
    expect_sample(&reader, RED);
    expect_sample(&reader, 6);
}
