//! Selection of samples and instances of a reader, and waits for them.

use crate::actor::Ticket;
use crate::infrastructure::{ReadError, ReadErrorKind, WaitErrorKind};
use crate::qos::History;
use crate::subscription::ReaderHandle;
use dds_rtps::history::{HistorySample, KeyPayload, Operation, Selection, SelectionOrder, States};
use dds_rtps::types::{Guid, InstanceHandle};
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};

impl ReaderHandle {
    /// Selects one sample, in the order of arrival.
    pub(crate) fn next_selection(states: States) -> Selection<'static> {
        Selection { samples_max: 1, order: SelectionOrder::ByArrival, states, ..Selection::default() }
    }

    /// Reads or takes into `list`.
    pub(crate) fn select_into(
        &self,
        selection: &Selection<'_>,
        operation: Operation,
        list: &mut Vec<HistorySample>,
    ) -> Result<(), ReadError> {
        match self.enabled() {
            // The usual case: the subscriber does not present its readers together.
            Some(None) => {}
            Some(Some(access)) if access.is_open() => {}
            Some(Some(_)) => return Err(self.read_error(ReadErrorKind::OutsideAccess)),
            None => return Err(self.not_enabled()),
        }
        let selected = self.visit_inlined(|actor, effects| actor.select(selection, operation, list, effects));
        let replaced = self.read_result(selected)?;
        // Once: the application decides whether KEEP_LAST is right. The flag is read first, because it costs a load.
        if replaced > 0 && !self.has_told_of_replaced.load(Ordering::Relaxed) {
            self.tell_of_replaced(replaced);
        }
        Ok(())
    }

    /// Logs once that unread samples were replaced, because a program rarely looks at the counters.
    #[cold]
    fn tell_of_replaced(&self, replaced: u64) {
        let History::KeepLast { depth } = self.qos().fixed().history else { return };
        if self.has_told_of_replaced.swap(true, Ordering::Relaxed) {
            return;
        }
        tracing::warn!(
            parent: self.span(),
            replaced,
            depth,
            "newer samples replaced unread ones (KEEP_LAST); set `keep_all` or a larger `keep_last` if the program \
             needs each sample, or take them sooner"
        );
    }

    #[cold]
    fn not_enabled(&self) -> ReadError {
        self.read_error(if self.is_closed() { ReadErrorKind::Closed } else { ReadErrorKind::NotEnabled })
    }

    /// Reads or takes into a list of the pool.
    pub(crate) fn select(
        &self,
        selection: &Selection<'_>,
        operation: Operation,
    ) -> Result<Vec<HistorySample>, ReadError> {
        // A list of an earlier batch, so that a steady reader allocates nothing.
        let mut list = self.batches.list();
        self.select_into(selection, operation, &mut list)?;
        Ok(list)
    }

    /// Returns whether the reader has samples in these states. A closed reader has none.
    pub(crate) fn has_matching(&self, states: States) -> bool {
        let selection = Selection { states, ..Selection::default() };
        self.visit(|actor, effects| actor.has_matching(&selection, effects)).unwrap_or(false)
    }

    /// Returns the ranks of its samples in these states among those of all readers of its subscriber.
    pub(crate) fn ranks(&self, states: States) -> Vec<u64> {
        let selection = Selection { states, order: SelectionOrder::ByArrival, ..Selection::default() };
        self.visit(|actor, effects| actor.ranks(&selection, effects)).unwrap_or_default()
    }

    /// Returns whether the reader knows the instance. A closed reader knows none.
    pub(crate) fn contains_instance(&self, instance: InstanceHandle) -> bool {
        self.visit(|actor, _| actor.rtps().history().contains_instance(instance)).unwrap_or(false)
    }

    /// Payload from which the key of an instance can be decoded.
    pub(crate) fn instance_payload(&self, instance: InstanceHandle) -> Option<KeyPayload> {
        self.visit(|actor, _| actor.rtps().history().instance_key_payload(instance).cloned()).ok()?
    }

    /// Returns whether the reader is enabled. Registers the waker if not, in the queue of waits for samples.
    pub(crate) fn poll_enabled(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Poll<Result<(), WaitErrorKind>> {
        if self.is_enabled() {
            return Poll::Ready(Ok(()));
        }
        let waker = waker.clone();
        // Checked again inside of the cell, where `enable` wakes the waiters.
        let enabled = self.visit(|actor, effects| {
            let is_enabled = self.is_enabled();
            if is_enabled {
                effects.discard(waker);
            } else {
                actor.wait_for_data(ticket, waker, effects);
            }
            is_enabled
        });
        match enabled {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }

    /// Returns whether these writers have delivered their history, and removes those that have.
    ///
    /// Registers the waker if a writer has not.
    pub(crate) fn poll_history(
        &self,
        writers: &mut Vec<Guid>,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<(), WaitErrorKind>> {
        if !self.is_enabled() {
            return Poll::Ready(Err(self.wait_not_enabled()));
        }
        let waker = waker.clone();
        match self.visit(|actor, effects| actor.wait_for_history(writers, ticket, waker, effects)) {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }
}

/// Converts the error of a read into the error of a wait.
pub(crate) fn wait_error(kind: &ReadErrorKind) -> WaitErrorKind {
    match kind {
        ReadErrorKind::Internal { message } => WaitErrorKind::Internal { message },
        ReadErrorKind::Forked => WaitErrorKind::Forked,
        ReadErrorKind::NotEnabled => WaitErrorKind::NotEnabled,
        ReadErrorKind::OutsideAccess => WaitErrorKind::OutsideAccess,
        _ => WaitErrorKind::Closed,
    }
}
