//! The matched readers of a writer.
//!
//! In: matches, answers, sent changes. Out: recipients and locators of each change, and the next reader to serve.
//! Owned: a proxy for each remote reader, a link to each local one, and the queue of readers with data to send.
//!
//! | file | owns |
//! |---|---|
//! | `proxy` | state of one remote reader |
//! | `handshake` | initial handshake, and the HEARTBEATs that a reader has to answer |
//! | `handshake_heartbeats` | HEARTBEATs that tell readers their first relevant sequence number |
//! | `repair_budget` | bytes that one reader may request again |
//! | `requested_changes`, `requested_fragments` | open requests of one reader |
//! | `content_filter` | content filters of readers, and the omitted changes |
//! | `destinations` | locators and sizes of datagrams for all readers |
//! | `local_reader` | state of one local reader |
//! | `unresponsive` | readers that may come back |

pub(crate) mod content_filter;
pub(crate) mod destinations;
pub(crate) mod handshake;
pub(crate) mod handshake_heartbeats;
pub(crate) mod local_reader;
pub(crate) mod proxy;
mod repair_budget;
pub(crate) mod requested_changes;
pub(crate) mod requested_fragments;
pub(crate) mod unresponsive;

use self::content_filter::FilteredRecipients;
use self::destinations::Destinations;
use self::handshake::{HandshakeCounts, OwedHeartbeat};
use self::local_reader::LocalReader;
use self::proxy::ReaderProxy;
use self::unresponsive::UnresponsiveReaders;
use super::config::WriterConfig;
use crate::types::{Duration, Guid, Instant, KeyedState, SequenceNumber, earliest};
use crate::wire::Headroom;
use std::collections::{HashMap, VecDeque};

/// Most remote readers of a writer. Each match and unmatch visits all of them.
pub const READERS_MAX: usize = 4096;

/// Most bytes of a datagram that a transform of messages may need.
const HEADROOM_MAX: u16 = 4_096;

/// All matched readers of a writer.
#[derive(Debug)]
pub(crate) struct ReaderTable {
    pub(crate) proxies: Vec<ReaderProxy>,
    by_guid: HashMap<Guid, usize, KeyedState>,
    pub(crate) locals: Vec<LocalReader>,
    pub(crate) destinations: Destinations,
    pub(crate) filtered: FilteredRecipients,
    pub(crate) handshakes: HandshakeCounts,
    pub(crate) unresponsive: UnresponsiveReaders,
    /// Whether a reliable reader answers HEARTBEATs. Each answer and each HEARTBEAT updates it.
    is_answered: bool,
    /// Indexes of the proxies with data to send, each once, served in turns.
    queue: VecDeque<usize>,
    /// When to check which proxies belong into the queue.
    check_at: Option<Instant>,
    nack_suppression: Duration,
    /// How often all readers were visited.
    #[cfg(test)]
    walks: std::sync::atomic::AtomicU64,
}

impl ReaderTable {
    pub(crate) fn new(config: &WriterConfig) -> Self {
        Self {
            proxies: Vec::new(),
            by_guid: HashMap::with_hasher(config.hash_seed.state()),
            locals: Vec::new(),
            destinations: Destinations::with_headroom(
                &[],
                config.fragment_size,
                config.congestion,
                Headroom { bytes: config.headroom.bytes.min(HEADROOM_MAX), ..config.headroom },
            ),
            filtered: FilteredRecipients::default(),
            handshakes: HandshakeCounts::default(),
            unresponsive: UnresponsiveReaders::default(),
            is_answered: false,
            queue: VecDeque::new(),
            check_at: None,
            nack_suppression: config.nack_suppression,
            #[cfg(test)]
            walks: std::sync::atomic::AtomicU64::new(0),
        }
    }

    /// Returns whether no remote reader may match any more.
    pub(crate) fn is_full(&self) -> bool {
        self.proxies.len() >= READERS_MAX
    }

    /// Returns the index of a remote reader's proxy.
    pub(crate) fn index_of(&self, guid: Guid) -> Option<usize> {
        self.by_guid.get(&guid).copied()
    }

    /// Returns the index of a remote reliable reader's proxy.
    pub(crate) fn reliable_index(&self, guid: Guid) -> Option<usize> {
        let index = self.index_of(guid)?;
        if self.proxies.get(index)?.reliable { Some(index) } else { None }
    }

    /// Returns the proxies of the reliable remote readers.
    pub(crate) fn reliable(&self) -> impl Iterator<Item = &ReaderProxy> + Clone {
        #[cfg(test)]
        self.walks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.proxies.iter().filter(|proxy| proxy.reliable)
    }

    #[cfg(test)]
    pub(crate) fn walks(&self) -> u64 {
        self.walks.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Adds the proxy of a remote reader that does not match yet. Returns its index.
    pub(crate) fn add(&mut self, proxy: ReaderProxy) -> usize {
        let index = self.proxies.len();
        let before = self.by_guid.insert(proxy.config.guid, index);
        debug_assert!(before.is_none(), "a reader has one proxy");
        self.proxies.push(proxy);
        index
    }

    /// Removes a remote reader. Returns whether it matched.
    pub(crate) fn remove(&mut self, guid: Guid) -> bool {
        // A peer may announce the end of a reader that never matched.
        let Some(index) = self.by_guid.remove(&guid) else { return false };
        self.proxies.swap_remove(index);
        // `swap_remove` moved the last proxy to this index.
        let moved = self.proxies.len();
        if let Some(proxy) = self.proxies.get(index) {
            self.by_guid.insert(proxy.config.guid, index);
        }
        self.queue.retain(|&queued| queued != index);
        // The queue holds indexes, so it must follow the move as well.
        for queued in &mut self.queue {
            if *queued == moved {
                *queued = index;
            }
        }
        true
    }

    /// Removes a local reader. Returns whether it matched.
    pub(crate) fn remove_local(&mut self, guid: Guid) -> bool {
        let before = self.locals.len();
        self.locals.retain(|local| local.guid != guid);
        self.locals.len() < before
    }

    /// Returns whether a reliable reader answers HEARTBEATs.
    #[inline]
    pub(crate) fn is_answered(&self) -> bool {
        self.is_answered
    }

    /// Notes an answer, or a HEARTBEAT after which `is_answered` holds.
    pub(crate) fn set_answered(&mut self, is_answered: bool) {
        self.is_answered = is_answered;
    }

    /// Updates the properties of all readers after a match of the last one.
    ///
    /// It visits no other reader. When hundreds of participants meet, such visits would take most of the time.
    pub(crate) fn note_added(&mut self, index: usize) {
        self.destinations.add_last(&self.proxies);
        if let Some(proxy) = self.proxies.get(index) {
            self.handshakes.add(proxy.is_unheard(), proxy.needs_handshake());
            // A new reader has time to answer.
            self.is_answered |= proxy.reliable;
        }
    }

    /// Updates the properties of all readers after a reader has left or changed.
    pub(crate) fn note_changed(&mut self) {
        self.destinations.recompute(&self.proxies);
        let is_answered = self.reliable().any(|proxy| proxy.asked.is_answered());
        self.is_answered = is_answered;
        self.count_handshakes();
    }

    /// Counts the readers that never answered, and those with an incomplete handshake.
    pub(crate) fn count_handshakes(&mut self) {
        let (mut unheard, mut incomplete) = (0, 0);
        for proxy in &self.proxies {
            unheard += usize::from(proxy.is_unheard());
            incomplete += usize::from(proxy.needs_handshake());
        }
        self.handshakes.set(unheard, incomplete);
    }

    /// Returns whether a reader that has answered before owes an acknowledgment of changes up to `last`.
    pub(crate) fn has_heard_reader_behind(&self, last: SequenceNumber) -> bool {
        self.reliable().any(|proxy| proxy.handshake.is_heard() && proxy.acknowledged < last)
    }

    /// Puts a proxy into the queue if it has data to send, or notes when it will have.
    pub(crate) fn enqueue(&mut self, now: Instant, index: usize) {
        let Some(proxy) = self.proxies.get_mut(index) else {
            debug_assert!(false, "only matched readers have data to send");
            return;
        };
        if proxy.queued {
            return;
        }
        // An overdue answer makes a HEARTBEAT due, which is work for the queue.
        proxy.ask_if_stuck(now);
        if proxy.has_work(now, self.nack_suppression) {
            proxy.queued = true;
            self.queue.push_back(index);
        }
        // Overdue work is sent now, and then calls this function again.
        if let Some(later) = proxy.work_later(now, self.nack_suppression) {
            if later > now {
                self.wait_until(later);
            }
        }
    }

    /// Owes a reader a HEARTBEAT of its own.
    pub(crate) fn owe_heartbeat(&mut self, now: Instant, index: usize) {
        if let Some(proxy) = self.proxies.get_mut(index) {
            proxy.owed.owe();
            self.enqueue(now, index);
        }
    }

    /// Owes a reader a HEARTBEAT that it must answer.
    pub(crate) fn owe_question(&mut self, now: Instant, index: usize) {
        if let Some(proxy) = self.proxies.get_mut(index) {
            proxy.owed = OwedHeartbeat::Question;
            self.enqueue(now, index);
        }
    }

    /// Removes the next proxy from the queue.
    pub(crate) fn take_queued(&mut self) -> Option<usize> {
        let index = self.queue.pop_front()?;
        match self.proxies.get_mut(index) {
            Some(proxy) => proxy.queued = false,
            None => debug_assert!(false, "the queue holds matched readers"),
        }
        Some(index)
    }

    /// Returns the number of readers with data to send.
    #[inline]
    pub(crate) fn queue_len(&self) -> usize {
        self.queue.len()
    }

    /// Schedules a check of the proxies at `later` or earlier.
    pub(crate) fn wait_until(&mut self, later: Instant) {
        self.check_at = earliest(self.check_at, Some(later));
    }

    /// Returns when to call [`Self::handle_timeout`].
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.check_at
    }

    /// Advances time.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        match self.check_at {
            Some(check_at) if check_at <= now => self.check_at = None,
            _ => return,
        }
        // One deadline serves all proxies, because the deadline of each changes with every answer.
        for index in 0..self.proxies.len() {
            self.enqueue(now, index);
        }
    }

    /// Counts `len` bytes of `number` or older changes as in flight to the readers that receive them.
    ///
    /// Returns whether a HEARTBEAT must probe a reader.
    pub(crate) fn note_sent(&mut self, number: SequenceNumber, len: usize) -> bool {
        let mut wants_probe = false;
        for proxy in &mut self.proxies {
            // A late joiner does not keep earlier changes, so they take no space in its receive buffer.
            if proxy.reliable && proxy.relevant.first <= number {
                proxy.congestion.note_sent(len);
                wants_probe |= proxy.congestion.wants_probe();
            }
        }
        wants_probe
    }

    /// Marks that all bytes sent so far belong to changes up to `number`.
    pub(crate) fn mark_sent(&mut self, number: SequenceNumber) {
        for proxy in &mut self.proxies {
            if proxy.reliable {
                proxy.congestion.mark(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::DataWriterQos;
    use crate::types::{EntityId, GuidPrefix};
    use crate::writer::config::ReaderProxyConfig;

    fn guid(number: u8) -> Guid {
        Guid::new(GuidPrefix([number; 12]), EntityId([0, 0, number, 4]))
    }

    /// Creates a table with three reliable readers, all in the queue.
    fn table() -> ReaderTable {
        let mut table = ReaderTable::new(&WriterConfig::new(guid(9), false, &DataWriterQos::default()));
        for number in 1..=3 {
            let config = ReaderProxyConfig::new(guid(number), Vec::new());
            let index = table.add(ReaderProxy::new(config, true, SequenceNumber::FIRST, 1 << 20));
            table.note_added(index);
            table.enqueue(Instant::ZERO, index);
        }
        table
    }

    #[test]
    fn removed_reader_leaves_queue_and_last_takes_its_index() {
        let mut table = table();
        assert!(table.remove(guid(1)) && !table.remove(guid(1)));
        let mut queued = Vec::new();
        while let Some(index) = table.take_queued() {
            queued.push(table.proxies[index].config.guid);
        }
        assert_eq!(queued, [guid(2), guid(3)]);
        assert_eq!((table.index_of(guid(3)), table.index_of(guid(1))), (Some(0), None));
    }

    #[test]
    fn reader_stands_in_queue_once() {
        let mut table = table();
        table.owe_heartbeat(Instant::ZERO, 1);
        assert_eq!(table.queue_len(), 3);
        assert_eq!(table.take_queued(), Some(0));
        table.owe_heartbeat(Instant::ZERO, 0);
        assert_eq!(table.queue_len(), 3);
        assert_eq!([table.take_queued(), table.take_queued(), table.take_queued()], [Some(1), Some(2), Some(0)]);
    }

    #[test]
    fn handshakes_are_counted_for_each_change() {
        let mut table = table();
        assert_eq!((table.handshakes.unheard, table.handshakes.incomplete), (3, 3));
        table.proxies[0].handshake.note_answer(true);
        table.proxies[1].handshake.note_answer(false);
        table.note_changed();
        assert_eq!((table.handshakes.unheard, table.handshakes.incomplete), (1, 2));
    }
}
