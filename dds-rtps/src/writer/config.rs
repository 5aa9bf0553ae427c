//! What a writer is made of, and what it is told about its readers.

use crate::cdr::{AnyType, TypeDescription};
use crate::concurrent::{AssertionClock, Payload, PresentationClock};
use crate::history::{ChangeKind, HistoryLimits, MissedDeadlines, OriginalWriterInfo};
use crate::qos::{DataWriterQos, Durability, Liveliness};
use crate::types::{Duration, Guid, InstanceHandle, Locator, SequenceNumber, Time};
use crate::wire::{ContentFilterProperty, SampleIdentity};
use std::sync::Arc;

/// How large the pieces are in which samples leave.
///
/// A sample whose payload fits into one fragment goes out as DATA, whole; others as DATA_FRAG. Small samples that wait
/// together, and fragments that are smaller than the defaults, share datagrams of the defaults' size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FragmentSize {
    /// Bytes per fragment while all matched remote readers are on this host, 65 000 by default: a datagram of loopback
    /// holds 65 507, and every datagram costs a system call.
    pub same_host: u16,
    /// Bytes per fragment otherwise, 1344 by default, and 20 less where a reader is reached by IPv6: with all headers it fits into an Ethernet frame, so that losing a
    /// frame loses one fragment, not all of a datagram that IP had cut.
    pub network: u16,
}

impl FragmentSize {
    /// The smallest size that is used, whatever is asked for: 64 bytes. Below it there is nothing but headers.
    pub const MIN: u16 = 64;
    /// The largest size that is used: with the headers and a full inline QoS it fits into a UDP datagram.
    pub const MAX: u16 = 65_000;
}

impl Default for FragmentSize {
    fn default() -> Self {
        Self { same_host: Self::MAX, network: 1344 }
    }
}

/// How much may be on its way at once: of large samples, those that go out in fragments, and of small ones to reliable
/// readers.
///
/// What a reader's receive buffer has no room for is dropped by its system. A reliable reader is sent a window; it opens by
/// the answers to HEARTBEATs along the way, grows while nothing is lost, and shrinks by what is. Best-effort readers never
/// answer: they are sent a burst as large as the window, and the rest at a rate. Where there are several reliable readers,
/// the one that is furthest ahead says how fast a new sample goes; what the others lose is repaired, each in its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowConfig {
    /// Bytes to begin with while all matched remote readers are on this host. Default: 208 KiB, the receive buffer that
    /// Linux grants unless its administrator allows more.
    pub same_host: usize,
    /// Bytes to begin with otherwise. Default: 128 KiB, as in that buffer a frame of 1.5 kB takes up to twice its size.
    pub network: usize,
    /// Bytes per second to best-effort readers on this host, beyond the burst, where nobody tells how much room their buffers
    /// have ([`StatefulWriter::note_room`](super::StatefulWriter::note_room)). Default: 500 MB, a sixth of what a receiver
    /// takes that has a core to itself: with a buffer of 4 MiB it may be without one for 8 ms.
    pub same_host_rate: u64,
    /// Bytes per second to other best-effort readers, beyond the burst. Default: 100 MB, a little less than a gigabit
    /// network carries: a switch on the way drops what comes faster.
    pub network_rate: u64,
}

impl Default for FlowConfig {
    fn default() -> Self {
        Self { same_host: 208 << 10, network: 128 << 10, same_host_rate: 500_000_000, network_rate: 100_000_000 }
    }
}

/// What becomes of a reliable reader that keeps a writer from having room: one that keeps all its samples (HISTORY) within
/// limits (RESOURCE_LIMITS). Other writers never wait for a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SlowReader {
    /// It is waited for, as DDS 1.4 demands (2.2.3.14): until it has acknowledged, there is no room.
    #[default]
    Block,
    /// It is waited for no longer than this. An extension of DDS.
    ///
    /// The first write that finds no room because of a reader gives it this time to acknowledge all that was written by then.
    /// If it does not, it is treated as a best-effort reader: it is sent what is written, but nobody waits for it. What it
    /// has not acknowledged is kept for it as long as there is room, and then goes, oldest first; that, it has lost. When
    /// it returns, what is kept is repaired; and once it has kept up with the writer without another loss, it is waited
    /// for again.
    Demote {
        /// How long it is waited for. Zero: not at all.
        after: Duration,
    },
}

/// What a [`StatefulWriter`](super::StatefulWriter) is made of.
#[derive(Debug, Clone)]
pub struct WriterConfig {
    /// The writer's name.
    pub guid: Guid,
    /// Whether lost samples are repaired for readers that want it (RELIABILITY). Default: yes.
    pub reliable: bool,
    /// What readers get that join late (DURABILITY). Everything above volatile is kept as long as the writer lives.
    pub durability: Durability,
    /// How much is kept (HISTORY and RESOURCE_LIMITS).
    pub limits: HistoryLimits,
    /// What becomes of a reliable reader because of which there is no room. Default: it is waited for.
    pub slow_reader: SlowReader,
    /// How long a sample may be sent after its source timestamp (LIFESPAN). Default: for ever.
    pub lifespan: Duration,
    /// What is promised of the writer's liveliness (LIVELINESS). Default: automatic, for ever.
    pub liveliness: Liveliness,
    /// Where signs of life are noted of all writers of the participant that are manual by participant. Default: nowhere,
    /// each counts for itself.
    pub assertion_clock: Option<Arc<AssertionClock>>,
    /// How long an instance may go without a new sample (DEADLINE). Default: for ever.
    pub deadline: Duration,
    /// Whether the topic has a key: changes carry a key hash then.
    pub keyed: bool,
    /// The type, if the key hash that goes out with a change is not what its instance is known by here: of writers of XCDR1
    /// whose type has another key hash in XCDR2. It is then made of the payload each time. Default: none.
    pub hashed_type: Option<AnyType>,
    /// The type of the samples, by which content filters of readers are understood. Default: none, all goes to all readers, and
    /// they filter it.
    pub filtered_type: Option<&'static TypeDescription>,
    /// How large the pieces are in which samples leave.
    pub fragment_size: FragmentSize,
    /// How much of large samples may be on its way at once.
    pub flow: FlowConfig,
    /// How long something stays unacknowledged before a HEARTBEAT asks, if no sample has carried one. Default: 100 ms.
    /// While nobody answers it doubles, up to eightfold, from the fourth time on; while a write waits for room it is an
    /// eighth of that.
    pub heartbeat_period: Duration,
    /// The longest pause between two HEARTBEATs to readers that have never answered one, if that is more than those eight
    /// periods. They may not exist: whoever announces one at an address that is not its own must not have it sent HEARTBEATs for
    /// ever. Default: zero, such readers are asked as often as others.
    pub unheard_period_max: Duration,
    /// How long the writer collects requests before it answers. Default: zero, at once.
    pub nack_response_delay: Duration,
    /// How long the same change is not sent to the same reader again. Requests within that time wait until it is over;
    /// they are not lost. Default: 5 ms, above the round trip of a local network and its reader's answer. Once it is known how
    /// long answers take, whole changes wait for three times that, at least 1 ms and at most 500.
    pub nack_suppression: Duration,
    /// What a transient-local reader is sent unasked when it comes, in bytes of payload. The rest it asks for, window by window,
    /// at its own pace. A best-effort reader cannot ask: it gets all. Default: 128 KiB, as much as a receive buffer surely takes.
    pub unasked_max: usize,
    /// How long a small change may wait for others, to share a datagram with them: the QoS's LATENCY_BUDGET, by default
    /// zero, at once. Infinite: until a datagram is full, or [`StatefulWriter::flush`](super::StatefulWriter::flush).
    pub batch_window: Duration,
    /// Parameters that go out with each sample once a matched reader expects inline QoS: little endian, without the
    /// sentinel. Default: none.
    pub inline_qos: Vec<u8>,
    /// PRESENTATION of the writer's publisher, shared by its writers. Default: none, changes belong to no sets and to no order
    /// beyond that of the writer.
    pub presentation: Option<Arc<PresentationClock>>,
    /// Makes the order of the maps this writer's own.
    pub seed: u64,
}

impl WriterConfig {
    /// A writer with this QoS, and defaults for all that QoS does not say.
    #[must_use]
    pub fn new(guid: Guid, keyed: bool, qos: &DataWriterQos) -> Self {
        Self {
            guid,
            reliable: qos.reliability.is_reliable(),
            durability: qos.durability,
            limits: HistoryLimits::new(qos.history, qos.resource_limits),
            slow_reader: SlowReader::Block,
            lifespan: qos.lifespan,
            liveliness: qos.liveliness,
            assertion_clock: None,
            deadline: qos.deadline,
            keyed,
            hashed_type: None,
            filtered_type: None,
            fragment_size: FragmentSize::default(),
            flow: FlowConfig::default(),
            heartbeat_period: Duration::from_millis(100),
            unheard_period_max: Duration::ZERO,
            nack_response_delay: Duration::ZERO,
            nack_suppression: Duration::from_millis(5),
            unasked_max: 128 << 10,
            batch_window: qos.latency_budget,
            inline_qos: Vec::new(),
            presentation: None,
            seed: 0,
        }
    }
}

/// What a writer is told about a reader in another process.
#[derive(Debug, Clone)]
pub struct ReaderProxyConfig {
    /// The reader's name.
    pub guid: Guid,
    /// Whether it wants lost samples repaired. Counts only if the writer is reliable.
    pub reliable: bool,
    /// Whether it wants what was written before it came (durability above volatile). Counts only if the writer keeps it.
    pub wants_history: bool,
    /// Whether one that wants history asks for it by itself. A transient-local reader does. One that wants more, which a
    /// service is to bring, may take what comes and skip what was announced before it: Cyclone DDS does. Such a one is told
    /// first that what it is to get begins with the history. Default: yes.
    pub asks_for_history: bool,
    /// Whether it is sent what is written from now on. `false`: only what is kept now, if it wants history. Default: yes.
    pub live: bool,
    /// Where it can be reached by unicast: every datagram goes to all of these. May be empty if there is multicast.
    pub unicast: Vec<Locator>,
    /// Where it can be reached by multicast. Used instead of unicast where it saves datagrams.
    pub multicast: Vec<Locator>,
    /// Its content filter. The writer asks it if it can ([`WriterConfig::filtered_type`]). Default: none.
    pub content_filter: Option<Box<ContentFilterProperty>>,
    /// Whether it wants the QoS with each sample.
    pub expects_inline_qos: bool,
    /// Whether it runs on this host.
    pub same_host: bool,
}

impl ReaderProxyConfig {
    /// A best-effort reader at one address, elsewhere.
    #[must_use]
    pub fn new(guid: Guid, unicast: Vec<Locator>) -> Self {
        Self {
            guid,
            reliable: false,
            wants_history: false,
            asks_for_history: true,
            live: true,
            unicast,
            multicast: Vec::new(),
            content_filter: None,
            expects_inline_qos: false,
            same_host: false,
        }
    }
}

impl ReaderProxyConfig {
    /// Where a datagram goes that is for this reader alone.
    pub(super) fn reachable_by(&self) -> &[Locator] {
        if self.unicast.is_empty() { &self.multicast } else { &self.unicast }
    }
}

/// Who answers a writer, and where it wants to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asker {
    /// The reader.
    pub reader: Guid,
    /// Where to send what it asks for, if not where discovery says (INFO_REPLY).
    pub reply: Option<Locator>,
}

impl From<Guid> for Asker {
    /// A reader that is answered where discovery says.
    fn from(reader: Guid) -> Self {
        Self { reader, reply: None }
    }
}

/// A change that is to be written.
#[derive(Debug, Clone)]
pub struct NewChange {
    /// What happens to the instance.
    pub kind: ChangeKind,
    /// The instance; nil for keyless topics.
    pub instance: InstanceHandle,
    /// The encoded sample, or the encoded key if the change is not alive, from its encapsulation header on. No peer reads
    /// one that is shorter than that header, and DATA cannot say where one ends whose length is no multiple of 4.
    pub payload: Option<Payload>,
    /// When it happens; `None`: now.
    pub source_timestamp: Option<Time>,
    /// The sample that this one answers.
    pub related_sample: Option<SampleIdentity>,
    /// Who wrote it first, if the writer stands in for others. It goes out with the change, and its LIFESPAN counts instead of
    /// the writer's.
    pub origin: Option<Box<OriginalWriterInfo>>,
    /// The instance must be one that is registered, else the change is refused; otherwise the change registers it.
    pub must_be_registered: bool,
}

impl NewChange {
    /// A value, stamped with the time of writing.
    #[must_use]
    pub fn alive(instance: InstanceHandle, payload: Payload) -> Self {
        Self::new(ChangeKind::Alive, instance, payload)
    }

    /// The end of an instance, whose serialized key is `key`, stamped with the time of writing.
    #[must_use]
    pub fn not_alive(kind: ChangeKind, instance: InstanceHandle, key: Payload) -> Self {
        Self::new(kind, instance, key)
    }

    fn new(kind: ChangeKind, instance: InstanceHandle, payload: Payload) -> Self {
        Self {
            kind,
            instance,
            payload: Some(payload),
            source_timestamp: None,
            related_sample: None,
            origin: None,
            must_be_registered: false,
        }
    }
}

/// Why a change was not written. Nothing has changed then, and the number was not used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteRefused {
    /// The history is full of changes that reliable readers have not acknowledged. [`WriterEvent::SpaceFreed`] tells when
    /// to try again.
    Full,
    /// KEEP_LAST, and `max_samples` is used up by other instances: waiting does not help.
    SamplesMax,
    /// `max_instances` is used up: waiting does not help, unregistering an instance does.
    InstancesMax,
    /// The change asks for a registered instance, and its instance is not.
    UnknownInstance,
    /// The payload is longer than the 2^32 - 1 bytes that a sample can have.
    TooLarge,
}

/// What a writer has to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriterEvent {
    /// All matched reliable readers have acknowledged everything up to this number, which has grown since the last such
    /// event.
    Acknowledged(SequenceNumber),
    /// There is room again after a write was refused with [`WriteRefused::Full`].
    SpaceFreed,
    /// Instances have gone without a new sample for longer than DEADLINE says.
    DeadlineMissed(MissedDeadlines),
    /// A reliable reader has been too slow: it is not waited for any more ([`SlowReader::Demote`]).
    ReaderDemoted {
        /// The reader.
        reader: Guid,
        /// How many samples it had not acknowledged.
        behind: u64,
    },
    /// A reader that was too slow has caught up, and is waited for again.
    ReaderRestored {
        /// The reader.
        reader: Guid,
    },
    /// The writer has not shown that it is alive within its lease (LIVELINESS_LOST; DDS 1.4, 2.2.4.1). Until it does, its
    /// readers take it for not alive.
    LivelinessLost,
}

/// How far a reliable reader is behind its writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderLag {
    /// The reader.
    pub reader: Guid,
    /// How many samples have been written that it has not acknowledged.
    pub samples: u64,
}

/// What a writer has counted since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WriterCounters {
    /// Changes written.
    pub written: u64,
    /// Writes refused.
    pub refused: u64,
    /// Datagrams laid out.
    pub datagrams: u64,
    /// Changes, or runs of fragments of them, that a reader had asked for and got.
    pub repairs: u64,
    /// Changes that were not sent to a reader because its content filter does not let them pass, reader by reader; without those
    /// of before it came.
    pub filtered: u64,
    /// GAPs sent.
    pub gaps: u64,
    /// HEARTBEATs sent.
    pub heartbeats: u64,
    /// Changes that KEEP_LAST replaced although a reliable reader had not acknowledged them.
    pub overwritten_unacknowledged: u64,
    /// How often a reader was found too slow to be waited for ([`SlowReader::Demote`]).
    pub readers_demoted: u64,
    /// Readers of other processes that were not matched, because there were [`READERS_MAX`](super::READERS_MAX) already.
    pub readers_refused: u64,
    /// Changes that had to make room although a reader that is not waited for had not acknowledged them.
    pub given_up: u64,
    /// Changes whose lifespan ended before they left the history.
    pub expired: u64,
    /// Requests of readers that are not matched, or not reliable.
    pub unknown_reader: u64,
    /// Requests that were older than one already handled.
    pub stale: u64,
    /// Requests that make no sense: acknowledging or asking for what was never sent.
    pub malformed: u64,
    /// Requests for fragments that were dropped because too many stood open for one reader; it asks again.
    pub fragment_requests_dropped: u64,
    /// Bytes of fragments sent, each once for all readers.
    pub fragment_bytes: u64,
    /// Bytes of fragments sent again, or for the first time to one reader alone.
    pub fragment_bytes_repaired: u64,
    /// How often a large sample had to wait for the readers' answers, or for the clock.
    pub paced: u64,
}
