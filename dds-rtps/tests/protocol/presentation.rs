//! Coherent sets and group order in the bytes of a peer: captures of Zenzen DDS, replayed through a reader.

use dds_rtps::history::{ChangeKind, HistorySample, Operation, Selection, SelectionOrder};
use dds_rtps::qos::{AccessScope, DataReaderQos, Presentation};
use dds_rtps::reader::{
    GroupGate, KeySource, PublisherKey, ReaderConfig, Release, Source, StatefulReader, WriterProxyConfig,
};
use dds_rtps::types::{EntityId, EntityKind, Guid, GuidPrefix, Instant, Now, SequenceNumber, Time};
use dds_rtps::wire::{Data, Message, Receiver, SerializedPayload, Submessage};
use std::collections::BTreeMap;

/// Creates a reader of one writer with this access scope and coherent access.
fn reader(writer: Guid, access_scope: AccessScope, coherent_access: bool) -> StatefulReader {
    let guid = Guid::new(GuidPrefix([9; 12]), EntityId([0, 0, 1, 7]));
    let mut config =
        ReaderConfig::new(guid, KeySource::KeyHash, &DataReaderQos::default().reliable().transient_local().keep_all());
    config.presentation = Presentation::new(access_scope).coherent_access(coherent_access).ordered_access(true);
    let mut reader = StatefulReader::new(config);
    assert!(reader.match_writer(at(0), WriterProxyConfig::new(writer)));
    reader
}

fn at(time_ns: i64) -> Now {
    Now { instant: Instant::from_nanos(time_ns as u64), time: Time::from_unix_nanos(time_ns) }
}

fn take(reader: &mut StatefulReader, now: Now) -> Vec<HistorySample> {
    let mut samples = Vec::new();
    let selection = Selection { order: SelectionOrder::ByArrival, ..Selection::default() };
    reader.select(now, &selection, Operation::Take, &mut samples);
    samples
}

/// Visits the submessages of user writers in a capture, in sending order, without those for other readers.
fn replay(name: &str, mut each: impl FnMut(Now, Source, &Submessage<'_>)) {
    for packet in crate::support::capture(name) {
        let message = Message::parse(&packet.payload).unwrap();
        let mut receiver = Receiver::new(&message.header);
        for submessage in message.submessages() {
            let mut submessage = submessage.unwrap();
            receiver.apply(&submessage);
            let Some((writer_id, _)) = submessage.writer_and_reader().filter(|(id, _)| !id.is_builtin()) else {
                continue;
            };
            match &mut submessage {
                Submessage::Data(data) => data.reader_id = EntityId::UNKNOWN,
                Submessage::Heartbeat(heartbeat) => heartbeat.reader_id = EntityId::UNKNOWN,
                Submessage::Gap(gap) => gap.reader_id = EntityId::UNKNOWN,
                _ => continue,
            }
            let source = Source {
                writer: receiver.source(writer_id),
                timestamp: receiver.source_timestamp,
                vendor: receiver.source_vendor,
                reply: None,
            };
            each(at(packet.time_ns), source, &submessage);
        }
    }
}

fn hand_over(reader: &mut StatefulReader, now: Now, source: &Source, submessage: &Submessage<'_>) {
    match submessage {
        Submessage::Data(data) => _ = reader.handle_data(now, source, data, &()),
        Submessage::Heartbeat(heartbeat) => _ = reader.handle_heartbeat(now, source, heartbeat),
        Submessage::Gap(gap) => _ = reader.handle_gap(now, source, gap),
        _ => {}
    }
}

/// A sequence number without a change. In this capture such DATA end the coherent sets.
fn is_end(data: &Data<'_>) -> bool {
    data.payload == SerializedPayload::None && data.inline_qos.as_ref().is_none_or(|qos| qos.status_info() == 0)
}

#[test]
fn zenzen_coherent_sets_appear_complete() {
    let mut readers: BTreeMap<[u8; 16], StatefulReader> = BTreeMap::new();
    let (mut sets, mut samples, mut ends) = (0, 0, 0);
    replay("zzdds_coherent_topic_scope", |now, source, submessage| {
        let kind = source.writer.entity_id.kind();
        assert_eq!(kind, EntityKind::WriterWithKey);
        let make = || reader(source.writer, AccessScope::Topic, true);
        let reader = readers.entry(source.writer.to_bytes()).or_insert_with(make);
        hand_over(reader, now, &source, submessage);
        let seen = take(reader, now);
        let Submessage::Data(data) = submessage else { return assert!(seen.is_empty()) };
        if !is_end(data) {
            assert!(seen.is_empty(), "sample {} before the end of its set", data.writer_sn.0);
            return;
        }
        let numbers: Vec<i64> = seen.iter().map(|sample| sample.info.sequence_number.0).collect();
        assert_eq!(numbers.last().copied(), Some(data.writer_sn.0 - 1));
        assert!(numbers.windows(2).all(|two| two[1] == two[0] + 1));
        (sets, samples, ends) = (sets + 1, samples + numbers.len(), ends + 1);
    });
    assert_eq!((readers.len(), sets, samples), (3, ends, 12 * ends));
    for reader in readers.values() {
        let total = reader.losses().total();
        assert_eq!((total.lost(), total.undelivered.total()), (0, 0), "{total:?}");
    }
}

#[test]
fn without_coherent_access_samples_show_at_once() {
    let mut readers: BTreeMap<[u8; 16], StatefulReader> = BTreeMap::new();
    let mut samples = 0;
    replay("zzdds_coherent_topic_scope", |now, source, submessage| {
        let make = || reader(source.writer, AccessScope::Topic, false);
        let reader = readers.entry(source.writer.to_bytes()).or_insert_with(make);
        hand_over(reader, now, &source, submessage);
        let Submessage::Data(data) = submessage else { return };
        let seen = take(reader, now).len();
        samples += seen;
        assert!(seen <= 1 && (seen == 1) != is_end(data));
    });
    assert!(samples > 12);
}

#[test]
fn zenzen_group_order_uses_its_own_numbers() {
    let mut readers: BTreeMap<[u8; 16], StatefulReader> = BTreeMap::new();
    let mut gate = GroupGate::new(false, true);
    let (mut numbers, mut without_number, mut seen) = (Vec::new(), Vec::new(), 0);
    replay("zzdds_ordered_group_scope", |now, source, submessage| {
        let id = EntityId([0, 0, 1, 7]);
        let reader = readers.entry(source.writer.to_bytes()).or_insert_with(|| {
            let key = PublisherKey::Remote(source.writer.prefix, EntityId::UNKNOWN);
            // Its HEARTBEATs carry no group information, so the gate does not wait for it.
            gate.add(key, (source.writer, id), (true, false), SequenceNumber::ZERO, None);
            reader(source.writer, AccessScope::Group, false)
        });
        hand_over(reader, now, &source, submessage);
        while let Some((writer, item)) = reader.poll_group_item() {
            gate.push(writer, id, item);
        }
        assert!(take(reader, now).is_empty(), "nothing goes past the gate");
        gate.release(now);
        while let Some(release) = gate.poll_release(id) {
            let Release::Admit { change, .. } = &release else { panic!("nothing is missing") };
            let group = change.change.presented.as_deref().and_then(|presented| presented.group);
            match group {
                Some(group) => numbers.push(group.number.0),
                None => without_number.push((change.change.sequence_number.0, change.change.kind)),
            }
            reader.handle_release(now, release);
        }
        seen += take(reader, now).iter().filter(|sample| sample.info.valid_data).count();
    });
    assert!(numbers.len() > 50, "{}", numbers.len());
    assert!(numbers.windows(2).all(|two| two[1] == two[0] + 1), "{numbers:?}");
    // Unregistrations have no group sequence number.
    assert!(without_number.iter().all(|(_, kind)| *kind == ChangeKind::NotAliveUnregistered), "{without_number:?}");
    assert_eq!(seen, numbers.len());
}
