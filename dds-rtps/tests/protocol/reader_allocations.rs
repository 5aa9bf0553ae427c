//! A warm reader allocates nothing per sample.

use allocation_counter::measure;
use dds_macros::DdsType;
use dds_rtps::cdr::{self, Encoding, TypeInfo};
use dds_rtps::concurrent::{LocalLink, Payload, SlotPool};
use dds_rtps::history::{CacheChange, ChangeKind, HistorySample, Operation, Selection};
use dds_rtps::output::Datagram;
use dds_rtps::qos::DataReaderQos;
use dds_rtps::reader::{
    Handled, InPlaceFragment, KeySource, LocalOutcome, ReaderConfig, Source, StatefulReader, WriterProxyConfig,
};
use dds_rtps::types::{
    EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, SequenceNumber, Time, VendorId,
};
use dds_rtps::wire::{Data, DataFrag, Heartbeat, SerializedPayload};
use std::sync::Arc;

const WARM_UP: i64 = 2_000;
const SAMPLES: i64 = 10_000;
/// The run has this many windows of SAMPLES each. The best window counts.
const WINDOWS: i64 = 4;

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Keyed {
    #[dds(key)]
    id: u32,
    bytes: Vec<u8>,
}

/// How samples arrive.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// In a packet that cannot be shared.
    Data,
    /// In a packet that lies in a slot of a pool.
    Shared,
    /// In fragments of this size.
    Fragments(u16),
    /// In fragments of this size, received in place if they are expected.
    Landing(u16),
    /// From a writer of this process.
    Local,
    /// Every third sample follows the next one, and every tenth arrives twice.
    Disordered,
    /// One sample of each instance, then all of one instance.
    OneBusy,
}

struct Bench {
    reader: StatefulReader,
    way: Way,
    take_every: i64,
    payloads: Vec<Vec<u8>>,
    pool: SlotPool,
    link: Option<Arc<LocalLink>>,
    datagram: Datagram,
    samples: Vec<HistorySample>,
    written: i64,
    seen: i64,
}

fn writer() -> Guid {
    Guid::new(GuidPrefix([2; 12]), EntityId([0, 0, 1, 2]))
}

impl Bench {
    fn new(qos: &DataReaderQos, way: Way, payload_len: usize, instances: u32) -> Self {
        let guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 1, 7]));
        let reader = StatefulReader::new(ReaderConfig::new(guid, KeySource::Type(Keyed::DESCRIPTION.into()), qos));
        let payload = |id| {
            let mut payload = Vec::new();
            cdr::encode_payload(&Keyed { id, bytes: vec![7; payload_len] }, Encoding::Xcdr1, &mut payload).unwrap();
            payload
        };
        let mut bench = Self {
            reader,
            way,
            take_every: 1,
            payloads: (0..instances).map(payload).collect(),
            pool: SlotPool::new(64),
            link: None,
            datagram: Datagram::new(),
            samples: Vec::new(),
            written: 0,
            seen: 0,
        };
        bench.meet(qos);
        bench
    }

    fn meet(&mut self, qos: &DataReaderQos) {
        let now = self.now();
        let reliable = qos.reliability.is_reliable();
        let unicast = vec![Locator::udp_v4([127, 0, 0, 1].into(), 7411)];
        let proxy = WriterProxyConfig { reliable, unicast, ..WriterProxyConfig::new(writer()) };
        if self.way == Way::Local {
            self.link = Some(Arc::new(LocalLink::new()));
            assert!(self.reader.match_local_writer(now, proxy, SequenceNumber::FIRST, self.link.clone()));
        } else {
            assert!(self.reader.match_writer(now, proxy));
        }
    }

    fn now(&self) -> Now {
        let nanos = 1_000_000_000 + self.written as u64 * 20_000;
        Now { instant: Instant::from_nanos(nanos), time: Time::from_unix_nanos(nanos as i64) }
    }

    fn slot(&self, bytes: &[u8]) -> Payload {
        let mut slot = self.pool.acquire();
        slot.buffer().clear();
        slot.buffer().extend_from_slice(bytes);
        self.pool.freeze(slot)
    }

    fn step(&mut self) {
        self.written += 1;
        let number = match (self.way, self.written % 3) {
            (Way::Disordered, 1) => self.written + 1,
            (Way::Disordered, 2) => self.written - 1,
            _ => self.written,
        };
        self.write(number);
        if self.way == Way::Disordered && self.written % 10 == 0 {
            self.write(number);
        }
        if self.written % 7 == 0 && self.way != Way::Local {
            self.heartbeat();
        }
        while self.reader.poll_transmit(self.now(), &mut self.datagram) {}
        self.reader.handle_timeout(self.now());
        while self.reader.poll_event().is_some() {}
        let _ = self.reader.deadline();
        if self.written % self.take_every == 0 {
            self.reader.select(self.now(), &Selection::default(), Operation::Take, &mut self.samples);
            self.seen += self.samples.len() as i64;
            self.samples.clear();
        }
    }

    fn write(&mut self, number: i64) {
        let now = self.now();
        let source = Source { writer: writer(), timestamp: Some(now.time), vendor: VendorId::OURS, reply: None };
        let payloads = std::mem::take(&mut self.payloads);
        let busy = self.way == Way::OneBusy && number as usize > payloads.len();
        let bytes = &payloads[if busy { 0 } else { number as usize % payloads.len() }];
        match self.way {
            Way::Data | Way::Disordered | Way::OneBusy => {
                self.reader.handle_data(now, &source, &data(number, bytes), &());
            }
            Way::Shared => {
                let packet = self.slot(bytes);
                let handled = self.reader.handle_data(now, &source, &data(number, packet.bytes()), &packet);
                assert_eq!(handled, Handled::Accepted);
            }
            Way::Fragments(size) => {
                for (index, payload) in bytes.chunks(size.into()).enumerate() {
                    let fragment = fragment(number, index as u32 + 1, size, bytes.len(), payload);
                    assert_eq!(self.reader.handle_data_frag(now, &source, &fragment), Handled::Accepted);
                }
            }
            Way::Landing(size) => {
                let mut landing = None;
                for (index, payload) in bytes.chunks(size.into()).enumerate() {
                    if let Some(mut expected) = Option::<InPlaceFragment>::take(&mut landing) {
                        expected.buffer().copy_from_slice(payload);
                        landing = self.reader.handle_in_place(now, &source, expected);
                        continue;
                    }
                    let first = index as u32 + 1;
                    let fragment = fragment(number, first, size, bytes.len(), payload);
                    assert_eq!(self.reader.handle_data_frag(now, &source, &fragment), Handled::Accepted);
                    landing = self.reader.lend_next_fragment(source.writer, SequenceNumber(number), first);
                }
            }
            Way::Local => {
                let mut change = CacheChange {
                    kind: ChangeKind::Alive,
                    writer: writer(),
                    sequence_number: SequenceNumber(number),
                    instance: InstanceHandle::from_key_hash([(number % payloads.len() as i64) as u8; 16]),
                    source_timestamp: now.time,
                    related_sample: None,
                    origin: None,
                    presented: None,
                    payload: Some(self.slot(bytes)),
                };
                assert_eq!(
                    self.reader.handle_local(now, &mut change, SequenceNumber(number - 1)),
                    LocalOutcome::Accepted
                );
            }
        }
        self.payloads = payloads;
    }

    fn heartbeat(&mut self) {
        let now = self.now();
        let source = Source { writer: writer(), timestamp: None, vendor: VendorId::OURS, reply: None };
        let heartbeat = Heartbeat {
            reader_id: EntityId::UNKNOWN,
            writer_id: writer().entity_id,
            first_sn: SequenceNumber::FIRST,
            last_sn: SequenceNumber(self.written),
            count: self.written as i32,
            is_final: false,
            liveliness: false,
            group_info: None,
        };
        self.reader.handle_heartbeat(now, &source, &heartbeat);
    }

    /// Returns the number of blocks that a long run of the warm reader allocates.
    fn blocks(mut self) -> u64 {
        if self.way != Way::Local {
            // Reports that no sample precedes the first one.
            self.heartbeat();
        }
        let mut steps = |number| {
            for _ in 0..number {
                self.step();
            }
        };
        assert!(measure(|| steps(WARM_UP)).count_total > 0, "nothing is counted");
        let blocks = (0..WINDOWS).map(|_| measure(|| steps(SAMPLES / WINDOWS)).count_total);
        // A deep history still grows in the first windows. An allocation per sample would occur in every window.
        let blocks = blocks.min().unwrap_or(u64::MAX);
        assert!(self.seen > 0 || self.take_every > SAMPLES, "nothing was seen");
        assert_eq!(self.reader.counters().lost, 0);
        blocks
    }
}

fn data(number: i64, bytes: &[u8]) -> Data<'_> {
    Data {
        reader_id: EntityId::UNKNOWN,
        writer_id: writer().entity_id,
        writer_sn: SequenceNumber(number),
        inline_qos: None,
        payload: SerializedPayload::Data(bytes),
        non_standard_payload: false,
    }
}

fn fragment(number: i64, first: u32, size: u16, sample_size: usize, payload: &[u8]) -> DataFrag<'_> {
    DataFrag {
        reader_id: EntityId::UNKNOWN,
        writer_id: writer().entity_id,
        writer_sn: SequenceNumber(number),
        fragment_starting_num: first,
        fragments_in_submessage: 1,
        fragment_size: size,
        sample_size: sample_size as u32,
        inline_qos: None,
        payload,
        is_key: false,
        non_standard_payload: false,
    }
}

#[test]
fn warm_reader_allocates_nothing() {
    let last = DataReaderQos::default().keep_last(1).best_effort();
    let reliable = last.clone().reliable();
    let all = reliable.clone().keep_all();
    let never = i64::MAX;

    assert_eq!(Bench::new(&last, Way::Data, 64, 1).blocks(), 0, "best effort, small, taken");
    assert_eq!(Bench { take_every: never, ..Bench::new(&last, Way::Data, 64, 1) }.blocks(), 0, "small, replaced");
    assert_eq!(Bench::new(&last, Way::Data, 32_000, 1).blocks(), 0, "32 kB, copied");
    assert_eq!(Bench::new(&last, Way::Shared, 32_000, 1).blocks(), 0, "32 kB, shared");
    assert_eq!(Bench::new(&last, Way::Fragments(1344), 32_000, 1).blocks(), 0, "fragments");
    assert_eq!(Bench::new(&reliable, Way::Data, 64, 100).blocks(), 0, "reliable, many instances");
    assert_eq!(Bench { take_every: 50, ..Bench::new(&all, Way::Data, 64, 7) }.blocks(), 0, "keep all, batches");
    assert_eq!(Bench { take_every: 50, ..Bench::new(&all, Way::Disordered, 64, 7) }.blocks(), 0, "disorder");
    assert_eq!(Bench { take_every: never, ..Bench::new(&reliable, Way::Data, 64, 100) }.blocks(), 0, "replaced");
    assert_eq!(
        Bench { take_every: never, ..Bench::new(&last, Way::OneBusy, 64, 1000) }.blocks(),
        0,
        "one busy instance"
    );
    assert_eq!(Bench::new(&reliable, Way::Fragments(16_000), 200_000, 1).blocks(), 0, "reliable, large");
    assert_eq!(Bench::new(&reliable, Way::Landing(16_000), 200_000, 1).blocks(), 0, "reliable, received in place");
    assert_eq!(Bench::new(&last, Way::Landing(16_000), 200_000, 1).blocks(), 0, "best effort, received in place");
    let deep = DataReaderQos::default().keep_last(5_000);
    assert_eq!(Bench { take_every: never, ..Bench::new(&deep, Way::Data, 64, 1) }.blocks(), 0, "a deep history");
    assert_eq!(Bench::new(&reliable, Way::Local, 64, 1).blocks(), 0, "local");
    assert_eq!(Bench { take_every: 20, ..Bench::new(&all, Way::Local, 32_000, 7) }.blocks(), 0, "local, large");
}
