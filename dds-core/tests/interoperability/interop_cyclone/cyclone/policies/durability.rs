//! The history that late joiners get.

use super::*;

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn late_volatile_cyclone_reader_gets_no_history() {
    for durability in [Durability::Volatile, Durability::TransientLocal] {
        let topic = format!("late_to_cyclone_{durability:?}");
        let writer = writer(&participant(), &topic, writer_qos().durability(durability));
        write(&writer, BLUE);
        let mut cyclone = Party::start();
        cyclone.tell(&format!("reader r {topic}"));
        writer.wait_for_readers(1).block_for(LIMIT).unwrap();
        cyclone.matched("r", 1);
        write(&writer, [RED]);
        cyclone.expect_sample("r", RED);
    }
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn late_volatile_reader_gets_no_cyclone_history() {
    for durability in ["volatile", "transient-local"] {
        let topic = format!("late_from_cyclone_{durability}");
        let mut cyclone = Party::start();
        cyclone.tell(&format!("writer w {topic} durability={durability}"));
        cyclone.tell("write w 0 3 6");
        let reader = reader(&participant(), &topic, reader_qos());
        reader.wait_for_writers(1).block_for(LIMIT).unwrap();
        cyclone.matched("w", 1);
        cyclone.tell("write w 1");
        expect_sample(&reader, RED);
    }
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn late_cyclone_reader_gets_keep_last_history() {
    let qos = writer_qos().durability(Durability::TransientLocal).keep_last(2);
    let writer = writer(&participant(), "kept_for_cyclone", qos);
    write(&writer, BLUE);
    write(&writer, [RED]);
    let mut cyclone = Party::start();
    cyclone.tell("reader r kept_for_cyclone durability=transient-local");
    let mut got: Vec<u64> = (0..3).map(|_| cyclone.data("r")["x"].as_u64().unwrap()).collect();
    got.sort_unstable();
    assert_eq!(got, [1, 3, 6]);
    write(&writer, [GREEN]);
    cyclone.expect_sample("r", GREEN);
}
