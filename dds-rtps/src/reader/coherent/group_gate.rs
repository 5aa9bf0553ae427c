//! The gate of a subscriber with PRESENTATION scope GROUP: it restores the order, and the coherent sets, of all writers
//! of a publisher (DDS 1.4, 2.2.3.6; RTPS 2.5, 8.7.6).
//!
//! - In: what each reader received from each writer, in the order of that writer, and the progress of each writer.
//! - Out: what each reader may show now, in an order that is the same for all readers of the subscriber.
//!
//! The writers of a publisher share group sequence numbers, from 1. A reader matches some of them, so a missing number
//! may be lost, late, or irrelevant to the subscriber; only its writer knows. Changes behind a missing number wait
//! until each writer without waiting items is known to be further. A later change shows that, the end of a set, which
//! all of our writers confirm, or a HEARTBEAT with the progress of the group. The gate does not wait for writers that
//! do not answer such requests (the HEARTBEATs of Zenzen DDS 0.2 carry no group information).
//!
//! A set is released when every writer has ended it. It is dropped when one writer has a hole in it or leaves before.
//!
//! Bound: [`ITEMS_MAX`] items for each writer and reader. Their samples count as withheld in the histories of the
//! readers.

use super::writer_sets::is_expired;
use crate::concurrent::PresentationClock;
use crate::history::ReceivedChange;
use crate::reader::proxy::plausibility::JUMP_MAX;
use crate::types::{Duration, EntityId, Guid, GuidPrefix, Instant, Now, SequenceNumber};
use std::collections::VecDeque;
use std::sync::Arc;

/// Most items of one writer that wait at one reader.
///
/// The readers bound the samples; this bounds the ends of sets without samples.
pub const ITEMS_MAX: usize = 4096;

/// Publisher whose group sequence numbers a writer shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublisherKey {
    /// A publisher of another participant. If discovery does not name it, the participant has one publisher.
    Remote(GuidPrefix, EntityId),
    /// A publisher of this participant, by the address of its clock.
    Local(usize),
}

/// An item from a reader about one writer, for the gate.
#[derive(Debug)]
pub enum GroupItem {
    /// A change outside of coherent sets.
    Change {
        /// Its group sequence number, if it has one.
        number: Option<SequenceNumber>,
        /// The change.
        change: ReceivedChange,
    },
    /// A set began at this writer.
    SetBegun {
        /// Name of the set: the group sequence number of its first change.
        set: SequenceNumber,
    },
    /// A set ended at this writer.
    SetEnded {
        /// Name of the set.
        set: SequenceNumber,
        /// Group sequence number of the change that ended it.
        end: SequenceNumber,
        /// Changes of this writer in the set.
        changes: Vec<ReceivedChange>,
        /// Whether no change of the writer is missing.
        is_whole: bool,
    },
    /// All changes of the writer up to this group sequence number arrived, or never will.
    Reached(SequenceNumber),
    /// The writer reports the progress of its group by HEARTBEAT.
    ReportsProgress,
}

/// A change, or a set, that leaves the gate.
#[derive(Debug)]
pub enum Release {
    /// The reader may show the change.
    Admit {
        /// Position among all changes that the gate released to the readers of the subscriber.
        rank: u64,
        /// The change.
        change: ReceivedChange,
    },
    /// The reader drops the changes: their set is incomplete.
    Drop(Vec<ReceivedChange>),
}

/// One writer as one reader sees it.
#[derive(Debug)]
struct GroupMember {
    writer: Guid,
    reader: EntityId,
    queue: VecDeque<GroupItem>,
    /// All changes up to this group sequence number are in the queue, or were.
    reached: SequenceNumber,
    /// Whether the writer is reliable, and so answers an ACKNACK with its progress.
    is_reliable: bool,
    /// Whether the writer reports its progress, and the ends of its sets.
    reports_progress: bool,
    /// The set that has begun and not ended.
    open: Option<SequenceNumber>,
    /// Progress of a local writer.
    clock: Option<Arc<PresentationClock>>,
    /// When the reader requested the progress of the writer, until the writer reports it.
    requested_at: Option<Instant>,
}

/// The writers of one publisher.
#[derive(Debug)]
struct WriterGroup {
    key: PublisherKey,
    members: Vec<GroupMember>,
    /// Group sequence number after the last released one.
    next: SequenceNumber,
    /// Sets that a writer left incomplete. Bound: [`ITEMS_MAX`].
    broken: VecDeque<SequenceNumber>,
}

/// Releases that wait for their readers.
#[derive(Debug, Default)]
struct ReleaseQueues {
    queues: Vec<(EntityId, VecDeque<Release>)>,
    /// Rank of the last admitted change.
    rank: u64,
}

/// The gate of one subscriber.
#[derive(Debug)]
pub struct GroupGate {
    coherent: bool,
    ordered: bool,
    groups: Vec<WriterGroup>,
    releases: ReleaseQueues,
}

impl GroupGate {
    /// A gate for a subscriber with coherent access, ordered access or both.
    #[must_use]
    pub fn new(coherent: bool, ordered: bool) -> Self {
        Self { coherent, ordered, groups: Vec::new(), releases: ReleaseQueues::default() }
    }

    /// Adds a writer that a reader matched. The reader is not entitled to group sequence numbers up to `reached`.
    ///
    /// `reports_progress`: the writer is known to report its progress.
    pub fn add(
        &mut self,
        key: PublisherKey,
        (writer, reader): (Guid, EntityId),
        (is_reliable, reports_progress): (bool, bool),
        reached: SequenceNumber,
        clock: Option<Arc<PresentationClock>>,
    ) {
        // A repeated match changes nothing: the member keeps its queue.
        if self.member(writer, reader).is_some() {
            return;
        }
        let queue = VecDeque::new();
        let member = GroupMember {
            writer,
            reader,
            queue,
            reached,
            is_reliable,
            reports_progress,
            open: None,
            clock,
            requested_at: None,
        };
        match self.groups.iter_mut().find(|group| group.key == key) {
            Some(group) => group.members.push(member),
            None => {
                // The group starts at its first number: each member knows from where on it counts.
                let (next, broken) = (SequenceNumber::FIRST, VecDeque::new());
                self.groups.push(WriterGroup { key, members: vec![member], next, broken });
            }
        }
    }

    /// Removes a writer of a reader. `by_reader`: the reader left; otherwise the writer did, and its open sets break.
    pub fn remove(&mut self, writer: Guid, reader: EntityId, by_reader: bool) {
        for group in &mut self.groups {
            let Some(at) = group.position(writer, reader) else { continue };
            let member = group.members.swap_remove(at);
            if !by_reader {
                // Its part of an open set will never arrive.
                group.break_sets_without_end(&member);
            }
            // The changes were received, so the reader shows them. Only their place among other writers is lost.
            for item in member.queue {
                match item {
                    GroupItem::Change { change, .. } => self.releases.admit(reader, change),
                    GroupItem::SetEnded { changes, set, .. } => {
                        self.releases.drop_changes(reader, changes);
                        group.note_broken(set);
                    }
                    GroupItem::SetBegun { .. } | GroupItem::Reached(_) | GroupItem::ReportsProgress => {}
                }
            }
        }
        self.groups.retain(|group| !group.members.is_empty());
    }

    /// How many incomplete sets the gate remembers.
    #[cfg(test)]
    pub(crate) fn broken_len(&self) -> usize {
        self.groups.iter().map(|group| group.broken.len()).sum()
    }

    /// Removes a reader that was closed, with all of its writers.
    pub fn remove_reader(&mut self, reader: EntityId) {
        let mut writers = Vec::new();
        for group in &self.groups {
            for member in &group.members {
                if member.reader == reader {
                    writers.push(member.writer);
                }
            }
        }
        for writer in writers {
            self.remove(writer, reader, true);
        }
        self.releases.forget(reader);
    }

    /// Accepts an item of a reader about a writer. Changes of an unmatched writer return to the reader at once.
    pub fn push(&mut self, writer: Guid, reader: EntityId, item: GroupItem) {
        let Some(group) = self.groups.iter_mut().find(|group| group.position(writer, reader).is_some()) else {
            return self.releases.return_item(reader, item);
        };
        let Some(member) = group.member(writer, reader) else {
            debug_assert!(false, "the group was found by this member");
            return;
        };
        // A forged number would hold back the whole group. The reader gets its change back without an order.
        if !member.is_plausible(&item) {
            return self.releases.return_item(reader, item);
        }
        let Some(oldest) = member.accept(item) else { return };
        // The queue is full: the oldest item leaves it without the others.
        match oldest {
            GroupItem::SetEnded { changes, set, .. } => {
                self.releases.drop_changes(reader, changes);
                group.note_broken(set);
            }
            GroupItem::Change { change, .. } => self.releases.admit(reader, change),
            GroupItem::SetBegun { .. } | GroupItem::Reached(_) | GroupItem::ReportsProgress => {}
        }
    }

    /// Releases all changes and sets that the readers may show now.
    pub fn release(&mut self, now: Now) {
        for group in &mut self.groups {
            // Each release may make the next item the first one.
            while group.release_next(now, self.coherent, self.ordered, &mut self.releases) {}
            group.forget_broken();
        }
    }

    /// Returns the next release for a reader.
    pub fn poll_release(&mut self, reader: EntityId) -> Option<Release> {
        self.releases.of(reader).pop_front()
    }

    /// Readers that have releases waiting.
    pub fn readers_with_releases(&self) -> impl Iterator<Item = EntityId> + '_ {
        let queues = self.releases.queues.iter();
        queues.filter_map(|(reader, queue)| if queue.is_empty() { None } else { Some(*reader) })
    }

    /// Readers that must request the progress of a writer: changes wait for it, and `interval` passed since a request.
    pub fn readers_with_due_requests(&self, now: Now, interval: Duration) -> impl Iterator<Item = EntityId> + '_ {
        let members = self.waiting_members();
        members.filter(move |member| member.is_request_due(now.instant, interval)).map(|member| member.reader)
    }

    /// Returns the writers whose progress a reader must request now, and notes the time of the request.
    pub fn take_due_requests(&mut self, reader: EntityId, now: Now, interval: Duration) -> Vec<Guid> {
        let mut writers = Vec::new();
        // A request costs the writer a HEARTBEAT, so only a group in which items wait causes one.
        for group in &mut self.groups {
            if !group.has_waiting() {
                continue;
            }
            for member in &mut group.members {
                if member.reader == reader && member.is_request_due(now.instant, interval) {
                    member.requested_at = Some(now.instant);
                    writers.push(member.writer);
                }
            }
        }
        writers
    }

    /// Whether changes wait for an answer that this reader expects.
    #[must_use]
    pub fn has_pending_request(&self, reader: EntityId) -> bool {
        self.waiting_members().any(|member| member.reader == reader && member.requested_at.is_some())
    }

    /// Members of the groups in which items wait.
    fn waiting_members(&self) -> impl Iterator<Item = &GroupMember> + '_ {
        self.groups.iter().filter(|group| group.has_waiting()).flat_map(|group| &group.members)
    }

    fn member(&mut self, writer: Guid, reader: EntityId) -> Option<&mut GroupMember> {
        self.groups.iter_mut().find_map(|group| group.member(writer, reader))
    }
}

impl ReleaseQueues {
    fn of(&mut self, reader: EntityId) -> &mut VecDeque<Release> {
        let at = match self.queues.iter().position(|(known, _)| *known == reader) {
            Some(at) => at,
            None => {
                self.queues.push((reader, VecDeque::new()));
                self.queues.len() - 1
            }
        };
        &mut self.queues[at].1
    }

    /// The reader may show the change, after all changes admitted before.
    fn admit(&mut self, reader: EntityId, change: ReceivedChange) {
        self.rank += 1;
        let rank = self.rank;
        self.of(reader).push_back(Release::Admit { rank, change });
    }

    fn drop_changes(&mut self, reader: EntityId, changes: Vec<ReceivedChange>) {
        self.of(reader).push_back(Release::Drop(changes));
    }

    /// Returns the changes of an item that the gate does not accept.
    fn return_item(&mut self, reader: EntityId, item: GroupItem) {
        match item {
            // It has no place in the order, so it takes no rank of its own.
            GroupItem::Change { change, .. } => self.of(reader).push_back(Release::Admit { rank: 0, change }),
            GroupItem::SetEnded { changes, .. } => self.drop_changes(reader, changes),
            GroupItem::SetBegun { .. } | GroupItem::Reached(_) | GroupItem::ReportsProgress => {}
        }
    }

    fn forget(&mut self, reader: EntityId) {
        self.queues.retain(|(known, _)| *known != reader);
    }
}

impl WriterGroup {
    fn position(&self, writer: Guid, reader: EntityId) -> Option<usize> {
        self.members.iter().position(|member| member.writer == writer && member.reader == reader)
    }

    fn member(&mut self, writer: Guid, reader: EntityId) -> Option<&mut GroupMember> {
        let at = self.position(writer, reader)?;
        self.members.get_mut(at)
    }

    /// Whether items wait in the gate.
    fn has_waiting(&self) -> bool {
        self.members.iter().any(|member| !member.queue.is_empty())
    }

    /// Names of the sets that wait.
    fn sets(&self) -> Vec<SequenceNumber> {
        let mut sets = Vec::new();
        for member in &self.members {
            for item in &member.queue {
                if let GroupItem::SetEnded { set, .. } = item {
                    sets.push(*set);
                }
            }
        }
        sets
    }

    /// Lowest group sequence number that is known to lie behind the set.
    fn end_of(&self, name: SequenceNumber) -> SequenceNumber {
        // As long as no end is known, no progress of a writer shows that it lies behind the set.
        let mut lowest = SequenceNumber::MAX;
        for member in &self.members {
            for item in &member.queue {
                match item {
                    GroupItem::SetEnded { set, end, .. } if *set == name => lowest = lowest.min(*end),
                    _ => {}
                }
            }
        }
        lowest
    }

    /// Whether every writer has ended the set, or has no part in it.
    fn is_complete(&self, set: SequenceNumber) -> bool {
        let end = self.end_of(set);
        self.members.iter().all(|member| member.has_passed(set, end))
    }

    /// A writer left: sets that wait for its part break, as does its open set.
    ///
    /// Its own waiting items belong to sets that may still be complete. Other waiting sets have no part of it.
    fn break_sets_without_end(&mut self, left: &GroupMember) {
        for set in self.sets() {
            if !left.has_passed(set, self.end_of(set)) {
                self.note_broken(set);
            }
        }
        if let Some(set) = left.open {
            self.note_broken(set);
        }
    }

    /// Releases the next change, or the next set. `false`: nothing may be shown now.
    fn release_next(&mut self, now: Now, coherent: bool, ordered: bool, releases: &mut ReleaseQueues) -> bool {
        let Some((at, number)) = self.next_release(ordered) else { return false };
        let member = &mut self.members[at];
        if let Some(GroupItem::SetEnded { .. }) = member.queue.front() {
            self.release_set(now, number, coherent, releases);
        } else if let Some(GroupItem::Change { change, .. }) = member.queue.pop_front() {
            releases.admit(member.reader, change);
            self.next = self.next.max(number.next());
        } else {
            debug_assert!(false, "only changes and ends of sets wait in a queue");
        }
        true
    }

    /// Index of the member whose first item may be released, and the number of that item.
    fn next_release(&self, ordered: bool) -> Option<(usize, SequenceNumber)> {
        let mut first: Option<(usize, SequenceNumber)> = None;
        for (at, member) in self.members.iter().enumerate() {
            let Some(item) = member.queue.front() else { continue };
            let number = item.number();
            if ordered {
                match first {
                    Some((_, lowest)) if lowest <= number => {}
                    _ => first = Some((at, number)),
                }
            } else if self.may_release(item, ordered) {
                return Some((at, number));
            }
        }
        // Under ordered access only the item with the lowest number may leave.
        let (at, number) = first?;
        let item = self.members[at].queue.front()?;
        if self.may_release(item, ordered) { Some((at, number)) } else { None }
    }

    fn may_release(&self, item: &GroupItem, ordered: bool) -> bool {
        match item {
            GroupItem::SetEnded { set, .. } => self.is_complete(*set) && self.is_first(*set),
            _ => !ordered || self.is_next(item.number()),
        }
    }

    /// Whether the set is the first waiting item of each writer that has a part in it.
    fn is_first(&self, name: SequenceNumber) -> bool {
        for member in &self.members {
            let Some(front) = member.queue.front() else { continue };
            // Items before the part of the set would be overtaken by it.
            if !front.is_end_of(name) && member.queue.iter().any(|item| item.is_end_of(name)) {
                return false;
            }
        }
        true
    }

    /// Whether no earlier group sequence number can still arrive.
    fn is_next(&self, number: SequenceNumber) -> bool {
        number <= self.next || self.members.iter().all(|member| member.is_past(number.previous()))
    }

    /// Releases a set that every writer has ended.
    fn release_set(&mut self, now: Now, name: SequenceNumber, coherent: bool, releases: &mut ReleaseQueues) {
        // Sets that a leaving writer broke were noted by name.
        let (mut is_set_whole, mut all) = (!self.broken.contains(&name), Vec::new());
        for member in &mut self.members {
            // A reader may match only some writers of the set, so not every member has a part.
            let Some(front) = member.queue.front() else { continue };
            if !front.is_end_of(name) {
                continue;
            }
            if let Some(GroupItem::SetEnded { changes, end, is_whole, .. }) = member.queue.pop_front() {
                is_set_whole &= is_whole && !changes.iter().any(|change| is_expired(change, now));
                self.next = self.next.max(end.next());
                for change in changes {
                    all.push((member.reader, change));
                }
            }
        }
        if coherent && !is_set_whole {
            for (reader, change) in all {
                releases.drop_changes(reader, vec![change]);
            }
            return;
        }
        // The changes of each writer are in order. Across writers the group sequence numbers decide.
        all.sort_by_key(|(_, change)| group_number(change));
        for (reader, change) in all {
            releases.admit(reader, change);
        }
    }

    /// Notes an incomplete set. At the limit the oldest one is dropped.
    fn note_broken(&mut self, set: SequenceNumber) {
        if self.broken.len() == ITEMS_MAX {
            self.broken.pop_front();
        }
        self.broken.push_back(set);
    }

    /// Drops the notes of incomplete sets that the group has passed.
    fn forget_broken(&mut self) {
        if self.broken.is_empty() {
            return;
        }
        // A set that still waits, or is open at a writer, must find that it is incomplete.
        let mut pending = self.sets();
        for member in &self.members {
            pending.extend(member.open);
        }
        let next = self.next;
        self.broken.retain(|set| *set >= next || pending.contains(set));
    }
}

impl GroupMember {
    /// Accepts a plausible item. Returns the oldest item if the queue is full.
    fn accept(&mut self, item: GroupItem) -> Option<GroupItem> {
        match &item {
            GroupItem::Reached(number) => {
                self.reports_progress = true;
                self.reached = self.reached.max(*number);
                self.requested_at = None;
                return None;
            }
            GroupItem::ReportsProgress => {
                self.reports_progress = true;
                return None;
            }
            GroupItem::SetBegun { set } => {
                self.open = Some(*set);
                return None;
            }
            // The items of a writer arrive in its order, so none with a lower number follows.
            GroupItem::Change { number, .. } => self.reached = self.reached.max(number.unwrap_or(self.reached)),
            GroupItem::SetEnded { end, .. } => {
                self.open = None;
                self.reached = self.reached.max(*end);
            }
        }
        self.queue.push_back(item);
        if self.queue.len() > ITEMS_MAX { self.queue.pop_front() } else { None }
    }

    /// Whether only a HEARTBEAT can show the progress of this writer, and the reader must request one now.
    fn is_request_due(&self, now: Instant, interval: Duration) -> bool {
        let can_answer = self.queue.is_empty() && self.is_reliable && self.clock.is_none() && self.reports_progress;
        match self.requested_at {
            Some(requested_at) => can_answer && now.since(requested_at) >= interval,
            None => can_answer,
        }
    }

    /// Last group sequence number up to which all changes of the writer arrived.
    fn reached(&self) -> SequenceNumber {
        // A remote writer reports its progress by HEARTBEAT, a local one by its clock.
        let Some(clock) = &self.clock else { return self.reached };
        let (group, own) = clock.last_of(self.writer.entity_id);
        // The clock may be ahead of changes that are still on their way to the gate.
        if own <= self.reached { group.max(self.reached) } else { self.reached }
    }

    /// Whether the writer cannot send changes up to `number` any more.
    fn is_past(&self, number: SequenceNumber) -> bool {
        // The first waiting item has a higher number: `next_release` compares them.
        if !self.queue.is_empty() {
            return true;
        }
        // An open set may still end with any number.
        self.open.is_none() && (!self.reports_progress || !self.is_reliable || self.reached() >= number)
    }

    /// Whether an item is near enough to the last position of the writer. Forged sets far ahead would delay all others.
    ///
    /// The next item is accepted.
    fn is_plausible(&mut self, item: &GroupItem) -> bool {
        let number = match item {
            GroupItem::SetEnded { end, .. } => *end,
            item => item.number(),
        };
        // A real jump is accepted at the second item: the position moves close to it.
        let nearest = SequenceNumber(number.0.saturating_sub(JUMP_MAX as i64));
        let is_near = self.reached == SequenceNumber::ZERO || nearest <= self.reached;
        self.reached = self.reached.max(nearest);
        is_near
    }

    /// Whether the writer has ended the set, or is behind it without a part in it.
    fn has_passed(&self, name: SequenceNumber, end: SequenceNumber) -> bool {
        // Sets of a writer do not overlap: one that began later shows that this one has ended.
        if let Some(open) = self.open {
            return open > name;
        }
        for item in &self.queue {
            let is_behind = match item {
                GroupItem::SetEnded { set, .. } => *set >= name,
                item => item.number() > name,
            };
            if is_behind {
                return true;
            }
        }
        // The gate does not wait for a writer that never reports its progress.
        !self.reports_progress || self.reached() >= end.previous()
    }
}

impl GroupItem {
    /// Whether the item is the end of this set.
    fn is_end_of(&self, name: SequenceNumber) -> bool {
        match self {
            Self::SetEnded { set, .. } => *set == name,
            _ => false,
        }
    }

    /// Number that orders the items. An item without a number comes first.
    fn number(&self) -> SequenceNumber {
        match self {
            Self::Change { number, .. } => number.unwrap_or(SequenceNumber::ZERO),
            Self::SetBegun { set } | Self::SetEnded { set, .. } => *set,
            Self::Reached(number) => *number,
            Self::ReportsProgress => SequenceNumber::ZERO,
        }
    }
}

/// Group sequence number of a change; zero: it has none.
fn group_number(change: &ReceivedChange) -> SequenceNumber {
    let Some(presented) = &change.change.presented else { return SequenceNumber::ZERO };
    match presented.group {
        Some(group) => group.number,
        None => SequenceNumber::ZERO,
    }
}
