//! Samples read in place: views borrow from the batch, and results outlive the sample but not the batch.

use super::{Log, log};
use crate::support::World;
use dds_core::DdsType;
use dds_core::qos::Preset;

#[derive(DdsType, Debug, PartialEq)]
#[dds(view_of = Log)]
struct LogView<'a> {
    level: u8,
    text: &'a str,
    octets: &'a [u8],
}

/// The only type of its topic.
#[derive(DdsType, Debug, PartialEq)]
struct Frame<'a> {
    pixels: &'a [u8],
}

#[test]
fn views_borrow_from_batch_and_from_writer() {
    let participant = World::new().participant();
    let reader = participant.reader_builder::<Log>("log").qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Log>("log").qos(Preset::Event).build().unwrap();
    writer.write(&log("a")).unwrap();
    writer.write(&log("longest")).unwrap();
    let text = String::from("borrowed");
    writer.write_view(&LogView { level: 3, text: &text, octets: text.as_bytes() }).unwrap();

    let batch = reader.take().unwrap();
    let longest: &str = {
        let views = batch.iter().map(|sample| sample.view::<LogView<'_>>().unwrap().unwrap());
        views.map(|view| view.text).max_by_key(|text| text.len()).unwrap()
    };
    assert_eq!(longest, "borrowed", "it outlives its sample, and lies in the batch");
    assert_eq!(batch.iter().next().unwrap().decode().unwrap().unwrap(), log("a"));
}

#[test]
fn borrowed_type_has_topics_of_its_own() {
    let participant = World::new().participant();
    let reader = participant.reader::<Frame<'static>>("frame").unwrap();
    let writer = participant.writer::<Frame<'static>>("frame").unwrap();
    let pixels = vec![1, 2, 3];
    writer.write_view(&Frame { pixels: &pixels }).unwrap();
    let batch = reader.take().unwrap();
    let frames: Vec<Frame<'_>> = batch.iter().filter_map(|sample| sample.view()?.ok()).collect();
    assert_eq!(frames, [Frame { pixels: &[1, 2, 3] }]);
}
