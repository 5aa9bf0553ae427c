//! The command line.

use dds_core::qos::{DataReaderQos, DataRepresentation, DataWriterQos, Durability, Ownership};
use std::fmt;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) role: Role,
    pub(crate) topic: String,
    pub(crate) domain_id: u32,
    pub(crate) reliable: bool,
    /// `None`: the default. 0: all.
    pub(crate) history_depth: Option<u32>,
    pub(crate) durability: Durability,
    pub(crate) representation: DataRepresentation,
    /// Negative: shared.
    pub(crate) ownership_strength: i32,
    pub(crate) partition: Option<String>,
    pub(crate) color: String,
    /// 0: grows from 1.
    pub(crate) shape_size: i32,
    pub(crate) print_written: bool,
    pub(crate) additional_payload_size: usize,
    pub(crate) write_period: Duration,
    pub(crate) read_period: Duration,
    /// `None`: without end.
    pub(crate) iterations: Option<u64>,
    pub(crate) final_instance_state: Option<FinalInstanceState>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Publisher,
    Subscriber,
}

/// What becomes of the instances when the publisher ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FinalInstanceState {
    Unregistered,
    Disposed,
}

/// Why there is nothing to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Help,
    NotSupported(String),
    Wrong(String),
}

const USAGE: &str = "\
shapes -P|-S -t TOPIC [options]
  -P | -S                      publish | subscribe
  -t NAME                      topic
  -d ID                        domain (0)
  -b | -r                      best effort | reliable (-r)
  -k DEPTH                     history: 0 keeps all, else the last DEPTH (1)
  -D v|l                       durability: volatile | transient local (v)
  -x 1|2                       XCDR1 | XCDR2 (1)
  -s STRENGTH                  ownership: -1 shared, else exclusive with this strength (-1)
  -p NAME                      partition
  -c COLOR                     publisher: the color to write (BLUE)
  -z SIZE                      publisher: size of the shape, 0 grows from 1 (20)
  -w                           publisher: print what is written
  --additional-payload-size N  publisher: N more bytes in each sample (0)
  --write-period MS            publisher: between two rounds (33)
  --read-period MS             subscriber: between two rounds (100)
  --num-iterations N           rounds before the end (without end)
  --final-instance-state u|d   publisher: at the end unregister | dispose
  -h, --help                   this text";

/// What other programs of this kind have and this one has not.
const NOT_SUPPORTED: [&str; 15] = [
    "-f",
    "-R",
    "-v",
    "--take-read",
    "--size-modulo",
    "--time-filter",
    "--lifespan",
    "--num-instances",
    "--num-topics",
    "--access-scope",
    "--coherent",
    "--ordered",
    "--coherent-sample-count",
    "--cft",
    "--periodic-announcement",
];

impl Options {
    /// # Errors
    /// The answer to print instead of running.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, Answer> {
        let mut arguments = arguments.into_iter();
        let mut options = Self::default();
        let (mut role, mut topic, mut color) = (None, None, None);
        while let Some(option) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| Answer::Wrong(format!("{option} needs a value")));
            match option.as_str() {
                "-h" | "--help" => return Err(Answer::Help),
                "-P" => role = Some(Role::Publisher),
                "-S" => role = Some(Role::Subscriber),
                "-t" => topic = Some(value()?),
                "-d" => options.domain_id = number(&option, &value()?)?,
                "-b" => options.reliable = false,
                "-r" => options.reliable = true,
                "-k" => options.history_depth = Some(number(&option, &value()?)?),
                "-D" => options.durability = durability(&value()?)?,
                "-x" => options.representation = representation(&value()?)?,
                "-s" => options.ownership_strength = number(&option, &value()?)?,
                "-p" => options.partition = Some(value()?),
                "-c" => color = Some(value()?),
                "-z" => options.shape_size = number(&option, &value()?)?,
                "-w" => options.print_written = true,
                "--additional-payload-size" => options.additional_payload_size = number(&option, &value()?)?,
                "--write-period" => options.write_period = milliseconds(&option, &value()?)?,
                "--read-period" => options.read_period = milliseconds(&option, &value()?)?,
                "--num-iterations" => options.iterations = Some(number(&option, &value()?)?),
                "--final-instance-state" => options.final_instance_state = Some(final_instance_state(&value()?)?),
                other => return Err(unknown(other)),
            }
        }
        options.role = role.ok_or_else(|| Answer::Wrong("one of -P and -S is needed".into()))?;
        options.topic = topic.ok_or_else(|| Answer::Wrong("-t is needed".into()))?;
        if let Some(color) = color {
            if options.role == Role::Subscriber {
                return Err(Answer::NotSupported("-c on a subscriber, a content filter,".into()));
            }
            options.color = color;
        }
        Ok(options)
    }

    /// What the writer offers.
    pub(crate) fn writer_qos(&self) -> DataWriterQos {
        let mut qos = DataWriterQos::default().durability(self.durability).representation([self.representation]);
        qos = if self.reliable { qos.reliable() } else { qos.best_effort() };
        match self.history_depth {
            None => {}
            Some(0) => qos = qos.keep_all(),
            Some(depth) => qos = qos.keep_last(depth),
        }
        if self.ownership_strength >= 0 {
            qos = qos.ownership(Ownership::Exclusive).ownership_strength(self.ownership_strength);
        }
        // Else unregistering would dispose as well.
        qos.writer_data_lifecycle.autodispose_unregistered_instances =
            self.final_instance_state != Some(FinalInstanceState::Unregistered);
        qos
    }

    /// What the reader asks for.
    pub(crate) fn reader_qos(&self) -> DataReaderQos {
        let mut qos = DataReaderQos::default().durability(self.durability).representation([self.representation]);
        qos = if self.reliable { qos.reliable() } else { qos.best_effort() };
        match self.history_depth {
            None => {}
            Some(0) => qos = qos.keep_all(),
            Some(depth) => qos = qos.keep_last(depth),
        }
        if self.ownership_strength >= 0 { qos.ownership(Ownership::Exclusive) } else { qos }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            role: Role::Subscriber,
            topic: String::new(),
            domain_id: 0,
            reliable: true,
            history_depth: None,
            durability: Durability::Volatile,
            representation: DataRepresentation::Xcdr1,
            ownership_strength: -1,
            partition: None,
            color: "BLUE".into(),
            shape_size: 20,
            print_written: false,
            additional_payload_size: 0,
            write_period: Duration::from_millis(33),
            read_period: Duration::from_millis(100),
            iterations: None,
            final_instance_state: None,
        }
    }
}

impl Answer {
    /// 0 for the help that was asked for, else 1.
    pub(crate) fn exit_code(&self) -> ExitCode {
        if *self == Self::Help { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Help => f.write_str(USAGE),
            Self::NotSupported(what) => write!(f, "{what} is not supported"),
            Self::Wrong(what) => write!(f, "shapes: {what}; -h shows the options"),
        }
    }
}

fn unknown(option: &str) -> Answer {
    if NOT_SUPPORTED.contains(&option) {
        Answer::NotSupported(option.into())
    } else {
        Answer::Wrong(format!("there is no option {option}"))
    }
}

fn number<N: FromStr>(option: &str, value: &str) -> Result<N, Answer> {
    value.parse().map_err(|_| Answer::Wrong(format!("{option} cannot be {value}")))
}

fn milliseconds(option: &str, value: &str) -> Result<Duration, Answer> {
    number(option, value).map(Duration::from_millis)
}

fn durability(value: &str) -> Result<Durability, Answer> {
    match value {
        "v" => Ok(Durability::Volatile),
        "l" => Ok(Durability::TransientLocal),
        "t" | "p" => Err(Answer::NotSupported(format!("-D {value}"))),
        _ => Err(Answer::Wrong(format!("-D cannot be {value}"))),
    }
}

fn representation(value: &str) -> Result<DataRepresentation, Answer> {
    match value {
        "1" => Ok(DataRepresentation::Xcdr1),
        "2" => Ok(DataRepresentation::Xcdr2),
        _ => Err(Answer::Wrong(format!("-x cannot be {value}"))),
    }
}

fn final_instance_state(value: &str) -> Result<FinalInstanceState, Answer> {
    match value {
        "u" => Ok(FinalInstanceState::Unregistered),
        "d" => Ok(FinalInstanceState::Disposed),
        _ => Err(Answer::Wrong(format!("--final-instance-state cannot be {value}"))),
    }
}
