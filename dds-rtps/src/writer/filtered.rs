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

use super::config::ReaderProxyConfig;
use super::layout::Layout;
use super::stateful::StatefulWriter;
use crate::filter::Filter;
use crate::history::{CacheChange, ChangeKind};
use crate::qos::LivelinessKind;
use crate::types::{Locator, Now, SequenceNumber};
use crate::wire::{ContentFilterProperty, DDSSQL};

/// Most filters that a writer evaluates per change, at about 100 ns each. Further readers receive and filter all
/// changes.
const FILTERS_MAX: usize = 32;

/// Most successive changes that are evaluated for one reader before the next reader's turn.
const LOOKED_AT_MAX: u64 = 1024;

/// Content filter of a reader.
#[derive(Debug)]
pub(super) struct Filtered {
    property: ContentFilterProperty,
    filter: Filter,
    /// Omitted changes that no GAP has reported yet.
    untold: Option<Untold>,
}

/// A run of changes that the reader's filter excluded.
#[derive(Debug, Clone, Copy)]
struct Untold {
    first: SequenceNumber,
    last: SequenceNumber,
}

/// Recipients of the next change. Recomputed for each change; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Addressees {
    /// For each locator of [`Destinations`](super::destinations::Destinations), whether a reader there wants the
    /// change.
    needed: Vec<bool>,
    /// Indexes of the proxies at these locators, in order.
    reached: Vec<usize>,
}

/// Recipients of the next change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    All,
    /// The proxies in [`Addressees::reached`].
    Some,
    Nobody,
}

/// Treatment of the next change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offer {
    /// It may be laid out for these recipients.
    To(Audience),
    /// As `To`, but the GAPs in front of it have filled the datagram.
    After(Audience),
    /// No reader wants it. The next change follows.
    Declined,
    /// It needs a datagram of its own.
    Postponed,
}

impl Filtered {
    fn wants(&self, change: &CacheChange) -> bool {
        match (&change.payload, change.kind) {
            (None, _) => true,
            (Some(payload), ChangeKind::Alive) => self.filter.passes(payload.bytes()),
            (Some(payload), _) => self.filter.passes_key(payload.bytes()),
        }
    }

    /// Notes an omitted change. Returns whether it is new, because each datagram of a long change calls this.
    fn leave_out(&mut self, number: SequenceNumber) -> bool {
        match &mut self.untold {
            Some(run) if run.last == number => return false,
            Some(run) if run.last.next() == number => run.last = number,
            // Changes in between were sent or are gone. A run across them would declare them omitted.
            _ => self.untold = Some(Untold { first: number, last: number }),
        }
        true
    }

    /// Returns the end of the run that contains `number`.
    fn end_of_run(&self, number: SequenceNumber) -> Option<SequenceNumber> {
        self.untold.filter(|run| run.first <= number && number <= run.last).map(|run| run.last)
    }
}

impl StatefulWriter {
    /// Returns the filter that the writer evaluates for a reader. `known` is its previous filter.
    pub(super) fn filter_of(&self, reader: &ReaderProxyConfig, known: Option<Box<Filtered>>) -> Option<Box<Filtered>> {
        let property = reader.content_filter.as_deref().filter(|property| property.class == DDSSQL)?;
        if known.as_ref().is_some_and(|known| known.property == *property) {
            return known;
        }
        let liveliness = &self.config.liveliness;
        let speaks_by_samples =
            liveliness.kind == LivelinessKind::ManualByTopic && !liveliness.lease_duration.is_infinite();
        let others = self.proxies.iter().filter(|proxy| proxy.config.guid != reader.guid && proxy.filtered.is_some());
        // See the module documentation for these cases.
        if self.presentation.is_some() || speaks_by_samples || others.count() >= FILTERS_MAX {
            return None;
        }
        let ty = self.config.filtered_type?;
        // The reader evaluates an expression that does not fit the type.
        let filter = Filter::new(ty, &property.expression, &property.parameters).ok()?;
        let untold = known.and_then(|known| known.untold);
        Some(Box::new(Filtered { property: property.clone(), filter, untold }))
    }

    /// Evaluates the filters for the next change.
    ///
    /// `early`: the change is relevant only to readers that matched before others.
    pub(super) fn offer(&mut self, now: Now, early: bool, layout: &mut Layout<'_>) -> Offer {
        if early {
            let number = self.next;
            let proxies = self.proxies.iter().enumerate();
            let reached = proxies.filter(|(_, proxy)| proxy.first_relevant <= number).map(|(index, _)| index);
            self.addressees.reached.clear();
            // An early change goes to each of these readers, even if its filter excludes it.
            self.addressees.reached.extend(reached);
            let has_told = self.tell_of_untold(Audience::Some, layout);
            return if has_told { Offer::To(Audience::All) } else { Offer::After(Audience::All) };
        }
        let audience = self.choose_audience();
        match audience {
            Audience::Nobody => {
                self.leave_out_others();
                self.advance_to(self.next.next());
                // No datagram announces the omitted change, so a HEARTBEAT must.
                if self.destinations.reliable_count > 0 {
                    self.heartbeat.expect_answer(now.instant);
                }
                return Offer::Declined;
            }
            Audience::Some if layout.has_content() => return Offer::Postponed,
            Audience::Some => self.leave_out_others(),
            Audience::All => {}
        }
        if self.tell_of_untold(audience, layout) { Offer::To(audience) } else { Offer::After(audience) }
    }

    /// Computes the recipients of the next change.
    fn choose_audience(&mut self) -> Audience {
        let Some(stored) = self.history.get(self.next) else { return Audience::All };
        let Addressees { needed, reached } = &mut self.addressees;
        needed.clear();
        needed.resize(self.destinations.locators(&self.proxies).len(), false);
        let reach = &self.destinations.reach;
        for (proxy, reach) in self.proxies.iter().zip(reach) {
            let Some(filtered) = &proxy.filtered else {
                mark(needed, reach);
                continue;
            };
            // A locator that receives the change anyway needs no further evaluation.
            if !is_marked(needed, reach) && filtered.wants(&stored.change) {
                mark(needed, reach);
            }
        }
        reached.clear();
        reached
            .extend((0..reach.len()).filter(|&index| reach.get(index).is_some_and(|reach| is_marked(needed, reach))));
        match needed.iter().filter(|needed| **needed).count() {
            0 => Audience::Nobody,
            count if count < needed.len() => Audience::Some,
            _ => Audience::All,
        }
    }

    /// Notes the readers that do not receive the next change.
    fn leave_out_others(&mut self) {
        let mut reached = self.addressees.reached.iter().peekable();
        for (index, proxy) in self.proxies.iter_mut().enumerate() {
            if reached.next_if_eq(&&index).is_none() {
                let is_new = proxy.filtered.as_mut().is_some_and(|filtered| filtered.leave_out(self.next));
                self.counters.filtered += u64::from(is_new);
            }
        }
    }

    /// Returns the locators of a change that does not go to all of them.
    pub(super) fn needed_locators(&self) -> impl Iterator<Item = Locator> + '_ {
        let locators = self.destinations.locators(&self.proxies).iter().zip(&self.addressees.needed);
        locators.filter(|(_, needed)| **needed).map(|(locator, _)| *locator)
    }

    /// Lays out the GAPs of omitted changes for the recipients of the next change. Returns `false` if they do not all
    /// fit.
    fn tell_of_untold(&mut self, audience: Audience, layout: &mut Layout<'_>) -> bool {
        let mut reached = self.addressees.reached.iter().peekable();
        let mut has_told = false;
        for (index, proxy) in self.proxies.iter_mut().enumerate() {
            let is_reached = audience == Audience::All || reached.next_if_eq(&&index).is_some();
            let Some(filtered) = proxy.filtered.as_mut().filter(|_| is_reached) else { continue };
            let Some(run) = filtered.untold.filter(|run| run.last > proxy.acknowledged) else { continue };
            // The remaining readers get their GAPs in the next datagram.
            if !layout.has_room_for_gap() {
                if has_told {
                    layout.everybody();
                }
                return false;
            }
            has_told = true;
            // A lost GAP is repaired on request, like a lost sample.
            filtered.untold = None;
            layout.filtered_for(proxy.config.guid, run.first, run.last);
        }
        if has_told {
            layout.everybody();
        }
        true
    }

    /// Returns the lowest change from `number` on that passes the filter of a reader.
    ///
    /// Without such a change, returns the end of the omitted ones. The flag is true if only the filter excludes the
    /// changes before. `last` is the reader's last relevant change.
    pub(super) fn next_wanted(
        &self,
        now: Now,
        filtered: &Filtered,
        number: SequenceNumber,
        last: SequenceNumber,
    ) -> (SequenceNumber, bool) {
        // A known run needs no second evaluation.
        if let Some(end) = filtered.end_of_run(number) {
            return (end.next().min(self.next), true);
        }
        let mut from = number;
        for looked_at in 0..=LOOKED_AT_MAX {
            let found = self.next_sendable(now, from).filter(|&found| found <= last).unwrap_or(self.next);
            let found = found.min(self.next);
            let is_wanted = found >= self.next || self.change(found).is_none_or(|change| filtered.wants(change));
            if found > from || is_wanted || looked_at == LOOKED_AT_MAX {
                // Report missing changes and filtered changes in separate GAPs.
                return if looked_at > 0 { (from, true) } else { (found, false) };
            }
            from = found.next();
        }
        (from, true)
    }
}

fn mark(needed: &mut [bool], reach: &[usize]) {
    for &at in reach {
        if let Some(needed) = needed.get_mut(at) {
            *needed = true;
        }
    }
}

/// Returns whether a reader receives data for the needed locators.
fn is_marked(needed: &[bool], reach: &[usize]) -> bool {
    !reach.is_empty() && reach.iter().any(|&at| needed.get(at).copied().unwrap_or(false))
}
