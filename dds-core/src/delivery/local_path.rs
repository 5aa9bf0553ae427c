//! The path from a writer to a reader of the same process. The reader gets the writer's own slot through its cell.

use crate::actor::{Effects, Poke, Signals};
use crate::qos::DataWriterQos;
use crate::sync::{Arc, AtomicBool, Ordering, Weak, full_fence};
use dds_rtps::concurrent::LocalLink;
use dds_rtps::types::{Duration, Instant, SequenceNumber};
use dds_rtps::writer::PresentationClock;
use std::fmt;

/// State that a writer and a reader of the same process share.
pub(crate) struct LocalPath {
    /// The changes that the reader has accepted, and its requests for redelivery.
    pub(crate) link: Arc<LocalLink>,
    /// Set while the writer waits for the reader: a change could not be delivered, or the history is full.
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

    /// Requests a notification of the writer when the reader makes progress.
    pub(crate) fn set_starving(&self) {
        self.starving.begin();
    }

    /// Sets whether the writer is alive. The caller must signal the reader.
    pub(crate) fn set_alive(&self, alive: bool) {
        self.alive.store(alive, Ordering::Release);
    }

    /// Whether the writer is alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Reports progress of the reader. Notifies the writer if it waits for that.
    pub(crate) fn progressed(&self, effects: &mut Effects) {
        // Once for each request, or every sample would wake the writer.
        if self.starving.end() {
            self.call(effects);
        }
    }

    /// Makes the writer check the link, because the reader has space for refused changes.
    pub(crate) fn call(&self, effects: &mut Effects) {
        if let Some(writer) = self.writer.upgrade() {
            // The signal survives if the cell is occupied. The present visitor serves it.
            writer.signal(Signals::own(0));
            effects.poke(writer);
        }
    }
}

/// Whether a writer waits for a reader.
///
/// The reader acknowledges and then reads this flag. The writer sets the flag and then reads the acknowledgment. All
/// four accesses are sequentially consistent, so at least one thread sees the other's write.
struct Starving(AtomicBool);

impl Starving {
    fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Sets the flag. The writer must read the acknowledgment next.
    fn begin(&self) {
        // A swap and not a store: `full_fence` must follow a read-modify-write.
        self.0.swap(true, Ordering::SeqCst);
        full_fence();
    }

    /// Called after the reader has acknowledged. Returns whether to call the writer: once for each `begin`.
    fn end(&self) -> bool {
        // The load avoids the exchange in the usual case, when the writer does not wait.
        self.0.load(Ordering::SeqCst) && self.0.swap(false, Ordering::AcqRel)
    }
}

impl fmt::Debug for LocalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalPath").field("link", &self.link).finish_non_exhaustive()
    }
}

/// The state of the writer when a local reader matches it.
#[derive(Debug, Clone)]
pub(crate) struct LocalBegin {
    /// The first change for the reader.
    pub(crate) first: SequenceNumber,
    /// The last change that existed before the match; `first - 1` if there was none.
    pub(crate) history_end: SequenceNumber,
    /// When all earlier changes have expired. The reader never gets the ones that it has not received by then.
    pub(crate) history_expires: Option<Instant>,
    /// Both endpoints are reliable.
    pub(crate) reliable: bool,
    /// Policies of the writer's samples.
    pub(crate) terms: LocalTerms,
    /// Clock that the writer shares with its publisher's other writers under PRESENTATION.
    ///
    /// The reader expects no change of the writer up to the given group sequence number.
    pub(crate) presented: Option<(Arc<PresentationClock>, SequenceNumber)>,
}

/// Policies of a writer that act in its readers, and may change. Readers of other processes get them by discovery.
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

/// Requirements of a local reader.
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

    /// A reader makes progress while its writer begins to wait for it.
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
