//! How the two sides speak with each other: asks of the one that runs the measurement, answers of the others.
//!
//! Every ask is repeated until everybody has answered it, and every answer names the ask; so neither side has to know when the other one
//! has come. What is repeated is answered again, not done again.

use crate::perf::participant::Place;
use crate::perf::qos::Qos;
use crate::perf::record::{Interval, Pattern, ProcessShare};
use crate::perf::{Failure, Result};
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, WaitError, WaitErrorKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// JSON between the two sides.
#[derive(Debug, DdsType)]
pub struct Word {
    text: String,
}

/// Around every word.
#[derive(Debug, Serialize, Deserialize)]
pub struct Envelope<T> {
    /// The [`Outcome::run`](crate::perf::record::Outcome::run) that is spoken of.
    pub run: String,
    /// The number of the ask.
    pub step: u32,
    /// Of an answer: who gives it. Of an ask: unused.
    pub process: u64,
    /// Of an ask: who is meant; empty: everybody.
    pub to: Vec<u64>,
    /// What it says.
    pub body: T,
}

/// What the responders shall do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Ask {
    /// Make the endpoints.
    Setup(Setup),
    /// Wait until they match.
    Match,
    /// Begin to measure.
    Begin,
    /// The measurement is over.
    End {
        /// How many samples the process should have received.
        expected: u64,
        /// After how long without another one the rest is lost.
        timeout_ms: u64,
    },
    /// Take everything down again. Not answered.
    Leave,
}

/// Everything that a responder has to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Setup {
    /// Names the topics, together with the run.
    pub case: u32,
    /// Bytes of a sample.
    pub size: usize,
    /// Of the topics.
    pub qos: Qos,
    /// How many.
    pub topics: u32,
    /// Of each topic, on the asking side.
    pub writers: u32,
    /// Of each topic, in each responding process.
    pub readers: u32,
    /// Names the asking side's monotonic clock.
    pub boot: String,
    /// What makes the time of day of it.
    pub to_time_of_day: i64,
    /// Whether the raw sockets are wanted as well.
    pub floor: bool,
    /// How long the intervals are.
    pub interval_ms: u64,
}

/// What the responders say.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Answer {
    /// To a setup.
    Joined {
        /// Of the raw socket, if it is wanted.
        floor_port: Option<u16>,
        /// Whether it has the same monotonic clock.
        same_clock: bool,
    },
    /// The endpoints match.
    Matched,
    /// From now on it is measured.
    Begun,
    /// In between, unasked.
    Interval(Box<Interval>),
    /// At the end.
    Done(Box<ProcessShare>),
    /// It cannot be done.
    Refused(String),
}

/// The name of a topic that carries words.
fn topic_of(pattern: Pattern, what: &str) -> String {
    let pattern = match pattern {
        Pattern::Roundtrip => "roundtrip",
        Pattern::Throughput => "throughput",
    };
    format!("perf/{pattern}/{what}")
}

/// The name of a topic that is measured.
#[must_use]
pub fn data_topic(run: &str, case: u32, what: &str, number: u32) -> String {
    format!("perf/{run}/{case}/{what}/{number}")
}

/// Both ends of the words, as asking or answering side.
pub struct Words {
    /// To the other side.
    pub writer: DataWriter<Word>,
    /// From it.
    pub reader: DataReader<Word>,
}

impl Words {
    /// `says` and `hears` are the halves of the conversation.
    ///
    /// # Errors
    ///
    /// If the endpoints cannot be made.
    fn new(participant: &DomainParticipant, pattern: Pattern, says: &str, hears: &str) -> Result<Self> {
        let (writer, reader) = (topic_of(pattern, says), topic_of(pattern, hears));
        let reader = participant.reader_builder(&reader).qos(DataReaderQos::default().reliable().keep_all());
        let writer = participant.writer_builder(&writer).qos(DataWriterQos::default().reliable().keep_all());
        Ok(Self { writer: writer.build()?, reader: reader.build()? })
    }

    /// Of a responder.
    ///
    /// # Errors
    ///
    /// If the endpoints cannot be made.
    pub fn answering(participant: &DomainParticipant, pattern: Pattern) -> Result<Self> {
        Self::new(participant, pattern, "answer", "ask")
    }

    /// Says something.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn say<T: Serialize>(&self, envelope: &Envelope<T>) -> Result<()> {
        Ok(self.writer.write(&Word { text: serde_json::to_string(envelope)? })?)
    }

    /// Waits for the next word that can be understood; none within `limit`.
    ///
    /// # Errors
    ///
    /// If the reader has been closed.
    pub fn hear<T: DeserializeOwned>(&self, limit: Duration) -> Result<Option<Envelope<T>>> {
        match self.reader.next_sample().block_for(limit) {
            Ok(sample) => Ok(sample.data.and_then(|word| serde_json::from_str(&word.text).ok())),
            Err(error) if is_timeout(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether it is only that nothing has happened.
#[must_use]
pub fn is_timeout(error: &WaitError) -> bool {
    matches!(error.kind(), WaitErrorKind::Timeout { .. })
}

/// An ask may get lost together with the answer, if somebody comes just then.
const REPEAT_AFTER: Duration = Duration::from_millis(300);

/// The side that runs the measurement.
pub struct Conductor {
    participant: DomainParticipant,
    words: Words,
    run: String,
    step: u32,
    members: Vec<u64>,
    processes: usize,
    wait: Duration,
    pattern: Pattern,
    intervals: Vec<Interval>,
    discovery: Duration,
}

impl Conductor {
    /// Joins the domain and waits until so many responders are there.
    ///
    /// # Errors
    ///
    /// If there are none, with what to do.
    pub fn meet(pattern: Pattern, place: &Place, processes: u32, wait: Duration) -> Result<Self> {
        let started = Instant::now();
        let participant = place.participant("perf")?;
        let words = Words::new(&participant, pattern, "ask", "answer")?;
        let processes = processes as usize;
        let matched = words.writer.wait_for_readers(processes).block_for(wait);
        let matched = matched.and_then(|()| words.reader.wait_for_writers(processes).block_for(wait));
        let discovery = started.elapsed();
        let micros = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_micros();
        let run = format!("{micros:x}-{:x}", std::process::id());
        let (members, intervals) = (Vec::new(), Vec::new());
        let this = Self { participant, words, run, step: 0, members, processes, wait, pattern, intervals, discovery };
        match matched {
            Ok(()) => Ok(this),
            Err(error) if is_timeout(&error) => Err(this.nobody(place)),
            Err(error) => Err(error.into()),
        }
    }

    fn nobody(&self, place: &Place) -> Box<dyn std::error::Error + Send + Sync> {
        let command = match self.pattern {
            Pattern::Roundtrip => "perf pong",
            Pattern::Throughput => "perf subscribe",
        };
        let found = self.words.writer.publication_matched().map_or(0, |status| status.current_count);
        let reports = self.words.writer.explain_matches();
        let why: String = reports.iter().map(|report| format!("\n{report}")).collect();
        let others = self.participant.discovered_participants().len();
        Failure::new(format!(
            "{found} of {} `{command}` found in domain {} within {:?} ({others} other participants are known). Start \
             `{command}` with the same --domain and --domain-tag; where multicast does not reach, give both --peers.{why}",
            self.processes, place.domain, self.wait
        ))
    }

    /// The participant.
    #[must_use]
    pub fn participant(&self) -> &DomainParticipant {
        &self.participant
    }

    /// Names this run.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// From the start of the participant until everybody was found.
    #[must_use]
    pub fn discovery(&self) -> Duration {
        self.discovery
    }

    /// Asks everybody who takes part, and waits for all answers. A setup makes those take part who answer first.
    ///
    /// # Errors
    ///
    /// If somebody refuses, or does not answer.
    pub fn ask(&mut self, ask: &Ask) -> Result<Vec<Answer>> {
        self.step += 1;
        let is_setup = matches!(ask, Ask::Setup(_));
        let limit = match ask {
            Ask::End { timeout_ms, .. } => self.wait + Duration::from_millis(*timeout_ms),
            _ => self.wait,
        };
        let deadline = Instant::now() + limit;
        let mut repeat = Instant::now();
        let mut answers = BTreeMap::new();
        while answers.len() < self.processes {
            let now = Instant::now();
            if now >= deadline {
                let missing = self.processes - answers.len();
                return Err(Failure::new(format!("{missing} of {} processes have not answered", self.processes)));
            }
            if now >= repeat {
                self.words.say(&self.envelope(ask.clone()))?;
                repeat = now + REPEAT_AFTER;
            }
            let Some(envelope) = self.words.hear(deadline.min(repeat).saturating_duration_since(now))? else {
                continue;
            };
            let may_answer = is_setup || self.members.contains(&envelope.process);
            if let Some(answer) = self.sort(envelope, may_answer) {
                answers.insert(answer.0, answer.1);
            }
        }
        if is_setup {
            self.members = answers.keys().copied().collect();
        }
        let refused = answers.values().find_map(|answer| match answer {
            Answer::Refused(why) => Some(why.clone()),
            _ => None,
        });
        refused.map_or_else(|| Ok(answers.into_values().collect()), |why| Err(Failure::new(why)))
    }

    /// Sleeps for so long, or until an interval is told of; all that have been told of.
    ///
    /// # Errors
    ///
    /// If the reader has been closed.
    pub fn listen(&mut self, limit: Duration) -> Result<Vec<Interval>> {
        if let Some(envelope) = self.words.hear(limit)? {
            self.sort(envelope, false);
        }
        Ok(std::mem::take(&mut self.intervals))
    }

    /// Keeps intervals; returns answers to what was asked last.
    fn sort(&mut self, envelope: Envelope<Answer>, may_answer: bool) -> Option<(u64, Answer)> {
        if envelope.run != self.run {
            return None;
        }
        if let Answer::Interval(interval) = envelope.body {
            self.intervals.push(*interval);
            return None;
        }
        (may_answer && envelope.step == self.step).then_some((envelope.process, envelope.body))
    }

    /// Sends everybody home.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn leave(&mut self) -> Result<()> {
        self.step += 1;
        self.words.say(&self.envelope(Ask::Leave))?;
        // Whoever does not hear it any more takes it down when the next one asks.
        let _ = self.words.writer.acknowledged().block_for(Duration::from_millis(500));
        Ok(())
    }

    fn envelope(&self, body: Ask) -> Envelope<Ask> {
        let to = if matches!(body, Ask::Setup(_)) { Vec::new() } else { self.members.clone() };
        Envelope { run: self.run.clone(), step: self.step, process: 0, to, body }
    }
}
