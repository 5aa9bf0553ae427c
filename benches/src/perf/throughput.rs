//! `publish`: one way, as fast as possible or at a rate. The receiving processes measure.

use crate::perf::clock;
use crate::perf::control::{Answer, Ask, Conductor, Setup, data_topic};
use crate::perf::course::Progress;
use crate::perf::load::{Load, Sender};
use crate::perf::losses::Reasons;
use crate::perf::machine::{self, Environment};
use crate::perf::meter::{Meter, Snapshot, empty_histogram};
use crate::perf::options::Publish;
use crate::perf::participant::name_of;
use crate::perf::qos::{HistoryOption, Qos};
use crate::perf::quantity::{bytes_text, count_text};
use crate::perf::record::{Journal, Latency, LatencyKind, Outcome, Pattern, ProcessShare, Record};
use crate::perf::sending::{Plan, send_all};
use crate::perf::usage::Usage;
use crate::perf::{Failure, Result, summary};
use dds_core::DataWriter;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Period of checks for the end of sending.
const LOOK: Duration = Duration::from_millis(100);
/// The phases of a session.
const WARM_UP: u64 = 0;
const MEASURED: u64 = 1;

/// Measures each size and passes each outcome to `finish` before it is printed.
///
/// # Errors
///
/// Returns an error if there is no `subscribe`, or if the measurement fails.
pub fn run(publish: &Publish, finish: &mut dyn FnMut(&mut Outcome) -> Result<()>) -> Result<()> {
    publish.work.check().map_err(Failure::new)?;
    publish.place.pin()?;
    let mut journal = Journal::open(publish.work.json.as_deref())?;
    let mut conductor = Conductor::meet(Pattern::Throughput, &publish.place, publish.processes, publish.work.wait.0)?;
    for (case, size) in (0..).zip(&publish.work.size.0) {
        let qos = publish.qos.resolve(HistoryOption::KeepAll, *size);
        let mut session = Session::new(&mut conductor, &mut journal, publish, (case, *size), qos)?;
        let mut outcome = session.measure()?;
        drop(session);
        finish(&mut outcome)?;
        if !publish.work.quiet {
            summary::print(&summary::of(&outcome))?;
        }
        journal.append(Record::Result(Box::new(outcome)))?;
    }
    conductor.leave()
}

/// The measurement of one size.
struct Session<'a> {
    conductor: &'a mut Conductor,
    journal: &'a mut Journal,
    publish: &'a Publish,
    case: u32,
    size: usize,
    qos: Qos,
    sources: Vec<Source>,
    same_clock: bool,
}

/// A writer and its progress.
struct Source {
    writer: DataWriter<Load>,
    sender: Sender,
    sent: AtomicU64,
    delay: Meter,
}

impl<'a> Session<'a> {
    fn new(
        conductor: &'a mut Conductor,
        journal: &'a mut Journal,
        publish: &'a Publish,
        (case, size): (u32, usize),
        qos: Qos,
    ) -> Result<Self> {
        let setup = Setup {
            case,
            size,
            qos: qos.clone(),
            write: publish.work.write,
            topics: publish.work.topics,
            writers: publish.writers,
            readers: publish.readers,
            boot: machine::boot(),
            to_time_of_day: clock::to_time_of_day(),
            floor: false,
            interval_ms: u64::try_from(publish.work.interval.0.as_millis()).unwrap_or(u64::MAX),
        };
        let answers = conductor.ask(&Ask::Setup(setup))?;
        let same_clock = answers.iter().all(|answer| matches!(answer, Answer::Joined { same_clock: true, .. }));
        let mut sources = Vec::new();
        for number in 0..publish.work.topics {
            let topic = data_topic(conductor.run(), case, "there", number);
            for _ in 0..publish.writers {
                let writer = conductor.participant().writer_builder::<Load>(&topic).qos(qos.writer()).build()?;
                let sender = Sender::new(writer.clone(), sources.len() as u32, size, publish.work.write);
                sources.push(Source { writer, sender, sent: AtomicU64::new(0), delay: Meter::default() });
            }
        }
        conductor.ask(&Ask::Match)?;
        for source in &sources {
            let readers = (publish.readers * publish.processes) as usize;
            source.writer.wait_for_readers(readers).block_for(publish.work.wait.0)?;
        }
        Ok(Self { conductor, journal, publish, case, size, qos, sources, same_clock })
    }

    fn measure(&mut self) -> Result<Outcome> {
        let work = &self.publish.work;
        self.phase(WARM_UP, work.warm_up.0, None)?;
        self.conductor.ask(&Ask::Begin)?;
        let usage = self.usage();
        let sent = self.phase(MEASURED, work.duration.0, work.count)?;
        let usage = self.usage().since(&usage);
        let timeout_ms = u64::try_from(work.timeout(&self.qos).as_millis()).unwrap_or(u64::MAX);
        // Each reader of the topic receives each sample.
        let expected = sent * u64::from(self.publish.readers);
        let answers = self.conductor.ask(&Ask::End { expected, timeout_ms })?;
        for interval in self.conductor.listen(Duration::from_millis(1))? {
            self.journal.append(Record::Interval(Box::new(interval)))?;
        }
        Ok(self.outcome(expected * u64::from(self.publish.processes), usage, answers))
    }

    fn usage(&self) -> Usage {
        Usage::now(&self.conductor.participant().traffic())
    }

    /// Sends by duration or count, then waits for acknowledgments. Returns the number of samples.
    fn phase(&mut self, phase: u64, duration: Duration, count: Option<u64>) -> Result<u64> {
        let (work, sources) = (&self.publish.work, self.sources.len() as u64);
        let begin = clock::now() + 1_000_000;
        let end = if count.is_some() { u64::MAX } else { begin.saturating_add(duration.as_nanos() as u64) };
        let plan = Plan {
            phase,
            rate: work.rate.map(|rate| rate.0 / sources as f64),
            pace: work.pace,
            begin,
            end,
            count: count.map_or(u64::MAX, |count| count.div_ceil(sources)),
        };
        let steps = count.unwrap_or(duration.as_millis() as u64);
        let title = format!("{} B", count_text(self.size as u64));
        let progress = Progress::new(steps, &title, work.quiet || phase == WARM_UP);
        let unmeasured = Meter::default();
        let begun = Instant::now();
        let Self { conductor, journal, sources, .. } = self;
        let sent = std::thread::scope(|scope| -> Result<u64> {
            let mut threads = Vec::new();
            let mut counters = Vec::new();
            for Source { sender, sent, delay, .. } in sources.iter_mut() {
                let (plan, sent) = (&plan, &*sent);
                let delay = if phase == MEASURED { &*delay } else { &unmeasured };
                counters.push(sent);
                threads.push(scope.spawn(move || send_all(sender, plan, sent, delay)));
            }
            while threads.iter().any(|thread| !thread.is_finished()) {
                for interval in conductor.listen(LOOK)? {
                    progress.tell(&interval);
                    journal.append(Record::Interval(Box::new(interval)))?;
                }
                let elapsed = begun.elapsed().as_millis() as u64;
                let sent = || counters.iter().map(|sent| sent.load(Ordering::Relaxed)).sum();
                progress.set(if count.is_some() { sent() } else { elapsed });
            }
            Ok(threads.into_iter().map(|thread| thread.join().unwrap_or_default()).sum())
        })?;
        for source in &self.sources {
            // Samples that do not arrive count as lost.
            let _ = source.writer.acknowledged().block_for(work.timeout(&self.qos));
        }
        if !self.qos.reliable && phase == WARM_UP {
            // Samples of the warm-up that are still in flight must not delay the measurement.
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(sent)
    }

    fn outcome(&self, expected: u64, usage: Usage, answers: Vec<Answer>) -> Outcome {
        let (publish, work, place) = (self.publish, &self.publish.work, &self.publish.place);
        let mut processes = vec![ProcessShare {
            role: "publish".to_owned(),
            host: machine::host(),
            pid: std::process::id(),
            receive: name_of(place.receive),
            cores: place.cpu.clone(),
            usage: Some(usage),
            received: None,
            write_failed: self.sources.iter().map(|source| source.sender.failed()).sum(),
            reasons: Reasons::default(),
        }];
        processes.extend(answers.into_iter().filter_map(|answer| match answer {
            Answer::Done(share) => Some(*share),
            _ => None,
        }));
        let received = || processes.iter().filter_map(|process| process.received.as_ref());
        let mut latencies = empty_histogram();
        for one in received() {
            // Both histograms have the same bounds.
            let _ = latencies.add(one.latency.histogram());
        }
        let samples: u64 = received().map(|one| one.samples).sum();
        let bytes: u64 = received().map(|one| one.bytes).sum();
        let seconds = received().map(|one| one.seconds).fold(0.0, f64::max);
        let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let delays = Snapshot::of(self.sources.iter().map(|source| &source.delay));
        let qos = &self.qos;
        let default_label = || format!("throughput {} {qos}", bytes_text(self.size as u64));
        Outcome {
            run: self.conductor.run().to_owned(),
            case: self.case,
            label: work.label.clone().unwrap_or_else(default_label),
            pattern: Pattern::Throughput,
            environment: Environment::here(),
            settings: work.settings(
                place,
                self.size,
                qos.clone(),
                (publish.writers, publish.readers * publish.processes),
            ),
            seconds,
            expected,
            received: samples,
            lost: expected.saturating_sub(samples),
            out_of_order: received().map(|one| one.out_of_order).sum(),
            duplicates: received().map(|one| one.duplicates).sum(),
            write_failed: processes.iter().map(|process| process.write_failed).sum(),
            samples_per_second: per_second(samples as f64),
            megabytes_per_second: per_second(bytes as f64 / 1e6),
            latency_of: if self.same_clock { LatencyKind::OneWay } else { LatencyKind::OneWayTwoClocks },
            latency: Latency::of(&latencies),
            before_sent: received().map(|one| one.before_sent).sum(),
            floor: None,
            send_delay: (delays.samples > 0).then(|| Latency::of(&delays.histogram())),
            discovery_ms: self.conductor.discovery().as_secs_f64() * 1e3,
            processes,
            system_calls: Vec::new(),
        }
    }
}
