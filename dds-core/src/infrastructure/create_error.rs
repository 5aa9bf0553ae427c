//! Causes of a [`CreateError`](crate::error::CreateError), the largest family, in a file of their own.

use super::error::Advice;
use crate::driver::ThreadRefused;
#[cfg(feature = "serde")]
use crate::infrastructure::ProfileProblem;
use crate::infrastructure::ReturnCode;
use dds_rtps::qos::QosErrorKind;
use std::fmt;
use std::path::PathBuf;

/// Cause of a [`CreateError`](crate::error::CreateError).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CreateErrorKind {
    /// The domain id is above 232. Its ports would be above 65535 (RTPS 2.5, 9.6.2).
    InvalidDomain {
        /// The requested domain id.
        domain_id: u32,
    },
    /// No socket could be opened.
    Transport {
        /// Address, and message of the operating system.
        message: String,
    },
    /// The peer has the form of an address of IPv4, and is not one.
    NotAnAddress {
        /// The given peer.
        peer: String,
    },
    /// The peer is neither a host nor a host with a port.
    InvalidPeer {
        /// The given peer.
        peer: String,
    },
    /// The capture file cannot be created, or exists and is not a capture.
    Tap {
        /// Path of the file.
        path: PathBuf,
        /// Message of the operating system.
        message: String,
    },
    /// A participant of a simulation has a setting that needs a real network.
    NotSimulated {
        /// The setting.
        setting: &'static str,
    },
    /// A thread could not be started.
    Thread {
        /// Message of the operating system.
        message: String,
    },
    /// A setting of a thread is invalid, or the operating system refuses it.
    ThreadOption {
        /// `"receive"`, `"event"` or `"io"`.
        thread: &'static str,
        /// `"name"`, `"priority"` or `"cores"`.
        option: &'static str,
        /// Description of the mistake, or message of the operating system.
        message: Box<str>,
    },
    /// The process or the system has no free file descriptor.
    OpenFiles {
        /// Message of the operating system.
        message: String,
    },
    /// The name of the topic is empty, longer than 255 bytes, or contains a NUL.
    InvalidTopicName,
    /// The name of the type is empty, longer than 255 bytes, or contains a NUL.
    InvalidTypeName,
    /// The participant uses the topic with another type.
    TypeConflict {
        /// The type of the topic.
        existing: String,
        /// The requested type.
        asked: String,
    },
    /// The topic is a built-in topic. Applications cannot write it.
    BuiltinTopic,
    /// A writer needs the topic itself, not a [`ContentFilteredTopic`](crate::filter::ContentFilteredTopic).
    FilteredTopic,
    /// The filter of a reader is wrong, or does not fit the topic's type.
    Filter(dds_rtps::filter::ExpressionError),
    /// A reader of a [`ContentFilteredTopic`](crate::filter::ContentFilteredTopic) has a second filter.
    FilteredTwice,
    /// MultiTopic (DDS 1.4, 2.2.2.3.4) is not supported.
    MultiTopic,
    /// The policies contradict each other.
    InconsistentQos(QosErrorKind),
    /// The value of an environment variable is invalid.
    Environment {
        /// Name of the variable.
        variable: &'static str,
        /// Value of the variable.
        value: Box<str>,
        /// The expected form.
        expected: &'static str,
    },
    /// A setting of DDS Security is faulty or not supported. The participant must not run without it.
    Security {
        /// Description of the mistake, without secrets.
        message: Box<str>,
    },
    /// A profile file cannot be read, or contains an error.
    #[cfg(feature = "serde")]
    Profile(Box<ProfileProblem>),
    /// The participant has no profile of this name and kind.
    #[cfg(feature = "serde")]
    UnknownProfile {
        /// The requested name.
        name: String,
        /// A similar name.
        nearest: Option<String>,
    },
    /// The parent entity is not enabled (DDS 1.4, 2.2.2.1.1.7). Only [`Entity::enable`](crate::Entity::enable) returns
    /// it.
    FactoryNotEnabled,
    /// The entity is closed, or its topic, publisher, subscriber or participant is.
    Closed,
    /// The parent of this process created the participant. Its threads do not exist in this process.
    Forked,
    /// A bug of this library. Please report it.
    Internal {
        /// Description of the failure.
        message: String,
    },
}

impl CreateErrorKind {
    /// A setting of DDS Security is faulty. The message has no secret.
    pub(crate) fn security(message: impl Into<Box<str>>) -> Self {
        Self::Security { message: message.into() }
    }

    /// Returns the cause why a thread could not be started.
    pub(crate) fn of_thread(error: &std::io::Error) -> Self {
        if is_out_of_files(error) {
            return Self::OpenFiles { message: error.to_string() };
        }
        // The driver refuses a setting with an error of its own inside of the system's.
        if let Some(source) = error.get_ref() {
            if let Some(refused) = source.downcast_ref::<ThreadRefused>() {
                return refused.clone().into();
            }
        }
        Self::Thread { message: error.to_string() }
    }
}

/// Returns whether the process or the system has no free file descriptor.
pub(crate) fn is_out_of_files(error: &std::io::Error) -> bool {
    // WSAEMFILE on Windows.
    #[cfg(not(unix))]
    let codes = [10_024];
    #[cfg(unix)]
    let codes = [libc::EMFILE, libc::ENFILE];
    match error.raw_os_error() {
        Some(code) => codes.contains(&code),
        None => false,
    }
}

impl From<ThreadRefused> for CreateErrorKind {
    fn from(refused: ThreadRefused) -> Self {
        // The driver's error is not public. Its fields are.
        let ThreadRefused { thread, option, message } = refused;
        Self::ThreadOption { thread, option, message: message.into() }
    }
}

impl Advice for CreateErrorKind {
    fn next_step(&self) -> &'static str {
        match self {
            Self::InvalidDomain { .. } => "use a domain id from 0 to 232",
            Self::Transport { .. } => "check that a network interface is up (`ip link set lo up` is enough)",
            Self::InvalidPeer { .. } | Self::NotAnAddress { .. } => {
                "write it as `host`, `192.0.2.7`, `fd00::7`, or with a port as `host:7412`, `[fd00::7]:7412`"
            }
            Self::Tap { .. } => "name a new file in a folder that can be written to, or a capture of an earlier run",
            Self::NotSimulated { .. } => "leave the setting out; `Simulation::intercept` shows every datagram",
            Self::Thread { .. } => "check the limit of threads (`ulimit -u`)",
            Self::ThreadOption { .. } => "change the setting, or permit it (`ulimit -r`, CAP_SYS_NICE, `taskset -p`)",
            Self::OpenFiles { .. } => "close files, or raise the limit of open files (`ulimit -n`)",
            Self::InvalidTopicName => "give the topic a name of 1 to 255 bytes",
            Self::InvalidTypeName => "give the type a name of 1 to 255 bytes",
            Self::TypeConflict { .. } => "use the same type name for the topic everywhere, or another topic",
            Self::BuiltinTopic => "create a reader for it, or use another topic",
            Self::FilteredTopic => "create the writer with its related topic",
            Self::Filter(error) => error.next_step(),
            Self::FilteredTwice => "join both expressions by AND",
            Self::MultiTopic => "create a reader of each topic, with a filter, and join their samples by key",
            Self::InconsistentQos(kind) => kind.next_step(),
            Self::Environment { .. } => "correct the variable, unset it, or call `ignore_environment` on the builder",
            Self::Security { .. } => "correct the setting, or remove it to run without protection",
            #[cfg(feature = "serde")]
            Self::Profile(_) => "correct the file, or name another one",
            #[cfg(feature = "serde")]
            Self::UnknownProfile { .. } => {
                "correct the name, or let the participant read the file that has it (`profiles`, DDS_PROFILES)"
            }
            Self::FactoryNotEnabled => "enable the participant, publisher or subscriber first",
            Self::Closed => "create a new entity",
            Self::Forked => "create participants after the fork, in the process that uses them",
            Self::Internal { .. } => "this is a bug of dds-core: please report it with this message",
        }
    }

    fn return_code(&self) -> ReturnCode {
        match self {
            Self::InvalidDomain { .. }
            | Self::InvalidTopicName
            | Self::InvalidTypeName
            | Self::Environment { .. }
            | Self::Security { .. }
            | Self::InvalidPeer { .. }
            | Self::NotAnAddress { .. }
            | Self::Tap { .. } => ReturnCode::BadParameter,
            #[cfg(feature = "serde")]
            Self::Profile(_) | Self::UnknownProfile { .. } => ReturnCode::BadParameter,
            Self::TypeConflict { .. } | Self::BuiltinTopic | Self::FactoryNotEnabled => ReturnCode::PreconditionNotMet,
            Self::FilteredTopic | Self::FilteredTwice => ReturnCode::PreconditionNotMet,
            Self::Filter(_) => ReturnCode::BadParameter,
            Self::InconsistentQos(_) => ReturnCode::InconsistentPolicy,
            Self::MultiTopic | Self::NotSimulated { .. } => ReturnCode::Unsupported,
            Self::Closed => ReturnCode::AlreadyDeleted,
            Self::Forked => ReturnCode::IllegalOperation,
            Self::Thread { .. } | Self::ThreadOption { .. } | Self::OpenFiles { .. } => ReturnCode::OutOfResources,
            Self::Transport { .. } | Self::Internal { .. } => ReturnCode::Error,
        }
    }
}

impl fmt::Display for CreateErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidDomain { domain_id } => write!(f, "domain id {domain_id} is above 232"),
            Self::Transport { message } => write!(f, "no socket could be opened: {message}"),
            Self::NotAnAddress { peer } => {
                write!(f, "the peer `{peer}` is not an address: one of IPv4 has four numbers of at most 255")
            }
            Self::InvalidPeer { peer } => write!(f, "invalid peer `{peer}`: expected `HOST` or `HOST:PORT`"),
            Self::Tap { path, message } => {
                write!(f, "the capture file {} cannot be written: {message}", path.display())
            }
            Self::NotSimulated { setting } => write!(f, "a participant of a simulation has no {setting}"),
            Self::OpenFiles { message } => write!(f, "no file could be opened: {message}"),
            Self::Thread { message } => write!(f, "a thread could not be started: {message}"),
            Self::ThreadOption { thread, option, message } => {
                write!(f, "cannot set the {option} of the {thread} thread: {message}")
            }
            Self::InvalidTopicName => f.write_str("the topic's name is empty, longer than 255 bytes, or has a NUL"),
            Self::InvalidTypeName => f.write_str("the type's name is empty, longer than 255 bytes, or has a NUL"),
            Self::TypeConflict { existing, asked } => {
                write!(f, "the topic has the type `{existing}` here, but `{asked}` was requested")
            }
            Self::BuiltinTopic => f.write_str("applications cannot write built-in topics"),
            Self::FilteredTopic => f.write_str("a content-filtered topic is for readers"),
            Self::Filter(error) => write!(f, "filter, at byte {}: {}", error.position(), error.kind()),
            Self::FilteredTwice => f.write_str("the topic has a filter already"),
            Self::MultiTopic => {
                f.write_str("MultiTopic is not supported: neither a Rust type nor a peer knows the type of its samples")
            }
            Self::InconsistentQos(kind) => write!(f, "{kind}"),
            Self::Environment { variable, value, expected } => {
                write!(f, "the environment variable {variable} is \"{value}\", but should be {expected}")
            }
            Self::Security { message } => f.write_str(message),
            #[cfg(feature = "serde")]
            Self::Profile(problem) => problem.fmt(f),
            #[cfg(feature = "serde")]
            Self::UnknownProfile { name, nearest } => {
                write!(f, "there is no profile \"{name}\"")?;
                match nearest {
                    Some(nearest) => write!(f, "; did you mean \"{nearest}\"?"),
                    None => Ok(()),
                }
            }
            Self::FactoryNotEnabled => f.write_str("its parent entity is not enabled"),
            Self::Closed => f.write_str("the entity or its parent is closed"),
            Self::Forked => f.write_str("it belongs to the parent of this process"),
            Self::Internal { message } => write!(f, "internal error: {message}"),
        }
    }
}

#[cfg(all(unix, not(dds_loom)))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_setting_of_a_thread_is_named_first() {
        let message = std::io::Error::from_raw_os_error(libc::EPERM).to_string();
        let kind = CreateErrorKind::ThreadOption { thread: "io", option: "priority", message: message.into() };
        assert!(kind.to_string().starts_with("cannot set the priority of the io thread: "), "{kind}");
        assert!(kind.next_step().contains("CAP_SYS_NICE"));
    }

    #[test]
    fn lack_of_descriptors_advises_to_raise_the_limit() {
        for code in [libc::EMFILE, libc::ENFILE] {
            let kind = CreateErrorKind::of_thread(&std::io::Error::from_raw_os_error(code));
            assert!(matches!(kind, CreateErrorKind::OpenFiles { .. }), "{kind:?}");
            assert!(kind.next_step().contains("ulimit -n"));
            assert_eq!(kind.return_code(), ReturnCode::OutOfResources);
        }
        let other = CreateErrorKind::of_thread(&std::io::Error::from_raw_os_error(libc::EAGAIN));
        assert!(matches!(other, CreateErrorKind::Thread { .. }), "{other:?}");
    }

    #[test]
    fn names_with_nul_are_named_as_such() {
        for kind in [CreateErrorKind::InvalidTopicName, CreateErrorKind::InvalidTypeName] {
            assert!(kind.to_string().contains("NUL"), "{kind}");
        }
    }
}
