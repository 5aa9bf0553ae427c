//! Readers that the writer does not wait for, because they are too slow ([`SlowReader`](crate::writer::SlowReader)).

use crate::actor::{Deferred, Effects};
use crate::infrastructure::MatchCounter;
use dds_rtps::types::{Guid, InstanceHandle};
use std::sync::Arc;

/// Slow readers and their count: those that the writer does not wait for, and the one that holds up writes.
///
/// Bound: the matched readers.
#[derive(Default)]
pub(super) struct DemotedReaders {
    readers: Vec<Guid>,
    /// The reader that holds up writes. It also counts as slow.
    holder: Option<Guid>,
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

    /// Notes the reader that holds up writes, or that none does. Returns whether that is news.
    pub(super) fn set_holder(&mut self, holder: Option<Guid>) -> bool {
        let holder = match holder {
            // The writer does not wait for a demoted reader.
            Some(reader) if self.contains(reader) => None,
            holder => holder,
        };
        if holder == self.holder {
            return false;
        }
        if let Some(before) = std::mem::replace(&mut self.holder, holder) {
            self.counter.unmatched(InstanceHandle::from(before));
        }
        if let Some(reader) = holder {
            self.counter.matched(InstanceHandle::from(reader));
        }
        true
    }

    /// Returns whether a reader holds up writes.
    pub(super) fn has_holder(&self) -> bool {
        self.holder.is_some()
    }

    /// Adds a reader that `writer` no longer waits for.
    pub(super) fn add(&mut self, writer: Guid, reader: Guid, behind: u64, effects: &mut Effects) {
        if self.holder == Some(reader) {
            self.set_holder(None);
        }
        self.readers.push(reader);
        self.counter.matched(InstanceHandle::from(reader));
        // Deferred, because the log layer is foreign code and must not run inside of the cell.
        effects.defer(Arc::new(Demoted { writer, reader, behind }));
    }

    /// Removes a reader that has caught up or left. Returns whether it was slow.
    pub(super) fn remove(&mut self, reader: Guid) -> bool {
        if self.holder == Some(reader) {
            return self.set_holder(None);
        }
        let Some(at) = self.readers.iter().position(|known| *known == reader) else { return false };
        self.readers.swap_remove(at);
        self.counter.unmatched(InstanceHandle::from(reader));
        true
    }
}

/// Log line about samples that a KEEP_LAST writer replaced, written outside of all cells.
pub(super) struct Replaced {
    pub(super) writer: Guid,
    pub(super) replaced: u64,
}

impl Deferred for Replaced {
    fn run(self: Arc<Self>, _: u32, _effects: &mut Effects) {
        let Self { writer, replaced } = *self;
        tracing::warn!(
            %writer,
            replaced,
            "newer samples replaced ones that a reliable reader has not acknowledged (KEEP_LAST); set `keep_all` or a \
             larger `keep_last` on the writer if readers need each sample"
        );
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
}
