//! Writers without space: which callers wait, in which order they wake up, and that no sample is lost or duplicated.

use crate::support::{PATIENCE, Woken, World};
use dds_core::error::{WriteError, WriteErrorKind};
use dds_core::qos::{DataReaderQos, DataWriterQos, Reliability, ResourceLimits};
use dds_core::status::WriterEvent;
use dds_core::writer::SlowReader;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration};
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};

#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    producer: u32,
    count: u32,
}

fn item(count: u32) -> Item {
    Item { producer: 0, count }
}

fn limited(samples: u32) -> ResourceLimits {
    ResourceLimits::NONE.max_samples(samples)
}

/// Creates a writer and a reader with space for one sample each.
fn narrow_pair(max_blocking_time: Duration) -> (DomainParticipant, DataWriter<Item>, DataReader<Item>) {
    let participant = World::new().participant();
    let (writer, reader) = pair(&participant, &participant, 1, max_blocking_time);
    (participant, writer, reader)
}

fn pair(
    from: &DomainParticipant,
    to: &DomainParticipant,
    room: u32,
    max_blocking_time: Duration,
) -> (DataWriter<Item>, DataReader<Item>) {
    let reader_qos = DataReaderQos::default().reliable().keep_all().resource_limits(limited(room));
    let mut writer_qos = DataWriterQos::default().keep_all().resource_limits(limited(room));
    writer_qos.reliability = Reliability::Reliable { max_blocking_time };
    let reader = to.reader_builder("item").qos(reader_qos).build().unwrap();
    let writer = from.writer_builder("item").qos(writer_qos).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    (writer, reader)
}

/// Writes until there is no space. Returns the number of written samples.
fn fill(writer: &DataWriter<Item>) -> u32 {
    (0..).find(|&count| writer.try_write(&item(count)).is_err()).unwrap()
}

/// A write that the test polls by hand.
struct Polled<'a> {
    write: Pin<Box<dyn Future<Output = Result<(), WriteError>> + Send + 'a>>,
    wakes: Arc<Woken>,
}

impl<'a> Polled<'a> {
    fn new(writer: &'a DataWriter<Item>, item: &'a Item) -> Self {
        Self { write: Box::pin(writer.write_async(item)), wakes: Arc::default() }
    }

    fn poll(&mut self) -> Poll<Result<(), WriteError>> {
        let waker = Waker::from(Arc::clone(&self.wakes));
        self.write.as_mut().poll(&mut Context::from_waker(&waker))
    }

    fn wakes(&self) -> u64 {
        self.wakes.count()
    }
}

/// Takes `number` more samples and returns their counts.
fn rest(reader: &DataReader<Item>, number: usize) -> Vec<u32> {
    (0..number).map(|_| reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap().count).collect()
}

#[test]
fn async_write_with_space_is_ready_at_once() {
    let (_participant, writer, reader) = narrow_pair(Duration::INFINITE);
    let item = item(5);
    let mut write = Polled::new(&writer, &item);
    assert!(reader.take_next().unwrap().is_none(), "nothing happens before it is polled");
    assert_eq!(write.poll(), Poll::Ready(Ok(())));
    assert_eq!(rest(&reader, 1), [5]);
}

#[test]
fn waiting_writes_complete_in_order() {
    let (_participant, writer, reader) = narrow_pair(Duration::INFINITE);
    let filled = fill(&writer);
    let items = [item(100), item(101), item(102)];
    let mut writes = items.each_ref().map(|item| Polled::new(&writer, item));
    assert!(writes.iter_mut().all(|write| write.poll().is_pending()));
    for turn in 0..3 {
        let refused = writer.try_write(&item(999)).unwrap_err();
        assert!(matches!(refused.kind(), WriteErrorKind::Full { .. }), "nobody overtakes");
        assert_eq!(rest(&reader, 1), [if turn < filled { turn } else { 100 + turn - filled }]);
        let woken: Vec<_> = writes.iter().map(|write| write.wakes() > 0).collect();
        assert!(woken[turn as usize], "room is for the next in the queue: {woken:?}");
        // A write that is not the oldest keeps waiting.
        assert!(writes.iter_mut().skip(turn as usize + 1).all(|later| later.poll().is_pending()));
        assert_eq!(writes[turn as usize].poll(), Poll::Ready(Ok(())));
    }
    let left = rest(&reader, filled as usize);
    assert_eq!(left.last(), Some(&102));
    assert!(reader.take_next().unwrap().is_none());
}

#[test]
fn dropped_write_passes_its_wake_on() {
    let (_participant, writer, reader) = narrow_pair(Duration::INFINITE);
    let filled = fill(&writer);
    let (first, second) = (item(100), item(101));
    let mut leaves = Polled::new(&writer, &first);
    let mut stays = Polled::new(&writer, &second);
    assert!(leaves.poll().is_pending() && stays.poll().is_pending());
    rest(&reader, 1);
    assert!(leaves.wakes() > 0);
    // An older write goes first, whether this one was woken or not.
    assert!(stays.poll().is_pending());
    let before = stays.wakes();
    drop(leaves);
    assert_eq!(stays.wakes(), before + 1);
    assert_eq!(stays.poll(), Poll::Ready(Ok(())));
    let left = rest(&reader, filled as usize);
    assert_eq!(left.last(), Some(&101));
    assert!(!left.contains(&100) && reader.take_next().unwrap().is_none());
}

#[test]
fn async_write_ends_after_blocking_time() {
    let (_participant, writer, reader) = narrow_pair(Duration::from_millis(20));
    let filled = fill(&writer);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let error = runtime.block_on(writer.write_async(&item(100))).unwrap_err();
    assert!(
        matches!(error.kind(), WriteErrorKind::Timeout { waited, .. } if *waited >= Duration::from_millis(20)),
        "{error}"
    );
    assert!(!rest(&reader, filled as usize).contains(&100));
    assert!(reader.take_next().unwrap().is_none());
}

#[test]
fn full_writer_fails_at_once_if_no_wait_helps() {
    let participant = World::new().participant();
    let limits = ResourceLimits::NONE.max_instances(1);
    let qos = DataWriterQos::default().keep_last(1).resource_limits(limits);
    let writer = participant.writer_builder::<Keyed>("keyed").qos(qos).build().unwrap();
    let (one, two) = (Keyed { key: 1 }, Keyed { key: 2 });
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(pin!(writer.write_async(&one)).poll(&mut context), Poll::Ready(Ok(())));
    let Poll::Ready(Err(error)) = pin!(writer.write_async(&two)).poll(&mut context) else { panic!("it waits") };
    assert_eq!(error.kind(), &WriteErrorKind::OutOfResources { limit: "max_instances", value: 1 });
}

#[derive(DdsType)]
struct Keyed {
    #[dds(key)]
    key: u32,
}

#[test]
fn closing_writer_ends_waiting_writes() {
    let (_participant, writer, _reader) = narrow_pair(Duration::INFINITE);
    fill(&writer);
    let waits = item(100);
    let mut write = Polled::new(&writer, &waits);
    assert!(write.poll().is_pending());
    std::thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let blocked = scope.spawn({
            let writer = writer.clone();
            move || {
                tell.send(()).unwrap();
                writer.write(&item(101))
            }
        });
        told.recv().unwrap();
        writer.close();
        assert_eq!(blocked.join().unwrap().unwrap_err().kind(), &WriteErrorKind::Closed);
    });
    assert!(write.wakes() > 0);
    assert!(matches!(write.poll(), Poll::Ready(Err(error)) if error.kind() == &WriteErrorKind::Closed));
}

/// Pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as u32 % bound
    }
}

struct Bell(mpsc::Sender<()>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        // A late wake-up finds no receiver.
        let _ = self.0.send(());
    }
}

/// Polls a write and drops it after `patience` pending polls. Returns whether the sample was published.
fn write_or_leave(writer: &DataWriter<Item>, item: &Item, patience: u32) -> bool {
    let (bell, wakes) = mpsc::channel();
    let waker = Waker::from(Arc::new(Bell(bell)));
    let mut write = pin!(writer.write_async(item));
    for left in (0..patience).rev() {
        match write.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(written) => return written.is_ok(),
            // After the last poll it drops the write at once, possibly just as the write is woken.
            Poll::Pending if left > 0 => wakes.recv().unwrap(),
            Poll::Pending => {}
        }
    }
    false
}

/// One thread of the crowd. Returns the samples that it published.
fn produce(writer: &DataWriter<Item>, producer: u32, items: u32) -> Vec<Item> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ u64::from(producer + 1));
    let mut published = Vec::new();
    for count in 0..items {
        let item = Item { producer, count };
        let written = match dice.below(4) {
            0 => writer.write(&item).is_ok(),
            1 => writer.try_write(&item).is_ok(),
            2 => write_or_leave(writer, &item, 1 + dice.below(2)),
            _ => write_or_leave(writer, &item, u32::MAX),
        };
        if written {
            published.push(item);
        }
    }
    published
}

/// The tasks of the crowd, on one thread. Returns the samples that they published.
fn produce_in_tasks(writer: &DataWriter<Item>, producers: std::ops::Range<u32>, items: u32) -> Vec<Item> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let task = |producer| {
        let writer = writer.clone();
        async move {
            let mut dice = Dice(0x2545_f491_4f6c_dd1d ^ u64::from(producer + 1));
            let mut published = Vec::new();
            for count in 0..items {
                let item = Item { producer, count };
                let limit = std::time::Duration::from_micros(u64::from(dice.below(200)));
                let written = match dice.below(2) {
                    0 => tokio::time::timeout(limit, writer.write_async(&item))
                        .await
                        .is_ok_and(|written| written.is_ok()),
                    _ => writer.write_async(&item).await.is_ok(),
                };
                if written {
                    published.push(item);
                }
            }
            published
        }
    };
    runtime.block_on(async {
        let tasks: Vec<_> = producers.map(|producer| tokio::spawn(task(producer))).collect();
        let mut published = Vec::new();
        for task in tasks {
            published.extend(task.await.unwrap());
        }
        published
    })
}

fn crowd(from: &DomainParticipant, to: &DomainParticipant, items: u32) {
    let (writer, reader) = pair(from, to, 3, Duration::INFINITE);
    let mut received = Vec::new();
    let published: BTreeSet<Item> = std::thread::scope(|scope| {
        let (done, ended) = mpsc::channel();
        let mut producers: Vec<_> = (0..3)
            .map(|producer| {
                let (writer, done) = (&writer, done.clone());
                scope.spawn(move || {
                    let published = produce(writer, producer, items);
                    done.send(()).unwrap();
                    published
                })
            })
            .collect();
        let writer = &writer;
        producers.push(scope.spawn(move || {
            let published = produce_in_tasks(writer, 3..6, items);
            done.send(()).unwrap();
            published
        }));
        let mut running = producers.len();
        while running > 0 {
            received.extend(reader.take().unwrap().into_data());
            running -= ended.try_iter().count();
            std::thread::yield_now();
        }
        producers.into_iter().flat_map(|producer| producer.join().unwrap()).collect()
    });
    while received.len() < published.len() {
        received.push(reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap());
    }
    writer.acknowledged().block_for(PATIENCE).unwrap();
    assert!(reader.take().unwrap().is_empty(), "more than was published");
    for producer in 0..6 {
        let counts: Vec<_> = received.iter().filter(|item| item.producer == producer).map(|item| item.count).collect();
        assert!(counts.is_sorted(), "each producer's items keep their order");
    }
    assert_eq!(received.iter().copied().collect::<BTreeSet<_>>(), published);
    assert_eq!(received.len(), published.len(), "doubled");
}

#[test]
fn crowd_of_writes_loses_nothing_in_process() {
    let participant = World::new().participant();
    crowd(&participant, &participant, 1500);
}

#[test]
fn crowd_of_writes_loses_nothing_by_udp() {
    let world = World::new();
    crowd(&world.udp_participant(), &world.udp_participant(), 100);
}

/// Two readers of one writer with space for four samples. The second reader has space for one and the test never takes
/// from it.
fn unequal(world: &World, slow_reader: SlowReader) -> (DomainParticipant, DataWriter<Item>, [DataReader<Item>; 2]) {
    let participant = world.participant();
    let readers = [ResourceLimits::NONE, ResourceLimits::NONE.max_samples(1)].map(|limits| {
        let qos = DataReaderQos::default().reliable().keep_all().resource_limits(limits);
        participant.reader_builder("item").qos(qos).build().unwrap()
    });
    let mut qos = DataWriterQos::default().keep_all().resource_limits(limited(4));
    qos.reliability = Reliability::Reliable { max_blocking_time: Duration::from_millis(50) };
    let writer = participant.writer_builder("item").qos(qos).slow_reader(slow_reader).build().unwrap();
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    (participant, writer, readers)
}

#[test]
fn blocked_write_names_lagging_reader() {
    let (_participant, writer, [_quick, stuck]) = unequal(&World::new(), SlowReader::Block);
    let filled = fill(&writer);
    let (slowest, behind) = (Some(stuck.guid()), u64::from(filled) - 1);
    assert_eq!(writer.try_write(&item(9)).unwrap_err().kind(), &WriteErrorKind::Full { slowest, behind });
    let error = writer.write(&item(9)).unwrap_err();
    let WriteErrorKind::Timeout { waited, slowest: named, behind: by } = error.kind() else { panic!("{error}") };
    assert_eq!((*named, *by), (slowest, behind), "{error}");
    assert!(*waited >= Duration::from_millis(50), "{error}");
    assert!(error.to_string().contains(&format!("{} is 4 samples behind", stuck.guid())), "{error}");
    let item = item(9);
    let mut write = Polled::new(&writer, &item);
    assert!(write.poll().is_pending());
    stuck.close();
    assert_eq!(write.poll(), Poll::Ready(Ok(())), "no reader lags any more");
}

#[test]
fn reader_that_holds_up_writes_is_reported() {
    let (_participant, writer, [quick, stuck]) = unequal(&World::new(), SlowReader::Block);
    let events = writer.events();
    assert!(matches!(events.next_event().block_for(PATIENCE), Ok(WriterEvent::Matched(_))));
    fill(&writer);
    assert_eq!(writer.slow_readers().current_count, 0, "no write has waited");
    for _ in 0..2 {
        assert!(matches!(writer.write(&item(9)).unwrap_err().kind(), WriteErrorKind::Timeout { .. }));
    }
    let Ok(WriterEvent::SlowReader(status)) = events.next_event().block_for(PATIENCE) else { panic!("not told") };
    assert_eq!((status.total_count, status.current_count), (1, 1));
    assert_eq!((status.last_peer_handle, writer.slow_readers()), (stuck.guid().into(), status));
    // The reader takes again, so the next write does not wait.
    drop(quick);
    while stuck.take_next().unwrap().is_some() {}
    writer.acknowledged().block_for(PATIENCE).unwrap();
    writer.write(&item(10)).unwrap();
    assert_eq!(writer.slow_readers().current_count, 0);
}

#[test]
fn writer_demotes_slow_reader_and_reports_it() {
    let world = World::new();
    let (participant, writer, [quick, stuck]) = unequal(&world, SlowReader::Demote { after: Duration::ZERO });
    let events = writer.events();
    assert!(matches!(events.next_event().block_for(PATIENCE), Ok(WriterEvent::Matched(_))));
    let mut received = Vec::new();
    for count in 0..1000 {
        writer.try_write(&item(count)).unwrap();
        received.extend(quick.take().unwrap().into_data().map(|item| item.count));
    }
    assert_eq!(received, (0..1000).collect::<Vec<_>>());
    let Ok(WriterEvent::SlowReader(status)) = events.next_event().block_for(PATIENCE) else { panic!("not told") };
    assert_eq!((status.total_count, status.current_count), (1, 1));
    assert_eq!(status.last_peer_handle, stuck.guid().into());
    assert_eq!(writer.slow_readers(), status);
    let reports = writer.explain_matches();
    let of = |reader: &DataReader<Item>| reports.iter().find(|report| report.remote.guid == reader.guid()).unwrap();
    assert_eq!((of(&quick).too_slow, of(&stuck).too_slow), (None, Some(999)));
    assert!(of(&stuck).to_string().contains("999 samples behind"), "{}", of(&stuck));
    // The writer ignores the acknowledgments of a demoted reader.
    writer.acknowledged().block_for(PATIENCE).unwrap();
    // The returning reader gets the kept samples, in order and once. It counts the others as lost.
    assert_eq!(rest(&stuck, 5), [0, 996, 997, 998, 999]);
    assert_eq!(stuck.sample_lost().total_count, 995);
    assert!(stuck.take_next().unwrap().is_none());
    // The reader has caught up, so the writer waits for it again.
    writer.try_write(&item(1000)).unwrap();
    assert_eq!(rest(&stuck, 1), [1000]);
    assert!(
        matches!(events.next_event().block_for(PATIENCE), Ok(WriterEvent::SlowReader(status)) if status.current_count == 0)
    );
    drop(participant);
}

#[test]
fn departed_slow_reader_is_not_counted() {
    let (_participant, writer, [_quick, stuck]) = unequal(&World::new(), SlowReader::Demote { after: Duration::ZERO });
    (0..10).for_each(|count| writer.try_write(&item(count)).unwrap());
    assert_eq!(writer.slow_readers().current_count, 1);
    stuck.close();
    let status = writer.slow_readers();
    assert_eq!((status.total_count, status.current_count, status.current_count_change), (1, 0, -1));
}

#[test]
fn keep_last_never_waits_for_reader() {
    let participant = World::new().participant();
    let limits = ResourceLimits::NONE.max_samples(2).max_instances(3);
    let mut qos = DataWriterQos::default().keep_last(1).resource_limits(limits).transient_local();
    qos.reliability = Reliability::Reliable { max_blocking_time: Duration::INFINITE };
    let writer = participant.writer_builder::<Keyed>("keyed").qos(qos).build().unwrap();
    let reader_qos = DataReaderQos::default().reliable().keep_all().resource_limits(limited(1));
    let _stuck = participant.reader_builder::<Keyed>("keyed").qos(reader_qos).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    (0..1000).for_each(|count| writer.write(&Keyed { key: count % 2 }).unwrap());
    // Both limits hold forever, so they fail at once although the writer may block forever.
    let error = writer.write(&Keyed { key: 2 }).unwrap_err();
    assert_eq!(error.kind(), &WriteErrorKind::OutOfResources { limit: "max_samples", value: 2 });
    writer.register_instance(&3).unwrap();
    let error = writer.write(&Keyed { key: 4 }).unwrap_err();
    assert_eq!(error.kind(), &WriteErrorKind::OutOfResources { limit: "max_instances", value: 3 });
}
