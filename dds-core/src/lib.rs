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
//! | wait, or be called | [`Waiting`], [`WaitSet`], [`DataReaderListener`], [`DataStream`], [`Events`] |
//! | read without decoding everything, write without a copy | [`SampleRef::view`], [`DataWriter::loan`], [`DataWriter::loan_encoded`], [Copies](#copies) |
//! | define a topic and its QoS once for both sides | [`TopicSpec`] |
//! | use topics without a Rust type | [`DomainParticipant::raw_topic`]; `dynamic_topic` and `discover_type` (feature `dynamic`) |
//! | list peers, and find out why two endpoints do not match | [`BuiltinTopic`], [`MatchReport`] |
//! | find out where samples were lost | [`ReaderLosses`], [`TrafficCounters`] |
//! | keep samples beyond the life of their writers | [`qos::Durability`], and `DurabilityService` (feature `durability`) |
//! | test a program against a bad network | the module `sim` (feature `sim`) |
//!
//! # Map
//!
//! | module of DDS 1.4 | here |
//! |---|---|
//! | domain | [`DomainParticipant`], [`DomainParticipantBuilder`], [`Scope`], [`Receiving`] |
//! | publication | [`Publisher`], [`DataWriter`], [`DataWriterBuilder`], [`WriteOptions`], [`WriterEvent`] |
//! | subscription | [`Subscriber`], [`DataReader`], [`DataReaderBuilder`], [`Samples`], [`SampleInfo`], [`Select`], [`ReaderEvent`] |
//! | topic | [`Topic`], [`TopicSpec`], [`TopicRef`]; types by [`DdsType`] and the traits in [`cdr`] |
//! | built-in topics | [`BuiltinTopic`] and its constants, such as [`DCPS_PUBLICATION`]; [`ParticipantBuiltinTopicData`] and the other types |
//! | discovered endpoints | [`EndpointInfo`], [`MatchReport`] with every [`Obstacle`] between two endpoints |
//! | infrastructure | [`Entity`] with [`enable`](Entity::enable), [`Waiting`], [`WaitSet`] and its conditions, [`Events`], the errors, the statuses, [`Delivery`] |
//! | QoS | [`qos`] |
//!
//! The search box of this page finds each operation of DDS by its standard name.
//!
//! # Features
//!
//! - `profiles`: QoS comes from files in the OMG's XML format too.
//! - `serde`: participants and endpoints take settings and QoS from TOML or JSON files ([profile
//!   files](DomainParticipantBuilder#profile-files)). Types that implement only serde's traits have topics
//!   (`DomainParticipant::serde_topic`).
//! - `durability`: a `DurabilityService` keeps samples beyond the life of their writers
//!   ([`Durability::Transient`](qos::Durability::Transient), [`Durability::Persistent`](qos::Durability::Persistent)).
//! - `dynamic`: topics have types that are created at run time (`DomainParticipant::dynamic_topic`, module `dynamic`).
//! - `sim`: the module `sim` simulates hosts and bad networks in memory, for tests.
//!
//! # Waiting and threads
//!
//! Waits are values: [`Waiting`] is a future for any runtime, and it can [`block`](Waiting::block) as well. `write`
//! runs on the calling thread, down to the socket.
//!
//! A participant has two threads of its own. One receives user data, the other serves timers and discovery. A third
//! thread calls listeners. It starts with the first listener that is not [`Delivery::Inline`].
//!
//! # Copies
//!
//! This table counts how often the bytes of a sample are copied, encoding and decoding included. After the first
//! samples, no memory is allocated for a sample.
//!
//! | path | written with | in transit | read with |
//! |---|---|---|---|
//! | within a participant | [`write`](DataWriter::write), [`loan`](DataWriter::loan): 1, the encoding; [`write_encoded`](DataWriter::write_encoded): 1; [`loan_encoded`](DataWriter::loan_encoded): 0 | 0: all readers share the writer's memory | values: 1, the decoding; [`view`](SampleRef::view), [`encoded`](SampleRef::encoded), [`to_bytes`](SampleRef::to_bytes): 0 |
//! | UDP, up to 1024 bytes | the same | 2: into the datagram, and into memory of each reader | the same |
//! | UDP, above 1024 bytes | the same | 0 or 1, see below | the same |
//!
//! The two copies of the operating system are not included.
//!
//! Above 1024 bytes, a sample is sent in place. The receiver copies it as follows:
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
//! - At most one receive buffer of a large sample is in flight. Acknowledgements of reliable readers release the next
//!   part. `write` waits for them for at most `max_blocking_time`, and the rest is sent in the background.
//! - Best-effort readers receive 500 MB/s on this host and 100 MB/s elsewhere, after the first burst.
//! - Dropping the last handle of a participant waits for acknowledgements for at most 1 s.

// `#[derive(DdsType)]` emits absolute paths of this crate, which must also resolve inside it.
extern crate self as dds_core;

#[doc(hidden)]
pub mod actor;
mod context;
mod delivery;
mod discovery;
#[doc(hidden)]
pub mod driver;
#[cfg(feature = "durability")]
mod durability;
mod infrastructure;
mod introspection;
mod participant;
mod publication;
mod reception;
mod settings;
#[cfg(feature = "sim")]
pub mod sim;
mod subscription;
mod sync;
mod topic;

#[cfg(feature = "dynamic")]
pub use dds_rtps::cdr::dynamic;
pub use dds_rtps::{cdr, filter, qos, xtypes};

pub use cdr::{DdsType, Encoded, Encoding, Raw};
pub use context::WaitSet;
#[cfg(feature = "derive")]
pub use dds_macros::DdsType;
pub use dds_rtps::history::{InstanceState, RejectReason, SampleInfo, SampleState, States, ViewState};
pub use dds_rtps::participant::ParticipantCounters;
pub use dds_rtps::reader::{NotReceived, ReaderCounters, Undelivered, WriterLosses};
pub use dds_rtps::types::{
    Duration, Guid, InstanceHandle, IpFamilies, Locator, LocatorKind, ProtocolVersion, SequenceNumber, Time, VendorId,
};
pub use dds_rtps::wire::{ChecksumKind, SampleIdentity};
pub use dds_rtps::writer::{ReaderLag, SlowReader, WriterCounters};
pub use driver::{ThreadOptions, ThreadSettings};
#[cfg(feature = "durability")]
pub use durability::{
    DatabaseProblem, DurabilityError, DurabilityService, DurabilityServiceBuilder, DurabilityStatus,
    Sync as DatabaseSync,
};
pub use futures_core::Stream;
#[cfg(feature = "serde")]
pub use infrastructure::ProfileProblem;
pub use infrastructure::{
    Active, Condition, CreateError, CreateErrorKind, DeadlineMissedStatus, Delivery, Entity, Error, Events,
    FilterError, FilterErrorKind, GivenBack, GuardCondition, IncompatibleQosStatus, InconsistentTopicStatus,
    ListenerCounters, LivelinessChangedStatus, LivelinessLostStatus, PublicationMatchedStatus, QosError, ReadError,
    ReadErrorKind, Result, ReturnCode, SampleLostStatus, SampleRejectedStatus, SlowReaderStatus, StatusCondition,
    StatusMask, Subject, SubscriptionMatchedStatus, WaitError, WaitErrorKind, Waiting, WriteError, WriteErrorKind,
};
pub use introspection::{EndpointInfo, EndpointQos, MatchReport, Obstacle, Verdict};
pub use participant::{
    DiscoveredType, DomainParticipant, DomainParticipantBuilder, DomainParticipantListener, WeakDomainParticipant,
};
pub use publication::{
    AnyWriter, CoherentChanges, DataWriter, DataWriterBuilder, DataWriterListener, LoanedBytes, LoanedSample,
    Publisher, PublisherListener, Suspended, WeakDataWriter, WeakPublisher, WriteOptions, WriterEvent,
};
pub use reception::TrafficCounters;
pub use settings::{Receiving, Scope};
pub use subscription::{
    Access, AnyReader, DataReader, DataReaderBuilder, DataReaderListener, DataStream, IntoSamples, Iter, LikelyCause,
    QueryCondition, ReadCondition, ReaderEvent, ReaderLosses, Sample, SampleRef, SampleStream, Samples, SamplesIter,
    Select, Subscriber, SubscriberListener, WeakDataReader, WeakSubscriber,
};
#[cfg(feature = "serde")]
pub use topic::Serde;
pub use topic::{
    BuiltinTopic, ContentFilteredTopic, DCPS_PARTICIPANT, DCPS_PUBLICATION, DCPS_SUBSCRIPTION, DCPS_TOPIC,
    ParticipantBuiltinTopicData, PublicationBuiltinTopicData, SubscriptionBuiltinTopicData, Topic,
    TopicBuiltinTopicData, TopicEvent, TopicListener, TopicRef, TopicSpec, WeakTopic,
};

/// Compiles the programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
