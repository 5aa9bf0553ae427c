//! Readers that the writer does not wait for, because they are too slow ([`SlowReader`](crate::writer::SlowReader)).

use crate::actor::{Deferred, Effects};
use crate::infrastructure::MatchCounter;
use dds_rtps::types::{Guid, InstanceHandle};
use std::sync::Arc;

/// Slow readers and their count.
///
/// Bound: the matched readers.
#[derive(Default)]
pub(super) struct DemotedReaders {
    readers: Vec<Guid>,
    counter: MatchCounter,
}

impl DemotedReaders {
    pub(super) fn is_empty(&self) -> bool {
        self.readers.is_empty()
    }

    pub(super) fn contains(&self, reader: Guid) -> bool {
        self.readers.contains(&reader)
    }

    pub(super) fn counter(&mut self) -> &mut MatchCounter {
        &mut self.counter
    }

    /// Adds a reader that `writer` no longer waits for.
    pub(super) fn add(&mut self, writer: Guid, reader: Guid, behind: u64, effects: &mut Effects) {
        self.readers.push(reader);
        self.counter.matched(InstanceHandle::from(reader));
        effects.defer(Arc::new(Demoted { writer, reader, behind }));
    }

    /// Removes a reader that has caught up or left. Returns whether it was slow.
    pub(super) fn remove(&mut self, reader: Guid) -> bool {
        let Some(at) = self.readers.iter().position(|known| *known == reader) else { return false };
        self.readers.swap_remove(at);
        self.counter.unmatched(InstanceHandle::from(reader));
        true
    }
}

/// Log line, written outside of all cells.
struct Demoted {
    writer: Guid,
    reader: Guid,
    behind: u64,
}

impl Deferred for Demoted {
    fn run(self: Arc<Self>, _: u32, _effects: &mut Effects) {
        let Self { writer, reader, behind } = *self;
        tracing::warn!(%writer, %reader, behind, "a reader is too slow, and the writer no longer waits for it");
    }

    fn hand_over(self: Arc<Self>, _: u32) {
        Effects::scope(|effects| self.run(0, effects));
    }
}
