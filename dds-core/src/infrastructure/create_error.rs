//! Why an entity could not be made: the largest family of reasons, in a file of its own.

use super::error::Advice;
use crate::driver::ThreadRefused;
#[cfg(feature = "serde")]
use crate::infrastructure::ProfileProblem;
use crate::infrastructure::ReturnCode;
use crate::qos::{PolicyId, QosErrorKind};
use std::fmt;
use std::path::PathBuf;

/// Why an entity could not be made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CreateErrorKind {
    /// The domain id is above 232: its ports would lie beyond 65535 (RTPS 2.5, 9.6.2).
    InvalidDomain {
        /// What was asked for.
        domain_id: u32,
    },
    /// No socket could be opened.
    Transport {
        /// What the operating system said, and of which address.
        message: String,
    },
    /// A peer is no host, nor a host and a port.
    InvalidPeer {
        /// What was given.
        peer: String,
    },
    /// The file that datagrams should be written to cannot be made, or is there and no capture.
    Tap {
        /// Where it should be.
        path: PathBuf,
        /// What the operating system said.
        message: String,
    },
    /// A participant of a simulation was to have what only the real network has.
    NotSimulated {
        /// The setting.
        setting: &'static str,
    },
    /// A thread could not be started.
    Thread {
        /// What the operating system said.
        message: String,
    },
    /// A thread cannot have one of its settings, or the system refuses it.
    ThreadOption {
        /// `"receive"`, `"event"` or `"io"`.
        thread: &'static str,
        /// `"name"`, `"priority"` or `"cores"`.
        option: &'static str,
        /// What is wrong with it, or what the operating system said.
        message: Box<str>,
    },
    /// The topic's name is empty or longer than 255 bytes.
    InvalidTopicName,
    /// The type's name is empty, longer than 255 bytes, or has a NUL.
    InvalidTypeName,
    /// The topic is in use in this participant with another type.
    TypeConflict {
        /// The type that the topic has.
        existing: String,
        /// The type that was asked for.
        asked: String,
    },
    /// The topic is a built-in one, which nobody can write.
    BuiltinTopic,
    /// Writers are made of a topic itself, not of a part of it ([`ContentFilteredTopic`](crate::ContentFilteredTopic)).
    FilteredTopic,
    /// The filter of a reader is wrong, or does not fit the topic's type.
    Filter(dds_rtps::filter::FilterError),
    /// A reader of a [`ContentFilteredTopic`](crate::ContentFilteredTopic) was given another filter.
    FilteredTwice,
    /// A MultiTopic (DDS 1.4, 2.2.2.3.4), which does not exist here.
    MultiTopic,
    /// The policies contradict each other.
    InconsistentQos(QosErrorKind),
    /// The QoS asks for something that the topic's samples cannot do.
    Unsupported {
        /// The policy that asks for it: DATA_REPRESENTATION, for an encoding that a topic of serde types does not have.
        policy: PolicyId,
    },
    /// An environment variable cannot be understood.
    Environment {
        /// The variable's name.
        variable: &'static str,
        /// Its value.
        value: Box<str>,
        /// What it should look like.
        expected: &'static str,
    },
    /// A profile file cannot be read, or something in it cannot be understood.
    #[cfg(feature = "serde")]
    Profile(Box<ProfileProblem>),
    /// The participant has read no profile of this name and kind.
    #[cfg(feature = "serde")]
    UnknownProfile {
        /// The name.
        name: String,
        /// One that is like it.
        nearest: Option<String>,
    },
    /// What it was made with is not enabled itself (DDS 1.4, 2.2.2.1.1.7): only of [`Entity::enable`](crate::Entity::enable).
    FactoryNotEnabled,
    /// The entity, or the topic, publisher, subscriber or participant that it belongs to, has been closed.
    Closed,
    /// The participant was made by the parent of this process, whose threads do not exist here.
    Forked,
    /// A part of this library failed; please report it.
    Internal {
        /// What is known.
        message: String,
    },
}

impl CreateErrorKind {
    /// Why a thread could not be started.
    pub(crate) fn of_thread(error: &std::io::Error) -> Self {
        let refused = error.get_ref().and_then(|source| source.downcast_ref::<ThreadRefused>());
        refused.map_or_else(|| Self::Thread { message: error.to_string() }, |refused| refused.clone().into())
    }
}

impl From<ThreadRefused> for CreateErrorKind {
    fn from(refused: ThreadRefused) -> Self {
        let ThreadRefused { thread, option, message } = refused;
        Self::ThreadOption { thread, option, message: message.into() }
    }
}

impl Advice for CreateErrorKind {
    fn next_step(&self) -> &'static str {
        match self {
            Self::InvalidDomain { .. } => "use a domain id from 0 to 232",
            Self::Transport { .. } => "check that a network interface is up (`ip link set lo up` is enough)",
            Self::InvalidPeer { .. } => {
                "write it as `host`, `192.0.2.7`, `fd00::7`, or with a port as `host:7412`, `[fd00::7]:7412`"
            }
            Self::Tap { .. } => "name a new file in a folder that can be written to, or a capture of an earlier run",
            Self::NotSimulated { .. } => "leave the setting out; `Simulation::intercept` shows every datagram",
            Self::Thread { .. } => "check the limit of threads (`ulimit -u`)",
            Self::ThreadOption { .. } => "change the setting, or permit it (`ulimit -r`, CAP_SYS_NICE, `taskset -p`)",
            Self::InvalidTopicName => "give the topic a name of 1 to 255 bytes",
            Self::InvalidTypeName => "give the type a name of 1 to 255 bytes",
            Self::TypeConflict { .. } => "use the same type name for the topic everywhere, or another topic",
            Self::BuiltinTopic => "make a reader of it, or use another topic",
            Self::FilteredTopic => "make the writer of its related topic",
            Self::Filter(error) => error.next_step(),
            Self::FilteredTwice => "join both expressions by AND",
            Self::MultiTopic => "make a reader of each topic, with a filter, and join what they give by key",
            Self::InconsistentQos(kind) => kind.next_step(),
            Self::Unsupported { .. } => "leave the policy at its default",
            Self::Environment { .. } => "correct the variable, unset it, or call `ignore_environment` on the builder",
            #[cfg(feature = "serde")]
            Self::Profile(_) => "correct the file, or name another one",
            #[cfg(feature = "serde")]
            Self::UnknownProfile { .. } => {
                "correct the name, or let the participant read the file that has it (`profiles`, DDS_PROFILES)"
            }
            Self::FactoryNotEnabled => "enable the participant, publisher or subscriber first",
            Self::Closed => "make a new one",
            Self::Forked => "make participants in the process that uses them, after the fork",
            Self::Internal { .. } => "this is a bug of dds-core: please report it with this message",
        }
    }

    fn return_code(&self) -> ReturnCode {
        match self {
            Self::InvalidDomain { .. }
            | Self::InvalidTopicName
            | Self::InvalidTypeName
            | Self::Environment { .. }
            | Self::InvalidPeer { .. }
            | Self::Tap { .. } => ReturnCode::BadParameter,
            #[cfg(feature = "serde")]
            Self::Profile(_) | Self::UnknownProfile { .. } => ReturnCode::BadParameter,
            Self::TypeConflict { .. } | Self::BuiltinTopic | Self::FactoryNotEnabled => ReturnCode::PreconditionNotMet,
            Self::FilteredTopic | Self::FilteredTwice => ReturnCode::PreconditionNotMet,
            Self::Filter(_) => ReturnCode::BadParameter,
            Self::InconsistentQos(_) => ReturnCode::InconsistentPolicy,
            Self::Unsupported { .. } | Self::MultiTopic | Self::NotSimulated { .. } => ReturnCode::Unsupported,
            Self::Closed => ReturnCode::AlreadyDeleted,
            Self::Forked => ReturnCode::IllegalOperation,
            Self::Thread { .. } | Self::ThreadOption { .. } => ReturnCode::OutOfResources,
            Self::Transport { .. } | Self::Internal { .. } => ReturnCode::Error,
        }
    }
}

impl fmt::Display for CreateErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidDomain { domain_id } => write!(f, "domain id {domain_id} is above 232"),
            Self::Transport { message } => write!(f, "no socket could be opened: {message}"),
            Self::InvalidPeer { peer } => write!(f, "`{peer}` is no host, nor a host and a port"),
            Self::Tap { path, message } => {
                write!(f, "the capture file {} cannot be written: {message}", path.display())
            }
            Self::NotSimulated { setting } => write!(f, "a participant of a simulation has no {setting}"),
            Self::Thread { message } => write!(f, "a thread could not be started: {message}"),
            Self::ThreadOption { thread, option, message } => {
                write!(f, "the {thread} thread cannot have the {option} it should have: {message}")
            }
            Self::InvalidTopicName => f.write_str("the topic's name is empty or longer than 255 bytes"),
            Self::InvalidTypeName => f.write_str("the type's name is empty, longer than 255 bytes, or has a NUL"),
            Self::TypeConflict { existing, asked } => {
                write!(f, "the topic has the type `{existing}` here, and `{asked}` was asked for")
            }
            Self::BuiltinTopic => f.write_str("nobody can write a built-in topic"),
            Self::FilteredTopic => f.write_str("a content-filtered topic is for readers"),
            Self::Filter(error) => write!(f, "filter, at byte {}: {}", error.position(), error.kind()),
            Self::FilteredTwice => f.write_str("the topic has a filter already"),
            Self::MultiTopic => f.write_str(
                "no MultiTopic: what it joins would be of a type of its own, which no Rust type stands for and no peer knows",
            ),
            Self::InconsistentQos(kind) => write!(f, "{kind}"),
            Self::Unsupported { policy } => write!(f, "{policy} asks for what samples of the topic cannot do"),
            Self::Environment { variable, value, expected } => {
                write!(f, "the environment variable {variable} is \"{value}\", but should be {expected}")
            }
            #[cfg(feature = "serde")]
            Self::Profile(problem) => problem.fmt(f),
            #[cfg(feature = "serde")]
            Self::UnknownProfile { name, nearest } => {
                write!(f, "there is no profile \"{name}\"")?;
                nearest.as_ref().map_or(Ok(()), |nearest| write!(f, "; did you mean \"{nearest}\"?"))
            }
            Self::FactoryNotEnabled => f.write_str("what it was made with is not enabled yet"),
            Self::Closed => f.write_str("it, or what it belongs to, has been closed"),
            Self::Forked => f.write_str("it belongs to the parent of this process"),
            Self::Internal { message } => write!(f, "internal error: {message}"),
        }
    }
}
