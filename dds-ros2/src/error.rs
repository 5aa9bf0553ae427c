//! The error of every operation of this crate.

use crate::action::{GoalEvent, GoalId, GoalState};
use crate::lifecycle::{LifecycleState, LifecycleTransition};
use crate::name::NameError;
use dds_core::error::{CreateError, EncodeError, WaitError, WriteError};
use std::fmt;
use std::path::PathBuf;

/// Result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A name breaks a rule of ROS 2.
    Name(NameError),
    /// An argument after `--ros-args` is invalid.
    Argument {
        /// The argument.
        argument: String,
        /// The problem, and the expected form.
        reason: String,
    },
    /// An environment variable is invalid.
    Environment {
        /// The name of the variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The problem, and the expected form.
        reason: String,
    },
    /// A setting is invalid.
    Setting {
        /// The setting.
        setting: &'static str,
        /// The problem, and the expected form.
        reason: String,
    },
    /// An entity of DDS was not created.
    Create(CreateError),
    /// A message was not published.
    Write(WriteError),
    /// A wait ended without its event.
    Wait(WaitError),
    /// A value does not fit its type.
    Encode(EncodeError),
    /// The time limit of a wait has passed.
    Timeout {
        /// The event that did not occur, and the reason if it is known.
        missing: String,
    },
    /// The context or the node is closed.
    Closed,
    /// Servers of a service expect requests in different forms, so that no request suits all.
    MixedServers {
        /// The service.
        service: String,
    },
    /// Every server that received the request has left.
    ServersGone {
        /// The service.
        service: String,
    },
    /// A reply of a server does not decode.
    Reply {
        /// The service.
        service: String,
        /// The problem.
        reason: String,
    },
    /// A type that is known only at run time is not a message of ROS 2 (feature `dynamic`).
    #[cfg(feature = "dynamic")]
    MessageType {
        /// The name of the type.
        name: String,
        /// The problem.
        reason: String,
    },
    /// The server of an action rejected a goal.
    GoalRejected {
        /// The action.
        action: String,
    },
    /// A goal has the id of another one.
    GoalExists {
        /// The action.
        action: String,
        /// The id.
        id: GoalId,
    },
    /// The state of a goal does not allow an event.
    GoalTransition {
        /// The state.
        state: GoalState,
        /// The event.
        event: GoalEvent,
    },
    /// The server of an action canceled no goal.
    CancelRefused {
        /// The action.
        action: String,
        /// The problem.
        reason: &'static str,
    },
    /// A parameter is not declared, or a value is refused.
    Parameter {
        /// The problem.
        reason: String,
    },
    /// A parameter file is invalid.
    ParameterFile {
        /// Its path.
        path: PathBuf,
        /// The line from 1, or `None` if the file was not read.
        line: Option<usize>,
        /// The column from 1, in characters, or `None` if the file was not read.
        column: Option<usize>,
        /// The problem, and the expected form.
        reason: String,
    },
    /// No transform is found (feature `tf2`).
    #[cfg(feature = "tf2")]
    Transform(crate::tf::TransformError),
    /// The state of a lifecycle node does not allow a transition, or another transition runs.
    LifecycleTransition {
        /// The state.
        state: LifecycleState,
        /// The transition.
        transition: LifecycleTransition,
    },
    /// Too many calls of a client wait for a reply.
    TooManyCalls {
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Argument { argument, reason } => write!(f, "invalid argument {argument:?}: {reason}"),
            Self::Environment { variable, value, reason } => write!(f, "invalid {variable}={value:?}: {reason}"),
            Self::Setting { setting, reason } => write!(f, "invalid {setting}: {reason}"),
            Self::Create(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
            Self::Wait(error) => error.fmt(f),
            Self::Encode(error) => error.fmt(f),
            Self::Timeout { missing } => write!(f, "time limit reached: {missing}"),
            Self::Closed => f.write_str("the context is closed"),
            Self::MixedServers { service } => write!(
                f,
                "service {service:?} has servers of rmw_cyclonedds and of others, which expect different requests; \
                 stop one kind of server"
            ),
            Self::ServersGone { service } => write!(f, "every server of {service:?} left before it replied"),
            Self::Reply { service, reason } => write!(f, "the reply of {service:?} does not decode: {reason}"),
            #[cfg(feature = "dynamic")]
            Self::MessageType { name, reason } => write!(f, "type {name:?} is not a message of ROS 2: {reason}"),
            Self::GoalRejected { action } => write!(f, "the server of action {action:?} rejected the goal"),
            Self::GoalExists { action, id } => write!(f, "action {action:?} has a goal with the id {id} already"),
            Self::GoalTransition { state, event } => write!(f, "a goal that is {state} allows no `{event}`"),
            Self::CancelRefused { action, reason } => {
                write!(f, "the server of action {action:?} canceled no goal: {reason}")
            }
            Self::Parameter { reason } => f.write_str(reason),
            Self::ParameterFile { path, line: Some(line), column, reason } => {
                let column = column.map_or_else(String::new, |column| format!(", column {column}"));
                write!(f, "invalid parameter file {path:?}, line {line}{column}: {reason}")
            }
            Self::ParameterFile { path, line: None, reason, .. } => {
                write!(f, "parameter file {path:?} was not read: {reason}")
            }
            #[cfg(feature = "tf2")]
            Self::Transform(error) => error.fmt(f),
            Self::LifecycleTransition { state, transition } => {
                write!(f, "a lifecycle node that is {state} allows no `{transition}`")
            }
            Self::TooManyCalls { limit } => write!(f, "{limit} calls wait for a reply, which is the limit"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Create(error) => error.source(),
            Self::Write(error) => error.source(),
            Self::Wait(error) => error.source(),
            _ => None,
        }
    }
}

impl From<NameError> for Error {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl From<CreateError> for Error {
    fn from(error: CreateError) -> Self {
        Self::Create(error)
    }
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}

impl From<WaitError> for Error {
    fn from(error: WaitError) -> Self {
        Self::Wait(error)
    }
}

#[cfg(feature = "tf2")]
impl From<crate::tf::TransformError> for Error {
    fn from(error: crate::tf::TransformError) -> Self {
        Self::Transform(error)
    }
}

impl From<EncodeError> for Error {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}
