//! Errors, one family for each kind of operation. An error names the entity, the topic, the cause and the next step.
//!
//! Each entity creates its [`Subject`] once and shares it. An error on a hot path (`Full` in a loop) allocates nothing.

use crate::infrastructure::{CreateErrorKind, Missing, ReturnCode};
use dds_rtps::cdr::{DecodeError, EncodeError, Encoding};
use dds_rtps::qos::QosErrorKind;
use dds_rtps::types::{Duration, Guid, InstanceHandle};
use std::fmt;
use std::sync::Arc;

/// A result whose error is this crate's [`Error`] by default.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The entity that an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    /// `"participant"`, `"publisher"`, `"subscriber"`, `"topic"`, `"writer"` or `"reader"`.
    pub(crate) entity: &'static str,
    /// Empty for a participant.
    pub(crate) topic: String,
    /// [`Guid::UNKNOWN`] if the entity was never created.
    pub(crate) guid: Guid,
}

impl Subject {
    pub(crate) fn new(entity: &'static str, topic: &str, guid: Guid) -> Arc<Self> {
        // Allocated once for each entity, so that an error on a hot path allocates nothing.
        Arc::new(Self { entity, topic: topic.to_owned(), guid })
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Participants and groups have no topic.
        if self.topic.is_empty() {
            write!(f, "{}", self.entity)
        } else {
            write!(f, "{} of topic \"{}\"", self.entity, self.topic)
        }
    }
}

/// The cause of an error, without the entity.
pub(crate) trait ErrorKind {
    type Error;

    fn about(self, subject: &Arc<Subject>) -> Self::Error;
}

/// Adds the entity to the error of a result.
pub(crate) trait About<T, K: ErrorKind> {
    fn about(self, subject: &Arc<Subject>) -> std::result::Result<T, K::Error>;
}

impl<T, K: ErrorKind> About<T, K> for std::result::Result<T, K> {
    fn about(self, subject: &Arc<Subject>) -> std::result::Result<T, K::Error> {
        match self {
            Ok(value) => Ok(value),
            Err(kind) => Err(kind.about(subject)),
        }
    }
}

/// Defines one family: a struct of subject and kind, and the methods of all families.
macro_rules! family {
    ($(#[$doc:meta])* $name:ident, $kind:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq)]
        pub struct $name {
            subject: Arc<Subject>,
            kind: $kind,
        }

        impl ErrorKind for $kind {
            type Error = $name;

            fn about(self, subject: &Arc<Subject>) -> $name {
                $name::new(subject, self)
            }
        }

        impl $name {
            pub(crate) fn new(subject: &Arc<Subject>, kind: $kind) -> Self {
                Self { subject: Arc::clone(subject), kind }
            }

            /// Returns the cause, with its numbers.
            #[must_use]
            pub fn kind(&self) -> &$kind {
                &self.kind
            }

            /// Returns the kind of the entity that the operation was for, such as `"reader"`.
            #[must_use]
            pub fn entity(&self) -> &'static str {
                self.subject.entity
            }

            /// Returns the name of the entity's topic. Empty for an entity without a topic.
            #[must_use]
            pub fn topic(&self) -> &str {
                &self.subject.topic
            }

            /// Returns the GUID of the entity. [`Guid::UNKNOWN`] if the entity was never created.
            #[must_use]
            pub fn guid(&self) -> Guid {
                self.subject.guid
            }

            /// Returns the next step of the user, in one sentence.
            #[must_use]
            pub fn next_step(&self) -> &'static str {
                self.kind.next_step()
            }

            /// Returns the return code of DDS 1.4 (2.2.1.1), for language bindings.
            #[must_use]
            pub fn return_code(&self) -> ReturnCode {
                self.kind.return_code()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}: {}", self.subject, self.kind)?;
                // `{:#}` is one line with everything, for a log. A report walks the sources instead.
                match Advice::source(&self.kind) {
                    Some(source) if f.alternate() => write!(f, ": {source}; {}", self.kind.next_step()),
                    _ => write!(f, "; {}", self.kind.next_step()),
                }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // `main` prints an error by `Debug`, and then its text is what helps.
                write!(f, "{self:#}")
            }
        }

        impl std::error::Error for $name {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Advice::source(&self.kind)
            }
        }
    };
}

family! {
    /// Error of creating an entity, or of changing its filter. A refused change leaves the previous filter in effect.
    CreateError, CreateErrorKind
}
family! {
    /// Error of changing a QoS. The QoS stays unchanged.
    QosError, QosErrorKind
}
family! {
    /// Error of publishing a sample, a dispose or an unregister. No part of it is published.
    WriteError, WriteErrorKind
}
family! {
    /// Error of reading or taking samples. No sample is taken.
    ReadError, ReadErrorKind
}
family! {
    /// Error of a wait whose event did not occur.
    WaitError, WaitErrorKind
}

/// Advice of each kind. A trait, because [`QosErrorKind`] comes from another crate.
pub(super) trait Advice {
    fn next_step(&self) -> &'static str;
    fn return_code(&self) -> ReturnCode;

    /// Returns the error that caused this one. Its text is no part of the text of this error.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        None
    }
}

impl Advice for QosErrorKind {
    fn next_step(&self) -> &'static str {
        match self {
            Self::Immutable { .. } => "create a new entity with the other QoS",
            _ => "change one of the named policies",
        }
    }

    fn return_code(&self) -> ReturnCode {
        match self {
            Self::Immutable { .. } => ReturnCode::ImmutablePolicy,
            _ => ReturnCode::InconsistentPolicy,
        }
    }
}

/// Cause of a [`WriteError`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WriteErrorKind {
    /// The sample does not fit the encoding of its type. For example, it exceeds a bound.
    Encode(EncodeError),
    /// A sample that was encoded elsewhere is not a sample of the writer's type.
    NotASample(DecodeError),
    /// A sample that was encoded elsewhere has another encoding than the writer has announced.
    OtherEncoding {
        /// The encoding that the writer has announced.
        offered: Encoding,
        /// The encoding in the sample's header.
        given: Encoding,
    },
    /// The history was full of unacknowledged samples for all of `max_blocking_time`.
    ///
    /// A reliable reader has not acknowledged them.
    Timeout {
        /// Time that the writer waited.
        waited: Duration,
        /// The reader with the largest lag. `None` if it caught up or left at the last moment.
        slowest: Option<Guid>,
        /// Written samples that this reader has not acknowledged.
        behind: u64,
    },
    /// The history is full of unacknowledged samples, and the call was not allowed to wait.
    ///
    /// A reliable reader has not acknowledged them.
    Full {
        /// The reader with the largest lag. `None` if no reader lags, but other callers already wait for room.
        slowest: Option<Guid>,
        /// Written samples that this reader has not acknowledged.
        behind: u64,
    },
    /// A resource limit of the writer's QoS is reached. Waiting would not help.
    OutOfResources {
        /// Name of the limit.
        limit: &'static str,
        /// Value of the limit.
        value: u64,
    },
    /// The instance is not registered with this writer, or no longer.
    ///
    /// `register_instance` and each write register an instance.
    UnknownInstance,
    /// The options name another instance than the key of the sample does.
    OtherInstance {
        /// The instance in the options.
        given: InstanceHandle,
    },
    /// The writer is closed.
    Closed,
    /// The writer was created disabled and is not enabled yet (DDS 1.4, 2.2.2.1.1.7).
    NotEnabled,
    /// The parent of this process created the participant. Its threads do not exist in this process.
    Forked,
    /// A bug of this library. Please report it.
    Internal {
        /// Description of the failure.
        message: &'static str,
    },
}

impl Advice for WriteErrorKind {
    fn next_step(&self) -> &'static str {
        match self {
            Self::Encode(_) => "correct the value, or the bound in its type",
            Self::NotASample(_) => "compare the writer's type with that of the sample",
            Self::OtherEncoding { .. } => "set `representation` in the writer's QoS, or encode the sample again",
            Self::Timeout { .. } | Self::Full { .. } => {
                "make the slow reader faster, raise `max_blocking_time` or the resource limits, keep only the last samples, or do not wait for slow readers (`slow_reader`)"
            }
            Self::OutOfResources { .. } => "raise the limit, or dispose of and unregister instances that are done",
            Self::UnknownInstance => "write or register the instance first",
            Self::OtherInstance { .. } => "give the handle that `register_instance` returned for this key, or none",
            Self::Closed => "create a new writer",
            Self::NotEnabled => "enable the entity or its parent",
            Self::Forked => "create participants after the fork, in the process that uses them",
            Self::Internal { .. } => "this is a bug of dds-core: please report it with this message",
        }
    }

    fn return_code(&self) -> ReturnCode {
        match self {
            Self::Encode(_) | Self::NotASample(_) | Self::OtherEncoding { .. } => ReturnCode::BadParameter,
            // `Full` is a write that may not block: its timeout is zero.
            Self::Timeout { .. } | Self::Full { .. } => ReturnCode::Timeout,
            Self::OutOfResources { .. } => ReturnCode::OutOfResources,
            Self::UnknownInstance | Self::OtherInstance { .. } => ReturnCode::PreconditionNotMet,
            Self::Closed => ReturnCode::AlreadyDeleted,
            Self::NotEnabled => ReturnCode::NotEnabled,
            // DDS 1.4 has this code for calls on an inappropriate object, such as one of another process.
            Self::Forked => ReturnCode::IllegalOperation,
            Self::Internal { .. } => ReturnCode::Error,
        }
    }

    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Encode(error) => Some(error),
            Self::NotASample(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for WriteErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encode(_) => f.write_str("the sample cannot be encoded"),
            Self::NotASample(_) => f.write_str("the encoded sample is not a value of the writer's type"),
            Self::OtherEncoding { offered, given } => {
                write!(f, "the encoding of the sample is {given:?}, but the writer has announced {offered:?}")
            }
            Self::Timeout { waited, slowest, behind } => {
                write!(f, "the history stayed full of unacknowledged samples for {waited}")?;
                write_slowest(f, *slowest, *behind)
            }
            Self::Full { slowest, behind } => {
                f.write_str("the history is full of unacknowledged samples")?;
                write_slowest(f, *slowest, *behind)
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

fn write_slowest(f: &mut fmt::Formatter<'_>, slowest: Option<Guid>, behind: u64) -> fmt::Result {
    match slowest {
        Some(reader) => write!(f, "; the reader {reader} is {behind} samples behind"),
        None => Ok(()),
    }
}

/// Cause of a [`ReadError`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The condition belongs to another reader.
    ForeignCondition,
    /// A selection has two query conditions.
    TwoQueries,
    /// PRESENTATION has scope GROUP, and the application has not begun access (DDS 1.4, 2.2.2.5.2.8).
    ///
    /// The subscriber of the reader requests coherent or ordered access.
    OutsideAccess,
    /// The reader is closed.
    Closed,
    /// The reader was created disabled and is not enabled yet (DDS 1.4, 2.2.2.1.1.7).
    NotEnabled,
    /// The parent of this process created the participant. Its threads do not exist in this process.
    Forked,
    /// A bug of this library. Please report it.
    Internal {
        /// Description of the failure.
        message: &'static str,
    },
}

impl Advice for ReadErrorKind {
    fn next_step(&self) -> &'static str {
        match self {
            Self::TwoQueries => "join both expressions by AND into one query",
            Self::OutsideAccess => "call `access` of the subscriber, and read before you drop the returned guard",
            Self::ForeignCondition => "create the condition with `read_condition` of this reader",
            Self::Closed => "create a new reader",
            Self::NotEnabled => "enable the entity or its parent",
            Self::Forked => "create participants after the fork, in the process that uses them",
            Self::Internal { .. } => "this is a bug of dds-core: please report it with this message",
        }
    }

    fn return_code(&self) -> ReturnCode {
        match self {
            Self::Internal { .. } => ReturnCode::Error,
            Self::TwoQueries => ReturnCode::Unsupported,
            // DDS 1.4 names this code for a foreign condition and for a read outside of `begin_access`.
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
            Self::TwoQueries => f.write_str("a selection has more than one query condition"),
            Self::ForeignCondition => f.write_str("the condition belongs to another reader"),
            Self::OutsideAccess => f.write_str("PRESENTATION has scope GROUP, and access has not begun"),
            Self::Closed => f.write_str("the reader has been closed"),
            Self::NotEnabled => f.write_str("the reader is not enabled yet"),
            Self::Forked => f.write_str("it belongs to the parent of this process"),
            Self::Internal { message } => write!(f, "internal error: {message}"),
        }
    }
}

/// Cause of a [`WaitError`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WaitErrorKind {
    /// The timeout has expired.
    Timeout {
        /// The awaited event, such as `"sample"`.
        awaited: &'static str,
        /// The timeout of the wait.
        limit: Duration,
        /// The missing part, as far as the participant knows.
        missing: Missing,
    },
    /// The entity is closed.
    Closed,
    /// The entity was created disabled and is not enabled yet (DDS 1.4, 2.2.2.1.1.7).
    NotEnabled,
    /// The subscriber delivers samples only while the application has access (DDS 1.4, 2.2.2.5.2.8).
    OutsideAccess,
    /// The parent of this process created the participant. Its threads do not exist in this process.
    Forked,
    /// The calling listener is [`Inline`](crate::listener::Delivery::Inline). The wait would block the delivering
    /// thread.
    InListener,
    /// The topic has another type in this participant than the caller expects.
    OtherType {
        /// The type of the topic.
        existing: String,
    },
    /// A request could not be written (module [`rpc`](crate::rpc)).
    NotSent(Box<WriteErrorKind>),
    /// A reply does not decode as the type of the requester (module [`rpc`](crate::rpc)).
    NotDecodable(DecodeError),
    /// Every replier that received the request has left (module [`rpc`](crate::rpc)).
    RepliersGone,
    /// A resource limit is reached.
    OutOfResources {
        /// Name of the limit.
        limit: &'static str,
        /// Value of the limit.
        value: u64,
    },
    /// The wait would block the only thread that could end it.
    ///
    /// A listener waits for the end of its own entity, or a thread of the library waits for anything.
    WouldDeadlock,
    /// A bug of this library. Please report it.
    Internal {
        /// Description of the failure.
        message: &'static str,
    },
}

impl Advice for WaitErrorKind {
    fn next_step(&self) -> &'static str {
        match self {
            Self::Timeout { missing, .. } => missing.next_step(),
            // The write has failed, so its advice is the one that helps.
            Self::NotSent(kind) => kind.next_step(),
            Self::NotDecodable(_) => "use the same type of the reply on both sides",
            Self::RepliersGone => "send the request again once a replier has matched",
            Self::OutOfResources { .. } => "raise the limit, or read replies and end calls sooner",
            Self::OutsideAccess => {
                "wait with `readable` or a condition, call `access` of the subscriber, and read before you drop the returned guard"
            }
            Self::OtherType { .. } => "search for the topic with the type that it has here",
            Self::Closed => "create a new entity",
            Self::NotEnabled => "enable the entity or its parent",
            Self::Forked => "create participants after the fork, in the process that uses them",
            Self::InListener => "register the listener for the event thread (`Delivery::EventThread`)",
            Self::WouldDeadlock => "wait on a thread of your own, or register the listener for the event thread",
            Self::Internal { .. } => "this is a bug of dds-core: please report it with this message",
        }
    }

    fn return_code(&self) -> ReturnCode {
        match self {
            Self::Timeout { .. } => ReturnCode::Timeout,
            Self::NotSent(kind) => kind.return_code(),
            // DDS 1.4 has no calls, so the general code stands for faults of the other side.
            Self::NotDecodable(_) | Self::RepliersGone => ReturnCode::Error,
            Self::OutOfResources { .. } => ReturnCode::OutOfResources,
            Self::OtherType { .. } | Self::OutsideAccess => ReturnCode::PreconditionNotMet,
            Self::Closed => ReturnCode::AlreadyDeleted,
            Self::NotEnabled => ReturnCode::NotEnabled,
            Self::Forked => ReturnCode::IllegalOperation,
            Self::InListener | Self::WouldDeadlock => ReturnCode::IllegalOperation,
            Self::Internal { .. } => ReturnCode::Error,
        }
    }

    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The text already contains the kind. Only its source is new.
            Self::NotSent(kind) => kind.source(),
            Self::NotDecodable(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for WaitErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout { awaited, limit, missing } => write!(f, "no {awaited} within {limit}: {missing}"),
            Self::NotSent(kind) => write!(f, "the request was not sent: {kind}"),
            Self::NotDecodable(_) => f.write_str("the reply is not a value of the expected type"),
            Self::RepliersGone => f.write_str("every replier that received the request has left"),
            Self::OutOfResources { limit, value } => write!(f, "{limit} = {value} is reached"),
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

/// Any error of this crate, for `?`.
///
/// `{error}` has the entity, the cause and the next step. The [`source`](std::error::Error::source), if there is one,
/// has more details, and `{error:#}` is one line with both.
///
/// ```
/// use dds_core::{DomainParticipant, Error, Scope};
/// use dds_core::error::{CreateErrorKind, ReturnCode};
///
/// let builder = DomainParticipant::builder(233)
/// #   .domain_tag(std::process::id().to_string())
///     .scope(Scope::Host);
/// let error: Error = builder.build().unwrap_err().into();
/// // The entity, the cause, and the next step.
/// assert_eq!(error.to_string(), "participant: domain id 233 is above 232; use a domain id from 0 to 232");
/// let Error::Create(error) = error else { panic!("{error}") };
/// assert_eq!(error.kind(), &CreateErrorKind::InvalidDomain { domain_id: 233 });
/// assert_eq!(error.return_code(), ReturnCode::BadParameter);
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The entity was not created.
    Create(CreateError),
    /// The QoS was not changed.
    Qos(QosError),
    /// The sample was not published.
    Write(WriteError),
    /// No samples were read.
    Read(ReadError),
    /// The awaited event did not occur.
    Wait(WaitError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(error) => error.fmt(f),
            Self::Qos(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
            Self::Read(error) => error.fmt(f),
            Self::Wait(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl std::error::Error for Error {
    /// Returns the source of the inner error, whose text this error has.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Create(error) => error.source(),
            Self::Qos(error) => error.source(),
            Self::Write(error) => error.source(),
            Self::Read(error) => error.source(),
            Self::Wait(error) => error.source(),
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

into_error!(CreateError => Create, QosError => Qos, WriteError => Write, ReadError => Read, WaitError => Wait);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_text_has_entity_topic_cause_and_step() {
        let subject = Subject::new("writer", "robot/pose", Guid::UNKNOWN);
        let slowest = Some(Guid::UNKNOWN);
        let waited = Duration::from_millis(100);
        let error = WriteError::new(&subject, WriteErrorKind::Timeout { waited, slowest, behind: 4 });
        let text = Error::from(error.clone()).to_string();
        assert!(text.starts_with("writer of topic \"robot/pose\": the history stayed full"), "{text}");
        assert!(text.contains("is 4 samples behind"), "{text}");
        assert!(text.ends_with(error.next_step()), "{text}");
        assert_eq!(error.return_code(), ReturnCode::Timeout);
    }

    #[test]
    fn each_kind_has_its_own_text() {
        let reads =
            [ReadErrorKind::TwoQueries, ReadErrorKind::Closed, ReadErrorKind::NotEnabled, ReadErrorKind::Forked];
        let waits = [WaitErrorKind::Closed, WaitErrorKind::WouldDeadlock];
        let texts = reads.iter().map(ToString::to_string).chain(waits.iter().map(ToString::to_string));
        let different: std::collections::BTreeSet<String> = texts.collect();
        assert_eq!(different.len(), reads.len() + waits.len());
        assert!(!different.contains(""));
        let subject = Subject::new("reader", "robot/pose", Guid::UNKNOWN);
        let error = Error::from(ReadError::new(&subject, ReadErrorKind::TwoQueries));
        assert!(std::error::Error::source(&error).is_none());
    }

    /// Every error that contains other errors, and one of each family that does not.
    fn one_error_of_each_kind_with_sources() -> Vec<Error> {
        let subject = Subject::new("writer", "robot/pose", Guid::UNKNOWN);
        let too_long = EncodeError::BoundExceeded { bound: 4, length: 5 };
        let truncated = DecodeError::new(12, dds_rtps::cdr::DecodeErrorKind::Truncated);
        let qos = QosErrorKind::ZeroDepth;
        let write = |kind| Error::from(WriteError::new(&subject, kind));
        let create = |kind| Error::from(CreateError::new(&subject, kind));
        let expression = || {
            let ty = <crate::builtin::ParticipantBuiltinTopicData as dds_rtps::cdr::TypeInfo>::DESCRIPTION;
            dds_rtps::filter::Filter::new(ty, "key =", &[]).expect_err("the expression has no end")
        };
        vec![
            write(WriteErrorKind::Encode(too_long)),
            write(WriteErrorKind::NotASample(truncated)),
            write(WriteErrorKind::Closed),
            create(CreateErrorKind::Filter(expression())),
            create(CreateErrorKind::InconsistentQos(qos.clone())),
            create(CreateErrorKind::InvalidTopicName),
            Error::from(QosError::new(&subject, qos)),
            Error::from(ReadError::new(&subject, ReadErrorKind::TwoQueries)),
            Error::from(WaitError::new(&subject, WaitErrorKind::Closed)),
            Error::from(WaitError::new(&subject, WaitErrorKind::NotSent(Box::new(WriteErrorKind::Encode(too_long))))),
            Error::from(WaitError::new(&subject, WaitErrorKind::NotDecodable(truncated))),
        ]
    }

    #[test]
    fn error_chain_repeats_no_text() {
        for error in one_error_of_each_kind_with_sources() {
            let mut texts = vec![error.to_string()];
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                let text = cause.to_string();
                assert!(texts.iter().all(|before| !before.contains(&text)), "{texts:?} repeats {text:?}");
                assert!(format!("{error:#}").contains(&text), "one line has it all: {error:#}");
                texts.push(text);
                source = cause.source();
            }
            let has_source = match &error {
                Error::Write(error) => {
                    matches!(error.kind(), WriteErrorKind::Encode(_) | WriteErrorKind::NotASample(_))
                }
                Error::Wait(error) => {
                    matches!(error.kind(), WaitErrorKind::NotSent(_) | WaitErrorKind::NotDecodable(_))
                }
                _ => false,
            };
            assert_eq!(texts.len() > 1, has_source, "{texts:?}");
        }
    }

    #[test]
    fn immutable_policy_differs_from_inconsistent_one() {
        let policy = crate::qos::PolicyId::History;
        let subject = Subject::new("writer", "robot/pose", Guid::UNKNOWN);
        for (kind, code, step) in [
            (QosErrorKind::Immutable { policy }, ReturnCode::ImmutablePolicy, "create a new entity"),
            (QosErrorKind::ZeroDepth, ReturnCode::InconsistentPolicy, "change one of the named policies"),
        ] {
            let error = QosError::new(&subject, kind);
            assert_eq!(error.return_code(), code, "{error}");
            assert!(error.next_step().starts_with(step) && error.to_string().ends_with(error.next_step()), "{error}");
        }
    }

    /// `main` prints an error by `Debug`.
    #[test]
    fn debug_text_equals_alternate_display() {
        for error in one_error_of_each_kind_with_sources() {
            assert_eq!(format!("{error:?}"), format!("{error:#}"));
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
