//! Content filters of readers, asked before samples go out (DDS 1.4, 2.2.2.3.3; RTPS 2.5, 8.7.3).
//!
//! A change goes to those addresses where some reader wants it, and nowhere if nobody does. Where readers share an address or a
//! multicast group, it is enough that one of them wants it: each reader looks at its own filter anyway. What a reader was not sent it is told of in a GAP that says so (RTPS 2.5, 8.3.8.4,
//! `filteredCount`), in front of the next change that it gets: a best-effort one would take it for lost, a reliable one would
//! wait for it. Behind the last such change it learns of it by asking, after the next HEARTBEAT.
//!
//! A writer asks no filters if it is manual by topic with a finite lease, since to its readers its samples are its signs of life; if
//! its changes stand in coherent sets, or in an order with those of other writers, which have no holes; or if it does not know
//! the type. Expressions that do not fit the writer's type are left to the reader. Bound: [`FILTERS_MAX`] filters of a writer.

use super::config::ReaderProxyConfig;
use super::layout::Layout;
use super::stateful::StatefulWriter;
use crate::filter::Filter;
use crate::history::{CacheChange, ChangeKind};
use crate::qos::LivelinessKind;
use crate::types::{Locator, Now, SequenceNumber};
use crate::wire::{ContentFilterProperty, DDSSQL};

/// So many filters a writer asks for each of its changes: some 100 ns each. Further readers get everything, and filter it.
const FILTERS_MAX: usize = 32;

/// So many changes in a row are looked at, for one reader, until one is found that it wants. Then it is another one's turn.
const LOOKED_AT_MAX: u64 = 1024;

/// The filter of a reader.
#[derive(Debug)]
pub(super) struct Filtered {
    property: ContentFilterProperty,
    filter: Filter,
    /// What it was not sent, and does not know of yet.
    untold: Option<Untold>,
}

/// A run of numbers that a reader was not sent, each because of its filter.
#[derive(Debug, Clone, Copy)]
struct Untold {
    first: SequenceNumber,
    last: SequenceNumber,
}

/// Who is reached by the next change. Of use for a moment only; the memory is used again.
#[derive(Debug, Default)]
pub(super) struct Addressees {
    /// For each locator of [`Destinations`](super::destinations::Destinations), whether somebody there wants it.
    needed: Vec<bool>,
    /// Indexes of the proxies at these locators, in order.
    reached: Vec<usize>,
}

/// Whom the next change is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    All,
    /// Those in [`Addressees::reached`].
    Some,
    Nobody,
}

/// What becomes of the next change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offer {
    /// It may be laid out for these.
    To(Audience),
    /// The same, but what is to be said before it has filled the datagram.
    After(Audience),
    /// Nobody wants it. The one behind it is next.
    Declined,
    /// It has to stand in a datagram of its own.
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

    /// Notes a number that is not sent to the reader. Returns whether that is new: of a long change each datagram comes here.
    fn leave_out(&mut self, number: SequenceNumber) -> bool {
        match &mut self.untold {
            Some(run) if run.last == number => return false,
            Some(run) if run.last.next() == number => run.last = number,
            // What lies between was sent, or is gone: a run that went over it would deny it.
            _ => self.untold = Some(Untold { first: number, last: number }),
        }
        true
    }

    /// The end of the run of which `number` is a part.
    fn end_of_run(&self, number: SequenceNumber) -> Option<SequenceNumber> {
        self.untold.filter(|run| run.first <= number && number <= run.last).map(|run| run.last)
    }
}

impl StatefulWriter {
    /// The filter that is to be asked for a reader, if there is one and it can be. `known` is what was asked for it before.
    pub(super) fn filter_of(&self, reader: &ReaderProxyConfig, known: Option<Box<Filtered>>) -> Option<Box<Filtered>> {
        let property = reader.content_filter.as_deref().filter(|property| property.class == DDSSQL)?;
        if known.as_ref().is_some_and(|known| known.property == *property) {
            return known;
        }
        let liveliness = &self.config.liveliness;
        let speaks_by_samples =
            liveliness.kind == LivelinessKind::ManualByTopic && !liveliness.lease_duration.is_infinite();
        let others = self.proxies.iter().filter(|proxy| proxy.config.guid != reader.guid && proxy.filtered.is_some());
        if self.presentation.is_some() || speaks_by_samples || others.count() >= FILTERS_MAX {
            return None;
        }
        let ty = self.config.filtered_type?;
        // What it could not be asked for is the reader's own business.
        let filter = Filter::new(ty, &property.expression, &property.parameters).ok()?;
        let untold = known.and_then(|known| known.untold);
        Some(Box::new(Filtered { property: property.clone(), filter, untold }))
    }

    /// Asks the filters about the next change. `early`: it is for those readers alone that were there before others.
    pub(super) fn offer(&mut self, now: Now, early: bool, layout: &mut Layout<'_>) -> Offer {
        if early {
            let number = self.next;
            let proxies = self.proxies.iter().enumerate();
            let reached = proxies.filter(|(_, proxy)| proxy.first_relevant <= number).map(|(index, _)| index);
            self.addressees.reached.clear();
            self.addressees.reached.extend(reached);
            let has_told = self.tell_of_untold(Audience::Some, layout);
            return if has_told { Offer::To(Audience::All) } else { Offer::After(Audience::All) };
        }
        let audience = self.choose_audience();
        match audience {
            Audience::Nobody => {
                self.leave_out_others();
                self.advance_to(self.next.next());
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

    /// Whom the next change is sent to.
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
            // Where it goes anyway, nobody need be asked.
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

    /// Notes who is not sent the next change, which does not go everywhere.
    fn leave_out_others(&mut self) {
        let mut reached = self.addressees.reached.iter().peekable();
        for (index, proxy) in self.proxies.iter_mut().enumerate() {
            if reached.next_if_eq(&&index).is_none() {
                let is_new = proxy.filtered.as_mut().is_some_and(|filtered| filtered.leave_out(self.next));
                self.counters.filtered += u64::from(is_new);
            }
        }
    }

    /// Where a change goes that does not go everywhere.
    pub(super) fn needed_locators(&self) -> impl Iterator<Item = Locator> + '_ {
        let locators = self.destinations.locators(&self.proxies).iter().zip(&self.addressees.needed);
        locators.filter(|(_, needed)| **needed).map(|(locator, _)| *locator)
    }

    /// Tells those who are about to get the next change what they were not sent before it. `false`: there is no room for all of it.
    fn tell_of_untold(&mut self, audience: Audience, layout: &mut Layout<'_>) -> bool {
        let mut reached = self.addressees.reached.iter().peekable();
        let mut has_told = false;
        for (index, proxy) in self.proxies.iter_mut().enumerate() {
            let is_reached = audience == Audience::All || reached.next_if_eq(&&index).is_some();
            let Some(filtered) = proxy.filtered.as_mut().filter(|_| is_reached) else { continue };
            let Some(run) = filtered.untold.filter(|run| run.last > proxy.acknowledged) else { continue };
            if !layout.has_room_for_gap() {
                if has_told {
                    layout.everybody();
                }
                return false;
            }
            has_told = true;
            filtered.untold = None;
            layout.filtered_for(proxy.config.guid, run.first, run.last);
        }
        if has_told {
            layout.everybody();
        }
        true
    }

    /// The lowest number from `number` on that a reader with a filter is to be sent, or behind the ones that it is not; and whether
    /// nothing but its filter says so. `last` is the last one that concerns it.
    pub(super) fn next_wanted(
        &self,
        now: Now,
        filtered: &Filtered,
        number: SequenceNumber,
        last: SequenceNumber,
    ) -> (SequenceNumber, bool) {
        if let Some(end) = filtered.end_of_run(number) {
            return (end.next().min(self.next), true);
        }
        let mut from = number;
        for looked_at in 0..=LOOKED_AT_MAX {
            let found = self.next_sendable(now, from).filter(|&found| found <= last).unwrap_or(self.next);
            let found = found.min(self.next);
            let is_wanted = found >= self.next || self.change(found).is_none_or(|change| filtered.wants(change));
            if found > from || is_wanted || looked_at == LOOKED_AT_MAX {
                // What is gone is told apart from what was filtered.
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

/// Whether a reader gets what goes to the locators that are needed.
fn is_marked(needed: &[bool], reach: &[usize]) -> bool {
    !reach.is_empty() && reach.iter().any(|&at| needed.get(at).copied().unwrap_or(false))
}
