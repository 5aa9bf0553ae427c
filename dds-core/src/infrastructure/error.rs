//! Errors: one family per kind of operation, each saying which entity, on which topic, why, and what to do next.
//!
//! The [`Subject`] is made once per entity and shared, so an error on a hot path (`Full` in a loop) allocates nothing.

use crate::cdr::{DecodeError, EncodeError, Encoding};
use crate::infrastructure::{CreateErrorKind, ReturnCode};
use crate::qos::QosErrorKind;
use dds_rtps::filter::FilterError as ExpressionError;
use dds_rtps::types::{Duration, Guid, InstanceHandle};
use dds_rtps::writer::ReaderLag;
use std::fmt;
use std::sync::Arc;

/// A result whose error is this crate's [`Error`] unless said otherwise.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Which entity an error speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subject {
    /// `"participant"`, `"publisher"`, `"subscriber"`, `"topic"`, `"writer"` or `"reader"`.
    pub entity: &'static str,
    /// The topic's name; empty for a participant.
    pub topic: String,
    /// The entity's GUID; [`Guid::UNKNOWN`] if it could not be made at all.
    pub guid: Guid,
}

impl Subject {
    pub(crate) fn new(entity: &'static str, topic: &str, guid: Guid) -> Arc<Self> {
        Arc::new(Self { entity, topic: topic.to_owned(), guid })
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.topic.is_empty() {
            write!(f, "{}", self.entity)
        } else {
            write!(f, "{} of topic \"{}\"", self.entity, self.topic)
        }
    }
}

/// Defines one family: the struct of subject and kind, and what every family can do.
macro_rules! family {
    ($(#[$doc:meta])* $name:ident, $kind:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq)]
        pub struct $name {
            subject: Arc<Subject>,
            kind: $kind,
        }

        impl $name {
            pub(crate) fn new(subject: &Arc<Subject>, kind: $kind) -> Self {
                Self { subject: Arc::clone(subject), kind }
            }

            /// What went wrong, with its numbers.
            #[must_use]
            pub fn kind(&self) -> &$kind {
                &self.kind
            }

            /// Which entity it happened to.
            #[must_use]
            pub fn subject(&self) -> &Subject {
                &self.subject
            }

            /// What to do about it, in one sentence.
            #[must_use]
            pub fn next_step(&self) -> &'static str {
                self.kind.next_step()
            }

            /// The code that DDS 1.4 (2.2.1.1) has for it, for bindings.
            #[must_use]
            pub fn return_code(&self) -> ReturnCode {
                self.kind.return_code()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}: {}; {}", self.subject, self.kind, self.kind.next_step())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?}, {})"), self.kind, self)
            }
        }

        impl std::error::Error for $name {}
    };
}

family! {
    /// An entity could not be made.
    CreateError, CreateErrorKind
}
family! {
    /// A QoS was not taken over. Everything is as it was.
    QosError, QosErrorKind
}
family! {
    /// A sample, dispose or unregister was not published. Nothing of it was.
    WriteError, WriteErrorKind
}
family! {
    /// Samples could not be read or taken. None was taken.
    ReadError, ReadErrorKind
}
family! {
    /// A filter or query was not taken over. Everything is as it was.
    FilterError, FilterErrorKind
}
family! {
    /// What was waited for did not happen.
    WaitError, WaitErrorKind
}

/// What every kind can say, and [`QosErrorKind`], which comes from another crate, as well.
pub(super) trait Advice {
    fn next_step(&self) -> &'static str;
    fn return_code(&self) -> ReturnCode;
}

impl Advice for QosErrorKind {
    fn next_step(&self) -> &'static str {
        match self {
            Self::Immutable { .. } => "make a new entity with the other QoS",
            Self::Unsupported { .. } => "leave the policy at its default",
            _ => "change one of the named policies",
        }
    }

    fn return_code(&self) -> ReturnCode {
        match self {
            Self::Immutable { .. } => ReturnCode::ImmutablePolicy,
            Self::Unsupported { .. } => ReturnCode::Unsupported,
            _ => ReturnCode::InconsistentPolicy,
        }
    }
}

/// Why nothing was written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WriteErrorKind {
    /// The sample does not fit its type's encoding, for instance a bound is exceeded.
    Encode(EncodeError),
    /// A sample that was encoded elsewhere is not one of the writer's type.
    NotASample(DecodeError),
    /// A sample that was encoded elsewhere follows other rules than the writer has announced.
    OtherEncoding {
        /// What the writer has announced.
        offered: Encoding,
        /// What the sample's header says.
        given: Encoding,
    },
    /// The history is full of samples that a reliable reader has not acknowledged, and stayed so for
    /// `max_blocking_time`.
    Timeout {
        /// How long the writer waited.
        waited: Duration,
        /// The reader that is furthest behind. `None`: it has caught up, or left, at the last moment.
        slowest: Option<ReaderLag>,
    },
    /// The history is full of samples that a reliable reader has not acknowledged, and the call was not allowed to wait.
    Full {
        /// The reader that is furthest behind. `None`: there is none, but others wait for room and come first.
        slowest: Option<ReaderLag>,
    },
    /// A resource limit of the writer's QoS is reached, and waiting would not help.
    OutOfResources {
        /// The limit's name.
        limit: &'static str,
        /// Its value.
        value: u64,
    },
    /// The instance is not registered with this writer: neither by `register_instance` nor by a write, or no longer.
    UnknownInstance,
    /// The options name an instance, and the key is that of another one.
    OtherInstance {
        /// What the options say.
        given: InstanceHandle,
    },
    /// The writer has been closed.
    Closed,
    /// The writer has been made disabled, and is not enabled yet (DDS 1.4, 2.2.2.1.1.7).
    NotEnabled,
    /// The participant was made by the parent of this process, whose threads do not exist here.
    Forked,
    /// A part of this library failed; please report it.
    Internal {
        /// What is known.
        message: &'static str,
    },
}

impl Advice for WriteErrorKind {
    fn next_step(&self) -> &'static str {
        match self {
            Self::Encode(_) => "correct the value, or the bound in its type",
            Self::NotASample(_) => "compare the writer's type with that of the sample",
            Self::OtherEncoding { .. } => "set `representation` in the writer's QoS, or encode the sample anew",
            Self::Timeout { .. } | Self::Full { .. } => {
                "make the slow reader faster, raise `max_blocking_time` or the resource limits, keep only the last samples, or do not wait for slow readers (`slow_reader`)"
            }
            Self::OutOfResources { .. } => "raise the limit, or dispose of and unregister instances that are done",
            Self::UnknownInstance => "write or register the instance first",
            Self::OtherInstance { .. } => "give the handle that `register_instance` returned for this key, or none",
            Self::Closed => "make a new writer",
            Self::NotEnabled => "call `enable` on it, or on what it was made with",
            Self::Forked => "make participants in the process that uses them, after the fork",
            Self::Internal { .. } => "this is a bug of dds-core: please report it with this message",
        }
    }

    fn return_code(&self) -> ReturnCode {
        match self {
            Self::Encode(_) | Self::NotASample(_) | Self::OtherEncoding { .. } => ReturnCode::BadParameter,
            Self::Timeout { .. } | Self::Full { .. } => ReturnCode::Timeout,
            Self::OutOfResources { .. } => ReturnCode::OutOfResources,
            Self::UnknownInstance | Self::OtherInstance { .. } => ReturnCode::PreconditionNotMet,
            Self::Closed => ReturnCode::AlreadyDeleted,
            Self::NotEnabled => ReturnCode::NotEnabled,
            Self::Forked => ReturnCode::IllegalOperation,
            Self::Internal { .. } => ReturnCode::Error,
        }
    }
}

impl fmt::Display for WriteErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encode(error) => write!(f, "the sample cannot be encoded: {error}"),
            Self::NotASample(error) => write!(f, "the encoded sample is not one of the type: {error}"),
            Self::OtherEncoding { offered, given } => {
                write!(f, "the sample is encoded as {given:?}, and the writer has announced {offered:?}")
            }
            Self::Timeout { waited, slowest } => {
                write!(f, "the history stayed full of unacknowledged samples for {waited}")?;
                write_slowest(f, *slowest)
            }
            Self::Full { slowest } => {
                f.write_str("the history is full of unacknowledged samples")?;
                write_slowest(f, *slowest)
            }
            Self::OutOfResources { limit, value } => write!(f, "{limit} = {value} is reached"),
            Self::UnknownInstance => f.write_str("the instance is not registered with this writer"),
            Self::OtherInstance { given } => write!(f, "the key is not that of the instance {given:?}"),
            Self::Closed => f.write_str("the writer has been closed"),
            Self::NotEnabled => f.write_str("the writer is not enabled yet"),
            Self::Forked => f.write_str("it belongs to the parent of this process"),
            Self::Internal { message } => write!(f, "internal error: {message}"),
        }
    }
}

fn write_slowest(f: &mut fmt::Formatter<'_>, slowest: Option<ReaderLag>) -> fmt::Result {
    match slowest {
        Some(ReaderLag { reader, samples }) => write!(f, "; the reader {reader} is {samples} samples behind"),
        None => Ok(()),
    }
}

/// Why nothing was read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The condition is one of another reader.
    ForeignCondition,
    /// A selection was given two query conditions.
    TwoQueries,
    /// Its subscriber asks for coherent or ordered access with scope GROUP, and nobody has begun access (DDS 1.4, 2.2.2.5.2.8).
    OutsideAccess,
    /// The reader has been closed.
    Closed,
    /// The reader has been made disabled, and is not enabled yet (DDS 1.4, 2.2.2.1.1.7).
    NotEnabled,
    /// The participant was made by the parent of this process, whose threads do not exist here.
    Forked,
    /// A part of this library failed; please report it.
    Internal {
        /// What is known.
        message: &'static str,
    },
}

impl Advice for ReadErrorKind {
    fn next_step(&self) -> &'static str {
        match self {
            Self::TwoQueries => "make one query of both, joined by AND",
            Self::OutsideAccess => "call `access` of the subscriber, and read while what it returns lives",
            Self::ForeignCondition => "make the condition with `read_condition` of this reader",
            Self::Closed => "make a new reader",
            Self::NotEnabled => "call `enable` on it, or on what it was made with",
            Self::Forked => "make participants in the process that uses them, after the fork",
            Self::Internal { .. } => "this is a bug of dds-core: please report it with this message",
        }
    }

    fn return_code(&self) -> ReturnCode {
        match self {
            Self::Internal { .. } => ReturnCode::Error,
            Self::TwoQueries => ReturnCode::Unsupported,
            Self::ForeignCondition | Self::OutsideAccess => ReturnCode::PreconditionNotMet,
            Self::Closed => ReturnCode::AlreadyDeleted,
            Self::NotEnabled => ReturnCode::NotEnabled,
            Self::Forked => ReturnCode::IllegalOperation,
        }
    }
}

impl fmt::Display for ReadErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TwoQueries => f.write_str("a selection has one query condition at most"),
            Self::ForeignCondition => f.write_str("the condition is one of another reader"),
            Self::OutsideAccess => f.write_str("PRESENTATION has scope GROUP, and access has not begun"),
            Self::Closed => f.write_str("the reader has been closed"),
            Self::NotEnabled => f.write_str("the reader is not enabled yet"),
            Self::Forked => f.write_str("it belongs to the parent of this process"),
            Self::Internal { message } => write!(f, "internal error: {message}"),
        }
    }
}

/// Why a wait ended without what it waited for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WaitErrorKind {
    /// The time given for it is over.
    Timeout {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The entity has been closed.
    Closed,
    /// The entity has been made disabled, and is not enabled yet (DDS 1.4, 2.2.2.1.1.7).
    NotEnabled,
    /// Samples of its subscriber are only handed out while somebody has access (DDS 1.4, 2.2.2.5.2.8).
    OutsideAccess,
    /// The participant was made by the parent of this process, whose threads do not exist here.
    Forked,
    /// The wait would block the thread that delivers: the calling listener is an [`Inline`](crate::Delivery::Inline) one.
    InListener,
    /// The topic that was looked for has another type here.
    OtherType {
        /// The type that it has.
        existing: String,
    },
    /// The wait would block the thread that alone could end it: a listener waits for the end of its own entity, or a thread of
    /// the library for anything.
    WouldDeadlock,
    /// A part of this library failed; please report it.
    Internal {
        /// What is known.
        message: &'static str,
    },
}

impl Advice for WaitErrorKind {
    fn next_step(&self) -> &'static str {
        match self {
            Self::Timeout { .. } => "check that a peer with the same topic, type and compatible QoS is running",
            Self::OutsideAccess => {
                "wait with `readable` or a condition, call `access` of the subscriber, and read while what it returns lives"
            }
            Self::OtherType { .. } => "look for the topic with the type that it has",
            Self::Closed => "make a new entity",
            Self::NotEnabled => "call `enable` on it, or on what it was made with",
            Self::Forked => "make participants in the process that uses them, after the fork",
            Self::InListener => "register the listener for the event thread (`Delivery::EventThread`)",
            Self::WouldDeadlock => "wait on a thread of your own, or register the listener for the event thread",
            Self::Internal { .. } => "this is a bug of dds-core: please report it with this message",
        }
    }

    fn return_code(&self) -> ReturnCode {
        match self {
            Self::Timeout { .. } => ReturnCode::Timeout,
            Self::OtherType { .. } | Self::OutsideAccess => ReturnCode::PreconditionNotMet,
            Self::Closed => ReturnCode::AlreadyDeleted,
            Self::NotEnabled => ReturnCode::NotEnabled,
            Self::Forked => ReturnCode::IllegalOperation,
            Self::InListener | Self::WouldDeadlock => ReturnCode::IllegalOperation,
            Self::Internal { .. } => ReturnCode::Error,
        }
    }
}

impl fmt::Display for WaitErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout { waited } => write!(f, "nothing happened within {waited}"),
            Self::OtherType { existing } => write!(f, "the topic has the type `{existing}` here"),
            Self::OutsideAccess => f.write_str("PRESENTATION has scope GROUP, and access has not begun"),
            Self::Closed => f.write_str("the entity has been closed"),
            Self::NotEnabled => f.write_str("the entity is not enabled yet"),
            Self::Forked => f.write_str("it belongs to the parent of this process"),
            Self::InListener => f.write_str("an inline listener must not wait"),
            Self::WouldDeadlock => f.write_str("this thread must not wait"),
            Self::Internal { message } => write!(f, "internal error: {message}"),
        }
    }
}

/// Why there is no filter or query.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FilterErrorKind {
    /// The expression or its parameters are wrong, or do not fit the topic's type: what, and at which byte.
    Expression(ExpressionError),
    /// The name that the filtered topic should have is empty, longer than 255 bytes, or has a NUL.
    InvalidTopicName,
    /// The topic has been closed.
    Closed,
}

impl Advice for FilterErrorKind {
    fn next_step(&self) -> &'static str {
        match self {
            Self::Expression(error) => error.next_step(),
            Self::InvalidTopicName => "give it a name of 1 to 255 bytes",
            Self::Closed => "make a new topic",
        }
    }

    fn return_code(&self) -> ReturnCode {
        match self {
            Self::Expression(_) | Self::InvalidTopicName => ReturnCode::BadParameter,
            Self::Closed => ReturnCode::AlreadyDeleted,
        }
    }
}

impl fmt::Display for FilterErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expression(error) => write!(f, "at byte {}: {}", error.position(), error.kind()),
            Self::InvalidTopicName => f.write_str("the name is empty, longer than 255 bytes, or has a NUL"),
            Self::Closed => f.write_str("the topic has been closed"),
        }
    }
}

/// Any error of this crate, for `?`.
///
/// ```
/// use dds_core::{CreateErrorKind, DomainParticipant, Error, ReturnCode, Scope};
///
/// let builder = DomainParticipant::builder(233)
/// #   .domain_tag(std::process::id().to_string())
///     .scope(Scope::Host);
/// let error: Error = builder.build().unwrap_err().into();
/// // What, of which entity, and what to do next.
/// assert_eq!(error.to_string(), "participant: domain id 233 is above 232; use a domain id from 0 to 232");
/// let Error::Create(error) = error else { panic!("{error}") };
/// assert_eq!(error.kind(), &CreateErrorKind::InvalidDomain { domain_id: 233 });
/// assert_eq!(error.return_code(), ReturnCode::BadParameter);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// An entity could not be made.
    Create(CreateError),
    /// A QoS was not taken over.
    Qos(QosError),
    /// Nothing was written.
    Write(WriteError),
    /// Nothing was read.
    Read(ReadError),
    /// What was waited for did not happen.
    Wait(WaitError),
    /// A filter or query was not taken over.
    Filter(FilterError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(error) => error.fmt(f),
            Self::Qos(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
            Self::Read(error) => error.fmt(f),
            Self::Wait(error) => error.fmt(f),
            Self::Filter(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Create(error) => Some(error),
            Self::Qos(error) => Some(error),
            Self::Write(error) => Some(error),
            Self::Read(error) => Some(error),
            Self::Wait(error) => Some(error),
            Self::Filter(error) => Some(error),
        }
    }
}

macro_rules! into_error {
    ($($family:ident => $variant:ident),*) => {
        $(impl From<$family> for Error {
            fn from(error: $family) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

into_error!(CreateError => Create, QosError => Qos, WriteError => Write, ReadError => Read, WaitError => Wait, FilterError => Filter);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_entity_topic_cause_and_next_step() {
        let subject = Subject::new("writer", "robot/pose", Guid::UNKNOWN);
        let slowest = Some(ReaderLag { reader: Guid::UNKNOWN, samples: 4 });
        let waited = Duration::from_millis(100);
        let error = WriteError::new(&subject, WriteErrorKind::Timeout { waited, slowest });
        let text = Error::from(error.clone()).to_string();
        assert!(text.starts_with("writer of topic \"robot/pose\": the history stayed full"), "{text}");
        assert!(text.contains("is 4 samples behind"), "{text}");
        assert!(text.ends_with(error.next_step()), "{text}");
        assert_eq!(error.return_code(), ReturnCode::Timeout);
    }

    #[test]
    fn each_kind_says_what_it_is_and_what_to_do() {
        let reads =
            [ReadErrorKind::TwoQueries, ReadErrorKind::Closed, ReadErrorKind::NotEnabled, ReadErrorKind::Forked];
        let waits = [WaitErrorKind::Closed, WaitErrorKind::WouldDeadlock];
        let texts = reads.iter().map(ToString::to_string).chain(waits.iter().map(ToString::to_string));
        let different: std::collections::BTreeSet<String> = texts.collect();
        assert_eq!(different.len(), reads.len() + waits.len());
        assert!(!different.contains(""));
        let subject = Subject::new("reader", "robot/pose", Guid::UNKNOWN);
        let error = Error::from(ReadError::new(&subject, ReadErrorKind::TwoQueries));
        assert!(std::error::Error::source(&error).is_some());
    }

    #[test]
    fn a_policy_that_stays_is_told_from_one_that_is_not_there_and_one_that_does_not_fit() {
        let policy = crate::qos::PolicyId::History;
        let subject = Subject::new("writer", "robot/pose", Guid::UNKNOWN);
        for (kind, code, step) in [
            (QosErrorKind::Immutable { policy }, ReturnCode::ImmutablePolicy, "make a new entity"),
            (QosErrorKind::Unsupported { policy }, ReturnCode::Unsupported, "leave the policy"),
            (QosErrorKind::ZeroDepth, ReturnCode::InconsistentPolicy, "change one of the named policies"),
        ] {
            let error = QosError::new(&subject, kind);
            assert_eq!(error.return_code(), code, "{error}");
            assert!(error.next_step().starts_with(step) && error.to_string().ends_with(error.next_step()), "{error}");
        }
    }

    #[test]
    fn errors_stay_small() {
        assert!(size_of::<WriteError>() <= 64);
        assert!(size_of::<ReadError>() <= 64);
        assert!(size_of::<WaitError>() <= 64);
        assert!(size_of::<CreateError>() <= 64);
        assert!(size_of::<QosError>() <= 64);
        assert!(size_of::<Error>() <= 64);
    }
}
