//! Content filters, short and long: new parameters, and an invalid expression.

use super::{Pose, pose};
use crate::support::{PATIENCE, World};
use dds_core::error::CreateErrorKind;
use dds_core::error::ExpressionErrorKind as Problem;
use dds_core::filter::FilterExpression;
use dds_core::qos::{Preset, TopicQos};

#[test]
fn filters_by_expression_and_by_topic() {
    let participant = World::new().participant();
    let topic = participant.topic::<Pose>("pose", TopicQos::default()).unwrap();
    let writer = participant.writer_builder(&topic).qos(Preset::Event).build().unwrap();
    let near = participant.reader_builder(&topic).qos(Preset::Event).filter("x < 10").build().unwrap();
    let mine = participant
        .filtered_topic(&topic, FilterExpression::new("robot = %0 AND x >= %1").parameter(1).parameter(2.5))
        .unwrap();
    let reader = participant.reader_builder(&mine).qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    assert_eq!((mine.name(), mine.expression().as_str()), ("pose_filtered", "robot = %0 AND x >= %1"));
    assert_eq!((mine.parameters(), mine.related_topic().name()), (vec!["1".to_owned(), "2.5".to_owned()], "pose"));

    let write = |robot, x| writer.write(&pose(robot, x)).unwrap();
    for (robot, x) in [(1, 1.0), (1, 3.0), (2, 3.0), (1, 30.0)] {
        write(robot, x);
    }
    assert_eq!(near.take().unwrap().into_data().count(), 3);
    assert_eq!(reader.take().unwrap().into_data().collect::<Vec<_>>(), [pose(1, 3.0), pose(1, 30.0)]);

    mine.set_parameters([2.0, 0.0]).unwrap();
    for (robot, x) in [(1, 3.0), (2, 3.0)] {
        write(robot, x);
    }
    assert_eq!(reader.take().unwrap().into_data().collect::<Vec<_>>(), [pose(2, 3.0)]);
    assert_eq!(reader.losses().total().undelivered.filtered, 3);

    // An invalid parameter changes nothing.
    let error = mine.set_parameters(["two", "0"]).unwrap_err();
    assert!(matches!(error.kind(), CreateErrorKind::Filter(error) if error.position() == 8), "{error}");
    mine.set_expression("robot = 3").unwrap();
    for (robot, x) in [(2, 3.0), (3, 3.0)] {
        write(robot, x);
    }
    assert_eq!(reader.take().unwrap().into_data().collect::<Vec<_>>(), [pose(3, 3.0)]);
}

#[test]
fn invalid_filter_error_suggests_field() {
    let participant = World::new().participant();
    let topic = participant.topic::<Pose>("pose", TopicQos::default()).unwrap();
    let error = participant.filtered_topic(&topic, "robto = 1").unwrap_err();
    let CreateErrorKind::Filter(problem) = error.kind() else { panic!("{error:?}") };
    let unknown =
        Problem::UnknownField { field: "robto".to_owned(), of: "Pose".to_owned(), similar: Some("robot".to_owned()) };
    assert_eq!(*problem.kind(), unknown);
    assert_eq!(
        error.to_string(),
        "filter of topic \"pose\": filter, at byte 0: `Pose` has no field `robto`; did you mean `robot`?; \
         name a field of the topic's type, nested fields with dots (`pose.x`)"
    );

    let filtered = participant.filtered_topic_named("here", &topic, "x = 0").unwrap();
    assert_eq!(filtered.name(), "here");
    let error = participant.writer(&filtered).unwrap_err();
    assert_eq!(*error.kind(), CreateErrorKind::FilteredTopic);
    let error = participant.reader_builder(&filtered).filter("x = 1").build().unwrap_err();
    assert_eq!(*error.kind(), CreateErrorKind::FilteredTwice);
    let error = participant.filtered_topic_named("", &topic, "x = 0").unwrap_err();
    assert_eq!(*error.kind(), CreateErrorKind::InvalidTopicName);
    let error = participant.multi_topic("all", "All", "SELECT * FROM pose").unwrap_err();
    assert_eq!(*error.kind(), CreateErrorKind::MultiTopic);
    let said = error.to_string();
    assert!(said.contains("MultiTopic") && said.contains("by key"), "{said}");

    // No participant here knows the members of raw samples.
    let raw = participant.raw_topic("other", "Other", TopicQos::default()).unwrap();
    let error = participant.filtered_topic(&raw, "x = 0").unwrap_err();
    assert!(
        matches!(error.kind(), CreateErrorKind::Filter(error) if *error.kind() == Problem::NoDescription),
        "{error}"
    );
    let reader = participant.reader(&raw).unwrap();
    assert!(reader.query_condition(dds_core::reader::States::ANY, "x = 0").is_err());
}
