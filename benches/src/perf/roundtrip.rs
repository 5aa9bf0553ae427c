//! `ping`: round trips, one after the other or at a rate.
//!
//! Without a rate, the thread that receives a pong sends the next ping. With an inline listener it is the receive
//! thread. So the program adds no switch of threads. Only the thread that holds the `Baton` may send.

use crate::perf::clock;
use crate::perf::control::{Answer, Ask, Conductor, Setup, data_topic};
use crate::perf::course::{Name, Progress, Watch};
use crate::perf::floor::FloorPing;
use crate::perf::intake::Intake;
use crate::perf::load::{LOAD_MIN, Load, LoadView, Sender, is_measured, phase_of, sequence};
use crate::perf::losses::Ledgers;
use crate::perf::machine::{self, Environment};
use crate::perf::meter::{Meter, Snapshot};
use crate::perf::options::Ping;
use crate::perf::participant::name_of;
use crate::perf::qos::Qos;
use crate::perf::receive::{OnLoad, Receiver};
use crate::perf::record::{Interval, Journal, Latency, LatencyKind, Outcome, Pattern, ProcessShare, Received, Record};
use crate::perf::sending::{Plan, send_all};
use crate::perf::{Failure, Result, summary};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Length of a turn of the DDS or of the floor: shorter than changes of the machine's load.
const TURN: Duration = Duration::from_millis(100);
/// Period of checks for lost round trips and for the end.
const LOOK: Duration = Duration::from_millis(50);
/// The phases of a session.
const WARM_UP: u64 = 0;
const MEASURED: u64 = 1;

/// Measures each size and passes each outcome to `finish` before it is printed.
///
/// # Errors
///
/// Returns an error if there is no `pong`, or if the measurement fails.
pub fn run(ping: &Ping, finish: &mut dyn FnMut(&mut Outcome) -> Result<()>) -> Result<()> {
    ping.work.check().map_err(Failure::new)?;
    ping.place.pin()?;
    let mut journal = Journal::open(ping.work.json.as_deref())?;
    let mut conductor = Conductor::meet(Pattern::Roundtrip, &ping.place, 1, ping.work.wait.0)?;
    for (case, size) in (0..).zip(&ping.work.size.0) {
        let qos = ping.qos.resolve(ping.default_history(), *size);
        let mut session = Session::new(&mut conductor, &mut journal, ping, (case, *size), qos)?;
        let mut outcome = session.measure()?;
        drop(session);
        finish(&mut outcome)?;
        if !ping.work.quiet {
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
    ping: &'a Ping,
    case: u32,
    size: usize,
    qos: Qos,
    /// Dropped before the senders, because the handlers use their writers.
    receivers: Vec<Receiver>,
    loops: Vec<Loop>,
    floor: Option<(FloorPing, Meter)>,
}

/// One topic there and one back.
struct Loop {
    /// The sender of the main thread. The handler has its own.
    sender: Sender,
    baton: Arc<Baton>,
    meter: Arc<Meter>,
    delay: Arc<Meter>,
    /// The sequence in flight at the last check, and the time since it is in flight.
    looked: (u64, Instant),
}

impl<'a> Session<'a> {
    fn new(
        conductor: &'a mut Conductor,
        journal: &'a mut Journal,
        ping: &'a Ping,
        (case, size): (u32, usize),
        qos: Qos,
    ) -> Result<Self> {
        let mut session =
            Self { conductor, journal, ping, case, size, qos, receivers: Vec::new(), loops: Vec::new(), floor: None };
        let setup = Setup {
            case,
            size,
            qos: session.qos.clone(),
            write: ping.work.write,
            topics: ping.work.topics,
            writers: 1,
            readers: 1,
            boot: machine::boot(),
            to_time_of_day: clock::to_time_of_day(),
            floor: ping.floor,
            interval_ms: u64::try_from(ping.work.interval.0.as_millis()).unwrap_or(u64::MAX),
        };
        let answers = session.conductor.ask(&Ask::Setup(setup))?;
        if let Some(Answer::Joined { floor_port: Some(port), .. }) = answers.first() {
            let floor = FloorPing::connect(&ping.floor_host, *port, size, ping.floor_timeout())?;
            session.floor = Some((floor, Meter::default()));
        }
        for number in 0..ping.work.topics {
            session.add_loop(number)?;
        }
        session.conductor.ask(&Ask::Match)?;
        Ok(session)
    }

    fn add_loop(&mut self, number: u32) -> Result<()> {
        let (work, participant) = (&self.ping.work, self.conductor.participant());
        let topic = |what| data_topic(self.conductor.run(), self.case, what, number);
        let writer = participant.writer_builder::<Load>(&topic("there")).qos(self.qos.writer()).build()?;
        let meter = Arc::new(Meter::default());
        let baton = Arc::new(Baton::default());
        let sender = || Sender::new(writer.clone(), number, self.size, work.write);
        let (back, qos, mode) = (topic("back"), self.qos.reader(), self.ping.place.receive);
        let receiver = match work.rate {
            None => {
                let returner = Returner { baton: Arc::clone(&baton), meter: Arc::clone(&meter), sender: sender() };
                Receiver::new(participant, &back, qos, mode, returner)?
            }
            Some(_) => {
                let intake = Intake::new(Arc::clone(&meter), work.topics, 0);
                Receiver::new(participant, &back, qos, mode, intake)?
            }
        };
        writer.wait_for_readers(1).block_for(work.wait.0)?;
        receiver.reader().wait_for_writers(1).block_for(work.wait.0)?;
        let (sender, looked) = (sender(), (IDLE, Instant::now()));
        self.receivers.push(receiver);
        self.loops.push(Loop { sender, baton, meter, delay: Arc::default(), looked });
        Ok(())
    }

    fn measure(&mut self) -> Result<Outcome> {
        let work = &self.ping.work;
        let (duration, warm_up) = (work.duration.0, work.warm_up.0);
        self.phase(WARM_UP, warm_up, None, None)?;
        self.conductor.ask(&Ask::Begin)?;
        let name =
            Name { run: self.conductor.run().to_owned(), case: self.case, process: u64::from(std::process::id()) };
        let meters = self.loops.iter().map(|one| Arc::clone(&one.meter)).collect();
        let watch = Watch::begin(name, meters, self.conductor.participant(), work.interval.0);
        let mut course = Course::new(watch, self.ping, self.size);
        let ledgers = Ledgers::begin(&self.receivers);
        let sent = self.phase(MEASURED, duration, work.count, Some(&mut course))?;
        let (received, usage, rest) = course.watch.end();
        let reasons = ledgers.end();
        rest.map_or(Ok(()), |interval| self.journal.append(Record::Interval(Box::new(interval))))?;
        let timeout_ms = u64::try_from(work.timeout(&self.qos).as_millis()).unwrap_or(u64::MAX);
        let answers = self.conductor.ask(&Ask::End { expected: sent, timeout_ms })?;
        let floor = self.floor.take().map(|(floor, meter)| {
            floor.end();
            Latency::of(&Snapshot::of([&meter]).histogram())
        });
        let own = ProcessShare {
            role: "ping".to_owned(),
            host: machine::host(),
            pid: std::process::id(),
            receive: name_of(self.ping.place.receive),
            cores: self.ping.place.cpu.clone(),
            usage: (!self.ping.floor).then_some(usage),
            received: None,
            write_failed: self.loops.iter().map(|one| one.sender.failed()).sum(),
            reasons,
        };
        Ok(self.outcome(sent, received, floor, own, answers))
    }

    /// Runs a phase by duration or count. Returns the number of round trips.
    fn phase(
        &mut self,
        phase: u64,
        duration: Duration,
        count: Option<u64>,
        course: Option<&mut Course>,
    ) -> Result<u64> {
        match self.ping.work.rate {
            None => self.closed_loop(phase, duration, count, course),
            Some(rate) => self.open_loop(phase, duration, count, rate.0, course),
        }
    }

    /// Sends as fast as possible.
    fn closed_loop(
        &mut self,
        phase: u64,
        duration: Duration,
        count: Option<u64>,
        mut course: Option<&mut Course>,
    ) -> Result<u64> {
        let limit = count.map_or(u64::MAX, |count| count.div_ceil(self.loops.len() as u64));
        let begun = Instant::now();
        let is_over = |loops: &[Loop]| match count {
            None => begun.elapsed() >= duration,
            Some(_) => loops.iter().all(|one| one.baton.is_done()),
        };
        for one in &self.loops {
            one.baton.begin(phase, limit);
        }
        while !is_over(&self.loops) {
            let turn = if self.floor.is_some() { TURN } else { Duration::MAX };
            let left = if count.is_none() { duration.saturating_sub(begun.elapsed()) } else { Duration::MAX };
            self.turn(turn.min(left), &is_over, course.as_deref_mut(), begun)?;
            if let Some((floor, meter)) = &mut self.floor {
                let unmeasured = Meter::default();
                let meter = if is_measured(phase) { meter } else { &unmeasured };
                floor.measure(clock::now() + TURN.as_nanos() as u64, meter)?;
            }
        }
        Ok(self.loops.iter().map(|one| one.baton.number.load(Ordering::Relaxed)).sum())
    }

    /// Runs round trips for `length`.
    fn turn(
        &mut self,
        length: Duration,
        is_over: &dyn Fn(&[Loop]) -> bool,
        mut course: Option<&mut Course>,
        begun: Instant,
    ) -> Result<()> {
        let turned = Instant::now();
        for one in &mut self.loops {
            one.start();
        }
        while turned.elapsed() < length && !is_over(&self.loops) {
            self.conductor.listen(LOOK.min(length.saturating_sub(turned.elapsed())))?;
            for one in &mut self.loops {
                one.give_up_after(self.ping.work.timeout(&self.qos));
            }
            if let Some(course) = &mut course {
                course.tick(self.journal, begun)?;
            }
        }
        let timeout = self.ping.work.timeout(&self.qos);
        for one in &mut self.loops {
            one.stop(timeout);
        }
        Ok(())
    }

    /// Sends at a rate.
    fn open_loop(
        &mut self,
        phase: u64,
        duration: Duration,
        count: Option<u64>,
        rate: f64,
        mut course: Option<&mut Course>,
    ) -> Result<u64> {
        if duration.is_zero() && count.is_none() {
            return Ok(0);
        }
        let topics = self.loops.len() as u64;
        let begin = clock::now() + 1_000_000;
        let end = if count.is_some() { u64::MAX } else { begin.saturating_add(duration.as_nanos() as u64) };
        let count = count.map_or(u64::MAX, |count| count.div_ceil(topics));
        let plan = Plan { phase, rate: Some(rate / topics as f64), pace: self.ping.work.pace, begin, end, count };
        let begun = Instant::now();
        let Self { conductor, journal, loops, .. } = self;
        let unmeasured = Meter::default();
        let sent = std::thread::scope(|scope| -> Result<u64> {
            let threads: Vec<_> = loops
                .iter_mut()
                .map(|one| {
                    let delay = if is_measured(phase) { &*one.delay } else { &unmeasured };
                    let (sender, plan, sent) = (&mut one.sender, &plan, &one.baton.number);
                    scope.spawn(move || send_all(sender, plan, sent, delay))
                })
                .collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                conductor.listen(LOOK)?;
                if let Some(course) = &mut course {
                    course.tick(journal, begun)?;
                }
            }
            Ok(threads.into_iter().map(|thread| thread.join().unwrap_or_default()).sum())
        })?;
        match course {
            Some(course) => course.watch.drain(sent, self.ping.work.timeout(&self.qos)),
            // Samples of the warm-up that are still in flight must not disturb the measurement.
            None => std::thread::sleep(Duration::from_millis(20)),
        }
        Ok(sent)
    }

    fn outcome(
        &self,
        sent: u64,
        received: Received,
        floor: Option<Latency>,
        own: ProcessShare,
        answers: Vec<Answer>,
    ) -> Outcome {
        let (ping, work, place) = (self.ping, &self.ping.work, &self.ping.place);
        let mut processes = vec![own];
        processes.extend(answers.into_iter().filter_map(|answer| match answer {
            Answer::Done(share) => Some(*share),
            _ => None,
        }));
        let delays = Snapshot::of(self.loops.iter().map(|one| &*one.delay));
        // With turns of the floor, the DDS has only half of the time.
        let seconds = received.latency.mean * received.samples as f64 / 1e9 / f64::from(work.topics);
        let seconds = if ping.floor { seconds } else { received.seconds };
        let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let qos = &self.qos;
        let default_label = || format!("roundtrip {} {qos}", crate::perf::quantity::bytes_text(self.size as u64));
        Outcome {
            run: self.conductor.run().to_owned(),
            case: self.case,
            label: work.label.clone().unwrap_or_else(default_label),
            pattern: Pattern::Roundtrip,
            environment: Environment::here(),
            settings: work.settings(place, self.size, qos.clone(), (1, 1)),
            seconds,
            expected: sent,
            received: received.samples,
            lost: sent.saturating_sub(received.samples),
            out_of_order: received.out_of_order,
            duplicates: received.duplicates,
            write_failed: processes.iter().map(|process| process.write_failed).sum(),
            samples_per_second: per_second(received.samples as f64),
            megabytes_per_second: per_second(received.bytes as f64 / 1e6),
            latency_of: LatencyKind::Roundtrip,
            latency: received.latency,
            before_sent: received.before_sent,
            floor,
            send_delay: (delays.samples > 0).then(|| Latency::of(&delays.histogram())),
            discovery_ms: self.conductor.discovery().as_secs_f64() * 1e3,
            processes,
            system_calls: Vec::new(),
        }
    }
}

/// The intervals of the measurement, and the progress bar.
struct Course {
    watch: Watch,
    progress: Progress,
    by_count: bool,
}

impl Course {
    fn new(watch: Watch, ping: &Ping, size: usize) -> Self {
        let work = &ping.work;
        let steps = work.count.unwrap_or(work.duration.0.as_millis() as u64);
        let title = format!("{} B", crate::perf::quantity::count_text(size as u64));
        Self { watch, progress: Progress::new(steps, &title, work.quiet), by_count: work.count.is_some() }
    }

    fn tick(&mut self, journal: &mut Journal, begun: Instant) -> Result<()> {
        let elapsed = begun.elapsed().as_millis() as u64;
        self.progress.set(if self.by_count { self.watch.samples() } else { elapsed });
        match self.watch.tick() {
            Some(interval) => self.note(journal, interval),
            None => Ok(()),
        }
    }

    fn note(&self, journal: &mut Journal, interval: Interval) -> Result<()> {
        self.progress.tell(&interval);
        journal.append(Record::Interval(Box::new(interval)))
    }
}

/// No ping is in flight.
const IDLE: u64 = u64::MAX;
/// A thread is about to send.
const HELD: u64 = u64::MAX - 1;

/// The right to send the next ping. The thread that takes the sequence in flight holds it.
#[derive(Debug)]
struct Baton {
    /// The sequence in flight, [`IDLE`] or [`HELD`].
    in_flight: AtomicU64,
    phase: AtomicU64,
    /// The number of the next ping.
    number: AtomicU64,
    limit: AtomicU64,
    runs: AtomicBool,
}

impl Default for Baton {
    fn default() -> Self {
        Self {
            in_flight: AtomicU64::new(IDLE),
            phase: AtomicU64::new(WARM_UP),
            number: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            runs: AtomicBool::new(false),
        }
    }
}

impl Baton {
    /// Starts a new phase. No ping is in flight.
    fn begin(&self, phase: u64, limit: u64) {
        self.phase.store(phase, Ordering::Relaxed);
        self.number.store(0, Ordering::Relaxed);
        self.limit.store(limit, Ordering::Relaxed);
    }

    fn take(&self, from: u64) -> bool {
        self.in_flight.compare_exchange(from, HELD, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    fn is_idle(&self) -> bool {
        self.in_flight.load(Ordering::Acquire) == IDLE
    }

    /// Whether all pings of the phase have returned or count as lost.
    fn is_done(&self) -> bool {
        self.is_idle() && self.number.load(Ordering::Relaxed) >= self.limit.load(Ordering::Relaxed)
    }

    /// Sends the next ping, unless the phase is complete. The caller must hold the baton.
    fn pass(&self, sender: &mut Sender) {
        let number = self.number.load(Ordering::Relaxed);
        if !self.runs.load(Ordering::Acquire) || number >= self.limit.load(Ordering::Relaxed) {
            self.in_flight.store(IDLE, Ordering::Release);
            return;
        }
        self.number.store(number + 1, Ordering::Relaxed);
        let sequence = sequence(self.phase.load(Ordering::Relaxed), number);
        self.in_flight.store(sequence, Ordering::Release);
        // The answer may arrive before this returns.
        sender.send(sequence, clock::now());
    }
}

impl Loop {
    fn start(&mut self) {
        self.baton.runs.store(true, Ordering::Release);
        if self.baton.take(IDLE) {
            self.baton.pass(&mut self.sender);
        }
        self.looked = (IDLE, Instant::now());
    }

    /// Counts a ping as lost after `timeout` in flight.
    fn give_up_after(&mut self, timeout: Duration) {
        let in_flight = self.baton.in_flight.load(Ordering::Acquire);
        if in_flight != self.looked.0 {
            self.looked = (in_flight, Instant::now());
        } else if in_flight < HELD && self.looked.1.elapsed() >= timeout && self.baton.take(in_flight) {
            self.baton.pass(&mut self.sender);
        }
    }

    /// Stops sending and waits for the ping in flight.
    fn stop(&mut self, timeout: Duration) {
        self.baton.runs.store(false, Ordering::Release);
        let since = Instant::now();
        while !self.baton.is_idle() {
            std::thread::sleep(Duration::from_micros(20));
            let in_flight = self.baton.in_flight.load(Ordering::Acquire);
            if since.elapsed() >= timeout && in_flight < HELD && self.baton.take(in_flight) {
                self.baton.pass(&mut self.sender);
            }
        }
    }
}

/// Receives pongs and sends the next ping.
struct Returner {
    baton: Arc<Baton>,
    meter: Arc<Meter>,
    sender: Sender,
}

impl OnLoad for Returner {
    fn on_load(&mut self, load: &LoadView<'_>, now: u64) {
        if !self.baton.take(load.sequence) {
            // The ping counts as lost already, or the pong is a repetition.
            if is_measured(phase_of(load.sequence)) {
                self.meter.note_repeated();
            }
            return;
        }
        if is_measured(phase_of(load.sequence)) {
            self.meter.record(now, now.saturating_sub(load.due) as i64, LOAD_MIN + load.bytes.len());
        }
        self.baton.pass(&mut self.sender);
    }
}
