//! Real-time publish/subscribe (DDS) in pure Rust over the open RTPS wire protocol.
//!
//! A program joins a domain with a [`DomainParticipant`]. It creates a [`DataWriter`] or a [`DataReader`] for each
//! topic it uses. Types are plain structs with `#[derive(DdsType)]`.
//!
//! Writers and readers of the same topic name and type discover each other. They may be in one process, on one host or
//! on one network. The peer may use any DDS implementation.
//!
//! ```
//! use dds_core::{DdsType, DomainParticipant, Scope};
//!
//! #[derive(DdsType, Debug, PartialEq)]
//! struct Pose {
//!     #[dds(key)]
//!     robot: u32,
//!     x: f64,
//! }
//!
//! # fn main() -> dds_core::Result<()> {
//! let participant = DomainParticipant::builder(0)
//!     .scope(Scope::Host)
//! #   .domain_tag(std::process::id().to_string())
//!     .build()?;
//! let reader = participant.reader::<Pose>("robot/pose")?;
//! let writer = participant.writer::<Pose>("robot/pose")?;
//! writer.wait_for_readers(1).block()?;
//! writer.write(&Pose { robot: 7, x: 1.0 })?;
//! assert_eq!(reader.next_sample().block()?.data, Some(Pose { robot: 7, x: 1.0 }));
//! # Ok(())
//! # }
//! ```
//!
//! # Where to find what you need
//!
//! | task | see |
//! |---|---|
//! | describe a type: keys, bounds, extensibility, unions, views | [`DdsType`](macro@DdsType) |
//! | publish and receive | [`DataWriter`], [`DataReader`], [`Samples`] |
//! | choose QoS: reliability, history, durability | [`qos::Preset`], then [`qos`] |
//! | choose the network: one host, certain peers, certain interfaces | [`DomainParticipantBuilder`], with the environment variables |
//! | wait, or be called | [`Waiting`], [`WaitSet`](condition::WaitSet), [`DataReaderListener`](listener::DataReaderListener), [`SampleStream`](reader::SampleStream), [`Events`](status::Events) |
//! | read without decoding everything, write without a copy | [`SampleRef::view`](reader::SampleRef::view), [`DataWriter::loan`], [`DataWriter::loan_encoded`], [Copies](#copies) |
//! | define a topic and its QoS once for both sides | [`TopicSpec`] |
//! | use topics without a Rust type | [`DomainParticipant::raw_topic`]; `dynamic_topic` and `discover_type` (feature `dynamic`) |
//! | call services: requests and replies | [`rpc::Requester`], [`rpc::Replier`] |
//! | list peers, and find out why two endpoints do not match | [`BuiltinTopic`](builtin::BuiltinTopic), [`MatchReport`](matching::MatchReport) |
//! | find out where samples were lost | [`ReaderLosses`](stats::ReaderLosses), [`TrafficCounters`](stats::TrafficCounters) |
//! | find out how long samples take | [`ReaderLatencies`](stats::ReaderLatencies), [`DataWriter::acknowledgment_latency`], for other programs [`publish_latencies`](DomainParticipantBuilder::publish_latencies) |
//! | keep samples beyond the life of their writers | [`qos::Durability`], and the crate `dds-durability` |
//! | test a program against a bad network | the module `sim` (feature `sim`) |
//! | keep others out of a domain | the module `security`: a passphrase (feature `security`), or certificates (feature `security-pki`) |
//!
//! # Map
//!
//! | module of DDS 1.4 | here |
//! |---|---|
//! | domain | [`DomainParticipant`], [`DomainParticipantBuilder`], [`Scope`], [`Receiving`](config::Receiving) |
//! | publication | [`Publisher`], [`DataWriter`], [`DataWriterBuilder`], [`WriteOptions`](writer::WriteOptions), [`WriterEvent`](status::WriterEvent) |
//! | subscription | [`Subscriber`], [`DataReader`], [`DataReaderBuilder`], [`Samples`], [`SampleInfo`], [`Select`](reader::Select), [`ReaderEvent`](status::ReaderEvent) |
//! | topic | [`Topic`], [`TopicSpec`], [`TopicRef`]; types by [`DdsType`] and the traits in [`cdr`] |
//! | built-in topics | [`BuiltinTopic`](builtin::BuiltinTopic) and its constants, such as [`BuiltinTopic::PUBLICATION`](builtin::BuiltinTopic::PUBLICATION); [`ParticipantBuiltinTopicData`](builtin::ParticipantBuiltinTopicData) and the other types |
//! | discovered endpoints | [`EndpointInfo`](matching::EndpointInfo), [`MatchReport`](matching::MatchReport) with every [`Obstacle`](matching::Obstacle) between two endpoints |
//! | infrastructure | [`Entity`] with [`enable`](Entity::enable), [`Waiting`], [`WaitSet`](condition::WaitSet) and its conditions, [`Events`](status::Events), the errors, the statuses, [`Delivery`](listener::Delivery) |
//! | QoS | [`qos`] |
//!
//! The search box of this page finds each operation of DDS by its standard name.
//!
//! # Features
//!
#![cfg_attr(feature = "document-features", doc = document_features::document_features!())]
#![cfg_attr(not(feature = "document-features"), doc = "`Cargo.toml` of this crate describes them.")]
//!
//! # Waiting and threads
//!
//! Waits are values: [`Waiting`] is a future for any runtime, and it can [`block`](Waiting::block) as well. `write`
//! runs on the calling thread, down to the socket.
//!
//! A participant has two threads of its own. One receives user data, the other serves timers and discovery. A third
//! thread calls listeners. It starts with the first listener that is not
//! [`Delivery::Inline`](listener::Delivery::Inline).
//!
//! # Copies
//!
//! This table counts how often the bytes of a sample are copied, encoding and decoding included. After the first
//! samples, no memory is allocated for a sample.
//!
//! | path | written with | in transit | read with |
//! |---|---|---|---|
//! | within a participant | [`write`](DataWriter::write), [`loan`](DataWriter::loan): 1, the encoding; [`write_encoded`](DataWriter::write_encoded): 1; [`loan_encoded`](DataWriter::loan_encoded): 0 | 0: all readers share the writer's memory | values: 1, the decoding; [`view`](reader::SampleRef::view), [`encoded`](reader::SampleRef::encoded), [`to_bytes`](reader::SampleRef::to_bytes): 0 |
//! | UDP, up to 1024 bytes | the same | 2: into the datagram, and into memory of each reader | the same |
//! | UDP, above 1024 bytes | the same | 0 or 1, see below | the same |
//! | shared memory (Linux), below 64 KiB | the same | 1 more than by UDP on each side; a loan from 4 KiB: 1 | the same |
//! | shared memory, from 64 KiB to almost 8 MiB | the same | 0; 1 for a first or growing value; 1 beyond the bound of kept messages | the same |
//!
//! The two copies of the operating system are not included. Shared memory has none.
//!
//! By UDP, a sample above 1024 bytes is sent in place. The receiver copies it as follows:
//!
//! - Below 4 KiB: 1.
//! - From 4 KiB in one datagram: 0, because the reader keeps the receive buffer. If the sample fills less than half of
//!   the buffer and the reader holds 16 such samples already: 1.
//! - In fragments from the same host, if one reader of the participant receives the sample: 0 (in-place reception),
//!   except for the first two fragments and the last one.
//! - In other fragments: 1.
//!
//! # Forked processes
//!
//! A child process created by `fork` has no threads of its parent, and it would send in the parent's name. In the
//! child, the entities of the parent behave as follows:
//!
//! - Creating entities, setting listeners and every wait fail with `Forked`.
//! - `write` fails with `Forked` and sends nothing once the child detects the fork. It does so at the first clock
//!   reading that is more than a millisecond after the last one in the parent.
//! - Closing or dropping an entity frees its memory and announces nothing.
//! - New participants work.
//!
//! # Defaults
//!
//! - A derived type without `extensibility` is FINAL. A writer offers XCDR1 for FINAL types and XCDR2 for others. A
//!   reader accepts both.
//! - Writers are reliable and readers are best effort, as in DDS 1.4. [`qos::Preset`] has combinations for common uses.
//! - A participant announces itself at 0 and 100 ms, then every 3 s ± 10 %. Peers remove it after 20 s of silence.
//! - A sample that does not fit into a datagram is sent in fragments. On one host they have up to 65 000 bytes,
//!   otherwise the size of one Ethernet frame.
//! - At most one receive buffer of a large sample is in flight. Acknowledgments of reliable readers release the next
//!   part. `write` waits for them for at most `max_blocking_time`, and the rest is sent in the background.
//! - Best-effort readers receive 500 MB/s on this host and 100 MB/s elsewhere, after the first burst.
//! - Dropping the last handle of a participant waits for acknowledgments for at most 1 s.

#![cfg_attr(docsrs, feature(doc_cfg))]

// `#[derive(DdsType)]` emits absolute paths of this crate, which must also resolve inside it.
extern crate self as dds_core;

#[doc(hidden)]
pub mod actor;
#[doc(hidden)]
pub mod audience;
mod context;
mod delivery;
mod discovery;
#[doc(hidden)]
pub mod driver;
mod endpoint;
mod infrastructure;
mod introspection;
mod participant;
// Each transport of this crate keeps the contract.
#[cfg(test)]
#[cfg(any(feature = "sim", all(feature = "shm", target_os = "linux", not(dds_loom))))]
#[path = "../../dds-rtps/src/transport/contract/promises.rs"]
mod promises;
#[cfg(feature = "security-pki")]
mod protection;
mod publication;
mod reception;
#[doc(hidden)]
pub mod relay;
pub mod rpc;
mod settings;
#[cfg(feature = "sim")]
pub mod sim;
mod subscription;
mod sync;
mod topic;

#[cfg(feature = "derive")]
pub use dds_macros::DdsType;
pub use dds_rtps::cdr::DdsType;
pub use dds_rtps::history::{InstanceState, SampleInfo};
pub use dds_rtps::types::{Duration, Guid, InstanceHandle, Time};

pub use infrastructure::{Entity, Error, Result, Waiting};
pub use participant::{DomainParticipant, DomainParticipantBuilder};
pub use publication::{DataWriter, DataWriterBuilder, Publisher};
pub use settings::Scope;
pub use subscription::{Change, DataReader, DataReaderBuilder, Sample, Samples, Subscriber};
pub use topic::{Topic, TopicRef, TopicSpec};

/// The names that most programs use: `use dds_core::prelude::*;`.
pub mod prelude {
    pub use crate::condition::WaitSet;
    pub use crate::qos::Preset;
    pub use crate::{
        Change, DataReader, DataWriter, DdsType, DomainParticipant, Entity, Publisher, Sample, Samples, Scope,
        Subscriber, Topic, TopicSpec,
    };
}

/// Quality of service: the policies of each entity as plain data, and [`Preset`](qos::Preset)s.
///
/// One struct for each kind of entity has the policies that DDS 1.4 gives to it, with the defaults of its tables
/// (DDS 1.4, 2.2.3). Start with `Default::default()` or a preset and chain setters.
pub mod qos {
    pub use dds_rtps::qos::{
        AccessScope, DataReaderQos, DataRepresentation, DataWriterQos, DestinationOrder, DomainParticipantQos,
        Durability, DurabilityService, EntityFactory, History, Liveliness, LivelinessKind, Ownership, PolicyId,
        Presentation, Preset, PublisherQos, ReaderDataLifecycle, Reliability, ResourceLimits, SubscriberQos, TopicQos,
        TypeConsistency, TypeConsistencyKind, WriterDataLifecycle,
    };
}

/// Errors, one family for each kind of operation, with their next steps.
pub mod error {
    #[cfg(feature = "serde")]
    pub use crate::infrastructure::ProfileProblem;
    pub use crate::infrastructure::{
        CreateError, CreateErrorKind, Missing, QosError, ReadError, ReadErrorKind, ReturnCode, WaitError,
        WaitErrorKind, WriteError, WriteErrorKind,
    };
    pub use dds_rtps::cdr::{DecodeError, DecodeErrorKind, EncodeError};
    pub use dds_rtps::filter::{ExpressionError, ExpressionErrorKind};
    pub use dds_rtps::qos::QosErrorKind;
}

/// Statuses of entities, and the events that report them.
pub mod status {
    pub use crate::infrastructure::{
        CountStatus, DeadlineMissedStatus, Events, IncompatibleQosStatus, LivelinessChangedStatus, PeerStatus,
        SampleRejectedStatus, StatusMask,
    };
    pub use crate::publication::WriterEvent;
    pub use crate::subscription::ReaderEvent;
    pub use dds_rtps::history::RejectReason;
}

/// Listeners of all entities, the thread that calls them, and weak handles for them.
///
/// The builders take closures as well.
pub mod listener {
    pub use crate::endpoint::AnyEndpoint;
    pub use crate::infrastructure::{Delivery, Weak};
    pub use crate::publication::{DataWriterListener, PublisherListener};
    pub use crate::subscription::{DataReaderListener, SubscriberListener};
    pub use crate::topic::TopicListener;
}

/// Wait sets and their conditions.
pub mod condition {
    pub use crate::context::WaitSet;
    pub use crate::infrastructure::{Active, Condition, GuardCondition, StatusCondition};
    pub use crate::subscription::{QueryCondition, ReadCondition};
}

/// Content filters of topics, readers and queries.
///
/// Elements of an expression (DDS 1.4, Annex B):
///
/// | | |
/// |---|---|
/// | comparisons | `=`, `<>`, `!=`, `<`, `<=`, `>`, `>=`, `BETWEEN 1 AND 9`, `NOT BETWEEN` |
/// | operands | a field on one side; a literal, parameter or field on the other |
/// | `LIKE 'a%_'` | pattern of a string; `%`: any characters, `_`: one |
/// | `MATCH 'a*,[b-d]?'` | list of POSIX `fnmatch` patterns, as in RTI Connext |
/// | operators | `AND`, `OR`, `NOT`, parentheses |
/// | fields | `pose.position.x`, `corners[2].y`, `grid[1][0]`, fields of bitsets |
/// | unions | members by name, the discriminator as `_d` |
/// | literals | `12`, `-0x1f`, `1.5e3`, `'text'`, `'c'`, `'ENUMERATOR'`, `TRUE`, `FALSE` |
/// | parameters | `%0` to `%99`, or `'%0'` outside of patterns; values `RED` or `'RED'` |
///
/// A comparison with an absent value is false: an absent optional member, an element beyond the end, a union member
/// that is not selected. Numbers are compared by value, and strings by the code points of their characters.
pub mod filter {
    pub use crate::topic::{ContentFilteredTopic, FilterExpression};
}

/// Arguments and results of a [`DataWriter`]: options, loans, coherent sets.
pub mod writer {
    pub use crate::publication::{CoherentChanges, LoanedBytes, LoanedSample, Suspended, WriteOptions};
    pub use dds_rtps::types::SequenceNumber;
    pub use dds_rtps::wire::SampleIdentity;
    pub use dds_rtps::writer::SlowReader;
}

/// Arguments and results of a [`DataReader`]: selections, iterators, streams.
pub mod reader {
    pub use crate::subscription::{Access, IntoSamples, SampleRef, SampleStream, SamplesIter, Select};
    pub use dds_rtps::history::{SampleState, States, ViewState};
}

/// The built-in topics, which describe the entities of the domain.
pub mod builtin {
    pub use crate::topic::{
        BuiltinTopic, ParticipantBuiltinTopicData, PublicationBuiltinTopicData, SubscriptionBuiltinTopicData,
        TopicBuiltinTopicData,
    };
    pub use dds_rtps::types::{Locator, LocatorKind, VendorId};
}

/// Reports on matched endpoints, and on those that do not match.
pub mod matching {
    pub use crate::introspection::{EndpointInfo, EndpointQos, MatchReport, Obstacle};
    pub use dds_rtps::xtypes::{TypeDifference, TypeDifferenceKind};
}

/// Counters and ledgers: losses, traffic, the protocol.
pub mod stats {
    pub use crate::infrastructure::ListenerCounters;
    pub use crate::reception::TrafficCounters;
    pub use crate::subscription::{LikelyCause, ReaderLosses};
    #[cfg(feature = "derive")]
    pub use crate::topic::{LatencyBucket, LatencyKind, LatencyReport};
    pub use dds_rtps::history::ReaderLatencies;
    pub use dds_rtps::participant::ParticipantCounters;
    pub use dds_rtps::reader::{NotReceived, ReaderCounters, Undelivered, WriterLosses};
    pub use dds_rtps::types::LatencyHistogram;
    pub use dds_rtps::writer::WriterCounters;
}

/// Settings of a [`DomainParticipantBuilder`].
pub mod config {
    pub use crate::driver::ThreadSettings;
    pub use crate::settings::Receiving;
    pub use dds_rtps::types::IpFamilies;
    pub use dds_rtps::wire::ChecksumKind;
}

/// Protection of messages: identities with governance and permissions, or pre-shared keys.
#[cfg(feature = "security")]
pub mod security {
    #[cfg(feature = "security-pki")]
    pub use crate::protection::{
        Credentials, CredentialsError, SecurityEvent, SecurityEventProperty, SecurityEventTime, SecuritySeverity,
    };
    pub use dds_security::psk::{KeyFileError, Passphrase, PassphraseError, PreSharedKey};
}

/// Encoded samples, and types of members without a counterpart in Rust.
///
/// `#[derive(DdsType)]` implements the traits.
pub mod cdr {
    pub use dds_rtps::cdr::{
        Bounded, Char16, Decode, DecodeOwned, Encode, Encoded, Encoding, Extensibility, F128, Keyed, OrDefault, Raw,
        RosWString, Run, Trimmed, TypeInfo, ViewOf, WString,
    };
}

/// Types that are known at run time only (feature `dynamic`).
#[cfg(feature = "dynamic")]
pub mod dynamic {
    pub use crate::participant::DiscoveredType;
    pub use dds_rtps::cdr::TryConstruct;
    pub use dds_rtps::cdr::dynamic::{
        BitmaskBuilder, BitsetBuilder, CollectionBuilder, DataError, DynamicCase, DynamicData, DynamicKind,
        DynamicMember, DynamicRef, DynamicType, EnumBuilder, FromDynamic, Input, MemberId, MemberPath, PrimitiveKind,
        PrimitiveKindOf, StructBuilder, TypeDraft, TypeError, UnionBuilder,
    };
}

/// Modules for the code of `#[derive(DdsType)]`. They may change in every version.
#[doc(hidden)]
pub mod __private {
    pub use dds_rtps::{cdr, filter, qos, xtypes};
}

/// Compiles the program of the README of this package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
