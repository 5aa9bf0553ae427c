//! Real-time publish/subscribe (DDS) in pure Rust over the open RTPS wire protocol.
//!
//! A program joins a domain with a [`DomainParticipant`], and makes a [`DataWriter`] or a [`DataReader`] for each topic it
//! speaks of. Types are plain structs with `#[derive(DdsType)]`. Whoever uses the same topic name and type finds the
//! others by itself: in this process, on this host, on this network, and whichever DDS they are built on.
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
//! # Where to read on
//!
//! | to | read |
//! |---|---|
//! | describe a type: keys, bounds, how it may grow, unions, views | [`DdsType`](macro@DdsType) |
//! | publish and receive | [`DataWriter`], [`DataReader`], [`Samples`] |
//! | say how: reliable, how many are kept, for how long | [`qos::Preset`], then [`qos`] |
//! | say where: one host, some peers, which interfaces | [`DomainParticipantBuilder`], with the environment variables |
//! | wait, or be called | [`Waiting`], [`WaitSet`], [`DataReaderListener`], [`DataStream`], [`Events`] |
//! | read without decoding everything, write without a copy | [`SampleRef::view`], [`DataWriter::loan`], [`DataWriter::loan_encoded`], [Copies](#copies) |
//! | name a topic and its QoS once for both sides | [`TopicSpec`] |
//! | use topics without a Rust type | [`DomainParticipant::raw_topic`]; `dynamic_topic` and `discover_type` (feature `dynamic`) |
//! | find out who is there, and why two do not meet | [`BuiltinTopic`], [`MatchReport`] |
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
//! | what others are and have | [`EndpointInfo`], [`MatchReport`] with every [`Obstacle`] between two endpoints |
//! | infrastructure | [`Entity`] with [`enable`](Entity::enable), [`Waiting`], [`WaitSet`] and its conditions, [`Events`], the errors, the statuses, [`Delivery`] |
//! | QoS | [`qos`] |
//!
//! With the feature `profiles`, QoS comes from files in the OMG's XML form as well. With the feature `serde`, participants and endpoints take
//! their settings and QoS from TOML or JSON files
//! ([profile files](DomainParticipantBuilder#profile-files)), and types that have only serde's traits have topics
//! (`DomainParticipant::serde_topic`). Every operation of DDS is found by its standard name in the search box above.
//!
//! With the feature `durability`, a `DurabilityService` keeps samples beyond the life of their writers
//! ([`Durability::Transient`](qos::Durability::Transient), [`Durability::Persistent`](qos::Durability::Persistent)).
//!
//! With the feature `dynamic`, topics have types that are made at run time (`DomainParticipant::dynamic_topic`, module
//! `dynamic`).
//! With the feature `sim`, the module `sim` is a world in memory, to test a program against bad networks.
//!
//! # Waiting and threads
//!
//! Waits are values: [`Waiting`] is a future for any runtime, and can [`block`](Waiting::block) as well. `write` runs on the
//! calling thread, down to the socket. A participant has two threads of its own (one that receives user data, one for
//! timers and discovery) and a third for listeners once there is one that is not [`Delivery::Inline`].
//!
//! # Copies
//!
//! How often the bytes of a sample are copied, encoding and decoding included. Nothing is allocated for a sample once the
//! first ones have been through.
//!
//! | | written with | on the way | read with |
//! |---|---|---|---|
//! | within a participant | [`write`](DataWriter::write), [`loan`](DataWriter::loan): 1, the encoding; [`write_encoded`](DataWriter::write_encoded): 1; [`loan_encoded`](DataWriter::loan_encoded): 0 | 0: all readers share the writer's memory | values: 1, the decoding; [`view`](SampleRef::view), [`encoded`](SampleRef::encoded), [`to_bytes`](SampleRef::to_bytes): 0 |
//! | by UDP, up to 1024 bytes | the same | 2: behind the headers of a datagram, and into memory of each reader | the same |
//! | by UDP, above | the same | sent from where it lies; received: 1 below 4 KiB, above 0 (the receive buffer is kept; 1 if the sample fills less than half of it and 16 such lie in the reader); in fragments: 0 from the same host where one reader of the participant wants it (they are received in their place, but for the first two and the last), else 1 | the same |
//!
//! The system's own two copies by UDP come on top.
//!
//! # Forked processes
//!
//! A child made by `fork` has none of its parent's threads, and whatever it sent would go out in the parent's name. There,
//! making entities, setting listeners and every wait answer `Forked`; a `write` does so, and sends nothing, as soon as the
//! clock was read more than a millisecond after it was last read in the parent. Closing and dropping frees memory and
//! announces nothing. New participants work.
//!
//! # Defaults, decided once
//!
//! - A derived type without `extensibility` is FINAL. A writer offers XCDR1 for FINAL types and XCDR2 for others; a reader
//!   accepts both.
//! - Writers are reliable and readers best effort, as in DDS 1.4; see [`qos::Preset`] for better fitting combinations.
//! - Announcements go out at 0 and 100 ms, then every 3 s ± 10 %; others forget a silent participant after 20 s.
//! - Samples that do not fit a datagram go in fragments of up to 65 000 bytes on one host, and of one Ethernet frame else.
//! - Of a large sample, no more is on its way than a receive buffer holds: reliable readers let the next part out by their
//!   answers, and `write` waits for that for at most `max_blocking_time`; the rest follows by itself. Best-effort readers get
//!   500 MB a second on this host, and 100 MB a second elsewhere, beyond the first burst.
//! - Dropping the last handle of a participant waits for acknowledgements for at most 1 s.

// `#[derive(DdsType)]` emits absolute paths of this crate; they hold inside of it as well.
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

/// The programs of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
