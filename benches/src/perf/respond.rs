//! `pong` and `subscribe`: they wait for requests and execute them.

use crate::perf::clock;
use crate::perf::control::{Answer, Ask, Envelope, Setup, Words, data_topic};
use crate::perf::course::{Name, Watch};
use crate::perf::floor::FloorPong;
use crate::perf::intake::Intake;
use crate::perf::load::{Load, LoadView, WriteForm, write_loan};
use crate::perf::losses::Ledgers;
use crate::perf::machine;
use crate::perf::meter::Meter;
use crate::perf::options::Responder;
use crate::perf::participant::{Place, name_of};
use crate::perf::receive::{OnLoad, Receiver};
use crate::perf::record::{Pattern, ProcessShare};
use crate::perf::{Failure, Result, summary};
use dds_core::{DataWriter, DomainParticipant};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Longest wait for a match after the participants have discovered each other.
const MATCH_WITHIN: Duration = Duration::from_secs(10);
/// How long an idle responder sleeps.
const IDLE: Duration = Duration::from_secs(3600);

/// Responds until the process ends.
///
/// # Errors
///
/// Returns an error if the participant cannot be created.
pub fn run(pattern: Pattern, responder: &Responder) -> Result<()> {
    let place = &responder.place;
    place.pin()?;
    let role = match pattern {
        Pattern::Roundtrip => "pong",
        Pattern::Throughput => "subscribe",
    };
    let participant = place.participant(&format!("perf {role}"))?;
    let words = Words::answering(&participant, pattern)?;
    if responder.until_stdin_ends {
        let reader = words.reader.clone();
        std::thread::Builder::new().name("perf-stdin".into()).spawn(move || {
            // End and failure of the input both end the process.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            reader.close();
        })?;
    }
    summary::print(&format!("{role}: waiting in domain {}; end with Ctrl-C", place.domain))?;
    let process = clock::now() ^ u64::from(std::process::id()) << 40;
    let mut desk =
        RequestHandler { pattern, role, place: place.clone(), participant, words, process, session: None, last: None };
    loop {
        let limit = desk.next_tick().map_or(IDLE, |due| Duration::from_nanos(due.saturating_sub(clock::now())));
        match desk.words.hear(limit) {
            Ok(Some(envelope)) => desk.handle(envelope)?,
            Ok(None) => {}
            Err(_) if desk.words.reader.is_closed() => return Ok(()),
            Err(error) => return Err(error),
        }
        desk.tick()?;
    }
}

/// State of a responder.
struct RequestHandler {
    pattern: Pattern,
    role: &'static str,
    place: Place,
    participant: DomainParticipant,
    words: Words,
    process: u64,
    session: Option<Session>,
    /// The last answer, which is sent again for a repeated request.
    last: Option<Envelope<Answer>>,
}

impl RequestHandler {
    fn handle(&mut self, envelope: Envelope<Ask>) -> Result<()> {
        let Envelope { run, step, to, body, .. } = envelope;
        let is_own = self.session.as_ref().is_some_and(|session| session.run == run);
        if !to.is_empty() && !to.contains(&self.process) {
            // The request is for other processes.
            if is_own {
                self.session = None;
            }
            return Ok(());
        }
        if let Some(last) = self.last.as_ref().filter(|last| last.run == run && last.step >= step) {
            return if last.step == step { self.words.say(last) } else { Ok(()) };
        }
        let answer = match body {
            Ask::Setup(_) if !is_own && self.is_busy() => {
                Answer::Refused(format!("a `perf {}` is busy with another measurement; try again later", self.role))
            }
            Ask::Setup(setup) => self.set_up(&run, &setup).unwrap_or_else(|error| {
                Answer::Refused(format!("`perf {}` on {}: {error}", self.role, machine::host()))
            }),
            Ask::Leave => {
                if is_own {
                    self.session = None;
                }
                return Ok(());
            }
            ask if is_own => self.go_on(&ask).unwrap_or_else(|error| Answer::Refused(error.to_string())),
            _ => return Ok(()),
        };
        self.answer(run, step, answer)
    }

    fn answer(&mut self, run: String, step: u32, body: Answer) -> Result<()> {
        let envelope = Envelope { run, step, process: self.process, to: Vec::new(), body };
        self.words.say(&envelope)?;
        self.last = Some(envelope);
        Ok(())
    }

    /// Whether a conductor that is still alive uses this responder.
    fn is_busy(&self) -> bool {
        let asking = self.words.reader.subscription_matched().current_count;
        self.session.is_some() && asking > 1
    }

    fn set_up(&mut self, run: &str, setup: &Setup) -> Result<Answer> {
        // Delete the old session first: it may have the same name.
        self.session = None;
        let session = Session::new(self.pattern, run, setup, &self.place, &self.participant)?;
        let floor_port = session.floor.as_ref().map(FloorPong::port);
        let same_clock = setup.boot == machine::boot();
        self.session = Some(session);
        Ok(Answer::Joined { floor_port, same_clock })
    }

    fn go_on(&mut self, ask: &Ask) -> Result<Answer> {
        let Some(session) = &mut self.session else { return Err(Failure::new("nothing is set up")) };
        match ask {
            Ask::Match => session.wait_until_matched().map(|()| Answer::Matched),
            Ask::Begin => {
                let name = Name { run: session.run.clone(), case: session.setup.case, process: self.process };
                let length = Duration::from_millis(session.setup.interval_ms);
                session.ledgers = Some(Ledgers::begin(&session.receivers));
                session.watch = Some(Watch::begin(name, session.meters.clone(), &self.participant, length));
                Ok(Answer::Begun)
            }
            Ask::End { expected, timeout_ms } => {
                let Some(watch) = &mut session.watch else { return Err(Failure::new("nothing has begun")) };
                if self.pattern == Pattern::Throughput {
                    watch.drain(*expected, Duration::from_millis(*timeout_ms));
                }
                let (received, usage, rest) = watch.end();
                session.watch = None;
                let share = ProcessShare {
                    role: self.role.to_owned(),
                    host: machine::host(),
                    pid: std::process::id(),
                    receive: name_of(self.place.receive),
                    cores: self.place.cpu.clone(),
                    usage: (!session.setup.floor).then_some(usage),
                    received: (self.pattern == Pattern::Throughput).then_some(received),
                    write_failed: session.write_failed.load(Ordering::Relaxed),
                    reasons: session.ledgers.take().map(Ledgers::end).unwrap_or_default(),
                };
                if let (Some(interval), Pattern::Throughput) = (rest, self.pattern) {
                    self.tell(Answer::Interval(Box::new(interval)))?;
                }
                Ok(Answer::Done(Box::new(share)))
            }
            Ask::Setup(_) | Ask::Leave => Err(Failure::new("this request is not part of a session")),
        }
    }

    /// End of the current interval. A `pong` has none, because it does not measure.
    fn next_tick(&self) -> Option<u64> {
        let watch = self.session.as_ref()?.watch.as_ref()?;
        (self.pattern == Pattern::Throughput).then(|| watch.due())
    }

    /// Sends an interval that has ended.
    fn tick(&mut self) -> Result<()> {
        if self.next_tick().is_none() {
            return Ok(());
        }
        let watch = self.session.as_mut().and_then(|session| session.watch.as_mut());
        match watch.and_then(Watch::tick) {
            Some(interval) => self.tell(Answer::Interval(Box::new(interval))),
            None => Ok(()),
        }
    }

    /// Sends a message without a request.
    fn tell(&self, body: Answer) -> Result<()> {
        let run = self.session.as_ref().map_or_else(String::new, |session| session.run.clone());
        self.words.say(&Envelope { run, step: 0, process: self.process, to: Vec::new(), body })
    }
}

/// Entities of one setup. The receivers are dropped first, because their handlers use the other fields.
struct Session {
    receivers: Vec<Receiver>,
    writers: Vec<DataWriter<Load>>,
    floor: Option<FloorPong>,
    meters: Vec<Arc<Meter>>,
    write_failed: Arc<AtomicU64>,
    watch: Option<Watch>,
    ledgers: Option<Ledgers>,
    run: String,
    setup: Setup,
}

impl Session {
    fn new(pattern: Pattern, run: &str, setup: &Setup, place: &Place, participant: &DomainParticipant) -> Result<Self> {
        let floor = setup.floor.then(|| FloorPong::open(setup.size)).transpose()?;
        let mut session = Self {
            receivers: Vec::new(),
            writers: Vec::new(),
            floor,
            meters: Vec::new(),
            write_failed: Arc::default(),
            watch: None,
            ledgers: None,
            run: run.to_owned(),
            setup: setup.clone(),
        };
        let topic = |what, number| data_topic(run, setup.case, what, number);
        let clock_offset = match setup.boot == machine::boot() {
            true => 0,
            false => clock::to_time_of_day() - setup.to_time_of_day,
        };
        for number in 0..setup.topics {
            let (heard, qos) = (topic("there", number), setup.qos.reader());
            match pattern {
                Pattern::Roundtrip => {
                    let said = topic("back", number);
                    let writer = participant.writer_builder::<Load>(&said).qos(setup.qos.writer()).build()?;
                    let failed = Arc::clone(&session.write_failed);
                    let echo = Echo { writer: writer.clone(), form: setup.write, failed };
                    session.writers.push(writer);
                    session.receivers.push(Receiver::new(participant, &heard, qos, place.receive, echo)?);
                }
                Pattern::Throughput => {
                    for _ in 0..setup.readers {
                        let meter = Arc::new(Meter::default());
                        let writers = setup.topics * setup.writers;
                        let intake = Intake::new(Arc::clone(&meter), writers, clock_offset);
                        session.meters.push(meter);
                        let receiver = Receiver::new(participant, &heard, qos.clone(), place.receive, intake)?;
                        session.receivers.push(receiver);
                    }
                }
            }
        }
        Ok(session)
    }

    fn wait_until_matched(&self) -> Result<()> {
        for receiver in &self.receivers {
            receiver.reader().wait_for_writers(self.setup.writers as usize).block_for(MATCH_WITHIN)?;
        }
        for writer in &self.writers {
            writer.wait_for_readers(1).block_for(MATCH_WITHIN)?;
        }
        Ok(())
    }
}

/// Sends each sample back.
struct Echo {
    writer: DataWriter<Load>,
    form: WriteForm,
    failed: Arc<AtomicU64>,
}

impl OnLoad for Echo {
    fn on_load(&mut self, load: &LoadView<'_>, _now: u64) {
        let written = match self.form {
            WriteForm::Value => self.writer.write_view(load),
            WriteForm::Loan => write_loan(&self.writer, load),
        };
        if written.is_err() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }
}
