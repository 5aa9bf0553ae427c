//! The changes of all writers of a publisher, put together again for the readers of a subscriber (DDS 1.4, 2.2.3.6 with scope
//! GROUP; RTPS 2.5, 8.7.6).
//!
//! In: what each reader has got of each writer, in the order of that writer, and how far each writer is known to have come.
//! Out: what may be seen now, for each reader, in an order that is the same for all of them. Owned: what waits for others.
//!
//! The writers of a publisher share group sequence numbers, from 1. A reader matches some of them, so that a number that is
//! not there may be lost, late, or none of the subscriber's business; only its writer knows. So what follows a missing number
//! waits until every writer that has nothing waiting here is known to be further: by a later change of it, by the end of a
//! set, which each of our writers confirms, or by a HEARTBEAT that says how far its group is. Whoever does not answer such
//! questions (Zenzen DDS 0.2 tells nothing by HEARTBEAT) is not waited for.
//!
//! A set is seen when every writer has ended it, and dropped when one of them has a hole in it, or leaves before its end.
//!
//! Bound: [`ITEMS_MAX`] for each writer and reader; the samples among them count in their readers' histories before they come
//! here (`history/unseen.rs`).

use crate::concurrent::PresentationClock;
use crate::history::ReceivedChange;
use crate::reader::proxy::plausibility::JUMP_MAX;
use crate::types::{Duration, EntityId, Guid, GuidPrefix, Instant, Now, SequenceNumber};
use std::collections::VecDeque;
use std::sync::Arc;

/// The most items of a writer that wait for others at one reader. Samples are bounded by their readers; this is for ends of
/// sets without samples.
pub const ITEMS_MAX: usize = 4096;

/// The publisher whose numbers a writer shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKey {
    /// Of another participant; the publisher is unknown where discovery does not name it, and then there is only one.
    Remote(GuidPrefix, EntityId),
    /// Of this participant, by the place of its clock.
    Local(usize),
}

/// What a reader says of a writer of a publisher with scope GROUP.
#[derive(Debug)]
pub enum GroupItem {
    /// A change, in no set that matters.
    Change {
        /// Its group sequence number, if it has one.
        number: Option<SequenceNumber>,
        /// The change.
        change: ReceivedChange,
    },
    /// A set has begun at this writer.
    Begun {
        /// Its name: the group sequence number of its first change.
        set: SequenceNumber,
    },
    /// A set has ended at this writer.
    Part {
        /// Its name.
        set: SequenceNumber,
        /// The group sequence number of what ended it.
        end: SequenceNumber,
        /// What this writer has contributed.
        changes: Vec<ReceivedChange>,
        /// Nothing of it is missing.
        is_whole: bool,
    },
    /// All that the writer has written with a number up to this one has come, or never will.
    Reached(SequenceNumber),
    /// The writer says by HEARTBEAT how far its group is.
    Tells,
}

/// What becomes of what has waited.
#[derive(Debug)]
pub enum Release {
    /// It may be seen.
    Admit {
        /// Its place among all that is released to the readers of this subscriber.
        rank: u64,
        /// The change.
        change: ReceivedChange,
    },
    /// It is dropped: something of its set is missing.
    Drop(Vec<ReceivedChange>),
}

/// A writer as one reader sees it.
#[derive(Debug)]
struct Pair {
    writer: Guid,
    reader: EntityId,
    queue: VecDeque<GroupItem>,
    /// All that it has written up to here is in the queue, or was.
    reached: SequenceNumber,
    /// It repairs what is lost, and so can be asked.
    reliable: bool,
    /// It can be relied on to tell how far it is, and when its sets end.
    tells: bool,
    /// The set that has begun and not ended.
    open: Option<SequenceNumber>,
    /// Of a writer of this participant: how far it is.
    clock: Option<Arc<PresentationClock>>,
    /// When it was asked how far it is, if it has not said so since.
    asked_at: Option<Instant>,
}

/// The writers of one publisher.
#[derive(Debug)]
struct Group {
    key: GroupKey,
    pairs: Vec<Pair>,
    /// The number that follows on what has been released.
    next: SequenceNumber,
    /// Sets of which a writer has left something out by leaving.
    broken: VecDeque<SequenceNumber>,
}

/// The gate of one subscriber.
#[derive(Debug)]
pub struct GroupGate {
    coherent: bool,
    ordered: bool,
    groups: Vec<Group>,
    /// What each reader is to take over.
    releases: Vec<(EntityId, VecDeque<Release>)>,
    rank: u64,
}

impl GroupGate {
    /// A gate for a subscriber with these two promises.
    #[must_use]
    pub fn new(coherent: bool, ordered: bool) -> Self {
        Self { coherent, ordered, groups: Vec::new(), releases: Vec::new(), rank: 0 }
    }

    /// A reader matches a writer. `reached`: up to where nothing of it is to be expected; `tells`: whether it is known to say
    /// how far it is.
    pub fn add(
        &mut self,
        key: GroupKey,
        (writer, reader): (Guid, EntityId),
        (reliable, tells): (bool, bool),
        reached: SequenceNumber,
        clock: Option<Arc<PresentationClock>>,
    ) {
        if self.pair(writer, reader).is_some() {
            return;
        }
        let pair = Pair {
            writer,
            reader,
            queue: VecDeque::new(),
            reached,
            reliable,
            tells,
            open: None,
            clock,
            asked_at: None,
        };
        match self.groups.iter_mut().find(|group| group.key == key) {
            Some(group) => group.pairs.push(pair),
            None => {
                let (next, broken) = (SequenceNumber::FIRST, VecDeque::new());
                self.groups.push(Group { key, pairs: vec![pair], next, broken });
            }
        }
    }

    /// A writer has left, or its reader (`by_reader`). Sets that it has not ended are broken by the former.
    pub fn remove(&mut self, writer: Guid, reader: EntityId, by_reader: bool) {
        for group in &mut self.groups {
            let Some(at) = group.pairs.iter().position(|pair| pair.writer == writer && pair.reader == reader) else {
                continue;
            };
            let mut pair = group.pairs.swap_remove(at);
            if !by_reader {
                // What waits here of it is part of sets that may still be whole; all others that wait have no part of it.
                let pending: Vec<_> = group.sets().filter(|&set| !pair.has_passed(set, group.end_of(set))).collect();
                pending.into_iter().chain(pair.open).for_each(|set| group.note_broken(set));
            }
            let of_reader = releases_of(&mut self.releases, reader);
            for item in pair.queue.drain(..) {
                match item {
                    GroupItem::Change { change, .. } => {
                        self.rank += 1;
                        of_reader.push_back(Release::Admit { rank: self.rank, change });
                    }
                    GroupItem::Part { changes, set, .. } => {
                        of_reader.push_back(Release::Drop(changes));
                        group.note_broken(set);
                    }
                    _ => {}
                }
            }
        }
        self.groups.retain(|group| !group.pairs.is_empty());
    }

    /// How many sets are remembered of which something is missing.
    #[cfg(test)]
    pub(crate) fn broken_len(&self) -> usize {
        self.groups.iter().map(|group| group.broken.len()).sum()
    }

    /// A reader has closed.
    pub fn remove_reader(&mut self, reader: EntityId) {
        let writers: Vec<Guid> = self.pairs().filter(|pair| pair.reader == reader).map(|pair| pair.writer).collect();
        writers.into_iter().for_each(|writer| self.remove(writer, reader, true));
        self.releases.retain(|(known, _)| *known != reader);
    }

    /// Takes in what a reader says of a writer; what is not matched is given back as it is.
    pub fn push(&mut self, writer: Guid, reader: EntityId, item: GroupItem) {
        let pair = self.pair(writer, reader).and_then(|pair| pair.believes(&item).then_some(pair));
        let Some(pair) = pair else {
            let of_reader = releases_of(&mut self.releases, reader);
            match item {
                GroupItem::Change { change, .. } => of_reader.push_back(Release::Admit { rank: 0, change }),
                GroupItem::Part { changes, .. } => of_reader.push_back(Release::Drop(changes)),
                _ => {}
            }
            return;
        };
        match item {
            GroupItem::Reached(number) => {
                pair.tells = true;
                pair.reached = pair.reached.max(number);
                pair.asked_at = None;
                return;
            }
            GroupItem::Tells => {
                pair.tells = true;
                return;
            }
            GroupItem::Begun { set } => {
                pair.open = Some(set);
                return;
            }
            GroupItem::Change { number, .. } => pair.reached = pair.reached.max(number.unwrap_or(pair.reached)),
            GroupItem::Part { end, .. } => {
                pair.open = None;
                pair.reached = pair.reached.max(end);
            }
        }
        pair.queue.push_back(item);
        if pair.queue.len() <= ITEMS_MAX {
            return;
        }
        let oldest = pair.queue.pop_front();
        let of_reader = releases_of(&mut self.releases, reader);
        match oldest {
            Some(GroupItem::Part { changes, set, .. }) => {
                of_reader.push_back(Release::Drop(changes));
                if let Some(group) = self.groups.iter_mut().find(|group| group.has(writer, reader)) {
                    group.note_broken(set);
                }
            }
            Some(GroupItem::Change { change, .. }) => {
                self.rank += 1;
                of_reader.push_back(Release::Admit { rank: self.rank, change });
            }
            _ => {}
        }
    }

    /// Lets out what may be seen now.
    pub fn release(&mut self, now: Now) {
        let Self { coherent, ordered, groups, releases, rank } = self;
        for group in groups {
            while group.release_next(now, (*coherent, *ordered), releases, rank) {}
            group.forget_broken();
        }
    }

    /// What a reader is to take over next.
    pub fn poll_release(&mut self, reader: EntityId) -> Option<Release> {
        releases_of(&mut self.releases, reader).pop_front()
    }

    /// The readers that have something to take over.
    pub fn readers_with_releases(&self) -> impl Iterator<Item = EntityId> + '_ {
        self.releases.iter().filter(|(_, queue)| !queue.is_empty()).map(|(reader, _)| *reader)
    }

    /// The readers that are to ask a writer how far it is, because something waits for that and it has not been asked within
    /// `interval`.
    pub fn readers_to_ask(&self, now: Now, interval: Duration) -> impl Iterator<Item = EntityId> + '_ {
        let is_due = move |pair: &&Pair| pair.is_to_ask(now.instant, interval);
        let waiting = self.groups.iter().filter(|group| group.waits());
        waiting.flat_map(move |group| group.pairs.iter().filter(is_due).map(|pair| pair.reader))
    }

    /// The writers that a reader is to ask now; they count as asked.
    pub fn take_writers_to_ask(&mut self, reader: EntityId, now: Now, interval: Duration) -> Vec<Guid> {
        let waiting = self.groups.iter_mut().filter(|group| group.waits());
        let pairs = waiting.flat_map(|group| &mut group.pairs).filter(|pair| pair.reader == reader);
        let due = pairs.filter(|pair| pair.is_to_ask(now.instant, interval));
        due.map(|pair| {
            pair.asked_at = Some(now.instant);
            pair.writer
        })
        .collect()
    }

    /// Whether something waits for an answer that this reader is to get.
    #[must_use]
    pub fn is_asking(&self, reader: EntityId) -> bool {
        let waiting = self.groups.iter().filter(|group| group.waits());
        waiting.flat_map(|group| &group.pairs).any(|pair| pair.reader == reader && pair.asked_at.is_some())
    }

    fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.groups.iter().flat_map(|group| &group.pairs)
    }

    fn pair(&mut self, writer: Guid, reader: EntityId) -> Option<&mut Pair> {
        let mut pairs = self.groups.iter_mut().flat_map(|group| &mut group.pairs);
        pairs.find(|pair| pair.writer == writer && pair.reader == reader)
    }
}

fn releases_of(releases: &mut Vec<(EntityId, VecDeque<Release>)>, reader: EntityId) -> &mut VecDeque<Release> {
    let at = releases.iter().position(|(known, _)| *known == reader).unwrap_or_else(|| {
        releases.push((reader, VecDeque::new()));
        releases.len() - 1
    });
    &mut releases[at].1
}

impl Group {
    /// Whether something is held up.
    fn waits(&self) -> bool {
        self.pairs.iter().any(|pair| !pair.queue.is_empty())
    }

    fn has(&self, writer: Guid, reader: EntityId) -> bool {
        self.pairs.iter().any(|pair| pair.writer == writer && pair.reader == reader)
    }

    /// The sets that wait.
    fn sets(&self) -> impl Iterator<Item = SequenceNumber> + '_ {
        let items = self.pairs.iter().flat_map(|pair| &pair.queue);
        items.filter_map(|item| if let GroupItem::Part { set, .. } = item { Some(*set) } else { None })
    }

    /// The lowest number that is known to lie behind the set.
    fn end_of(&self, name: SequenceNumber) -> SequenceNumber {
        let items = self.pairs.iter().flat_map(|pair| &pair.queue);
        let ends = items.filter_map(|item| match item {
            GroupItem::Part { set, end, .. } if *set == name => Some(*end),
            _ => None,
        });
        ends.min().unwrap_or(SequenceNumber::MAX)
    }

    /// Whether every writer has ended the set, or has no part in it.
    fn is_complete(&self, set: SequenceNumber) -> bool {
        let end = self.end_of(set);
        self.pairs.iter().all(|pair| pair.has_passed(set, end))
    }

    /// Lets out the next change, or the next set. `false`: nothing may be seen now.
    fn release_next(
        &mut self,
        now: Now,
        (coherent, ordered): (bool, bool),
        releases: &mut Vec<(EntityId, VecDeque<Release>)>,
        rank: &mut u64,
    ) -> bool {
        let fronts = || self.pairs.iter().enumerate().filter_map(|(at, pair)| Some((at, pair.queue.front()?.number())));
        let may_go = |&(at, number): &(usize, SequenceNumber)| match self.pairs[at].queue.front() {
            Some(GroupItem::Part { set, .. }) => self.is_complete(*set) && self.is_first(*set),
            _ => !ordered || self.is_next(number),
        };
        let found =
            if ordered { fronts().min_by_key(|&(_, number)| number).filter(may_go) } else { fronts().find(may_go) };
        let Some((at, number)) = found else { return false };
        if let Some(GroupItem::Part { .. }) = self.pairs[at].queue.front() {
            self.release_set(now, number, coherent, releases, rank);
        } else if let Some(GroupItem::Change { change, .. }) = self.pairs[at].queue.pop_front() {
            *rank += 1;
            releases_of(releases, self.pairs[at].reader).push_back(Release::Admit { rank: *rank, change });
            self.next = self.next.max(number.next());
        }
        true
    }

    /// Whether no writer that has a part in the set has anything waiting before it.
    fn is_first(&self, name: SequenceNumber) -> bool {
        self.pairs.iter().all(|pair| {
            let is_part = |item: &GroupItem| matches!(item, GroupItem::Part { set, .. } if *set == name);
            pair.queue.iter().position(is_part).is_none_or(|at| at == 0)
        })
    }

    /// Whether nothing can come any more that stands before this number.
    fn is_next(&self, number: SequenceNumber) -> bool {
        let is_further = |pair: &Pair| {
            !pair.queue.is_empty()
                || (pair.open.is_none() && (!pair.tells || !pair.reliable || pair.reached() >= number.previous()))
        };
        number <= self.next || self.pairs.iter().all(is_further)
    }

    fn release_set(
        &mut self,
        now: Now,
        name: SequenceNumber,
        coherent: bool,
        releases: &mut Vec<(EntityId, VecDeque<Release>)>,
        rank: &mut u64,
    ) {
        let (mut is_whole, mut all) = (!self.broken.contains(&name), Vec::new());
        for pair in &mut self.pairs {
            if !matches!(pair.queue.front(), Some(GroupItem::Part { set, .. }) if *set == name) {
                continue;
            }
            if let Some(GroupItem::Part { changes, end, is_whole: is_part_whole, .. }) = pair.queue.pop_front() {
                let is_expired = |change: &ReceivedChange| change.expires.is_some_and(|expires| expires <= now.instant);
                is_whole &= is_part_whole && !changes.iter().any(is_expired);
                self.next = self.next.max(end.next());
                all.extend(changes.into_iter().map(|change| (pair.reader, change)));
            }
        }
        if coherent && !is_whole {
            for (reader, change) in all {
                releases_of(releases, reader).push_back(Release::Drop(vec![change]));
            }
            return;
        }
        // Within one writer they have their order; across writers the numbers say which came first.
        all.sort_by_key(|(_, change)| {
            let presented = change.change.presented.as_deref();
            presented.and_then(|presented| presented.group).map_or(SequenceNumber::ZERO, |group| group.number)
        });
        for (reader, change) in all {
            *rank += 1;
            releases_of(releases, reader).push_back(Release::Admit { rank: *rank, change });
        }
    }

    /// Something of a set is missing. Of too many the oldest is forgotten.
    fn note_broken(&mut self, set: SequenceNumber) {
        if self.broken.len() == ITEMS_MAX {
            self.broken.pop_front();
        }
        self.broken.push_back(set);
    }

    /// Forgets which sets were broken that lie behind.
    fn forget_broken(&mut self) {
        if !self.broken.is_empty() {
            let next = self.next;
            let pending: Vec<_> = self.sets().chain(self.pairs.iter().filter_map(|pair| pair.open)).collect();
            self.broken.retain(|set| *set >= next || pending.contains(set));
        }
    }
}

impl Pair {
    /// Whether only its writer's answer can tell how far it is, and that is to be asked for.
    fn is_to_ask(&self, now: Instant, interval: Duration) -> bool {
        let can_answer = self.queue.is_empty() && self.reliable && self.clock.is_none() && self.tells;
        can_answer && self.asked_at.is_none_or(|asked| now.since(asked) >= interval)
    }

    /// Up to where all that it has written is here.
    fn reached(&self) -> SequenceNumber {
        let Some(clock) = &self.clock else { return self.reached };
        let (group, own) = clock.last_of(self.writer.entity_id);
        if own <= self.reached { group.max(self.reached) } else { self.reached }
    }

    /// Whether a number is not so far from where the writer was that it is somebody else's: sets that are far ahead would hold up
    /// all others. The next one is believed.
    fn believes(&mut self, item: &GroupItem) -> bool {
        let number = match item {
            GroupItem::Part { end, .. } => *end,
            item => item.number(),
        };
        let nearest = SequenceNumber(number.0.saturating_sub(JUMP_MAX as i64));
        let is_near = self.reached == SequenceNumber::ZERO || nearest <= self.reached;
        self.reached = self.reached.max(nearest);
        is_near
    }

    /// Whether it has ended the set, or is behind it without a part of it.
    fn has_passed(&self, name: SequenceNumber, end: SequenceNumber) -> bool {
        if let Some(open) = self.open {
            return open > name;
        }
        let is_behind = |item: &GroupItem| match item {
            GroupItem::Part { set, .. } => *set >= name,
            item => item.number() > name,
        };
        self.queue.iter().any(is_behind) || !self.tells || self.reached() >= end.previous()
    }
}

impl GroupItem {
    /// By what it is ordered; what has no number comes first.
    fn number(&self) -> SequenceNumber {
        match self {
            Self::Change { number, .. } => number.unwrap_or(SequenceNumber::ZERO),
            Self::Begun { set } | Self::Part { set, .. } => *set,
            Self::Reached(number) => *number,
            Self::Tells => SequenceNumber::ZERO,
        }
    }
}
