//! The way from a writer to a reader of the same process: the reader gets the writer's own slot through its cell.

use crate::actor::{Effects, Poke, Signals};
use crate::qos::DataWriterQos;
use dds_rtps::history::LocalLink;
use dds_rtps::types::{Duration, Instant, SequenceNumber};
use dds_rtps::writer::PresentationClock;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// What a writer and a reader of the same process share.
pub(crate) struct LocalPath {
    /// What the reader has accepted, and what it asks for again.
    pub(crate) link: Arc<LocalLink>,
    /// The writer waits for the reader: a change could not be handed over, or the history is full.
    starving: AtomicBool,
    /// Whether the writer is alive (LIVELINESS).
    alive: AtomicBool,
    writer: Weak<dyn Poke>,
}

impl LocalPath {
    pub(crate) fn new(writer: Weak<dyn Poke>) -> Arc<Self> {
        Arc::new(Self {
            link: Arc::new(LocalLink::new()),
            starving: AtomicBool::new(false),
            alive: AtomicBool::new(true),
            writer,
        })
    }

    /// The writer asks to be told when the reader has got on.
    pub(crate) fn set_starving(&self) {
        // Against the reader, which acknowledges and then looks here: the writer sets this and then looks there. With all
        // four sequentially consistent, one of them sees the other.
        self.starving.swap(true, Ordering::SeqCst);
    }

    /// The writer has lost its liveliness, or found it again. The reader is to be signalled.
    pub(crate) fn set_alive(&self, alive: bool) {
        self.alive.store(alive, Ordering::Release);
    }

    /// Whether the writer is alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// The reader has accepted something: tells the writer, if that waits for it.
    pub(crate) fn progressed(&self, effects: &mut Effects) {
        if self.starving.load(Ordering::SeqCst) && self.starving.swap(false, Ordering::AcqRel) {
            self.call(effects);
        }
    }

    /// The reader has room for what it refused: lets the writer look at the link.
    pub(crate) fn call(&self, effects: &mut Effects) {
        if let Some(writer) = self.writer.upgrade() {
            writer.signal(Signals::own(0));
            effects.poke(writer);
        }
    }
}

impl fmt::Debug for LocalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalPath").field("link", &self.link).finish_non_exhaustive()
    }
}

/// What a reader of this process is told of the writer.
#[derive(Debug, Clone)]
pub(crate) struct LocalBegin {
    /// The first change that it gets.
    pub(crate) first: SequenceNumber,
    /// The last one that was there before; the one before `first` if there is none.
    pub(crate) history_end: SequenceNumber,
    /// When all of that will have expired, and what the reader has not got by then it never gets.
    pub(crate) history_expires: Option<Instant>,
    /// Both are reliable.
    pub(crate) reliable: bool,
    /// What the writer's samples are under.
    pub(crate) terms: LocalTerms,
    /// What it shares with the other writers of its publisher under PRESENTATION, and up to which group sequence number nothing
    /// of it is to be expected.
    pub(crate) presented: Option<(Arc<PresentationClock>, SequenceNumber)>,
}

/// The policies of a writer that act in its readers, and may change. Discovery tells those of other processes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalTerms {
    pub(crate) lifespan: Duration,
    pub(crate) ownership_strength: i32,
}

impl Default for LocalTerms {
    fn default() -> Self {
        (&DataWriterQos::default()).into()
    }
}

impl From<&DataWriterQos> for LocalTerms {
    fn from(qos: &DataWriterQos) -> Self {
        Self { lifespan: qos.lifespan, ownership_strength: qos.ownership_strength }
    }
}

/// What a reader of this process asks of the writer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalDemands {
    pub(crate) reliable: bool,
    pub(crate) wants_history: bool,
}
