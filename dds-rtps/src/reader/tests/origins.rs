//! Changes that come from their writer and from services that stand in for it: each is delivered once.

use super::*;
use crate::history::ChangeKind;
use crate::wire::SampleIdentity;

/// Stands in for [`WRITER`].
const SERVICE: Guid = Guid::new(GuidPrefix([4; 12]), EntityId([0, 0, 1, 2]));
const SECOND_SERVICE: Guid = Guid::new(GuidPrefix([5; 12]), EntityId([0, 0, 1, 2]));

fn identity(number: i64) -> SampleIdentity {
    SampleIdentity { writer: WRITER, sequence_number: sn(number) }
}

impl Script {
    /// One that asks for what outlives its writers, and has met the writer and two services.
    fn durable(as_log: bool) -> Self {
        let key = if as_log { KeySource::KeyHash } else { KeySource::LeadingBytes };
        let config = ReaderConfig { outlives_writers: true, as_log, ..transient_local(keep_all(config(key))) };
        let mut script = Self::new(config);
        for writer in [WRITER, SERVICE, SECOND_SERVICE] {
            script.meet(writer, true);
            script.reader.handle_heartbeat(script.now(), &source(writer), &heartbeat(1, 0, 1));
        }
        script
    }

    /// Sample `number` of the service, which is sample `original` of [`WRITER`].
    fn relay(&mut self, service: Guid, number: i64, original: i64, key: u8) -> Handled {
        self.relay_with(service, number, original, SerializedPayload::Data(&keyed(key, 0)), 0)
    }

    fn relay_with(
        &mut self,
        service: Guid,
        number: i64,
        original: i64,
        payload: SerializedPayload<'_>,
        status: u8,
    ) -> Handled {
        // ORIGINAL_WRITER_INFO, with an empty list of that writer's QoS, in front of the others.
        let mut qos = vec![0x61, 0, 28, 0];
        qos.extend(WRITER.to_bytes());
        qos.extend([0, 0, 0, 0, original as u8, 0, 0, 0, 1, 0, 0, 0]);
        qos.extend(status_qos(status, Some([7; 16])));
        let change = Data { inline_qos: Some(InlineQos { bytes: &qos, little_endian: true }), ..data(number, payload) };
        self.reader.handle_data(self.now(), &source(service), &change, &())
    }
}

#[test]
fn what_its_writer_and_services_bring_is_delivered_once_whoever_is_first() {
    let mut script = Script::durable(false);
    (1..=3).for_each(|number| assert_eq!(script.relay(SERVICE, number, number, 7), Handled::Accepted));
    (1..=5).for_each(|number| assert_eq!(script.write(WRITER, number, 7, 0), Handled::Accepted));
    (1..=6).for_each(|number| assert_eq!(script.relay(SECOND_SERVICE, number, number, 7), Handled::Accepted));
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
fn numbers_that_a_writer_has_left_out_may_come_from_a_service() {
    let mut script = Script::durable(false);
    script.gap(1, 9, &[]);
    script.write(WRITER, 9, 7, 0);
    (1..=9).for_each(|number| assert_eq!(script.relay(SERVICE, number, number, 7), Handled::Accepted));
    assert_eq!(script.taken(), [9, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn what_there_was_no_room_for_is_not_known() {
    let limits = ResourceLimits { max_samples: Some(1), ..ResourceLimits::default() };
    let config = limited(transient_local(config(KeySource::LeadingBytes)), limits);
    let mut script = Script::new(ReaderConfig { outlives_writers: true, ..config });
    for writer in [WRITER, SERVICE] {
        script.meet(writer, true);
        script.reader.handle_heartbeat(script.now(), &source(writer), &heartbeat(1, 0, 1));
    }
    script.relay(SERVICE, 1, 1, 7);
    script.relay(SERVICE, 2, 2, 7);
    script.write(WRITER, 1, 7, 0);
    let taken: Vec<_> = (0..3).flat_map(|_| script.taken()).collect();
    assert_eq!(taken, [1, 2]);
}

#[test]
fn a_reader_that_asks_for_less_learns_of_services_by_what_they_send() {
    let mut script = Script::new(volatile(keep_all(config(KeySource::LeadingBytes))));
    for writer in [SERVICE, SECOND_SERVICE] {
        script.meet(writer, true);
        script.reader.handle_heartbeat(script.now(), &source(writer), &heartbeat(1, 0, 1));
    }
    (1..=3).for_each(|number| assert_eq!(script.relay(SERVICE, number, number, 7), Handled::Accepted));
    (1..=4).for_each(|number| assert_eq!(script.relay(SECOND_SERVICE, number, number, 7), Handled::Accepted));
    assert_eq!(script.taken(), [1, 2, 3, 4]);
}

/// Whether the service was the quicker one makes no difference.
#[test]
fn an_instance_that_a_service_keeps_has_a_writer_as_long_as_the_service_is_there() {
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
fn a_log_holds_each_change_as_it_came_and_says_who_brought_it() {
    let mut script = Script::durable(true);
    script.write(WRITER, 1, 7, 0);
    script.end(WRITER, 2, 7, 1);
    script.relay(SERVICE, 1, 3, 7);
    script.relay_with(SERVICE, 2, 4, SerializedPayload::Key(&keyed(7, 0)), 3);
    script.end(WRITER, 3, 7, 2);
    let taken = script.take();
    let told: Vec<_> = taken
        .iter()
        .map(|sample| {
            let origin = sample.origin.as_ref().map(|origin| origin.identity.sequence_number.0);
            (sample.kind, Guid::from_bytes(*sample.info.publication_handle.as_bytes().unwrap()), origin)
        })
        .collect();
    let disposed = ChangeKind::NotAliveDisposed;
    assert_eq!(
        told,
        [
            (ChangeKind::Alive, WRITER, None),
            (disposed, WRITER, None),
            (ChangeKind::Alive, SERVICE, Some(3)),
            (ChangeKind::NotAliveDisposedUnregistered, SERVICE, Some(4)),
        ]
    );
    assert!(taken.iter().all(|sample| sample.payload.is_some()));
    assert_eq!(taken[2].info.instance_handle, handle(7));
    // Nothing is remembered of instances that have been handed on.
    script.take();
    assert_eq!(script.reader.history().instance_count(), 0);
}
