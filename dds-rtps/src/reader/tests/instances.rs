//! Instances: their keys on the wire, how they end, how they come back.

use super::*;
use crate::cdr::{self, Encoding, TypeInfo};
use dds_macros::DdsType;

/// The type of the shapes demo of all vendors. Its key hash is an MD5.
#[derive(DdsType)]
#[dds(crate = "crate", appendable)]
struct Shape {
    #[dds(key, bound = 128)]
    color: String,
    x: i32,
}

fn shape(color: &str, x: i32) -> Shape {
    Shape { color: color.into(), x }
}

/// Data, keys and bare key hashes (Fast DDS) name the same instance in both encodings.
#[test]
fn data_key_and_hash_find_the_same_instance() {
    for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
        let mut script = Script::new(keep_all(config(KeySource::Type(Shape::DESCRIPTION.into()))));
        script.match_remote(WRITER, false);
        let now = script.now();
        let blue = cdr::key_hash_of(&shape("BLUE", 0), encoding, &mut Vec::new()).unwrap();
        let (mut payload, mut key) = (Vec::new(), Vec::new());
        cdr::encode_payload(&shape("BLUE", 7), encoding, &mut payload).unwrap();
        cdr::encode_key_payload::<Shape>(&"BLUE".into(), encoding, &mut key).unwrap();
        let disposed = status_qos(1, None);
        let hashed = status_qos(1, Some(*blue.as_bytes().unwrap()));
        let inline_qos = |bytes| Some(InlineQos { bytes, little_endian: true });
        let alive = |number| data(number, SerializedPayload::Data(&payload));
        let by_key = Data { inline_qos: inline_qos(&disposed[..]), ..data(2, SerializedPayload::Key(&key)) };
        let by_hash = Data { inline_qos: inline_qos(&hashed[..]), ..data(4, SerializedPayload::None) };
        for change in [alive(1), by_key, alive(3), by_hash] {
            assert_eq!(script.reader.handle_data(now, &source(WRITER), &change, &()), Handled::Accepted);
            let state = match change.payload {
                SerializedPayload::Data(_) => InstanceState::Alive,
                _ => InstanceState::NotAliveDisposed,
            };
            assert_eq!(script.reader.history().lookup_instance(blue), Some(state));
        }
        assert_eq!(script.reader.history().instance_count(), 1);
        let kept = script.reader.history().instance_key_payload(blue).unwrap();
        let color: String = cdr::decode_key_payload::<Shape>(kept.payload.bytes()).unwrap();
        assert!(kept.is_key);
        assert_eq!(color, "BLUE");
    }
}

fn keyed_script() -> Script {
    let mut script = Script::new(keep_all(config(KeySource::LeadingBytes)));
    script.match_remote(WRITER, false);
    script.match_remote(OTHER, false);
    script
}

/// Valid data, instance and instance state of each taken sample.
fn states(samples: &[HistorySample]) -> Vec<(bool, InstanceHandle, InstanceState)> {
    let state =
        |sample: &HistorySample| (sample.info.valid_data, sample.info.instance_handle, sample.info.instance_state);
    samples.iter().map(state).collect()
}

#[test]
fn dispose_is_a_sample_with_key_and_without_data() {
    let mut script = keyed_script();
    script.write(WRITER, 1, 5, 0);
    script.take();
    script.end(WRITER, 2, 5, 1);
    let samples = script.take();
    assert_eq!(states(&samples), [(false, handle(5), InstanceState::NotAliveDisposed)]);
    assert!(samples[0].payload_is_key);
    assert_eq!(samples[0].payload.as_ref().unwrap().bytes().get(4..20), Some(&[5; 16][..]));
}

#[test]
fn unregister_by_last_writer_leaves_no_writers() {
    let mut script = keyed_script();
    script.write(WRITER, 1, 5, 0);
    script.write(OTHER, 1, 5, 0);
    script.take();
    script.end(WRITER, 2, 5, 2);
    assert!(script.take().is_empty());
    script.end(OTHER, 2, 5, 2);
    let samples = script.take();
    assert_eq!(states(&samples), [(false, handle(5), InstanceState::NotAliveNoWriters)]);
    assert!(script.reader.history().instance_key_payload(handle(5)).is_some(), "the reader still knows its key");
    assert!(script.take().is_empty());
    assert_eq!(script.reader.history().instance_count(), 0);
}

#[test]
fn dispose_with_unregister_counts_as_dispose() {
    let mut script = keyed_script();
    script.write(WRITER, 1, 5, 0);
    script.end(WRITER, 2, 5, 3);
    let samples = script.take();
    assert_eq!(states(&samples), [(true, handle(5), InstanceState::NotAliveDisposed)]);
    assert!(script.take().is_empty());
    assert_eq!(script.reader.history().instance_count(), 0);
}

#[test]
fn unmatched_writer_leaves_no_writers_not_disposed() {
    let mut script = keyed_script();
    script.write(WRITER, 1, 1, 0);
    script.write(WRITER, 2, 2, 0);
    script.write(OTHER, 1, 2, 0);
    script.take();
    script.events();
    let now = script.now();
    script.reader.unmatch_writer(now, WRITER);
    assert_eq!(script.events(), [StatefulReaderEvent::LivelinessChanged, StatefulReaderEvent::DataAvailable]);
    assert_eq!(states(&script.take()), [(false, handle(1), InstanceState::NotAliveNoWriters)]);
    assert_eq!(script.reader.history().lookup_instance(handle(2)), Some(InstanceState::Alive));
}

#[test]
fn key_hash_alone_ends_known_instances_only() {
    let mut script = keyed_script();
    script.write(WRITER, 1, 5, 0);
    script.take();
    for (number, key) in [(2, 6), (3, 5)] {
        let qos = status_qos(1, Some([key; 16]));
        let inline_qos = Some(InlineQos { bytes: &qos, little_endian: true });
        let change = Data { inline_qos, ..data(number, SerializedPayload::None) };
        let now = script.now();
        assert_eq!(script.reader.handle_data(now, &source(WRITER), &change, &()), Handled::Accepted);
    }
    let samples = script.take();
    assert_eq!(states(&samples), [(false, handle(5), InstanceState::NotAliveDisposed)]);
    // The key is known from the sample.
    assert_eq!(samples[0].payload.as_ref().unwrap().bytes(), keyed(5, 0));
    assert!(!samples[0].payload_is_key);
    assert_eq!(script.reader.history().counters().unknown_instance, 1);
}

#[test]
fn payload_wins_over_key_hash() {
    let mut script = keyed_script();
    let qos = status_qos(0, Some([9; 16]));
    let bytes = keyed(5, 0);
    let inline_qos = Some(InlineQos { bytes: &qos, little_endian: true });
    let change = Data { inline_qos, ..data(1, SerializedPayload::Data(&bytes)) };
    let now = script.now();
    script.reader.handle_data(now, &source(WRITER), &change, &());
    assert_eq!(states(&script.take()), [(true, handle(5), InstanceState::Alive)]);
}

#[test]
fn key_hash_does_not_replace_undecodable_payload() {
    let mut script = keyed_script();
    let qos = status_qos(0, Some([9; 16]));
    let inline_qos = Some(InlineQos { bytes: &qos, little_endian: true });
    let change = Data { inline_qos, ..data(1, SerializedPayload::Data(&[0, 1, 0, 0, 1])) };
    let now = script.now();
    assert_eq!(script.reader.handle_data(now, &source(WRITER), &change, &()), Handled::NotDecodable);
    assert_eq!(script.reader.counters().not_decodable, 1);
}

#[test]
fn sample_and_dispose_in_one_data_are_both_seen() {
    let mut script = keyed_script();
    let qos = status_qos(1, None);
    let bytes = keyed(5, 3);
    let inline_qos = Some(InlineQos { bytes: &qos, little_endian: true });
    let change = Data { inline_qos, ..data(1, SerializedPayload::Data(&bytes)) };
    let now = script.now();
    script.reader.handle_data(now, &source(WRITER), &change, &());
    assert_eq!(states(&script.take()), [(true, handle(5), InstanceState::NotAliveDisposed)]);
}

#[test]
fn unknown_instance_dispose_is_seen_unregister_is_not() {
    let mut script = keyed_script();
    script.end(WRITER, 1, 5, 2);
    assert!(script.take().is_empty());
    script.end(WRITER, 2, 5, 1);
    assert_eq!(states(&script.take()), [(false, handle(5), InstanceState::NotAliveDisposed)]);
}

#[test]
fn key_without_status_is_no_sample() {
    let mut script = keyed_script();
    script.end(WRITER, 1, 5, 0);
    assert!(script.take().is_empty());
    assert_eq!(script.reader.history().instance_count(), 0);
}

#[test]
fn builtin_key_prefers_endpoint_guid_then_participant() {
    let mut script = Script::new(keep_all(config(KeySource::KeyHashOrGuidParameter)));
    script.match_remote(WRITER, false);
    let parameter = |id: u8, value: u8| [vec![id, 0, 16, 0], vec![value; 16]].concat();
    let list = |parameters: &[Vec<u8>]| [vec![0, 3, 0, 0], parameters.concat(), vec![1, 0, 0, 0]].concat();
    let lists =
        [list(&[parameter(0x50, 1), parameter(0x5a, 2)]), list(&[parameter(0x50, 1)]), list(&[parameter(0x70, 9)])];
    let qos = status_qos(0, Some([3; 16]));
    for (number, bytes) in (1..).zip(&lists) {
        let inline_qos = Some(InlineQos { bytes: &qos, little_endian: true });
        let change = Data { inline_qos, ..data(number, SerializedPayload::Data(bytes)) };
        let now = script.now();
        script.reader.handle_data(now, &source(WRITER), &change, &());
    }
    let found: Vec<_> = script.take().iter().map(|sample| sample.info.instance_handle).collect();
    assert_eq!(found, [handle(2), handle(1), handle(3)]);
}

#[test]
fn instance_rebirth_counts_generations() {
    let mut script = keyed_script();
    script.write(WRITER, 1, 5, 0);
    script.end(WRITER, 2, 5, 1);
    script.write(WRITER, 3, 5, 0);
    script.end(WRITER, 4, 5, 2);
    script.write(OTHER, 1, 5, 0);
    let samples = script.take();
    let generations: Vec<_> = samples
        .iter()
        .map(|sample| (sample.info.disposed_generation_count, sample.info.no_writers_generation_count))
        .collect();
    assert_eq!(generations, [(0, 0), (1, 0), (1, 1)]);
    let ranks: Vec<_> = samples
        .iter()
        .map(|sample| (sample.info.sample_rank, sample.info.generation_rank, sample.info.absolute_generation_rank))
        .collect();
    assert_eq!(ranks, [(2, 2, 2), (1, 1, 1), (0, 0, 0)]);
    assert!(samples.iter().all(|sample| sample.info.view_state == ViewState::New));
}

#[test]
fn read_next_instance_walks_by_handle() {
    let mut script = keyed_script();
    for (number, key) in [(1, 3), (2, 1), (3, 2), (4, 1)] {
        script.write(WRITER, number, key, 0);
    }
    let mut walked = Vec::new();
    let mut previous = InstanceHandle::NIL;
    loop {
        let mut samples = Vec::new();
        let instance = InstanceSelection::Next(previous);
        let selection = Selection { instance, states: States::NOT_READ, ..Selection::default() };
        let now = script.now();
        if script.reader.select(now, &selection, Operation::Read, &mut samples) == 0 {
            break;
        }
        previous = samples[0].info.instance_handle;
        walked.push((previous, samples.len()));
    }
    assert_eq!(walked, [(handle(1), 2), (handle(2), 1), (handle(3), 1)]);
}
