//! Both sides count missed deadlines.

use super::*;

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_counts_missed_deadlines_too() {
    let writer = writer(&participant(), "deadline_to_cyclone", writer_qos().deadline(ms(300)));
    let mut cyclone = Party::start();
    cyclone.tell("reader r deadline_to_cyclone deadline=400");
    writer.wait_for_readers(1).block_for(LIMIT).unwrap();
    cyclone.matched("r", 1);
    write(&writer, [RED, GREEN]);
    cyclone.expect_sample("r", RED);
    // There are two instances, so each missed period counts twice.
    cyclone.event("r", "deadline", |event| event["total"].as_u64() >= Some(4));
    assert!(writer.offered_deadline_missed().total_count >= 4);
    // An ended instance misses no deadline.
    writer.dispose(&ShapeType::sample(RED).color).unwrap();
    writer.dispose(&ShapeType::sample(GREEN).color).unwrap();
    let at_the_end = writer.offered_deadline_missed().total_count;
    sleep(900);
    assert_eq!(writer.offered_deadline_missed().total_count, at_the_end);
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn missed_deadlines_of_cyclone_are_counted() {
    let reader = reader(&participant(), "deadline_from_cyclone", reader_qos().deadline(ms(400)));
    let events = reader.events();
    let mut cyclone = Party::start();
    cyclone.tell("writer w deadline_from_cyclone deadline=300");
    reader.wait_for_writers(1).block_for(LIMIT).unwrap();
    cyclone.matched("w", 1);
    cyclone.tell("write w 1 2");
    let instances = [next(&reader), next(&reader)].map(|sample| sample.info.instance_handle);
    loop {
        let ReaderEvent::DeadlineMissed(status) = events.next_event().block_for(LIMIT).unwrap() else { continue };
        if status.total_count >= 4 {
            assert!(instances.contains(&status.last_instance_handle), "{status:?}");
            break;
        }
    }
    cyclone.event("w", "deadline", |event| event["total"].as_u64() >= Some(4));
    cyclone.tell("dispose w 1");
    cyclone.tell("dispose w 2");
    expect_state(&reader, RED, InstanceState::NotAliveDisposed);
    expect_state(&reader, GREEN, InstanceState::NotAliveDisposed);
    let at_the_end = reader.requested_deadline_missed().total_count;
    sleep(900);
    assert_eq!(reader.requested_deadline_missed().total_count, at_the_end);
}
