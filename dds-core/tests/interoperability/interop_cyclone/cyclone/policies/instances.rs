//! Instances that are disposed, unregistered, without writers, and alive again.

use super::*;

fn generations(event: &Value) -> (u64, u64) {
    (event["disposed_generation"].as_u64().unwrap(), event["no_writers_generation"].as_u64().unwrap())
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn instances_end_and_revive_at_cyclone() {
    let mut qos = writer_qos();
    qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
    let participant = participant();
    let writer = writer(&participant, "instances_to_cyclone", qos.clone());
    let mut cyclone = Party::start();
    cyclone.tell("reader r instances_to_cyclone");
    writer.wait_for_readers(1).block_for(LIMIT).unwrap();
    cyclone.matched("r", 1);
    let blue = ShapeType::sample(0).color;
    write(&writer, [0]);
    cyclone.expect_sample("r", 0);
    writer.dispose(&blue).unwrap();
    cyclone.expect_state("r", 0, "disposed");
    write(&writer, [3]);
    let again = cyclone.data("r");
    assert_eq!((again["state"].as_str(), generations(&again)), (Some("alive"), (1, 0)), "{again}");
    writer.unregister_instance(&blue).unwrap();
    cyclone.expect_state("r", 0, "no_writers");
    write(&writer, [6]);
    // Cyclone forgets an instance without writers and samples, so its generation counts may restart.
    cyclone.expect_sample("r", 6);
    // A second writer keeps the instance from having no writers.
    let second = super::writer(&participant, "instances_to_cyclone", qos);
    second.wait_for_readers(1).block_for(LIMIT).unwrap();
    cyclone.matched("r", 2);
    write(&second, [9]);
    cyclone.expect_sample("r", 9);
    writer.unregister_instance(&blue).unwrap();
    write(&second, [RED]);
    cyclone.expect_sample("r", RED);
    second.unregister_instance(&blue).unwrap();
    cyclone.expect_state("r", 0, "no_writers");
}

/// Deleting a writer never disposes, even if its QoS disposes on unregister.
#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn deleted_writer_leaves_no_writers_at_cyclone() {
    for autodispose in [false, true] {
        let topic = format!("abandoned_to_cyclone_{autodispose}");
        let mut qos = writer_qos();
        qos.writer_data_lifecycle.autodispose_unregistered_instances = autodispose;
        let writer = writer(&participant(), &topic, qos);
        let mut cyclone = Party::start();
        cyclone.tell(&format!("reader r {topic}"));
        writer.wait_for_readers(1).block_for(LIMIT).unwrap();
        cyclone.matched("r", 1);
        write(&writer, [0]);
        cyclone.expect_sample("r", 0);
        drop(writer);
        cyclone.expect_state("r", 0, "no_writers");
    }
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn unregister_with_dispose_disposes_at_cyclone() {
    let writer = writer(&participant(), "autodispose_to_cyclone", writer_qos());
    let mut cyclone = Party::start();
    cyclone.tell("reader r autodispose_to_cyclone");
    writer.wait_for_readers(1).block_for(LIMIT).unwrap();
    cyclone.matched("r", 1);
    write(&writer, [0]);
    cyclone.expect_sample("r", 0);
    writer.unregister_instance(&ShapeType::sample(0).color).unwrap();
    cyclone.expect_state("r", 0, "disposed");
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_instances_end_and_revive_here() {
    let reader = reader(&participant(), "instances_from_cyclone", reader_qos());
    let mut cyclone = Party::start();
    cyclone.tell("writer w instances_from_cyclone autodispose=no");
    reader.wait_for_writers(1).block_for(LIMIT).unwrap();
    cyclone.matched("w", 1);
    cyclone.tell("write w 0");
    expect_sample(&reader, 0);
    cyclone.tell("dispose w 0");
    expect_state(&reader, 0, InstanceState::NotAliveDisposed);
    cyclone.tell("write w 3");
    let again = next(&reader).info;
    assert_eq!((again.disposed_generation_count, again.no_writers_generation_count), (1, 0));
    cyclone.tell("unregister w 3");
    expect_state(&reader, 0, InstanceState::NotAliveNoWriters);
    cyclone.tell("write w 6");
    // An instance without writers and samples may be forgotten, so its generation counts may restart.
    expect_sample(&reader, 6);
    cyclone.tell("writer second instances_from_cyclone autodispose=no");
    reader.wait_for_writers(2).block_for(LIMIT).unwrap();
    cyclone.matched("second", 1);
    cyclone.tell("write second 9");
    expect_sample(&reader, 9);
    cyclone.tell("unregister w 0");
    cyclone.tell("write second 1");
    expect_sample(&reader, RED);
    cyclone.tell("unregister second 0");
    expect_state(&reader, 0, InstanceState::NotAliveNoWriters);
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn deleted_cyclone_writer_leaves_no_writers() {
    for autodispose in ["no", "yes"] {
        let topic = format!("abandoned_from_cyclone_{autodispose}");
        let reader = reader(&participant(), &topic, reader_qos());
        let mut cyclone = Party::start();
        cyclone.tell(&format!("writer w {topic} autodispose={autodispose}"));
        reader.wait_for_writers(1).block_for(LIMIT).unwrap();
        cyclone.matched("w", 1);
        cyclone.tell("write w 0");
        expect_sample(&reader, 0);
        cyclone.tell("close w");
        expect_state(&reader, 0, InstanceState::NotAliveNoWriters);
    }
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_unregister_with_dispose_disposes_here() {
    let reader = reader(&participant(), "autodispose_from_cyclone", reader_qos());
    let mut cyclone = Party::start();
    cyclone.tell("writer w autodispose_from_cyclone");
    reader.wait_for_writers(1).block_for(LIMIT).unwrap();
    cyclone.matched("w", 1);
    cyclone.tell("write w 0");
    expect_sample(&reader, 0);
    cyclone.tell("unregister w 0");
    expect_state(&reader, 0, InstanceState::NotAliveDisposed);
}
