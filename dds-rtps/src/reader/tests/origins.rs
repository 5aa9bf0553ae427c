//! Changes that arrive from their writer and from durability services: each is delivered once.

use super::*;
use crate::history::ChangeKind;
use crate::wire::SampleIdentity;

/// A durability service that replays samples of [`WRITER`].
const SERVICE: Guid = Guid::new(GuidPrefix([4; 12]), EntityId([0, 0, 1, 2]));
const SECOND_SERVICE: Guid = Guid::new(GuidPrefix([5; 12]), EntityId([0, 0, 1, 2]));

fn identity(number: i64) -> SampleIdentity {
    SampleIdentity { writer: WRITER, sequence_number: sn(number) }
}

impl Script {
    /// A TRANSIENT reader that matched the writer and two services.
    fn durable(as_log: bool) -> Self {
        let key = if as_log { KeySource::KeyHash } else { KeySource::LeadingBytes };
        let config = ReaderConfig { outlives_writers: true, as_log, ..transient_local(keep_all(config(key))) };
        let mut script = Self::new(config);
        for writer in [WRITER, SERVICE, SECOND_SERVICE] {
            script.match_remote(writer, true);
            script.reader.handle_heartbeat(script.now(), &source(writer), &heartbeat(1, 0, 1));
        }
        script
    }

    /// Sample `number` of the service, which is sample `original` of [`WRITER`].
    fn relay(&mut self, service: Guid, number: i64, original: i64, key: u8) -> Handled {
        self.relay_with(service, number, original, SerializedPayload::Data(&keyed(key, 0)), 0)
    }

    /// As above, written at second `original`.
    fn relay_timed(&mut self, number: i64, original: i64) {
        let payload = keyed(7, original as u8);
        self.relay_from(timed(SERVICE, original), number, original, SerializedPayload::Data(&payload), 0);
    }

    /// Sample or dispose `number` of the writer itself, written at that second.
    fn write_timed(&mut self, number: i64, disposes: bool) {
        let (payload, qos) = (keyed(7, number as u8), status_qos(1, None));
        let inline_qos = Some(InlineQos { bytes: &qos, little_endian: true }).filter(|_| disposes);
        let payload = if disposes { SerializedPayload::Key(&payload) } else { SerializedPayload::Data(&payload) };
        let change = Data { inline_qos, ..data(number, payload) };
        self.reader.handle_data(self.now(), &timed(WRITER, number), &change, &());
    }

    fn relay_with(
        &mut self,
        service: Guid,
        number: i64,
        original: i64,
        payload: SerializedPayload<'_>,
        status: u8,
    ) -> Handled {
        self.relay_from(source(service), number, original, payload, status)
    }

    fn relay_from(
        &mut self,
        source: Source,
        number: i64,
        original: i64,
        payload: SerializedPayload<'_>,
        status: u8,
    ) -> Handled {
        // ORIGINAL_WRITER_INFO with an empty QoS list, before the other parameters.
        let mut qos = vec![0x61, 0, 28, 0];
        qos.extend(WRITER.to_bytes());
        qos.extend([0, 0, 0, 0, original as u8, 0, 0, 0, 1, 0, 0, 0]);
        qos.extend(status_qos(status, Some([7; 16])));
        let change = Data { inline_qos: Some(InlineQos { bytes: &qos, little_endian: true }), ..data(number, payload) };
        self.reader.handle_data(self.now(), &source, &change, &())
    }
}

/// Source of a change written at that second.
fn timed(writer: Guid, second: i64) -> Source {
    Source { timestamp: Some(Time::from_unix_nanos(500_000_000_000 + second * 1_000_000_000)), ..source(writer) }
}

/// A late sample of a service is older than those of the writer, although it arrives later.
#[test]
fn late_service_sample_does_not_replace_newer_one() {
    let numbers = |script: &mut Script| -> Vec<i64> {
        let data = script.take().into_iter().filter(|sample| sample.info.valid_data);
        data.map(|sample| sample.info.sequence_number.0).collect()
    };
    let mut script = Script::durable(false);
    script.gap(1, 8, &[]);
    script.write_timed(8, false);
    for number in 1..=3 {
        script.relay_timed(number, number + 4);
    }
    assert_eq!(numbers(&mut script), [5, 6, 7, 8]);
    // A KEEP_ALL reader wants the older samples too.
    script.relay_timed(4, 4);
    assert_eq!(numbers(&mut script), [4]);
    let last_one = ReaderConfig {
        outlives_writers: true,
        limits: HistoryLimits::new(History::KeepLast { depth: 1 }, ResourceLimits::default()),
        ..transient_local(config(KeySource::LeadingBytes))
    };
    for takes in [false, true] {
        let mut script = Script::new(last_one.clone());
        for writer in [WRITER, SERVICE] {
            script.match_remote(writer, true);
            script.reader.handle_heartbeat(script.now(), &source(writer), &heartbeat(1, 0, 1));
        }
        script.gap(1, 8, &[]);
        script.write_timed(8, false);
        let seen = if takes { numbers(&mut script) } else { Vec::new() };
        for number in 1..=3 {
            script.relay_timed(number, number + 4);
        }
        assert_eq!([seen, numbers(&mut script)].concat(), [8], "takes: {takes}");
    }
}

/// A late sample does not revive an instance that was disposed since.
#[test]
fn late_service_sample_does_not_revive_instance() {
    let mut script = Script::durable(false);
    script.gap(1, 8, &[]);
    script.write_timed(8, true);
    for number in 1..=3 {
        script.relay_timed(number, number + 4);
    }
    assert_eq!(script.reader.history().lookup_instance(handle(7)), Some(InstanceState::NotAliveDisposed));
    let taken = script.take();
    assert_eq!(taken.iter().filter(|sample| sample.info.valid_data).count(), 3);
    script.write_timed(9, false);
    assert_eq!(script.reader.history().lookup_instance(handle(7)), Some(InstanceState::Alive));
}

#[test]
fn sample_of_writer_and_service_is_delivered_once() {
    let mut script = Script::durable(false);
    for number in 1..=3 {
        assert_eq!(script.relay(SERVICE, number, number, 7), Handled::Accepted);
    }
    for number in 1..=5 {
        assert_eq!(script.write(WRITER, number, 7, 0), Handled::Accepted);
    }
    for number in 1..=6 {
        assert_eq!(script.relay(SECOND_SERVICE, number, number, 7), Handled::Accepted);
    }
    let taken = script.take();
    let shown: Vec<_> = taken.iter().map(|sample| sample.info.sample_identity()).collect();
    assert_eq!(shown, (1..=6).map(identity).collect::<Vec<_>>());
    assert_eq!(script.reader.history().counters().known, 8);
    let losses = script.reader.losses();
    let known: Vec<_> =
        losses.writers.iter().map(|row| (row.received, row.undelivered.known, row.delivered())).collect();
    assert_eq!(known, [(5, 3, 2), (3, 0, 3), (6, 5, 1)]);
}

#[test]
fn service_may_supply_irrelevant_numbers() {
    let mut script = Script::durable(false);
    script.gap(1, 9, &[]);
    script.write(WRITER, 9, 7, 0);
    for number in 1..=9 {
        assert_eq!(script.relay(SERVICE, number, number, 7), Handled::Accepted);
    }
    // In the order of arrival: they were written at the same time.
    assert_eq!(script.taken(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn rejected_sample_of_service_is_not_remembered() {
    let limits = ResourceLimits { max_samples: Some(1), ..ResourceLimits::default() };
    let config = limited(transient_local(config(KeySource::LeadingBytes)), limits);
    let mut script = Script::new(ReaderConfig { outlives_writers: true, ..config });
    for writer in [WRITER, SERVICE] {
        script.match_remote(writer, true);
        script.reader.handle_heartbeat(script.now(), &source(writer), &heartbeat(1, 0, 1));
    }
    script.relay(SERVICE, 1, 1, 7);
    script.relay(SERVICE, 2, 2, 7);
    script.write(WRITER, 1, 7, 0);
    let taken: Vec<_> = (0..3).flat_map(|_| script.taken()).collect();
    assert_eq!(taken, [1, 2]);
}

#[test]
fn volatile_reader_learns_of_services_from_samples() {
    let mut script = Script::new(volatile(keep_all(config(KeySource::LeadingBytes))));
    for writer in [SERVICE, SECOND_SERVICE] {
        script.match_remote(writer, true);
        script.reader.handle_heartbeat(script.now(), &source(writer), &heartbeat(1, 0, 1));
    }
    for number in 1..=3 {
        assert_eq!(script.relay(SERVICE, number, number, 7), Handled::Accepted);
    }
    for number in 1..=4 {
        assert_eq!(script.relay(SECOND_SERVICE, number, number, 7), Handled::Accepted);
    }
    assert_eq!(script.taken(), [1, 2, 3, 4]);
}

/// The order of service and writer makes no difference.
#[test]
fn service_counts_as_writer_of_its_instances() {
    for service_first in [false, true] {
        let mut script = Script::durable(false);
        for from_service in [service_first, !service_first] {
            match from_service {
                true => script.relay(SERVICE, 1, 1, 7),
                false => script.write(WRITER, 1, 7, 0),
            };
        }
        script.reader.unmatch_writer(script.now(), WRITER);
        let state = |script: &Script| script.reader.history().lookup_instance(handle(7));
        assert_eq!(state(&script), Some(InstanceState::Alive));
        script.reader.unmatch_writer(script.now(), SERVICE);
        assert_eq!(state(&script), Some(InstanceState::NotAliveNoWriters));
    }
}

#[test]
fn log_keeps_each_change_with_its_writer() {
    let mut script = Script::durable(true);
    script.write(WRITER, 1, 7, 0);
    script.end(WRITER, 2, 7, 1);
    script.relay(SERVICE, 1, 3, 7);
    script.relay_with(SERVICE, 2, 4, SerializedPayload::Key(&keyed(7, 0)), 3);
    script.end(WRITER, 3, 7, 2);
    let taken = script.take();
    let answered: Vec<_> = taken
        .iter()
        .map(|sample| {
            let origin = sample.origin.as_ref().map(|origin| origin.identity.sequence_number.0);
            (sample.kind, Guid::from_bytes(*sample.info.publication_handle.as_bytes().unwrap()), origin)
        })
        .collect();
    let disposed = ChangeKind::NotAliveDisposed;
    assert_eq!(
        answered,
        [
            (ChangeKind::Alive, WRITER, None),
            (disposed, WRITER, None),
            (ChangeKind::Alive, SERVICE, Some(3)),
            (ChangeKind::NotAliveDisposedUnregistered, SERVICE, Some(4)),
        ]
    );
    assert!(taken.iter().all(|sample| sample.payload.is_some()));
    assert_eq!(taken[2].info.instance_handle, handle(7));
    // The reader remembers nothing of instances that were passed on.
    script.take();
    assert_eq!(script.reader.history().instance_count(), 0);
}
