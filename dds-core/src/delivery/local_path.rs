//! The way from a writer to a reader of the same process: the reader gets the writer's own slot through its cell.

use crate::actor::{Effects, Poke, Signals};
use crate::qos::DataWriterQos;
use crate::sync::{Arc, AtomicBool, Ordering, Weak, full_fence};
use dds_rtps::concurrent::LocalLink;
use dds_rtps::types::{Duration, Instant, SequenceNumber};
use dds_rtps::writer::PresentationClock;
use std::fmt;

/// What a writer and a reader of the same process share.
pub(crate) struct LocalPath {
    /// What the reader has accepted, and what it asks for again.
    pub(crate) link: Arc<LocalLink>,
    /// The writer waits for the reader: a change could not be handed over, or the history is full.
    starving: Starving,
    /// Whether the writer is alive (LIVELINESS).
    alive: AtomicBool,
    writer: Weak<dyn Poke>,
}

impl LocalPath {
    pub(crate) fn new(writer: Weak<dyn Poke>) -> Arc<Self> {
        Arc::new(Self {
            link: Arc::new(LocalLink::new()),
            starving: Starving::new(),
            alive: AtomicBool::new(true),
            writer,
        })
    }

    /// The writer asks to be told when the reader has got on.
    pub(crate) fn set_starving(&self) {
        self.starving.begin();
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
        if self.starving.end() {
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

/// That a writer waits for a reader, against the reader's acknowledgements.
///
/// The reader acknowledges and then looks here; the writer says so here and then looks at what is acknowledged. With all four
/// sequentially consistent, one of them sees the other.
struct Starving(AtomicBool);

impl Starving {
    fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// The writer waits, and looks next at what is acknowledged.
    fn begin(&self) {
        self.0.swap(true, Ordering::SeqCst);
        full_fence();
    }

    /// The reader has acknowledged: whether the writer is to be called. Once for each time that it began to wait.
    fn end(&self) -> bool {
        self.0.load(Ordering::SeqCst) && self.0.swap(false, Ordering::AcqRel)
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

#[cfg(test)]
#[cfg(dds_loom)]
mod models {
    use super::*;
    use loom::thread;

    const LAST: SequenceNumber = SequenceNumber(5);

    /// A reader gets on while its writer begins to wait for it.
    fn progress_beside_a_wait(waits_first: bool) {
        let shared = Arc::new((LocalLink::new(), Starving::new()));
        let reader = Arc::clone(&shared);
        let progress = thread::spawn(move || {
            reader.0.acknowledge(LAST);
            reader.1.end()
        });
        let (link, starving) = &*shared;
        let seen = if waits_first {
            starving.begin();
            link.acknowledged()
        } else {
            let seen = link.acknowledged();
            starving.begin();
            seen
        };
        let is_called = progress.join().unwrap();
        assert!(is_called || seen == LAST, "neither has seen the other");
        assert!(!(is_called && starving.end()), "it is called once");
    }

    #[test]
    fn progress_and_a_wait_do_not_miss_each_other() {
        loom::model(|| progress_beside_a_wait(true));
    }

    #[test]
    #[should_panic(expected = "neither has seen the other")]
    fn mutant_a_writer_that_looks_before_it_says_that_it_waits_is_never_called() {
        loom::model(|| progress_beside_a_wait(false));
    }
}
