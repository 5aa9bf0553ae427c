//! A reader with a filter, and a peer that does not support filters.

use super::*;
use dds_core::filter::FilterExpression;
use dds_core::qos::TopicQos;

/// Cyclone DDS ignores the announced filter, sends everything, and stays matched when the parameters change.
#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn filtered_reader_takes_chosen_cyclone_samples() {
    let participant = participant();
    let topic = participant.topic::<ShapeType>("content_from_cyclone", TopicQos::default()).unwrap();
    let color = |index: u32| ShapeType::sample(index).color;
    let part = participant.filtered_topic(&topic, FilterExpression::new("color = %0").parameter(color(RED))).unwrap();
    let reader = participant.reader_builder(&part).qos(reader_qos()).build().unwrap();
    let mut cyclone = Party::start();
    cyclone.tell("writer w content_from_cyclone");
    reader.wait_for_writers(1).block_for(LIMIT).unwrap();
    cyclone.matched("w", 1);
    // The matching samples come last, so that they end the round.
    cyclone.tell("write w 0 2 3 5 6 1 4");
    let wanted = |color: String| (0..7).filter(move |index| ShapeType::sample(*index).color == color);
    wanted(color(RED)).for_each(|index| expect_sample(&reader, index));
    part.set_parameters([color(0)]).unwrap();
    cyclone.tell("write w 0 1 2 3 4 5 6");
    wanted(color(0)).for_each(|index| expect_sample(&reader, index));
    assert!(reader.take().unwrap().is_empty());
    assert_eq!(reader.losses().total().lost(), 0);
}
