//! Why a command fails.

use crate::contract::Difference;
use std::fmt;
use std::io::ErrorKind;

/// Why a command fails, with the next step for the user.
///
/// The program prints it to standard error and exits with status 1. Wrong options exit with status 2.
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolError {
    /// The participant, topic, reader or writer failed.
    Dds(dds_core::Error),
    /// A file or the output failed.
    Io {
        /// The file, or `output`.
        name: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The recording cannot be read or written.
    Recording {
        /// The file.
        name: String,
        /// The cause.
        source: mcap::McapError,
    },
    /// No endpoint of the topic was found.
    NoTopic {
        /// The requested topic.
        topic: String,
        /// The topics that were found.
        known: Vec<String>,
    },
    /// No server of the service was found.
    NoService {
        /// The requested service.
        service: String,
        /// The services that were found.
        known: Vec<String>,
    },
    /// No endpoint of the topic describes its type.
    NoType {
        /// The topic.
        topic: String,
        /// The names of its types.
        type_names: Vec<String>,
    },
    /// A value does not fit its type.
    Value {
        /// Path of the part inside of the sample.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A type file is incorrect. The text has the diagnostics.
    TypeFile {
        /// The diagnostics.
        text: String,
    },
    /// The system does not meet its contract.
    Contract {
        /// The contract.
        name: String,
        /// The differences.
        differences: Vec<Difference>,
    },
    /// The system has problems, which the output names.
    Problems {
        /// The number of problems.
        count: usize,
    },
    /// The files of DDS Security are faulty, or deny an access. The text has the cause and the next step.
    Security {
        /// The cause and the next step.
        text: String,
    },
    /// Too few readers match.
    NoReaders {
        /// The requested number.
        readers: usize,
        /// Why the known readers do not match.
        reports: Vec<String>,
    },
    /// The command found nothing to do within its time.
    NothingArrived {
        /// The awaited thing.
        awaited: String,
        /// The next step.
        next_step: &'static str,
    },
}

impl ToolError {
    /// Creates the error of a failed write to the output of a command.
    #[must_use]
    pub fn output(source: std::io::Error) -> Self {
        Self::Io { name: "output".to_owned(), source }
    }

    /// Creates the error of a value as a whole.
    #[must_use]
    pub fn value(reason: impl fmt::Display) -> Self {
        Self::Value { path: String::new(), reason: reason.to_string() }
    }

    /// Returns the fault of a recording without the next step, and every other error as a whole.
    pub(crate) fn fault(&self) -> String {
        match self {
            Self::Recording { name, source } => format!("{name}: {source}"),
            other => other.to_string(),
        }
    }

    /// Returns whether the reader of the output has gone, as in `dds echo TOPIC | head`.
    #[must_use]
    pub fn is_closed_output(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dds(error) => error.fmt(f),
            Self::Io { name, source } => match source.kind() {
                ErrorKind::AlreadyExists => write!(f, "{name}: the file exists; choose another name, or remove it"),
                ErrorKind::IsADirectory => write!(f, "{name}: it is a folder; pass a file in it"),
                _ => write!(f, "{name}: {source}"),
            },
            // The text of the crate hides the cause, such as a full disk.
            Self::Recording { name, source: mcap::McapError::Io(cause) } => match cause.kind() {
                ErrorKind::IsADirectory => write!(f, "{name}: it is a folder; pass a file in it"),
                _ => write!(f, "{name}: {cause}"),
            },
            Self::Recording { name, source: mcap::McapError::BadMagic } => write!(f, "{name}: it is no MCAP recording"),
            Self::Recording { source, .. } if is_damage(source) => {
                write!(f, "{}; `dds recover` copies the messages before the damage", self.fault())
            }
            Self::Recording { .. } => f.write_str(&self.fault()),
            Self::NoTopic { topic, known } => {
                write!(f, "no endpoint of topic \"{topic}\" was found")?;
                write_known("topic", known, f)
            }
            Self::NoService { service, known } => {
                write!(f, "no server of service \"{service}\" was found")?;
                write_known("service", known, f)
            }
            Self::NoType { topic, type_names } => write!(
                f,
                "no endpoint of topic \"{topic}\" describes its type {}; pass a file with the type: --type FILE.idl",
                type_names.join(", ")
            ),
            Self::Value { path, reason } if path.is_empty() => f.write_str(reason),
            Self::Value { path, reason } => write!(f, "{path}: {reason}"),
            Self::TypeFile { text } | Self::Security { text } => f.write_str(text),
            Self::Contract { name, differences } => {
                write!(f, "the system does not meet {name} (differences: {})", differences.len())?;
                differences.iter().try_for_each(|difference| write!(f, "\n  {difference}"))
            }
            Self::Problems { count } => write!(f, "problems: {count}"),
            Self::NoReaders { readers, reports } => {
                write!(f, "fewer than {readers} readers match; start a reader, or pass --readers 0")?;
                reports.iter().try_for_each(|report| write!(f, "\n{report}"))
            }
            Self::NothingArrived { awaited, next_step } => write!(f, "no {awaited} arrived; {next_step}"),
        }
    }
}

/// Returns whether a reader found damaged bytes. Other errors are those of writers, and of options that a build lacks.
fn is_damage(error: &mcap::McapError) -> bool {
    use mcap::McapError as E;
    matches!(
        error,
        E::BadChunkCrc { .. }
            | E::BadDataCrc { .. }
            | E::BadChunkLength { .. }
            | E::BadSchemaLength { .. }
            | E::Parse(_)
            | E::UnexpectedEof
            | E::UnexpectedEoc
            | E::UnknownChannel(..)
            | E::UnknownSchema(..)
            | E::ConflictingChannels(_)
            | E::ConflictingSchemas(_)
            | E::InvalidSchemaId
            | E::DecompressionError(_)
            | E::RecordTooLarge { .. }
            | E::ChunkTooLarge(_)
    )
}

/// Writes the names that the user may have meant.
fn write_known(kind: &str, known: &[String], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match known {
        [] => write!(f, "; no other {kind} was found either: check --domain, --peer and --scope"),
        known => write!(f, "; known {kind}s: {}", known.join(", ")),
    }
}

impl std::error::Error for ToolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // `Display` of each variant includes the text of its cause.
        None
    }
}

impl<E: Into<dds_core::Error>> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::Dds(error.into())
    }
}
