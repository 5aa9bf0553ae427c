//! Locators of a change for all matched remote readers: as few datagrams as possible.

use super::proxy::ReaderProxy;
use crate::types::{EntityId, Locator, LocatorKind, SequenceNumber};
use crate::wire::Headroom;
use crate::writer::config::{CongestionConfig, FragmentSize};
use smallvec::SmallVec;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// Room for the headers of a datagram beside its payload.
///
/// It needs 116 bytes: message 20, INFO_TS 12, INFO_DST 16, DATA_FRAG 36, and either a key hash with sentinel 24 or a
/// HEARTBEAT 32.
const HEADERS_LEN: usize = 128;

/// Payload of a datagram for readers on other hosts.
///
/// With the headers it has 1472 bytes, the space for UDP over IPv4 in an Ethernet frame.
const NETWORK_PAYLOAD_LEN: usize = 1344;

/// Extra length of an IPv6 header.
const IP_V6_EXTRA_LEN: u16 = 20;

/// Most bytes of payload in a datagram, and those for readers on this host.
///
/// With headers and a long inline QoS it stays below UDP's 65 507 bytes.
const SAME_HOST_PAYLOAD_LEN: usize = 65_000;

/// Common properties of the matched remote readers.
///
/// Recomputed when a reader leaves or changes, extended when one matches, and read for each sample.
#[derive(Debug)]
pub(crate) struct Destinations {
    size: FragmentSize,
    congestion: CongestionConfig,
    /// Space in each datagram that a transform of messages needs.
    headroom: Headroom,
    /// Number of readers.
    count: usize,
    /// The locators that together reach every reader, each once.
    ///
    /// Computed when a change goes to all of them. When hundreds of participants meet, readers match more often than
    /// that.
    locators: OnceCell<Vec<Locator>>,
    /// For each reader, the indexes of its locators. Empty unless the writer evaluates content filters.
    pub(crate) reach: Vec<SmallVec<[usize; 2]>>,
    /// Whether any reader has a locator.
    pub(crate) anywhere: bool,
    has_ip_v6: bool,
    /// The only reader, or all readers.
    pub(crate) reader_id: EntityId,
    /// From this sequence number on, changes are relevant to all readers. Earlier ones are not relevant to late
    /// joiners.
    pub(crate) relevant_from: SequenceNumber,
    /// Some readers receive no live changes, so each reader gets its changes alone.
    pub(crate) one_by_one: bool,
    /// Whether any reader expects inline QoS.
    pub(crate) expects_inline_qos: bool,
    /// Number of readers whose content filter the writer evaluates.
    pub(crate) filtered: usize,
    /// Number of reliable readers.
    pub(crate) reliable_count: usize,
    /// Whether all readers are on this host.
    pub(crate) same_host: bool,
    /// Bytes per fragment.
    pub(crate) fragment_size: u16,
    /// Most bytes of payload in a datagram that several changes or fragments share.
    pub(crate) payload_len_max: usize,
    /// Bytes of a burst to readers that never answer. `rate` is in bytes per second.
    pub(crate) burst: usize,
    pub(crate) rate: u64,
}

impl Destinations {
    #[cfg(test)]
    pub(crate) fn new(proxies: &[ReaderProxy], size: FragmentSize, congestion: CongestionConfig) -> Self {
        Self::with_headroom(proxies, size, congestion, Headroom::default())
    }

    /// Computes all properties. Each datagram keeps `headroom` unused.
    pub(crate) fn with_headroom(
        proxies: &[ReaderProxy],
        size: FragmentSize,
        congestion: CongestionConfig,
        headroom: Headroom,
    ) -> Self {
        let mut all = Self { headroom, ..Self::none(size, congestion) };
        for proxy in proxies {
            all.note(proxy);
        }
        all.derive_sizes();
        if all.filtered > 0 {
            all.reach = reach(proxies, all.locators(proxies));
        }
        all
    }

    /// Computes all properties again, after a reader has left or changed.
    pub(crate) fn recompute(&mut self, proxies: &[ReaderProxy]) {
        *self = Self::with_headroom(proxies, self.size, self.congestion, self.headroom);
    }

    /// Adds a reader, the last of `proxies`.
    pub(crate) fn add_last(&mut self, proxies: &[ReaderProxy]) {
        let Some(proxy) = proxies.last() else {
            debug_assert!(false, "the reader was added before");
            return;
        };
        // A content filter needs the indexes of all locators.
        if self.filtered > 0 || proxy.filter.is_some() {
            return self.recompute(proxies);
        }
        // Computed again at the next change.
        self.locators.take();
        self.note(proxy);
        self.derive_sizes();
    }

    fn none(size: FragmentSize, congestion: CongestionConfig) -> Self {
        Self {
            size,
            congestion,
            headroom: Headroom::default(),
            count: 0,
            locators: OnceCell::new(),
            reach: Vec::new(),
            anywhere: false,
            has_ip_v6: false,
            reader_id: EntityId::UNKNOWN,
            relevant_from: SequenceNumber::FIRST,
            one_by_one: false,
            expects_inline_qos: false,
            filtered: 0,
            reliable_count: 0,
            same_host: true,
            fragment_size: 0,
            payload_len_max: 0,
            burst: 0,
            rate: 0,
        }
    }

    fn note(&mut self, proxy: &ReaderProxy) {
        let config = &proxy.config;
        let mut locators = config.unicast.iter().chain(&config.multicast).peekable();
        self.anywhere |= locators.peek().is_some();
        self.has_ip_v6 |= locators.any(|locator| locator.kind == LocatorKind::UdpV6);
        self.reader_id = if self.count == 0 { config.guid.entity_id } else { EntityId::UNKNOWN };
        self.count += 1;
        self.relevant_from = self.relevant_from.max(proxy.relevant.first);
        self.one_by_one |= proxy.relevant.last != SequenceNumber::MAX;
        self.expects_inline_qos |= config.expects_inline_qos;
        self.filtered += usize::from(proxy.filter.is_some());
        self.reliable_count += usize::from(proxy.reliable);
        self.same_host &= config.same_host;
    }

    /// Derives the sizes and rates from the properties of all readers.
    fn derive_sizes(&mut self) {
        // A datagram keeps space for the headers that writers do not see.
        let headroom = if self.same_host { self.headroom } else { self.headroom.in_frame() };
        let extra = headroom.bytes + if self.has_ip_v6 { IP_V6_EXTRA_LEN } else { 0 };
        let fragment_size;
        if self.same_host {
            fragment_size = self.size.same_host.saturating_sub(headroom.bytes);
            self.payload_len_max = SAME_HOST_PAYLOAD_LEN - usize::from(headroom.bytes);
            (self.burst, self.rate) = (self.congestion.same_host, self.congestion.same_host_rate);
        } else {
            // A long footer would not leave a frame any room, but the whole datagram must have room for it.
            let room = SAME_HOST_PAYLOAD_LEN.saturating_sub(usize::from(self.headroom.bytes));
            let room = u16::try_from(room).unwrap_or(u16::MAX);
            fragment_size = self.size.network.saturating_sub(extra).min(room);
            self.payload_len_max = NETWORK_PAYLOAD_LEN - usize::from(extra);
            (self.burst, self.rate) = (self.congestion.network, self.congestion.network_rate);
        }
        // A message of the smallest submessages grows as they do.
        self.payload_len_max /= usize::from(headroom.submessage_growth.max(1));
        self.fragment_size = fragment_size.clamp(FragmentSize::MIN, FragmentSize::MAX);
    }

    /// Returns the locators that together reach every reader, each once.
    pub(crate) fn locators(&self, proxies: &[ReaderProxy]) -> &[Locator] {
        self.locators.get_or_init(|| union(proxies))
    }

    /// Returns whether a large change may go to all readers in one long message.
    ///
    /// A content filter that the writer evaluates needs datagrams.
    pub(crate) fn may_be_long(&self) -> bool {
        self.anywhere && self.same_host && self.filtered == 0
    }

    /// Returns how many fragments share a datagram: one, unless they are much smaller than a datagram.
    pub(crate) fn fragments_per_datagram(&self, fragment_size: u16) -> u32 {
        let count = self.payload_len_max / usize::from(fragment_size.max(1));
        u32::from(u16::try_from(count).unwrap_or(u16::MAX).max(1))
    }

    /// Most bytes of a message that small changes share.
    pub(crate) fn message_len_max(&self) -> usize {
        self.payload_len_max + HEADERS_LEN
    }
}

/// Returns the locators that reach all of `proxies`.
///
/// A multicast locator is used if it saves datagrams. Readers outside its group are reached by unicast.
fn union(proxies: &[ReaderProxy]) -> Vec<Locator> {
    let mut locators = Distinct::default();
    let mut covered = vec![false; proxies.len()];
    let mut groups = Distinct::default();
    for proxy in proxies {
        groups.extend(&proxy.config.multicast);
    }
    for group in &groups.list {
        let (mut members, mut unreachable) = (0, false);
        // Readers behind one unicast locator need one datagram in any case.
        let mut saved = Distinct::default();
        for (proxy, covered) in proxies.iter().zip(&covered) {
            if *covered || !proxy.config.multicast.contains(group) {
                continue;
            }
            members += 1;
            saved.extend(&proxy.config.unicast);
            unreachable |= proxy.config.unicast.is_empty();
        }
        // A group that replaces fewer than two datagrams saves nothing.
        if saved.list.len() < 2 && !unreachable {
            continue;
        }
        // One reader is reached by unicast, which disturbs no other host.
        if members < 2 && !unreachable {
            continue;
        }
        locators.extend([group]);
        for (proxy, covered) in proxies.iter().zip(&mut covered) {
            *covered |= proxy.config.multicast.contains(group);
        }
    }
    for (proxy, covered) in proxies.iter().zip(&covered) {
        if !covered {
            locators.extend(&proxy.config.unicast);
        }
    }
    locators.list
}

/// Returns which of `locators` reach each of `proxies`: the multicast group of a member, unicast locators otherwise.
fn reach(proxies: &[ReaderProxy], locators: &[Locator]) -> Vec<SmallVec<[usize; 2]>> {
    // Readers are many and locators few, so the index is built once.
    let mut places: HashMap<Locator, usize> = HashMap::with_capacity(locators.len());
    for (at, locator) in locators.iter().enumerate() {
        places.insert(*locator, at);
    }
    let place = |locator: &Locator| places.get(locator).copied();
    let mut reach = Vec::with_capacity(proxies.len());
    for proxy in proxies {
        // A chosen group replaces the unicast of all its readers.
        reach.push(match proxy.config.multicast.iter().find_map(place) {
            Some(group) => SmallVec::from_slice(&[group]),
            None => proxy.config.unicast.iter().filter_map(place).collect(),
        });
    }
    reach
}

/// Locators in the order of insertion, each once.
///
/// A few locators are compared with each other. For many, this would dominate the cost when hundreds of participants
/// meet.
#[derive(Debug, Default)]
struct Distinct {
    list: Vec<Locator>,
    /// All locators, once they are many.
    set: HashSet<Locator, foldhash::fast::RandomState>,
}

impl Distinct {
    /// Most locators that are compared one by one.
    const FEW: usize = 8;

    fn extend<'a>(&mut self, locators: impl IntoIterator<Item = &'a Locator>) {
        for locator in locators {
            // A search in a few locators is faster than a hash.
            let is_new = if self.list.len() <= Self::FEW {
                !self.list.contains(locator)
            } else {
                if self.set.is_empty() {
                    self.set.extend(&self.list);
                }
                self.set.insert(*locator)
            };
            if is_new {
                self.list.push(*locator);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Guid, GuidPrefix};
    use crate::writer::ReaderProxyConfig;

    fn unicast(port: u16) -> Locator {
        Locator::udp_v4([10, 0, 0, 1].into(), port)
    }

    fn group(port: u16) -> Locator {
        Locator::udp_v4([239, 255, 0, 1].into(), port)
    }

    fn proxy(number: u8, unicast: &[Locator], multicast: &[Locator]) -> ReaderProxy {
        let guid = Guid::new(GuidPrefix([number; 12]), EntityId([0, 0, number, 4]));
        let config =
            ReaderProxyConfig { multicast: multicast.to_vec(), ..ReaderProxyConfig::new(guid, unicast.to_vec()) };
        ReaderProxy::new(config, true, SequenceNumber::FIRST, 1 << 20)
    }

    #[test]
    fn readers_behind_one_locator_get_one_datagram() {
        let proxies = [proxy(1, &[unicast(1)], &[group(9)]), proxy(2, &[unicast(1)], &[group(9)])];
        assert_eq!(union(&proxies), [unicast(1)]);
    }

    #[test]
    fn multicast_is_used_where_it_saves_datagrams() {
        let proxies = [
            proxy(1, &[unicast(1)], &[group(9)]),
            proxy(2, &[unicast(2)], &[group(9)]),
            proxy(3, &[unicast(3)], &[group(8)]),
            proxy(4, &[unicast(4)], &[]),
        ];
        assert_eq!(union(&proxies), [group(9), unicast(3), unicast(4)]);
    }

    #[test]
    fn reader_with_only_multicast_is_reached_by_it() {
        assert_eq!(union(&[proxy(1, &[], &[group(9)])]), [group(9)]);
        assert!(union(&[proxy(1, &[], &[])]).is_empty());
    }

    #[test]
    fn many_locators_keep_order_each_once() {
        let ports = || (1..40).chain(20..60);
        let proxies: Vec<_> = ports().map(|port| proxy(1, &[unicast(port)], &[])).collect();
        let expected: Vec<_> = (1..60).map(unicast).collect();
        assert_eq!(union(&proxies), expected);
    }

    #[test]
    fn single_reader_is_named_in_datagrams() {
        let one = [proxy(1, &[unicast(1)], &[])];
        assert_eq!(
            Destinations::new(&one, FragmentSize::default(), CongestionConfig::default()).reader_id,
            EntityId([0, 0, 1, 4])
        );
        let two = [proxy(1, &[unicast(1)], &[]), proxy(2, &[unicast(2)], &[])];
        assert_eq!(
            Destinations::new(&two, FragmentSize::default(), CongestionConfig::default()).reader_id,
            EntityId::UNKNOWN
        );
    }

    #[test]
    fn fragments_are_large_if_all_readers_share_host() {
        let mut proxies = [proxy(1, &[unicast(1)], &[]), proxy(2, &[unicast(2)], &[])];
        for proxy in &mut proxies {
            proxy.config.same_host = true;
        }
        assert_eq!(
            Destinations::new(&proxies, FragmentSize::default(), CongestionConfig::default()).fragment_size,
            65_000
        );
        proxies[1].config.same_host = false;
        assert_eq!(
            Destinations::new(&proxies, FragmentSize::default(), CongestionConfig::default()).fragment_size,
            1344
        );
        // IPv6 needs room for its longer header.
        proxies[1].config.unicast = vec![Locator::udp_v6("fd00::7".parse().unwrap(), 2)];
        let destinations = Destinations::new(&proxies, FragmentSize::default(), CongestionConfig::default());
        let frame = |ip: usize| 1500 - ip - 8;
        assert_eq!((destinations.fragment_size, destinations.message_len_max()), (1324, frame(40)));
        proxies[1].config.unicast = vec![unicast(2)];
        let destinations = Destinations::new(&proxies, FragmentSize::default(), CongestionConfig::default());
        assert_eq!(destinations.message_len_max(), frame(20));
        let with = |headroom| {
            Destinations::with_headroom(&proxies, FragmentSize::default(), CongestionConfig::default(), headroom)
        };
        let sealed = with(Headroom { bytes: 60, submessage_growth: 1 });
        assert_eq!(sealed.message_len_max() + 60, frame(20));
        assert!(usize::from(sealed.fragment_size) + HEADERS_LEN + 60 <= frame(20));
        // However few bytes a message grows by, small submessages that grow too have room.
        let grown = with(Headroom { bytes: 60, submessage_growth: 3 });
        assert_eq!(grown.payload_len_max, sealed.payload_len_max / 3);
        assert_eq!(grown.fragment_size, sealed.fragment_size);
        // A transform that needs much more leaves room for samples.
        let long = with(Headroom { bytes: 3_000, submessage_growth: 32 });
        assert_eq!((long.fragment_size, long.payload_len_max), (1_344 - 256, (1_344 - 256) / 5));
        // A datagram has room for the MACs of many receivers, however large its fragment may be.
        let headroom = Headroom { bytes: 2_816, submessage_growth: 32 };
        let large = FragmentSize { network: 65_000, ..FragmentSize::default() };
        let large = Destinations::with_headroom(&proxies, large, CongestionConfig::default(), headroom);
        assert!(usize::from(large.fragment_size) + HEADERS_LEN + 2_816 <= 65_507, "{}", large.fragment_size);
        let tiny = FragmentSize { same_host: 1, network: 1 };
        assert_eq!(Destinations::new(&proxies, tiny, CongestionConfig::default()).fragment_size, FragmentSize::MIN);
    }
}
