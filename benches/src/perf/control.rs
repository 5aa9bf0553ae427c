//! Control messages between the two sides: requests of the conductor, answers of the responders.
//!
//! The conductor repeats each request until all responders have answered, and each answer names its request. So neither
//! side must know when the other one starts. A responder answers a repeated request again without repeating the work.

use crate::perf::load::WriteForm;
use crate::perf::participant::Place;
use crate::perf::qos::Qos;
use crate::perf::record::{Interval, Pattern, ProcessShare};
use crate::perf::{Failure, Result};
use dds_core::error::{WaitError, WaitErrorKind};
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// JSON between the two sides.
#[derive(Debug, DdsType)]
pub struct Word {
    text: String,
}

/// Envelope of each control message.
#[derive(Debug, Serialize, Deserialize)]
pub struct Envelope<T> {
    /// The [`Outcome::run`](crate::perf::record::Outcome::run) that the message belongs to.
    pub run: String,
    /// Number of the request.
    pub step: u32,
    /// Process that answers. Unused in a request.
    pub process: u64,
    /// Processes that a request is for. Empty: all.
    pub to: Vec<u64>,
    /// The request or the answer.
    pub body: T,
}

/// A request to the responders.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Ask {
    /// Create the endpoints.
    Setup(Setup),
    /// Wait until they match.
    Match,
    /// Start the measurement.
    Begin,
    /// The measurement is over.
    End {
        /// Number of samples that the process should receive.
        expected: u64,
        /// Time without a sample after which the rest counts as lost.
        timeout_ms: u64,
    },
    /// Delete the endpoints. Responders do not answer this.
    Leave,
}

/// Settings of a responder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Setup {
    /// Part of the topic names, together with the run.
    pub case: u32,
    /// Bytes of a sample.
    pub size: usize,
    /// QoS of the topics.
    pub qos: Qos,
    /// How both sides write.
    pub write: WriteForm,
    /// Number of topics.
    pub topics: u32,
    /// Writers of each topic, on the side of the conductor.
    pub writers: u32,
    /// Readers of each topic, in each responding process.
    pub readers: u32,
    /// Identifies the monotonic clock of the conductor.
    pub boot: String,
    /// Difference of that clock to the time of day.
    pub to_time_of_day: i64,
    /// Whether raw sockets are measured too.
    pub floor: bool,
    /// Length of the intervals.
    pub interval_ms: u64,
}

/// An answer of a responder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Answer {
    /// Answer to a setup.
    Joined {
        /// Port of the raw socket, if it is measured.
        floor_port: Option<u16>,
        /// Whether both sides have the same monotonic clock.
        same_clock: bool,
    },
    /// The endpoints match.
    Matched,
    /// The measurement has started.
    Begun,
    /// An interval has ended. No request precedes it.
    Interval(Box<Interval>),
    /// The results.
    Done(Box<ProcessShare>),
    /// The request failed, with the reason.
    Refused(String),
}

/// Name of a topic for control messages.
fn topic_of(pattern: Pattern, what: &str) -> String {
    let pattern = match pattern {
        Pattern::Roundtrip => "roundtrip",
        Pattern::Throughput => "throughput",
    };
    format!("perf/{pattern}/{what}")
}

/// Name of a measured topic.
#[must_use]
pub fn data_topic(run: &str, case: u32, what: &str, number: u32) -> String {
    format!("perf/{run}/{case}/{what}/{number}")
}

/// The writer and the reader of control messages of one side.
pub struct Words {
    /// Writer to the other side.
    pub writer: DataWriter<Word>,
    /// Reader from the other side.
    pub reader: DataReader<Word>,
}

impl Words {
    /// Creates both endpoints. `says` and `hears` name the topics of the two directions.
    ///
    /// # Errors
    ///
    /// Returns an error if the endpoints cannot be created.
    fn new(participant: &DomainParticipant, pattern: Pattern, says: &str, hears: &str) -> Result<Self> {
        let (writer, reader) = (topic_of(pattern, says), topic_of(pattern, hears));
        let reader = participant.reader_builder(&reader).qos(DataReaderQos::default().reliable().keep_all());
        let writer = participant.writer_builder(&writer).qos(DataWriterQos::default().reliable().keep_all());
        Ok(Self { writer: writer.build()?, reader: reader.build()? })
    }

    /// Creates the endpoints of a responder.
    ///
    /// # Errors
    ///
    /// Returns an error if the endpoints cannot be created.
    pub fn answering(participant: &DomainParticipant, pattern: Pattern) -> Result<Self> {
        Self::new(participant, pattern, "answer", "ask")
    }

    /// Sends a message.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn say<T: Serialize>(&self, envelope: &Envelope<T>) -> Result<()> {
        Ok(self.writer.write(&Word { text: serde_json::to_string(envelope)? })?)
    }

    /// Waits for the next valid message. Returns `None` after `limit`.
    ///
    /// # Errors
    ///
    /// Returns an error if the reader is closed.
    pub fn hear<T: DeserializeOwned>(&self, limit: Duration) -> Result<Option<Envelope<T>>> {
        match self.reader.next_sample().block_for(limit) {
            Ok(sample) => Ok(sample.data.and_then(|word| serde_json::from_str(&word.text).ok())),
            Err(error) if is_timeout(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether a wait failed because of its time limit.
#[must_use]
pub fn is_timeout(error: &WaitError) -> bool {
    matches!(error.kind(), WaitErrorKind::Timeout { .. })
}

/// Time after which a request is repeated: it may be lost before a new responder matches.
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
    /// Creates the participant and waits for `processes` responders.
    ///
    /// # Errors
    ///
    /// Returns an error with advice if too few responders are found.
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
            Err(error) if is_timeout(&error) => Err(this.too_few_responders(place)),
            Err(error) => Err(error.into()),
        }
    }

    fn too_few_responders(&self, place: &Place) -> Box<dyn std::error::Error + Send + Sync> {
        let command = match self.pattern {
            Pattern::Roundtrip => "perf pong",
            Pattern::Throughput => "perf subscribe",
        };
        let found = self.words.writer.publication_matched().current_count;
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

    /// Name of this run.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Time from the start of the participant until all responders were found.
    #[must_use]
    pub fn discovery(&self) -> Duration {
        self.discovery
    }

    /// Sends a request and waits for all answers. The first responders to a setup become the members of the run.
    ///
    /// # Errors
    ///
    /// Returns an error if a responder fails or does not answer.
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

    /// Sleeps for `limit` or until an interval arrives. Returns all intervals that have arrived.
    ///
    /// # Errors
    ///
    /// Returns an error if the reader is closed.
    pub fn listen(&mut self, limit: Duration) -> Result<Vec<Interval>> {
        if let Some(envelope) = self.words.hear(limit)? {
            self.sort(envelope, false);
        }
        Ok(std::mem::take(&mut self.intervals))
    }

    /// Stores intervals and returns answers to the last request.
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

    /// Ends the work of all responders.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn leave(&mut self) -> Result<()> {
        self.step += 1;
        self.words.say(&self.envelope(Ask::Leave))?;
        // A responder that misses this request deletes its endpoints at the next setup.
        let _ = self.words.writer.acknowledged().block_for(Duration::from_millis(500));
        Ok(())
    }

    fn envelope(&self, body: Ask) -> Envelope<Ask> {
        let to = if matches!(body, Ask::Setup(_)) { Vec::new() } else { self.members.clone() };
        Envelope { run: self.run.clone(), step: self.step, process: 0, to, body }
    }
}
