//! Content filters of readers, evaluated by the writer (DDS 1.4, 2.2.2.3.3; RTPS 2.5, 8.7.3).
//!
//! A change goes only to locators where some reader wants it. If readers share a locator or a multicast group, one
//! interested reader suffices, because each reader evaluates its own filter too. A GAP with a `filteredCount` (RTPS
//! 2.5, 8.3.8.4) reports the omitted changes, in front of the reader's next change. A best-effort reader would count
//! them as lost, and a reliable one would wait for them. If no change follows, the reader requests them after the next
//! HEARTBEAT, and the GAP answers.
//!
//! The writer evaluates no filters in these cases:
//!
//! - It is manual by topic with a finite lease, because its samples assert its liveliness.
//! - Its changes belong to coherent sets, or to an order among several writers, which must have no holes.
//! - It does not know the type.
//!
//! The reader evaluates an expression that does not fit the writer's type. Bound: [`FILTERS_MAX`] filters of a writer.

use super::ReaderTable;
use crate::filter::Filter;
use crate::history::{CacheChange, ChangeKind, WriterHistory};
use crate::qos::LivelinessKind;
use crate::types::{Locator, Now, SequenceNumber};
use crate::wire::{ContentFilterProperty, DDSSQL};
use crate::writer::config::{ReaderProxyConfig, WriterConfig};
use crate::writer::lifespan::next_sendable;
use crate::writer::send::layout::Layout;

/// Most filters that a writer evaluates per change, at about 100 ns each. Further readers receive and filter all
/// changes.
const FILTERS_MAX: usize = 32;

/// Most successive changes that are evaluated for one reader before the next reader's turn.
const EVALUATED_MAX: u64 = 1024;

/// Content filter of a reader.
#[derive(Debug)]
pub(crate) struct ReaderFilter {
    property: ContentFilterProperty,
    filter: Filter,
    /// Omitted changes that no GAP has reported yet.
    omitted: Option<OmittedRun>,
}

/// A run of changes that the reader's filter excluded.
#[derive(Debug, Clone, Copy)]
struct OmittedRun {
    first: SequenceNumber,
    last: SequenceNumber,
}

/// Recipients of the next change, if some filter excludes it. Recomputed for each change; the memory is reused.
#[derive(Debug, Default)]
pub(crate) struct FilteredRecipients {
    /// For each locator of [`Destinations`](super::destinations::Destinations), whether a reader there wants the
    /// change.
    needed: Vec<bool>,
    /// Indexes of the proxies at these locators, in order.
    reached: Vec<usize>,
}

/// Recipients of the next change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recipients {
    All,
    /// The proxies in [`FilteredRecipients`].
    Some,
    None,
}

impl ReaderFilter {
    fn wants(&self, change: &CacheChange) -> bool {
        match (&change.payload, change.kind) {
            (None, _) => true,
            (Some(payload), ChangeKind::Alive) => self.filter.passes(payload.bytes()),
            (Some(payload), _) => self.filter.passes_key(payload.bytes()),
        }
    }

    /// Notes an omitted change. Returns whether it is new, because each datagram of a long change calls this.
    fn omit(&mut self, number: SequenceNumber) -> bool {
        match &mut self.omitted {
            Some(run) if run.last == number => return false,
            Some(run) if run.last.next() == number => run.last = number,
            // Changes in between were sent or are gone. A run across them would declare them omitted.
            _ => self.omitted = Some(OmittedRun { first: number, last: number }),
        }
        true
    }

    /// Returns the lowest change from `number` on that passes the filter.
    ///
    /// Without such a change, returns the end of the omitted ones. The flag is true if only the filter excludes the
    /// changes before. `last` is the reader's last relevant change, `next` the writer's next one.
    pub(crate) fn next_wanted(
        &self,
        now: Now,
        history: &WriterHistory,
        number: SequenceNumber,
        last: SequenceNumber,
        next: SequenceNumber,
    ) -> (SequenceNumber, bool) {
        // A known run needs no second evaluation.
        if let Some(run) = self.omitted {
            if run.first <= number && number <= run.last {
                return (run.last.next().min(next), true);
            }
        }
        let mut from = number;
        for evaluated in 0..=EVALUATED_MAX {
            let found = match next_sendable(history, now, from) {
                Some(found) if found <= last => found.min(next),
                _ => next,
            };
            let is_wanted = match history.get(found) {
                Some(stored) if found < next => self.wants(&stored.change),
                _ => true,
            };
            if found > from || is_wanted || evaluated == EVALUATED_MAX {
                // Report missing changes and filtered changes in separate GAPs.
                return if evaluated > 0 { (from, true) } else { (found, false) };
            }
            from = found.next();
        }
        (from, true)
    }
}

impl ReaderTable {
    /// Returns the filter that the writer evaluates for a reader. Takes over the filter of its proxy.
    pub(crate) fn filter_of(&mut self, reader: &ReaderProxyConfig, writer: &WriterConfig) -> Option<Box<ReaderFilter>> {
        let mut known = None;
        if let Some(index) = self.index_of(reader.guid) {
            // A new QoS keeps the compiled filter if its expression is the same.
            known = self.proxies.get_mut(index)?.filter.take();
        }
        let property = reader.content_filter.as_deref()?;
        if property.class != DDSSQL {
            return None;
        }
        match &known {
            Some(same) if same.property == *property => return known,
            _ => {}
        }
        let liveliness = &writer.liveliness;
        let asserts_by_samples =
            liveliness.kind == LivelinessKind::ManualByTopic && !liveliness.lease_duration.is_infinite();
        let mut filters = 0;
        for proxy in &self.proxies {
            filters += usize::from(proxy.filter.is_some());
        }
        // See the module documentation for these cases.
        if writer.presentation.is_some() || asserts_by_samples || filters >= FILTERS_MAX {
            return None;
        }
        let ty = writer.filtered_type?;
        // The reader evaluates an expression that does not fit the type.
        let filter = Filter::new(ty, &property.expression, &property.parameters).ok()?;
        // The changes that the former filter omitted were not sent, so their GAP is still due.
        let omitted = match known {
            Some(known) => known.omitted,
            None => None,
        };
        Some(Box::new(ReaderFilter { property: property.clone(), filter, omitted }))
    }

    /// Chooses the recipients of a change that is relevant only to readers that matched before others.
    ///
    /// It goes to each of these readers, even if its filter excludes it.
    pub(crate) fn choose_early_recipients(&mut self, number: SequenceNumber) {
        self.filtered.reached.clear();
        for (index, proxy) in self.proxies.iter().enumerate() {
            if proxy.relevant.first <= number {
                self.filtered.reached.push(index);
            }
        }
    }

    /// Chooses the recipients of a change by their filters.
    pub(crate) fn choose_recipients(&mut self, change: &CacheChange) -> Recipients {
        let FilteredRecipients { needed, reached } = &mut self.filtered;
        needed.clear();
        needed.resize(self.destinations.locators(&self.proxies).len(), false);
        // Locators are shared, so the choice is by locator, not by reader.
        let reach = &self.destinations.reach;
        debug_assert_eq!(
            reach.len(),
            self.proxies.len(),
            "a writer that evaluates filters knows the locators of each reader"
        );
        for (proxy, reach) in self.proxies.iter().zip(reach) {
            let Some(filter) = &proxy.filter else {
                mark_needed(needed, reach);
                continue;
            };
            // A locator that receives the change anyway needs no further evaluation.
            if !is_needed(needed, reach) && filter.wants(change) {
                mark_needed(needed, reach);
            }
        }
        reached.clear();
        for (index, reach) in reach.iter().enumerate() {
            if is_needed(needed, reach) {
                reached.push(index);
            }
        }
        // All locators is the usual case, and uses the list of destinations as it is.
        if !needed.contains(&true) {
            Recipients::None
        } else if needed.contains(&false) {
            Recipients::Some
        } else {
            Recipients::All
        }
    }

    /// Notes the readers that do not receive the change `number`. Returns how many did not know that yet.
    pub(crate) fn omit_for_others(&mut self, number: SequenceNumber) -> u64 {
        let mut reached = self.filtered.reached.iter().peekable();
        let mut omitted = 0;
        for (index, proxy) in self.proxies.iter_mut().enumerate() {
            // `reached` is sorted, so both lists are walked once.
            if reached.next_if_eq(&&index).is_some() {
                continue;
            }
            if let Some(filter) = &mut proxy.filter {
                omitted += u64::from(filter.omit(number));
            }
        }
        omitted
    }

    /// Returns the locators of a change that does not go to all of them.
    pub(crate) fn needed_locators(&self) -> impl Iterator<Item = Locator> + '_ {
        let locators = self.destinations.locators(&self.proxies).iter().zip(&self.filtered.needed);
        locators.filter_map(|(locator, needed)| if *needed { Some(*locator) } else { None })
    }

    /// Lays out the GAPs of omitted changes for the recipients of the next change. Returns `false` if they do not all
    /// fit.
    pub(crate) fn lay_out_omitted(&mut self, recipients: Recipients, layout: &mut Layout<'_>) -> bool {
        let mut reached = self.filtered.reached.iter().peekable();
        let (mut has_gaps, mut has_room) = (false, true);
        for (index, proxy) in self.proxies.iter_mut().enumerate() {
            let is_reached = recipients == Recipients::All || reached.next_if_eq(&&index).is_some();
            if !is_reached {
                continue;
            }
            let Some(filter) = &mut proxy.filter else { continue };
            let Some(run) = filter.omitted else { continue };
            if run.last <= proxy.acknowledged {
                continue;
            }
            // The remaining readers get their GAPs in the next datagram.
            if !layout.has_room_for_gap() {
                has_room = false;
                break;
            }
            has_gaps = true;
            // A lost GAP is repaired on request, like a lost sample.
            filter.omitted = None;
            layout.filtered_for(proxy.config.guid, run.first, run.last);
        }
        if has_gaps {
            layout.all_participants();
        }
        has_room
    }
}

fn mark_needed(needed: &mut [bool], reach: &[usize]) {
    for &at in reach {
        match needed.get_mut(at) {
            Some(needed) => *needed = true,
            None => debug_assert!(false, "each reader is reached by locators of the list"),
        }
    }
}

/// Returns whether a reader receives data for the needed locators.
fn is_needed(needed: &[bool], reach: &[usize]) -> bool {
    reach.iter().any(|&at| needed.get(at).copied().unwrap_or(false))
}
