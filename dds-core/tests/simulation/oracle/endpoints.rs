//! Actions of a program on its writers and readers.

use super::diary::note;
use super::dice::Dice;
use super::filters::Filter;
use super::logs::{Got, ReaderLog, SHARED, WriterLog, Written};
use super::policies::{
    Behaviour, behaviour, describe_reader, describe_writer, lifespan, offered_presentation, reader_partition,
    reader_qos, requested_presentation, writer_partition, writer_qos,
};
use super::scenario::{Scenario, TOPICS};
use dds_core::error::WriteErrorKind;
use dds_core::filter::ContentFilteredTopic;
use dds_core::listener::Delivery;
use dds_core::matching::EndpointInfo;
use dds_core::qos::{Presentation, PublisherQos, SubscriberQos, TopicQos};
use dds_core::writer::{SlowReader, WriteOptions};
use dds_core::{DataReader, DataWriter, DdsType, Duration, Guid, Publisher, Sample, Subscriber, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(DdsType, Debug, Clone, Default)]
pub(crate) struct Line {
    #[dds(key)]
    pub(crate) instance: u32,
    pub(crate) writer: u32,
    pub(crate) number: u32,
    pub(crate) padding: Vec<u8>,
}

const WRITERS_MAX: usize = 10;
const READERS_MAX: usize = 12;

/// Instances that each writer has for itself, and instances that all writers share.
const INSTANCES: u32 = 3;
const SHARED_INSTANCES: u32 = 2;

pub(crate) struct Writing {
    pub(crate) member: usize,
    pub(crate) publisher: Publisher,
    pub(crate) partition: &'static str,
    pub(crate) handle: Option<DataWriter<Line>>,
    pub(crate) log: WriterLog,
}

pub(crate) struct Reading {
    pub(crate) member: usize,
    subscriber: Subscriber,
    pub(crate) partition: &'static str,
    pub(crate) handle: Option<DataReader<Line>>,
    pub(crate) log: ReaderLog,
    /// Handle that changes its content filter, if it has one of that kind.
    filtered: Option<ContentFilteredTopic<Line>>,
    /// Set by its listener since the last take of all samples.
    rung: Option<Arc<AtomicBool>>,
}

impl Writing {
    pub(crate) fn end(&mut self) {
        self.log.ended = true;
        drop(self.handle.take());
    }

    /// Returns whether the two match, once discovery is complete.
    pub(crate) fn fits(&self, reading: &Reading) -> bool {
        let (offered, requested) = (&self.log.qos, &reading.log.qos);
        let (offered_view, wanted_view) = (&self.log.presentation, &reading.log.presentation);
        // The rules of 2.2.3, column "RxO", for the policies that a scenario draws.
        self.handle.is_some()
            && reading.handle.is_some()
            && self.log.topic == reading.log.topic
            && (offered.reliability.is_reliable() || !requested.reliability.is_reliable())
            && offered.durability >= requested.durability
            && offered.deadline <= requested.deadline
            && offered.liveliness.kind >= requested.liveliness.kind
            && offered.liveliness.lease_duration <= requested.liveliness.lease_duration
            && offered_view.access_scope >= wanted_view.access_scope
            && offered_view.coherent_access >= wanted_view.coherent_access
            && offered_view.ordered_access >= wanted_view.ordered_access
            && (reading.partition == "*" || self.partition == reading.partition)
    }
}

impl Reading {
    pub(crate) fn end(&mut self) {
        self.log.ended = true;
        drop(self.handle.take());
    }
}

impl Scenario {
    pub(crate) fn add_writer(&mut self) {
        let open = self.writers.iter().filter(|writing| writing.handle.is_some()).count();
        let Some(member) = self.alive_member().filter(|_| open < WRITERS_MAX) else { return };
        let topic = *self.dice.pick(&TOPICS);
        let partition = writer_partition(&mut self.dice);
        let ownership = self.ownership_of(topic);
        let qos = writer_qos(&mut self.dice, ownership);
        let Behaviour { slow_reader, batching } = behaviour(&mut self.dice);
        let Some(owner) = &self.members[member] else { return };
        // `extras` supplies later features, so that older seeds keep their worlds.
        let has_view = self.has_sets && self.extras.falls(70);
        let view = if has_view { offered_presentation(&mut self.extras) } else { Presentation::default() };
        let publisher = PublisherQos::default().partition([partition]).presentation(view);
        let publisher = owner.handle.publisher(publisher).unwrap();
        let builder = publisher.writer_builder(topic).qos(qos.clone()).slow_reader(slow_reader).batching(batching);
        let handle = builder.build().unwrap();
        let (number, guid) = (self.writers.len(), handle.guid());
        note(format_args!("writer {number} of {topic} in {partition:?} is {guid}: {}", describe_writer(&qos)));
        note(format_args!("  {slow_reader:?}, batches for {batching}, {view:?}"));
        let mut log = WriterLog::new(self.writers.len() as u32, handle.guid(), topic, qos);
        log.presentation = view;
        log.demotes = slow_reader != SlowReader::Block;
        self.writers.push(Writing { member, publisher, partition, handle: Some(handle), log });
    }

    pub(crate) fn add_reader(&mut self) {
        let open = self.readers.iter().filter(|reading| reading.handle.is_some()).count();
        let Some(member) = self.alive_member().filter(|_| open < READERS_MAX) else { return };
        let topic = *self.dice.pick(&TOPICS);
        let partition = reader_partition(&mut self.dice);
        let ownership = self.ownership_of(topic);
        let qos = reader_qos(&mut self.dice, ownership);
        let Some(owner) = &self.members[member] else { return };
        let has_view = self.has_sets && self.extras.falls(70);
        let view = if has_view { requested_presentation(&mut self.extras) } else { Presentation::default() };
        let subscriber = SubscriberQos::default().partition([partition]).presentation(view);
        let subscriber = owner.handle.subscriber(subscriber).unwrap();
        let filter = (self.has_filters && self.extras.falls(60)).then(|| Filter::draw(&mut self.extras));
        // Half of the filters belong to a topic, so that their parameters can change.
        let filtered = filter.as_ref().filter(|_| self.extras.falls(50)).map(|filter| {
            let topic = owner.handle.topic(topic, TopicQos::default()).unwrap();
            owner.handle.filtered_topic(&topic, filter.with_parameters()).unwrap()
        });
        let mut builder = match (&filtered, &filter) {
            (Some(filtered), _) => subscriber.reader_builder(filtered).qos(qos.clone()),
            (None, Some(filter)) => subscriber.reader_builder(topic).filter(filter.with_parameters()).qos(qos.clone()),
            (None, None) => subscriber.reader_builder(topic).qos(qos.clone()),
        };
        let mut rung = None;
        if self.dice.falls(40) {
            let bell = Arc::new(AtomicBool::new(false));
            rung = Some(Arc::clone(&bell));
            // Inline delivery is the common choice here, because it runs in the receiving thread.
            let delivery = if self.dice.falls(80) { Delivery::Inline } else { Delivery::EventThread };
            builder = builder.delivery(delivery).on_data(move |_| bell.store(true, Ordering::Relaxed));
        }
        let handle: DataReader<Line> = builder.build().unwrap();
        let (number, guid) = (self.readers.len(), handle.guid());
        note(format_args!("reader {number} of {topic} in {partition:?} is {guid}: {}", describe_reader(&qos)));
        note(format_args!("  {view:?}, {filter:?}"));
        let mut log = ReaderLog::new(self.readers.len() as u32, handle.guid(), topic, qos);
        (log.presentation, log.filters) =
            (view, filter.map(|filter| (self.simulation.now(), filter)).into_iter().collect());
        self.readers.push(Reading { member, subscriber, partition, handle: Some(handle), log, filtered, rung });
    }

    fn some_writer(&mut self) -> Option<usize> {
        let open: Vec<usize> = (0..self.writers.len()).filter(|&at| self.writers[at].handle.is_some()).collect();
        if open.is_empty() { None } else { Some(*self.dice.pick(&open)) }
    }

    fn some_reader(&mut self) -> Option<usize> {
        let open: Vec<usize> = (0..self.readers.len()).filter(|&at| self.readers[at].handle.is_some()).collect();
        if open.is_empty() { None } else { Some(*self.dice.pick(&open)) }
    }

    fn some_instance(&mut self, writer: usize) -> u32 {
        // Some instances are shared, so that ownership and instance counts matter.
        if self.dice.falls(20) {
            return SHARED + self.dice.below(SHARED_INSTANCES as usize) as u32;
        }
        self.writers[writer].log.id * INSTANCES + self.dice.below(INSTANCES as usize) as u32
    }

    pub(crate) fn write(&mut self) {
        let Some(writer) = self.some_writer() else { return };
        let burst = 1 + self.dice.below(12);
        // Most samples are small. A few need fragments.
        let padding = match self.dice.below(20) {
            0 => 150_000,
            1..=3 => 5_000,
            _ => self.dice.below(200),
        };
        // Samples of a suspended publisher leave together in the end.
        let publisher = self.dice.falls(10).then(|| self.writers[writer].publisher.clone());
        let _suspended = publisher.as_ref().map(|publisher| publisher.suspend_publications().unwrap());
        self.in_a_set(writer, |scenario, is_set| {
            for _ in 0..burst {
                let instance = scenario.some_instance(writer);
                // A full history ends the burst, as a real program would do.
                if !scenario.write_one(writer, instance, padding) {
                    return;
                }
                if is_set {
                    scenario.amid_a_set(writer, instance);
                }
            }
        });
    }

    /// Writes a sample in one of the possible ways. Returns `false` if there was no room.
    pub(crate) fn write_one(&mut self, writer: usize, instance: u32, padding: usize) -> bool {
        // Matches may have changed since the last action, and the log needs them before this sample.
        self.watch();
        let way = self.dice.below(8);
        let Writing { handle: Some(handle), log, .. } = &mut self.writers[writer] else { return false };
        let number = log.next_number();
        let line = Line { instance, writer: log.id, number, padding: vec![7; padding] };
        let outcome = match way {
            0 => match handle.loan() {
                Ok(mut loan) => {
                    *loan = line;
                    loan.write()
                }
                // Every way of writing must produce the same stream.
                Err(error) => Err(error),
            },
            1 => match self.simulation.block_on(Duration::from_secs(1), handle.write_async(&line)) {
                Some(outcome) => outcome,
                // The future is dropped, so none of its samples may arrive.
                None => return false,
            },
            2 => handle.try_write(&line),
            3 => handle.write_identified(&line, WriteOptions::new()).map(|identity| {
                if identity.sequence_number.0 != i64::from(number) {
                    self.complaints.push(format!("writer {writer} calls its number {number} {identity:?}"));
                }
            }),
            _ => handle.write(&line),
        };
        match outcome {
            Ok(()) => {
                note(format_args!("writer {writer} has written {number}"));
                log.note(instance, Written::Data, self.simulation.now());
                true
            }
            // Lack of room is legal. Any other failure is a bug.
            Err(error) => match error.kind() {
                WriteErrorKind::Timeout { .. } | WriteErrorKind::Full { .. } => false,
                kind => panic!("{kind:?}"),
            },
        }
    }

    /// Disposes of an instance, or unregisters it.
    pub(crate) fn end_instance(&mut self) {
        let Some(writer) = self.some_writer() else { return };
        let instance = self.some_instance(writer);
        let unregisters = self.dice.falls(40);
        self.end_one(writer, instance, unregisters);
    }

    pub(crate) fn end_one(&mut self, writer: usize, instance: u32, unregisters: bool) {
        self.watch();
        let Writing { handle: Some(handle), log, .. } = &mut self.writers[writer] else { return };
        let disposes = log.qos.writer_data_lifecycle.autodispose_unregistered_instances;
        let (what, outcome) = match unregisters {
            true => (Written::Unregister { disposes }, handle.unregister_instance(&instance)),
            false => (Written::Dispose, handle.dispose(&instance)),
        };
        match outcome {
            Ok(()) => {
                note(format_args!("writer {writer} ends instance {instance} with {}: {what:?}", log.next_number()));
                log.note(instance, what, self.simulation.now());
            }
            // A writer may end only instances that it knows.
            Err(error) => match error.kind() {
                WriteErrorKind::Timeout { .. } | WriteErrorKind::UnknownInstance => {}
                kind => panic!("{kind:?}"),
            },
        }
    }

    pub(crate) fn take_somewhere(&mut self) {
        let Some(reader) = self.some_reader() else { return };
        match self.dice.below(6) {
            0 => self.take_some(reader),
            1 => self.take_one(reader),
            2 => self.read_then_take(reader),
            _ => _ = self.take(reader),
        }
    }

    /// Takes all samples and returns their number.
    pub(crate) fn take(&mut self, reader: usize) -> usize {
        // The record of matches must not be younger than the take.
        self.watch();
        let now = self.simulation.now();
        let Reading { handle: Some(handle), log, rung, .. } = &mut self.readers[reader] else { return 0 };
        // Clear the flag before the take, because a later sample sets it again.
        if let Some(rung) = rung {
            rung.store(false, Ordering::Relaxed);
        }
        let round = log.rounds;
        log.rounds += 1;
        let batch: Vec<Got> = handle.take().unwrap().into_iter().map(|sample| got(sample, now, round)).collect();
        log.check_bounds(&batch);
        let count = batch.len();
        if count > 0 {
            let name = |got: &Got| (got.data.map(|(writer, ..)| writer), got.sequence, got.state);
            note(format_args!("reader {reader} takes {:?}", batch.iter().map(name).collect::<Vec<_>>()));
        }
        log.got.extend(batch);
        count
    }

    /// As `take`, in a world that has called all due listeners.
    pub(crate) fn take_when_told(&mut self, reader: usize) -> usize {
        let was_told = self.readers[reader].rung.as_ref().is_none_or(|rung| rung.load(Ordering::Relaxed));
        let count = self.take(reader);
        // Samples without a call of the listener would stay unseen in a real program.
        if count > 0 && !was_told {
            self.complaints.push(format!("reader {reader} has {count} samples and has notified no listener"));
        }
        count
    }

    /// Takes a few samples and leaves the rest.
    fn take_some(&mut self, reader: usize) {
        self.watch();
        let (now, count) = (self.simulation.now(), 1 + self.dice.below(5));
        let Reading { handle: Some(handle), log, .. } = &mut self.readers[reader] else { return };
        let batch = handle.select().max_samples(count).take().unwrap();
        log.got.extend(batch.into_iter().map(|sample| got(sample, now, log.rounds)));
    }

    fn take_one(&mut self, reader: usize) {
        self.watch();
        let now = self.simulation.now();
        let Reading { handle: Some(handle), log, .. } = &mut self.readers[reader] else { return };
        log.got.extend(handle.take_next().unwrap().map(|sample| got(sample, now, log.rounds)));
    }

    /// Asserts that samples of a read can be taken.
    fn read_then_take(&mut self, reader: usize) {
        let Reading { handle: Some(handle), log, .. } = &self.readers[reader] else { return };
        let read: Vec<Got> =
            handle.read().unwrap().into_iter().map(|sample| got(sample, self.simulation.now(), 0)).collect();
        let from = log.got.len();
        self.take(reader);
        let log = &mut self.readers[reader].log;
        let name = |got: &Got| (got.writer, got.sequence);
        let (taken, mortal) = (&log.got[from..], self.writers.iter().any(|writing| writing.log.is_mortal()));
        let missing = read.iter().filter(|read| !taken.iter().any(|taken| name(taken) == name(read))).count();
        // A sample that arrives or expires between the two calls may replace one that was read.
        let replaced = super::logs::depth_of(&log.qos).is_some() || mortal;
        // Without replacement and expiry, a take returns every sample of the read before.
        if missing > 0 && !replaced {
            log.complaints.push(format!("reader {reader} has shown {missing} samples and not given them"));
        }
    }

    pub(crate) fn close_writer(&mut self) {
        let Some(writer) = self.some_writer() else { return };
        note(format_args!("writer {writer} is closed"));
        self.writers[writer].end();
    }

    pub(crate) fn close_reader(&mut self) {
        let Some(reader) = self.some_reader() else { return };
        // Take the rest, so that the log is complete.
        self.take(reader);
        note(format_args!("reader {reader} is closed"));
        self.readers[reader].end();
    }

    /// Changes the partition of a publisher or a subscriber.
    pub(crate) fn change_partition(&mut self) {
        if self.dice.falls(50) {
            let Some(writer) = self.some_writer() else { return };
            let partition = writer_partition(&mut self.dice);
            note(format_args!("writer {writer} goes to {partition:?}"));
            let writing = &mut self.writers[writer];
            writing.publisher.set_qos(writing.publisher.qos().partition([partition])).unwrap();
            writing.partition = partition;
        } else {
            let Some(reader) = self.some_reader() else { return };
            let partition = reader_partition(&mut self.dice);
            note(format_args!("reader {reader} goes to {partition:?}"));
            let reading = &mut self.readers[reader];
            reading.subscriber.set_qos(reading.subscriber.qos().partition([partition])).unwrap();
            reading.partition = partition;
        }
    }

    /// Changes a mutable policy. Some changes end a match, some do not.
    pub(crate) fn change_qos(&mut self) {
        let deadline = *self.dice.pick(&[Duration::from_secs(1), Duration::from_secs(5), Duration::INFINITE]);
        let (lifespan, octet) = (lifespan(&mut self.dice), self.dice.below(256) as u8);
        let what = self.dice.below(3);
        if self.dice.falls(60) {
            let Some(writer) = self.some_writer() else { return };
            let Writing { handle: Some(handle), log, .. } = &mut self.writers[writer] else { return };
            let qos = log.qos.clone();
            let qos = match what {
                0 => qos.deadline(deadline),
                1 => qos.lifespan(lifespan),
                _ => qos.user_data([octet]),
            };
            note(format_args!("writer {writer} has deadline {} and lifespan {}", qos.deadline, qos.lifespan));
            handle.set_qos(qos.clone()).unwrap();
            log.set_qos(qos);
        } else {
            let Some(reader) = self.some_reader() else { return };
            let Reading { handle: Some(handle), filtered, log, .. } = &mut self.readers[reader] else { return };
            let qos = log.qos.clone();
            let qos = if what == 0 { qos.deadline(deadline) } else { qos.user_data([octet]) };
            note(format_args!("reader {reader} has deadline {}", qos.deadline));
            change_filter(&mut self.extras, filtered.as_ref(), log, self.simulation.now());
            handle.set_qos(qos.clone()).unwrap();
            log.qos = qos;
        }
    }

    /// Records which endpoints are matched now, and since which sample.
    pub(crate) fn watch(&mut self) {
        // Moments order matches of writers and readers without a common clock.
        self.moment += 1;
        for writing in &mut self.writers {
            let Some(handle) = &writing.handle else { continue };
            let status = handle.publication_matched();
            // Only a change needs the list of peers, which is expensive to build.
            if status.total_count_change != 0 || status.current_count_change != 0 {
                writing.log.watch(self.moment, &guids(handle.matched_subscriptions()), status.total_count);
            }
        }
        for reading in &mut self.readers {
            let Some(handle) = &reading.handle else { continue };
            let status = handle.subscription_matched();
            if status.total_count_change != 0 || status.current_count_change != 0 {
                reading.log.watch(self.moment, &guids(handle.matched_publications()), status.total_count);
            }
        }
    }
}

/// Sets other parameters of a filter, or another expression.
fn change_filter(dice: &mut Dice, filtered: Option<&ContentFilteredTopic<Line>>, log: &mut ReaderLog, now: Time) {
    let Some(filtered) = filtered else { return };
    let filter = Filter::draw(dice);
    // The same expression allows the cheaper change of its parameters alone.
    if filter.expression() == filtered.expression() {
        filtered.set_parameters(filter.parameters()).unwrap();
    } else {
        filtered.set_expression(filter.with_parameters()).unwrap();
    }
    note(format_args!("reader {} has the filter {filter:?}", log.id));
    log.filters.push((now, filter));
}

fn got(sample: Sample<Line>, at: dds_core::Time, round: usize) -> Got {
    let is_whole = |line: &Line| line.padding.iter().all(|byte| *byte == 7);
    Got {
        writer: sample.info.publication_handle,
        sequence: sample.info.sequence_number.0,
        state: sample.info.instance_state,
        instance: sample.info.instance_handle,
        at,
        round,
        data: sample.data.map(|line| (line.writer, line.number, line.instance, is_whole(&line))),
    }
}

pub(crate) fn guids(endpoints: Vec<EndpointInfo>) -> Vec<Guid> {
    endpoints.into_iter().map(|endpoint| endpoint.guid).collect()
}
