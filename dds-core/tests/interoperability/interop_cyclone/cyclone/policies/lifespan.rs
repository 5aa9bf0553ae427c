//! Expired samples are not visible in any cache.

use super::*;

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn lifespan_expires_samples_at_both_sides() {
    let qos = writer_qos().durability(Durability::TransientLocal).lifespan(ms(300));
    let writer = writer(&participant(), "lifespan_to_cyclone", qos);
    write(&writer, BLUE);
    let mut cyclone = Party::start();
    sleep(400);
    cyclone.tell("reader late lifespan_to_cyclone durability=transient-local");
    cyclone.tell("reader held lifespan_to_cyclone hold=yes");
    writer.wait_for_readers(2).block_for(LIMIT).unwrap();
    cyclone.matched("late", 1);
    cyclone.matched("held", 1);
    write(&writer, [RED]);
    cyclone.expect_sample("late", RED);
    writer.acknowledged().block_for(LIMIT).unwrap();
    sleep(400);
    writer.set_qos(writer.qos().lifespan(Duration::INFINITE)).unwrap();
    write(&writer, [GREEN]);
    cyclone.expect_sample("late", GREEN);
    writer.acknowledged().block_for(LIMIT).unwrap();
    cyclone.tell("take held");
    cyclone.expect_sample("held", GREEN);
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn lifespan_of_cyclone_writer_expires_samples() {
    let reader = reader(&participant(), "lifespan_from_cyclone", reader_qos());
    let mut cyclone = Party::start();
    cyclone.tell("writer short lifespan_from_cyclone lifespan=500");
    cyclone.tell("writer long lifespan_from_cyclone");
    reader.wait_for_writers(2).block_for(LIMIT).unwrap();
    cyclone.matched("short", 1);
    cyclone.matched("long", 1);
    cyclone.tell("write short 0");
    expect_sample(&reader, 0);
    cyclone.tell("write short 3 6");
    cyclone.tell("write long 1");
    sleep(1000);
    expect_sample(&reader, RED);
    assert_eq!(reader.take().unwrap().len(), 0);
}
