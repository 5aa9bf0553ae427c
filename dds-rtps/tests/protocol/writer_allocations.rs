//! A warm writer allocates nothing per sample.

use allocation_counter::measure;
use dds_rtps::concurrent::{LocalLink, Payload, SlotPool};
use dds_rtps::output::Datagram;
use dds_rtps::qos::DataWriterQos;
use dds_rtps::types::{EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, SequenceNumber, Time};
use dds_rtps::wire::{AckNack, SequenceNumberSet};
use dds_rtps::writer::{NewChange, ReaderProxyConfig, StatefulWriter, WriterConfig};
use std::sync::Arc;

const WARM_UP: u64 = 2_000;
const SAMPLES: u64 = 10_000;

/// A writer with a way to write, send and be acknowledged.
struct Bench {
    writer: StatefulWriter,
    pool: SlotPool,
    datagram: Datagram,
    link: Option<Arc<LocalLink>>,
    payload_len: usize,
    instances: u64,
    /// After each such number of samples the remote reader acknowledges and requests the last one again.
    acknack_every: u64,
    ticks: u64,
}

fn reader_guid() -> Guid {
    Guid::new(GuidPrefix([2; 12]), EntityId([0, 0, 1, 7]))
}

fn remote(reliable: bool) -> ReaderProxyConfig {
    let locator = Locator::udp_v4([127, 0, 0, 1].into(), 7411);
    ReaderProxyConfig { reliable, same_host: true, ..ReaderProxyConfig::new(reader_guid(), vec![locator]) }
}

impl Bench {
    fn new(qos: &DataWriterQos) -> Self {
        let guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 1, 2]));
        Self {
            writer: StatefulWriter::new(WriterConfig::new(guid, true, qos)),
            pool: SlotPool::new(64),
            datagram: Datagram::new(),
            link: None,
            payload_len: 64,
            instances: 1,
            acknack_every: u64::MAX,
            ticks: 0,
        }
    }

    fn now(&self) -> Now {
        let nanos = 1_000_000_000 + self.ticks * 20_000;
        Now { instant: Instant::from_nanos(nanos), time: Time::from_unix_nanos(nanos as i64) }
    }

    fn with_remote(mut self, reliable: bool) -> Self {
        self.writer.match_reader(self.now(), remote(reliable));
        self
    }

    fn with_local(mut self) -> Self {
        let link = Arc::new(LocalLink::new());
        let guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 2, 7]));
        self.writer.match_local(self.now(), Arc::clone(&link), guid, true, false);
        self.link = Some(link);
        self
    }

    fn payload(&self) -> Payload {
        let mut slot = self.pool.acquire();
        // The buffer is not cleared, because any old content of a slot serves.
        slot.buffer().resize(self.payload_len, 7);
        self.pool.freeze(slot)
    }

    fn step(&mut self) {
        self.ticks += 1;
        let now = self.now();
        let key = (self.ticks % self.instances) as u8;
        let change = NewChange::alive(InstanceHandle::from_key_hash([key; 16]), self.payload());
        let written = self.writer.write(now, change).unwrap();
        if let Some(link) = &self.link {
            assert!(self.writer.change(written).is_some());
            link.acknowledge(written);
        }
        self.transmit();
        if self.ticks % self.acknack_every == 0 {
            let mut reader_sn_state = SequenceNumberSet::empty(written);
            assert!(reader_sn_state.insert(written));
            let ack_nack = AckNack {
                reader_id: reader_guid().entity_id,
                writer_id: self.writer.guid().entity_id,
                reader_sn_state,
                count: self.ticks as i32,
                is_final: true,
            };
            self.writer.handle_acknack(now, reader_guid().into(), &ack_nack);
            self.transmit();
        }
        self.writer.handle_timeout(now);
        while self.writer.poll_event().is_some() {}
    }

    fn transmit(&mut self) {
        while self.writer.poll_transmit(self.now(), &mut self.datagram) {
            assert!(!self.datagram.destinations().is_empty());
        }
    }

    /// Returns the number of blocks that a long run of the warm writer allocates.
    fn blocks(mut self) -> u64 {
        let mut steps = |number| {
            for _ in 0..number {
                self.step();
            }
        };
        assert!(measure(|| steps(WARM_UP)).count_total > 0, "nothing is counted");
        let blocks = measure(|| steps(SAMPLES)).count_total;
        assert_eq!(self.writer.last_sequence_number(), SequenceNumber((WARM_UP + SAMPLES) as i64));
        blocks
    }
}

#[test]
fn warm_writer_allocates_nothing() {
    let last = DataWriterQos::default().keep_last(1);
    let all = DataWriterQos::default().keep_all();
    let best_effort = last.clone().best_effort();

    assert_eq!(Bench::new(&best_effort).with_remote(false).blocks(), 0, "best effort, one remote reader");
    assert_eq!(Bench::new(&last).with_local().blocks(), 0, "reliable, one local reader");
    assert_eq!(Bench { acknack_every: 50, ..Bench::new(&last).with_remote(true) }.blocks(), 0, "reliable, keep last");
    assert_eq!(Bench { acknack_every: 50, ..Bench::new(&all).with_remote(true) }.blocks(), 0, "reliable, keep all");
    let both = Bench::new(&last).with_local().with_remote(true);
    assert_eq!(Bench { instances: 100, acknack_every: 7, ..both }.blocks(), 0, "many instances, both kinds of readers");
    let large = Bench::new(&best_effort).with_remote(false);
    assert_eq!(Bench { payload_len: 200_000, ..large }.blocks(), 0, "fragments");
}
